"""`_rank_eval`, and several searches from templates at once."""

import json

from .base import ClewTest


class RankEvalTest(ClewTest):
    def setUp(self):
        super().setUp()
        mappings = {"properties": {"n": {"type": "integer"}}}
        self.client.indices.create(index="a", body={"mappings": mappings})
        self.index_all("a", {str(n): {"n": n} for n in range(5)})

    def evaluate(self, metric, **body):
        request = {
            "id": "falling",
            "request": {"query": {"match_all": {}}, "sort": [{"n": "desc"}]},
            "ratings": [
                {"_index": "a", "_id": "4", "rating": 0},
                {"_index": "a", "_id": "3", "rating": 2},
                {"_index": "a", "_id": "0", "rating": 1},
            ],
        }
        body = {"requests": [request], "metric": metric, **body}
        return self.client.rank_eval(index="a", body=body)

    def test_rankings_are_judged(self):
        found = self.evaluate({"precision": {"k": 4}})
        self.assertEqual(found["metric_score"], 0.25)
        self.assertEqual(found["failures"], {})
        detail = found["details"]["falling"]
        figures = {"precision": {"relevant_docs_retrieved": 1, "docs_retrieved": 4}}
        self.assertEqual(detail["metric_details"], figures)
        self.assertEqual([hit["rating"] for hit in detail["hits"]], [0, 2, None, None])
        self.assertNotIn("_source", detail["hits"][0]["hit"])
        unrated = [{"_index": "a", "_id": "2"}, {"_index": "a", "_id": "1"}]
        self.assertEqual(detail["unrated_docs"], unrated)
        self.assertEqual(self.evaluate({"recall": {"k": 4}})["metric_score"], 0.5)
        self.assertEqual(self.evaluate({"mean_reciprocal_rank": {}})["metric_score"], 0.5)
        self.assertGreater(self.evaluate({"dcg": {"normalize": True}})["metric_score"], 0.5)

    def test_failures_stand_beside_what_worked(self):
        broken = {"id": "broken", "request": {"query": {"range": {"n": {"gt": "x"}}}}, "ratings": []}
        template = {"id": "t", "template": {"source": {"query": {"term": {"n": "{{n}}"}}}}}
        kept = {
            "id": "kept",
            "template_id": "t",
            "params": {"n": 3},
            "ratings": [{"_index": "a", "_id": "3", "rating": 1}],
        }
        found = self.evaluate({"precision": {}}, requests=[broken, kept], templates=[template])
        self.assertEqual(list(found["failures"]), ["broken"])
        self.assertEqual(found["metric_score"], 1.0)
        for body in [
            {"metric": {"x": {}}},
            {"metric": {"precision": {}}, "requests": []},
            {"metric": {"precision": {}}, "requests": [kept, kept], "templates": [template]},
        ]:
            metric = body.pop("metric")
            with self.subTest(body), self.refused(400):
                self.evaluate(metric, **body)

    def test_several_searches_from_templates(self):
        source = {"query": {"term": {"n": "{{n}}"}}}
        lines = []
        for number in [1, 4]:
            lines += [{"index": "a"}, {"source": source, "params": {"n": number}}]
        lines += [{"index": "a"}, {"source": "{{broken"}]
        body = "".join(json.dumps(line) + "\n" for line in lines)
        found = self.client.msearch_template(body=body)["responses"]
        ids = [hit["_id"] for answer in found[:2] for hit in answer["hits"]["hits"]]
        self.assertEqual(ids, ["1", "4"])
        self.assertIn("error", found[2])

    def test_templates_are_known_by_the_names_that_they_had_first(self):
        search = {"query": {"term": {"n": "{{n}}"}}}
        for name in ("source", "inline", "template"):
            body = {name: search, "params": {"n": 4}}
            found = self.client.search_template(index="a", body=body)["hits"]["hits"]
            self.assertEqual([hit["_id"] for hit in found], ["4"], name)
            kept = {"id": "falling", "template_id": "t", "params": {"n": 3}, "ratings": [{"_index": "a", "_id": "3", "rating": 1}]}
            template = {"id": "t", "template": {name: search}}
            judged = self.evaluate({"precision": {}}, requests=[kept], templates=[template])
            self.assertEqual((judged["metric_score"], judged["failures"]), (1.0, {}), name)

    def test_rated_requests_are_searches_alone(self):
        self.client.index(index="rated", id="1", body={"t": "a"}, refresh=True)
        search = {"query": {"match_all": {}}}
        for part, words in (
            ({"aggs": {"x": {"avg": {"field": "n"}}}}, "not contain aggregations"),
            ({"highlight": {"fields": {"t": {}}}}, "not contain a highlighter section"),
            ({"suggest": {"x": {"text": "a", "term": {"field": "t"}}}}, "not contain a suggest section"),
            ({"explain": True}, "not use explain"),
            ({"profile": True}, "not use profile"),
        ):
            request = {"id": "q", "request": {**search, **part}, "ratings": []}
            body = {"requests": [request], "metric": {"precision": {}}}
            with self.refused(400, reason=f"Query in rated requests should {words}."):
                self.raw("POST", "/rated/_rank_eval", body=body)
