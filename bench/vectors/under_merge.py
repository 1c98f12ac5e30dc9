"""Latency of k-NN searches over HTTP while a forced merge builds a graph, beside the same searches without it.

    python bench/vectors/under_merge.py --bin target/release/clew [--set synth768] [--rows 140000] [--rounds 1]

Half of the vectors lie in a segment with a graph, half in one that is merged in. One client searches without pause.
"""

import argparse
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import results  # noqa: E402
from server import Client, Server  # noqa: E402

results.need("numpy")
import numpy as np  # noqa: E402

import datasets  # noqa: E402

RESULTS = pathlib.Path(__file__).parent.parent / "RESULTS.md"
BULK = 1000
BEFORE, MEANWHILE, AFTER = "before the merge", "during it", "after it"


def load(server, rows, first):
    for start in range(0, len(rows), BULK):
        lines = []
        for number, row in enumerate(rows[start:start + BULK], first + start):
            lines.append('{"index":{"_id":"%d"}}' % number)
            lines.append('{"e":[%s]}' % ",".join(f"{value:.5f}" for value in row))
        server.client.call("POST", "/v/_bulk", ("\n".join(lines) + "\n").encode(), "application/x-ndjson")


def search(server, bodies, is_over):
    """Milliseconds of each search until it is over."""
    took = []
    while not is_over(len(took)):
        started = time.perf_counter()
        server.client.call("POST", "/v/_search", bodies[len(took) % len(bodies)])
        took.append(1e3 * (time.perf_counter() - started))
    return took


def ended(server, task):
    """Asks five times a second whether a task has ended."""
    client, asked, over = Client(server.address), time.monotonic(), False

    def is_over(_):
        nonlocal asked, over
        if time.monotonic() - asked > 0.2:
            asked = time.monotonic()
            over = client.json("GET", f"/_tasks/{task}")["completed"]
        return over
    return is_over


def measure(binary, base, bodies, settings, searches):
    """Milliseconds of the searches before a merge, during it and after it."""
    with Server(binary) as server:
        ask = server.client.call
        ask("PUT", "/v", settings)
        half = len(base) // 2
        load(server, base[:half], 0)
        ask("POST", "/v/_forcemerge?max_num_segments=1")
        load(server, base[half:], half)
        ask("POST", "/v/_refresh")
        enough = lambda done: done >= searches
        search(server, bodies, lambda done: done >= len(bodies))
        found = {BEFORE: search(server, bodies, enough)}
        merge = server.client.json("POST", "/v/_forcemerge?max_num_segments=1&wait_for_completion=false")
        found[MEANWHILE] = search(server, bodies, ended(server, merge["task"]))
        found[AFTER] = search(server, bodies, enough)
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--set", default="synth768")
    parser.add_argument("--rows", type=int, default=140_000)
    parser.add_argument("--rounds", type=int, default=1, help="merges, each of a server of its own")
    parser.add_argument("--searches", type=int, default=4000, help="before the merge, and after it")
    parser.add_argument("--cache", default=os.environ.get("CLEW_CACHE", os.path.expanduser("~/.cache/clew")))
    parser.add_argument("--results", default=str(RESULTS), help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin")
    folder, metric = datasets.prepare(given.set, given.cache, None)
    base = np.load(folder / "base.npy", mmap_mode="r")[:given.rows]
    queries = np.load(folder / "queries.npy")[:500]
    space = {"cosine": "cosinesimil", "l2": "l2", "ip": "innerproduct"}[metric]
    field = {"type": "knn_vector", "dimension": base.shape[1], "space_type": space}
    settings = {"settings": {"index": {"knn": True, "number_of_shards": 1, "refresh_interval": "-1"}},
                "mappings": {"properties": {"e": field}}}
    clause = lambda query: {"knn": {"e": {"vector": [round(float(x), 5) for x in query], "k": 10}}}
    bodies = [json.dumps({"size": 10, "_source": False, "query": clause(query)}).encode() for query in queries]
    kept = results.Rows()
    for _ in range(given.rounds):
        for when, took in measure(given.bin, base, bodies, settings, given.searches).items():
            p50, p99 = np.percentile(took, [50, 99]) if took else (None, None)
            params = {"set": given.set, "rows": len(base), "dims": base.shape[1], "when": when}
            kept.add("search", params, {"searches": len(took), "p50_ms": p50, "p99_ms": p99})
    machine = results.machine()
    kept.save(given.json, given.bin, machine)
    lines = [f"{len(base):,} vectors of {base.shape[1]} dimensions ({given.set}), half in a segment with a graph, half in segments that are merged in; "
             f"one client searches over HTTP without pause, {given.rounds} merge{'s' if given.rounds > 1 else ''}.", "",
             *results.table(kept.named("search"), {"when": "searches"}, {"searches": "number", "p50_ms": "p50 ms", "p99_ms": "p99 ms"})]
    results.publish(given.results, "Searches during a merge", "make bench-under-merge", machine, lines)


if __name__ == "__main__":
    main()
