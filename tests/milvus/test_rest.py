"""The RESTful API v2, with nothing but an HTTP client, on the port of the gRPC service."""

import base64
import http.client
import json
import random
import struct
import unittest

from tests.clients.base import ClientsTest


class Rest(ClientsTest):
    def ask(self, path, body=None, code=0, **more):
        """The answer to one call, whose code must be this one."""
        connection = http.client.HTTPConnection(self.server.grpc_address, timeout=60)
        try:
            data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
            headers = {"Content-Type": "application/json", "Authorization": "Bearer root:Milvus", **more}
            connection.request("POST", f"/v2/vectordb/{path}", data, headers)
            reply = connection.getresponse()
            answer = json.loads(reply.read())
        finally:
            connection.close()
        self.assertEqual((reply.status, answer["code"]), (200, answer["code"] if code is None else code), answer)
        return answer

    def test_whoever_watches_the_server_asks_as_milvus_is_asked(self):
        for path, headers, want in [("/healthz", {}, b"OK"), ("/healthz", {"Content-Type": "application/json"}, {"state": "OK"}),
                                    ("/api/v1/health", {}, {"status": "ok"})]:
            connection = http.client.HTTPConnection(self.server.grpc_address, timeout=60)
            self.addCleanup(connection.close)
            connection.request("GET", path, headers=headers)
            reply = connection.getresponse()
            said = reply.read()
            self.assertEqual((reply.status, said if isinstance(want, bytes) else json.loads(said)), (200, want))

    def test_fields_are_dropped(self):
        schema = {"fields": [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
                             {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": 2}},
                             {"fieldName": "tag", "dataType": "VarChar", "elementTypeParams": {"max_length": 9}}]}
        self.ask("collections/create", {"collectionName": "less", "schema": schema})
        told = self.ask("collections/describe", {"collectionName": "less"})
        self.assertEqual((told["message"], told["data"]["indexes"]), ("index not found[collection=less];", []))
        drop = lambda code=0, **more: self.ask("collections/fields/drop", {"collectionName": "less", **more}, code)
        for said, more in [("exactly one of fieldName or fieldId is required", {}),
                           ("exactly one of fieldName or fieldId is required", {"fieldName": "tag", "fieldId": 102}),
                           ("fieldId must be greater than 0", {"fieldId": 0}),
                           ("cannot drop primary key field: id", {"fieldName": "id"}),
                           ("cannot drop the last vector field: v", {"fieldId": 101}),
                           ("field not found: nobody", {"fieldName": "nobody"})]:
            self.assertIn(said, drop(1100, **more)["message"])
        drop(fieldName="tag")
        fields = self.ask("collections/describe", {"collectionName": "less"})["data"]["fields"]
        self.assertEqual([field["name"] for field in fields], ["id", "v"])

    def test_what_is_said_of_a_new_collection_beside_its_schema(self):
        key = {"fieldName": "key", "dataType": "Int64", "isPartitionKey": True}
        fields = [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
                  {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": 2}}]
        make = lambda fields, code=0, **more: self.ask(
            "collections/create", {"collectionName": "said", "schema": {"fields": fields}, **more}, code)
        for given, shards, partitions in [({"shardsNum": "x", "partitionsNum": []}, 1, 16), ({"shardsNum": 2, "partitionsNum": "5"}, 2, 5),
                                          ({"partitionsNum": 0}, 1, 16), ({"partitionsNum": -3}, 1, 16)]:
            # Without a key there is nothing to spread rows by.
            for fields_there, want in [(fields + [key], partitions), (fields, 1)]:
                make(fields_there, params=given)
                told = self.ask("collections/describe", {"collectionName": "said"})["data"]
                self.assertEqual((told["shardsNum"], told["partitionsNum"]), (shards, want), given)
                self.ask("collections/drop", {"collectionName": "said"})
        for name in ("ttl.seconds", "collection.ttl.seconds"):
            refused = make(fields, 1100, properties={name: 7}, params={"ttlSeconds": 8})["message"]
            self.assertIn("collection TTL is specified multiple times", refused)
            make(fields, properties={name: 7})
            told = self.ask("collections/describe", {"collectionName": "said"})["data"]["properties"]
            self.assertIn({"key": "collection.ttl.seconds", "value": "7"}, told)
            self.ask("collections/drop", {"collectionName": "said"})

    def test_signatures_of_texts_are_made_and_searched_by(self):
        schema = {"fields": [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
                             {"fieldName": "t", "dataType": "VarChar", "elementTypeParams": {"max_length": 99}},
                             {"fieldName": "b", "dataType": "BinaryVector", "elementTypeParams": {"dim": 128}}],
                  "functions": [{"name": "f", "type": "MinHash", "inputFieldNames": ["t"], "outputFieldNames": ["b"], "params": {"num_hashes": 4}}]}
        index = [{"fieldName": "b", "metricType": "MHJACCARD", "indexType": "MINHASH_LSH", "params": {"mh_lsh_band": 2}}]
        self.ask("collections/create", {"collectionName": "alike", "schema": schema, "indexParams": index})
        self.assertEqual([one["type"] for one in self.ask("collections/describe", {"collectionName": "alike"})["data"]["functions"]], [4])
        rows = [{"id": 1, "t": "a ball of thread"}, {"id": 2, "t": "something else"}]
        self.ask("entities/insert", {"collectionName": "alike", "data": rows})
        search = {"collectionName": "alike", "data": ["A ball, of thread!"], "annsField": "b", "consistencyLevel": "Strong"}
        self.assertEqual([(hit["id"], hit["distance"]) for hit in self.ask("entities/search", search)["data"]], [(1, 1)])
        for kind, code, said in [("Guess", 1100, "Unsupported function type: Guess"), (None, 1100, "Unsupported function type:"),
                                 ("TextEmbedding", 3000, "function f of type TextEmbedding")]:
            schema["functions"][0]["type"] = kind
            self.assertIn(said, self.ask("collections/create", {"collectionName": "guessed", "schema": schema}, code)["message"])

    def test_fields_come_and_go_with_the_functions_that_fill_them(self):
        text = {"fieldName": "t", "dataType": "VarChar", "elementTypeParams": {"max_length": 99, "enable_analyzer": True}}
        schema = {"fields": [{"fieldName": "id", "dataType": "Int64", "isPrimary": True}, text,
                             {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": 2}}]}
        index = [{"fieldName": "v", "metricType": "L2"}]
        self.ask("collections/create", {"collectionName": "words", "schema": schema, "indexParams": index})
        self.ask("entities/insert", {"collectionName": "words", "data": [{"id": 1, "t": "a ball", "v": [1, 2]}]})
        function = {"name": "f", "type": "BM25", "inputFieldNames": ["t"], "outputFieldNames": ["s"], "params": {}}
        field = {"fieldName": "s", "dataType": "SparseFloatVector"}
        whole = {"collectionName": "words", "function": function, "outputField": field}
        add = lambda code=0, **more: self.ask("collections/add_function_field", {**whole, **more}, code)
        self.assertIn("'function'", add(1802, function=None)["message"])
        self.assertIn("'outputField'", add(1802, outputField=None)["message"])
        for name in ("name", "type", "inputFieldNames", "outputFieldNames"):
            self.assertIn(f"'function.{name}' is required", add(1802, function={**function, name: None})["message"])
        self.assertIn("only BM25 and MinHash functions are supported", add(1100, function={**function, "type": "TextEmbedding"})["message"])
        self.assertIn("must match outputField.fieldName", add(1100, indexParams={"fieldName": "v"})["message"])
        named = {"fieldName": "s", "indexName": "by_words", "metricType": "BM25", "indexType": "SPARSE_INVERTED_INDEX"}
        for asked, name, kind in [({"indexParams": named}, "by_words", "SPARSE_INVERTED_INDEX"), ({}, "s", "AUTOINDEX")]:
            add(**asked)
            told = self.ask("collections/describe", {"collectionName": "words"})["data"]
            self.assertEqual([one.get("isFunctionOutput", False) for one in told["fields"]], [False, False, False, True])
            self.assertEqual([(one["name"], one["type"], one["params"]) for one in told["functions"]], [("f", 1, None)])
            (described,) = self.ask("indexes/describe", {"collectionName": "words", "indexName": name})["data"]
            self.assertEqual((described["fieldName"], described["metricType"], described["indexType"]), ("s", "BM25", kind))
            search = {"collectionName": "words", "data": ["ball"], "annsField": "s", "consistencyLevel": "Strong"}
            self.assertEqual([hit["id"] for hit in self.ask("entities/search", search)["data"]], [1])
            self.ask("collections/drop_function_field", {"collectionName": "words", "functionName": "f"})
            told = self.ask("collections/describe", {"collectionName": "words"})["data"]
            self.assertEqual(([one["name"] for one in told["fields"]], told["functions"]), (["id", "t", "v"], []))
        self.ask("collections/drop", {"collectionName": "words"})

    def test_letters_of_members_may_be_of_another_case(self):
        fields = [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
                  {"fieldname": "v", "DataType": "FloatVector", "elementTypeParams": {"dim": 2}}]
        index = [{"fieldName": "v", "metricType": "L2"}]
        self.ask("collections/create", {"collectionname": "cases", "schema": {"autoId": True, "fields": fields}, "indexparams": index})
        self.assertTrue(self.ask("collections/describe", {"CollectionName": "cases"})["data"]["autoId"])
        done = self.ask("entities/insert", {"collectionName": "cases", "Data": [{"v": [1, 2]}]})["data"]
        self.assertEqual(done["insertCount"], 1)
        self.ask("collections/create", {"collectionName": "quick", "dimension": 2, "autoId": True})
        self.assertTrue(self.ask("collections/describe", {"collectionName": "quick"})["data"]["autoId"])
        self.ask("collections/drop", {"collectionName": "quick"})
        # The very name comes first.
        self.ask("collections/describe", {"collectionName": "cases", "COLLECTIONNAME": "nobody"})
        self.ask("collections/drop", {"collectionName": "cases"})

    def test_numbers_of_single_precision_are_told_as_they_were_written(self):
        schema = {"fields": [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
                             {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": 2}},
                             {"fieldName": "f", "dataType": "Float"}, {"fieldName": "d", "dataType": "Double"}]}
        index = [{"fieldName": "v", "metricType": "IP"}]
        self.ask("collections/create", {"collectionName": "short", "schema": schema, "indexParams": index})
        row = {"id": 1, "v": [0.1, -1e-7], "f": 3.3, "d": 0.1}
        self.ask("entities/insert", {"collectionName": "short", "data": [row]})
        asked = {"collectionName": "short", "outputFields": ["*"], "consistencyLevel": "Strong"}
        self.assertEqual(self.ask("entities/query", {**asked, "filter": "id == 1"})["data"], [row])
        (hit,) = self.ask("entities/search", {**asked, "data": [[7, 0]], "annsField": "v", "limit": 1})["data"]
        self.assertEqual(hit, {**row, "distance": 0.7})
        self.ask("collections/drop", {"collectionName": "short"})

    def test_vectors_of_bytes_stay_in_their_rows(self):
        self.ask("collections/create", {"collectionName": "packed", "dimension": 2})
        packed = lambda *numbers: base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
        insert = lambda *vectors, code=0: self.ask("entities/insert", {"collectionName": "packed", "data": [
            {"id": number, "vector": vector} for number, vector in enumerate(vectors)]}, code)
        # Together they are as long as two vectors are.
        refused = insert(packed(1), packed(2, 3, 4), code=1804)
        self.assertIn("dimension: 2, but length of []byte: 4", refused["message"])
        insert(packed(1, 2), packed(3, 4))
        asked = {"collectionName": "packed", "filter": "id >= 0", "outputFields": ["*"], "consistencyLevel": "Strong"}
        rows = self.ask("entities/query", asked)["data"]
        self.assertEqual([row["vector"] for row in rows], [[1, 2], [3, 4]])

    def test_lists_grow_and_lose_values(self):
        schema = {"fields": [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
                             {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": 2}},
                             {"fieldName": "tags", "dataType": "Array", "elementDataType": "Int64", "elementTypeParams": {"max_capacity": 4}}]}
        index = [{"fieldName": "v", "metricType": "L2"}]
        self.ask("collections/create", {"collectionName": "grow", "schema": schema, "indexParams": index})
        self.ask("entities/insert", {"collectionName": "grow", "data": [{"id": 1, "v": [0, 1], "tags": [1, 2]}]})

        def change(tags, op, code=0, field="tags"):
            return self.ask("entities/upsert", {"collectionName": "grow", "data": [{"id": 1, "tags": tags}], "partialUpdate": True,
                                                "fieldOps": [{"fieldName": field, "op": op}]}, code)

        def tags():
            asked = {"collectionName": "grow", "filter": "id == 1", "outputFields": ["tags"], "consistencyLevel": "Strong"}
            return self.ask("entities/query", asked)["data"][0]["tags"]

        change([1], "ARRAY_APPEND")
        self.assertEqual(tags(), [1, 2, 1])
        change([1], "ARRAY_REMOVE")
        self.assertEqual(tags(), [2])
        change([5], "REPLACE")
        self.assertEqual(tags(), [5])
        self.assertIn("exceeds max_capacity 4", change([1, 2, 3, 4], "ARRAY_APPEND", 1100)["message"])
        self.assertIn("unsupported partial update op: ARRAY_SORT", change([1], "ARRAY_SORT", 1100)["message"])
        self.assertIn("field_name is required", change([1], "array_append", 1101, field="")["message"])
        self.assertIn("requires Array field", change([1], "ARRAY_APPEND", 1100, field="v")["message"])
        self.assertEqual(tags(), [5])
        # Numbers of JavaScript have 53 bits.
        long, asked = 2**53 + 1, {"collectionName": "grow", "consistencyLevel": "Strong"}
        texts = lambda path, **more: self.ask(path, {**asked, **more}, 0, **{"Accept-Type-Allow-Int64": "false"})["data"]
        self.assertEqual(texts("entities/insert", data=[{"id": str(long), "v": [9, 9], "tags": [1]}]), {"insertCount": 1, "insertIds": [str(long)]})
        self.assertEqual(texts("entities/query", filter=f"id == {long}", outputFields=["id"]), [{"id": str(long)}])
        self.assertEqual(texts("entities/search", data=[[9, 9]], annsField="v", limit=1), [{"distance": 0, "id": str(long)}])
        self.ask("entities/delete", {"collectionName": "grow", "filter": f"id == {long}"})
        search = {"collectionName": "grow", "data": [[0, 1]], "annsField": "v"}
        self.ask("entities/search", {**search, "functionChains": [{"name": "f"}]}, 3000)
        self.ask("entities/hybrid_search", {"collectionName": "grow", "search": [search], "functionChains": [{"name": "f"}],
                                            "rerank": {"strategy": "rrf", "params": {}}}, 3000)

    def test_hits_in_buckets(self):
        field = lambda name, kind, **params: {"fieldName": name, "dataType": kind, "isPrimary": name == "id", "elementTypeParams": params}
        self.ask("collections/create", {
            "collectionName": "goods", "indexParams": [{"fieldName": "v", "indexType": "FLAT", "metricType": "L2"}],
            "schema": {"fields": [field("id", "Int64"), field("brand", "VarChar", max_length=9), field("price", "Int64"),
                                  field("v", "FloatVector", dim=2)]}})
        self.ask("entities/insert", {"collectionName": "goods", "data": [
            {"id": i, "brand": "abc"[i % 3], "price": i + 1, "v": [i, 0]} for i in range(12)]})
        search = {"collectionName": "goods", "data": [[0, 0]], "annsField": "v", "limit": 10, "outputFields": ["brand", "price"],
                  "consistencyLevel": "Strong"}
        asked = lambda spec, code=0, **more: self.ask("entities/search", {**search, **more, "searchAggregation": spec}, code)
        prices = {name: {"op": name, "fieldName": "price"} for name in ("sum", "avg", "max")}
        spec = {"fields": ["brand"], "size": 3, "metrics": {"n": {"op": "count", "fieldName": "*"}, **prices},
                "order": [{"key": "_key", "direction": "desc"}], "topHits": {"size": 2, "sort": [{"fieldName": "price", "direction": "desc"}]}}
        told = asked(spec)
        self.assertEqual((told["aggTopks"], len(told["data"])), ([3], 1))
        buckets = told["data"][0]["buckets"]
        self.assertEqual([bucket["key"] for bucket in buckets], [[{"fieldName": "brand", "value": brand}] for brand in "cba"])
        self.assertEqual(buckets[0], {
            "key": [{"fieldName": "brand", "value": "c"}], "count": 2, "metrics": {"n": 2, "sum": 9, "avg": 4.5, "max": 6},
            "hits": [{"distance": 25, "id": 5, "brand": "c", "price": 6}, {"distance": 4, "id": 2, "brand": "c", "price": 3}]})
        told = asked({"fields": ["brand"], "size": 1}, data=[[0, 0], [11, 0]])
        self.assertEqual((told["aggTopks"], [one["buckets"][0]["key"][0]["value"] for one in told["data"]]), ([1, 1], ["a", "c"]))
        self.assertEqual((told["data"][0]["buckets"][0]["metrics"], told["data"][0]["buckets"][0]["hits"]), ({}, []))
        inner = asked({"fields": ["brand"], "size": 2, "subAggregation": {"fields": ["price"], "size": 1}})["data"][0]["buckets"]
        self.assertEqual([[part["key"][0]["value"] for part in bucket["subGroups"]] for bucket in inner], [[1], [2]])
        texts = self.ask("entities/search", {**search, "searchAggregation": spec}, 0, **{"Accept-Type-Allow-Int64": "false"})
        first = texts["data"][0]["buckets"][0]
        self.assertEqual((first["hits"][0]["id"], first["hits"][0]["price"], first["metrics"]["sum"]), ("5", "6", "9"))
        usual = {"fields": ["brand"], "size": 2}
        for said, spec, more in [
            ("searchAggregation.fields must be non-empty", {"size": 1}, {}),
            ("searchAggregation.size must be positive", {"fields": ["brand"], "size": 0}, {}),
            ("searchAggregation.searchSize must be greater than or equal to size", {"fields": ["brand"], "size": 3, "searchSize": 2}, {}),
            ("searchAggregation.metrics.bad.op must be non-empty", {**usual, "metrics": {"bad": {"op": "", "fieldName": "price"}}}, {}),
            ("searchAggregation.topHits.size must be positive", {**usual, "topHits": {"size": 0}}, {}),
            ("searchAggregation.subAggregation.fields must be non-empty", {**usual, "subAggregation": {"size": 1}}, {}),
            ("nobody", {"fields": ["nobody"], "size": 1}, {}),
            ("median", {**usual, "metrics": {"bad": {"op": "median", "fieldName": "price"}}}, {}),
            ("asc or desc", {**usual, "order": [{"key": "_count", "direction": "up"}]}, {}),
            ("offset is not supported with searchAggregation", usual, {"offset": 1}),
            ("groupSize/strictGroupSize and searchAggregation cannot", usual, {"groupingField": "brand"}),
            ("orderByFields and searchAggregation cannot be used simultaneously", usual, {"orderByFields": ["price"]}),
            ("ids and searchAggregation cannot", usual, {"data": [], "ids": [0]}),
            ("searchParams.offset is not supported", usual, {"searchParams": {"params": {"offset": 1}}}),
            ("searchParams.group_by_field(s) and searchAggregation cannot", usual, {"searchParams": {"group_by_fields": "brand"}}),
        ]:
            self.assertIn(said, asked(spec, 1100, **more)["message"])
        # An order of hits among the parameters changes nothing.
        in_order = asked(usual, searchParams={"order_by_fields": "price:asc"})
        self.assertEqual(in_order["data"], asked(usual)["data"])
        one = {key: value for key, value in search.items() if key != "collectionName"}
        for body in ({"search": [one], "searchAggregation": usual}, {"search": [{**one, "searchAggregation": usual}]}):
            refused = self.ask("entities/hybrid_search", {"collectionName": "goods", "rerank": {"strategy": "rrf", "params": {}}, **body}, 1100)
            self.assertIn("searchAggregation is not supported for hybrid search", refused["message"])

    def test_a_collection_of_a_dimension_alone(self):
        chance = random.Random(3)
        for _ in range(2):
            # What is there already is made again without a word.
            self.ask("collections/create", {"collectionName": "quick", "dimension": 5})
        self.assertEqual(self.ask("collections/has", {"collectionName": "quick"})["data"], {"has": True})
        rows = [{"id": i, "vector": [chance.gauss(0, 1) for _ in range(5)], "color": "red" if i % 2 else "blue"}
                for i in range(20)]
        self.assertEqual(self.ask("entities/insert", {"collectionName": "quick", "data": rows})["data"],
                         {"insertCount": 20, "insertIds": list(range(20))})
        found = self.ask("entities/search", {"collectionName": "quick", "data": [rows[3]["vector"]], "limit": 3,
                                             "annsField": "vector", "outputFields": ["color"]})
        self.assertEqual([found["data"][0][key] for key in ("id", "color")], [3, "red"])
        self.assertAlmostEqual(found["data"][0]["distance"], 1.0, places=5)
        self.assertEqual(found["topks"], [3])
        near = {"collectionName": "quick", "data": [rows[3]["vector"]], "limit": 20, "annsField": "vector"}
        self.assertEqual([hit["id"] for hit in self.ask("entities/search", {**near, "orderByFields": ["id:desc"]})["data"]],
                         list(range(19, -1, -1)))
        refused = self.ask("entities/search", {**near, "orderByFields": ["id"], "searchParams": {"order_by_fields": "id"}}, code=1100)
        self.assertIn("ambiguous order by", refused["message"])
        ranker = {"functions": [{"name": "r", "type": "Rerank", "inputFieldNames": ["id"], "params": {"reranker": "nobody"}}]}
        self.ask("entities/search", {**near, "functionScore": ranker}, code=1100)
        found = self.ask("entities/search", {"collectionName": "quick", "data": [rows[3]["vector"], rows[4]["vector"]],
                                             "limit": 2, "filter": "color == 'blue'"})
        self.assertEqual((found["topks"], found["data"][2]["id"]), ([2, 2], 4))
        rows_found = self.ask("entities/query", {"collectionName": "quick", "filter": "id in [1, 2]",
                                                 "outputFields": ["id", "color", "vector"]})["data"]
        self.assertEqual([row["color"] for row in rows_found], ["red", "blue"])
        self.assertEqual([round(x, 4) for x in rows_found[0]["vector"]], [round(x, 4) for x in rows[1]["vector"]])
        self.assertEqual(self.ask("entities/get", {"collectionName": "quick", "id": [7], "outputFields": ["color"]})["data"],
                         [{"id": 7, "color": "red"}])
        query = lambda **more: self.ask("entities/query", {"collectionName": "quick", "filter": "id < 6", **more})["data"]
        self.assertEqual(query(outputFields=["id"], orderByFields=["id:desc"], limit=2), [{"id": 5}, {"id": 4}])
        self.assertEqual(query(outputFields=["max(id)", "sum(id)"]), [{"max(id)": 5, "sum(id)": 15}])
        self.assertEqual(query(outputFields=["id", "count(*)"], groupByFields=["id"], orderByFields=["id:desc"], limit=1, offset=1),
                         [{"id": 4, "count(*)": 1}])
        self.assertEqual(query(outputFields=["count(*)"], limit=1, offset=10), [{"count(*)": 6}])
        self.assertEqual(self.ask("entities/query", {"collectionName": "quick", "filter": "", "outputFields": ["count(*)"]})["data"],
                         [{"count(*)": 20}])
        self.ask("entities/delete", {"collectionName": "quick", "filter": "color == {c}", "exprParams": {"c": "red"}})
        self.ask("entities/upsert", {"collectionName": "quick", "data": [{**rows[0], "color": "green"}]})
        self.assertEqual(self.ask("collections/get_stats", {"collectionName": "quick"})["data"], {"rowCount": 10})
        told = self.ask("collections/describe", {"collectionName": "quick"})["data"]
        self.assertEqual((told["load"], [field["name"] for field in told["fields"]], told["indexes"][0]["metricType"]),
                         ("LoadStateLoaded", ["id", "vector"], "COSINE"))
        self.ask("collections/drop", {"collectionName": "quick"})
        self.assertEqual(self.ask("collections/list")["data"], [])

    def test_a_collection_of_other_vectors_alone(self):
        make = lambda code=0, **more: self.ask("collections/create", {"collectionName": "others", **more}, code)
        for kind, more, metric in [("Float16Vector", {"dimension": 4}, "COSINE"), ("BFloat16Vector", {"dimension": 4}, "COSINE"),
                                   ("BinaryVector", {"dimension": 8}, "HAMMING"), ("SparseFloatVector", {}, "IP"),
                                   ("BinaryVector", {"dimension": 8, "metricType": "JACCARD"}, "JACCARD")]:
            make(vectorFieldType=kind, **more)
            told = self.ask("collections/describe", {"collectionName": "others"})["data"]
            self.assertEqual((told["fields"][1]["type"], told["indexes"][0]["metricType"]), (kind, metric))
            self.ask("collections/drop", {"collectionName": "others"})
        for said, more in [("vectorFieldType can only be", {"vectorFieldType": "Int64", "dimension": 4}),
                           ("dimension should not be specified", {"vectorFieldType": "SparseFloatVector", "dimension": 4}),
                           ("dimension is required", {"vectorFieldType": "BinaryVector"}),
                           ("binary vector index does not support metric type: L2",
                            {"vectorFieldType": "BinaryVector", "dimension": 8, "metricType": "L2"}),
                           ("binary vector index does not support metric type: MHJACCARD",
                            {"vectorFieldType": "BinaryVector", "dimension": 8, "metricType": "MHJACCARD"}),
                           ("only BM25 Function output field", {"vectorFieldType": "SparseFloatVector", "metricType": "BM25"})]:
            self.assertIn(said, make(1100, **more)["message"])
        for code, said, more in [
            (1100, "idType can only be [Int64, VarChar], default: Int64", {"idType": "Int32"}),
            (1100, "functions are not supported for quickly create collection", {"schema": {"functions": [{"name": "f"}]}}),
            (65535, "parse enableDynamicField fail", {"params": {"enableDynamicField": "perhaps"}}),
        ]:
            self.assertIn(said, make(code, dimension=4, **more)["message"])
        # An empty text says nothing.
        make(dimension=4, idType="", primaryFieldName="", vectorFieldName="", vectorFieldType="", params={"enableDynamicField": "f"})
        told = self.ask("collections/describe", {"collectionName": "others"})["data"]
        self.assertEqual(([(one["name"], one["type"]) for one in told["fields"]], told["enableDynamicField"]),
                         ([("id", "Int64"), ("vector", "FloatVector")], False))
        self.ask("collections/drop", {"collectionName": "others"})
        # What is refused leaves nothing behind.
        self.assertEqual(self.ask("collections/has", {"collectionName": "others"})["data"], {"has": False})

    def test_a_collection_with_properties(self):
        fields = [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
                  {"fieldName": "k", "dataType": "Int64", "isPartitionKey": True},
                  {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": 2}}]
        whole = {"collectionName": "props", "schema": {"fields": fields}, "description": "of many things",
                 "params": {"partitionKeyIsolation": True, "mmap.enabled": True, "warmup.vectorField": "sync"}}
        refused = self.ask("collections/create", {**whole, "indexParams": [{"fieldName": "w", "metricType": "L2"}]}, code=1802)
        self.assertIn("`w` hasn't defined in schema", refused["message"])
        self.assertEqual(self.ask("collections/has", {"collectionName": "props"})["data"], {"has": False})
        self.ask("collections/create", whole)
        told = self.ask("collections/describe", {"collectionName": "props"})["data"]
        self.assertEqual(told["description"], "of many things")
        kept = {pair["key"]: pair["value"] for pair in told["properties"]}
        self.assertEqual({kept.get(key) for key in ("partitionkey.isolation", "mmap.enabled")}, {"true"}, kept)
        self.assertEqual(kept.get("warmup.vectorField"), "sync")
        self.ask("collections/drop", {"collectionName": "props"})

    def test_a_collection_with_a_schema(self):
        field = lambda name, kind, **more: {"fieldName": name, "dataType": kind, **more}
        self.ask("collections/create", {
            "collectionName": "full",
            "schema": {"enableDynamicField": False, "fields": [
                field("key", "VarChar", isPrimary=True, elementTypeParams={"max_length": 40}),
                field("a", "FloatVector", elementTypeParams={"dim": 4}),
                field("b", "Int8Vector", elementTypeParams={"dim": 4}),
                field("n", "Int32", nullable=True),
                field("list", "Array", elementDataType="VarChar", elementTypeParams={"max_capacity": 4, "max_length": 9}),
                field("json", "JSON"),
            ]},
            "indexParams": [{"fieldName": "a", "metricType": "L2", "indexType": "HNSW", "params": {"M": 8}},
                            {"fieldName": "b", "metricType": "IP", "indexName": "second"}],
        })
        rows = [{"key": f"k{i}", "a": [i, 0, 0, 1], "b": [i, 1, 0, 0], "n": None if i % 3 == 0 else i,
                 "list": ["x"] * (i % 4), "json": {"i": i}} for i in range(12)]
        self.ask("entities/insert", {"collectionName": "full", "data": rows})
        found = self.ask("entities/query", {"collectionName": "full", "filter": "json['i'] < 4"})["data"]
        self.assertEqual(found, rows[:4])
        asked = [{"annsField": "a", "data": [[0, 0, 0, 1]], "limit": 5}, {"annsField": "b", "data": [[9, 0, 0, 0]], "limit": 5}]
        found = self.ask("entities/hybrid_search", {"collectionName": "full", "search": asked, "limit": 4, "outputFields": ["n"],
                                                    "rerank": {"strategy": "rrf", "params": {"k": 10}}})
        self.assertEqual({row["key"] for row in found["data"]}, {"k0", "k11", "k1", "k10"})
        self.assertEqual(self.ask("indexes/list", {"collectionName": "full"})["data"], ["a", "second"])
        told = self.ask("collections/describe", {"collectionName": "full"})
        self.assertEqual((told["message"], [index["indexName"] for index in told["data"]["indexes"]]), ("", ["a", "second"]))
        self.assertEqual(self.ask("indexes/describe", {"collectionName": "full", "indexName": "second"})["data"][0]["metricType"], "IP")
        told = self.ask("indexes/describe", {"collectionName": "full", "indexName": "a"})["data"][0]
        params = {pair["key"]: pair["value"] for pair in told["indexParams"]}
        self.assertEqual((params["index_type"], params["metric_type"], json.loads(params["params"])), ("HNSW", "L2", {"M": 8}))
        again = {"fieldName": "b", "metricType": "IP"}
        self.ask("indexes/create", {"collectionName": "full", "indexParams": [again]})
        self.assertEqual(self.ask("indexes/list", {"collectionName": "full"})["data"], ["a", "second"])
        for wrong in ({**again, "indexName": "third"}, {"fieldName": "n", "indexName": "second", "indexType": "INVERTED"},
                      {"fieldName": "n", "indexName": "2nd", "indexType": "INVERTED"}):
            self.ask("indexes/create", {"collectionName": "full", "indexParams": [wrong]}, code=1100)
        for path in ("json['i']", "json['k']"):
            cast = {"index_type": "INVERTED", "json_path": path, "json_cast_type": "double"}
            self.ask("indexes/create", {"collectionName": "full", "indexParams": [
                {"fieldName": "json", "indexName": path[6], "indexType": "INVERTED", "params": cast}]})
        perhaps = {"collectionName": "full", "indexName": "a", "properties": {"mmap.enabled": "perhaps"}}
        self.ask("indexes/alter_properties", perhaps, code=104)
        for name in ("i", "k"):
            self.ask("indexes/drop", {"collectionName": "full", "indexName": name})
        self.ask("partitions/create", {"collectionName": "full", "partitionName": "p"})
        self.assertEqual(self.ask("partitions/list", {"collectionName": "full"})["data"], ["_default", "p"])
        self.ask("aliases/create", {"collectionName": "full", "aliasName": "other"})
        self.assertEqual(self.ask("aliases/list", {})["data"], ["other"])
        self.ask("aliases/drop", {"aliasName": "other"})
        self.ask("collections/release", {"collectionName": "full"})
        self.ask("indexes/alter_properties", perhaps, code=1100)
        self.assertEqual(self.ask("collections/get_load_state", {"collectionName": "full"})["data"]["loadState"], "LoadStateNotLoad")
        self.ask("collections/drop", {"collectionName": "full"})

    def test_lists_of_structs(self):
        field = lambda name, kind, **more: {"fieldName": name, "dataType": kind, **more}
        part = lambda name, kind, **more: field(name, "Array", elementDataType=kind, **more)
        self.ask("collections/create", {
            "collectionName": "books",
            "schema": {
                "fields": [field("id", "Int64", isPrimary=True), field("v", "FloatVector", elementTypeParams={"dim": 2})],
                "structFields": [{"fieldName": "parts", "typeParams": {"max_capacity": "4"}, "fields": [
                    part("n", "Int64"), part("text", "VarChar", elementTypeParams={"max_length": "20"}),
                    field("e", "ArrayOfVector", elementDataType="FloatVector", elementTypeParams={"dim": "2"})]}],
            },
            "indexParams": [{"fieldName": "v", "metricType": "L2"}, {"fieldName": "parts[e]", "metricType": "MAX_SIM_IP"}],
        })
        rows = [{"id": i, "v": [i, 0], "parts": [{"n": 10 * i + at, "text": f"t{at}", "e": [float(i), float(at)]}
                                                 for at in range(i % 3)]} for i in range(6)]
        self.assertEqual(self.ask("entities/insert", {"collectionName": "books", "data": rows})["data"]["insertCount"], 6)
        query = lambda **more: self.ask("entities/query", {"collectionName": "books", **more})["data"]
        found = query(filter="id >= 0", outputFields=["parts"])
        self.assertEqual([row["parts"] for row in found], [row["parts"] for row in rows])
        found = query(filter="match_any(parts, $[n] == 51 && $[text] == 't1')", outputFields=["parts[n]"])
        self.assertEqual(found, [{"id": 5, "parts": [{"n": 50}, {"n": 51}]}])
        found = self.ask("entities/search", {"collectionName": "books", "annsField": "parts[e]", "limit": 2,
                                             "data": [[[1, 0], [0, 1]]], "outputFields": ["parts"]})
        self.assertEqual([(row["id"], row["distance"]) for row in found["data"]], [(5, 6.0), (4, 4.0)])
        self.assertEqual(found["data"][1]["parts"], rows[4]["parts"])
        told = self.ask("collections/describe", {"collectionName": "books"})["data"]["structFields"]
        self.assertEqual([(one["name"], [(own["name"], own["type"], own["elementType"]) for own in one["fields"]]) for one in told],
                         [("parts", [("n", "Array", "Int64"), ("text", "Array", "VarChar"), ("e", "ArrayOfVector", "FloatVector")])])
        for wrong in [{"n": 1, "text": "x"}, {"n": 1, "text": "x", "e": [1, 2, 3]}, {"n": 1, "text": "x" * 30, "e": [1, 2]},
                      {"n": "x", "text": "x", "e": [1, 2]}, {"n": 1, "text": "x", "e": [1, 2], "m": 1}]:
            refused = self.ask("entities/insert", {"collectionName": "books", "data": [{**rows[0], "parts": [wrong]}]}, code=None)
            self.assertIn(refused["code"], (1100, 1804), refused)
        struct = {"fieldName": "more", "nullable": True, "typeParams": {"max_capacity": "2"}, "fields": [part("n", "Int64")]}
        refused = self.ask("collections/fields/add", {"collectionName": "books", "schema": field("more", "ArrayOfStruct")}, code=3000)
        self.assertIn("ArrayOfStruct is not supported", refused["message"])
        self.ask("collections/struct_fields/add", {"collectionName": "books", "schema": struct})
        as_array = {"fieldName": "array", "dataType": "Array", "elementDataType": "Struct", "nullable": True,
                    "elementTypeParams": {"max_capacity": 3}, "fields": [part("n", "Int64")]}
        self.ask("collections/struct_fields/add", {"collectionName": "books", "schema": as_array})
        told = self.ask("collections/describe", {"collectionName": "books"})["data"]["structFields"]
        (n,) = next(one["fields"] for one in told if one["name"] == "array")
        self.assertIn({"key": "max_capacity", "value": "3"}, n["params"])
        self.ask("collections/fields/add", {"collectionName": "books",
                                            "schema": field("note", "VarChar", nullable=True, elementTypeParams={"max_length": 4})})
        self.ask("collections/fields/alter_properties", {"collectionName": "books", "fieldName": "note",
                                                         "fieldParams": {"max_length": "30"}})
        told = self.ask("collections/describe", {"collectionName": "books"})["data"]["fields"]
        self.assertIn({"key": "max_length", "value": "30"}, next(one["params"] for one in told if one["name"] == "note"))
        self.ask("entities/insert", {"collectionName": "books", "data": [{**rows[1], "more": [{"n": 7}]}]})
        self.assertEqual([row["more"] for row in query(filter="id in [1, 2]", outputFields=["more"])], [[{"n": 7}], None])
        # Structs are hits by themselves.
        self.ask("collections/release", {"collectionName": "books"})
        alter = lambda name, code=0, **params: self.ask(
            "collections/fields/alter_properties", {"collectionName": "books", "fieldName": name, "fieldParams": params}, code)
        held = {"mmap.enabled": True}
        alter("parts", **held)
        alter("parts[text]", **held, max_length=25)
        told = self.ask("collections/describe", {"collectionName": "books"})["data"]["structFields"][0]
        self.assertIn({"key": "mmap.enabled", "value": "true"}, told["params"])
        params = {pair["key"]: pair["value"] for pair in next(one["params"] for one in told["fields"] if one["name"] == "text")}
        self.assertEqual((params["mmap.enabled"], params["max_length"]), ("true", "25"))
        self.assertIn("does not allow update", alter("parts", 1100, max_length=9)["message"])
        self.assertIn("does not exist", alter("parts[no]", 1100, **held)["message"])
        self.ask("indexes/drop", {"collectionName": "books", "indexName": "parts[e]"})
        self.ask("indexes/create", {"collectionName": "books", "indexParams": [{"fieldName": "parts[e]", "metricType": "L2"}]})
        self.ask("collections/load", {"collectionName": "books"})
        found = self.ask("entities/search", {"collectionName": "books", "annsField": "parts[e]", "limit": 2, "data": [[5, 1]]})
        self.assertEqual([(row["id"], row["offset"]) for row in found["data"]], [(5, 1), (5, 0)])

    def test_instants(self):
        field = lambda name, kind, **more: {"fieldName": name, "dataType": kind, **more}
        self.ask("collections/create", {
            "collectionName": "times",
            "schema": {"fields": [field("id", "Int64", isPrimary=True), field("v", "FloatVector", elementTypeParams={"dim": 2}),
                                  field("at", "Timestamptz", nullable=True),
                                  field("made", "Timestamptz", defaultValue="2020-01-01T00:00:00"),
                                  field("where", "Geometry", defaultValue="point(1 2)")]},
            "indexParams": [{"fieldName": "v", "metricType": "L2"}],
            "properties": {"timezone": "America/New_York"},
        })
        fields = self.ask("collections/describe", {"collectionName": "times"})["data"]["fields"]
        self.assertEqual([field.get("defaultValue") for field in fields],
                         [None, None, None, {"Data": {"StringData": "2020-01-01T00:00:00-05:00"}}, {"Data": {"StringData": "POINT (1 2)"}}])
        texts = ["2025-03-09T01:59:59", "2025-03-09T03:00:00", "2025-07-01T12:00:00Z", None]
        self.ask("entities/insert", {"collectionName": "times",
                                     "data": [{"id": i, "v": [i, 0], "at": at} for i, at in enumerate(texts)]})
        query = lambda **more: self.ask("entities/query", {"collectionName": "times", **more})["data"]
        found = query(filter="id >= 0", outputFields=["at", "made"])
        self.assertEqual([row["at"] for row in found], ["2025-03-09T01:59:59-05:00", "2025-03-09T03:00:00-04:00",
                                                        "2025-07-01T08:00:00-04:00", None])
        self.assertEqual(found[0]["made"], "2020-01-01T00:00:00-05:00")
        found = query(filter="at + INTERVAL 'PT1S' >= ISO '2025-03-09T03:00:00'", outputFields=["at"], timezone="UTC")
        self.assertEqual([row["at"] for row in found], ["2025-03-09T06:59:59Z", "2025-03-09T07:00:00Z", "2025-07-01T12:00:00Z"])
        self.ask("entities/insert", {"collectionName": "times", "data": [{"id": 9, "v": [1, 1], "at": "soon"}]}, code=1100)

    def search(self, index, query, **more):
        """Ids and scores of what a search of OpenSearch's API finds."""
        self.call("POST", f"/{index}/_refresh")
        status, _, text = self.call("POST", f"/{index}/_search", {"query": query, **more})
        self.assertEqual(status, 200, text)
        hits = json.loads(text)["hits"]["hits"]
        for hit in hits:
            hit["_source"].pop("$written", None)
        return [(hit["_id"], hit["_score"], hit["_source"]) for hit in hits]

    def test_sparse_vectors_are_the_same_through_both_apis(self):
        field = lambda name, kind, **more: {"fieldName": name, "dataType": kind, **more}
        self.ask("collections/create", {
            "collectionName": "few",
            "schema": {"fields": [field("id", "Int64", isPrimary=True), field("s", "SparseFloatVector")]},
            "indexParams": [{"fieldName": "s", "metricType": "IP", "indexType": "SPARSE_INVERTED_INDEX"}],
        })
        rows = [{"id": 1, "s": {"7": 0.5, "9": 2.0}}, {"id": 2, "s": {"9": 1.0}},
                {"id": 3, "s": {"indices": [100, 7], "values": [1.0, 4.0]}}]
        self.ask("entities/insert", {"collectionName": "few", "data": rows})
        found = self.ask("entities/search", {"collectionName": "few", "annsField": "s", "data": [{"7": 1.0, "9": 1.0}], "limit": 5})
        self.assertEqual([(row["id"], row["distance"]) for row in found["data"]], [(3, 4.0), (1, 2.5), (2, 1.0)])
        self.ask("entities/insert", {"collectionName": "few", "data": [{"id": 4, "s": {"7": -1.0}}]}, code=1100)

        status, _, text = self.call("GET", "/few/_mapping")
        self.assertEqual((status, json.loads(text)["few"]["mappings"]["properties"]["s"]), (200, {"type": "sparse_vector"}))
        wanted = {"neural_sparse": {"s": {"query_tokens": {"7": 1.0, "9": 1.0}}}}
        self.assertEqual(self.search("few", wanted), [
            ("3", 4.0, {"id": 3, "s": {"7": 4.0, "100": 1.0}}), ("1", 2.5, {"id": 1, "s": {"7": 0.5, "9": 2.0}}),
            ("2", 1.0, {"id": 2, "s": {"9": 1.0}})])
        both = {"bool": {"must": [wanted], "filter": [{"range": {"id": {"lte": 2}}}]}}
        self.assertEqual([hit[:2] for hit in self.search("few", both)], [("1", 2.5), ("2", 1.0)])
        status, _, text = self.call("PUT", "/few/_doc/5?refresh=true", {"id": 5, "s": {"9": 3}})
        self.assertEqual(status, 201, text)
        found = self.ask("entities/search", {"collectionName": "few", "annsField": "s", "data": [{"9": 1.0}], "limit": 1,
                                             "outputFields": ["s"]})
        self.assertEqual([(row["id"], row["distance"]) for row in found["data"]], [(5, 3.0)])
        for wrong in [{"9": -1}, {"word": 1}, [1]]:
            status, _, text = self.call("PUT", "/few/_doc/6", {"s": wrong})
            self.assertEqual((status, b"sparse_vector" in text), (400, True), text)
        self.ask("collections/drop", {"collectionName": "few"})

        made = {"mappings": {"properties": {"s": {"type": "sparse_vector", "method": {"name": "seismic"}}, "n": {"type": "long"}}}}
        self.assertEqual(self.call("PUT", "/made", made)[0], 200)
        wrong = {"mappings": {"properties": {"s": {"type": "sparse_vector", "method": {"name": "hnsw"}}}}}
        self.assertEqual(self.call("PUT", "/wrong", wrong)[0], 400)
        for n in range(3):
            self.call("PUT", f"/made/_doc/d{n}", {"n": n, "s": {"4": n + 1}})
        status, _, text = self.call("POST", "/made/_update/d0", {"doc": {"n": 7}})
        self.assertEqual(status, 200, text)
        self.call("POST", "/made/_refresh")
        found = self.ask("entities/search", {"collectionName": "made", "annsField": "s", "data": [{"4": 1.0}], "limit": 3,
                                             "outputFields": ["n"]})
        self.assertEqual([(row["_id"], row["distance"], row["n"]) for row in found["data"]],
                         [("d2", 3.0, 2), ("d1", 2.0, 1), ("d0", 1.0, 7)])
        self.assertEqual(len(self.search("made", {"exists": {"field": "s"}})), 3)
        self.call("DELETE", "/made")

    def test_databases_stand_apart(self):
        self.ask("databases/create", {"dbName": "apart"})
        self.ask("collections/create", {"dbName": "apart", "collectionName": "one", "dimension": 4})
        self.assertEqual(self.ask("collections/list", {"dbName": "apart"})["data"], ["one"])
        self.assertEqual(self.ask("collections/list")["data"], [])
        self.ask("databases/drop", {"dbName": "apart"}, code=1100)
        self.ask("collections/drop", {"dbName": "apart", "collectionName": "one"})
        self.ask("databases/drop", {"dbName": "apart"})
        self.assertEqual(self.ask("databases/list")["data"], ["default"])

    def test_collections_move_and_partitions_are_let_in_one_by_one(self):
        self.ask("databases/create", {"dbName": "there"})
        self.ask("collections/create", {"collectionName": "one", "dimension": 4, "params": {"ttlSeconds": "3600", "shardsNum": "1"}})
        self.ask("partitions/create", {"collectionName": "one", "partitionName": "p"})
        row = lambda i: {"id": i, "vector": [i, 0, 0, 1]}
        self.ask("entities/insert", {"collectionName": "one", "data": [row(1)]})
        self.ask("entities/insert", {"collectionName": "one", "partitionName": "p", "data": [row(2)]})
        count = lambda name, code=0, **more: self.ask("entities/query", {"collectionName": name, "filter": "",
                                                                        "outputFields": ["count(*)"], **more}, code)
        self.assertEqual(count("one")["data"], [{"count(*)": 2}])
        for action in ("load", "release"):
            for more, code in [({}, 1802), ({"partitionNames": None}, 1802), ({"partitionNames": []}, 1100)]:
                self.ask(f"partitions/{action}", {"collectionName": "one", **more}, code)
        self.ask("partitions/release", {"collectionName": "one", "partitionNames": ["p"]})
        self.assertEqual(count("one")["data"], [{"count(*)": 1}])
        count("one", 201, partitionNames=["p"])
        state = lambda name, **more: self.ask("collections/get_load_state", {"collectionName": name, **more})
        self.assertEqual(state("one"), {"code": 0, "data": {"loadState": "LoadStateLoaded", "loadProgress": 100}, "message": ""})
        for name, said in [("p", "partition not loaded[partition=p]."), ("q", "partition=q]")]:
            told = state("one", partitionNames=[name])
            self.assertEqual(told["data"], {"loadState": "LoadStateLoading", "loadProgress": -1})
            self.assertIn(said, told["message"])
        refused = self.ask("collections/get_load_state", {"collectionName": "nobody"}, code=100)["message"]
        self.assertEqual(refused, "collection not found[collection=nobody]")
        self.ask("partitions/load", {"collectionName": "one", "partitionNames": ["p"]})
        self.ask("collections/rename", {"collectionName": "nope", "newCollectionName": "two"}, code=100)
        self.ask("collections/rename", {"collectionName": "one", "newCollectionName": "one"}, code=1100)
        self.ask("collections/rename", {"collectionName": "one", "newCollectionName": "two"})
        self.assertEqual(count("two")["data"], [{"count(*)": 2}])
        self.ask("collections/alter_properties", {"collectionName": "two", "properties": {"collection.ttl.seconds": "x"}}, code=1100)
        self.ask("collections/drop_properties", {"collectionName": "two", "propertyKeys": ["collection.ttl.seconds"]})
        self.assertEqual(self.ask("collections/describe", {"collectionName": "two"})["data"]["properties"],
                         [{"key": "max_field_id", "value": "102"}, {"key": "namespace.sharding.enabled", "value": "false"},
                          {"key": "timezone", "value": "UTC"}])
        self.ask("collections/rename", {"collectionName": "two", "newCollectionName": "three", "newDbName": "there"})
        self.assertEqual(self.ask("collections/list")["data"], [])
        self.assertEqual(count("three", dbName="there")["data"], [{"count(*)": 2}])
        self.ask("collections/drop", {"dbName": "there", "collectionName": "three"})
        self.ask("databases/drop", {"dbName": "there"})

    def test_what_is_asked_beside_rows(self):
        self.ask("collections/create", {"collectionName": "r", "dimension": 2})
        rows = [{"id": n, "vector": [n + 1, 1], "kind": f"k{n % 2}"} for n in range(6)]
        self.ask("entities/insert", {"collectionName": "r", "data": rows})
        near = {"collectionName": "r", "annsField": "vector", "limit": 2}
        found = self.ask("entities/search", {**near, "ids": [1, "2"], "consistencyLevel": "Strong"})
        self.assertEqual((found["topks"], found["data"][0]["id"], found["data"][2]["id"]), ([2, 2], 1, 2))
        for code, said, more in [(1100, "are mutually exclusive", {"ids": [1], "data": [[1, 1]]}),
                                 (1802, "either 'ids' (for primary key search) or 'data'", {"ids": [], "data": []}),
                                 (1100, "invalid int64 id at index 1: x", {"ids": [1, "x"]}),
                                 (1100, "invalid int64 id at index 0: 1.5 has fractional part", {"ids": [1.5]}),
                                 (1100, "invalid id type at index 0: expected int64", {"ids": [{}]})]:
            self.assertIn(said, self.ask("entities/search", {**near, **more}, code)["message"])
        self.ask("entities/search", {**near, "ids": [77]}, code=1100)
        refused = self.ask("entities/search", {**near, "data": [[1, 1]], "consistencyLevel": "Often"}, code=1100)["message"]
        self.assertIn("consistencyLevel can only be [Strong, Session, Bounded, Eventually, Customized]", refused)
        self.assertEqual([row["id"] for row in self.ask("entities/get", {"collectionName": "r", "id": ["1", 2]})["data"]], [1, 2])
        self.assertEqual(self.ask("entities/get", {"collectionName": "r", "id": []}), {"code": 0, "cost": 0, "data": []})
        for wrong in ("one", 1.5, {"a": 1}, 2**63):
            refused = self.ask("entities/get", {"collectionName": "r", "id": [wrong]}, code=1806)["message"]
            self.assertIn("id must be an integer for an Int64 primary key", refused)
        boost = {"name": "b", "type": "Rerank", "params": {"reranker": "boost", "filter": "id == 0", "weight": 9}}
        found = self.ask("entities/search", {**near, "limit": 6, "data": [[1, 0]], "functionScore": {"functions": [boost]}})
        self.assertEqual(found["data"][0]["id"], 0)
        asked = {"collectionName": "r", "search": [{"annsField": "vector", "data": [[1, 1]], "limit": 6}] * 2, "limit": 2,
                 "groupingField": "kind", "groupSize": 2, "rerank": {"strategy": "rrf"}, "outputFields": ["kind"]}
        self.assertEqual([row["kind"] for row in self.ask("entities/hybrid_search", asked)["data"]], ["k0", "k0", "k1", "k1"])
        one = {"annsField": "vector", "data": [[1, 1]], "limit": 6}
        cosines = lambda **said: self.ask("entities/search", {"collectionName": "r", **one, **said})["data"]
        every = [hit["distance"] for hit in cosines()]
        least = (every[2] + every[3]) / 2
        for within in ({"radius": least}, {"params": {"radius": least}}, {"radius": least, "params": {"radius": least}}):
            self.assertEqual(len(cosines(searchParams=within)), 3)
            # One of several searches has them as `params`.
            of_both = {"collectionName": "r", "search": [{**one, "params": within}], "rerank": {"strategy": "rrf"}}
            self.assertEqual(len(self.ask("entities/hybrid_search", of_both)["data"]), 3)
        nothing = self.ask("entities/hybrid_search", {"collectionName": "r", "search": [], "rerank": {"strategy": "rrf"}}, code=1100)
        self.assertIn("nq [0] is invalid", nothing["message"])
        near = {"collectionName": "r", **one}
        self.assertEqual([hit["kind"] for hit in cosines(searchParams={"group_by_field": "kind"}, outputFields=["kind"])], ["k0", "k1"])
        self.assertEqual(len(cosines(searchParams={"offset": 4})), 2)
        self.assertEqual([hit["distance"] for hit in cosines(searchParams={"round_decimal": 1})], [round(one, 1) for one in every])
        for wrong in (-2, 7, "x"):
            refused = self.ask("entities/search", {**near, "searchParams": {"round_decimal": wrong}}, code=1100)["message"]
            self.assertIn(f"round_decimal [{wrong}] is invalid, should be -1 or an integer in range [0, 6]", refused)
        for said, more in [("ambiguous parameter: ef", {"searchParams": {"ef": 10, "params": {"ef": 20}}}),
                           ("ambiguous grouping", {"groupingField": "kind", "searchParams": {"group_size": 1}}),
                           ("ignore growing", {"searchParams": {"ignoreGrowing": "perhaps"}})]:
            self.assertIn(said, self.ask("entities/search", {**near, **more}, code=1100)["message"])
        told = self.ask("common/run_analyzer", {"text": ["Running dogs"], "analyzerParams": {"type": "english"}})["data"]
        self.assertEqual(told, [{"tokens": [{"token": "run"}, {"token": "dog"}]}])
        self.ask("collections/flush", {"collectionName": "r"})
        number = self.ask("collections/describe", {"collectionName": "r"})["data"]["collectionID"]
        (segment,) = self.ask("segments/describe", {"collectionID": number})["data"]["segmentInfos"]
        self.assertEqual((segment["collectionID"], segment["numRows"]), (number, 6))
        job = self.ask("collections/compact", {"collectionName": "r"})["data"]["compactionID"]
        self.assertEqual(self.ask("collections/get_compaction_state", {"jobID": job})["data"]["state"], "Completed")
        self.assertEqual(self.ask("collections/get_compaction_state", {"collectionName": "r"})["data"]["compactionID"], 0)
        limits = {"requests": {"node_num": 1}, "limits": {"node_num": 1}}
        self.ask("resource_groups/create", {"name": "rg", "config": limits})
        self.assertEqual(self.ask("resource_groups/list")["data"], ["__default_resource_group", "rg"])
        group = self.ask("resource_groups/describe", {"name": "rg"})["resource_group"]
        self.assertEqual((group["num_available_node"], group["config"]["limits"]), (1, {"node_num": 1}))
        self.ask("resource_groups/drop", {"name": "rg"}, code=1100)
        none = {"requests": {"node_num": 0}, "limits": {"node_num": 0}}
        self.ask("resource_groups/alter", {"resource_groups": {"rg": none}})
        self.ask("resource_groups/drop", {"name": "rg"})
        self.ask("resource_groups/describe", {"name": "rg"}, code=300)
        self.ask("jobs/import/create", {"collectionName": "r", "files": [["a.json"]]}, code=3000)
        self.ask("collections/drop", {"collectionName": "r"})

    def test_a_header_says_which_database_is_meant(self):
        self.ask("databases/create", {"dbName": "headed"})
        for header in ["DB-Name", "dbname"]:
            of_header = {header: "headed"}
            self.ask("collections/create", {"collectionName": header[:2], "dimension": 2}, **of_header)
            self.assertIn(header[:2], self.ask("collections/list", {"dbName": ""}, **of_header)["data"])
            # What the body says goes before it.
            self.assertNotIn(header[:2], self.ask("collections/list", {"dbName": "default"}, **of_header)["data"])
            self.ask("collections/drop", {"dbName": "headed", "collectionName": header[:2]})
        self.ask("databases/drop", {"dbName": "headed"})

    def test_types_that_fields_cannot_have_are_told_apart(self):
        fields = [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
                  {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": 2}}]
        for code, said, kind in [(1100, "string data type not supported yet, please use VarChar type instead", {"dataType": "String"}),
                                 (1100, "data type None is not valid", {"dataType": "None"}),
                                 (1100, "data type int8 is invalid(case sensitive)", {"dataType": "int8"}),
                                 (1100, "element data type  is invalid(case sensitive)", {"dataType": "Array"}),
                                 (1100, "element data type int8 is invalid(case sensitive)", {"dataType": "Array", "elementDataType": "int8"}),
                                 (3000, "Text is not supported", {"dataType": "Text"})]:
            schema = {"fields": [*fields, {"fieldName": "x", **kind}]}
            self.assertIn(said, self.ask("collections/create", {"collectionName": "typed", "schema": schema}, code)["message"])
        self.assertIn("primary key is not specified", self.ask("collections/create", {"collectionName": "typed", "schema": {
            "fields": [{**fields[0], "isPrimary": False}, fields[1]]}}, 1101)["message"])

    def test_mistakes_are_told(self):
        self.ask("collections/create", {"collectionName": "m", "dimension": 4})
        self.ask("collections/create", b"{", code=1801)
        self.ask("collections/create", b"[1]", code=1801)
        self.ask("collections/describe", {}, code=1802)
        for path, body in [("collections/describe", {"collectionName": ""}), ("collections/create", {"collectionName": "", "dimension": 4}),
                           ("aliases/create", {"collectionName": "m", "aliasName": ""}), ("indexes/drop", {"collectionName": "m", "indexName": ""}),
                           ("entities/delete", {"collectionName": "m", "filter": ""}), ("databases/create", {"dbName": ""}),
                           ("partitions/create", {"collectionName": "m", "partitionName": ""}), ("users/describe", {"userName": ""}),
                           ("roles/create", {"roleName": ""}), ("privilege_groups/create", {"privilegeGroupName": ""})]:
            with self.subTest(path):
                self.assertIn("is required", self.ask(path, body, code=1802)["message"])
        # The collection of a right may be left out, and is looked at where the right is.
        right = {"roleName": "public", "privilege": "Search"}
        self.assertIn("empty", self.ask("roles/grant_privilege_v2", right, code=1100)["message"])
        self.assertIn("dimension is required", self.ask("collections/create", {"collectionName": "x"}, code=1100)["message"])
        self.ask("collections/describe", {"collectionName": "nope"}, code=100)
        self.ask("entities/insert", {"collectionName": "m", "data": [{"id": 1, "vector": [1, 2]}]}, code=1804)
        self.ask("entities/insert", {"collectionName": "m", "data": [{"id": "a", "vector": [1, 2, 3, 4]}]}, code=1804)
        for more, said in [({"nullable": True}, "primary field not support null"), ({"defaultValue": 5}, "primary field not support default_value")]:
            fields = [{"fieldName": "id", "dataType": "Int64", "isPrimary": True, **more},
                      {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": 2}}]
            told = self.ask("collections/create", {"collectionName": "wrong", "schema": {"fields": fields}}, code=1100)["message"]
            self.assertIn(said, told)
        for action, row in [("insert", {"id": 1, "vector": None}), ("upsert", {"id": None, "vector": [1, 2, 3, 4]}), ("insert", {"id": 1}),
                            ("upsert", {"id": 1, "color": "red"})]:
            told = self.ask(f"entities/{action}", {"collectionName": "m", "data": [row]}, code=1804)["message"]
            self.assertIn("must have a value", told)
        self.ask("entities/search", {"collectionName": "m", "data": [[1, 2, 3, 4]], "filter": "id >"}, code=1100)
        self.ask("entities/search", {"collectionName": "m", "data": [[1, 2, 3, 4]], "limit": 20000}, code=1100)
        self.ask("users/sing", {}, code=3000)
        self.ask("collections/create", {"collectionName": "words", "schema": {
            "fields": [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
                       {"fieldName": "t", "dataType": "VarChar", "elementTypeParams": {"max_length": 9, "enable_analyzer": True}},
                       {"fieldName": "s", "dataType": "SparseFloatVector"}],
            "functions": [{"name": "f", "type": "BM25", "inputFieldNames": ["t"], "outputFieldNames": ["s"], "params": {}}]}})
        row = {"id": 1, "t": "x"}
        told = self.ask("entities/insert", {"collectionName": "words", "data": [row, {**row, "s": {"1": 0.5}}]}, code=1804)["message"]
        self.assertIn("function output field s", told)
        self.ask("entities/insert", {"collectionName": "words", "data": [row]})
        self.ask("collections/drop", {"collectionName": "words"})
        told = self.ask("entities/insert", {"collectionName": "nope", "data": [row]}, code=100)["message"]
        self.assertIn("can't find collection", told)
        unfit = "convert defaultValue fail"
        for kind, given, said in [("Int64", "aaa", unfit), ("Int8", 300, "default value out of range"), ("VarChar", 5, unfit),
                                  ("JSON", {"a": 1}, unfit), ("Bool", 1, unfit)]:
            added = {"collectionName": "m", "schema": {"fieldName": "new", "dataType": kind, "nullable": True, "defaultValue": given,
                                                       "elementTypeParams": {"max_length": 9} if kind == "VarChar" else {}}}
            told = self.ask("collections/fields/add", added, code=1100)["message"]
            self.assertIn(said, told)
        added = {"collectionName": "m", "schema": {"fieldName": "new", "dataType": "Array", "nullable": True}}
        self.assertIn("element data type", self.ask("collections/fields/add", added, code=1100)["message"])
        part = {"fieldName": "n", "dataType": "Array", "elementDataType": "Int64", "nullable": True}
        added = {"collectionName": "m", "schema": {"fieldName": "new", "typeParams": {"max_capacity": 2}, "fields": [part]}}
        self.assertIn("cannot be nullable", self.ask("collections/struct_fields/add", added, code=1100)["message"])
        part.update(nullable=False, isClusteringKey=True)
        self.assertIn("cannot be a key", self.ask("collections/struct_fields/add", added, code=1100)["message"])
        part.update(isClusteringKey=False)
        for kind, element, said in [("Array", "JSON", "element type JSON is not supported"),
                                    ("ArrayOfVector", "SparseFloatVector", "only fixed dimension vector types are supported"),
                                    ("Int32", None, "can only be array or array of vector, but field n is Int32")]:
            part.update(dataType=kind, elementDataType=element)
            self.assertIn(said, self.ask("collections/struct_fields/add", added, code=1100)["message"])
        self.assertEqual(self.ask("collections/list", b"null")["data"], self.ask("collections/list", {})["data"])
        told = self.ask("entities/delete", {"collectionName": "m", "filter": "id == 'x'"}, code=1100)["message"]
        self.assertIn("failed to create delete plan: cannot parse expression: id == 'x'", told)
        self.assertIn("comparisons between Int64 and VarChar are not supported: invalid parameter", told)
        done = self.ask("entities/delete", {"collectionName": "m", "filter": "id in [7, 8, 8]"})
        self.assertEqual(done["data"]["deleteCount"], 2)
        self.ask("collections/list", {}, code=1401, Origin="http://elsewhere.example")
        self.ask("collections/drop", {"collectionName": "m"})


if __name__ == "__main__":
    unittest.main()
