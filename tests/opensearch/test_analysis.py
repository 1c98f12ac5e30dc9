"""Analyzers that an index's settings put together, and `_analyze`."""

from .base import ClewTest

SETTINGS = {
    "analysis": {
        "char_filter": {"signs": {"type": "mapping", "mappings": ["& => and"]}},
        "tokenizer": {"commas": {"type": "pattern", "pattern": ","}},
        "filter": {
            "short": {"type": "truncate", "length": 4},
            "alike": {"type": "synonym", "synonyms": ["fast, quick", "ny => new york"]},
            "starts": {"type": "edge_ngram", "min_gram": 1, "max_gram": 5},
        },
        "analyzer": {
            "tags": {"tokenizer": "commas", "filter": ["trim", "lowercase"]},
            "cut": {"char_filter": ["signs"], "tokenizer": "standard", "filter": ["lowercase", "short"]},
            "alike": {"tokenizer": "standard", "filter": ["lowercase", "alike"]},
            "starts": {"tokenizer": "standard", "filter": ["lowercase", "starts"]},
        },
        "normalizer": {"plain": {"type": "custom", "filter": ["lowercase", "asciifolding"]}},
    }
}


def words(reply):
    return [token["token"] for token in reply["tokens"]]


class Analysis(ClewTest):
    def test_texts_are_found_as_they_were_analyzed(self):
        properties = {
            "tags": {"type": "text", "analyzer": "tags"},
            "title": {"type": "text", "analyzer": "starts", "search_analyzer": "standard"},
            "story": {"type": "text", "analyzer": "alike"},
            "name": {"type": "keyword", "normalizer": "plain"},
            "french": {"type": "text", "analyzer": "french"},
        }
        self.client.indices.create(index="a", body={"settings": SETTINGS, "mappings": {"properties": properties}})
        document = {
            "tags": "Red wine, Blue Sky", "title": "Elephant", "story": "a quick trip to ny",
            "name": "Éclair", "french": "Les maisons de l'avenue",
        }
        self.client.index(index="a", id="1", body=document, refresh=True)
        for query, hits in [
            ({"match": {"tags": "blue sky"}}, 1), ({"match": {"tags": "sky"}}, 0),
            ({"match": {"title": "ele"}}, 1), ({"match": {"title": "phant"}}, 0),
            ({"match": {"story": "fast"}}, 1), ({"match_phrase": {"story": "new york"}}, 1),
            ({"term": {"name": "ECLAIR"}}, 1), ({"match": {"french": "maison"}}, 1),
            ({"match": {"french": "les"}}, 0),
        ]:
            found = self.client.search(index="a", body={"query": query})
            self.assertEqual(found["hits"]["total"]["value"], hits, query)
        mapping = self.client.indices.get_mapping(index="a")["a"]["mappings"]["properties"]
        self.assertEqual(mapping["tags"]["analyzer"], "tags")
        self.assertEqual(mapping["name"]["normalizer"], "plain")

    def test_an_index_may_have_an_analyzer_of_queries(self):
        analysis = {"analyzer": {"default_search": {"type": "keyword"}}}
        properties = {
            "usual": {"type": "text"}, "named": {"type": "text", "analyzer": "standard"},
            "own": {"type": "text", "search_analyzer": "default"},
        }
        body = {"settings": {"analysis": analysis}, "mappings": {"properties": properties}}
        self.client.indices.create(index="q", body=body)
        document = {field: "Red sky" for field in [*properties, "dynamic"]}
        self.client.index(index="q", id="1", body=document, refresh=True)
        for field, hits in [("usual", 0), ("dynamic", 0), ("named", 0), ("own", 1)]:
            for query in [
                {"match": {field: "Red sky"}}, {"match_phrase": {field: "Red sky"}},
                {"query_string": {"query": '"Red sky"', "fields": [field]}},
            ]:
                found = self.client.search(index="q", body={"query": query})
                self.assertEqual(found["hits"]["total"]["value"], hits, query)
        shown = self.client.indices.get_mapping(index="q")["q"]["mappings"]["properties"]
        self.assertEqual(shown["usual"], {"type": "text", "analyzer": "default"})
        self.assertEqual(shown["named"], {"type": "text", "analyzer": "standard"})
        self.assertEqual(shown["own"], {"type": "text", "search_analyzer": "default"})

    def test_analyze_puts_parts_together(self):
        analyze = self.client.indices.analyze
        self.client.indices.create(index="parts", body={"settings": SETTINGS})
        self.assertEqual(words(analyze(index="parts", body={"analyzer": "cut", "text": "Rock & Rolling"})),
                         ["rock", "and", "roll"])
        self.assertEqual(words(analyze(index="parts", body={"tokenizer": "commas", "filter": ["short"], "text": "abcdef,x"})),
                         ["abcd", "x"])
        self.assertEqual(words(analyze(index="parts", body={"normalizer": "plain", "text": "Été À"})), ["ete a"])
        self.assertEqual(words(analyze(body={"tokenizer": "keyword", "filter": [{"type": "icu_folding"}], "text": "Łódź"})),
                         ["lodz"])
        self.assertEqual(words(analyze(body={"analyzer": "russian", "text": "и книги"})), ["книг"])
        self.assertEqual(words(analyze(body={"analyzer": "standard", "text": [5, True, "x"]})), ["5", "true", "x"])
        kinds = analyze(body={"tokenizer": "uax_url_email", "text": "me@x.org http://x.org 12"})["tokens"]
        self.assertEqual([token["type"] for token in kinds], ["<EMAIL>", "<URL>", "<NUM>"])
        shingles = analyze(body={"tokenizer": "whitespace", "filter": ["shingle"], "text": "a b"})["tokens"]
        self.assertEqual([(t["token"], t["type"], t.get("positionLength")) for t in shingles],
                         [("a", "word", None), ("a b", "shingle", 2), ("b", "word", None)])

    def test_patterns_are_those_of_java(self):
        camel = (r"([^\p{L}\d]+)|(?<=\D)(?=\d)|(?<=\d)(?=\D)|(?<=[\p{L}&&[^\p{Lu}]])(?=\p{Lu})"
                 r"|(?<=\p{Lu})(?=\p{Lu}[\p{L}&&[^\p{Lu}]])")
        analysis = {
            "analyzer": {"camel": {"type": "pattern", "pattern": camel}},
            "char_filter": {"hyphens": {"type": "pattern_replace", "pattern": r"(\d+)-(?=\d)", "replacement": "$1_"}},
            "filter": {"twice": {"type": "pattern_replace", "pattern": r"(\w)\1", "replacement": "$1"}},
        }
        properties = {"name": {"type": "text", "analyzer": "camel"}}
        self.client.indices.create(index="java", body={"settings": {"analysis": analysis}, "mappings": {"properties": properties}})
        self.client.index(index="java", id="1", body={"name": "MooseX::FTPClass2_beta"}, refresh=True)
        for word, hits in [("ftp", 1), ("class", 1), ("FTPClass2", 1), ("mo", 0)]:
            found = self.client.search(index="java", body={"query": {"match": {"name": word}}})
            self.assertEqual(found["hits"]["total"]["value"], hits, word)
        analyze = self.client.indices.analyze
        self.assertEqual(words(analyze(index="java", body={"analyzer": "camel", "text": "MooseX::FTPClass2_beta"})),
                         ["moose", "x", "ftp", "class", "2", "beta"])
        self.assertEqual(words(analyze(index="java", body={"tokenizer": "standard", "char_filter": ["hyphens"],
                                                           "filter": ["twice"], "text": "My card is 123-456-789 ooh"})),
                         ["My", "card", "is", "123_456_789", "oh"])
        for pattern, options, text, expected in [
            ("(?=[A-Z])", {}, "ThisIsCamel", ["This", "Is", "Camel"]),
            (r"\p{Alpha}+", {"group": 0}, "ab12 \u00dcn\u00ef x", ["ab", "n", "x"]),
            (r"\h+", {}, "a b\tc\u00a0d", ["a", "b", "c", "d"]),
            ("a B # x", {"flags": "COMMENTS|CASE_INSENSITIVE"}, "1aB2ab3", ["1", "2", "3"]),
            (r"(?>a+)b", {"group": 0}, "aaab b", ["aaab"]),
        ]:
            tokenizer = {"type": "pattern", "pattern": pattern, **options}
            self.assertEqual(words(analyze(body={"tokenizer": tokenizer, "text": text})), expected, pattern)
        for tokenizer, reason in [
            ({"type": "pattern", "pattern": "["}, "Unclosed character class near index 0"),
            ({"type": "pattern", "pattern": "a", "group": 3}, "invalid group specified: pattern only has: 0 capturing groups"),
            ({"type": "pattern", "pattern": "a", "flags": "FOO"}, "Unknown regex flag [FOO]"),
        ]:
            with self.refused(400, reason=reason):
                analyze(body={"tokenizer": tokenizer, "text": "x"})

    def test_parts_say_what_they_must(self):
        analyze = self.client.indices.analyze
        for key, part, reason in [
            ("filter", {"type": "truncate"}, "length parameter must be provided"),
            ("filter", {"type": "synonym"}, "synonym requires either `synonyms` or `synonyms_path` to be configured"),
            ("filter", {"type": "elision"}, "elision filter requires [articles] or [articles_path] setting"),
            ("filter", {"type": "ngram", "min_gram": 1, "max_gram": 4},
             "The difference between max_gram and min_gram in NGram Tokenizer must be less than or equal to: [1] but was [3]"),
            ("filter", {"type": "shingle", "max_shingle_size": 6}, "must be less than or equal to: [3] but was [5]"),
            ("char_filter", {"type": "mapping"}, "mapping requires either `mappings` or `mappings_path` to be configured"),
        ]:
            with self.refused(400, reason=reason):
                analyze(body={"tokenizer": "standard", key: [part], "text": "x"})
            with self.refused(400, reason=reason):
                self.client.indices.create(index="lacks", body={"settings": {"analysis": {key: {"own": part}}}})
        for name in ["synonym", "keep", "pattern_replace"]:
            with self.refused(400, reason="Analysis settings required"):
                analyze(body={"tokenizer": "standard", "filter": [name], "text": "x"})
        for kind, body, reason in [
            ("analyzer", {"tokenizer": "standard", "filter": ["nope"]}, "Custom Analyzer [own] failed to find filter under name [nope]"),
            ("analyzer", {"tokenizer": "nope"}, "Custom Analyzer [own] failed to find tokenizer under name [nope]"),
            ("analyzer", {"tokenizer": "standard", "filter": "synonym"}, "failed to find filter under name [synonym]"),
            ("normalizer", {"type": "custom", "filter": ["porter_stem"]}, "Custom normalizer [own] may not use filter [porter_stem]"),
            ("normalizer", {"type": "custom", "char_filter": ["html_strip"]}, "may not use char filter [html_strip]"),
            ("normalizer", {"type": "custom", "tokenizer": "standard"}, "Custom normalizer [own] cannot configure a tokenizer"),
        ]:
            with self.refused(400, reason=reason):
                self.client.indices.create(index="lacks", body={"settings": {"analysis": {kind: {"own": body}}}})
        wide = {"tokenizer": {"wide": {"type": "ngram", "min_gram": 2, "max_gram": 5}},
                "analyzer": {"wide": {"tokenizer": "wide"}}}
        self.client.indices.create(index="wide", body={"settings": {"index.max_ngram_diff": 3, "analysis": wide}})
        self.assertIn("hell", words(analyze(index="wide", body={"analyzer": "wide", "text": "hello"})))
        with self.refused(400, reason="index.max_ngram_diff"):
            self.client.indices.create(index="narrow", body={"settings": {"analysis": wide}})

    def test_filters_leave_places_as_lucene_does(self):
        for filters, text, expected in [
            (["stop", "shingle"], "the quick fox and a dog", ["_ quick", "quick", "quick fox", "fox", "fox _", "_ dog", "dog"]),
            ([{"type": "word_delimiter", "preserve_original": True}], "fox's SL5's", ["fox's", "fox", "SL5's", "SL", "5", "s"]),
            (["uppercase"], "groß", ["GROß"]),
            (["elision"], "L'avion", ["avion"]),
        ]:
            made = self.client.indices.analyze(body={"tokenizer": "whitespace", "filter": filters, "text": text})
            self.assertEqual(words(made), expected)
        body = {"tokenizer": "standard", "filter": ["unique"], "text": "a b a c"}
        made = self.client.indices.analyze(body=body)["tokens"]
        self.assertEqual([(t["token"], t["position"]) for t in made], [("a", 0), ("b", 1), ("c", 2)])
        body = {"tokenizer": {"type": "path_hierarchy", "skip": 1}, "text": "/one/two/three"}
        self.assertEqual(words(self.client.indices.analyze(body=body)), ["/two", "/two/three"])

    def test_an_analyzer_of_a_type_is_explained_as_a_whole(self):
        analyzers = {"short": {"type": "standard", "max_token_length": 3}, "own": {"type": "custom", "tokenizer": "standard"}}
        self.client.indices.create(index="i", body={"settings": {"analysis": {"analyzer": analyzers}}})
        explained = lambda name: self.client.indices.analyze(index="i", body={"analyzer": name, "text": "Foxes", "explain": True})["detail"]
        detail = explained("short")
        self.assertFalse(detail["custom_analyzer"])
        self.assertEqual(detail["analyzer"]["name"], "short")
        self.assertEqual([token["token"] for token in detail["analyzer"]["tokens"]], ["fox", "es"])
        self.assertTrue(explained("own")["custom_analyzer"])

    def test_each_step_is_explained(self):
        body = {"char_filter": ["html_strip"], "tokenizer": "whitespace", "filter": ["lowercase", "stop"],
                "text": "<b>The</b> Fox", "explain": True}
        detail = self.client.indices.analyze(body=body)["detail"]
        self.assertTrue(detail["custom_analyzer"])
        self.assertEqual(detail["charfilters"], [{"name": "html_strip", "filtered_text": ["The Fox"]}])
        self.assertEqual(words(detail["tokenizer"]), ["The", "Fox"])
        self.assertEqual([(step["name"], words(step)) for step in detail["tokenfilters"]],
                         [("lowercase", ["the", "fox"]), ("stop", ["fox"])])
        self.assertEqual(detail["tokenizer"]["tokens"][0]["bytes"], "[54 68 65]")
        body["attributes"] = ["positionLength"]
        shown = self.client.indices.analyze(body=body)["detail"]["tokenizer"]["tokens"][0]
        self.assertIn("positionLength", shown)
        self.assertNotIn("bytes", shown)
        body = {"tokenizer": "standard", "filter": ["lowercase", "snowball"], "text": "detailed output", "explain": True,
                "attributes": ["keyword"]}
        detail = self.client.indices.analyze(body=body)["detail"]
        self.assertEqual([token["keyword"] for token in detail["tokenfilters"][1]["tokens"]], [False, False])
        for tokens in (detail["tokenizer"]["tokens"], detail["tokenfilters"][0]["tokens"]):
            self.assertEqual(["keyword" in token for token in tokens], [False, False])
        body = {"tokenizer": "keyword", "filter": [{"type": "truncate", "length": 1}], "text": "ab", "explain": True}
        detail = self.client.indices.analyze(body=body)["detail"]
        self.assertEqual(detail["charfilters"], [])
        self.assertEqual(detail["tokenfilters"][0]["name"], "__anonymous__truncate")

    def test_scripts_choose_terms(self):
        short = {"type": "condition", "filter": ["lowercase"], "script": {"source": "token.getTerm().length() < 5"}}
        body = {"tokenizer": "standard", "filter": [short], "text": "What Flapdoodle"}
        self.assertEqual(words(self.client.indices.analyze(body=body)), ["what", "Flapdoodle"])
        settings = {"analysis": {
            "filter": {"no_numbers": {"type": "predicate_token_filter", "script": {"lang": "painless", "source": "token.type.contains('ALPHANUM')"}}},
            "analyzer": {"own": {"type": "custom", "tokenizer": "standard", "filter": ["no_numbers"]}}}}
        self.client.indices.create(index="chosen", body={"settings": settings})
        body = {"analyzer": "own", "text": "1 fox 23"}
        self.assertEqual(words(self.client.indices.analyze(index="chosen", body=body)), ["fox"])
        short["script"]["source"] = "int x = 5; token.term.length() < x"
        with self.refused(400, "illegal_argument_exception", "[int] is not understood in a script about a token"):
            self.client.indices.analyze(body={"tokenizer": "standard", "filter": [short], "text": "a"})

    def test_an_analyzer_says_how_far_values_lie_apart(self):
        near = {"type": "custom", "tokenizer": "standard", "position_increment_gap": 0}
        properties = {"near": {"type": "text", "analyzer": "near"}, "far": {"type": "text", "analyzer": "near", "position_increment_gap": 10}}
        body = {"settings": {"analysis": {"analyzer": {"near": near}}}, "mappings": {"properties": properties}}
        self.client.indices.create(index="gap", body=body)
        self.index_all("gap", {"1": {"near": ["a b", "c"], "far": ["a b", "c"]}})
        for field, found in (("near", ["1"]), ("far", [])):
            with self.subTest(field=field):
                self.assertEqual(self.ids("gap", query={"match_phrase": {field: "b c"}}), found)
        for asked, positions in (({"analyzer": "near"}, [0, 1, 2]), ({"field": "near"}, [0, 1, 2]), ({"field": "far"}, [0, 1, 12])):
            made = self.client.indices.analyze(index="gap", body={**asked, "text": ["a b", "c"]})["tokens"]
            self.assertEqual([token["position"] for token in made], positions, asked)

    def test_several_texts_lie_as_far_apart_as_in_fields(self):
        properties = {"t": {"type": "text"}, "k": {"type": "keyword", "normalizer": "plain"}}
        self.client.indices.create(index="gaps", body={"settings": SETTINGS, "mappings": {"properties": properties}})
        for index, asked, positions in [
            ("gaps", {"field": "t"}, [0, 1, 102]), ("gaps", {"field": "k"}, [0, 1]), ("gaps", {"normalizer": "plain"}, [0, 1]),
            ("gaps", {"analyzer": "standard"}, [0, 1, 102]), (None, {"analyzer": "standard"}, [0, 1, 2]),
            (None, {"tokenizer": "standard"}, [0, 1, 102]),
        ]:
            made = self.client.indices.analyze(index=index, body={**asked, "text": ["A b", "C"]})["tokens"]
            self.assertEqual([token["position"] for token in made], positions, asked)
        folded = self.client.indices.analyze(index="gaps", body={"field": "k", "text": "É"})
        self.assertEqual(words(folded), ["e"])
        for index, asked, reason in [
            (None, {"normalizer": "plain"}, "index is required if normalizer is specified"),
            (None, {"analyzer": "standard", "filter": ["lowercase"]}, "cannot define extra components on a named analyzer"),
            ("gaps", {"field": "t", "filter": ["lowercase"]}, "cannot define extra components on a field-specific analyzer"),
            ("gaps", {"tokenizer": "nope"}, "failed to find tokenizer under [nope]"),
        ]:
            with self.refused(400, reason=reason):
                self.client.indices.analyze(index=index, body={**asked, "text": "x"})

    def test_what_is_unknown_is_named(self):
        for body, reason in [
            ({"tokenizer": "nothing", "text": "x"}, "failed to find global tokenizer under [nothing]"),
            ({"tokenizer": "standard", "filter": ["nothing"], "text": "x"}, "failed to find global filter under [nothing]"),
            ({"analyzer": "nothing", "text": "x"}, "failed to find global analyzer [nothing]"),
            ({"filter": "lowercase", "text": "x"}, "[analyze_request] filter doesn't support values of type: VALUE_STRING"),
        ]:
            with self.refused(400, reason=reason):
                self.client.indices.analyze(body=body)
        wrong = {"settings": {"analysis": {"analyzer": {"a": {"tokenizer": "standard", "filter": ["nothing"]}}}}}
        with self.refused(400, reason="nothing"):
            self.client.indices.create(index="wrong", body=wrong)

    def test_what_was_written_after_analyzers_changed_is_cut_by_these_after_a_kill(self):
        def own(name):
            return {"analysis": {"analyzer": {"own": {"tokenizer": "standard", "filter": [name]}}}}

        field = {"type": "text", "analyzer": "own", "fielddata": True}
        body = {"settings": own("lowercase"), "mappings": {"properties": {"t": field}}}
        self.client.indices.create(index="changed", body=body)
        self.client.indices.close(index="changed")
        self.client.indices.put_settings(index="changed", body=own("uppercase"))
        self.client.indices.open(index="changed")
        self.client.index(index="changed", id="1", body={"t": "Fox"}, refresh=True)
        self.restart()
        body = {"size": 0, "aggs": {"terms": {"terms": {"field": "t"}}}}
        found = self.client.search(index="changed", body=body)["aggregations"]["terms"]["buckets"]
        self.assertEqual([bucket["key"] for bucket in found], ["FOX"])

