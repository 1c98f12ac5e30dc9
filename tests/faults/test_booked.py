"""What one request takes is booked before it is there: a server that may have 512 MiB does not take as much for one of them."""

import json
import unittest

from .client import Client
from .server import Server

LIMIT_BYTES = 512 << 20
# What a request may take at most beside what the server has: the limits of its purposes, and what the allocator keeps.
GROWTH_KIB_MAX = 300 << 10
STATUSES = {200, 201, 400, 413, 429}


def numbers(count):
    return b"[" + b"1.5," * (count - 1) + b"1.5]"


class Booked(unittest.TestCase):
    def setUp(self):
        self.server = Server(env={"CLEW_MEMORY__LIMIT_BYTES": str(LIMIT_BYTES)}).start()
        self.addCleanup(self.server.__exit__)
        self.client = self.enterContext(self.server.client(120))

    def kib(self, name):
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return int(next(line for line in file if line.startswith(name)).split()[1])

    def asked(self, method, path, body=None):
        """The reply to a request, for which the server may not have taken too much."""
        try:
            # The highest resident size begins anew.
            with open(f"/proc/{self.server.process.pid}/clear_refs", "w") as file:
                file.write("5")
        except OSError as error:
            self.skipTest(f"the peak of memory cannot be reset: {error}")
        before = self.kib("VmRSS")
        reply = self.client.request(method, path, body)
        grown = self.kib("VmHWM") - before
        self.assertIn(reply.status, STATUSES, reply)
        self.assertLess(grown, GROWTH_KIB_MAX, f"{method} {path} took {grown >> 10} MiB: {reply}")
        self.assertEqual(self.server.panics(), [])
        return reply

    def test_parameters_of_scripts(self):
        self.client.done("PUT", "/b/_doc/1", {"n": 1})
        script = b'{"script":{"source":"1","params":{"f":' + numbers(2_000_000) + b"}}}"
        self.assertEqual(self.asked("POST", "/b/_update/1", script).status, 429)
        bulk = b'{"update":{"_id":"1"}}\n' + script + b"\n"
        self.assertEqual(self.asked("POST", "/b/_bulk", bulk).status, 429)
        small = b'{"script":{"source":"ctx._source.n = params.f.size()","params":{"f":' + numbers(20_000) + b"}}}"
        self.assertEqual(self.asked("POST", "/b/_update/1", small).status, 200)

    def test_documents_of_pipelines(self):
        self.client.done("PUT", "/_ingest/pipeline/p", {"processors": [{"set": {"field": "x", "value": 1}}]})
        document = b'{"f":' + numbers(3_000_000) + b"}"
        self.assertIn(self.asked("PUT", "/b/_doc/1?pipeline=p", document).status, (413, 429))
        items = self.asked("POST", "/b/_bulk?pipeline=p", b'{"index":{}}\n' + document + b"\n")
        if items.status == 200:
            self.assertIn(items.body["items"][0]["index"]["status"], (413, 429))
        simulated = b'{"pipeline":{"processors":[{"set":{"field":"a","value":"b"}}]},"docs":[{"_source":'
        self.assertEqual(self.asked("POST", "/_ingest/pipeline/_simulate", simulated + document + b"}]}").status, 429)
        small = b'{"f":' + numbers(20_000) + b"}"
        self.assertEqual(self.asked("PUT", "/b/_doc/1?pipeline=p", small).status, 201)

    def test_definitions(self):
        meta = b'{"_meta":{"a":' + numbers(1_000_000) + b"}}"
        self.asked("PUT", "/d", b'{"mappings":' + meta + b"}")
        self.asked("PUT", "/_index_template/d", b'{"index_patterns":["dd*"],"template":{"mappings":' + meta + b"}}")
        self.asked("PUT", "/_ingest/pipeline/d", b'{"processors":[{"set":{"field":"a","value":' + numbers(1_000_000) + b"}}]}")

    def test_lists_and_objects_of_queries(self):
        self.client.done("PUT", "/q", {"mappings": {"properties": {"n": {"type": "long"}}}})
        for item in (b"1.5", b"[0]", b'{"a":1}', b'"ab"'):
            items = b"[" + (item + b",") * 900_000 + item + b"]"
            self.asked("POST", "/q/_search", b'{"query":{"terms":{"n":' + items + b"}}}")

    def test_aliases_of_many_indexes(self):
        for n in range(100):
            self.client.done("PUT", f"/aliased{n}", {"settings": {"number_of_shards": 1}})

        def asked(count):
            add = {"indices": ["aliased*"], "aliases": [f"alias{n}" for n in range(count)]}
            return self.asked("POST", "/_aliases", {"actions": [{"add": add}]}).status

        self.assertEqual(asked(20_000), 429)
        self.assertEqual(asked(2), 200)

    def test_documents_that_are_asked_for(self):
        self.client.done("PUT", "/g/_doc/1", {"a": 1})
        ids = {"ids": ["0"] * 20_000}
        shown = ",".join(f"f{n}" for n in range(1_000))
        reply = self.asked("POST", f"/g/_mget?_source_includes={shown}", ids)
        self.assertEqual(len(reply.body["docs"]), 20_000)
        self.assertEqual(self.asked("POST", "/g/_mget", b'{"ids":[' + b"1," * 3_000_000 + b"1]}").status, 429)

    def test_searches_that_templates_become(self):
        self.client.done("PUT", "/m/_doc/1?refresh=true", {"t": "a"})
        text = "{{#a}}" * 4 + "xxxxxxxxxx " + "{{/a}}" * 4
        template = {"source": '{"size":0,"query":{"match":{"t":"' + text + '"}}}', "params": {"a": [1] * 30}}
        self.assertEqual(self.asked("POST", "/m/_search/template", template).status, 429)
        items = self.asked("POST", "/m/_msearch/template", [{}, template] * 30).body["responses"]
        self.assertEqual({item["status"] for item in items}, {429})
        template["params"] = {"a": [1] * 3}
        items = self.asked("POST", "/m/_msearch/template", [{}, template] * 30).body["responses"]
        self.assertEqual({item["status"] for item in items}, {200})
        self.asked("POST", "/_render/template", template)

    def test_lists_of_which_all_have_to_be_there(self):
        self.client = self.enterContext(Client(self.server.grpc, 120))
        fields = [
            {"fieldName": "id", "dataType": "Int64", "isPrimary": True},
            {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": "2"}},
            {"fieldName": "a", "dataType": "Array", "elementDataType": "Int64", "elementTypeParams": {"max_capacity": "4096"}},
        ]
        index = {"fieldName": "v", "indexName": "v", "metricType": "L2"}
        row = {"id": 1, "v": [0, 1], "a": list(range(4_096))}

        def code(path, **body):
            return self.asked("POST", f"/v2/vectordb/{path}", {"collectionName": "c", **body}).body["code"]

        self.assertEqual(code("collections/create", schema={"fields": fields}, indexParams=[index]), 0)
        self.assertEqual(code("collections/load"), 0)
        self.assertEqual(code("entities/insert", data=[row]), 0)
        for count, refused in ((4_096, False), (500_000, True)):
            items = ",".join(map(str, range(count)))
            told = code("entities/query", filter=f"array_contains_all(a, [{items}])", limit=10)
            self.assertEqual(told != 0, refused, count)

    def test_words_that_are_told(self):
        self.client = self.enterContext(Client(self.server.grpc, 120))
        for count, refused in ((10, False), (1_000_000, True)):
            reply = self.asked("POST", "/v2/vectordb/common/run_analyzer", {"text": ["a " * count]})
            self.assertEqual(reply.body["code"] != 0, refused, reply.text[:200])

    def test_answers_that_pipelines_change(self):
        document = {"f": [1.5] * 3_000}
        for _ in range(4):
            self.client.done("POST", "/a/_bulk", [line for _ in range(250) for line in ({"index": {}}, document)])
        self.client.done("POST", "/a/_refresh")
        rename = {"rename_field": {"field": "f", "target_field": "g"}}
        self.client.done("PUT", "/_search/pipeline/r", {"response_processors": [rename]})
        self.assertEqual(self.asked("POST", "/a/_search?search_pipeline=r", {"size": 1_000}).status, 429)
        reply = self.asked("POST", "/a/_search?search_pipeline=r", {"size": 10})
        self.assertEqual(len(reply.body["hits"]["hits"][0]["_source"]["g"]), 3_000)

    def test_a_document_in_each_of_many_indexes(self):
        count = 100
        lines = [line for n in range(count) for line in ({"index": {"_index": f"many{n}"}}, {"a": n})]
        bulk = "".join(json.dumps(line) + "\n" for line in lines)
        self.assertFalse(self.asked("POST", "/_bulk?refresh=true", bulk.encode()).body["errors"])
        self.assertEqual(self.client.done("GET", "/many*/_count")["count"], count)

    def test_what_is_made_of_a_text_beside_its_words(self):
        fields = {"t": {"type": "search_as_you_type", "max_shingle_size": 4}}
        self.client.done("PUT", "/typed", {"mappings": {"properties": fields}})
        words = " ".join(f"w{n}" for n in range(50_000))
        reply = self.asked("PUT", "/typed/_doc/1?refresh=true", {"t": words})
        self.assertEqual(reply.status, 201)
        self.assertIn("words are left out", reply.headers["Warning"])
        # The words that stand there are found.
        found = self.client.done("POST", "/typed/_search", {"query": {"match": {"t": "w49999"}}})
        self.assertEqual(found["hits"]["total"]["value"], 1)

    def test_shards(self):
        body = {"settings": {"number_of_shards": 1024}}
        statuses = [self.client.put(f"/many{n}", body).status for n in range(5)]
        self.assertEqual(statuses, [200, 200, 200, 200, 400])
        refused = self.client.put("/more", {"settings": {"number_of_shards": 1}})
        self.assertEqual(refused.status, 400, refused)
        self.assertEqual(refused.body["error"]["type"], "validation_exception")
        self.assertIn("would add [1] total shards, but this cluster currently has [4096]/[4096]", refused.text)
        # A figure of one's own counts those that are open.
        self.client.done("PUT", "/_cluster/settings", {"persistent": {"cluster.max_shards_per_node": 1025}})
        self.assertEqual(self.client.put("/more", {"settings": {"number_of_shards": 1}}).status, 400)
        self.client.done("POST", "/many0,many1,many2/_close")
        self.client.done("PUT", "/more", {"settings": {"number_of_shards": 1}})
        written = self.client.done("POST", "/_bulk", [{"index": {"_index": "another"}}, {"a": 1}])
        self.assertEqual(written["items"][0]["index"]["error"]["type"], "validation_exception")

    def test_values_of_one_field_in_many_others(self):
        others = [f"f{n}" for n in range(900)]
        text = {"type": "text"}
        copied = {name: text for name in others} | {"from": {"type": "text", "copy_to": others}}
        several = {"from": {"type": "text", "fields": {name: text for name in others}}}
        within = {"o": {"type": "nested", "include_in_root": True, "properties": several}}
        large, small = (" ".join(f"word{n % 5_000}" for n in range(count)) for count in (11_000, 100))
        for index, properties in ("copied", copied), ("several", several), ("within", within):
            self.client.done("PUT", f"/{index}", {"mappings": {"properties": properties}})

            def document(value, index=index):
                return {"o": [{"from": value}]} if index == "within" else {"from": value}

            self.assertEqual(self.asked("POST", f"/{index}/_doc", document(large)).status, 413)
            lines = [line for value in (small, large, small) for line in ({"index": {}}, document(value))]
            items = self.asked("POST", f"/{index}/_bulk?refresh=true", lines).body["items"]
            self.assertEqual([item["index"]["status"] for item in items], [201, 413, 201])
            self.client.done("PUT", f"/{index}/_doc/1", document(small))
            update = self.asked("POST", f"/{index}/_update/1", {"doc": document(large)})
            self.assertEqual(update.status, 413)
            self.assertEqual(self.client.done("POST", f"/{index}/_refresh")["_shards"]["failed"], 0)
            self.assertEqual(self.client.done("GET", f"/{index}/_count")["count"], 3)
        self.client.done("PUT", "/copied/_mapping", {"properties": {"query": {"type": "percolator"}}})
        percolate = {"query": {"percolate": {"field": "query", "document": {"from": large}}}}
        self.assertEqual(self.asked("POST", "/copied/_search", percolate).status, 400)

    def test_terms_within_terms(self):
        shingle = {"type": "shingle", "max_shingle_size": 4}
        analyzers = {"paths": {"tokenizer": "path_hierarchy"}, "shingles": {"tokenizer": "standard", "filter": ["s"] * 5}}
        self.client.done("PUT", "/t", {
            "settings": {"index.max_shingle_diff": 3, "analysis": {"analyzer": analyzers, "filter": {"s": shingle}}},
            "mappings": {"properties": {name: {"type": "text", "analyzer": name} for name in analyzers}}})
        for name, text in (("paths", "/a" * 20_000), ("shingles", "a " * 3_000)):
            reply = self.asked("POST", "/t/_doc", {name: text})
            self.assertEqual(reply.status, 201)
            self.assertIn("words are left out", reply.headers["Warning"])
            reply = self.asked("POST", "/t/_bulk", [{"index": {}}, {name: text}, {"index": {}}, {name: "a b"}])
            self.assertIn("words are left out", reply.headers["Warning"])
            reply = self.asked("POST", "/t/_analyze", {"analyzer": name, "text": text})
            self.assertEqual(reply.status, 400)
            reply = self.asked("POST", "/t/_doc", {name: "/a/b c"})
            self.assertNotIn("Warning", reply.headers)


class FullBuffers(unittest.TestCase):
    def test_what_is_left_out_is_told_of_a_document_that_fills_its_buffer_alone(self):
        # Beyond twice the least that a buffer may have the writer makes a segment of it at once.
        with Server(env={"CLEW_ENGINE__WRITE_BUFFER_BYTES": str(8 << 20)}) as server, server.client(120) as client:
            client.done("PUT", "/t", {
                "settings": {"analysis": {"analyzer": {"paths": {"tokenizer": "path_hierarchy"}}}},
                "mappings": {"properties": {"paths": {"type": "text", "analyzer": "paths"}}}})
            words = " ".join(f"word{number}" for number in range(400_000))
            reply = client.request("POST", "/t/_doc", {"paths": "/a" * 20_000, "words": words})
            self.assertEqual(reply.status, 201)
            self.assertIn("words are left out", reply.headers["Warning"])

    def test_what_is_left_out_is_told_where_a_later_document_of_the_request_lets_the_mapping_grow(self):
        with Server() as server, server.client(120) as client:
            client.done("PUT", "/t", {
                "settings": {"analysis": {"analyzer": {"paths": {"tokenizer": "path_hierarchy"}}}},
                "mappings": {"properties": {"paths": {"type": "text", "analyzer": "paths"}}}})
            for later in ({"paths": "/a"}, {"another": 1}):
                lines = [{"index": {}}, {"paths": "/a" * 20_000}, {"index": {}}, later]
                reply = client.request("POST", "/t/_bulk", lines)
                self.assertFalse(reply.body["errors"])
                self.assertIn("words are left out", reply.headers["Warning"])


if __name__ == "__main__":
    unittest.main()
