"""A thin HTTP client: it never repeats a request, and tells *refused* from *unanswered*."""

import http.client
import json


class Unanswered(Exception):
    """The connection ended before the whole answer was there: what was asked may or may not be done."""


class Reply:
    """A status and a body, decoded when somebody asks for it."""

    __slots__ = ("status", "raw", "headers")

    def __init__(self, status, raw, headers=None):
        self.status, self.raw, self.headers = status, raw, headers or {}

    @property
    def ok(self):
        return self.status < 300

    @property
    def body(self):
        return json.loads(self.raw) if self.raw else None

    @property
    def text(self):
        return self.raw.decode(errors="replace")

    def __repr__(self):
        return f"{self.status} {self.text[:500]}"


class Client:
    """One connection, for one thread."""

    def __init__(self, address, timeout=60):
        self.address, self.timeout = address, timeout
        self.connection = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def request(self, method, path, body=None, kind="application/json", headers=None):
        """`body` is bytes or text as they are, a list as lines of a bulk, or anything else as JSON."""
        if self.connection is None:
            host, port = self.address.rsplit(":", 1)
            self.connection = http.client.HTTPConnection(host, int(port), timeout=self.timeout)
        if isinstance(body, list):
            body, kind = "".join(json.dumps(line) + "\n" for line in body), "application/x-ndjson"
        elif body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        try:
            self.connection.request(method, path, body=body, headers={"Content-Type": kind, **(headers or {})})
            reply = self.connection.getresponse()
            return Reply(reply.status, reply.read(), reply.headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unanswered(f"{method} {path}: {error!r}") from error

    def get(self, path, body=None):
        return self.request("GET", path, body)

    def put(self, path, body=None):
        return self.request("PUT", path, body)

    def post(self, path, body=None):
        return self.request("POST", path, body)

    def delete(self, path):
        return self.request("DELETE", path)

    def done(self, method, path, body=None):
        """The body of a request that must be answered with success."""
        reply = self.request(method, path, body)
        if not reply.ok:
            raise AssertionError(f"{method} {path} was refused: {reply!r}")
        return reply.body
