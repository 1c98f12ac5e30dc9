"""pymilvus 3.0 changes the schema of a collection that is there: fields are dropped, functions, vectors and texts come later.
Words of hits are marked."""

import sys

from pymilvus import DataType, Function, FunctionType, LexicalHighlighter, MilvusClient
from session import Session

PLACES = ["id", "v", "w", "text", "tag", "age"]


def bm25(name, source, target):
    return Function(name=name, function_type=FunctionType.BM25, input_field_names=[source], output_field_names=[target])


class Schemas(Session):
    def names(self, name):
        return [field["name"] for field in self.client.describe_collection(name)["fields"]]

    def index(self, field, name="", **more):
        params = self.client.prepare_index_params()
        params.add_index(field, index_name=name, **more)
        return params

    def make(self, name, dynamic=False):
        client = self.client
        schema = client.create_schema(enable_dynamic_field=dynamic)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("w", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("text", DataType.VARCHAR, max_length=100, enable_analyzer=True)
        schema.add_field("tag", DataType.VARCHAR, max_length=20)
        schema.add_field("age", DataType.INT64)
        params = self.index("v", index_type="HNSW", metric_type="L2")
        params.add_index("w", index_type="HNSW", metric_type="L2")
        params.add_index("tag", index_type="INVERTED", index_name="tags")
        client.create_collection(name, schema=schema, index_params=params, consistency_level="Strong")
        client.insert(name, [
            {"id": n, "v": [n, 0], "w": [0, n], "text": f"thread {'ball' if n % 2 else 'maze'}", "tag": f"t{n}", "age": n}
            for n in range(6)
        ])

    def fields(self):
        client = self.client
        self.make("less")
        told = client.describe_collection("less")
        self.same(told["schema_version"], 0, "a schema as it was made")
        numbers = {field["name"]: field["field_id"] for field in told["fields"]}
        for said, name in [("cannot drop primary key field: id", "id"), ("field not found: nobody", "nobody"),
                           ("field not found: $meta", "$meta")]:
            self.refused(1100, said, lambda: client.drop_collection_field("less", name))
        self.same(self.names("less"), PLACES, "nothing was dropped")
        client.drop_collection_field("less", "tag")
        client.drop_collection_field("less", field_id=numbers["w"])
        self.same(self.names("less"), ["id", "v", "text", "age"], "dropped by name and by number")
        told = client.describe_collection("less")
        self.same((told["properties"]["max_field_id"], told["schema_version"]), (str(max(numbers.values())), 2), "was given once")
        self.same(client.list_indexes("less"), ["v"], "their indexes went with them")
        self.refused(1100, "cannot drop the last vector field: v", lambda: client.drop_collection_field("less", "v"))
        for more in [{"filter": "tag == 't1'", "output_fields": ["id"]}, {"filter": "id >= 0", "output_fields": ["tag"]}]:
            self.refused(1100, "field tag not exist", lambda: client.query("less", **more))
        client.insert("less", [{"id": 9, "v": [9, 9], "text": "new", "age": 9}])
        rows = client.query("less", filter="id >= 0", output_fields=["*"])
        self.same({tuple(sorted(row)) for row in rows}, {("age", "id", "text", "v")}, "no row tells what was dropped")
        client.upsert("less", [{"id": 1, "age": 11}], partial_update=True)
        self.same(client.query("less", ids=[1], output_fields=[" age "])[0]["age"], 11, "rows from before are changed in part")
        self.refused(3000, "another field of the name tag",
                     lambda: client.add_collection_field("less", "tag", DataType.INT64, nullable=True))
        # A field of the same kind may have it, and rows from before have nothing, or its default.
        client.add_collection_field("less", "tag", DataType.VARCHAR, max_length=50, nullable=True, default_value="usual")
        found = client.query("less", filter="id in [1, 9]", output_fields=["tag"])
        self.same([row["tag"] for row in found], ["usual"] * 2, "nothing of the dropped field is told")
        self.same(client.query("less", filter="tag == 't1'", output_fields=["id"]), [], "nor found")
        client.insert("less", [{"id": 10, "v": [9, 9], "text": "new", "age": 9, "tag": "t1"}])
        self.same([row["id"] for row in client.query("less", filter="tag == 't1'", output_fields=["id"])], [10], "a new row")
        client.delete("less", ids=[10])
        client.drop_collection_field("less", "tag")
        client.add_collection_field("less", "new", DataType.INT64, nullable=True)
        told = client.describe_collection("less")["fields"][-1]
        self.same((told["name"], told["field_id"] > max(numbers.values())), ("new", True), "a number of its own")

    def functions(self):
        client = self.client
        self.make("words")
        sparse = client.create_field_schema("sparse", DataType.SPARSE_FLOAT_VECTOR)
        of_words = self.index("sparse", "by_words", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        other = client.create_field_schema("other", DataType.SPARSE_FLOAT_VECTOR)
        of_other = self.index("other", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        self.refused(1100, 'must be the newly-added field "other"',
                     lambda: client.add_function_field("words", other, bm25("f", "text", "sparse"), of_other))
        self.refused(1100, "must set enable_analyzer to true",
                     lambda: client.add_function_field("words", sparse, bm25("f", "tag", "sparse"), of_words))
        self.refused(100, "can't find collection",
                     lambda: client.add_function_field("nowhere", sparse, bm25("f", "text", "sparse"), of_words))
        for _ in range(2):
            client.add_function_field("words", sparse, bm25("f", "text", "sparse"), of_words)
            self.same(self.names("words"), [*PLACES, "sparse"], "the field that it fills")
            self.same(sorted(client.list_indexes("words")), ["by_words", "tags", "v", "w"], "and its index")
            find = lambda: client.search("words", ["ball"], anns_field="sparse", limit=9)[0]
            self.same(sorted(hit["id"] for hit in find()), [1, 3, 5], "rows from before are found by their words")
            for said, name in [("referenced by function f as input", "text"), ("referenced by function f as output", "sparse")]:
                self.refused(1100, said, lambda: client.drop_collection_field("words", name))
            self.refused(1100, "duplicated field name sparse",
                         lambda: client.add_function_field("words", sparse, bm25("g", "text", "sparse"), of_words))
            client.drop_function_field("words", "f")
            self.same((self.names("words"), client.describe_collection("words").get("functions") or []), (PLACES, []), "gone again")
            self.refused(1100, "function not found: f", lambda: client.drop_function_field("words", "f"))

    def vectors(self):
        client = self.client
        self.make("more")
        self.refused(1, "requires nullable=True", lambda: client.add_collection_field("more", "x", DataType.FLOAT_VECTOR, dim=3))
        client.add_collection_field("more", "x", DataType.FLOAT_VECTOR, dim=3, nullable=True)
        self.refused(1100, "metric type not set for vector index", lambda: client.create_index("more", self.index("x", index_type="HNSW")))
        client.create_index("more", self.index("x", index_type="HNSW", metric_type="COSINE"))
        row = {"v": [0, 0], "w": [0, 0], "text": "", "tag": "", "age": 0}
        client.insert("more", [{**row, "id": 10, "x": [1, 0, 0]}, {**row, "id": 11}])
        client.upsert("more", [{"id": 3, "x": [0, 1, 0]}], partial_update=True)
        (hits,) = client.search("more", [[0, 1, 0]], anns_field="x", limit=9)
        self.same([hit["id"] for hit in hits], [3, 10], "rows without a vector are near nothing")
        rows = client.query("more", filter="id in [2, 3]", output_fields=["x"])
        self.same([row["x"] for row in rows], [None, [0.0, 1.0, 0.0]], "and have none")
        client.upsert("more", [{"id": 3, "x": None}], partial_update=True)
        self.same(client.query("more", ids=[3], output_fields=["x"])[0]["x"], None, "a vector becomes null in part")
        (hits,) = client.search("more", [[0, 1, 0]], anns_field="x", limit=9)
        self.same([hit["id"] for hit in hits], [10], "and is near nothing any more")

    def analyzers(self):
        client = self.client
        for params, want in [({}, [1]), ({"type": "standard"}, [1]), ({"tokenizer": "standard"}, [])]:
            schema = client.create_schema()
            schema.add_field("id", DataType.INT64, is_primary=True)
            schema.add_field("text", DataType.VARCHAR, max_length=100, enable_analyzer=True, enable_match=True, analyzer_params=params)
            schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
            client.create_collection("cut", schema=schema, index_params=self.index("v", index_type="FLAT", metric_type="L2"),
                                     consistency_level="Strong")
            client.insert("cut", [{"id": 1, "v": [0, 0], "text": "Hello There"}])
            found = client.query("cut", filter="text_match(text, 'hello')", output_fields=["id"])
            self.same([row["id"] for row in found], want, f"words by {params}")
            late = lambda **more: client.add_collection_field("cut", "late", DataType.VARCHAR, max_length=100, nullable=True,
                                                              enable_analyzer=True, enable_match=True, **more)
            self.refused(1100, "multi analyzer now only support for bm25",
                         lambda: late(multi_analyzer_params={"by_field": "text", "analyzers": {"default": {}}}))
            self.refused(1100, "unsupported tokenizer", lambda: late(analyzer_params={"tokenizer": "x"}))
            late(analyzer_params={})
            client.drop_collection("cut")
        self.late_analyzers()
        self.same(list(client.run_analyzer("Hello There").tokens), ["hello", "there"], "nothing said is the usual analyzer")
        self.same(list(client.run_analyzer("It's 3.5 中文").tokens), ["it", "s", "3", "5", "中文"], "whose words are runs of letters and digits")

    def late_analyzers(self):
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("text", DataType.VARCHAR, max_length=100, enable_analyzer=True, enable_match=True, analyzer_params={"tokenizer": "whitespace"})
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        client.create_collection("grown", schema=schema, index_params=self.index("v", index_type="FLAT", metric_type="L2"), consistency_level="Strong")
        client.insert("grown", [{"id": 1, "v": [0, 0], "text": "Dogs run"}])
        client.add_collection_field("grown", "late", DataType.VARCHAR, max_length=100, nullable=True, enable_analyzer=True, enable_match=True,
                                    analyzer_params={"type": "english"})
        client.insert("grown", [{"id": 2, "v": [0, 0], "text": "Dogs run", "late": "Running dogs"}])
        for filter, want in [("text_match(text, 'Dogs')", [1, 2]), ("text_match(text, 'dogs')", []), ("text_match(late, 'dog run')", [2]),
                             ("phrase_match(late, 'runs dog')", [2])]:
            found = client.query("grown", filter=filter, output_fields=["id"])
            self.same(sorted(row["id"] for row in found), want, f"fields from before and from later, each by its own analyzer: {filter}")
        client.drop_collection("grown")

    def analyzers_by_rows(self):
        client = self.client

        def schema(**params):
            schema = client.create_schema()
            schema.add_field("id", DataType.INT64, is_primary=True)
            schema.add_field("lang", DataType.VARCHAR, max_length=20)
            schema.add_field("age", DataType.INT64, nullable=True)
            schema.add_field("text", DataType.VARCHAR, max_length=200, enable_analyzer=True, multi_analyzer_params={
                "by_field": "lang", "alias": {"eng": "english"},
                "analyzers": {"english": {"type": "english"}, "plain": {"tokenizer": "whitespace"}, "default": {}}, **params})
            schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
            schema.add_function(bm25("f", "text", "sparse"))
            return schema

        for said, wrong in [("only support by string field, but field age is not string", {"by_field": "age"}),
                            ("not exist in collection", {"by_field": "other"}),
                            ("must set default analyzer", {"analyzers": {"english": {}}}),
                            ("unsupported tokenizer", {"analyzers": {"default": {}, "x": {"tokenizer": "x"}}})]:
            self.refused(1100, said, lambda: client.create_collection("tongues", schema=schema(**wrong)))
        params = self.index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        client.create_collection("tongues", schema=schema(), index_params=params, consistency_level="Strong")
        rows = [("english", "The Dogs"), ("eng", "Running dogs"), ("plain", "Dogs"), ("de", "dogs und Katzen"), ("", "dog")]
        client.insert("tongues", [{"id": n, "lang": lang, "text": text} for n, (lang, text) in enumerate(rows)])

        def found(text, **more):
            (hits,) = client.search("tongues", [text], anns_field="sparse", limit=9, search_params={"metric_type": "BM25", **more})
            return sorted(hit["id"] for hit in hits)

        for name, want in [(None, [3]), ("default", [3]), ("unheard", [3]), ("english", [0, 1, 4]), ("eng", [0, 1, 4])]:
            more = {} if name is None else {"analyzer_name": name}
            self.same(found("dogs", **more), want, f"words looked for by the analyzer {name}")
        self.same(found("Dogs", analyzer_name="plain"), [2], "each row has the words of its own analyzer")
        client.upsert("tongues", [{"id": 3, "lang": "english"}], partial_update=True)
        self.same(found("dogs", analyzer_name="english"), [0, 1, 3, 4], "which changes with what it goes by")
        highlighter = LexicalHighlighter(pre_tags=["{"], post_tags=["}"], highlight_search_text=True)
        (hits,) = client.search("tongues", ["dogs"], anns_field="sparse", limit=9, highlighter=highlighter,
                                search_params={"metric_type": "BM25", "analyzer_name": "eng"})
        self.same({hit["id"]: hit["highlight"]["text"]["fragments"] for hit in hits},
                  {0: ["{Dogs}"], 1: ["{dogs}"], 3: ["{dogs} und Katzen"], 4: ["{dog}"]}, "words are marked in rows as they are cut")

        def cut(texts, names):
            told = client.run_analyzer(texts, collection_name="tongues", field_name="text", analyzer_names=names)
            return [list(one.tokens) for one in told]

        self.same(cut(["Big Dogs", "Big Dogs"], ["eng", "plain"]), [["big", "dog"], ["Big", "Dogs"]], "an analyzer for each text")
        self.same(cut(["Big Dogs", "Dogs"], "english"), [["big", "dog"], ["dog"]], "one for all")
        self.refused(1100, "analzer name num: 2, text num: 3", lambda: cut(["a", "b", "c"], ["eng", "plain"]))
        self.refused(1100, "multi_analyzer_params of field text", lambda: client.drop_collection_field("tongues", "lang"))
        client.drop_collection("tongues")

    def geometries(self):
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("at", DataType.GEOMETRY, nullable=True)
        schema.add_field("name", DataType.VARCHAR, max_length=20)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        params = self.index("v", index_type="FLAT", metric_type="L2")
        params.add_index("at", index_type="RTREE")
        client.create_collection("shapes", schema=schema, index_params=params, consistency_level="Strong")
        self.same(client.describe_index("shapes", "at")["index_type"], "RTREE", "its index is told as it was asked for")
        self.refused(1100, "RTREE index can only be built on geometry field",
                     lambda: client.create_index("shapes", self.index("name", "other", index_type="RTREE")))
        texts = ["POINT (1 1)", "POINT (1000.5 -2000)", "LINESTRING (-5 1, 5 1)", "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))",
                 "MULTIPOINT (1 1, 9 9)", None]
        client.insert("shapes", [{"id": n, "at": text, "name": "", "v": [n, 0]} for n, text in enumerate(texts)])
        self.same([row["at"] for row in client.query("shapes", filter="id >= 0", output_fields=["at"])], texts, "shapes are told again")

        def found(filter, **more):
            return sorted(row["id"] for row in client.query("shapes", filter=filter, output_fields=["id"], **more))

        square = "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))"
        for filter, want in [(f"st_within(at, '{square}')", [0, 3]), ("ST_CONTAINS(at, 'POINT (1 1)')", [0, 2, 3, 4]),
                             (f"st_intersects(at, '{square}')", [0, 2, 3, 4]), (f"st_equals(at, 'POLYGON ((4 4, 4 0, 0 0, 0 4, 4 4))')", [3]),
                             (f"st_crosses(at, '{square}')", [2, 4]), ("st_touches(at, 'POINT (4 2)')", [3]),
                             ("st_overlaps(at, 'POLYGON ((2 2, 6 2, 6 6, 2 6, 2 2))')", [3]), ("st_dwithin(at, 'POINT (1.001 1)', 200)", [0, 2, 3, 4]),
                             ("st_dwithin(at, 'POINT (1.001 1)', 100)", [2, 3]), ("st_isvalid(at)", [0, 1, 2, 3, 4]),
                             (f"not st_within(at, '{square}')", [1, 2, 4]), ("at is null", [5]),
                             (f"id > 0 and st_within(at, '{square}')", [3])]:
            self.same(found(filter), want, filter)
        self.same(found("st_within(at, {area})", filter_params={"area": square}), [0, 3], "a shape that a template brings")
        (hits,) = client.search("shapes", [[0, 0]], anns_field="v", limit=9, filter=f"st_within(at, '{square}')", output_fields=["at"])
        self.same([hit["at"] for hit in hits], [texts[0], texts[3]], "and beside vectors")
        client.upsert("shapes", [{"id": 1, "at": "point(2 2.50)"}], partial_update=True)
        self.same(client.query("shapes", ids=[1], output_fields=["at"])[0]["at"], "POINT (2 2.5)", "written in one way")
        self.refused(1100, "invalid Geometry data, transform to wkb failed: syntax error", lambda: client.insert("shapes", [{"id": 9, "at": "POINT (1)", "name": "", "v": [0, 0]}]))
        for said, filter in [("only supported on geometry fields", "st_within(name, 'POINT (1 1)')"), ("invalid WKT string", "st_within(at, 'POINT')"),
                             ("takes 2 arguments", "st_within(at)"), ("supports a point", f"st_dwithin(at, '{square}', 1)"),
                             ("must be non-negative", "st_dwithin(at, 'POINT (1 1)', -1)"), ("WKT string should be", "st_within(at, 7)")]:
            self.refused(1100, said, lambda: found(filter))
        # A default stands for a shape that is not given, and for those of rows from before its field.
        for default in ["POINT (1)", 5]:
            self.refused(1100, "invalid default value for geometry field",
                         lambda: client.add_collection_field("shapes", "home", DataType.GEOMETRY, nullable=True, default_value=default))
        client.add_collection_field("shapes", "home", DataType.GEOMETRY, nullable=True, default_value="point(3 3.0)")
        client.insert("shapes", [{"id": 20, "name": "", "v": [0, 0], "home": "POINT (50 50)"}, {"id": 21, "name": "", "v": [0, 0]}])
        told = client.query("shapes", filter="id in [0, 20, 21]", output_fields=["home"])
        self.same([row["home"] for row in told], ["POINT (3 3)", "POINT (50 50)", "POINT (3 3)"], "the default")
        for filter, want in [(f"st_within(home, '{square}')", [0, 1, 2, 3, 4, 5, 21]), (f"not st_within(home, '{square}')", [20]),
                             ("st_dwithin(home, 'POINT (3 3)', 1) and id < 2", [0, 1]), ("home is null", []), ("st_isvalid(home) and id > 4", [5, 20, 21])]:
            self.same(found(filter), want, filter)
        client.drop_collection("shapes")

    def embeddings(self):
        schema = self.client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("text", DataType.VARCHAR, max_length=100)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_function(Function(name="made", function_type=FunctionType.TEXTEMBEDDING, input_field_names=["text"],
                                     output_field_names=["v"], params={"provider": "openai", "model_name": "small"}))
        self.refused(3000, "function made of type TextEmbedding", lambda: self.client.create_collection("made", schema=schema))
        schema = self.client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("b", DataType.BINARY_VECTOR, dim=64)
        params = self.index("b", index_type="MINHASH_LSH", metric_type="HAMMING", params={"mh_lsh_band": 2})
        self.refused(1100, "supported: [MHJACCARD]", lambda: self.client.create_collection("made", schema=schema, index_params=params))
        self.client.drop_collection("made")

    def signatures(self):
        client = self.client

        def made(**params):
            return Function(name="made", function_type=FunctionType.MINHASH, input_field_names=["text"], output_field_names=["b"],
                            params={"num_hashes": 16, **params})

        def schema(**params):
            own = client.create_schema()
            own.add_field("id", DataType.INT64, is_primary=True)
            own.add_field("text", DataType.VARCHAR, max_length=200, nullable=True)
            own.add_field("b", DataType.BINARY_VECTOR, dim=512)
            own.add_function(made(**params))
            return own

        for said, wrong in [("does not match expected dim 96", {"num_hashes": 3}), ("unknown hash function: md5", {"hash_function": "md5"}),
                            ("shingle_size:0 must be positive", {"shingle_size": 0}), ("unknown token_level: line", {"token_level": "line"})]:
            self.refused(1100, said, lambda: client.create_collection("alike", schema=schema(**wrong)))
        params = self.index("b", index_type="MINHASH_LSH", metric_type="MHJACCARD", params={"mh_lsh_band": 8})
        client.create_collection("alike", schema=schema(shingle_size=2), index_params=params, consistency_level="Strong")
        told = client.describe_collection("alike")["functions"]
        self.same([(one["type"], one["input_field_names"]) for one in told], [(FunctionType.MINHASH, ["text"])], "the function is told")
        texts = ["a ball of thread in a maze", "a ball of thread in the maze", "entirely other words here", None]
        client.insert("alike", [{"id": n, "text": text} for n, text in enumerate(texts)])

        def found(text, **params):
            (hits,) = client.search("alike", [text], anns_field="b", limit=9, search_params={"metric_type": "MHJACCARD", "params": params})
            return [(hit["id"], round(hit["distance"], 4)) for hit in hits]

        text = "A ball, of thread; in a maze!"
        self.same(found(text), [(0, 1), (1, 1)], "rows that have a band in common")
        self.same(found(text, mh_search_with_jaccard=True), [(0, 1), (1, 0.625)], "or all that have anything in common")
        self.same(found(text, mh_search_with_jaccard=True, radius=0.7), [(0, 1)], "within a range")
        (hits,) = client.search("alike", ids=[1], anns_field="b", limit=9)
        self.same([hit["id"] for hit in hits], [1, 0], "as a row has")
        bits = {row["id"]: row["b"][0] for row in client.query("alike", filter="id >= 0", output_fields=["b"])}
        self.same((len(bits[0]), bits[0][:8].hex(), bits[3]), (64, (200088084).to_bytes(4, "little").hex() + (1046780453).to_bytes(4, "little").hex(), b"\xff" * 64),
                  "signatures are Milvus' own, and those without a text have all bits")
        client.upsert("alike", [{"id": 2, "text": texts[1]}], partial_update=True)
        self.same(sorted(found(text)), [(0, 1), (1, 1), (2, 1)], "which follow their texts")
        self.refused(1100, "does not support range search", lambda: found(text, radius=0.5))
        self.refused(1100, "varchar/text for MinHash Function based search", lambda: found(bits[0]))
        self.refused(1, "unexpected function output field", lambda: client.insert("alike", [{"id": 7, "text": "", "b": bits[0]}]))
        client.drop_collection("alike")
        self.plain_signatures()

    def plain_signatures(self):
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("b", DataType.BINARY_VECTOR, dim=128)
        params = self.index("b", index_type="MINHASH_LSH", metric_type="MHJACCARD", params={"mh_element_bit_width": 64, "mh_lsh_band": 2})
        client.create_collection("hashes", schema=schema, index_params=params, consistency_level="Strong")
        rows = [bytes(16), bytes(8) + b"\1" * 8, b"\1" * 16]
        client.insert("hashes", [{"id": n, "b": row} for n, row in enumerate(rows)])
        for params, want in [({}, [(0, 1), (1, 1)]), ({"mh_search_with_jaccard": True}, [(0, 1), (1, 0.5)])]:
            (hits,) = client.search("hashes", [rows[0]], anns_field="b", limit=9, search_params={"params": params})
            self.same([(hit["id"], hit["distance"]) for hit in hits], want, "hashes of 64 bits that somebody else made")
        client.drop_collection("hashes")

    def highlights(self):
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("text", DataType.VARCHAR, max_length=2000, enable_analyzer=True, enable_match=True)
        schema.add_field("plain", DataType.VARCHAR, max_length=20, nullable=True)
        schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_function(bm25("f", "text", "sparse"))
        params = self.index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("marked", schema=schema, index_params=params, consistency_level="Strong")
        texts = ["my first test doc", "Milvus is an open-source vector database. A test of Milvus."]
        client.insert("marked", [{"id": n, "v": [n, 0], "text": text} for n, text in enumerate(texts)])

        def marked(data, field="sparse", **more):
            highlighter = LexicalHighlighter(pre_tags=["{"], post_tags=["}"], **more)
            lists = client.search("marked", data, anns_field=field, limit=9, highlighter=highlighter)
            return [{hit["id"]: hit["highlight"]["text"]["fragments"] for hit in hits} for hits in lists]

        self.same(marked(["test", "milvus"], highlight_search_text=True), [
            {0: ["{test} doc"], 1: ["{test} of Milvus."]},
            {1: ["{Milvus} is an open-source vector database. A test of {Milvus}."]},
        ], "the words of each search")
        named = [{"type": "TextMatch", "field": "text", "text": "my doc"}]
        self.same(marked(["first"], highlight_search_text=True, highlight_query=named), [{0: ["{my} {first} test {doc}"]}],
                  "and those that are named")
        self.same(marked([[0, 0]], "v", highlight_query=named, fragment_size=6), [{0: ["{my} fir", "{doc}"], 1: []}],
                  "in parts, beside vectors")
        self.same(marked(["milvus"], highlight_search_text=True, fragment_offset=2, fragment_size=9, num_of_fragments=1),
                  [{1: ["{Milvus} is"]}], "as many as are wanted")
        for code, said, call in [
            (1100, "Search highlight only support", lambda: marked([[0, 0]], "v", highlight_search_text=True)),
            (1100, "has no analyzer",
             lambda: marked(["a"], highlight_query=[{"type": "TextMatch", "field": "plain", "text": "a"}])),
            (1100, "invalid fragment_size: 0", lambda: marked(["a"], highlight_search_text=True, fragment_size=0)),
            (3000, "type PhraseMatch", lambda: marked(["a"], highlight_query=[{**named[0], "type": "PhraseMatch"}])),
        ]:
            self.refused(code, said, call)

    def structs(self):
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        part = client.create_struct_field_schema()
        part.add_field("name", DataType.VARCHAR, max_length=20)
        part.add_field("near", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("events", DataType.ARRAY, element_type=DataType.STRUCT, struct_schema=part, max_capacity=4)
        params = self.index("v", index_type="HNSW", metric_type="L2")
        params.add_index("events[near]", index_type="HNSW", metric_type="MAX_SIM_L2")
        client.create_collection("lists", schema=schema, index_params=params, consistency_level="Strong")
        client.insert("lists", [{"id": 0, "v": [0, 0], "events": [{"name": "a", "near": [1, 1]}]}])
        self.refused(1100, "field not found: events[name]", lambda: client.drop_collection_field("lists", "events[name]"))
        client.drop_collection_field("lists", "events")
        self.same((self.names("lists"), client.list_indexes("lists")), (["id", "v"], ["v"]), "a list of structs is dropped")
        client.insert("lists", [{"id": 1, "v": [1, 1]}])
        self.same(sorted(client.query("lists", ids=[0])[0]), ["id", "v"], "as a whole")

    def kept(self):
        """What another client sees, which has never seen the fields."""
        other = MilvusClient(uri=self.uri)
        self.same(len(other.query("less", filter="age >= 0", output_fields=["age"])), 7, "seen by others")
        other.close()


def main(uri):
    session = Schemas(uri, seed=9)
    for part in [session.fields, session.functions, session.vectors, session.analyzers, session.analyzers_by_rows, session.geometries, session.embeddings, session.signatures, session.highlights,
                 session.structs, session.kept]:
        part()
    session.close()


if __name__ == "__main__":
    main(sys.argv[1])
