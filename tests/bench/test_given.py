"""Benchmarks of the parts: what nothing can be measured by is refused before anything is done."""

import importlib.util
import unittest

from .base import BenchTest

HAS_NUMPY = importlib.util.find_spec("numpy") is not None


class Given(BenchTest):
    def test_none_of_something_is_refused(self):
        lines = self.folder / "lines"
        lines.write_text("one\ntwo\n")
        self.refused("from 1 to", "collect", lines, "--rounds", "0", status=2)
        self.refused("from 1 to", "log", "--rounds", "0", status=2)
        self.refused("seconds lie between", "log", "--seconds", "0", status=2)
        files = ["--base", lines, "--queries", lines, "--truth", lines]
        for option in ("--k", "--threads", "--ef-search", "--probes"):
            self.refused("from 1 to", "vectors", *files, option, "0", status=2)

    def test_folders_and_files_that_are_not_there_are_found_out_first(self):
        lines, none = self.folder / "lines", self.folder / "none"
        lines.write_text("one\n")
        for part in (["collect", lines], ["log", "--only", "scan"]):
            self.refused("is no folder", *part, "--dir", none)
            self.refused("cannot write", *part, "--dir", self.folder, "--json", none / "out.json")
        self.assertFalse(none.exists())

    def test_lines_of_which_there_are_none_are_not_measured(self):
        lines = self.folder / "lines"
        for text in ("", "one without its end"):
            lines.write_text(text)
            self.refused("has no whole line", "collect", lines, "--dir", self.folder)

    def test_a_processor_that_is_none_is_told_without_a_file(self):
        lines = self.folder / "lines"
        lines.write_text("one\n")
        self.refused("clew: [processors] no processor is called [nope]", "collect", lines, "--processors", "[{nope: {}}]", "--dir", self.folder)

    def test_a_run_that_fails_has_its_profile(self):
        self.refused("cannot read", "--profile", self.folder / "own.svg", "collect", self.folder / "none", "--dir", self.folder)
        self.assertIn("<svg", (self.folder / "own.svg").read_text())

    @unittest.skipUnless(HAS_NUMPY, "numpy is not installed")
    def test_vectors_that_do_not_fit_are_refused_before_they_are_built(self):
        import numpy

        def save(name, *shape):
            numpy.save(self.folder / f"{name}.npy", numpy.zeros(shape, "i4" if name == "truth" else "f4"))
            return self.folder / f"{name}.npy"

        queries = ["--queries", save("queries", 3, 4), "--truth", save("truth", 3, 10)]
        self.refused("vectors have 5 dimensions, and queries 4", "vectors", "--base", save("base", 20, 5), *queries)
        self.refused("there are no vectors", "vectors", "--base", save("base", 0, 4), *queries)


if __name__ == "__main__":
    unittest.main()
