"""Clew beside a real OpenSearch over HTTP: what a document and a search cost, in one run on one machine.

Both run at once on one CPU of their own, the client on another; they take turns (ABBA), so that a busy machine harms
both alike, and who has no turn stands still. What counts is CPU time of the server's process. The table has medians
with the least and greatest round.

    python bench/opensearch/run.py --bin target/release/clew [--quick] [--rounds 4]

With `--before BINARY` an earlier build of Clew takes OpenSearch's place: what a change costs.
"""

import argparse
import gc
import json
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import corpus  # noqa: E402
from servers import ROOT, Clew, Real, alone, cpu_s, memory_mb, restart_ms  # noqa: E402
sys.path.insert(0, str(ROOT))
from bench import results  # noqa: E402
from tests.real_opensearch import Missing  # noqa: E402

INDEX, LARGE = "/bench", "/large"
NDJSON = "application/x-ndjson"
BEFORE = "before"
# What is wanted, as a share of OpenSearch's figure or as a figure of its own.
TARGETS = {
    "bulk": ("at least", 2.0), "match, ten best with source, CPU": ("at most", 0.35),
    "match, ten best with source, p99": ("at most", 0.3), "match and terms aggregation, CPU": ("at most", 0.4),
    "memory": ("at most", 0.1), "index": ("at most", 1.0),
}
# How rows call a metric, by how its unit begins.
METRICS = {"documents a CPU second": "documents_per_cpu_s", "µs of CPU": "cpu_us", "ms": "latency_ms", "MB": "size_mb"}
LIMITS = {"ready": 300, "refresh": 20, "nothing found, CPU": 60}


class Figures:
    """Figures by name and server, one for each round."""

    def __init__(self):
        self.all = {}

    def add(self, name, unit, server, value):
        self.all.setdefault((name, unit), {}).setdefault(server.name, []).append(value)

    def rows(self):
        """All of it as rows, each metric called by its unit."""
        found = results.Rows()
        for (name, unit), by_server in self.all.items():
            for server, values in by_server.items():
                metric = next(metric for words, metric in METRICS.items() if unit.startswith(words))
                found.add(name, {"program": server, "unit": unit}, {metric: values})
        return found


def load(server, index, batches):
    for body in batches:
        reply = server.client.call("POST", f"{index}/_bulk", body, NDJSON)
        if b'"errors":true' in reply[:200]:
            raise RuntimeError(f"{server.name} refused documents: {reply[:400]!r}")


def bulk(server, figures, bodies, count):
    server.client.call("DELETE", INDEX)
    server.client.call("PUT", INDEX, corpus.MAPPING)
    before = cpu_s(server)
    load(server, INDEX, bodies)
    server.client.call("POST", f"{INDEX}/_refresh")
    figures.add("bulk", "documents a CPU second", server, count / (cpu_s(server) - before))


def searches(server, figures, questions, warm):
    for name, make in corpus.SEARCHES.items():
        bodies = [json.dumps(make(text)).encode() for text in questions]
        for body in bodies[:warm]:
            server.client.call("POST", f"{INDEX}/_search", body)
        # The client's own pauses are nobody's latency.
        gc.collect()
        gc.disable()
        took, before = [], cpu_s(server)
        for body in bodies[warm:]:
            began = time.perf_counter()
            server.client.call("POST", f"{INDEX}/_search", body)
            took.append((time.perf_counter() - began) * 1000)
        cpu = (cpu_s(server) - before) / len(took) * 1e6
        gc.enable()
        took.sort()
        figures.add(f"{name}, CPU", "µs of CPU a search", server, cpu)
        figures.add(f"{name}, p50", "ms", server, took[len(took) // 2])
        figures.add(f"{name}, p99", "ms", server, took[int(len(took) * 0.99)])


def merge(server, index):
    server.client.call("POST", f"{index}/_forcemerge?max_num_segments=1")
    server.client.call("POST", f"{index}/_refresh")
    server.client.call("POST", f"{index}/_flush")


def store_mb(server, index):
    return server.client.json("GET", f"{index}/_stats/store")["_all"]["primaries"]["store"]["size_in_bytes"] / 1e6


def large(servers, figures, count, rounds):
    """An index of many documents: refreshing a few new ones, and starting again."""
    documents, source = corpus.sentences(count + rounds * corpus.BATCH)
    for server in servers:
        server.client.call("PUT", LARGE, corpus.MAPPING)
        load(server, LARGE, corpus.batches(documents[:count]))
        server.client.call("POST", f"{LARGE}/_refresh")
        server.client.call("POST", f"{LARGE}/_flush")
    for turn in range(rounds):
        for server in in_turn(servers, turn):
            first = count + turn * corpus.BATCH
            with alone(server, servers):
                load(server, LARGE, corpus.batches(documents[first:first + corpus.BATCH], first))
                began = time.perf_counter()
                server.client.call("POST", f"{LARGE}/_refresh")
                took = (time.perf_counter() - began) * 1000
            figures.add("refresh", f"ms for {corpus.BATCH:,} new documents beside {count:,}", server, took)
    probe = {"size": 10, "track_total_hits": True, "query": {"match": {"text": "the"}}}
    for server in servers:
        server.client.call("POST", f"{LARGE}/_flush")
        wanted = server.client.json("POST", f"{LARGE}/_search", probe)["hits"]["total"]["value"]
        figures.add("memory with both indexes", "MB", server, memory_mb(server))
        for _ in range(min(rounds, 3) if isinstance(server, Clew) else 1):
            took = restart_ms(server, f"{LARGE}/_search", probe, wanted)
            figures.add("ready", f"ms from start to the first right answer over {count:,} documents", server, took)
    return source


def in_turn(servers, turn):
    return servers if turn % 2 == 0 else list(reversed(servers))


def measure(servers, arguments):
    figures = Figures()
    documents, source = corpus.packages()
    if arguments.quick:
        documents = documents[:20_000]
    bodies = list(corpus.batches(documents))
    questions = corpus.questions(documents, arguments.searches + arguments.warm)
    scratch = Figures()
    # A Java server compiles what it does often, and goes on getting faster for minutes.
    for server in servers:
        say(f"warming {server.name}")
        for _ in range(1 if arguments.quick else 5):
            bulk(server, scratch, bodies, len(documents))
            searches(server, scratch, questions, 0)
    for turn in range(arguments.rounds):
        for server in in_turn(servers, turn):
            say(f"round {turn + 1}: {server.name}")
            with alone(server, servers):
                bulk(server, figures, bodies, len(documents))
                if turn == 0:
                    figures.add("memory", "MB after loading", server, memory_mb(server))
                merge(server, INDEX)
                searches(server, figures, questions, arguments.warm)
    for server in servers:
        figures.add("index", "MB in one segment", server, store_mb(server, INDEX))
        server.client.call("DELETE", INDEX)
    say("many documents")
    more = large(servers, figures, arguments.documents, arguments.rounds + 1)
    return figures, f"{len(documents):,} {source}; {arguments.documents:,} {more}"


def say(text):
    print(text, flush=True)


def shown(values, digits=None):
    middle = statistics.median(values)
    digits = (0 if middle >= 100 else 1 if middle >= 10 else 2) if digits is None else digits
    text = f"{middle:,.{digits}f}"
    if len(values) > 1:
        text += f" ({min(values):,.{digits}f}–{max(values):,.{digits}f})"
    return text


def verdict(name, ratio, own):
    if name in TARGETS:
        how, share = TARGETS[name]
        met = ratio >= share if how == "at least" else ratio <= share
        return f"{how} {share:g}" + ("" if met else " **MISSED**")
    if name in LIMITS:
        return f"below {LIMITS[name]}" + ("" if own < LIMITS[name] else " **MISSED**")
    return ""


def table(figures, rival):
    lines = [f"| what | unit | Clew | {rival} | Clew / {rival} | wanted |", "| --- | --- | --- | --- | --- | --- |"]
    for (name, unit), by_server in figures.all.items():
        own, other = by_server["Clew"], by_server[rival]
        ratio = statistics.median(own) / statistics.median(other)
        wanted = verdict(name, ratio, statistics.median(own)) if rival == "OpenSearch" else ""
        lines.append(f"| {name} | {unit} | {shown(own)} | {shown(other)} | {ratio:.3f} | {wanted} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--before", help="an earlier build of Clew to compare with instead of OpenSearch; writes no table into the results")
    parser.add_argument("--quick", action="store_true", help="few documents and one round: whether it works, not what is true")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--documents", type=int, default=1_000_000, help="of the large index")
    parser.add_argument("--searches", type=int, default=2000, help="of each kind in a round")
    parser.add_argument("--warm", type=int, default=500)
    parser.add_argument("--heap", default="4g", help="OpenSearch's")
    parser.add_argument("--results", default=str(ROOT / "bench" / "RESULTS.md"), help="where the section is written; - for nowhere")
    results.add_json(parser)
    arguments = results.given(parser, "bin", "before")
    if arguments.quick:
        arguments.rounds, arguments.documents, arguments.searches, arguments.warm = 1, 50_000, 300, 100
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:1])
    servers = []
    try:
        servers.append(Clew(arguments.bin, str(cores[-1])))
        servers.append(Clew(arguments.before, str(cores[-1]), BEFORE) if arguments.before else Real(arguments.heap, str(cores[-1])))
        versions = ", ".join(server.version() for server in servers)
        figures, source = measure(servers, arguments)
    except Missing as missing:
        print(f"skipped: {missing}")
        return
    finally:
        for server in servers:
            server.close()
    figures.rows().save(arguments.json, arguments.bin, results.machine())
    lines = [f"{versions}, heap {arguments.heap}; both on one CPU, the client, which sends each "
             f"request in one write, on another. {source}.", "", *table(figures, servers[1].name)]
    # What is short, or beside an older build, is no section.
    path = "-" if arguments.quick or arguments.before else arguments.results
    results.publish(path, "OpenSearch", "make bench-opensearch", results.machine(), lines)


if __name__ == "__main__":
    main()
