"""Data, and one request of each kind whose work grows with it: together they take every way through the server that
can be long. A kind is a name, a method, a path and a body (text, bytes, or what becomes JSON)."""

import json
import random
from typing import NamedTuple

DIMENSION = 64
EXPENSIVE_CLAUSES = 900


# Buckets, or documents in them.
MILLIONS_OF_BUCKETS = ("date_histogram", "histogram", "pipelines", "top_hits")


class Kind(NamedTuple):
    """One heavy request; `timed` says that the API has a `timeout` for it, `overstay` how many seconds it may go on when it
    is ended: by then it has made so much that giving the memory back takes as long, or it writes, which is not left half.
    `milvus` ones go to the other port, where nobody can be cancelled by name."""

    name: str
    method: str
    path: str
    body: object
    timed: bool = False
    overstay: float = 0.1
    milvus: bool = False

    def bytes(self):
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


def load(client, documents):
    """Makes the indexes; what is measured later must not meet merges, refreshes or flushes of them."""
    chance = random.Random(1)
    fields = {
        "words": {"type": "text"}, "tag": {"type": "keyword"}, "unique": {"type": "keyword"}, "few": {"type": "keyword"},
        "n": {"type": "long"}, "x": {"type": "double"}, "at": {"type": "date"}, "place": {"type": "geo_point"},
        "title": {"type": "completion"},
        "emb": {"type": "knn_vector", "dimension": DIMENSION},
        "lines": {"type": "nested", "properties": {"sku": {"type": "keyword"}, "count": {"type": "integer"}}},
    }
    settings = {"number_of_shards": 2, "refresh_interval": "-1", "max_result_window": 1_000_000,
                "max_inner_result_window": 10_000, "max_rescore_window": 1_000_000}
    settings["highlight.max_analyzed_offset"] = 100_000_000
    client.done("PUT", "/_cluster/settings", {"persistent": {"search.max_buckets": 10_000_000}})
    client.done("PUT", "/big", {"settings": settings, "mappings": {"properties": fields}})
    client.done("PUT", "/long", {"settings": settings, "mappings": {"properties": {"words": fields["words"]}}})
    queries = {"query": {"type": "percolator"}, "words": fields["words"], "tag": fields["tag"], "n": fields["n"]}
    client.done("PUT", "/queries", {"settings": settings, "mappings": {"properties": queries}})
    wide = {f"field{n}": {"type": "keyword"} for n in range(9_000)}
    client.done("PUT", "/wide", {"settings": {"mapping.total_fields.limit": 10_000}, "mappings": {"properties": wide}})
    for n in range(5):
        client.done("PUT", f"/wide{n}", {"settings": {"mapping.total_fields.limit": 10_000}, "mappings": {"properties": wide}})
    client.done("PUT", "/_ingest/pipeline/slow", {"processors": SLOW_PROCESSORS})

    def source(n):
        words = " ".join(f"w{int(chance.paretovariate(0.4)) % 60_000}" for _ in range(25))
        return {"words": f"common {words} x{n}y{n * 7919 % 99_991}", "tag": f"t{n % 50}", "few": f"f{n % 7}", "unique": f"user.name-{n:08d}",
                "n": n, "x": n / 7, "at": 1_700_000_000_000 + n * 60_001, "place": {"lat": n % 90, "lon": n * 7 % 180},
                "title": f"song {chance.randrange(10**6)} {n}",
                "emb": [chance.random() for _ in range(DIMENSION)],
                "lines": [{"sku": f"s{n % 1000}", "count": n % 10}, {"sku": f"s{n * 3 % 1000}", "count": n % 7}]}

    def fill(index, count, make, step=2_000):
        for start in range(0, count, step):
            lines = []
            for n in range(start, min(start + step, count)):
                lines += [{"index": {"_index": index, "_id": str(n)}}, make(n)]
            client.done("POST", "/_bulk", lines)

    fill("big", documents, source)
    fill("long", 6, lambda n: {"words": " ".join(f"w{word * 7919 % 100_003}" for word in range(60_000))}, 1)
    fill("queries", max(500, documents // 5), lambda n: {"query": {"bool": {"should": [
        {"match": {"words": f"w{n} w{n % 1000} common"}}, {"wildcard": {"tag": f"*t{n}*"}}]}}})
    client.done("POST", "/_refresh")
    client.done("POST", "/big,queries/_forcemerge?max_num_segments=3")
    client.done("POST", "/big,long,queries/_flush")


def load_milvus(client, documents):
    """Makes a collection, by the REST API of Milvus."""
    chance = random.Random(2)

    def done(path, body):
        answer = client.done("POST", f"/v2/vectordb/{path}", body)
        if answer["code"]:
            raise RuntimeError(f"{path}: {answer}")

    field = lambda name, kind, **more: {"fieldName": name, "dataType": kind, **more}
    done("collections/create", {"collectionName": "rows", "schema": {"autoId": False, "fields": [
        field("id", "Int64", isPrimary=True), field("n", "Int64"), field("sparse", "SparseFloatVector"),
        field("key", "VarChar", elementTypeParams={"max_length": "64"}),
        field("emb", "FloatVector", elementTypeParams={"dim": str(DIMENSION)})]},
        "indexParams": [{"fieldName": "emb", "indexName": "emb", "metricType": "L2", "indexType": "FLAT"},
                        {"fieldName": "sparse", "indexName": "sparse", "metricType": "IP", "indexType": "SPARSE_INVERTED_INDEX"}]})
    for start in range(0, documents, 2_000):
        done("entities/insert", {"collectionName": "rows", "data": [
            {"id": n, "n": n % 1000, "key": f"key-{n:08d}", "emb": [chance.random() for _ in range(DIMENSION)],
             "sparse": {str(chance.randrange(5_000)): 1.0 + n % 7 for _ in range(8)}}
            for n in range(start, min(start + 2_000, documents))]})


SLOW_PROCESSORS = [
    {"grok": {"field": "m", "patterns": ["%{GREEDYDATA:a} %{GREEDYDATA:b} %{GREEDYDATA:c} %{IP:d}"], "ignore_failure": True}},
    {"gsub": {"field": "m", "pattern": "(a|b|ab)*c", "replacement": "x", "ignore_failure": True}},
]


def search(name, body, path="/big/_search"):
    return Kind(name, "POST", path, body, True)


def aggregation(name, aggs, query=None):
    kind = search(f"agg {name}", {"size": 0, "aggs": {"a": aggs}, **({"query": query} if query else {})})
    return kind._replace(overstay=1) if name in MILLIONS_OF_BUCKETS else kind


def kinds(documents):
    """All kinds of heavy requests, for `documents` in the index."""
    yield from queries(documents)
    yield from aggregations()
    yield from pages()
    yield from languages()
    yield from writes()
    yield from reads(documents)
    yield from milvus()


def queries(documents):
    wildcard = "*" + "*".join("0123456789") + "*"
    yield search("script", {"query": {"script_score": {"query": {"match_all": {}}, "script": {
        "source": "knn_score", "lang": "knn", "params": {"field": "emb", "query_value": [0.5] * DIMENSION, "space_type": "l2"}}}}})
    yield search("knn walk", {"query": {"bool": {"should": [
        {"knn": {"emb": {"vector": [n / 97] * DIMENSION, "k": 10_000, "method_parameters": {"ef_search": 10_000}}}} for n in range(100)]}}})
    yield search("knn exact", {"query": {"bool": {"should": [
        {"knn": {"emb": {"vector": [n / 97] * DIMENSION, "k": 1000, "filter": {"range": {"n": {"gte": n, "lt": documents // 2 + n}}}}}}
        for n in range(100)]}}})
    yield search("fuzzy", {"query": {"bool": {"should": [
        {"fuzzy": {"unique": {"value": f"user.name-{n:08d}", "fuzziness": 2, "max_expansions": 18}}} for n in range(EXPENSIVE_CLAUSES)]}}})
    yield search("wildcard", {"query": {"bool": {"should": [{"wildcard": {"unique": f"{wildcard}{n}*"}} for n in range(EXPENSIVE_CLAUSES)]}}})
    yield search("prefix", {"query": {"bool": {"should": [{"prefix": {"words": "x"}} for n in range(EXPENSIVE_CLAUSES)]}}})
    yield search("regexp", {"query": {"bool": {"should": [{"regexp": {"unique": f"user.*[0-9]+{n % 10}.*[^a]{n}"}} for n in range(EXPENSIVE_CLAUSES)]}}})
    yield search("query_string", {"query": {"query_string": {"query": " ".join(f"unique:*{n}*" for n in range(EXPENSIVE_CLAUSES))}}})
    for name, text in (("(", "("), ("quotes", '"'), ("-", "-"), ("a |", "a | "), ("~", 'a~ '), ('"a"~', '"a b"~2 ')):
        yield search(f"simple_query_string {name}", {"query": {"simple_query_string": {"query": text * 200_000}}})
        yield search(f"query_string {name}", {"query": {"query_string": {"query": text * 200_000}}})
    yield search("match of 100,000 words", {"query": {"match": {"words": " ".join(f"w{n}" for n in range(100_000))}}})
    yield search("match_phrase of 100,000 words", {"query": {"match_phrase": {"words": {"query": "common w1 w2 " * 30_000, "slop": 100}}}})
    yield search("intervals", {"query": {"intervals": {"words": {"all_of": {"ordered": False, "intervals": [
        {"match": {"query": "common"}}, {"prefix": {"prefix": "w"}}, {"wildcard": {"pattern": "x*1*"}}]}}}}})
    yield search("terms of 65,000", {"query": {"terms": {"unique": [f"user.name-{n:08d}" for n in range(65_000)]}}})
    yield search("ids of 65,000", {"query": {"ids": {"values": [str(n) for n in range(65_000)]}}})
    deep = {"match_all": {}}
    for _ in range(18):
        deep = {"bool": {"must": [deep, {"match": {"words": "common"}}], "should": [{"wildcard": {"words": "*1*"}}]}}
    yield search("deep bool", {"query": deep})
    yield search("more_like_this", {"query": {"more_like_this": {
        "fields": ["words"], "like": " ".join(f"w{n}" for n in range(300_000)), "max_query_terms": 1000, "min_term_freq": 1, "min_doc_freq": 1}}})
    yield search("nested", {"query": {"nested": {"path": "lines", "query": {"bool": {"should": [
        {"wildcard": {"lines.sku": f"*{n}*"}} for n in range(EXPENSIVE_CLAUSES)]}}, "inner_hits": {"size": 100}}}, "size": 10_000})
    yield search("percolate", {"size": 1000, "query": {"percolate": {"field": "query", "documents": [
        {"words": " ".join(f"w{n * m}" for n in range(1000)), "tag": f"t{m}"} for m in range(30)]}}}, "/queries/_search")
    yield search("function_score", {"query": {"function_score": {"query": {"match_all": {}}, "functions": [
        {"gauss": {"n": {"origin": n, "scale": 100}}} for n in range(200)]}}})
    yield search("geo", {"query": {"geo_distance": {"distance": "9000km", "place": {"lat": 1, "lon": 2}}},
                         "sort": [{"_geo_distance": {"place": [{"lat": n % 80, "lon": n} for n in range(100)]}}]})
    yield search("distances", {"size": 1000, "sort": [{"_geo_distance": {"place": [{"lat": n % 80, "lon": n % 180} for n in range(10_000)]}}]})
    yield search("patterns of fields", {"query": {"multi_match": {"query": "a", "fields": [f"*f*{n}*" for n in range(1_000)]}}}, "/wide*/_search")


def aggregations():
    every = {"c": {"cardinality": {"field": "unique", "precision_threshold": 40_000}}}
    yield aggregation("terms of all", {"terms": {"field": "unique", "size": 1_000_000, "order": {"c": "desc"}}, "aggs": {"c": {"max": {"field": "n"}}}})
    yield aggregation("terms of terms", {"terms": {"field": "unique", "size": 1_000_000}, "aggs": {
        "b": {"terms": {"field": "n"}, "aggs": {"c": {"terms": {"field": "few"}}}}}})
    yield aggregation("composite", {"composite": {"size": 1_000_000, "sources": [
        {"a": {"terms": {"field": "unique"}}}, {"b": {"terms": {"field": "n"}}}]}})
    yield aggregation("composite of 1,000 sources", {"composite": {"size": 10, "sources": [
        {f"s{n}": {"terms": {"field": ("unique", "n", "few")[n % 3]}}} for n in range(1_000)]}})
    yield aggregation("cardinality", {"terms": {"field": "n", "size": 1_000_000}, "aggs": every})
    yield aggregation("date_histogram", {"date_histogram": {"field": "at", "fixed_interval": "1s", "min_doc_count": 0}})
    yield aggregation("histogram", {"histogram": {"field": "x", "interval": 0.01, "min_doc_count": 0}})
    yield aggregation("percentiles", {"terms": {"field": "n", "size": 1_000_000}, "aggs": {"p": {"percentiles": {"field": "x"}}}})
    yield aggregation("top_hits", {"terms": {"field": "n", "size": 1_000_000}, "aggs": {"p": {"top_hits": {"size": 3}}}})
    yield aggregation("significant_terms", {"terms": {"field": "n", "size": 1000}, "aggs": {
        "s": {"significant_terms": {"field": "unique", "size": 10_000, "min_doc_count": 1}}}})
    yield aggregation("significant_text", {"significant_text": {"field": "words", "size": 10_000, "min_doc_count": 1}}, {"match": {"words": "common"}})
    yield aggregation("rare_terms", {"rare_terms": {"field": "unique", "max_doc_count": 10}})
    yield aggregation("nested", {"nested": {"path": "lines"}, "aggs": {"s": {"terms": {"field": "lines.sku", "size": 10_000}, "aggs": {
        "r": {"reverse_nested": {}, "aggs": {"u": {"terms": {"field": "unique", "size": 100_000}}}}}}}})
    yield aggregation("pipelines", {"date_histogram": {"field": "at", "fixed_interval": "10s", "min_doc_count": 0}, "aggs": {
        "m": {"sum": {"field": "n"}}, "v": {"moving_avg": {"buckets_path": "m", "window": 1000}}, "d": {"derivative": {"buckets_path": "m"}},
        "f": {"cumulative_sum": {"buckets_path": "m"}}, "z": {"bucket_sort": {"sort": [{"m": "desc"}]}}}})
    yield aggregation("filters", {"filters": {"filters": {f"f{n}": {"wildcard": {"unique": f"*{n}*"}} for n in range(900)}}})
    yield aggregation("geo grid", {"geohash_grid": {"field": "place", "precision": 12, "size": 1_000_000}})


def pages():
    yield search("sort deep", {"from": 60_000, "size": 20_000, "sort": ["few", {"x": "desc"}, "unique"], "_source": False, "docvalue_fields": ["*"]})
    yield search("large page", {"size": 100_000, "fields": ["*"]})
    yield search("collapse", {"size": 10_000, "collapse": {"field": "unique", "inner_hits": {"name": "i", "size": 5, "sort": ["n"]}}})
    yield search("rescore", {"query": {"match": {"words": "common"}}, "size": 10, "rescore": [
        {"window_size": 100_000, "query": {"rescore_query": {"match": {"words": f"w{n} common"}}}} for n in range(10)]})
    for kind in ("plain", "unified"):
        yield search(f"highlight {kind}", {"query": {"query_string": {"query": "words:w*1* words:w7 words:\"w1 w2\""}}, "_source": False, "highlight": {
            "fields": {"words": {"type": kind, "number_of_fragments": 10_000}}}}, "/long/_search")
    yield search("suggest completion", {"suggest": {f"s{n}": {"prefix": "song", "completion": {
        "field": "title", "size": 10_000, "fuzzy": {"fuzziness": 2}}} for n in range(20)}})
    yield search("suggest term", {"suggest": {"text": " ".join(f"x{n}y{n}" for n in range(1000)), "s": {"term": {
        "field": "words", "suggest_mode": "always", "size": 1000, "max_edits": 2, "prefix_length": 0, "min_word_length": 1}}}})
    yield search("suggest phrase", {"suggest": {"text": " ".join(f"x{n}y{n}" for n in range(30)), "s": {"phrase": {
        "field": "words", "size": 100, "max_errors": 30, "token_limit": 100, "direct_generator": [
            {"field": "words", "suggest_mode": "always", "size": 100, "prefix_length": 0, "min_word_length": 1}]}}}})
    lines = [line for n in range(1_000) for line in ({"index": "big"}, {"size": 100, "query": {"wildcard": {"unique": f"*{n}*"}}})]
    yield Kind("msearch", "POST", "/_msearch", "".join(json.dumps(line) + "\n" for line in lines))


def languages():
    yield Kind("sql group", "POST", "/_plugins/_sql", {"query": "SELECT substring(`unique`, 5), count(*), sum(n * x) FROM big GROUP BY substring(`unique`, 5) ORDER BY 3"})
    yield Kind("sql long", "POST", "/_plugins/_sql", {"query": "SELECT n FROM big WHERE " + " OR ".join(f"n + 1 = {n}" for n in range(4_000))})
    yield Kind("ppl", "POST", "/_plugins/_ppl", {"query": "source=big | eval y = n * x | stats avg(y) by `unique`, tag | sort `unique`"})
    yield Kind("ppl dedup", "POST", "/_plugins/_ppl", {"query": "source=big | dedup `unique` | sort x | eval z = concat(few, tag) | rare z by few"})


def writes():
    slow = "a" * 3000 + " b" * 500
    lines = "".join(json.dumps({"index": {"_index": "piped"}}) + "\n" + json.dumps({"m": slow}) + "\n" for _ in range(400))
    yield Kind("bulk pipeline", "POST", "/_bulk?pipeline=slow", lines)
    plain = "".join(json.dumps({"index": {"_index": "plain"}}) + "\n" + json.dumps({"m": f"a{n} b c d"}) + "\n" for n in range(100_000))
    # Its documents are cut from the body before any is written; from then on it goes to its end when its client has gone.
    yield Kind("bulk", "POST", "/_bulk", plain, overstay=1)
    yield Kind("simulate", "POST", "/_ingest/pipeline/slow/_simulate", {"docs": [{"_source": {"m": slow}} for _ in range(400)]})
    yield Kind("update by query", "POST", "/big/_update_by_query?conflicts=proceed", {"query": {"term": {"few": "f1"}}})
    yield Kind("reindex", "POST", "/_reindex", {"source": {"index": "big"}, "dest": {"index": "copy"}})
    yield Kind("delete by query", "POST", "/copy/_delete_by_query?conflicts=proceed", {"query": {"match_all": {}}})
    yield Kind("forcemerge", "POST", "/big/_forcemerge?max_num_segments=1", "")


def reads(documents):
    ids = [str(n % documents) for n in range(20_000)]
    yield Kind("mtermvectors", "POST", "/big/_mtermvectors", {"docs": [
        {"_id": one, "term_statistics": True, "fields": ["words"]} for one in ids]})
    yield Kind("termvectors", "POST", "/long/_termvectors/1", {"fields": ["words"], "term_statistics": True})
    yield Kind("mget", "POST", "/big/_mget", {"ids": ids * 5})
    yield Kind("count", "POST", "/big/_count", {"query": {"bool": {"should": [{"wildcard": {"unique": f"*{n}*"}} for n in range(EXPENSIVE_CLAUSES)]}}})
    yield Kind("field_caps", "GET", "/*/_field_caps?fields=*", "")
    yield Kind("mapping", "GET", "/_all/_mapping/field/*", "")
    yield Kind("analyze", "POST", "/_analyze", {"tokenizer": "standard", "filter": ["lowercase", "porter_stem"], "text": ["running words " * 4_900]})
    yield Kind("validate", "POST", "/big/_validate/query?explain=true", {"query": {"bool": {"should": [{"wildcard": {"words": f"*{n}*"}} for n in range(EXPENSIVE_CLAUSES)]}}})
    yield Kind("explain", "POST", "/big/_explain/1", {"query": {"bool": {"should": [{"wildcard": {"unique": f"*{n}*"}} for n in range(EXPENSIVE_CLAUSES)]}}})
    yield Kind("rank_eval", "POST", "/big/_rank_eval", {"metric": {"precision": {"k": 10}}, "requests": [
        {"id": str(n), "ratings": [], "request": {"query": {"wildcard": {"unique": f"*{n}*"}}}} for n in range(500)]})
    yield Kind("template", "POST", "/_render/template", {
        "source": '{"query": "{{#a}}{{#a}}{{#a}}x{{/a}}{{/a}}{{/a}}"}', "params": {"a": list(range(150))}})


def milvus():
    def kind(name, path, body):
        return Kind(f"milvus {name}", "POST", f"/v2/vectordb/entities/{path}", {"collectionName": "rows", **body}, milvus=True)

    vectors = [[(n + m) % 97 / 97 for m in range(DIMENSION)] for n in range(1_000)]
    yield kind("search", "search", {"annsField": "emb", "data": vectors, "limit": 100})
    yield kind("groups", "search", {"annsField": "emb", "data": vectors[:200], "limit": 100, "groupingField": "n",
                                    "groupSize": 5, "strictGroupSize": True})
    yield kind("sparse", "search", {"annsField": "sparse", "limit": 100, "data": [
        {str(m): 1.0 for m in range(n, n + 400)} for n in range(1_000)]})
    yield kind("query", "query", {"filter": " or ".join(f'key like "%{n}%{n}%"' for n in range(60)), "limit": 16_000, "outputFields": ["*"]})
