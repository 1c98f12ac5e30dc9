"""Answers that a real OpenSearch 2.19.0 gives to the same requests; tests/differential has found each of them once."""

import json

from opensearchpy import RequestError

from .base import ClewTest

MAPPING = {"properties": {
    "title": {"type": "text"},
    "body": {"type": "text"},
    "tag": {"type": "keyword"},
    "count": {"type": "integer"},
    "price": {"type": "double"},
    "flag": {"type": "boolean"},
    "day": {"type": "date"},
    "place": {"type": "geo_point"},
    "parts": {"type": "nested", "properties": {"size": {"type": "integer"}}},
}}
DOCUMENTS = {
    "1": {"title": "quick brown fox", "body": "the lazy dog sleeps. A fox runs! It runs far", "tag": "red", "count": 3,
          "flag": [True, True], "day": "2022-01-01T10:00:00Z", "parts": [{"size": 4}, {"size": 9}]},
    "2": {"title": "lazy dog", "body": "quick fox", "tag": "a@b", "price": 1.5, "flag": False, "day": "2022-02-15",
          "place": [{"lat": 48, "lon": 2}, {"lat": -5, "lon": 7}], "parts": {"size": 1}},
    "3": {"title": "fox quick", "body": "brown brown dog", "tag": "17", "count": 8, "flag": True, "day": "2021-12-31"},
}


class Same(ClewTest):
    def setUp(self):
        super().setUp()
        settings = {"index": {"number_of_shards": 1}}
        self.client.indices.create(index="real", body={"settings": settings, "mappings": MAPPING})
        self.index_all("real", DOCUMENTS)

    def found(self, query, **rest):
        hits = self.client.search(index="real", body={"query": query, **rest})["hits"]["hits"]
        return {hit["_id"]: hit["_score"] for hit in hits}

    def test_words_in_a_row_are_one_text_to_several_fields(self):
        together = {"query_string": {"query": "quick dog", "fields": ["title", "body"], "default_operator": "and"}}
        self.assertEqual(self.found(together), {})
        apart = {"query_string": {"query": "quick AND dog", "fields": ["title", "body"]}}
        self.assertEqual(set(self.found(apart)), {"1", "2", "3"})

    def test_the_simple_language_reads_from_left_to_right(self):
        query = lambda text, **rest: {"simple_query_string": {"query": text, "fields": ["title"], **rest}}
        self.assertEqual(set(self.found(query("quick + brown | lazy"))), {"1", "2"})
        self.assertEqual(self.found(query("-quick")), {"2": 1.0})
        self.assertEqual(set(self.found(query("quick + brown", flags="OR"))), {"1", "3"})
        # Bits of AND and NOT, without those of white space; a number below nothing stands for all.
        self.assertEqual(set(self.found(query("quick + brown", flags=3))), {"1"})
        self.assertEqual(set(self.found(query("quick + brown | lazy", flags=-1))), {"1", "2"})
        self.assertEqual(set(self.found(query("lazy", locale="en", lowercase_expanded_terms=True))), {"2"})
        with self.refused(400, "illegal_argument_exception", "Unknown simple_query_string flag [SOME]"):
            self.found(query("quick", flags="SOME"))

    def test_a_number_of_words_is_asked_of_several_only(self):
        match = lambda text, **rest: {"match": {"title": {"query": text, **rest}}}
        self.assertEqual(set(self.found(match("quick", minimum_should_match=2))), {"1", "3"})
        self.assertEqual(self.found(match("quick fox", operator="and", minimum_should_match=1)), {})

    def test_words_that_had_to_be_moved_count_less(self):
        found = self.found({"match_phrase": {"title": {"query": "quick fox", "slop": 2}}})
        self.assertEqual(list(found), ["1", "3"])
        self.assertGreater(found["1"], found["3"])

    def test_dates_round_up_their_time_of_day_alone(self):
        self.assertEqual(set(self.found({"range": {"day": {"lte": "2022"}}})), {"1", "3"})
        self.assertEqual(set(self.found({"range": {"day": {"lte": "2022-02"}}})), {"1", "3"})

    def test_expressions_are_lucenes(self):
        tags = lambda expression, **rest: set(self.found({"regexp": {"tag": {"value": expression, **rest}}}))
        self.assertEqual(tags("@"), {"1", "2", "3"})
        self.assertEqual(tags("<5-20>"), {"3"})
        self.assertEqual(tags("~(re.*)&.*[^7]"), {"2"})
        self.assertEqual(tags("a@b", flags="NONE"), {"2"})
        # A sign behind nothing is a letter.
        self.assertEqual(tags("*"), set())
        self.assertEqual(tags("red|*"), {"1"})
        self.assertEqual(tags("{1}7|red"), {"1"})
        lenient = {"query_string": {"query": "/(/ red", "fields": ["tag"], "lenient": True}}
        self.assertEqual(set(self.found(lenient)), {"1"})
        with self.refused(400):
            self.found({"query_string": {"query": "/(/ red", "fields": ["tag"]}})

    def test_documents_without_a_number_are_shown_the_outermost_one(self):
        order = lambda key: [hit["sort"] for hit in self.client.search(index="real", body={"sort": [key]})["hits"]["hits"]]
        self.assertEqual(order("count"), [[3], [8], [2147483647]])
        self.assertEqual(order({"price": "desc"}), [[1.5], ["-Infinity"], ["-Infinity"]])
        after = {"sort": ["count"], "search_after": [8]}
        hits = self.client.search(index="real", body=after)["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits], ["2"])

    def test_old_names_and_other_spellings_mean_the_same(self):
        for one, other in (
            ({"term": {"tag": {"term": "red"}}}, {"term": {"tag": "red"}}),
            ({"fuzzy": {"tag": {"term": "rad"}}}, {"fuzzy": {"tag": "rad"}}),
            ({"multi_match": {"query": "fox", "type": "boolean"}}, {"multi_match": {"query": "fox"}}),
            ({"match": {"title": {"query": "quick fox cat", "minimum_should_match": "2 < -1"}}},
             {"match": {"title": {"query": "quick fox cat", "minimum_should_match": "2<-1"}}}),
        ):
            found = self.found(one)
            self.assertEqual(found, self.found(other), one)
            self.assertTrue(found, one)
        self.assertEqual(self.ids("real", sort=[{"count": {"mode": "MAX"}}]), ["1", "3", "2"])

    def test_a_missing_text_may_be_written_as_a_number(self):
        self.client.index(index="real", id="4", body={"title": "cat"}, refresh=True)
        body = {"sort": [{"tag": {"missing": 5}}]}
        shown = [(hit["_id"], hit["sort"]) for hit in self.client.search(index="real", body=body)["hits"]["hits"]]
        self.assertEqual(shown, [("3", ["17"]), ("4", ["5"]), ("2", ["a@b"]), ("1", ["red"])])

    def test_a_score_has_an_order_and_nothing_else(self):
        with self.refused(400, "x_content_parse_exception", "[_score] unknown field [missing]"):
            self.ids("real", sort=[{"_score": {"order": "asc", "missing": "_first"}}])

    def test_hits_are_sorted_by_values_of_nested_objects(self):
        by = lambda **rest: {"parts.size": {"nested": {"path": "parts"}, **rest}}
        self.assertEqual(self.ids("real", sort=[by()]), ["2", "1", "3"])
        self.assertEqual(self.ids("real", sort=[by(order="desc")]), ["1", "2", "3"])
        hits = self.client.search(index="real", body={"sort": [by(mode="sum")]})["hits"]["hits"]
        self.assertEqual([hit["sort"] for hit in hits], [[1], [13], [2147483647]])

    def test_how_often_something_is_true_does_not_count(self):
        found = self.found({"term": {"flag": True}})
        self.assertEqual(found["1"], found["3"])

    def test_pieces_hold_as_many_sentences_as_fit(self):
        body = {"query": {"match": {"body": "fox"}}, "highlight": {"fields": {"body": {"fragment_size": 30}}}}
        hits = self.client.search(index="real", body=body)["hits"]["hits"]
        shown = {hit["_id"]: hit["highlight"]["body"] for hit in hits}
        self.assertEqual(shown, {"1": ["A <em>fox</em> runs! It runs far"], "2": ["quick <em>fox</em>"]})

    def test_plain_pieces_are_cut_at_words_alone(self):
        text = ("The quick brown fox jumps over the lazy dog. A second sentence about foxes and dogs follows here, with quick animals. "
                "Third: nothing. Finally the fox sleeps; the dog barks at the quick moon while everybody else is dreaming of sheep and "
                "goats and quick brown things that never end.")
        self.index_all("pieces", {"1": {"text": text}})

        def pieces(**options):
            highlight = {"type": "plain", "pre_tags": ["<"], "post_tags": [">"], "fields": {"text": {}}, **options}
            body = {"query": {"match": {"text": "quick fox"}}, "highlight": highlight}
            return self.client.search(index="pieces", body=body)["hits"]["hits"][0]["highlight"]["text"]

        begin = ["The <quick> brown <fox> jumps", " follows here, with <quick> animals", ". Third: nothing. Finally the <fox>",
                 " <quick> moon while everybody"]
        self.assertEqual(pieces(fragment_size=30), [*begin, " goats and <quick> brown things that never end."])
        self.assertEqual(pieces(fragment_size=30, fragmenter="simple"), [*begin, " goats and <quick> brown things that"])
        self.assertEqual(pieces(fragment_size=30, number_of_fragments=2), begin[:2])
        self.assertEqual(pieces(fragment_size=0), [" <quick>", " <fox>", " <quick>", " <fox>", " <quick>"])
        usual = ["The <quick> brown <fox> jumps over the lazy dog. A second sentence about foxes and dogs follows here",
                 ", with <quick> animals. Third: nothing. Finally the <fox> sleeps; the dog barks at the <quick> moon while",
                 " everybody else is dreaming of sheep and goats and <quick> brown things that never end."]
        self.assertEqual(pieces(), usual)
        for unknown in ({"fragment_offset": 3}, {"fragmenter": "x"}, {"boundary_scanner": "x"}):
            with self.assertRaises(RequestError):
                pieces(**unknown)

    def test_points_of_columns_are_texts_in_order(self):
        body = {"query": {"ids": {"values": ["2"]}}, "docvalue_fields": ["place"]}
        (hit,) = self.client.search(index="real", body=body)["hits"]["hits"]
        self.assertEqual(len(hit["fields"]["place"]), 2)
        self.assertTrue(hit["fields"]["place"][0].startswith("-5.0"), hit)

    def test_a_star_behind_a_field_is_whatever_the_field_has(self):
        self.client.index(index="real", id="4", body={"title": None}, refresh=True)
        text = lambda query, **rest: set(self.found({"query_string": {"query": query, **rest}}))
        self.assertEqual(text("title:*"), {"1", "2", "3"})
        self.assertEqual(text("count:* AND title:*"), {"1", "3"})
        self.assertEqual(text("NOT price:*"), {"1", "3", "4"})
        self.assertEqual(text("count:(* OR 77)"), {"1", "3"})
        self.assertEqual(text("*"), {"1", "2", "3", "4"})
        self.assertEqual({hit["_id"] for hit in self.client.search(index="real", q="price:*")["hits"]["hits"]}, {"2"})

    def test_a_star_alone_is_every_document_in_the_simple_language(self):
        for rest in ({}, {"fields": ["title"]}, {"fields": ["count"]}, {"fields": ["title^3"], "flags": "NONE"}):
            query = {"simple_query_string": {"query": " * ", "boost": 2, **rest}}
            self.assertEqual(self.found(query), {"1": 2.0, "2": 2.0, "3": 2.0}, rest)
        self.assertEqual(set(self.found({"simple_query_string": {"query": "fo*", "fields": ["title"]}})), {"1", "3"})

    def test_one_text_to_several_fields_is_one_clause(self):
        query = {"query": "quick lazy sleeps", "fields": ["title", "body"], "minimum_should_match": 2}
        self.assertEqual(set(self.found({"query_string": query})), {"1", "2", "3"})
        one = {"query_string": {**query, "fields": ["body"]}}
        self.assertEqual(set(self.found(one)), {"1"})

    def test_signs_can_be_letters(self):
        text = lambda query, **rest: set(self.found({"query_string": {"query": query, "fields": ["title"], **rest}}))
        self.assertEqual(text("-fox +dog"), {"2"})
        self.assertEqual(text("-fox +dog", escape=True), {"1", "2", "3"})
        self.assertEqual(text("(lazy", escape=True), {"2"})

    def test_one_sign_of_an_operator_is_a_word_without_letters(self):
        text = lambda query: set(self.found({"query_string": {"query": query, "fields": ["title"]}}))
        for query in ("brown & lazy", "brown | lazy", "brown || lazy", "&brown |lazy"):
            self.assertEqual(text(query), {"1", "2"}, query)
        self.assertEqual(text("quick && brown"), {"1"})

    def test_documents_are_counted_by_their_ids(self):
        aggs = {"all": {"value_count": {"field": "_id"}}, "none": {"missing": {"field": "_id"}}}
        found = self.client.search(index="real", body={"size": 0, "aggs": aggs})["aggregations"]
        self.assertEqual((found["all"]["value"], found["none"]["doc_count"]), (3, 0))

    def test_one_value_stands_for_a_list_of_one(self):
        self.client.indices.create(index="one", body={"mappings": {"properties": {"ip": {"type": "ip"}, "t": {"type": "text"}}}})
        self.client.index(index="one", id="1", body={"n": 1, "ip": "10.0.0.1", "t": "a"}, refresh=True)
        for kind, body, want in (
            ("range", {"field": "n", "ranges": {"to": 5}}, [1]),
            ("ip_range", {"field": "ip", "ranges": {"to": "10.0.0.6"}}, [1]),
        ):
            found = self.client.search(index="one", body={"size": 0, "aggs": {"x": {kind: body}}})
            self.assertEqual([bucket["doc_count"] for bucket in found["aggregations"]["x"]["buckets"]], want, kind)
        for kind, key, value, want in (
            ("percentiles", "percents", 50, {"50.0": 1.0}),
            ("percentiles", "percents", "50", {"50.0": 1.0}),
            ("percentile_ranks", "values", 1, {"1.0": 100.0}),
        ):
            found = self.client.search(index="one", body={"size": 0, "aggs": {"x": {kind: {"field": "n", key: value}}}})
            self.assertEqual(found["aggregations"]["x"]["values"], want, kind)
        for kind in ("any_of", "all_of"):
            query = {"intervals": {"t": {kind: {"intervals": {"match": {"query": "a"}}}}}}
            self.assertEqual(self.client.count(index="one", body={"query": query})["count"], 1, kind)

    def counted(self, **aggregations):
        return self.client.search(index="sizes", body={"size": 0, "aggs": aggregations})["aggregations"]

    def test_numbers_in_names_are_written_as_java_writes_them(self):
        self.client.indices.create(index="sizes", body={"mappings": {"properties": {"n": {"type": "long"}, "d": {"type": "double"}}}})
        self.index_all("sizes", {"1": {"n": 123456789, "d": 0.0001}})
        ranges = [{"from": 10_000_000}, {"from": 12_345_678, "to": 1e20}]
        counted = self.counted(
            sizes={"range": {"field": "n", "ranges": ranges}},
            steps={"histogram": {"field": "n", "interval": 100_000_000, "keyed": True}},
            shares={"percentile_ranks": {"field": "n", "values": [10_000_000, 0.0001]}},
            pairs={"multi_terms": {"terms": [{"field": "d"}, {"field": "n"}]}},
            list={"histogram": {"field": "n", "interval": 100_000_000}, "aggs": {"most": {"max": {"field": "n"}}}},
            best={"max_bucket": {"buckets_path": "list>most"}},
        )
        self.assertEqual([bucket["key"] for bucket in counted["sizes"]["buckets"]], ["1.0E7-*", "1.2345678E7-1.0E20"])
        self.assertEqual(list(counted["steps"]["buckets"]), ["1.0E8"])
        self.assertEqual(set(counted["shares"]["values"]), {"1.0E7", "1.0E-4"})
        self.assertEqual(counted["pairs"]["buckets"][0]["key_as_string"], "1.0E-4|123456789")
        self.assertEqual(counted["best"]["keys"], ["1.0E8"])

    def test_nothing_that_is_shown_has_no_best_score(self):
        body = {"size": 0, "rescore": {"query": {"rescore_query": {"match_all": {}}}}}
        self.assertIsNone(self.client.search(index="real", body=body)["hits"]["max_score"])

    def test_figures_of_numbers_without_a_sign_have_a_text(self):
        self.client.indices.create(index="sizes", body={"mappings": {"properties": {"u": {"type": "unsigned_long"}}}})
        self.index_all("sizes", {"1": {"u": 2**64 - 1}, "2": {"u": 5}})
        histogram = {"field": "u", "interval": 1e19}
        counted = self.counted(
            most={"max": {"field": "u"}},
            figures={"stats": {"field": "u"}},
            steps={"histogram": histogram},
            shares={"percentiles": {"field": "u", "percents": [1]}},
            words={"terms": {"field": "u"}},
            shaped={"terms": {"field": "u", "format": "0.0"}},
            pages={"composite": {"sources": [{"step": {"histogram": histogram}}]}},
        )
        self.assertEqual(counted["most"]["value_as_string"], "1.8446744073709552E19")
        self.assertEqual(counted["figures"]["min_as_string"], 5.0)
        self.assertEqual([bucket["key_as_string"] for bucket in counted["steps"]["buckets"]], ["0.0", "1.0E19"])
        self.assertEqual(counted["shares"]["values"]["1.0_as_string"], "5.0")
        self.assertNotIn("key_as_string", counted["words"]["buckets"][0])
        self.assertEqual([one["key_as_string"] for one in counted["shaped"]["buckets"]], ["5", "18446744073709551615"])
        self.assertEqual(counted["pages"]["buckets"][1]["key"], {"step": 1e19})

    def test_what_is_wrong_with_a_slice_is_told_where_it_stands(self):
        for slice, reason, cause in (
            ({"id": 2, "max": 2}, "[1:27] [slice] failed to parse field [max]", "max must be greater than id"),
            ({"id": 0, "max": 1}, "[1:27] [slice] failed to parse field [max]", "max must be greater than 1"),
            ({"id": -1, "max": 2}, "[1:18] [slice] failed to parse field [id]", "id must be greater than or equal to 0"),
        ):
            with self.refused(400, "x_content_parse_exception") as refused:
                self.client.search(index="real", body=json.dumps({"slice": slice}, separators=(",", ": ")))
            error = refused.exception.info["error"]
            self.assertEqual(error["reason"], reason)
            self.assertEqual(error["caused_by"], {"type": "illegal_argument_exception", "reason": cause})

    def test_errors_of_explain_name_the_index(self):
        for query in ({"term": {"count": "many"}}, {"nested": {"path": "none", "query": {"match_all": {}}}}):
            with self.refused(400, "query_shard_exception") as refused:
                self.client.explain(index="real", id="1", body={"query": query})
            error = refused.exception.info["error"]
            self.assertEqual([error["index"], error["root_cause"][0]["index"]], ["real", "real"])

    def test_bodies_that_may_stand_in_the_address_are_asked_for_as_such(self):
        paths = ["/_mget", "/real/_mget", "/_msearch", "/real/_msearch", "/_msearch/template", "/_search/template", "/_render/template",
                 "/_rank_eval", "/_ingest/pipeline/_simulate", "/_analyze", "/_scripts/painless/_execute"]
        asked = [("POST", path) for path in paths] + [("PUT", "/_ingest/pipeline/p"), ("PUT", "/_search/pipeline/p")]
        for method, path in asked:
            with self.assertRaises(RequestError) as refused:
                self.client.transport.perform_request(method, path)
            cause = refused.exception.info["error"]
            self.assertEqual(cause["type"], "parse_exception", path)
            self.assertEqual(cause["reason"], "request body or source parameter is required", path)
        with self.assertRaises(RequestError) as refused:
            self.client.transport.perform_request("PUT", "/real/_settings")
        self.assertEqual(refused.exception.info["error"]["reason"], "request body is required")

    def test_commas_behind_the_last_name_mean_nothing(self):
        self.client.index(index="named", id="1", body={}, refresh=True)
        for path in ("/named,/_count", "/named,,/_count"):
            self.assertEqual(self.raw("GET", path)["count"], 1, path)
        self.assertEqual(list(self.raw("GET", "/named,/_mapping")), ["named"])

    def test_what_a_template_is_searched_with_is_said_beside_it(self):
        search = {"query": {"match_all": {}}, "size": 1, "explain": True, "profile": True}
        found = self.client.search_template(index="real", body={"source": search})
        self.assertNotIn("_explanation", found["hits"]["hits"][0])
        self.assertNotIn("profile", found)
        found = self.client.search_template(index="real", body={"source": search, "explain": True})
        self.assertIn("_explanation", found["hits"]["hits"][0])
        for body in ({"source": ""}, {"params": {}}):
            with self.refused(400, "action_request_validation_exception", "template is missing"):
                self.client.search_template(index="real", body=body)
            kind = ("action_request_validation_exception", "template is missing") if "source" in body else (
                "illegal_argument_exception", "Malformed search template")
            with self.refused(400, *kind):
                self.client.msearch_template(body=[{"index": "real"}, {"source": search}, {}, body])
        with self.refused(400, "x_content_parse_exception", "[search_template] unknown field [nope]"):
            self.client.msearch_template(body=[{}, {"source": search, "nope": 1}])
        with self.refused(400, "action_request_validation_exception", "no requests added"):
            self.client.msearch_template(body=[{}, {"id": "nope"}, {}, {"source": "{"}])
        self.client.put_script(id="kept", body={"script": {"lang": "mustache", "source": {"size": 3}}})
        shown = self.raw("POST", "/_render/template/kept", body={"source": {"size": 5}})
        self.assertEqual(shown["template_output"], {"size": 3})

    def test_scripts_are_kept_for_what_there_is(self):
        script = {"script": {"lang": "painless", "source": "ctx._source.a = 1"}}
        self.raw("PUT", "/_scripts/kept/update", body=script)
        with self.refused(400, "illegal_argument_exception", "failed to parse/compile stored script [kept]"):
            self.raw("PUT", "/_scripts/kept/nonsense", body=script)
        self.raw("DELETE", "/_scripts/kept")

    def test_filters_without_a_tokenizer_change_letters_alone(self):
        with self.refused(400, "illegal_argument_exception", "Custom normalizer may not use filter [stop]"):
            self.client.indices.analyze(body={"text": "ABc", "filter": ["lowercase", "stop"]})
        tokens = self.client.indices.analyze(body={"text": "ABc", "filter": ["lowercase"]})["tokens"]
        self.assertEqual([token["token"] for token in tokens], ["abc"])

    def test_scripts_of_filters_know_where_a_token_stands_in_the_text(self):
        near = {"type": "predicate_token_filter", "script": {"source": "token.startOffset > 1 && token.endOffset < 12"}}
        body = {"tokenizer": "whitespace", "char_filter": ["html_strip"], "filter": [near], "text": "😀 <b>a</b> b c"}
        tokens = self.client.indices.analyze(body=body)["tokens"]
        self.assertEqual([(token["token"], token["start_offset"]) for token in tokens], [("a", 6)])

    def test_ways_side_by_side_become_one_row(self):
        synonyms = {"type": "synonym_graph", "synonyms": ["automatic teller machine,atm,cash point"]}
        body = {"tokenizer": "whitespace", "filter": [synonyms, "flatten_graph"], "text": "this automatic teller machine is"}
        tokens = self.client.indices.analyze(body=body)["tokens"]
        shown = [(one["token"], one["position"], one.get("positionLength", 1), one["start_offset"], one["end_offset"]) for one in tokens]
        self.assertEqual(shown, [
            ("this", 0, 1, 0, 4), ("atm", 1, 3, 5, 29), ("cash", 1, 1, 5, 14), ("automatic", 1, 1, 5, 14), ("point", 2, 2, 15, 29),
            ("teller", 2, 1, 15, 21), ("machine", 3, 1, 22, 29), ("is", 4, 1, 30, 32),
        ])

    def test_orders_of_a_uri_are_those_of_small_letters(self):
        def order(of_uri, **body):
            hits = self.client.search(index="real", body=body, params={"sort": of_uri})["hits"]["hits"]
            return [hit.get("sort") for hit in hits]

        self.assertEqual(order("count:desc"), [[8], [3], [-2147483648]])
        for passed_over in ("count:DESC", "count:x", "count:"):
            self.assertEqual(order(passed_over), [None, None, None], passed_over)
        self.assertEqual(order("count:x,count"), [[3], [8], [2147483647]])
        self.assertEqual(order("count:x", sort=["count"]), [[3], [8], [2147483647]])

    def test_shards_of_no_number_are_none(self):
        found = self.client.search(index="real", params={"preference": "_shards:"})
        self.assertEqual((found["_shards"]["total"], found["hits"]["total"]["value"]), (0, 0))

    def test_degrees_beyond_the_pole_go_down_on_the_other_side(self):
        coerce = {"validation_method": "COERCE"}
        near = {"geo_distance": {"distance": "1km", "place": "132,182", **coerce}}
        self.assertEqual(set(self.found(near)), {"2"})
        box = {"geo_bounding_box": {"place": {"top": 131, "left": 181, "bottom": 47, "right": 3}, **coerce}}
        self.assertEqual(set(self.found(box)), {"2"})
        around = {"geo_bounding_box": {"place": {"top": 90, "left": -180, "bottom": -90, "right": 180}, **coerce}}
        self.assertEqual(set(self.found(around)), {"2"})
        order = {"_geo_distance": {"place": "132,182", **coerce}}
        first = self.client.search(index="real", body={"sort": [order]})["hits"]["hits"][0]
        self.assertEqual(first["_id"], "2")
        self.assertLess(first["sort"][0], 1)
        with self.refused(400, "illegal_argument_exception"):
            self.client.search(index="real", body={"sort": [{"_geo_distance": {"place": "132,182"}}]})
        with self.refused(400, "illegal_argument_exception", "but not [x]"):
            self.client.search(index="real", body={"sort": [{"_geo_distance": {"place": "1,1", "validation_method": "x"}}]})

    def test_degrees_of_a_point_may_stand_apart(self):
        near = {"geo_distance": {"distance": "1km", "place.lat": 48, "place.lon": "2"}}
        self.assertEqual(set(self.found(near)), {"2"})
        with self.refused(400, "parsing_exception", "unexpected field [nope]"):
            self.found({"geo_distance": {"distance": "1km", "place.lat": 48, "place.lon": 2, "nope": 1}})

    def test_a_field_without_a_mapping_is_of_the_type_that_an_order_says(self):
        def shown(name="nope", **key):
            body = {"sort": [{name: key}]}
            return [hit["sort"][0] for hit in self.client.search(index="real", body=body)["hits"]["hits"]]

        for kind, value in [
            ("long", 2**63 - 1), ("date", 2**63 - 1), ("boolean", 2**31 - 1), ("integer", 2**31 - 1),
            ("unsigned_long", 2**64 - 1), ("double", "Infinity"), ("keyword", None), ("ip", None), ("string", None),
        ]:
            self.assertEqual(shown(unmapped_type=kind), [value] * 3, kind)
        self.assertEqual(shown(unmapped_type="long", order="desc"), [-(2**63)] * 3)
        self.assertEqual(shown(unmapped_type="long", missing=5), [5] * 3)
        self.assertEqual(shown("_id", unmapped_type="long"), ["1", "2", "3"])
        self.assertEqual(shown("count", unmapped_type="nope"), [3, 8, 2147483647])
        with self.refused(400, "search_phase_execution_exception") as caught:
            shown(unmapped_type="nope")
        [root] = caught.exception.info["error"]["root_cause"]
        self.assertEqual((root["type"], root["reason"]), ("illegal_argument_exception", "No mapper found for type [nope]"))

    def test_numbers_that_no_document_has_are_ends_all_the_same(self):
        priced = lambda **ends: set(self.found({"range": {"price": ends}}))
        self.assertEqual(priced(gte="Infinity"), set())
        self.assertEqual(priced(gt="-Infinity", lt="Infinity"), {"2"})
        self.assertEqual(self.found({"term": {"price": "-Infinity"}}), {})
        with self.refused(400, "search_phase_execution_exception"):
            priced(gte="infinity")
        pages = lambda key, after: [hit["_id"] for hit in self.client.search(
            index="real", body={"sort": [key], "search_after": [after]})["hits"]["hits"]]
        self.assertEqual(pages("price", "NaN"), [])
        self.assertEqual(pages({"price": "desc"}, "NaN"), ["2", "1", "3"])
        self.assertEqual(pages({"_score": "asc"}, "0.5"), ["1", "2", "3"])
        self.assertEqual(pages({"_score": "asc"}, "5"), [])
        with self.refused(400, "search_phase_execution_exception"):
            pages("count", "NaN")

    def test_what_every_document_has_is_no_field_of_it(self):
        every = ["_id", "_index", "_seq_no"]
        hit = lambda **body: self.client.search(index="real", body={"sort": ["_doc"], "size": 1, **body})["hits"]["hits"][0]
        self.assertNotIn("fields", hit(fields=every))
        self.assertNotIn("fields", hit(stored_fields=["_id", "_routing"]))
        self.assertEqual(hit(docvalue_fields=every)["fields"], {"_id": ["1"], "_index": ["real"], "_seq_no": [0]})

    def test_a_point_in_time_may_be_over_at_once(self):
        made = self.client.transport.perform_request("POST", "/real/_search/point_in_time", params={"keep_alive": "-1"})
        self.assertIn("pit_id", made)
        with self.refused(400, "action_request_validation_exception"):
            self.client.transport.perform_request("POST", "/real/_search/point_in_time")
