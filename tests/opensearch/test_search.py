"""Searching by word, field and vector; order, pages, and what hits show."""

import math

from .base import ClewTest

MAPPING = {
    "properties": {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "body": {"type": "text"},
        "tag": {"type": "keyword"},
        "year": {"type": "integer"},
        "price": {"type": "double"},
        "sold": {"type": "boolean"},
        "at": {"type": "date"},
        "ip": {"type": "ip"},
        "emb": {
            "type": "knn_vector",
            "dimension": 2,
            "method": {"name": "hnsw", "engine": "lucene", "space_type": "l2"},
        },
    }
}

BOOKS = {
    "1": {
        "title": "The quick brown fox",
        "body": "jumps over the lazy dog",
        "tag": ["animal", "red"],
        "year": 1999,
        "price": 9.5,
        "sold": True,
        "at": "2024-01-01T00:00:00Z",
        "ip": "10.0.0.1",
        "emb": [0.0, 0.0],
    },
    "2": {
        "title": "Quick silver",
        "body": "a metal that runs",
        "tag": ["metal"],
        "year": 2005,
        "price": 12.25,
        "sold": False,
        "at": "2024-02-01T12:30:00Z",
        "ip": "10.0.1.1",
        "emb": [1.0, 0.0],
    },
    "3": {
        "title": "Lazy afternoons",
        "body": "the dog sleeps, the fox walks",
        "tag": ["animal"],
        "year": 2010,
        "sold": True,
        "at": "2024-03-01",
        "ip": "2001:db8::1",
        "emb": [0.0, 3.0],
    },
}


class SearchTest(ClewTest):
    """Three books."""

    def setUp(self):
        super().setUp()
        body = {"mappings": MAPPING, "settings": {"number_of_shards": 1}}
        self.client.indices.create(index="books", body=body)
        self.index_all("books", BOOKS)

    def check(self, query, *expected):
        """A query finds exactly these documents."""
        self.assertEqual(sorted(self.ids("books", query=query)), sorted(expected), query)


class Queries(SearchTest):
    def test_a_term_suggester_can_be_asked_for_in_the_address(self):
        asked = {"suggest_field": "title", "suggest_text": "quik", "suggest_mode": "always"}
        reply = self.raw("GET", "/books/_search", params={**asked, "suggest_size": "1"})
        options = reply["suggest"]["title"][0]["options"]
        self.assertEqual([option["text"] for option in options], ["quick"])

    def test_a_phrase_suggester_leaves_texts_of_many_words_as_they_are(self):
        def options(words, **more):
            body = {"size": 0, "suggest": {"s": {"text": "quik " * words, "phrase": {"field": "title", **more}}}}
            return self.client.search(index="books", body=body)["suggest"]["s"][0]["options"]

        self.assertTrue(options(9))
        self.assertEqual(options(10), [])
        self.assertTrue(options(10, token_limit=11))
        with self.refused(400) as caught:
            options(1, token_limit=0)
        self.assertIn("token_limit must be >= 1", caught.exception.info["error"]["root_cause"][0]["reason"])

    def test_a_phrase_suggester_weighs_words_by_the_shingles_of_its_field(self):
        analyzers = {"trigram": {"tokenizer": "standard", "filter": ["lowercase", "shingles"]},
                     "backwards": {"tokenizer": "standard", "filter": ["lowercase", "reverse"]},
                     "pairs": {"tokenizer": "standard", "filter": ["lowercase", "pairs"]}}
        filters = {"shingles": {"type": "shingle", "min_shingle_size": 2, "max_shingle_size": 3},
                   "pairs": {"type": "shingle", "output_unigrams": False}}
        fields = {name: {"type": "text", "analyzer": name} for name in analyzers}
        self.client.indices.create(index="shelf", body={
            "settings": {"analysis": {"analyzer": analyzers, "filter": filters}},
            "mappings": {"properties": {"title": {"type": "text", "fields": fields}}},
        })
        titles = ["Design Patterns", "Software Architecture Patterns Explained", "The Nobel Prize", "Nobel Prize winners",
                  "noble thoughts", "a pattern", "the xorr"]
        self.index_all("shelf", {str(n): {"title": title} for n, title in enumerate(titles)})

        def options(text, **phrase):
            body = {"size": 0, "suggest": {"s": {"text": text, "phrase": {"field": "title.trigram", **phrase}}}}
            return self.client.search(index="shelf", body=body)["suggest"]["s"][0]["options"]

        tags = {"pre_tag": "<em>", "post_tag": "</em>"}
        found = options("design paterns", size=1, highlight=tags)
        self.assertEqual((found[0]["text"], found[0]["highlighted"]), ("design patterns", "design <em>patterns</em>"))
        for smoothing in ({"laplace": {"alpha": 0.7}}, {"stupid_backoff": {"discount": 0.5}}):
            self.assertEqual(options("design paterns", smoothing=smoothing)[0]["text"], "design patterns")
        # A word that is there is wrong beside another one.
        always = [{"field": "title.trigram", "suggest_mode": "always"}]
        self.assertEqual(options("noble prize", direct_generator=always)[0]["text"], "nobel prize")
        self.assertEqual(options("noble prize"), [])
        self.assertEqual(options("nobel prize winers", max_errors=2)[0]["text"], "nobel prize winners")
        self.assertIn("design paterns", [option["text"] for option in options("design paterns", confidence=0)])
        # The first letter is wrong: words are looked for from behind.
        backwards = [{"field": "title.backwards", "suggest_mode": "always", "pre_filter": "backwards", "post_filter": "backwards"}]
        self.assertEqual(options("mesign patterns", direct_generator=backwards)[0]["text"], "design patterns")
        # Where nothing tells words apart, texts stand in the order of their words.
        spelled = [{"field": "title", "suggest_mode": "always", "min_word_length": 1}]
        self.index_all("shelf", {"7": {"title": "xorn"}})
        found = [option["text"] for option in options("xor", field="title", direct_generator=spelled)]
        self.assertEqual(found, ["xorn", "xorr"])
        with self.refused(400, "search_phase_execution_exception") as caught:
            options("design paterns", field="title.pairs")
        self.assertIn("since it doesn't emit unigrams", caught.exception.info["error"]["root_cause"][0]["reason"])
        self.assertEqual(options("design paterns", field="title.pairs", force_unigrams=False)[0]["text"], "design patterns")
        with self.refused(400, reason="object field [none]"):
            options("a", smoothing={"none": {}})
        with self.refused(400, reason="gramSize must be >= 1"):
            options("a", gram_size=0)

    def test_the_body_of_a_get_may_stand_in_the_address(self):
        body = {"source": '{"query": {"ids": {"values": ["2"]}}}'}
        media = {"source_content_type": "application/json"}
        found = self.raw("GET", "/books/_search", params={**body, **media})["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in found], ["2"])
        with self.refused(400, "illegal_argument_exception", "source_content_type"):
            self.raw("GET", "/books/_search", params=body)
        with self.refused(400, "illegal_argument_exception", "unrecognized parameter"):
            self.raw("POST", "/books/_search", params={**body, **media})

    def test_queries_of_words(self):
        self.check({"match": {"title": "QUICK"}}, "1", "2")
        self.check({"match": {"title": {"query": "quick fox", "operator": "and"}}}, "1")
        self.check({"match": {"body": {"query": "dgo", "fuzziness": "AUTO"}}}, "1", "3")
        self.check({"match_phrase": {"body": "lazy dog"}}, "1")
        self.check({"match_phrase": {"body": "dog lazy"}})
        self.check({"match_phrase_prefix": {"body": "the la"}}, "1")
        self.check({"match_bool_prefix": {"title": "brown qui"}}, "1", "2")
        self.check({"multi_match": {"query": "lazy", "fields": ["title", "body"]}}, "1", "3")
        self.check({"query_string": {"query": "title:quick AND NOT body:metal"}}, "1")
        simple = {"query": "fox -quick", "fields": ["body", "title"], "default_operator": "and"}
        self.check({"simple_query_string": simple}, "3")

    def test_queries_of_exact_values(self):
        self.check({"term": {"tag": "animal"}}, "1", "3")
        self.check({"term": {"tag": {"value": "metal"}}}, "2")
        self.check({"terms": {"tag": ["red", "metal"]}}, "1", "2")
        self.check({"term": {"title.raw": "Quick silver"}}, "2")
        self.check({"term": {"year": 2005}}, "2")
        self.check({"term": {"sold": True}}, "1", "3")
        self.check({"term": {"ip": "10.0.0.0/16"}}, "1", "2")
        self.check({"ids": {"values": ["3", "9"]}}, "3")
        self.check({"prefix": {"tag": "an"}}, "1", "3")
        self.check({"wildcard": {"tag": "*eta?"}}, "2")
        self.check({"regexp": {"tag": "(red|metal)"}}, "1", "2")
        self.check({"fuzzy": {"tag": "metol"}}, "2")
        self.check({"exists": {"field": "price"}}, "1", "2")

    def test_queries_of_ranges(self):
        self.check({"range": {"year": {"gte": 2005}}}, "2", "3")
        self.check({"range": {"year": {"gt": 2005, "lte": 2010}}}, "3")
        self.check({"range": {"price": {"lt": 10}}}, "1")
        self.check({"range": {"at": {"gte": "2024-02-01", "lt": "2024-03-01"}}}, "2")
        self.check({"range": {"at": {"gte": "2024-02-15||-1M/M"}}}, "1", "2", "3")
        self.check({"range": {"ip": {"gte": "10.0.1.0", "lte": "10.0.1.255"}}}, "2")

    def test_queries_of_queries(self):
        both = {"must": [{"match": {"body": "fox"}}], "filter": [{"term": {"sold": True}}]}
        self.check({"bool": both}, "3")
        self.check({"bool": {"must_not": {"term": {"tag": "animal"}}}}, "2")
        some = [{"term": {"year": 1999}}, {"term": {"tag": "animal"}}, {"term": {"sold": True}}]
        self.check({"bool": {"should": some, "minimum_should_match": 3}}, "1")
        self.check({"constant_score": {"filter": {"term": {"tag": "red"}}, "boost": 2}}, "1")
        self.check({"dis_max": {"queries": [{"term": {"tag": "red"}}, {"ids": {"values": ["2"]}}]}}, "1", "2")
        self.check({"match_all": {}}, "1", "2", "3")
        self.check({"match_none": {}})
        boosting = {
            "positive": {"match": {"title": "quick"}},
            "negative": {"term": {"tag": "red"}},
            "negative_boost": 0.1,
        }
        self.assertEqual(self.ids("books", query={"boosting": boosting}), ["2", "1"])

    def test_queries_of_vectors(self):
        knn = {"vector": [0.9, 0.0], "k": 2}
        self.assertEqual(self.ids("books", query={"knn": {"emb": knn}}), ["2", "1"])
        filtered = {**knn, "k": 1, "filter": {"term": {"tag": "animal"}}}
        self.assertEqual(self.ids("books", query={"knn": {"emb": filtered}}), ["1"])
        exact = {"vector": [0.0, 3.0], "k": 1}
        hit = self.client.search(index="books", body={"query": {"knn": {"emb": exact}}})
        self.assertAlmostEqual(hit["hits"]["hits"][0]["_score"], 1.0, places=6)
        near = {"knn": {"emb": {"vector": [0.0, 0.0], "k": 3}}}
        both = {"bool": {"must": [near], "filter": [{"term": {"sold": True}}]}}
        self.assertEqual(self.ids("books", query=both), ["1", "3"])

    def test_scores_are_those_of_bm25(self):
        body = {"query": {"match": {"title": "quick"}}, "explain": False}
        hits = self.client.search(index="books", body=body)["hits"]
        self.assertEqual([hit["_id"] for hit in hits["hits"]], ["2", "1"])
        self.assertEqual(hits["max_score"], hits["hits"][0]["_score"])
        # idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average)), the word being in 2 of 3
        idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        average = (4 + 2 + 2) / 3
        for hit, length in zip(hits["hits"], [2, 4]):
            expected = idf * 2.2 / (1 + 1.2 * (1 - 0.75 + 0.75 * length / average))
            self.assertAlmostEqual(hit["_score"], expected, places=5)


class Pages(SearchTest):
    def test_hits_are_sorted_by_fields(self):
        self.assertEqual(self.ids("books", sort=[{"year": "desc"}]), ["3", "2", "1"])
        self.assertEqual(self.ids("books", sort=["tag", {"year": "desc"}]), ["3", "1", "2"])
        self.assertEqual(self.ids("books", sort=[{"price": {"order": "asc"}}]), ["1", "2", "3"])
        first = [{"price": {"order": "asc", "missing": "_first"}}]
        self.assertEqual(self.ids("books", sort=first), ["3", "1", "2"])
        reply = self.client.search(index="books", body={"sort": [{"at": "asc"}]})
        hit = reply["hits"]["hits"][0]
        self.assertEqual(hit["sort"], [1704067200000])
        self.assertIsNone(hit["_score"])
        self.assertIsNone(reply["hits"]["max_score"])
        scored = self.client.search(index="books", body={"sort": ["year"], "track_scores": True})
        self.assertIsNotNone(scored["hits"]["hits"][0]["_score"])

    def test_pages_follow_each_other(self):
        self.assertEqual(self.ids("books", sort=["year"], size=2), ["1", "2"])
        self.assertEqual(self.ids("books", sort=["year"], size=2, **{"from": 2}), ["3"])
        seen, after = [], None
        while True:
            body = {"size": 1, "sort": [{"sold": "asc"}, {"year": "desc"}]}
            if after is not None:
                body["search_after"] = after
            hits = self.client.search(index="books", body=body)["hits"]["hits"]
            if not hits:
                break
            seen.append(hits[0]["_id"])
            after = hits[0]["sort"]
        self.assertEqual(seen, ["2", "3", "1"])

    def test_a_page_begins_behind_a_value_of_its_field(self):
        self.client.indices.create(index="v", body={"mappings": {"properties": {
            "d": {"type": "date"}, "short": {"type": "date", "format": "yyyy/MM/dd"}, "n": {"type": "integer"},
            "ip": {"type": "ip"}, "b": {"type": "boolean"}, "k": {"type": "keyword"},
            "u": {"type": "unsigned_long"}}}})
        self.index_all("v", {str(at): {"u": at, "d": f"2024-01-0{at + 1}", "short": f"2024/01/0{at + 1}", "n": at, "b": at > 0,
                                       "ip": f"10.0.0.{at}", "k": str(at)} for at in range(3)})

        def after(field, value):
            return self.client.search(index="v", body={"sort": [{field: "asc"}], "search_after": [value]})["hits"]["hits"]

        def refused(field, value, kind, reason):
            with self.refused(400, "search_phase_execution_exception", "all shards failed") as caught:
                after(field, value)
            [root] = caught.exception.info["error"]["root_cause"]
            self.assertEqual((root["type"], root["reason"]), (kind, reason))
            return caught.exception.info["error"]["failed_shards"][0]["reason"]

        for field, value, ids in [
            ("d", "2024-01-01", "12"), ("d", "1704067200000", "12"), ("d", "2024-01-01||+1d", "2"), ("d", 1.5, "012"),
            ("short", "2024/01/02", "2"), ("n", "1", "2"), ("ip", "10.0.0.0", "12"), ("k", 1, "2"), ("k", True, ""),
            ("u", "1", "2"),
        ]:
            self.assertEqual("".join(hit["_id"] for hit in after(field, value)), ids, (field, value))
        formats = "strict_date_optional_time||epoch_millis"
        for value in ["nonsense", "2024-13-45", True]:
            text = f"failed to parse date field [{str(value).lower()}] with format [{formats}]"
            shown = refused("d", value, "parse_exception", f"{text}: [{text}]")
            self.assertEqual(shown["caused_by"]["type"], "illegal_argument_exception")
        refused("d", "", "parse_exception", "cannot parse empty date")
        refused("d", "now", "parse_exception", "could not read the current timestamp")
        text = "failed to parse date field [1704067200000] with format [yyyy/MM/dd]"
        refused("short", "1704067200000", "parse_exception", f"{text}: [{text}]")
        for field, value in [("n", "x"), ("n", "1.5"), ("n", "99999999999"), ("n", True), ("b", "true")]:
            reason = f"Failed to parse search_after value for field [{field}]."
            shown = refused(field, value, "illegal_argument_exception", reason)
            self.assertEqual(shown["caused_by"]["type"], "number_format_exception")
        refused("u", "x", "illegal_argument_exception", 'For input string: "x"')
        refused("u", "-1", "illegal_argument_exception", "Value [-1] is out of range for an unsigned long")
        refused("u", "1.5", "illegal_argument_exception", "Value [1.5] has a decimal part")
        refused("ip", "nonsense", "illegal_argument_exception", "'nonsense' is not an IP string literal.")
        with self.refused(400, "parsing_exception", "but found [START_OBJECT] inside search_after."):
            after("d", {})

    def test_totals_are_counted_as_asked(self):
        def total(**body):
            return self.client.search(index="books", body=body)["hits"].get("total")

        self.assertEqual(total(), {"value": 3, "relation": "eq"})
        self.assertEqual(total(track_total_hits=2), {"value": 2, "relation": "gte"})
        self.assertIsNone(total(track_total_hits=False))
        plain = self.client.search(index="books", rest_total_hits_as_int=True)
        self.assertEqual(plain["hits"]["total"], 3)
        self.assertEqual(self.client.count(index="books")["count"], 3)
        query = {"query": {"term": {"tag": "animal"}}}
        self.assertEqual(self.client.count(index="books", body=query)["count"], 2)

    def test_hits_below_a_score_and_outside_a_filter_are_left_out(self):
        query = {"constant_score": {"filter": {"match_all": {}}, "boost": 2}}
        self.assertEqual(self.ids("books", query=query, min_score=3), [])
        body = {
            "post_filter": {"term": {"tag": "red"}},
            "aggs": {"years": {"value_count": {"field": "year"}}},
        }
        reply = self.client.search(index="books", body=body)
        self.assertEqual([hit["_id"] for hit in reply["hits"]["hits"]], ["1"])
        self.assertEqual(reply["aggregations"]["years"]["value"], 3)

    def test_several_searches_are_answered_in_order(self):
        lines = [
            {"index": "books"},
            {"query": {"term": {"year": 1999}}},
            {"index": "missing"},
            {},
            {},
            {"size": 0},
        ]
        responses = self.client.msearch(body=lines, index="books")["responses"]
        self.assertEqual([reply["status"] for reply in responses], [200, 404, 200])
        self.assertEqual(responses[0]["hits"]["hits"][0]["_id"], "1")
        self.assertEqual(responses[1]["error"]["type"], "index_not_found_exception")
        self.assertEqual(responses[2]["hits"]["total"]["value"], 3)

    def test_several_searches_are_refused_together_where_one_is_not_understood(self):
        for header, body, reason in [
            ({}, {"query": {"nosuch": {}}}, "unknown query [nosuch]"),
            ({}, {"size": -1}, "[size] parameter cannot be negative, found [-1]"),
            ({}, {"nosuch": 1}, "nosuch"),
            ({"search_type": "nosuch"}, {}, "No search type for [nosuch]"),
        ]:
            with self.subTest(header=header, body=body), self.refused(400, reason=reason):
                self.client.msearch(body=[{}, {"size": 0}, header, body], index="books")
        # What only an index makes wrong is told in its place.
        lines = [{}, {"sort": ["nosuch"]}, {}, {"size": 0, "verbose_pipeline": False}]
        responses = self.client.msearch(body=lines, index="books")["responses"]
        self.assertEqual([reply["status"] for reply in responses], [400, 200])

    def test_a_search_of_the_uri(self):
        found = self.client.search(
            index="books", q="title:quick", sort="year:desc", size=1, _source="year"
        )
        self.assertEqual(found["hits"]["hits"][0]["_source"], {"year": 2005})
        self.assertEqual(found["hits"]["total"]["value"], 2)

    def test_shards_and_indexes_are_merged(self):
        self.client.indices.create(index="more", body={"settings": {"number_of_shards": 5}})
        self.index_all("more", {f"m{n}": {"year": 1000 + n} for n in range(20)})
        reply = self.client.search(index="books,more", body={"sort": ["year"], "size": 30})
        self.assertEqual(reply["_shards"]["total"], 6)
        years = [hit["_source"]["year"] for hit in reply["hits"]["hits"]]
        self.assertEqual(years, [*range(1000, 1020), 1999, 2005, 2010])
        self.assertEqual(self.client.search(index="m*")["hits"]["total"]["value"], 20)


class Shown(SearchTest):
    def hit(self, **body):
        return self.client.search(index="books", body={"query": {"ids": {"values": ["1"]}}, **body})[
            "hits"
        ]["hits"][0]

    def test_a_source_comes_whole_in_part_or_not_at_all(self):
        self.assertEqual(self.hit()["_source"], BOOKS["1"])
        self.assertNotIn("_source", self.hit(_source=False))
        self.assertEqual(self.hit(_source=["year", "ta*"])["_source"], {"tag": BOOKS["1"]["tag"], "year": 1999})
        kept = self.hit(_source={"excludes": ["emb", "title", "body", "*p"]})["_source"]
        self.assertEqual(sorted(kept), ["at", "price", "sold", "tag", "year"])

    def test_fields_come_as_lists(self):
        hit = self.hit(_source=False, docvalue_fields=["_id", "year"], fields=["t*"], stored_fields="_none_")
        self.assertNotIn("_id", hit)
        self.assertEqual(hit["fields"]["_id"], ["1"])
        self.assertEqual(hit["fields"]["year"], [1999])
        self.assertEqual(hit["fields"]["tag"], ["animal", "red"])
        self.assertEqual(hit["fields"]["title.raw"], ["The quick brown fox"])

    def test_columns_are_shown_in_a_format(self):
        wanted = [
            {"field": "year", "format": "#,##0.0"},
            {"field": "price", "format": "000.00"},
            {"field": "at", "format": "yyyy"},
            {"field": "tag"},
        ]
        shown = self.hit(_source=False, docvalue_fields=wanted)["fields"]
        self.assertEqual((shown["year"], shown["price"]), (["1,999.0"], ["009.50"]))
        self.assertEqual((shown["at"], shown["tag"]), (["2024"], ["animal", "red"]))

    def test_numbers_without_a_sign_are_shown_as_they_are_in_any_format(self):
        self.client.indices.create(index="large", body={"mappings": {"properties": {"n": {"type": "unsigned_long"}}}})
        self.index_all("large", {"1": {"n": 2**63}})
        for form in ("#.0", "yyyy", "use_field_mapping"):
            body = {"docvalue_fields": [{"field": "n", "format": form}]}
            hits = self.client.search(index="large", body=body)["hits"]["hits"]
            self.assertEqual(hits[0]["fields"], {"n": [2**63]}, form)

    def test_places_are_shown_in_a_format(self):
        self.client.indices.create(
            index="places", body={"mappings": {"properties": {"at": {"type": "geo_point"}}}}
        )
        self.index_all("places", {"1": {"at": {"lat": 41, "lon": -71.5}}})
        for form, shown in [
            ("wkt", "POINT (-71.5 41.0)"),
            ("geojson", {"type": "Point", "coordinates": [-71.5, 41.0]}),
        ]:
            body = {"fields": [{"field": "at", "format": form}]}
            hits = self.client.search(index="places", body=body)["hits"]["hits"]
            self.assertEqual(hits[0]["fields"]["at"], [shown])

    def test_versions_come_when_asked_for(self):
        hit = self.hit(version=True, seq_no_primary_term=True)
        self.assertEqual((hit["_version"], hit["_seq_no"], hit["_primary_term"]), (1, 0, 1))
        self.assertNotIn("_version", self.hit())

    def test_an_answer_is_cut_to_the_paths_asked_for(self):
        reply = self.client.search(index="books", filter_path="hits.hits._id,-took")
        self.assertEqual(set(reply), {"hits"})
        self.assertEqual(set(reply["hits"]["hits"][0]), {"_id"})
