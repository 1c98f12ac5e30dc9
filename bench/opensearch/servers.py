"""The two servers as processes of their own, and what they cost: CPU, memory, files."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "bench"))
import results  # noqa: E402
from server import Client, Server  # noqa: E402

results.need("opensearchpy")
from tests.real_opensearch import RealOpenSearch  # noqa: E402

START_SECONDS_MAX = 300


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


class Clew(Server):
    """The release binary on one CPU."""

    def __init__(self, binary, cpu, name="Clew"):
        super().__init__(binary, under=("taskset", "-c", cpu))
        self.name = name
        self.start()

    def version(self):
        return subprocess.run([self.binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()

    def files_bytes(self):
        return size_of(self.data)


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
