"""What a real OpenSearch 2.19.0 answered to searches: each family once, with the answer that it gave."""

from .as_there import AsThere


class SearchesAsThere(AsThere):
    def assert_scores(self, index, query, expected):
        found = {hit["_id"]: hit["_score"] for hit in self.hits(index, query=query)}
        self.assertEqual(set(found), set(expected), query)
        for id, score in expected.items():
            self.assertAlmostEqual(found[id], score, delta=score * 1e-5, msg=(query, id))

    def test_what_a_text_does_not_keep_is_not_counted(self):
        fields = {"flat": {"type": "text", "norms": False}, "once": {"type": "text", "index_options": "docs"},
                  "often": {"type": "text", "index_options": "freqs", "norms": False}}
        texts = {"1": "fox fox fox", "2": "quick fox", "3": "a quick brown fox jumps over the fox"}
        self.make("kept", fields, {id: dict.fromkeys(fields, text) for id, text in texts.items()})
        flat = {"1": 0.25124985, "2": 0.19484682, "3": 0.23429434}
        self.assert_scores("kept", {"match": {"flat": "fox"}}, flat)
        self.assert_scores("kept", {"match": {"often": "fox"}}, flat)
        self.assert_scores("kept", {"match": {"flat": "quick fox"}}, {"1": 0.25124985, "2": 0.88066846, "3": 0.920116})
        self.assert_scores("kept", {"match_phrase": {"flat": "quick fox"}}, {"2": 0.8806685})
        self.assert_scores("kept", {"multi_match": {"query": "quick fox", "type": "phrase"}}, {"2": 0.8806685})
        self.assertEqual(len(self.hits("kept", query={"match_phrase": {"once": "fox"}})), 3)
        self.assertEqual(len(self.hits("kept", query={"match_phrase_prefix": {"often": "fo"}})), 3)
        refused = "failed to create query: "
        for field in ("once", "often"):
            phrase = f"{refused}field:[{field}] was indexed without position data; cannot run PhraseQuery"
            for kind in ("match_phrase", "match_phrase_prefix"):
                self.assert_shards_refuse("query_shard_exception", phrase, "kept", query={kind: {field: "quick fox"}})
        # Where no field was asked for, what one cannot answer is forgiven.
        for kind in ("query_string", "simple_query_string"):
            found = self.hits("kept", query={kind: {"query": '"quick fox"'}})
            self.assertEqual([hit["_id"] for hit in found], ["2"], kind)
        self.assertEqual(self.hits("kept", query={"query_string": {"query": 'once:"quick fox"'}}), [])

    def test_a_function_that_is_alone_is_no_part_of_a_mean(self):
        self.make("s1", {"n": {"type": "integer"}}, {"1": {"n": 1}})
        alone = {"functions": [{"weight": 2}], "score_mode": "avg"}
        self.assert_scores("s1", {"function_score": alone}, {"1": 2.0})
        alone["functions"][0]["filter"] = {"match_all": {}}
        self.assert_scores("s1", {"function_score": alone}, {"1": 2.0})
        alone["functions"][0]["filter"] = {"term": {"n": 1}}
        self.assert_scores("s1", {"function_score": alone}, {"1": 1.0})

    def test_words_that_weigh_nothing_are_found(self):
        self.make("s1", {"t": {"type": "text", "analyzer": "english"}}, {"1": {"t": "the quick fox"}, "2": {"t": "a quick dog"}})
        match = {"match": {"t": {"query": "quick fox", "operator": "and", "boost": 0}}}
        self.assertEqual([(hit["_id"], hit["_score"]) for hit in self.hits("s1", query=match)], [("1", 0.0)])
        simple = {"query": "| the quick", "default_operator": "and", "fields": ["nonsense", "t"]}
        self.assertEqual(len(self.hits("s1", query={"simple_query_string": simple})), 2)
        simple = {"query": "quick the + the fox", "fields": ["t"]}
        self.assertEqual([hit["_id"] for hit in self.hits("s1", query={"simple_query_string": simple})], ["1"])

    def test_keywords_with_norms_are_as_long_as_they_have_values(self):
        values = [["a"], ["a", "b"], ["a", "b", "c"], ["a", "a", "b", "c", "d"], ["b"], list("cdefghij"), ["a", "a", "a"]]
        fields = {"k": {"type": "keyword", "norms": True}, "p": {"type": "keyword"}}
        self.make("kn", fields, {str(id): {"k": one, "p": one} for id, one in enumerate(values)})
        expected = {"0": 0.5104183, "6": 0.5104183, "1": 0.42711172, "2": 0.3671829, "3": 0.32200217}
        for query in ({"term": {"k": "a"}}, {"match": {"k": "a"}}, {"query_string": {"query": "k:a"}}, {"fuzzy": {"k": "a"}}):
            self.assert_scores("kn", query, expected)
        self.assert_scores("kn", {"term": {"k": "h"}}, {"5": 0.9640703})
        self.assert_scores("kn", {"term": {"p": "a"}}, dict.fromkeys(expected, 0.5104183))
        told = self.client.explain(index="kn", id="3", body={"query": {"term": {"k": "a"}}})["explanation"]
        length = told["details"][0]["details"][2]["details"][3]
        self.assertEqual((length["description"], length["value"]), ("dl, length of field", 4))

    def test_ranges_over_all_fields_pass_over_those_that_have_none(self):
        self.make("s1", {"w": {"type": "wildcard"}, "k": {"type": "keyword"}}, {"1": {"w": "b", "k": "b"}, "2": {"w": "b", "k": "z"}})
        for text in ("[a TO c]", "<c"):
            self.assertEqual([hit["_id"] for hit in self.hits("s1", query={"query_string": {"query": text}})], ["1"], text)
        refused = "failed to create query: Field [w] of type [wildcard] does not support range queries"
        query = {"query_string": {"query": "[a TO c]", "fields": ["w"]}}
        self.assert_shards_refuse("query_shard_exception", refused, "s1", query=query)

    def test_distances_to_several_points_are_all_looked_at(self):
        self.make("s1", {"g": {"type": "geo_point"}}, {"1": {"g": "45,5"}, "2": {"g": "42,2"}, "3": {"g": ["40,0", "50,9"]}})
        by = lambda **rest: {hit["_id"]: hit["sort"][0] for hit in self.hits(
            "s1", sort=[{"_geo_distance": {"g": ["45,5", "41,1"], "unit": "km", **rest}}])}
        for rest, expected in (
            ({"mode": "min"}, {"1": 0, "2": 138.9218, "3": 139.6888}),
            ({"mode": "max"}, {"2": 412.0373, "1": 550.8803, "3": 1177.5640}),
            ({"mode": "avg"}, {"1": 275.4402, "2": 275.4796, "3": 659.8635}),
            ({"mode": "median"}, {"1": 275.4402, "2": 275.4796, "3": 661.1005}),
            ({"mode": "min", "distance_type": "plane"}, {"1": 0, "2": 138.9242, "3": 139.6912}),
        ):
            found = by(**rest)
            self.assertEqual(list(found), list(expected), rest)
            for id, distance in expected.items():
                self.assertAlmostEqual(found[id], distance, delta=0.0002, msg=(rest, id))

    def test_the_nearest_to_one_point_in_metres_are_on_no_plane(self):
        self.make("s1", {"g": {"type": "geo_point"}}, {"1": {"g": "45,5"}, "2": {"g": "22.687,-12.527"}})
        by = lambda **rest: [hit["sort"][0] for hit in self.hits("s1", sort=[{"_geo_distance": {"g": "10,10", **rest}}])]
        for rest in ({}, {"mode": "min"}, {"unit": "m", "order": "asc"}):
            self.assertEqual(by(distance_type="plane", **rest), by(**rest), rest)
        for rest in ({"order": "desc"}, {"unit": "km"}, {"mode": "max"}):
            self.assertNotEqual(by(distance_type="plane", **rest), by(**rest), rest)

    def test_a_name_in_a_body_has_no_order_behind_it(self):
        self.make("s1", {"n": {"type": "integer"}}, {"1": {"n": 1}})
        reason = "No mapping found for [n:desc] in order to sort on"
        self.assert_shards_refuse("query_shard_exception", reason, "s1", sort=["n:desc"])

    def suggested(self, text, **suggester):
        body = {"size": 0, "suggest": {"s": {"text": text, **suggester}}}
        return [entry["options"] for entry in self.client.search(index="s1", body=body)["suggest"]["s"]]

    def test_words_are_as_alike_as_the_distance_says(self):
        self.make("s1", {"t": {"type": "text"}}, {"1": {"t": "quick fox runs"}, "2": {"t": "runner"}})
        for name, expected in (
            ("internal", [("quick", 0.8)]), ("damerau_levenshtein", [("quick", 0.8)]), ("levenshtein", [("quick", 0.6)]),
            ("jaro_winkler", [("quick", 0.9533333)]), ("ngram", [("quick", 0.7)]),
        ):
            options, = self.suggested("quikc", term={"field": "t", "string_distance": name})
            self.assertEqual([option["text"] for option in options], [text for text, _ in expected], name)
            self.assertAlmostEqual(options[0]["score"], expected[0][1], places=5, msg=name)
        options, = self.suggested("runn", term={"field": "t", "string_distance": "jaro_winkler"})
        self.assertEqual([option["text"] for option in options], ["runner", "runs"])

    def test_proposed_texts_are_held_against_the_index(self):
        self.make("s1", {"t": {"type": "text"}}, {"1": {"t": "quick fox runs"}, "2": {"t": "a runner"}})
        words = {"field": "t", "confidence": 0, "max_errors": 2, "size": 4}
        query = {"source": {"match": {"{{f}}": {"query": "{{suggestion}}", "operator": "and"}}}}
        collate = lambda **rest: {"query": query, "params": {"f": "t"}, **rest}
        options, = self.suggested("foxx runn", phrase={**words, "collate": collate()})
        self.assertEqual([option["text"] for option in options], ["fox runs"])
        self.assertNotIn("collate_match", options[0])
        options, = self.suggested("foxx runn", phrase={**words, "collate": collate(prune=True)})
        matches = {option["text"]: option["collate_match"] for option in options}
        self.assertTrue(matches.pop("fox runs"))
        self.assertEqual(set(matches.values()), {False})
        tags = {"pre_tag": "<", "post_tag": ">"}
        options, = self.suggested("foxx runn", phrase={**words, "highlight": tags})
        self.assertIn("<fox runs>", [option["highlighted"] for option in options])
        self.assertIn("<fox> runn", [option["highlighted"] for option in options])

    def test_completions_tell_the_contexts_that_they_were_found_by(self):
        contexts = [{"name": "kind", "type": "category", "path": "k"}, {"name": "place", "type": "geo", "precision": 5, "path": "g"}]
        self.make("s1", {"k": {"type": "keyword"}, "g": {"type": "geo_point"},
                         "c": {"type": "completion", "contexts": contexts}, "plain": {"type": "completion"}}, {
            "1": {"c": {"input": "fox one", "weight": 1}, "k": "red", "g": {"lat": 48.5898, "lon": 5.0312}},
            "2": {"c": {"input": "fox two", "weight": 2}, "k": ["blue", "black"], "g": {"lat": 41.9546, "lon": 4.3305}},
        })

        def found(**contexts):
            options, = self.suggested("fo", completion={"field": "c", "contexts": contexts})
            return [(option["text"], option["_score"], option["contexts"]) for option in options]

        two, one = ("fox two", 2.0, {"kind": ["blue"]}), ("fox one", 1.0, {"kind": ["red"]})
        self.assertEqual(found(kind=["red", "blue"]), [two, one])
        self.assertEqual(found(kind={"context": "bl", "prefix": True})[0][1], 2.0)
        self.assertEqual(set(found(kind={"context": "bl", "prefix": True})[0][2]["kind"]), {"blue", "black"})
        place = {"context": {"lat": 45.1, "lon": 5}}
        self.assertEqual(found(place=place), [])
        self.assertEqual(found(place={**place, "precision": 2, "boost": 3}), [("fox one", 3.0, {"place": ["u0es6"]})])
        self.assertEqual({text for text, _, _ in found(place={**place, "precision": 3, "neighbours": [2]})}, {"fox one", "fox two"})
        both = found(kind="red", place={**place, "precision": 1})
        self.assertEqual(both, [("fox one", 1.0, {"kind": ["red"], "place": ["u0es6"]})])
        for field, reason in (("c", "Unknown context name [nope], must be one of [kind, place]"),
                              ("plain", "suggester [plain] doesn't expect any context")):
            completion = {"field": field, "contexts": {"nope": "x"}}
            self.assert_shards_refuse("illegal_argument_exception", reason, "s1", suggest={"s": {"prefix": "fo", "completion": completion}})

    def test_wildcard_fields_have_no_column_unless_it_is_asked_for(self):
        fields = {"w": {"type": "wildcard"}, "d": {"type": "wildcard", "doc_values": True}}
        self.make("s1", fields, {"1": {"w": "b", "d": "b"}, "2": {"w": "a", "d": "a"}})
        shown = {"w": {"type": "wildcard", "doc_values": False}, "d": fields["d"]}
        self.assertEqual(self.client.indices.get_mapping(index="s1")["s1"]["mappings"]["properties"], shown)
        self.assertEqual(self.ids("s1", sort=["d"]), ["2", "1"])
        reason = ("Can't load fielddata on [w] because fielddata is unsupported on fields of type [wildcard]. "
                  "Use doc values instead.")
        for body in ({"sort": ["w"]}, {"docvalue_fields": ["w"]}):
            self.assert_shards_refuse("illegal_argument_exception", reason, "s1", **body)
        caps = self.client.field_caps(index="s1", fields="*")["fields"]
        self.assertEqual([caps[field]["wildcard"]["aggregatable"] for field in ("w", "d")], [False, True])
        self.assertEqual(self.ids("s1", query={"wildcard": {"w": "*b*"}}), ["1"])
        self.assertEqual(self.ids("s1", query={"exists": {"field": "w"}}, sort=["d"]), ["2", "1"])

    def test_hits_are_ordered_by_changes_and_by_leaves_of_objects(self):
        self.make("s1", {"o": {"type": "flat_object"}, "n": {"type": "integer"}}, {
            "1": {"o": {"p": ["b", "c"], "q": {"r": "x"}}}, "2": {"o": {"p": "a", "q": {"r": "z"}}}, "3": {"n": 1}})
        self.client.index(index="s1", id="1", body={"o": {"p": ["b", "c"], "q": {"r": "x"}}}, refresh=True)
        order = lambda *keys, **rest: [(hit["_id"], hit["sort"]) for hit in self.hits("s1", sort=list(keys), **rest)]
        self.assertEqual(order("_seq_no"), [("2", [1]), ("3", [2]), ("1", [3])])
        self.assertEqual(order({"_seq_no": "desc"}, search_after=[3]), [("3", [2]), ("2", [1])])
        both = {"query": {"ids": {"values": ["1", "2"]}}}
        self.assertEqual(order("o.p", **both), [("2", ["a"]), ("1", ["b"])])
        self.assertEqual(order({"o.p": "desc"}, **both), [("1", ["c"]), ("2", ["a"])])
        self.assertEqual(order({"o.q.r": "desc"}, **both), [("2", ["z"]), ("1", ["x"])])
        self.assertEqual(order("o.q.r", search_after=["x"], **both), [("2", ["z"])])

    def test_frequent_words_and_fields_that_are_named_twice(self):
        texts = {"1": "the quick fox", "2": "the lazy dog", "3": "the quick dog", "4": "a fox"}
        self.make("s1", {"t": {"type": "text"}, "u": {"type": "text"}}, {id: {"t": text, "u": text} for id, text in texts.items()})
        found = lambda **query: {hit["_id"] for hit in self.hits("s1", query=query)}
        cut = lambda text, **rest: {"t": {"query": text, "cutoff_frequency": 2, **rest}}
        self.assertEqual(found(match=cut("the fox")), {"1", "4"})
        self.assertEqual(found(match=cut("the quick dog")), {"1", "2", "3"})
        self.assertEqual(found(match=cut("the quick dog", operator="and")), {"3"})
        self.assertEqual(found(match=cut("the fox", fuzziness=1)), {"1", "2", "3", "4"})
        many = {"query": "the fox", "fields": ["t", "u"], "cutoff_frequency": 2}
        self.assertEqual(found(multi_match=many), {"1", "4"})
        most = lambda *fields: {hit["_id"]: round(hit["_score"], 5) for hit in self.hits("s1", query={
            "multi_match": {"query": "fox", "type": "most_fields", "fields": list(fields)}})}
        self.assertEqual(most("t", "t"), most("t"))
        self.assertEqual(most("t^5", "t^2"), most("t^2"))
        self.assertEqual(most("t^2", "t*^3"), most("t^6"))

    def test_columns_of_nested_objects_are_theirs_alone(self):
        number = {"n": {"type": "integer"}}
        inside = {"type": "nested", "properties": number}
        fields = {**number, "o": {"properties": number}, "ne": {"type": "nested", "properties": {**number, "in": inside}}}
        self.make("s1", fields, {"1": {"n": 1, "o": {"n": 2}, "ne": [{"n": 3, "in": {"n": 4}}]}})
        columns = ["n", "o.n", "ne.n", "ne.in.n"]
        inner = {"name": "deep", "docvalue_fields": columns}
        deep = {"nested": {"path": "ne.in", "query": {"match_all": {}}, "inner_hits": inner}}
        query = {"nested": {"path": "ne", "query": deep, "inner_hits": {"name": "near", "docvalue_fields": columns}}}
        hit, = self.hits("s1", query=query, docvalue_fields=columns)
        self.assertEqual(hit["fields"], {"n": [1], "o.n": [2]})
        near, = hit["inner_hits"]["near"]["hits"]["hits"]
        self.assertEqual(near["fields"], {"ne.n": [3]})
        deepest, = near["inner_hits"]["deep"]["hits"]["hits"]
        self.assertEqual(deepest["fields"], {"ne.in.n": [4]})

    def test_explanations_count_documents_in_whole_numbers(self):
        self.make("s1", {"t": {"type": "text"}}, {"1": {"t": "fox"}, "2": {"t": "dog"}})
        hit, = self.hits("s1", query={"match": {"t": "fox"}}, explain=True)
        idf = hit["_explanation"]["details"][0]["details"][1]
        self.assertEqual([(type(one["value"]), one["value"]) for one in idf["details"]], [(int, 1), (int, 2)])

    def test_synonyms_of_several_words_are_marked_in_a_row(self):
        synonyms = {"syn": {"type": "synonym_graph", "synonyms": ["wifi, wireless network", "tv => television"]}}
        analysis = {"filter": synonyms, "analyzer": {"sy": {"tokenizer": "standard", "filter": ["lowercase", "syn"]}}}
        fields = {"t": {"type": "text"}, "s": {"type": "text", "analyzer": "standard", "search_analyzer": "sy"}}
        self.make("s1", fields, {
            "1": {"s": "a wifi and a wireless mouse"}, "2": {"s": "one wireless network, two network cards"}, "3": {"s": "tv or television"},
        }, analysis=analysis)

        def marked(query):
            hits = self.hits("s1", query=query, sort=["_id"], highlight={"fields": {"s": {}}})
            return [hit["highlight"]["s"] for hit in hits]

        both = [["a <em>wifi</em> and a wireless mouse"], ["one <em>wireless</em> <em>network</em>, two network cards"]]
        self.assertEqual(marked({"match": {"s": "wifi"}}), both)
        self.assertEqual(marked({"match_phrase": {"s": "wireless network"}}), both)
        self.assertEqual(marked({"match": {"s": "tv"}}), [["tv or <em>television</em>"]])

    def test_options_that_change_little(self):
        self.make("s1", {"t": {"type": "text"}, "s": {"type": "scaled_float", "scaling_factor": 100}}, {
            "1": {"t": "quick fox", "s": 5.55}, "2": {"t": "quick quick dog", "s": 1.11}})
        self.assert_scores("s1", {"fuzzy": {"t": {"value": "quik", "rewrite": "constant_score", "boost": 2}}}, {"1": 2.0, "2": 2.0})
        exclude = {"must_not": {"match": {"t": "fox"}}}
        self.assertEqual(self.ids("s1", query={"bool": {**exclude, "adjust_pure_negative": False}}), [])
        self.assertEqual(self.ids("s1", query={"bool": exclude}), ["2"])
        self.assertEqual(self.ids("s1", query={"range": {"s": {"gte": 1.115, "lt": 5.551}}}), ["1"])
        self.assertEqual(self.ids("s1", query={"range": {"s": {"gte": 1.11, "lt": 5.55}}}), ["2"])
        self.assertEqual(sorted(self.ids("s1", query={"range": {"_id": {}}})), ["1", "2"])
        self.assertNotIn("total", self.client.search(index="s1", body={"track_total_hits": -1})["hits"])
        for query in ({"prefix": {"t": {"value": "qu", "rewrite": "nope"}}}, {"fuzzy": {"t": {"value": "quik", "rewrite": "top_terms_"}}}):
            with self.refused(400):
                self.ids("s1", query=query)

    def test_distances_of_words_are_numbers_cut_off(self):
        self.make("s1", {"t": {"type": "text"}}, {"1": {"t": "quick"}, "2": {"t": "quack"}})
        found = lambda **query: {hit["_id"] for hit in self.hits("s1", query=query)}
        for fuzziness, ids in ((3, {"1", "2"}), (1.5, {"1"}), ("0.5", set()), ("AUTO:2,3", {"1", "2"})):
            self.assertEqual(found(fuzzy={"t": {"value": "quik", "fuzziness": fuzziness}}), ids, fuzziness)
        string = lambda text, **rest: {"query": text, "default_field": "t", **rest}
        for text, ids in (("quik~0.8", set()), ("quik~1.9", {"1"}), ("quik~5", {"1", "2"}), ("quik~", {"1"})):
            self.assertEqual(found(query_string=string(text)), ids, text)
        self.assertEqual(found(query_string=string("quick~-1", lenient=True)), set())
        self.index_all("s1", {"3": {"t": "big brown dog"}})
        for slop, ids in (("", set()), ("x", set()), ("2x", set()), ("1", {"3"}), ("1.9", {"3"}), ("99999999999", {"3"})):
            self.assertEqual(found(query_string=string(f'"big dog"~{slop}')), ids, slop)
        refused = "failed to create query: "
        for text, reason in (("quick~-1", "Valid edit distances are [0, 1, 2] but was [-1]"), ("quick~a", 'For input string: "A"')):
            self.assert_shards_refuse("query_shard_exception", refused + reason, "s1", query={"query_string": string(text)})
        for fuzziness, reason in (("AUTO:2,1", "fuzziness wrongly configured"), ("AUTO:1", "failed to find low and high distance values")):
            with self.refused(400, reason=reason):
                found(fuzzy={"t": {"value": "quik", "fuzziness": fuzziness}})

    def test_signs_before_white_space_are_words(self):
        self.make("s1", {"t": {"type": "text"}}, {"1": {"t": "quick fox"}, "2": {"t": "lazy dog"}})
        found = lambda text, **rest: self.ids("s1", query={"query_string": {"query": text, "default_field": "t", **rest}})
        for text in ("- quick", "+ quick", "! quick", "-- quick", "- - quick", "quick - fox", "quick AND - fox"):
            for operator in ("OR", "AND"):
                self.assertEqual(found(text, default_operator=operator), ["1"], (text, operator))
        self.assertEqual(found("-quick"), ["2"])
        for text in ("quick -", "!", "quick !"):
            query = {"query_string": {"query": text, "default_field": "t"}}
            self.assert_shards_refuse("query_shard_exception", f"Failed to parse query [{text}]", "s1", query=query)

    def test_boosts_of_completions_are_added_and_stand_for_weights_of_nothing(self):
        contexts = [{"name": "k", "type": "category"}]
        self.make("s1", {"p": {"type": "completion"}, "c": {"type": "completion", "contexts": contexts}}, {
            id: {"p": {"input": "foxtrot", "weight": weight}, "c": {"input": "foxtrot", "weight": weight, "contexts": {"k": "a"}}}
            for id, weight in (("1", 0), ("2", 3))})
        boosted = {"k": {"context": "a", "boost": 4}}
        for prefix, completion, expected in (
            ("fox", {"field": "p"}, [3, 0]), ("foxx", {"field": "p", "fuzzy": {}}, [9, 3]),
            ("fox", {"field": "c", "contexts": {"k": "a"}}, [3, 1]), ("fox", {"field": "c", "contexts": boosted}, [12, 4]),
            ("foxx", {"field": "c", "fuzzy": {}, "contexts": boosted}, [21, 7]),
        ):
            options, = self.suggested(prefix, completion=completion)
            self.assertEqual([option["_score"] for option in options], expected, (prefix, completion))

    def test_words_of_patterns_score_as_is_asked_for(self):
        self.make("s1", {"t": {"type": "text"}, "mt": {"type": "match_only_text"}}, {str(at): dict.fromkeys(("t", "mt"), text) for at, text in enumerate((
            "quick brown fox", "quick quick fox", "the lazy dog the dog the end", "quick brown quick brown quick brown fox jumps over lazy dogs",
            "a", "quickly browning foxes", "brown brown brown brown brown brown brown brown fox", "quiet Quilt quick",
            "one two three four five six seven eight nine ten", "fox"))})
        for query, expected in (
            ({"prefix": {"t": {"value": "qu", "rewrite": "scoring_boolean", "boost": 2}}}, {"7": 11.733927, "5": 4.792083, "1": 2.779941, "3": 2.2510967, "0": 2.1497614}),
            ({"fuzzy": {"t": {"value": "quik", "rewrite": "scoring_boolean"}}}, {"1": 1.0424778, "3": 0.8441614, "0": 0.80616057, "7": 0.80616057}),
            ({"match": {"t": {"query": "quikc", "fuzziness": 2, "fuzzy_rewrite": "scoring_boolean"}}}, {"7": 3.7351544, "1": 1.1119764, "3": 0.9004388, "0": 0.8599046}),
            ({"prefix": {"mt": {"value": "qu", "rewrite": "scoring_boolean", "boost": 2}}}, {"7": 13.849152, "5": 5.655931, "0": 2.5372896, "1": 2.5372896, "3": 2.5372896}),
            ({"fuzzy": {"mt": {"value": "quik", "rewrite": "scoring_boolean"}}}, {"0": 0.9514836, "1": 0.9514836, "7": 0.9514836, "3": 0.9514836}),
            ({"match": {"mt": {"query": "quikc", "fuzziness": 2, "fuzzy_rewrite": "scoring_boolean"}}}, {"7": 4.4084744, "0": 1.014916, "1": 1.014916, "3": 1.014916}),
            ({"prefix": {"t": {"value": "qu", "rewrite": "top_terms_2", "boost": 2}}}, {"5": 4.792083, "1": 2.779941, "3": 2.2510967, "0": 2.1497614, "7": 2.1497614}),
            ({"fuzzy": {"t": {"value": "quik", "rewrite": "top_terms_2"}}}, {"1": 1.0424778, "3": 0.8441614, "0": 0.80616057, "7": 0.80616057}),
            ({"match": {"t": {"query": "quikc", "fuzziness": 2, "fuzzy_rewrite": "top_terms_2"}}}, {"7": 2.2975295, "1": 1.1119764, "3": 0.9004388, "0": 0.8599046}),
            ({"prefix": {"mt": {"value": "qu", "rewrite": "top_terms_2", "boost": 2}}}, {"5": 5.655931, "0": 2.5372896, "1": 2.5372896, "7": 2.5372896, "3": 2.5372896}),
            ({"fuzzy": {"mt": {"value": "quik", "rewrite": "top_terms_2"}}}, {"0": 0.9514836, "1": 0.9514836, "7": 0.9514836, "3": 0.9514836}),
            ({"match": {"mt": {"query": "quikc", "fuzziness": 2, "fuzzy_rewrite": "top_terms_2"}}}, {"7": 2.7116952, "0": 1.014916, "1": 1.014916, "3": 1.014916}),
            ({"prefix": {"t": {"value": "qu", "rewrite": "top_terms_boost_2", "boost": 2}}}, {"0": 2.0, "1": 2.0, "7": 2.0, "3": 2.0, "5": 2.0}),
            ({"fuzzy": {"t": {"value": "quik", "rewrite": "top_terms_boost_2"}}}, {"0": 0.75, "1": 0.75, "7": 0.75, "3": 0.75}),
            ({"match": {"t": {"query": "quikc", "fuzziness": 2, "fuzzy_rewrite": "top_terms_boost_2"}}}, {"7": 1.4000001, "0": 0.8, "1": 0.8, "3": 0.8}),
            ({"prefix": {"t": {"value": "qu", "rewrite": "top_terms_blended_freqs_2", "boost": 2}}}, {"1": 2.779941, "3": 2.2510967, "0": 2.1497614, "7": 2.1497614, "5": 2.1497614}),
            ({"fuzzy": {"t": {"value": "quik", "rewrite": "top_terms_blended_freqs_2"}}}, {"1": 1.0424778, "3": 0.8441614, "0": 0.80616057, "7": 0.80616057}),
            ({"match": {"t": {"query": "quikc", "fuzziness": 2, "fuzzy_rewrite": "top_terms_blended_freqs_2"}}}, {"7": 1.504833, "1": 1.1119764, "3": 0.9004388, "0": 0.8599046}),
            ({"prefix": {"mt": {"value": "qu", "rewrite": "top_terms_blended_freqs_2", "boost": 2}}}, {"0": 2.5372896, "1": 2.5372896, "7": 2.5372896, "3": 2.5372896, "5": 2.5372896}),
            ({"fuzzy": {"mt": {"value": "quik", "rewrite": "top_terms_blended_freqs_2"}}}, {"0": 0.9514836, "1": 0.9514836, "7": 0.9514836, "3": 0.9514836}),
            ({"match": {"mt": {"query": "quikc", "fuzziness": 2, "fuzzy_rewrite": "top_terms_blended_freqs_2"}}}, {"7": 1.7761029, "0": 1.014916, "1": 1.014916, "3": 1.014916}),
            ({"prefix": {"t": {"value": "qu", "rewrite": "top_terms_1", "boost": 2}}}, {"1": 2.779941, "3": 2.2510967, "0": 2.1497614, "7": 2.1497614}),
            ({"fuzzy": {"t": {"value": "quik", "rewrite": "top_terms_1"}}}, {"1": 1.0424778, "3": 0.8441614, "0": 0.80616057, "7": 0.80616057}),
            ({"match": {"t": {"query": "quikc", "fuzziness": 2, "fuzzy_rewrite": "top_terms_1"}}}, {"1": 1.1119764, "3": 0.9004388, "0": 0.8599046, "7": 0.8599046}),
            ({"prefix": {"mt": {"value": "qu", "rewrite": "top_terms_1", "boost": 2}}}, {"0": 2.5372896, "1": 2.5372896, "7": 2.5372896, "3": 2.5372896}),
            ({"fuzzy": {"mt": {"value": "quik", "rewrite": "top_terms_1"}}}, {"0": 0.9514836, "1": 0.9514836, "7": 0.9514836, "3": 0.9514836}),
            ({"match": {"mt": {"query": "quikc", "fuzziness": 2, "fuzzy_rewrite": "top_terms_1"}}}, {"0": 1.014916, "1": 1.014916, "7": 1.014916, "3": 1.014916}),
            ({"query_string": {"query": "quik~ b*", "fields": ["t"], "rewrite": "top_terms_1"}}, {"3": 2.2861798, "0": 2.183265, "6": 2.038213, "1": 1.0424778, "7": 0.80616057}),
            ({"fuzzy": {"mt": "quik"}}, {"0": 0.9514836, "1": 0.9514836, "7": 0.9514836, "3": 0.9514836}),
        ):
            self.assert_scores("s1", query, expected)
        refused = "failed to create query: Failed to parse rewrite_method [nope]"
        for query in ({"prefix": {"t": {"value": "qu", "rewrite": "nope"}}}, {"span_multi": {"match": {"prefix": {"t": {"value": "qu", "rewrite": "nope"}}}}}):
            self.assert_shards_refuse("query_shard_exception", refused, "s1", query={"bool": {"must": query}})
        wanted = {"match": {"t": {"query": "quick fox", "minimum_should_match": "x"}}}
        self.assert_shards_refuse("query_shard_exception", 'failed to create query: For input string: "x"', "s1", query=wanted)

    def test_words_taken_for_another_fields_are_their_own_where_they_are_alone(self):
        text = {"type": "text", "fields": {"en": {"type": "text", "analyzer": "english"}}}
        self.make("s1", {"t": text}, {"1": {"t": "quick foxes"}, "2": {"t": "a fox"}, "3": {"t": "the dog the dog"}})
        masked = lambda word: {"field_masking_span": {"query": {"span_term": {"t.en": word}}, "field": "t"}}
        own = {hit["_id"]: hit["_score"] for hit in self.hits("s1", query={"span_term": {"t.en": "fox"}})}
        self.assertEqual(set(own), {"1", "2"})
        self.assert_scores("s1", masked("fox"), own)
        near = {"span_near": {"clauses": [{"span_term": {"t": "quick"}}, masked("fox")], "slop": 0, "in_order": True}}
        self.assertEqual(self.ids("s1", query=near), ["1"])

    def test_fields_that_are_searched_by_another_analyzer_are_not_one_with_others(self):
        fields = {"a": {"type": "text"}, "b": {"type": "text"}, "ss": {"type": "text", "analyzer": "english", "search_analyzer": "standard"}}
        self.make("s1", fields, {"1": {"a": "fox", "b": "dog", "ss": "dog"}, "2": {"a": "cat", "b": "cat", "ss": "fox"}})
        found = lambda *fields, **rest: self.ids("s1", query={"multi_match": {
            "query": "fox dog", "type": "cross_fields", "operator": "and", "fields": fields, **rest}})
        self.assertEqual(found("a", "b"), ["1"])
        self.assertEqual(found("a", "ss"), [])
        self.assertEqual(found("a", "ss", analyzer="standard"), ["1"])

    def test_spans_need_places_of_the_words_that_are_there(self):
        self.make("s1", {"d": {"type": "text", "index_options": "docs"}, "mt": {"type": "match_only_text"}}, {"1": {"d": "quick fox", "mt": "quick fox"}})
        for query in ({"span_term": {"d": "fox"}}, {"span_multi": {"match": {"prefix": {"d": "fo"}}}}, {"span_not": {"include": {"span_term": {"d": "fox"}}, "exclude": {"span_term": {"d": "dog"}}}}):
            reason = 'field "d" was indexed without position data; cannot run SpanTermQuery (term=fox)'
            self.assert_shards_refuse("illegal_state_exception", reason, "s1", status=500, query=query)
        self.assertEqual(self.ids("s1", query={"span_term": {"d": "dog"}}), [])
        for field in ("d", "mt"):
            reason = f"failed to create query: Cannot create intervals over field [{field}] with no positions indexed"
            self.assert_shards_refuse("query_shard_exception", reason, "s1", query={"intervals": {field: {"match": {"query": "fox"}}}})

    def test_pieces_around_phrases_need_vectors_of_the_words(self):
        fields = {"t": {"type": "text"}, "v": {"type": "text", "term_vector": "with_positions_offsets"}}
        self.make("s1", fields, {"1": {"t": "a quick fox", "v": "a quick fox", "k": 1}})
        highlight = lambda field: {"type": "fvh", "require_field_match": False, "fields": {field: {}}}
        query = {"match": {"v": "fox"}}
        for field in ("t", "k"):
            reason = (f"the field [{field}] should be indexed with term vector with position offsets to be used with fast "
                      "vector highlighter")
            self.assert_shards_refuse("illegal_argument_exception", reason, "s1", query=query, highlight=highlight(field))
        for field, shown in (("v", {"v": ["a quick <em>fox</em>"]}), ("*", {"v": ["a quick <em>fox</em>"]}), ("nope", None)):
            hit, = self.hits("s1", query=query, highlight=highlight(field))
            self.assertEqual(hit.get("highlight"), shown, field)

    def test_words_of_a_range_are_marked(self):
        self.make("s1", {"t": {"type": "text"}, "n": {"type": "integer"}}, {"1": {"t": "the lazy dog, the end", "n": 5}})
        for bounds, shown in (({"gte": "d", "lt": "g"}, "the lazy <em>dog</em>, the <em>end</em>"), ({"gt": "dog", "lte": "end"}, "the lazy dog, the <em>end</em>"),
                              ({"lt": "dog"}, None), ({"gte": "lazy"}, "<em>the</em> <em>lazy</em> dog, <em>the</em> end")):
            query = {"bool": {"should": [{"range": {"t": bounds}}, {"range": {"n": {"gte": 1}}}]}}
            for kind in ("unified", "plain"):
                hit, = self.hits("s1", query=query, highlight={"type": kind, "fields": {"t": {}}})
                self.assertEqual(hit.get("highlight", {}).get("t"), shown and [shown], (bounds, kind))

    def test_explanations_tell_of_the_document_what_is_asked_for(self):
        fields = {"t": {"type": "text"}, "st": {"type": "keyword", "store": True}}
        self.client.indices.create(index="s1", body={"mappings": {"properties": fields}})
        self.client.index(index="s1", id="1", routing="r", refresh=True, body={"t": "fox", "st": "s1", "n": 4})
        explain = lambda **params: self.client.explain(index="s1", id="1", routing="r", body={"query": {"match": {"t": "fox"}}}, params=params)
        told = {"_seq_no": 0, "_primary_term": 1, "_routing": "r", "found": True}
        self.assertEqual(explain(_source="n", stored_fields="st")["get"], {**told, "_source": {"n": 4}, "fields": {"st": ["s1"]}})
        self.assertEqual(explain(_source="n")["get"], {**told, "_source": {"n": 4}})
        self.assertNotIn("get", explain())

    def test_curves_that_lead_nowhere_are_refused_by_shards(self):
        self.make("s1", {"n": {"type": "integer"}}, {"1": {"n": 1}})
        for curve, reason in (({"scale": 0}, "scale must be > 0.0."), ({"scale": 1, "offset": -1}, "offset must be > 0.0"),
                              ({"scale": 1, "decay": 2}, "decay must be in the range [0..1].")):
            query = {"function_score": {"gauss": {"n": {"origin": 1, **curve}}}}
            self.assert_shards_refuse("query_shard_exception", f"failed to create query: function_score : {reason}", "s1", query=query)

    def test_words_are_weighed_over_all_shards_where_that_is_asked_for(self):
        texts = ["sea", "the sea", "wind", "sea and wind and sea", "old", "the old sailor", "sea wind", "blue"]
        for shards in (1, 3):
            self.make(f"w{shards}", {"t": {"type": "text"}}, {str(id): {"t": text} for id, text in enumerate(texts)}, number_of_shards=shards)
        query = {"query": {"match": {"t": "sea wind"}}}
        scores = lambda answer: {hit["_id"]: round(hit["_score"], 5) for hit in answer["hits"]["hits"]}
        alone = scores(self.client.search(index="w1", body=query))
        self.assertEqual(len(alone), 5)
        self.assertEqual(scores(self.client.search(index="w3", body=query, search_type="dfs_query_then_fetch")), alone)
        lines = [{"index": "w3", "search_type": "dfs_query_then_fetch"}, query, {"index": "w3"}, query]
        together, each = map(scores, self.client.msearch(body=lines)["responses"])
        self.assertEqual(together, alone)
        # Else each shard has its own figures.
        self.assertNotEqual(each, alone)

    def test_chance_is_drawn_by_seed_shard_and_value(self):
        fields = {"id": {"type": "integer"}, "tags": {"type": "keyword"}, "price": {"type": "float"}, "rating": {"type": "double"}, "made": {"type": "date"},
                  "nano": {"type": "date_nanos"}, "on": {"type": "boolean"}, "ip": {"type": "ip"}, "loc": {"type": "geo_point"}, "text": {"type": "text"}}
        self.make("n-3", fields, {
            "32": {"id": 32, "tags": ["d", "c", "a"], "price": 96.86, "rating": 0.12, "made": "2023-09-05T08:30:00Z", "nano": "2023-01-01T00:00:00.000032032Z",
                   "on": False, "loc": {"lat": 35.432, "lon": 90.915}},
            "43": {"id": 43, "tags": ["a", "c"], "price": 89.74, "rating": 0.04, "made": "2023-08-16T19:30:00Z", "nano": "2023-01-01T00:00:00.000043043Z",
                   "on": False, "ip": "192.168.1.43", "loc": {"lat": 58.686, "lon": -100.809}},
            "15": {"id": 15, "tags": "b", "rating": 1.61, "made": "2023-04-16T15:30:00Z", "nano": "2023-01-01T00:00:00.000015015Z",
                   "on": True, "ip": "192.168.0.15", "loc": {"lat": -23.227, "lon": -123.308}},
        }, number_of_shards=3)
        for field, drawn, by_script in (
            ("id", {"32": 0.9979789, "43": 0.96983844, "15": 0.9693197}, True),
            ("_id", {"32": 0.9979789, "43": 0.96983844, "15": 0.9693197}, True),
            ("tags", {"32": 0.6489234, "43": 0.6095867, "15": 0.037905574}, True),
            ("price", {"15": 0.9968692, "32": 0.90910256, "43": 0.0675621}, None),
            ("rating", {"43": 0.8842297, "15": 0.29027843, "32": 0.17822331}, True),
            ("made", {"43": 0.9258522, "15": 0.4785717, "32": 0.30700862}, {"15": 0.64719546, "43": 0.5672361, "32": 0.27035612}),
            ("nano", {"43": 0.86591774, "32": 0.24692172, "15": 0.18606186}, None),
            ("on", {"32": 0.47787023, "15": 0.1881938, "43": 0.013518989}, {"32": 0.9869975, "43": 0.6187506, "15": 0.009314656}),
            ("ip", {"43": 0.78952044, "32": 0.54391015, "15": 0.052315354}, None),
            ("loc", {"15": 0.83869445, "43": 0.67243373, "32": 0.0026727915}, True),
        ):
            self.assert_scores("n-3", {"function_score": {"random_score": {"seed": 11, "field": field}}}, drawn)
            if by_script is not None:
                script = {"source": f"randomScore(11, '{field}')"}
                scored = {"script_score": {"query": {"match_all": {}}, "script": script}}
                self.assert_scores("n-3", scored, drawn if by_script is True else by_script)
        # Without a field the id decides; texts are seeds by their hash, and of long numbers 32 bits count.
        query = lambda seed: {"function_score": {"random_score": {"seed": seed}}}
        for seed, same in (("abc", 96354), (2 ** 32 + 5, 4), (-9999999999, 1410065404)):
            found = [{hit["_id"]: hit["_score"] for hit in self.hits("n-3", query=query(one))} for one in (seed, same)]
            self.assertEqual(*found, seed)
        by_id = {"function_score": {"random_score": {"seed": 7, "field": "_id"}}}
        self.assertEqual([(hit["_id"], hit["_score"]) for hit in self.hits("n-3", query=query(7))],
                         [(hit["_id"], hit["_score"]) for hit in self.hits("n-3", query=by_id)])
        for field in ("text", "none"):
            with self.refused(400):
                self.hits("n-3", query={"function_score": {"random_score": {"seed": 7, "field": field}}})
