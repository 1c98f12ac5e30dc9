"""What a benchmark of vectors writes beside its results."""

import struct
import subprocess
import unittest

from .base import SECONDS_MAX, BenchTest, have_little_room

ROWS, DIMENSIONS = 100, 8


def matrix(kind, rows, columns, numbers):
    """A file of NumPy's format; `kind` is that of `struct`."""
    names = {"f": "<f4", "i": "<i4"}
    header = f"{{'descr': '{names[kind]}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{rows * columns}{kind}", *numbers)


class Vectors(BenchTest):
    def setUp(self):
        super().setUp()
        self.images = self.folder / "images"
        self.images.mkdir()
        rows = [float(row * dimension % 17) for row in range(ROWS) for dimension in range(DIMENSIONS)]
        self.given = {"base": matrix("f", ROWS, DIMENSIONS, rows), "queries": matrix("f", 1, DIMENSIONS, rows[:DIMENSIONS]),
                      "truth": matrix("i", 1, 10, range(10))}

    def arguments(self):
        arguments = ["vectors", "--image", self.images / "column.vec"]
        for name, file in self.given.items():
            path = self.folder / f"{name}.npy"
            path.write_bytes(file)
            arguments += [f"--{name}", path]
        return arguments

    def test_a_column_is_kept_and_nothing_beside_it(self):
        first = self.bench(*self.arguments())
        self.assertIn("build", first)
        self.assertEqual([path.name for path in self.images.iterdir()], ["column.vec"])
        # It is not built once more.
        self.assertNotIn("build", self.bench(*self.arguments()))

    def test_of_a_column_that_has_no_room_no_half_is_left(self):
        done = subprocess.run(self.command(*self.arguments()), preexec_fn=have_little_room, capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("writing", done.stderr)
        self.assertEqual(list(self.images.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
