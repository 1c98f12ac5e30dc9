"""Memory is a budget: what does not fit is refused by name, and everything else goes on."""

import gzip
import http.client
import json
import threading
import time

from .base import ClewTest

MIB = 1 << 20
# What a bulk of the tests has: a document takes a hundredth of it.
BODY_BYTES = 8 * MIB


def bulk_of(client, body_bytes=BODY_BYTES):
    """A bulk of a hundred documents of its own, and its number of documents."""
    text = "x" * (body_bytes // 100 - 40)
    lines = [f'{{"index":{{"_id":"{client}-{n}"}}}}\n{{"t":"{text}"}}\n' for n in range(100)]
    return "".join(lines).encode(), len(lines)


class Memory(ClewTest):
    env = {"CLEW_MEMORY__LIMIT_BYTES": str(64 * MIB)}

    def send(self, method, path, body, headers=None):
        """A request over a connection of its own: status and answer."""
        host, port = self.server.address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        try:
            headers = {"content-type": "application/json", **(headers or {})}
            connection.request(method, path, body=body, headers=headers)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()

    def at_once(self, count, work):
        answers = [None] * count

        def run(at):
            answers[at] = work(at)

        threads = [threading.Thread(target=run, args=(at,)) for at in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def mapped(self, index):
        self.client.indices.create(index=index, body={"mappings": {"dynamic": False}})

    def check_refused(self, answer):
        self.assertEqual(answer["status"], 429)
        error = answer["error"]
        if error["type"] == "circuit_breaking_exception":
            self.assertRegex(
                error["reason"],
                r"^\[(in_flight_requests|request|parent)\] Data too large, data for \[<\w+>\] would "
                r"be \[\d+/[\d.]+\wb\], which is larger than the limit of \[\d+/[\d.]+\wb\]$",
            )
            self.assertGreater(error["bytes_wanted"], error["bytes_limit"])
            self.assertEqual(error["durability"], "TRANSIENT")
        else:
            self.assertEqual(error["type"], "rejected_execution_exception")
            self.assertRegex(
                error["reason"],
                r"^rejected execution of coordinating operation \[coordinating_and_primary_bytes=\d+, "
                r"replica_bytes=0, all_bytes=\d+, coordinating_operation_bytes=\d+, "
                r"max_coordinating_and_primary_bytes=\d+\]$",
            )

    def test_of_many_large_bodies_some_are_refused_and_what_is_acknowledged_is_there(self):
        self.mapped("m")
        over, small = threading.Event(), []

        def go_on():
            while not over.is_set():
                small.append(self.send("GET", "/m/_search?size=1", b"{}")[0])
                small.append(self.send("POST", "/n/_doc", b'{"a":1}')[0])
                time.sleep(0.01)

        beside = threading.Thread(target=go_on)
        beside.start()
        bodies = [bulk_of(client) for client in range(20)]
        answers = self.at_once(20, lambda at: self.send("POST", "/m/_bulk", bodies[at][0]))
        over.set()
        beside.join()
        taken = [at for at, (status, _) in enumerate(answers) if status == 200]
        self.assertTrue(taken)
        self.assertLess(len(taken), 20)
        for status, answer in answers:
            if status == 200:
                self.assertFalse(answer["errors"])
            else:
                self.check_refused(answer)
        self.assertLessEqual(set(small), {200, 201})
        self.client.indices.refresh(index="m")
        expected = sum(bodies[at][1] for at in taken)
        self.assertEqual(self.client.count(index="m")["count"], expected)
        # Later there is room again.
        self.assertEqual(self.send("POST", "/m/_bulk", bodies[0][0])[0], 200)

    def test_a_body_that_can_never_fit_is_too_long(self):
        body, _ = bulk_of("x", 40 * MIB)
        status, answer = self.send("POST", "/m/_bulk", body)
        self.assertEqual((status, answer["error"]["type"]), (413, "content_too_long_exception"))
        packed = gzip.compress(body)
        status, answer = self.send("POST", "/m/_bulk", packed, {"content-encoding": "gzip"})
        self.assertEqual((status, answer["error"]["type"]), (413, "content_too_long_exception"))

    def test_what_is_small_packed_and_large_inflated_is_counted_as_it_grows(self):
        packed = gzip.compress(b'{"index":{}}\n{"t":"' + b"a" * (20 * MIB) + b'"}\n')
        self.assertLess(len(packed), 100_000)
        headers = {"content-encoding": "gzip"}
        answers = self.at_once(8, lambda _: self.send("POST", "/m/_bulk", packed, headers))
        refused = [answer for status, answer in answers if status == 429]
        self.assertTrue(refused)
        for answer in refused:
            self.check_refused(answer)

    def test_a_text_that_becomes_too_much_when_it_is_read_is_refused(self):
        self.send("POST", "/n/_doc", b'{"a":1}')
        numbers = b"0," * (2 * MIB) + b"0"
        search = b'{"query":{"terms":{"a":[' + numbers + b"]}}}"
        status, answer = self.send("POST", "/n/_search", search)
        self.assertEqual(status, 429)
        self.assertEqual(answer["error"]["type"], "circuit_breaking_exception")
        self.assertEqual(answer["error"]["durability"], "PERMANENT")
        status, _ = self.send("POST", "/n/_doc", b'{"a":[' + numbers + b"]}")
        self.assertEqual(status, 413)
        operations = b'{"index":{}}\n{}\n' * 500_000
        self.assertEqual(self.send("POST", "/n/_bulk", operations)[0], 413)

    def test_hits_are_counted_while_they_are_fetched(self):
        self.mapped("h")
        for client in range(5):
            self.assertEqual(self.send("POST", "/h/_bulk?refresh", bulk_of(client)[0])[0], 200)
        status, answer = self.send("POST", "/h/_search", b'{"size":500}')
        self.assertEqual(status, 429)
        self.assertEqual(answer["error"]["type"], "circuit_breaking_exception")
        self.assertIn("[request] Data too large", answer["error"]["reason"])
        status, answer = self.send("POST", "/h/_search", b'{"size":20}')
        self.assertEqual((status, len(answer["hits"]["hits"])), (200, 20))

    def test_figures_are_shown_and_limits_can_be_set(self):
        node = next(iter(self.client.nodes.stats(metric="breaker")["nodes"].values()))
        breakers = node["breakers"]
        self.assertEqual(
            sorted(breakers),
            ["fielddata", "in_flight_requests", "index_buffer", "indexing_pressure", "merges", "parent", "request"],
        )
        self.assertEqual(breakers["parent"]["limit_size_in_bytes"], 64 * MIB // 100 * 70)
        name = "network.breaker.inflight_requests.limit"
        try:
            self.client.cluster.put_settings(body={"transient": {name: "1mb"}})
            with self.refused(413, "content_too_long_exception"):
                self.raw("POST", "/m/_bulk", body=bulk_of("x", MIB)[0])
        finally:
            self.client.cluster.put_settings(body={"transient": {name: None}})
        with self.refused(400, "illegal_argument_exception", "unit is missing"):
            self.client.cluster.put_settings(body={"transient": {name: "1"}})
        def memory():
            stats = self.client.nodes.stats(metric="indexing_pressure")["nodes"]
            return next(iter(stats.values()))["indexing_pressure"]["memory"]

        # What a request had may go after its answer.
        self.until(lambda: memory()["current"]["all_in_bytes"], 0)
        self.assertEqual(memory()["limit_in_bytes"], 64 * MIB // 100 * 25)
        self.assertIn('memory_limit_bytes{purpose="all"}', self.metrics())
        self.until(lambda: self.reserved("bodies"), 0)
        process = self.reserved("process")
        self.assertGreater(process, MIB)

    def reserved(self, purpose):
        """What is taken for a purpose."""
        head = f'memory_reserved_bytes{{purpose="{purpose}"}} '
        lines = [line for line in self.metrics().splitlines() if line.startswith(head)]
        return int(lines[0].removeprefix(head))

    def trips(self, path, body):
        """Checks that there is no memory for a request that the node can do in smaller parts."""
        status, answer = self.send("POST", path, json.dumps(body))
        self.assertEqual(status, 429, str(answer)[:500])
        self.assertEqual(answer["error"]["type"], "circuit_breaking_exception")
        self.assertIn("[request] Data too large", answer["error"]["reason"])

    def test_copies_are_made_in_pages_that_fit(self):
        self.mapped("from")
        for client in range(5):
            self.assertEqual(self.send("POST", "/from/_bulk?refresh", bulk_of(client)[0])[0], 200)
        body = {"source": {"index": "from", "size": 1000}, "dest": {"index": "to"}}
        status, answer = self.send("POST", "/_reindex", json.dumps(body))
        self.assertEqual((status, answer["created"], answer["failures"]), (200, 500, []), answer)
        self.assertGreater(answer["batches"], 2)
        status, answer = self.send("POST", "/from/_update_by_query", "{}")
        self.assertEqual((status, answer["updated"]), (200, 500), answer)

    def test_a_scroll_has_memory_for_as_long_as_it_is_open(self):
        self.send("POST", "/s/_bulk?refresh", b'{"index":{}}\n{"a":1}\n' * 3)
        # Nobody else's are open, but for one that was just answered.
        before = 0
        self.until(lambda: self.reserved("searches"), before)
        body = json.dumps({"size": 1, "query": {"terms": {"a": list(range(10_000))}}})
        status, answer = self.send("POST", "/s/_search?scroll=1m", body)
        self.assertEqual(status, 200)
        self.assertGreater(self.reserved("searches"), before + 10_000 * 64)
        self.client.clear_scroll(scroll_id=answer["_scroll_id"])
        self.until(lambda: self.reserved("searches"), before)
        pit = self.client.create_pit(index="s", params={"keep_alive": "1m"})["pit_id"]
        self.assertGreater(self.reserved("searches"), before)
        self.client.delete_pit(body={"pit_id": [pit]})
        self.until(lambda: self.reserved("searches"), before)

    def test_what_texts_become_is_counted(self):
        text = "word " * (MIB // 5)
        self.mapped("w")
        mapping = {"properties": {"t": {"type": "text"}, "q": {"type": "percolator"}}}
        self.client.indices.put_mapping(index="w", body=mapping)
        self.assertEqual(self.send("PUT", "/w/_doc/1?refresh", json.dumps({"t": text[:900_000]}))[0], 201)
        self.trips("/_analyze", {"text": text})
        percolate = {"percolate": {"field": "q", "document": {"t": text}}}
        self.trips("/w/_search", {"query": percolate})
        field = {"t": {"number_of_fragments": 0}}
        self.trips("/w/_search", {"query": {"match": {"t": "word"}}, "highlight": {"fields": field}})
        self.trips("/w/_search", {"query": {"match": {"t": text}}})
        asked = {"fields": ["t"]}
        self.trips("/w/_termvectors/1", asked)

    def test_what_hits_are_sorted_by_is_counted_before_it_is_there(self):
        lines = "".join(f'{{"index":{{}}}}\n{{"n":{n}}}\n' for n in range(2_000))
        self.assertEqual(self.send("POST", "/o/_bulk?refresh", lines)[0], 200)
        self.trips("/o/_search", {"size": 2_000, "sort": ["n"] * 200})
        status, _ = self.send("POST", "/o/_search", json.dumps({"size": 20, "sort": ["n"] * 200}))
        self.assertEqual(status, 200)

    def test_words_of_statements_are_counted(self):
        self.assertEqual(self.send("POST", "/sql/_doc?refresh", json.dumps({"t": "x" * 20_000, "n": 1}))[0], 201)
        long = "select n from sql where n in (0" + ",0" * 200_000 + ")"
        status, answer = self.send("POST", "/_plugins/_sql", json.dumps({"query": long}))
        self.assertEqual(status, 429, str(answer)[:500])

    def metrics(self):
        host, port = self.server.address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        try:
            connection.request("GET", "/_metrics")
            return connection.getresponse().read().decode()
        finally:
            connection.close()
