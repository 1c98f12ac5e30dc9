"""Some damaged files of `make faults ARGS="damage"`, the same ones every time."""

import unittest

from .damage import Trials

TRIALS = 25


class Damage(unittest.TestCase):
    def test_what_is_damaged_is_refused_by_name_and_never_answered_wrongly(self):
        trials = Trials(seed=11).run(TRIALS)
        self.assertEqual([str(trial) for trial in trials.broken], [])
