"""Results become curves."""

import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from .base import SECONDS_MAX, BenchTest, have_little_room

SVG = "{http://www.w3.org/2000/svg}"


def search(ef, clients, kind="a & b", **metrics):
    found = {"recall": 1 - 1 / ef, "qps": 1000 * clients / ef, "p99_ms": clients * 0.3, **metrics}
    return {"name": "search", "params": {"ef_search": ef, "concurrency": clients, "kind": kind}, "metrics": found}


class Plot(BenchTest):
    def plot(self, *arguments):
        """Curves as lists of points, and all texts."""
        out = self.folder / "out.svg"
        self.bench("plot", *arguments, "-o", out)
        root = ElementTree.parse(out).getroot()
        curves = [path for path in root.iter(f"{SVG}path") if path.get("class") == "curve" and "h22" not in path.get("d")]
        texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
        return [len(path.get("d").replace("M", "").split("L")) for path in curves], texts, root

    def test_recall_against_queries_a_second_by_clients(self):
        results = self.write("one.json", [search(ef, clients) for ef in (32, 64, 128) for clients in (1, 4)])
        curves, texts, root = self.plot(results)
        self.assertEqual(curves, [3, 3])
        for text in ("qps by recall", "concurrency 1", "concurrency 4", "0.98"):
            self.assertIn(text, texts)
        # Each point tells what it is.
        told = [title.text for title in root.iter(f"{SVG}title")]
        self.assertEqual(len(told), 6)
        self.assertIn("ef_search 32, kind a & b: 0.9688, 31.25", told)

    def test_latency_against_load_of_several_files(self):
        files = [self.write(f"{name}.json", [search(32, clients) for clients in (1, 2, 4)]) for name in ("old", "new")]
        curves, texts, _ = self.plot(*files, "--x", "qps", "--y", "p99_ms", "--title", "<both>")
        self.assertEqual(curves, [3, 3])
        for text in ("<both>", "old", "new"):
            self.assertIn(text, texts)

    def test_rows_are_chosen_and_curves_told_apart_as_asked(self):
        results = self.write("one.json", [search(ef, 1, kind) for ef in (32, 64) for kind in ("and", "or")])
        curves, texts, _ = self.plot(results, "--by", "kind")
        self.assertEqual(curves, [2, 2])
        self.assertIn("kind or", texts)
        curves, texts, _ = self.plot(results, "--only", "kind=or,name=search")
        self.assertEqual(curves, [2])
        curves, texts, _ = self.plot(results, "--by", "name")
        self.assertEqual(curves, [4])

    def test_parameters_that_hardly_differ_are_points_of_their_own(self):
        results = self.write("one.json", [search(share, 1, recall=share) for share in (0.0001, 0.0002)])
        curves, _, _ = self.plot(results)
        self.assertEqual(curves, [2])
        self.assertEqual(len(self.plot(results, "--only", "ef_search=0.0002")[2].findall(f".//{SVG}title")), 1)

    def test_of_a_picture_that_has_no_room_no_half_is_left(self):
        results = self.write("one.json", [search(ef, 1) for ef in (32, 64)])
        out = self.folder / "out.svg"

        done = subprocess.run(self.command("plot", results, "-o", out), preexec_fn=have_little_room, capture_output=True,
                              text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"cannot write {out}", done.stderr)
        self.assertFalse(out.exists())

    def test_what_cannot_be_drawn_is_refused(self):
        results = self.write("one.json", [search(ef, 1, str(ef)) for ef in range(2, 40)])
        out = self.folder / "out.svg"
        self.refused("no row has both nothing and p99_ms: there are concurrency, ef_search", "plot", results, "--x", "nothing", "-o", out)
        self.refused("38 curves, and 16", "plot", results, "-o", out)
        self.refused("no row has a parameter none that curves could be told apart by: there are concurrency, ef_search, kind, name",
                     "plot", results, "--by", "none", "-o", out)
        far = self.write("far.json", [search(2, 1, qps=1e300)])
        self.refused("1e300 has no place on an axis", "plot", far, "-o", out)
        self.refused("no row is as --only asks", "plot", results, "--only", "kind=none", "-o", out)
        self.refused("key=value", "plot", results, "--only", "kind", "-o", out, status=2)
        self.refused("cannot write", "plot", results, "--by", "name", "-o", self.folder / "none" / "out.svg")
        self.refused("ends in .svg", "plot", results, "-o", self.folder / "out.png")
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
