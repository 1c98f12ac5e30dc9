"""Documents by id: write, read, change, delete."""

import json
import urllib.request

from opensearchpy.exceptions import NotFoundError, TransportError

from .base import ClewTest


class Documents(ClewTest):
    def test_a_write_that_wants_more_copies_than_there_are_is_refused(self):
        for index, replicas in (("one", 0), ("two", 1)):
            settings = {"number_of_shards": 1, "number_of_replicas": replicas}
            self.client.indices.create(index=index, body={"settings": settings})
        self.index_all("one", {"1": {"n": 1}})
        enough = {"wait_for_active_shards": "all"}
        self.client.index(index="one", id="1", body={"n": 2}, params=enough, refresh=True)
        lacks = {"wait_for_active_shards": 2}
        words = "[one][0] Not enough active copies to meet shard count of [2] (have 1, needed 2). Timeout: [1m]"
        with self.refused(503, "unavailable_shards_exception", words):
            self.client.index(index="one", id="1", body={"n": 3}, params=lacks)
        with self.refused(503, "unavailable_shards_exception", "shard count of [ALL] (have 1, needed 2)"):
            self.client.index(index="two", id="1", body={"n": 3}, params=enough)
        lines = [{"index": {"_index": "one", "_id": "1"}}, {"n": 3}, {"delete": {"_index": "one", "_id": "1"}}]
        for item in self.client.bulk(body=lines, params=lacks)["items"]:
            [told] = item.values()
            self.assertEqual((told["status"], told["error"]["reason"]), (503, words))
        for ask in (self.client.update_by_query, self.client.delete_by_query):
            with self.assertRaises(TransportError) as caught:
                ask(index="one", body={"query": {"match_all": {}}}, params=lacks)
            self.assertEqual(caught.exception.status_code, 503)
            [failure] = caught.exception.info["failures"]
            self.assertEqual(failure["cause"]["reason"], words)
        self.assertEqual(self.client.get(index="one", id="1")["_source"], {"n": 2})

    def test_errors_about_a_document_name_its_shard(self):
        self.client.indices.create(index="named", body={"settings": {"number_of_shards": 1}})
        self.client.index(index="named", id="1", body={})
        for ask in (
            lambda: self.client.create(index="named", id="1", body={}),
            lambda: self.client.update(index="named", id="none", body={"doc": {}}),
            lambda: self.client.get(index="named", id="1", params={"version": 9}),
        ):
            with self.assertRaises(TransportError) as caught:
                ask()
            error = caught.exception.info["error"]
            self.assertEqual((error["index"], error["shard"]), ("named", "0"), error)
            self.assertTrue(error["index_uuid"])
        docs = [{"_id": "1", "version": 9}, {"_id": "1", "version": 9, "version_type": "force"}]
        wrong, forced = self.client.mget(index="named", body={"docs": docs})["docs"]
        self.assertEqual(wrong["error"]["type"], "version_conflict_engine_exception")
        self.assertTrue(forced["found"])

    def test_what_a_read_by_id_says_is_looked_at(self):
        self.client.index(index="books", id="1", body={"n": 1})
        for path, params, told in (
            ("_doc", {"version_type": "nope"}, "No version type match [nope]"),
            ("_doc", {"preference": "_nope"}, "no Preference for [_nope]"),
            ("_source", {"preference": "_nope"}, "no Preference for [_nope]"),
        ):
            with self.subTest(path=path, params=params), self.refused(400, "illegal_argument_exception", told):
                self.client.transport.perform_request("GET", f"/books/{path}/1", params=params)
        for member, kind, told in (
            ({"version": "x"}, "illegal_argument_exception", 'For input string: "x"'),
            ({"version_type": "x"}, "illegal_argument_exception", "No version type match [x]"),
            ({"fields": ["n"]}, "parsing_exception", "Unsupported field [fields] used, expected [stored_fields] instead"),
        ):
            with self.subTest(member=member), self.refused(400, kind, told):
                self.client.mget(index="books", body={"docs": [{"_id": "1", **member}]})
        [found] = self.client.mget(index="books", body={"docs": [{"_id": "1", "version": "1"}]})["docs"]
        self.assertTrue(found["found"])

    def test_a_document_is_created_replaced_read_and_deleted(self):
        created = self.client.index(index="books", id="1", body={"title": "Ulysses", "price": 1.50})
        self.assertEqual(created["result"], "created")
        self.assertEqual((created["_version"], created["_seq_no"]), (1, 0))
        self.assertEqual(created["_shards"], {"total": 1, "successful": 1, "failed": 0})
        updated = self.client.index(index="books", id="1", body={"title": "Dubliners"})
        self.assertEqual((updated["result"], updated["_version"]), ("updated", 2))
        found = self.client.get(index="books", id="1")
        self.assertTrue(found["found"])
        self.assertEqual(found["_source"], {"title": "Dubliners"})
        self.assertEqual(found["_version"], 2)
        self.assertTrue(self.client.exists(index="books", id="1"))
        self.assertEqual(self.client.get_source(index="books", id="1"), {"title": "Dubliners"})
        self.assertEqual(self.client.delete(index="books", id="1")["result"], "deleted")
        self.assertFalse(self.client.exists(index="books", id="1"))
        with self.refused(404):
            self.client.delete(index="books", id="1")

    def test_a_missing_document_is_not_found(self):
        self.client.indices.create(index="books")
        with self.assertRaises(NotFoundError) as caught:
            self.client.get(index="books", id="9")
        self.assertEqual(caught.exception.info, {"_index": "books", "_id": "9", "found": False})
        with self.refused(404, "resource_not_found_exception"):
            self.client.get_source(index="books", id="9")

    def test_an_id_is_made_when_none_is_given(self):
        first = self.client.index(index="books", body={"n": 1})
        second = self.client.index(index="books", body={"n": 2})
        self.assertNotEqual(first["_id"], second["_id"])
        self.assertEqual(self.client.get(index="books", id=second["_id"])["_source"], {"n": 2})

    def test_a_refused_document_leaves_no_fields_behind(self):
        fields = lambda: self.client.indices.get_mapping(index="books")["books"]["mappings"].get("properties", {})
        template = {"s": {"match": "s_*", "mapping": {"type": "keyword"}}}
        self.client.indices.create(index="books", body={"mappings": {
            "dynamic_templates": [template], "numeric_detection": True, "properties": {"n": {"type": "long"}}}})
        before = fields()
        for document in ({"new": 1, "n": "x"}, {"n": "x", "new": {"in": "a"}}, {"new": "5", "nan": "NaN"},
                         {"new": True, "s_o": {"x": 1}}, {"new": ["x"], "new.y": 1}):
            with self.subTest(document=document), self.refused(400):
                self.client.index(index="books", id="1", body=document)
            self.assertEqual(fields(), before, document)
        lines = [{"index": {"_id": "1"}}, {"bad": 1, "n": "x"}, {"index": {"_id": "2"}}, {"good": 1, "n": 2},
                 {"update": {"_id": "2"}}, {"doc": {"worse": 1, "n": "x"}}]
        answer = self.client.bulk(index="books", body=lines)
        self.assertEqual([next(iter(item.values()))["status"] for item in answer["items"]], [400, 201, 400])
        self.assertEqual(sorted(fields()), ["good", "n"])

    def test_ids_may_hold_any_character(self):
        for identity in ["a b", "a/b", "ü+%", "_bulk", "..", "1#2?3"]:
            self.client.index(index="books", id=identity, body={"id": identity})
            self.assertEqual(
                self.client.get(index="books", id=identity)["_source"], {"id": identity}
            )

    def test_create_refuses_an_existing_document(self):
        self.client.create(index="books", id="1", body={"n": 1})
        with self.refused(409, "version_conflict_engine_exception", "document already exists"):
            self.client.create(index="books", id="1", body={"n": 2})
        with self.refused(409, "version_conflict_engine_exception"):
            self.client.index(index="books", id="1", body={"n": 2}, op_type="create")
        self.assertEqual(self.client.get(index="books", id="1")["_source"], {"n": 1})

    def test_create_takes_no_version_from_elsewhere(self):
        reason = "create operations only support internal versioning. use index instead"
        for version in [0, 5]:
            with self.subTest(version), self.refused(400, "action_request_validation_exception", reason):
                self.client.create(index="books", id="1", body={}, version=version, version_type="external")
        reason = "create operations do not support compare and set. use index instead"
        with self.refused(400, "action_request_validation_exception", reason):
            self.raw("PUT", "/books/_create/1", body={}, params={"if_seq_no": 1, "if_primary_term": 1})

    def test_several_documents_are_asked_for_by_known_members(self):
        self.client.index(index="books", id="1", body={})
        for member in ["_routing", "_version"]:
            with self.subTest(member), self.refused(400, "parse_exception", f"unknown field [{member}]"):
                self.client.mget(body={"docs": [{"_index": "books", "_id": "1", member: 1}]})

    def test_a_condition_must_hold(self):
        first = self.client.index(index="books", id="1", body={"n": 1})
        here = {"if_seq_no": first["_seq_no"], "if_primary_term": first["_primary_term"]}
        self.client.index(index="books", id="1", body={"n": 2}, **here)
        with self.refused(409, "version_conflict_engine_exception"):
            self.client.index(index="books", id="1", body={"n": 3}, **here)
        with self.refused(409, "version_conflict_engine_exception"):
            self.client.delete(index="books", id="1", **here)

    def test_an_update_merges_upserts_and_sees_when_nothing_changes(self):
        self.client.index(index="books", id="0", body={})
        with self.refused(404, "document_missing_exception"):
            self.client.update(index="books", id="1", body={"doc": {"n": 1}})
        upsert = {"doc": {"n": 1}, "upsert": {"n": 0, "a": {"x": 1}}}
        self.assertEqual(
            self.client.update(index="books", id="1", body=upsert)["result"], "created"
        )
        merged = self.client.update(
            index="books", id="1", body={"doc": {"a": {"y": 2}}}, _source=True
        )
        self.assertEqual(merged["result"], "updated")
        self.assertEqual(merged["get"]["_source"], {"n": 0, "a": {"x": 1, "y": 2}})
        noop = self.client.update(index="books", id="1", body={"doc": {"n": 0}})
        self.assertEqual((noop["result"], noop["_version"]), ("noop", merged["_version"]))
        forced = self.client.update(
            index="books", id="1", body={"doc": {"n": 0}, "detect_noop": False}
        )
        self.assertEqual(forced["result"], "updated")
        made = self.client.update(
            index="books", id="2", body={"doc": {"n": 5}, "doc_as_upsert": True}
        )
        self.assertEqual(made["result"], "created")

    def test_a_source_is_filtered_and_otherwise_returned_byte_by_byte(self):
        source = '{"price": 1.10, "big": 12345678901234567890123, "o": {"a": 1, "b": 2}}'
        self.client.indices.create(index="books", body={"mappings": {"dynamic": False}})
        self.raw("PUT", "/books/_doc/1", body=source)
        found = self.client.get(index="books", id="1", _source_includes="o.*", _source_excludes="o.b")
        self.assertEqual(found["_source"], {"o": {"a": 1}})
        self.assertNotIn("_source", self.client.get(index="books", id="1", _source=False))
        with urllib.request.urlopen(self.server.url + "/books/_source/1") as reply:
            self.assertEqual(reply.read().decode(), source)

    def test_several_documents_are_read_at_once(self):
        self.index_all("books", {"1": {"n": 1, "m": 1}, "2": {"n": 2}})
        docs = self.client.mget(index="books", body={"ids": ["1", "9", "2"]})["docs"]
        self.assertEqual([doc["found"] for doc in docs], [True, False, True])
        docs = self.client.mget(
            body={
                "docs": [
                    {"_index": "books", "_id": "1", "_source": ["m"]},
                    {"_index": "none", "_id": "1"},
                ]
            }
        )["docs"]
        self.assertEqual(docs[0]["_source"], {"m": 1})
        self.assertEqual(docs[1]["error"]["type"], "index_not_found_exception")

    def test_an_update_leaves_a_document_its_routing_key(self):
        self.client.indices.create(index="books", body={"settings": {"number_of_shards": 1}})
        key = lambda id: self.client.get(index="books", id=id).get("_routing")
        for id, routing in (("1", {"routing": "r"}), ("2", {})):
            # What was written just now, and what lies in a segment.
            for refresh in ("false", "true"):
                self.client.index(index="books", id=id, body={"n": 1}, params={**routing, "refresh": refresh})
                for body in ({"doc": {"n": 2}}, {"script": "ctx._source.n += 1"}):
                    for other in ({}, {"routing": "q"}):
                        self.client.update(index="books", id=id, body=body, params=other)
                        self.assertEqual(key(id), routing.get("routing"), (body, other))
        self.client.update(index="books", id="3", body={"doc": {"n": 1}, "doc_as_upsert": True}, params={"routing": "q"})
        self.assertEqual(key("3"), "q")
        # Through pipelines, too.
        self.client.ingest.put_pipeline(id="p", body={"processors": [{"set": {"field": "x", "value": 1}}]})
        self.client.indices.put_settings(index="books", body={"index.default_pipeline": "p"})
        self.client.update(index="books", id="1", body={"doc": {"n": 5}})
        self.assertEqual((key("1"), self.client.get(index="books", id="1")["_source"]), ("r", {"n": 5, "x": 1}))

    def test_an_empty_routing_key_is_none(self):
        self.client.indices.create(index="books", body={"settings": {"number_of_shards": 5}})
        for id in "123456":
            self.raw("PUT", f"/books/_doc/{id}?routing=", body={"n": 1})
            self.client.bulk(index="books", body=[{"index": {"_id": f"b{id}", "routing": ""}}, {"n": 1}])
            self.raw("POST", f"/books/_update/{id}?routing=", body={"doc": {"n": 2}})
            self.assertEqual(self.client.get(index="books", id=id)["_source"], {"n": 2})
            self.assertNotIn("_routing", self.client.get(index="books", id=f"b{id}"))
        required = {"mappings": {"_routing": {"required": True}}}
        self.client.indices.create(index="routed", body=required)
        with self.refused(400, "routing_missing_exception"):
            self.raw("PUT", "/routed/_doc/1?routing=", body={"n": 1})

    def test_routing_decides_where_a_document_is(self):
        body = {"settings": {"number_of_shards": 8}}
        self.client.indices.create(index="books", body=body)
        self.client.index(index="books", id="1", body={"n": 1}, routing="r", refresh=True)
        self.assertEqual(self.client.get(index="books", id="1", routing="r")["_routing"], "r")
        hit = self.client.search(index="books")["hits"]["hits"][0]
        self.assertEqual((hit["_id"], hit["_routing"]), ("1", "r"))

    def test_a_read_waits_for_the_position_of_a_write(self):
        settings = {"settings": {"refresh_interval": "-1"}}
        self.client.indices.create(index="books", body=settings)
        request = urllib.request.Request(
            self.server.url + "/books/_doc/1",
            data=b'{"n": 1}',
            method="PUT",
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as reply:
            glsn = int(reply.headers["X-Clew-Glsn"])
        self.assertGreater(glsn, 0)
        url = f"{self.server.url}/books/_search?after_glsn={glsn}"
        with urllib.request.urlopen(url) as reply:
            self.assertEqual(json.load(reply)["hits"]["total"]["value"], 1)

    def test_refresh_makes_a_write_visible_before_its_answer(self):
        for identity, refresh in enumerate(["true", "wait_for"]):
            self.client.index(index="books", id=str(identity), body={"n": 1}, refresh=refresh)
            found = self.client.search(index="books")["hits"]["total"]["value"]
            self.assertEqual(found, identity + 1)
