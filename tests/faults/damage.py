"""Damage of files at rest: one bit, a cut, garbage, a missing or a foreign file. Each request about the
damaged folder is answered rightly or refused by the name of a file or shard; nothing answers wrongly.

    python -m tests.faults damage --rounds 1000 --seed 1
"""

import json
import os
import random
import re
import shutil
import time
from collections import Counter, defaultdict

from .catalog import RENAME, Catalog
from .checks import DocumentChecks, Wrong
from .client import Unanswered
from .corpus import SCHEMAS, Step, create
from .questions import ask, create_graph, questions
from .server import DidNotStart, Server, folder
from .writer import Documents

WRITERS = 3
SNAPSHOT = "/_snapshot/kept/whole"
# From the best to the worst. "tail": only what the end of the log had is missing, see docs/formats/log.md.
# Below this a column is searched without a graph.
GRAPH_BYTES = 2 << 20
VERDICTS = ["right", "named", "kept off", "tail", "unnamed", "kept off unnamed", "panic", "died", "wrong"]
ALLOWED = {"right", "named"}
FLIPS_SHARE = 0.6
# So often the file is put back afterwards: a server that refuses something must leave everything as it is.
PUT_BACK_SHARE = 0.25
OTHERS = ["cut by 1", "cut by half", "emptied", "garbage", "removed", "exchanged", "folder removed"]


class Folder:
    """A data folder with every kind of file, what its server answered, and damaged copies of it."""

    def __init__(self, seed):
        self.place = folder()
        self.data = self.place / "data"
        self.data.mkdir()
        self.random = random.Random(f"damage/{seed}")
        self.documents = Documents(WRITERS)
        with Server(self.data) as server:
            self.fill(server)
            server.kill()  # The log is left as it is, with documents that are in no segment.
        self.kinds = defaultdict(list)
        for path in sorted(self.data.rglob("*")):
            if path.is_file() and path.stat().st_size:
                place = path.relative_to(self.data)
                self.kinds[kind(place, path.stat().st_size)].append(place)
        self.right = self.answers()

    def fill(self, server):
        """Segments that no merge by itself will touch, so that every start answers with the same scores: few of
        each shard, merged ones and others, with some dead documents each, and a log with more."""
        with server.client() as client:
            create(client, refresh_interval="-1")
            create_graph(client)
            Catalog.prepare(client)
            ids = sorted({identity for _, identity in self.documents.possible})
            self.random.shuffle(ids)
            half, tenth = len(ids) // 2, len(ids) // 10
            self.write(client, "index", ids[:half])
            self.write(client, "index", ids[half:-tenth])
            client.done("POST", "/flat,nest/_forcemerge?max_num_segments=1")
            self.write(client, "update", ids[: tenth // 2], "delete", ids[half : half + tenth // 2])
            self.write(client, "update", ids[tenth : tenth + tenth // 2], "index", ids[-tenth:-1])
            body = {"indices": ",".join(SCHEMAS)}
            client.done("PUT", f"{SNAPSHOT}?wait_for_completion=true", body)
            self.flushed = {key: possible.value for key, possible in self.documents.possible.items()}
            self.write(client, "update", ids[2 * tenth : 2 * tenth + 3], "index", ids[-1:], flush=False)
            # Nobody can tell damage of the log's last group from a torn write: it has nothing to lose.
            client.post("/_bulk", [{"delete": {"_index": "flat", "_id": "nobody"}}])
            DocumentChecks(client, self.documents, self.random).run()

    def write(self, client, *kinds_and_ids, flush=True):
        """Writes documents of all indexes, as a segment of their own."""
        steps = [Step(kind, index, identity, self.random.randrange(1 << 30))
                 for kind, ids in zip(kinds_and_ids[::2], kinds_and_ids[1::2], strict=True)
                 for index in SCHEMAS for identity in ids]
        reply = client.done("POST", "/_bulk?refresh=true", [line for step in steps for line in step.lines()])
        for step, item in zip(steps, reply["items"], strict=True):
            (result,) = item.values()
            if result["status"] >= 300:
                raise Wrong(f"a write was refused: {result}")
            possible = self.documents.possible[step.key]
            state = step.after(possible.value)
            possible.acknowledged(state and state._replace(version=result["_version"]))
        if flush:
            client.done("POST", "/_flush")

    def answers(self):
        copy = self.copy()
        self.questions = questions(self.documents)
        with Server(copy) as server, server.client() as client:
            right = [[plain(reply) for reply in ask(client, question)] for question in self.questions]
            self.restored = restored(client)
        self.remove(copy)
        return right

    def copy(self):
        """A copy whose finished files are the same bytes on the disk: nobody writes to them."""
        target = self.place / "trial"
        self.remove(target)
        shutil.copytree(self.data, target, copy_function=link)
        return target

    def remove(self, copy):
        shutil.rmtree(copy, ignore_errors=True)
        copy.with_name(copy.name + ".log").unlink(missing_ok=True)

    def close(self):
        shutil.rmtree(self.place, ignore_errors=True)


def link(source, target):
    """Whatever is not a finished file of a segment or snapshot may be written to."""
    if "/indices/" in source or "/repositories/" in source:
        os.link(source, target)
    else:
        shutil.copy(source, target)


def kind(path, size_bytes):
    """The kind of a file, by its place, the end of its name, and whether it has a graph."""
    if path.parts[0] == "indices":
        if path.suffix == ".vec" and size_bytes > GRAPH_BYTES:
            return "vec of a graph"
        return "manifest" if path.name.startswith("manifest") else path.suffix[1:] or path.name
    if path.parts[0] == "repositories":
        return f"snapshot {path.suffix[1:]}"
    return path.parts[0]


def plain(reply):
    """An answer without what differs from time to time."""
    text = re.sub(r'"took":\d+,|"_scroll_id":"[^"]*",', "", reply.text)
    return reply.status, text


def unranked(value):
    """An answer without what depends on which segments hold the documents: a shard whose folder or manifest is
    missing is made anew from the log, without the deleted documents that scores count until a merge, and sums of
    fractions, whose last digits say in which order they were added."""
    ranks = {"_score", "max_score", "field_statistics", "doc_freq", "ttf"}
    if isinstance(value, dict):
        return {key: unranked(part) for key, part in value.items() if key not in ranks}
    if isinstance(value, list):
        parts = [unranked(part) for part in value]
        hits = parts and all(isinstance(part, dict) and "_id" in part for part in parts)
        return sorted(parts, key=lambda hit: hit["_id"]) if hits else parts
    return float(f"{value:.12g}") if isinstance(value, float) else value


def restored(client):
    """What a restore of the snapshot gives; a refusal as its reply."""
    reply = client.post(f"{SNAPSHOT}/_restore?wait_for_completion=true", RENAME)
    if not reply.ok:
        return reply
    client.post("/restored-*/_refresh")
    body = {"size": 5000, "sort": ["mark"], "version": True}
    return [plain(client.post(f"/restored-{index}/_search", body))[1] for index in SCHEMAS]


class Trial:
    """One damage of a copy, and the verdict."""

    def __init__(self, folder, chance):
        self.folder, self.random = folder, chance
        self.copy = folder.copy()
        self.kind = chance.choice([*folder.kinds])
        self.path = chance.choice(folder.kinds[self.kind])
        self.detail = ""

    def damage(self):
        """Does one thing to one file or folder; returns what."""
        what = "flip" if self.random.random() < FLIPS_SHARE else self.random.choice(OTHERS)
        if what == "exchanged" and len(self.folder.kinds[self.kind]) == 1:
            what = "garbage"
        path = self.copy / self.path
        if what == "removed":
            path.unlink()
        elif what == "folder removed":
            depth = self.random.randint(1, max(1, len(self.path.parts) - 1))
            self.path = self.path.parents[len(self.path.parts) - 1 - depth] if len(self.path.parts) > 1 else self.path
            victim = self.copy / self.path
            shutil.rmtree(victim) if victim.is_dir() else victim.unlink()
        else:
            content = self.changed(what, path.read_bytes())
            path.unlink()  # The others share its bytes.
            path.write_bytes(content)
        self.what = what
        return self

    def changed(self, what, content):
        if what == "flip":
            bit = self.random.randrange(len(content) * 8)
            self.detail = f"bit {bit % 8} of byte {bit // 8} of {len(content)}"
            content = bytearray(content)
            content[bit // 8] ^= 1 << bit % 8
            return content
        if what == "exchanged":
            other = self.random.choice([path for path in self.folder.kinds[self.kind] if path != self.path])
            self.detail = f"with {other}"
            return (self.folder.data / other).read_bytes()
        if what == "garbage":
            return content + self.random.randbytes(self.random.randint(1, 64))
        return content[: {"cut by 1": -1, "cut by half": len(content) // 2, "emptied": 0}[what]]

    def run(self):
        """Starts a server over the damage and asks everything; sets `verdict`, `example` and `counts`."""
        self.counts, self.example = Counter(), ""
        self.serve_and_ask()
        self.verdict = max(self.counts, key=VERDICTS.index)
        file_of_index = self.path.parts[0] == "indices" and self.what != "folder removed"
        if file_of_index and self.verdict in ("named", "kept off") and self.random.random() < PUT_BACK_SHARE:
            self.what += ", put back"
            self.put_back()
        return self

    def put_back(self):
        """With the right file in its place again, every answer must be right again."""
        shutil.copy(self.folder.data / self.path, self.copy / self.path)
        self.counts.clear()
        self.serve_and_ask()
        self.verdict = max(self.counts, key=VERDICTS.index)
        if self.verdict != "right":
            self.verdict = "wrong"

    def serve_and_ask(self):
        server = Server(self.copy)
        try:
            server.start()
            with server.client(timeout=120) as client:
                self.ask_all(client)
            if not server.alive():
                self.see("died", server.log_tail())
        except Unanswered as error:
            self.see("wrong" if server.alive() else "died", f"{error}\n{server.log_tail()}")
        except DidNotStart as error:
            end = str(error).split("starting config", 1)[-1]
            end = end.split("\n", 1)[-1]
            self.see("kept off" if self.names(end) else "kept off unnamed", end)
        if server.panics():
            self.see("panic", str(server.panics()))
        server.kill()

    def see(self, verdict, example):
        if not self.counts or VERDICTS.index(verdict) > max(map(VERDICTS.index, self.counts)):
            self.example = example
        self.counts[verdict] += 1

    def names(self, text):
        """Whether a text names the damaged thing: its file, its folder, or its shard."""
        if any(part in text for part in (self.path.name, str(self.path))):
            return True
        folder = self.path.parent
        if folder.name and str(self.copy / folder) in text:
            return True
        if self.path.suffix and self.path.stem.split(".")[0] in text:
            return True
        return bool(re.search(r"\[[\w-]+\]\[\d+\]|manifest-\d|\d\.log\b|catalog\.json|snapshot \[|\[kept", text))

    def ask_all(self, client):
        for question, right in zip(self.folder.questions, self.folder.right, strict=True):
            for number, reply in enumerate(ask(client, question)):
                expected = right[min(number, len(right) - 1)]
                self.see(self.judge(reply, expected), f"{question[:2]} {str(question[2])[:300]}: {reply!r}")
        if self.path.parts[0] == "repositories":
            found = restored(client)
            if found == self.folder.restored:
                self.see("right", "")
            elif isinstance(found, list):
                self.see("wrong", f"a restore gave {str(found)[:600]}")
            else:
                self.see("named" if self.names(found.text) else "unnamed", repr(found))

    def judge(self, reply, expected):
        status, text = plain(reply)
        if (status, text) == expected:
            return "right"
        if "panic" in text:
            return "panic"
        try:
            body = json.loads(text)
        except ValueError:
            return "wrong"
        if "removed" in self.what and status < 300 and unranked(body) == unranked(json.loads(expected[1])):
            return "right"
        if status >= 300 and "error" in body:
            return "named" if self.names(text) else "unnamed"
        if body.get("_shards", {}).get("failed"):
            return "named" if self.names(json.dumps(body["_shards"].get("failures", ""))) else "unnamed"
        if "docs" in body:
            return self.judge_mget(body["docs"], json.loads(expected[1])["docs"])
        return "tail" if self.tail_possible() else "wrong"

    def judge_mget(self, found, expected):
        """Each document is the right one, or refused; where the log was cut, one of before is right, too."""
        worst = "right"
        for document, right in zip(found, expected, strict=True):
            verdict = "right"
            if "error" in document:
                verdict = "named" if self.names(json.dumps(document["error"])) else "unnamed"
            elif document != right:
                verdict = "tail" if self.tail_possible() and self.was_flushed(document) else "wrong"
            worst = max(worst, verdict, key=VERDICTS.index)
        return worst

    def was_flushed(self, document):
        state = self.folder.flushed[document["_index"], document["_id"]]
        if not document["found"]:
            return state is None
        return state is not None and document["_source"]["mark"] == state.mark

    def tail_possible(self):
        """The end of the log is gone, and with it what is in no segment: this cannot be told from a torn write."""
        return self.kind == "log" and self.what in ("cut by half", "cut by 1")

    def __str__(self):
        return f"{self.what} of {self.path} {self.detail}: {self.verdict} {dict(self.counts)}\n    {self.example[:700]}"


class Trials:
    """Many trials and their table."""

    def __init__(self, seed, say=lambda _: None):
        self.folder = Folder(seed)
        self.random, self.say = random.Random(f"trials/{seed}"), say
        self.table = defaultdict(Counter)
        self.broken = []

    def run(self, rounds):
        try:
            for _ in range(rounds):
                trial = Trial(self.folder, self.random).damage().run()
                row = trial.kind + (" (flips)" if trial.what.startswith("flip") else "")
                self.table[row][trial.verdict] += 1
                if trial.verdict not in ALLOWED and not self.excused(trial):
                    self.broken.append(trial)
                    self.say(str(trial))
        finally:
            self.folder.close()
        return self

    @staticmethod
    def excused(trial):
        """What is no segment's may keep the server off, by name: the log, the catalog, whole folders."""
        if trial.verdict == "tail":
            return True
        segment = trial.path.parts[0] == "indices" and trial.what != "folder removed"
        return trial.verdict == "kept off" and not segment

    def lines(self):
        yield f"{'':24}" + "".join(f"{verdict:>17}" for verdict in VERDICTS)
        for row, counts in sorted(self.table.items()):
            yield f"{row:24}" + "".join(f"{counts[verdict] or '':>17}" for verdict in VERDICTS)


def run(arguments):
    """The long form."""
    started = time.monotonic()
    trials = Trials(arguments.seed, say=lambda text: print(f"BROKEN {text}", flush=True)).run(arguments.rounds)
    print("\n".join(trials.lines()))
    print(f"{arguments.rounds} trials in {time.monotonic() - started:.0f} s")
    if trials.broken:
        raise Wrong(f"{len(trials.broken)} of {arguments.rounds} damaged folders broke a promise")
