"""Boost rankers, hybrid searches in groups, partition keys kept apart, resource groups, and calls that are refused by name, against the
server at the address given."""

import json
import math
import sys

import grpc
from pymilvus import AnnSearchRequest, DataType, Function, FunctionScore, FunctionType, RRFRanker, connections, utility
from pymilvus.client.types import ResourceGroupConfig
from pymilvus.grpc_gen import milvus_pb2

from session import Session

SERVICE = "/milvus.proto.milvus.MilvusService/"
USUAL = "__default_resource_group"


class Rankers(Session):
    def make(self):
        client = self.client
        schema = client.create_schema(enable_dynamic_field=True)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("w", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("kind", DataType.VARCHAR, max_length=9)
        schema.add_field("n", DataType.INT64)
        schema.add_field("j", DataType.JSON)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="IP")
        params.add_index("w", index_type="FLAT", metric_type="L2")
        client.create_collection("ranked", schema=schema, index_params=params, consistency_level="Strong")
        self.rows = [{"id": i, "v": [i + 1, 0], "w": [i, 0], "kind": f"k{i % 3}", "n": 7 * i, "j": {"a": i, "b": 1}, "extra": i}
                     for i in range(12)]
        client.insert("ranked", self.rows)

    def function(self, name="boost", **params):
        return Function("own", FunctionType.RERANK, input_field_names=[], params={"reranker": name, **params})

    def found(self, ranker=None, field="v", limit=12, **more):
        (hits,) = self.client.search("ranked", [[1, 0]], anns_field=field, limit=limit, ranker=ranker, **more)
        return [(hit["id"], round(hit["distance"], 4)) for hit in hits]

    def boosts(self):
        plain = {row["id"]: float(row["id"] + 1) for row in self.rows}
        best = lambda scores: sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
        doubled = {id: score * (3 if id % 3 == 1 else 1) for id, score in plain.items()}
        self.same(self.found(self.function(filter="kind == 'k1'", weight=3)), best(doubled), "a weight for some")
        self.same(self.found(self.function(weight=0.5)), best({id: score / 2 for id, score in plain.items()}), "a weight for all")
        self.same(self.found(self.function(filter="kind == 'k1'", weight=3), limit=4, offset=2),
                  best({id: doubled[id] for id in range(6, 12)})[2:6], "a page of the nearest")
        far = self.found(self.function(filter="id < 3", weight=100), field="w")
        squared = {i: float((i - 1) ** 2) for i in range(12)}
        want = {id: score * (100 if id < 3 else 1) for id, score in squared.items()}
        self.same(far, sorted(want.items(), key=lambda pair: (pair[1], pair[0])), "of distances the least are best")
        near = FunctionScore(self.function(filter="id == 9", weight=60), params={"boost_mode": "sum"})
        want = {id: score - (60 if id == 9 else 0) for id, score in squared.items()}
        self.same(self.found(near, field="w"), sorted(want.items(), key=lambda pair: (pair[1], pair[0])), "what is added brings nearer")
        one = self.found(self.function(weight=1, random_score={"seed": 7, "field": "id"}))
        self.same(one, self.found(self.function(weight=1, random_score={"seed": 7, "field": "id"})), "chance by a seed")
        assert all(score < plain[id] for id, score in one), one
        assert one != self.found(self.function(weight=1, random_score={"seed": 8, "field": "n"})), one
        self.same(self.found(self.function("rrf", k=10))[:2], [(11, round(1 / 11, 4)), (10, round(1 / 12, 4))], "ranks of one search")
        self.same(self.found(self.function("weighted", weights=[0.5]))[:2], [(11, 6.0), (10, 5.5)], "weights of one search")
        for said in (True, "true", 1):
            (first, *_) = self.found(self.function("weighted", weights=[1.0], norm_score=said))
            self.same(first, (11, round(0.5 + math.atan(12) / math.pi, 4)), f"scores on one scale: {said!r}")
        self.same(self.found(self.function("weighted", weights=[1.0], norm_score=False))[0], (11, 12.0), "scores as they are")
        for code, said, ranker in [
            (1100, "norm_score params must be true/false, bug got maybe", self.function("weighted", weights=[1.0], norm_score="maybe")),
            (1100, "failed to create query plan: must set weight params", self.function(filter="id > 1")),
            (1100, "weight params failed", self.function(weight="much")),
            (1100, "plan: parse expr failed: cannot parse expression: id >: ", self.function(filter="id >", weight=2)),
            (1100, "random seed field not found", self.function(weight=2, random_score={"field": "nope"})),
            (1100, "only support int64 field as random seed", self.function(weight=2, random_score={"field": "kind"})),
            (1100, "unsupported rerank function: [other]", self.function("other")),
            (1100, "mismatch with ann search requests", self.function("weighted", weights=[0.5, 0.5])),
            (1100, "param k:x is not a number", self.function("rrf", k="x")),
        ]:
            self.refused(code, said, lambda: self.found(ranker))
        self.refused(1100, "don't support use segment scorer with group_by or search_iterator",
                     lambda: self.found(self.function(weight=2), group_by_field="kind"))
        self.refused(1100, "Current rerank does not support grouping search",
                     lambda: self.found(self.function("rrf"), group_by_field="kind"))
        asked = [AnnSearchRequest([[1, 0]], field, {}, limit=5) for field in ("v", "w")]
        self.refused(1100, "boost ranker cannot rank a hybrid search",
                     lambda: self.client.hybrid_search("ranked", asked, self.function(weight=2), limit=3))

    def groups(self):
        """A hybrid search in groups tells so many of them, each with its best."""
        asked = lambda: [AnnSearchRequest([[1, 0]], field, {}, limit=12) for field in ("v", "w")]
        (hits,) = self.client.hybrid_search("ranked", asked(), RRFRanker(), limit=2, group_by_field="kind", group_size=2,
                                            output_fields=["kind"])
        kinds = [hit["entity"]["kind"] for hit in hits]
        self.same((len(kinds), len(set(kinds)), kinds[0] == kinds[1], kinds[2] == kinds[3]), (4, 2, True, True), "two groups of two")
        (hits,) = self.client.hybrid_search("ranked", asked(), RRFRanker(), limit=3, group_by_field="kind", output_fields=["kind"])
        self.same(sorted(hit["entity"]["kind"] for hit in hits), ["k0", "k1", "k2"], "one of each group")
        # A search that says no number has that of the whole.
        (hits,) = self.client.hybrid_search("ranked", [AnnSearchRequest([[1, 0]], "v", {}, limit=None)], RRFRanker(), limit=11)
        self.same([hit["id"] for hit in hits], list(range(11, 0, -1)), "as many as the whole")

    def partial(self):
        self.client.upsert("ranked", [{"id": 3, "j": {"a": 9}, "other": 1}], partial_update=True)
        (row,) = self.client.get("ranked", ids=[3], output_fields=["j", "extra", "other"])
        self.same((row["j"], row["extra"], row["other"]), ({"a": 9}, 3, 1), "JSON is replaced, and what is beyond the fields joined")

    def isolated(self):
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("key", DataType.INT64, is_partition_key=True)
        schema.add_field("other", DataType.INT64)
        params = client.prepare_index_params()
        params.add_index("v", index_type="HNSW", metric_type="L2")
        client.create_collection("apart", schema=schema, index_params=params, properties={"partitionkey.isolation": True},
                                 consistency_level="Strong")
        client.insert("apart", [{"id": i, "v": [i, 0], "key": i % 3, "other": i} for i in range(9)])
        search = lambda filter: sorted(hit["id"] for hit in client.search("apart", [[0, 0]], limit=9, filter=filter)[0])
        self.same(search("key == 1"), [1, 4, 7], "one value of the key")
        self.same(search("(other == 1 or other == 4) and key == 1"), [1, 4], "and more")
        for filter, said in [("", "partition key not found in expr"), ("other > 3", "partition key not found in expr"),
                             ("key in [1]", "does not support IN"), ("key != 1", "does not support NotEqual"),
                             ("key > 1", "does not support GreaterThan"), ("0 < key < 2", "does not support BinaryRange"),
                             ("key == 1 or other == 2", "does not support OR"), ("not (key == 1)", "does not support NOT")]:
            self.refused(1100, said, lambda: search(filter))
        self.same(len(client.query("apart", filter="other > 3")), 5, "queries may say what they like")
        self.refused(702, "Please drop the index first",
                     lambda: client.alter_collection_properties("apart", properties={"partitionkey.isolation": False}))
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        self.refused(105, "no partition key field is set",
                     lambda: client.create_collection("bare", schema=schema, properties={"partitionkey.isolation": True}))
        client.drop_collection("apart")

    def dynamic(self):
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("later", schema=schema, index_params=params, consistency_level="Strong")
        client.insert("later", [{"id": 1, "v": [1, 0]}])
        client.alter_collection_properties("later", properties={"dynamicfield.enabled": True})
        told = client.describe_collection("later")
        self.same((told["enable_dynamic_field"], told["properties"]["max_field_id"]), (True, "102"), "fields beyond the collection's")
        client.upsert("later", [{"id": 2, "v": [2, 0], "more": "x"}])
        rows = [dict(row) for row in client.query("later", filter="more == 'x'", output_fields=["more"])]
        self.same(rows, [{"id": 2, "more": "x"}], "and what is in them")
        params = client.prepare_index_params()
        params.add_index("more", index_name="beyond", index_type="INVERTED", params={"json_cast_type": "varchar", "json_path": "more"})
        client.create_index("later", params)
        client.alter_collection_properties("later", properties={"dynamicfield.enabled": False})
        told = client.describe_collection("later")
        self.same((told["enable_dynamic_field"], client.list_indexes("later")), (False, ["v"]), "and none any more, nor their indexes")
        shown = lambda: [sorted(row) for row in client.query("later", filter="id == 2", output_fields=["*"])]
        self.same(shown(), [["id", "v"]], "nobody sees what rows had")
        self.refused(1100, "field more not exist", lambda: client.query("later", filter="more == 'x'"))
        client.alter_collection_properties("later", properties={"dynamicfield.enabled": True})
        self.same((shown(), self.count("later", "more == 'x'"), self.count("later", "id > 0")), ([["id", "v"]], 0, 2), "nor when they may again")
        client.upsert("later", [{"id": 2, "other": "y"}], partial_update=True)
        rows = [dict(row) for row in client.query("later", filter="other == 'y'", output_fields=["more", "other"])]
        self.same(rows, [{"id": 2, "other": "y"}], "what comes then is there")
        client.drop_collection("later")
        client.create_database("small", properties={"database.max.collections": 1})
        client.use_database("small")
        client.create_collection("one", dimension=2)
        self.refused(102, "exceeded the limit number of collections", lambda: client.create_collection("two", dimension=2))
        rows = [{"id": 1, "vector": [1, 0]}]
        for what, said, call in [("writing", "force deny writing", lambda: client.insert("one", rows)),
                                 ("reading", "force deny reading", lambda: client.query("one", filter="id > 0")),
                                 ("partitionDDL", "force deny DDL", lambda: client.create_partition("one", "p")),
                                 ("ddl", "force deny DDL", lambda: client.drop_collection("one"))]:
            client.alter_database_properties("small", properties={f"database.force.deny.{what}": "true"})
            self.refused(9, said, call)
            client.drop_database_properties("small", property_keys=[f"database.force.deny.{what}"])
        client.insert("one", rows)
        client.drop_collection("one")
        client.use_database("default")
        client.drop_database("small")

    def resource_groups(self):
        client = self.client
        self.same(client.list_resource_groups(), [USUAL], "at first")
        client.create_resource_group("rg")
        client.create_resource_group("rg")
        self.same(client.list_resource_groups(), [USUAL, "rg"], "made twice is there once")
        told = client.describe_resource_group(USUAL)
        self.same((told.name, told.num_available_node, len(told.nodes), dict(told.num_loaded_replica).get("ranked")),
                  (USUAL, 1, 1, 1), "the node is in the usual one")
        self.refused(300, "resource group not found", lambda: client.describe_resource_group("nope"))
        self.refused(1100, "resource group name", lambda: client.create_resource_group("a b"))
        client.transfer_replica(USUAL, "rg", "ranked", 1)
        self.same(dict(client.describe_resource_group("rg").num_loaded_replica), {"ranked": 1}, "a collection goes over")
        self.same(client.describe_replica("ranked")[0].resource_group, "rg", "and says so")
        self.refused(1100, "some replicas still loaded in resource group[rg], release it first: invalid parameter[expected=empty resource group]", lambda: client.drop_resource_group("rg"))
        self.refused(1100, "only found [0] replicas", lambda: client.transfer_replica(USUAL, "rg", "ranked", 1))
        client.transfer_replica("rg", USUAL, "ranked", 1)
        client.update_resource_groups({"rg": ResourceGroupConfig(requests={"node_num": 0}, limits={"node_num": 1})})
        self.refused(1100, "resource group's limits node num is not 0: invalid parameter[expected=not empty resource group][actual=rg]",
                     lambda: client.drop_resource_group("rg"))
        client.update_resource_groups({"rg": ResourceGroupConfig(requests={"node_num": 0}, limits={"node_num": 0})})
        # Partitions are loaded somewhere, too.
        self.refused(300, "resource group not found", lambda: client.load_partitions("ranked", ["_default"], resource_groups=["nope"]))
        client.drop_resource_group("rg")
        client.drop_resource_group("rg")
        self.refused(1100, "default resource group is not deletable", lambda: client.drop_resource_group(USUAL))

    def segments(self):
        """Segments are told where a collection is loaded, and can go from the one node to itself."""
        self.client.flush("ranked")
        connections.connect(uri=self.uri)
        segment = utility.get_query_segment_info("ranked")[0]
        self.same((segment.num_rows > 0, list(segment.nodeIds), segment.state), (True, [1], 3), "a sealed segment with rows, and its node")
        balance = lambda source=1, to=(1,), which=(segment.segmentID,): utility.load_balance("ranked", source, list(to), list(which))
        balance()
        balance(which=())
        for code, said, call in [
            (901, "source node not found in any replica", lambda: balance(source=7)),
            (901, "destination node not found in the same replica: node not found[node=7]", lambda: balance(to=(1, 7))),
            (600, "segment not found in source node: segment not found[segment=5]", lambda: balance(which=(segment.segmentID, 5))),
            (100, "collection not found", lambda: utility.load_balance("nope", 1, [1], [])),
        ]:
            self.refused(code, said, call)
        self.client.release_collection("ranked")
        self.same(list(utility.get_query_segment_info("ranked")), [], "of what is not loaded nothing is told")
        self.refused(103, "can't balance segments of not fully loaded collection", balance)
        self.client.load_collection("ranked")
        connections.disconnect("default")

    def by_name(self):
        """What there is nothing behind says so by its name, in an answer that clients understand."""
        channel = grpc.insecure_channel(self.uri.removeprefix("http://"))
        for name, answer in [("CalcDistance", milvus_pb2.CalcDistanceResults), ("BackupRBAC", milvus_pb2.BackupRBACMetaResponse),
                             ("ReplicateMessage", milvus_pb2.ReplicateMessageResponse)]:
            call = channel.unary_unary(SERVICE + name, request_serializer=bytes, response_deserializer=answer.FromString)
            status = call(b"", timeout=60).status
            self.same((status.code, name in status.reason), (3000, True), name)
        call = channel.unary_unary(SERVICE + "GetMetrics", request_serializer=milvus_pb2.GetMetricsRequest.SerializeToString,
                                   response_deserializer=milvus_pb2.GetMetricsResponse.FromString)
        told = call(milvus_pb2.GetMetricsRequest(request=json.dumps({"metric_type": "system_info"})), timeout=60)
        (node,) = json.loads(told.response)["nodes_info"]
        self.same((told.status.code, node["infos"]["system_info"]["deploy_mode"]), (0, "STANDALONE"), "what the system is made of")
        told = call(milvus_pb2.GetMetricsRequest(request=json.dumps({"metric_type": "weather"})), timeout=60)
        self.same(told.status.code, 1200, "a metric that there is none of")
        channel.close()


def main(uri):
    session = Rankers(uri)
    session.make()
    session.boosts()
    session.groups()
    session.partial()
    session.isolated()
    session.dynamic()
    session.resource_groups()
    session.segments()
    session.by_name()
    session.client.drop_collection("ranked")
    session.close()


if __name__ == "__main__":
    main(sys.argv[1])
