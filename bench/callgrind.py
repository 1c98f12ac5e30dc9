"""Programs under callgrind: how many instructions they take for what is asked of them, and in which functions.

It runs them on a machine of its own making, whose counts differ by some thousandths from run to run, whatever else this machine
does. It is blind to caches and to waiting, and sees no instructions of AVX-512.
"""

import collections
import pathlib
import re
import shutil
import subprocess
import tempfile

from server import END_SECONDS_MAX, Server

TOOL = ["valgrind", "--tool=callgrind", "--quiet"]
# A server is some fifty times as slow, and its threads take turns on one core: to it everybody seems to take very long.
PATIENCE = {f"CLEW_HTTP__{phase}_TIMEOUT_MS": "0" for phase in ("HEADER", "BODY", "ANSWER", "IDLE")}
NAMED = re.compile(r"(?P<kind>c?fn)=(?P<number>\(\d+\))(?: (?P<name>.*))?")
# What tells apart what is one function of two builds: hashes, depths of recursion, and numbers of blocks and closures.
NUMBERS = re.compile(r"(::h[0-9a-f]{16})?('\d+)?$|(?<=\{impl)#\d+|(?<=\{closure)#\d+")
Counts = collections.namedtuple("Counts", "total functions")


def missing():
    """Why nothing can be counted here, or nothing."""
    absent = [program for program in ("valgrind", "callgrind_control") if not shutil.which(program)]
    return f"{absent[0]} is not installed (apt-get install valgrind)" if absent else None


def with_names(binary, folder):
    """A copy of the binary that has names of functions, its own or those of `clew.debug` beside it, and no debugging information:
    where that is compressed valgrind reads none and no names either, and where it is not it reads it for minutes."""
    binary = pathlib.Path(shutil.which(binary) or binary).resolve()
    symbols, names, named = binary.with_name("clew.debug"), folder / "clew.debug", folder / "clew"
    if not shutil.which("objcopy"):
        return binary
    link = ["--remove-section=.gnu_debuglink"]
    if symbols.exists() and build_of(symbols) == build_of(binary):
        subprocess.run(["objcopy", "--strip-debug", symbols, names], check=True)
        link.append(f"--add-gnu-debuglink={names}")
    # What is no program of the machine's own is run as it is.
    done = subprocess.run(["objcopy", "--strip-debug", *link, binary, named], check=False, stderr=subprocess.DEVNULL)
    return named if done.returncode == 0 else binary


def build_of(file):
    """What the linker calls a build by, in the program and in its `clew.debug`."""
    told = subprocess.run(["readelf", "-n", file], capture_output=True, text=True, check=False).stdout
    return re.search("Build ID: ([0-9a-f]+)|$", told)[1]


class Counted(Server):
    """A server under callgrind, which counts where it is told to; it starts in a minute or so."""

    def __init__(self, binary):
        self.out = pathlib.Path(tempfile.mkdtemp(prefix="clew-callgrind-"))
        tool = [*TOOL, "--instr-atstart=no", f"--callgrind-out-file={self.out / 'counts'}"]
        super().__init__(with_names(binary, self.out), tool, env=PATIENCE)

    def __exit__(self, kind, error, _):
        """Says what a server complained of that has ended by itself: its client knows no more than that nobody answers."""
        has_ended, said = isinstance(error, Exception) and gone(self.process), self.said()
        super().__exit__(kind, error, _)
        if has_ended:
            raise RuntimeError(f"it ended by {self.process.returncode}: {said}") from error

    def close(self):
        super().close()
        shutil.rmtree(self.out, ignore_errors=True)

    def count(self, work):
        """What the server does while something is asked of it, and beside that."""
        self.control("-z")
        self.control("-i", "on")
        work()
        self.control("-i", "off")
        self.control("-d")
        dumps = list(self.out.glob("counts*"))
        counts = added(dumps)
        for path in dumps:
            path.unlink()
        return counts

    def control(self, *order):
        subprocess.run(["callgrind_control", *order, str(self.process.pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def gone(process):
    """Whether a process has ended, where it is about to if a connection to it has."""
    try:
        process.wait(END_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return False
    return True


def program(command):
    """What a program does from its start to its end."""
    binary, *arguments = map(str, command)
    with tempfile.TemporaryDirectory(prefix="clew-callgrind-") as name:
        folder = pathlib.Path(name)
        out = folder / "counts"
        tool = [*TOOL, f"--callgrind-out-file={out}", with_names(binary, folder)]
        subprocess.run([*tool, *arguments], check=True, stdout=subprocess.DEVNULL)
        return added([out])


def added(files):
    """The counts of files of callgrind's, put together."""
    functions = collections.Counter()
    for path in files:
        with path.open(errors="replace") as lines:
            functions.update(read(lines))
    return Counts(functions.total(), functions)


def read(lines):
    """Instructions of each function itself, without what it calls."""
    functions, names, inside, of_call = collections.Counter(), {}, None, False
    for line in lines:
        if line[0].isdigit() or line[0] in "+-*":
            # Below `calls=` stands what a call has taken, which its function has, too.
            if inside and not of_call:
                functions[inside] += int(line.split()[1])
            of_call = False
        elif line.startswith("calls="):
            of_call = True
        elif found := NAMED.match(line):
            # A name stands where it comes for the first time, its number everywhere else.
            if found["name"]:
                names[found["number"]] = NUMBERS.sub("", found["name"])
            if found["kind"] == "fn":
                inside = names.get(found["number"], found["number"])
    return functions
