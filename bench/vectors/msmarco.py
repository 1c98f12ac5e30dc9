"""A large index of embeddings as users of OpenSearch run it: 18 shards of 1,024 dimensions, loaded and asked over REST.

What is printed is the table of the report that this stands beside: documents a second while loading, then for each effort
and number of clients queries a second, mean and p99 latency, and recall. The report's index had 113 million vectors on 96
cores; this one has as many as it is told, on this machine. In the end the server is started again over the same index with less
memory than that takes: with room for what is searched first, the codes, and a part of the vectors or none of them.

    python msmarco.py --bin CLEW [--rows 100000] [--shards 18] [--seconds 5] [--ef-search 32,64,128,256] [--clients 1,2,4,8,16]
                      [--memory-only]
"""

import argparse
import http.client
import json
import multiprocessing
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import results  # noqa: E402
from server import Server  # noqa: E402

results.need("numpy")
import numpy as np  # noqa: E402

import datasets  # noqa: E402
from aspects import MemoryLimit, forget  # noqa: E402

DIMENSION, LATENT, SEED = 1024, 40, 113
QUERIES, K = 500, 10
EF_OF_MEMORY = 64
BULK = 500
# What the report tells of its own run.
REPORT = {"vectors": 113_000_000, "cores": 96, "docs_per_s": 8_394, "qps": 1_067, "recall": 0.9697}
BODY = {
    "settings": {"index": {"knn": True, "number_of_shards": 18, "number_of_replicas": 0}},
    "mappings": {"properties": {"emb": {
        "type": "knn_vector", "dimension": DIMENSION, "space_type": "innerproduct",
        "method": {"name": "hnsw", "engine": "faiss", "parameters": {"m": 16, "ef_construction": 128}},
    }}},
}


def rows(count):
    made = datasets.clustered(count + QUERIES, DIMENSION, LATENT, max(count // 200, 1), SEED)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made[QUERIES:], made[:QUERIES]


class Node(Server):
    """A server that is asked in JSON, and what it takes of the machine."""

    def ask(self, method, path, body=None):
        kind = "application/x-ndjson" if path.endswith("_bulk") else "application/json"
        return self.client.json(method, path, body, kind)

    def resident_bytes(self):
        """What lies in memory of its own, and of mapped files."""
        pages = list(map(int, pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()))
        return [count * os.sysconf("SC_PAGE_SIZE") for count in (pages[1] - pages[2], pages[2])]

    def read_bytes(self):
        """What it has had read from disk."""
        lines = pathlib.Path(f"/proc/{self.pid}/io").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes:"))

    def files(self):
        """Sizes of its files by path."""
        return {path: path.stat().st_size for path in self.data.rglob("*") if path.is_file()}


def bulk(first, part, beside=lambda row: ""):
    """A body that stores vectors by their row; `beside` gives what else stands in a row's document, ended by a comma."""
    lines = []
    for row, vector in enumerate(part, first):
        numbers = ",".join(map("%.6g".__mod__, vector.tolist()))
        lines.append('{"index":{"_id":"%d"}}\n{%s"emb":[%s]}\n' % (row, beside(row), numbers))
    return "".join(lines).encode()


def load(node, base):
    """Seconds until all are written, and until they are merged; writing down what is sent is not counted."""
    node.ask("PUT", "/msmarco", BODY)
    written = 0.0
    for first in range(0, len(base), BULK):
        body = bulk(first, base[first : first + BULK])
        began = time.perf_counter()
        if node.ask("POST", "/msmarco/_bulk", body)["errors"]:
            raise SystemExit("some documents were refused")
        written += time.perf_counter() - began
        if first % 10_000 == 0:
            print(f"\r{first:,} of {len(base):,} documents", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    began = time.perf_counter()
    node.ask("POST", "/msmarco/_refresh")
    node.ask("POST", "/msmarco/_forcemerge?max_num_segments=1")
    return written, time.perf_counter() - began


def body_of(query, ef):
    numbers = [round(float(number), 6) for number in query]
    clause = {"vector": numbers, "k": K, "method_parameters": {"ef_search": ef}}
    return json.dumps({"size": K, "_source": False, "query": {"knn": {"emb": clause}}}).encode()


def one_client(address, bodies, start, seconds, out):
    connection = http.client.HTTPConnection(address, timeout=60)
    headers = {"content-type": "application/json"}

    def ask(body):
        connection.request("POST", "/msmarco/_search", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    ask(bodies[0])
    start.wait()
    took, failed, at, end = [], 0, 0, time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        status, _ = ask(bodies[at % len(bodies)])
        failed += status != 200
        took.append(time.perf_counter() - began)
        at += 1
    out.put((took, failed))


def measure(node, bodies, clients, seconds):
    context = multiprocessing.get_context("fork")
    start, out = context.Barrier(clients), context.Queue()
    arguments = (node.address, bodies, start, seconds, out)
    processes = [context.Process(target=one_client, args=arguments) for _ in range(clients)]
    for process in processes:
        process.start()
    answers = [out.get(timeout=seconds + 120) for _ in processes]
    for process in processes:
        process.join()
    took = sorted(one for times, _ in answers for one in times)
    return {
        "qps": len(took) / seconds,
        "avg_ms": 1000 * sum(took) / len(took),
        "p99_ms": 1000 * took[min(len(took) - 1, int(0.99 * len(took)))],
        "failures": sum(failed for _, failed in answers),
    }


def recall(node, bodies, truth):
    found = 0
    for body, want in zip(bodies, truth):
        hits = node.ask("POST", "/msmarco/_search", body)["hits"]["hits"]
        found += len({int(hit["_id"]) for hit in hits} & set(want.tolist()))
    return found / truth.size


def with_less_memory(node, kept, params, asked, seconds):
    """Starts the server over the index as it is with memory for all of it, for codes and a part of the vectors, and for codes
    alone, and has one client ask; answers the lines of a table.

    What counts as its memory are the pages of files that it has read, too: those that do not fit are read again."""
    bodies, truth = asked
    own, _ = node.resident_bytes()
    files = node.files()
    node.stop()
    images = sum(size for path, size in files.items() if path.suffix == ".vec")
    vectors = params["rows"] * DIMENSION * 4
    # Of documents nothing but their names is shown.
    beside = sum(size for path, size in files.items() if path.suffix not in (".vec", ".store", ".source", ".log"))
    lines = [
        f"| memory for files, beside {own / 2**20:,.0f} MiB of its own | of the vectors' {images / 2**20:,.0f} MiB | QPS | avg ms | p99 ms "
        "| KiB read a search | MiB of files in memory | recall |",
        "|" + " --- |" * 8,
    ]
    for name, share in [("all", None), ("codes and a fifth of the vectors", 0.2), ("codes and a twentieth", 0.05), ("codes", 0.0)]:
        left = images if share is None else images - vectors + share * vectors
        limit = None
        if share is not None:
            try:
                limit = MemoryLimit(int(own + beside + left) >> 20)
            except PermissionError as reason:
                lines.append(f"| {name} | not measured: {reason} | | | | | | |")
                continue
        for path in files:
            if path.exists():
                forget(path)
        node.start(limit and limit.join)
        # The first turn checks what it reads, the second finds in memory what can stay there.
        for _ in range(2):
            found = recall(node, bodies, truth)
        before = node.read_bytes()
        row = measure(node, bodies, 1, seconds)
        row["read_bytes"] = (node.read_bytes() - before) / max(row["qps"] * seconds, 1)
        row["mapped_bytes"] = node.resident_bytes()[1]
        kept.add("search", {**params, "memory": name, "ef_search": EF_OF_MEMORY, "k": K}, {**row, "recall": found})
        node.stop()
        if limit:
            limit.close()
        lines.append(f"| {name} | {left / images:.0%} | {row['qps']:,.0f} | {row['avg_ms']:.2f} | {row['p99_ms']:.2f} "
                     f"| {row['read_bytes'] / 1024:,.0f} | {row['mapped_bytes'] / 2**20:,.0f} | {found:.4f} |")
        print(lines[-1], flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--shards", type=int, default=18)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--ef-search", default="32,64,128,256")
    parser.add_argument("--clients", default="1,2,4,8,16")
    parser.add_argument("--memory-only", action="store_true", help="leave out the table of efforts and clients, and its section")
    parser.add_argument("--results", default=str(HERE.parent / "RESULTS.md"), help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin")
    kept = results.Rows()
    params = {"rows": given.rows, "dims": DIMENSION, "shards": given.shards}
    BODY["settings"]["index"]["number_of_shards"] = given.shards
    base, queries = rows(given.rows)
    truth = datasets.exact(base, queries, "cosine")[:, :K]
    with Node(given.bin) as node:
        written, merged = load(node, base)
        kept.add("load", params, {"seconds": written, "docs_per_s": given.rows / written, "merge_s": merged})
        lines = [
            f"{given.rows:,} clustered vectors × {DIMENSION}, inner product of unit vectors, {given.shards} shards, hnsw (m 16, "
            f"ef_construction 128), k {K}; clients on the same machine.",
            "",
            f"Loading: {given.rows:,} documents in {written:.1f} s, {given.rows / written:,.0f} documents/s; merging {merged:.1f} s. "
            f"Memory of the process beside mapped files: {node.resident_bytes()[0] / 2**20:,.0f} MiB.",
            "",
        ]
        best = None
        for ef in [] if given.memory_only else map(int, given.ef_search.split(",")):
            bodies = [body_of(query, ef) for query in queries]
            found = recall(node, bodies, truth)
            for clients in map(int, given.clients.split(",")):
                row = measure(node, bodies, clients, given.seconds)
                kept.add("search", {**params, "ef_search": ef, "concurrency": clients, "k": K}, {**row, "recall": found})
                print(f"ef {ef}, {clients} clients: {row['qps']:,.0f} QPS, recall {found:.4f}", flush=True)
                if found >= REPORT["recall"] and (best is None or row["qps"] > best):
                    best = row["qps"]
        searched = results.table(kept.named("search"), {"ef_search": "ef_search", "concurrency": "concurrency"}, {
            "qps": "QPS", "avg_ms": "avg ms", "p99_ms": "p99 ms", "recall": "recall", "failures": "failures"})
        bodies = [body_of(query, EF_OF_MEMORY) for query in queries]
        less = with_less_memory(node, kept, params, (bodies, truth), given.seconds)
    kept.save(given.json, given.bin, results.machine())
    cores = os.cpu_count()
    per_core = lambda figure, count: f"{figure / count:,.1f}"
    lines += [
        *searched,
        "",
        f"The report that this stands beside had {REPORT['vectors']:,} vectors on {REPORT['cores']} cores, {REPORT['vectors'] / given.rows:,.0f} "
        f"times as many as here: {REPORT['docs_per_s']:,} documents/s and {REPORT['qps']:,} QPS at recall {REPORT['recall']}, which are "
        f"{per_core(REPORT['docs_per_s'], REPORT['cores'])} documents/s and {per_core(REPORT['qps'], REPORT['cores'])} QPS a core. Here a core "
        f"loads {per_core(given.rows / written, cores)} documents/s"
        + (f" and answers {per_core(best, cores)} QPS at no less recall" if best else "")
        + ", the clients' own work on the same cores included. The two are not to be compared without the difference in size: what a "
        "search costs as a column grows is measured under \"Growth\".",
    ]
    told = f"make bench-msmarco ARGS=\"--rows {given.rows} --seconds {given.seconds:g}{' --memory-only' if given.memory_only else ''}\""
    if not given.memory_only:
        results.publish(given.results, "Vectors: msmarco", told, results.machine(), lines)
    about = (f"The same index of {given.rows:,} vectors in {given.shards} shards at ef_search {EF_OF_MEMORY}, one client; the server is started anew for each "
             "row, in a control group of so much memory that pages of files count in, and answers all queries twice before.")
    results.publish(given.results, "Vectors: msmarco in less memory", told, results.machine(), [about, "", *less])


if __name__ == "__main__":
    main()
