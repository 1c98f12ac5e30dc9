"""Measures Clew's text search beside Lucene, bare tantivy and Xapian, on this machine, in one run.

Every contender is a process that holds one index; they take turns on one CPU: in each round every class of queries is run
once by each, in an order that is turned round with every round (ABBA). What counts is CPU time of the searching
thread for each query; the median over rounds is taken for each query, and a class's queries per second are one
over the mean of these. The spread is that of the rounds. The scores of all first ten are compared.

    python run.py --worker target/release/clew-bench-text [--sets packages,sentences] [--rounds 3] [--rows 500000]

With `--before WORKER --only clew,before` Clew takes turns with an earlier build of itself: what a change costs.
"""

import argparse
import glob
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import corpora

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import results  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = [*corpora.PER_CLASS, "term+half", "term+tenth", "or2+half", "or2+tenth"]
FILTERED_OUT = {"xapian": {"fuzzy"}}
# Passes before it is measured: Java compiles what it does often, and Clew summarizes words that were asked for ten times.
WARM = {"lucene": 12, "clew": 12, "before": 12}
LUCENE = "10.4.0"
K1 = 1.2
# Xapian keeps exact lengths and another IDF; the order of its hits is its own.
COMPARED = {"tantivy", "lucene"}
# Clew with index.merge.reorder: only when it is asked for, in one segment.
ORDERED = "ordered"
# An earlier build of Clew.
BEFORE = "before"


class Contender:
    def __init__(self, name, command, segments, folder, docs, queries):
        self.name, self.segments = name, segments
        self.folder = folder / f"{name}-{segments}"
        shutil.rmtree(self.folder, ignore_errors=True)
        arguments = [str(docs), str(queries), str(segments), str(self.folder)]
        # One CPU for all: two of one machine differ by a third, and a process that stays on the worse one loses by it.
        self.process = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}),
        )
        self.built_s = int(self.process.stdout.readline().split()[1]) / 1e9

    def sizes(self):
        """Bytes of what Clew's segments consist of, by kind of file."""
        sizes = {}
        for path in self.folder.glob("indices/*/0/*.*"):
            kind = path.suffix[1:]
            sizes[kind] = sizes.get(kind, 0) + path.stat().st_size
        return ", ".join(f"{kind} {size:,}" for kind, size in sorted(sizes.items()) if size >= 1 << 20)

    def can(self, kind):
        return kind not in FILTERED_OUT.get(self.name, ())

    def ask(self, order, mode, kind):
        self.process.stdin.write(f"{order} {mode} {kind}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            sys.exit(f"{self.name} has ended at {order} {mode} {kind}")
        return answer

    def times(self, mode, kind):
        return [int(word) for word in self.ask("time", mode, kind)]

    def top(self, kind):
        """For each query the scores, as BM25 with its factor of k1 + 1 gives them."""
        factor = 1 + K1 if self.name == "lucene" and not kind.startswith("prefix") else 1
        lists = (word.split(":")[1] for word in self.ask("top", "top", kind))
        return [[float(score) * factor for score in one.split(",") if score] for one in lists]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def commands(arguments, cache):
    """How each contender is started; those that are missing here are told."""
    found, missing = {name: [arguments.worker, name] for name in ("clew", ORDERED, "tantivy")}, []
    if arguments.before:
        found[BEFORE] = [arguments.before, "clew"]
    for name, make in {"lucene": lucene, "xapian": xapian}.items():
        if arguments.only and name not in arguments.only.split(","):
            continue
        try:
            found[name] = make(cache)
        except (OSError, StopIteration, subprocess.CalledProcessError) as error:
            missing.append(f"{name} skipped ({error})")
    wanted = arguments.only.split(",") if arguments.only else [name for name in found if name != ORDERED]
    return {name: command for name, command in found.items() if name in wanted}, missing


def java():
    """A JDK of 21 or later: the one that runs, or the newest that is installed."""
    homes = [os.environ.get("JAVA_HOME", "")] + sorted(glob.glob("/usr/lib/jvm/*"), reverse=True)
    for home in homes:
        program = pathlib.Path(home) / "bin" / "java"
        if not program.exists() or not (program.parent / "javac").exists():
            continue
        version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
        number = version.split()[1].split(".")[0] if version else "0"
        if number.isdigit() and int(number) >= 21:
            return program.parent, version.splitlines()[0]
    raise OSError("no JDK of 21 or later")


def lucene(cache):
    home, _ = java()
    jars = cache / f"lucene-{LUCENE}"
    for artifact in ("lucene-core", "lucene-analysis-common"):
        if not (jars / f"{artifact}-{LUCENE}.jar").exists():
            named = f"org.apache.lucene:{artifact}:{LUCENE}:jar"
            command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={named}", f"-DoutputDirectory={jars}"]
            subprocess.run(command, check=True)
    classes = jars / "classes"
    subprocess.run([home / "javac", "-cp", f"{jars}/*", "-d", classes, HERE / "Rival.java"], check=True)
    return [
        str(home / "java"), "-Xms3g", "-Xmx3g", "-XX:+UseSerialGC", "--add-modules", "jdk.incubator.vector",
        "--enable-native-access=ALL-UNNAMED", "-cp", f"{classes}:{jars}/*", "Rival",
    ]


def xapian(cache):
    program = cache / "text-xapian"
    subprocess.run(["g++", "-O2", "-o", program, HERE / "xapian.cc", "-lxapian"], check=True, capture_output=True)
    return [str(program)]


def agreement(contenders, kinds):
    """Where the first ten of somebody differ from bare tantivy's in one segment: their number or their scores."""
    differing = {}
    for kind in kinds:
        # Fuzzy hits score in Lucene and Clew and do not in tantivy.
        base = "lucene" if kind.startswith("fuzzy") else "tantivy"
        known = [one for one in contenders if one.name == base and one.segments == 1]
        if not known:
            continue
        wanted = known[0].top(kind)
        for one in contenders:
            if one is known[0] or not one.can(kind):
                continue
            if one.name not in COMPARED | {"clew", ORDERED} or (one.name == "tantivy" and base == "lucene"):
                wrong = 0 if base == "lucene" else sum(len(a) != len(b) for a, b in zip(wanted, one.top(kind)))
            else:
                wrong = sum(not alike(a, b) for a, b in zip(wanted, one.top(kind)))
            if wrong:
                differing.setdefault((one.name, one.segments), {})[kind] = wrong
    return differing


def alike(a, b):
    return len(a) == len(b) and all(abs(x - y) <= 1e-4 * max(abs(x), 1e-9) for x, y in zip(a, b))


def measure(contenders, mode, kinds, rounds):
    """QPS with least and greatest over the rounds, by contender and class."""
    for one in contenders:
        for _ in range(WARM.get(one.name, 2)):
            for kind in kinds:
                if one.can(kind):
                    one.ask("time", mode, kind)
    taken = {}
    for number in range(rounds):
        turn = contenders if number % 2 == 0 else contenders[::-1]
        for kind in kinds:
            for one in turn:
                if one.can(kind):
                    key = (one.name, one.segments, kind)
                    taken.setdefault(key, []).append(one.times(mode, kind))
    figures = {}
    for key, lists in taken.items():
        medians = [statistics.median(times) for times in zip(*lists)]
        each = [1e9 / statistics.fmean(times) for times in lists]
        figures[key] = (1e9 / statistics.fmean(medians), min(each), max(each), sorted(medians))
    return figures, taken


def keep(found, name, mode, taken):
    """A round's queries of a class are a sample of its queries a second."""
    for (contender, segments, kind), lists in taken.items():
        params = {"set": name, "program": contender, "segments": segments, "class": kind, "mode": mode}
        found.add("search", params, {"queries_per_cpu_s": [1e9 / statistics.fmean(times) for times in lists]})


def table(figures, contenders, kinds):
    names = [(one.name, one.segments) for one in contenders]
    segments = sorted({number for _, number in names})
    head = ["class"]
    for number in segments:
        head += [f"{name}, {number}" for name, own in names if own == number]
        head += [f"to the best of tantivy and Lucene, {number}"]
    if any(name == "xapian" for name, _ in names):
        head.append("to Xapian")
    if any(name == ORDERED for name, _ in names):
        head.append("ordered to clew, 1")
    if any(name == BEFORE for name, _ in names):
        head += [f"to before, {number}" for number in segments]
    if len(segments) > 1:
        head.append(f"{segments[-1]} to {segments[0]} segments")
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for kind in kinds:
        cells = [kind]
        for number in segments:
            for name, own in names:
                if own == number:
                    cells.append(shown(figures.get((name, number, kind))))
            cells.append(ratio(figures, ("clew", number, kind), [(n, number, kind) for n in ("tantivy", "lucene")]))
        if any(name == "xapian" for name, _ in names):
            cells.append(ratio(figures, ("clew", 1, kind), [("xapian", 1, kind)]))
        if any(name == ORDERED for name, _ in names):
            cells.append(ratio(figures, (ORDERED, 1, kind), [("clew", 1, kind)]))
        if any(name == BEFORE for name, _ in names):
            cells += [ratio(figures, ("clew", number, kind), [(BEFORE, number, kind)], mark=0.97) for number in segments]
        if len(segments) > 1:
            own = ("clew", segments[-1], kind), ("clew", segments[0], kind)
            cells.append(ratio(figures, own[0], [own[1]], mark=0.7))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def shown(figure):
    if figure is None:
        return "-"
    qps, least, most, times = figure
    p50, p99 = times[len(times) // 2] / 1e3, times[len(times) * 99 // 100] / 1e3
    return f"{qps:,.0f} ({least:,.0f}-{most:,.0f}; {p50:,.0f}/{p99:,.0f} µs)"


def ratio(figures, own, others, mark=1.0):
    rivals = [figures[other][0] for other in others if other in figures]
    if own not in figures or not rivals:
        return "-"
    times = figures[own][0] / max(rivals)
    return f"{times:.2f} x" + (" **LOST**" if times < mark else "")


def versions(found):
    told = ["tantivy 0.27.0"]
    if "lucene" in found:
        told.append(f"Lucene {LUCENE} on {java()[1]}")
    if "xapian" in found:
        version = subprocess.run(["xapian-config", "--version"], capture_output=True, text=True).stdout
        told.append(version.strip().replace("xapian-config - ", ""))
    return ", ".join(told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--before", help="the worker of an earlier build of Clew")
    parser.add_argument("--sets", default="packages,sentences")
    parser.add_argument("--segments", default="1,8")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=500_000, help="use only so many documents of a set; 0: all")
    parser.add_argument("--only", help="contenders, by name")
    parser.add_argument("--classes", help="classes, by name")
    parser.add_argument("--results", "--out", dest="out", default=str(HERE.parent / "RESULTS.md"), help="where the sections are written; - for nowhere")
    results.add_json(parser)
    arguments = results.given(parser, "worker", "before")
    cache = pathlib.Path(os.environ.get("CLEW_CACHE", pathlib.Path.home() / ".cache" / "clew")) / "bench-text"
    cache.mkdir(parents=True, exist_ok=True)
    found, missing = commands(arguments, cache)
    kinds = arguments.classes.split(",") if arguments.classes else CLASSES
    kept = results.Rows()
    sections = {f"Text: {name}": bench(name, arguments, (found, missing), (cache, kinds), kept) for name in arguments.sets.split(",")}
    # The worker is built with the binary, from one version.
    kept.save(arguments.json, arguments.worker, results.machine())
    for title, lines in sections.items():
        # What is measured beside an older build is no section.
        results.publish("-" if arguments.before else arguments.out, title, "make bench-text", results.machine(), lines)


def bench(name, arguments, known, where, kept):
    """The lines of a set's section."""
    (found, missing), (cache, kinds) = known, where
    docs, queries = corpora.make(name, cache, arguments.rows or None)
    contenders = []
    try:
        for segments in map(int, arguments.segments.split(",")):
            for rival, command in found.items():
                if rival in ("xapian", ORDERED) and segments > 1:
                    continue
                contenders.append(Contender(rival, command, segments, cache, docs, queries))
                print(f"{rival}, {segments} segment(s): built in {contenders[-1].built_s:.1f} s of CPU; {contenders[-1].sizes()}", flush=True)
        lines = report(contenders, kinds, arguments.rounds, kept, name)
    finally:
        for one in contenders:
            one.close()
    count = sum(1 for _ in open(docs))
    head = [
        f"{count:,} documents; {versions(found)}{'; ' + ', '.join(missing) if missing else ''}. Queries per second",
        "of one thread's CPU time by class (least and greatest round; p50/p99 of the queries), contenders in",
        f"turns on one CPU, {arguments.rounds} rounds, the ten best. Positions kept, nothing else; prefix matches score the same,",
        "fuzzy ones score in Clew and Lucene and not in tantivy. Clew keeps where the postings of words lie that were asked",
        "for lately, and their best documents: all words here were asked for before.",
        "",
    ]
    return head + lines


def report(contenders, kinds, rounds, kept, name):
    lines = []
    differing = agreement(contenders, kinds)
    for mode, title in {"top": "Without counting", "count": "Counting to 10,000, the default over HTTP"}.items():
        print(f"{title} ...", flush=True)
        figures, taken = measure(contenders, mode, kinds, rounds)
        keep(kept, name, mode, taken)
        lines += [f"### {title}", "", *table(figures, contenders, kinds), ""]
    told = [
        f"{name} with {segments} segment(s): " + ", ".join(f"{kind} {wrong}" for kind, wrong in kinds.items())
        for (name, segments), kinds in differing.items()
    ]
    lines += ["Queries whose first ten differ in number or by more than 1e-4 in a score: " + ("; ".join(told) or "none") + "."]
    return lines


if __name__ == "__main__":
    main()
