"""A table of bad inputs over all areas: `bad_inputs.json` says what OpenSearch 2.19.0 answered to each.

A row of it is a request with the status, the error's `type` and its `reason`; where all shards failed
(or an item of a bulk or a multi-search did), the reason is the cause's, whose type is `cause`. Places in
the body (`[1:35]`) are left out: test_errors.py looks at them.
"""

import http.client
import json
import pathlib
import re

from .base import ClewTest

TABLE = json.loads(pathlib.Path(__file__).with_name("bad_inputs.json").read_text())
PLACE = re.compile(r"\[\d+:\d+\] | found at \[\d+:\d+\]| at \[\d+:\d+\]")
CASES_MIN = 100


def told(reply):
    """Type, cause and reason of the first error of an answer, wherever it stands."""
    if not isinstance(reply, dict):
        return {}
    error = reply.get("error")
    if error is None:
        items = [outcome for item in reply.get("items", []) for outcome in item.values()]
        nested = items + reply.get("responses", []) + reply.get("docs", [])
        failed = [item for item in nested if isinstance(item, dict) and item.get("error")]
        return told(failed[0]) if failed else {}
    if isinstance(error, str):
        return {"reason": error}
    found = {"type": error["type"]}
    source = error
    if error["type"] == "search_phase_execution_exception" and error["root_cause"]:
        source = error["root_cause"][0]
        found["cause"] = source["type"]
    found["reason"] = PLACE.sub("", source["reason"])
    return found


class BadInputs(ClewTest):
    def send(self, row):
        method, path = row["request"].split(" ", 1)
        body = row.get("body")
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
        lines = "_bulk" in path or "_msearch" in path
        kind = "application/x-ndjson" if lines else "application/json"
        headers = {} if body is None else {"Content-Type": kind}
        self.connection.request(method, path, body=body, headers=headers)
        reply = self.connection.getresponse()
        content = reply.read()
        try:
            return reply.status, json.loads(content)
        except ValueError:
            return reply.status, content.decode()

    def test_each_is_answered_as_opensearch_does(self):
        self.assertGreaterEqual(len(TABLE["cases"]), CASES_MIN)
        self.connection = http.client.HTTPConnection(self.server.address, timeout=60)
        self.addCleanup(self.connection.close)
        for row in TABLE["setup"]:
            status, reply = self.send(row)
            self.assertLess(status, 300, (row, reply))
        for row in TABLE["cases"]:
            with self.subTest(row["area"], request=row["request"], body=row.get("body")):
                status, reply = self.send(row)
                want = {key: row[key] for key in ("type", "cause", "reason") if key in row}
                self.assertEqual((status, told(reply)), (row["status"], want), reply)
