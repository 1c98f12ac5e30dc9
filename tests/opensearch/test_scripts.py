"""Scripts of searches: scores, filters, orders and values of hits, in Painless and as expressions."""

from .base import ClewTest

MAPPINGS = {
    "properties": {
        "n": {"type": "integer"},
        "price": {"type": "double"},
        "tag": {"type": "keyword"},
        "flag": {"type": "boolean"},
        "at": {"type": "date"},
        "place": {"type": "geo_point"},
        "text": {"type": "text"},
        "v": {"type": "knn_vector", "dimension": 2},
    }
}


class ScriptsTest(ClewTest):
    def setUp(self):
        super().setUp()
        settings = {"number_of_shards": 1, "index.knn": True}
        self.client.indices.create(index="s", body={"settings": settings, "mappings": MAPPINGS})
        at = "2024-03-0%dT10:30:00Z"
        self.index_all(
            "s",
            {
                "a": {"n": 7, "price": 2.5, "tag": ["x", "y"], "flag": True, "at": at % 1,
                      "place": "0,0", "text": "red fox", "v": [1, 0]},
                "b": {"n": 4, "price": 10, "tag": "z", "flag": False, "at": at % 5,
                      "place": "0,1", "text": "red red hen", "v": [0, 1]},
                "c": {"price": 1, "text": "blue"},
            },
        )

    def search(self, **body):
        return self.client.search(index="s", body=body)["hits"]["hits"]

    def scores(self, script, query=None, **more):
        query = query or {"exists": {"field": "n"}}
        hits = self.search(query={"script_score": {"query": query, "script": script, **more}})
        return {hit["_id"]: round(hit["_score"], 4) for hit in hits}

    def matching(self, script, **clauses):
        test = {"script": {"script": script}}
        query = {"bool": {"filter": [test, *clauses.pop("filter", [])], **clauses}}
        return sorted(hit["_id"] for hit in self.search(query=query))

    def test_scores_are_made_of_values(self):
        self.assertEqual(self.scores("doc['n'].value / 2"), {"a": 3, "b": 2})
        self.assertEqual(self.scores("doc['n'].value / 2.0"), {"a": 3.5, "b": 2})
        self.assertEqual(self.scores("_score * doc['price'].value"), {"b": 10, "a": 2.5})
        script = {"source": "Math.log10(params.f * doc['price'].value)", "params": {"f": 40}}
        self.assertEqual(self.scores(script), {"b": 2.6021, "a": 2})
        self.assertEqual(self.scores("doc['n'].value", boost=2), {"a": 14, "b": 8})
        self.assertEqual(self.scores("doc['n'].value", min_score=5), {"a": 7})
        source = "doc['n'].size() == 0 ? 1 : saturation(doc['n'].value, 7)"
        everything = {"match_all": {}}
        self.assertEqual(self.scores(source, everything), {"c": 1, "a": 0.5, "b": 0.3636})
        source = "double s = 0; for (def t : doc['tag']) { s += t == 'z' ? 5 : 1 } return s"
        self.assertEqual(self.scores(source, everything), {"b": 5, "a": 2, "c": 0})
        source = "decayDateLinear('2024-03-01T10:30:00Z', '8d', '0', 0.5, doc['at'].value)"
        self.assertEqual(self.scores(source), {"a": 1, "b": 0.75})
        source = "decayGeoExp('0,0', '100km', '0km', 0.5, doc['place'].value)"
        self.assertEqual(self.scores(source)["a"], 1)
        script = {"lang": "expression", "source": "doc['n'].value / 2 + f", "params": {"f": 1}}
        self.assertEqual(self.scores(script, everything), {"a": 4.5, "b": 3, "c": 1})

    def test_scores_count_words(self):
        everything = {"match_all": {}}
        for source, expected in (
            ("termFreq('text', params.word)", {"b": 2, "a": 1, "c": 0}),
            ("termFreq('tag', 'y') + 1", {"a": 2, "b": 1, "c": 1}),
            # Names may be worked out, document by document.
            ("termFreq(params.fields[0], doc['n'].size() == 0 ? 'blue' : 'hen')", {"b": 1, "c": 1, "a": 0}),
            ("totalTermFreq('text', 'red')", {"a": 3, "b": 3, "c": 3}),
            ("totalTermFreq('tag', 'z')", {"a": 1, "b": 1, "c": 1}),
            ("sumTotalTermFreq('text')", {"a": 6, "b": 6, "c": 6}),
            ("sumTotalTermFreq('tag')", {"a": 3, "b": 3, "c": 3}),
            # What has no words has none.
            ("termFreq('n', '7') + totalTermFreq('none', 'red') + sumTotalTermFreq('n')", {"a": 0, "b": 0, "c": 0}),
        ):
            with self.subTest(source):
                script = {"source": source, "params": {"word": "red", "fields": ["text"]}}
                self.assertEqual(self.scores(script, everything), expected)
        loop = (
            "for (int x = 0; x < params.fields.length; x++) { String field = params.fields[x];"
            " if (field != null) { return params.by * totalTermFreq(field, params.word); } } return 1;"
        )
        script = {"source": loop, "params": {"fields": ["text", "tag"], "word": "red", "by": 2}}
        self.assertEqual(self.scores(script, everything), {"a": 6, "b": 6, "c": 6})
        # Only what makes scores has them.
        body = {"query": {"bool": {"filter": {"script": {"script": "termFreq('text', 'red') > 0"}}}}}
        with self.refused(400, "search_phase_execution_exception"):
            self.client.search(index="s", body=body)
        many = "int n = 0; for (int i = 0; i < 1000; i++) { n += termFreq('text', 'w' + i); } return n;"
        body = {"query": {"script_score": {"query": everything, "script": {"source": many}}}}
        with self.refused(400):
            self.client.search(index="s", body=body)

    def test_vectors_are_measured_among_other_things(self):
        params = {"q": [1, 0]}
        source = "(cosineSimilarity(params.q, doc['v']) + 1) * doc['n'].value"
        self.assertEqual(self.scores({"source": source, "params": params}), {"a": 14, "b": 4})
        source = "doc['v'].size() == 0 ? 0 : 2 + innerProduct(params.q, doc['v'])"
        found = self.scores({"source": source, "params": params}, {"match_all": {}})
        self.assertEqual(found, {"a": 3, "b": 2, "c": 0})

    def test_functions_are_scripts_too(self):
        function = {"script_score": {"script": "doc['n'].value * _score"}}
        query = {
            "function_score": {
                "query": {"constant_score": {"filter": {"exists": {"field": "n"}}, "boost": 2}},
                "functions": [{**function, "weight": 3}],
                "boost_mode": "replace",
            }
        }
        found = {hit["_id"]: hit["_score"] for hit in self.search(query=query)}
        self.assertEqual(found, {"a": 42, "b": 24})

    def test_filters(self):
        exists = [{"exists": {"field": "n"}}]
        self.assertEqual(self.matching("doc['n'].value > 5", filter=exists), ["a"])
        self.assertEqual(self.matching("doc['n'].size() == 0 || doc['n'].value < 5"), ["b", "c"])
        self.assertEqual(self.matching("doc['n'].value > doc['price'].value", filter=exists), ["a"])
        self.assertEqual(self.matching("doc['flag'].value", filter=exists), ["a"])
        self.assertEqual(self.matching("doc['tag'].contains('y')"), ["a"])
        self.assertEqual(self.matching("doc['at'].value.dayOfMonth == 5", filter=exists), ["b"])
        without = [{"bool": {"must_not": [{"exists": {"field": "n"}}]}}]
        self.assertEqual(self.matching("doc['price'].value >= 1", filter=without), ["c"])
        excluded = {"bool": {"filter": exists, "must_not": [{"script": {"script": "doc['n'].value > 5"}}]}}
        self.assertEqual([hit["_id"] for hit in self.search(query=excluded)], ["b"])
        count = {"query": {"bool": {"filter": [*exists, {"script": {"script": "doc['n'].value > 5"}}]}}}
        self.assertEqual(self.client.count(index="s", body=count)["count"], 1)

    def test_orders(self):
        source = "doc['n'].size() == 0 ? 100 : doc['n'].value * params.f"
        key = {"type": "number", "script": {"source": source, "params": {"f": 0.5}}, "order": "desc"}
        hits = self.search(sort={"_script": key})
        self.assertEqual([(hit["_id"], hit["sort"]) for hit in hits], [("c", [100.0]), ("a", [3.5]), ("b", [2.0])])
        after = self.search(sort={"_script": key}, search_after=[3.5])
        self.assertEqual([hit["_id"] for hit in after], ["b"])
        with self.refused(400, "x_content_parse_exception", "[_script] failed to parse field [type]") as refused:
            self.search(sort={"_script": {"type": "text", "script": "doc['tag'].value"}})
        cause = refused.exception.info["error"]["caused_by"]
        self.assertEqual(cause, {"type": "illegal_argument_exception", "reason": "Unknown ScriptSortType [text]"})

    def test_orders_by_texts(self):
        source = "doc['tag'].size() == 0 ? null : params.before + doc['tag'].value"
        script = {"source": source, "params": {"before": "is "}}
        for order, expected in [("asc", ["a", "b", "c"]), ("desc", ["b", "a", "c"])]:
            hits = self.search(sort={"_script": {"type": "string", "script": script, "order": order}})
            self.assertEqual([hit["_id"] for hit in hits], expected)
            shown = {hit["_id"]: hit["sort"] for hit in hits}
            self.assertEqual(shown, {"a": ["is x"], "b": ["is z"], "c": [None]})
        key = {"type": "string", "script": script}
        after = self.search(sort=[{"_script": key}], search_after=["is y"])
        self.assertEqual([hit["_id"] for hit in after], ["b", "c"])
        with self.refused(400, "search_phase_execution_exception"):
            self.search(sort={"_script": {"type": "string", "script": "doc['price'].value"}})

    def test_many_texts_are_put_in_order(self):
        self.client.indices.create(index="many", body={"mappings": {"properties": {"n": {"type": "integer"}}}})
        # Each half comes between the texts of the other.
        numbers = {str(at): {"n": at * 7919 % 1009} for at in range(600)}
        self.index_all("many", numbers)
        script = "String n = '' + doc['n'].value; for (int i = n.length(); i < 4; i++) { n = '0' + n } return n"
        for order in ["asc", "desc"]:
            key = {"type": "string", "order": order, "script": script}
            found = self.client.search(index="many", body={"size": 40, "sort": {"_script": key}})["hits"]["hits"]
            texts = sorted((f"{document['n']:04}" for document in numbers.values()), reverse=order == "desc")
            self.assertEqual([hit["sort"][0] for hit in found], texts[:40])

    def test_values_of_hits_inside_others(self):
        fields = {"double": {"script": {"source": "doc['n'].size() == 0 ? 0 : doc['n'].value * params.by", "params": {"by": 2}}}}
        top = {"terms": {"field": "tag"}, "aggs": {"first": {"top_hits": {"size": 1, "script_fields": fields, "sort": ["n"]}}}}
        reply = self.client.search(index="s", body={"size": 0, "aggs": {"tags": top}})
        buckets = reply["aggregations"]["tags"]["buckets"]
        shown = {bucket["key"]: bucket["first"]["hits"]["hits"][0]["fields"] for bucket in buckets}
        self.assertEqual(shown, {"x": {"double": [14]}, "y": {"double": [14]}, "z": {"double": [8]}})
        collapse = {"field": "flag_of", "inner_hits": {"name": "same", "script_fields": fields}}
        self.client.indices.put_mapping(index="s", body={"properties": {
            "flag_of": {"type": "keyword"}, "parts": {"type": "nested", "properties": {"n": {"type": "integer"}}}}})
        self.index_all("s", {"d": {"n": 5, "flag_of": "on", "parts": [{"n": 3}, {"n": 4}]}})
        hits = self.search(query={"term": {"flag_of": "on"}}, collapse=collapse)
        self.assertEqual(hits[0]["inner_hits"]["same"]["hits"]["hits"][0]["fields"], {"double": [10]})
        inner = {"script_fields": {"part": {"script": "doc['parts.n'].value + 1"}}}
        nested = {"nested": {"path": "parts", "query": {"match_all": {}}, "inner_hits": inner}}
        found = self.search(query=nested)[0]["inner_hits"]["parts"]["hits"]["hits"]
        self.assertEqual([part["fields"]["part"] for part in found], [[4], [5]])
        many = {str(at): fields["double"] for at in range(40)}
        with self.refused(400, "illegal_argument_exception", "too many script_fields"):
            self.search(query={"nested": {**nested["nested"], "inner_hits": {"script_fields": many}}})

    def test_regular_expressions(self):
        for script, expected in [
            ("params.t =~ /Wor/", [True]),
            ("params.t ==~ /Wor/", [False]),
            ("params.t ==~ /hello.*/i", [True]),
            ("!(params.t =~ /x/) && 8 / 2 / 2 == 2", [True]),
            ("def m = /(\\w+) (?<last>\\w+)/.matcher(params.t); m.find() ? m.group(1) + m.group('last') : ''", ["HelloWorld"]),
            ("def m = /o/.matcher(params.t); int n = 0; while (m.find()) { n = n * 100 + m.start() } return n", [407]),
            ("/[A-Z].*/.matcher(params.t).matches()", [True]),
            ("Matcher m = /l+/.matcher(params.t); m.find(); return [m.start(), m.end(), m.groupCount()]", [2, 4, 0]),
            ("params.t.replaceAll(/[aeiou]/, m -> m.group().toUpperCase() + '!')", ["HE!llO! WO!rld-12"]),
            ("params.t.replaceFirst(/o/, m -> '0')", ["Hell0 World-12"]),
            ("/(l)(o)/.matcher(params.t).replaceAll('$2$1')", ["Helol World-12"]),
            ("/[ -]/.split(params.t)", ["Hello", "World", "12"]),
            ("/o/.split(params.t, 2)", ["Hell", " World-12"]),
            ("Pattern p = /a\\/b/; return p.pattern() + ('a/b' ==~ p)", ["a\\/btrue"]),
            ("params.t.splitOnToken('o', 2)", ["Hell", " World-12"]),
            ("params.t.indexOf('o', 5)", [7]),
        ]:
            field = {"script": {"source": script, "params": {"t": "Hello World-12"}}}
            hit = self.search(query={"ids": {"values": ["a"]}}, script_fields={"x": field})[0]
            self.assertEqual(hit["fields"]["x"], expected, script)
        self.assertEqual(self.matching("doc['tag'].size() > 0 && doc['tag'].value =~ /^[xz]$/"), ["a", "b"])

    def test_regular_expressions_are_bounded(self):
        self.assertIn("Error compiling regex", self.failure("/(/.matcher('a').matches()")["caused_by"]["reason"])
        self.assertIn("no end", self.failure("return /ab")["caused_by"]["reason"])
        slow = "String a = 'a'; for (int i = 0; i < 12; i++) { a = a + a } return (a + '!') =~ /(a+)\\1+b/"
        self.assertIn("considered too many characters", self.failure(slow)["caused_by"]["reason"])
        often = "int n = 0; for (int i = 0; i < 40000; i++) { if ('abc' =~ /b/) { n++ } } return n"
        self.assertIn("steps", self.failure(often)["caused_by"]["reason"])

    def test_intervals_that_a_script_holds_of(self):
        def found(script, **rule):
            rule = {"query": "red", **rule, "filter": {"script": script}}
            hits = self.search(query={"intervals": {"text": {"match": rule}}})
            return sorted(hit["_id"] for hit in hits)

        self.assertEqual(found("interval.start > 0"), ["b"])
        self.assertEqual(found("interval.getEnd() == 0 && interval.gaps == 0"), ["a", "b"])
        self.assertEqual(found({"source": "interval.start > params.at", "params": {"at": 1}}), [])
        self.assertEqual(found("interval.gaps >= 1", query="red hen"), [])
        with self.refused(400, "search_phase_execution_exception") as caught:
            found("doc['n'].value > 1")
        root = caught.exception.info["error"]["root_cause"]
        self.assertEqual([(one["type"], one["reason"]) for one in root], [("script_exception", "compile error")])
        # No shard has it where there is none.
        with self.refused(404, "index_not_found_exception"):
            self.client.search(index="nothing", body={"script_fields": {"a": {"script": "x +"}}})
        with self.refused(400, "search_phase_execution_exception"):
            found("interval.start / 0 > 1")

    def test_values_of_hits(self):
        fields = {
            "twice": {"script": {"source": "doc['price'].value * 2"}},
            "year": {"script": "doc['at'].size() == 0 ? null : doc['at'].value.year"},
            "words": {"script": "params._source.text + '!'"},
            "tags": {"script": "doc['tag']"},
        }
        hits = {hit["_id"]: hit for hit in self.search(script_fields=fields)}
        self.assertNotIn("_source", hits["a"])
        self.assertEqual(
            hits["a"]["fields"],
            {"twice": [5.0], "year": [2024], "words": ["red fox!"], "tags": ["x", "y"]},
        )
        self.assertEqual(hits["c"]["fields"]["year"], [None])
        both = self.search(script_fields=fields, _source=["n"], query={"ids": {"values": ["a"]}})
        self.assertEqual(both[0]["_source"], {"n": 7})
        lenient = {"n": {"script": "doc['n'].value", "ignore_failure": True}}
        hits = {hit["_id"]: hit for hit in self.search(script_fields=lenient)}
        self.assertNotIn("fields", hits["c"])

    def test_scripts_see_the_sources_of_documents_among_their_parameters(self):
        everything = {"match_all": {}}
        self.assertEqual(self.scores("params._source.n"), {"a": 7, "b": 4})
        self.assertEqual(self.scores("params['_source'].n == null ? 1 : 2", everything), {"a": 2, "b": 2, "c": 1})
        self.assertEqual(self.scores({"source": "params._source.price * params.f", "params": {"f": 2}}), {"a": 5, "b": 20})
        self.assertEqual(self.scores("params.doc['n'].value"), {"a": 7, "b": 4})
        function = {"function_score": {"query": {"exists": {"field": "n"}}, "script_score": {"script": "params._source.text.length()"}}}
        self.assertEqual([(hit["_id"], hit["_score"]) for hit in self.search(query=function)], [("b", 11), ("a", 7)])
        by = {"_script": {"type": "string", "order": "desc", "script": "params._source.text"}}
        self.assertEqual([hit["_id"] for hit in self.search(sort=by)], ["b", "a", "c"])
        aggs = {"n": {"sum": {"script": "params._source.price"}}, "w": {"terms": {"script": "params._source.text"}}}
        found = self.client.search(index="s", body={"size": 0, "aggs": aggs})["aggregations"]
        self.assertEqual(found["n"]["value"], 13.5)
        self.assertEqual([one["key"] for one in found["w"]["buckets"]], ["blue", "red fox", "red red hen"])
        gathered = {"init_script": "state.all = []", "map_script": "if (params._source.tag != null) { state.all.add(params['_source'].tag) }",
                    "combine_script": "state.all", "reduce_script": "def n = []; for (s in states) { n.addAll(s) } return n"}
        found = self.client.search(index="s", body={"size": 0, "aggs": {"a": {"scripted_metric": gathered}}})["aggregations"]
        self.assertEqual(found["a"]["value"], [["x", "y"], "z"])
        terms = {"terms": ["y", "z"], "minimum_should_match_script": {"source": "params._source.price > 5 ? 1 : 2"}}
        self.assertEqual([hit["_id"] for hit in self.search(query={"terms_set": {"tag": terms}})], ["b"])
        # Those that say whether a document matches do not.
        with self.refused(400):
            self.matching("params._source.n > 5")

    def test_scripts_know_the_index_of_a_document(self):
        only = {"ids": {"values": ["a"]}}
        named = "doc['_index'].value"
        fields = {
            "x": {"script": named + " + ' ' + doc['_id'].value + ' ' + doc['_seq_no'].value"},
            "y": {"script": "doc.containsKey('_index') && !doc.containsKey('_none')"},
        }
        hits = self.search(query=only, script_fields=fields)
        seq_no = self.client.get(index="s", id="a")["_seq_no"]
        self.assertEqual(hits[0]["fields"], {"x": [f"s a {seq_no}"], "y": [True]})
        self.assertEqual(self.scores(named + " == 's' ? 3 : 1", only), {"a": 3})
        self.assertEqual(self.matching(named + ".startsWith('s')"), ["a", "b", "c"])
        self.assertEqual(self.matching(named + " == 'none'"), [])
        sort = {"_script": {"type": "string", "script": named}}
        self.assertEqual(self.search(query=only, sort=sort)[0]["sort"], ["s"])
        aggs = {"names": {"terms": {"script": named + " + '!'"}}}
        found = self.client.search(index="s", body={"size": 0, "aggs": aggs})["aggregations"]
        self.assertEqual([(one["key"], one["doc_count"]) for one in found["names"]["buckets"]], [("s!", 3)])

    def test_rows_that_are_no_hits_need_no_values(self):
        mappings = {"properties": {"n": {"type": "integer"}, "o": {"type": "nested"}}}
        self.client.indices.create(index="rows", body={"mappings": mappings})
        documents = {"1": {"o": [{"x": 1}, {"x": 2}]}, "2": {"n": 3, "o": {"x": 5}}}
        self.index_all("rows", documents)
        self.client.index(index="rows", id="1", body={"n": 2, "o": [{"x": 7}]}, refresh=True)
        scored = {"script_score": {"query": {"match_all": {}}, "script": "doc['n'].value"}}
        hits = self.client.search(index="rows", body={"query": scored})["hits"]["hits"]
        self.assertEqual([(hit["_id"], hit["_score"]) for hit in hits], [("2", 3), ("1", 2)])
        test = {"script": {"script": "doc['n'].value > 2"}}
        hits = self.client.search(index="rows", body={"query": test})["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits], ["2"])
        inner = {"script_score": {"query": {"match_all": {}}, "script": "doc['o.x'].value"}}
        nested = {"nested": {"path": "o", "query": inner, "score_mode": "max"}}
        hits = self.client.search(index="rows", body={"query": nested})["hits"]["hits"]
        self.assertEqual([(hit["_id"], hit["_score"]) for hit in hits], [("1", 7), ("2", 5)])

    def failure(self, script):
        with self.refused(400) as caught:
            self.scores(script, {"match_all": {}})
        error = caught.exception.info["error"]
        while "failed_shards" in error:
            error = error["failed_shards"][0]["reason"]
        return error

    def test_what_goes_wrong_is_told(self):
        error = self.failure("doc['n'].value")
        self.assertEqual((error["type"], error["reason"]), ("script_exception", "runtime error"))
        self.assertEqual(error["caused_by"]["type"], "illegal_state_exception")
        self.assertIn("doesn't have a value for a field", error["caused_by"]["reason"])
        self.assertEqual((error["script"], error["lang"]), ("doc['n'].value", "painless"))
        self.assertEqual(error["position"], {"offset": 8, "start": 0, "end": 14})
        self.assertEqual(error["script_stack"], ["doc['n'].value", " " * 8 + "^---- HERE"])
        # The statement that failed, among others.
        error = self.failure("int zero = 0;\nreturn 1 / zero")
        self.assertEqual(error["position"], {"offset": 14, "start": 0, "end": 29})
        self.assertIn("No field found for [gone]", self.failure("doc['gone'].value")["caused_by"]["reason"])
        self.assertIn("must be a non-negative", self.failure("0 - doc['price'].value")["reason"].lower())
        self.assertIn("fielddata=true", self.failure("doc['text'].value")["caused_by"]["reason"])
        for script, reason in [
            ("doc['n'].value +", "unexpected end of script"),
            ("int f(int x) { return x }", "the script is empty"),
            ("ctx._source.n", "cannot resolve symbol [ctx]"),
        ]:
            error = self.failure(script)
            self.assertEqual((error["type"], error["reason"]), ("script_exception", "compile error"))
            self.assertIn(reason, error["caused_by"]["reason"])
        error = self.failure("doc['n'].value +")["caused_by"]
        self.assertEqual(error["caused_by"], {"type": "no_viable_alt_exception", "reason": None})
        # Where it is not understood.
        error = self.failure("doc['n'].value + x")
        self.assertEqual(error["caused_by"], {"type": "illegal_argument_exception", "reason": "cannot resolve symbol [x]"})
        self.assertEqual(error["script_stack"], ["doc['n'].value + x", " " * 17 + "^---- HERE"])
        self.assertEqual(error["position"], {"offset": 17, "start": 0, "end": 18})
        self.assertEqual((error["script"], error["lang"]), ("doc['n'].value + x", "painless"))
        self.assertIn("script_lang not supported [groovy]", self.failure({"source": "1", "lang": "groovy"})["reason"])
        # Without end is ended.
        self.assertIn("steps", self.failure("while (true) { }")["caused_by"]["reason"])
        doubled = "def l = [1, 1]; for (int i = 0; i < 30; i++) { l = [l, l] } return l.toString().length()"
        self.assertIn("too much inside", self.failure(doubled)["caused_by"]["reason"])

    def test_explanations_tell_what_went_wrong(self):
        scored = {"script_score": {"query": {"match_all": {}}, "script": "doc['n'].value"}}
        self.assertEqual(self.client.explain(index="s", id="a", body={"query": scored})["explanation"]["value"], 7)
        with self.refused(400, "script_exception", "runtime error"):
            self.client.explain(index="s", id="c", body={"query": scored})

    def test_what_says_nothing_is_zero_and_no_match(self):
        everything = {"match_all": {}}
        found = self.scores("if (doc['n'].size() > 0) { return doc['n'].value }", everything)
        self.assertEqual(found, {"a": 7, "b": 4, "c": 0})
        self.assertEqual(self.matching("if (doc['n'].size() > 0) { return true }"), ["a", "b"])
        self.assertEqual(self.scores("params.containsKey('x') ? 1 : 2", everything), {"a": 2, "b": 2, "c": 2})

    def test_expressions_have_dates_as_numbers(self):
        def scores(source):
            return self.scores({"lang": "expression", "source": source})

        self.assertEqual(scores("doc['at'].date.dayOfMonth"), {"a": 1, "b": 5})
        self.assertEqual(scores("(doc['at'].value - 1709251200000) / 86400000"), {"a": 0.4375, "b": 4.4375})

    def test_what_costs_much_can_be_refused(self):
        setting = "search.allow_expensive_queries"
        self.addCleanup(self.client.cluster.put_settings, body={"transient": {setting: None}})
        self.client.cluster.put_settings(body={"transient": {setting: False}})
        for query, what in [
            ({"script": {"script": "true"}}, "[script] queries"),
            ({"script_score": {"query": {"match_all": {}}, "script": "1"}}, "[script score] queries"),
        ]:
            with self.refused(500) as caught:
                self.search(query=query)
            self.assertIn(f"{what} cannot be executed", str(caught.exception.info))

    def test_what_scripts_may_be_for_is_listed(self):
        contexts = self.raw("GET", "/_scripts/painless/_context")["contexts"]
        self.assertEqual(contexts, sorted(contexts))
        self.assertLess({"aggs", "filter", "ingest", "moving-function", "score", "update"}, set(contexts))
        with self.refused(400, "illegal_argument_exception", "script context [nope] not found"):
            self.raw("GET", "/_scripts/painless/_context", params={"context": "nope"})

    def test_scripts_are_tried(self):
        def tried(source, context=None, setup=None, **script):
            body = {"script": {"source": source, **script}}
            body.update({"context": context} if context else {}, **({"context_setup": setup} if setup else {}))
            return self.client.transport.perform_request("POST", "/_scripts/painless/_execute", body=body)["result"]

        self.assertEqual(tried("params.count / params.total", params={"count": 100.0, "total": 1000.0}), "0.1")
        self.assertEqual(tried("[1, 'a', true]", "painless_test"), "[1, a, true]")
        setup = {"index": "s", "document": {"n": 4, "tag": "x"}}
        self.assertIs(tried("doc['n'].value > params.least", "filter", setup, params={"least": 3}), True)
        self.assertIs(tried("doc['n'].value > 4", "filter", setup), False)
        self.assertEqual(tried("doc['n'].value * 1.5", "score", setup), 6.0)
        self.assertEqual(tried("doc['n'].value / params.most", "score", setup, params={"most": 5.0}), 0.8)
        self.assertEqual(tried("-1 - 1e-12", "score", setup), -1.000000000001)
        with_query = {**setup, "query": {"constant_score": {"filter": {"term": {"tag": "x"}}, "boost": 0.5}}}
        self.assertEqual(tried("_score * 0.2", "score", with_query), 0.1)
        for arguments, reason in [
            (("doc['n'].value",), "cannot resolve symbol [doc]"),
            (("doc['price'].value > 1", "filter", setup), "A document doesn't have a value for a field"),
            (("true", "filter"), "[context_setup] needs an [index] and a [document]"),
            (("1", "nope"), "unsupported script context name [nope]"),
            (("1 / 0",), "/ by zero"),
        ]:
            with self.subTest(arguments), self.refused(400) as caught:
                tried(*arguments)
            self.assertIn(reason, str(caught.exception.info))

    def test_loops_and_functions_of_ones_own(self):
        everything = {"exists": {"field": "n"}}
        for source, expected in [
            ("int i = 0; do { i += 2 } while (i < doc['n'].value); return i", {"a": 8, "b": 4}),
            ("int i = 0; do { i++; if (i == 2) { continue; } if (i > 5) { break } } while (true); return i", {"a": 6, "b": 6}),
            ("int twice(int x) { return x * 2; } twice(doc['n'].value)", {"a": 14, "b": 8}),
            ("int of(int x) { if (x < 2) { return 1 } return x * of(x - 1) } return of(5)", {"a": 120, "b": 120}),
            ("def most(List l) { def m = l[0]; for (x in l) { if (x > m) { m = x } } return m } def m = 1; return most([3, doc['n'].value]) + m", {"a": 8, "b": 5}),
        ]:
            self.assertEqual(self.scores(source, everything), expected, source)
        for source, reason in [
            ("int f(int x) { return f(x) } return f(1)", "deep"),
            ("int f(int x) { return x } return f(1, 2)", "unknown call [f] with [2] arguments"),
            ("int f(int x) { return y } int y = 1; return f(1)", "cannot resolve symbol [y]"),
            ("int f(int x) { return x } int f(int x) { return 2 } return f(1)", "already defined"),
        ]:
            with self.subTest(source), self.refused(400) as caught:
                self.scores(source, everything)
            self.assertIn(reason, str(caught.exception.info))
