"""Nearest neighbours: how many of the true ones are found, with and without a filter."""

import numpy

from .base import ClewTest

COUNT = 20_000
DIMENSION = 128
CLUSTERS = 200
QUERIES = 100
K = 10
GROUPS = 10
BATCH = 1000
RECALL_MIN = 0.95


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
