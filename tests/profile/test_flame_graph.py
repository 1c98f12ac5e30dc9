"""What a flame graph does when somebody clicks into it and searches, by its own script."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import xml.dom.minidom

NODE = shutil.which("node")
WAIT_SECONDS_MAX = 600
SESSION = pathlib.Path(__file__).with_name("flame_session.js")


def text_of(node):
    return "".join(child.data for child in node.childNodes)


@unittest.skipIf(NODE is None, "node is not installed")
class FlameGraphTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="clew-flame-")))

    def steps(self, stacks, *steps):
        """What is to be seen of a graph of stacks after each step."""
        folded, drawn = self.folder / "a.folded", self.folder / "a.svg"
        folded.write_text(stacks)
        command = [os.environ["CLEW_BIN"], "profile", "diff", folded, folded, "-o", drawn]
        subprocess.run(command, check=True, capture_output=True, timeout=WAIT_SECONDS_MAX)
        picture = xml.dom.minidom.parse(str(drawn))
        boxes = []
        for group in picture.getElementsByTagName("g"):
            if group.hasAttribute("data-n"):
                title, rect, text = (group.getElementsByTagName(name)[0] for name in ("title", "rect", "text"))
                numbers = {name: rect.getAttribute(name) for name in ("x", "y", "width")}
                boxes.append({"name": group.getAttribute("data-n"), "title": text_of(title), "text": text_of(text), **numbers})
        script = text_of(picture.getElementsByTagName("script")[0])
        titles = {box["name"]: box["title"] for box in boxes}
        steps = [[kind, titles.get(what, what), *said] for kind, what, *said in steps]
        given = json.dumps({"script": script, "boxes": boxes, "steps": steps})
        done = subprocess.run([NODE, SESSION], input=given, capture_output=True, text=True, timeout=WAIT_SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    STACKS = "main;read;parse 30\nmain;read;copy 10\nmain;write 60\n"
    WHOLE = {"all": 1200, "main": 1200, "read": 480, "parse": 360, "copy": 120, "write": 720}

    def check(self, widths, wanted):
        self.assertEqual(set(widths), set(wanted))
        for name, width in wanted.items():
            self.assertAlmostEqual(widths[name], width, delta=0.1, msg=name)

    def test_a_click_makes_a_call_as_wide_as_the_picture_and_escape_undoes_it(self):
        read, copy, main, undone, pressed = self.steps(
            self.STACKS, ("click", "read"), ("click", "copy"), ("click", "main"), ("key", "Escape"), ("press", "undo"))
        self.check(read["shown"], {"all": 1200, "main": 1200, "read": 1200, "parse": 900, "copy": 300})
        self.check(copy["shown"], {"all": 1200, "main": 1200, "read": 1200, "copy": 1200})
        for seen in (main, undone, pressed):
            self.check(seen["shown"], self.WHOLE)

    def test_a_search_marks_what_it_found_and_tells_its_share(self):
        one, several, nested, wrong, nothing, undone = self.steps(
            self.STACKS, ("key", "/", "PARSE"), ("press", "search", "copy|write"), ("key", "/", "read|parse"), ("key", "/", "("),
            ("key", "/", "absent"), ("key", "Escape"))
        self.assertEqual((one["found"], one["told"]), (["parse"], "30.00 % in what matches PARSE"))
        self.assertEqual((sorted(several["found"]), several["told"]), (["copy", "write"], "70.00 % in what matches copy|write"))
        # What lies in another that was found is not counted twice.
        self.assertEqual((sorted(nested["found"]), nested["told"]), (["parse", "read"], "40.00 % in what matches read|parse"))
        # No expression leaves things as they are.
        self.assertIn("nvalid regular expression", wrong["told"])
        self.assertEqual(wrong["found"], nested["found"])
        self.assertEqual((nothing["found"], nothing["told"]), ([], "0.00 % in what matches absent"))
        self.assertEqual((undone["found"], undone["told"]), ([], " "))
        self.check(undone["shown"], self.WHOLE)


if __name__ == "__main__":
    unittest.main()
