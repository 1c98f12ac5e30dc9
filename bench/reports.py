"""The five reports that Clew's benchmarks are modelled on, each with its figures, where they are known, beside what Clew does at the
same job on this machine; and how the two differ, so that nobody takes one for the other.

    python3 bench/reports.py --bin CLEW [--pgo CLEW] [--rounds 2] [--seconds 3] [--vectors 100000] [--lines 1000000]

`--pgo` is what `make pgo-build` built; without it the first row has one build only.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
sys.path[:0] = [str(HERE), str(HERE / "collect")]
import lines  # noqa: E402
import results  # noqa: E402
from peers import TOKENS  # noqa: E402
from server import Server  # noqa: E402

SCAN_LENGTHS = (1, 10, 100, 1000)
DISSECT = json.dumps([{"dissect": {"field": "message", "pattern": TOKENS}}, {"remove": {"field": "message"}}])


def own(binary, folder, *arguments):
    """The rows of a benchmark that needs no server."""
    out = folder / "rows.json"
    subprocess.run([str(binary), "bench", *map(str, arguments), "--json", str(out)], check=True, stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())["rows"]


def measure(given, folder):
    """All rows, those of each report with its name as `report`, and the machine."""
    found = results.Rows()
    load = ["--seconds", given.seconds, "--warm-up", 1]
    builds = {"release": given.bin, **({"profile-guided": given.pgo} if given.pgo else {})}
    for number in range(given.rounds):
        for build in list(builds) if number % 2 == 0 else reversed(list(builds)):
            with Server(builds[build]) as server:
                machine, rows = server.load("vectors", "--concurrency", 50, "--ef-search", 64, *load, milvus=True)
                found.add_rows(rows, report="service", build=build)
        with Server(given.bin) as server:
            asked = ["--rows", given.events, "--kind", "term", "--concurrency", "1,8", *load]
            found.add_rows(server.load("search", *asked)[1], report="index")
        found.add_rows(own(given.bin, folder, "log", "--dir", folder, "--only", "scan", "--rounds", 3), report="scan")
        found.add_rows(own(given.bin, folder, "collect", folder / "lines", "--dir", folder, "--rounds", 1, "--processors", DISSECT),
                       report="lines")
    with Server(given.bin) as server:
        asked = ["--rows", given.vectors, "--dims", 1024, "--metric", "ip", "--shards", 18, "--ef-search", "32,256", "--concurrency", "1,16"]
        found.add_rows(server.load("vectors", *asked, *load)[1], report="vectors")
    return found, machine


def median(row, metric, digits=0):
    return f"{statistics.median(row['metrics'][metric]):,.{digits}f}"


def of_the_service(found):
    told = []
    for row in found.named("search", report="service"):
        qps, average, p50, p99 = (median(row, name, digits) for name, digits in (("qps", 0), ("avg_ms", 2), ("p50_ms", 2), ("p99_ms", 2)))
        told.append(f"{row['params']['build']}: {qps} RPS, average {average} ms, TP50 {p50}, TP99 {p99}")
    return "; ".join(told)


def of_the_vectors(found):
    load, = found.named("load", report="vectors")
    told = [f"{median(load, 'docs_per_s')} documents/s"]
    for row in found.named("search", report="vectors"):
        told.append(f"ef {row['params']['ef_search']}, {row['params']['concurrency']} clients: {median(row, 'qps')} QPS, "
                    f"{median(row, 'avg_ms', 2)} ms, recall {median(row, 'recall', 4)}")
    return "; ".join(told)


def of_the_scan(found):
    told = []
    for entries in SCAN_LENGTHS:
        row = next(row for row in found.named("scan", report="scan", bytes=13) if row["params"]["entries"] == entries)
        told.append(f"{entries}: {median(row, 'us_per_scan', 2)} µs")
    return ", ".join(told) + " a scan of that many entries"


def of_the_index(found):
    told = []
    for row in found.named("search", report="index"):
        told.append(f"{row['params']['concurrency']} clients: {median(row, 'qps')} TPS, average {median(row, 'avg_ms', 3)} ms, of which "
                    f"{median(row, 'cpu_us')} µs are the server's processor time")
    return "; ".join(told)


def of_the_lines(found, count):
    row, = found.named("collect", report="lines")
    seconds = count / statistics.median(row["metrics"]["lines_per_cpu_s"])
    return f"{count:,} lines in {seconds:.2f} s of one core"


def table(found, given):
    rows = [
        ("A vector database's service by gRPC at 50 clients, before and after a profile-guided build", "its figures are not at hand",
         of_the_service(found), "20,000 vectors of 128 dimensions, clients on the same two cores; there a service written in Go. See also \"Builds\""),
        ("113 million vectors of 1,024 dimensions in OpenSearch, effort by clients",
         "8,394 documents/s; 1,067 QPS at recall 0.9697", of_the_vectors(found),
         f"there 96 cores and 113,000,000 vectors; here 2 cores and {given.vectors:,} made ones, a search in which costs less. The whole table: \"Vectors: msmarco\""),
        ("Reading a log by position, 1 to 1,000 entries", "its figures are not at hand; the same test of that log on this kind of machine: \"Log\"",
         of_the_scan(found), "entries of 13 bytes, appended one by one, warm"),
        ("A read-only inverted index: TPS, latency, and what reading the lengths of documents takes of it", "its figures are not at hand",
         of_the_index(found), f"{given.events:,} events, one word, by HTTP. Lengths: \"Text: the length of a document\""),
        ("A million lines of a fixed format by Filebeat, on one core", "122 s before, 46 s after it was made faster", of_the_lines(found, given.lines),
         "there another machine, lines and processors of its own; Filebeat on this kind of machine: \"Collector\""),
    ]
    head = ["| report | its figures | Clew here | what differs |", "| --- | --- | --- | --- |"]
    return head + ["| " + " | ".join(row) + " |" for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="the release binary of clew")
    parser.add_argument("--pgo", type=pathlib.Path, help="a profile-guided one")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3, help="of each load")
    parser.add_argument("--vectors", type=int, default=100_000, help="of 1,024 dimensions")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--results", default=str(RESULTS), help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin", "pgo")
    with tempfile.TemporaryDirectory(prefix="clew-reports-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        folder = pathlib.Path(name)
        lines.write(folder / "lines", "fixed", given.lines, 20251)
        found, machine = measure(given, folder)
    found.save(given.json, given.bin, machine)
    told = [f"Medians of {given.rounds} rounds, {given.seconds:g} s a load.", "", *table(found, given)]
    results.publish(given.results, "Beside the reports", "make bench-reports", machine, told)


if __name__ == "__main__":
    main()
