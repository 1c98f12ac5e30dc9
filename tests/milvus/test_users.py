"""Users, roles and privileges against the real binary: pymilvus in both majors, the RESTful API, and what else is behind the door."""

import base64
import concurrent.futures
import http.client
import json
import os
import pathlib
import sys
import unittest

import grpc

from tests.clients.base import TOOL_SECONDS_MAX, ClientsTest, tool
from tests.opensearch.clew_server import ClewServer

from .test_descriptors import ours

SESSION = pathlib.Path(__file__).with_name("users_session.py")
# Twice as many as may fail in a row.
GUESSES = 40
LOGIN = {"CLEW_ACCESS__AUTHENTICATION": "true"}
GENERATED = pathlib.Path(__file__).parents[1] / "log"


def basic(user, password):
    return base64.b64encode(f"{user}:{password}".encode()).decode()


class Users(ClientsTest):
    """Each test has a server of its own."""

    @classmethod
    def setUpClass(cls):
        pass

    def serve(self, **env):
        self.server = ClewServer(env={**LOGIN, **env})
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        return self.server

    def session(self, version, stage):
        packages = tool(f"pymilvus-{version}", "test-clients")
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        uri = f"http://{self.server.grpc_address}"
        output = self.run_tool([sys.executable, "-S", SESSION, stage, uri], TOOL_SECONDS_MAX, env=environment)
        seen = json.loads(output.splitlines()[-1])
        self.assertEqual(seen["version"], version)
        return seen["checks"]

    def rest(self, path, body=None, status=200, login="root:Milvus", address=None):
        """The answer of the RESTful API to one call, whose status must be this one."""
        connection = http.client.HTTPConnection(address or self.server.grpc_address, timeout=60)
        headers = {"Content-Type": "application/json"}
        if login is not None:
            headers["Authorization"] = login if " " in login else f"Bearer {login}"
        try:
            connection.request("POST", f"/v2/vectordb/{path}", json.dumps(body or {}), headers)
            reply = connection.getresponse()
            answer = json.loads(reply.read())
        finally:
            connection.close()
        self.assertEqual(reply.status, status, answer)
        return answer

    def done(self, path, body=None, **more):
        answer = self.rest(path, body, **more)
        self.assertEqual(answer["code"], 0, answer)
        return answer["data"]

    def both(self, version):
        self.serve()
        self.assertGreaterEqual(self.session(version, "manage"), 90)
        self.server.stop()
        self.server.start()
        self.assertGreater(self.session(version, "after"), 4)

    def test_pymilvus_2_6(self):
        self.both("2.6.17")

    def test_pymilvus_3(self):
        self.both("3.0.2")

    def test_nobody_is_asked_where_that_is_off(self):
        for version in ("2.6.17", "3.0.2"):
            self.server = ClewServer()
            with self.server:
                self.assertGreater(self.session(version, "open"), 5)
                # The door is not there at all.
                self.assertEqual(self.call("GET", "/_cat/indices", headers={"Authorization": "Basic !"})[0], 200)

    def test_how_the_server_is_is_told_to_everybody(self):
        self.serve()
        for path, status in [("/healthz", 200), ("/api/v1/health", 200), ("/v2/vectordb/collections/list", 401)]:
            connection = http.client.HTTPConnection(self.server.grpc_address, timeout=60)
            self.addCleanup(connection.close)
            connection.request("GET", path)
            self.assertEqual(connection.getresponse().status, status, path)

    def test_restful(self):
        self.serve()
        for login in (None, "root:milvus", "nobody:Milvus", "token", "Basic " + basic("root", "milvus")):
            answer = self.rest("collections/list", status=401, login=login)
            self.assertEqual(answer, {"code": 1800, "message": "user hasn't authenticated"})
        self.assertEqual(self.done("collections/list", login="Basic " + basic("root", "Milvus")), [])
        self.done("collections/create", {"collectionName": "docs", "dimension": 2})
        self.done("entities/insert", {"collectionName": "docs", "data": [{"id": 1, "vector": [1, 2]}]})
        alice = {"login": "alice:secret-1"}
        self.done("users/create", {"userName": "alice", "password": "secret-1"})
        self.assertEqual(self.done("users/list"), ["alice", "root"])
        search = {"collectionName": "docs", "data": [[1, 2]], "limit": 1}
        self.done("roles/create", {"roleName": "reader"})
        self.done("users/grant_role", {"userName": "alice", "roleName": "reader"})
        self.assertEqual(self.done("users/describe", {"userName": "alice"}), ["reader"])
        denied = self.rest("entities/search", search, status=403, **alice)
        self.assertIn("PrivilegeSearch: permission deny to alice", denied["message"])
        grant = {"roleName": "reader", "objectType": "Collection", "objectName": "docs", "privilege": "Search"}
        self.done("roles/grant_privilege", grant)
        self.assertEqual(self.done("entities/search", search, **alice)[0]["id"], 1)
        self.assertEqual(self.done("collections/list", **alice), ["docs"])
        self.assertEqual(self.done("collections/describe", {"collectionName": "docs"}, **alice)["collectionName"], "docs")
        self.rest("entities/insert", {"collectionName": "docs", "data": [{"id": 2, "vector": [1, 2]}]}, status=403, **alice)
        told = {"objectType": "Collection", "objectName": "docs", "privilege": "Search", "dbName": "default", "grantor": "root"}
        self.assertEqual(self.done("roles/describe", {"roleName": "reader"}), [told])
        self.done("roles/revoke_privilege", grant)
        self.rest("entities/search", search, status=403, **alice)
        self.done("privilege_groups/create", {"privilegeGroupName": "group"})
        self.done("privilege_groups/add_privileges_to_group", {"privilegeGroupName": "group", "privileges": ["Search", "Query"]})
        groups = self.done("privilege_groups/list")["privilegeGroups"]
        self.assertEqual(groups[-1], {"privilegeGroupName": "group", "privileges": "Query,Search"})
        second = {"roleName": "reader", "privilege": "group", "collectionName": "docs"}
        self.done("roles/grant_privilege_v2", second)
        self.done("entities/search", search, **alice)
        self.done("privilege_groups/remove_privileges_from_group", {"privilegeGroupName": "group", "privileges": ["Search"]})
        self.rest("entities/search", search, status=403, **alice)
        self.done("roles/revoke_privilege_v2", second)
        self.done("privilege_groups/drop", {"privilegeGroupName": "group"})
        wrong = self.rest("users/update_password", {"userName": "alice", "password": "secret-2", "newPassword": "secret-3"})
        self.assertEqual(wrong["code"], 1400)
        self.done("users/update_password", {"userName": "alice", "password": "secret-1", "newPassword": "secret-3"}, **alice)
        self.rest("collections/list", status=401, **alice)
        self.done("collections/list", login="alice:secret-3")
        self.done("users/revoke_role", {"userName": "alice", "roleName": "reader"})
        self.done("roles/drop", {"roleName": "reader"})
        self.assertEqual(self.done("roles/list"), ["admin", "public"])
        self.done("users/drop", {"userName": "alice"})
        self.rest("collections/list", status=401, login="alice:secret-3")

    def test_restful_descriptions(self):
        self.serve()
        said = lambda path, **of: self.rest(path, of)["description"]
        self.done("users/create", {"userName": "alice", "password": "secret-1", "description": "reads"})
        self.assertEqual(said("users/describe", userName="alice"), "reads")
        self.done("users/update_password",
                  {"userName": "alice", "password": "secret-1", "newPassword": "secret-2", "description": "reads much"})
        self.assertEqual(said("users/describe", userName="alice"), "reads much")
        self.done("users/update_password", {"userName": "alice", "description": ""})
        self.assertEqual(said("users/describe", userName="alice"), "")
        self.rest("collections/list", status=401, login="alice:secret-1")
        self.done("collections/list", login="alice:secret-2")
        missing = self.rest("users/update_password", {"userName": "alice"})
        self.assertEqual((missing["code"], "password" in missing["message"]), (1802, True), missing)
        self.done("roles/create", {"roleName": "reader", "description": "who reads"})
        self.assertEqual(said("roles/describe", roleName="reader"), "who reads")
        self.done("users/grant_role", {"userName": "alice", "roleName": "reader"})
        # Who has a role may see what it grants.
        self.assertEqual(self.done("roles/describe", {"roleName": "reader"}, login="alice:secret-2"), [])

    def call_grpc(self, path, request=b"", login=None):
        """The status of one call of which nothing is known but its name."""
        metadata = [("authorization", login)] if login else []
        plain = lambda value: value
        call = self.channel.unary_unary(path, request_serializer=plain, response_deserializer=plain)
        try:
            call(request, metadata=metadata, timeout=60)
            return grpc.StatusCode.OK, ""
        except grpc.RpcError as error:
            return error.code(), error.details()

    def connect(self):
        self.channel = grpc.insecure_channel(self.server.grpc_address)
        self.addCleanup(self.channel.close)
        self.done("users/create", {"userName": "alice", "password": "secret-1"})

    def test_every_call_asks_who_it_is_and_what_that_may(self):
        self.serve()
        self.connect()
        _, calls = ours()
        open_to_all, denied = set(), set()
        for number, name in enumerate(calls):
            path = f"/milvus.proto.milvus.MilvusService/{name}"
            # Guesses run out.
            guesses = (basic("root", "milvus"), basic("alice", "secret-2")) if number < 15 else ()
            for login in (None, "!", "Bearer x", *guesses):
                code, _ = self.call_grpc(path, login=login)
                self.assertEqual(code, grpc.StatusCode.UNAUTHENTICATED, name)
            code, said = self.call_grpc(path, login=basic("alice", "secret-1"))
            if code == grpc.StatusCode.PERMISSION_DENIED:
                self.assertIn("permission deny to alice", said)
                denied.add(name)
            else:
                self.assertEqual(code, grpc.StatusCode.OK, f"{name}: {said}")
                open_to_all.add(name)
            self.assertEqual(self.call_grpc(path, login=basic("root", "Milvus"))[0], grpc.StatusCode.OK, name)
        self.assertEqual(open_to_all, {
            "Connect", "GetVersion", "CheckHealth", "GetComponentStates", "AllocTimestamp", "ListDatabases",
            "HasCollection", "ShowCollections", "GetFlushAllState", "GetPersistentSegmentInfo", "GetQuerySegmentInfo",
            "GetCompactionState", "GetCompactionStateWithPlans", "GetReplicas", "RunAnalyzer", "GetMetrics",
            "GetImportState", "ListImportTasks",
            # What everybody may until somebody takes it away.
            "DescribeCollection", "BatchDescribeCollection", "ListAliases", "DescribeIndex", "GetIndexStatistics",
            "GetIndexState", "GetIndexBuildProgress"})
        self.assertEqual(len(open_to_all) + len(denied), len(calls))

    def test_the_log_and_all_else_on_the_port_are_behind_the_door(self):
        self.serve()
        self.connect()
        root, alice = basic("root", "Milvus"), basic("alice", "secret-1")
        for path in ("/clew.log.v1.Log/ListStreams", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/no.Such/Call"):
            self.assertEqual(self.call_grpc(path)[0], grpc.StatusCode.UNAUTHENTICATED, path)
            self.assertEqual(self.call_grpc(path, login=alice)[0], grpc.StatusCode.PERMISSION_DENIED, path)
        self.assertEqual(self.call_grpc("/clew.log.v1.Log/ListStreams", login=root)[0], grpc.StatusCode.OK)
        self.assertEqual(self.call_grpc("/no.Such/Call", login=root)[0], grpc.StatusCode.UNIMPLEMENTED)
        self.assertEqual(self.call_grpc("/grpc.health.v1.Health/Check")[0], grpc.StatusCode.OK)
        # The role makes the difference.
        self.done("users/grant_role", {"userName": "alice", "roleName": "admin"})
        self.assertEqual(self.call_grpc("/clew.log.v1.Log/ListStreams", login=alice)[0], grpc.StatusCode.OK)
        # The command line says who it is by a variable.
        binary = os.environ["CLEW_BIN"]
        arguments = [binary, "log", "streams", "--url", f"http://{self.server.grpc_address}"]
        self.run_tool(arguments, 60, env={**os.environ, "CLEW_LOGIN": "alice:secret-1"})
        with self.assertRaisesRegex(AssertionError, "no user and password were given"):
            self.run_tool(arguments, 60, env={k: v for k, v in os.environ.items() if k != "CLEW_LOGIN"})

    def test_the_rest_api_of_opensearch_takes_the_same_users(self):
        self.serve()
        self.done("users/create", {"userName": "alice", "password": "secret-1"})
        ask = lambda login, path="/": self.call("GET", path, headers={"Authorization": f"Basic {login}"} if login else {})
        for path in ("/", "/_cat/indices", "/_metrics", "/nothing", "/_nodes"):
            status, headers, text = ask(None, path)
            self.assertEqual((status, headers["WWW-Authenticate"].split()[0]), (401, "Basic"), path)
            self.assertEqual(json.loads(text)["error"]["type"], "security_exception")
            self.assertEqual(ask(basic("root", "milvus"), path)[0], 401)
            status, _, text = ask(basic("alice", "secret-1"), path)
            self.assertEqual((status, json.loads(text)["status"]), (403, 403), path)
        self.assertEqual(ask(basic("root", "Milvus"))[0], 200)
        self.assertEqual(ask(None, "/_health")[0], 200)
        client = self.server.client(http_auth=("root", "Milvus"))
        client.index(index="docs", body={"a": 1}, id="1", refresh=True)
        self.assertEqual(client.count(index="docs")["count"], 1)

    def test_too_many_guesses_are_turned_away_and_nobody_is_locked_out_who_is_in(self):
        self.serve()
        self.done("users/list")

        def guess(number):
            return self.call("GET", "/", headers={"Authorization": "Basic " + basic("root", f"guess {number}")})[0]

        # All at once, as there is one more for each second that they take.
        guesses = []
        with concurrent.futures.ThreadPoolExecutor(GUESSES) as pool:
            while 429 not in guesses and len(guesses) < 10 * GUESSES:
                guesses += pool.map(guess, range(GUESSES))
        self.assertEqual(set(guesses), {401, 429})
        self.assertGreaterEqual(guesses.count(401), 20)
        self.done("users/list")

    def test_the_first_password_may_be_another_one(self):
        self.serve(CLEW_ACCESS__ROOT_PASSWORD="0123456789")
        self.rest("users/list", status=401)
        self.assertEqual(self.done("users/list", login="root:0123456789"), ["root"])
        log = self.server.log_tail()
        self.assertNotIn("0123456789", log)
        self.assertNotIn("the default password stands", log)

    def test_the_default_password_is_warned_of_and_keeps_the_server_at_home(self):
        server = self.serve()
        self.assertIn("the default password stands", server.log_tail())
        server.stop()
        binary = os.environ["CLEW_BIN"]
        outside = {k: v for k, v in os.environ.items() if not k.startswith("CLEW_")}
        start = [binary, "serve", "--data", server.data, "--http", "127.0.0.1:0", "--grpc", "0.0.0.0:0"]
        for env, said in ((LOGIN, "root has the password that everybody knows"), ({}, "set access.authentication")):
            with self.assertRaisesRegex(AssertionError, said):
                self.run_tool(start, 60, env={**outside, **env})
        server.start()

    def test_a_damaged_file_keeps_everybody_out(self):
        server = self.serve()
        self.done("users/create", {"userName": "alice", "password": "secret-1"})
        server.stop()
        kept = server.data / "access.json"
        whole = kept.read_bytes()
        self.run_tool([os.environ["CLEW_BIN"], "verify", server.data], 60)
        kept.write_bytes(whole.replace(b"alice", b"malic"))
        with self.assertRaisesRegex(RuntimeError, r"access\.json is damaged: its checksum does not match"):
            server.start()
        with self.assertRaisesRegex(AssertionError, r"access\.json is damaged"):
            self.run_tool([os.environ["CLEW_BIN"], "verify", server.data], 60)
        kept.write_bytes(whole)
        server.start()
        self.done("collections/list", login="alice:secret-1")


if __name__ == "__main__":
    unittest.main()
