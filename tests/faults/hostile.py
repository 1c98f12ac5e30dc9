"""Hostile requests beside well-behaved clients: the process lives within its memory, answers every request in
time, and its neighbours notice little.

    python -m tests.faults hostile --rounds 10 --seed 1     (a round is a second of each attack)
"""

import itertools
import os
import threading
import time
from collections import Counter

from .attacks import ATTACKS, judged
from .base import eventually
from .cgroup import MemoryGroup
from .checks import Wrong
from .client import Unanswered
from .corpus import Flat, State
from .missing import Missing
from .neighbours import Neighbours
from .server import Server, folder

ATTACKERS = 6
ATTACKER_NICENESS = 10
ANSWER_SECONDS_MAX = 60
MEMORY_BYTES_MAX = 1 << 30
SLOWER_MAX = 3
EXPECTED = {200, 201, 400, 403, 404, 405, 406, 408, 409, 411, 413, 414, 415, 429, 431, 503}


class Siege:
    """A server with some documents, its neighbours, and one attack after the other."""

    def __init__(self, clients, documents, group=None):
        self.server = Server(folder(memory=False), group=group)
        self.server.own_data = True
        self.clients, self.documents = clients, documents
        self.answers = {}
        self.times = {}
        self.slow = []

    def __enter__(self):
        self.server.start()
        with self.server.client() as client:
            client.done("PUT", "/quiet", {"settings": {"number_of_shards": 2}, "mappings": Flat.mapping})
            for start in range(0, self.documents, 2_000):
                lines = []
                for n in range(start, min(start + 2_000, self.documents)):
                    identity, mark = f"0-{n}", n * 7919
                    lines += [{"index": {"_index": "quiet", "_id": identity}}, Flat.source(identity, State(mark, mark))]
                client.done("POST", "/_bulk", lines)
            client.done("PUT", "/long", {"mappings": {"properties": {"text": {"type": "text"}}}})
            for n in range(3):
                text = " ".join(f"w{word % 1000}" for word in range(150_000 << n))
                client.done("PUT", f"/long/_doc/{n}", {"text": text})
            client.done("POST", "/_refresh")
            client.done("POST", "/quiet/_flush")
        self.neighbours = Neighbours(self.server.address, self.clients).__enter__()
        return self

    def __exit__(self, *_):
        self.neighbours.__exit__()
        self.server.__exit__()

    def quiet(self, seconds):
        """Nobody attacks."""
        started = time.monotonic()
        threading.Event().wait(seconds)  # The measured time, not a wait for something.
        self.times["quiet"] = (started, time.monotonic())

    def attack(self, name, seconds):
        """The attackers do all things of one kind over and over for some time."""
        answers = self.answers[name] = Counter()
        started = time.monotonic()
        threads = [threading.Thread(target=self.attacker, args=(name, n, started + seconds, answers), daemon=True)
                   for n in range(ATTACKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + 4 * ANSWER_SECONDS_MAX)
        self.times[name] = (started, time.monotonic())
        if not self.server.alive():
            raise Wrong(f"the server died of {name}: {dict(answers)}\n{self.server.log_tail()}")
        eventually(self.answers_again, f"an answer after {name}", ANSWER_SECONDS_MAX)

    def attacker(self, name, number, until, answers):
        # As if on another machine: what making its requests costs is not taken from the server and the neighbours.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), ATTACKER_NICENESS)
        things = list(ATTACKS[name]())
        things = itertools.cycle(things[number % len(things):] + things[: number % len(things)])
        with self.server.client(timeout=ANSWER_SECONDS_MAX) as client:
            while time.monotonic() < until and self.server.alive():
                try:
                    reply, seconds = judged(client, next(things))
                    answers[reply.status if reply is not None else "sent"] += 1
                    if reply is not None and (reply.status not in EXPECTED or "panic" in reply.text[:5000]):
                        self.slow.append(f"{name}: {reply!r}")
                except Unanswered as error:
                    answers["closed" if "imed out" not in str(error) else "no answer"] += 1
                    if "imed out" in str(error):
                        self.slow.append(f"{name}: no answer in {ANSWER_SECONDS_MAX} s: {str(error)[:300]}")
                except OSError:
                    answers["closed"] += 1

    def answers_again(self):
        with self.server.client(timeout=ANSWER_SECONDS_MAX) as client:
            try:
                return client.get("/quiet/_search?size=1").ok
            except Unanswered:
                return False

    def lines(self):
        """What the neighbours saw, and what the attackers were told."""
        for name, span in self.times.items():
            yield f"{name:12} {self.neighbours.between(*span)}"
            if name in self.answers:
                yield f"{'':12} attackers: {dict(self.answers[name])}"

    def broken(self, p99_ms_floor=0):
        """Promises that were not kept: a neighbour's search takes at most three times as long as when all is quiet and a
        process that only answers takes on this machine meanwhile, together."""
        found = [*dict.fromkeys(self.slow)]
        found += [f"panic: {line}" for line in self.server.panics()]
        quiet_ms = self.neighbours.between(*self.times["quiet"]).quantile_ms(0.99)
        for name, span in self.times.items():
            seen = self.neighbours.between(*span)
            if seen.unanswered or seen.wrong:
                found.append(f"{name}: {seen.unanswered} searches of neighbours unanswered, {seen.wrong} wrong")
            p99_max = max(p99_ms_floor, SLOWER_MAX * (quiet_ms + seen.echo_ms(0.99)))
            if seen.quantile_ms(0.99) > p99_max:
                found.append(f"{name}: p99 {seen.quantile_ms(0.99):.0f} ms, at most {p99_max:.0f} ms are promised")
        return found


def run(arguments):
    """The long form, in a bounded memory where that can be had."""
    try:
        group = MemoryGroup(MEMORY_BYTES_MAX).__enter__()
    except Missing as missing:
        print(f"without a bound of memory: {missing}")
        group = None
    try:
        siege(arguments.rounds, group)
    finally:
        if group:
            group.__exit__()


def siege(seconds, group):
    with Siege(clients=50, documents=50_000, group=group) as siege:
        siege.quiet(max(5, seconds))
        for name in ATTACKS:
            siege.attack(name, seconds)
        siege.neighbours.stop()
        print("\n".join(siege.lines()))
        if group:
            print(f"peak memory {group.peak_bytes() >> 20} MiB of {group.bytes_max >> 20}, page cache included")
        broken = siege.broken()
        siege.server.kill()
    if broken:
        raise Wrong("\n".join(broken))
