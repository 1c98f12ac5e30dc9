"""Standing queries: documents that match are told as they are written, and nobody misses any."""

import http.client
import json
import urllib.request

from .base import ClewTest
from .clew_server import CUT_OFF

READ_SECONDS_MAX = 60


class Tail:
    """A client of server-sent events, as a browser's `EventSource` reads them."""

    def __init__(self, server, path, last=None, method="GET", body=None):
        self.connection = http.client.HTTPConnection(server.address, timeout=READ_SECONDS_MAX)
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        self.connection.request(method, path, body=body, headers=headers)
        self.reply = self.connection.getresponse()
        self.last = last

    def next(self):
        """The next event: its name and its data; None at the end of the stream."""
        name, data = "message", []
        while True:
            line = self.reply.readline()
            if not line:
                return None
            line = line.decode().rstrip("\n")
            if not line and data:
                return name, json.loads("\n".join(data))
            key, _, value = line.partition(": ")
            if key == "event":
                name = value
            elif key == "id":
                self.last = value
            elif key == "data":
                data.append(value)

    def close(self):
        self.reply.close()
        self.connection.close()


class Tails(ClewTest):
    def tail(self, path, **options):
        tail = Tail(self.server, path, **options)
        self.addCleanup(tail.close)
        return tail

    def position(self):
        return self.raw("GET", "/_all/_changes")["next"]

    def metric(self, name):
        with urllib.request.urlopen(self.server.url + "/_metrics") as page:
            lines = page.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + " "))

    def test_documents_that_match_come_in_their_order(self):
        mapping = {"properties": {"t": {"type": "text"}, "level": {"type": "keyword"}}}
        body = {"settings": {"number_of_shards": 2}, "mappings": mapping}
        self.client.indices.create(index="a", body=body)
        tail = self.tail("/a/_tail?q=t:error+AND+level:high")
        self.assertEqual(tail.reply.status, 200)
        self.assertEqual(tail.reply.headers["content-type"], "text/event-stream")
        for number in range(30):
            level = "high" if number % 3 == 0 else "low"
            text = "an Error happened" if number % 2 == 0 else "all is well"
            self.client.index(index="a", id=str(number), body={"t": text, "level": level})
        told = [tail.next() for _ in range(5)]
        self.assertEqual([event for event, _ in told], ["message"] * 5)
        self.assertEqual([change["_id"] for _, change in told], ["0", "6", "12", "18", "24"])
        self.assertEqual(told[0][1]["_source"], {"t": "an Error happened", "level": "high"})
        self.assertEqual(int(tail.last), told[-1][1]["glsn"])

    def test_a_client_that_comes_back_misses_nothing(self):
        self.client.indices.create(index="a")
        tail = self.tail("/a/_tail")
        for number in range(10):
            self.client.index(index="a", id=str(number), body={"n": number})
        for number in range(4):
            self.assertEqual(tail.next()[1]["_id"], str(number))
        tail.close()
        self.client.delete(index="a", id="9")
        again = self.tail("/a/_tail", last=tail.last)
        told = [again.next()[1]["_id"] for _ in range(6)]
        self.assertEqual(told, [str(number) for number in range(4, 10)])

    def test_queries_of_a_body_over_several_indexes(self):
        at = self.position()
        nested = {"properties": {"parts": {"type": "nested"}}}
        self.client.indices.create(index="log-1", body={"mappings": nested})
        query = {"nested": {"path": "parts", "query": {"term": {"parts.size": 3}},
                            "ignore_unmapped": True}}
        tail = self.tail(f"/log-*/_tail?from={at}", method="POST", body={"query": query})
        self.client.index(index="log-1", id="1", body={"parts": [{"size": 1}, {"size": 3}]})
        self.client.index(index="log-1", id="2", body={"parts": [{"size": 2}]})
        # An index that comes later belongs to the pattern too.
        self.client.indices.create(index="log-2", body={"mappings": nested})
        self.client.index(index="log-2", id="3", body={"parts": [{"size": 3}]})
        told = [tail.next()[1] for _ in range(2)]
        self.assertEqual([(c["_index"], c["_id"]) for c in told], [("log-1", "1"), ("log-2", "3")])

    def test_wrong_requests_are_refused(self):
        self.client.indices.create(index="a")
        with self.refused(404, "index_not_found_exception"):
            self.raw("GET", "/none/_tail")
        with self.refused(400, "parsing_exception", "unknown query [nope]"):
            self.raw("POST", "/a/_tail", body={"query": {"nope": {}}})
        with self.refused(400, "illegal_argument_exception", "cannot wait for documents"):
            knn = {"knn": {"v": {"vector": [1], "k": 1}}}
            self.raw("POST", "/a/_tail", body={"query": knn})
        tail = self.tail("/a/_tail", last="x")
        self.assertEqual(tail.reply.status, 400)
        self.assertIn(b"[Last-Event-ID] is no position: [x]", tail.reply.read())

    def test_there_is_room_for_so_many_and_they_are_counted(self):
        self.client.indices.create(index="a")
        # Those of other tests, whose clients have gone.
        self.until(lambda: self.metric("rest_tails_open"), 0)
        tails = [self.tail("/a/_tail") for _ in range(64)]
        self.assertEqual({tail.reply.status for tail in tails}, {200})
        self.assertEqual(self.metric("rest_tails_open"), 64)
        with self.refused(429, "rejected_execution_exception", "too many tails are open"):
            self.raw("GET", "/a/_tail")
        self.client.index(index="a", id="1", body={})
        for tail in tails:
            self.assertEqual(tail.next()[1]["_id"], "1")
        self.assertGreaterEqual(self.metric("rest_tail_events_total"), 64)

    def test_the_end_of_an_index_ends_its_tail(self):
        self.client.indices.create(index="a")
        tail = self.tail("/a/_tail")
        self.client.indices.delete(index="a")
        name, told = tail.next()
        self.assertEqual((name, told["error"]["type"]), ("error", "index_not_found_exception"))
        self.assertIsNone(tail.next())

    def test_a_tail_ends_with_its_index_and_not_at_a_later_look(self):
        # The deletion stands in the log before the name is gone: a tail that looks in between must be told again.
        for number in range(40):
            self.client.indices.create(index=f"a-{number}")
            tail = self.tail(f"/a-{number}/_tail")
            self.client.indices.delete(index=f"a-{number}")
            name, told = tail.next()
            self.assertEqual((name, told["error"]["type"]), ("error", "index_not_found_exception"))
            # Whoever waits is shown a position each 15 seconds.
            self.assertIsNone(tail.last)

    def test_a_closed_index_ends_its_tail(self):
        self.client.indices.create(index="a")
        tail = self.tail("/a/_tail")
        self.client.indices.close(index="a")
        name, told = tail.next()
        self.assertEqual((name, told["error"]["type"]), ("error", "index_closed_exception"))
        self.assertIsNone(tail.last)


class Stop(ClewTest):
    def test_a_server_that_stops_does_not_wait_for_tails(self):
        self.client.indices.create(index="a")
        tail = Tail(self.server, "/a/_tail")
        self.addCleanup(tail.close)
        # A clean stop is part of it: what is cut off would be told in the log.
        log = self.server.data.with_suffix(".log")
        self.server.process.terminate()
        self.assertIsNone(tail.next())
        self.assertEqual(self.server.process.wait(timeout=READ_SECONDS_MAX), 0)
        self.assertNotIn(CUT_OFF, log.read_text())
        self.server._closed()
