"""Generated queries over text: the match family, query strings, intervals and spans."""

from .corpus import TEXTS, WORDS

FIELDS = [*TEXTS, "title.simple", "everything", "plain"]
WITH_POSITIONS = [*TEXTS, "title.simple", "everything"]


def word(dice):
    return WORDS[min(int(dice.expovariate(0.04)), len(WORDS) - 1)]


def words(dice, least=1, most=4):
    return " ".join(word(dice) for _ in range(dice.randint(least, most)))


def misspelt(dice):
    """A word with one letter changed, left out or put in."""
    letters = list(word(dice).lower())
    at = dice.randrange(len(letters))
    change = dice.randrange(3)
    letters[at:at + (change != 2)] = [] if change == 0 else ["e"]
    return "".join(letters) or "e"


def enough(dice):
    return dice.choice([1, 2, "1", "50%", "-1", "75%", "-25%", "2<75%", "1<-1 3<50%", 0, 3])


def operator(dice):
    return dice.choice(["and", "or", "AND", "OR"])


def fuzziness(dice):
    return dice.choice(["AUTO", 0, 1, 2, "1", "AUTO:2,5"])


def boost(dice):
    return dice.choice([0.5, 2, 3.7, 0])


def match(dice):
    options = dice.options(0.25, operator=lambda: operator(dice), minimum_should_match=lambda: enough(dice),
                           boost=lambda: boost(dice), zero_terms_query=dice.choice(["none", "all"]),
                           lenient=dice.maybe, analyzer=dice.choice(["standard", "whitespace", "simple", "keyword"]))
    text = words(dice)
    if dice.maybe(0.2):
        text = misspelt(dice)
        options |= {"fuzziness": fuzziness(dice)}
        options |= dice.options(0.3, prefix_length=dice.randrange(3), max_expansions=dice.choice([50, 100]),
                                fuzzy_transpositions=dice.maybe)
    field = dice.choice(FIELDS)
    if not options and dice.maybe():
        return {"match": {field: text}}
    return {"match": {field: {"query": text, **options}}}


def match_phrase(dice):
    options = dice.options(0.3, slop=dice.randrange(4), boost=lambda: boost(dice), zero_terms_query=dice.choice(["none", "all"]))
    return {"match_phrase": {dice.choice(FIELDS): {"query": words(dice, 1, 3), **options}}}


def match_phrase_prefix(dice):
    options = dice.options(0.3, slop=dice.randrange(3), boost=lambda: boost(dice), max_expansions=50)
    return {"match_phrase_prefix": {dice.choice(WITH_POSITIONS): {"query": words(dice, 1, 2) + " " + word(dice)[:2], **options}}}


def match_bool_prefix(dice):
    options = dice.options(0.3, operator=lambda: operator(dice), minimum_should_match=lambda: enough(dice), boost=lambda: boost(dice))
    return {"match_bool_prefix": {dice.choice(FIELDS): {"query": words(dice) + " " + word(dice)[:2], **options}}}


def multi_match(dice):
    kind = dice.choice(["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"])
    fields = [name + dice.choice(["", "", "^2", "^0.5"]) for name in dice.some(WITH_POSITIONS, 1, 4)]
    options = dice.options(0.3, boost=lambda: boost(dice))
    if kind in ("best_fields", "most_fields", "cross_fields", "bool_prefix"):
        options |= dice.options(0.3, operator=lambda: operator(dice), minimum_should_match=lambda: enough(dice))
    if kind in ("best_fields", "most_fields", "cross_fields"):
        options |= dice.options(0.3, tie_breaker=dice.choice([0.0, 0.3, 1.0]), zero_terms_query=dice.choice(["none", "all"]))
    if kind in ("best_fields", "most_fields"):
        options |= dice.options(0.15, fuzziness=lambda: fuzziness(dice))
    if kind in ("phrase", "phrase_prefix"):
        options |= dice.options(0.3, slop=dice.randrange(3))
    if dice.maybe(0.8):
        options["type"] = kind
    return {"multi_match": {"query": words(dice), "fields": fields, **options}}


def query_string(dice):
    options = dice.options(0.25, default_operator=lambda: operator(dice), boost=lambda: boost(dice),
                           minimum_should_match=lambda: enough(dice), tie_breaker=0.3, phrase_slop=2, lenient=True,
                           analyze_wildcard=dice.maybe, allow_leading_wildcard=dice.maybe, auto_generate_synonyms_phrase_query=dice.maybe,
                           fuzzy_prefix_length=1, fuzzy_transpositions=dice.maybe)
    options |= where(dice)
    return {"query_string": {"query": expression(dice, 2), **options}}


def where(dice):
    if dice.maybe(0.4):
        return {"default_field": dice.choice(WITH_POSITIONS)}
    return {"fields": [name + dice.choice(["", "", "^2"]) for name in dice.some([*WITH_POSITIONS, "tag"], 1, 3)]}


def expression(dice, depth):
    """An expression of the query language, from its grammar."""
    parts = [clause(dice, depth) for _ in range(dice.randint(1, 3))]
    joined = parts[0]
    for part in parts[1:]:
        joined += dice.choice([" ", " ", " AND ", " OR ", " && ", " || "]) + part
    return joined


def clause(dice, depth):
    kind = dice.randrange(14)
    prefix = dice.choice(["", "", "", "", "+", "-", "NOT ", "!"])
    plain = dice.choice(["search", "server", "Fast", "log", word(dice).strip("'")])
    if kind == 0 and depth:
        return f"{prefix}({expression(dice, depth - 1)}){dice.choice(['', '^2'])}"
    made = {
        1: lambda: f'"{words(dice, 1, 3)}"{dice.choice(["", "~2", "^3"])}',
        2: lambda: f"{plain}~{dice.choice(['', '1', '2'])}",
        3: lambda: f"{plain[:2]}*",
        4: lambda: f"{plain[:1]}?{plain[2:]}",
        5: lambda: f"tag:{dice.choice(['red', 'blue', 'orange'])}",
        6: lambda: f"count:{dice.choice(['[1 TO 20]', '{5 TO *}', '>=10', '<30', '[* TO 5}', '7'])}",
        7: lambda: f"{plain}^{dice.choice(['2', '0.5'])}",
        8: lambda: f"_exists_:{dice.choice(['tag', 'title', 'sizes', 'comments', 'owner'])}",
        9: lambda: f"/{plain[:2].lower()}.*/",
        10: lambda: f"title:({plain} {word(dice).strip(chr(39))})",
        11: lambda: f"day:[2020-06-01 TO {dice.choice(['2021-01-01', '2022-02', 'now'])}]",
    }.get(kind, lambda: plain)
    return prefix + made()


def simple_query_string(dice):
    options = dice.options(0.25, default_operator=lambda: operator(dice), boost=lambda: boost(dice),
                           minimum_should_match=lambda: enough(dice), analyze_wildcard=dice.maybe, lenient=True,
                           flags=dice.choice(["ALL", "AND|OR|PREFIX", "NONE", "PHRASE|NOT"]), fuzzy_prefix_length=1)
    options["fields"] = [name + dice.choice(["", "", "^2"]) for name in dice.some([*WITH_POSITIONS, "tag"], 1, 3)]
    parts = []
    for _ in range(dice.randint(1, 4)):
        shape = dice.choice(["{}", "{}", "{}", "+{}", "-{}", '"{} server"', "({} | log)", "{}~1", '"{} fast"~2', "{}*", "| {}", "{} + {}", "\\+{}"])
        parts.append(shape.replace("{}", word(dice)))
    return {"simple_query_string": {"query": " ".join(parts), **options}}


def intervals(dice):
    return {"intervals": {dice.choice(WITH_POSITIONS): {**rule(dice, 2), **dice.options(0.2, boost=boost(dice))}}}


def rule(dice, depth):
    kinds = ["match", "match", "match", "prefix", "wildcard", "fuzzy", "regexp"] + (["any_of", "all_of"] * 2 if depth else [])
    kind = dice.choice(kinds)
    one = word(dice).lower()
    made = {
        "match": lambda: {"query": words(dice, 1, 3), **dice.options(0.4, max_gaps=dice.randint(-1, 5)), **order(dice)},
        "prefix": lambda: {"prefix": one[:2]},
        "wildcard": lambda: {"pattern": one[:1] + "*" + one[-1:]},
        "regexp": lambda: {"pattern": one[:1] + ".*" + one[-1:]} if one[:1].isalpha() and one[-1:].isalpha() else {"pattern": "s.*r"},
        "fuzzy": lambda: {"term": misspelt(dice), **dice.options(0.3, fuzziness=fuzziness(dice))},
        "any_of": lambda: {"intervals": [rule(dice, depth - 1) for _ in range(dice.randint(1, 3))]},
        "all_of": lambda: {"intervals": [rule(dice, depth - 1) for _ in range(dice.randint(1, 3))],
                           **dice.options(0.4, max_gaps=dice.randint(-1, 5)), **order(dice)},
    }[kind]()
    if kind in ("match", "all_of", "any_of") and depth and dice.maybe(0.25):
        how = dice.choice(["after", "before", "contained_by", "containing", "not_contained_by", "not_containing", "not_overlapping", "overlapping"])
        made["filter"] = {how: rule(dice, 0)}
    return {kind: made}


def order(dice):
    return dice.choice([{}, {}, {"ordered": True}, {"mode": "ordered"}, {"mode": "unordered"}, {"mode": "unordered_no_overlap"}])


def spans(dice):
    return span(dice, dice.choice(["title", "body", "everything"]), 2)


def span(dice, field, depth):
    terms = lambda: {"span_term": {field: dice.choice([word(dice).lower(), {"value": word(dice).lower(), "boost": 2}])}}
    inner = lambda: span(dice, field, depth - 1)
    if not depth:
        return terms()
    made = {
        "span_term": lambda: terms()["span_term"],
        "span_or": lambda: {"clauses": [inner() for _ in range(dice.randint(1, 3))]},
        "span_near": lambda: {"clauses": [inner() for _ in range(dice.randint(1, 3))], "slop": dice.randrange(6), "in_order": dice.maybe()},
        "span_not": lambda: {"include": inner(), "exclude": inner(), **dice.options(0.3, pre=dice.randrange(3), post=dice.randrange(3))},
        "span_first": lambda: {"match": inner(), "end": dice.randint(1, 10)},
        "span_containing": lambda: {"big": inner(), "little": inner()},
        "span_within": lambda: {"big": inner(), "little": inner()},
        "span_multi": lambda: {"match": dice.choice([
            {"prefix": {field: {"value": word(dice).lower()[:2]}}}, {"wildcard": {field: {"value": "s*r"}}},
            {"fuzzy": {field: {"value": misspelt(dice)}}}, {"regexp": {field: {"value": "q.*"}}}])},
    }
    kind = dice.choice(list(made))
    return {kind: made[kind]()}


FAMILIES = {match: 6, match_phrase: 3, match_phrase_prefix: 2, match_bool_prefix: 2, multi_match: 5, query_string: 5,
            simple_query_string: 3, intervals: 4, spans: 4}
