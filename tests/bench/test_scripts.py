"""What `make bench-…` runs where no peer is needed, with tiny sizes: the rows that it keeps and the section that it writes."""

import argparse
import contextlib
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest
from unittest import mock

from .base import BENCH, SECONDS_MAX, BenchTest, module

# Of each load, one after the other until all of them have measured something.
SECONDS_TRIED = [0.2, 1, 5]
HAS_NUMPY = importlib.util.find_spec("numpy") is not None
HAS_PYMILVUS = HAS_NUMPY and importlib.util.find_spec("pymilvus") is not None
# What benchmarks are made of: each is run by one, or hands over to one (`turns.py` to `clew bench compare`).
PARTS = {"turns.py", "pgo/train.py", "vectors/worker.py"}


class Scripts(BenchTest):
    def script(self, path, *arguments):
        """Output of a benchmark, and its rows."""
        command = [sys.executable, BENCH / path, "--bin", os.environ["CLEW_BIN"], "--json", self.folder / "rows.json",
                   "--results", self.folder / "RESULTS.md", *arguments]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        document = self.read("rows.json")
        self.assertEqual(sorted(document), ["clew", "machine", "rows", "took_s"])
        self.assertEqual(document["clew"], self.bench_version())
        # What a benchmark writes can be compared.
        self.bench("compare", self.folder / "rows.json", self.folder / "rows.json")
        return done.stdout, document["rows"]

    def bench_version(self):
        return subprocess.run([os.environ["CLEW_BIN"], "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]

    def patiently(self, check):
        """Checks with loads of so many seconds. One in which nothing has ended, on a machine that stood still, is tried for longer."""
        *short, last = SECONDS_TRIED
        for seconds in short:
            with contextlib.suppress(AssertionError):
                return check(seconds)
        return check(last)

    def test_a_server_under_load(self):
        self.patiently(self.check_a_server_under_load)

    def check_a_server_under_load(self, seconds):
        (self.folder / "RESULTS.md").write_text("# Results\n\n## Before\n\nkept\n\n## A server under load\n\nold\n\n## After\n\nkept\n")
        _, rows = self.script("serve/run.py", "--rounds", 2, "--seconds", seconds, "--warm-up", 0.1, "--rows", 300, "--dims", 8,
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
        self.patiently(self.check_growth)

    def check_growth(self, seconds):
        out, rows = self.script("serve/growth.py", "--rows", "200,400", "--shards", "1,2", "--clients", "1,2", "--base", 200, "--dims", 8,
                                "--seconds", seconds, "--curves", self.folder / "curves")
        grown = lambda series, name, key: sorted({row["params"][key] for row in rows if row["name"] == name and row["params"]["grows"] == series})
        self.assertEqual(grown("rows", "search", "rows"), [200, 400])
        self.assertEqual(grown("rows", "search", "kind"), ["aggregation", "and", "logs", "term", "vectors"])
        self.assertEqual(grown("shards", "load", "shards"), [1, 2])
        self.assertEqual(grown("clients", "bulk", "concurrency"), [1, 2])
        self.assertEqual(len(list((self.folder / "curves").glob("growth-*.svg"))), 9)
        self.assertIn("### Shards", out)
        self.assertIn("## Growth of a server", (self.folder / "RESULTS.md").read_text())

    @unittest.skipUnless(importlib.util.find_spec("opensearchpy"), "opensearch-py is not installed")
    def test_what_a_profile_costs_that_is_always_on(self):
        out, rows = self.script("serve/always_on.py", "--rounds", 2, "--searches", 200, "--documents", 500, "--idle", 0.5)
        self.assertIn("| interruptions, 19 a second |", out)
        by_rate = {row["params"]["looks_per_s"]: row["metrics"]["cpu_us"] for row in rows if row["name"] == "search"}
        self.assertEqual({rate: len(samples) for rate, samples in by_rate.items()}, {0: 2, 199: 2})
        (parts,) = (row["metrics"] for row in rows if row["name"] == "always_on")
        # Symbols were read for the first capture.
        self.assertGreater(parts["naming"][0], 0)

    def test_two_builds_in_turns(self):
        self.patiently(self.check_turns)

    def check_turns(self, seconds):
        binary = os.environ["CLEW_BIN"]
        command = [sys.executable, str(BENCH / "turns.py"), "--old", binary, "--new", binary, "--rounds", "4",
                   "--json", str(self.folder / "out.json")]
        load = ["--", "serve", "bulk", "--batch", "10", "--concurrency", "1", "--seconds", str(seconds), "--warm-up", "0"]
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
        out, rows = self.script("collect/run.py", "--lines", 50, "--rounds", 2, "--dir", self.folder)
        self.assertEqual({len(row["metrics"]["lines_per_cpu_s"]) for row in rows if row["params"]["program"] == "clew"}, {2})
        self.assertIn("| Clew, fixed format, dissect |", out)
        self.assertIn("## Collector", (self.folder / "RESULTS.md").read_text())

    def test_every_benchmark_keeps_rows_and_writes_its_section_of_them(self):
        benchmarks = [path for path in BENCH.rglob("*.py") if '__name__ == "__main__"' in path.read_text()]
        names = {str(path.relative_to(BENCH)) for path in benchmarks}
        self.assertLess(PARTS, names)
        self.assertLess({"log/run.py", "milvus/restart.py", "vectors/under_merge.py"}, names)
        for name in sorted(names - PARTS):
            text = (BENCH / name).read_text()
            for wanted in (r"results\.add_json\(", r"\.save\(", r"results\.publish\(|write_results\("):
                self.assertTrue(re.search(wanted, text), f"{name} has no {wanted}")

    def test_how_long_each_took_is_a_table_of_the_sections(self):
        results, path = module("results.py"), self.folder / "RESULTS.md"
        path.write_text("# Results\n\n## Old\n\n`make bench-old`, 2026-01-02: cpu A.\n\nlines\n")
        results.BEGAN -= 90
        results.write(path, "First", "make bench-two", {"cpu": "B", "cores": 2}, ["first"])
        results.BEGAN -= 1230
        results.write(path, "Second", "make bench-two", {"cpu": "B", "cores": 2}, ["second"])
        results.write(path, "Third", "make bench-one ARGS=x", {"cpu": "B", "cores": 2}, ["third"])
        text = path.read_text()
        rows = [line.split(" | ")[:2] for line in text.splitlines() if line.startswith("| `")]
        # The command of two sections has taken until the second; what no duration is known of is not there.
        self.assertEqual(rows, [["| `make bench-one ARGS=x`", "22.0"], ["| `make bench-two`", "22.0"]])
        self.assertEqual(re.findall("^## (.*)$", text, re.M), ["Old", "First", results.DURATIONS, "Second", "Third"])
        self.assertIn("; took 90 s.\n\nfirst\n", text)
        self.assertRegex(text, r"\nNot noted yet: `make bench-old`\.\n")

    def test_what_is_in_the_way_of_a_benchmark_is_found_out_before_it_begins(self):
        binary, none = os.environ["CLEW_BIN"], str(self.folder / "none")
        load = ["--", "serve", "bulk"]
        for path, arguments, told in [
            ("serve/run.py", ["--bin", none], f"no such program: {none}"),
            ("collect/run.py", ["--bin", none], f"no such program: {none}"),
            ("log/run.py", ["--bin", str(self.folder)], "no such program"),
            ("text/run.py", ["--worker", none], f"no such program: {none}"),
            ("reports.py", ["--bin", binary, "--pgo", none], f"no such program: {none}"),
            ("turns.py", ["--old", binary, "--new", none, *load], f"no such program: {none}"),
            ("turns.py", ["--old", binary, "--new", binary, "--rounds", "0", *load], "--rounds is 0"),
            ("pgo/run.py", ["--old", binary, "--new", binary, "--rounds", "-1"], "--rounds is -1"),
            ("instructions.py", ["--old", binary, "--new", none], f"no such program: {none}"),
            ("instructions.py", ["--old", binary, "--new", binary, "--documents", "2000"], "--documents has to be 7,000 or more"),
            ("instructions.py", ["--old", binary, "--new", binary, "--requests", "4"], "--requests has to be 5 or more"),
            ("instructions.py", ["--old", binary, "--new", binary, "--dims", "0"], "have to be 1 or more"),
            ("pgo/train.py", ["--bin", none, "--out", str(self.folder)], f"no such program: {none}"),
            ("pgo/train.py", ["--bin", binary, "--out", f"{none}/counted"], f"cannot write {none}/counted"),
            ("serve/growth.py", ["--bin", binary, "--json", f"{none}/rows.json"], f"cannot write {none}/rows.json"),
            ("collect/run.py", ["--bin", binary, "--results", f"{none}/RESULTS.md"], f"cannot write {none}/RESULTS.md"),
        ]:
            with self.subTest(path=path, told=told):
                done = subprocess.run([sys.executable, BENCH / path, *arguments], capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(told, done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_packages_that_are_missing_are_told_by_a_line(self):
        for path, package in [("milvus/restart.py", "pymilvus"), ("milvus/run.py", "pymilvus"), ("vectors/run.py", "numpy"),
                              ("vectors/under_merge.py", "numpy"), ("vectors/msmarco.py", "numpy"), ("vectors/shards.py", "numpy"),
                              ("opensearch/run.py", "opensearchpy")]:
            with self.subTest(path=path):
                # Without the packages of whichever environment this runs in.
                done = subprocess.run([sys.executable, "-I", "-S", BENCH / path, "--help"], capture_output=True, text=True,
                                      timeout=SECONDS_MAX, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, rf"^not installed: .*{package}")
                self.assertNotIn("Traceback", done.stderr)

    def test_a_server_that_does_not_start_says_why_and_leaves_nothing(self):
        server = module("server.py").Server(os.environ["CLEW_BIN"], env={"CLEW_HTTP__ADDRES": "127.0.0.1:0"})
        with self.assertRaisesRegex(RuntimeError, "does not start, .*http.address"), server:
            self.fail("it has started")
        self.assertFalse(server.folder.exists())

    def peerless(self, path, *arguments, status=0):
        """What a benchmark says, and complains of, on a machine that has no peer of it."""
        programs = self.folder / "programs"
        programs.mkdir()
        if taskset := shutil.which("taskset"):
            (programs / "taskset").symlink_to(taskset)
        environment = {**os.environ, "PATH": str(programs), "CLEW_CACHE": str(self.folder / "cache"), "PYTHONPATH": str(self.folder / "packages")}
        done = subprocess.run([sys.executable, BENCH / path, "--bin", os.environ["CLEW_BIN"], "--results", "-", *map(str, arguments)],
                              env=environment, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout, done.stderr

    def test_collectors_that_are_not_installed_have_a_row_that_says_so(self):
        told, _ = self.peerless("collect/run.py", "--lines", 50, "--rounds", 1, "--dir", self.folder)
        self.assertRegex(told, r"(?m)^\| Filebeat .* \| not installed \| \|$")
        self.assertRegex(told, r"(?m)^\| Clew, fixed format, dissect \| .* \| [\d.]+")

    @unittest.skipUnless(importlib.util.find_spec("opensearchpy") and shutil.which("taskset"), "opensearch-py or taskset is not installed")
    def test_beside_no_opensearch_nothing_is_measured(self):
        told, _ = self.peerless("opensearch/run.py", "--quick")
        self.assertRegex(told, r"^skipped: .* is not installed\n$")

    @unittest.skipUnless(HAS_NUMPY, "numpy is not installed")
    def test_without_milvus_lite_nothing_is_measured(self):
        if pathlib.Path(sys.executable).with_name("milvus-lite").exists():
            self.skipTest("milvus-lite is installed")
        # Its client is there, and not looked at before.
        (self.folder / "packages" / "pymilvus").mkdir(parents=True)
        (self.folder / "packages" / "pymilvus" / "__init__.py").write_text("")
        _, told = self.peerless("milvus/run.py", "--beside", os.environ["CLEW_BIN"], status=2)
        self.assertRegex(told, r"no such program: \S*/milvus-lite")

    def test_a_section_says_what_its_benchmark_was_told(self):
        results, path = module("results.py"), self.folder / "RESULTS.md"
        parser = argparse.ArgumentParser()
        parser.add_argument("--bin")
        parser.add_argument("--rows", type=int, default=10)
        parser.add_argument("--ef-max", type=int, default=1)
        parser.add_argument("--contenders", default="all")
        parser.add_argument("--flush", action="store_true")
        parser.add_argument("--results")
        for arguments, command in [
            (["--rows", "10"], "make bench-x"),
            (["--rows", "7", "--ef-max", "0", "--flush"], 'make bench-x ARGS="--rows 7 --ef-max 0 --flush"'),
            (["--contenders", "clew, graph"], """make bench-x ARGS="--contenders 'clew, graph'\""""),
        ]:
            results.given(parser, "bin", arguments=["--bin", os.environ["CLEW_BIN"], "--results", str(path), *arguments])
            results.publish(str(path), "One", "make bench-x", {"cpu": "B"}, ["lines"])
            self.assertIn(f"\n`{command}`, ", path.read_text())
            # A command that names them itself is left as it is.
            results.publish(str(path), "Two", "make bench-x ARGS=y", {"cpu": "B"}, ["lines"])
            self.assertIn("\n`make bench-x ARGS=y`, ", path.read_text())
        self.assertEqual([one.name for one in self.folder.iterdir()], ["RESULTS.md"])

    def test_a_run_that_is_broken_off_leaves_the_results_as_they_were(self):
        path = self.folder / "RESULTS.md"
        path.write_text("# Results\n\n## A server under load\n\nold\n")
        command = [sys.executable, "-u", BENCH / "serve/run.py", "--bin", os.environ["CLEW_BIN"], "--json", self.folder / "rows.json",
                   "--results", path, "--seconds", 3600, "--rows", 300, "--dims", 8]
        # Whoever runs tests in the background may have them ignore the signal.
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(lambda: process.poll() is None and os.killpg(process.pid, signal.SIGKILL))
        self.assertIn("clew bench serve vectors", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS_MAX)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("old", path.read_text())
        self.assertEqual([one.name for one in self.folder.iterdir()], ["RESULTS.md"])

    def test_a_set_writes_nothing_before_all_sets_are_measured(self):
        def stopped(name, *_):
            if name == "second":
                raise KeyboardInterrupt
            return ["first"]

        path, text = self.folder / "RESULTS.md", module("text/run.py")
        arguments = ["run.py", "--worker", os.environ["CLEW_BIN"], "--sets", "first,second", "--results", str(path)]
        with mock.patch.object(text, "bench", stopped), mock.patch.object(text, "commands", lambda *_: ({}, [])), \
                mock.patch.dict(os.environ, CLEW_CACHE=str(self.folder)), mock.patch.object(sys, "argv", arguments):
            self.assertRaises(KeyboardInterrupt, text.main)
        self.assertFalse(path.exists())

    @unittest.skipUnless(HAS_NUMPY, "numpy is not installed")
    def test_vectors_write_nothing_before_aspects_are_measured_and_efforts_have_an_end(self):
        def stopped(*_):
            raise KeyboardInterrupt

        path, vectors = self.folder / "RESULTS.md", module("vectors/run.py")
        measured = {"set": "one", "metric": "l2", "rows": [{"contender": "ScaNN", "refused": "not installed"}], "points": {}, "wanted": {}}
        arguments = ["run.py", "--bin", os.environ["CLEW_BIN"], "--sets", "one", "--results", str(path)]
        with mock.patch.object(vectors, "measure_set", lambda *_: measured), mock.patch.object(vectors, "measure_aspects", stopped), \
                mock.patch.object(sys, "argv", arguments):
            self.assertRaises(KeyboardInterrupt, vectors.main)
        self.assertFalse(path.exists())
        self.assertEqual(vectors.up_to(24, [10, 24, 32]), [10, 24])
        self.assertEqual(vectors.up_to(24, [[4, 10], [128, 30]]), [[4, 10], [128, 30]])
        self.assertEqual(vectors.up_to(0, [10, 2560]), [10, 2560])

    def test_counted_instructions_are_rows_beside_what_was_measured(self):
        out = self.write("1.json", [{"name": "bulk", "params": {"batch": 10}, "metrics": {"cpu_us": 3.5}}])
        files = {"old": {"ingest": [out, out]}, "new": {"ingest": [out]}}
        rows = module("pgo/run.py").kept(files, {"old": {"search": 7.25}, "new": {"search": 7.0}})
        (bulk,) = rows.named("bulk", build="old")
        self.assertEqual(bulk["metrics"], {"cpu_us": [3.5, 3.5]})
        counted = [(row["params"]["build"], row["metrics"]["instructions"]) for row in rows.named("instructions")]
        self.assertEqual(counted, [("old", [7_250_000]), ("new", [7_000_000])])
        rows.save(self.folder / "rows.json", os.environ["CLEW_BIN"], {"cpu": "one"})
        self.bench("compare", self.folder / "rows.json", self.folder / "rows.json")

    @unittest.skipUnless(HAS_NUMPY, "numpy is not installed")
    def test_searches_during_a_merge(self):
        import numpy as np

        made = self.folder / "cache" / "vectors" / "made"
        made.mkdir(parents=True)
        dice = np.random.default_rng(3)
        np.save(made / "queries.npy", dice.normal(size=(20, 8)).astype(np.float32))
        np.save(made / "base.npy", dice.normal(size=(3000, 8)).astype(np.float32))
        out, rows = self.script("vectors/under_merge.py", "--set", "made", "--cache", self.folder / "cache", "--rounds", 2, "--searches", 20)
        self.assertEqual([row["params"]["when"] for row in rows], ["before the merge", "during it", "after it"])
        self.assertEqual(rows[0]["metrics"]["searches"], [20, 20])
        self.assertIn("| before the merge | 20 |", out)
        self.assertIn("## Searches during a merge", (self.folder / "RESULTS.md").read_text())

    @unittest.skipUnless(HAS_NUMPY, "numpy is not installed")
    def test_what_clew_costs_in_other_ways_is_noted_as_rows(self):
        class Made:
            built = {"rows": 10, "bytes": 500, "walk_bytes_per_vector": 7.5, "vectors_per_cpu_s": 1000, "vectors_per_s": 900}

            def __init__(self, **_):
                pass

            def measure(self, efforts):
                return [{"recall": 0.9, "cpu_us": float(effort)} for effort in efforts]

            def close(self):
                pass

        aspects, noted = module("vectors/aspects.py"), module("results.py").Rows()
        nothing = lambda rows, recall: None
        aspects.instruction_sets(noted, Made, [16, 32], 2, nothing, None)
        aspects.elements(noted, Made, [16], 3, nothing)
        aspects.threads(noted, Made, 2)
        (scalar,) = noted.named("search", instructions="scalar", effort=32)
        self.assertEqual(scalar["metrics"], {"recall": [0.9, 0.9], "cpu_us": [32.0, 32.0]})
        (half,) = noted.named("build", element="f16")
        self.assertEqual(half["metrics"]["bytes_per_vector"], [50])
        self.assertEqual(len(noted.named("search", element="f16", effort=16)[0]["metrics"]["recall"]), 3)
        self.assertEqual([row["params"]["threads"] for row in noted.named("build") if "threads" in row["params"]], [1, 2])
        noted.save(self.folder / "rows.json", os.environ["CLEW_BIN"], {"cpu": "one"})
        self.bench("compare", self.folder / "rows.json", self.folder / "rows.json")

    @unittest.skipUnless(HAS_PYMILVUS, "pymilvus is not installed")
    def test_a_restart_after_a_kill(self):
        _, rows = self.script("milvus/restart.py", "--rows", 300, "--dims", "8,16", "--rounds", 2)
        starts = [row for row in rows if row["name"] == "restart"]
        self.assertEqual([row["params"]["dims"] for row in starts], [8, 16])
        self.assertEqual([len(row["metrics"]["searched_s"]) for row in starts], [2, 2])
        self.assertIn("| 300 | 16 |", (self.folder / "RESULTS.md").read_text())


if __name__ == "__main__":
    unittest.main()
