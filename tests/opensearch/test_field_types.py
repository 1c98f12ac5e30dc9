"""Types of fields: what they take, how they are found, and how they order."""

from .base import ClewTest


class FieldTypes(ClewTest):
    def create(self, **properties):
        self.client.indices.create(index="t", body={"mappings": {"properties": properties}})

    def found(self, **query):
        return sorted(self.ids("t", query=query))

    def test_unsigned_longs_are_exact_up_to_their_last_bit(self):
        self.create(n={"type": "unsigned_long"})
        top = 2**64 - 1
        self.index_all("t", {"a": {"n": top}, "b": {"n": top - 1}, "c": {"n": "9.7"}})
        self.assertEqual(self.found(term={"n": top}), ["a"])
        self.assertEqual(self.found(terms={"n": [top - 1, 9]}), ["b", "c"])
        self.assertEqual(self.found(range={"n": {"gt": top - 1}}), ["a"])
        self.assertEqual(self.found(range={"n": {"gte": 0, "lt": 9.5}}), ["c"])
        for end in ("gt", "gte", "lt", "lte"):
            for number in (-5, "-5", -5.5, 2**64, 1e30):
                with self.subTest(end=end, number=number), self.refused(400) as caught:
                    self.found(range={"n": {end: number}})
                reason = caught.exception.info["error"]["root_cause"][0]["reason"]
                self.assertRegex(reason, r"^failed to create query: Value \[.*\] is out of range for an unsigned long$")
        hits = self.client.search(index="t", body={"sort": [{"n": "desc"}], "size": 1})
        after = hits["hits"]["hits"][0]["sort"]
        self.assertEqual(after, [top])
        rest = self.ids("t", sort=[{"n": "desc"}], search_after=after)
        self.assertEqual(rest, ["b", "c"])
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="t", body={"n": -1})

    def test_floats_are_kept_in_their_own_precision(self):
        self.create(
            half={"type": "half_float"},
            scaled={"type": "scaled_float", "scaling_factor": 100},
            single={"type": "float"},
        )
        self.index_all("t", {"a": {"half": 300.33, "scaled": 1.239, "single": 0.1}})
        # Columns, and the scripts that read them, have all digits; fields the fewest that mean the number.
        body = {"fields": ["single"], "script_fields": {"made": {"script": "doc['single'].value + 1"}}}
        fields = self.client.search(index="t", body=body)["hits"]["hits"][0]["fields"]
        self.assertEqual(fields, {"single": [0.1], "made": [1.1000000014901161]})
        shown = self.client.search(index="t", body={"docvalue_fields": ["single", "half", "scaled"]})["hits"]["hits"][0]["fields"]
        self.assertEqual(shown, {"single": [0.10000000149011612], "half": [300.25], "scaled": [1.24]})
        for field, value in [("half", 300.25), ("scaled", 1.24), ("single", 0.1)]:
            hits = self.client.search(index="t", body={"sort": [field]})["hits"]["hits"]
            self.assertEqual(hits[0]["sort"], [value])
            self.assertEqual(self.found(term={field: value}), ["a"], field)
        with self.refused(400, "mapper_parsing_exception", "scaling_factor"):
            self.client.indices.create(
                index="u", body={"mappings": {"properties": {"s": {"type": "scaled_float"}}}}
            )

    def test_dates_in_nanoseconds_order_below_the_millisecond(self):
        self.create(at={"type": "date_nanos"})
        early, late = "2019-10-21T08:30:04.828733Z", "2019-10-21T08:30:04.828734Z"
        self.index_all("t", {"a": {"at": late}, "b": {"at": early}})
        self.assertEqual(self.ids("t", sort=["at"]), ["b", "a"])
        self.assertEqual(self.found(range={"at": {"gt": early}}), ["a"])
        self.assertEqual(self.ids("t", sort=["at"], search_after=[early]), ["a"])
        near = {"field": "at", "origin": early, "pivot": "1micros"}
        body = {"query": {"distance_feature": near}}
        hits = self.client.search(index="t", body=body)["hits"]["hits"]
        scores = {hit["_id"]: round(hit["_score"], 1) for hit in hits}
        self.assertEqual(scores, {"b": 1.0, "a": 0.5})
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="t", body={"at": "1960-01-01"})
        # Ends of ranges that 64 bits of nanoseconds lack are refused, too.
        for end, why in (
            ({"gte": "1969-01-01"}, "date[1969-01-01T00:00:00Z] is before the epoch in 1970"),
            ({"lt": "now-200y"}, "is before the epoch in 1970 and cannot be stored in nanosecond resolution"),
            ({"lt": "2263-01-01"}, "date[2263-01-01T00:00:00Z] is after 2262-04-11T23:47:16.854775807"),
        ):
            with self.subTest(end=end):
                with self.refused(400) as caught:
                    self.found(range={"at": end})
                (root,) = caught.exception.info["error"]["root_cause"]
                self.assertEqual(root["type"], "illegal_argument_exception")
                self.assertIn(why, root["reason"])
        self.assertEqual(self.found(range={"at": {"gte": "1970-01-01", "lte": "2262-04-11T23:47:16.854775807Z"}}), ["a", "b"])

    def test_an_alias_stands_for_its_field_in_queries_only(self):
        self.create(title={"type": "text"}, name={"type": "alias", "path": "title"})
        self.index_all("t", {"a": {"title": "brown fox"}})
        self.assertEqual(self.found(match={"name": "fox"}), ["a"])
        self.assertEqual(self.found(exists={"field": "name"}), ["a"])
        with self.refused(400, "mapper_parsing_exception", "failed to parse") as caught:
            self.client.index(index="t", body={"name": "x"})
        self.assertEqual(caught.exception.info["error"]["caused_by"]["reason"], "Cannot write to a field alias [name].")
        shown = self.client.indices.get_mapping(index="t")["t"]["mappings"]["properties"]
        self.assertEqual(shown["name"], {"type": "alias", "path": "title"})
        with self.refused(400, "mapper_parsing_exception", "must refer to an existing field"):
            self.client.indices.put_mapping(
                index="t", body={"properties": {"other": {"type": "alias", "path": "nothing"}}}
            )

    def test_a_constant_keyword_is_every_document_or_none(self):
        self.create(kind={"type": "constant_keyword", "value": "log"})
        self.index_all("t", {"a": {"kind": "log"}, "b": {}})
        for query in [
            {"term": {"kind": "log"}},
            {"term": {"kind": "l*"}},
            {"wildcard": {"kind": "l*"}},
            {"regexp": {"kind": "l[a-z]{2}"}},
            {"range": {"kind": {"gte": "log"}}},
            {"exists": {"field": "kind"}},
        ]:
            self.assertEqual(self.found(**query), ["a", "b"], query)
        self.assertEqual(self.found(term={"kind": "metric"}), [])
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="t", body={"kind": "metric"})

    def test_the_name_of_the_index_is_a_field_of_every_document(self):
        self.index_all("logs-1", {"a": {}})
        self.index_all("logs-2", {"b": {}})
        for query, found in [
            ({"term": {"_index": "logs-1"}}, ["a"]),
            ({"term": {"_index": {"value": "LOGS-1", "case_insensitive": True}}}, ["a"]),
            ({"terms": {"_index": ["logs-2", "other"]}}, ["b"]),
            ({"match": {"_index": "logs-2"}}, ["b"]),
            ({"term": {"_index": "logs-*"}}, ["a", "b"]),
            ({"prefix": {"_index": "logs"}}, ["a", "b"]),
            ({"wildcard": {"_index": "*-2"}}, ["b"]),
            ({"query_string": {"query": "_index:logs-1"}}, ["a"]),
            ({"bool": {"must_not": {"term": {"_index": "logs-1"}}}}, ["b"]),
            ({"term": {"_index": "other"}}, []),
        ]:
            self.assertEqual(sorted(self.ids("logs-*", query=query)), found, query)
        counted = {"f": {"filters": {"filters": {"one": {"term": {"_index": "logs-1"}}}}}}
        counts = self.client.search(index="logs-*", body={"size": 0, "aggs": counted})
        self.assertEqual(counts["aggregations"]["f"]["buckets"]["one"]["doc_count"], 1)
        last = {"sort": [{"_index": "desc"}]}
        hits = self.client.search(index="logs-*", body=last)["hits"]["hits"]
        self.assertEqual([hit["sort"] for hit in hits], [["logs-2"], ["logs-1"]])

    def test_fields_that_cannot_be_searched_are_in_nobodys_way(self):
        """Over all fields, what a field cannot answer is nothing found in it."""
        self.create(
            hidden={"type": "text", "index": False},
            kept={"type": "keyword", "index": False, "doc_values": False},
            labels={"type": "flat_object"},
            query={"type": "percolator"},
            at={"type": "date"},
            count={"type": "integer"},
            body={"type": "text"},
        )
        self.index_all("t", {"a": {"body": "quick fox", "hidden": "fox", "kept": "fox"}})
        for text in ["fox", "fix~1", "fo*", "f?x", "/f.x/", '"quick fox"', '"quick fox"~2']:
            for fields in [{}, {"fields": ["*"]}]:
                query = {"query": text, **fields}
                self.assertEqual(self.found(query_string=query), ["a"], query)
                if "/" not in text and "?" not in text:
                    self.assertEqual(self.found(simple_query_string=query), ["a"], query)
        for kind in ["best_fields", "most_fields", "cross_fields", "phrase", "bool_prefix"]:
            for fields in [{}, {"fields": ["*"]}, {"fields": ["b*", "h*"], "lenient": True}]:
                query = {"query": "quick fox", "type": kind, **fields}
                self.assertEqual(self.found(multi_match=query), ["a"], query)
        with self.refused(400, reason="all shards failed"):
            self.found(multi_match={"query": "fox", "fields": ["h*"]})

    def test_match_only_text_finds_phrases_without_positions(self):
        self.create(body={"type": "match_only_text"})
        self.index_all(
            "t",
            {
                "a": {"body": "the quick brown fox"},
                "b": {"body": "the brown quick fox"},
                "c": {"body": ["quick", "brown"]},
            },
        )
        self.assertEqual(self.found(match_phrase={"body": "quick brown"}), ["a"])
        sloppy = {"query": "quick brown", "slop": 2}
        self.assertEqual(self.found(match_phrase={"body": sloppy}), ["a", "b"])
        self.assertEqual(self.found(match_phrase_prefix={"body": "quick br"}), ["a"])
        self.assertEqual(self.found(exists={"field": "body"}), ["a", "b", "c"])
        hits = self.client.search(index="t", body={"query": {"match": {"body": "quick"}}})
        self.assertEqual({hit["_score"] for hit in hits["hits"]["hits"]}, {1.0})

    def test_leaves_of_a_flat_object_are_found_by_their_paths(self):
        self.create(labels={"type": "flat_object"})
        self.index_all(
            "t",
            {
                "a": {"labels": {"env": "prod", "app": {"name": "web", "tier": 2}}},
                "b": {"labels": {"env": "test", "name": "web"}},
            },
        )
        for query, expected in [
            ({"term": {"labels": "web"}}, ["a", "b"]),
            ({"term": {"labels.app.name": "web"}}, ["a"]),
            ({"prefix": {"labels.env": "te"}}, ["b"]),
            ({"wildcard": {"labels.env": "*o*"}}, ["a"]),
            ({"terms": {"labels.env": ["prod", "test"]}}, ["a", "b"]),
            ({"range": {"labels.env": {"gt": "prod"}}}, ["b"]),
            ({"exists": {"field": "labels.app"}}, ["a"]),
            ({"exists": {"field": "labels.none"}}, []),
        ]:
            self.assertEqual(self.found(**query), expected, query)
        shown = self.client.indices.get_mapping(index="t")["t"]["mappings"]["properties"]
        self.assertEqual(shown, {"labels": {"type": "flat_object"}})
        with self.refused(400, "mapper_parsing_exception", "failed to parse field [labels] of type [flat_object]"):
            self.client.index(index="t", body={"labels": "text"})
        reason = "Field [labels] of type [flat_object] does not support doc_value in root field"
        source = {"terms": {"field": "labels"}}
        for body in [
            {"sort": ["labels"]},
            {"docvalue_fields": ["labels"]},
            *({"aggs": {"a": {kind: {"field": "labels"}}}} for kind in ("terms", "value_count", "missing")),
            {"aggs": {"a": {"composite": {"sources": [{"s": source}]}}}},
        ]:
            with self.subTest(body=body), self.refused(400) as caught:
                self.client.search(index="t", body=body)
            self.assertEqual(caught.exception.info["error"]["root_cause"][0]["reason"], reason)

    def test_leaves_of_a_flat_object_are_shown_by_their_paths(self):
        self.create(labels={"type": "flat_object"})
        self.index_all("t", {"a": {"labels": {"env": "prod", "app": {"names": ["web", "api", "web"], "tier": 2}}}})
        search = {"fields": ["labels.app.names", "labels.app.tier", "labels.none"], "docvalue_fields": ["labels.env"], "_source": False}
        hit = self.client.search(index="t", body=search)["hits"]["hits"][0]
        self.assertEqual(hit["fields"], {"labels.app.names": ["web", "api", "web"], "labels.app.tier": ["2"], "labels.env": ["prod"]})
        search = {"docvalue_fields": ["labels.app.names"], "_source": False}
        hit = self.client.search(index="t", body=search)["hits"]["hits"][0]
        self.assertEqual(hit["fields"], {"labels.app.names": ["api", "web"]})
        told = self.client.field_caps(index="t", fields="labels.env,other.env")["fields"]
        self.assertEqual(told, {"labels.env": {"flat_object": {"type": "flat_object", "searchable": True, "aggregatable": False}}})

    def test_ranges_are_found_by_how_they_lie(self):
        self.create(
            size={"type": "integer_range"},
            time={"type": "date_range", "format": "yyyy-MM-dd"},
            net={"type": "ip_range"},
        )
        self.index_all(
            "t",
            {
                "a": {"size": {"gte": 10, "lt": 20}, "net": "10.0.0.0/8"},
                "b": {"size": [{"gte": 1, "lte": 5}, {"gt": 100}]},
                "c": {"time": {"gte": "2020-01-01", "lte": "2020-02-01"}},
            },
        )
        self.assertEqual(self.found(term={"size": 19}), ["a"])
        self.assertEqual(self.found(term={"size": 20}), [])
        self.assertEqual(self.found(range={"size": {"gte": 5, "lte": 10}}), ["a", "b"])
        within = {"gte": 10, "lte": 30, "relation": "within"}
        self.assertEqual(self.found(range={"size": within}), ["a"])
        contains = {"gte": 2, "lte": 3, "relation": "contains"}
        self.assertEqual(self.found(range={"size": contains}), ["b"])
        self.assertEqual(self.found(term={"time": "2020-01-15"}), ["c"])
        self.assertEqual(self.found(term={"net": "10.1.2.3"}), ["a"])
        for query in ({"term": {"net": "10.0.0.0/8"}}, {"terms": {"net": ["10.0.0.0/8"]}}, {"match": {"net": "10.0.0.0/8"}}):
            with self.refused(400, reason="all shards failed"):
                self.found(**query)
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="t", body={"size": {"gte": 2, "lte": 1}})

    def test_hashes_of_values_are_counted_and_never_searched(self):
        self.create(url={"type": "keyword", "fields": {"hash": {"type": "murmur3"}}})
        self.index_all("t", {"a": {"url": "hello"}, "b": {"url": ["hello", "a"]}, "c": {"url": "ü€"}})
        aggs = {"n": {"cardinality": {"field": "url.hash"}}, "least": {"min": {"field": "url.hash"}}}
        found = self.client.search(index="t", body={"size": 3, "aggs": aggs, "docvalue_fields": ["url.hash"], "sort": "_doc"})
        self.assertEqual(found["aggregations"]["n"]["value"], 3)
        # As the package mmh3 gives them.
        hashes = {"a": [-3758069500696749310], "b": [-8839064797231613815, -3758069500696749310], "c": [2706267571612676335]}
        self.assertEqual({hit["_id"]: hit["fields"]["url.hash"] for hit in found["hits"]["hits"]}, hashes)
        for query in ({"term": {"url.hash": 1}}, {"range": {"url.hash": {"gte": 1}}}, {"terms": {"url.hash": [1, 2]}}):
            with self.refused(400, "search_phase_execution_exception") as caught:
                self.client.search(index="t", body={"query": query})
            cause = caught.exception.info["error"]["root_cause"][0]
            self.assertEqual(cause["reason"], "failed to create query: Murmur3 fields are not searchable: [url.hash]")
        self.assertEqual(self.found(exists={"field": "url.hash"}), ["a", "b", "c"])
        caps = self.client.field_caps(index="t", fields="url.hash")["fields"]["url.hash"]["murmur3"]
        self.assertEqual((caps["searchable"], caps["aggregatable"]), (False, True))
        mapping = self.client.indices.get_mapping(index="t")["t"]["mappings"]["properties"]["url"]
        self.assertEqual(mapping, {"type": "keyword", "fields": {"hash": {"type": "murmur3"}}})
        with self.refused(400, reason="unknown parameter [index] on mapper [hash] of type [murmur3]"):
            self.client.indices.create(index="u", body={"mappings": {"properties": {"hash": {"type": "murmur3", "index": False}}}})

    def test_keywords_under_a_normalizer_and_counts_of_tokens(self):
        self.create(
            code={"type": "keyword", "normalizer": "lowercase"},
            path={"type": "wildcard"},
            words={"type": "keyword", "split_queries_on_whitespace": True},
            text={
                "type": "text",
                "fields": {"length": {"type": "token_count", "analyzer": "standard"}},
            },
        )
        self.index_all(
            "t",
            {
                "a": {"code": "ABC", "path": "/var/log/x.log", "text": "one two three"},
                "b": {"words": "two"},
            },
        )
        self.assertEqual(self.found(term={"code": "aBc"}), ["a"])
        self.assertEqual(self.found(prefix={"code": "AB"}), ["a"])
        self.assertEqual(self.found(wildcard={"path": "*log/x*"}), ["a"])
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.found(range={"path": {"gte": "/var"}})
        cause = caught.exception.info["error"]["root_cause"][0]["reason"]
        self.assertIn("Field [path] of type [wildcard] does not support range queries", cause)
        self.assertEqual(self.found(match={"words": "one two"}), ["b"])
        self.assertEqual(self.found(term={"text.length": 3}), ["a"])

    def test_binary_values_are_checked_and_not_searched(self):
        self.create(blob={"type": "binary", "doc_values": True})
        self.index_all("t", {"a": {"blob": "AAEC"}, "b": {}})
        self.assertEqual(self.found(exists={"field": "blob"}), ["a"])
        self.index_all("t", {"c": {"blob": ["AQ==", "AA==", "AQ=="]}})
        aggs = {name: {name: {"field": "blob"}} for name in ["value_count", "missing"]}
        counted = self.client.search(index="t", body={"size": 0, "aggs": aggs})["aggregations"]
        self.assertEqual((counted["value_count"]["value"], counted["missing"]["doc_count"]), (3, 1))
        with self.refused(400, "mapper_parsing_exception"):
            self.client.index(index="t", body={"blob": "not base64!"})
        with self.refused(400, "search_phase_execution_exception") as caught:
            self.found(term={"blob": "AAEC"})
        cause = caught.exception.info["error"]["root_cause"][0]["reason"]
        self.assertIn("Binary fields do not support searching", cause)
