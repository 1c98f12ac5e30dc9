"""A disk that fails: full, broken, out of descriptors, once or for a while. Meanwhile every read is right or
refused with a reason; once the disk works again, writes go on without a restart; and after a SIGKILL,
which takes with it what a failed sync had left in memory alone, all that was acknowledged is there.

    python -m tests.faults disk --rounds 200 --seed 1
"""

import random
import threading
import time
from typing import NamedTuple

from .base import eventually
from .catalog import OPERATIONS, Caretaker, Catalog, CatalogChecks
from .checks import DocumentChecks, Wrong
from .corpus import SCHEMAS, create, path, same, seen
from .kill import ENV
from .server import DidNotStart, Server
from .shim import LOSE, SHORT, Shim
from .writer import Documents, Writer

WRITERS = 2
REQUESTS_WELL = (10, 40)
REQUESTS_FAILING = (10, 60)
HEAL_SECONDS_MAX = 120
RESTART_CHANCE = 0.25
# A restore in pieces leaves indexes that nobody can tell from others: `kill` has restores beside kills.
CHANGES = tuple(name for name in OPERATIONS if name != "restore")


class Fault(NamedTuple):
    """A rule of `Shim.fail`, with a name."""

    name: str
    rule: dict


def once(calls, part, error, flags=0):
    name = f"one {calls} in {part} fails with {error}" + {LOSE: ", its pages are lost", SHORT: ", half done", 0: ""}[flags]
    return Fault(name, {"calls": calls, "part": part, "error": error, "burst": 1, "flags": flags})


def while_it_lasts(calls, part, error, flags=0):
    name = f"every {calls} in {part or 'the folder'} fails with {error} for a while"
    return Fault(name, {"calls": calls, "part": part, "error": error, "flags": flags})


FAULTS = [
    once("write", "/log/", "ENOSPC"),
    once("sync", "/log/", "EIO", LOSE),
    while_it_lasts("write truncate", "", "ENOSPC", SHORT),
    once("sync", "/indices/", "EIO", LOSE),
    while_it_lasts("all", "", "ENOSPC"),
    while_it_lasts("open open_read", "", "EMFILE"),
    once("open_read", "/indices/", "EMFILE"),
    while_it_lasts("all", "/indices/", "EIO"),
    while_it_lasts("all", "", "EROFS"),
    *[Fault(f"{share:.1%} of all calls fail with {error}", {"calls": "all", "error": error, "share": share})
      for share, error in ((0.005, "ENOSPC"), (0.02, "EIO"), (0.06, "ENOSPC"))],
    once("write", "/log/", "EIO", SHORT),
    once("sync", "/log/", "ENOSPC"),
    once("open", "/log/", "EMFILE"),
    once("open", "/log/", "ENOSPC"),
    once("rename", "/log/", "EIO"),
    once("truncate", "/log/", "EIO"),
    once("write", "/indices/", "ENOSPC"),
    once("write", "/indices/", "EIO", SHORT),
    once("sync", "/indices/", "ENOSPC"),
    once("open", "/indices/", "EMFILE"),
    once("open", "/indices/", "EACCES"),
    once("rename", "/indices/", "EIO"),
    once("mkdir", "/indices/", "ENOSPC"),
    once("write", "catalog", "ENOSPC"),
    once("sync", "catalog", "EIO", LOSE),
    once("rename", "catalog", "EIO"),
    once("write", "/repositories/", "ENOSPC"),
    once("sync", "/repositories/", "EIO", LOSE),
    once("rename", "/repositories/", "ENOSPC"),
    while_it_lasts("sync", "/log/", "EIO", LOSE),
    while_it_lasts("sync", "", "EIO", LOSE),
    while_it_lasts("all", "/log/", "EIO"),
    while_it_lasts("write", "/indices/", "ENOSPC", SHORT),
]


class DiskRounds:
    """One server on a disk whose calls fail by rule."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(f"disk/{seed}")
        self.documents = Documents(WRITERS)
        self.catalog = Catalog(self.documents)
        self.server = Server(env=ENV)
        self.figures = dict.fromkeys(
            ["rounds", "failed_calls", "acknowledged", "refused", "reads", "reads_refused", "restarts", "kept_off"], 0)
        self.healed_seconds_max = 0.0

    def __enter__(self):
        self.shim = Shim(self.server.data)
        self.server.preload = self.shim.library
        self.server.env.update(self.shim.env())
        self.server.start()
        with self.server.client() as client:
            create(client)
            Catalog.prepare(client)
        return self

    def __exit__(self, *_):
        self.server.__exit__()
        self.shim.close()

    def round(self, fault):
        """Returns when every promise was kept; raises `Wrong` otherwise."""
        panics = len(self.server.panics())
        skip = self.random.randrange(25) if fault.rule.get("burst") else 0
        try:
            self.load(self.random.randint(*REQUESTS_WELL), patient=False)
            self.shim.fail(**fault.rule, skip=skip, seed=self.random.randrange(1 << 30))
            self.load(self.random.randint(*REQUESTS_FAILING), patient=True)
            self.check_meanwhile()
            if self.random.random() < RESTART_CHANCE:
                self.restart_meanwhile()
            self.figures["failed_calls"] += self.shim.heal()
            self.await_writes()
            self.check()
            self.load(self.random.randint(*REQUESTS_WELL), patient=False)
            self.server.kill()
            self.shim.lose(self.server.data)
            self.server.start()
            self.check()
            if len(self.server.panics()) > panics:
                raise Wrong(f"panics: {self.server.panics()[panics:]}")
        except BaseException as error:
            self.server.own_data = False
            error.add_note(f"seed {self.seed}, round {self.figures['rounds']}, {fault.name}, first {skip} passed, "
                           f"{self.shim.failed} failed; kept: {self.server.data} and {self.server.log_path}")
            raise
        self.figures["rounds"] += 1

    def load(self, requests, patient):
        """Writers and a caretaker work until so many requests are answered."""
        progress = threading.Semaphore(0)
        workers = [Writer(number, self.server.client(), self.documents, self.random.random(), progress, patient)
                   for number in range(WRITERS)]
        workers.append(Caretaker(
            self.server.client(), self.catalog, self.random.random(), progress, patient, only=CHANGES))
        for worker in workers:
            worker.start()
        for _ in range(requests):
            if not progress.acquire(timeout=120):
                raise Wrong(f"the writers are stuck\n{self.server.log_tail()}")
        for worker in workers:
            worker.stopping.set()
        for worker in workers:
            worker.join(120)
            if worker.failure:
                raise worker.failure
            for name in ("acknowledged", "refused", "reads", "reads_refused"):
                self.figures[name] += getattr(worker, name, 0)
        if not self.server.alive():
            raise Wrong(f"the server has ended by itself\n{self.server.log_tail()}")

    def check_meanwhile(self):
        """Each document by id, and all by a search: right, or refused with a reason."""
        with self.server.client() as client:
            for (index, identity), possible in self.documents.possible.items():
                reply = client.get(path(index, identity))
                if self.refused(reply):
                    continue
                state = seen(index, identity, reply.body)
                if not any(same(state, value) for value in possible.values):
                    raise Wrong(f"{index}/{identity} reads {reply!r}, allowed: {possible.values}")
            for index in SCHEMAS:
                self.search_meanwhile(client, index)

    def refused(self, reply):
        """Whether a read was refused, as it should be: with a reason, and not by a panic."""
        if reply.status < 500 and reply.status != 429:
            self.figures["reads"] += 1
            return False
        if "reason" not in reply.text or "panic" in reply.text:
            raise Wrong(f"refused without a reason: {reply!r}")
        self.figures["reads_refused"] += 1
        return True

    def search_meanwhile(self, client, index):
        """What is refreshed without an error is found, all of it."""
        refreshed = client.post(f"/{index}/_refresh")
        body = {"size": 5000, "version": True, "track_total_hits": True}
        reply = client.post(f"/{index}/_search", body)
        if self.refused(reply) or reply.body["_shards"]["failed"]:
            return
        found = {hit["_id"]: seen(index, hit["_id"], hit) for hit in reply.body["hits"]["hits"]}
        if not refreshed.ok or refreshed.body["_shards"]["failed"]:
            return
        for (name, identity), possible in self.documents.possible.items():
            if name == index and not any(same(found.get(identity), value) for value in possible.values):
                raise Wrong(f"a whole search of {index} has {identity} as {found.get(identity)}, "
                            f"allowed: {possible.values}")

    def restart_meanwhile(self):
        """The server is killed and started while the disk still fails; it may refuse to start, with a reason."""
        self.figures["restarts"] += 1
        self.server.kill()
        self.shim.lose(self.server.data)
        try:
            self.server.start()
        except DidNotStart as error:
            if "panicked" in str(error) or str(self.server.data) not in str(error):
                raise Wrong(f"it did not start, and does not say at which file: {error}") from error
            self.figures["kept_off"] += 1
            self.figures["failed_calls"] += self.shim.heal()
            self.server.start()
            return
        self.check_meanwhile()

    def await_writes(self):
        """Writes go on, to every shard, once the disk works."""
        started = time.monotonic()
        with self.server.client() as client:
            refused = None

            def accepted():
                nonlocal refused
                for number, index in enumerate(SCHEMAS):
                    lines = [line for n in range(8) for line in (
                        {"delete": {"_index": index, "_id": f"nobody-{number}-{n}"}},)]
                    reply = client.post("/_bulk", lines)
                    if not reply.ok or any(item["delete"]["status"] >= 429 for item in reply.body["items"]):
                        refused = reply
                        return False
                return client.get("/_health").status == 200

            try:
                eventually(accepted, "writes are taken again", HEAL_SECONDS_MAX)
            except AssertionError as error:
                raise Wrong(f"no writes {HEAL_SECONDS_MAX} s after the disk works again: {refused!r}\n"
                            f"{client.get('/_health')!r}") from error
        self.healed_seconds_max = max(self.healed_seconds_max, time.monotonic() - started)

    def check(self):
        with self.server.client() as client:
            catalog = CatalogChecks(client, self.catalog, self.random)
            catalog.freeze()
            catalog.run()
            DocumentChecks(client, self.documents, self.random).run()
            catalog.restore_one()

    def report(self):
        counted = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in self.figures.items())
        return f"{counted}; writes went on at most {self.healed_seconds_max:.2f} s after the disk"


def run(arguments):
    """The long form: all faults one after the other, over and over. A broken promise ends its server, and
    the next round begins with another, so that all of them are seen."""
    broken, done = [], 0
    while done < arguments.rounds:
        with DiskRounds(f"{arguments.seed}/{done}") as rounds:
            try:
                while done < arguments.rounds:
                    fault = FAULTS[done % len(FAULTS)]
                    done += 1
                    rounds.round(fault)
            except (AssertionError, DidNotStart) as error:
                broken.append(fault.name)
                print(f"BROKEN {fault.name}: {str(error)[:1200]}\n  {error.__notes__}", flush=True)
            print(rounds.report(), flush=True)
    if broken:
        raise Wrong(f"{len(broken)} of {done} rounds broke a promise")
