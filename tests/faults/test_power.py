"""A few power cuts of `make faults ARGS="power"`."""

from .base import FaultTest
from .checks import Wrong
from .loop_disk import LoopDisk
from .power import PowerRounds

ROUNDS = 2


class PowerCuts(FaultTest):
    def test_what_was_acknowledged_survives_power_cuts(self):
        disk = self.entered(LoopDisk())
        rounds = self.entered(PowerRounds(seed=3, disk=disk))
        for _ in range(ROUNDS):
            rounds.round()

    def test_a_cut_takes_what_was_not_synced(self):
        """The cut is real: writes that are acknowledged before they are synced are found missing."""
        disk = self.entered(LoopDisk())
        rounds = self.entered(PowerRounds(seed=4, disk=disk, **{"index.translog.durability": "async"}))
        with self.assertRaises(Wrong):
            for _ in range(10 * ROUNDS):
                rounds.round()
