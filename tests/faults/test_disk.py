"""Some of the faults of `make faults ARGS="disk"`, the ones that found most."""

from .base import FaultTest, Server, eventually
from .disk import FAULTS, DiskRounds
from .shim import Shim

SHORT_FORM = FAULTS[:5]
DOCUMENTS = 12
PLACES_MAX = 120


class FailingDisk(FaultTest):
    def test_reads_are_right_or_refused_and_writes_go_on_when_the_disk_works_again(self):
        rounds = self.entered(DiskRounds(seed=5))
        # What follows a broken promise says nothing: the first one ends the test, with its name.
        for fault in SHORT_FORM:
            rounds.round(fault)
        self.assertGreater(rounds.figures["failed_calls"], 0)

    def test_a_merge_that_fails_at_any_place_keeps_every_document(self):
        """Each opening and each write of a merge fails once, one after the other."""
        server = Server()
        shim = self.entered(Shim(server.data))
        server.preload = shim.library
        server.env.update(shim.env())
        self.entered(server)
        self.client = self.entered(server.client())
        body = {"settings": {"number_of_shards": 1, "refresh_interval": "-1"},
                "mappings": {"properties": {"part": {"type": "nested"}, "n": {"type": "long"}}}}
        self.client.done("PUT", "/a", body)
        for calls in ("open_read", "open", "write sync"):
            for place in range(PLACES_MAX):
                self.write_a_segment(place)
                shim.fail(calls, "EMFILE" if "open" in calls else "EIO", part="/indices/", skip=place, burst=1)
                self.client.post("/a/_forcemerge?max_num_segments=1")
                failed = shim.heal()
                eventually(self.all_are_there, f"all documents, after {calls} number {place} of a merge failed")
                if not failed:
                    break
            self.assertGreater(place, 2, f"a merge has more of {calls}")
        server.kill()
        server.start()
        with server.client() as self.client:
            self.assertTrue(self.all_are_there())

    def write_a_segment(self, number):
        lines = [line for n in range(number % 3, DOCUMENTS, 3)
                 for line in ({"index": {"_index": "a", "_id": str(n)}}, {"n": n, "part": [{"n": number}]})]
        lines += [line for n in range(DOCUMENTS) if number == 0
                  for line in ({"index": {"_index": "a", "_id": str(n)}}, {"n": n})]
        reply = self.client.done("POST", "/_bulk?refresh=true", lines)
        self.assertFalse(reply["errors"], reply)

    def all_are_there(self):
        """Whether every document is found, by id and by search; false while the shard refuses reads."""
        found = self.client.post("/a/_mget", {"ids": [str(n) for n in range(DOCUMENTS)]}).body["docs"]
        search = self.client.post("/a/_search", {"size": 100, "sort": ["n"], "_source": False})
        if any("error" in document for document in found) or not search.ok or search.body["_shards"]["failed"]:
            return False
        self.assertEqual([document["found"] for document in found], [True] * DOCUMENTS, "found by id")
        self.assertEqual([hit["_id"] for hit in search.body["hits"]["hits"]], [str(n) for n in range(DOCUMENTS)])
        return True
