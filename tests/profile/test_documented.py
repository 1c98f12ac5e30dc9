"""The flame graphs that docs/performance.md shows, and what it says that they led to."""

import pathlib
import re
import unittest
import xml.dom.minidom

DOCS = pathlib.Path(__file__).parents[2] / "docs"
KINDS = ("ingest", "search", "collect")
BOXES_MIN = 50
FINDINGS_MIN = 2


class DocumentedTest(unittest.TestCase):
    def setUp(self):
        self.text = (DOCS / "performance.md").read_text()

    def test_there_are_flame_graphs_of_ingest_search_and_the_collector_on_and_off_the_processors(self):
        shown = re.findall(r"\((performance/[\w-]+\.svg)\)", self.text)
        self.assertEqual(set(shown), {f"performance/{kind}{mode}.svg" for kind in KINDS for mode in ("", "-off")})
        for path in shown:
            with self.subTest(path):
                picture = xml.dom.minidom.parse(str(DOCS / path))
                boxes = [group for group in picture.getElementsByTagName("g") if group.hasAttribute("data-n")]
                self.assertGreater(len(boxes), BOXES_MIN)
                # It zooms and searches as those that are drawn today.
                (script,) = picture.getElementsByTagName("script")
                self.assertIn("function search(", script.firstChild.data)
                self.assertTrue(any(box.getAttribute("data-n").startswith("clew") for box in boxes))

    def test_each_of_them_has_led_to_findings_with_figures_before_and_after(self):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in self.text.splitlines() if line.startswith("| ")]
        for kind in KINDS:
            found = [row for row in rows if len(row) == 5 and row[0].startswith(kind)]
            self.assertGreaterEqual(len(found), FINDINGS_MIN, kind)
            for _, showed, changed, before, after in found:
                self.assertTrue(showed and changed)
                for figure in (before, after):
                    self.assertRegex(figure, r"\d")


if __name__ == "__main__":
    unittest.main()
