"""A few rounds of `make faults ARGS="kill"`."""

from .base import FaultTest
from .kill import KillRounds

ROUNDS = 4
# Which changes come about is decided by the race with the kill: in some four rounds no snapshot is finished.
ROUNDS_MAX = 100


def leave_half_written(data):
    """Beside every file the temporary one of a kill between writing and renaming; beside every segment the
    ones that its next lists of living documents will use, too."""
    for path in [path for path in data.rglob("*") if path.is_file() and path.name != "lock"]:
        path.with_name(path.name + ".tmp").write_bytes(b"half")
    for manifest in data.glob("indices/*/*/manifest-*"):
        if manifest.name.endswith(".tmp"):
            continue
        number = int(manifest.name.removeprefix("manifest-"))
        for segment in {path.name.split(".")[0] for path in manifest.parent.glob("*.rows")}:
            for later in range(number, number + 9):
                (manifest.parent / f"{segment}.{later}.alive.tmp").write_bytes(b"half")


class Kills(FaultTest):
    def test_what_was_acknowledged_survives_kills_under_load_and_during_recovery(self):
        with KillRounds(seed=7) as rounds:
            while rounds.rounds < ROUNDS or not rounds.catalog.restored and rounds.rounds < ROUNDS_MAX:
                rounds.round()
        self.assertGreater(rounds.acknowledged, 100)
        self.assertGreater(rounds.catalog.restored, 0)

    def test_what_a_crash_leaves_half_written_does_no_harm(self):
        server = self.serve()
        with server.client() as client:
            client.done("PUT", "/a", {"settings": {"number_of_shards": 1}})
            lines = [line for n in range(40) for line in ({"index": {"_index": "a", "_id": str(n)}}, {"n": n})]
            client.done("POST", "/_bulk", lines)
            client.done("POST", "/_flush")
        for deleted in range(1, 4):
            server.kill()
            leave_half_written(server.data)
            server.start()
            with server.client() as client:
                self.check_well(server, client)
                # The flush writes anew which documents of the segment live.
                client.done("DELETE", f"/a/_doc/{deleted}?refresh=true")
                client.done("POST", "/_flush")
                self.assertEqual(client.done("GET", "/a/_count")["count"], 40 - deleted)
        server.kill()
        server.start()
        with server.client() as client:
            self.check_well(server, client)
            self.assertEqual(client.done("GET", "/a/_count")["count"], 37)
