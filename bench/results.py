"""What benchmarks write: rows as `clew bench … --json` writes them, for comparisons and curves, and the sections of `RESULTS.md`,
each of which is replaced as a whole by its benchmark's next run."""

import datetime
import importlib.util
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import time

TITLE = "# Results\n\nEach section is written by the command it names; ratios are of one run, programs in turns.\n"
# The section that is made of the first lines of the others, and what in them it is made of.
DURATIONS = "How long benchmarks take"
FIRST_LINE = re.compile(r"^`(?P<command>[^`\n]+)`, (?P<date>[\d-]{10}): (?P<machine>.*); took (?P<seconds>[\d,]+) s\.$", re.M)
TARGET = re.compile(r"^`(make bench-[a-z-]+)", re.M)
BEGAN = time.monotonic()
# What a benchmark was told that it does not do by itself, as `make` takes it: its section says so. These are places, and no part of it.
TOLD = []
PLACES = {"json", "results", "out", "cache", "dir", "curves"}


def took_s():
    """Whole seconds since the benchmark began: at the start, what it needs is imported."""
    return round(time.monotonic() - BEGAN)


class Rows:
    """Rows by name and parameters; what is measured several times becomes a list of samples."""

    def __init__(self):
        self.rows = {}

    def add(self, name, params, metrics):
        """Adds a sample of each metric; what was not found (None) is none."""
        key = name, json.dumps(params, sort_keys=True)
        row = self.rows.setdefault(key, {"name": name, "params": params, "metrics": {}})
        for metric, value in metrics.items():
            if value is not None:
                row["metrics"].setdefault(metric, []).extend(value if isinstance(value, list) else [value])

    def add_rows(self, rows, **params):
        """Adds rows that the binary wrote, with parameters more."""
        for row in rows:
            self.add(row["name"], {**params, **row["params"]}, row["metrics"])

    def samples(self, name, metric, **params):
        """All samples of one thing; none where it was not measured."""
        row = self.rows.get((name, json.dumps(params, sort_keys=True)))
        return row["metrics"].get(metric, []) if row else []

    def named(self, name, **params):
        """The rows of a name that have these parameters, in the order in which they were added."""
        fits = lambda row: row["name"] == name and all(row["params"].get(key) == value for key, value in params.items())
        return [row for row in self.rows.values() if fits(row)]

    def save(self, path, binary, machine):
        """Writes the file of results; to nowhere without a path."""
        if path:
            document = {"clew": version(binary), "machine": machine, "took_s": took_s(), "rows": list(self.rows.values())}
            pathlib.Path(path).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def table(rows, params, metrics):
    """Lines of a table: rows by these parameters, with medians of these metrics and, of several samples, least and greatest.

    `params` and `metrics` are of titles by name."""
    titles = [*params.values(), *metrics.values()]
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    for row in rows:
        cells = [str(row["params"].get(name, "")) for name in params]
        cells += [shown(row["metrics"].get(name, [])) for name in metrics]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def shown(samples):
    """A median with least and greatest."""
    if not samples:
        return "–"
    middle = statistics.median(samples)
    digits = 0 if middle >= 1000 or middle == int(middle) else 1 if middle >= 100 else 2 if middle >= 10 else 3 if middle >= 1 else 4
    text = f"{middle:,.{digits}f}"
    if len(samples) > 1 and min(samples) < max(samples):
        text += f" ({min(samples):,.{digits}f}–{max(samples):,.{digits}f})"
    return text


def version(binary):
    """The version of a build of Clew, as its own `--json` tells it."""
    told = subprocess.run([str(binary), "--version"], capture_output=True, text=True, check=False).stdout.split()
    return told[-1] if told else "unknown"


def machine():
    """The machine, for benchmarks to which no row of the binary's own tells it."""
    cpus = (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    return {"cpu": next(cpus, "unknown"), "cores": os.cpu_count(), "kernel": platform.release()}


def add_json(parser):
    """The option `--json`, the same in every benchmark."""
    parser.add_argument("--json", type=pathlib.Path, default=None, metavar="FILE",
                        help="also write the rows here, as `clew bench compare` and `plot` read them")


def need(*packages):
    """Ends a benchmark by a line, and not amid its imports, where one of the Python packages that it needs is not there."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        raise SystemExit(f"not installed: {', '.join(missing)}; `make` has a target for each benchmark that installs what it needs")


def given(parser, *programs, arguments=None):
    """What a benchmark is told, where the programs that these options name run and there are folders for what it writes: what is
    in the way of it is found out before it takes hours."""
    told = parser.parse_args(arguments)
    for program in filter(None, (getattr(told, name) for name in programs)):
        if not shutil.which(str(program)):
            parser.error(f"no such program: {program}")
    if getattr(told, "rounds", 1) < 1:
        parser.error(f"--rounds is {told.rounds}, and has to be 1 or more")
    for path in (getattr(told, name, None) for name in ("json", "results", "out")):
        if path and str(path) != "-" and not pathlib.Path(path).absolute().parent.is_dir():
            parser.error(f"cannot write {path}: there is no such folder")
    TOLD[:] = told_of(parser, told, programs)
    return told


def told_of(parser, told, programs):
    """Options with values that are not their own, but for programs and places."""
    words = []
    for name, value in vars(told).items():
        if name not in PLACES.union(programs) and value != parser.get_default(name):
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    return words


def publish(path, title, command, machine, lines):
    """Prints a section's lines, and writes it, unless the path is `-`; without the machine's server, which tables name themselves. A
    command that names no `ARGS` gets those that were told."""
    print("\n".join(lines))
    if TOLD and "ARGS=" not in command:
        command += f' ARGS="{shlex.join(TOLD)}"'
    if path != "-":
        write(path, title, command, {key: value for key, value in machine.items() if key != "server"}, lines)


def write(path, title, command, machine, lines):
    """Replaces the section `title`, or adds it at the end; and tells how long it took to come this far."""
    path = pathlib.Path(path)
    text = path.read_text() if path.exists() else TITLE
    machine = ", ".join(f"{key} {value}" for key, value in machine.items())
    head = f"`{command}`, {datetime.date.today()}: {machine}; took {took_s():,} s."
    text = with_section(text, title, [head, "", *lines])
    # In one step: whoever breaks it off has what was there.
    part = path.with_name(f"{path.name}.part")
    part.write_text(with_section(text, DURATIONS, durations(text)))
    part.replace(path)


def with_section(text, title, lines):
    """A text in which this is the section `title`."""
    section = "\n".join([f"## {title}", "", *lines]).rstrip() + "\n"
    known = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.M | re.S)
    if known.search(text):
        text = known.sub(lambda _: section + "\n", text)
    else:
        text = text.rstrip() + "\n\n" + section
    return text.rstrip() + "\n"


def durations(text):
    """Lines of a table of how long each command took that the text has sections of; a command of several took until its last."""
    longest = {}
    for line in FIRST_LINE.finditer(text):
        seconds = int(line["seconds"].replace(",", ""))
        known = longest.get(line["command"])
        # Dates of one form: the later one is the greater.
        if known is None or (line["date"], seconds) > known[:2]:
            longest[line["command"]] = line["date"], seconds, line["machine"]
    rows = [f"| `{command}` | {seconds / 60:.1f} | {date} | {machine} |" for command, (date, seconds, machine) in sorted(longest.items())]
    return ["Of those that have run since it is noted; building and installing are not part of it.", "",
            "| command | minutes | date | machine |", "| --- | --- | --- | --- |", *rows, *not_known(text, longest)]


def not_known(text, commands):
    """Lines about the targets that sections are of and none of these commands is of."""
    rest = sorted(set(TARGET.findall(text)) - {command.split(" ARGS=")[0] for command in commands})
    return ["", f"Not noted yet: {', '.join(f'`{target}`' for target in rest)}."] if rest else []
