"""What vectors that are searched for at once share (Milvus' `nq`): processor time of a query of inverted lists, alone and with 99
others, on one thread and in turns (ABBA). The column is searched in process, as a segment's would be.

    python at_once.py --bin CLEW [--sets 600000x128/2048/200,300000x384/1024/96] [--at-once 100] [--rounds 6]

A set is VECTORSxDIMENSIONS/LISTS/READ: vectors, how many lists they are in, and how many of these each query goes through.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import results  # noqa: E402

results.need("numpy", "faiss")
import numpy as np  # noqa: E402

import datasets  # noqa: E402

# Where codes come from memory, where they lie in a cache, and where few queries meet in a list.
SETS = "600000x128/2048/200,300000x384/1024/96,100000x768/512/96,200000x128/1024/128,200000x128/1024/16"
LATENT, SEED, QUERIES, K = 40, 100, 400, 10


class Column:
    """A column of lists in a folder, built by the binary when it is first searched."""

    def __init__(self, binary, folder, rows, dims, lists):
        made = datasets.clustered(rows + QUERIES, dims, LATENT, max(rows // 200, 1), SEED)
        base, queries = made[QUERIES:], made[:QUERIES]
        self.folder = pathlib.Path(folder)
        files = {"base": base, "queries": queries, "truth": datasets.exact(base, queries, "l2")}
        self.command = [binary, "bench", "vectors", "--metric", "l2", "--method", "ivf", "--lists", str(lists), "--k", str(K)]
        self.command += ["--image", str(self.folder / "image")]
        for name, matrix in files.items():
            np.save(self.folder / f"{name}.npy", np.ascontiguousarray(matrix))
            self.command += [f"--{name}", str(self.folder / f"{name}.npy")]

    def search(self, probes, at_once):
        out = self.folder / "rows.json"
        asked = ["--probes", str(probes), "--at-once", str(at_once), "--json", str(out)]
        subprocess.run(self.command + asked, check=True, stdout=subprocess.DEVNULL)
        return next(row["metrics"] for row in json.loads(out.read_text())["rows"] if row["name"] == "search")


def measure(given, asked, kept):
    """Rows of a set: each way's samples, a round each."""
    shape, lists, probes = asked.split("/")
    rows, dims = map(int, shape.split("x"))
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        column = Column(given.bin, folder, rows, dims, int(lists))
        column.search(int(probes), 1)
        ways = [1, given.at_once]
        for turn in range(given.rounds):
            for at_once in ways if turn % 2 == 0 else ways[::-1]:
                found = column.search(int(probes), at_once)
                told = {"rows": rows, "dims": dims, "lists": int(lists), "probes": int(probes), "at_once": at_once}
                kept.add("search", told, {"cpu_us": found["cpu_us"], "recall": found["recall"]})


def ratios(kept, at_once):
    """How many times as fast a query is among many, for each set."""
    for row in kept.named("search", at_once=at_once):
        alone = statistics.median(kept.samples("search", "cpu_us", **{**row["params"], "at_once": 1}))
        one = row["params"]
        ratio = alone / statistics.median(row["metrics"]["cpu_us"])
        yield f"{one['rows']:,} × {one['dims']}, {one['probes']} of {one['lists']:,} lists: {ratio:.2f} times as fast"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--at-once", type=int, default=100, help="queries of a search")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--results", default=str(HERE.parent / "RESULTS.md"), help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin")
    if given.at_once < 2:
        parser.error("--at-once has to be 2 or more")
    kept = results.Rows()
    for asked in given.sets.split(","):
        print(asked, file=sys.stderr, flush=True)
        measure(given, asked, kept)
    kept.save(given.json, given.bin, results.machine())
    lines = [
        f"Clustered vectors, L2, inverted lists, k {K}; {QUERIES} queries, one thread, processor time of a query, one by one and "
        f"{given.at_once} at once, {given.rounds} turns: median (least–greatest).",
        "",
        *results.table(kept.named("search"),
                       {"rows": "vectors", "dims": "dimensions", "lists": "lists", "probes": "read", "at_once": "at once"},
                       {"cpu_us": "processor time of a query, µs", "recall": "recall"}),
        "",
        "; ".join(ratios(kept, given.at_once)) + ".",
    ]
    told = f'make bench-at-once ARGS="--sets {given.sets} --rounds {given.rounds}"'
    results.publish(given.results, "Vectors: many at once", told, results.machine(), lines)


if __name__ == "__main__":
    main()
