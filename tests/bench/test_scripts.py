"""What `make bench-…` runs where no peer is needed, with tiny sizes: the rows that it keeps and the section that it writes."""

import os
import pathlib
import subprocess
import sys
import unittest

from .base import SECONDS_MAX, BenchTest

BENCH = pathlib.Path(__file__).parents[2] / "bench"


class Scripts(BenchTest):
    def script(self, path, *arguments, results=True):
        """Output of a benchmark, and the names of its rows."""
        command = [sys.executable, BENCH / path, "--bin", os.environ["CLEW_BIN"], "--json", self.folder / "rows.json", *arguments]
        if results:
            command += ["--results", self.folder / "RESULTS.md"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        document = self.read("rows.json")
        self.assertEqual(sorted(document), ["clew", "machine", "rows"])
        self.assertEqual(document["clew"], self.bench_version())
        # What a benchmark writes can be compared.
        self.bench("compare", self.folder / "rows.json", self.folder / "rows.json")
        return done.stdout, document["rows"]

    def bench_version(self):
        return subprocess.run([os.environ["CLEW_BIN"], "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]

    def test_a_server_under_load(self):
        (self.folder / "RESULTS.md").write_text("# Results\n\n## Before\n\nkept\n\n## A server under load\n\nold\n\n## After\n\nkept\n")
        _, rows = self.script("serve/run.py", "--rounds", 2, "--seconds", 0.2, "--warm-up", 0.1, "--rows", 300, "--dims", 8,
                              "--ef-search", 16, "--events", 500, "--clients", "1,2", "--rate", 50)
        searches = [row for row in rows if row["params"].get("load") == "vectors" and row["name"] == "search"]
        # A row for each load, a sample for each round.
        self.assertEqual([row["params"]["concurrency"] for row in searches], [1, 2])
        self.assertEqual([len(row["metrics"]["qps"]) for row in searches], [2, 2])
        text = (self.folder / "RESULTS.md").read_text()
        self.assertNotIn("old", text)
        self.assertEqual(text.count("kept"), 2)
        for title in ("| ef_search | concurrency | QPS |", "| kind | rate | QPS |", "| batch | concurrency | documents/s |"):
            self.assertIn(title, text)

    def test_growth_has_tables_and_curves(self):
        out, rows = self.script("serve/growth.py", "--rows", "200,400", "--shards", "1,2", "--clients", "1,2", "--base", 200, "--dims", 8,
                                "--seconds", 0.1, "--curves", self.folder / "curves")
        grown = lambda series, name, key: sorted({row["params"][key] for row in rows if row["name"] == name and row["params"]["grows"] == series})
        self.assertEqual(grown("rows", "search", "rows"), [200, 400])
        self.assertEqual(grown("rows", "search", "kind"), ["aggregation", "and", "logs", "term", "vectors"])
        self.assertEqual(grown("shards", "load", "shards"), [1, 2])
        self.assertEqual(grown("clients", "bulk", "concurrency"), [1, 2])
        self.assertEqual(len(list((self.folder / "curves").glob("growth-*.svg"))), 9)
        self.assertIn("### Shards", out)
        self.assertIn("## Growth of a server", (self.folder / "RESULTS.md").read_text())

    def test_two_builds_in_turns(self):
        binary = os.environ["CLEW_BIN"]
        command = [sys.executable, str(BENCH / "turns.py"), "--old", binary, "--new", binary, "--rounds", "4",
                   "--json", str(self.folder / "out.json")]
        load = ["--", "serve", "bulk", "--batch", "10", "--concurrency", "1", "--seconds", "0.1", "--warm-up", "0"]
        done = subprocess.run(command + load, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        turns = [line.split()[-1] for line in done.stderr.splitlines() if line.startswith("turn")]
        self.assertEqual(turns, ["old", "new", "new", "old"] * 2)
        self.assertRegex(done.stdout, r"docs_per_s \(/s, higher is better\)")
        (row,) = next(one["rows"] for one in self.read("out.json")["metrics"] if one["metric"] == "docs_per_s")
        self.assertEqual((row["old"]["samples"], row["new"]["samples"]), (4, 4))
        refused = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertIn("behind `--`", refused.stderr)

    def test_the_collector_alone(self):
        out, rows = self.script("collect/run.py", "--lines", 50, "--rounds", 2, "--dir", self.folder, "--no-results", results=False)
        self.assertEqual({len(row["metrics"]["lines_per_cpu_s"]) for row in rows if row["params"]["program"] == "clew"}, {2})
        self.assertIn("| Clew, fixed format, dissect |", out)


if __name__ == "__main__":
    unittest.main()
