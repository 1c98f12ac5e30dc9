"""Whole requests: searches with everything that goes around a query, and requests that must be refused."""

import copy

from . import aggregations, clauses, more, sessions
from .corpus import DATES, KEYWORDS, NUMBERS, direction

SORTABLE = [*NUMBERS, *KEYWORDS[:2], *DATES, "flag", "addr", "huge", "nick", "half", "owner.age"]


def search(dice):
    """A query, with some of the rest."""
    body = {"query": clauses.clause(dice, dice.choice([0, 0, 1, 2])), "size": dice.choice([10, 10, 50, 3, 600]), "_source": False}
    body |= dice.options(0.1, min_score=0.6, track_total_hits=dice.choice([True, 50, False]), **{"from": dice.randrange(20)},
                         post_filter=lambda: clauses.clause(dice, 0), explain=False, version=True, seq_no_primary_term=True)
    if dice.maybe(0.25):
        body["sort"] = sort(dice)
        body |= dice.options(0.2, track_scores=True)
        if "nested" in str(body["sort"]) or "range" in body["query"]:
            # OpenSearch stops at the count, and may have missed the first ones.
            body.pop("track_total_hits", None)
    return "search", body


def sort(dice):
    keys = []
    # What scores nearly alike must not be told apart by what comes behind.
    for field in sorted(dice.some([*SORTABLE, "_score", "place", "comments.stars"], 1, 3), key=lambda name: name == "_score"):
        if field == "_score":
            keys.append("_score")
        elif field == "place":
            keys.append({"_geo_distance": {"place": [2.3, 48.8], "order": dice.choice(["asc", "desc"]), "unit": dice.choice(["km", "m"]),
                                           **dice.options(0.3, mode=dice.choice(["min", "max", "avg", "median"]))}})
        elif field == "comments.stars":
            keys.append({field: {"order": "desc", "mode": dice.choice(["min", "max", "avg"]), "nested": {"path": "comments"}}})
        else:
            options = dice.options(0.4, order=dice.choice(["asc", "desc"]), missing=dice.choice(["_first", "_last"]))
            if field == "nanos":
                # Before everything means before 1970, which OpenSearch cannot show.
                options.pop("missing", None)
            if field in NUMBERS:
                options |= dice.options(0.2, mode=dice.choice(["min", "max"] if field != "sizes" else ["min", "max", "sum", "avg", "median"]))
            keys.append({field: options} if options or dice.maybe() else field)
    return keys


def knn(dice):
    body = {"query": clauses.knn(dice), "size": 30, "_source": False}
    if dice.maybe(0.3):
        body["query"] = {"bool": {"should": [body["query"], clauses.clause(dice, 0)]}}
    return "search", body


def aggregate(dice):
    made = dice.choice([aggregations.siblings, aggregations.nested] + [aggregations.aggregations] * 6)(dice)
    body = {"size": 0, "track_total_hits": True, "aggs": made}
    if dice.maybe():
        body["query"] = clauses.clause(dice, 1)
    return "search", body


def count(dice):
    return "count", {"query": clauses.clause(dice, 2)}


def fields(dice):
    """What a hit shows."""
    body = {"query": {"match_all": {}}, "size": 20, "sort": ["count", "big"], "from": dice.randrange(300)}
    body["_source"] = dice.choice([True, False, ["title", "own*"], {"excludes": ["comments", "b*"]}, {"includes": ["comments.*"], "excludes": ["*.text"]}, "tag"])
    body |= dice.options(0.6, docvalue_fields=lambda: dice.some([
        "tag", "count", {"field": "day", "format": "yyyy/MM"}, "stamp", "addr", "flag", "price", "half", "money", "place", "title.words",
        "huge", "nanos", "ratio", "tin*", "nick", "sizes"], 1, 4))
    body |= dice.options(0.6, fields=lambda: dice.some([
        "title", "tag", {"field": "day", "format": "epoch_millis"}, "own*", "comments.author", "place", "money", "title.raw", "lower", "addr", "half", "huge"], 1, 4))
    body |= dice.options(0.2, version=True, seq_no_primary_term=True, explain=False)
    return "search", body


def highlight(dice):
    query = clauses.fulltext.match(dice)
    field = next(iter(query["match"]))
    options = dice.options(0.3, number_of_fragments=dice.choice([0, 1, 3]), fragment_size=dice.choice([18, 60, 150]), order="score",
                           tags_schema="styled", no_match_size=20, require_field_match=dice.maybe, encoder="html")
    return "search", {"query": query, "size": 20, "_source": False, "highlight": {"fields": {field: {}}, **options}}


def analyze(dice):
    body = {"text": aggregations_text(dice), "analyzer": dice.choice(["standard", "simple", "whitespace", "keyword", "english", "stop"])}
    return "analyze", body


def aggregations_text(dice):
    from .corpus import sentence
    return sentence(dice, 1, 20)


def wrong(dice):
    """A right request with one thing wrong in it."""
    kind, body = dice.choice([search, search, aggregate])(dice)
    body = copy.deepcopy(body)
    spot(dice, body)
    return kind, body


def spot(dice, body):
    """Changes one place: an unknown key, a value of another kind, or something left out."""
    places = list(walk(body))
    holder, key = dice.choice(places)
    change = dice.randrange(4)
    if change == 0:
        holder[key] = dice.choice([None, "nonsense", -7, [], {}, [1, "x"], True, {"nonsense": 1}, 1e40])
    elif change == 1 and isinstance(holder, dict):
        holder[key + "x"] = holder.pop(key)
    elif change == 2 and isinstance(holder, dict):
        holder["unheard_of"] = dice.choice([1, {}, "a", {"b": 1}])
    else:
        del holder[key]


def walk(body):
    """Every place in a body."""
    for key in list(body) if isinstance(body, dict) else range(len(body)):
        yield body, key
        if isinstance(body[key], (dict, list)):
            yield from walk(body[key])


def malformed_vector(dice):
    how = {"vector": direction(dice)[:dice.choice([8, 7])], "k": dice.choice([0, -1, 400, "x", 100000])}
    return "search", {"query": {"knn": {dice.choice(["v_l2", "title", "nothing"]): how}}}


FAMILIES = {"search": (search, 12), "aggregations": (aggregate, 8), "knn": (knn, 2), "count": (count, 1), "fields": (fields, 2),
            "highlight": (highlight, 2), "analyze": (analyze, 1), "wrong": (wrong, 3), "vectors": (malformed_vector, 0.3)} | more.FAMILIES
FAMILIES |= {name: (lambda dice, name=name: ("session", {"session": name, "seed": dice.randrange(1 << 32)}), 0.15) for name in sessions.SESSIONS}


def request(dice, only=None):
    """A family's name, the endpoint and the body."""
    names = only or list(FAMILIES)
    name = dice.choices(names, [FAMILIES[name][1] for name in names])[0]
    return name, *FAMILIES[name][0](dice)
