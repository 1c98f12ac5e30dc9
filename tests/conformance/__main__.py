"""Runs OpenSearch's YAML REST tests, by default the listed ones against a server of its own.

  CLEW_BIN=target/release/clew python -m tests.conformance --spec FOLDER [--only PATTERN] [-v]

Exit status: 0 when every test passed but those that docs/compatibility.md names, and none of those did.
"""

import argparse
import contextlib
import json
import pathlib
import sys
import time

from tests.opensearch.clew_server import ClewServer

from .compatibility import PAGE, known, surprises
from .suite import LISTED, listed, select, run_all


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spec", required=True, type=pathlib.Path, help="folder with api/*.json and test/**.yml")
    parser.add_argument("--url", help="a running server, in place of one of its own")
    parser.add_argument("--only", action="append", default=[], help="keep tests whose name has this text or matches this glob; may repeat")
    parser.add_argument("--all", action="store_true", help=f"every test of the artifact, not only those of {LISTED.name}")
    parser.add_argument("--json", type=pathlib.Path, help="write every result here")
    parser.add_argument("--timeout", type=float, default=30, help="seconds for one test")
    parser.add_argument("-v", "--verbose", action="store_true", help="print why each test failed or was skipped")
    return parser.parse_args()


def main():
    args = arguments()
    chosen = select(args.spec, None if args.all else listed(), args.only)
    started = time.monotonic()
    server = contextlib.nullcontext() if args.url else ClewServer()
    with server:
        results = list(run_all(args.spec, args.url or server.url, chosen, args.timeout, say=print))
    if args.verbose:
        for result in results:
            if result.state != "pass":
                print(f"  {result.state.upper()} {result.name}: {result.why}")
    count = {state: sum(result.state == state for result in results) for state in ("pass", "fail", "skip")}
    took = time.monotonic() - started
    print(f"{count['pass']} passed, {count['fail']} failed, {count['skip']} skipped in {took:.0f} s")
    if args.json:
        args.json.write_text(json.dumps({"count": count, "tests": [vars(result) for result in results]}, indent=1))
    wrong = surprises(results, known())
    for line in wrong:
        print(f"{PAGE.name}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
