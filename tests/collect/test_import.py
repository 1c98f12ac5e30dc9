"""`clew collect import`: what is printed runs, and does what the other shipper did."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BINARY = os.environ.get("CLEW_BIN", "clew")


class Import(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_clew(self, *arguments):
        done = subprocess.run([BINARY, "collect", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def documents(self, name, text, log):
        """What a configuration of another shipper makes of a log, and what was told of it."""
        (self.folder / "app.log").write_text(log)
        (self.folder / name).write_text(text)
        imported = self.run_clew("import", name)
        (self.folder / "collect.yaml").write_text(imported.stdout)
        shown = self.run_clew("--config", "collect.yaml", "--dry-run").stdout
        return [json.loads(line) for line in shown.splitlines()], imported.stderr

    def test_a_filebeat(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs:
- type: log
  paths: ["{self.folder}/app.log"]
  multiline: {{pattern: '^\\d', negate: true, match: after}}
  processors:
    - dissect: {{tokenizer: '%{{n}} %{{level}} %{{text}}', target_prefix: ''}}
    - drop_event: {{when: {{equals: {{level: DEBUG}}}}}}
    - add_docker_metadata: ~
output.elasticsearch.hosts: ["127.0.0.1:9200"]
""", "1 INFO one\n  more of it\n2 DEBUG two\n3 WARN three\n")
        self.assertEqual([(one["n"], one["level"]) for one in documents], [("1", "INFO"), ("3", "WARN")])
        self.assertIn("more of it", documents[0]["message"])
        self.assertIn("line 9: [filebeat.inputs[0].processors[2].add_docker_metadata] has no counterpart", told)

    def test_a_logstash(self):
        documents, told = self.documents("pipeline.conf", """
input { file { path => "%s/app.log" start_position => "beginning" } }
filter {
  grok { match => { "message" => "%%{INT:n} %%{WORD:level} %%{GREEDYDATA:text}" } }
  if [level] == "DEBUG" { drop { } } else if [level] == "WARN" { mutate { add_field => { "said" => "%%{text}!" } } }
  ruby { code => "" }
}
output { stdout { } }
""" % self.folder, "1 INFO one\n2 DEBUG two\n3 WARN three\nbroken\n")
        self.assertEqual([one.get("n") for one in documents], ["1", "3", None])
        self.assertEqual(documents[1]["said"], "three!")
        self.assertEqual(documents[2]["tags"], ["_grokparsefailure"])
        self.assertIn("line 6: [filter.ruby] has no counterpart", told)


if __name__ == "__main__":
    unittest.main()
