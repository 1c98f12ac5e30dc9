"""Generated queries on whole values, places, vectors and nested objects, and the ones that hold other queries."""

from . import fulltext
from .corpus import (DATES, FRACTIONS, KEYWORDS, LEVELS, NUMBERS, PEOPLE, SPACES, TAGS, address, direction, iso, millis,
                     moment, point)
from .fulltext import boost, enough, misspelt, word

EVERY_FIELD = [*KEYWORDS, *NUMBERS, *DATES, "title", "flag", "addr", "place", "owner", "owner.age", "within", "comments",
               "v_l2", "wild", "huge", "nick", "rank", "plain", "local"]


def value(dice, field):
    """A value that a field may have."""
    if field in FRACTIONS:
        return dice.choice([round(dice.uniform(0, 20), 2), dice.randrange(20), str(dice.randrange(20))])
    if field in NUMBERS or field in ("owner.age", "within", "rank"):
        return dice.choice([dice.randrange(40), dice.randrange(40), -2, str(dice.randrange(20))])
    made = {
        "stamp": lambda: millis(moment(dice)), "day": lambda: iso(moment(dice))[:dice.choice([4, 7, 10, 24])],
        "nanos": lambda: iso(moment(dice)), "local": lambda: moment(dice).strftime("%Y/%m/%d"),
        "flag": lambda: dice.choice([True, False, "true", "false"]),
        "addr": lambda: dice.choice([address(dice), "10.0.0.0/16", "10.1.1.0/24", "2001:db8::/32"]),
        "level": lambda: dice.choice(LEVELS), "owner.name": lambda: dice.choice(PEOPLE),
        "huge": lambda: dice.randrange(1 << 64), "wild": lambda: word(dice),
        "title.raw": lambda: fulltext.words(dice, 1, 2), "open": lambda: iso(moment(dice)),
    }.get(field)
    if made:
        return made()
    return word(dice).lower() if field in (*fulltext.FIELDS, "plain") else dice.choice(TAGS)


def term(dice):
    field = dice.choice([*KEYWORDS, *NUMBERS, *DATES, "title", "flag", "addr", "nick", "wild", "huge", "within", "open", "local"])
    if dice.maybe(0.6):
        return {"term": {field: value(dice, field)}}
    insensitive = {"case_insensitive": dice.maybe()} if field in ("tag", "level", "title", "wild", "lower") and dice.maybe() else {}
    return {"term": {field: {"value": value(dice, field), **insensitive, **dice.options(0.4, boost=lambda: boost(dice))}}}


def terms(dice):
    field = dice.choice([*KEYWORDS, *NUMBERS, *DATES, "title", "flag", "addr", "nick", "huge"])
    return {"terms": {field: [value(dice, field) for _ in range(dice.randint(0, 5))], **dice.options(0.2, boost=lambda: boost(dice))}}


def ranges(dice):
    field = dice.choice([*NUMBERS, *DATES, "tag", "level", "addr", "huge", "owner.age", "local", "title.raw"])
    ends = {}
    single = lambda: next(v for v in iter(lambda: value(dice, field), None) if "/" not in str(v) or field in ("tag", "local"))
    if dice.maybe(0.8):
        ends[dice.choice(["gt", "gte"])] = single()
    if dice.maybe(0.8):
        ends[dice.choice(["lt", "lte"])] = single()
    if field in ("day", "nanos") and dice.maybe(0.4):
        ends = {"gte": dice.choice(["2020-05-01||+1M/d", "2021||/y", "2020-10-10||-3d/M", "2020-02-30"]),
                "lt": dice.choice(["2021-06-15||/w", "now", "2022-01-01T12:00:00", "now/y"])}
        ends |= dice.options(0.3, time_zone=dice.choice(["+01:00", "Europe/Paris", "-08:00", "America/New_York"]))
    if field == "day":
        ends |= dice.options(0.1, format="yyyy-MM-dd||yyyy-MM||yyyy||strict_date_optional_time")
    return {"range": {field: ends | dice.options(0.2, boost=lambda: boost(dice))}}


def range_fields(dice):
    field, make = dice.choice([("within", lambda: dice.randrange(50)), ("open", lambda: iso(moment(dice)))])
    ends = sorted([make(), make()])
    relation = dice.options(0.7, relation=dice.choice(["intersects", "within", "contains", "INTERSECTS"]))
    return {"range": {field: {dice.choice(["gt", "gte"]): ends[0], dice.choice(["lt", "lte"]): ends[1], **relation}}}


def exists(dice):
    return {"exists": {"field": dice.choice([*EVERY_FIELD, "missing", "comments.author", "_id", "own*", "open"]), **dice.options(0.2, boost=2)}}


def ids(dice):
    return {"ids": {"values": [str(dice.randrange(600)) for _ in range(dice.randint(0, 5))]}}


def patterns(dice):
    kind = dice.choice(["prefix", "wildcard", "regexp", "fuzzy"])
    fields = ["tag", "title", "title.raw", "level", "lower", "nick", "body", "note"]
    # OpenSearch's fuzzy queries find nothing in the one, and score in the other, which counts nothing.
    field = dice.choice(fields if kind == "fuzzy" else [*fields, "wild", "plain"])
    one = dice.choice(TAGS[:7] + LEVELS + [word(dice)])
    insensitive = dice.options(0.3, case_insensitive=dice.maybe)
    made = {
        "prefix": lambda: {"value": one[:dice.randint(0, 2)] or "d"},
        "wildcard": lambda: {"value": dice.choice([one[:1] + "*", "*" + one[-2:], "?" + one[1:], "*", "*" + one[1:3] + "*", one + "\\*"])},
        "regexp": lambda: {"value": dice.choice(["r.*", "[a-d].+", "(red|blue)", "...", "bl?ue*", "<1-200>", "~red", "r&.*d", "@", "#", ".*e{1,2}.*"])},
        "fuzzy": lambda: {"value": misspelt(dice), **dice.options(0.3, fuzziness=lambda: fulltext.fuzziness(dice), prefix_length=1,
                                                                  transpositions=dice.maybe, max_expansions=100)},
    }[kind]()
    if field == "wild" and made["value"] in ("*", "**", "@"):
        # Every value: OpenSearch scores that by how many there are.
        made["value"] = "w*" if kind == "wildcard" else "w.*"
    if kind != "fuzzy":
        made |= insensitive
    if kind == "regexp":
        made |= dice.options(0.2, flags=dice.choice(["ALL", "NONE", "INTERVAL", "COMPLEMENT|INTERSECTION"]))
    return {kind: {field: made | dice.options(0.2, boost=lambda: boost(dice))}}


def everything(dice):
    return dice.choice([{"match_all": {}}, {"match_all": {"boost": 1.5}}, {"match_none": {}}])


def geo(dice):
    at = point(dice)
    near = {"lat": 48.8 + dice.gauss(0, 0.5), "lon": 2.3 + dice.gauss(0, 0.5)}
    kind = dice.choice(["geo_distance", "geo_bounding_box", "geo_polygon", "geo_shape"])
    wide, high = dice.uniform(0.1, 20), dice.uniform(0.1, 20)
    top, bottom = min(at["lat"] + high, 90), max(at["lat"] - high, -90)
    left, right = max(at["lon"] - wide, -180), min(at["lon"] + wide, 180)
    made = {
        "geo_distance": lambda: {"place": dice.choice([near, [near["lon"], near["lat"]], f"{near['lat']},{near['lon']}"]),
                                 "distance": dice.choice(["50km", "10mi", "100000", "20000m", "1.5km", "300nmi"]),
                                 **dice.options(0.2, distance_type=dice.choice(["arc", "plane"]))},
        "geo_bounding_box": lambda: {"place": dice.choice([
            {"top_left": {"lat": top, "lon": left}, "bottom_right": {"lat": bottom, "lon": right}},
            {"top": top, "left": left, "bottom": bottom, "right": right},
            {"top_right": [right, top], "bottom_left": [left, bottom]},
            # Over the date line.
            {"top_left": {"lat": top, "lon": 170}, "bottom_right": {"lat": bottom, "lon": -100}}])},
        "geo_polygon": lambda: {"place": {"points": [[left, bottom], [right, bottom], {"lat": top, "lon": right}, f"{top},{left}"]}},
        "geo_shape": lambda: {"place": {"shape": {"type": "envelope", "coordinates": [[left, top], [right, bottom]]},
                                        **dice.options(0.5, relation="intersects")}},
    }[kind]()
    return {kind: made | dice.options(0.2, boost=2)}


def knn(dice):
    field = dice.choice(list(SPACES))
    # Many, so that the other's walk through its graph, which is as wide as that, misses none.
    how = {"vector": direction(dice), "k": dice.choice([200, 300, 400])}
    if dice.maybe(0.4):
        how["filter"] = clause(dice, 0)
    return {"knn": {field: how | dice.options(0.2, boost=2)}}


def nested(dice, depth=1):
    path = "comments"
    inner = dice.choice([
        lambda: {"match": {"comments.text": fulltext.words(dice)}},
        lambda: {"term": {"comments.author": dice.choice(PEOPLE)}},
        lambda: {"range": {"comments.stars": {"gte": dice.randrange(6)}}},
        lambda: {"exists": {"field": "comments.at"}},
        lambda: {"bool": {"must": [{"term": {"comments.author": dice.choice(PEOPLE)}}], "must_not": [{"term": {"comments.stars": 3}}]}},
        lambda: {"nested": {"path": "comments.votes", "query": {"term": {"comments.votes.up": dice.maybe()}}}},
        lambda: {"bool": {"should": [{"match": {"comments.text": word(dice)}}, {"range": {"comments.stars": {"gt": 2, "boost": 3}}}]}},
    ])()
    if dice.maybe(0.2):
        path, inner = "comments.votes", {"term": {"comments.votes.who": dice.choice(PEOPLE)}}
    mode = dice.options(0.6, score_mode=dice.choice(["avg", "sum", "min", "max", "none"]))
    return {"nested": {"path": path, "query": inner, **mode, **dice.options(0.1, ignore_unmapped=True)}}


def compound(dice, depth):
    inner = lambda: clause(dice, depth - 1)
    some = lambda: [inner() for _ in range(dice.randint(1, 3))]
    made = {
        "bool": lambda: dice.options(0.5, must=some, should=some, filter=some, must_not=some)
        | dice.options(0.2, minimum_should_match=lambda: enough(dice), boost=lambda: boost(dice)),
        "constant_score": lambda: {"filter": inner(), **dice.options(0.5, boost=lambda: boost(dice))},
        "dis_max": lambda: {"queries": some(), **dice.options(0.5, tie_breaker=0.4, boost=1.2)},
        "boosting": lambda: {"positive": inner(), "negative": inner(), "negative_boost": dice.choice([0.2, 0.5, 0])},
        "function_score": lambda: function_score(dice, inner),
    }
    kind = dice.choices(list(made), [6, 2, 2, 1, 3])[0]
    return {kind: made[kind]()}


def function_score(dice, inner):
    functions = []
    for _ in range(dice.randint(1, 3)):
        functions.append(function(dice) | dice.options(0.4, filter=inner))
    made = {"functions": functions} if dice.maybe(0.8) else {name: body for name, body in function(dice).items()}
    made |= dice.options(0.8, query=inner)
    made |= dice.options(0.3, boost_mode=dice.choice(["multiply", "sum", "avg", "max", "min", "replace"]), max_boost=3,
                         score_mode=dice.choice(["multiply", "sum", "avg", "first", "max", "min"]), boost=1.3)
    if "functions" in made:
        made |= dice.options(0.3, min_score=1.1)
    if "functions" not in made:
        made.pop("score_mode", None)
    return made


def function(dice):
    decay = dice.choice(["gauss", "exp", "linear"])
    field, how = dice.choice([
        ("count", {"origin": dice.randrange(50), "scale": dice.choice([1, 10])}), ("price", {"origin": 5.5, "scale": 3}),
        ("day", {"origin": "2021-01-01", "scale": dice.choice(["10d", "30d", "1000h"])}),
        ("place", {"origin": "48.8,2.3", "scale": "100km"}), ("sizes", {"origin": 4, "scale": 2})])
    how = how | dice.options(0.3, decay=0.3)
    if dice.maybe(0.3):
        how["offset"] = {"day": "5d", "place": "20km"}.get(field, 2)
    mode = dice.options(0.3, multi_value_mode=dice.choice(["min", "max", "avg", "sum"]))
    factor = {"field": dice.choice(["small", "price", "rank2", "owner.age"]).replace("rank2", "half"),
              "missing": dice.choice([1, 2.5]),
              **dice.options(0.5, factor=dice.choice([0.5, 2]), modifier=dice.choice(["log1p", "log2p", "ln1p", "ln2p", "sqrt", "square", "none"]))}
    # Only the first is a function that stands alone without a weight.
    return dice.choice([{decay: {field: how, **mode}}, {"field_value_factor": factor}, {"weight": dice.choice([2, 0.5])},
                        {decay: {field: how}}])


def by_feature(dice):
    return dice.choice([
        {"distance_feature": {"field": "day", "origin": "2021-05-05", "pivot": "30d"}},
        {"distance_feature": {"field": "place", "origin": [2.3, 48.8], "pivot": "50km"}},
        {"terms_set": {"tag": {"terms": dice.some(TAGS, 1, 4), "minimum_should_match_field": "tiny"}}},
        {"more_like_this": {"fields": ["body", "title"], "like": fulltext.words(dice, 3, 6), "min_term_freq": 1, "min_doc_freq": 1}},
    ])


LEAVES = {term: 8, terms: 5, ranges: 8, range_fields: 3, exists: 3, ids: 1, patterns: 8, everything: 2, geo: 4, nested: 5,
          by_feature: 3} | fulltext.FAMILIES


def clause(dice, depth):
    """Any query, with others inside up to a depth."""
    if depth and dice.maybe(0.5):
        return compound(dice, depth)
    return dice.weighted(LEAVES)(dice)
