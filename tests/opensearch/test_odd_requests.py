"""Requests that look wrong and are right: a real OpenSearch 2.19.0 takes each of them."""

import http.client
import json

from .base import ClewTest


class OddRequests(ClewTest):
    def send(self, method, path, body=None):
        """Status and answer of a request as it is written here."""
        connection = http.client.HTTPConnection(self.server.address, timeout=60)
        self.addCleanup(connection.close)
        content = "application/x-ndjson" if "_bulk" in path else "application/json"
        data = body if body is None or isinstance(body, bytes) else body.encode()
        connection.request(method, path, data, {} if data is None else {"Content-Type": content})
        reply = connection.getresponse()
        text = reply.read()
        return reply.status, json.loads(text) if text else None

    def bulk(self, *lines):
        status, reply = self.send("POST", "/i/_bulk", "\n".join(lines) + "\n")
        self.assertEqual(status, 200, reply)
        return [next(iter(item.values())) for item in reply["items"]]

    def test_patterns_may_stand_for_no_index(self):
        self.client.indices.create(index="i")
        for path, status in (
            ("/none-*", 200), ("/none-*?allow_no_indices=false", 404), ("/none", 404), ("/none?ignore_unavailable=true", 200),
            ("/i,none?ignore_unavailable=true", 200), ("/none,i*", 404), ("/i", 200), ("/_a", 400),
        ):
            self.assertEqual(self.send("HEAD", path)[0], status, path)

    def test_each_request_takes_its_own_parameters_alone(self):
        for request, body in [
            ("POST /i/_bulk?op_type=create", '{"index":{}}\n{}\n'), ("PUT /i/_doc/1?retry_on_conflict=1", "{}"),
            ("DELETE /i/_doc/1?pipeline=p", None), ("GET /i/_source/1?stored_fields=n", None), ("POST /i/_refresh?flush=true", None),
            ("POST /i/_forcemerge?force=true", None), ("GET /_alias?timeout=1m", None), ("POST /_aliases?local=true", '{"actions":[]}'),
            ("DELETE /_template/t?order=1", None), ("PUT /_snapshot/r?verbose=true", "{}"), ("GET /_nodes?level=cluster", None),
            ("GET /_ingest/pipeline?timeout=1m", None), ("GET /_tasks/a:1?actions=x", None), ("POST /_msearch?size=1", '{}\n{}\n'),
            ("GET /_search?max_concurrent_searches=1", None),
        ]:
            method, path = request.split(" ")
            path, name = path.split("?")[0], path.split("?")[1].split("=")[0]
            status, reply = self.send(method, request.split(" ")[1], body)
            self.assertEqual(status, 400, request)
            self.assertIn(f"request [{path}] contains unrecognized parameter: [{name}]", reply["error"]["reason"])
        self.client.indices.create(index="i")
        for request, body in [
            ("POST /i/_bulk?batch_size=5&require_alias=false&_source=true", '{"index":{}}\n{}\n'),
            ("GET /i/_mapping?include_type_name=false&local=true&after_glsn=0", None), ("POST /i/_cache/clear?fields=n&query=true", None),
            ("PUT /i/_settings?preserve_existing=true&ignore_unavailable=true&timeout=1m", '{"refresh_interval":"1s"}'),
            ("GET /_cluster/state?local=true&flat_settings=true&expand_wildcards=all", None), ("GET /_tasks?detailed=true&group_by=none", None),
            ("POST /_index_template/_simulate_index/x?create=true&cause=c", '{"index_patterns":["x"]}'),
        ]:
            method, path = request.split(" ")
            self.assertEqual(self.send(method, path, body)[0], 200, request)

    def test_a_mapping_may_look_at_nothing(self):
        self.client.indices.create(index="i", body={"mappings": {"enabled": False}})
        for document in ({"a": 1, "b": {"c": ["x", {}]}}, {"a": "x"}, {"_id": "x"}):
            self.client.index(index="i", id="1", body=document, refresh=True)
            self.assertEqual(self.client.get(index="i", id="1")["_source"], document)
        self.assertEqual(self.client.indices.get_mapping(index="i")["i"]["mappings"], {"enabled": False})
        self.assertEqual(self.ids("i", query={"exists": {"field": "a"}}), [])

    def test_lists_without_items_are_maps_without_members(self):
        properties = {"a": {"type": "keyword", "fields": []}, "o": {"type": "object", "properties": []}}
        self.client.indices.create(index="i", body={"mappings": {"properties": properties}})
        self.client.indices.put_mapping(index="i", body={"properties": []})
        shown = self.client.indices.get_mapping(index="i")["i"]["mappings"]
        self.assertEqual(shown, {"properties": {"a": {"type": "keyword"}, "o": {"type": "object"}}})

    def test_lines_of_a_bulk_may_have_too_much_and_too_little(self):
        items = self.bulk('{"index":{"_id":"1"},"x":1}', '{"n":1}', '{"index":{"_id":"2"}}')
        self.assertEqual([item["_id"] for item in items], ["1"])

    def test_an_item_that_fails_has_the_id_that_was_made_for_it(self):
        self.client.indices.create(index="i", body={"mappings": {"properties": {"n": {"type": "long"}}}})
        wrong, right, nowhere = self.bulk(
            '{"index":{}}', '{"n":"x"}', '{"index":{}}', '{"n":1}', '{"index":{"_index":"BAD"}}', "{}")
        self.assertEqual((wrong["status"], right["status"]), (400, 201))
        self.assertIn(f"in document with id '{wrong['_id']}'", wrong["error"]["reason"])
        self.assertIsNone(nowhere["_id"])

    def test_flags_of_an_update_may_be_texts(self):
        self.client.index(index="i", id="1", body={"n": 1})
        again = self.client.update(index="i", id="1", body={"doc": {"n": 1}, "detect_noop": "false"})
        self.assertEqual(again["result"], "updated")
        either = {"doc": {"n": 4}, "upsert": {"n": 9}}
        self.client.transport.perform_request("POST", "/i/_update/both?doc_as_upsert=true", body=either)
        self.assertEqual(self.client.get(index="i", id="both")["_source"], {"n": 4})
        self.client.delete(index="i", id="both")
        new = self.client.update(index="i", id="2", body={"doc": {"n": 1}, "doc_as_upsert": "true"})
        self.assertEqual(new["result"], "created")

    def test_bytes_that_nothing_is_kept_of_are_not_looked_at(self):
        fields = {"plain": {"type": "binary"}, "stored": {"type": "binary", "store": True}}
        self.client.indices.create(index="i", body={"mappings": {"properties": fields}})
        self.client.index(index="i", body={"plain": ["###", 5, True]})
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="i", body={"stored": "###"})

    def test_addresses_may_have_a_zone(self):
        self.client.indices.create(index="i", body={"mappings": {"properties": {"ip": {"type": "ip"}}}})
        self.client.index(index="i", id="1", body={"ip": "fe80::1%eth0"}, refresh=True)
        self.assertEqual(self.ids("i", query={"term": {"ip": "fe80::1"}}), ["1"])

    def test_a_document_may_have_a_mark_before_it(self):
        status, reply = self.send("PUT", "/i/_doc/1", b'\xef\xbb\xbf{"n":1}')
        self.assertEqual(status, 201, reply)
        self.assertEqual(self.client.get(index="i", id="1")["_source"], {"n": 1})
        self.assertEqual(self.send("PUT", "/i/_doc/2?op_type=CREATE", '{"n":1}')[0], 201)

    def test_what_no_alias_has_is_passed_over_in_a_new_index(self):
        self.client.indices.create(index="i", body={"aliases": {"a": {"x": 1}}})
        self.assertEqual(self.client.indices.get_alias(index="i")["i"]["aliases"], {"a": {}})

    def test_completions_may_have_no_inputs(self):
        self.client.indices.create(index="i", body={"mappings": {"properties": {"c": {"type": "completion"}}}})
        for value in ({}, {"weight": 1}, {"input": []}, []):
            self.client.index(index="i", body={"c": value})
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="i", body={"c": {"input": [1]}})
