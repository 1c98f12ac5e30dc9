"""Bucket aggregations as a real OpenSearch 2.19.0 answers them, where one would not guess it."""

from .base import ClewTest

MAPPING = {"properties": {
    "n": {"type": "long"},
    "tag": {"type": "keyword"},
    "ip": {"type": "ip"},
    "share": {"type": "double"},
    "flag": {"type": "boolean"},
    "day": {"type": "date"},
    "clock": {"type": "date", "format": "epoch_second"},
    "place": {"type": "geo_point"},
    "parts": {"type": "nested", "properties": {"size": {"type": "integer"}}},
}}
DOCUMENTS = {
    "1": {"n": [3, 3, 4], "tag": ["a", "a"], "ip": "10.0.0.1", "flag": [True, True], "day": "2020-05-20",
          "clock": 5, "place": "48,2", "parts": [{"size": 1}, {"size": 2}]},
    "2": {"n": 3, "tag": "b", "ip": "192.168.0.1", "day": "2020-06-20", "clock": 20, "place": "50,8", "parts": {"size": 3}},
    "3": {"n": 12, "tag": "c", "flag": False, "day": "2020-07-20"},
}


class BucketsAsTheRealOne(ClewTest):
    def setUp(self):
        super().setUp()
        settings = {"index": {"number_of_shards": 1}}
        self.client.indices.create(index="real", body={"settings": settings, "mappings": MAPPING})
        self.index_all("real", DOCUMENTS)

    def found(self, kind, body, **inside):
        """The result of one aggregation."""
        agg = {kind: body, **({"aggs": inside} if inside else {})}
        return self.client.search(index="real", body={"size": 0, "aggs": {"x": agg}})["aggregations"]["x"]

    def counts(self, kind, body):
        buckets = self.found(kind, body)["buckets"]
        return [(one.get("key_as_string", one["key"]), one["doc_count"]) for one in buckets]

    def refuse(self, kind, body, reason, status=400):
        with self.subTest({kind: body}), self.refused(status) as caught:
            self.found(kind, body)
        self.assertIn(reason, str(caught.exception.info))

    def test_ends_of_time_are_rounded_before_buckets_are_held_against_them(self):
        months = {"field": "day", "calendar_interval": "month", "format": "yyyy-MM"}
        self.assertEqual(self.counts("date_histogram", {**months, "hard_bounds": {"min": 1592179200000}}),
                         [("2020-06", 1), ("2020-07", 1)])
        self.assertEqual(self.counts("date_histogram", {**months, "hard_bounds": {"max": 1592179200000}}), [("2020-05", 1)])

    def test_what_stands_in_for_addresses_is_counted_where_it_lies(self):
        ranges = [{"to": "10.0.1.0"}, {"from": "10.0.1.0", "to": "11.0.0.0"}, {"from": "192.0.0.0"}]
        for missing, counts in [("10.0.0.9", [2, 0, 1]), ("10.2.0.0", [1, 1, 1]), ("10.0.0.1", [2, 0, 1])]:
            found = self.counts("ip_range", {"field": "ip", "ranges": ranges, "missing": missing})
            self.assertEqual([count for _, count in found], counts, missing)

    def test_numbers_of_a_range_of_dates_are_milliseconds(self):
        ranges = [{"to": 10000.5}, {"from": 10000.5}]
        found = self.found("range", {"field": "clock", "ranges": ranges})["buckets"]
        self.assertEqual([(one.get("from"), one.get("to"), one["doc_count"]) for one in found],
                         [(None, 10000.5, 1), (10000.5, None, 1)])
        found = self.found("date_range", {"field": "clock", "ranges": [{"to": 10}, {"from": 10}]})["buckets"]
        self.assertEqual([(one.get("to"), one["doc_count"]) for one in found], [(10000.0, 1), (None, 1)])
        self.refuse("date_range", {"field": "n", "ranges": [{"to": "2020-01-01"}]}, "For input string")

    def test_a_page_counts_a_document_as_often_as_it_has_a_number(self):
        page = lambda source: self.counts("composite", {"sources": [{"k": source}]})
        self.assertEqual(page({"terms": {"field": "n"}}), [({"k": 3}, 3), ({"k": 4}, 1), ({"k": 12}, 1)])
        self.assertEqual(page({"histogram": {"field": "n", "interval": 10}}), [({"k": 0.0}, 4), ({"k": 10.0}, 1)])
        self.assertEqual(page({"terms": {"field": "flag"}}), [({"k": False}, 1), ({"k": True}, 2)])
        self.assertEqual(page({"terms": {"field": "tag"}}), [({"k": "a"}, 1), ({"k": "b"}, 1), ({"k": "c"}, 1)])

    def test_objects_are_inside_themselves(self):
        found = self.found("nested", {"path": "parts"}, again={"nested": {"path": "parts"}, "aggs": {"s": {"sum": {"field": "parts.size"}}}})
        self.assertEqual((found["doc_count"], found["again"]["doc_count"], found["again"]["s"]["value"]), (3, 3, 6.0))

    def test_an_empty_list_of_numbers_leaves_all_of_them(self):
        self.assertEqual(len(self.counts("terms", {"field": "n", "include": []})), 3)
        self.assertEqual(len(self.counts("terms", {"field": "flag", "include": []})), 2)
        self.assertEqual(self.counts("terms", {"field": "tag", "include": []}), [])
        self.assertEqual(len(self.counts("terms", {"field": "tag", "exclude": []})), 3)

    def test_numbers_lose_their_fractions(self):
        self.assertEqual(self.counts("terms", {"field": "n", "size": 1.9}), [(3, 2)])
        self.assertEqual(self.counts("terms", {"field": "n", "size": "1.9"}), [(3, 2)])
        self.assertEqual(len(self.counts("geohash_grid", {"field": "place", "precision": 1.9})), 1)
        months = {"field": "day", "calendar_interval": "month"}
        for zone, reason in [
            ("EST", "Unknown time-zone ID: EST"), ("europe/berlin", "Unknown time-zone ID: europe/berlin"),
            ("+25:00", "Zone offset hours not in valid range: value 25 is not in the range -18 to 18"),
            ("-18:30", "Zone offset not in valid range: -18:00 to +18:00"),
        ]:
            self.refuse("date_histogram", {**months, "time_zone": zone}, reason)
        self.assertEqual(self.counts("date_histogram", {**months, "time_zone": 5})[0], ("2020-05-01T00:00:00.000+05:00", 1))
        self.assertEqual(self.counts("date_histogram", {**months, "time_zone": -3})[0], ("2020-05-01T00:00:00.000-03:00", 1))

    def test_ends_that_do_not_fit_are_told_as_they_were_written(self):
        months = {"field": "day", "calendar_interval": "month"}
        wide, narrow = {"min": "2019-06-01", "max": "2022-12-31"}, {"min": "2020-06-01", "max": "2021-02-01"}
        within = "Extended bounds have to be inside hard bounds, hard bounds: [{}], extended bounds: [{}]"
        self.refuse("date_histogram", {**months, "extended_bounds": wide, "hard_bounds": narrow},
                    within.format("2020-06-01--2021-02-01", "2019-06-01--2022-12-31"))
        self.refuse("histogram", {"field": "n", "interval": 5, "extended_bounds": {"min": 0, "max": 100}, "hard_bounds": {"max": 20}},
                    within.format("--20.0", "0.0--100.0"))
        # Of numbers that stand for no dates they are numbers.
        self.refuse("date_histogram", {"field": "n", "calendar_interval": "month", "hard_bounds": {"min": "2020-05-20"}}, 'For input string: "2020-05-20"')
        self.refuse("date_histogram", {**months, "extended_bounds": {"min": 2, "max": 1}}, "cannot be greater than [extended_bounds.max][1] for histogram aggregation [x]")
        self.refuse("range", {"field": "n", "ranges": []}, "No [ranges] specified for the [x] aggregation")
        self.refuse("geotile_grid", {"field": "place", "bounds": "BBOX(0,1,2,3)"}, "[geotile_grid] bounds doesn't support values of type: VALUE_STRING")

    def test_terms_that_a_shard_has_too_few_documents_of_are_left_out_there(self):
        found = self.found("terms", {"field": "n", "shard_min_doc_count": 2, "min_doc_count": 2})
        # Of 3 there are two documents, of 4 and 12 one each.
        self.assertEqual([(one["key"], one["doc_count"]) for one in found["buckets"]], [(3, 2)])
        self.assertEqual(found["sum_other_doc_count"], 2)
        self.assertEqual(len(self.counts("terms", {"field": "n", "shard_min_doc_count": 2})), 3)

    def test_what_was_refused_and_is_taken(self):
        none = self.found("diversified_sampler", {"field": "tag", "max_docs_per_value": 0}, n={"max": {"field": "n"}})
        self.assertEqual((none["doc_count"], none["n"]["value"]), (0, None))
        tiles = {"field": "place", "precision": 4}
        box = {"top_left": "49,0", "bottom_right": "45,5"}
        for bounds, count in [({}, 2), ({"bounds": box}, 1)]:
            sources = [{"k": {"geotile_grid": {**tiles, **bounds}}}]
            self.assertEqual(sum(found for _, found in self.counts("composite", {"sources": sources})), count)

    def test_boxes_of_grids_are_also_well_known_text(self):
        cells = {"field": "place", "precision": 3, "bounds": {"wkt": "BBOX (1, 5, 49, 45)"}}
        self.assertEqual([count for _, count in self.counts("geohash_grid", cells)], [1])
        self.refuse("geohash_grid", {**cells, "bounds": {"wkt": "POINT (1 5)"}}, "failed to parse WKT bounding box")

    def test_terms_of_no_index_have_no_background(self):
        self.assertEqual(self.found("significant_terms", {"field": "nowhere"}), {"buckets": []})

    def test_pages_inside_buckets_are_refused_however_deep(self):
        pages = {"composite": {"sources": [{"size": {"terms": {"field": "parts.size"}}}]}}
        inside = {"nested": {"path": "parts"}, "aggs": {"pages": pages}}
        with self.refused(400) as caught:
            self.found("terms", {"field": "tag"}, inside=inside)
        self.assertIn("parent aggregation of type: [TermsAggregatorFactory]", str(caught.exception.info))
        self.assertEqual(len(self.found("nested", inside["nested"], pages=pages)["pages"]["buckets"]), 3)

    def test_only_dates_have_a_zone(self):
        for kind, more in [("date_histogram", {"calendar_interval": "month"}), ("auto_date_histogram", {}),
                           ("date_range", {"ranges": [{"to": 5}]})]:
            for field, name in [("n", "long"), ("flag", "boolean"), ("ip", "ip"), ("tag", "keyword")]:
                body = {"field": field, "time_zone": "UTC", **more}
                self.refuse(kind, body, f"Field [{field}] of type [{name}] does not support custom time zones")
            self.found(kind, {"field": "gone", "time_zone": "UTC", **more})

    def test_hits_inside_documents_do_not_tell_their_routing(self):
        self.client.index(index="real", id="4", body=DOCUMENTS["1"], routing="r", refresh=True)
        inside = {"path": "parts", "query": {"match_all": {}}, "inner_hits": {}}
        hits = {"top_hits": {"size": 9}}
        aggs = {"whole": hits, "parts": {"nested": {"path": "parts"}, "aggs": {"each": hits}}}
        found = self.client.search(index="real", body={"query": {"nested": inside}, "aggs": aggs})
        whole = found["aggregations"]["whole"]["hits"]["hits"]
        self.assertEqual({hit["_id"]: hit.get("_routing") for hit in whole}, {"1": None, "2": None, "4": "r"})
        parts = found["aggregations"]["parts"]["each"]["hits"]["hits"]
        parts += [part for hit in found["hits"]["hits"] for part in hit["inner_hits"]["parts"]["hits"]["hits"]]
        self.assertEqual(len(parts), 10)
        self.assertFalse([part for part in parts if "_routing" in part])

    def test_addresses_are_counted_with_the_same_in_texts(self):
        """Those of an index without the field, for which something stands in, and of one that has them as keywords."""
        self.client.indices.create(index="texts", body={"mappings": {"properties": {"ip": {"type": "keyword"}}}})
        self.index_all("texts", {"1": {"ip": "10.0.0.1"}})
        self.index_all("without", {"1": {"n": 1}})
        aggs = {"x": {"terms": {"field": "ip", "missing": "10.0.0.7", "order": {"_key": "asc"}}}}
        found = self.client.search(index="real,texts,without", body={"size": 0, "aggs": aggs})["aggregations"]["x"]
        counts = [(one["key"], one["doc_count"]) for one in found["buckets"]]
        self.assertEqual(counts, [("10.0.0.1", 2), ("10.0.0.7", 2), ("192.168.0.1", 1)])

    def test_documents_of_an_index_without_the_field_are_no_background(self):
        # Its objects are among what is compared with: six in all.
        self.index_all("other", {str(n): {"n": n} for n in range(5)})
        for query, size in [({"match_all": {}}, 3), ({"range": {"n": {"lt": 4}}}, 2)]:
            aggs = {"x": {"significant_terms": {"field": "tag", "min_doc_count": 1}}}
            body = {"size": 0, "query": query, "aggs": {**aggs, "all": {"filter": {"match_all": {}}, "aggs": aggs}}}
            found = self.client.search(index="real,other", body=body)["aggregations"]
            for one in (found["x"], found["all"]["x"]):
                self.assertEqual((one["doc_count"], one["bg_count"]), (size, 6))

    def test_values_are_what_they_are_said_to_be_where_there_are_none(self):
        self.refuse("histogram", {"field": "gone", "interval": 5, "value_type": "string"}, "unmapped field is not supported for aggregation [histogram]")
        self.refuse("range", {"field": "gone", "ranges": [{"to": 1}], "value_type": "ip"}, "unmapped field is not supported for aggregation [range]")
        self.assertEqual(self.found("histogram", {"field": "gone", "interval": 5, "value_type": "long"}), {"buckets": []})

    def test_deviations_are_of_numbers_alone(self):
        for body in ({"field": "day"}, {"field": "flag", "missing": True}):
            self.refuse("median_absolute_deviation", body, "is not supported for aggregation [median_absolute_deviation]")
        self.refuse("median_absolute_deviation", {"field": "n", "value_type": "date"}, "Field [n] of type [long] is not supported")
        self.assertGreaterEqual(self.found("median_absolute_deviation", {"field": "n"})["value"], 0)

    def test_fractions_are_neither_rare_nor_significant(self):
        rare, significant = "RareTerms aggregation does not support floating point fields.", "No support for examining floating point numerics"
        self.refuse("rare_terms", {"field": "share"}, rare)
        # What stands in for whole numbers makes them fractions.
        self.refuse("rare_terms", {"field": "n", "missing": 1.5}, rare)
        self.refuse("significant_terms", {"field": "share"}, significant)
        self.assertEqual(self.counts("rare_terms", {"field": "n", "missing": 7}), [(4, 1), (12, 1)])

    def test_parameters_that_an_aggregation_has_not(self):
        terms = lambda **rest: {"sources": [{"k": {"terms": {"field": "n", **rest}}}]}
        self.refuse("composite", terms(format="0.0"), "unknown field [format]")
        self.refuse("composite", terms(missing=3), "unknown field [missing] did you mean [missing_order]?")
        self.refuse("ip_range", {"field": "ip", "format": "x", "ranges": [{"to": "10.0.0.0"}]}, "[ip_range] unknown field [format]")
        self.refuse("geohash_grid", {"field": "place", "format": "x"}, "[geohash_grid] unknown field [format]")
        self.refuse("range", {"field": "n", "ranges": [{"mask": "10.0.0.0/8"}]}, "[range] unknown field [mask]")
        self.refuse("multi_terms", {"terms": [{"field": "n"}, {"field": "tag"}], "execution_hint": "map"}, "unknown field [execution_hint]")
        self.refuse("significant_terms", {"field": "tag", "gnd": {"include_negatives": True}}, "[gnd] unknown field [include_negatives]")
        self.refuse("significant_text", {"field": "tag", "missing": "x"}, "[significant_text] unknown field [missing]")

    def test_values_that_a_parameter_takes_not(self):
        tag = {"field": "tag"}
        self.refuse("terms", {**tag, "include": ["a"], "exclude": "b.*"}, "Cannot mix a set-based include with a regex-based method")
        self.refuse("terms", {**tag, "include": "a", "exclude": ["b"]}, "Cannot mix a regex-based include with a set-based method")
        self.refuse("terms", {**tag, "execution_hint": "x"}, "Unknown `execution_hint`: [x], expected any of [map, global_ordinals]")
        self.refuse("terms", {**tag, "shard_min_doc_count": -1}, "[shardMinDocCount] must be greater than or equal to 0. Found [-1] in [x]")
        self.refuse("terms", {**tag, "format": "0.0"}, "Field [tag] of type [keyword] does not support custom formats")
        self.refuse("terms", {**tag, "value_type": "long"}, "Expected numeric type on field [tag], but got [keyword]")
        self.refuse("terms", {"field": "flag", "missing": "x"}, "Cannot parse boolean [x], expected either [true] or [false]")
        self.refuse("terms", {"field": "flag", "include": [1]}, "Cannot parse boolean [1], expected either [true] or [false]")
        self.refuse("diversified_sampler", {"field": "ip"}, "Field [ip] of type [ip] is not supported for aggregation [diversified_sampler]")
        widths = {"field": "n", "buckets": 3}
        self.refuse("variable_width_histogram", {**widths, "shard_size": 1}, "shard_size must be greater than [1] for [x]")
        self.refuse("variable_width_histogram", {**widths, "shard_size": 3}, "3/4 of shard_size must be at least buckets but was [2<3] for [x]")
        self.refuse("variable_width_histogram", {**widths, "initial_buffer": 2}, "initial_buffer must be at least buckets but was [2<3] for [x]")
        self.refuse("variable_width_histogram", {"field": "day"}, "is not supported for aggregation [variable_width_histogram]")
        self.refuse("auto_date_histogram", {"field": "day", "minimum_interval": "week"}, "minimum_interval must be one of")
        distances = {"field": "place", "origin": "48,2", "ranges": [{"to": 5}]}
        self.refuse("geo_distance", {**distances, "distance_type": "x"}, "No geo distance for [x]")

    def test_fractions_that_stand_in_for_whole_numbers(self):
        self.client.index(index="real", id="4", body={"tag": "d"}, refresh=True)
        self.assertEqual(self.found("sum", {"field": "n", "missing": 1.5})["value"], 3 + 3 + 4 + 3 + 12 + 1.5)
        self.assertEqual(self.found("min", {"field": "n", "missing": "-0.25"})["value"], -0.25)
        self.assertEqual(self.counts("terms", {"field": "n", "missing": 3.5}), [(3.0, 2), (3.5, 1), (4.0, 1), (12.0, 1)])
        ranges = [{"to": 3.25}, {"from": 3.25}]
        found = self.counts("range", {"field": "n", "missing": 3.5, "ranges": ranges})
        self.assertEqual([count for _, count in found], [2, 3])
        # One without a fraction leaves them as they are.
        self.assertIs(type(self.counts("terms", {"field": "n", "missing": 3.0})[0][0]), int)

    def test_buckets_are_ordered_by_the_bounds_of_stats(self):
        spread = {"s": {"extended_stats": {"field": "n", "sigma": 1}}}
        order = lambda path: [one["key"] for one in self.found("terms", {"field": "tag", "order": {path: "asc"}}, **spread)["buckets"]]
        # Of 3, 3, 4 the mean is 3.33 and the deviation 0.47; the others have one value each.
        self.assertEqual(order("s.std_upper"), ["b", "a", "c"])
        self.assertEqual(order("s.std_lower"), ["a", "b", "c"])
        self.assertEqual(order(">s.std_lower_population"), ["a", "b", "c"])

    def test_how_many_intervals_can_be_asked_for(self):
        self.assertTrue(self.counts("auto_date_histogram", {"field": "day", "buckets": 2184}))
        for least, interval in [({}, "1s"), ({"minimum_interval": "month"}, "1M")]:
            self.assertEqual(self.found("auto_date_histogram", {"field": "gone", **least})["interval"], interval)
        self.refuse("auto_date_histogram", {"field": "day", "buckets": 2185}, "buckets must be less than 2184")

    def test_orders_that_lead_nowhere(self):
        inside = {"one": {"filter": {"match_all": {}}, "aggs": {"stats": {"stats": {"field": "n"}}}}, "max": {"max": {"field": "n"}},
                  "many": {"terms": {"field": "n"}}}
        for path, why in [
            ("nothing", "The provided aggregation [nothing] either does not exist, or is a pipeline aggregation"),
            ("max.least", 'Ordering on a single-value metrics aggregation can only be done on its value. Either drop the key (a la "max")'),
            ("one>stats", "When ordering on a multi-value metrics aggregation a metric name must be specified."),
            ("one>stats.least", "Unknown metric name [least] on multi-value metrics aggregation [stats]"),
            ("one.least", 'Ordering on a single-bucket aggregation can only be done on its doc_count. Either drop the key (a la "one")'),
            ("many", "Buckets can only be sorted on a sub-aggregator path that is built out of zero or more single-bucket aggregations"),
            ("max>least", "at the path end. [max] is not single-bucket."),
        ]:
            with self.subTest(path), self.refused(400) as caught:
                self.found("terms", {"field": "tag", "order": {path: "asc"}}, **inside)
            cause = caught.exception.info["error"]["root_cause"][0]
            self.assertEqual(cause["type"], "aggregation_execution_exception")
            self.assertTrue(cause["reason"].startswith(f"Invalid aggregation order path [{path}]. "), cause)
            self.assertIn(why, cause["reason"])

    def test_parts_of_the_terms_that_there_are_none_of(self):
        part = lambda **include: {"field": "tag", "include": include}
        self.refuse("terms", part(partition=3, num_partitions=3), "Partition must be >=0 and < numPartition which is 3")
        self.refuse("terms", part(partition=-1, num_partitions=2), "Partition must be >=0 and < numPartition which is 2")
        self.refuse("terms", part(partition=0), "Missing [num_partitions] parameter for partition-based include")
        self.refuse("terms", part(pattern="a"), "Unknown parameter in Include/Exclude clause: pattern")
        self.refuse("terms", {"field": "n", "include": "1.*"}, "Use an array of numeric values for include/exclude clauses used to filter numeric fields")
        self.refuse("children", {"type": "a", "field": "n"}, "Unknown key for a VALUE_STRING in [x]: [field].")
        sources = lambda **rest: {"sources": [{"k": {"terms": {"field": "tag", **rest}}}]}
        self.refuse("composite", sources(missing_order="last"), "missing_order require missing_bucket is true")
        by_tag = {"sources": [{"t": {"terms": {"field": "tag"}}}]}
        for value, sort in [(["a"], "ArrayList"), ({"a": 1}, "HashMap")]:
            self.refuse("composite", {**by_tag, "after": {"t": value}}, f"Invalid value for [after.t], expected comparable, got [{sort}]")
        with self.refused(400, "search_phase_execution_exception", "all shards failed"):
            self.found("composite", sources(missing_order="last"))
        self.refuse("composite", sources(missing_order="x", missing_bucket=True),
                    "No enum constant org.opensearch.search.aggregations.bucket.missing.MissingOrder.X")

    def test_a_page_begins_behind_a_key_of_its_kind(self):
        behind = lambda source, key: {"sources": [{"k": source}], "after": {"k": key}}
        tag, day = {"terms": {"field": "tag"}}, {"terms": {"field": "day"}}
        self.assertEqual(self.counts("composite", behind(tag, "a")), [({"k": "b"}, 1), ({"k": "c"}, 1)])
        self.assertEqual(len(self.counts("composite", behind(day, "1592000000000"))), 2)
        self.refuse("composite", behind(tag, 5), "invalid value, expected string, got Integer")
        self.refuse("composite", behind(tag, None), "Invalid value for [after.k], expected comparable, got [null]")
        self.refuse("composite", behind(day, "2020-06-01"), "For input string")
        self.refuse("composite", behind({"geotile_grid": {"field": "place", "precision": 4}}, "bad"), "Invalid geotile_grid hash string of bad.")
