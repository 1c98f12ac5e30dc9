"""What the checks are for they must find: each is shown a server that differs from its model."""

import random

from .base import FaultTest
from .checks import DocumentChecks, Wrong
from .corpus import State, create
from .writer import Documents, Writer


class Checks(FaultTest):
    def setUp(self):
        server = self.serve()
        self.client = self.enterContext(server.client())
        create(self.client)
        self.documents = Documents(1)
        writer = Writer(0, self.client, self.documents, seed=1)
        while writer.acknowledged < 300:
            writer.step()
        self.check()
        self.living = [key for key, possible in self.documents.possible.items() if possible.value]

    def check(self):
        DocumentChecks(self.client, self.documents, random.Random(1)).run()

    def found(self, what):
        with self.assertRaisesRegex(Wrong, what):
            self.check()

    def test_a_lost_document_is_found(self):
        absent = next(key for key, possible in self.documents.possible.items() if not possible.value)
        self.documents.possible[absent].acknowledged(State(1, 1, 1))
        self.found(f"{'/'.join(absent)} holds None")

    def test_an_older_version_is_found(self):
        possible = self.documents.possible[self.living[0]]
        possible.acknowledged(possible.value._replace(version=possible.value.version + 1))
        self.found(f"{'/'.join(self.living[0])} holds")

    def test_a_document_that_came_back_is_found(self):
        self.documents.possible[self.living[-1]].acknowledged(None)
        self.found(f"{'/'.join(self.living[-1])} holds State")

    def test_a_document_that_nobody_wrote_is_found(self):
        del self.documents.possible[self.living[-1]]
        self.found("ids that a search")

    def test_a_sequence_number_given_twice_is_found(self):
        index, identity = self.living[0]
        number = self.client.done("GET", f"/{index}/_doc/{identity}")["_seq_no"]
        shard = DocumentChecks(self.client, self.documents, None).shard(index, identity)
        self.documents.given[index, shard, number] = ("another", 1)
        self.found("writes of")
