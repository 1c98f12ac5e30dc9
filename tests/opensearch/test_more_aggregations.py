"""Samples, matrices, significant words, and aggregations over texts and names of indexes."""

from .base import ClewTest


class MoreAggregationsTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(
            index="a",
            body={
                "settings": {"number_of_shards": 1},
                "mappings": {
                    "properties": {
                        "t": {"type": "text"},
                        "f": {"type": "text", "fielddata": True},
                        "k": {"type": "keyword"},
                        "n": {"type": "integer"},
                        "x": {"type": "double"},
                        "y": {"type": "double"},
                    }
                },
            },
        )

    def aggregate(self, aggs, index="a", **body):
        reply = self.client.search(index=index, body={"size": 0, "aggs": aggs, **body})
        return reply["aggregations"]

    def fill(self):
        """Documents whose score is their number, over several segments."""
        for number in range(10):
            source = {"n": number, "k": "even" if number % 2 == 0 else "odd"}
            self.client.index(index="a", id=str(number), body=source, refresh=number % 3 == 0)
        self.client.indices.refresh(index="a")
        functions = {"field_value_factor": {"field": "n"}}
        return {"function_score": {"query": {"match_all": {}}, **functions}}

    def test_buckets_are_ordered_by_what_lies_in_single_buckets_inside(self):
        self.fill()
        late = {"filter": {"range": {"n": {"gte": 7}}}, "aggs": {"sum": {"sum": {"field": "n"}}}}
        inside = {"late": late, "all": {"filter": {"match_all": {}}, "aggs": {"late": late}}}
        for path, most in [
            ("late>sum", "odd"),
            ("late>sum.value", "odd"),
            ("all>late>sum", "odd"),
            ("all>late", "odd"),
            ("all>late._count", "odd"),
        ]:
            for direction, first in [("desc", most), ("asc", "even")]:
                terms = {"field": "k", "order": {path: direction}}
                found = self.aggregate({"k": {"terms": terms, "aggs": inside}})["k"]["buckets"]
                self.assertEqual(found[0]["key"], first, (path, direction))
        many = {"n": {"terms": {"field": "n"}, "aggs": {"sum": {"sum": {"field": "n"}}}}}
        with self.refused(400, reason="all shards failed"):
            terms = {"field": "k", "order": {"n>sum": "desc"}}
            self.aggregate({"k": {"terms": terms, "aggs": many}})

    def test_a_sample_has_the_best_documents(self):
        query = self.fill()
        inside = {"aggs": {"sum": {"sum": {"field": "n"}}, "k": {"terms": {"field": "k"}}}}
        found = self.aggregate({"s": {"sampler": {"shard_size": 3}, **inside}}, query=query)["s"]
        self.assertEqual(found["doc_count"], 3)
        self.assertEqual(found["sum"]["value"], 9 + 8 + 7)
        counts = {bucket["key"]: bucket["doc_count"] for bucket in found["k"]["buckets"]}
        self.assertEqual(counts, {"odd": 2, "even": 1})
        whole = self.aggregate({"s": {"sampler": {}, **inside}}, query=query)["s"]
        self.assertEqual(whole["doc_count"], 10)
        nothing = self.aggregate({"s": {"sampler": {}, **inside}}, query={"match_none": {}})["s"]
        self.assertEqual((nothing["doc_count"], nothing["sum"]["value"]), (0, 0.0))

    def test_every_bucket_has_a_sample_of_its_own(self):
        query = self.fill()
        sample = {"best": {"sampler": {"shard_size": 2}, "aggs": {"sum": {"sum": {"field": "n"}}}}}
        found = self.aggregate({"k": {"terms": {"field": "k"}, "aggs": sample}}, query=query)["k"]["buckets"]
        sums = {one["key"]: (one["best"]["doc_count"], one["best"]["sum"]["value"]) for one in found}
        self.assertEqual(sums, {"odd": (2, 9 + 7), "even": (2, 8 + 6)})
        ordered = {"field": "k", "order": {"best>sum": "asc"}}
        found = self.aggregate({"k": {"terms": ordered, "aggs": sample}}, query=query)["k"]["buckets"]
        self.assertEqual([one["key"] for one in found], ["even", "odd"])
        within = {"s": {"sampler": {"shard_size": 3}, "aggs": sample}}
        found = self.aggregate(within, query=query)["s"]
        self.assertEqual((found["doc_count"], found["best"]["doc_count"], found["best"]["sum"]["value"]), (3, 2, 17.0))
        nowhere = {"s": {"diversified_sampler": {"field": "nowhere"}, **{"aggs": sample}}}
        self.assertEqual(self.aggregate(nowhere, query=query)["s"]["doc_count"], 0)

    def test_a_diverse_sample_has_few_of_each_value(self):
        query = self.fill()
        inside = {"aggs": {"top": {"top_hits": {"size": 10, "_source": ["n"]}}}}

        def numbers(**settings):
            agg = {"s": {"diversified_sampler": {"field": "k", **settings}, **inside}}
            hits = self.aggregate(agg, query=query)["s"]["top"]["hits"]["hits"]
            return [hit["_source"]["n"] for hit in hits]

        self.assertEqual(numbers(shard_size=5), [9, 8])
        self.assertEqual(numbers(shard_size=5, max_docs_per_value=2), [9, 8, 7, 6])
        self.assertEqual(numbers(shard_size=3, max_docs_per_value=2), [9, 8, 7])

    def test_fields_are_compared_with_each_other(self):
        rows = {"1": (1, 2), "2": (2, 4), "3": (4, 8), "4": (9, 18)}
        self.index_all("a", {key: {"x": x, "y": y} for key, (x, y) in rows.items()})
        self.index_all("a", {"only": {"x": 100}})
        found = self.aggregate({"m": {"matrix_stats": {"fields": ["x", "y"]}}})["m"]
        self.assertEqual(found["doc_count"], 4)
        x = next(field for field in found["fields"] if field["name"] == "x")
        self.assertEqual(x["mean"], 4.0)
        self.assertAlmostEqual(x["variance"], 38 / 3)
        self.assertAlmostEqual(x["covariance"]["y"], 2 * 38 / 3)
        self.assertAlmostEqual(x["correlation"]["y"], 1.0)
        self.assertEqual(x["correlation"]["x"], 1.0)
        missing = {"fields": ["x", "y"], "missing": {"y": 0}}
        self.assertEqual(self.aggregate({"m": {"matrix_stats": missing}})["m"]["doc_count"], 5)

    def test_words_that_stand_out(self):
        documents = {}
        for number in range(20):
            word = "bird flu h5n1" if number < 5 else "weather report"
            documents[str(number)] = {"t": f"the {word} of day {number}", "k": word.split()[0]}
        self.index_all("a", documents)
        for number in range(2):
            self.client.index(index="a", id=f"late{number}", body={"t": "late"}, refresh=True)
        agg = {"w": {"significant_text": {"field": "t", "min_doc_count": 2}}}
        found = self.aggregate(agg, query={"term": {"k": "bird"}})["w"]
        self.assertEqual(found["doc_count"], 5)
        self.assertEqual(found["bg_count"], 22)
        words = {bucket["key"]: bucket for bucket in found["buckets"]}
        self.assertEqual(set(words), {"bird", "flu", "h5n1", "the", "of", "day"})
        self.assertEqual(found["buckets"][0]["bg_count"], 5)
        self.assertGreater(words["flu"]["score"], words["the"]["score"])
        sampled = {"s": {"sampler": {"shard_size": 100}, "aggs": agg}}
        inside = self.aggregate(sampled, query={"term": {"k": "bird"}})["s"]["w"]
        self.assertEqual(inside["buckets"], found["buckets"])

    def test_texts_with_fielddata_have_buckets(self):
        self.index_all(
            "a",
            {"1": {"f": "Red Apple"}, "2": {"f": ["red", "red car"]}, "3": {"t": "other"}},
        )
        found = self.aggregate({"w": {"terms": {"field": "f"}}})["w"]["buckets"]
        counts = {bucket["key"]: bucket["doc_count"] for bucket in found}
        self.assertEqual(counts, {"red": 2, "apple": 1, "car": 1})
        self.client.indices.forcemerge(index="a", max_num_segments=1)
        found = self.aggregate({"w": {"terms": {"field": "f"}}})["w"]["buckets"]
        self.assertEqual({bucket["key"]: bucket["doc_count"] for bucket in found}, counts)
        self.assertEqual(self.ids("a", sort=[{"f": "asc"}], query={"exists": {"field": "f"}}), ["1", "2"])
        with self.refused(400) as caught:
            self.aggregate({"w": {"terms": {"field": "t"}}})
        self.assertIn("Text fields are not optimised", str(caught.exception.info))
        told = "Alternatively, set fielddata=true on [t] in order to load field data by uninverting the inverted index."
        for body in (
            {"aggs": {"w": {"terms": {"field": "t"}}}}, {"sort": ["t"]}, {"docvalue_fields": ["t"]},
            {"query": {"script_score": {"query": {"match_all": {}}, "script": "doc['t'].size()"}}},
        ):
            with self.refused(400) as caught:
                self.client.search(index="a", body=body)
            self.assertIn(told, str(caught.exception.info))
        with self.refused(400, "illegal_argument_exception"):
            self.client.indices.put_mapping(
                index="a", body={"properties": {"t": {"type": "text", "fielddata": True}}}
            )

    def test_names_of_indexes_have_buckets(self):
        self.client.index(index="a", id="1", body={"n": 1}, refresh=True)
        for number in range(2):
            self.client.index(index="b", id=str(number), body={"n": 1}, refresh=True)
        found = self.aggregate({"i": {"terms": {"field": "_index"}}}, index="a,b")["i"]["buckets"]
        self.assertEqual([(one["key"], one["doc_count"]) for one in found], [("b", 2), ("a", 1)])

    def test_what_is_wrong_is_refused(self):
        for aggs, reason in [
            ({"x": {"scripted_metric": {"map_script": "1"}}}, "[combineScript] must not be null: [x]"),
            ({"x": {"sampler": {"shard_size": 0}}}, "[shardSize] must be greater than 0"),
            ({"x": {"diversified_sampler": {}}}, "Required one of fields"),
            ({"x": {"matrix_stats": {}}}, "Required [fields]"),
            ({"x": {"matrix_stats": {"fields": ["k"]}}}, "not supported for aggregation"),
            ({"x": {"significant_text": {"field": "n"}}}, "requires an analyzed field"),
        ]:
            with self.subTest(aggs), self.refused(400) as caught:
                self.aggregate(aggs)
            self.assertIn(reason, str(caught.exception.info))


class Limits(ClewTest):
    def test_too_many_buckets_are_refused_as_a_service_that_is_not_available(self):
        self.index_all("many", {str(number): {"n": number} for number in range(30)})
        self.client.cluster.put_settings(body={"transient": {"search.max_buckets": 10}})
        self.addCleanup(self.client.cluster.put_settings, body={"transient": {"search.max_buckets": None}})
        with self.refused(503, "search_phase_execution_exception") as caught:
            self.client.search(index="many", body={"size": 0, "aggs": {"a": {"terms": {"field": "n", "size": 30}}}})
        cause = caught.exception.info["error"]["caused_by"]
        self.assertEqual((cause["type"], cause["max_buckets"]), ("too_many_buckets_exception", 10))
