"""Traces: a client's `traceparent` goes on through slow logs, profiles and spans; spans arrive at a receiver of OTLP, by gRPC
and by HTTP, and a receiver that is away holds nobody up."""

import collections
import concurrent.futures
import http.server
import json
import queue
import pathlib
import socket
import ssl
import tempfile
import threading
import time
import unittest
import urllib.request

import grpc
from collect.certificates import Authority
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from .clew_server import CUT_OFF, ClewServer

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADERS = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=1"}
WAIT_SECONDS_MAX = 60


class Received:
    """Spans as they come, with the attributes of whoever sent them."""

    def __init__(self):
        self.arrivals = queue.Queue()
        self.spans = []

    def take(self, request):
        for resource in request.resource_spans:
            service = attributes(resource.resource.attributes)
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.arrivals.put((service, span))

    def until(self, enough):
        """All spans so far, once they are enough."""
        end = time.monotonic() + WAIT_SECONDS_MAX
        while not enough(self.spans):
            self.spans.append(self.arrivals.get(timeout=max(0.0, end - time.monotonic())))
        return self.spans


def attributes(pairs):
    value = lambda value: value.string_value if value.WhichOneof("value") == "string_value" else value.int_value
    return {pair.key: value(pair.value) for pair in pairs}


class GrpcReceiver(Received, trace_service_pb2_grpc.TraceServiceServicer):
    """With the files of a certificate and its key it wants TLS; with an authority, clients of its."""

    protocol = "grpc"

    def __init__(self, files=None, authority=None):
        super().__init__()
        self.files, self.authority = files, authority

    def __enter__(self):
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(self, self.server)
        if self.files:
            certificate, key = (file.read_bytes() for file in self.files)
            authority = self.authority and self.authority.certificate.read_bytes()
            secure = grpc.ssl_server_credentials([(key, certificate)], authority, require_client_auth=authority is not None)
            self.endpoint = f"https://127.0.0.1:{self.server.add_secure_port('127.0.0.1:0', secure)}"
        else:
            self.endpoint = f"http://127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()
        return self

    def __exit__(self, *_):
        self.server.stop(None).wait()

    def Export(self, request, context):
        self.take(request)
        return trace_service_pb2.ExportTraceServiceResponse()


class HttpReceiver(Received):
    protocol = "http/protobuf"

    def __init__(self, files=None):
        super().__init__()
        self.files = files

    def __enter__(self):
        received = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                assert self.path == "/v1/traces" and self.headers["content-type"] == "application/x-protobuf"
                body = self.rfile.read(int(self.headers["content-length"]))
                received.take(trace_service_pb2.ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"
        if self.files:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.files)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
            self.endpoint = self.endpoint.replace("http:", "https:")
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Traces(unittest.TestCase):
    def serve(self, **env):
        return self.enterContext(ClewServer(env={"CLEW_LOGGING__FORMAT": "json", **env}))

    def traced(self, receiver, **env):
        return self.serve(CLEW_TRACING__OTLP__ENDPOINT=receiver.endpoint, CLEW_TRACING__OTLP__PROTOCOL=receiver.protocol, **env)

    def ask(self, server, method, path, body=None, headers=None):
        """The answer and its headers."""
        data = None if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers = {"content-type": "application/json", **(headers or {})}
        request = urllib.request.Request(server.url + path, data=data, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read()), answer.headers

    def fill(self, server, headers=None):
        self.ask(server, "PUT", "/books", {"settings": {"number_of_shards": 2}})
        lines = [line for number in range(20) for line in ({"index": {"_id": str(number)}}, {"t": f"fox {number}"})]
        body = "".join(json.dumps(line) + "\n" for line in lines)
        self.ask(server, "POST", "/books/_bulk?refresh=true", body, headers)

    def check_request_and_shards(self, receiver, **env):
        server = self.traced(receiver, CLEW_TRACING__SERVICE_NAME="shelf", CLEW_TRACING__SAMPLE_RATIO="0", **env)
        self.fill(server, HEADERS)
        self.ask(server, "PUT", "/books/_settings", {"index.search.slowlog.threshold.query.warn": "0ms"})
        before = time.time_ns()
        _, headers = self.ask(server, "POST", "/books/_search", {"query": {"match": {"t": "fox"}}}, HEADERS)
        after = time.time_ns()
        requests = lambda spans: [span for _, span in spans if span.kind == span.SPAN_KIND_SERVER]
        # Two requests, and the parts of both.
        spans = receiver.until(lambda spans: len(requests(spans)) == 2 and len(spans) >= 9)
        for service, span in spans:
            self.assertEqual(service["service.name"], "shelf")
            self.assertEqual((span.trace_id.hex(), span.trace_state), (TRACE, "vendor=1"))
        bulk, search = requests(spans)
        self.assertEqual((bulk.name, search.name), ("POST /{index}/_bulk", "POST /{index}/_search"))
        for request in (bulk, search):
            self.assertEqual(request.parent_span_id.hex(), PARENT)
            told = attributes(request.attributes)
            self.assertEqual((told["http.request.method"], told["http.response.status_code"]), ("POST", 200))
            self.assertGreater(told["clew.cpu_us"], 0)
        self.assertEqual(headers["traceresponse"], f"00-{TRACE}-{search.span_id.hex()}-01")
        self.assertTrue(before <= search.start_time_unix_nano <= after)
        # Its end may be told to its client before it is looked at.
        self.assertTrue(search.start_time_unix_nano <= search.end_time_unix_nano <= time.time_ns())
        parts = lambda request: [span for _, span in spans if span.parent_span_id == request.span_id]
        self.assertEqual(collections.Counter(span.name for span in parts(bulk)), {"write": 2, "durable": 1})
        self.assertEqual(collections.Counter(span.name for span in parts(search)), {"query": 2, "fetch": 2})
        for span in parts(bulk) + parts(search):
            told = attributes(span.attributes)
            if span.name != "durable":
                self.assertEqual(told["clew.index"], "books")
                self.assertIn(told["clew.shard"], (0, 1))
            self.assertGreater(span.end_time_unix_nano, span.start_time_unix_nano)
        # The slow log names the same trace, once for each shard.
        self.assertEqual([line["trace_id"] for line in self.slow_searches(server)], [TRACE] * 2)

    def slow_searches(self, server):
        lines = [json.loads(line) for line in server.data.with_suffix(".log").read_text().splitlines()]
        return [line for line in lines if line["target"] == "slowlog.search"]

    def test_a_search_and_a_bulk_are_told_by_grpc(self):
        with GrpcReceiver() as receiver:
            self.check_request_and_shards(receiver)

    def test_a_search_and_a_bulk_are_told_by_http(self):
        with HttpReceiver() as receiver:
            self.check_request_and_shards(receiver)

    def folder(self):
        return pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_spans_go_over_tls_by_grpc_to_who_is_trusted_and_asks_for_a_certificate(self):
        authority = Authority(self.folder())
        certificate, key = authority.issue("clew")
        with GrpcReceiver(authority.issue("receiver"), authority) as receiver:
            self.check_request_and_shards(receiver, CLEW_TRACING__OTLP__TLS__CA=str(authority.certificate),
                                          CLEW_TRACING__OTLP__TLS__CERTIFICATE=str(certificate), CLEW_TRACING__OTLP__TLS__KEY=str(key))

    def test_spans_go_over_tls_by_http_to_who_is_trusted(self):
        authority = Authority(self.folder())
        with HttpReceiver(authority.issue("receiver")) as receiver:
            self.check_request_and_shards(receiver, CLEW_TRACING__OTLP__TLS__CA=str(authority.certificate))

    def test_nothing_is_sent_to_who_is_not_trusted(self):
        files = Authority(self.folder(), "other").issue("receiver")
        authority = Authority(self.folder())
        for receiver in (GrpcReceiver(files), HttpReceiver(files)):
            with self.subTest(receiver.protocol), receiver:
                server = self.traced(receiver, CLEW_TRACING__OTLP__TLS__CA=str(authority.certificate))
                while self.figures(server)["trace_spans_failed_total"] == 0:
                    self.ask(server, "GET", "/")
                self.assertEqual(self.figures(server)["trace_spans_sent_total"], 0)
                self.assertTrue(receiver.arrivals.empty())

    def test_what_is_wrong_with_tls_is_told_at_the_start(self):
        folder = self.folder()
        (folder / "empty.pem").write_text("")
        for env, told in [
            ({"ENDPOINT": "https://127.0.0.1:1", "TLS__CA": str(folder / "none.pem")}, "none.pem"),
            ({"ENDPOINT": "https://127.0.0.1:1", "TLS__CA": str(folder / "empty.pem")}, "empty.pem"),
            ({"ENDPOINT": "http://127.0.0.1:1", "TLS__CA": "x.pem"}, "begins with [https://]"),
            ({"ENDPOINT": "ftp://127.0.0.1:1"}, "must begin with [http://] or [https://]"),
        ]:
            server = ClewServer(env={f"CLEW_TRACING__OTLP__{name}": value for name, value in env.items()})
            with self.assertRaises(RuntimeError) as caught:
                server.start()
            self.assertIn(told, str(caught.exception))
            server.kill()
            server.__exit__()

    def test_opentelemetrys_variables_are_taken_and_what_is_left_is_sent_at_the_stop(self):
        with GrpcReceiver() as receiver:
            variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint, "OTEL_SERVICE_NAME": "by-variable"}
            with ClewServer(env=variables) as server:
                _, headers = self.ask(server, "GET", "/")
                trace = headers["traceresponse"].split("-")[1]
            # The server has stopped; nothing is sent after that.
            spans = receiver.until(lambda spans: len(spans) > 0 and receiver.arrivals.empty())
            told = [(service["service.name"], span.name) for service, span in spans if span.trace_id.hex() == trace]
            self.assertEqual(told, [("by-variable", "GET /")])

    def test_a_receiver_that_does_not_answer_holds_nobody_up_and_what_it_misses_is_counted(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
            server = self.serve(CLEW_TRACING__OTLP__ENDPOINT=endpoint, CLEW_TRACING__QUEUE_SPANS_MAX="4")
            self.fill(server)
            # The first are taken out of the queue to be sent, which the receiver holds up.
            while self.figures(server)["trace_spans_dropped_total"] == 0:
                self.ask(server, "POST", "/books/_search", {"query": {"match": {"t": "fox"}}})
            figures = self.figures(server)
            self.assertEqual(figures["trace_spans_sent_total"], 0)
            self.assertGreater(figures["trace_spans_total"], figures["trace_spans_dropped_total"])
            self.assertNotIn(CUT_OFF, server.stop())

    def test_a_receiver_that_is_away_is_told_once(self):
        with GrpcReceiver() as gone:
            pass
        server = self.traced(gone)
        while self.figures(server)["trace_spans_failed_total"] < 2:
            self.ask(server, "GET", "/")
        self.assertEqual(server.log_tail().count("spans cannot be sent"), 1)

    def figures(self, server):
        with urllib.request.urlopen(server.url + "/_metrics", timeout=60) as answer:
            lines = [line.split() for line in answer.read().decode().splitlines() if line.startswith("trace_")]
        return {name: float(value) for name, value in lines}

    def test_without_a_receiver_a_trace_still_goes_into_slow_logs_and_the_answer(self):
        server = self.serve()
        self.fill(server)
        self.assertEqual(self.figures(server), {})
        _, headers = self.ask(server, "GET", "/")
        self.assertNotIn("traceresponse", headers)
        _, headers = self.ask(server, "GET", "/", headers={"traceparent": "00-nothing-01"})
        self.assertNotIn("traceresponse", headers)
        self.ask(server, "PUT", "/books/_settings", {"index.search.slowlog.threshold.query.warn": "0ms"})
        _, headers = self.ask(server, "POST", "/books/_search", {"query": {"match": {"t": "fox"}}}, HEADERS)
        self.assertRegex(headers["traceresponse"], f"^00-{TRACE}-[0-9a-f]{{16}}-00$")
        self.ask(server, "POST", "/books/_search", {"query": {"match": {"t": "fox"}}})
        traces = [line["trace_id"] for line in self.slow_searches(server)]
        self.assertEqual(traces[:2], [TRACE, TRACE])
        # One is made where the client has none, the same for all that the request is told by.
        self.assertRegex(traces[2], "^[0-9a-f]{32}$")
        self.assertEqual(traces[2:], [traces[2]] * 2)
        self.assertNotEqual(traces[2], TRACE)
