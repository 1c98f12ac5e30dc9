"""The real binary on a file system of 64 MB: filled until it refuses, it answers right all the time, and goes on
when there is room, without a restart."""

import base64
import itertools
import random
import time
import unittest
import urllib.request

from opensearchpy.exceptions import TransportError

from opensearch.clew_server import ClewServer
from .base import eventually
from .small_disk import Missing, SmallDisk

DISK_BYTES = 64 << 20
DOCUMENTS = 200
ROUNDS_MAX = 1_000
WAIT_SECONDS_MAX = 120
# What the node can do by itself to make room, it has done by then, unless the machine stands still.
SETTLE_SECONDS_MAX = 1
TRIES = 10
# Merges give way to everything else on the machine.
MERGE_SECONDS_MAX = 600


class SmallDiskTest(unittest.TestCase):

    def setUp(self):
        self.random = random.Random(1)
        disk = SmallDisk(DISK_BYTES)
        try:
            disk.__enter__()
        except Missing as missing:
            self.skipTest(str(missing))
        self.addCleanup(disk.__exit__)
        self.disk = disk
        self.server = ClewServer(data=disk.data, env={"CLEW_DISK__THRESHOLD_ENABLED": "true"})
        self.server.start()
        self.addCleanup(self.server.kill)
        self.client = self.server.client()
        self.addCleanup(lambda: self.client.close())

    def document(self):
        """About two kilobytes that do not pack well."""
        text = base64.b64encode(self.random.randbytes(1_500)).decode()
        return {"n": self.random.randrange(1_000), "text": " ".join(text[at : at + 12] for at in range(0, 2_000, 12))}

    def bulk(self, index, start):
        """Writes a bulk: the ids that were acknowledged, and the refusals."""
        ids = [f"{start + n}" for n in range(DOCUMENTS)]
        lines = []
        for identity in ids:
            lines += [{"index": {"_index": index, "_id": identity}}, self.document()]
        items = self.client.bulk(body=lines)["items"]
        items = [item["index"] for item in items]
        acknowledged = {item["_id"] for item in items if item["status"] in (200, 201)}
        refused = [item for item in items if item["_id"] not in acknowledged]
        for item in refused:
            self.assertEqual(item["status"], 429, item)
            self.assertEqual(item["error"]["type"], "cluster_block_exception", item)
            self.assertEqual(
                item["error"]["reason"],
                f"index [{index}] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, "
                "index has read-only-allow-delete block];",
            )
        return acknowledged, refused

    def fill(self, index, start, bulks_max=ROUNDS_MAX, before=()):
        """Writes until that is refused for good; what was acknowledged, before and now."""
        acknowledged = set(before)
        refusals = 0
        for number in range(bulks_max):
            written, refused = self.bulk(index, start + number * DOCUMENTS)
            acknowledged |= written
            if number % 10 == 0:
                self.assert_holds(index, acknowledged)
            # One that does not fit any more says nothing of smaller ones, and buffers give room back.
            refusals = refusals + 1 if not written else 0
            if refusals == 3:
                return acknowledged
            if refused:
                self.wait_for("ok", SETTLE_SECONDS_MAX)
        return acknowledged

    def assert_holds(self, index, acknowledged):
        reply = self.client.indices.refresh(index=index)
        self.assertEqual(reply["_shards"]["failed"], 0, reply)
        count = self.client.count(index=index)
        self.assertEqual(count["_shards"]["failed"], 0)
        self.assertEqual(count["count"], len(acknowledged))
        for identity in self.random.sample(sorted(acknowledged), min(20, len(acknowledged))):
            self.assertTrue(self.client.get(index=index, id=identity)["found"])

    def wait_for(self, status, seconds_max):
        """Whether `/_health` says so in time."""
        deadline = time.monotonic() + seconds_max
        while self.server.health()[1]["status"] != status:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def settings(self, settings):
        return self.client.cluster.put_settings(body={"transient": settings})

    def refused(self, call):
        with self.assertRaises(TransportError) as caught:
            call()
        return caught.exception

    def test_a_full_disk_is_weather(self):
        client = self.client
        client.indices.create(index="docs", body={"settings": {"number_of_shards": 2}})
        client.indices.create(index="other")
        self.fill("other", 0, bulks_max=8)
        docs = self.fill("docs", 0)
        self.assertGreater(len(docs), 1_000)
        for number in range(1, TRIES + 1):
            try:
                self.check_full(docs)
                break
            except AssertionError:
                # The upkeep has made room, later than it usually does: that is filled as well.
                if not self.wait_for("ok", 0):
                    raise
                client.indices.delete(index="new,made-by-a-write", ignore_unavailable=True)
                if not client.exists(index="docs", id="0"):
                    docs.discard("0")
                docs = self.fill("docs", number * 10_000_000, before=docs)
        else:
            self.fail("there is always room again")
        client.indices.flush(index="docs")

        client.indices.delete(index="other")
        self.assertTrue(self.wait_for("ok", WAIT_SECONDS_MAX), self.server.health())
        more, refused = self.bulk("docs", 1_000_000)
        self.assertEqual((len(more), refused), (DOCUMENTS, []))
        docs |= more
        shown = client.indices.get_settings(index="docs")["docs"]["settings"]["index"]
        self.assertNotIn("blocks", shown)
        self.assert_holds("docs", docs)

        # Full again, and killed.
        docs = self.fill("docs", 2_000_000, before=docs)
        self.server.kill()
        self.server.start()
        self.client.close()
        self.client = self.server.client()
        self.assert_holds("docs", docs)
        self.assertNotIn("shard failed", self.server.log_tail())

    def near(self, shown):
        """Whether a figure of the free space is about that of the system: files come and go between two looks."""
        return abs(shown - self.disk.free_bytes()) <= 4 << 20

    def check_full(self, docs):
        """All that a full disk means, and nothing more."""
        client = self.client
        self.assertGreater(self.disk.free_bytes(), 0)
        status, health = self.server.health()
        self.assertEqual((status, health["status"]), (200, "degraded"))
        self.assertEqual([reason["what"] for reason in health["reasons"]], ["disk"])
        self.assertLess(health["reasons"][0]["free_bytes"], DISK_BYTES // 5)
        self.assertNotEqual(client.cluster.health()["status"], "red")
        shown = client.indices.get_settings(index="docs")["docs"]["settings"]["index"]
        self.assertEqual(shown["blocks"]["read_only_allow_delete"], "true")
        blocks = client.cluster.state(metric="blocks")["blocks"]["indices"]
        self.assertEqual(set(blocks["docs"]), {"12"})
        allocation = lambda: client.cat.allocation(format="json", params={"bytes": "b"})[0]
        self.assertGreater(int(allocation()["disk.percent"]), 60)
        eventually(lambda: self.near(int(allocation()["disk.avail"])), "the free space in the table of allocations")
        fs = lambda: client.nodes.stats(metric="fs")["nodes"].popitem()[1]["fs"]["total"]
        eventually(lambda: self.near(fs()["available_in_bytes"]), "the free space in the statistics of the node")
        with urllib.request.urlopen(self.server.url + "/_metrics", timeout=60) as page:
            self.assertIn("\ndisk_blocked 1\n", page.read().decode())

        for call in (
            lambda: client.indices.create(index="new"),
            lambda: client.indices.put_mapping(index="docs", body={"properties": {"x": {"type": "long"}}}),
            lambda: client.index(index="docs", id="0", body={"n": 1}),
            lambda: client.index(index="made-by-a-write", body={"n": 1}),
            lambda: client.delete(index="docs", id="0"),
        ):
            error = self.refused(call)
            self.assertEqual(error.status_code, 429, error.info)
            self.assertEqual(error.info["error"]["type"], "cluster_block_exception")
        self.assert_holds("docs", docs)

    def leave_room(self, room_bytes):
        """Moves the watermarks so that only so much may still be written."""
        free = self.disk.free_bytes() - room_bytes
        self.settings({f"cluster.routing.allocation.disk.watermark.{mark}": f"{free}b"
                       for mark in ("low", "high", "flood_stage")})

    def wait_for_merges(self, index):
        """Returns when nothing is merged and the disk has been as full for a while."""
        seen = []

        def settled():
            merges = self.client.indices.stats(index=index)["_all"]["total"]["merges"]
            seen.append((merges["current"], merges["total"], self.disk.free_bytes()))
            current, total, free = zip(*seen[-25:])
            return len(seen) >= 25 and set(current) == {0} and len(set(total)) == 1 and max(free) - min(free) < 1 << 18

        try:
            eventually(settled, "an index without merges", MERGE_SECONDS_MAX)
        except AssertionError as error:
            error.add_note(f"merges under way and done, and free bytes: {seen[-25:]}")
            raise

    def forget_marks(self):
        self.settings({f"cluster.routing.allocation.disk.watermark.{mark}": None for mark in ("low", "high", "flood_stage")})

    def refused_without_room(self, call, again):
        """How a call is refused that needs more room than is left. Where the upkeep has made more at that moment it is done, and
        tried again."""
        for _ in range(TRIES):
            self.leave_room(2 << 20)
            try:
                call()
            except TransportError as refused:
                return refused
            self.forget_marks()
            again()
            self.wait_for_merges("docs")
        return self.fail("there is always room")

    def test_what_would_fill_the_disk_is_refused_with_the_figures(self):
        client = self.client
        starts, docs = itertools.count(0, 1_000_000), set()

        def write():
            for _ in range(2):
                docs.update(self.fill("docs", next(starts), bulks_max=6, before=docs))
                client.indices.refresh(index="docs")

        write()
        error = self.refused_without_room(lambda: client.indices.forcemerge(index="docs", max_num_segments=1), write)
        self.assertEqual(error.status_code, 429, error.info)
        self.assertRegex(error.info["error"]["reason"], r"a merge of \[docs\]\[0\] needs \[\d+\] bytes of disk")
        client.snapshot.create_repository(repository="here", body={"type": "fs", "settings": {"location": "here"}})
        # The upkeep goes on where the merge that was refused had taken its turn, and then what it has replaced goes.
        self.wait_for_merges("docs")
        error = self.refused_without_room(
            lambda: client.snapshot.create(repository="here", snapshot="one", params={"wait_for_completion": "true"}),
            lambda: client.snapshot.delete(repository="here", snapshot="one"))
        self.assertEqual(error.status_code, 429, error.info)
        self.assertEqual(client.cat.snapshots(repository="here", format="json"), [])
        self.forget_marks()
        client.indices.forcemerge(index="docs", max_num_segments=1)
        client.snapshot.create(repository="here", snapshot="one", params={"wait_for_completion": "true"})


if __name__ == "__main__":
    unittest.main()
