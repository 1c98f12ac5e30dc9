"""`clew serve --collect`: files and requests into the server's own engine, and the collector's metrics."""

import json
import pathlib
import re
import tempfile
import time
import unittest
import urllib.request

from opensearch.clew_server import ClewServer

from .listening import Listening

CONFIG = """\
registry: {folder}/registry.json
inputs:
  - {{paths: ["{folder}/app.log"], parse: plain}}
  - {{type: http, listen: "127.0.0.1:0"}}
processors:
  - pattern: {{}}
outputs:
  - {{type: clew, index: logs}}
"""
POLLS_MAX = 100_000
OPEN_SECONDS_MAX = 120


class Within(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.config = self.folder / "collect.yaml"
        self.config.write_text(CONFIG.format(folder=self.folder))
        self.server = ClewServer(arguments=["--collect", str(self.config)])

    def append(self, first, last):
        with (self.folder / "app.log").open("a") as out:
            out.writelines(f"2026-01-02T03:04:05Z request number{number} done\n" for number in range(first, last))

    def count(self):
        with self.server.client() as client:
            client.indices.refresh(index="logs", ignore_unavailable=True)
            return client.count(index="logs", ignore_unavailable=True)["count"]

    def wait_for(self, count):
        for _ in range(POLLS_MAX):
            if self.count() >= count:
                return self.assertEqual(self.count(), count)
        return self.fail("the collector writes nothing")

    def inputs_port(self):
        """The inputs are opened beside the server, which may be there before them."""
        until = time.monotonic() + OPEN_SECONDS_MAX
        while time.monotonic() < until:
            told = self.server.data.with_suffix(".log").read_text()
            if ports := re.findall(r"inputs are open.*?127\.0\.0\.1:(\d+)", told):
                return ports[-1]
        return self.fail("the inputs are not opened")

    def test_lines_are_in_the_engine_once_although_the_server_is_killed(self):
        self.append(0, 1000)
        with self.server:
            self.wait_for(1000)
            self.append(1000, 1500)
            self.server.kill()
            self.append(1500, 1600)
            self.server.start()
            self.wait_for(1600)
            with self.server.client() as client:
                hits = client.search(index="logs", body={"query": {"match": {"message": "number1234"}}})["hits"]["hits"]
            (hit,) = hits
            self.assertRegex(hit["_id"], r"^[0-9a-f]{16}-[0-9a-f]+-[0-9a-f]{8}$")
            self.assertEqual(hit["_source"]["log"]["file"]["path"], str(self.folder / "app.log"))
            with urllib.request.urlopen(self.server.url + "/_metrics", timeout=60) as page:
                metrics = page.read().decode()
        for metric in (r"collect_lines_read_total \d+", r'collect_lag_bytes\{path=".*/app\.log"\} \d+',
                       r'collect_stage_seconds_total\{stage="deliver"\} [\d.e-]+', r"collect_patterns \d+"):
            self.assertRegex(metrics, metric)

    def test_what_is_written_goes_through_the_pipelines_of_the_index(self):
        with self.server:
            with self.server.client() as client:
                client.ingest.put_pipeline(id="first", body={"processors": [
                    {"set": {"field": "by", "value": "first"}},
                    {"lowercase": {"field": "shout"}},
                ]})
                client.ingest.put_pipeline(id="last", body={"processors": [{"set": {"field": "last", "value": "{{by}}"}}]})
                settings = {"index": {"default_pipeline": "first", "final_pipeline": "last"}}
                client.indices.create(index="logs", body={"settings": settings})
            for body in ({"message": "taken", "shout": "A"}, {"message": "refused, as it does not shout"}):
                request = urllib.request.Request(f"http://127.0.0.1:{self.inputs_port()}/", data=json.dumps(body).encode(),
                                                 headers={"Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    self.assertEqual(answer.status, 200)
            self.wait_for(1)
            with self.server.client() as client:
                (hit,) = client.search(index="logs")["hits"]["hits"]
            source = hit["_source"]
            self.assertEqual((source["by"], source["last"], source["shout"]), ("first", "first", "a"))
            # What is answered lies there.
            rejected = (self.folder / "registry.json.rejected.ndjson").read_text()
            self.assertIn("does not shout", rejected)

    def test_what_is_answered_is_in_the_engine_and_a_stop_is_clean(self):
        with self.server:
            for number in range(20):
                body = json.dumps({"message": f"posted {number}"}).encode()
                request = urllib.request.Request(f"http://127.0.0.1:{self.inputs_port()}/", data=body,
                                                 headers={"Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    self.assertEqual(answer.status, 200)
                self.assertEqual(self.count(), number + 1)
            self.append(0, 10)
            self.wait_for(30)
            self.server.stop()
            self.server.start()
            self.assertEqual(self.count(), 30)

    def test_a_wrong_configuration_keeps_the_server_from_starting(self):
        self.config.write_text("inputs: [{pahts: [a]}]\noutputs: [{type: clew}]\n")
        with self.assertRaisesRegex(RuntimeError, r"did you mean \[paths\]"):
            self.server.start()


class Metrics(unittest.TestCase):
    def test_a_collector_shows_its_figures(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        config = folder / "collect.yaml"
        config.write_text(f"""
registry: {folder}/registry.json
metrics: {{listen: "127.0.0.1:0"}}
inputs: [{{paths: ["{folder}/app.log"], parse: plain, processors: [{{dissect: {{field: message, pattern: "%{{a}}|%{{b}}"}}}}]}}]
outputs: [{{type: file, path: "{folder}/out.json"}}]
""")
        (folder / "app.log").write_text("1|2\nbroken\n3|4\n")
        wanted = {'collect_events_total{result="delivered"} 3', "collect_lines_read_total 3", "collect_parse_errors_total 1",
                  'collect_files{state="read"} 1', f'collect_lag_bytes{{path="{folder}/app.log"}} 0',
                  f'collect_lag_seconds{{path="{folder}/app.log"}} 0', 'collect_failures_total{reason="no_match",step="dissect",tag=""} 1'}
        with Listening(config, until="metrics are shown") as collector:
            metrics, until = set(), time.monotonic() + OPEN_SECONDS_MAX
            # Each has its own moment.
            while not wanted <= metrics and time.monotonic() < until:
                with urllib.request.urlopen(f"http://127.0.0.1:{collector.ports[0]}/metrics", timeout=60) as page:
                    metrics = set(page.read().decode().splitlines())
            self.assertLessEqual(wanted, metrics)
            collector.stop()


if __name__ == "__main__":
    unittest.main()
