"""Short forms of the rotation table and of the torture: nothing lost, nothing twice, nothing out of order."""

import unittest

from .rotation import CELLS, cell
from .torture import Torture

LINES_BETWEEN_ROTATIONS = 500
ROTATIONS = 4
SEEDS = range(1, 4)
STEPS = 60


class Rotation(unittest.TestCase):
    def test_no_rotation_loses_or_repeats_a_line(self):
        for path, way, kill in CELLS:
            with self.subTest(path=path, way=way, kill=kill):
                verdict, _ = cell(path, way, kill, lambda log: log.write(LINES_BETWEEN_ROTATIONS), ROTATIONS)
                self.assertTrue(verdict.is_clean(), str(verdict))

    def test_random_rotations_deletions_kills_and_failures_of_the_output(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                verdict = Torture(seed).run(STEPS)
                self.assertTrue(verdict.is_clean(), str(verdict))


if __name__ == "__main__":
    unittest.main()
