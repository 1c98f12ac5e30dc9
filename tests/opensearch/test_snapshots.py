"""Copies of indexes with other numbers of shards, and snapshots in repositories."""

import concurrent.futures
import json
import pathlib
import struct

from opensearchpy.exceptions import TransportError

from .base import ClewTest

# Fields whose documents have more rows than themselves, routing keys of their own, or values that are
# not in their source as it is stored.
COMPOSED = {
    "properties": {
        "v": {"type": "knn_vector", "dimension": 2},
        "family": {"type": "join", "relations": {"parent": "child"}},
        "query": {"type": "percolator"},
        "outer": {
            "type": "nested",
            "properties": {"inner": {"type": "nested"}, "word": {"type": "keyword"}},
        },
    }
}


def crc32c(data):
    """The checksum that the files of a snapshot carry."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


def fill_composed(test, index, shards):
    """Makes an index of such documents: some written twice, one deleted."""
    body = {"settings": {"number_of_shards": shards}, "mappings": COMPOSED}
    test.client.indices.create(index=index, body=body)
    inner = [{"word": "a"}, {"word": "b"}]
    for n in list(range(12)) + [3, 4, 11]:
        child = n % 3 == 0
        source = {
            "v": [n, 1],
            "family": {"name": "child", "parent": "1"} if child else "parent",
            "query": {"term": {"outer.word": f"w{n}"}},
            "outer": [{"word": f"w{n}", "inner": inner}, {"inner": inner}],
        }
        options = {"routing": "1"} if child else {}
        test.client.index(index=index, id=str(n), body=source, **options)
        if n == 6:
            test.client.indices.refresh(index=index)
    test.client.delete(index=index, id="11")
    test.client.indices.refresh(index=index)


def every_document(test, index):
    """Everything that an index tells of each of its documents."""
    hits = test.client.search(
        index=index, body={"size": 100, "version": True, "query": {"match_all": {}}}
    )["hits"]["hits"]
    return {hit["_id"]: [hit.get("_routing"), hit["_version"], hit["_source"]] for hit in hits}


def nested_hits(test, index):
    query = {"nested": {"path": "outer", "query": {"term": {"outer.word": "w4"}}}}
    return test.ids(index, query=query)


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

    def test_documents_of_several_rows_are_copied_whole(self):
        fill_composed(self, "composed", 2)
        body = {"index.blocks.write": True}
        self.client.indices.put_settings(index="composed", body=body)
        before = every_document(self, "composed")
        self.assertEqual((len(before), before["3"][:2]), (11, ["1", 2]))
        for kind, shards in (("clone", 2), ("shrink", 1), ("split", 4)):
            body = {"settings": {"index.number_of_shards": shards}}
            resize = getattr(self.client.indices, kind)
            resize(index="composed", target=f"{kind}-composed", body=body)
            self.assertEqual(every_document(self, f"{kind}-composed"), before, kind)
            self.assertEqual(nested_hits(self, f"{kind}-composed"), ["4"])

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

    def restore_composed(self):
        body = {"indices": "composed", "rename_pattern": "(.+)", "rename_replacement": "back-$1"}
        self.client.snapshot.restore(
            repository="repo", snapshot="s1", body=body, wait_for_completion=True
        )

    def test_documents_of_several_rows_are_restored_whole(self):
        fill_composed(self, "composed", 2)
        self.take(indices="composed")
        self.restore_composed()
        before = every_document(self, "composed")
        self.assertEqual(len(before), 11)
        self.assertEqual(every_document(self, "back-composed"), before)
        self.assertEqual(nested_hits(self, "back-composed"), ["4"])

    def test_a_snapshot_that_has_rows_of_nested_objects_is_restored(self):
        fill_composed(self, "composed", 1)
        self.take(indices="composed")
        # As early builds wrote it: a record without id for each row of a nested object.
        uuid = self.client.snapshot.get(repository="repo", snapshot="s1")["snapshots"][0]["uuid"]
        folder = next(pathlib.Path(self.server.data).glob(f"**/{uuid}/0-0.docs")).parent
        path = folder / "0-0.docs"
        row = struct.pack("<QQHHI", 1, 0, 0, 0xFFFF, 0)
        content = path.read_bytes()
        content = content[:8] + row + row + content[8:] + row
        path.write_bytes(content)
        manifest = json.loads((folder / "manifest.json").read_bytes()[9:])
        file = manifest["content"]["indices"][0]["files"][0]
        file.update(
            documents=file["documents"] + 3, bytes=len(content), crc32c=crc32c(content)
        )
        text = json.dumps(manifest).encode()
        (folder / "manifest.json").write_bytes(b"%08x\n" % crc32c(text) + text)
        self.restore_composed()
        before = every_document(self, "composed")
        self.assertEqual(every_document(self, "back-composed"), before)

    def test_a_snapshot_that_cannot_be_read_is_not_told_to_be_missing(self):
        self.take()
        self.take("s2")
        uuid = self.client.snapshot.get(repository="repo", snapshot="s1")["snapshots"][0]["uuid"]
        path = next(pathlib.Path(self.server.data).glob(f"**/{uuid}/manifest.json"))
        content = bytearray(path.read_bytes())
        content[100] ^= 1
        path.write_bytes(content)
        client = self.client.snapshot
        named = {"repository": "repo", "snapshot": "s1"}
        for ask in (
            lambda: client.get(**named),
            lambda: client.get(repository="repo", snapshot="_all"),
            lambda: client.get(repository="repo", snapshot="s*"),
            lambda: client.status(**named),
            lambda: client.delete(**named),
            lambda: client.restore(**named, wait_for_completion=True),
            lambda: client.clone(**named, target_snapshot="s3", body={"indices": "docs"}),
            lambda: self.client.cat.snapshots(repository="repo"),
        ):
            with self.refused(500, "snapshot_exception", f"[repo:{uuid}] failed to get snapshots") as caught:
                ask()
            within = caught.exception.info["error"]["caused_by"]
            self.assertEqual(within["type"], "corrupt_index_exception")
            self.assertIn(f"{uuid}/manifest.json is corrupt", within["reason"])
        # The others are well, and one can ask for them alone.
        for shown in (
            client.get(repository="repo", snapshot="s2"),
            client.get(repository="repo", snapshot="_all", ignore_unavailable=True),
        ):
            self.assertEqual([one["snapshot"] for one in shown["snapshots"]], ["s2"])
        listed = self.client.cat.snapshots(repository="repo", ignore_unavailable=True, format="json")
        self.assertEqual([one["id"] for one in listed], ["s2"])
        # A manifest of somebody else's in the same folder says nothing of snapshots.
        path.rename(path.parent.parent / "else.json")
        other = path.parent.parent / "other"
        other.mkdir()
        (path.parent.parent / "else.json").rename(other / "manifest.json")
        self.assertEqual(client.get(repository="repo", snapshot="_all"), client.get(repository="repo", snapshot="s2"))

    def test_an_open_index_is_never_replaced_and_a_closed_one_is(self):
        self.take()
        self.index_all("docs", {"later": {"n": 99}})
        restore = {"repository": "repo", "snapshot": "s1", "wait_for_completion": True}
        with self.refused(500, "snapshot_restore_exception", "an open index with same name"):
            self.client.snapshot.restore(**restore)
        self.client.indices.close(index="docs")
        self.client.snapshot.restore(**restore)
        self.assertEqual(self.client.count(index="docs")["count"], 30)

    def test_none_are_running_in_a_repository_that_there_is_not(self):
        self.assertEqual(self.client.snapshot.status(repository="none"), {"snapshots": []})
        with self.refused(404, "repository_missing_exception", "[none] missing"):
            self.client.snapshot.status(repository="none", snapshot="s")

    def test_names_and_places_are_checked(self):
        self.take()
        with self.refused(400, "invalid_snapshot_name_exception", "already exists"):
            self.take()
        with self.refused(400, "invalid_snapshot_name_exception", "must be lowercase"):
            self.take("S2")
        with self.refused(404, "snapshot_missing_exception", "[repo:none] is missing"):
            self.client.snapshot.get(repository="repo", snapshot="none")
        with self.refused(404, "snapshot_missing_exception", "[repo:none*] is missing"):
            self.client.snapshot.get(repository="repo", snapshot="none*")
        found = self.client.snapshot.get(repository="repo", snapshot="none*", ignore_unavailable=True)
        self.assertEqual(found["snapshots"], [])
        shards = "UnmodifiableOnRestore setting [index.number_of_shards] on restore"
        for snapshot, body, reason in [
            ("none", {}, "[repo:none] snapshot does not exist"),
            ("s1", {"index_settings": {"index.number_of_shards": 4}}, f"cannot modify {shards}"),
            ("s1", {"ignore_index_settings": "index.number_of_shards"}, f"cannot remove {shards}"),
        ]:
            with self.refused(500, "snapshot_restore_exception", reason):
                self.client.snapshot.restore(repository="repo", snapshot=snapshot, body=body)
        with self.refused(404, "repository_missing_exception", "[nowhere] missing"):
            self.client.snapshot.get(repository="nowhere", snapshot="s1")
        for location in ("../outside", "/tmp/outside", "a/../../b"):
            with self.refused(500, "repository_exception", "[bad] failed to create repository") as caught:
                self.client.snapshot.create_repository(
                    repository="bad", body={"type": "fs", "settings": {"location": location}}
                )
            [root] = caught.exception.info["error"]["root_cause"]
            self.assertIn("doesn't match any of the locations", root["reason"])
        for params, reason in [
            ({"slices": "x"}, '[slices] must be a positive integer or the string "auto", but was [x]'),
            ({"requests_per_second": "x"}, "[requests_per_second] must be a float greater than 0."),
        ]:
            with self.refused(400, "illegal_argument_exception", reason) as caught:
                self.client.update_by_query(index="docs", params=params)
            within = caught.exception.info["error"]["caused_by"]
            self.assertEqual(within, {"type": "number_format_exception", "reason": 'For input string: "x"'})

    def test_a_name_that_is_taken_is_refused_before_anything_is_accepted(self):
        self.take()
        with self.refused(400, "invalid_snapshot_name_exception", "already exists"):
            self.client.snapshot.create(repository="repo", snapshot="s1")

    def test_a_clone_has_the_indexes_that_are_asked_for(self):
        self.take()
        self.client.snapshot.clone(
            repository="repo", snapshot="s1", target_snapshot="s2", body={"indices": "doc*"}
        )
        cloned = self.client.snapshot.get(repository="repo", snapshot="s2")["snapshots"][0]
        self.assertEqual((cloned["state"], cloned["indices"]), ("SUCCESS", ["docs"]))
        self.client.snapshot.delete(repository="repo", snapshot="s1")
        body = {"rename_pattern": "docs", "rename_replacement": "again"}
        self.client.snapshot.restore(
            repository="repo", snapshot="s2", body=body, wait_for_completion=True
        )
        for name in ("docs", "again"):
            self.client.indices.refresh(index=name)
        self.assertEqual(self.client.count(index="again"), self.client.count(index="docs"))
        clone = {"repository": "repo", "snapshot": "s2"}
        with self.refused(400, "invalid_snapshot_name_exception", "already exists"):
            self.client.snapshot.clone(**clone, target_snapshot="s2", body={"indices": "docs"})
        with self.refused(500, "snapshot_exception", "No indices in the source snapshot [s2/"):
            self.client.snapshot.clone(**clone, target_snapshot="s3", body={"indices": "nothing*"})
        with self.refused(404, "index_not_found_exception", "no such index [nothing]"):
            self.client.snapshot.clone(**clone, target_snapshot="s3", body={"indices": "docs,nothing"})
        with self.refused(404, "snapshot_missing_exception", "[repo:s1] is missing"):
            self.client.snapshot.clone(
                repository="repo", snapshot="s1", target_snapshot="s3", body={"indices": "docs"}
            )

    def test_a_deletion_takes_snapshots_along_that_are_being_taken(self):
        self.index_all("docs", {str(n): {"n": n, "t": "word " * 20} for n in range(5000)})
        for round_, named in enumerate(["s1", "s*", "_all", "*", "s1,x*"] * 2):
            with self.subTest(round=round_, named=named):
                self.client.snapshot.create(repository="repo", snapshot="s1")
                self.assertTrue(self.client.snapshot.delete(repository="repo", snapshot=named)["acknowledged"])
                for left in ("_current", "_all"):
                    found = self.client.snapshot.get(repository="repo", snapshot=left)
                    self.assertEqual(found["snapshots"], [])
        # What was given up has left nothing.
        self.assertEqual(self.raw("POST", "/_snapshot/repo/_cleanup")["results"]["deleted_blobs"], 0)
        with self.refused(404, "snapshot_missing_exception", "[repo:s2] is missing"):
            self.client.snapshot.delete(repository="repo", snapshot="s*,s2")

    def test_of_deletions_at_once_one_deletes(self):
        def delete(_):
            try:
                self.client.snapshot.delete(repository="repo", snapshot="s1")
            except TransportError as refused:
                return refused.status_code
            return 200

        for _ in range(5):
            self.take()
            with concurrent.futures.ThreadPoolExecutor(8) as threads:
                told = sorted(threads.map(delete, range(8)))
            self.assertEqual(told, [200] + [404] * 7)

    def test_a_cleaning_takes_nothing_of_a_snapshot_that_is_being_taken(self):
        self.index_all("docs", {str(n): {"n": n, "t": "word " * 20} for n in range(5000)})
        for number in range(5):
            self.client.snapshot.create(repository="repo", snapshot=f"s{number}")
            try:
                cleaned = self.raw("POST", "/_snapshot/repo/_cleanup")
                self.assertEqual(cleaned["results"]["deleted_blobs"], 0)
            except TransportError as refused:
                error = refused.info["error"]
                self.assertEqual(error["type"], "illegal_state_exception")
                self.assertIn("a snapshot is currently running in [repo:s", error["reason"])
        taken = {f"s{number}" for number in range(5)}
        self.until(self.states, {name: "SUCCESS" for name in taken})

    def test_a_folder_that_several_look_at_at_once_can_be_written_to(self):
        def put(number):
            body = {"type": "fs", "settings": {"location": "same"}}
            self.client.snapshot.create_repository(repository=f"same{number % 8}", body=body)

        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            list(threads.map(put, range(600)))
        self.client.snapshot.delete_repository(repository="same*")

    def states(self):
        found = self.client.snapshot.get(repository="repo", snapshot="_all")["snapshots"]
        return {snapshot["snapshot"]: snapshot["state"] for snapshot in found}

    def test_a_repository_that_is_written_to_is_not_taken_away_by_a_pattern(self):
        self.index_all("docs", {str(n): {"n": n, "t": "word " * 20} for n in range(5000)})
        self.client.snapshot.create(repository="repo", snapshot="s1")
        try:
            self.client.snapshot.delete_repository(repository="rep*")
        except TransportError as refused:
            self.assertEqual(refused.info["error"]["type"], "illegal_state_exception")
            self.until(self.states, {"s1": "SUCCESS"})
        else:
            # It was complete before, then.
            self.client.snapshot.create_repository(
                repository="repo", body={"type": "fs", "settings": {"location": "place"}}
            )
            self.assertEqual(self.states(), {"s1": "SUCCESS"})

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
