"""The differences that docs/compatibility.md names, and how to recognise them."""

import json
import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "compatibility.md"
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (\S.*) \|$", re.MULTILINE)

MALFORMED = {"parsing_exception", "illegal_argument_exception", "x_content_parse_exception", "number_format_exception",
             "query_shard_exception", "parse_exception", "search_phase_execution_exception", "action_request_validation_exception",
             "validation_exception", "aggregation_execution_exception", "named_object_not_found_exception", "json_parse_exception",
             "json_e_o_f_exception", "date_time_exception", "zone_rules_exception"}

# Where OpenSearch's code failed, and not the request.
FAILURES = {"array_index_out_of_bounds_exception", "index_out_of_bounds_exception", "illegal_state_exception",
            "response_handler_failure_transport_exception", "null_pointer_exception", "class_cast_exception"}


def error_types(body, found):
    """Both refuse with the same status, and call it otherwise."""
    told = found[0]
    if not told.startswith(("error:", "root_cause:")):
        return False
    types = re.search(r"\('(\w+)', '?(\w+)'?, .*OpenSearch \('(\w+)', '?(\w+)'?,", told, re.DOTALL)
    # Where the inner error is not told, there is none to compare.
    return types is not None and set(types.groups()) <= MALFORMED | {"None"}


def errors_of_the_server(body, found):
    """OpenSearch ran into an error of its own, on all shards or on some of several."""
    failed = re.search(r"^shards: \(0, \[\]\), OpenSearch \(\d+, \[(.*)\]\)", found[0])
    if failed:
        return set(re.findall(r"'(\w+)'", failed.group(1))) <= FAILURES
    return found[0].startswith("status:") and "OpenSearch (500," in found[0]


def malformed_taken(body, found):
    """One refuses what the other takes; only where something was made wrong on purpose."""
    return found[0].startswith("status:") and "(200, None)" in found[0] and "(400," in found[0]


def unscored_least(body, found):
    """A function's least score, where scores are not wanted: only what matches differs."""
    shown = ("/count", "aggregations", "total")
    if "sort" in body and not body.get("track_scores") and "_score" not in json.dumps(body["sort"]):
        shown += ("hits",)
    return found[0].startswith(shown) and has("min_score")(body, found) and has("function_score")(body, found)


def has(*words):
    """The request has one of the words as a key."""
    return lambda body, found: any(f'"{word}"' in json.dumps(body) for word in words)


def in_aggregations(*kinds):
    """The first difference lies in the result of an aggregation, and such a one is asked for."""
    asked = has(*kinds)
    return lambda body, found: found[0].startswith("aggregations") and asked(body, found)


def repeated(body, found):
    """The same word twice in one rule of an interval; or OpenSearch is confused by them."""
    if "ConjunctionDISI" in found[0]:
        return True
    texts = re.findall(r'"query": "([^"]*)"', json.dumps(body.get("query"))) if has("intervals")(body, found) else []
    words = lambda text: re.findall(r"\w+", text.lower())
    return any(len(words(text)) != len(set(words(text))) for text in texts)


def scores_only(found):
    """Only scores differ, and what stands where by them."""
    return found[0].startswith(("max_score", "hits/", "hit "))


def strings(body):
    """The options of every query string, simple or not."""
    inside = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    for key, value in body.items() if isinstance(body, dict) else ():
        if key in ("query_string", "simple_query_string") and isinstance(value, dict):
            yield value
    for value in inside:
        yield from strings(value)


def fuzzy_beside_exact(body, found):
    """One of the words that a fuzzy word stands for is asked for by itself too."""
    for options in strings(body) if scores_only(found) else ():
        text = str(options.get("query")).lower()
        near = re.findall(r"(\w+)~", text)
        if any(one != other and distance(one, other) <= 2 for one in near for other in re.findall(r"\w+(?!~)\b", text)):
            return True
    return False


def distance(one, other):
    """Letters to change, put in or leave out."""
    row = range(len(other) + 1)
    for at, letter in enumerate(one, 1):
        last, row = row, [at]
        for place, theirs in enumerate(other, 1):
            row.append(min(last[place] + 1, row[-1] + 1, last[place - 1] + (letter != theirs)))
    return row[-1]


def fuzzy_everywhere(body, found):
    """A fuzzy word over all fields, the one that keeps no scores among them."""
    return scores_only(found) and any("~" in str(one.get("query")) and not one.get("fields") for one in strings(body))


def zero_terms(body, found):
    """Terms without documents, below a bucket that has none on a shard."""
    below = r"^aggregations/\w+/(buckets/\w+/)?(?!buckets)\w+/.*(buckets: \[\]|/key: |/key_as_string: |/doc_count: )"
    return '"min_doc_count": 0' in json.dumps(body) and ("buckets: []" in found[0] or re.search(below, found[0]) is not None)


def error_of_one(body, found):
    """By how much a term may be more frequent: OpenSearch tells more than there can be."""
    told = re.search(r"/buckets/.*/doc_count_error_upper_bound: (\d+), OpenSearch (\d+)$", found[0])
    return told is not None and int(told.group(1)) < int(told.group(2))


def unordered_distances(body, found):
    """Ranges of distances that do not ascend."""
    for ranges in re.findall(r'"geo_distance": \{[^\[]*"ranges": (\[[^\]]*\])', json.dumps(body)):
        ends = [(one.get("from") or 0, one.get("to") or 1e30) for one in json.loads(ranges) if isinstance(one, dict)]
        if ends != sorted(ends):
            return found[0].startswith("aggregations") and "/doc_count: " in found[0]
    return False


def places_of_one_tile(body, found):
    """Several points of one document in one tile of a composite aggregation."""
    counted = re.search(r"/doc_count: (\d+), OpenSearch (\d+)$", found[0])
    inside = in_aggregations("composite")(body, found) and has("geotile_grid")(body, found)
    return inside and counted is not None and int(counted.group(1)) < int(counted.group(2))


KNOWN = {
    "error-types": error_types,
    "errors-of-the-server": errors_of_the_server,
    "significant-terms-background": in_aggregations("significant_terms"),
    "variable-width-histogram": has("variable_width_histogram"),
    "auto-date-histogram": in_aggregations("auto_date_histogram"),
    "malformed-taken": malformed_taken,
    "least-score-unscored": unscored_least,
    "highlight-choice": lambda body, found: "/highlight/" in found[0] and has("fuzziness")(body, found),
    "terms-zero": zero_terms,
    "terms-error-of-one": error_of_one,
    "distances-unordered": unordered_distances,
    "composite-repeated": places_of_one_tile,
    "geotile-order": lambda body, found: in_aggregations("geotile_grid")(body, found) and not has("composite")(body, found),
    "intervals-repeated": repeated,
    "fuzzy-beside-exact": fuzzy_beside_exact,
    "fuzzy-everywhere": fuzzy_everywhere,
}


def named():
    """What the page says, by name."""
    text = PAGE.read_text()
    return dict(ROW.findall(text))


def known(family, body, found):
    """The name of a difference that the page has, or None."""
    on_purpose = family in ("wrong", "vectors")
    names = [name for name in KNOWN if name != "malformed-taken" or on_purpose]
    return next((name for name in names if KNOWN[name](body, found)), None)
