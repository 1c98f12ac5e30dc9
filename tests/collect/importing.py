"""Runs `clew collect import`, and what it prints."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BINARY = os.environ.get("CLEW_BIN", "clew")


class Importing(unittest.TestCase):
    """A folder with a configuration of another shipper and a log that it reads."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_clew(self, *arguments):
        done = subprocess.run([BINARY, "collect", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def documents(self, name, text, log):
        """What a configuration of another shipper makes of a log, and what was told of it."""
        (self.folder / "app.log").write_text(log)
        (self.folder / name).write_text(text)
        imported = self.run_clew("import", name)
        (self.folder / "collect.yaml").write_text(imported.stdout)
        shown = self.run_clew("--config", "collect.yaml", "--dry-run").stdout
        return [json.loads(line) for line in shown.splitlines()], imported.stderr
