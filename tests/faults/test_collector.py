"""A collector whose own files the disk refuses for a moment: it waits, and every line is there once."""

import json
import os
import pathlib
import subprocess
import tempfile

from .base import FaultTest
from .server import binary
from .shim import Shim

LINES = 50
# A debug binary on a busy machine: a bound for what waits for ever.
SECONDS_MAX = 120
# What each step of writing such a file may be told. Some file systems look for room only when a file is synced.
REFUSALS = [
    *[(calls, error) for error in ("ENOSPC", "EDQUOT") for calls in ("mkdir", "open", "write", "sync", "rename")],
    ("open open_read", "EMFILE"),
    ("open open_read", "ENFILE"),
]
CONFIG = """
registry: {own}/deep/registry.json
inputs: [{{type: file, paths: [{place}/a.log], parse: plain}}]
outputs: [{{type: file, path: {place}/out.ndjson}}]
"""


class OwnFiles(FaultTest):
    def test_a_step_that_is_refused_for_a_moment_ends_no_run(self):
        for calls, error in REFUSALS:
            for skip in (0, 1):
                with self.subTest(calls=calls, error=error, skip=skip), tempfile.TemporaryDirectory() as place:
                    self.collect(pathlib.Path(place), {"calls": calls, "error": error, "skip": skip, "burst": 2})

    def collect(self, place, rule):
        """A run during which the rule holds, and one behind it that has nothing left to do."""
        own = place / "own"
        own.mkdir()
        expected = [f"line {number}" for number in range(LINES)]
        (place / "a.log").write_text("".join(f"{line}\n" for line in expected))
        config = place / "collect.yml"
        config.write_text(CONFIG.format(own=own, place=place))
        shim = self.entered(Shim(own))
        env = {**os.environ, "LD_PRELOAD": str(shim.library), **shim.env()}
        for number in range(2):
            if number == 0:
                shim.fail(**rule)
            done = subprocess.run([binary(), "collect", "--config", str(config), "--once"],
                                  env=env, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
            failed = shim.heal()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(number or failed or rule["skip"], "nothing was refused")
        lines = (place / "out.ndjson").read_text().splitlines()
        self.assertEqual([json.loads(line)["message"] for line in lines], expected)
