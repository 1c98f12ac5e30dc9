"""What the k-NN plugin's users say over REST: types of vectors, radii, rescoring, scripts, nested vectors, its paths."""

import math

from .base import ClewTest

VECTORS = {
    "a": [1, 2, 3, 4],
    "b": [2, 2, 3, 4],
    "c": [4, -3, 2, -1],
    "d": [-4, 3, -2, 1],
}


def vector_field(**more):
    return {"type": "knn_vector", "dimension": 4, **more}


class KnnRest(ClewTest):
    def make(self, index, field, vectors=VECTORS):
        self.client.indices.create(
            index=index, body={"settings": {"index.knn": True}, "mappings": {"properties": {"v": field}}}
        )
        self.index_all(index, {name: {"v": vector} for name, vector in vectors.items()})

    def scores(self, index, query, **body):
        hits = self.client.search(index=index, body={"query": query, **body})["hits"]["hits"]
        return {hit["_id"]: hit["_score"] for hit in hits}

    def assert_scores(self, found, expected):
        self.assertEqual(set(found), set(expected))
        for name, score in expected.items():
            self.assertAlmostEqual(found[name], score, places=5, msg=name)

    @staticmethod
    def knn(**clause):
        return {"knn": {"v": clause}}

    def test_radii(self):
        self.make("l2", vector_field())
        self.assert_scores(
            self.scores("l2", self.knn(vector=[1, 2, 3, 4], max_distance=1)), {"a": 1, "b": 0.5}
        )
        self.assert_scores(self.scores("l2", self.knn(vector=[1, 2, 3, 4], min_score=0.6)), {"a": 1})
        self.make("ip", vector_field(space_type="innerproduct"))
        found = self.scores("ip", self.knn(vector=[1, 2, 3, 4], min_score=30))
        self.assert_scores(found, {"a": 31, "b": 32})
        for clause in [{"k": 1, "min_score": 1}, {"max_distance": 1, "min_score": 1}, {}]:
            with self.refused(400, "illegal_argument_exception", "exactly one of k, distance or score"):
                self.client.search(index="l2", body={"query": self.knn(vector=[1, 2, 3, 4], **clause)})

    def test_bytes_and_bits(self):
        self.make("bytes", vector_field(data_type="byte", space_type="l2"))
        found = self.scores("bytes", self.knn(vector=[1, 2, 3, 4], k=2))
        self.assert_scores(found, {"a": 1, "b": 0.5})
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="bytes", body={"v": [1.5, 2, 3, 4]})
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="bytes", body={"v": [200, 2, 3, 4]})
        field = {"type": "knn_vector", "dimension": 16, "data_type": "binary", "space_type": "hamming"}
        self.make("bits", field, {"x": [0, 0], "y": [-1, 0], "z": [1, 1]})
        found = self.scores("bits", self.knn(vector=[0, 0], k=3))
        self.assert_scores(found, {"x": 1, "y": 1 / 9, "z": 1 / 3})

    def test_rescoring_is_accepted_in_all_its_forms(self):
        self.make("disk", vector_field(mode="on_disk", compression_level="16x"))
        for rescore in [True, False, {"oversample_factor": 3.0}, {}]:
            found = self.scores("disk", self.knn(vector=[1, 2, 3, 4], k=2, rescore=rescore))
            self.assert_scores(found, {"a": 1, "b": 0.5})
        for rescore in [{"oversample_factor": 0.5}, {"oversample_factor": 101}, "much"]:
            with self.refused(400, "illegal_argument_exception"):
                self.client.search(index="disk", body={"query": self.knn(vector=[1, 2, 3, 4], k=2, rescore=rescore)})

    def test_scripts_score_by_any_space(self):
        self.make("l2", vector_field())
        query = [1, 2, 3, 5]

        def by(function):
            return {name: function(vector) for name, vector in VECTORS.items()}

        def dot(a, b):
            return sum(x * y for x, y in zip(a, b))

        def cosine(a, b):
            return dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))

        def inner(value):
            return value + 1 if value >= 0 else 1 / (1 - value)

        def gaps(vector):
            return [abs(x - y) for x, y in zip(vector, query)]

        expected = {
            "l2": by(lambda v: 1 / (1 + dot(gaps(v), gaps(v)))),
            "l1": by(lambda v: 1 / (1 + sum(gaps(v)))),
            "linf": by(lambda v: 1 / (1 + max(gaps(v)))),
            "cosinesimil": by(lambda v: (1 + cosine(v, query)) / 2),
            "innerproduct": by(lambda v: inner(dot(v, query))),
        }
        for space, scores in expected.items():
            params = {"field": "v", "query_value": query, "space_type": space}
            script = {"lang": "knn", "source": "knn_score", "params": params}
            scored = {"script_score": {"query": {"match_all": {}}, "script": script}}
            self.assert_scores(self.scores("l2", scored), scores)
        sources = {
            "1.0 + cosineSimilarity(params.q, doc['v'])": by(lambda v: 1 + cosine(v, query)),
            "1 / (1 + l2Squared(params.q, doc['v']))": expected["l2"],
            "1 / (1 + l1Norm(params.q, doc['v']))": expected["l1"],
            "1 / (1 + lInfNorm(params.q, doc['v']))": expected["linf"],
        }
        for source, scores in sources.items():
            script = {"source": source, "params": {"q": query}}
            scored = {"script_score": {"query": {"ids": {"values": ["a", "c"]}}, "script": script}}
            self.assert_scores(self.scores("l2", scored), {name: scores[name] for name in ["a", "c"]})
        script = {"lang": "knn", "source": "knn_score", "params": {"field": "v", "query_value": [1], "space_type": "l2"}}
        with self.refused(400, "search_phase_execution_exception"):
            self.scores("l2", {"script_score": {"query": {"match_all": {}}, "script": script}})

    def test_nested_vectors(self):
        inner = {"type": "nested", "properties": {"v": vector_field(), "n": {"type": "integer"}}}
        mappings = {"properties": {"parts": inner}}
        self.client.indices.create(index="nested", body={"settings": {"index.knn": True}, "mappings": mappings})
        near, close, far = [1, 0, 0, 0], [2, 0, 0, 0], [9, 0, 0, 0]
        self.index_all(
            "nested",
            {
                "one": {"parts": [{"v": near, "n": 1}, {"v": close, "n": 2}, {"v": far, "n": 3}]},
                "two": {"parts": [{"v": far, "n": 1}]},
            },
        )

        def found(**more):
            clause = {"vector": near, "k": 1, **more}
            nested = {"path": "parts", "query": {"knn": {"parts.v": clause}}, "score_mode": "max", "inner_hits": {"size": 10}}
            hits = self.client.search(index="nested", body={"query": {"nested": nested}})["hits"]["hits"]
            return {hit["_id"]: [one["_source"]["n"] for one in hit["inner_hits"]["parts"]["hits"]["hits"]] for hit in hits}

        self.assertEqual(found(), {"one": [1]})
        self.assertEqual(found(expand_nested_docs=True), {"one": [1, 2, 3]})
        self.assertEqual(found(k=2), {"one": [1], "two": [1]})
        self.assertEqual(found(k=5, filter={"term": {"parts.n": 3}}), {"one": [3]})

    def test_vectors_come_back_when_they_are_asked_for(self):
        self.make("l2", vector_field())
        everything = {"match_all": {}}

        def first(**body):
            return self.client.search(index="l2", body={"query": everything, "sort": ["_doc"], **body})["hits"]["hits"][0]

        self.assertEqual(first()["_source"], {"v": [1.0, 2.0, 3.0, 4.0]})
        self.assertEqual(first(_source=["v"])["_source"], {"v": [1.0, 2.0, 3.0, 4.0]})
        self.assertEqual(first(_source={"excludes": ["v"]})["_source"], {})
        self.assertNotIn("_source", first(_source=False))
        self.assertEqual(first(_source=False, fields=["v"])["fields"], {"v": [1.0, 2.0, 3.0, 4.0]})

    def test_the_plugins_paths(self):
        self.make("l2", vector_field())
        shards = {"total": 1, "successful": 1, "failed": 0}
        self.assertEqual(self.raw("GET", "/_plugins/_knn/warmup/l2")["_shards"], shards)
        self.assertEqual(self.raw("POST", "/_plugins/_knn/clear_cache/l2")["_shards"], shards)
        with self.refused(404, "index_not_found_exception"):
            self.raw("POST", "/_plugins/_knn/clear_cache/nothing")
        stats = self.raw("GET", "/_plugins/_knn/stats")
        self.assertFalse(stats["circuit_breaker_triggered"])

        with self.refused(404, "resource_not_found_exception"):
            self.raw("GET", "/_plugins/_knn/models/m")
        with self.refused(404, "resource_not_found_exception", 'Model "m" does not exist'):
            self.raw("DELETE", "/_plugins/_knn/models/m")
        with self.refused(400, "illegal_argument_exception", "models are not needed"):
            self.raw("POST", "/_plugins/_knn/models/m/_train", body={"training_index": "t"})
        self.assertEqual(self.raw("POST", "/_plugins/_knn/models/_search", body={})["hits"]["total"]["value"], 0)


if __name__ == "__main__":
    import unittest

    unittest.main()
