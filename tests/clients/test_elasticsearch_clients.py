"""Elasticsearch's own clients: each refuses servers that are not its own, in its own way."""

import json
import os
import pathlib
import sys

from .base import TOOL_SECONDS_MAX, ClientsTest, tool

SESSION = pathlib.Path(__file__).with_name("elasticsearch_session.py")
DSL_SESSION = pathlib.Path(__file__).with_name("elasticsearch_dsl_session.py")


class ElasticsearchPy(ClientsTest):
    def seen(self, session, version):
        packages = tool(f"elasticsearch-py-{version}", "test-clients")
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        output = self.run_tool(
            # Old clients stumble over new packages that happen to be there.
            [sys.executable, "-S", session, self.server.url], TOOL_SECONDS_MAX, env=environment
        )
        return json.loads(output.splitlines()[-1])

    def session(self, version):
        self.assertEqual(self.seen(SESSION, version), {
            "version": version,
            "ping": True,
            "bulk": 250,
            "streaming": 250,
            "total": 125,
            "first": 248,
            "max": 248.0,
            "scanned": 250,
            "count": 250,
            "got": 1001,
            "exists": False,
            "missing": 404,
            "absent": "index_not_found_exception",
            "cat": "250",
        })

    def test_7_10_which_asks_nothing(self):
        self.session("7.10.1")

    def test_7_17_which_wants_a_product(self):
        self.session("7.17.12")

    def test_8_which_wants_its_media_type(self):
        self.session("8.17.2")

    def test_9_which_is_the_newest(self):
        self.session("9.5.1")

    def test_the_documents_of_9_which_ask_for_vectors_with_each_search(self):
        self.assertEqual(self.seen(DSL_SESSION, "9.5.1"), {
            "titles": ["Title 10", "Title 7", "Title 1"],
            "nested": 6,
            "most": [11, 9],
            "facet": ["a", 12],
            "scanned": 12,
            "both": [12, 4],
            "views": 79,
            "rewritten": 4,
            "deleted": 4,
            "several": [1, 9, None],
            "missing": 404,
        })


class GoElasticsearch(ClientsTest):
    def test_8_which_wants_a_product_on_every_answer(self):
        program = tool("go-elasticsearch-8.17.0/session", "clients")
        seen = json.loads(self.run_tool([program, self.server.url], TOOL_SECONDS_MAX))
        self.assertEqual(seen, {
            "version": "8.17.0", "client": "8.17.0", "sent": 300, "failed": 0, "total": 300,
            "most": 299, "missing": 404,
        })


class Handshake(ClientsTest):
    """What is said to whom; the clients above would accept more than this."""

    def test_each_client_meets_its_own_version(self):
        for agent, number in (
            ("Elastic-filebeat/7.17.28 (linux; amd64)", "7.17.28"),
            ("Elastic-metricbeat/8.11.1 (linux; amd64)", "8.11.1"),
            ("go-elasticsearch/8.9.0 (linux amd64; Go 1.21)", "8.9.0"),
            ("Elastic-filebeat/6.8.23 (linux; amd64)", "7.10.2"),
        ):
            status, headers, text = self.call("GET", "/", headers={"User-Agent": agent})
            said = json.loads(text)
            self.assertEqual(status, 200)
            self.assertEqual(said["version"]["number"], number, agent)
            self.assertEqual(said["version"]["build_flavor"], "default")
            self.assertEqual(said["tagline"], "You Know, for Search")
            self.assertNotIn("distribution", said["version"])
            self.assertEqual(headers["X-Elastic-Product"], "Elasticsearch")

    def test_others_meet_opensearch(self):
        for agent in ("opensearch-py/2.8.0 (Python 3.11)", "Grafana/10.4.1", "Fluent-Bit", "curl/8"):
            _, headers, text = self.call("GET", "/", headers={"User-Agent": agent})
            said = json.loads(text)
            self.assertEqual(said["version"]["distribution"], "opensearch")
            self.assertEqual(said["version"]["number"], "2.19.0")
            self.assertIsNone(headers["X-Elastic-Product"])
            self.assertEqual(headers["Content-Type"], "application/json; charset=UTF-8")

    def test_every_answer_is_marked_errors_too(self):
        agent = {"User-Agent": "elasticsearch-py/8.17.2 (Python/3.11)"}
        for method, path in (("HEAD", "/"), ("GET", "/absent"), ("GET", "/_cat/indices"), ("GET", "/_xpack")):
            _, headers, _ = self.call(method, path, headers=agent)
            self.assertEqual(headers["X-Elastic-Product"], "Elasticsearch", path)

    def test_versioned_json_is_read_and_answered(self):
        media = "application/vnd.elasticsearch+json; compatible-with=8"
        status, headers, _ = self.call(
            "PUT", "/versioned/_doc/1?refresh=true", {"a": 1}, {"Accept": media, "Content-Type": media}
        )
        self.assertEqual(status, 201)
        expected = "application/vnd.elasticsearch+json;compatible-with=8"
        self.assertEqual(headers["Content-Type"], expected)
        lines = b'{"index":{"_index":"versioned"}}\n{"a":2}\n'
        lines_media = "application/vnd.elasticsearch+x-ndjson; compatible-with=8"
        status, _, text = self.call(
            "POST", "/_bulk", lines, {"Accept": media, "Content-Type": lines_media}
        )
        self.assertEqual((status, json.loads(text)["errors"]), (200, False))

    def test_the_old_version_can_be_asked_for(self):
        name = "compatibility.override_main_response_version"
        self.ask("PUT", "/_cluster/settings", {"persistent": {name: True}})
        said = self.ask("GET", "/")
        self.assertEqual(said["version"]["number"], "7.10.2")
        self.assertEqual(said["version"]["distribution"], "opensearch")
        self.ask("PUT", "/_cluster/settings", {"persistent": {name: None}})
        self.assertEqual(self.ask("GET", "/")["version"]["number"], "2.19.0")
