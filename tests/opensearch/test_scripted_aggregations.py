"""Values of aggregations that scripts make."""

from .base import ClewTest

MAPPINGS = {
    "properties": {
        "n": {"type": "integer"},
        "price": {"type": "double"},
        "tag": {"type": "keyword"},
        "at": {"type": "date"},
        "text": {"type": "text"},
    }
}


class ScriptedValuesTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="s", body={"settings": {"number_of_shards": 2}, "mappings": MAPPINGS})
        self.index_all(
            "s",
            {
                "a": {"n": 7, "price": 2.5, "tag": ["x", "y"], "at": "2024-03-01T10:30:00Z"},
                "b": {"n": 4, "price": 10, "tag": "z", "at": "2024-03-31T22:30:00Z"},
                "c": {"n": 4, "price": 1, "tag": "x", "at": "2024-11-05T00:00:00Z"},
                "d": {"tag": "x"},
            },
        )

    def aggregate(self, query=None, **aggs):
        query = query or {"exists": {"field": "n"}}
        return self.client.search(index="s", body={"size": 0, "query": query, "aggs": aggs})["aggregations"]

    def buckets(self, kind, query=None, **body):
        found = self.aggregate(query, x={kind: body})["x"]["buckets"]
        return [(bucket["key"], bucket["doc_count"]) for bucket in found]

    def test_metrics_are_of_what_scripts_make(self):
        product = {"source": "doc['n'].value * doc['price'].value * params.f", "params": {"f": 2}}
        found = self.aggregate(
            sum={"sum": {"script": product}},
            avg={"avg": {"script": {"lang": "expression", "source": "doc['n'].value * 2"}}},
            min={"min": {"script": "doc['n'].value - 10"}},
            stats={"stats": {"script": "[doc['n'].value, 1]"}},
            count={"value_count": {"script": "doc['tag']"}},
            kinds={"cardinality": {"script": "doc['tag'].value + doc['n'].value"}},
            middle={"percentiles": {"script": "doc['n'].value", "percents": [50]}},
            flags={"sum": {"script": "doc['n'].value > 5"}},
            latest={"max": {"script": "doc['at'].value"}},
            mean={"weighted_avg": {"value": {"script": "doc['n'].value"}, "weight": {"script": "1"}}},
        )
        self.assertEqual(found["sum"]["value"], 2 * (17.5 + 40 + 4))
        self.assertEqual((found["avg"]["value"], found["min"]["value"]), (10, -6))
        self.assertEqual((found["stats"]["count"], found["stats"]["sum"]), (6, 18))
        self.assertEqual((found["count"]["value"], found["kinds"]["value"]), (4, 3))
        self.assertEqual(found["middle"]["values"]["50.0"], 4)
        self.assertEqual((found["flags"]["value"], found["mean"]["value"]), (1, 5))
        self.assertEqual(found["latest"]["value"], 1730764800000)

    def test_moving_functions_are_scripts(self):
        def moving(script, window=3, **more):
            inner = {"price": {"sum": {"field": "price"}}, "moving": {"moving_fn": {
                "buckets_path": "price", "window": window, "script": script, **more}}}
            found = self.aggregate(x={"histogram": {"field": "n", "interval": 1, "min_doc_count": 0}, "aggs": inner})
            return {bucket["key"]: bucket["moving"]["value"] for bucket in found["x"]["buckets"] if "moving" in bucket}

        added = "double s = 0; for (double v : values) { s += v } return s + params.by"
        self.assertEqual(moving({"source": added, "params": {"by": 0.5}}), {4: 0.5, 7: 11.5})
        self.assertEqual(moving("values.length > 0 ? MovingFunctions.max(values) - 1 : -1"), {4: -1, 7: 10})
        self.assertEqual(moving("MovingFunctions.min(values)", shift=1), {4: 11, 7: 2.5})
        seasons = "if (values.length > 1) { MovingFunctions.holtWinters(values, 0.5, 0.5, 0.5, 1, false) }"
        self.assertEqual(moving(seasons, shift=1)[4], 0)
        self.assertEqual(moving("MovingFunctions.max(values)"), {4: None, 7: 11})
        with self.refused(400, "search_phase_execution_exception") as caught:
            moving("doc['n'].value")
        error = caught.exception.info["error"]
        self.assertEqual((error["root_cause"], error["caused_by"]["reason"]), ([], "compile error"))

    def test_values_of_fields_are_given_to_scripts(self):
        found = self.aggregate(
            sum={"sum": {"field": "n", "script": {"source": "_value * params.f", "params": {"f": 10}}}},
            half={"sum": {"field": "n", "script": "_value / 2"}},
            fast={"sum": {"field": "n", "script": {"lang": "expression", "source": "_value + 1"}}},
            none={"sum": {"field": "nope", "script": "_value * 2"}},
        )
        self.assertEqual([found[name]["value"] for name in ("sum", "half", "fast", "none")], [150, 7.5, 18, 0])
        script = {"field": "tag", "script": "'t-' + _value.toUpperCase()"}
        self.assertEqual(self.buckets("terms", **script), [("t-X", 2), ("t-Y", 1), ("t-Z", 1)])
        self.assertEqual(self.buckets("terms", field="n", script="_value % 3"), [(1.0, 3)])
        # Dates are numbers with a fraction to them, too, and so is what they make.
        (only,) = self.aggregate(x={"terms": {"field": "at", "script": "(int) _value", "format": "yyyy"}})["x"]["buckets"]
        self.assertEqual((repr(only["key"]), only["key_as_string"]), ("2147483647.0", "1970"))

    def test_what_is_made_of_truths_is_shown_as_one(self):
        properties = {"flag": {"type": "boolean"}, "size": {"type": "unsigned_long"}}
        self.client.indices.create(index="f", body={"mappings": {"properties": properties}})
        self.index_all("f", {"1": {"flag": True, "size": 2**64 - 1}, "2": {"flag": False}})
        twice = {"script": "_value * 2"}
        aggs = {
            "t": {"terms": {"field": "flag", **twice, "order": {"_key": "asc"}}},
            "s": {"sum": {"field": "flag", **twice}}, "u": {"max": {"field": "size", **twice}},
        }
        found = self.client.search(index="f", body={"size": 0, "aggs": aggs})["aggregations"]
        keys = [(one["key"], one["key_as_string"]) for one in found["t"]["buckets"]]
        self.assertEqual(keys, [(0.0, "false"), (2.0, "true")])
        self.assertEqual(found["s"]["value_as_string"], "true")
        self.assertEqual(found["u"]["value_as_string"], "3.6893488147419103E19")

    def test_buckets_are_of_what_scripts_make(self):
        self.assertEqual(self.buckets("terms", script="doc['n'].value"), [("4", 2), ("7", 1)])
        self.assertEqual(self.buckets("terms", script="doc['n'].value", value_type="long"), [(4, 2), (7, 1)])
        self.assertEqual(self.buckets("terms", script="doc['tag']"), [("x", 2), ("y", 1), ("z", 1)])
        self.assertEqual(self.buckets("terms", script="doc['tag']", include="[xz]", exclude="z"), [("x", 2)])
        key = "doc['n'].value > 5 ? 'many' : 'few'"
        self.assertEqual(self.buckets("terms", script=key, order={"_key": "desc"}), [("many", 1), ("few", 2)])
        absent = "doc['n'].size() == 0 ? null : 'some'"
        everything = {"match_all": {}}
        self.assertEqual(self.buckets("terms", everything, script=absent), [("some", 3)])
        named = self.buckets("terms", everything, script=absent, missing="none")
        self.assertEqual(named, [("some", 3), ("none", 1)])
        self.assertEqual(self.aggregate(everything, x={"missing": {"script": absent}})["x"]["doc_count"], 1)
        self.assertEqual(self.buckets("histogram", script="doc['n'].value * 1.5", interval=5), [(5.0, 2), (10.0, 1)])
        ranges = [{"to": 5}, {"from": 5}]
        self.assertEqual([count for _, count in self.buckets("range", script="doc['n'].value", ranges=ranges)], [2, 1])

    def test_dates_are_what_scripts_make(self):
        month = {"calendar_interval": "month", "min_doc_count": 1, "format": "yyyy-MM"}
        for zone, expected in (
            ("UTC", [("2024-03", 2), ("2024-11", 1)]),
            ("Europe/Berlin", [("2024-03", 1), ("2024-04", 1), ("2024-11", 1)]),
        ):
            body = {**month, "script": "doc['at'].value", "time_zone": zone}
            found = self.aggregate(x={"date_histogram": body})["x"]["buckets"]
            self.assertEqual([(one["key_as_string"], one["doc_count"]) for one in found], expected)
        later = {**month, "field": "at", "script": {"source": "_value + params.day", "params": {"day": 86400000}}}
        found = self.aggregate(x={"date_histogram": later})["x"]["buckets"]
        self.assertEqual([one["key_as_string"] for one in found], ["2024-03", "2024-04", "2024-11"])

    def test_sources_of_combinations_are_scripts_too(self):
        inner = {"s": {"sum": {"field": "price"}}}
        sources = [{"k": {"terms": {"script": "doc['n'].value > 5 ? 'many' : 'few'"}}}]
        found = self.aggregate(x={"composite": {"sources": sources}, "aggs": inner})["x"]["buckets"]
        self.assertEqual([(one["key"]["k"], one["s"]["value"]) for one in found], [("few", 11), ("many", 2.5)])
        terms = [{"field": "n"}, {"script": "doc['tag'].value"}]
        found = self.aggregate(x={"multi_terms": {"terms": terms}})["x"]["buckets"]
        self.assertEqual(sorted(one["key_as_string"] for one in found), ["4|x", "4|z", "7|x"])

    def test_scripts_see_scores(self):
        graded = {"bool": {"should": [
            {"constant_score": {"filter": {"term": {"tag": "z"}}, "boost": 4}},
            {"constant_score": {"filter": {"range": {"price": {"lt": 2}}}, "boost": 1}},
            {"constant_score": {"filter": {"term": {"tag": "y"}}, "boost": 2}},
        ]}}
        total = "double sum = 0; for (a in states) { sum += a } return sum"
        self.assertEqual(self.gather("state.n += _score", "state.n", total, "state.n = 0", graded), 7)
        found = self.aggregate(
            graded,
            best={"max": {"script": "_score"}},
            sum={"sum": {"script": {"source": "_score.doubleValue() * doc['n'].value"}}},
            count={"value_count": {"script": "_score > 1 ? 1 : null"}},
            without={"missing": {"script": "_score > 1 ? 'a' : null"}},
            mean={"weighted_avg": {"value": {"field": "n"}, "weight": {"script": "_score"}}},
            middle={"percentiles": {"script": "_score", "percents": [50]}},
            ranges={"range": {"script": "_score", "ranges": [{"to": 2}, {"from": 2}]}},
            steps={"histogram": {"script": "_score", "interval": 2}},
            sample={"sampler": {"shard_size": 1}, "aggs": {"best": {"max": {"script": "_score"}}}},
        )
        self.assertEqual((found["best"]["value"], found["sum"]["value"]), (4, 4 * 4 + 4 + 2 * 7))
        self.assertEqual((found["count"]["value"], found["without"]["doc_count"]), (2, 1))
        self.assertAlmostEqual(found["mean"]["value"], (4 * 4 + 4 + 2 * 7) / 7)
        self.assertEqual(found["middle"]["values"]["50.0"], 2)
        self.assertEqual([one["doc_count"] for one in found["ranges"]["buckets"]], [1, 2])
        self.assertEqual([(one["key"], one["doc_count"]) for one in found["steps"]["buckets"]], [(0, 1), (2, 1), (4, 1)])
        self.assertEqual(found["sample"]["best"]["value"], 4)
        # The best of each bucket first, as in the example of `top_hits`.
        inner = {"best": {"max": {"script": "_score"}}}
        by_tag = {"terms": {"field": "tag", "order": {"best": "desc"}}, "aggs": inner}
        buckets = self.aggregate(graded, x=by_tag)["x"]["buckets"]
        self.assertEqual([(one["key"], one["best"]["value"]) for one in buckets], [("z", 4), ("x", 2), ("y", 2)])
        self.assertEqual(self.buckets("terms", graded, script="_score > 1 ? 'high' : 'low'"), [("high", 2), ("low", 1)])

    def gather(self, map_script, combine="return state.all", reduce="states", init="state.all = []", query=None, **more):
        scripts = {"init_script": init, "map_script": map_script, "combine_script": combine, "reduce_script": reduce}
        return self.aggregate(query, x={"scripted_metric": {**scripts, **more}})["x"]["value"]

    def test_scripts_gather_what_documents_have(self):
        profit = "double sum = 0; for (t in state.all) { sum += t } return sum"
        total = "double sum = 0; for (a in states) { sum += a } return sum"
        sale = "state.all.add(doc.tag.value == 'z' ? -1 * doc.price.value : doc.price.value * params.f)"
        self.assertEqual(self.gather(sale, profit, total, params={"f": 2}), 2 * 3.5 - 10)
        # One state for each shard, whether it has documents or none.
        self.assertEqual(self.gather("state.n += 1", "state.n", "states.size()", "state.n = 0"), 2)
        nothing = {"ids": {"values": ["nope"]}}
        self.assertEqual(self.gather("state.n += 1", "state.n", total, "state.n = 0", nothing), 0)
        seen = "def key = doc['tag'].value; state.by.put(key, state.by.getOrDefault(key, 0) + 1)"
        joined = "def all = [:]; for (s in states) { for (e in s.entrySet()) { all[e.getKey()] = all.getOrDefault(e.getKey(), 0) + e.getValue() } } return all"
        counts = self.gather(seen, "return state.by", joined, "state.by = [:]")
        self.assertEqual(counts, {"x": 2, "z": 1})
        without = {"map_script": "state.m = doc['n'].value", "combine_script": "state", "reduce_script": "states[0] != null"}
        self.assertTrue(self.aggregate(x={"scripted_metric": without})["x"]["value"])

    def test_buckets_gather_apart(self):
        scripts = {
            "init_script": "state.sum = 0", "map_script": "state.sum += doc['n'].value",
            "combine_script": "return state.sum", "reduce_script": "long sum = 0; for (s in states) { sum += s } return sum",
        }
        inner = {
            "x": {"scripted_metric": scripts},
            "twice": {"bucket_script": {"buckets_path": {"x": "x.value"}, "script": "params.x * 2"}},
        }
        found = self.aggregate(t={"terms": {"field": "tag"}, "aggs": inner})["t"]["buckets"]
        numbers = {one["key"]: (one["x"]["value"], one["twice"]["value"]) for one in found}
        self.assertEqual(numbers, {"x": (11, 22), "y": (7, 14), "z": (4, 8)})

    def test_what_scripts_must_not_gather_is_refused(self):
        for map_script, more, reason in [
            ("state.all.add(nope)", {}, "cannot resolve symbol [nope]"),
            ("state.all.add(doc['n'].value)", {"init": "state.all = doc['n'].value"}, "cannot resolve symbol [doc]"),
            ("state.all.add(1)", {"reduce": "state.all"}, "cannot resolve symbol [state]"),
            ("state.all.add(states)", {}, "cannot resolve symbol [states]"),
            ("state.nope.add(1)", {}, "null"),
            ("for (int i = 0; i >= 0; i = 0) { }", {}, "takes more than [50000] steps"),
            ({"source": "1", "params": {"a": 1}}, {"params": {"a": 2}}, "used in both aggregation and script parameters"),
        ]:
            with self.subTest(map_script), self.refused(400) as caught:
                self.gather(map_script, **more)
            self.assertIn(reason, str(caught.exception.info))

    def test_kept_scripts_are_named(self):
        self.client.put_script(id="twice", body={"script": {"lang": "painless", "source": "doc['n'].value * params.f"}})
        script = {"id": "twice", "params": {"f": 3}}
        self.assertEqual(self.aggregate(x={"max": {"script": script}})["x"]["value"], 21)

    def test_what_is_wrong_is_said(self):
        for aggs, kind, reason in [
            ({"sum": {"script": "doc['n'].value *"}}, "search_phase_execution_exception", "compile error"),
            ({"sum": {"script": "nope + 1"}}, "search_phase_execution_exception", "cannot resolve symbol [nope]"),
            ({"sum": {"script": "'a'"}}, None, "Unsupported script value [a], expected a number, date, or boolean"),
            ({"significant_terms": {"field": "tag", "script": "_value"}}, None, "[script] is not supported"),
            ({"terms": {"field": "text", "script": "_value"}}, None, "Text fields are not optimised"),
        ]:
            with self.subTest(aggs), self.refused(400, kind) as caught:
                self.aggregate(x=aggs)
            self.assertIn(reason, str(caught.exception.info))
        body = {"query": {"match_all": {}}, "aggs": {"x": {"sum": {"script": "doc['n'].value"}}}}
        failed = self.client.search(index="s", body=body)["_shards"]["failures"]
        self.assertEqual([failure["reason"]["type"] for failure in failed], ["script_exception"])
        self.assertIn("A document doesn't have a value for a field", str(failed))
