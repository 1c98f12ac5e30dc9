"""Several clients that write to one shard at once, each of whose requests fills a segment of its own."""

import threading

from .base import FaultTest

ENV = {"CLEW_ENGINE__SHARD_WRITERS": "4", "CLEW_ENGINE__LOG_BYTES_MAX": "400000"}
CLIENTS, ROUNDS, DOCUMENTS = 5, 9, 60
MAPPING = {"properties": {"who": {"type": "integer"}, "n": {"type": "integer"}, "t": {"type": "text"},
                          "parts": {"type": "nested", "properties": {"k": {"type": "integer"}}}}}


def document(who, number):
    """Of each third round, one that brings a field which the mapping lacks at first."""
    more = {f"more{number}": number} if number % 3 == 1 else {}
    return {"who": who, "n": number, "t": f"common word{number}", "parts": [{"k": number}, {"k": number}], **more}


class Writers(FaultTest):
    def test_what_one_client_was_told_holds_whatever_others_write(self):
        server = self.serve(env=ENV)
        with server.client() as client:
            client.done("PUT", "/a", {"settings": {"number_of_shards": 1}, "mappings": MAPPING})
        failures = []
        clients = [threading.Thread(target=self.write, args=(server, who, failures)) for who in range(CLIENTS)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join()
        self.assertEqual(failures, [])
        with server.client() as client:
            client.done("POST", "/a/_refresh")
            self.check_all(client)
        server.kill()
        server.start()
        with server.client() as client:
            self.check_all(client)
        self.assertEqual(server.panics(), [])

    def write(self, server, who, failures):
        try:
            with server.client() as client:
                for number in range(ROUNDS):
                    self.write_round(client, who, number)
        except Exception as failure:  # Told by the test's own thread.
            failures.append(repr(failure))

    def write_round(self, client, who, number):
        lines = []
        for n in range(DOCUMENTS):
            lines += [{"index": {"_id": f"{who}-{n}"}}, document(who, number)]
        script = {"script": {"source": "ctx._source.c += 1"}, "upsert": {"c": 1}}
        lines += [{"update": {"_id": "all", "retry_on_conflict": 3}}, script]
        refresh = ("", "?refresh=wait_for", "?refresh")[number % 3]
        answer = client.done("POST", f"/a/_bulk{refresh}", lines)
        assert not answer["errors"], answer
        own = [item["index"] for item in answer["items"][:DOCUMENTS]]
        assert {item["_version"] for item in own} == {number + 1}, own
        # Not made visible yet, and read all the same.
        found = client.done("GET", f"/a/_doc/{who}-{DOCUMENTS - 1}")
        assert found["_source"]["n"] == number, found
        if refresh:
            assert self.count(client, who, number) == DOCUMENTS, (who, number)

    def count(self, client, who, number):
        both = {"bool": {"filter": [{"term": {"who": who}}, {"term": {"n": number}},
                                    {"nested": {"path": "parts", "query": {"term": {"parts.k": number}}}}]}}
        return client.done("POST", "/a/_count", {"query": both})["count"]

    def check_all(self, client):
        self.assertEqual(client.done("GET", "/a/_count")["count"], CLIENTS * DOCUMENTS + 1)
        for who in range(CLIENTS):
            self.assertEqual(self.count(client, who, ROUNDS - 1), DOCUMENTS)
        together = client.done("GET", "/a/_doc/all")
        self.assertEqual((together["_source"]["c"], together["_version"]), (CLIENTS * ROUNDS,) * 2)
        numbers = client.done("GET", "/a/_stats?level=shards")["indices"]["a"]["shards"]["0"][0]["seq_no"]
        self.assertEqual(numbers["max_seq_no"] + 1, CLIENTS * ROUNDS * (DOCUMENTS + 1))
        self.assertEqual(numbers["local_checkpoint"], numbers["max_seq_no"])
