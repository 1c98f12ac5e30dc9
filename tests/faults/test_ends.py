"""A short form of `make faults ARGS="ends"`: some heavy requests end when they are ended."""

import unittest

from .ends import Ends

KINDS = ["regexp", "simple_query_string (", "agg terms of terms", "suggest term", "sql join", "milvus groups"]
# A debug binary: what never looks whether it is to end goes on for seconds.
SECONDS_MAX = 0.5
# It does so each time. What only heard late that it was to end, on a machine that had no time to tell it, does not.
TRIES = 6


class HeavyRequestsEnd(unittest.TestCase):
    def test_heavy_requests_end_when_nobody_waits_or_somebody_cancels_them(self):
        with Ends(1_500, 1, KINDS) as ends:
            for kind in ends.kinds():
                late, rows = ("gone", "cancel"), []
                while late and len(rows) < TRIES:
                    row = ends.measure(kind, late)
                    rows.append(row)
                    late = [way for way in late if row[way] and row[way].busy > SECONDS_MAX]
                self.assertEqual(list(late), [], rows)
            self.assertEqual(ends.server.panics(), [])


if __name__ == "__main__":
    unittest.main()
