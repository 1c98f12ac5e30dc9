"""One collection is one index: what is written through Milvus' API is found through OpenSearch's, and the other way
round, by the table of types in docs/milvus.md. Asked with the addresses of both."""

import sys

import numpy
from pymilvus import DataType

from session import Rest, Session, cosine, rounded, squared

ROWS = 60
SCALARS = [("b", DataType.BOOL, "boolean"), ("i8", DataType.INT8, "byte"), ("i16", DataType.INT16, "short"),
           ("i32", DataType.INT32, "integer"), ("i64", DataType.INT64, "long"), ("f", DataType.FLOAT, "float"),
           ("d", DataType.DOUBLE, "double")]
WORDS = "red green blue".split()


class OneIndex(Session):
    def __init__(self, uri, address):
        super().__init__(uri)
        self.rest = Rest(address)

    def found(self, index, query, **more):
        """Ids that OpenSearch's API finds, in the order of the field `at`."""
        body = {"query": query, "size": 1000, "sort": ["at"], **more}
        return [hit["_id"] for hit in self.rest.ask("POST", f"/{index}/_search", body)["hits"]["hits"]]

    def rows(self):
        return [{
            "pk": f"k{i}", "at": i, "b": i % 2 == 0, "i8": i - 30, "i16": i * 100, "i32": None if i % 5 == 0 else i,
            "i64": i * 10**12, "f": None if i % 7 == 0 else i / 4, "d": i / 8, "tag": WORDS[i % 3],
            "txt": f"the {WORDS[i % 3]} thread number {i}", "j": {"n": i, "deep": {"s": f"x{i % 4}"}} if i % 4 else None,
            "arr": list(range(i % 6)), "tags": [WORDS[i % 3], f"t{i % 2}"], "color": WORDS[(i + 1) % 3], "size": i % 10,
            "v": self.vector(8), "h": numpy.array(self.vector(4), dtype=numpy.float16),
            "i8v": numpy.array([i, -i, 1, 2], dtype=numpy.int8), "bits": bytes([i, 255 - i]),
            "s": {1: 1.0 + i, 7 + i % 3: 2.0},
        } for i in range(ROWS)]

    def make(self):
        client = self.client
        schema = client.create_schema(enable_dynamic_field=True)
        schema.add_field("pk", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("at", DataType.INT64)
        for name, kind, _ in SCALARS:
            schema.add_field(name, kind, nullable=name in ("i32", "f"))
        schema.add_field("tag", DataType.VARCHAR, max_length=40)
        schema.add_field("txt", DataType.VARCHAR, max_length=200, enable_analyzer=True, enable_match=True)
        schema.add_field("j", DataType.JSON, nullable=True)
        schema.add_field("arr", DataType.ARRAY, element_type=DataType.INT64, max_capacity=8)
        schema.add_field("tags", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=8, max_length=20)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=8)
        schema.add_field("h", DataType.FLOAT16_VECTOR, dim=4)
        schema.add_field("i8v", DataType.INT8_VECTOR, dim=4)
        schema.add_field("bits", DataType.BINARY_VECTOR, dim=16)
        schema.add_field("s", DataType.SPARSE_FLOAT_VECTOR)
        params = client.prepare_index_params()
        params.add_index("v", index_type="HNSW", metric_type="L2")
        params.add_index("h", index_type="FLAT", metric_type="COSINE")
        params.add_index("i8v", index_type="HNSW", metric_type="L2")
        params.add_index("bits", index_type="BIN_FLAT", metric_type="HAMMING")
        params.add_index("s", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
        client.create_collection("own", schema=schema, index_params=params, consistency_level="Strong")
        rows = self.rows()
        self.same(client.insert("own", rows)["insert_count"], ROWS, "inserted")
        client.create_partition("own", "aside")
        client.insert("own", [{**rows[0], "pk": "aside", "at": ROWS}], partition_name="aside")
        self.rest.ask("POST", "/own/_refresh")
        return rows

    def mapping(self):
        """The table of docs/milvus.md."""
        told = self.rest.ask("GET", "/own/_mapping")["own"]["mappings"]["properties"]
        kinds = {name: field["type"] for name, field in told.items()}
        wanted = {"pk": "keyword", "at": "long", "tag": "keyword", "txt": "keyword", "arr": "long", "tags": "keyword",
                  "$meta": "flat_object", "$partition": "keyword", "$written": "long", "$long": "boolean", "s": "sparse_vector"}
        wanted |= {name: kind for name, _, kind in SCALARS}
        wanted |= {name: "knn_vector" for name in ("v", "h", "i8v", "bits")}
        self.same(kinds, wanted, "the mapping")
        self.same(told["txt"]["fields"]["text"]["type"], "text", "the words of a text")

    def read_by_rest(self, rows):
        rest = self.rest
        self.same(rest.ask("GET", "/own/_count")["count"], ROWS + 1, "counted")
        source = rest.ask("GET", "/own/_doc/k9")["_source"]
        for name in ("pk", "b", "i8", "i16", "i32", "i64", "f", "d", "tag", "txt", "j", "arr", "tags"):
            self.same(source[name], rows[9][name], f"the document's {name}")
        self.same(source["$meta"], {"color": rows[9]["color"], "size": 9}, "what is beside the fields")
        self.same(rounded(source["v"]), rounded(rows[9]["v"]), "its vector")
        self.same(rounded(source["h"]), rounded(rows[9]["h"]), "its vector of half the width")
        self.same(list(source["i8v"]), [9, -9, 1, 2], "its vector of bytes")
        self.same([x % 256 for x in source["bits"]], [9, 246], "its bits")
        self.same(source["s"], {"1": 10.0, "7": 2.0}, "its weights")
        source = rest.ask("GET", "/own/_doc/k0")["_source"]
        self.same([name in source and source[name] is not None for name in ("i32", "f", "j")], [False] * 3, "nulls")

        def check(query, matches, **more):
            wanted = [row["pk"] for row in rows if matches(row)]
            got = [name for name in self.found("own", query, **more) if name != "aside"]
            self.same(got, wanted, query)

        check({"term": {"tag": "red"}}, lambda r: r["tag"] == "red")
        check({"term": {"b": True}}, lambda r: r["b"])
        check({"terms": {"i8": [-30, 5]}}, lambda r: r["i8"] in (-30, 5))
        check({"range": {"i64": {"gte": 10**13, "lt": 2 * 10**13}}}, lambda r: 10**13 <= r["i64"] < 2 * 10**13)
        check({"range": {"d": {"gt": 5.0}}}, lambda r: r["d"] > 5)
        check({"range": {"f": {"lte": 3.5}}}, lambda r: r["f"] is not None and r["f"] <= 3.5)
        check({"bool": {"must_not": [{"exists": {"field": "i32"}}]}}, lambda r: r["i32"] is None)
        check({"match": {"txt.text": "BLUE"}}, lambda r: "blue" in r["txt"])
        check({"match_phrase": {"txt.text": "thread number 7"}}, lambda r: r["txt"].endswith(" 7"))
        check({"term": {"txt": rows[4]["txt"]}}, lambda r: r["pk"] == "k4")
        check({"term": {"arr": 4}}, lambda r: 4 in r["arr"])
        check({"term": {"tags": "t1"}}, lambda r: "t1" in r["tags"])
        check({"term": {"$meta.color": "green"}}, lambda r: r["color"] == "green")
        check({"prefix": {"pk": "k1"}}, lambda r: r["pk"].startswith("k1"))
        check({"ids": {"values": ["k3", "k4"]}}, lambda r: r["pk"] in ("k3", "k4"))
        self.same(self.found("own", {"term": {"$partition": "aside"}}), ["aside"], "a partition")
        near = sorted(rows, key=lambda row: squared(row["v"], rows[5]["v"]))[:7]
        query = {"knn": {"v": {"vector": rows[5]["v"], "k": 7}}}
        hits = rest.ask("POST", "/own/_search", {"query": query, "size": 7})["hits"]["hits"]
        names = [hit["_id"] for hit in hits if hit["_id"] != "aside"]
        self.same(names, [row["pk"] for row in near][:len(names)], "the nearest")
        query = {"neural_sparse": {"s": {"query_tokens": {"1": 1.0}}}}
        hits = rest.ask("POST", "/own/_search", {"query": query, "size": 1})["hits"]["hits"]
        self.same((hits[0]["_id"], hits[0]["_score"]), ("k59", 60.0), "the greatest weight")
        body = {"size": 0, "aggs": {"tag": {"terms": {"field": "tag"}}, "sum": {"sum": {"field": "i16"}},
                                    "elements": {"terms": {"field": "arr"}}}}
        told = rest.ask("POST", "/own/_search", {**body, "query": {"prefix": {"pk": "k"}}})["aggregations"]
        self.same({one["key"]: one["doc_count"] for one in told["tag"]["buckets"]}, {w: ROWS // 3 for w in WORDS}, "buckets")
        self.same(told["sum"]["value"], sum(row["i16"] for row in rows), "a sum")
        self.same({one["key"]: one["doc_count"] for one in told["elements"]["buckets"]},
                  {n: sum(n in row["arr"] for row in rows) for n in range(5)}, "elements")

    def write_by_rest(self, rows):
        """What OpenSearch's API writes into a collection is rows of it."""
        client, rest = self.client, self.rest
        rest.ask("DELETE", "/own/_doc/k1?refresh=true")
        self.same(client.get("own", ids=["k1"]), [], "deleted by the other side")
        rest.ask("POST", "/own/_update/k2?refresh=true", {"doc": {"i16": 4242, "tag": "black"}})
        (row,) = client.get("own", ids=["k2"], output_fields=["i16", "tag", "txt", "v"])
        self.same((row["i16"], row["tag"], row["txt"]), (4242, "black", rows[2]["txt"]), "updated by the other side")
        self.same(rounded(row["v"]), rounded(rows[2]["v"]), "its vector stays")
        self.same([r["pk"] for r in client.query("own", filter="tag == 'black'", output_fields=["pk"])], ["k2"], "by its value")
        document = {"pk": "new", "at": 99, "b": True, "i8": 1, "i16": 2, "i64": 3, "d": 4.5, "tag": "white",
                    "txt": "a white thread", "arr": [7], "tags": ["w"], "$meta": {"color": "gold"}, "v": [9.0] * 8,
                    "h": [1.0, 2.0, 3.0, 4.0], "i8v": [1, 2, 3, 4], "bits": [1, 2], "s": {"5": 3.0}, "j": {"n": 1000}}
        rest.ask("PUT", "/own/_doc/new?refresh=true", document, status=201)
        (row,) = client.query("own", filter="color == 'gold' and json_contains(arr, 7)", output_fields=["*"])
        for name in ("pk", "at", "b", "i8", "i16", "i32", "i64", "f", "d", "tag", "txt", "arr", "tags"):
            self.same(row[name], document.get(name), f"the row's {name}")
        self.same((row["color"], rounded(row["v"])), ("gold", [9.0] * 8), "beside the fields, and the vector")
        for name, probe in [("v", [9.0] * 8), ("h", numpy.array([1, 2, 3, 4], dtype=numpy.float16)),
                            ("i8v", numpy.array([1, 2, 3, 4], dtype=numpy.int8)), ("bits", bytes([1, 2])), ("s", {5: 1.0})]:
            (hits,) = client.search("own", data=[probe], anns_field=name, limit=1)
            self.same(hits[0]["pk"], "new", f"nearest by {name}")
        # And back.
        client.delete("own", ids=["new"])
        rest.ask("GET", "/own/_doc/new", status=404)
        client.upsert("own", [{"pk": "k2", "i16": 17}], partial_update=True)
        self.same(rest.ask("GET", "/own/_doc/k2")["_source"]["i16"], 17, "a part, changed by Milvus' side")
        self.same(rest.ask("GET", "/own/_doc/k2")["_source"]["tag"], "black", "and the rest of it")
        client.delete("own", filter="i8 < 0")
        rest.ask("POST", "/own/_refresh")
        self.same(self.found("own", {"range": {"i8": {"lt": 0}}}), [], "deleted by an expression")
        rest.ask("POST", "/own/_delete_by_query?refresh=true", {"query": {"term": {"b": True}}})
        self.same(self.count("own", "b == true"), 0, "deleted by a query")
        rest.ask("DELETE", "/own")
        self.same(client.has_collection("own"), False, "the index is gone, and so is the collection")

    def foreign(self):
        """An index that OpenSearch's API made is a collection whose primary key is `_id`."""
        client, rest = self.client, self.rest
        kinds = {"at": "long", "n": "integer", "small": "byte", "price": "double", "half": "float", "sold": "boolean",
                 "brand": "keyword", "title": "text", "when": "date", "host": "ip"}
        properties = {name: {"type": kind} for name, kind in kinds.items()}
        properties["v"] = {"type": "knn_vector", "dimension": 4, "method": {
            "name": "hnsw", "engine": "faiss", "space_type": "cosinesimil"}}
        rest.ask("PUT", "/shop", {"settings": {"index.knn": True}, "mappings": {"properties": properties}})
        documents = {f"d{i}": {"at": i, "n": i, "small": i % 100, "price": i / 2, "half": i / 4, "sold": i % 2 == 0,
                               "brand": WORDS[i % 3], "title": f"The {WORDS[i % 3]} Ball {i}", "when": 1_700_000_000_000 + i,
                               "host": f"10.0.0.{i}", "v": self.vector(4)} for i in range(40)}
        del documents["d7"]["price"]
        lines = [line for name, one in documents.items() for line in ({"index": {"_index": "shop", "_id": name}}, one)]
        rest.ask("POST", "/_bulk?refresh=true", lines)
        self.same(client.has_collection("shop"), True, "an index is a collection")
        told = client.describe_collection("shop")
        fields = {field["name"]: field["type"] for field in told["fields"]}
        wanted = {"_id": DataType.VARCHAR, "at": DataType.INT64, "n": DataType.INT32, "small": DataType.INT8,
                  "price": DataType.DOUBLE, "half": DataType.FLOAT, "sold": DataType.BOOL, "brand": DataType.VARCHAR,
                  "title": DataType.VARCHAR, "when": DataType.INT64, "host": DataType.VARCHAR, "v": DataType.FLOAT_VECTOR}
        self.same(fields, wanted, "its fields")
        self.same([field["name"] for field in told["fields"] if field.get("is_primary")], ["_id"], "its key")
        self.same(client.describe_index("shop", "v")["metric_type"], "COSINE", "its metric")
        self.same(self.count("shop"), 40, "counted")

        def check(expression, matches):
            rows = client.query("shop", filter=expression, output_fields=["_id"])
            wanted = sorted(name for name, one in documents.items() if matches(name, one))
            self.same(sorted(row["_id"] for row in rows), wanted, expression)

        check("n >= 30 and sold == true", lambda _, d: d["n"] >= 30 and d["sold"])
        check("brand in ['red', 'blue']", lambda _, d: d["brand"] in ("red", "blue"))
        check("price < 3", lambda _, d: d.get("price") is not None and d["price"] < 3)
        check("price is null", lambda _, d: "price" not in d)
        check("brand like 'gr%' and not (n > 20)", lambda _, d: d["brand"] == "green" and d["n"] <= 20)
        check("_id in ['d3', 'd4', 'zz']", lambda name, _: name in ("d3", "d4"))
        check("n % 7 == 2", lambda _, d: d["n"] % 7 == 2)
        check("text_match(title, 'BLUE')", lambda _, d: "blue" in d["title"])
        check(f"when > {1_700_000_000_020}", lambda _, d: d["when"] > 1_700_000_000_020)
        query = documents["d9"]["v"]
        ranked = sorted(documents, key=lambda name: -cosine(query, documents[name]["v"]))
        (hits,) = client.search("shop", data=[query], limit=5, output_fields=["brand", "n", "title", "v"])
        self.same([hit["_id"] for hit in hits], ranked[:5], "the nearest")
        self.same(hits[0]["entity"]["title"], "The red Ball 9", "a text")
        self.same(rounded(hits[0]["entity"]["v"], 3), rounded(query, 3), "a vector")
        assert abs(hits[1]["distance"] - cosine(query, documents[ranked[1]]["v"])) < 1e-3
        (hits,) = client.search("shop", data=[query], limit=5, filter="brand == 'blue'")
        self.same([hit["_id"] for hit in hits], [n for n in ranked if documents[n]["brand"] == "blue"][:5], "filtered")
        pages, seen = client.query_iterator("shop", filter="n < 35", batch_size=10, output_fields=["n"]), []
        while page := pages.next():
            seen += [row["n"] for row in page]
        self.same(sorted(seen), list(range(35)), "an iterator")
        client.delete("shop", ids=["d0"])
        rest.ask("GET", "/shop/_doc/d0", status=404)
        client.upsert("shop", [{"_id": "d50", **documents["d3"], "n": 500, "extra": 5}])
        source = rest.ask("GET", "/shop/_doc/d50")["_source"]
        self.same((source["n"], source["brand"], rounded(source["v"])), (500, "red", rounded(documents["d3"]["v"])), "written")
        self.same("_id" in source, False, "the key is the document's id, not a field of it")
        rest.ask("POST", "/shop/_refresh")
        self.same(self.found("shop", {"range": {"n": {"gt": 100}}}), ["d50"], "and found")
        self.same(client.query("shop", filter="n > 100", output_fields=["_id", "extra"])[0]["extra"], 5, "and back")
        client.drop_collection("shop")
        rest.ask("GET", "/shop", status=404)


def main(uri, address):
    session = OneIndex(uri, address)
    rows = session.make()
    session.mapping()
    session.read_by_rest(rows)
    session.write_by_rest(rows)
    session.foreign()
    session.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
