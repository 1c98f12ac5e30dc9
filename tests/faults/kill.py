"""SIGKILL at a random moment of a mixed load, sometimes again during the recovery; then everything that
was acknowledged must be there.

    python -m tests.faults kill --rounds 500 --seed 1
"""

import random
import threading
import time

from .catalog import Caretaker, Catalog, CatalogChecks
from .checks import DocumentChecks, Wrong
from .corpus import create
from .server import Server
from .writer import Documents, Writer

WRITERS = 3
REQUESTS_BEFORE_KILL = (5, 120)
RECOVERY_KILL_SECONDS_MAX = 0.2
RECOVERY_KILL_CHANCE = 0.35
# Small, so that every round flushes, trims the log and begins files of it.
ENV = {"CLEW_ENGINE__LOG_BYTES_MAX": "400000"}


class KillRounds:
    """A server, its model, and rounds of load, kill, restart, check."""

    def __init__(self, seed, server=None, **settings):
        self.seed, self.settings = seed, settings
        self.random = random.Random(f"kill/{seed}")
        self.documents = Documents(WRITERS)
        self.catalog = Catalog(self.documents)
        self.server = server or Server(env=ENV)
        self.rounds = self.recovery_kills = self.acknowledged = self.reads = self.changes = self.checked = 0

    def __enter__(self):
        self.server.start()
        with self.server.client() as client:
            create(client, **self.settings)
            Catalog.prepare(client)
        return self

    def __exit__(self, *_):
        self.server.__exit__()

    def round(self):
        """Returns when everything was found as it must be; raises `Wrong` otherwise."""
        try:
            self.load_until(self.end)
            self.restart()
            self.check()
        except BaseException as error:
            self.server.own_data = False
            error.add_note(f"seed {self.seed}, round {self.rounds}; kept, unless on a disk of its own: "
                           f"{self.server.data} and {self.server.log_path}")
            raise
        self.rounds += 1

    def end(self):
        self.server.kill()

    def load_until(self, end):
        """Writers and a caretaker work until a random number of requests is answered; then `end` is called."""
        progress = threading.Semaphore(0)
        chance = self.random
        workers = [Writer(number, self.server.client(), self.documents, chance.random(), progress)
                   for number in range(WRITERS)]
        workers.append(Caretaker(self.server.client(), self.catalog, chance.random(), progress))
        for worker in workers:
            worker.start()
        for _ in range(chance.randint(*REQUESTS_BEFORE_KILL)):
            if not progress.acquire(timeout=120):
                raise Wrong("the writers are stuck")
        end()
        for worker in workers:
            worker.join(120)
            if worker.failure:
                raise worker.failure
        for writer in workers[:-1]:
            self.acknowledged += writer.acknowledged
            self.reads += writer.reads
        self.changes += workers[-1].acknowledged

    def restart(self):
        """Sometimes the recovery is killed as well, once or more."""
        while self.random.random() < RECOVERY_KILL_CHANCE:
            self.server.launch()
            time.sleep(self.random.uniform(0, RECOVERY_KILL_SECONDS_MAX))  # The fault, not a wait.
            self.server.kill()
            self.recovery_kills += 1
        self.server.start()

    def check(self):
        with self.server.client() as client:
            health, cluster = client.get("/_health"), client.get("/_cluster/health")
            if health.status != 200 or cluster.body["status"] == "red":
                raise Wrong(f"unwell after a kill: {health!r} {cluster!r}\n{self.server.log_tail()}")
            catalog = CatalogChecks(client, self.catalog, self.random)
            catalog.freeze()
            catalog.run()
            self.checked += DocumentChecks(client, self.documents, self.random).run()
            catalog.restore_one()
            if self.server.panics():
                raise Wrong(f"panics: {self.server.panics()}")

    def figures(self):
        return (f"{self.rounds} rounds, {self.recovery_kills} kills during recovery, {self.acknowledged} writes and "
                f"{self.changes} changes acknowledged, {self.reads} reads beside them, {self.checked} documents "
                f"checked, {self.catalog.restored} snapshots restored, "
                f"{self.catalog.half_rollovers} rollovers left half done")


def run(arguments):
    """The long form."""
    started = time.monotonic()
    with KillRounds(arguments.seed) as rounds:
        for number in range(arguments.rounds):
            rounds.round()
            if number % 10 == 9:
                print(f"{time.monotonic() - started:6.0f} s  {rounds.figures()}", flush=True)
    print(f"nothing acknowledged was lost: {rounds.figures()}, in {time.monotonic() - started:.0f} s")
