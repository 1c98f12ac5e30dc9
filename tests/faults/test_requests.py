"""Single requests that took the server, or all of its memory, or held it up for minutes."""

import threading
import time
import unittest

from .server import Server

# A debug binary on a busy machine: a bound for what hangs.
SECONDS_MAX = 60
GROWTH_KIB_MAX = 1 << 20


def resident_kib(server):
    with open(f"/proc/{server.process.pid}/status") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1])


class HostileRequests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().start()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def setUp(self):
        self.client = self.server.client(4 * SECONDS_MAX)
        self.client.__enter__()

    def tearDown(self):
        self.client.__exit__()
        self.assertTrue(self.server.alive(), self.server.log_tail())
        self.assertEqual(self.server.panics(), [])

    def simulated(self, steps, source):
        body = {"pipeline": {"processors": steps}, "docs": [{"_source": source}]}
        return self.client.post("/_ingest/pipeline/_simulate", body).text

    def analysed_by(self, index, **parts):
        analyzer = {"tokenizer": "keyword", **{kind: ["x"] for kind in parts}}
        settings = {"analysis": {"analyzer": {"a": analyzer}, **{kind: {"x": part} for kind, part in parts.items()}}}
        mappings = {"properties": {"t": {"type": "text", "analyzer": "a"}}}
        self.client.done("PUT", f"/{index}", {"settings": {"number_of_shards": 1, **settings}, "mappings": mappings})

    def test_conditions_of_minimum_should_match_are_not_inside_of_each_other(self):
        query = {"match": {"t": {"query": "a b", "minimum_should_match": "1<" * 100_000 + "1"}}}
        self.client.done("PUT", "/one/_doc/1?refresh=true", {"t": "a b"})
        self.assertLess(self.client.post("/one/_search", {"query": query}).status, 500)

    def test_completions_are_there_or_not(self):
        self.client.done("PUT", "/songs", {"mappings": {"properties": {"s": {"type": "completion"}}}})
        self.client.done("PUT", "/songs/_doc/1?refresh=true", {"s": "let it be"})
        self.client.done("PUT", "/songs/_doc/2?refresh=true", {"other": 1})
        for query, count in (({"exists": {"field": "s"}}, 1), ({"exists": {"field": "*"}}, 2),
                             ({"query_string": {"query": "s:*"}}, 1)):
            found = self.client.done("POST", "/songs/_search", {"query": query})
            self.assertEqual(found["hits"]["total"]["value"], count, query)

    def test_others_are_answered_while_a_document_is_analysed_for_long(self):
        self.analysed_by("looks", char_filter={"type": "pattern_replace", "pattern": "x(?=.*y)", "replacement": "z"})
        answered = []

        def write():
            with self.server.client(4 * SECONDS_MAX) as client:
                answered.append(client.put("/looks/_doc/1", {"t": "x" * 1_000_000}).status)

        writing = threading.Thread(target=write)
        writing.start()
        slowest = 0
        while writing.is_alive():
            for path in ("/_cluster/health", "/", "/looks/_search"):
                started = time.monotonic()
                self.client.done("GET", path)
                slowest = max(slowest, time.monotonic() - started)
        writing.join()
        # A million letters are no term.
        self.assertEqual(answered, [400])
        self.assertLess(slowest, SECONDS_MAX)

    def test_what_an_analyzer_makes_of_a_text_is_bounded(self):
        before = resident_kib(self.server)
        grow = {"type": "pattern_replace", "pattern": "x", "replacement": "y" * 10_000}
        self.analysed_by("grows", char_filter=grow, filter=grow)
        self.assertLess(self.client.put("/grows/_doc/1", {"t": "x" * 100_000}).status, 500)
        self.assertLess(resident_kib(self.server) - before, GROWTH_KIB_MAX)

    def test_tags_without_an_end_are_looked_for_once(self):
        for part in ("<script>", "<a ", "<!--", "&"):
            started = time.monotonic()
            self.simulated([{"html_strip": {"field": "m"}}], {"m": part * 200_000})
            self.assertLess(time.monotonic() - started, SECONDS_MAX, part)

    def test_pipelines_end_and_keep_within_their_memory(self):
        before = resident_kib(self.server)
        copies = [{"set": {"field": f"l.a{n}", "copy_from": "l"}} for n in range(40)]
        self.assertIn("may set [67108864] bytes", self.simulated(copies, {"l": {"x": 1}}))
        self.assertLess(resident_kib(self.server) - before, 2 * GROWTH_KIB_MAX)
        rename = {"rename": {"field": "a", "target_field": "b", "ignore_missing": True}}
        inner = {"foreach": {"field": "l", "processor": rename, "ignore_failure": True}}
        steps = [{"foreach": {"field": "l", "processor": inner, "ignore_failure": True}}]
        self.assertIn("may take [1000000] steps", self.simulated(steps, {"l": list(range(1_500))}))


if __name__ == "__main__":
    unittest.main()
