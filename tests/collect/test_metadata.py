"""What senders of `_bulk` say of their documents: it goes beside them, chooses outputs and indexes, and keeps their ids."""

import json
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import urllib.request

from opensearch.clew_server import ClewServer

from .bulk_server import BulkServer
from .listening import BINARY, Listening

OWN = "{{@metadata._index}}"
CONFIG = """\
registry: {folder}/registry.json
inputs:
  - {{type: http, listen: "127.0.0.1:0"}}
{processors}
outputs:
  - {{type: opensearch, url: "{url}", index: "{index}", pipeline: "{{{{@metadata.pipeline}}}}", routing: "{{{{@metadata.routing}}}}"{more}}}
"""


def bulk(*parts):
    return b"".join(json.dumps(part).encode() + b"\n" for part in parts)


class Metadata(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.server = self.enterContext(BulkServer())
        self.config = self.folder / "collect.yaml"

    def configure(self, index=OWN, processors="", more=""):
        self.config.write_text(CONFIG.format(folder=self.folder, url=self.server.url, index=index, processors=processors, more=more))

    def start(self, index=OWN, processors="", more=""):
        self.configure(index, processors, more)
        return self.enterContext(Listening(self.config))

    def post(self, collector, path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{collector.ports[0]}{path}", data=body,
                                         headers={"Content-Type": "application/x-ndjson"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def test_actions_keep_their_index_their_id_and_what_else_they_say(self):
        collector = self.start()
        answer = self.post(collector, "/path/_bulk?pipeline=given", bulk(
            {"create": {"_index": "orders", "_id": "1", "routing": "r"}}, {"message": "one"},
            {"index": {"_id": 2, "pipeline": "own"}}, {"message": "two", "@metadata": {"beat": "b"}},
            {"create": {"_index": "Orders"}}, {"message": "never"},
            {"create": {"_index": "orders", "_id": "x" * 513}}, {"message": "never"},
            {"create": {"_index": "orders"}}, {"message": "three"},
        ))
        items = [*(item.popitem() for item in answer["items"])]
        self.assertEqual([item["status"] for _, item in items], [201, 201, 400, 400, 201])
        self.assertEqual(items[2][1]["error"], {"type": "invalid_index_name_exception",
                                                "reason": "Invalid index name [Orders], must be lowercase"})
        self.assertEqual(items[3][1]["error"]["type"], "illegal_argument_exception")
        self.assertEqual(len(self.server.documents), 3)
        self.assertEqual(self.server.actions["1"],
                         ("create", {"_index": "orders", "_id": "1", "pipeline": "given", "routing": "r"}))
        self.assertEqual(self.server.actions["2"], ("index", {"_index": "path", "_id": "2", "pipeline": "own"}))
        # Nothing of it is in a document.
        for document in self.server.documents.values():
            self.assertEqual(set(document), {"@timestamp", "event", "message"})
        # What is sent again under its id is there once; an `index` takes the place of what was there.
        self.post(collector, "/_bulk", bulk({"create": {"_index": "orders", "_id": "1"}}, {"message": "one"},
                                            {"index": {"_index": "path", "_id": "2"}}, {"message": "two, changed"}))
        self.assertEqual(len(self.server.documents), 3)
        self.assertEqual(self.server.documents["2"]["message"], "two, changed")

    def test_conditions_and_processors_see_it_and_change_it(self):
        collector = self.start(processors="""
processors:
  - add: {field: "@metadata._index", value: changed, if: {equals: {"@metadata._index": orders}}}
  - fingerprint: {fields: [message], target_field: "@metadata._id", if: {equals: {message: named}}}
  - drop: {if: {equals: {"@metadata.pipeline": gone}}}
""", more=', when: {not: {equals: {"@metadata._index": elsewhere}}}')
        self.post(collector, "/_bulk", bulk(
            {"create": {"_index": "orders", "_id": "1"}}, {"message": "one"},
            {"create": {"_index": "elsewhere", "_id": "2"}}, {"message": "two"},
            {"create": {"_index": "logs", "_id": "3", "pipeline": "gone"}}, {"message": "three"},
            {"create": {"_index": "logs"}}, {"message": "named"},
            {"create": {"_index": "logs"}}, {"message": "named"},
        ))
        self.assertEqual(self.server.actions["1"][1]["_index"], "changed")
        self.assertEqual(sorted(one["message"] for one in self.server.documents.values()), ["named", "one"])
        self.assertEqual(len(self.server.documents), 2)
        self.assertEqual([set(one) for one in self.server.documents.values()], [{"@timestamp", "event", "message"}] * 2)

    def test_what_has_no_index_goes_to_the_dead_letter_file_and_a_template_may_say_another(self):
        collector = self.start()
        self.post(collector, "/", b'{"message":"lost","@metadata":{"a":1}}\n')
        rejected = json.loads((self.folder / "registry.json.rejected.ndjson").read_text())
        self.assertEqual((rejected["status"], rejected["reason"]), (400, "Invalid index name [], must not be empty"))
        self.assertEqual(rejected["metadata"], {"a": 1})
        collector.stop()
        collector = self.start("{{^@metadata._index}}rest{{/@metadata._index}}" + OWN)
        self.post(collector, "/", b'{"message":"kept"}\n{"message":"named","@metadata":{"_index":"own","_id":"7"}}\n')
        indexes = {document["message"]: self.server.actions[name][1]["_index"] for name, document in self.server.documents.items()}
        self.assertEqual(indexes, {"kept": "rest", "named": "own"})
        self.assertIn("7", self.server.documents)

    def test_it_is_in_the_buffer_of_an_output(self):
        collector = self.start(more=f", buffer: {{folder: {self.folder}/buffer}}")
        self.post(collector, "/_bulk", bulk({"index": {"_index": "orders", "_id": "1", "routing": "r"}}, {"message": "one"}))
        self.assertTrue(self.server.wait_for(1))
        self.assertEqual(self.server.actions["1"], ("index", {"_index": "orders", "_id": "1", "routing": "r"}))

    def test_wrong_templates_are_told_with_their_line(self):
        for index, reason in [("Logs", "[Logs] is no name of an index: must be lowercase"), ("{{a", "[{{a] a tag is not closed")]:
            self.configure(index)
            done = subprocess.run([BINARY, "collect", "--config", str(self.config)], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"line 6: [outputs[0]] {reason}", done.stderr)


class Within(unittest.TestCase):
    def test_the_engine_gets_events_where_their_senders_want_them(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        config = folder / "collect.yaml"
        config.write_text(f"""
registry: {folder}/registry.json
inputs: [{{type: http, listen: "127.0.0.1:0"}}]
outputs: [{{type: clew, index: "{OWN}", pipeline: "{{{{@metadata.pipeline}}}}"}}]
""")
        with ClewServer(arguments=["--collect", str(config)]) as server, server.client() as client:
            client.ingest.put_pipeline(id="mark", body={"processors": [{"set": {"field": "marked", "value": True}}]})
            body = bulk({"index": {"_index": "orders", "_id": "1", "pipeline": "mark"}}, {"message": "one"},
                        {"create": {"_index": "carts", "_id": "1"}}, {"message": "two"},
                        {"index": {"_index": "orders", "_id": "1"}}, {"message": "three"})
            port = wait_for_port(server.data.with_suffix(".log"))
            request = urllib.request.Request(f"http://127.0.0.1:{port}/_bulk", data=body,
                                             headers={"Content-Type": "application/x-ndjson"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                self.assertFalse(json.loads(answer.read())["errors"])
            order = client.get(index="orders", id="1")
            self.assertEqual((order["_source"]["message"], order["_version"]), ("three", 2))
            self.assertEqual(client.get(index="carts", id="1")["_source"]["message"], "two")


def wait_for_port(log):
    """The port of the input, once it is open."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if ports := re.findall(r"inputs are open.*?127\.0\.0\.1:(\d+)", log.read_text()):
            return ports[-1]
    raise AssertionError("the inputs are not opened")


if __name__ == "__main__":
    unittest.main()
