"""Memory is a budget: a server in a control group of 512 MiB, and for each family of what takes memory some clients
that want much more of it at once. The kernel must not end it, and a client that behaves is answered meanwhile.

    python -m tests.faults memory --rounds 2     (a round is one request of each client in each attack)

`CLEW_MEMORY_ATTACKS=hits,bulks` picks some of the attacks."""

import os
import shutil
import threading
import time
from collections import Counter

from . import grpc_calls, large
from .cgroup import MemoryGroup
from .checks import Wrong
from .client import Client, Unanswered
from .server import Server, folder

CAP_BYTES = 512 << 20
# What the allocator and pages of files may have beside what is booked: a server that comes closer to its bound
# lives by luck.
ANON_BYTES_MAX = CAP_BYTES * 9 // 10
ANSWER_SECONDS_MAX = 300
LOOK_EVERY_S = 0.02
# Statuses of requests that were done, or refused by name.
EXPECTED = {200, 201, 400, 404, 409, 413, 429}


class Attacker:
    """What `large` calls a client: a connection to the REST API, and the address of the log's service."""

    def __init__(self, server):
        self.client, self.address, self.grpc = server.client(ANSWER_SECONDS_MAX), server.address, server.grpc
        self.timeout = ANSWER_SECONDS_MAX
        for name in ("request", "get", "put", "post", "delete"):
            setattr(self, name, getattr(self.client, name))


class Assault:
    """One attack on a server of its own, over a folder that is there already."""

    def __init__(self, name, data, rounds, clients=None):
        self.name, self.rounds = name, rounds
        self.clients, self.things = large.ATTACKS[name]
        self.clients = clients or self.clients
        self.group = MemoryGroup(CAP_BYTES)
        self.data = data
        self.answers, self.reasons, self.beside = Counter(), {}, []
        self.anon_peak = self.began_at = self.anon_after = 0
        self.over = threading.Event()

    def run(self):
        with self.group as group, Server(self.data, group=group) as server:
            self.server = server
            self.began_at = self.anon_bytes()
            beside = [threading.Thread(target=self.behave), threading.Thread(target=self.look)]
            attackers = [threading.Thread(target=self.attack, args=(n,)) for n in range(self.clients)]
            started = time.monotonic()
            for thread in [*beside, *attackers]:
                thread.start()
            for thread in attackers:
                thread.join()
            self.seconds = time.monotonic() - started
            self.over.set()
            for thread in beside:
                thread.join()
            self.lives = server.alive()
            self.kills = group.kills()
            self.anon_after = self.anon_bytes()
            self.panics = server.panics()
            grpc_calls.KEPT.clear()
        return self

    def attack(self, number):
        things = self.things()
        attacker = Attacker(self.server)
        for round_number in range(self.rounds):
            if not self.server.alive():
                return
            act = things[(number + round_number * 7) % len(things)]
            try:
                reply = act(attacker)
            except Unanswered as error:
                self.answers["no answer" if "imed out" in str(error) else "closed"] += 1
                continue
            except OSError:
                self.answers["closed"] += 1
                continue
            said = getattr(reply, "status", reply)
            self.answers[said] += 1
            if isinstance(said, int) and said >= 300:
                self.reasons.setdefault(said, reply.raw[:300].decode(errors="replace"))
        attacker.client.close()

    def behave(self):
        """A client that wants little, and should get it."""
        with self.server.client(timeout=60) as client:
            number = 0
            while not self.over.is_set() and self.server.alive():
                number += 1
                started = time.monotonic()
                try:
                    if number % 2:
                        status = client.post("/quiet/_doc", {"a": number}).status
                    else:
                        status = client.post("/quiet/_search?ignore_unavailable=true", {"size": 3}).status
                except Unanswered:
                    status = 0
                self.beside.append((status, time.monotonic() - started))
                self.over.wait(0.05)

    def look(self):
        while not self.over.wait(LOOK_EVERY_S):
            self.anon_peak = max(self.anon_peak, self.anon_bytes())

    def anon_bytes(self):
        """Memory of the process that is no page of a file."""
        try:
            with open(f"/proc/{self.server.process.pid}/status") as lines:
                found = [line for line in lines if line.startswith("RssAnon:")]
            return int(found[0].split()[1]) << 10 if found else 0
        except (OSError, AttributeError):
            return 0

    def line(self):
        took = sorted(seconds for _, seconds in self.beside) or [0.0]
        refused = Counter(status for status, _ in self.beside if status >= 300 or status == 0)
        mib = lambda count: count >> 20
        end = "lives" if self.lives and not self.kills else "KILLED"
        answers = ", ".join(f"{status}: {count}" for status, count in sorted(self.answers.items(), key=str))
        return (f"{self.name:18} {self.clients:3} clients {self.seconds:6.1f} s  {end}  own memory {mib(self.began_at)} -> "
                f"peak {mib(self.anon_peak)} -> {mib(self.anon_after)} MiB  answers {{{answers}}}  "
                f"beside: {len(self.beside)}, slowest {took[-1] * 1e3:.0f} ms, refused {dict(refused)}")

    def broken(self):
        found = list(self.panics)
        if self.kills or not self.lives:
            found.append("the process was ended")
        elif self.anon_peak > ANON_BYTES_MAX:
            found.append(f"it had {self.anon_peak >> 20} MiB of {CAP_BYTES >> 20}")
        if any(status == 0 or status >= 300 for status, _ in self.beside):
            found.append("a client that behaves was refused, or not answered")
        odd = [status for status in self.answers if isinstance(status, int) and status not in EXPECTED]
        found += [f"{status}: {self.reasons.get(status)}" for status in odd]
        if self.answers["no answer"] or (self.answers["closed"] and self.lives and "slow" not in self.name):
            found.append(f"requests without an answer: {dict(self.answers)}")
        return [f"{self.name}: {what}" for what in found]


def prepared():
    """A folder with what the attacks read, made without a bound of memory. On disk: what lies in memory counts."""
    data = folder(memory=False)
    with Server(data) as server, server.client(timeout=600) as client:
        large.fill(client)
        with Client(server.grpc, 600) as milvus:
            large.fill_milvus(milvus)
        client.done("POST", "/quiet/_doc?refresh", {"a": 0})
        server.stop()
    return data


def run(arguments):
    with MemoryGroup(CAP_BYTES):
        pass  # Says why, where there are none.
    picked = os.environ.get("CLEW_MEMORY_ATTACKS", "")
    names = [name.strip() for name in picked.split(",") if name.strip()] or list(large.ATTACKS)
    data = prepared()
    broken = []
    try:
        for name in names:
            assault = Assault(name, data, arguments.rounds).run()
            print(assault.line(), flush=True)
            for status, reason in sorted(assault.reasons.items()):
                print(f"{'':20} {status}: {reason}", flush=True)
            broken += assault.broken()
    finally:
        shutil.rmtree(data, ignore_errors=True)
        data.with_name(data.name + ".log").unlink(missing_ok=True)
    if broken:
        raise Wrong("\n".join(broken))
