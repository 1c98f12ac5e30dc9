"""`hybrid` queries and the processors that make one ranking of several."""

import math

from .base import ClewTest

NORMALIZATION = {
    "phase_results_processors": [
        {
            "normalization-processor": {
                "normalization": {"technique": "min_max"},
                "combination": {
                    "technique": "arithmetic_mean",
                    "parameters": {"weights": [0.3, 0.7]},
                },
            }
        }
    ]
}
RANKER = {"phase_results_processors": [{"score-ranker-processor": {}}]}


def constant(field, value, boost):
    """Documents that have a value, with a score that the test chooses."""
    return {"constant_score": {"filter": {"term": {field: value}}, "boost": boost}}


def any_of(*queries):
    return {"bool": {"should": list(queries)}}


class HybridTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(
            index="a",
            body={
                "settings": {"number_of_shards": 3},
                "mappings": {"properties": {"n": {"type": "integer"}, "t": {"type": "text"}}},
            },
        )
        self.index_all("a", {str(n): {"n": n, "t": "red" if n % 2 else "blue"} for n in range(8)})
        # Scores 4, 3, 2 for documents 1, 2, 3, and 10, 5, 1 for documents 3, 4, 5.
        self.first = any_of(constant("n", 1, 4.0), constant("n", 2, 3.0), constant("n", 3, 2.0))
        self.second = any_of(constant("n", 3, 10.0), constant("n", 4, 5.0), constant("n", 5, 1.0))
        self.hybrid = {"hybrid": {"queries": [self.first, self.second]}}

    def search(self, pipeline=None, **body):
        body = {"query": self.hybrid, **body}
        if pipeline is not None:
            body["search_pipeline"] = pipeline
        return self.client.search(index="a", body=body)

    def scores(self, reply):
        return {hit["_id"]: hit["_score"] for hit in reply["hits"]["hits"]}

    def near(self, found, expected):
        self.assertEqual(list(found), list(expected))
        for key, score in expected.items():
            self.assertAlmostEqual(found[key], score, places=5, msg=key)

    def test_normalized_scores_of_all_shards_become_one(self):
        reply = self.search(NORMALIZATION)
        expected = {
            "3": 0.3 * 0.001 + 0.7,
            "4": 0.7 * 4 / 9,
            "1": 0.3,
            "2": 0.3 * 0.5,
            "5": 0.7 * 0.001,
        }
        self.near(self.scores(reply), expected)
        self.assertEqual(reply["hits"]["total"], {"value": 5, "relation": "eq"})
        self.assertAlmostEqual(reply["hits"]["max_score"], 0.7003, places=5)

    def test_ranks_become_one(self):
        expected = {
            "3": 1 / 63 + 1 / 61,
            "1": 1 / 61,
            "2": 1 / 62,
            "4": 1 / 62,
            "5": 1 / 63,
        }
        reply = self.search(RANKER)
        found = self.scores(reply)
        self.assertEqual(list(found)[:2], ["3", "1"])
        self.assertEqual(set(found), set(expected))
        for key, score in expected.items():
            self.assertAlmostEqual(found[key], score, places=6)

    def test_other_techniques(self):
        def pipeline(normalization, combination):
            clause = {
                "normalization": {"technique": normalization},
                "combination": {"technique": combination},
            }
            return {"phase_results_processors": [{"normalization-processor": clause}]}

        length = math.sqrt(4 * 4 + 3 * 3 + 2 * 2), math.sqrt(100 + 25 + 1)
        found = self.scores(self.search(pipeline("l2", "harmonic_mean")))
        parts = 2 / length[0], 10 / length[1]
        self.assertAlmostEqual(found["3"], 2 / (1 / parts[0] + 1 / parts[1]), places=5)
        self.assertAlmostEqual(found["1"], 4 / length[0], places=5)
        found = self.scores(self.search(pipeline("min_max", "geometric_mean")))
        self.assertAlmostEqual(found["3"], math.sqrt(0.001), places=5)
        found = self.scores(self.search(pipeline("z_score", "arithmetic_mean")))
        self.assertAlmostEqual(found["1"], 0.5, places=5)

    def test_without_a_pipeline_the_best_score_counts(self):
        expected = {"3": 10.0, "4": 5.0, "1": 4.0, "2": 3.0, "5": 1.0}
        self.near(self.scores(self.search()), expected)

    def test_pages_need_a_depth(self):
        self.hybrid["hybrid"]["pagination_depth"] = 10
        whole = list(self.scores(self.search(NORMALIZATION)))
        paged = []
        for start in range(0, 6, 2):
            paged += self.scores(self.search(NORMALIZATION, **{"from": start, "size": 2}))
        self.assertEqual(paged, whole)
        with self.refused(400, reason="all shards failed") as caught:
            self.search(NORMALIZATION, **{"from": 9})
        self.assertIn("Reached end of search result", str(caught.exception.info))
        del self.hybrid["hybrid"]["pagination_depth"]
        with self.refused(400) as caught:
            self.search(NORMALIZATION, **{"from": 2})
        self.assertIn("pagination_depth param is missing", str(caught.exception.info))

    def test_the_filter_and_the_post_filter_hold(self):
        self.hybrid["hybrid"]["filter"] = {"match": {"t": "red"}}
        self.assertEqual(list(self.scores(self.search(NORMALIZATION))), ["3", "1", "5"])
        found = self.search(NORMALIZATION, post_filter={"terms": {"n": [1, 5]}})
        # Each query is left with one document, which has all of its weight.
        self.assertEqual(list(self.scores(found)), ["5", "1"])

    def test_aggregations_and_sort_see_the_union(self):
        aggs = {"sum": {"sum": {"field": "n"}}}
        reply = self.search(NORMALIZATION, aggs=aggs, size=1)
        self.assertEqual(reply["aggregations"]["sum"]["value"], 15.0)
        self.assertEqual(list(self.scores(reply)), ["3"])
        reply = self.search(NORMALIZATION, sort=[{"n": "desc"}])
        self.assertEqual([hit["sort"] for hit in reply["hits"]["hits"]], [[5], [4], [3], [2], [1]])
        reply = self.search(NORMALIZATION, sort=["_score"])
        self.assertEqual(list(self.scores(reply))[0], "3")
        with self.refused(400) as caught:
            self.search(NORMALIZATION, sort=["_score", {"n": "asc"}])
        self.assertIn("_score sort criteria", str(caught.exception.info))

    def test_scores_are_explained(self):
        reply = self.search(NORMALIZATION, explain=True)
        explained = reply["hits"]["hits"][0]["_explanation"]
        self.assertEqual(
            explained["description"], "arithmetic_mean, weights [0.3, 0.7] combination of:"
        )
        self.assertAlmostEqual(explained["value"], 0.7003, places=5)
        first, second = explained["details"]
        self.assertEqual(first["description"], "min_max normalization of:")
        self.assertAlmostEqual(first["value"], 0.001)
        self.assertEqual(second["details"][0]["value"], 10.0)

    def test_pipelines_are_kept_and_used_by_name(self):
        self.client.transport.perform_request("PUT", "/_search/pipeline/h", body=RANKER)
        self.addCleanup(self.client.transport.perform_request, "DELETE", "/_search/pipeline/h")
        found = self.client.search(
            index="a", body={"query": self.hybrid}, params={"search_pipeline": "h"}
        )
        self.assertEqual(found["hits"]["hits"][0]["_id"], "3")
        filtered = {
            "request_processors": [{"filter_query": {"query": {"match": {"t": "blue"}}}}],
            **NORMALIZATION,
        }
        self.assertEqual(set(self.scores(self.search(filtered))), {"2", "4"})

    def test_vectors_and_words_together(self):
        self.client.indices.create(
            index="v",
            body={
                "settings": {"index.knn": True},
                "mappings": {
                    "properties": {
                        "v": {"type": "knn_vector", "dimension": 2, "space_type": "l2"},
                        "t": {"type": "text"},
                    }
                },
            },
        )
        self.index_all(
            "v",
            {
                "near": {"v": [0, 0], "t": "other"},
                "both": {"v": [1, 0], "t": "word"},
                "far": {"v": [9, 9], "t": "word word"},
            },
        )
        query = {
            "hybrid": {
                "queries": [
                    {"match": {"t": "word"}},
                    {"knn": {"v": {"vector": [0, 0], "k": 2}}},
                ]
            }
        }
        body = {"query": query, "search_pipeline": RANKER}
        hits = self.client.search(index="v", body=body)["hits"]["hits"]
        self.assertEqual(hits[0]["_id"], "both")
        self.assertEqual(len(hits), 3)

    def test_what_is_wrong_is_refused(self):
        wrapped = {"query": {"bool": {"must": [self.hybrid]}}}
        with self.refused(400) as caught:
            self.client.search(index="a", body=wrapped)
        self.assertIn("hybrid query must be a top level query", str(caught.exception.info))
        pipeline = {"phase_results_processors": [{"normalization-processor": {"combination": {
            "parameters": {"weights": [0.1, 0.2, 0.7]}}}}]}
        with self.refused(400) as caught:
            self.search(pipeline)
        self.assertIn("number of weights [3] must match", str(caught.exception.info))
        with self.refused(400) as caught:
            self.client.search(index="a", body={"query": self.hybrid}, params={"scroll": "1m"})
        self.assertIn("Scroll operation is not supported", str(caught.exception.info))
        self.assertEqual(self.client.count(index="a", body={"query": self.hybrid})["count"], 5)
