"""A server that answers as little of OpenSearch's API as a load test needs, and some requests badly."""

import http.server
import json
import threading


class StubServer:
    """`answer(path)` gives the status of a request, or nothing for one that gets no answer, `is_there()` whether there is what
    is looked for; a context manager."""

    def __init__(self, answer, is_there=lambda: False):
        outer = self
        self.over = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                self.rfile.read(int(self.headers.get("content-length", 0)))
                status = (200 if is_there() else 404) if self.command == "HEAD" else answer(self.path)
                if status is None:
                    outer.over.wait()
                    self.close_connection = True
                    return
                body = {"version": {"number": "1"}, "count": 10**9, "hits": {"total": {"value": 1}, "hits": [{"_id": "0"}]}}
                told = b"" if self.command == "HEAD" else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_one

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()
