"""What is wrong is told: a table of mistakes, each with Milvus' code and what must be said, against the server at the
address given. Between them, and after them, the server answers as before."""

import http.client
import json
import socket
import sys

import grpc
import pymilvus
from pymilvus import AnnSearchRequest, DataType, RRFRanker
from pymilvus.grpc_gen import common_pb2, milvus_pb2, schema_pb2

from session import Session

DIM = 8
SERVICE = "/milvus.proto.milvus.MilvusService/"
MIB = 1 << 20


class Mistakes(Session):
    def __init__(self, uri):
        super().__init__(uri)
        self.address = uri.removeprefix("http://")
        options = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
        self.channel = grpc.insecure_channel(self.address, options)

    def make(self):
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=DIM)
        schema.add_field("small", DataType.INT8)
        schema.add_field("t", DataType.VARCHAR, max_length=10)
        schema.add_field("list", DataType.ARRAY, element_type=DataType.INT32, max_capacity=3)
        schema.add_field("j", DataType.JSON)
        params = client.prepare_index_params()
        params.add_index("v", index_type="HNSW", metric_type="L2")
        client.create_collection("right", schema=schema, index_params=params, consistency_level="Strong")
        client.insert("right", [self.row(id=n) for n in range(10)])
        client.create_collection("bare", schema=schema)

    def row(self, **other):
        return {"id": 1, "v": [0.5] * DIM, "small": 1, "t": "x", "list": [1], "j": {"a": 1}, **other}

    # Calls that pymilvus would not make: its own messages, filled by hand.

    def column(self, name, kind, **data):
        return schema_pb2.FieldData(field_name=name, type=kind, **data)

    def longs(self, name, values):
        return self.column(name, DataType.INT64, scalars=schema_pb2.ScalarField(long_data=schema_pb2.LongArray(data=values)))

    def texts(self, name, values):
        return self.column(name, DataType.VARCHAR,
                           scalars=schema_pb2.ScalarField(string_data=schema_pb2.StringArray(data=values)))

    def ints(self, name, values):
        return self.column(name, DataType.INT8, scalars=schema_pb2.ScalarField(int_data=schema_pb2.IntArray(data=values)))

    def vectors(self, name, numbers, dim=DIM):
        floats = schema_pb2.FloatArray(data=numbers)
        return self.column(name, DataType.FLOAT_VECTOR, vectors=schema_pb2.VectorField(dim=dim, float_vector=floats))

    def jsons(self, name, values):
        return self.column(name, DataType.JSON, scalars=schema_pb2.ScalarField(json_data=schema_pb2.JSONArray(data=values)))

    def arrays(self, name, values):
        rows = [schema_pb2.ScalarField(int_data=schema_pb2.IntArray(data=row)) for row in values]
        data = schema_pb2.ArrayArray(data=rows, element_type=DataType.INT32)
        return self.column(name, DataType.ARRAY, scalars=schema_pb2.ScalarField(array_data=data))

    def columns(self, rows=1, **other):
        """The columns of right rows; others in their place, or none."""
        own = {"id": self.longs("id", range(rows)), "v": self.vectors("v", [0.5] * DIM * rows), "small": self.ints("small", [1] * rows),
               "t": self.texts("t", ["x"] * rows), "list": self.arrays("list", [[1]] * rows), "j": self.jsons("j", [b"{}"] * rows)}
        return [column for column in {**own, **other}.values() if column is not None]

    def raw(self, method, message):
        """What a call is answered whose bytes are these."""
        call = self.channel.unary_unary(SERVICE + method, request_serializer=bytes, response_deserializer=bytes)
        return call(message if isinstance(message, bytes) else message.SerializeToString(), timeout=60)

    def status(self, method, message, answer=milvus_pb2.MutationResult):
        told = answer.FromString(self.raw(method, message))
        return told if answer is common_pb2.Status else told.status

    def wrong_columns(self):
        for what, said, columns, rows in [
            ("dimension", "dim (4) of field data(v) is not equal to schema dim (8)", {"v": self.vectors("v", [1.0] * 8, dim=4)}, 1),
            ("half a vector", "the length(5) of float data should divide the dim(8)", {"v": self.vectors("v", [1.0] * 5)}, 1),
            ("no vectors", "float vector field 'v' is illegal, array type mismatch: invalid parameter[expected=need float vector]",
             {"v": self.vectors("v", [])}, 1),
            ("too few values", "num_rows (1) of field (t) is not equal to passed num_rows (2)", {"t": self.texts("t", ["x"])}, 2),
            ("type", "field (id) does not match its data type Int64", {"id": self.texts("id", ["x"])}, 1),
            ("vector for a text", "field (t) does not match its data type VarChar", {"t": self.vectors("t", [1.0] * DIM)}, 1),
            ("text for a vector", "field (v) does not match its data type FloatVector", {"v": self.texts("v", ["x"])}, 1),
            ("unknown field", "fieldName other not exist", {"other": self.longs("other", [1])}, 1),
            ("missing field", "fieldSchema(t) has no corresponding fieldData", {"t": None}, 1),
            ("missing key", "fieldSchema(id) has no corresponding fieldData", {"id": None}, 1),
            ("range", "the 0th element (300) out of range: [-128, 127]: invalid parameter", {"small": self.ints("small", [300])}, 1),
            ("long text", "row number: 0, length: 11, max length: 10", {"t": self.texts("t", ["x" * 11])}, 1),
            ("long array", "the length (4) of 0th array exceeds max capacity (3): invalid parameter[", {"list": self.arrays("list", [[1, 2, 3, 4]])}, 1),
            ("no JSON", "field (j) in row 0 is no JSON", {"j": self.jsons("j", [b"{"])}, 1),
            ("deep JSON", "nesting depth exceeds the maximum allowed (100)", {"j": self.jsons("j", [b"[" * 200_000 + b"]" * 200_000])}, 1),
            ("infinity", "value '+Inf' is not a number or infinity", {"v": self.vectors("v", [float("inf")] * DIM)}, 1),
            ("no rows", "actual=0", {}, 0),
        ]:
            request = milvus_pb2.InsertRequest(collection_name="right", fields_data=self.columns(max(rows, 1), **columns), num_rows=rows)
            self.told(self.status("Insert", request), 1100, said, what)
        request = milvus_pb2.InsertRequest(collection_name="right", fields_data=self.columns(), num_rows=(1 << 32) - 1)
        self.told(self.status("Insert", request), 1100, "4294967295", "a number of rows that is a lie")

    def told(self, status, code, said, what):
        self.checks += 1
        assert status.code == code and status.error_code != 0, f"{what}: {status.code} is not {code}: {status.reason}"
        assert said in status.reason, f"{what}: {said!r} is not in {status.reason!r}"

    def schema_with(self, kind, **more):
        """A key, a vector and a field x of this kind."""
        schema = self.client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=4)
        schema.add_field("x", DataType[kind], **more)
        return schema

    def wrong_calls(self):
        client = self.client
        nested = "(" * 300 + "id > 1" + ")" * 300
        chain = " or ".join(["id > 1 and small < 3"] * 3_000)
        search = lambda **more: client.search("right", **{"data": [[0.0] * DIM], "limit": 3, **more})
        query = lambda expression, **more: client.query("right", filter=expression, output_fields=["id"], **more)
        vector = self.vector(DIM)
        for code, said, call in [
            (100, "nope", lambda: client.insert("nope", [self.row()])),
            (100, "nope", lambda: client.search("nope", [vector], limit=1)),
            (100, "nope", lambda: client.load_collection("nope")),
            (100, "nope", lambda: client.describe_collection("nope")),
            (1100, "right", lambda: client.create_collection("right", dimension=4)),
            (700, "index not found[collection=bare]", lambda: client.load_collection("bare")),
            (101, "bare", lambda: client.query("bare", filter="id > 1")),
            (1100, "expected vector size(byte) 32, actual 12", lambda: search(data=[[1.0, 2.0, 3.0]])),
            (1100, "fieldName(nope) not found", lambda: search(anns_field="nope")),
            (1100, "dimension mismatch", lambda: client.hybrid_search(
                "right", [AnnSearchRequest([vector], "v", {}, 5), AnnSearchRequest([[1.0]], "v", {}, 5)], RRFRanker(), 5)),
            (1100, "not of vector data type", lambda: search(anns_field="t")),
            (1100, "topk [16385] is invalid, it should be in range [1, 16384]", lambda: search(limit=16385)),
            (1100, "offset+topk [16394] is invalid, it should be in range [1, 16384], but got 16394",
             lambda: search(limit=10, offset=16384)),
            (1100, "offset [16385] is invalid, it should be in range [1, 16384], but got 16385", lambda: search(offset=16385)),
            (1100, "offset [-1] is invalid, it should be in range [1, 16384], but got -1", lambda: search(offset=-1)),
            (1100, "aggregates are not supported in search request", lambda: search(output_fields=["sum(id)"])),
            (1100, "nq [16385] is invalid", lambda: search(data=[[0.0] * DIM] * 16385)),
            (1100, "range [1, 16384], but got 16385", lambda: query("id > 1", limit=16385)),
            (1100, "16394", lambda: query("id > 1", limit=10, offset=16384)),
            (1100, "expected=L2", lambda: search(search_params={"metric_type": "COSINE"})),
            (1100, "hints: mine not supported", lambda: search(search_params={"hints": "mine"})),
            (1100, "parse ignore growing field failed",
             lambda: search(search_params={"metric_type": "COSINE", "ignore_growing": "often"})),
            (1100, "input group size:0 is negative", lambda: search(group_by_field="t", group_size=0)),
            (1100, "input group size:1001 exceeds configured max group size:1000",
             lambda: search(group_by_field="t", group_size=1001)),
            (1100, "duplicate IDs found in search request", lambda: search(data=None, ids=[1, 1])),
            (1100, "primary key is int64, but IDs type mismatch", lambda: search(data=None, ids=["1"])),
            (1100, "some of the provided primary key IDs do not exist: missing IDs = [70 80]",
             lambda: search(data=None, ids=[70, 1, 80])),
            (1100, "fail to search on QueryNode 1: ef(2) should be larger than k(3)", lambda: search(search_params={"params": {"ef": 2}})),
            (1100, "param 'ef' (-1) should be in range [1, 2147483647]", lambda: search(search_params={"params": {"ef": -1}})),
            (1100, "Type conflict in json: param 'ef' (32.0) should be integer", lambda: search(search_params={"params": {"ef": 32.0}})),
            (1100, "param 'ef' (true) should be integer", lambda: search(search_params={"params": {"ef": True}})),
            (1100, "param 'refine_k' (0.5) should be in range [1.000000,", lambda: search(search_params={"params": {"refine_k": 0.5}})),
            (1100, "range_filter requires radius to be set",
             lambda: search(search_params={"metric_type": "IP", "params": {"range_filter": 0.5}})),
            (1100, "radius: type must be number, but is null", lambda: search(search_params={"params": {"radius": None}})),
            (1100, "range_filter: type must be number, but is string",
             lambda: search(search_params={"params": {"radius": 1, "range_filter": "near"}})),
            (1100, "range_filter", lambda: search(search_params={"params": {"radius": 1, "range_filter": 2}})),
            (1100, "field nope not exist", lambda: search(output_fields=["nope"])),
            (1100, "mismatched input '<EOF>'", lambda: query("id ==")),
            (1100, "line 2:3", lambda: query("id == 1 and\n   ) == 2")),
            (1100, "the text has no end", lambda: query("t ==  'x")),
            (1100, "field nope not exist", lambda: query("nope == 1")),
            (1100, "comparisons between Int64 and VarChar are not supported: invalid parameter", lambda: query("id == 'x'")),
            (1100, "comparisons between VarChar and Int64 are not supported: invalid parameter", lambda: query("t > 5")),
            (1100, "comparisons between VarChar and Int64 are not supported", lambda: query("t == id")),
            (1100, "cannot cast value to Int32: incompatible source type", lambda: query("not array_contains(list, 'x')")),
            (1100, "function empty(int64_t) not found", lambda: query("empty(id)")),
            (1100, "function upper(varChar) not found", lambda: query("upper(t)")),
            (1100, "spatial operation are only supported on geometry fields now", lambda: query("ST_WITHIN(t, 'POINT (1 1)')")),
            (1100, "the value of term expression template variable {x} is not array",
             lambda: client.query("right", filter="id in {x}", filter_params={"x": 1})),
            (1100, "can not comparisons array fields directly", lambda: query("list == 1")),
            (1100, "like operation on non-string or no-json field is unsupported", lambda: query("id like '1%'")),
            (1100, "'and' can only be used between boolean expressions", lambda: query("id > 1 and id")),
            (1100, "vector", lambda: query("v == 1")),
            (1100, "the value of expression template variable name {x} is not found", lambda: query("id == {x}")),
            (1100, "nested deeper than 200", lambda: query(nested)),
            (1100, "more than 5000 operators", lambda: query(chain)),
            (1100, "empty expression should be used with limit", lambda: query("")),
            (1100, "can't be empty", lambda: client.delete("right", filter=" ")),
            (1100, "failed to create delete plan: cannot parse expression: 12-s: field s not exist",
             lambda: client.delete("right", filter="12-s")),
            (200, "Failed to get partition id: partition not found[partition=nope]",
             lambda: client.delete("right", filter="t == 'x'", partition_name="nope")),
            (200, "nope", lambda: client.insert("right", [self.row()], partition_name="nope")),
            (1100, "partition name nope not found: invalid parameter", lambda: search(partition_names=["nope"])),
            (1100, "partition name nope not found: invalid parameter", lambda: query("id > 1", partition_names=["nope"])),
            (1100, "partition name nope not found: invalid parameter",
             lambda: client.search("right", [[0.0] * 4], anns_field="nope", limit=1, partition_names=["nope"])),
            (1100, "Partition name should not be empty", lambda: search(partition_names=[""])),
            (1100, "255", lambda: client.create_partition("right", "p" * 256)),
            (1100, "255", lambda: client.create_collection("c" * 256, dimension=4)),
            (1100, "255", lambda: client.create_alias("right", "a" * 256)),
            (1100, "first character", lambda: client.create_collection("1st", dimension=4)),
            (1100, "numbers, letters and underscores", lambda: client.create_collection("a-b", dimension=4)),
            (1100, "invalid dimension: 32769", lambda: client.create_collection("wide", dimension=32769)),
            (1601, "bare", lambda: client.create_alias("right", "bare")),
            (1600, "nope", lambda: client.alter_alias("right", "nope")),
            (100, "collection not found[collection=nowhere]", lambda: client.alter_alias("nowhere", "nope")),
            (800, "nope", lambda: pymilvus.MilvusClient(uri=self.uri, db_name="nope").list_collections()),
        ]:
            self.refused(code, said, call)
        instant = "invalid timestamp string: 'soon'. Does not match any known format"
        for said, kind, more in [
            ("element data type None is not valid", "ARRAY", {"max_capacity": 3}),
            ("string data type not supported yet, please use VarChar type instead", "STRING", {}),
            ("type (Timestamptz) of field (x) is not equal to the type(DataType_Int64) of default_value", "TIMESTAMPTZ",
             {"default_value": 10}),
            (instant, "TIMESTAMPTZ", {"default_value": "soon"}),
            ("type (Int64) of field (x) is not equal to the type(DataType_VarChar) of default_value", "INT64", {"default_value": "a"}),
            ("type (VarChar) of field (x) is not equal to the type(DataType_Int64) of default_value", "VARCHAR",
             {"max_length": 5, "default_value": 1}),
            ("the length (3) of string exceeds max length (2)", "VARCHAR", {"max_length": 2, "default_value": "abc"}),
            ("default value out of range", "INT8", {"default_value": 300}),
            ("the maximum length specified for the field(x) should be in (0, 65535], but got 65536 instead: invalid parameter",
             "VARCHAR", {"max_length": 65536}),
            ("the maximum capacity specified for a Array should be in (0, 4096]", "ARRAY",
             {"element_type": DataType.INT64, "max_capacity": 4097}),
            ("field x which has enable_match or is input of BM25 function must also enable_analyzer", "VARCHAR", {"max_length": 5, "enable_match": True}),
        ]:
            self.refused(1100, said, lambda: client.create_collection("wrong", schema=self.schema_with(kind, **more)))
        full = self.schema_with("INT64")
        for number in range(253):
            full.add_field(f"f{number}", DataType.INT64)
        client.create_collection("full", schema=full)
        client.insert("full", [{"id": 1, "v": [1.0] * 4, "x": 1, **{f"f{number}": number for number in range(253)}}])
        self.refused(1100, "The number of fields has reached the maximum value 256",
                     lambda: client.add_collection_field("full", "y", DataType.INT64, nullable=True))
        client.drop_collection("full")
        for said, kind, more in [
            ("type param(max_length) should be specified for the field(x) of collection wrong: missing parameter", "VARCHAR", {}),
            ("type param(max_capacity) should be specified for array field x of collection wrong", "ARRAY",
             {"element_type": DataType.INT64}),
        ]:
            self.refused(1101, said, lambda: client.create_collection("wrong", schema=self.schema_with(kind, **more)))
        self.refused(1100, "maximum shards's number should be limited to 16",
                     lambda: client.create_collection("wrong", dimension=4, num_shards=17))
        self.refused(1100, "HNSW_X", lambda: self.index(index_type="HNSW_X", metric_type="L2"))
        for said, kind, params in [
            ("param 'M' (2049) should be in range [2, 2048]", "HNSW", {"M": 2049}),
            ("wrong data type in json, key: 'M', value: '16.0'", "HNSW", {"M": 16.0}),
            ("invalid integer value, key: 'efConstruction', value: 'True'", "HNSW", {"efConstruction": True}),
            ("invalid scalar quantizer type", "HNSW_SQ", {"sq_type": "FP32"}),
            ("should be a multiple of the number of subquantizers (m)", "IVF_PQ", {"m": 3}),
            ("only metric type can be passed when use AutoIndex", "AUTOINDEX", {"nlist": 1024}),
            ("invalid mmap type params: index type DISKANN does not support mmap", "DISKANN", {"mmap.enabled": True}),
            ("invalid mmap type params: invalid mmap.enabled value: perhaps, expected: true, false", "HNSW", {"mmap.enabled": "perhaps"}),
        ]:
            self.refused(1100, said, lambda: self.index(index_type=kind, metric_type="L2", params=params))

    def index(self, **params):
        made = self.client.prepare_index_params()
        made.add_index("v", **params)
        self.client.create_index("bare", made)

    def alterations(self):
        """What can change of a collection, and when."""
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=4)
        schema.add_field("w", DataType.FLOAT_VECTOR, dim=4)
        schema.add_field("t", DataType.VARCHAR, max_length=10)
        schema.add_field("list", DataType.ARRAY, element_type=DataType.INT64, max_capacity=3)
        params = client.prepare_index_params()
        params.add_index("v", index_type="HNSW", metric_type="L2")
        client.create_collection("changing", schema=schema)
        client.create_index("changing", params)
        self.refused(1100, "there is no vector index on field: [w], please create index firstly", lambda: client.load_collection("changing"))
        for said, fields in [
            ("fieldName(no) not found", ["id", "v", "no"]),
            ("load field list [v t] does not contain primary key field id", ["v", "t"]),
            ("load field list [id t] does not contain vector field", ["id", "t"]),
        ]:
            self.refused(1100, said, lambda: client.load_collection("changing", load_fields=fields))
        client.load_collection("changing", load_fields=["id", "v"])
        (hits,) = client.search("changing", [[0.0] * 4], anns_field="v", limit=1)
        self.same(len(hits), 0, "loaded by the vectors that have an index")
        self.refused(65535, "field w is not loaded, please reload the collection",
                     lambda: client.search("changing", [[0.0] * 4], anns_field="w", limit=1))
        collection = lambda **properties: client.alter_collection_properties("changing", properties)
        field = lambda name, **properties: client.alter_collection_field("changing", name, properties)
        index = lambda **properties: client.alter_index_properties("changing", "v", properties)
        mmap = {"mmap.enabled": True}
        for code, said, call in [
            (104, "can not alter mmap properties if collection loaded: collection already loaded", lambda: collection(**mmap)),
            (104, "can not delete mmap properties if collection loaded",
             lambda: client.drop_collection_properties("changing", ["mmap.enabled"])),
            (104, "can not alter collection field properties if collection loaded", lambda: field("t", **mmap)),
            (104, "can't alter index on loaded collection", lambda: index(**mmap)),
            (1100, "M is not a configable index property", lambda: index(M=8)),
            (1100, "M is not a configable index property",
             lambda: client.drop_index_properties("changing", "v", property_keys=["M"])),
            (1100, "element_type does not allow update in collection field param", lambda: field("list", element_type=5)),
            (1100, "can not modify the maxlength for non-string types", lambda: field("id", max_length=5)),
            (1100, "field nope does not exist in collection", lambda: field("nope", max_length=5)),
            (1100, "can not modify the maxcapacity for non-array types", lambda: field("t", max_capacity=5)),
            (1100, "65536 exceeds the maximum allowed value 65535", lambda: field("t", max_length=65536)),
            (1100, "max_length should be an integer", lambda: field("t", max_length="long")),
            (1100, "the maximum capacity specified for a Array should be in (0, 4096]", lambda: field("list", max_capacity=5000)),
            (1100, "not support to add pk field, field name = x",
             lambda: client.add_collection_field("changing", "x", DataType.INT64, nullable=True, is_primary=True)),
            (1100, "not support to add partition key field, field name  = x",
             lambda: client.add_collection_field("changing", "x", DataType.INT64, nullable=True, is_partition_key=True)),
            (1100, "duplicate field name: t",
             lambda: client.add_collection_field("changing", "t", DataType.INT64, nullable=True)),
            (105, "no partition key field is set", lambda: collection(**{"partitionkey.isolation": True})),
        ]:
            self.refused(code, said, call)
        client.release_collection("changing")
        self.refused(12, "when load 2 replica count: service resource insufficient",
                     lambda: client.load_collection("changing", replica_number=2))
        # Of partitions, indexes are looked for first.
        self.refused(1100, "there is no vector index on field: [w]",
                     lambda: client.load_partitions("changing", ["_default"], replica_number=2))
        self.refused(700, "index not found[collection=bare]", lambda: client.load_partitions("bare", ["nope"]))
        client.insert("changing", [{"id": n, "v": [0.0] * 4, "w": [0.0] * 4, "t": "x", "list": []} for n in range(3)])
        self.same(client.delete("changing", filter="id in [0, 1]")["delete_count"], 2, "keys that are named are deleted")
        self.refused(101, "collection not loaded", lambda: client.delete("changing", filter="t == 'x'"))
        self.refused(1100, "field no not exist", lambda: client.delete("changing", filter="no == 'x'"))
        for call in (lambda: collection(**{"warmup.vectorField": "never"}), lambda: field("t", warmup="never"),
                     lambda: index(warmup="never")):
            self.refused(1100, "invalid warmup policy: never", call)
        self.refused(1100, "is only allowed at field level", lambda: collection(warmup="sync"))
        params = client.prepare_index_params()
        params.add_index("id", index_name="sorted", index_type="STL_SORT")
        client.create_index("changing", params)
        sort = lambda **properties: client.alter_index_properties("changing", "sorted", properties)
        for said, call in [("invalid mmap index params: index type STL_SORT does not support mmap", lambda: sort(**mmap)),
                           ("invalid mmap index params: invalid mmap.enabled value: 5", lambda: index(**{"mmap.enabled": 5})),
                           ("invalid offset cache index params: only bitmap index support indexoffsetcache.enabled now",
                            lambda: sort(**{"indexoffsetcache.enabled": True}))]:
            self.refused(1100, said, call)
        sort(**{"mmap.enabled": False})
        # What was altered since does not make another index of it.
        client.create_index("changing", params)
        collection(**mmap, **{"warmup.vectorField": "sync"})
        field("t", **mmap, warmup="disable")
        index(**mmap)
        collection(**{"collection.description": "changed", "consistency_level": "Eventually"})
        told = client.describe_collection("changing")
        self.same((told["description"], told["consistency_level"], "collection.description" in told["properties"]),
                  ("changed", 3, False), "said as properties, and none")
        drop = lambda *keys: client.drop_collection_properties("changing", property_keys=list(keys))
        for said, call in [
            ("no properties or delete keys provided", drop),
            ("cannot alter reserved collection property max_field_id", lambda: collection(max_field_id="999")),
            ("cannot delete reserved collection property max_field_id", lambda: drop("max_field_id")),
            ("cannot alter namespace.sharding.enabled after", lambda: collection(**{"namespace.sharding.enabled": "true"})),
            ("cannot delete key dynamicfield.enabled", lambda: drop("dynamicfield.enabled")),
            ("cannot alter dynamic schema with other properties", lambda: collection(**{"dynamicfield.enabled": "true", "a": "b"})),
            ("invalid dynamic schema property value: yes", lambda: collection(**{"dynamicfield.enabled": "yes"})),
            ("must be false when autoID is false", lambda: collection(allow_insert_auto_id="true")),
            ("unknown or invalid IANA Time Zone ID: Mars", lambda: collection(timezone="Mars")),
        ]:
            self.refused(1100, said, call)
        self.same(client.describe_collection("changing")["properties"], told["properties"], "nothing of it changed")
        for name in ("%$#", " "):
            self.refused(100, f"collection not found[database=default][collection={name}]",
                         lambda: client.alter_collection_properties(name, {"mmap.enabled": True}))
        client.drop_collection("changing")

    def too_much(self):
        client = self.client
        client.create_collection("parts", dimension=4)
        request = milvus_pb2.CreatePartitionRequest(collection_name="parts")
        for number in range(1023):
            request.partition_name = f"p{number}"
            told = self.status("CreatePartition", request, common_pb2.Status)
            assert told.code == 0, told
        self.refused(1100, "partition number (1024) exceeds max configuration (1024)", lambda: client.create_partition("parts", "more"))
        client.drop_collection("parts")
        self.refused(100, "parts", lambda: client.insert("parts", [{"id": 1, "vector": [1.0] * 4}]))
        wide = self.client.create_schema()
        wide.add_field("id", DataType.INT64, is_primary=True)
        wide.add_field("v", DataType.FLOAT_VECTOR, dim=4)
        for number in range(255):
            wide.add_field(f"f{number}", DataType.INT64)
        self.refused(1100, "limited to 256", lambda: client.create_collection("wide", schema=wide))

    def broken_bytes(self):
        """Bytes that are no message, and messages that are too long."""
        def code(method, data):
            try:
                self.raw(method, data)
            except grpc.RpcError as error:
                return error.code(), error.details()
            return None, ""

        insert = milvus_pb2.InsertRequest(collection_name="right", fields_data=self.columns(), num_rows=1).SerializeToString()
        for cut in (1, len(insert) // 3, len(insert) // 2, len(insert) - 1):
            self.checks += 1
            told, said = code("Insert", insert[:cut])
            assert told == grpc.StatusCode.INTERNAL, (cut, told, said)
        for data in (b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"\x2a" * 1000):
            self.checks += 1
            told, said = code("Search", data)
            assert told == grpc.StatusCode.INTERNAL, (data[:8], told, said)
        # A list within a list within a list, deeper than anybody's stack.
        deep = b""
        for _ in range(50_000):
            deep = b"\x1a" + varint(len(deep)) + deep if len(deep) < 100_000 else deep
        told, said = code("Insert", b"\x2a" + varint(len(deep)) + deep)
        self.same(told is None or told == grpc.StatusCode.INTERNAL, True, f"deep: {said}")
        told, said = code("Insert", bytes(65 * MIB))
        self.same(told, grpc.StatusCode.RESOURCE_EXHAUSTED, f"too long: {said}")
        assert str(65 * MIB) in said and str(64 * MIB) in said, said
        told, said = code("NoSuchCall", b"")
        self.same(told, grpc.StatusCode.UNIMPLEMENTED, "no such call")
        for schema in (b"\xff\xff", b"\x22\x7f"):
            request = milvus_pb2.CreateCollectionRequest(collection_name="x", schema=schema)
            self.told(self.status("CreateCollection", request, common_pb2.Status), 1100, "schema cannot be read", "a schema")
        request = milvus_pb2.SearchRequest(collection_name="right", placeholder_group=b"\x0a\x7f")
        self.told(self.status("Search", request, milvus_pb2.SearchResults), 1100, "cannot be read", "vectors")

    def garbage(self):
        """What is neither HTTP nor gRPC."""
        host, port = self.address.rsplit(":", 1)
        for data in (b"\x00" * 1000, b"\xff\xfe" * 500, b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 500,
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 200):
            with socket.create_connection((host, int(port)), timeout=30) as connection:
                try:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1 << 16):
                        pass
                except OSError:
                    pass
            self.alive()

    def rest(self):
        def ask(path, body):
            connection = http.client.HTTPConnection(self.address, timeout=60)
            try:
                connection.request("POST", f"/v2/vectordb/{path}", body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                return reply.status, json.loads(reply.read())
            finally:
                connection.close()

        long = b'{"collectionName":"' + b"x" * (65 * MIB) + b'"}'
        deep = b'{"collectionName":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        for path, body, code, said in [
            ("collections/describe", b'{"collectionName":', 1801, "EOF"),
            ("collections/describe", deep, 1801, "recursion limit"),
            ("collections/describe", long, 1102, str(64 * MIB)),
            ("collections/describe", b'{"collectionName":7}', 1801, "collectionName"),
            ("collections/create", b'{"collectionName":"q","dimension":"4"}', 1801, "dimension"),
            ("collections/create", b'{"collectionName":"q","dimension":4,"idType":"VarChar","params":{"max_length":"x"}}', 1100, "max_length"),
            ("collections/create", b'{"collectionName":"q","schema":{"fields":[{"fieldName":"a","dataType":"Whole"}]}}', 1100,
             "data type Whole is invalid"),
            ("entities/search", b'{"collectionName":"right","data":[[1,2]],"annsField":"v"}', 1801,
             "dimension: 8, but length of []float: 2"),
            ("entities/search", b'{"collectionName":"right","data":[[1,2]],"annsField":"t"}', 1801, "cannot find a vector field named: t"),
            ("entities/query", b'{"collectionName":"right","filter":"id > 1","limit":"2"}', 1801, "limit"),
            ("entities/query", b'{"collectionName":"right","filter":"id >"}', 1100, "line 1:4"),
            ("entities/insert", b'{"collectionName":"right","data":[{"id":1}]}', 1804, "field v must have a value"),
            ("entities/insert", b'{"collectionName":"right","data":[{"id":"x"}]}', 1804, "row 0, field id"),
        ]:
            status, told = ask(path, body)
            self.same((status, told["code"]), (200, code), f"{path}: {told}")
            assert said in told["message"], (said, told)

    def alive(self):
        self.same(self.count("right"), 10, "all is as it was")


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def main(uri):
    session = Mistakes(uri)
    session.make()
    for what in (session.wrong_columns, session.wrong_calls, session.alterations, session.too_much, session.broken_bytes, session.garbage, session.rest):
        what()
        session.alive()
    for name in ("right", "bare"):
        session.client.drop_collection(name)
    session.close()


if __name__ == "__main__":
    main(sys.argv[1])
