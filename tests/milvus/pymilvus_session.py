"""What people do with pymilvus, against a server at the address given; everything is held against plain Python."""

import math
import sys
import tempfile

import pymilvus
from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, RRFRanker, WeightedRanker

from session import Session, cosine, product

WORDS = "red green blue quick brown fox lazy dog".split()
DIM = 16


class Client(Session):
    def quickstart(self):
        client, name = self.client, "quick_Start"
        client.create_collection(collection_name=name, dimension=8)
        rows = [{"id": i, "vector": self.vector(8), "text": f"t{i}", "subject": "history" if i % 2 else "biology"}
                for i in range(100)]
        self.same(client.insert(name, rows)["insert_count"], 100, "inserted")
        (hits,) = client.search(name, data=[rows[7]["vector"]], limit=3, output_fields=["text", "subject"])
        self.same((hits[0]["id"], hits[0]["entity"]), (7, {"text": "t7", "subject": "history"}), "the nearest")
        self.same(round(hits[0]["distance"], 5), 1.0, "its cosine")
        (hits,) = client.search(name, data=[rows[7]["vector"]], filter="subject == 'biology'", limit=50)
        self.same((len(hits), all(hit["id"] % 2 == 0 for hit in hits)), (50, True), "as many as asked for, filtered")
        self.same(self.count(name), 100, "counted")
        found = client.get(name, ids=[3, 1], output_fields=["vector"])
        self.same([row["id"] for row in found], [1, 3], "got by key")
        self.same([round(x, 5) for x in found[0]["vector"]], [round(x, 5) for x in rows[1]["vector"]], "its vector")
        client.delete(name, ids=[0, 2])
        client.delete(name, filter="subject == 'biology'")
        self.same(self.count(name), 50, "left")
        client.insert(name, [{**rows[1], "text": "again"}])
        self.same((self.count(name), client.get(name, ids=1)[0]["text"]), (50, "again"), "keys are unique")
        self.same(client.describe_index(name, "vector")["state"], "Finished", "the index")
        client.drop_collection(name)
        self.same(client.has_collection(name), False, "dropped")

    def make_all(self):
        """A collection with a field of every kind."""
        client = self.client
        schema = client.create_schema(auto_id=False, enable_dynamic_field=True)
        schema.add_field("pk", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=DIM)
        schema.add_field("w", DataType.FLOAT_VECTOR, dim=4)
        scalars = [("b", DataType.BOOL), ("i8", DataType.INT8), ("i16", DataType.INT16), ("i32", DataType.INT32),
                   ("i64", DataType.INT64), ("f", DataType.FLOAT), ("d", DataType.DOUBLE)]
        for name, kind in scalars:
            schema.add_field(name, kind, nullable=name in ("i32", "f"))
        schema.add_field("j", DataType.JSON, nullable=True)
        schema.add_field("arr", DataType.ARRAY, element_type=DataType.INT64, max_capacity=20)
        schema.add_field("tags", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=8, max_length=20)
        schema.add_field("txt", DataType.VARCHAR, max_length=200, enable_analyzer=True, enable_match=True,
                         default_value="none given")
        params = client.prepare_index_params()
        params.add_index("v", index_type="HNSW", metric_type="L2", params={"M": 8, "efConstruction": 64})
        params.add_index("w", index_type="IVF_FLAT", metric_type="IP", params={"nlist": 16})
        params.add_index("i64", index_type="STL_SORT")
        params.add_index("txt", index_type="INVERTED")
        client.create_collection("all", schema=schema, index_params=params)
        rows = [{
            "pk": f"k{i}", "v": self.vector(DIM), "w": self.vector(4), "b": i % 2 == 0, "i8": i % 100 - 50, "i16": i,
            "i32": None if i % 5 == 0 else i, "i64": i * 10**10, "f": None if i % 7 == 0 else i / 4, "d": i / 7,
            "j": {"n": i, "s": f"x{i % 3}", "l": [i, i + 1]} if i % 4 else None, "arr": list(range(i % 6)),
            "tags": [WORDS[i % 8], WORDS[(i + 1) % 8]], "txt": " ".join(self.random.sample(WORDS, 3)),
            "color": WORDS[i % 3], "size": i % 10,
        } for i in range(300)]
        self.same(client.insert("all", rows)["insert_count"], 300, "inserted")
        return rows

    def filters(self, rows):
        def found(expression, matches, **more):
            got = self.client.query("all", filter=expression, output_fields=["pk"], **more)
            self.same(sorted(row["pk"] for row in got), sorted(row["pk"] for row in rows if matches(row)), expression)

        def known(field, matches):
            return lambda row: row[field] is not None and matches(row[field])

        found("i64 >= 1000000000000", lambda r: r["i64"] >= 10**12)
        found("10 < i16 <= 20", lambda r: 10 < r["i16"] <= 20)
        found("20 >= i16 > 10", lambda r: 10 < r["i16"] <= 20)
        found("pk in ['k1', 'k2', 'zz']", lambda r: r["pk"] in ("k1", "k2"))
        found("pk not in ['k1']", lambda r: r["pk"] != "k1")
        found("b == true and i8 < 0", lambda r: r["b"] and r["i8"] < 0)
        found("not b", lambda r: not r["b"])
        found("not (i32 > 100)", known("i32", lambda x: x <= 100))
        found("i32 is null", lambda r: r["i32"] is None)
        found("i32 IS NOT NULL", lambda r: r["i32"] is not None)
        found("i32 != 7", known("i32", lambda x: x != 7))
        found("f < 10.5 || i8 == 3", lambda r: (r["f"] is not None and r["f"] < 10.5) or r["i8"] == 3)
        found("i16 % 10 == 3", lambda r: r["i16"] % 10 == 3)
        found("i16 + i8 > 100 && b == false", lambda r: r["i16"] + r["i8"] > 100 and not r["b"])
        found("i8 < 1000", lambda r: True)
        found("i8 > 1000", lambda r: False)
        found("color == 'red'", lambda r: r["color"] == "red")
        found("color in ['red', 'blue']", lambda r: r["color"] in ("red", "blue"))
        found("$meta['size'] == 3", lambda r: r["size"] == 3)
        found("not (size > 7)", lambda r: not r["size"] > 7)
        found("nosuch == 3", lambda r: False)
        found("j['n'] < 15", known("j", lambda j: j["n"] < 15))
        found("j[\"s\"] == 'x1'", known("j", lambda j: j["s"] == "x1"))
        found("j['l'][0] == 5", known("j", lambda j: j["l"][0] == 5))
        found("json_contains(j['l'], 7)", known("j", lambda j: 7 in j["l"]))
        found("json_contains_any(j['l'], [7, 9])", known("j", lambda j: 7 in j["l"] or 9 in j["l"]))
        found("exists j['n']", known("j", lambda j: True))
        found("j['s'] like 'x%' and i16 < 20", lambda r: r["j"] is not None and r["i16"] < 20)
        found("array_contains(arr, 3)", lambda r: 3 in r["arr"])
        found("not array_contains(arr, 3)", lambda r: 3 not in r["arr"])
        found("array_contains_all(arr, [1, 2])", lambda r: 1 in r["arr"] and 2 in r["arr"])
        found("array_length(arr) == 4", lambda r: len(r["arr"]) == 4)
        found("arr[0] == 0", lambda r: len(r["arr"]) > 0)
        for row in rows[:8]:
            found(f"arr == {row['arr']}", lambda r: r["arr"] == row["arr"])
            found(f"{row['arr']} != arr", lambda r: r["arr"] != row["arr"])
        found("array_contains_any(tags, ['red', 'dog'])", lambda r: "red" in r["tags"] or "dog" in r["tags"])
        found("txt like '%fox%'", lambda r: "fox" in r["txt"])
        found("txt like 'red%'", lambda r: r["txt"].startswith("red"))
        found("text_match(txt, 'fox dog')", lambda r: "fox" in r["txt"] or "dog" in r["txt"])
        found("text_match_fuzzy(txt, 'fux', max_edit_distance=1)", lambda r: "fox" in r["txt"])
        found("not text_match_fuzzy(txt, 'odg', MAX_EDIT_DISTANCE=1)", lambda r: "dog" not in r["txt"])
        found("text_match_fuzzy(txt, 'fux', max_edit_distance=0)", lambda r: False)
        found("phrase_match(txt, 'quick fox')", lambda r: "quick fox" in r["txt"])
        found("starts_with(txt, 'red') or starts_with(txt, 'r_d')", lambda r: r["txt"].startswith("red"))
        found("not starts_with(tags[0], 'red')", lambda r: not r["tags"][0].startswith("red"))
        found("starts_with(txt, txt) and not starts_with(txt, tags[0])", lambda r: not r["txt"].startswith(r["tags"][0]))
        found("empty(txt) and not empty(color)", lambda r: False)
        found("txt =~ '^red'", lambda r: r["txt"].startswith("red"))
        found("pk == {k} or i16 in {l}", lambda r: r["pk"] == "k5" or r["i16"] in (1, 2),
              filter_params={"k": "k5", "l": [1, 2]})
        # Later clients pack sets of numbers.
        if pack := getattr(pymilvus, "build_roaring_bitmap", None):
            for members in [[], [1, 2, 300, -1, 2**40], list(range(100, 190)), list(range(-9000, 9000, 2))]:
                packed, among = {"b": pack(members)}, set(members)
                found("roaring_match(i16, {b})", lambda r: r["i16"] in among, filter_params=packed)
                found("not roaring_match(i16, {b})", lambda r: r["i16"] not in among, filter_params=packed)
            for said, expr, packed in [("must be a {template} placeholder", "roaring_match(i16, [1])", b"x"),
                                       ("bitmap blob is invalid", "roaring_match(i16, {b})", b"none"),
                                       ("bitmap blob is invalid", "roaring_match(i16, {b})", pack([1, 2])[:-1]),
                                       ("takes a field of whole numbers", "roaring_match(txt, {b})", pack([1]))]:
                self.refused(1100, said, lambda: self.client.query("all", filter=expr, filter_params={"b": packed}))
        sampled = self.client.query("all", filter="i16 < 200 and random_sample(0.5)", output_fields=["i16"])
        self.same(50 < len(sampled) < 150 and all(row["i16"] < 200 for row in sampled), True, "a sample")
        near = self.client.search("all", [rows[0]["v"]], filter="random_sample(0.5)", anns_field="v", limit=300)[0]
        self.same(90 < len(near) < 210, True, "a sample of what is near")
        self.refused(1100, "the sample factor should be between 0 and 1",
                     lambda: self.client.query("all", filter="random_sample(1)"))
        for wrong, said in [("i64 >", "line 1:5"), ("i8 == 'x'", "i8"), ("(i8 > 1", "expecting ')'"), ("v == 1", "vector"),
                            ("v is null", "IsNull/IsNotNull operations are not supported on vector fields"),
                            ("arr[0] is not null", "IsNull/IsNotNull operations are not supported on array element access"),
                            ("i8 > 1 1", "extraneous input"), ("txt > 5", "VarChar"), ("pk == {k}", "{k}"),
                            ("i32 == NULL", "'<field> is null'"), ("i8 in [1, null]", "'<field> is null'")]:
            self.refused(1100, said, lambda: self.client.query("all", filter=wrong))

    def searches(self, rows):
        client, query = self.client, self.vector(DIM)

        def distance(row):
            return sum((a - b) ** 2 for a, b in zip(query, row["v"]))

        ranked = sorted(rows, key=distance)
        names = [row["pk"] for row in ranked]

        def found(**more):
            (hits,) = client.search("all", [query], anns_field="v", **more)
            return hits

        hits = found(limit=5, output_fields=["*"])
        self.same([hit["pk"] for hit in hits], names[:5], "the nearest")
        for hit, row in zip(hits, ranked):
            assert abs(hit["distance"] - distance(row)) < 1e-3
            entity = hit["entity"]
            for field in ("pk", "b", "i8", "i16", "i32", "i64", "f", "d", "j", "arr", "tags", "txt", "color", "size"):
                self.same(entity[field], row[field], field)
            self.same([round(x, 4) for x in entity["w"]], [round(x, 4) for x in row["w"]], "w")
        self.same([hit["pk"] for hit in found(limit=5, offset=5)], names[5:10], "a page")
        span = {"params": {"radius": distance(ranked[20]), "range_filter": distance(ranked[5])}}
        self.same([hit["pk"] for hit in found(limit=50, search_params=span)], names[5:20], "a range")
        hits = found(limit=10, filter="i16 < 40")
        self.same([hit["pk"] for hit in hits], [row["pk"] for row in ranked if row["i16"] < 40][:10], "filtered")
        best = {}
        for row in ranked:
            best.setdefault(row["i8"], row["pk"])
        self.same([hit["pk"] for hit in found(limit=7, group_by_field="i8")], list(best.values())[:7], "groups")
        for inside, value in [("color", lambda row: row["color"]), ("j['n']", lambda row: row["j"] and row["j"]["n"])]:
            best = {}
            for row in ranked:
                best.setdefault(value(row), row["pk"])
            self.same([hit["pk"] for hit in found(limit=4, group_by_field=inside)], list(best.values())[:4], f"groups by {inside}")
        lists = client.search("all", [query, query, rows[3]["v"]], anns_field="v", limit=4)
        self.same([[hit["pk"] for hit in hits] for hits in lists][:2], [names[:4]] * 2, "several at once")
        self.same(lists[2][0]["pk"], "k3", "the third of them")
        (hits,) = client.search("all", [[1, 0, 0, 0]], anns_field="w", limit=3)
        self.same([hit["pk"] for hit in hits], [r["pk"] for r in sorted(rows, key=lambda r: -r["w"][0])][:3], "by product")
        asked = [AnnSearchRequest([query], "v", {}, limit=10), AnnSearchRequest([[1, 0, 0, 0]], "w", {}, limit=10)]
        (hits,) = client.hybrid_search("all", asked, RRFRanker(), limit=3)
        self.same(round(hits[0]["distance"], 4), round(1 / 61, 4), "the first of either ranking")
        (hits,) = client.hybrid_search("all", asked, WeightedRanker(0.5, 0.5), limit=3, output_fields=["pk"])
        self.same(len(hits), 3, "weighted")
        seen, pages = [], client.search_iterator("all", data=[query], anns_field="v", batch_size=40, limit=200)
        while page := pages.next():
            seen += [hit["pk"] if "pk" in hit else hit.id for hit in page]
        self.same(seen, names[:200], "an iterator over hits")
        seen, pages = [], client.query_iterator("all", filter="i16 < 250", batch_size=40, output_fields=["pk"])
        while page := pages.next():
            seen += [row["pk"] for row in page]
        self.same(sorted(seen), sorted(row["pk"] for row in rows if row["i16"] < 250), "an iterator over rows")
        self.refused(1100, "dimension", lambda: client.search("all", [[1.0, 2.0]], anns_field="v", limit=5))
        self.refused(100, "nope", lambda: client.search("nope", [query], limit=5))
        self.refused(1100, "anns_field", lambda: client.search("all", [query], limit=5))

    def upkeep(self, rows):
        client = self.client
        client.create_partition("all", "p1")
        client.insert("all", [{**rows[0], "pk": "pp"}], partition_name="p1")
        self.same((self.count("all", partition_names=["p1"]), self.count("all", partition_names=["_default"])), (1, 300), "parts")
        self.same(client.get_partition_stats("all", "p1"), {"row_count": 1}, "a part's count")
        self.refused(1100, "please release it first", lambda: client.drop_partition("all", "p1"))
        client.release_partitions("all", ["p1"])
        client.drop_partition("all", "p1")
        self.same((self.count("all"), client.list_partitions("all")), (300, ["_default"]), "the part is gone")
        client.upsert("all", [{"pk": "k1", "i16": 7777}], partial_update=True)
        (row,) = client.get("all", ids=["k1"], output_fields=["i16", "txt", "v"])
        self.same((row["i16"], row["txt"]), (7777, rows[1]["txt"]), "a part of a row")
        self.same([round(x, 5) for x in row["v"]], [round(x, 5) for x in rows[1]["v"]], "its vector stays")
        client.upsert("all", [{"pk": "k1", "i32": None, "j": {"n": 1}}, {"pk": "k2", "i32": 5, "j": None}], partial_update=True)
        (first, second) = client.get("all", ids=["k1", "k2"], output_fields=["i32", "j", "i16"])
        self.same((first["i32"], second["i32"], first["i16"]), (None, 5, 7777), "what is given as null becomes null")
        self.same((first["j"]["n"], second["j"]), (1, None), "so does JSON")
        self.refused(1100, "has no corresponding fieldData pass in",
                     lambda: client.upsert("all", [{"pk": "new", "i16": 1}], partial_update=True))
        self.same((self.count("all"), client.get("all", ids=["new"])), (300, []), "no row lacks what it must have")
        self.new_rows_of_parts()
        client.upsert("all", [rows[1], rows[2]])
        client.upsert("all", [{"pk": "k1", "i16": 7777}], partial_update=True)
        client.create_alias("all", "other")
        self.same(client.query("other", filter="i16 == 7777", output_fields=["pk"])[0]["pk"], "k1", "by another name")
        client.drop_alias("other")
        client.create_database("second")
        assert "second" in client.list_databases()
        client.use_database("second")
        self.same(client.list_collections(), [], "another database")
        client.create_collection("all", dimension=4)
        client.drop_collection("all")
        client.use_database("default")
        client.drop_database("second")
        client.flush("all")
        client.compact("all")
        self.same(client.get_collection_stats("all"), {"row_count": 300}, "counted")
        client.release_collection("all")
        self.refused(101, "not loaded", lambda: client.search("all", [self.vector(DIM)], anns_field="v", limit=5))
        client.load_collection("all")
        client.refresh_load("all")
        client.release_collection("all")
        self.refused(101, "collection not loaded", lambda: client.refresh_load("all"))
        client.load_collection("all")
        self.refused(1100, "all", lambda: client.create_collection("all", dimension=4))
        too_long = {**rows[0], "txt": "x" * 201}
        self.refused(1100, "exceeds max length", lambda: client.insert("all", [too_long]))
        client.truncate_collection("all") if hasattr(client, "truncate_collection") else client.delete("all", filter="i16 >= 0")
        self.same(self.count("all"), 0, "emptied")
        client.drop_collection("all")

    def new_rows_of_parts(self):
        """A part of a row that is not there yet is a row, with the defaults of what it lacks."""
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("t", DataType.VARCHAR, max_length=10, default_value="d")
        schema.add_field("n", DataType.INT64, nullable=True)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("begun", schema=schema, index_params=params, consistency_level="Strong")
        told = lambda: {name: value for name, value in client.get("begun", ids=[1])[0].items() if name != "v"}
        client.upsert("begun", [{"id": 1, "v": [1, 0]}], partial_update=True)
        self.same(told(), {"id": 1, "t": "d", "n": None}, "of a part alone")
        client.upsert("begun", [{"id": 1, "t": "x"}], partial_update=True)
        client.upsert("begun", [{"id": 1, "n": 5}], partial_update=True)
        self.same(told(), {"id": 1, "t": "x", "n": 5}, "what is there stays")
        self.same(self.count("begun", "t == 'd'"), 0, "and is found by no default")
        client.release_collection("begun")
        self.refused(101, "failed to query: collection not loaded",
                     lambda: client.upsert("begun", [{"id": 1, "n": 6}], partial_update=True))
        client.load_collection("begun")
        self.same(told(), {"id": 1, "t": "x", "n": 5}, "nothing is changed of what may not be read")
        client.drop_collection("begun")

    def lists(self):
        """Values are put behind those of a list, or taken out of it, and nothing else of a row changes."""
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("tags", DataType.ARRAY, element_type=DataType.INT64, max_capacity=6, nullable=True)
        schema.add_field("labels", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=6, max_length=9)
        schema.add_field("name", DataType.VARCHAR, max_length=9)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("lists", schema=schema, index_params=params, consistency_level="Strong")
        row = {"v": [0, 1], "name": "x"}
        client.insert("lists", [{"id": 1, "tags": [1, 2, 1], "labels": ["a", "b"], **row}, {"id": 2, "tags": None, "labels": [], **row}])
        change = lambda rows, **ops: client.upsert("lists", rows, field_ops=ops)
        found = lambda: [(one["id"], one["tags"], one["labels"]) for one in client.query("lists", filter="name == 'x'", output_fields=["*"])]
        change([{"id": 1, "tags": [3], "labels": ["a"]}, {"id": 2, "tags": [4], "labels": ["c"]}], tags="array_append", labels="array_remove")
        self.same(found(), [(1, [1, 2, 1, 3], ["b"]), (2, [4], [])], "put behind, and taken out")
        change([{"id": 1, "tags": [1, 9]}, {"id": 2, "tags": None}], tags="array_remove")
        self.same(found(), [(1, [2, 3], ["b"]), (2, [4], [])], "all that are like it go, and null takes nothing away")
        self.same(self.count("lists", "array_contains(tags, 1)"), 0, "the index knows")
        change([{"id": 1, "tags": [7], "labels": ["z"]}], tags="array_append")
        self.same(found()[0], (1, [2, 3, 7], ["z"]), "others are replaced")
        self.refused(1100, "array length 7 exceeds max_capacity 6", lambda: change([{"id": 1, "tags": [1, 2, 3, 4]}], tags="array_append"))
        for said, rows, field in [
            ('op ARRAY_APPEND requires Array field, but field "name" is VarChar', [{"id": 1, "name": "y"}], "name"),
            ("is the primary key and cannot carry a partial-update op", [{"id": 1}], "id"),
            ('partial-update op targets field "tags" not present in fields_data', [{"id": 1}], "tags"),
            ('field "nobody" not found in collection schema', [{"id": 1}], "nobody"),
        ]:
            self.refused(1100, said, lambda: change(rows, **{field: "array_append"}))
        self.same(found(), [(1, [2, 3, 7], ["z"]), (2, [4], [])], "what was refused changed nothing")
        # More rows than are parsed at once, and one in the middle that cannot be.
        many = [{"id": key, "tags": [1], "labels": [], **row} for key in range(1000, 2200)]
        client.insert("lists", many)
        longer = [{"id": one["id"], "tags": [1, 2, 3, 4, 5, 6] if one["id"] == 2000 else [5]} for one in many]
        self.refused(1100, "array length 7 exceeds max_capacity 6", lambda: change(longer, tags="array_append"))
        self.same(self.count("lists", "array_contains(tags, 5)"), 0, "no row of a request is written where one is refused")
        change([{"id": one["id"], "tags": [5]} for one in many], tags="array_append")
        self.same(self.count("lists", "array_contains(tags, 5)"), 1200, "all of them otherwise")
        client.delete("lists", filter="id >= 1000")
        change([{"id": 3, "tags": [1], "labels": ["a"], **row}], tags="array_append", labels="array_remove")
        self.same(found()[2], (3, [1], []), "a row that was not there")
        # Nobody would keep namespaces apart.
        apart = client.create_schema(enable_namespace=True)
        apart.add_field("id", DataType.INT64, is_primary=True)
        apart.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        for call in [
            lambda: client.insert("lists", [{"id": 4, "labels": [], **row}], namespace="mine"),
            lambda: client.query("lists", filter="id > 0", namespace="mine"),
            lambda: client.search("lists", [[0, 1]], limit=1, namespace="mine"),
            lambda: client.create_collection("apart", schema=apart),
        ]:
            self.refused(3000, "namespace", call)
        self.same(len(found()), 3, "nothing was written")
        client.drop_collection("lists")

    def keys_that_rows_bring(self):
        """Keys are made, until the collection takes those of rows that bring some."""
        client = self.client
        schema = client.create_schema(auto_id=True)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("brought", schema=schema, index_params=params, consistency_level="Strong")
        self.refused(1100, "more fieldData has pass in: invalid parameter", lambda: client.insert("brought", [{"id": 7, "v": [0, 1]}]))
        client.alter_collection_properties("brought", properties={"allow_insert_auto_id": "true"})
        self.same(list(client.insert("brought", [{"id": 7, "v": [0, 1]}])["ids"]), [7], "the key that was brought")
        (made,) = client.insert("brought", [{"v": [0, 2]}])["ids"]
        self.same(sorted(row["id"] for row in client.query("brought", filter="id > 0", output_fields=["id"])), [7, made], "and one made")
        client.drop_collection("brought")

    def keys_that_are_renewed(self):
        """An upsert gives rows whose keys are made new ones, and the rows of the keys that were given go; a key comes once in an upsert."""
        client = self.client
        for kind in (DataType.INT64, DataType.VARCHAR):
            schema = client.create_schema(auto_id=True, enable_dynamic_field=True)
            schema.add_field("id", kind, is_primary=True, **({"max_length": 32} if kind == DataType.VARCHAR else {}))
            schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
            params = client.prepare_index_params()
            params.add_index("v", index_type="FLAT", metric_type="L2")
            client.create_collection("renewed", schema=schema, index_params=params, consistency_level="Strong")
            other_key = 7 if kind == DataType.INT64 else "7"
            kept, old = client.insert("renewed", [{"v": [0, 1], "n": 1}, {"v": [0, 2], "n": 2}])["ids"]
            done = client.upsert("renewed", [{"id": old, "v": [0, 3], "n": 3}, {"id": other_key, "v": [0, 4], "n": 4}])
            new, other = done["ids"]
            self.same((done["upsert_count"], len({kept, old, new, other, other_key})), (2, 5), "keys that nothing had")
            found = lambda: {row["id"]: (row["v"], row["n"]) for row in client.query("renewed", limit=9, output_fields=["*"])}
            self.same(found(), {kept: ([0, 1], 1), new: ([0, 3], 3), other: ([0, 4], 4)}, "the row of the old key is gone")
            client.upsert("renewed", [{"id": new, "n": 5}], partial_update=True)
            self.same(found()[new], ([0, 3], 5), "a part of a row leaves its key")
            twice = [{"id": new, "v": [0, 5]}, {"id": kept, "v": [0, 5]}, {"id": new, "v": [0, 6]}]
            for more in ({}, {"partial_update": True}):
                self.refused(1100, "duplicate primary keys are not allowed in the same batch", lambda: client.upsert("renewed", twice, **more))
            self.same(sorted(found()), sorted([kept, new, other]), "nothing was written")
            client.drop_collection("renewed")

    def pages_of_one_moment(self):
        """A query iterator sees the rows as they were when it began, also when another one goes on from its checkpoint."""
        client = self.client
        schema = client.create_schema(auto_id=True, enable_dynamic_field=True)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("moments", schema=schema, index_params=params, consistency_level="Strong")
        client.insert("moments", [{"v": [0, n], "n": n} for n in range(40)])
        seen, pages = [], client.query_iterator("moments", filter="n >= 0", batch_size=7, output_fields=["*"])
        while page := pages.next():
            assert len(seen) < 80, "rows that are written while they are read come again"
            seen += [row["n"] for row in page]
            client.upsert("moments", [dict(row, n=row["n"] + 100) for row in page])
        pages.close()
        self.same(seen, list(range(40)), "each row once, whatever it becomes")
        self.same(self.count("moments", "n >= 100"), 40, "all were changed")
        ids = [row["id"] for row in client.query("moments", filter="n >= 0", output_fields=["id"])]
        with tempfile.TemporaryDirectory() as folder:
            options = {"filter": "n >= 0", "output_fields": ["n"], "iterator_cp_file": f"{folder}/checkpoint"}
            seen = [row["id"] for row in client.query_iterator("moments", batch_size=9, **options).next()]
            client.insert("moments", [{"v": [1, n], "n": n} for n in range(5)])
            client.delete("moments", ids=[ids[0], ids[-1]])
            pages = client.query_iterator("moments", batch_size=12, **options)
            while page := pages.next():
                seen += [row["id"] for row in page]
            pages.close()
        self.same(seen, sorted(ids), "neither what came later nor what went")
        self.same(self.count("moments", ""), 43, "which others see")
        client.drop_collection("moments")

    def the_empty_key(self):
        """A text without a letter is a key like any other."""
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=20)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("empty", schema=schema, index_params=params, consistency_level="Strong")
        keys = ["", "\0", "\0\0", " ", "a\0"]
        self.same(list(client.insert("empty", [{"id": key, "v": [0, at]} for at, key in enumerate(keys)])["ids"]), keys, "keys")
        self.same([hit["id"] for hit in client.search("empty", [[0, 0]], limit=9)[0]], keys, "of hits")
        self.same([row["id"] for row in client.query("empty", limit=9, output_fields=["id"])], sorted(keys), "of rows")
        whole = client.query("empty", filter="id in ['', ' ']", offset=1, output_fields=["id"])
        self.same([row["id"] for row in whole], ["", " "], "an offset without a limit is not looked at")
        for key in keys:
            self.same([row["id"] for row in client.get("empty", ids=[key])], [key], "by its key")
        client.upsert("empty", [{"id": "", "v": [0, 9]}])
        self.same((client.get("empty", ids=[""])[0]["v"], self.count("empty", "")), ([0, 9], 5), "another vector")
        client.delete("empty", ids=["", "\0\0"])
        self.same([row["id"] for row in client.query("empty", limit=9, output_fields=["id"])], ["\0", " ", "a\0"], "what stays")
        client.drop_collection("empty")

    def full_text(self):
        client = self.client
        schema = client.create_schema(auto_id=True)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("text", DataType.VARCHAR, max_length=1000, enable_analyzer=True)
        schema.add_field("even", DataType.BOOL)
        schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(Function(name="bm25", input_field_names=["text"], output_field_names=["sparse"],
                                     function_type=FunctionType.BM25))
        params = client.prepare_index_params()
        params.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        client.create_collection("words", schema=schema, index_params=params)
        texts = ["the quick brown fox", "a lazy dog sleeps", "quick quick foxes and dogs", "nothing of the kind"]
        made = client.insert("words", [{"text": text, "even": at % 2 == 0} for at, text in enumerate(texts)])["ids"]
        (hits,) = client.search("words", data=["quick fox"], anns_field="sparse", limit=3, output_fields=["text"])
        self.same([hit["entity"]["text"] for hit in hits], [texts[0], texts[2]], "by words")
        assert hits[0]["distance"] > hits[1]["distance"] > 0
        first, second = hits[0]["distance"], hits[1]["distance"]
        for kind, vector in [("SparseFloatVector", {1: 0.5}), ("FloatVector", [0.5, 1.0])]:
            self.refused(1100, f"please provide varchar/text for BM25 Function based search, got {kind}",
                         lambda: client.search("words", data=[vector], anns_field="sparse", limit=3))
        (hits,) = client.search("words", ids=list(made[2:3]), anns_field="sparse", limit=3, output_fields=["text"])
        self.same([hit["entity"]["text"] for hit in hits], [texts[2], texts[0]], "by the words of a row")
        found = lambda **more: [texts.index(hit["entity"]["text"]) for hit in client.search(
            "words", data=["quick fox lazy"], anns_field="sparse", limit=4, output_fields=["text"], **more)[0]]
        self.same(sorted(found()), [0, 1, 2], "of three words")
        self.same(sorted(found(group_by_field="even")), [0, 1], "the best of either group")
        self.same(len(found(group_by_field="even", offset=1)), 1, "a page of groups")
        for span, want in [((first, first + 1), []), ((second, first), [0]), ((second - 0.01, first - 0.01), [2]), ((0, 99), [0, 2])]:
            (hits,) = client.search("words", data=["quick fox"], anns_field="sparse", limit=3, output_fields=["text"],
                                    search_params={"params": dict(zip(("radius", "range_filter"), span))})
            self.same([texts.index(hit["entity"]["text"]) for hit in hits], want, f"scores within {span}")
        self.same(client.query("words", ids=made[1:2], output_fields=["text"])[0]["text"], texts[1], "keys that were made")
        for vector in ({1: 2.0}, self.vector(4)):
            self.refused(1100, "please provide varchar/text for BM25 Function based search",
                         lambda: client.search("words", data=[vector], anns_field="sparse", limit=3))
        client.release_collection("words")
        client.drop_index("words", "sparse")
        for said, more in [("must be BM25, got IP", {"metric_type": "IP"}), ("must be BM25, got COSINE", {"metric_type": "COSINE"}),
                           ("param 'bm25_k1' (-1)", {"metric_type": "BM25", "params": {"bm25_k1": -1}}),
                           ("param 'bm25_b' (2)", {"metric_type": "BM25", "params": {"bm25_b": 2}})]:
            params = client.prepare_index_params()
            params.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", **more)
            self.refused(1100, said, lambda: client.create_index("words", params))
        self.refused(100, "collection not found[database=default][collection=12-s]", lambda: client.create_index("12-s", params))
        for k1, b in [(0, 0.75), (2, 0), (2, 1), (1.2, 0.75)]:
            params = client.prepare_index_params()
            params.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params={"bm25_k1": k1, "bm25_b": b})
            client.create_index("words", params)
            client.load_collection("words")
            (hits,) = client.search("words", data=["quick"], anns_field="sparse", limit=3, output_fields=["text"])
            lengths = [len(text.split()) for text in texts]
            norm = lambda at: k1 * (1 - b + b * lengths[at] / (sum(lengths) / 4))
            want = {texts[at]: math.log(2) * often * (k1 + 1) / (often + norm(at)) for at, often in [(0, 1), (2, 2)]}
            self.same({hit["entity"]["text"]: round(hit["distance"], 4) for hit in hits},
                      {text: round(score, 4) for text, score in want.items()}, f"weighed by {k1} and {b}")
            client.release_collection("words")
            client.drop_index("words", "sparse")
        client.drop_collection("words")

    def sparse(self):
        """Sparse vectors, alone and together with dense ones."""
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=8)
        schema.add_field("s", DataType.SPARSE_FLOAT_VECTOR)
        params = client.prepare_index_params()
        params.add_index("v", index_type="AUTOINDEX", metric_type="COSINE")
        params.add_index("s", index_type="SPARSE_INVERTED_INDEX", metric_type="IP", params={"drop_ratio_build": 0})
        client.create_collection("mixed", schema=schema, index_params=params)

        def weights(count):
            return {self.random.randrange(10_000, 10_200): self.random.uniform(0.01, 2) for _ in range(count)}

        rows = [{"id": i, "v": self.vector(8), "s": weights(20)} for i in range(400)]
        client.insert("mixed", rows)
        wanted = weights(15)

        def score(row):
            return sum(weight * row["s"].get(dimension, 0) for dimension, weight in wanted.items())

        ranked = [row["id"] for row in sorted(rows, key=lambda row: -score(row)) if score(row) > 0]
        (hits,) = client.search("mixed", [wanted], anns_field="s", limit=20, output_fields=["s"])
        self.same([hit["id"] for hit in hits], ranked[:20], "by weights")
        assert abs(hits[0]["distance"] - score(rows[ranked[0]])) < 1e-4
        got = hits[0]["entity"]["s"]
        self.same({k: round(v, 4) for k, v in got.items()}, {k: round(v, 4) for k, v in rows[ranked[0]]["s"].items()}, "kept")
        (hits,) = client.search("mixed", [wanted], anns_field="s", limit=5, filter="id >= 200")
        self.same([hit["id"] for hit in hits], [i for i in ranked if i >= 200][:5], "by weights, filtered")
        asked = [AnnSearchRequest([rows[7]["v"]], "v", {}, limit=20), AnnSearchRequest([rows[7]["s"]], "s", {}, limit=20)]
        (hits,) = client.hybrid_search("mixed", asked, RRFRanker(), limit=3)
        self.same(hits[0]["id"], 7, "first in both rankings")
        client.drop_collection("mixed")

    def sparse_rows(self):
        """All that is asked of dense vectors is asked of sparse ones."""
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("g", DataType.INT32)
        schema.add_field("s", DataType.SPARSE_FLOAT_VECTOR, nullable=True)
        params = client.prepare_index_params()
        params.add_index("s", index_type="SPARSE_WAND", metric_type="IP", params={"drop_ratio_build": 0.2})
        client.create_collection("few", schema=schema, index_params=params, consistency_level="Strong")

        def weights(count):
            return {self.random.randrange(100): self.random.uniform(0.01, 2) for _ in range(count)}

        rows = {i: {"id": i, "g": i % 7, "s": weights(8) if i % 10 else None} for i in range(500)}
        client.insert("few", list(rows.values()))
        probes = [weights(10) for _ in range(3)]

        def score(probe, row):
            return sum(weight * (row["s"] or {}).get(dimension, 0) for dimension, weight in probe.items())

        def ranked(probe, passes=lambda row: True):
            found = [row for row in rows.values() if passes(row) and score(probe, row) > 0]
            return sorted(found, key=lambda row: -score(probe, row))

        def search(probe, limit, want, what, **more):
            (hits,) = client.search("few", [probe], anns_field="s", limit=limit, **more)
            self.same([hit["id"] for hit in hits], [row["id"] for row in want], what)
            return hits

        found = client.search("few", probes, anns_field="s", limit=5, offset=3)
        for probe, hits in zip(probes, found):
            self.same([hit["id"] for hit in hits], [row["id"] for row in ranked(probe)[3:8]], "of several vectors")
        probe = probes[0]
        best = ranked(probe)
        low, high = score(probe, best[40]), score(probe, best[10])
        middle = {"metric_type": "IP", "params": {"radius": (low + score(probe, best[39])) / 2,
                                                  "range_filter": (high + score(probe, best[9])) / 2}}
        search(probe, 100, best[10:40], "in a range", search_params=middle)
        search(probe, 7, best[10:17], "the first in a range", search_params=middle)
        hits = search(probe, 3, [], "nothing", filter="id < 0")
        (hits,) = client.search("few", [probe], anns_field="s", limit=20, search_params={"params": {"drop_ratio_search": 0.3}})
        for hit in hits:
            assert abs(hit["distance"] - score(probe, rows[hit["id"]])) < 1e-4, "all weights count"
        wrong = {"params": {"drop_ratio_search": 1.5}}
        self.refused(1100, "drop_ratio_search", lambda: client.search("few", [probe], anns_field="s", limit=1, search_params=wrong))
        groups = {}
        for row in best:
            groups.setdefault(row["g"], []).append(row["id"])
        (hits,) = client.search("few", [probe], anns_field="s", limit=4, group_by_field="g", group_size=2,
                                strict_group_size=True, output_fields=["g"])
        got = {}
        for hit in hits:
            got.setdefault(hit["entity"]["g"], []).append(hit["id"])
        self.same(got, {g: groups[g][:2] for g in list(groups)[:4]}, "by groups")
        pages = client.search_iterator("few", data=[probe], anns_field="s", batch_size=30, output_fields=["s"],
                                       search_params={"metric_type": "IP"})
        seen = []
        while page := pages.next():
            seen += [(hit["id"], hit["entity"]["s"]) for hit in page]
        pages.close()
        self.same([i for i, _ in seen], [row["id"] for row in best], "page by page")
        pages = client.query_iterator("few", filter="id >= 0", batch_size=90, output_fields=["s"])
        kept = {}
        while page := pages.next():
            kept.update({row["id"]: row["s"] for row in page})
        pages.close()
        rounded = lambda vector: vector and {dimension: round(weight, 4) for dimension, weight in vector.items()}
        self.same({i: rounded(s) for i, s in kept.items()}, {i: rounded(row["s"]) for i, row in rows.items()}, "kept")

        client.upsert("few", [{"id": 3, "g": 99}], partial_update=True)
        rows[3]["g"] = 99
        (row,) = client.get("few", ids=[3])
        self.same((row["g"], rounded(row["s"])), (99, rounded(rows[3]["s"])), "a part of a row leaves its vector")
        rows[3]["s"] = {5: 1.5}
        client.upsert("few", [{"id": 3, "s": {5: 1.5}}], partial_update=True)
        (row,) = client.get("few", ids=[3])
        self.same((row["g"], row["s"]), (99, {5: 1.5}), "another vector takes the place of the one before")
        client.delete("few", ids=[best[0]["id"]])
        del rows[best[0]["id"]]
        search(probe, 30, ranked(probe)[:30], "after changes")
        client.flush("few")
        client.compact("few")
        search(probe, 30, ranked(probe)[:30], "after a merge")

        row = lambda s: [{"id": 1000, "g": 1, "s": s}]
        for vector, said in [({1: -0.5}, "-0.5"), ({1: float("inf")}, "inf"), ([(4, 0.5), (4, 0.7)], "4 comes after 4")]:
            self.refused(1100, said, lambda: client.insert("few", row(vector)))
            self.refused(1100, said, lambda: client.search("few", [vector], anns_field="s", limit=1))
        client.insert("few", row({}))
        self.same(client.get("few", ids=[1000])[0]["s"], {}, "a vector without weights")
        client.drop_collection("few")

    def index_after_rows(self):
        """Rows first, the index later: what was written is searched as the index says."""
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=8)
        client.create_collection("late", schema=schema)
        rows = [{"id": i, "v": self.vector(8)} for i in range(200)]
        client.insert("late", rows)
        self.refused(700, "index", lambda: client.load_collection("late"))
        for metric, score in [("COSINE", cosine), ("IP", product)]:
            params = client.prepare_index_params()
            params.add_index("v", index_type="HNSW", metric_type=metric)
            client.create_index("late", params)
            client.load_collection("late")
            query = self.vector(8)
            (hits,) = client.search("late", [query], limit=10)
            ranked = sorted(rows, key=lambda row: -score(query, row["v"]))
            self.same([hit["id"] for hit in hits], [row["id"] for row in ranked[:10]], metric)
            assert abs(hits[0]["distance"] - score(query, ranked[0]["v"])) < 1e-4
            client.release_collection("late")
            client.drop_index("late", "v")
        client.drop_collection("late")

    def indexes_of_json(self):
        """JSON has an index for each path into it, and so have keys beyond the fields."""
        client = self.client
        schema = client.create_schema(enable_dynamic_field=True)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=8)
        schema.add_field("j", DataType.JSON)
        schema.add_field("t", DataType.VARCHAR, max_length=20)
        client.create_collection("paths", schema=schema)

        def index(field, name, kind="INVERTED", **own):
            params = client.prepare_index_params()
            params.add_index(field, index_type=kind, index_name=name, params=own)
            client.create_index("paths", params)

        for field, path, name in [("j", "j['a']", "of_a"), ("j", "j['b']", "of_b"), ("more", "more['c']", "of_c")]:
            for _ in range(2):
                index(field, name, json_path=path, json_cast_type="varchar")
        told = client.describe_index("paths", "of_c")
        self.same([told[key] for key in ("field_name", "index_type", "json_path", "json_cast_type")],
                  ["more", "INVERTED", "more['c']", "varchar"], "an index of a key beyond the fields")
        self.same(sorted(client.list_indexes("paths")), ["of_a", "of_b", "of_c"], "an index for each path")
        for path in ("j", "j['a'][0]", "j['a'][0]['b']", "more['d']"):
            for _ in range(2):
                index(path.split("[")[0], "", json_path=path, json_cast_type="double")
        index("j", "", json_path="j['b']", json_cast_type="varchar")
        # Two paths, which would have one name without a sign for what parts them.
        index("j", "", json_path="j['x/y']['~z']", json_cast_type="double")
        index("j", "", json_path="j['x']['y']['~z']", json_cast_type="double")
        index("whole", "", json_cast_type="double")
        self.same(client.describe_index("paths", "$meta/whole")["json_path"], "whole", "a key as a whole, where no path is said")
        self.same(sorted(client.list_indexes("paths")),
                  ["$meta/more/d", "$meta/whole", "j", "j/a/0", "j/a/0/b", "j/x/y/~0z", "j/x~1y/~0z", "of_a", "of_b", "of_c"],
                  "names that nobody said")
        for code, said, call in [
            (1100, "multiple indexes on same field is not supported", lambda: index("j", "again", json_path="j['a']", json_cast_type="double")),
            (1100, "at most one distinct index is allowed per field", lambda: index("j", "of_a", json_path="j['a']", json_cast_type="double")),
            (1100, "at most one distinct index is allowed per field", lambda: index("j", "of_a", json_path="j['d']", json_cast_type="double")),
            (1100, "at most one distinct index is allowed per field", lambda: index("j", "", json_path="j['a']", json_cast_type="double")),
            (1100, "Invalid index name: 1st. The first character of a index name must be", lambda: index("t", "1st")),
            (1100, "Index name can only contain", lambda: index("t", "by-name")),
            (1101, "json index must specify cast type", lambda: index("j", "x", json_path="j['x']")),
            (1100, "json_cast_type TEXT is not supported", lambda: index("j", "x", json_path="j['x']", json_cast_type="text")),
            (1100, "json_cast_type DOUBLE is not supported for BITMAP index",
             lambda: index("j", "x", kind="BITMAP", json_path="j['x']", json_cast_type="double")),
            (1100, "json_cast_type BOOL is not supported for STL_SORT index",
             lambda: index("j", "x", kind="STL_SORT", json_path="j['x']", json_cast_type="bool")),
            (1100, "json_cast_function TO_TEXT is not supported: invalid parameter",
             lambda: index("j", "x", json_path="j['x']", json_cast_type="double", json_cast_function="to_text")),
            (1100, "json_cast_function STRING_TO_DOUBLE is not supported for json_cast_type VARCHAR",
             lambda: index("j", "x", json_path="j['x']", json_cast_type="varchar", json_cast_function="string_to_double")),
            (1101, "json index must specify cast type", lambda: index("nope", "x")),
            (1100, "cannot parse identifier: 1", lambda: index("nope", "x", json_path="1", json_cast_type="double")),
            (1100, "TRIE are only supported on varchar field",
             lambda: index("nope", "x", kind="TRIE", json_path="nope['a']", json_cast_type="varchar")),
            (1100, "invalid index type: NO-TREE", lambda: index("nope", "x", kind="NO-TREE", json_path="nope", json_cast_type="varchar")),
            (1100, "TRIE are only supported on varchar field", lambda: index("id", "x", kind="TRIE")),
            (1100, "create bitmap index on primary key not supported", lambda: index("id", "x", kind="BITMAP")),
            (1101, "must specify both min_gram and max_gram", lambda: index("t", "x", kind="NGRAM")),
        ]:
            self.refused(code, said, call)
        client.drop_collection("paths")

    def expressions_without_a_value(self):
        """A regular expression is not found where there is no text; a dot is also a line's end; nothing is divided by zero."""
        client = self.client
        schema = client.create_schema(enable_dynamic_field=True)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("t", DataType.VARCHAR, max_length=20, nullable=True)
        schema.add_field("j", DataType.JSON, nullable=True)
        schema.add_field("a", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=4, max_length=20, nullable=True)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("texts", schema=schema, index_params=params, consistency_level="Strong")
        rows = [
            {"id": 1, "t": "red\nhat", "j": {"k": "red"}, "a": ["red", "blue"], "more": "red"},
            {"id": 2, "t": "red hat", "j": {"k": "blue"}, "a": ["blue"], "more": "blue"},
            {"id": 3, "t": None, "j": {"other": 1}, "a": []},
            {"id": 4, "t": "hat", "j": None, "a": None},
        ]
        client.insert("texts", [{"v": [0.0, 1.0], **row} for row in rows])
        for expression, ids in [
            ("t =~ 'd.h'", [1, 2]),
            ("t =~ '(?-s)d.h'", [2]),
            ("t !~ 'd.h'", [4]),
            ("t =~ '^red\\s\\w+$'", [1, 2]),
            ("t =~ 'red\\.hat'", []),
            ("t =~ '\\p{L}+ '", [2]),
            ("j['k'] =~ '^red$'", [1]),
            ("j['k'] !~ '^red$'", [2]),
            ("not (j['k'] =~ '^red$')", [2]),
            ("a[0] !~ 'red'", [2]),
            ("a[1] !~ '.*'", []),
            ("a[7] =~ '.*'", []),
            ("more !~ 'red'", [2]),
        ]:
            found = client.query("texts", filter=expression, output_fields=["id"])
            self.same(sorted(row["id"] for row in found), ids, expression)
        self.refused(1100, "invalid regex pattern: error parsing regexp: missing closing ): `(open`", lambda: client.query("texts", filter="t =~ '(open'"))
        for expression in ("id / 0 > 0", "id % 0 == 1", "j['k'] / 0.0 > 1"):
            self.refused(1100, "by zero", lambda: client.query("texts", filter=expression))
        self.refused(1100, "by zero", lambda: client.query("texts", filter="id % {n} == 1", filter_params={"n": 0}))
        for call in (client.has_partition, client.drop_partition):
            self.refused(1100, "Invalid partition name: no name.", lambda: call("texts", "no name"))
        client.drop_collection("texts")


def main(uri):
    session = Client(uri)
    session.quickstart()
    rows = session.make_all()
    session.filters(rows)
    session.searches(rows)
    session.upkeep(rows)
    session.lists()
    session.keys_that_rows_bring()
    session.keys_that_are_renewed()
    session.pages_of_one_moment()
    session.the_empty_key()
    session.full_text()
    session.sparse()
    session.sparse_rows()
    session.index_after_rows()
    session.indexes_of_json()
    session.expressions_without_a_value()
    session.close()


if __name__ == "__main__":
    main(sys.argv[1])
