"""Servers of Clew's own for benchmarks, each over a folder of its own; a connection to one, and `clew bench serve` against it."""

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
import tempfile

START = ["--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: *([0-9]+)\r\n")
# A merge of a large index is waited for.
ANSWER_SECONDS_MAX = 3600
# Of what a server said that did not start.
SAID_LINES, SAID_CHARS, END_SECONDS_MAX = 20, 2000, 10


class Client:
    """One connection, kept. Each request is one write, as the clients in Java, Go and Rust send it: Python's own writes
    head and body one after the other, which wakes a server twice, and its parsing takes longer than most searches."""

    def __init__(self, address):
        self.address = address

    @functools.cached_property
    def socket(self):
        """Opened with the first request: a server that stood still meanwhile closes a connection that said nothing for long."""
        host, port = self.address.rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS_MAX)
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
        """Status and body; both Clew and OpenSearch say how long it is."""
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

    def json(self, method, path, body=None, kind="application/json"):
        return json.loads(self.call(method, path, body, kind))


class Server:
    """A context manager, or started and closed by hand; `under` is a command that runs the server, such as a tool that counts,
    `beside` one that runs its clients, `env` adds variables."""

    def __init__(self, binary, under=(), beside=(), env=None):
        self.binary, self.under, self.beside, self.env = str(binary), under, beside, env or {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clew-bench-"))
        self.data, self.errors = self.folder / "data", self.folder / "errors"
        self.process = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def start(self, before=None):
        """Starts over what is in the folder, and waits until it listens; `before` is called in the process that becomes it."""
        command = [*self.under, self.binary, "serve", "--data", str(self.data), *START]
        # Without the settings that a shell has for another server.
        outside = {name: value for name, value in os.environ.items() if not re.match("CLEW_.*__", name)}
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env={**outside, **self.env},
                                            preexec_fn=before)
        line = self.process.stdout.readline()
        if not line:
            # Who says nothing more is about to end.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(END_SECONDS_MAX)
            raise RuntimeError(f"{self.binary} does not start, it ended by {self.process.returncode}: {self.said()}")
        listening = json.loads(line)["listening"]
        self.address, self.grpc = listening["http"], listening["grpc"]
        self.pid, self.client = self.process.pid, Client(self.address)

    def said(self):
        """The last of what it complained of."""
        lines = self.errors.read_text(errors="replace").strip().splitlines()
        return " / ".join(lines[-SAID_LINES:])[-SAID_CHARS:]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            # A tool writes what it has counted first, which takes callgrind a minute for this program.
            self.process.wait(600 if self.under else 60)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def kill(self):
        """At once, where it has not ended yet."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def close(self):
        """Ends it, and removes its folder."""
        if self.process:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def load(self, what, *arguments, milvus=False):
        """Machine and rows of one `clew bench serve`, over Milvus' gRPC if that is said; its table is shown as it comes."""
        out = self.folder / "rows.json"
        where = ["--milvus-grpc", f"http://{self.grpc}"] if milvus else ["--url", f"http://{self.address}"]
        command = [*self.beside, self.binary, "bench", "serve", what, *where, "--pid", str(self.pid), "--replace",
                   "--json", str(out), *map(str, arguments)]
        print("clew bench serve", what, *arguments, flush=True)
        subprocess.run(command, check=True)
        document = json.loads(out.read_text())
        return document["machine"], document["rows"]
