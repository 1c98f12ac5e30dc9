"""Buckets and metrics over the documents that match."""

from .base import ClewTest


class Aggregations(ClewTest):
    def setUp(self):
        super().setUp()
        properties = {
            "color": {"type": "keyword"},
            "price": {"type": "double"},
            "stock": {"type": "integer"},
            "at": {"type": "date"},
        }
        body = {"mappings": {"properties": properties}, "settings": {"number_of_shards": 3}}
        self.client.indices.create(index="i", body=body)
        colors = ["red", "green", "red", "blue", "red", "green"]
        self.index_all(
            "i",
            {
                str(n): {
                    "color": color,
                    "price": n * 10.0,
                    "stock": n,
                    "at": f"2024-0{1 + n // 2}-15",
                }
                for n, color in enumerate(colors)
            },
        )

    def aggregate(self, **aggs):
        return self.client.search(index="i", body={"size": 0, "aggs": aggs})["aggregations"]

    def test_terms_are_counted_with_metrics_inside(self):
        inner = {"average": {"avg": {"field": "price"}}}
        result = self.aggregate(colors={"terms": {"field": "color"}, "aggs": inner})["colors"]
        buckets = [(b["key"], b["doc_count"], b["average"]["value"]) for b in result["buckets"]]
        self.assertEqual(buckets, [("red", 3, 20.0), ("green", 2, 30.0), ("blue", 1, 30.0)])
        self.assertEqual(result["sum_other_doc_count"], 0)

    def test_metrics(self):
        result = self.aggregate(
            least={"min": {"field": "price"}},
            most={"max": {"field": "price"}},
            total={"sum": {"field": "stock"}},
            mean={"avg": {"field": "stock"}},
            colors={"cardinality": {"field": "color"}},
            count={"value_count": {"field": "price"}},
            stats={"stats": {"field": "price"}},
        )
        values = [result[name]["value"] for name in ["least", "most", "total", "mean"]]
        self.assertEqual(values, [0.0, 50.0, 15.0, 2.5])
        self.assertEqual(result["colors"]["value"], 3)
        self.assertEqual(result["count"]["value"], 6)
        self.assertEqual(
            result["stats"], {"count": 6, "min": 0.0, "max": 50.0, "avg": 25.0, "sum": 150.0}
        )

    def test_histograms_and_ranges(self):
        result = self.aggregate(
            prices={"histogram": {"field": "price", "interval": 20}},
            months={"date_histogram": {"field": "at", "calendar_interval": "month"}},
            ranges={"range": {"field": "stock", "ranges": [{"to": 2}, {"from": 2, "to": 5}]}},
        )
        counts = {
            name: [(bucket["key"], bucket["doc_count"]) for bucket in found["buckets"]]
            for name, found in result.items()
        }
        self.assertEqual(counts["prices"], [(0.0, 2), (20.0, 2), (40.0, 2)])
        self.assertEqual([count for _, count in counts["months"]], [2, 2, 2])
        self.assertEqual(result["months"]["buckets"][0]["key_as_string"], "2024-01-01T00:00:00.000Z")
        self.assertEqual(counts["ranges"], [("*-2.0", 2), ("2.0-5.0", 3)])

    def test_only_matching_documents_are_aggregated(self):
        body = {
            "size": 0,
            "query": {"term": {"color": "red"}},
            "aggs": {"total": {"sum": {"field": "stock"}}},
        }
        reply = self.client.search(index="i", body=body)
        self.assertEqual(reply["aggregations"]["total"]["value"], 6.0)
        self.assertEqual(reply["hits"]["hits"], [])

    def test_an_aggregation_that_does_not_exist_is_refused(self):
        with self.refused(400):
            self.aggregate(x={"nonsense": {"field": "price"}})
