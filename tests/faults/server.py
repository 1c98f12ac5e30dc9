"""The real binary as the thing under attack: any folder, environment, preloaded library, limits.

Unlike `opensearch.clew_server`, which wants a server that is well, this one may refuse to start, die by
itself or be unwell, and says which."""

import atexit
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time
import weakref

from tests.opensearch.data_folder import data_folder

from .client import Client

START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 120
# What the log has where a stop has waited for its whole grace period, and then ended what was still open.
CUT_OFF = "were cut off"
RUNNING = weakref.WeakSet()


@atexit.register
def kill_all():
    """No server outlives the tests that started it."""
    for server in list(RUNNING):
        server.kill()


class DidNotStart(Exception):
    """The process ended, or said nothing, before it listened; the message is the end of its log."""


def binary():
    path = os.environ.get("CLEW_BIN")
    if not path:
        raise RuntimeError("CLEW_BIN must name the clew binary")
    return path


def folder(memory=True):
    """A new folder, in memory unless told otherwise."""
    return data_folder("clew-faults-", memory)


class Server:
    """One process over one data folder; a context manager that starts it and ends it.

    `env` is configuration (`CLEW_ENGINE__LOG_BYTES_MAX`), `preload` a library for the dynamic linker,
    `group` a `MemoryGroup`, `files_max` the limit of open files."""

    def __init__(self, data=None, env=None, preload=None, group=None, files_max=None):
        self.own_data = data is None
        self.data = pathlib.Path(data) if data else folder()
        self.env = dict(env or {})
        self.preload, self.group, self.files_max = preload, group, files_max
        self.log_path = self.data.with_name(self.data.name + ".log")
        self.process = self.address = self.grpc = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
        if self.own_data:
            shutil.rmtree(self.data, ignore_errors=True)
            self.log_path.unlink(missing_ok=True)

    def command(self):
        before = self.group.command() if self.group else []
        if self.files_max:
            before = [*before, "prlimit", f"--nofile={self.files_max}:{self.files_max}"]
        return [*before, binary(), "serve", "--data", str(self.data),
                "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]

    def launch(self):
        """Starts the process and does not wait for it."""
        outside = {k: v for k, v in os.environ.items() if not k.startswith("CLEW_")}
        env = {**outside, **self.env}
        if self.preload:
            env["LD_PRELOAD"] = str(self.preload)
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=self.log, env=env)
        RUNNING.add(self)
        return self

    def start(self, seconds_max=START_SECONDS_MAX):
        """Starts the process and waits until it listens, however well it is."""
        self.launch()
        return self.await_address(seconds_max)

    def await_address(self, seconds_max=START_SECONDS_MAX):
        """Waits for the line that says where the server listens."""
        deadline = time.monotonic() + seconds_max
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not part:
                why = "it ended" if ready else f"it said nothing for {seconds_max} s"
                self.kill()
                raise DidNotStart(f"{why}:\n{self.log_tail()}")
            line += part
        listening = json.loads(line)["listening"]
        self.address, self.grpc = listening["http"], listening["grpc"]
        return self

    def client(self, timeout=60):
        return Client(self.address, timeout)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """An end without warning."""
        if self.process is not None:
            self.process.kill()
            self._ended()

    def stop(self):
        """A clean stop, which must succeed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self._ended()
        if status != 0:
            raise RuntimeError(f"the server ended with status {status}:\n{self.log_tail()}")

    def pause(self):
        """Stops all of the process's threads where they are, and waits until they are."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def _ended(self):
        self.process.wait()
        self.process.stdout.close()
        self.log.close()
        self.process = None
        RUNNING.discard(self)

    def log_text(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_tail(self):
        return self.log_text()[-4000:]

    def panics(self):
        """Lines of the log that tell of a panic."""
        return [line for line in self.log_text().splitlines() if "panicked at" in line]
