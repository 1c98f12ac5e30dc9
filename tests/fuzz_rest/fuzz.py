"""Sends generated requests, right and wrong ones, to the real server: `schemathesis` over the description
that the server gives of itself. Nothing may end in a 5xx of this server's own, take longer than the
limit, or let its memory grow without end.

    python -m tests.fuzz_rest.fuzz --cases 10000 --seed 1
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

from tests.opensearch.clew_server import ClewServer

HERE = pathlib.Path(__file__).parent
REQUEST_SECONDS_MAX = 120
MEMORY_BYTES_MAX = 2 << 30
MAPPING = {
    "properties": {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "tag": {"type": "keyword"},
        "year": {"type": "integer"},
        "price": {"type": "double"},
        "at": {"type": "date"},
        "ok": {"type": "boolean"},
        "ip": {"type": "ip"},
        "place": {"type": "geo_point"},
        "span": {"type": "integer_range"},
        "suggest": {"type": "completion"},
        "parts": {"type": "nested", "properties": {"name": {"type": "keyword"}}},
    }
}
VECTORS = {"properties": {"vector": {"type": "knn_vector", "dimension": 3, "space_type": "l2"}}}


def fill(server):
    """A few documents of every kind, so that requests find something."""
    client = server.client()
    client.indices.create(index="books", body={"settings": {"number_of_shards": 2}, "mappings": MAPPING})
    client.indices.create(index="logs", body={"mappings": MAPPING})
    client.indices.create(index="vectors", body={"settings": {"index.knn": True}, "mappings": VECTORS})
    client.indices.put_alias(index="books,logs", name="all")
    lines = []
    for number in range(40):
        for index in ("books", "logs"):
            lines += [{"index": {"_index": index, "_id": str(number)}}, {
                "title": f"the {number % 5} books of rust and search", "tag": f"t{number % 3}",
                "year": 1990 + number, "price": number / 3, "at": f"2024-{number % 12 + 1:02}-01",
                "ok": number % 2 == 0, "ip": f"10.0.0.{number}", "place": {"lat": number, "lon": -number},
                "span": {"gte": number, "lt": number + 5}, "suggest": f"book {number}",
                "parts": [{"name": "wheel"}, {"name": f"door{number}"}],
            }]
        lines += [{"index": {"_index": "vectors", "_id": str(number)}}, {"vector": [number, 1, 2]}]
    reply = client.bulk(body=lines, refresh=True)
    if reply["errors"]:
        raise SystemExit(f"the first documents were refused: {reply}")
    client.close()


def operations(url):
    with urllib.request.urlopen(url + "/_openapi.json") as reply:
        return sum(len(methods) for methods in json.load(reply)["paths"].values())


def memory_bytes(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024


def run(server, each, generation, only):
    """So many cases for each operation; the status of the run."""
    command = [
        str(pathlib.Path(sys.executable).with_name("schemathesis")), "run", server.url + "/_openapi.json",
        "--checks", "answers", "--mode", "all", "--phases", "fuzzing", "--no-color", "--continue-on-failure",
        "--max-examples", str(each), "--request-timeout", str(REQUEST_SECONDS_MAX),
        "--suppress-health-check", "all", *generation,
    ]
    if only:
        command += ["--include-path-regex", "|".join(only)]
    env = {**os.environ, "SCHEMATHESIS_HOOKS": "tests.fuzz_rest.hooks", "PYTHONPATH": str(HERE.parent.parent)}
    # It keeps notes where it runs.
    with tempfile.TemporaryDirectory(prefix="clew-fuzz-notes-") as notes:
        return subprocess.run(command, env=env, cwd=notes, check=False).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="a regular expression over paths")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clew-fuzz-") as data:
        limits = {"CLEW_HTTP__BODY_BYTES_MAX": "4000000"}
        with ClewServer(data=data, env=limits) as server:
            fill(server)
            each = -(-arguments.cases // operations(server.url))
            generation = ["--seed", str(arguments.seed), "--generation-database", "none"]
            failed = run(server, each, generation, arguments.only)
            memory = memory_bytes(server)
            print(json.dumps({"failed": failed, "memory_bytes_peak": memory}))
            if memory > MEMORY_BYTES_MAX:
                raise SystemExit(f"the server took {memory} bytes of memory")
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
