"""Clients of Milvus beside pymilvus' own, unmodified, against the real binary."""

import json
import os
import pathlib
import shutil
import sys
import unittest

from tests.clients.base import TOOL_SECONDS_MAX, ClientsTest, tool

HERE = pathlib.Path(__file__).parent
FIELDS = ["id", "v", "w", "title"]


class Clients(ClientsTest):
    def session(self, *command, **environment):
        """What a session printed last, asked with the address of the server."""
        output = self.run_tool(command, TOOL_SECONDS_MAX, env={**os.environ, **environment})
        return json.loads(output.splitlines()[-1])

    @property
    def uri(self):
        return f"http://{self.server.grpc_address}"

    def test_collections_of_pymilvus(self):
        packages = tool("pymilvus-2.6.17", "test-clients")
        seen = self.session(
            sys.executable, "-S", "-W", "ignore", HERE / "orm_session.py", self.uri, PYTHONPATH=str(packages)
        )
        self.assertEqual(seen["version"], "2.6.17")
        self.assertGreater(seen["checks"], 45)

    def test_langchain(self):
        python = tool("venv-langchain-milvus/bin/python", "clients")
        seen = self.session(python, "-W", "ignore", HERE / "langchain_session.py", self.uri)
        self.assertEqual(seen, {"version": "0.4.0", "checks": 20})

    def test_llama_index(self):
        python = tool("venv-llama-index-milvus/bin/python", "clients")
        seen = self.session(python, "-W", "ignore", HERE / "llama_index_session.py", self.uri)
        self.assertEqual(seen, {"version": "1.2.0", "checks": 20})

    def test_node(self):
        if shutil.which("node") is None:
            self.skipTest("Node.js is missing")
        session = tool("milvus-node-3.0.6/session.js", "clients")
        seen = self.session("node", session, self.server.grpc_address)
        self.assertEqual(seen["found"][0], [20, "t0", "blue"])
        self.assertEqual(sorted(hit[0] for hit in seen["found"]), [19, 20, 21])
        self.assertEqual(seen["filtered"][1], 21)
        self.assertTrue(all(number % 2 for number in seen["filtered"]))
        self.assertEqual(seen["templated"], [3, 4])
        self.assertEqual(seen["hybrid"], [20, "t0"])
        self.assertEqual(seen["got"], ["new"])
        self.assertEqual((seen["inserted"], seen["deleted"], seen["count"], seen["iterated"]), (200, 50, 150, 150))
        self.assertEqual(seen["error"], [1100, True])
        self.assertEqual((seen["absent"], seen["fields"]), (False, FIELDS))

    def test_go(self):
        seen = self.session(tool("milvus-go-2.6.2/session", "clients"), self.server.grpc_address)
        self.assertEqual((seen["found"], seen["title"], seen["colour"]), (20, "t0", "blue"))
        self.assertEqual(seen["filtered"][1], 21)
        self.assertTrue(all(number % 2 for number in seen["filtered"]))
        self.assertEqual((seen["queried"], seen["hybrid"], seen["got"]), ([3, 4], 20, "new"))
        self.assertEqual((seen["inserted"], seen["deleted"], seen["count"]), (200, 50, 150))
        self.assertEqual((seen["error"], seen["absent"], seen["fields"]), (True, False, FIELDS))

    def test_java(self):
        if shutil.which("java") is None:
            self.skipTest("Java is missing")
        folder = tool("milvus-java-2.6.6/Session.class", "clients").parent
        seen = self.session("java", "-cp", f"{folder}:{folder}/lib/*", "Session", self.uri)
        self.assertEqual((seen["found"][0], seen["first"]), (20, ["t0", "blue"]))
        self.assertEqual(sorted(seen["found"]), [19, 20, 21])
        self.assertEqual(seen["filtered"][1], 21)
        self.assertTrue(all(number % 2 for number in seen["filtered"]))
        self.assertEqual((seen["templated"], seen["hybrid"], seen["got"]), ([3, 4], 20, "new"))
        self.assertEqual((seen["inserted"], seen["deleted"], seen["count"], seen["iterated"]), (200, 50, 150, 150))
        self.assertIn("mismatched input '<EOF>' expecting a value: invalid parameter, at line 1:5", seen["error"])
        self.assertEqual((seen["absent"], seen["fields"]), (False, FIELDS))


if __name__ == "__main__":
    unittest.main()
