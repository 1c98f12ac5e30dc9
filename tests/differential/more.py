"""Whole requests of the rarer kinds: what stands around a query, and other endpoints than the search."""

from . import clauses, fulltext
from .corpus import LEVELS, OTHER_LETTERS, PEOPLE, SPACES, TAGS, WORDS, direction

# A field with few values, and none of them twice in one document.
SINGLE = ["level", "owner.name", "count", "tiny", "lower"]


def collapse(dice):
    """One hit of each group, and what else is in the group."""
    order = [{"big": {"order": dice.choice(["asc", "desc"])}}, "_id"]
    how = {"field": dice.choice(SINGLE)}
    if dice.maybe(0.5):
        inner = {"name": "more", "size": dice.choice([0, 2, 5]), "sort": order, "_source": False, **dice.options(0.3, **{"from": 1})}
        how["inner_hits"] = inner if dice.maybe(0.7) else [inner, {**inner, "name": "others", "sort": [{"huge": "asc"}, "_id"]}]
    made = {"query": clauses.clause(dice, 1), "collapse": how, "size": dice.choice([3, 10, 40]), "_source": False, "sort": order}
    return "search", made | dice.options(0.2, **{"from": 2}, track_total_hits=True)


def rescore(dice):
    one = lambda: {"window_size": dice.choice([600, 1000]), "query": {
        "rescore_query": clauses.clause(dice, 0),
        **dice.options(0.4, query_weight=0.7, rescore_query_weight=1.2, score_mode=dice.choice(["total", "multiply", "avg", "max", "min"]))}}
    return "search", {"query": clauses.clause(dice, 0), "size": 20, "_source": False, "rescore": one() if dice.maybe(0.7) else [one(), one()]}


def suggest(dice):
    text = " ".join(fulltext.misspelt(dice) for _ in range(dice.randint(1, 3)))
    # An accuracy that no word has exactly.
    term = {"field": dice.choice(["title", "body", "title.simple"]), "accuracy": dice.choice([0.45, 0.55, 0.7]), **dice.options(
        0.3, size=dice.choice([1, 3]), suggest_mode=dice.choice(["missing", "popular", "always"]), max_edits=dice.choice([1, 2]), sort=dice.choice(["score", "frequency"]),
        prefix_length=dice.choice([1, 2]), min_word_length=dice.choice([2, 4]), min_doc_freq=dice.choice([0, 2]))}
    complete = {"field": "complete", **dice.options(0.3, size=dice.choice([2, 10]), skip_duplicates=dice.maybe)}
    if dice.maybe(0.3):
        complete["fuzzy"] = dice.options(0.4, fuzziness=dice.choice([1, 2]), transpositions=dice.maybe, prefix_length=1, min_length=3)
    kinds = {"t": {"text": text, "term": term}, "c": {"prefix": fulltext.word(dice)[:dice.randint(1, 3)].translate(OTHER_LETTERS), "completion": complete}}
    chosen = dice.some(list(kinds), 1, 2)
    return "search", {"size": 0, "suggest": {name: kinds[name] for name in chosen}}


def inner_hits(dice):
    query = {"nested": {"path": "comments", "query": dice.choice([
        {"match": {"comments.text": fulltext.words(dice)}}, {"range": {"comments.stars": {"gte": dice.randrange(5)}}},
        {"term": {"comments.author": dice.choice(PEOPLE)}}, {"match_all": {}}])}}
    shown = dice.options(0.4, size=dice.choice([1, 2, 10]), sort=[{"comments.stars": dice.choice(["asc", "desc"])}, "comments.author", "_doc"], name="x",
                         _source=dice.choice([False, ["comments.text"], {"excludes": ["comments.text"]}]), version=True, seq_no_primary_term=True,
                         docvalue_fields=["comments.stars"], highlight={"fields": {"comments.text": {}}}, **{"from": 1})
    query["nested"]["inner_hits"] = shown
    if dice.maybe(0.3):
        query = {"bool": {"must": [query], "should": [clauses.clause(dice, 0)]}}
    return "search", {"query": query, "size": 10, "_source": False}


def scripted(dice):
    """Scores of vectors by the scripts that there are."""
    wanted = clauses.clause(dice, 0) if dice.maybe(0.3) else {"match_all": {}}
    field = dice.choice(list(SPACES))
    known = {"bool": {"must": [wanted], "filter": [{"exists": {"field": field}}]}}
    space = dice.choice(["l2", "cosinesimil", "innerproduct", "l1", "linf"])
    script = dice.choice([
        {"source": "knn_score", "lang": "knn", "params": {"field": field, "query_value": direction(dice), "space_type": space}},
        {"source": f"1.0 + cosineSimilarity(params.v, doc['{field}'])", "params": {"v": direction(dice)}},
        {"source": f"1 / (1 + l2Squared(params.v, doc['{field}']))", "params": {"v": direction(dice)}},
        {"source": f"1 / (1 + l1Norm(params.v, doc['{field}']))", "params": {"v": direction(dice)}}])
    query = {"script_score": {"query": known, "script": script, **dice.options(0.2, min_score=0.4, boost=2)}}
    return "search", {"query": query, "size": 20, "_source": False}


def explain(dice):
    return f"explain/{dice.randrange(600)}", {"query": clauses.clause(dice, 1)}


def marks(dice):
    """Highlights of several fields, cut and chosen in other ways."""
    field = dice.choice(["title", "body", "note", "everything"])
    options = dice.options(0.25, number_of_fragments=dice.choice([0, 2]), fragment_size=dice.choice([30, 80]), pre_tags=["<b>"], post_tags=["</b>"],
                           boundary_scanner=dice.choice(["sentence", "word"]), require_field_match=dice.maybe, no_match_size=dice.choice([0, 15]),
                           highlight_query={"match": {field: fulltext.words(dice)}}, max_analyzer_offset=100000, order=dice.choice(["score", "none"]))
    query = dice.choice([lambda: fulltext.match(dice), lambda: fulltext.multi_match(dice), lambda: clauses.patterns(dice),
                         lambda: {"bool": {"must": [fulltext.match(dice)], "should": [fulltext.match(dice)]}}])()
    fields = {field: {}, **({"title": {}} if dice.maybe(0.3) else {})}
    return "search", {"query": query, "size": 10, "_source": False, "highlight": {"fields": fields, **options}}


def vectors(dice):
    document = {"_index": "differential", "_id": str(dice.randrange(600))}
    return "search", {"size": 5, "_source": False, "query": {"more_like_this": {
        "fields": dice.some(["title", "body", "note"], 1, 2), "like": [document] if dice.maybe() else [document, fulltext.words(dice, 2, 4)],
        # All words: of those that weigh alike OpenSearch takes some by their hashes.
        "min_term_freq": 1, "min_doc_freq": dice.choice([1, 3]), "max_query_terms": 1000, **dice.options(0.3, minimum_should_match=dice.choice(["10%", 2]),
                                                                               include=dice.maybe, boost_terms=1.5, stop_words=WORDS[:3])}}}


def looked_up(dice):
    """Terms and shapes that stand in another document, and queries with names."""
    lookup = {"terms": {dice.choice(["level", "tag"]): {"index": "differential", "id": str(dice.randrange(600)), "path": dice.choice(["level", "tag", "lower"])}}}
    named = {"bool": {"should": [{"term": {"level": {"value": dice.choice(LEVELS), "_name": "l"}}}, {"terms": {"tag": dice.some(TAGS), "_name": "t"}},
                                 {"range": {"count": {"gte": dice.randrange(40), "_name": "r"}}}, {"exists": {"field": "price"}}], "_name": "all"}}
    return "search", {"query": dice.choice([lookup, named]), "size": 20, "_source": False}


def capabilities(dice):
    return "validate/query", {"query": clauses.clause(dice, 1)}


FAMILIES = {"collapse": (collapse, 1), "rescore": (rescore, 1), "suggest": (suggest, 1), "inner_hits": (inner_hits, 1), "scripted": (scripted, 2),
            "explain": (explain, 0.5), "marks": (marks, 1), "alike": (vectors, 0.5), "looked_up": (looked_up, 0.5), "validate": (capabilities, 0.3)}
