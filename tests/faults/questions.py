"""Requests that together read every byte of every file of an index, for answers that are compared
before and after damage."""

import random

from .corpus import SCHEMAS, VECTOR, vector, word

ALL = {"match_all": {}}
GRAPH_DIMENSION, GRAPH_DOCUMENTS = 384, 1_500


def ask(client, question):
    """The replies to a question: one, or all pages of a scroll as far as they are whole."""
    method, path, body = question
    replies = [client.request(method, path, body)]
    while "scroll=" in path:
        try:
            page = replies[-1].body
        except ValueError:
            break
        cursor = {"scroll_id": page.get("_scroll_id")}
        if not replies[-1].ok or page["_shards"]["failed"] or not page["hits"]["hits"]:
            client.request("DELETE", "/_search/scroll", cursor)
            break
        replies.append(client.post("/_search/scroll", {"scroll": "1m", **cursor}))
    return replies


def questions(documents):
    """All questions about the documents of a model without doubts."""
    asked = []
    for index in SCHEMAS:
        living = {identity: possible.value for (name, identity), possible
                  in documents.possible.items() if name == index and possible.value}
        asked += by_id(index, documents.ids(index), living)
        asked += [("POST", f"/{index}/_search", body) for body in searches(living)]
        asked.append(("POST", f"/{index}/_search?scroll=1m", {"size": 50, "query": ALL, "sort": ["mark"]}))
    asked += [("POST", "/flat/_search", body) for body in about_vectors(documents)]
    asked += [("POST", "/graph/_search", body) for body in about_graph()]
    asked += [("POST", "/nest/_search", body) for body in ABOUT_NESTED]
    asked += [("POST", "/kin/_search", body) for body in ABOUT_KIN]
    return asked


def by_id(index, ids, living):
    docs = [{"_id": i, **({"routing": r} if (r := SCHEMAS[index].routing(i)) else {})} for i in ids]
    yield "POST", f"/{index}/_mget", {"docs": docs}
    for identity in sorted(living)[::40]:
        routing = SCHEMAS[index].routing(identity)
        end = f"?routing={routing}" if routing else ""
        yield "GET", f"/{index}/_doc/{identity}{end}", None
        yield "POST", f"/{index}/_termvectors/{identity}{end}", {"fields": ["words"], "term_statistics": True}
    yield "POST", f"/{index}/_count", {"query": {"range": {"mark": {"gte": 1 << 29}}}}


def searches(living):
    """Terms, positions, columns, sources of the fields that all indexes have."""
    some = sorted(living.items())[::30]
    sort = {"sort": [{"mark": "desc"}], "size": 1000, "version": True, "seq_no_primary_term": True}
    yield {"query": ALL, **sort}
    yield {"query": {"match": {"words": "w1 w2 w5"}}, "size": 1000}
    yield {"query": {"match_phrase": {"words": "w1 w2"}}, **sort}
    yield {"query": {"terms": {"tag": ["t1", "t5", "t16"]}}, **sort}
    yield {"query": {"prefix": {"words": "word1n1"}}, **sort}
    yield {"query": {"wildcard": {"tag": "t?2"}}, **sort}
    yield {"query": {"fuzzy": {"words": "comon"}}, **sort}
    yield {"query": {"range": {"at": {"gte": "2024-01-10", "lt": "2024-01-20"}}}, **sort}
    yield {"query": {"exists": {"field": "owner"}}, "sort": ["tag", "at", "mark"], "size": 1000}
    yield {"query": {"match": {"words": "w3"}}, "highlight": {"fields": {"words": {}}}, "size": 1000}
    yield {"query": ALL, "docvalue_fields": ["mark", "owner", "tag", "at"], "_source": False, **sort}
    for identity, state in some:
        yield {"query": {"match_phrase": {"words": f"common {word(identity, state.mark)} w{state.mark % 3}"}}}
    yield {"size": 0, "aggs": {
        "stats": {"extended_stats": {"field": "mark"}},
        "owners": {"terms": {"field": "owner"}, "aggs": {"most": {"max": {"field": "mark"}}}},
        "tags": {"terms": {"field": "tag", "size": 100}},
        "days": {"date_histogram": {"field": "at", "calendar_interval": "day"}},
        "many": {"cardinality": {"field": "tag"}},
    }}


def about_vectors(documents):
    for (index, identity), possible in sorted(documents.possible.items())[::9]:
        if index == "flat" and possible.value:
            emb = vector(identity, possible.value.emb)
            yield {"size": 5, "query": {"knn": {"emb": {"vector": emb, "k": 5}}}}
    # A filter that few pass is searched exactly, over every vector.
    emb = vector("any", 1)
    yield {"size": 1000, "query": {"knn": {"emb": {"vector": emb, "k": 1000, "filter": {"range": {"mark": {"gte": 0}}}}}}}


def graph_vector(number):
    chance = random.Random(number)
    return [float(chance.randint(-99, 99)) for _ in range(GRAPH_DIMENSION)]


def create_graph(client):
    """An index with so many vectors that a merge builds a graph of them."""
    emb = {**VECTOR, "dimension": GRAPH_DIMENSION}
    settings = {"number_of_shards": 1, "refresh_interval": "-1"}
    body = {"settings": settings, "mappings": {"properties": {"emb": emb}}}
    client.done("PUT", "/graph", body)
    for start in range(0, GRAPH_DOCUMENTS, GRAPH_DOCUMENTS // 2):
        lines = [line for n in range(start, start + GRAPH_DOCUMENTS // 2)
                 for line in ({"index": {"_index": "graph", "_id": str(n)}}, {"emb": graph_vector(n)})]
        client.done("POST", "/_bulk?refresh=true", lines)
    client.done("POST", "/graph/_forcemerge?max_num_segments=1")
    client.done("POST", "/graph/_flush")


def about_graph():
    for number in range(0, GRAPH_DOCUMENTS, GRAPH_DOCUMENTS // 12):
        query = {"knn": {"emb": {"vector": graph_vector(number), "k": 10}}}
        yield {"size": 10, "_source": False, "query": query}
    yield {"size": GRAPH_DOCUMENTS, "sort": ["_doc"], "query": ALL}


ABOUT_NESTED = [
    {"size": 1000, "query": {"nested": {"path": "lines", "query": {"range": {"lines.count": {"gte": 3}}},
                                        "inner_hits": {}}}, "sort": ["mark"]},
    {"size": 1000, "query": {"nested": {"path": "lines", "query": {"prefix": {"lines.sku": "1-"}}}}, "sort": ["mark"]},
    {"size": 0, "aggs": {"lines": {"nested": {"path": "lines"}, "aggs": {
        "skus": {"terms": {"field": "lines.sku", "size": 1000}}, "sum": {"sum": {"field": "lines.count"}}}}}},
]
ABOUT_KIN = [
    {"size": 1000, "query": {"has_child": {"type": "child", "query": {"terms": {"tag": ["t1", "t2", "t3", "t4"]}}}},
     "sort": ["mark"]},
    {"size": 1000, "query": {"has_parent": {"parent_type": "parent", "query": ALL}}, "sort": ["mark"]},
]
