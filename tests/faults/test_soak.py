"""A few seconds of `make soak`, and the judgement of its curves."""

import unittest

from .curves import Bound, fit
from .soak import BOUNDS, Soak

SECONDS = 4


class Soaking(unittest.TestCase):
    def test_the_load_runs_and_every_curve_is_sampled(self):
        with Soak(seed=1) as soak:
            done = soak.run(SECONDS, sample_s=1)
            self.assertTrue(all(done.values()), done)
            self.assertGreater(len(soak.rows), 1)
            for row in soak.rows:
                self.assertEqual(set(row), {"seconds", *BOUNDS})
            self.assertEqual(soak.server.panics(), [])
            soak.server.stop()


class Curves(unittest.TestCase):
    def test_a_leak_breaks_its_bound_and_a_sawtooth_does_not(self):
        bound = Bound(0.1, 5, "MB")
        times = list(range(100))
        self.assertTrue(fit(times, [100 + t for t in times]).breaks(bound))
        self.assertFalse(fit(times, [100 + t % 10 for t in times]).breaks(bound))
        # What is taken once, while it warms up, is no leak.
        self.assertFalse(fit(times, [min(100 + 10 * t, 300) for t in times]).breaks(bound))
