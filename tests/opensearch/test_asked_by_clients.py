"""What examples and integration tests of OpenSearch's own clients ask, and what they look at in the answers."""

import json
import urllib.request

import opensearchpy

from .base import ClewTest


class Asked(ClewTest):
    def terms(self, index, analyzer, text):
        tokens = self.client.indices.analyze(index=index, body={"analyzer": analyzer, "text": text})["tokens"]
        return [token["token"] for token in tokens]

    def test_proposals_have_analyzers_of_the_index(self):
        folded = {"tokenizer": "whitespace", "filter": ["lowercase", "plain"]}
        self.client.indices.create(index="people", body={
            "settings": {"analysis": {"analyzer": {"plain_names": folded}, "filter": {"plain": {"type": "asciifolding"}}}},
            "mappings": {"properties": {"proposed": {"type": "completion", "analyzer": "plain_names"}}},
        })
        self.index_all("people", {"1": {"proposed": ["Zoë Müller", "Müller Zoë"]}, "2": {"proposed": "Mats Zorn"}})
        for prefix, expected in (("zoe", ["Zoë Müller"]), ("MULL", ["Müller Zoë"]), ("ma", ["Mats Zorn"]), ("x", [])):
            body = {"suggest": {"names": {"prefix": prefix, "completion": {"field": "proposed"}}}}
            options = self.client.search(index="people", body=body)["suggest"]["names"][0]["options"]
            self.assertEqual([option["text"] for option in options], expected, prefix)
        shown = self.client.indices.get_mapping(index="people")["people"]["mappings"]["properties"]["proposed"]
        self.assertEqual(shown["analyzer"], "plain_names")
        # The same mapping once more is no change.
        again = {"properties": {"proposed": {"type": "completion", "analyzer": "plain_names"}}}
        self.client.indices.put_mapping(index="people", body=again)
        with self.assertRaises(opensearchpy.RequestError) as refused:
            self.client.indices.create(index="others", body={"mappings": {"properties": {
                "proposed": {"type": "completion", "analyzer": "plain_names"},
            }}})
        self.assertIn("analyzer [plain_names] has not been configured in mappings", str(refused.exception))

    def test_analyzers_of_a_kind_have_its_options(self):
        marks = {"type": "fingerprint", "separator": "+", "stopwords": ["of", "the"]}
        self.client.indices.create(index="words", body={"settings": {"analysis": {
            "analyzer": {"marks": marks, "few": {"type": "fingerprint", "max_output_size": 5},
                         "greek_words": {"tokenizer": "whitespace", "filter": ["greek_lower"]}},
            "filter": {"greek_lower": {"type": "lowercase", "language": "greek"}},
        }}})
        self.assertEqual(self.terms("words", "marks", "The name of the rose, the Name"), ["name+rose"])
        self.assertEqual(self.terms("words", "few", "more than five letters"), [])
        self.assertEqual(self.terms("words", "greek_words", "Αθήνα ΦΊΛΟΣ Άνθρωπος"), ["αθηνα", "φιλοσ", "ανθρωποσ"])

    def test_a_document_is_percolated_with_an_index_beside_it(self):
        self.client.indices.create(index="alerts", body={"mappings": {"properties": {
            "query": {"type": "percolator"}, "text": {"type": "text"},
        }}})
        self.index_all("alerts", {"1": {"query": {"match": {"text": "rust"}}}})
        asked = {"percolate": {"field": "query", "index": "alerts", "document": {"text": "rust and iron"}}}
        hits = self.client.search(index="alerts", body={"query": asked})["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits], ["1"])

    def test_the_best_score_is_shown_page_by_page(self):
        self.index_all("pages", {str(number): {"text": "a b"[: 1 + 2 * (number % 2)]} for number in range(5)})
        for body, is_shown in (
            ({"query": {"match": {"text": "b"}}}, True), ({"sort": ["_score"]}, True), ({"sort": ["_doc"]}, False),
        ):
            page = self.client.search(index="pages", body=body, scroll="1m", size=1)
            best = page["hits"]["hits"][0]["_score"] if is_shown else None
            self.assertEqual(page["hits"]["max_score"], best, body)
            page = self.client.scroll(scroll_id=page["_scroll_id"], scroll="1m")
            self.assertEqual(page["hits"]["max_score"], best, body)

    def test_the_best_score_of_no_index_is_0(self):
        self.assertEqual(self.client.search(index="nothing-*")["hits"]["max_score"], 0)

    def test_differences_of_what_is_not_there_are_not_there(self):
        self.index_all("figures", {str(number): {"n": number, "v": number * number} for number in range(4)})
        found = self.client.search(index="figures", size=0, body={"aggs": {"by": {
            "histogram": {"field": "n", "interval": 1},
            "aggs": {
                "v": {"sum": {"field": "v"}},
                "first": {"derivative": {"buckets_path": "v"}},
                "second": {"derivative": {"buckets_path": "first"}},
                "mean": {"moving_avg": {"buckets_path": "v"}},
                "sum": {"cumulative_sum": {"buckets_path": "v", "format": ""}},
            },
        }}})["aggregations"]["by"]["buckets"]
        self.assertEqual([bucket["sum"]["value_as_string"] for bucket in found], ["0", "1", "5", "14"])
        values = lambda name: [bucket[name]["value"] if name in bucket else "none" for bucket in found]
        self.assertEqual(values("first"), ["none", 1, 3, 5])
        self.assertEqual(values("second"), ["none", "none", 2, 2])
        self.assertEqual(values("mean"), ["none", 0, 0.5, 5 / 3])

    def test_moving_averages_know_seasons(self):
        numbers = [4.246912, 9.246912, 14.246912, 8.246912, 13.246912, 7.246912, 12.246912]
        self.client.indices.create(index="figures", body={"mappings": {"properties": {"v": {"type": "double"}}}})
        self.index_all("figures", {str(at): {"n": at, "v": number} for at, number in enumerate(numbers)})

        def asked(**settings):
            inner = {"v": {"sum": {"field": "v"}}, "mean": {"moving_avg": {"buckets_path": "v", "model": "holt_winters", "window": 6, **settings}}}
            body = {"aggs": {"by": {"histogram": {"field": "n", "interval": 1}, "aggs": inner}}}
            return self.client.search(index="figures", size=0, body=body)["aggregations"]["by"]["buckets"]

        factors = {"alpha": 0.5, "beta": 0.5, "gamma": 0.5, "period": 2}
        # As OpenSearch 2.19 answers.
        seasons = {
            "add": [13.914598343026263, 10.387329757042039, 11.94307682510814],
            "mult": [18.02271333516061, 10.283061880138028, 10.431548351681743],
        }
        for kind, expected in seasons.items():
            found = asked(minimize=False, settings={**factors, "type": kind})
            self.assertEqual([at for at, bucket in enumerate(found) if "mean" in bucket], [4, 5, 6])
            for bucket, value in zip(found[4:], expected):
                self.assertAlmostEqual(bucket["mean"]["value"], value, places=9)
        for settings, reason in (
            ({"settings": {"period": 4}}, "Field [window] must be at least twice as large as the period"),
            ({"settings": {"type": "none"}}, "failed to parse seasonality type [none]"),
            ({"model": "linear", "minimize": True}, "model cannot be minimized for aggregation [mean]"),
        ):
            with self.assertRaises(opensearchpy.TransportError) as refused:
                asked(**settings)
            self.assertIn(reason, str(refused.exception.info))

    def test_objects_that_are_not_nested_are_no_nested_ones(self):
        self.index_all("objects", {"1": {"parts": [{"size": 4}, {"size": 9}]}})
        aggs = lambda path: {"aggs": {"parts": {"nested": {"path": path}}}, "size": 0}
        with self.assertRaises(opensearchpy.TransportError) as refused:
            self.client.search(index="objects", body=aggs("parts"))
        self.assertIn("[nested] nested path [parts] is not nested", str(refused.exception.info))
        found = self.client.search(index="objects", body=aggs("nothing"))["aggregations"]["parts"]
        self.assertEqual(found["doc_count"], 0)

    def test_corners_of_boxes_are_the_outer_ones_of_geohashes(self):
        self.client.indices.create(index="places", body={"mappings": {"properties": {"at": {"type": "geo_point"}}}})
        self.index_all("places", {"1": {"at": {"lat": 75.5, "lon": 28.5}}, "2": {"at": {"lat": 79, "lon": 28.5}}})
        for corners in (("ut", "ut"), ({"geohash": "ut"}, {"geohash": "ut"}), ("78.75,22.5", "73.125,33.75")):
            box = {"geo_bounding_box": {"at": {"top_left": corners[0], "bottom_right": corners[1]}}}
            hits = self.client.search(index="places", body={"query": box})["hits"]["hits"]
            self.assertEqual([hit["_id"] for hit in hits], ["1"], corners)

    def test_functions_have_names(self):
        self.index_all("scored", {"1": {"n": 2}})
        named = {"function_score": {"functions": [{"_name": "first", "field_value_factor": {"field": "n"}}]}}
        found = self.client.search(index="scored", body={"query": named})["hits"]
        self.assertEqual(found["max_score"], 2)

    def test_lists_are_joined_where_dots_become_objects(self):
        found = self.client.ingest.simulate(body={
            "pipeline": {"processors": [{"dot_expander": {"field": "a.b"}}]},
            "docs": [{"_source": {"a": {"b": [1]}, "a.b": [2, 3]}}, {"_source": {"a": {"b": 1}, "a.b": 2}}],
        })["docs"]
        self.assertEqual([one["doc"]["_source"] for one in found], [{"a": {"b": [1, 2, 3]}}, {"a": {"b": [1, 2]}}])

    def test_lists_are_of_the_health_that_is_asked_for(self):
        for name, copies in (("alone", 0), ("copied", 1)):
            settings = {"number_of_shards": 1, "number_of_replicas": copies}
            self.client.indices.create(index=name, body={"settings": settings})
        listed = lambda **asked: [
            row["index"] for row in self.client.list.indices(index="alone,copied", format="json", pri=True, **asked)["indices"]
        ]
        self.assertEqual(listed(master_timeout="1s"), ["alone", "copied"])
        self.assertEqual((listed(health="green"), listed(health="yellow"), listed(health="red")), (["alone"], ["copied"], []))
        with self.refused(400, "illegal_argument_exception", "unknown cluster health status [blue]"):
            listed(health="blue")

    def test_parameters_may_stand_beside_a_path(self):
        self.client.indices.create(index="named", body={"settings": {"analysis": {"analyzer": {"own": {"tokenizer": "whitespace"}}}}})
        asked = {"analyzer": "own", "text": "A-b C"}
        for path, params in (("/named/_analyze", {}), ("/_analyze", {"index": "named"})):
            tokens = self.raw("POST", path, body=asked, params=params)["tokens"]
            self.assertEqual([token["token"] for token in tokens], ["A-b", "C"])
        script = {"script": {"lang": "painless", "source": "doc['n'].value * 2"}}
        self.raw("PUT", "/_scripts/doubled", body=script, params={"context": "score"})
        self.assertEqual(self.client.get_script(id="doubled")["script"]["source"], script["script"]["source"])
        with self.refused(400, "illegal_argument_exception"):
            self.raw("PUT", "/_scripts/doubled", body=script, params={"context": "nothing"})
        self.client.delete_script(id="doubled")
        # What is shown of hits says nothing of those that are deleted.
        self.index_all("named", {"1": {"n": 1}})
        done = self.client.delete_by_query(index="named", body={"query": {"match_all": {}}}, _source="n", refresh=True)
        self.assertEqual(done["deleted"], 1)
        self.assertEqual(self.client.plugins.knn.search_models(body={"query": {"match_all": {}}}, size=3)["hits"]["hits"], [])

    def test_indexes_may_be_named_beside_a_path(self):
        for name in ("beside-1", "beside-2"):
            self.client.indices.create(index=name, body={"settings": {"number_of_shards": 1}})
        self.raw("POST", "/_bulk", body='{"index":{"_id":"1"}}\n{"n":1}\n', params={"index": "beside-1", "refresh": "true"})
        of_two = {"index": "beside-2"}
        for path, expected in (("/_count", 1), ("/beside-1/_count", 1), ("/beside-2/_count", 0)):
            # A path that has a place for them says which.
            params = {"index": "beside-1" if path == "/_count" else "nothing"}
            self.assertEqual(self.raw("GET", path, params=params)["count"], expected, path)
        self.assertEqual(self.raw("GET", "/_search", params=of_two)["hits"]["total"]["value"], 0)
        self.assertEqual(list(self.raw("GET", "/_mapping", params=of_two)), ["beside-2"])
        for path in ("/_refresh", "/_flush", "/_forcemerge", "/_cache/clear"):
            self.assertEqual(self.raw("POST", path, params=of_two)["_shards"]["total"], 1, path)
        table = self.raw("GET", "/_cat/indices", params={**of_two, "format": "json"})
        self.assertEqual([row["index"] for row in table], ["beside-2"])
        found = self.raw("POST", "/_msearch", body="{}\n{}\n", params={"index": "beside-1"})
        self.assertEqual(found["responses"][0]["hits"]["total"]["value"], 1)
        with self.refused(404, "index_not_found_exception"):
            self.raw("GET", "/_search", params={"index": "nothing"})
        with self.refused(400, "illegal_argument_exception", "unrecognized parameter: [index]"):
            self.raw("GET", "/_cat/health", params=of_two)

    def test_typed_clients_find_the_types_that_they_know(self):
        fields = {"v": {"type": "knn_vector", "dimension": 2}}
        self.client.indices.create(index="typed", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": fields}})
        self.index_all("typed", {"1": {"v": [1, 2]}})
        (shard,) = self.client.indices.segments(index="typed")["indices"]["typed"]["shards"]["0"]
        for segment in shard["segments"].values():
            self.assertEqual({type(value) for value in segment["attributes"].values()}, {str})
            self.assertEqual(segment["vectors"]["v"]["count"], 1)
        asked = {"index": "typed", "shard": 0, "primary": True}
        node = self.client.cluster.allocation_explain(body=asked)["current_node"]
        self.assertEqual(node["attributes"], {})

    def test_what_says_nothing_is_passed_over(self):
        """The RestHighLevelClient writes down whatever its requests can have."""
        self.raw("PUT", "/told/_create/1?timeout=1m&version=-4", body={"n": 1})
        with self.refused(409, "version_conflict_engine_exception"):
            self.raw("PUT", "/told/_create/1", body={"n": 1}, params={"version": -4})
        with self.refused(400, "action_request_validation_exception", "internal versioning can not be used"):
            self.raw("PUT", "/told/_doc/1", body={"n": 1}, params={"version": -4})
        self.raw("PUT", "/told/_doc/1", body={"n": 2}, params={"version": -3})
        lines = '{"create":{"_index":"told","_id":"2","version":-4}}\n{"n":3}\n{"index":{"_index":"told","_id":"1","version":-3}}\n{"n":4}\n'
        self.assertFalse(self.raw("POST", "/_bulk", body=lines)["errors"])
        options = {"ignore_throttled": "false", "ignore_unavailable": "false", "expand_wildcards": "open,closed"}
        for method, path in (
            ("POST", "/told/_refresh"), ("POST", "/told/_flush"), ("POST", "/told/_forcemerge"), ("GET", "/told/_stats"),
            ("GET", "/_cluster/health/told"), ("POST", "/told/_close"), ("POST", "/told/_open"),
            ("GET", "/told/_validate/query"), ("POST", "/told/_cache/clear"), ("GET", "/told/_segments"), ("GET", "/told/_recovery"),
            ("GET", "/_cat/indices/told"), ("POST", "/told/_update_by_query"),
        ):
            self.raw(method, path, params=options)
        self.raw("GET", "/told/_field_caps", params={**options, "fields": "*"})
        nothing = {"routing": None, "stored_fields": None, "_source": None, "version": -3, "version_type": "internal"}
        (got,) = self.raw("POST", "/_mget", body={"docs": [{"_index": "told", "_id": "1", **nothing}]})["docs"]
        self.assertEqual(got["_source"], {"n": 4})
        told = {"name": "named", "type": "fs", "settings": {"location": "named"}, "verify": True}
        self.raw("PUT", "/_snapshot/named", body=told)
        with self.refused(400, "illegal_argument_exception", "Malformed settings section"):
            self.raw("PUT", "/_snapshot/named", body={**told, "settings": "none"})
        self.raw("DELETE", "/told", params=options)

    def test_an_update_is_an_upsert_by_what_stands_beside_its_body(self):
        """The RestHighLevelClient, and Spring Data with it, say it there."""
        beside = {"doc_as_upsert": "true"}
        made = self.raw("POST", "/beside/_update/1", body={"doc": {"n": 1}}, params=beside)
        self.assertEqual(made["result"], "created")
        with self.refused(404, "document_missing_exception"):
            self.raw("POST", "/beside/_update/2", body={"doc": {"n": 1}, "doc_as_upsert": False}, params=beside)
        with self.refused(400, "action_request_validation_exception", "doc must be specified"):
            self.raw("POST", "/beside/_update/1", body={"script": "ctx._source.n = 2"}, params=beside)
        with self.refused(400, "illegal_argument_exception", "unrecognized parameter: [doc_as_upsert]"):
            self.raw("PUT", "/beside/_doc/1", body={"n": 1}, params=beside)

    def test_what_was_made_is_told_where_it_is(self):
        def location(method, path, body):
            request = urllib.request.Request(self.server.url + path, data=json.dumps(body).encode(), method=method)
            request.add_header("Content-Type", "application/json")
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.headers["Location"]

        path = "/placed/_doc/a%20b%2Fc?routing=x%20y"
        self.assertEqual(location("PUT", path, {"n": 1}), path)
        self.assertIsNone(location("PUT", path, {"n": 2}))
        self.assertEqual(self.raw("GET", path)["_source"], {"n": 2})
        self.assertEqual(location("PUT", "/placed/_create/1", {}), "/placed/_doc/1")
        self.assertEqual(location("POST", "/placed/_update/2", {"doc": {}, "doc_as_upsert": True}), "/placed/_doc/2")
        self.assertRegex(location("POST", "/placed/_doc", {}), "^/placed/_doc/[A-Za-z0-9_~-]+$")

    def test_older_clients_flush_with_a_mark(self):
        self.client.indices.create(index="marked", body={"settings": {"number_of_shards": 2}})
        for method, path in (("POST", "/marked/_flush/synced"), ("GET", "/_flush/synced")):
            shards = self.raw(method, path, params={"ignore_unavailable": "true"})["_shards"]
            self.assertEqual((shards["successful"], shards["failed"]), (2, 0), path)
        with self.refused(404, "index_not_found_exception"):
            self.raw("POST", "/nothing/_flush/synced")
        with self.refused(400, "illegal_argument_exception", "unrecognized parameter: [force]"):
            self.raw("POST", "/marked/_flush/synced", params={"force": "true"})

    def test_the_status_of_a_snapshot_is_of_the_indexes_that_are_asked_for(self):
        for name in ("kept-1", "kept-2"):
            self.index_all(name, {"1": {"n": 1}})
        self.client.snapshot.create_repository(repository="kept", body={"type": "fs", "settings": {"location": "kept"}})
        self.client.snapshot.create(repository="kept", snapshot="all", body={"indices": "kept-*"}, wait_for_completion=True)

        def status(path, **params):
            return self.raw("GET", f"/_snapshot/kept/{path}/_status", params=params)["snapshots"][0]

        whole, one = status("all"), status("all/kept-2")
        self.assertEqual((set(whole["indices"]), set(one["indices"])), ({"kept-1", "kept-2"}, {"kept-2"}))
        self.assertEqual((whole["shards_stats"]["total"], one["shards_stats"]["total"]), (2, 1))
        self.assertEqual(one["indices"]["kept-2"], whole["indices"]["kept-2"])
        with self.refused(404, "index_not_found_exception", "no such index [nothing]"):
            status("all/kept-1,nothing")
        self.assertEqual(set(status("all/kept-1,nothing", ignore_unavailable="true")["indices"]), {"kept-1"})
        with self.refused(400, "action_request_validation_exception"):
            status("all,other/kept-1")
