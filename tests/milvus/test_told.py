"""What is told of Milvus' calls beside their answers, whichever way they came: figures, where their time went, spans, slow lines."""

import json
import re
import unittest
import urllib.error
import urllib.request

import grpc
from opensearch.clew_server import ClewServer
from opensearch.test_traces import HEADERS, PARENT, TRACE, GrpcReceiver, attributes

SERVICE = "/milvus.proto.milvus.MilvusService/"
# The third field of a message that names a collection.
BOOKS = b"\x1a\x05books"
PARTS = ["cpu", "run_queue", "queue", "blocked", "wall"]


class Told(unittest.TestCase):
    def serve(self, **env):
        self.server = self.enterContext(ClewServer(env={"CLEW_LOGGING__FORMAT": "json", **env}))
        self.channel = grpc.insecure_channel(self.server.grpc_address)
        self.addCleanup(self.channel.close)

    def rest(self, path, body, **headers):
        """The answer's code, and its headers."""
        request = urllib.request.Request(f"http://{self.server.grpc_address}/v2/vectordb/{path}", json.dumps(body).encode(),
                                         {"content-type": "application/json", **headers}, method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())["code"], answer.headers

    def call(self, name, request=BOOKS, metadata=()):
        """The first metadata of an answer to a call of gRPC."""
        call = self.channel.unary_unary(SERVICE + name, request_serializer=bytes, response_deserializer=bytes)
        _, done = call.with_call(request, metadata=metadata, timeout=60)
        return dict(done.initial_metadata())

    def fill(self):
        rows = [{"id": number, "vector": [number, 1.0]} for number in range(20)]
        for path, body in [
            ("collections/create", {"collectionName": "books", "dimension": 2}),
            ("entities/insert", {"collectionName": "books", "data": rows}),
            ("entities/upsert", {"collectionName": "books", "data": rows[:3]}),
            ("entities/search", {"collectionName": "books", "data": [[3.0, 1.0]], "annsField": "vector", "limit": 3}),
            ("entities/query", {"collectionName": "books", "filter": "id < 3"}),
            ("entities/get", {"collectionName": "books", "id": [1]}),
            ("entities/delete", {"collectionName": "books", "filter": "id == 7"}),
        ]:
            self.assertEqual(self.rest(path, body)[0], 0, path)

    def metrics(self, name):
        """The series of a metric: their labels and values."""
        with urllib.request.urlopen(self.server.url + "/_metrics", timeout=60) as answer:
            found = re.findall(rf"(?m)^{name}{{(.*)}} (\S+)$", answer.read().decode())
        labels = lambda text: dict(re.findall(r'(\w+)="([^"]*)"', text))
        return [(labels(text), float(value)) for text, value in found]

    def test_calls_are_counted_by_class_and_their_time_is_taken_apart(self):
        # Every call is told while slow ones may be.
        self.serve()
        self.slow("1h")
        self.fill()
        self.call("HasCollection")
        self.assertEqual(self.rest("entities/search", {"collectionName": "nothing"})[0], 100)
        with self.assertRaises(grpc.RpcError):
            self.call("NoSuchCall")
        self.assertEqual(self.rest("nothing/here", {})[0], 3000)
        counted = {(labels["call"], labels["status"]): value for labels, value in self.metrics("milvus_requests_total")}
        self.assertEqual(counted, {
            ("insert", "ok"): 1, ("upsert", "ok"): 1, ("search", "ok"): 1, ("query", "ok"): 1, ("get", "ok"): 1, ("delete", "ok"): 1,
            ("admin", "ok"): 2, ("search", "4xx"): 1, ("none", "4xx"): 2,
        })
        times = {labels["call"]: value for labels, value in self.metrics("milvus_request_seconds_count")}
        self.assertEqual((times["search"], times["admin"]), (2, 2))
        sums = {}
        for labels, value in self.metrics("milvus_request_part_seconds_sum"):
            sums.setdefault((labels["call"], labels["kind"]), {})[labels["part"]] = value
        self.assertEqual(set(sums), {(call, "rest") for call in ("insert", "upsert", "search", "query", "get", "delete", "admin", "none")}
                         | {("admin", "grpc"), ("none", "grpc")})
        for key, parts in sums.items():
            self.assertEqual(set(parts), set(PARTS))
            wall = parts.pop("wall")
            self.assertAlmostEqual(sum(parts.values()) / wall, 1, delta=0.01, msg=key)
            self.assertGreater(parts["cpu"], 0, key)

    def test_calls_are_spans_of_their_clients_traces_and_have_their_shards_as_parts(self):
        with GrpcReceiver() as receiver:
            self.serve(CLEW_TRACING__OTLP__ENDPOINT=receiver.endpoint, CLEW_TRACING__SAMPLE_RATIO="0")
            self.fill()
            search = {"collectionName": "books", "data": [[3.0, 1.0]], "annsField": "vector", "limit": 3, "outputFields": ["vector"]}
            _, rest = self.rest("entities/search", search, **HEADERS)
            _, insert = self.rest("entities/insert", {"collectionName": "books", "data": [{"id": 99, "vector": [9.0, 1.0]}]}, **HEADERS)
            told = self.call("HasCollection", metadata=tuple(HEADERS.items()))
            is_call = lambda span: span.kind == span.SPAN_KIND_SERVER
            spans = [span for _, span in receiver.until(lambda spans: sum(is_call(span) for _, span in spans) == 3)]
            by_name = {span.name: span for span in spans if is_call(span)}
            for answer, names in ((rest, {"query", "fetch"}), (insert, {"write", "durable"}), (told, set())):
                parent = answer["traceresponse"].split("-")[2]
                parts = [span for span in spans if span.parent_span_id.hex() == parent]
                self.assertEqual({span.name for span in parts}, names)
                for span in parts:
                    says = attributes(span.attributes)
                    self.assertEqual(span.name != "durable", "clew.index" in says)
                    # A search by vectors asks all shards at once, a write each of its own.
                    self.assertEqual(says.get("clew.shards"), 1 if span.name in ("query", "fetch") else None)
                    self.assertLessEqual(span.start_time_unix_nano, span.end_time_unix_nano)
            search = by_name["POST /v2/vectordb/entities/search"]
            call = by_name["milvus.proto.milvus.MilvusService/HasCollection"]
            for span, answer in ((search, rest["traceresponse"]), (call, told["traceresponse"])):
                self.assertEqual((span.trace_id.hex(), span.parent_span_id.hex(), span.kind), (TRACE, PARENT, span.SPAN_KIND_SERVER))
                self.assertEqual(answer, f"00-{TRACE}-{span.span_id.hex()}-01")
            attributes_ = attributes(search.attributes)
            self.assertEqual([attributes_[name] for name in ("http.route", "clew.milvus_code", "clew.collection")],
                             ["/v2/vectordb/entities/search", 0, "books"])
            self.assertGreater(attributes_["clew.cpu_us"], 0)
            attributes_ = attributes(call.attributes)
            self.assertEqual([attributes_[name] for name in ("rpc.system", "rpc.service", "rpc.method")],
                             ["grpc", "milvus.proto.milvus.MilvusService", "HasCollection"])

    def slow(self, limit, level="warn"):
        body = {"transient": {f"cluster.milvus.request.slowlog.threshold.{level}": limit}}
        request = urllib.request.Request(self.server.url + "/_cluster/settings", json.dumps(body).encode(),
                                         {"content-type": "application/json"}, method="PUT")
        urllib.request.urlopen(request, timeout=60).read()

    def lines(self):
        log = self.server.data.with_suffix(".log").read_text().splitlines()
        return [line for line in map(json.loads, log) if line["target"] == "slowlog.milvus"]

    def test_slow_calls_are_told_from_the_time_that_a_setting_says(self):
        self.serve()
        self.fill()
        self.slow("1h")
        self.search()
        self.assertEqual(self.lines(), [])
        self.slow("0ms", "info")
        self.search()
        self.call("HasCollection", metadata=tuple(HEADERS.items()))
        rest, call = self.lines()
        fields = lambda line: [line[name] for name in ("level", "call", "way", "collection", "code")]
        self.assertEqual(fields(rest), ["INFO", "entities/search", "rest", "books", 0])
        self.assertEqual(fields(call), ["INFO", "HasCollection", "grpc", "books", 0])
        self.assertEqual(call["trace_id"], TRACE)
        self.assertRegex(rest["trace_id"], "^[0-9a-f]{32}$")
        for line in (rest, call):
            self.assertAlmostEqual(line["wall_us"], sum(line[f"{part}_us"] for part in PARTS if part != "wall"), delta=4)
            self.assertGreater(line["cpu_us"], 0)
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.slow("soon")
        self.assertEqual(caught.exception.code, 400)

    def search(self):
        search = {"collectionName": "books", "data": [[3.0, 1.0]], "annsField": "vector", "limit": 3}
        self.assertEqual(self.rest("entities/search", search)[0], 0)
