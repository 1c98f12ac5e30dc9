"""Sends the same generated documents and requests to Clew and to a real OpenSearch, and compares the answers.

  CLEW_BIN=target/debug/clew python -m tests.differential [--seed 1] [--requests 3000] [--only aggregations] [-v]

Exit status: 0 when there is no difference but those that docs/compatibility.md names, or when there is no OpenSearch to
compare with, which is said.
"""

import argparse
import contextlib
import itertools
import json
import re
import sys
import time
from collections import Counter

from tests.opensearch.clew_server import ClewServer
from tests.real_opensearch import Missing, RealOpenSearch

from .compare import Comparison
from .corpus import documents, mapping, settings
from .dice import Dice
from .known import PAGE, known
from .requests import FAMILIES, request
from .sessions import SESSIONS
from .smaller import smaller
from .wire import Wire

INDEX = "differential"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1, help="so many seeds, each with documents of its own")
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--requests", type=int, default=3000, help="for each seed")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--only", action="append", choices=list(FAMILIES), help="families of requests; may repeat")
    parser.add_argument("--clew", help="address of a running Clew, in place of one of its own")
    parser.add_argument("--opensearch", help="address of a running OpenSearch, in place of one of its own")
    parser.add_argument("--stop-after", type=int, default=20, help="differences to show before giving up")
    parser.add_argument("-v", "--verbose", action="store_true", help="show named differences too")
    return parser.parse_args()


def fill(wire, seed, count, shards):
    """The generated documents in a fresh index of one segment a shard."""
    wire.call("DELETE", f"/{INDEX}")
    wire.need("PUT", f"/{INDEX}", {"settings": settings(shards), "mappings": mapping()})
    lines = []
    for identity, source in documents(Dice(seed), count).items():
        lines += [json.dumps({"index": {"_id": identity}}), json.dumps(source)]
    reply = wire.need("POST", f"/{INDEX}/_bulk", "\n".join(lines) + "\n")
    refused = {item["index"]["_id"]: item["index"]["error"] for item in reply["items"] if "error" in item["index"]}
    wire.need("POST", f"/{INDEX}/_forcemerge?max_num_segments=1")
    wire.need("POST", f"/{INDEX}/_refresh")
    return refused


class Pair:
    """The two servers."""

    def __init__(self, clew, opensearch):
        self.clew, self.opensearch = Wire(clew), Wire(opensearch)

    def session(self, name, seed):
        """The differences of requests that follow from one another."""
        runs = [SESSIONS[name](wire, Dice(seed)) for wire in (self.clew, self.opensearch)]
        for step, answers in enumerate(itertools.zip_longest(*runs, fillvalue=(0, {}))):
            found = Comparison({}).answers(*answers)
            if found:
                return [f"step {step} {line}" if line.startswith("hit") else line for line in found]
        return []

    def differences(self, endpoint, body):
        if endpoint == "session":
            return self.session(body["session"], body["seed"])
        path = f"/{INDEX}/_{endpoint}"
        answers = [wire.call("POST", path, body) for wire in (self.clew, self.opensearch)]
        return Comparison(body).answers(*answers)


def run_seed(pair, seed, args):
    """The differences of one seed: those that are named, by their reason, and the others."""
    refused = [fill(wire, seed, args.documents, args.shards) for wire in (pair.clew, pair.opensearch)]
    unknown, named = [], Counter()
    for identity in sorted(refused[0].keys() ^ refused[1].keys()):
        unknown.append(("document", {}, [f"{identity}: {refused[0].get(identity)}, OpenSearch {refused[1].get(identity)}"]))
        show(f"seed {seed}, document", identity, unknown[-1][2])
    dice = Dice(seed)
    for _ in range(args.requests):
        family, endpoint, body = request(dice, args.only)
        found = pair.differences(endpoint, body)
        if not found:
            continue
        small = body if endpoint == "session" else smaller(body, lambda less: sort_of(pair.differences(endpoint, less)) == sort_of(found))
        found = pair.differences(endpoint, small) or found
        why = known(family, small, found)
        if why:
            named[why] += 1
        else:
            unknown.append((family, small, found))
            show(f"seed {seed}, {family}", small, found)
        if len(unknown) >= args.stop_after:
            break
    return unknown, named


def sort_of(found):
    """What a smaller request must still show: the same kind of difference, not another one."""
    if not found:
        return None
    kind = found[0].split(":")[0].split("/")[0].split(" ")[0]
    # An error is told apart from others by its status and its types.
    return (kind, *re.findall(r"\b[45]\d\d\b|\w+_exception", found[0])) if kind in ("status", "error", "shards") else kind


def show(where, body, found):
    print(f"{where}: {json.dumps(body, ensure_ascii=False)}")
    for line in found[:3]:
        print(f"    {line}")


def main():
    args = arguments()
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        try:
            opensearch = args.opensearch or stack.enter_context(RealOpenSearch()).url
        except Missing as missing:
            print(f"skipped: {missing}")
            return 0
        clew = args.clew or stack.enter_context(ClewServer()).url
        unknown, named = 0, Counter()
        for seed in range(args.seed, args.seed + args.seeds):
            found, of_seed = run_seed(Pair(clew, opensearch), seed, args)
            unknown += len(found)
            named += of_seed
    for why, count in named.most_common() if args.verbose else ():
        print(f"{count} times as {PAGE.name} says: {why}")
    print(f"{args.seeds * args.requests} requests in {time.monotonic() - started:.0f} s: {unknown} differences, "
          f"{sum(named.values())} that {PAGE.name} names")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
