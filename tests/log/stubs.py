"""The client's code, generated from the service's description into a temporary folder."""

import atexit
import importlib
import pathlib
import sys
import tempfile

from grpc_tools import protoc

PROTO = pathlib.Path(__file__).parents[2] / "crates" / "clew-log-grpc" / "proto"


def _generate():
    folder = tempfile.TemporaryDirectory(prefix="clew-stubs-")
    atexit.register(folder.cleanup)
    status = protoc.main([
        "protoc", f"-I{PROTO}", f"--python_out={folder.name}", f"--grpc_python_out={folder.name}",
        "clew/log/v1/log.proto",
    ])
    if status != 0:
        raise RuntimeError(f"protoc ended with status {status}")
    sys.path.insert(0, folder.name)
    return (importlib.import_module("clew.log.v1.log_pb2"),
            importlib.import_module("clew.log.v1.log_pb2_grpc"))


pb, pb_grpc = _generate()
