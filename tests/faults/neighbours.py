"""Well-behaved clients, in a process of their own so that their clock is not held up by the attackers:
each searches at its own pace, and every answer's time and status are kept. Beside each search they ask a process that
does nothing but answer: what it takes is what the machine takes, whoever serves."""

import asyncio
import json
import pickle
import random
import subprocess
import sys
import threading
import time

PAUSE_S = 0.4
GIVE_UP_S = 90
# Statuses that say by name that the server has enough to do.
BUSY = (429, 503)


def question(chance):
    """A small search, its kind by chance."""
    n = chance.randrange(1000)
    return chance.choice([
        {"query": {"match": {"words": f"w{n % 127} common"}}, "size": 5},
        {"query": {"term": {"tag": f"t{n % 17}"}}, "sort": ["mark"], "size": 5},
        {"size": 0, "aggs": {"tags": {"terms": {"field": "tag"}}}},
        {"query": {"bool": {"filter": [{"range": {"mark": {"gte": n << 20}}}]}}, "size": 5},
    ])


async def echo(reader, writer):
    while word := await reader.read(16):
        writer.write(word)
    writer.close()


async def serve_echo():
    """Tells its port and serves until it is killed."""
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def one_client(host, port, echo_port, number, until, seen):
    """Searches until the time is over; reconnects when its connection was closed."""
    chance = random.Random(number)
    reader = writer = None
    echo_reader, echo_writer = await asyncio.open_connection("127.0.0.1", echo_port)
    await asyncio.sleep(chance.random() * PAUSE_S)
    while time.monotonic() < until():
        body = json.dumps(question(chance)).encode()
        head = (f"POST /quiet/_search HTTP/1.1\r\nHost: localhost:{port}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        started = time.monotonic()
        try:
            if writer is None:
                reader, writer = await asyncio.wait_for(asyncio.open_connection(host, port), GIVE_UP_S)
            writer.write(head.encode() + body)
            status = await asyncio.wait_for(read_reply(reader), GIVE_UP_S)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError):
            status = 0
            if writer:
                writer.close()
            writer = None
        answered = time.monotonic()
        echo_writer.write(b"?")
        await echo_reader.readexactly(1)
        seen.append((started, answered - started, status, time.monotonic() - answered))
        await asyncio.sleep(PAUSE_S * chance.uniform(0.5, 1.5))
    for open_writer in filter(None, (writer, echo_writer)):
        open_writer.close()


async def read_reply(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                  if line.startswith(b"content-length:"))
    await reader.readexactly(length)
    return status


async def all_clients(address, echo_port, clients):
    """Searches until its input ends; then it writes what the clients have seen."""
    host, port = address.rsplit(":", 1)
    seen, end = [], threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), end.set()), daemon=True).start()
    until = lambda: time.monotonic() + 1 if not end.is_set() else 0
    await asyncio.gather(*(one_client(host, int(port), int(echo_port), n, until, seen) for n in range(int(clients))))
    pickle.dump(seen, sys.stdout.buffer)


def own_process(*words):
    """A process of this file, which does what the words say."""
    return subprocess.Popen([sys.executable, __file__, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class Neighbours:
    """The clients' process; a context manager. After `stop`, `between` tells what they saw."""

    def __init__(self, address, clients):
        self.address, self.clients = address, clients
        self.processes = []
        self.seen = []

    def __enter__(self):
        echoing = own_process("echo")
        self.processes.append(echoing)
        port = echoing.stdout.readline().decode().strip()
        if not port:
            raise RuntimeError("the echo process did not start")
        self.processes.append(own_process("search", self.address, port, str(self.clients)))
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.communicate()

    def stop(self):
        told, _ = self.processes[-1].communicate(timeout=2 * GIVE_UP_S)
        self.seen = pickle.loads(told)

    def between(self, start, end):
        """Of the requests begun between two times: sorted seconds of the answered ones, and how many were
        told to come back, went unanswered, or failed otherwise."""
        seen = [(took, status, echo) for at, took, status, echo in self.seen if start <= at < end]
        return Seen(
            sorted(took for took, status, _ in seen if 200 <= status < 300),
            sum(status in BUSY for _, status, _ in seen),
            sum(status == 0 for _, status, _ in seen),
            sum(status not in BUSY and status >= 300 for _, status, _ in seen),
            sorted(echo for *_, echo in seen),
        )


class Seen:
    """What well-behaved clients saw in some time."""

    def __init__(self, seconds, busy, unanswered, wrong, echo):
        self.seconds, self.busy, self.unanswered, self.wrong, self.echo = seconds, busy, unanswered, wrong, echo

    def quantile_ms(self, share):
        return quantile_ms(self.seconds, share)

    def echo_ms(self, share):
        """The same of the process that only answers."""
        return quantile_ms(self.echo, share)

    def __str__(self):
        return (f"{len(self.seconds):6} answered, p50 {self.quantile_ms(0.5):7.1f} ms, p99 {self.quantile_ms(0.99):7.1f} ms, "
                f"max {self.quantile_ms(1):7.1f} ms, an echo p99 {self.echo_ms(0.99):5.1f} ms, {self.busy} refused as busy, {self.unanswered} unanswered, "
                f"{self.wrong} wrong")


def quantile_ms(seconds, share):
    if not seconds:
        return float("nan")
    return 1e3 * seconds[min(len(seconds) - 1, int(share * len(seconds)))]


if __name__ == "__main__":
    what, *said = sys.argv[1:]
    asyncio.run(serve_echo() if what == "echo" else all_clients(*said))
