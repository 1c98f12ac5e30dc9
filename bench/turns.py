"""Two builds of Clew, or one with two configurations, in turns, old, new, new, old, and what of their difference is more than chance.

Everything behind `--` is handed to `clew bench`, which has to know `--json`; each turn is a sample. With `serve` in front of
it, each turn has a server of its own, of the same build.

    python3 bench/turns.py --old OLD --new NEW [--rounds 4] [--json FILE] -- vectors --base b.npy --queries q.npy --truth t.npy
    python3 bench/turns.py --old OLD --new NEW -- serve search --rows 20000 --concurrency 1 --seconds 2
    python3 bench/turns.py --old BIN --new BIN --new-env CLEW_TRACING__OTLP__ENDPOINT={receiver} \
        --new-env CLEW_TRACING__OTLP__PROTOCOL=http/protobuf -- serve search --concurrency 1

`{receiver}` in a value is the address of a receiver of spans that reads past what it gets.
"""

import argparse
import http.server
import subprocess
import sys
import tempfile
import threading

import results
from server import Server


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes whatever is sent."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def turn(binary, arguments, out, env=None):
    """One run of one build."""
    if arguments[0] == "serve":
        with Server(binary, env=env) as server:
            where = ["--url", f"http://{server.address}", "--pid", str(server.process.pid)]
            subprocess.run([binary, "bench", *arguments, *where, "--json", out], check=True, stdout=subprocess.DEVNULL)
    else:
        subprocess.run([binary, "bench", *arguments, "--json", out], check=True, stdout=subprocess.DEVNULL)


def main():
    own, arguments = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, arguments = own[:at], own[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, help="the binary before")
    parser.add_argument("--new", required=True, help="the binary after, which compares")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each")
    for side in ("old", "new"):
        parser.add_argument(f"--{side}-env", metavar="NAME=VALUE", action="append", default=[], help=f"configuration of the {side} one's servers")
    parser.add_argument("--json", help="also write the comparison here")
    given = results.given(parser, "old", "new", arguments=own)
    if not arguments:
        parser.error("behind `--`, what `clew bench` is to measure is wanted")
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{receiver.server_port}"
    env = lambda side: dict(pair.replace("{receiver}", address).split("=", 1) for pair in getattr(given, f"{side}_env"))
    with tempfile.TemporaryDirectory(prefix="clew-turns-") as folder:
        files = {"old": [], "new": []}
        for number in range(given.rounds):
            for side in ("old", "new") if number % 2 == 0 else ("new", "old"):
                out = f"{folder}/{side}-{number}.json"
                print(f"turn {number + 1}: {side}", file=sys.stderr, flush=True)
                turn(getattr(given, side), arguments, out, env(side))
                files[side].append(out)
        command = [given.new, "bench", "compare", "--old", *files["old"], "--new", *files["new"]]
        subprocess.run(command + (["--json", given.json] if given.json else []), check=True)


if __name__ == "__main__":
    main()
