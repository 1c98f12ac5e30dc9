"""Aggregations over range fields: a document counts in each bucket that its ranges touch."""

from .base import ClewTest

MAPPINGS = {
    "properties": {
        "n": {"type": "integer_range"},
        "f": {"type": "double_range"},
        "t": {"type": "date_range"},
        "ip": {"type": "ip_range"},
    }
}


class RangeAggregationsTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="r", body={"mappings": MAPPINGS})
        self.index_all(
            "r",
            {
                "a": {"n": {"gte": 1, "lt": 21}, "f": {"gte": 0.5, "lte": 1.5},
                      "t": {"gte": "2024-01-01", "lt": "2024-03-01"}, "ip": "10.0.0.0/8"},
                "b": {"n": [{"gte": 5, "lte": 8}, {"gte": 7, "lte": 31}],
                      "t": {"gte": "2024-02-10", "lte": "2024-02-11"}, "ip": "10.0.0.0/8"},
                "c": {"f": {"gt": 2, "lte": 4}},
                "d": {"n": {"gte": 40}},
            },
        )

    def agg(self, kind, **body):
        request = {"size": 0, "aggs": {"x": {kind: body}}}
        return self.client.search(index="r", body=request)["aggregations"]["x"]

    def counts(self, kind, **body):
        buckets = self.agg(kind, **body)["buckets"]
        return {bucket.get("key_as_string", bucket["key"]): bucket["doc_count"] for bucket in buckets}

    def test_numbers(self):
        found = self.counts("histogram", field="n", interval=10, hard_bounds={"min": 0, "max": 45})
        self.assertEqual(found, {0: 2, 10: 2, 20: 2, 30: 1, 40: 1})
        # Bounds beside a range touch the bucket that its end is in.
        found = self.counts("histogram", field="n", interval=10, hard_bounds={"min": 22, "max": 28})
        self.assertEqual(found, {20: 2})
        found = self.counts("histogram", field="f", interval=1)
        self.assertEqual(found, {0: 1, 1: 1, 2: 1, 3: 1, 4: 1})
        extended = {"min": -2, "max": 5}
        found = self.counts("histogram", field="f", interval=2, extended_bounds=extended)
        self.assertEqual(found, {-2: 0, 0: 1, 2: 1, 4: 1})
        inner = {"x": {"histogram": {"field": "f", "interval": 1, "offset": 0.5},
                       "aggs": {"n": {"value_count": {"field": "n"}}}}}
        found = self.client.search(index="r", body={"size": 0, "aggs": inner})["aggregations"]["x"]
        first = found["buckets"][0]
        self.assertEqual((first["key"], first["doc_count"], first["n"]["value"]), (0.5, 1, 1))
        with self.refused(400) as caught:
            self.counts("histogram", field="n", interval=1)
        self.assertIn("hard_bounds", str(caught.exception.info))

    def test_dates(self):
        found = self.counts("date_histogram", field="t", calendar_interval="month", format="yyyy-MM")
        self.assertEqual(found, {"2024-01": 1, "2024-02": 2})
        bounds = {"min": "2024-02-10", "max": "2024-02-12"}
        found = self.counts(
            "date_histogram", field="t", fixed_interval="1d", format="yyyy-MM-dd", hard_bounds=bounds
        )
        self.assertEqual(found, {"2024-02-10": 2, "2024-02-11": 2, "2024-02-12": 1})
        found = self.counts(
            "date_histogram", field="t", calendar_interval="month", format="yyyy-MM",
            time_zone="America/New_York",
        )
        self.assertEqual(found, {"2023-12": 1, "2024-01": 1, "2024-02": 2})

    def test_metrics(self):
        self.assertEqual(self.agg("value_count", field="n")["value"], 4)
        self.assertEqual(self.agg("cardinality", field="ip")["value"], 1)
        self.assertEqual(self.agg("cardinality", field="n")["value"], 4)
        self.assertEqual(self.agg("missing", field="f")["doc_count"], 2)

    def test_what_ranges_cannot(self):
        for kind, field, more, reason in [
            ("terms", "n", {}, "Field [n] of type [integer_range] is not supported for aggregation [terms]"),
            ("avg", "n", {}, "is not supported for aggregation [avg]"),
            ("histogram", "ip", {"interval": 1}, "Expected numeric range type but found non-numeric range [ip_range]"),
            ("date_histogram", "n", {"fixed_interval": "1d"}, "Expected date range type but found range type [integer_range]"),
        ]:
            with self.refused(400) as caught:
                self.agg(kind, field=field, **more)
            self.assertIn(reason, str(caught.exception.info))
        sources = [{"x": {"histogram": {"field": "n", "interval": 10}}}]
        with self.refused(400) as caught:
            self.agg("composite", sources=sources)
        self.assertIn("is not supported for aggregation [composite]", str(caught.exception.info))
        with self.refused(400) as caught:
            self.client.search(index="r", body={"sort": ["n"]})
        self.assertIn("can't sort on binary field", str(caught.exception.info))
