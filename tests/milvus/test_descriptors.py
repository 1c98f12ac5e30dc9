"""Our description of Milvus' service says nothing that pymilvus' own does not say."""

import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

from google.protobuf import descriptor_pb2
from grpc_tools import protoc

from tests.clients.base import ClientsTest, tool

PROTO = pathlib.Path(__file__).parents[2] / "crates" / "clew-milvus" / "proto" / "milvus.proto"
SESSION = pathlib.Path(__file__).with_name("descriptors_session.py")
CALLS = PROTO.parents[1] / "src" / "service" / "calls.rs"
VERSIONS = ["2.6.17", "3.0.2"]
TYPES = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 8: "bool", 9: "string", 11: "message", 12: "bytes",
         13: "uint32"}
# Packed numbers are the same on the wire as bytes, which need not be taken apart.
AS_BYTES = {"PackedFloats": "FloatArray"}
# Calls of one shape share a message here.
SHARED = {"CollectionRequest", "PartitionRequest", "IndexRequest", "SegmentInfoRequest", "StatisticsResponse"}


def ours():
    """Our messages and calls."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        if protoc.main(["protoc", f"-I{PROTO.parent}", f"--descriptor_set_out={out}", str(PROTO)]) != 0:
            raise RuntimeError("milvus.proto cannot be read")
        (file,) = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
    messages = {}
    for message in file.message_type:
        messages[message.name] = {
            field.name: [field.number, TYPES[field.type], field.label == field.LABEL_REPEATED]
            for field in message.field
        }
    last = lambda name: name.rsplit(".", 1)[-1]
    calls = {call.name: [last(call.input_type), last(call.output_type)] for call in file.service[0].method}
    return messages, calls


def rules():
    """The privilege that each call takes here, by the call's name."""
    rows = re.findall(r'(?m)^    (\w+)\(\w+\) -> [\w:]+, (?:ANYBODY|"(\w+)"), \w+;$', CALLS.read_text())
    return {name.replace("_", ""): privilege for name, privilege in rows}


class Descriptors(ClientsTest):
    def test_calls_take_the_privileges_that_milvus_own_take(self):
        _, calls = ours()
        here = rules()
        self.assertEqual(sorted(here), sorted(name.lower() for name in calls))
        packages = tool(f"pymilvus-{VERSIONS[-1]}", "test-clients")
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        theirs = json.loads(self.run_tool([sys.executable, "-S", SESSION], 120, env=environment))["privileges"]
        self.assertEqual(here, {name.lower(): theirs[name] for name in calls})

    def test_names_numbers_and_types_are_milvus_own(self):
        messages, calls = ours()
        for version in VERSIONS:
            packages = tool(f"pymilvus-{version}", "test-clients")
            environment = {**os.environ, "PYTHONPATH": str(packages)}
            theirs = json.loads(self.run_tool([sys.executable, "-S", SESSION], 120, env=environment))

            def check(own, other):
                known = theirs["messages"].get(other, {})
                for field, says in messages[own].items():
                    # What is newer than a version is not in it.
                    if field in known or version == VERSIONS[-1]:
                        self.assertEqual(known.get(field), says, f"{version}: {other}.{field}")

            for name in messages:
                if name in AS_BYTES:
                    self.assertEqual(messages[name], {"data": [1, "bytes", False]})
                    self.assertEqual(theirs["messages"][AS_BYTES[name]], {"data": [1, "float", True]})
                elif name not in SHARED:
                    check(name, name)
            for call, (request, answer) in calls.items():
                if call not in theirs["calls"]:
                    # Newer than that version.
                    self.assertNotEqual(version, VERSIONS[-1], call)
                    continue
                their_request, their_answer = theirs["calls"][call]
                # What is shared must be what the call's own message is.
                check(request, their_request)
                check(answer, their_answer)


if __name__ == "__main__":
    unittest.main()
