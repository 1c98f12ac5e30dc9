"""What the fault tests share. A test owns its servers, and every one that it started is ended.

- `Server` (server.py): the process, with environment, preloaded library, memory group, folder.
- `Client` (client.py): requests that are acknowledged, refused or unanswered, and never repeated.
- `MemoryGroup` (cgroup.py): bounded memory; raises `Missing` with the reason where that cannot be.
- `Possible` (model.py): what was acknowledged, and what may be there besides."""

import random
import time
import unittest

from .cgroup import MemoryGroup
from .client import Client, Reply, Unanswered
from .missing import Missing
from .model import Possible
from .server import DidNotStart, Server, folder

__all__ = [
    "Client", "DidNotStart", "FaultTest", "MemoryGroup", "Missing", "Possible", "Reply", "Server",
    "Unanswered", "eventually", "folder",
]


def eventually(condition, what, seconds_max=120, pause_s=0.02):
    """Polls until the condition is true and returns what it gave; fails, saying what was awaited."""
    deadline = time.monotonic() + seconds_max
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds_max} s: {what}")
        time.sleep(pause_s)


class FaultTest(unittest.TestCase):
    """Starts servers that the test's end ends, and knows what no server may ever do."""

    seed = 1

    def setUp(self):
        self.random = random.Random(self.seed)

    def serve(self, **options):
        """A started server (see `Server` for the options)."""
        server = Server(**options)
        self.addCleanup(server.__exit__)
        return server.start()

    def entered(self, context):
        """What a context manager gives until the test ends; the test is skipped where something is missing."""
        try:
            return self.enterContext(context)
        except Missing as missing:
            self.skipTest(str(missing))

    def memory_group(self, bytes_max):
        """A memory group of the test's own."""
        return self.entered(MemoryGroup(bytes_max))

    def check_well(self, server, client):
        """Every shard serves, and nothing panicked on the way."""
        self.assertTrue(server.alive(), server.log_tail())
        self.assertEqual(client.get("/_health").status, 200, client.get("/_health"))
        health = client.done("GET", "/_cluster/health")
        self.assertNotEqual(health["status"], "red", health)
        self.assertEqual(server.panics(), [])
