"""Queries in orders and in groups by fields, and hits in the order of fields, with pymilvus, against a server at the address given."""

import math
import sys

from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, WeightedRanker
from pymilvus.client.search_aggregation import SearchAggregation, TopHits

from session import Session, squared

ROWS = 240


class Groups(Session):
    def make(self):
        client = self.client
        schema = client.create_schema(auto_id=False, enable_dynamic_field=True)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("kind", DataType.VARCHAR, max_length=20)
        schema.add_field("size", DataType.INT16, nullable=True)
        schema.add_field("big", DataType.INT64)
        schema.add_field("price", DataType.DOUBLE, nullable=True)
        schema.add_field("cheap", DataType.BOOL)
        schema.add_field("list", DataType.ARRAY, element_type=DataType.INT32, max_capacity=4)
        schema.add_field("j", DataType.JSON)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("goods", schema=schema, index_params=params, consistency_level="Strong")
        self.rows = [{"id": i, "v": [i, 0], "kind": f"k{i % 5}", "size": None if i % 4 == 0 else i * 7 % 31,
                      "big": (1 << 61) + i, "price": None if i % 3 == 0 else i / 8, "cheap": i % 2 == 0, "list": [i % 3],
                      "j": {"n": i}, "extra": i % 7} for i in range(ROWS)]
        client.insert("goods", self.rows)

    def query(self, names, **more):
        """What is told of rows or groups, as values in the order of the names."""
        told = self.client.query("goods", output_fields=names, **more)
        for row in told:
            assert set(names) <= set(row), (names, row)
        return [tuple(row[name] for name in names) for row in told]

    def orders(self):
        def ordered(order, key, rows=self.rows, **more):
            want = [row["id"] for row in sorted(rows, key=key)]
            limit, offset = more.setdefault("limit", ROWS), more.get("offset", 0)
            told = [row[0] for row in self.query(["id"], filter=more.pop("filter", "id >= 0"), order_by_fields=order, **more)]
            self.same(told, want[offset:offset + limit], order)

        ordered([{"field": "kind", "order": "desc"}], lambda row: (-int(row["kind"][1:]), row["id"]))
        ordered(["price"], lambda row: (row["price"] is None, row["price"] or 0, row["id"]))
        # The greatest come first, and what has no value counts as greater than all.
        ordered(["price:desc"], lambda row: (row["price"] is not None, -(row["price"] or 0), row["id"]))
        ordered(["price:desc:nulls_last"], lambda row: (row["price"] is None, -(row["price"] or 0), row["id"]))
        ordered(["price:ASC:nulls_first"], lambda row: (row["price"] is not None, row["price"] or 0, row["id"]))
        ordered(["cheap:desc", "size:asc"], lambda row: (not row["cheap"], row["size"] is None, row["size"] or 0, row["id"]),
                limit=20, offset=30)
        for said, order in [
            ("order_by field 'v' has type FloatVector which is not sortable", "v:asc"),
            ("order_by field 'j' has type JSON which is not sortable", "j"),
            ("order_by field 'list' has type Array which is not sortable", "list"),
            ("order_by field 'nope' does not exist in collection schema", "nope:desc"),
            ("order_by field 'extra' does not exist in collection schema", "extra"),
            ("order_by field 'j[\"n\"]' does not exist in collection schema", 'j["n"]:asc'),
            ("invalid order direction 'up' for field 'price', must be 'asc' or 'desc'", "price:up"),
            ("invalid null ordering 'never'", "price:asc:never"),
        ]:
            self.refused(1100, said, lambda: self.query(["id"], filter="", limit=5, order_by_fields=[order]))
        self.refused(1100, "ORDER BY requires explicit limit", lambda: self.query(["id"], order_by_fields=["price"]))
        self.refused(1100, "ORDER BY with iterator is not supported", lambda: self.client.query_iterator(
            "goods", batch_size=5, filter="id > 1", output_fields=["id"], order_by_fields=["price"]))

    def hits(self):
        """What is nearest is found, and told in another order."""
        near = self.rows[:30]
        search = lambda order, **more: [hit["id"] for hit in self.client.search("goods", [[0, 0]], **{
            "limit": 30, "order_by_fields": [{"field": field, "order": way} for field, way in order], **more})[0]]
        for order, key in [
            ([("kind", "asc")], lambda row: row["kind"]),
            ([("cheap", "desc"), ("big", "descending")], lambda row: (not row["cheap"], -row["big"])),
            ([("price", "asc")], lambda row: (row["price"] is None, row["price"] or 0)),
            ([("price", "desc")], lambda row: (row["price"] is not None, -(row["price"] or 0))),
            ([("extra", "asc")], lambda row: row["extra"]),
            ([('j["n"]', "desc")], lambda row: -row["j"]["n"]),
            ([('$meta["extra"]', "desc"), ("id", "desc")], lambda row: (-row["extra"], -row["id"])),
        ]:
            want = [row["id"] for row in sorted(near, key=key)]
            self.same(search(order), want, f"hits by {order}")
            self.same(search(order, limit=7, offset=23), want[23:], f"a page of hits by {order}")
        kinds = {}
        for row in near:
            kinds.setdefault(row["kind"], []).append(row["id"])
        want = [kinds[kind][0] for kind in sorted(kinds, reverse=True)]
        self.same(search([("kind", "desc")], group_by_field="kind"), want, "groups in an order")
        # Of the three nearest groups, as hits are those that are nearest.
        self.same(search([("kind", "desc")], group_by_fields=["kind"], limit=2, offset=1), [1, 0], "a page of groups")
        want = [id for kind in sorted(kinds, reverse=True) for id in kinds[kind][:2]]
        self.same(search([("kind", "desc")], group_by_field="kind", group_size=2, strict_group_size=True), want, "two of each group")
        several = {"group_by_fields": ["kind", "cheap"]}
        self.same(search([], **several), list(range(10)), "groups by two fields")
        self.same(search([], limit=3, offset=4, **several), [4, 5, 6], "a page of groups by two fields")
        want = [id for first in range(10) for id in (first, first + 10)]
        self.same(search([], group_size=2, strict_group_size=True, **several), want, "two of each group by two fields")
        # A row without a size is in a group of those without one.
        pairs = {(row["kind"], row["size"]): row["id"] for row in reversed(self.rows)}
        self.same(search([], group_by_fields=["kind", "size"]), sorted(pairs.values())[:30], "groups of what has no value")
        pairs = {(row["kind"], row["j"]["n"] % 1000): row["id"] for row in self.rows}
        self.same(search([], group_by_fields=["kind", 'j["n"]']), sorted(pairs.values())[:30], "groups by a field and inside JSON")
        for code, said, order, more in [
            (1100, "order_by field 'nope[:asc' does not exist", [("nope[", "asc")], {}),
            (1100, "order_by field 'v' has unsortable type FloatVector", [("v", "asc")], {}),
            (1100, "order_by field 'j' has unsortable type JSON", [("j", "asc")], {}),
            (1100, "invalid order direction 'up' for field 'id', expected 'asc' or 'desc'", [("id", "up")], {}),
            (1100, "too many order_by field options in 'id:asc:nulls_last:asc'", [("id:asc:nulls_last", "asc")], {}),
            (1100, "unsupported data type for group by: field price is a Double", [], {"group_by_fields": ["kind", "price"]}),
            (1100, "unsupported data type for group by: field v is a FloatVector", [], {"group_by_field": "v"}),
            # What is no field may be a key that rows have beyond them, if it is a name.
            (1100, "cannot parse identifier: 21", [], {"group_by_field": 21}),
            (1100, "json_path j[\"n\"] does not lead into field kind", [], {"group_by_field": "kind", "json_path": 'j["n"]'}),
        ]:
            self.refused(code, said, lambda: search(order, **more))
        # A field that is said alone, as older clients do, counts before several.
        self.same(search([], group_by_field="kind", group_by_fields=["kind", "cheap"]), [0, 1, 2, 3, 4], "groups by the one field")
        self.same(search([], group_by_field="j", json_path='j["n"]', limit=5), [0, 1, 2, 3, 4], "groups inside of a field")
        inside = {"group_by_field": "j", "json_path": 'j["n"]'}
        for kind, want in [(DataType.INT8, list(range(129))), (DataType.INT64, list(range(140))), (DataType.BOOL, [0]), (DataType.VARCHAR, [0])]:
            self.same(search([], limit=140, json_type=kind, **inside), want, f"what is no {kind!r} is without a value")
        for kind, said in [(DataType.INT8, "value to int8_t"), (DataType.BOOL, "value to bool"), (DataType.VARCHAR, "string to string")]:
            self.refused(1100, f"failed to cast json {said}, wrong json data inner type",
                         lambda: search([], limit=140, json_type=kind, strict_cast=True, **inside))
        self.same(search([], limit=9, json_type=DataType.INT16, strict_cast=True, **inside), list(range(9)), "all are what they have to be")

    def ranker(self, **params):
        return Function("near", FunctionType.RERANK, input_field_names=["id"], params={"reranker": "decay", **params})

    def decays(self):
        """What is as near counts less, the farther a number is from where it should be."""
        def left(curve, number):
            beyond = max(0, abs(number - 20) - 2) / 5
            return {"gauss": 0.3 ** beyond ** 2, "exp": 0.3 ** beyond, "linear": max(0.3, 1 - 0.7 * beyond)}[curve]

        near = lambda row: 1 - 2 * math.atan(squared(row["v"], [0, 0])) / math.pi
        asked = lambda: [AnnSearchRequest([[0, 0]], "v", {}, limit=30), AnnSearchRequest([[0, 0]], "v", {}, limit=40)]
        for curve in ["gauss", "exp", "linear"]:
            ranker = self.ranker(function=curve, origin=20, scale=5, offset=2, decay=0.3)
            for depth, call in [
                (30, lambda **more: self.client.search("goods", [[0, 0]], ranker=ranker, **more)),
                (40, lambda **more: self.client.hybrid_search("goods", asked(), ranker, **more)),
            ]:
                want = sorted(((near(row) * left(curve, row["id"]), row["id"]) for row in self.rows[:depth]), reverse=True)
                (hits,) = call(limit=30)
                self.same([hit["id"] for hit in hits][:8], [id for _, id in want][:8], f"{curve} of {depth}")
                assert all(abs(hit["distance"] - score) < 1e-5 for hit, (score, _) in zip(hits, want)), (curve, hits)
        ranker = self.ranker(function="exp", origin=20, scale=5)
        (hits,) = self.client.search("goods", [[0, 0]], limit=3, offset=2, ranker=ranker)
        want = sorted(range(5), key=lambda i: -near(self.rows[i]) * 0.5 ** ((20 - i) / 5))
        self.same([hit["id"] for hit in hits], want[2:], "a page of them")
        by_size = Function("near", FunctionType.RERANK, input_field_names=["size"],
                           params={"reranker": "decay", "function": "exp", "origin": 0, "scale": 5})
        (hits,) = self.client.search("goods", [[0, 0]], limit=12, ranker=by_size)
        self.same([(hit["id"], hit["distance"]) for hit in hits[9:]], [(0, 0.0), (4, 0.0), (8, 0.0)], "what has no number is last")
        assert all(hit["distance"] > 0 for hit in hits[:9]), hits
        right = {"function": "exp", "origin": 20, "scale": 5}
        for code, said, params in [
            (1100, "decay function lost param: origin", {"function": "exp", "scale": 5}),
            (1100, "param scale:five is not a number", {**right, "scale": "five"}),
            (1100, "decay function param: scale must > 0", {**right, "scale": 0}),
            (1100, "offset must >= 0", {**right, "offset": -1}),
            (1100, "decay must 0 < decay < 1", {**right, "decay": 1}),
            (1100, "invalid decay function: decay, only support [gauss,linear,exp]", {**right, "function": "slow"}),
            (1100, "unsupported score mode: [least]", {**right, "score_mode": "least"}),
            # What would rank hits anew is not left out in silence.
            (1100, "unsupported rerank function: [nobody]", {**right, "reranker": "nobody"}),
        ]:
            ranker = self.ranker(**params)
            self.refused(code, said, lambda: self.client.search("goods", [[0, 0]], limit=3, ranker=ranker))
        for said, inputs in [("function input field not found: nope", ["nope"]),
                             ("decay function only supports single input, but gets [[price size]] input", ["price", "size"]),
                             ("decay rerank: unsupported input field type:VarChar, only support numeric field", ["kind"])]:
            ranker = Function("near", FunctionType.RERANK, input_field_names=inputs, params={"reranker": "decay", **right})
            self.refused(1100, said, lambda: self.client.search("goods", [[0, 0]], limit=3, ranker=ranker))
        self.refused(1100, "does not support grouping", lambda: self.client.search(
            "goods", [[0, 0]], limit=3, ranker=self.ranker(**right), group_by_field="kind"))


    def retained(self, keys, limit, hits, at=0):
        """The rows that a search in buckets keeps: the nearest of each of so many groups, the nearest first."""
        groups, rows = {}, []
        for row in sorted(self.rows, key=lambda row: (row["id"] - at) ** 2):
            key = tuple(row[name] for name in keys)
            if key not in groups and len(groups) == limit:
                continue
            groups[key] = groups.get(key, 0) + 1
            if groups[key] <= hits:
                rows.append(row)
        return rows

    def buckets(self):
        """Hits in buckets, and in buckets within these."""
        def search(aggregation, data=((0, 0),), **more):
            data = [list(one) for one in data]
            found = self.client.search("goods", data, anns_field="v", search_aggregation=aggregation, **more)
            return found.agg_buckets

        values = lambda bucket: tuple(part["value"] for part in bucket.key)
        # As many as were asked for, those first that have the nearest hit.
        (found,) = search(SearchAggregation(fields=["kind"], size=3))
        self.same([(values(one), one.count, one.hits, one.sub_groups) for one in found],
                  [((f"k{i}",), 1, [], []) for i in range(3)], "buckets alone")
        self.same(found[0].key[0]["field_name"], "kind", "the name of their field")
        (found,) = search(SearchAggregation(fields=["kind"], size=3), limit=100_000)
        self.same(len(found), 3, "a limit says nothing")
        # What is known of each, in an order by it, with the hits that are best by another field.
        metrics = {"rows": {"count": "*"}, "there": {"count": "price"}, "most": {"max": "price"}, "sum": {"sum": "id"},
                   "mean": {"avg": "big"}, "best": {"min": "_score"}, "text": {"min": "kind"}}
        aggregation = SearchAggregation(fields=["kind"], size=4, metrics=metrics, order=[{"sum": "desc"}],
                                        top_hits=TopHits(size=5, sort=[{"price": "desc"}]))
        (found,) = search(aggregation, output_fields=["price", "extra", "cheap"])
        kept = self.retained(["kind"], 4, 5)
        for bucket in found:
            (kind,) = values(bucket)
            own = [row for row in kept if row["kind"] == kind]
            there = [row["price"] for row in own if row["price"] is not None]
            self.same((bucket.count, bucket.metrics["rows"], bucket.metrics["there"], bucket.metrics["most"], bucket.metrics["sum"]),
                      (5, 5, len(there), max(there), sum(row["id"] for row in own)), f"what is known of {kind}")
            self.same((bucket.metrics["best"], bucket.metrics["text"]), (float(own[0]["id"] ** 2), kind), "scores and texts")
            assert abs(bucket.metrics["mean"] - sum(row["big"] for row in own) / 5) < 1e6, bucket.metrics
            dear = sorted(own, key=lambda row: (row["price"] is None, -(row["price"] or 0)))
            self.same([hit.pk for hit in bucket.hits], [row["id"] for row in dear], "its hits by their price")
            hit, row = bucket.hits[0], dear[0]
            self.same((hit.score, hit.fields["price"], hit.fields["cheap"]), (float(row["id"] ** 2), row["price"], row["cheap"]), "a hit")
        self.same([values(one) for one in found], [("k3",), ("k2",), ("k1",), ("k0",)], "their order")
        # Buckets within buckets; rows without a value are one, too.
        inner = SearchAggregation(fields=["size"], size=3, order=[{"_key": "asc"}], top_hits=TopHits(size=2))
        aggregation = SearchAggregation(fields=["cheap", "kind"], size=4, order=[{"_count": "desc"}, {"_key": "desc"}], sub_aggregation=inner)
        found = search(aggregation, data=((0, 0), (100.25, 0)), filter="id < 200")
        for at, buckets in zip((0, 100.25), found):
            rows, self.rows = self.rows, self.rows[:200]
            kept, self.rows = self.retained(["cheap", "kind", "size"], 12, 2, at), rows
            want = {}
            for row in kept:
                want.setdefault((row["cheap"], row["kind"]), []).append(row)
            order = sorted(sorted(want, reverse=True), key=lambda key: -len(want[key]))[:4]
            self.same([(values(one), one.count) for one in buckets], [(key, len(want[key])) for key in order], f"buckets at {at}")
            for bucket in buckets:
                own = want[values(bucket)]
                sizes = sorted({row["size"] for row in own}, key=lambda size: (size is not None, size))[:3]
                self.same([values(one) for one in bucket.sub_groups], [(size,) for size in sizes], "buckets within")
                for one in bucket.sub_groups:
                    self.same([hit.pk for hit in one.hits], [row["id"] for row in own if (row["size"],) == values(one)][:2], "their hits")
        plain = SearchAggregation(fields=["kind"], size=2)
        deep = plain
        for name in ["cheap", "size", "big", "id"]:
            deep = SearchAggregation(fields=[name], size=1, sub_aggregation=deep)
        for code, said, aggregation, more in [
            (1100, "FLOAT / DOUBLE fields are not supported", SearchAggregation(fields=["price"], size=2), {}),
            (1100, "JSON / dynamic fields are not yet supported", SearchAggregation(fields=["j"], size=2), {}),
            (1100, "JSON / dynamic fields are not yet supported", SearchAggregation(fields=["extra"], size=2), {}),
            (1100, "unsupported data type for group by: field v is a FloatVector", SearchAggregation(fields=["v"], size=2), {}),
            (1100, 'duplicated group_by field "kind"', SearchAggregation(fields=["kind"], size=2, sub_aggregation=plain), {}),
            (1100, "nesting exceeds max 4 levels", deep, {}),
            (1100, "are more than 16384", SearchAggregation(fields=["big"], size=20_000), {}),
            (1100, "result entries is too large", SearchAggregation(fields=["big"], size=16_000, top_hits=TopHits(size=900)), {}),
            (1100, "result entries is too large", SearchAggregation(fields=["big"], size=5_001, top_hits=TopHits(size=2)), {}),
            (1100, "sum does not support data type VarChar", SearchAggregation(fields=["id"], size=2, metrics={"x": {"sum": "kind"}}), {}),
            (1100, "has 101 metrics, more than 100", SearchAggregation(
                fields=["id"], size=2, metrics={f"x{at}": {"count": "*"} for at in range(101)}), {}),
            (1100, "has 11 keys of an order, more than 10", SearchAggregation(fields=["id"], size=2, order=[{"_key": "asc"}] * 11), {}),
            (1100, "is not sortable", SearchAggregation(fields=["id"], size=2, top_hits=TopHits(size=1, sort=[{"list": "asc"}])), {}),
            (1100, 'top_hits.sort JSON path is not yet supported: "j[\'a\']"', SearchAggregation(
                fields=["id"], size=2, top_hits=TopHits(size=1, sort=[{"j['a']": "asc"}])), {}),
            (1100, "offset is not supported with search_aggregation", plain, {"offset": 2}),
            (1100, "range search is not supported with search_aggregation", plain, {"search_params": {"params": {"radius": 100}}}),
        ]:
            self.refused(code, said, lambda: search(aggregation, **more))

    def weights(self):
        """Distances are added up as they are, and the least is the best; beside other scores they are turned."""
        asked = [AnnSearchRequest([[0, 0]], "v", {}, limit=9), AnnSearchRequest([[2, 0]], "v", {}, limit=9)]
        (hits,) = self.client.hybrid_search("goods", asked, WeightedRanker(0.5, 0.25, norm_score=False), limit=9)
        want = sorted((0.5 * i * i + 0.25 * (i - 2) ** 2, i) for i in range(9))
        self.same([(hit["distance"], hit["id"]) for hit in hits], want, "the sums of distances")

    def grouped(self, keys, rows, of, column):
        """What is known of the values of groups: their number, sum, least and greatest, and their average."""
        groups = {}
        for row in rows:
            groups.setdefault(tuple(row[key] for key in keys), []).append(row[column])
        known = {}
        for key, values in groups.items():
            there = [value for value in values if value is not None]
            told = {"rows": len(values), "count": len(there), "sum": sum(there) if there else None,
                    "avg": sum(there) / len(there) if there else None, "min": min(there, default=None), "max": max(there, default=None)}
            known[key] = tuple(told[name] for name in of)
        return known

    def groups(self):
        names = ["count(*)", "count(size)", "sum(size)", "avg(size)", "min(size)", "max(size)"]
        of = ["rows", "count", "sum", "avg", "min", "max"]
        for keys, filter, keep in [
            (["kind"], "", lambda row: True),
            (["kind"], "id < 100", lambda row: row["id"] < 100),
            (["size"], "", lambda row: True),
            (["kind", "size"], "cheap", lambda row: row["cheap"]),
            (["kind"], "id < 0", lambda row: False),
        ]:
            told = self.query(keys + names, filter=filter, group_by_fields=keys)
            want = self.grouped(keys, [row for row in self.rows if keep(row)], of, "size")
            self.same({row[:len(keys)]: row[len(keys):] for row in told}, want, f"groups by {keys} of {filter}")
            self.same(len(told), len(want), "each group once")
        want = self.grouped([], self.rows, ["count", "sum", "min", "max"], "big")
        self.same(self.query(["count(big)", "Sum(big)", "MIN( big )", "max(big)"]), [
            tuple(value if name != "sum" else None for name, value in zip(["count", "sum", "min", "max"], want[()]))],
            "a sum that is no 64 bits is none")
        want = self.grouped([], self.rows, ["rows", "count", "sum"], "price")
        self.same(self.query(["count(*)", "COUNT(price)", "sum(price)"]), list(want.values()), "of all rows")
        self.same(self.query(["count(*)", "max(price)"], filter="id < 0"), [(0, None)], "of no rows")
        self.same(self.query(["COUNT(*)"], filter="id < 7"), [(7,)], "as it was asked for")
        self.same(self.query(["min(kind)", "max(kind)"], filter="id % 5 > 1"), [("k2", "k4")], "texts")
        # Groups have an order and a window, too.
        order = dict(group_by_fields=["kind"], order_by_fields=["kind:desc"], limit=2, offset=1)
        self.same(self.query(["kind", "count(*)"], filter="", **order), [("k3", 48), ("k2", 48)], "a window of groups")
        self.same(self.query(["count(*)"], filter="", **order), [(48,), (48,)], "without their keys")
        self.same(self.query(["kind"], filter="id > 0", group_by_fields=["kind"]), [(f"k{i}",) for i in range(5)], "keys alone")

    def wrong_groups(self):
        for code, said, names, more in [
            (1100, "group by field v has unsupported data type FloatVector", ["count(*)"], {"group_by_fields": ["v"]}),
            (1100, "group by field price has unsupported data type Double", ["price", "count(*)"], {"group_by_fields": ["price"]}),
            (1100, "group by field j has unsupported data type JSON", ["count(id)"], {"group_by_fields": ["j"]}),
            (1100, "group by field list has unsupported data type Array", ["count(id)"], {"group_by_fields": ["list"]}),
            (1100, "field nope not exist", ["count(*)"], {"group_by_fields": ["nope"]}),
            (1100, "target field nope for aggregation:sum does not exist", ["sum(nope)"], {}),
            (1100, "target field ** for aggregation:count does not exist", ["count(**)"], {}),
            (1100, "sum(*) is not supported, only count(*) is allowed", ["sum(*)"], {}),
            (1100, "output field 'big' is not allowed", ["kind", "big", "count(id)"], {"group_by_fields": ["kind"]}),
            (1100, "output field 'median(big)' is not allowed", ["kind", "median(big)"], {"group_by_fields": ["kind"]}),
            (1100, "aggregation operator sum does not support data type VarChar", ["sum(kind)"], {}),
            (1100, "aggregation operator avg does not support data type JSON", ["avg(j)"], {}),
            (1100, "count entities with pagination is not allowed", ["count(*)", "sum(big)"], {"limit": 5}),
            (1100, "ORDER BY can only reference GROUP BY columns", ["sum(big)"], {"order_by_fields": ["price"], "limit": 5}),
            (1100, "is not yet supported", ["kind", "sum(big)"],
             {"group_by_fields": ["kind"], "order_by_fields": ["sum(big):desc"], "limit": 5}),
            (1100, "empty expression should be used with limit", ["kind"], {"group_by_fields": ["kind"]}),
        ]:
            self.refused(code, said, lambda: self.query(names, **more))


def main(uri):
    session = Groups(uri)
    session.make()
    session.orders()
    session.hits()
    session.decays()
    session.buckets()
    session.weights()
    session.groups()
    session.wrong_groups()
    session.close()


if __name__ == "__main__":
    main(sys.argv[1])
