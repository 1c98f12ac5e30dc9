"""What an application does with the document classes of elasticsearch-py 9, its DSL.

Runs by itself, with the version of the client under test on its path, and prints what it saw.
"""

import json
import sys
import warnings

from elasticsearch import NotFoundError
from elasticsearch.dsl import (
    A, Date, Document, FacetedSearch, InnerDoc, Integer, Keyword, MultiSearch, Nested, Q, Search, TermsFacet, Text, UpdateByQuery,
    analyzer, connections,
)

# Of one request, however busy the machine is.
REQUEST_SECONDS_MAX = 120


class Comment(InnerDoc):
    author = Keyword()


class Post(Document):
    title = Text(fields={"raw": Keyword()})
    body = Text(analyzer=analyzer("plain_text", tokenizer="standard", filter=["lowercase", "stop", "snowball"], char_filter=["html_strip"]))
    tags = Keyword(multi=True)
    at = Date(default_timezone="UTC")
    views = Integer()
    comments = Nested(Comment)

    class Index:
        name = "posts-1"
        settings = {"number_of_shards": 2, "number_of_replicas": 0}
        aliases = {"posts": {}}


class Facets(FacetedSearch):
    doc_types = [Post]
    fields = ["title^5", "body"]
    facets = {"tags": TermsFacet(field="tags")}


def write():
    Post.init()
    for number in range(12):
        Post(
            meta={"id": number}, title=f"Title {number}", body=f"<p>About foxes {number}</p>", tags=["a", f"t{number % 3}"],
            at=f"2020-01-{number + 1:02}", views=number, comments=[Comment(author=f"x{number % 2}")],
        ).save(refresh=True)


def search(seen):
    found = Post.search().query("match", body="fox").filter("terms", tags=["t1"]).exclude("term", views=4).sort("-views")
    seen["titles"] = [hit.title for hit in found]
    nested = Post.search().query("nested", path="comments", query=Q("term", comments__author="x1")).highlight("title").source(["views"])
    nested.aggs.bucket("tags", A("terms", field="tags", size=2)).metric("most", "max", field="views")
    reply = nested.execute()
    seen["nested"] = reply.hits.total.value
    seen["most"] = [bucket.most.value for bucket in reply.aggregations.tags.buckets]
    seen["facet"] = Facets("title", filters={"tags": "t1"}).execute().facets.tags[0][:2]
    seen["scanned"] = sum(1 for _ in Post.search().params(size=5).scan())
    both = MultiSearch(index="posts").add(Search()).add(Search().query("term", tags="t1")).execute()
    seen["both"] = [one.hits.total.value for one in both]


def change(seen):
    post = Post.get(3)
    post.update(views=77, refresh=True, retry_on_conflict=2)
    post.update(script="ctx._source.views += params.more", more=2, refresh=True)
    seen["views"] = Post.get(3).views
    written = UpdateByQuery(index="posts").query("term", tags="t2").script(source="ctx._source.views = 9").params(refresh=True)
    seen["rewritten"] = written.execute().updated
    seen["deleted"] = Post.search().query("term", tags="t0").params(refresh=True).delete().deleted
    seen["several"] = [post and post.views for post in Post.mget([1, 2, 99])]
    try:
        Post.get(0)
    except NotFoundError as error:
        seen["missing"] = error.status_code


def main(url):
    warnings.simplefilter("ignore")
    connections.create_connection(hosts=[url], request_timeout=REQUEST_SECONDS_MAX)
    seen = {}
    write()
    search(seen)
    change(seen)
    print(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1])
