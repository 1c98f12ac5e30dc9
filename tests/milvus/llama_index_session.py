"""What people do with LlamaIndex's store of vectors, against a server at the address given."""

import asyncio
import json
import math
import sys
from importlib.metadata import version

from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.vector_stores.milvus import MilvusVectorStore
from llama_index.vector_stores.milvus.utils import BM25BuiltInFunction
from pymilvus import DataType

CHECKS = 0
DIM = 8


def same(got, want, what):
    global CHECKS
    CHECKS += 1
    assert got == want, f"{what}: {got!r} is not {want!r}"


def turn(number):
    """On a circle, at this many steps of a hundredth."""
    return [math.cos(number / 100), math.sin(number / 100)] + [0.0] * (DIM - 2)


def node(number, text=None):
    source = RelatedNodeInfo(node_id=f"doc{number % 5}")
    return TextNode(id_=f"n{number}", text=text or f"text {number}", embedding=turn(number),
                    metadata={"n": number, "kind": "odd" if number % 2 else "even"},
                    relationships={NodeRelationship.SOURCE: source})


def ask(number, k=1, **more):
    return VectorStoreQuery(query_embedding=turn(number), similarity_top_k=k, **more)


def where(*parts, condition=FilterCondition.AND):
    filters = [MetadataFilter(key=key, operator=operator, value=value) for key, operator, value in parts]
    return MetadataFilters(filters=filters, condition=condition)


def plain(uri):
    store = MilvusVectorStore(uri=uri, collection_name="llama", dim=DIM, overwrite=True, consistency_level="Strong",
                              scalar_field_names=["n", "kind"], scalar_field_types=[DataType.INT64, DataType.VARCHAR])
    same(store.add([node(n) for n in range(100)])[:2], ["n0", "n1"], "keys")
    found = store.query(ask(40, k=2))
    same((found.ids[0], found.nodes[0].get_content(), round(found.similarities[0], 5)), ("n40", "text 40", 1.0), "nearest")
    same(found.nodes[0].metadata, {"n": 40, "kind": "even"}, "its metadata")
    same(store.query(ask(40, k=2, filters=where(("n", FilterOperator.GT, 41), ("kind", FilterOperator.EQ, "odd")))).ids,
         ["n43", "n45"], "filtered")
    either = where(("n", FilterOperator.EQ, 3), ("n", FilterOperator.IN, [5, 7]), condition=FilterCondition.OR)
    same(sorted(store.query(ask(40, k=9, filters=either)).ids), ["n3", "n5", "n7"], "one or the other")
    no = where(("kind", FilterOperator.NIN, ["odd"]), ("n", FilterOperator.LTE, 4))
    same(sorted(store.query(ask(40, k=9, filters=no)).ids), ["n0", "n2", "n4"], "not")
    starts = where(("kind", FilterOperator.TEXT_MATCH, "od"))
    same(len(store.query(ask(40, k=200, filters=starts)).ids), 50, "LIKE")
    same(store.query(ask(40, k=3, mode=VectorStoreQueryMode.MMR), mmr_threshold=0.5).ids[0], "n40", "MMR")
    same(len(store.query(ask(40, k=100, doc_ids=["doc1"])).ids), 20, "of one document")
    same([n.node_id for n in store.get_nodes(["n8"])], ["n8"], "by key")
    same(len(store.get_nodes(filters=where(("n", FilterOperator.LT, 6)))), 6, "by a filter")
    store.delete("doc1")
    same(store.query(ask(40, k=100, doc_ids=["doc1"])).ids, [], "a document is deleted")
    store.delete_nodes(["n40"])
    same("n40" in store.query(ask(40, k=100)).ids, False, "a node is deleted")
    store.delete_nodes(filters=where(("kind", FilterOperator.EQ, "odd")))
    same(len(store.query(ask(40, k=100)).ids), 39, "nodes are deleted by a filter")
    store.clear()
    same(store.query(ask(40)).ids if store.client.has_collection("llama") else [], [], "cleared")


def upserted(uri):
    store = MilvusVectorStore(uri=uri, collection_name="llama_upsert", dim=DIM, overwrite=True, upsert_mode=True,
                              consistency_level="Strong", similarity_metric="COSINE")
    store.add([node(n) for n in range(10)])
    store.add([node(4, text="changed")])
    same((len(store.query(ask(4, k=50)).ids), store.query(ask(4)).nodes[0].get_content()), (10, "changed"), "upserted")


def hybrid(uri):
    store = MilvusVectorStore(uri=uri, collection_name="llama_hybrid", dim=DIM, overwrite=True, enable_sparse=True,
                              sparse_embedding_function=BM25BuiltInFunction(), consistency_level="Strong")
    animals = ["cat", "dog", "fox", "owl"]
    store.add([node(n, text=f"the {animals[n % 4]} number {n}") for n in range(40)])
    found = store.query(ask(20, k=5, mode=VectorStoreQueryMode.HYBRID, query_str="fox"))
    same((len(found.ids), any("fox" in n.get_content() for n in found.nodes)), (5, True), "by words and vectors")
    words = store.query(ask(20, k=10, mode=VectorStoreQueryMode.SPARSE, query_str="owl"))
    same((len(words.ids), all("owl" in n.get_content() for n in words.nodes)), (10, True), "by words")


async def asynchronous(uri):
    store = MilvusVectorStore(uri=uri, collection_name="llama_async", dim=DIM, overwrite=True,
                              consistency_level="Strong")
    await store.async_add([node(n) for n in range(30)])
    same((await store.aquery(ask(12))).ids, ["n12"], "asked beside others")
    await store.adelete("doc2")
    same((await store.aquery(ask(12))).ids != ["n12"], True, "deleted")


def main(uri):
    for step in (plain, upserted, hybrid):
        step(uri)
    asyncio.run(asynchronous(uri))
    print(json.dumps({"version": version("llama-index-vector-stores-milvus"), "checks": CHECKS}))


if __name__ == "__main__":
    main(*sys.argv[1:])
