"""`clew log` as a process: on a data folder, and through a server."""

import base64
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import unittest

from opensearch.clew_server import ClewServer

BINARY = os.environ.get("CLEW_BIN", "clew")
TIMEOUT_SECONDS = 120
LINES = 1_000_000
MIB = 1 << 20
SUBCOMMANDS = ["append", "read", "scan", "tail", "streams", "create", "delete", "seal", "unseal",
               "trim", "verify", "dump"]


def lines_of_all_kinds(count, seed):
    """Lines with every trap: empty ones, CRLF, bytes that are no text, very long ones."""
    chance = random.Random(seed)
    pool = [chance.randbytes(chance.randrange(150)).replace(b"\n", b"") for _ in range(200)]
    kinds = {
        0: lambda n: b"",
        1: lambda n: b"%d ends with CR\r" % n,
        2: lambda n: b"\xff\xfe\x00%d" % n,
        3: lambda n: b"\r",
    }
    out = []
    for n in range(count):
        kind = kinds.get(n % 50)
        out.append(kind(n) if kind else b"%d %b" % (n, pool[n % 200]))
    for n in range(count // 2, count, max(1, count // 5)):
        out[n] = b"long " + pool[7] * 3000
    return b"\n".join(out) + b"\n"


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.data = self.folder / "data"

    def run_log(self, *arguments, stdin=b"", status=0):
        done = subprocess.run([BINARY, "log", *map(str, arguments)], input=stdin,
                              capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def out(self, *arguments, stdin=b""):
        return self.run_log(*arguments, stdin=stdin).stdout

    def objects(self, *arguments, stdin=b""):
        out = self.out(*arguments, "--format", "json", stdin=stdin)
        return [json.loads(line) for line in out.splitlines()]

    def fails(self, *arguments, said, stdin=b"", status=1):
        done = self.run_log(*arguments, stdin=stdin, status=status)
        errors = done.stderr.decode()
        for text in [said] if isinstance(said, str) else said:
            self.assertIn(text, errors)
        return done


class RoundTrip(CommandLineTest):
    def round_trip(self, where, lines):
        source = self.folder / "lines"
        content = lines_of_all_kinds(lines, seed=3)
        source.write_bytes(content)
        with source.open("rb") as stdin:
            done = subprocess.run(
                [BINARY, "log", "append", *where, "--stream", "s", "--lines", "--format", "json"],
                stdin=stdin, capture_output=True, timeout=TIMEOUT_SECONDS, check=True)
        self.assertEqual(json.loads(done.stdout), {
            "stream": "s", "entries": lines, "first_glsn": 1, "last_glsn": lines,
            "first_llsn": 1, "last_llsn": lines,
        })
        self.assertTrue(self.out("scan", *where, "--stream", "s", "--lines") == content)
        return content

    def test_a_million_lines_through_a_folder(self):
        content = self.round_trip(["--data", self.data], LINES)
        lines = content.split(b"\n")[:-1]
        where = ["--data", self.data, "--stream", "s"]
        backwards = self.out("scan", *where, "--lines", "--reverse", "--limit", "1000")
        self.assertTrue(backwards == b"".join(line + b"\n" for line in lines[:-1001:-1]))
        middle = self.out("scan", *where, "--llsn", "--from", "500001", "--to", "500101", "--lines")
        self.assertTrue(middle == b"".join(line + b"\n" for line in lines[500_000:500_100]))
        (report,) = self.objects("verify", self.data)
        self.assertEqual((report["entries"], report["damage"]), (LINES, []))

    def test_through_a_server(self):
        with ClewServer() as server:
            self.round_trip(["--url", f"http://{server.grpc_address}"], LINES // 20)
            # The folder of a running server can be read, too.
            found = self.out("scan", "--data", server.data, "--limit", "3", "--lines")
            self.assertEqual(found, b"\n1 ends with CR\r\n\xff\xfe\x002\n")


class Folder(CommandLineTest):
    def test_the_last_line_counts_without_its_end(self):
        for text, lines in [(b"", []), (b"\n", [b""]), (b"a\nb", [b"a", b"b"]), (b"a\n", [b"a"])]:
            stream = f"s{len(text)}-{len(lines)}"
            (summary,) = self.objects("append", "--data", self.data, "--stream", stream, "--lines",
                                      stdin=text)
            self.assertEqual((summary["entries"], summary["last_llsn"]),
                             (len(lines), len(lines) or None))
            found = self.out("scan", "--data", self.data, "--stream", stream, "--lines")
            self.assertEqual(found, b"".join(line + b"\n" for line in lines))

    def test_a_whole_input_with_headers_is_one_entry(self):
        content = b"\x00\xff\n\n" * 1000
        self.out("append", "--data", self.data, "--stream", "s", "--header", "kind=x=y",
                 "--header", "kind=z", "--compression", "lz4", "--durability", "os", stdin=content)
        self.out("append", "--data", self.data, "--stream", "s", stdin="wörter".encode())
        first, second = self.objects("scan", "--data", self.data)
        time = first.pop("time")
        self.assertRegex(time, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(first, {
            "glsn": 1, "stream": "s", "llsn": 1,
            "headers": [{"key": "kind", "value": "x=y"}, {"key": "kind", "value": "z"}],
            "payload_base64": base64.b64encode(content).decode(),
        })
        self.assertEqual(second["payload"], "wörter")
        (entry,) = self.objects("read", "--data", self.data, "--stream", "s", "--llsn", "2")
        self.assertEqual(entry, second)
        self.assertEqual(self.out("read", "--data", self.data, "--glsn", "1", "--lines"),
                         content + b"\n")
        since = ["scan", "--data", self.data, "--lines", "--since"]
        self.assertEqual(self.out(*since, "1h"), self.out(*since, time))
        self.assertEqual(self.out(*since, "2999-01-01T00:00:00Z"), b"")

    def test_lines_and_inputs_over_the_limit_are_refused(self):
        long_line = b"a\nb\n" + bytes(16 * MIB + 1).replace(b"\0", b"x") + b"\nc\n"
        where = ["append", "--data", self.data, "--stream", "s"]
        self.fails(*where, "--lines", stdin=long_line, said="line 3 is longer")
        self.fails(*where, stdin=bytes(16 * MIB + 1), said=["16777216", "--lines"])

    def test_streams_are_looked_after(self):
        where = ["--data", self.data]
        (made,) = self.objects("create", *where, "a")
        self.assertEqual((made["name"], made["entries"], made["sealed"]), ("a", 0, False))
        self.fails("create", *where, "a", said="a exists already")
        self.out("append", *where, "--stream", "b", "--lines", stdin=b"1\n2\n3\n4\n")
        self.assertIn(b"b begins at LLSN 3", self.out("trim", *where, "--stream", "b", "--llsn", 2))
        a, b = self.objects("streams", *where)
        self.assertEqual(a, made)
        self.assertEqual((b["name"], b["first_llsn"], b["last_llsn"], b["entries"]), ("b", 3, 4, 2))
        self.assertEqual(len(self.out("streams", *where).splitlines()), 3)
        self.fails("scan", *where, "--stream", "b", "--llsn", "--from", "1", said="were trimmed")
        self.assertTrue(self.objects("seal", *where, "b")[0]["sealed"])
        self.fails("append", *where, "--stream", "b", stdin=b"x", said="sealed")
        self.assertEqual(self.objects("unseal", *where, "b")[0]["epoch"], 1)
        self.fails("append", *where, "--stream", "b", "--epoch", "0", stdin=b"x", said="epoch 1")
        self.out("append", *where, "--stream", "b", "--epoch", "1", stdin=b"x")
        self.fails("append", *where, "--stream", "b", "--expect-last", "4", stdin=b"x",
                   said="ends at 5")
        (summary,) = self.objects("append", *where, "--stream", "b", "--expect-last", "5",
                                  "--lines", stdin=b"6\n7\n")
        self.assertEqual(summary["last_llsn"], 7)
        self.assertIn(b"GLSN 5", self.out("trim", *where, "--glsn", "4"))
        self.assertEqual(self.out("delete", *where, "a", "b"), b"deleted a, b\n")
        self.assertEqual(self.objects("streams", *where), [])
        self.fails("delete", *where, "a", said="no stream a")
        self.fails("scan", *where, "--stream", "a", said="no stream a")

    def test_a_repeated_append_adds_nothing(self):
        content = lines_of_all_kinds(20_000, seed=4)
        append = ["append", "--data", self.data, "--stream", "s", "--lines", "--producer-id", "7",
                  "--sequence", "1"]
        half = content[:len(content) // 2]
        # As if the first attempt had ended in the middle, at the end of a batch.
        first = self.objects(*append, stdin=half[:half.rindex(b"\n") + 1][:MIB])
        self.assertNotIn("replayed", first[0])
        (again,) = self.objects(*append, stdin=content[:MIB])
        self.assertEqual(again["replayed"], again["entries"])
        found = self.out("scan", "--data", self.data, "--lines")
        self.assertEqual(found.rstrip(b"\n"), content[:MIB].rstrip(b"\n"))

    def test_acknowledgements_come_one_for_each_batch(self):
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [BINARY, "log", "append", "--data", self.data, "--stream", "s", "--lines", "--acks",
             "--format", "json"], stdin=reader, stdout=subprocess.PIPE)
        os.close(reader)
        for n in range(1, 4):
            # The next line is written only when this one is durable.
            os.write(writer, b"line\n")
            ack = json.loads(process.stdout.readline())["ack"]
            self.assertEqual((ack["first_llsn"], ack["last_llsn"]), (n, n))
        os.close(writer)
        out, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(json.loads(out)["entries"], 3)

    def test_a_tail_follows_what_other_processes_append(self):
        append = ["append", "--data", self.data, "--stream", "s", "--lines"]
        self.out(*append, stdin=b"before\n")
        tail = subprocess.Popen(
            [BINARY, "log", "tail", "--data", self.data, "--from", "2", "--format", "json"],
            stdout=subprocess.PIPE)
        self.addCleanup(tail.kill)
        self.out(*append, stdin=b"one\ntwo\n")
        self.assertEqual(json.loads(tail.stdout.readline())["payload"], "one")
        self.out("append", "--data", self.data, "--stream", "new", stdin=b"three")
        self.assertEqual(json.loads(tail.stdout.readline())["payload"], "two")
        third = json.loads(tail.stdout.readline())
        self.assertEqual((third["stream"], third["payload"]), ("new", "three"))
        tail.send_signal(signal.SIGINT)
        out, _ = tail.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual((out, tail.returncode), (b"", 0))

    def test_wrong_use_is_told(self):
        self.out("create", "--data", self.data, "s")
        for arguments, said, status in [
            (["scan"], "--data", 2),
            (["scan", "--data", self.data, "--url", "http://127.0.0.1:1"], "cannot be used", 2),
            (["scan", "--data", self.data, "--stream", "s", "--stream", "1", "--llsn"],
             "needs one --stream", 1),
            (["scan", "--data", self.data, "--since", "yesterday"], "RFC 3339", 1),
            (["scan", "--data", self.data, "--from", "9"], "does not exist", 1),
            (["scan", "--data", self.folder / "nowhere"], "nowhere", 1),
            (["append", "--url", "127.0.0.1:1", "--stream", "s"], "http://HOST:PORT", 1),
            (["append", "--url", "http://127.0.0.1:1", "--stream", "s"], "cannot connect", 1),
            (["append", "--data", self.data, "--stream", "17"], "17", 1),
            (["read", "--data", self.data, "--glsn", "1"], "does not exist", 1),
            (["verify", self.folder / "nowhere"], "nowhere", 1),
            (["verify", self.folder], "find a log", 1),
        ]:
            with self.subTest(arguments[0], said=said):
                self.fails(*arguments, said=said, status=status)

    def test_every_subcommand_has_an_example(self):
        for subcommand in SUBCOMMANDS:
            out = self.out(subcommand, "--help").decode()
            self.assertIn("Example", out)
            self.assertIn(f"clew log {subcommand}", out)

    def test_a_reader_that_goes_away_is_no_error(self):
        self.out("append", "--data", self.data, "--stream", "s", "--lines", stdin=b"x\n" * 500_000)
        scan = subprocess.Popen([BINARY, "log", "scan", "--data", self.data, "--lines"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(scan.stdout.read(4), b"x\nx\n")
        scan.stdout.close()
        self.assertEqual((scan.stderr.read(), scan.wait(TIMEOUT_SECONDS)), (b"", 0))
        scan.stderr.close()


class Damage(CommandLineTest):
    """A folder that was harmed, or never was a log."""

    def setUp(self):
        super().setUp()
        lines = b"".join(b"%d a line of text\n" % n for n in range(20_000))
        self.out("append", "--data", self.data, "--stream", "s", "--lines", stdin=lines)
        (self.file,) = (self.data / "log").glob("*.log")
        self.whole = self.file.read_bytes()

    def test_a_flipped_bit_is_found_with_its_place(self):
        middle = len(self.whole) // 2
        self.file.write_bytes(self.whole[:middle] + bytes([self.whole[middle] ^ 4])
                              + self.whole[middle + 1:])
        done = self.fails("verify", self.data, said="damaged in one place")
        place, offset, _ = done.stdout.decode().splitlines()[0].split(":", 2)
        self.assertEqual(pathlib.Path(place), self.file)
        self.assertLessEqual(int(offset), middle)
        (found,) = json.loads(self.run_log("verify", self.data / "log", "--format", "json",
                                           status=1).stdout)["damage"]
        self.assertEqual((found["file"], found["offset"]), (str(self.file), int(offset)))
        self.fails("scan", "--data", self.data, "--lines", said=[str(self.file), f"byte {offset}"])

    def test_a_torn_end_is_no_damage(self):
        # The newest entries and the mark behind them are cut as a crash would: nobody was told.
        pieces = self.out("dump", self.data).decode().splitlines()
        entries = [line.split() for line in pieces if "entries " in line]
        self.file.write_bytes(self.whole[:int(entries[-1][0]) + 40])
        (report,) = self.objects("verify", self.data)
        self.assertGreaterEqual(report["torn_bytes"], 40)
        self.assertEqual(report["damage"], [])
        kept = self.out("scan", "--data", self.data, "--lines")
        self.assertTrue(kept.startswith(b"0 a line of text\n"))
        self.assertIn(b"1 entries", self.out("append", "--data", self.data, "--stream", "s",
                                             stdin=b"goes on"))
        self.assertEqual(self.out("scan", "--data", self.data, "--lines"), kept + b"goes on\n")
        self.assertEqual(self.objects("verify", self.data)[0]["torn_bytes"], 0)

    def test_foreign_and_empty_files_are_refused_by_name(self):
        for content in (b"", b"not a log at all\n" * 1000, self.whole[:50]):
            self.file.write_bytes(content)
            for arguments in (["scan", "--data", self.data], ["verify", self.data],
                              ["dump", self.data]):
                done = self.run_log(*arguments, status=1)
                told = done.stdout.decode() + done.stderr.decode()
                self.assertIn(str(self.file), told, (arguments, content[:10]))
            self.fails("append", "--data", self.data, "--stream", "s", said=str(self.file),
                       stdin=b"x")

    def test_the_dump_tells_every_piece(self):
        pieces = self.out("dump", self.data).decode().splitlines()
        self.assertEqual(pieces[0], str(self.file))
        entries = [line for line in pieces if "entries " in line]
        counts = [int(line.split("count ")[1].split()[0]) for line in entries]
        self.assertEqual(sum(counts), 20_000)
        self.assertEqual(len(self.out("dump", self.data, "--limit", "2").splitlines()), 3)


class Server(CommandLineTest):
    """The same commands through a server, and a folder that a server holds."""

    def setUp(self):
        super().setUp()
        self.server = self.enterContext(ClewServer())
        self.url = ["--url", f"http://{self.server.grpc_address}"]

    def test_a_folder_that_a_server_holds_is_read_but_not_written(self):
        self.out("append", *self.url, "--stream", "s", stdin=b"x")
        held = ["--data", self.server.data]
        for arguments in (["append", *held, "--stream", "s"], ["seal", *held, "s"],
                          ["trim", *held, "--glsn", "1"], ["create", *held, "t"],
                          ["delete", *held, "s"]):
            self.fails(*arguments, stdin=b"y", said=["lock", "--url http://"])
        self.assertEqual(self.out("scan", *held, "--stream", "s", "--lines"), b"x\n")
        self.assertEqual(self.objects("streams", *held), self.objects("streams", *self.url))
        self.assertEqual(self.objects("verify", self.server.data)[0]["entries"], 1)

    def test_everything_works_through_a_server(self):
        (made,) = self.objects("create", *self.url, "a")
        self.fails("create", *self.url, "a", said="a exists already")
        append = ["append", *self.url, "--stream", "b", "--lines", "--header", "k=v"]
        self.out(*append, "--expect-last", "0", stdin=b"1\n2\n\xff\n4\n")
        self.fails(*append, "--expect-last", "1", stdin=b"5\n", said="ends at 4")
        acks = self.objects(*append, "--acks", "--compression", "zstd", stdin=b"5\n6\n")
        self.assertEqual([list(line) for line in acks][0], ["ack"])
        self.assertEqual(acks[-1]["last_llsn"], 6)
        entries = self.objects("scan", *self.url, "--stream", "b", "--limit", "3")
        self.assertEqual([entry["llsn"] for entry in entries], [1, 2, 3])
        self.assertEqual((entries[0]["stream"], entries[0]["headers"], entries[2]["payload_base64"]),
                         ("b", [{"key": "k", "value": "v"}], "/w=="))
        self.assertEqual(self.out("scan", *self.url, "--limit", "0"), b"")
        found = self.out("scan", *self.url, "--stream", "b", "--llsn", "--from", "4", "--reverse",
                         "--lines")
        self.assertEqual(found, b"6\n5\n4\n")
        self.assertEqual(self.out("scan", *self.url, "--since", "1h", "--lines")[:4], b"1\n2\n")
        self.assertEqual(self.out("read", *self.url, "--stream", "b", "--llsn", "2", "--lines"),
                         b"2\n")
        self.assertEqual(self.objects("read", *self.url, "--glsn", "3"), entries[2:])
        self.fails("read", *self.url, "--glsn", "99", said="does not exist")
        self.assertTrue(self.objects("seal", *self.url, "b")[0]["sealed"])
        self.fails(*append, stdin=b"x\n", said="sealed")
        self.assertEqual(self.objects("unseal", *self.url, "b")[0]["epoch"], 1)
        self.assertIn(b"LLSN 3", self.out("trim", *self.url, "--stream", "b", "--llsn", "2"))
        self.assertIn(b"GLSN 4", self.out("trim", *self.url, "--glsn", "3"))
        self.assertEqual(self.objects("streams", *self.url)[0], made)
        self.out("delete", *self.url, "a")
        self.fails("delete", *self.url, "a", said="no stream a")

    def test_the_end_of_an_append_is_no_defect_of_the_server(self):
        for _ in range(3):
            self.out("append", *self.url, "--stream", "s", "--lines", stdin=b"1\n2\n")
        self.assertNotIn("panicked", self.server.stop())

    def test_the_port_of_another_protocol_is_told_from_the_one_that_is_meant(self):
        other = ["--url", f"http://{self.server.address}"]
        for arguments, stdin in ((["scan", *other], b""), (["streams", *other], b""), (["append", *other, "--stream", "s"], b"x")):
            self.fails(*arguments, stdin=stdin, said="--url names the gRPC port of a server")

    def test_a_repeated_append_through_a_server_adds_nothing(self):
        content = b"".join(b"%d some words to fill a line\n" % n for n in range(100_000))
        append = ["append", *self.url, "--stream", "s", "--lines", "--producer-id", "9",
                  "--sequence", "5"]
        (first,) = self.objects(*append, stdin=content)
        self.assertEqual((first["entries"], "replayed" in first), (100_000, False))
        # More batches than the server remembers: the older ones are known to have been taken.
        (again,) = self.objects(*append, stdin=content)
        self.assertEqual((again["entries"], again["replayed"]), (100_000, 100_000))
        self.assertTrue(self.out("scan", *self.url, "--lines") == content)
        # A batch that has grown is not the one that was appended.
        self.fails(*append, stdin=content + b"one more\n", said="for another call")

    def test_a_tail_follows_a_server_and_ends_with_it(self):
        search = self.server.client()
        self.addCleanup(search.close)
        search.index(index="i", id="1", body={"title": "thread"})
        self.out("append", *self.url, "--stream", "s", "--lines", stdin=b"1\n2\n")
        tail = subprocess.Popen([BINARY, "log", "tail", *self.url, "--since", "1h", "--format",
                                 "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(tail.kill)
        ops = [{}]
        while ops[-1].get("payload") != "2":
            ops.append(json.loads(tail.stdout.readline()))
        self.assertIn("index", [entry.get("op") for entry in ops])
        self.assertEqual([entry.get("payload") for entry in ops[-2:]], ["1", "2"])
        self.out("append", *self.url, "--stream", "late", stdin=b"3")
        entry = json.loads(tail.stdout.readline())
        self.assertEqual((entry["stream"], entry["payload"]), ("late", "3"))
        tail.send_signal(signal.SIGINT)
        self.assertEqual(tail.wait(TIMEOUT_SECONDS), 0)
        for pipe in (tail.stdout, tail.stderr):
            pipe.close()
        limited = self.out("tail", *self.url, "--from", "1", "--limit", "2", "--stream", "s",
                           "--lines")
        self.assertEqual(limited, b"1\n2\n")


class Killed(CommandLineTest):
    def test_an_append_that_was_cut_off_is_repeated_without_doubles(self):
        content = b"".join(b"%d some words to fill a line\n" % n for n in range(300_000))
        with ClewServer() as server:
            append = self.start_append(server)
            # Its input has no end before the server is killed, however long that takes.
            append.stdin.write(content[:len(content) // 2])
            append.stdin.flush()
            self.assertIn(b"ack", append.stdout.readline())
            server.kill()
            append.communicate(timeout=TIMEOUT_SECONDS)
            self.assertEqual(append.returncode, 1)
            server.start()
            append = self.start_append(server)
            out, _ = append.communicate(content, timeout=TIMEOUT_SECONDS)
            self.assertEqual(append.returncode, 0)
            summary = json.loads(out.splitlines()[-1])
            self.assertEqual((summary["entries"], summary["last_llsn"]), (300_000, 300_000))
            self.assertGreater(summary["replayed"], 0)
            found = self.out("scan", "--url", f"http://{server.grpc_address}", "--lines")
            self.assertTrue(found == content)

    def start_append(self, server):
        return subprocess.Popen(
            [BINARY, "log", "append", "--url", f"http://{server.grpc_address}", "--stream", "s",
             "--lines", "--producer-id", "3", "--sequence", "0", "--acks", "--format", "json"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
