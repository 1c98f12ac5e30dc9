"""The work that a binary with counters does once, so that the compiler knows what is done often: documents of seeded words
come in by bulk, are changed, merged, searched and counted, vectors are looked for, and lines are taken apart. None of it is
the data of a benchmark."""

import argparse
import datetime
import json
import pathlib
import os
import random
import subprocess
import sys

BENCH = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "opensearch")]
import results  # noqa: E402
from corpus import batches, drawn, words  # noqa: E402
from server import Server  # noqa: E402

DIMENSION = 64
MAPPING = {
    "settings": {"index": {"number_of_shards": 1, "refresh_interval": "-1"}},
    "mappings": {"properties": {
        "time": {"type": "date"}, "trace": {"type": "keyword"}, "host": {"type": "keyword"}, "level": {"type": "keyword"},
        "status": {"type": "integer"}, "took": {"type": "float"}, "text": {"type": "text"}}},
}
VECTORS = {
    "settings": {"index": {"knn": True}},
    "mappings": {"properties": {
        "group": {"type": "keyword"}, "vector": {"type": "knn_vector", "dimension": DIMENSION}}},
}


class Texts:
    """Texts whose words are as unevenly frequent as real ones."""

    def __init__(self, seed):
        self.dice, self.known = random.Random(seed), words(seed, 50_000)

    def word(self):
        return drawn(self.dice, self.known)

    def text(self, least, most):
        return " ".join(self.word() for _ in range(self.dice.randint(least, most)))


def documents(texts, count):
    """Lines of a log, some with long texts."""
    dice, start = texts.dice, datetime.datetime(2026, 1, 1)
    for at in range(count):
        time = start + datetime.timedelta(seconds=7 * at)
        yield {"time": time.isoformat() + "Z", "trace": f"{dice.getrandbits(64):x}", "host": f"web-{dice.randrange(40)}",
               "level": dice.choices(["info", "warn", "error"], [90, 8, 2])[0],
               "status": dice.choice([200, 200, 200, 201, 301, 404, 500]), "took": round(dice.random() * 900, 2),
               "text": texts.text(5, 25) if at % 3 else texts.text(40, 120)}


def searches(texts):
    """Requests of every kind that is asked for often."""
    def match(**more):
        return {"query": {"match": {"text": texts.text(1, 3)}}, **more}

    def bool_with(*filters):
        return {"bool": {"must": match()["query"], "filter": list(filters)}}

    hour = {"range": {"time": {"gte": "2026-01-01T05:00:00Z", "lt": "2026-01-02T06:00:00Z"}}}
    info = {"term": {"level": "info"}}
    return [
        match(), match(size=10, _source=False), match(track_total_hits=False), {"query": bool_with(info)},
        {"query": bool_with(hour, {"range": {"status": {"gte": 400}}})},
        {"query": {"match": {"text": {"query": texts.text(2, 3), "operator": "and"}}}},
        {"query": {"match_phrase": {"text": texts.text(2, 2)}}}, {"query": {"prefix": {"text": texts.word()[:3]}}},
        {"query": {"match": {"text": {"query": texts.word(), "fuzziness": "AUTO"}}}},
        {"query": {"query_string": {"query": f"{texts.word()} AND ({texts.word()} OR level:error)"}}},
        {"query": {"term": {"host": "nobody"}}}, {"query": {"match_all": {}}, "sort": [{"time": "desc"}]},
        match(highlight={"fields": {"text": {}}}), match(sort=[{"took": "asc"}]),
        match(size=0, aggs={"hosts": {"terms": {"field": "host"}}}),
        {"size": 0, "query": hour, "aggs": {"days": {
            "date_histogram": {"field": "time", "fixed_interval": "1h"},
            "aggs": {"took": {"avg": {"field": "took"}}, "levels": {"terms": {"field": "level"}}}}}},
        {"size": 0, "aggs": {"took": {"percentiles": {"field": "took"}}, "hosts": {"cardinality": {"field": "host"}}}},
    ]


def train(client, size):
    texts = Texts(11)
    lines = list(documents(texts, size))
    bodies = list(batches(lines))
    # As often as it takes for writing to weigh as much as searching.
    for _ in range(3):
        client.call("DELETE", "/logs")
        client.call("PUT", "/logs", MAPPING)
        for body in bodies:
            client.call("POST", "/logs/_bulk", body, "application/x-ndjson")
        client.call("POST", "/logs/_refresh")
    for at in range(size // 100):
        client.call("PUT", f"/logs/_doc/{7 * at}", lines[at])
        client.call("GET", f"/logs/_doc/{at}")
    client.call("POST", "/logs/_refresh")
    for half in range(2):
        for _ in range(size // 200):
            for body in searches(texts):
                client.call("POST", "/logs/_search", body)
        if not half:
            client.call("POST", "/logs/_forcemerge?max_num_segments=1")
    vectors(client, texts.dice, size // 10)


def vectors(client, dice, count):
    client.call("PUT", "/vectors", VECTORS)
    vector = lambda: [round(dice.gauss(0, 1), 4) for _ in range(DIMENSION)]
    rows = [{"group": f"g{at % 9}", "vector": vector()} for at in range(count)]
    for body in batches(rows):
        client.call("POST", "/vectors/_bulk", body, "application/x-ndjson")
    client.call("POST", "/vectors/_forcemerge?max_num_segments=1")
    client.call("POST", "/vectors/_refresh")
    for at in range(count // 4):
        knn = {"vector": vector(), "k": 10}
        if at % 2:
            knn["filter"] = {"term": {"group": f"g{at % 9}"}}
        client.call("POST", "/vectors/_search", {"size": 10, "_source": False, "query": {"knn": {"vector": knn}}})


def parse(binary, size, out):
    """Lines are taken apart by the collector, which writes what it has counted when it ends."""
    dissected = [{"dissect": {"field": "message", "pattern": "%{time} %{level->} %{host} %{trace} %{took} %{text}"}},
                 {"remove": {"field": "message"}}]
    grokked = [{"grok": {"field": "message", "patterns": [
        "%{TIMESTAMP_ISO8601:time} +%{LOGLEVEL:level} +%{NOTSPACE:host} %{WORD:trace} %{NUMBER:took} %{GREEDYDATA:text}"]}}]
    nested = [{"json": {"field": "message", "add_to_root": True}}, {"add": {"field": "hall", "value": 3}}]
    lines, objects, requests = out / "lines", out / "objects", out / "requests"
    with lines.open("w") as fixed, objects.open("w") as json_lines, requests.open("w") as accesses:
        for event in documents(Texts(12), size):
            fixed.write("{time} {level:5} {host} {trace} {took} {text}\n".format(**event))
            json_lines.write(json.dumps(event) + "\n")
            accesses.write(f'10.0.7.{event["status"] % 251} - - [04/Jan/2026:10:11:12 +0000] "GET /{event["host"]}?{event["trace"]} HTTP/1.1" '
                           f'{event["status"]} {event["took"]:.0f} "-" "{event["text"][:40]}"\n')
    for file, parser, processors in ((lines, "plain", dissected), (lines, "plain", grokked), (objects, "plain", nested),
                                     (requests, "nginx_access", [])):
        command = [binary, "bench", "collect", file, "--parse", parser, "--processors", json.dumps(processors), "--dir", out]
        counted = dict(os.environ, LLVM_PROFILE_FILE=str(out / "collect-%p.profraw"))
        subprocess.run([*map(str, command), "--rounds", "2"], check=True, stdout=subprocess.DEVNULL, env=counted)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bin", required=True, help="built to count (build.sh)")
    arguments.add_argument("--out", required=True, type=pathlib.Path, help="folder for what it counts")
    arguments.add_argument("--documents", type=int, default=40_000)
    given = results.given(arguments, "bin")
    given.out.mkdir(exist_ok=True)
    # What the server counts is asked of it; what it would write at its end is the same once more.
    os.environ["LLVM_PROFILE_FILE"] = os.devnull
    with Server(given.bin, under=("taskset", "-c", "0-1")) as server:
        train(server.client, given.documents)
        command = [given.bin, "profile", "training", "--url", server.address, "--output", given.out / "server.profraw"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    parse(given.bin, given.documents, given.out)


if __name__ == "__main__":
    main()
