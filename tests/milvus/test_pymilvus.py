"""pymilvus, in both majors that people use, against the real binary."""

import json
import os
import pathlib
import sys
import unittest

from tests.clients.base import TOOL_SECONDS_MAX, ClientsTest, tool

FOLDER = pathlib.Path(__file__).parent


class Pymilvus(ClientsTest):
    def session(self, version, name, checks):
        packages = tool(f"pymilvus-{version}", "test-clients")
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        uri = f"http://{self.server.grpc_address}"
        output = self.run_tool([sys.executable, "-S", FOLDER / name, uri], TOOL_SECONDS_MAX, env=environment)
        seen = json.loads(output.splitlines()[-1])
        self.assertEqual(seen["version"], version)
        self.assertGreater(seen["checks"], checks)

    def test_2_6(self):
        self.session("2.6.17", "pymilvus_session.py", 150)

    def test_3(self):
        self.session("3.0.2", "pymilvus_session.py", 150)

    def test_kinds_of_fields_2_6(self):
        self.session("2.6.17", "kinds_session.py", 100)

    def test_kinds_of_fields_3(self):
        self.session("3.0.2", "kinds_session.py", 100)

    def test_orders_and_groups(self):
        self.session("3.0.2", "groups_session.py", 40)


if __name__ == "__main__":
    unittest.main()
