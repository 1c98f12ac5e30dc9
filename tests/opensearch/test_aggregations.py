"""Buckets and metrics over the documents that match."""

from .base import ClewTest


class Aggregations(ClewTest):
    def setUp(self):
        super().setUp()
        properties = {
            "color": {"type": "keyword"},
            "price": {"type": "double"},
            "stock": {"type": "integer"},
            "at": {"type": "date"},
        }
        body = {"mappings": {"properties": properties}, "settings": {"number_of_shards": 3}}
        self.client.indices.create(index="i", body=body)
        colors = ["red", "green", "red", "blue", "red", "green"]
        self.index_all(
            "i",
            {
                str(n): {
                    "color": color,
                    "price": n * 10.0,
                    "stock": n,
                    "at": f"2024-0{1 + n // 2}-15",
                }
                for n, color in enumerate(colors)
            },
        )

    def aggregate(self, **aggs):
        return self.client.search(index="i", body={"size": 0, "aggs": aggs})["aggregations"]

    def test_terms_are_counted_with_metrics_inside(self):
        inner = {"average": {"avg": {"field": "price"}}}
        result = self.aggregate(colors={"terms": {"field": "color"}, "aggs": inner})["colors"]
        buckets = [(b["key"], b["doc_count"], b["average"]["value"]) for b in result["buckets"]]
        self.assertEqual(buckets, [("red", 3, 20.0), ("green", 2, 30.0), ("blue", 1, 30.0)])
        self.assertEqual(result["sum_other_doc_count"], 0)

    def test_metrics(self):
        result = self.aggregate(
            least={"min": {"field": "price"}},
            most={"max": {"field": "price"}},
            total={"sum": {"field": "stock"}},
            mean={"avg": {"field": "stock"}},
            colors={"cardinality": {"field": "color"}},
            count={"value_count": {"field": "price"}},
            stats={"stats": {"field": "price"}},
        )
        values = [result[name]["value"] for name in ["least", "most", "total", "mean"]]
        self.assertEqual(values, [0.0, 50.0, 15.0, 2.5])
        self.assertEqual(result["colors"]["value"], 3)
        self.assertEqual(result["count"]["value"], 6)
        self.assertEqual(
            result["stats"], {"count": 6, "min": 0.0, "max": 50.0, "avg": 25.0, "sum": 150.0}
        )

    def test_histograms_and_ranges(self):
        result = self.aggregate(
            prices={"histogram": {"field": "price", "interval": 20}},
            months={"date_histogram": {"field": "at", "calendar_interval": "month"}},
            ranges={"range": {"field": "stock", "ranges": [{"to": 2}, {"from": 2, "to": 5}]}},
        )
        counts = {
            name: [(bucket["key"], bucket["doc_count"]) for bucket in found["buckets"]]
            for name, found in result.items()
        }
        self.assertEqual(counts["prices"], [(0.0, 2), (20.0, 2), (40.0, 2)])
        self.assertEqual([count for _, count in counts["months"]], [2, 2, 2])
        self.assertEqual(result["months"]["buckets"][0]["key_as_string"], "2024-01-01T00:00:00.000Z")
        self.assertEqual(counts["ranges"], [("*-2.0", 2), ("2.0-5.0", 3)])

    def test_only_matching_documents_are_aggregated(self):
        body = {
            "size": 0,
            "query": {"term": {"color": "red"}},
            "aggs": {"total": {"sum": {"field": "stock"}}},
        }
        reply = self.client.search(index="i", body=body)
        self.assertEqual(reply["aggregations"]["total"]["value"], 6.0)
        self.assertEqual(reply["hits"]["hits"], [])

    def test_an_aggregation_that_does_not_exist_is_refused(self):
        with self.refused(400):
            self.aggregate(x={"nonsense": {"field": "price"}})

    def test_filters_and_global(self):
        result = self.client.search(
            index="i",
            body={
                "size": 0,
                "query": {"range": {"stock": {"gte": 2}}},
                "aggs": {
                    "cheap": {"filter": {"range": {"price": {"lt": 40}}}},
                    "named": {
                        "filters": {
                            "other_bucket_key": "rest",
                            "filters": {
                                "red": {"term": {"color": "red"}},
                                "blue": {"term": {"color": "blue"}},
                            },
                        }
                    },
                    "pairs": {
                        "adjacency_matrix": {
                            "filters": {
                                "a": {"range": {"stock": {"lte": 3}}},
                                "b": {"term": {"color": "red"}},
                            }
                        }
                    },
                    "all": {"global": {}, "aggs": {"sum": {"sum": {"field": "stock"}}}},
                },
            },
        )["aggregations"]
        self.assertEqual(result["cheap"]["doc_count"], 2)
        named = {name: b["doc_count"] for name, b in result["named"]["buckets"].items()}
        self.assertEqual(named, {"red": 2, "blue": 1, "rest": 1})
        pairs = [(b["key"], b["doc_count"]) for b in result["pairs"]["buckets"]]
        self.assertEqual(pairs, [("a", 2), ("a&b", 1), ("b", 2)])
        self.assertEqual((result["all"]["doc_count"], result["all"]["sum"]["value"]), (6, 15.0))

    def test_percentiles_are_exact_for_few_values(self):
        result = self.aggregate(
            digest={"percentiles": {"field": "price", "percents": [0, 50, 100]}},
            hdr={"percentiles": {"field": "price", "percents": [50], "hdr": {}}},
            ranks={"percentile_ranks": {"field": "price", "values": [25], "keyed": False}},
            deviation={"median_absolute_deviation": {"field": "price"}},
            weighted={
                "weighted_avg": {"value": {"field": "price"}, "weight": {"field": "stock"}}
            },
        )
        self.assertEqual(result["digest"]["values"], {"0.0": 0.0, "50.0": 25.0, "100.0": 50.0})
        self.assertAlmostEqual(result["hdr"]["values"]["50.0"], 20.0, delta=0.02)
        self.assertEqual(result["ranks"]["values"], [{"key": 25.0, "value": 50.0}])
        self.assertEqual(result["deviation"]["value"], 15.0)
        self.assertAlmostEqual(result["weighted"]["value"], 550 / 15)

    def test_composite_goes_through_all_buckets_page_by_page(self):
        sources = [
            {"color": {"terms": {"field": "color", "order": "desc"}}},
            {"price": {"histogram": {"field": "price", "interval": 20}}},
        ]
        seen, after = [], None
        while True:
            body = {"size": 2, "sources": sources}
            if after:
                body["after"] = after
            result = self.aggregate(c={"composite": body})["c"]
            seen += [(b["key"]["color"], b["key"]["price"], b["doc_count"]) for b in result["buckets"]]
            after = result.get("after_key")
            if not after:
                break
        self.assertEqual(
            seen,
            [
                ("red", 0.0, 1),
                ("red", 20.0, 1),
                ("red", 40.0, 1),
                ("green", 0.0, 1),
                ("green", 40.0, 1),
                ("blue", 20.0, 1),
            ],
        )

    def test_combinations_and_rare_values(self):
        terms = [{"field": "color"}, {"field": "stock"}]
        result = self.aggregate(
            pairs={"multi_terms": {"terms": terms, "size": 2, "order": {"_key": "asc"}}},
            rare={"rare_terms": {"field": "color"}},
        )
        pairs = [(b["key"], b["key_as_string"], b["doc_count"]) for b in result["pairs"]["buckets"]]
        self.assertEqual(pairs, [(["blue", 3], "blue|3", 1), (["green", 1], "green|1", 1)])
        self.assertEqual([b["key"] for b in result["rare"]["buckets"]], ["blue"])

    def test_pipelines_compute_over_buckets(self):
        month = {"field": "at", "calendar_interval": "month"}
        inner = {
            "sales": {"sum": {"field": "price"}},
            "so_far": {"cumulative_sum": {"buckets_path": "sales"}},
            "change": {"derivative": {"buckets_path": "sales"}},
            "share": {
                "bucket_script": {
                    "buckets_path": {"sales": "sales", "count": "_count"},
                    "script": "params.sales / params.count",
                }
            },
            "taxed": {
                "bucket_script": {
                    "buckets_path": {"sales": "sales"},
                    "script": {
                        "source": "params.sales != null ? params.sales * params.rate : 0",
                        "params": {"rate": 2},
                    },
                }
            },
        }
        result = self.aggregate(
            months={"date_histogram": month, "aggs": inner},
            best={"max_bucket": {"buckets_path": "months>sales"}},
            stats={"stats_bucket": {"buckets_path": "months>sales"}},
        )
        buckets = result["months"]["buckets"]
        self.assertEqual([b["so_far"]["value"] for b in buckets], [10.0, 60.0, 150.0])
        self.assertEqual([b["change"]["value"] for b in buckets[1:]], [40.0, 40.0])
        self.assertNotIn("change", buckets[0])
        self.assertEqual([b["share"]["value"] for b in buckets], [5.0, 25.0, 45.0])
        self.assertEqual([b["taxed"]["value"] for b in buckets], [20.0, 100.0, 180.0])
        self.assertEqual(result["best"]["keys"], ["2024-03-01T00:00:00.000Z"])
        self.assertEqual((result["stats"]["sum"], result["stats"]["count"]), (150.0, 3))

    def test_buckets_are_chosen_and_sorted_by_pipelines(self):
        inner = {
            "sales": {"sum": {"field": "price"}},
            "enough": {
                "bucket_selector": {"buckets_path": {"s": "sales"}, "script": "params.s > 30"}
            },
            "order": {"bucket_sort": {"sort": [{"_key": {"order": "asc"}}], "size": 5}},
        }
        result = self.aggregate(colors={"terms": {"field": "color"}, "aggs": inner})
        self.assertEqual([b["key"] for b in result["colors"]["buckets"]], ["green", "red"])

    def test_intervals_and_widths_follow_the_data(self):
        result = self.aggregate(
            auto={"auto_date_histogram": {"field": "at", "buckets": 3}},
            width={"variable_width_histogram": {"field": "price", "buckets": 2}},
        )
        self.assertEqual(result["auto"]["interval"], "1M")
        self.assertEqual([b["doc_count"] for b in result["auto"]["buckets"]], [2, 2, 2])
        widths = result["width"]["buckets"]
        self.assertEqual(sum(b["doc_count"] for b in widths), 6)
        self.assertTrue(all(b["min"] <= b["key"] <= b["max"] for b in widths))

    def test_tiles_of_composite_go_by_their_numbers(self):
        self.client.indices.create(index="p", body={"mappings": {"properties": {"at": {"type": "geo_point"}}}})
        places = [(-35.8, -179.9), (30.0, -34.5), (71.0, -168.0), (60.0, 150.0), (-35.8, -168.0)]
        self.index_all("p", {str(at): {"at": {"lat": lat, "lon": lon}} for at, (lat, lon) in enumerate(places)})
        for order in ("asc", "desc"):
            source, seen, after = {"geotile_grid": {"field": "at", "precision": 8}}, [], {}
            source["geotile_grid"]["order"] = order
            while True:
                tiles = {"composite": {"size": 2, "sources": [{"tile": source}], **after}}
                found = self.client.search(index="p", body={"size": 0, "aggs": {"c": tiles}})["aggregations"]["c"]
                seen += [[int(part) for part in bucket["key"]["tile"].split("/")] for bucket in found["buckets"]]
                if "after_key" not in found:
                    break
                after = {"after": found["after_key"]}
            self.assertEqual(len(seen), len(places))
            self.assertEqual(seen, sorted(seen, reverse=order == "desc"))

    def test_significant_terms_are_looked_for_among_many(self):
        """A shard is asked for 50 terms where 10 are wanted: those that too few documents have do not displace others."""
        documents = {f"r{n}": {"tag": [f"rare{n}"]} for n in range(30)}
        documents |= {f"c{n}": {"tag": ["common"]} for n in range(4)}
        documents |= {f"o{n}": {"tag": ["other", "common"] if n % 10 == 0 else ["other"]} for n in range(40)}
        body = {"mappings": {"properties": {"tag": {"type": "keyword"}}}, "settings": {"number_of_shards": 1}}
        self.client.indices.create(index="s", body=body)
        self.index_all("s", documents)
        aggs = {"s": {"significant_terms": {"field": "tag"}}}
        query = {"bool": {"must_not": {"term": {"tag": "other"}}}}
        found = self.client.search(index="s", body={"size": 0, "query": query, "aggs": aggs})["aggregations"]["s"]
        self.assertEqual([(b["key"], b["doc_count"], b["bg_count"]) for b in found["buckets"]], [("common", 4, 8)])

    def test_scripts_say_how_significant_terms_are(self):
        self.index_all("w", {str(n): {"kind": "odd" if n % 2 else "even", "tag": ["all"] + ["rare"] * (n == 1)} for n in range(6)})

        def found(source, **more):
            heuristic = {"script_heuristic": {"script": source}, "min_doc_count": 1, **more}
            body = {"size": 0, "query": {"match": {"kind": "odd"}}, "aggs": {"s": {"significant_terms": {"field": "tag.keyword", **heuristic}}}}
            buckets = self.client.search(index="w", body=body)["aggregations"]["s"]["buckets"]
            return [(bucket["key"], bucket["score"]) for bucket in buckets]

        # The counts are whole numbers, and terms without a score above zero are not shown.
        self.assertEqual(found("params._subset_freq / params._superset_freq"), [("rare", 1.0)])
        self.assertEqual(found("10.0 * params._subset_freq / params._superset_freq"), [("rare", 10.0), ("all", 5.0)])
        self.assertEqual(found({"source": "params._superset_size + params.x", "params": {"x": 2}}, size=1), [("all", 8.0)])
        self.assertEqual(found("10.0 * params._subset_freq / params._superset_freq", shard_size=1), [("rare", 10.0)])
        for script, reason in [({"source": "x +"}, "compile error"), ("params._subset_freq / (params._subset_size - 3)", "/ by zero")]:
            with self.refused(400, "search_phase_execution_exception") as caught:
                found(script)
            self.assertIn(reason, str(caught.exception.info))

    def test_significant_terms_stand_out(self):
        result = self.client.search(
            index="i",
            body={
                "size": 0,
                "query": {"terms": {"stock": [0, 2, 4, 3]}},
                "aggs": {"s": {"significant_terms": {"field": "color", "min_doc_count": 1}}},
            },
        )["aggregations"]["s"]
        self.assertEqual((result["doc_count"], result["bg_count"]), (4, 6))
        found = {b["key"]: (b["doc_count"], b["bg_count"]) for b in result["buckets"]}
        self.assertEqual(found, {"red": (3, 3), "blue": (1, 1)})

    def test_places(self):
        self.client.indices.create(
            index="p", body={"mappings": {"properties": {"at": {"type": "geo_point"}}}}
        )
        self.index_all(
            "p",
            {
                "a": {"at": {"lat": 52.37, "lon": 4.91}},
                "b": {"at": {"lat": 52.38, "lon": 4.92}},
                "c": {"at": {"lat": 48.86, "lon": 2.35}},
            },
        )
        aggs = {
            "near": {
                "geo_distance": {
                    "field": "at",
                    "origin": {"lat": 52.37, "lon": 4.9},
                    "unit": "km",
                    "ranges": [{"to": 100}, {"from": 100}],
                }
            },
            "hash": {"geohash_grid": {"field": "at", "precision": 3}},
            "tile": {"geotile_grid": {"field": "at", "precision": 8}},
            "box": {"geo_bounds": {"field": "at"}},
            "middle": {"geo_centroid": {"field": "at"}},
        }
        result = self.client.search(index="p", body={"size": 0, "aggs": aggs})["aggregations"]
        near = [(b["key"], b["doc_count"]) for b in result["near"]["buckets"]]
        self.assertEqual(near, [("*-100.0", 2), ("100.0-*", 1)])
        self.assertEqual(result["hash"]["buckets"][0], {"key": "u17", "doc_count": 2})
        self.assertEqual(result["tile"]["buckets"][0], {"key": "8/131/84", "doc_count": 2})
        self.assertAlmostEqual(result["box"]["bounds"]["top_left"]["lat"], 52.38, places=4)
        self.assertAlmostEqual(result["middle"]["location"]["lon"], 4.06, places=4)
        self.assertEqual(result["middle"]["count"], 3)

    def test_hexagons(self):
        mapping = {"mappings": {"properties": {"at": {"type": "geo_point"}}}}
        self.client.indices.create(index="p", body=mapping)
        bay, liberty = {"lat": 37.3615593, "lon": -122.0553238}, {"lat": 40.689167, "lon": -74.044444}
        self.index_all("p", {"a": {"at": bay, "n": 1}, "b": {"at": bay, "n": 5}, "c": {"at": liberty, "n": 2}, "d": {"n": 9}})

        def buckets(aggs, **parameters):
            found = self.client.search(index="p", body={"size": 0, "aggs": {"h": aggs}}, **parameters)
            return found["aggregations"]

        for precision, size, expected in [
            (None, 10, [("85283473fffffff", 2), ("852a1073fffffff", 1)]),
            (7, 1, [("87283472bffffff", 2)]),
            (10, 10, [(None, 2), ("8a2a1072b59ffff", 1)]),
        ]:
            grid = {"field": "at", "size": size} | ({} if precision is None else {"precision": precision})
            result = buckets({"geohex_grid": grid, "aggs": {"most": {"max": {"field": "n"}}}})["h"]["buckets"]
            self.assertEqual([b["doc_count"] for b in result], [count for _, count in expected])
            for bucket, (key, _) in zip(result, expected):
                self.assertEqual(bucket["key"], key or bucket["key"])
                # The second digit is the resolution, and the key is a cell of 64 bits without leading zeros.
                self.assertEqual((int(bucket["key"][1], 16), len(bucket["key"])), (precision or 5, 15))
            self.assertEqual(result[0]["most"]["value"], 5)
        west = {"top_left": {"lat": 50, "lon": -130}, "bottom_right": {"lat": 30, "lon": -100}}
        for name in ["geohex_grid", "geohash_grid", "geotile_grid"]:
            result = buckets({name: {"field": "at", "precision": 5, "bounds": west}})["h"]["buckets"]
            self.assertEqual([b["doc_count"] for b in result], [2], name)
        typed = buckets({"geohex_grid": {"field": "at", "precision": 0}}, typed_keys=True)
        self.assertEqual(list(typed), ["geohex_grid#h"])
        with self.refused(400, "x_content_parse_exception", "[geohex_grid] failed to parse field [precision]") as caught:
            buckets({"geohex_grid": {"field": "at", "precision": 16}})
        self.assertIn("Invalid precision of 16 . Must be between 0 and 15.", str(caught.exception.info))

    def test_shards_that_match_nothing_are_asked_about_what_others_have(self):
        """An aggregation that tells of more than the matches answers the same, whatever shards could be passed over."""
        properties = {"n": {"type": "integer"}, "tag": {"type": "keyword"}}
        body = {"mappings": {"properties": properties}, "settings": {"number_of_shards": 1}}
        for index, tag, first in [("old", "a", 0), ("new", "b", 100)]:
            self.client.indices.create(index=index, body=body)
            documents = {
                str(n): {"n": first + n, "tag": [tag] if n % 2 else [tag, "both"]} for n in range(8)
            }
            self.index_all(index, documents)
        absent = {"terms": {"field": "tag", "min_doc_count": 0}}
        significant = {"significant_terms": {"field": "tag", "min_doc_count": 1}}
        every = {"filter": {"match_all": {}}}
        cases = [
            (absent, 0),
            ({**every, "aggs": {"inside": absent}}, 0),
            (significant, 0),
            ({**every, "aggs": {"inside": significant}}, 0),
            ({"terms": {"field": "tag"}}, 1),
        ]
        for aggregation, passed_over in cases:
            query = {"range": {"n": {"gte": 100}}}
            search = {"size": 0, "query": query, "aggs": {"x": aggregation}}
            whole = self.client.search(index="old,new", body=search)
            some = self.client.search(
                index="old,new", body=search, params={"pre_filter_shard_size": 1}
            )
            with self.subTest(aggregation=aggregation):
                self.assertEqual(some["aggregations"], whole["aggregations"])
                self.assertEqual(some["_shards"]["skipped"], passed_over)

    def test_pipelines_read_a_derivative_that_the_first_bucket_lacks(self):
        """What charts of counters are made of: OpenSearch Dashboards' positive rate among them."""
        rate = {"source": "params.value > 0.0 ? params.value : 0.0", "lang": "painless"}
        inner = {
            "sales": {"sum": {"field": "price"}},
            "change": {"derivative": {"buckets_path": "sales", "unit": "1d", "gap_policy": "skip"}},
            "again": {"derivative": {"buckets_path": "change"}},
            "so_far": {"cumulative_sum": {"buckets_path": "change"}},
            "rate": {"bucket_script": {
                "buckets_path": {"value": "change[normalized_value]"}, "script": rate, "gap_policy": "skip",
            }},
        }
        month = {"field": "at", "calendar_interval": "month"}
        result = self.aggregate(
            months={"date_histogram": month, "aggs": inner},
            best={"max_bucket": {"buckets_path": "months>change"}},
        )
        buckets = result["months"]["buckets"]
        self.assertEqual([b.get("change", {}).get("value") for b in buckets], [None, 40.0, 40.0])
        self.assertEqual([b.get("again", {}).get("value") for b in buckets], [None, None, 0.0])
        self.assertEqual(buckets[-1]["so_far"]["value"], 80.0)
        self.assertNotIn("rate", buckets[0])
        self.assertAlmostEqual(buckets[1]["rate"]["value"], buckets[1]["change"]["normalized_value"])
        self.assertEqual(result["best"]["value"], 40.0)
        sort = {"bucket_sort": {"sort": [{"change": "desc"}]}}
        kept = self.aggregate(months={"date_histogram": month, "aggs": {
            "sales": inner["sales"], "change": inner["change"], "sorted": sort,
        }})["months"]["buckets"]
        self.assertEqual(len(kept), 2)
        for nowhere in (
            {"derivative": {"buckets_path": "nope"}},
            {"bucket_script": {"buckets_path": {"v": "nope.value"}, "script": "params.v"}},
            {"bucket_sort": {"sort": [{"nope": "desc"}]}},
        ):
            with self.refused(400):
                self.aggregate(months={"date_histogram": month, "aggs": {"x": nowhere}})

    def test_scripts_of_buckets_are_those_of_searches(self):
        paths = {"sales": "sales", "count": "_count", "change": "change"}

        def script(written, **names):
            return {"bucket_script": {"buckets_path": names or {"sales": "sales", "count": "_count"}, "script": written}}

        inner = {
            "sales": {"sum": {"field": "price"}},
            "change": {"derivative": {"buckets_path": "sales"}},
            "steps": script({
                "source": "if (params.sales < params.least) { return null } double half = params.sales / 2; return half + 1",
                "lang": "painless",
                "params": {"least": 20, "sales": 7},
            }),
            "mean": script({"source": "sales / count", "lang": "expression"}),
            "listed": {"bucket_script": {"buckets_path": ["sales", "_count"], "script": "params._value0 - params._value1"}},
            # One number that is not there does not take the others away.
            "kept": {"bucket_selector": {"buckets_path": paths, "script": "params.count == 2 || params.change > 1000"}},
        }
        month = {"field": "at", "calendar_interval": "month"}
        buckets = self.aggregate(months={"date_histogram": month, "aggs": inner})["months"]["buckets"]
        self.assertEqual([b.get("steps", {}).get("value") for b in buckets], [None, 26.0, 46.0])
        self.assertEqual([b["mean"]["value"] for b in buckets], [5.0, 25.0, 45.0])
        self.assertEqual([b["listed"]["value"] for b in buckets], [8.0, 48.0, 88.0])
        for wrong in ("sales / count", "doc['price'].value", "_score", "params.sales > 3", "params.other * 2"):
            with self.refused(400):
                self.aggregate(months={"date_histogram": month, "aggs": {"sales": inner["sales"], "x": script(wrong)}})

    def test_wrong_pipelines_are_refused(self):
        script = {"buckets_path": {}, "script": "int x ="}
        inner = {"s": {"bucket_script": script}}
        for aggs in [
            {"d": {"derivative": {"buckets_path": "x"}}},
            {"d": {"max_bucket": {"buckets_path": "x>y"}}},
            {"d": {"significant_terms": {"field": "color", "jlp": {}}}},
            {"d": {"terms": {"field": "color"}, "aggs": inner}},
            {"d": {"composite": {"sources": []}}},
            {"d": {"filters": {}}},
            {"d": {"percentiles": {"field": "color"}}},
        ]:
            with self.refused(400):
                self.aggregate(**aggs)
