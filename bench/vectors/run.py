"""Measures Clew's vector search beside its rivals, on this machine, in one run.

Contenders take turns: one round in order, the next in reverse (ABBA), so that drift of the machine
hits all alike. What counts is CPU time on one thread. For each recall wanted, queries per second
are interpolated between the efforts measured; the table shows medians over rounds, and the spread.

    python run.py --bin target/release/clew [--sets minilm,synth768] [--rounds 2] [--rows 25000] [--ef-max 640]
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import results  # noqa: E402

results.need("numpy")
import numpy as np  # noqa: E402

import aspects  # noqa: E402
import datasets  # noqa: E402
from table import table, write_results  # noqa: E402

TARGETS = [0.90, 0.95, 0.99]
# Recalls that searches ask for, in place of an effort: what they find is to be within .01 of them.
WANTED = [0.95, 0.99]
EF = [10, 16, 24, 32, 48, 64, 96, 128, 200, 320, 480, 640, 960, 1280, 2560]
EFFORTS = {
    "clew": EF,
    "clew, graph": EF,
    "clew, inverted lists": [1, 3, 6] + EF,
    "hnswlib": EF,
    "faiss HNSW": EF,
    "faiss HNSW SQ8": EF,
    "faiss IVF-PQ fast-scan": [[4, 10], [8, 10], [16, 10], [32, 10], [64, 15], [128, 30]],
    "usearch f16": EF,
    "usearch i8": EF,
    "ScaNN": [[leaves, reorder] for leaves in (4, 8, 16, 32, 64, 128, 256) for reorder in (40, 80, 160, 320)],
    "DiskANN in memory": EF,
    "SVS LVQ4x8": EF,
    "SVS LeanVec": EF,
}
# What wants libraries that the others do not bear has an environment of its own beside theirs: requirements-NAME.txt.
APART = {"DiskANN in memory": "diskann"}
CLEW = {
    # What an index gets: whichever of the two others is measured to be faster.
    "clew": ["--method", "auto"],
    "clew, graph": ["--method", "graph"],
    "clew, inverted lists": ["--method", "ivf"],
}
M, EF_CONSTRUCTION = 16, 128


class Clew:
    """The binary itself; its column is built once and mapped again for every measurement."""

    made = 0

    def __init__(self, binary, folder, metric, isa=None, extra=()):
        Clew.made += 1
        self.image = folder / f"clew-{os.getpid()}-{Clew.made}.vec"
        self.environment = dict(os.environ, **({"CLEW_ISA": isa} if isa else {}))
        self.command = [binary, "bench", "vectors", "--metric", metric, "--m", str(M)]
        self.command += ["--ef-construction", str(EF_CONSTRUCTION), "--image", str(self.image), *extra]
        for name in ("base", "queries", "truth"):
            self.command += [f"--{name}", str(folder / f"{name}.npy")]
        build, _ = self._run([10])
        rows = len(np.load(folder / "base.npy", mmap_mode="r"))
        self.built = {**build[0]["metrics"], "rows": rows}

    def _run(self, efforts, extra=(), before=None, kind="--ef-search"):
        out = self.image.with_suffix(".json")
        listed = ",".join(map(str, efforts))
        command = self.command + [kind, listed, "--json", str(out), *extra]
        quiet = {"stdout": subprocess.DEVNULL, "preexec_fn": before}
        subprocess.run(command, check=True, env=self.environment, **quiet)
        rows = json.loads(out.read_text())["rows"]
        by_name = lambda name: [row for row in rows if row["name"] == name]
        return by_name("build"), by_name("search")

    def measure(self, efforts, extra=(), before=None):
        return [row["metrics"] for row in self._run(efforts, extra, before)[1]]

    def wanted(self):
        """What searches find, and take, that ask for a recall."""
        return [row["metrics"] for row in self._run(WANTED, kind="--target-recall")[1]]

    def close(self):
        self.image.unlink(missing_ok=True)


class Rival:
    """A worker process that holds one rival's index."""

    def __init__(self, name, folder, metric):
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        python = pathlib.Path(sys.executable)
        if name in APART:
            beside = python.parent.parent
            python = beside.with_name(f"{beside.name}-{APART[name]}") / "bin" / "python"
        self.process, self.built = None, {"refused": "not installed"}
        if not python.exists():
            return
        command = [python, str(HERE / "worker.py"), name, str(folder), metric]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=environment, **pipes)
        self.built = json.loads(self.process.stdout.readline() or '{"refused": "ended while it built"}')

    def measure(self, efforts):
        rows = []
        for effort in efforts if "refused" not in self.built else []:
            self.process.stdin.write(json.dumps(effort) + "\n")
            self.process.stdin.flush()
            rows.append(json.loads(self.process.stdout.readline()))
        return rows

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def qps_at(rows, recall):
    """Queries per CPU second at a recall, between the two efforts around it; None when not reached."""
    rows = sorted(rows, key=lambda row: (row["recall"], row["cpu_us"]))
    below = [row for row in rows if row["recall"] < recall]
    above = [row for row in rows if row["recall"] >= recall]
    if not above:
        return None
    above = min(above, key=lambda row: row["cpu_us"])
    below = [row for row in below if row["cpu_us"] < above["cpu_us"]]
    if not below:
        return 1e6 / above["cpu_us"]
    below = max(below, key=lambda row: row["recall"])
    share = (recall - below["recall"]) / (above["recall"] - below["recall"])
    return 1e6 / (below["cpu_us"] + share * (above["cpu_us"] - below["cpu_us"]))


def up_to(ef_max, efforts):
    """The beginning of a list of efforts that is no greater; efforts of two numbers are not by how much they are."""
    return [effort for effort in efforts if isinstance(effort, list) or effort <= (ef_max or effort)]


def measure_set(name, arguments):
    folder, metric = datasets.prepare(name, arguments.cache, arguments.rows)
    contenders = {}
    for contender in arguments.contenders:
        print(f"{name}: building {contender}", flush=True)
        if contender in CLEW:
            contenders[contender] = Clew(arguments.bin, folder, metric, extra=CLEW[contender])
        else:
            contenders[contender] = Rival(contender, folder, metric)
    rounds, wanted = {contender: [] for contender in contenders}, {contender: [] for contender in contenders}
    for turn in range(arguments.rounds):
        order = list(contenders) if turn % 2 == 0 else list(reversed(contenders))
        for contender in order:
            print(f"{name}: round {turn + 1}, {contender}", flush=True)
            rounds[contender].append(contenders[contender].measure(up_to(arguments.ef_max, EFFORTS[contender])))
            if contender in CLEW:
                wanted[contender].append(contenders[contender].wanted())
    rows = []
    for contender, measured in rounds.items():
        built = contenders[contender].built
        if "refused" in built:
            rows.append({"contender": contender, "refused": built["refused"]})
            contenders[contender].close()
            continue
        row = {"contender": contender, "build": built["vectors_per_cpu_s"]}
        if "chosen_at_recall" in built:
            row["chosen"] = {name: built.get(name) for name in ("chosen_at_recall", "graph_us", "lists_us")}
        if wanted[contender]:
            row["wanted"] = [(target, points[0]["recall"], statistics.median(point["cpu_us"] for point in points))
                             for target, points in zip(WANTED, zip(*wanted[contender]))]
        for target in TARGETS:
            found = [qps_at(one, target) for one in measured]
            found = [qps for qps in found if qps is not None]
            row[target] = (statistics.median(found), min(found), max(found)) if found else None
        row["recall_max"] = max(one["recall"] for one in measured[0])
        rows.append(row)
        contenders[contender].close()
    return {"set": name, "metric": metric, "rows": rows, "points": rounds, "wanted": wanted}


def measure_aspects(name, arguments, peers):
    """What one set shows about Clew itself."""
    folder, metric = datasets.prepare(name, arguments.cache, arguments.rows)
    make = lambda folder=folder, **how: Clew(arguments.bin, folder, metric, **how)
    rounds, efforts = arguments.rounds, up_to(arguments.ef_max, EF)
    count = len(np.load(folder / "base.npy", mmap_mode="r"))
    hnswlib = next((row[aspects.RECALL] for row in peers["rows"] if row["contender"] == "hnswlib"), None)
    hnswlib_us = 1e6 / hnswlib[0] if hnswlib else None
    noted = results.Rows()
    parts = {
        "Instruction sets": lambda: aspects.instruction_sets(noted, make, efforts, rounds, qps_at, hnswlib_us),
        "Growth": lambda: aspects.growth(noted, name, count, arguments.cache, make, efforts, rounds, qps_at),
        "Stored types": lambda: aspects.elements(noted, make, efforts, rounds, qps_at),
        "Two threads": lambda: aspects.threads(noted, make, rounds),
        "Larger than memory": lambda: aspects.larger_than_memory(noted, make, 32),
    }
    found = {}
    for title, part in parts.items():
        print(f"{name}: {title.lower()}", flush=True)
        found[title] = part()
    return {"set": name, "parts": found, "rows": noted}


def kept(measured, noted=None):
    """All of it as rows: each contender's build, and each effort's searches, a sample a round; and what was noted of aspects."""
    found = results.Rows()
    if noted:
        found.add_rows(noted["rows"].rows.values(), set=noted["set"], contender="clew")
    for one in measured:
        for row in one["rows"]:
            params = {"set": one["set"], "metric": one["metric"], "contender": row["contender"]}
            found.add("build", params, {"vectors_per_cpu_s": row.get("build")})
            for points in one["points"][row["contender"]]:
                for effort, point in zip(EFFORTS[row["contender"]], points):
                    found.add("search", {**params, "effort": effort}, {key: point.get(key) for key in ("recall", "cpu_us")})
            for points in one["wanted"][row["contender"]]:
                for target, point in zip(WANTED, points):
                    found.add("search", {**params, "target_recall": target}, {key: point[key] for key in ("recall", "cpu_us")})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--sets", default=datasets.available()[0], help="with commas between; `all` of them takes hours")
    parser.add_argument("--contenders", default=",".join(EFFORTS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=25_000, help="use only so many vectors; 0: all")
    parser.add_argument("--ef-max", type=int, default=640, help=f"the greatest effort, which hard sets want more of (`sphere32`); 0: {EF[-1]:,}")
    parser.add_argument("--cache", default=os.environ.get("CLEW_CACHE", os.path.expanduser("~/.cache/clew")))
    parser.add_argument("--results", default=str(HERE.parent / "RESULTS.md"), help="where the sections are written; - for nowhere")
    results.add_json(parser)
    parser.add_argument("--aspects", choices=["yes", "no"], default="yes", help="also measure what Clew costs in other ways, on the first set")
    arguments = results.given(parser, "bin")
    # A name may hold a comma, before a space.
    arguments.contenders = re.split(r",(?! )", arguments.contenders)
    sets = datasets.available() if arguments.sets == "all" else arguments.sets.split(",")
    arguments.rows = arguments.rows or None
    measured = []
    for name in sets:
        measured.append(measure_set(name, arguments))
        # After each set, so that a run that is cut short has something to show, though it writes nothing.
        print(table(measured[-1], TARGETS), flush=True)
    if arguments.aspects == "yes":
        arguments.found_aspects = measure_aspects(sets[0], arguments, measured[0])
    write_results(measured, TARGETS, arguments)
    kept(measured, getattr(arguments, "found_aspects", None)).save(arguments.json, arguments.bin, results.machine())


if __name__ == "__main__":
    main()
