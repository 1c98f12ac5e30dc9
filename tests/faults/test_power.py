"""A few power cuts of `make faults ARGS="power"`."""

import unittest

from .loop_disk import LoopDisk, Missing
from .power import PowerRounds

ROUNDS = 2


class PowerCuts(unittest.TestCase):
    def test_what_was_acknowledged_survives_power_cuts(self):
        try:
            with LoopDisk() as disk, PowerRounds(seed=3, disk=disk) as rounds:
                for _ in range(ROUNDS):
                    rounds.round()
        except Missing as missing:
            self.skipTest(str(missing))
