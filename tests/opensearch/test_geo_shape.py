"""Shapes in documents, and what lies to them how. The answers are those of OpenSearch 2.19."""

import contextlib
import json
import unittest

from opensearchpy import TransportError

from .base import ClewTest


def envelope(west, south, east, north):
    return {"type": "envelope", "coordinates": [[west, north], [east, south]]}


def polygon(*rings):
    return {"type": "polygon", "coordinates": [list(map(list, ring)) for ring in rings]}


FRAME = polygon(
    [(-30, -30), (-10, -30), (-10, -10), (-30, -10), (-30, -30)],
    [(-25, -25), (-25, -15), (-15, -15), (-15, -25), (-25, -25)],
)

SHAPES = {
    "box": envelope(0, 0, 10, 10),
    "point": "POINT (5 5)",
    "line": {"type": "LineString", "coordinates": [[2, 2], [20, 2]]},
    "frame": FRAME,
    "pair": "MULTIPOLYGON (((40 0, 45 0, 45 5, 40 5, 40 0)), ((60 0, 65 0, 65 5, 60 5, 60 0)))",
    "both": {"type": "geometrycollection", "geometries": [envelope(80, 0, 85, 5), {"type": "point", "coordinates": [90, 3]}]},
    "across": envelope(170, 40, -170, 50),
    "ring": polygon([(170, -50), (-170, -50), (-170, -40), (170, -40), (170, -50)]),
    "east": "LINESTRING (170 60, 190 60)",
    "wrapped": {"type": "point", "coordinates": [181, 70]},
}


class GeoShapes(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(
            index="maps",
            body={"mappings": {"properties": {"at": {"type": "geo_shape"}, "spot": {"type": "geo_point"}}}},
        )
        self.index_all("maps", {name: {"at": shape} for name, shape in SHAPES.items()})
        self.index_all("maps", {"empty": {"name": "no shape"}})

    @contextlib.contextmanager
    def refuses(self, status, *reasons):
        """The block must be refused with this status, and all of this said somewhere in the error."""
        with self.assertRaises(TransportError) as caught:
            yield
        self.assertEqual(caught.exception.status_code, status, caught.exception)
        for reason in reasons:
            self.assertIn(json.dumps(reason)[1:-1], json.dumps(caught.exception.info))

    def found(self, query):
        return sorted(self.ids("maps", query=query, size=50))

    def related(self, shape, relation=None, **more):
        inner = {"shape": shape} if relation is None else {"shape": shape, "relation": relation}
        return self.found({"geo_shape": {"at": inner, **more}})

    def test_shapes_filter_unless_they_are_given_a_weight(self):
        self.index_all("maps", {"spots": {"spot": [3, 3]}})
        for field in ("at", "spot"):
            for more, score in (({}, 0), ({"boost": 1}, 1), ({"boost": 3}, 3)):
                query = {"geo_shape": {field: {"shape": envelope(1, 1, 6, 6)}, **more}}
                hits = self.client.search(index="maps", body={"query": query})["hits"]["hits"]
                self.assertEqual({hit["_score"] for hit in hits}, {score}, (field, more))

    def test_relations(self):
        self.assertEqual(self.related(envelope(1, 1, 6, 6)), ["box", "line", "point"])
        self.assertEqual(self.related(envelope(-1, -1, 11, 11), "within"), ["box", "point"])
        self.assertEqual(self.related(envelope(6, 6, 7, 7), "contains"), ["box"])
        # What touches the edge is not contained; what lies on it is within.
        self.assertEqual(self.related(envelope(0, 0, 7, 7), "contains"), [])
        self.assertEqual(self.related(envelope(0, 0, 10, 10), "within"), ["box", "point"])
        rest = sorted(set(SHAPES) - {"box", "line", "point"})
        self.assertEqual(self.related(envelope(1, 1, 6, 6), "DISJOINT"), rest)
        with self.refuses(400, "Unknown shape operation"):
            self.related(envelope(1, 1, 6, 6), "near")

    def test_holes(self):
        point = lambda lon, lat: {"type": "point", "coordinates": [lon, lat]}
        self.assertEqual(self.related(point(-20, -20)), [])
        self.assertEqual(self.related(point(-12, -20)), ["frame"])
        self.assertEqual(self.related(envelope(-22, -22, -18, -18)), [])
        self.assertEqual(self.related(envelope(-14, -22, -12, -18), "contains"), ["frame"])
        self.assertEqual(self.related(envelope(-28, -28, -12, -12), "contains"), [])
        # A document does not lie within what has a hole in the middle of it.
        around = polygon(
            [(-40, -40), (15, -40), (15, 15), (-40, 15), (-40, -40)],
            [(3, 3), (3, 4), (4, 4), (4, 3), (3, 3)],
        )
        self.assertEqual(self.related(around, "within"), ["frame", "point"])

    def test_several_in_one(self):
        self.assertEqual(self.related(envelope(59, -1, 66, 6)), ["pair"])
        self.assertEqual(self.related(envelope(59, -1, 66, 6), "within"), [])
        self.assertEqual(self.related(envelope(39, -1, 66, 6), "within"), ["pair"])
        self.assertEqual(self.related(envelope(61, 1, 62, 2), "contains"), ["pair"])
        self.assertEqual(self.related("POINT (90 3)", "contains"), ["both"])
        two = {"type": "geometrycollection", "geometries": [envelope(79, -1, 86, 6), envelope(89, 2, 91, 4)]}
        self.assertEqual(self.related(two, "within"), ["both"])
        points = {"type": "multipoint", "coordinates": [[41, 1], [61, 1]]}
        self.assertEqual(self.related(points, "contains"), ["pair"])

    def test_the_date_line(self):
        at = lambda lon, lat: self.related({"type": "point", "coordinates": [lon, lat]})
        for lon in (175, -175, 180, -180):
            self.assertEqual(at(lon, 45), ["across"], lon)
            self.assertEqual(at(lon, -45), ["ring"], lon)
        self.assertEqual(at(0, 45), [])
        self.assertEqual(at(0, -45), [])
        self.assertEqual(self.related(envelope(-176, 59, -174, 61)), ["east"])
        self.assertEqual(self.related(envelope(-180, 69, -178, 71)), ["wrapped"])
        self.assertEqual(self.related(envelope(160, 30, -160, 80), "within"), ["across", "east", "wrapped"])
        # The direction of a wide ring says on which side of the earth it lies.
        wide = [(-100, 20), (-100, 30), (100, 30), (100, 20), (-100, 20)]
        self.index_all("maps", {"far": {"at": polygon(wide)}, "near": {"at": polygon(wide[::-1])}})
        self.assertEqual(at(0, 25), ["near"])
        self.assertEqual(at(150, 25), ["far"])

    def test_other_queries_on_shapes(self):
        box = {"top_left": [1, 6], "bottom_right": [6, 1]}
        self.assertEqual(self.found({"geo_bounding_box": {"at": box}}), ["box", "line", "point"])
        across = {"top_left": [160, 80], "bottom_right": [-160, 30]}
        found = self.found({"geo_bounding_box": {"at": across}})
        self.assertEqual(found, ["across", "east", "wrapped"])
        near = lambda distance: self.found({"geo_distance": {"at": [-5, 5], "distance": distance}})
        self.assertEqual(near("500km"), [])
        self.assertEqual(near("600km"), ["box"])
        self.assertEqual(near("1200km"), ["box", "line", "point"])
        circle = {"type": "circle", "coordinates": [5, 5], "radius": "100km"}
        self.assertEqual(self.related(circle), ["box", "point"])
        self.assertEqual(self.found({"exists": {"field": "at"}}), sorted(SHAPES))
        with self.refuses(400, "Geometry fields do not support exact searching"):
            self.found({"term": {"at": "x"}})
        with self.refuses(400, "does not support WITHIN queries with line geometries"):
            self.related("LINESTRING (0 0, 1 1)", "within")
        with self.refuses(400, "can't sort on geo_shape field"):
            self.client.search(index="maps", body={"sort": ["at"]})
        with self.refuses(400, "is not supported for aggregation [terms]"):
            self.client.search(index="maps", body={"aggs": {"a": {"terms": {"field": "at"}}}})

    def bounds(self, names, **how):
        body = {"size": 0, "query": {"ids": {"values": names}}, "aggs": {"a": {"geo_bounds": {"field": "at", **how}}}}
        bounds = self.client.search(index="maps", body=body)["aggregations"]["a"]["bounds"]
        corners = [(bounds[corner]["lon"], bounds[corner]["lat"]) for corner in ["top_left", "bottom_right"]]
        return [round(number, 6) + 0.0 for corner in corners for number in corner]

    def test_bounds_of_shapes(self):
        everything = [name for name in SHAPES if name not in ("frame", "both")]
        for names, wrapped, whole in [
            (["line"], [2, 2, 20, 2], [2, 2, 20, 2]),
            (["pair"], [40, 5, 65, 0], [40, 5, 65, 0]),
            (["across"], [180, 50, -180, 40], [-180, 50, 180, 40]),
            (["box", "across"], [0, 50, -180, 0], [-180, 50, 180, 0]),
            (["east", "wrapped"], [180, 70, -179, 60], [-180, 70, 180, 60]),
            (everything, [0, 70, -179, -50], [-180, 70, 180, -50]),
        ]:
            self.assertEqual(self.bounds(names), wrapped, names)
            self.assertEqual(self.bounds(names, wrap_longitude=False), whole, names)

    def test_shapes_are_counted(self):
        many = {"type": "LineString", "coordinates": [[n % 100, n % 77] for n in range(20_000)]}
        self.index_all("maps", {"long": {"at": many}, "list": {"at": [envelope(0, 0, 1, 1), "POINT (5 5)"]}})
        aggs = {name: {name: {"field": "at"}} for name in ["value_count", "cardinality", "missing"]}
        found = self.client.search(index="maps", body={"size": 0, "aggs": aggs})["aggregations"]
        shapes = len(SHAPES) + 2
        self.assertEqual(found["value_count"]["value"], shapes)
        self.assertEqual(found["cardinality"]["value"], shapes)
        self.assertEqual(found["missing"]["doc_count"], 1)
        self.assertEqual(self.bounds(["long"]), [0, 76, 99, 0])
        for name in ["geo_centroid", "geohex_grid", "avg"]:
            with self.refuses(400, "of type [geo_shape] is not supported for aggregation"):
                self.client.search(index="maps", body={"aggs": {"a": {name: {"field": "at"}}}})

    def cells(self, kind, shape, precision, bounds=None):
        """The cells of one shape, written as a document of its own."""
        self.client.indices.delete(index="gridded", ignore=404)
        self.client.indices.create(index="gridded", body={"mappings": {"properties": {"at": {"type": "geo_shape"}}}})
        self.index_all("gridded", {"one": {"at": shape}, "none": {"name": "no shape"}})
        grid = {"field": "at", "precision": precision, "size": 100}
        if bounds is not None:
            top, left, bottom, right = bounds
            grid["bounds"] = {"top_left": f"{top}, {left}", "bottom_right": f"{bottom}, {right}"}
        found = self.client.search(index="gridded", body={"size": 0, "aggs": {"a": {kind: grid}}})["aggregations"]["a"]["buckets"]
        self.assertEqual({bucket["doc_count"] for bucket in found}, {1} if found else set())
        return " ".join(sorted(bucket["key"] for bucket in found))

    def test_cells_that_shapes_touch(self):
        ring = "POLYGON ((0 0, 20 0, 20 20, 0 20, 0 0), (5 5, 5 15, 15 15, 15 5, 5 5))"
        for shape, precision, hashes, zoom, tiles in [
            ("POINT (10.1 20.2)", 2, "s5", 4, "4/8/7"),
            ("POINT (0 0)", 2, "s0", 4, "4/8/8"),
            ("POINT (180 90)", 2, "zz", 0, ""),
            ("POINT (10 87)", 2, "up", 1, ""),
            ("LINESTRING (0 0, 30 20)", 2, "s0 s1 s3 s6 sd se", 4, "4/8/7 4/8/8 4/9/7"),
            (ring, 2, "s0 s1 s2 s3 s4 s5 s6 s7", 4, "4/8/7 4/8/8"),
            ("BBOX (0, 45, 45, 0)", 1, "s t u v", 3, "3/4/2 3/4/3 3/4/4 3/5/2 3/5/3 3/5/4"),
            ("BBOX (170, -170, 10, -10)", 2, "2n 2p 80 81 ry rz xb xc", 3, "3/0/3 3/0/4 3/7/3 3/7/4"),
            # What lies on a seam is in the cells behind it, and, where it ends there, in those before.
            ("LINESTRING (11.25 -10, 11.25 3)", 2, "kq kr s2", 4, "4/8/7 4/8/8"),
            ("BBOX (11.25, 22.5, 5.625, 0)", 2, "s2 s3 s8 s9", 4, "4/8/7 4/8/8 4/9/7 4/9/8"),
            ("LINESTRING (10 80, 10 89)", 3, "unp unr unx unz upp upr upx upz", 4, "4/8/0 4/8/1"),
            ("MULTIPOINT (1 1, 100 50)", 2, "s0 y0", 3, "3/4/3 3/6/2"),
        ]:
            with self.subTest(shape=shape):
                self.assertEqual(self.cells("geohash_grid", shape, precision), hashes)
                self.assertEqual(self.cells("geotile_grid", shape, zoom), tiles)
        # A box leaves out shapes, and not cells.
        for shape, bounds, hashes in [
            (ring, (30, 10, 18, 12), "s0 s1 s2 s3 s4 s5 s6 s7"),
            (ring, (12, 8, 8, 12), ""),
            (ring, (30, 20, 10, 30), ""),
            ("LINESTRING (0 0, 30 20)", (20, 0, 15, 5), ""),
            ("POINT (0 0)", (0, -10, -10, 0), "s0"),
            ("BBOX (170, -170, 10, -10)", (10, 175, -10, -175), "2n 2p 80 81 ry rz xb xc"),
        ]:
            with self.subTest(shape=shape, bounds=bounds):
                self.assertEqual(self.cells("geohash_grid", shape, 2, bounds), hashes)

    def test_cells_of_shapes_are_bounded_and_hold_other_aggregations(self):
        self.index_all("maps", {"world": {"at": "BBOX (-180, 180, 90, -90)"}})
        inner = {"n": {"value_count": {"field": "at"}}}
        body = {"size": 0, "aggs": {"a": {"geotile_grid": {"field": "at", "precision": 0}, "aggs": inner}}}
        found = self.client.search(index="maps", body=body)["aggregations"]["a"]["buckets"]
        shapes = len(SHAPES) + 1
        self.assertEqual(found, [{"key": "0/0/0", "doc_count": shapes, "n": {"value": shapes}}])
        with self.refuses(429, "Data too large"):
            self.client.search(index="maps", body={"aggs": {"a": {"geohash_grid": {"field": "at", "precision": 12}}}})
        source = {"geotile_grid": {"field": "at", "precision": 2}}
        with self.refuses(400, "Field [at] of type [geo_shape] is not supported for aggregation [geotile_grid]"):
            self.client.search(index="maps", body={"aggs": {"a": {"composite": {"sources": [{"s": source}]}}}})

    def test_points_are_asked_by_shapes(self):
        self.index_all("maps", {"spots": {"spot": [[5, 5], [50, 50]]}})
        inner = {"shape": "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))"}
        self.assertEqual(self.found({"geo_shape": {"spot": inner}}), ["spots"])
        with self.refuses(400, "does not support linestring queries"):
            self.found({"geo_shape": {"spot": {"shape": "LINESTRING (0 0, 10 10)"}}})

    def test_shapes_of_documents(self):
        self.index_all("shapes", {"a": {"shape": envelope(1, 1, 6, 6), "in": {"it": "BBOX (59, 66, 6, -1)"}}})
        by = lambda **named: self.found({"geo_shape": {"at": {"indexed_shape": named}}})
        self.assertEqual(by(id="a"), ["box", "line", "point"])
        self.assertEqual(by(index="shapes", id="a", path="in.it"), ["pair"])
        self.assertEqual(by(index="maps", id="pair", path="at"), ["pair"])
        with self.refuses(400, "illegal_argument_exception", "Shape with ID [b] not found"):
            by(index="shapes", id="b")
        with self.refuses(400, "found but missing other field"):
            by(index="shapes", id="a", path="other")
        with self.refuses(404, "index_not_found_exception"):
            by(index="none", id="a")
        with self.refuses(400, "either shape or indexedShapeId is required"):
            by(index="shapes")

    def test_what_is_no_shape(self):
        ring = [(0, 0), (1, 0), (1, 1), (0, 0)]
        cases = [
            (1, "shape must be an object consisting of type and coordinates"),
            ({}, "Required [type]"),
            ({"type": "point"}, "coordinates not included"),
            ({"type": "point", "coordinates": ["1", "2"]}, "geo coordinates must be numbers"),
            ({"type": "circle", "coordinates": [1, 2], "radius": "1m"}, "circle geometry is not supported"),
            (polygon(ring[:3]), "must close itself"),
            (polygon(ring, [(5, 5), (6, 5), (6, 6), (5, 5)]), "Hole is not within polygon"),
            (polygon([(0, 0), (1, 1), (1, 0), (0, 1), (0, 0)]), "Unable to Tessellate shape"),
            (envelope(0, 10, 10, 0), "max y cannot be less than min x"),
            ("CIRCLE (1 2 3)", "circle geometry is not supported"),
            ("HOUSE (1 2)", "Unknown geometry type: house"),
        ]
        for value, reason in cases:
            with self.subTest(value=value), self.refuses(400, "failed to parse field [at]", reason):
                self.client.index(index="maps", body={"at": value})

    def test_parameters(self):
        field = {"type": "geo_shape", "ignore_malformed": True, "orientation": "left", "coerce": True}
        self.client.indices.create(index="lax", body={"mappings": {"properties": {"at": field}}})
        shown = self.client.indices.get_mapping(index="lax")["lax"]["mappings"]["properties"]["at"]
        self.assertEqual(shown, {**field, "orientation": "LEFT"})
        open_ring = polygon([(0, 0), (9, 0), (9, 9), (0, 9)])
        self.index_all("lax", {"closed": {"at": open_ring}, "wrong": {"at": "HOUSE (1 2)"}})
        found = self.ids("lax", query={"geo_shape": {"at": {"shape": "POINT (5 5)"}}})
        self.assertEqual(found, ["closed"])
        self.assertEqual(self.ids("lax", query={"term": {"_ignored": "at"}}), ["wrong"])
        for wrong in ({"orientation": "up"}, {"foo": 1}, {"null_value": "POINT (0 0)"}):
            with self.refuses(400, "mapper_parsing_exception"):
                body = {"mappings": {"properties": {"at": {"type": "geo_shape", **wrong}}}}
                self.client.indices.create(index="wrong", body=body)
        fields = self.client.field_caps(index="maps", fields="at")["fields"]
        self.assertTrue(fields["at"]["geo_shape"]["searchable"])

    def test_shapes_of_many_points_and_after_merges(self):
        # More than one value of a column holds.
        count = 20000
        line = [[-60 + n * 20 / count, 10 + n % 2] for n in range(count)]
        self.index_all("maps", {"long": {"at": {"type": "linestring", "coordinates": line}}})
        for _ in range(2):
            self.assertEqual(self.related(envelope(-41, 9, -39, 12)), ["long"])
            self.assertEqual(self.related(envelope(-61, 9, -39, 12), "within"), ["long"])
            self.assertEqual(self.related(envelope(1, 1, 6, 6)), ["box", "line", "point"])
            self.client.indices.forcemerge(index="maps", max_num_segments=1)
        source = self.client.get(index="maps", id="frame")["_source"]
        self.assertEqual(source, {"at": json.loads(json.dumps(FRAME))})


if __name__ == "__main__":
    unittest.main()
