"""Changes of the catalog beside the writers, and everything that maintains an index: templates, aliases,
mappings, indexes that come and go, rollover, refresh, flush, merge, snapshots and restores."""

from .by_chance import ByChance
from .checks import Wrong, expect
from .client import Unanswered
from .corpus import SCHEMAS, same, seen
from .model import Possible

REPOSITORY = "/_snapshot/kept"
SNAPSHOTS_MAX = 3
NAMES = 4
OPERATIONS = {
    "template": 5, "alias": 5, "mapping": 3, "life": 8, "rollover": 3, "maintain": 12, "snapshot": 4, "restore": 1,
}
RENAME = {"rename_pattern": "(.+)", "rename_replacement": "restored-$1", "include_aliases": False}


class Catalog:
    """The model: what each name stands for, and which states a snapshot may hold."""

    def __init__(self, documents):
        self.documents = documents
        self.things = {("roll", "roll"): Possible(1)}
        self.contents = {}
        self.count = 0
        self.restored = self.half_rollovers = 0
        # Indexes of rollovers that were deleted between two rounds.
        self.deleted = set()

    def thing(self, kind, name):
        return self.things.setdefault((kind, name), Possible())

    @staticmethod
    def prepare(client):
        """What the changes need before the first of them."""
        client.done("PUT", REPOSITORY, {"type": "fs", "settings": {"location": "kept"}})
        client.done("PUT", "/roll-000001", {"aliases": {"roll": {"is_write_index": True}}})


class Caretaker(ByChance):
    """Changes the catalog until it is told to stop, or nobody answers."""

    def __init__(self, client, catalog, seed, progress=None, patient=False, only=tuple(OPERATIONS)):
        super().__init__("caretaker", client, {name: OPERATIONS[name] for name in only}, seed, progress, patient)
        self.catalog = catalog

    def ask(self, method, path, body=None):
        """The reply, or None where a patient caretaker was refused."""
        reply = self.client.request(method, path, body)
        if reply.ok:
            self.acknowledged += 1
            return reply
        # A refused change may be half done; without faults there is no reason to refuse one.
        if not self.patient:
            raise Wrong(f"{method} {path} was refused: {reply!r}")
        self.refused += 1
        self.refusals.setdefault(reply.status, f"{method} {path} {reply!r}"[:600])
        return None

    def change(self, possible, value, method, path, body=None):
        """Asks for a change; whatever happens, the model knows what may be there."""
        try:
            reply = self.ask(method, path, body)
        except Unanswered:
            possible.doubtful(value)
            raise
        if reply is None:
            possible.doubtful(value)
        else:
            possible.acknowledged(value)
        return reply

    def template(self):
        name = f"t{self.random.randrange(NAMES)}"
        possible = self.catalog.thing("template", name)
        if possible.known and possible.value is not None and self.random.random() < 0.3:
            self.change(possible, None, "DELETE", f"/_index_template/{name}")
            return
        mark = self.random.randrange(1 << 20)
        body = {"index_patterns": [f"{name}-*"], "priority": mark}
        self.change(possible, mark, "PUT", f"/_index_template/{name}", body)

    def alias(self):
        name = f"al{self.random.randrange(NAMES)}"
        possible = self.catalog.thing("alias", name)
        target = self.random.choice([name for name in SCHEMAS if name != possible.values[-1]])
        actions = [{"remove": {"index": "*", "alias": name, "must_exist": False}}] if possible.values != [None] else []
        actions.append({"add": {"index": target, "alias": name}})
        self.change(possible, target, "POST", "/_aliases", {"actions": actions})

    def mapping(self):
        index = self.random.choice(list(SCHEMAS))
        field = f"extra{self.random.randrange(40)}"
        possible = self.catalog.thing("mapping", f"{index}/{field}")
        body = {"properties": {field: {"type": "keyword"}}}
        self.change(possible, "keyword", "PUT", f"/{index}/_mapping", body)

    def life(self):
        """An index is made, filled, deleted; its value is the number of its documents."""
        name = f"life{self.random.randrange(NAMES)}"
        possible = self.catalog.thing("index", name)
        if not possible.known:
            return  # After a refusal nobody can tell; the check after the restart can.
        if possible.value is None:
            body = {"settings": {"number_of_shards": self.random.randint(1, 2)}}
            self.change(possible, 0, "PUT", f"/{name}", body)
        elif possible.value < 60:
            self.fill(name, possible)
        else:
            self.change(possible, None, "DELETE", f"/{name}")

    def fill(self, name, possible):
        """A bulk of new documents, of which any may be there when nobody answers."""
        before = possible.value
        number = self.random.randint(10, 40)
        first = self.catalog.count = self.catalog.count + 100
        lines = [line for n in range(first, first + number)
                 for line in ({"index": {"_index": name, "_id": str(n)}}, {f"brought{n % 5}": n, "text": f"w{n}"})]
        reply = None
        try:
            reply = self.ask("POST", "/_bulk", lines)
        finally:
            if reply is None or reply.body["errors"]:
                for n in range(1, number + 1):
                    possible.doubtful(before + n)
            else:
                possible.acknowledged(before + number)
        if reply is not None and reply.body["errors"] and not self.patient:
            raise Wrong(f"a bulk was refused: {reply!r}")

    def rollover(self):
        possible = self.catalog.thing("roll", "roll")
        if possible.known:
            self.change(possible, possible.value + 1, "POST", "/roll/_rollover", {})

    def maintain(self):
        index = self.random.choice([*SCHEMAS, "_all"])
        what = self.random.choices(["_refresh", "_flush", "_forcemerge?max_num_segments=1"], [4, 4, 2])[0]
        self.ask("POST", f"/{index}/{what}")

    def snapshot(self):
        catalog = self.catalog
        kept = [name for (kind, name), possible in catalog.things.items()
                if kind == "snapshot" and possible.values != [None]]
        if len(kept) >= SNAPSHOTS_MAX:
            name = self.random.choice(kept)
            self.change(catalog.thing("snapshot", name), None, "DELETE", f"{REPOSITORY}/{name}")
            return
        catalog.count += 1
        name = f"s{catalog.count}"
        catalog.contents[name] = catalog.documents.marks()
        body = {"indices": ",".join(SCHEMAS), "include_global_state": False}
        reply = self.change(catalog.thing("snapshot", name), "SUCCESS", "PUT",
                            f"{REPOSITORY}/{name}?wait_for_completion=true", body)
        if reply is not None:
            found = reply.body["snapshot"]
            if found["state"] != "SUCCESS":
                # It said so itself: nothing is promised of it.
                catalog.thing("snapshot", name).acknowledged_one_of([None, found["state"]])
                if not self.patient:
                    raise Wrong(f"a snapshot failed: {reply!r}")

    def restore(self):
        """Restores while others write; what it gives is checked by `CatalogChecks`."""
        names = [name for (kind, name), possible in self.catalog.things.items()
                 if kind == "snapshot" and possible.values == ["SUCCESS"]]
        if names:
            remove_restored(self.client)
            self.ask("POST", f"{REPOSITORY}/{names[-1]}/_restore?wait_for_completion=true", RENAME)


def remove_restored(client):
    for index in SCHEMAS:
        reply = client.delete(f"/restored-{index}")
        if not reply.ok and reply.status != 404:
            raise Wrong(f"restored-{index} cannot be deleted: {reply!r}")


class CatalogChecks:
    """Compares the catalog with its model, and restores a snapshot."""

    def __init__(self, client, catalog, chance):
        self.client, self.catalog, self.chance = client, catalog, chance

    def run(self):
        remove_restored(self.client)
        found = self.read()
        for key, possible in self.catalog.things.items():
            value = found.pop(key, None)
            if value not in possible.values:
                raise Wrong(f"{key} is {value}, allowed: {possible.values}")
            possible.settle(value)
        expect(found, {}, "things of the catalog that nobody made")

    def read(self):
        """Everything that the catalog has, in the words of the model."""
        client = self.client
        found = {}
        for row in client.done("GET", "/_index_template")["index_templates"]:
            found["template", row["name"]] = row["index_template"]["priority"]
        aliases = client.done("GET", "/_alias")
        roll = []
        for index, row in aliases.items():
            if index.startswith("life") and index != "life-of-ids":
                client.done("POST", f"/{index}/_refresh")
                found["index", index] = client.done("GET", f"/{index}/_count")["count"]
            elif index.startswith("roll-") and "roll" not in row["aliases"]:
                # A rollover makes the index first and then moves the name: it was ended in between, unanswered.
                self.catalog.half_rollovers += 1
                client.done("DELETE", f"/{index}")
            elif index in self.catalog.deleted:
                raise Wrong(f"{index} is back, and its deletion was acknowledged")
            elif index.startswith("roll-"):
                if row["aliases"]["roll"].get("is_write_index"):
                    roll.append(int(index[5:]))
                else:
                    client.done("DELETE", f"/{index}")
                    self.catalog.deleted.add(index)
            elif index not in SCHEMAS and index != "life-of-ids":
                raise Wrong(f"an index that nobody made: {index}")
            for alias in row["aliases"]:
                if alias != "roll" and found.setdefault(("alias", alias), index) != index:
                    raise Wrong(f"alias {alias} of both {index} and {found['alias', alias]}")
        expect(len(roll), 1, "write indexes of roll")
        found["roll", "roll"] = roll[0]
        for index in SCHEMAS:
            properties = client.done("GET", f"/{index}/_mapping")[index]["mappings"]["properties"]
            for field, row in properties.items():
                if field.startswith("extra"):
                    found["mapping", f"{index}/{field}"] = row["type"]
        for row in client.done("GET", f"{REPOSITORY}/_all")["snapshots"]:
            found["snapshot", row["snapshot"]] = row["state"]
        return found

    def freeze(self):
        """The allowed states of snapshots are known once all writers have ended."""
        for name, marks in self.catalog.contents.items():
            if not isinstance(marks, Frozen):
                possible = self.catalog.documents.possible
                self.catalog.contents[name] = Frozen(
                    {key: possible[key].since(mark) for key, mark in marks.items()})

    def restore_one(self):
        """Restores one snapshot that is complete and compares every document of it."""
        names = [name for (kind, name), possible in self.catalog.things.items()
                 if kind == "snapshot" and possible.value == "SUCCESS"]
        if not names:
            return
        name = self.chance.choice(names)
        self.client.done("POST", f"{REPOSITORY}/{name}/_restore?wait_for_completion=true", RENAME)
        allowed = self.catalog.contents[name]
        for index in SCHEMAS:
            self.client.done("POST", f"/restored-{index}/_refresh")
            body = {"size": 5000, "version": True, "track_total_hits": True}
            reply = self.client.done("POST", f"/restored-{index}/_search", body)
            found = {hit["_id"]: seen(index, hit["_id"], hit) for hit in reply["hits"]["hits"]}
            expect(reply["hits"]["total"]["value"], len(found), f"documents of {index} in {name}")
            for (of, identity), states in allowed.items():
                state = found.pop(identity, None) if of == index else None
                if of == index and not any(same(state, value) for value in states):
                    raise Wrong(f"{index}/{identity} in {name} is {state}, allowed: {states}")
            expect(found, {}, f"documents of {index} in {name} that nobody wrote")
        self.catalog.restored += 1
        remove_restored(self.client)


class Frozen(dict):
    """For each document, the states that a snapshot may hold."""
