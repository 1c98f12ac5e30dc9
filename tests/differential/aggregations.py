"""Generated aggregations, with aggregations of their own inside."""

from .clauses import clause
from .corpus import DATES, KEYWORDS, NUMBERS

TERMS = [*KEYWORDS, "count", "small", "tiny", "sizes", "flag", "addr", "nick", "half", "day", "owner.age", "huge", "lower"]

# Numbers that are rarely the same: digests say little of others.
SPREAD = ["price", "ratio", "half", "small", "money"]


DEPTH = 2


def aggregations(dice, depth=DEPTH):
    """A few named aggregations."""
    return {f"a{number}": aggregation(dice, depth) for number in range(dice.randint(1, 2))}


def aggregation(dice, depth):
    if depth and dice.maybe(0.75):
        # In the gaps of a histogram OpenSearch does not name ranges of addresses.
        kind = dice.choice([kind for kind in BUCKETS if kind != "ip_range" or depth == DEPTH])
        made = {kind: BUCKETS[kind](dice)}
        if kind in WITH_ORDER and dice.maybe(0.3):
            made |= ordered(dice, made[kind], depth)
        elif dice.maybe(0.6) and kind not in ALONE:
            made["aggs"] = aggregations(dice, depth - 1)
        if kind in ("histogram", "date_histogram") and dice.maybe(0.35):
            made.setdefault("aggs", {}).update(pipelines(dice))
        return made
    kind = dice.choice(list(METRICS))
    return {kind: METRICS[kind](dice)}


def ordered(dice, terms, depth):
    """Buckets in the order of a metric inside them."""
    metric = dice.choice(["avg", "max", "min", "sum", "value_count", "stats", "cardinality"])
    path = {"stats": "m.max"}.get(metric, "m")
    terms["order"] = dice.choice([{path: dice.choice(["asc", "desc"])}, [{"_count": "desc"}, {path: "asc"}]])
    return {"aggs": {"m": {metric: {"field": dice.choice(["price", "small", "half"])}}}}


def numeric(dice):
    return {"field": dice.choice(NUMBERS), **dice.options(0.15, missing=dice.randrange(10))}


def any_field(dice):
    return {"field": dice.choice([*NUMBERS, *KEYWORDS, *DATES, "flag", "addr"])}


def terms(dice):
    made = {"field": dice.choice(TERMS)} | dice.options(
        0.25, size=dice.choice([1, 3, 5, 100]), min_doc_count=dice.choice([0, 1, 2, 20]), shard_size=200,
        order=lambda: dice.choice([{"_key": "asc"}, {"_key": "desc"}, {"_count": "asc"}, {"_count": "desc"}, [{"_count": "desc"}, {"_key": "desc"}]]),
        show_term_doc_count_error=dice.maybe)
    if made["field"] == "addr":
        made.pop("min_doc_count", None)
    if made["field"] in ("tag", "nick", "level"):
        made |= dice.options(0.25, include=lambda: dice.choice([["red", "blue", "info"], ".*e.*", "[a-m].*"]), missing="none",
                             exclude=lambda: dice.choice([["red", "warn"], "b.*"]))
        if type(made.get("include", "")) is not type(made.get("exclude", "")) and len({"include", "exclude"} & set(made)) == 2:
            del made["exclude"]
    return made


def histogram(dice):
    made = {"field": dice.choice(["count", "price", "half", "sizes", "small", "ratio"]), "interval": dice.choice([5, 10, 2.5, 50])}
    made |= dice.options(0.25, min_doc_count=dice.choice([0, 1, 3]), offset=dice.choice([1, 3, -2]), missing=7, keyed=dice.maybe,
                         order=lambda: dice.choice([{"_key": "desc"}, {"_count": "asc"}, {"_count": "desc"}]))
    if made.get("min_doc_count") in (0, None):
        made |= dice.options(0.2, extended_bounds={"min": -20, "max": 80})
    made |= dice.options(0.1, hard_bounds={"min": 0, "max": 40})
    if "extended_bounds" in made:
        made.pop("hard_bounds", None)
    return made


def date_histogram(dice):
    made = {"field": dice.choice(DATES)}
    if dice.maybe(0.6):
        made["calendar_interval"] = dice.choice(["day", "week", "month", "quarter", "year", "1M", "1q", "1y", "1w"])
    else:
        made["fixed_interval"] = dice.choice(["30d", "48h", "500h", "90d", "100d"])
    made |= dice.options(0.3, time_zone=dice.choice(["Europe/Berlin", "-05:00", "America/Sao_Paulo", "Asia/Kolkata", "UTC", "+05:45"]),
                         min_doc_count=dice.choice([0, 1, 2]), keyed=dice.maybe, offset=dice.choice(["+6h", "-1d", "3h"]),
                         format=dice.choice(["yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ssXXX", "epoch_millis", "yyyy-'W'MM", "dd/MM/uuuu"]),
                         order=lambda: dice.choice([{"_key": "desc"}, {"_count": "desc"}]), missing="2020-05-05T00:00:00Z")
    if made["field"] != "day":
        made.pop("missing", None)
    if made["field"] == "day" and made.get("min_doc_count") in (0, None) and "format" not in made:
        made |= dice.options(0.2, extended_bounds={"min": "2019-06-01", "max": "2023-12-31"})
    return made


def ends(dice, *bounds):
    made = []
    for _ in range(dice.randint(1, 4)):
        low, high = sorted(dice.sample(bounds, 2))
        made.append(dice.choice([{"from": low}, {"to": high}, {"from": low, "to": high}]) | dice.options(0.2, key=f"k{len(made)}"))
    return made


def ranges(dice):
    return {"field": dice.choice(NUMBERS), "ranges": ends(dice, 0, 3, 5.5, 10, 20, 33), **dice.options(0.3, keyed=dice.maybe, missing=4)}


def date_range(dice):
    days = ["2020-03-01", "2020-09-15", "2021-01-01", "2021-12-24", "2022-06-30"]
    return {"field": "day", "ranges": ends(dice, *days),
            **dice.options(0.3, keyed=dice.maybe, format="yyyy-MM-dd", time_zone=dice.choice(["+02:00", "Europe/Paris"]))}


def ip_range(dice):
    made = dice.some([{"to": "10.0.2.0"}, {"from": "10.1.0.0", "to": "10.2.0.0"}, {"mask": "10.1.0.0/16"}, {"from": "2001:db8::"}, {"mask": "10.0.0.0/22", "key": "k"}], 1, 4)
    return {"field": "addr", "ranges": made, **dice.options(0.2, keyed=dice.maybe)}


def filters(dice):
    made = {f"f{number}": clause(dice, 1) for number in range(dice.randint(1, 3))}
    if dice.maybe(0.3):
        made = list(made.values())
    return {"filters": made, **dice.options(0.3, other_bucket=dice.maybe, other_bucket_key="rest")}


def composite(dice):
    sources = {
        "terms": lambda: {"field": dice.choice(["tag", "level", "count", "owner.name", "half", "addr"])},
        "histogram": lambda: {"field": dice.choice(["count", "price"]), "interval": dice.choice([5, 10])},
        "date_histogram": lambda: {"field": "day", **dice.choice([{"calendar_interval": "month"}, {"fixed_interval": "60d"},
                                                                    {"calendar_interval": "week", "time_zone": "Europe/Paris"}]),
                                   **dice.options(0.3, format="yyyy-MM-dd")},
        "geotile_grid": lambda: {"field": "place", "precision": dice.randint(1, 5)},
    }
    listed = []
    for number in range(dice.randint(1, 3)):
        kind = dice.choices(list(sources), [5, 2, 2, 1])[0]
        options = dice.options(0.3, order=dice.choice(["asc", "desc"]), missing_bucket=dice.maybe)
        listed.append({f"s{number}": {kind: sources[kind]() | options}})
    return {"sources": listed, "size": dice.choice([3, 10, 50])}


def percentiles(dice):
    made = {"field": dice.choice(SPREAD)} | dice.options(0.3, percents=dice.choice([[50], [1, 25, 75, 99], [95.5]]), keyed=dice.maybe)
    return made | dice.options(0.2, hdr={"number_of_significant_value_digits": 3}) if made["field"] in ("small", "price", "half") else made


def pipelines(dice):
    """Over the buckets of a histogram, by a metric of theirs."""
    made = {"m": {dice.choice(["sum", "avg", "max"]): {"field": dice.choice(["small", "price"])}}}
    path = dice.choice(["m", "_count"])
    gaps = dice.options(0.3, gap_policy=dice.choice(["skip", "insert_zeros"]))
    choices = {
        "derivative": {"buckets_path": path, **gaps}, "cumulative_sum": {"buckets_path": path},
        "serial_diff": {"buckets_path": path, "lag": dice.randint(1, 3)},
        "moving_fn": {"buckets_path": path, "window": dice.randint(1, 4), "script": dice.choice([
            "MovingFunctions.unweightedAvg(values)", "MovingFunctions.max(values)", "MovingFunctions.sum(values)",
            "MovingFunctions.linearWeightedAvg(values)", "MovingFunctions.ewma(values, 0.3)",
            "MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))"]), **dice.options(0.3, shift=dice.randrange(3))},
        "bucket_script": {"buckets_path": {"x": "m", "n": "_count"}, "script": dice.choice(["params.x / params.n", "params.x * 2 + params.n", "params.n > 3 ? params.x : 0"])},
        "bucket_selector": {"buckets_path": {"n": "_count"}, "script": dice.choice(["params.n > 2", "params.n % 2 == 0"])},
        "bucket_sort": {"sort": [{path: {"order": dice.choice(["asc", "desc"])}}], **dice.options(0.5, size=5, **{"from": 1})},
    }
    kind = dice.choice(list(choices))
    return made | {"p": {kind: choices[kind]}}


def siblings(dice):
    """A histogram with an aggregation beside it that looks over its buckets."""
    kind = dice.choice(["avg_bucket", "max_bucket", "min_bucket", "sum_bucket", "stats_bucket", "extended_stats_bucket", "percentiles_bucket"])
    path = dice.choice(["h>m", "h._count"])
    return {"h": {"histogram": {"field": "count", "interval": 10}, "aggs": {"m": {"avg": {"field": "price"}}}},
            "over": {kind: {"buckets_path": path, **dice.options(0.2, gap_policy="insert_zeros", format="0.00")}}}


METRICS = {kind: numeric for kind in ("min", "max", "avg", "sum", "stats", "extended_stats")} | {
    "value_count": any_field, "cardinality": any_field, "percentiles": percentiles,
    "percentile_ranks": lambda dice: {"field": dice.choice(SPREAD), "values": [1, 5.5, 20], **dice.options(0.3, keyed=dice.maybe)},
    "median_absolute_deviation": lambda dice: {"field": dice.choice(NUMBERS)},
    "weighted_avg": lambda dice: {"value": numeric(dice), "weight": {"field": dice.choice(["small", "half"]), **dice.options(0.3, missing=2)}},
    "geo_bounds": lambda dice: {"field": "place"}, "geo_centroid": lambda dice: {"field": "place"},
    "top_hits": lambda dice: {"size": 2, "sort": [{"big": "desc"}], "_source": ["count", "level"]},
}
WITH_ORDER = ("terms",)
# In OpenSearch some lose track of what is inside them when they stand inside others themselves.
ALONE = ("significant_terms", "rare_terms", "variable_width_histogram", "adjacency_matrix")
BUCKETS = {
    "terms": terms, "histogram": histogram, "date_histogram": date_histogram, "range": ranges, "date_range": date_range,
    "ip_range": ip_range, "filters": filters, "composite": composite,
    "filter": lambda dice: clause(dice, 1), "missing": any_field,
    "rare_terms": lambda dice: {"field": dice.choice(["tag", "level", "count", "owner.name"]), **dice.options(0.5, max_doc_count=dice.choice([5, 50]))},
    "multi_terms": lambda dice: {"terms": [{"field": field} for field in dice.some(["level", "tag", "count", "flag", "addr", "half"], 2, 3)], **dice.options(0.4, size=dice.choice([3, 30]))},
    "significant_terms": lambda dice: {"field": dice.choice(["tag", "level", "owner.name"]), **dice.options(0.3, min_doc_count=1)},
    "auto_date_histogram": lambda dice: {"field": "day", "buckets": dice.choice([5, 10, 40])},
    "variable_width_histogram": lambda dice: {"field": "price", "buckets": dice.choice([3, 8])},
    "geo_distance": lambda dice: {"field": "place", "origin": "48.8,2.3", "unit": "km",
                                  # In order: OpenSearch does not put them in order, and counts by it.
                                  "ranges": sorted(ends(dice, 10, 50, 100, 300), key=lambda one: (one.get("from", 0), one.get("to", 1e9)))},
    "geohash_grid": lambda dice: {"field": "place", "precision": dice.randint(1, 4), **dice.options(0.3, size=5)},
    "geotile_grid": lambda dice: {"field": "place", "precision": dice.randint(1, 7)},
    # All documents: which of those with equal scores are sampled is each one's own choice.
    "sampler": lambda dice: {"shard_size": 100_000},
    "adjacency_matrix": lambda dice: {"filters": {name: clause(dice, 0) for name in "abc"[:dice.randint(2, 3)]}},
}


def nested(dice):
    """An aggregation over nested objects, and back from them."""
    inner = dice.choice([
        {"terms": {"field": "comments.author"}, "aggs": {"s": {"avg": {"field": "comments.stars"}}, "back": {"reverse_nested": {}, "aggs": {"l": {"terms": {"field": "level"}}}}}},
        {"stats": {"field": "comments.stars"}}, {"date_histogram": {"field": "comments.at", "calendar_interval": "quarter"}},
        {"nested": {"path": "comments.votes"}, "aggs": {"w": {"terms": {"field": "comments.votes.who"}}, "b": {"reverse_nested": {"path": "comments"}, "aggs": {"s": {"sum": {"field": "comments.stars"}}}}}},
        {"filter": {"range": {"comments.stars": {"gte": 3}}}, "aggs": {"t": {"terms": {"field": "comments.author", "order": {"_key": "asc"}}}}},
    ])
    return {"n": {"nested": {"path": "comments"}, "aggs": {"i": inner}}}
