"""What an application does with elasticsearch-py, from its first request to its last.

Runs by itself, with the version of the client under test on its path, and prints what it saw.
"""

import json
import sys
import warnings

import elasticsearch
from elasticsearch import Elasticsearch, helpers

# Of one request, however busy the machine is; the clients' own ten seconds are passed where every processor is taken.
REQUEST_SECONDS_MAX = 120


def plain(reply):
    """Newer clients wrap their replies."""
    return getattr(reply, "body", reply)


def documents(index):
    for number in range(250):
        yield {
            "_index": index,
            "_id": str(number),
            "_source": {"n": number, "title": f"the {number}th entry", "even": number % 2 == 0},
        }


def body(client_major, content):
    """From 8 on the members of a body are arguments."""
    return content if client_major >= 8 else {"body": content}


def main(url):
    warnings.simplefilter("ignore")
    major = elasticsearch.__version__[0]
    client = Elasticsearch(url, **{"request_timeout" if major >= 8 else "timeout": REQUEST_SECONDS_MAX})
    seen = {"version": plain(client.info())["version"]["number"], "ping": client.ping()}
    index = "session"
    client.indices.create(index=index, **body(major, {
        "settings": {"number_of_shards": 1},
        "mappings": {"properties": {
            "n": {"type": "integer"}, "title": {"type": "text"}, "even": {"type": "boolean"},
        }},
    }))
    seen["bulk"] = helpers.bulk(client, documents(index), refresh=True)[0]
    seen["streaming"] = sum(
        1 for done, _ in helpers.streaming_bulk(client, documents("session-2"), chunk_size=60) if done
    )
    found = plain(client.search(index=index, **body(major, {
        "query": {"bool": {"must": [{"match": {"title": "entry"}}], "filter": [{"term": {"even": True}}]}},
        "sort": [{"n": "desc"}],
        "aggs": {"top": {"max": {"field": "n"}}},
        "size": 3,
    })))
    seen["total"] = found["hits"]["total"]["value"]
    seen["first"] = found["hits"]["hits"][0]["_source"]["n"]
    seen["max"] = found["aggregations"]["top"]["value"]
    seen["scanned"] = sum(1 for _ in helpers.scan(client, index=index, size=70))
    seen["count"] = plain(client.count(index=index))["count"]
    source = {"n": 1000, "title": "one more", "even": True}
    client.index(index=index, id="more", refresh=True, **({"document": source} if major >= 8 else {"body": source}))
    client.update(index=index, id="more", **body(major, {"doc": {"n": 1001}}))
    seen["got"] = plain(client.get(index=index, id="more"))["_source"]["n"]
    client.delete(index=index, id="more", refresh=True)
    seen["exists"] = bool(client.exists(index=index, id="more"))
    try:
        client.get(index=index, id="more")
    except elasticsearch.NotFoundError as error:
        seen["missing"] = getattr(error, "status_code", None) or error.meta.status
    try:
        client.search(index="absent")
    except elasticsearch.NotFoundError as error:
        seen["absent"] = getattr(error, "error", None)
    seen["cat"] = plain(client.cat.indices(index="session*", format="json", s="index"))[0]["docs.count"]
    client.indices.put_index_template(name="shown", **body(major, {
        "index_patterns": ["shown-*"], "template": {"mappings": {"properties": {"k": {"type": "keyword"}}}},
    }))
    client.indices.delete(index="session,session-2")
    client.close()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1])
