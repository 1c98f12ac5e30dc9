"""Compares what a server answers with the model: every document by id and by search, and what
aggregations, nested queries, joins, words and vectors say about them."""

from collections import Counter

from .corpus import SCHEMAS, Kin, Nest, day, owner, same, seen, vector, word

SAMPLE = 8


class Wrong(AssertionError):
    """The server's answer differs from what must be there."""


def expect(found, expected, what):
    if found != expected:
        raise Wrong(f"{what}: {str(found)[:1500]}, expected {str(expected)[:1500]}")


class DocumentChecks:
    """All checks of documents after a fault. Doubts are over when it is done: the model is what was read."""

    def __init__(self, client, documents, chance):
        self.client, self.documents, self.chance = client, documents, chance

    def run(self):
        """Returns the number of documents that were checked."""
        self.client.done("POST", "/_refresh")
        checked = 0
        for index in SCHEMAS:
            living = self.by_id(index)
            self.by_search(index, living)
            self.aggregations(index, living)
            self.sample_words(index, living)
            checked += len(living)
        self.nested()
        self.kin()
        self.vectors()
        self.numbers()
        return checked

    def living(self, index):
        return {identity: possible.value for (name, identity), possible
                in self.documents.possible.items() if name == index and possible.value}

    def by_id(self, index):
        ids = self.documents.ids(index)
        docs = [{"_id": identity, **routed(index, identity)} for identity in ids]
        found = self.client.done("POST", f"/{index}/_mget", {"docs": docs})["docs"]
        for identity, document in zip(ids, found, strict=True):
            if "error" in document:
                raise Wrong(f"{index}/{identity}: {document}")
            possible = self.documents.possible[index, identity]
            state = seen(index, identity, document)
            if not any(same(state, value) for value in possible.values):
                raise Wrong(f"{index}/{identity} holds {state}, allowed: {possible.values}")
            possible.settle(state)
            if state:
                number = (index, identity, document["_seq_no"], document["_version"])
                self.documents.numbered.append(number)
        return self.living(index)

    def by_search(self, index, living):
        body = {"size": 5000, "version": True, "track_total_hits": True, "sort": [{"mark": "asc"}]}
        reply = self.whole(index, body)
        hits = reply["hits"]["hits"]
        ids = Counter(hit["_id"] for hit in hits)
        expect(ids, Counter(list(living)), f"ids that a search of {index} finds")
        expect(reply["hits"]["total"]["value"], len(living), f"total of {index}")
        for hit in hits:
            expect(seen(index, hit["_id"], hit), living[hit["_id"]], f"{index}/{hit['_id']} as a hit")
        marks = [hit["sort"][0] for hit in hits]
        expect(marks, sorted(state.mark for state in living.values()), f"order of {index}")
        expect(self.client.done("GET", f"/{index}/_count")["count"], len(living), f"count of {index}")

    def whole(self, index, body):
        """A search that every shard answered in time."""
        reply = self.client.done("POST", f"/{index}/_search", body)
        if reply["_shards"]["failed"] or reply["timed_out"]:
            raise Wrong(f"a search of {index} is not whole: {reply}")
        return reply

    def aggregations(self, index, living):
        body = {"size": 0, "aggs": {
            "sum": {"sum": {"field": "mark"}},
            "owners": {"terms": {"field": "owner", "size": 100}},
            "tags": {"terms": {"field": "tag", "size": 100}},
            "days": {"date_histogram": {"field": "at", "calendar_interval": "day", "min_doc_count": 1}},
        }}
        found = self.whole(index, body)["aggregations"]
        states = living.items()
        buckets = lambda name, key: {b[key]: b["doc_count"] for b in found[name]["buckets"]}
        expect(found["sum"]["value"], float(sum(s.mark for _, s in states)), f"sum of {index}")
        expect(buckets("owners", "key"), Counter(owner(i) for i, _ in states), f"owners of {index}")
        expect(buckets("tags", "key"), Counter(f"t{s.mark % 17}" for _, s in states), f"tags of {index}")
        days = {key[:10]: count for key, count in buckets("days", "key_as_string").items()}
        expect(days, Counter(day(s.mark) for _, s in states), f"days of {index}")

    def sample(self, living):
        return self.chance.sample(sorted(living.items()), min(SAMPLE, len(living)))

    def msearch(self, index, bodies):
        if not bodies:
            return []
        lines = [line for body in bodies for line in ({"index": index}, body)]
        replies = self.client.done("POST", "/_msearch", lines)["responses"]
        for reply in replies:
            if "error" in reply or reply["_shards"]["failed"]:
                raise Wrong(f"a search of {index} is not whole: {reply}")
        return [reply["hits"]["hits"] for reply in replies]

    def sample_words(self, index, living):
        """A document is found by the word that only its last write has."""
        sample = self.sample(living)
        bodies = [{"query": {"match": {"words": word(i, s.mark)}}, "_source": False} for i, s in sample]
        for (identity, _), hits in zip(sample, self.msearch(index, bodies), strict=True):
            expect([hit["_id"] for hit in hits], [identity], f"a word of {index}/{identity}")
        if living:
            count = self.client.done("POST", f"/{index}/_count", {"query": {"match": {"words": "common"}}})
            expect(count["count"], len(living), f"documents of {index} with the word of all")

    def nested(self):
        living = self.living("nest")
        body = {"size": 0, "aggs": {"lines": {
            "nested": {"path": "lines"}, "aggs": {"sum": {"sum": {"field": "lines.count"}}},
        }}}
        found = self.whole("nest", body)["aggregations"]["lines"]
        lines = [line for identity, state in living.items() for line in Nest.lines(identity, state.mark)]
        expect((found["doc_count"], found["sum"]["value"]),
               (len(lines), float(sum(line["count"] for line in lines))), "nested objects")
        sample = [(i, s) for i, s in self.sample(living) if Nest.lines(i, s.mark)]
        bodies = [{"query": {"nested": {"path": "lines", "query": {
            "term": {"lines.sku": Nest.lines(i, s.mark)[-1]["sku"]}}}}} for i, s in sample]
        for (identity, _), hits in zip(sample, self.msearch("nest", bodies), strict=True):
            expect([hit["_id"] for hit in hits], [identity], f"a nested object of nest/{identity}")

    def kin(self):
        living = self.living("kin")
        children = [i for i in living if Kin.parent(i) in living]
        parents = {Kin.parent(i) for i in children}
        for kind, key, expected in (("has_child", "type", parents), ("has_parent", "parent_type", children)):
            name = "child" if kind == "has_child" else "parent"
            body = {"size": 5000, "_source": False, "query": {kind: {key: name, "query": {"match_all": {}}}}}
            hits = self.whole("kin", body)["hits"]["hits"]
            expect(Counter(hit["_id"] for hit in hits), Counter(expected), kind)

    def vectors(self):
        sample = self.sample(self.living("flat"))
        bodies = [{"size": 3, "_source": False, "query": {"knn": {"emb": {
            "vector": vector(i, s.emb), "k": 3}}}} for i, s in sample]
        for (identity, _), hits in zip(sample, self.msearch("flat", bodies), strict=True):
            found = [(hit["_id"], hit["_score"]) for hit in hits]
            expect(found[:1], [(identity, 1.0)], f"nearest of flat/{identity}: {found}")
            expect(len({name for name, _ in found}), len(found), f"distinct neighbours: {found}")

    def numbers(self):
        """No sequence number was given to two writes of a shard."""
        for index, identity, number, version in self.documents.numbered:
            place = (index, self.shard(index, identity), number)
            expect((identity, version), self.documents.given.setdefault(place, (identity, version)), f"writes of {place}")
        self.documents.numbered.clear()

    def shard(self, index, identity):
        routing, shards = SCHEMAS[index].routing(identity) or identity, self.documents.shards
        if (index, routing) not in shards:
            found = self.client.done("GET", f"/{index}/_search_shards?routing={routing}")
            shards[index, routing] = found["shards"][0][0]["shard"]
        return shards[index, routing]


def routed(index, identity):
    routing = SCHEMAS[index].routing(identity)
    return {"routing": routing} if routing else {}
