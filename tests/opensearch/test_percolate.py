"""Stored queries: which of them documents match."""

from .base import ClewTest

MAPPINGS = {
    "properties": {
        "query": {"type": "percolator"},
        "message": {"type": "text"},
        "tag": {"type": "keyword"},
        "price": {"type": "integer"},
        "when": {"type": "date"},
        "parts": {"type": "nested", "properties": {"name": {"type": "keyword"}, "count": {"type": "integer"}}},
    }
}

QUERIES = {
    "tree": {"match": {"message": "bonsai tree"}},
    "office": {"bool": {"must": [{"match": {"message": "new"}}, {"term": {"tag": "office"}}]}},
    "cheap": {"range": {"price": {"lt": 10}}},
    "phrase": {"match_phrase": {"message": "a new tree"}},
    "wheel": {"nested": {"path": "parts", "query": {"bool": {"filter": [
        {"term": {"parts.name": "wheel"}}, {"range": {"parts.count": {"gte": 4}}}]}}}},
    "never": {"bool": {"must": [{"term": {"tag": "x"}}], "must_not": [{"match_all": {}}]}},
    "either": {"query_string": {"query": "message:(lamp OR tree)", "fields": ["message"]}},
    "price": {"term": {"price": 5}},
}


class Percolate(ClewTest):
    def setUp(self):
        super().setUp()
        for index, shards in [("one", 1), ("three", 3)]:
            self.client.indices.create(
                index=index, body={"settings": {"number_of_shards": shards}, "mappings": MAPPINGS}
            )
            self.index_all(index, {name: {"query": query, "tag": "stored"} for name, query in QUERIES.items()})

    def found(self, *documents, index="one", **more):
        query = {"field": "query", **more}
        if documents:
            query["documents"] = list(documents)
        reply = self.client.search(index=index, body={"query": {"percolate": query}, "size": 100})
        self.assertEqual(reply["_shards"]["failed"], 0, reply)
        return {hit["_id"]: hit for hit in reply["hits"]["hits"]}

    def test_long_queries_are_kept_whole(self):
        # A column keeps the first 65,535 bytes of a value.
        words = [f"value-{number:06}" for number in range(12_000)]
        queries = {
            "terms": {"terms": {"tag": words}},
            "without": {"bool": {"must": [{"term": {"tag": "kept"}}], "must_not": [{"terms": {"tag": words}}]}},
        }
        for index in ["one", "three"]:
            self.index_all(index, {name: {"query": query} for name, query in queries.items()})
            for _ in range(2):
                self.assertEqual(set(self.found({"tag": words[0]}, index=index)), {"terms"})
                self.assertEqual(set(self.found({"tag": words[-1]}, index=index)), {"terms"})
                self.assertEqual(set(self.found({"tag": "kept"}, index=index)), {"without"})
                self.client.indices.forcemerge(index=index, max_num_segments=1)

    def test_queries_are_found_by_a_document(self):
        cases = [
            ({"message": "A new bonsai tree in the office"}, {"tree", "either"}),
            ({"message": "buy a NEW tree", "tag": ["office", "home"]}, {"tree", "office", "phrase", "either"}),
            ({"price": 5}, {"cheap", "price"}),
            ({"parts": [{"name": "wheel", "count": 1}, {"name": "door", "count": 5}]}, set()),
            ({"parts": [{"name": "wheel", "count": 4}]}, {"wheel"}),
            ({"unknown": {"x": 1}}, set()),
            ({}, set()),
        ]
        for index in ["one", "three"]:
            for document, expected in cases:
                hits = self.found(index=index, document=document)
                self.assertEqual(set(hits), expected, document)
                for hit in hits.values():
                    self.assertEqual(hit["fields"]["_percolator_document_slot"], [0])
                    self.assertEqual(hit["_source"]["tag"], "stored")

    def test_several_documents_are_told_by_their_slots(self):
        hits = self.found({"message": "a tree"}, {"price": 5}, {"message": "bonsai", "price": 7})
        slots = {name: hit["fields"]["_percolator_document_slot"] for name, hit in hits.items()}
        self.assertEqual(slots, {"tree": [0, 2], "either": [0], "cheap": [1, 2], "price": [1]})

    def test_a_stored_document_can_be_asked_about(self):
        self.client.index(index="three", id="d", routing="r", body={"message": "one tree", "price": 3}, refresh=True)
        body = {"query": {"percolate": {"field": "query", "index": "three", "id": "d", "routing": "r"}}}
        reply = self.client.search(index="one", body=body)
        self.assertEqual({hit["_id"] for hit in reply["hits"]["hits"]}, {"tree", "either", "cheap"})
        body["query"]["percolate"]["id"] = "nothing"
        with self.refused(404, "resource_not_found_exception", "indexed document [three/nothing] couldn't be found"):
            self.client.search(index="one", body=body)

    def test_words_are_highlighted_in_the_documents(self):
        query = {"percolate": {"field": "query", "document": {"message": "a new bonsai tree"}}}
        body = {"query": query, "highlight": {"fields": {"message": {}}}}
        hits = self.client.search(index="one", body=body)["hits"]["hits"]
        shown = {hit["_id"]: hit["highlight"] for hit in hits}
        self.assertEqual(shown["tree"], {"message": ["a new <em>bonsai</em> <em>tree</em>"]})
        query["percolate"] = {"field": "query", "documents": [{"message": "x"}, {"message": "the tree"}]}
        hits = self.client.search(index="one", body=body)["hits"]["hits"]
        shown = {hit["_id"]: hit["highlight"] for hit in hits}
        self.assertEqual(shown["tree"], {"1_message": ["the <em>tree</em>"]})

    def test_percolations_are_filters_and_scores_too(self):
        percolate = {"percolate": {"field": "query", "document": {"message": "a new tree", "tag": "office"}}}
        reply = self.client.search(index="one", body={"query": percolate})
        scores = {hit["_id"]: hit["_score"] for hit in reply["hits"]["hits"]}
        self.assertEqual(set(scores), {"tree", "office", "phrase", "either"})
        self.assertTrue(all(score > 0 for score in scores.values()))
        self.assertGreater(scores["office"], scores["either"])
        filtered = {"constant_score": {"filter": percolate}}
        reply = self.client.search(index="one", body={"query": filtered})
        self.assertEqual({hit["_score"] for hit in reply["hits"]["hits"]}, {1.0})
        count = self.client.count(index="three", body={"query": percolate})
        self.assertEqual(count["count"], 4)
        named = {"bool": {"should": [
            {"percolate": {"field": "query", "document": {"message": "tree"}, "name": "first"}},
            {"percolate": {"field": "query", "document": {"price": 5}, "name": "second"}},
        ]}}
        reply = self.client.search(index="one", body={"query": named})
        fields = {hit["_id"]: hit["fields"] for hit in reply["hits"]["hits"]}
        self.assertEqual(fields["tree"], {"_percolator_document_slot_first": [0]})
        self.assertEqual(fields["cheap"], {"_percolator_document_slot_second": [0]})

    def test_queries_survive_updates_and_restarts(self):
        self.client.index(index="one", id="tree", body={"query": {"match": {"message": "lamp"}}}, refresh=True)
        self.client.delete(index="one", id="either", refresh=True)
        for _ in range(2):
            self.assertEqual(set(self.found(document={"message": "lamp"})), {"tree"})
            self.assertEqual(set(self.found(document={"message": "tree"})), set())
            self.restart()
        self.client.indices.forcemerge(index="one", max_num_segments=1)
        self.assertEqual(set(self.found(document={"message": "lamp"})), {"tree"})

    def test_texts_that_are_counted_too_are_looked_at(self):
        self.client.indices.create(index="counted", body={"mappings": {"properties": {
            "query": {"type": "percolator"}, "message": {"type": "text", "fielddata": True, "store": True},
        }}})
        self.index_all("counted", {"tree": {"query": QUERIES["tree"]}, "lamp": {"query": {"match": {"message": "lamp"}}}})
        asked = {"query": {"percolate": {"field": "query", "document": {"message": "A new bonsai tree in the office"}}}}
        found = self.client.search(index="counted", body=asked)["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in found], ["tree"])

    def test_what_is_no_query_is_refused(self):
        def refused(query, reason):
            with self.refused(400, "mapper_parsing_exception", "failed to parse") as caught:
                self.client.index(index="one", body={"query": query})
            self.assertIn(reason, caught.exception.info["error"]["caused_by"]["reason"])

        refused({"nothing": {}}, "unknown query [nothing]")
        refused({"term": {"nowhere": 1}}, "No field mapping can be found for the field with name [nowhere]")
        refused({"has_child": {"type": "a", "query": {"match_all": {}}}}, "the [has_child] query is unsupported inside a percolator query")
        refused("text", "query malformed")
        refused([{"match_all": {}}, {"match_all": {}}], "a document can only contain one percolator query")
        refused({"range": {"price": {"gte": "x"}}}, "x")
        shown = self.client.indices.get_mapping(index="one")["one"]["mappings"]["properties"]
        self.assertEqual(shown["query"], {"type": "percolator"})
        for field, reason in [
            ("nothing", "field [nothing] does not exist"),
            ("tag", "expected field [tag] to be of type [percolator], but is of type [keyword]"),
        ]:
            with self.refused(400, "search_phase_execution_exception") as caught:
                self.client.search(index="one", body={"query": {"percolate": {"field": field, "document": {}}}})
            self.assertIn(reason, caught.exception.info["error"]["root_cause"][0]["reason"])
        with self.refused(400, "illegal_argument_exception", "Required one of fields [document, documents, id]"):
            self.client.search(index="one", body={"query": {"percolate": {"field": "query"}}})


if __name__ == "__main__":
    import unittest

    unittest.main()
