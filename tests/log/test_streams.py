"""Streams: made, listed, sealed, fenced, trimmed, deleted."""

import time
import unittest

from grpc import StatusCode

from opensearch.clew_server import ClewServer

from .base import FIRST_NAMED, TIMEOUT_SECONDS, Client, LogTest
from .stubs import pb


class Streams(LogTest):
    def test_a_stream_is_made_once_and_listed(self):
        made = self.stub.CreateStream(pb.CreateStreamRequest(stream=self.stream))
        self.assertGreaterEqual(made.number, FIRST_NAMED)
        self.assertEqual((made.name, made.first_llsn, made.last_llsn), (self.stream, 1, 0))
        self.assertEqual((made.sealed, made.epoch), (False, 0))
        self.assertGreater(made.created_ms, 1_600_000_000_000)
        listed = self.stub.ListStreams(pb.ListStreamsRequest()).streams
        self.assertIn(made, listed)
        numbers = [info.number for info in listed]
        self.assertEqual(numbers, sorted(numbers))
        self.assertEqual(self.client.describe(str(made.number)), made)
        with self.refused(StatusCode.ALREADY_EXISTS, "stream-exists"):
            self.stub.CreateStream(pb.CreateStreamRequest(stream=self.stream))

    def test_names_have_rules(self):
        for name in ("", "x" * 1000, "17"):
            with self.subTest(name=name[:20]), self.refused(
                    StatusCode.INVALID_ARGUMENT, "stream-name"):
                self.stub.CreateStream(pb.CreateStreamRequest(stream=name))

    def test_what_is_missing_is_not_found(self):
        calls = [
            lambda: self.client.describe("missing"),
            lambda: self.stub.SealStream(pb.SealStreamRequest(stream="missing")),
            lambda: self.stub.UnsealStream(pb.UnsealStreamRequest(stream="missing")),
            lambda: self.stub.DeleteStream(pb.DeleteStreamRequest(streams=["missing"])),
            lambda: self.stub.Trim(pb.TrimRequest(stream={"stream": "missing", "llsn": 1})),
            lambda: self.client.append("missing", b"x", create_stream=False),
            lambda: self.client.scan(llsn={"stream": "missing"}),
            lambda: self.client.scan(glsn={"streams": ["missing"]}),
            lambda: next(self.stub.Subscribe(pb.SubscribeRequest(streams=["missing"]))),
            lambda: self.stub.Read(pb.ReadRequest(stream={"stream": "missing", "llsn": 1})),
            lambda: self.client.describe("4294967295"),
        ]
        for number, call in enumerate(calls):
            with self.subTest(number), self.refused(StatusCode.NOT_FOUND, "unknown-stream"):
                call()

    def test_a_request_must_say_what_it_is_about(self):
        calls = [
            lambda: self.client.describe(""),
            lambda: self.stub.DeleteStream(pb.DeleteStreamRequest()),
            lambda: self.stub.Trim(pb.TrimRequest()),
            lambda: self.stub.Read(pb.ReadRequest()),
        ]
        for number, call in enumerate(calls):
            with self.subTest(number), self.refused(StatusCode.INVALID_ARGUMENT, "invalid"):
                call()

    def test_a_sealed_stream_refuses_and_an_old_epoch_stays_out(self):
        self.client.append(self.stream, b"1", b"2", epoch=0)
        sealed = self.stub.SealStream(pb.SealStreamRequest(stream=self.stream))
        self.assertTrue(sealed.sealed)
        self.assertEqual(sealed.last_llsn, 2)
        again = self.stub.SealStream(pb.SealStreamRequest(stream=self.stream))
        self.assertEqual(again, sealed)
        with self.refused(StatusCode.FAILED_PRECONDITION, "sealed", epoch=0):
            self.client.append(self.stream, b"3")
        self.assertEqual(self.client.payloads(self.stream), [b"1", b"2"])
        opened = self.stub.UnsealStream(pb.UnsealStreamRequest(stream=self.stream))
        self.assertEqual((opened.sealed, opened.epoch), (False, 1))
        with self.refused(StatusCode.FAILED_PRECONDITION, "fenced", epoch=1):
            self.client.append(self.stream, b"late", epoch=0)
        self.assertEqual(self.client.append(self.stream, b"3", epoch=1).first_llsn, 3)
        self.assertEqual(self.client.append(self.stream, b"4").first_llsn, 4)

    def test_deleted_streams_are_gone_and_their_names_free(self):
        names = [f"{self.stream}-{n}" for n in range(3)]
        first = [self.client.append(name, b"old").first_glsn for name in names]
        with self.refused(StatusCode.NOT_FOUND, "unknown-stream"):
            self.stub.DeleteStream(pb.DeleteStreamRequest(streams=[names[0], "missing"]))
        old = self.client.describe(names[0])
        self.stub.DeleteStream(pb.DeleteStreamRequest(streams=names[:2] + names[:1]))
        for name in names[:2]:
            with self.refused(StatusCode.NOT_FOUND, "unknown-stream"):
                self.client.describe(name)
        left = [entry.glsn for entry in self.client.scan()]
        self.assertEqual([glsn in left for glsn in first], [False, False, True])
        reply = self.client.append(names[0], b"new")
        self.assertEqual(reply.first_llsn, 1)
        self.assertNotEqual(self.client.describe(names[0]).number, old.number)
        self.assertEqual(self.client.payloads(names[0]), [b"new"])

    def test_trimmed_entries_are_out_of_range(self):
        self.client.append(self.stream, *[b"%d" % n for n in range(1, 11)])
        trimmed = self.stub.Trim(pb.TrimRequest(stream={"stream": self.stream, "llsn": 4}))
        self.assertEqual(trimmed.first_llsn, 5)
        with self.refused(StatusCode.OUT_OF_RANGE, "trimmed", first_llsn=5):
            self.stub.Read(pb.ReadRequest(stream={"stream": self.stream, "llsn": 4}))
        with self.refused(StatusCode.OUT_OF_RANGE, "trimmed", first_llsn=5):
            self.client.scan(llsn={"stream": self.stream, "from": 4})
        self.assertEqual(self.client.payloads(self.stream)[0], b"5")
        # Never back, and never beyond the end.
        again = self.stub.Trim(pb.TrimRequest(stream={"stream": self.stream, "llsn": 2}))
        self.assertEqual(again.first_llsn, 5)
        beyond = self.stub.Trim(pb.TrimRequest(stream={"stream": self.stream, "llsn": 1000}))
        self.assertEqual(beyond.first_llsn, 11)
        self.assertEqual(self.client.payloads(self.stream), [])
        self.assertEqual(self.client.append(self.stream, b"11").first_llsn, 11)


class TrimAll(LogTest):
    """On a server of its own: it trims the streams of everybody."""

    def test_a_trim_by_glsn_is_for_all_streams_with_a_name(self):
        for n in range(1, 5):
            self.client.append("a", b"a%d" % n)
            self.client.append("b", b"b%d" % n)
        reply = self.stub.Trim(pb.TrimRequest(glsn=5))
        self.assertEqual(reply.first_glsn, 6)
        self.assertEqual(self.client.payloads("a"), [b"a4"])
        self.assertEqual(self.client.payloads("b"), [b"b3", b"b4"])
        self.assertEqual(self.client.position().first_glsn, 6)
        with self.refused(StatusCode.OUT_OF_RANGE, "trimmed", first_glsn=6):
            self.stub.Read(pb.ReadRequest(glsn=5))
        with self.refused(StatusCode.OUT_OF_RANGE, "trimmed", first_glsn=6):
            self.client.scan(glsn={"from": 1})
        with self.refused(StatusCode.OUT_OF_RANGE, "trimmed", first_glsn=6):
            next(self.stub.Subscribe(pb.SubscribeRequest(glsn=1)))
        self.assertEqual(len(self.client.scan()), 3)


class Reserved(LogTest):
    """The streams of the server's own indexes."""

    def test_they_are_read_but_not_changed(self):
        search = self.server.client()
        self.addCleanup(search.close)
        search.index(index="i", id="1", body={"title": "a ball of thread"})
        streams = self.stub.ListStreams(pb.ListStreamsRequest()).streams
        reserved = [info for info in streams if not info.HasField("name")]
        self.assertGreaterEqual(len(reserved), 2)
        for info in reserved:
            self.assertLess(info.number, FIRST_NAMED)
            entries = self.client.scan(llsn={"stream": str(info.number)})
            self.assertEqual([entry.llsn for entry in entries],
                             list(range(1, info.last_llsn + 1)))
        self.assertTrue(any(b"a ball of thread" in entry.payload for entry in self.client.scan()))
        name = str(reserved[-1].number)
        calls = [
            lambda: self.client.append(name, b"x"),
            lambda: self.client.append(name, b"x", create_stream=False),
            lambda: self.stub.SealStream(pb.SealStreamRequest(stream=name)),
            lambda: self.stub.UnsealStream(pb.UnsealStreamRequest(stream=name)),
            lambda: self.stub.DeleteStream(pb.DeleteStreamRequest(streams=[name])),
            lambda: self.stub.Trim(pb.TrimRequest(stream={"stream": name, "llsn": 1})),
        ]
        for number, call in enumerate(calls):
            with self.subTest(number), self.refused(
                    StatusCode.PERMISSION_DENIED, "reserved-stream"):
                call()
        # A trim of all streams with a name leaves them alone.
        before = self.client.scan(glsn={"streams": [name]})
        self.stub.Trim(pb.TrimRequest(glsn=self.client.position().last_glsn))
        self.assertEqual(self.client.scan(glsn={"streams": [name]}), before)


class Retention(unittest.TestCase):
    def test_a_server_gives_up_what_it_need_not_keep(self):
        # More than two log files of 64 MiB.
        payloads = [bytes(15 << 20)] * 3
        with ClewServer() as server:
            client = Client(server.grpc_address)
            for _ in range(4):
                client.append("s", *payloads, durability=pb.DURABILITY_OS)
            self.assertEqual(client.position().first_glsn, 1)
            client.close()
            server.stop()
            server.env["CLEW_LOG__RETENTION_BYTES"] = "1"
            server.start()
            client = Client(server.grpc_address)
            self.addCleanup(client.close)
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while client.position().first_glsn == 1:
                self.assertLess(time.monotonic(), deadline, "the server keeps everything")
            self.assertEqual(client.position().last_glsn, 12)
            # More may be given up between two looks.
            first = None
            while first != client.describe("s").first_llsn:
                first = client.describe("s").first_llsn
                found = client.scan(glsn={"streams": ["s"]})
            self.assertEqual(found[-1].llsn, 12)
            self.assertEqual(found[0].llsn, first)
