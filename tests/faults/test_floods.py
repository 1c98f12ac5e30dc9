"""Connections to the gRPC port that do what HTTP/2 allows, or nearly, to wear a server out: they are ended or bounded, and other
clients are served meanwhile."""

import os
import socket
import struct
import threading
import time
import unittest

from .client import Client
from .grpc_calls import frame, literal
from .server import CUT_OFF, Server

DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS = 1, 4
CALLS_MAX = 1_000
SERVICE = "/milvus.proto.milvus.MilvusService/"
# What one connection may cost beside what the allocator keeps.
GROWTH_BYTES_MAX = 64 << 20
FRAMES = 20_000
# Of a flood, and of a wait within it.
SECONDS_MAX = 5
# For an answer on a busy machine.
ANSWER_SECONDS_MAX = 120


def head(path=SERVICE + "Connect"):
    """The headers of a call whose body never comes."""
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
              ("content-type", "application/grpc"), ("te", "trailers")]
    return b"".join(literal(*field) for field in fields)


def streams(count):
    return range(1, 2 * count, 2)


FLOODS = {
    "rapid reset": lambda: (frame(HEADERS, END_HEADERS, n, head()) + frame(RST_STREAM, 0, n, struct.pack(">I", 8)) for n in streams(FRAMES)),
    "endless headers": lambda: (frame(CONTINUATION if n else HEADERS, 0, 1, literal(f"x-{n}", "y" * 100) if n else head())
                                for n in range(FRAMES)),
    "empty continuations": lambda: (frame(CONTINUATION if n else HEADERS, 0, 1, b"" if n else head()) for n in range(FRAMES)),
    "pings": lambda: (frame(PING, 0, 0, b"abcdefgh") for _ in range(FRAMES)),
    "settings": lambda: (frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65_535)) for _ in range(FRAMES)),
    "windows": lambda: (frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)) for _ in range(FRAMES)),
    "empty data": lambda: (frame(DATA if n else HEADERS, 0 if n else END_HEADERS, 1, b"" if n else head()) for n in range(FRAMES)),
    "many calls": lambda: (frame(HEADERS, END_HEADERS, n, head()) for n in streams(FRAMES)),
    "many half messages": lambda: (frame(HEADERS, END_HEADERS, n, head()) + frame(DATA, 0, n, b"\0\0\0\x20\0" + b"a" * 500)
                                   for n in streams(FRAMES)),
}


def connect(server, seconds_max=ANSWER_SECONDS_MAX):
    host, port = server.grpc.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS_MAX)
    connection.settimeout(seconds_max)
    return connection


def flood(server, frames):
    """Sends frames, and takes whatever comes back, until all are sent, the server ends it, or the time is up."""
    with connect(server, SECONDS_MAX) as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b""))

        def take():
            try:
                while connection.recv(1 << 16):
                    pass
            except OSError:
                pass

        taker = threading.Thread(target=take)
        taker.start()
        until = time.monotonic() + SECONDS_MAX
        try:
            for one in frames:
                connection.sendall(one)
                if time.monotonic() > until:
                    break
        except OSError:
            pass  # Ended by the server.
        # What is there of the flood is looked at before it ends.
        time.sleep(0.2)
        used = memory_bytes(server)
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        taker.join()
        return used


def begun_connection(server):
    """A connection that speaks HTTP/2, and says nothing more."""
    connection = connect(server)
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b""))
    return connection


def open_call(server, data, flags):
    """A connection with a call that gives its answer no room."""
    connection = connect(server)
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)))
    connection.sendall(frame(HEADERS, END_HEADERS, 1, head()) + frame(DATA, flags, 1, data))
    return connection


def frame_kind(connection):
    """Of the next frame that comes."""
    head = connection.recv(9, socket.MSG_WAITALL)
    length = int.from_bytes(head[:3], "big")
    if length:
        connection.recv(length, socket.MSG_WAITALL)
    return head[3]


def memory_bytes(server):
    with open(f"/proc/{server.process.pid}/status") as lines:
        (found,) = [line for line in lines if line.startswith("RssAnon:")]
    return int(found.split()[1]) << 10


class Floods(unittest.TestCase):
    def test_what_http_2_allows_wears_no_server_out(self):
        with Server() as server:
            for name, frames in FLOODS.items():
                with self.subTest(name):
                    before = memory_bytes(server)
                    used = flood(server, frames())
                    self.assertLess(used - before, GROWTH_BYTES_MAX, f"{(used - before) >> 20} MiB")
                    with Client(server.grpc, ANSWER_SECONDS_MAX) as client:
                        self.assertEqual(client.done("POST", "/v2/vectordb/collections/list", {})["code"], 0)
            self.assertEqual(server.panics(), [])

    def test_a_connection_has_a_bounded_number_of_calls(self):
        with Server() as server, connect(server) as connection:
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b""))
            told = b""
            while len(told) < 9 or len(told) < 9 + int.from_bytes(told[:3], "big"):
                told += connection.recv(1 << 16)
            length = int.from_bytes(told[:3], "big")
            settings = dict(struct.unpack(">HI", told[9 + at:15 + at]) for at in range(0, length, 6))
            self.assertEqual(settings.get(3), CALLS_MAX)

    @unittest.skipUnless(os.environ.get("CLEW_FAULTS_FULL") == "1", "it waits for ten seconds")
    def test_silent_connections_leave_their_places_to_others(self):
        with Server(env={"CLEW_GRPC__CONNECTIONS_MAX": "3"}) as server:
            silent = [connect(server) for _ in range(3)]
            silent[1].sendall(b"PRI * HT")
            with Client(server.grpc, 30) as client:
                self.assertEqual(client.done("POST", "/v2/vectordb/collections/list", {})["code"], 0)
            begun = [begun_connection(server) for _ in range(3)]
            with Client(server.grpc, 60) as client:
                self.assertEqual(client.done("POST", "/v2/vectordb/collections/list", {})["code"], 0)
            for connection in silent + begun:
                connection.close()

    def test_clients_that_give_no_room_or_half_a_call_do_not_hold_up_a_stop(self):
        whole, half = b"\0\0\0\0\0", b"\0\0\0\x20\0abc"
        with Server() as server:
            kept = [open_call(server, whole, END_STREAM), open_call(server, half, 0)]
            # It is answered but for what has no room.
            while frame_kind(kept[0]) != HEADERS:
                pass
            server.stop()
            self.assertNotIn(CUT_OFF, server.log_text())
            for connection in kept:
                connection.close()

    def test_a_client_that_takes_nothing_does_not_hold_up_a_stop(self):
        with Server() as server:
            with server.client() as client:
                client.done("PUT", "/a/_doc/1?refresh", {"a": "x" * 4_000_000})
            kept = []
            for _ in range(3):
                connection = socket.socket()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                host, port = server.address.rsplit(":", 1)
                connection.connect((host, int(port)))
                connection.sendall(b"GET /a/_doc/1 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 8)
                connection.recv(12)
                kept.append(connection)
            server.stop()
            self.assertNotIn(CUT_OFF, server.log_text())
            for connection in kept:
                connection.close()


if __name__ == "__main__":
    unittest.main()
