"""What vector fields can do beside plain search: compression, wanted recall, measured recall, profiles."""

import numpy

from .base import ClewTest

# Enough for graphs in both shards, which columns of 2 MiB and less do without.
COUNT = 4_600
DIMENSION = 256
CLUSTERS = 50
K = 10
BATCH = 1000

LEVELS = {
    "plain": {},
    "half": {"compression_level": "2x"},
    "four": {"compression_level": "4x"},
    "disk": {"mode": "on_disk"},
}


class Vectors(ClewTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        random = numpy.random.default_rng(20260301)
        centers = random.normal(0, 1, (CLUSTERS, DIMENSION))
        chosen = random.integers(0, CLUSTERS, COUNT)
        noise = random.normal(0, 0.5, (COUNT, DIMENSION))
        # Multiples of 1/64 are short as text and the same in 32 bits.
        cls.vectors = (numpy.round(64 * (centers[chosen] + noise)) / 64).astype(numpy.float32)
        base = {"type": "knn_vector", "dimension": DIMENSION, "space_type": "l2"}
        cls.fields = {name: {**base, **level} for name, level in LEVELS.items()}
        body = {
            "settings": {"index": {"knn": True, "number_of_shards": 2, "refresh_interval": "-1"}},
            "mappings": {"properties": {"group": {"type": "keyword"}, **cls.fields}},
        }
        cls.client.indices.create(index="v", body=body)
        for start in range(0, COUNT, BATCH):
            lines = []
            for number in range(start, min(start + BATCH, COUNT)):
                vector = cls.vectors[number].tolist()
                lines.append({"index": {"_id": str(number)}})
                lines.append({"group": f"g{number % 10}", **dict.fromkeys(LEVELS, vector)})
            assert not cls.client.bulk(index="v", body=lines)["errors"]
        cls.client.indices.forcemerge(index="v", max_num_segments=1)

    def setUp(self):
        """The index stays for all tests of this class."""

    def search(self, field, number, **knn):
        clause = {"vector": self.vectors[number].tolist(), "k": K, **knn}
        return {"size": K, "_source": False, "query": {"knn": {field: clause}}}

    def measure(self, **params):
        return self.raw("GET", "/v/_recall", params=params)

    def test_levels_are_shown_and_cannot_be_changed(self):
        shown = self.client.indices.get_mapping(index="v")["v"]["mappings"]["properties"]
        self.assertEqual({name: shown[name] for name in LEVELS}, self.fields)
        change = {"properties": {"disk": {**self.fields["plain"], "mode": "in_memory"}}}
        with self.refused(400, reason="[mode] from [on_disk] to [in_memory]"):
            self.client.indices.put_mapping(index="v", body=change)
        for wrong, reason in [
            ({"data_type": "byte", "compression_level": "32x"}, "non-float32 data type"),
            ({"mode": "on_disk", "compression_level": "1x"}, "Cannot specify"),
            ({"compression_level": "5x"}, "Unknown value [5x]"),
        ]:
            field = {**self.fields["plain"], **wrong}
            with self.subTest(wrong), self.refused(400, reason=reason):
                body = {"mappings": {"properties": {"f": field}}}
                self.client.indices.create(index="wrong", body=body)

    def test_every_level_finds_the_nearest_and_gives_exact_scores(self):
        numbers = range(0, COUNT, COUNT // 20)
        for field in LEVELS:
            found = 0
            for number in numbers:
                distances = (self.vectors - self.vectors[number]).astype(numpy.float64)
                distances = (distances**2).sum(axis=1)
                nearest = {str(at) for at in numpy.argsort(distances)[:K]}
                body = {**self.search(field, number), "profile": True}
                reply = self.client.search(index="v", body=body)
                if field != "half":
                    for shard in reply["profile"]["shards"]:
                        self.assertGreater(shard["searches"][0]["knn"][0]["codes"], 0, field)
                hits = reply["hits"]["hits"]
                found += len(nearest & {hit["_id"] for hit in hits})
                for hit in hits:
                    expected = 1 / (1 + distances[int(hit["_id"])])
                    # Half precision rounds the numbers, and nothing else does.
                    places = 3 if field == "half" else 5
                    self.assertAlmostEqual(hit["_score"], expected, places=places, msg=field)
            self.assertGreaterEqual(found / (K * len(numbers)), 0.9, field)

    def test_a_wanted_recall_is_accepted_and_nonsense_refused(self):
        exact = self.client.search(index="v", body=self.search("disk", 1, target_recall=1))
        wanted = self.client.search(index="v", body=self.search("disk", 1, target_recall=0.9))
        self.assertEqual(len(wanted["hits"]["hits"]), K)
        self.assertEqual(exact["hits"]["hits"][0]["_id"], "1")
        both = {"target_recall": 0.9, "method_parameters": {"ef_search": 10}}
        for wrong in [{"target_recall": 0}, {"target_recall": 1.1}, {"target_recall": []}, both]:
            with self.subTest(wrong), self.refused(
                400, "illegal_argument_exception", "[target_recall]"
            ):
                self.client.search(index="v", body=self.search("disk", 1, **wrong))

    def test_recall_is_measured_on_the_index_itself(self):
        report = self.measure(field="disk", k=K, ef_search=100, sample=60, seed=1)
        self.assertEqual((report["index"], report["field"]), ("v", "disk"))
        self.assertEqual((report["ef_search"], report["target_recall"]), (100, None))
        self.assertEqual((report["vectors"], report["queries"]), (COUNT, 60))
        recall = report["recall"]
        self.assertLessEqual(recall["low"], recall["mean"])
        self.assertLessEqual(recall["mean"], recall["high"])
        self.assertGreaterEqual(recall["mean"], 0.9)
        self.assertGreater(report["search"]["mean_ms"], 0)
        self.assertGreater(report["exact"]["mean_ms"], 0)
        shards = report["shards"]
        self.assertEqual([shard["shard"] for shard in shards], [0, 1])
        for key, total in [("vectors", COUNT), ("queries", 60)]:
            self.assertEqual(sum(shard[key] for shard in shards), total)
        for shard in shards:
            self.assertEqual(shard["exact"]["mean_distances"], shard["vectors"])

        exact = self.measure(field="disk", target_recall=1, sample=20)
        self.assertEqual((exact["recall"]["mean"], exact["target_recall"]), (1, 1))
        self.assertIsNone(exact["ef_search"])
        self.assertEqual(self.measure(field="plain", sample=5)["ef_search"], 100)

    def test_measurements_that_make_no_sense_are_refused(self):
        with self.refused(404, "index_not_found_exception"):
            self.raw("GET", "/none/_recall", params={"field": "disk"})
        self.client.indices.create(index="v2")
        with self.refused(400, "illegal_argument_exception", "takes one index"):
            self.raw("GET", "/v*/_recall", params={"field": "disk"})
        self.client.indices.delete(index="v2")
        illegal = "illegal_argument_exception"
        for params, kind, reason in [
            ({}, "action_request_validation_exception", "[field] is missing"),
            ({"field": "none"}, illegal, "Field 'none' is not knn_vector type."),
            ({"field": "group"}, illegal, "Field 'group' is not knn_vector type."),
            ({"field": "disk", "k": 0}, illegal, "[k] must be from 1"),
            ({"field": "disk", "sample": 10_001}, illegal, "[sample] must be from 1"),
            ({"field": "disk", "ef_search": 0}, illegal, "[ef_search] must be greater"),
            ({"field": "disk", "target_recall": 2}, illegal, "[target_recall] must be above"),
            ({"field": "disk", "nprobes": 2}, illegal, "unrecognized parameter: [nprobes]"),
        ]:
            with self.subTest(params), self.refused(400, kind, reason):
                self.measure(**params)

    def test_a_profile_says_how_each_segment_was_searched(self):
        body = self.search("disk", 3, filter={"term": {"group": "g3"}})
        self.assertNotIn("profile", self.client.search(index="v", body=body))
        reply = self.client.search(index="v", body={**body, "profile": True})
        shards = reply["profile"]["shards"]
        self.assertEqual(len(shards), 2)
        survivors = hits = 0
        for number, shard in enumerate(shards):
            self.assertTrue(shard["id"].endswith(f"[v][{number}]"), shard["id"])
            self.assertEqual(shard["aggregations"], [])
            (search,) = shard["searches"]
            self.assertGreater(search["query"][0]["time_in_nanos"], 0)
            (knn,) = search["knn"]
            self.assertEqual((knn["field"], knn["segment"]), ("disk", 0))
            # Of lists with the same centres a shard has those that may be among the nearest of all.
            self.assertLessEqual(knn["hits"], K)
            hits += knn["hits"]
            survivors += knn["survivors"]
            self.assertGreater(knn["prices"]["scan_ns"], 0)
            measured = knn["codes"] + knn["vectors"] + knn["reranked"]
            self.assertEqual(knn["distances"], measured)
            self.assertGreater(knn["bytes_read"], 0)
        self.assertEqual(survivors, COUNT // 10)
        self.assertGreaterEqual(hits, K)
        text = self.client.search(index="v", body={"profile": True})
        self.assertEqual(text["profile"]["shards"][0]["searches"][0]["knn"], [])
