"""Many large messages at once, and messages that become far more than they are: prints the codes that were answered, and
how many rows clients got in that send again what was refused for a while.

    python large_session.py ADDRESS THREADS MESSAGE_MIB
"""

import collections
import json
import sys
import threading

import grpc
from pymilvus import MilvusClient
from pymilvus.grpc_gen import milvus_pb2, schema_pb2

MIB = 1 << 20
SERVICE = "/milvus.proto.milvus.MilvusService/"


class Large:
    def __init__(self, address):
        self.address = address

    def call(self, method, data, answer=milvus_pb2.MutationResult):
        """The code of the answer, on a connection of its own; a name where there is none."""
        options = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(self.address, options) as channel:
            call = channel.unary_unary(SERVICE + method, request_serializer=bytes, response_deserializer=answer.FromString)
            try:
                return call(data, timeout=60).status
            except grpc.RpcError as error:
                return error.code().name

    def at_once(self, threads, data):
        """How often each code was answered to as many calls at once, and how often small calls were refused meanwhile."""
        codes, over, refused = collections.Counter(), threading.Event(), []

        def send():
            status = self.call("Insert", data)
            codes[str(getattr(status, "code", status))] += 1

        def small():
            while not over.is_set():
                status = self.call("GetVersion", b"", milvus_pb2.GetVersionResponse)
                if getattr(status, "code", status) != 0:
                    refused.append(str(status))

        beside = threading.Thread(target=small)
        beside.start()
        all_of_them = [threading.Thread(target=send) for _ in range(threads)]
        for one in all_of_them:
            one.start()
        for one in all_of_them:
            one.join()
        over.set()
        beside.join()
        return {"codes": dict(codes), "small_refused": refused}

    def inserted(self, threads, rows):
        """Rows that are there once so many clients have inserted so many each."""
        client = MilvusClient(uri=f"http://{self.address}")
        client.create_collection("large", dimension=128, consistency_level="Strong")
        vector, failures = [0.25] * 128, []

        def insert(number):
            try:
                own = [{"id": number * rows + n, "vector": vector} for n in range(rows)]
                MilvusClient(uri=f"http://{self.address}").insert("large", own)
            except Exception as failure:
                failures.append(str(failure))

        inserting = [threading.Thread(target=insert, args=(number,)) for number in range(threads)]
        for one in inserting:
            one.start()
        for one in inserting:
            one.join()
        return [client.query("large", filter="", output_fields=["count(*)"])[0]["count(*)"], failures]


def insert_of(size_bytes):
    floats = schema_pb2.FloatArray(data=[0.5] * (size_bytes // 4))
    column = schema_pb2.FieldData(field_name="v", type=101, vectors=schema_pb2.VectorField(dim=128, float_vector=floats))
    request = milvus_pb2.InsertRequest(collection_name="nobody", fields_data=[column], num_rows=size_bytes // 512)
    return request.SerializeToString()


def main(address, threads, message_mib):
    large = Large(address)
    data = insert_of(int(message_mib) * MIB)
    seen = large.at_once(int(threads), data)
    seen["alone"] = large.call("Insert", data).code
    told = {}
    for name, method, part in [("columns", "Insert", b"\x2a\x00"), ("texts", "Insert", b"\x22\x00"), ("pairs", "Search", b"\x4a\x00")]:
        answer = milvus_pb2.SearchResults if method == "Search" else milvus_pb2.MutationResult
        status = large.call(method, part * (int(message_mib) * MIB // 2), answer)
        told[name] = [status.code, status.reason] if hasattr(status, "code") else status
    seen["grown"] = told
    seen["inserted"] = large.inserted(8, 10_000)
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
