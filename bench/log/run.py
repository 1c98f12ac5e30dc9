#!/usr/bin/env python3
"""The log beside Varlog's storage and beside the disk itself, in one run.

Varlog comes as a Go module; its own benchmark Storage_ScanWithGLSN is compiled and run as it
stands. Clew and Varlog take turns (ABBA), so that a busy machine harms both alike; the table has
the medians and the lowest and highest of all turns.

    python3 bench/log/run.py --bin CLEW [--rounds 4] [--dir DIR] [--cold-gib N]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

VARLOG = "github.com/kakao/varlog@v0.30.0"
LENGTHS = [1, 10, 100, 1000]
RESULTS = pathlib.Path(__file__).parent.parent / "RESULTS.md"
sys.path.insert(0, str(RESULTS.parent))
import results  # noqa: E402


def varlog_binary(cache):
    """Compiles the benchmarks of Varlog's storage; None, with the reason printed, without Go."""
    if not shutil.which("go"):
        print("Varlog is left out: there is no `go` here")
        return None
    binary = cache / "varlog-storage.test"
    if binary.exists():
        return binary
    environment = dict(os.environ, GOPATH=str(cache / "go"), GOFLAGS="-mod=mod")
    cache.mkdir(parents=True, exist_ok=True)
    download = ["go", "mod", "download", "-json", VARLOG]
    found = subprocess.run(download, cwd=cache, env=environment, check=True, capture_output=True)
    folder = json.loads(found.stdout)["Dir"]
    build = ["go", "test", "-c", "-o", str(binary), "./internal/storage"]
    subprocess.run(build, cwd=folder, env=environment, check=True)
    return binary


def varlog_scan(binary, folder):
    """Nanoseconds and allocations of one scan, by the number of entries."""
    command = [str(binary), "-test.run=^$", "-test.bench=Storage_ScanWithGLSN$",
               "-test.benchmem", "-test.benchtime=300ms"]
    out = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    line = re.compile(r"numLogs=(\d+)\S*\s+\d+\s+([\d.]+) ns/op\s+\d+ B/op\s+(\d+) allocs/op")
    return {int(n): (float(ns), int(allocs)) for n, ns, allocs in line.findall(out)}


def clew(binary, folder, *arguments):
    """The rows of one `clew bench log`."""
    out = pathlib.Path(folder) / "rows.json"
    command = [str(binary), "bench", "log", "--dir", folder, "--json", str(out), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    document = json.loads(out.read_text())
    return document["machine"], document["rows"]


def scans(arguments, folder):
    """Both programs' scans in turns."""
    ours, theirs = {}, {}
    varlog = varlog_binary(arguments.cache)

    def turn_ours():
        rows = clew(arguments.bin, folder, "--only", "scan", "--rounds", "3")[1]
        for row in rows:
            if row["name"].startswith("scan") and "streams" not in row["params"]:
                key = (row["name"], row["params"]["bytes"], row["params"]["entries"])
                ours.setdefault(key, []).append(row["metrics"])

    def turn_theirs():
        for entries, figures in (varlog_scan(varlog, folder) if varlog else {}).items():
            theirs.setdefault(entries, []).append(figures)

    for turn in range(arguments.rounds):
        for run in (turn_ours, turn_theirs) if turn % 2 == 0 else (turn_theirs, turn_ours):
            run()
    return ours, theirs


def kept(ours, theirs, rows):
    """All of it as rows."""
    found = results.Rows()
    for (name, size, entries), samples in ours.items():
        for metrics in samples:
            found.add(name, {"program": "clew", "bytes": size, "entries": entries}, metrics)
    for entries, samples in theirs.items():
        for ns, allocations in samples:
            found.add("scan", {"program": "varlog", "bytes": 13, "entries": entries},
                      {"us_per_scan": ns / 1000, "allocs_per_entry": allocations / entries})
    found.add_rows(rows, program="clew")
    return found


def scan_table(ours, theirs):
    what = {"scan": "one by one", "scan_batch": "100 at a call", "scan_apart": "each alone on disk"}
    lines = ["| entries a scan | bytes | appended | clew µs (lowest–highest) | ns an entry | allocations an entry "
             "| Varlog µs (lowest–highest) | allocations a scan | ratio |", "|" + " --- |" * 9]
    for (name, size, entries), metrics in sorted(ours.items(), key=lambda item: (item[0][1], item[0][0], item[0][2])):
        times = [metric["us_per_scan"] for metric in metrics]
        median = statistics.median(times)
        peer = theirs.get(entries) if size == 13 else None
        if peer:
            peers = [ns / 1000 for ns, _ in peer]
            theirs_cell = f"{statistics.median(peers):.2f} ({min(peers):.2f}–{max(peers):.2f}) | {peer[0][1]}"
            ratio = statistics.median(peers) / median
            ratio = f"{ratio:.1f} ×" + (" **lost**" if ratio < 1 else "")
        else:
            theirs_cell, ratio = " | ", ""
        allocations = max(metric["allocs_per_entry"] for metric in metrics)
        lines.append(f"| {entries} | {size} | {what[name]} | {median:.2f} ({min(times):.2f}–{max(times):.2f}) "
                     f"| {1000 * median / entries:.1f} | {allocations:.3f} | {theirs_cell} | {ratio} |")
    return lines


def append_table(rows):
    disk = {row["name"]: row["metrics"] for row in rows if row["name"] in ("write", "fdatasync")}
    single = next(row["metrics"]["entries_per_s"] for row in rows if row["name"] == "append"
                  and row["params"]["durability"] == "sync" and row["params"]["clients"] == 1)
    lines = ["| what | clients | entries a call | entries/s (lowest–highest) | p50 µs | p99 µs | beside |", "|" + " --- |" * 7]
    for row in rows:
        metrics, params = row["metrics"], row["params"]
        if row["name"] not in ("append", "write", "fdatasync"):
            continue
        beside = ""
        if row["name"] == "append":
            rate = metrics["entries_per_s"]
            if params["durability"] != "sync" and params["batch"] > 1:
                beside = f"{100 * rate / disk['write']['entries_per_s']:.0f} % of `write`"
            elif params["durability"] == "sync" and params["batch"] == 1 and params["clients"] > 1:
                beside = (f"{rate / single:.1f} × one client; p99 {metrics['p99_us'] / disk['fdatasync']['p50_us']:.1f} × "
                          f"one fdatasync's p50, {metrics['p99_us'] / disk['fdatasync']['p99_us']:.1f} × its p99")
        name = f"append, {params['durability']}" if row["name"] == "append" else f"`{row['name']}` alone"
        lines.append(f"| {name} | {params.get('clients', 1)} | {params.get('batch', 1)} | {metrics['entries_per_s']:,.0f} "
                     f"({metrics['min']:,.0f}–{metrics['max']:,.0f}) | {metrics['p50_us']:.1f} | {metrics['p99_us']:.1f} | {beside} |")
    return lines


def other_table(rows):
    lines = ["| what | figures |", "| --- | --- |"]
    for row in rows:
        if row["name"] in ("subscribe", "recover", "scan_cold", "scan_stream", "compression"):
            words = ", ".join(f"{key} {value}" for key, value in row["params"].items())
            figures = ", ".join(f"{key} {value:,.1f}" for key, value in row["metrics"].items())
            lines.append(f"| {row['name']}: {words} | {figures} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="the release binary of clew")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each program")
    parser.add_argument("--dir", default=None, help="folder on the disk to measure")
    parser.add_argument("--cold-gib", type=int, default=0, help="also read a log of this size from the disk")
    parser.add_argument("--cache", type=pathlib.Path, help="where the peer is kept",
                        default=pathlib.Path(os.environ.get("CLEW_CACHE", pathlib.Path.home() / ".cache/clew")) / "bench")
    parser.add_argument("--results", default=str(RESULTS), help="where the section is written; - for nowhere")
    results.add_json(parser)
    arguments = results.given(parser, "bin")
    arguments.bin = arguments.bin.resolve()
    with tempfile.TemporaryDirectory(dir=arguments.dir) as folder:
        ours, theirs = scans(arguments, folder)
        machine, rows = clew(arguments.bin, folder, "--only", "append,subscribe,recover", "--rounds", "5")
        rows += [row for row in clew(arguments.bin, folder, "--only", "scan", "--rounds", "3")[1]
                 if row["name"] in ("scan_stream", "compression")]
        if arguments.cold_gib:
            rows += clew(arguments.bin, folder, "--only", "cold", "--cold-gib", str(arguments.cold_gib))[1]
    kept(ours, theirs, rows).save(arguments.json, arguments.bin, machine)
    text = ["Scans beside `Storage_ScanWithGLSN` of Varlog v0.30.0 (entries of 13 bytes, as there), warm, every checksum checked:", "",
            *scan_table(ours, theirs), "", "Appends of 128 bytes beside the disk itself:", "", *append_table(rows), "",
            "Others:", "", *other_table(rows)]
    results.publish(arguments.results, "Log", "make bench-log", machine, text)


if __name__ == "__main__":
    main()
