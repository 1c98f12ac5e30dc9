"""Index state management: policies kept, given to indexes, explained."""

from .base import ClewTest

POLICIES = "/_plugins/_ism/policies"
ENABLED = "plugins.index_state_management.enabled"


def policy(**more):
    """A policy of two states."""
    hot = {"name": "hot", "actions": [{"rollover": {"min_doc_count": 5}}],
           "transitions": [{"state_name": "gone", "conditions": {"min_index_age": "30d"}}]}
    gone = {"name": "gone", "actions": [{"delete": {}}], "transitions": []}
    body = {"description": "logs", "default_state": "hot", "states": [hot, gone], **more}
    return {"policy": body}


class Ism(ClewTest):
    def setUp(self):
        super().setUp()
        # The job does not come in between.
        self.client.cluster.put_settings(body={"persistent": {ENABLED: False}})
        for kept in self.raw("GET", POLICIES, params={"size": 100})["policies"]:
            self.raw("DELETE", f"{POLICIES}/{kept['_id']}")

    def put(self, name, body=None, **params):
        return self.raw("PUT", f"{POLICIES}/{name}", body=body or policy(), params=params)

    def explain(self, index, **params):
        return self.raw("GET", f"/_plugins/_ism/explain/{index}", params=params)

    def test_policies_are_kept_and_changed_by_number(self):
        made = self.put("logs")
        self.assertEqual((made["_id"], made["_version"], made["_primary_term"]), ("logs", 1, 1))
        kept = made["policy"]["policy"]
        self.assertEqual(kept["policy_id"], "logs")
        retry = {"count": 3, "backoff": "exponential", "delay": "1m"}
        self.assertEqual(kept["states"][0]["actions"][0]["retry"], retry)
        with self.refused(409, "version_conflict_engine_exception", "document already exists"):
            self.put("logs")
        number = {"if_seq_no": made["_seq_no"], "if_primary_term": 1}
        changed = self.put("logs", policy(description="newer"), **number)
        self.assertEqual(changed["_version"], 2)
        self.assertGreater(changed["_seq_no"], made["_seq_no"])
        with self.refused(409, "version_conflict_engine_exception", "required seqNo"):
            self.put("logs", **number)
        self.restart()
        shown = self.raw("GET", f"{POLICIES}/logs")
        self.assertEqual(shown["policy"]["description"], "newer")
        self.assertEqual(shown["_seq_no"], changed["_seq_no"])
        gone = self.raw("DELETE", f"{POLICIES}/logs")
        self.assertEqual((gone["result"], gone["_version"]), ("deleted", 3))
        with self.refused(404, "status_exception", "Policy not found"):
            self.raw("GET", f"{POLICIES}/logs")
        self.assertFalse(self.raw("HEAD", f"{POLICIES}/logs"))

    def test_policies_are_listed_page_by_page(self):
        for name in ["a", "b", "c"]:
            self.put(name)
        page = self.raw("GET", POLICIES, params={"size": 2, "from": 1, "sortOrder": "desc"})
        self.assertEqual([kept["_id"] for kept in page["policies"]], ["b", "a"])
        self.assertEqual(page["total_policies"], 3)
        old = self.raw("GET", "/_opendistro/_ism/policies", params={"queryString": "c*"})
        self.assertEqual([kept["_id"] for kept in old["policies"]], ["c"])
        for name, description in (("ab", "1"), ("ba", "0")):
            self.put(name, policy(description=description))
        listed = lambda query, **more: [
            kept["_id"] for kept in self.raw("GET", POLICIES, params={"queryString": query, **more})["policies"]
        ]
        # Words as Dashboards sends them: all of them are wanted, but for those that are not.
        self.assertEqual((listed("*a* *b*"), listed("* -*b*"), listed("c OR *a")), (["ab", "ba"], ["a", "c"], ["a", "ba", "c"]))
        self.assertEqual(listed("*a* *b*", sortField="policy.description.keyword"), ["ba", "ab"])

    def test_what_cannot_be_followed_is_refused(self):
        for body, reason in [
            (policy(default_state="cold"), "default state"),
            (policy(states=[{"name": "hot", "actions": [{"rollup": {}}]}]), "[rollup]"),
            (policy(states=[{"name": "hot", "transitions": [{"state_name": "x"}]}]), "nonexistent"),
        ]:
            with self.subTest(reason), self.refused(400, "illegal_argument_exception", reason):
                self.put("wrong", body)
        with self.refused(400, "parsing_exception"):
            self.put("wrong", {"description": "not inside policy"})

    def test_indexes_follow_policies(self):
        self.put("logs")
        self.put("other")
        self.put("earlier")
        self.client.indices.create(index="one")
        self.client.indices.create(index="two")
        none = self.explain("one")
        self.assertEqual(none["total_managed_indices"], 0)
        self.assertIsNone(none["one"]["index.plugins.index_state_management.policy_id"])
        body = {"policy_id": "logs"}
        added = self.raw("POST", "/_plugins/_ism/add/one", body=body)
        self.assertEqual(added, {"updated_indices": 1, "failures": False, "failed_indices": []})
        again = self.raw("POST", "/_plugins/_ism/add/*", body=body)
        self.assertEqual((again["updated_indices"], again["failures"]), (1, True))
        self.assertEqual(again["failed_indices"][0]["index_name"], "one")
        self.assertIn("already has a policy", again["failed_indices"][0]["reason"])
        shown = self.explain("one,two")
        self.assertEqual(shown["total_managed_indices"], 2)
        self.assertEqual(shown["one"]["policy_id"], "logs")
        self.assertTrue(shown["one"]["enabled"])
        self.raw("POST", "/_plugins/_ism/remove/two")
        self.raw("POST", "/_plugins/_ism/add/two", body={"policy_id": "earlier"})
        managed = lambda **asked: [name for name in self.raw("GET", "/_plugins/_ism/explain", params=asked) if name in ("one", "two")]
        self.assertEqual(managed(sortField="managed_index.index", queryString="* -.ds*"), ["one", "two"])
        self.assertEqual(managed(sortField="managed_index.policy_id"), ["two", "one"])
        self.assertEqual(managed(sortField="managed_index.policy_id", sortOrder="desc"), ["one", "two"])
        self.assertEqual(managed(queryString="* -o*"), ["two"])
        self.raw("POST", "/_plugins/_ism/change_policy/two", body={"policy_id": "logs"})
        change = {"policy_id": "other", "state": "gone"}
        self.assertEqual(
            self.raw("POST", "/_plugins/_ism/change_policy/one", body=change)["updated_indices"], 1
        )
        failed = self.raw("POST", "/_plugins/_ism/retry/one")["failed_indices"]
        self.assertIn("not in failed state", failed[0]["reason"])
        for path, body, status in [
            ("add/one", {"policy_id": "none"}, 404),
            ("change_policy/one", {"policy_id": "logs", "state": "none"}, 400),
            ("add/one", {}, 400),
            ("add", {"policy_id": "logs"}, 400),
            ("add/missing", {"policy_id": "logs"}, 404),
        ]:
            with self.subTest(path=path, body=body), self.refused(status):
                self.raw("POST", f"/_plugins/_ism/{path}", body=body)
        self.restart()
        self.assertEqual(self.explain("*")["total_managed_indices"], 2)
        removed = self.raw("POST", "/_plugins/_ism/remove/*")
        self.assertEqual(removed["updated_indices"], 2)
        everything = self.raw("GET", "/_plugins/_ism/explain")
        self.assertEqual(everything, {"total_managed_indices": 0})

    def test_templates_of_policies_choose_new_indexes(self):
        self.client.indices.create(index="log-old")
        self.put("logs", policy(ism_template=[{"index_patterns": ["log-*"], "priority": 7}]))
        with self.refused(400, "illegal_argument_exception", "different priority than 7"):
            self.put("clash", policy(ism_template={"index_patterns": ["*-x"], "priority": 7}))
        self.client.indices.create(index="log-new")
        self.assertEqual(self.explain("log-new")["log-new"]["policy_id"], "logs")
        self.assertEqual(self.explain("log-old")["total_managed_indices"], 0)
        wanted = {"filter": {"policy_id": "none"}}
        found = self.raw("POST", "/_plugins/_ism/explain/log-*", body=wanted)
        self.assertEqual(found, {"total_managed_indices": 0})
        self.client.indices.delete(index="log-new")
        self.assertEqual(self.raw("GET", "/_plugins/_ism/explain"), {"total_managed_indices": 0})

    def test_how_often_the_job_runs_is_checked(self):
        name = "plugins.index_state_management.job_interval"
        with self.refused(400, "illegal_argument_exception", "must be >= 1"):
            self.client.cluster.put_settings(body={"persistent": {name: 0}})
        self.client.cluster.put_settings(body={"transient": {name: 1}})
