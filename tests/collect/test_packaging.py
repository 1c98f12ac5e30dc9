"""What is packaged with the collector: its configurations are right, and the unit and the manifest are what their readers expect."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import yaml

BINARY = os.environ.get("CLEW_BIN", "clew")
PACKAGING = pathlib.Path(__file__).parents[2] / "packaging"


class Packaging(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def explain(self, config, log, line):
        """What a configuration makes of a line of a file of that name; it is compiled whole for that."""
        path = self.folder / log
        path.write_text(line + "\n")
        command = [BINARY, "collect", "test", str(path), "--config", str(config)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_units_configuration_is_right(self):
        shown = self.explain(PACKAGING / "systemd" / "collect.yaml", "syslog",
                             "Jan  2 03:04:05 web1 sshd[17]: Server listening on 0.0.0.0 port 22.")
        self.assertIn('"pattern_new":true', shown)

    def test_systemd_understands_the_unit(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        unit = self.folder / "clew-collect.service"
        text = (PACKAGING / "systemd" / unit.name).read_text()
        unit.write_text(text.replace("/usr/local/bin/clew", BINARY))
        done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False)
        self.assertNotIn(unit.name, done.stderr)

    def test_the_daemonset_mounts_what_it_names_and_its_configuration_is_right(self):
        documents = list(yaml.safe_load_all((PACKAGING / "kubernetes" / "collect.yaml").read_text()))
        kinds = {document["kind"]: document for document in documents}
        self.assertEqual(set(kinds), {"Namespace", "ConfigMap", "DaemonSet"})
        spec = kinds["DaemonSet"]["spec"]
        labels = spec["template"]["metadata"]["labels"]
        self.assertEqual(spec["selector"]["matchLabels"], labels)
        pod = spec["template"]["spec"]
        (container,) = pod["containers"]
        self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, {volume["name"] for volume in pod["volumes"]})
        config = self.folder / "collect.yaml"
        config.write_text(kinds["ConfigMap"]["data"]["collect.yaml"])
        log = f"shop-7d9f-x2_kube-system_side-car-{'0123abcd' * 8}.log"
        docker = '{"log":"it broke\\n","stream":"stderr","time":"2026-01-02T03:04:05.678Z"}'
        for line in ("2026-01-02T03:04:05.678Z stderr F it broke", docker):
            with self.subTest(line):
                shown = self.explain(config, log, line)
                for part in ('"message":"it broke"', '"stream":"stderr"', '"@timestamp":"2026-01-02T03:04:05.678Z"', '"pod":{"name":"shop-7d9f-x2"}',
                             '"namespace":"kube-system"', '"container":{"name":"side-car"}', f'"id":"{"0123abcd" * 8}"'):
                    self.assertIn(part, shown)


if __name__ == "__main__":
    unittest.main()
