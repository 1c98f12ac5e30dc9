"""A server on the loopback that speaks `_bulk` as far as a collector needs it, remembers what came, and can fail on demand."""

import gzip
import http.server
import json
import random
import threading

# Ways in which a request goes wrong. The last two take the events and lose the reply.
FAILURES = ("unavailable", "too_many", "some_items", "hang_up", "lost_reply", "torn_reply")


class QuietServer(http.server.ThreadingHTTPServer):
    """Clients that are killed leave broken connections, which is no news."""

    daemon_threads = True

    def handle_error(self, *_):
        pass


class BulkServer:
    """Keeps documents by id; a context manager. With `failing`, that share of the requests goes wrong, chosen by the seed."""

    def __init__(self, seed=0, failing=0.0):
        self.random = random.Random(f"bulk/{seed}")
        self.failing = failing
        self.changed = threading.Condition()
        self.documents = {}
        # By id: the name of the action that was taken last, and what it says.
        self.actions = {}
        self.repeated = 0
        self.requests = 0
        # Messages in the order in which they were first seen in any request, also in those that failed.
        self.seen = {}
        self.wrong = []

    def __enter__(self):
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                server.answer(self)

            def log_message(self, *_):
                pass

        self.http = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def wait_for(self, count, seconds=120):
        """Waits until that many documents are there; returns whether they are."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.documents) >= count, seconds)

    def wait_for_requests(self, more, seconds=120):
        """Waits for that many further requests, whatever becomes of them."""
        with self.changed:
            target = self.requests + more
            return self.changed.wait_for(lambda: self.requests >= target, seconds)

    def answer(self, handler):
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        if handler.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        lines = body.split(b"\n")
        events = [(*json.loads(action).popitem(), json.loads(document))
                  for action, document in zip(lines[0:-1:2], lines[1:-1:2], strict=True)]
        with self.changed:
            self.requests += 1
            for _, _, document in events:
                self.seen.setdefault(document["message"])
            failure = self.random.choice(FAILURES) if self.random.random() < self.failing else None
            status, reply = self.reply(events, failure)
            self.changed.notify_all()
        if failure in ("hang_up", "lost_reply"):
            handler.close_connection = True
            return
        if failure == "torn_reply":
            reply = reply[: len(reply) // 2]
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(reply)))
        handler.end_headers()
        handler.wfile.write(reply)

    def reply(self, events, failure):
        if failure == "unavailable":
            return 503, b"{}"
        if failure == "too_many":
            return 429, b"{}"
        if failure == "hang_up":
            return 200, b""
        items = [{action: {"_id": said["_id"], "status": self.take(action, said, document, failure)}}
                 for action, said, document in events]
        return 200, json.dumps({"took": 1, "errors": False, "items": items}).encode()

    def take(self, action, said, document, failure):
        if failure == "some_items" and self.random.random() < 0.3:
            return self.random.choice((429, 503))
        name = said["_id"]
        known = self.documents.get(name)
        if known is None or action == "index":
            self.documents[name] = document
            self.actions[name] = action, said
            return 201 if known is None else 200
        self.repeated += 1
        if known["message"] != document["message"]:
            self.wrong.append(f"id {name} was used for {known['message']!r} and {document['message']!r}")
        return 409
