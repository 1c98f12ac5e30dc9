"""Zipkin 3.4, unmodified, with its traces in indexes: what is reported to it is found as its own page asks for it."""

import json
import os
import re
import shutil
import subprocess
import time
import urllib.request

from tests.faults.base import eventually

from .base import TOOL_SECONDS_MAX, ClientsTest, tool

TRACES = 20
# Between two looks at a program that takes its time to start.
PAUSE_SECONDS = 0.2
LISTENS = re.compile(r"Serving HTTP at .*127\.0\.0\.1:(\d+)")
ONLY_HERE = ["--armeria.ports[0].ip=127.0.0.1", "--armeria.ports[0].port=0", "--armeria.ports[0].protocols=http"]


def spans(number, now_us):
    """A call that came to `front` and what it asked of `back`; every fifth has failed."""
    trace = f"{number + 1:016x}"
    tags = {"http.path": "/a", **({"error": "yes"} if number % 5 == 0 else {})}
    front = {
        "traceId": trace, "id": trace, "kind": "SERVER", "name": "get /", "timestamp": now_us + number, "duration": 1000 + number,
        "localEndpoint": {"serviceName": "front", "ipv4": "127.0.0.1"}, "tags": tags,
        "annotations": [{"timestamp": now_us, "value": "begun"}],
    }
    back = {
        "traceId": trace, "parentId": trace, "id": f"{number + 1001:016x}", "kind": "CLIENT", "name": "question",
        "timestamp": now_us + number + 5, "duration": 10, "localEndpoint": {"serviceName": "front"},
        "remoteEndpoint": {"serviceName": "back"},
    }
    return [front, back]


class Zipkin(ClientsTest):
    @classmethod
    def setUpClass(cls):
        cls.program = tool("zipkin-3.4.4/zipkin-server-3.4.4-exec.jar", "clients")
        super().setUpClass()

    def start(self):
        """Runs it until the test ends, at an address of this machine alone."""
        log = self.folder() / "zipkin.log"
        with open(log, "wb") as out:
            process = subprocess.Popen(
                ["java", "-Xmx256m", "-jar", self.program, *ONLY_HERE],
                env={**os.environ, "STORAGE_TYPE": "elasticsearch", "ES_HOSTS": self.server.url},
                stdout=out, stderr=subprocess.STDOUT,
            )
        self.addCleanup(process.wait, TOOL_SECONDS_MAX)
        self.addCleanup(process.kill)

        def listens():
            told = log.read_text(errors="replace")
            self.assertIsNone(process.poll(), told[-6000:])
            return LISTENS.search(told)

        port = eventually(listens, "an address that it listens at", TOOL_SECONDS_MAX, PAUSE_SECONDS)[1]
        return f"http://127.0.0.1:{port}"

    def of_zipkin(self, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.zipkin + path, data=data, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=TOOL_SECONDS_MAX) as reply:
            text = reply.read()
        return json.loads(text) if text else None

    def kept(self):
        self.ask("POST", "/zipkin*/_refresh?allow_no_indices=true")
        return self.ask("GET", "/zipkin*span*/_count")["count"]

    def test_traces_are_kept_and_found(self):
        if shutil.which("java") is None:
            self.skipTest("Java is missing")
        self.zipkin = self.start()
        self.assertEqual(self.of_zipkin("/health")["status"], "UP")
        now_us = int(time.time() * 1e6)
        self.of_zipkin("/api/v2/spans", [span for number in range(TRACES) for span in spans(number, now_us)])
        eventually(lambda: self.kept() == 2 * TRACES, "spans that are kept", TOOL_SECONDS_MAX, PAUSE_SECONDS)
        for path, expected in [
            ("services", ["front"]), ("spans?serviceName=front", ["get /", "question"]), ("remoteServices?serviceName=front", ["back"]),
        ]:
            self.assertEqual(self.of_zipkin("/api/v2/" + path), expected, path)
        for asked, count in [
            ("limit=100", TRACES), ("serviceName=front&limit=3", 3), ("annotationQuery=error&limit=100", TRACES // 5),
            ("annotationQuery=http.path%3D%2Fa%20and%20begun&limit=100", TRACES), ("remoteServiceName=back&limit=100", TRACES),
            ("serviceName=front&spanName=question&minDuration=5&maxDuration=100&limit=100", TRACES),
            ("spanName=question&minDuration=500&limit=100", 0), ("minDuration=1015&limit=100", 5),
        ]:
            traces = self.of_zipkin("/api/v2/traces?" + asked)
            self.assertEqual([len(trace) for trace in traces], [2] * count, asked)
        one = self.of_zipkin("/api/v2/trace/0000000000000003")
        self.assertEqual(sorted(span["kind"] for span in one), ["CLIENT", "SERVER"])
        self.assertEqual(len(self.of_zipkin("/api/v2/traceMany?traceIds=0000000000000003,0000000000000004")), 2)
