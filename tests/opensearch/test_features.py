"""Features that documents are ranked by: `rank_feature`, `rank_features`, `neural_sparse`."""

import math

from .base import ClewTest

MAPPINGS = {
    "properties": {
        "page": {"type": "rank_feature"},
        "length": {"type": "rank_feature", "positive_score_impact": False},
        "topics": {"type": "rank_features"},
        "o": {"properties": {"topics": {"type": "rank_features"}}},
        "t": {"type": "keyword"},
    }
}


class FeaturesTest(ClewTest):
    def setUp(self):
        super().setUp()
        settings = {"number_of_shards": 1}
        self.client.indices.create(index="f", body={"settings": settings, "mappings": MAPPINGS})
        self.index_all(
            "f",
            {
                "a": {"page": 8, "length": 4, "topics": {"x": 2.0, "y": 0.5}, "t": "odd"},
                "b": {"page": 2, "length": 16, "topics": {"y": 4.0, "z": 1.5}, "t": "even"},
                "c": {"topics": [{"x": 1.0}, {"z": 3.0}], "o": {"topics": {"x.y": 2}}},
                "d": {"t": "none", "topics": None},
            },
        )

    def scores(self, query, **body):
        reply = self.client.search(index="f", body={"query": query, **body})
        return {hit["_id"]: hit["_score"] for hit in reply["hits"]["hits"]}

    def near(self, found, expected):
        self.assertEqual(list(found), list(expected), found)
        for key, score in expected.items():
            self.assertAlmostEqual(found[key], score, places=5, msg=key)

    def feature(self, field, **curve):
        return self.scores({"rank_feature": {"field": field, **curve}})

    def test_a_feature_goes_through_a_curve(self):
        self.near(self.feature("page", saturation={"pivot": 8}), {"a": 0.5, "b": 0.2})
        self.near(self.feature("page", linear={}, boost=2), {"a": 16, "b": 4})
        self.near(
            self.feature("page", log={"scaling_factor": 4}), {"a": math.log(12), "b": math.log(6)}
        )
        sigmoid = self.feature("page", sigmoid={"pivot": 2, "exponent": 2})
        self.near(sigmoid, {"a": 64 / 68, "b": 0.5})
        # The mean of 2 and 8 as they are kept is 4.
        self.near(self.feature("page"), {"a": 8 / 12, "b": 2 / 6})

    def test_more_can_be_worse(self):
        # As in OpenSearch, a pivot is one of the values that are kept, which are 1/4 and 1/16.
        self.near(self.feature("length", saturation={"pivot": 4}), {"a": 1 / 17, "b": 1 / 65})
        self.near(self.feature("length", sigmoid={"pivot": 0.25, "exponent": 2}), {"a": 0.5, "b": 1 / 17})
        self.near(self.feature("length", linear={}), {"a": 0.25, "b": 0.0625})
        with self.refused(400) as caught:
            self.feature("length", log={"scaling_factor": 2})
        self.assertIn("negative score impact", str(caught.exception.info))

    def test_a_feature_has_one_value(self):
        with self.refused(400) as caught:
            self.client.index(index="f", id="two", body={"page": [1, 2]})
        self.assertIn(
            "[rank_feature] fields do not support indexing multiple values for the same field [page] in the same document",
            str(caught.exception.info),
        )
        self.client.index(index="f", id="one", body={"page": [1]})

    def test_features_are_for_their_own_queries(self):
        for body, reason in [
            ({"query": {"term": {"page": 8}}}, "Queries on [rank_feature] fields are not supported"),
            ({"query": {"terms": {"page": [8]}}}, "Queries on [rank_feature] fields are not supported"),
            ({"query": {"range": {"page": {"gt": 1}}}}, "Field [page] of type [rank_feature] does not support range queries"),
            ({"sort": ["page"]}, "[rank_feature] fields do not support sorting, scripting or aggregating"),
            ({"aggs": {"most": {"max": {"field": "page"}}}}, "[rank_feature] fields do not support sorting"),
            ({"aggs": {"most": {"terms": {"field": "topics"}}}}, "[rank_features] fields do not support sorting"),
        ]:
            with self.refused(400) as caught:
                self.client.search(index="f", body=body)
            self.assertIn(reason, str(caught.exception.info))

    def test_a_member_of_features(self):
        self.near(self.feature("topics.y", linear={}), {"b": 4.0, "a": 0.5})
        self.near(self.feature("topics.x", saturation={"pivot": 2}), {"a": 0.5, "c": 1 / 3})
        self.near(self.feature("o.topics.x.y", linear={}), {"c": 2.0})
        self.assertEqual(self.feature("topics.w"), {})
        self.assertEqual(self.feature("nothing.w"), {})
        with self.refused(400) as caught:
            self.feature("t")
        self.assertIn("only works on [rank_feature] fields", str(caught.exception.info))

    def test_sparse_vectors_are_multiplied(self):
        query = {"neural_sparse": {"topics": {"query_tokens": {"x": 2.0, "z": 1.0, "w": 9.0}}}}
        self.near(self.scores(query), {"c": 5.0, "a": 4.0, "b": 1.5})
        both = {"bool": {"must": [query], "filter": [{"term": {"t": "odd"}}]}}
        self.near(self.scores(both), {"a": 4.0})
        boosted = {"neural_sparse": {"topics": {"query_tokens": {"z": 2.0}, "boost": 0.5}}}
        self.near(self.scores(boosted), {"c": 3.0, "b": 1.5})
        self.client.delete(index="f", id="c", refresh=True)
        self.near(self.scores(query), {"a": 4.0, "b": 1.5})
        self.assertEqual(self.client.count(index="f", body={"query": query})["count"], 2)
        with self.refused(400) as caught:
            self.scores({"neural_sparse": {"t": {"query_tokens": {"z": 2.0}}}})
        self.assertIn("only works on [rank_features]", str(caught.exception.info))

    def test_two_phases_are_accepted(self):
        step = {
            "neural_sparse_two_phase_processor": {
                "enabled": True,
                "two_phase_parameter": {
                    "prune_ratio": 0.4,
                    "expansion_rate": 5.0,
                    "max_window_size": 10000,
                },
            }
        }
        query = {"neural_sparse": {"topics": {"query_tokens": {"x": 2.0}}}}
        pipeline = {"request_processors": [step]}
        self.near(self.scores(query, search_pipeline=pipeline), {"a": 4.0, "c": 2.0})
        step["neural_sparse_two_phase_processor"]["two_phase_parameter"]["prune_ratio"] = 2
        with self.refused(400, "illegal_argument_exception", "Illegal prune_ratio"):
            self.scores(query, search_pipeline=pipeline)

    def test_weights_survive_merges_and_restarts(self):
        for number in range(5):
            source = {"topics": {"x": 3.0 + number}}
            self.client.index(index="f", id=f"n{number}", body=source, refresh=True)
        query = {"neural_sparse": {"topics": {"query_tokens": {"x": 1.0}}}}
        before = self.scores(query)
        self.client.indices.forcemerge(index="f", max_num_segments=1)
        self.assertEqual(self.scores(query), before)
        self.restart()
        self.assertEqual(self.scores(query), before)
        self.assertEqual(before["n4"], 7.0)

    def test_wrong_features_are_refused(self):
        for source, reason in [
            ({"topics": 3}, "must be json objects, expected a START_OBJECT but got: VALUE_NUMBER"),
            ({"topics": {"x": 0}}, "must be a positive normal float, got: 0.0 for feature x"),
            ({"topics": {"x": {}}}, "take hashes that map a feature"),
            ({"topics": [{"x": 1}, {"x": 2}]}, "multiple values for the same feature"),
            ({"page": -1}, "must be a positive normal float"),
        ]:
            with self.subTest(source), self.refused(400) as caught:
                self.client.index(index="f", id="w", body=source)
            self.assertIn(reason, str(caught.exception.info))
        for query in [
            {"term": {"topics": "x"}},
            {"exists": {"field": "topics"}},
        ]:
            with self.subTest(query), self.refused(400):
                self.scores(query)
