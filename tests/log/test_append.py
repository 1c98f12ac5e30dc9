"""Appending: batches, pipelines, retries, conditions, limits."""

import concurrent.futures
import itertools
import json
import queue
import urllib.request

from grpc import StatusCode

from .base import TIMEOUT_SECONDS, LogTest, request
from .stubs import pb

MIB = 1 << 20


class Append(LogTest):
    def test_a_batch_gets_consecutive_positions_and_comes_back_whole(self):
        headers = [pb.Header(key="kind", value=b"\xff\x00"), pb.Header(key="kind", value=b"")]
        records = [pb.Record(payload=b"a", headers=headers), pb.Record(payload=b""),
                   pb.Record(payload=b"c\n")]
        reply = self.stub.Append(pb.AppendRequest(
            stream=self.stream, records=records, create_stream=True))
        self.assertEqual(reply.last_glsn - reply.first_glsn, 2)
        self.assertEqual((reply.first_llsn, reply.last_llsn, reply.replayed), (1, 3, False))
        entries = self.client.scan(llsn={"stream": self.stream})
        self.assertEqual([entry.payload for entry in entries], [b"a", b"", b"c\n"])
        self.assertEqual(list(entries[0].headers), headers)
        self.assertEqual(list(entries[1].headers), [])
        for entry, glsn in zip(entries, range(reply.first_glsn, reply.last_glsn + 1), strict=True):
            self.assertEqual((entry.glsn, entry.time_ms), (glsn, reply.time_ms))

    def test_every_durability_and_compression_is_taken(self):
        payloads = [b"the same words over and over " * 20] * 50
        for durability, compression in itertools.product(range(4), range(4)):
            self.client.append(self.stream, *payloads, durability=durability,
                               compression=compression)
        self.assertEqual(self.client.payloads(self.stream), payloads * 16)

    def test_many_writers_get_dense_positions(self):
        def write(number):
            name = f"{self.stream}-{number % 3}"
            return [self.client.append(name, b"%d" % n) for n in range(40)]

        start = self.client.position().last_glsn
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = [reply for written in pool.map(write, range(8)) for reply in written]
        glsns = sorted(reply.first_glsn for reply in replies)
        self.assertEqual(glsns, list(range(start + 1, start + 321)))
        position = self.client.position()
        self.assertEqual((position.last_glsn, position.durable_glsn), (glsns[-1], glsns[-1]))

    def test_replies_of_a_pipeline_come_in_order_with_errors_among_them(self):
        batches = [
            request(self.stream, b"1", b"2"),
            request(self.stream),
            request(self.stream, b"3", expect_last_llsn=2),
            request(self.stream, b"no", expect_last_llsn=2),
            request("missing", b"no", create_stream=False),
            request(self.stream, b"no", durability=9),
            request(self.stream, b"no", epoch=7),
            request(self.stream, b"4"),
        ]
        replies = list(self.stub.AppendStream(iter(batches), timeout=TIMEOUT_SECONDS))
        outcomes = [(reply.appended.first_llsn, reply.error.code, reply.error.details["clew-error"])
                    for reply in replies]
        self.assertEqual(outcomes, [
            (1, 0, ""),
            (0, StatusCode.INVALID_ARGUMENT.value[0], "invalid"),
            (3, 0, ""),
            (0, StatusCode.ABORTED.value[0], "conflict"),
            (0, StatusCode.NOT_FOUND.value[0], "unknown-stream"),
            (0, StatusCode.INVALID_ARGUMENT.value[0], "invalid"),
            (0, StatusCode.FAILED_PRECONDITION.value[0], "fenced"),
            (4, 0, ""),
        ])
        self.assertEqual(replies[3].error.details["clew-last-llsn"], "3")
        self.assertIn("3", replies[3].error.message)
        self.assertEqual(self.client.payloads(self.stream), [b"1", b"2", b"3", b"4"])

    def test_a_pipeline_answers_while_it_is_open(self):
        waiting = queue.SimpleQueue()
        replies = self.stub.AppendStream(iter(waiting.get, None), timeout=TIMEOUT_SECONDS)
        for n in range(1, 4):
            waiting.put(request(self.stream, b"%d" % n))
            self.assertEqual(next(replies).appended.first_llsn, n)
        waiting.put(None)
        self.assertEqual(list(replies), [])

    def test_a_long_pipeline_keeps_its_order(self):
        count = 5000
        batches = (request(self.stream, b"%d" % n, b"%d'" % n) for n in range(count))
        replies = list(self.stub.AppendStream(batches, timeout=TIMEOUT_SECONDS))
        self.assertEqual([reply.appended.first_llsn for reply in replies],
                         list(range(1, 2 * count, 2)))
        expected = [text for n in range(count) for text in (b"%d" % n, b"%d'" % n)]
        self.assertEqual(self.client.payloads(self.stream), expected)

    def test_a_repetition_is_answered_with_the_first_positions(self):
        first = self.client.append(self.stream, b"1", b"2", producer={"id": 7, "sequence": 1})
        other = self.client.append(self.stream, b"x", producer={"id": 8, "sequence": 1})
        again = self.client.append(self.stream, b"1", b"2", producer={"id": 7, "sequence": 1})
        self.assertTrue(again.replayed)
        self.assertFalse(other.replayed)
        self.assertEqual((again.first_glsn, again.last_glsn, again.first_llsn, again.last_llsn),
                         (first.first_glsn, first.last_glsn, first.first_llsn, first.last_llsn))
        self.client.append(self.stream, b"3", producer={"id": 7, "sequence": 2})
        with self.refused(StatusCode.FAILED_PRECONDITION, "sequence-gap", expected_sequence=3):
            self.client.append(self.stream, b"4", producer={"id": 7, "sequence": 9})
        with self.refused(StatusCode.FAILED_PRECONDITION, "sequence-reused"):
            self.client.append(self.stream, b"1", b"2", b"3", producer={"id": 7, "sequence": 1})
        self.assertEqual(self.client.payloads(self.stream), [b"1", b"2", b"x", b"3"])

    def test_a_condition_on_the_last_entry_lets_one_writer_win(self):
        self.client.append(self.stream, b"first", expect_last_llsn=0)
        with self.refused(StatusCode.ABORTED, "conflict", last_llsn=1):
            self.client.append(self.stream, b"late", expect_last_llsn=0)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(lambda n: self.try_append(b"%d" % n, 1), range(8)))
        self.assertEqual(sorted(outcomes), ["conflict"] * 7 + ["won"])
        self.assertEqual(len(self.client.payloads(self.stream)), 2)

    def try_append(self, payload, expected):
        requests = iter([request(self.stream, payload, expect_last_llsn=expected)])
        (reply,) = self.stub.AppendStream(requests, timeout=TIMEOUT_SECONDS)
        return reply.error.details["clew-error"] or "won"

    def test_bad_requests_say_what_is_wrong(self):
        for options, said in [
            ({"durability": 4}, "durability 4"),
            ({"compression": 9}, "compression 9"),
            ({"durability": -1}, "durability -1"),
        ]:
            with self.subTest(options), self.refused(
                    StatusCode.INVALID_ARGUMENT, "invalid") as caught:
                self.client.append(self.stream, b"x", **options)
            self.assertIn(said, caught.exception.details())
        with self.refused(StatusCode.INVALID_ARGUMENT, "invalid"):
            self.client.append(self.stream)
        with self.refused(StatusCode.INVALID_ARGUMENT, "invalid"):
            self.client.append("", b"x")

    def test_an_entry_has_a_limit(self):
        limit = self.client.position().entry_bytes_max
        self.assertEqual(limit, 16 * MIB)
        reply = self.client.append(self.stream, bytes(limit), compression=pb.COMPRESSION_LZ4)
        with self.refused(StatusCode.RESOURCE_EXHAUSTED, "entry-too-large"):
            self.client.append(self.stream, b"fits", bytes(limit + 1))
        self.assertEqual(self.client.describe(self.stream).last_llsn, 1)
        entry = self.stub.Read(pb.ReadRequest(glsn=reply.first_glsn))
        self.assertEqual(len(entry.payload), limit)
        long_header = pb.Header(key="k", value=bytes(MIB))
        with self.refused(StatusCode.RESOURCE_EXHAUSTED, "headers-too-large"):
            self.stub.Append(pb.AppendRequest(
                stream=self.stream, records=[pb.Record(headers=[long_header])]))


class MessageLimit(LogTest):
    env = {"CLEW_GRPC__MESSAGE_BYTES_MAX": str(MIB)}

    def test_a_message_has_a_limit(self):
        self.client.append(self.stream, bytes(MIB - 100))
        with self.refused(StatusCode.RESOURCE_EXHAUSTED, "message-too-large"):
            self.client.append(self.stream, bytes(MIB))
        requests = [request(self.stream, b"2"), request(self.stream, bytes(MIB))]
        replies = self.stub.AppendStream(iter(requests), timeout=TIMEOUT_SECONDS)
        self.assertEqual(next(replies).appended.first_llsn, 2)
        with self.refused(StatusCode.RESOURCE_EXHAUSTED, "message-too-large"):
            next(replies)
        self.assertEqual(self.client.append(self.stream, b"3").first_llsn, 3)


class Metrics(LogTest):
    def page(self):
        with urllib.request.urlopen(self.server.url + "/_metrics", timeout=60) as reply:
            return reply.read().decode()

    def test_histograms_count_what_was_appended(self):
        for _ in range(20):
            self.client.append(self.stream, b"x" * 100)
        values = dict(line.rsplit(" ", 1) for line in self.page().splitlines() if line[0] != "#")
        self.assertGreaterEqual(float(values["log_append_us_count"]), 20)
        self.assertGreater(float(values["log_append_us_sum"]), 0)
        self.assertEqual(values['log_append_us_bucket{le="+Inf"}'], values["log_append_us_count"])
        self.assertGreaterEqual(float(values["log_sync_us_count"]), 1)
        self.assertEqual(float(values["log_group_entries_sum"]), 20)
        self.assertGreater(float(values["log_bytes"]), 2000)
        self.assertEqual(values["log_subscribers"], "0")
        with urllib.request.urlopen(self.server.url + "/_health", timeout=60) as reply:
            self.assertEqual(json.load(reply)["glsn"]["last"], 20)
