"""How cases are generated from the served description, and what counts as a failure.

The description says what a name is: any text. Here names come from the data that `fuzz.py` wrote, most
of the time, so that requests go deep; and bodies of lines are made of lines.
"""

import json

import requests
import schemathesis
from hypothesis import strategies as st

# OpenSearch answers these faults of a request with 500 too.
ITS_OWN_500 = {
    "repository_exception",
    "repository_verification_exception",
    "snapshot_restore_exception",
    "fail_processor_exception",
    "illegal_state_exception",
    "unsupported_operation_exception",
}

INDICES = ["books", "books,logs", "logs", "vectors", "all", "_all", "*", "b*", "new-1", "new-2", "copy-1"]
FIELDS = ["title", "title.raw", "tag", "year", "price", "at", "ok", "ip", "place", "span", "parts", "parts.name",
          "vector", "suggest", "_id", "missing"]
IDS = ["1", "2", "3", "7", "none", "new"]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # A stream that goes on for as long as its client listens: its own tests have it.
    del raw_schema["paths"]["/{index}/_tail"]
    schemas = raw_schema["components"]["schemas"]
    schemas["IndexName"] = {"enum": INDICES}
    schemas["FieldName"] = {"enum": FIELDS}
    schemas["DocumentId"] = {"enum": IDS}
    values = ["rust", "search", 7, -1, 2.5, True, "2024-05-01", "10.0.0.1", "1e400", "", "now-1d/d", 1e300, 2**63]
    schemas["Scalar"] = {"anyOf": [{"enum": values}, {"type": ["string", "number", "boolean"]}]}
    sizes = {"enum": [0, 1, 3, 10, 10_000, 10_001, -1]}
    parameters = raw_schema["components"]["parameters"]
    for name in ("query.size", "query.from"):
        parameters[name]["schema"] = sizes
    # A wait for what will never come is no fault.
    for name in ("query.after_glsn", "query.wait_for_metadata_version", "query.request_timeout"):
        parameters[name]["schema"] = {"enum": [0, 1]}
    for name in ("query.timeout", "query.master_timeout", "query.cluster_manager_timeout", "query.wait_for_timeout"):
        parameters[name]["schema"] = {"enum": ["0s", "50ms", "soon"]}
    # Only these are deleted: the others are what every other request wants.
    raw_schema["paths"]["/{index}"]["delete"]["parameters"][0] = {
        "name": "index", "in": "path", "required": True, "schema": {"enum": ["new-1", "new-2", "copy-1"]},
    }
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            # Health waits half a minute for what one node never has.
            drop = {"query.wait_for_nodes", "query.wait_for_status", "query.wait_for_active_shards", "query.filter_path"}
            kept = [p for p in operation["parameters"] if p.get("$ref", "").rsplit("/", 1)[-1] not in drop]
            operation["parameters"] = kept
    # Half a minute is also how long it waits for an index that is not there.
    short = {"name": "timeout", "in": "query", "required": True, "schema": {"enum": ["0s", "50ms"]}}
    for path in ("/_cluster/health", "/_cluster/health/{index}"):
        parameters = raw_schema["paths"][path]["get"]["parameters"]
        kept = [p for p in parameters if p["$ref"] != "#/components/parameters/query.timeout"]
        raw_schema["paths"][path]["get"]["parameters"] = [*kept, short]


ACTIONS = st.one_of(
    st.builds(
        lambda op, index, identity: {op: {"_index": index, "_id": identity}},
        st.sampled_from(["index", "create", "delete", "update"]), st.sampled_from(INDICES), st.sampled_from(IDS),
    ),
    st.builds(lambda index: {"index": index}, st.sampled_from(INDICES)),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), VALUES, max_size=4)
SEARCHES = st.builds(
    lambda field, value, size: {"query": {"match": {field: value}}, "size": size},
    st.sampled_from(FIELDS), st.text(max_size=5) | st.integers(), st.integers(min_value=-1, max_value=20),
)
LINES = st.lists(ACTIONS | DOCUMENTS | SEARCHES | st.builds(lambda d: {"doc": d}, DOCUMENTS), max_size=6)
schemathesis.openapi.media_type(
    "application/x-ndjson",
    LINES.map(lambda lines: "".join(json.dumps(line) + "\n" for line in lines).encode()),
)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Health of an index that is not there comes after half a minute; wrong cases may leave the wait out."""
    if case.path.startswith("/_cluster/health"):
        case.query = {"timeout": "50ms", **(case.query or {})}


@schemathesis.hook
def after_call(context, case, response):
    """Takes back what would leave nothing to do for all requests that follow."""
    if case.method == "GET" or not any(word in case.path for word in ("_close", "_block", "_settings")):
        return
    root = str(response.request.url).split(case.formatted_path)[0]
    requests.post(f"{root}/*/_open", params={"expand_wildcards": "all"}, timeout=60)
    blocks = dict.fromkeys(("read", "write", "metadata", "read_only", "read_only_allow_delete"))
    body = {"index": {"blocks": blocks}}
    requests.put(f"{root}/*/_settings", params={"expand_wildcards": "all"}, json=body, timeout=60)
    settings = {"persistent": {"search.allow_expensive_queries": None}}
    requests.put(f"{root}/_cluster/settings", json=settings, timeout=60)


@schemathesis.check
def answers(context, response, case):
    """No 5xx but OpenSearch's own, and always a body that says what is wrong."""
    if response.status_code < 500:
        return
    try:
        kind = response.json()["error"]["type"]
    except (ValueError, KeyError, TypeError):
        kind = None
    if kind not in ITS_OWN_500:
        raise AssertionError(f"{response.status_code}: {response.text[:600]}")
