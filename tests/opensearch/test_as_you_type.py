"""`search_as_you_type`: words that are still being typed."""

from .base import ClewTest

FIELDS = ["t", "t._2gram", "t._3gram"]


class AsYouTypeTest(ClewTest):
    def setUp(self):
        super().setUp()
        properties = {
            "t": {"type": "search_as_you_type"},
            "s": {"type": "text", "fields": {"typed": {"type": "search_as_you_type"}}},
        }
        self.client.indices.create(index="a", body={"mappings": {"properties": properties}})
        self.index_all(
            "a",
            {
                "1": {"t": "quick brown fox jumps", "s": "Hello World"},
                "2": {"t": "brown quick bear"},
                "3": {"t": "slow turtle"},
            },
        )

    def typed(self, text, fields=FIELDS):
        clause = {"query": text, "type": "bool_prefix", "fields": fields}
        return self.ids("a", query={"multi_match": clause})

    def test_the_order_of_words_counts(self):
        self.assertEqual(self.typed("quick bro"), ["1", "2"])
        self.assertEqual(self.typed("brown qu"), ["2", "1"])
        self.assertEqual(self.typed("slow t")[0], "3")
        self.assertEqual(self.typed("hello wo", ["s.typed", "s.typed._2gram"]), ["1"])

    def test_the_fields_beside_it_can_be_searched(self):
        self.assertEqual(self.ids("a", query={"match": {"t._2gram": "brown fox"}}), ["1"])
        self.assertEqual(self.ids("a", query={"term": {"t._3gram": "brown fox jumps"}}), ["1"])
        self.assertEqual(self.ids("a", query={"term": {"t._index_prefix": "brown f"}}), ["1"])
        phrase = {"match_phrase_prefix": {"t": "brown fo"}}
        self.assertEqual(self.ids("a", query=phrase), ["1"])

    def test_phrases_are_words_of_the_fields_beside_it(self):
        scores = lambda **query: {hit["_id"]: hit["_score"] for hit in self.client.search(index="a", body={"query": query})["hits"]["hits"]}
        for phrase, same in (("quick brown fox", {"t._3gram": "quick brown fox"}), ("quick brown", {"t._2gram": "quick brown"})):
            self.assertEqual(scores(match_phrase={"t": phrase}), scores(term=same), phrase)
        self.assertEqual(list(scores(match_phrase={"t": "quick brown fox jumps"})), ["1"])
        self.assertEqual(scores(match_phrase_prefix={"t": "brown f"}), scores(term={"t._index_prefix": "brown f"}))
        for begun, ids in (("quick brown fox ju", ["1"]), ("brown quick be", ["2"]), ("quick fox", []), ("fox quick br", []), ("slow", ["3"])):
            self.assertEqual(list(scores(match_phrase_prefix={"t": begun})), ids, begun)
        # Words that may be moved are looked for among words.
        self.assertEqual(list(scores(match_phrase={"t": {"query": "quick fox", "slop": 1}})), ["1"])
        for query in ("match_phrase", "match_phrase_prefix"):
            with self.refused(400, "search_phase_execution_exception"):
                scores(**{query: {"t._index_prefix": "brown fox"}})

    def test_the_fields_beside_it_are_told_of(self):
        told = self.client.field_caps(index="a", fields="t*")["fields"]
        kinds = {name: list(types) for name, types in told.items()}
        typed = ["search_as_you_type"]
        self.assertEqual(kinds, {"t": typed, "t._2gram": typed, "t._3gram": typed, "t._index_prefix": ["prefix"]})
        self.assertEqual(told["t._2gram"]["search_as_you_type"], {
            "type": "search_as_you_type", "searchable": True, "aggregatable": False})

    def test_the_mapping_is_kept(self):
        self.restart()
        shown = self.client.indices.get_mapping(index="a")["a"]["mappings"]["properties"]["t"]
        expected = {"type": "search_as_you_type", "doc_values": False, "max_shingle_size": 3}
        self.assertEqual(shown, expected)
        self.client.index(index="a", id="4", body={"t": "quick brown dog"}, refresh=True)
        self.assertEqual(self.ids("a", query={"match": {"t._2gram": "brown dog"}}), ["4"])
        with self.refused(400, "mapper_parsing_exception"):
            self.client.indices.create(
                index="b",
                body={
                    "mappings": {
                        "properties": {"t": {"type": "search_as_you_type", "max_shingle_size": 9}}
                    }
                },
            )
