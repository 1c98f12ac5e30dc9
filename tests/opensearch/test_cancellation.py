"""Every request ends: by its time, by its client's going, by `_cancel`, by the server's stop, and by what bounds its work.

The long search looks through the text of every document for each of many phrases, as the field keeps no positions: minutes of
work, which no request here waits for."""

import json
import socket
import threading
import time

from opensearchpy.exceptions import TransportError

from .base import ClewTest
from .clew_server import CUT_OFF

# A bound for what does not end; it is less than the long search takes.
SECONDS_MAX = 60
WORDS = 40
DOCUMENTS = 200
WORDS_OF_A_TEXT = 4_000
PHRASES = [f"w{a} w{b}" for a in range(WORDS) for b in range(WORDS) if a != b][:1_000]


def long_query():
    """Phrases that no document has: between two of these words there is always another one."""
    return {"bool": {"should": [{"match_phrase": {"text": phrase}} for phrase in PHRASES]}}


class CancellationTest(ClewTest):
    env = {"CLEW_ENGINE__SEARCH_THREADS": "1"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fill(cls.client)

    def setUp(self):
        # The documents are written once, for all tests.
        pass

    @staticmethod
    def fill(client):
        client.indices.create(
            index="long",
            body={"mappings": {"properties": {"text": {"type": "match_only_text"}}}},
        )
        text = " and ".join(f"w{n % WORDS}" for n in range(WORDS_OF_A_TEXT))
        lines = []
        for _ in range(DOCUMENTS):
            lines += [{"index": {}}, {"text": text}]
        reply = client.bulk(index="long", body=lines, refresh=True, request_timeout=120)
        assert not reply["errors"]

    def begin(self, method=None, path="/long/_search", body=None):
        """Sends a request from another thread; what comes of it is put into a list when it does."""
        outcome = []

        def send():
            client = self.server.client()
            try:
                outcome.append(
                    client.transport.perform_request(
                        method or "POST", path, body=body or {"query": long_query()},
                        headers={"X-Opaque-Id": "the long one"},
                    )
                )
            except TransportError as error:
                outcome.append(error)
            finally:
                client.close()

        thread = threading.Thread(target=send)
        thread.start()
        self.addCleanup(thread.join)
        return thread, outcome

    def running(self, actions="*search", **params):
        nodes = self.raw(
            "GET", "/_tasks", params={"actions": actions, "detailed": "true", **params}
        )["nodes"]
        return {name: task for node in nodes.values() for name, task in node["tasks"].items()}

    def eventually(self, what):
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            if found := what():
                return found
            time.sleep(0.01)
        return self.fail("it did not come about")

    def assert_thread_is_free(self):
        begun = time.monotonic()
        # Sorted, so that the search takes a place on the one thread.
        body = {"query": {"match_all": {}}, "sort": ["_doc"]}
        reply = self.client.search(index="long", body=body, request_timeout=SECONDS_MAX)
        self.assertEqual(len(reply["hits"]["hits"]), 10)
        self.assertLess(time.monotonic() - begun, SECONDS_MAX)

    def test_the_time_of_a_search_is_kept(self):
        # In the path, since the client keeps a parameter of this name to itself.
        for path, body in [("/long/_search?timeout=50ms", {}), ("/long/_search", {"timeout": "50ms"})]:
            reply = self.raw("POST", path, {"query": long_query(), **body})
            self.assertTrue(reply["timed_out"])
            self.assertLess(reply["took"], 1000 * SECONDS_MAX)
        self.assert_thread_is_free()

    def test_what_was_found_in_time_is_shown_in_part(self):
        # Each of these finds its hits at once, and takes longer than it may to show what it is asked to.
        marked = {"query": {"match_all": {}}, "size": DOCUMENTS, "_source": False, "highlight": {
            "highlight_query": long_query(), "fields": {"text": {"number_of_fragments": 1000}}}}
        spelled = {"size": 0, "suggest": {"text": " ".join(f"v{n}x" for n in range(20_000)), "s": {"term": {
            "field": "text", "suggest_mode": "always", "prefix_length": 0, "min_word_length": 1}}}}
        for body in (marked, spelled):
            begun = time.monotonic()
            reply = self.raw("POST", "/long/_search?timeout=1ms", body)
            self.assertTrue(reply["timed_out"], body)
            self.assertLess(time.monotonic() - begun, SECONDS_MAX)
        self.assertEqual(reply["suggest"], {"s": []})
        self.assert_thread_is_free()

    def test_the_cluster_says_when_searches_end_that_do_not_say_so(self):
        def put(name, value):
            self.client.cluster.put_settings(body={"transient": {name: value}})

        timeout, cancel = "search.default_search_timeout", "search.cancel_after_time_interval"
        self.addCleanup(put, timeout, None)
        self.addCleanup(put, cancel, None)
        put(timeout, "50ms")
        self.assertTrue(self.client.search(index="long", body={"query": long_query()})["timed_out"])
        put(timeout, None)
        put(cancel, "50ms")
        reason = "cancelled task with reason: Cancellation timeout of 50ms is expired"
        of_templates = [{}, {"source": {"query": long_query()}}]
        for ask, body in (
            (self.client.search, {"query": long_query()}), (self.client.count, {"query": long_query()}),
            (self.client.msearch_template, of_templates),
        ):
            with self.refused(400, "task_cancelled_exception", reason):
                ask(index="long", body=body)
        put(cancel, None)
        with self.refused(400, "task_cancelled_exception", reason.replace("50ms", "1s")):
            self.raw(
                "POST", "/long/_search", {"query": long_query()},
                params={"cancel_after_time_interval": "1s"},
            )
        lines = [{"cancel_after_time_interval": "50ms"}, {"query": long_query()}, {}, {"size": 0}]
        late, other = self.client.msearch(index="long", body=lines)["responses"]
        self.assertEqual((late["status"], late["error"]["type"]), (400, "task_cancelled_exception"))
        self.assertIn("Cancellation timeout of 50ms is expired", late["error"]["reason"])
        self.assertEqual(other["status"], 200)
        with self.refused(400, "illegal_argument_exception"):
            put(timeout, "soon")
        self.assert_thread_is_free()

    def test_a_search_is_listed_and_cancelled(self):
        _, outcome = self.begin()
        tasks = self.eventually(self.running)
        (name, task), = tasks.items()
        self.assertEqual(task["action"], "indices:data/read/search")
        self.assertTrue(task["cancellable"])
        self.assertFalse(task["cancelled"])
        self.assertEqual(task["headers"], {"X-Opaque-Id": "the long one"})
        self.assertTrue(task["description"].startswith("indices[long], search_type["))
        self.assertEqual(self.running(actions="*bulk"), {})
        self.assertFalse(self.client.tasks.get(task_id=name)["completed"])
        reply = self.raw("POST", f"/_tasks/{name}/_cancel")
        (node,) = reply["nodes"].values()
        self.assertTrue(node["tasks"][name]["cancelled"])
        error = self.eventually(lambda: outcome)[0]
        self.assertEqual(error.status_code, 400)
        self.assertEqual(error.info["error"]["type"], "task_cancelled_exception")
        self.assertEqual(
            error.info["error"]["reason"], "cancelled task with reason: by user request"
        )
        # It may be there for a moment after its answer.
        self.eventually(lambda: not self.running())
        with self.refused(404, "resource_not_found_exception"):
            self.raw("POST", f"/_tasks/{name}/_cancel")
        (failure,) = self.raw("POST", "/_tasks/other:1/_cancel")["node_failures"]
        self.assertEqual((failure["node_id"], failure["caused_by"]["type"]), ("other", "no_such_node_exception"))
        self.assert_thread_is_free()

    def test_requests_are_cancelled_by_their_action(self):
        lines = json.dumps({"index": "long"}) + "\n" + json.dumps({"query": long_query()}) + "\n"
        others = {
            "indices:data/read/msearch": ("/_msearch", lines * 3),
            "indices:data/read/search": ("/long/_count", {"query": long_query()}),
            "cluster:admin/opensearch/sql": (
                "/_plugins/_sql",
                {"query": "SELECT * FROM long WHERE "
                 + " OR ".join(f"match_phrase(text, '{phrase}')" for phrase in PHRASES)},
            ),
        }
        for action, (path, body) in others.items():
            with self.subTest(action):
                _, outcome = self.begin(path=path, body=body)
                self.eventually(lambda: self.running(actions=action))
                self.raw("POST", "/_tasks/_cancel", params={"actions": f"*{action[-6:]}"})
                ended = self.eventually(lambda: outcome)[0]
                if isinstance(ended, dict):
                    # The searches of one request may all be over before it is.
                    kinds = {reply["error"]["type"] for reply in ended["responses"]}
                    self.assertEqual(kinds, {"task_cancelled_exception"})
                else:
                    self.assertEqual(ended.status_code, 400, ended)
                self.assert_thread_is_free()

    def test_a_write_to_all_matches_answers_with_what_it_did(self):
        thread, outcome = self.begin(path="/long/_delete_by_query")
        self.eventually(lambda: self.running(actions="*byquery"))
        self.raw("POST", "/_tasks/_cancel", params={"actions": "*byquery"})
        reply = self.eventually(lambda: outcome)[0]
        if isinstance(reply, dict):
            self.assertEqual((reply["canceled"], reply["deleted"]), ("by user request", 0))
        else:
            # Its query was still being read.
            self.assertEqual((reply.status_code, reply.error), (400, "task_cancelled_exception"))
        # As a task that nobody waits for.
        reply = self.raw(
            "POST", "/long/_delete_by_query", {"query": long_query()},
            params={"wait_for_completion": "false"},
        )
        self.raw("POST", f"/_tasks/{reply['task']}/_cancel")
        task = self.client.tasks.get(task_id=reply["task"], wait_for_completion=True)
        self.assertEqual(task["response"]["canceled"], "by user request")
        self.assert_thread_is_free()

    def test_a_search_ends_with_its_client(self):
        host, port = self.server.address.rsplit(":", 1)
        body = json.dumps({"query": long_query()})
        with socket.create_connection((host, int(port))) as connection:
            head = f"POST /long/_search HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            self.eventually(self.running)
        self.eventually(lambda: not self.running())
        self.assert_thread_is_free()

    def test_the_stop_of_the_server_ends_searches(self):
        self.begin()
        self.eventually(self.running)
        self.assertNotIn(CUT_OFF, self.server.stop())
        self.server.start()
        self.client.close()
        type(self).client = self.server.client()


class BoundedWorkTest(ClewTest):
    def test_an_expression_that_is_too_complex_is_refused(self):
        self.index_all("one", {"1": {"word": "user1"}})
        for huge in ["user.{0,500}.{0,500}9", "((a{1,100}){1,100}){1,100}"]:
            reason = f"failed to create query: Determinizing {huge} would require more than 10000 effort."
            queries = [
                {"regexp": {"word": huge}},
                {"query_string": {"query": f"/{huge}/", "default_field": "word"}},
                {"intervals": {"word": {"regexp": {"pattern": huge}}}},
                {"span_multi": {"match": {"regexp": {"word": huge}}}},
            ]
            for query in queries:
                # The work that it would be is told, and nobody waits for that.
                with self.refused(400) as caught:
                    self.client.search(index="one", body={"query": query}, request_timeout=SECONDS_MAX)
                self.assertIn(reason, json.dumps(caught.exception.info))
            # Over all fields a query string is lenient.
            self.assertEqual(self.ids("one", query={"query_string": {"query": f"word:/{huge}/"}}), [])
            aggs = {"words": {"terms": {"field": "word.keyword", "include": huge}}}
            with self.refused(400):
                self.client.search(index="one", body={"aggs": aggs})
        few = {"regexp": {"word": {"value": "user[0-9]{1,100}", "max_determinized_states": 10}}}
        with self.refused(400):
            self.client.search(index="one", body={"query": few})
        few["regexp"]["word"]["max_determinized_states"] = 1000
        self.assertEqual(self.ids("one", query=few), ["1"])

    def test_a_field_is_highlighted_up_to_a_length(self):
        text = "a fox " + "and a dog " * 110_000
        self.client.indices.create(
            index="texts", body={"settings": {"highlight.max_analyzed_offset": 2_000_000}}
        )
        self.index_all("texts", {"1": {"text": text}})
        body = {"query": {"match": {"text": "fox dog"}}, "highlight": {"fields": {"text": {}}}}

        def pieces(**options):
            body["highlight"]["fields"]["text"] = options
            hit = self.client.search(index="texts", body=body)["hits"]["hits"][0]
            return hit["highlight"]["text"]

        self.assertEqual(len(pieces()), 5)
        self.client.indices.put_settings(
            index="texts", body={"highlight.max_analyzed_offset": 1_000_000}
        )
        reason = (
            "The length of [text] field of [1] doc of [texts] index has exceeded [1000000] - maximum "
            "allowed to be analyzed for highlighting. This maximum can be set by changing the "
            "[index.highlight.max_analyzed_offset] index level setting. For large texts, indexing with "
            "offsets or term vectors is recommended!"
        )
        with self.refused(400) as caught:
            pieces()
        self.assertIn(reason, json.dumps(caught.exception.info))
        self.assertEqual(pieces(max_analyzer_offset=5), ["a <em>fox</em> and a dog and a dog and a dog and a dog and a dog and a dog and a dog and a dog and a dog and a"])
        with self.refused(400, "search_phase_execution_exception") as caught:
            pieces(max_analyzer_offset=1_000_001)
        self.assertIn("max_analyzer_offset has exceeded [1000000]", json.dumps(caught.exception.info))
