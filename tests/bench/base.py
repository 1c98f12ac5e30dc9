"""What the tests of `clew bench` share: how the binary is run, and what becomes of it."""

import importlib.util
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).parents[2] / "bench"
SECONDS_MAX = 600
# Of a load, one after the other until something is measured.
SECONDS_TRIED = [0.3, 3, 30, 60]


def module(path):
    """A benchmark, without running it; what lies beside it is found as when it runs."""
    folder = str((BENCH / path).parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location("benchmark", BENCH / path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def have_little_room():
    """Called in a process that is to write no file of more than 500 bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))


class BenchTest(unittest.TestCase):
    """A test with an empty folder of its own."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="clew-bench-")))

    def command(self, *arguments):
        binary = os.environ.get("CLEW_BIN")
        if not binary:
            raise RuntimeError("CLEW_BIN must name the clew binary")
        return [binary, "bench", *map(str, arguments)]

    def bench(self, *arguments, status=0):
        """Standard output of a run that must end so."""
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        self.errors = done.stderr
        return done.stdout

    def measured(self, *arguments):
        """Standard output of a load in which something ended: on a machine that stands still it is given more time."""
        for self.seconds in SECONDS_TRIED:
            out = self.bench(*arguments, "--seconds", self.seconds, "--warm-up", "0.1")
            if "no request that began in these" not in self.errors:
                break
        return out

    def refused(self, reason, *arguments, status=1):
        """The run must fail and say so."""
        self.bench(*arguments, status=status)
        self.assertIn(reason, self.errors)
        self.assertNotIn("panicked", self.errors)

    def write(self, name, rows, **machine):
        """A file of results."""
        path = self.folder / name
        document = {"clew": "0.1.0", "machine": {"cpu": "one", "cores": 2, **machine}, "rows": rows}
        path.write_text(json.dumps(document))
        return path

    def read(self, name):
        return json.loads((self.folder / name).read_text())
