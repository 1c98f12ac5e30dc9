"""What tests share that hold Clew against answers of a real OpenSearch 2.19.0."""

from .base import ClewTest


class AsThere(ClewTest):
    def make(self, name, fields, documents, **settings):
        body = {"settings": {"number_of_shards": 1, **settings}, "mappings": {"properties": fields}}
        self.client.indices.create(index=name, body=body)
        self.index_all(name, documents)

    def assert_shards_refuse(self, kind, reason, index, status=400, **body):
        with self.refused(status, "search_phase_execution_exception") as caught:
            self.hits(index, **body)
        root = caught.exception.info["error"]["root_cause"][0]
        self.assertEqual((root["type"], root["reason"]), (kind, reason), body)
