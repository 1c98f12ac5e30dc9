"""Asynchronous searches: submitted, asked for, deleted, counted."""

import time

from .base import ClewTest

ROOT = "/_plugins/_asynchronous_search"
DAY_MS = 24 * 3600 * 1000


class AsynchronousSearchTest(ClewTest):
    """Searches of one index of numbers."""

    def setUp(self):
        super().setUp()
        self.index_all("numbers", {str(n): {"n": n} for n in range(20)})

    def submit(self, body=None, path=f"/numbers{ROOT}", **params):
        return self.raw("POST", path, body or {"query": {"match_all": {}}}, params=params)

    def figures(self):
        (node,) = self.raw("GET", f"{ROOT}/stats")["nodes"].values()
        return node["asynchronous_search_stats"]

    def test_a_search_that_ends_in_time_is_answered_and_forgotten(self):
        before = self.figures()
        answer = self.submit({"query": {"range": {"n": {"lt": 5}}}, "size": 2})
        self.assertEqual(answer["state"], "SUCCEEDED")
        self.assertNotIn("id", answer)
        self.assertEqual(answer["response"]["hits"]["total"]["value"], 5)
        self.assertEqual(len(answer["response"]["hits"]["hits"]), 2)
        self.assertEqual(answer["expiration_time_in_millis"] - answer["start_time_in_millis"], DAY_MS)
        after = self.figures()
        for name in ("submitted", "initialized", "search_completed"):
            self.assertEqual(after[name], before[name] + 1, name)
        self.assertEqual(after["persisted"], before["persisted"])

    def test_an_answer_is_kept_until_it_is_deleted(self):
        body = {"size": 0, "aggs": {"most": {"max": {"field": "n"}}}}
        answer = self.submit(body, path=ROOT, index="numbers", keep_on_completion="true", keep_alive="2m")
        self.assertEqual(answer["state"], "SUCCEEDED")
        self.assertEqual(answer["expiration_time_in_millis"] - answer["start_time_in_millis"], 120_000)
        found = self.raw("GET", f"{ROOT}/{answer['id']}")
        self.assertEqual((found["id"], found["state"]), (answer["id"], "STORE_RESIDENT"))
        self.assertEqual(found["response"]["aggregations"]["most"]["value"], 19)
        longer = self.raw("GET", f"{ROOT}/{answer['id']}", params={"keep_alive": "1d"})
        self.assertGreater(longer["expiration_time_in_millis"], answer["expiration_time_in_millis"])
        self.assertEqual(self.raw("DELETE", f"{ROOT}/{answer['id']}"), {"acknowledged": True})
        for method in ("GET", "DELETE"):
            with self.refused(404, "resource_not_found_exception", answer["id"]):
                self.raw(method, f"{ROOT}/{answer['id']}")

    def test_a_search_that_takes_longer_is_asked_for_by_its_id(self):
        answer = self.submit(wait_for_completion_timeout="0", keep_on_completion="true")
        deadline = time.monotonic() + 120
        while answer["state"] == "RUNNING" and time.monotonic() < deadline:
            self.assertEqual(answer["response"]["hits"]["hits"], [])
            answer = self.raw("GET", f"{ROOT}/{answer['id']}", params={"wait_for_completion_timeout": "5s"})
        self.assertIn(answer["state"], ("SUCCEEDED", "STORE_RESIDENT"))
        self.assertEqual(answer["response"]["hits"]["total"]["value"], 20)

    def test_a_search_that_is_running_is_ended_by_its_deletion(self):
        script = {"source": "int n = 0; for (int i = 0; i < 900; i++) { n += i; } n", "lang": "painless"}
        query = {"script_score": {"query": {"match_all": {}}, "script": script}}
        answer = self.submit({"query": query}, wait_for_completion_timeout="0", keep_on_completion="true")
        if "id" in answer:
            self.assertEqual(self.raw("DELETE", f"{ROOT}/{answer['id']}"), {"acknowledged": True})
            with self.refused(404, "resource_not_found_exception"):
                self.raw("GET", f"{ROOT}/{answer['id']}")

    def test_a_search_that_fails_says_why(self):
        before = self.figures()["search_failed"]
        answer = self.submit(path=f"/nothing{ROOT}", keep_on_completion="true")
        self.assertEqual(answer["state"], "FAILED")
        self.assertEqual(answer["error"]["type"], "index_not_found_exception")
        self.assertNotIn("id", answer)
        self.assertNotIn("response", answer)
        self.assertEqual(self.figures()["search_failed"], before + 1)

    def test_what_cannot_be_asked_is_refused(self):
        for params, reason in [
            ({"keep_alive": "30s"}, "[keep_alive] must be greater than 1 minute, got: 30s"),
            ({"keep_alive": "6d"}, "Keep alive for asynchronous search (6d) is too large. It must be less than (5d)"),
            ({"wait_for_completion_timeout": "2m"}, "Wait for completion timeout for asynchronous search (2m) is too large"),
            ({"scroll": "1m"}, "scrolls are not supported"),
            ({"nothing": "1"}, "unrecognized parameter"),
        ]:
            with self.subTest(params), self.refused(400, reason=reason):
                self.submit(**params)
        suggest = {"suggest": {"text": "a", "s": {"term": {"field": "n"}}}}
        with self.refused(400, reason="suggest-only queries are not supported"):
            self.submit(suggest)
        with self.refused(400, "parsing_exception"):
            self.submit({"query": {"no_query": {}}})
        for name in ("no-id", "YToxOjE"):
            with self.refused(404, "resource_not_found_exception", name):
                self.raw("GET", f"{ROOT}/{name}")
