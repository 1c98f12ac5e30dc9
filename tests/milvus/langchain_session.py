"""What people do with LangChain's store of vectors, against a server at the address given."""

import json
import math
import sys
from importlib.metadata import version

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_milvus import BM25BuiltInFunction, Milvus

CHECKS = 0
DIM = 8


class Turns(Embeddings):
    """A text that ends in a number lies on a circle, at that many steps of a hundredth."""

    def embed_query(self, text):
        number = int(text.rsplit(" ", 1)[1])
        return [math.cos(number / 100), math.sin(number / 100)] + [0.0] * (DIM - 2)

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


def same(got, want, what):
    global CHECKS
    CHECKS += 1
    assert got == want, f"{what}: {got!r} is not {want!r}"


def texts_of(documents):
    return [document.page_content for document in documents]


def plain(uri):
    store = Milvus(Turns(), collection_name="plain", connection_args={"uri": uri}, auto_id=False, drop_old=True,
                   consistency_level="Strong", enable_dynamic_field=True)
    numbers = range(0, 100)
    ids = store.add_texts([f"text {n}" for n in numbers], metadatas=[{"n": n, "odd": n % 2 == 1} for n in numbers],
                          ids=[f"id{n}" for n in numbers])
    same((len(ids), ids[3]), (100, "id3"), "keys")
    same(texts_of(store.similarity_search("query 50", k=1)), ["text 50"], "the nearest")
    found = store.similarity_search("query 50", k=3, expr="odd == true and n > 51")
    same(texts_of(found), ["text 53", "text 55", "text 57"], "the nearest, filtered")
    ((document, score),) = store.similarity_search_with_score("query 7", k=1)
    same((document.metadata["n"], round(score, 5)), (7, 0.0), "its metadata and distance")
    same(len(store.similarity_search_with_relevance_scores("query 7", k=2)), 2, "relevance")
    same(len(store.max_marginal_relevance_search("query 30", k=4, fetch_k=20)), 4, "diverse ones")
    same(texts_of(store.max_marginal_relevance_search("query 30", k=1, fetch_k=20, expr="n >= 60")), ["text 60"], "MMR")
    retriever = store.as_retriever(search_type="mmr", search_kwargs={"k": 2, "fetch_k": 10})
    same(len(retriever.invoke("query 5")), 2, "retrieved")
    same(store.delete(ids=["id50"]) is not False, True, "deleted")
    same(texts_of(store.similarity_search("query 50", k=2, expr="n == 50 or n == 51")), ["text 51"], "without it")
    store.upsert(ids=["id51"], documents=[Document("changed 99", metadata={"n": 51, "odd": True})])
    (again,) = store.similarity_search("query 99", k=1, expr="n == 51")
    same(again.page_content, "changed 99", "upserted")
    same(sorted(store.get_pks("n < 2")), ["id0", "id1"], "keys by a filter")


def made_again(uri):
    """A store over a collection that is there; keys that the server gives."""
    options = {"collection_name": "again", "connection_args": {"uri": uri}, "consistency_level": "Strong"}
    documents = [Document(f"text {n}", metadata={"shelf": f"s{n % 3}"}) for n in range(30)]
    Milvus.from_documents(documents, Turns(), auto_id=True, drop_old=True, **options)
    store = Milvus(Turns(), auto_id=True, **options)
    same(texts_of(store.similarity_search("query 10", k=1, expr="shelf == 's1'")), ["text 10"], "found again")
    same(store.similarity_search("query 10", k=3, expr="shelf in ['none']"), [], "nothing")


def partitioned(uri):
    store = Milvus(Turns(), collection_name="tenants", connection_args={"uri": uri}, auto_id=True, drop_old=True,
                   partition_key_field="tenant", consistency_level="Strong")
    store.add_documents([Document(f"text {n}", metadata={"tenant": f"t{n % 4}"}) for n in range(40)])
    found = store.similarity_search("query 20", k=40, expr="tenant == 't1'")
    same({document.metadata["tenant"] for document in found}, {"t1"}, "one tenant's")
    same(len(found), 10, "all of them")


def hybrid(uri):
    store = Milvus(Turns(), builtin_function=BM25BuiltInFunction(), vector_field=["dense", "sparse"],
                   collection_name="hybrid", connection_args={"uri": uri}, auto_id=True, drop_old=True,
                   consistency_level="Strong")
    animals = ["cat", "dog", "fox", "owl"]
    store.add_texts([f"the {animals[n % 4]} number {n}" for n in range(40)])
    for ranker in ({"ranker_type": "rrf", "ranker_params": {"k": 60}},
                   {"ranker_type": "weighted", "ranker_params": {"weights": [0.1, 0.9]}}):
        found = store.similarity_search("fox 44", k=5, **ranker)
        same(len(found), 5, f"by words and vectors, {ranker['ranker_type']}")
    same("fox" in found[0].page_content, True, "the word weighs most")
    words = Milvus(None, builtin_function=BM25BuiltInFunction(), vector_field="sparse", collection_name="words",
                   connection_args={"uri": uri}, auto_id=True, drop_old=True, consistency_level="Strong")
    words.add_texts([f"the {animals[n % 4]} number {n}" for n in range(40)])
    same(all("owl" in text for text in texts_of(words.similarity_search("owl", k=10))), True, "by words alone")


def main(uri):
    for step in (plain, made_again, partitioned, hybrid):
        step(uri)
    print(json.dumps({"version": version("langchain-milvus"), "checks": CHECKS}))


if __name__ == "__main__":
    main(*sys.argv[1:])
