"""VectorDBBench's client of OpenSearch, from the command line to its results, over a small dataset of ours."""

import json
import os
import pathlib

from .base import ClientsTest, tool

DATASET = pathlib.Path(__file__).with_name("vector_dataset.py")
SESSION = pathlib.Path(__file__).with_name("vectordb_bench_session.py")
ROWS, DIMENSION = 3000, 48
RUN_SECONDS_MAX = 500


class VectorDbBench(ClientsTest):
    @classmethod
    def setUpClass(cls):
        cls.programs = tool("venv-vectordb-bench/bin/vectordbbench", "clients").parent
        super().setUpClass()

    def bench(self, label, *options):
        """The results of a run."""
        home = self.folder()
        data = home / "data"
        data.mkdir()
        self.run_tool([self.programs / "python", DATASET, "parquet", data], 120)
        environment = {
            **os.environ,
            "HOME": str(home),
            "LOG_FILE": str(home / "bench.log"),
            "DATASET_LOCAL_DIR": str(home),
            "RESULTS_LOCAL_DIR": str(home / "results"),
        }
        output = self.run_tool(
            [
                self.programs / "vectordbbench", "ossopensearch",
                "--host", self.host, "--port", self.port, "--user", "", "--password", "",
                "--case-type", "PerformanceCustomDataset",
                "--custom-case-name", "small", "--custom-dataset-name", "small",
                "--custom-dataset-dir", data, "--custom-dataset-size", ROWS,
                "--custom-dataset-dim", DIMENSION, "--custom-dataset-metric-type", "L2",
                "--custom-dataset-file-count", 1,
                "--k", 10, "--num-concurrency", "1,2", "--concurrency-duration", 2,
                "--m", 16, "--ef-construction", 100, "--ef-search", 100, "--metric-type", "l2",
                "--task-label", label, "--db-label", label, *options,
            ],
            RUN_SECONDS_MAX,
            env=environment,
            cwd=home,
        )
        found = sorted((home / "results").rglob("result_*.json"))
        self.assertEqual(len(found), 1, output[-4000:])
        results = json.loads(found[0].read_text())["results"]
        self.assertEqual([result["label"] for result in results], [":)"], output[-4000:])
        return results[0]["metrics"]

    def test_the_small_case_runs_to_its_end(self):
        metrics = self.bench("faiss", "--engine", "faiss")
        self.assertGreater(metrics["recall"], 0.95)
        self.assertGreater(metrics["qps"], 0)
        self.assertGreater(metrics["load_duration"], 0)
        self.assertEqual(metrics["conc_num_list"], [1, 2])
        stats = self.ask("GET", "/vdb_bench_index/_stats")
        self.assertEqual(stats["_all"]["primaries"]["docs"]["count"], ROWS)

    def test_every_kind_of_index_of_its_client(self):
        home = self.folder()
        environment = {**os.environ, "HOME": str(home), "LOG_FILE": str(home / "bench.log")}
        output = self.run_tool(
            [self.programs / "python", SESSION, self.host, self.port],
            RUN_SECONDS_MAX, env=environment, cwd=home,
        )
        seen = json.loads(output.splitlines()[-1])
        for kind, recall in seen["recall"].items():
            with self.subTest(kind):
                self.assertGreater(recall["all"], 0.9)
                self.assertGreater(recall["label"], 0.9)
        self.assertEqual(seen["words"], {"sent": 300, "all": 100, "filtered": 50})
