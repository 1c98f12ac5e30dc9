"""What the test modules share: one server for a class, an empty node for every test."""

import contextlib
import time
import unittest

from opensearchpy.exceptions import TransportError

from .clew_server import ClewServer


# Longer than anything that a busy machine does takes.
WAIT_SECONDS_MAX = 120


class ClewTest(unittest.TestCase):
    """A test against a server of its class's own."""

    env = {}

    @classmethod
    def setUpClass(cls):
        cls.server = ClewServer(env=cls.env)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        cls.client = cls.server.client()
        cls.addClassCleanup(cls.client.close)

    def setUp(self):
        # Patterns pass over the index of tasks that have ended.
        self.client.indices.delete(index="*,.tasks", ignore_unavailable=True)

    def restart(self):
        """Kills the server and starts it again over the same data, at another port."""
        self.server.kill()
        self.server.start()
        self.client.close()
        type(self).client = self.server.client()

    def raw(self, method, path, body=None, headers=None, params=None):
        """A request that the client does not check or serialise."""
        return self.client.transport.perform_request(
            method, path, body=body, headers=headers, params=params
        )

    def until(self, look, wanted):
        """Looks until it sees what is wanted: what is told after an answer, or by what goes on beside it, may come late."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while (seen := look()) != wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(seen, wanted)

    @contextlib.contextmanager
    def refused(self, status, kind=None, reason=None):
        """The block must be refused with this status, error type and part of the reason."""
        with self.assertRaises(TransportError) as caught:
            yield caught
        error = caught.exception
        self.assertEqual(error.status_code, status, error)
        if kind is not None:
            self.assertEqual(error.info["error"]["type"], kind, error.info)
            self.assertEqual(error.info["status"], status)
            # What fails when all shards have answered has no roots: these are those of shards that failed.
            self.assertTrue(error.info["error"]["root_cause"] or error.info["error"]["phase"] == "fetch")
        if reason is not None:
            text = error.info["error"]
            text = text if isinstance(text, str) else text["reason"]
            self.assertIn(reason, text)

    def index_all(self, index, documents):
        """Writes documents by id and makes them visible."""
        lines = []
        for identity, source in documents.items():
            lines += [{"index": {"_index": index, "_id": identity}}, source]
        reply = self.client.bulk(body=lines, refresh=True)
        self.assertFalse(reply["errors"], reply)

    def hits(self, index, **body):
        return self.client.search(index=index, body=body)["hits"]["hits"]

    def ids(self, index, **body):
        """The ids that a search finds, in order."""
        return [hit["_id"] for hit in self.client.search(index=index, body=body)["hits"]["hits"]]
