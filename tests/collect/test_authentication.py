"""An input that asks who sends: clients of Elasticsearch and OpenTelemetry with right and wrong credentials."""

import logging
import os
import pathlib
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import grpc
from opensearchpy import OpenSearch, helpers
from opensearchpy.exceptions import AuthenticationException
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpExporter
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor

from .bulk_server import BulkServer
from .listening import BINARY, Listening

CONFIG = """\
registry: {folder}/registry.json
inputs:
  - type: http
    listen: "127.0.0.1:0"
    parse: plain
    authentication:
      - {{user: shipper, password: "${{CLEW_TEST_PASSWORD}}"}}
      - {{token_file: {folder}/token}}
      - {{api_key: "id:key"}}
outputs:
  - {{type: opensearch, url: "{url}"}}
"""


class Authentication(unittest.TestCase):
    def setUp(self):
        folder = self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.server = self.enterContext(BulkServer())
        (folder / "token").write_text("t0ken\n")
        config = folder / "collect.yaml"
        config.write_text(CONFIG.format(folder=folder, url=self.server.url))
        os.environ["CLEW_TEST_PASSWORD"] = "0815"
        self.addCleanup(os.environ.pop, "CLEW_TEST_PASSWORD")
        self.collector = self.enterContext(Listening(config))
        self.url = f"http://127.0.0.1:{self.collector.ports[0]}"

    def bulk(self, message, **login):
        with OpenSearch(self.url, timeout=60, **login) as client:
            client.info()
            return helpers.bulk(client, [{"_op_type": "create", "_index": "shop", "message": message}])

    def export(self, message, exporter):
        provider = LoggerProvider()
        provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        logger = logging.Logger("test")
        logger.addHandler(LoggingHandler(logger_provider=provider))
        logger.error(message)
        provider.shutdown()

    def test_who_is_known_is_let_in_and_others_are_told_in_their_own_words(self):
        self.assertEqual(self.bulk("by password", http_auth=("shipper", "0815")), (1, []))
        self.assertEqual(self.bulk("by key", headers={"Authorization": "ApiKey aWQ6a2V5"}), (1, []))
        bearer = {"authorization": "Bearer t0ken"}
        self.export("by http", HttpExporter(endpoint=self.url + "/v1/logs", headers=bearer, timeout=60))
        self.export("by grpc", GrpcExporter(endpoint=self.url, insecure=True, headers=bearer, timeout=60))
        expected = {"by password", "by key", "by http", "by grpc"}
        self.assertEqual({document["message"] for document in self.server.documents.values()}, expected)
        for login in ({}, {"http_auth": ("shipper", "815")}, {"headers": {"Authorization": "ApiKey aWQ6a2V4"}}):
            with self.assertRaises(AuthenticationException) as refused:
                self.bulk("never", **login)
            self.assertEqual(refused.exception.status_code, 401)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(self.url + "/", data=b"never", timeout=60)
        with refused.exception as answer:
            self.assertEqual(answer.code, 401)
            self.assertEqual(answer.headers.get_all("WWW-Authenticate"),
                             ['Basic realm="clew", charset="UTF-8"', 'Bearer realm="clew"', "ApiKey"])
        with grpc.insecure_channel(self.url.removeprefix("http://")) as channel:
            service = logs_service_pb2_grpc.LogsServiceStub(channel)
            with self.assertRaises(grpc.RpcError) as refused:
                service.Export(logs_service_pb2.ExportLogsServiceRequest(), timeout=60)
            self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
        self.collector.stop()
        self.assertEqual(len(self.server.documents), len(expected))

    def test_an_output_says_who_it_is(self):
        (self.folder / "password").write_text("0815\n")
        (self.folder / "wrong").write_text("815\n")
        config = self.folder / "sender.yaml"

        def send(message, authentication):
            log = self.folder / "sent.log"
            log.write_text(message + "\n")
            config.write_text(f"""
registry: {self.folder}/{message.replace(" ", "-")}.json
inputs: [{{paths: [{log}], parse: plain}}]
outputs: [{{type: opensearch, url: "{self.url}", {authentication}}}]
""")
            command = [BINARY, "collect", "--config", str(config), "--once"]
            return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

        for message, keys in (("by a file", f"user: shipper, password_file: {self.folder}/password"),
                              ("by a token", "token: t0ken"),
                              ("by a key", "api_key: 'id:key'")):
            done = send(message, f"authentication: {{{keys}}}")
            self.assertEqual(done.returncode, 0, done.stderr)
        expected = {"by a file", "by a token", "by a key"}
        self.assertEqual({document["message"] for document in self.server.documents.values()}, expected)
        done = send("never", f"authentication: {{user: shipper, password_file: {self.folder}/wrong}}")
        self.assertEqual((done.returncode, "status 401" in done.stderr), (1, True), done.stderr)
        done = send("never", "api_key: k, authentication: {token: t}")
        self.assertIn("takes one of [api_key] and [authentication]", done.stderr)


if __name__ == "__main__":
    unittest.main()
