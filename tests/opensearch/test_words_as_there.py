"""Words that a real OpenSearch 2.19.0 looks for in fields of other kinds than texts, and fields that it refuses for it."""

from .base import ClewTest


class WordsAsThere(ClewTest):
    def make(self, name, fields, documents, **settings):
        body = {"settings": {"number_of_shards": 1, **settings}, "mappings": {"properties": fields}}
        self.client.indices.create(index=name, body=body)
        self.index_all(name, documents)

    def hits(self, index, **body):
        return self.client.search(index=index, body=body)["hits"]["hits"]

    def ids(self, index, query):
        return sorted(hit["_id"] for hit in self.hits(index, query=query))

    def assert_shards_refuse(self, kind, reason, index, status=400, **body):
        with self.refused(status, "search_phase_execution_exception") as caught:
            self.hits(index, **body)
        root = caught.exception.info["error"]["root_cause"][0]
        self.assertEqual((root["type"], root["reason"]), (kind, reason), body)

    def test_an_input_of_a_completion_is_one_word(self):
        inputs = {"1": "Quick", "2": "quick brown", "3": "fox"}
        fields = {"c": {"type": "completion"}, "k": {"type": "keyword"}}
        self.make("inputs", fields, {id: {"c": text, "k": "z"} for id, text in inputs.items()})
        for query, expected in [
            ({"term": {"c": "quick"}}, ["1"]), ({"term": {"c": "Quick"}}, []), ({"terms": {"c": ["quick", "fox"]}}, ["1", "3"]),
            ({"match": {"c": "QUICK"}}, ["1"]), ({"match": {"c": "Quick Brown"}}, ["2"]), ({"match": {"c": "brown"}}, []),
            ({"match_phrase": {"c": "quick brown"}}, ["2"]), ({"match": {"c": "1"}}, []), ({"match_bool_prefix": {"c": "1"}}, []),
            ({"query_string": {"query": "c:quick"}}, ["1"]), ({"query_string": {"query": "quick"}}, ["1"]),
            ({"simple_query_string": {"query": "quick | fox"}}, ["1", "3"]), ({"multi_match": {"query": "fox"}}, ["3"]),
        ]:
            self.assertEqual(self.ids("inputs", query), expected, query)
        # As rare as the word is among the documents that have an input.
        (only,) = self.hits("inputs", query={"match": {"c": "fox"}})
        self.assertAlmostEqual(only["_score"], 0.98082925, places=5)
        refused = "Can only use prefix queries on keyword and text fields - not on [c] which is of type [completion]"
        self.assert_shards_refuse("query_shard_exception", refused, "inputs", query={"match_bool_prefix": {"c": "quick"}})
