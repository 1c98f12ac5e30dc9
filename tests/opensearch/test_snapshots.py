"""Copies of indexes with other numbers of shards, and snapshots in repositories."""

from .base import ClewTest


class TestResize(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(
            index="source",
            body={
                "settings": {"number_of_shards": 2, "index.number_of_routing_shards": 4},
                "mappings": {"properties": {"n": {"type": "integer"}}},
            },
        )
        self.index_all("source", {str(n): {"n": n} for n in range(50)})

    def block(self):
        self.client.indices.put_settings(index="source", body={"index.blocks.write": True})

    def test_every_document_is_found_in_a_copy_with_other_shards(self):
        self.block()
        resized = (("clone", 2), ("shrink", 1), ("split", 4))
        for kind, shards in resized:
            target = f"by-{kind}"
            body = {"settings": {"index.number_of_shards": shards, "index.blocks.write": None}}
            getattr(self.client.indices, kind)(index="source", target=target, body=body)
            settings = self.client.indices.get_settings(index=target)[target]["settings"]["index"]
            self.assertEqual(settings["number_of_shards"], str(shards))
            self.assertNotIn("clew", settings)
            self.assertEqual(self.client.count(index=target)["count"], 50)
            for n in (0, 17, 49):
                self.assertEqual(self.client.get(index=target, id=str(n))["_source"], {"n": n})
            self.client.index(index=target, id="new", body={"n": 1})

    def test_what_cannot_be_copied_is_refused(self):
        with self.refused(500, "illegal_state_exception", "must block write operations to resize"):
            self.client.indices.clone(index="source", target="t")
        self.block()
        with self.refused(400, "illegal_argument_exception", "must be the same as"):
            body = {"settings": {"index.number_of_shards": 3}}
            self.client.indices.clone(index="source", target="t", body=body)
        with self.refused(400, "illegal_argument_exception", "index.clew.unfinished"):
            body = {"settings": {"index.clew.unfinished": "true"}}
            self.client.indices.clone(index="source", target="t", body=body)
        with self.refused(404, "index_not_found_exception"):
            self.client.indices.clone(index="nowhere", target="t")
        self.assertFalse(self.client.indices.exists(index="t"))


class TestSnapshots(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.snapshot.create_repository(
            repository="repo", body={"type": "fs", "settings": {"location": "place"}}
        )
        self.raw("DELETE", "/_snapshot/repo/*")
        self.client.indices.create(
            index="docs",
            body={
                "settings": {"number_of_shards": 2},
                "mappings": {"properties": {"v": {"type": "knn_vector", "dimension": 2}}},
                "aliases": {"other": {}},
            },
        )
        self.index_all("docs", {str(n): {"n": n, "v": [n, 1]} for n in range(30)})

    def take(self, name="s1", **body):
        return self.client.snapshot.create(
            repository="repo", snapshot=name, body=body, wait_for_completion=True
        )["snapshot"]

    def test_a_restored_index_is_what_it_was(self):
        self.assertEqual(self.take(indices="docs")["shards"]["successful"], 2)
        self.index_all("docs", {"later": {"n": 99}})
        body = {"rename_pattern": "(.+)", "rename_replacement": "restored-$1"}
        reply = self.client.snapshot.restore(
            repository="repo", snapshot="s1", body=body, wait_for_completion=True
        )
        self.assertEqual(reply["snapshot"]["indices"], ["restored-docs"])
        self.assertEqual(self.client.count(index="restored-docs")["count"], 30)
        self.assertEqual(
            self.client.get(index="restored-docs", id="3")["_source"]["v"], [3, 1]
        )
        mapping = self.client.indices.get_mapping(index="restored-docs")["restored-docs"]
        self.assertEqual(mapping["mappings"]["properties"]["v"]["dimension"], 2)
        self.assertTrue(self.client.indices.exists_alias(index="restored-docs", name="other"))

    def test_an_open_index_is_never_replaced_and_a_closed_one_is(self):
        self.take()
        self.index_all("docs", {"later": {"n": 99}})
        restore = {"repository": "repo", "snapshot": "s1", "wait_for_completion": True}
        with self.refused(500, "snapshot_restore_exception", "an open index with same name"):
            self.client.snapshot.restore(**restore)
        self.client.indices.close(index="docs")
        self.client.snapshot.restore(**restore)
        self.assertEqual(self.client.count(index="docs")["count"], 30)

    def test_names_and_places_are_checked(self):
        self.take()
        with self.refused(400, "invalid_snapshot_name_exception", "already exists"):
            self.take()
        with self.refused(400, "invalid_snapshot_name_exception", "must be lowercase"):
            self.take("S2")
        with self.refused(404, "snapshot_missing_exception", "[repo:none] is missing"):
            self.client.snapshot.get(repository="repo", snapshot="none")
        with self.refused(404, "repository_missing_exception", "[nowhere] missing"):
            self.client.snapshot.get(repository="nowhere", snapshot="s1")
        for location in ("../outside", "/tmp/outside", "a/../../b"):
            with self.refused(500, "repository_exception", "doesn't match any of the locations"):
                self.client.snapshot.create_repository(
                    repository="bad", body={"type": "fs", "settings": {"location": location}}
                )

    def test_snapshots_outlive_a_restart_and_go_when_they_are_deleted(self):
        self.take()
        self.restart()
        found = self.client.snapshot.get(repository="repo", snapshot="_all")["snapshots"]
        self.assertEqual([snapshot["snapshot"] for snapshot in found], ["s1"])
        status = self.client.snapshot.status(repository="repo", snapshot="s1")["snapshots"][0]
        self.assertEqual(status["stats"]["total"]["file_count"], 2)
        self.client.snapshot.delete(repository="repo", snapshot="s1")
        found = self.client.snapshot.get(repository="repo", snapshot="_all")["snapshots"]
        self.assertEqual(found, [])
