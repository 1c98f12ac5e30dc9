"""Following the log."""

import queue
import time
import urllib.request

import grpc
from grpc import StatusCode

from opensearch.clew_server import CUT_OFF, ClewServer

from .base import TIMEOUT_SECONDS, Client, LogTest, request
from .stubs import pb

MIB = 1 << 20


class Subscribe(LogTest):
    def subscribe(self, **fields):
        call = self.stub.Subscribe(pb.SubscribeRequest(**fields), timeout=TIMEOUT_SECONDS)
        self.addCleanup(call.cancel)
        return call

    def entries(self, call, count):
        """The next entries; heartbeats are passed over."""
        found = []
        while len(found) < count:
            found.extend(next(call).entries)
        return found

    def metrics(self):
        with urllib.request.urlopen(self.server.url + "/_metrics", timeout=60) as reply:
            lines = reply.read().decode().splitlines()
        return {name: float(value) for name, value in
                (line.rsplit(" ", 1) for line in lines if line[0] != "#")}

    def wait_for_metric(self, name, condition):
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not condition(self.metrics().get(name, 0)):
            self.assertLess(time.monotonic(), deadline, f"{name} stays {self.metrics().get(name)}")

    def test_the_tail_tells_its_position_and_then_what_comes(self):
        self.client.append(self.stream, b"before")
        call = self.subscribe()
        first = next(call)
        self.assertEqual((list(first.entries), first.caught_up), ([], True))
        self.assertEqual(first.next_glsn, self.client.position().last_glsn + 1)
        reply = self.client.append(self.stream, b"1", b"2")
        entries = self.entries(call, 2)
        self.assertEqual([entry.payload for entry in entries], [b"1", b"2"])
        self.assertEqual(entries[0].glsn, reply.first_glsn)

    def test_from_a_position_and_from_a_time_through_the_present(self):
        replies = [self.client.append(self.stream, b"%d" % n) for n in range(5)]
        by_position = self.subscribe(glsn=replies[2].first_glsn, streams=[self.stream])
        by_time = self.subscribe(time_ms=replies[2].time_ms, streams=[self.stream])
        later = self.subscribe(time_ms=replies[-1].time_ms + 3_600_000, streams=[self.stream])
        self.assertEqual(list(next(later).entries), [])
        self.client.append(self.stream, b"5")
        expected = [b"2", b"3", b"4", b"5"]
        self.assertEqual([e.payload for e in self.entries(by_position, 4)], expected)
        same_time = [b"%d" % n for n in range(5) if replies[n].time_ms >= replies[2].time_ms]
        found = self.entries(by_time, len(same_time) + 1)
        self.assertEqual([e.payload for e in found], [*same_time, b"5"])
        self.assertEqual([e.payload for e in self.entries(later, 1)], [b"5"])

    def test_from_the_beginning_gives_every_entry_once(self):
        self.client.append(self.stream, *[b"%d" % n for n in range(1000)])
        last = self.client.position().last_glsn
        call = self.subscribe(glsn=0, batch_bytes=1000, visible=pb.DURABILITY_OS)
        found, messages = [], 0
        for reply in call:
            found += [entry.glsn for entry in reply.entries]
            messages += 1
            self.assertEqual(reply.next_glsn, found[-1] + 1)
            if reply.caught_up:
                break
        self.assertEqual(found, list(range(1, last + 1)))
        self.assertGreater(messages, 10)

    def test_other_streams_move_the_position_only(self):
        self.client.append(self.stream, b"mine")
        call = self.subscribe(streams=[self.stream], heartbeat_ms=20)
        start = next(call).next_glsn
        for _ in range(10):
            self.client.append(self.stream + "-other", b"x")
        reply = next(call)
        while reply.next_glsn < start + 10:
            self.assertEqual(list(reply.entries), [])
            reply = next(call)
        self.client.append(self.stream, b"again")
        self.assertEqual([e.payload for e in self.entries(call, 1)], [b"again"])

    def test_silence_is_broken_by_heartbeats(self):
        # The beats come whether or not this thread goes on to take them: they begin with the call.
        began = time.monotonic()
        call = self.subscribe(heartbeat_ms=10)
        beats = [next(call) for _ in range(11)]
        self.assertGreaterEqual(time.monotonic() - began, 0.1)
        for beat in beats:
            self.assertEqual((list(beat.entries), beat.caught_up), ([], True))
            self.assertEqual(beat.next_glsn, beats[0].next_glsn)

    def test_bad_requests_are_refused(self):
        for fields, word in [
            ({"heartbeat_ms": 9}, "invalid"),
            ({"heartbeat_ms": 60_001}, "invalid"),
            ({"visible": pb.DURABILITY_MEMORY}, "invalid"),
            ({"visible": 17}, "invalid"),
            ({"name": "x" * 129}, "invalid"),
        ]:
            with self.subTest(fields), self.refused(StatusCode.INVALID_ARGUMENT, word):
                next(self.subscribe(**fields))

    def test_cancellation_ends_it_on_the_server(self):
        name = 'log_subscriber_lag_entries{name="cancelled"}'
        calls = [self.subscribe(name="cancelled", heartbeat_ms=60_000) for _ in range(3)]
        for call in calls:
            next(call)
        self.assertIn(name, self.metrics())
        for call in calls:
            call.cancel()
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while name in self.metrics():
            self.assertLess(time.monotonic(), deadline, "the server keeps the subscriptions")

    def test_a_slow_subscriber_holds_nobody_up_and_misses_nothing(self):
        call = self.subscribe(name="slow", streams=[], batch_bytes=MIB)
        start = next(call).next_glsn
        payload = bytes(MIB)
        for _ in range(48):
            self.client.append(self.stream, payload, durability=pb.DURABILITY_OS)
        last = self.client.append(self.stream, b"end").first_glsn
        # What is on the way to the client is bounded by its window; the rest is only lag.
        self.wait_for_metric('log_subscriber_lag_entries{name="slow"}', lambda lag: lag > 0)
        entries = self.entries(call, last - start + 1)
        self.assertEqual([entry.glsn for entry in entries], list(range(start, last + 1)))
        self.assertEqual(sum(len(entry.payload) for entry in entries), 48 * MIB + 3)
        self.wait_for_metric('log_subscriber_lag_entries{name="slow"}', lambda lag: lag == 0)


class Stop(LogTest):
    def test_a_stop_ends_open_calls_and_tells_them_to_come_back(self):
        with ClewServer() as server:
            client = Client(server.grpc_address)
            self.addCleanup(client.close)
            subscription = client.stub.Subscribe(pb.SubscribeRequest(heartbeat_ms=60_000))
            next(subscription)
            more = queue.SimpleQueue()
            appends = client.stub.AppendStream(iter(more.get, None))
            # Both have come to the server.
            more.put(request(self.stream, b"1"))
            self.assertEqual(next(appends).appended.first_llsn, 1)
            self.assertNotIn(CUT_OFF, server.stop(), "the stop waited for its grace period")
            for call in (subscription, appends):
                with self.assertRaises(grpc.RpcError) as caught:
                    for _ in call:
                        pass
                self.check_refusal(caught.exception, StatusCode.UNAVAILABLE, "stopping")
            more.put(None)
