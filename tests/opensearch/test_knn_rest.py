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

    def root_cause(self, index, query):
        """What a search is refused for in its shards."""
        with self.refused(400) as caught:
            self.client.search(index=index, body={"query": query})
        (cause,) = caught.exception.info["error"]["root_cause"]
        return cause["type"], cause["reason"]

    def test_what_cannot_be_searched_for_is_told_in_the_plugins_words(self):
        self.make("bytes", vector_field(data_type="byte"))
        self.make("cosine", vector_field(space_type="cosinesimil"))
        byte = "[data_type] field was set as [byte] in index mapping. But, KNN vector values are"
        for index, clause, reason in [
            ("bytes", {"vector": [1, 2, 3], "k": 1}, "Query vector has invalid dimension: 3. Dimension should be: 4"),
            ("bytes", {"vector": [1.5, 2, 3, 4], "k": 1}, f"{byte} floats instead of byte integers"),
            ("bytes", {"vector": [128, 2, 3, 4], "k": 1}, f"{byte} not within in the byte range [-128, 127]"),
            ("cosine", {"vector": [0, 0, 0, 0], "k": 1}, "zero vector is not supported when space type is [cosinesimil]"),
            ("bytes", {"vector": [1, 2, 3, 4], "max_distance": -1}, "[knn] requires distance to be non-negative for space type: L2"),
            ("cosine", {"vector": [1, 2, 3, 4], "min_score": 1.5}, "[knn] requires score to be in the range [0, 1] for space type: COSINESIMIL"),
        ]:
            with self.subTest(clause):
                found = self.root_cause(index, self.knn(**clause))
                self.assertEqual(found, ("query_shard_exception", f"failed to create query: {reason}"))
        for clause, reason in [
            ({"k": 10_001}, "[knn] requires k to be in the range (0, 10000]"),
            ({"k": -1}, "[knn] requires k to be in the range (0, 10000]"),
            ({"min_score": 0}, "[knn] requires minScore to be greater than 0"),
        ]:
            with self.subTest(clause), self.refused(400, "illegal_argument_exception", reason):
                self.scores("bytes", self.knn(vector=[1, 2, 3, 4], **clause))
        with self.refused(400, "illegal_argument_exception", "[neural] needs a model"):
            self.scores("bytes", {"neural": {"v": {"query_text": "x", "model_id": "m", "k": 1}}})

    def test_a_field_that_is_not_there_is_an_error_unless_that_is_said(self):
        self.make("l2", vector_field())
        self.client.indices.create(index="other", body={"settings": {"number_of_shards": 1}})
        near = {"vector": [1, 2, 3, 4], "k": 1}
        reason = "failed to create query: Field 'v' is not knn_vector type."
        self.assertEqual(self.root_cause("other", self.knn(**near)), ("query_shard_exception", reason))
        self.assertEqual(self.scores("other", self.knn(**near, ignore_unmapped=True)), {})
        for ignored, failed in [(False, 1), (True, 0)]:
            body = {"query": self.knn(**near, ignore_unmapped=ignored)}
            reply = self.client.search(index="l2,other", body=body)
            self.assertEqual([hit["_id"] for hit in reply["hits"]["hits"]], ["a"])
            self.assertEqual(reply["_shards"]["failed"], failed)

    def test_an_index_may_name_the_space_for_its_fields(self):
        settings = {"index.knn": True, "index.knn.space_type": "cosinesimil"}
        field = {"type": "knn_vector", "dimension": 2}
        fields = {"v": field, "own": {**field, "method": {"name": "hnsw", "space_type": "l2"}}}
        templates = [{"more": {"match": "*_v", "mapping": field}}]
        mappings = {"properties": fields, "dynamic_templates": templates}
        self.client.indices.create(index="old", body={"settings": settings, "mappings": mappings})
        self.client.indices.put_mapping(index="old", body={"properties": {"later": field, **fields}})
        for number, vector in enumerate([[1, 0], [4, 4]]):
            document = dict.fromkeys(("v", "later", "own", "made_v"), vector)
            self.client.index(index="old", id=str(number), body=document, refresh=True)
        for name, expected in [("v", 1), ("later", 1), ("made_v", 1), ("own", 1 / 19)]:
            found = self.scores("old", {"knn": {name: {"vector": [1, 1], "k": 2}}})
            self.assertAlmostEqual(found["1"], expected, places=5, msg=name)
        shown = self.client.indices.get_mapping(index="old")["old"]["mappings"]["properties"]
        self.assertEqual(shown["v"], {**field, "space_type": "cosinesimil"})
        with self.refused(400, "illegal_argument_exception", "Can't update non dynamic settings"):
            self.client.indices.put_settings(index="old", body={"index.knn.space_type": "l2"})
        with self.refused(400, "illegal_argument_exception", "Unable to find space: far"):
            self.client.indices.create(index="wrong", body={"settings": {"index.knn.space_type": "far"}})

    def test_encoders(self):
        def field(encoder, engine="faiss"):
            return vector_field(method={"name": "hnsw", "engine": engine, "parameters": {"encoder": encoder}})

        for number, (encoder, engine) in enumerate([
            ({"name": "binary", "parameters": {"bits": 2}}, "faiss"),
            ({"name": "sq", "parameters": {"bits": 7, "confidence_interval": 1.0}}, "lucene"),
        ]):
            exact = [1.0001, 2.0003, 3.0007, 4.0009]
            self.make(f"e{number}", field(encoder, engine), {"x": exact, **VECTORS})
            found = self.client.get(index=f"e{number}", id="x")["_source"]["v"]
            self.assertEqual(found, exact)
            self.assertIn("x", self.scores(f"e{number}", self.knn(vector=exact, k=1)))
        half = {"name": "sq", "parameters": {"type": "fp16", "clip": True}}
        self.make("clips", field(half), {"x": [70_000, -1e9, 1, 0]})
        self.assertEqual(self.client.get(index="clips", id="x")["_source"]["v"], [65_504, -65_504, 1, 0])
        for name, wrong, reason in [
            ("bits", {"name": "binary", "parameters": {"bits": 3}}, "Integer parameter [bits]"),
            ("more", {"name": "sq", "parameters": {"bits": 7}}, 'Invalid parameter for encoder "sq": bits.'),
        ]:
            with self.refused(400, "mapper_parsing_exception", reason):
                self.client.indices.create(index=name, body={"mappings": {"properties": {"v": field(wrong)}}})
        with self.refused(400, "mapper_parsing_exception", "Model ID 'm' is not created"):
            model = {"type": "knn_vector", "model_id": "m"}
            self.client.indices.create(index="m", body={"mappings": {"properties": {"v": model}}})

    def test_functions_take_the_plugins_script_and_squared_lengths(self):
        self.make("l2", vector_field())
        query = [1, 2, 3, 4]
        params = {"field": "v", "query_value": query, "space_type": "l2"}
        script = {"lang": "knn", "source": "knn_score", "params": params}
        scored = {"function_score": {"script_score": {"script": script}, "boost_mode": "replace"}}
        plain = {"script_score": {"query": {"match_all": {}}, "script": script}}
        self.assert_scores(self.scores("l2", scored), self.scores("l2", plain))
        self.client.indices.create(index="whole", body={"mappings": {"properties": {"n": {"type": "long"}}}})
        self.index_all("whole", {"same": {"n": 23}, "other": {"n": 16}, "none": {}})
        bits = {"lang": "knn", "source": "knn_score", "params": {"field": "n", "query_value": 23, "space_type": "hammingbit"}}
        found = self.scores("whole", {"script_score": {"query": {"match_all": {}}, "script": bits}})
        self.assert_scores(found, {"same": 1, "other": 1 / 4, "none": 0})
        params = {"q": query, "length": sum(x * x for x in query)}
        scores = []
        for source in ["cosineSimilarity(params.q, doc['v']) + 1", "cosineSimilarity(params.q, doc['v'], params.length) + 1"]:
            script = {"source": source, "params": params}
            scores.append(self.scores("l2", {"script_score": {"query": {"match_all": {}}, "script": script}}))
        self.assert_scores(*scores)

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
        third = {"term": {"parts.n": 3}}
        self.assertEqual(found(k=5, filter=third), {"one": [3]})
        self.assertEqual(found(k=5, filter={"nested": {"path": "parts", "query": third}}), {"one": [3]})
        # Objects are no documents: asked for without `nested` they are none that are found.
        bare = self.client.search(index="nested", body={"query": {"knn": {"parts.v": {"vector": near, "k": 2}}}})
        self.assertEqual((bare["hits"]["total"]["value"], bare["hits"]["hits"]), (0, []))

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
        self.assertEqual(self.raw("GET", "/_opendistro/_knn/stats").keys(), stats.keys())
        two = self.raw("GET", "/_plugins/_knn/stats/circuit_breaker_triggered,hit_count")
        self.assertEqual(two.keys(), {"_nodes", "cluster_name", "circuit_breaker_triggered", "nodes"})
        self.assertEqual([*two["nodes"].values()], [{"hit_count": 0}])

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
