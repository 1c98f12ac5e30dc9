"""The requests of log shippers whose programs no package registry has, as those programs make them:
Fluent Bit, Vector, Logstash's OpenSearch output. Filebeat itself is in `test_filebeat`."""

import gzip
import json

from .base import ClientsTest


def lines(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


class Shippers(ClientsTest):
    def count(self, index):
        return self.ask("GET", f"/{index}/_count")["count"]

    def test_fluent_bit_names_types_and_sends_gzip(self):
        agent = {"User-Agent": "Fluent-Bit", "Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
        meta = {"create": {"_index": "fluent-bit", "_type": "_doc"}}
        body = lines(*(part for n in range(30) for part in (meta, {"@timestamp": "2024-05-01T00:00:00.000Z", "n": n})))
        reply = self.ask("POST", "/_bulk?refresh=true", gzip.compress(body), agent)
        self.assertFalse(reply["errors"], reply)
        self.assertEqual({item["create"]["status"] for item in reply["items"]}, {201})
        self.assertEqual(self.count("fluent-bit"), 30)

    def test_fluent_bit_with_ids_of_its_own_repeats_without_doubles(self):
        agent = {"User-Agent": "Fluent-Bit", "Content-Type": "application/x-ndjson"}
        body = lines({"create": {"_index": "fb-ids", "_type": "_doc", "_id": "a"}}, {"n": 1})
        self.ask("POST", "/_bulk", body, agent)
        again = self.ask("POST", "/_bulk?refresh=true", body, agent)
        self.assertEqual(again["items"][0]["create"]["status"], 409)
        self.assertEqual(self.count("fb-ids"), 1)

    def test_vector_asks_for_health_and_version_first(self):
        agent = {"User-Agent": "Vector/0.40.0 (x86_64-unknown-linux-gnu)"}
        status, _, _ = self.call("GET", "/_cluster/health", headers=agent)
        self.assertEqual(status, 200)
        said = self.ask("GET", "/", headers=agent)
        self.assertEqual(said["version"]["number"].split(".")[0], "2")
        meta = {"index": {"_index": "vector-2024.05.01", "_type": "_doc"}}
        body = lines(meta, {"message": "a", "timestamp": "2024-05-01T10:00:00.123456789Z"})
        headers = {**agent, "Content-Type": "application/x-ndjson"}
        reply = self.ask("POST", "/_bulk?timeout=60s", body, headers)
        self.assertFalse(reply["errors"], reply)

    def test_vector_writes_to_a_data_stream_through_a_pipeline(self):
        self.ask("PUT", "/_ingest/pipeline/mark", {"processors": [{"set": {"field": "seen", "value": True}}]})
        self.ask("PUT", "/_index_template/logs", {"index_patterns": ["logs-generic-*"], "data_stream": {}})
        meta = {"create": {"_index": "logs-generic-default", "_type": "_doc"}}
        body = lines(meta, {"@timestamp": "2024-05-01T10:00:00Z", "message": "a"})
        reply = self.ask("POST", "/_bulk?timeout=60s&pipeline=mark&refresh=true", body)
        self.assertFalse(reply["errors"], reply)
        found = self.ask("GET", "/logs-generic-default/_search")["hits"]["hits"]
        self.assertTrue(found[0]["_source"]["seen"])

    def test_logstash_finds_the_nodes_and_installs_its_template(self):
        agent = {"User-Agent": "logstash/8.9.0 (OS=Linux) logstash-output-opensearch/2.0.2"}
        status, headers, text = self.call("HEAD", "/", headers=agent)
        self.assertEqual((status, text), (200, b""))
        self.assertEqual(self.ask("GET", "/", headers=agent)["version"]["distribution"], "opensearch")
        nodes = self.ask("GET", "/_nodes/http", headers=agent)["nodes"]
        (node,) = nodes.values()
        self.assertEqual(node["http"]["publish_address"], self.server.address)
        self.assertIn("data", node["roles"])
        status, _, _ = self.call("HEAD", "/_index_template/logstash", headers=agent)
        self.assertEqual(status, 404)
        template = {
            "index_patterns": ["logstash-*"], "priority": 200,
            "template": {
                "settings": {"index.refresh_interval": "5s", "number_of_shards": 1},
                "mappings": {
                    "dynamic_templates": [
                        {"message_field": {"path_match": "message", "match_mapping_type": "string",
                                           "mapping": {"type": "text", "norms": False}}},
                        {"string_fields": {"match": "*", "match_mapping_type": "string", "mapping": {
                            "type": "text", "norms": False, "fields": {"keyword": {"type": "keyword", "ignore_above": 256}},
                        }}},
                    ],
                    "properties": {
                        "@timestamp": {"type": "date"}, "@version": {"type": "keyword"},
                        "geoip": {"dynamic": True, "properties": {
                            "ip": {"type": "ip"}, "location": {"type": "geo_point"},
                            "latitude": {"type": "half_float"}, "longitude": {"type": "half_float"},
                        }},
                    },
                },
            },
        }
        self.ask("PUT", "/_index_template/logstash", template, agent)
        event = {"@timestamp": "2024-05-01T10:00:00.000Z", "@version": "1", "message": "a line", "host": {"name": "h"}}
        meta = {"index": {"_id": None, "_index": "logstash-2024.05.01", "routing": None}}
        reply = self.ask("POST", "/_bulk?refresh=true", lines(meta, event), agent)
        self.assertFalse(reply["errors"], reply)
        mapping = self.ask("GET", "/logstash-2024.05.01/_mapping")["logstash-2024.05.01"]["mappings"]
        self.assertEqual(mapping["properties"]["host"]["properties"]["name"]["fields"]["keyword"]["type"], "keyword")
        self.assertEqual(self.count("logstash-*"), 1)
