"""What sessions of pymilvus share: a client, checks that are counted, vectors by a seed."""

import http.client
import json
import logging
import random

import pymilvus
from pymilvus import MilvusClient, MilvusException

logging.disable(logging.CRITICAL)


class Session:
    """A client of the server at `uri`, and how many of its checks were held."""

    def __init__(self, uri, seed=2):
        self.uri = uri
        self.client = MilvusClient(uri=uri)
        self.random = random.Random(seed)
        self.checks = 0

    def same(self, got, want, what):
        self.checks += 1
        assert got == want, f"{what}: {got!r} is not {want!r}"

    def refused(self, code, said, call):
        """A call fails with this code, and says this."""
        self.checks += 1
        try:
            call()
        except MilvusException as error:
            assert error.code == code, f"{error.code} is not {code}: {error.message}"
            assert said in error.message, f"{said!r} is not in {error.message!r}"
            return
        raise AssertionError(f"nothing was refused: {said}")

    def vector(self, dim):
        return [self.random.gauss(0, 1) for _ in range(dim)]

    def count(self, name, filter="", **more):
        return self.client.query(name, filter=filter, output_fields=["count(*)"], **more)[0]["count(*)"]

    def close(self):
        """Says what was held, for the test that started the session."""
        print(json.dumps({"version": pymilvus.__version__, "checks": self.checks}))


class Rest:
    """OpenSearch's API of the same server."""

    def __init__(self, address):
        self.address = address

    def ask(self, method, path, body=None, status=200):
        """The answer to a request, which must have this status. Lists are lines of JSON."""
        lines = body if isinstance(body, list) else [body]
        data = None if body is None else "".join(json.dumps(line) + "\n" for line in lines).encode()
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.request(method, path, data, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            answer = json.loads(reply.read() or b"{}")
        finally:
            connection.close()
        assert reply.status == status, (reply.status, answer)
        return answer


def product(a, b):
    return sum(x * y for x, y in zip(a, b))


def cosine(a, b):
    return product(a, b) / (product(a, a) * product(b, b)) ** 0.5


def squared(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def rounded(vector, digits=4):
    return [round(float(x), digits) for x in vector]
