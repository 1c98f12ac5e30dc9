"""What metrics make of odd settings, and pipelines of odd paths, as OpenSearch answered the same requests."""

from .base import ClewTest

FIELDS = {
    "n": {"type": "integer"}, "kept": {"type": "integer", "doc_values": False}, "flag": {"type": "boolean"},
    "kw": {"type": "keyword"}, "place": {"type": "geo_point"}, "big": {"type": "unsigned_long"}, "list": {"type": "integer"},
}


def innermost(caught):
    """What was wrong: the root of what shards failed with, or what kept their results from being put together."""
    error = caught.exception.info["error"]
    return (error["root_cause"] or [error["caused_by"]])[0]["reason"]


class MetricsAndPipelinesTest(ClewTest):
    def setUp(self):
        super().setUp()
        settings = {"number_of_shards": 1, "number_of_replicas": 0}
        self.client.indices.create(index="m", body={"settings": settings, "mappings": {"properties": FIELDS}})
        self.index_all("m", {
            "1": {"n": 1, "kw": "red", "flag": True, "place": "10,20", "big": 21, "list": [1, 5]},
            "2": {"n": 2, "kw": "red", "flag": False, "place": "30,40", "big": 2**63, "list": [2]},
            "3": {"n": 12, "kw": "blue", "flag": True, "place": "-10,0", "big": 3, "list": [9, 4]},
            "4": {"kw": "blue", "kept": 3},
        })

    def aggregate(self, **aggs):
        return self.client.search(index="m", body={"size": 0, "aggs": aggs})["aggregations"]

    def refusal(self, **aggs):
        """The innermost reason of a refusal."""
        with self.refused(400) as caught:
            self.aggregate(**aggs)
        return innermost(caught)

    def test_what_stands_in_for_missing_values(self):
        for settings, value in [
            ({"field": "n", "missing": 2.5}, 17.5),
            ({"field": "n", "missing": "2.5"}, 17.5),
            ({"field": "n", "missing": 5}, 20.0),
            ({"field": "nowhere", "missing": "5"}, 20.0),
            ({"field": "nowhere", "missing": 1.5}, 6.0),
        ]:
            self.assertEqual(self.aggregate(a={"sum": settings})["a"]["value"], value, settings)
        keys = self.aggregate(a={"terms": {"field": "n", "missing": 2.5, "order": {"_key": "asc"}}})["a"]["buckets"]
        self.assertEqual([bucket["key"] for bucket in keys], [1.0, 2.0, 2.5, 12.0])
        for settings, reason in [
            ({"field": "n", "missing": True}, 'For input string: "true"'),
            ({"field": "nowhere", "missing": "x"}, 'For input string: "x"'),
            ({"field": "flag", "missing": 1}, "Cannot parse boolean [1], expected either [true] or [false]"),
        ]:
            self.assertEqual(self.refusal(a={"avg": settings}), reason)

    def test_values_that_there_are_none_of_are_refused(self):
        for kind, settings, reason in [
            ("avg", {"field": "kept"}, "Can't load fielddata on [kept] because fielddata is unsupported on fields of type [integer]. Use doc values instead."),
            ("avg", {"field": "flag", "format": "0.0"}, "Field [flag] of type [boolean] does not support custom formats"),
            ("avg", {"field": "_doc_count"}, "Fielddata is not supported on field [_doc_count] of type [_doc_count]"),
            ("terms", {"field": "_routing"}, "Fielddata is not supported on field [_routing] of type [_routing]"),
            ("value_count", {"field": "kw", "value_type": "long"}, "Expected numeric type on field [kw], but got [keyword]"),
            ("avg", {"field": "n", "value_type": "string"}, "Field [n] of type [integer] is not supported for aggregation [avg]"),
        ]:
            self.assertEqual(self.refusal(a={kind: settings}), reason)

    def test_parameters_of_scripts_of_buckets_are_a_map(self):
        words = {"terms": {"field": "kw"}, "aggs": {"m": {"max": {"field": "n"}}}}

        def made(source, gaps):
            script = {"buckets_path": {"a": "m", "b": "k['red']>m"}, "gap_policy": gaps, "script": {"source": source, "params": {"c": 100}}}
            inner = {"k": words, "m": {"max": {"field": "n"}}, "z": {"bucket_script": script}}
            found = self.aggregate(h={"histogram": {"field": "n", "interval": 10}, "aggs": inner})
            return [bucket.get("z", {}).get("value") for bucket in found["h"]["buckets"]]

        for source, skipped, filled in [
            ("params.values().size()", [3, None], [3, 3]),
            ("params.containsKey('b') ? params['' + 'a'] + params.get('c') : 0", [102, None], [102, 112]),
            # What a path does not lead to is nothing, and no zero.
            ("params.b == null ? -1 : params.b", [2, None], [2, -1]),
        ]:
            self.assertEqual((made(source, "skip"), made(source, "insert_zeros")), (skipped, filled), source)

    def test_paths_of_pipelines_are_held_against_what_there_is(self):
        words = {"terms": {"field": "kw"}, "aggs": {"m": {"max": {"field": "n"}}}}
        inner = {"k": words, "m": {"max": {"field": "n"}}, "s": {"stats": {"field": "n"}}, "c": {"geo_centroid": {"field": "place"}}, "e": {"extended_stats": {"field": "n"}}}

        def path(path):
            script = {"bucket_script": {"buckets_path": {"v": path}, "script": "params.v"}}
            found = self.aggregate(h={"histogram": {"field": "n", "interval": 10}, "aggs": inner | {"z": script}})
            return [bucket.get("z", {}).get("value") for bucket in found["h"]["buckets"]]

        for asked, want in [
            (" m > ", [2.0, 12.0]), ("s.max", [2.0, 12.0]), ("e.std_upper", [2.5, 12.0]), ("e.std_lower", [0.5, 12.0]), ("k['red']>m", [2.0, None]), ("k['red']>_count", [2.0, None]),
            ("k._bucket_count", [1.0, 1.0]), ("k[red]>m", [None, None]), ("_count", [2.0, 1.0]),
        ]:
            self.assertEqual(path(asked), want, asked)
        south, west = path("c.lat"), path("c.lon")
        self.assertEqual([round(number) for number in south + west], [20, -10, 30, 0])
        over = self.aggregate(h={"histogram": {"field": "n", "interval": 10}, "aggs": inner}, z={"avg_bucket": {"buckets_path": "h>k['red']>m"}})
        self.assertEqual(over["z"]["value"], 2.0)
        for asked, reason in [
            ("", "Validation Failed: 1: Invalid path [];"),
            ("nope", "Validation Failed: 1: No aggregation found for path [nope];"),
            ("m>nope", "Validation Failed: 1: No aggregation [nope] found for path [m>nope];"),
            ("_bucket_count", "Validation Failed: 1: No aggregation found for path [_bucket_count];"),
            ("s.max.x", "Validation Failed: 1: No aggregation found for path [s.max.x];"),
            ("k['red'", "Invalid path element [k['red'] in path [k['red']"),
            ("c.location", "Found unknown path element [location] in [c]"),
        ]:
            with self.refused(400) as caught:
                path(asked)
            self.assertEqual(innermost(caught), reason)

    def test_pipelines_beside_others_go_over_buckets_alone(self):
        one = {"filter": {"match_all": {}}, "aggs": {"m": {"max": {"field": "n"}}}}
        words = {"terms": {"field": "kw"}, "aggs": {"m": {"max": {"field": "n"}}}}
        wrong = "The first aggregation in buckets_path must be a multi-bucket aggregation for aggregation [{}] found :org.opensearch.search.aggregations.{}AggregationBuilder for buckets path: {}"
        summary = lambda path: {"avg_bucket": {"buckets_path": path}}
        y, z = wrong.format("y", "bucket.filter.Filter", "one>m"), wrong.format("z", "metrics.Max", "top")
        self.assertEqual(
            self.refusal(one=one, top={"max": {"field": "n"}}, words=words, y=summary("one>m"), z=summary("top"), x=summary("words['red']>m")),
            f"Validation Failed: 1: {y};2: {z};3: buckets_path aggregation does not exist for aggregation [x]: words['red']>m;",
        )

    def test_paths_are_named_by_numbers_too_and_numbers_are_cut(self):
        inner = {"5": {"max": {"field": "n"}}, "m": {"min": {"field": "n"}}}
        histogram = {"histogram": {"field": "n", "interval": 10}}
        z = {"bucket_script": {"buckets_path": {"a": 5}, "script": "params.a"}}
        found = self.aggregate(h=histogram | {"aggs": inner | {"z": z}})["h"]["buckets"]
        self.assertEqual([bucket["z"]["value"] for bucket in found], [2.0, 12.0])
        several = {"cumulative_sum": {"buckets_path": ["m", "5"]}}
        self.assertEqual(self.refusal(h=histogram | {"aggs": inner | {"z": several}}),
                         "Validation Failed: 1: buckets_path must contain a single entry for aggregation [z];")
        digits = lambda digits: self.aggregate(a={"percentiles": {"field": "n", "percents": [50], "hdr": {"number_of_significant_value_digits": digits}}})
        self.assertEqual(digits(2.5), digits(2))
        twice = self.aggregate(a={"matrix_stats": {"fields": ["n", "n"]}})["a"]
        self.assertEqual([field["name"] for field in twice["fields"]], ["n"])

    def test_pipelines_that_read_themselves_or_have_others_inside_are_refused(self):
        histogram = {"histogram": {"field": "n", "interval": 10}}
        for inner, reason in [
            ({"z": {"bucket_sort": {"sort": [{"z": "asc"}]}}}, "Validation Failed: 1: Cyclical dependency found with pipeline aggregator [z];"),
            ({"z": {"derivative": {"buckets_path": "_count"}, "aggs": {"q": {"avg": {"field": "n"}}}}}, "Aggregation [z] cannot define sub-aggregations"),
        ]:
            self.assertEqual(self.refusal(h=histogram | {"aggs": inner}), reason)

    def test_a_page_ends_where_it_ended_before_pipelines(self):
        sources = {"composite": {"size": 2, "sources": [{"k": {"terms": {"field": "n"}}}]}}
        for pipeline in (
            {"bucket_sort": {"sort": [{"_key": "desc"}]}}, {"bucket_sort": {"from": 5}},
            {"bucket_selector": {"buckets_path": {"v": "_count"}, "script": "params.v > 7"}},
        ):
            page = self.aggregate(h=sources | {"aggs": {"z": pipeline}})["h"]
            self.assertEqual(page["after_key"], {"k": 2}, pipeline)

    def test_all_scripts_of_a_metric_see_its_parameters(self):
        scripts = {"map_script": "state.n = params.q", "combine_script": "return state.n", "reduce_script": "return params.q"}
        self.assertEqual(self.aggregate(a={"scripted_metric": scripts | {"params": {"q": 7}}})["a"]["value"], 7)

    def test_the_best_score_is_told_where_scores_are_tracked(self):
        body = {"query": {"match": {"kw": "red"}}, "aggs": {}}
        for settings, told in [({"track_scores": True}, True), ({}, False)]:
            body["aggs"]["a"] = {"top_hits": {"sort": [{"n": "desc"}], **settings}}
            hits = self.client.search(index="m", body=body)["aggregations"]["a"]["hits"]
            self.assertEqual(hits["max_score"] is not None, told)

    def test_settings_that_an_aggregation_does_not_have_are_refused(self):
        weight = {"weight": {"field": "n"}}
        for kind, settings, reason in [
            ("avg", {"field": None}, "[avg] field doesn't support values of type: VALUE_NULL"),
            ("percentiles", {"field": "n", "keyed": None}, "[percentiles] keyed doesn't support values of type: VALUE_NULL"),
            ("avg", {"field": "n", "script": 5}, "[avg] script doesn't support values of type: VALUE_NUMBER"),
            ("cardinality", {"field": "n", "format": "0.0"}, "[cardinality] unknown field [format]"),
            ("geo_centroid", {"field": "place", "format": "0"}, "[geo_centroid] unknown field [format]"),
            ("geo_bounds", {"field": "place", "script": "1"}, "[geo_bounds] unknown field [script]"),
            ("matrix_stats", {"fields": ["n"], "script": "1"}, "Unexpected token VALUE_STRING [script] in [a]."),
            ("matrix_stats", {"fields": ["n"], "script": {"source": "1"}}, "Unexpected token START_OBJECT [script] in [a]. Multi-field aggregations do not support scripts."),
            ("matrix_stats", {"field": "n"}, "Unexpected token VALUE_STRING [field] in [a]."),
            ("top_hits", {"size": None}, "Unknown key for a VALUE_NULL in [size]."),
            ("weighted_avg", {"value": {"field": "n", "format": "0"}} | weight, "[field_config] unknown field [format]"),
            ("extended_stats_bucket", {"buckets_path": "h", "sigma": "2"}, "Unexpected token VALUE_STRING [sigma] in [a]"),
            ("avg_bucket", {"buckets_path": "h", "gap_policy": 5}, "Unexpected token VALUE_NUMBER [gap_policy] in [a]"),
        ]:
            self.assertIn(reason, self.refusal(a={kind: settings}))
        for kind, settings, reason in [
            ("avg", {"field": "n", "missing": None}, "[missing] must not be null: [a]"),
            ("weighted_avg", {"value": {"field": "n", "script": "1"}} | weight, "[field] and [script] cannot both be configured.  Please specify one or the other."),
            ("weighted_avg", {"value": {"field": "kw"}} | weight, "Expected numeric type on field [kw], but got [keyword]"),
            ("extended_stats_bucket", {"buckets_path": "h", "sigma": -1}, "sigma must be a non-negative double"),
            ("percentiles_bucket", {"buckets_path": "h", "percents": [101]}, "percents must only contain non-null doubles from 0.0-100.0 inclusive"),
            ("avg_bucket", {"buckets_path": "h", "gap_policy": "keep_values"}, "Invalid gap policy: [keep_values], accepted values: [insert_zeros, skip]"),
        ]:
            with self.refused(400) as caught:
                self.aggregate(a={kind: settings})
            self.assertIn(reason, str(caught.exception.info["error"]))

    def test_a_weighted_mean_has_a_format_of_its_own_alone(self):
        mean = {"value": {"field": "flag"}, "weight": {"field": "n"}}
        self.assertEqual(self.aggregate(a={"weighted_avg": mean})["a"].keys(), {"value"})
        self.assertEqual(self.aggregate(a={"weighted_avg": mean | {"format": "0.00"}})["a"]["value_as_string"], "0.87")

    def test_pipelines_take_numbers_and_texts_as_they_are(self):
        histogram = {"histogram": {"field": "n", "interval": 10}}
        for kind, settings, reason in [
            ("derivative", {"lag": "x"}, "Unknown key for a VALUE_STRING in [z]: [lag]."),
            ("derivative", {"unit": 5}, "Unexpected token VALUE_NUMBER in [z]."),
            ("serial_diff", {"lag": "2"}, "Unknown key for a VALUE_STRING in [z]: [lag]."),
            ("bucket_selector", {"script": "true", "format": "0"}, "Unknown key for a VALUE_STRING in [z]: [format]."),
            ("moving_avg", {"model": "nix"}, "no [moving_avg_model] registered for [nix]"),
            ("bucket_script", {"script": 5}, "[bucket_script] script doesn't support values of type: VALUE_NUMBER"),
        ]:
            z = {kind: {"buckets_path": "_count", **settings}}
            self.assertIn(reason, self.refusal(h=histogram | {"aggs": {"z": z}}))
        for sort, reason in [
            ("_key", "[bucket_sort] sort doesn't support values of type: VALUE_STRING"),
            ([{"_key": {"foo": "desc"}}], "[field_sort] unknown field [foo]"),
        ]:
            self.assertIn(reason, self.refusal(h=histogram | {"aggs": {"z": {"bucket_sort": {"sort": sort}}}}))
        for settings, reason in [
            ({"size": 0}, "[size] must be a positive integer: [0]"), ({"from": -1}, "[from] must be a non-negative integer: [-1]"),
            ({"sort": [{"_key": {"order": "nix"}}]}, "No enum constant org.opensearch.search.sort.SortOrder.NIX"),
        ]:
            with self.refused(400, "x_content_parse_exception") as caught:
                self.aggregate(h=histogram | {"aggs": {"z": {"bucket_sort": settings}}})
            self.assertIn(reason, str(caught.exception.info))
        for model, settings, reason in [
            ("simple", {"foo": 1}, "Unrecognized parameter(s): [[foo]]"),
            ("ewma", {"alpha": 0.5, "beta": 0.2, "gamma": 0.3, "period": 2}, "Unrecognized parameter(s): [[period, beta, gamma]]"),
            ("holt", {"alpha": 2}, "Parameter [alpha] must be between 0-1 inclusive.  Providedvalue was [2.0]"),
            ("holt_winters", {"alpha": "x"}, "Parameter [alpha] must be a double, type `String` provided instead"),
        ]:
            z = {"moving_avg": {"buckets_path": "_count", "model": model, "predict": 2, "settings": settings}}
            with self.refused(400, "parsing_exception", f"Could not parse settings for model [{model}].") as caught:
                self.aggregate(h=histogram | {"aggs": {"z": z}})
            self.assertEqual(caught.exception.info["error"]["caused_by"], {"type": "parse_exception", "reason": reason})
        simple = {"moving_avg": {"buckets_path": "_count", "minimize": True}}
        reason = "The [org.opensearch.search.aggregations.pipeline.SimpleModel@0] model cannot be minimized for aggregation [z]"
        self.assertIn(reason, self.refusal(h=histogram | {"aggs": {"z": simple}}))
        words = {"terms": {"field": "kw"}, "aggs": {"z": {"moving_avg": {"buckets_path": "_count"}}}}
        self.assertIn("moving_avg aggregation [z] must have a histogram", self.refusal(h=words))

    def test_moving_averages_say_what_comes_behind_the_last_bucket(self):
        inner = {"s": {"sum": {"field": "n"}}}

        def asked(histogram, **settings):
            mean = {"z": {"moving_avg": {"buckets_path": "s", **settings}}}
            return self.aggregate(h=histogram | {"aggs": inner | mean}, over={"sum_bucket": {"buckets_path": "h>z"}})

        found = asked({"histogram": {"field": "n", "interval": 10, "offset": 1}}, predict=2)
        told = [(bucket["key"], bucket["doc_count"], bucket.get("z", {}).get("value")) for bucket in found["h"]["buckets"]]
        self.assertEqual(told, [(1.0, 2, None), (11.0, 1, 3.0), (21.0, 0, 7.5), (31.0, 0, 7.5)])
        self.assertNotIn("s", found["h"]["buckets"][2])
        trend = asked({"histogram": {"field": "n", "interval": 10}}, predict=2, model="holt", settings={"alpha": 1, "beta": 1})
        self.assertEqual([bucket["z"]["value"] for bucket in trend["h"]["buckets"][2:]], [12.0, 21.0])
        self.index_all("m", {str(day): {"n": day, "kw": "day", "day": f"2024-0{day}-15"} for day in (1, 2, 3)})
        monthly = {"date_histogram": {"field": "day", "calendar_interval": "month", "format": "yyyy-MM"}}
        months = asked(monthly, predict=2, model="ewma", minimize=True, window=1)["h"]["buckets"]
        self.assertEqual([bucket["key_as_string"] for bucket in months], [f"2024-0{month}" for month in range(1, 6)])
        self.assertEqual(months[-1]["z"]["value"], 3.0)
        with self.refused(503, "search_phase_execution_exception") as caught:
            asked(monthly, predict=70_000)
        self.assertEqual(caught.exception.info["error"]["caused_by"]["type"], "too_many_buckets_exception")

    def test_what_shows_when_results_are_put_together_is_no_failure_of_a_shard(self):
        sums = {"cumulative_sum": {"buckets_path": "s"}}
        histogram = {"histogram": {"field": "n", "interval": 10}, "aggs": {"s": {"stats": {"field": "n"}}, "z": sums}}
        scripts = {"map_script": "state.n = 1", "combine_script": "return state", "reduce_script": "double s = 0; for (a in states) { s += a } return s"}
        for aggregation, kind in [(histogram, "aggregation_execution_exception"), ({"scripted_metric": scripts}, "script_exception")]:
            with self.refused(400, "search_phase_execution_exception") as caught:
                self.aggregate(a=aggregation)
            error = caught.exception.info["error"]
            self.assertEqual((error["phase"], error["failed_shards"], error["reason"]), ("fetch", [], ""))
            self.assertEqual(error["caused_by"]["type"], kind)
        unread = [
            {"histogram": {"field": "n", "interval": 10}, "aggs": {"z": {kind: {"buckets_path": "_count", "script": "x +", **more}}}}
            for kind, more in [("bucket_script", {}), ("bucket_selector", {}), ("moving_fn", {"window": 2})]
        ]
        for aggregation in [*unread, {"scripted_metric": scripts | {"reduce_script": "x +"}}]:
            with self.refused(400, "search_phase_execution_exception") as caught:
                self.aggregate(a=aggregation)
            error = caught.exception.info["error"]
            self.assertEqual((error["phase"], error["caused_by"]["reason"]), ("fetch", "compile error"), aggregation)
        for aggregation in [
            {"avg": {"field": "kw"}}, {"avg": {"script": {"source": "1", "lang": "nix"}}}, {"terms": {"field": "kw", "execution_hint": "x"}},
            {"scripted_metric": {"map_script": "1"}}, {"weighted_avg": {"value": {"field": "n"}}}, {"date_histogram": {"field": "day"}},
        ]:
            with self.refused(400, "search_phase_execution_exception", "all shards failed"):
                self.aggregate(a=aggregation)
        with self.refused(400, "aggregation_initialization_exception", "Aggregator [a] of type [avg] cannot accept sub-aggregations"):
            self.aggregate(a={"avg": {"field": "n"}, "aggs": {"b": {"max": {"field": "n"}}}})
        with self.refused(400, "aggregation_execution_exception", "Invalid path element [m[] in path [m[]"):
            self.aggregate(h={"histogram": {"field": "n", "interval": 1}, "aggs": {"m": {"max": {"field": "n"}}, "z": {"derivative": {"buckets_path": "m["}}}})
        with self.refused(400, "search_phase_execution_exception", "all shards failed"):
            self.aggregate(a={"avg": {"script": "x +"}})

    def test_documents_of_aggregations_say_where_their_score_is_from(self):
        tops = {"a": {"top_hits": {"explain": True, "sort": [{"n": "desc"}]}}, "b": {"top_hits": {}}}
        found = self.client.search(index="m", body={"query": {"match": {"kw": "red"}}, "aggs": tops})
        hits = found["aggregations"]["a"]["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits], ["2", "1"])
        for hit in hits:
            self.assertGreater(hit["_explanation"]["value"], 0)
            self.assertTrue(hit["_node"])
        for others in (found["aggregations"]["b"]["hits"]["hits"], found["hits"]["hits"]):
            self.assertNotIn("_explanation", others[0])
