"""Where two answers differ in what a user would notice."""

import math

SCORE_TOLERANCE = 1e-4
# Sums are added up in another order.
NUMBER_TOLERANCE = 1e-6
# The digests of percentiles merge values in another order.
PERCENTILE_TOLERANCE = 0.05
PERCENTILES_LEAST = 100
PERCENTILES = ("percentiles", "percentile_ranks", "median_absolute_deviation")
# How many different values there are is estimated, by hashes of one's own.
CARDINALITY_TOLERANCE = 0.01
IGNORED = {"took", "_shards", "timed_out", "_index", "_seq_no", "_primary_term"}
# In which words a score is explained.
WORDS = ("/explanation/description", "/explanation/details")


class Comparison:
    """Collects the differences of one pair of answers."""

    def __init__(self, request):
        self.request = request
        self.found = []
        self.few = False

    def say(self, path, ours, theirs):
        self.found.append(f"{path or '/'}: {short(ours)}, OpenSearch {short(theirs)}")

    def answers(self, ours, theirs):
        (status, body), (their_status, their_body) = ours, theirs
        if status != their_status:
            self.say("status", (status, reason(body)), (their_status, reason(their_body)))
        elif status >= 400 and all(isinstance(one.get("error"), dict) for one in (body, their_body)):
            self.errors(body, their_body)
        elif status >= 400:
            self.values("error", body, their_body)
        elif failures(body) != failures(their_body):
            self.say("shards", failures(body), failures(their_body))
        elif "hits" in their_body:
            self.hits(body.get("hits", {}), their_body["hits"])
            total = their_body["hits"].get("total", {"value": 0})["value"]
            # Digests of few values are read between them, in ways of their own.
            self.few = total < PERCENTILES_LEAST or not top_level(self.request)
            kinds = aggregation_kinds(self.request.get("aggs", {}))
            self.values("aggregations", body.get("aggregations"), their_body.get("aggregations"), kinds)
            self.values("suggest", body.get("suggest") or None, their_body.get("suggest"))
        else:
            self.values("", body, their_body)
        return self.found

    def errors(self, ours, theirs):
        for name in ("type",):
            mine, other = (body.get("error", {}).get(name) for body in (ours, theirs))
            if mine != other:
                self.say("error", reason(ours), reason(theirs))
                return
        roots = [sorted(cause["type"] for cause in body["error"].get("root_cause", [])) for body in (ours, theirs)]
        if roots[0] != roots[1]:
            self.say("root_cause", reason(ours), reason(theirs))

    def hits(self, ours, theirs):
        self.values("total", ours.get("total"), theirs.get("total"))
        if not close(ours.get("max_score"), theirs.get("max_score"), SCORE_TOLERANCE):
            self.say("max_score", ours.get("max_score"), theirs.get("max_score"))
        mine, other = ours.get("hits", []), theirs["hits"]
        if len(mine) != len(other):
            self.say("hits", len(mine), len(other))
        if self.order(mine, other):
            self.each_hit(mine, other)

    def order(self, mine, other):
        """Whether the same documents stand in the same order, where order is told at all."""
        for at, (hit, their_hit) in enumerate(zip(mine, other)):
            keys = rank(hit), rank(their_hit)
            if not same_rank(*keys):
                self.say(f"hits/{at}", (hit["_id"], *keys[:1]), (their_hit["_id"], keys[1]))
                return False
        for group in ties(other):
            # Which of the last ones made it into the page is not told.
            cut = group.stop == len(other) or group.start == 0 and self.request.get("from")
            ids = [{hit["_id"] for hit in hits[group.start:group.stop]} for hits in (mine, other)]
            if ids[0] != ids[1] and not cut:
                self.say(f"hits/{group.start}", sorted(ids[0] - ids[1])[:5], sorted(ids[1] - ids[0])[:5])
                return False
        return True

    def each_hit(self, mine, other):
        by_id = {hit["_id"]: hit for hit in mine}
        for hit in other:
            if hit["_id"] in by_id:
                one = by_id[hit["_id"]]
                known = {"_id", "_score", "sort"} | IGNORED
                rest = [{k: v for k, v in of.items() if k not in known} for of in (one, hit)]
                self.values(f"hit {hit['_id']}", *rest)
                if not close(one.get("_score"), hit.get("_score"), SCORE_TOLERANCE):
                    self.say(f"hit {hit['_id']}/_score", one.get("_score"), hit.get("_score"))

    def values(self, path, ours, theirs, kinds=None):
        """Any JSON; `kinds` tells which aggregation a name stands for, where that allows some tolerance."""
        kinds = kinds or {}
        if isinstance(ours, dict) and isinstance(theirs, dict):
            for key in [*theirs, *(key for key in ours if key not in theirs)]:
                below = f"{path}/{key}"
                if below in WORDS:
                    continue
                kind, inner = kinds.get(key, (None, None))
                if kind == "cardinality" and is_near(ours.get(key), theirs.get(key)):
                    continue
                if kind in PERCENTILES:
                    self.rough(below, ours.get(key), theirs.get(key))
                elif kind == "top_hits" and key in ours:
                    self.hits(ours[key]["hits"], theirs[key]["hits"])
                elif key not in ours or key not in theirs:
                    # An object that says nothing may be left out.
                    if key not in IGNORED and ours.get(key, theirs.get(key)) != {}:
                        self.say(below, ours.get(key, "nothing"), theirs.get(key, "nothing"))
                elif key not in IGNORED:
                    self.values(below, ours[key], theirs[key], inner if inner is not None else kinds)
        elif isinstance(ours, list) and isinstance(theirs, list):
            if path.endswith(("fields/place", "/matched_queries")):
                # In which order a column has several points, or names come, is nobody's business.
                ours, theirs = sorted(ours, key=str), sorted(theirs, key=str)
            if len(ours) != len(theirs):
                self.say(path, ours, theirs)
                return
            for at, pair in enumerate(zip(ours, theirs)):
                self.values(f"{path}/{at}", *pair, kinds)
        elif not (path == "/explanation/value" and close(ours, theirs, SCORE_TOLERANCE) or same(ours, theirs)):
            self.say(path, ours, theirs)

    def rough(self, path, ours, theirs):
        if self.few:
            return
        if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
            for key in theirs:
                self.rough(f"{path}/{key}", ours[key], theirs[key])
        elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
            for at, pair in enumerate(zip(ours, theirs)):
                self.rough(f"{path}/{at}", *pair)
        elif not (close(ours, theirs, PERCENTILE_TOLERANCE) or number(ours) and number(theirs) and abs(ours - theirs) < 2):
            if not isinstance(theirs, str):
                self.say(path, ours, theirs)


def is_near(ours, theirs):
    """Two counts of different values."""
    counts = [count.get("value") if isinstance(count, dict) else None for count in (ours, theirs)]
    return all(map(number, counts)) and close(*counts, CARDINALITY_TOLERANCE)


def failures(body):
    """How many shards failed, and by what."""
    shards = body.get("_shards", {})
    return shards.get("failed", 0), sorted({failure["reason"]["type"] for failure in shards.get("failures", [])})


def aggregation_kinds(requested):
    """Names of aggregations with their kind and what is inside them."""
    kinds = {}
    for name, body in requested.items() if isinstance(requested, dict) else ():
        if not isinstance(body, dict):
            continue
        kind = next((key for key in body if key not in ("aggs", "aggregations", "meta")), None)
        kinds[name] = (kind, aggregation_kinds(body.get("aggs", {})))
    return kinds


def top_level(request):
    """Whether percentiles are asked for of all documents, not of those of buckets."""
    aggs = request.get("aggs", {})
    return not any("aggs" in body for body in aggs.values() if isinstance(body, dict)) if isinstance(aggs, dict) else False


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def close(one, other, tolerance):
    if number(one) and number(other):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-9)
    return one == other


def same(one, other):
    """Equal as JSON: a whole number is not a fraction, nor a boolean a number."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=NUMBER_TOLERANCE, abs_tol=1e-9)
    return type(one) is type(other) and one == other


def rank(hit):
    return hit["sort"] if "sort" in hit else hit.get("_score")


def same_rank(one, other):
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_rank, one, other))
    return type(one) is type(other) and close(one, other, SCORE_TOLERANCE)


def ties(hits):
    """The stretches of hits that nothing tells apart."""
    start = 0
    for at in range(1, len(hits) + 1):
        if at == len(hits) or not same_rank(rank(hits[at - 1]), rank(hits[at])):
            yield slice(start, at)
            start = at


def reason(body):
    error = body.get("error") if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return error
    cause = (error.get("root_cause") or [{}])[0]
    return error.get("type"), cause.get("type"), cause.get("reason")


def short(value, most=300):
    text = str(value)
    return text if len(text) <= most else text[:most] + "…"
