"""Calls of the log's gRPC service with as little of HTTP/2 as they need: large requests, requests that never end,
and answers that nobody reads. Clients of the standard library do not speak HTTP/2."""

import socket
import struct
import time

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
SERVICE = "/clew.log.v1.Log/"
PAYLOAD_BYTES = 15 << 20


class Call:
    """One call on a connection of its own; sends as far as the server's windows allow."""

    def __init__(self, address, method, window=1 << 20, timeout=120):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=timeout)
        self.room = {0: 65_535, 1: 65_535}
        self.frame_bytes_max, self.first_room = 16_384, 65_535
        self.received, self.ended, self.headers, self.reset = 0, False, False, False
        # Setting 4: what the server may send into a call unasked.
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, window)))
        fields = [(":method", "POST"), (":scheme", "http"), (":path", SERVICE + method), (":authority", "localhost"),
                  ("content-type", "application/grpc"), ("te", "trailers")]
        self.socket.sendall(frame(HEADERS, END_HEADERS, 1, b"".join(literal(*field) for field in fields)))

    def send(self, data, last=True):
        """Sends bytes of the call; stops early where the server has ended it."""
        at = 0
        while at < len(data) and not self.ended:
            step = min(len(data) - at, self.room[0], self.room[1], self.frame_bytes_max)
            if step <= 0:
                self.read_frame()
                continue
            self.room = {stream: room - step for stream, room in self.room.items()}
            at += step
            end = END_STREAM if last and at == len(data) else 0
            self.socket.sendall(frame(DATA, end, 1, data[at - step:at]))

    def finish(self):
        """Reads to the call's end. An error has no message with it; what it is, is packed in its headers."""
        while not self.ended:
            self.read_frame()
        self.socket.close()
        return self.said()

    def said(self):
        """How the call has ended, in a word for the table."""
        return "done" if self.received else "reset" if self.reset else "refused"

    def read_frame(self):
        head = self.read(9)
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        stream, payload = int.from_bytes(head[5:], "big"), self.read(length)
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, length, 6):
                self.set(*struct.unpack(">HI", payload[at:at + 6]))
            self.socket.sendall(frame(SETTINGS, ACK, 0, b""))
        elif kind == PING and not flags & ACK:
            self.socket.sendall(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            self.room[stream] = self.room.get(stream, 0) + int.from_bytes(payload, "big")
        elif kind == HEADERS and stream == 1:
            self.headers = True
            self.ended |= bool(flags & END_STREAM)
        elif kind in (RST_STREAM, GOAWAY):
            self.ended, self.reset = True, not self.headers
        elif kind == DATA:
            self.received += length

    def set(self, name, value):
        if name == 4:
            self.room[1] += value - self.first_room
            self.first_room = value
        elif name == 5:
            self.frame_bytes_max = min(value, 1 << 18)

    def read(self, length):
        data = b""
        while len(data) < length:
            part = self.socket.recv(length - len(data))
            if not part:
                raise ConnectionError("closed in the middle of a frame")
            data += part
        return data


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def literal(name, value):
    """A header in HPACK, neither indexed nor packed."""
    return b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(data):
    return b"\x00" + struct.pack(">I", len(data)) + data


def append_of(records):
    return message(field(1, b"hostile") + b"".join(records) + varint(8 << 3) + b"\x01")


LARGE = append_of([field(2, field(1, bytes(PAYLOAD_BYTES)))] * 4)
MANY = append_of([b"\x12\x00" * (10 << 20)])


def acted(work, client):
    try:
        return work(client.grpc)
    except TimeoutError:
        return "no answer"
    except OSError:
        return "closed"


def appended(data):
    def work(address):
        call = Call(address, "Append")
        call.send(data)
        return call.finish()
    return lambda client: acted(work, client)


large_append = appended(LARGE)
many_records = appended(MANY)
KEPT = []


def half_an_append(client):
    """Most of a large message, and then nothing."""
    def work(address):
        call = Call(address, "Append", timeout=3)
        KEPT.append(call)
        call.send(LARGE[:-100], last=False)
        return "sent" if not call.ended else call.said()
    said = acted(work, client)
    return "held back" if said == "no answer" else said


def slow_scan(client):
    """All that the log has, of which next to nothing is taken."""
    def work(address):
        call = Call(address, "Scan", window=1)
        KEPT.append(call)
        call.send(message(b""))
        deadline = time.monotonic() + 2
        call.socket.settimeout(2)
        while time.monotonic() < deadline and not call.ended:
            call.read_frame()
        return "asked"
    said = acted(work, client)
    return "asked" if said == "no answer" else said
