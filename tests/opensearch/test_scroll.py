"""Searches over several requests: scrolls, points in time, slices; and what hits show on request."""

import math

from .base import ClewTest

DOCUMENTS = {str(number): {"n": number, "text": f"fox {number}"} for number in range(25)}


class ScrollTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="s", body={"settings": {"number_of_shards": 3}})
        self.index_all("s", DOCUMENTS)

    def pages(self, **search):
        """The ids of each page of a scroll."""
        reply = self.client.search(index="s", scroll="1m", **search)
        found = []
        while reply["hits"]["hits"]:
            self.assertEqual(reply["hits"]["total"]["value"], 25)
            found.append([hit["_id"] for hit in reply["hits"]["hits"]])
            reply = self.client.scroll(body={"scroll_id": reply["_scroll_id"], "scroll": "1m"})
        self.client.clear_scroll(scroll_id=reply["_scroll_id"])
        return found

    def test_pages_have_every_document_once_in_order(self):
        for body in (
            {"size": 7, "sort": [{"n": "desc"}]},
            {"size": 7, "sort": ["_doc"]},
            {"size": 7, "query": {"match": {"text": "fox"}}},
        ):
            pages = self.pages(body=body)
            self.assertEqual([len(page) for page in pages], [7, 7, 7, 4], body)
            self.assertEqual(len({found for page in pages for found in page}), 25, body)
        first = self.pages(body={"size": 7, "sort": [{"n": "desc"}]})[0]
        self.assertEqual(first, ["24", "23", "22", "21", "20", "19", "18"])

    def test_a_scroll_does_not_see_what_comes_later(self):
        reply = self.client.search(index="s", scroll="1m", body={"size": 20, "sort": [{"n": "asc"}]})
        self.client.delete(index="s", id="24", refresh=True)
        self.index_all("s", {"99": {"n": 99}})
        reply = self.client.scroll(scroll_id=reply["_scroll_id"])
        self.assertEqual([hit["_id"] for hit in reply["hits"]["hits"]], ["20", "21", "22", "23", "24"])
        freed = self.client.clear_scroll(scroll_id=reply["_scroll_id"])
        self.assertEqual(freed, {"succeeded": True, "num_freed": 1})
        with self.refused(404, "search_context_missing_exception"):
            self.client.scroll(scroll_id=reply["_scroll_id"])

    def test_a_deleted_or_closed_index_ends_what_reads_it_alone(self):
        for end in (self.client.indices.delete, self.client.indices.close):
            with self.subTest(end=end.__name__):
                self.index_all("gone", DOCUMENTS)
                scroll = self.client.search(index="gone", scroll="1m", body={"size": 5})["_scroll_id"]
                both = self.client.search(index="gone,s", scroll="1m", body={"size": 20, "sort": ["_doc"]})
                pits = [self.client.create_pit(index=names, params={"keep_alive": "1m"})["pit_id"] for names in ("gone", "gone,s")]
                end(index="gone")
                listed = lambda: {pit["pit_id"] for pit in self.raw("GET", "/_search/point_in_time/_all")["pits"]}
                self.until(listed, {pits[1]})
                with self.refused(404, "search_context_missing_exception"):
                    self.client.scroll(scroll_id=scroll)
                with self.refused(404, "search_context_missing_exception"):
                    self.client.search(body={"pit": {"id": pits[0]}})
                # What was begun over others too has all that it had.
                found = self.client.search(body={"pit": {"id": pits[1]}, "size": 100})
                self.assertEqual(found["hits"]["total"]["value"], 50)
                rest = []
                while both["hits"]["hits"]:
                    rest += [hit["_id"] for hit in both["hits"]["hits"]]
                    both = self.client.scroll(scroll_id=both["_scroll_id"], scroll="1m")
                self.assertEqual(sorted(rest), sorted([*DOCUMENTS, *DOCUMENTS]))
                self.client.clear_scroll(scroll_id=both["_scroll_id"])
                self.raw("DELETE", "/_search/point_in_time/_all")
                self.client.indices.delete(index="gone", ignore_unavailable=True)

    def test_parts_are_disjoint_and_complete(self):
        found = []
        for part in range(3):
            body = {"size": 30, "slice": {"id": part, "max": 3}}
            reply = self.client.search(index="s", scroll="1m", body=body)
            found += [hit["_id"] for hit in reply["hits"]["hits"]]
            self.client.clear_scroll(scroll_id=reply["_scroll_id"])
        self.assertEqual(sorted(found), sorted(DOCUMENTS))

    def test_what_makes_no_sense_in_a_scroll_is_refused(self):
        with self.refused(400, "action_request_validation_exception", "[size] cannot be [0]"):
            self.client.search(index="s", scroll="1m", body={"size": 0})
        with self.refused(400, "illegal_argument_exception", "Keep alive for request (2d)"):
            self.client.search(index="s", scroll="48h")
        with self.refused(400, "illegal_argument_exception", "Cannot parse scroll id"):
            self.client.scroll(scroll_id="nonsense")

    def test_how_long_and_in_how_many_parts_is_for_settings_to_say(self):
        def scroll(**search):
            return self.client.search(index="s", **{"scroll": "1m", **search})["_scroll_id"]

        self.client.cluster.put_settings(body={"transient": {"search.max_keep_alive": "1m"}})
        reason = "Keep alive for request (2m) is too large. It must be less than (1m)."
        with self.refused(400, reason=reason):
            scroll(scroll="2m")
        kept = scroll()
        with self.refused(400, reason="Keep alive for request (3m)"):
            self.client.scroll(scroll_id=kept, scroll="3m")
        pit = self.client.create_pit(index="s", params={"keep_alive": "2m"})["pit_id"]
        self.client.delete_pit(body={"pit_id": [pit]})
        with self.refused(400, "illegal_argument_exception"):
            self.client.cluster.put_settings(body={"transient": {"search.max_keep_alive": "long"}})
        self.client.cluster.put_settings(body={"transient": {"search.max_keep_alive": None}})
        scroll(scroll="2m")
        parts = {"slice": {"id": 0, "max": 1025}}
        with self.refused(400, "search_phase_execution_exception") as caught:
            scroll(body=parts)
        self.assertIn("[index.max_slices_per_scroll]", str(caught.exception.info))
        self.client.indices.put_settings(index="s", body={"index.max_slices_per_scroll": 1025})
        scroll(body=parts)

    def test_so_many_columns_and_scripts_as_an_index_allows(self):
        settings = {"index.max_docvalue_fields_search": 2, "index.max_script_fields": 1}
        self.client.indices.put_settings(index="s", body=settings)
        script = {"script": {"source": "1"}}
        for body, reason in (
            ({"docvalue_fields": ["a", "b", "c"]}, "[2] but was [3]"),
            ({"docvalue_fields": ["*", "a"]}, "[2] but was [3]"),
            ({"script_fields": {"a": script, "b": script}}, "[1] but was [2]"),
        ):
            with self.refused(400, "search_phase_execution_exception") as caught:
                self.client.search(index="s", body=body)
            self.assertIn(reason, caught.exception.info["error"]["root_cause"][0]["reason"])
        self.client.search(index="s", body={"docvalue_fields": ["n", "a"]})

    def test_a_point_in_time_stays_as_it_was(self):
        pit = self.client.create_pit(index="s", params={"keep_alive": "1m"})["pit_id"]
        self.index_all("s", {"99": {"n": 99}})
        body = {"size": 0, "pit": {"id": pit}, "track_total_hits": True}
        reply = self.client.search(body=body)
        self.assertEqual((reply["pit_id"], reply["hits"]["total"]["value"]), (pit, 25))
        self.assertEqual(self.client.count(index="s")["count"], 26)
        after = {"size": 3, "pit": {"id": pit}, "sort": [{"n": "asc"}], "search_after": [21]}
        hits = self.client.search(body=after)["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits], ["22", "23", "24"])
        gone = self.client.delete_pit(body={"pit_id": [pit]})
        self.assertEqual(gone["pits"], [{"pit_id": pit, "successful": True}])
        with self.refused(404, "search_context_missing_exception"):
            self.client.search(body=body)

    def test_the_segments_of_points_in_time_are_listed(self):
        def rows(path, body=None, **params):
            return self.raw("GET", f"/_cat/{path}", body=body, params={"format": "json", **params})

        def refused(reason, body):
            with self.refused(400, reason=reason):
                rows("pit_segments", body)

        first = self.client.create_pit(index="s", params={"keep_alive": "1m"})["pit_id"]
        kept = rows("pit_segments", {"pit_id": first})
        self.assertEqual(kept, rows("segments/s"))
        self.index_all("s", {"99": {"n": 99}})
        self.assertEqual(rows("pit_segments", {"pit_id": [first]}), kept)
        second = self.client.create_pit(index="s", params={"keep_alive": "1m"})["pit_id"]
        both = rows("pit_segments", {"pit_id": [first, second]})
        self.assertGreater(len(both), len(kept))
        self.assertEqual(rows("pit_segments/_all"), both)
        shards = [row["shard"] for row in both]
        self.assertEqual(shards, sorted(shards))
        self.assertIn("docs.count", self.raw("GET", "/_cat/pit_segments?help"))
        refused("no pit ids specified", None)
        refused("no pit ids specified", {"pit_id": []})
        refused("invalid id: [bad]", {"pit_id": "bad"})
        refused("invalid id: [7]", {"pit_id": [7]})
        refused("pit_id array element should only contain PIT identifier", {"pit_id": [{}]})
        refused("Unknown parameter [pit] in request body or parameter is of the wrong type[START_ARRAY] ", {"pit": ["x"]})
        refused("Malformed content, must start with an object", [1])
        self.client.transport.perform_request("DELETE", "/_search/point_in_time/_all")
        self.assertEqual(rows("pit_segments", {"pit_id": first}), [])
        self.assertEqual(rows("pit_segments/_all"), [])

    def test_a_search_may_end_early(self):
        reply = self.client.search(index="s", body={"terminate_after": 2, "size": 20})
        self.assertTrue(reply["terminated_early"])
        self.assertLessEqual(len(reply["hits"]["hits"]), 6)


class ShownTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.index_all(
            "h",
            {
                "1": {"title": "The quick brown fox. It jumps over a dog.", "n": [1, 9]},
                "2": {"title": "A slow fox and a fox", "n": [4]},
            },
        )

    def test_words_are_highlighted(self):
        body = {
            "query": {"match": {"title": "quick fox"}},
            "highlight": {"pre_tags": ["<b>"], "post_tags": ["</b>"], "fields": {"title": {}}},
        }
        hits = self.client.search(index="h", body=body)["hits"]["hits"]
        shown = {hit["_id"]: hit["highlight"]["title"] for hit in hits}
        self.assertEqual(shown["1"], ["The <b>quick</b> brown <b>fox</b>. It jumps over a dog."])
        self.assertEqual(shown["2"], ["A slow <b>fox</b> and a <b>fox</b>"])

    def test_scores_are_explained(self):
        query = {"query": {"match": {"title": "quick fox"}}}
        hits = self.client.search(index="h", body={**query, "explain": True})["hits"]["hits"]
        for hit in hits:
            self.assertAlmostEqual(hit["_explanation"]["value"], hit["_score"], places=6)
        one = self.client.explain(index="h", id="1", body=query)
        self.assertTrue(one["matched"])
        self.assertEqual(len(one["explanation"]["details"]), 2)
        # Tools take these words apart.
        term = one["explanation"]["details"][0]
        self.assertRegex(term["description"], r"^weight\(title:quick in \d+\) \[PerFieldSimilarity\], result of:$")
        (score,) = term["details"]
        self.assertEqual(score["description"], "score(freq=1.0), computed as boost * idf * tf from:")
        self.assertEqual([figure["description"].split(",")[0] for figure in score["details"]], ["boost", "idf", "tf"])
        self.assertEqual(score["details"][0]["value"], 2.2)
        # What stands in a search box is explained by what it reads as.
        boxed = self.client.explain(index="h", id="1", params={"q": "title:quick"})["explanation"]
        self.assertEqual((boxed["description"], boxed["details"]), (term["description"], term["details"]))
        both = {"query": {"query_string": {"query": "quick fox", "fields": ["title"], "lenient": True}}}
        self.assertEqual(len(self.client.explain(index="h", id="1", body=both)["explanation"]["details"]), 2)
        many = {"query": {"multi_match": {"query": "quick", "fields": ["title", "none"], "tie_breaker": 0.5}}}
        best = self.client.explain(index="h", id="1", body=many)["explanation"]
        self.assertEqual(best["description"], "max plus 0.5 times others of:")
        self.assertEqual([one["description"] for one in best["details"]], [term["description"]])
        same = self.client.explain(index="h", id="1", body={"query": {"constant_score": {"filter": {"term": {"title": "quick"}}, "boost": 3}}})
        self.assertEqual(same["explanation"], {"value": 3.0, "description": "ConstantScore(title:quick)^3.0", "details": []})
        none = self.client.explain(index="h", id="1", body={"query": {"match": {"title": "cat"}}})
        self.assertFalse(none["matched"])

    def test_the_best_hits_are_scored_again(self):
        body = {
            "query": {"match": {"title": "fox"}},
            "rescore": {
                "window_size": 10,
                "query": {
                    "rescore_query": {"match": {"title": "quick"}},
                    "rescore_query_weight": 100,
                },
            },
        }
        self.assertEqual(self.ids("h", **body), ["1", "2"])
        rescore = body.pop("rescore")
        self.assertEqual(self.ids("h", **body), ["2", "1"])
        self.client.indices.put_settings(index="h", body={"index.max_rescore_window": 9})
        with self.refused(400, "illegal_argument_exception", "Rescore window [10] is too large. It must be less than [9]"):
            self.client.search(index="h", body={**body, "rescore": rescore})
        self.client.indices.put_settings(index="h", body={"index.max_rescore_window": 20_000})
        rescore["window_size"] = 20_000
        self.assertEqual(self.ids("h", **body, rescore=rescore), ["1", "2"])

    def test_several_values_are_ordered_by_their_mean(self):
        self.assertEqual(self.ids("h", sort=[{"n": {"order": "asc", "mode": "avg"}}]), ["2", "1"])
        self.assertEqual(self.ids("h", sort=[{"n": {"order": "asc", "mode": "min"}}]), ["1", "2"])

    def test_terms_are_listed(self):
        tokens = self.client.indices.analyze(body={"text": "The 2 Foxes"})["tokens"]
        self.assertEqual([token["token"] for token in tokens], ["the", "2", "foxes"])
        self.assertEqual(tokens[1]["type"], "<NUM>")
        vectors = self.client.termvectors(index="h", id="2", params={"fields": "title"})
        fox = vectors["term_vectors"]["title"]["terms"]["fox"]
        self.assertEqual(fox["term_freq"], 2)
        self.assertEqual([place["position"] for place in fox["tokens"]], [2, 5])
        parameters = {"fields": ["title"], "positions": False}
        for body in [{"parameters": parameters, "ids": ["1", "2"]}, {"ids": ["1", "2"], "parameters": parameters}]:
            docs = self.client.mtermvectors(index="h", body=body)["docs"]
            self.assertEqual([list(doc["term_vectors"]) for doc in docs], [["title"]] * 2)
            fox = docs[1]["term_vectors"]["title"]["terms"]["fox"]
            self.assertNotIn("position", fox["tokens"][0])

    def test_terms_that_tell_the_most_are_listed(self):
        texts = {"1": {"t": "fox fox common"}, "2": {"t": "hen common"}, "3": {"t": "common"}}
        self.client.indices.create(index="v", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": {"t": {"type": "text"}}}})
        self.index_all("v", texts)

        def terms(**body):
            found = self.client.termvectors(index="v", id="1", body={"fields": ["t"], "offsets": False, "positions": False, **body})
            return found["term_vectors"]["t"]["terms"]

        best = terms(filter={"max_num_terms": 1})
        self.assertEqual(list(best), ["fox"])
        self.assertAlmostEqual(best["fox"]["score"], 2 * (math.log(4 / 2) + 1), places=5)
        self.assertEqual(list(terms(filter={"min_doc_freq": 2})), ["common"])
        self.assertEqual(list(terms(filter={"min_term_freq": 2})), ["fox"])
        self.assertEqual(list(terms(filter={"max_word_length": 3})), ["fox"])
        self.assertNotIn("score", terms()["fox"])
        self.assertEqual(list(terms(per_field_analyzer={"t": "keyword"})), ["fox fox common"])
        # Of a document that nobody has written, too.
        body = {"doc": {"t": "hen fox unheard"}, "filter": {"max_num_terms": 5}}
        found = self.client.transport.perform_request("POST", "/v/_termvectors", body=body)
        self.assertEqual(sorted(found["term_vectors"]["t"]["terms"]), ["fox", "hen"])
        self.assertEqual(best["fox"]["score"], float(f"{best['fox']['score']:.8g}"))
        for wrong in ({"filter": {"most": 1}}, {"filter": []}, {"filter": {"max_num_terms": -1}}, {"doc": {"t": "fox"}}):
            with self.subTest(wrong=wrong), self.refused(400, "parse_exception"):
                terms(**wrong)
        with self.refused(400, "illegal_argument_exception", "analyzer [nope] not found for field [t]"):
            terms(per_field_analyzer={"t": "nope"})

    def test_terms_stand_and_are_counted_as_their_fields_keep_them(self):
        properties = {"t": {"type": "text", "position_increment_gap": 7}, "u": {"type": "text", "index_options": "docs"}, "k": {"type": "keyword"}}
        self.client.indices.create(index="w", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": properties}})
        self.index_all("w", {"1": {"t": ["a b", "c"], "u": ["a b a", "c"], "k": ["x", "y", "x"]}, "2": {"k": "x"}})
        found = self.client.termvectors(index="w", id="1", body={"fields": ["*"], "offsets": False, "term_statistics": True})["term_vectors"]
        places = lambda field: {term: [place["position"] for place in one["tokens"]] for term, one in found[field]["terms"].items()}
        self.assertEqual(places("t"), {"a": [0], "b": [1], "c": [9]})
        self.assertEqual(places("u"), {"a": [0, 2], "b": [1], "c": [103]})
        self.assertEqual(places("k"), {"x": [0, 2], "y": [1]})
        self.assertEqual({term: one["ttf"] for term, one in found["k"]["terms"].items()}, {"x": 2, "y": 1})
        self.assertEqual(found["u"]["terms"]["a"]["ttf"], 1)
        self.assertEqual(found["u"]["field_statistics"], {"sum_doc_freq": 3, "doc_count": 1, "sum_ttf": 3})
        # An analyzer that the request names has a gap of its own.
        named = {"doc": {"t": ["a", "b"], "k": ["x", "y"]}, "offsets": False, "per_field_analyzer": {"t": "whitespace", "k": "whitespace"}}
        found = self.client.transport.perform_request("POST", "/w/_termvectors", body=named)["term_vectors"]
        self.assertEqual([places("t")["b"], places("k")["y"]], [[101], [101]])

    def test_misspelled_words_are_corrected(self):
        body = {"suggest": {"s": {"text": "quikc", "term": {"field": "title"}}}}
        found = self.client.search(index="h", body=body)["suggest"]["s"]
        self.assertEqual(found[0]["options"][0]["text"], "quick")

    def test_texts_are_completed(self):
        mapping = {"properties": {"s": {"type": "completion"}}}
        self.client.indices.create(index="c", body={"mappings": mapping})
        self.index_all(
            "c",
            {
                "1": {"s": {"input": ["Nevermind", "Nirvana"], "weight": 5}},
                "2": {"s": {"input": "New York", "weight": 9}},
                "3": {"s": "Boston"},
            },
        )
        ask = {"prefix": "ne", "completion": {"field": "s"}}
        options = self.client.search(index="c", body={"suggest": {"x": ask}})["suggest"]["x"][0]["options"]
        self.assertEqual([option["text"] for option in options], ["New York", "Nevermind"])
        self.assertEqual(options[0]["_id"], "2")
        ask = {"prefix": "nev yo", "completion": {"field": "s", "fuzzy": True}}
        options = self.client.search(index="c", body={"suggest": {"x": ask}})["suggest"]["x"][0]["options"]
        self.assertEqual([option["text"] for option in options], ["New York"])

    def test_fields_below_a_completed_one_have_its_inputs(self):
        below = {"again": {"type": "completion"}, "raw": {"type": "keyword"}}
        mapping = {"properties": {"s": {"type": "completion", "fields": below}}}
        self.client.indices.create(index="c", body={"mappings": mapping})
        self.index_all("c", {"1": {"s": "bar"}, "2": {"s": {"input": ["baz", "box"], "weight": 3}}})
        ask = {"prefix": "ba", "completion": {"field": "s.again"}}
        options = self.client.search(index="c", body={"suggest": {"x": ask}})["suggest"]["x"][0]["options"]
        self.assertEqual([(option["text"], option["_score"]) for option in options], [("baz", 3.0), ("bar", 1.0)])
        for text, found in (("bar", ["1"]), ("box", ["2"])):
            self.assertEqual(self.ids("c", query={"term": {"s.raw": text}}), found)

    def test_versions_may_come_from_elsewhere(self):
        external = {"version": 5, "version_type": "external"}
        reply = self.client.index(index="v", id="1", body={}, params=external)
        self.assertEqual(reply["_version"], 5)
        with self.refused(409, "version_conflict_engine_exception", "higher or equal"):
            self.client.index(index="v", id="1", body={}, params=external)
        gte = {"version": 5, "version_type": "external_gte"}
        self.assertEqual(self.client.delete(index="v", id="1", params=gte)["_version"], 5)
