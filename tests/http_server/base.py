"""What the tests of the HTTP server share: the real binary, and clients that send bytes as they are."""

import contextlib
import json
import re
import socket
import time
import unittest

from opensearch.clew_server import ClewServer

# Longer than anything here takes on a busy machine.
LONG = 120


class HttpTest(unittest.TestCase):
    """A test against a server of its class's own."""

    env = {}

    @classmethod
    def setUpClass(cls):
        cls.server = ClewServer(env=cls.env)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)
        host, port = cls.server.address.rsplit(":", 1)
        cls.address = (host, int(port))

    def connect(self):
        stream = socket.create_connection(self.address, timeout=LONG)
        self.addCleanup(stream.close)
        return stream

    def send(self, data):
        """A connection that has sent this, or what the server wanted of it: one that was closed has its answer to be read."""
        stream = self.connect()
        with contextlib.suppress(ConnectionError):
            stream.sendall(data)
        return stream

    def ask(self, method, path, headers=(), body=b"", host=None):
        """The status, headers and body of one answer; headers are lines as they are sent."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or self.server.address}", *headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        head = "\r\n".join([*lines, "Connection: close", "", ""])
        answers = split(rest(self.send(head.encode() + body)))
        self.assertEqual(len(answers), 1, answers)
        return answers[0]

    def json(self, method, path, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        kind = ["Content-Type: application/json"] if body is not None else []
        status, _, text = self.ask(method, path, kind, data)
        self.assertLess(status, 300, text)
        return json.loads(text)

    def metric(self, name, **labels):
        _, _, page = self.ask("GET", "/_metrics")
        label = "".join(f'{{{key}="{value}"}}' for key, value in labels.items())
        found = re.search(rf"^{re.escape(name + label)} (\S+)$", page, re.MULTILINE)
        return float(found[1]) if found else 0.0

    def until(self, condition, what):
        deadline = time.monotonic() + LONG
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)


def rest(stream):
    """Everything until the server closes, or resets, the connection."""
    data = bytearray()
    try:
        while part := stream.recv(1 << 16):
            data += part
    except ConnectionResetError:
        pass
    return bytes(data)


def split(data):
    """The answers in what a server has sent: status, headers, text."""
    answers = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(": ")
            headers.setdefault(name.lower(), value)
        length = int(headers.get("content-length", 0))
        status = int(first.split(" ")[1])
        body, data = data[:length], data[length:]
        answers.append((status, headers, body.decode()))
    return answers


def statuses(data):
    return [status for status, _, _ in split(data)]


def answer(stream):
    """One answer of a connection that stays open."""
    data = bytearray()
    while b"\r\n\r\n" not in data:
        part = stream.recv(1)
        if not part:
            raise AssertionError(f"closed after {bytes(data)!r}")
        data += part
    length = re.search(rb"content-length: (\d+)", data)
    left = int(length[1]) if length else 0
    while left:
        part = stream.recv(left)
        if not part:
            raise AssertionError(f"closed after {bytes(data)!r}")
        data += part
        left -= len(part)
    return split(bytes(data))[0]
