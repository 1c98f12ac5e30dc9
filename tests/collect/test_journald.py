"""The journal of a real systemd-journald, which runs for a moment in a namespace of its own."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from .bulk_server import BulkServer
from .listening import BINARY, TIMEOUT_SECONDS

JOURNALD = pathlib.Path("/lib/systemd/systemd-journald")
# The folder /run of the namespace is its own, and so are the sockets in it. Entries are in the file once a sync has come back.
SCRIPT = """
mount -t tmpfs tmpfs /run && mkdir -p /run/log/journal /run/systemd/journal || exit 7
{journald} & journald=$!
until [ -S /run/systemd/journal/socket ]; do kill -0 $journald || exit 7; sleep 0.05; done
printf 'MESSAGE=of several values\\nTAG=a\\nTAG=b\\nBINARY=\\001\\002\\nSYSLOG_IDENTIFIER=clewtest\\nPRIORITY=3\\n' | logger --journald
for number in $(seq 100); do
    printf 'MESSAGE=entry %s\\nSYSLOG_IDENTIFIER=clewtest\\nPRIORITY=6\\n' $number | logger --journald
done
journalctl --sync --quiet 2>/dev/null || sleep 1
kill $journald; wait $journald
cp -r /run/log/journal {folder}/
"""


class Journald(unittest.TestCase):
    def setUp(self):
        for program in ("unshare", "journalctl", "logger"):
            if not shutil.which(program):
                self.skipTest(f"{program} is not on the PATH")
        if os.geteuid() != 0 or not JOURNALD.exists():
            self.skipTest(f"{JOURNALD} is not there, or may not run in a namespace of its own: this is not root")
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        script = SCRIPT.format(journald=JOURNALD, folder=self.folder)
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=120)
        if done.returncode or not (self.folder / "journal").exists():
            self.skipTest(f"no journal could be made here: {done.returncode} {done.stderr}")

    def collect(self, url, more=""):
        config = self.folder / "collect.yaml"
        config.write_text(f"""
registry: {self.folder}/registry.json
inputs:
  - {{type: journald, directory: {self.folder}/journal, merge: true, identifiers: [clewtest]{more}}}
outputs:
  - {{type: opensearch, url: "{url}"}}
""")
        command = [BINARY, "collect", "--config", str(config), "--once"]
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True).stderr

    def test_entries_are_read_once_with_their_fields(self):
        with BulkServer() as server:
            self.collect(server.url, ", priority: err")
            (found,) = server.documents.values()
            self.assertEqual(found["message"], "of several values")
            self.assertEqual((found["process"]["name"], found["log"]["level"]), ("clewtest", "error"))
            self.assertEqual((found["journald"]["tag"], found["journald"]["binary"]), (["a", "b"], "\x01\x02"))
            # The cursor is that of the one entry; those behind it are read now, by another filter.
            self.collect(server.url)
            expected = {"of several values"} | {f"entry {number}" for number in range(1, 101)}
            self.assertEqual({document["message"] for document in server.documents.values()}, expected)
            self.assertEqual((len(server.documents), server.repeated), (101, 0))
            self.assertIn(": 0 lines,", self.collect(server.url))

    def test_an_empty_folder_has_no_entries(self):
        (self.folder / "empty").mkdir()
        shutil.rmtree(self.folder / "journal")
        (self.folder / "empty").rename(self.folder / "journal")
        with BulkServer() as server:
            self.collect(server.url)
            self.assertEqual(server.documents, {})


if __name__ == "__main__":
    unittest.main()
