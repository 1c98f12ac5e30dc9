"""`_doc_count`: documents that stand for several."""

from .base import ClewTest

DOCUMENTS = {
    "0": {"k": "a", "n": 1, "d": "2024-01-01", "_doc_count": 10, "o": [{"x": 1}, {"x": 2}]},
    "1": {"k": "a", "n": 2, "d": "2024-01-02"},
    "2": {"k": ["b", "a"], "n": 3, "d": "2024-01-02", "_doc_count": 3, "o": {"x": 1}},
    "3": {"k": "c", "n": 15, "d": "2024-02-01", "_doc_count": 7},
    "4": {"n": 4},
}


class DocCount(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="i", body={"settings": {"number_of_shards": 1}, "mappings": {
            "dynamic": "strict",
            "properties": {"k": {"type": "keyword"}, "n": {"type": "integer"}, "d": {"type": "date"},
                           "o": {"type": "nested", "properties": {"x": {"type": "integer"}}}}}})
        self.index_all("i", DOCUMENTS)

    def buckets(self, aggregation):
        return self.client.search(index="i", body={"size": 0, "aggs": {"a": aggregation}})["aggregations"]["a"]

    def check_counts(self):
        terms = self.buckets({"terms": {"field": "k"}})["buckets"]
        self.assertEqual([(b["key"], b["doc_count"]) for b in terms], [("a", 14), ("c", 7), ("b", 3)])
        days = {"date_histogram": {"field": "d", "calendar_interval": "month"}, "aggs": {"n": {"sum": {"field": "n"}}}}
        self.assertEqual([(b["doc_count"], b["n"]["value"]) for b in self.buckets(days)["buckets"]], [(14, 6.0), (7, 15.0)])
        self.assertEqual(self.buckets({"missing": {"field": "k"}})["doc_count"], 1)
        self.assertEqual(self.buckets({"filter": {"term": {"k": "a"}}})["doc_count"], 14)
        self.assertEqual(self.buckets({"value_count": {"field": "n"}})["value"], 5)
        back = {"nested": {"path": "o"}, "aggs": {"back": {"reverse_nested": {}}}}
        nested = self.buckets(back)
        self.assertEqual((nested["doc_count"], nested["back"]["doc_count"]), (3, 13))
        sample = self.buckets({"sampler": {}, "aggs": {"k": {"terms": {"field": "k"}}}})
        self.assertEqual((sample["doc_count"], sample["k"]["buckets"][0]["doc_count"]), (5, 14))

    def test_buckets_count_what_documents_stand_for(self):
        self.check_counts()
        found = self.client.search(index="i", body={"query": {"exists": {"field": "_doc_count"}}})["hits"]
        self.assertEqual({hit["_id"] for hit in found["hits"]}, {"0", "2", "3"})
        self.assertEqual(self.client.count(index="i")["count"], 5)
        self.assertNotIn("_doc_count", self.client.indices.get_mapping(index="i")["i"]["mappings"]["properties"])
        self.assertEqual(self.client.get(index="i", id="0")["_source"], DOCUMENTS["0"])

    def test_it_outlives_merges_and_restarts(self):
        self.client.indices.forcemerge(index="i", max_num_segments=1)
        self.restart()
        self.check_counts()

    def test_only_positive_whole_numbers_are_taken(self):
        for value, reason in [(0, "Field [_doc_count] must be a positive integer."),
                              (-1, "Field [_doc_count] must be a positive integer."),
                              (1.5, "1.5 cannot be converted to Long without data loss"),
                              ("5", "expecting token of type [VALUE_NUMBER] but found [VALUE_STRING]"),
                              (None, "expecting token of type [VALUE_NUMBER] but found [VALUE_NULL]")]:
            with self.subTest(value):
                with self.refused(400, "mapper_parsing_exception", "failed to parse field [_doc_count]") as caught:
                    self.client.index(index="i", body={"n": 1, "_doc_count": value})
                self.assertIn(reason, caught.exception.info["error"]["caused_by"]["reason"])
        with self.refused(400, "mapper_parsing_exception", "appears more than once"):
            self.client.index(index="i", body={"n": 1, "_doc_count": [1, 2]})
        with self.refused(400, "mapper_parsing_exception", "Field [_doc_count] is defined more than once"):
            self.client.indices.create(index="j", body={"mappings": {"properties": {"_doc_count": {"type": "long"}}}})
        with self.refused(400, "mapper_parsing_exception", "No handler for type [_doc_count]"):
            self.client.indices.create(index="j", body={"mappings": {"properties": {"a": {"type": "_doc_count"}}}})
