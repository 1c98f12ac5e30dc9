"""Queries beyond words and values: positions, points, functions, documents as examples."""

import base64
import json
import math
import unittest

from .base import ClewTest

PLACES = {
    "amsterdam": {"lat": 52.374081, "lon": 4.912350},
    "antwerp": "51.222900,4.405200",
    "paris": [2.336389, 48.861111],
    "nantes": "POINT (-1.553621 47.218372)",
    "tokyo": "xn76urx6606p",
}


class IntervalQueries(ClewTest):
    def setUp(self):
        super().setUp()
        self.index_all(
            "talk",
            {
                "1": {"text": "the quick brown fox jumps over the lazy dog"},
                "2": {"text": "the brown quick fox"},
                "3": {"text": "quick quick slow"},
                "4": {"text": "slow brown dog", "tag": "quick"},
            },
        )

    def found(self, query):
        return sorted(self.ids("talk", query=query))

    def intervals(self, **rule):
        return self.found({"intervals": {"text": rule}})

    def test_order_gaps_and_repetition(self):
        match = {"query": "quick fox"}
        self.assertEqual(self.intervals(match=match), ["1", "2"])
        self.assertEqual(self.intervals(match={**match, "max_gaps": 0, "mode": "ordered"}), ["2"])
        self.assertEqual(self.intervals(match={"query": "fox quick", "mode": "ordered"}), [])
        self.assertEqual(self.intervals(match={"query": "quick quick"}), ["3"])

    def test_alternatives_are_tried_one_by_one(self):
        # The shorter alternative alone would hide the longer one, which leaves no gap.
        either = {
            "any_of": {
                "intervals": [
                    {"match": {"query": "quick"}},
                    {"match": {"query": "quick brown", "mode": "ordered", "max_gaps": 0}},
                ]
            }
        }
        rule = {"intervals": [either, {"match": {"query": "fox"}}], "mode": "ordered", "max_gaps": 0}
        self.assertEqual(self.intervals(all_of=rule), ["1", "2"])

    def test_patterns(self):
        self.assertEqual(self.intervals(prefix={"prefix": "QU"}), ["1", "2", "3"])
        self.assertEqual(self.intervals(wildcard={"pattern": "l?zy"}), ["1"])
        self.assertEqual(self.intervals(fuzzy={"term": "brwn"}), ["1", "2", "4"])

    def test_refusals(self):
        with self.refused(400, "parsing_exception", "Unknown interval type [near]"):
            self.intervals(near={})
        with self.refused(400, reason="all shards failed"):
            self.found({"intervals": {"tag.keyword": {"match": {"query": "x"}}}})

    def test_spans(self):
        quick = {"span_term": {"text": "quick"}}
        fox = {"span_term": {"text": "fox"}}
        brown = {"span_term": {"text": {"value": "brown"}}}
        near = lambda slop, in_order: {
            "span_near": {"clauses": [quick, fox], "slop": slop, "in_order": in_order}
        }
        self.assertEqual(self.found(near(0, True)), ["2"])
        self.assertEqual(self.found(near(1, True)), ["1", "2"])
        self.assertEqual(self.found({"span_or": {"clauses": [fox, brown]}}), ["1", "2", "4"])
        self.assertEqual(self.found({"span_first": {"match": quick, "end": 1}}), ["3"])
        excluded = {"include": brown, "exclude": quick}
        self.assertEqual(self.found({"span_not": excluded}), ["1", "2", "4"])
        self.assertEqual(self.found({"span_not": {**excluded, "pre": 1}}), ["2", "4"])
        self.assertEqual(self.found({"span_not": {**excluded, "post": 1}}), ["1", "4"])
        inside = {"big": near(1, True), "little": brown}
        self.assertEqual(self.found({"span_containing": inside}), ["1"])
        self.assertEqual(self.found({"span_within": inside}), ["1"])
        prefix = {"span_multi": {"match": {"prefix": {"text": {"value": "sl"}}}}}
        self.assertEqual(self.found(prefix), ["3", "4"])
        other = {"span_term": {"tag": "quick"}}
        masked = {"field_masking_span": {"query": other, "field": "text"}}
        both = {"clauses": [{"span_term": {"text": "slow"}}, masked], "slop": 0, "in_order": False}
        self.assertEqual(self.found({"span_near": both}), ["4"])

    def test_words_of_intervals_and_spans_are_highlighted(self):
        self.index_all("talk", {"5": {"text": "quick slow quick fox"}})
        quick, fox = {"span_term": {"text": "quick"}}, {"span_term": {"text": "fox"}}
        near = {"span_near": {"clauses": [quick, fox], "slop": 0, "in_order": True}}
        brown = {"span_term": {"text": "brown"}}
        prefix = {"span_multi": {"match": {"prefix": {"text": {"value": "sl"}}}}}
        for query, identity, shown in [
            (quick, "3", "<em>quick</em> <em>quick</em> slow"),
            (near, "5", "quick slow <em>quick</em> <em>fox</em>"),
            ({"span_or": {"clauses": [near, brown]}}, "2", "the <em>brown</em> <em>quick</em> <em>fox</em>"),
            ({"span_not": {"include": brown, "exclude": quick}}, "2", "the <em>brown</em> quick fox"),
            (prefix, "4", "<em>slow</em> brown dog"),
            ({"span_first": {"match": quick, "end": 1}}, "5", "<em>quick</em> slow quick fox"),
            ({"span_containing": {"big": near, "little": fox}}, "5", "quick slow <em>quick</em> <em>fox</em>"),
            ({"span_near": {"clauses": [prefix, fox], "slop": 1}}, "5", "quick <em>slow</em> quick <em>fox</em>"),
            (
                {"intervals": {"text": {"match": {"query": "quick fox", "max_gaps": 0}}}},
                "5",
                "<em>quick</em> slow <em>quick</em> <em>fox</em>",
            ),
        ]:
            body = {"query": query, "highlight": {"fields": {"text": {}}}}
            hits = self.client.search(index="talk", body=body)["hits"]["hits"]
            marked = {hit["_id"]: hit["highlight"]["text"] for hit in hits}
            self.assertEqual(marked[identity], [shown], query)

    def test_a_lone_span_scores_as_its_term(self):
        term = self.client.search(index="talk", body={"query": {"term": {"text": "quick"}}})
        span = self.client.search(index="talk", body={"query": {"span_term": {"text": "quick"}}})
        scores = lambda reply: {hit["_id"]: hit["_score"] for hit in reply["hits"]["hits"]}
        for identity, score in scores(term).items():
            self.assertAlmostEqual(scores(span)[identity], score, places=5)


class QueryStrings(ClewTest):
    def setUp(self):
        super().setUp()
        stemmed = {"type": "text", "analyzer": "english", "fields": {"exact": {"type": "text"}}}
        properties = {"at": {"type": "date"}, "text": stemmed}
        self.client.indices.create(index="people", body={"mappings": {"properties": properties}})
        self.index_all(
            "people",
            {
                "1": {"first": "will smith", "last": "jones", "at": "2024-01-01T23:30:00Z"},
                "2": {"first": "will", "last": "smith", "at": "2024-01-02T00:30:00Z"},
                "3": {"first": "smith will", "last": "x"},
                "4": {"text": "running dogs"},
                "5": {"text": "run dog"},
            },
        )

    def found(self, text, language="query_string", **options):
        query = {language: {"query": text, **options}}
        return sorted(self.ids("people", query=query))

    def test_words_are_looked_for_in_fields_of_a_kind(self):
        both = {"fields": ["first", "last"]}
        for kind, text, operator, found in [
            ("best_fields", "will smith", "and", ["1", "3"]),
            ("most_fields", "will smith", "and", ["1", "3"]),
            ("cross_fields", "will smith", "and", ["1", "2", "3"]),
            ("phrase", "will smith", "or", ["1"]),
            ("phrase_prefix", "will smi", "or", ["1"]),
            ("bool_prefix", "smith wi", "and", ["1", "3"]),
        ]:
            options = {"type": kind, "default_operator": operator}
            self.assertEqual(self.found(text, **options, **both), found, kind)
        self.assertEqual(self.found("first:(will smith)", type="phrase"), ["1"])
        self.assertEqual(self.found("jones OR (will smith)", type="phrase", **both), ["1"])
        with self.refused(400, "parse_exception", "unknown type"):
            self.found("will", type="all_fields")

    def test_words_over_several_fields_are_counted_together(self):
        both = {"fields": ["first", "last"]}
        for kind, minimum, found in [
            ("cross_fields", 2, ["1", "2", "3"]), ("cross_fields", "100%", ["1"]), ("cross_fields", 3, ["1"]),
            ("phrase", 2, []), ("best_fields", 2, ["1", "2", "3"]),
        ]:
            text = "will smith jones"
            self.assertEqual(self.found(text, type=kind, minimum_should_match=minimum, **both), found, (kind, minimum))
        self.assertEqual(self.found("will smith", type="phrase", minimum_should_match=2, **both), ["1"])

    def test_dates_are_those_of_a_zone(self):
        since = "at:[2024-01-02 TO *]"
        self.assertEqual(self.found(since), ["2"])
        self.assertEqual(self.found(since, time_zone="+01:00"), ["1", "2"])
        self.assertEqual(self.found(since, time_zone="-01:00"), [])

    def test_phrases_may_have_fields_of_their_own(self):
        suffix = {"quote_field_suffix": ".exact", "fields": ["text", "first"]}
        for language in ["query_string", "simple_query_string"]:
            self.assertEqual(self.found('"run dog"', language, fields=["text"]), ["4", "5"])
            self.assertEqual(self.found('"run dog"', language, **suffix), ["5"])
            self.assertEqual(self.found("run", language, **suffix), ["4", "5"])
            self.assertEqual(self.found('"will smith"', language, **suffix), ["1"])


class CommonWords(ClewTest):
    def setUp(self):
        super().setUp()
        texts = {str(n): {"text": "the and " + ("rare " if n == 3 else "") + ("odd" if n % 5 == 0 else "")} for n in range(20)}
        self.index_all("prose", {**texts, "20": {"text": "rare"}, "21": {"text": "the"}})

    def search(self, text, **options):
        body = {"query": {"common": {"text": {"query": text, "cutoff_frequency": 0.3, **options}}}}
        return self.client.search(index="prose", body=body, size=50)["hits"]["hits"]

    def found(self, text, **options):
        return sorted(int(hit["_id"]) for hit in self.search(text, **options))

    def test_rare_words_decide_and_frequent_ones_add(self):
        self.assertEqual(self.found("the rare"), [3, 20])
        self.assertEqual(self.found("rare odd"), [0, 3, 5, 10, 15, 20])
        self.assertEqual(self.found("the rare odd", low_freq_operator="and"), [])
        self.assertEqual(self.found("the rare odd", minimum_should_match=2), [])
        with_the = {hit["_id"]: hit["_score"] for hit in self.search("the rare")}
        alone = {hit["_id"]: hit["_score"] for hit in self.search("rare")}
        self.assertGreater(with_the["3"], alone["3"])
        self.assertAlmostEqual(with_the["20"], alone["20"], places=5)

    def test_frequent_words_alone_are_all_wanted(self):
        self.assertEqual(self.found("the and"), list(range(20)))
        self.assertEqual(self.found("the"), [*range(20), 21])
        fewer = {"low_freq": 1, "high_freq": 1}
        self.assertEqual(self.found("the and", minimum_should_match=fewer), [*range(20), 21])

    def test_what_a_query_means_to_an_index_is_told(self):
        for query, told in [
            ({"match": {"text": {"query": "The RARE", "operator": "and", "boost": 2}}}, "(+text:the +text:rare)^2.0"),
            ({"query_string": {"query": "(The OR odd) -text:x*", "fields": ["text"]}}, "-text:x* (text:the text:odd)"),
            ({"bool": {"should": [{"term": {"text": "a"}}, {"term": {"text": "b"}}], "minimum_should_match": 1}}, "(text:a text:b)~1"),
        ]:
            reply = self.client.indices.validate_query(index="prose", body={"query": query}, params={"explain": "true"})
            found = {one["explanation"] for one in reply["explanations"]}
            self.assertEqual(found, {told})

    def test_it_is_a_query_like_others(self):
        query = {"common": {"text": {"query": "the rare", "cutoff_frequency": 0.3}}}
        reply = self.client.indices.validate_query(index="prose", body={"query": query})
        self.assertTrue(reply["valid"])
        reply = self.client.explain(index="prose", id="3", body={"query": query})
        self.assertTrue(reply["matched"])
        body = {"query": query, "highlight": {"fields": {"text": {}}}}
        hits = self.client.search(index="prose", body=body)["hits"]["hits"]
        marked = {hit["_id"]: hit["highlight"]["text"] for hit in hits}
        self.assertEqual(marked["20"], ["<em>rare</em>"])
        self.assertEqual(marked["3"], ["<em>the</em> and <em>rare</em>"])

    def test_refusals(self):
        with self.refused(400, "parsing_exception", "[common] query does not support [cutof]"):
            self.found("the", cutof=1)
        reason = "[common] query does not support [mid_freq] for [minimum_should_match]"
        with self.refused(400, "parsing_exception", reason):
            self.found("the", minimum_should_match={"mid_freq": 1})
        with self.refused(400, "illegal_argument_exception", "text cannot be null"):
            self.found(None)
        with self.refused(400, "parsing_exception", "unknown query [comon] did you mean [common]?"):
            self.client.search(index="prose", body={"query": {"comon": {"text": "the"}}})


class GeoQueries(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(
            index="places", body={"mappings": {"properties": {"at": {"type": "geo_point"}}}}
        )
        self.index_all("places", {name: {"at": at} for name, at in PLACES.items()})

    def found(self, query):
        return sorted(self.ids("places", query=query))

    def test_near_a_point(self):
        near = lambda distance, **more: self.found(
            {"geo_distance": {"distance": distance, "at": "52.37,4.91", **more}}
        )
        self.assertEqual(near("10km"), ["amsterdam"])
        self.assertEqual(near(200, unit="km"), ["amsterdam", "antwerp"])
        self.assertEqual(near("300mi"), ["amsterdam", "antwerp", "paris"])

    def test_boxes_polygons_and_shapes(self):
        box = {"top_left": {"lat": 53, "lon": 4}, "bottom_right": {"lat": 51, "lon": 5}}
        low = ["amsterdam", "antwerp"]
        self.assertEqual(self.found({"geo_bounding_box": {"at": box}}), low)
        sides = {"top": 53, "left": 4, "bottom": 51, "right": 5}
        self.assertEqual(self.found({"geo_bounding_box": {"at": sides}}), low)
        wkt = {"wkt": "BBOX (4, 5, 53, 51)"}
        self.assertEqual(self.found({"geo_bounding_box": {"at": wkt}}), low)
        # Points are kept a little farther south and west.
        self.client.indices.create(index="edges", body={"mappings": {"properties": {"at": {"type": "geo_point"}}}})
        points = {"in": "74,40.71", "corner": "75,28", "east": "74,41", "south": "73,30"}
        self.index_all("edges", {name: {"at": point} for name, point in points.items()})
        edges = {"geo_bounding_box": {"at": {"top": 75, "left": 28, "bottom": 73, "right": 41}}}
        self.assertEqual(sorted(self.ids("edges", query=edges)), ["east", "in"])
        triangle = {"points": ["50,-5", "50,5", "45,0"]}
        self.assertEqual(self.found({"geo_polygon": {"at": triangle}}), ["nantes", "paris"])
        shape = {"type": "envelope", "coordinates": [[4, 53], [5, 51]]}
        within = {"shape": shape, "relation": "within"}
        self.assertEqual(self.found({"geo_shape": {"at": within}}), low)
        outside = {"shape": shape, "relation": "disjoint"}
        self.assertEqual(self.found({"geo_shape": {"at": outside}}), ["nantes", "paris", "tokyo"])

    def test_order_by_distance(self):
        sort = [{"_geo_distance": {"at": [4.9, 52.3], "unit": "km"}}]
        hits = self.client.search(index="places", body={"sort": sort})["hits"]["hits"]
        names = [hit["_id"] for hit in hits]
        self.assertEqual(names, ["amsterdam", "antwerp", "paris", "nantes", "tokyo"])
        self.assertTrue(120 < hits[1]["sort"][0] < 130, hits[1])
        self.index_all("places", {"nowhere": {}})
        hits = self.client.search(index="places", body={"sort": sort})["hits"]["hits"]
        self.assertEqual(hits[-1]["sort"], ["Infinity"])

    def test_wrong_points_are_refused(self):
        with self.refused(400, "mapper_parsing_exception", "failed to parse field [at]"):
            self.client.index(index="places", body={"at": {"lat": 91, "lon": 0}})
        with self.refused(400, reason="illegal latitude value [91.0]"):
            self.found({"geo_distance": {"distance": "1km", "at": [0, 91]}})
        with self.refused(400):
            self.found({"geo_distance": {"distance": "1km", "elsewhere": [0, 1]}})
        ignored = {"distance": "1km", "elsewhere": [0, 1], "ignore_unmapped": True}
        self.assertEqual(self.found({"geo_distance": ignored}), [])

    def test_several_points_stay_whole(self):
        self.index_all("places", {"two": {"at": [[100, 10], [110, 20]]}})
        corner = {"top": 21, "left": 99, "bottom": 19, "right": 101}
        self.assertEqual(self.found({"geo_bounding_box": {"at": corner}}), [])


class FunctionScores(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(
            index="shop",
            body={
                "mappings": {
                    "properties": {
                        "at": {"type": "geo_point"},
                        "day": {"type": "date"},
                        "likes": {"type": "integer"},
                        "needed": {"type": "integer"},
                        "tags": {"type": "keyword"},
                    }
                }
            },
        )
        self.index_all(
            "shop",
            {
                "1": {"likes": 9, "day": "2024-01-01", "at": "0,0", "tags": ["a"], "needed": 1},
                "2": {"likes": 99, "day": "2024-01-11", "at": "0,1", "tags": ["a", "b"], "needed": 2},
                "3": {"day": "2024-03-01", "at": "0,9", "tags": ["b"], "needed": 2},
            },
        )

    def scores(self, query):
        reply = self.client.search(index="shop", body={"query": query})
        return {hit["_id"]: hit["_score"] for hit in reply["hits"]["hits"]}

    def assertScores(self, query, wanted):
        have = self.scores(query)
        self.assertEqual(sorted(have), sorted(wanted), have)
        for identity, score in wanted.items():
            self.assertAlmostEqual(have[identity], score, places=4, msg=f"{identity}: {have}")

    def test_values_of_a_field(self):
        factor = {"field": "likes", "modifier": "log1p", "missing": 0}
        self.assertScores(
            {"function_score": {"field_value_factor": factor, "boost_mode": "replace"}},
            {"1": 1.0, "2": 2.0, "3": 0.0},
        )
        del factor["missing"]
        with self.refused(500) as refusal:
            self.scores({"function_score": {"field_value_factor": factor}})
        self.assertEqual(refusal.exception.info["error"]["root_cause"][0]["reason"], "Missing value for field [likes]")

    def test_joined_functions(self):
        functions = [
            {"filter": {"term": {"tags": "a"}}, "weight": 3},
            {"filter": {"term": {"tags": "b"}}, "weight": 5},
        ]
        for mode, both in [("sum", 8), ("multiply", 15), ("max", 5), ("min", 3), ("first", 3)]:
            self.assertScores(
                {"function_score": {"functions": functions, "score_mode": mode}},
                {"1": 3, "2": both, "3": 5},
            )
        self.assertScores(
            {"function_score": {"functions": functions, "score_mode": "sum", "min_score": 5}},
            {"2": 8, "3": 5},
        )

    def test_decay(self):
        decay = lambda shape, field, **more: {"function_score": {shape: {field: more}}}
        self.assertScores(
            decay("exp", "day", origin="2024-01-01", scale="10d", decay=0.5),
            {"1": 1.0, "2": 0.5, "3": 0.5**6},
        )
        near = self.scores(decay("gauss", "at", origin="0,0", scale="100km", offset="20km"))
        metres = math.radians(1) * 6371008.7714
        wanted = math.exp(math.log(0.5) * ((metres - 20000) / 100000) ** 2)
        self.assertAlmostEqual(near["2"], wanted, places=4)
        self.assertScores(
            decay("linear", "likes", origin=0, scale=90, offset=9),
            {"1": 1.0, "2": 0.5, "3": 1.0},
        )

    def test_chance_is_the_same_for_the_same_seed(self):
        query = {"function_score": {"random_score": {"seed": 7, "field": "_seq_no"}}}
        first = self.scores(query)
        self.assertEqual(first, self.scores(query))
        self.assertEqual(len(set(first.values())), 3)
        query["function_score"]["random_score"]["seed"] = 8
        self.assertNotEqual(first, self.scores(query))

    def test_nearness(self):
        feature = {"field": "day", "origin": "2024-01-01", "pivot": "10d", "boost": 4}
        self.assertScores({"distance_feature": feature}, {"1": 40 / 11, "2": 40 / 19, "3": 40 / 69})  # a day ends where the next begins
        # Of several indexes some may not have the field.
        self.assertEqual(self.scores({"distance_feature": {**feature, "field": "nope"}}), {})

    def test_terms_counted_by_a_field(self):
        query = {"tags": {"terms": ["a", "b"], "minimum_should_match_field": "needed"}}
        self.assertEqual(sorted(self.scores({"terms_set": query})), ["1", "2"])
        found = self.client.search(index="shop", body={"query": {"terms_set": query}, "highlight": {"fields": {"tags": {}}}})
        marked = {hit["_id"]: hit["highlight"]["tags"] for hit in found["hits"]["hits"]}
        self.assertEqual(marked, {"1": ["<em>a</em>"], "2": ["<em>a</em>", "<em>b</em>"]})
        by = lambda script: {"tags": {"terms": ["a", "b"], "minimum_should_match_script": {"source": script}}}
        self.assertEqual(self.scores({"terms_set": by("doc['needed'].value")}), self.scores({"terms_set": query}))
        any_of = lambda count: self.scores({"bool": {"should": [{"term": {"tags": tag}} for tag in "ab"], "minimum_should_match": count}})
        for script, count in (("params.num_terms", 2), ("1", 1), ("return 2;", 2)):
            self.assertEqual(self.scores({"terms_set": by(script)}), any_of(count), script)
        self.assertEqual(self.scores({"terms_set": by("3")}), {})
        lesser = self.scores({"terms_set": by("Math.min(params.num_terms, doc['needed'].value)")})
        self.assertEqual({**lesser, **self.scores({"terms_set": query})}, lesser)
        # Any script will do, which is run for each document.
        for script in ("doc['needed'].size() + 1", "int n = 0; for (int i = 0; i < params.num_terms; ++i) { n += 1 } return n", "1.9 + 0.2"):
            self.assertEqual(self.scores({"terms_set": by(script)}), any_of(2), script)
        needed = "doc['needed'].value > 1 ? 1 : 2"
        self.assertEqual(sorted(self.scores({"terms_set": by(needed)})), ["2", "3"])
        given = {"tags": {"terms": ["a", "b"], "minimum_should_match_script": {"source": "params.num_terms - params.less", "params": {"less": 1, "num_terms": 9}}}}
        self.assertEqual(self.scores({"terms_set": given}), any_of(1))
        with self.refused(400) as caught:
            self.scores({"terms_set": by("doc['nope'].value")})
        self.assertIn("No field found for [nope] in mapping", str(caught.exception.info))
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.scores({"terms_set": by("params.num_terms +")})
        self.assertIn("compile error", str(caught.exception.info))
        both = {"terms": ["a"], "minimum_should_match_field": "needed", "minimum_should_match_script": "1"}
        with self.refused(400, "illegal_argument_exception", "not both"):
            self.scores({"terms_set": {"tags": both}})

    def test_names_of_what_matched(self):
        clauses = [
            {"term": {"tags": {"value": "a", "_name": "first"}}},
            {"range": {"likes": {"gte": 50, "_name": "many"}}},
            {"match_none": {"_name": "never"}},
        ]
        body = {"query": {"bool": {"should": clauses}}, "sort": ["_doc"], "aggs": {"top": {"top_hits": {"sort": ["_score", "_doc"]}}}}
        found = self.client.search(index="shop", body=body)
        top = found["aggregations"]["top"]["hits"]["hits"]
        for hits in (found["hits"]["hits"], top):
            names = {hit["_id"]: hit.get("matched_queries", []) for hit in hits}
            # Several stand as a map of Java has them.
            self.assertEqual(names, {"1": ["first"], "2": ["many", "first"]})
        # An order by score among others does not show it.
        self.assertEqual({hit["_score"] for hit in top}, {None})

    def test_scores_of_what_matched(self):
        clauses = [
            {"range": {"likes": {"gte": 0, "_name": "some"}}},
            {"range": {"likes": {"gte": 50, "boost": 10, "_name": "many"}}},
        ]
        body = {"query": {"bool": {"should": clauses}}, "sort": ["_doc"]}
        params = {"include_named_queries_score": "true"}
        hits = self.raw("POST", "/shop/_search", body, params=params)["hits"]["hits"]
        scores = {hit["_id"]: hit.get("matched_queries", {}) for hit in hits}
        self.assertEqual(scores["2"], {"some": 1.0, "many": 10.0})
        self.assertEqual(scores["1"], {"some": 1.0})

    def test_a_query_in_base_64(self):
        inner = base64.b64encode(json.dumps({"term": {"tags": "b"}}).encode()).decode()
        self.assertEqual(sorted(self.scores({"wrapper": {"query": inner}})), ["2", "3"])


class DocumentsAsExamples(ClewTest):
    def test_terms_of_a_document(self):
        self.index_all(
            "users",
            {"me": {"friends": [{"name": "ann"}, {"name": "bob"}]}},
        )
        self.index_all("posts", {"1": {"by": "ann"}, "2": {"by": "eve"}, "3": {"by": "bob"}})
        lookup = {"index": "users", "id": "me", "path": "friends.name"}
        query = {"terms": {"by.keyword": lookup}}
        self.assertEqual(sorted(self.ids("posts", query=query)), ["1", "3"])
        self.assertEqual(self.client.count(index="posts", body={"query": query})["count"], 2)
        lookup["id"] = "nobody"
        self.assertEqual(self.ids("posts", query=query), [])

    def test_more_like_a_document_and_a_text(self):
        texts = {
            "1": {"text": "rust rust compiler compiler"},
            "2": {"text": "the compiler of rust"},
            "3": {"text": "a loaf of bread"},
        }
        self.index_all("posts", texts)
        like = lambda *items: {
            "more_like_this": {
                "fields": ["text"],
                "like": list(items),
                "min_term_freq": 1,
                "min_doc_freq": 1,
                "minimum_should_match": "60%",
            }
        }
        self.assertEqual(self.ids("posts", query=like({"_id": "1"})), ["2"])
        self.assertEqual(sorted(self.ids("posts", query=like("rust compiler"))), ["1", "2"])

    def test_limits(self):
        self.client.indices.create(
            index="small",
            body={"settings": {"index.max_terms_count": 2, "index.max_regex_length": 5}},
        )
        self.index_all("small", {"1": {"a": "x"}})
        self.ids("small", query={"terms": {"a": ["x", "y"]}})
        with self.refused(400) as refusal:
            self.ids("small", query={"terms": {"a": ["x", "y", "z"]}})
        self.assertIn("allowed maximum of [2]", str(refusal.exception.info))
        with self.refused(400):
            self.ids("small", query={"regexp": {"a": "abcdef"}})
        self.ids("small", query={"query_string": {"query": "a:/abcde/ OR /abc/"}})
        self.ids("small", query={"simple_query_string": {"query": "/abcdef/"}})
        inside = {"bool": {"must": [{"query_string": {"query": "x OR a:/abcdef/"}}]}}
        with self.refused(400) as refusal:
            self.ids("small", query=inside)
        told = "The length of regex [6] used in the [query_string] has exceeded the allowed maximum of [5]"
        self.assertIn(told, str(refusal.exception.info))
        try:
            self.client.cluster.put_settings(
                body={"transient": {"search.allow_expensive_queries": False}}
            )
            with self.refused(500) as refusal:
                self.ids("small", query={"prefix": {"a": "x"}})
            self.assertIn("[prefix] queries cannot be executed", str(refusal.exception.info))
        finally:
            self.client.cluster.put_settings(
                body={"transient": {"search.allow_expensive_queries": None}}
            )


class TextQueries(ClewTest):
    def setUp(self):
        super().setUp()
        self.index_all("notes", {"1": {"text": "Brown FOX", "n": 111}, "2": {"text": "blue", "n": 7}})

    def string(self, **query):
        return self.ids("notes", query={"query_string": {"default_field": "text", **query}})

    def test_what_a_query_string_is_told(self):
        self.assertEqual(self.string(query="/BRO.*/"), ["1"])
        self.assertEqual(self.string(query="BROWN"), ["1"])
        self.assertEqual(self.string(query="BROWN", analyzer="whitespace"), [])
        self.assertEqual(self.string(query="vrown~"), ["1"])
        self.assertEqual(self.string(query="vrown~", fuzzy_prefix_length=1), [])

    def test_words_before_a_prefix_may_differ(self):
        query = {"text": {"query": "brwon x", "fuzziness": 1}}
        self.assertEqual(self.ids("notes", query={"match_bool_prefix": query}), ["1"])
        multi = {"query": "x", "fields": ["text"], "type": "bool_prefix", "slop": 1}
        with self.refused(400, reason="[slop] not allowed for type [bool_prefix]"):
            self.ids("notes", query={"multi_match": multi})

    def test_terms_from_a_bitmap(self):
        terms = {"n": ["OjAAAAEAAAAAAAEAEAAAAG8A3gA="], "value_type": "bitmap"}
        self.assertEqual(self.ids("notes", query={"terms": terms}), ["1"])


class VectorScripts(ClewTest):
    def test_exact_scores(self):
        self.client.indices.create(
            index="v",
            body={
                "settings": {"index.knn": True},
                "mappings": {
                    "properties": {
                        "a": {
                            "type": "knn_vector",
                            "dimension": 2,
                            "method": {"name": "hnsw", "space_type": "cosinesimil"},
                        },
                        "b": {"type": "knn_vector", "dimension": 2},
                    }
                },
            },
        )
        documents = {
            "1": {"a": [1, 0], "b": [1, 0], "kind": "x"},
            "2": {"a": [0, 1], "b": [0, 1], "kind": "x"},
            "3": {"a": [1, 1], "b": [1, 1], "kind": "y"},
        }
        self.index_all("v", documents)

        def scores(query, **script):
            body = {"query": {"script_score": {"query": query, "script": script}}}
            hits = self.client.search(index="v", body=body)["hits"]["hits"]
            return {hit["_id"]: round(hit["_score"], 4) for hit in hits}

        params = {"field": "b", "query_value": [1, 0], "space_type": "l2"}
        every = {"match_all": {}}
        self.assertEqual(
            scores(every, lang="knn", source="knn_score", params=params),
            {"1": 1.0, "3": 0.5, "2": 0.3333},
        )
        source = "cosineSimilarity(params.q, doc['a']) + 1.0"
        self.assertEqual(
            scores({"term": {"kind": "x"}}, source=source, params={"q": [1, 0]}),
            {"1": 2.0, "2": 1.0},
        )
        self.assertEqual(set(scores(every, source="doc['kind.keyword'].value.length()").values()), {1})
        with self.refused(400, "search_phase_execution_exception", "all shards failed") as caught:
            scores(every, source="doc['kind.keyword'].value.sing()")
        self.assertIn("compile error", str(caught.exception.info))
        # Letters are no score, which is known when there are some.
        with self.refused(400, "search_phase_execution_exception", "all shards failed"):
            scores(every, source="doc['kind.keyword'].value.chars()")


if __name__ == "__main__":
    unittest.main()
