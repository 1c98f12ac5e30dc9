"""The shapes of programs that people begin with: dense and sparse vectors together, full text, iterators, many tenants.
The quickstart is in pymilvus_session.py. Everything is held against plain Python."""

import math
import sys

from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, RRFRanker, WeightedRanker

from session import Session, cosine, product, squared

TEXTS = ["A ball of thread leads out of the maze.", "Ariadne gave the thread to Theseus.", "The maze was built by Daedalus.",
         "Icarus flew too near to the sun.", "Daedalus made wings of wax and feathers.", "The sun melts wax.",
         "Theseus sailed home under black sails.", "Sails of white would have meant good news."]
TENANTS, ROWS = 20, 400


def words(text):
    return [word.strip(".,").lower() for word in text.split()]


def embedded(text, dim=32):
    """A vector of a text: its words, each on its dimension."""
    vector = [0.01] * dim
    for word in words(text):
        vector[sum(word.encode()) % dim] += 1.0
    return vector


class Tutorials(Session):
    def hybrid(self):
        """Dense and sparse vectors of one text, ranked together."""
        client = self.client
        schema = client.create_schema(auto_id=True)
        schema.add_field("pk", DataType.INT64, is_primary=True)
        schema.add_field("text", DataType.VARCHAR, max_length=200)
        schema.add_field("dense", DataType.FLOAT_VECTOR, dim=32)
        schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
        params = client.prepare_index_params()
        params.add_index("dense", index_type="AUTOINDEX", metric_type="IP")
        params.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
        client.create_collection("hybrid", schema=schema, index_params=params, consistency_level="Strong")

        def weights(text):
            own = {}
            for word in words(text):
                dimension = sum(ord(c) * 31**n for n, c in enumerate(word)) % 100_000
                own[dimension] = own.get(dimension, 0) + 1 + len(word) / 10
            return own

        rows = [{"text": text, "dense": embedded(text), "sparse": weights(text)} for text in TEXTS]
        made = list(client.insert("hybrid", rows)["ids"])
        self.same(len(set(made)), len(TEXTS), "keys that were made")
        text = "Daedalus and the wax wings"
        dense = sorted(made, key=lambda key: -product(embedded(text), embedded(TEXTS[made.index(key)])))
        scores = {key: sum(w * weights(TEXTS[n]).get(d, 0) for d, w in weights(text).items()) for n, key in enumerate(made)}
        sparse = sorted((key for key in made if scores[key] > 0), key=lambda key: -scores[key])
        asked = [AnnSearchRequest([embedded(text)], "dense", {"metric_type": "IP"}, limit=8),
                 AnnSearchRequest([weights(text)], "sparse", {"metric_type": "IP"}, limit=8)]
        (hits,) = client.hybrid_search("hybrid", asked, RRFRanker(60), limit=8, output_fields=["text"])
        fused = {key: sum(1 / (61 + ranking.index(key)) for ranking in (dense, sparse) if key in ranking) for key in made}
        self.same([round(hit["distance"], 5) for hit in hits], sorted((round(x, 5) for x in fused.values()), reverse=True), "fused")
        self.same(hits[0]["entity"]["text"], TEXTS[4], "the best of both")
        (hits,) = client.hybrid_search("hybrid", asked, WeightedRanker(0.0, 1.0), limit=1, output_fields=["text"])
        self.same(hits[0]["pk"], sparse[0], "the sparse ranking alone")
        (hits,) = client.search("hybrid", [weights(text)], anns_field="sparse", limit=8)
        self.same([hit["pk"] for hit in hits], sparse, "by weights")
        client.drop_collection("hybrid")

    def full_text(self):
        """Texts searched by their words: a function makes vectors of them."""
        client = self.client
        schema = client.create_schema(auto_id=True)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("text", DataType.VARCHAR, max_length=1000, enable_analyzer=True)
        schema.add_field("vector", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(Function(name="words", input_field_names=["text"], output_field_names=["vector"],
                                     function_type=FunctionType.BM25))
        params = client.prepare_index_params()
        params.add_index("vector", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25",
                         params={"inverted_index_algo": "DAAT_MAXSCORE", "bm25_k1": 1.2, "bm25_b": 0.75})
        client.create_collection("texts", schema=schema, index_params=params, consistency_level="Strong")
        client.insert("texts", [{"text": text} for text in TEXTS])

        def score(query, text):
            length = sum(len(words(text)) for text in TEXTS) / len(TEXTS)
            total = 0.0
            for word in words(query):
                having = sum(word in words(other) for other in TEXTS)
                count = words(text).count(word)
                rarity = math.log(1 + (len(TEXTS) - having + 0.5) / (having + 0.5))
                total += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(words(text)) / length))
            return total

        for query in ("maze thread", "wax sun", "Daedalus"):
            (hits,) = client.search("texts", data=[query], anns_field="vector", limit=8, output_fields=["text"])
            wanted = sorted((text for text in TEXTS if score(query, text) > 0), key=lambda text: -score(query, text))
            self.same([hit["entity"]["text"] for hit in hits], wanted, query)
            assert abs(hits[0]["distance"] - score(query, wanted[0])) < 0.05, (hits[0]["distance"], score(query, wanted[0]))
        (hits,) = client.search("texts", data=["sun"], anns_field="vector", limit=8, filter="text like 'Icarus%'", output_fields=["text"])
        self.same([hit["entity"]["text"] for hit in hits], [TEXTS[3]], "filtered")
        client.drop_collection("texts")

    def iterators(self):
        """All rows, and all hits, page by page."""
        client = self.client
        client.create_collection("pages", dimension=8, metric_type="L2", consistency_level="Strong")
        rows = [{"id": n, "vector": self.vector(8), "even": n % 2 == 0} for n in range(500)]
        client.insert("pages", rows)
        pages, seen = client.query_iterator("pages", filter="even == true", batch_size=64, output_fields=["id"]), []
        while page := pages.next():
            self.same(len(page) <= 64, True, "a page")
            seen += [row["id"] for row in page]
        pages.close()
        self.same(seen, list(range(0, 500, 2)), "every row once, by key")
        query = self.vector(8)
        for more, matches in [({}, lambda row: True), ({"filter": "even == false"}, lambda row: not row["even"])]:
            ranked = sorted((row for row in rows if matches(row)), key=lambda row: squared(query, row["vector"]))
            pages, seen = client.search_iterator("pages", data=[query], batch_size=50, limit=220, **more), []
            while page := pages.next():
                seen += [hit["id"] for hit in page]
            pages.close()
            self.same(seen, [row["id"] for row in ranked[:220]], f"every hit once, by distance {more}")
        client.drop_collection("pages")

    def tenants(self):
        """Many tenants in one collection, kept apart by a partition key."""
        client = self.client
        schema = client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("tenant", DataType.VARCHAR, max_length=40, is_partition_key=True)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=8)
        params = client.prepare_index_params()
        params.add_index("vector", index_type="HNSW", metric_type="COSINE")
        client.create_collection("tenants", schema=schema, index_params=params, num_partitions=8, consistency_level="Strong",
                                 properties={"partitionkey.isolation": True})
        rows = [{"id": n, "tenant": f"tenant_{n % TENANTS}", "vector": self.vector(8)} for n in range(ROWS)]
        client.insert("tenants", rows)
        self.same(len(client.list_partitions("tenants")), 8, "partitions")
        for tenant in ("tenant_0", "tenant_13"):
            query = self.vector(8)
            own = sorted((row for row in rows if row["tenant"] == tenant), key=lambda row: -cosine(query, row["vector"]))
            (hits,) = client.search("tenants", data=[query], filter=f"tenant == '{tenant}'", limit=50, output_fields=["tenant"])
            self.same([hit["id"] for hit in hits], [row["id"] for row in own], f"all of {tenant}, and nobody else's")
            self.same(self.count("tenants", f"tenant == '{tenant}'"), ROWS // TENANTS, "counted")
        two = "tenant in ['tenant_1', 'tenant_2']"
        self.refused(1100, "does not support IN", lambda: client.search("tenants", data=[self.vector(8)], filter=two, limit=100))
        self.refused(1100, "partition key", lambda: client.create_partition("tenants", "own"))
        self.refused(1100, "partition key", lambda: client.insert("tenants", rows[:1], partition_name="_default_0"))
        for call in (client.query, client.delete):
            more = {"partition_name": "_default_0"} if call == client.delete else {"partition_names": ["_default_0"]}
            self.refused(1100, "not support manually specifying the partition names",
                         lambda: call("tenants", filter="tenant == 'tenant_3'", **more))
        self.same(client.delete("tenants", filter="tenant == 'tenant_3'")["delete_count"], ROWS // TENANTS, "a tenant has left")
        self.same((self.count("tenants"), self.count("tenants", "tenant == 'tenant_3'")), (ROWS - ROWS // TENANTS, 0), "and is gone")
        client.drop_collection("tenants")


def main(uri):
    session = Tutorials(uri)
    session.hybrid()
    session.full_text()
    session.iterators()
    session.tenants()
    session.close()


if __name__ == "__main__":
    main(sys.argv[1])
