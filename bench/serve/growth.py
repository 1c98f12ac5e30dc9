"""What a question and a write cost as data grows, as shards, clients and cores become more: tables, and curves as SVG files.

One thing grows at a time: documents in one shard, shards of the same documents, clients of the same index, cores of the server
(four clients for each, which have the machine's other cores). Cost is the server's processor time for each request (`cpu µs`, the
warm-up's and what it does meanwhile included) beside latencies.

    python3 bench/serve/growth.py --bin CLEW [--rows 25000,50000,100000,200000] [--shards 1,2,4,8] [--clients 1,2,4,8,16,32]
                                  [--cores 1,2,4,8] [--only rows,shards,clients,cores] [--seconds 2] [--curves FOLDER]

The whole of it: --rows 25000,50000,100000,250000,500000,1000000 --shards 1,2,4,8,16,32 --clients 1,2,4,8,16,32,64,128,200
"""

import argparse
import os
import pathlib
import subprocess
import sys

RESULTS = pathlib.Path(__file__).parent.parent / "RESULTS.md"
sys.path.insert(0, str(RESULTS.parent))
import results  # noqa: E402
from server import Server  # noqa: E402

KINDS = "term,and,aggregation,logs"
COST = {"cpu_us": "cpu µs", "p50_ms": "p50 ms", "p99_ms": "p99 ms", "qps": "QPS", "failures": "failures"}
LOAD = {"cpu_us_per_document": "cpu µs a document", "docs_per_s": "documents/s", "merge_s": "merging s"}
# What grows: the title of its tables, and of its parameter.
SERIES = {"rows": ("Documents", "documents"), "shards": ("Shards", "shards"), "clients": ("Clients", "concurrency"), "cores": ("Cores", "cores")}


def numbers(text):
    return [int(one) for one in text.split(",")]


def runs(given):
    """What grows, and the load tests of each size."""
    one = ["--concurrency", 1]
    vectors = ["--dims", given.dims, "--ef-search", 64, *one]
    for rows in numbers(given.rows):
        yield "rows", "search", ["--rows", rows, "--kind", KINDS, *one]
        yield "rows", "vectors", ["--rows", rows, *vectors]
    for shards in numbers(given.shards):
        yield "shards", "search", ["--rows", given.base, "--shards", shards, "--kind", KINDS, *one]
        yield "shards", "vectors", ["--rows", given.base, "--shards", shards, *vectors]
    yield "clients", "search", ["--rows", given.base, "--kind", "term,logs", "--concurrency", given.clients]
    yield "clients", "bulk", ["--concurrency", given.clients, "--batch", 100]


def core_runs(given):
    """Numbers of cores, and the load tests of each; the clients have as many cores as are left, so a server half of them at most."""
    for cores in numbers(given.cores or powers(os.cpu_count() // 2)):
        threads = ["--threads", min(16, os.cpu_count() - cores)]
        load = [*threads, "--concurrency", 4 * cores]
        for shards in (1, cores) if cores > 1 else (1,):
            kinds = KINDS if shards == 1 else "aggregation,logs"
            yield cores, "search", ["--rows", given.base, "--shards", shards, "--kind", kinds, *load]
            yield cores, "bulk", ["--batch", 100, "--shards", shards, *load]
        yield cores, "vectors", ["--rows", given.base, "--dims", given.dims, "--ef-search", 64, *load]


def powers(most):
    return ",".join(str(2 ** power) for power in range(max(most, 1).bit_length()))


def measure(given):
    found, machine = results.Rows(), {}
    common = ["--seconds", given.seconds, "--warm-up", 0.5]
    only = given.only.split(",")
    for series, what, arguments in runs(given):
        if series in only:
            with Server(given.bin) as server:
                machine, rows = server.load(what, *common, *arguments)
            add(found, what, rows, grows=series)
    for cores, what, arguments in core_runs(given) if "cores" in only else ():
        beside = ["taskset", "-c", f"{cores}-{os.cpu_count() - 1}"] if cores < os.cpu_count() else []
        with Server(given.bin, under=["taskset", "-c", f"0-{cores - 1}"], beside=beside) as server:
            machine, rows = server.load(what, *common, *arguments)
        machine["cores"] = os.cpu_count()  # It counts those that its own command may run on.
        add(found, what, rows, grows="cores", cores=cores)
    return found, machine


def add(found, what, rows, **params):
    for row in rows:
        row["params"].setdefault("kind", "vectors" if what == "vectors" else "write" if what == "bulk" else "events")
    found.add_rows(rows, **params)


def sections(found, only):
    lines = []
    for series, (title, param) in SERIES.items():
        if series not in only:
            continue
        x = {"clients": "concurrency"}.get(series, series)
        lines += [f"### {title}", ""]
        of = {"kind": "what", x: param}
        if loads := [row for row in found.named("load", grows=series) if series not in ("clients", "cores")]:
            lines += [*results.table(loads, of, LOAD), ""]
        asked = found.named("search", grows=series) + found.named("bulk", grows=series)
        asked.sort(key=lambda row: (row["params"]["kind"], row["params"]["shards"] > 1))
        lines += [*results.table(asked, {**of, "shards": "shards"} if series == "cores" else of, COST), ""]
    return lines


def draw(given, rows):
    """Curves of all that grew; gives their files."""
    given.curves.mkdir(parents=True, exist_ok=True)
    drawn = []
    for series, (title, param) in SERIES.items():
        if series not in given.only.split(","):
            continue
        x = "concurrency" if series == "clients" else series
        plots = [("question", "search", "qps" if series == "cores" else "cpu_us"), ("latency", "search", "p99_ms")]
        plots += [("write", "bulk", "qps" if series == "cores" else "cpu_us")] if series in ("clients", "cores") else [("write", "load", "cpu_us_per_document")]
        for what, name, y in plots:
            out = given.curves / f"growth-{series}-{what}.svg"
            command = [str(given.bin), "bench", "plot", str(rows), "-o", str(out), "--only", f"grows={series},name={name}",
                       "--x", x, "--y", y, "--by", "kind", "--title", f"{title}: {what}, {y} by {param}"]
            subprocess.run(command, check=True)
            drawn.append(out)
    return drawn


def main():
    cache = pathlib.Path(os.environ.get("CLEW_CACHE", pathlib.Path.home() / ".cache/clew"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="the release binary of clew")
    parser.add_argument("--rows", default="25000,50000,100000,200000", help="documents, one size after the other")
    parser.add_argument("--shards", default="1,2,4,8")
    parser.add_argument("--clients", default="1,2,4,8,16,32")
    parser.add_argument("--cores", help="of the server; by default powers of two up to half of the machine's")
    parser.add_argument("--base", type=int, default=50_000, help="documents while something else grows")
    parser.add_argument("--dims", type=int, default=128, help="of the vectors")
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--only", default="rows,shards,clients", help="what grows: also `cores`, where there are many")
    parser.add_argument("--curves", type=pathlib.Path, default=cache / "growth", help="where the curves are written")
    parser.add_argument("--results", default=str(RESULTS), help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin")
    if unknown := set(given.only.split(",")) - set(SERIES):
        parser.error(f"nothing is called {', '.join(sorted(unknown))}: {', '.join(SERIES)}")
    found, machine = measure(given)
    given.curves.mkdir(parents=True, exist_ok=True)
    rows = given.json or given.curves / "growth.json"
    found.save(rows, given.bin, machine)
    print("curves:", *draw(given, rows), sep="\n  ")
    size, rest = f"{given.base:,} documents", [series for series in given.only.split(",") if series != "cores"]
    if rest:
        lines = [f"One thing grows at a time, {size} where it is not they; {given.seconds:g} s each, one client unless said "
                 "otherwise, on the same machine.", "", *sections(found, rest)]
        results.publish(given.results, "Growth of a server", "make bench-growth", machine, lines)
    if len(rest) < len(given.only.split(",")):
        lines = [f"{size}, {given.seconds:g} s each. The server has so many of the machine's cores, and four clients for each, which have "
                 "the others.", "", *sections(found, ["cores"])]
        results.publish(given.results, "Cores of a server", 'make bench-growth ARGS="--only cores"', machine, lines)


if __name__ == "__main__":
    main()
