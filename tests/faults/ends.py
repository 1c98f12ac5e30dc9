"""Every request ends: how long the server's threads go on with a heavy request after its time is up, its client has gone,
somebody has cancelled it, or the server is to stop.

    python -m tests.faults ends --rounds 3     (a round is a moment of the request's life at which it is ended)

What counts is the processor time that a thread still uses, which other load on the machine does not lengthen; the wall
clock counts less what a control thread, which only sleeps, was late.
"""

import contextlib
import os
import select
import signal
import socket
import struct
import time
from typing import NamedTuple

from .cgroup import MemoryGroup
from .checks import Wrong
from .client import Client, Unanswered
from .heavy import kinds, load, load_milvus
from .missing import Missing
from .server import Server, folder

# A request that is over by then needs no look at a token.
SHORT_SECONDS = 0.15
WHOLE_SECONDS_MAX = 6
MEMORY_BYTES_MAX = 6 << 30
GONE_SECONDS_MAX = 12
STEP_SECONDS = 0.004
# Nothing of the server may have run for so long until it counts as quiet.
QUIET_SECONDS = 0.06
# What an idle server uses: timers, the log's thread, answers to those who ask.
IDLE_SHARE = 0.1
WAYS = ("timeout", "gone", "cancel")
# Threads that work for nobody's request.
OTHERS = ("clew-merge", "clew-refresh")


class Threads:
    """The time on a processor, and waiting for one, of each thread of a process, in seconds."""

    def __init__(self, pid):
        self.path = f"/proc/{pid}/task"
        self.names, self.others = {}, set()

    def now(self):
        times = {}
        with contextlib.suppress(OSError):  # The process may have ended.
            for thread in set(os.listdir(self.path)) - self.others:
                with contextlib.suppress(OSError):  # So may a thread, meanwhile.
                    self.add(thread, times)
        return times

    def add(self, thread, times):
        if thread not in self.names:
            with open(f"{self.path}/{thread}/comm") as file:
                name = file.read().strip()
            if name.startswith(OTHERS):
                self.others.add(thread)
                return
            self.names[thread] = name
        with open(f"{self.path}/{thread}/schedstat") as file:
            ran, waited, _ = file.read().split()
        times[thread] = (int(ran) / 1e9, int(waited) / 1e9)

    def busiest(self, times, before):
        """The processor time of the thread that has used most since, and its name."""
        used = ((ran - before.get(thread, (0, 0))[0], self.names[thread]) for thread, (ran, _) in times.items())
        return max(used, default=(0, "none"))


class Overstay(NamedTuple):
    """What happened after the signal, in seconds: the busiest thread's processor time, and the wall clock's; that thread."""

    busy: float
    wall: float
    late: float
    thread: str


class Asked:
    """A request on a connection of its own, whose answer nobody has to read."""

    def __init__(self, address, kind, end=""):
        host, port = address.rsplit(":", 1)
        body = kind.bytes()
        path = kind.path + (("&" if "?" in kind.path else "?") + end if end else "")
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        head = (f"{kind.method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Opaque-Id: heavy\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        self.socket.sendall(head.encode() + body)
        self.started = time.monotonic()
        self.first = b""

    def answered(self, seconds=0):
        """Whether an answer has begun within the time."""
        ready, _, _ = select.select([self.socket], [], [], max(0, seconds))
        if ready and not self.first:
            self.first = self.socket.recv(1000)
        return bool(ready)

    @property
    def status(self):
        return int(self.first.split()[1]) if self.first else None

    def break_off(self):
        """Closes the connection so that the server sees at once that nobody is there."""
        if self.socket.fileno() < 0:
            return
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Ends:
    """A server with heavy data, and what becomes of requests that are ended."""

    def __init__(self, documents, moments, only=None):
        self.documents, self.moments, self.only = documents, moments, only
        self.group = None
        with contextlib.suppress(Missing):
            # What a request takes beyond its account must not take the machine.
            self.group = MemoryGroup(MEMORY_BYTES_MAX).__enter__()
        self.server = Server(folder(), group=self.group)
        self.server.own_data = True
        self.rows, self.broken, self.refused = [], [], []

    def __enter__(self):
        self.start()
        with self.server.client(600) as client:
            load(client, self.documents)
        if any(kind.milvus for kind in self.kinds()):
            with Client(self.server.grpc, 600) as client:
                load_milvus(client, self.documents)
        self.settle(60, seconds=1)
        return self

    def __exit__(self, *_):
        self.server.__exit__()
        if self.group:
            self.group.__exit__()

    def start(self):
        self.server.start()
        self.threads = Threads(self.server.process.pid)

    def settle(self, seconds_max, seconds=QUIET_SECONDS):
        """Waits until the server rests: how long it did not, and what its busiest thread used."""
        began = last = time.monotonic()
        first = before = self.threads.now()
        quiet_since, late = began, 0.0
        while True:
            time.sleep(STEP_SECONDS)
            # A thread that has worked for long ends with its work, and what it used still counts.
            moment, now = time.monotonic(), {**before, **self.threads.now()}
            late = max(late, moment - last - 2 * STEP_SECONDS)
            used = sum(sum(times) - sum(before.get(thread, times)) for thread, times in now.items())
            if used > IDLE_SHARE * (moment - last) + 0.0005:
                quiet_since = moment
            before, last = now, moment
            if moment - quiet_since > seconds or moment - began > seconds_max or not self.server.alive():
                busy, thread = self.threads.busiest(now, first)
                return Overstay(busy, max(0, quiet_since - began), late, thread)

    def address(self, kind):
        return self.server.grpc if kind.milvus else self.server.address

    def whole(self, kind):
        """How long the request takes when nobody ends it, and its status."""
        asked = Asked(self.address(kind), kind)
        asked.answered(WHOLE_SECONDS_MAX)
        took, status = time.monotonic() - asked.started, asked.status
        asked.break_off()
        self.settle(GONE_SECONDS_MAX)
        return took, status

    def ended(self, kind, way, after):
        """Ends a request in a way after some seconds; none if it was over before."""
        end = f"timeout={max(1, round(after * 1000))}ms" if way == "timeout" else ""
        asked = Asked(self.address(kind), kind, end)
        if asked.answered(after if way != "timeout" else 0):
            asked.break_off()
            self.settle(GONE_SECONDS_MAX)
            return None
        if way == "timeout":
            time.sleep(max(0, asked.started + after - time.monotonic()))
        elif way == "gone":
            asked.break_off()
        elif way == "cancel":
            with self.server.client() as client:
                self.cancel(client)
        elif way == "stop":
            return self.stopped(asked)
        overstay = self.settle(GONE_SECONDS_MAX)
        asked.break_off()
        with self.server.client() as client:
            if self.heavy(client):
                self.broken.append(f"{kind.name}: still among the tasks after {way}")
                self.settle(GONE_SECONDS_MAX)
        return overstay

    def stopped(self, asked):
        began, before = time.monotonic(), self.threads.now()
        self.server.process.send_signal(signal.SIGTERM)
        now = dict(before)
        while self.server.process.poll() is None and time.monotonic() - began < GONE_SECONDS_MAX:
            time.sleep(STEP_SECONDS)
            now |= self.threads.now()
        busy, thread = self.threads.busiest(now, before)
        overstay = Overstay(busy, time.monotonic() - began, 0, thread)
        asked.break_off()
        self.server.kill()
        self.start()
        self.settle(60)
        return overstay

    def heavy(self, client):
        nodes = client.done("GET", "/_tasks?detailed")["nodes"]
        tasks = [task for node in nodes.values() for task in node["tasks"].items()]
        return [name for name, task in tasks if task.get("headers", {}).get("X-Opaque-Id") == "heavy"]

    def cancel(self, client):
        for task in self.heavy(client):
            client.request("POST", f"/_tasks/{task}/_cancel")

    def measure(self, kind, ways=WAYS):
        """One row of the table."""
        try:
            return self.measured(kind, ways)
        except (OSError, Unanswered):
            if self.server.alive():
                raise
            self.broken.append(f"{kind.name}: the server has ended")
            self.server.kill()
            self.start()
            self.settle(60, seconds=1)
            return self.rows[-1]

    def measured(self, kind, ways):
        took, status = self.whole(kind)
        row = {"kind": kind.name, "status": status, "whole": took, **dict.fromkeys(ways)}
        self.rows.append(row)
        if status is not None and status >= 400:
            self.refused.append(kind.name)
        if took < SHORT_SECONDS:
            return row
        for way in ways:
            if (way == "timeout" and not kind.timed) or (way == "cancel" and kind.milvus):
                continue
            for moment in range(self.moments):
                after = min(took, 4) * (moment + 0.5) / self.moments
                overstay = self.ended(kind, way, after)
                if overstay and (row[way] is None or overstay.busy > row[way].busy):
                    row[way] = overstay
            if row[way] and row[way].busy > kind.overstay:
                self.broken.append(f"{kind.name}: {row[way].busy * 1000:.0f} ms of {row[way].thread} after {way}")
        return row

    def kinds(self):
        chosen = kinds(self.documents)
        return [kind for kind in chosen if self.only is None or any(part in kind.name for part in self.only)]

    def lines(self):
        ways = [name for name in self.rows[0] if name not in ("kind", "status", "whole")] if self.rows else []
        yield f"{'kind':32} {'status':>6} {'whole s':>8} " + " ".join(f"{way:>13}" for way in ways) + "   (busy/wall ms)"
        for row in self.rows:
            yield line(row, ways)


def line(row, ways):
    cells = [f"{row[way].busy * 1000:.0f}/{row[way].wall * 1000:.0f}" if row[way] else "-" for way in ways]
    status = row["status"] or "..."
    short = "  short" if row["whole"] < SHORT_SECONDS else ""
    return f"{row['kind']:32} {status:>6} {row['whole']:8.2f} " + " ".join(f"{cell:>13}" for cell in cells) + short


def run(arguments):
    """The scene; `rounds` is how many moments of each request's life are tried."""
    only = os.environ.get("ENDS_KINDS")
    documents = int(os.environ.get("ENDS_DOCUMENTS", 100_000))
    ways = tuple(os.environ.get("ENDS_WAYS", "timeout,gone,cancel").split(","))
    with Ends(documents, arguments.rounds, only.split(",") if only else None) as ends:
        print("loaded", flush=True)
        for kind in ends.kinds():
            row = ends.measure(kind, ways)
            print(line(row, ways), flush=True)
        if ends.broken:
            raise Wrong("requests overstay:\n" + "\n".join(ends.broken))
