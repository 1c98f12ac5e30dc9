"""The change feed: what was acknowledged comes back in its order, with places to go on from."""

import threading

from opensearchpy.exceptions import TransportError

from .base import ClewTest


class Changes(ClewTest):
    def changes(self, index, **params):
        return self.raw("GET", f"/{index}/_changes", params=params)

    def feed(self, index, at=0, size=1000):
        """Everything from a position on, page by page."""
        found = []
        while True:
            page = self.changes(index, **{"from": at, "size": size})
            found += page["changes"]
            at = page["next"]
            if at > page["last"]:
                return found, at

    def test_every_write_is_told_once_and_in_order(self):
        self.client.indices.create(index="a", body={"settings": {"number_of_shards": 3}})
        start = self.changes("a")["next"]
        for number in range(20):
            self.client.index(index="a", id=str(number % 7), body={"n": number})
        self.client.delete(index="a", id="3")
        self.client.index(index="other", id="x", body={"n": 1})
        self.client.update(index="a", id="4", body={"doc": {"m": True}})
        for size in (1, 4, 1000):
            found, end = self.feed("a", start, size)
            told = [(c["op"], c["_id"], c.get("_source")) for c in found]
            written = [("index", str(n % 7), {"n": n}) for n in range(20)]
            last = {"n": 18, "m": True}
            self.assertEqual(told, [*written, ("delete", "3", None), ("index", "4", last)])
            places = [c["glsn"] for c in found]
            self.assertEqual(places, sorted(set(places)))
            self.assertGreater(end, places[-1])
        self.assertEqual({c["_index"] for c in self.feed("*", start)[0]}, {"a", "other"})
        replayed = {}
        for change in self.feed("a", start)[0]:
            replayed[change["_id"]] = change
        for identity, change in replayed.items():
            if change["op"] == "index":
                document = self.client.get(index="a", id=identity)
                for key in ("_version", "_seq_no", "_primary_term", "_source"):
                    self.assertEqual(document[key], change[key])

    def test_a_reader_waits_for_the_next_change(self):
        self.client.indices.create(index="a")
        start = self.changes("a")["next"]
        self.assertEqual(self.changes("a", **{"from": start})["changes"], [])
        told = []

        def read():
            client = self.server.client()
            # As a parameter the client would take the time for its own.
            path = f"/a/_changes?from={start}&timeout=60s"
            told.append(client.transport.perform_request("GET", path))
            client.close()

        reader = threading.Thread(target=read)
        reader.start()
        # A write elsewhere must not end the wait.
        self.client.index(index="b", id="0", body={})
        self.client.index(index="a", id="1", body={"t": "x"})
        reader.join(timeout=60)
        self.assertEqual([c["_id"] for c in told[0]["changes"]], ["1"])

    def test_vectors_come_back_in_the_source(self):
        vector = {"type": "knn_vector", "dimension": 2, "space_type": "l2"}
        self.client.indices.create(index="v", body={"mappings": {"properties": {"v": vector}}})
        source = {"v": [0.5, 2.0], "t": "x"}
        self.client.index(index="v", id="1", body=source, routing="r")
        [change] = self.feed("v")[0]
        self.assertEqual((change["_source"], change["_routing"]), (source, "r"))
        [change] = self.changes("v", _source="false")["changes"]
        self.assertNotIn("_source", change)

    def test_what_the_log_gave_up_is_told(self):
        self.client.indices.create(index="a")
        first = self.changes("a")["first"]
        self.client.index(index="a", id="1", body={"n": 1})
        self.client.indices.flush(index="_all")
        page = self.changes("a")
        if page["first"] > first:
            with self.refused(410, "position_trimmed_exception") as caught:
                self.changes("a", **{"from": first})
            self.assertEqual(caught.exception.info["error"]["first"], page["first"])
        # The lowest position that is left can always be named.
        self.changes("a", **{"from": page["first"]})

    def test_wrong_requests_are_refused(self):
        self.client.indices.create(index="a")
        self.client.indices.put_alias(index="a", name="few", body={"filter": {"term": {"n": 1}}})
        with self.refused(404, "index_not_found_exception"):
            self.changes("none")
        with self.refused(400, "illegal_argument_exception", "[size] must be between 1 and 10000"):
            self.changes("a", size=0)
        with self.refused(400, "illegal_argument_exception", "[from] parameter cannot be negative"):
            self.changes("a", **{"from": -1})
        with self.refused(400, "illegal_argument_exception", "[timeout] must be at most [60s]"):
            self.raw("GET", "/a/_changes?timeout=2m")
        with self.refused(400, "illegal_argument_exception", "through an alias with a filter"):
            self.changes("few")
        self.assertEqual(self.changes("a", **{"from": 2**62})["next"], 2**62)
        with self.assertRaises(TransportError):
            self.raw("POST", "/a/_changes")


class Positions(ClewTest):
    """Reads that wait for a write's position, however they are sent."""

    def glsn(self, method, path, body=None):
        connection = self.client.transport.get_connection()
        headers = {"content-type": "application/json"}
        _, reply, _ = connection.perform_request(method, path, body=body, headers=headers)
        return int({key.lower(): value for key, value in reply.items()}["x-clew-glsn"])

    def test_every_read_can_wait_for_a_position(self):
        self.client.indices.create(index="a", body={"settings": {"refresh_interval": "-1"}})
        at = self.glsn("PUT", "/a/_doc/1", b'{"n": 1}')
        after = {"after_glsn": at}
        self.assertEqual(self.client.count(index="a")["count"], 0)
        self.assertEqual(self.raw("GET", "/a/_count", params=after)["count"], 1)
        at = self.glsn("PUT", "/a/_doc/2", b'{"n": 2}')
        lines = '{"index":"a"}\n{}\n'
        found = self.raw("POST", "/_msearch", body=lines, params={"after_glsn": at})
        self.assertEqual(found["responses"][0]["hits"]["total"]["value"], 2)
        at = self.glsn("PUT", "/a/_doc/3", b'{"n": 3}')
        found = self.raw("GET", "/a/_search", params={"after_glsn": at})
        self.assertEqual(found["hits"]["total"]["value"], 3)
        at = self.glsn("PUT", "/a/_doc/4", b'{"n": 4}')
        found = self.raw("GET", "/a/_doc/4", params={"after_glsn": at, "realtime": "false"})
        self.assertTrue(found["found"])

    def test_a_point_in_time_tells_its_position(self):
        for index in ("a", "b"):
            self.client.indices.create(index=index, body={"settings": {"refresh_interval": "-1"}})
        self.client.index(index="a", id="1", body={"n": 1})
        at = self.glsn("PUT", "/b/_doc/1", b'{"n": 1}')
        pit = "/a,b/_search/point_in_time?keep_alive=1m"
        self.assertLess(self.glsn("POST", pit), at)
        self.assertGreaterEqual(self.glsn("POST", f"{pit}&after_glsn={at}"), at)
        [old, new] = [p["pit_id"] for p in self.raw("GET", "/_search/point_in_time/_all")["pits"]]
        counts = []
        for identity in (old, new):
            found = self.raw("POST", "/_search", body={"pit": {"id": identity}})
            counts.append(found["hits"]["total"]["value"])
        self.assertEqual(sorted(counts), [0, 2])
