"""The documents and their mapping: every kind of field that queries look at, with values missing, several, and odd."""

import datetime
import math

# Letters of the words that are completed: where a query names no field, OpenSearch looks for its words among them too.
OTHER_LETTERS = str.maketrans("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "nopqrstuvwxyzabcdefghijklmNOPQRSTUVWXYZABCDEFGHIJKLM")

# Common words first: they are drawn by a law that makes the first ones frequent.
WORDS = (
    "the a of search server fast index query log data node quick brown fox jumps over lazy dog vector memory engine "
    "document field term score filter range nested shard merge segment cache write read disk error warning request "
    "response client time user system network packet kernel thread lock queue stream batch token analysis running runs "
    "ran houses house city café naïve Über straße 東京 2024 3.14 42 v2 foo-bar it's can't e-mail user_name x1 alpha "
    "beta gamma delta epsilon zeta eta theta iota kappa lambda sigma omega wonderful terrible ordinary extraordinary"
).split()
STOPS = (". ", ", ", " - ", "! ", " ", " ", " ", " ", " ", "\n", "; ")
TAGS = ["red", "green", "blue", "Red", "dark blue", "", "ünïcode", "a/b", "x:y", "100", "true", "zz top", "orange", "violet"]
LEVELS = ["debug", "info", "warn", "error"]
PEOPLE = ["ann", "bob", "cyd", "dan", "eve", "Fay"]
EPOCH = datetime.datetime(2020, 1, 1)
DAYS = 1200
DIMENSION = 8
SPACES = {"v_l2": "l2", "v_cos": "cosinesimil", "v_ip": "innerproduct"}

TEXTS = ["title", "body", "short", "note"]
WHOLES = ["count", "big", "small", "sizes", "tiny"]
FRACTIONS = ["price", "ratio", "half", "money"]
NUMBERS = [*WHOLES, *FRACTIONS]
KEYWORDS = ["tag", "level", "title.raw", "owner.name", "lower"]
DATES = ["day", "stamp", "nanos"]


def vector(space):
    # Many links and a wide beam, so that the other's approximate search finds the exact answer.
    method = {"name": "hnsw", "engine": "lucene", "space_type": space, "parameters": {"m": 32, "ef_construction": 400}}
    return {"type": "knn_vector", "dimension": DIMENSION, "method": method}


def settings(shards):
    lower = {"type": "custom", "filter": ["lowercase"]}
    return {
        "index": {"number_of_shards": shards, "number_of_replicas": 0, "knn": True, "refresh_interval": "-1"},
        "analysis": {"normalizer": {"lower": lower}},
    }


def mapping():
    properties = {
        "title": {"type": "text", "fields": {
            "raw": {"type": "keyword", "ignore_above": 60},
            "words": {"type": "token_count", "analyzer": "standard"},
            "simple": {"type": "text", "analyzer": "simple"}}},
        "body": {"type": "text", "term_vector": "with_positions_offsets"},
        "short": {"type": "text", "analyzer": "whitespace", "copy_to": "everything"},
        "note": {"type": "text", "analyzer": "english"},
        "everything": {"type": "text"},
        "plain": {"type": "match_only_text"},
        "tag": {"type": "keyword"},
        "level": {"type": "keyword"},
        "lower": {"type": "keyword", "normalizer": "lower"},
        "wild": {"type": "wildcard"},
        "count": {"type": "integer"}, "big": {"type": "long"}, "small": {"type": "short"}, "tiny": {"type": "byte"},
        "sizes": {"type": "integer"}, "price": {"type": "double"}, "ratio": {"type": "float"},
        "half": {"type": "half_float"}, "money": {"type": "scaled_float", "scaling_factor": 100},
        "huge": {"type": "unsigned_long"},
        "rank": {"type": "rank_feature"},
        "day": {"type": "date"}, "stamp": {"type": "date", "format": "epoch_millis"}, "nanos": {"type": "date_nanos"},
        "local": {"type": "date", "format": "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd"},
        "complete": {"type": "completion"},
        "flag": {"type": "boolean"}, "addr": {"type": "ip"}, "place": {"type": "geo_point"},
        "within": {"type": "integer_range"}, "open": {"type": "date_range"},
        "nick": {"type": "alias", "path": "tag"},
        "owner": {"properties": {"name": {"type": "keyword"}, "age": {"type": "integer"}}},
        "comments": {"type": "nested", "properties": {
            "author": {"type": "keyword"}, "text": {"type": "text"}, "stars": {"type": "integer"},
            "at": {"type": "date"},
            "votes": {"type": "nested", "properties": {"who": {"type": "keyword"}, "up": {"type": "boolean"}}}}},
    }
    properties |= {name: vector(space) for name, space in SPACES.items()}
    return {"dynamic": "strict", "properties": properties}


def sentence(dice, least, most):
    """Words with something between them; some with a capital."""
    parts = []
    for _ in range(dice.randint(least, most)):
        word = WORDS[min(int(dice.expovariate(0.06)), len(WORDS) - 1)]
        parts += [word.capitalize() if dice.maybe(0.1) else word, dice.choice(STOPS)]
    return "".join(parts).strip()


def moment(dice):
    return EPOCH + datetime.timedelta(seconds=dice.randrange(DAYS * 86400), milliseconds=dice.randrange(1000))


def millis(when):
    return int((when - EPOCH).total_seconds() * 1000) + 1577836800000


def iso(when):
    return when.isoformat(timespec="milliseconds") + "Z"


def point(dice):
    lat, lon = round(dice.uniform(-80, 80), 5), round(dice.uniform(-179, 179), 5)
    if dice.maybe(0.6):
        # Most lie close together, so that distances of a few kilometres find something.
        lat, lon = round(dice.gauss(48.8, 1), 5), round(dice.gauss(2.3, 1), 5)
    return {"lat": lat, "lon": lon}


def address(dice):
    if dice.maybe(0.2):
        return f"2001:db8::{dice.randrange(65536):x}"
    return f"10.{dice.randrange(3)}.{dice.randrange(4)}.{dice.randrange(256)}"


def direction(dice):
    values = [round(dice.gauss(0, 1), 3) for _ in range(DIMENSION)]
    return values if math.hypot(*values) > 0.1 else [1.0] * DIMENSION


def comment(dice):
    one = {"author": dice.choice(PEOPLE), "text": sentence(dice, 1, 8), "stars": dice.randint(0, 5)}
    if dice.maybe():
        one["at"] = iso(moment(dice))
    if dice.maybe():
        one["votes"] = [{"who": dice.choice(PEOPLE), "up": dice.maybe()} for _ in range(dice.randint(1, 3))]
    return one


def several(dice, make):
    """One value, or several in a list."""
    return make() if dice.maybe(0.6) else [make() for _ in range(dice.randint(0, 4))]


def span(dice, low, high):
    ends = sorted(dice.randint(low, high) for _ in range(2))
    return {dice.choice(("gte", "gt")): ends[0], dice.choice(("lte", "lt")): ends[1] + 2}


def days(dice):
    ends = sorted(iso(moment(dice)) for _ in range(2))
    return {"gte": ends[0], "lt": ends[1]}


def document(dice):
    """A document; each of its fields may be missing."""
    whole = dice.randint
    values = {
        "title": lambda: sentence(dice, 1, 9),
        "body": lambda: several(dice, lambda: sentence(dice, 3, 50)),
        "short": lambda: several(dice, lambda: sentence(dice, 1, 4)),
        "note": lambda: sentence(dice, 2, 15),
        "plain": lambda: sentence(dice, 2, 15),
        "tag": lambda: several(dice, lambda: dice.choice(TAGS)),
        "level": lambda: dice.choice(LEVELS),
        "lower": lambda: dice.choice(TAGS),
        "wild": lambda: sentence(dice, 1, 3),
        "count": lambda: whole(-5, 60), "big": lambda: whole(-(1 << 40), 1 << 40), "small": lambda: whole(0, 300),
        "tiny": lambda: whole(-3, 3),
        "sizes": lambda: [whole(0, 20) for _ in range(whole(0, 4))],
        "price": lambda: round(dice.lognormvariate(2, 1), 2), "ratio": lambda: round(dice.random(), 3),
        "half": lambda: whole(0, 64) / 4, "money": lambda: round(dice.uniform(0, 100), 2),
        "huge": lambda: whole(0, (1 << 64) - 1),
        "rank": lambda: whole(1, 100),
        "day": lambda: iso(moment(dice)), "stamp": lambda: millis(moment(dice)), "nanos": lambda: iso(moment(dice)),
        "local": lambda: moment(dice).strftime("%Y/%m/%d"),
        "flag": lambda: several(dice, dice.maybe), "addr": lambda: several(dice, lambda: address(dice)),
        "place": lambda: several(dice, lambda: point(dice)),
        "complete": lambda: {"input": sentence(dice, 1, 3).translate(OTHER_LETTERS), "weight": whole(1, 100000)},
        "within": lambda: span(dice, 0, 50), "open": lambda: days(dice),
        "owner": lambda: {"name": dice.choice(PEOPLE), "age": whole(18, 30)},
        "comments": lambda: [comment(dice) for _ in range(whole(0, 4))],
    }
    made = {name: make() for name, make in values.items() if dice.maybe(0.85)}
    if dice.maybe(0.05):
        made |= {name: None for name in dice.some(values, 1, 3)}
    return made | {name: direction(dice) for name in SPACES if dice.maybe(0.9)}


def documents(dice, count):
    return {str(number): document(dice) for number in range(count)}
