"""A server under load, as its clients see it: vectors by effort and clients, questions to a log, and writes.

Each round has a server of its own over an empty folder, on the machine of the clients. The tables have medians over the
rounds with least and greatest; `cpu µs` is the server's processor time for each request.

    python3 bench/serve/run.py --bin CLEW [--rounds 2] [--seconds 3] [--rows 20000] [--dims 128] [--events 100000]
"""

import argparse
import pathlib
import sys

RESULTS = pathlib.Path(__file__).parent.parent / "RESULTS.md"
sys.path.insert(0, str(RESULTS.parent))
import results  # noqa: E402
from server import Server  # noqa: E402

LATENCIES = {"qps": "QPS", "avg_ms": "avg ms", "p50_ms": "p50 ms", "p99_ms": "p99 ms"}
END = {"cpu_us": "cpu µs", "failures": "failures", "refusals": "refusals"}


def measure(given):
    found, machine = results.Rows(), {}
    common = ["--seconds", given.seconds, "--warm-up", given.warm_up]
    for _ in range(given.rounds):
        with Server(given.bin) as server:
            for what, arguments in (
                ("vectors", ["--rows", given.rows, "--dims", given.dims, "--ef-search", given.ef_search, "--concurrency", given.clients]),
                ("search", ["--rows", given.events, "--concurrency", given.clients]),
                ("search", ["--rows", given.events, "--kind", "logs", "--rate", given.rate]),
                ("bulk", ["--concurrency", given.clients]),
            ):
                machine, rows = server.load(what, *common, *arguments)
                found.add_rows(rows, load=what)
    return found, machine


def sections(found):
    load = {"documents": "documents", "seconds": "seconds", "docs_per_s": "documents/s", "cpu_us_per_document": "cpu µs a document",
            "merge_s": "merging s"}
    rows = found.named("search", load="search")
    open_loop = [row for row in rows if "rate" in row["params"]]
    closed_loop = [row for row in rows if "rate" not in row["params"]]
    return [
        "### Vectors", "", *results.table(found.named("load", load="vectors"), {"rows": "vectors", "dims": "dimensions"}, load), "",
        *results.table(found.named("search", load="vectors"), {"ef_search": "ef_search", "concurrency": "concurrency"},
                       {**LATENCIES, "recall": "recall", **END}), "",
        "### Questions to a log", "", *results.table(found.named("load", load="search"), {"rows": "events"}, load), "",
        *results.table(closed_loop, {"kind": "kind", "concurrency": "concurrency"}, {**LATENCIES, "hits": "hits", **END}), "",
        "Open loop: requests are due at a rate, and latency counts from when they were.", "",
        *results.table(open_loop, {"kind": "kind", "rate": "rate"}, {**LATENCIES, "unsent": "unsent", **END}), "",
        "### Writes", "",
        *results.table(found.named("bulk"), {"batch": "batch", "concurrency": "concurrency"},
                       {"docs_per_s": "documents/s", "mb_per_s": "MB/s", **LATENCIES, **END}),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="the release binary of clew")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement")
    parser.add_argument("--warm-up", type=float, default=0.5, help="seconds before each measurement")
    parser.add_argument("--rows", type=int, default=20_000, help="vectors")
    parser.add_argument("--dims", type=int, default=128)
    parser.add_argument("--ef-search", default="32,64,128,256")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--clients", default="1,2,4,8")
    parser.add_argument("--rate", default="100,400", help="requests a second of the open loop")
    parser.add_argument("--results", default=str(RESULTS), help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin")
    found, machine = measure(given)
    found.save(given.json, given.bin, machine)
    lines = [f"Median of {given.rounds} rounds with least and greatest, {given.seconds:g} s each, clients on the same machine.", "",
             *sections(found)]
    results.publish(given.results, "A server under load", "make bench-serve", machine, lines)


if __name__ == "__main__":
    main()
