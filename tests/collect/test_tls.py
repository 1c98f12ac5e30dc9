"""Inputs and outputs over TLS, with clients of Python's `ssl`, of OpenTelemetry, and `curl`'s kind of server."""

import logging
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import unittest.mock
import urllib.request

from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
import grpc

from .bulk_server import BulkServer
from .certificates import Authority
from .listening import Listening

BINARY = os.environ.get("CLEW_BIN", "clew")
CONFIG = """\
registry: {folder}/registry.json
host: web1
inputs:
  - {{type: syslog, listen: "tcp://127.0.0.1:0", tls: {{{tls}}}}}
  - {{type: http, listen: "127.0.0.1:0", parse: plain, tls: {{{tls}}}}}
outputs:
  - {{type: opensearch, url: "{url}"{output}}}
"""


class SecureBulkServer(BulkServer):
    """The same over TLS."""

    def __init__(self, certificate, key, authority=None):
        super().__init__()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        if authority:
            self.context.load_verify_locations(authority)
            self.context.verify_mode = ssl.CERT_REQUIRED

    def __enter__(self):
        super().__enter__()
        self.http.socket = self.context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.url = self.url.replace("http://", "https://")
        return self


class Tls(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.authority = Authority(self.folder)
        self.certificate, self.key = self.authority.issue("server")
        self.config = self.folder / "collect.yaml"

    def configure(self, url, tls="", output="", more=""):
        tls = f"certificate: {self.certificate}, key: {self.key}{tls}"
        self.config.write_text(CONFIG.format(folder=self.folder, url=url, tls=tls, output=output) + more)

    def start(self, server, tls="", output="", more=""):
        self.configure(server.url, tls, output, more)
        self.server = server
        return self.enterContext(Listening(self.config))

    def context(self, identity=None):
        context = ssl.create_default_context(cafile=self.authority.certificate)
        if identity:
            context.load_cert_chain(*identity)
        return context

    def connect(self, port, context):
        return context.wrap_socket(socket.create_connection(("127.0.0.1", port), 60), server_hostname="localhost")

    def messages(self):
        return {document["message"] for document in self.server.documents.values()}

    def test_syslog_and_opentelemetry_come_over_tls(self):
        collector = self.start(self.enterContext(BulkServer()))
        syslog, http = collector.ports
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context()
            context.minimum_version = context.maximum_version = version
            with self.connect(syslog, context) as sender:
                self.assertEqual(sender.version(), version.name.replace("TLSv1_", "TLSv1."))
                message = f"<34>1 2026-01-02T03:04:05Z h app - - - by {version.name}"
                sender.sendall(f"{len(message)} {message}".encode())
        self.assertTrue(self.server.wait_for(2))
        found = list(self.server.documents.values())
        self.assertEqual({document["process"]["name"] for document in found}, {"app"})
        self.assertEqual({document["log"]["source"]["address"] for document in found}, {"127.0.0.1"})
        url = f"https://localhost:{http}"
        # The exporter's client of HTTP takes these for better than what it is told.
        self.enterContext(unittest.mock.patch.dict(os.environ))
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            os.environ.pop(name, None)
        exporters = {
            "http": HttpExporter(endpoint=url + "/v1/logs", certificate_file=str(self.authority.certificate), timeout=60),
            "grpc": GrpcExporter(endpoint=url, credentials=grpc.ssl_channel_credentials(self.authority.certificate.read_bytes()), timeout=60),
        }
        for name, exporter in exporters.items():
            provider = LoggerProvider()
            provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
            logger = logging.Logger(name)
            logger.addHandler(LoggingHandler(logger_provider=provider))
            logger.error("by %s", name)
            provider.shutdown()
        self.assertLessEqual({"by http", "by grpc"}, self.messages())
        request = urllib.request.Request(url + "/", data=b"by urllib", headers={"Content-Type": "text/plain"})
        with urllib.request.urlopen(request, timeout=60, context=self.context()) as answer:
            self.assertEqual(answer.status, 200)
        self.assertIn("by urllib", self.messages())
        self.assertNotIn("handshakes", collector.stop())

    def test_who_may_not_come_in_does_not_and_is_told_of(self):
        authorities = f", client_ca: {self.authority.certificate}"
        collector = self.start(self.enterContext(BulkServer()), authorities, more='metrics: {listen: "127.0.0.1:0"}\n')
        good, expired = self.authority.issue("client"), self.authority.issue("old", days=-1)
        other_folder = self.folder / "other"
        other_folder.mkdir()
        foreign = Authority(other_folder, "other").issue("client")
        for port in collector.ports:
            for identity in (None, expired, foreign):
                with self.assertRaises(OSError), self.connect(port, self.context(identity)) as sender:
                    # With TLS 1.3 a client finds out after its own side is done.
                    sender.sendall(b"never\n")
                    if not sender.recv(1):
                        raise ConnectionError("closed")
            with socket.create_connection(("127.0.0.1", port), 60) as plain:
                plain.sendall(b"<34>never, and in plain text\n")
                while plain.recv(100):
                    pass
            with socket.create_connection(("127.0.0.1", port), 60) as half:
                half.sendall(b"\x16\x03\x01\x02\x00\x01")
        with self.connect(collector.ports[0], self.context(good)) as sender:
            sender.sendall(b"<34>let in\n")
        self.assertTrue(self.server.wait_for(1))
        # One that was broken off is noticed when it is.
        collector.wait_for("metrics are shown")
        (port,) = re.findall(r"metrics are shown.*?127\.0\.0\.1:(\d+)", "".join(collector.told))
        until, page = time.monotonic() + 60, ""
        while "\ncollect_handshakes_failed_total 10\n" not in page and time.monotonic() < until:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
                page = answer.read().decode()
        told = collector.stop()
        self.assertEqual(self.messages(), {"<34>let in"})
        self.assertIn("a handshake of TLS failed", told)
        self.assertIn("10 handshakes of TLS failed", told)

    def test_an_output_trusts_whom_it_is_told_to(self):
        identity = self.authority.issue("shipper")
        server = self.enterContext(SecureBulkServer(self.certificate, self.key, self.authority.certificate))
        shown = f"certificate: {identity[0]}, key: {identity[1]}"
        collector = self.start(server, output=f", tls: {{ca: {self.authority.certificate}, {shown}}}")
        with self.connect(collector.ports[0], self.context()) as sender:
            sender.sendall(b"<34>sent on\n")
        self.assertTrue(server.wait_for(1))
        collector.stop()
        # Whom the system does not trust is not sent to; what would be sent stays.
        log = self.folder / "a.log"
        log.write_text("a line\n")
        registry = self.folder / "other.json"
        command = [BINARY, "collect", str(log), "--to", server.url, "--registry", str(registry), "--parse", "plain"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            for line in process.stderr:
                if "will be sent again" in line:
                    break
            self.assertIn("UnknownIssuer", line)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            process.stderr.close()
        self.assertEqual(len(server.documents), 1)

    def test_files_that_cannot_be_used_are_told_before_anything_starts(self):
        _, other_key = self.authority.issue("other")
        self.key, key = other_key, self.key
        self.configure("http://127.0.0.1:1")
        for more in ([], ["--dry-run"]):
            done = subprocess.run([BINARY, "collect", "--config", str(self.config), *more], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"line 4: [inputs[0].tls] [certificate] {self.certificate}: does not fit [key] {other_key}", done.stderr)
        self.key = key
        self.configure("http://127.0.0.1:1", output=", tls: {ca: /nowhere}")
        done = subprocess.run([BINARY, "collect", "--config", str(self.config)], capture_output=True, text=True, timeout=60)
        self.assertIn("[outputs[0].tls] secures connections to [url] only if it begins with https://", done.stderr)

    def test_certificates_are_read_again(self):
        collector = self.start(self.enterContext(BulkServer()))
        first = self.shown(collector.ports[0])
        # What does not fit any more changes nothing.
        good = self.certificate.read_bytes()
        self.certificate.write_text("")
        collector.process.send_signal(signal.SIGHUP)
        collector.wait_for("cannot be read again")
        self.assertEqual(self.shown(collector.ports[0]), first)
        self.certificate.write_bytes(good)
        self.authority.issue("server")
        collector.process.send_signal(signal.SIGHUP)
        collector.wait_for("inputs are open", times=2)
        self.assertNotEqual(self.shown(collector.ports[0]), first)
        collector.stop()

    def shown(self, port):
        with self.connect(port, self.context()) as sender:
            return sender.getpeercert(binary_form=True)


if __name__ == "__main__":
    unittest.main()
