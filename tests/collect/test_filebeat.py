"""Filebeat 7.17, unmodified, which ships to the collector's input as to an Elasticsearch: its handshake, its metadata, its ids, TLS
and its API key, and every line once although requests fail on the way."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from .bulk_server import BulkServer
from .certificates import Authority
from .listening import Listening
from .shippers import CACHE

LINES = 1500
RUN_SECONDS_MAX = 240
CONFIG = """\
registry: {folder}/registry.json
inputs:
  - {{type: http, listen: "127.0.0.1:0", timeout_ms: {timeout}{more}}}
outputs:
  - {{type: opensearch, url: "{url}", index: "{{{{@metadata._index}}}}", pipeline: "{{{{@metadata.pipeline}}}}"}}
"""


class Filebeat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = CACHE / "filebeat-7.17.28/filebeat"
        if not cls.program.exists():
            raise unittest.SkipTest(f"{cls.program} is missing: `make clients` builds it")

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.log = self.folder / "seeded.log"
        self.write(0, LINES)

    def write(self, first, last):
        with self.log.open("a") as out:
            out.writelines(f"line {number} of the log\n" for number in range(first, last))

    def collector(self, server, more="", timeout=30_000):
        config = self.folder / "collect.yaml"
        config.write_text(CONFIG.format(folder=self.folder, url=server.url, more=more, timeout=timeout))
        return self.enterContext(Listening(config))

    def ship(self, url, processors=(), **output):
        """Lets Filebeat read what is new to the end, and returns what it says."""
        config = self.folder / "filebeat.yml"
        config.write_text(json.dumps({
            "filebeat.inputs": [{"type": "log", "paths": [str(self.log)], "close_eof": True}],
            "processors": list(processors),
            "output.elasticsearch": {"hosts": [url], "bulk_max_size": 100, "backoff.init": "100ms", **output},
            "logging": {"to_stderr": True, "to_files": False},
        }))
        command = [self.program, "run", "--once", "--strict.perms=false", "-c", config,
                   "--path.home", self.folder, "--path.data", self.folder / "data"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=RUN_SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])
        return done.stderr

    def check(self, server, count):
        messages = sorted(document["message"] for document in server.documents.values())
        self.assertEqual(messages, sorted(f"line {number} of the log" for number in range(count)))

    def test_every_line_arrives_once_with_what_filebeat_says_of_it(self):
        server = self.enterContext(BulkServer())
        url = f"http://127.0.0.1:{self.collector(server).ports[0]}"
        said = self.ship(url, pipeline="shop")
        self.assertIn("Connection to backoff(elasticsearch", said)
        self.check(server, LINES)
        for action, about in server.actions.values():
            self.assertEqual((action, about["pipeline"]), ("create", "shop"))
            # It is told that nobody rolls indexes over here, and names one for each day.
            self.assertRegex(about["_index"], r"^filebeat-7\.17\.28-\d{4}\.\d\d\.\d\d$")
        (document, *_) = server.documents.values()
        self.assertEqual(document["agent"]["version"], "7.17.28")
        self.assertEqual(document["log"]["file"]["path"], str(self.log))
        self.assertNotIn("@metadata", document)
        # What it has sent it does not send again, and what is new it does.
        self.write(LINES, LINES + 100)
        self.ship(url)
        self.check(server, LINES + 100)

    def test_its_own_ids_make_every_line_come_once_although_requests_are_sent_again(self):
        server = self.enterContext(BulkServer(seed=5, failing=0.4))
        # Shorter than the pauses of an output that fails: Filebeat is told to come again, while its events still go on.
        collector = self.collector(server, timeout=300)
        named = {"fingerprint": {"fields": ["message"], "target_field": "@metadata._id"}}
        self.ship(f"http://127.0.0.1:{collector.ports[0]}", [named])
        server.failing = 0
        collector.stop()
        self.check(server, LINES)
        self.assertGreater(server.repeated, 0)

    def test_it_comes_over_tls_with_its_key(self):
        authority = Authority(self.folder)
        certificate, key = authority.issue("localhost")
        server = self.enterContext(BulkServer())
        collector = self.collector(server, f", tls: {{certificate: {certificate}, key: {key}}}, authentication: [{{api_key: \"an:key\"}}]")
        self.ship(f"https://localhost:{collector.ports[0]}", api_key="an:key",
                  **{"ssl.certificate_authorities": [str(authority.certificate)]})
        self.check(server, LINES)


if __name__ == "__main__":
    unittest.main()
