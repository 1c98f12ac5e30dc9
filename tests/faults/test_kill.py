"""A few rounds of `make faults ARGS="kill"`."""

import unittest

from .kill import KillRounds

ROUNDS = 4


class Kills(unittest.TestCase):
    def test_what_was_acknowledged_survives_kills_under_load_and_during_recovery(self):
        with KillRounds(seed=7) as rounds:
            for _ in range(ROUNDS):
                rounds.round()
        self.assertGreater(rounds.acknowledged, 100)
        self.assertGreater(rounds.catalog.restored, 0)
