"""What the test modules share: one server for a class, a stream of its own for every test."""

import contextlib
import unittest

import grpc

from opensearch.clew_server import ClewServer

from .stubs import pb, pb_grpc

TIMEOUT_SECONDS = 120
FIRST_NAMED = 1 << 31


class Client:
    """A connection to a server, with the calls that most tests need."""

    def __init__(self, address):
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        self.channel = grpc.insecure_channel(address, options=options)
        self.stub = pb_grpc.LogStub(self.channel)

    def close(self):
        self.channel.close()

    def append(self, stream, *payloads, **options):
        """Appends payloads as one batch; the stream is made unless told otherwise."""
        return self.stub.Append(request(stream, *payloads, **options), timeout=TIMEOUT_SECONDS)

    def scan(self, **fields):
        """Every entry of a scan."""
        replies = self.stub.Scan(pb.ScanRequest(**fields), timeout=TIMEOUT_SECONDS)
        return [entry for reply in replies for entry in reply.entries]

    def payloads(self, stream):
        """A stream's payloads, from the first kept to the last."""
        return [entry.payload for entry in self.scan(llsn={"stream": stream})]

    def describe(self, stream):
        return self.stub.DescribeStream(pb.DescribeStreamRequest(stream=stream))

    def position(self):
        return self.stub.Position(pb.PositionRequest())


def request(stream, *payloads, **options):
    records = [pb.Record(payload=payload) for payload in payloads]
    return pb.AppendRequest(stream=stream, records=records,
                            **{"create_stream": True, **options})


class LogTest(unittest.TestCase):
    """A test against a server of its class's own."""

    env = {}

    @classmethod
    def setUpClass(cls):
        cls.server = ClewServer(env=cls.env)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls.client = Client(cls.server.grpc_address)
        cls.addClassCleanup(cls.client.close)
        cls.stub = cls.client.stub

    def setUp(self):
        self.stream = self._testMethodName

    @contextlib.contextmanager
    def refused(self, code, word, **details):
        """The block must be refused with this code, word and details."""
        with self.assertRaises(grpc.RpcError) as caught:
            yield caught
        self.check_refusal(caught.exception, code, word, **details)

    def check_refusal(self, error, code, word, **details):
        self.assertEqual(error.code(), code, error)
        found = dict(error.trailing_metadata())
        self.assertEqual(found.get("clew-error"), word, error)
        for name, value in details.items():
            key = "clew-" + name.replace("_", "-")
            self.assertEqual(found.get(key), str(value), (key, error))
