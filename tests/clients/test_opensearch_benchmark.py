"""opensearch-benchmark against a running server, with a workload of ours."""

import csv
import json
import os
import pathlib
import random
import shutil

from .base import ClientsTest, tool

WORKLOAD = pathlib.Path(__file__).with_name("workload")
DATASET = pathlib.Path(__file__).with_name("vector_dataset.py")
DOCUMENTS = 2000
RUN_SECONDS_MAX = 500


def write_documents(path):
    """Requests of a made-up service, the same in every run."""
    dice = random.Random(7)
    words = "request timeout connection retry cache miss user login upload finished slow".split()
    with open(path, "w", encoding="utf-8") as out:
        for number in range(DOCUMENTS):
            document = {
                "at": 1_700_000_000_000 + number * 43_000,
                "host": f"host-{dice.randrange(12)}",
                "level": dice.choice(["info", "info", "info", "warn", "error"]),
                "message": "request " + " ".join(dice.choices(words, k=8)),
                "took": int(dice.expovariate(1 / 80)),
                "place": {"lat": dice.uniform(-60, 60), "lon": dice.uniform(-170, 170)},
            }
            out.write(json.dumps(document) + "\n")


class OpenSearchBenchmark(ClientsTest):
    @classmethod
    def setUpClass(cls):
        cls.program = tool("venv-opensearch-benchmark/bin/opensearch-benchmark", "clients")
        super().setUpClass()

    def test_a_workload_runs_to_its_end(self):
        home = self.folder()
        workload = home / "workload"
        shutil.copytree(WORKLOAD, workload)
        write_documents(workload / "documents.json")
        self.run_tool([self.program.with_name("python"), DATASET, "hdf5", home], 120)
        results = home / "results.csv"
        environment = {
            **os.environ,
            "BENCHMARK_HOME": str(home),
            "HOME": str(home),
            "PATH": f"{self.program.parent}{os.pathsep}{os.environ['PATH']}",
        }
        output = self.run_tool(
            [
                self.program, "run", "--pipeline=benchmark-only", "--offline", "--on-error=abort",
                f"--target-hosts={self.server.address}", f"--workload-path={workload}",
                f"--workload-params=vectors:{home}/vectors.hdf5",
                "--enable-assertions", "--telemetry=node-stats,shard-stats,segment-stats",
                "--telemetry-params=node-stats-sample-interval:1,node-stats-include-indices:true,"
                "shard-stats-sample-interval:1",
                "--results-format=csv", f"--results-file={results}", "--show-in-results=all",
            ],
            RUN_SECONDS_MAX,
            env=environment,
        )
        self.assertIn("SUCCESS", output)
        figures = {}
        with open(results, encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                figures[row["Metric"], row["Task"]] = row["Value"]
        tasks = {task for _, task in figures if task}
        for task in ("load", "words", "filtered", "hours", "sorted", "pages", "scrolled", "in-time", "near"):
            self.assertIn(task, tasks)
            self.assertEqual(float(figures["error rate", task]), 0, task)
        self.check_telemetry(home)
        self.assertEqual(self.ask("GET", "/requests/_count")["count"], DOCUMENTS)
        self.assertGreater(float(figures["Mean recall@k", "near"]), 0.9)
        self.assertGreater(float(figures["Store size", ""]), 0)
        # One of each index.
        self.assertEqual(int(float(figures["Segment count", ""])), 2)

    def check_telemetry(self, home):
        """What was sampled beside the run was understood."""
        logs = "".join(path.read_text(errors="replace") for path in home.rglob("benchmark.log"))
        errors = [line for line in logs.splitlines() if ".telemetry ERROR" in line]
        # Before the first task there are no indexes whose counts could be taken.
        self.assertEqual([e for e in errors if "Could not retrieve index stats" not in e], [])
        (segments,) = home.rglob("*segment_stats.log")
        self.assertIn("requests", segments.read_text())
