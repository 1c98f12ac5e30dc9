"""Fields of more than one value of a number or a text, with pymilvus, against a server at the address given: structs and
lists of vectors, instants, fields that are added later, and vectors without a direction."""

import sys

import numpy
import pymilvus
from pymilvus import AnnSearchRequest, DataType, RRFRanker, WeightedRanker
from pymilvus.client.embedding_list import EmbeddingList

from session import Session

DIM = 6
MAJOR = int(pymilvus.__version__.split(".")[0])


class Kinds(Session):
    def vector(self, dim=DIM):
        return super().vector(dim)

    # Structs.

    def make_structs(self, name, metric, element=DataType.FLOAT_VECTOR, dim=DIM):
        client = self.client
        schema = client.create_schema(auto_id=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=4)
        schema.add_field("title", DataType.VARCHAR, max_length=50)
        clip = client.create_struct_field_schema()
        clip.add_field("text", DataType.VARCHAR, max_length=100)
        clip.add_field("start", DataType.INT32)
        clip.add_field("score", DataType.DOUBLE)
        clip.add_field("seen", DataType.BOOL)
        clip.add_field("emb", element, dim=dim)
        schema.add_field("clips", DataType.ARRAY, element_type=DataType.STRUCT, struct_schema=clip, max_capacity=8)
        params = client.prepare_index_params()
        params.add_index("v", index_type="AUTOINDEX", metric_type="L2")
        structure = "BIN_FLAT" if element == DataType.BINARY_VECTOR else "HNSW"
        params.add_index("clips[emb]", index_type=structure, metric_type=metric, params={"M": 8, "efConstruction": 64})
        client.create_collection(name, schema=schema, index_params=params)

    def rows(self, count):
        return [{"id": i, "v": self.vector(4), "title": f"t{i}",
                 "clips": [{"text": f"w{(i + at) % 5}", "start": 10 * at, "score": i / 4, "seen": (i + at) % 2 == 0,
                            "emb": self.vector()} for at in range(i % 5)]} for i in range(count)]

    def like(self, got, want, what):
        """The same structs, but for the rounding of single precision."""
        plain = lambda clips: [{**clip, "emb": [round(float(x), 4) for x in clip["emb"]]} for clip in clips]
        self.same(plain(got), plain(want), what)

    def structs(self):
        client, name = self.client, "structs"
        self.make_structs(name, "MAX_SIM_COSINE")
        rows = self.rows(60)
        self.same(client.insert(name, rows)["insert_count"], 60, "inserted")
        (described,) = [field for field in client.describe_collection(name)["fields"] if field["name"] == "clips"]
        self.same((described["element_type"], described["params"]["max_capacity"],
                   [(field["name"], field["type"]) for field in described["struct_fields"]]),
                  (DataType.STRUCT, 8, [("text", DataType.VARCHAR), ("start", DataType.INT32), ("score", DataType.DOUBLE),
                                        ("seen", DataType.BOOL), ("emb", DataType.FLOAT_VECTOR)]), "described")
        found = client.query(name, filter="id in [3, 5, 9]", output_fields=["clips", "title"])
        self.same([row["id"] for row in found], [3, 5, 9], "queried")
        for row in found:
            self.like(row["clips"], rows[row["id"]]["clips"], "structs come back")
        some = client.query(name, filter="id == 9", output_fields=["clips[text]"])[0]["clips"]
        self.same(some, [{"text": clip["text"]} for clip in rows[9]["clips"]], "some of their fields")
        some = client.query(name, filter="id == 9", output_fields=["clips[emb]", "clips[start]"])[0]["clips"]
        self.same([(set(clip), clip["start"], len(clip["emb"])) for clip in some],
                  [({"emb", "start"}, clip["start"], DIM) for clip in rows[9]["clips"]], "their vectors alone")
        pages = client.query_iterator(name, filter="id < 30", batch_size=7, output_fields=["clips"])
        seen = []
        while page := pages.next():
            seen += page
        pages.close()
        self.same([row["id"] for row in seen], list(range(30)), "page by page")
        for row in seen:
            self.like(row["clips"], rows[row["id"]]["clips"], "structs of a page")
        self.same(client.query(name, filter="", output_fields=["count(*)"])[0]["count(*)"], 60, "rows are counted")
        # Max-sim, held against arithmetic.
        probe = [self.vector() for _ in range(3)]
        want = self.ranked(rows, probe, cosine, max)
        hits = self.max_sim(name, probe, limit=10, output_fields=["clips", "title"])
        self.same([hit["id"] for hit in hits], [i for _, i in want[:10]], "ranked by max-sim")
        self.same([round(hit["distance"], 4) for hit in hits], [round(s, 4) for s, _ in want[:10]], "by its sums")
        self.like(hits[0]["entity"]["clips"], rows[hits[0]["id"]]["clips"], "structs of a hit")
        hits = self.max_sim(name, probe, limit=5, offset=5)
        self.same([hit["id"] for hit in hits], [i for _, i in want[5:10]], "with an offset")
        hits = self.max_sim(name, probe, limit=100, filter="id < 20")
        self.same([hit["id"] for hit in hits], [i for _, i in want if i < 20], "all that pass a filter")
        hits = self.max_sim(name, probe, limit=60, search_params={"params": {"radius": want[7][0]}})
        self.same([hit["id"] for hit in hits], [i for _, i in want[:7]], "those nearer than another")
        # Clients have no iterators over lists, but for asking for one.
        self.refused(1100, "search iterator is not supported for multi-search-multi on embedding list fields",
                     lambda: self.max_sim(name, probe, limit=5, iterator=True))
        both = [AnnSearchRequest([EmbeddingList(probe)], "clips[emb]", {}, 10),
                AnnSearchRequest([rows[3]["v"]], "v", {}, 10)]
        (hits,) = client.hybrid_search(name, both, RRFRanker(), limit=5)
        self.same({3, want[0][1]} <= {hit["id"] for hit in hits}, True, "beside another search")
        # Conditions of structs.
        for filter, holds in [
            ("element_filter(clips, $[text] == 'w1' && $[start] > 0)",
             lambda clips: any(clip["text"] == "w1" and clip["start"] > 0 for clip in clips)),
            ("match_any(clips, $[seen])", lambda clips: any(clip["seen"] for clip in clips)),
            ("match_all(clips, $[start] < 20)",
             lambda clips: all(clip["start"] < 20 for clip in clips)),
            ("match_least(clips, $[seen], threshold=2)", lambda clips: sum(clip["seen"] for clip in clips) >= 2),
            ("match_most(clips, $[seen], threshold=1)", lambda clips: sum(clip["seen"] for clip in clips) <= 1),
            ("match_exact(clips, $[seen], threshold=2)", lambda clips: sum(clip["seen"] for clip in clips) == 2),
            ("not match_any(clips, $[text] in ['w1', 'w2'])",
             lambda clips: not any(clip["text"] in ("w1", "w2") for clip in clips)),
            ("match_any(clips, $[text] =~ '^w[12]$|^x')", lambda clips: any(clip["text"] in ("w1", "w2") for clip in clips)),
            ("match_all(clips, $[text] !~ '1')", lambda clips: all("1" not in clip["text"] for clip in clips)),
            ("element_filter(clips, $[start] + 1 == 11)", lambda clips: any(clip["start"] == 10 for clip in clips)),
            ("match_least(clips, $[start] % 20 == 0 && $[text] =~ r'(?m)^w[12]$', threshold=2)",
             lambda clips: sum(clip["start"] % 20 == 0 and clip["text"] in ("w1", "w2") for clip in clips) >= 2),
            ("array_length(clips) == 2", lambda clips: len(clips) == 2),
            ("array_length(clips[start]) < 2", lambda clips: len(clips) < 2),
            ("array_contains(clips[text], 'w1')", lambda clips: any(clip["text"] == "w1" for clip in clips)),
            ("array_contains_all(clips[text], ['w1', 'w2'])",
             lambda clips: {"w1", "w2"} <= {clip["text"] for clip in clips}),
            ("not array_contains_any(clips[text], ['w1', 'w2'])",
             lambda clips: not {"w1", "w2"} & {clip["text"] for clip in clips}),
            ("clips is not null", lambda clips: True),
            # One of them by its number; of a row without it nothing is known.
            ("clips[0][text] == 'w1'", lambda clips: clips[:1] and clips[0]["text"] == "w1"),
            ("not (clips[1][text] == 'w1')", lambda clips: clips[1:] and clips[1]["text"] != "w1"),
            ("clips[1][text] in ['w0', 'w2'] or clips[0][seen]",
             lambda clips: clips[1:] and clips[1]["text"] in ("w0", "w2") or clips[:1] and clips[0]["seen"]),
            ("clips[1][start] + 1 > 3", lambda clips: clips[1:] and clips[1]["start"] + 1 > 3),
            ("clips[0][text] like 'w%' and clips[2][start] is null", lambda clips: clips[:1] and not clips[2:]),
        ]:
            found = client.query(name, filter=filter, output_fields=["id"])
            # Of a row there is one for each struct that an element_filter finds.
            found = list(dict.fromkeys(row["id"] for row in found))
            self.same(found, [row["id"] for row in rows if holds(row["clips"])], filter)
        for said, filter in [("field clips not exist", "clips[0] == 1"), ("can not comparisons array fields directly", "clips[start] == 1"),
                             ("extraneous input '['", "clips[start][0] == 1"), ("mismatched input", "array_length(clips[0][start]) == 1"),
                             ("got: Int32", "array_contains(clips[0][start], 1)"), ("cannot be casted to Int32", "clips[0][start] in [1, 'a']")]:
            self.refused(1100, said, lambda: client.query(name, filter=filter, output_fields=["id"]))
        self.refused(1100, "array of vector is not supported for search by IDs",
                     lambda: client.search(name, ids=[1, 2], anns_field="clips[emb]", limit=3))
        self.refused(1100, "", lambda: client.query(name, filter="element_filter(clips, $[no] == 1)"))
        for said, filter in [("struct field not found: clips[no]", "clips[0][no] == 1"),
                             ("struct field not found: title[no]", "title[0][no] == 1"), ("struct field not found: clips[no]", "array_contains(clips[no], 1)"),
                             ("clips[emb] is no scalar field", "clips[0][emb] is null"), ("comparisons between Int32 and VarChar are not supported", "clips[0][start] == 'a'")]:
            self.refused(1100, said, lambda: client.query(name, filter=filter, output_fields=["id"]))
        # Replaced, in part, and deleted.
        rows[7]["clips"] = rows[8]["clips"][:1]
        client.upsert(name, [rows[7]])
        self.like(client.get(name, ids=7)[0]["clips"], rows[7]["clips"], "replaced")
        client.upsert(name, [{"id": 9, "title": "again"}], partial_update=True)
        rows[9]["title"] = "again"
        (row,) = client.get(name, ids=9)
        self.same(row["title"], "again", "a part of it")
        self.like(row["clips"], rows[9]["clips"], "and the structs stay")
        rows[9]["clips"] = [dict(rows[4]["clips"][0], start=99), rows[4]["clips"][1]]
        client.upsert(name, [{"id": 9, "clips": rows[9]["clips"]}], partial_update=True)
        (row,) = client.get(name, ids=9)
        self.same(row["title"], "again", "the rest stays")
        self.like(row["clips"], rows[9]["clips"], "and the structs are others")
        self.same([row["id"] for row in client.query(name, filter="match_any(clips, $[start] == 99)", output_fields=["id"])],
                  [9], "which are found")
        rows[8]["clips"] = []
        client.upsert(name, [{"id": 8, "clips": []}], partial_update=True)
        self.same(client.get(name, ids=8)[0]["clips"], [], "or none")
        client.delete(name, ids=[want[0][1]])
        left = [row for row in rows if row["id"] != want[0][1]]
        client.flush(name)
        job = client.compact(name)
        assert job >= 0
        again = self.ranked(left, probe, cosine, max)
        hits = self.max_sim(name, probe, limit=10)
        self.same([hit["id"] for hit in hits], [i for _, i in again[:10]], "after changes")
        self.same(client.describe_index(name, "clips[emb]")["metric_type"], "MAX_SIM_COSINE", "the index is told")
        # What does not fit.
        bad = dict(rows[1], clips=[{"text": "x" * 200, "start": 1, "score": 1.0, "seen": True, "emb": self.vector()}])
        self.refused(1100, "max length", lambda: client.insert(name, [bad]))
        many = dict(rows[1], clips=[rows[4]["clips"][0]] * 9)
        self.refused(1100, "max capacity", lambda: client.insert(name, [many]))
        self.refused(1100, "vector type must be the same",
                     lambda: client.search(name, data=[self.vector()], anns_field="clips[emb]", limit=3))
        client.drop_collection(name)

    def ranked(self, rows, probe, measure, best):
        scored = [(sum(best(measure(one, clip["emb"]) for clip in row["clips"]) for one in probe), row["id"])
                  for row in rows if row["clips"]]
        return sorted(scored, key=lambda pair: pair[0], reverse=best is max)

    def max_sim(self, name, probe, **more):
        probes = EmbeddingList()
        for one in probe:
            probes.add(numpy.array(one, dtype=numpy.float32))
        (hits,) = self.client.search(name, data=[probes], anns_field="clips[emb]", **more)
        return list(hits)

    def other_metrics(self):
        for metric, measure, best in [("MAX_SIM", cosine, max), ("MAX_SIM_IP", dot, max), ("MAX_SIM_L2", squared, min)]:
            name = metric.lower()
            self.make_structs(name, metric)
            rows = self.rows(40)
            self.client.insert(name, rows)
            probe = [self.vector() for _ in range(2)]
            want = self.ranked(rows, probe, measure, best)
            hits = self.max_sim(name, probe, limit=8)
            self.same([hit["id"] for hit in hits], [i for _, i in want[:8]], metric)
            self.same([round(hit["distance"], 3) for hit in hits], [round(s, 3) for s, _ in want[:8]], metric)
            self.client.drop_collection(name)

    def elements(self):
        """Structs are hits by themselves where the index compares single vectors."""
        client, name = self.client, "elements"
        self.make_structs(name, "L2")
        rows = self.rows(40)
        client.insert(name, rows)
        probe = self.vector()
        want = sorted((squared(probe, clip["emb"]), row["id"], at) for row in rows for at, clip in enumerate(row["clips"]))
        (hits,) = client.search(name, data=[probe], anns_field="clips[emb]", limit=12)
        self.same([(hit["id"], hit["offset"]) for hit in hits], [(i, at) for _, i, at in want[:12]], "structs as hits")
        filter = "element_filter(clips, $[start] == 10) && id > 4"
        (hits,) = client.search(name, data=[probe], anns_field="clips[emb]", limit=50, filter=filter)
        self.same([(hit["id"], hit["offset"]) for hit in hits], [(i, at) for _, i, at in want if at == 1 and i > 4],
                  "only those that match")
        (hits,) = client.search(name, data=[probe], anns_field="clips[emb]", limit=50, filter="element_filter(clips, $[start] / 5 + 1 == 3)")
        self.same([(hit["id"], hit["offset"]) for hit in hits], [(i, at) for _, i, at in want if at == 1], "by arithmetic")
        if MAJOR > 2:
            some = "id < 9 and element_filter(clips, $[start] != 10)"
            structs = [(i, at) for i, at in sorted((i, at) for _, i, at in want) if i < 9 and at != 1]
            found = [(row["id"], row["offset"]) for row in client.query(name, filter=some, output_fields=["title"])]
            self.same(found, structs, "structs of rows that a query finds")
            for offset in range(0, len(structs), 3):
                found = client.query(name, filter=some, output_fields=["title"], limit=3, offset=offset)
                self.same([(row["id"], row["offset"]) for row in found], structs[offset:offset + 3], f"three from {offset}")
            pages = client.query_iterator(name, filter=some, output_fields=["title"], batch_size=3)
            found = []
            while page := pages.next():
                found += [(row["id"], row["offset"]) for row in page]
            pages.close()
            self.same(found, structs, "page by page")
            found = client.query(name, filter=some.replace("element_filter", "match_any"), output_fields=["title"])
            self.same([row for row in found if "offset" in row], [], "none that were not asked for")
        (groups,) = client.search(name, data=[probe], anns_field="clips[emb]", limit=30, group_by_field="title")
        best = dict(reversed([(i, at) for _, i, at in want]))
        self.same({hit["id"]: hit["offset"] for hit in groups}, {hit["id"]: best[hit["id"]] for hit in groups}, "grouped")
        self.refused(1100, "legacy search iterator is not supported for element-level search; use search iterator v2",
                     lambda: client.search(name, data=[probe], anns_field="clips[emb]", limit=5, iterator=True))
        if MAJOR > 2:
            from pymilvus.client.search_aggregation import SearchAggregation
            self.refused(1100, "only group by primary key is supported for element-level search",
                         lambda: client.search(name, data=[probe], anns_field="clips[emb]",
                                               search_aggregation=SearchAggregation(fields=["title"], size=2)))
        # Page by page, while rows come and go.
        for filter, keep in [("", lambda i, at: True), (filter, lambda i, at: at == 1 and i > 4)]:
            pages = client.search_iterator(name, data=[probe], anns_field="clips[emb]", batch_size=7, filter=filter)
            seen = []
            while page := pages.next():
                seen += [(hit["id"], hit["offset"]) for hit in page]
                client.upsert(name, [rows[len(seen) % 40]])
            pages.close()
            self.same(seen, [(i, at) for _, i, at in want if keep(i, at)], f"pages of structs by {filter}")
        client.drop_collection(name)

    # Structs in hybrid searches.

    def make_pairs(self, name, rows, metric="COSINE", key=DataType.INT64):
        """Rows with a vector and two fields of structs, the first of which has two vectors."""
        client = self.client
        schema = client.create_schema(auto_id=False)
        schema.add_field("id", key, is_primary=True, **({"max_length": 20} if key == DataType.VARCHAR else {}))
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("n", DataType.INT64)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="COSINE")
        for field, parts in [("a", ["e", "f"]), ("b", ["e"])]:
            part = client.create_struct_field_schema()
            for one in parts:
                part.add_field(one, DataType.FLOAT_VECTOR, dim=2)
                params.add_index(f"{field}[{one}]", index_type="HNSW", metric_type=metric, params={"M": 8, "efConstruction": 64})
            schema.add_field(field, DataType.ARRAY, element_type=DataType.STRUCT, struct_schema=part, max_capacity=4)
        client.create_collection(name, schema=schema, index_params=params, consistency_level="Strong")
        like = lambda score: [score, (1 - score * score) ** 0.5]
        client.insert(name, [{"id": id, "v": like(scores[0]), "n": at % 2, "a": [{"e": like(x), "f": like(x)} for x in scores],
                              "b": [{"e": like(x)} for x in scores]} for at, (id, scores) in enumerate(rows)])

    def hybrid(self, name, fields, *, ranker=None, limit=10, nq=1, collapse=None, **more):
        """What is told of rows by several searches, and the params of all but the last one."""
        scope = {} if collapse is None else {"params": {"element_scope": collapse}}
        asked = [AnnSearchRequest([[1.0, 0.0]] * nq, field, scope if at + 1 < len(fields) else {}, 12) for at, field in enumerate(fields)]
        return self.client.hybrid_search(name, asked, ranker or RRFRanker(60), limit=limit, **more)

    def collapses(self):
        """Structs stand for their rows, as it is said, unless all searches are of one field of structs."""
        name = "pairs"
        self.make_pairs(name, [(1, [0.99, 0.1, 0.1, 0.1]), (2, [0.8] * 4), (3, [0.9, 0.9]), (4, [0.95])])
        for strategy, want in [
            (None, [1, 4, 3, 2]),
            ({"strategy": "max"}, [1, 4, 3, 2]),
            ({"strategy": "sum"}, [2, 3, 1, 4]),
            ({"strategy": "avg"}, [4, 3, 2, 1]),
            ({"strategy": "topk_sum", "topk": 2}, [3, 2, 1, 4]),
            ({"strategy": "topk_avg", "topk": 2}, [4, 3, 2, 1]),
            ({"strategy": "topk_sum", "topk": 10}, [2, 3, 1, 4]),
        ]:
            collapse = None if strategy is None else {"collapse": strategy}
            # The last search is left out by its weight, so that the first alone says the order.
            found = self.hybrid(name, ["a[e]", "b[e]"], nq=2, collapse=collapse, ranker=WeightedRanker(1.0, 0.0, norm_score=False))
            for hits in found:
                self.same([hit["id"] for hit in hits], want, f"rows by {strategy}")
                assert not any("offset" in hit for hit in hits), hits
        (hits,) = self.hybrid(name, ["a[e]", "v"])
        self.same([(hit["id"], round(hit["distance"], 6)) for hit in hits],
                  [(id, round(2 / (61 + rank), 6)) for rank, id in enumerate([1, 4, 3, 2])], "structs beside rows")
        for code, said, scope in [
            (1101, "element_scope.collapse.topk is required for strategy topk_sum", {"collapse": {"strategy": "topk_sum"}}),
            (1100, "element_scope.collapse.topk must be positive", {"collapse": {"strategy": "topk_avg", "topk": 0}}),
            (1100, "element_scope.collapse.topk is only valid for topk strategies", {"collapse": {"strategy": "max", "topk": 1}}),
            (1100, "unsupported element_scope.collapse.strategy: median", {"collapse": {"strategy": "median"}}),
            (1101, "element_scope.collapse is required", {}),
            (1100, "unsupported element_scope key: x", {"x": 1}),
        ]:
            self.refused(code, said, lambda: self.hybrid(name, ["a[e]", "b[e]"], collapse=scope))
        best = {"collapse": {"strategy": "max"}}
        self.refused(1100, "element_scope is only supported for element-level search", lambda: self.hybrid(name, ["v", "a[e]"], collapse=best))
        self.refused(1100, "element_scope is not allowed for same-struct element-level hybrid search",
                     lambda: self.hybrid(name, ["a[e]", "a[f]"], collapse=best))
        self.refused(1100, "group by search is only supported for same-struct element-level vector array fields in hybrid search, fieldName:a[e]",
                     lambda: self.hybrid(name, ["a[e]", "v"], group_by_field="id"))
        (hits,) = self.hybrid(name, ["a[e]", "a[f]"], group_by_field="id")
        self.same([hit["id"] for hit in hits if "offset" in hit], [1, 4, 3, 2], "structs, one of each row")
        self.client.drop_collection(name)
        self.make_pairs(name, [(1, [0.9, 0.1])], metric="L2")
        self.refused(1100, "element_scope.collapse.strategy sum is only supported for positively related metrics",
                     lambda: self.hybrid(name, ["a[e]", "b[e]"], collapse={"collapse": {"strategy": "sum"}}))
        self.client.drop_collection(name)

    def joined(self):
        """Searches of one field of structs are joined struct by struct."""
        name = "joined"
        self.make_pairs(name, [("doc/a", [0.99, 0.1]), ("doc:b", [0.9, 0.8])], key=DataType.VARCHAR)
        order = [("doc/a", 0), ("doc:b", 0), ("doc:b", 1), ("doc/a", 1)]
        for ranker in [RRFRanker(60), WeightedRanker(0.5, 0.5)]:
            (hits,) = self.hybrid(name, ["a[e]", "a[f]"], ranker=ranker, output_fields=["n"])
            self.same([(hit["id"], hit["offset"]) for hit in hits], order, "structs of both searches")
            self.same([hit["entity"]["n"] for hit in hits], [0, 1, 1, 0], "what their rows have")
        (hits,) = self.hybrid(name, ["a[e]", "a[f]"], limit=2, offset=1)
        self.same([(hit["id"], hit["offset"]) for hit in hits], order[1:3], "a page of structs")
        (hits,) = self.hybrid(name, ["a[e]"], limit=3)
        self.same([(hit["id"], hit["offset"]) for hit in hits], order[:3], "structs of a search alone")
        self.client.drop_collection(name)

    def packed(self):
        """Lists of vectors of other elements."""
        client = self.client
        for element, name in [(DataType.FLOAT16_VECTOR, "halves"), (DataType.INT8_VECTOR, "bytes_")]:
            self.make_structs(name, "MAX_SIM_IP", element)
            kind = numpy.float16 if element == DataType.FLOAT16_VECTOR else numpy.int8
            draw = lambda: numpy.array([self.random.randint(-9, 9) for _ in range(DIM)], dtype=kind)
            rows = self.rows(20)
            for row in rows:
                for clip in row["clips"]:
                    clip["emb"] = draw()
            client.insert(name, rows)
            probe = [draw() for _ in range(2)]
            probes = EmbeddingList(probe)
            (hits,) = client.search(name, data=[probes], anns_field="clips[emb]", limit=1)
            plain = [[float(x) for x in one] for one in probe]
            want = self.ranked(rows, plain, dot, max)
            self.same(round(hits[0]["distance"], 3), round(want[0][0], 3), name)
            client.drop_collection(name)
        for metric in ["MAX_SIM_HAMMING", "MAX_SIM_JACCARD"]:
            self.refused(3000, metric, lambda: self.make_structs("bits", metric, DataType.BINARY_VECTOR, dim=8))
            client.drop_collection("bits")
        self.make_structs("bits", "HAMMING", DataType.BINARY_VECTOR, dim=8)
        clip = lambda byte: {"text": "", "start": 0, "score": 0.0, "seen": True, "emb": bytes([byte])}
        client.insert("bits", [{"id": i, "v": self.vector(4), "title": "", "clips": [clip(i), clip(255 - i)]} for i in range(4)])
        (hits,) = client.search("bits", data=[bytes([253])], anns_field="clips[emb]", limit=2)
        self.same([(hit["id"], hit["offset"], hit["distance"]) for hit in hits], [(2, 1, 0.0), (0, 1, 1.0)], "bits")
        client.drop_collection("bits")

    def halves(self):
        """Vectors of half precision are searched by those of single precision, too."""
        client, name = self.client, "halves"
        brain = lambda vector: (numpy.array(vector, dtype=numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()
        for kind, pack in [(DataType.FLOAT16_VECTOR, lambda vector: numpy.array(vector, dtype=numpy.float16)), (DataType.BFLOAT16_VECTOR, brain)]:
            schema = client.create_schema()
            schema.add_field("id", DataType.INT64, is_primary=True)
            schema.add_field("v", kind, dim=4)
            params = client.prepare_index_params()
            params.add_index("v", index_type="FLAT", metric_type="L2")
            client.create_collection(name, schema=schema, index_params=params, consistency_level="Strong")
            draw = lambda: [float(self.random.randint(-9, 9)) for _ in range(4)]
            rows = [draw() for _ in range(30)]
            client.insert(name, [{"id": i, "v": pack(row)} for i, row in enumerate(rows)])
            # Small whole numbers lose nothing.
            probe = draw()
            found = lambda vector, **more: [hit["distance"] for hit in client.search(name, [vector], limit=10, **more)[0]]
            self.same(found(probe), sorted(squared(probe, row) for row in rows)[:10], f"single precision for {kind}")
            self.same(found([256 + 1e-3, 0, 0, 0]), found([256, 0, 0, 0]), "with the digits of the field")
            self.refused(1100, "expected vector size(byte) 16, actual 12", lambda: found(probe[:3]))
            for said, given in [("reorder_k(9) should be larger than k(10)", {"reorder_k": 9}),
                                ("search_list_size(3) should be larger than k(10)", {"search_list": 3}),
                                ("search_list_size(3) should be larger than k(10)", {"search_list_size": 3}),
                                ("param 'search_list_size' (100.0) should be integer", {"search_list_size": 100.0}),
                                ("'dim_max_score_ratio' (1.4) should be in range [0.500000, 1.300000]", {"dim_max_score_ratio": 1.4})]:
                self.refused(1100, said, lambda: found(probe, search_params={"params": given}))
            grouped = found(probe, search_params={"params": {"search_list": 3}}, group_by_field="id")
            self.same(grouped, found(probe), "groups are looked for until there are enough")
            ranged = found(probe, search_params={"params": {"search_list": 3, "radius": 1e6}})
            self.same(ranged, found(probe), "what lies within a range, too")
            client.drop_collection(name)

    # Instants.

    def instants(self):
        client, name = self.client, "instants"
        schema = client.create_schema(auto_id=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("at", DataType.TIMESTAMPTZ, nullable=True)
        schema.add_field("made", DataType.TIMESTAMPTZ, default_value="2020-02-03T04:05:06Z")
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        params.add_index("at", index_type="STL_SORT")
        client.create_collection(name, schema=schema, index_params=params, properties={"timezone": "Asia/Shanghai"})
        texts = ["2025-01-01T00:00:00+08:00", "2025-01-01 12:00:00", "2025-01-02", "2025-01-03T00:00:00.123456Z",
                 None, "1890-05-06T07:08:09Z"]
        client.insert(name, [{"id": i, "v": [i, 0], "at": text} for i, text in enumerate(texts)])
        found = client.query(name, filter="id >= 0", output_fields=["at", "made"])
        self.same([row["at"] for row in found],
                  ["2025-01-01T00:00:00+08:00", "2025-01-01T12:00:00+08:00", "2025-01-02T00:00:00+08:00",
                   "2025-01-03T08:00:00.123456+08:00", None, "1890-05-06T15:13:09+08:05"], "in the collection's zone")
        self.same(found[0]["made"], "2020-02-03T12:05:06+08:00", "a default")
        found = client.query(name, filter="id < 2", output_fields=["at"], timezone="America/New_York")
        self.same([row["at"] for row in found], ["2024-12-31T11:00:00-05:00", "2024-12-31T23:00:00-05:00"], "in another")
        (hits,) = client.search(name, data=[[0, 0]], limit=1, output_fields=["at"], timezone="UTC")
        self.same(hits[0]["entity"]["at"], "2024-12-31T16:00:00Z", "of a hit")
        for zone, ids in [("Asia/Shanghai", [1]), ("America/New_York", []), ("", [1])]:
            found = client.query(name, filter="at == ISO '2025-01-01 12:00:00'", output_fields=["id"], timezone=zone)
            self.same([row["id"] for row in found], ids, f"a moment of a filter in the zone {zone!r} of its request")
        (hits,) = client.search(name, data=[[0, 0]], limit=1, filter="at == ISO '2024-12-31 23:00:00'", timezone="America/New_York")
        self.same([hit["id"] for hit in hits], [1], "and of a search")
        for filter, ids in [
            ("at > ISO '2025-01-01T12:00:00'", [2, 3]),
            ("at >= ISO '2025-01-01T04:00:00Z'", [1, 2, 3]),
            ("ISO '2025-01-02T00:00:00+08:00' == at", [2]),
            ("at != ISO '2025-01-02'", [0, 1, 3, 5]),
            ("at + INTERVAL 'P1D' > ISO '2025-01-02T12:00:00'", [2, 3]),
            ("at - INTERVAL 'PT12H' <= ISO '2025-01-01'", [0, 1, 5]),
            ("ISO '2025-01-01' < at < ISO '2025-01-02T12:00:00'", [1, 2]),
            ("ISO '2025-01-01' > at - INTERVAL 'P1M'", [0, 1, 2, 3, 5]),
            ("at is null", [4]),
            ("at < iso '1900-01-01'", [5]),
        ]:
            found = client.query(name, filter=filter, output_fields=["id"])
            self.same([row["id"] for row in found], ids, filter)
        for text in ["yesterday", "2025-02-30", "2025-01-01T25:00:00Z"]:
            self.refused(1100, text, lambda: client.insert(name, [{"id": 9, "v": [1, 1], "at": text}]))
        self.refused(1100, "never", lambda: client.query(name, filter="at > ISO 'never'"))
        self.refused(1100, "timestamptz", lambda: client.query(name, filter="id > ISO '2025-01-01'"))
        (hits,) = client.search(name, data=[[0, 0]], limit=2, group_by_field="made")
        self.same([hit["id"] for hit in hits], [0], "grouped by instants")
        found = client.query(name, filter="id in [3, 4]", output_fields=["at"], time_fields="year, month day,microsecond")
        self.same([row["at"] and list(row["at"]) for row in found], [[2025, 1, 3, 123456], None], "parts of instants")
        (hits,) = client.search(name, data=[[0, 0]], limit=1, output_fields=["at"], timezone="UTC", time_fields="hour")
        self.same(list(hits[0]["entity"]["at"]), [16], "of a hit, in a zone")
        self.refused(1100, "unsupported field for extraction: yeer",
                     lambda: client.query(name, filter="id > 0", output_fields=["at"], time_fields="yeer"))
        self.refused(1100, "a while", lambda: client.query(name, filter="at + INTERVAL 'a while' > ISO '2025-01-01'"))
        self.refused(1100, "Mars", lambda: client.query(name, filter="id > 0", output_fields=["at"], timezone="Mars"))
        self.refused(1100, "Mars", lambda: client.alter_collection_properties(name, {"timezone": "Mars/Base"}))
        client.alter_collection_properties(name, {"timezone": "UTC"})
        # A collection has its database's zone, where it says none.
        client.create_database("zoned", properties={"timezone": "America/New_York"})
        self.refused(1100, "Mars", lambda: client.alter_database_properties("zoned", {"timezone": "Mars/Base"}))
        self.refused(1100, "Mars", lambda: client.create_database("far", properties={"timezone": "Mars/Base"}))
        client.use_database("zoned")
        client.create_collection("plain", schema=schema, index_params=params, consistency_level="Strong")
        client.insert("plain", [{"id": 1, "v": [1, 0], "at": "2025-07-01T12:00:00"}])
        self.same((client.describe_collection("plain")["properties"], client.get("plain", ids=1)[0]["at"]),
                  ({"max_field_id": "103", "namespace.sharding.enabled": "false", "timezone": "America/New_York"},
                   "2025-07-01T12:00:00-04:00"), "the zone of its database")
        client.drop_collection("plain")
        client.use_database("default")
        client.drop_database("zoned")
        self.same(client.get(name, ids=2, output_fields=["at"])[0]["at"], "2025-01-01T16:00:00Z", "in its new zone")
        client.upsert(name, [{"id": 2, "v": [2, 0], "at": "2025-06-01"}])
        self.same(client.get(name, ids=2, output_fields=["at"])[0]["at"], "2025-06-01T00:00:00Z", "replaced")
        client.drop_collection(name)

    # Fields that are added later.

    def added(self):
        client, name = self.client, "added"
        if client.has_collection(name):
            client.drop_collection(name)
        client.create_collection(name, dimension=2, metric_type="L2")
        client.insert(name, [{"id": i, "vector": [i, 0]} for i in range(4)])
        kinds = [("b", DataType.BOOL, True, {}), ("i8", DataType.INT8, 8, {}), ("i16", DataType.INT16, 16, {}),
                 ("i32", DataType.INT32, 32, {}), ("i64", DataType.INT64, 64, {}), ("f", DataType.FLOAT, 0.5, {}),
                 ("d", DataType.DOUBLE, 0.25, {}), ("s", DataType.VARCHAR, "word", {"max_length": 20}),
                 ("t", DataType.TIMESTAMPTZ, "2024-05-06T07:08:09Z", {})]
        for field, kind, default, more in kinds:
            client.add_collection_field(name, field, kind, nullable=True, **more)
            client.add_collection_field(name, f"{field}_d", kind, nullable=True, default_value=default, **more)
        client.add_collection_field(name, "j", DataType.JSON, nullable=True)
        client.add_collection_field(name, "a", DataType.ARRAY, element_type=DataType.INT64, max_capacity=4, nullable=True)
        self.refused(1100, "nullable", lambda: client.add_collection_field(name, "x", DataType.INT64, nullable=False))
        (row,) = client.query(name, filter="id == 1", output_fields=["*"])
        for field, _, default, _ in kinds:
            self.same((row[field], row[f"{field}_d"]), (None, default), f"a row from before has of {field}")
        self.same((row["j"], row["a"]), (None, None), "and of others")
        client.insert(name, [{"id": 9, "vector": [9, 0], "i64": 5, "i64_d": 6, "s": "x", "s_d": "y", "j": {"k": 1},
                              "a": [1, 2]}])
        (row,) = client.query(name, filter="id == 9", output_fields=["*"])
        self.same((row["i64"], row["i64_d"], row["s"], row["s_d"], row["j"], row["a"], row["b"], row["b_d"]),
                  (5, 6, "x", "y", {"k": 1}, [1, 2], None, True), "a row from after")
        for filter, ids in [("i64 is null", [0, 1, 2, 3]), ("i64 == 5", [9]), ("i64_d == 64", [0, 1, 2, 3]),
                            ("i64_d != 64", [9]), ("i64_d > 5", [0, 1, 2, 3, 9]), ("i64_d is null", []),
                            ("s_d == 'word'", [0, 1, 2, 3]), ("s_d in ['word', 'z']", [0, 1, 2, 3]),
                            ("b_d == true", [0, 1, 2, 3, 9]), ("not (i64_d == 64)", [9]), ("s_d like 'wo%'", [0, 1, 2, 3]),
                            ("starts_with(s_d, 'wo')", [0, 1, 2, 3]), ("not starts_with(s_d, 'wo')", [9]),
                            ("not empty(s_d)", [0, 1, 2, 3, 9]),
                            ("t_d == ISO '2024-05-06T07:08:09Z'", [0, 1, 2, 3, 9]), ("f_d < 1", [0, 1, 2, 3, 9]),
                            ("j is null", [0, 1, 2, 3]), ("array_contains(a, 2)", [9]), ("a in []", [])]:
            found = client.query(name, filter=filter, output_fields=["id"])
            self.same([row["id"] for row in found], ids, filter)
        client.alter_collection_field(name, "s", {"max_length": 40})
        client.upsert(name, [{"id": 9, "vector": [9, 0], "s": "x" * 40}])
        self.same(client.get(name, ids=9)[0]["s"], "x" * 40, "longer texts")
        (hits,) = client.search(name, data=[[0, 0]], limit=5, group_by_field="s_d", output_fields=["s_d"])
        self.same([hit["entity"]["s_d"] for hit in hits], ["word"], "rows from before have their default in common with others")
        if MAJOR > 2:
            clip = client.create_struct_field_schema()
            clip.add_field("n", DataType.INT64)
            clip.add_field("e", DataType.FLOAT_VECTOR, dim=2)
            for around, part in [("RowID", "n"), ("scenes", "Timestamp")]:
                own = client.create_struct_field_schema()
                own.add_field(part, DataType.INT64)
                self.refused(1100, "not support to add system field, field name = ",
                             lambda: client.add_collection_struct_field(name, around, struct_schema=own, max_capacity=4))
            client.add_collection_struct_field(name, "clips", struct_schema=clip, max_capacity=4)
            self.same(client.get(name, ids=1, output_fields=["clips"])[0]["clips"], None, "no structs before")
            clips = [{"n": 1, "e": [1.0, 0.0]}, {"n": 2, "e": [0.0, 1.0]}]
            client.insert(name, [{"id": 10, "vector": [10, 0], "clips": clips}, {"id": 11, "vector": [11, 0], "clips": []},
                                 {"id": 12, "vector": [12, 0], "clips": None}])
            found = client.query(name, filter="id > 9", output_fields=["clips"])
            self.same([row["clips"] for row in found], [clips, [], None], "structs after")
            for filter, ids in [("match_any(clips, $[n] == 2)", [10]), ("not match_any(clips, $[n] == 2)", [11]),
                                ("match_all(clips, $[n] > 0)", [10, 11]), ("match_most(clips, $[n] > 0, threshold=1)", [11])]:
                found = client.query(name, filter=filter, output_fields=["id"])
                self.same([row["id"] for row in found], ids, filter)
            client.upsert(name, [{"id": 10, "clips": None}, {"id": 11, "clips": clips}], partial_update=True)
            found = client.query(name, filter="id > 9", output_fields=["clips"])
            self.same([row["clips"] for row in found], [None, clips, None], "structs become null in part")
            found = client.query(name, filter="match_any(clips, $[n] == 2)", output_fields=["id"])
            self.same([row["id"] for row in found], [11], "and are not found any more")
            self.refused(1100, 'op ARRAY_APPEND is not supported for struct field "clips"',
                         lambda: client.upsert(name, [{"id": 11, "clips": clips}], field_ops={"clips": "array_append"}))
        client.drop_collection(name)

    # Vectors without a direction.

    def zeros(self):
        client, name = self.client, "zeros"
        client.create_collection(name, dimension=3, metric_type="COSINE")
        client.insert(name, [{"id": 0, "vector": [0, 0, 0]}, {"id": 1, "vector": [1, 0, 0]},
                             {"id": 2, "vector": [-1, 0, 0]}])
        (hits,) = client.search(name, data=[[1, 0, 0]], limit=3)
        self.same([(hit["id"], round(hit["distance"], 5)) for hit in hits], [(1, 1.0), (0, 0.0), (2, -1.0)],
                  "a zero vector is like none")
        (hits,) = client.search(name, data=[[0, 0, 0]], limit=3)
        self.same([hit["distance"] for hit in hits], [0.0, 0.0, 0.0], "to a zero vector all are alike")
        client.upsert(name, [{"id": 0, "extra": 1}], partial_update=True)
        self.same(client.get(name, ids=0)[0]["vector"], [0.0, 0.0, 0.0], "it stays what it is")
        self.refused(1100, "too long", lambda: client.insert(name, [{"id": 4, "vector": [1e30, 0, 0]}]))
        client.drop_collection(name)


def dot(a, b):
    return float(sum(float(x) * float(y) for x, y in zip(a, b)))


def cosine(a, b):
    return dot(a, b) / (dot(a, a) * dot(b, b)) ** 0.5


def squared(a, b):
    return float(sum((float(x) - float(y)) ** 2 for x, y in zip(a, b)))


def main(uri):
    session = Kinds(uri, seed=5)
    for part in [session.zeros, session.structs, session.other_metrics, session.elements, session.collapses, session.joined,
                 session.packed, session.halves, session.instants, session.added]:
        part()
    session.close()


if __name__ == "__main__":
    main(sys.argv[1])
