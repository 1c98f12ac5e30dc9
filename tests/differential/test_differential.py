"""What can be said about the differential test without another server."""

import json
import unittest

from .compare import Comparison
from .corpus import documents
from .dice import Dice
from .known import KNOWN, known, named
from .requests import request
from .smaller import smaller


def answer(*hits, **rest):
    listed = [{"_id": identity, "_score": score} for identity, score in hits]
    best = max((score for _, score in hits), default=None)
    return 200, {"hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": best, "hits": listed}, **rest}


class Comparing(unittest.TestCase):
    def differences(self, ours, theirs, request=None):
        return Comparison(request or {}).answers(ours, theirs)

    def test_hits_that_score_alike_may_change_places(self):
        ours, theirs = answer(("1", 2.0), ("2", 1.00001), ("3", 1.0)), answer(("1", 2.0), ("3", 1.0), ("2", 1.0))
        self.assertEqual(self.differences(ours, theirs), [])

    def test_another_order_another_score_and_another_total_are_told(self):
        self.assertTrue(self.differences(answer(("1", 2.0), ("2", 1.0)), answer(("2", 2.0), ("1", 1.0))))
        self.assertTrue(self.differences(answer(("1", 2.0)), answer(("1", 2.001))))
        self.assertTrue(self.differences(answer(("1", 2.0)), answer(("1", 2.0), ("2", 1.0))))

    def test_aggregations_are_compared_value_by_value(self):
        bucket = lambda count: {"a": {"buckets": [{"key": "x", "doc_count": count}]}}
        self.assertEqual(self.differences(answer(aggregations=bucket(1)), answer(aggregations=bucket(1))), [])
        self.assertTrue(self.differences(answer(aggregations=bucket(1)), answer(aggregations=bucket(2))))
        self.assertTrue(self.differences(answer(aggregations=bucket(1)), answer(aggregations=bucket(1.0))))
        self.assertTrue(self.differences(answer(), answer(aggregations=bucket(1))))

    def test_percentiles_have_some_tolerance_when_they_are_of_many(self):
        asked = {"aggs": {"p": {"percentiles": {"field": "f"}}}}
        many = [(str(number), 1.0) for number in range(200)]
        made = lambda value: answer(*many, aggregations={"p": {"values": {"50.0": value}}})
        self.assertEqual(self.differences(made(100.0), made(102.0), asked), [])
        self.assertTrue(self.differences(made(100.0), made(120.0), asked))

    def test_errors_are_compared_by_status_and_type(self):
        error = lambda status, kind: (status, {"error": {"type": kind, "root_cause": [{"type": kind, "reason": "r"}]}})
        self.assertEqual(self.differences(error(400, "a"), error(400, "a")), [])
        self.assertTrue(self.differences(error(400, "a"), error(404, "a")))
        self.assertTrue(self.differences(error(400, "a"), error(400, "b")))


class Generating(unittest.TestCase):
    def test_one_seed_gives_the_same_documents_and_requests(self):
        make = lambda seed: (documents(Dice(seed), 20), [request(Dice(seed)) for _ in range(50)])
        self.assertEqual(json.dumps(make(5)), json.dumps(make(5)))
        self.assertNotEqual(json.dumps(make(5)), json.dumps(make(6)))

    def test_a_request_is_made_as_small_as_shows_the_difference(self):
        body = {"query": {"bool": {"must": [{"match": {"a": "x"}}, {"term": {"b": 1}}], "boost": 2}}, "size": 3, "from": 1}
        found = smaller(body, lambda less: "term" in json.dumps(less))
        self.assertEqual(found, {"query": {"term": {}}, "size": 3})


class Naming(unittest.TestCase):
    def test_the_page_names_what_is_recognised_and_nothing_else(self):
        self.assertEqual(named().keys(), KNOWN.keys())

    def test_only_what_is_named_is_forgiven(self):
        refused = "error: ('parsing_exception', 'parsing_exception', 'x'), OpenSearch ('x_content_parse_exception', 'parsing_exception', 'y')"
        self.assertEqual(known("wrong", {}, [refused]), "error-types")
        taken = ["status: (200, None), OpenSearch (400, ('a', 'a', 'b'))"]
        self.assertEqual(known("wrong", {}, taken), "malformed-taken")
        self.assertIsNone(known("search", {}, taken))
        self.assertIsNone(known("search", {}, ["total: 1, OpenSearch 2"]))
