"""Derived fields: values that scripts make of documents. What is expected was read off OpenSearch 2.19."""

from .base import ClewTest

DERIVED = {
    "upper": {"type": "keyword", "script": {"source": "emit(doc['name'].value.toUpperCase())"}},
    "double_n": {"type": "long", "script": "emit(doc['n'].value * 2)"},
    "half": {"type": "double", "script": "emit(doc['n'].value / 2.0)"},
    "is_large": {"type": "boolean", "script": "emit(doc['n'].value > 2)"},
    "day": {"type": "date", "format": "yyyy-MM-dd", "script": "emit(doc['t'].value.toInstant().toEpochMilli())"},
    "moment": {"type": "date", "script": "emit(doc['t'].value.toInstant().toEpochMilli())"},
    "client": {"type": "ip", "script": "String m = params._source['msg']; emit(m.substring(0, m.indexOf(' ')))"},
    "place": {"type": "geo_point", "script": "emit(doc['n'].value * 1.0, 10.0)"},
    "words": {"type": "text", "prefilter_field": "msg", "script": "emit(params._source['msg'])"},
    "many": {"type": "keyword", "script": "for (int i = 0; i < doc['n'].value; i++) emit('v' + i)"},
    "object": {
        "type": "object", "properties": {"a": "keyword", "b": "long", "d": "date"},
        "script": "emit('{\"a\":\"' + doc['name'].value + '\",\"b\":' + doc['n'].value "
                  "+ ',\"c\":[1,2],\"e\":{\"f\":\"some words\"},\"d\":\"2020-01-0' + doc['n'].value + '\"}')",
    },
    "bad": {"type": "long", "script": "emit('x' + doc['n'].value)"},
    "passed": {"type": "long", "ignore_malformed": True, "script": "emit(doc['nope'].value)"},
}
PROPERTIES = {
    "name": {"type": "keyword"}, "n": {"type": "integer"}, "t": {"type": "date"}, "msg": {"type": "text"},
}


class DerivedFieldsTest(ClewTest):
    def setUp(self):
        super().setUp()
        mappings = {"derived": DERIVED, "properties": PROPERTIES}
        self.client.indices.create(index="d", body={"settings": {"number_of_shards": 1}, "mappings": mappings})
        self.index_all("d", {
            str(i): {"name": name, "n": i + 1, "t": f"2024-01-0{i + 1}T10:00:00Z", "msg": f"10.0.0.{i} GET /x{i}"}
            for i, name in enumerate(["ann", "bob", "cy", "dee"])
        })

    def found(self, query, **more):
        hits = self.client.search(index="d", body={"query": query, **more})["hits"]["hits"]
        return {hit["_id"]: hit["_score"] for hit in hits}

    def fields(self, names, **more):
        body = {"query": {"ids": {"values": ["0"]}}, "fields": names, **more}
        return self.client.search(index="d", body=body)["hits"]["hits"][0].get("fields", {})

    def agg(self, kind, field, **more):
        body = {"size": 0, "aggs": {"a": {kind: {"field": field, **more}}}}
        return self.client.search(index="d", body=body)["aggregations"]["a"]

    def test_texts_are_highlighted_by_their_names(self):
        def shown(query, *names, **more):
            body = {"query": query, "highlight": {"fields": {name: {} for name in names}, **more}}
            return [hit.get("highlight") for hit in self.client.search(index="d", body=body)["hits"]["hits"]]

        x2 = {"match": {"words": "x2"}}
        self.assertEqual(shown(x2, "words"), [{"words": ["10.0.0.2 GET /<em>x2</em>"]}])
        self.assertEqual(shown(x2, "wor*"), [None])
        self.assertEqual(shown({"match": {"msg": "x2"}}, "words", "msg"), [{"msg": ["10.0.0.2 GET /<em>x2</em>"]}])
        both = shown({"match": {"msg": "x2"}}, "words", require_field_match=False)
        self.assertEqual(both, [{"words": ["10.0.0.2 GET /<em>x2</em>"]}])
        self.assertEqual(shown({"term": {"upper": "ANN"}}, "upper"), [{"upper": ["<em>ANN</em>"]}])
        self.assertEqual(shown({"term": {"object.a": "bob"}}, "object.a"), [{"object.a": ["<em>bob</em>"]}])
        self.assertEqual(shown({"term": {"double_n": 4}}, "double_n"), [None])

    def test_scripts_of_a_search_may_be_kept_ones(self):
        script = {"lang": "painless", "source": "emit(doc['n'].value * params.by)"}
        self.client.put_script(id="derived-n", body={"script": script})
        self.addCleanup(self.client.delete_script, id="derived-n")
        derived = {"more": {"type": "long", "script": {"id": "derived-n", "params": {"by": 3}}}}
        self.assertEqual(set(self.found({"range": {"more": {"gte": 9}}}, derived=derived)), {"2", "3"})
        derived["more"]["script"]["id"] = "nosuch"
        with self.refused(404, "resource_not_found_exception", "unable to find script [nosuch] in cluster state"):
            self.found({"range": {"more": {"gte": 9}}}, derived=derived)

    def test_each_query_means_what_it_means_on_a_field_of_the_type(self):
        for query, expected in [
            ({"term": {"upper": "ANN"}}, "0"),
            ({"term": {"upper": {"value": "ann", "case_insensitive": True}}}, "0"),
            ({"terms": {"upper": ["ANN", "BOB"]}}, "01"),
            ({"prefix": {"upper": "A"}}, "0"),
            ({"wildcard": {"upper": "*O*"}}, "1"),
            ({"regexp": {"upper": ".*E"}}, "3"),
            ({"match": {"upper": "ANN"}}, "0"),
            ({"range": {"upper": {"gte": "C"}}}, "23"),
            ({"range": {"double_n": {"gte": 4, "lt": 8}}}, "12"),
            ({"match": {"double_n": 4}}, "1"),
            ({"range": {"half": {"gt": 0.5}}}, "123"),
            ({"term": {"is_large": True}}, "23"),
            ({"range": {"day": {"gte": "2024-01-03"}}}, "23"),
            ({"range": {"moment": {"lt": "2024-01-02T10:00:00Z"}}}, "0"),
            ({"term": {"client": "10.0.0.2"}}, "2"),
            ({"term": {"client": "10.0.0.0/31"}}, "01"),
            ({"geo_distance": {"distance": "200km", "place": {"lat": 2, "lon": 10}}}, "012"),
            ({"geo_bounding_box": {"place": {"top_left": [9, 3.5], "bottom_right": [11, 1.5]}}}, "12"),
            ({"match": {"words": "get"}}, "0123"),
            ({"match_phrase": {"words": "10.0.0.1 get"}}, "1"),
            ({"term": {"many": "v3"}}, "3"),
            ({"match": {"object.a": "bob"}}, "1"),
            ({"range": {"object.b": {"gte": 3}}}, "23"),
            ({"range": {"object.d": {"gte": "2020-01-03"}}}, "23"),
            ({"term": {"object.c": 2}}, "0123"),
            ({"match": {"object.e.f": "words"}}, "0123"),
            ({"query_string": {"query": "upper:ANN"}}, "0"),
            ({"query_string": {"query": "ANN", "fields": ["upper"]}}, "0"),
            ({"query_string": {"query": "ANN", "fields": ["upp*"]}}, "0"),
            ({"simple_query_string": {"query": "ANN", "fields": ["upper"]}}, "0"),
            ({"multi_match": {"query": "ANN", "fields": ["upper", "name"]}}, "0"),
            ({"term": {"passed": 1}}, ""),
        ]:
            with self.subTest(query=query):
                self.assertEqual("".join(sorted(self.found(query))), expected)

    def test_a_match_scores_its_boost_and_nothing_beside_a_prefilter(self):
        self.assertEqual(self.found({"term": {"upper": {"value": "ANN", "boost": 3}}}), {"0": 3.0})
        self.assertEqual(self.found({"match_phrase": {"words": "10.0.0.1 get"}}), {"1": 0.0})
        both = {"bool": {"must": [{"term": {"upper": "ANN"}}], "must_not": [{"term": {"name": "bob"}}]}}
        self.assertEqual(self.found(both), {"0": 1.0})
        self.assertEqual(set(self.found({"bool": {"must_not": {"term": {"upper": "ANN"}}}})), {"1", "2", "3"})
        either = {"bool": {"should": [{"term": {"upper": "ANN"}}, {"term": {"name": "bob"}}]}}
        self.assertEqual(set(self.found(either)), {"0", "1"})

    def test_scripts_look_only_at_what_else_must_match(self):
        # The script fails on every other document.
        beside = {"bool": {"must": [{"term": {"only_ann": "x"}}], "filter": [{"term": {"name": "ann"}}]}}
        script = "if (doc['name'].value != 'ann') { throw new IllegalArgumentException('no') } emit('x')"
        derived = {"only_ann": {"type": "keyword", "script": script}}
        self.assertEqual(set(self.found(beside, derived=derived)), {"0"})
        with self.refused(400):
            self.found({"term": {"only_ann": "x"}}, derived=derived)

    def test_what_an_index_cannot_say_of_them_is_refused(self):
        for query, reason in [
            ({"exists": {"field": "upper"}}, "Field [upper] of type [derived] does not support exist queries"),
            ({"term": {"double_n": "x"}}, 'For input string: "x"'),
            ({"prefix": {"double_n": "4"}}, "Can only use prefix queries on keyword"),
            ({"term": {"bad": 1}}, 'For input string: "x1"'),
            ({"term": {"object": "x"}}, "Cannot create IndexableField to execute queries on object derived field"),
            ({"intervals": {"words": {"match": {"query": "get"}}}}, "not on [words] which is of type [derived]"),
        ]:
            with self.subTest(query=query), self.refused(400) as caught:
                self.found(query)
            self.assertIn(reason, str(caught.exception.info))

    def test_fields_show_what_was_emitted(self):
        names = ["upper", "double_n", "half", "is_large", "day", "moment", "client", "place", "many", "bad"]
        self.assertEqual(self.fields(names), {
            "upper": ["ANN"], "double_n": [2], "half": [0.5], "is_large": [False], "day": ["2024-01-01"],
            "moment": ["2024-01-01T10:00:00.000Z"], "client": ["10.0.0.0"], "place": [{"lat": 1.0, "lon": 10.0}],
            "many": ["v0"], "bad": ["x1"],
        })
        self.assertEqual(self.fields(["object.a", "object.b", "object.c", "object.d", "object.e.f"]), {
            "object.a": ["ann"], "object.b": [1], "object.c": [1, 2], "object.d": ["2020-01-01T00:00:00.000Z"],
            "object.e.f": ["some words"],
        })
        self.assertEqual(list(self.fields(["upp*"])), ["upper"])
        with self.refused(400) as caught:
            self.fields([{"field": "moment", "format": "yyyy"}])
        self.assertIn("Field [moment] of type [derived] doesn't support formats.", str(caught.exception.info))
        with self.refused(400) as caught:
            self.fields(["passed"])
        self.assertIn("No field found for [nope] in mapping", str(caught.exception.info))

    def test_a_search_brings_its_own_which_go_before_those_of_the_mapping_but_not_before_fields(self):
        own = {"type": "keyword", "script": {"source": "emit(params.p + params._source.name)", "params": {"p": "q"}}}
        self.assertEqual(set(self.found({"term": {"z": "qann"}}, derived={"z": own})), {"0"})
        self.assertEqual(self.fields(["z"], derived={"z": own}), {"z": ["qann"]})
        derived = {name: {"type": "keyword", "script": "emit('over')"} for name in ("upper", "name")}
        self.assertEqual(len(self.found({"term": {"upper": "over"}}, derived=derived)), 4)
        self.assertEqual(self.found({"term": {"name": "over"}}, derived=derived), {})
        filtered = {"function_score": {"query": {"term": {"z": "qann"}}, "weight": 4}}
        self.assertEqual(self.found(filtered, derived={"z": own}), {"0": 4.0})
        post = self.client.search(index="d", body={"derived": {"z": own}, "post_filter": {"term": {"z": "qbob"}}})
        self.assertEqual([hit["_id"] for hit in post["hits"]["hits"]], ["1"])

    def test_the_same_filter_means_each_search_s_own_field(self):
        filtered = {"bool": {"must": [{"match": {"msg": "get"}}], "filter": [{"term": {"z": "x"}}]}}
        for _ in range(5):
            for name, expected in (("ann", {"0"}), ("bob", {"1"})):
                script = f"if (doc['name'].value == '{name}') emit('x')"
                derived = {"z": {"type": "keyword", "script": script}}
                self.assertEqual(set(self.found(filtered, derived=derived)), expected)

    def test_aggregations_count_what_was_emitted(self):
        def keys(result):
            return {bucket["key"]: bucket["doc_count"] for bucket in result["buckets"]}

        self.assertEqual(keys(self.agg("terms", "upper")), {"ANN": 1, "BOB": 1, "CY": 1, "DEE": 1})
        self.assertEqual(keys(self.agg("terms", "many")), {"v0": 4, "v1": 3, "v2": 2, "v3": 1})
        self.assertEqual(keys(self.agg("terms", "client")), {f"10.0.0.{i}": 1 for i in range(4)})
        self.assertEqual(keys(self.agg("histogram", "double_n", interval=4)), {0.0: 1, 4.0: 2, 8.0: 1})
        self.assertEqual(self.agg("avg", "double_n")["value"], 5.0)
        self.assertEqual(self.agg("sum", "object.b")["value"], 10.0)
        self.assertEqual(self.agg("cardinality", "upper")["value"], 4)
        self.assertEqual(self.agg("value_count", "many")["value"], 10)
        self.assertEqual(self.agg("min", "moment")["value_as_string"], "2024-01-01T10:00:00.000Z")
        days = self.agg("date_histogram", "moment", calendar_interval="day")
        self.assertEqual([bucket["doc_count"] for bucket in days["buckets"]], [1, 1, 1, 1])
        derived = {"z": {"type": "long", "script": "emit(doc['n'].value)"}}
        aggs = {"a": {"max": {"field": "z"}}, "f": {"filter": {"range": {"z": {"gt": 2}}}}}
        found = self.client.search(index="d", body={"size": 0, "derived": derived, "aggs": aggs})["aggregations"]
        self.assertEqual((found["a"]["value"], found["f"]["doc_count"]), (4.0, 2))
        for kind, field in (("significant_terms", "upper"), ("terms", "words"), ("geo_bounds", "place")):
            with self.subTest(kind=kind), self.refused(400):
                self.agg(kind, field)

    def test_mappings_take_in_show_and_change_them_at_once(self):
        shown = self.client.indices.get_mapping(index="d")["d"]["mappings"]["derived"]
        self.assertEqual(shown["double_n"], {
            "type": "long", "script": {"source": "emit(doc['n'].value * 2)", "lang": "painless"},
        })
        field = self.client.indices.get_field_mapping(fields="double_n", index="d")["d"]["mappings"]["double_n"]
        self.assertEqual(field, {"full_name": "double_n", "mapping": {"double_n": shown["double_n"]}})
        caps = self.client.field_caps(index="d", fields="double_n")["fields"]["double_n"]
        self.assertEqual(caps, {"derived": {"type": "derived", "searchable": False, "aggregatable": True}})
        more = {"double_n": {"type": "keyword", "script": "emit('a')"}, "new": {"type": "long", "script": "emit(7)"}}
        self.client.indices.put_mapping(index="d", body={"derived": more})
        self.assertEqual(len(self.found({"term": {"new": 7}})), 4)
        self.assertEqual(len(self.found({"term": {"double_n": "a"}})), 4)
        self.assertEqual(len(self.client.indices.get_mapping(index="d")["d"]["mappings"]["derived"]), len(DERIVED) + 1)
        self.restart()
        self.assertEqual(len(self.found({"term": {"new": 7}})), 4)
        with self.refused(400, "illegal_argument_exception") as caught:
            self.client.indices.put_mapping(index="d", body={"properties": {"new": {"type": "keyword"}}})
        self.assertIn("mapper [new] cannot be changed from type [derived] to [keyword]", str(caught.exception.info))
        with self.refused(400):
            self.client.index(index="d", id="9", body={"new": "given"})

    def test_what_is_no_derived_field_is_refused(self):
        for field, reason in [
            (1, "Expected map for property [derived_fields] on field [a] but got a class java.lang.String"),
            ({"script": "emit(1)"}, "Type [] isn't supported in Derived field context."),
            ({"type": "integer", "script": "emit(1)"}, "Type [integer] isn't supported in Derived field context."),
            ({"type": "long", "foo": 1}, "unknown parameter [foo] on mapper [a] of type [long]"),
        ]:
            with self.subTest(field=field):
                with self.refused(400, "mapper_parsing_exception") as caught:
                    self.client.indices.create(index="e", body={"mappings": {"derived": {"a": field}}})
                self.assertIn(reason, str(caught.exception.info))
                with self.refused(400) as caught:
                    self.found({"match_all": {}}, derived={"a": field})
                self.assertIn(reason, str(caught.exception.info))
        # A script is read when it is needed.
        wrong = {"z": {"type": "long", "script": "emit("}}
        self.assertEqual(len(self.found({"match_all": {}}, derived=wrong)), 4)
        with self.refused(400) as caught:
            self.found({"term": {"z": 1}}, derived=wrong)
        self.assertIn("compile error", str(caught.exception.info))

    def test_values_that_are_none_of_their_type_fail_the_search(self):
        for kind, script, value, reason in [
            ("long", "emit(1.7)", 1, 'For input string: "1.7"'),
            ("boolean", "emit(1)", True, "Failed to parse value [1] as only [true] or [false] are allowed."),
            ("ip", "emit('nope')", "1.1.1.1", "'nope' is not an IP string literal."),
            ("keyword", "emit(12)", "12", "class java.lang.Integer cannot be cast to class java.lang.String"),
            ("date", "emit('2024-01-01')", "2024-01-01", "cannot be cast to class java.lang.Long"),
            ("keyword", "emit([1])", "1", "Unsupported object type passed in emit()"),
        ]:
            with self.subTest(script=script), self.refused(400) as caught:
                self.found({"term": {"z": value}}, derived={"z": {"type": kind, "script": script}})
            self.assertIn(reason, str(caught.exception.info))
        text = ("String s = ''; for (int i = 0; i < 100; i++) { s += '0123456789' } "
                "for (int i = 0; i < 2000; i++) { emit(s) }")
        with self.refused(400) as caught:
            self.found({"term": {"z": "x"}}, derived={"z": {"type": "keyword", "script": text}})
        self.assertIn("Exceeded maximum allowed byte size for emitted values", str(caught.exception.info))

    def test_a_prefilter_is_a_field_of_words(self):
        for path, reason in [
            ("zz", "prefilter_field[zz] is not defined in the index mappings"),
            ("name", "prefilter_field[name] should be of type text. Type found [keyword]."),
        ]:
            field = {"type": "keyword", "prefilter_field": path, "script": "emit('x')"}
            with self.refused(400) as caught:
                self.found({"term": {"z": "x"}}, derived={"z": field})
            self.assertIn(reason, str(caught.exception.info))

    def test_they_can_be_switched_off(self):
        derived = {"z": {"type": "keyword", "script": "emit('x')"}}
        off = "'index.query.derived_field.enabled' or 'search.derived_field.enabled' is set to false."
        self.client.indices.put_settings(index="d", body={"index.query.derived_field.enabled": False})
        for body in ({"derived": derived}, {"query": {"term": {"upper": "ANN"}}}):
            with self.subTest(body=body), self.refused(500) as caught:
                self.client.search(index="d", body=body)
            self.assertIn(off, str(caught.exception.info))
        self.client.indices.put_settings(index="d", body={"index.query.derived_field.enabled": True})
        self.assertEqual(set(self.found({"term": {"upper": "ANN"}})), {"0"})
        setting = "search.allow_expensive_queries"
        self.addCleanup(self.client.cluster.put_settings, body={"transient": {setting: None}})
        self.client.cluster.put_settings(body={"transient": {setting: False}})
        self.assertEqual(set(self.found({"term": {"upper": "ANN"}})), {"0"})
        with self.refused(500) as caught:
            self.client.search(index="d", body={"derived": derived})
        self.assertIn("'search.allow_expensive_queries' is set to false.", str(caught.exception.info))
