"""What a wrong request is told. No request may take the server down."""

import json
import urllib.error
import urllib.request

from opensearchpy.exceptions import TransportError

from .base import ClewTest

VECTOR = {
    "mappings": {
        "properties": {
            "v": {
                "type": "knn_vector",
                "dimension": 3,
                "method": {"name": "hnsw", "engine": "faiss", "space_type": "l2"},
            },
            "n": {"type": "long"},
        }
    }
}


class Errors(ClewTest):
    env = {"CLEW_HTTP__BODY_BYTES_MAX": "1000000"}

    def setUp(self):
        super().setUp()
        self.client.indices.create(index="i", body=VECTOR)

    def tearDown(self):
        self.assertTrue(self.client.ping())

    def test_malformed_json(self):
        with self.refused(400, "mapper_parsing_exception"):
            self.raw("PUT", "/i/_doc/1", body='{"n": 1')
        with self.refused(400):
            self.raw("POST", "/i/_search", body='{"query": {"match_all": }}')
        with self.refused(400):
            self.raw("POST", "/i/_search", body="[" * 100_000)

    def test_a_vector_of_the_wrong_dimension(self):
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="i", id="1", body={"v": [1, 2]})
        with self.refused(400, "search_phase_execution_exception"):
            query = {"knn": {"v": {"vector": [1, 2], "k": 1}}}
            self.client.search(index="i", body={"query": query})

    def test_a_vector_that_is_not_finite(self):
        for bad in ["NaN", "Infinity", "-Infinity", "1e999", "1e39"]:
            with self.refused(400, "mapper_parsing_exception"):
                self.raw("PUT", "/i/_doc/1", body=f'{{"v": [1, {bad}, 2]}}')
        self.client.indices.refresh(index="i")
        self.assertEqual(self.client.count(index="i")["count"], 0)

    def test_a_document_that_breaks_the_mapping_inside_a_bulk(self):
        lines = ['{"index":{"_id":"1"}}', '{"n":1}', '{"index":{"_id":"2"}}', '{"n":{"x":1}}']
        lines += ['{"index":{"_id":"3"}}', '{"n":', '{"index":{"_id":"4"}}', '{"n":4}']
        reply = self.raw("POST", "/i/_bulk", body="\n".join(lines) + "\n")
        self.assertEqual([item["index"]["status"] for item in reply["items"]], [201, 400, 400, 201])
        self.client.indices.refresh(index="i")
        self.assertEqual(self.client.count(index="i")["count"], 2)

    def test_an_index_that_does_not_exist(self):
        with self.refused(404, "index_not_found_exception", "no such index [none]") as caught:
            self.client.search(index="none")
        error = caught.exception.info["error"]
        self.assertEqual((error["index"], error["resource.id"]), ("none", "none"))
        with self.refused(404, "index_not_found_exception"):
            self.client.get(index="none", id="1")
        found = self.client.search(index="none,i", ignore_unavailable=True)
        self.assertEqual(found["hits"]["total"]["value"], 0)

    def test_a_body_over_the_limit(self):
        document = json.dumps({"text": "x" * 1_000_000})
        with self.refused(413, "content_too_long_exception"):
            self.raw("PUT", "/i/_doc/1", body=document)

    def test_a_negative_size(self):
        with self.refused(
            400, "illegal_argument_exception", "[size] parameter cannot be negative, found [-1]"
        ):
            self.client.search(index="i", body={"size": -1})

    def test_a_page_beyond_the_window(self):
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.client.search(index="i", body={"from": 9_999, "size": 2})
        cause = caught.exception.info["error"]["root_cause"][0]
        self.assertEqual(cause["type"], "illegal_argument_exception")
        self.assertIn("Result window is too large", cause["reason"])
        self.assertIn("[10000] but was [10001]", cause["reason"])

    def test_documents_tell_what_is_wrong_with_their_numbers(self):
        types = {"long": "illegal", "unsigned_long": "illegal", "integer": None, "short": None, "byte": None, "double": None, "float": None}
        properties = {name: {"type": name} for name in types}
        self.client.indices.create(index="numbers", body={"mappings": {"properties": properties}})
        for name, kind in types.items():
            with self.subTest(name), self.refused(400, "mapper_parsing_exception") as caught:
                self.client.index(index="numbers", body={name: "x"})
            told = caught.exception.info["error"]["caused_by"]
            kind = "illegal_argument_exception" if kind else "number_format_exception"
            self.assertEqual(told, {"type": kind, "reason": 'For input string: "x"'})

    def test_shards_tell_what_is_wrong_with_values_and_sorts(self):
        self.index_all("typed", {"1": {"n": 1}})

        def told(**body):
            with self.refused(400, "search_phase_execution_exception") as caught:
                self.client.search(index="typed", body=body)
            return caught.exception.info["error"]["failed_shards"][0]["reason"]

        value = told(query={"term": {"n": "x"}})
        self.assertEqual(value["type"], "query_shard_exception")
        self.assertEqual(value["caused_by"], {"type": "number_format_exception", "reason": 'For input string: "x"'})
        for query, cause, reason in [
            ({"prefix": {"n": "1"}}, None, "Can only use prefix queries on keyword and text fields - not on [n] which is of type [long]"),
            ({"wildcard": {"n": "1*"}}, None, "Can only use wildcard queries on keyword and text fields - not on [n] which is of type [long]"),
            ({"nested": {"path": "n", "query": {"match_all": {}}}}, "illegal_state_exception", "[nested] failed to find nested object under path [n]"),
            ({"intervals": {"n": {"match": {"query": "x"}}}}, "illegal_argument_exception",
             "Can only use interval queries on text fields - not on [n] which is of type [long]"),
            ({"distance_feature": {"field": "n", "origin": "1", "pivot": "1d"}}, "illegal_argument_exception",
             "Illegal data type of [long]![distance_feature] query can only be run on a date, date_nanos or geo_point field type!"),
            ({"rank_feature": {"field": "n"}}, "illegal_argument_exception",
             "[rank_feature] query only works on [rank_feature] fields and features of [rank_features] fields, not [long]"),
        ]:
            with self.subTest(query):
                value = told(query=query)
                self.assertEqual(value["type"], "query_shard_exception")
                self.assertEqual(value["reason"], f"failed to create query: {reason}" if cause else reason)
                self.assertEqual(value.get("caused_by"), cause and {"type": cause, "reason": reason})
        sort = told(sort=[{"nope": "asc"}])
        self.assertEqual((sort["type"], sort["index"]), ("query_shard_exception", "typed"))
        self.assertEqual(sort["reason"], "No mapping found for [nope] in order to sort on")
        self.assertEqual(told(aggs={"first": {"top_hits": {"sort": [{"nope": "asc"}]}}}), sort)
        self.index_all("typed", {"2": {"k": "a"}})
        sort = told(sort=[{"k.keyword": {"order": "asc", "mode": "avg"}}])
        self.assertEqual(sort["type"], "query_shard_exception")
        self.assertEqual(sort["reason"], "we only support AVG, MEDIAN and SUM on number based fields")

    def test_what_is_wrong_with_a_search_is_told_with_its_place(self):
        unknown = ("named_object_not_found_exception", "unknown field [nope]")
        number = ("number_format_exception", 'For input string: "x"')
        parser, content = "parsing_exception", "x_content_parse_exception"
        for text, column, *chain in (
            ('{"query": {"nope": {}}}', 20, (parser, "unknown query [nope]"), unknown),
            ('{"query": {"nope": 1}}', 20, (parser, "[nope] query malformed, no start_object after query name")),
            ('{"query": {"match": {"t": {"query": "a", "nope": 1}}}}', 50, (parser, "[match] query does not support [nope]")),
            ('{"query": {"match": {"t": {}}}}', 29, (parser, "No text specified for text query")),
            ('{"query": {"match": {"t": {"query": "a"}, "n": {"query": "a"}}}}', 48,
             (parser, "[match] query doesn't support multiple fields, found [t] and [n]")),
            ('{"query": {"terms": {"k": [null]}}}', 28, (parser, "No value specified for terms query")),
            ('{"query": {"match_all": {"boost": "x"}}}', 35, (parser, "[1:35] [match_all] failed to parse field [boost]"),
             (content, "[match_all] failed to parse field [boost]"), number),
            ('{"query": {"exists": {}}}', 23, (parser, "[exists] must be provided with a [field]")),
            ('{"query": {"match_all": {}, "term": {"k": "a"}}}', 29,
             (parser, "[match_all] malformed query, expected [END_OBJECT] but found [FIELD_NAME]")),
            ('{"query": {"bool": {"nope": 1}}}', 21, (content, "[bool] unknown field [nope]")),
            ('{"query": {"bool": {"must": [{"nope": {}}]}}}', 39,
             (content, "[bool] failed to parse field [must]"), (parser, "unknown query [nope]"), unknown),
            ('{"query": {"bool": {"must": [{"term": {"k": {"nope": 1}}}]}}}', 54,
             (content, "[bool] failed to parse field [must]"), (parser, "[term] query does not support [nope]")),
            ('{"query": {"bool": {"must": [{}]}}}', 31, (content, "[bool] failed to parse field [must]"),
             ("illegal_argument_exception", "query malformed, empty clause found at")),
            ('{"sort": {"n": {"order": "x"}}}', 26, (content, "[field_sort] failed to parse field [order]"),
             ("illegal_argument_exception", "No enum constant org.opensearch.search.sort.SortOrder.X")),
            ('{"sort": {"n": {"nope": 1}}}', 17, (content, "[field_sort] unknown field [nope]")),
            ('{"size": 0, "aggs": {"x": {"nope": {}}}}', 36, (parser, "Unknown aggregation type [nope]"), unknown),
            ('{"size": 0, "aggs": {"x": {}}}', 28, (parser, "Missing definition for aggregation [x]")),
            ('{"size": 0, "aggs": {"x": {"terms": {"field": "k", "nope": 1}}}}', 52, (content, "[terms] unknown field [nope]")),
            ('{"size": 0, "aggs": {"x": {"terms": {"field": "k", "size": "x"}}}}', 60,
             (content, "[terms] failed to parse field [size]"), number),
            ('{"size": 0, "aggs": {"x": {"terms": {"field": "k"}, "meta": 1}}}', 61,
             (parser, "Expected [START_OBJECT] under [meta], but got a [VALUE_NUMBER] in [x]")),
        ):
            with self.subTest(text), self.assertRaises(TransportError) as caught:
                self.raw("POST", "/i/_search", body=text, headers={"content-type": "application/json"})
            self.assertEqual(caught.exception.status_code, 400)
            error, root = caught.exception.info["error"], None
            while chain:
                kind, reason = chain.pop(0)
                if kind in (content, unknown[0]):
                    reason = f"[1:{column}] {reason}"
                if reason.endswith(" found at"):
                    reason += f" [1:{column}]"
                place = (1, column) if kind == parser else (None, None)
                self.assertEqual((error["type"], error["reason"]), (kind, reason), text)
                self.assertEqual((error.get("line"), error.get("col")), place, text)
                if kind == parser or (kind == content and (root is None or root[0] == content)):
                    root = (kind, reason)
                error = error.get("caused_by")
            self.assertIsNone(error)
            (told,) = caught.exception.info["error"]["root_cause"]
            self.assertEqual((told["type"], told["reason"]), root, text)

    def test_places_are_those_of_the_body_of_each_endpoint(self):
        # Jobs on what a query finds read a search that is written anew: without blanks, and without what is no search.
        body = '{"script": "ctx._source.a = 1",\n "query": {"nope": {}}}'
        for path, text, place in (
            ("_count", '{"query":\n {"nope": {}}}', (2, 11)),
            ("_count", '{\n "size": 1}', (2, 2)),
            ("_update_by_query", body, (1, 18)),
        ):
            with self.subTest(path), self.refused(400, "parsing_exception") as caught:
                self.raw("POST", f"/i/{path}", body=text, headers={"content-type": "application/json"})
            error = caught.exception.info["error"]
            self.assertEqual((error["line"], error["col"]), place)

    def test_a_name_that_nobody_knows_is_told_at_itself_and_what_it_is_in_at_its_value(self):
        text = '{"highlight": {"fields": {"t": {"nope": 1}}}}'
        with self.refused(400, "x_content_parse_exception") as caught:
            self.raw("POST", "/i/_search", body=text, headers={"content-type": "application/json"})
        error, told = caught.exception.info["error"], []
        while error:
            told.append(error["reason"])
            error = error.get("caused_by")
        self.assertEqual(told, [
            "[1:41] [highlight] failed to parse field [fields]", "[1:41] [fields] failed to parse field [t]",
            "[1:33] [highlight_field] unknown field [nope]",
        ])

    def test_a_name_that_stands_twice(self):
        for path, text, name in (
            ("/i/_search", '{"size":1,"size":2}', "size"),
            ("/i/_search", '{"query":{"bool":{"must":[],"must":[]}}}', "must"),
            ("/i/_search", '{"aggs":{"a":{"avg":{"field":"n"}},"a":{"avg":{"field":"n"}}}}', "a"),
            ("/_msearch", '{"index":"i"}\n{"size":1,"size":2}\n', "size"),
        ):
            kind = "application/x-ndjson" if path == "/_msearch" else "application/json"
            with self.subTest(text), self.refused(400, "json_parse_exception", f"Duplicate field '{name}'"):
                self.raw("POST", path, body=text, headers={"content-type": kind})

    def test_values_of_another_sort_than_a_member_takes(self):
        for body in ({"explain": 1}, {"size": True}):
            with self.subTest(body), self.refused(400, "json_parse_exception", "Current token (VALUE_"):
                self.client.search(index="i", body=body)
        for size in (1.5, "1.5", "1"):
            self.assertEqual(self.client.search(index="i", body={"size": size})["timed_out"], False)

    def test_bodies_that_are_no_json(self):
        valid = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
        place = "[Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: %d]"
        unclosed = f"Unexpected end-of-input: expected close marker for Object (start marker at {place % 1})"
        for path, text, kind, reason, column in (
            ("/i/_search", "x", "json_parse_exception", f"Unrecognized token 'x': was expecting {valid}", 2),
            ("/i/_search", '{"query":{"match_all":{}}', "json_e_o_f_exception", unclosed, 26),
            ("/i/_search", '{"size":1,"size":2}', "json_parse_exception", "Duplicate field 'size'", 17),
            ("/_msearch", "x\n{}\n", "json_parse_exception", f"Unrecognized token 'x': was expecting {valid}", 2),
            ("/i/_bulk", '{"index":\n', "json_e_o_f_exception", "Unexpected end-of-input within/between Object entries", 10),
        ):
            media = "application/json" if path.endswith("_search") else "application/x-ndjson"
            with self.subTest(text), self.refused(400, kind) as caught:
                self.raw("POST", path, body=text, headers={"content-type": media})
            self.assertEqual(caught.exception.info["error"]["reason"], f"{reason}\n at {place % column}")

    def test_what_the_reader_of_json_says_is_told_with_the_place_behind_it(self):
        for text, column in (('{"size": true}', 14), ('{"query": {"term": {"k": {"value": "a", "boost": [1]}}}}', 51)):
            with self.subTest(text), self.refused(400, "json_parse_exception") as caught:
                self.raw("POST", "/i/_search", body=text, headers={"content-type": "application/json"})
            place = f"(`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: {column}]"
            self.assertTrue(caught.exception.info["error"]["reason"].endswith(place), caught.exception.info)

    def test_names_that_nobody_knows(self):
        with self.refused(400, "parsing_exception", "Unknown key for a START_OBJECT in [qery]."):
            self.client.search(index="i", body={"qery": {}})
        # The place is that of the value, wherever else the name stands.
        body = '{"query": {"term": {"aggs": "a"}},\n "aggs": []}'
        reason = "Unknown key for a START_ARRAY in [aggs]."
        with self.refused(400, "parsing_exception", reason) as caught:
            self.raw("POST", "/i/_search", body=body, headers={"content-type": "application/json"})
        error = caught.exception.info["error"]
        self.assertEqual((error["line"], error["col"]), (2, 10))
        with self.refused(400, "parsing_exception", "unknown query [mtch]"):
            self.client.search(index="i", body={"query": {"mtch": {"a": "b"}}})
        with self.refused(400, reason="contains unrecognized parameter: [sise]"):
            self.raw("GET", "/i/_search", params={"sise": 1})
        with self.refused(400, reason="parameters: [nope], [refrsh] -> did you mean [refresh]?"):
            self.raw("PUT", "/i/_doc/1", body={}, params={"refrsh": "true", "nope": 1})
        with self.refused(400, reason="no handler found for uri [/i/a/b/c] and method [GET]"):
            self.raw("GET", "/i/a/b/c")
        with self.refused(400, reason="no handler found for uri [/i/a b/c] and method [GET]"):
            self.raw("GET", "/i/a%20b/c", params={"q": 1})
        with self.refused(405, reason="Incorrect HTTP method for uri [/i/_search] and method [PUT]"):
            self.raw("PUT", "/i/_search", body="{}")

    def test_what_is_wrong_is_told_whole_whatever_is_asked_for(self):
        with self.refused(400, "parsing_exception", "unknown query [mtch]"):
            self.raw("POST", "/i/_search", body={"query": {"mtch": {}}}, params={"filter_path": "error.type"})
        found = self.raw("GET", "/i/_doc/none", params={"filter_path": "found", "ignore": 404})
        self.assertEqual(found, {"found": False})

    def test_requests_for_one_index_tell_so(self):
        with self.refused(404, "index_not_found_exception") as caught:
            self.client.get(index="none", id="1")
        self.assertEqual(caught.exception.info["error"]["resource.type"], "index_expression")
        items = self.client.mget(body={"docs": [{"_index": "none", "_id": "1"}]})["docs"]
        self.assertEqual(items[0]["error"]["resource.type"], "index_expression")
        with self.refused(404, "index_not_found_exception") as caught:
            self.client.search(index="none")
        self.assertEqual(caught.exception.info["error"]["resource.type"], "index_or_alias")

    def test_texts_that_are_no_dates(self):
        self.client.indices.create(index="dates", body={"mappings": {"properties": {"at": {"type": "date"}}}})
        self.client.index(index="dates", id="1", body={"at": "2024-01-01"}, refresh=True)
        text = "failed to parse date field [x] with format [strict_date_optional_time||epoch_millis]"
        parsers = {"type": "date_time_parse_exception", "reason": "Failed to parse with all enclosed parsers"}
        cause = {"type": "illegal_argument_exception", "reason": text, "caused_by": parsers}
        with self.refused(400, "mapper_parsing_exception") as caught:
            self.client.index(index="dates", body={"at": "x"})
        self.assertEqual(caught.exception.info["error"]["caused_by"], cause)
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.client.search(index="dates", body={"query": {"range": {"at": {"gte": "x"}}}})
        shard = caught.exception.info["error"]["failed_shards"][0]["reason"]
        self.assertEqual(shard, {"type": "parse_exception", "reason": f"{text}: [{text}]", "caused_by": cause})

    def test_a_body_that_is_not_called_json(self):
        # What a web page of another origin may send without asking first.
        request = urllib.request.Request(
            self.server.url + "/i/_doc/1",
            data=b'{"n": 1}',
            method="POST",
            headers={"Content-Type": "text/plain"},
        )
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request)
        with caught.exception as error:
            self.assertEqual(error.code, 406)
            self.assertIn(b"Content-Type header [text/plain] is not supported", error.read())
        with self.refused(400, "content_type_header_exception", "invalid Content-Type header [nope]"):
            self.raw("POST", "/i/_search", body="{}", headers={"content-type": "nope"})

    def test_what_is_not_supported_says_so(self):
        aggs = {"a": {"significant_terms": {"script": {"source": "doc['n'].value"}}}}
        with self.refused(400) as caught:
            self.client.search(index="i", body={"aggs": aggs})
        self.assertIn("[script] is not supported", str(caught.exception.info))

    def test_a_query_nested_too_deeply(self):
        query = {"match_all": {}}
        for _ in range(60):
            query = {"bool": {"must": [query]}}
        with self.refused(400):
            self.client.search(index="i", body={"query": query})

    def test_a_strict_mapping_refuses_new_fields(self):
        body = {"mappings": {"dynamic": "strict", "properties": {"a": {"type": "long"}}}}
        self.client.indices.create(index="s", body=body)
        with self.refused(400, "strict_dynamic_mapping_exception"):
            self.client.index(index="s", body={"b": 1})

    def test_an_index_that_wants_routing(self):
        self.client.indices.create(index="r", body={"mappings": {"_routing": {"required": True}}})
        missing = (400, "routing_missing_exception", "routing is required for [r]/[1]")
        with self.refused(*missing):
            self.client.index(index="r", id="1", body={})
        self.client.index(index="r", id="1", body={}, routing="a")
        with self.refused(*missing):
            self.client.get(index="r", id="1")
        with self.refused(*missing):
            self.client.delete(index="r", id="1")
        self.assertTrue(self.client.get(index="r", id="1", routing="a")["found"])
        reply = self.client.bulk(body=[{"index": {"_index": "r", "_id": "1"}}, {}])
        [item] = reply["items"]
        self.assertEqual(item["index"]["error"]["type"], "routing_missing_exception")

    def test_an_error_inside_a_bool_names_its_place_and_its_cause(self):
        query = {"bool": {"must": [{"bool": {"filter": {"nope": {}}}}]}}
        reason = "[bool] failed to parse field [must]"
        with self.refused(400, "x_content_parse_exception", reason) as caught:
            self.client.search(index="i", body={"query": query})
        error = caught.exception.info["error"]
        inner = error["caused_by"]
        self.assertEqual(inner["reason"], "[1:53] [bool] failed to parse field [filter]")
        cause = {"type": "parsing_exception", "reason": "unknown query [nope]", "line": 1, "col": 53}
        self.assertEqual(error["root_cause"], [cause])
        unknown = {"type": "named_object_not_found_exception", "reason": "[1:53] unknown field [nope]"}
        self.assertEqual(inner["caused_by"], {**cause, "caused_by": unknown})

    def test_documents_that_do_not_fit_are_told_with_what_caused_it(self):
        fields = {"n": {"type": "long"}, "k": {"type": "keyword"}, "g": {"type": "geo_point"}, "b": {"type": "boolean"},
                  "day": {"type": "date", "format": "dd.MM.yyyy"}}
        self.client.indices.create(index="d", body={"mappings": {"properties": fields}})
        for document, reason, kind, cause in (
            ({"n": {"a": 1}}, "Preview of field's value: '{a=1}'", "json_parse_exception", "Current token (START_OBJECT) not numeric"),
            ({"k": {"a": {"b": [1, "x"]}}}, "'{a={b=[1, x]}}'", "illegal_state_exception", "Can't get text on a START_OBJECT"),
            ({"n": 9223372036854775808}, "value: '9223372036854775808'", "input_coercion_exception",
             "Numeric value (9223372036854775808) out of range of long (-9223372036854775808 - 9223372036854775807)\n at [Source"),
            ({"b": 1}, "value: '1'", "json_parse_exception", "Current token (VALUE_NUMBER_INT) not of boolean type\n at [Source"),
            ({"day": "1.1.2024"}, "value: '1.1.2024'", "illegal_argument_exception", "with format [dd.MM.yyyy]"),
            ('{"n": 1,}', "failed to parse", "json_parse_exception", "Unexpected character ('}' (code 125)): was expecting double-quote"),
            ('{"n": 1', "failed to parse", "json_e_o_f_exception", "Unexpected end-of-input: expected close marker for Object"),
            ('{"k": "a\\x"}', "Preview of field's value: ''", "json_parse_exception", "Unrecognized character escape 'x' (code 120)"),
            ('{"n": 1} []', "failed to parse", "illegal_argument_exception", "found extra data after parsing: START_ARRAY"),
            ({"g": {"lat": 91, "lon": 0}}, "failed to parse field [g] of type [geo_point]", "illegal_argument_exception", "illegal latitude value [91.0] for g"),
            ({"g": {"lat": 1}}, "failed to parse field [g] of type [geo_point]", "parse_exception", "field [lon] missing"),
            ({"": 1}, "failed to parse", "illegal_argument_exception", "field name cannot be an empty string"),
            ({"a..b": 1}, "failed to parse", "illegal_argument_exception", "object field starting or ending with a [.]"),
        ):
            with self.subTest(document), self.refused(400, "mapper_parsing_exception", reason) as caught:
                self.client.index(index="d", body=document)
            error = caught.exception.info["error"]
            self.assertEqual(error["caused_by"]["type"], kind)
            self.assertIn(cause, error["caused_by"]["reason"])
            # Errors of OpenSearch's own are the root, Java's are not.
            root = kind if kind == "parse_exception" else "mapper_parsing_exception"
            self.assertEqual(error["root_cause"][0]["type"], root)

    def test_what_only_the_server_sets_is_told_with_the_field_as_its_root(self):
        with self.refused(400, "mapper_parsing_exception", "of type [_id] in document with id '1'. Preview of field's value: '5'") as caught:
            self.client.index(index="d", id="1", body={"_id": "5"})
        error = caught.exception.info["error"]
        told = "Field [_id] is a metadata field and cannot be added inside a document. Use the index API request parameters."
        self.assertEqual(error["caused_by"], {"type": "mapper_parsing_exception", "reason": told})
        self.assertEqual(error["root_cause"], [error["caused_by"]])

    def test_why_a_text_is_no_date_is_told_within(self):
        fields = {"day": {"type": "date", "format": "dd.MM.yyyy"}}
        self.client.indices.create(index="d", body={"mappings": {"properties": fields}})
        for text, why in (
            ("1.1.2024", "could not be parsed at index 0"),
            ("2024-01-01", "could not be parsed at index 2"),
            ("01.01.2024x", "could not be parsed, unparsed text found at index 10"),
        ):
            with self.subTest(text), self.refused(400, "mapper_parsing_exception") as caught:
                self.client.index(index="d", body={"day": text})
            within = caught.exception.info["error"]["caused_by"]["caused_by"]
            self.assertEqual(within, {"type": "date_time_parse_exception", "reason": f"Text '{text}' {why}"})

    def test_what_is_wrong_with_the_mapping_of_a_template(self):
        template = {"mappings": {"properties": {"a": {"type": "integer", "null_value": "x"}}}}
        whole = "composable template [t] template after composition is invalid"
        with self.refused(400, "illegal_argument_exception", whole) as caught:
            self.client.indices.put_index_template(name="t", body={"index_patterns": ["t*"], "template": template})
        told, error = [], caught.exception.info["error"]
        while error:
            told.append((error["type"], error["reason"]))
            error = error.get("caused_by")
        self.assertEqual(told, [
            ("illegal_argument_exception", whole),
            ("illegal_argument_exception", "invalid composite mappings for [t]"),
            ("mapper_parsing_exception", 'Failed to parse mapping [_doc]: For input string: "x"'),
            ("number_format_exception", 'For input string: "x"'),
        ])

    def test_what_an_index_does_not_have_is_told_as_it_is(self):
        fields = {"n": {"type": "long"}, "t": {"type": "text"}}
        self.client.indices.create(index="w", body={"mappings": {"properties": fields}})
        for body, reason in (
            ({"query": {"match": {"t": {"query": "a", "analyzer": "nope"}}}}, "[match] analyzer [nope] not found"),
            ({"sort": {"n": {"nested": {"path": "nope"}}}}, "[nested] failed to find nested object under path [nope]"),
        ):
            with self.subTest(body), self.refused(400, "search_phase_execution_exception", "all shards failed") as caught:
                self.client.search(index="w", body=body)
            [root] = caught.exception.info["error"]["root_cause"]
            self.assertEqual((root["type"], root["reason"], root["index"]), ("query_shard_exception", reason, "w"))
            self.assertNotIn("caused_by", caught.exception.info["error"])

    def test_a_document_that_is_removed_from_an_index_that_there_is_not(self):
        with self.refused(404, "index_not_found_exception", "no such index [gone]") as caught:
            self.client.delete(index="gone", id="1")
        self.assertEqual(caught.exception.info["error"]["resource.type"], "index_expression")
        [item] = self.client.bulk(body=[{"delete": {"_index": "gone", "_id": "1"}}])["items"]
        self.assertEqual(item["delete"]["error"]["resource.type"], "index_expression")
