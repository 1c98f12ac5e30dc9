"""Hits collapsed by a field, and what their groups hold."""

from .base import ClewTest

MAPPINGS = {
    "properties": {
        "user": {"type": "keyword"},
        "code": {"type": "long"},
        "city": {"type": "keyword"},
        "likes": {"type": "integer"},
        "text": {"type": "text"},
        "many": {"type": "keyword"},
        "vector": {"type": "knn_vector", "dimension": 2},
    }
}

USERS = ["ann", "bob", "cid", None]


class Collapse(ClewTest):
    def setUp(self):
        super().setUp()
        for index, shards in [("one", 1), ("three", 3)]:
            settings = {"number_of_shards": shards, "index.knn": True}
            self.client.indices.create(index=index, body={"settings": settings, "mappings": MAPPINGS})
            documents = {}
            for number in range(24):
                user = USERS[number % 4]
                source = {
                    "code": number % 3,
                    "city": f"c{number % 2}",
                    "likes": number,
                    "text": "word " * (number + 1),
                    "many": ["a", "b"],
                    "vector": [number, 0],
                }
                if user is not None:
                    source["user"] = user
                documents[f"{index}-{number}"] = source
            for half in [0, 1]:
                part = {k: v for at, (k, v) in enumerate(documents.items()) if at % 2 == half}
                self.index_all(index, part)

    def collapsed(self, index, field="user", sort=({"likes": "desc"},), **more):
        inner = more.pop("inner", None)
        collapse = {"field": field}
        if inner is not None:
            collapse["inner_hits"] = inner
        body = {"collapse": collapse, "sort": list(sort), **more}
        return self.client.search(index=index, body=body)["hits"]

    def test_each_value_has_its_first_hit(self):
        for index in ["one", "three"]:
            hits = self.collapsed(index)
            self.assertEqual(hits["total"]["value"], 24)
            self.assertEqual([hit["sort"] for hit in hits["hits"]], [[23], [22], [21], [20]])
            groups = [hit.get("fields", {}).get("user") for hit in hits["hits"]]
            self.assertEqual(groups, [None, ["cid"], ["bob"], ["ann"]])
            hits = self.collapsed(index, "code", [{"likes": "asc"}])
            self.assertEqual([hit["fields"]["code"] for hit in hits["hits"]], [[0], [1], [2]])

    def test_groups_reach_over_indexes_and_pages(self):
        hits = self.collapsed("one,three", size=3)
        self.assertEqual(hits["total"]["value"], 48)
        self.assertEqual([hit["sort"] for hit in hits["hits"]], [[23], [22], [21]])
        hits = self.collapsed("one,three", size=3, **{"from": 3})
        self.assertEqual([hit["fields"]["user"] for hit in hits["hits"]], [["ann"]])

    def test_by_score_with_a_query(self):
        query = {"match": {"text": "word"}}
        reply = self.client.search(index="three", body={"query": query, "collapse": {"field": "user"}, "size": 2})
        everything = self.client.search(index="three", body={"query": query, "size": 24})
        hits = reply["hits"]["hits"]
        self.assertEqual(reply["hits"]["max_score"], everything["hits"]["max_score"])
        self.assertEqual(hits[0]["_id"], everything["hits"]["hits"][0]["_id"])
        self.assertNotEqual(hits[0].get("fields"), hits[1].get("fields"))
        self.assertNotIn("sort", hits[0])

    def test_groups_show_their_hits(self):
        inner = [
            {"name": "newest", "size": 2, "sort": [{"likes": "desc"}], "_source": ["likes"]},
            {"name": "by_city", "size": 5, "sort": [{"likes": "asc"}], "collapse": {"field": "city"}},
        ]
        for index in ["one", "three"]:
            hits = self.collapsed(index, inner=inner, query={"range": {"likes": {"lt": 20}}})["hits"]
            self.assertEqual(len(hits), 4)
            newest = hits[0]["inner_hits"]["newest"]["hits"]
            self.assertEqual(newest["total"]["value"], 5)
            self.assertEqual([hit["_source"] for hit in newest["hits"]], [{"likes": 19}, {"likes": 15}])
            by_city = hits[0]["inner_hits"]["by_city"]["hits"]["hits"]
            self.assertEqual([hit["fields"] for hit in by_city], [{"city": ["c1"]}])
            by_user = {hit["fields"]["user"][0]: hit for hit in hits if "fields" in hit}
            ann = by_user["ann"]["inner_hits"]["newest"]["hits"]["hits"]
            self.assertEqual([hit["_source"]["likes"] for hit in ann], [16, 12])

    def test_pages_go_on_when_sorted_by_the_same_field(self):
        seen, after = [], None
        while True:
            more = {} if after is None else {"search_after": after}
            hits = self.collapsed("three", "code", [{"code": "asc"}], size=1, **more)["hits"]
            if not hits:
                break
            after = hits[0]["sort"]
            seen += hits[0]["fields"]["code"]
        self.assertEqual(seen, [0, 1, 2])

    def test_neighbours_are_collapsed(self):
        query = {"knn": {"vector": {"vector": [0, 0], "k": 8}}}
        reply = self.client.search(index="one", body={"query": query, "collapse": {"field": "code"}})
        self.assertEqual([hit["_id"] for hit in reply["hits"]["hits"]], ["one-0", "one-1", "one-2"])
        self.assertEqual(reply["hits"]["total"]["value"], 8)

    def test_aggregations_see_all_matches(self):
        body = {"collapse": {"field": "user"}, "aggs": {"n": {"value_count": {"field": "likes"}}}}
        reply = self.client.search(index="three", body=body)
        self.assertEqual(reply["aggregations"]["n"]["value"], 24)
        self.assertEqual(len(reply["hits"]["hits"]), 4)

    def test_what_does_not_go_together_is_refused(self):
        def refused(status, reason, params=None, field="user", **body):
            with self.refused(status, "search_phase_execution_exception") as caught:
                self.client.search(index="one", body={"collapse": {"field": field}, **body}, params=params or {})
            self.assertIn(reason, caught.exception.info["error"]["root_cause"][0]["reason"])

        refused(500, "cannot use `collapse` in a scroll context", params={"scroll": "1m"})
        refused(500, "cannot use `collapse` in conjunction with `search_after`", sort=[{"likes": "asc"}], search_after=[1])
        refused(500, "cannot use `collapse` in conjunction with `rescore`", rescore={"query": {"rescore_query": {"match_all": {}}}})
        refused(400, "no mapping found for `nothing` in order to collapse on", field="nothing")
        refused(400, "unknown type for collapse field `text`, only keywords and numbers are accepted", field="text")
        refused(500, "must be single valued", field="many")
        with self.refused(500) as caught:
            self.client.search(index="one", body={"collapse": {"field": "many"}})
        self.assertEqual(caught.exception.info["error"]["caused_by"]["caused_by"]["type"], "illegal_state_exception")
        with self.refused(400, "x_content_parse_exception", "[collapse] unknown field [x]"):
            self.client.search(index="one", body={"collapse": {"field": "user", "x": 1}})


if __name__ == "__main__":
    import unittest

    unittest.main()
