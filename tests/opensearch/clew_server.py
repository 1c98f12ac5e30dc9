"""Starts and stops the real binary. The server says on its standard output where it listens."""

import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import threading
import urllib.error
import urllib.request

from opensearchpy import OpenSearch

from .data_folder import data_folder

START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 120
ASKED_MAX = 10
# What the log has where a stop has waited for its whole grace period, and then ended what was still open.
CUT_OFF = "were cut off"

DEFAULTS = {
    # How full the machine's own disk is must not decide what tests see.
    "CLEW_DISK__THRESHOLD_ENABLED": "false",
    # Nor how long a busy machine holds a client up between its connection and what it sends.
    "CLEW_HTTP__HEADER_TIMEOUT_MS": "600000",
    "CLEW_HTTP__BODY_TIMEOUT_MS": "600000",
}


class ClewServer:
    """One process over one data folder; a context manager."""

    def __init__(self, data=None, env=None, arguments=()):
        self.own_data = data is None
        self.data = pathlib.Path(data) if data else data_folder("clew-test-")
        self.env = env or {}
        self.arguments = arguments
        self.process = None
        self.address = None
        self.grpc_address = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
        if self.own_data:
            shutil.rmtree(self.data, ignore_errors=True)
            self.data.with_suffix(".log").unlink(missing_ok=True)

    def start(self, healthy=True):
        """Starts the process; without `healthy` a node will do that says what is wrong with it."""
        binary = os.environ.get("CLEW_BIN")
        if not binary:
            raise RuntimeError("CLEW_BIN must name the clew binary")
        # Variables that begin so are configuration, and the caller's is not ours.
        outside = {k: v for k, v in os.environ.items() if not k.startswith("CLEW_")}
        self.log = open(self.data.with_suffix(".log"), "ab")
        self.process = subprocess.Popen(
            [binary, "serve", "--data", str(self.data),
             "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", *self.arguments],
            stdout=subprocess.PIPE,
            stderr=self.log,
            env={**outside, **DEFAULTS, **self.env},
        )
        listening = queue.Queue()
        threading.Thread(target=self._read_output, args=(listening,), daemon=True).start()
        addresses = listening.get(timeout=START_SECONDS_MAX)
        if addresses is None:
            raise RuntimeError(f"the server did not start:\n{self.log_tail()}")
        self.address, self.grpc_address = addresses["http"], addresses["grpc"]
        status, health = self.health()
        if healthy and status != 200:
            raise RuntimeError(f"the server is not healthy: {health}")
        return self

    def _read_output(self, listening):
        """Hands over the addresses and drains the rest, so that the server never blocks on it."""
        for line in self.process.stdout:
            try:
                listening.put(json.loads(line)["listening"])
            except (ValueError, KeyError, TypeError):
                continue
        listening.put(None)

    def health(self):
        """Status and body of `/_health`."""
        left = ASKED_MAX
        while True:
            left -= 1
            try:
                with urllib.request.urlopen(self.url + "/_health", timeout=START_SECONDS_MAX) as reply:
                    return reply.status, json.load(reply)
            except urllib.error.HTTPError as refused:
                return refused.code, json.load(refused)
            except (ConnectionError, urllib.error.URLError):
                # Where requests are given little time, one that came late was closed.
                if not left:
                    raise

    @property
    def url(self):
        return f"http://{self.address}"

    def client(self, **options):
        host, port = self.address.rsplit(":", 1)
        settings = {"timeout": 120, "max_retries": 0, "retry_on_timeout": False, **options}
        return OpenSearch(hosts=[{"host": host, "port": int(port)}], **settings)

    def log_tail(self):
        return self.data.with_suffix(".log").read_text(errors="replace")[-4000:]

    def stop(self):
        """A clean stop; the exit status is part of what is tested. Returns the end of the log."""
        if self.process is None:
            return ""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        tail = self.log_tail()
        self._closed()
        if status != 0:
            raise RuntimeError(f"the server ended with status {status}:\n{tail}")
        return tail

    def kill(self):
        """An end without warning."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self._closed()

    def _closed(self):
        self.process.stdout.close()
        self.log.close()
        self.process = None
        if self.own_data:
            self.data.with_suffix(".log").unlink(missing_ok=True)
