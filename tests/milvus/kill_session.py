"""SIGKILL at a random moment of a mixed load of pymilvus; then everything that was acknowledged must be there, and no
row, collection, index, partition or alias by half. What was not answered when the kill came may be there or not: all rows
that such a call inserts or upserts, and of those that it deletes, some.

    PYTHONPATH=…/pymilvus-2.6.17:. python -S tests/milvus/kill_session.py SEED ROUNDS
"""

import copy
import json
import logging
import pathlib
import random
import sys
import threading
import time

import pymilvus.decorators
from pymilvus import DataType, MilvusClient

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.faults.server import Server  # noqa: E402

logging.disable(logging.CRITICAL)
WRITERS = 3
KEYS = 40
DIM = 8
CALLS_BEFORE_KILL = (15, 120)
# Small, so that rounds flush, trim the log and begin files of it.
ENV = {"CLEW_ENGINE__LOG_BYTES_MAX": "200000", "CLEW_DISK__THRESHOLD_ENABLED": "false"}


class Killed(Exception):
    """The client would wait for a server that is gone."""


class Clock:
    """The clock of pymilvus' retries: nobody waits once the server was killed."""

    def __init__(self, ending):
        self.ending = ending

    def __getattr__(self, name):
        return getattr(time, name)

    def sleep(self, seconds):
        if self.ending.is_set():
            raise Killed
        time.sleep(seconds)


class Worker(threading.Thread):
    """Does what it likes until the kill; `state` is what was acknowledged, `maybe` what was asked for and not answered."""

    def __init__(self, run, name, state):
        super().__init__(name=name, daemon=True)
        self.run_of, self.client, self.state, self.maybe = run, run.connect(), state, None
        self.random = random.Random(f"{run.seed}/{run.rounds}/{name}")
        self.failure = None
        self.calls = 0

    def run(self):
        try:
            while not self.run_of.ending.is_set():
                self.step()
                self.maybe = None
                self.calls += 1
                self.run_of.progress.release()
        except Exception as failure:
            # A server that is being killed may answer anything; one that is not may not.
            if not self.run_of.ending.wait(0.2):
                self.failure = failure
                self.run_of.progress.release()

    def change(self, call, after):
        """One call, and what is so once it is answered."""
        self.maybe = after
        call()
        self.state = after


class Writer(Worker):
    """Rows of its own keys: `state` and `maybe` are versions by key."""

    def __init__(self, run, number, state):
        super().__init__(run, f"writer{number}", state)
        self.number, self.version = number, max([0, *state.values()])
        self.is_one = False

    def step(self):
        first = self.number * 1000
        keys = self.random.sample(range(first, first + KEYS), self.random.randint(1, 12))
        self.version += 1
        kind = self.random.random()
        self.is_one = kind < 0.7
        if self.is_one:
            write = self.client.insert if kind < 0.35 else self.client.upsert
            rows = [content(key, self.version) for key in keys]
            self.change(lambda: write("rows", rows), {**self.state, **dict.fromkeys(keys, self.version)})
        elif kind < 0.85:
            left = {key: version for key, version in self.state.items() if key not in keys}
            self.change(lambda: self.client.delete("rows", ids=keys), left)
        else:
            old = self.version - self.random.randint(3, 30)
            left = {key: version for key, version in self.state.items() if version > old}
            asked = f"owner == {self.number} and version <= {old}"
            self.change(lambda: self.client.delete("rows", filter=asked), left)


class Keeper(Worker):
    """Collections, indexes, partitions and aliases: `state` is all that is told of them."""

    def __init__(self, run, state):
        super().__init__(run, "keeper", state)

    def step(self):
        after = copy.deepcopy(self.state)
        collections, aliases = after["collections"], after["aliases"]
        name = self.random.choice(["c0", "c1", "c2"])
        one = collections.get(name)
        if one is None:
            collections[name] = {"index": False, "loaded": False, "partitions": {"_default": 0}}
            self.change(lambda: self.client.create_collection(name, schema=schema(self.client)), after)
            return
        getattr(self, self.random.choice(["index", "load", "part", "part", "part", "alias", "alias", "drop"]))(name, one, after)

    def index(self, name, one, after):
        if one["index"] and not one["loaded"]:
            one["index"] = False
            self.change(lambda: self.client.drop_index(name, "v"), after)
        elif not one["index"]:
            one["index"] = True
            params = self.client.prepare_index_params()
            params.add_index("v", index_type="HNSW", metric_type="L2", params={"M": 8, "efConstruction": 40})
            self.change(lambda: self.client.create_index(name, params), after)

    def load(self, name, one, after):
        if one["loaded"]:
            one["loaded"] = False
            self.change(lambda: self.client.release_collection(name), after)
        elif one["index"]:
            one["loaded"] = True
            self.change(lambda: self.client.load_collection(name), after)

    def part(self, name, one, after):
        part = self.random.choice(["p0", "p1"])
        parts = one["partitions"]
        if part not in parts:
            parts[part] = 0
            self.change(lambda: self.client.create_partition(name, part), after)
        elif parts[part] and not one["loaded"] and self.random.random() < 0.6:
            del parts[part]
            self.change(lambda: self.client.drop_partition(name, part), after)
        else:
            count = self.random.randint(1, 30)
            # Keys of their own, so that the partition's rows are as many as were written.
            first = {"p0": 1, "p1": 2}[part] * 10**6 + parts[part]
            rows = [content(first + n, 1) for n in range(count)]
            parts[part] += count
            self.change(lambda: self.client.insert(name, rows, partition_name=part), after)

    def alias(self, name, _, after):
        alias, aliases = self.random.choice(["a0", "a1"]), after["aliases"]
        if alias not in aliases:
            aliases[alias] = name
            self.change(lambda: self.client.create_alias(name, alias), after)
        elif aliases[alias] != name:
            aliases[alias] = name
            self.change(lambda: self.client.alter_alias(name, alias), after)
        else:
            del aliases[alias]
            self.change(lambda: self.client.drop_alias(alias), after)

    def drop(self, name, _, after):
        if name not in after["aliases"].values() and self.random.random() < 0.5:
            del after["collections"][name]
            self.change(lambda: self.client.drop_collection(name), after)


def schema(client):
    made = client.create_schema(enable_dynamic_field=True)
    made.add_field("id", DataType.INT64, is_primary=True)
    made.add_field("owner", DataType.INT64)
    made.add_field("version", DataType.INT64)
    made.add_field("text", DataType.VARCHAR, max_length=100)
    made.add_field("tags", DataType.ARRAY, element_type=DataType.INT64, max_capacity=4)
    made.add_field("v", DataType.FLOAT_VECTOR, dim=DIM)
    return made


def content(key, version):
    """The row of a key, which its version tells all of."""
    return {"id": key, "owner": key // 1000, "version": version, "text": f"{key} at {version}", "tags": [key % 7, version],
            "beside": {"version": version}, "v": [float(key), float(version), *[0.5] * (DIM - 2)]}


class Run:
    """A server, rounds of load and kill, and what they left."""

    def __init__(self, seed):
        self.seed, self.rounds, self.calls, self.checked = seed, 0, 0, 0
        self.random = random.Random(f"milvus/{seed}")
        self.rows = [{} for _ in range(WRITERS)]
        self.kept = {"collections": {}, "aliases": {}}
        self.server = Server(env=ENV)
        self.slowest = 0.0

    def connect(self):
        return MilvusClient(uri=f"http://{self.server.grpc}")

    def begin(self):
        client = self.connect()
        params = client.prepare_index_params()
        params.add_index("v", index_type="HNSW", metric_type="L2", params={"M": 8, "efConstruction": 40})
        client.create_collection("rows", schema=schema(client), index_params=params, consistency_level="Strong")
        client.close()

    def round(self):
        self.ending, self.progress = threading.Event(), threading.Semaphore(0)
        pymilvus.decorators.time = Clock(self.ending)
        workers = [Writer(self, number, rows) for number, rows in enumerate(self.rows)] + [Keeper(self, self.kept)]
        for worker in workers:
            worker.start()
        for _ in range(self.random.randint(*CALLS_BEFORE_KILL)):
            assert self.progress.acquire(timeout=120), "the workers are stuck"
            if any(worker.failure for worker in workers):
                break
        self.ending.set()
        self.server.kill()
        for worker in workers:
            worker.join(120)
            assert not worker.is_alive(), f"{worker.name} does not end"
            if worker.failure:
                raise worker.failure
            self.calls += worker.calls
        pymilvus.decorators.time = time
        started = time.monotonic()
        self.server.start()
        client = self.connect()
        self.check_rows(client, workers[:-1])
        self.slowest = max(self.slowest, time.monotonic() - started)
        self.check_kept(client, workers[-1])
        assert not self.server.panics(), self.server.panics()
        client.close()
        self.rounds += 1

    def check_rows(self, client, writers):
        found = {row["id"]: row for row in client.query("rows", filter="id >= 0", output_fields=["*"], limit=10_000)}
        counted = client.query("rows", filter="", output_fields=["count(*)"])[0]["count(*)"]
        assert counted == len(found), (counted, len(found))
        for key, row in found.items():
            plain = {**row, "tags": list(row["tags"]), "v": [float(x) for x in row["v"]]}
            assert plain == content(key, row["version"]), f"half a row: {plain}"
        seen = [{} for _ in range(WRITERS)]
        for key, row in found.items():
            seen[key // 1000][key] = row["version"]
        for writer, own in zip(writers, seen):
            either = [writer.state, writer.state if writer.maybe is None else writer.maybe]
            assert not writer.is_one or own in either, f"a part of a call is there: {own}, not {either}"
            for key in range(writer.number * 1000, writer.number * 1000 + KEYS):
                may = [state.get(key) for state in either]
                assert own.get(key) in may, f"row {key} has version {own.get(key)}, not {may}"
                self.checked += 1
        self.rows = seen
        for key in self.random.sample(sorted(found), min(5, len(found))):
            (hits,) = client.search("rows", data=[found[key]["v"]], anns_field="v", limit=1, output_fields=["text"])
            assert hits[0]["entity"]["text"] == found[key]["text"], (hits, found[key])

    def check_kept(self, client, keeper):
        seen = {"collections": {}, "aliases": {}}
        for name in client.list_collections():
            if name == "rows":
                continue
            parts = {part: client.get_partition_stats(name, part)["row_count"] for part in client.list_partitions(name)}
            seen["collections"][name] = {
                "index": client.list_indexes(name) == ["v"],
                "loaded": client.get_load_state(name)["state"].name == "Loaded",
                "partitions": parts,
            }
            assert client.get_collection_stats(name)["row_count"] == sum(parts.values()), name
            for alias in client.list_aliases(name)["aliases"]:
                seen["aliases"][alias] = name
        either = [keeper.state, keeper.state if keeper.maybe is None else keeper.maybe]
        assert seen in [*either, *self.between(*either, seen)], f"{seen} is neither {either[0]} nor {either[1]}"
        self.kept = seen
        self.checked += len(seen["collections"]) * 4 + len(seen["aliases"])

    @staticmethod
    def between(before, after, seen):
        """Of rows that were written to a partition, or deleted with it, some may be there: each is done by itself."""
        for name, one in before["collections"].items():
            for part, rows in one["partitions"].items():
                other = after["collections"].get(name, {"partitions": {}})["partitions"].get(part, 0)
                told = seen["collections"].get(name, {"partitions": {}})["partitions"].get(part, -1)
                if min(rows, other) <= told <= max(rows, other):
                    state = copy.deepcopy(before)
                    state["collections"][name]["partitions"][part] = told
                    yield state


def main(seed, rounds):
    print(f"seed {seed}", flush=True)
    run = Run(seed)
    with run.server:
        run.begin()
        for _ in range(int(rounds)):
            run.round()
    print(json.dumps({"rounds": run.rounds, "calls": run.calls, "checked": run.checked,
                      "slowest_restart_s": round(run.slowest, 2)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
