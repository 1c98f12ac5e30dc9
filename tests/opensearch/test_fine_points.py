"""Fine points of queries that a real OpenSearch 2.19 was asked about: what it answered is what is expected here."""

from .base import ClewTest

MAPPING = {"properties": {
    "text": {"type": "text"}, "note": {"type": "text"}, "tag": {"type": "keyword"}, "flag": {"type": "boolean"},
    "day": {"type": "date"}, "count": {"type": "integer"}, "big": {"type": "long"}, "place": {"type": "geo_point"},
    "within": {"type": "integer_range"}, "rank": {"type": "rank_feature"}, "english": {"type": "text", "analyzer": "english"},
}}
DOCUMENTS = {
    "1": {"text": "quick brown fox jumps", "note": "fast", "tag": "", "flag": True, "count": 3},
    "2": {"text": "brown dog quick fox", "note": "far", "tag": "a", "flag": False, "count": 5},
    "3": {"text": "quick lazy brown sleepy dog", "note": "fa", "tag": "A", "flag": True},
    "4": {"text": "fox", "note": "slow", "tag": "b", "within": {"gte": 40, "lt": 43}, "rank": 42, "place": {"lat": 48.8, "lon": 2.3}},
}


def string(text, kind="query_string", **options):
    return {kind: {"query": text, "fields": ["text"], **options}}


def intervals(**rule):
    return {"intervals": {"text": rule}}


def text(query, **options):
    return {"match": {"query": query, **options}}


class FinePoints(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="fine", body={"settings": {"number_of_shards": 1}, "mappings": MAPPING})
        for identity, source in DOCUMENTS.items():
            self.client.index(index="fine", id=identity, body=source)
        self.client.indices.refresh(index="fine")

    def search(self, **body):
        return self.client.search(index="fine", body=body)

    def check(self, query, *wanted):
        with self.subTest(query=query):
            hits = self.search(query=query)["hits"]["hits"]
            self.assertEqual(sorted(hit["_id"] for hit in hits), list(wanted))

    def test_minimum_should_match_is_about_the_outermost_clauses_of_a_query_string(self):
        self.check(string("+fox", minimum_should_match=1))
        self.check(string("fox", minimum_should_match=1), "1", "2", "4")
        self.check(string("(quick dog lazy)^2", minimum_should_match=3), "3")
        self.check(string("text:(quick dog lazy)", minimum_should_match=3), "3")
        self.check(string("quick dog lazy", "simple_query_string", flags="NONE", minimum_should_match=3), "3")
        boosted = {"fields": ["text^2"], "flags": "NONE", "minimum_should_match": 3}
        self.check(string("quick dog lazy", "simple_query_string", **boosted), "1", "2", "3")
        self.check(string("lazy +the", "simple_query_string", analyzer="stop", minimum_should_match=2), "3")
        self.check(string("lazy fox", "simple_query_string", minimum_should_match=2))
        # Of a negated stop word nothing is left, not even everything else.
        self.check(string("-the", "simple_query_string", analyzer="stop"))

    def test_gaps_of_intervals_inside_intervals_are_gaps_of_the_whole(self):
        inner = text("quick brown", ordered=True)
        both = lambda gaps: intervals(all_of={"intervals": [inner, text("dog")], "ordered": True, "max_gaps": gaps})
        self.check(both(1))
        self.check(both(2), "3")
        apart = {"query": "quick brown dog", "mode": "unordered_no_overlap"}
        self.check(intervals(match={**apart, "max_gaps": 0}))
        self.check(intervals(match={**apart, "max_gaps": 1}), "3")

    def test_an_interval_beside_one_of_the_filter_that_overlaps_it_is_not_apart_from_it(self):
        self.check(intervals(match={"query": "quick brown", "ordered": True, "filter": {"not_containing": text("brown fox", ordered=True)}}), "3")

    def test_a_prefix_longer_than_a_fuzzy_word_is_the_word(self):
        self.check({"fuzzy": {"note": {"value": "fa", "fuzziness": 1, "prefix_length": 4}}}, "2", "3")

    def test_what_cannot_match_hides_what_is_wrong_beside_it(self):
        wrong = {"range": {"day": {"gte": "2020-02-30"}}}
        self.check({"bool": {"filter": [wrong, {"terms": {"flag": []}}]}})
        self.check({"bool": {"must": [wrong, {"match_none": {}}]}})
        with self.assertRaises(Exception) as refused:
            self.search(query={"bool": {"filter": [wrong, {"term": {"flag": True}}]}})
        self.assertEqual(refused.exception.status_code, 400)

    def test_a_date_that_is_none_is_told_as_such(self):
        dated = {"range": {"day": {"gte": "foo"}}}, {"term": {"day": {"value": "foo"}}}, {"distance_feature": {"field": "day", "origin": "foo", "pivot": "1d"}}
        for query in dated:
            with self.subTest(query=query), self.refused(400, "search_phase_execution_exception") as refused:
                self.search(query=query)
            cause = refused.exception.info["error"]["root_cause"][0]
            one = "failed to parse date field [foo] with format [strict_date_optional_time||epoch_millis]"
            self.assertEqual((cause["type"], cause["reason"]), ("parse_exception", f"{one}: [{one}]"))

    def test_a_phrase_of_which_nothing_is_left_may_match_everything(self):
        for kind in ("match_phrase", "match_phrase_prefix"):
            self.check({kind: {"english": {"query": "the the", "zero_terms_query": "all"}}}, "1", "2", "3", "4")
            self.check({kind: {"english": {"query": "the the"}}})

    def test_all_fields_are_those_with_values_to_compare(self):
        self.check({"simple_query_string": {"query": "41"}}, "4")
        self.check({"query_string": {"query": "42 dog"}}, "2", "3")
        with self.refused(400):
            self.search(query={"simple_query_string": {"query": "42", "fields": ["flag"]}})

    def test_spans_in_any_order_may_lie_over_one_another_and_score_by_their_width(self):
        word = lambda text: {"span_term": {"text": text}}
        near = lambda *words, **rest: {"span_near": {"clauses": [word(one) for one in words], **rest}}
        self.check(near("fox", "fox", slop=0, in_order=False), "1", "2", "4")
        self.check(near("fox", "fox", slop=0, in_order=True))
        in_order, any_order = (
            self.search(query=near("brown", "fox", slop=0, in_order=order))["hits"]["max_score"] for order in (True, False))
        self.assertAlmostEqual(any_order, 0.3147732, places=5)
        self.assertGreater(in_order, any_order)

    def test_ids_are_an_order_like_any_other(self):
        found, body = [], {"size": 2, "sort": [{"_id": "desc"}], "_source": False}
        while page := self.search(**body)["hits"]["hits"]:
            found += [hit["_id"] for hit in page]
            body["search_after"] = page[-1]["sort"]
        self.assertEqual(found, ["4", "3", "2", "1"])

    def test_groups_without_a_value_show_none(self):
        hits = self.search(query={"match_all": {}}, collapse={"field": "count"}, sort=["_id"])["hits"]["hits"]
        self.assertEqual([(hit["_id"], hit.get("fields")) for hit in hits], [("1", {"count": [3]}), ("2", {"count": [5]}), ("3", None)])

    def test_beside_suggestions_alone_there_are_no_hits(self):
        asked = {"t": {"text": "quik", "term": {"field": "text", "accuracy": 0.5}}}
        reply = self.search(suggest=asked)
        self.assertEqual((reply["hits"]["total"]["value"], reply["hits"]["hits"]), (0, []))
        self.assertEqual(reply["suggest"]["t"][0]["options"][0]["text"], "quick")

    def test_pieces_may_be_words(self):
        shown = {"fields": {"text": {}}, "boundary_scanner": "word"}
        hits = self.search(query={"match": {"text": "lazy"}}, highlight=shown)["hits"]["hits"]
        self.assertEqual(hits[0]["highlight"]["text"], ["<em>lazy</em>"])

    def test_copies_may_lack_fields(self):
        copied = {"source": {"index": "fine", "_source": ["count", "tag"]}, "dest": {"index": "copy"}}
        self.client.reindex(body=copied, refresh=True)
        self.assertEqual(self.client.get(index="copy", id="1")["_source"], {"tag": "", "count": 3})

    def test_what_cannot_be_conditional_is_refused_before_anything_is_written(self):
        lines = [{"index": {"_id": "9"}}, {"count": 1}, {"create": {"_id": "8", "if_seq_no": 1, "if_primary_term": 1}}, {"count": 2}]
        with self.refused(400, "action_request_validation_exception", "create operations do not support compare and set"):
            self.client.bulk(index="fine", body=lines)
        lines[2:] = [{"update": {"_id": "8", "if_seq_no": 1, "if_primary_term": 1}}, {"doc": {"count": 2}, "doc_as_upsert": True}]
        with self.refused(400, "action_request_validation_exception", "can not be used with upsert"):
            self.client.bulk(index="fine", body=lines)
        self.assertFalse(self.client.exists(index="fine", id="9"))

    def test_pipelines_read_dates_of_a_zone(self):
        date = {"date": {"field": "when", "formats": ["dd/MM/yyyy"], "timezone": "Europe/Paris"}}
        body = {"pipeline": {"processors": [date]}, "docs": [{"_source": {"when": "03/07/2021"}}]}
        reply = self.client.ingest.simulate(body=body)
        self.assertEqual(reply["docs"][0]["doc"]["_source"]["@timestamp"], "2021-07-03T00:00:00.000+02:00")

    def test_truth_values_written_otherwise_are_one(self):
        scores = [self.search(query={"terms": {"flag": flags}})["hits"]["max_score"] for flags in ([True], [True, "true"])]
        self.assertEqual(*scores)
        self.assertNotEqual(scores[0], 1.0)

    def test_no_letters_have_no_other_case(self):
        self.check({"term": {"tag": {"value": ""}}}, "1")
        self.check({"term": {"tag": {"value": "", "case_insensitive": True}}})
        self.check({"term": {"tag": {"value": "a", "case_insensitive": True}}}, "2", "3")

    def test_a_number_for_missing_ones_is_as_wide_as_the_field(self):
        for field, wanted in (("count", 2147483647), ("big", 9223372036854775807)):
            hits = self.search(query={"ids": {"values": ["4"]}}, sort=[{field: {"missing": 1e40}}])["hits"]["hits"]
            self.assertEqual(hits[0]["sort"], [wanted])

    def test_distances_below_nothing_keep_their_name(self):
        ranges = {"field": "place", "origin": "48.8,2.3", "ranges": [{"from": -7}]}
        reply = self.search(size=0, aggs={"a": {"geo_distance": ranges}})
        self.assertEqual(reply["aggregations"]["a"]["buckets"][0]["key"], "-7.0-*")

    def test_the_last_letter_begins_a_piece_of_its_own_where_its_sentence_begins(self):
        self.client.index(index="fine", id="5", body={"text": "a b; brown disk - node a"}, refresh=True)
        shown = {"fields": {"text": {}}, "fragment_size": 18}
        hits = self.search(query={"bool": {"must": {"match": {"text": "a"}}, "filter": {"ids": {"values": ["5"]}}}}, highlight=shown)["hits"]["hits"]
        self.assertEqual(hits[0]["highlight"]["text"], ["<em>a</em> b; brown disk - node", "brown disk - node <em>a</em>"])
