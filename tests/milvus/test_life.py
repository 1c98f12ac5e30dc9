"""The life of collections with pymilvus of both majors, through a restart without warning."""

import json
import os
import pathlib
import sys
import time
import unittest

from tests.clients.base import TOOL_SECONDS_MAX, ClientsTest, tool
from tests.opensearch.clew_server import ClewServer

SESSION = pathlib.Path(__file__).with_name("life_session.py")


class Life(ClientsTest):
    def session(self, version):
        packages = tool(f"pymilvus-{version}", "test-clients")
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        self.server = server = ClewServer()
        server.__enter__()
        self.addCleanup(lambda: server.__exit__())

        def part(name):
            uri = f"http://{server.grpc_address}"
            output = self.run_tool([sys.executable, "-S", SESSION, uri, name], TOOL_SECONDS_MAX, env=environment)
            seen = json.loads(output.splitlines()[-1])
            self.assertEqual(seen["version"], version)
            return seen["checks"]

        self.assertGreater(part("before"), 150)
        self.gone_for_good()
        server.kill()
        server.start()
        self.assertGreater(part("after"), 3)

    def gone_for_good(self):
        """Rows whose time is over are deleted, not only passed over."""
        until = time.monotonic() + 120
        while (count := self.ask("GET", "/short/_count")["count"]) > 0:
            self.assertLess(time.monotonic(), until, f"{count} are left")
            time.sleep(0.2)

    def test_2_6(self):
        self.session("2.6.17")

    def test_3(self):
        self.session("3.0.2")


if __name__ == "__main__":
    unittest.main()
