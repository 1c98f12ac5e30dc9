"""What another build brings: two or more binaries in turns over searches, writes, vectors and lines, and how many instructions
each needs for the same work.

Turns are old, new, new, old, each with a server of its own; differences are told with their p-values (`clew bench compare`).
Instructions are counted by callgrind, which runs the server and the collector on a machine of its own making: the same from
run to run within some thousandths, whatever else this machine does, and blind to caches. What is measured is other data than
what `train.py` trains by.

    python3 bench/pgo/run.py --old CLEW --new CLEW [NAME=CLEW …] [--rounds 4] [--seconds 2]
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
RESULTS = HERE.parent / "RESULTS.md"
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "collect")]
import callgrind  # noqa: E402
import lines  # noqa: E402
import results  # noqa: E402
from peers import TOKENS  # noqa: E402
from train import MAPPING, Texts, batches, documents, searches  # noqa: E402
from turns import turn  # noqa: E402

SEED = 20259
DISSECT = ["--processors", json.dumps([{"dissect": {"field": "message", "pattern": TOKENS}}, {"remove": {"field": "message"}}])]
METRICS = ("cpu_us", "lines_per_cpu_s")


def cases(folder, given):
    """Arguments of `clew bench`, by what they measure."""
    load = ["--concurrency", "1", "--seconds", str(given.seconds), "--warm-up", "1", "--seed", "77"]
    collect = lambda kind: ["collect", str(folder / kind), "--dir", str(folder), "--rounds", "1"]
    return {
        "search": ["serve", "search", "--rows", "20000", *load],
        "ingest": ["serve", "bulk", *load],
        "vectors": ["serve", "vectors", "--rows", "10000", "--ef-search", "64", *load],
        "parsing, dissect": [*collect("fixed"), *DISSECT],
        "parsing, nginx": [*collect("combined"), "--parse", "nginx_access"],
    }


def measured(given, folder):
    """Files of results of each build by case."""
    files = {name: {} for name in given.builds}
    for number in range(given.rounds):
        for case, arguments in cases(folder, given).items():
            for name in list(given.builds) if number % 2 == 0 else reversed(list(given.builds)):
                out = str(folder / f"{len(files[name].setdefault(case, []))}-{case}-{name}.json".replace(" ", ""))
                print(f"turn {number + 1}: {case}, {name}", file=sys.stderr, flush=True)
                turn(given.builds[name], arguments, out)
                files[name][case].append(out)
    return files


def write(client):
    client.call("PUT", "/logs", MAPPING)
    for body in batches(list(documents(Texts(SEED), 2_000))):
        client.call("POST", "/logs/_bulk", body, "application/x-ndjson")
    client.call("POST", "/logs/_refresh")


def search(client):
    texts = Texts(SEED + 1)
    for _ in range(20):
        for body in searches(texts):
            client.call("POST", "/logs/_search", body)


def instructions(binary, folder):
    """Millions of instructions by kind of work, those of a server without its start."""
    for kind in ("fixed", "combined"):
        lines.write(folder / f"few-{kind}", kind, 5_000, SEED)
    collect = lambda kind, *more: [binary, "bench", "collect", folder / f"few-{kind}", "--dir", folder, "--rounds", "1", *more]
    with callgrind.Counted(binary) as server:
        ingest, searched = (server.count(lambda: work(server.client)) for work in (write, search))
    found = {"search": searched, "ingest": ingest, "parsing, dissect": callgrind.program(collect("fixed", *DISSECT)),
             "parsing, nginx": callgrind.program(collect("combined", "--parse", "nginx_access"))}
    return {kind: counts.total / 1e6 for kind, counts in found.items()}


def kept(files, counts):
    """All of it as rows: what was measured of each build, and instructions where they were counted."""
    found = results.Rows()
    for build, by_case in files.items():
        for case, outs in by_case.items():
            for out in outs:
                found.add_rows(json.loads(pathlib.Path(out).read_text())["rows"], build=build, case=case)
    if isinstance(counts, dict):
        for build, by_kind in counts.items():
            for kind, millions in by_kind.items():
                found.add("instructions", {"build": build, "case": kind}, {"instructions": round(1e6 * millions)})
    return found


def compared(given, old, new, folder):
    """What `clew bench compare` finds in the results of two builds, which it prints: processor time of the second in that of the
    first, over all rows, and how many rows differ by more than chance, of how many."""
    out = folder / "compared.json"
    command = [given.old, "bench", "compare", "--old", *old, "--new", *new, "--metric", ",".join(METRICS), "--json", str(out)]
    subprocess.run(command, check=True)
    ratios, told = [], []
    for metric in json.loads(out.read_text())["metrics"]:
        for row in metric["rows"]:
            ratio = row["new"]["median"] / row["old"]["median"]
            ratios.append(ratio if metric["metric"] == "cpu_us" else 1 / ratio)
            told.append(row["verdict"] in ("better", "worse"))
    return statistics.geometric_mean(ratios), sum(told), len(told)


def counts_of(given, folder):
    """Instructions by build and kind of work, or why there are none: what was measured before is told whatever becomes of them."""
    if reason := callgrind.missing():
        return reason
    try:
        return {name: instructions(binary, folder) for name, binary in given.builds.items()}
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        return f"the program does not run under valgrind ({error})"


def report(given, folder):
    # Said also before the minutes in which it could be installed.
    if reason := callgrind.missing():
        print(f"Instructions will not be counted: {reason}.", file=sys.stderr, flush=True)
    for kind in ("fixed", "combined"):
        lines.write(folder / kind, kind, given.lines, SEED)
    files = measured(given, folder)
    kinds = list(cases(folder, given))
    others = [name for name in given.builds if name != "old"]
    table = ["| build | " + " | ".join(kinds) + " |", "|" + " --- |" * (len(kinds) + 1)]
    for name in others:
        cells = []
        for case in kinds:
            print(f"\n{case}: old, and {name} as new", flush=True)
            ratio, differ, rows = compared(given, files["old"][case], files[name][case], folder)
            cells.append(f"{ratio:.3f} ({differ} of {rows})")
        table.append(f"| {name} | " + " | ".join(cells) + " |")
    text = ["Processor time of a build in that of the release build before it, geometric mean over the rows of a case; in brackets how many of "
            f"its rows differ by more than chance (Mann-Whitney, p < 0.05), {given.rounds} turns of each.", "", *table]
    counts = counts_of(given, folder)
    if isinstance(counts, dict):
        columns = list(counts["old"])
        text += ["", "Instructions, counted by callgrind: millions of the build before, and the share of them that the others need.", "",
                 "| build | " + " | ".join(columns) + " |", "|" + " --- |" * (len(columns) + 1),
                 "| before | " + " | ".join(f"{counts['old'][column]:,.0f} M" for column in columns) + " |"]
        for name in others:
            text.append(f"| {name} | " + " | ".join(f"{counts[name][column] / counts['old'][column]:.3f}" for column in columns) + " |")
    else:
        text += ["", f"Instructions are not counted: {counts}."]
    machine = json.loads(pathlib.Path(files["old"]["ingest"][0]).read_text())["machine"]
    kept(files, counts).save(given.json, given.old, machine)
    print()
    results.publish(given.results, "Builds", "make pgo ARGS=--results", machine, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, help="the binary before")
    parser.add_argument("--new", help="the binary after")
    parser.add_argument("more", nargs="*", metavar="NAME=CLEW", help="others, each compared with the old one")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each")
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement")
    parser.add_argument("--lines", type=int, default=200_000, help="that are parsed")
    parser.add_argument("--results", nargs="?", const=str(RESULTS), default="-", help="where the section is written: RESULTS.md if nothing is said, nowhere without this")
    results.add_json(parser)
    given = results.given(parser)
    given.builds = {"old": given.old, **({"new": given.new} if given.new else {}), **dict(one.split("=", 1) for one in given.more)}
    if len(given.builds) < 2:
        parser.error("a second build is wanted: --new CLEW or NAME=CLEW")
    missing = [binary for binary in given.builds.values() if not os.access(binary, os.X_OK)]
    if missing:
        parser.error(f"no such program: {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="clew-pgo-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        folder = pathlib.Path(name)
        report(given, folder)


if __name__ == "__main__":
    main()
