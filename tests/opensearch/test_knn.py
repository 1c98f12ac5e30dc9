"""Nearest neighbours: how many of the true ones are found, with and without a filter."""

import numpy
from opensearchpy.exceptions import NotFoundError, RequestError

from .base import ClewTest

COUNT = 20_000
DIMENSION = 128
CLUSTERS = 200
QUERIES = 100
K = 10
GROUPS = 10
BATCH = 1000
RECALL_MIN = 0.95
# Prices are shown in whole nanoseconds.
ROUNDING = 1e-4


def clustered(random, centers, count):
    """Points around the centers, as embeddings lie: near each other in groups."""
    chosen = random.integers(0, len(centers), count)
    noise = random.normal(0, 0.35, (count, DIMENSION))
    return (centers[chosen] + noise).astype(numpy.float32)


class Recall(ClewTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        random = numpy.random.default_rng(20240501)
        centers = random.normal(0, 1, (CLUSTERS, DIMENSION))
        cls.vectors = clustered(random, centers, COUNT)
        cls.queries = clustered(random, centers, QUERIES)
        body = {
            "settings": {
                "index": {"knn": True, "knn.algo_param.ef_search": 64, "number_of_shards": 1}
            },
            "mappings": {
                "properties": {
                    "group": {"type": "keyword"},
                    "v": {
                        "type": "knn_vector",
                        "dimension": DIMENSION,
                        "method": {
                            "name": "hnsw",
                            "engine": "faiss",
                            "space_type": "l2",
                            "parameters": {"m": 16, "ef_construction": 128},
                        },
                    },
                }
            },
        }
        cls.client.indices.create(index="v", body=body)
        for start in range(0, COUNT, BATCH):
            lines = []
            for number in range(start, start + BATCH):
                lines.append({"index": {"_id": str(number)}})
                lines.append({"group": f"g{number % GROUPS}", "v": cls.vectors[number].tolist()})
            assert not cls.client.bulk(index="v", body=lines)["errors"]
        cls.client.indices.refresh(index="v")
        cls.client.indices.forcemerge(index="v", max_num_segments=1)

    def setUp(self):
        """The index stays for all tests of this class."""

    def recall(self, candidates, **knn):
        """The share of the true neighbours among `candidates` that the searches find."""
        points = self.vectors[candidates].astype(numpy.float64)
        found = 0
        for query in self.queries:
            distances = ((points - query) ** 2).sum(axis=1)
            nearest = {str(candidates[at]) for at in numpy.argsort(distances)[:K]}
            body = {
                "size": K,
                "_source": False,
                "query": {"knn": {"v": {"vector": query.tolist(), "k": K, **knn}}},
            }
            hits = self.client.search(index="v", body=body)["hits"]["hits"]
            self.assertEqual(len(hits), K)
            found += len(nearest & {hit["_id"] for hit in hits})
        return found / (K * len(self.queries))

    def test_the_true_neighbours_are_found(self):
        self.assertGreaterEqual(self.recall(numpy.arange(COUNT)), RECALL_MIN)

    def test_the_true_neighbours_under_a_filter_are_found(self):
        some = numpy.arange(3, COUNT, GROUPS)
        recall = self.recall(
            some, filter={"term": {"group": "g3"}}, method_parameters={"ef_search": 64}
        )
        self.assertGreaterEqual(recall, RECALL_MIN)

    def columns(self, index):
        shards = self.client.indices.segments(index=index)["indices"][index]["shards"]
        segments = [one for shard in shards.values() for copy in shard for one in copy["segments"].values()]
        return [one["vectors"]["v"] for one in segments]

    def test_it_is_told_what_was_chosen_and_why(self):
        (column,) = self.columns("v")
        chosen = column["chosen"]
        self.assertEqual(column["count"], COUNT)
        # Merges before the last one may have measured; what they chose holds until there is four times as much.
        self.assertLess(COUNT, 4 * (chosen["rows"] + 1))
        self.assertEqual(column["structure"], chosen["structure"])
        self.assertGreater(chosen["recall"], 0.9)
        # Lists may cost a tenth more than a graph: they are smaller, and a merge forms them faster.
        graph, lists = (float("inf") if price is None else price for price in (chosen["graph_ns"], chosen["lists_ns"]))
        self.assertLess(min(graph, lists), float("inf"))
        if column["structure"] == "lists":
            self.assertLessEqual(lists, graph * 1.1 * (1 + ROUNDING))
        else:
            self.assertGreaterEqual(lists, graph * 1.1 * (1 - ROUNDING))

    def test_a_graph_that_is_insisted_on_is_what_there_is(self):
        method = {"name": "hnsw", "engine": "faiss", "space_type": "l2", "exact_structure": True}
        field = {"type": "knn_vector", "dimension": DIMENSION, "method": method}
        body = {"settings": {"index": {"knn": True, "number_of_shards": 1}}, "mappings": {"properties": {"v": field}}}
        self.client.indices.create(index="named", body=body)
        for start in range(0, COUNT // 4, BATCH):
            lines = []
            for number in range(start, start + BATCH):
                lines += [{"index": {"_id": str(number)}}, {"v": self.vectors[number].tolist()}]
            self.assertFalse(self.client.bulk(index="named", body=lines)["errors"])
        self.client.indices.refresh(index="named")
        self.client.indices.forcemerge(index="named", max_num_segments=1)
        shown = self.client.indices.get_mapping(index="named")["named"]["mappings"]["properties"]["v"]
        self.assertIs(shown["method"]["exact_structure"], True)
        (column,) = self.columns("named")
        self.assertEqual((column["structure"], column["chosen"]), ("graph", None))
        wrong = {"mappings": {"properties": {"v": {**field, "method": {**method, "exact_structure": "perhaps"}}}}}
        with self.assertRaises(RequestError):
            self.client.indices.create(index="wrong", body=wrong)

    def test_scores_are_those_of_the_distance(self):
        query = self.queries[0]
        body = {"size": K, "query": {"knn": {"v": {"vector": query.tolist(), "k": K}}}}
        hits = self.client.search(index="v", body=body)["hits"]["hits"]
        for hit in hits:
            distance = ((self.vectors[int(hit["_id"])] - query).astype(numpy.float64) ** 2).sum()
            self.assertAlmostEqual(hit["_score"], 1 / (1 + distance), places=5)
            numpy.testing.assert_array_equal(
                numpy.float32(hit["_source"]["v"]), self.vectors[int(hit["_id"])]
            )


class Compressed(ClewTest):
    def test_few_vectors_of_any_compression_are_merged_once(self):
        """They have no codes, and are not taken for vectors of another compression again and again."""
        levels = [{"compression_level": level} for level in ("2x", "4x", "8x", "16x", "32x")]
        fields = {f"v{at}": {"type": "knn_vector", "dimension": 16, "mode": "on_disk", **more} for at, more in enumerate([{}, *levels])}
        lists = {"name": "ivf", "engine": "faiss", "parameters": {"encoder": {"name": "sq", "parameters": {"type": "fp16"}}}}
        fields["lists"] = {"type": "knn_vector", "dimension": 16, "method": lists}
        for name, field in fields.items():
            self.client.indices.create(index=name, body={"settings": {"index.knn": True}, "mappings": {"properties": {"v": field}}})
            for number in range(2):
                self.client.index(index=name, id=str(number), body={"v": [number + 1.0] * 16}, refresh=True)
            self.client.indices.forcemerge(index=name, max_num_segments=1)
        merges = lambda: {name: self.client.indices.stats(index=name, metric="merge")["_all"]["total"]["merges"]["total"] for name in fields}
        before = merges()
        # Each of these wakes those who look whether there is something to merge.
        for number in range(40):
            self.client.index(index="v0", id="2", body={"v": [number + 3.0] * 16}, refresh=True)
        after = merges()
        # Seven segments beside the first one are a merge; so are documents that were replaced.
        self.assertLess(after.pop("v0") - before.pop("v0"), 41)
        self.assertEqual(after, before)


class Asked(ClewTest):
    """What is asked of nearest-neighbour queries beside their hits."""

    def setUp(self):
        super().setUp()
        vector = {"type": "knn_vector", "dimension": 2, "method": {"name": "hnsw", "space_type": "l2"}}
        parts = {"type": "nested", "properties": {"v": vector}}
        body = {
            "settings": {"index": {"knn": True, "number_of_shards": 2}},
            "mappings": {"properties": {"v": vector, "parts": parts, "tag": {"type": "keyword"}, "t": {"type": "text"}}},
        }
        self.client.indices.create(index="k", body=body)
        documents = {
            str(n): {"v": [n, 0], "tag": "even" if n % 2 == 0 else "odd", "t": f"word{n}", "parts": [{"v": [n, 1]}, {"v": [-n, 1]}]}
            for n in range(8)
        }
        self.index_all("k", documents)

    def clauses(self):
        """Queries, and the documents that they find."""
        near = {"vector": [2, 0], "k": 1}
        nested = {"path": "parts", "query": {"knn": {"parts.v": {"vector": [2, 1], "k": 1}}}}
        yield {"knn": {"v": near}}
        yield {"knn": {"v": {**near, "filter": {"term": {"tag": "odd"}}}}}
        yield {"knn": {"v": {"vector": [2, 0], "max_distance": 1.5}}}
        yield {"knn": {"v": {"vector": [2, 0], "min_score": 0.4}}}
        yield {"nested": nested}
        yield {"bool": {"must": [{"knn": {"v": near}}], "should": [{"term": {"tag": "even"}}]}}
        yield {"hybrid": {"queries": [{"knn": {"v": near}}, {"match": {"t": "word5"}}]}}
        script = {"source": "knn_score", "lang": "knn", "params": {"field": "v", "query_value": [2, 0], "space_type": "l2"}}
        exact = {"script_score": {"query": {"term": {"tag": "odd"}}, "script": script}}
        yield exact
        yield {"hybrid": {"queries": [exact, {"match": {"t": "word5"}}]}}

    def test_a_query_that_can_be_searched_is_valid(self):
        for query in self.clauses():
            for params in ({}, {"explain": "true", "all_shards": "true"}):
                reply = self.client.indices.validate_query(index="k", body={"query": query}, params=params)
                self.assertTrue(reply["valid"], (query, reply))
        for query, reason in [
            ({"knn": {"t": {"vector": [1, 2], "k": 1}}}, "is not knn_vector type"),
            ({"knn": {"v": {"vector": [1, 2, 3], "k": 1}}}, "invalid dimension"),
        ]:
            reply = self.client.indices.validate_query(index="k", body={"query": query}, params={"explain": "true"})
            self.assertFalse(reply["valid"], query)
            self.assertIn(reason, reply["explanations"][0]["error"])

    def test_a_hit_is_explained_by_its_score_and_nothing_else_matches(self):
        for query in self.clauses():
            body = {"query": query, "size": 10}
            scores = {hit["_id"]: hit["_score"] for hit in self.client.search(index="k", body=body)["hits"]["hits"]}
            self.assertTrue(scores)
            for id in (str(n) for n in range(8)):
                try:
                    reply = self.client.explain(index="k", id=id, body={"query": query})
                except NotFoundError as error:
                    reply = error.info
                self.assertEqual(reply["matched"], id in scores, (query, id))
                if id in scores:
                    self.assertAlmostEqual(reply["explanation"]["value"], scores[id], 5)

    def test_nobody_is_told_what_may_not_be_read(self):
        self.client.indices.put_settings(index="k", body={"index.blocks.read": True})
        self.addCleanup(self.client.indices.put_settings, index="k", body={"index.blocks.read": None})
        query = {"query": {"match_all": {}}}
        suggest = {"suggest": {"s": {"text": "wrod1", "term": {"field": "t"}}}}
        for ask in (
            lambda: self.client.search(index="k", body=query),
            lambda: self.client.search(index="k", body=suggest),
            lambda: self.client.indices.validate_query(index="k", body=query),
            lambda: self.client.explain(index="k", id="1", body=query),
            lambda: self.client.termvectors(index="k", id="1", params={"fields": "t"}),
            lambda: self.client.search(index="k", body=query, params={"scroll": "1m"}),
            lambda: self.client.create_pit(index="k", params={"keep_alive": "1m"}),
            lambda: self.client.update_by_query(index="k"),
        ):
            with self.refused(403, "cluster_block_exception"):
                ask()
