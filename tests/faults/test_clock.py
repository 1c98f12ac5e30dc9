"""A few clocks of `make faults ARGS="clock"`."""

import unittest

from .clock import ClockRounds
from .shim import Missing

# One that stands says the same moment again after a restart.
SHORT_FORM = ["stands at one moment", "stands at one moment", "a day ahead", "a day behind"]


class Clocks(unittest.TestCase):
    def test_ids_stay_distinct_and_nothing_is_lost_whatever_the_clock_says(self):
        try:
            rounds = ClockRounds(seed=2)
        except Missing as missing:
            self.skipTest(str(missing))
        with rounds:
            for clock in SHORT_FORM:
                rounds.round_with(clock)
