"""A few power cuts of `make faults ARGS="power"`."""

from .base import FaultTest
from .loop_disk import LoopDisk
from .power import PowerRounds

ROUNDS = 2


class PowerCuts(FaultTest):
    def test_what_was_acknowledged_survives_power_cuts(self):
        disk = self.entered(LoopDisk())
        rounds = self.entered(PowerRounds(seed=3, disk=disk))
        for _ in range(ROUNDS):
            rounds.round()
