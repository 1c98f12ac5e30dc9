"""`clew collect` into a real server, and `clew log` beside it."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest
import urllib.request

from opensearch.clew_server import ClewServer

BINARY = os.environ.get("CLEW_BIN", "clew")
LINES = 3000
TIMEOUT_SECONDS = 120


class Collect(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.server = self.enterContext(ClewServer())
        self.client = self.server.client()
        self.addCleanup(self.client.close)
        self.source = self.folder / "logs" / "app.log"
        self.source.parent.mkdir()

    def append(self, first, last):
        with self.source.open("a") as out:
            for number in range(first, last):
                out.write(f"2026-01-02T03:04:05Z worker[{number}]: request number{number} done\n")

    def command(self, *more):
        registry = self.folder / "registry.json"
        return [BINARY, "collect", str(self.source.parent), "--parse", "plain", "--to",
                self.server.url, "--registry", str(registry), *more]

    def collect_once(self):
        done = subprocess.run(self.command("--once"), capture_output=True, text=True,
                              timeout=TIMEOUT_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def count(self):
        self.client.indices.refresh(index="logs")
        return self.client.count(index="logs")["count"]

    def test_every_line_arrives_once_and_only_new_lines_are_sent_again(self):
        self.append(0, LINES)
        (self.folder / "logs" / "binary").write_bytes(b"\0\1\2" * 100)
        report = self.collect_once()
        self.assertIn(f"{LINES:,} events sent", report)
        self.assertRegex(report, r"skipped\s+\S.*/binary")
        self.assertEqual(self.count(), LINES)
        self.append(LINES, LINES + 10)
        self.assertIn("10 events sent", self.collect_once())
        self.assertEqual(self.count(), LINES + 10)
        # Without its registry it sends everything again, under the same ids.
        (self.folder / "registry.json").unlink()
        self.assertIn(f"0 events sent, {LINES + 10:,} already there", self.collect_once())
        self.assertEqual(self.count(), LINES + 10)
        hits = self.client.search(index="logs", body={"query": {"match": {"message": "number77"}}})
        (hit,) = hits["hits"]["hits"]
        self.assertEqual(hit["_source"]["log"]["file"]["path"], str(self.source))

    def test_killed_collectors_lose_and_repeat_nothing(self):
        self.append(0, 200)
        for round_number in range(1, 6):
            collector = subprocess.Popen(self.command("--quiet"), stderr=subprocess.DEVNULL)
            try:
                self.append(round_number * 200, round_number * 200 + 200)
                self.wait_for(lambda: self.count_or_zero() > round_number * 100)
            finally:
                collector.kill()
                collector.wait()
        self.collect_once()
        self.assertEqual(self.count(), 1200)

    def count_or_zero(self):
        self.client.indices.refresh(index="logs", ignore_unavailable=True)
        return self.client.count(index="logs", ignore_unavailable=True)["count"]

    def wait_for(self, condition):
        for _ in range(100_000):
            if condition():
                return
        self.fail("the collector sends nothing")

    def test_the_log_shows_every_write_beside_a_running_server(self):
        self.append(0, 5)
        self.collect_once()
        command = [BINARY, "log", "scan", "--data", str(self.server.data), "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True,
                              timeout=TIMEOUT_SECONDS)
        entries = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([entry["glsn"] for entry in entries], list(range(1, len(entries) + 1)))
        written = [entry for entry in entries if entry["op"] == "index"]
        self.assertEqual([entry["llsn"] for entry in written], [1, 2, 3, 4, 5])
        self.assertIn("number4", written[-1]["source"]["message"])
        tail = subprocess.Popen(
            [BINARY, "log", "tail", "--data", str(self.server.data), "--format", "json",
             "--from", str(len(entries) + 1), "--limit", "1"],
            stdout=subprocess.PIPE, text=True)
        self.append(5, 6)
        self.collect_once()
        out, _ = tail.communicate(timeout=TIMEOUT_SECONDS)
        self.assertIn("number5", json.loads(out)["source"]["message"])


class CommandLine(unittest.TestCase):
    def run_clew(self, *arguments):
        return subprocess.run([BINARY, *arguments], capture_output=True, text=True,
                              timeout=TIMEOUT_SECONDS, check=False)

    def test_help_has_examples_and_the_version_is_told(self):
        for arguments in (["--help"], ["collect", "--help"], ["log", "scan", "--help"]):
            done = self.run_clew(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertIn("clew ", done.stdout)
            self.assertIn("xample", done.stdout)
        self.assertRegex(self.run_clew("--version").stdout, r"^clew \d+\.\d+\.\d+\n$")

    def test_wrong_use_says_what_is_wrong(self):
        for arguments, said in [
            (["serve", "--http", "0.0.0.0:0"], "set http.allow_remote"),
            (["serve", "--grpc", "0.0.0.0:0"], "set grpc.allow_remote"),
            (["serve", "--config", "/nowhere/clew.yaml"], "/nowhere/clew.yaml"),
            (["collect", "/var/log", "--parse", "nothing"], "nothing"),
            (["log", "scan", "--data", "/nowhere"], "/nowhere"),
        ]:
            done = self.run_clew(*arguments)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(said, done.stderr)

    def test_what_is_wrong_in_a_configuration_is_told_with_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "clew.yaml"
            for text, variables, said in [
                ("http:\n  body_bytes_max: lots\n", {}, "line 2: [http.body_bytes_max] is [lots], must be a whole number"),
                ("http:\n  adress: x\n", {}, "line 2: unknown configuration key [http.adress], did you mean [http.address]?"),
                ("data: x\ndata: y\n", {}, "duplicate entry"),
                ("logging.level: loud\n", {}, "[logging.level] is [loud]: [loud] is none of error, warn, info"),
                ("", {"CLEW_PROFILE__HEAP": "perhaps"}, "in the variable CLEW_PROFILE__HEAP: [profile.heap] is [perhaps]"),
                ("disk: {watermark_low: 0.95, watermark_high: 0.9}\n", {}, "low disk watermark [0.95] more than high"),
                ("data: x\nmemory:\n  limit_bytes: 1\n", {}, "line 3: [memory.limit_bytes] is [1], must be at least [16777216]"),
                ("imports.path: /nowhere\n", {}, "line 1: [imports.path] is [/nowhere], which is no folder"),
                ("", {"CLEW_DATA": b"\xff"}, "in the variable CLEW_DATA: the value is not UTF-8"),
                # What is none of ours may be anything.
                ("http: 1\n", {"CLEW_OTHER": b"\xff", "OTHER": b"\xff"}, "line 1: [http] must be a mapping of keys"),
            ]:
                with self.subTest(text=text):
                    config.write_text(text)
                    command = [BINARY, "serve", "--config", str(config), "--data", f"{folder}/data", "--http", "127.0.0.1:0",
                               "--grpc", "127.0.0.1:0"]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False,
                                          env={**os.environ, **variables})
                    self.assertEqual(done.returncode, 1, done.stdout)
                    self.assertIn(said, done.stderr)

    def test_a_login_that_is_none_is_refused_and_not_passed_over(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [BINARY, "profile", "--url", "http://127.0.0.1:1", "--output", f"{folder}/flame.svg"]
            for login, said in [(b"me:\xff", "CLEW_LOGIN is not UTF-8"), (b"me", "CLEW_LOGIN is not of the form user:password")]:
                done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False,
                                      env={**os.environ, "CLEW_LOGIN": login})
                self.assertEqual(done.returncode, 1)
                self.assertIn(said, done.stderr)

    def test_who_stops_reading_is_no_failure_and_no_panic(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "a.log"
            log.write_text("".join(f"line {number}\n" for number in range(20_000)))
            command = [BINARY, "collect", "--dry-run", "--quiet", str(log)]
            collect = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertIn(b"line 0", collect.stdout.readline())
            collect.stdout.close()
            told = collect.stderr.read()
            collect.stderr.close()
            self.assertEqual((collect.wait(TIMEOUT_SECONDS), told), (0, b""))
        # An error that nobody reads is one by its status.
        wrong = subprocess.Popen([BINARY, "verify", "/nowhere"], stderr=subprocess.PIPE)
        wrong.stderr.close()
        self.assertEqual(wrong.wait(TIMEOUT_SECONDS), 1)

    def test_no_standard_error_is_no_failure_and_no_panic(self):
        with tempfile.TemporaryDirectory() as folder:
            log, config = pathlib.Path(folder) / "a.log", pathlib.Path(folder) / "filebeat.yml"
            log.write_text("2026-01-02 03:04:05 INFO one\n" * 20)
            config.write_text("filebeat.inputs: [{type: log, paths: [/x.log], nothing: 1}]\noutput.console: {nothing: 2}\n")
            for arguments, lines_min in [(["collect", "--dry-run", str(log)], 20), (["collect", "import", str(config)], 2)]:
                # A pipe that nobody reads, and a file on a disk that is full.
                unread, written = os.pipe()
                os.close(unread)
                with os.fdopen(written, "w") as closed, open("/dev/full", "w", encoding="utf-8") as full:
                    for error in (closed, full):
                        with self.subTest(arguments, error=error.name):
                            done = subprocess.run([BINARY, *arguments], stdout=subprocess.PIPE, stderr=error, text=True,
                                                  timeout=TIMEOUT_SECONDS, check=False)
                            self.assertEqual(done.returncode, 0)
                            self.assertGreaterEqual(len(done.stdout.splitlines()), lines_min)

    def test_a_file_that_is_named_and_not_there_is_an_error_of_a_run_that_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "a.log"
            log.write_text("one\n")
            absent = str(log.with_name("b.log"))
            for paths, code in [([str(log), absent], 1), ([absent], 1), ([str(log)], 0), ([f"{folder}/*.none"], 0), ([folder], 0)]:
                with self.subTest(paths):
                    done = self.run_clew("collect", "--dry-run", "--quiet", *paths)
                    self.assertEqual(done.returncode, code, done.stderr)
                    # The others are read.
                    self.assertEqual(done.stdout.count('"one"'), int(str(log) in paths or folder in paths))
                    self.assertEqual(f"there is no {absent}" in done.stderr, code == 1)

    def test_a_file_that_is_named_and_cannot_be_read_is_one_too(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "a.log"
            log.write_text("one\n")
            nameless = pathlib.Path(os.fsdecode(os.fsencode(folder) + b"/\xff.log"))
            nameless.write_text("two\n")
            for path, said in [(nameless, "its path is not UTF-8"), (log.with_name("b" * 300), "File name too long")]:
                with self.subTest(path):
                    done = self.run_clew("collect", "--dry-run", "--quiet", str(log), str(path))
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn(said, done.stderr)
                    self.assertEqual(done.stdout.count('"one"'), 1)

    def test_an_address_that_is_none_is_told_as_the_configuration_tells_it(self):
        for flag in ("--http", "--grpc"):
            done = self.run_clew("serve", flag, "localhost:9200")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("must be an address with a port, as `127.0.0.1:9200`", done.stderr)

    def test_a_data_folder_whose_name_is_not_utf_8_is_refused_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.fsdecode(os.fsencode(folder) + b"/\xff")
            done = self.run_clew("serve", "--data", data, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, f"the data folder {folder}/.* has a name that is not UTF-8")
            self.assertEqual(os.listdir(folder), [])

    @unittest.skipUnless(pathlib.Path("/proc/self/status").exists(), "the system does not tell what a process ignores")
    def test_a_server_whose_terminal_goes_ends_as_when_it_is_asked_to(self):
        # By `nohup` it is started with the signal ignored, and stays.
        for started, ended_by in [([], signal.SIGHUP), (["nohup"], signal.SIGTERM)]:
            with self.subTest(started), tempfile.TemporaryDirectory() as folder:
                command = [*started, BINARY, "serve", "--data", f"{folder}/data", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
                # Whoever runs the tests may have it ignored, too.
                server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
                self.addCleanup(server.kill)
                address = json.loads(server.stdout.readline())["listening"]["http"]
                server.send_signal(signal.SIGHUP)
                if ended_by != signal.SIGHUP:
                    with urllib.request.urlopen(f"http://{address}/_health", timeout=TIMEOUT_SECONDS) as reply:
                        self.assertEqual(reply.status, 200)
                    server.send_signal(ended_by)
                _, told = server.communicate(timeout=TIMEOUT_SECONDS)
                self.assertEqual(server.returncode, 0, told)
                self.assertIn("stopped", told)

    def test_one_data_folder_has_one_server(self):
        with ClewServer() as server:
            done = self.run_clew("serve", "--data", str(server.data),
                                 "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0")
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot open the data folder", done.stderr)
