"""A log file that is written to and rotated in every way that there is, each line numbered."""

import gzip
import os
import pathlib
import shutil

STAMP = "2026-01-02T03:04:05Z"


class RotatedLog:
    """A file with its rotated siblings `NAME.1`, `NAME.2.gz`, ... The writer keeps the file open, as daemons do."""

    def __init__(self, path, keep=5):
        self.path = pathlib.Path(path)
        self.keep = keep
        self.written = 0
        # The first line of each content that the file has had.
        self.starts = [0]
        self.file = self.path.open("ab", buffering=0)

    def close(self):
        self.file.close()

    def line(self, number):
        return f"{STAMP} {self.path.name} {number:08d} {'x' * (number * 7 % 60)}"

    def write(self, count):
        lines = "".join(self.line(number) + "\n" for number in range(self.written, self.written + count))
        self.file.write(lines.encode())
        self.written += count

    def write_torn(self, between):
        """One line in two pieces, with something happening between them."""
        line = (self.line(self.written) + "\n").encode()
        half = len(line) // 2
        self.file.write(line[:half])
        between()
        self.file.write(line[half:])
        self.written += 1

    def reopen(self):
        self.file.close()
        self.file = self.path.open("ab", buffering=0)

    def sibling(self, number, ending=""):
        return self.path.with_name(f"{self.path.name}.{number}{ending}")

    def shift(self):
        """Makes room for a new `NAME.1`; the oldest is deleted."""
        self.starts.append(self.written)
        for ending in ("", ".gz"):
            self.sibling(self.keep, ending).unlink(missing_ok=True)
            for number in range(self.keep - 1, 0, -1):
                if self.sibling(number, ending).exists():
                    self.sibling(number, ending).rename(self.sibling(number + 1, ending))

    def rename(self):
        self.shift()
        self.path.rename(self.sibling(1))
        self.reopen()

    def copytruncate(self):
        self.shift()
        shutil.copyfile(self.path, self.sibling(1))
        os.truncate(self.path, 0)

    def compress(self, number=2):
        """As logrotate does it: the compressed file grows beside the other, which is then deleted."""
        source = self.sibling(number)
        if source.exists():
            with source.open("rb") as plain, gzip.open(self.sibling(number, ".gz"), "wb", compresslevel=1) as out:
                shutil.copyfileobj(plain, out)
            source.unlink()

    # What follows destroys content: everything in the file has to have arrived before.

    def truncate(self):
        self.starts.append(self.written)
        os.truncate(self.path, 0)

    def recreate(self):
        """Deleted and made anew; file systems like to give the same inode again."""
        self.starts.append(self.written)
        self.file.close()
        self.path.unlink()
        self.file = self.path.open("ab", buffering=0)

    def delete_oldest(self):
        for number in range(self.keep, 0, -1):
            for ending in ("", ".gz"):
                if self.sibling(number, ending).exists():
                    return self.sibling(number, ending).unlink()
        return None
