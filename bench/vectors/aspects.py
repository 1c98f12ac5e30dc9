"""What Clew alone costs in other ways: instruction sets, growth, threads, stored types, memory.

Every figure is taken beside the ones it is compared with, in turns, in the same run, and noted as a row of `kept`.
"""

import os
import pathlib
import statistics

import datasets

RECALL = 0.95
ELEMENTS = ["f32", "f16", "bf16"]
INSTRUCTION_SETS = [None, "avx2", "scalar"]
GROWTH = [1 / 8, 1 / 4, 1 / 2, 1]


def _in_turns(contenders, efforts, rounds, noted):
    """Every round's rows of each contender, measured in ABBA order; `noted` are the rows to add to, and what contenders differ in."""
    (kept, aspect), found = noted, {name: [] for name in contenders}
    for turn in range(rounds):
        order = list(contenders) if turn % 2 == 0 else list(reversed(contenders))
        for name in order:
            found[name].append(contenders[name].measure(efforts))
            for effort, row in zip(efforts, found[name][-1]):
                kept.add("search", {aspect: name, "effort": effort}, {key: row.get(key) for key in ("recall", "cpu_us")})
    return found


def _cost_us(rounds, qps_at):
    """Median CPU of a query at the recall, and the least and greatest."""
    qps = [qps_at(rows, RECALL) for rows in rounds]
    costs = sorted(1e6 / one for one in qps if one is not None)
    return (statistics.median(costs), costs[0], costs[-1]) if costs else None


def _shown(cost):
    return "not reached" if cost is None else f"{cost[0]:.1f} ({cost[1]:.1f}-{cost[2]:.1f})"


def instruction_sets(kept, make, efforts, rounds, qps_at, hnswlib_us):
    made = {isa or "best of this CPU": make(isa=isa) for isa in INSTRUCTION_SETS}
    lines = [f"| instruction set | µs of CPU a query at recall {RECALL} | hnswlib |", "| --- | --- | --- |"]
    for name, rows in _in_turns(made, efforts, rounds, (kept, "instructions")).items():
        cost = _cost_us(rows, qps_at)
        ratio = f"{hnswlib_us / cost[0]:.1f} x" if cost and hnswlib_us else ""
        lines.append(f"| {name} | {_shown(cost)} | {ratio} |")
    for one in made.values():
        one.close()
    return lines


def elements(kept, make, efforts, rounds, qps_at):
    made = {name: make(extra=["--element", name]) for name in ELEMENTS}
    lines = [
        f"| stored as | bytes a vector | of these walked | build, vectors/s | µs a query at recall {RECALL} | highest recall |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, rows in _in_turns(made, efforts, rounds, (kept, "element")).items():
        built = made[name].built
        kept.add("build", {"element": name}, {"vectors_per_cpu_s": built["vectors_per_cpu_s"], "walk_bytes_per_vector": built["walk_bytes_per_vector"],
                                              "bytes_per_vector": built["bytes"] / built["rows"]})
        cells = [name, f"{built['bytes'] / built['rows']:,.0f}", f"{built['walk_bytes_per_vector']:.0f}"]
        cells += [f"{built['vectors_per_cpu_s']:,.0f}", _shown(_cost_us(rows, qps_at))]
        cells.append(f"{max(row['recall'] for row in rows[0]):.4f}")
        lines.append("| " + " | ".join(cells) + " |")
        made[name].close()
    return lines


def growth(kept, name, count, cache, make, efforts, rounds, qps_at):
    made = {}
    for share in GROWTH:
        rows = int(count * share)
        folder, _ = datasets.prepare(name, cache, None if share == 1 else rows)
        made[rows] = make(folder=folder)
    lines = [f"| vectors | µs a query at recall {RECALL} | times the first |", "| --- | --- | --- |"]
    first = None
    for rows, measured in _in_turns(made, efforts, rounds, (kept, "rows")).items():
        cost = _cost_us(measured, qps_at)
        first = first or cost
        ratio = f"{cost[0] / first[0]:.2f}" if cost and first else ""
        lines.append(f"| {rows:,} | {_shown(cost)} | {ratio} |")
        made[rows].close()
    return lines


def threads(kept, make, rounds):
    """Builds on one thread and on two, in turns, by the clock on the wall."""
    built = {1: [], 2: []}
    for turn in range(rounds):
        for count in (1, 2) if turn % 2 == 0 else (2, 1):
            one = make(extra=["--threads", str(count)])
            built[count].append(one.built["vectors_per_s"])
            kept.add("build", {"threads": count}, {"vectors_per_s": one.built["vectors_per_s"]})
            one.close()
    lines = ["| threads | build, vectors/s by the clock | times one |", "| --- | --- | --- |"]
    single = statistics.median(built[1])
    for count, rates in built.items():
        middle = statistics.median(rates)
        lines.append(
            f"| {count} | {middle:,.0f} ({min(rates):,.0f}-{max(rates):,.0f}) | {middle / single:.2f} |"
        )
    return lines


class MemoryLimit:
    """A control group whose processes share no more than so much memory, page cache included."""

    ROOTS = [  # folder, file of the limit
        (pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (pathlib.Path("/sys/fs/cgroup"), "memory.max"),
    ]

    def __init__(self, mebibytes):
        for root, limit in self.ROOTS:
            self.folder = root / f"clew-bench-{os.getpid()}"
            try:
                self.folder.mkdir(exist_ok=True)
                (self.folder / limit).write_text(str(mebibytes << 20))
                return
            except OSError:
                continue
        raise PermissionError("no memory control group can be made here")

    def join(self):
        """Run in the process that shall be limited."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        self.folder.rmdir()


def forget(path):
    """Drops a file from the page cache, where the limit would not count what others have read."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)  # pages that wait to be written stay
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


def larger_than_memory(kept, make, ef):
    """Searches with less memory than the column takes: without its vectors, and without most of all."""
    whole = make()
    size, built = whole.image.stat().st_size, whole.built
    walked = built["walk_bytes_per_vector"] * built["rows"]
    queries = 24 << 20  # and the program itself
    lines = [
        f"| memory beside the queries | of the column's {size >> 20:,} MiB | queries/s at ef {ef} | KiB read a query | p50 µs | p99 µs |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, bytes_left in [
        ("all", 2 * size),
        ("codes, links and a fifth of the vectors", walked + 0.2 * (size - walked)),
        ("half of codes and links", 0.5 * walked),
    ]:
        try:
            limit = MemoryLimit(int(bytes_left + queries) >> 20)
        except PermissionError as reason:
            lines.append(f"| {name} | not measured: {reason} | | | | |")
            continue
        forget(whole.image)
        row = whole.measure([ef], extra=["--cold"], before=limit.join)[0]
        limit.close()
        kept.add("search", {"memory": name, "effort": ef}, {key: row[key] for key in ("qps", "read_bytes", "p50_us", "p99_us")})
        cells = [name, f"{bytes_left / size:.0%}", f"{row['qps']:,.0f}", f"{row['read_bytes'] / 1024:,.0f}"]
        lines.append("| " + " | ".join(cells + [f"{row['p50_us']:,.0f}", f"{row['p99_us']:,.0f}"]) + " |")
    whole.close()
    return lines
