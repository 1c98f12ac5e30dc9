"""A few clocks of `make faults ARGS="clock"`."""

from .base import FaultTest
from .clock import ClockRounds

# One that stands says the same moment again after a restart.
SHORT_FORM = ["stands at one moment", "stands at one moment", "a day ahead", "a day behind"]


class Clocks(FaultTest):
    def test_ids_stay_distinct_and_nothing_is_lost_whatever_the_clock_says(self):
        rounds = self.entered(ClockRounds(seed=2))
        for clock in SHORT_FORM:
            rounds.round_with(clock)
