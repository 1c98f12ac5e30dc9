"""A shard that has failed is told of everywhere, and no answer passes for whole that lacks what it had."""

import pathlib
import urllib.request

from opensearchpy.exceptions import TransportError

from .base import ClewTest

DOCUMENTS = 100


class HealthTest(ClewTest):

    def test_a_node_that_is_well_says_so(self):
        status, health = self.server.health()
        self.assertEqual((status, health["status"]), (200, "ok"))
        self.assertNotIn("reasons", health)

    def test_marks_of_the_disk_are_checked_together(self):
        name = "cluster.routing.allocation.disk.watermark."
        low, high, flood = name + "low", name + "high", name + "flood_stage"
        put = self.client.cluster.put_settings
        for settings, reason in (
            ({low: "95%"}, "low disk watermark [95%] more than high disk watermark [90%]"),
            ({high: 0.96}, "high disk watermark [0.96] more than flood stage disk watermark [95%]"),
            ({low: "1gb", high: "2gb", flood: "1gb"}, "low disk watermark [1gb] less than high disk watermark [2gb]"),
            ({low: "500mb"}, f"unable to consistently parse [{low}=500mb], [{high}=90%], and [{flood}=95%] as "
                             "percentage or bytes"),
            ({low: "some"}, f"failed to parse setting [{low}] with value [some] as a size in bytes: unit is missing"),
            ({"cluster.info.update.interval": "1s"}, "must be >= [10s]"),
            ({"cluster.routing.allocation.disk.threshold_enabled": "maybe"}, "as only [true] or [false] are allowed"),
        ):
            for kind in ("transient", "persistent"):
                with self.refused(400, "illegal_argument_exception", reason):
                    put(body={kind: settings})
        # Each kind must hold without the other.
        put(body={"persistent": {low: "50%", high: "60%", flood: "70%"}})
        with self.refused(400, "illegal_argument_exception", "unable to consistently parse"):
            put(body={"transient": {low: "500mb"}})
        put(body={"transient": {low: "0b", high: "0b", flood: "0b"}})
        shown = self.client.cluster.get_settings(flat_settings=True, include_defaults=True)
        self.assertEqual(shown["transient"][flood], "0b")
        self.assertEqual(shown["defaults"]["cluster.info.update.interval"], "30s")
        self.assertNotIn(flood, shown["defaults"])
        put(body={"persistent": {low: None, high: None, flood: None}, "transient": {low: None, high: None, flood: None}})
        shown = self.client.cluster.get_settings(flat_settings=True, include_defaults=True)
        self.assertEqual(shown["defaults"][low], "85%")

    def test_marks_hold_at_once_and_after_a_restart(self):
        name = "cluster.routing.allocation.disk.watermark."
        marks = [name + mark for mark in ("low", "high", "flood_stage")]
        self.client.index(index="docs", id="1", body={"n": 1}, refresh=True)
        put = self.client.cluster.put_settings
        watched = "cluster.routing.allocation.disk.threshold_enabled"
        put(body={"persistent": {watched: True, **{mark: "1000tb" for mark in marks}}})
        with self.refused(429, "cluster_block_exception", "index [docs] blocked by: [TOO_MANY_REQUESTS/12/disk usage"):
            self.client.index(index="docs", id="2", body={"n": 2})
        self.restart()
        with self.refused(429, "cluster_block_exception"):
            self.client.index(index="docs", id="2", body={"n": 2})
        status, health = self.server.health()
        self.assertEqual((status, health["status"]), (200, "degraded"))
        self.assertEqual(self.client.count(index="docs")["count"], 1)
        self.client.cluster.put_settings(body={"persistent": {name: None for name in (watched, *marks)}})
        self.client.index(index="docs", id="2", body={"n": 2})


class FailedShardTest(ClewTest):

    def setUp(self):
        super().setUp()
        self.client.indices.create(index="docs", body={"settings": {"number_of_shards": 2}})
        self.index_all("docs", {str(n): {"n": n} for n in range(DOCUMENTS)})
        self.client.indices.flush(index="docs")
        self.uuid = self.client.indices.get_settings(index="docs")["docs"]["settings"]["index"]["uuid"]
        whole = self.client.cat.shards(index="docs", format="json", h="shard,docs", s="shard")
        self.server.stop()
        store = next(pathlib.Path(self.server.data, "indices", self.uuid, "0").glob("*.store"))
        with open(store, "r+b") as file:
            file.truncate(3)
        self.server.start(healthy=False)
        self.client.close()
        type(self).client = self.server.client()
        self.left = int(whole[1]["docs"])
        self.addCleanup(lambda: self.client.indices.delete(index="docs", ignore=404))

    def test_a_failed_shard_is_told_of_everywhere(self):
        client = self.client
        status, health = self.server.health()
        self.assertEqual((status, health["status"]), (503, "failed"))
        [reason] = health["reasons"]
        self.assertEqual((reason["what"], reason["index"], reason["shard"]), ("shard", "docs", 0))
        self.assertIn("3 bytes", reason["reason"])

        cluster = client.cluster.health(level="shards")
        self.assertEqual(cluster["status"], "red")
        shards = cluster["indices"]["docs"]["shards"]
        self.assertEqual([shards[at]["status"] for at in ("0", "1")], ["red", "green"])
        self.assertEqual([shards[at]["primary_active"] for at in ("0", "1")], [False, True])
        self.assertEqual(client.cat.indices(index="docs", format="json")[0]["health"], "red")
        columns = "shard,prirep,state,unassigned.reason,unassigned.details,node"
        failed, other = client.cat.shards(index="docs", format="json", h=columns, s="shard")
        self.assertEqual((failed["state"], other["state"]), ("UNASSIGNED", "STARTED"))
        self.assertEqual(failed["unassigned.reason"], "ALLOCATION_FAILED")
        self.assertIn("3 bytes", failed["unassigned.details"])
        rows = client.cat.allocation(format="json")
        self.assertEqual([(row["shards"], row["node"]) for row in rows], [("1", "clew-0"), ("1", "UNASSIGNED")])
        explained = client.cluster.allocation_explain()
        self.assertEqual((explained["index"], explained["shard"], explained["primary"]), ("docs", 0, True))
        self.assertIn("3 bytes", explained["unassigned_info"]["details"])
        decider = explained["node_allocation_decisions"][0]["deciders"][0]
        self.assertIn("3 bytes", decider["explanation"])
        state = client.cluster.state(metric="routing_table")["routing_table"]["indices"]["docs"]["shards"]["0"][0]
        self.assertEqual(state["state"], "UNASSIGNED")
        with urllib.request.urlopen(self.server.url + "/_metrics", timeout=60) as page:
            self.assertIn('\nshards_failed{index="docs",shard="0"} 1\n', page.read().decode())

    def test_no_answer_passes_for_whole(self):
        client = self.client
        for reply in (
            client.indices.refresh(index="docs"),
            client.indices.flush(index="docs"),
            client.indices.forcemerge(index="docs"),
            client.indices.stats(index="docs"),
            client.search(index="docs", body={"size": DOCUMENTS}),
            client.count(index="docs"),
        ):
            shards = reply["_shards"]
            self.assertEqual((shards["total"], shards["successful"], shards["failed"]), (2, 1, 1), reply)
            [failure] = shards["failures"]
            self.assertEqual((failure["index"], failure["shard"]), ("docs", 0))
            self.assertIn("3 bytes", failure["reason"]["reason"])
        self.assertEqual(client.count(index="docs")["count"], self.left)
        found = {hit["_id"] for hit in client.search(index="docs", body={"size": DOCUMENTS})["hits"]["hits"]}
        self.assertEqual(len(found), self.left)
        for n in range(DOCUMENTS):
            if str(n) in found:
                self.assertTrue(client.get(index="docs", id=str(n))["found"])
                continue
            with self.refused(503, "no_shard_available_action_exception", "3 bytes"):
                client.get(index="docs", id=str(n))
        # Nothing else is touched by that.
        client.index(index="other", id="1", body={"n": 1}, refresh=True)
        self.assertEqual(client.count(index="other")["count"], 1)
        client.indices.delete(index="other")

    def test_an_action_that_no_shard_could_do_is_an_error(self):
        client = self.client
        self.server.kill()
        store = next(pathlib.Path(self.server.data, "indices", self.uuid, "1").glob("*.store"))
        with open(store, "r+b") as file:
            file.truncate(3)
        self.server.start(healthy=False)
        client.close()
        client = type(self).client = self.server.client()
        for call in (client.indices.refresh, client.indices.flush, client.indices.forcemerge, client.search):
            with self.assertRaises(TransportError) as caught:
                call(index="docs")
            self.assertEqual(caught.exception.status_code, 503, caught.exception.info)
