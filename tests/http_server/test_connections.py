"""Connections that do nothing, or too slowly, and too many of them."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import unittest.mock
import urllib.request

from opensearch.clew_server import CUT_OFF, ClewServer

from .base import LONG, HttpTest, answer, rest, statuses

GET = b"GET /_cat/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = (b"POST /_bulk HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n")


class HeadTimeoutTest(HttpTest):
    """A test that is itself held up for as long as a head has time is closed without a word, and tries again."""

    env = {"CLEW_HTTP__HEADER_TIMEOUT_MS": "500"}

    def closed(self):
        found = []

        def asked():
            with contextlib.suppress(AssertionError):
                found.append(self.metric("http_connections_closed_total", reason="header_timeout"))
            return found

        self.until(asked, "the metrics are told")
        return found[0]

    def test_a_head_has_its_time(self):
        before = self.closed()
        for data in [b"G", GET[:-2], GET[:20]]:
            self.until(lambda: statuses(rest(self.send(data))) == [408], f"{data} is answered")
        self.assertEqual(rest(self.connect()), b"")
        self.until(lambda: self.closed() >= before + 4, "four closed")

    def test_a_head_that_trickles_has_no_more_time(self):
        self.until(lambda: self.trickled().startswith(b"HTTP/1.1 408 "), "it is answered")

    def trickled(self):
        """What comes while a head is sent letter by letter."""
        stream = self.send(GET[:10])
        started = time.monotonic()
        stream.settimeout(0.05)
        while True:
            with contextlib.suppress(ConnectionError):
                stream.sendall(b"x")
            try:
                return stream.recv(100)
            except TimeoutError:
                self.assertLess(time.monotonic() - started, LONG)
            except ConnectionError:
                return b""


class TimeoutTest(HttpTest):
    env = {"CLEW_HTTP__BODY_TIMEOUT_MS": "200", "CLEW_HTTP__IDLE_TIMEOUT_MS": "200"}

    def closed(self, reason):
        return self.metric("http_connections_closed_total", reason=reason)

    def test_a_body_has_its_time(self):
        stream = self.send(POST)
        self.assertEqual(answer(stream)[0], 100)
        stream.sendall(b" " * 10)
        text = rest(stream)
        self.assertEqual(statuses(text), [408])
        self.assertIn(b"[200ms]", text)
        stream.close()
        self.until(lambda: self.closed("body_timeout") >= 1, "it is counted")

    def test_an_idle_connection_has_its_time(self):
        stream = self.send(GET)
        self.assertEqual(answer(stream)[0], 200)
        self.assertEqual(rest(stream), b"")
        self.until(lambda: self.closed("idle_timeout") >= 1, "it is counted")


class ManyTest(HttpTest):
    env = {"CLEW_HTTP__CONNECTIONS_MAX": "20"}

    def test_half_sent_requests_keep_nobody_out(self):
        half = [self.send(GET[:-3]) for _ in range(500)]
        for _ in range(10):
            with urllib.request.urlopen(self.server.url + "/_health", timeout=LONG) as reply:
                self.assertEqual(reply.status, 200)
        # The newest are still there.
        half[-1].sendall(GET[-3:])
        self.assertEqual(answer(half[-1])[0], 200)
        self.assertEqual(rest(half[0]), b"")
        self.until(lambda: self.metric("http_connections_closed_total", reason="room") >= 480, "those before are closed")
        self.assertLessEqual(self.metric("http_connections_open"), 20)

    def test_busy_connections_are_not_closed_for_new_ones(self):
        busy = []
        for _ in range(20):
            busy.append(self.send(POST))
            # It is under way before the next comes.
            self.assertEqual(answer(busy[-1])[0], 100)
        self.assertEqual(statuses(rest(self.send(GET))), [503])
        for stream in busy:
            stream.sendall(b" " * 1000)
        for stream in busy:
            self.assertEqual(answer(stream)[0], 400)
        self.assertEqual(answer(self.send(GET))[0], 200)
        self.assertGreaterEqual(self.metric("http_connections_refused_total"), 1)

    def test_the_api_tells_of_connections(self):
        stream = self.send(GET)
        answer(stream)
        reply = self.json("GET", "/_nodes/stats/http")
        (node,) = reply["nodes"].values()
        self.assertGreaterEqual(node["http"]["current_open"], 2)
        self.assertGreaterEqual(node["http"]["total_opened"], node["http"]["current_open"])


class FewFilesTest(HttpTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="clew-few-files-")
        cls.addClassCleanup(shutil.rmtree, folder)
        limited = pathlib.Path(folder) / "clew"
        limited.write_text(f'#!/bin/sh\nulimit -n 128\nexec "{os.environ["CLEW_BIN"]}" "$@"\n')
        limited.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, CLEW_BIN=str(limited)):
            super().setUpClass()

    def test_connections_leave_files_to_the_engine(self):
        idle = [self.send(GET[:-2]) for _ in range(300)]
        grpc_host, grpc_port = self.server.grpc_address.rsplit(":", 1)
        for _ in range(100):
            stream = socket.create_connection((grpc_host, int(grpc_port)), timeout=LONG)
            self.addCleanup(stream.close)
        for number in range(10):
            reply = self.json("PUT", f"/i{number}/_doc/1?refresh=true", {"n": number})
            self.assertEqual(reply["_shards"]["failed"], 0)
        self.assertEqual(self.json("POST", "/_flush")["_shards"]["failed"], 0)
        self.assertEqual(self.json("GET", "/_count")["count"], 10)
        self.assertEqual(self.metric("http_accept_errors_total"), 0)
        self.assertLessEqual(self.metric("http_connections_open"), 64)
        idle[-1].sendall(GET[-2:])
        self.assertEqual(answer(idle[-1])[0], 200)

    def test_more_connections_than_files_are_no_configuration(self):
        env = {**os.environ, "CLEW_HTTP__CONNECTIONS_MAX": "100000000"}
        started = subprocess.run([os.environ["CLEW_BIN"], "serve", "--data", self.server.data],
                                 env=env, capture_output=True, timeout=LONG)
        self.assertNotEqual(started.returncode, 0)
        self.assertIn(b"[http.connections_max]", started.stderr)


class StopTest(unittest.TestCase):
    def test_a_stop_waits_for_requests_only(self):
        with ClewServer() as server:
            host, port = server.address.rsplit(":", 1)

            def send(data):
                stream = socket.create_connection((host, int(port)), timeout=LONG)
                self.addCleanup(stream.close)
                stream.sendall(data)
                return stream

            idle, half, silent = send(GET), send(GET[:-4]), send(b"")
            answer(idle)
            busy = send(POST)
            self.assertEqual(answer(busy)[0], 100)
            server.process.send_signal(signal.SIGTERM)
            for stream in [idle, half, silent]:
                self.assertEqual(rest(stream), b"")
            busy.sendall(b" " * 1000)
            status, headers, _ = answer(busy)
            # A bulk of which nothing is written yet is to be sent again.
            self.assertEqual((status, headers["connection"]), (503, "close"))
            self.assertNotIn(CUT_OFF, server.stop())

    def test_a_stop_waits_as_long_as_it_is_told_to(self):
        with ClewServer(env={"CLEW_STOP__GRACE_MS": "100"}) as server:
            host, port = server.address.rsplit(":", 1)
            with socket.create_connection((host, int(port)), timeout=LONG) as busy:
                busy.sendall(POST)
                self.assertEqual(answer(busy)[0], 100)
                # Of a client that is silent the server itself takes leave only later.
                self.assertIn(CUT_OFF, server.stop())
                self.assertEqual(rest(busy), b"")
