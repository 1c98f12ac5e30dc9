"""Pipelines of documents and of searches, templates, and writes to all documents of a search."""

from mmdb_writer import MMDBWriter
from netaddr import IPSet

from .base import ClewTest


class PipelineTest(ClewTest):
    def test_documents_are_changed_on_their_way(self):
        steps = [
            {"set": {"field": "greeting", "value": "hello {{name}}"}},
            {"rename": {"field": "old", "target_field": "new.deep", "ignore_missing": True}},
            {"convert": {"field": "n", "type": "integer", "ignore_missing": True}},
            {"split": {"field": "list", "separator": ",", "ignore_missing": True}},
            {"date": {"field": "at", "formats": ["yyyy/MM/dd"], "ignore_failure": True}},
            {"remove": {"field": "secret", "ignore_missing": True}},
        ]
        self.client.ingest.put_pipeline(id="p", body={"processors": steps})
        source = {"name": "Ann", "old": 1, "n": "7", "list": "a,b", "at": "2024/02/03", "secret": 1}
        self.client.index(index="d", id="1", body=source, params={"pipeline": "p"}, refresh=True)
        found = self.client.get(index="d", id="1")["_source"]
        self.assertEqual(found["greeting"], "hello Ann")
        self.assertEqual(found["new"], {"deep": 1})
        self.assertEqual((found["n"], found["list"]), (7, ["a", "b"]))
        self.assertEqual(found["@timestamp"], "2024-02-03T00:00:00.000Z")
        self.assertNotIn("secret", found)
        shown = self.client.ingest.simulate(id="p", body={"docs": [{"_source": {"name": "Bo"}}]})
        self.assertEqual(shown["docs"][0]["doc"]["_source"]["greeting"], "hello Bo")

    def test_documents_go_to_the_index_of_their_month_and_get_a_hash(self):
        steps = [
            {"date_index_name": {"field": "at", "date_rounding": "M", "index_name_prefix": "by-{{kind}}-", "date_formats": ["yyyy-MM-dd"]}},
            {"fingerprint": {"fields": ["at", "kind"]}},
        ]
        self.client.ingest.put_pipeline(id="months", body={"processors": steps})
        written = self.client.index(index="any", id="1", body={"at": "2024-02-23", "kind": "log"}, pipeline="months", refresh=True)
        self.assertEqual(written["_index"], "by-log-2024-02-01")
        found = self.client.get(index="by-log-2024-02-01", id="1")["_source"]
        self.assertRegex(found["fingerprint"], r"^SHA-1@2\.16\.0:\S{27}=$")
        self.assertFalse(self.client.indices.exists(index="any"))

    def test_lines_are_taken_apart_by_patterns(self):
        grok = {"field": "message", "patterns": ["%{IP:client.ip} %{WORD:verb} %{NUMBER:took:float}", "%{GREEDYDATA:rest}"]}
        self.client.ingest.put_pipeline(id="lines", body={"processors": [{"grok": grok}]})
        self.client.index(index="lines", id="1", body={"message": "10.0.0.1 GET 0.25"}, pipeline="lines")
        source = self.client.get(index="lines", id="1")["_source"]
        self.assertEqual(source["client"], {"ip": "10.0.0.1"})
        self.assertEqual((source["verb"], source["took"]), ("GET", 0.25))
        self.client.index(index="lines", id="2", body={"message": "else"}, pipeline="lines")
        self.assertEqual(self.client.get(index="lines", id="2")["_source"]["rest"], "else")
        with self.refused(400, "parse_exception", "Invalid regex pattern found in: [%{NO:x}]"):
            bad = {"field": "message", "patterns": ["%{NO:x}"]}
            self.client.ingest.put_pipeline(id="bad", body={"processors": [{"grok": bad}]})
        self.assertIn("IP", self.client.ingest.processor_grok()["patterns"])

    def test_addresses_and_browsers_are_described(self):
        folder = self.server.data / "geoip"
        folder.mkdir()
        writer = MMDBWriter(4, "Test-City", languages=["en"], description="made for a test")
        place = {"country": {"iso_code": "SE", "names": {"en": "Sweden"}}, "city": {"names": {"en": "Linköping"}},
                 "subdivisions": [{"iso_code": "E"}], "location": {"latitude": 58.4, "longitude": 15.6}}
        writer.insert_network(IPSet(["89.160.20.0/24"]), place)
        writer.to_db_file(str(folder / "city.mmdb"))
        steps = [{"geoip": {"field": "ip", "database_file": "city.mmdb"}},
                 {"user_agent": {"field": "agent", "ignore_missing": True}}]
        self.client.ingest.put_pipeline(id="origin", body={"processors": steps})
        agent = "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0"
        documents = [{"ip": "89.160.20.7", "agent": agent}, {"ip": "10.0.0.1"}, {"ip": "nowhere"}]
        shown = self.client.ingest.simulate(id="origin", body={"docs": [{"_source": one} for one in documents]})["docs"]
        first = shown[0]["doc"]["_source"]
        self.assertEqual(first["geoip"], {
            "country_iso_code": "SE", "country_name": "Sweden", "city_name": "Linköping",
            "region_iso_code": "SE-E", "location": {"lat": 58.4, "lon": 15.6}})
        self.assertEqual((first["user_agent"]["name"], first["user_agent"]["version"]), ("Firefox", "115.0"))
        self.assertNotIn("geoip", shown[1]["doc"]["_source"])
        self.assertIn("is not an IP string literal", shown[2]["error"]["reason"])
        missing = {"pipeline": {"processors": [{"geoip": {"field": "ip"}}]}, "docs": [{"_source": {"ip": "::1"}}]}
        refused = self.client.ingest.simulate(body=missing)["docs"][0]["error"]["reason"]
        self.assertIn("database file [GeoLite2-City.mmdb] doesn't exist", refused)

    def test_failures_are_handled_or_told(self):
        body = {
            "processors": [
                {"fail": {"message": "no {{x}}", "on_failure": [{"set": {"field": "bad", "value": "{{_ingest.on_failure_message}}"}}]}},
                {"json": {"field": "text"}},
            ]
        }
        self.client.ingest.put_pipeline(id="f", body=body)
        self.client.index(index="d", id="1", body={"x": 3, "text": "{\"a\":1}"}, params={"pipeline": "f"})
        found = self.client.get(index="d", id="1")["_source"]
        self.assertEqual((found["bad"], found["text"]), ("no 3", {"a": 1}))
        lines = [
            {"index": {"_index": "d", "_id": "2", "pipeline": "f"}},
            {"x": 1},
            {"index": {"_index": "d", "_id": "3", "pipeline": "none"}},
            {},
            {"index": {"_index": "d", "_id": "4"}},
            {},
        ]
        reply = self.client.bulk(body=lines)
        self.assertTrue(reply["errors"])
        statuses = [item["index"]["status"] for item in reply["items"]]
        self.assertEqual(statuses, [400, 400, 201])
        reason = reply["items"][1]["index"]["error"]["reason"]
        self.assertEqual(reason, "pipeline with id [none] does not exist")
        with self.refused(400, "illegal_argument_exception", "[if]"):
            self.client.ingest.put_pipeline(
                id="i", body={"processors": [{"drop": {"if": "ctx.a == 1"}}]}
            )

    def test_an_index_has_its_own_pipelines(self):
        self.client.ingest.put_pipeline(
            id="own", body={"processors": [{"foreach": {"field": "l", "processor": {"uppercase": {"field": "_ingest._value"}}}}]}
        )
        self.client.ingest.put_pipeline(id="away", body={"processors": [{"drop": {}}]})
        self.client.indices.create(
            index="own", body={"settings": {"index.default_pipeline": "own"}}
        )
        self.client.index(index="own", id="1", body={"l": ["a", "b"]})
        self.assertEqual(self.client.get(index="own", id="1")["_source"]["l"], ["A", "B"])
        reply = self.client.index(index="own", id="2", body={}, params={"pipeline": "away"})
        self.assertEqual(reply["result"], "noop")
        self.assertFalse(self.client.exists(index="own", id="2"))

    def test_searches_are_changed_before_and_answers_after(self):
        self.index_all("s", {str(n): {"n": n, "old": f"x{n}"} for n in range(6)})
        body = {
            "request_processors": [{"filter_query": {"query": {"range": {"n": {"gte": 2}}}}}],
            "response_processors": [{"rename_field": {"field": "old", "target_field": "new"}}],
        }
        self.raw("PUT", "/_search/pipeline/p", body=body)
        reply = self.client.search(
            index="s", params={"search_pipeline": "p"}, body={"sort": [{"n": "asc"}]}
        )
        hits = reply["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits], ["2", "3", "4", "5"])
        self.assertEqual(hits[0]["_source"], {"n": 2, "new": "x2"})
        with self.refused(400, "illegal_argument_exception", "is not defined"):
            self.client.search(index="s", params={"search_pipeline": "q"})

    def test_searches_come_from_templates(self):
        self.index_all("s", {"1": {"t": "fox"}, "2": {"t": "dog"}})
        source = '{"query":{"match":{"t":"{{word}}"}},"size":{{#size}}{{size}}{{/size}}{{^size}}5{{/size}}}'
        self.client.put_script(id="t", body={"script": {"lang": "mustache", "source": source}})
        found = self.client.search_template(index="s", body={"id": "t", "params": {"word": "dog"}})
        self.assertEqual([hit["_id"] for hit in found["hits"]["hits"]], ["2"])
        shown = self.client.render_search_template(body={"id": "t", "params": {"word": "a\"b", "size": 3}})
        self.assertEqual(
            shown["template_output"], {"query": {"match": {"t": "a\"b"}}, "size": 3}
        )
        self.client.delete_script(id="t")
        with self.refused(404, "resource_not_found_exception"):
            self.client.search_template(index="s", body={"id": "t"})


class ByQueryTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.index_all("a", {str(n): {"n": n} for n in range(25)})

    def test_documents_of_a_search_are_removed(self):
        reply = self.client.delete_by_query(
            index="a",
            body={"query": {"range": {"n": {"lt": 10}}}},
            params={"refresh": "true", "scroll_size": 4},
        )
        self.assertEqual((reply["deleted"], reply["total"], reply["batches"]), (10, 10, 3))
        self.assertEqual(self.client.count(index="a")["count"], 15)

    def test_documents_are_written_again(self):
        reply = self.client.update_by_query(index="a", params={"refresh": "true", "max_docs": 5})
        self.assertEqual((reply["updated"], reply["version_conflicts"]), (5, 0))
        versions = self.client.search(index="a", body={"size": 30, "version": True})
        twice = [hit for hit in versions["hits"]["hits"] if hit["_version"] == 2]
        self.assertEqual(len(twice), 5)

    def test_documents_are_copied(self):
        body = {"source": {"index": "a", "query": {"range": {"n": {"gte": 20}}}}, "dest": {"index": "b"}}
        reply = self.client.reindex(body=body, params={"refresh": "true"})
        self.assertEqual((reply["created"], reply["total"]), (5, 5))
        self.assertEqual(self.client.count(index="b")["count"], 5)
        body["dest"]["op_type"] = "create"
        with self.refused(409) as caught:
            self.client.reindex(body=body)
        self.assertEqual(caught.exception.info["version_conflicts"], 5)
        body["conflicts"] = "proceed"
        self.assertEqual(self.client.reindex(body=body)["version_conflicts"], 5)

    def test_an_index_that_refuses_the_query_is_told_and_nothing_is_written(self):
        self.client.indices.create(index="dated", body={"mappings": {"properties": {"n": {"type": "date"}}}})
        self.client.index(index="dated", id="1", body={"n": "2020-01-01"}, refresh=True)
        query = {"bool": {"should": [{"regexp": {"n": ".*"}}, {"match_all": {}}]}}
        self.client.indices.create(index="worded", body={"mappings": {"properties": {"n": {"type": "keyword"}}}})
        self.client.index(index="worded", id="1", body={"n": "x"}, refresh=True)
        found = self.client.search(index="dated,worded", body={"query": query})
        [failure] = found["_shards"]["failures"]
        self.assertEqual((failure["index"], failure["reason"]["type"]), ("dated", "query_shard_exception"))
        source = {"index": ["dated", "worded"], "query": query}
        for ask in (
            lambda: self.client.delete_by_query(index="dated,worded", body={"query": query}),
            lambda: self.client.update_by_query(index="dated,worded", body={"query": query}),
            lambda: self.client.reindex(body={"source": source, "dest": {"index": "copied"}}),
        ):
            with self.refused(400) as caught:
                ask()
            reply = caught.exception.info
            [failure] = reply["failures"]
            self.assertEqual((failure["index"], failure["shard"], failure["status"]), ("dated", 0, 400))
            self.assertEqual(failure["reason"]["type"], "query_shard_exception")
            self.assertIn("regexp", failure["reason"]["reason"])
            self.assertEqual(reply["batches"], 0)
        self.assertEqual(self.client.count(index="dated,worded")["count"], 2)

    def test_a_document_that_cannot_be_copied_gives_its_status(self):
        self.client.indices.create(index="b", body={"mappings": {"properties": {"n": {"type": "ip"}}}})
        with self.refused(400) as caught:
            self.client.reindex(body={"source": {"index": "a"}, "dest": {"index": "b"}})
        failure = caught.exception.info["failures"][0]
        self.assertEqual((failure["status"], failure["cause"]["type"]), (400, "mapper_parsing_exception"))
