"""Sessions of pymilvus that tell by themselves whether all is well: mistakes, both sides of a collection, tutorials, kills."""

import json
import os
import pathlib
import random
import sys
import time
import unittest

from tests.clients.base import TOOL_SECONDS_MAX, ClientsTest, tool

HERE = pathlib.Path(__file__).parent
VERSIONS = ["2.6.17", "3.0.2"]
KILL_ROUNDS = 4


def session(test, name, version, *arguments):
    """What a session of a version of pymilvus printed last."""
    packages = tool(f"pymilvus-{version}", "test-clients")
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    command = [sys.executable, "-S", "-W", "ignore", HERE / f"{name}_session.py", *arguments]
    return json.loads(test.run_tool(command, TOOL_SECONDS_MAX, env=environment).splitlines()[-1])


class Sessions(ClientsTest):
    def check(self, name, least, *more):
        for version in VERSIONS:
            with self.subTest(version=version):
                seen = session(self, name, version, f"http://{self.server.grpc_address}", *more)
                self.assertEqual(seen["version"], version)
                self.assertGreater(seen["checks"], least)

    def test_what_is_wrong_is_told(self):
        self.check("bad_input", 90)

    def test_one_collection_is_one_index(self):
        self.check("one_index", 90, self.server.address)

    def test_rankers_groups_and_what_one_node_answers(self):
        self.check("rankers", 50)

    def test_schemas_change(self):
        # Clients of 2.6 have no calls for it.
        seen = session(self, "schema", "3.0.2", f"http://{self.server.grpc_address}")
        self.assertGreater(seen["checks"], 35)

    def test_tutorials(self):
        self.check("tutorials", 25)


class Memory(ClientsTest):
    env = {"CLEW_MEMORY__LIMIT_BYTES": str(256 << 20)}

    def status(self, name):
        """What the system says of the server's memory, in bytes."""
        lines = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text().splitlines()
        (line,) = [line for line in lines if line.startswith(name)]
        return int(line.split()[1]) << 10

    def test_large_messages_wait_for_one_another_and_small_ones_go_on(self):
        before = self.status("VmRSS")
        packages = tool("pymilvus-2.6.17", "test-clients")
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        command = [sys.executable, "-S", HERE / "large_session.py", self.server.grpc_address, "12", "24"]
        seen = json.loads(self.run_tool(command, TOOL_SECONDS_MAX, env=environment).splitlines()[-1])
        # Each was refused for a while, as clients know it, or read to its end: there is no such collection.
        self.assertEqual(set(seen["codes"]), {"8", "100"}, seen)
        self.assertEqual((seen["small_refused"], seen["alone"]), ([], 100))
        # pymilvus itself sends again what was refused for a while.
        self.assertEqual(seen["inserted"], [80_000, []])
        # Messages that take many times their length can never be read.
        for code, reason in seen["grown"].values():
            self.assertEqual(code, 3)
            self.assertIn("the limit of bodies is 113246185", reason)
        self.assertLess(self.status("VmHWM"), before + (450 << 20))
        # What a request had may go after its answer.
        until = time.monotonic() + 60
        while b'memory_reserved_bytes{purpose="bodies"} 0\n' not in self.call("GET", "/_metrics")[2]:
            self.assertLess(time.monotonic(), until, "what was had for messages is kept")


class Kills(unittest.TestCase):
    run_tool = ClientsTest.run_tool

    def test_what_was_acknowledged_survives_kills(self):
        seed = os.environ.get("CLEW_SEED", str(random.randrange(10**6)))
        seen = session(self, "kill", "2.6.17", seed, str(KILL_ROUNDS))
        self.assertEqual(seen["rounds"], KILL_ROUNDS)
        self.assertGreater(seen["calls"], 50)

    def test_vectors_that_were_in_no_segment_are_searched_after_a_kill(self):
        packages = tool("pymilvus-2.6.17", "test-clients")
        script = HERE.parents[1] / "bench" / "milvus" / "restart.py"
        command = [sys.executable, "-S", "-W", "ignore", script, "--bin", os.environ["CLEW_BIN"], "--rows", "5000", "--rounds", "2",
                   "--results", "-"]
        said = self.run_tool(command, TOOL_SECONDS_MAX, env={**os.environ, "PYTHONPATH": str(packages)})
        # The script checks the answers; times are the machine's.
        self.assertEqual(said.count("the first search is answered after "), 4, said)


if __name__ == "__main__":
    unittest.main()
