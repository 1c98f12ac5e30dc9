"""Queries that name documents: what these hold takes their place, and nothing else is taken for such a name."""

import unittest

from .base import ClewTest

MAPPING = {
    "properties": {
        "by": {"type": "keyword"},
        "text": {"type": "text"},
        "terms": {"type": "text"},
        "percolate": {"type": "keyword"},
        "n": {"type": "integer"},
        "inside": {"type": "nested", "properties": {"by": {"type": "keyword"}, "n": {"type": "integer"}}},
        "v": {"type": "knn_vector", "dimension": 2},
        "query": {"type": "percolator"},
        "mlt": {"properties": {"like": {"type": "object", "enabled": False}}},
    }
}
POSTS = {
    "1": {"by": "ann", "text": "red fox", "terms": "one", "percolate": "p", "n": 1, "v": [1, 0],
          "inside": [{"by": "ann", "n": 5}, {"by": "eve", "n": 1}]},
    "2": {"by": "eve", "text": "red hen", "terms": "two", "percolate": "q", "n": 2, "v": [0, 1],
          "inside": [{"by": "eve", "n": 7}]},
    "3": {"by": "bob", "text": "blue fox", "terms": "one two", "n": 3, "v": [1, 1],
          "inside": [{"by": "bob", "n": 3}]},
}
LOOKUP = {"index": "users", "id": "me", "path": "friends.name"}
FRIENDS = {"terms": {"by": LOOKUP}}
INSIDE = {"terms": {"inside.by": LOOKUP}}


class NamedDocumentsTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="posts", body={"mappings": MAPPING})
        self.index_all("users", {"me": {"friends": [{"name": "ann"}, {"name": "bob"}]}})
        self.index_all("posts", POSTS)

    def found(self, **body):
        return self.client.search(index="posts", body=body)

    def sorted_ids(self, **body):
        return sorted(hit["_id"] for hit in self.found(**body)["hits"]["hits"])

    def test_aggregations_may_be_called_like_queries(self):
        meta = {
            "terms": {"x": {"id": "1", "path": "p"}},
            "percolate": {"id": "gone"},
            "mlt": {"like": {"_id": "1", "doc": {"a": 1}}},
        }
        aggs = {
            "terms": {"sum": {"field": "n"}, "meta": {"id": "1", "path": "p"}},
            "percolate": {"filter": FRIENDS, "meta": {"id": "gone"}},
            "mlt": {"sum": {"field": "n"}, "meta": meta},
        }
        found = self.found(size=0, aggs=aggs)["aggregations"]
        self.assertEqual(found["terms"], {"value": 6.0, "meta": {"id": "1", "path": "p"}})
        self.assertEqual(found["percolate"], {"doc_count": 2, "meta": {"id": "gone"}})
        self.assertEqual(found["mlt"], {"value": 6.0, "meta": meta})

    def test_filters_may_be_called_like_queries(self):
        filters = {name: FRIENDS for name in ("terms", "percolate", "mlt")}
        found = self.found(size=0, aggs={"f": {"filters": {"filters": filters}}})
        buckets = found["aggregations"]["f"]["buckets"]
        self.assertEqual({name: bucket["doc_count"] for name, bucket in buckets.items()}, dict.fromkeys(filters, 2))

    def test_fields_may_be_called_like_queries(self):
        self.assertEqual(self.sorted_ids(query={"match": {"terms": {"query": "one two", "operator": "and"}}}), ["3"])
        self.assertEqual(self.sorted_ids(query={"term": {"percolate": {"value": "p"}}}), ["1"])
        self.assertEqual(self.sorted_ids(query={"terms": {"terms": ["one"]}}), ["1", "3"])
        self.assertEqual(self.sorted_ids(query={"terms": {"percolate": {**LOOKUP, "path": "none"}}}), [])

    def test_documents_may_have_fields_called_like_queries(self):
        names = {
            "terms": {"one": {"id": "me", "path": "friends"}},
            "percolate": {"id": "gone"},
            "mlt": {"like": {"_id": "1", "doc": {"a": 1}}},
        }
        like = {"like": [{"doc": {"text": "red", **names}}], "min_term_freq": 1, "min_doc_freq": 1}
        self.assertEqual(self.sorted_ids(query={"more_like_this": {"fields": ["text"], **like}}), ["1", "2"])
        self.index_all("posts", {"q": {"query": {"match": {"text": "red"}}}})
        about = {"text": "red", "mlt": names["mlt"]}
        self.assertEqual(self.sorted_ids(query={"percolate": {"field": "query", "document": about}}), ["q"])

    def test_lookups_inside_other_queries(self):
        around = [
            FRIENDS,
            {"bool": {"filter": [FRIENDS]}},
            {"bool": {"must_not": [{"bool": {"must_not": [FRIENDS]}}]}},
            {"constant_score": {"filter": FRIENDS}},
            {"dis_max": {"queries": [FRIENDS]}},
            {"boosting": {"positive": FRIENDS, "negative": FRIENDS, "negative_boost": 0.5}},
            {"function_score": {"query": FRIENDS, "functions": [{"filter": FRIENDS, "weight": 2}]}},
            {"nested": {"path": "inside", "query": INSIDE}},
            {"knn": {"v": {"vector": [1, 0], "k": 3, "filter": FRIENDS}}},
            {"hybrid": {"queries": [FRIENDS, {"bool": {"must": [FRIENDS]}}]}},
        ]
        for query in around:
            with self.subTest(query=query):
                self.assertEqual(self.sorted_ids(query=query), ["1", "3"])

    def test_lookups_beside_the_query(self):
        self.assertEqual(self.sorted_ids(post_filter=FRIENDS), ["1", "3"])
        rescore = {"window_size": 10, "query": {"rescore_query": FRIENDS}}
        hits = self.found(query={"match_all": {}}, rescore=rescore)["hits"]["hits"]
        self.assertEqual({hit["_id"]: hit["_score"] for hit in hits}, {"1": 2.0, "2": 1.0, "3": 2.0})
        like = {"more_like_this": {"fields": ["text"], "like": {"_id": "1"}, "min_term_freq": 1, "min_doc_freq": 1}}
        fields = {"text": {"highlight_query": like}}
        hits = self.found(query={"ids": {"values": ["2"]}}, highlight={"fields": fields})["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits], ["2"])
        sort = [{"inside.n": {"order": "desc", "nested": {"path": "inside", "filter": INSIDE}}}]
        hits = self.found(sort=sort)["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits][:2], ["1", "3"])
        inner = {"nested": {"path": "inside", "query": INSIDE, "inner_hits": {}}}
        hits = self.found(query=inner)["hits"]["hits"]
        inside = {hit["_id"]: hit["inner_hits"]["inside"]["hits"]["hits"] for hit in hits}
        self.assertEqual({name: [one["_source"]["by"] for one in hits] for name, hits in inside.items()},
                         {"1": ["ann"], "3": ["bob"]})

    def test_lookups_in_aggregations(self):
        top = {"top_hits": {"sort": sort_by_friends(), "highlight": {"fields": {"by": {"highlight_query": FRIENDS}}}}}
        aggs = {
            "one": {"filter": FRIENDS, "aggs": {"top": top}},
            "each": {"filters": {"filters": [FRIENDS]}},
            "pairs": {"adjacency_matrix": {"filters": {"a": FRIENDS}}},
            "odd": {"significant_terms": {"field": "by", "background_filter": FRIENDS, "min_doc_count": 1}},
        }
        found = self.found(size=0, query=FRIENDS, aggs=aggs)["aggregations"]
        self.assertEqual(found["one"]["doc_count"], 2)
        hits = found["one"]["top"]["hits"]["hits"]
        self.assertEqual([hit["highlight"]["by"] for hit in hits], [["<em>ann</em>"], ["<em>bob</em>"]])
        self.assertEqual(found["each"]["buckets"][0]["doc_count"], 2)
        self.assertEqual(found["pairs"]["buckets"][0]["doc_count"], 2)
        self.assertEqual(found["odd"]["bg_count"], 2)

    def test_every_endpoint_looks_documents_up(self):
        client, body = self.client, {"query": FRIENDS}
        self.assertEqual(client.count(index="posts", body=body)["count"], 2)
        answers = client.msearch(body=[{"index": "posts"}, body])["responses"]
        self.assertEqual(answers[0]["hits"]["total"]["value"], 2)
        self.assertTrue(client.indices.validate_query(index="posts", body=body)["valid"])
        self.assertTrue(client.explain(index="posts", id="1", body=body)["matched"])
        self.assertEqual(client.field_caps(index="posts", fields="n", body={"index_filter": FRIENDS})["indices"], ["posts"])
        copy = {"source": {"index": "posts", **body}, "dest": {"index": "copies"}}
        self.assertEqual(client.reindex(body=copy, refresh=True)["created"], 2)
        client.indices.put_alias(index="posts", name="ours", body={"filter": FRIENDS})
        self.assertEqual(client.count(index="ours")["count"], 2)
        self.assertEqual(client.update_by_query(index="posts", body=body, refresh=True)["updated"], 2)
        self.assertEqual(client.delete_by_query(index="posts", body=body, refresh=True)["deleted"], 2)

    def test_a_percolated_document_has_its_version(self):
        self.index_all("posts", {"q": {"query": {"term": {"by": "ann"}}}})
        percolate = {"field": "query", "index": "posts", "id": "1", "version": 1}
        self.assertEqual(self.sorted_ids(query={"percolate": percolate}), ["q"])
        with self.refused(409, "version_conflict_engine_exception", "current version [1] is different"):
            self.found(query={"percolate": {**percolate, "version": 2}})
        with self.refused(404, "resource_not_found_exception", "indexed document [posts/x] couldn't be found"):
            self.found(query={"bool": {"must": [{"percolate": {**percolate, "id": "x"}}]}})

    def test_stored_queries_name_no_documents(self):
        with self.refused(400):
            self.client.index(index="posts", id="q", body={"query": FRIENDS})

    def test_so_many_documents_and_no_more(self):
        many = [{"terms": {"by": {**LOOKUP, "id": f"u{n}"}}} for n in range(1025)]
        with self.refused(400, "illegal_argument_exception", "at most [1024] documents"):
            self.found(query={"bool": {"should": many}})


def sort_by_friends():
    return [{"inside.n": {"order": "desc", "nested": {"path": "inside", "filter": INSIDE}}}]


if __name__ == "__main__":
    unittest.main()
