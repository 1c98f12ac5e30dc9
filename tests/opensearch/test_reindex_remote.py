"""Documents of other clusters: `_reindex` with `source.remote`, from another Clew and from what answers as others do."""

import base64
import gzip
import http.server
import json
import pathlib
import ssl
import tempfile
import threading
import unittest
import urllib.parse

from opensearchpy.exceptions import TransportError

from collect.certificates import WHY_NOT, Authority

from .base import ClewTest
from .clew_server import ClewServer

PAGE = {"size": 10}


class Elsewhere:
    """Answers as a cluster with one index would, in the words of its version, and notes what it was asked; a context manager."""

    def __init__(self, documents, version="8.11.3", files=None):
        self.documents, self.version, self.files = documents, version, files
        self.asked = []
        self.open = {}
        self.cleared = threading.Event()
        # Answers of its own by path, each for one request: status, headers, body.
        self.instead = {}
        self.waits = threading.Event()
        self.waits.set()

    def __enter__(self):
        elsewhere = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                path, _, query = self.path.partition("?")
                asked = json.loads(body) if body else None
                elsewhere.asked.append((self.command, path, dict(urllib.parse.parse_qsl(query)), asked, dict(self.headers)))
                elsewhere.waits.wait(60)
                status, headers, told = elsewhere.answer(self.command, path, dict(urllib.parse.parse_qsl(query)), asked)
                if "gzip" in self.headers.get("accept-encoding", "") and "content-encoding" not in headers:
                    told, headers = gzip.compress(told), {**headers, "content-encoding": "gzip"}
                self.send_response(status)
                for name, value in {"content-length": len(told), **headers}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(told)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if self.files:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.files)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"{'https' if self.files else 'http'}://127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.waits.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method, path, params, body):
        if self.instead.get(path):
            return self.instead[path].pop(0)
        told = self.whole(method, path, params, body)
        return 200, {"content-type": "application/json; charset=UTF-8"}, json.dumps(told).encode()

    def whole(self, method, path, params, body):
        if path == "/":
            return {"name": "old", "version": {"number": self.version}}
        if method == "DELETE":
            self.cleared.set()
            return {"succeeded": True}
        if path != "/_search/scroll":
            self.open["s"] = (list(self.documents.items()), int(params["size"]))
        left, size = self.open["s"]
        self.open["s"] = (left[size:], size)
        hits = [{"_index": "old", "_type": "_doc", "_id": key, "_version": 3, "_source": source}
                for key, source in left[:size]]
        total = len(self.documents)
        total = total if self.version.startswith("6") else {"value": total, "relation": "eq"}
        return {"_scroll_id": "s", "timed_out": False, "_shards": {"failed": 0}, "hits": {"total": total, "hits": hits}}

    def remote(self, **more):
        return {"host": self.url, **more}


class ReindexFromRemote(ClewTest):
    env = {"CLEW_REINDEX__REMOTE__ALLOWLIST": "127.0.0.1:*, nobody.invalid:9200"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other = cls.enterClassContext(ClewServer())
        cls.there = cls.other.client()
        cls.addClassCleanup(cls.there.close)

    def setUp(self):
        super().setUp()
        self.there.indices.delete(index="*")

    def fill(self, count=25):
        lines = []
        for number in range(count):
            lines += [{"index": {"_index": "old", "_id": str(number), "routing": f"r{number % 3}"}}, {"n": number, "t": f"fox {number}"}]
        self.assertFalse(self.there.bulk(body=lines, refresh=True)["errors"])

    def copy(self, remote=None, source=None, dest=None, params=None, **more):
        remote = remote or {"host": self.other.url}
        body = {"source": {"index": "old", "remote": remote, **(source or {})}, "dest": {"index": "new", **(dest or {})}, **more}
        return self.client.reindex(body=body, params={"refresh": "true", **(params or {})})

    def counts(self, answer, **wanted):
        self.assertEqual(answer | wanted, answer)

    def elsewhere(self, documents=None, **options):
        documents = documents if documents is not None else {str(n): {"n": n} for n in range(25)}
        return self.enterContext(Elsewhere(documents, **options))

    def test_documents_come_whole_with_their_routing_and_their_versions(self):
        self.fill()
        self.there.index(index="old", id="7", routing="r1", body='{"n": 7.50, "big": 1234567890123456789, "t": "é"}', refresh=True)
        done = self.copy(source=PAGE, dest={"version_type": "external"})
        self.counts(done, total=25, created=25, batches=3, failures=[], timed_out=False)
        hits = self.client.search(index="new", body={"size": 100, "version": True})["hits"]["hits"]
        self.assertEqual({hit["_id"]: (hit["_routing"], hit["_version"]) for hit in hits},
                         {str(n): (f"r{n % 3}", 2 if n == 7 else 1) for n in range(25)})
        seven = self.raw("GET", "/new/_source/7", params={"routing": "r1"})
        self.assertEqual(seven, {"n": 7.5, "big": 1234567890123456789, "t": "é"})
        self.until(lambda: self.there.nodes.stats(metric="indices", index_metric="search")["nodes"].popitem()[1]
                   ["indices"]["search"]["scroll_current"], 0)

    def test_what_is_copied_is_said_to_the_other_cluster(self):
        self.fill()
        source = {"query": {"range": {"n": {"gte": 10}}}, "_source": ["n"], "sort": [{"n": "desc"}], "size": 4}
        self.counts(self.copy(source=source, max_docs=6), total=6, created=6, batches=2)
        found = self.client.search(index="new", body={"sort": "n", "size": 100})["hits"]["hits"]
        self.assertEqual([hit["_source"] for hit in found], [{"n": n} for n in range(19, 25)])

    def test_scripts_pipelines_conflicts_and_kinds_of_writes_are_those_of_every_copy(self):
        self.fill(4)
        self.client.ingest.put_pipeline(id="p", body={"processors": [{"set": {"field": "from", "value": "old"}}]})
        self.addCleanup(self.client.ingest.delete_pipeline, id="p")
        script = {"source": "if (ctx._source.n == 3) { ctx.op = 'noop' } else { ctx._source.n += 10 }"}
        self.counts(self.copy(script=script, dest={"pipeline": "p"}), total=4, created=3, noops=1)
        self.assertEqual(self.client.get(index="new", id="1", routing="r1")["_source"], {"n": 11, "t": "fox 1", "from": "old"})
        done = self.copy(dest={"op_type": "create"}, conflicts="proceed")
        self.counts(done, total=4, created=1, version_conflicts=3, failures=[])
        with self.refused(409):
            self.copy(dest={"op_type": "create"})

    def test_a_copy_goes_on_as_a_task_and_is_slowed_down_and_cancelled(self):
        there = self.elsewhere()
        params = {"wait_for_completion": "false", "requests_per_second": "0.01", "refresh": "false"}
        remote = there.remote(username="me", password="secret")
        task = self.copy(remote, source=PAGE, params=params)["task"]
        shown = lambda: self.client.tasks.get(task_id=task)["task"]
        self.until(lambda: shown().get("status", {}).get("created"), 10)
        self.assertEqual(shown()["status"]["total"], 25)
        host, port = there.url.removeprefix("http://").split(":")
        self.assertEqual(shown()["description"],
                         f'reindex from [host={host} port={port} query={{"match_all":{{}}}} username=me password=<<>>][old] to [new]')
        # The other cluster keeps the scroll for the time that the next page is held up.
        self.assertEqual(there.asked[1][2]["scroll"], f"{300_000 + 1_000_000}ms")
        self.client.tasks.cancel(task_id=task)
        done = self.client.tasks.get(task_id=task, wait_for_completion=True)
        self.counts(done["response"], canceled="by user request", created=10)
        self.assertTrue(there.cleared.wait(60))

    def test_who_ends_a_copy_does_not_wait_for_the_other_cluster(self):
        there = self.elsewhere()
        there.waits.clear()
        task = self.copy(there.remote(), params={"wait_for_completion": "false"})["task"]
        self.until(lambda: len(there.asked), 1)
        self.client.tasks.cancel(task_id=task)
        done = self.client.tasks.get(task_id=task, wait_for_completion=True)
        self.counts(done["response"], canceled="by user request", total=0)

    def test_each_version_is_asked_in_its_own_way(self):
        for version, asks in (("6.2.4", False), ("6.8.23", True), ("7.17.0", True), ("8.15.0", True)):
            there = self.elsewhere(version=version)
            self.counts(self.copy(there.remote(), source=PAGE), total=25, batches=3)
            (_, root, *_), (method, path, params, body, headers), (_, scroll, _, next_page, _) = there.asked[:3]
            self.assertEqual((root, method, path, scroll), ("/", "POST", "/old/_search", "/_search/scroll"))
            self.assertEqual("allow_partial_search_results" in params, asks, version)
            self.assertEqual(body, {"query": {"match_all": {}}, "_source": True, "sort": ["_doc"]})
            self.assertEqual(next_page, {"scroll": "300000ms", "scroll_id": "s"})
            self.assertEqual(headers["Content-Type"] if "Content-Type" in headers else headers["content-type"], "application/json")
            self.assertTrue(there.cleared.is_set())
        with self.refused(400, "illegal_argument_exception", "[1.7.6], must be at least [2.0.0]"):
            self.copy(self.elsewhere(version="1.7.6").remote())

    def test_who_asks_is_told_to_the_other_cluster(self):
        there = self.elsewhere({"1": {"a": 1}})
        self.copy(there.remote(username="me", password="s€cret", headers={"X-Tenant": "t"}))
        headers = [{name.lower(): value for name, value in asked[4].items()} for asked in there.asked]
        login = "Basic " + base64.b64encode("me:s€cret".encode()).decode()
        self.assertEqual({(each["authorization"], each["x-tenant"]) for each in headers}, {(login, "t")})

    def test_paths_are_put_in_front_and_names_are_escaped(self):
        there = self.elsewhere({})
        json_answer = {"content-type": "application/json"}
        there.instead["/es/"] = [(200, json_answer, b'{"version": {"number": "2.19.1", "distribution": "opensearch"}}')]
        page = b'{"timed_out": false, "hits": {"total": 0, "hits": []}}'
        there.instead["/es/a%2Fb%3F,logs-%2A/_search"] = [(200, json_answer, page)]
        self.counts(self.copy({"host": there.url + "/es/"}, source={"index": ["a/b?", "logs-*"]}), total=0)

    def test_a_page_that_is_refused_for_the_moment_is_asked_for_again(self):
        there = self.elsewhere()
        busy = (429, {"content-type": "application/json"}, b'{"error": "busy"}')
        there.instead["/_search/scroll"] = [busy, busy]
        done = self.copy(there.remote(), source=PAGE)
        self.counts(done, total=25, created=25, retries={"bulk": 0, "search": 2})

    def test_what_was_copied_before_a_page_failed_is_told_with_the_failure(self):
        there = self.elsewhere()
        told = b'{"error": {"type": "search_context_missing_exception", "reason": "gone"}, "status": 404}'
        gone = (404, {"content-type": "application/json"}, told)
        there.instead["/_search/scroll"] = [gone]
        with self.assertRaises(TransportError) as caught:
            self.copy(there.remote(), source=PAGE)
        self.assertEqual(caught.exception.status_code, 404)
        self.told_so(caught.exception.info)
        self.assertEqual(self.client.count(index="new")["count"], 10)
        there.instead["/_search/scroll"] = [gone]
        task = self.copy(there.remote(), source=PAGE, params={"wait_for_completion": "false"})["task"]
        self.told_so(self.client.tasks.get(task_id=task, wait_for_completion=True)["response"], created=0, updated=10)
        self.restart()
        self.told_so(self.client.tasks.get(task_id=task)["response"], created=0, updated=10)

    def told_so(self, answer, **counts):
        self.counts(answer, **{"total": 25, "created": 10, "updated": 0, "batches": 1, **counts})
        failure, = answer["failures"]
        self.assertEqual((failure["status"], failure["reason"]["type"]), (404, "status_exception"))

    def test_what_the_other_cluster_refuses_is_told_with_its_words_and_its_status(self):
        there = self.elsewhere()
        told = b'{"error": {"type": "security_exception", "reason": "who are you"}, "status": 401}'
        there.instead["/"] = [(401, {"content-type": "application/json"}, told)]
        with self.refused(401, "status_exception", 'body={"error": {"type": "security_exception"') as caught:
            self.copy(there.remote())
        within = caught.exception.info["error"]["caused_by"]
        self.assertEqual(within["type"], "response_exception")
        self.assertIn(f"method [GET], host [{there.url}], URI [/], status line [HTTP/1.1 401 Unauthorized]", within["reason"])
        # A redirection would lead to a place that nobody has allowed.
        there.instead["/"] = [(302, {"location": self.other.url}, b"")]
        with self.refused(500, "status_exception", "Couldn't extract status [302]."):
            self.copy(there.remote())
        there.instead["/"] = [(200, {"content-type": "text/html"}, b"<p>hello")]
        with self.refused(500, "exception", "Response didn't include Content-Type: body=<p>hello"):
            self.copy(there.remote())
        there.instead["/"] = [(200, {"content-type": "application/json"}, b"[1]")]
        with self.refused(500, "exception", "Error parsing the response, remote is likely not an OpenSearch instance"):
            self.copy(there.remote())
        with self.refused(404, "status_exception", "index_not_found_exception"):
            self.copy({"host": self.other.url}, source={"index": "nothing"})
        with self.refused(400, "status_exception", "unknown query [nonsense]"):
            self.copy({"host": self.other.url}, source={"index": "*", "query": {"nonsense": {}}})

    def test_a_copy_stops_at_what_the_other_cluster_could_not_look_through(self):
        there = self.elsewhere()
        failure = {"index": "old", "shard": 2, "node": "n", "reason": {"type": "io_exception", "reason": "gone"}}
        page = {"_scroll_id": "s", "timed_out": False, "_shards": {"failures": [failure]}, "hits": {"total": 1, "hits": []}}
        headers = {"content-type": "application/json"}
        there.instead["/old/_search"] = [(200, headers, json.dumps(page).encode())]
        with self.refused(500) as caught:
            self.copy(there.remote())
        told = {"index": "old", "shard": 2, "node": "n", "status": 500, "reason": {"type": "runtime_exception", "reason": "io_exception: gone"}}
        self.assertEqual(caught.exception.info["failures"], [told])
        page |= {"timed_out": True, "_shards": {}}
        there.instead["/old/_search"] = [(200, headers, json.dumps(page).encode())]
        self.counts(self.copy(there.remote()), timed_out=True, created=0)

    def test_answers_have_bounds(self):
        there = self.elsewhere()
        bomb = gzip.compress(bytes(101 << 20), 1)
        there.instead["/old/_search"] = [(200, {"content-type": "application/json", "content-encoding": "gzip"}, bomb)]
        with self.refused(400, "illegal_argument_exception", "Remote responded with a chunk that was too large. Use a smaller batch size."):
            self.copy(there.remote())
        hit = {"_index": "old", "_id": "1", "_source": {}}
        page = {"_scroll_id": "s", "timed_out": False, "hits": {"total": 1, "hits": [hit] * 10_001}}
        there.instead["/old/_search"] = [(200, {"content-type": "application/json"}, json.dumps(page).encode())]
        with self.refused(500, "exception", "Error parsing the response"):
            self.copy(there.remote())
        there.waits.clear()
        with self.refused(500, "socket_timeout_exception", f"timeout on connection to [{there.url}]"):
            self.copy(there.remote(socket_timeout="10ms"))

    def test_nobody_there_is_told(self):
        there = Elsewhere({})
        with there:
            url = there.url
        with self.refused(500, "connect_exception", f"Connection refused [{url}]"):
            self.copy({"host": url})
        with self.refused(500, "unknown_host_exception", "nobody.invalid"):
            self.copy({"host": "http://nobody.invalid:9200"})

    def test_what_a_request_may_not_say_is_refused(self):
        host = self.other.url
        for remote, source, params, kind, reason in [
            ({"host": "http://localhost:9200"}, {}, {}, "illegal_argument_exception",
             "[localhost:9200] not allowlisted in reindex.remote.allowlist"),
            ({"host": host}, {}, {"slices": "2"}, "action_request_validation_exception",
             "reindex from remote sources doesn't support slices > 1 but was [2]"),
            ({"host": host}, {}, {"slices": "auto"}, "action_request_validation_exception",
             "reindex from remote sources doesn't support slices > 1 but was [0]"),
            ({"host": host}, {"slice": {"id": 0, "max": 2}}, {}, "action_request_validation_exception",
             "reindex from remote sources doesn't support source.slice but was"),
            ({"host": host}, {"_source": False}, {}, "action_request_validation_exception",
             "_source:false is not supported in this context"),
        ]:
            with self.subTest(reason=reason), self.refused(400, kind, reason):
                self.copy(remote, source=source, params=params)
        for remote, reason in [
            ({"x": 1}, "[host] must be specified to reindex from a remote cluster"),
            ({"host": "127.0.0.1:9200"}, "[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [127.0.0.1:9200]"),
            ({"host": "http://127.0.0.1"}, "[host] must be of the form"),
            ({"host": host, "x": 1}, "Unsupported fields in [remote]: [x]"),
            ({"host": host, "headers": 1}, "Expected [headers] to be an object containing strings but was [1]"),
            ({"host": host, "socket_timeout": "soon"}, "failed to parse"),
        ]:
            with self.subTest(reason=reason), self.refused(400, "x_content_parse_exception", "[reindex] failed to parse field [source]") as caught:
                self.copy(remote)
            self.assertIn(reason, caught.exception.info["error"]["caused_by"]["reason"])
        with self.refused(400, reason="not dynamically updateable"):
            self.client.cluster.put_settings(body={"transient": {"reindex.remote.allowlist": "a:9"}})


class ReindexFromNowhere(ClewTest):
    def test_no_place_is_allowed_that_is_not_named(self):
        with self.refused(400, "illegal_argument_exception", "[127.0.0.1:9200] not allowlisted in reindex.remote.allowlist"):
            self.client.reindex(body={"source": {"index": "a", "remote": {"host": "http://127.0.0.1:9200"}}, "dest": {"index": "b"}})

    def test_all_places_are_not_allowed_at_once(self):
        server = ClewServer(env={"CLEW_REINDEX__REMOTE__WHITELIST": "*"})
        self.addCleanup(server.kill)
        with self.assertRaisesRegex(RuntimeError, r"\[reindex.remote.whitelist\] is too wide: Refusing to start because allowlist"):
            self.enterContext(server)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class ReindexOverTls(unittest.TestCase):
    def test_a_cluster_is_trusted_by_the_authority_that_is_named(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        authority = Authority(folder)
        there = self.enterContext(Elsewhere({"1": {"a": 1}}, files=authority.issue("there")))
        env = {"CLEW_REINDEX__REMOTE__ALLOWLIST": "127.0.0.1:*"}
        body = {"source": {"index": "old", "remote": there.remote()}, "dest": {"index": "new"}}
        with ClewServer(env={**env, "CLEW_REINDEX__REMOTE__TLS__CA": str(pathlib.Path(authority.certificate))}) as server:
            client = server.client()
            self.assertEqual(client.reindex(body=body)["created"], 1)
            client.close()
        other = Authority(folder, "other")
        with ClewServer(env={**env, "CLEW_REINDEX__REMOTE__TLS__CA": str(other.certificate)}) as server:
            client = server.client()
            with self.assertRaisesRegex(Exception, "UnknownIssuer"):
                client.reindex(body=body)
            client.close()
