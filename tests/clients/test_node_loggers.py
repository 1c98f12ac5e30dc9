"""What programs for Node.js log with, to a server and to a collector: pino, winston, and the bulk helpers of the clients below them."""

import json
import shutil

from tests.collect.listening import Listening

from .base import TOOL_SECONDS_MAX, ClientsTest, tool

COLLECTOR = """
registry: {folder}/registry.json
inputs: [{{type: http, listen: "127.0.0.1:0"}}]
outputs: [{{type: opensearch, url: "{url}", index: "{{{{@metadata._index}}}}"}}]
"""
SEEN = {"pino": [50], "winston": [], "7": [50, 0], "8": [50, 0], "9": [50, 0], "opensearch": [50, 0]}
INDEXES = ["pino", "winston", "bulk-7", "bulk-8", "bulk-9", "bulk-opensearch"]


class NodeLoggers(ClientsTest):
    def session(self, url):
        if shutil.which("node") is None:
            self.skipTest("Node.js is missing")
        program = tool("node-loggers-1/session.js", "clients")
        seen = json.loads(self.run_tool(["node", program, url], TOOL_SECONDS_MAX).splitlines()[-1])
        self.assertEqual(seen, SEEN)
        self.ask("POST", "/_refresh")
        for index in INDEXES:
            self.assertEqual(self.ask("GET", f"/{index}/_count")["count"], 50, index)
            self.ask("DELETE", f"/{index}")

    def test_events_reach_a_server(self):
        self.session(self.server.url)

    def test_events_reach_a_collector(self):
        folder = self.folder()
        config = folder / "collect.yaml"
        config.write_text(COLLECTOR.format(folder=folder, url=self.server.url))
        with Listening(config) as collector:
            self.session(f"http://127.0.0.1:{collector.ports[0]}")
