"""The rotation table: a log at a steady rate, rotated every so often, with and without SIGKILL of the collector.

    CLEW_BIN=target/release/clew python -m tests.collect.rotation [--rate 10000] [--seconds 12] [--every 1.5]

Exit status 0 when no cell lost or duplicated a line.
"""

import argparse
import itertools
import pathlib
import sys
import tempfile
import time

from .bulk_server import BulkServer
from .collector import Collector
from .rotated_log import RotatedLog
from .verdict import Verdict

CELLS = list(itertools.product(("glob", "exact"), ("rename", "copytruncate"), (False, True)))


def cell(path, way, kill, write_between_rotations, rotations):
    """One cell: `write_between_rotations(log)` is called before each rotation and once after the last."""
    with tempfile.TemporaryDirectory(prefix="clew-rotation-") as folder, BulkServer() as server:
        logs = pathlib.Path(folder, "logs")
        logs.mkdir()
        log = RotatedLog(logs / "app.log")
        asked = logs / ("app.log*" if path == "glob" else "app.log")
        with Collector([asked], server.url, pathlib.Path(folder, "registry")) as collector:
            # What was rotated away before an exact path was first read is not what it asks for.
            log.write(1)
            if not server.wait_for(1):
                raise AssertionError("the collector sends nothing")
            for number in range(rotations + 1):
                write_between_rotations(log)
                if number == rotations // 2 and kill:
                    collector.kill()
                if number < rotations:
                    getattr(log, way)()
                if number == rotations // 2 and kill:
                    log.write(50)
                    collector.start()
            server.wait_for(log.written)
            collector.stop()
            collector.once()
        log.close()
        return Verdict(server, [log]), server


def paced(rate, seconds):
    """Writes at a rate, a hundredth of a second's lines at a time."""
    def write(log):
        start = time.monotonic()
        for slot in range(int(seconds * 100)):
            log.write(rate // 100)
            time.sleep(max(0.0, start + (slot + 1) / 100 - time.monotonic()))
    return write


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=10_000, help="lines a second")
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--every", type=float, default=1.5, help="seconds between rotations")
    arguments = parser.parse_args()
    write = paced(arguments.rate, arguments.every)
    clean = True
    for path, way, kill in CELLS:
        verdict, server = cell(path, way, kill, write, int(arguments.seconds / arguments.every) - 1)
        clean &= verdict.is_clean()
        print(f"{path:5} {way:12} kill={int(kill)} sent_again={server.repeated} {verdict}", flush=True)
    sys.exit(not clean)


if __name__ == "__main__":
    main()
