"""Nested objects: found by themselves, shown inside their documents, counted nowhere else."""

import unittest

from .base import ClewTest

MAPPING = {
    "properties": {
        "title": {"type": "keyword"},
        "likes": {
            "type": "nested",
            "properties": {
                "who": {"type": "keyword"},
                "stars": {"type": "integer"},
                "text": {"type": "text"},
                "tags": {"type": "nested", "properties": {"tag": {"type": "keyword"}}},
            },
        },
    }
}

DOCUMENTS = {
    "1": {
        "title": "a",
        "likes": [
            {"who": "ann", "stars": 1, "text": "red fox", "tags": [{"tag": "x"}, {"tag": "y"}]},
            {"who": "bob", "stars": 5, "text": "blue fox"},
        ],
    },
    "2": {"title": "b", "likes": {"who": "ann", "stars": 5, "text": "green hen"}},
    "3": {"title": "c"},
}


def nested(path, query, **more):
    return {"nested": {"path": path, "query": query, **more}}


def both(who, stars):
    terms = [{"term": {"likes.who": who}}, {"term": {"likes.stars": stars}}]
    return nested("likes", {"bool": {"filter": terms}})


class NestedTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="posts", body={"mappings": MAPPING})
        self.index_all("posts", DOCUMENTS)

    def test_objects_match_one_by_one(self):
        self.assertEqual(self.ids("posts", query=both("ann", 5)), ["2"])
        self.assertEqual(self.ids("posts", query=both("bob", 1)), [])
        self.assertEqual(self.ids("posts", query=both("bob", 5)), ["1"])

    def test_a_dynamic_template_makes_new_objects_nested(self):
        template = {"match": "lines", "match_mapping_type": "object", "mapping": {"type": "nested"}}
        mappings = {"dynamic_templates": [{"lines": template}]}
        self.client.indices.create(index="bills", body={"mappings": mappings})
        self.index_all("bills", {"1": {"lines": [{"a": 1, "b": 1}, {"a": 2, "b": 2}]}})
        shown = self.client.indices.get_mapping(index="bills")["bills"]["mappings"]["properties"]
        self.assertEqual(shown["lines"]["type"], "nested")
        self.assertEqual(shown["lines"]["properties"]["a"], {"type": "long"})
        for b, found in [(1, ["1"]), (2, [])]:
            line = [{"term": {"lines.a": 1}}, {"term": {"lines.b": b}}]
            self.assertEqual(self.ids("bills", query=nested("lines", {"bool": {"must": line}})), found)

    def test_pipelines_run_inside_nested_objects_and_read_them(self):
        stars = {"stars": {"sum": {"field": "likes.stars"}}}
        aggs = {
            "likes": {
                "nested": {"path": "likes"},
                "aggs": {
                    "who": {"terms": {"field": "likes.who"}, "aggs": stars},
                    "most": {"max_bucket": {"buckets_path": "who>stars"}},
                },
            },
            "titles": {
                "terms": {"field": "title"},
                "aggs": {"likes": {"nested": {"path": "likes"}, "aggs": stars}},
            },
            "best": {"max_bucket": {"buckets_path": "titles>likes>stars"}},
        }
        found = self.client.search(index="posts", body={"size": 0, "aggs": aggs})["aggregations"]
        self.assertEqual(found["likes"]["most"], {"value": 6.0, "keys": ["ann"]})
        self.assertEqual(found["best"], {"value": 6.0, "keys": ["a"]})
        # A path begins with buckets, as there.
        aggs["loudest"] = {"max_bucket": {"buckets_path": "likes>who>stars"}}
        found = "found :org.opensearch.search.aggregations.bucket.nested.NestedAggregationBuilder for buckets path: likes>who>stars"
        with self.refused(400, "action_request_validation_exception", found):
            self.client.search(index="posts", body={"size": 0, "aggs": aggs})

    def test_terms_of_objects_are_compared_with_those_of_all_objects(self):
        significant = {"significant_terms": {"field": "likes.who", "min_doc_count": 1}}
        aggs = {"likes": {"nested": {"path": "likes"}, "aggs": {"who": {"terms": {"field": "likes.who"}}, "odd": significant}}}
        found = self.client.search(index="posts", body={"size": 0, "aggs": aggs})["aggregations"]["likes"]
        counts = {bucket["key"]: bucket["doc_count"] for bucket in found["who"]["buckets"]}
        # Objects, those inside them and documents are the background.
        self.assertEqual(found["odd"]["bg_count"], found["doc_count"] + 2 + 3)
        self.assertTrue(found["odd"]["buckets"])
        for bucket in found["odd"]["buckets"]:
            self.assertEqual((bucket["doc_count"], bucket["bg_count"]), (counts[bucket["key"]],) * 2)

    def test_nothing_else_sees_objects(self):
        self.assertEqual(self.client.count(index="posts")["count"], 3)
        found = self.client.search(index="posts", body={"query": {"match_all": {}}})
        self.assertEqual(found["hits"]["total"]["value"], 3)
        self.assertEqual(self.ids("posts", query={"term": {"likes.who": "ann"}}), [])
        self.assertEqual(self.ids("posts", query={"exists": {"field": "likes.who"}}), [])
        without = {"bool": {"must_not": [{"term": {"title": "a"}}]}}
        self.assertEqual(sorted(self.ids("posts", query=without)), ["2", "3"])
        aggs = {"who": {"terms": {"field": "likes.who"}}}
        reply = self.client.search(index="posts", body={"size": 0, "aggs": aggs})
        self.assertEqual(reply["aggregations"]["who"]["buckets"], [])
        stats = self.client.indices.stats(index="posts")
        self.assertEqual(stats["indices"]["posts"]["primaries"]["docs"]["count"], 3)

    def test_objects_go_with_their_documents(self):
        everyone = nested("likes", {"match_all": {}})
        self.client.index(index="posts", id="1", body={"likes": [{"who": "cid", "stars": 1}]})
        self.client.delete(index="posts", id="2", refresh=True)
        self.assertEqual(self.ids("posts", query=everyone), ["1"])
        self.assertEqual(self.ids("posts", query=both("bob", 5)), [])
        self.client.index(index="posts", id="1", body=DOCUMENTS["1"], refresh=True)
        self.client.indices.forcemerge(index="posts", params={"max_num_segments": 1})
        self.assertEqual(self.ids("posts", query=both("bob", 5)), ["1"])
        self.assertEqual(self.ids("posts", query=everyone), ["1"])
        self.assertEqual(self.client.count(index="posts")["count"], 2)
        self.client.update(index="posts", id="3", body={"doc": {"likes": [{"who": "dan"}]}})
        self.client.indices.refresh(index="posts")
        dan = nested("likes", {"term": {"likes.who": "dan"}})
        self.assertEqual(self.ids("posts", query=dan), ["3"])

    def test_scores_are_joined_as_asked(self):
        def scores(mode):
            stars = {"match": {"likes.text": "fox"}}
            body = {"query": nested("likes", stars, score_mode=mode)}
            hits = self.client.search(index="posts", body=body)["hits"]["hits"]
            self.assertEqual([hit["_id"] for hit in hits], ["1"])
            return hits[0]["_score"]

        self.assertAlmostEqual(scores("sum"), 2 * scores("avg"), places=5)
        self.assertAlmostEqual(scores("max"), scores("min"), places=5)
        self.assertEqual(scores("none"), 0)

    def test_objects_inside_objects(self):
        tag = nested("likes.tags", {"term": {"likes.tags.tag": "y"}})
        self.assertEqual(self.ids("posts", query=tag), ["1"])
        ann = {"bool": {"filter": [{"term": {"likes.who": "ann"}}, tag]}}
        self.assertEqual(self.ids("posts", query=nested("likes", ann)), ["1"])
        bob = {"bool": {"filter": [{"term": {"likes.who": "bob"}}, tag]}}
        self.assertEqual(self.ids("posts", query=nested("likes", bob)), [])

    def test_inner_hits(self):
        query = nested(
            "likes",
            {"match": {"likes.text": "fox"}},
            inner_hits={"name": "foxes", "sort": [{"likes.stars": "desc"}], "_source": ["likes.who"]},
        )
        hit = self.client.search(index="posts", body={"query": query})["hits"]["hits"][0]
        foxes = hit["inner_hits"]["foxes"]["hits"]
        self.assertEqual(foxes["total"], {"value": 2, "relation": "eq"})
        self.assertEqual([one["_source"] for one in foxes["hits"]], [{"who": "bob"}, {"who": "ann"}])
        self.assertEqual([one["_nested"]["offset"] for one in foxes["hits"]], [1, 0])
        self.assertEqual([one["sort"] for one in foxes["hits"]], [[5], [1]])
        deep = nested("likes.tags", {"match_all": {}}, inner_hits={"size": 1, "from": 1})
        hit = self.client.search(index="posts", body={"query": deep})["hits"]["hits"][0]
        inside = hit["inner_hits"]["likes.tags"]["hits"]
        self.assertEqual(inside["total"]["value"], 2)
        place = {"field": "likes", "offset": 0, "_nested": {"field": "tags", "offset": 1}}
        self.assertEqual(inside["hits"][0]["_nested"], place)
        self.assertEqual(inside["hits"][0]["_source"], {"tag": "y"})

    def test_words_of_objects_are_highlighted_in_their_document(self):
        query = nested("likes", {"bool": {"must": [{"match": {"likes.text": "fox"}}, {"term": {"likes.who": "ann"}}]}})
        for fields in ({"likes.text": {}, "likes.who": {}}, {"*": {}}):
            (hit,) = self.client.search(index="posts", body={"query": query, "highlight": {"fields": fields}})["hits"]["hits"]
            self.assertEqual(hit["highlight"]["likes.text"], ["red <em>fox</em>", "blue <em>fox</em>"])
            self.assertEqual(hit["highlight"]["likes.who"], ["<em>ann</em>"])

    def test_aggregations_inside_and_around(self):
        titles = {"back": {"reverse_nested": {}, "aggs": {"t": {"terms": {"field": "title"}}}}}
        who = {"terms": {"field": "likes.who"}, "aggs": titles}
        inside = {"stars": {"sum": {"field": "likes.stars"}}, "who": who}
        aggs = {"likes": {"nested": {"path": "likes"}, "aggs": inside}}
        reply = self.client.search(index="posts", body={"size": 0, "aggs": aggs})
        likes = reply["aggregations"]["likes"]
        self.assertEqual(likes["doc_count"], 3)
        self.assertEqual(likes["stars"]["value"], 11)
        ann, bob = likes["who"]["buckets"]
        self.assertEqual((ann["key"], ann["doc_count"], ann["back"]["doc_count"]), ("ann", 2, 2))
        self.assertEqual([t["key"] for t in ann["back"]["t"]["buckets"]], ["a", "b"])
        self.assertEqual([t["key"] for t in bob["back"]["t"]["buckets"]], ["a"])
        with self.refused(400, reason="all shards failed"):
            self.client.search(index="posts", body={"aggs": {"r": {"reverse_nested": {}}}})

    def test_top_hits(self):
        top = {"top_hits": {"size": 1, "sort": [{"likes.stars": "desc"}], "_source": ["likes.who"]}}
        aggs = {"likes": {"nested": {"path": "likes"}, "aggs": {"top": top}}}
        reply = self.client.search(index="posts", body={"size": 0, "aggs": aggs})
        hits = reply["aggregations"]["likes"]["top"]["hits"]
        self.assertEqual(hits["total"]["value"], 3)
        self.assertEqual(hits["hits"][0]["_source"], {"who": "bob"})
        self.assertEqual(hits["hits"][0]["_nested"], {"field": "likes", "offset": 1})
        plain = {"top": {"top_hits": {"size": 2, "from": 1, "version": True}}}
        query = {"constant_score": {"filter": {"match_all": {}}, "boost": 2}}
        reply = self.client.search(index="posts", body={"size": 0, "query": query, "aggs": plain})
        hits = reply["aggregations"]["top"]["hits"]
        self.assertEqual(hits["max_score"], 2)
        self.assertEqual([hit["_id"] for hit in hits["hits"]], ["2", "3"])
        self.assertEqual([hit["_version"] for hit in hits["hits"]], [1, 1])

    def test_copies_further_out(self):
        nested_field = {
            "type": "nested",
            "include_in_root": True,
            "properties": {"n": {"type": "integer", "copy_to": "all"}},
        }
        properties = {"in": nested_field, "all": {"type": "integer"}}
        self.client.indices.create(index="out", body={"mappings": {"properties": properties}})
        self.index_all("out", {"1": {"in": [{"n": 1}, {"n": 2}]}})
        self.assertEqual(self.ids("out", query={"term": {"in.n": 2}}), ["1"])
        self.assertEqual(self.ids("out", query={"term": {"all": 1}}), ["1"])
        shown = self.client.indices.get_mapping(index="out")["out"]["mappings"]
        self.assertEqual(shown["properties"]["in"]["include_in_root"], True)

    def test_documents_are_ordered_by_values_of_their_objects(self):
        def ordered(nested, index="posts", **more):
            key = {"likes.stars": {"nested": nested, **more}}
            hits = self.client.search(index=index, body={"sort": [key, {"title": "asc"}]})["hits"]["hits"]
            return [(hit["_id"], hit["sort"][0]) for hit in hits]

        likes = {"path": "likes"}
        least, most = -(2**31), 2**31 - 1
        self.assertEqual(ordered(likes, order="asc"), [("1", 1), ("2", 5), ("3", most)])
        self.assertEqual(ordered(likes, order="desc"), [("1", 5), ("2", 5), ("3", least)])
        self.assertEqual(ordered(likes, mode="sum", order="desc"), [("1", 6), ("2", 5), ("3", least)])
        self.assertEqual(ordered(likes, missing=0), [("3", 0), ("1", 1), ("2", 5)])
        ann = {"path": "likes", "filter": {"term": {"likes.who": "ann"}}}
        self.assertEqual(ordered(ann, order="desc"), [("2", 5), ("1", 1), ("3", least)])
        first = {"path": "likes", "max_children": 1}
        self.assertEqual(ordered(first, order="desc"), [("2", 5), ("1", 1), ("3", least)])
        deep = {
            "likes.tags.tag": {
                "order": "desc",
                "nested": {
                    "path": "likes",
                    "filter": {"term": {"likes.stars": 1}},
                    "nested": {"path": "likes.tags", "filter": {"prefix": {"likes.tags.tag": "x"}}},
                },
            }
        }
        hits = self.client.search(index="posts", body={"sort": [deep]})["hits"]["hits"]
        self.assertEqual([hit["sort"][0] for hit in hits], ["x", None, None])
        # The objects of a hit have their own order.
        inner = {"sort": [{"likes.stars": {"order": "desc", "nested": likes}}], "_source": ["likes.stars"]}
        query = nested("likes", {"match_all": {}}, inner_hits=inner)
        hit = self.client.search(index="posts", body={"query": query})["hits"]["hits"][0]
        objects = hit["inner_hits"]["likes"]["hits"]["hits"]
        self.assertEqual([one["sort"][0] for one in objects], [5, 1])
        top = {"top": {"top_hits": {"size": 1, "sort": [{"likes.stars": {"order": "asc", "nested": ann}}]}}}
        reply = self.client.search(index="posts", body={"size": 0, "aggs": top})
        self.assertEqual(reply["aggregations"]["top"]["hits"]["hits"][0]["sort"], [1])
        with self.refused(400, "search_phase_execution_exception"):
            ordered({"path": "title"})

    def test_vectors_of_objects(self):
        vector = {"type": "knn_vector", "dimension": 2}
        nested_field = {"type": "nested", "properties": {"v": vector}}
        mappings = {"properties": {"parts": nested_field}}
        body = {"settings": {"index.knn": True}, "mappings": mappings}
        self.client.indices.create(index="parts", body=body)
        documents = {
            "1": {"parts": [{"v": [0, 0]}, {"v": [0, 1]}, {"v": [1, 0]}]},
            "2": {"parts": [{"v": [3, 3]}]},
        }
        self.index_all("parts", documents)
        query = nested("parts", {"knn": {"parts.v": {"vector": [0, 0], "k": 2}}}, score_mode="max")
        self.assertEqual(self.ids("parts", query=query), ["1", "2"])
        source = self.client.get(index="parts", id="1")["_source"]
        self.assertEqual(source, documents["1"])

    def test_what_is_refused(self):
        with self.refused(400, reason="all shards failed") as caught:
            self.client.search(index="posts", body={"query": nested("nix", {"match_all": {}})})
        cause = caught.exception.info["error"]["root_cause"][0]["reason"]
        self.assertIn("[nested] failed to find nested object under path [nix]", cause)
        unmapped = nested("nix", {"match_all": {}}, ignore_unmapped=True)
        self.assertEqual(self.ids("posts", query=unmapped), [])
        with self.refused(400, reason="[nested] requires 'path' field"):
            self.client.search(index="posts", body={"query": {"nested": {"query": {"match_all": {}}}}})
        with self.refused(400, reason="nested"):
            plain = {"properties": {"likes": {"type": "object"}}}
            self.client.indices.put_mapping(index="posts", body=plain)


if __name__ == "__main__":
    unittest.main()
