"""A running collector is asked how far it is, and told to read its configuration again."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from .bulk_server import BulkServer
from .collector import Collector
from .rotated_log import RotatedLog
from .verdict import Verdict

BINARY = os.environ.get("CLEW_BIN", "clew")


class Running(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "logs").mkdir()
        self.server = self.enterContext(BulkServer())
        self.logs = [RotatedLog(self.folder / "logs" / name) for name in ("a.log", "b.log")]
        for log in self.logs:
            self.addCleanup(log.close)
        self.config = self.folder / "collect.yaml"
        self.registry = self.folder / "registry"

    def configure(self, *names, inputs=""):
        paths = [str(self.folder / "logs" / name) for name in names]
        self.config.write_text(f"""
registry: {self.registry}
inputs:
  - {{paths: {paths}, parse: plain}}
{inputs}
outputs:
  - {{type: opensearch, url: "{self.server.url}", compression: gzip}}
""")

    def start(self):
        collector = Collector([], self.server.url, self.registry)
        collector.command = [BINARY, "collect", "--config", str(self.config), "--quiet"]
        return self.enterContext(collector)

    def expect(self, count):
        self.assertTrue(self.server.wait_for(count), f"{len(self.server.documents)} of {count} arrived")

    def test_a_configuration_is_read_again_without_loss(self):
        self.configure("a.log")
        collector = self.start()
        for log in self.logs:
            log.write(100)
        self.expect(100)
        self.configure("a.log", "b.log")
        for _ in range(10):
            collector.process.send_signal(signal.SIGHUP)
            for log in self.logs:
                log.write(50)
        self.expect(1200)
        # A wrong one leaves everything as it is, also where only a processor of it is wrong.
        right = self.config.read_text()
        for count, wrong in ((1210, "inputs: [{pahts: []}]"), (1220, right + "processors: [{dissect: {field: message}}]\n")):
            self.config.write_text(wrong)
            collector.process.send_signal(signal.SIGHUP)
            self.logs[0].write(10)
            self.expect(count)
        collector.stop()
        verdict = Verdict(self.server, self.logs)
        self.assertTrue(verdict.is_clean(), str(verdict))

    def test_what_cannot_be_opened_leaves_the_old_configuration_running(self):
        self.configure("a.log")
        collector = self.start()
        self.logs[0].write(10)
        self.expect(10)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for count, more in ((20, f'  - {{type: http, listen: "127.0.0.1:{port}"}}'),
                                (30, f'  - {{type: syslog, listen: "tcp://127.0.0.1:{port}"}}\nmetrics: {{listen: "127.0.0.1:{port}"}}'),
                                (40, '  - {type: syslog, listen: "unix:///no/such/folder/socket"}')):
                self.configure("a.log", inputs=more)
                collector.process.send_signal(signal.SIGHUP)
                self.logs[0].write(10)
                self.expect(count)
        # Nor does an output that could not be written.
        right = self.config.read_text()
        self.config.write_text(right.split("inputs:")[0] + f"""
inputs: [{{paths: ["{self.folder}/logs/a.log"], parse: plain}}]
outputs: [{{type: file, path: "{self.config}/out.json"}}]
""")
        collector.process.send_signal(signal.SIGHUP)
        self.logs[0].write(10)
        self.expect(50)
        self.configure("a.log", "b.log")
        collector.process.send_signal(signal.SIGHUP)
        self.logs[1].write(10)
        self.expect(60)
        collector.stop()
        self.assertEqual(collector.process.returncode, 0)

    def test_the_status_says_how_far_each_file_was_read(self):
        self.configure("a.log", "b.log")
        collector = self.start()
        for log in self.logs:
            log.write(100)
        self.expect(200)
        collector.stop()
        self.logs[1].write(1)
        command = [BINARY, "collect", "status", "--registry", str(self.registry)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        first, second, last = done.stdout.splitlines()
        self.assertRegex(first, r"^plain .* 0 B 0\.0s  \S+/a\.log$")
        self.assertRegex(second, r"^plain .* \d+ B \d+\.\ds  \S+/b\.log$")
        self.assertRegex(last, r"^2 files, \d+ B behind$")

    def test_the_status_is_there_for_programs_and_by_the_configuration(self):
        self.configure("a.log")
        collector = self.start()
        self.logs[0].write(100)
        self.expect(100)
        collector.stop()
        self.logs[0].write(1)
        command = [BINARY, "collect", "status", "--config", str(self.config), "--json"]
        status = json.loads(subprocess.run(command, capture_output=True, timeout=60, check=True).stdout)
        (file,) = status["files"]
        size = (self.folder / "logs" / "a.log").stat().st_size
        self.assertEqual((file["path"], file["parser"]), (str(self.folder / "logs" / "a.log"), "plain"))
        self.assertEqual(file["offset_bytes"] + file["lag_bytes"], size)
        self.assertGreater(file["lag_seconds"], 0)
        self.assertEqual(status["lag_bytes"], file["lag_bytes"])
        command = [BINARY, "collect", "status", "--registry", str(self.folder / "mistyped")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("there is no registry", done.stderr)

    def test_a_file_that_cannot_be_read_is_read_once_it_may_be(self):
        someone = {}
        if os.geteuid() == 0:
            someone = {"user": 65534, "group": 65534, "extra_groups": []}
            try:
                subprocess.run([BINARY, "--version"], capture_output=True, timeout=60, check=True, **someone)
            except (PermissionError, subprocess.CalledProcessError):
                self.skipTest("the program can be run by nobody but root")
        self.folder.chmod(0o777)
        self.configure("a.log", "b.log")
        self.logs[0].write(10)
        (self.folder / "logs" / "a.log").chmod(0)
        command = [BINARY, "collect", "--config", str(self.config), "--quiet"]
        collector = subprocess.Popen(command, **someone)
        self.addCleanup(collector.wait)
        self.addCleanup(collector.kill)
        self.logs[1].write(10)
        self.expect(10)
        (self.folder / "logs" / "a.log").chmod(0o644)
        self.expect(20)

    def test_more_files_than_may_be_open_are_read(self):
        for number in range(300):
            (self.folder / "logs" / f"{number}.log").write_text(f"first of {number}\n")
        self.configure("*.log")
        command = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", BINARY, "collect", "--config", str(self.config), "--quiet"]
        collector = subprocess.Popen(command)
        self.addCleanup(collector.wait)
        self.addCleanup(collector.kill)
        self.expect(300)
        for number in range(0, 300, 7):
            with (self.folder / "logs" / f"{number}.log").open("a") as out:
                out.write(f"second of {number}\n")
        self.expect(343)
        self.assertIsNone(collector.poll())

    def test_secrets_of_addresses_are_not_told(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
            self.config.write_text(f"""
registry: {self.registry}
inputs: [{{paths: ["{self.folder}/logs/a.log"], parse: plain}}]
outputs: [{{type: opensearch, url: "http://shop:hush@127.0.0.1:{port}"}}]
""")
            self.logs[0].write(1)
            command = [BINARY, "collect", "--config", str(self.config)]
            collector = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            told = ""
            while "/_bulk" not in told and (line := collector.stderr.readline()):
                told += line
            collector.terminate()
            told += collector.communicate(timeout=60)[1]
        self.assertIn(f"http://127.0.0.1:{port}/_bulk", told)
        self.assertNotIn("hush", told)

    def test_a_second_collector_is_refused_by_name_of_the_first(self):
        self.configure("a.log")
        collector = self.start()
        self.logs[0].write(1)
        self.expect(1)
        second = subprocess.run(collector.command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"in use by process {collector.process.pid}", second.stderr)

    def test_a_second_collector_is_refused_for_its_registry_before_its_addresses(self):
        self.configure("a.log")
        collector = self.start()
        self.logs[0].write(1)
        self.expect(1)
        text = self.config.read_text()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.config.write_text(f'metrics: {{listen: "127.0.0.1:{taken.getsockname()[1]}"}}\n{text}')
            second = subprocess.run(collector.command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"in use by process {collector.process.pid}", second.stderr)

    def test_files_whose_events_have_waited_are_left_alone_until_more_comes(self):
        for number in range(40):
            (self.folder / f"{number}.log").write_text("it broke\n\tat a.b(1)\nan unfinished li")
        output = self.folder / "out.json"
        self.config.write_text(f"""
registry: {self.registry}
inputs: [{{paths: ["{self.folder}/*.log"], parse: plain, multiline: {{preset: java, timeout_ms: 100}}}}]
outputs: [{{type: file, path: {output}}}]
""")
        collector = self.start()
        until = time.monotonic() + 120
        while not output.exists() or len(output.read_text().splitlines()) < 40:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)

        def reads():
            said = pathlib.Path(f"/proc/{collector.process.pid}/io").read_text()
            return int(said.split("syscr: ")[1].split()[0])

        # Whoever looks at each of them again and again never has a time without so many.
        before = reads()
        time.sleep(1)
        while (now := reads()) - before >= 13:
            self.assertLess(time.monotonic(), until)
            before = now
            time.sleep(1)
        with open(self.folder / "7.log", "a") as log:
            log.write("ne\n")
        while "an unfinished line" not in output.read_text():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)

    def test_standard_input_is_read_to_its_end(self):
        self.config.write_text(f"""
registry: {self.registry}
inputs: [{{type: stdin, parse: plain}}]
outputs: [{{type: opensearch, url: "{self.server.url}"}}]
""")
        lines = "".join(f"line {number}\n" for number in range(5000))
        command = [BINARY, "collect", "--config", str(self.config), "--quiet"]
        subprocess.run(command, input=lines, text=True, timeout=60, check=True)
        self.assertEqual(len(self.server.documents), 5000)


if __name__ == "__main__":
    unittest.main()
