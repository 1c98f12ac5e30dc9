"""What tools ask a node about itself."""

import json
import re
import urllib.error
import urllib.request

from opensearchpy.exceptions import NotFoundError

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
        # A client that writes the names of its own enumeration.
        self.assertFalse(self.client.cluster.health(wait_for_status="YELLOW")["timed_out"])
        with self.refused(400, "illegal_argument_exception", "No enum constant org.opensearch.cluster.health.ClusterHealthStatus.BLUE"):
            self.client.cluster.health(wait_for_status="blue")

    def test_cluster_settings_are_kept(self):
        setting = {"knn.algo_param.index_thread_qty": 4}
        self.client.cluster.put_settings(body={"persistent": setting})
        shown = self.client.cluster.get_settings(flat_settings=True)
        self.assertEqual(shown["persistent"]["knn.algo_param.index_thread_qty"], "4")
        self.client.cluster.put_settings(
            body={"persistent": {"knn.algo_param.index_thread_qty": None}}
        )
        self.assertEqual(self.client.cluster.get_settings()["persistent"], {})

    def test_cluster_settings_that_there_are_not_are_refused(self):
        put = self.client.cluster.put_settings
        for body in ({}, {"persistent": {}}, {"persistent": {}, "transient": {}}):
            with self.refused(400, "action_request_validation_exception", "no settings to update"):
                put(body=body)
        for kind in ("transient", "persistent"):
            for name, value, why in [
                ("foo.bar", 1, f"{kind} setting [foo.bar], not recognized"),
                ("foo.bar", None, f"{kind} setting [foo.bar], not recognized"),
                ("cluster.routing.allocation.enabl", "all", "[cluster.routing.allocation.enabl], not recognized"),
                ("path.data", "/x", f"{kind} setting [path.data], not dynamically updateable"),
                ("cluster.max_shards_per_node", "many", "Failed to parse value [many] for setting [cluster.max_shards_per_node]"),
                ("cluster.routing.allocation.enable", "some", "Illegal allocation.enable value [SOME]"),
                ("action.destructive_requires_name", "yes", "Failed to parse value [yes] as only [true] or [false] are allowed."),
            ]:
                with self.subTest(name=name), self.refused(400, "illegal_argument_exception", why):
                    put(body={kind: {"search.max_buckets": 7, name: value}})
        with self.refused(400, "action_request_validation_exception", "no settings to update"):
            put(body={"other": {"search.max_buckets": 7}})
        # A value that another one hides is read as well: once that is gone nothing could be changed any more.
        put(body={"transient": {"search.max_buckets": 100, "search.max_keep_alive": "2h"}})
        for name, value, why in [
            ("search.max_buckets", "x", "Failed to parse value [x] for setting [search.max_buckets]"),
            ("search.max_buckets", -1, "Failed to parse value [-1] for setting [search.max_buckets] must be >= 0"),
            ("search.max_keep_alive", "x", "failed to parse setting [search.max_keep_alive]"),
        ]:
            with self.subTest(name=name), self.refused(400, "illegal_argument_exception", why):
                put(body={"persistent": {name: value}})
        put(body={"transient": {"search.*": None}})
        # Nothing of a request that is refused holds.
        self.assertEqual(self.client.cluster.get_settings()["persistent"], {})
        taken = {
            "cluster.routing.allocation.enable": "primaries", "cluster.routing.allocation.exclude._ip": "10.0.0.1",
            "cluster.remote.there.seeds": ["h:9300"], "indices.recovery.max_bytes_per_sec": "40mb",
            "logger.org.opensearch.discovery": "DEBUG", "plugins.index_state_management.enabled": True,
        }
        put(body={"transient": taken})
        put(body={"transient": {"cluster.*": None, **{name: None for name in taken}}})
        self.assertEqual(self.client.cluster.get_settings()["transient"], {})

    def test_settings_that_are_acted_on_are_told_where_nobody_gave_them(self):
        def shown():
            return self.client.cluster.get_settings(flat_settings=True, include_defaults=True)["defaults"]

        for name, value in [
            ("cluster.routing.allocation.enable", "all"), ("search.max_buckets", "65535"),
            ("search.max_keep_alive", "24h"), ("search.default_search_timeout", "-1"), ("action.auto_create_index", "true"),
        ]:
            self.assertEqual(shown()[name], value, name)
        (node,) = self.client.nodes.stats(metric="breaker")["nodes"].values()
        limit = node["breakers"]["parent"]["limit_size_in_bytes"]
        self.assertEqual(shown()["indices.breaker.total.limit"], f"{limit}b")
        for given in (7, None):
            self.client.cluster.put_settings(body={"transient": {"search.max_buckets": given}})
            self.assertEqual("search.max_buckets" in shown(), given is None)

    def test_figures_of_nodes_are_asked_for_in_one_way(self):
        for path, why in [
            ("/_nodes/stats/_all,os", "contains _all and individual metrics [_all,os]"),
            ("/_nodes/stats/os/docs", "request [/_nodes/stats/os/docs] contains index metrics [docs] but indices stats not requested"),
            ("/_nodes/stats/indices/search,doc", "contains unrecognized index metric: [doc] -> did you mean [docs]?"),
            ("/_nodes/stats?level=cluster", "level parameter must be one of [indices] or [node] or [shards] but was [cluster]"),
        ]:
            with self.subTest(path=path), self.refused(400, "illegal_argument_exception", why):
                self.raw("GET", path)
        self.assertIn("docs", next(iter(self.raw("GET", "/_nodes/stats/indices/docs")["nodes"].values()))["indices"])

    def test_figures_of_the_cluster_are_asked_for_by_name(self):
        self.client.index(index="i", id="1", body={"a": "x"}, refresh=True)
        shown = self.raw("GET", "/_cluster/stats/indices/docs,analysis/nodes/_all")
        self.assertEqual(sorted(shown["indices"]), ["analysis", "count", "docs"])
        self.assertEqual(shown["indices"]["docs"]["count"], 1)
        self.assertNotIn("nodes", shown)
        shown = self.raw("GET", "/_cluster/stats/os,jvm/nodes/_local")
        self.assertEqual(sorted(shown["nodes"]), ["count", "jvm", "os", "versions"])
        self.assertNotIn("indices", shown)
        whole = self.client.cluster.stats()
        every = self.raw("GET", "/_cluster/stats/_all/_all/nodes/_all")
        for part in ("indices", "nodes"):
            self.assertEqual(sorted(every[part]), sorted(whole[part]))
        for path, why in [
            ("indces/nodes/_all", "[/_cluster/stats/indces/nodes/_all] contains unrecognized metric: [indces] -> did you mean [indices]?"),
            ("docs/nodes/_all", "contains unrecognized metric: [docs]"),
            ("indices/nosuch/nodes/_all", "contains unrecognized index metric: [nosuch]"),
            ("os/docs/nodes/_all", "contains index metrics [docs] but indices stats not requested"),
            ("_all,os/nodes/_all", "contains _all and individual metrics [_all,os]"),
            ("indices/_all,docs/nodes/_all", "contains _all and individual index metrics [_all,docs]"),
        ]:
            with self.subTest(path=path), self.refused(400, "illegal_argument_exception", why):
                self.raw("GET", f"/_cluster/stats/{path}")

    def test_health_is_told_by_what_nodes_are_told_apart_by(self):
        health = self.raw("GET", "/_cluster/health?level=awareness_attributes")
        self.assertEqual(health["awareness_attributes"], {})
        health = self.raw("GET", "/_cluster/health?level=awareness_attributes&awareness_attribute=zone")
        self.assertEqual(health["awareness_attributes"], {"zone": {}})
        # What is no level says nothing.
        health = self.raw("GET", "/_cluster/health?level=x")
        self.assertNotIn("indices", health)
        self.client.index(index="i", id="1", body={})
        for path, why in [
            ("?awareness_attribute=zone", "level=awareness_attributes is required with awareness_attribute parameter"),
            ("/i?level=awareness_attributes", "awareness_attribute is not a supported parameter with index health"),
        ]:
            with self.subTest(path=path), self.refused(400, "action_request_validation_exception", why):
                self.raw("GET", f"/_cluster/health{path}")

    def test_the_table_of_indexes_tells_what_they_did_and_sorts_by_it(self):
        for name, documents in (("few", 1), ("most", 300), ("more", 20)):
            self.index_all(name, {str(n): {"text": "word " * (n + 1)} for n in range(documents)})
        self.client.search(index="more")

        def rows(**params):
            return self.raw("GET", "/_cat/indices/few,more,most", params={"format": "json", **params})

        asked = "index,indexing.index_total,pri.indexing.index_total,iito,search.query_total,segments.count,memory.total,pri.merges.total"
        found = {row["index"]: row for row in rows(h=asked)}
        self.assertEqual([found["more"][name] for name in asked.split(",")[1:5]], ["20", "20", "20", "1"])
        self.assertEqual(sorted(found["few"]), sorted(asked.split(",")))
        for cell in rows(h="memory.total,merges.total_size,query_cache.memory_size,store.size", bytes="b")[0].values():
            self.assertTrue(cell.isdigit(), cell)
        # Sizes with units are sizes.
        self.assertEqual([row["index"] for row in rows(s="store.size:desc")], ["most", "more", "few"])
        self.assertEqual([row["index"] for row in rows(s="indexing.index_total")], ["few", "more", "most"])
        self.assertEqual(sorted(rows()[0]), sorted(["health", "status", "index", "uuid", "pri", "rep", "docs.count", "docs.deleted", "store.size", "pri.store.size"]))

    def test_the_table_of_tasks_has_those_that_are_asked_for(self):
        def rows(**params):
            return self.raw("GET", "/_cat/tasks", params={"format": "json", **params})

        self.assertEqual([row["action"] for row in rows(actions="*tasks*", nodes="_local")], ["cluster:monitor/tasks/lists"])
        # One that was just answered may be there for a moment.
        self.until(lambda: rows(actions="*search*"), [])
        self.assertEqual(rows(nodes="nobody"), [])

    def test_persistent_settings_survive_a_restart(self):
        name = "compatibility.override_main_response_version"
        kept = {name: "true", "search.max_buckets": "3"}
        passing = {"search.default_search_timeout": "9s"}
        self.client.cluster.put_settings(body={"persistent": kept, "transient": passing})
        self.addCleanup(
            lambda: self.client.cluster.put_settings(body={"persistent": dict.fromkeys(kept)})
        )
        self.restart()
        shown = self.client.cluster.get_settings(flat_settings=True)
        self.assertEqual((shown["persistent"], shown["transient"]), (kept, {}))
        self.assertEqual(self.client.info()["version"]["number"], "7.10.2")
        self.index_all("many", {str(n): {"n": n} for n in range(5)})
        with self.refused(503, "search_phase_execution_exception"):
            self.client.search(index="many", body={"aggs": {"n": {"terms": {"field": "n"}}}})

    def pages(self, what, **params):
        """All pages of a list, each as its rows."""
        pages, token = [], None
        while True:
            query = {"format": "json", **params, **({"next_token": token} if token else {})}
            page = self.client.transport.perform_request("GET", f"/_list/{what}", params=query)
            pages.append(page[what.split("/")[0]])
            token = page["next_token"]
            if token is None:
                return pages

    def test_lists_of_indexes_and_shards_come_page_by_page(self):
        names = [f"page-{n}" for n in range(5)]
        for name in names:
            self.client.indices.create(index=name, body={"settings": {"number_of_shards": 3}})
        shown = lambda pages: [[row["index"] for row in page] for page in pages]
        # Those of one millisecond follow their names, as these do.
        self.assertEqual(shown(self.pages("indices/page-*", size=2)), [names[:2], names[2:4], names[4:]])
        self.assertEqual(
            shown(self.pages("indices/page-*", size=3, sort="desc")),
            [names[:1:-1], names[1::-1]],
        )
        first = self.raw("GET", "/_list/indices/page-*?size=4&h=index")
        self.assertEqual(first.split("\n")[:4], names[:4])
        token = first.split("next_token ")[1].strip()
        # What goes and what comes meanwhile moves nothing.
        self.client.indices.delete(index="page-3")
        self.client.indices.create(index="page-5")
        rest = self.raw("GET", f"/_list/indices/page-*?size=4&h=index&next_token={token}")
        self.assertEqual(rest, "page-4\npage-5\nnext_token null\n")
        (shards,) = self.pages("shards/page-*")
        self.assertEqual(
            [(row["index"], row["shard"]) for row in shards if row["index"] == "page-1"],
            [("page-1", str(n)) for n in range(3)],
        )
        for path in ["indices?size=0", "indices?size=5001", "shards?size=10", "indices?sort=up"]:
            with self.refused(400, "illegal_argument_exception"):
                self.client.transport.perform_request("GET", f"/_list/{path}")
        with self.refused(400, "illegal_argument_exception"):
            self.client.transport.perform_request("GET", "/_list/indices?next_token=x")
        self.assertIn("/_list/shards", self.raw("GET", "/_list"))

    def test_a_list_of_shards_parts_an_index_between_its_shards(self):
        # As many copies as a page of the least size cannot hold: 700 shards of 3 copies each.
        self.client.indices.create(
            index="wide", body={"settings": {"number_of_shards": 700, "number_of_replicas": 2}}
        )
        pages = self.pages("shards/wide", size=2000)
        self.assertEqual([len(page) for page in pages], [1998, 102])
        all_shards = [row["shard"] for page in pages for row in page if row["prirep"] == "p"]
        self.assertEqual(all_shards, [str(n) for n in range(700)])

    def test_tables_for_people(self):
        self.index_all("one", {str(n): {"n": n} for n in range(12)})
        self.index_all("another", {"1": {"n": 1}})
        rows = self.client.cat.indices(format="json", s="index")
        self.assertEqual([(row["index"], row["docs.count"]) for row in rows], [("another", "1"), ("one", "12")])
        self.assertEqual(rows[0]["health"], "green")
        short = "shardsTotal,shardsPrimary,shardsUnassigned,discovered_master,activeShardsPercent"
        shown = self.client.cat.health(h=short, format="json")[0]
        self.assertEqual(list(shown), short.split(","))
        text = self.client.cat.indices(h="index,docs.count", s="docs.count:desc", v=True)
        self.assertEqual(text, "index   docs.count\none             12\nanother          1\n")
        self.assertEqual(self.client.cat.count(index="one", h="count"), "12\n")
        self.assertEqual(self.client.cat.count(index="one", h="count", format="nix"), "12\n")
        self.assertIn("store.size", self.client.cat.indices(help=True))
        self.assertIn("green", self.client.cat.health())
        self.assertEqual(len(self.client.cat.shards(format="json")), 2)
        self.assertEqual(len(self.client.cat.nodes(format="json")), 1)
        self.assertIn("pri.search.query_total", self.client.cat.indices(help=True))
        self.assertNotIn("pri.search.throttled", self.client.cat.indices(help=True))
        (node,) = self.client.cat.nodes(format="json", h="type,build,iito,segments.count,qchc,suggest.total,scrcc")
        self.assertEqual((node["type"], node["suggest.total"]), ("tar", "0"))
        self.assertTrue(node["scrcc"].isdigit(), node["scrcc"])
        self.assertGreaterEqual(int(node["iito"]), 13)
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

    def test_what_an_index_has_done_is_counted(self):
        self.client.indices.create(index="counted", body={"settings": {"number_of_shards": 2}})
        for number in range(4):
            self.client.index(index="counted", id=str(number), body={"n": number}, refresh=True)
        self.client.search(index="counted", body={"stats": ["a", "ab"]})
        self.client.search(index="counted")
        self.client.get(index="counted", id="1")
        with self.refused(404):
            self.client.get(index="counted", id="none")
        stats = self.client.indices.stats(index="counted", params={"groups": "a*", "level": "shards"})
        primaries = stats["indices"]["counted"]["primaries"]
        # A search of an index is one of each of its shards.
        self.assertEqual(primaries["search"]["query_total"], 4)
        self.assertEqual(primaries["search"]["fetch_total"], 2)
        groups = primaries["search"]["groups"]
        self.assertEqual({name: group["query_total"] for name, group in groups.items()}, {"a": 2, "ab": 2})
        reads = primaries["get"]
        self.assertEqual((reads["total"], reads["exists_total"], reads["missing_total"]), (2, 1, 1))
        self.assertEqual(primaries["translog"]["operations"], 4)
        self.assertGreater(primaries["translog"]["size_in_bytes"], 0)
        shards = stats["indices"]["counted"]["shards"]
        self.assertEqual(sum(shards[number][0]["docs"]["count"] for number in "01"), 4)
        before = shards["0"][0]["commit"]["id"]
        self.client.indices.flush(index="counted")
        stats = self.client.indices.stats(index="counted", params={"level": "shards"})
        self.assertEqual(stats["indices"]["counted"]["primaries"]["translog"]["operations"], 0)
        self.assertNotEqual(stats["indices"]["counted"]["shards"]["0"][0]["commit"]["id"], before)
        plain = self.client.indices.stats(index="counted")["_all"]["total"]
        self.assertNotIn("groups", plain["search"])

    def test_replicas_have_nowhere_to_be(self):
        settings = {"number_of_shards": 2, "number_of_replicas": 1}
        self.client.indices.create(index="copied", body={"settings": settings})
        health = self.client.cluster.health(index="copied")
        self.assertEqual((health["status"], health["unassigned_shards"]), ("yellow", 2))
        rows = self.client.cat.shards(index="copied", format="json", h="shard,prirep,state")
        found = sorted((row["shard"], row["prirep"], row["state"]) for row in rows)
        expected = [(number, *kind) for number in "01" for kind in [("p", "STARTED"), ("r", "UNASSIGNED")]]
        self.assertEqual(found, expected)
        self.client.indices.put_settings(index="copied", body={"number_of_replicas": 0})
        self.assertEqual(self.client.cluster.health(index="copied")["status"], "green")

    def test_segments_one_by_one(self):
        self.client.indices.create(index="pieces", body={"settings": {"number_of_shards": 2}})
        for number in range(3):
            self.index_all("pieces", {f"{number}-{n}": {"n": n} for n in range(20)})
        self.client.delete(index="pieces", id="0-0", refresh=True)
        shown = self.client.indices.segments(index="pieces")
        self.assertEqual(shown["_shards"], {"total": 2, "successful": 2, "failed": 0})
        shards = [shard for (shard,) in shown["indices"]["pieces"]["shards"].values()]
        segments = [piece for shard in shards for piece in shard["segments"].values()]
        self.assertEqual(sum(piece["num_docs"] for piece in segments), 59)
        self.assertEqual(sum(piece["deleted_docs"] for piece in segments), 1)
        self.assertTrue(all(piece["size_in_bytes"] > 0 for piece in segments))
        self.assertEqual([shard["num_search_segments"] for shard in shards], [len(s["segments"]) for s in shards])
        rows = self.client.cat.segments(index="piece*", format="json")
        self.assertEqual(len(rows), len(segments))
        self.assertEqual({row["index"] for row in rows}, {"pieces"})
        self.assertEqual(self.client.cat.segments(index="pieces", h="seg", s="shard,segment").split()[0], "_0")
        self.client.indices.flush(index="pieces")
        self.client.indices.forcemerge(index="pieces", max_num_segments=1, flush=True)
        self.client.indices.flush(index="pieces")
        rows = self.client.cat.segments(index="pieces", format="json", h="docs.count,dd,committed,searchable")
        self.assertEqual(len(rows), 2)
        self.assertEqual({(row["dd"], row["committed"], row["searchable"]) for row in rows}, {("0", "true", "true")})
        self.client.indices.close(index="pieces")
        with self.refused(400, "index_closed_exception"):
            self.client.indices.segments(index="pieces")
        with self.refused(404, "index_not_found_exception"):
            self.client.indices.segments(index="absent")

    def test_tables_of_a_cluster_of_one(self):
        manager = self.client.cat.cluster_manager(format="json")
        (node,) = self.client.cat.nodes(format="json", h="name,id", full_id=True)
        self.assertEqual([(row["node"], row["id"]) for row in manager], [(node["name"], node["id"])])
        self.assertEqual(self.raw("GET", "/_cat/master"), self.client.cat.cluster_manager())
        self.assertEqual(self.client.cat.pending_tasks(), "")
        self.assertEqual(self.client.cat.fielddata(), "")
        self.index_all("one", {"1": {"n": 1}})
        before = int(self.client.cat.thread_pool(format="json", h="completed")[0]["completed"])
        self.client.search(index="one")

        def pool_now():
            (pool,) = self.client.cat.thread_pool(
                thread_pool_patterns="sea*", format="json", h="name,type,size,queue,rejected,completed"
            )
            return pool

        # A thread counts what it has done when that is answered already.
        self.until(lambda: int(pool_now()["completed"]), before + 1)
        pool = pool_now()
        self.assertEqual((pool["name"], pool["type"], pool["queue"], pool["rejected"]), ("search", "fixed", "0", "0"))
        self.assertGreater(int(pool["size"]), 0)
        (stats,) = self.client.nodes.stats(metric="thread_pool")["nodes"].values()
        self.assertEqual(stats["thread_pool"]["search"]["threads"], int(pool["size"]))

    def test_statistics_of_shards_and_the_time_of_upkeep(self):
        self.client.indices.create(index="two", body={"settings": {"number_of_shards": 2}})
        self.index_all("two", {str(n): {"n": n} for n in range(30)})
        self.client.indices.forcemerge(index="two", max_num_segments=1)
        self.index_all("two", {str(n): {"n": n} for n in range(30, 60)})
        self.client.indices.forcemerge(index="two", max_num_segments=1)
        (node,) = self.client.nodes.stats(metric="indices", level="shards")["nodes"].values()
        shards = node["indices"]["shards"]["two"]
        self.assertEqual([list(shard) for shard in shards], [["0"], ["1"]])
        self.assertEqual(sum(shard[number]["docs"]["count"] for shard in shards for number in shard), 60)
        self.assertTrue(shards[0]["0"]["routing"]["primary"])
        merges = self.client.indices.stats(index="two")["_all"]["primaries"]["merges"]
        self.assertGreater(merges["total"], 0)
        self.assertGreaterEqual(merges["total_docs"], 60)
        self.assertGreater(merges["total_size_in_bytes"], 0)

    def test_this_node_tells_of_its_machine(self):
        node = self.client.cat.nodes(format="json", h="heap.*,file_desc.*,disk.total,http")[0]
        self.assertGreater(int(node["file_desc.current"]), 0)
        self.assertTrue(node["http"].startswith("127.0.0.1:"))
        (stats,) = self.client.nodes.stats(metric="fs,process")["nodes"].values()
        self.assertGreater(stats["fs"]["data"][0]["total_in_bytes"], 0)
        self.assertGreater(stats["process"]["mem"]["resident_in_bytes"], 0)
        self.assertNotIn("jvm", stats)
        with self.refused(400, "illegal_argument_exception", "[procces] -> did you mean [process]?"):
            self.client.nodes.stats(metric="procces")
        self.assertEqual(self.raw("GET", "/_nodes/nobody/stats")["nodes"], {})

    def test_exporters_find_disk_memory_and_waits_among_the_figures(self):
        (stats,) = self.client.nodes.stats()["nodes"].values()
        (place,) = stats["fs"]["data"]
        self.assertRegex(place["mount"], r"^/.* \(.+\)$")
        self.assertNotIn(place["type"], ("", "linux"))
        self.assertEqual(place["cache_reserved_in_bytes"], 0)
        # Folders that lie on no single device have no counts.
        if counts := stats["fs"]["io_stats"]:
            self.assertEqual(counts["devices"], [{"device_name": counts["devices"][0]["device_name"], **counts["total"]}])
            operations = counts["total"]["read_operations"] + counts["total"]["write_operations"]
            self.assertEqual(counts["total"]["operations"], operations)
        heap, process = stats["jvm"]["mem"], stats["process"]["mem"]["resident_in_bytes"]
        self.assertEqual((heap["heap_used_in_bytes"], heap["heap_committed_in_bytes"]), (process, process))
        self.assertEqual(heap["heap_max_in_bytes"], stats["os"]["mem"]["total_in_bytes"])
        self.assertIn("total_wait_time_in_nanos", stats["thread_pool"]["search"])
        for of in (stats["os"], stats["process"]):
            self.assertTrue(0 <= of["cpu"]["percent"] <= 100, of["cpu"])
        for name in ("adaptive_selection", "cluster_manager_throttling", "repositories", "shard_indexing_pressure", "weighted_routing"):
            self.assertIn(name, stats)
        (info,) = self.client.nodes.info(metric="thread_pool")["nodes"].values()
        self.assertEqual([info], list(self.raw("GET", "/_nodes/_local/info/thread_pool")["nodes"].values()))
        self.assertEqual(info["thread_pool"]["search"]["size"], stats["thread_pool"]["search"]["threads"])

    def test_figures_of_what_lies_elsewhere_are_none(self):
        self.index_all("near", {"1": {"n": 1}})
        of = self.client.indices.stats(index="near")["_all"]["primaries"]
        self.assertEqual(of["segments"]["remote_store"]["upload"]["total_upload_size"]["failed_bytes"], 0)
        self.assertEqual(of["translog"]["remote_store"]["upload"]["total_uploads"]["failed"], 0)
        self.assertEqual((of["get"]["getTime"], of["segments"]["segment_replication"]["max_bytes_behind"]), ("0s", 0))
        for path in ("/_remotestore/stats/near", "/_remotestore/stats/near/0"):
            self.assertEqual(self.raw("GET", path), {"_shards": {"total": 0, "successful": 0, "failed": 0}, "indices": {}})
        with self.refused(404, "index_not_found_exception"):
            self.raw("GET", "/_remotestore/stats/far")

    def test_searches_are_one_workload(self):
        self.index_all("worked", {"1": {"n": 1}})

        def completed(path="/_wlm/stats"):
            told = self.raw("GET", path)
            self.assertEqual(told["_nodes"], {"total": 1, "successful": 1, "failed": 0})
            (node,) = self.raw("GET", "/_nodes")["nodes"]
            return told[node]["query_groups"]["DEFAULT_QUERY_GROUP"]["total_completions"]

        before = completed()
        self.client.search(index="worked")
        self.until(completed, before + 1)
        self.assertEqual(completed("/_wlm/_local/stats/DEFAULT_QUERY_GROUP"), before + 1)
        self.assertEqual(self.raw("GET", "/_wlm/nobody/stats")["_nodes"]["total"], 0)
        told = self.raw("GET", "/_wlm/stats/nosuch")["_nodes"]
        self.assertEqual((told["successful"], told["failed"]), (0, 1))
        self.assertEqual(told["failures"][0]["caused_by"]["type"], "resource_not_found_exception")

    def test_every_task_says_whether_it_was_cancelled(self):
        (node,) = self.raw("GET", "/_tasks")["nodes"].values()
        self.assertEqual({task["cancelled"] for task in node["tasks"].values()}, {False})

    def test_no_pipelines_are_not_found(self):
        for path in ("/_ingest/pipeline", "/_search/pipeline"):
            with self.subTest(path=path), self.assertRaises(NotFoundError) as caught:
                self.raw("GET", path)
            self.assertEqual(caught.exception.info, {})

    def test_how_shards_came_to_be_as_a_table(self):
        self.assertEqual(self.client.cat.recovery(), "")
        self.client.indices.create(index="one", body={"settings": {"number_of_shards": 2}})
        self.client.indices.create(index="two")
        rows = self.client.cat.recovery(index="one", format="json", s="shard:desc")
        self.assertEqual([row["shard"] for row in rows], ["1", "0"])
        self.assertEqual((rows[0]["type"], rows[0]["stage"]), ("empty_store", "done"))
        self.assertEqual((rows[0]["repository"], rows[0]["source_node"]), ("n/a", "n/a"))
        self.assertNotIn("start_time", rows[0])
        told = self.client.indices.recovery(index="one")["one"]["shards"][0]
        self.assertNotIn("start_time", told)
        told = self.client.indices.recovery(index="one", human=True)["one"]["shards"][0]
        shown = self.client.cat.recovery(index="one", format="json", h="start_time,stop_time,stop_millis")[0]
        self.assertEqual((shown["start_time"], shown["stop_time"]), (told["start_time"], told["stop_time"]))
        self.assertEqual(shown["stop_millis"], str(told["stop_time_in_millis"]))
        text = self.client.cat.recovery(h="i,s,st,tor", s="i,s", v=True)
        self.assertEqual(text.splitlines()[1].split(), ["one", "0", "done", "0"])
        self.assertEqual(len(text.splitlines()), 4)
        self.assertIn("translog_ops_percent", self.client.cat.recovery(help=True))
        self.assertEqual(self.client.cat.recovery(active_only=True), "")

    def test_the_files_that_a_shard_came_of_are_told_where_they_are_asked_for(self):
        self.index_all("one", {"1": {"a": 1}})
        self.client.indices.flush(index="one")
        told = lambda **params: self.client.indices.recovery(index="one", **params)["one"]["shards"][0]["index"]
        self.assertEqual(told(detailed=True)["files"]["details"], [])
        self.restart()
        taken = told(detailed=True)
        (file,) = taken["files"]["details"]
        self.assertEqual(file, {"name": "_0", "length_in_bytes": taken["size"]["total_in_bytes"], "reused": True, "recovered_in_bytes": 0})
        self.assertEqual(taken["files"]["total"], 1)
        self.assertNotIn("details", told()["files"])

    def test_figures_are_told_in_words(self):
        self.client.indices.create(index="one")
        self.client.index(index="one", body={"a": 1}, refresh=True)
        for path, at in [
            ("/one/_stats", ("_all", "total", "store")),
            ("/_cluster/stats", ("indices", "store")),
            ("/_nodes/stats/jvm", ("nodes", "*", "jvm", "mem", "pools", "young")),
            ("/one/_segments", ("indices", "one", "shards", "0")),
            ("/_nodes/jvm", ("nodes", "*", "jvm", "mem")),
        ]:
            for human in (True, False):
                shown = self.raw("GET", path, params={"human": str(human).lower()})
                for name in at:
                    (shown,) = shown.values() if name == "*" else (shown[name],)
                text = json.dumps(shown)
                sizes = re.findall(r'"(\w+)_in_bytes": \d+', text)
                self.assertTrue(sizes, path)
                for size in sizes:
                    self.assertEqual(human, f'"{size}": "' in text, (path, size))
        taken = self.client.indices.stats(index="one", params={"human": "true"})["_all"]["total"]["indexing"]
        self.assertRegex(taken["index_time"], r"^\d+(\.\d)?(ms|s)$")

    def test_what_a_path_takes_is_told_who_asks(self):
        for path, methods in (("/", "GET, HEAD"), ("/_search", "GET, POST"), ("/i/_doc/1", "DELETE, GET, HEAD, POST, PUT")):
            request = urllib.request.Request(self.server.url + path, method="OPTIONS")
            with urllib.request.urlopen(request) as reply:
                self.assertEqual((reply.status, reply.headers["Allow"], reply.read()), (200, methods, b""))

    def test_answers_are_of_the_type_that_alone_is_accepted(self):
        self.client.indices.create(index="i", body={"aliases": {"a": {}}})
        for path, accept, media, begin in [
            ("/_cat/aliases", "application/json", "application/json", b'[{"alias":"a","index":"i"'),
            ("/_cat/aliases", "application/yaml", "application/yaml", b'---\n- alias: "a"\n  index: "i"\n'),
            ("/_cat/aliases?format=yaml", "*/*", "application/yaml", b'---\n- alias: "a"\n  index: "i"\n'),
            ("/_cat/aliases?h=alias", "text/plain,application/json", "text/plain", b"a\n"),
            ("/i/_alias", "application/yaml", "application/yaml", b"---\ni:\n  aliases:\n    a: {}\n"),
        ]:
            request = urllib.request.Request(self.server.url + path, headers={"Accept": accept})
            with self.subTest(path=path, accept=accept), urllib.request.urlopen(request) as reply:
                self.assertEqual(reply.headers["Content-Type"].split(";")[0], media)
                self.assertEqual(reply.read()[: len(begin)], begin)

    def test_a_reindex_tells_how_far_it_is_and_can_be_slowed_down(self):
        self.index_all("from", {str(number): {"n": number} for number in range(40)})
        body = {"source": {"index": "from", "size": 10}, "dest": {"index": "to"}}
        slow = {"wait_for_completion": "false", "requests_per_second": "0.01"}
        task = self.client.reindex(body=body, params=slow)["task"]
        while True:
            shown = self.client.tasks.get(task_id=task)
            self.assertFalse(shown["completed"])
            if shown["task"].get("status", {}).get("created"):
                break
        status = shown["task"]["status"]
        self.assertEqual((status["total"], status["created"], status["batches"]), (40, 10, 1))
        with self.refused(400, "illegal_argument_exception", "requests_per_second"):
            self.client.transport.perform_request("POST", f"/_reindex/{task}/_rethrottle")
        path = f"/_reindex/{task}/_rethrottle?requests_per_second=-1"
        nodes = self.client.transport.perform_request("POST", path)["nodes"]
        self.assertIn(task, next(iter(nodes.values()))["tasks"])
        done = self.client.tasks.get(task_id=task, wait_for_completion=True)
        self.assertEqual((done["response"]["created"], done["task"]["status"]["created"]), (40, 40))
        self.assertEqual(done["response"]["requests_per_second"], -1.0)
        self.until(lambda: self.raw("GET", "/_tasks", params={"actions": "*reindex", "group_by": "none"})["tasks"], [])
        with self.refused(404, "resource_not_found_exception", "is missing"):
            self.client.transport.perform_request("POST", path)
        listed = self.client.tasks.list(detailed=True)["nodes"]
        node = next(iter(listed.values()))
        self.assertIn("data", node["roles"])
        self.assertIn("total", next(iter(node["tasks"].values()))["resource_stats"])

    def test_what_was_done_before_a_page_failed_is_told(self):
        for verb, done in (("_delete_by_query", "deleted"), ("_update_by_query", "updated")):
            with self.subTest(verb=verb):
                self.index_all("i", {str(number): {"n": number} for number in range(40)})
                slow = "wait_for_completion=false&requests_per_second=0.01&scroll_size=10"
                task = self.raw("POST", f"/i/{verb}?{slow}", body={"query": {"match_all": {}}})["task"]
                self.until(lambda: self.client.tasks.get(task_id=task)["task"].get("status", {}).get(done), 10)
                self.client.indices.put_settings(index="i", body={"index.blocks.read": True})
                self.raw("POST", f"/{verb}/{task}/_rethrottle?requests_per_second=-1")
                ended = self.client.tasks.get(task_id=task, wait_for_completion=True)
                self.assertNotIn("error", ended)
                told = ended["response"]
                self.assertEqual((told["total"], told[done], told["batches"]), (40, 10, 1))
                failure, = told["failures"]
                self.assertEqual((failure["status"], failure["reason"]["type"]), (403, "cluster_block_exception"))
                self.client.indices.delete(index="i")

    def test_how_a_task_ended_is_kept_for_after_a_restart(self):
        self.index_all("from", {str(number): {"n": number} for number in range(3)})
        def ended(source, dest):
            body = {"source": {"index": "from", **source}, "dest": {"index": "to", **dest}}
            task = self.client.reindex(body=body, params={"wait_for_completion": "false"})["task"]
            return task, self.client.tasks.get(task_id=task, wait_for_completion=True)
        copied = ended({}, {})
        refused = ended({}, {"op_type": "create"})
        failed = ended({"query": {"term": {"n": "x"}}}, {})
        self.assertEqual(copied[1]["response"]["created"], 3)
        self.assertEqual(len(refused[1]["response"]["failures"]), 3)
        self.assertEqual(failed[1]["error"]["type"], "search_phase_execution_exception")
        self.assertEqual(failed[1]["task"]["status"]["created"], 0)
        # Not by everybody who searches all.
        self.client.indices.refresh(index="from,to,.tasks")
        self.assertEqual(self.client.count()["count"], 6)
        found = self.client.search(index=".tasks", body={"query": {"term": {"task.action": "indices:data/write/reindex"}}})
        self.assertEqual({hit["_id"] for hit in found["hits"]["hits"]}, {copied[0], refused[0], failed[0]})
        self.restart()
        for task, told in (copied, refused, failed):
            again = self.client.tasks.get(task_id=task)
            # The time that its end took to be kept is not a part of it.
            for shown in (again, told):
                del shown["task"]["running_time_in_nanos"]
            self.assertEqual(again, told)
        self.assertEqual(self.client.indices.get_mapping(index=".tasks")[".tasks"]["mappings"]["dynamic"], "strict")
        with self.refused(404, "resource_not_found_exception", "isn't running and hasn't stored its results"):
            self.client.tasks.get(task_id=copied[0].rsplit(":", 1)[0] + ":987654321")
        with self.refused(404, "resource_not_found_exception", "belongs to the node [nobody] which isn't part of the cluster") as caught:
            self.client.tasks.get(task_id="nobody:1")
        root = "task [nobody:1] isn't running and hasn't stored its results"
        self.assertEqual(caught.exception.info["error"]["root_cause"][0]["reason"], root)

    def test_figures_that_there_are_not_are_refused(self):
        self.client.indices.create(index="i")
        with self.refused(400, "illegal_argument_exception", "metric: [fieldata] -> did you mean [fielddata]?"):
            self.client.indices.stats(metric="fieldata")
        # Deprecated together, and taken.
        self.client.indices.forcemerge(index="i", max_num_segments=1, only_expunge_deletes=True)

    def test_typed_clients_find_what_they_read(self):
        self.client.index(index="i", id="1", body={"a": 1}, refresh=True)
        self.client.update(index="i", id="1", body={"doc": {"a": 1}})
        stats = self.client.indices.stats(index="i")["_all"]["primaries"]
        self.assertEqual(stats["indexing"]["noop_update_total"], 1)
        for name in ("scroll_current", "scroll_time_in_millis", "point_in_time_total", "suggest_total"):
            self.assertEqual(stats["search"][name], 0)
        whole = self.client.cluster.stats()
        self.assertEqual(whole["indices"]["docs"]["count"], 1)
        self.assertIn("doc_values_memory_in_bytes", whole["indices"]["segments"])
        self.assertGreater(whole["nodes"]["os"]["mem"]["total_in_bytes"], 0)
        self.assertEqual(self.client.cluster.stats(node_id="nobody")["_nodes"]["total"], 0)
        node = next(iter(self.client.nodes.info()["nodes"].values()))
        self.assertTrue(node["settings"]["path"]["data"])
        stats = next(iter(self.client.nodes.stats()["nodes"].values()))
        self.assertGreaterEqual(stats["os"]["cpu"]["percent"], 0)
        self.assertEqual(set(stats["os"]["swap"]), {"total_in_bytes", "free_in_bytes", "used_in_bytes"})
        for password, refused in (("", False), ("wrong", True)):
            body = {"secure_settings_password": password}
            reply = self.client.nodes.reload_secure_settings(body=body)
            node = next(iter(reply["nodes"].values()))
            self.assertEqual("reload_exception" in node, refused)
        shards = self.client.cat.shards(format="json", h="index,unassigned.reason")
        self.assertEqual(shards, [{"index": "i", "unassigned.reason": None}])
        plugins = self.client.cat.plugins(format="json")
        self.assertIn("opensearch-sql", [plugin["component"] for plugin in plugins])

    def test_typed_clients_find_every_member_that_they_demand(self):
        """opensearch-java refuses an answer that lacks one of these."""
        settings = {"analysis": {"analyzer": {"mine": {"tokenizer": "standard", "filter": ["lowercase"]}}}}
        mappings = {"properties": {"k": {"type": "keyword"}, "t": {"type": "text", "analyzer": "mine"}}}
        self.client.indices.create(index="i", body={"settings": settings, "mappings": mappings})
        self.index_all("i", {"1": {"k": "a"}, "2": {"k": "b"}})
        self.client.ingest.put_pipeline(id="p", body={"processors": []})
        self.addCleanup(self.client.ingest.delete_pipeline, id="p")
        (node,) = self.client.nodes.info()["nodes"].values()
        for of in ("http", "transport"):
            self.assertIn("default", node["settings"][of]["type"])
        self.assertEqual(node["process"]["refresh_interval_in_millis"], 1000)
        self.assertGreater(node["jvm"]["start_time_in_millis"], 0)
        for name in ("bundled_jdk", "using_bundled_jdk", "input_arguments"):
            self.assertIn(name, node["jvm"])
        for name in ("direct_max_in_bytes", "non_heap_init_in_bytes", "non_heap_max_in_bytes"):
            self.assertIn(name, node["jvm"]["mem"])
        (node,) = self.client.nodes.stats()["nodes"].values()
        self.assertIn("total_loaded_count", node["jvm"]["classes"])
        self.assertIn("timestamp", node["jvm"])
        self.assertIn("mount", node["fs"]["data"][0])
        self.assertIn("largest", node["thread_pool"]["search"])
        self.assertIn("total_auto_throttle_in_bytes", node["indices"]["merges"])
        self.assertIn("term_vectors_memory_in_bytes", node["indices"]["segments"])
        whole = self.client.cluster.stats()
        plugin = whole["nodes"]["plugins"][0]
        for name in ("classname", "version", "opensearch_version", "java_version", "extended_plugins"):
            self.assertIn(name, plugin)
        self.assertEqual(whole["nodes"]["ingest"]["number_of_pipelines"], 1)
        types = {one["name"]: one["count"] for one in whole["indices"]["mappings"]["field_types"]}
        self.assertEqual(types, {"keyword": 1, "text": 1})
        analysis = whole["indices"]["analysis"]
        self.assertEqual([one["name"] for one in analysis["analyzer_types"]], ["custom"])
        self.assertEqual([one["name"] for one in analysis["built_in_tokenizers"]], ["standard"])
        (shard,) = self.client.indices.stats(index="i", level="shards")["indices"]["i"]["shards"]["0"]
        self.assertEqual(shard["seq_no"], {"max_seq_no": 1, "local_checkpoint": 1, "global_checkpoint": 1})
        self.assertEqual(shard["retention_leases"]["leases"], [])
        self.assertFalse(shard["shard_path"]["is_custom_data_path"])
        (shard,) = self.client.indices.recovery(index="i")["i"]["shards"]
        self.assertIn("total_time_in_millis", shard["index"])
        self.assertGreaterEqual(shard["stop_time_in_millis"], shard["start_time_in_millis"])

    def test_sections_of_nodes_are_shown_alone(self):
        for path, shown in (("http,os", {"http", "os"}), ("_all/process", {"process"}), ("_local/_none", set())):
            (node,) = self.raw("GET", f"/_nodes/{path}")["nodes"].values()
            self.assertEqual({"http", "os", "process", "jvm", "settings", "plugins"} & set(node), shown, path)
            self.assertIn("roles", node)
        (node,) = self.raw("GET", "/_nodes/_all/_all")["nodes"].values()
        self.assertIn("jvm", node)

    def test_endpoints_are_counted_by_what_opensearch_calls_them(self):
        def asked(path="/_nodes/usage"):
            (node,) = self.raw("GET", path)["nodes"].values()
            return node
        before = asked()["rest_actions"]
        self.assertGreater(before["nodes_usage_action"], 0)
        self.client.index(index="i", body={"n": 1})
        self.client.index(index="i", id="1", body={"n": 1})
        self.client.search(index="i")
        self.client.count(index="i")
        self.client.count(index="i")
        with self.refused(400):
            self.raw("GET", "/i/_search", params={"unknown": 1})
        node = asked("/_nodes/_local/usage/rest_actions")
        more = {name: count - before.get(name, 0) for name, count in node["rest_actions"].items()}
        for name, count in (
            ("document_create_action_auto_id", 1), ("document_index_action", 1), ("search_action", 1), ("count_action", 2),
            ("nodes_usage_action", 1), ("main_action", 0),
        ):
            self.assertEqual(more.get(name, 0), count, name)
        self.assertLessEqual(node["since"], node["timestamp"])
        self.assertNotIn("rest_actions", asked("/_nodes/usage/aggregations"))
        with self.refused(400, "illegal_argument_exception", "request [/_nodes/usage/_all,rest_actions] contains _all and individual metrics"):
            asked("/_nodes/usage/_all,rest_actions")
        self.assertEqual(self.raw("GET", "/_nodes/other/usage")["nodes"], {})

    def test_sections_of_figures_that_opensearch_has_are_known(self):
        for name in ("search_backpressure", "weighted_routing", "repositories", "remote_store", "admission_control"):
            (node,) = self.raw("GET", f"/_nodes/stats/{name},os")["nodes"].values()
            self.assertIn("os", node, name)
        self.client.indices.create(index="searched")
        self.assertIn("search", self.client.indices.stats(metric="suggest")["_all"]["total"])
        with self.refused(400, "illegal_argument_exception"):
            self.raw("GET", "/_nodes/stats/nosuch")

    def test_scripts_are_counted_as_they_are_read(self):
        def read():
            (node,) = self.raw("GET", "/_nodes/stats/script,script_cache")["nodes"].values()
            self.assertEqual(node["script_cache"]["sum"], node["script"])
            return node["script"]["compilations"]
        before = read()
        self.client.indices.create(index="i")
        body = {"script_fields": {"x": {"script": {"source": "1 + 1"}}}}
        for _ in range(2):
            self.client.search(index="i", body=body)
        self.assertGreaterEqual(read(), before + 2)

    def test_what_there_is_none_of_is_told_as_none(self):
        self.assertEqual(self.raw("GET", "/_dangling")["dangling_indices"], [])
        self.assertEqual(self.raw("GET", "/_cat/segment_replication", params={"format": "json"}), [])
        told = self.client.cluster.reroute(body={}, metric="none")
        self.assertEqual((told["acknowledged"], list(told["state"])), (True, ["cluster_uuid"]))
        self.assertEqual(self.client.indices.stats(index="none*")["_all"], {"primaries": {}, "total": {}})
        with self.refused(400, "action_request_validation_exception", "repository is missing"):
            self.raw("GET", "/_cat/snapshots")

    def test_what_goes_on_after_its_answer_bears_its_clients_name(self):
        self.index_all("named", {str(n): {"n": n} for n in range(20)})
        body = {"source": {"index": "named", "size": 1}, "dest": {"index": "copied"}}
        started = self.raw("POST", "/_reindex", body, {"X-Opaque-Id": "mine"},
                           {"wait_for_completion": "false", "requests_per_second": "0.01"})
        named = {"headers": {"X-Opaque-Id": "mine"}}
        for told in (self.raw("GET", f"/_tasks/{started['task']}")["task"],
                     self.raw("GET", "/_tasks", params={"actions": "*reindex", "group_by": "none"})["tasks"][0]):
            self.assertEqual(told | named, told)
        row = self.raw("GET", "/_cat/tasks", params={"actions": "*reindex", "h": "x_opaque_id", "format": "json"})
        self.assertEqual(row, [{"x_opaque_id": "mine"}])
        self.client.tasks.cancel(task_id=started["task"])
        done = self.client.tasks.get(task_id=started["task"], wait_for_completion=True)
        self.assertEqual(done["task"] | named, done["task"])

    def test_an_answer_bears_what_its_client_calls_the_request(self):
        for path in ("/", "/_cat/indices", "/_tasks", "/nowhere/_search", "/_nothing"):
            request = urllib.request.Request(self.server.url + path, headers={"X-Opaque-Id": "mine"})
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    told = answer.headers
            except urllib.error.HTTPError as error:
                told = error.headers
            self.assertEqual(told["X-Opaque-Id"], "mine", path)
        with urllib.request.urlopen(self.server.url, timeout=60) as answer:
            self.assertIsNone(answer.headers["X-Opaque-Id"])

    def test_busy_threads_are_named(self):
        text = self.client.nodes.hot_threads(interval="20ms", threads=2, ignore_idle_threads=False)
        self.assertTrue(text.startswith("::: {clew-0}{"), text)
        self.assertIn("interval=20ms, busiestThreads=2, ignoreIdleThreads=false:", text)
        self.assertEqual(text.count("cpu usage by thread '"), 2)
        for wrong in [{"type": "network"}, {"interval": "2m"}, {"interval": "-1"}, {"interval": "soon"}]:
            with self.subTest(wrong), self.refused(400, "illegal_argument_exception"):
                self.client.nodes.hot_threads(params=wrong)
        self.assertEqual(self.client.nodes.hot_threads(node_id="nobody"), "")
