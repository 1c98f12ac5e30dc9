"""Clients that lose the answer to a request send it again: what has a name is there once, whichever of the two came first.

The connection is cut when the answer is there and nobody has read it, when everything is sent (the server is at work, or has not
begun), and, by a reset, at the same moment, at which the server may never see the request."""

import json
import select
import socket
import struct

import grpc

from tests.log.stubs import pb, pb_grpc

from .base import FaultTest, eventually
from .client import Client
from .grpc_calls import Call, message

ANSWERED, SENT, RESET = WAYS = ("answered", "sent", "reset")
DOCUMENTS = 300
SECONDS_MAX = 60


def lose(address, way, method, path, body=None):
    """Sends a request, and cuts the connection instead of reading the answer."""
    if isinstance(body, list):
        data, kind = "".join(json.dumps(line) + "\n" for line in body), "application/x-ndjson"
    else:
        data, kind = json.dumps(body) if body is not None else "", "application/json"
    head = (f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(data.encode())}\r\n\r\n")
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=SECONDS_MAX) as connection:
        connection.sendall((head + data).encode())
        if way == ANSWERED:
            assert select.select([connection], [], [], SECONDS_MAX)[0], f"{method} {path}"
        if way == RESET:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class LostReplies(FaultTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve()
        self.client = self.enterContext(self.server.client(SECONDS_MAX))

    def twice(self, way, method, path, body=None, first=(200, 201), again=None):
        """Sends a request whose answer is lost, and again; the answer to that, which must be one of those that may be."""
        lose(self.server.address, way, method, path, body)
        reply = self.client.request(method, path, body)
        again = again or first
        self.assertIn(reply.status, again if way == ANSWERED else (*first, *again), f"{way}: {method} {path}: {reply}")
        # The one that was lost may come after the other.
        eventually(self.is_quiet, "nobody else is connected or at work", SECONDS_MAX)
        return reply.body

    def is_quiet(self):
        metrics = self.client.request("GET", "/_metrics").text.splitlines()
        opened = next(line for line in metrics if line.startswith("http_connections_open"))
        tasks = self.client.done("GET", "/_tasks")["nodes"].values()
        actions = [task["action"] for node in tasks for task in node["tasks"].values()]
        return int(float(opened.split()[-1])) == 1 and not [a for a in actions if "tasks/list" not in a and "tasks/get" not in a]

    def count(self, index):
        self.client.done("POST", f"/{index}/_refresh")
        return self.client.done("GET", f"/{index}/_count")["count"]

    def test_documents_with_ids(self):
        for way in WAYS:
            index = f"i-{way}"
            self.client.done("PUT", f"/{index}", {"settings": {"number_of_shards": 3}})
            lines = [line for n in range(DOCUMENTS) for line in ({"index": {"_id": n}}, {"n": n})]
            items = self.twice(way, "POST", f"/{index}/_bulk", lines)["items"]
            self.assertLessEqual({item["index"]["status"] for item in items}, {200, 201})
            self.assertEqual(self.count(index), DOCUMENTS)
            lines = [line for n in range(DOCUMENTS) for line in ({"create": {"_id": f"c{n}"}}, {"n": n})]
            items = self.twice(way, "POST", f"/{index}/_bulk", lines)["items"]
            statuses = {item["create"]["status"] for item in items}
            self.assertLessEqual(statuses, {409} if way == ANSWERED else {201, 409})
            self.assertEqual(self.count(index), 2 * DOCUMENTS)
            self.twice(way, "PUT", f"/{index}/_create/one", {"n": 1}, (201,), (409,))
            self.assertEqual(self.client.done("GET", f"/{index}/_doc/one")["_version"], 1)
            self.twice(way, "PUT", f"/{index}/_doc/outside?version=5&version_type=external", {"n": 1}, (201,), (409,))
            self.assertEqual(self.client.done("GET", f"/{index}/_doc/outside")["_version"], 5)
            at = self.client.done("GET", f"/{index}/_doc/one")
            position = f"if_seq_no={at['_seq_no']}&if_primary_term={at['_primary_term']}"
            self.twice(way, "POST", f"/{index}/_update/one?{position}", {"script": "ctx._source.n += 1"}, (200,), (409,))
            self.assertEqual(self.client.done("GET", f"/{index}/_doc/one")["_source"], {"n": 2})
            self.twice(way, "DELETE", f"/{index}/_doc/1", None, (200,), (404,))
            self.assertEqual(self.count(index), 2 * DOCUMENTS + 1)
        self.check_well(self.server, self.client)

    def test_copies(self):
        lines = [line for n in range(DOCUMENTS) for line in ({"index": {"_id": n}}, {"n": n})]
        self.client.done("POST", "/from/_bulk?refresh=true", lines)
        for way in WAYS:
            for more in {}, {"op_type": "create"}:
                name = f"copy-{way}-{len(more)}"
                body = {"conflicts": "proceed", "source": {"index": "from", "size": 50}, "dest": {"index": name, **more}}
                task = self.twice(way, "POST", "/_reindex?wait_for_completion=false", body)["task"]
                done = self.client.done("GET", f"/_tasks/{task}?wait_for_completion=true")
                self.assertTrue(done["completed"])
                self.assertEqual(self.count(name), DOCUMENTS)
        self.check_well(self.server, self.client)

    def test_indexes_policies_and_snapshots(self):
        self.client.done("PUT", "/_snapshot/kept", {"type": "fs", "settings": {"location": "kept"}})
        states = [{"name": "s", "actions": [], "transitions": []}]
        policy = {"policy": {"description": "none", "default_state": "s", "states": states}}
        for way in WAYS:
            index, alias = f"log-{way}-1", f"log-{way}"
            self.twice(way, "PUT", f"/{index}", {"aliases": {alias: {"is_write_index": True}}}, (200,), (400,))
            self.client.done("PUT", f"/{alias}/_doc/1", {"n": 1})
            self.twice(way, "PUT", f"/_snapshot/kept/{way}?wait_for_completion=true", {"indices": index}, (200,), (400, 503))
            self.twice(way, "POST", f"/{alias}/_rollover/log-{way}-2", None, (200,), (400,))
            self.assertEqual(len(self.client.done("GET", f"/log-{way}-*")), 2)
            self.twice(way, "PUT", f"/_plugins/_ism/policies/p-{way}", policy, (201,), (409,))
            self.twice(way, "POST", f"/_plugins/_ism/add/{index}", {"policy_id": f"p-{way}"})
        taken = self.client.done("GET", "/_snapshot/kept/_all")["snapshots"]
        self.assertEqual(sorted((one["snapshot"], one["state"]) for one in taken), sorted((way, "SUCCESS") for way in WAYS))
        self.assertEqual(self.client.done("GET", "/_plugins/_ism/explain")["total_managed_indices"], len(WAYS))
        self.assertEqual(self.client.done("GET", "/_plugins/_ism/policies")["total_policies"], len(WAYS))
        self.check_well(self.server, self.client)

    def test_rows_with_keys(self):
        fields = [
            {"fieldName": "id", "dataType": "Int64", "isPrimary": True},
            {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": "2"}},
        ]
        self.milvus = self.enterContext(Client(self.server.grpc, SECONDS_MAX))
        for way in WAYS:
            self.asked("collections/create", way, schema={"fields": fields},
                       indexParams=[{"fieldName": "v", "indexName": "v", "metricType": "L2"}])
            self.asked("collections/load", way)
            for action in "insert", "upsert":
                rows = [{"id": n, "v": [n, 1]} for n in range(DOCUMENTS)]
                path, body = f"/v2/vectordb/entities/{action}", {"collectionName": way, "data": rows}
                lose(self.server.grpc, way, "POST", path, body)
                self.asked(f"entities/{action}", way, data=rows)
                for _ in range(20):
                    counted = self.asked("entities/query", way, filter="", outputFields=["count(*)"], consistencyLevel="Strong")
                    self.assertEqual(counted["data"], [{"count(*)": DOCUMENTS}])
        self.check_well(self.server, self.client)

    def asked(self, path, collection, **body):
        reply = self.milvus.request("POST", f"/v2/vectordb/{path}", {"collectionName": collection, **body})
        self.assertEqual(reply.body["code"], 0, reply)
        return reply.body

    def test_appends_of_a_producer(self):
        with grpc.insecure_channel(self.server.grpc) as channel:
            stub = pb_grpc.LogStub(channel)
            for producer, way in enumerate((ANSWERED, SENT)):
                for sequence in range(1, 6):
                    records = [pb.Record(payload=b"%d" % sequence)] * 3
                    request = pb.AppendRequest(stream=way, records=records, create_stream=True,
                                               producer={"id": producer, "sequence": sequence})
                    call = Call(self.server.grpc, "Append")
                    call.send(message(request.SerializeToString()))
                    while way == ANSWERED and not call.received:
                        call.read_frame()
                    call.socket.close()
                    reply = stub.Append(request, timeout=SECONDS_MAX)
                    if way == ANSWERED:
                        self.assertTrue(reply.replayed)
                replies = stub.Scan(pb.ScanRequest(llsn={"stream": way}), timeout=SECONDS_MAX)
                payloads = [entry.payload for one in replies for entry in one.entries]
                self.assertEqual(payloads, [b"%d" % sequence for sequence in range(1, 6) for _ in range(3)])
        self.check_well(self.server, self.client)
