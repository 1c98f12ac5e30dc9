"""Where scores come from, and what queries mean, in the words of a real OpenSearch 2.19.0."""

from .base import ClewTest

WHOLE = ["match on required clause, product of:", ["# clause"], ["FieldExistsQuery [field=_primary_term]"]]
BM25 = ["boost", "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:",
        "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:"]


def words(explanation):
    """What an explanation says, without numbers of rows."""
    description = explanation["description"]
    for at in ("0", "1", "2", "3"):
        description = description.replace(f" in {at})", " in N)")
    return [description, *(words(detail) for detail in explanation["details"])]


class ExplanationsAsThere(ClewTest):
    def setUp(self):
        super().setUp()
        fields = {"t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "integer"}, "s": {"type": "text", "index_options": "docs"}}
        nested = {**fields, "o": {"type": "nested", "properties": {"k": {"type": "keyword"}}}}
        for name, properties in (("flat", fields), ("nests", nested)):
            body = {"settings": {"number_of_shards": 1}, "mappings": {"properties": properties}}
            self.client.indices.create(index=name, body=body)
            self.index_all(name, {"1": {"t": "quick brown fox", "k": "red", "n": 4, "s": "fox fox"}, "2": {"t": "dog", "k": "blue", "s": "dog"}})

    def explained(self, query, index="flat"):
        told = self.client.explain(index=index, id="1", body={"query": query})
        self.assertTrue(told["matched"], query)
        return told["explanation"]

    def test_functions_are_told_one_by_one(self):
        query = {"function_score": {"query": {"match": {"t": "fox"}}, "score_mode": "sum", "functions": [
            {"weight": 3}, {"filter": {"term": {"k": "red"}}, "weight": 2}, {"filter": {"term": {"k": "blue"}}, "weight": 9},
            {"field_value_factor": {"field": "n", "modifier": "sqrt", "factor": 1.5, "missing": 1}}]}}
        told = self.explained(query)
        self.assertEqual(told["description"], "function score, product of:")
        inner, factor = told["details"]
        self.assertEqual(inner["description"].split(" in ")[0], "weight(t:fox")
        self.assertAlmostEqual(told["value"], inner["value"] * factor["value"], places=5)
        constant = "constant score 1.0 - no function provided"
        weighed = lambda: ["product of:", [constant], ["weight"]]
        self.assertEqual(words(factor), ["min of:", ["function score, score mode [sum]", weighed(), [
            "function score, product of:", ["match filter: k:red"], weighed()],
            ["field value function: sqrt(doc['n'].value?:1.0 * factor=1.5)"]], ["maxBoost"]])
        self.assertAlmostEqual(factor["value"], 3 + 2 + 6 ** 0.5, places=5)
        script = {"source": "_score * params.f", "params": {"f": 2}}
        told = self.explained({"script_score": {"query": {"match": {"t": "fox"}}, "script": script}})
        words_of = "Script{type=inline, lang='painless', idOrCode='_score * params.f', options={}, params={f=2}}"
        self.assertEqual(told["description"], f'script score function, computed with script:"{words_of}"')
        self.assertEqual(told["details"][0]["description"], "_score: ")
        none = {"function_score": {"query": {"match": {"t": "fox"}}, "functions": [{"filter": {"term": {"k": "blue"}}, "weight": 2}]}}
        self.assertEqual(words(self.explained(none))[2], ["min of:", ["No function matched"], ["maxBoost"]])

    def test_words_by_their_places_are_told_by_how_often_they_stand_so(self):
        told = self.explained({"intervals": {"t": {"match": {"query": "quick fox", "max_gaps": 2, "ordered": True}, "boost": 2}}})
        self.assertEqual(words(told), [
            "Saturation function on interval frequency, computed as w * S / (S + k) from:", ["w, weight of this function"],
            ["k, pivot feature value that would give a score contribution equal to w/2"],
            ["S, the sloppy frequency of the interval query t:MAXGAPS/2(ORDERED(quick,fox))"]])
        self.assertAlmostEqual(told["details"][2]["value"], 0.5, places=5)
        near = {"span_near": {"clauses": [{"span_term": {"t": "quick"}}, {"span_term": {"t": "fox"}}], "slop": 3, "in_order": True}}
        for query, what in ((near, "spanNear([t:quick, t:fox], 3, true)"),
                            ({"match_phrase": {"t": {"query": "quick fox", "slop": 3}}}, 't:"quick fox"~3')):
            told = words(self.explained(query))
            self.assertEqual(told[0], f"weight({what} in N) [PerFieldSimilarity], result of:")
            self.assertEqual([part[0] for part in told[1][1:]], ["boost", "idf, sum of:", BM25[2]], query)
            self.assertEqual(told[1][3][1], ["phraseFreq=0.5"], query)

    def test_texts_that_keep_no_frequencies_are_told_alike(self):
        told = words(self.explained({"match": {"s": "fox"}}))
        self.assertEqual(told[1][0], "score(freq=1.0), computed as boost * idf * tf from:")
        self.assertEqual([part[0] for part in told[1][1:]], BM25)

    def test_a_sum_of_one_is_a_sum_where_others_were_asked_for(self):
        self.assertEqual(words(self.explained({"match": {"t": "quick cat"}}))[0], "sum of:")
        self.assertEqual(words(self.explained({"bool": {"should": [{"term": {"t": "fox"}}, {"term": {"t": "cat"}}]}}))[0], "sum of:")
        alone = words(self.explained({"bool": {"must": [{"term": {"t": "fox"}}]}}))
        self.assertEqual(alone[0], "weight(t:fox in N) [PerFieldSimilarity], result of:")

    def test_what_might_find_objects_is_told_to_find_documents(self):
        phrase = {"match_phrase": {"t": "brown fox"}}
        told = words(self.explained(phrase, "nests"))
        self.assertEqual((told[0], told[2]), ("sum of:", WHOLE))
        self.assertEqual(words(self.explained({"match_all": {}}, "nests")), ["ConstantScore(FieldExistsQuery [field=_primary_term])"])
        for query in ({"match": {"t": "quick fox"}}, {"bool": {"must": [phrase], "filter": [{"term": {"k": "red"}}]}}):
            self.assertNotIn(WHOLE, words(self.explained(query, "nests")), query)
        guarded = lambda query: f"+{query} #FieldExistsQuery [field=_primary_term]"
        for query, plain in (
            (phrase, 't:"brown fox"'), ({"prefix": {"t": "qui"}}, "t:qui*"),
            ({"boosting": {"positive": {"term": {"t": "fox"}}, "negative": {"term": {"t": "dog"}}, "negative_boost": 0.2}},
             "FunctionScoreQuery(t:fox, scored by boost(queryboost(score(t:dog))^0.2))"),
        ):
            for index, want in (("flat", plain), ("nests", guarded(plain))):
                reply = self.client.indices.validate_query(index=index, body={"query": query}, params={"explain": "true"})
                self.assertEqual(reply["explanations"][0]["explanation"], want, (index, query))
        reply = self.client.indices.validate_query(index="nests", body={"query": {"term": {"t": "fox"}}}, params={"explain": "true"})
        self.assertEqual(reply["explanations"][0]["explanation"], "t:fox")

    def test_features_are_told_by_their_curves(self):
        fields = {"rank": {"type": "rank_feature"}, "more": {"type": "rank_features"}}
        self.client.indices.create(index="features", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": fields}})
        self.index_all("features", {"1": {"rank": 96, "more": {"p": 3}}, "2": {"rank": 8, "more": {"p": 1}}})
        pivot = "k, pivot feature value that would give a score contribution equal to w/2"
        exponent = "a, exponent, higher values make the function grow slower before k and faster after k"
        for query, name, formula, field, figures in (
            ({"field": "rank", "saturation": {"pivot": 8}}, "Saturation", "w * S / (S + k)", ("_feature", "rank"), [(pivot, 8.0)]),
            ({"field": "rank", "log": {"scaling_factor": 4}}, "Log", "w * log(a + S)", ("_feature", "rank"), [("a, scaling factor", 4.0)]),
            ({"field": "more.p", "sigmoid": {"pivot": 7, "exponent": 0.5}}, "Sigmoid", "w * S^a / (S^a + k^a)", ("more", "p"), [(pivot, 7.0), (exponent, 0.5)]),
            ({"field": "more.p", "linear": {}, "boost": 2}, "Linear", "w * S", ("more", "p"), []),
        ):
            told = self.explained({"rank_feature": query}, "features")
            self.assertEqual(told["description"], f"{name} function on the {field[0]} field for the {field[1]} feature, computed as {formula} from:")
            value = 96.0 if field[1] == "rank" else 3.0
            self.assertEqual([(one["description"], one["value"]) for one in told["details"]], [
                ("w, weight of this function", float(query.get("boost", 1))), *figures, ("S, feature value", value)])

    def test_why_a_document_does_not_match_is_told_clause_by_clause(self):
        failure = "Failure to meet condition(s) of required/prohibited clause(s)"
        cat = {"match": {"t": "cat"}}
        fox = "weight(t:fox in N) [PerFieldSimilarity], result of:"

        def missed(query, index="flat"):
            told = self.client.explain(index=index, id="1", body={"query": query})
            self.assertFalse(told["matched"], query)
            self.assertEqual(told["explanation"]["value"], 0.0)
            return words(told["explanation"])

        for query, told in (
            (cat, ["no matching term"]), ({"match": {"t": "cat cow"}}, ["No matching clauses"]),
            ({"match_phrase": {"t": "fox quick"}}, ["no matching terms"]),
            ({"intervals": {"t": {"match": {"query": "cat"}}}}, ["no matching intervals"]),
            ({"function_score": {"query": cat, "functions": [{"weight": 2}]}}, ["no matching term"]),
            ({"bool": {"should": [cat]}}, ["no matching term"]), ({"bool": {"should": [cat, cat]}}, ["No matching clauses"]),
        ):
            self.assertEqual(missed(query), told, query)
        told = missed({"bool": {"must": [{"term": {"t": "fox"}}, cat], "must_not": [{"term": {"t": "fox"}}], "filter": [{"term": {"k": "red"}}]}})
        self.assertEqual(told[0], failure)
        self.assertEqual([part[0] for part in told[1:]], [
            fox, "no match on required clause (t:cat)", "match on prohibited clause (t:fox)", "match on required clause, product of:"])
        guarded = missed({"match_phrase": {"t": "fox quick"}}, "nests")
        self.assertEqual(guarded, [failure, ['no match on required clause (t:"fox quick")', ["no matching terms"]], WHOLE])

    def test_curves_are_told_by_their_formula_with_the_numbers_of_the_document(self):
        fields = {"qty": {"type": "long"}, "price": {"type": "float"}, "made": {"type": "date"}, "loc": {"type": "geo_point"}}
        self.client.indices.create(index="curves", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": fields}})
        self.index_all("curves", {"1": {"qty": 43, "made": "2023-06-14T17:30:00Z", "loc": {"lat": 29.682, "lon": -2.096}}})
        qty = {"qty": {"origin": 40, "scale": 30, "offset": 5, "decay": 0.4}}
        made = {"made": {"origin": "2023-06-15", "scale": "30d", "offset": "1d"}}
        loc = {"loc": {"origin": "0,0", "scale": "2000km", "offset": "100km", "decay": 0.3}}
        near = lambda mode="MIN": f"{mode}[Math.max(Math.abs(43.0(=doc value) - 40.0(=origin))) - 5.0(=offset), 0)]"
        day = "MIN[Math.max(Math.abs(1.6867638E12(=doc value) - 1.6867872E12(=origin))) - 8.64E7(=offset), 0)]"
        far = "MIN of: [Math.max(arcDistance(29.68199999537319, -2.0960000809282064(=doc value),0.0, 0.0(=origin)) - 100000.0(=offset), 0)]"
        for curve, spec, formula in (
            ("gauss", qty, f"exp(-0.5*pow({near()},2.0)/491.1105005717812)"),
            ("exp", {**qty, "multi_value_mode": "avg"}, f"exp(- {near('AVG')} * 0.030543024395805165)"),
            ("linear", qty, f"max(0.0, ((50.0 - {near()})/50.0)"),
            ("exp", made, f"exp(- {day} * 2.674178937345468E-10)"),
            ("gauss", loc, f"exp(-0.5*pow({far},2.0)/1.6611670901650745E12)"),
            ("linear", {"price": {"origin": 20, "scale": 10}}, "max(0.0, ((20.0 - MIN[0.0])/20.0)"),
        ):
            told = self.explained({"function_score": {curve: spec}}, "curves")
            field = next(name for name in spec if name != "multi_value_mode")
            self.assertEqual(words(told)[2][:2], ["min of:", [f"Function for field {field}:", [formula]]], curve)

    def test_objects_are_told_by_how_many_match_and_the_best(self):
        own = {"k": {"type": "keyword"}, "c": {"type": "double"}}
        fields = {"t": {"type": "text"}, "o": {"type": "nested", "properties": own}}
        self.client.indices.create(index="objects", body={"settings": {"number_of_shards": 1}, "mappings": {"properties": fields}})
        self.index_all("objects", {"1": {"t": "fox", "o": [{"k": "x", "c": 8.6}, {"k": "y", "c": 3.5}]}})
        told = lambda query, **rest: words(self.explained({"nested": {"path": "o", "query": query, **rest}}, "objects"))
        head = lambda count, mode: f"Score based on {count} child docs in range from 0 to 1, using score mode {mode}"
        found = told({"term": {"o.k": "x"}}, score_mode="max")
        self.assertEqual(found[:2], [head(1, "Max"), ["weight(o.k:x in N) [PerFieldSimilarity], result of:", found[1][1]]])
        self.assertEqual(found[1][1][0], "score(freq=1.0), computed as boost * idf * tf from:")
        self.assertEqual(told({"match_all": {}}), [head(2, "Avg"), ["ConstantScore(_nested_path:o)"]])
        self.assertEqual(told({"term": {"o.k": "x"}}, score_mode="none"), [head(1, "None"), ["ConstantScore(o.k:x)^0.0"]])
        costly = {"function_score": {"query": {"exists": {"field": "o.c"}}, "field_value_factor": {"field": "o.c"}}}
        found = self.explained({"nested": {"path": "o", "query": costly, "score_mode": "sum"}}, "objects")
        self.assertEqual((found["description"], round(found["value"], 4)), (head(2, "Total"), 12.1))
        self.assertEqual(words(found)[1][2], ["match on required clause, product of:", ["# clause"], ["_nested_path:o"]])
        self.assertEqual(round(found["details"][0]["value"], 4), 8.6)
        # Boosts are part of the figures that they multiply.
        boosted = {"nested": {"path": "o", "query": {"term": {"o.k": "x"}}, "boost": 3}}
        for query in (boosted, {"bool": {"must": [{"nested": {**boosted["nested"], "boost": 1.5}}], "boost": 2}},
                      {"dis_max": {"queries": [boosted, {"term": {"t": "cat"}}]}}):
            told = self.explained(query, "objects")
            while not told["description"].startswith("score("):
                told = told["details"][0]
            self.assertAlmostEqual(told["details"][0]["value"], 6.6, places=5)

    def test_hits_inside_of_hits_tell_of_themselves(self):
        own = {"k": {"type": "keyword"}, "t": {"type": "text"}}
        body = {"settings": {"number_of_shards": 1}, "mappings": {"properties": {"g": {"type": "keyword"}, "o": {"type": "nested", "properties": own}}}}
        self.client.indices.create(index="objects", body=body)
        self.index_all("objects", {"1": {"g": "a", "o": [{"k": "x", "t": "wind"}, {"k": "y", "t": "wind sea"}, {"k": "x", "t": "old"}]}})
        query = {"bool": {"must": [{"match": {"o.t": "wind"}}], "should": [{"term": {"o.k": {"value": "x", "_name": "isx"}}}]}}
        nested = {"nested": {"path": "o", "query": query, "inner_hits": {"explain": True}}}
        hits = self.client.search(index="objects", body={"query": nested})["hits"]["hits"][0]["inner_hits"]["o"]["hits"]["hits"]
        self.assertEqual([(hit["_nested"]["offset"], hit.get("matched_queries")) for hit in hits], [(0, ["isx"]), (1, None)])
        for hit in hits:
            told = hit["_explanation"]
            self.assertAlmostEqual(told["value"], hit["_score"], places=5)
            self.assertTrue(hit["_node"])
        self.assertEqual([part["description"].split(" in ")[0] for part in hits[0]["_explanation"]["details"]], ["weight(o.t:wind", "weight(o.k:x"])
        grouped = {"query": {"term": {"g": "a"}}, "collapse": {"field": "g", "inner_hits": {"name": "all", "explain": True}}}
        hit = self.client.search(index="objects", body=grouped)["hits"]["hits"][0]["inner_hits"]["all"]["hits"]["hits"][0]
        self.assertAlmostEqual(hit["_explanation"]["value"], hit["_score"], places=5)

    def test_scores_of_scripts_are_told_with_their_boost(self):
        script = {"script_score": {"query": {"match": {"t": "fox"}}, "script": {"source": "_score * 2"}, "boost": 2}}
        told = self.explained(script)
        self.assertEqual((told["description"], told["details"][0]), ("Boosted score, product of:", {"value": 2.0, "description": "boost", "details": []}))
        self.assertTrue(told["details"][1]["description"].startswith("script score function, computed with script:"))
