"""A real browser, on a page of another origin, tries to reach the server."""

import http.server
import json
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest
from urllib.parse import parse_qs, urlencode, urlsplit

from .base import LONG, HttpTest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Tells its own server what it saw, once everything has been tried on every target.
PAGE = """<!doctype html><title>page</title>
<iframe name=sink></iframe>
<form id=form method=post target=sink></form>
<script>
const json = {"Content-Type": "application/json"};
const attempts = {
  "get": ["/_cat/indices", {}],
  "no-cors get": ["/_cat/indices", {mode: "no-cors"}],
  "no-cors post": ["/kept/_close", {method: "POST", mode: "no-cors"}],
  "no-cors text": ["/kept/_doc", {method: "POST", mode: "no-cors", body: "{}"}],
  "json": ["/kept/_doc", {method: "POST", headers: json, body: "{}"}],
  "put": ["/made", {method: "PUT"}],
  "delete": ["/kept", {method: "DELETE"}],
};
async function run(target) {
  const seen = {};
  for (const [name, [path, options]] of Object.entries(attempts)) {
    try {
      const reply = await fetch(target + path, options);
      seen[name] = reply.type + " " + reply.status;
    } catch (error) {
      seen[name] = "failed";
    }
  }
  navigator.sendBeacon(target + "/kept/_close", "{}");
  const image = new Image();
  await new Promise(done => { image.onload = image.onerror = done; image.src = target + "/_flush"; });
  const sink = document.querySelector("iframe"), form = document.getElementById("form");
  form.action = target + "/kept/_close";
  await new Promise(done => { sink.onload = done; form.submit(); });
  return seen;
}
async function runAll() {
  const seen = {};
  for (const target of new URLSearchParams(location.search).getAll("target")) {
    seen[target] = await run(target);
  }
  await fetch("/seen?" + new URLSearchParams({seen: JSON.stringify(seen)}));
}
runAll();
</script>"""


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves the page to any name, and takes what it saw."""

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/seen":
            self.server.seen.append(json.loads(parse_qs(url.query)["seen"][0]))
            self.server.told.set()
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@unittest.skipUnless(CHROMIUM, "no Chromium is installed")
class ChromiumTest(HttpTest):
    def browse(self, url, pages):
        """Opens a page until it has told what it saw."""
        profile = tempfile.mkdtemp(prefix="clew-chromium-")
        self.addCleanup(shutil.rmtree, profile, ignore_errors=True)
        log = open(pathlib.Path(profile) / "log", "wb")
        self.addCleanup(log.close)
        browser = subprocess.Popen(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking",
             # Names of others lead here, as they would after rebinding.
             "--host-resolver-rules=MAP *.example 127.0.0.1",
             f"--user-data-dir={profile}", url],
            stdout=log, stderr=log,
        )
        try:
            if not pages.told.wait(timeout=4 * LONG):
                log.flush()
                text = pathlib.Path(log.name).read_text(errors="replace")
                self.fail(f"the page told nothing:\n{text[-4000:]}")
        finally:
            browser.terminate()
            browser.wait(timeout=LONG)

    def visit(self, targets):
        """What a page of another origin saw of these."""
        pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        pages.seen, pages.told = [], threading.Event()
        thread = threading.Thread(target=pages.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(pages.server_close)
        self.addCleanup(pages.shutdown)
        query = urlencode([("target", target) for target in targets])
        self.browse(f"http://evil.example:{pages.server_address[1]}/?{query}", pages)
        return pages.seen[0]

    def state(self):
        indices = self.json("GET", "/_cat/indices?format=json")
        return [(index["index"], index["status"], index["docs.count"]) for index in indices]

    def test_a_page_of_another_site_changes_and_sees_nothing(self):
        port = self.server.address.rsplit(":", 1)[1]
        self.json("PUT", "/kept", {})
        self.json("PUT", "/kept/_doc/1?refresh=true", {})
        before = self.state()
        # By its address, by the name of the machine, and by a name of the page's own that leads to it.
        targets = [f"http://{host}:{port}" for host in ["127.0.0.1", "localhost", "evil.example"]]
        for target, seen in self.visit(targets).items():
            for name in ["get", "json", "put", "delete"]:
                self.assertEqual(seen[name], "failed", (target, seen))
        self.json("POST", "/kept/_refresh")
        self.assertEqual(self.state(), before)
        # The browser did come to the server.
        for reason in ["origin", "host"]:
            self.assertGreater(self.metric("http_requests_refused_total", reason=reason), 1)
