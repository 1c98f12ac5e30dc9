"""Slow logs: what is told of searches and writes by the limits of their index and of the cluster, with where their time went."""

import json

from .base import ClewTest

PARTS = ["cpu_us", "run_queue_us", "queue_us", "blocked_us"]
QUERY, FETCH = "index.search.slowlog.threshold.query.", "index.search.slowlog.threshold.fetch."
WRITE = "index.indexing.slowlog.threshold.index."
REQUEST = "cluster.search.request.slowlog.threshold."


class SlowLogs(ClewTest):
    env = {"CLEW_LOGGING__FORMAT": "json"}

    def setUp(self):
        super().setUp()
        self.client.indices.create(index="slow", body={"settings": {"index": {"number_of_shards": 2}}})
        self.index_all("slow", {str(number): {"t": f"quick fox {number}"} for number in range(20)})
        self.seen = len(self.lines())
        self.addCleanup(self.cluster, {REQUEST + "warn": None})

    def lines(self):
        """All slow lines so far; a line is written before its request is answered."""
        text = self.server.data.with_suffix(".log").read_text()
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        return [line for line in lines if line["target"].startswith("slowlog")]

    def new_lines(self):
        lines = self.lines()
        new, self.seen = lines[self.seen:], len(lines)
        return new

    def settings(self, settings):
        self.client.indices.put_settings(index="slow", body=settings)

    def cluster(self, settings):
        self.client.cluster.put_settings(body={"transient": settings})

    def search(self, **headers):
        body = {"query": {"match": {"t": "fox"}}, "stats": ["one", "two"]}
        return self.client.search(index="slow", body=body, headers=headers)

    def check_parts(self, line):
        self.assertGreater(line["wall_us"], 0, line)
        self.assertGreater(line["cpu_us"], 0, line)
        # Each part is rounded down.
        self.assertLessEqual(abs(sum(line[part] for part in PARTS) - line["wall_us"]), len(PARTS), line)

    def test_nothing_is_told_without_limits(self):
        self.search()
        self.settings({QUERY + "warn": "1h", FETCH + "warn": "1h", WRITE + "warn": "1h"})
        self.search()
        self.index_all("slow", {"20": {"t": "fox"}})
        self.settings({QUERY + "warn": "-1", FETCH + "warn": None, WRITE + "warn": "-1"})
        self.search()
        self.assertEqual(self.new_lines(), [])

    def test_each_shard_is_told_with_what_opensearch_tells_and_where_the_time_went(self):
        self.settings({QUERY + "trace": "0ms", FETCH + "info": "0ms"})
        self.search(**{"X-Opaque-Id": "mine"})
        lines = self.new_lines()
        found = sorted((line["phase"], line["shard"]) for line in lines)
        self.assertEqual(found, [("fetch", 0), ("fetch", 1), ("query", 0), ("query", 1)])
        for line in lines:
            phase = line["phase"]
            self.assertEqual(line["level"], {"query": "TRACE", "fetch": "INFO"}[phase])
            self.assertEqual(line["target"], "slowlog.search")
            self.assertEqual(line["message"], f"[slow][{line['shard']}]")
            self.assertEqual((line["index"], line["id"], line["stats"]), ("slow", "mine", "one,two"))
            self.assertEqual((line["search_type"], line["total_shards"]), ("QUERY_THEN_FETCH", 2))
            self.assertEqual(json.loads(line["source"])["query"], {"match": {"t": "fox"}})
            self.assertRegex(line["took"], r"^[\d.]+(nanos|micros|ms|s)$")
            self.check_parts(line)
        totals = [int(line["total_hits"].removesuffix(" hits")) for line in lines if line["phase"] == "query"]
        self.assertEqual(sum(totals), 20)

    def test_the_least_level_holds_and_a_graver_limit_goes_before(self):
        self.settings({QUERY + "trace": "0ms", QUERY + "warn": "0ms", "index.search.slowlog.level": "info"})
        self.search()
        self.assertEqual({line["level"] for line in self.new_lines()}, {"WARN"})
        self.settings({QUERY + "warn": "1h"})
        self.search()
        self.assertEqual(self.new_lines(), [])

    def test_counts_scrolls_and_searches_of_an_msearch_are_told_too(self):
        self.settings({QUERY + "warn": "0ms"})
        self.client.count(index="slow", body={"query": {"match_all": {}}})
        self.assertEqual(len(self.new_lines()), 2)
        page = self.client.search(index="slow", body={"size": 5}, params={"scroll": "1m"})
        self.client.scroll(scroll_id=page["_scroll_id"])
        self.assertEqual(len(self.new_lines()), 4)
        self.client.msearch(body=[{"index": "slow"}, {"query": {"match": {"t": "quick"}}}])
        lines = self.new_lines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.check_parts(line)

    def test_documents_are_told_with_the_beginning_of_their_source(self):
        self.settings({WRITE + "debug": "0ms", "index.indexing.slowlog.source": "12"})
        self.client.index(index="slow", id="a", body={"t": "fox", "long": "x" * 5000}, params={"routing": "r"})
        self.client.update(index="slow", id="a", body={"doc": {"t": "dog"}}, params={"routing": "r"})
        self.client.delete(index="slow", id="a", params={"routing": "r"})
        lines = self.new_lines()
        self.assertEqual([line["source"] for line in lines], ['{"t":"fox","', '{"t":"dog"}'])
        for line in lines:
            self.assertEqual((line["target"], line["level"]), ("slowlog.indexing", "DEBUG"))
            self.assertEqual((line["id"], line["routing"], line["index"]), ("a", "r", "slow"))
            self.assertRegex(line["message"], r"^\[slow/[\w-]+\]$")
            self.check_parts(line)
        self.settings({"index.indexing.slowlog.source": "false"})
        self.index_all("slow", {"b": {"t": "fox"}, "c": {"t": "fox"}})
        self.assertEqual([line["source"] for line in self.new_lines()], ["", ""])

    def test_the_cluster_tells_whole_searches(self):
        self.cluster({REQUEST + "warn": "0ms"})
        self.search(**{"X-Opaque-Id": "mine"})
        [line] = self.new_lines()
        self.assertEqual((line["target"], line["level"]), ("slowlog.request", "WARN"))
        self.assertEqual((line["total_hits"], line["id"]), ("20 hits", "mine"))
        self.assertEqual(line["shards"], "{total:2, successful:2, skipped:0, failed:0}")
        self.assertRegex(line["phase_took_millis"], r"^\{query=\d+, fetch=\d+\}$")
        self.check_parts(line)
        self.cluster({"cluster.search.request.slowlog.level": "warn", REQUEST + "warn": "1h", REQUEST + "info": "0ms"})
        self.addCleanup(self.cluster, {"cluster.search.request.slowlog.level": None, REQUEST + "info": None})
        self.search()
        self.assertEqual(self.new_lines(), [])

    def test_wrong_values_are_refused_in_opensearchs_words(self):
        for name, value, reason in [
            (QUERY + "warn", "1x", f"failed to parse setting [{QUERY}warn] with value [1x] as a time value: unit is missing or unrecognized"),
            (FETCH + "info", "-5s", f"failed to parse setting [{FETCH}info] with value [-5s] as a time value: negative durations are not supported"),
            (WRITE + "info", "1.5s", "failed to parse [1.5s], fractional time values are not supported"),
            (WRITE + "info", 5, f"failed to parse setting [{WRITE}info] with value [5] as a time value: unit is missing or unrecognized"),
            (QUERY + "bad", "1s", f"unknown setting [{QUERY}bad] did you mean any of ["),
            ("index.search.slowlog.level", "loud", "No enum constant org.opensearch.common.logging.SlowLogLevel.LOUD"),
            ("index.indexing.slowlog.source", "maybe", "Failed to parse value [maybe] as only [true] or [false] are allowed."),
        ]:
            with self.subTest(name=name, value=value), self.refused(400, "illegal_argument_exception", reason):
                self.settings({name: value})
        with self.refused(400, "illegal_argument_exception", "as a time value: unit is missing or unrecognized"):
            self.cluster({REQUEST + "info": "-2"})
        with self.refused(400, "illegal_argument_exception", "SlowLogLevel.LOUD"):
            self.cluster({"cluster.search.request.slowlog.level": "loud"})

    def test_limits_are_shown_and_outlive_a_restart(self):
        self.settings({QUERY + "warn": "0ms"})
        shown = self.client.indices.get_settings(index="slow", params={"flat_settings": "true", "include_defaults": "true"})
        self.assertEqual(shown["slow"]["settings"][QUERY + "warn"], "0ms")
        self.assertEqual(shown["slow"]["defaults"][FETCH + "warn"], "-1")
        self.assertEqual(shown["slow"]["defaults"]["index.indexing.slowlog.source"], "1000")
        self.restart()
        self.new_lines()
        self.search()
        self.assertEqual(len(self.new_lines()), 2)
