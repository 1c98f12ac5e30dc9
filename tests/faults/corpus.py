"""The documents of the mixed load. What a document holds follows from its id and its marks alone, so
that the model keeps two numbers for each and a reader can check every byte."""

import datetime
import random
from typing import NamedTuple

DIMENSION = 8
DAYS = 30
FIRST_DAY = datetime.date(2024, 1, 1)
VECTOR = {
    "type": "knn_vector",
    "dimension": DIMENSION,
    "method": {"name": "hnsw", "engine": "faiss", "space_type": "l2"},
}
COMMON = {
    "mark": {"type": "long"},
    "owner": {"type": "integer"},
    "tag": {"type": "keyword"},
    "at": {"type": "date"},
    "words": {"type": "text"},
}


class State(NamedTuple):
    """The mark of a document's last write, the mark that made its vector, and its version, once known."""

    mark: int
    emb: int
    version: int | None = None

    def like(self, other):
        """Whether both are the same content, in the same version where both know it."""
        return other is not None and (self.mark, self.emb) == (other.mark, other.emb) and (
            None in (self.version, other.version) or self.version == other.version)


def vector(identity, mark):
    """Whole numbers, so that they are the same as text, as f32 and as f64."""
    chance = random.Random(f"{identity}/{mark}")
    return [float(chance.randint(-99, 99)) for _ in range(DIMENSION)]


def day(mark):
    return (FIRST_DAY + datetime.timedelta(days=mark % DAYS)).isoformat()


def word(identity, mark):
    return f"word{identity.replace('-', 'n')}x{mark}"


def owner(identity):
    """Ids are `<owner>-<number>`."""
    return int(identity.split("-")[0])


def common(identity, mark):
    return {
        "mark": mark,
        "owner": owner(identity),
        "tag": f"t{mark % 17}",
        "at": day(mark),
        "words": f"common {word(identity, mark)} " + " ".join(f"w{mark % n}" for n in (3, 7, 31, 127)),
    }


class Flat:
    """Plain fields and a vector; partial updates leave the vector as it was."""

    name, shards = "flat", 2
    mapping = {"properties": {**COMMON, "emb_of": {"type": "long"}, "emb": VECTOR}}

    @staticmethod
    def routing(identity):
        return None

    @staticmethod
    def changed(identity, mark):
        """What a partial update sends."""
        return common(identity, mark)

    @staticmethod
    def updated(state, mark):
        """What a document holds after a partial update."""
        return State(mark, state.emb)

    @staticmethod
    def source(identity, state):
        emb = {"emb_of": state.emb, "emb": vector(identity, state.emb)}
        return {**common(identity, state.mark), **emb}


class Nest(Flat):
    """Nested objects: a document has as many rows more as its mark says."""

    name, shards = "nest", 2
    mapping = {"properties": {**COMMON, "lines": {
        "type": "nested",
        "properties": {"sku": {"type": "keyword"}, "count": {"type": "integer"}},
    }}}

    @staticmethod
    def lines(identity, mark):
        return [{"sku": f"{identity}-{mark}-{n}", "count": (mark + n) % 7} for n in range(mark % 4)]

    @staticmethod
    def changed(identity, mark):
        return {**common(identity, mark), "lines": Nest.lines(identity, mark)}

    @staticmethod
    def updated(state, mark):
        return State(mark, mark)

    @staticmethod
    def source(identity, state):
        return Nest.changed(identity, state.mark)


class Kin(Flat):
    """Parents and children: every third id is a parent, the two behind it are its children."""

    name, shards = "kin", 1
    mapping = {"properties": {**COMMON, "kin": {"type": "join", "relations": {"parent": "child"}}}}

    @staticmethod
    def parent(identity):
        """The id of the document's parent; None for a parent."""
        who, number = map(int, identity.split("-"))
        return f"{who}-{number - number % 3}" if number % 3 else None

    routing = parent

    @staticmethod
    def changed(identity, mark):
        parent = Kin.parent(identity)
        kin = {"name": "child", "parent": parent} if parent else "parent"
        return {**common(identity, mark), "kin": kin}

    @staticmethod
    def updated(state, mark):
        return State(mark, mark)

    @staticmethod
    def source(identity, state):
        return Kin.changed(identity, state.mark)


SCHEMAS = {schema.name: schema for schema in (Flat, Nest, Kin)}


class Step(NamedTuple):
    """A write of one document."""

    kind: str
    index: str
    identity: str
    mark: int

    @property
    def key(self):
        return self.index, self.identity

    def possible_on(self, state):
        """An update of an absent document is refused; anything else can be done to any."""
        return state is not None or self.kind != "update"

    def after(self, state):
        """What the document holds then, in a version that only the server knows."""
        if self.kind == "delete":
            return None
        if self.kind == "update":
            return SCHEMAS[self.index].updated(state, self.mark)
        return State(self.mark, self.mark)

    def lines(self):
        """The lines of a bulk."""
        schema = SCHEMAS[self.index]
        meta = {"_index": self.index, "_id": self.identity}
        if schema.routing(self.identity):
            meta["routing"] = schema.routing(self.identity)
        if self.kind == "delete":
            return [{"delete": meta}]
        if self.kind == "update":
            return [{"update": meta}, {"doc": schema.changed(self.identity, self.mark)}]
        return [{"index": meta}, schema.source(self.identity, self.after(None))]


def seen(index, identity, document):
    """The state that a read document shows; all of its source must follow from its marks."""
    if not document.get("found", True):
        return None
    source = document["_source"]
    state = State(source["mark"], source.get("emb_of", source["mark"]), document["_version"])
    expected = SCHEMAS[index].source(identity, state)
    if source != expected:
        raise AssertionError(f"{index}/{identity} holds {source}, its marks say {expected}")
    return state


def same(found, allowed):
    """Whether what was read is the allowed state."""
    return found is None if allowed is None else allowed.like(found)


def path(index, identity):
    routing = SCHEMAS[index].routing(identity)
    return f"/{index}/_doc/{identity}" + (f"?routing={routing}" if routing else "")


def create(client, **settings):
    """Makes the indexes."""
    for schema in SCHEMAS.values():
        body = {
            "settings": {"number_of_shards": schema.shards, "refresh_interval": "100ms", **settings},
            "mappings": schema.mapping,
        }
        client.done("PUT", f"/{schema.name}", body)
