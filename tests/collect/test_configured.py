"""`clew collect --config`: processors, files and standard output, dry runs, and what is told of a wrong configuration."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BINARY = os.environ.get("CLEW_BIN", "clew")
TIMEOUT_SECONDS = 120
CONFIG = """\
registry: {folder}/registry.json
host: ${{THE_HOST:web1}}
inputs:
  - type: file
    paths: ["{folder}/logs/*.log"]
    parse: plain
    processors:
      - dissect: {{field: message, pattern: "%{{level}} %{{took}}ms %{{text}}", tag: cut}}
      - convert: {{field: took, type: long}}
      - remove: {{field: message}}
processors:
  - drop: {{if: {{range: {{took: {{gte: 100}}}}}}}}
outputs:
  - {{type: file, path: "{folder}/out.json", rotate_bytes: 1000000}}
"""


class Configured(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "logs").mkdir()
        self.config = self.folder / "collect.yaml"
        self.config.write_text(CONFIG.format(folder=self.folder))
        self.append("INFO 7ms all is well", "WARN 250ms slow", "broken")

    def append(self, *lines):
        with (self.folder / "logs" / "app.log").open("a") as out:
            out.writelines(line + "\n" for line in lines)

    def run_clew(self, *arguments, code=0, **variables):
        command = [BINARY, "collect", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False,
                              env={**os.environ, **variables})
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def documents(self, text):
        return [json.loads(line) for line in text.splitlines()]

    def test_processed_lines_are_in_the_file_once_and_broken_ones_are_kept(self):
        done = self.run_clew("--config", str(self.config), "--once", THE_HOST="db1")
        first, second = self.documents((self.folder / "out.json").read_text())
        self.assertEqual((first["level"], first["took"], first["text"]), ("INFO", 7, "all is well"))
        self.assertEqual(first["host"], {"name": "db1"})
        self.assertNotIn("message", first)
        self.assertEqual((second["message"], second["event"]["parse_error"]), ("broken", True))
        self.assertRegex(done.stderr, r"failed\s+dissect\s+cut\s+no_match\s+1")
        self.assertIn("1 events were dropped by processors", done.stderr)
        self.append("INFO 8ms more")
        self.run_clew("--config", str(self.config), "--once")
        self.assertEqual([one.get("took") for one in self.documents((self.folder / "out.json").read_text())], [7, None, 8])

    def test_a_dry_run_shows_documents_and_leaves_nothing_behind(self):
        before = sorted(self.folder.iterdir())
        for _ in range(2):
            shown = self.documents(self.run_clew("--config", str(self.config), "--dry-run").stdout)
            self.assertEqual([one.get("took") for one in shown], [7, None])
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_every_step_is_shown(self):
        shown = self.run_clew("test", str(self.folder / "logs" / "app.log"), "--config", str(self.config)).stdout
        self.assertRegex(shown, r'dissect \[cut\]\s+\{.*"took":"7"')
        self.assertRegex(shown, r'convert\s+\{.*"took":7[,}]')
        self.assertIn("ended: dropped", shown)
        self.assertIn("ended: no_match", shown)

    def test_a_mark_of_the_encoding_in_front_is_passed_over(self):
        self.config.write_bytes(b"\xef\xbb\xbf" + self.config.read_bytes())
        shown = self.documents(self.run_clew("--config", str(self.config), "--dry-run").stdout)
        self.assertEqual([one.get("took") for one in shown], [7, None])
        other = self.folder / "pipeline.conf"
        other.write_bytes(b'\xef\xbb\xbfinput { file { path => "/l" } }\r\noutput { stdout {} }\r\n')
        self.assertIn("- /l\n", self.run_clew("import", str(other)).stdout)

    def test_a_file_is_tried_without_a_configuration(self):
        log = self.folder / "logs" / "app.log"
        log.write_text('{"level":"warn","msg":"full"}\n' * 3)
        shown = self.run_clew("test", str(log), "--lines", "1").stdout
        self.assertRegex(shown, r'parser json, chosen: 3 of 3 lines\n\n.*\n  json +\{.*"level":"warning"')
        self.assertIn("plain  ", self.run_clew("test", str(log), "--parse", "plain").stdout)
        self.assertIn("no parser is called", self.run_clew("test", str(log), "--parse", "jsn", code=1).stderr)
        self.assertIn("--config", self.run_clew("test", str(log), "--input", "1", code=2).stderr)
        empty = self.folder / "empty.log"
        empty.touch()
        self.assertIn("empty.log is empty", self.run_clew("test", str(empty), code=1).stderr)

    def test_lines_of_an_input_of_syslog_are_tried_as_syslog(self):
        self.append("<34>1 2026-01-01T10:00:00Z web1 shop 7 - - all is well")
        config = self.folder / "syslog.yaml"
        config.write_text("inputs: [{type: syslog, listen: 'udp://127.0.0.1:0'}]\noutputs: [{type: stdout}]\n")
        shown = self.run_clew("test", str(self.folder / "logs" / "app.log"), "--config", str(config)).stdout
        self.assertNotIn("chosen", shown)
        self.assertRegex(shown, r'syslog\s+\{.*"hostname":"web1"')

    def test_what_a_configuration_says_is_not_said_beside_it(self):
        self.append("INFO 7ms one")
        for flag, value in [("--to", "http://127.0.0.1:1"), ("--index", "other"), ("--parse", "json"), ("--registry", "other.json")]:
            with self.subTest(flag):
                refused = self.run_clew("--config", str(self.config), "--once", flag, value, code=2).stderr
                self.assertIn("cannot be used with", refused)

    def test_what_is_wrong_is_told_with_its_line(self):
        for old, new, expected in [
            ("    paths:", "    pahts:", "line 5: [inputs[0].pahts] is no known key, did you mean [paths]?"),
            ("- convert: {field: took,", "- convert: {feld: took,", "line 9: [inputs[0].processors[1]]"),
            ("THE_HOST:web1", "NO_SUCH_HOST", "line 2: [host] the variable NO_SUCH_HOST is not set"),
        ]:
            text = CONFIG.format(folder=self.folder)
            self.assertIn(old, text)
            self.config.write_text(text.replace(old, new))
            self.assertIn(expected, self.run_clew("--config", str(self.config), "--once", code=1).stderr)

    def test_a_program_changes_lines_and_what_is_wrong_with_it_is_shown(self):
        program = self.folder / "program.vrl"
        program.write_text('parts = parse_regex!(.message, r\'^(?P<level>\\w+) (?P<took>\\d+)ms (?P<text>.*)$\')\n'
                           '.took = to_int!(parts.took)\n.event.kind = downcase(parts.level)\n'
                           'if .took > 100 { abort }\ndel(.message)\n')
        text = CONFIG.format(folder=self.folder)
        start, end = text.index("      - dissect"), text.index("processors:\n  - drop")
        self.config.write_text(text[:start] + f"      - vrl: {{file: {program}}}\n" + text[end:])
        done = self.run_clew("--config", str(self.config), "--once")
        first, second = self.documents((self.folder / "out.json").read_text())
        self.assertEqual((first["took"], first["event"]), (7, {"dataset": "plain", "kind": "info"}))
        self.assertNotIn("message", first)
        self.assertEqual((second["message"], second["event"]["parse_error"]), ("broken", True))
        self.assertRegex(done.stderr, r"failed\s+vrl\s+-\s+program_failed\s+1")
        self.assertIn("parse_regex", done.stderr)
        shown = self.run_clew("test", str(self.folder / "logs" / "app.log"), "--config", str(self.config)).stdout
        self.assertRegex(shown, r'vrl\s+\{.*"took":7')
        self.assertIn("ended: dropped", shown)
        self.assertIn("ended: program_failed: function call error", shown)
        program.write_text(".a = 1\n.b = parse_json(.message)\n")
        for arguments in (["--once"], ["--dry-run"]):
            wrong = self.run_clew("--config", str(self.config), *arguments, code=1).stderr
            self.assertIn(f"collect.yaml, line 8: [inputs[0].processors[0]] [source] of {program} does not compile", wrong)
            self.assertIn("2 │ .b = parse_json(.message)", wrong)


if __name__ == "__main__":
    unittest.main()
