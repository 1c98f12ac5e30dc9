"""Requests that take much memory, a list for each family: what one client does, one thing after the other. A thing
takes a `Client` and returns a `Reply`, or a word for the table where there is no status.

The documents that they ask for are made by `fill`."""

import functools
import gzip
import json
import random
import socket

from . import grpc_calls
from .client import Client

MB = 1_000_000
# Documents of about a megabyte; together they are more than half of the memory that the server may have.
HEAVY_DOCUMENTS = 280
LONG_DOCUMENTS = 12
SMALL_DOCUMENTS = 60_000
WIDE_INDEXES = 80
WIDE_FIELDS = 250
ROWS = 20_000
DIMENSION = 64


def fill(client):
    """Everything that the attacks read."""
    dice = random.Random(2)
    blob = {"type": "text", "index": False}
    client.done("PUT", "/heavy", {
        "settings": {"number_of_shards": 2},
        "mappings": {"properties": {"blob": blob, "t": {"type": "text"}, "n": {"type": "long"}}}})
    for start in range(0, HEAVY_DOCUMENTS, 20):
        lines = []
        for n in range(start, min(start + 20, HEAVY_DOCUMENTS)):
            lines += [{"index": {"_id": str(n)}}, {"n": n, "t": "common w%d" % n, "blob": text_of(dice, MB)}]
        written(client, "heavy", lines)
    client.done("PUT", "/long", {"mappings": {"properties": {"text": {"type": "text", "term_vector": "with_positions_offsets"}}}})
    for n in range(LONG_DOCUMENTS):
        client.done("PUT", f"/long/_doc/{n}", {"text": " ".join(f"w{dice.randrange(60_000)} common" for _ in range(75_000))})
    mapping = {"properties": {"k": {"type": "keyword"}, "v": {"type": "long"}, "t": {"type": "text"}, "s": {"type": "completion"}}}
    client.done("PUT", "/many", {"mappings": mapping})
    for start in range(0, SMALL_DOCUMENTS, 10_000):
        lines = []
        for n in range(start, min(start + 10_000, SMALL_DOCUMENTS)):
            source = {"k": f"{n:040}", "v": n, "t": f"word{n} common"}
            if n % 50 == 0:
                source["s"] = f"common {n}"
            lines += [{"index": {"_id": str(n)}}, source]
        written(client, "many", lines)
    client.done("PUT", "/alarms", {"mappings": {"properties": {"q": {"type": "percolator"}, "t": {"type": "text"}}}})
    written(client, "alarms", [line for n in range(500) for line in (
        {"index": {}}, {"q": {"match": {"t": f"w{n} common"}}, "blob": "x" * 100_000})])
    fields = {f"field{n:05}": {"type": "keyword"} for n in range(WIDE_FIELDS)}
    client.done("PUT", "/_index_template/wide", {"index_patterns": ["wide-*"], "template": {
        "settings": {"number_of_replicas": 0}, "mappings": {"properties": fields}}})
    for n in range(WIDE_INDEXES):
        client.done("PUT", f"/wide-{n}")
    client.done("POST", "/_refresh")
    client.done("POST", "/_flush")


def fill_milvus(client):
    """The collection that calls of Milvus' API read, by a client of that port."""
    dice = random.Random(3)

    def done(path, body):
        answer = client.done("POST", f"/v2/vectordb/{path}", body)
        assert answer["code"] == 0, str(answer)[:1000]

    field = lambda name, kind, **more: {"fieldName": name, "dataType": kind, **more}
    done("collections/create", {"collectionName": "rows", "schema": {"autoId": False, "fields": [
        field("id", "Int64", isPrimary=True), field("n", "Int64"), field("text", "VarChar", elementTypeParams={"max_length": "2000"}),
        field("emb", "FloatVector", elementTypeParams={"dim": str(DIMENSION)})]},
        "indexParams": [{"fieldName": "emb", "indexName": "emb", "metricType": "L2", "indexType": "FLAT"}]})
    for start in range(0, ROWS, 2_000):
        done("entities/insert", {"collectionName": "rows", "data": [
            {"id": n, "n": n % 1000, "text": text_of(dice, 1_500), "emb": [dice.random() for _ in range(DIMENSION)]}
            for n in range(start, min(start + 2_000, ROWS))]})


def written(client, index, lines):
    """Writes documents, each of which must be taken."""
    answer = client.done("POST", f"/{index}/_bulk", lines)
    assert not answer["errors"], str(answer)[:1000]


def text_of(dice, length):
    """A text that packing makes half as long."""
    return dice.randbytes(length // 2).hex()


def post(path, body=None, kind="application/json"):
    return lambda client: client.request("POST", path, body, kind)


def get(path):
    return lambda client: client.get(path)


def search(index, **body):
    return post(f"/{index}/_search", body)


@functools.cache
def bulk(body_bytes):
    dice = random.Random(7)
    texts = [" ".join(f"w{dice.randrange(20_000)}" for _ in range(140)) for _ in range(50)]
    lines, size = [], 0
    while size < body_bytes:
        lines.append(f'{{"index":{{}}}}\n{{"n":{len(lines)},"text":"{texts[len(lines) % 50]}"}}\n')
        size += len(lines[-1])
    return "".join(lines).encode()


@functools.cache
def packed():
    return gzip.compress(b'{"index":{}}\n{"text":"' + b"a" * (99 * MB) + b'"}\n')


def zipped(path):
    def act(client):
        return client.request("POST", path, packed(), headers={"Content-Encoding": "gzip"})
    return act


@functools.cache
def numbers(count):
    return b"[" + b"0," * (count - 1) + b"0]"


def bulks():
    return [post("/b/_bulk", bulk(100 * MB))]


def bombs():
    return [zipped("/b/_bulk")]


def large_json():
    return [
        post("/many/_search", b'{"query":{"terms":{"v":' + numbers(45_000_000) + b"}}}"),
        post("/b/_doc", b'{"f":' + numbers(7 * MB) + b"}"),
        post("/_analyze", b'{"text":"' + b"word " * (18 * MB) + b'"}'),
        post("/_ingest/pipeline/_simulate", b'{"pipeline":{"processors":[{"set":{"field":"a","value":"b"}}]},"docs":[{"_source":{"f":'
             + numbers(20 * MB) + b"}}]}"),
        post("/_msearch", b'{"index":"many"}\n{"query":{"terms":{"v":' + numbers(20 * MB) + b"}}}\n"),
        post("/alarms/_search", b'{"query":{"percolate":{"field":"q","document":{"t":"' + b"w1 common " * (4 * MB) + b'"}}}}'),
        post("/_plugins/_sql", b'{"query":"select * from many where v in (0' + b",0" * (20 * MB) + b')"}'),
        post("/b/_update/1", b'{"doc_as_upsert":true,"doc":{"f":' + numbers(7 * MB) + b"}}"),
        post("/_render/template", {"source": "{{#a}}{{#a}}{{#a}}{{#a}}xxxxxxxxxx{{/a}}{{/a}}{{/a}}{{/a}}", "params": {"a": list(range(100))}}),
    ]


def aggregations():
    inside = {"c": {"cardinality": {"field": "k", "precision_threshold": 40_000}}, "p": {"percentiles": {"field": "v"}}}
    terms = {"terms": {"field": "k", "size": 60_000}}
    composite = {"composite": {"size": 60_000, "sources": [{"k": {"terms": {"field": "k"}}}, {"v": {"terms": {"field": "v"}}}]}}
    top = {"top_hits": {"size": 100}}
    return [
        search("many", size=0, aggs={"a": {**terms, "aggs": inside}}),
        search("many", size=0, aggs={f"a{n}": terms for n in range(20)}),
        search("many", size=0, aggs={"a": composite}),
        search("heavy", size=0, aggs={"a": {"terms": {"field": "n", "size": 300}, "aggs": {"h": top}}}),
        search("many", size=0, aggs={"a": {"significant_terms": {"field": "k", "size": 60_000, "min_doc_count": 1}}}),
        search("many", size=0, aggs={"a": {"multi_terms": {"size": 60_000, "terms": [{"field": "k"}, {"field": "v"}]}}}),
        search("many", size=0, aggs={"a": {"matrix_stats": {"fields": ["v"]}}, "b": {**terms, "aggs": {"h": top}}}),
    ]


def hits():
    return [
        search("heavy", size=10_000),
        search("heavy", size=10_000, _source=["blob"]),
        search("heavy", size=10_000, _source=False, fields=["blob", "*"]),
        search("many", size=10_000, sort=["k"] * 200),
        search("many", size=10_000, explain=True, query={"match": {"t": "common"}}),
        search("many", size=10_000, docvalue_fields=["k"] * 90, _source=False),
        search("heavy", size=1000, collapse={"field": "n", "inner_hits": {"name": "i", "size": 10}}),
        post("/heavy/_search?pretty&filter_path=hits.hits._source", {"size": 10_000}),
        get("/heavy/_search?size=10000&format=yaml"),
        search("heavy", size=10_000, script_fields={"a": {"script": "doc['n'].value"}}),
    ]


def several_searches():
    lines = [line for _ in range(50) for line in ({"index": "heavy"}, {"size": 20})]
    return [post("/_msearch", "".join(json.dumps(line) + "\n" for line in lines), "application/x-ndjson")]


def several_documents():
    return [
        post("/heavy/_mget", {"ids": [str(n) for n in range(HEAVY_DOCUMENTS)]}),
        post("/heavy/_mget", {"ids": ["1"] * 400}),
        get("/heavy/_doc/1"),
    ]


def cursors():
    """Contexts that nobody closes, over segments that go meanwhile."""
    return [
        post("/heavy/_search?scroll=1m", {"size": 50}),
        post("/many/_search?scroll=1m", {"size": 10_000, "sort": ["k"]}),
        post("/many/_search/point_in_time?keep_alive=1m"),
        post("/_plugins/_sql", {"query": "select * from heavy", "fetch_size": 100}),
        post("/_plugins/_sql", {"query": "select k, v, t from many", "fetch_size": 1000}),
    ] * 3


def statements():
    return [
        post("/_plugins/_sql", {"query": "select * from heavy limit 10000"}),
        post("/_plugins/_ppl", {"query": "source=heavy | fields blob, n | head 10000"}),
        post("/_plugins/_sql", {"query": "select k, v, concat(k, k, k, k, k, k, k, k) as c from many order by c limit 10000"}),
        post("/_plugins/_sql", {"query": "select k, count(*), max(v) from many group by k limit 60000"}),
        post("/_plugins/_ppl", {"query": "source=many | stats count() by k, v | sort - k"}),
        post("/_plugins/_ppl", {"query": "source=heavy | eval a = concat(blob, blob, blob, blob) | head 10000"}),
        post("/_plugins/_sql?format=csv", {"query": "select * from heavy limit 10000"}),
    ]


def percolators():
    document = {"t": " ".join(f"w{n}" for n in range(500))}
    return [
        search("alarms", size=10_000, query={"percolate": {"field": "q", "document": document}}),
        search("alarms", size=10_000, query={"percolate": {"field": "q", "documents": [document] * 2_000}}),
        search("alarms", size=10_000, query={"percolate": {"field": "q", "index": "heavy", "id": "1"}}),
    ]


def by_queries():
    return [
        post("/_reindex", {"source": {"index": "heavy", "size": 1000}, "dest": {"index": "heavy-copy"}}),
        post("/heavy/_update_by_query?conflicts=proceed&scroll_size=1000"),
        post("/_reindex", {"source": {"index": "heavy", "size": 1000, "_source": ["blob"]}, "dest": {"index": "heavy-part"}}),
        post("/heavy-copy/_delete_by_query?conflicts=proceed&ignore_unavailable=true", {"query": {"match_all": {}}}),
    ]


def highlights():
    def of(kind, **more):
        fields = {"text": {"type": kind, "number_of_fragments": 0, "max_analyzer_offset": 900_000}}
        return search("long", size=100, query={"match": {"text": "common"}}, highlight={"fields": fields}, **more)
    many = {f"f{n}": {"type": "unified", "number_of_fragments": 0} for n in range(5)}
    return [of("unified"), of("plain"), of("fvh"), of("unified", _source=False),
            search("long", size=100, query={"match": {"text": "common"}},
                   highlight={"fields": {"text": {"fragment_size": 10, "number_of_fragments": 1_000_000}, **many}})]


def term_vectors():
    asked = {"docs": [{"_id": str(n), "fields": ["text"], "positions": True, "offsets": True}
                      for n in range(LONG_DOCUMENTS)] * 4}
    return [post("/long/_mtermvectors", asked),
            post("/long/_termvectors", {"doc": {"text": "w1 common " * (3 * MB)}, "term_statistics": True})]


def suggesters():
    text = " ".join(f"word{n}x" for n in range(100))
    return [
        search("many", size=0, suggest={"a": {"text": text, "term": {"field": "t", "size": 1000, "suggest_mode": "always"}}}),
        search("many", size=0, suggest={"a": {"prefix": "c", "completion": {"field": "s", "size": 10_000}}}),
        search("many", size=0, suggest={"a": {"text": text[:5_000], "phrase": {"field": "t", "size": 1000, "token_limit": 1000}}}),
        search("many", size=0, suggest={f"a{n}": {"prefix": "c", "completion": {"field": "s", "size": 10_000}} for n in range(30)}),
    ]


def wide_answers():
    return [
        get("/_mapping"), get("/_all"), get("/wide-*/_field_caps?fields=*&include_unmapped"), get("/_cluster/state"),
        get("/_mapping/field/*"), get("/_cat/indices?format=json"), get("/_stats?level=shards"), get("/_segments"),
        get("/wide-*/_mapping/field/*?include_defaults&pretty"), get("/_index_template"), get("/_cluster/health?level=shards"),
        get("/_settings?include_defaults"), get("/_cat/shards"), get("/_field_caps?fields=field*"),
    ]


def slow_readers():
    """Connections that ask for 60 MB each and take nothing of it."""
    kept = []

    def ask(client):
        body = json.dumps({"size": 60})
        host, port = client.address.rsplit(":", 1)
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(client.timeout)
        connection.connect((host, int(port)))
        connection.sendall((f"POST /heavy/_search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                            f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
        kept.append(connection)
        return f"answered {connection.recv(12)[9:12].decode()}"

    return [ask] * 4


def slow_senders():
    """Connections that say how much they will send, and send most of it."""
    kept = []

    def send(client):
        host, port = client.address.rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=5)
        kept.append(connection)
        try:
            connection.sendall(f"POST /b/_bulk HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                               f"Content-Length: {90 * MB}\r\n\r\n".encode() + bulk(100 * MB)[:60 * MB])
            return "sent"
        except OSError:
            return "not taken"

    return [send] * 2


def milvus(path, **body):
    """A call of Milvus' API, whose refusals have status 200 and a code."""
    body = json.dumps({"collectionName": "rows", **body})

    def call(attacker):
        with Client(attacker.grpc, attacker.timeout) as client:
            reply = client.request("POST", f"/v2/vectordb/entities/{path}", body)
        # Refusals are short.
        code = json.loads(reply.raw)["code"] if len(reply.raw) < 10_000 else 0
        return f"code {code}" if code else reply

    return call


def milvus_calls():
    vectors = [[(n + m) % 97 / 97 for m in range(DIMENSION)] for n in range(1_000)]
    keys = "id in [" + ",".join(str(n) for n in range(400_000)) + "]"
    rows = [{"id": ROWS + n, "n": n, "text": "x" * 1_900, "emb": vectors[n % 1_000]} for n in range(15_000)]
    return [
        milvus("search", annsField="emb", data=vectors, limit=2_000),
        milvus("search", annsField="emb", data=vectors[:20], limit=10_000, outputFields=["*"]),
        milvus("search", annsField="emb", data=vectors[:200], limit=500, groupingField="n", groupSize=10, strictGroupSize=True),
        milvus("query", filter="n >= 0", limit=16_000, outputFields=["*"]),
        milvus("query", filter=keys, limit=16_000, outputFields=["text"]),
        milvus("hybrid_search", limit=10_000, rerank={"strategy": "rrf", "params": {"k": 60}}, outputFields=["text"],
               search=[{"annsField": "emb", "data": vectors[:1], "limit": 10_000}, {"annsField": "emb", "data": vectors[1:2], "limit": 10_000}]),
        milvus("upsert", data=rows),
    ]


def log_messages():
    return [grpc_calls.large_append, grpc_calls.half_an_append, grpc_calls.many_records]


def log_readers():
    return [grpc_calls.slow_scan]


# Each with its clients and what they do.
ATTACKS = {
    "bulks": (50, bulks), "8 bulks": (8, bulks), "bombs": (8, bombs), "large json": (18, large_json),
    "aggregations": (16, aggregations), "hits": (20, hits), "several searches": (16, several_searches),
    "several documents": (20, several_documents), "cursors": (20, cursors), "statements": (16, statements),
    "percolators": (12, percolators), "by queries": (8, by_queries), "highlights": (16, highlights),
    "term vectors": (16, term_vectors), "suggesters": (16, suggesters), "wide answers": (28, wide_answers),
    "slow readers": (50, slow_readers), "slow senders": (50, slow_senders),
    "milvus": (21, milvus_calls), "log messages": (32, log_messages), "log readers": (50, log_readers),
}
