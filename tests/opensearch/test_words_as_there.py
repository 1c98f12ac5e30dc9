"""Words that a real OpenSearch 2.19.0 looks for in fields of other kinds than texts, and fields that it refuses for it."""

from .as_there import AsThere


class WordsAsThere(AsThere):
    def found(self, index, query):
        return sorted(hit["_id"] for hit in self.hits(index, query=query))

    def test_an_input_of_a_completion_is_one_word(self):
        inputs = {"1": "Quick", "2": "quick brown", "3": "fox"}
        fields = {"c": {"type": "completion"}, "k": {"type": "keyword"}}
        self.make("inputs", fields, {id: {"c": text, "k": "z"} for id, text in inputs.items()})
        for query, expected in [
            ({"term": {"c": "quick"}}, ["1"]), ({"term": {"c": "Quick"}}, []), ({"terms": {"c": ["quick", "fox"]}}, ["1", "3"]),
            ({"match": {"c": "QUICK"}}, ["1"]), ({"match": {"c": "Quick Brown"}}, ["2"]), ({"match": {"c": "brown"}}, []),
            ({"match_phrase": {"c": "quick brown"}}, ["2"]), ({"match": {"c": "1"}}, []), ({"match_bool_prefix": {"c": "1"}}, []),
            ({"query_string": {"query": "c:quick"}}, ["1"]), ({"query_string": {"query": "quick"}}, ["1"]),
            ({"simple_query_string": {"query": "quick | fox"}}, ["1", "3"]), ({"multi_match": {"query": "fox"}}, ["3"]),
        ]:
            self.assertEqual(self.found("inputs", query), expected, query)
        # As rare as the word is among the documents that have an input.
        (only,) = self.hits("inputs", query={"match": {"c": "fox"}})
        self.assertAlmostEqual(only["_score"], 0.98082925, places=5)
        refused = "Can only use prefix queries on keyword and text fields - not on [c] which is of type [completion]"
        self.assert_shards_refuse("query_shard_exception", refused, "inputs", query={"match_bool_prefix": {"c": "quick"}})

    def test_what_fields_cannot_be_asked_is_refused(self):
        fields = {"b": {"type": "boolean"}, "ck": {"type": "constant_keyword", "value": "red"}, "t": {"type": "text"}}
        self.make("asked", fields, {"1": {"b": True, "ck": "red", "t": "fox"}})
        refused = "failed to create query: "
        ids, truth = "Ids can't be empty", "Can't parse boolean value [], expected [true] or [false]"
        like = "Can only use fuzzy queries on keyword and text fields - not on [{}] which is of type [{}]"
        for query, reason in [
            ({"range": {"_id": {"gte": "1"}}}, "Field [_id] of type [_id] does not support range queries"),
            ({"ids": {"values": ["1", ""]}}, ids), ({"term": {"_id": ""}}, ids), ({"match": {"_id": ""}}, ids),
            ({"term": {"b": ""}}, truth), ({"terms": {"b": ["true", ""]}}, truth),
            ({"match": {"ck": {"query": "rad", "fuzziness": "AUTO"}}}, like.format("ck", "constant_keyword")),
            ({"match": {"_index": {"query": "asket", "fuzziness": "AUTO"}}}, like.format("_index", "_index")),
        ]:
            self.assert_shards_refuse("query_shard_exception", refused + reason, "asked", query=query)
        lenient = {"match": {"ck": {"query": "rad", "fuzziness": "AUTO", "lenient": True}}}
        self.assertEqual(self.found("asked", lenient), [])
        for part in ("fields", "docvalue_fields"):
            with self.refused(400, "x_content_parse_exception"):
                self.hits("asked", **{part: [{"field": "*", "include_unmapped": True}]})

    def test_queries_to_closed_indexes_are_not_valid_and_patterns_must_mean_one(self):
        self.make("open-1", {"k": {"type": "keyword"}}, {"1": {"k": "a"}})
        self.make("shut-1", {"k": {"type": "keyword"}}, {"1": {"k": "a"}})
        self.client.indices.close(index="shut-1")
        query = {"query": {"term": {"k": "a"}}}
        blocked = "index [shut-1] blocked by: [FORBIDDEN/4/index closed];"
        for index in ("shut-1", "open-1,shut-1"):
            told = self.client.indices.validate_query(index=index, body=query)
            self.assertEqual((told["valid"], told["_shards"]["total"]), (False, 0), index)
            self.assertEqual(told["explanations"], [{"valid": False, "error": blocked}], index)
        for pattern in ("nope*", "shut*"):
            with self.refused(404, "index_not_found_exception"):
                self.client.indices.validate_query(index=pattern, body=query)
        self.assertTrue(self.client.indices.validate_query(index="open*", body=query)["valid"])
        self.assertEqual(self.client.field_caps(index="shut-1", fields="k"), {"indices": [], "fields": {}})
        self.assertEqual(self.client.field_caps(index="open-1,shut-1", fields="k")["indices"], ["open-1"])

    def test_values_of_fields_that_are_no_scores_are_refused(self):
        self.make("valued", {"n": {"type": "integer"}, "f": {"type": "double"}}, {"1": {"n": 2, "f": 0.5}, "2": {"n": 3, "f": 4}})
        scored = lambda **factor: {"function_score": {"field_value_factor": factor, "boost_mode": "replace"}}
        reason = "field value function must not produce negative scores, but got: [{}] for field value: [{}]"
        for query, told in (
            (scored(field="n", factor=-1), reason.format("-2.0", "2.0")),
            (scored(field="f", modifier="log"), reason.format("-0.3010299956639812", "0.5")
             + "; consider using log1p or log2p instead of log to avoid negative scores"),
        ):
            self.assert_shards_refuse("illegal_argument_exception", told, "valued", query=query)
        # Documents that are not found do not matter.
        among = {"function_score": {"query": {"term": {"n": 3}}, "field_value_factor": {"field": "f", "modifier": "ln", "missing": 1}}}
        self.assertEqual(self.found("valued", among), ["2"])

    def test_patterns_of_fields_ask_each_of_them(self):
        self.make("many", {"t": {"type": "text"}, "n1": {"type": "integer"}, "d1": {"type": "date"}}, {"1": {"t": "fox", "n1": 2, "d1": "2020-01-02"}})
        dates = [{"field": "d*", "format": "yyyy"}]
        for part in ("fields", "docvalue_fields"):
            self.assertEqual(self.hits("many", **{part: dates})[0]["fields"], {"d1": ["2020"]})
        self.assertEqual(self.hits("many", fields=["*"])[0]["fields"], {"t": ["fox"], "n1": [2], "d1": ["2020-01-02T00:00:00.000Z"]})
        numbers = "Field [n1] of type [integer] doesn't support formats."
        self.assert_shards_refuse("illegal_argument_exception", numbers, "many", fields=[{"field": "n*", "format": "yyyy"}])
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.hits("many", docvalue_fields=["t*"])
        self.assertIn("Text fields are not optimised", caught.exception.info["error"]["root_cause"][0]["reason"])

    def test_which_indexes_are_meant_is_told_by_name(self):
        for name in ("one-1", "one-2"):
            self.make(name, {"k": {"type": "keyword"}}, {"1": {"k": "a"}})
            self.client.indices.put_alias(index=name, name="both")
        query = {"query": {"term": {"k": "a"}}}
        for index, status, reason in (
            ("both", 400, "alias [both] has more than one index associated with it [one-1, one-2], can't execute a single index op"),
            ("one-1,one-2", 404, "no such index [one-1,one-2]"),
        ):
            with self.refused(status, None, reason):
                self.client.explain(index=index, id="1", body=query)
        for name in ("ignore_unavailable", "allow_no_indices"):
            with self.refused(400, "illegal_argument_exception", f"Could not convert [{name}] to boolean") as caught:
                self.client.count(index="one-1", params={name: "x"})
            cause = caught.exception.info["error"]["caused_by"]
            self.assertEqual(cause["reason"], "Failed to parse value [x] as only [true] or [false] are allowed.")

    def test_documents_are_alike_by_all_their_fields_of_words(self):
        analysis = {"analyzer": {"pairs": {"tokenizer": "standard", "filter": ["lowercase", "shingle"]}}}
        fields = {"t": {"type": "text", "fields": {"pairs": {"type": "text", "analyzer": "pairs"}}},
                  "m": {"type": "match_only_text"}, "typed": {"type": "search_as_you_type"}, "w": {"type": "wildcard"}}
        self.make("alike", fields, {"1": {"t": "quick fox"}, "2": {"t": "quick fox"}, "3": {"t": "fox quick"}}, analysis=analysis)
        like = lambda **rest: {"more_like_this": {"like": [{"_id": "1"}], "min_term_freq": 1, "min_doc_freq": 1, **rest}}
        scores = lambda query: {hit["_id"]: hit["_score"] for hit in self.hits("alike", query=query)}
        self.assertEqual(scores(like()), scores(like(fields=["t", "t.pairs"])))
        self.assertGreater(scores(like())["2"], scores(like(fields=["t"]))["2"])
        for field in ("m", "typed", "w"):
            refused = f"failed to create query: more_like_this only supports text/keyword fields: [{field}]"
            self.assert_shards_refuse("query_shard_exception", refused, "alike", query=like(fields=[field]))
            self.assertEqual(scores(like(fields=["t", field], fail_on_unsupported_field=False)), scores(like(fields=["t"])))
        refused = "failed to create query: Can only use interval queries on text fields - not on [typed] which is of type [search_as_you_type]"
        self.assert_shards_refuse("query_shard_exception", refused, "alike", query={"intervals": {"typed": {"match": {"query": "fox"}}}})

    def test_each_text_of_a_document_takes_a_place_among_completions(self):
        inputs = {"1": (["run a", "run b"], 9), "2": (["run c"], 5), "3": (["run b"], 3), "4": (["run d"], 1)}
        self.make("completed", {"c": {"type": "completion"}}, {id: {"c": {"input": texts, "weight": weight}} for id, (texts, weight) in inputs.items()})

        def completed(size, **rest):
            suggest = {"s": {"prefix": "run", "completion": {"field": "c", "size": size, **rest}}}
            (found,) = self.client.search(index="completed", body={"suggest": suggest})["suggest"]["s"]
            return [(one["_id"], one["text"]) for one in found["options"]]

        self.assertEqual(completed(2), [("1", "run a")])
        self.assertEqual(completed(4), [("1", "run a"), ("2", "run c"), ("3", "run b")])
        self.assertEqual(completed(4, skip_duplicates=True), [("1", "run a"), ("2", "run c"), ("4", "run d")])

    def test_what_does_not_go_together_is_refused_by_shards(self):
        self.make("together", {"n": {"type": "integer"}}, {"1": {"n": 1}})
        rescore = {"query": {"rescore_query": {"match_all": {}}}}
        slice = "`slice` cannot be used outside of a scroll context or PIT context"
        for body, status, kind, reason in (
            ({"sort": ["n"], "rescore": rescore}, 400, "illegal_argument_exception", "Cannot use [sort] option in conjunction with [rescore]."),
            ({"slice": {"id": 0, "max": 2}}, 400, "search_exception", slice),
            ({"highlight": {"fields": {"n": {"type": "nope"}}}}, 400, "illegal_argument_exception", "unknown highlighter type [nope] for the field [n]"),
        ):
            self.assert_shards_refuse(kind, reason, "together", status, **body)
        order = {"top_hits": {"sort": [{"n": {"format": "yyyy"}}]}}
        with self.refused(400, "x_content_parse_exception", "] [field_sort] unknown field [format]"):
            self.hits("together", aggs={"t": order})

    def test_what_ranges_are_told_is_refused_whatever_the_field_holds(self):
        self.make("ranged", {"d": {"type": "date"}, "n": {"type": "integer"}, "r": {"type": "integer_range"}}, {"1": {"n": 1}})
        for field, rest, reason in (
            ("d", {"format": "nope["}, "Invalid format: [nope[]: "), ("n", {"format": "nope["}, "Invalid format: [nope[]: "),
            ("r", {"relation": "nope"}, "nope is not a valid relation"),
            ("r", {"relation": "disjoint"}, "[range] query does not support relation [disjoint]"),
        ):
            with self.refused(400, "illegal_argument_exception", reason):
                self.hits("ranged", query={"range": {field: {"gte": 1, **rest}}})
        self.assertEqual(self.found("ranged", {"range": {"n": {"gte": 1, "format": "yyyy"}}}), ["1"])
