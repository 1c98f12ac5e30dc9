"""A server of Clew's own over an empty folder, and `clew bench serve` against it."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

START = ["--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]


class Server:
    """A context manager; `under` is a command that runs the server, such as a tool that counts, `beside` one that runs its
    clients, `env` adds variables, `errors` is where what it complains of goes."""

    def __init__(self, binary, under=(), beside=(), env=None, errors=subprocess.DEVNULL):
        self.binary, self.under, self.beside, self.env, self.errors = str(binary), under, beside, env or {}, errors

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clew-bench-"))
        command = [*self.under, self.binary, "serve", "--data", str(self.folder / "data"), *START]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors,
                                        env={**os.environ, **self.env})
        listening = json.loads(self.process.stdout.readline())["listening"]
        self.address, self.grpc = listening["http"], listening["grpc"]
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            # A tool writes what it has counted first, which takes callgrind a minute for this program.
            self.process.wait(600 if self.under else 60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def load(self, what, *arguments, milvus=False):
        """Machine and rows of one `clew bench serve`, over Milvus' gRPC if that is said; its table is shown as it comes."""
        out = self.folder / "rows.json"
        where = ["--milvus-grpc", f"http://{self.grpc}"] if milvus else ["--url", f"http://{self.address}"]
        command = [*self.beside, self.binary, "bench", "serve", what, *where, "--pid", str(self.process.pid), "--replace",
                   "--json", str(out), *map(str, arguments)]
        print("clew bench serve", what, *arguments, flush=True)
        subprocess.run(command, check=True)
        document = json.loads(out.read_text())
        return document["machine"], document["rows"]
