"""A mixed load at a steady rate for a long time, with indexes that come and go and snapshots: nothing may
grow that should not. Writes a table and a picture of every curve.

    python -m tests.faults.soak --minutes 60 [--out FOLDER] [--seed 1]
"""

import argparse
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time

from .checks import Wrong
from .corpus import COMMON, VECTOR, Flat, Nest, State
from .curves import Bound, fit, write_csv, write_svg
from .server import Server, folder

ENV = {"CLEW_ENGINE__LOG_BYTES_MAX": "50000000", "CLEW_ENGINE__WRITE_BUFFER_BYTES": "8388608"}
BULKS_PER_SECOND, BULK_DOCUMENTS = 4, 50
SEARCHES_PER_SECOND = 12
UPDATES_PER_SECOND = 4
ROLLOVER_S, KEPT_INDEXES = 15, 4
SNAPSHOT_S, KEPT_SNAPSHOTS = 20, 2
MAPPING = {"properties": {
    **COMMON, "emb_of": {"type": "long"}, "emb": VECTOR, "lines": Nest.mapping["properties"]["lines"]}}
FIXED_DOCUMENTS = 2_000
# Each curve's bound. What comes and goes with the indexes is compared over whole generations of them.
BOUNDS = {
    "anonymous_mb": Bound(0.15, 16, "MB"),
    "files_open": Bound(0.2, 16, ""),
    "threads": Bound(0.0, 4, ""),
    "disk_mb": Bound(0.25, 40, "MB"),
    "log_mb": Bound(0.5, 50, "MB"),
    "segments": Bound(0.3, 20, ""),
    "search_p50_ms": Bound(0.5, 5, "ms"),
    "search_p99_ms": Bound(1.0, 100, "ms"),
    "write_p50_ms": Bound(0.5, 10, "ms"),
    "write_p99_ms": Bound(1.0, 200, "ms"),
}


class Pace(threading.Thread):
    """Does something so many times a second, as long as the soak goes on; keeps how long each took."""

    def __init__(self, soak, action, per_second):
        super().__init__(name=action.__name__, daemon=True)
        self.soak, self.action, self.pause_s = soak, action, 1 / per_second
        self.seconds = []
        self.done = 0

    def run(self):
        due = time.monotonic()
        try:
            with self.soak.server.client() as client:
                while not self.soak.over.wait(max(0, due - time.monotonic())):
                    started = time.monotonic()
                    self.action(client)
                    self.seconds.append(time.monotonic() - started)
                    self.done += 1
                    due = max(due + self.pause_s, time.monotonic() - 1)
        except BaseException as error:  # The main thread reports it.
            self.soak.failures.append((self.name, error))
            self.soak.over.set()

    def take(self):
        """The times since the last call, sorted."""
        taken, self.seconds = self.seconds, []
        return sorted(taken)


class Soak:
    """The server under load, and the samples of it."""

    def __init__(self, seed):
        self.server = Server(folder(memory=False), env=ENV)
        self.server.own_data = True
        self.random = random.Random(f"soak/{seed}")
        self.over = threading.Event()
        self.failures, self.rows = [], []
        self.snapshots = 0
        self.mark = 0
        self.rolled = self.snapped = time.monotonic()

    def __enter__(self):
        self.server.start()
        with self.server.client() as client:
            settings = {"number_of_shards": 2, "refresh_interval": "1s"}
            body = {"index_patterns": ["stream-*", "fixed"], "template": {"settings": settings, "mappings": MAPPING}}
            client.done("PUT", "/_index_template/soak", body)
            client.done("PUT", "/stream-000001", {"aliases": {"stream": {"is_write_index": True}}})
            client.done("PUT", "/fixed")
            client.done("PUT", "/_snapshot/soak", {"type": "fs", "settings": {"location": "soak"}})
        return self

    def __exit__(self, *_):
        self.over.set()
        self.server.__exit__()

    def run(self, seconds, sample_s, say=lambda _: None):
        paces = [Pace(self, self.write, BULKS_PER_SECOND), Pace(self, self.search, SEARCHES_PER_SECOND),
                 Pace(self, self.update, UPDATES_PER_SECOND), Pace(self, self.care, 1)]
        for pace in paces:
            pace.start()
        started = time.monotonic()
        # A machine that stands still has its curves of two points, and each thing done once, later.
        is_short = lambda: len(self.rows) < 2 or not all(pace.done for pace in paces)
        while (time.monotonic() - started < seconds or is_short()) and not self.over.wait(sample_s):
            self.sample(time.monotonic() - started, *paces[:2])
            say(self.rows[-1])
        self.over.set()
        for pace in paces:
            pace.join(60)
        if self.failures:
            raise Wrong(f"{self.failures}\n{self.server.log_tail()}")
        return {pace.name: pace.done for pace in paces}

    def document(self, identity):
        self.mark += 1
        mark = self.mark
        return {**Flat.source(identity, State(mark, mark)), "lines": Nest.lines(identity, mark)}

    def write(self, client):
        """New documents, as logs bring them."""
        lines = [line for _ in range(BULK_DOCUMENTS)
                 for line in ({"create": {"_index": "stream"}}, self.document("0-0"))]
        reply = client.done("POST", "/_bulk", lines)
        if reply["errors"]:
            raise Wrong(f"a bulk was refused: {str(reply)[:1000]}")

    def update(self, client):
        """A fixed number of documents, written over and over, some deleted."""
        identity = f"0-{self.random.randrange(FIXED_DOCUMENTS)}"
        if self.random.random() < 0.1:
            client.delete(f"/fixed/_doc/{identity}")
        else:
            client.done("PUT", f"/fixed/_doc/{identity}", self.document(identity))

    def search(self, client):
        body = self.random.choice([
            {"query": {"match": {"words": f"w{self.random.randrange(127)}"}}, "highlight": {"fields": {"words": {}}}},
            {"query": {"bool": {"filter": [{"term": {"tag": f"t{self.random.randrange(17)}"}}]}}, "sort": ["mark"]},
            {"size": 0, "aggs": {"tags": {"terms": {"field": "tag"}, "aggs": {"most": {"max": {"field": "mark"}}}}}},
            {"query": {"knn": {"emb": {"vector": [self.random.uniform(-99, 99) for _ in range(8)], "k": 5}}}},
            {"query": {"nested": {"path": "lines", "query": {"term": {"lines.count": 3}}}}, "size": 3},
        ])
        reply = client.post(f"/{self.random.choice(['stream-*', 'fixed'])}/_search", body)
        # An index may go in the middle of it.
        if not reply.ok and reply.status != 404:
            raise Wrong(f"a search was refused: {reply!r}")

    def care(self, client):
        """Indexes are rolled over and deleted, snapshots taken and deleted."""
        now = time.monotonic()
        if now - self.rolled > ROLLOVER_S:
            self.rolled = now
            client.done("POST", "/stream/_rollover", {})
            for index in sorted(client.done("GET", "/stream-*/_alias"))[:-KEPT_INDEXES]:
                client.done("DELETE", f"/{index}")
        if now - self.snapped > SNAPSHOT_S:
            self.snapped = now
            self.snapshots += 1
            path = f"/_snapshot/soak/s{self.snapshots}?wait_for_completion=true"
            state = client.done("PUT", path, {"indices": "fixed"})["snapshot"]["state"]
            if state != "SUCCESS":
                raise Wrong(f"a snapshot is {state}")
            if self.snapshots > KEPT_SNAPSHOTS:
                client.done("DELETE", f"/_snapshot/soak/s{self.snapshots - KEPT_SNAPSHOTS}")

    def sample(self, seconds, writes, searches):
        """One row of the table."""
        process = pathlib.Path(f"/proc/{self.server.process.pid}")
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        with self.server.client() as client:
            segments = len(client.done("GET", "/_cat/segments?format=json"))
        row = {
            "seconds": round(seconds, 1),
            "anonymous_mb": int(status["RssAnon"].split()[0]) / 1024,
            "files_open": len(os.listdir(process / "fd")),
            "threads": int(status["Threads"]),
            "disk_mb": bytes_below(self.server.data) / 1e6,
            "log_mb": bytes_below(self.server.data / "log") / 1e6,
            "segments": segments,
        }
        for name, taken in (("search", searches.take()), ("write", writes.take())):
            for share in (50, 99):
                at = min(len(taken) - 1, len(taken) * share // 100)
                row[f"{name}_p{share}_ms"] = round(1e3 * taken[at], 2) if taken else 0.0
        self.rows.append(row)

    def broken(self):
        """The curves that grow beyond their bounds."""
        times = [row["seconds"] for row in self.rows]
        for name, bound in BOUNDS.items():
            line = fit(times, [row[name] for row in self.rows])
            if line.breaks(bound):
                yield f"{name} grows by {line.growth:.4g} beside a mean of {line.mean:.4g}"


def bytes_below(path):
    """Bytes on the disk of all files below a folder; what goes meanwhile is not counted."""
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_blocks * 512
            except OSError:
                pass
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, help="folder for the table and the picture")
    arguments = parser.parse_args()
    out = arguments.out or pathlib.Path(tempfile.mkdtemp(prefix="clew-soak-"))
    out.mkdir(parents=True, exist_ok=True)
    seconds = arguments.minutes * 60
    with Soak(arguments.seed) as soak:
        try:
            done = soak.run(seconds, max(1.0, min(10.0, seconds / 60)), lambda row: print(json.dumps(row), flush=True))
            print(f"done: {done}, {soak.snapshots} snapshots")
        finally:
            if soak.rows:
                write_csv(out / "soak.csv", soak.rows)
                write_svg(out / "soak.svg", soak.rows, BOUNDS)
                print(f"written: {out}/soak.csv and soak.svg")
        broken = list(soak.broken())
        broken += [f"panic: {line}" for line in soak.server.panics()]
        soak.server.stop()
    if broken:
        sys.exit("\n".join(broken))


if __name__ == "__main__":
    main()
