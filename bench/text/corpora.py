"""The texts and the queries of the text benchmark, the same for every contender.

`packages`: the descriptions of the packages that this machine's package lists name.
`sentences`: distinct English sentences from these and from the manuals, documents and sources installed here,
shuffled by a fixed seed; how many there are depends on the machine.

Words are `[a-z0-9]+` in lower case, so that all contenders index the same ones. With CLEW_DATA set, its
`debian.jsonl` and `sentences.jsonl` are taken instead of being made.
"""

import glob
import gzip
import json
import os
import pathlib
import random
import re
import subprocess

WORD = re.compile(r"[a-z0-9]+")
WORD_MAX = 200
SEED = 7
STOP = set(
    "a an and are as at be been but by can could do does for from had has have how if in into is it its more most"
    " no not of on only or other s such t than that the their then there these they this to used using was were"
    " when where which will with you your all also any may one use t i we e g".split()
)
PER_CLASS = {
    "term": 300, "or2": 200, "or3": 200, "or10": 200, "and2": 200, "and3": 200,
    "phrase2": 150, "phrase3": 150, "prefix": 300, "fuzzy": 300,
}


def words_of(text):
    return [word for word in WORD.findall(text.lower()) if len(word) <= WORD_MAX]


def packages():
    """Title and text of every package, in the order of names."""
    given = os.environ.get("CLEW_DATA")
    if given:
        with open(pathlib.Path(given) / "debian.jsonl") as lines:
            for line in lines:
                one = json.loads(line)
                yield one["title"], one["text"]
        return
    found = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    seen = set()
    for stanza in found.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): ?(.*(?:\n[ \t].*)*)", stanza, re.M))
        text = fields.get("Description-en") or fields.get("Description") or ""
        if fields.get("Package") in seen | {None} or not text:
            continue
        seen.add(fields["Package"])
        title, _, rest = text.partition("\n")
        yield title, re.sub(r"^ \.?", "", rest, flags=re.M)


def sentences():
    given = os.environ.get("CLEW_DATA")
    if given:
        with open(pathlib.Path(given) / "sentences.jsonl") as lines:
            return [json.loads(line)[0] for line in lines]
    found = {}
    for title, text in packages():
        take(found, f"{title}\n\n{text}")
    for text in installed():
        take(found, text)
    listed = list(found.values())
    random.Random(SEED).shuffle(listed)
    return listed


def take(found, text):
    """Adds the English sentences of a text."""
    for part in re.split(r"\n\s*\n|\n\s*(?=[-*+o] )", text):
        for one in re.split(r"(?<=[.!?])\s+(?=[A-Z\"(])", part.replace("\n", " ")):
            one = re.sub(r"\s+", " ", one).strip(" -*#>|")
            letters = sum(letter.isalpha() or letter == " " for letter in one)
            if 25 <= len(one) <= 400 and one.isascii() and one.count(" ") > 3 and letters >= 0.8 * len(one):
                found.setdefault(one.lower(), one)


def installed():
    """Manuals, documents and the comments of sources on this machine."""
    home = os.path.expanduser("~")
    for path in sorted(glob.glob("/usr/share/man/man*/*.gz")):
        text = re.sub(r"^\.(B|I|BR|IR|Nm|Fl|Ar) (.*)$", r"\2", read(path), flags=re.M)
        yield re.sub(r"^[.'].*$|\\f[A-Z(]|\\&", "\n", text, flags=re.M).replace("\\-", "-")
    comment = {".rs": re.compile(r"^\s*//[/!] ?(.*)$", re.M), ".go": re.compile(r"^\s*// ?(.*)$", re.M)}
    for base in ["/usr/share/doc", "/usr/share/info", f"{home}/.cargo/registry/src", "/usr/local/go/src"]:
        for folder, _, names in os.walk(base):
            for name in names:
                path, ending = os.path.join(folder, name), os.path.splitext(name)[1]
                if ending in (".txt", ".md", ".rst", ".gz") and not name.startswith(("changelog", "copyright")):
                    yield read(path)
                elif ending in comment:
                    yield "\n".join(comment[ending].findall(read(path)))


def read(path):
    try:
        opened = gzip.open(path, "rt", errors="replace") if path.endswith(".gz") else open(path, errors="replace")
        with opened as file:
            return file.read(3_000_000)
    except OSError:
        return ""


def make(name, folder, rows=None):
    """Writes `NAME.txt` and `NAME.queries` once and returns their paths."""
    docs_path, queries_path = folder / f"{name}-{rows or 'all'}.txt", folder / f"{name}-{rows or 'all'}.queries"
    if not queries_path.exists():
        texts = (f"{title} {text}" for title, text in packages()) if name == "packages" else sentences()
        docs = [words for words in map(words_of, texts) if words][:rows]
        docs_path.write_text("".join(" ".join(words) + "\n" for words in docs))
        lines = [f"{kind}\t{text}\n" for kind, text in queries(docs)]
        queries_path.write_text("".join(lines))
    return docs_path, queries_path


def queries(docs):
    rng = random.Random(SEED)
    counts = {}
    for words in docs:
        for word in set(words):
            counts[word] = counts.get(word, 0) + 1
    content = [word for word in counts if word not in STOP and not word.isdigit()]
    frequent = sorted(content, key=lambda word: (-counts[word], word))[:1000]
    known = sorted(word for word in content if counts[word] > 1)

    def doc(least):
        while True:
            words = docs[rng.randrange(len(docs))]
            if len(words) >= least:
                return words

    def from_one(count):
        while True:
            wanted = sorted({w for w in doc(count) if w not in STOP and len(w) > 1 and counts[w] > 1})
            if len(wanted) >= count:
                return rng.sample(wanted, count)

    def run(count):
        words = doc(count)
        at = rng.randrange(len(words) - count + 1)
        return words[at:at + count]

    def phrase(count):
        while True:
            words = run(count)
            if any(word not in STOP for word in words):
                return words

    def edited():
        word = list(rng.choice([w for w in rng.sample(known, 50) if 4 <= len(w) <= 12 and w.isalpha()] or ["package"]))
        at, letter = rng.randrange(len(word)), rng.choice("abcdefghijklmnopqrstuvwxyz")
        kind = rng.randrange(4)
        if kind == 0:
            word[at] = letter
        elif kind == 1:
            word.insert(at, letter)
        elif kind == 2:
            del word[at]
        elif at:
            word[at - 1], word[at] = word[at], word[at - 1]
        return ["".join(word)]

    ways = {
        "term": lambda: [rng.choice(frequent)],
        "or2": lambda: from_one(2), "or3": lambda: from_one(3), "or10": lambda: run(10),
        "and2": lambda: from_one(2), "and3": lambda: from_one(3),
        "phrase2": lambda: phrase(2), "phrase3": lambda: phrase(3),
        "prefix": lambda: [rng.choice([w for w in rng.sample(known, 50) if len(w) > 5])[:rng.randint(3, 5)]],
        "fuzzy": edited,
    }
    for kind, count in PER_CLASS.items():
        for _ in range(count):
            yield kind, " ".join(ways[kind]())
