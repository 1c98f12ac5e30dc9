"""`more_like_this`: what documents bring, what is unwanted, what words weigh."""

from .base import ClewTest

DOCUMENTS = {
    "1": {"t": "red red green blue", "u": "one"},
    "2": {"t": "red green", "u": "two"},
    "3": {"t": "blue yellow", "u": "one two"},
    "4": {"t": "green green yellow"},
    "5": {"t": "grey", "u": "one"},
}
ALL = {"min_term_freq": 1, "min_doc_freq": 1, "minimum_should_match": 1}


class MoreLikeThis(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="i", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": {
            "t": {"type": "text"}, "n": {"type": "integer"}, "u": {"type": "text"}, "copy": {"type": "text"},
            "from": {"type": "text", "copy_to": "copy"}}}})
        self.index_all("i", DOCUMENTS)

    def found(self, **query):
        body = {"query": {"more_like_this": {**ALL, **query}}}
        hits = self.client.search(index="i", body=body)["hits"]["hits"]
        return {hit["_id"]: hit["_score"] for hit in hits}

    def test_unwanted_documents_count_only_where_documents_are_wanted(self):
        stored = {"_index": "i", "_id": "1"}
        self.assertEqual(set(self.found(fields=["t"], like=[stored], unlike=[{"_id": "4"}])), {"2", "3"})
        self.assertEqual(set(self.found(fields=["t"], like="yellow", unlike=[{"_id": "4"}])), {"3", "4"})
        self.assertEqual(set(self.found(fields=["t"], like="yellow blue", unlike="yellow")), {"1", "3"})

    def test_all_fields_of_a_document_of_no_index_count(self):
        self.assertEqual(set(self.found(fields=["t"], like=[{"doc": {"t": "grey", "u": "two"}}])), {"2", "3", "5"})
        self.assertEqual(set(self.found(fields=["t"], like=[{"_id": "5"}], include=True)), {"5"})

    def test_boosts_are_measured_by_the_word_that_says_least(self):
        usual = self.found(fields=["t"], like="grey green green")
        boosted = self.found(fields=["t"], like="grey green green", boost_terms=1)
        # grey is in one document of five, green in three and twice in the text.
        self.assertAlmostEqual(boosted["5"], usual["5"], places=5)
        self.assertGreater(boosted["2"], usual["2"])

    def test_fields_of_a_document_have_analyzers_of_its_own(self):
        like = {"doc": {"t": "RED grey"}, "per_field_analyzer": {"t": "whitespace"}}
        self.assertEqual(set(self.found(fields=["t"], like=[like])), {"5"})

    def test_a_document_is_named_or_given(self):
        with self.refused(400, "parse_exception", "either [id] or [doc] can be specified, but not both!"):
            self.found(fields=["t"], like=[{"_id": "1", "doc": {"t": "red"}}])
        with self.refused(400, "parsing_exception", "requires 'like' to be specified"):
            self.found(fields=["t"], unlike=["red"])

    def test_fields_without_words_are_passed_over_where_that_is_asked(self):
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.found(fields=["n"], like="5")
        told = caught.exception.info["error"]["root_cause"][0]["reason"]
        self.assertIn("more_like_this only supports text/keyword fields: [n]", told)
        self.assertEqual(self.found(fields=["n"], like="5", fail_on_unsupported_field=False), {})
        self.assertEqual(set(self.found(fields=["n", "t"], like="grey", fail_on_unsupported_field=False)), {"5"})

    def test_a_number_is_a_text_to_be_like(self):
        self.client.index(index="i", id="6", body={"t": "5 true"}, refresh=True)
        self.assertEqual(set(self.found(fields=["t"], like=5)), {"6"})
        self.assertEqual(set(self.found(fields=["t"], like=["grey", True])), {"5", "6"})
