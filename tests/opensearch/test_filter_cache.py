"""What filters leave is kept from their second use on: hits, totals and scores stay the same, and are told."""

from .base import ClewTest

QUERY = {
    "bool": {
        "must": {"match": {"text": "red apple"}},
        "filter": [{"term": {"kind": "fruit"}}, {"range": {"n": {"gte": 10}}}],
        "must_not": {"term": {"gone": True}},
    }
}


class FilterCache(ClewTest):
    def setUp(self):
        super().setUp()
        properties = {"text": {"type": "text"}, "kind": {"type": "keyword"}, "n": {"type": "integer"}, "gone": {"type": "boolean"}}
        self.client.indices.create(index="shop", body={"mappings": {"properties": properties}})
        self.index_all("shop", {str(n): self.document(n) for n in range(200)})

    @staticmethod
    def document(n):
        text = " ".join(["red"] * (n % 3) + ["apple"] * (n % 2) + ["tree"])
        return {"text": text, "kind": "fruit" if n % 4 else "stone", "n": n, "gone": n % 10 == 5}

    def answer(self, **body):
        found = self.client.search(index="shop", body={"query": QUERY, "size": 20, "track_total_hits": True, **body})
        hits = [(hit["_id"], round(hit["_score"], 4)) for hit in found["hits"]["hits"]]
        return hits, found["hits"]["total"]

    def cache(self):
        return self.client.indices.stats(index="shop", metric="query_cache")["_all"]["total"]["query_cache"]

    def test_answers_are_the_same_at_first_and_later_uses(self):
        wanted = [n for n in range(10, 200) if n % 4 and n % 10 != 5 and (n % 3 or n % 2)]
        first = self.answer()
        self.assertEqual(first[1], {"value": len(wanted), "relation": "eq"})
        self.assertEqual(self.cache()["cache_size"], 0)
        for _ in range(3):
            self.assertEqual(self.answer(), first)
        cache = self.cache()
        self.assertGreaterEqual(cache["cache_size"], 3)
        self.assertGreaterEqual(cache["hit_count"], 3)
        self.assertGreater(cache["memory_size_in_bytes"], 0)

    def test_deleted_and_new_documents_are_minded(self):
        for _ in range(3):
            before = self.answer()
        self.client.delete(index="shop", id=before[0][0][0], refresh=True)
        after = self.answer()
        self.assertNotIn(before[0][0][0], [hit for hit, _ in after[0]])
        self.assertEqual(after[1]["value"], before[1]["value"] - 1)
        self.client.index(index="shop", id="new", body={**self.document(11), "n": 5000}, refresh=True)
        self.assertEqual(self.answer()[1]["value"], before[1]["value"])

    def test_clearing_forgets_the_answers(self):
        for _ in range(3):
            before = self.answer()
        self.client.indices.clear_cache(index="shop", params={"query": "true"})
        self.assertEqual(self.cache()["cache_size"], 0)
        self.assertEqual(self.cache()["memory_size_in_bytes"], 0)
        self.assertEqual(self.answer(), before)
