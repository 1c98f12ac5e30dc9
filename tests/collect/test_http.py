"""Events over HTTP: JSON, lines of text, a client of Elasticsearch's `_bulk`, and OpenTelemetry's own SDK."""

import concurrent.futures
import gzip
import json
import logging
import pathlib
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from opensearchpy import OpenSearch, helpers
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource

from .bulk_server import BulkServer
from .listening import Listening
from .test_routing import LinesServer

CONFIG = """\
registry: {folder}/registry.json
host: web1
inputs:
  - {{type: http, listen: "127.0.0.1:0", body_bytes_max: 100000, parse: plain, timeout_ms: 600000}}
outputs:
  - {{type: opensearch, url: "{url}"}}
"""


class Http(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.server = self.enterContext(BulkServer())
        self.config = self.folder / "collect.yaml"
        self.config.write_text(CONFIG.format(folder=self.folder, url=self.server.url))
        self.collector = self.enterContext(Listening(self.config))
        self.url = f"http://127.0.0.1:{self.collector.ports[0]}"

    def post(self, path, body, content_type, **headers):
        """The status, the headers and the body of the answer."""
        headers = {"Content-Type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.headers, refused.read()

    def documents(self):
        """What was delivered, by message."""
        return {document["message"]: document for document in self.server.documents.values()}

    def test_what_is_answered_is_delivered(self):
        status, _, _ = self.post("/", b'{"message":"one","n":1}\n{"message":"two","event":{"dataset":"shop"}}\n',
                                 "application/x-ndjson")
        self.assertEqual(status, 200)
        self.assertEqual(set(self.documents()), {"one", "two"})
        self.post("/any", gzip.compress(b'[{"message":"three"},\n{"message":"four"}]'), "application/json",
                  Content_Encoding="gzip")
        self.post("/", b"five\nsix\r\n\n2026-01-02T03:04:05Z ERROR seven", "text/plain")
        found = self.documents()
        self.assertEqual(len(found), 7)
        self.assertEqual(found["one"]["event"], {"dataset": "json"})
        self.assertEqual(found["two"]["event"], {"dataset": "shop"})
        self.assertIn("@timestamp", found["three"])
        seven = found["2026-01-02T03:04:05Z ERROR seven"]
        self.assertEqual((seven["@timestamp"], seven["log"]["level"], seven["log"]["source"]),
                         ("2026-01-02T03:04:05.000Z", "error", {"address": "127.0.0.1"}))

    def test_wrong_requests_are_refused_and_broken_lines_kept(self):
        self.assertEqual(self.post("/", b"x" * 100001, "text/plain")[0], 413)
        # More than fits what lies between the two: it is read nevertheless, so that the answer arrives.
        self.assertEqual(self.post("/", b"x" * 20_000_000, "text/plain")[0], 413)
        self.assertEqual(self.post("/", gzip.compress(b"x" * 100001), "text/plain", Content_Encoding="gzip")[0], 413)
        self.assertEqual(self.post("/", b"not gzip", "text/plain", Content_Encoding="gzip")[0], 400)
        self.assertEqual(self.post("/", b"x", "text/plain", Content_Encoding="br")[0], 415)
        self.assertEqual(self.post("/", b"[1]", "application/json")[0], 400)
        self.assertEqual(self.post("/_search", b"{}", "application/json")[0], 404)
        self.assertEqual(self.post("/v1/logs", b"\xff", "application/x-protobuf")[0], 400)
        self.assertEqual(self.server.documents, {})
        self.assertEqual(self.post("/", b'{"message":"good"}\n{broken\n', "application/x-ndjson")[0], 200)
        self.assertEqual(self.documents()["{broken"]["event"], {"dataset": "json", "parse_error": True})
        self.assertIn("1 lines their parser could not take", self.collector.stop())

    def test_a_client_of_bulk_is_answered_item_by_item(self):
        with OpenSearch(self.url, timeout=60) as client:
            self.assertEqual(client.info()["version"]["number"], "8.11.0")
            actions = [{"_op_type": "create", "_index": "shop", "_id": str(n), "message": f"event {n}"} for n in range(1000)]
            done, failed = helpers.bulk(client, actions, chunk_size=300, raise_on_error=False)
            self.assertEqual((done, failed), (1000, []))
            self.assertEqual(len(self.server.documents), 1000)
            # What was named by its sender and comes again is known.
            helpers.bulk(client, actions[:10])
            self.assertEqual(len(self.server.documents), 1000)
            self.assertEqual(self.server.documents["7"]["event"], {"dataset": "shop"})
            done, failed = helpers.bulk(client, [{"_op_type": "delete", "_index": "shop", "_id": "1"}], raise_on_error=False)
            self.assertEqual((done, failed[0]["delete"]["status"]), (0, 400))

    def test_clients_of_elasticsearch_take_its_answers(self):
        """They look for its mark on every answer, send members of their own behind an action, and refresh behind the last one."""
        body = b'{"index":{"_index":"shop","pipeline":null},"attempts":0}\n{"message":"one"}\n'
        for path, sent, expected in (
            ("/_bulk", body, 200), ("/_bulk", b"{}\n", 400), ("/shop/_refresh", b"", 200), ("/_refresh", b"", 200), ("/_search", b"{}", 404),
        ):
            status, headers, _ = self.post(path, sent, "application/x-ndjson")
            self.assertEqual((status, headers["X-Elastic-Product"]), (expected, "Elasticsearch"), path)
        self.assertEqual(list(self.documents()), ["one"])

    def test_opentelemetrys_sdk_sends_its_logs(self):
        resource = Resource.create({"service.name": "shop", "team": "blue", "deployment.environment": "test"})
        exporters = {
            "http": HttpExporter(endpoint=self.url + "/v1/logs", timeout=60),
            "gzip": HttpExporter(endpoint=self.url + "/v1/logs", compression=Compression.Gzip, timeout=60),
            "grpc": GrpcExporter(endpoint=self.url, insecure=True, timeout=60),
        }
        for name, exporter in exporters.items():
            with self.subTest(name):
                provider = LoggerProvider(resource=resource)
                provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
                logger = logging.Logger(f"shop.{name}")
                logger.addHandler(LoggingHandler(logger_provider=provider))
                try:
                    raise KeyError("cart")
                except KeyError:
                    logger.exception("%s broke", name, extra={"http.request.method": "GET", "items": 3})
                provider.shutdown()
                document = self.documents()[f"{name} broke"]
                self.assertEqual(document["log"]["level"], "error")
                self.assertEqual(document["log"]["logger"], f"shop.{name}")
                self.assertEqual(document["service"]["name"], "shop")
                self.assertEqual(document["service"]["environment"], "test")
                self.assertEqual(document["labels"], {"team": "blue", "items": 3})
                self.assertEqual(document["http"], {"request": {"method": "GET"}})
                self.assertEqual((document["error"]["type"], document["error"]["message"]), ("KeyError", "cart"))
                self.assertIn("Traceback", document["error"]["stack_trace"])
                self.assertEqual(document["event"], {"dataset": "otlp", "severity": 17})

    def test_json_of_opentelemetry_is_taken(self):
        record = {"timeUnixNano": "1767323045678000000", "body": {"stringValue": "hello"}, "severityText": "Warn"}
        body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).encode()
        status, headers, answer = self.post("/v1/logs", body, "application/json")
        self.assertEqual((status, headers["Content-Type"], json.loads(answer)), (200, "application/json", {}))
        self.assertEqual(self.documents()["hello"]["@timestamp"], "2026-01-02T03:04:05.678Z")


class Failing(unittest.TestCase):
    def test_events_outlive_an_output_that_fails(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        server = self.enterContext(BulkServer(seed=3, failing=0.3))
        config = folder / "collect.yaml"
        config.write_text(CONFIG.format(folder=folder, url=server.url))
        collector = self.enterContext(Listening(config))
        with OpenSearch(f"http://127.0.0.1:{collector.ports[0]}", timeout=600) as client:
            actions = ({"_op_type": "create", "_index": "shop", "message": f"event {n}"} for n in range(3000))
            for done, _ in helpers.parallel_bulk(client, actions, thread_count=4, chunk_size=50):
                self.assertTrue(done)
        collector.stop()
        messages = [document["message"] for document in server.documents.values()]
        self.assertEqual(sorted(messages), sorted(f"event {n}" for n in range(3000)))

    def test_who_waits_for_what_is_not_delivered_is_told_so_at_the_stop(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        server = self.enterContext(LinesServer([503] * 10_000))
        config = folder / "collect.yaml"
        config.write_text(f"""
registry: {folder}/registry.json
inputs: [{{type: http, listen: "127.0.0.1:0", parse: plain}}]
outputs: [{{type: http, url: "{server.url}"}}]
""")
        collector = self.enterContext(Listening(config))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            url = f"http://127.0.0.1:{collector.ports[0]}/"
            asked = pool.submit(urllib.request.urlopen, url, data=b"one", timeout=60)
            while len(server.statuses) == 10_000:
                time.sleep(0.01)
            self.assertIn("could not be delivered before the stop", collector.stop())
            refused = asked.exception(60)
        self.assertEqual((refused.code, refused.headers["Retry-After"]), (503, "1"))
        refused.close()


if __name__ == "__main__":
    unittest.main()
