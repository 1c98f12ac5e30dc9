"""The server in a control group of 512 MB: what would have it killed is refused, and it lives.

`CLEW_FAULTS_FULL=1` sends as much as was sent when the limits were chosen; without it less, in less time."""

import gzip
import http.client
import json
import os
import random
import string
import threading
import time
import unittest

from . import grpc_calls
from .cgroup import MemoryGroup, Missing
from .server import Server

MB = 1_000_000
CAP_BYTES = 512 << 20
FULL = os.environ.get("CLEW_FAULTS_FULL") == "1"


def bulk_of(body_bytes):
    """Documents of some fields and words, and how many there are."""
    dice = random.Random(7)
    texts = [" ".join(f"w{dice.randrange(20_000)}" for _ in range(140)) for _ in range(50)]
    lines, size = [], 0
    while size < body_bytes:
        line = f'{{"index":{{}}}}\n{{"n":{len(lines)},"text":"{texts[len(lines) % 50]}"}}\n'
        lines.append(line)
        size += len(line)
    return "".join(lines).encode(), len(lines)


class MemoryCap(unittest.TestCase):
    def setUp(self):
        group = MemoryGroup(CAP_BYTES)
        try:
            group.__enter__()
        except Missing as missing:
            self.skipTest(str(missing))
        self.addCleanup(group.__exit__)
        self.group = group
        self.server = Server(group=group)
        self.addCleanup(self.server.__exit__)
        self.server.__enter__()
        self.small, self.over = [], threading.Event()

    def send(self, method, path, body, headers=None):
        host, port = self.server.address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=600)
        try:
            headers = {"content-type": "application/json", **(headers or {})}
            connection.request(method, path, body=body, headers=headers)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def under_attack(self, count, work):
        """Runs the attack from so many clients, with small requests beside it, which must all do well."""

        def go_on():
            while not self.over.is_set():
                self.small.append(self.send("POST", "/small/_doc", b'{"a":1}')[0])
                time.sleep(0.05)

        answers = [None] * count

        def run(at):
            answers[at] = work(at)

        clients = [threading.Thread(target=run, args=(at,)) for at in range(count)]
        beside = threading.Thread(target=go_on)
        for thread in [beside, *clients]:
            thread.start()
        for thread in clients:
            thread.join()
        self.over.set()
        beside.join()
        self.assertEqual(self.group.kills(), 0)
        self.assertIsNone(self.server.process.poll())
        self.assertEqual(set(self.small), {201})
        return answers

    def check_refused(self, answers, *statuses):
        for status, answer in answers:
            if status not in (200, 201):
                self.assertIn(status, statuses, answer[:500])
                self.assertIn("reason", json.loads(answer)["error"])

    def test_large_bulks_at_once(self):
        body, count = bulk_of(100 * MB if FULL else 40 * MB)
        clients = 50 if FULL else 12
        answers = self.under_attack(clients, lambda _: self.send("POST", "/b/_bulk", body))
        self.check_refused(answers, 429)
        acknowledged = 0
        for status, answer in answers:
            if status == 200:
                items = json.loads(answer)["items"]
                acknowledged += sum(item["index"]["status"] == 201 for item in items)
        self.assertGreaterEqual(acknowledged, count)
        self.send("POST", "/b/_refresh", b"")
        found = json.loads(self.send("GET", "/b/_count", b"")[1])["count"]
        self.assertGreaterEqual(found, acknowledged)

    def test_bodies_that_inflate(self):
        packed = [
            gzip.compress(b'{"index":{}}\n{"text":"' + b"a" * (99 * MB) + b'"}\n'),
            gzip.compress(bytes(1 << 30 if FULL else 300 * MB), 1),
        ]
        headers = {"content-encoding": "gzip"}
        bulk = lambda at: self.send("POST", "/b/_bulk", packed[at % 8 == 7], headers)
        self.check_refused(self.under_attack(9, bulk), 413, 429)

    def test_texts_that_become_much_when_they_are_read(self):
        numbers = b"0," * (49_000_000 if FULL else 20_000_000) + b"0"
        bodies = [
            ("/small/_search", b'{"query":{"terms":{"f":[' + numbers + b"]}}}"),
            ("/b/_doc", b'{"f":[' + numbers[: 15 * MB] + b"0]}"),
            ("/b/_bulk", b'{"index":{}}\n{}\n' * (6_000_000 if FULL else 2_000_000)),
        ]
        answers = self.under_attack(6, lambda at: self.send("POST", *bodies[at % 3]))
        self.check_refused(answers, 413, 429)

    def test_many_large_hits(self):
        dice = random.Random(2)
        for _ in range(10 if FULL else 4):
            texts = ("".join(dice.choices(string.ascii_letters, k=100_000)) for _ in range(100))
            body = "".join(f'{{"index":{{}}}}\n{{"t":"{text}"}}\n' for text in texts).encode()
            self.assertEqual(self.send("POST", "/h/_bulk?refresh", body)[0], 200)
        answers = self.under_attack(
            20, lambda _: self.send("POST", "/h/_search", b'{"size":1000}')
        )
        self.check_refused(answers, 429)
        self.assertEqual(self.send("POST", "/h/_search", b'{"size":10}')[0], 200)

    def test_texts_that_are_looked_through(self):
        text = " ".join(f"w{n % 900} common" for n in range(60_000))
        mapping = {"mappings": {"properties": {"text": {"type": "text", "term_vector": "yes"}}}}
        self.assertEqual(self.send("PUT", "/l", json.dumps(mapping))[0], 200)
        for number in range(6):
            self.assertEqual(self.send("PUT", f"/l/_doc/{number}?refresh", json.dumps({"text": text}))[0], 201)
        whole = {"text": {"number_of_fragments": 0}}
        bodies = [
            ("/l/_search", {"query": {"match": {"text": "common"}}, "highlight": {"fields": whole}}),
            ("/l/_mtermvectors", {"docs": [{"_id": str(n % 6)} for n in range(24)]}),
            ("/_analyze", {"text": text * 20}),
            ("/l/_search", {"suggest": {"a": {"text": text[:20_000], "term": {
                "field": "text", "size": 1000, "suggest_mode": "always"}}}}),
        ]
        bodies = [(path, json.dumps(body)) for path, body in bodies]
        answers = self.under_attack(8, lambda at: self.send("POST", *bodies[at % 4]))
        self.check_refused(answers, 400, 429)

    def test_messages_of_the_log(self):
        acts = [grpc_calls.large_append, grpc_calls.half_an_append, grpc_calls.many_records]
        self.addCleanup(grpc_calls.KEPT.clear)
        answers = self.under_attack(12, lambda at: acts[at % 3](self.server))
        self.assertLessEqual(set(answers), {"done", "refused", "sent", "held back"}, answers)

    def test_large_aggregations(self):
        lines = []
        for number in range(100_000 if FULL else 40_000):
            lines.append(f'{{"index":{{}}}}\n{{"k":"{number:040}","v":{number}}}\n')
        self.assertEqual(self.send("POST", "/g/_bulk?refresh", "".join(lines).encode())[0], 200)
        inside = {
            "c": {"cardinality": {"field": "k.keyword", "precision_threshold": 40_000}},
            "p": {"percentiles": {"field": "v"}},
        }
        terms = {"terms": {"field": "k.keyword", "size": 60_000}, "aggs": inside}
        body = json.dumps({"size": 0, "aggs": {"a": terms}}).encode()
        answers = self.under_attack(8, lambda _: self.send("POST", "/g/_search", body))
        self.check_refused(answers, 429)
