"""Two sets of results are compared as benchstat compares them."""

import unittest

from .base import BenchTest


def search(ef, **metrics):
    return {"name": "search", "params": {"ef_search": ef, "k": 10}, "metrics": metrics}


class Compare(BenchTest):
    def test_a_difference_that_chance_does_not_explain_is_told_with_its_direction(self):
        old = self.write("old.json", [search(32, qps=[100, 101, 102, 103, 104, 105], p99_ms=[5, 6, 7, 5, 6, 7]),
                                      search(64, qps=[50, 51, 52, 53, 54, 55], p99_ms=[9] * 6)])
        new = self.write("new.json", [search(32, qps=[200, 201, 202, 203, 204, 205], p99_ms=[6, 5, 7, 6, 5, 7]),
                                      search(64, qps=[50, 51, 52, 53, 54, 55], p99_ms=[19] * 6)])
        lines = self.bench("compare", old, new, "--json", self.folder / "out.json").splitlines()
        self.assertIn("all rows: k=10", lines)
        # The least p-value of six and six: 2 of C(12, 6) = 924.
        self.assertRegex(lines[3], r"^search ef_search=32 +102\.5 ± +2% +202\.5 ± +1% +\+97\.56% +better \(p=0\.002 n=6\)$")
        self.assertRegex(lines[4], r"^search ef_search=64 +52\.50 ± +5% +52\.50 ± +5% +~ +\(p=1\.000 n=6\)$")
        self.assertRegex(lines[5], r"^geomean +73\.36 +103\.1 +\+40\.56%$")
        self.assertRegex(lines[8], r"^search ef_search=32 .* ~ +\(p=1\.000 n=6\)$")
        self.assertRegex(lines[9], r"^search ef_search=64 .*\+111\.11% +worse \(p=0\.002 n=6\)$")
        table = self.read("out.json")["metrics"][0]
        self.assertEqual((table["metric"], table["unit"], table["better"]), ("qps", "/s", "higher is better"))
        row = table["rows"][0]
        self.assertEqual((row["params"], row["verdict"]), ({"ef_search": 32, "k": 10}, "better"))
        self.assertEqual(row["old"], {"median": 102.5, "low": 100, "high": 105, "samples": 6})
        self.assertAlmostEqual(row["p"], 2 / 924)

    def test_several_files_are_samples_and_their_machines_are_told_apart(self):
        old = [self.write(f"old{n}.json", [search(32, qps=100 + n)]) for n in range(4)]
        new = [self.write(f"new{n}.json", [search(32, qps=90 + n), search(64, qps=1)], cpu="two") for n in range(4)]
        told = self.bench("compare", "--old", *old, "--new", *new, "--metric", "qps")
        self.assertIn("cpu differs: old one, new two", told)
        self.assertRegex(told, r"search ef_search=32 k=10 +101\.5 ± +∞ +91\.50 ± +∞ +-9\.85% +worse \(p=0\.029 n=4\)")
        self.assertIn("only in new: `search ef_search=64 k=10`", told)

    def test_one_sample_says_what_it_would_take(self):
        old, new = (self.write(name, [search(32, qps=qps)]) for name, qps in (("old.json", 1), ("new.json", 9)))
        told = self.bench("compare", old, new)
        self.assertIn("~  (p=1.000 n=1)", told)
        self.assertIn("need >= 4 samples", told)
        self.assertIn("need >= 6 samples for a confidence interval", told)
        # Fewer are not enough for a stricter level.
        self.assertIn("need >= 5 samples", self.bench("compare", old, new, "--alpha", "0.01"))

    def test_what_is_seldom_more_than_none_has_no_spread_in_percent(self):
        old, new = (self.write(name, [search(32, failures=failures)]) for name, failures in
                    (("old.json", [0] * 6), ("new.json", [0, 0, 0, 0, 0, 1])))
        told = self.bench("compare", old, new)
        self.assertRegex(told, r"search ef_search=32 k=10 +0 ± +0% +0 ± +\? +~ +\(p=1\.000 n=6\)")

    def test_a_whole_number_is_the_same_however_it_is_written(self):
        old, new = self.write("old.json", [search(32, qps=1)]), self.write("new.json", [search(32.0, qps=2)])
        self.assertIn("search ef_search=32 k=10", self.bench("compare", old, new))

    def test_what_differs_little_looks_different(self):
        rows = self.write("rows.json", [search(share, qps=1) for share in (0.0001, 0.0002)])
        told = self.bench("compare", rows, rows)
        self.assertIn("search ef_search=0.0001 ", told)
        self.assertIn("search ef_search=0.0002 ", told)

    def test_what_is_not_compared_is_told(self):
        old = self.write("old.json", [search(32, qps=1, p50_ms=2, failures=0), search(64, qps=1, failures=0)])
        new = self.write("new.json", [search(32, qps=1, p99_ms=2, failures=0), search(64, qps=1, failures=0)])
        told = self.bench("compare", old, new, "--json", self.folder / "out.json")
        self.assertIn("measured only in old: `p50_ms of search ef_search=32 k=10`", told)
        self.assertIn("measured only in new: `p99_ms of search ef_search=32 k=10`", told)
        self.assertIn("geomean: there is none of medians that are not above 0", told)
        self.assertEqual(self.read("out.json")["metrics_only_new"], ["p99_ms of search ef_search=32 k=10"])
        told = self.bench("compare", old, new, "--metric", "qps,p98_ms")
        self.assertIn("no row in common has: `p98_ms`", told)
        self.assertNotIn("measured only", told)
        self.assertNotIn("there is none of medians", told)

    def test_what_is_no_result_is_refused(self):
        good = self.write("good.json", [search(32, qps=1)])
        other = self.write("other.json", [search(64, qps=1)])
        empty = self.write("empty.json", [])
        text = self.folder / "text.json"
        text.write_text('{"rows": 7}')
        self.refused(f"cannot read results from {text}", "compare", good, text)
        self.refused("not a file that `clew bench", "compare", text, good)
        self.refused("it has no rows", "compare", good, empty)
        mixed = self.write("mixed.json", [search(32, qps=[1, None, 3])])
        self.refused("qps of `search` has a sample null, which is no number", "compare", good, mixed)
        self.refused("No such file", "compare", good, self.folder / "none.json")
        self.refused("no row of the one side", "compare", good, other)
        self.refused("no metric in common of those asked for, p99_ms", "compare", good, good, "--metric", "p99_ms")
        self.refused("cannot write", "compare", good, good, "--json", self.folder / "none" / "out.json")
        self.refused("--alpha is 2", "compare", good, good, "--alpha", "2")
        self.refused("--old and --new", "compare")
        self.refused("NEW.json", "compare", good, status=2)


if __name__ == "__main__":
    unittest.main()
