"""Outputs with conditions: files, a server that speaks `_bulk`, and one that takes JSON lines."""

import contextlib
import gzip
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

from .bulk_server import BulkServer, QuietServer

BINARY = os.environ.get("CLEW_BIN", "clew")
TIMEOUT_SECONDS = 120
CONFIG = """\
registry: {folder}/registry.json
inputs:
  - paths: ["{folder}/app.log"]
    parse: plain
    processors:
      - dissect: {{field: message, pattern: "%{{level}} %{{text}}"}}
outputs:
  - {{type: file, path: "{folder}/errors.json", when: {{equals: {{level: ERROR}}}}}}
  - type: http
    url: {lines}
    compression: gzip
    headers: {{X-Shop: blue}}
    when: {{or: [{{equals: {{level: WARN}}}}, {{equals: {{level: ERROR}}}}]}}
  - {{type: opensearch, url: "{bulk}", index: rest, when: {{equals: {{level: INFO}}}}}}
"""


class LinesServer:
    """Takes JSON lines; the first requests get the statuses that are asked for. A context manager."""

    def __init__(self, statuses=()):
        self.statuses = list(statuses)
        self.documents = []
        self.headers = []

    def __enter__(self):
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = server.statuses.pop(0) if server.statuses else 200
                if status == 200:
                    server.headers.append(self.headers)
                    server.documents += [json.loads(line) for line in gzip.decompress(body).splitlines()]
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.http = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/lines"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


class Routing(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bulk = self.enterContext(BulkServer())
        self.lines = self.enterContext(LinesServer([503, 429]))
        self.config = self.folder / "collect.yaml"
        self.config.write_text(CONFIG.format(folder=self.folder, lines=self.lines.url, bulk=self.bulk.url))
        levels = ["INFO", "ERROR", "DEBUG", "WARN", "INFO"] * 20
        (self.folder / "app.log").write_text("".join(f"{level} number {n}\n" for n, level in enumerate(levels)))

    def run_clew(self, *arguments, code=0):
        command = [BINARY, "collect", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_every_output_gets_its_events_and_what_none_takes_is_counted(self):
        done = self.run_clew("--config", str(self.config), "--once")
        errors = [json.loads(line) for line in (self.folder / "errors.json").read_text().splitlines()]
        self.assertEqual([one["text"] for one in errors], [f"number {n}" for n in range(1, 100, 5)])
        posted = [one["text"] for one in self.lines.documents]
        self.assertEqual(posted, [f"number {n}" for n in range(100) if n % 5 in (1, 3)])
        self.assertEqual(self.lines.headers[0]["X-Shop"], "blue")
        self.assertEqual({one["level"] for one in self.bulk.documents.values()}, {"INFO"})
        self.assertEqual(len(self.bulk.documents), 40)
        self.assertIn("80 events sent", done.stderr)
        self.assertIn("20 events for which no output's condition holds were sent nowhere", done.stderr)
        # What was sent nowhere is not read again.
        self.assertIn(" 0 lines", self.run_clew("--config", str(self.config), "--once").stderr)

    def test_the_outputs_of_each_line_are_shown(self):
        shown = self.run_clew("test", str(self.folder / "app.log"), "--config", str(self.config), "--lines", "3").stdout
        self.assertRegex(shown, r"(?s)number 0.*outputs +outputs\[2\]\n.*number 1.*outputs +outputs\[0\] outputs\[1\]\n")
        self.assertIn("ended: no output takes it", shown)

    def test_a_wrong_condition_is_told_with_its_line(self):
        text = self.config.read_text()
        self.config.write_text(text.replace("when: {equals: {level: INFO}}", "when: {equal: {level: INFO}}"))
        told = self.run_clew("--config", str(self.config), "--once", code=1).stderr
        self.assertIn("line 14: [outputs[2].when] has no condition [equal]", told)


class OwnOutput(unittest.TestCase):
    def test_what_an_output_writes_is_not_read_again(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        config = folder / "collect.yaml"
        config.write_text(f"""\
registry: {folder}/registry.json
inputs: [{{paths: ["{folder}"], exclude: ["*.yaml"], parse: plain}}]
outputs: [{{type: file, path: "{folder}/out.json", rotate_bytes: 4000}}]
""")
        (folder / "app.log").write_text("".join(f"line {number}\n" for number in range(100)))
        for lines in (100, 0, 0):
            done = subprocess.run([BINARY, "collect", "--config", str(config), "--once"], capture_output=True, text=True,
                                  timeout=TIMEOUT_SECONDS, check=True)
            self.assertIn(f" {lines} lines", done.stderr)
        config.write_text(config.read_text().replace(f'["{folder}"]', f'["{folder}/app.log", "{folder}/out.json"]'))
        done = subprocess.run([BINARY, "collect", "--config", str(config), "--once"], capture_output=True, text=True,
                              timeout=TIMEOUT_SECONDS, check=True)
        self.assertRegex(done.stderr, rf"skipped +written by this collector +{folder}/out.json\n")

    def test_what_an_output_writes_is_not_read_through_a_link_and_what_is_called_alike_is(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "logs").mkdir()
        (folder / "linked").symlink_to(folder / "logs")
        (folder / "logs" / "latest").symlink_to(folder / "logs" / "out.json")
        config = folder / "collect.yaml"
        config.write_text(f"""\
registry: {folder}/registry.json
inputs: [{{paths: ["{folder}/linked/*"], parse: plain}}]
outputs: [{{type: file, path: "{folder}/logs/out.json", rotate_bytes: 4000, sync: false}}]
batch_lines_max: 10
""")
        for name in ("app.log", "out.json.2026-01-01", "out.json.old"):
            (folder / "logs" / name).write_text("".join(f"line {number} of {name}\n" for number in range(100)))
        for lines in (300, 0, 0):
            done = subprocess.run([BINARY, "collect", "--config", str(config), "--once"], capture_output=True, text=True,
                                  timeout=TIMEOUT_SECONDS, check=True)
            self.assertIn(f" {lines} lines", done.stderr)


class AwayServer(BulkServer):
    """Takes nothing as long as it is `away`."""

    away = True

    def reply(self, events, failure):
        return (503, b"{}") if self.away else super().reply(events, failure)


class Away(unittest.TestCase):
    def test_an_output_that_is_away_does_not_hold_the_others_and_gets_all_of_it_later(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        server = self.enterContext(AwayServer())
        config = folder / "collect.yaml"
        config.write_text(f"""\
registry: {folder}/registry.json
registry_interval_ms: 0
batch_lines_max: 10
inputs: [{{paths: ["{folder}"], exclude: ["*.yaml", "*.json", "*.err"], parse: plain}}]
outputs:
  - {{type: opensearch, url: "{server.url}", index: logs}}
  - {{type: file, path: "{folder}/out.json"}}
""")
        messages = [f"line {number}" for number in range(200)]
        (folder / "app.log").write_text("".join(f"{message}\n" for message in messages))
        written = folder / "out.json"

        def is_written():
            return written.exists() and written.read_text().count("\n") >= len(messages)

        with open(folder / "told.err", "ab") as told:
            for back in (False, True):
                collector = subprocess.Popen([BINARY, "collect", "--config", str(config)], stderr=told)
                try:
                    until = time.monotonic() + TIMEOUT_SECONDS
                    while not is_written() and time.monotonic() < until:
                        time.sleep(0.05)
                    self.assertTrue(is_written())
                    if back:
                        # What waited when the first one was killed is sent by the second one.
                        server.away = False
                        self.assertTrue(server.wait_for(len(messages)))
                finally:
                    collector.kill()
                    collector.wait()
        self.assertEqual([one["message"] for one in server.documents.values()], messages)
        self.assertEqual(server.wrong, [])
        # A file knows no ids: what was written right before the kill may be there twice.
        once = dict.fromkeys(json.loads(line)["message"] for line in written.read_text().splitlines())
        self.assertEqual(list(once), messages)
        self.assertIn("what is for it waits on disk", (folder / "told.err").read_text())


class Buffered(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.server = self.enterContext(AwayServer())
        self.server.away = False
        self.config = self.folder / "collect.yaml"
        self.config.write_text(f"""\
registry: {self.folder}/registry.json
inputs: [{{paths: ["{self.folder}/app.log"], parse: plain}}]
outputs:
  - {{type: opensearch, url: "{self.server.url}", index: logs, buffer: {{folder: {self.folder}/buffer}}}}
  - {{type: file, path: "{self.folder}/out.json"}}
""")
        (self.folder / "app.log").write_text("".join(f"line {number}\n" for number in range(30)))

    def buffers(self):
        return list((self.folder / "buffer").glob("*.buffer"))

    @contextlib.contextmanager
    def killed(self, *more):
        collector = subprocess.Popen([BINARY, "collect", "--config", str(self.config), "--quiet", *more], stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            collector.kill()
            collector.wait()

    def is_read(self):
        """Whether the registry has the log to its end."""
        done = subprocess.run([BINARY, "collect", "status", "--config", str(self.config), "--json"], capture_output=True, text=True,
                              timeout=TIMEOUT_SECONDS, check=False)
        files = json.loads(done.stdout)["files"] if done.returncode == 0 else []
        return bool(files) and all(file["lag_bytes"] == 0 for file in files)

    def until(self, holds):
        until = time.monotonic() + TIMEOUT_SECONDS
        while not holds():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)

    def test_what_was_sent_out_of_a_buffer_goes_and_is_not_told_as_waiting(self):
        with self.killed():
            self.until(lambda: len(self.server.documents) == 30 and not self.buffers())
            done = subprocess.run([BINARY, "collect", "status", "--config", str(self.config), "--json"], capture_output=True, text=True,
                                  timeout=TIMEOUT_SECONDS, check=True)
            self.assertEqual(json.loads(done.stdout)["waiting"], [])
            with open(self.folder / "app.log", "a") as log:
                log.write("one more\n")
            self.until(lambda: len(self.server.documents) == 31 and not self.buffers())

    def test_a_run_that_is_killed_while_it_waits_for_an_output_has_read_nothing_for_nothing(self):
        self.server.away = True
        with self.killed("--once"):
            # The file is as far as the registry says, and so is the buffer.
            self.until(lambda: self.buffers() and self.is_read())
        self.server.away = False
        subprocess.run([BINARY, "collect", "--config", str(self.config), "--once"], check=True, timeout=TIMEOUT_SECONDS, stderr=subprocess.DEVNULL)
        self.assertEqual(len(self.server.documents), 30)
        self.assertEqual(len((self.folder / "out.json").read_text().splitlines()), 30)


class Refusing(BulkServer):
    """Takes nothing for now, then answers as it is told to."""

    answer_with = 503

    def reply(self, events, failure):
        if self.answer_with != 400:
            return self.answer_with, b'{"error":"not you"}'
        items = [{action: {"_id": said["_id"], "status": 400, "error": {"type": "mapper_parsing_exception", "reason": "no number"}}}
                 for action, said, _ in events]
        return 200, json.dumps({"took": 1, "errors": True, "items": items}).encode()


class Refused(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.server = self.enterContext(Refusing())
        (self.folder / "app.log").write_text("".join(f"line {number}\n" for number in range(30)))

    def run_once(self, answer, waits, is_alone=False, more=""):
        """What the run tells; where it waits the answer comes when the events are on disk."""
        self.server.answer_with = 503 if waits else answer
        beside = "" if is_alone else f'  - {{type: file, path: "{self.folder}/out.json"}}\n'
        config = self.folder / "collect.yaml"
        config.write_text(f"""\
registry: {self.folder}/registry.json
inputs: [{{paths: ["{self.folder}/app.log"], parse: plain}}]
outputs:
  - {{type: opensearch, url: "{self.server.url}", index: logs{more}}}
{beside}""")
        command = [BINARY, "collect", "--config", str(config), "--once"]
        with open(self.folder / "told.err", "w+b") as told:
            collector = subprocess.Popen(command, stderr=told)
            try:
                until = time.monotonic() + TIMEOUT_SECONDS
                while waits and not list(self.folder.rglob("*.buffer")) and time.monotonic() < until:
                    time.sleep(0.05)
                self.server.answer_with = answer
                self.code = collector.wait(TIMEOUT_SECONDS)
            finally:
                collector.kill()
                collector.wait()
        return (self.folder / "told.err").read_text()

    def status(self):
        done = subprocess.run([BINARY, "collect", "status", "--config", str(self.folder / "collect.yaml"), "--json"],
                              capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True)
        return json.loads(done.stdout)

    def assert_kept(self, file, told):
        self.assertEqual(self.code, 1, told)
        self.assertIn("30 refused", told)
        self.assertRegex(told, rf"30 events were refused for good, and are kept with the reasons: 30 .*\({file}\)")
        kept = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual([one["document"]["message"] for one in kept], [f"line {number}" for number in range(30)])
        self.assertIn("no number", kept[0]["reason"])
        self.assertEqual(self.status()["rejected"], [{"path": str(file), "events": 30}])

    def test_what_is_refused_at_once_is_an_error_of_the_run(self):
        for is_alone in (True, False):
            with self.subTest(is_alone=is_alone):
                for left in self.folder.glob("registry.json*"):
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
                told = self.run_once(400, waits=False, is_alone=is_alone)
                self.assert_kept(self.folder / "registry.json.rejected.ndjson", told)

    def test_what_is_refused_after_it_waited_is_counted_kept_and_an_error_of_the_run(self):
        told = self.run_once(400, waits=True)
        self.assertIn(f"30 by outputs[0] ({self.server.url}) out of its buffer", told)
        self.assert_kept(self.folder / "registry.json.rejected.ndjson", told)

    def test_what_is_refused_out_of_a_buffer_is_kept_in_its_folder(self):
        told = self.run_once(400, waits=True, is_alone=True, more=f", buffer: {{folder: {self.folder}/own}}")
        self.assert_kept(self.folder / "own/rejected.ndjson", told)

    def test_an_output_that_lets_nobody_in_leaves_what_waits_for_it_and_that_is_an_error(self):
        told = self.run_once(401, waits=True)
        self.assertEqual(self.code, 1, told)
        self.assertRegex(told, rf"bytes of events for outputs\[0\] \({self.server.url}\) stay in {self.folder}/registry.json.waiting/\w+")
        self.assertIn('status 401: {"error":"not you"}', told)
        (waiting,) = self.status()["waiting"]
        self.assertGreater(waiting["bytes"], 0)
        self.assertGreater(waiting["events"], 0)
        self.assertEqual(waiting["damaged_bytes"], 0)
        # What a disk has lost of it is told before anybody tries to send it.
        (file,) = pathlib.Path(waiting["path"]).glob("*.buffer")
        file.write_bytes(file.read_bytes()[:-1])
        (waiting,) = self.status()["waiting"]
        self.assertEqual((waiting["events"], waiting["damaged_bytes"]), (0, waiting["bytes"]))


if __name__ == "__main__":
    unittest.main()
