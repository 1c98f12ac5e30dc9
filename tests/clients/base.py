"""What the tests of unmodified clients share: where the clients are, and one server for a class."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from tests.opensearch.clew_server import ClewServer

CACHE = pathlib.Path(os.environ.get("CLEW_CACHE", pathlib.Path.home() / ".cache" / "clew"))

# Of one run of a client, however busy the machine is.
TOOL_SECONDS_MAX = 900


def tool(path, target):
    """A client below the cache; the class that needs it is skipped, with a reason, without it."""
    found = CACHE / path
    if not found.exists():
        raise unittest.SkipTest(f"{found} is missing: `make {target}` installs it")
    return found


class ClientsTest(unittest.TestCase):
    """A test against a server of its class's own."""

    env = {}

    @classmethod
    def setUpClass(cls):
        cls.server = ClewServer(env=cls.env)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    @property
    def host(self):
        return self.server.address.rsplit(":", 1)[0]

    @property
    def port(self):
        return int(self.server.address.rsplit(":", 1)[1])

    def folder(self):
        """An empty folder for the length of the test."""
        made = tempfile.TemporaryDirectory(prefix="clew-clients-")
        self.addCleanup(made.cleanup)
        return pathlib.Path(made.name)

    def call(self, method, path, body=None, headers=None):
        """Status, headers and body of one request as any HTTP client makes it."""
        data = body
        if body is not None and not isinstance(body, bytes):
            data = json.dumps(body).encode()
        request = urllib.request.Request(self.server.url + path, data=data, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, reply.headers, reply.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def ask(self, method, path, body=None, headers=None):
        """The JSON of a reply that must not be an error."""
        status, _, text = self.call(method, path, body, headers)
        self.assertLess(status, 300, text)
        return json.loads(text)

    def run_tool(self, arguments, timeout_seconds, **options):
        """Runs a program to its end; its output is shown where it fails."""
        done = subprocess.run(
            [str(argument) for argument in arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout_seconds,
            check=False,
            **options,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-6000:])
        return done.stdout


