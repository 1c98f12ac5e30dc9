"""One connection to a server, without a client's help: what is sent is what was made."""

import http.client
import json
from urllib.parse import urlparse

SECONDS_MAX = 120


class Wire:
    """Requests one after another."""

    def __init__(self, url):
        address = urlparse(url)
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=SECONDS_MAX)

    def call(self, method, path, body=None):
        """The status and the answer as JSON."""
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        self.connection.request(method, path, body.encode() if body else None, headers)
        reply = self.connection.getresponse()
        data = reply.read()
        return reply.status, json.loads(data) if data else {}

    def need(self, method, path, body=None):
        """The answer to a request that must work."""
        status, answer = self.call(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {json.dumps(answer)[:1000]}")
        return answer
