"""Requests that no server likes. Each attack is a generator of things to do; a thing takes a `Client` and returns
a reply, or None where there is none to judge."""

import functools
import gzip
import json
import random
import socket
import time

MEGABYTE = 1 << 20


def search(body, index="quiet", end=""):
    return lambda client: client.post(f"/{index}/_search{end}", body)


def query(query, **more):
    return search({"query": query, **more}, end="?timeout=1s")


def regexps():
    """Expressions whose automata, or whose size, explode."""
    for field in ("words", "tag"):
        for expression in (
            "user.{0,500}.{0,500}9", "((a{1,100}){1,100}){1,100}", "(a|aa|aaa)*b", "(.*a){25}", ".*.*.*.*.*.*x",
            "[a-z]{1,900}[0-9]{1,900}", "(((((a?){50})?){50})?){50}", "~(a.*b)&@~(.*c.*)", "(x+x+)+y" * 20,
            "w.{0,300}1.{0,300}2.{0,300}3", "(" * 400 + "a" + ")" * 400, "a|" * 30_000 + "b", "w<0-99999999>",
        ):
            yield query({"regexp": {field: {"value": expression, "max_determinized_states": 2_000_000}}})
            yield query({"query_string": {"query": f"{field}:/{expression.replace('/', '')}/"}})
        yield query({"wildcard": {field: "*a*b*c*d*e*f*g*" * 50}})
        yield query({"wildcard": {field: "?" * 5_000 + "*"}})
        yield query({"fuzzy": {field: {"value": "w" * 3_000, "fuzziness": 2}}})
        yield query({"prefix": {field: ""}})


def highlights():
    """Fields of megabytes, marked in all ways."""
    for kind in ("plain", "unified"):
        body = {"query": {"match": {"text": "w1 w2 w3"}}, "_source": False,
                "highlight": {"fields": {"text": {"type": kind, "number_of_fragments": 1000}}}}
        yield search(body, "long", "?timeout=1s")
        yield search({**body, "query": {"match_phrase": {"text": "w1 w2"}}}, "long", "?timeout=1s")
        yield search({**body, "query": {"wildcard": {"text": "w*"}}}, "long", "?timeout=1s")
    yield search({"query": {"match_phrase": {"text": {"query": "w1 w2 " * 200, "slop": 1000}}}}, "long", "?timeout=1s")
    yield lambda client: client.post("/long/_analyze", {"field": "text", "text": "w1 w2 " * 100_000})


def deep():
    """JSON and trees of queries and aggregations without end."""
    for depth in (50, 1_000, 100_000):
        yield search('{"query":' + '{"bool":{"must":' * depth + '{"match_all":{}}' + "}}" * depth + "}")
        yield search('{"query":' + "[" * depth + "]" * depth + "}")
        yield search('{"aggs":' + '{"a":{"terms":{"field":"tag"},"aggs":' * depth + "{}" + "}}" * depth + "}")
        yield lambda client, depth=depth: client.put("/quiet-deep/_doc/1", '{"a":' * depth + "1" + "}" * depth)
        yield query({"query_string": {"query": "(" * depth + "a" + ")" * depth}})
        yield query({"simple_query_string": {"query": "(" * depth + "a"}})
        yield lambda client, depth=depth: client.post("/_plugins/_sql", {"query": "select " + "(" * depth + "1" + ")" * depth})


def wide():
    """Clauses, terms, fields, pages and buckets by the hundred thousand."""
    yield query({"bool": {"should": [{"term": {"words": f"w{n}"}} for n in range(20_000)]}})
    yield query({"terms": {"tag": [f"t{n}" for n in range(200_000)]}})
    yield query({"query_string": {"query": " OR ".join(f"w{n}" for n in range(20_000))}})
    yield query({"match": {"words": " ".join(f"w{n % 127}" for n in range(50_000))}})
    yield query({"more_like_this": {"fields": ["words"], "like": "w1 w2 " * 50_000, "max_query_terms": 100_000}})
    yield query({"match_all": {}}, **{"size": 2**31 - 1})
    yield query({"match_all": {}}, **{"from": 10**9})
    yield query({"match_all": {}}, sort=["mark"] * 2_000)
    yield query({"match_all": {}}, docvalue_fields=["mark"] * 5_000)
    yield search({"size": 0, "aggs": {"a": {"date_histogram": {"field": "at", "fixed_interval": "1ms", "min_doc_count": 0}}}})
    yield search({"size": 0, "aggs": {"a": {"histogram": {"field": "mark", "interval": 0.001}}}})
    yield search({"size": 0, "aggs": {"a": {"terms": {"field": "mark", "size": 2**31 - 1}, "aggs": {
        "b": {"terms": {"field": "mark", "size": 2**31 - 1}, "aggs": {"c": {"cardinality": {"field": "mark"}}}}}}}})
    yield search({"size": 0, "aggs": {f"a{n}": {"terms": {"field": "tag"}} for n in range(5_000)}})
    yield search({"query": {"knn": {"emb": {"vector": [1.0] * 8, "k": 10_000}}}, "size": 10_000})
    yield search({"query": {"knn": {"emb": {"vector": [1.0] * 100_000, "k": 5}}}})
    yield lambda client: client.post("/_msearch", [line for _ in range(5_000) for line in ({"index": "quiet"}, {"size": 0})])
    yield lambda client: client.put("/quiet-wide/_doc/1", {f"field{n}": n for n in range(20_000)})
    yield lambda client: client.put("/quiet-wide/_doc/2", {"f" * 5_000_000: 1})
    yield lambda client: client.get("/" + ",".join(f"quiet{n}" for n in range(5_000)) + "/_search")
    yield lambda client: client.put("/" + "x" * 60_000)


def long():
    """Every little language with a text of some 100 KB: what is more than linear shows."""
    size = 100_000
    for part in ("(", ")", '"', "a|", "a AND ", "NOT ", "-", "+", "~", "a~2 ", "a:", "[a TO ", "\\", "*", "a* ", "w1^2 ", "a\u00e4"):
        text = part * (size // len(part))
        yield query({"query_string": {"query": text}})
        yield query({"simple_query_string": {"query": text}})
        yield query({"match_phrase_prefix": {"words": text}})
        yield query({"wildcard": {"tag": text}})
        yield query({"regexp": {"tag": text}})
        yield lambda client, text=text: client.post("/_plugins/_sql", {"query": f"select * from quiet where tag = {text}"})
        yield lambda client, text=text: client.post("/_plugins/_ppl", {"query": f"source=quiet | where {text}"})
    yield query({"range": {"at": {"gte": "now" + "+1d" * (size // 3)}}})
    yield query({"range": {"at": {"gte": "2" * size}}})
    yield query({"match": {"words": "a" * size}})
    yield query({"match": {"words": {"query": "a" * size, "fuzziness": "AUTO"}}})
    yield query({"match_all": {}}, _source=["a*" * 1000] * 100)
    yield query({"match_all": {}}, fields=["*a" * 1000] * 100)
    yield lambda client: client.get("/quiet/_search?filter_path=" + "**." * 10_000)
    yield lambda client: client.get("/quiet/_search?q=" + "(" * 50_000)
    yield lambda client: client.get("/" + "*" * 50_000 + "/_search")
    yield lambda client: client.get("/_cat/indices/" + "*a" * 20_000)
    yield lambda client: client.get("/quiet/_mapping/field/" + "*a" * 20_000)
    yield lambda client: client.post("/_analyze", {"text": "a" * size, "tokenizer": {"type": "ngram", "min_gram": 1, "max_gram": 2}})
    yield lambda client: client.post("/_analyze", {"text": "a" * 3_000, "tokenizer": {"type": "pattern", "pattern": "(a+)+$"}})
    yield lambda client: client.post("/_analyze", {"text": "a" * 3_000, "tokenizer": {"type": "pattern", "pattern": "(?:a|aa)+(?<=a)b"}})
    yield lambda client: client.post("/_ingest/pipeline/_simulate", {
        "pipeline": {"processors": [{"grok": {"field": "m", "patterns": ["%{GREEDYDATA}" * 20 + "!"]}}]},
        "docs": [{"_source": {"m": "a" * 10_000}}]})
    yield lambda client: client.post("/_ingest/pipeline/_simulate", {
        "pipeline": {"processors": [{"gsub": {"field": "m", "pattern": "(a|a)*b", "replacement": "x"}}]},
        "docs": [{"_source": {"m": "a" * 10_000}}]})
    yield lambda client: client.post("/_render/template", {"source": "{{#a}}" * 10_000, "params": {"a": [1, 2, 3]}})
    yield lambda client: client.post("/_render/template", {
        "source": "{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}x{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}", "params": {"a": list(range(100))}})


@functools.cache
def large_bulk(megabytes):
    line = json.dumps({"index": {"_index": "quiet-bulk"}}) + "\n" + json.dumps({"text": "w1 w2 w3 " * 400}) + "\n"
    return (line * (megabytes * MEGABYTE // len(line))).encode()


@functools.cache
def bomb(megabytes, start=b""):
    return gzip.compress(start + bytes(1) * (megabytes * MEGABYTE), compresslevel=1)


def zipped(client, path, body):
    """A request whose body says that it is compressed."""
    with socket.create_connection(client.address.rsplit(":", 1), timeout=client.timeout) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                           f"Content-Encoding: gzip\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode())
        try:
            connection.sendall(body)
        except OSError:
            pass  # It was refused before it was read.
        while connection.recv(65536):
            pass


def bodies():
    """Bodies at the limit, above it, and such as grow when they are unpacked."""
    document = b'{"text":"' + b"x" * (20 * MEGABYTE) + b'"}'
    yield lambda client: client.post("/_bulk", large_bulk(95))
    yield lambda client: client.put("/quiet-bulk/_doc/1", document)
    yield lambda client: zipped(client, "/_bulk", bomb(1000))
    yield lambda client: zipped(client, "/quiet-bulk/_doc", bomb(95, b'{"text":"'))
    yield lambda client: client.post("/_bulk", b"\n" * (50 * MEGABYTE))
    yield lambda client: client.post("/_bulk", b"[" * (50 * MEGABYTE))


def cursors():
    """Scrolls and points in time that nobody closes."""
    yield search({"query": {"match_all": {}}, "size": 1}, end="?scroll=1m")
    yield lambda client: client.post("/quiet/_search/point_in_time?keep_alive=1m")
    yield search({"query": {"match_all": {}}, "size": 1}, end="?scroll=10000d")


def connections():
    """Requests that are begun and never ended, connections that say nothing, bytes that are no HTTP."""
    kept = []

    def send(text):
        def act(client):
            host, port = client.address.rsplit(":", 1)
            try:
                connection = socket.create_connection((host, int(port)), timeout=5)
                connection.sendall(text)
                kept.append(connection)
                if len(kept) > 400:
                    kept.pop(0).close()
            except OSError:
                pass  # Refused or closed: as it should be, there are enough.
        return act

    yield send(b"")
    yield send(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    yield send(b"POST /quiet/_search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{")
    yield send(b"POST /_bulk HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n")
    yield send(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /")
    yield send(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100_000)
    yield send(random.Random(1).randbytes(5_000))
    yield send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(1000))
    yield send(b"POST /_bulk HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\nExpect: 100-continue\r\n\r\n")


def work():
    """Heavy work that a user may ask for."""
    yield lambda client: client.post("/quiet/_forcemerge?max_num_segments=1")
    yield lambda client: client.post("/quiet/_update_by_query?conflicts=proceed", {"query": {"term": {"tag": "t1"}}})
    yield lambda client: client.post("/_reindex?wait_for_completion=true", {
        "conflicts": "proceed", "max_docs": 2_000, "source": {"index": "quiet"}, "dest": {"index": "quiet-copy"}})
    yield lambda client: client.delete("/quiet-copy?ignore_unavailable=true")
    yield lambda client: client.post("/quiet-copy,quiet/_flush?ignore_unavailable=true&allow_no_indices=true")
    yield lambda client: client.get("/_cat/segments?format=json")


ATTACKS = {attack.__name__: attack for attack in (
    regexps, highlights, deep, wide, long, bodies, cursors, connections, work)}


def judged(client, act):
    """Does one thing; returns its status (None where there is none) and seconds."""
    started = time.monotonic()
    reply = act(client)
    return reply, time.monotonic() - started
