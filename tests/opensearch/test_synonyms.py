"""Synonyms in queries, of one word and of several; the expected scores are a real OpenSearch's."""

from .base import ClewTest

RULES = ["ny, new york", "nyc, new york city, big apple", "usa, united states of america, us", "dns => domain name system",
         "domain name system, dns", "car, auto, automobile", "quick => fast"]
TEXTS = ["new york is big", "ny is big", "the new york city subway", "nyc subway", "united states of america",
         "usa flag", "us flag", "new shoes from york", "domain name system server", "dns server", "quick fast car",
         "fast car", "quick auto", "the big apple", "apple big"]


class Synonyms(ClewTest):
    def setUp(self):
        super().setUp()
        filters = {kind: {"type": kind, "synonyms": RULES} for kind in ("synonym", "synonym_graph")}
        analyzers = {kind: {"tokenizer": "standard", "filter": ["lowercase", kind]} for kind in filters}
        self.client.indices.create(index="i", body={
            "settings": {"number_of_shards": 1, "analysis": {"filter": filters, "analyzer": analyzers}},
            "mappings": {"properties": {
                "graph": {"type": "text", "analyzer": "standard", "search_analyzer": "synonym_graph"},
                "flat": {"type": "text", "analyzer": "standard", "search_analyzer": "synonym"}}}})
        self.index_all("i", {str(at): {"graph": text, "flat": text} for at, text in enumerate(TEXTS)})

    def found(self, query):
        hits = self.client.search(index="i", body={"query": query, "size": 20})["hits"]["hits"]
        return {hit["_id"]: hit["_score"] for hit in hits}

    def tokens(self, kind, text):
        answer = self.client.indices.analyze(index="i", body={"analyzer": kind, "text": text})
        return [(token["token"], token["position"], token.get("positionLength", 1), token["start_offset"],
                 token["end_offset"]) for token in answer["tokens"]]

    def test_several_words_are_a_way_through_a_graph(self):
        self.assertEqual(self.tokens("synonym_graph", "ny subway"), [
            ("new", 0, 1, 0, 2), ("ny", 0, 2, 0, 2), ("york", 1, 1, 0, 2), ("subway", 2, 1, 3, 9)])
        self.assertEqual(self.tokens("synonym_graph", "new york city"), [
            ("nyc", 0, 4, 0, 13), ("big", 0, 1, 0, 13), ("new", 0, 2, 0, 3), ("apple", 1, 3, 0, 13),
            ("york", 2, 1, 4, 8), ("city", 3, 1, 9, 13)])

    def test_flat_synonyms_lie_over_the_words_that_follow(self):
        self.assertEqual(self.tokens("synonym", "ny subway"), [
            ("ny", 0, 1, 0, 2), ("new", 0, 1, 0, 2), ("subway", 1, 1, 3, 9), ("york", 1, 1, 3, 9)])
        self.assertEqual(self.tokens("synonym", "new york city")[:2], [("new", 0, 1, 0, 3), ("nyc", 0, 3, 0, 13)])

    def test_several_words_must_stand_in_a_row(self):
        self.assertEqual(set(self.found({"match": {"graph": "ny"}})), {"0", "1", "2"})
        apart = {"query": "ny", "auto_generate_synonyms_phrase_query": False}
        self.assertEqual(set(self.found({"match": {"graph": apart}})), {"0", "1", "2", "7"})
        both = {"query": "usa flag", "operator": "and"}
        self.assertEqual(set(self.found({"match": {"graph": both}})), {"5", "6"})
        self.assertEqual(set(self.found({"match_phrase": {"graph": "nyc subway"}})), {"2", "3"})
        self.assertEqual(set(self.found({"match_phrase": {"graph": "dns server"}})), {"8", "9"})
        self.assertEqual(set(self.found({"intervals": {"graph": {"match": {"query": "us flag"}}}})), {"5", "6"})
        # The words of a synonym in the text are seen, though each word is a clause elsewhere.
        text = {"query": "big apple subway", "default_field": "graph", "default_operator": "and"}
        self.assertEqual(set(self.found({"query_string": text})), {"2", "3"})

    def test_words_that_stand_for_each_other_score_as_one(self):
        found = self.found({"match": {"graph": "car"}})
        self.assertEqual(set(found), {"10", "11", "12"})
        self.assertEqual(found["11"], found["12"])
        self.assertLess(found["10"], found["11"])
        # With and, one of them is enough at each place.
        self.assertEqual(set(self.found({"match": {"flat": {"query": "quick car", "operator": "and"}}})), {"10", "11"})

    def test_rules_that_say_nothing_are_refused(self):
        for rule in ("a => b => c", "z => ", " , "):
            with self.refused(400, "illegal_argument_exception", "Failed to build synonyms"):
                self.client.indices.analyze(body={"tokenizer": "whitespace", "text": "z", "filter": [
                    {"type": "synonym", "synonyms": [rule]}]})
