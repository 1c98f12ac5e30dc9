"""Instructions of programs under callgrind, and of two builds."""

import argparse
import collections
import json
import os
import subprocess
import sys
import unittest

from .base import BENCH, BenchTest, module

NO_VALGRIND = module("callgrind.py").missing()
# A build that is not optimised, which has its symbols in itself, would take an hour.
IS_RELEASE = os.path.exists(os.environ.get("CLEW_BIN", "") + ".debug")
VALGRIND_SECONDS_MAX = 1200


class Instructions(BenchTest):
    def test_functions_of_callgrind_have_what_they_take_themselves(self):
        read = module("callgrind.py").read
        functions = read(line + "\n" for line in [
            "# callgrind format", "events: Ir", "", "fl=(1) a.rs", "fn=(1) clew::run::h0123456789abcdef", "10 5", "+2 7",
            "cfn=(2) clew::{impl#3}::ask::{closure#1}", "calls=2 40", "* 900", "-1 1",
            "fn=(2)", "40 850", "fn=(3) clew::run::h0123456789abcdef'2", "10 50", "totals: 913"])
        self.assertEqual(functions, {"clew::run": 63, "clew::{impl}::ask::{closure}": 850})

    def test_functions_that_differ_the_most_come_first(self):
        instructions, Counts = module("instructions.py"), module("callgrind.py").Counts
        old, new = {"same": 50, "gone": 10, "more": 1, "less": 30}, {"same": 50, "more": 40, "less": 20}
        self.assertEqual(instructions.differences(old, new), [("more", 1, 40), ("gone", 10, 0), ("less", 30, 20)])
        found = {"old": {"bulk": old}, "new": {"bulk": new}}
        lines = instructions.report(found)
        self.assertIn("| bulk | 91 | 110 | 1.2088 |", lines)
        self.assertIn("| `more` | 1 | 40 | +39 |", lines)
        self.assertEqual([row["metrics"]["instructions"] for row in instructions.kept(found).named("instructions")], [[91], [110]])
        found["new"]["bulk"] = {"0x0000000003447250": 70, "more": 40}
        self.assertFalse([line for line in instructions.report(found) if "more" in line])
        # What a server does by itself is in few rounds.
        rounds = [Counts(0, collections.Counter(work=100, **own)) for own in ({"upkeep": 900}, {}, {"upkeep": 700}, {}, {"upkeep": 80})]
        self.assertEqual(instructions.typical(rounds, 10), {"work": 10, "upkeep": 0})

    @unittest.skipIf(NO_VALGRIND, NO_VALGRIND)
    @unittest.skipUnless(IS_RELEASE, "takes an hour without a release build and its clew.debug")
    def test_instructions_of_two_builds_are_counted(self):
        binary = os.environ["CLEW_BIN"]
        command = [sys.executable, BENCH / "instructions.py", "--old", binary, "--new", binary, "--documents", 400, "--bulk", 50,
                   "--requests", 25, "--vectors", 200, "--dims", 8, "--json", self.folder / "rows.json"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=VALGRIND_SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        by_build = {}
        for row in self.read("rows.json")["rows"]:
            by_build.setdefault(row["params"]["build"], {})[row["params"]["what"]] = row["metrics"]["instructions"][0]
        self.assertEqual(len(by_build["old"]), 6)
        self.assertEqual(by_build["old"].keys(), by_build["new"].keys())
        self.assertGreater(min(by_build["old"].values()), 1000)
        # Hundreds of thousands in each document and search, so that little else weighs.
        for what in ("bulk, a document", "match, ten best with source"):
            self.assertLess(abs(by_build["new"][what] / by_build["old"][what] - 1), 0.2, what)
        self.assertRegex(done.stdout, r"\| bulk, a document \| [\d,]+ \| [\d,]+ \| [\d.]+ \|")

    @unittest.skipIf(NO_VALGRIND, NO_VALGRIND)
    def test_a_program_that_ends_under_callgrind_says_of_what(self):
        program, serving = self.folder / "program", json.dumps({"listening": {"http": "127.0.0.1:1", "grpc": "127.0.0.1:1"}})
        # One that does not begin, and one that ends while it is asked.
        for begins in ("", f"echo '{serving}'; "):
            program.write_text(f"#!/bin/sh\n{begins}echo it does not serve >&2\nexit 3\n")
            program.chmod(0o755)
            with self.assertRaisesRegex(RuntimeError, "it ended by 3: .*it does not serve"):
                with module("callgrind.py").Counted(program):
                    raise ConnectionError("closed the connection")
        # What was measured before is not lost with it.
        given = argparse.Namespace(builds={"old": program})
        told = module("pgo/run.py").counts_of(given, self.folder)
        self.assertRegex(told, r"^the program does not run under valgrind \(it ended by 3: .*it does not serve")


if __name__ == "__main__":
    unittest.main()
