"""What a data folder is filled with that a later build must open, and what it is asked then."""

WORDS = "log index shard segment vector query bucket field token merge".split()

MAPPING = {
    "_routing": {"required": False},
    "dynamic_templates": [{"tags": {"match": "tag_*", "mapping": {"type": "keyword"}}}],
    "properties": {
        "title": {"type": "text", "analyzer": "english", "fields": {"raw": {"type": "keyword"}}},
        "folded": {"type": "text", "analyzer": "mine"},
        "when": {"type": "date"},
        "count": {"type": "long"},
        "price": {"type": "scaled_float", "scaling_factor": 100},
        "open": {"type": "boolean"},
        "address": {"type": "ip"},
        "place": {"type": "geo_point"},
        "span": {"type": "integer_range"},
        "flat": {"type": "flat_object"},
        "rank": {"type": "rank_feature"},
        "typed": {"type": "completion"},
        "other": {"type": "alias", "path": "count"},
        "parts": {"type": "nested", "properties": {"name": {"type": "keyword"}, "size": {"type": "integer"}}},
        "kind": {"type": "join", "relations": {"question": "answer"}},
        "near": {"type": "knn_vector", "dimension": 4, "method": {"name": "hnsw", "space_type": "l2"}},
    },
}

SETTINGS = {
    "index": {
        "number_of_shards": 2,
        "knn": True,
        "analysis": {"analyzer": {"mine": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase", "asciifolding"]}}},
        "similarity": {"default": {"type": "BM25", "b": 0.5}},
        "refresh_interval": "1h",
        "mapping.total_fields.limit": 200,
        "number_of_replicas": 0,
    }
}


def document(number):
    word = WORDS[number % len(WORDS)]
    return {
        "title": f"The {word}s of {WORDS[number * 7 % len(WORDS)]}",
        "folded": f"Éa {word}",
        "when": f"2026-01-{number % 28 + 1:02}T00:00:{number % 60:02}Z",
        "count": number,
        "price": number / 8,
        "open": number % 3 == 0,
        "address": f"10.0.{number % 4}.{number}",
        "place": {"lat": number % 50, "lon": number % 90},
        "span": {"gte": number, "lt": number + 10},
        "flat": {"a": {"b": word}},
        "rank": number + 1,
        "typed": {"input": [f"{word} {number}"], "weight": number},
        "tag_new": word,
        "parts": [{"name": word, "size": number}, {"name": "all", "size": -number}],
        "kind": "question",
        "near": [number, number % 7, 0, 1],
    }


def fill(client):
    """Everything that is kept: in segments, and at the end only in the log."""
    client.cluster.put_settings(body={"persistent": {"search.max_buckets": 5000}})
    steps = [{"set": {"field": "stamped", "value": True}}]
    client.ingest.put_pipeline(id="stamp", body={"processors": steps})
    client.indices.put_index_template(
        name="streams",
        body={"index_patterns": ["stream-*"], "data_stream": {}, "template": {"settings": {"default_pipeline": "stamp"}}},
    )
    aliases = {"evens": {"filter": {"range": {"count": {"lt": 20}}}, "routing": "r"}, "plain": {}}
    client.indices.create(index="kept", body={"settings": SETTINGS, "mappings": MAPPING, "aliases": aliases})
    lines = []
    for number in range(60):
        lines += [{"index": {"_index": "kept", "_id": str(number)}}, document(number)]
    assert not client.bulk(body=lines)["errors"]
    client.indices.flush(index="kept")
    for number in range(60, 90):
        client.index(index="kept", id=str(number), body=document(number))
    client.delete(index="kept", id="3")
    client.update(index="kept", id="4", body={"doc": {"count": 400}})
    answer = {"title": "an answer", "count": 1000, "kind": {"name": "answer", "parent": "5"}}
    client.index(index="kept", id="a", body=answer, params={"routing": "5"})
    client.indices.refresh(index="kept")
    body = {"mappings": {"properties": {"query": {"type": "percolator"}, "text": {"type": "text"}}}}
    client.indices.create(index="waiting", body=body)
    client.index(index="waiting", id="w", body={"query": {"match": {"text": "fox"}}})
    client.indices.create(index="shut", body={})
    client.indices.close(index="shut")
    for number in range(3):
        client.index(index="stream-a", body={"@timestamp": "2026-01-01", "n": number}, params={"op_type": "create"})
    client.indices.flush(index="stream-a")
    # These are nowhere but in the log.
    client.index(index="kept", id="late", body={**document(7), "late": "new field"})
    client.delete(index="kept", id="8")


QUERIES = {
    "all": {"query": {"match_all": {}}, "size": 100, "sort": [{"count": "asc"}]},
    "words": {"query": {"match": {"title": "segments of vectors"}}, "size": 100},
    "folded": {"query": {"match": {"folded": "ea"}}, "size": 5, "sort": ["count"]},
    "phrase": {"query": {"match_phrase": {"title": "logs of log"}}},
    "range": {"query": {"range": {"when": {"gte": "2026-01-20"}}}, "sort": [{"when": "desc"}, "count"]},
    "address": {"query": {"term": {"address": "10.0.0.0/30"}}, "sort": ["count"]},
    "place": {"query": {"geo_distance": {"distance": "900km", "place": [10, 10]}}, "sort": ["count"]},
    "span": {"query": {"range": {"span": {"gte": 20, "lte": 21}}}, "sort": ["count"]},
    "nested": {"query": {"nested": {"path": "parts", "query": {"term": {"parts.size": -9}}, "inner_hits": {}}}},
    "parent": {"query": {"has_child": {"type": "answer", "query": {"match": {"title": "answer"}}}}},
    "near": {"query": {"knn": {"near": {"vector": [30.3, 2, 0, 1], "k": 5}}}},
    "rank": {"query": {"rank_feature": {"field": "rank", "linear": {}}}, "size": 3, "_source": True},
    "new": {"query": {"term": {"late.keyword": "new field"}}},
    "tags": {"size": 0, "aggs": {"t": {"terms": {"field": "tag_new", "size": 20}, "aggs": {"m": {"sum": {"field": "count"}}}}}},
    "days": {"size": 0, "aggs": {"d": {"date_histogram": {"field": "when", "calendar_interval": "week"}}}},
    "typed": {"suggest": {"s": {"prefix": "query 2", "completion": {"field": "typed"}}}},
}


def asked(client):
    """The answers, without what no two nodes have in common."""
    answers = {}
    client.indices.refresh(index="kept,waiting")
    for name, body in QUERIES.items():
        answers[name] = plain(client.search(index="kept", body={"_source": ["count", "late"], **body}))
    waiting = {"query": {"percolate": {"field": "query", "document": {"text": "a fox"}}}}
    answers["waiting"] = plain(client.search(index="waiting", body=waiting))
    answers["alias"] = client.count(index="evens")["count"]
    answers["stream"] = client.count(index="stream-a")["count"]
    answers["document"] = client.get(index="kept", id="late")
    answers["mapping"] = client.indices.get_mapping(index="kept,waiting,shut")
    settings = client.indices.get_settings(index="kept,shut")
    answers["settings"] = {name: one["settings"] for name, one in settings.items()}
    answers["aliases"] = client.indices.get_alias(index="kept")
    answers["template"] = client.indices.get_index_template(name="streams")
    answers["pipeline"] = client.ingest.get_pipeline(id="stamp")
    answers["cluster"] = client.cluster.get_settings()["persistent"]
    answers["closed"] = client.cat.indices(index="shut", params={"format": "json", "h": "status", "expand_wildcards": "all"})
    return answers


def plain(answer):
    return {name: value for name, value in answer.items() if name not in ("took", "_shards")}
