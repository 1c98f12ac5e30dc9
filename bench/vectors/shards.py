"""What it costs to have vectors in several shards: one index with one shard and one with many, of the same vectors, merged to one
segment a shard, asked in turns (ABBA) by one client over REST: for the nearest of all, and of those that a filter lets through.
What counts is the processor time of the server for a search.

    python shards.py --bin CLEW [--before CLEW] [--shards 18] [--sets 30000x128,40000x1024] [--ef-search 100] [--rounds 6]
                     [--pass 100,50,10]

With `--before BINARY` an earlier build of Clew takes turns with it.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import results  # noqa: E402

results.need("numpy")
import numpy as np  # noqa: E402

import datasets  # noqa: E402
from msmarco import BULK, K, Node, bulk  # noqa: E402

LATENT, SEED, QUERIES = 40, 18, 300


def mapping(dims, shards):
    method = {"name": "hnsw", "engine": "faiss", "space_type": "l2", "parameters": {"m": 16, "ef_construction": 128}}
    return {
        "settings": {"index": {"knn": True, "number_of_shards": shards, "number_of_replicas": 0}},
        "mappings": {"properties": {
            "emb": {"type": "knn_vector", "dimension": dims, "method": method}, "percent": {"type": "integer"},
        }},
    }


def percent(row):
    """A number below a hundred that has nothing to do with where the row's vector lies; of rows in order each comes as often."""
    return row * 37 % 100


def load(node, base, shards):
    node.ask("PUT", f"/of-{shards}", mapping(base.shape[1], shards))
    for first in range(0, len(base), BULK):
        body = bulk(first, base[first : first + BULK], lambda row: f'"percent":{percent(row)},')
        if node.ask("POST", f"/of-{shards}/_bulk", body)["errors"]:
            raise SystemExit("some documents were refused")
    node.ask("POST", f"/of-{shards}/_refresh")
    node.ask("POST", f"/of-{shards}/_forcemerge?max_num_segments=1")


def body(query, ef, passing):
    clause = {"vector": [round(float(number), 6) for number in query], "k": K, "method_parameters": {"ef_search": ef}}
    if passing < 100:
        clause["filter"] = {"range": {"percent": {"lt": passing}}}
    return json.dumps({"size": K, "_source": False, "query": {"knn": {"emb": clause}}}).encode()


def cpu_us(node):
    """The processor time that a server has used."""
    words = pathlib.Path(f"/proc/{node.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) * 1e6 / os.sysconf("SC_CLK_TCK")


def ask(node, shards, bodies):
    """Microseconds of the server's processor time for a search, and what each has found."""
    before = cpu_us(node)
    found = [node.ask("POST", f"/of-{shards}/_search", body)["hits"]["hits"] for body in bodies]
    return (cpu_us(node) - before) / len(bodies), found


def measure(nodes, given, rows, dims, kept):
    made = datasets.clustered(rows + QUERIES, dims, LATENT, max(rows // 200, 1), SEED)
    base, queries = made[QUERIES:], made[:QUERIES]
    asked = [(build, shards) for build in nodes for shards in (1, given.shards)]
    for build, shards in asked:
        load(nodes[build], base, shards)
    for passing in given.passing:
        rest = np.array([row for row in range(rows) if percent(row) < passing])
        truth = rest[datasets.exact(base[rest], queries, "l2")[:, :K]]
        bodies = [body(query, given.ef_search, passing) for query in queries]
        for build, shards in asked:
            ask(nodes[build], shards, bodies)
        for turn in range(given.rounds):
            for build, shards in asked if turn % 2 == 0 else asked[::-1]:
                took, found = ask(nodes[build], shards, bodies)
                hits = sum(len({int(hit["_id"]) for hit in one} & set(want.tolist())) for one, want in zip(found, truth))
                kept.add("search", {"build": build, "rows": rows, "dims": dims, "passing": passing, "shards": shards},
                         {"cpu_us": took, "recall": hits / truth.size})
    for build, shards in asked:
        nodes[build].ask("DELETE", f"/of-{shards}")


def ratios(kept, given):
    """How many times the one shard's cost the many have, for each set, filter and build."""
    for row in kept.named("search", shards=given.shards):
        one = {**row["params"], "shards": 1}
        of_one = statistics.median(kept.samples("search", "cpu_us", **one))
        of_many = statistics.median(row["metrics"]["cpu_us"])
        which = f"{one['rows']:,} × {one['dims']}, {one['passing']} % pass"
        yield f"{one['build']}, {which}: {of_many / of_one:.2f} × one shard"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--before", help="an earlier build of Clew to take turns with")
    parser.add_argument("--shards", type=int, default=18)
    parser.add_argument("--sets", default="30000x128,40000x1024", help="rows x dimensions, with commas between")
    parser.add_argument("--ef-search", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--pass", dest="passing", default="100,50,10", help="percents of the vectors that a filter lets through; 100: no filter")
    parser.add_argument("--results", default=str(HERE.parent / "RESULTS.md"), help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin", "before")
    given.passing = list(map(int, given.passing.split(",")))
    kept = results.Rows()
    builds = {"now": given.bin, **({"before": given.before} if given.before else {})}
    with contextlib.ExitStack() as stack:
        nodes = {}
        for build, binary in builds.items():
            nodes[build] = stack.enter_context(Node(binary))
        for one in given.sets.split(","):
            rows, dims = map(int, one.split("x"))
            print(f"{rows:,} × {dims}", file=sys.stderr, flush=True)
            measure(nodes, given, rows, dims, kept)
    kept.save(given.json, given.bin, results.machine())
    lines = [
        f"Clustered vectors, L2, hnsw (m 16, ef_construction 128), k {K}, ef_search {given.ef_search}, one segment a shard; "
        f"{QUERIES} searches a turn by one client over REST, {given.rounds} turns: median (least–greatest).",
        "",
        *results.table(kept.named("search"),
                       {"build": "build", "rows": "vectors", "dims": "dimensions", "passing": "% that pass", "shards": "shards"},
                       {"cpu_us": "processor time of the server, µs a search", "recall": "recall"}),
        "",
        "; ".join(ratios(kept, given)) + ".",
    ]
    told = f'make bench-shards ARGS="--sets {given.sets} --rounds {given.rounds}"'
    results.publish(given.results, "Vectors: shards", told, results.machine(), lines)


if __name__ == "__main__":
    main()
