"""The two servers as processes of their own, and what they cost: CPU, memory, files."""

import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "bench"))
import results  # noqa: E402

results.need("opensearchpy")
from tests.real_opensearch import RealOpenSearch  # noqa: E402

START_SECONDS_MAX = 300
LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: *([0-9]+)\r\n")


class Client:
    """One connection, kept. Each request is one write, as the clients in Java, Go and Rust send it: Python's own writes
    head and body one after the other, which wakes a server twice, and its parsing takes longer than most searches."""

    def __init__(self, address):
        self.address = address

    @functools.cached_property
    def socket(self):
        """Opened with the first request: a server that stood still meanwhile closes a connection that said nothing for long."""
        host, port = self.address.rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=900)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def call(self, method, path, body=None, kind="application/json"):
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.address}\r\n"
        if body is not None:
            head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        self.socket.sendall(head.encode() + b"\r\n" + (body or b""))
        status, data = self.reply()
        if status >= 300 and not (method == "DELETE" and status == 404):
            raise RuntimeError(f"{method} {path}: {status} {data[:400]!r}")
        return data

    def reply(self):
        """Status and body; both servers say how long it is."""
        got = self.receive()
        while (end := got.find(b"\r\n\r\n")) < 0:
            got += self.receive()
        length = LENGTH.search(got, 0, end + 2)
        if not length:
            raise ConnectionError(f"a reply without a length: {got[:400]!r}")
        missing = end + 4 + int(length.group(1)) - len(got)
        parts = [got[end + 4:]]
        while missing > 0:
            parts.append(self.receive())
            missing -= len(parts[-1])
        return int(got[9:12]), b"".join(parts)

    def receive(self):
        got = self.socket.recv(1 << 16)
        if not got:
            raise ConnectionError(f"{self.address} closed the connection")
        return got

    def json(self, method, path, body=None):
        return json.loads(self.call(method, path, body))


@contextlib.contextmanager
def alone(server, servers):
    """The other servers stand still meanwhile: they share the CPU, and what they do when nobody asks is not this one's."""
    others = [other for other in servers if other is not server]
    for other in others:
        os.kill(other.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for other in others:
            os.kill(other.pid, signal.SIGCONT)


class Clew:
    """The release binary over a folder of its own."""

    def __init__(self, binary, cpu, name="Clew"):
        self.binary, self.cpu, self.name = binary, cpu, name
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-clew-"))
        self.process = None
        self.start()

    def start(self):
        outside = {k: v for k, v in os.environ.items() if not k.startswith("CLEW_")}
        self.log = open(self.folder.with_suffix(".log"), "ab")
        command = ["taskset", "-c", self.cpu, self.binary, "serve", "--data", str(self.folder / "data")]
        command += ["--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, env=outside)
        for line in self.process.stdout:
            try:
                address = json.loads(line)["listening"]["http"]
            except (ValueError, KeyError, TypeError):
                continue
            self.pid, self.client = self.process.pid, Client(address)
            return
        raise RuntimeError(f"Clew did not start: see {self.log.name}")

    def version(self):
        return subprocess.run([self.binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()

    def files_bytes(self):
        return size_of(self.folder)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        self.process.stdout.close()
        self.log.close()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.with_suffix(".log").unlink(missing_ok=True)


class Real:
    """OpenSearch as its distribution would run it, on the same CPU."""

    name = "OpenSearch"

    def __init__(self, heap, cpu):
        self.node = RealOpenSearch(heap=heap, cpus=cpu)
        self.node.own_data = False
        self.start()

    def start(self):
        self.node.start()
        self.pid, self.client = self.node.pid, Client(self.node.address)

    def version(self):
        return f"OpenSearch {self.client.json('GET', '/')['version']['number']} on Java {self.node.version}"

    def files_bytes(self):
        return size_of(self.node.run / "data")

    def stop(self):
        self.node.stop()

    def close(self):
        self.stop()
        shutil.rmtree(self.node.run, ignore_errors=True)


def size_of(folder):
    """What the files take on disk."""
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


def cpu_s(server):
    """CPU seconds of the whole process so far, its collector and compiler included, exact to the nanosecond: the kernel's
    number of another process's clock is made of its id (`clock_getcpuclockid`)."""
    return time.clock_gettime((~server.pid << 3) | 2)


def memory_mb(server):
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def restart_ms(server, path, body, wanted):
    """From the start of the process to the first right answer."""
    server.stop()
    began = time.perf_counter()
    server.start()
    while time.perf_counter() - began < START_SECONDS_MAX:
        try:
            answer = server.client.json("POST", path, body)
            if answer["hits"]["total"]["value"] == wanted:
                return (time.perf_counter() - began) * 1000
        except (RuntimeError, OSError):
            pass
        time.sleep(0.002)
    raise RuntimeError(f"{server.name} does not answer as before its restart")
