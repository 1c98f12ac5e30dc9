"""Clocks that stand, jump or run at another rate, over kills and restarts: ids stay distinct, nothing that
was acknowledged is lost, nothing panics, time-outs go on.

    python -m tests.faults clock --rounds 24 --seed 1
"""

import time

from .checks import Wrong
from .kill import KillRounds
from .shim import Shim

DAY = 86_400
CLOCKS = {
    "stands at one moment": {"rate": 0.0, "at_s": 1_750_000_000},
    "a day behind": {"offset_s": -DAY},
    "a day ahead": {"offset_s": DAY},
    "runs backwards": {"rate": -1.0},
    "a thousand times as fast": {"rate": 1000.0},
    "of 1970": {"at_s": 5},
    "of 2100": {"at_s": 130 * 365 * DAY},
    "half as fast": {"rate": 0.5},
}
IDS_EACH = 300
TIMEOUT_SECONDS_MAX = 60


class ClockRounds(KillRounds):
    """Rounds whose server reads another wall clock, which changes while it runs and while it is down."""

    def __init__(self, seed):
        super().__init__(seed)
        self.given = 0

    def __enter__(self):
        self.shim = Shim(self.server.data)
        self.server.preload = self.shim.library
        self.server.env.update(self.shim.env())
        return super().__enter__()

    def __exit__(self, *_):
        super().__exit__()
        self.shim.close()

    def round_with(self, clock):
        """A round of kills that begins with a jump to this clock."""
        self.shim.clock(**CLOCKS[clock])
        self.auto_ids()
        self.round()
        self.auto_ids()
        self.timeouts()

    def auto_ids(self):
        """Documents without ids get distinct ones, in this start and in all others."""
        with self.server.client() as client:
            lines = [line for n in range(IDS_EACH) for line in ({"create": {"_index": "life-of-ids"}}, {"n": n})]
            reply = client.done("POST", "/_bulk?refresh=true", lines)
            if reply["errors"]:
                raise Wrong(f"an id was given twice: {str(reply)[:1000]}")
            self.given += IDS_EACH
            count = client.done("GET", "/life-of-ids/_count")["count"]
            if count != self.given:
                raise Wrong(f"{self.given} documents without ids were acknowledged, {count} are there")

    def timeouts(self):
        """What waits ends, whatever the wall clock says."""
        with self.server.client(timeout=TIMEOUT_SECONDS_MAX) as client:
            started = time.monotonic()
            client.done("POST", "/_search?timeout=500ms", {"query": {"match_all": {}}})
            client.done("PUT", "/flat/_doc/0-waits?refresh=wait_for", {"owner": 99, "mark": 1})
            client.done("DELETE", "/flat/_doc/0-waits?refresh=wait_for")
            client.get("/_cluster/health?wait_for_status=green&timeout=1s")
            if time.monotonic() - started > TIMEOUT_SECONDS_MAX:
                raise Wrong(f"what should take a second took {time.monotonic() - started:.1f} s")


def run(arguments):
    """The long form: all clocks over and over, from each to the next without a word to the server."""
    with ClockRounds(arguments.seed) as rounds:
        for number in range(arguments.rounds):
            # Each twice, over a restart: a clock that stands then says the same moment again.
            rounds.round_with(list(CLOCKS)[number // 2 % len(CLOCKS)])
    print(f"nothing acknowledged was lost under {len(CLOCKS)} clocks: {rounds.figures()}, {rounds.given} ids given")
