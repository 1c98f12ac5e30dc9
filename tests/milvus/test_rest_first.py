"""The first edition of the RESTful API, with nothing but an HTTP client, as Milvus' own suite for it asks."""

import http.client
import json
import random
import unittest
import urllib.parse

from tests.clients.base import ClientsTest
from tests.opensearch.clew_server import ClewServer

LOGIN = {"CLEW_ACCESS__AUTHENTICATION": "true"}


class First(ClientsTest):
    def send(self, method, path, data=None, address=None, **more):
        """Status and answer of one request."""
        connection = http.client.HTTPConnection(address or self.server.grpc_address, timeout=60)
        try:
            headers = {"Content-Type": "application/json", "Authorization": "Bearer root:Milvus", **more}
            connection.request(method, f"/v1/vector/{path}", data, headers)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()

    def ask(self, path, body=None, code=200, **more):
        """The answer to one call, whose code must be this one."""
        data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        status, answer = self.send("POST", path, data, **more)
        self.assertEqual((status, answer["code"]), (200, code), answer)
        self.assertEqual(sorted(answer), ["code", "data"] if code == 200 else ["code", "message"])
        return answer["data"] if code == 200 else answer["message"]

    def look(self, path, code=200, **said):
        """The same for what is told of collections."""
        status, answer = self.send("GET", f"{path}?{urllib.parse.urlencode(said)}")
        self.assertEqual((status, answer["code"]), (200, code), answer)
        return answer["data"] if code == 200 else answer["message"]

    def second(self, path, body):
        """A call of the second edition."""
        connection = http.client.HTTPConnection(self.server.grpc_address, timeout=60)
        self.addCleanup(connection.close)
        connection.request("POST", f"/v2/vectordb/{path}", json.dumps(body), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        self.assertEqual(answer["code"], 0, answer)
        return answer["data"]

    def make(self, name, count=0, **more):
        """A collection with so many rows, and their keys."""
        self.ask("collections/create", {"collectionName": name, "dimension": 4, **more})
        self.addCleanup(self.second, "collections/drop", {"collectionName": name})
        if not count:
            return []
        chance = random.Random(5)
        rows = [{"vector": [chance.random() for _ in range(4)], "uid": uid, "name": f"n{uid}", "json": {"a": uid}} for uid in range(count)]
        done = self.ask("insert", {"collectionName": name, "data": rows})
        self.assertEqual((done["insertCount"], len(done["insertIds"])), (count, count))
        return done["insertIds"]

    def test_collections_come_are_told_and_go(self):
        self.second("databases/create", {"dbName": "prod"})
        for metric in ("L2", "IP"):
            for key, vector in ((None, None), ("doc_id", "emb")):
                for database in ("default", "prod"):
                    body = {"dbName": database, "collectionName": "made", "dimension": 128, "metricType": metric, "description": "d",
                            "primaryField": key, "vectorField": vector}
                    self.assertEqual(self.ask("collections/create", body), {})
                    # What is there already is made again without a word.
                    self.ask("collections/create", body)
                    self.assertEqual(self.look("collections", dbName=database), ["made"])
                    told = self.look("collections/describe", dbName=database, collectionName="made")
                    usual = {"partitionKey": False, "clusteringKey": False, "description": "", "nullable": False}
                    vector, key = vector or "vector", key or "id"
                    self.assertEqual(told, {
                        "collectionName": "made", "description": "d", "enableDynamicField": True, "load": "LoadStateLoaded", "shardsNum": 1,
                        "fields": [{"name": key, "type": "Int64", "primaryKey": True, "autoId": True, **usual},
                                   {"name": vector, "type": "FloatVector(128)", "primaryKey": False, "autoId": False, **usual}],
                        "indexes": [{"fieldName": vector, "indexName": "vector_idx", "metricType": metric}]})
                    self.assertEqual(self.ask("collections/drop", {"dbName": database, "collectionName": "made"}), {})
                    self.assertEqual(self.look("collections", dbName=database), [])
        self.second("databases/drop", {"dbName": "prod"})
        self.make("usual", enableDynamicField=False)
        told = self.look("collections/describe", collectionName="usual")
        self.assertEqual((told["enableDynamicField"], told["indexes"][0]["metricType"]), (False, "L2"))

    def test_types_of_fields_bear_their_number(self):
        fields = [{"fieldName": "key", "dataType": "VarChar", "isPrimary": True, "elementTypeParams": {"max_length": 9}},
                  {"fieldName": "list", "dataType": "Array", "elementDataType": "Int64", "elementTypeParams": {"max_capacity": 3}},
                  {"fieldName": "v", "dataType": "Float16Vector", "elementTypeParams": {"dim": 2}},
                  {"fieldName": "s", "dataType": "SparseFloatVector"}]
        self.second("collections/create", {"collectionName": "typed", "schema": {"fields": fields}})
        self.addCleanup(self.second, "collections/drop", {"collectionName": "typed"})
        told = self.look("collections/describe", collectionName="typed")
        self.assertEqual([(field["name"], field["type"]) for field in told["fields"]],
                         [("key", "VarChar(9)"), ("list", "Array"), ("v", "Float16Vector(2)"), ("s", "SparseFloatVector(0)")])
        self.assertFalse({"id", "params", "elementType"} & {name for field in told["fields"] for name in field})
        self.assertEqual((told["load"], told["indexes"]), ("LoadStateNotLoad", []))

    def test_rows_are_inserted_found_and_deleted(self):
        keys = self.make("rows", 120, primaryField="doc")
        everything = {"doc", "vector", "uid", "name", "json"}
        query = lambda filter, **more: self.ask("query", {"collectionName": "rows", "filter": filter, **more})
        found = query("uid < 3")
        self.assertEqual(([row["uid"] for row in found], set(found[0])), ([0, 1, 2], everything))
        self.assertEqual(query("uid in [4, 5]", outputFields=["name"]), [{"doc": keys[4], "name": "n4"}, {"doc": keys[5], "name": "n5"}])
        # A hundred where no number is said, and all of them where it is none.
        self.assertEqual([len(query("uid >= 0", **more)) for more in ({}, {"limit": 7}, {"limit": 0}, {"limit": 50, "offset": 100})],
                         [100, 7, 120, 20])
        self.assertEqual(query("uid > 1000"), [])
        self.assertEqual(query("uid >= 0", outputFields=["count(*)"], limit=0), [{"count(*)": 120}])
        for given, want in ((keys[3], [3]), (keys[:3], [0, 1, 2]), ([str(keys[8]), 0], [8]), (0, []), ([], [])):
            got = self.ask("get", {"collectionName": "rows", "id": given, "outputFields": ["uid"]})
            self.assertEqual(sorted(row["uid"] for row in got), want)
        self.assertEqual(set(self.ask("get", {"collectionName": "rows", "id": keys[3]})[0]), everything)
        self.assertEqual(self.ask("delete", {"collectionName": "rows", "id": keys[:2]}), {})
        self.assertEqual(self.ask("delete", {"collectionName": "rows", "id": 0}), {})
        # A filter goes before keys.
        self.ask("delete", {"collectionName": "rows", "filter": "uid == 5", "id": keys[7]})
        self.assertEqual([row["uid"] for row in query("uid < 8", outputFields=["uid"])], [2, 3, 4, 6, 7])

    def test_hits_are_told_by_their_key(self):
        keys = self.make("hits", 120, primaryField="doc", metricType="L2")
        (sought,) = self.ask("query", {"collectionName": "hits", "filter": "uid == 9", "outputFields": ["vector"]})
        search = lambda **more: self.ask("search", {"collectionName": "hits", "vector": sought["vector"], **more})
        found = search()
        self.assertEqual((len(found), found[0]["id"], sorted(found[0])), (100, keys[9], ["distance", "id"]))
        self.assertEqual([row["distance"] for row in found], sorted(row["distance"] for row in found))
        self.assertEqual(search(limit=1, outputFields=["uid", "json"]), [{**found[0], "uid": 9, "json": {"a": 9}}])
        self.assertEqual(search(limit=3, offset=2), found[2:5])
        self.assertEqual({row["uid"] % 2 for row in search(filter="uid in [1, 3, 5]", outputFields=["uid"])}, {1})
        self.assertEqual(search(filter="uid > 1000"), [])
        middle = found[50]["distance"]
        self.assertLess(max(row["distance"] for row in search(params={"radius": middle})), middle)
        between = search(params={"radius": middle, "range_filter": found[10]["distance"], "level": 2})
        self.assertEqual([row["id"] for row in between], [row["id"] for row in found[10:50]])
        self.assertEqual(search(limit=1, **{"annsField": None}), found[:1])
        told = self.send("POST", "search", json.dumps({"collectionName": "hits", "vector": sought["vector"], "limit": 1}).encode(),
                         **{"Accept-Type-Allow-Int64": "false"})[1]
        self.assertEqual(told["data"][0]["id"], str(keys[9]))

    def test_rows_are_written_one_or_many_at_a_time(self):
        self.make("auto")
        row = {"vector": [1, 2, 3, 4], "a": 1}
        self.assertEqual(self.ask("insert", {"collectionName": "auto", "data": row})["insertCount"], 1)
        self.assertEqual(self.ask("insert", {"collectionName": "auto", "data": [row] * 3})["insertCount"], 3)
        for data, code in [({}, 1804), ([{}], 1804), ([], 1804), ([row, {"vector": [1, 2]}], 1804), (None, 1802), ("x", 1801), ([1], 1801)]:
            self.ask("insert", {"collectionName": "auto", "data": data}, code)
        said = self.ask("upsert", {"collectionName": "auto", "data": row}, 1100)
        self.assertIn("cannot upsert an autoID collection", said)
        self.second("collections/create", {"collectionName": "given", "dimension": 2, "metricType": "IP"})
        self.addCleanup(self.second, "collections/drop", {"collectionName": "given"})
        for number in (1, 2):
            rows = [{"id": key, "vector": [key, number], "n": number} for key in (7, 8)]
            self.assertEqual(self.ask("upsert", {"collectionName": "given", "data": rows}), {"upsertCount": 2, "upsertIds": [7, 8]})
        self.ask("upsert", {"collectionName": "given", "partialUpdate": True, "data": {"id": 7, "n": 3}})
        found = self.ask("query", {"collectionName": "given", "filter": "id > 0"})
        self.assertEqual(found, [{"id": 7, "vector": [7, 2], "n": 3}, {"id": 8, "vector": [8, 2], "n": 2}])

    def test_mistakes_are_told(self):
        self.make("m")
        required = "missing required parameters, required parameters: [{}]"
        for path, body, names in [("collections/create", {"dimension": 4}, "collectionName, dimension"),
                                  ("collections/create", {"collectionName": "x"}, "collectionName, dimension"),
                                  ("collections/create", {"collectionName": "x", "dimension": 0}, "collectionName, dimension"),
                                  ("collections/drop", {}, "collectionName"), ("insert", {"collectionName": "m"}, "collectionName, data"),
                                  ("upsert", {"data": [{}]}, "collectionName, data"), ("search", {"collectionName": "m"}, "collectionName, vector"),
                                  ("query", {"collectionName": "m"}, "collectionName, filter"), ("get", {"collectionName": "m"}, "collectionName, id"),
                                  ("delete", {"collectionName": "m"}, "collectionName, id/filter")]:
            with self.subTest(path):
                self.assertEqual(self.ask(path, body, 1802), required.format(names))
                # No body at all is no JSON here, other than in the second edition.
                for wrong in (b"", b"{", b"[1]", b'{"dbName": 5}', b'{"collectionName": 5}'):
                    self.assertIn("can only accept json format request", self.ask(path, wrong, 1801))
                self.ask(path, {"dbName": "nope", **body}, 1802)
        self.assertEqual(self.look("collections/describe", 1802), required.format("collectionName"))
        self.look("collections/describe", 100, collectionName="nope")
        self.look("collections", 800, dbName="nope")
        vector = {"vector": [1, 2, 3, 4]}
        for path, body, code in [("collections/drop", {}, 100), ("insert", {"data": vector}, 100), ("upsert", {"data": vector}, 100),
                                 ("search", vector, 100), ("query", {"filter": "id > 0"}, 100), ("get", {"id": 1}, 100), ("delete", {"id": 1}, 100)]:
            with self.subTest(path):
                self.ask(path, {"collectionName": "nope", **body}, code)
        for path, body, code in [("collections/create", {"dimension": "4"}, 1801), ("search", {"vector": "x"}, 1801), ("search", {"vector": ["x"]}, 1801),
                                 ("search", {"vector": [1e300]}, 1801), ("search", {**vector, "params": {"radius": "1"}}, 1801),
                                 ("search", {**vector, "params": {"range_filter": 1}}, 1801), ("search", {**vector, "limit": 20000}, 1100),
                                 ("search", {**vector, "searchAggregation": {}}, 1100), ("query", {"filter": "id >"}, 1100),
                                 ("get", {"id": "x"}, 1806), ("delete", {"id": "x"}, 1806)]:
            with self.subTest(body=body):
                self.ask(path, {"collectionName": "m", **body}, code)
        for name in (" ", "test_collection_" * 100, "test collection", "test/collection"):
            self.ask("collections/create", {"collectionName": name, "dimension": 4}, 1100)
        self.ask("sing", {}, 3000)
        self.ask("collections", {}, 3000)
        self.assertEqual(self.send("GET", "insert")[1]["code"], 3000)
        self.assertEqual(self.look("collections"), ["m"])

    def test_who_is_not_known_is_told_so(self):
        with ClewServer(env=LOGIN) as server:
            ask = lambda method, path, login: self.send(method, path, b"{}", server.grpc_address, Authorization=f"Bearer {login}")
            for method, path in [("GET", "collections"), ("GET", "collections/describe?collectionName=x"), ("POST", "collections/create"),
                                 ("POST", "collections/drop"), ("POST", "insert"), ("POST", "delete")]:
                status, told = ask(method, path, "illegal_api_key")
                self.assertEqual((status, told["code"]), (401, 1800))
            self.assertEqual(ask("GET", "collections", "root:Milvus"), (200, {"code": 200, "data": []}))


if __name__ == "__main__":
    unittest.main()
