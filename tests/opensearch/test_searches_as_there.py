"""What a real OpenSearch 2.19.0 answered to searches: each family once, with the answer that it gave."""

from .base import ClewTest


class SearchesAsThere(ClewTest):
    def make(self, name, fields, documents):
        body = {"settings": {"number_of_shards": 1}, "mappings": {"properties": fields}}
        self.client.indices.create(index=name, body=body)
        self.index_all(name, documents)

    def hits(self, index, **body):
        return self.client.search(index=index, body=body)["hits"]["hits"]

    def assert_scores(self, index, query, expected):
        found = {hit["_id"]: hit["_score"] for hit in self.hits(index, query=query)}
        self.assertEqual(set(found), set(expected), query)
        for id, score in expected.items():
            self.assertAlmostEqual(found[id], score, delta=score * 1e-5, msg=(query, id))

    def assert_shards_refuse(self, kind, reason, index, **body):
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.hits(index, **body)
        root = caught.exception.info["error"]["root_cause"][0]
        self.assertEqual((root["type"], root["reason"]), (kind, reason), body)

    def test_what_a_text_does_not_keep_is_not_counted(self):
        fields = {"flat": {"type": "text", "norms": False}, "once": {"type": "text", "index_options": "docs"},
                  "often": {"type": "text", "index_options": "freqs", "norms": False}}
        texts = {"1": "fox fox fox", "2": "quick fox", "3": "a quick brown fox jumps over the fox"}
        self.make("kept", fields, {id: dict.fromkeys(fields, text) for id, text in texts.items()})
        flat = {"1": 0.25124985, "2": 0.19484682, "3": 0.23429434}
        self.assert_scores("kept", {"match": {"flat": "fox"}}, flat)
        self.assert_scores("kept", {"match": {"often": "fox"}}, flat)
        self.assert_scores("kept", {"match": {"flat": "quick fox"}}, {"1": 0.25124985, "2": 0.88066846, "3": 0.920116})
        self.assert_scores("kept", {"match_phrase": {"flat": "quick fox"}}, {"2": 0.8806685})
        self.assert_scores("kept", {"multi_match": {"query": "quick fox", "type": "phrase"}}, {"2": 0.8806685})
        self.assertEqual(len(self.hits("kept", query={"match_phrase": {"once": "fox"}})), 3)
        self.assertEqual(len(self.hits("kept", query={"match_phrase_prefix": {"often": "fo"}})), 3)
        refused = "failed to create query: "
        for field in ("once", "often"):
            phrase = f"{refused}field:[{field}] was indexed without position data; cannot run PhraseQuery"
            for kind in ("match_phrase", "match_phrase_prefix"):
                self.assert_shards_refuse("query_shard_exception", phrase, "kept", query={kind: {field: "quick fox"}})

    def test_distances_to_several_points_are_all_looked_at(self):
        self.make("s1", {"g": {"type": "geo_point"}}, {"1": {"g": "45,5"}, "2": {"g": "42,2"}, "3": {"g": ["40,0", "50,9"]}})
        by = lambda **rest: {hit["_id"]: hit["sort"][0] for hit in self.hits(
            "s1", sort=[{"_geo_distance": {"g": ["45,5", "41,1"], "unit": "km", **rest}}])}
        for rest, expected in (
            ({"mode": "min"}, {"1": 0, "2": 138.683, "3": 139.304}),
            ({"mode": "max"}, {"2": 413.211, "1": 551.844, "3": 1181.146}),
            ({"mode": "avg"}, {"1": 275.922, "2": 275.947, "3": 650.637}),
            ({"mode": "min", "distance_type": "plane"}, {"1": 0, "2": 138.685, "3": 139.306}),
        ):
            found = by(**rest)
            self.assertEqual(list(found), list(expected), rest)
            for id, distance in expected.items():
                self.assertAlmostEqual(found[id], distance, delta=0.01, msg=(rest, id))

    def test_a_name_in_a_body_has_no_order_behind_it(self):
        self.make("s1", {"n": {"type": "integer"}}, {"1": {"n": 1}})
        reason = "No mapping found for [n:desc] in order to sort on"
        self.assert_shards_refuse("query_shard_exception", reason, "s1", sort=["n:desc"])
