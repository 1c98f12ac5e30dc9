"""Kills the server in the middle of appends. Producers that repeat what was not acknowledged find
every entry once, in their order."""

import contextlib
import itertools
import random
import threading
import unittest

import grpc

from opensearch.clew_server import ClewServer

from .base import TIMEOUT_SECONDS, Client, request

ROUNDS = 10
PRODUCERS = 4
REPLIES_BEFORE_KILL = (20, 300)
# The server remembers the last 16 batches of a producer: more must not be unanswered.
UNANSWERED_MAX = 16


class Producer:
    """Writes the numbers of its own stream, one batch after the other, many at a time."""

    def __init__(self, number):
        self.number = number
        self.stream = f"s{number}"
        self.acknowledged = 0
        self.last_llsn = 0

    def payloads(self, sequence):
        """A batch is known by its number, so that a repetition is the same."""
        count = 1 + sequence % 4
        return [b"%d-%d-%d" % (self.number, sequence, n) for n in range(count)]

    def requests(self, first, room, stop):
        """An endless pipeline from a batch on."""
        for sequence in itertools.count(first):
            room.acquire()
            if stop.is_set():
                return
            yield request(self.stream, *self.payloads(sequence),
                          producer={"id": self.number, "sequence": sequence})

    def run(self, address, progress):
        client = Client(address)
        stop, room = threading.Event(), threading.Semaphore(UNANSWERED_MAX)
        try:
            replies = client.stub.AppendStream(self.requests(self.acknowledged + 1, room, stop))
            # The server's end is an error, and what it has not answered is in doubt.
            with contextlib.suppress(grpc.RpcError):
                for reply in replies:
                    self.take_in(reply)
                    room.release()
                    progress.release()
        finally:
            stop.set()
            room.release()
            client.close()
            progress.release()

    def take_in(self, reply):
        if not reply.HasField("appended"):
            raise AssertionError(f"refused: {reply.error}")
        appended = reply.appended
        if appended.first_llsn != self.last_llsn + 1:
            raise AssertionError(f"{appended} does not follow {self.last_llsn}")
        self.acknowledged += 1
        self.last_llsn = appended.last_llsn


class Crash(unittest.TestCase):
    def test_killed_servers_lose_and_repeat_nothing(self):
        chance = random.Random(11)
        producers = [Producer(number) for number in range(PRODUCERS)]
        with ClewServer() as server:
            for _ in range(ROUNDS):
                self.write_until_killed(server, producers, chance)
                server.start()
                client = Client(server.grpc_address)
                for producer in producers:
                    self.check(client, producer)
                client.close()

    def write_until_killed(self, server, producers, chance):
        progress = threading.Semaphore(0)
        failures = []

        def run(producer):
            try:
                producer.run(server.grpc_address, progress)
            except Exception as error:  # The main thread reports it.
                failures.append(error)

        threads = [threading.Thread(target=run, args=[producer]) for producer in producers]
        for thread in threads:
            thread.start()
        for _ in range(chance.randint(*REPLIES_BEFORE_KILL)):
            self.assertTrue(progress.acquire(timeout=TIMEOUT_SECONDS), "the producers are stuck")
        server.kill()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def check(self, client, producer):
        """What is there is the beginning of what was sent, and all that was acknowledged."""
        found = client.payloads(producer.stream) if producer.acknowledged else []
        sent = itertools.chain.from_iterable(map(producer.payloads, itertools.count(1)))
        self.assertEqual(found, list(itertools.islice(sent, len(found))))
        # Which is nothing of one whose turn never came.
        self.assertGreaterEqual(len(found), producer.last_llsn)
        # A batch is there as a whole or not at all.
        sizes = itertools.accumulate((len(producer.payloads(n)) for n in itertools.count(1)), initial=0)
        self.assertEqual(next(size for size in sizes if size >= len(found)), len(found))
