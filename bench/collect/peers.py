"""Other collectors that take the same lines apart: Filebeat, rsyslog and syslog-ng. Each reads a file, and writes JSON lines to a
folder; what counts is the processor time of its process until all of them are written."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

SECONDS_MAX = 900
LOOK_SECONDS = 0.2
TOKENS = "%{date} %{time} %{level} %{shop} [%{thread}] [%{trace}] %{class} %{took}ms uid=%{uid} - %{text}"

RSYSLOG = """
global(workDirectory="{folder}")
module(load="imfile")
module(load="mmnormalize")
template(name="json" type="list") {{ property(name="$!all-json") constant(value="\\n") }}
ruleset(name="shop") {{
  action(type="mmnormalize" rulebase="{folder}/rules" useRawMsg="on")
  action(type="omfile" file="{folder}/documents" template="json")
}}
input(type="imfile" file="{data}" tag="shop:" ruleset="shop")
"""
RULES = """version=2
rule=:%date:word% %time:word% %level:word% %shop:word% [%thread:char-to:]%] [%trace:char-to:]%] %class:word% %took:char-to:m%ms uid=%uid:word% - %text:rest%
"""
SYSLOG_NG = """@version: 3.35
options {{ stats-freq(0); log-msg-size(65536); }};
source s {{ file("{data}" flags(no-parse) log-fetch-limit(1000) log-iw-size(100000)); }};
parser p {{ regexp-parser(prefix("d.") patterns(
  '^(?<date>\\S+) (?<time>\\S+) (?<level>\\S+) (?<shop>\\S+) \\[(?<thread>[^\\]]*)\\] \\[(?<trace>[^\\]]*)\\] (?<class>\\S+) (?<took>\\d+)ms uid=(?<uid>\\S+) - (?<text>.*)$')); }};
destination d {{ file("{folder}/documents" template("$(format-json d.* --rekey d.* --shift 2)\\n")); }};
log {{ source(s); parser(p); destination(d); flags(flow-control); }};
"""


class Filebeat:
    name = "Filebeat 7.17.28, fixed format, dissect"
    case = ("filebeat", "dissect")

    def __init__(self, cache):
        self.path = first([cache / "filebeat-7.17.28/filebeat", shutil.which("filebeat")])

    def command(self, data, folder):
        config = {
            "filebeat.inputs": [{"type": "log", "paths": [str(data)], "close_eof": True}],
            "processors": [{"dissect": {"tokenizer": TOKENS, "field": "message", "target_prefix": "d"}},
                           {"drop_fields": {"fields": ["message"]}}],
            "output.file": {"path": str(folder), "filename": "documents", "rotate_every_kb": 10_000_000},
            "queue.mem": {"events": 8192, "flush.min_events": 2048}, "logging.level": "error", "path.data": str(folder / "data"),
            "path.home": str(folder), "path.logs": str(folder / "logs"),
        }
        path = folder / "filebeat.yml"
        path.write_text(json.dumps(config))
        os.chmod(path, 0o600)
        return [self.path, "-c", path], {"GOMAXPROCS": "1"}


class Unpacked:
    """A program of Debian's packages, installed or below the cache as `make clients` unpacks them."""

    def __init__(self, cache, program):
        self.root = cache / "syslog"
        self.path = first([self.root / "usr/sbin" / program, shutil.which(program), f"/usr/sbin/{program}"])
        self.is_unpacked = self.path is not None and self.path.is_relative_to(self.root)

    def environment(self):
        folders = [*self.root.glob("usr/lib/*-linux-gnu"), *self.root.glob("lib/*-linux-gnu"), self.root / "usr/lib/syslog-ng"]
        return {"LD_LIBRARY_PATH": ":".join(map(str, folders))} if self.is_unpacked else {}

    def modules(self, option, pattern):
        return [option, next(self.root.glob(pattern))] if self.is_unpacked else []


class Rsyslog(Unpacked):
    name = "rsyslog, fixed format, mmnormalize"
    case = ("rsyslog", "mmnormalize")

    def __init__(self, cache):
        super().__init__(cache, "rsyslogd")

    def command(self, data, folder):
        (folder / "rules").write_text(RULES)
        config = folder / "rsyslog.conf"
        config.write_text(RSYSLOG.format(folder=folder, data=data))
        modules = self.modules("-M", "usr/lib/*/rsyslog")
        return [self.path, "-n", "-f", config, "-i", folder / "pid", *modules], self.environment()


class SyslogNg(Unpacked):
    name = "syslog-ng, fixed format, regexp-parser"
    case = ("syslog-ng", "regexp-parser")

    def __init__(self, cache):
        super().__init__(cache, "syslog-ng")

    def command(self, data, folder):
        config = folder / "syslog-ng.conf"
        config.write_text(SYSLOG_NG.format(folder=folder, data=data))
        modules = self.modules("--module-path", "usr/lib/syslog-ng/[0-9]*")
        own = ["--persist-file", folder / "persist", "--pidfile", folder / "pid", "--control", folder / "control"]
        return [self.path, "--foreground", "--no-caps", "-f", config, *own, *modules], self.environment()


def first(paths):
    return next((pathlib.Path(path) for path in paths if path and pathlib.Path(path).exists()), None)


def all_of(cache):
    return [Filebeat(cache), Rsyslog(cache), SyslogNg(cache)]


class Lines:
    """Counts the lines of the files that a program writes, as they come."""

    def __init__(self, folder):
        self.folder, self.read, self.count = folder, {}, 0

    def look(self):
        for path in self.folder.glob("documents*"):
            with path.open("rb") as file:
                file.seek(self.read.get(path, 0))
                while piece := file.read(1 << 20):
                    self.count += piece.count(b"\n")
                self.read[path] = file.tell()
        return self.count


def measure(peer, data, folder, count):
    """Lines a second of processor time, until all are written; one that does not write them, or takes them not apart, ends it."""
    folder.mkdir()
    command, environment = peer.command(data, folder)
    process = subprocess.Popen(["taskset", "-c", "0", *map(str, command)], env=dict(os.environ, **environment),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        lines, deadline = Lines(folder), time.monotonic() + SECONDS_MAX
        while lines.look() < count and process.poll() is None and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
        if lines.count < count:
            raise SystemExit(f"{peer.name}: {lines.count} of {count} lines were written")
        ticks = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        (first_file, *_) = sorted(folder.glob("documents*"))
        with first_file.open() as file:
            document = json.loads(file.readline())
        found = document.get("d", document)
        if not {"level", "thread", "took", "text"} <= set(found):
            raise SystemExit(f"{peer.name} does not take lines apart: {document}")
        return count * os.sysconf("SC_CLK_TCK") / max(1, int(ticks[11]) + int(ticks[12]))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        shutil.rmtree(folder)
