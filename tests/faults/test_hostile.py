"""A short siege of `make faults ARGS="hostile"`: nothing hangs, dies or panics, and others are served."""

import math
import unittest

from .hostile import Siege

SECONDS_EACH = 0.3
ATTACKS = ["regexps", "highlights", "deep", "wide", "cursors", "connections"]
# How long a debug binary takes on a busy machine says nothing; that each of them is answered does.
P99_MS_FLOOR = math.inf


class Hostile(unittest.TestCase):
    def test_hostile_requests_are_answered_and_others_are_served(self):
        with Siege(clients=8, documents=2_000) as siege:
            siege.quiet(0.5)
            for name in ATTACKS:
                siege.attack(name, SECONDS_EACH)
            siege.neighbours.stop()
            self.assertEqual(siege.broken(P99_MS_FLOOR), [], "\n".join(siege.lines()))
