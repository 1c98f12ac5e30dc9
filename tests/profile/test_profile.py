"""Profiles of the real server under load, by its endpoints and by `clew profile`, read by the tools that people have."""

import contextlib
import datetime
import gzip
import http.server
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
import xml.dom.minidom

from opensearch.base import ClewTest
from opensearch.clew_server import CUT_OFF, ClewServer

GO = shutil.which("go")
WORDS = [f"word{number}" for number in range(500)]
# Names are found in a debug binary, which takes a busy machine a while.
WAIT_SECONDS_MAX = 600
# Of which shares are taken.
STACKS_MIN = 30


class Load(threading.Thread):
    """Writes and searches until the block ends, some rounds at least."""

    ROUNDS_MIN = 3

    def __init__(self, url):
        super().__init__(daemon=True)
        self.url = url
        self.ended = threading.Event()
        self.failed = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()
        if self.failed is not None:
            raise self.failed

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, data=body.encode(), headers={"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX) as answer:
            answer.read()

    def run(self):
        number = rounds = 0
        try:
            while not self.ended.is_set() or rounds < self.ROUNDS_MIN:
                rounds += 1
                lines = []
                for document in range(200):
                    number += 1
                    text = " ".join(WORDS[number * step % 500] for step in range(1, 30))
                    lines += ['{"index":{}}', json.dumps({"text": text, "number": number})]
                self.post("/load/_bulk", "\n".join(lines) + "\n")
                query = {"query": {"match": {"text": "word1 word2 word3"}}, "aggs": {"a": {"avg": {"field": "number"}}}}
                for _ in range(10):
                    self.post("/load/_search", json.dumps(query))
        except OSError as error:
            self.failed = error


class HotThreads:
    """Requests that watch threads for longer than any test takes, on their way in the block and answered at its end."""

    SECONDS = 60

    def __init__(self, url, number):
        self.url = url
        self.kinds = []
        self.threads = [threading.Thread(target=self.ask) for _ in range(number)]

    def post(self, path):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, method="POST"), timeout=WAIT_SECONDS_MAX) as answer:
            return json.load(answer)

    def ask(self):
        try:
            urllib.request.urlopen(f"{self.url}/_nodes/hot_threads?interval={self.SECONDS}s", timeout=WAIT_SECONDS_MAX).read()
        except urllib.error.HTTPError as error:
            self.kinds.append(json.load(error)["error"]["type"])
        except OSError as error:
            self.kinds.append(str(error))

    def running(self):
        with urllib.request.urlopen(f"{self.url}/_tasks?actions=*hot_threads", timeout=WAIT_SECONDS_MAX) as answer:
            nodes = json.load(answer)["nodes"]
        return sum(len(node["tasks"]) for node in nodes.values())

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        until = time.monotonic() + self.SECONDS
        while self.running() < len(self.threads):
            if time.monotonic() > until:
                raise AssertionError("the requests are not on their way")
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        for thread in self.threads:
            thread.join()


class ProfileTest(ClewTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="clew-profile-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def get(self, path):
        with urllib.request.urlopen(f"{self.server.url}/debug/pprof{path}", timeout=WAIT_SECONDS_MAX) as answer:
            return answer.read(), answer.headers["content-type"]

    def refused(self, path):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.get(path)
        error = json.load(caught.exception)
        return caught.exception.code, error["error"]["reason"]

    def command(self, *arguments, fails=False):
        done = subprocess.run(
            [os.environ["CLEW_BIN"], "profile", *map(str, arguments)], capture_output=True, text=True, timeout=WAIT_SECONDS_MAX)
        self.assertEqual(done.returncode != 0, fails, done.stderr)
        self.errors = done.stderr
        return done.stderr if fails else done.stdout

    def stacks(self, path):
        """Frames and numbers of collapsed stacks."""
        body, kind = self.get(path)
        self.assertTrue(kind.startswith("text/plain"))
        lines = [line.rpartition(" ") for line in body.decode().splitlines()]
        return [(stack.split(";"), int(value)) for stack, _, value in lines]

    def until(self, take, is_enough):
        """What is taken, once it is enough: a machine that stands still lets nothing be seen for a while."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not is_enough(taken := take()) and time.monotonic() < deadline:
            pass
        return taken

    def test_time_on_the_processors_is_told_by_function(self):
        stacks = []

        def take():
            stacks.extend(self.stacks("/profile?seconds=2&rate=199&format=collapsed"))
            return {frames[0] for frames, _ in stacks}

        with Load(self.server.url):
            threads = self.until(take, lambda threads: len(stacks) >= STACKS_MIN and any(name.startswith("tokio") for name in threads))
        total = sum(value for _, value in stacks)
        self.assertGreater(total, 0)
        self.assertTrue(any(name.startswith("tokio") for name in threads), threads)
        named = sum(value for frames, value in stacks if any(frame.startswith(("clew_", "<clew_")) for frame in frames))
        self.assertGreater(named / total, 0.5)
        whole = sum(value for frames, value in stacks if any("thread_start" in frame or "clew::main" in frame for frame in frames))
        self.assertGreater(whole / total, 0.7, "stacks reach the beginnings of their threads")

    def test_a_flame_graph_is_a_picture_with_its_script(self):
        with Load(self.server.url):
            for kind in ["profile", "offcpu", "heap"]:
                body, content = self.until(lambda: self.get(f"/{kind}?seconds=1&format=svg"), lambda taken: taken[0].count(b"<rect") > 10)
                self.assertEqual(content, "image/svg+xml")
                picture = xml.dom.minidom.parseString(body)
                self.assertGreater(len(picture.getElementsByTagName("rect")), 10, kind)
                self.assertEqual(len(picture.getElementsByTagName("script")), 1)

    def test_a_flame_graph_is_a_page_where_one_is_asked_for(self):
        body, content = self.get("/profile?seconds=1&format=html")
        self.assertEqual(content, "text/html; charset=utf-8")
        self.assertTrue(body.startswith(b"<!doctype html>"))
        self.assertIn(b'<meta charset="utf-8">', body)
        self.assertEqual((body.count(b"<svg"), body.count(b"</html>")), (1, 1))
        stacks = self.folder / "a.folded"
        stacks.write_text("a;b 1\na;c 1\n")
        self.command("diff", stacks, stacks, "-o", self.folder / "diff.html")
        self.assertIn("<!doctype html>", (self.folder / "diff.html").read_text())

    def test_every_format_says_which_way_it_was_taken(self):
        for path, told in [("/profile?seconds=1", "sampled 99 times a second"), ("/offcpu?seconds=1", "without signals"), ("/heap", "512 KiB")]:
            for form in ["pprof", "collapsed", "svg"]:
                url = f"{self.server.url}/debug/pprof{path}{'&' if '?' in path else '?'}format={form}&gc=1"
                with urllib.request.urlopen(url, timeout=WAIT_SECONDS_MAX) as answer:
                    self.assertIn(told, answer.headers["x-clew-profile"])
        # What was allocated since the start, of which something is sampled for certain: what is in use may be too little for that.
        arguments = [os.environ["CLEW_BIN"], "profile", "--url", self.server.url, "--mode", "heap", "--value", "alloc_space", "-o", str(self.folder / "heap.FOLDED")]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=WAIT_SECONDS_MAX)
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.folder / 'heap.FOLDED'}\n"))
        self.assertIn("512 KiB", done.stderr)
        self.assertNotIn("nothing was seen", done.stderr)

    def test_a_capture_of_a_server_that_did_nothing_says_so(self):
        # It may have done something; then its time is told.
        with urllib.request.urlopen(f"{self.server.url}/debug/pprof/profile?seconds=1&format=collapsed", timeout=WAIT_SECONDS_MAX) as answer:
            told, stacks = answer.headers["x-clew-profile"], answer.read()
        self.assertEqual("nothing was seen" in told, not stacks, told)

    def test_waits_are_told_and_which_way_found_them(self):
        longest = lambda stacks: max((value for _, value in stacks), default=0)
        stacks = self.until(lambda: self.stacks("/offcpu?seconds=1&format=collapsed"), lambda stacks: longest(stacks) > 0.9e9)
        # Threads that wait for work are blocked for all of the second.
        self.assertGreater(longest(stacks), 0.9e9)
        self.assertTrue(any("epoll" in frames[-1] or "epoll" in " ".join(frames) for frames, _ in stacks))
        body, _ = self.get("/offcpu?seconds=1")
        self.assertIn(b"without signals", gzip.decompress(body))
        try:
            body, _ = self.get("/offcpu?seconds=1&mode=exact")
            self.assertIn(b"every context switch", gzip.decompress(body))
        except urllib.error.HTTPError as error:
            self.assertEqual(error.code, 501)
            self.assertIn("CAP_PERFMON", json.load(error)["error"]["reason"])

    @unittest.skipIf(GO is None, "go is not installed")
    def test_pprof_reads_what_is_written(self):
        # Go builds its tools when they are first asked for: into its own cache, and for as long as that takes.
        pprof = subprocess.run([GO, "tool", "-n", "pprof"], capture_output=True, text=True, check=True).stdout.strip()
        with Load(self.server.url):
            for kind, value in [("profile", "cpu"), ("offcpu", "blocked"), ("heap", "inuse_space"), ("allocs", "alloc_space")]:
                path = self.folder / f"{kind}.pb.gz"
                path.write_bytes(self.get(f"/{kind}?seconds=1")[0])
                done = subprocess.run([pprof, "-top", "-nodecount=2000", path], capture_output=True, text=True, timeout=WAIT_SECONDS_MAX,
                                      env={**os.environ, "HOME": str(self.folder), "PPROF_TMPDIR": str(self.folder)})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("error", done.stderr.lower())
                self.assertIn(f"Type: {value}", done.stdout)
                self.assertIn("clew", done.stdout)
            # It fetches one itself, as of a program in Go.
            fetch = [pprof, "-raw", f"{self.server.url}/debug/pprof/profile?seconds=1"]
            done = subprocess.run(fetch, capture_output=True, text=True, timeout=WAIT_SECONDS_MAX,
                                  env={**os.environ, "HOME": str(self.folder), "PPROF_TMPDIR": str(self.folder)})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("samples/count cpu/nanoseconds", done.stdout)

    def test_the_heap_tells_what_holds_it(self):
        sizes = lambda stacks: sum(value for _, value in stacks)
        with Load(self.server.url):
            allocated = self.until(lambda: self.stacks("/heap?format=collapsed&value=alloc_space"), lambda stacks: sizes(stacks) > 1 << 24)
        self.assertGreater(sizes(allocated), 1 << 20)
        self.assertTrue(any("clew_" in frame for frames, _ in allocated for frame in frames))
        self.assertFalse(any("clew_profile::heap" in frames[-1] for frames, _ in allocated))

    def test_the_command_writes_files_and_draws_what_changed(self):
        url = ["--url", self.server.url, "--seconds", 1]
        old, new, graph = (self.folder / name for name in ["old.pb.gz", "new.folded", "graph.svg"])
        with Load(self.server.url):
            self.until(lambda: self.command(*url, "-o", old), lambda _: "nothing was seen" not in self.errors)
            self.assertEqual(self.command(*url, "-o", graph), f"{graph}\n")
            self.command(*url, "--mode", "off", "--value", "runqueue", "-o", self.folder / "off.txt")
            self.command(*url, "--mode", "heap", "-o", self.folder / "heap.svg")
        self.command(*url, "-o", self.folder / "idle.pb.gz")
        self.command("diff", old, self.folder / "idle.pb.gz", "-o", self.folder / "diff.svg")
        picture = xml.dom.minidom.parse(str(self.folder / "diff.svg"))
        self.assertIn("-&gt;", picture.toxml())
        # Collapsed stacks of samples are compared with the samples of a capture.
        self.command("--url", self.server.url, "--seconds", 1, "--value", "samples", "-o", self.folder / "idle.folded")
        if (self.folder / "idle.folded").stat().st_size:
            self.command("diff", old, self.folder / "idle.folded", "-o", self.folder / "diff.svg")
        # A profile of another kind is no state before or after.
        self.command(*url, "--mode", "heap", "-o", self.folder / "heap.pb.gz")
        told = self.command("diff", old, self.folder / "heap.pb.gz", "-o", self.folder / "no.svg", fails=True)
        self.assertIn("cannot be compared", told)
        # What is compared can be said.
        for number, value in enumerate(["alloc_space", "inuse_objects"]):
            drawn = self.folder / f"{number}.svg"
            self.command("diff", self.folder / "heap.pb.gz", self.folder / "heap.pb.gz", "--value", value, "-o", drawn)
            self.assertIn(f"{value} (", drawn.read_text())
        told = self.command("diff", old, old, "--value", "blocked", "-o", self.folder / "no.svg", fails=True)
        self.assertIn("there are samples, cpu", told)
        new.write_text("no stack\n")
        self.assertIn("line 1", self.command("diff", old, new, "-o", self.folder / "no.svg", fails=True))

    def test_what_cannot_be_is_told(self):
        for path, code, told in [
            ("/profile?seconds=0", 400, "from 1 to 300"),
            ("/profile?seconds=10000", 400, "from 1 to 300"),
            ("/offcpu?seconds=0", 400, "from 1 to 300"),
            ("/offcpu?seconds=10000", 400, "from 1 to 300"),
            ("/heap?seconds=0", 400, "from 1 to 300"),
            ("/allocs?seconds=10000", 400, "from 1 to 300"),
            ("/profile?seconds=1.5", 400, "no whole number"),
            ("/offcpu?mode=fast", 400, "sampled, or for offcpu exact"),
            ("/heap?value=none", 400, "inuse_space"),
            ("/profile?second=1", 400, "unknown parameter [second]"),
            ("/profile?rate=0", 400, "from 1 to 1000"),
            ("/profile?rate=5000", 400, "from 1 to 1000"),
            ("/profile?format=png", 400, "pprof, collapsed, svg or html"),
            ("/mutex", 404, "profile, offcpu, heap"),
        ]:
            with self.subTest(path=path):
                self.assertEqual(self.refused(path)[0], code)
                self.assertIn(told, self.refused(path)[1])
        url = ["--url", self.server.url, "--seconds", 1]
        self.assertIn("cannot write", self.command(*url, "-o", self.folder / "none" / "x.svg", fails=True))
        # What fails leaves no file, and none the poorer that was there.
        old = self.folder / "old.svg"
        old.write_text("kept")
        for output in [old, self.folder / "x.svg"]:
            self.command("--url", self.server.url, "--seconds", 0, "-o", output, fails=True)
            self.command("diff", old, old, "-o", output, fails=True)
        self.assertEqual((old.read_text(), [path.name for path in self.folder.iterdir()]), ("kept", ["old.svg"]))
        self.assertIn("no format by its name", self.command(*url, "-o", self.folder / "x.png", fails=True))
        for mode in ("on", "heap"):
            self.assertIn("--exact goes with --mode off", self.command(*url, "--exact", "--mode", mode, "-o", self.folder / "x.svg", fails=True))
        self.assertIn("cannot ask", self.command("--url", "http://127.0.0.1:1", "-o", self.folder / "x.svg", fails=True))
        self.assertIn("http:// alone", self.command("--url", "https://127.0.0.1:1", "-o", self.folder / "x.svg", fails=True))
        for seconds in [301, 2**64 - 1]:
            told = self.command("--url", self.server.url, "--seconds", seconds, "-o", self.folder / "x.svg", fails=True)
            self.assertIn("from 1 to 300", told)
            self.assertNotIn("panicked", told)

    def long_capture(self):
        """A connection on which a capture runs for five minutes."""
        host, port = self.server.address.rsplit(":", 1)
        while True:
            stream = socket.create_connection((host, int(port)))
            stream.sendall(b"GET /debug/pprof/profile?seconds=300 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            # It has begun when others are refused, and may be refused itself for one of them.
            while not select.select([stream], [], [], 0)[0]:
                try:
                    self.get("/profile?seconds=1")
                except urllib.error.HTTPError as error:
                    self.assertEqual(error.code, 429)
                    self.assertIn("one at a time", json.load(error)["error"]["reason"])
                    return stream
            self.assertIn(b" 429 ", stream.recv(100))
            stream.close()

    def test_a_build_that_counts_nothing_says_so(self):
        status, reason = self.refused("/training")
        self.assertEqual(status, 501)
        self.assertIn("make pgo-server", reason)
        self.assertEqual(self.refused("/training?seconds=1")[0], 400)
        told = self.command("training", "--url", self.server.url, "--output", self.folder / "clew.profraw", fails=True)
        self.assertIn("make pgo-server", told)

    def test_one_capture_of_a_kind_and_none_for_a_client_that_has_gone(self):
        with self.long_capture():
            self.assertEqual(self.refused("/profile?seconds=1")[0], 429)
            told = self.command("--url", self.server.url, "--seconds", 1, "-o", self.folder / "second.svg", fails=True)
            self.assertIn("a capture of [profile] is running: one at a time", told)
            self.assertFalse((self.folder / "second.svg").exists())
            # One of another kind is in nobody's way.
            self.get("/heap")
            self.get("/offcpu?seconds=1")
        ended, until = False, time.monotonic() + WAIT_SECONDS_MAX
        while not ended:
            self.assertLess(time.monotonic(), until, "it goes on without its client")
            # It ends within a round of its client's going.
            try:
                self.get("/profile?seconds=1")
                ended = True
            except urllib.error.HTTPError as error:
                self.assertEqual(error.code, 429)

    def end(self, kind):
        request = urllib.request.Request(f"{self.server.url}/debug/pprof/{kind}", method="DELETE")
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_a_capture_ends_early_with_what_was_seen(self):
        self.assertEqual(self.end("offcpu"), 404)
        self.assertEqual(self.end("goroutine"), 404)
        answers = []
        ask = threading.Thread(target=lambda: answers.append(self.stacks("/offcpu?seconds=300&format=collapsed")))
        ask.start()
        until = time.monotonic() + WAIT_SECONDS_MAX
        while self.end("offcpu") != 200:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)
        # Long before five minutes are over.
        ask.join(200)
        self.assertEqual(len(answers), 1)

    def test_the_command_writes_what_was_seen_when_it_is_told_to_stop(self):
        begun, ended, tries = threading.Event(), threading.Event(), []

        class Captures(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                begun.set()
                ended.wait(WAIT_SECONDS_MAX)
                self.answer(b"main;work 3\n")

            def do_DELETE(self):
                tries.append(self.path)
                # As one that has not begun yet.
                if len(tries) == 1:
                    return self.answer(b"{}", 404)
                ended.set()
                return self.answer(b"{}")

            def answer(self, body, status=200):
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.send_header("x-clew-profile", "as a server of profiles says")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Captures)
        threading.Thread(target=server.serve_forever).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        seen = self.folder / "seen.folded"
        command = [os.environ["CLEW_BIN"], "profile", "--seconds", "300", "--url", f"http://127.0.0.1:{server.server_port}", "-o", seen]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertTrue(begun.wait(WAIT_SECONDS_MAX))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WAIT_SECONDS_MAX)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(seen.read_text(), "main;work 3\n")

    def test_a_server_that_goes_away_amid_a_capture_is_told(self):
        for unread in (False, True):
            with self.subTest(unread=unread), socket.create_server(("127.0.0.1", 0)) as listener:
                seen = self.folder / "seen.svg"
                command = [os.environ["CLEW_BIN"], "profile", "--url", f"http://127.0.0.1:{listener.getsockname()[1]}", "-o", seen]
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                connection, _ = listener.accept()
                # Without what was sent having been read, closing resets the connection.
                connection.recv(1) if unread else connection.recv(1 << 16)
                connection.close()
                _, errors = process.communicate(timeout=WAIT_SECONDS_MAX)
                self.assertEqual(process.returncode, 1, errors)
                self.assertRegex(errors, r"the server at \S+/debug/pprof/profile went away before it answered: nothing is written")
                self.assertFalse(seen.exists())

    def test_a_page_of_another_server_is_no_profile(self):
        class Pages(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.send_header("content-length", "7")
                self.end_headers()
                self.wfile.write(b"<html/>")

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        threading.Thread(target=server.serve_forever).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}"
        for arguments in [["--seconds", 1], ["--mode", "heap"], ["training"]]:
            out = self.folder / ("seen.profraw" if arguments == ["training"] else "seen.html")
            told = self.command(*arguments, "--url", url, "-o", out, fails=True)
            self.assertIn("is it clew?", told)
            self.assertFalse(out.exists())

    def test_nothing_is_captured_for_who_asks_for_headers_alone(self):
        for kind, params, status in [("profile", "seconds=300", 200), ("offcpu", "seconds=300&mode=sampled", 200), ("heap", "", 200),
                                     ("profile", "seconds=0", 400), ("nothing", "", 404),
                                     ("training", "", 501), ("training", "seconds=1", 400)]:
            with self.subTest(kind=kind, params=params):
                request = urllib.request.Request(f"{self.server.url}/debug/pprof/{kind}?{params}", method="HEAD")
                try:
                    # A capture would take five minutes.
                    with urllib.request.urlopen(request, timeout=200) as answer:
                        seen, headers = answer.status, answer.headers
                except urllib.error.HTTPError as error:
                    seen = error.code
                self.assertEqual(seen, status)
                if status == 200:
                    self.assertIn(f"{kind}.pb.gz", headers["content-disposition"])

    def test_hot_threads_tell_what_they_do(self):
        with Load(self.server.url):
            for kind, said in [("cpu", "cpu usage by thread"), ("block", "block usage by thread"), ("wait", "wait usage by thread")]:
                url = f"{self.server.url}/_nodes/hot_threads?interval=1s&threads=5&ignore_idle_threads=false&type={kind}"
                text, until = "", time.monotonic() + 120
                # A thread that is seldom on a processor may not be seen there.
                while "snapshots sharing following" not in text and time.monotonic() < until:
                    with urllib.request.urlopen(url, timeout=WAIT_SECONDS_MAX) as answer:
                        text = answer.read().decode()
                    self.assertIn(said, text)
                self.assertIn("snapshots sharing following", text)
                self.assertRegex(text, r"(?m)^ {7}\S*(clew|tokio|std)")

    def hot_threads(self, params):
        with urllib.request.urlopen(f"{self.server.url}/_nodes/hot_threads?{params}", timeout=WAIT_SECONDS_MAX) as answer:
            return answer.read().decode()

    def test_hot_threads_take_the_parameters_of_opensearch(self):
        for kind in ("cpu", "block", "wait"):
            text = self.hot_threads(f"type={kind}&threads=2&interval=30ms&snapshots=3&ignore_idle_threads=false")
            self.assertIn(", interval=30ms, busiestThreads=2, ignoreIdleThreads=false:", text)
            self.assertEqual(text.count(f" out of 30ms) {kind} usage by thread '"), 2, text)
        self.assertEqual(self.hot_threads("threads=0&interval=30ms").count("usage by thread"), 0)
        for wrong, told in [("threads=-1", "[threads]"), ("threads=some", "[threads]"), ("snapshots=x", "[snapshots]"), ("interval=0ms", "[interval]"),
                            ("interval=30", "unit is missing"), ("type=BLOCK", "type not supported [BLOCK]"), ("ignore_idle_threads=maybe", "[maybe]")]:
            with self.subTest(wrong):
                with self.assertRaises(urllib.error.HTTPError) as caught:
                    self.hot_threads(wrong)
                self.assertEqual(caught.exception.code, 400)
                self.assertIn(told, json.load(caught.exception)["error"]["reason"])

    def test_many_who_ask_for_hot_threads_take_turns_and_leave_off_when_they_are_cancelled(self):
        watchers = HotThreads(self.server.url, 8)
        with watchers:
            watchers.post("/_tasks/_cancel?actions=*hot_threads")
        self.assertEqual(watchers.kinds, ["task_cancelled_exception"] * 8)
        # Nobody is in the way of whoever comes then.
        self.assertIn("Hot threads at", self.hot_threads("interval=20ms"))

    def test_hot_threads_do_not_count_what_finding_names_takes(self):
        with Load(self.server.url):
            for _ in range(3):
                shares = re.findall(r"(?m)^ *([\d.]+)% .*cpu usage", self.hot_threads("interval=50ms&threads=9"))
                self.assertLess(max(map(float, shares), default=0), 130)

    def test_threads_that_wait_for_something_to_do_are_blocked_where_that_is_asked_for(self):
        self.assertIn("'clew-upkeep'", self.hot_threads("interval=300ms&type=block&threads=99&ignore_idle_threads=false"))
        busy = self.hot_threads("interval=300ms&type=block&threads=99")
        for name in ("clew-upkeep", "clew-log-writer", "clew-heal"):
            self.assertNotIn(f"'{name}'", busy)


class ContinuousTest(ClewTest):
    env = {"CLEW_PROFILE__CONTINUOUS": "true"}

    def test_what_was_kept_is_shown_after_a_restart(self):
        url = f"{self.server.url}/debug/pprof/profile?format=collapsed"
        began = datetime.datetime.now(datetime.UTC).isoformat().replace("+00:00", "Z")
        with Load(self.server.url):
            until, seen = time.monotonic() + WAIT_SECONDS_MAX, b""
            while b"clew_" not in seen and time.monotonic() < until:
                urllib.request.urlopen(f"{url}&seconds=2", timeout=WAIT_SECONDS_MAX).read()
                with contextlib.suppress(urllib.error.HTTPError):
                    seen = urllib.request.urlopen(f"{url}&from={began}", timeout=WAIT_SECONDS_MAX).read()
        # What is not written yet is written for whoever asks, and the next who asks has it, too.
        for _ in range(2):
            with urllib.request.urlopen(f"{url}&from={began}", timeout=WAIT_SECONDS_MAX) as answer:
                self.assertIn(b"clew_", answer.read())
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{url}&from=2020-01-01T00:00:00Z&to=2020-01-01T01:00:00Z", timeout=WAIT_SECONDS_MAX)
        self.assertEqual(caught.exception.code, 404)
        # A clean stop writes the minute that has begun.
        self.server.stop()
        self.server.start()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kept.folded"
            done = subprocess.run([os.environ["CLEW_BIN"], "profile", "--url", self.server.url, "--from", began, "-o", str(path)],
                                  capture_output=True, text=True, timeout=WAIT_SECONDS_MAX)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("clew_", path.read_text())

    def test_what_becomes_of_the_profiles_is_no_matter_of_the_data(self):
        put = urllib.request.Request(f"{self.server.url}/kept/_doc/1", data=b"{}", method="PUT", headers={"content-type": "application/json"})
        urllib.request.urlopen(put, timeout=WAIT_SECONDS_MAX).read()
        self.server.stop()
        folder = pathlib.Path(self.server.data) / "profiles"
        log = next(folder.glob("*.log"))
        content = bytearray(log.read_bytes())
        content[20] ^= 1
        log.write_bytes(content)
        verify = [os.environ["CLEW_BIN"], "verify", str(self.server.data)]
        done = subprocess.run(verify, capture_output=True, text=True, timeout=WAIT_SECONDS_MAX)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{log} is corrupt", done.stdout)
        # Not even a folder.
        shutil.rmtree(folder)
        folder.write_text("in the way")
        self.server.start()
        with urllib.request.urlopen(f"{self.server.url}/kept/_doc/1", timeout=WAIT_SECONDS_MAX) as answer:
            self.assertTrue(json.load(answer)["found"])
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{self.server.url}/debug/pprof/profile?from=2020-01-01T00:00:00Z", timeout=WAIT_SECONDS_MAX)
        self.assertEqual(caught.exception.code, 404)
        self.server.stop()
        folder.unlink()
        self.restart()


class StopTest(ClewTest):
    def test_a_stop_does_not_wait_for_who_watches_threads(self):
        watchers = HotThreads(self.server.url, 1)
        with watchers:
            self.assertNotIn(CUT_OFF, self.server.stop())
        self.server.start()


class SpentTest(ClewTest):
    def test_where_the_time_of_requests_goes_adds_up(self):
        with Load(self.server.url):
            urllib.request.urlopen(f"{self.server.url}/debug/pprof/profile?seconds=3", timeout=WAIT_SECONDS_MAX).read()
        page = urllib.request.urlopen(f"{self.server.url}/_metrics", timeout=WAIT_SECONDS_MAX).read().decode()
        for endpoint in ["search", "bulk"]:
            found = re.findall(rf'rest_request_part_seconds_sum{{endpoint="{endpoint}",kind="(\w*)",part="(\w+)"}} (\S+)', page)
            self.assertEqual({kind for kind, _, _ in found}, {"aggregation"} if endpoint == "search" else {""})
            parts = {part: float(seconds) for _, part, seconds in found}
            self.assertEqual(set(parts), {"cpu", "run_queue", "queue", "blocked", "wall"})
            wall = parts.pop("wall")
            self.assertAlmostEqual(sum(parts.values()) / wall, 1, delta=0.05)
            self.assertGreater(parts["cpu"], 0)
            self.assertLess(parts["cpu"], wall)
        # A bulk waits for the log to be durable.
        self.assertGreater(parts["blocked"], 0)
        # Whose requests they were.
        for figure in ["searches_total", "search_us_total", "fetches_total", "fetch_us_total", "indexed_total", "writes_total", "write_us_total"]:
            found = re.search(rf'index_{figure}{{index="load"}} (\d+)', page)
            self.assertIsNotNone(found, figure)
            self.assertGreater(int(found[1]), 0, figure)



class PartsTest(ClewTest):
    def test_parts_are_all_of_the_time_of_every_class_of_requests(self):
        # Those that are part of a trace are all measured.
        headers = {"content-type": "application/json", "traceparent": f"00-{'7' * 32}-{'7' * 16}-00"}

        def ask(method, path, body=None):
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            request = urllib.request.Request(self.server.url + path, data=data, headers=headers, method=method)
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX) as answer:
                return json.load(answer)

        properties = {"t": {"type": "text"}, "v": {"type": "knn_vector", "dimension": 2}}
        ask("PUT", "/parts", {"settings": {"index": {"knn": True}}, "mappings": {"properties": properties}})
        knn, text = {"knn": {"v": {"vector": [1, 2], "k": 3}}}, {"match": {"t": "fox"}}
        for number in range(3):
            ask("PUT", f"/parts/_doc/{number}?refresh=true", {"t": "a fox", "v": [number, 1]})
            ask("POST", "/parts/_bulk", b'{"index":{}}\n{"t":"dog"}\n')
            ask("GET", f"/parts/_doc/{number}")
            for body in ({"query": text}, {"query": knn}, {"query": {"hybrid": {"queries": [text, knn]}}}, {"query": {"ids": {"values": ["1"]}}},
                         {"size": 0, "aggs": {"a": {"value_count": {"field": "_id"}}}}):
                ask("POST", "/parts/_search", body)
            ask("POST", "/_search/scroll", {"scroll_id": ask("POST", "/parts/_search?scroll=1m", {"size": 1})["_scroll_id"]})
            ask("POST", "/parts/_msearch", b'{}\n{"query":{"match_all":{}}}\n')
            ask("POST", "/parts/_count", {})
            ask("POST", "/parts/_forcemerge")
            ask("GET", "/_cat/indices?format=json")
            ask("GET", "/_nodes/stats")
        with urllib.request.urlopen(f"{self.server.url}/_metrics", timeout=WAIT_SECONDS_MAX) as answer:
            page = answer.read().decode()
        sums = {}
        for endpoint, kind, part, seconds in re.findall(r'rest_request_part_seconds_sum{endpoint="(\w+)",kind="(\w*)",part="(\w+)"} (\S+)', page):
            sums.setdefault((endpoint, kind), {})[part] = float(seconds)
        kinds = {kind for endpoint, kind in sums if endpoint == "search"}
        self.assertLessEqual({"text", "knn", "hybrid", "filter", "aggregation", "scroll", "msearch", "count"}, kinds)
        self.assertLessEqual({"write", "bulk", "get", "search", "index_admin", "maintenance", "cat", "nodes"}, {endpoint for endpoint, _ in sums})
        for key, parts in sums.items():
            wall = parts.pop("wall")
            self.assertEqual(set(parts), {"cpu", "run_queue", "queue", "blocked"}, key)
            self.assertAlmostEqual(sum(parts.values()) / wall, 1, delta=0.05, msg=key)


class UnsampledTest(ClewTest):
    env = {"CLEW_PROFILE__HEAP": "false"}

    def test_what_is_off_is_told_by_its_key(self):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{self.server.url}/debug/pprof/heap", timeout=WAIT_SECONDS_MAX)
        self.assertEqual(caught.exception.code, 501)
        self.assertIn("[profile.heap] is off", caught.exception.read().decode())


class ProtectedTest(ClewTest):
    env = {"CLEW_ACCESS__AUTHENTICATION": "true", "CLEW_ACCESS__ROOT_PASSWORD": "a long one"}

    @classmethod
    def setUpClass(cls):
        # Without the client of the class above, which has no password.
        cls.server = ClewServer(env=cls.env)
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def setUp(self):
        pass

    def test_profiles_stand_behind_the_door(self):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{self.server.url}/debug/pprof/heap", timeout=WAIT_SECONDS_MAX)
        self.assertEqual(caught.exception.code, 401)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "heap.pb.gz"
            arguments = [os.environ["CLEW_BIN"], "profile", "--mode", "heap", "--url", self.server.url, "-o", str(path)]
            refused = subprocess.run(arguments, capture_output=True, text=True, timeout=WAIT_SECONDS_MAX)
            self.assertNotEqual(refused.returncode, 0)
            done = subprocess.run(arguments, capture_output=True, text=True, timeout=WAIT_SECONDS_MAX,
                                  env={**os.environ, "CLEW_LOGIN": "root:a long one"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"inuse_space", gzip.decompress(path.read_bytes()))
