"""The requests of Grafana's OpenSearch data source: a panel is one `_msearch`, numbers are often text."""

import json

from .base import ClientsTest

START = 1_700_000_000_000
MINUTE = 60_000
DOCUMENTS = 600
AGENT = {"User-Agent": "Grafana/10.4.1"}
WINDOW = {"gte": START, "lte": START + DOCUMENTS * 1000, "format": "epoch_millis"}


def query(text="*", *filters):
    everything = [{"range": {"@timestamp": WINDOW}}, {"query_string": {"analyze_wildcard": True, "query": text}}]
    return {"bool": {"filter": [*everything, *filters]}}


def minutes(aggs):
    return {"2": {
        "date_histogram": {
            "field": "@timestamp", "fixed_interval": "1m", "min_doc_count": 0, "format": "epoch_millis",
            "extended_bounds": {"min": START, "max": START + DOCUMENTS * 1000}, "time_zone": "utc",
        },
        "aggs": aggs,
    }}


class Grafana(ClientsTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        probe = cls()
        probe.ask("PUT", "/logs-1", {"mappings": {"properties": {
            "@timestamp": {"type": "date"}, "host": {"type": "keyword"}, "level": {"type": "keyword"},
            "message": {"type": "text"}, "took": {"type": "integer"}, "place": {"type": "geo_point"},
        }}})
        lines = []
        for number in range(DOCUMENTS):
            lines.append(json.dumps({"create": {"_index": "logs-1"}}))
            lines.append(json.dumps({
                "@timestamp": START + number * 1000, "host": f"h{number % 4}", "took": number % 100,
                "level": "error" if number % 10 == 0 else "info", "message": f"request {number} done",
                "place": {"lat": 50 + number % 3, "lon": 8},
            }))
        body = ("\n".join(lines) + "\n").encode()
        reply = probe.ask("POST", "/_bulk?refresh=true", body)
        probe.assertFalse(reply["errors"])

    def panels(self, *bodies):
        """One dashboard's panels; none may fail."""
        header = {"search_type": "query_then_fetch", "ignore_unavailable": True, "index": "logs-*"}
        lines = [json.dumps(line) for body in bodies for line in (header, body)]
        reply = self.ask(
            "POST", "/_msearch?max_concurrent_shard_requests=5", ("\n".join(lines) + "\n").encode(),
            {**AGENT, "Content-Type": "application/x-ndjson"},
        )
        for response in reply["responses"]:
            self.assertEqual(response["status"], 200, response)
        return reply["responses"]

    def series(self, aggs):
        (response,) = self.panels({"size": 0, "query": query(), "aggs": minutes(aggs)})
        buckets = response["aggregations"]["2"]["buckets"]
        self.assertEqual(len(buckets), 11, buckets)
        return buckets

    def test_the_data_source_is_tested_and_its_fields_are_listed(self):
        said = self.ask("GET", "/", headers=AGENT)["version"]
        self.assertEqual((said["distribution"], said["number"].split(".")[0]), ("opensearch", "2"))
        mappings = self.ask("GET", "/logs-*/_mapping", headers=AGENT)
        self.assertEqual(mappings["logs-1"]["mappings"]["properties"]["took"]["type"], "integer")

    def test_metrics_over_time(self):
        buckets = self.series({
            "1": {"avg": {"field": "took"}},
            "3": {"extended_stats": {"field": "took", "sigma": "2"}},
            "4": {"percentiles": {"field": "took", "percents": ["25", "50", "95", "99"]}},
            "5": {"cardinality": {"field": "host", "precision_threshold": "100"}},
            "6": {"max": {"field": "took", "missing": 0}},
        })
        first = buckets[0]
        self.assertEqual((first["key"], first["key_as_string"]), (1_699_999_980_000, "1699999980000"))
        self.assertEqual(first["doc_count"], 40)
        self.assertEqual(first["1"]["value"], 19.5)
        self.assertEqual(first["3"]["count"], 40)
        self.assertEqual(set(first["4"]["values"]), {"25.0", "50.0", "95.0", "99.0"})
        self.assertEqual(first["5"]["value"], 4)

    def test_figures_made_of_figures(self):
        buckets = self.series({
            "1": {"avg": {"field": "took"}},
            "3": {"derivative": {"buckets_path": "1"}},
            "4": {"cumulative_sum": {"buckets_path": "_count", "format": "0"}},
            "5": {"moving_fn": {
                "buckets_path": "1", "window": 3, "script": "MovingFunctions.unweightedAvg(values)", "shift": 1,
            }},
            "6": {"bucket_script": {
                "buckets_path": {"a": "1", "b": "_count"}, "script": {"source": "params.a * params.b / 60"},
            }},
            "7": {"serial_diff": {"buckets_path": "1", "lag": 1}},
            "8": {"moving_avg": {"buckets_path": "1", "model": "simple", "window": 5}},
        })
        one, two = buckets[0], buckets[1]
        self.assertAlmostEqual(two["3"]["value"], two["1"]["value"] - one["1"]["value"])
        self.assertEqual(buckets[-1]["4"]["value"], DOCUMENTS)
        self.assertAlmostEqual(one["6"]["value"], one["1"]["value"] * one["doc_count"] / 60)

    def test_groups(self):
        by_metric, by_percentile, by_filter, by_step, by_place = self.panels(
            {"size": 0, "query": query(), "aggs": {"3": {
                "terms": {"field": "host", "size": 10, "order": {"1": "desc"}, "min_doc_count": 1, "missing": "none"},
                "aggs": {"1": {"avg": {"field": "took"}}, **minutes({"1": {"avg": {"field": "took"}}})},
            }}},
            {"size": 0, "query": query(), "aggs": {"3": {
                "terms": {"field": "host", "size": "2", "order": {"1[95.0]": "asc"}, "min_doc_count": "1"},
                "aggs": {"1": {"percentiles": {"field": "took", "percents": ["95"]}}},
            }}},
            {"size": 0, "query": query("level:(error OR warn)"), "aggs": {"3": {"filters": {"filters": {
                "errors": {"query_string": {"query": "level:error", "analyze_wildcard": True}},
                "*": {"query_string": {"query": "*", "analyze_wildcard": True}},
            }}}}},
            {"size": 0, "query": query(), "aggs": {"3": {
                "histogram": {"field": "took", "interval": "10", "min_doc_count": "0"},
            }}},
            {"size": 0, "query": query(), "aggs": {"3": {"geohash_grid": {"field": "place", "precision": "3"}}}},
        )
        averages = [bucket["1"]["value"] for bucket in by_metric["aggregations"]["3"]["buckets"]]
        self.assertEqual(len(averages), 4)
        self.assertEqual(averages, sorted(averages, reverse=True))
        self.assertEqual(len(by_percentile["aggregations"]["3"]["buckets"]), 2)
        filters = by_filter["aggregations"]["3"]["buckets"]
        self.assertEqual((filters["errors"]["doc_count"], filters["*"]["doc_count"]), (60, 60))
        self.assertEqual(len(by_step["aggregations"]["3"]["buckets"]), 10)
        self.assertGreaterEqual(len(by_place["aggregations"]["3"]["buckets"]), 1)

    def test_logs_with_marks(self):
        (found,) = self.panels({
            "size": 500,
            "query": query("message:done AND level:error"),
            "sort": [{"@timestamp": {"order": "desc", "unmapped_type": "boolean"}}, {"_doc": {"order": "desc"}}],
            "script_fields": {},
            "docvalue_fields": ["@timestamp"],
            "highlight": {
                "fields": {"*": {}}, "pre_tags": ["@HIGHLIGHT@"], "post_tags": ["@/HIGHLIGHT@"],
                "fragment_size": 2_147_483_647,
            },
            "aggs": {"1": {"date_histogram": {
                "interval": "20s", "field": "@timestamp", "min_doc_count": 0, "format": "epoch_millis",
                "extended_bounds": {"min": START, "max": START + DOCUMENTS * 1000},
            }}},
        })
        hits = found["hits"]["hits"]
        self.assertEqual(len(hits), 60)
        self.assertEqual(hits[0]["_source"]["message"], "request 590 done")
        self.assertIn("@HIGHLIGHT@done@/HIGHLIGHT@", hits[0]["highlight"]["message"][0])
        self.assertTrue(hits[0]["fields"]["@timestamp"])
        self.assertGreater(len(found["aggregations"]["1"]["buckets"]), 20)

    def test_variables_and_filters_of_a_dashboard(self):
        names, chosen, none = self.panels(
            {"size": 0, "query": query(), "aggs": {"1": {"terms": {
                "field": "host", "size": 500, "order": {"_key": "asc"}, "min_doc_count": 1,
            }}}},
            {"size": 0, "track_total_hits": True, "query": query(
                "*", {"match_phrase": {"host": {"query": "h1"}}}, {"regexp": {"level": "e.*"}},
                {"range": {"took": {"lt": "50"}}},
            )},
            {"size": 0, "query": {"bool": {
                "filter": query()["bool"]["filter"], "must_not": [{"match_phrase": {"message": {"query": "request"}}}],
            }}},
        )
        self.assertEqual([b["key"] for b in names["aggregations"]["1"]["buckets"]], ["h0", "h1", "h2", "h3"])
        expected = sum(1 for n in range(DOCUMENTS) if n % 4 == 1 and n % 10 == 0 and n % 100 < 50)
        self.assertEqual(chosen["hits"]["total"]["value"], expected)
        self.assertEqual(none["hits"]["total"]["value"], 0)

    def test_a_panel_that_fails_leaves_the_others(self):
        header = {"index": "logs-*"}
        broken = {"size": 0, "query": {"query_string": {"query": "level:("}}}
        good = {"size": 0, "query": query()}
        lines = [json.dumps(line) for body in (broken, good) for line in (header, body)]
        reply = self.ask("POST", "/_msearch", ("\n".join(lines) + "\n").encode(), AGENT)
        self.assertEqual([response["status"] for response in reply["responses"]], [400, 200])
