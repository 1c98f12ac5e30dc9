"""Builds shim.c and sets its rules while the server runs: a disk that fails, a clock that goes wrong."""

import atexit
import ctypes
import errno
import functools
import mmap
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from .missing import Missing

SOURCE = pathlib.Path(__file__).with_name("shim.c")
CALLS = {name: 1 << bit for bit, name in enumerate(
    ["open", "write", "sync", "rename", "mkdir", "truncate", "open_read"])}
SHORT, LOSE = 1, 2
LOST_MAX = 64


class Lost(ctypes.Structure):
    """Bytes of a file that a failed sync left in memory alone."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("inode", "start", "end")]


class Control(ctypes.Structure):
    """The layout of `struct control` in shim.c."""

    _fields_ = [
        *[(name, ctypes.c_uint32) for name in ("calls", "error", "flags", "ppm")],
        *[(name, ctypes.c_uint64) for name in ("skip", "burst", "seen", "failed", "chance")],
        ("rate", ctypes.c_double),
        ("since_ns", ctypes.c_int64),
        ("offset_ns", ctypes.c_int64),
        ("lost_count", ctypes.c_uint64),
        ("part", ctypes.c_char * 64),
        ("root", ctypes.c_char * 256),
        ("lost", Lost * LOST_MAX),
    ]


@functools.cache
def library():
    """The path of the built library."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise Missing("there is no C compiler (cc) to build the failing disk with")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="clew-faults-shim-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "shim.so"
    built = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", path, SOURCE, "-ldl", "-lpthread"],
        capture_output=True, text=True)
    if built.returncode:
        raise Missing(f"the failing disk cannot be built: {built.stderr}")
    return path


class Shim:
    """The rules for the servers whose environment has `env()`."""

    def __init__(self, root):
        self.library = library()
        self.file = tempfile.NamedTemporaryFile(prefix="clew-faults-control-")
        self.file.truncate(ctypes.sizeof(Control))
        self.page = mmap.mmap(self.file.fileno(), ctypes.sizeof(Control))
        self.control = Control.from_buffer(self.page)
        self.control.root = str(root).encode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def env(self):
        return {"FAULTS_CONTROL": self.file.name}

    def fail(self, calls, error="ENOSPC", part="", skip=0, burst=0, share=1.0, seed=1, flags=0):
        """From now on, of the named calls (`"write sync"`, or `"all"` that change something) on paths with
        `part` in them, the first `skip` pass and the next `burst` fail (0: all), each with the chance `share`."""
        control = self.control
        control.calls = 0
        names = [name for name in CALLS if name != "open_read"] if calls == "all" else calls.split()
        control.error, control.flags, control.part = getattr(errno, error), flags, part.encode()
        control.skip, control.burst, control.ppm = skip, burst, int(share * 1_000_000)
        control.seen = control.failed = 0
        control.chance = seed * 0x9E3779B97F4A7C15 & (1 << 64) - 1
        control.calls = sum(CALLS[name] for name in names)

    def heal(self):
        """No call fails any more. Returns how many did."""
        self.control.calls = 0
        return self.control.failed

    @property
    def failed(self):
        return self.control.failed

    def clock(self, rate=1.0, offset_s=0.0, at_s=None):
        """The wall clock runs at this rate from now on (0: it stands), moved by an offset from the true time,
        or set to a time since 1970."""
        now = time.time_ns()
        self.control.since_ns = 0
        self.control.rate = rate
        self.control.offset_ns = int(offset_s * 1e9) if at_s is None else int(at_s * 1e9) - now
        self.control.since_ns = now

    def lose(self, folder):
        """After the server's end: what its failed syncs left in memory alone is gone. Returns the files.

        The bytes of such pages are zeros then, as after a power cut; what the server has written again
        since is not among them."""
        control = self.control
        ranges = [(lost.inode, lost.start, lost.end) for lost in control.lost[: control.lost_count]]
        control.lost_count = 0
        touched = []
        for path in sorted(pathlib.Path(folder).rglob("*")):
            for inode, start, end in ranges:
                if path.is_file() and path.stat().st_ino == inode and start < end:
                    with open(path, "r+b") as file:
                        size = os.fstat(file.fileno()).st_size
                        file.seek(start)
                        file.write(bytes(max(0, min(end, size) - start)))
                    touched.append(path)
        return touched

    def close(self):
        del self.control
        self.page.close()
        self.file.close()
