"""Corners of searches that applications get into: what is left out of an index, other names, orders over several indexes."""

import json

from .base import ClewTest


class SearchCorners(ClewTest):
    def make(self, index, properties, documents=None, settings=None, **mappings):
        body = {"settings": {"number_of_shards": 1, **(settings or {})}, "mappings": {"properties": properties, **mappings}}
        self.client.indices.create(index=index, body=body)
        if documents:
            self.index_all(index, documents)

    def test_fields_that_left_a_value_out_are_named(self):
        self.make("malformed", {
            "day": {"type": "date", "ignore_malformed": True},
            "address": {"type": "ip", "ignore_malformed": True},
            "count": {"type": "integer", "ignore_malformed": True},
            "place": {"type": "geo_point", "ignore_malformed": True},
            "short": {"type": "keyword", "ignore_above": 2},
            "inner": {"type": "nested", "properties": {"count": {"type": "integer", "ignore_malformed": True}}},
        }, {
            "1": {"day": "2018-05-11", "address": "::1", "short": "longer"},
            "2": {"day": "bar", "address": "192.168.1.42"},
            "3": {"day": "bar", "address": "quux", "count": "few"},
            "4": {"place": "nowhere", "inner": [{"count": "few"}]},
        })
        self.assertEqual(self.ids("malformed", query={"exists": {"field": "_ignored"}}), ["2", "3", "4"])
        self.assertEqual(self.ids("malformed", query={"term": {"_ignored": "day"}}), ["2", "3"])
        self.assertEqual(self.ids("malformed", query={"terms": {"_ignored": ["address", "place"]}}), ["3", "4"])
        named = {hit["_id"]: hit.get("_ignored") for hit in self.hits("malformed", stored_fields=["day"])}
        expected = {"1": None, "2": ["day"], "3": ["address", "count", "day"], "4": ["inner.count", "place"]}
        self.assertEqual(named, expected)
        read = {key: self.client.get(index="malformed", id=key).get("_ignored") for key in expected}
        self.assertEqual(read, expected)
        several = self.client.mget(index="malformed", body={"ids": ["2", "1"]})["docs"]
        self.assertEqual([one.get("_ignored") for one in several], [["day"], None])
        for name in ("day", "address", "count"):
            with self.refused(400, "mapper_parsing_exception"):
                self.client.index(index="malformed", body={name: [{"no": "value"}]})
        self.assertNotIn("_ignored", self.client.indices.get_mapping(index="malformed")["malformed"]["mappings"]["properties"])
        self.restart()
        self.assertEqual(self.ids("malformed", query={"exists": {"field": "_ignored"}}), ["2", "3", "4"])
        # A mapping without new fields takes them, too.
        self.make("strict", {"day": {"type": "date", "ignore_malformed": True}}, {"1": {"day": "x"}}, dynamic="strict")
        self.assertEqual(self.hits("strict", _source=False)[0]["_ignored"], ["day"])

    def test_functions_of_nested_objects_read_these_objects_alone(self):
        self.make("functions", {
            "objects": {"type": "nested", "properties": {
                "rank": {"type": "integer"}, "inner": {"type": "nested", "properties": {"rank": {"type": "integer"}}},
            }},
        }, {"1": {"objects": [{"rank": 1, "inner": [{"rank": 7}]}, {"rank": 2}]}, "2": {}, "3": {"objects": {"rank": 5}}})

        def best(path):
            function = {"function_score": {"field_value_factor": {"field": path + ".rank"}}}
            hits = self.hits("functions", query={"nested": {"path": path, "score_mode": "max", "query": function}})
            return [(hit["_id"], hit["_score"]) for hit in hits]

        self.assertEqual(best("objects"), [("3", 5.0), ("1", 2.0)])
        self.assertEqual(best("objects.inner"), [("1", 7.0)])
        self.client.index(index="functions", id="4", body={"objects": [{}]}, refresh=True)
        with self.refused(500, reason="all shards failed"):
            best("objects")
        self.client.delete(index="functions", id="4", refresh=True)
        self.assertEqual(best("objects"), [("3", 5.0), ("1", 2.0)])

    def test_words_without_a_field_are_looked_for_where_an_index_says(self):
        fields = {"title": {"type": "text"}, "note": {"type": "text"}, "count": {"type": "integer"}}
        document = {"title": "fox", "note": "dog", "count": 7}
        self.make("titles", fields, {"1": document}, {"index.query.default_field": ["title", "count"]})
        self.make("everything", fields, {"2": document})

        def found(index, text, kind="query_string", **options):
            return self.ids(index, query={kind: {"query": text, **options}}, sort=["_id"])

        for kind in ("query_string", "simple_query_string", "multi_match"):
            with self.subTest(kind=kind):
                self.assertEqual(found("titles", "fox", kind, lenient=True), ["1"])
                self.assertEqual(found("titles", "dog", kind, lenient=True), [])
                self.assertEqual(found("titles,everything", "fox", kind, lenient=True), ["1", "2"])
                self.assertEqual(found("titles,everything", "dog", kind, lenient=True), ["2"])
        self.assertEqual(found("titles", "dog", default_field="*"), ["1"])
        self.assertEqual(found("titles", "note:dog"), ["1"])
        self.assertEqual(self.client.count(index="titles", q="dog", lenient=True)["count"], 0)
        self.client.indices.put_settings(index="titles", body={"index.query.default_field": "note"})
        self.assertEqual(found("titles", "dog"), ["1"])

    def test_stored_queries_over_patterns_of_fields_are_found(self):
        self.make("stored", {"query": {"type": "percolator"}, "title": {"type": "text"}}, {
            "1": {"query": {"query_string": {"query": "fox", "fields": ["ti*"]}}},
            "2": {"query": {"query_string": {"query": "fox", "default_field": "*"}}},
            "3": {"query": {"query_string": {"query": "dog", "fields": ["ti*"]}}},
        })
        percolate = {"percolate": {"field": "query", "document": {"title": "a fox"}}}
        self.assertEqual(self.ids("stored", query=percolate, sort=["_doc"]), ["1", "2"])

    def highlights(self, index, query, **highlight):
        return {hit["_id"]: hit.get("highlight") for hit in self.hits(index, query=query, highlight=highlight)}

    def test_fast_highlights_lie_around_phrases(self):
        text = ("The quick brown fox jumps over the lazy dog. A second sentence, which is about foxes and a fox, goes on for a while "
                "until it ends! Does the quick fox like brown dogs?")
        self.make("fast", {"t": {"type": "text", "term_vector": "with_positions_offsets"}}, {"1": {"t": text}})
        phrase, word = {"match_phrase": {"t": "brown fox"}}, {"match": {"t": "quick"}}
        def shown(query, field, **more):
            (found,) = self.highlights("fast", query, type="fvh", fields={"t": field}, **more).values()
            return found["t"]
        both = {"bool": {"should": [phrase, word]}}
        self.assertEqual(shown(both, {"fragment_size": 40}, tags_schema="styled"), [
            "The <em class=\"hlt2\">quick</em> <em class=\"hlt1\">brown fox</em> jumps over the lazy dog",
            "it ends! Does the <em class=\"hlt2\">quick</em> fox like brown dogs",
        ])
        fox = {"match": {"t": "fox"}}
        self.assertEqual(shown(fox, {"fragment_size": 40, "boundary_max_scan": 0})[:2], [
            "The quick brown <em>fox</em> jumps over the lazy ", "about foxes and a <em>fox</em>, goes on for a whi",
        ])
        self.assertEqual(shown(fox, {"fragment_size": 40, "phrase_limit": 1}), ["The quick brown <em>fox</em> jumps over the lazy dog"])
        with self.refused(400) as caught:
            shown(fox, {"fragment_size": 10})
        self.assertIn("fragCharSize(10) is too small. It must be 18 or higher.", str(caught.exception.info))

    def test_aliases_are_highlighted_under_the_name_that_was_asked_for(self):
        self.make("aliased", {
            "title": {"type": "text"}, "other": {"type": "alias", "path": "title"}, "typed": {"type": "search_as_you_type"},
        }, {"1": {"title": "a quick fox", "typed": "quick"}})
        shown = ["a <em>quick</em> fox"]
        for asked in ("title", "other"):
            query = {"match": {asked: "quick"}}
            self.assertEqual(self.highlights("aliased", query, fields={"other": {}}), {"1": {"other": shown}})
            self.assertEqual(self.highlights("aliased", query, fields={"title": {}}), {"1": {"title": shown}})
            self.assertEqual(self.highlights("aliased", query, fields={"*": {}}), {"1": {"title": shown, "other": shown}})
        found = self.highlights("aliased", {"match": {"title": "quick"}}, fields={"typed*": {}}, require_field_match=False)
        # Patterns mean no field for typing, nor those beside it.
        self.assertIsNone(found["1"])

    def test_parts_of_words_that_overlap_are_highlighted_as_one(self):
        analysis = {
            "analyzer": {name: {"tokenizer": name, "filter": ["lowercase"]} for name in ("threes", "beginnings")},
            "tokenizer": {
                "threes": {"type": "ngram", "min_gram": 3, "max_gram": 3},
                "beginnings": {"type": "edge_ngram", "min_gram": 2, "max_gram": 6, "token_chars": ["letter"]},
            },
        }
        fields = {"title": {"type": "text", "analyzer": "threes"}, "typed": {"type": "text", "analyzer": "beginnings"}}
        text = "Post number 38 alpha"
        self.make("parts", fields, {"1": {"title": text, "typed": "A quick fox"}}, {"analysis": analysis})

        def shown(field, words, kind):
            found = self.highlights("parts", {"match": {field: words}}, fields={field: {"type": kind}})
            return found["1"][field]

        for kind in ("unified", "plain"):
            self.assertEqual(shown("title", "alpha", kind), ["Post number 38 <em>alpha</em>"])
            self.assertEqual(shown("title", "number 38", kind), ["Post <em>number 38</em> alpha"])
            self.assertEqual(shown("typed", "quick", kind), ["A <em>quick</em> fox"])
        # `plain` takes what overlaps for one word, wherever it was found.
        self.assertEqual(shown("title", "post alpha", "unified"), ["<em>Post </em>number 38<em> alpha</em>"])
        self.assertEqual(shown("title", "post alpha", "plain"), ["<em>Post number 38 alpha</em>"])

    def test_what_a_keyword_ignores_is_not_highlighted(self):
        self.make("ignoring", {"tag": {"type": "keyword"}, "short": {"type": "keyword", "ignore_above": 3}}, {
            "1": {"tag": "123", "short": "123"}, "2": {"tag": "1234", "short": "1234"}, "3": {"tag": "12", "short": ["1234", "12"]},
        })
        for kind in ("plain", "unified"):
            found = self.highlights("ignoring", {"prefix": {"tag": "12"}}, require_field_match=False, fields={"short": {"type": kind}})
            self.assertEqual(found, {"1": {"short": ["<em>123</em>"]}, "2": None, "3": {"short": ["<em>12</em>"]}})

    def test_texts_whose_words_places_are_kept_may_be_long(self):
        text = "The quick brown fox went to the forest and saw another fox."
        fields = {"plain": {"type": "text"}, "kept": {"type": "text", "index_options": "offsets"}}
        self.make("long", fields, {"1": {"plain": text, "kept": text}}, {"index.highlight.max_analyzed_offset": 10})
        found = self.highlights("long", {"match": {"kept": "forest"}}, fields={"kept": {}})
        self.assertEqual(found["1"]["kept"], ["The quick brown fox went to the <em>forest</em> and saw another fox."])
        found = self.highlights("long", {"match": {"kept": "forest"}}, fields={"kept": {"max_analyzer_offset": 5}})
        self.assertEqual(found["1"]["kept"], ["The quick brown fox went to the <em>forest</em> and saw another fox."])
        for name, kind in (("plain", "unified"), ("kept", "plain")):
            with self.refused(400):
                self.highlights("long", {"match": {name: "fox"}}, fields={name: {"type": kind}})
        found = self.highlights("long", {"match": {"plain": "quick"}}, fields={"plain": {"type": "plain", "max_analyzer_offset": 10}})
        self.assertEqual(found["1"]["plain"], ["The <em>quick</em> "])

    def test_copies_make_the_fields_that_they_are_for(self):
        self.make("copies", {"title": {"type": "keyword", "copy_to": ["all", "deep.all"]}, "count": {"type": "long", "copy_to": "all"}}, {
            "1": {"title": "quick fox"}, "2": {"count": 7},
        })
        self.assertEqual(self.ids("copies", query={"match": {"all": "fox"}}), ["1"])
        self.assertEqual(self.ids("copies", query={"match": {"deep.all": "fox"}}), ["1"])
        self.assertEqual(self.ids("copies", query={"match": {"all": "7"}}), ["2"])
        properties = self.client.indices.get_mapping(index="copies")["copies"]["mappings"]["properties"]
        self.assertEqual(properties["all"]["type"], "text")
        self.make("nowhere", {"title": {"type": "keyword", "copy_to": "all"}}, {"1": {"title": "x"}}, dynamic=False)
        self.assertNotIn("all", self.client.indices.get_mapping(index="nowhere")["nowhere"]["mappings"]["properties"])
        self.make("strict", {"title": {"type": "keyword", "copy_to": "all"}}, dynamic="strict")
        with self.refused(400, "strict_dynamic_mapping_exception"):
            self.client.index(index="strict", id="1", body={"title": "x"})

    def test_a_column_that_is_asked_for_again_is_shown_again(self):
        self.make("times", {"day": {"type": "date"}, "fine": {"type": "date_nanos"}}, {
            "1": {"day": "2018-10-29T12:12:12.987Z", "fine": "2018-10-29T12:12:12.123456789Z"},
        })
        formats = ("strict_date_optional_time", "epoch_millis", "uuuu-MM-dd'T'HH:mm:ss.SSSSSSSSSX")
        wanted = [{"field": field, "format": format} for field in ("day", "fine") for format in formats]
        shown = self.hits("times", docvalue_fields=wanted, _source=False)[0]["fields"]
        self.assertEqual(shown["day"], ["2018-10-29T12:12:12.987Z", "1540815132987", "2018-10-29T12:12:12.987000000Z"])
        self.assertEqual(shown["fine"], ["2018-10-29T12:12:12.123Z", "1540815132123.456789", "2018-10-29T12:12:12.123456789Z"])
        # What `fields` say of a field is shown in place of what columns say.
        shown = self.hits("times", docvalue_fields=wanted, fields=[{"field": "day", "format": "yyyy"}], _source=False)[0]["fields"]
        self.assertEqual(shown["day"], ["2018"])

    def test_what_is_wrong_with_an_aggregation_is_said_in_opensearchs_words(self):
        self.make("numbers", {"count": {"type": "integer"}, "address": {"type": "ip"}}, {"1": {"count": -2, "address": "::1"}})
        inner = {"terms": {"field": "count"}, "aggs": {"max": {"max": {"field": "count"}}}}
        outer = {"terms": {"field": "count"}, "aggs": {"inner": inner}}
        refused = [
            ({"cardinality": {"field": "count", "precision_threshold": -1}}, "[precisionThreshold] must be greater than or equal to 0. Found [-1] in [a]"),
            ({"extended_stats": {"field": "count", "sigma": -1}}, "[sigma] must be greater than or equal to 0. Found [-1.0] in [a]"),
            ({"percentiles": {"field": "count", "hdr": {"number_of_significant_value_digits": None}}}, "number_of_significant_value_digits"),
            ({"rare_terms": {"field": "address", "exclude": "127.*"}}, "Aggregation [a] cannot support regular expression style include/exclude settings"),
            ({"percentiles": {"field": "count", "hdr": {}}}, "Histogram recorded value cannot be negative"),
        ]
        for aggregation, reason in refused:
            with self.subTest(aggregation=aggregation), self.refused(400) as caught:
                self.client.search(index="numbers", body={"aggs": {"a": aggregation}})
            self.assertIn(reason, str(caught.exception.info["error"]))
        with self.refused(400) as caught:
            bad = {"max_bucket": {"buckets_path": "outer>inner>max"}}
            self.client.search(index="numbers", body={"aggs": {"outer": outer, "bad": bad}})
        error = caught.exception.info["error"]
        self.assertEqual(error["root_cause"], [])
        self.assertIn("[Object[]] at aggregation [inner]", error["caused_by"]["reason"])
        with self.refused(400) as caught:
            self.client.search(index="numbers", body={"query": {"exists": {"field": "_source"}}})
        self.assertEqual(caught.exception.info["error"]["root_cause"][0]["type"], "query_shard_exception")

    def test_the_beginning_of_a_keyword_is_its_last_word(self):
        self.make("typing", {"text": {"type": "search_as_you_type", "fields": {"raw": {"type": "keyword"}}}}, {"1": {"text": "test search now"}})
        for query in (
            {"match_bool_prefix": {"text.raw": "test sea"}},
            {"multi_match": {"query": "test sea", "type": "bool_prefix", "fields": ["text.raw"]}},
        ):
            self.assertEqual(self.ids("typing", query=query), ["1"])
        self.assertEqual(self.ids("typing", query={"match_bool_prefix": {"text.raw": "search"}}), [])

    def test_search_shards_are_cut_into_slices(self):
        self.client.indices.create(index="many", body={"settings": {"number_of_shards": 7}})

        def shards(part, **params):
            body = {"slice": {"id": part, "max": 3}}
            found = self.raw("POST", "/many/_search_shards", body=body, params=params)["shards"]
            return [copies[0]["shard"] for copies in found]

        self.assertEqual([shards(part) for part in range(3)], [[0, 3, 6], [1, 4], [2, 5]])
        self.assertEqual([shards(part, preference="_shards:0,2,4,6") for part in range(3)], [[0, 6], [2], [4]])

    def test_fields_are_asked_for_by_name(self):
        for path in ("/_field_caps", "/_field_caps?fields="):
            with self.refused(400, "illegal_argument_exception", "specified fields can't be null or empty"):
                self.raw("GET", path)

    def test_what_fields_can_be_used_for_is_told_as_of_their_types(self):
        properties = {
            "c": {"type": "completion"},
            "n": {"type": "token_count", "analyzer": "standard"},
            "r": {"type": "rank_features"},
            "v": {"type": "knn_vector", "dimension": 2},
            "o": {"properties": {"y": {"type": "keyword"}}},
            "nested": {"type": "nested", "properties": {"y": {"type": "keyword"}}},
            "off": {"type": "object", "enabled": False},
        }
        self.client.indices.create(index="caps", body={"mappings": {"properties": properties}})

        def told(fields):
            found = self.client.field_caps(index="caps", fields=fields)["fields"]
            return {name: [(kind, of["searchable"], of["aggregatable"]) for kind, of in types.items()] for name, types in found.items()}

        self.assertEqual(
            told("c,n,r,v"),
            {
                "c": [("completion", True, False)],
                "n": [("integer", True, True)],
                "r": [("rank_features", False, False)],
                "v": [("knn_vector", False, True)],
            },
        )
        self.assertEqual(
            told("_doc_count,_nested_path,_version"),
            {
                "_doc_count": [("long", False, False)],
                "_nested_path": [("_nested_path", True, False)],
                "_version": [("_version", False, False)],
            },
        )
        # Objects come with what is asked for in them, and by no other name.
        self.assertEqual(told("o,nested,off"), {})
        keyword = [("keyword", True, True)]
        self.assertEqual(told("o.*"), {"o": [("object", False, False)], "o.y": keyword})
        self.assertEqual(told("nested.y"), {"nested": [("nested", False, False)], "nested.y": keyword})

    def test_names_that_mean_nothing_have_no_shards(self):
        self.assertEqual(self.raw("GET", "/none/_search_shards"), {"nodes": {}, "indices": {}, "shards": []})
        self.assertEqual(self.raw("GET", "/_resolve/index/none"), {"indices": [], "aliases": [], "data_streams": []})

    def test_settings_of_backpressure_make_sense(self):
        def put(name, value):
            self.client.cluster.put_settings(body={"transient": {f"search_backpressure.{name}": value}})

        put("mode", "monitor_only")
        put("search_task.cancellation_ratio", 0.2)
        with self.refused(400, "illegal_argument_exception", "Invalid SearchBackpressureMode: monitor-only"):
            put("mode", "monitor-only")
        for name in ("search_task.cancellation_rate", "search_shard_task.cancellation_ratio"):
            with self.refused(400, "illegal_argument_exception", f"search_backpressure.{name} must be > 0"):
                put(name, 0.0)
        put("mode", None)
        put("search_task.cancellation_ratio", None)

    def test_older_ways_of_naming_nested_objects_order_too(self):
        fields = {"rank": {"type": "integer"}, "kind": {"type": "keyword"}}
        self.make("objects", {"inner": {"type": "nested", "properties": fields}}, {
            "1": {"inner": [{"rank": 1, "kind": "a"}, {"rank": 9, "kind": "b"}]}, "2": {"inner": [{"rank": 5, "kind": "b"}]},
        })
        key = {"order": "desc", "nested_path": "inner"}
        self.assertEqual([hit["sort"] for hit in self.hits("objects", sort=[{"inner.rank": key}])], [[9], [5]])
        key["nested_filter"] = {"term": {"inner.kind": "a"}}
        self.assertEqual(self.ids("objects", sort=[{"inner.rank": key}]), ["1", "2"])
        key["nested"] = {"path": "inner"}
        with self.refused(400):
            self.hits("objects", sort=[{"inner.rank": key}])
        with self.refused(400):
            self.hits("objects", sort=[{"inner.rank": {"numeric_type": "text"}}])

    def test_typed_keys_of_fields_that_no_index_has_are_those_of_texts(self):
        self.make("typed", {"tag": {"type": "keyword"}}, {"1": {"tag": "a"}})
        aggs = {kind: {kind: {"field": "nowhere"}} for kind in ("terms", "rare_terms", "significant_terms")}
        found = self.client.search(index="typed", body={"size": 0, "aggs": aggs}, params={"typed_keys": "true"})["aggregations"]
        self.assertEqual(sorted(found), ["sigsterms#significant_terms", "sterms#rare_terms", "sterms#terms"])

    def test_an_index_can_say_that_all_its_fields_leave_out_what_does_not_fit(self):
        settings = {"index.mapping.ignore_malformed": True}
        fields = {"count": {"type": "integer"}, "day": {"type": "date"}, "flag": {"type": "boolean"}}
        self.make("lenient", fields, {"1": {"count": "many", "day": "2020-01-01"}, "2": {"count": {"no": 1}, "day": "soon"}}, settings)
        self.assertEqual(self.ids("lenient", query={"term": {"_ignored": "count"}}), ["1", "2"])
        self.assertEqual(self.ids("lenient", query={"range": {"day": {"gte": "2020"}}}), ["1"])
        self.client.index(index="lenient", id="3", body={"made": 1}, refresh=True)
        self.restart()
        self.client.index(index="lenient", id="4", body={"made": "words"}, refresh=True)
        self.assertEqual(self.ids("lenient", query={"term": {"_ignored": "made"}}), ["4"])
        with self.refused(400, "illegal_argument_exception"):
            self.client.indices.put_settings(index="lenient", body={"index.mapping.ignore_malformed": False})

    def test_what_an_index_leaves_out_is_of_nearly_all_types(self):
        fields = {
            "word": {"type": "keyword"}, "text": {"type": "text"}, "flag": {"type": "boolean"}, "span": {"type": "integer_range"},
            "bytes": {"type": "binary"}, "rank": {"type": "rank_feature"}, "same": {"type": "constant_keyword", "value": "a"},
            "flat": {"type": "flat_object"}, "wild": {"type": "wildcard"},
        }
        bad = [
            {"word": {"a": 1}}, {"word": [["b"], {"a": 1}]}, {"text": ["one", {"a": {"b": [1]}}, "two"]}, {"flag": [True, "perhaps"]},
            {"span": {"gte": "x"}}, {"span": 7}, {"bytes": "%%"}, {"rank": -1}, {"rank": [1, 2]}, {"same": "b"}, {"flat": "x"},
            {"wild": {"a": 1}},
        ]
        documents = {f"{n:02}": {**body, "n": n} for n, body in enumerate(bad)}
        self.make("lenient", fields, documents, {"index.mapping.ignore_malformed": True})
        self.assertEqual(len(self.ids("lenient", query={"exists": {"field": "n"}}, size=20)), len(bad))
        self.assertEqual(self.ids("lenient", query={"exists": {"field": "_ignored"}}), ["04", "05"])
        for query, want in (
            ({"term": {"word": "b"}}, ["01"]), ({"match": {"text": "two"}}, ["02"]), ({"term": {"flag": True}}, ["03"]),
            ({"exists": {"field": "rank"}}, ["08"]), ({"exists": {"field": "word"}}, ["01"]),
        ):
            self.assertEqual(self.ids("lenient", query=query), want, query)
        self.make("strict", {"word": {"type": "keyword"}}, {})
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="strict", body={"word": {"a": 1}})

    def test_the_column_of_a_join_has_the_names_of_relations(self):
        self.client.indices.create(index="joined", body={"mappings": {"properties": {"join": {"type": "join", "relations": {"question": "answer"}}}}})
        self.client.index(index="joined", id="1", body={"join": "question"})
        self.client.index(index="joined", id="2", routing="1", body={"join": {"name": "answer", "parent": "1"}}, refresh=True)
        found = self.hits("joined", docvalue_fields=["join"], sort=["_id"])
        self.assertEqual([hit["fields"]["join"] for hit in found], [["question"], ["answer"]])

    def test_what_stands_beside_the_fields_is_counted_or_refused(self):
        self.make("beside", {"n": {"type": "integer"}}, {str(n): {"n": n} for n in range(4)})
        aggs = {f"{kind}{name}": {kind: {"field": name}} for kind in ("value_count", "missing") for name in ("_id", "_seq_no", "_version")}
        found = self.client.search(index="beside", body={"size": 0, "aggs": aggs})["aggregations"]
        self.assertEqual([found[f"value_count{name}"]["value"] for name in ("_id", "_seq_no", "_version")], [4, 4, 4])
        self.assertEqual([found[f"missing{name}"]["doc_count"] for name in ("_id", "_seq_no", "_version")], [0, 0, 0])
        aggs = {
            "all": {"terms": {"field": "_id", "order": {"_key": "desc"}}, "aggs": {"n": {"sum": {"field": "n"}}}},
            "some": {"terms": {"field": "_id", "include": "[12]"}},
            "one": {"terms": {"field": "_id", "include": ["3", "9"]}},
            "many": {"cardinality": {"field": "_id"}},
            "pages": {"composite": {"size": 2, "sources": [{"id": {"terms": {"field": "_id"}}}], "after": {"id": "0"}}},
        }
        found = self.client.search(index="beside", body={"size": 0, "aggs": aggs})["aggregations"]
        self.assertEqual([(bucket["key"], bucket["n"]["value"]) for bucket in found["all"]["buckets"]], [("3", 3), ("2", 2), ("1", 1), ("0", 0)])
        self.assertEqual([bucket["key"] for bucket in found["some"]["buckets"]], ["1", "2"])
        self.assertEqual([bucket["key"] for bucket in found["one"]["buckets"]], ["3"])
        self.assertEqual(found["many"]["value"], 4)
        self.assertEqual([bucket["key"]["id"] for bucket in found["pages"]["buckets"]], ["1", "2"])
        for kind, name in [("max", "_id"), ("max", "_seq_no"), ("terms", "_routing"), ("terms", "_source")]:
            with self.subTest(kind=kind, name=name), self.refused(400, reason="all shards failed"):
                self.client.search(index="beside", body={"size": 0, "aggs": {"a": {kind: {"field": name}}}})
        for query in [{"term": {"_version": 1}}, {"prefix": {"_id": "1"}}, {"regexp": {"_id": "1.*"}}]:
            with self.subTest(query=query), self.refused(400, "search_phase_execution_exception"):
                self.hits("beside", query=query)

    def test_closed_indexes_that_are_asked_for_are_told_as_closed(self):
        for name in ("shut-1", "shut-2"):
            self.make(name, {"n": {"type": "integer"}}, {"1": {"n": 1}})
        self.client.indices.close(index="shut-2")
        self.assertEqual(self.client.count(index="shut-*")["count"], 1)
        for expand in ("open,closed", "closed", "all"):
            with self.subTest(expand=expand), self.refused(400, "index_closed_exception"):
                self.client.search(index="shut-*", params={"expand_wildcards": expand})
        found = self.client.search(index="shut-*", params={"expand_wildcards": "open,closed", "ignore_unavailable": "true"})
        self.assertEqual(found["hits"]["total"]["value"], 1)

    def test_a_name_of_dots_is_none(self):
        for name in (".", ".."):
            with self.subTest(name=name):
                with self.refused(400, "mapper_parsing_exception", "failed to parse") as caught:
                    self.client.index(index="dots", body={name: 1})
                cause = {"type": "illegal_argument_exception", "reason": "field name cannot contain only the character [.]"}
                self.assertEqual(caught.exception.info["error"]["caused_by"], cause)

    def test_shards_that_are_preferred_are_asked_alone(self):
        self.make("parted", {"n": {"type": "integer"}}, {str(n): {"n": n} for n in range(30)}, {"number_of_shards": 3})
        found = []
        for shard in range(3):
            params = {"preference": f"_shards:{shard}|_local", "size": 30}
            reply = self.client.search(index="parted", params=params)
            self.assertEqual(reply["_shards"]["total"], 1)
            self.assertEqual(self.client.count(index="parted", params={"preference": f"_shards:{shard}"})["count"], len(reply["hits"]["hits"]))
            page = self.client.search(index="parted", scroll="1m", params={**params, "size": 2})
            scrolled = []
            while page["hits"]["hits"]:
                scrolled += [hit["_id"] for hit in page["hits"]["hits"]]
                page = self.client.scroll(body={"scroll_id": page["_scroll_id"], "scroll": "1m"})
            self.assertEqual(sorted(scrolled), sorted(hit["_id"] for hit in reply["hits"]["hits"]))
            found += scrolled
        self.assertEqual(sorted(found, key=int), [str(n) for n in range(30)])
        for preference in ("_local", "_only_local", "_prefer_nodes:a", "mine"):
            self.assertEqual(self.client.count(index="parted", params={"preference": preference})["count"], 30)
        for preference, why in (("_here", "no Preference for [_here]"), ("_shards:x", "no shard has the number [x]")):
            with self.refused(400, "illegal_argument_exception", why):
                self.client.search(index="parted", params={"preference": preference})

    def test_each_search_of_several_has_its_own_routing(self):
        self.make("routed", {"n": {"type": "integer"}}, None, {"number_of_shards": 3})
        for key in "abcdef":
            self.client.index(index="routed", id=key, routing=key, body={"n": 1}, refresh=True)
        wanted = {key: self.ids_of(self.client.search(index="routed", routing=key)) for key in "abc"}
        headers = [{"index": "routed", "routing": "a"}, {"index": "routed", "routing": ["b"]}, {"index": "routed", "routing": None}, {"index": "routed", "preference": "_shards:0"}, {"index": "routed", "preference": "_here"}]
        body = "".join(json.dumps(header) + "\n{}\n" for header in headers)
        found = self.client.msearch(body=body)["responses"]
        self.assertEqual([self.ids_of(reply) for reply in found[:3]], [wanted["a"], wanted["b"], list("abcdef")])
        self.assertEqual([reply["_shards"]["total"] for reply in found[:4]], [1, 1, 3, 1])
        self.assertEqual((found[4]["status"], found[4]["error"]["type"]), (400, "illegal_argument_exception"))
        # A header stands above the address.
        body = json.dumps({"index": "routed", "routing": "a"}) + "\n{}\n"
        reply = self.raw("POST", "/_msearch", body=body, params={"typed_keys": "true"})["responses"][0]
        self.assertEqual(self.ids_of(reply), wanted["a"])

    def ids_of(self, reply):
        return sorted(hit["_id"] for hit in reply["hits"]["hits"])

    def test_queries_on_routing_keys(self):
        self.make("routed", {"n": {"type": "integer"}}, settings={"number_of_shards": 3})
        for at, routing in enumerate([None, "r1", "r1", "r2", "other"]):
            params = {"routing": routing} if routing else {}
            self.client.index(index="routed", id=str(at), body={"n": at}, params=params)
        self.client.indices.refresh(index="routed")
        for query, expected in [
            ({"term": {"_routing": "r1"}}, ["1", "2"]),
            ({"term": {"_routing": {"value": "R1", "case_insensitive": True}}}, ["1", "2"]),
            ({"terms": {"_routing": ["r1", "r2"]}}, ["1", "2", "3"]),
            ({"match": {"_routing": "r2"}}, ["3"]),
            ({"exists": {"field": "_routing"}}, ["1", "2", "3", "4"]),
            ({"bool": {"must_not": {"exists": {"field": "_routing"}}}}, ["0"]),
            ({"prefix": {"_routing": "r"}}, ["1", "2", "3"]),
            ({"wildcard": {"_routing": "*h*"}}, ["4"]),
            ({"regexp": {"_routing": "r[2-9]"}}, ["3"]),
            ({"range": {"_routing": {"lt": "r"}}}, ["4"]),
            ({"term": {"_routing": "r"}}, []),
        ]:
            self.assertEqual(sorted(self.ids("routed", query=query)), expected, query)
        self.client.update(index="routed", id="1", body={"doc": {"n": 9}}, params={"routing": "r1", "refresh": "true"})
        self.client.delete(index="routed", id="2", params={"routing": "r1", "refresh": "true"})
        self.assertEqual(self.ids("routed", query={"term": {"_routing": "r1"}}), ["1"])

    def test_queries_on_numbers_of_changes(self):
        self.make("numbered", {"n": {"type": "integer"}}, {str(at): {"n": at} for at in range(5)})
        for query, expected in [
            ({"range": {"_seq_no": {"gte": 2}}}, ["2", "3", "4"]),
            ({"range": {"_seq_no": {"gt": 1, "lt": 4}}}, ["2", "3"]),
            ({"term": {"_seq_no": 3}}, ["3"]),
            ({"terms": {"_seq_no": [0, 4, 9]}}, ["0", "4"]),
            ({"exists": {"field": "_seq_no"}}, ["0", "1", "2", "3", "4"]),
        ]:
            self.assertEqual(sorted(self.ids("numbered", query=query)), expected, query)
        with self.refused(400, "search_phase_execution_exception"):
            self.ids("numbered", query={"term": {"_seq_no": "many"}})

    def test_numbers_are_ordered_as_one_type(self):
        self.make("millis", {"at": {"type": "date"}, "x": {"type": "double"}, "k": {"type": "keyword"}},
                  {"1": {"at": "2024-01-02T00:00:00Z", "x": 2.9}, "2": {"x": -2.9}})
        self.make("nanos", {"at": {"type": "date_nanos"}, "x": {"type": "long"}, "k": {"type": "keyword"}},
                  {"3": {"at": "2024-01-01T00:00:00.123456789Z", "x": 2}, "4": {"at": "2024-01-03T00:00:00Z", "x": 3}})
        def order(field, **settings):
            hits = self.hits("millis,nanos", sort=[{field: settings}])
            return [(hit["_id"], hit["sort"][0]) for hit in hits]

        most, day = 2 ** 63 - 1, 86_400_000
        first = 1_704_067_200_000
        self.assertEqual(order("at", numeric_type="date"),
                         [("3", first + 123), ("1", first + day), ("4", first + 2 * day), ("2", most)])
        self.assertEqual(order("at", numeric_type="date_nanos"), [
            ("3", first * 1_000_000 + 123_456_789), ("1", (first + day) * 1_000_000),
            ("4", (first + 2 * day) * 1_000_000), ("2", most),
        ])
        self.assertEqual(order("x", numeric_type="long"), [("2", -2), ("1", 2), ("3", 2), ("4", 3)])
        self.assertEqual(order("x", numeric_type="double", order="desc"), [("4", 3.0), ("1", 2.9), ("3", 2.0), ("2", -2.9)])
        after = self.hits("millis,nanos", sort=[{"at": {"numeric_type": "date"}}], search_after=[first + day])
        self.assertEqual([hit["_id"] for hit in after], ["4", "2"])
        with self.refused(400, "search_phase_execution_exception"):
            order("k", numeric_type="long")

    def test_there_is_no_address_before_the_first_and_behind_the_last(self):
        self.make("ends", {"ip": {"type": "ip"}}, {"1": {"ip": "10.0.0.1"}, "2": {"ip": "::"}, "3": {}})
        last = ":".join(["ffff"] * 8)
        for ends, found in (({"lt": "::"}, []), ({"gt": last}, []), ({"gt": last, "lt": "::"}, []), ({"lte": "::"}, ["2"]),
                            ({"gt": "::"}, ["1"]), ({"lt": last}, ["1", "2"]), ({"gte": "::", "lte": last}, ["1", "2"])):
            self.assertEqual(self.ids("ends", query={"range": {"ip": ends}}), found, ends)
        self.assertEqual(self.ids("ends", query={"query_string": {"query": 'ip:<"::"'}}), [])

    def test_texts_stand_for_missing_numbers_and_addresses(self):
        self.make("lacking", {"n": {"type": "long"}, "x": {"type": "double"}, "ip": {"type": "ip"}},
                  {"1": {"n": 1, "x": 1.5, "ip": "1.0.0.1"}, "2": {"n": 3, "x": 3.5, "ip": "1.0.0.3"}, "3": {}})
        for field, missing, shown in [("n", "2", 2), ("x", "2", 2.0), ("ip", "1.0.0.2", "1.0.0.2")]:
            hits = self.hits("lacking", sort=[{field: {"missing": missing}}])
            self.assertEqual([hit["_id"] for hit in hits], ["1", "3", "2"], field)
            self.assertEqual(hits[1]["sort"], [shown])
        with self.refused(400, "search_phase_execution_exception"):
            self.hits("lacking", sort=[{"n": {"missing": "few"}}])

    def test_completions_begin_with_a_match(self):
        self.make("completed", {"c": {"type": "completion"}},
                  {"1": {"c": "lazy dog"}, "2": {"c": {"input": ["quick fox", "Brown"], "weight": 4}}})
        def texts(expression, **settings):
            suggest = {"s": {"regex": expression, "completion": {"field": "c", **settings}}}
            found = self.client.search(index="completed", body={"suggest": suggest})["suggest"]["s"][0]["options"]
            return [(option["text"], option["_score"]) for option in found]

        self.assertEqual(texts("[lq].*"), [("quick fox", 4), ("lazy dog", 1)])
        self.assertEqual(texts("br(a|o)"), [("Brown", 4)])
        self.assertEqual(texts("azy"), [])
        self.assertEqual(texts("l~a", regex={"flags": "NONE", "max_determinized_states": 1000}), [])
        with self.refused(400):
            texts("l(a")
        hits = self.hits("completed", fields=["*"], _source=False)
        self.assertEqual([hit["fields"] for hit in hits], [
            {"c": ["lazy dog"]}, {"c": [{"input": ["quick fox", "Brown"], "weight": 4}]},
        ])
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.hits("completed", docvalue_fields=["c"])
        [cause] = caught.exception.info["error"]["root_cause"]
        self.assertEqual(cause["reason"], "Fielddata is not supported on field [c] of type [completion]")

    def test_columns_of_words_take_no_format(self):
        self.make("plain", {"k": {"type": "keyword"}}, {"1": {"k": "a"}})
        plain = [{"field": "k", "format": "use_field_mapping"}]
        self.assertEqual(self.hits("plain", docvalue_fields=plain)[0]["fields"], {"k": ["a"]})
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.hits("plain", docvalue_fields=[{"field": "k", "format": "yyyy"}])
        [cause] = caught.exception.info["error"]["root_cause"]
        self.assertEqual(cause["reason"], "Field [k] of type [keyword] does not support custom formats")
