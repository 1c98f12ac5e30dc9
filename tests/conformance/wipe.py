"""Clears the server between tests."""

import json
from urllib.parse import quote

from .steps import Fail, TimeUp


def wipe(run):
    """Removes what a test may have left: indexes always, the rest where the test has touched it."""
    def go(method, path):
        try:
            return run.send(method, path, limit=20)
        except (Fail, TimeUp):
            return None

    def names(path, pick):
        r = go("GET", path)
        try:
            return pick(r.json()) if r is not None and r.status_code == 200 else []
        except (ValueError, AttributeError, TypeError, KeyError):
            return []
    used = " ".join(run.touched)
    if "scroll" in used or any(isinstance(v, str) and len(v) > 60 for v in run.stash.values()):
        go("DELETE", "/_search/scroll/_all")
    if "pit" in used:
        go("DELETE", "/_search/point_in_time/_all")
    if "snapshot" in used:
        for repo in names("/_snapshot/_all", list):
            for s in names(f"/_snapshot/{repo}/_all", lambda d: [x["snapshot"] for x in d["snapshots"]]):
                go("DELETE", f"/_snapshot/{repo}/{s}")
            go("DELETE", f"/_snapshot/{repo}")
    go("DELETE", "/*?expand_wildcards=open,closed,hidden&ignore_unavailable=true")
    if "template" in used:
        for p in ("/_template/*", "/_index_template/*", "/_component_template/*"):
            go("DELETE", p)
    if "ingest" in used:
        go("DELETE", "/_ingest/pipeline/*")
    if "search_pipeline" in used:
        for p in names("/_search/pipeline", list):
            go("DELETE", f"/_search/pipeline/{p}")
    if "put_script" in used:
        for s in names("/_cluster/state/metadata?filter_path=metadata.stored_scripts",
                       lambda d: list(d["metadata"]["stored_scripts"])):
            go("DELETE", f"/_scripts/{quote(s, safe='')}")
    if "cluster.put_settings" in used:
        r = go("GET", "/_cluster/settings?flat_settings=true")
        try:
            d = {k: {n: None for n in r.json().get(k, {})} for k in ("persistent", "transient")}
            if any(d.values()):
                run.send("PUT", "/_cluster/settings", body=json.dumps(d), headers={"Content-Type": "application/json"}, limit=20)
        except (Fail, TimeUp, ValueError, AttributeError):
            pass
    if "voting_config" in used:
        go("DELETE", "/_cluster/voting_config_exclusions?wait_for_removal=false")
    if "decommission" in used or "weights" in used:
        go("DELETE", "/_cluster/decommission/awareness")
