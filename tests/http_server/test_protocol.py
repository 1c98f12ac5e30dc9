"""Bytes as they come, and the statuses that they are answered with; what RFC 9110 and 9112 ask for."""

import socket

from .base import HttpTest, answer, rest, split, statuses

LIMIT = 100_000

HOST = b"Host: localhost\r\n"
GET = b"GET /_cat/health HTTP/1.1\r\n" + HOST + b"\r\n"
END = b"Connection: close\r\n\r\n"


def chunked(body):
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def count(*lines, body=b""):
    """A request that counts with these lines in its head."""
    head = b"POST /_count HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
    return head + b"".join(line + b"\r\n" for line in lines) + END + body


# What is sent, and the statuses of all answers until the server closes.
CASES = {
    "1.1": (b"GET / HTTP/1.1\r\n" + HOST + END, [200]),
    "1.1 without host": (b"GET / HTTP/1.1\r\n" + END, [400]),
    "1.1 with two hosts": (b"GET / HTTP/1.1\r\n" + HOST + HOST + END, [400]),
    "1.0 without host": (b"GET / HTTP/1.0\r\n\r\n", [200]),
    "1.0 with host": (b"GET / HTTP/1.0\r\n" + HOST + b"\r\n", [200]),
    "0.9": (b"GET /\r\n\r\n", [400]),
    "2.0": (b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", [400]),
    "HTTP/2 unasked": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 50, [400]),
    "nothing but line ends, then a request": (b"\r\n\r\n" + GET[:-2] + END, [200]),
    "bare line feeds": (b"GET / HTTP/1.1\nHost: localhost\nConnection: close\n\n", [200]),
    "no leading slash": (b"GET _cat/health HTTP/1.1\r\n" + HOST + END, [400]),
    "absolute form": (b"GET http://localhost/ HTTP/1.1\r\n" + HOST + END, [200]),
    "absolute form of another": (b"GET http://evil.example/ HTTP/1.1\r\n" + HOST + END, [403]),
    "authority form": (b"CONNECT localhost:80 HTTP/1.1\r\n" + HOST + END, [405]),
    "asterisk form": (b"OPTIONS * HTTP/1.1\r\n" + HOST + END, [200]),
    "unknown method": (b"BREW / HTTP/1.1\r\n" + HOST + END, [405]),
    "method in small letters": (b"get / HTTP/1.1\r\n" + HOST + END, [405]),
    "method with a bad byte": (b"G(T / HTTP/1.1\r\n" + HOST + END, [400]),
    "TRACE": (b"TRACE / HTTP/1.1\r\n" + HOST + END, [405]),
    "space before the colon": (b"GET / HTTP/1.1\r\nHost : localhost\r\n" + END, [400]),
    "folded header": (b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n" + END, [400]),
    "zero byte in a header": (b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n" + END, [400]),
    "carriage return in a header": (b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n" + END, [400]),
    "too many headers": (b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 101 + END, [431]),
    "headers of 100 KB": (b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 100_000 + b"\r\n" + END, [431]),
    "headers of 10 KB": (b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 10_000 + b"\r\n" + END, [200]),
    "path of 60 KB": (b"GET /" + b"a" * 60_000 + b" HTTP/1.1\r\n" + HOST + END, [404]),
    "path of 66 KB": (b"GET /" + b"a" * 66_000 + b" HTTP/1.1\r\n" + HOST + END, [414]),
    "path of 200 KB": (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n" + HOST + END, [431]),
    "length": (count(b"Content-Length: 2", body=b"{}"), [200]),
    "length twice, the same": (count(b"Content-Length: 2", b"Content-Length: 2", body=b"{}"), [200]),
    "lengths that differ": (count(b"Content-Length: 2", b"Content-Length: 3", body=b"{} "), [400]),
    "a list of lengths": (count(b"Content-Length: 2, 2", body=b"{}"), [400]),
    "length with a sign": (count(b"Content-Length: +2", body=b"{}"), [400]),
    "length below zero": (count(b"Content-Length: -1"), [400]),
    "length in words": (count(b"Content-Length: two"), [400]),
    "length beyond 64 bits": (count(b"Content-Length: 99999999999999999999"), [400]),
    "chunks": (count(b"Transfer-Encoding: chunked", body=chunked(b"{}")), [200]),
    # By the chunks, and nothing behind it is believed.
    "chunks and a length": (
        count(b"Transfer-Encoding: chunked", b"Content-Length: 4", body=chunked(b"{}") + GET), [200]),
    "a length and chunks": (
        count(b"Content-Length: 4", b"Transfer-Encoding: chunked", body=chunked(b"{}") + GET), [200]),
    "a length and chunks of a connection that goes on": (
        count(b"Content-Length: 4", b"Transfer-Encoding: chunked",
              body=chunked(b"{}") + GET).replace(b"Connection: close\r\n", b""), [200]),
    "chunks twice": (count(b"Transfer-Encoding: chunked, chunked", body=chunked(b"{}")), [501]),
    "chunks in two lines": (
        count(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked", body=chunked(b"{}")), [501]),
    "gzip in chunks": (count(b"Transfer-Encoding: gzip, chunked", body=chunked(b"{}")), [501]),
    "gzip as a transfer coding": (count(b"Transfer-Encoding: gzip", body=b"{}"), [400]),
    "chunk of no number": (count(b"Transfer-Encoding: chunked", body=b"zz\r\n{}\r\n0\r\n\r\n"), [400]),
    "chunk too large to count": (
        count(b"Transfer-Encoding: chunked", body=b"f" * 17 + b"\r\n{}\r\n"), [400]),
    "chunks above the limit": (
        count(b"Transfer-Encoding: chunked", body=chunked(b" " * (LIMIT + 1))), [413]),
    "body above the limit": (
        count(b"Content-Length: %d" % (LIMIT + 1), body=b" " * (LIMIT + 1)), [413]),
    "pipeline": (GET + GET + GET[:-2] + END, [200, 200, 200]),
    "pipeline behind a body": (
        count(b"Content-Length: 2", body=b"{}").replace(END, b"\r\n") + GET[:-2] + END, [200, 200]),
    "nothing is read behind an error": (b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n" + GET, [400]),
    "nothing is read behind the end": (GET[:-2] + END + GET, [200]),
}


class ProtocolTest(HttpTest):
    env = {"CLEW_HTTP__BODY_BYTES_MAX": str(LIMIT)}

    def test_bytes_are_answered_as_the_rfc_says(self):
        for name, (data, expected) in CASES.items():
            with self.subTest(name):
                self.assertEqual(statuses(rest(self.send(data))), expected)

    def test_a_client_that_closed_its_half_gets_its_answers(self):
        # This one is not answered at once: the end comes first.
        page = GET.replace(b"/_cat/health", b"/_metrics")
        for count in [1, 3]:
            stream = self.send(page * count)
            stream.shutdown(socket.SHUT_WR)
            self.assertEqual(statuses(rest(stream)), [200] * count)
        stream = self.send(page[:-10])
        stream.shutdown(socket.SHUT_WR)
        self.assertEqual(rest(stream), b"")

    def test_a_body_that_is_too_long_is_refused_before_it_is_sent(self):
        for expect in [b"", b"Expect: 100-continue\r\n"]:
            for length in [LIMIT + 1, 10**12, 2**63]:
                head = b"POST /_bulk HTTP/1.1\r\n" + HOST + expect
                stream = self.send(head + b"Content-Length: %d\r\n\r\n" % length)
                status, headers, text = answer(stream)
                self.assertEqual(status, 413, text)
                self.assertIn(f"[{LIMIT}]", text)
                self.assertEqual(headers["connection"], "close")
                # Nothing else comes, and the server closes.
                self.assertEqual(rest(stream), b"")

    def test_a_client_that_sends_on_sees_why_it_was_refused(self):
        stream = self.connect()
        head = b"POST /_bulk HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % 10**12
        stream.sendall(head + b" " * (LIMIT // 2))
        # After this the server has answered, and still reads.
        status, _, _ = answer(stream)
        self.assertEqual(status, 413)
        stream.sendall(b" " * (LIMIT // 4))
        self.assertEqual(rest(stream), b"")

    def test_a_body_that_is_wanted_is_asked_for(self):
        lines = b"Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
        stream = self.send(b"POST /_count HTTP/1.1\r\n" + HOST + lines)
        self.assertEqual(answer(stream)[0], 100)
        stream.sendall(b"{}")
        self.assertEqual(answer(stream)[0], 200)
        stream.sendall(GET)
        self.assertEqual(answer(stream)[0], 200)

    def test_a_refused_request_with_a_body_does_not_become_two(self):
        body = b"DELETE /a HTTP/1.1\r\nHost: localhost\r\n\r\n"
        head = b"POST /_bulk HTTP/1.1\r\nHost: evil.example\r\nContent-Length: %d\r\n\r\n" % len(body)
        answers = split(rest(self.send(head + body + GET[:-2] + END)))
        self.assertIn([status for status, _, _ in answers], [[403], [403, 200]])

