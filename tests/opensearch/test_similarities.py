"""Schemes of scoring beside the usual one; the expected scores are a real OpenSearch's."""

from .base import ClewTest

TEXTS = ["a a b", "a b c d e f g", "b c", "a c c d", "d e f g h", "a a a a x x x x x x x"]
SCHEMES = {
    "short": ({"type": "BM25", "k1": 0.9, "b": 0.3}, 0.60353696, 0.6473896, 1.2102207),
    "same": ({"type": "boolean"}, 1.0, 1.0, 1.0),
    "dirichlet": ({"type": "LMDirichlet", "mu": 5}, 0.43286407, 0.20633644, 0.5845987),
    "mercer": ({"type": "LMJelinekMercer", "lambda": 0.7}, 0.7166777, 0.45198515, 1.1998829),
    "randomness": ({"type": "DFR", "basic_model": "in", "after_effect": "l", "normalization": "h2",
                    "normalization.h2.c": 3.5}, 0.5423604, 0.54264987, 1.2123932),
    "independence": ({"type": "DFI", "independence_measure": "standardized"}, 1.205736, 0.65750307, 1.3035871),
    "information": ({"type": "IB", "distribution": "spl", "lambda": "ttf", "normalization": "h2"},
                    1.2818077, 1.1032524, 1.9165416),
}


class Similarities(ClewTest):
    def make(self, **more):
        self.client.indices.create(index="i", body={
            "settings": {"number_of_shards": 1, "index": {
                "similarity": {**{name: parts[0] for name, parts in SCHEMES.items()}, **more}}},
            "mappings": {"properties": {
                "plain": {"type": "text"},
                **{name: {"type": "text", "similarity": name} for name in SCHEMES}}},
        })
        names = ["plain", *SCHEMES]
        self.index_all("i", {str(at): dict.fromkeys(names, text) for at, text in enumerate(TEXTS)})

    def scores(self, query):
        hits = self.client.search(index="i", body={"query": query, "size": 10})["hits"]["hits"]
        return {hit["_id"]: hit["_score"] for hit in hits}

    def check(self):
        for name, (_, first, last, phrase) in SCHEMES.items():
            with self.subTest(name):
                words = self.scores({"match": {name: "a"}})
                self.assertAlmostEqual(words["0"], first, delta=1e-4)
                self.assertAlmostEqual(words["5"], last, delta=1e-4)
                self.assertAlmostEqual(self.scores({"match_phrase": {name: "a b"}})["0"], phrase, delta=1e-4)

    def test_each_scheme_scores_as_in_opensearch_before_and_after_a_restart(self):
        self.make()
        self.check()
        self.restart()
        self.check()
        self.assertIn("LMDirichlet", str(self.client.explain(index="i", id="0", body={
            "query": {"match": {"dirichlet": "a"}}})))
        shown = self.client.indices.get_mapping(index="i")["i"]["mappings"]["properties"]["mercer"]
        self.assertEqual(shown, {"type": "text", "similarity": "mercer"})

    def test_the_default_is_for_fields_that_name_none(self):
        self.make(default={"type": "boolean"})
        self.assertEqual(set(self.scores({"match": {"plain": "a"}}).values()), {1.0})
        self.check()

    def test_best_hits_are_the_best_whatever_the_scheme(self):
        self.make()
        for name in SCHEMES:
            query = {"match": {name: "a c d"}}
            best = sorted(self.scores(query).values(), reverse=True)[:2]
            top = self.client.search(index="i", body={"query": query, "size": 2})["hits"]["hits"]
            self.assertEqual([hit["_score"] for hit in top], best, name)

    def test_words_at_one_place_are_as_long_as_the_scheme_says(self):
        """The scores are a real OpenSearch's."""
        text = {"type": "text", "analyzer": "more", "search_analyzer": "standard"}
        self.client.indices.create(index="o", body={
            "settings": {"number_of_shards": 1, "similarity": {"each": {"type": "BM25", "discount_overlaps": "false"}},
                         "analysis": {
                             "filter": {"alike": {"type": "synonym", "synonyms": ["quick,fast,speedy,rapid"]}},
                             "analyzer": {"more": {"tokenizer": "standard", "filter": ["lowercase", "alike"]}}}},
            "mappings": {"properties": {"usual": text, "each": {**text, "similarity": "each"}}}})
        texts = ["quick brown fox", "quick quick fox", "brown fox jumps over", "fox quick fast"]
        self.index_all("o", {str(at): {"usual": text, "each": text} for at, text in enumerate(texts)})
        expected = {"usual": [0.137504, 0.137504, 0.12776, 0.137504], "each": [0.1119, 0.094334, 0.12776, 0.094334]}

        def check():
            for field, scores in expected.items():
                body = {"query": {"match": {field: "fox"}}}
                hits = self.client.search(index="o", body=body)["hits"]["hits"]
                found = {hit["_id"]: hit["_score"] for hit in hits}
                for at, score in enumerate(scores):
                    self.assertAlmostEqual(found[str(at)], score, delta=1e-5, msg=field)

        check()
        self.restart()
        check()
        self.client.indices.forcemerge(index="o", params={"max_num_segments": 1})
        check()

    def test_a_text_that_keeps_no_frequencies_is_as_long_as_it_has_different_words(self):
        self.client.indices.create(index="d", body={
            "settings": {"number_of_shards": 1},
            "mappings": {"properties": {"t": {"type": "text", "index_options": "docs"},
                                        "e": {"type": "text", "analyzer": "english", "index_options": "docs"}}}})
        texts = ["quick brown fox", "quick quick fox fox fox", "brown fox jumps over"]
        self.index_all("d", {str(at): {"t": text, "e": text} for at, text in enumerate(texts)})

        def check():
            for field in "te":
                hits = self.client.search(index="d", body={"query": {"match": {field: "fox"}}})["hits"]["hits"]
                found = {hit["_id"]: hit["_score"] for hit in hits}
                self.assertGreater(found["1"], found["0"], field)
                self.assertGreater(found["0"], found["2"], field)

        check()
        self.restart()
        check()
        self.client.indices.forcemerge(index="d", params={"max_num_segments": 1})
        check()

    def test_what_makes_no_sense_is_refused(self):
        def create(field=None, **schemes):
            self.client.indices.create(index="i", body={
                "settings": {"index": {"similarity": schemes}},
                "mappings": {"properties": {"t": field or {"type": "text"}}}})

        with self.refused(400, "mapper_parsing_exception", "Unknown Similarity type [nope] for field [t]"):
            create({"type": "text", "similarity": "nope"})
        with self.refused(400, "illegal_argument_exception", "cannot redefine built-in similarity"):
            create(BM25={"type": "boolean"})
        with self.refused(400, "illegal_argument_exception", "Unsupported Lambda [null]"):
            create(x={"type": "IB", "distribution": "ll"})
        with self.refused(500, "settings_exception", "Failed to parse float setting [k1] with value [abc]"):
            create(x={"type": "BM25", "k1": "abc"})
        self.make()
        with self.refused(400, "illegal_argument_exception", "Cannot update parameter [similarity]"):
            self.client.indices.put_mapping(index="i", body={
                "properties": {"same": {"type": "text", "similarity": "short"}}})
        with self.refused(400, "illegal_argument_exception", "non dynamic settings [[index.similarity.same.type]]"):
            self.client.indices.put_settings(index="i", body={"index": {"similarity": {"same": {"type": "BM25"}}}})
