"""Kills the server in the middle of bulk writes. Every write that was acknowledged is there after a
restart: found once, in the right version, by id, by word and by vector."""

import dataclasses
import random
import threading

import numpy
from opensearchpy.exceptions import TransportError

from .base import ClewTest

ROUNDS = 8
WRITERS = 4
IDS_PER_WRITER = 60
ACTIONS_PER_BULK = 25
BULKS_BEFORE_KILL = (10, 150)
DIMENSION = 16
NEIGHBOURS_CHECKED = 40

MAPPING = {
    "properties": {
        "mark": {"type": "integer"},
        "tag": {"type": "keyword"},
        "words": {"type": "text"},
        "emb": {
            "type": "knn_vector",
            "dimension": DIMENSION,
            "method": {"name": "hnsw", "engine": "faiss", "space_type": "l2"},
        },
    }
}


MAINTENANCE = [
    lambda client: client.indices.refresh(index="crash"),
    lambda client: client.indices.flush(index="crash"),
    lambda client: client.indices.forcemerge(index="crash", max_num_segments=1),
]


@dataclasses.dataclass(frozen=True)
class State:
    """What a document holds: the mark of its last write and the mark that made its vector."""

    mark: int
    emb: int
    version: int | None = None


def vector(identity, mark):
    return numpy.random.default_rng([*identity.encode(), mark]).normal(size=DIMENSION).tolist()


def fields(identity, mark):
    return {"mark": mark, "tag": f"{identity}-{mark}", "words": f"common word{identity}x{mark}"}


class Writer(threading.Thread):
    """Writes its own ids only, so that it knows what each of them must hold. `None` is absent."""

    def __init__(self, number, client, seed, known, progress):
        super().__init__(name=f"writer-{number}")
        self.client = client
        self.random = random.Random(seed)
        self.ids = [f"w{number}d{n}" for n in range(IDS_PER_WRITER)]
        self.known = {identity: known.get(identity) for identity in self.ids}
        self.progress = progress
        self.in_doubt = {}
        self.failure = None

    def run(self):
        try:
            while self.write_one_bulk():
                self.progress.release()
        except Exception as error:  # The main thread reports it.
            self.failure = error
        finally:
            self.progress.release()

    def write_one_bulk(self):
        lines, planned = [], []
        after = dict(self.known)
        for _ in range(ACTIONS_PER_BULK):
            identity = self.random.choice(self.ids)
            mark = self.random.randrange(1 << 30)
            state = after[identity]
            kind = self.random.choices(["index", "update", "delete"], [5, 3, 2])[0]
            meta = {"_index": "crash", "_id": identity}
            if kind == "delete" and state is not None:
                lines.append({"delete": meta})
                after[identity] = None
            elif kind == "update" and state is not None:
                lines += [{"update": meta}, {"doc": fields(identity, mark)}]
                after[identity] = State(mark, state.emb)
            else:
                lines += [{"index": meta}, {**fields(identity, mark), "emb": vector(identity, mark)}]
                after[identity] = State(mark, mark)
            planned.append((identity, after[identity]))
        try:
            reply = self.client.bulk(body=lines)
        except TransportError:
            # Any part of the bulk may have been done.
            for identity, state in planned:
                self.in_doubt.setdefault(identity, [self.known[identity]]).append(state)
            return False
        if reply["errors"]:
            raise AssertionError(f"a write was refused: {reply}")
        for (identity, state), item in zip(planned, reply["items"], strict=True):
            (result,) = item.values()
            version = result["_version"]
            self.known[identity] = state and dataclasses.replace(state, version=version)
        return True


class Crash(ClewTest):
    def setUp(self):
        super().setUp()
        body = {
            "settings": {"number_of_shards": 2, "refresh_interval": "50ms"},
            "mappings": MAPPING,
        }
        self.client.indices.create(index="crash", body=body)

    def test_acknowledged_writes_survive_kills(self):
        chance = random.Random(7)
        known = {}
        for _ in range(ROUNDS):
            writers = self.write_until_killed(chance, known)
            self.server.start()
            type(self).client = self.server.client()
            self.client.indices.refresh(index="crash")
            known = self.check(writers)
            self.check_vectors(known, chance)

    def write_until_killed(self, chance, known):
        progress = threading.Semaphore(0)
        writers = [
            Writer(number, self.server.client(), chance.random(), known, progress)
            for number in range(WRITERS)
        ]
        for writer in writers:
            writer.start()
        for _ in range(chance.randint(*BULKS_BEFORE_KILL)):
            self.assertTrue(progress.acquire(timeout=60), "the writers are stuck")
            if chance.random() < 0.02:
                chance.choice(MAINTENANCE)(self.client)
        maintenance = threading.Thread(target=self.maintain, args=[chance.choice(MAINTENANCE)])
        maintenance.start()
        self.server.kill()
        maintenance.join()
        for writer in writers:
            writer.join()
            writer.client.close()
            self.assertIsNone(writer.failure)
        return writers

    def maintain(self, action):
        """The server may die in the middle of it."""
        try:
            action(self.client)
        except TransportError:
            pass

    def check(self, writers):
        """By id and by a search for everything; returns what each document holds now."""
        hits = self.client.search(
            index="crash", body={"size": 5000, "version": True, "track_total_hits": True}
        )["hits"]
        found = {}
        for hit in hits["hits"]:
            self.assertNotIn(hit["_id"], found, "found twice")
            found[hit["_id"]] = hit
        self.assertEqual(hits["total"]["value"], len(found))
        now = {}
        for writer in writers:
            documents = self.client.mget(index="crash", body={"ids": writer.ids})["docs"]
            for document in documents:
                identity = document["_id"]
                allowed = writer.in_doubt.get(identity, [writer.known[identity]])
                now[identity] = self.check_document(document, allowed)
                hit = found.pop(identity, None)
                if now[identity] is None:
                    self.assertIsNone(hit, f"{identity} is deleted but found")
                    continue
                self.assertIsNotNone(hit, f"{identity} is there but not found")
                self.assertEqual(hit["_source"], document["_source"])
                self.assertEqual(hit["_version"], document["_version"])
        self.assertEqual(found, {}, "documents that nobody wrote")
        self.check_words(now)
        return now

    def check_document(self, document, allowed):
        """The document holds one of the allowed states, all of it."""
        identity = document["_id"]
        if not document["found"]:
            self.assertIn(None, allowed, f"{identity} is lost")
            return None
        source = document["_source"]
        matching = [state for state in allowed if state and state.mark == source["mark"]]
        self.assertTrue(matching, f"{identity} holds {source['mark']}, allowed are {allowed}")
        state = matching[-1]
        if state.version is not None:
            self.assertEqual(document["_version"], state.version)
        expected = {
            **fields(identity, state.mark),
            "emb": numpy.float32(vector(identity, state.emb)).tolist(),
        }
        source = {**source, "emb": numpy.float32(source["emb"]).tolist()}
        self.assertEqual(source, expected)
        return dataclasses.replace(state, version=document["_version"])

    def check_words(self, now):
        """Each document is found by a word that only its last write has, and by no older one."""
        living = {identity: state for identity, state in now.items() if state}
        lines = []
        for identity, state in living.items():
            word = f"word{identity}x{state.mark}"
            lines += [{}, {"query": {"match": {"words": word}}, "_source": False}]
        if lines:
            responses = self.client.msearch(index="crash", body=lines)["responses"]
            for identity, reply in zip(living, responses, strict=True):
                self.assertEqual([hit["_id"] for hit in reply["hits"]["hits"]], [identity])
        count = self.client.count(index="crash", body={"query": {"match": {"words": "common"}}})
        self.assertEqual(count["count"], len(living))

    def check_vectors(self, now, chance):
        """Each document is its own vector's nearest neighbour, once."""
        living = sorted(identity for identity, state in now.items() if state)
        for identity in chance.sample(living, min(NEIGHBOURS_CHECKED, len(living))):
            query = {"vector": vector(identity, now[identity].emb), "k": 5}
            body = {"size": 5, "_source": False, "query": {"knn": {"emb": query}}}
            hits = self.client.search(index="crash", body=body)["hits"]["hits"]
            self.assertEqual(hits[0]["_id"], identity)
            self.assertAlmostEqual(hits[0]["_score"], 1.0, places=5)
            ids = [hit["_id"] for hit in hits]
            self.assertEqual(len(ids), len(set(ids)))


class FieldsThatDocumentsBrought(ClewTest):
    """Fields that were added after the catalog was saved, in segments that were saved since."""

    def test_they_are_found_after_a_crash_without_another_write(self):
        for flushed in (lambda: self.client.indices.flush(index="brought"),
                        lambda: self.client.indices.forcemerge(index="brought", max_num_segments=1)):
            self.client.indices.create(index="brought")
            self.client.index(index="brought", id="1", body={"word": "found", "number": 5}, refresh=True)
            flushed()
            self.restart()
            for query in ({"match": {"word": "found"}}, {"term": {"number": 5}}):
                hits = self.client.search(index="brought", body={"query": query})["hits"]["hits"]
                self.assertEqual([hit["_id"] for hit in hits], ["1"], query)
            self.client.indices.delete(index="brought")
