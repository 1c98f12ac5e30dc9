"""What a profile tells of aggregations."""

from .base import ClewTest


class AggregationProfileTest(ClewTest):
    def test_histograms_tell_how_many_buckets_have_something_in_them(self):
        # As OpenSearch's own test of histograms has it (search.aggregation/10_histogram.yml).
        properties = {"n": {"type": "integer"}, "d": {"type": "date"}}
        self.client.indices.create(index="h", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": properties}})
        self.index_all("h", {str(n): {"n": n, "d": f"2016-01-{n:02}"} for n in (1, 2, 10, 17)})
        aggs = {"numbers": {"histogram": {"field": "n", "interval": 5}}, "days": {"date_histogram": {"field": "d", "fixed_interval": "1d"}}}
        found = self.client.search(index="h", body={"size": 0, "profile": True, "aggs": aggs})
        by_name = {entry["description"]: entry for entry in found["profile"]["shards"][0]["aggregations"]}
        for name, shown, made in [("numbers", 4, 3), ("days", 17, 4)]:
            self.assertEqual(len(found["aggregations"][name]["buckets"]), shown)
            self.assertEqual(by_name[name]["debug"], {"total_buckets": made})

    def test_each_aggregation_is_timed(self):
        settings = {"number_of_shards": 1}
        mappings = {"properties": {"k": {"type": "keyword"}, "n": {"type": "integer"}}}
        self.client.indices.create(index="a", body={"settings": settings, "mappings": mappings})
        documents = {str(n): {"k": "even" if n % 2 == 0 else "odd", "n": n} for n in range(6)}
        self.index_all("a", documents)
        body = {
            "size": 0,
            "profile": True,
            "query": {"range": {"n": {"gte": 1}}},
            "aggs": {
                "words": {
                    "terms": {"field": "k", "include": ["even", "odd"]},
                    "aggs": {"most": {"max": {"field": "n"}}},
                },
                "numbers": {"terms": {"field": "n"}},
            },
        }
        shard = self.client.search(index="a", body=body)["profile"]["shards"][0]
        by_name = {entry["description"]: entry for entry in shard["aggregations"]}
        words, numbers = by_name["words"], by_name["numbers"]
        self.assertEqual(words["type"], "GlobalOrdinalsStringTermsAggregator")
        self.assertEqual(words["breakdown"]["collect_count"], 5)
        self.assertEqual(words["debug"]["result_strategy"], "terms")
        self.assertTrue(words["debug"]["has_filter"])
        self.assertGreater(words["time_in_nanos"], 0)
        most = words["children"][0]
        self.assertEqual((most["type"], most["description"]), ("MaxAggregator", "most"))
        self.assertEqual(most["breakdown"]["collect_count"], 5)
        self.assertLessEqual(most["breakdown"]["collect"], words["breakdown"]["collect"])
        self.assertEqual(numbers["debug"]["result_strategy"], "long_terms")
        self.assertEqual(numbers["debug"]["total_buckets"], 5)
        quiet = self.client.search(index="a", body={**body, "profile": False})
        self.assertNotIn("profile", quiet)
