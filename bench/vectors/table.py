"""Writes what was measured of a set as its section of RESULTS.md."""

import importlib.metadata
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import results  # noqa: E402


def _versions(binary):
    clew = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()
    names = ["hnswlib", "faiss-cpu", "usearch", "scann", "scalable-vs", "numpy"]
    # In an environment of its own, of the version that it was installed from.
    apart = (pathlib.Path(__file__).parent / "requirements-diskann.txt").read_text().split()[-1].replace("==", " ")
    return ", ".join([clew] + [f"{name} {_version(name)}" for name in names] + [apart])


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _ratios(figure, ours):
    """How many times as fast each of Clew's ways is."""
    ratios = [own / figure for own in ours if own is not None]
    if not ratios:
        return " **LOST**"
    return ", " + " / ".join(f"{ratio:.1f}" for ratio in ratios) + " x" + ("" if max(ratios) > 1 else " **LOST**")


def _cell(row, target, clew):
    found = row[target]
    if found is None:
        return "not reached"
    middle, low, high = found
    text = f"{middle:,.0f} ({low:,.0f}-{high:,.0f})"
    if clew and not row["contender"].startswith("clew"):
        text += _ratios(middle, [own[target] and own[target][0] for own in clew])
    return text


def table(result, targets):
    """What was measured of a set, a row for each contender."""
    rows = result["rows"]
    clew = [row for row in rows if row["contender"].startswith("clew")]
    head = ["contender", "build, vectors/s"] + [f"QPS at recall {t:.2f}" for t in targets]
    lines = ["| " + " | ".join(head + ["highest recall"]) + " |", "|" + " --- |" * (len(head) + 1)]
    for row in rows:
        if "refused" in row:
            lines.append(f"| {row['contender']} | does not run here: {row['refused']} |" + " |" * (len(targets) + 1))
            continue
        build = f"{row['build']:,.0f}"
        if clew and not row["contender"].startswith("clew"):
            build += _ratios(row["build"], [own["build"] for own in clew])
        cells = [row["contender"], build] + [_cell(row, t, clew) for t in targets]
        lines.append("| " + " | ".join(cells + [f"{row['recall_max']:.4f}"]) + " |")
    for row in rows:
        if chosen := row.get("chosen"):
            price = lambda name: f"{chosen[name]:.0f} us" if chosen[name] else "not reached"
            told = f"`{row['contender']}` chose at recall {chosen['chosen_at_recall']:.2f}: graph {price('graph_us')}, lists {price('lists_us')}."
            lines += ["", told]
        if wanted := row.get("wanted"):
            each = [f"for .{target * 100:.0f} {recall:.4f} in {us:.1f} us" for target, recall, us in wanted]
            lines += ["", f"`{row['contender']}` finds, where `target_recall` asks " + ", ".join(each) + "."]
    return "\n".join(lines)


def write_results(found, targets, arguments):
    aspects = getattr(arguments, "found_aspects", None)
    for result in found:
        lines = [
            f"{_versions(arguments.bin)}. One thread, CPU time, contenders in turns (ABBA), median of",
            f"{arguments.rounds} rounds with least and greatest in brackets; recall@10 over 1,000 queries by {result['metric']},",
            "graphs of M 16 and efConstruction 128. \"clew\" is what an index gets, the graph or lists by what both cost when it is",
            'built. "a / b / c x" is how many times as fast Clew is, in the order of its rows; **LOST** marks where none is.',
            "",
            table(result, targets),
        ]
        parts = aspects["parts"] if aspects and aspects["set"] == result["set"] else {}
        for title, part in parts.items():
            lines += ["", f"### {title}", "", *part]
        results.publish(arguments.results, f"Vectors: {result['set']}", "make bench-vectors", results.machine(), lines)
