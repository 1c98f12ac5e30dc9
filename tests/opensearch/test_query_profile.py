"""What a profile tells of queries: steps that were taken, with times that were measured."""

from .base import ClewTest

STEPS = ["create_weight", "build_scorer", "next_doc", "advance", "score"]
OTHERS = ["match", "compute_max_score", "shallow_advance", "set_min_competitive_score"]
OWN = ["count", "from_postings"]
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class QueryProfileTest(ClewTest):
    def setUp(self):
        super().setUp()
        properties = {"t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "integer"}}
        settings = {"number_of_shards": 1, "refresh_interval": "-1"}
        self.client.indices.create(index="a", body={"settings": settings, "mappings": {"properties": properties}})
        for half in range(2):
            numbers = range(half * 50, half * 50 + 50)
            self.index_all("a", {str(n): {"t": f"fox {'red' if n % 2 else 'grey'}", "k": f"k{n % 5}", "n": n} for n in numbers})

    def profile(self, body, **params):
        return self.client.search(index="a", body={**body, "profile": True}, **params)["profile"]

    def search(self, body):
        """The only search of the only shard."""
        (shard,) = self.profile(body)["shards"]
        (search,) = shard["searches"]
        return search, shard

    def check(self, query):
        """Every step has its count, and what is inside a part is a part of its time."""
        breakdown = query["breakdown"]
        for step in STEPS + OTHERS:
            self.assertEqual(breakdown[step] > 0, breakdown[step + "_count"] > 0, (step, query))
        for step in OTHERS:
            self.assertEqual(breakdown[step], 0)
        steps = [name for name in breakdown if not name.endswith("_count") or name == "count"]
        self.assertEqual(query["time_in_nanos"], sum(breakdown[step] for step in steps))
        children = query.get("children", [])
        self.assertLessEqual(sum(child["time_in_nanos"] for child in children), query["time_in_nanos"])
        for child in children:
            self.check(child)
        return breakdown

    def test_every_kind_of_query_tells_what_it_looks_for(self):
        properties = {"t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "integer"}, "g": {"type": "geo_point"},
                      "o": {"type": "nested", "properties": {"w": {"type": "text"}}}}
        self.client.indices.create(index="kinds", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": properties}})
        self.index_all("kinds", {str(n): {"t": "red fox", "k": f"k{n}", "n": n, "g": {"lat": 3, "lon": 2}, "o": [{"w": "fox"}]} for n in range(9)})
        term = {"term": {"k": "k1"}}
        for query, told in [
            ({"multi_match": {"query": "red fox", "fields": ["t", "k^2"]}}, "(t:red fox | k:red fox^2.0)"),
            ({"match_phrase_prefix": {"t": "red fo"}}, 't:"red fo*"'),
            ({"match_bool_prefix": {"t": "red fo"}}, "t:red fo*"),
            ({"boosting": {"positive": {"match": {"t": "fox"}}, "negative": term, "negative_boost": 0.5}},
             "FunctionScoreQuery(t:fox, scored by boost(queryboost(score(k:k1))^0.5))"),
            ({"function_score": {"query": {"match": {"t": "fox"}}, "functions": [{"filter": term, "weight": 2},
                                                                                  {"field_value_factor": {"field": "n"}}]}},
             "function score (t:fox, functions: [{filter(k:k1), function [constant, weight 2.0]}, {function [value of n]}])"),
            ({"intervals": {"t": {"all_of": {"ordered": True, "intervals": [{"prefix": {"prefix": "re"}}, {"wildcard": {"pattern": "f*"}}]}}}},
             "t:ORDERED(MultiTerm(re*),MultiTerm(f*))"),
            ({"more_like_this": {"fields": ["t"], "like": "red fox", "min_doc_freq": 1, "min_term_freq": 1}}, "t like:[red fox]"),
            ({"terms_set": {"k": {"terms": ["k1", "k2"], "minimum_should_match_script": {"source": "1"}}}},
             "CoveringQuery(queries=[k:k1, k:k2])"),
            ({"nested": {"path": "o", "query": {"match": {"o.w": "fox"}}}}, "ToParentBlockJoinQuery (o.w:fox)"),
            ({"geo_distance": {"distance": "1km", "g": {"lat": 1, "lon": 2}}}, "g:1.0,2.0 +/- 1000.0 meters"),
            ({"geo_bounding_box": {"g": {"top_left": {"lat": 4, "lon": 1}, "bottom_right": {"lat": 2, "lon": 3}}}},
             "g:[2.0 TO 4.0],[1.0 TO 3.0]"),
        ]:
            (shard,) = self.client.search(index="kinds", body={"query": query, "profile": True})["profile"]["shards"]
            (root,) = shard["searches"][0]["query"]
            self.assertEqual(root["description"], told)
            self.check(root)

    def test_times_stand_there_in_words_for_people(self):
        body = {"query": {"bool": {"must": [{"match": {"t": "red"}}]}}, "aggs": {"most": {"max": {"field": "n"}}}}

        def timed(part):
            """All that has a time."""
            if isinstance(part, list):
                return [one for inner in part for one in timed(inner)]
            if not isinstance(part, dict):
                return []
            return [part] * ("time_in_nanos" in part) + timed(list(part.values()))

        parts = timed(self.profile(body, human=True))
        # The query and its part, three collectors, the aggregation, and what shows hits.
        self.assertGreaterEqual(len(parts), 7)
        for part in parts:
            self.assertRegex(part["time"], r"^[0-9]+(\.[0-9])?(s|ms|micros|nanos)$")
        self.assertFalse(any("time" in part for part in timed(self.profile(body))))

    def test_parts_of_a_query_tell_their_steps(self):
        query = {"dis_max": {"queries": [
            {"term": {"k": "k1"}},
            {"bool": {"must": [{"match": {"t": "red"}}], "filter": [{"range": {"n": {"gte": 10, "lt": 30}}}]}},
        ]}}
        search, shard = self.search({"query": query})
        (root,) = search["query"]
        breakdown = self.check(root)
        self.assertEqual((root["type"], root["description"]), ("DisjunctionMaxQuery", "(k:k1 | (+t:red #n:[10 TO 30}))"))
        # Two segments; 20 have k1, ten are red, two are both.
        self.assertEqual(breakdown["build_scorer_count"], 2)
        self.assertEqual(breakdown["score_count"], 28)
        self.assertGreaterEqual(breakdown["next_doc_count"], 28)
        term, bool_ = root["children"]
        self.assertEqual((term["type"], bool_["type"]), ("TermQuery", "BooleanQuery"))
        self.assertEqual([child["type"] for child in bool_["children"]], ["MatchQuery", "RangeQuery"])
        self.assertEqual([child["description"] for child in bool_["children"]], ["t:red", "n:[10 TO 30}"])
        for query in [root, term, bool_, *bool_["children"]]:
            self.assertEqual(query["breakdown"]["create_weight_count"], 1)
            self.assertGreater(query["time_in_nanos"], 0)
        (collector,) = search["collector"]
        self.assertEqual((collector["name"], collector["reason"]), ("SimpleTopScoreDocCollector", "search_top_hits"))
        self.assertGreater(collector["time_in_nanos"], 0)
        self.assertGreater(search["rewrite_time"], 0)
        self.assertGreater(shard["took_nanos"], root["time_in_nanos"])

    def test_what_is_ranked_from_the_postings_says_so(self):
        search, _ = self.search({"query": {"match": {"t": "fox red"}}})
        (root,) = search["query"]
        breakdown = self.check(root)
        self.assertEqual((breakdown["from_postings_count"], breakdown["next_doc_count"]), (2, 0))
        self.assertGreater(breakdown["from_postings"], 0)
        # Another query of the same words, which nothing ranks: the step is not there.
        search, _ = self.search({"query": {"match": {"t": "fox red"}}, "sort": ["n"]})
        self.assertNotIn("from_postings", search["query"][0]["breakdown"])

    def test_collectors_are_told_by_what_they_keep(self):
        aggs = {"m": {"max": {"field": "n"}}}
        query = {"term": {"k": "k1"}}
        for body, names in [
            ({"size": 0, "track_total_hits": True, "query": {"dis_max": {"queries": [query, {"term": {"k": "k2"}}]}}},
             [("TotalHitCountCollector", "search_count")]),
            ({"sort": ["n"]}, [("SimpleFieldCollector", "search_top_hits")]),
            ({"collapse": {"field": "k"}}, [("CollapsingTopDocsCollector", "search_top_hits")]),
            ({"post_filter": query}, [("FilteredCollector", "search_post_filter"), ("SimpleTopScoreDocCollector", "search_top_hits")]),
            ({"aggs": aggs}, [("MultiCollector", "search_multi"), ("SimpleTopScoreDocCollector", "search_top_hits"),
                              ("ProfilingAggregator", "aggregation")]),
        ]:
            search, _ = self.search(body)
            (outer,) = search["collector"]
            inner = outer.get("children", [])
            self.assertEqual([(one["name"], one["reason"]) for one in [outer, *inner]], names, body)
            self.assertLessEqual(sum(one["time_in_nanos"] for one in inner), outer["time_in_nanos"])
            for query_ in search["query"]:
                self.check(query_)

    def test_steps_of_aggregations_add_up(self):
        aggs = {"words": {"terms": {"field": "k"}, "aggs": {"most": {"max": {"field": "n"}}}}}
        (words,) = self.search({"size": 0, "aggs": aggs})[1]["aggregations"]
        (most,) = words["children"]
        breakdown = words["breakdown"]
        counts = {name: breakdown[name + "_count"] for name in breakdown if not name.endswith("_count")}
        self.assertEqual(counts, {"initialize": 1, "build_leaf_collector": 2, "collect": 100, "build_aggregation": 2,
                                  "post_collection": 1, "reduce": 2})
        for name in counts:
            self.assertGreater(breakdown[name], 0, name)
            self.assertLessEqual(most["breakdown"][name], breakdown[name], name)
        self.assertEqual(words["time_in_nanos"], sum(breakdown[name] for name in counts))
        self.assertLessEqual(most["time_in_nanos"], words["time_in_nanos"])

    def fetched(self, body, **params):
        """What was fetched for each purpose, by its phases; every step has its count, and they add up."""
        entries = {}
        for shard in self.profile(body, **params)["shards"]:
            for entry in shard["fetches"]:
                self.assertEqual(entry["type"], entry["description"])
                for part in [entry, *entry["children"]]:
                    breakdown = part["breakdown"]
                    steps = [name for name in breakdown if not name.endswith("_count")]
                    for step in steps:
                        self.assertEqual(breakdown[step] > 0, breakdown[step + "_count"] > 0, (step, part))
                    inside = sum(child["time_in_nanos"] for child in part.get("children", []))
                    self.assertEqual(part["time_in_nanos"], inside + sum(breakdown[step] for step in steps))
                entries[entry["type"]] = entry
        return entries

    def test_fetching_tells_its_phases(self):
        fox = {"match": {"t": "fox"}}
        for body, phases in [
            ({"query": fox}, ["FetchSourcePhase"]),
            ({"query": fox, "_source": False}, []),
            ({"query": fox, "explain": True}, ["ExplainPhase", "FetchSourcePhase"]),
            ({"query": fox, "docvalue_fields": ["n"]}, ["FetchDocValuesPhase", "FetchSourcePhase"]),
            ({"query": fox, "fields": ["t"], "_source": False}, ["FetchFieldsPhase"]),
            ({"query": fox, "script_fields": {"s": {"script": "1 + 1"}}, "_source": True}, ["ScriptFieldsPhase", "FetchSourcePhase"]),
            ({"query": fox, "fields": ["t"], "docvalue_fields": ["k"]}, ["FetchDocValuesPhase", "FetchSourcePhase", "FetchFieldsPhase"]),
            ({"query": fox, "version": True, "seq_no_primary_term": True},
             ["FetchSourcePhase", "FetchVersionPhase", "SeqNoPrimaryTermPhase"]),
            ({"query": {"match": {"t": {"query": "fox", "_name": "first"}}}}, ["FetchSourcePhase", "MatchedQueriesPhase"]),
            ({"query": fox, "highlight": {"fields": {"t": {}}}}, ["FetchSourcePhase", "HighlightPhase"]),
        ]:
            entries = self.fetched({**body, "size": 7})
            self.assertEqual(list(entries), ["fetch"], body)
            fetch = entries["fetch"]
            self.assertEqual([child["type"] for child in fetch["children"]], phases, body)
            self.assertEqual(fetch["breakdown"]["load_stored_fields_count"], 7)
            for child in fetch["children"]:
                self.assertEqual(child["breakdown"]["process_count"], 7, child)
        self.assertEqual(self.fetched({"size": 0}), {})

    def test_what_is_inside_of_hits_is_fetched_on_its_own_account(self):
        properties = {"o": {"type": "nested", "properties": {"w": {"type": "text"}}}, "g": {"type": "keyword"}}
        self.client.indices.create(index="a2", body={"mappings": {"properties": properties}})
        self.index_all("a2", {str(n): {"g": f"g{n % 2}", "o": [{"w": "one fox"}, {"w": "two"}]} for n in range(4)})
        nested = {"nested": {"path": "o", "query": {"match": {"o.w": "fox"}}, "inner_hits": {"name": "in", "highlight": {"fields": {"o.w": {}}}}}}
        aggs = {"by": {"terms": {"field": "g"}, "aggs": {"best": {"top_hits": {"size": 1, "_source": ["g"]}}}}}

        def entries(body):
            found = self.client.search(index="a2", body={**body, "profile": True})
            self.assertEqual(found["_shards"]["failed"], 0)
            return {entry["type"]: entry for shard in found["profile"]["shards"] for entry in shard["fetches"]}

        inside = entries({"query": nested})["fetch_inner_hits[in]"]
        self.assertEqual(inside["breakdown"]["load_source_count"], 4)
        self.assertEqual(inside["breakdown"]["search_count"], 1)
        self.assertGreater(inside["breakdown"]["search"], 0)
        self.assertEqual([child["type"] for child in inside["children"]], ["FetchSourcePhase", "HighlightPhase"])
        tops = entries({"size": 0, "aggs": aggs})
        self.assertEqual(list(tops), ["fetch_top_hits_aggregation[best]"])
        self.assertEqual(tops["fetch_top_hits_aggregation[best]"]["breakdown"]["load_source_count"], 2)
        groups = entries({"collapse": {"field": "g", "inner_hits": {"name": "more", "size": 2}}})
        self.assertEqual(groups["fetch_inner_hits[more]"]["breakdown"]["search_count"], 2)

    def test_rounds_of_scoring_again_tell_their_steps(self):
        def round_(query, window):
            return {"window_size": window, "query": {"rescore_query": query}}

        body = {"query": {"match": {"t": "fox"}}, "size": 3,
                "rescore": [round_({"match": {"t": "red"}}, 20), round_({"range": {"n": {"gte": 10}}}, 5)]}
        search, _ = self.search(body)
        self.assertEqual([one["window_size"] for one in search["rescore"]], [20, 5])
        for one, kind, hits in zip(search["rescore"], ["MatchQuery", "RangeQuery"], [20, 5]):
            (query,) = one["query"]
            self.check(query)
            self.assertEqual((query["type"], query["breakdown"]["build_scorer_count"]), (kind, hits))
            self.assertGreater(one["time_in_nanos"], query["time_in_nanos"])
        found = lambda body: [(hit["_id"], hit["_score"]) for hit in self.client.search(index="a", body=body)["hits"]["hits"]]
        self.assertEqual(found(body), found({**body, "profile": True}))
        self.assertNotIn("rescore", self.search({"query": {"match_all": {}}})[0])

    def test_a_profile_changes_nothing_of_what_is_found(self):
        for body in [
            {"query": {"match": {"t": "fox red"}}},
            {"query": {"bool": {"must_not": [{"term": {"k": "k1"}}], "should": [{"match": {"t": "red"}}, {"range": {"n": {"gt": 7}}}]}}},
            {"query": {"constant_score": {"filter": {"prefix": {"k": "k"}}}}, "sort": [{"n": "desc"}]},
            {"query": {"function_score": {"query": {"match_phrase": {"t": "fox red"}}, "functions": [{"field_value_factor": {"field": "n"}}]}}},
            {"query": {"query_string": {"query": "t:red AND k:(k1 OR k2) AND NOT n:[90 TO *]"}}},
            {"size": 0, "query": {"terms": {"k": ["k1", "nothing"]}}},
        ]:
            quiet = self.client.search(index="a", body=body)
            told = self.client.search(index="a", body={**body, "profile": True})
            self.assertEqual(told["hits"], quiet["hits"], body)
            self.assertNotIn("profile", quiet)
            for query in told["profile"]["shards"][0]["searches"][0]["query"]:
                self.check(query)

    def test_where_the_time_of_each_shard_and_of_the_request_went(self):
        self.client.indices.create(index="b", body={"settings": {"number_of_shards": 3}})
        reply = self.client.search(index="b", body={"profile": True}, headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
        profile = reply["profile"]
        self.assertEqual(profile["request"].pop("trace_id"), TRACE)
        parts = [profile["request"], *(shard["parts"] for shard in profile["shards"])]
        self.assertEqual(len(parts), 4)
        for one in parts:
            wall = one.pop("wall_nanos")
            self.assertEqual(set(one), {"cpu_nanos", "run_queue_nanos", "queue_nanos", "blocked_nanos"})
            self.assertEqual(sum(one.values()), wall)
            self.assertGreater(one["cpu_nanos"], 0)
