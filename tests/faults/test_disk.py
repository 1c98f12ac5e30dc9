"""Some of the faults of `make faults ARGS="disk"`, the ones that found most."""

from .base import FaultTest
from .disk import FAULTS, DiskRounds

SHORT_FORM = FAULTS[:6]


class FailingDisk(FaultTest):
    def test_reads_are_right_or_refused_and_writes_go_on_when_the_disk_works_again(self):
        rounds = self.entered(DiskRounds(seed=5))
        # What follows a broken promise says nothing: the first one ends the test, with its name.
        for fault in SHORT_FORM:
            rounds.round(fault)
        self.assertGreater(rounds.figures["failed_calls"], 0)
