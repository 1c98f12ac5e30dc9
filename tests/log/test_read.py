"""Reading one entry and ranges of them; health and reflection."""

import random

import grpc
from grpc import StatusCode
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from .base import LogTest
from .stubs import pb

FORWARD, BACKWARD = pb.ORDER_FORWARD, pb.ORDER_BACKWARD


class Read(LogTest):
    """Three streams, written in turns; what was written is known."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        chance = random.Random(5)
        cls.written = []
        for number in range(300):
            stream = chance.choice("abc")
            size = chance.choice([0, 3, 50, 3000])
            count = chance.choice([1, 1, 2, 7])
            payloads = [b"%d-%d " % (number, n) + chance.randbytes(size) for n in range(count)]
            reply = cls.client.append(stream, *payloads, durability=pb.DURABILITY_OS,
                                      compression=chance.choice([1, 2, 3]))
            for n, payload in enumerate(payloads):
                cls.written.append(
                    (reply.first_glsn + n, stream, reply.first_llsn + n, payload, reply.time_ms))
        cls.numbers = {name: cls.client.describe(name).number for name in "abc"}

    def check(self, found, expected):
        self.assertEqual(
            [(e.glsn, e.stream, e.llsn, e.payload, e.time_ms) for e in found],
            [(glsn, self.numbers[stream], *rest) for glsn, stream, *rest in expected])

    def test_one_entry_by_either_position(self):
        for row in random.Random(6).sample(self.written, 40):
            glsn, stream, llsn, _, _ = row
            self.check([self.stub.Read(pb.ReadRequest(glsn=glsn))], [row])
            at = {"stream": stream, "llsn": llsn}
            self.check([self.stub.Read(pb.ReadRequest(stream=at))], [row])
        last = self.written[-1][0]
        with self.refused(StatusCode.OUT_OF_RANGE, "beyond-end", last_glsn=last):
            self.stub.Read(pb.ReadRequest(glsn=last + 1))
        for llsn in (0, 10**9):
            with self.assertRaises(grpc.RpcError) as caught:
                self.stub.Read(pb.ReadRequest(stream={"stream": "a", "llsn": llsn}))
            self.assertEqual(caught.exception.code(), StatusCode.OUT_OF_RANGE)

    def test_ranges_of_the_log(self):
        self.check(self.client.scan(), self.written)
        self.check(self.client.scan(order=BACKWARD), self.written[::-1])
        end = self.written[-1][0]
        for start, stop in [(1, 2), (1, 50), (17, 18), (40, 400), (end, end + 1), (end + 1, None)]:
            for streams in ([], ["b"], ["c", "a"], [str(self.numbers["b"])]):
                for order in (FORWARD, BACKWARD):
                    wanted = {"from": start, "streams": streams}
                    if stop:
                        wanted["to"] = stop
                    names = ["b" if name.isdigit() else name for name in streams] or list("abc")
                    expected = [row for row in self.written
                                if start <= row[0] < (stop or 1 << 60) and row[1] in names]
                    found = self.client.scan(glsn=wanted, order=order)
                    self.check(found, expected[::-1] if order == BACKWARD else expected)
        with self.refused(StatusCode.OUT_OF_RANGE, "beyond-end", last_glsn=end):
            self.client.scan(glsn={"from": end + 2})

    def test_ranges_of_one_stream(self):
        for stream in "abc":
            rows = [row for row in self.written if row[1] == stream]
            for start, stop in [(1, 2), (5, 60), (len(rows), None), (len(rows) + 1, None)]:
                for order in (FORWARD, BACKWARD):
                    wanted = {"stream": stream, "from": start}
                    if stop:
                        wanted["to"] = stop
                    expected = rows[start - 1:stop - 1 if stop else None]
                    found = self.client.scan(llsn=wanted, order=order)
                    self.check(found, expected[::-1] if order == BACKWARD else expected)
        with self.refused(StatusCode.OUT_OF_RANGE, "beyond-end"):
            self.client.scan(llsn={"stream": "a", "from": 10**6})

    def test_ranges_by_time(self):
        times = sorted({row[4] for row in self.written})
        for time_ms in [0, *random.Random(7).sample(times, 5), times[-1]]:
            expected = [row for row in self.written if row[4] >= time_ms]
            self.check(self.client.scan(glsn={"from_time_ms": time_ms}), expected)
            only_b = [row for row in expected if row[1] == "b"]
            wanted = {"from_time_ms": time_ms, "streams": ["b"]}
            self.check(self.client.scan(glsn=wanted), only_b)
        self.check(self.client.scan(glsn={"from_time_ms": times[-1] + 1}), [])
        with self.refused(StatusCode.INVALID_ARGUMENT, "invalid"):
            self.client.scan(glsn={"from": 1, "from_time_ms": 1})

    def test_limits_and_the_size_of_messages(self):
        for limit in (1, 7, 100, 10**6):
            self.check(self.client.scan(limit=limit), self.written[:limit])
            backwards = self.client.scan(limit=limit, order=BACKWARD)
            self.check(backwards, self.written[::-1][:limit])
        for size in (1, 1000, 100_000, 1 << 31):
            replies = list(self.stub.Scan(pb.ScanRequest(batch_bytes=size)))
            self.check([entry for reply in replies for entry in reply.entries], self.written)
            if size == 1:
                self.assertEqual(len(replies), len(self.written))
            for reply in replies:
                most = size + max(len(entry.payload) for entry in reply.entries)
                self.assertLessEqual(sum(len(entry.payload) for entry in reply.entries), most)
        with self.refused(StatusCode.INVALID_ARGUMENT, "invalid"):
            self.client.scan(order=3)

    def test_the_position_tells_both_ends(self):
        position = self.client.position()
        self.assertEqual((position.first_glsn, position.last_glsn), (1, self.written[-1][0]))
        self.assertLessEqual(position.durable_glsn, position.last_glsn)


class Services(LogTest):
    def test_health_is_serving(self):
        health = health_pb2_grpc.HealthStub(self.client.channel)
        for service in ("", "clew.log.v1.Log"):
            reply = health.Check(health_pb2.HealthCheckRequest(service=service))
            self.assertEqual(reply.status, health_pb2.HealthCheckResponse.SERVING)
        with self.assertRaises(grpc.RpcError) as caught:
            health.Check(health_pb2.HealthCheckRequest(service="other"))
        self.assertEqual(caught.exception.code(), StatusCode.NOT_FOUND)

    def test_reflection_lists_the_service_in_both_versions(self):
        database = ProtoReflectionDescriptorDatabase(self.client.channel)
        self.assertIn("clew.log.v1.Log", database.get_services())
        described = database.FindFileContainingSymbol("clew.log.v1.Log")
        methods = [method.name for method in described.service[0].method]
        self.assertEqual(methods, [m.name for m in pb.DESCRIPTOR.services_by_name["Log"].methods])
        # The messages of both versions are the same.
        ask = self.client.channel.stream_stream(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        (reply,) = ask(iter([request]))
        names = [service.name for service in reply.list_services_response.service]
        self.assertIn("clew.log.v1.Log", names)
        self.assertIn("grpc.health.v1.Health", names)
