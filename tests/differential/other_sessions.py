"""More sessions, over endpoints and kinds of fields that the searches of the generated documents do not have: shapes, stored
queries, templates, several searches at once, vectors of terms, judged searches, objects as one field."""

import json

from . import clauses, fulltext
from .corpus import KEYWORDS, LEVELS, NUMBERS, PEOPLE, TAGS

INDEX = "differential"
OWN = "differential-more"


def fresh(wire, properties, documents, shards=1):
    """An index of its own with these documents; the answers to those that were refused."""
    wire.call("DELETE", f"/{OWN}*?expand_wildcards=all")
    wire.need("PUT", f"/{OWN}", {"settings": {"number_of_shards": shards, "number_of_replicas": 0}, "mappings": {"properties": properties}})
    lines = [line for number, one in enumerate(documents) for line in ({"index": {"_id": str(number)}}, one)]
    answer = wire.need("POST", f"/{OWN}/_bulk?refresh=true", "".join(json.dumps(line) + "\n" for line in lines))
    return 200, {"refused": [[item["index"]["_id"], item["index"]["status"]] for item in answer["items"] if "error" in item["index"]]}


def whole(dice, least=-8, most=8):
    return dice.randint(least, most)


def shape(dice, beside=0, depth=1):
    """A shape on whole degrees and halves, or so much beside them: where borders meet in a point alone is told by rounding."""
    at = lambda: [whole(dice, -16, 16) / 2 + beside, whole(dice, -16, 16) / 2 + beside]
    left, bottom = at()
    right, top = left + dice.randint(1, 8) / 2, bottom + dice.randint(1, 8) / 2
    box = [[left, bottom], [right, bottom], [right, top], [left, top], [left, bottom]]
    line = [at() for _ in range(dice.randint(2, 4))]
    made = [
        {"type": "point", "coordinates": at()}, {"type": "envelope", "coordinates": [[left, top], [right, bottom]]},
        {"type": "polygon", "coordinates": [box]}, {"type": "linestring", "coordinates": line},
        {"type": "multipoint", "coordinates": [at(), at()]}, {"type": "multilinestring", "coordinates": [line, [at(), at()]]},
        {"type": "multipolygon", "coordinates": [[box], [[[x + 20, y] for x, y in box]]]},
        f"POINT ({left} {bottom})", f"BBOX ({left}, {right}, {top}, {bottom})", f"LINESTRING ({left} {bottom}, {right} {top})",
        f"POLYGON (({', '.join(f'{x} {y}' for x, y in box)}))",
    ]
    if depth:
        made.append({"type": "geometrycollection", "geometries": [{"type": "point", "coordinates": at()}, *(one for one in (shape(dice, beside, 0), shape(dice, beside, 0)) if isinstance(one, dict))]})
    return dice.choice(made)


def shapes(wire, dice):
    """Shapes, and what lies in, over and beside them."""
    properties = {"shape": {"type": "geo_shape"}, "n": {"type": "integer"}}
    yield fresh(wire, properties, [{"shape": shape(dice), "n": number} for number in range(40)])
    for _ in range(10):
        asked = {"shape": shape(dice, 0.13), **dice.options(0.8, relation=dice.choice(["intersects", "disjoint", "within", "contains"]))}
        query = dice.choice([{"geo_shape": {"shape": asked}}] * 4 + [{"geo_bounding_box": {"shape": {"top_left": [-3.1, 3.1], "bottom_right": [4.2, -2.3]}}},
                            {"exists": {"field": "shape"}}, {"geo_shape": {"shape": {"indexed_shape": {"index": OWN, "id": str(dice.randrange(40)), "path": "shape"}}}}])
        yield wire.call("POST", f"/{OWN}/_search", {"query": query, "size": 50, "_source": False, "sort": ["n"]})


STORED = {"query": {"type": "percolator"}, "tag": {"type": "keyword"}, "n": {"type": "integer"}, "text": {"type": "text"}}


def small(dice):
    return {"tag": dice.choice(TAGS), "n": dice.randrange(20), "text": fulltext.words(dice)}


def simple(dice):
    """A query on what a small document has."""
    return dice.choice([
        lambda: {"term": {"tag": dice.choice(TAGS)}}, lambda: {"terms": {"tag": dice.some(TAGS)}}, lambda: {"match": {"text": fulltext.words(dice)}},
        lambda: {"match": {"text": {"query": fulltext.words(dice), "operator": "and"}}}, lambda: {"match_phrase": {"text": fulltext.words(dice, 1, 2)}},
        lambda: {"range": {"n": {"gte": dice.randrange(20)}}}, lambda: {"prefix": {"tag": dice.choice(TAGS)[:2]}}, lambda: {"wildcard": {"text": "s*"}},
        lambda: {"exists": {"field": dice.choice(["n", "tag", "none"])}}, lambda: {"match_all": {}},
        lambda: {"bool": {"must": [simple(dice)], "must_not": [simple(dice)]}}, lambda: {"bool": {"should": [simple(dice), simple(dice)], "minimum_should_match": dice.choice([1, 2])}},
        lambda: {"constant_score": {"filter": simple(dice), "boost": 2}}, lambda: {"query_string": {"query": fulltext.word(dice).strip("'"), "default_field": "text"}},
    ])()


def stored_queries(wire, dice):
    """Which of stored queries find documents."""
    yield fresh(wire, STORED, [{"query": simple(dice), **dice.options(0.5, n=dice.randrange(20))} for _ in range(30)])
    for _ in range(6):
        asked = {"field": "query", **dice.choice([{"document": small(dice)}, {"documents": [small(dice), small(dice), small(dice)]}])}
        query = {"percolate": asked | dice.options(0.2, name="p")}
        if dice.maybe(0.4):
            query = {"bool": {"filter": [query], "must": [{"range": {"n": {"gte": 5}}}]}}
        body = {"query": query, "size": 40, "_source": False, "sort": ["_score", "_id"], **dice.options(0.3, highlight={"fields": {"text": {}}})}
        yield wire.call("POST", f"/{OWN}/_search", body)


def templates(wire, dice):
    """Searches whose bodies are filled in."""
    for _ in range(6):
        source = dice.choice([
            '{"query": {"term": {"level": "{{level}}"}}, "size": {{size}}{{^size}}3{{/size}}}',
            '{"query": {"terms": {"tag": {{#toJson}}tags{{/toJson}} }}, "size": "{{size}}"}',
            '{"query": {"bool": {"filter": [{{#tags}}{"term": {"tag": "{{.}}"}},{{/tags}} {"match_all": {}}]}}, "size": 4}',
            '{"query": {"match": {"title": "{{#join}}tags{{/join}}"}}, "size": 5}', '{"query": {"match_all": {}}, "size": {{missing}}}',
            '{"query": {"term": {"level": "{{#url}}{{level}}{{/url}}"}}, "from": {{^from}}0{{/from}}{{from}} }',
            '{"query": {"range": {"count": {"gte": {{ns.0}}, "lt": {{o.p}} }}}, "size": 3}'])
        parameters = {**dice.options(0.8, level=dice.choice([*LEVELS, 'a"b\\']), size=dice.randrange(9), tags=dice.some(TAGS), ns=[3, 4], o={"p": 30})}
        # What is no JSON OpenSearch renders all the same.
        is_whole = "{{missing}}" not in source and len(parameters) == 5
        path = dice.choice([f"/{INDEX}/_search/template", "/_render/template"] if is_whole else [f"/{INDEX}/_search/template"])
        status, answer = wire.call("POST", path, {"source": source, "params": parameters})
        for hit in answer.get("hits", {}).get("hits", ()):
            hit.pop("_source", None)
        yield status, answer


def several(wire, dice):
    """Several searches of one request, some of them wrong."""
    lines = []
    for _ in range(5):
        lines.append({"index": dice.choice([INDEX, INDEX, f"{INDEX},none", "none", f"{INDEX[:6]}*"]), **dice.options(0.3, ignore_unavailable=dice.maybe, search_type="dfs_query_then_fetch")})
        lines.append({"query": dice.choice([clauses.clause(dice, 1), {"unheard_of": {}}]), "size": dice.choice([0, 3]), "_source": False, "sort": ["_id"]})
    status, answer = wire.call("POST", f"/_msearch?{dice.choice(['', 'rest_total_hits_as_int=true', 'max_concurrent_searches=1'])}", "".join(json.dumps(line) + "\n" for line in lines))
    if "responses" not in answer:
        yield status, answer
    for one in answer.get("responses", ()):
        yield one.get("status", status), one


def words(wire, dice):
    """Vectors of terms, and what fields can do."""
    for _ in range(5):
        body = dice.options(0.4, fields=dice.some(["title", "body", "tag", "note", "none"]), offsets=dice.maybe, positions=dice.maybe, term_statistics=dice.maybe,
                            field_statistics=dice.maybe, per_field_analyzer={"title": "keyword"}, filter=dice.options(0.5, max_num_terms=4, min_term_freq=1, min_doc_freq=2))
        # Of words that are nowhere OpenSearch's filter takes the figures of others.
        if dice.maybe(0.4):
            body.pop("filter", None)
            yield wire.call("POST", f"/{INDEX}/_termvectors", {"doc": {"title": fulltext.words(dice), "tag": dice.choice(TAGS)}, **body})
        else:
            body.pop("per_field_analyzer", None)
            yield wire.call("POST", f"/{INDEX}/_termvectors/{dice.randrange(700)}", body)
        names = ",".join(dice.some([*KEYWORDS, *NUMBERS, "title*", "own*", "comments.*", "_id", "none", "*"]))
        status, answer = wire.call("GET", f"/{INDEX}/_field_caps?fields={names}")
        answer.pop("indices", None)
        yield status, answer


def judged(wire, dice):
    """How good searches are, by documents that were judged."""
    for _ in range(4):
        ratings = [{"_index": INDEX, "_id": str(dice.randrange(300)), "rating": dice.randrange(4)} for _ in range(6)]
        ratings = list({one["_id"]: one for one in ratings}.values())
        requests = [{"id": name, "request": {"query": {"range": {"count": {"gte": dice.randrange(40)}}}, "sort": ["_id"], "size": 50}, "ratings": ratings} for name in ("a", "b")]
        metric = dice.choice([{"precision": dice.options(0.5, k=dice.choice([5, 20]), relevant_rating_threshold=2, ignore_unlabeled=dice.maybe)}, {"recall": {"k": 20, "relevant_rating_threshold": 1}},
                              {"mean_reciprocal_rank": {"k": 20}}, {"dcg": {"k": 20, "normalize": dice.maybe()}}, {"expected_reciprocal_rank": {"maximum_relevance": 3, "k": 20}}])
        status, answer = wire.call("POST", f"/{INDEX}/_rank_eval", {"requests": requests, "metric": metric})
        for one in answer.get("details", {}).values():
            one.pop("hits", None)
            one.get("unrated_docs", []).sort(key=lambda doc: doc["_id"])
        yield status, answer


FLAT = {"labels": {"type": "flat_object"}, "n": {"type": "integer"}}


def flat(wire, dice):
    """Objects as one field, and keys of it. OpenSearch counts by them with objects of Java for keys, measures fuzziness over names
    and values together, and knows the existence of keys of the outermost object alone."""
    value = lambda: dice.choice([*TAGS[:4], 3, 2.5, True, None, ["x", "y"], {"deep": dice.choice(TAGS[:3])}, ""])
    made = [{"n": number, "labels": {name: value() for name in dice.some(["a", "b", "c.d", "e"])}} for number in range(30)]
    yield fresh(wire, FLAT, [*made, {"labels": "no object"}, {"labels": None}, {"labels": [{"a": "red"}, {"a": "blue"}]}])
    for _ in range(8):
        field = dice.choice(["labels", "labels.a", "labels.b", "labels.c.d", "labels.b.deep", "labels.none"])
        one = dice.choice([*TAGS[:4], "3", "2.5", "true", "x"])
        query = dice.choice([{"term": {field: one}}, {"terms": {field: [one, "y"]}}, {"prefix": {field: one[:1]}}, {"wildcard": {field: f"*{one[-1:]}"}}, {"exists": {"field": dice.choice(["labels", "labels.a", "labels.e"])}},
                             {"range": {field: {"gte": one}}}, {"match": {field: one}}, {"query_string": {"query": f"{field}:{one}"}}, {"regexp": {field: "r.*"}}])
        body = {"query": query, "size": 40, "_source": False, "sort": ["n"]}
        yield wire.call("POST", f"/{OWN}/_search", body)


def people(wire, dice):
    """Documents taken together by scripts' names of fields alone: collapse, sorts and pages over an alias with a filter."""
    yield fresh(wire, {"who": {"type": "keyword"}, "n": {"type": "integer"}}, [{"who": dice.choice(PEOPLE), "n": dice.randrange(9)} for _ in range(40)], dice.choice([1, 3]))
    wire.need("POST", "/_aliases", {"actions": [{"add": {"index": OWN, "alias": f"{OWN}-a", "filter": {"range": {"n": {"gte": dice.randrange(5)}}}}}]})
    for _ in range(5):
        body = {"size": 50, "sort": [{"n": dice.choice(["asc", "desc"])}, "_id"], "query": {"terms": {"who": dice.some(PEOPLE)}}, "_source": ["who"],
                **dice.options(0.4, collapse={"field": "who"}, aggs={"w": {"terms": {"field": "who", "order": {"_key": "asc"}}, "aggs": {"m": {"max": {"field": "n"}}}}},
                               indices_boost=[{f"{OWN}-a": 2}], stored_fields=dice.choice([["n"], []]), docvalue_fields=["n"], terminate_after=1000)}
        yield wire.call("POST", f"/{OWN}-a/_search", body)


OTHER_SESSIONS = {session.__name__: session for session in (shapes, stored_queries, templates, several, words, judged, flat, people)}
