"""Writes what was measured as the section "Vectors" of RESULTS.md."""

import importlib.metadata
import pathlib
import platform
import re
import subprocess
import sys

BEGIN, END = "<!-- vectors: begin -->", "<!-- vectors: end -->"


def _arguments():
    """What this run was told, without the places where things lie on this machine."""
    places = ("--bin", "--cache", "--results", "--json")
    told = sys.argv[1:]
    pairs = zip(told[::2], told[1::2])
    return " ".join(f'{key} "{value}"' for key, value in pairs if key not in places)


def _machine():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", info)
    count = info.count("processor\t")
    return f"{model.group(1) if model else platform.processor()}, {count} cores, {platform.system()}"


def _versions(binary):
    clew = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()
    names = ["hnswlib", "faiss-cpu", "usearch", "numpy"]
    return ", ".join([clew] + [f"{name} {importlib.metadata.version(name)}" for name in names])


def _cell(row, target, clew):
    found = row[target]
    if found is None:
        return "not reached"
    middle, low, high = found
    text = f"{middle:,.0f} ({low:,.0f}-{high:,.0f})"
    if clew is not None and row["contender"] != "clew" and clew[target] is not None:
        ratio = clew[target][0] / middle
        text += f", {ratio:.1f} x" + ("" if ratio > 1 else " **LOST**")
    return text


def _table(result, targets):
    rows = result["rows"]
    clew = next((row for row in rows if row["contender"] == "clew"), None)
    head = ["contender", "build, vectors/s"] + [f"QPS at recall {t:.2f}" for t in targets]
    lines = ["| " + " | ".join(head + ["highest recall"]) + " |", "|" + " --- |" * (len(head) + 1)]
    for row in rows:
        build = f"{row['build']:,.0f}"
        if clew is not None and row is not clew:
            ratio = clew["build"] / row["build"]
            build += f", {ratio:.1f} x" + ("" if ratio > 1 else " **LOST**")
        cells = [row["contender"], build] + [_cell(row, t, clew) for t in targets]
        lines.append("| " + " | ".join(cells + [f"{row['recall_max']:.4f}"]) + " |")
    return "\n".join(lines)


def write_results(results, targets, arguments):
    parts = [BEGIN, "## Vectors", ""]
    parts += [f"Machine: {_machine()}. Versions: {_versions(arguments.bin)}.", ""]
    parts += [f"Command: `make bench-vectors ARGS='{_arguments()}'`.", ""]
    parts += [
        "One thread, CPU time, contenders in turns (ABBA), median of "
        f"{arguments.rounds} rounds with least and greatest in brackets; recall@10 over 1,000",
        "queries, graphs of M 16 and efConstruction 128. \"n x\" is how many times as fast Clew is;",
        "**LOST** marks where it is not.",
    ]
    for result in results:
        parts += ["", f"### {result['set']} ({result['metric']})", "", _table(result, targets)]
    section = "\n".join(parts + ["", END])
    path = pathlib.Path(arguments.results)
    old = path.read_text() if path.exists() else "# Results of benchmarks\n\n"
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    new = pattern.sub(lambda _: section, old) if pattern.search(old) else old + section + "\n"
    path.write_text(new)
    print(section)
