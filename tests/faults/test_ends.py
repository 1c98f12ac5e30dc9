"""A short form of `make faults ARGS="ends"`: some heavy requests end when they are ended."""

import unittest

from .ends import Ends

KINDS = ["regexp", "simple_query_string (", "agg terms of terms", "suggest term", "sql join", "milvus groups"]
# A debug binary: what never looks whether it is to end goes on for seconds.
SECONDS_MAX = 0.5


class HeavyRequestsEnd(unittest.TestCase):
    def test_heavy_requests_end_when_nobody_waits_or_somebody_cancels_them(self):
        with Ends(1_500, 1, KINDS) as ends:
            for kind in ends.kinds():
                row = ends.measure(kind, ("gone", "cancel"))
                late = [way for way in ("gone", "cancel") if row[way] and row[way].busy > SECONDS_MAX]
                self.assertEqual(late, [], row)
            self.assertEqual(ends.server.panics(), [])


if __name__ == "__main__":
    unittest.main()
