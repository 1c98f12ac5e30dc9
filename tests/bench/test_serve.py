"""`clew bench serve` against real servers, with few documents and short loads. No test asserts a time."""

import contextlib
import itertools
import os
import pty
import re
import signal
import socket
import subprocess
import threading
import unittest
import urllib.request

import numpy

from tests.opensearch.clew_server import ClewServer

from .base import SECONDS_MAX, SECONDS_TRIED, BenchTest
from .stub import StubServer

SHORT = ["--seconds", "0.3", "--warm-up", "0.1"]
VECTORS = ["--rows", "600", "--dims", "16", "--query-count", "20", "--batch", "100"]
EVENTS = ["--rows", "2000", "--query-count", "20", "--batch", "250"]
# In seconds, one after the other where the machine stands still for longer.
TIME_OUTS = [0.5, 5, 30]


class ServeTest(BenchTest):
    @classmethod
    def setUpClass(cls):
        cls.server = ClewServer()
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def call(self, what, *arguments):
        return ["serve", what, "--url", self.server.url, *SHORT, *arguments]

    def serve(self, what, *arguments):
        return self.measured("serve", what, "--url", self.server.url, *arguments, "--json", self.folder / "out.json")

    def rows(self, name):
        document = self.read("out.json")
        self.assertEqual(sorted(document), ["clew", "machine", "rows"])
        return [row for row in document["rows"] if row["name"] == name]

    def indexes(self):
        return [one["index"] for one in self.server.client().cat.indices(format="json")]

    def test_vectors_are_loaded_once_and_searched_by_effort_and_load(self):
        lines = self.serve("vectors", *VECTORS, "--ef-search", "16,64", "--concurrency", "1,3").splitlines()
        self.assertRegex(lines[0], r"^loaded 600 documents in [\d.]+ s, [\d.,]+ docs/s; searchable after .* merged after")
        self.assertEqual(lines[1].split(), "ef_search concurrency QPS avg ms p50 ms p99 ms recall failures refusals".split())
        self.assertEqual([line.split()[:2] for line in lines[2:]], [["16", "1"], ["16", "3"], ["64", "1"], ["64", "3"]])
        (load,) = self.rows("load")
        self.assertEqual(load["metrics"]["documents"], 600)
        rows = self.rows("search")
        self.assertEqual([(row["params"]["ef_search"], row["params"]["concurrency"]) for row in rows],
                         [(16, 1), (16, 3), (64, 1), (64, 3)])
        for row in rows:
            metrics = row["metrics"]
            self.assertEqual((metrics["failures"], metrics["refusals"], row["params"]["api"]), (0, 0, "opensearch"))
            self.assertGreater(metrics["qps"], 0)
            self.assertGreaterEqual(metrics["recall"], 0.9)
            # Nobody answers through a socket in a microsecond.
            self.assertGreater(metrics["p50_ms"], 0.001)
            self.assertLessEqual(metrics["p50_ms"], metrics["p99_ms"])
            self.assertLessEqual(metrics["p99_ms"], metrics["max_ms"] * 1.001)
        self.assertRegex(self.read("out.json")["machine"]["server"], r"^clew as opensearch \d")
        self.assertEqual(self.indexes(), [])
        # What was written can be compared.
        self.assertIn("p99_ms (ms, lower is better)", self.bench("compare", self.folder / "out.json", self.folder / "out.json"))

    def test_vectors_through_the_api_of_milvus(self):
        for api in ["milvus", "milvus-grpc"]:
            with self.subTest(api):
                self.measured("serve", "vectors", f"--{api}", f"http://{self.server.grpc_address}", *VECTORS, "--metric", "cosine",
                              "--ef-search", "64", "--concurrency", "2", "--json", self.folder / "out.json")
                (row,) = self.rows("search")
                self.assertEqual((row["params"]["api"], row["metrics"]["failures"]), (api, 0))
                self.assertGreater(row["metrics"]["qps"], 0)
                self.assertGreaterEqual(row["metrics"]["recall"], 0.9)

    def test_an_open_loop_sends_at_the_rate_asked_for(self):
        self.serve("vectors", *VECTORS, "--ef-search", "16", "--rate", "50,100", "--concurrency", "4")
        rows = self.rows("search")
        self.assertEqual([row["params"]["rate"] for row in rows], [50, 100])
        for row in rows:
            metrics = row["metrics"]
            # Of what was due in this time, nothing is lost: answered, failed or not sent.
            due = metrics["qps"] * self.seconds + metrics["failures"] + metrics["refusals"] + metrics["unsent"]
            self.assertLessEqual(due, row["params"]["rate"] * self.seconds + 1)
            self.assertGreater(due, 1)

    def test_ones_own_vectors_and_their_neighbours(self):
        chance = numpy.random.default_rng(5)
        base, queries = (chance.normal(size=(count, 8)).astype("f4") for count in (300, 7))
        truth = ((queries[:, None] - base[None]) ** 2).sum(axis=2).argsort(axis=1)[:, :10].astype("i4")
        for name, matrix in (("base", base), ("queries", queries), ("truth", truth), ("wrong", numpy.full_like(truth, 299))):
            numpy.save(self.folder / f"{name}.npy", matrix)
        files = ["--base", self.folder / "base.npy", "--queries", self.folder / "queries.npy", "--ef-search", "100", "--concurrency", "1"]
        self.serve("vectors", *files)
        self.assertEqual(self.rows("search")[0]["metrics"]["recall"], 1.0)
        self.serve("vectors", *files, "--truth", self.folder / "truth.npy")
        self.assertEqual(self.rows("search")[0]["metrics"]["recall"], 1.0)
        # The file is what recall is counted against.
        self.serve("vectors", *files, "--truth", self.folder / "wrong.npy")
        self.assertLess(self.rows("search")[0]["metrics"]["recall"], 0.2)
        numpy.save(self.folder / "other.npy", numpy.full_like(truth, 300))
        self.refused("truth names the vector 300, and there are 300", *self.call("vectors", *files, "--truth", self.folder / "other.npy"))
        self.refused("10 of each query are known", *self.call("vectors", *files, "--truth", self.folder / "truth.npy", "--k", "11"))

    def test_every_kind_of_question_finds_something(self):
        lines = self.serve("search", *EVENTS, "--concurrency", "2").splitlines()
        rows = self.rows("search")
        kinds = [row["params"]["kind"] for row in rows]
        self.assertEqual(kinds, ["term", "and", "or", "phrase", "range", "aggregation", "logs"])
        self.assertEqual([line.split()[0] for line in lines[2:]], kinds)
        for row in rows:
            self.assertEqual((row["metrics"]["failures"], row["metrics"]["refusals"]), (0, 0), row)
            self.assertGreater(row["metrics"]["hits"], 0.5, row)
        hits = {row["params"]["kind"]: row["metrics"]["hits"] for row in rows}
        self.assertLess(hits["and"], hits["or"])
        self.assertLessEqual(hits["phrase"], hits["and"])
        self.assertEqual(hits["range"], 20)

    def test_what_was_acknowledged_by_bulk_is_there(self):
        lines = self.serve("bulk", "--batch", "50", "--concurrency", "1,3", "--keep", "--replace", "--shards", "2", "--pid", self.server.process.pid).splitlines()
        self.assertEqual(lines[0].split(), "batch concurrency QPS avg ms p50 ms p99 ms cpu us docs/s MB/s failures refusals".split())
        rows = self.rows("bulk")
        self.assertEqual([row["params"]["concurrency"] for row in rows], [1, 3])
        for row in rows:
            self.assertEqual(row["metrics"]["failures"], 0)
            self.assertGreater(row["metrics"]["documents"], 0)
            self.assertGreater(row["metrics"]["cpu_us"], 0)
        count = self.server.client().count(index="clew_bench")["count"]
        self.assertGreaterEqual(count, rows[1]["metrics"]["documents"])
        # It was kept, and is not written over.
        self.refused("there is an index `clew_bench` already", *self.call("bulk", "--concurrency", "1"))
        self.assertEqual(self.server.client().count(index="clew_bench")["count"], count)
        self.serve("bulk", "--batch", "50", "--concurrency", "1", "--replace")
        self.assertEqual(self.indexes(), [])

    def test_a_terminal_gets_a_bar_and_nobody_else(self):
        master, terminal = pty.openpty()
        with os.fdopen(master, "rb", buffering=0) as shown:
            command = self.command(*self.call("vectors", *VECTORS, "--ef-search", "16", "--concurrency", "1"))
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal)
            os.close(terminal)
            seen = b""
            # The other end is closed when the process ends, which the system tells as an error.
            with contextlib.suppress(OSError):
                while part := shown.read(4096):
                    seen += part
            out = process.communicate(timeout=SECONDS_MAX)[0]
        self.assertEqual(process.returncode, 0, seen)
        for said in (b"exact neighbours", b"loading", b"merging", b"ef 16, recall", b"/20 queries", b"ef 16, clients: 1"):
            self.assertIn(said, seen)
        self.assertEqual(len(out.splitlines()), 3)
        self.serve("vectors", *VECTORS, "--ef-search", "16", "--concurrency", "1")
        self.assertEqual(self.errors, "")

    def test_who_stops_a_run_keeps_what_was_measured_and_leaves_no_index(self):
        # Loads of which the second would take longer than anybody waits.
        command = self.command("serve", "search", "--url", self.server.address, *EVENTS, "--kind", "term", "--concurrency", "1,2",
                               "--seconds", "1000", "--warm-up", "0", "--json", self.folder / "out.json")
        (self.folder / "out.json").write_text("before")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while "kind" not in process.stdout.readline():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=SECONDS_MAX)
        self.assertEqual((process.returncode, out), (1, ""))
        self.assertIn("stopped before the end", errors)
        self.assertEqual(self.indexes(), [])
        self.assertEqual([row["name"] for row in self.read("out.json")["rows"]], ["load"])

    def test_who_stops_a_run_while_it_loads_leaves_no_index(self):
        # What is under way then would make the index anew.
        for _ in range(5):
            command = self.command("serve", "search", "--url", self.server.address, "--load-clients", "8")
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while not self.indexes():
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            self.assertIn("stopped before the end", process.communicate(timeout=SECONDS_MAX)[1])
            self.assertEqual(self.indexes(), [])

    def test_a_time_in_which_nothing_ends_says_so(self):
        self.bench("serve", "bulk", "--url", self.server.url, "--concurrency", "1", "--batch", "20000", "--warm-up", "0", "--seconds", "0.001")
        self.assertIn("no request that began in these", self.errors)

    def test_bad_input_is_refused_before_anything_is_done(self):
        self.refused("0 is not in 1..", *self.call("vectors", "--concurrency", "0"), status=2)
        self.refused("one candidate at least", *self.call("vectors", "--ef-search", "16,0"), status=2)
        self.refused("more than none", "serve", "bulk", "--seconds", "0", status=2)
        self.refused("rates lie between", *self.call("bulk", "--rate", "0"), status=2)
        self.refused("begins with a letter", *self.call("bulk", "--index", "a/b"), status=2)
        self.refused("NAME:PASSWORD", *self.call("bulk", "--user", "nobody"), status=2)
        self.refused("cannot write", *self.call("bulk", "--json", self.folder / "none" / "out.json"))
        self.refused("there is no process 4294967295", *self.call("bulk", "--pid", 2**32 - 1))
        self.refused("http:// alone", "serve", "bulk", "--url", "https://127.0.0.1:9200")
        grpc = f"http://{self.server.grpc_address}"
        self.refused("no server of this API (milvus-grpc)", "serve", "vectors", "--milvus-grpc", self.server.url, *VECTORS)
        self.refused("no server of this API (opensearch)", "serve", "bulk", "--url", grpc)
        self.refused("20 neighbours are wanted of 10 vectors", *self.call("vectors", "--rows", "10", "--k", "20"))
        self.refused("no server of this API", "serve", "vectors", "--url", f"http://{self.server.grpc_address}", *VECTORS)
        self.assertEqual(self.indexes(), [])


class Weather(BenchTest):
    """Servers that are not there, go away, or want less."""

    def test_a_server_that_is_not_there(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        self.refused("cannot connect", "serve", "vectors", "--url", f"http://127.0.0.1:{port}")

    def test_a_server_that_goes_away_ends_the_run_with_what_there_is(self):
        for load in (["--concurrency", "3"], ["--rate", "200", "--concurrency", "3"]):
            with self.subTest(load=load), ClewServer() as server:
                command = self.command("serve", "vectors", "--url", server.url, *VECTORS, "--ef-search", "16", *load,
                                       "--warm-up", "0", "--seconds", "1000", "--json", self.folder / "out.json")
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                # The table begins when everything is loaded.
                while "ef_search" not in process.stdout.readline():
                    self.assertIsNone(process.poll())
                # Whoever searches is found by the server's own count.
                client = server.client()
                searched = lambda: client.indices.stats(index="clew_bench")["_all"]["primaries"]["search"]["query_total"]
                before = searched()
                while searched() < before + 100:
                    self.assertIsNone(process.poll())
                server.kill()
                out, errors = process.communicate(timeout=SECONDS_MAX)
                self.assertEqual(process.returncode, 1, errors)
                self.assertRegex(errors, r"the server went away: \d+ failures, the first: ")
                self.assertNotIn("panicked", errors)
                self.assertEqual(out.split()[0], "16")
                rows = self.read("out.json")["rows"]
                self.assertEqual([row["name"] for row in rows], ["load", "search"])
                self.assertGreater(rows[1]["metrics"]["qps"], 0)
                self.assertGreater(rows[1]["metrics"]["failures"], 0)

    def test_a_server_of_milvus_that_goes_away_ends_the_run_with_what_there_is(self):
        for api in ("milvus", "milvus-grpc"):
            with self.subTest(api), ClewServer() as server:
                command = self.command("serve", "vectors", f"--{api}", f"http://{server.grpc_address}", *VECTORS, "--ef-search", "16",
                                       "--concurrency", "2", "--warm-up", "0", "--seconds", "1000", "--json", self.folder / "out.json")
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                while "ef_search" not in process.stdout.readline():
                    self.assertIsNone(process.poll())

                def searched():
                    with urllib.request.urlopen(f"{server.url}/_metrics", timeout=SECONDS_MAX) as answer:
                        found = re.search(r'milvus_requests_total{call="search",status="ok"} (\d+)', answer.read().decode())
                    return int(found[1]) if found else 0

                before = searched()
                while searched() < before + 100:
                    self.assertIsNone(process.poll())
                server.kill()
                out, errors = process.communicate(timeout=SECONDS_MAX)
                self.assertEqual(process.returncode, 1, errors)
                self.assertRegex(errors, r"the server went away: \d+ failures, the first: ")
                self.assertNotIn("panicked", errors)
                rows = self.read("out.json")["rows"]
                self.assertEqual([(row["name"], row["params"]["api"]) for row in rows], [("load", api), ("search", api)])
                self.assertGreater(rows[1]["metrics"]["qps"], 0)
                self.assertGreater(rows[1]["metrics"]["failures"], 0)

    def test_what_is_asked_while_it_warms_up_is_not_counted(self):
        cold = 20

        def failures(seconds, warm_up):
            """Of a load whose first requests fail."""
            bulks, lock = itertools.count(), threading.Lock()

            def answer(path):
                with lock:
                    return 500 if path.endswith("_bulk") and next(bulks) < cold else 200

            with StubServer(answer) as server:
                self.bench("serve", "bulk", "--url", server.url, "--concurrency", "1", "--batch", "1", "--seconds", seconds,
                           "--warm-up", warm_up, "--json", self.folder / "out.json")
            (row,) = self.read("out.json")["rows"]
            return row["metrics"]["failures"]

        # So long as it takes until they have all been sent.
        for seconds in SECONDS_TRIED:
            if (counted := failures(seconds, 0)) == cold:
                break
        self.assertEqual(counted, cold)
        for warm_up in SECONDS_TRIED:
            if (counted := failures(0.1, warm_up)) == 0:
                break
        self.assertEqual(counted, 0)
        self.assertEqual(self.errors, "")

    def test_a_server_that_goes_away_amid_writes_leaves_what_it_took(self):
        with ClewServer() as server:
            command = self.command("serve", "bulk", "--url", server.url, "--concurrency", "2", "--batch", "20", "--warm-up", "0",
                                   "--seconds", "1000", "--json", self.folder / "out.json")
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            client = server.client()
            written = lambda: client.indices.stats(index="clew_bench", params={"ignore_unavailable": "true"})["_all"]["primaries"]
            while written().get("indexing", {}).get("index_total", 0) < 200:
                self.assertIsNone(process.poll())
            server.kill()
            out, errors = process.communicate(timeout=SECONDS_MAX)
            self.assertEqual(process.returncode, 1, errors)
            self.assertRegex(errors, r"the server went away: \d+ failures, the first: ")
            self.assertNotIn("panicked", errors)
            (row,) = self.read("out.json")["rows"]
            self.assertGreaterEqual(row["metrics"]["documents"], 100)
            self.assertGreater(row["metrics"]["failures"], 0)

    def test_refusals_and_failures_are_counted_apart(self):
        bulks, lock = itertools.count(), threading.Lock()

        def answer(path):
            with lock:
                return [200, 429, 500][next(bulks) % 3] if path.endswith("_bulk") else 200

        with StubServer(answer) as server:
            self.measured("serve", "bulk", "--url", server.url, "--concurrency", "2", "--batch", "1", "--json", self.folder / "out.json")
        self.assertRegex(self.errors, r"^\d+ failures, the first: 500: ")
        (row,) = self.read("out.json")["rows"]
        metrics = row["metrics"]
        self.assertGreater(metrics["documents"], 0)
        self.assertGreater(metrics["refusals"], 0)
        self.assertLess(abs(metrics["refusals"] - metrics["failures"]), 3)

    def test_an_index_whose_making_was_not_answered_in_time_is_removed(self):
        def answer(path):
            if path == "/clew_bench":
                asked.append("made" if not asked else "removed")
            return None if asked == ["made"] else 200

        for time_out in TIME_OUTS:
            asked = []
            with StubServer(answer, is_there=lambda: asked == ["made"]) as server:
                self.refused(f"no answer within {time_out} s", "serve", "search", "--url", server.url, "--rows", "20", *SHORT, "--time-out", time_out)
            if asked == ["made", "removed"]:
                break
        self.assertEqual(asked, ["made", "removed"])

    def test_a_server_that_stands_still_costs_everybody_who_was_due(self):
        lock = threading.Lock()
        # Those that recall is counted by, and some of the load.
        good = 20 + 10

        def answer(path):
            with lock:
                return None if path.endswith("_search") and next(searches) >= good else 200

        for time_out in TIME_OUTS:
            searches = itertools.count()
            command = self.command("serve", "vectors", "--url", "{url}", *VECTORS, "--ef-search", "16", "--rate", "200", "--concurrency", "4",
                                   "--warm-up", "0", "--seconds", 2 * time_out, "--time-out", time_out, "--json", self.folder / "out.json")
            with StubServer(answer) as server:
                command[command.index("{url}")] = server.url
                done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
            # It may have been late with what it was to answer.
            if done.returncode == 0:
                break
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"no answer within {time_out} s", done.stderr)
        metrics = self.read("out.json")["rows"][1]["metrics"]
        # Four clients wait half a second for each answer that does not come: a dozen are sent, and all others are seen.
        self.assertLessEqual(metrics["failures"], 16)
        self.assertGreater(metrics["unsent"], 100)
        self.assertGreater(metrics["p90_ms"], 100)


if __name__ == "__main__":
    unittest.main()
