"""`index.merge.reorder`: merges put similar documents beside each other, and nobody can tell but by the time it takes."""

import json
import random
import re
import unittest

from .base import ClewTest

COUNT = 1500
TOPICS = 15
MAPPING = {
    "properties": {
        "text": {"type": "text", "fields": {"whole": {"type": "keyword"}}},
        "topic": {"type": "keyword"},
        "number": {"type": "integer"},
        "prices": {"type": "double"},
        "at": {"type": "date"},
        "place": {"type": "geo_point"},
        "open": {"type": "boolean"},
        "suggest": {"type": "completion"},
        "flags": {"type": "flat_object"},
        "rank": {"type": "rank_feature"},
        "query": {"type": "percolator"},
        "relation": {"type": "join", "relations": {"question": "answer"}},
        "comments": {
            "type": "nested",
            "properties": {
                "author": {"type": "keyword"},
                "text": {"type": "text"},
                "votes": {"type": "nested", "properties": {"by": {"type": "keyword"}}},
            },
        },
    }
}


def document(number):
    draw = random.Random(number)
    topic = draw.randrange(TOPICS)
    own = [f"word{topic}x{draw.randrange(12)}" for _ in range(6)]
    text = " ".join(own + [f"all{draw.randrange(200)}" for _ in range(3)])
    one = {
        "text": text,
        "topic": f"topic{topic}",
        "number": number,
        "prices": [draw.random() * 100 for _ in range(draw.randrange(3))],
        "at": 1_700_000_000_000 + draw.randrange(10**9),
        "place": {"lat": draw.uniform(-60, 60), "lon": draw.uniform(-170, 170)},
        "suggest": f"{own[0]} {own[1]}",
        "flags": {own[2]: own[3]},
        "rank": 1 + draw.randrange(50),
        "comments": [
            {"author": f"author{draw.randrange(9)}", "text": own[at], "votes": [{"by": f"author{at}"}] * (at % 2)}
            for at in range(draw.randrange(4))
        ],
    }
    if number % 3:
        one["open"] = bool(draw.randrange(2))
    if number % 10 == 0:
        one["query"] = {"match": {"text": own[4]}}
    one["relation"] = {"name": "answer", "parent": str(number - 1)} if number % 2 else {"name": "question"}
    return one


def nested(query, **more):
    return {"nested": {"path": "comments", "query": query, **more}}


QUERIES = {
    "all": {"match_all": {}},
    "term": {"term": {"topic": "topic3"}},
    "word": {"match": {"text": "word3x1"}},
    "words": {"match": {"text": "word3x1 word3x2 all17 all5"}},
    "all words": {"match": {"text": {"query": "word3x1 word3x2", "operator": "and"}}},
    "phrase": {"match_phrase": {"text": "word5x3 word5x4"}},
    "sloppy phrase": {"match_phrase": {"text": {"query": "word5x3 word5x7", "slop": 3}}},
    "prefix": {"prefix": {"text": "word1"}},
    "fuzzy": {"fuzzy": {"text": "wrd3x1"}},
    "range": {"range": {"number": {"gte": 100, "lt": 140}}},
    "dates": {"range": {"at": {"gte": 1_700_000_500_000}}},
    "doubles": {"range": {"prices": {"gt": 99}}},
    "missing": {"bool": {"must_not": {"exists": {"field": "open"}}}},
    "near": {"geo_distance": {"distance": "2000km", "place": {"lat": 10, "lon": 10}}},
    "flat": {"term": {f"flags.{key}": word for key, word in document(7)["flags"].items()}},
    "rank": {"bool": {"must": {"match": {"text": "word3x1"}}, "should": {"rank_feature": {"field": "rank"}}}},
    "by number": {"function_score": {"query": {"term": {"topic": "topic1"}}, "field_value_factor": {"field": "number"}}},
    "nested": nested({"term": {"comments.author": "author4"}}, inner_hits={"size": 5}),
    "nested words": nested({"match": {"comments.text": "word7x5"}}, score_mode="sum"),
    "twice nested": nested({"nested": {"path": "comments.votes", "query": {"term": {"comments.votes.by": "author1"}}}}),
    "children": {"has_child": {"type": "answer", "query": {"match": {"text": "word2x3"}}, "score_mode": "max"}},
    "parents": {"has_parent": {"parent_type": "question", "query": {"term": {"topic": "topic2"}}}},
    "percolate": {"percolate": {"field": "query", "document": {"text": document(10)["query"]["match"]["text"]}}},
    "ids": {"ids": {"values": ["3", "77", "1499"]}},
}

AGGREGATIONS = {
    "topics": {"terms": {"field": "topic", "size": 20}, "aggs": {"sum": {"sum": {"field": "number"}}}},
    "prices": {"stats": {"field": "prices"}},
    "times": {"date_histogram": {"field": "at", "fixed_interval": "1d"}},
    "whole": {"cardinality": {"field": "text.whole"}},
    "comments": {
        "nested": {"path": "comments"},
        "aggs": {"authors": {"terms": {"field": "comments.author"}, "aggs": {"back": {"reverse_nested": {}}}}},
    },
    "best": {"top_hits": {"size": 3, "sort": [{"number": "desc"}], "_source": ["topic"]}},
}

SORTS = [
    [{"number": "desc"}],
    [{"prices": {"order": "asc", "mode": "max"}}, {"number": "asc"}],
    [{"topic": "asc"}, {"at": "desc"}, {"number": "asc"}],
    [{"open": {"order": "asc", "missing": "_last"}}, {"number": "asc"}],
    [{"comments.author": {"order": "asc", "nested": {"path": "comments"}}}, {"number": "asc"}],
]


class ReorderTest(ClewTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for index, reorder in ("plain", False), ("put", True):
            settings = {"refresh_interval": -1, "merge": {"reorder": reorder}}
            cls.client.indices.create(index=index, body={"mappings": MAPPING, "settings": settings})
            for start in range(0, COUNT, COUNT // 3):
                lines = []
                for number in range(start, start + COUNT // 3):
                    routing = str(number // 2)
                    lines += [{"index": {"_index": index, "_id": str(number), "routing": routing}}, document(number)]
                reply = cls.client.bulk(body=lines, refresh=True)
                assert not reply["errors"], reply
            cls.change(index, 40)
            cls.client.indices.forcemerge(index=index, params={"max_num_segments": 1})
            # Into the merged segment, too.
            cls.change(index, 41)

    def setUp(self):
        """Nothing is written by the tests."""

    @classmethod
    def change(cls, index, step):
        lines = []
        for number in range(0, COUNT, step):
            one = {"_index": index, "_id": str(number), "routing": str(number // 2)}
            lines += [{"delete": one}] if number % 3 else [{"update": one}, {"doc": {"text": "word3x1 changed"}}]
        cls.client.bulk(body=lines, refresh=True)

    def both(self, **body):
        replies = [self.client.search(index=index, body={"size": COUNT, **body}) for index in ("plain", "put")]
        for reply in replies:
            del reply["took"], reply["_shards"]
        return replies

    def test_documents_lie_beside_similar_ones(self):
        plain, put = self.both(_source=["topic"], sort=["_doc"])
        changes = []
        for reply in plain, put:
            topics = [hit["_source"]["topic"] for hit in reply["hits"]["hits"]]
            changes.append(sum(a != b for a, b in zip(topics, topics[1:])))
        self.assertLess(changes[1] * 3, changes[0])

    def test_queries_find_the_same(self):
        for name, query in QUERIES.items():
            with self.subTest(name):
                highlight = {"fields": {"text": {}}}
                plain, put = self.both(query=query, highlight=highlight, explain=name == "words", version=True)
                self.assertGreater(plain["hits"]["total"]["value"], 0)
                self.assertEqual(plain["hits"]["total"], put["hits"]["total"])
                self.assertEqual(plain["hits"]["max_score"], put["hits"]["max_score"])
                self.assertEqual(by_id(plain), by_id(put))

    def test_the_best_are_the_same(self):
        for name, query in QUERIES.items():
            with self.subTest(name):
                plain, put = self.both(query=query, size=10)
                scores = [[hit["_score"] for hit in reply["hits"]["hits"]] for reply in (plain, put)]
                self.assertEqual(*scores)

    def test_sorted_hits_are_the_same(self):
        for sort in SORTS:
            with self.subTest(str(sort)):
                plain, put = self.both(sort=sort, track_scores=True)
                listed = [[(hit["_id"], hit["sort"]) for hit in reply["hits"]["hits"]] for reply in (plain, put)]
                self.assertEqual(*listed)

    def test_aggregations_are_the_same(self):
        plain, put = self.both(aggs=AGGREGATIONS, size=0)
        for reply in plain, put:
            for hit in reply["aggregations"]["best"]["hits"]["hits"]:
                del hit["_index"]
        # Sums are taken in another order.
        self.assertEqual(rounded(plain["aggregations"]), rounded(put["aggregations"]))

    def test_documents_are_the_same(self):
        for number in range(0, COUNT, 7):
            got = [
                self.client.get(index=index, id=str(number), routing=str(number // 2), ignore=404)
                for index in ("plain", "put")
            ]
            for one in got:
                del one["_index"]
            self.assertEqual(*got)

    def test_suggestions_are_the_same(self):
        suggest = {"words": {"prefix": "word3", "completion": {"field": "suggest", "size": 1000}}}
        options = []
        for reply in self.both(suggest=suggest, size=0):
            found = reply["suggest"]["words"][0]["options"]
            options.append(sorted((one["text"], one["_id"]) for one in found))
        self.assertTrue(options[0])
        self.assertEqual(*options)

    def test_they_are_the_same_after_a_restart(self):
        self.restart()
        self.test_queries_find_the_same()
        self.test_documents_lie_beside_similar_ones()

    def test_the_setting_is_checked_and_can_be_changed(self):
        with self.refused(400, "illegal_argument_exception", "[index.merge.reorder] as only [true] or [false]"):
            self.client.indices.create(index="other", body={"settings": {"index.merge.reorder": "maybe"}})
        self.client.indices.put_settings(index="put", body={"index": {"merge.reorder": None}})
        self.assertNotIn("merge", self.client.indices.get_settings(index="put")["put"]["settings"]["index"])
        self.client.indices.put_settings(index="put", body={"index": {"merge.reorder": True}})
        shown = self.client.indices.get_settings(index="put")["put"]["settings"]["index"]["merge"]
        self.assertEqual(shown, {"reorder": "true"})


def by_id(reply):
    """Hits by their ids, with all that is said of them but the index."""
    hits = {}
    for hit in reply["hits"]["hits"]:
        hit.pop("_index")
        for inner in hit.get("inner_hits", {}).values():
            for one in inner["hits"]["hits"]:
                one.pop("_index")
        # The place of the row.
        for name in "_shard", "_node":
            hit.pop(name, None)
        told = json.dumps(hit, sort_keys=True)
        hits[hit["_id"]] = re.sub(r" in \d+\)", ")", told)
    return hits


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


if __name__ == "__main__":
    unittest.main()
