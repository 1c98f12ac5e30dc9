"""Logs are written, torn, rotated, compressed, truncated, made anew and deleted in an order chosen by a seed, while the collector
is killed and its output fails.

    CLEW_BIN=target/release/clew python -m tests.collect.torture [--seed 1] [--seeds 20] [--steps 400]

Every line has to arrive, once, and in order within each file. Exit status 0 when it did.
"""

import argparse
import pathlib
import random
import shutil
import sys
import tempfile

from .bulk_server import BulkServer
from .collector import Collector
from .rotated_log import RotatedLog
from .verdict import Verdict

LOGS = 3
# How often each thing happens beside the others.
STEPS = {"write": 30, "write_torn": 5, "rename": 5, "copytruncate": 5, "compress": 4, "truncate": 2, "recreate": 2,
         "delete_oldest": 2, "kill": 4, "pause": 4}


class Torture:
    """One seed's run; `folder` is kept when it fails."""

    def __init__(self, seed, failing=0.15):
        self.random = random.Random(f"torture/{seed}")
        self.seed = seed
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clew-torture-"))
        (self.folder / "logs").mkdir()
        self.server = BulkServer(seed, failing)
        self.logs = [RotatedLog(self.folder / "logs" / f"{name}.log", keep=4) for name in "abc"[:LOGS]]
        self.told = (self.folder / "steps").open("w")

    def run(self, steps):
        """Returns the verdict."""
        logs = self.folder / "logs"
        asked = [logs / "a.log", logs / "b.log*", logs / "c*"]
        with self.server, Collector(asked, self.server.url, self.folder / "registry") as collector:
            self.collector = collector
            # What was rotated away before an exact path was first looked at is not what it asks for.
            for log in self.logs:
                log.write(1)
            self.settle()
            for _ in range(steps):
                self.step(self.random.choices(list(STEPS), list(STEPS.values()))[0])
            self.settle()
            self.server.failing = 0
            collector.stop()
            collector.once()
        verdict = Verdict(self.server, self.logs)
        for log in self.logs:
            log.close()
        self.told.close()
        if verdict.is_clean():
            shutil.rmtree(self.folder)
        return verdict

    def tell(self, *words):
        print(*words, file=self.told, flush=True)

    def step(self, name):
        log = self.random.choice(self.logs)
        self.tell(name, log.path.name, log.written)
        if name == "kill":
            self.kill()
        elif name == "pause":
            self.server.wait_for_requests(1, seconds=0.2)
        elif name == "write":
            log.write(self.random.choice((1, 3, 40, 400)))
        elif name == "write_torn":
            log.write_torn(self.random.choice((self.restart, lambda: None)))
        elif name == "compress":
            log.compress(self.random.randint(2, 3))
        else:
            # Full: the oldest would be deleted. What destroys content waits until that has arrived.
            full = any(log.sibling(log.keep, ending).exists() for ending in ("", ".gz"))
            if name not in ("rename", "copytruncate") or full:
                self.settle()
            getattr(log, name)()

    def restart(self):
        self.collector.kill()
        self.collector.start()

    def kill(self):
        self.collector.kill()
        # Much or little happens before it is back.
        for _ in range(self.random.choice((0, 0, 1, 2))):
            log = self.random.choice(self.logs)
            way = self.random.choice(("write", "rename", "copytruncate", "compress"))
            full = any(log.sibling(number, ending).exists() for ending in ("", ".gz") for number in (log.keep, log.keep - 1))
            self.tell("meanwhile", way, log.path.name, full)
            if way == "write":
                log.write(20)
            elif way == "compress" or not full:
                getattr(log, way)()
        self.collector.start()

    def settle(self):
        """Waits until everything written has arrived."""
        written = sum(log.written for log in self.logs)
        if not self.server.wait_for(written):
            verdict = Verdict(self.server, self.logs)
            raise AssertionError(f"seed {self.seed}: lines do not arrive; {verdict}; kept: {self.folder}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--steps", type=int, default=400)
    arguments = parser.parse_args()
    clean = True
    for seed in range(arguments.seed, arguments.seed + arguments.seeds):
        torture = Torture(seed)
        try:
            verdict = torture.run(arguments.steps)
            said = f"{verdict}" + ("" if verdict.is_clean() else f"\n  kept: {torture.folder}")
            clean &= verdict.is_clean()
        except AssertionError as error:
            said, clean = f"{error}", False
        print(f"seed {seed}: requests={torture.server.requests} sent_again={torture.server.repeated} {said}", flush=True)
    sys.exit(not clean)


if __name__ == "__main__":
    main()
