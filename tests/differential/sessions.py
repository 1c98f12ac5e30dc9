"""Requests that follow from one another: pages to the end, writes with versions, aliases and templates, pipelines.

A session is a function of a connection and of dice; it yields what a user would compare: pairs of status and answer. It
works in indices of its own, but for pages, which are those of the generated documents.
"""

import json

from . import aggregations, clauses, fulltext
from .corpus import LEVELS, PEOPLE, TAGS
from .other_sessions import OTHER_SESSIONS

INDEX = "differential"
OWN = "differential-own"
PAGES_MAX = 100


def told(status, answer, *keys):
    """An answer without what no two servers share."""
    if status >= 400 and "error" in answer:
        return status, answer
    return status, {key: answer[key] for key in keys if key in answer}


def pages(hits):
    """What pages of hits must have in common: how they are ordered, and which documents they are."""
    return 200, {"sorts": [hit.get("sort") for hit in hits], "ids": sorted(hit["_id"] for hit in hits), "count": len(hits)}


def whole_order(dice):
    """An order that tells every two documents apart."""
    keys = [{field: {"order": dice.choice(["asc", "desc"])}} for field in dice.some(["count", "level", "day", "addr", "price", "flag"], 0, 2)]
    return [*keys, {"_id": {"order": dice.choice(["asc", "desc"])}}]


def scroll(wire, dice):
    """All pages of a scroll, of slices of it too."""
    query = next(query for query in iter(lambda: clauses.clause(dice, 1), None) if "min_score" not in str(query))
    body = {"query": query, "size": dice.choice([7, 50, 100]), "_source": False, "sort": dice.choice([["_doc"], [{"count": "asc"}], ["_score"]])}
    slices = dice.choice([1, 1, 2, 3])
    found = []
    for one in range(slices):
        asked = {**body, **({"slice": {"id": one, "max": slices}} if slices > 1 else {})}
        status, answer = wire.call("POST", f"/{INDEX}/_search?scroll=1m", asked)
        if status >= 400:
            yield status, answer
            return
        for _ in range(PAGES_MAX):
            hits = answer["hits"]["hits"]
            found += hits
            if not hits:
                break
            _, answer = wire.call("POST", "/_search/scroll", {"scroll": "1m", "scroll_id": answer["_scroll_id"]})
        wire.call("DELETE", "/_search/scroll", {"scroll_id": answer["_scroll_id"]})
    if slices > 1 or body["sort"] == ["_doc"] or body["sort"] == ["_score"]:
        found = [{"_id": hit["_id"]} for hit in found]
    yield pages(found)


def search_after(wire, dice):
    """All pages behind one another, of a point in time or of the index itself."""
    # A function's least score is judged otherwise where scores are not wanted.
    query = next(query for query in iter(lambda: clauses.clause(dice, 1), None) if "min_score" not in str(query))
    body = {"query": query, "size": dice.choice([20, 70, 300]), "_source": False, "sort": whole_order(dice)}
    path = f"/{INDEX}/_search"
    if dice.maybe():
        pit = wire.need("POST", f"/{INDEX}/_search/point_in_time?keep_alive=1m")["pit_id"]
        body["pit"], path = {"id": pit, "keep_alive": "1m"}, "/_search"
    found = []
    for _ in range(PAGES_MAX):
        status, answer = wire.call("POST", path, body)
        if status >= 400:
            yield status, answer
            return
        hits = answer["hits"]["hits"]
        found += hits
        if not hits:
            break
        body["search_after"] = hits[-1]["sort"]
    if "pit" in body:
        wire.call("DELETE", "/_search/point_in_time", {"pit_id": [body["pit"]["id"]]})
    yield 200, {"found": [[hit["_id"], hit["sort"]] for hit in found]}


def composite(wire, dice):
    """All pages of a composite aggregation."""
    # Several points in one tile OpenSearch counts each.
    made = next(made for made in iter(lambda: aggregations.composite(dice), None) if "geotile_grid" not in str(made))
    made["size"] = dice.choice([5, 20])
    inner = {"aggs": {"m": {"sum": {"field": "count"}}}} if dice.maybe() else {}
    buckets = []
    for _ in range(PAGES_MAX):
        status, answer = wire.call("POST", f"/{INDEX}/_search", {"size": 0, "aggs": {"a": {"composite": made, **inner}}})
        if status >= 400:
            yield status, answer
            return
        page = answer["aggregations"]["a"]
        buckets += page["buckets"]
        if "after_key" not in page:
            break
        made = {**made, "after": page["after_key"]}
    yield 200, {"buckets": buckets}


def fresh(wire, mapping=None, shards=1):
    wire.call("DELETE", f"/{OWN}*?expand_wildcards=all")
    settings = {"number_of_shards": shards, "number_of_replicas": 0}
    wire.need("PUT", f"/{OWN}", {"settings": settings, **({"mappings": mapping} if mapping else {})})


SMALL = {"properties": {"tag": {"type": "keyword"}, "n": {"type": "integer"}, "text": {"type": "text"}}}
RESULT = ("result", "_version", "_id", "found", "_source", "_seq_no", "get", "created", "updated", "deleted", "total", "version_conflicts", "noops", "batches",
          "failures", "items", "errors", "docs", "count", "hits")


def small(dice):
    return {"tag": dice.choice(TAGS), "n": dice.randrange(20), "text": fulltext.words(dice)}


def write(dice):
    """One write: method, path and body."""
    identity = dice.choice("abcde")
    document = f"/{OWN}/_doc/{identity}"
    version = dice.randrange(1, 6)
    change = dice.choice([
        {"doc": small(dice)}, {"doc": {"n": 3}, "doc_as_upsert": True}, {"doc": {"n": 3}, "detect_noop": dice.maybe()}, {"doc": {}, "upsert": small(dice)},
        {"doc": {"o": {"p": 1}}}, {"nonsense": 1}, {}])
    return dice.choice([
        ("PUT", document, small(dice)), ("PUT", f"{document}?op_type=create", small(dice)), ("PUT", f"/{OWN}/_create/{identity}", small(dice)),
        ("PUT", f"{document}?version={version}&version_type={dice.choice(['external', 'external_gte'])}", small(dice)),
        ("PUT", f"{document}?if_seq_no={dice.randrange(8)}&if_primary_term=1", small(dice)), ("DELETE", document, None),
        ("DELETE", f"{document}?version={version}&version_type=external", None), ("DELETE", f"{document}?if_seq_no={dice.randrange(8)}&if_primary_term=1", None),
        ("POST", f"/{OWN}/_update/{identity}", change), ("POST", f"/{OWN}/_update/{identity}?_source=true", change),
        ("POST", f"/{OWN}/_update/{identity}?if_seq_no={dice.randrange(8)}&if_primary_term=1", change),
        ("GET", document, None), ("GET", f"{document}?_source_includes=n", None), ("GET", f"{document}?version={version}", None), ("GET", f"/{OWN}/_source/{identity}", None),
        ("POST", f"/{OWN}/_mget", {"ids": dice.some("abcdef", 1, 4)}),
    ])


def writes(wire, dice):
    """Writes with versions and conditions, some of them in conflict."""
    fresh(wire, SMALL)
    for _ in range(20):
        status, answer = wire.call(*write(dice))
        yield told(status, answer, *RESULT)
    wire.call("POST", f"/{OWN}/_refresh")
    yield told(*wire.call("POST", f"/{OWN}/_search", {"size": 50, "sort": [{"n": {"order": "asc", "missing": 99}}, "_id"], "version": True, "seq_no_primary_term": True}), "hits")


def bulk(wire, dice):
    """Bulks of every kind of action."""
    fresh(wire, {**SMALL, "dynamic": dice.choice(["strict", True])})
    for _ in range(3):
        lines = []
        for _ in range(8):
            action = dice.choice(["index", "create", "update", "delete"])
            meta = {"_id": dice.choice("abcd"), **dice.options(0.1, if_seq_no=dice.randrange(5), if_primary_term=1)}
            meta = meta if ("if_seq_no" in meta) == ("if_primary_term" in meta) else {"_id": meta["_id"]}
            lines.append({action: meta})
            if action != "delete":
                body = dice.choice([small(dice), {"n": "no number"}, {"unheard": {"of": 1}}, {"n": None}])
                lines.append(dice.choice([{"doc": body}, {"doc": body, "doc_as_upsert": True}]) if action == "update" else body)

        status, answer = wire.call("POST", f"/{OWN}/_bulk?refresh=true", "".join(json.dumps(line) + "\n" for line in lines))
        for item in answer.get("items", ()):
            ((action, one),) = item.items()
            error = one.get("error")
            yield 200, {"action": action, **{key: one.get(key) for key in ("status", "result", "_version", "_seq_no")}, "error": error and error["type"]}
        yield told(status, answer, "errors")
    yield told(*wire.call("POST", f"/{OWN}/_search", {"size": 50, "sort": ["_id"], "version": True}), "hits")


def by_query(wire, dice):
    """Updates, deletions and copies of what a query finds."""
    fresh(wire, SMALL)

    lines = [line for number in range(30) for line in ({"index": {"_id": str(number)}}, small(dice))]
    wire.need("POST", f"/{OWN}/_bulk?refresh=true", "".join(json.dumps(line) + "\n" for line in lines))
    query = lambda: {"query": dice.choice([{"match_all": {}}, {"range": {"n": {"gte": dice.randrange(20)}}}, {"term": {"tag": dice.choice(TAGS)}}, {"match": {"text": fulltext.words(dice)}}])}
    for _ in range(4):
        path, body = dice.choice([
            lambda: (f"{OWN}/_update_by_query", query()), lambda: (f"{OWN}/_delete_by_query", query()),
            lambda: ("_reindex", {"source": {"index": OWN, **query(), **dice.options(0.3, _source=["n"])}, "dest": {"index": f"{OWN}-copy", **dice.options(0.3, op_type="create")}, **dice.options(0.4, max_docs=7), "conflicts": "proceed"}),
            lambda: ("_reindex", {"source": {"index": OWN, **query()}, "dest": {"index": f"{OWN}-copy", "version_type": dice.choice(["external", "internal"])}, "conflicts": "proceed"}),
            lambda: (f"{OWN}/_update_by_query", {"query": {"nonsense": {}}}), lambda: (f"{OWN}/_delete_by_query", {})])()
        yield told(*wire.call("POST", f"/{path}?refresh=true", body), *RESULT)
        yield told(*wire.call("POST", f"/{OWN}/_search", {"size": 50, "sort": ["_id"], "version": True}), "hits")
    yield told(*wire.call("POST", f"/{OWN}-copy/_search", {"size": 0}), "hits")


def names(wire, dice):
    """Templates, aliases and what names stand for."""
    wire.call("DELETE", f"/{OWN}*?expand_wildcards=all")
    for path in (f"/_index_template/{OWN}*", f"/_template/{OWN}*", f"/_component_template/{OWN}*"):
        wire.call("DELETE", path)
    part = {"template": {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"c": {"type": dice.choice(["keyword", "text"])}}}}}
    yield told(*wire.call("PUT", f"/_component_template/{OWN}-c", part), "acknowledged")
    for number in range(2):
        template = {"index_patterns": [f"{OWN}-{dice.choice(['t*', 'tx*', '*'])}"], "priority": dice.randrange(500, 503) * 10 + number, "composed_of": dice.choice([[], [f"{OWN}-c"], [f"{OWN}-none"]]),
                    "template": {"mappings": {"properties": {f"f{number}": {"type": "long"}}}, "aliases": {f"{OWN}-a{number}": dice.choice([{}, {"filter": {"term": {"c": "x"}}}, {"routing": "1"}])}}}
        yield told(*wire.call("PUT", f"/_index_template/{OWN}-{number}", template), "acknowledged")
    yield told(*wire.call("PUT", f"/_template/{OWN}-old", {"index_patterns": [f"{OWN}-o*"], "order": 3, "mappings": {"properties": {"old": {"type": "date"}}}}), "acknowledged")
    for name in ("t1", "tx", "o1"):
        status, answer = wire.call("POST", f"/_index_template/_simulate_index/{OWN}-{name}")
        answer.get("overlapping", []).sort(key=lambda one: one["name"])
        yield told(status, answer, "template", "overlapping")
        yield told(*wire.call("PUT", f"/{OWN}-{name}"), "acknowledged", "index")
        yield told(*wire.call("GET", f"/{OWN}-{name}/_mapping"), f"{OWN}-{name}")
        yield told(*wire.call("GET", f"/{OWN}-{name}/_alias"), f"{OWN}-{name}")
    for _ in range(4):
        name = dice.choice(["t1", "tx", "o1", "zz", "t*"])
        alias = f"{OWN}-{dice.choice(['x', 'y'])}"
        action = dice.choice([{"add": {"index": f"{OWN}-{name}", "alias": alias, **dice.options(0.3, is_write_index=dice.maybe, filter={"term": {"c": "q"}}, routing="2", search_routing="3")}},
                              {"remove": {"index": f"{OWN}-{name}", "alias": alias, **dice.options(0.3, must_exist=dice.maybe)}}, {"remove_index": {"index": f"{OWN}-zz"}}])
        yield told(*wire.call("POST", "/_aliases", {"actions": [action]}), "acknowledged")
        yield wire.call("GET", f"/{OWN}-*/_alias/{dice.choice([alias, OWN + '-*', OWN + '-none', '*,-' + alias])}")
        yield told(*wire.call("PUT", f"/{alias}/_doc/1?refresh=true", {"c": "q"}), "_index", "result")
        yield told(*wire.call("POST", f"/{dice.choice([alias, OWN + '-*', OWN + '-t*,-' + OWN + '-tx', OWN + '-none'])}/_count"), "count")
    yield wire.call("GET", f"/_resolve/index/{OWN}-*")
    for path in (f"/_index_template/{OWN}*", f"/_template/{OWN}*", f"/_component_template/{OWN}*"):
        wire.call("DELETE", path)


PROCESSORS = [
    {"set": {"field": "a", "value": "{{tag}}-{{n}}"}}, {"set": {"field": "n", "value": 5, "override": False}},
    {"lowercase": {"field": "tag"}}, {"uppercase": {"field": "text", "target_field": "u"}}, {"trim": {"field": "missing", "ignore_missing": True}}, {"trim": {"field": "missing"}},
    {"split": {"field": "text", "separator": " "}}, {"join": {"field": "list", "separator": "|"}}, {"append": {"field": "list", "value": ["x", "y"]}},
    {"append": {"field": "tag", "value": "more", "allow_duplicates": False}}, {"rename": {"field": "tag", "target_field": "label"}}, {"rename": {"field": "none", "target_field": "n"}},
    {"remove": {"field": ["tag", "n"]}}, {"remove": {"field": "none", "ignore_missing": True}}, {"convert": {"field": "n", "type": "string"}}, {"convert": {"field": "tag", "type": "integer"}},
    {"convert": {"field": "text", "type": "auto"}}, {"gsub": {"field": "text", "pattern": "[aeiou]", "replacement": "_"}}, {"date": {"field": "when", "formats": ["yyyy-MM-dd", "UNIX"]}},
    {"date": {"field": "when", "formats": ["dd/MM/yyyy"], "timezone": "Europe/Paris"}}, {"json": {"field": "raw"}}, {"json": {"field": "raw", "add_to_root": True}},
    {"grok": {"field": "text", "patterns": ["%{WORD:first} %{GREEDYDATA:rest}"]}}, {"dissect": {"field": "text", "pattern": "%{x} %{y}"}}, {"kv": {"field": "pairs", "field_split": " ", "value_split": "="}},
 {"fail": {"message": "no {{tag}}"}}, {"drop": {}},
    {"foreach": {"field": "list", "processor": {"uppercase": {"field": "_ingest._value"}}}}, 
    {"copy": {"source_field": "tag", "target_field": "n"}}, {"copy": {"source_field": "text", "target_field": "o.p", "remove_source": True}}, {"sort": {"field": "list"}}, {"sort": {"field": "list", "order": "desc", "target_field": "sorted"}},
    {"fingerprint": {"fields": ["tag", "n"]}}, {"fingerprint": {"exclude_fields": ["d.e", "text"], "ignore_missing": True, "hash_method": "SHA3-256@2.16.0"}}, {"remove_by_pattern": {"field_pattern": ["t*", "n"]}},
    {"community_id": {"source_ip_field": "source", "destination_ip_field": "destination", "protocol_field": "protocol", "source_port_field": "n", "destination_port_field": "port"}},
    {"date_index_name": {"field": "when", "date_rounding": "M", "index_name_prefix": "by-{{tag}}-", "date_formats": ["yyyy-MM-dd", "UNIX"]}}, {"dissect": {"field": "pairs", "pattern": "%{*a}=%{&a} %{b}"}}, {"dissect": {"field": "text", "pattern": "%{+x/2} %{+x/1}"}},
    {"gsub": {"field": "text", "pattern": "(\\w)(\\w*)", "replacement": "$2$1"}}, {"set": {"field": "whole", "value": {"a": ["{{tag}}", "{{list}}"]}}}, {"pipeline": {"name": "unheard-of"}}, {"html_strip": {"field": "list"}},
    {"urldecode": {"field": "url"}}, {"bytes": {"field": "size"}}, {"html_strip": {"field": "html"}}, {"csv": {"field": "csv", "target_fields": ["p", "q"]}}, {"dot_expander": {"field": "d.e"}},
    {"unheard_of": {}}, {"set": {"value": 1}},
]


def ingest(wire, dice):
    """What pipelines make of documents."""
    for _ in range(4):
        processors = []
        for one in dice.some(PROCESSORS, 1, 4):
            ((kind, options),) = one.items()
            # OpenSearch lets nothing handle a list that cannot be gone through.
            if kind == "foreach":
                processors.append(one)
                continue
            processors.append({kind: {**options, **dice.options(0.15, ignore_failure=True, tag="t", on_failure=[{"set": {"field": "error", "value": "{{_ingest.on_failure_processor_type}}"}}])}})
        document = {**small(dice), "list": dice.some(PEOPLE), "when": dice.choice(["2021-02-03", "1612310400", "x"]), "raw": dice.choice(['{"j": 1}', "[1,2]", "no"]), "pairs": "k=v l=w",
                    "url": "a%20b", "size": dice.choice(["3kb", "1mb", "x"]), "html": "<b>x</b> y", "csv": 'a,"b,c"', "d.e": 1, "source": dice.choice(["10.1.2.3", "2001:db8::1"]), "destination": "10.1.2.4", "protocol": dice.choice(["tcp", "UDP", "gre"]), "port": 443, "level": dice.choice(LEVELS)}
        body = {"pipeline": {"processors": processors}, "docs": [{"_index": "i", "_id": "1", "_source": document}]}
        status, answer = wire.call("POST", "/_ingest/pipeline/_simulate", body)
        for one in answer.get("docs", ()):
            if one and "doc" in one:
                one["doc"].pop("_ingest", None)
            if one and "error" in one:
                one["error"] = one["error"].get("type")
        yield status, answer


JOIN = {"properties": {"rel": {"type": "join", "relations": {"q": ["a", "c"], "a": "v"}}, "tag": {"type": "keyword"}, "n": {"type": "integer"}, "text": {"type": "text"}}}


def joins(wire, dice):
    """Parents and children."""

    fresh(wire, JOIN, dice.choice([1, 2]))
    lines = []
    for number in range(40):
        kind = dice.choice(["q", "q", "a", "c", "v"]) if number > 5 else "q"
        parent = {"a": lambda: str(dice.randrange(6)), "c": lambda: str(dice.randrange(6)), "v": lambda: str(dice.randrange(number))}.get(kind)
        routing = str(dice.randrange(6)) if kind == "v" else None
        rel = {"name": kind, **({"parent": parent()} if parent else {})}
        lines += [{"index": {"_id": str(number), "routing": routing or rel.get("parent") or str(number)}}, {**small(dice), "rel": rel}]
    wire.need("POST", f"/{OWN}/_bulk?refresh=true", "".join(json.dumps(line) + "\n" for line in lines))
    inner = lambda: dice.choice([{"match_all": {}}, {"range": {"n": {"gte": dice.randrange(15)}}}, {"match": {"text": fulltext.words(dice)}}])
    for _ in range(8):
        query = dice.choice([
            lambda: {"has_child": {"type": dice.choice(["a", "c", "v"]), "query": inner(), **dice.options(0.4, score_mode=dice.choice(["min", "max", "sum", "avg", "none"]), min_children=2, max_children=3)}},
            lambda: {"has_parent": {"parent_type": dice.choice(["q", "a"]), "query": inner(), **dice.options(0.5, score=dice.maybe)}},
            lambda: {"parent_id": {"type": dice.choice(["a", "c"]), "id": str(dice.randrange(6))}},
            lambda: {"has_child": {"type": "a", "query": {"has_child": {"type": "v", "query": inner()}}}}])()
        if dice.maybe(0.3) and "parent_id" not in query:
            next(iter(query.values()))["inner_hits"] = {"size": 5, "sort": ["n", "_id"], "_source": ["n"]}
        body = {"query": query, "size": 50, "_source": False}
        if dice.maybe(0.3):
            body["aggs"] = {"k": {"children": {"type": dice.choice(["a", "c"])}, "aggs": {"t": {"terms": {"field": "tag"}}, "m": {"max": {"field": "n"}}}}}
        yield wire.call("POST", f"/{OWN}/_search", body)


SESSIONS = {session.__name__: session for session in (scroll, search_after, composite, writes, bulk, by_query, names, ingest, joins)} | OTHER_SESSIONS
