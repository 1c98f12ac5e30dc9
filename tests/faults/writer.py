"""Writers of the mixed load. Each writes its own ids only, so that it knows what each of them must hold."""

from .by_chance import ByChance
from .client import Unanswered
from .corpus import SCHEMAS, Step, path, same, seen
from .model import Possible

IDS_PER_INDEX = 24
ACTIONS_PER_BULK = (1, 30)
OPERATIONS = {"bulk": 60, "one": 20, "update_by_query": 3, "read": 17}


class Documents:
    """The model of all documents: what each of them may hold, by index and id."""

    def __init__(self, writers):
        self.possible = {
            (index, f"{who}-{number}"): Possible()
            for index in SCHEMAS for who in range(writers) for number in range(IDS_PER_INDEX)
        }
        # (index, id, sequence number, version) of acknowledged writes.
        self.numbered = []
        # What each (index, shard, sequence number) was given to, and the shard of each routing key.
        self.given, self.shards = {}, {}

    def of(self, who):
        return {key: possible for key, possible in self.possible.items()
                if key[1].startswith(f"{who}-")}

    def ids(self, index):
        return [identity for name, identity in self.possible if name == index]

    def marks(self):
        """Where the history of every document stands."""
        return {key: possible.mark() for key, possible in self.possible.items()}


class Writer(ByChance):
    """Writes until it is told to stop, or nobody answers."""

    def __init__(self, number, client, documents, seed, progress=None, patient=False):
        super().__init__(f"writer-{number}", client, OPERATIONS, seed, progress, patient)
        self.number, self.documents = number, documents
        self.possible = documents.of(number)
        self.keys = sorted(self.possible)
        self.reads = self.reads_refused = 0

    def plan(self, key, before):
        """A write that makes sense for the states that the document may have."""
        kind = self.random.choices(["index", "update", "delete"], [5, 3, 2])[0]
        if before == [None] or (kind == "update" and None in before):
            kind = "index"
        return Step(kind, *key, self.random.randrange(1 << 30))

    def bulk(self, actions=None):
        steps, lines, values = [], [], {}
        for _ in range(actions or self.random.randint(*ACTIONS_PER_BULK)):
            key = self.random.choice(self.keys)
            before = values.get(key, self.possible[key].values)
            step = self.plan(key, before)
            lines += step.lines()
            values[key] = [step.after(value) for value in before]
            steps.append(step)
        refresh = self.random.choices(["", "?refresh=true", "?refresh=wait_for"], [90, 7, 3])[0]
        try:
            reply = self.client.post("/_bulk" + refresh, lines)
        except Unanswered:
            self.doubt(steps)
            raise
        if reply.ok:
            for step, item in zip(steps, reply.body["items"], strict=True):
                (result,) = item.values()
                self.answered(step, result)
            return
        self.refuse(reply.status, reply)
        # 429 is said before anything is done.
        if reply.status != 429:
            self.doubt(steps)

    def one(self):
        self.bulk(actions=1)

    def doubt(self, steps):
        """The steps may have been done, each on any state that was possible before it."""
        for step in steps:
            possible = self.possible[step.key]
            for value in list(possible.values):
                if step.possible_on(value):
                    possible.doubtful(step.after(value))

    def answered(self, step, result):
        """One item of a bulk's answer."""
        status = result["status"]
        if status >= 300 and result.get("result") != "not_found":
            self.refuse(status, result)
            if status >= 500:
                self.doubt([step])
            return
        possible = self.possible[step.key]
        after = {step.after(value) for value in possible.values if step.possible_on(value)}
        version = result["_version"]
        possible.acknowledged_one_of([state and state._replace(version=version) for state in after])
        self.acknowledged += 1
        if status < 300:
            self.documents.numbered.append((*step.key, result["_seq_no"], version))

    def refuse(self, status, reply):
        """Something was refused; only a patient writer takes that."""
        if not self.patient or (status < 500 and status not in (403, 404, 429)):
            raise AssertionError(f"a write was refused: {reply!r}")
        self.refused += 1
        self.refusals.setdefault(status, repr(reply)[:600])

    def update_by_query(self):
        """Writes every document of one index again as it is: one version more for each."""
        if self.patient:
            return  # Of one that is refused in the middle, nobody can tell what was done.
        index = self.random.choice(list(SCHEMAS))
        mine = [possible for key, possible in self.possible.items() if key[0] == index]
        before = [possible.value for possible in mine]
        after = [state and state._replace(version=state.version + 1) for state in before]
        living = len(before) - before.count(None)
        self.client.done("POST", f"/{index}/_refresh")
        body = {"query": {"term": {"owner": self.number}}}
        try:
            reply = self.client.done("POST", f"/{index}/_update_by_query", body)
        except Unanswered:
            for possible, state in zip(mine, after, strict=True):
                possible.doubtful(state)
            raise
        if (reply["updated"], reply["version_conflicts"]) != (living, 0):
            raise AssertionError(f"writer {self.number} has {living} documents in {index}: {reply}")
        for possible, state in zip(mine, after, strict=True):
            possible.acknowledged(state)
        self.acknowledged += living

    def read(self):
        """Reads one of its own documents back."""
        key = self.random.choice(self.keys)
        reply = self.client.get(path(*key))
        if reply.status >= 500 and self.patient:
            self.reads_refused += 1
            return
        if reply.status not in (200, 404) or "found" not in reply.body:
            raise AssertionError(f"{key}: {reply!r}")
        self.reads += 1
        found = seen(*key, reply.body)
        if not any(same(found, value) for value in self.possible[key].values):
            raise AssertionError(f"{key} reads {reply!r}, allowed: {self.possible[key].values}")
