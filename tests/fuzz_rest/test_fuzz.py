"""A few hundred generated requests, the same ones every time. `make fuzz-rest` sends many more."""

import unittest

from tests.opensearch.clew_server import ClewServer

from .fuzz import MEMORY_BYTES_MAX, fill, memory_bytes, run

PATHS = [r"^/_(search|count|msearch|mget|bulk)$", r"^/\{index\}/_(doc|update|create)/\{id\}$", r"^/\{index\}/_changes$"]
CASES_EACH = 12


class Fuzz(unittest.TestCase):
    def test_generated_requests_are_answered(self):
        with ClewServer(env={"CLEW_HTTP__BODY_BYTES_MAX": "4000000"}) as server:
            fill(server)
            self.assertEqual(run(server, CASES_EACH, ["--generation-deterministic"], PATHS), 0)
            self.assertLess(memory_bytes(server), MEMORY_BYTES_MAX)
