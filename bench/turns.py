"""Two builds of Clew in turns, old, new, new, old, and what of their difference is more than chance.

Everything behind `--` is handed to `clew bench`, which has to know `--json`; each turn is a sample. With `serve` in front of
it, each turn has a server of its own, of the same build.

    python3 bench/turns.py --old OLD --new NEW [--rounds 4] [--json FILE] -- vectors --base b.npy --queries q.npy --truth t.npy
    python3 bench/turns.py --old OLD --new NEW -- serve search --rows 20000 --concurrency 1 --seconds 2
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "serve"))
from server import Server  # noqa: E402


def turn(binary, arguments, out):
    """One run of one build."""
    if arguments[0] == "serve":
        with Server(binary) as server:
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
    parser.add_argument("--json", help="also write the comparison here")
    given = parser.parse_args(own)
    if not arguments:
        parser.error("behind `--`, what `clew bench` is to measure is wanted")
    with tempfile.TemporaryDirectory(prefix="clew-turns-") as folder:
        files = {"old": [], "new": []}
        for number in range(given.rounds):
            for side in ("old", "new") if number % 2 == 0 else ("new", "old"):
                out = f"{folder}/{side}-{number}.json"
                print(f"turn {number + 1}: {side}", file=sys.stderr, flush=True)
                turn(getattr(given, side), arguments, out)
                files[side].append(out)
        command = [given.new, "bench", "compare", "--old", *files["old"], "--new", *files["new"]]
        subprocess.run(command + (["--json", given.json] if given.json else []), check=True)


if __name__ == "__main__":
    main()
