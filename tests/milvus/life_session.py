"""The life of collections with pymilvus, against a server at the address given: other names, partitions let in one by
one, rows that are there for a time, and iterators over hits. The second argument says which part is run."""

import datetime
import sys
import time

from pymilvus import DataType

from session import Session, cosine, product, squared


class Life(Session):
    def eventually(self, look, want, what):
        until = time.monotonic() + 120
        while (got := look()) != want:
            assert time.monotonic() < until, f"{what}: {got!r} is not {want!r}"
            time.sleep(0.05)
        self.checks += 1

    def make(self, name, kind=DataType.FLOAT_VECTOR, dim=4, metric="L2", index="HNSW", **more):
        schema = self.client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("n", DataType.INT64)
        schema.add_field("v", kind, dim=dim)
        params = self.client.prepare_index_params()
        params.add_index("v", index_type=index, metric_type=metric)
        self.client.create_collection(name, schema=schema, index_params=params, **more)

    def rows(self, count, first=0):
        return [{"id": i, "n": i % 7, "v": [float(i), 1.0, 0.0, 0.0]} for i in range(first, first + count)]

    def names(self):
        client = self.client
        self.make("old")
        client.insert("old", self.rows(20))
        number = client.describe_collection("old")["collection_id"]
        client.create_alias("old", "by_alias")
        self.make("other")
        rename = client.rename_collection
        self.refused(100, "nope", lambda: rename("nope", "new"))
        self.refused(100, "collection not found", lambda: rename("no-name", "new"))
        self.refused(1100, "collection name or database name should be different", lambda: rename("old", "old"))
        self.refused(1100, "duplicated new collection name", lambda: rename("old", "other"))
        taken = "alias and collection name conflict[database=default][alias=%s]"
        self.refused(1601, taken % "by_alias", lambda: rename("other", "by_alias"))
        self.refused(1601, taken % "by_alias", lambda: self.make("by_alias"))
        self.refused(1601, taken % "other", lambda: client.alter_alias("other", "other"))
        self.refused(1601, taken % "other", lambda: client.create_alias("old", "other"))
        self.refused(1100, "use an alias", lambda: rename("by_alias", "new"))
        self.refused(1100, "Invalid collection name", lambda: rename("old", "no-name"))
        rename("old", "New_1")
        self.same(sorted(client.list_collections()), ["New_1", "other"], "the names")
        self.refused(100, "old", lambda: client.query("old", filter="id == 1"))
        for name in ("New_1", "by_alias"):
            told = client.describe_collection(name)
            self.same((told["collection_name"], told["collection_id"], told["aliases"]), ("New_1", number, ["by_alias"]), "it")
            (hits,) = client.search(name, [[3.0, 1.0, 0.0, 0.0]], limit=1)
            self.same(hits[0]["id"], 3, "found by its new name")
        client.insert("New_1", self.rows(5, 100))
        self.make("old")
        self.same((self.count("New_1"), self.count("old")), (25, 0), "the old name is another's")
        client.create_database("second")
        self.refused(800, "third", lambda: rename("New_1", "New_1", "third"))
        self.refused(1100, "must drop all aliases", lambda: rename("New_1", "moved", "second"))
        client.drop_alias("by_alias")
        rename("New_1", "moved", "second")
        self.same(sorted(client.list_collections()), ["old", "other"], "it went")
        client.use_database("second")
        self.same((client.list_collections(), self.count("moved")), (["moved"], 25), "and is there")
        client.use_database("default")

    def partitions(self):
        client = self.client
        self.make("parts")
        for at, name in enumerate(["_default", "p1", "p2"]):
            if at:
                client.create_partition("parts", name)
            client.insert("parts", self.rows(10, at * 10), partition_name=name)

        def state(partition=""):
            return client.get_load_state("parts", partition_name=partition)["state"].name

        def found(**more):
            (hits,) = client.search("parts", [[0.0, 1.0, 0.0, 0.0]], limit=100, **more)
            return sorted(hit["id"] for hit in hits)

        def states():
            return [state(name) for name in ("", "_default", "p1", "p2")]

        self.same((found(), self.count("parts")), (list(range(30)), 30), "all of it")
        client.release_partitions("parts", ["p1"])
        self.same(found(), [*range(10), *range(20, 30)], "without one")
        self.same((self.count("parts"), len(client.query("parts", filter="id >= 0"))), (20, 20), "counted without it")
        self.same(found(partition_names=["p2"]), list(range(20, 30)), "another one")
        self.refused(1100, "some of the provided primary key IDs do not exist: missing IDs = [10 19]",
                     lambda: client.search("parts", ids=[1, 10, 19], limit=3))
        self.refused(1100, "missing IDs = [1]", lambda: client.search("parts", ids=[1, 20], limit=3, partition_names=["p2"]))
        self.same(len(client.search("parts", ids=[1, 20], limit=3)), 2, "rows that are let in")
        for call in (lambda: found(partition_names=["p1"]), lambda: self.count("parts", partition_names=["p2", "p1"])):
            self.refused(201, "partition not loaded", call)
        self.same(states(), ["Loaded", "Loaded", "NotLoad", "Loaded"], "what is let in")
        self.refused(200, "nope", lambda: client.release_partitions("parts", ["nope"]))
        self.same(client.get_partition_stats("parts", "p1"), {"row_count": 10}, "it is there all the same")
        self.refused(1100, "invalid parameter[expected=any partition][actual=empty partition list]",
                     lambda: client.release_partitions("parts", []))
        self.refused(1100, "can't change the replica number for loaded partitions: invalid parameter[expected=1][actual=2]",
                     lambda: client.load_partitions("parts", ["p1"], replica_number=2))
        client.load_partitions("parts", ["p1"])
        self.same((found(), states()), (list(range(30)), ["Loaded"] * 4), "all of it again")
        client.release_partitions("parts", ["p1", "p2"])
        client.release_partitions("parts", ["_default"])
        self.refused(101, "failed to search: collection not loaded", found)
        self.refused(101, "failed to search: collection not loaded", lambda: found(partition_names=["p1"]))
        self.refused(101, "failed to query: collection not loaded", lambda: self.count("parts"))
        # What is wrong by itself is told before that.
        self.refused(1100, "partition name nope not found: invalid parameter", lambda: found(partition_names=["p1", "nope"]))
        self.refused(1100, "fieldName(nope) not found", lambda: found(anns_field="nope"))
        self.refused(1100, "cannot parse expression", lambda: client.query("parts", filter="id in"))
        self.same(states(), ["NotLoad"] * 4, "nothing is let in")
        client.load_partitions("parts", ["p2"])
        self.same((found(), states()), (list(range(20, 30)), ["Loaded", "NotLoad", "NotLoad", "Loaded"]), "one alone")
        client.create_partition("parts", "p3")
        client.insert("parts", self.rows(1, 30), partition_name="p3")
        self.refused(201, "p3", lambda: found(partition_names=["p3"]))
        client.drop_partition("parts", "p3")
        groups = client.describe_replica("parts")
        self.same([len(group.partition_ids if hasattr(group, "partition_ids") else [1]) for group in groups], [1], "replicas")
        client.load_collection("parts")
        self.same((found(), states()), (list(range(30)), ["Loaded"] * 4), "as a whole")
        client.release_partitions("parts", ["p1"])

    def expiry(self):
        client, ttl = self.client, "collection.ttl.seconds"
        for value, said in [("soon", "not a valid positive integer"), (-2, "out of range"), (10**12, "out of range")]:
            self.refused(1100, said, lambda: self.make("never", properties={ttl: value}))
        self.make("short", properties={ttl: 1})
        client.insert("short", self.rows(20))
        self.eventually(lambda: self.count("short"), 0, "counted")
        self.same(client.query("short", filter="id >= 0", output_fields=["id"]), [], "queried")
        self.same(client.get("short", ids=[3]), [], "got")
        self.same(len(client.search("short", [[0.0] * 4], limit=5)[0]), 0, "searched")
        self.same(client.get_collection_stats("short"), {"row_count": 0}, "in statistics")
        self.make("long")
        client.insert("long", self.rows(20))
        self.same(self.count("long"), 20, "without an end")
        client.alter_collection_properties("long", {ttl: 3600})
        self.same((self.count("long"), client.describe_collection("long")["properties"][ttl]), (20, "3600"), "with a late one")
        self.refused(1100, "out of range", lambda: client.alter_collection_properties("long", {ttl: -5}))
        client.alter_collection_properties("long", {ttl: 1})
        # Those that were written before it was said, too.
        self.eventually(lambda: self.count("long"), 0, "counted")
        client.drop_collection_properties("long", [ttl])
        client.insert("long", self.rows(5, 100))
        self.same(sorted(row["id"] for row in client.query("long", filter="id >= 100")), list(range(100, 105)), "stays")

    def ends(self):
        """Rows that say by themselves when they go."""
        client, now = self.client, datetime.datetime.now(datetime.timezone.utc)
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        schema.add_field("until", DataType.TIMESTAMPTZ, nullable=True)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        make = lambda name, **properties: client.create_collection(
            name, schema=schema, index_params=params, properties=properties, consistency_level="Strong")
        for said, properties in [("ttl field name nobody not found in schema", {"ttl_field": "nobody"}),
                                 ("ttl field must be timestamptz", {"ttl_field": "id"}),
                                 ("cannot be set at the same time", {"ttl_field": "until", "collection.ttl.seconds": 60})]:
            self.refused(1100, said, lambda: make("never", **properties))
        make("ends", ttl_field="until")
        self.refused(1100, "ttl field is already exists, cannot be set collection TTL",
                     lambda: client.alter_collection_properties("ends", {"collection.ttl.seconds": 60}))
        later = lambda seconds: (now + datetime.timedelta(seconds=seconds)).isoformat()
        rows = [{"id": number, "v": [number, 0], "until": until}
                for number, until in enumerate([later(-60), None, later(3600), later(4), "1969-01-01T00:00:00Z"])]
        client.insert("ends", rows)
        ids = lambda: sorted(row["id"] for row in client.query("ends", filter="id >= 0", output_fields=["id"]))
        assert ids() in ([1, 2, 3, 4], [1, 2, 4]), ids()
        self.eventually(lambda: self.count("ends"), 3, "counted")
        self.same(ids(), [1, 2, 4], "what has an end is gone after it")
        (hits,) = client.search("ends", [[0.0, 0.0]], limit=5)
        self.same([hit["id"] for hit in hits], [1, 2, 4], "in searches, too")
        client.upsert("ends", [{"id": 2, "v": [2, 0], "until": later(-1)}])
        self.same(ids(), [1, 4], "an end that is moved")
        self.refused(1100, "ttl field is already exists", lambda: client.alter_collection_properties("ends", {"collection.ttl.seconds": 5}))
        client.drop_collection_properties("ends", ["ttl_field"])
        client.upsert("ends", [{"id": 2, "v": [2, 0], "until": later(-1)}])
        self.same(ids(), [1, 2, 4], "without the property nothing goes")
        client.alter_collection_properties("ends", {"ttl_field": "until"})
        self.same(ids(), [1, 4], "with a late one it does")
        client.drop_collection("ends")

    def iterators(self):
        client = self.client
        spread = [[float(a), float(b), 1.0, 0.5] for a in range(3) for b in range(3)]
        bits = [bytes([a, b]) for a in range(4) for b in range(4)]
        cases = [("L2", "HNSW", spread), ("IP", "FLAT", spread), ("COSINE", "IVF_FLAT", spread), ("HAMMING", "BIN_FLAT", bits)]
        for metric, index, vectors in cases:
            is_binary = metric == "HAMMING"
            kind = DataType.BINARY_VECTOR if is_binary else DataType.FLOAT_VECTOR
            self.make("pages", kind, 16 if is_binary else 4, metric, index)
            rows = [{"id": i, "n": i % 7, "v": self.random.choice(vectors)} for i in range(500)]
            client.insert("pages", rows[:250])
            client.flush("pages")
            client.insert("pages", rows[250:])
            query = vectors[5]
            score = {"L2": squared, "IP": product, "COSINE": cosine, "HAMMING": differing}[metric]
            sign = -1 if metric in ("IP", "COSINE") else 1
            for size, more, matches in [(1, {"limit": 30}, all_of), (7, {}, all_of), (64, {"filter": "n < 3"}, lambda row: row["n"] < 3),
                                        (500, {}, all_of), (600, {}, all_of)]:
                want = sorted(sign * score(query, row["v"]) for row in rows if matches(row))
                pages = client.search_iterator("pages", data=[query], batch_size=size, output_fields=["n"], **more)
                self.same(type(pages).__name__, "SearchIteratorV2", "the kind of iterator")
                seen = []
                while page := pages.next():
                    self.same(len(page) <= size, True, "the size of a page")
                    if len(seen) == 2 * size:
                        # What is written meanwhile is not seen, nor missed.
                        client.upsert("pages", [{**rows[0], "id": 1_000 + size}, rows[3]])
                        client.delete("pages", ids=[1_000 + size])
                        client.compact("pages")
                    seen += list(page)
                ids = [hit["id"] for hit in seen]
                limit = more.get("limit", len(want))
                self.same((len(ids), len(set(ids))), (min(limit, len(want)),) * 2, f"{metric}: each once, {size} at once")
                self.same(all(matches(rows[i]) for i in ids), True, "the filter")
                got = [sign * hit["distance"] for hit in seen]
                worst = max(abs(a - b) for a, b in zip(got, want))
                self.same(worst < 1e-4, True, f"{metric}: in order, {size} at once: {worst}")
                self.same(all(hit["entity"]["n"] == hit["id"] % 7 for hit in seen), True, "values")
            if metric == "L2":
                span = {"params": {"radius": 4.5, "range_filter": 0.5}}
                pages = client.search_iterator("pages", data=[query], batch_size=20, search_params=span)
                seen = []
                while page := pages.next():
                    seen += [hit["id"] for hit in page]
                want = [row["id"] for row in rows if 0.5 <= squared(query, row["v"]) < 4.5]
                self.same(sorted(seen), want, "in a range")
            client.drop_collection("pages")

    def moved(self):
        """What was begun by an alias does not go on in another collection."""
        client = self.client
        for name in ["here", "there"]:
            self.make(name)
            client.insert(name, self.rows(20))
        client.create_alias("here", "either")
        hits = client.search_iterator("either", data=[[0.0] * 4], batch_size=5)
        rows = client.query_iterator("either", filter="id >= 0", batch_size=5)
        self.same((len(hits.next()), len(rows.next())), (5, 5), "first pages")
        client.alter_alias("there", "either")
        self.refused(1100, "alias or database may have been changed", hits.next)
        self.refused(1100, "alias or database may have changed", rows.next)
        client.drop_alias("either")
        for name in ["here", "there"]:
            client.drop_collection(name)

    def lengths(self):
        """Keys and texts that are longer than other systems let them be."""
        client = self.client
        schema = client.create_schema()
        schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=65_535)
        schema.add_field("t", DataType.VARCHAR, max_length=65_535, nullable=True)
        schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
        params = client.prepare_index_params()
        params.add_index("v", index_type="FLAT", metric_type="L2")
        client.create_collection("lengths", schema=schema, index_params=params)
        texts = ["a", "b" * 10_000, "b" * 20_000, "c" * 40_000, "\u20ac" * 12_000, "d" * 65_535, None, "e", "b" * 40_000 + "z"]
        rows = [{"key": f"{i}" + "k" * (i * 4_000), "t": text, "v": [float(i), 0.0]} for i, text in enumerate(texts)]
        client.insert("lengths", rows)
        for row in rows:
            (got,) = client.get("lengths", ids=[row["key"]], output_fields=["t"])
            self.same(got == {"key": row["key"], "t": row["t"]}, True, "got by its key")

        def found(expression, matches, **more):
            got = client.query("lengths", filter=expression, output_fields=["key"], **more)
            want = sorted(row["key"][0] for row in rows if matches(row["t"]))
            self.same(sorted(row["key"][0] for row in got), want, expression[:40])

        def known(matches):
            return lambda text: text is not None and matches(text)

        for text in texts:
            if text is not None:
                found("t == {t}", lambda own: own == text, filter_params={"t": text})
        found("t != {t}", known(lambda own: own != "d" * 65_535), filter_params={"t": "d" * 65_535})
        found("t != 'a'", known(lambda own: own != "a"))
        found("t in {l}", known(lambda own: own in ("a", "c" * 40_000)), filter_params={"l": ["a", "c" * 40_000]})
        found("t not in ['a', 'e']", known(lambda own: own not in ("a", "e")))
        found("t > 'c'", known(lambda own: own > "c"))
        found("not (t > 'c')", known(lambda own: not own > "c"))
        found("t like 'bb%'", known(lambda own: own.startswith("bb")))
        found("t like '%z'", known(lambda own: own.endswith("z")))
        found("not (t like '%z')", known(lambda own: not own.endswith("z")))
        found("t is null", lambda own: own is None)
        found("t is not null", lambda own: own is not None)
        (hits,) = client.search("lengths", [[0.0, 0.0]], filter="t like 'b%'", limit=10, output_fields=["t"])
        self.same([hit["entity"]["t"] for hit in hits] == [t for t in texts if t and t[0] == "b"], True, "told")
        self.refused(1100, "too long", lambda: client.insert("lengths", [{**rows[0], "key": "k" * 40_000}]))
        self.refused(1100, "exceeds max length", lambda: client.insert("lengths", [{**rows[0], "t": "k" * 65_536}]))
        client.delete("lengths", filter="t like 'b%'")
        client.delete("lengths", ids=[rows[8 - 1]["key"], rows[3]["key"]])
        self.same(self.count("lengths"), 4, "left")
        client.drop_collection("lengths")

    def after_a_restart(self):
        client = self.client
        self.same(sorted(client.list_collections()), ["long", "old", "other", "parts", "short"], "the names")
        states = [client.get_load_state("parts", partition_name=name)["state"].name for name in ("", "p1", "p2")]
        self.same(states, ["Loaded", "NotLoad", "Loaded"], "what is let in")
        # Whether the rows whose end was taken back are gone by then depends on when the server looked.
        late = len(client.query("long", filter="id >= 100"))
        self.same((self.count("parts"), self.count("short"), late), (20, 0, 5), "counts")
        client.use_database("second")
        self.same(self.count("moved"), 25, "what was moved")


def all_of(row):
    return True


def differing(a, b):
    return sum(bin(x ^ y).count("1") for x, y in zip(a, b))


def main(uri, part):
    life = Life(uri, seed=5)
    if part == "before":
        life.names()
        life.partitions()
        life.expiry()
        life.ends()
        life.iterators()
        life.moved()
        life.lengths()
    else:
        life.after_a_restart()
    life.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
