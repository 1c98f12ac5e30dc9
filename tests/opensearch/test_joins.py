"""Documents that belong to others through a `join` field: mapping, queries, inner hits, aggregations."""

from .base import ClewTest

MAPPINGS = {
    "properties": {
        "join": {"type": "join", "relations": {"question": ["answer", "comment"], "answer": "vote"}},
        "text": {"type": "text"},
        "tag": {"type": "keyword"},
        "stars": {"type": "integer"},
    }
}

# Id, routing, source. Everything of a question lies in its shard.
DOCUMENTS = [
    ("q1", None, {"join": "question", "text": "how to boil eggs", "tag": "food"}),
    ("q2", None, {"join": {"name": "question"}, "text": "how to fix a bike", "tag": "bikes"}),
    ("q3", None, {"join": "question", "text": "why", "tag": "bikes"}),
    ("a1", "q1", {"join": {"name": "answer", "parent": "q1"}, "text": "in water", "stars": 3, "tag": "x"}),
    ("a2", "q1", {"join": {"name": "answer", "parent": "q1"}, "text": "in hot water", "stars": 5, "tag": "y"}),
    ("a3", "q2", {"join": {"name": "answer", "parent": "q2"}, "text": "with water", "stars": 1, "tag": "x"}),
    ("c1", "q2", {"join": {"name": "comment", "parent": "q2"}, "text": "good question"}),
    ("v1", "q1", {"join": {"name": "vote", "parent": "a2"}, "stars": 4}),
    ("v2", "q1", {"join": {"name": "vote", "parent": "a2"}, "stars": 2}),
    ("v3", "q2", {"join": {"name": "vote", "parent": "a3"}, "stars": 1}),
]


class Joins(ClewTest):
    def setUp(self):
        super().setUp()
        self.fill("qa", 1)

    def fill(self, index, shards):
        settings = {"number_of_shards": shards}
        self.client.indices.create(index=index, body={"settings": settings, "mappings": MAPPINGS})
        for number, (identity, routing, source) in enumerate(DOCUMENTS):
            action = {"_index": index, "_id": identity}
            if routing is not None:
                action["routing"] = routing
            # Families lie in several segments.
            refresh = number % 3 == 2 or number == len(DOCUMENTS) - 1
            reply = self.client.bulk(body=[{"index": action}, source], refresh=refresh)
            self.assertFalse(reply["errors"], reply)

    def found(self, query, index="qa", **body):
        reply = self.client.search(index=index, body={"query": query, **body})
        self.assertEqual(reply["_shards"]["failed"], 0, reply)
        return reply["hits"]

    def ids_of(self, query, index="qa"):
        return {hit["_id"] for hit in self.found(query, index)["hits"]}

    def scores_of(self, query):
        return {hit["_id"]: hit["_score"] for hit in self.found(query)["hits"]}

    @staticmethod
    def has_child(kind, query, **more):
        return {"has_child": {"type": kind, "query": query, **more}}

    @staticmethod
    def has_parent(kind, query, **more):
        return {"has_parent": {"parent_type": kind, "query": query, **more}}

    def test_the_mapping_is_shown_and_survives_a_restart(self):
        for _ in range(2):
            shown = self.client.indices.get_mapping(index="qa")["qa"]["mappings"]["properties"]
            self.assertEqual(
                shown["join"],
                {
                    "type": "join",
                    "eager_global_ordinals": True,
                    "relations": {"question": ["answer", "comment"], "answer": "vote"},
                },
            )
            self.assertEqual(self.ids_of(self.has_child("answer", {"match_all": {}})), {"q1", "q2"})
            self.restart()

    def test_parents_are_found_by_their_children(self):
        for shards in [1, 3]:
            index = f"qa-{shards}"
            self.fill(index, shards)
            water = {"match": {"text": "water"}}
            cases = [
                (self.has_child("answer", water), {"q1", "q2"}),
                (self.has_child("answer", {"match": {"text": "hot"}}), {"q1"}),
                (self.has_child("comment", water), set()),
                (self.has_child("answer", water, min_children=2), {"q1"}),
                (self.has_child("answer", water, max_children=1), {"q2"}),
                (self.has_child("vote", {"term": {"stars": 4}}), {"a2"}),
                (self.has_child("answer", self.has_child("vote", {"term": {"stars": 4}})), {"q1"}),
                ({"bool": {"must_not": self.has_child("answer", water), "filter": {"term": {"join": "question"}}}}, {"q3"}),
            ]
            for query, expected in cases:
                self.assertEqual(self.ids_of(query, index), expected, query)

    def test_children_are_found_by_their_parents(self):
        bikes = {"term": {"tag": "bikes"}}
        self.assertEqual(self.ids_of(self.has_parent("question", bikes)), {"a3", "c1"})
        inner = self.has_parent("question", {"term": {"tag": "food"}})
        self.assertEqual(self.ids_of(self.has_parent("answer", inner)), {"v1", "v2"})
        self.assertEqual(self.ids_of({"parent_id": {"type": "answer", "id": "q1"}}), {"a1", "a2"})
        self.assertEqual(self.ids_of({"parent_id": {"type": "comment", "id": "q1"}}), set())
        self.assertEqual(self.ids_of({"term": {"join#question": "q2"}}), {"q2", "a3", "c1"})

    def test_scores_of_children_become_their_parents(self):
        def stars(mode):
            query = {
                "function_score": {
                    "query": {"match_all": {}},
                    "field_value_factor": {"field": "stars"},
                    "boost_mode": "replace",
                }
            }
            return self.scores_of(self.has_child("answer", query, score_mode=mode))

        self.assertEqual(stars("sum"), {"q1": 8, "q2": 1})
        self.assertEqual(stars("avg"), {"q1": 4, "q2": 1})
        self.assertEqual(stars("max"), {"q1": 5, "q2": 1})
        self.assertEqual(stars("min"), {"q1": 3, "q2": 1})
        self.assertEqual(stars("none"), {"q1": 1, "q2": 1})
        why = {"constant_score": {"filter": {"term": {"tag": "food"}}, "boost": 7}}
        scored = self.scores_of(self.has_parent("question", why, score=True))
        self.assertEqual(scored, {"a1": 7, "a2": 7})
        self.assertEqual(self.scores_of(self.has_parent("question", why)), {"a1": 1, "a2": 1})

    def test_inner_hits_show_who_matched(self):
        query = self.has_child("answer", {"match": {"text": "water"}}, inner_hits={"size": 1, "sort": [{"stars": "desc"}]})
        by_id = {hit["_id"]: hit["inner_hits"]["answer"]["hits"] for hit in self.found(query)["hits"]}
        self.assertEqual(by_id["q1"]["total"]["value"], 2)
        self.assertEqual([hit["_id"] for hit in by_id["q1"]["hits"]], ["a2"])
        self.assertEqual(by_id["q1"]["hits"][0]["_routing"], "q1")
        self.assertEqual(by_id["q1"]["hits"][0]["_source"]["stars"], 5)
        # A parent inside a hit, with something inside of it.
        deep = self.has_parent(
            "question",
            self.has_child("comment", {"match_all": {}}, inner_hits={}),
            inner_hits={"name": "mother", "_source": ["tag"]},
        )
        hits = self.found(deep)["hits"]
        self.assertEqual({hit["_id"] for hit in hits}, {"a3", "c1"})
        mother = hits[0]["inner_hits"]["mother"]["hits"]["hits"][0]
        self.assertEqual((mother["_id"], mother["_source"]), ("q2", {"tag": "bikes"}))
        comments = mother["inner_hits"]["comment"]["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in comments], ["c1"])
        # Hits that came another way have none.
        either = {"bool": {"should": [query, {"term": {"tag": "bikes"}}]}}
        by_id = {hit["_id"]: hit["inner_hits"]["answer"]["hits"] for hit in self.found(either)["hits"]}
        self.assertEqual(by_id["q3"]["total"]["value"], 0)

    def test_children_and_parents_are_aggregated(self):
        for shards in [1, 3]:
            index = f"qa-{shards}"
            self.fill(index, shards)
            aggs = {
                "tags": {
                    "terms": {"field": "tag"},
                    "aggs": {
                        "answers": {
                            "children": {"type": "answer"},
                            "aggs": {
                                "stars": {"avg": {"field": "stars"}},
                                "votes": {
                                    "children": {"type": "vote"},
                                    "aggs": {"stars": {"sum": {"field": "stars"}}},
                                },
                            },
                        }
                    },
                }
            }
            reply = self.client.search(
                index=index, body={"query": {"term": {"join": "question"}}, "size": 0, "aggs": aggs}
            )
            tags = {b["key"]: b["answers"] for b in reply["aggregations"]["tags"]["buckets"]}
            self.assertEqual(tags["food"]["doc_count"], 2)
            self.assertEqual(tags["food"]["stars"]["value"], 4)
            self.assertEqual(tags["food"]["votes"]["doc_count"], 2)
            self.assertEqual(tags["food"]["votes"]["stars"]["value"], 6)
            self.assertEqual(tags["bikes"]["doc_count"], 1)
            # Parents are counted once, however many of their children are in a bucket.
            back = {
                "questions": {"parent": {"type": "answer"}, "aggs": {"tags": {"terms": {"field": "tag"}}}}
            }
            reply = self.client.search(
                index=index,
                body={"query": {"term": {"join": "answer"}}, "size": 0, "aggs": back},
                typed_keys=True,
            )
            questions = reply["aggregations"]["parent#questions"]
            self.assertEqual(questions["doc_count"], 2)
            tags = {b["key"]: b["doc_count"] for b in questions["sterms#tags"]["buckets"]}
            self.assertEqual(tags, {"food": 1, "bikes": 1})
            # Relatives of a sample's documents, which are only known at the end themselves.
            sampled = {"best": {"sampler": {}, "aggs": {"answers": {"children": {"type": "answer"}}}}}
            reply = self.client.search(index=index, body={"query": {"term": {"join": "question"}}, "size": 0, "aggs": sampled})
            self.assertEqual(reply["aggregations"]["best"]["answers"]["doc_count"], 3)
            nothing = {"none": {"children": {"type": "nothing"}}}
            reply = self.client.search(index=index, body={"size": 0, "aggs": nothing})
            self.assertEqual(reply["aggregations"]["none"], {"doc_count": 0})

    def test_deleted_and_updated_children_are_forgotten(self):
        hot = self.has_child("answer", {"match": {"text": "hot"}})
        self.client.delete(index="qa", id="a2", routing="q1", refresh=True)
        self.assertEqual(self.ids_of(hot), set())
        self.client.update(index="qa", id="a1", routing="q1", body={"doc": {"text": "hot"}}, refresh=True)
        self.assertEqual(self.ids_of(hot), {"q1"})
        self.client.indices.forcemerge(index="qa", max_num_segments=1)
        self.assertEqual(self.ids_of(hot), {"q1"})

    def test_documents_that_fit_no_relation_are_refused(self):
        def refused(source, reason, **params):
            with self.refused(400, "mapper_parsing_exception", "failed to parse") as caught:
                self.client.index(index="qa", body=source, **params)
            cause = caught.exception.info["error"]["caused_by"]
            self.assertEqual(cause["type"], "illegal_argument_exception")
            self.assertIn(reason, cause["reason"])

        refused({"join": "nobody"}, "unknown join name [nobody] for field [join]")
        refused({"join": {"name": "answer"}}, "[parent] is missing for join field [join]", routing="q1")
        refused({"join": {"name": "answer", "parent": "q1"}}, "[routing] is missing for join field [join]")
        refused({"join": {"name": "answer", "father": "q1"}}, "unknown field name [father] in join field [join]", routing="q1")

    def test_queries_on_what_is_not_mapped_are_refused(self):
        self.client.indices.create(index="plain")
        everything = {"match_all": {}}

        def check(index, query, reason):
            with self.refused(400, "search_phase_execution_exception") as caught:
                self.client.search(index=index, body={"query": query})
            self.assertIn(reason, caught.exception.info["error"]["root_cause"][0]["reason"])

        check("plain", self.has_child("answer", everything), "[has_child] no join field has been configured")
        check("plain", self.has_parent("question", everything), "[has_parent] no join field has been configured")
        check("plain", {"parent_id": {"type": "answer", "id": "1"}}, "[parent_id] no join field found")
        check("qa", self.has_child("question", everything), "join field [join] doesn't hold [question] as a child")
        check("qa", self.has_parent("vote", everything), "join field [join] doesn't hold [vote] as a parent")
        check("qa", {"parent_id": {"type": "question", "id": "1"}}, "[parent_id] no relation found for child [question]")
        for query in [
            self.has_child("x", everything, ignore_unmapped=True),
            self.has_parent("x", everything, ignore_unmapped=True),
            {"parent_id": {"type": "x", "id": "1", "ignore_unmapped": True}},
        ]:
            self.assertEqual(self.ids_of(query, "qa,plain"), set())
        with self.refused(400, "illegal_argument_exception", "'max_children' is less than 'min_children'"):
            self.client.search(index="qa", body={"query": self.has_child("answer", everything, min_children=3, max_children=2)})
        with self.refused(400, "illegal_argument_exception", "[has_child] requires 'type' field"):
            self.client.search(index="qa", body={"query": {"has_child": {"query": everything}}})


if __name__ == "__main__":
    import unittest

    unittest.main()
