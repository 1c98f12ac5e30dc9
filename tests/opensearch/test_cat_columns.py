"""Columns of `_cat` and sections of `_stats` that are there only where they are asked for."""

from .base import ClewTest


class CatColumnsTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="a", body={"settings": {"number_of_shards": 1, "number_of_replicas": 0}})
        self.index_all("a", {"1": {"n": 1}, "2": {"n": 2}, "3": {"n": 3}})

    def test_patterns_find_the_columns_of_primaries(self):
        everything = self.client.cat.indices(format="json", h="*")[0]
        self.assertEqual(everything["docs.count"], "3")
        self.assertIn("pri.merges.total", everything)
        names = list(everything)
        self.assertEqual(names[names.index("flush.total") + 1], "pri.flush.total")
        self.assertEqual(set(self.client.cat.indices(format="json", h="pri.get.t*")[0]), {"pri.get.time", "pri.get.total"})

    def test_what_there_is_none_of_is_told_as_numbers(self):
        indices, shards, nodes = (table(format="json", h="*")[0] for table in (self.client.cat.indices, self.client.cat.shards, self.client.cat.nodes))
        for row in (indices, shards, nodes):
            told = {"indexing.delete_time": "0s", "indexing.index_failed": "0", "merges.current_size": "0b", "search.scroll_current": "0",
                    "search.point_in_time_time": "0s", "search.concurrent_avg_slice_count": "0.0", "segments.version_map_memory": "0b"}
            self.assertEqual({name: row[name] for name in told}, told)
        self.assertEqual([name for name, value in indices.items() if value is None], [])
        self.assertGreaterEqual(int(nodes["script.compilations"]), 0)

    def test_shards_tell_their_last_operation_and_where_they_are(self):
        shard = self.client.cat.shards(format="json", h="seq_no.max,sql,seq_no.global_checkpoint,path.data")[0]
        self.assertEqual([shard["seq_no.max"], shard["sql"], shard["seq_no.global_checkpoint"]], ["2", "2", "2"])
        self.assertTrue(shard["path.data"])

    def test_stats_of_single_fields_are_there_where_they_are_asked_for(self):
        for params, sections in [
            ({}, set()), ({"fields": "*"}, {"fielddata", "completion"}),
            ({"fielddata_fields": "x"}, {"fielddata"}), ({"completion_fields": "x"}, {"completion"}),
        ]:
            stats = self.raw("GET", "/a/_stats", params=params)
            node = next(iter(self.raw("GET", "/_nodes/stats/indices", params=params)["nodes"].values()))
            for told in (stats["_all"]["total"], stats["indices"]["a"]["primaries"], node["indices"]):
                self.assertEqual({name for name in ("fielddata", "completion") if "fields" in told[name]}, sections)

    def test_a_request_has_one_of_the_two_names_of_a_time(self):
        both = {"master_timeout": "1s", "cluster_manager_timeout": "1s"}
        with self.refused(400, "parse_exception", "Please only use one of the request parameters [master_timeout, cluster_manager_timeout]."):
            self.raw("GET", "/_cluster/health", params=both)

    def test_values_that_mean_nothing_here_are_looked_at(self):
        for path, params, kind, reason in [
            ("/_cluster/health", {"wait_for_nodes": ">=x"}, "number_format_exception", 'For input string: "x"'),
            ("/_cluster/health", {"wait_for_no_relocating_shards": "x"}, "illegal_argument_exception", "Failed to parse value [x] as only [true] or [false] are allowed."),
            ("/_cluster/health", {"ensure_node_weighed_in": "true"}, "action_request_validation_exception", "not a local request to ensure local node commissioned or weighed in"),
            ("/_segments", {"verbose": "x"}, "illegal_argument_exception", "Failed to parse value [x] as only [true] or [false] are allowed."),
        ]:
            with self.refused(400, kind, reason):
                self.raw("GET", path, params=params)

    def test_tables_that_no_manager_is_asked_for_take_no_time_to_wait_for_one(self):
        for table in ("count", "health", "recovery", "tasks", "fielddata", "segment_replication", "pit_segments/_all"):
            for name in ("local", "master_timeout", "cluster_manager_timeout", "full_id"):
                with self.refused(400, "illegal_argument_exception", f"request [/_cat/{table}] contains unrecognized parameter: [{name}]"):
                    self.raw("GET", f"/_cat/{table}", params={name: "true" if name in ("local", "full_id") else "1s"})
        self.raw("GET", "/_cat/aliases", params={"local": "true"})
        self.raw("GET", "/_cat/nodes", params={"full_id": "true", "local": "true", "master_timeout": "1s"})
        with self.refused(400):
            self.raw("GET", "/_cat/indices", params={"full_id": "true"})
