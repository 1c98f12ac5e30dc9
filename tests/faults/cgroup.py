"""A control group that bounds a process's memory, in either version of the kernel's interface."""

import os
import pathlib

from .missing import Missing

ROOT = pathlib.Path("/sys/fs/cgroup")


class MemoryGroup:
    """A group of its own below the one that this process is in; a context manager."""

    def __init__(self, bytes_max):
        self.bytes_max = bytes_max
        self.path = None

    def __enter__(self):
        if (ROOT / "cgroup.controllers").exists():
            parent, files = ROOT, {"memory.max": self.bytes_max, "memory.swap.max": 0}
        elif (ROOT / "memory").is_dir():
            parent, files = ROOT / "memory", {"memory.limit_in_bytes": self.bytes_max}
        else:
            raise Missing("no memory control group is mounted")
        path = parent / f"clew-faults-{os.getpid()}-{id(self)}"
        try:
            path.mkdir()
            self.path = path
            for name, value in files.items():
                # Machines without swap lack the second one.
                if (path / name).exists() or name != "memory.swap.max":
                    (path / name).write_text(str(value))
        except OSError as error:
            self.__exit__()
            raise Missing(f"a memory control group cannot be made: {error}") from error
        return self

    def __exit__(self, *_):
        if self.path is not None:
            # Only an empty group can be removed; its processes were stopped before.
            self.path.rmdir()
            self.path = None

    def command(self):
        """What to put before a command, so that it runs in the group from its first page on."""
        return ["sh", "-c", f'echo $$ > "{self.path}/cgroup.procs" && exec "$@"', "sh"]

    def peak_bytes(self):
        """The most that the group ever used, page cache included."""
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            if (self.path / name).exists():
                return int((self.path / name).read_text())
        return 0

    def kills(self):
        """How many processes the kernel ended for want of memory."""
        for name in ("memory.events", "memory.oom_control"):
            if (self.path / name).exists():
                rows = dict(line.split() for line in (self.path / name).read_text().splitlines())
                return int(rows.get("oom_kill", 0))
        return 0
