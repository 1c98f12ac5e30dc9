"""Something else in the place of a file: it is named, and nobody waits for it."""

import os
import shutil
import subprocess
import unittest

from .server import DidNotStart, Server, binary, folder

# A debug binary on a busy machine: a bound for what waits for somebody who writes into a pipe.
SECONDS_MAX = 60
REPOSITORY = "repositories/r"
RESTORE = {"rename_pattern": "(.+)", "rename_replacement": "again_$1"}


class InPlace(unittest.TestCase):
    def setUp(self):
        self.place = folder()
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.data = self.place / "data"
        self.data.mkdir()
        with Server(self.data) as server:
            with server.client() as client:
                client.done("PUT", "/a/_doc/1?refresh=true", {"n": 1, "t": "some words"})
                client.done("POST", "/a/_flush")
                client.done("PUT", "/_snapshot/r", {"type": "fs", "settings": {"location": "r"}})
                client.done("PUT", "/_snapshot/r/s?wait_for_completion=true", {})
            server.stop()
        self.files = [path.relative_to(self.data) for path in sorted(self.data.rglob("*")) if path.is_file()]

    def exchanged(self, file, make):
        """A copy of the folder with something else in the place of a file."""
        trial = self.place / "trial"
        shutil.rmtree(trial, ignore_errors=True)
        shutil.copytree(self.data, trial)
        (trial / file).unlink()
        make(trial / file)
        return trial

    def test_a_named_pipe_is_named_and_not_waited_for(self):
        self.assertGreater(len(self.files), 8)
        for file in self.files:
            with self.subTest(file=str(file)):
                trial = self.exchanged(file, os.mkfifo)
                whole = trial / REPOSITORY if str(file).startswith(REPOSITORY) else trial
                checked = subprocess.run(
                    [binary(), "verify", str(whole)], capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
                told = checked.stdout + checked.stderr
                self.assertEqual(checked.returncode, 1, told)
                self.assertIn(file.name, told)
                self.assertIn("it is a named pipe and no file", told)
                self.assertIn(file.name, self.refusal(trial))

    def test_a_link_that_leads_nowhere_is_not_taken_for_nothing(self):
        for file in self.files:
            if file.name not in ("catalog.json", "manifest.json"):
                continue
            with self.subTest(file=str(file)):
                trial = self.exchanged(file, lambda path: path.symlink_to(self.place / "gone"))
                self.assertIn(file.name, self.refusal(trial))

    def refusal(self, trial):
        """How a server refuses to serve a folder, or what of it."""
        server = Server(trial)
        try:
            server.start(SECONDS_MAX)
            with server.client(SECONDS_MAX) as client:
                replies = [
                    client.get("/a/_search"),
                    client.get("/_snapshot/r/_all"),
                    client.post("/_snapshot/r/s/_restore?wait_for_completion=true", RESTORE),
                ]
        except DidNotStart as refused:
            return str(refused)
        finally:
            server.__exit__()
            server.log_path.unlink(missing_ok=True)
        refused = [reply.text for reply in replies if reply.status >= 500]
        self.assertTrue(refused, replies)
        return refused[0]


if __name__ == "__main__":
    unittest.main()
