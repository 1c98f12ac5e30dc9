"""A running collector is asked how far it is, and told to read its configuration again."""

import os
import pathlib
import signal
import socket
import subprocess
import tempfile
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
        self.configure("a.log", "b.log")
        collector.process.send_signal(signal.SIGHUP)
        self.logs[1].write(10)
        self.expect(50)
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

    def test_a_second_collector_is_refused_by_name_of_the_first(self):
        self.configure("a.log")
        collector = self.start()
        self.logs[0].write(1)
        self.expect(1)
        second = subprocess.run(collector.command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"in use by process {collector.process.pid}", second.stderr)

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
