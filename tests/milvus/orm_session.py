"""pymilvus' older classes (Collection, utility) and its asynchronous client, against a server at the address given."""

import asyncio
import json
import random
import sys

import pymilvus
from pymilvus import (AnnSearchRequest, AsyncMilvusClient, Collection, CollectionSchema, DataType, FieldSchema,
                      MilvusException, Partition, RRFRanker, WeightedRanker, connections, utility)

ROWS, DIM = 300, 8
DICE = random.Random(5)
CHECKS = 0


def same(got, want, what):
    global CHECKS
    CHECKS += 1
    assert got == want, f"{what}: {got!r} is not {want!r}"


def refused(code, call):
    global CHECKS
    CHECKS += 1
    try:
        call()
    except MilvusException as error:
        assert error.code == code, f"{error.code} is not {code}: {error.message}"
        return
    raise AssertionError(f"nothing was refused with {code}")


def vector(dim=DIM):
    return [DICE.gauss(0, 1) for _ in range(dim)]


def nearest(vectors, query, k, allowed=lambda number: True):
    """Keys by squared distance, by arithmetic."""
    def distance(number):
        return sum((x - y) ** 2 for x, y in zip(vectors[number], query))
    return sorted(filter(allowed, range(len(vectors))), key=distance)[:k]


def make():
    schema = CollectionSchema([
        FieldSchema("pk", DataType.INT64, is_primary=True, auto_id=False),
        FieldSchema("title", DataType.VARCHAR, max_length=100),
        FieldSchema("price", DataType.DOUBLE),
        FieldSchema("v", DataType.FLOAT_VECTOR, dim=DIM),
        FieldSchema("w", DataType.FLOAT_VECTOR, dim=DIM),
    ], description="books", enable_dynamic_field=True)
    books = Collection("books", schema, consistency_level="Strong")
    same((books.is_empty, books.num_entities, books.description), (True, 0, "books"), "a new collection")
    same(books.primary_field.name, "pk", "its key")
    same([field.name for field in books.schema.fields], ["pk", "title", "price", "v", "w"], "its fields")
    v, w = [vector() for _ in range(ROWS)], [vector() for _ in range(ROWS)]
    columns = [list(range(ROWS)), [f"t{n % 10}" for n in range(ROWS)], [n / 2 for n in range(ROWS)], v, w]
    same(books.insert(columns).insert_count, ROWS, "columns are inserted")
    books.flush()
    same(books.num_entities, ROWS, "entities")
    books.create_index("v", {"index_type": "HNSW", "metric_type": "L2", "params": {"M": 16, "efConstruction": 100}},
                       index_name="nearest_v")
    books.create_index("w", {"index_type": "IVF_FLAT", "metric_type": "L2", "params": {"nlist": 16}})
    books.create_index("title", {"index_type": "INVERTED"})
    same(sorted(index.index_name for index in books.indexes), ["nearest_v", "title", "w"], "indexes")
    told = books.index(index_name="nearest_v").params
    same((told["index_type"], told["metric_type"]), ("HNSW", "L2"), "an index's parameters")
    same((books.has_index(index_name="nearest_v"), books.has_index(index_name="none")), (True, False), "has_index")
    same(utility.index_building_progress("books", "nearest_v")["indexed_rows"], ROWS, "indexed")
    utility.wait_for_index_building_complete("books", "nearest_v")
    # Of a collection that is not loaded, too, a partition that there is not is told first.
    refused(200, lambda: utility.wait_for_loading_complete("books", partition_names=["none"]))
    refused(101, lambda: utility.wait_for_loading_complete("books"))
    books.load()
    utility.wait_for_loading_complete("books")
    same(utility.loading_progress("books")["loading_progress"], "100%", "loaded")
    same(str(utility.load_state("books")), "Loaded", "state of the load")
    return books, v, w


def ask(books, v, w):
    query = vector()
    found = books.search([query, v[3]], "v", {"metric_type": "L2", "params": {"ef": 200}}, limit=5,
                         output_fields=["title", "price"])
    same(list(found[0].ids), nearest(v, query, 5), "the nearest")
    same((found[1][0].id, round(found[1][0].distance, 5), found[1][0].entity.get("title")), (3, 0.0, "t3"), "itself")
    cheap = books.search([query], "v", {"metric_type": "L2"}, limit=5, expr="price < 20 and title in ['t1', 't2']")
    same(list(cheap[0].ids), nearest(v, query, 5, lambda n: n < 40 and n % 10 in (1, 2)), "the nearest, filtered")
    near = books.search([query], "v", {"metric_type": "L2", "params": {"radius": 8.0, "range_filter": 0.0}}, limit=300)
    same(all(distance < 8.0 for distance in near[0].distances), True, "within a radius")
    rows = books.query("price >= 10 and price < 12", output_fields=["pk", "price"])
    same(sorted(row["pk"] for row in rows), [20, 21, 22, 23], "queried")
    same(books.query("", output_fields=["count(*)"])[0]["count(*)"], ROWS, "counted")
    same(len(books.query("pk >= 0", limit=10, offset=295)), 5, "a page at the end")
    requests = [AnnSearchRequest([query], "v", {"metric_type": "L2"}, limit=20),
                AnnSearchRequest([query], "w", {"metric_type": "L2"}, limit=20)]
    for ranker in (RRFRanker(60), WeightedRanker(0.5, 0.5)):
        hits = books.hybrid_search(requests, ranker, limit=10, output_fields=["title"])
        same((len(hits[0]), hits[0][0].entity.get("title")), (10, f"t{hits[0][0].id % 10}"), "hybrid")
    ranks = {}
    for vectors in (v, w):
        for rank, number in enumerate(nearest(vectors, query, 20), 1):
            ranks[number] = ranks.get(number, 0) + 1 / (60 + rank)
    hits = books.hybrid_search(requests, RRFRanker(60), limit=3)
    same([round(d, 5) for d in hits[0].distances], [round(x, 5) for x in sorted(ranks.values(), reverse=True)[:3]], "RRF")


def pages(iterator):
    """Everything that an iterator gives, and how many pages it took."""
    everything, count = [], 0
    while page := iterator.next():
        everything += page
        count += 1
    iterator.close()
    return everything, count


def iterate(books, v):
    rows, count = pages(books.query_iterator(batch_size=70, expr="pk < 250", output_fields=["pk"]))
    same((sorted(row["pk"] for row in rows), count), (list(range(250)), 4), "a query's pages")
    rows, _ = pages(books.query_iterator(batch_size=70, limit=100, output_fields=["pk"]))
    same(len({row["pk"] for row in rows}), 100, "a query's pages with a limit")
    query = vector()
    hits, _ = pages(books.search_iterator([query], "v", {"metric_type": "L2", "params": {"ef": 64}}, batch_size=60,
                                          limit=150, output_fields=["pk"]))
    same([hit.id for hit in hits], nearest(v, query, 150), "a search's pages")


def change(books):
    same(books.delete("pk in [0, 1]").delete_count, 2, "deleted")
    same(books.query("pk in [0, 1, 2]", output_fields=["pk"]), [{"pk": 2}], "gone")
    row = {"pk": 2, "title": "new", "price": 1.5, "v": vector(), "w": vector(), "colour": "red"}
    same(books.upsert([row]).upsert_count, 1, "upserted")
    (row,) = books.query("colour == 'red'", output_fields=["title", "colour"])
    same((row["title"], row["colour"]), ("new", "red"), "the new row, by a field of no schema")
    refused(1100, lambda: books.query("nonsense ==", output_fields=["pk"]))
    refused(100, lambda: utility.create_alias("gone", "an_alias"))


def divide(books):
    part = books.create_partition("shelf")
    same((books.has_partition("shelf"), sorted(p.name for p in books.partitions)), (True, ["_default", "shelf"]), "parts")
    part.insert([[1000, 1001], ["s", "s"], [1.0, 2.0], [vector(), vector()], [vector(), vector()]])
    part.load()
    rows = part.query("pk >= 0", output_fields=["pk"])
    same(sorted(row["pk"] for row in rows), [1000, 1001], "one partition")
    same(len(books.search([vector()], "v", {"metric_type": "L2"}, limit=9, partition_names=["shelf"])[0]), 2, "searched")
    same(Partition(books, "shelf").num_entities, 2, "entities of a partition")
    part.release()
    books.drop_partition("shelf")
    same(utility.has_partition("books", "shelf"), False, "dropped")


def name(books):
    utility.create_alias("books", "library")
    same(utility.list_aliases("books"), ["library"], "aliases")
    same(Collection("library").query("pk == 5", output_fields=["pk"]), [{"pk": 5}], "by an alias")
    utility.alter_alias("books", "library")
    utility.drop_alias("library")
    same(utility.list_collections(), ["books"], "collections")
    books.release()
    books.drop_index(index_name="nearest_v")
    same(books.has_index(index_name="nearest_v"), False, "the index is gone")
    version = utility.get_server_version()
    # Integrations ask for indexes such as HNSW_SQ of no older one.
    same(tuple(map(int, version.lstrip("v").split("."))) >= (2, 6, 8), True, f"the version {version}")
    books.drop()
    same(utility.has_collection("books"), False, "dropped")


async def asynchronous(uri):
    client = AsyncMilvusClient(uri=uri)
    await client.create_collection("later", dimension=DIM, metric_type="L2", consistency_level="Strong")
    v = [vector() for _ in range(100)]
    await asyncio.gather(*(
        client.insert("later", [{"id": n, "vector": v[n], "odd": n % 2} for n in range(start, start + 25)])
        for start in range(0, 100, 25)))
    queries = [vector() for _ in range(8)]
    answers = await asyncio.gather(*(client.search("later", [q], limit=4, filter="odd == 1") for q in queries))
    for query, (hits,) in zip(queries, answers):
        same([hit["id"] for hit in hits], nearest(v, query, 4, lambda n: n % 2), "searched beside others")
    same(len(await client.query("later", filter="id < 7")), 7, "queried")
    same([row["id"] for row in await client.get("later", ids=[4])], [4], "got")
    await client.upsert("later", [{"id": 4, "vector": v[5], "odd": 1}])
    same((await client.delete("later", filter="odd == 1"))["delete_count"], 51, "deleted")
    requests = [AnnSearchRequest([queries[0]], "vector", {}, limit=5)] * 2
    same(len((await client.hybrid_search("later", requests, RRFRanker(), limit=5))[0]), 5, "hybrid")
    await client.drop_collection("later")
    same(await client.has_collection("later"), False, "dropped")
    await client.close()


def main(uri):
    connections.connect(uri=uri)
    same(connections.has_connection("default"), True, "connected")
    books, v, w = make()
    ask(books, v, w)
    iterate(books, v)
    change(books)
    divide(books)
    name(books)
    connections.disconnect("default")
    asyncio.run(asynchronous(uri))
    print(json.dumps({"version": pymilvus.__version__, "checks": CHECKS}))


if __name__ == "__main__":
    main(*sys.argv[1:])
