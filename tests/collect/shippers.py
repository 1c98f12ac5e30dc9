"""Real rsyslog and syslog-ng as processes of a test: with configurations and folders of its own, and no rights."""

import os
import pathlib
import shutil
import subprocess
import unittest

CACHE = pathlib.Path(os.environ.get("CLEW_CACHE", pathlib.Path.home() / ".cache" / "clew"))
# Where `make clients` unpacks Debian's packages.
UNPACKED = CACHE / "syslog"
STOP_SECONDS_MAX = 60


def program(name):
    """The program, unpacked or installed; the class that needs it is skipped, with a reason, without it."""
    found = UNPACKED / "usr/sbin" / name
    if found.exists():
        return found
    if installed := shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
        return pathlib.Path(installed)
    raise unittest.SkipTest(f"{name} is neither installed nor at {found}: `make clients` unpacks it")


def libraries(path):
    """Folders of an unpacked program that have its modules, and an environment that has its libraries."""
    if not path.is_relative_to(UNPACKED):
        return None, dict(os.environ)
    folders = [*UNPACKED.glob("usr/lib/*-linux-gnu"), *UNPACKED.glob("lib/*-linux-gnu"), UNPACKED / "usr/lib/syslog-ng"]
    modules = {
        "rsyslogd": next(UNPACKED.glob("usr/lib/*/rsyslog"), None),
        "syslog-ng": next(UNPACKED.glob("usr/lib/syslog-ng/[0-9]*"), None),
    }[path.name]
    return modules, dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, folders)))


class Shipper:
    """A running program; a context manager. What it says is in `said`."""

    def __init__(self, path, arguments, folder):
        self.modules, self.environment = libraries(path)
        self.command = [str(path), *map(str, arguments(self.modules))]
        self.said = pathlib.Path(folder, f"{path.name}.said")

    def __enter__(self):
        with self.said.open("ab") as said:
            self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def wait(self, seconds):
        """Until it ends by itself; returns its status."""
        return self.process.wait(seconds)

    def words(self):
        return self.said.read_text(errors="replace")


def rsyslog(folder, config):
    """rsyslogd with a configuration, everything of it in this folder."""
    folder = pathlib.Path(folder)
    path = program("rsyslogd")
    file = folder / "rsyslog.conf"
    file.write_text(f'global(workDirectory="{folder}")\n{config}')
    return Shipper(path, lambda modules: ["-n", "-f", file, "-i", folder / "rsyslog.pid", *(["-M", modules] if modules else [])], folder)


def syslog_ng(folder, config):
    """syslog-ng with a configuration, everything of it in this folder."""
    folder = pathlib.Path(folder)
    path = program("syslog-ng")
    file = folder / "syslog-ng.conf"
    file.write_text(f"@version: 3.35\noptions {{ keep-hostname(yes); stats-freq(0); }};\n{config}")
    own = {"--persist-file": "persist", "--pidfile": "pid", "--control": "control"}
    own = [text for option, name in own.items() for text in (option, folder / f"syslog-ng.{name}")]
    return Shipper(path, lambda modules: ["--foreground", "--no-caps", "--stderr", "-f", file, *own,
                                          *(["--module-path", modules] if modules else [])], folder)
