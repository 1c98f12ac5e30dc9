"""What a page of another site may make a browser send, and what becomes of it."""

import json

from .base import HttpTest

EVIL = "Origin: http://evil.example"
FORM = "Content-Type: application/x-www-form-urlencoded"
TEXT = "Content-Type: text/plain;charset=UTF-8"
JSON = "Content-Type: application/json"


class BrowserTest(HttpTest):
    def setUp(self):
        self.json("PUT", "/kept", {})
        self.addCleanup(self.json, "DELETE", "/kept")

    def state(self):
        indices = self.json("GET", "/_cat/indices?format=json")
        return [(index["index"], index["status"]) for index in indices]

    def test_pages_of_other_sites_change_nothing(self):
        before = self.state()
        for method, path, headers, body, expected in [
            ("POST", "/kept/_close", [EVIL, FORM], b"", 403),
            ("POST", "/kept/_close", [EVIL], b"", 403),
            ("POST", "/kept/_close", [FORM], b"", 406),
            ("POST", "/kept/_close", [TEXT], b"", 406),
            ("POST", "/kept/_close", ["Origin: null"], b"", 403),
            ("POST", "/kept/_close", ["Sec-Fetch-Site: cross-site"], b"", 403),
            ("POST", "/kept/_close", ["Sec-Fetch-Site: same-site"], b"", 403),
            ("POST", "/kept/_close", ["Referer: http://evil.example/"], b"", 403),
            ("POST", "/kept/_doc", [EVIL, TEXT], b"{}", 403),
            ("POST", "/kept/_doc", [TEXT], b"{}", 406),
            ("PUT", "/other", [EVIL, JSON], b"{}", 403),
            ("DELETE", "/kept", [EVIL], b"", 403),
            ("OPTIONS", "/kept", [EVIL, "Access-Control-Request-Method: DELETE"], b"", 403),
            ("GET", "/_search", [EVIL], b"", 403),
            ("GET", "/_health", [EVIL], b"", 403),
            ("GET", "/_metrics", [EVIL], b"", 403),
        ]:
            with self.subTest(f"{method} {path} {headers}"):
                status, answered, text = self.ask(method, path, headers, body)
                self.assertEqual(status, expected, text)
                self.assertEqual(json.loads(text)["status"], expected)
                self.assertNotIn("access-control-allow-origin", answered)
        self.assertEqual(self.state(), before)

    def test_the_server_has_a_name(self):
        port = self.server.address.rsplit(":", 1)[1]
        for path in ["/", "/_health", "/_metrics", "/kept/_search"]:
            for host, expected in [
                (f"localhost:{port}", 200),
                (f"127.0.0.1:{port}", 200),
                (f"[::1]:{port}", 200),
                ("127.0.0.1", 200),
                (f"evil.example:{port}", 403),
                (f"127.0.0.1.evil.example:{port}", 403),
            ]:
                with self.subTest(f"{host} {path}"):
                    status, _, text = self.ask("GET", path, host=host)
                    self.assertEqual(status, expected, text)
                    if expected == 403:
                        self.assertIn("http.hosts_allowed", text)

    def test_clients_that_are_no_browsers_notice_nothing(self):
        for method, path, headers, body, expected in [
            ("POST", "/kept/_refresh", [], b"", 200),
            ("POST", "/kept/_doc", [JSON], b"{}", 201),
            ("POST", "/kept/_doc", [], b"{}", 201),
            ("POST", "/_bulk", ["Content-Type: application/x-ndjson"],
             b'{"index":{"_index":"kept"}}\n{}\n', 200),
            ("POST", "/kept/_search", ["Content-Type: application/vnd.elasticsearch+json"], b"{}", 200),
            ("GET", "/kept/_search", [JSON], b"{}", 200),
            ("DELETE", "/none", [], b"", 404),
        ]:
            with self.subTest(f"{method} {path} {headers}"):
                status, _, text = self.ask(method, path, headers, body)
                self.assertEqual(status, expected, text)

    def test_the_servers_own_pages_are_at_home(self):
        own = f"Origin: http://{self.server.address}"
        headers = [own, "Sec-Fetch-Site: same-origin", JSON]
        status, _, text = self.ask("POST", "/kept/_search", headers, b"{}")
        self.assertEqual(status, 200, text)

    def test_refusals_are_counted(self):
        before = self.metric("http_requests_refused_total", reason="origin")
        self.ask("GET", "/", [EVIL])
        after = self.metric("http_requests_refused_total", reason="origin")
        self.assertEqual(after, before + 1)


class CorsTest(HttpTest):
    env = {
        "CLEW_HTTP__CORS__ENABLED": "true",
        "CLEW_HTTP__CORS__ALLOW_ORIGIN": "https://app.example,http://other.example:8080",
        "CLEW_HTTP__CORS__EXPOSE_HEADERS": "x-clew-glsn",
        "CLEW_HTTP__HOSTS_ALLOWED": "search.example,*.lan",
    }
    page = "Origin: https://app.example"

    def test_a_page_that_is_allowed_asks_first(self):
        asks = [self.page, "Access-Control-Request-Method: PUT",
                "Access-Control-Request-Headers: content-type"]
        status, headers, text = self.ask("OPTIONS", "/a", asks)
        self.assertEqual((status, text), (200, ""))
        self.assertEqual(headers["access-control-allow-origin"], "https://app.example")
        self.assertEqual(headers["access-control-allow-methods"], "OPTIONS,HEAD,GET,POST,PUT,DELETE")
        self.assertEqual(headers["access-control-allow-headers"],
                         "X-Requested-With,Content-Type,Content-Length")
        self.assertEqual(headers["access-control-max-age"], "1728000")
        self.assertEqual(headers["vary"], "origin")

    def test_and_sees_answers_and_errors(self):
        for path, expected in [("/", 200), ("/_health", 200), ("/none/_search", 404)]:
            status, headers, text = self.ask("GET", path, [self.page, "Sec-Fetch-Site: cross-site"])
            self.assertEqual(status, expected, text)
            self.assertEqual(headers["access-control-allow-origin"], "https://app.example")
            self.assertEqual(headers["access-control-expose-headers"], "x-clew-glsn")

    def test_others_do_not(self):
        for origin in ["http://app.example", "https://app.example.evil.example", "null"]:
            status, headers, _ = self.ask("GET", "/", [f"Origin: {origin}"])
            self.assertEqual(status, 403)
            self.assertNotIn("access-control-allow-origin", headers)

    def test_names_of_the_configuration_are_names(self):
        for host, expected in [("search.example", 200), ("a.lan:1", 200), ("evil.example", 403)]:
            self.assertEqual(self.ask("GET", "/", host=host)[0], expected)
