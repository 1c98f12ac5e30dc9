"""What is wrong with files, lines, configurations and registries is told, each in its words, and everything else goes on."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BINARY = os.environ.get("CLEW_BIN", "clew")
# A pattern that goes back and back where it is tried letter by letter takes years for these lines.
SECONDS_MAX = 300
# An account that may read nothing that is not for everybody.
NOBODY = 65534
GOOD = [f"2026-01-02T03:04:05Z INFO number {n}" for n in range(500)]


class BadInput(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder.chmod(0o777)
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        (self.logs / "good.log").write_text("".join(line + "\n" for line in GOOD))

    def run_clew(self, processors="", parse="plain", code=0, binary=BINARY, **options):
        config = self.folder / "collect.yaml"
        config.write_text(f"""
registry: {self.folder}/registry.json
inputs:
  - {{paths: ["{self.logs}/*"], parse: {parse}}}
{processors}
outputs:
  - {{type: file, path: "{self.folder}/out.json", sync: false}}
""")
        done = subprocess.run([binary, "collect", "--config", str(config), "--once"], capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def documents(self):
        """By file name, in their order; every line of the good file has to be there."""
        found = {}
        with (self.folder / "out.json").open() as lines:
            for document in map(json.loads, lines):
                found.setdefault(pathlib.Path(document["log"]["file"]["path"]).name, []).append(document)
        # Not compared as lists: what differs would be looked for for minutes.
        self.assertTrue([document["message"] for document in found["good.log"]] == GOOD)
        return found

    def test_lines_that_were_lost_with_the_power_are_passed_over(self):
        (self.logs / "power.log").write_bytes(bytes(100) + b"one\n" + bytes(10) + b"\n" + bytes(5) + b"two\n")
        self.run_clew()
        self.assertEqual([one["message"] for one in self.documents()["power.log"]], ["one", "two"])

    def test_binary_junk_is_left_alone_and_told(self):
        (self.logs / "junk.log").write_bytes(os.urandom(50_000) + bytes(range(256)) * 4)
        (self.logs / "program").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(5_000))
        told = self.run_clew()
        self.assertEqual(set(self.documents()), {"good.log"})
        for name in ("junk.log", "program"):
            self.assertRegex(told, rf"skipped +not text: .*/{name}\n")

    def test_a_pattern_that_no_file_fits_is_told(self):
        config = self.folder / "mistyped.yaml"
        config.write_text(f'registry: {self.folder}/r.json\ninputs: [{{paths: ["{self.logs}/*.log", "{self.logs}/*.lgo"], parse: plain}}]\n'
                          f'outputs: [{{type: file, path: "{self.folder}/out.json"}}]\n')
        done = subprocess.run([BINARY, "collect", "--config", str(config), "--once"], capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=True)
        self.assertRegex(done.stderr, r"skipped +no file fits the pattern +/\S+/logs/\*\.lgo\n")
        self.assertIn("1 files read, 1 skipped: 500 lines", done.stderr)

    def test_junk_in_the_middle_of_text_is_kept_as_far_as_it_is_text(self):
        between = b"in between\n" * 20_000
        (self.logs / "bad.log").write_bytes(b"one\n\xff\xfe caf\xe9\ntwo\n" + between + bytes(100) + b"\n\0three\n")
        self.run_clew()
        messages = [document["message"] for document in self.documents()["bad.log"]]
        self.assertEqual(messages[:3], ["one", "\ufffd\ufffd caf\ufffd", "two"])
        # A line of zeros alone is an empty one, which is no event.
        self.assertEqual((len(messages), messages[-2:]), (20_004, ["in between", "three"]))

    def test_a_line_without_end_is_cut_and_marked(self):
        (self.logs / "long.log").write_text("before\n" + "x" * (5 << 20) + "\nafter\n" + "y" * (3 << 20))
        told = self.run_clew()
        before, long, after, last = self.documents()["long.log"]
        self.assertEqual((before["message"], after["message"]), ("before", "after"))
        for document in (long, last):
            self.assertEqual(len(document["message"]), 1 << 20)
            self.assertEqual(document["log"]["flags"], ["truncated"])
        self.assertIn("2 lines were longer than their input allows, and were cut", told)

    def test_invalid_json_is_kept_and_counted_with_samples(self):
        (self.logs / "bad.log").write_text('{"a":1}\n{"a":\n[1]\nnot json\n{"a":1}{"a":2}\n' + "[" * 100_000 + "\n")
        told = self.run_clew('processors: [{json: {field: message, add_to_root: true, if: {regexp: {log.file.path: "bad"}}}}]')
        first, *others = self.documents()["bad.log"]
        self.assertEqual(first["a"], 1)
        self.assertEqual([document["event"].get("parse_error") for document in others], [True] * 5)
        self.assertEqual(others[2]["message"], "not json")
        self.assertRegex(told, r"failed\s+json\s+-\s+not_json\s+5")
        self.assertIn("not json", told)

    def test_a_pattern_that_never_matches_is_told_and_lines_are_kept(self):
        for step in ('dissect: {field: message, pattern: "%{a}|||%{b}"}', 'grok: {field: message, patterns: ["^%{IP:a} never$"]}',
                     "regex: {field: message, pattern: '^(?<a>never)'}", "parse: {field: message, format: nginx_access}"):
            with self.subTest(step):
                for name in ("out.json", "registry.json"):
                    (self.folder / name).unlink(missing_ok=True)
                told = self.run_clew(f"processors: [{{{step}}}]")
                self.assertTrue(all(document["event"]["parse_error"] for document in self.documents()["good.log"]))
                self.assertRegex(told, rf"failed\s+{step.split(':')[0]}\s+-\s+no_match\s+500")
                self.assertIn("number 0", told)

    def test_a_pattern_that_would_go_back_for_ever_takes_no_time(self):
        (self.logs / "bad.log").write_text("a" * 30_000 + "!\n" + "a=1 " * 5_000 + "\n")
        for step in ("regex: {field: message, pattern: '^(?<x>(a+)+)$'}", "grok: {field: message, patterns: ['^(?<x>(a|aa)+)$']}",
                     "gsub: {field: message, pattern: '(a*)*#', replacement: x}"):
            with self.subTest(step):
                for name in ("out.json", "registry.json"):
                    (self.folder / name).unlink(missing_ok=True)
                self.run_clew(f"processors: [{{{step}}}]")
                self.assertEqual(len(self.documents()["bad.log"]), 2)

    def test_unknown_keys_are_told_with_their_line_and_nothing_is_read(self):
        for processors, told in [
            ("processors: [{dissect: {field: message, pattern: '%{a}', patern: a}}]", "line 5: [processors[0]] [patern] is no parameter of [dissect]"),
            ("processors: [{disect: {field: message}}]", "line 5: [processors[0]]"),
            ("procesors: []", "line 5: [procesors] is no known key, did you mean [processors]?"),
            ("processors: [{parse: {field: message, format: ngnix}}]", "line 5: [processors[0]] [format] is [ngnix]"),
            ("processors: [{regex: {field: message, pattern: '(?<a>'}}]", "line 5: [processors[0]] [pattern]"),
        ]:
            with self.subTest(processors):
                self.assertIn(told, self.run_clew(processors, code=1))
                self.assertFalse((self.folder / "out.json").exists())
        self.assertIn("line 4: [inputs[0].parse]", self.run_clew(parse="plian", code=1))

    def test_a_file_that_may_not_be_read_is_told_and_the_others_are_read(self):
        (self.logs / "secret.log").write_text("not for everybody\n")
        (self.logs / "secret.log").chmod(0)
        (self.logs / "folder.log").mkdir()
        os.symlink("nowhere", self.logs / "dangling.log")
        as_nobody = {}
        if os.geteuid() == 0:
            # By an open file: who may read nothing may not find the binary either.
            program = self.enterContext(open(shutil.which(BINARY), "rb"))
            as_nobody = {"user": NOBODY, "extra_groups": [], "binary": f"/proc/self/fd/{program.fileno()}", "pass_fds": [program.fileno()]}
        told = self.run_clew(**as_nobody)
        self.assertEqual(set(self.documents()), {"good.log"})
        self.assertRegex(told, r"skipped +cannot be read: Permission denied.*/secret\.log\n")
        self.assertRegex(told, r"skipped +does not exist.*/dangling\.log\n")

    def test_a_registry_of_a_later_version_is_an_error_that_names_it_and_nothing_is_sent(self):
        self.run_clew()
        registry = self.folder / "registry.json"
        head, body = registry.read_text().split("\n", 1)
        for text in (json.dumps({"version": 99, "files": []}), f"{head}\n{body[:-20]}", "\x00\x01", "[]"):
            with self.subTest(text[:20]):
                (self.folder / "out.json").unlink(missing_ok=True)
                registry.write_text(text)
                self.assertIn("registry.json", self.run_clew(code=1))
                self.assertFalse((self.folder / "out.json").exists())
                self.assertEqual(registry.read_text(), text)


if __name__ == "__main__":
    unittest.main()
