"""Benchmarks that are stopped on the way leave what they have measured, and nothing else."""

import signal
import subprocess
import time
import unittest

from .base import SECONDS_MAX, BenchTest


class Stopped(BenchTest):
    def setUp(self):
        super().setUp()
        self.work = self.folder / "work"
        self.work.mkdir()

    def stop(self, *arguments, when):
        """Output of a run that is told to stop as soon as `when` says so of it."""
        command = self.command(*arguments, "--dir", self.work, "--json", self.folder / "rows.json")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            when(process)
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=SECONDS_MAX)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("stopped before the end", errors)
        self.assertEqual(list(self.work.iterdir()), [])
        return out

    def works(self, process):
        """Waits until there is a folder to leave behind."""
        while process.poll() is None and not any(self.work.iterdir()):
            time.sleep(0.01)

    def test_rows_that_were_measured_are_kept(self):
        # What comes after them takes hours.
        self.stop("log", "--only", "scan,append", "--rounds", 1, "--seconds", 3600, when=lambda process: process.stdout.readline())
        rows = self.read("rows.json")["rows"]
        self.assertEqual(rows[0]["name"], "scan")

    def test_a_run_without_a_row_leaves_no_file(self):
        lines = self.folder / "app.log"
        lines.write_text("a line\n" * 1000)
        graph = self.folder / "graph.folded"
        self.stop("collect", lines, "--rounds", 1_000_000, "--profile", graph, when=self.works)
        self.assertFalse((self.folder / "rows.json").exists())
        # What was seen until then is told, too.
        self.assertTrue(graph.exists())

    def test_texts_that_are_indexed_are_left_off(self):
        corpus, searches = self.folder / "corpus.jsonl", self.folder / "searches.txt"
        corpus.write_text('{"body": "some words of a text"}\n' * 200_000)
        searches.write_text("words\n")
        self.stop("text", "--corpus", corpus, "--field", "body", "--queries", searches, "--rounds", 1_000_000, when=self.works)


if __name__ == "__main__":
    unittest.main()
