#!/usr/bin/env python3
"""The demo: serve, collect this machine's logs, load vectors, ask six questions.

Needs nothing but Python 3 and the binary, whichever was built. Ctrl-C stops everything; the data folder is
removed then. CLEW_DEMO_STAY=0 ends after the answers instead of staying reachable.
"""

import argparse
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

VECTORS, DIMENSION, TOPICS, K = 5_000, 64, 20, 5
LOG_INDEX, VECTOR_INDEX, TAIL_INDEX = "logs", "demo_vectors", "demo-tail"


def title(text):
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}")


class Server:
    """The server process, and requests to it."""

    def __init__(self, binary, folder):
        self.data = os.path.join(folder, "data")
        self.log_file = open(os.path.join(folder, "server.log"), "wb")
        usual, free = ("127.0.0.1:9200", "127.0.0.1:19530"), ("127.0.0.1:0", "127.0.0.1:0")
        for http, grpc in (usual, free):
            self.process = subprocess.Popen(
                [binary, "serve", "--data", self.data, "--http", http, "--grpc", grpc],
                stdout=subprocess.PIPE, stderr=self.log_file, start_new_session=True)
            line = self.process.stdout.readline()
            if line:
                break
            self.process.wait()  # a port is taken: try free ones
        else:
            raise SystemExit(f"the server did not start, see {self.log_file.name}")
        listening = json.loads(line)["listening"]
        self.url, self.milvus_url = "http://" + listening["http"], "http://" + listening["grpc"]
        self.call("GET", "/_health")

    def call(self, method, path, body=None, ndjson=False):
        data = body if ndjson else (json.dumps(body).encode() if body is not None else None)
        kind = "application/x-ndjson" if ndjson else "application/json"
        request = urllib.request.Request(
            self.url + path, data=data, method=method, headers={"Content-Type": kind})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read() or b"{}")

    def milvus(self, path, body):
        """A call of Milvus' RESTful API, for which no client is needed."""
        request = urllib.request.Request(f"{self.milvus_url}/v2/vectordb/{path}", data=json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            answer = json.load(reply)
        if answer["code"] != 0:
            raise SystemExit(f"Milvus' API refused {path}: {answer}")
        return answer["data"]

    def search(self, index, body):
        return self.call("POST", f"/{index}/_search", body)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        self.log_file.close()
        return code


def progress(done, total, label):
    if sys.stdout.isatty():
        width = 40
        filled = width * done // total
        print(f"\r{label} [{'#' * filled}{'.' * (width - filled)}] {done:,}/{total:,}",
              end="\n" if done == total else "", flush=True)
    elif done == total:
        print(f"{label} {done:,}/{total:,}")


def vectors(seed=7):
    """Clustered vectors: TOPICS centres, each row a centre plus noise."""
    rng = random.Random(seed)
    centres = [[rng.gauss(0, 1) for _ in range(DIMENSION)] for _ in range(TOPICS)]
    for number in range(VECTORS):
        topic = rng.randrange(TOPICS)
        yield number, topic, [round(x + rng.gauss(0, 0.4), 5) for x in centres[topic]]


def load_vectors(server):
    server.call("PUT", f"/{VECTOR_INDEX}", {
        "settings": {"index": {"knn": True, "refresh_interval": "-1"}},
        "mappings": {"properties": {
            "topic": {"type": "keyword"}, "number": {"type": "integer"},
            "embedding": {"type": "knn_vector", "dimension": DIMENSION,
                          "method": {"name": "hnsw", "space_type": "l2",
                                     "parameters": {"m": 16, "ef_construction": 100}}}}}})
    kept, lines = {}, []
    for number, topic, vector in vectors():
        kept[number] = (topic, vector)
        lines.append(json.dumps({"index": {"_id": str(number)}}))
        lines.append(json.dumps({"topic": f"t{topic}", "number": number, "embedding": vector}))
        if len(lines) == 1000 or number + 1 == VECTORS:
            reply = server.call("POST", f"/{VECTOR_INDEX}/_bulk",
                                ("\n".join(lines) + "\n").encode(), ndjson=True)
            if reply["errors"]:
                raise SystemExit(f"loading vectors failed: {reply['items'][0]}")
            lines = []
            progress(number + 1, VECTORS, "vectors")
    server.call("POST", f"/{VECTOR_INDEX}/_refresh")
    server.call("POST", f"/{VECTOR_INDEX}/_forcemerge?max_num_segments=1")
    return kept


def collect(binary, server, folder):
    command = [binary, "collect", "/var/log", "--parse", "auto", "--to", server.url,
               "--index", LOG_INDEX, "--once", "--registry", os.path.join(folder, "registry.json")]
    print("$", "clew", *command[1:])
    if subprocess.run(command).returncode != 0:
        raise SystemExit("collecting failed")
    server.call("POST", f"/{LOG_INDEX}/_refresh?ignore_unavailable=true")
    return server.call("GET", f"/{LOG_INDEX}/_count?ignore_unavailable=true")["count"]


def show_hits(reply, fields, limit=5):
    total = reply["hits"]["total"]
    relation = "at least " if total["relation"] == "gte" else ""
    print(f"  {relation}{total['value']:,} documents match, {reply['took']} ms")
    for hit in reply["hits"]["hits"][:limit]:
        row = []
        for field in fields:
            value = hit["_source"]
            for part in field.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            row.append(str(value)[:100])
        score = "" if hit["_score"] is None else f"{hit['_score']:7.3f}  "
        print("   ", score + "  ".join(row))


def frequent_values(server):
    reply = server.search(LOG_INDEX, {"size": 0, "aggs": {
        "datasets": {"terms": {"field": "event.dataset.keyword"}},
        "from": {"min": {"field": "@timestamp"}}, "to": {"max": {"field": "@timestamp"}}}})
    return reply["aggregations"]


def answers(server, kept):
    seen = frequent_values(server)
    dataset = seen["datasets"]["buckets"][0]["key"]
    begin, end = int(seen["from"]["value"]), int(seen["to"]["value"])

    title("1. Full text: message matches \"installed error failed\"")
    show_hits(server.search(LOG_INDEX, {
        "query": {"match": {"message": "installed error failed"}}}),
        ["@timestamp", "event.dataset", "message"])

    title(f"2. Field and time: event.dataset is {dataset}, in the newer half of the time range")
    middle = (begin + end) // 2
    show_hits(server.search(LOG_INDEX, {
        "query": {"bool": {"filter": [
            {"term": {"event.dataset.keyword": dataset}},
            {"range": {"@timestamp": {"gte": middle, "lte": end, "format": "epoch_millis"}}}]}},
        "sort": [{"@timestamp": "desc"}]}), ["@timestamp", "message"])

    title("3. Aggregation: lines for each kind of log, and for each day")
    reply = server.search(LOG_INDEX, {"size": 0, "track_total_hits": True, "aggs": {
        "kinds": {"terms": {"field": "event.dataset.keyword", "size": 10}},
        "days": {"date_histogram": {"field": "@timestamp", "calendar_interval": "day",
                                    "min_doc_count": 1}}}})
    print(f"  {reply['hits']['total']['value']:,} documents, {reply['took']} ms")
    for bucket in reply["aggregations"]["kinds"]["buckets"]:
        print(f"    {bucket['key']:<16} {bucket['doc_count']:>9,}")
    for bucket in reply["aggregations"]["days"]["buckets"][-5:]:
        print(f"    {bucket['key_as_string'][:10]:<16} {bucket['doc_count']:>9,}")

    number = 42
    topic, vector = kept[number]
    title(f"4. k-NN with a filter: the {K} vectors nearest to number {number} (topic t{topic}) "
          "among even topics")
    even = {f"t{t}" for t in range(0, TOPICS, 2)}
    reply = server.search(VECTOR_INDEX, {
        "size": K, "_source": ["topic", "number"],
        "query": {"knn": {"embedding": {"vector": vector, "k": K, "filter": {
            "terms": {"topic": sorted(even)}}}}}})
    show_hits(reply, ["topic", "number"])
    exact = sorted((math.dist(vector, v), n) for n, (t, v) in kept.items() if f"t{t}" in even)[:K]
    found = {hit["_source"]["number"] for hit in reply["hits"]["hits"]}
    print(f"    {len(found & {n for _, n in exact})} of {K} agree with a full scan in Python")


def ask_as_milvus(server, kept):
    title("5. The same vectors, asked for through Milvus' API: the index is a collection")
    number = min(kept)
    vector = kept[number][1]
    expression = f"number != {number} and topic in ['t1', 't2', 't3']"
    print(f"    filter: {expression}")
    rows = server.milvus("entities/search", {
        "collectionName": VECTOR_INDEX, "annsField": "embedding", "data": [vector], "limit": K,
        "filter": expression, "outputFields": ["topic", "number"]})
    for row in rows:
        print(f"    distance {row['distance']:.3f}  topic={row['topic']} number={row['number']}")
    exact = sorted((math.dist(vector, v), n) for n, (t, v) in kept.items() if t in (1, 2, 3) and n != number)[:K]
    print(f"    {len({row['number'] for row in rows} & {n for _, n in exact})} of {K} agree with a full scan in Python")


def live_tail(binary, server, folder):
    title("6. Live tail: a file grows, the collector follows it, the log shows each line arrive")
    path = os.path.join(folder, "app.log")
    open(path, "w").close()
    # From the position after the last write, so that no line can slip by before the tail looks.
    next_position = server.call("GET", "/_health")["glsn"]["last"] + 1
    collector = subprocess.Popen(
        [binary, "collect", path, "--parse", "plain", "--to", server.url, "--index", TAIL_INDEX,
         "--registry", os.path.join(folder, "tail-registry.json"), "--quiet"],
        stderr=subprocess.DEVNULL, start_new_session=True)
    tail = subprocess.Popen(
        [binary, "log", "tail", "--data", server.data, "--from", str(next_position),
         "--format", "json"],
        stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        with open(path, "a", buffering=1) as out:
            for number in range(1, 6):
                line = f"demo line {number} of 5, written at {time.strftime('%H:%M:%S')}"
                written = time.monotonic()
                out.write(line + "\n")
                for entry in map(json.loads, tail.stdout):
                    source = entry.get("source") or {}
                    if source.get("message") == line:
                        took = (time.monotonic() - written) * 1000
                        print(f"    position {entry['glsn']}  {took:6.1f} ms  {line}")
                        break
    finally:
        for process in (collector, tail):
            process.send_signal(signal.SIGTERM)
        for process in (collector, tail):
            process.wait(timeout=30)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="the clew binary")
    binary = parser.parse_args().bin
    stay = os.environ.get("CLEW_DEMO_STAY", "1") != "0"
    folder = tempfile.mkdtemp(prefix="clew-demo-")
    server, code = None, 0
    # A terminated demo cleans up as an interrupted one does.
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    try:
        title("Starting the server")
        server = Server(binary, folder)
        print(f"  {server.url}, data in {server.data}")
        title("Collecting this machine's logs")
        count = collect(binary, server, folder)
        title("Loading vectors")
        kept = load_vectors(server)
        if count == 0:
            raise SystemExit("no log line could be read under /var/log")
        answers(server, kept)
        ask_as_milvus(server, kept)
        live_tail(binary, server, folder)
        title("The server stays reachable")
        print(f"  OpenSearch REST  {server.url}   (try: curl '{server.url}/_cat/indices?v')")
        print(f"  Milvus' API      {server.milvus_url}   (gRPC, and /v2/vectordb/…)")
        print(f"  health           {server.url}/_health")
        print(f"  metrics          {server.url}/_metrics")
        if stay:
            print("  Ctrl-C stops it and removes its data.", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        print()
    except urllib.error.HTTPError as error:
        print(f"request failed: {error.code} {error.read().decode()[:2000]}", file=sys.stderr)
        code = 1
    finally:
        if server:
            stopped = server.stop()
            print(f"server stopped cleanly" if stopped == 0 else f"server ended with {stopped}")
            code = code or stopped
        shutil.rmtree(folder, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
