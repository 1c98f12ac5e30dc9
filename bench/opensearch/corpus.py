"""The texts: real ones where CLEW_DATA names a folder with them, else words drawn as often as real ones are."""

import json
import os
import pathlib
import random
import re

SECTIONS = ["admin", "devel", "doc", "games", "libs", "net", "perl", "python", "science", "text", "utils", "web"]
MAPPING = {
    "settings": {"index": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"}},
    "mappings": {"properties": {
        "id": {"type": "integer"}, "name": {"type": "keyword"}, "section": {"type": "keyword"},
        "title": {"type": "text"}, "text": {"type": "text"}}},
}
BATCH = 1000
# What is asked, with a text each time.
SEARCHES = {
    "match, ten best with source": lambda text: {"size": 10, "query": {"match": {"text": text}}},
    "bool: match and filter": lambda text: {
        "size": 10, "query": {"bool": {"must": {"match": {"text": text}}, "filter": {"term": {"section": "libs"}}}}},
    "match and terms aggregation": lambda text: {
        "size": 0, "query": {"match": {"text": text}}, "aggs": {"sections": {"terms": {"field": "section"}}}},
    "nothing found": lambda text: {"query": {"term": {"name": "no package is called so"}}},
}


def words(seed, count=20_000):
    """Words that can be told apart and spoken."""
    dice = random.Random(seed)
    syllable = lambda: dice.choice("bcdfghklmnprstvw") + dice.choice("aeiou")
    return ["".join(syllable() for _ in range(dice.randint(1, 4))) for _ in range(count)]


def drawn(dice, known):
    """A word, the first in the list the most often, as uneven as real ones are."""
    return known[min(int(len(known) ** dice.random()), len(known) - 1)]


def generated(count, least, most):
    """Texts of a few words, the frequent ones first in the list."""
    dice, known = random.Random(count), words(1)
    return [" ".join(drawn(dice, known) for _ in range(dice.randint(least, most))) for _ in range(count)]


def folder():
    given = os.environ.get("CLEW_DATA")
    return pathlib.Path(given) if given else None


def packages():
    """Some 60,000 documents with names, sections, titles and longer texts."""
    file = folder() and folder() / "debian.jsonl"
    if file and file.exists():
        with open(file, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines], "descriptions of Debian's packages"
    dice = random.Random(3)
    texts, titles = generated(60_000, 20, 120), generated(60_001, 3, 8)
    rows = zip(titles, texts)
    made = [{"id": at, "name": f"package-{at}", "section": dice.choice(SECTIONS), "title": title, "text": text}
            for at, (title, text) in enumerate(rows)]
    return made, "generated texts"


def sentences(count):
    """So many short documents."""
    file = folder() and folder() / "sentences.jsonl"
    if file and file.exists():
        with open(file, encoding="utf-8") as lines:
            texts = [json.loads(line)[0] for _, line in zip(range(count), lines)]
        source = "sentences of manuals and packages"
    else:
        texts, source = generated(count, 5, 25), "generated texts"
    dice = random.Random(4)
    return [{"id": at, "section": dice.choice(SECTIONS), "text": text} for at, text in enumerate(texts)], source


def batches(documents, start=0, size=BATCH):
    """Bodies of bulk requests."""
    for first in range(0, len(documents), size):
        lines = []
        for at, document in enumerate(documents[first:first + size], start + first):
            lines += [json.dumps({"index": {"_id": str(at)}}), json.dumps(document, ensure_ascii=False)]
        yield ("\n".join(lines) + "\n").encode()


def questions(documents, count):
    """What somebody would look for: one to three words of a title."""
    dice = random.Random(7)
    titles = [re.findall(r"[a-z]{3,}", document["title"].lower()) for document in documents]
    titles = [title for title in titles if len(title) >= 3]
    return [" ".join(dice.sample(dice.choice(titles), k=dice.choice((1, 2, 3)))) for _ in range(count)]
