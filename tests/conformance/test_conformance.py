"""The listed tests as part of all tests, where the artifact is there."""

import os
import pathlib
import unittest

from tests.opensearch.clew_server import ClewServer

from .compatibility import known, surprises
from .java import java_regex, same
from .suite import Result, listed, run_all, select


class Listed(unittest.TestCase):
    def test_what_is_listed_passes_but_for_what_the_page_names(self):
        folder = os.environ.get("CLEW_REST_SPEC")
        if not folder or not pathlib.Path(folder, "test").is_dir():
            self.skipTest("OpenSearch's REST tests are not installed (that takes Maven: make conformance)")
        with ClewServer() as server:
            chosen = select(pathlib.Path(folder), listed(), [])
            results = list(run_all(pathlib.Path(folder), server.url, chosen, timeout=300))
        self.assertEqual(len(results), len(listed()))
        self.assertEqual(surprises(results, known()), [])


class Runner(unittest.TestCase):
    def test_a_page_that_is_not_true_is_found_out(self):
        page = "| `a/1.yml::x` | no nodes |\n| `a/1.yml::y` | no nodes |\n"
        self.assertEqual(known(page), {"a/1.yml::x": "no nodes", "a/1.yml::y": "no nodes"})
        results = [Result("a/1.yml::x", "pass"), Result("a/1.yml::y", "fail"), Result("a/1.yml::z", "fail", "because")]
        lines = surprises(results, known(page))
        self.assertEqual(lines, ["names a/1.yml::x, which passed", "does not name a/1.yml::z, which failed: because"])

    def test_values_are_compared_as_the_java_runner_does(self):
        self.assertTrue(same(1, 1.0, top=True))
        self.assertFalse(same({"a": 1}, {"a": 1.0}))
        self.assertFalse(same(True, 1))
        self.assertTrue(java_regex(r"^ a \s+ b \n $").search("a  b\n"))
