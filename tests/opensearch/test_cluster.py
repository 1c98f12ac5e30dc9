"""What tools ask a node about itself."""

import urllib.request

from .base import ClewTest


class Cluster(ClewTest):
    def test_a_client_learns_who_is_there(self):
        info = self.client.info()
        self.assertEqual(info["version"]["distribution"], "opensearch")
        self.assertRegex(info["version"]["number"], r"^\d+\.\d+\.\d+$")
        self.assertTrue(self.client.ping())

    def test_health_is_green(self):
        self.client.indices.create(index="i", body={"settings": {"number_of_shards": 2}})
        health = self.client.cluster.health(wait_for_status="yellow")
        self.assertEqual((health["status"], health["number_of_nodes"]), ("green", 1))
        self.assertEqual(health["active_shards"], 2)
        each = self.client.cluster.health(level="indices")["indices"]
        self.assertEqual(each["i"]["status"], "green")

    def test_cluster_settings_are_kept(self):
        setting = {"knn.algo_param.index_thread_qty": 4}
        self.client.cluster.put_settings(body={"persistent": setting})
        shown = self.client.cluster.get_settings(flat_settings=True)
        self.assertEqual(shown["persistent"]["knn.algo_param.index_thread_qty"], "4")
        self.client.cluster.put_settings(
            body={"persistent": {"knn.algo_param.index_thread_qty": None}}
        )
        self.assertEqual(self.client.cluster.get_settings()["persistent"], {})

    def test_tables_for_people(self):
        self.index_all("one", {str(n): {"n": n} for n in range(12)})
        self.index_all("another", {"1": {"n": 1}})
        rows = self.client.cat.indices(format="json", s="index")
        self.assertEqual([(row["index"], row["docs.count"]) for row in rows], [("another", "1"), ("one", "12")])
        self.assertEqual(rows[0]["health"], "green")
        text = self.client.cat.indices(h="index,docs.count", s="docs.count:desc", v=True)
        self.assertEqual(text, "index   docs.count\none             12\nanother          1\n")
        self.assertEqual(self.client.cat.count(index="one", h="count"), "12\n")
        self.assertIn("store.size", self.client.cat.indices(help=True))
        self.assertIn("green", self.client.cat.health())
        self.assertEqual(len(self.client.cat.shards(format="json")), 2)
        self.assertEqual(len(self.client.cat.nodes(format="json")), 1)
        self.assertEqual(self.client.cat.aliases(), "")

    def test_what_benchmark_tools_read_without_asking(self):
        self.index_all("i", {"1": {"n": 1}})
        (info,) = self.client.nodes.info()["nodes"].values()
        self.assertIn("available_processors", info["os"])
        self.assertIn("publish_address", info["http"])
        (stats,) = self.client.nodes.stats()["nodes"].values()
        self.assertIn("collection_count", stats["jvm"]["gc"]["collectors"]["young"])
        self.assertIn("peak_used_in_bytes", stats["jvm"]["mem"]["pools"]["old"])
        stats = self.client.indices.stats(index="i", metric="_all", level="shards")
        self.assertEqual(stats["_all"]["primaries"]["indexing"]["index_total"], 1)
        self.assertGreater(stats["_all"]["total"]["store"]["size_in_bytes"], 0)
        self.assertTrue(stats["indices"]["i"]["shards"]["0"][0]["routing"]["primary"])
        self.assertEqual(self.raw("GET", "/_plugins/_knn/warmup/i")["_shards"]["failed"], 0)
        self.assertIn("nodes", self.raw("GET", "/_plugins/_knn/stats"))

    def test_what_log_shippers_ask(self):
        self.assertEqual(self.raw("GET", "/_license")["license"]["status"], "active")
        with self.refused(400):
            self.raw("GET", "/_xpack")

    def test_answers_are_compressed_for_those_who_take_it(self):
        self.index_all("i", {str(n): {"text": "word " * 50} for n in range(10)})
        request = urllib.request.Request(
            self.server.url + "/i/_search", headers={"Accept-Encoding": "gzip"}
        )
        with urllib.request.urlopen(request) as reply:
            self.assertEqual(reply.headers["Content-Encoding"], "gzip")
            self.assertEqual(reply.read(2), b"\x1f\x8b")

    def test_requests_are_counted(self):
        self.client.info()
        with urllib.request.urlopen(self.server.url + "/_metrics") as reply:
            self.assertIn("rest_requests_total", reply.read().decode())
