"""Many writes in one request."""

import gzip

from .base import ClewTest


class Bulk(ClewTest):
    def test_every_action_has_its_own_item_in_order(self):
        mapping = {"mappings": {"properties": {"n": {"type": "integer"}}}}
        self.client.indices.create(index="i", body=mapping)
        self.client.index(index="i", id="old", body={"n": 1})
        reply = self.client.bulk(
            index="i",
            body=[
                {"index": {"_id": "1"}},
                {"n": 1},
                {"index": {"_id": "2"}},
                {"n": "no number"},
                {"create": {"_id": "old"}},
                {"n": 2},
                {"update": {"_id": "old"}},
                {"doc": {"m": 5}},
                {"update": {"_id": "missing"}},
                {"doc": {"m": 5}},
                {"delete": {"_id": "old"}},
                {"delete": {"_id": "missing"}},
                {"index": {}},
                {"n": 7},
            ],
        )
        self.assertTrue(reply["errors"])
        self.assertGreaterEqual(reply["took"], 0)
        items = [(*item.keys(), *item.values()) for item in reply["items"]]
        self.assertEqual(
            [(verb, item["status"]) for verb, item in items],
            [
                ("index", 201),
                ("index", 400),
                ("create", 409),
                ("update", 200),
                ("update", 404),
                ("delete", 200),
                ("delete", 404),
                ("index", 201),
            ],
        )
        self.assertEqual(items[1][1]["error"]["type"], "mapper_parsing_exception")
        self.assertIn("failed to parse field [n] of type [integer]", items[1][1]["error"]["reason"])
        self.assertEqual(items[2][1]["error"]["type"], "version_conflict_engine_exception")
        self.assertEqual(items[4][1]["error"]["type"], "document_missing_exception")
        self.assertEqual(items[6][1]["result"], "not_found")
        self.assertTrue(items[7][1]["_id"])
        self.client.indices.refresh(index="i")
        self.assertEqual(self.client.count(index="i")["count"], 2)

    def test_writes_of_one_document_happen_in_order(self):
        lines = []
        for number in range(100):
            lines += [{"index": {"_id": "1"}}, {"n": number}]
        reply = self.client.bulk(index="i", body=lines, refresh=True)
        versions = [item["index"]["_version"] for item in reply["items"]]
        self.assertEqual(versions, list(range(1, 101)))
        self.assertEqual(self.client.get(index="i", id="1")["_source"], {"n": 99})
        self.assertEqual(self.client.count(index="i")["count"], 1)

    def test_old_clients_may_name_a_type(self):
        lines = [{"index": {"_index": "i", "_type": "_doc", "_id": "1"}}, {"n": 1}]
        self.assertFalse(self.client.bulk(body=lines)["errors"])

    def test_a_body_may_be_compressed(self):
        body = gzip.compress(b'{"index":{"_index":"i","_id":"1"}}\n{"n":1}\n')
        headers = {"Content-Encoding": "gzip", "Content-Type": "application/x-ndjson"}
        reply = self.raw("POST", "/_bulk", body=body, headers=headers)
        self.assertFalse(reply["errors"], reply)
        compressing = self.server.client(http_compress=True)
        self.addCleanup(compressing.close)
        lines = []
        for number in range(200):
            lines += [{"index": {"_index": "i"}}, {"n": number}]
        self.assertEqual(len(compressing.bulk(body=lines)["items"]), 200)

    def test_a_body_that_cannot_be_cut_is_refused_whole(self):
        def check(body, reason):
            with self.refused(400, reason=reason):
                self.raw("POST", "/i/_bulk", body=body)

        check('{"index":{}}\n{"n":1}', "must be terminated by a newline")
        check('{"index":{}}\n{}\n{"insert":{}}\n{}\n', "Malformed action/metadata line [3]")
        check('[1]\n{}\n', "expected START_OBJECT but found [START_ARRAY]")
        self.assertFalse(self.client.indices.exists(index="i"))
        with self.refused(400, "action_request_validation_exception", "index is missing"):
            self.raw("POST", "/_bulk", body='{"index":{}}\n{}\n')

    def test_names_that_are_numbers_are_names(self):
        self.client.index(index="i", body={}, refresh=True)
        asked = lambda header: self.raw("POST", "/_msearch", body=header + '\n{"size":0}\n')
        [found] = asked('{"index":5}')["responses"]
        self.assertEqual((found["status"], found["error"]["type"]), (404, "index_not_found_exception"))
        with self.refused(400, "illegal_argument_exception", "Could not convert [ignore_unavailable] to boolean"):
            asked('{"index":"i","ignore_unavailable":"x"}')

    def test_a_count_may_leave_off(self):
        self.index_all("i", {str(n): {"n": n} for n in range(9)})
        self.assertNotIn("terminated_early", self.client.count(index="i"))
        self.assertTrue(self.client.count(index="i", params={"terminate_after": 1})["terminated_early"])
        with self.refused(400, "illegal_argument_exception", "terminateAfter must be > 0"):
            self.client.count(index="i", params={"terminate_after": -1})

    def test_a_deletion_by_query_takes_no_pipeline(self):
        self.client.index(index="i", body={}, refresh=True)
        with self.refused(400, "illegal_argument_exception", "contains unrecognized parameter: [pipeline]"):
            self.raw("POST", "/i/_delete_by_query", body={"query": {"match_all": {}}}, params={"pipeline": "p"})

    def test_a_condition_is_kept_for_each_action(self):
        first = self.client.index(index="i", id="1", body={"n": 1})
        here = {"if_seq_no": first["_seq_no"], "if_primary_term": first["_primary_term"]}
        lines = [
            {"index": {"_id": "1", **here}},
            {"n": 2},
            {"index": {"_id": "1", **here}},
            {"n": 3},
        ]
        items = self.client.bulk(index="i", body=lines)["items"]
        self.assertEqual([item["index"]["status"] for item in items], [200, 409])

    def test_updates_show_the_documents_that_are_asked_for(self):
        self.index_all("i", {str(n): {"a": n, "b": n} for n in range(6)})
        lines = [
            {"update": {"_id": "0", "_source": True}},
            {"doc": {"a": 10}},
            {"update": {"_id": "1", "_source": {"includes": "b"}}},
            {"doc": {"a": 11}},
            {"update": {"_id": "2"}},
            {"doc": {"a": 12}, "_source": ["a"]},
            {"update": {"_id": "3"}},
            {"doc": {"a": 13}},
            {"update": {"_id": "missing", "_source": True}},
            {"doc": {"a": 14}},
            {"index": {"_id": "5", "_source": True}},
            {"a": 15},
        ]
        items = [item for each in self.client.bulk(index="i", body=lines)["items"] for item in each.values()]
        shown = [item.get("get", {}).get("_source") for item in items]
        self.assertEqual(shown, [{"a": 10, "b": 0}, {"b": 1}, {"a": 12}, None, None, None])
        self.assertEqual([items[0]["get"][key] for key in ("_seq_no", "found")], [items[0]["_seq_no"], True])
        # What the address says holds where a line says nothing, and is stronger than the body.
        lines = [{"update": {"_id": "3"}}, {"doc": {"a": 1}, "_source": False}]
        reply = self.client.bulk(index="i", body=lines, _source_includes="a")
        self.assertEqual(reply["items"][0]["update"]["get"]["_source"], {"a": 1})

    def test_a_deletion_may_stand_before_what_makes_its_index(self):
        lines = [{"delete": {"_index": "new", "_id": "1"}}, {"index": {"_index": "new", "_id": "2"}}, {"n": 1}]
        reply = self.client.bulk(body=[*lines, {"delete": {"_index": "none", "_id": "1"}}])
        deleted, written, nowhere = [next(iter(item.values())) for item in reply["items"]]
        self.assertEqual((deleted["result"], deleted["status"], written["status"]), ("not_found", 404, 201))
        self.assertEqual(nowhere["error"]["type"], "index_not_found_exception")
        self.assertFalse(self.client.indices.exists(index="none"))

    def test_what_is_refused_through_an_alias_names_its_index(self):
        self.client.indices.create(index="own", body={"aliases": {"other": {}}, "mappings": {"properties": {"n": {"type": "long"}}}})
        self.client.index(index="own", id="1", body={"n": 1})
        lines = [{"create": {"_id": "1"}}, {"n": 2}, {"index": {"_id": "2"}}, {"n": "x"}, {"update": {"_id": "3"}}, {"doc": {"n": 3}}]
        items = [item for each in self.client.bulk(index="other", body=lines)["items"] for item in each.values()]
        self.assertEqual([(item["_index"], item["status"]) for item in items], [("own", 409), ("own", 400), ("own", 404)])

    def test_what_is_refused_through_an_alias_of_several_names_the_one_that_is_written(self):
        for index, is_written in [("before", False), ("now", True)]:
            aliases = {"rolled": {"is_write_index": is_written}}
            self.client.indices.create(index=index, body={"aliases": aliases, "mappings": {"properties": {"n": {"type": "long"}}}})
        self.client.index(index="now", id="1", body={"n": 1})
        lines = [{"create": {"_id": "1"}}, {"n": 2}, {"index": {"_id": "2"}}, {"n": "x"}]
        items = [item for each in self.client.bulk(index="rolled", body=lines)["items"] for item in each.values()]
        self.assertEqual([(item["_index"], item["status"]) for item in items], [("now", 409), ("now", 400)])
        self.assertEqual(items[0]["error"]["index"], "now")

    def test_what_is_to_be_new_has_no_condition(self):
        for member in [{"version": 3, "version_type": "external"}, {"if_seq_no": 1, "if_primary_term": 1}]:
            with self.subTest(member), self.refused(400, "action_request_validation_exception", "create operations"):
                self.client.bulk(index="i", body=[{"create": {"_id": "1", **member}}, {"n": 1}])
