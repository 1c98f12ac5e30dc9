"""A program without symbols finds them in the file that was made of them, which lies beside it: as `make build` leaves both."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

OBJCOPY = shutil.which("objcopy")
WAIT_SECONDS_MAX = 600
# Of lines to be taken apart, one after the other until enough of it was seen.
ROUNDS_TRIED = [100, 1000, 10000]
SEEN_MIN = 10


@unittest.skipIf(OBJCOPY is None, "objcopy is not installed")
class SymbolsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="clew-symbols-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.program, cls.symbols = cls.folder / "clew", cls.folder / "clew.debug"
        cls.part(os.environ["CLEW_BIN"])
        cls.lines = cls.folder / "app.log"
        cls.lines.write_text('10.0.0.1 - - [10/Oct/2025:13:55:36 +0000] "GET /a?b=c HTTP/1.1" 200 2326 "-" "curl/8.0"\n' * 2000)

    @classmethod
    def part(cls, binary):
        """The program without its symbols, and those: as they are, where that has been done already."""
        beside = pathlib.Path(binary).with_suffix(".debug")
        sections = subprocess.run([OBJCOPY, "--dump-section", f".gnu_debuglink={cls.folder / 'link'}", binary, cls.folder / "copy"], capture_output=True)
        (cls.folder / "copy").unlink(missing_ok=True)
        if sections.returncode == 0 and (cls.folder / "link").exists():
            if not beside.exists():
                raise unittest.SkipTest(f"the program has no symbols, and there is no {beside}")
            shutil.copy(binary, cls.program)
            shutil.copy(beside, cls.symbols)
            return
        # Older ones do not know Zstandard.
        for compressed in ("=zstd", ""):
            done = subprocess.run([OBJCOPY, "--only-keep-debug", f"--compress-debug-sections{compressed}", binary, cls.symbols], capture_output=True)
            if done.returncode == 0:
                break
        subprocess.run([OBJCOPY, "--strip-all", f"--add-gnu-debuglink={cls.symbols}", binary, cls.program], check=True)

    def profiled(self, name, rounds):
        """The profile that the program takes of itself while it takes lines apart."""
        path = self.folder / name
        command = [self.program, "bench", "--profile", path, "collect", self.lines, "--dir", self.folder, "--rounds", rounds]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=WAIT_SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path.read_text()

    def seen(self, name, is_enough):
        """The profile of as much work as it takes until there is enough in it."""
        for rounds in ROUNDS_TRIED:
            text = self.profiled(name, rounds)
            if is_enough(text):
                break
        return text

    def test_functions_have_their_names_from_the_file_beside_it(self):
        nanos = lambda text: sum(int(line.rpartition(" ")[2]) for line in text.splitlines())
        stacks = self.seen("own.folded", lambda text: nanos(text) > SEEN_MIN * 10_000_000).splitlines()
        named = [line for line in stacks if "clew_collect::" in line]
        self.assertGreater(len(named), len(stacks) / 4, stacks)
        # Nothing of the program is without one.
        self.assertFalse([line for line in stacks if ";[clew]" in line], stacks)

    def test_without_that_file_or_with_one_of_another_build_the_profile_says_so(self):
        kept = self.symbols.rename(self.folder / "kept")
        self.addCleanup(kept.rename, self.symbols)
        told = self.seen("own.svg", lambda text: "have no names" in text)
        self.assertIn("functions have no names", told)
        self.assertIn(f"{self.symbols}: No such file", told)
        with open(kept, "rb") as whole:
            self.symbols.write_bytes(whole.read(1 << 20))
        told = self.seen("own.svg", lambda text: "have no names" in text)
        self.assertIn(f"{self.symbols} belongs to another build", told)


if __name__ == "__main__":
    unittest.main()
