#!/usr/bin/env python3
"""The collector beside Filebeat, rsyslog and syslog-ng: lines a second of processor time, file to file.

Every program reads one seeded file on a file system in memory, on one core, takes its lines apart and writes JSON lines to
another. What counts is the processor time of its process, start included; programs take turns. A peer that is not installed
(`make clients` gets all of them) has a row that says so. How fast a machine is shows in what it takes to copy: each case says
which share of that rate it reaches.

    python3 bench/collect/run.py --bin CLEW [--lines 1000000] [--rounds 3]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import lines
import peers

RESULTS = pathlib.Path(__file__).parent.parent / "RESULTS.md"
sys.path.insert(0, str(RESULTS.parent))
import results  # noqa: E402

SEED = 20251
READ_BYTES, WRITE_BYTES = 256 << 10, 64 << 10
FIXED = peers.TOKENS
NGINX = ('%{client} %{ident} %{user} [%{time}] "%{method} %{url} HTTP/%{version}" %{status} %{bytes} "%{referrer}" "%{agent}"')
GROK = (r'%{IPORHOST:client} %{USER:ident} %{USER:user} \[%{HTTPDATE:time}\] "(?:%{WORD:method} %{NOTSPACE:url}'
        r'(?: HTTP/%{NUMBER:version})?|%{DATA:raw})" %{NUMBER:status} (?:%{NUMBER:bytes}|-) %{QS:referrer} %{QS:agent}')
WHOLE = {"remove": {"field": "message"}}
# What is measured: its name, the data, Clew's parser and processors.
CASES = [
    ("no processors", "fixed", "plain", []),
    ("fixed format, dissect", "fixed", "plain", [{"dissect": {"field": "message", "pattern": FIXED}}, WHOLE]),
    ("fixed format, its patterns", "fixed", "plain", [{"pattern": {}}]),
    ("nginx combined, its parser", "combined", "nginx_access", []),
    ("nginx combined, dissect", "combined", "plain", [{"dissect": {"field": "message", "pattern": NGINX}}, WHOLE]),
    ("nginx combined, grok", "combined", "plain", [{"grok": {"field": "message", "patterns": [GROK]}}, WHOLE]),
    ("JSON, two fields added", "objects", "plain", [{"json": {"field": "message", "add_to_root": True}},
                                                  {"add": {"field": "environment", "value": "live"}},
                                                  {"add": {"field": "hall", "value": 3}}]),
    ("Java traces, line by line", "traces", "plain", []),
    ("Java traces, joined", "traces", "plain", []),
]
JOINED = {"Java traces, joined": "java"}


def clew(binary, data, folder, parse, processors, multiline=None):
    """Lines, document bytes and lines a second of processor time of one run of `clew bench collect`."""
    rows = folder / "rows.json"
    command = [binary, "bench", "collect", data, "--parse", parse, "--processors", json.dumps(processors),
               "--dir", folder, "--rounds", "1", "--json", rows]
    command += ["--multiline", multiline] if multiline else []
    subprocess.run(list(map(str, ["taskset", "-c", "0", *command])), check=True, stdout=subprocess.DEVNULL)
    document = json.loads(rows.read_text())
    metrics = document["rows"][0]["metrics"]
    if metrics["failed"]:
        raise SystemExit(f"{metrics['failed']} lines failed: {processors}")
    return document["machine"], metrics


def copied(data, out, ratio, count):
    """Lines a second of processor time where they are only read, and `ratio` times as many bytes written, as the collector reads and
    writes: what nobody can pass on this machine."""
    taken, written = bytearray(READ_BYTES), bytes(WRITE_BYTES)
    owed, began = 0.0, time.process_time()
    with open(data, "rb", buffering=0) as source, open(out, "wb", buffering=0) as sink:
        while got := source.readinto(taken):
            owed += got * ratio
            while owed >= WRITE_BYTES:
                owed -= sink.write(written)
        sink.write(written[:int(owed)])
    out.unlink()
    return count / (time.process_time() - began)


def figures(rates):
    if not rates:
        return "–"
    return f"{statistics.median(rates) / 1000:,.0f} ({min(rates) / 1000:,.0f}–{max(rates) / 1000:,.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="the release binary of clew")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=pathlib.Path("/dev/shm"), help="folder on a file system in memory")
    parser.add_argument("--results", default=str(RESULTS), help="where the section is written; - for nowhere")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path(os.environ.get("CLEW_CACHE", pathlib.Path.home() / ".cache/clew")))
    results.add_json(parser)
    arguments = results.given(parser, "bin")
    others = peers.all_of(arguments.cache)
    found, sizes, machine = results.Rows(), {}, {}
    key = lambda program, case, kind: {"program": program, "case": case, "kind": kind}
    with tempfile.TemporaryDirectory(dir=arguments.dir) as name:
        folder = pathlib.Path(name)
        for kind in lines.KINDS:
            sizes[kind] = lines.write(folder / kind, kind, arguments.lines, SEED) / arguments.lines
        for turn in range(arguments.rounds):
            for case, kind, parse, processors in CASES if turn % 2 == 0 else reversed(CASES):
                machine, metrics = clew(arguments.bin, folder / kind, folder, parse, processors, JOINED.get(case))
                found.add("collect", key("clew", case, kind), {"lines_per_cpu_s": metrics["lines_per_cpu_s"]})
                sizes[case] = metrics["document_bytes"] / metrics["lines"]
                ratio = metrics["document_bytes"] / (folder / kind).stat().st_size
                rate = copied(folder / kind, folder / "copied", ratio, arguments.lines)
                found.add("collect", key("copying", case, kind), {"lines_per_cpu_s": rate})
            for peer in others:
                if peer.path:
                    rate = peers.measure(peer, folder / "fixed", folder / "peer", arguments.lines)
                    found.add("collect", key(*peer.case, "fixed"), {"lines_per_cpu_s": rate})
    found.save(arguments.json, arguments.bin, machine)
    rates = lambda program, case, kind: figures(found.samples("collect", "lines_per_cpu_s", **key(program, case, kind)))
    text = [f"{arguments.lines:,} lines of each kind, thousands of lines a second of processor time, median of {arguments.rounds} rounds with "
            "the least and the greatest, one core, file to file in memory, the registry on; beside it the share of the rate of a program that "
            "only reads the lines and writes as many bytes as the documents have.", "",
            "| case | bytes a line | bytes a document | thousand lines/CPU-s | of copying |", "| --- | --- | --- | --- | --- |"]
    median = lambda *of: statistics.median(found.samples("collect", "lines_per_cpu_s", **key(*of)))
    for case, kind, _, _ in CASES:
        share = median("clew", case, kind) / median("copying", case, kind)
        text.append(f"| Clew, {case} | {sizes[kind]:.0f} | {sizes[case]:.0f} | {rates('clew', case, kind)} | {share:.2f} |")
    for peer in others:
        text.append(f"| {peer.name} | {sizes['fixed']:.0f} | | {rates(*peer.case, 'fixed') if peer.path else 'not installed'} | |")
    results.publish(arguments.results, "Collector", "make bench-collect", machine, text)


if __name__ == "__main__":
    main()
