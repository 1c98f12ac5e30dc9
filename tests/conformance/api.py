"""The descriptions of the REST API that come with the tests: from a call's name to method, path and query."""

import glob
import json
import os
import re
from urllib.parse import quote

from .java import java_str


class BadCall(Exception):
    """The call cannot be made from the API description (what `catch: param` expects)."""


class Spec:
    def __init__(self, folder):
        self.apis, self.common = {}, set()
        for f in sorted(glob.glob(os.path.join(folder, "*.json"))):
            d = json.load(open(f))
            if os.path.basename(f) == "_common.json":
                self.common = set(d["params"])
            else:
                (name, body), = d.items()
                self.apis[name] = body

    def plan(self, name, args, has_body):
        """-> (method, path, query) for a call."""
        if name not in self.apis:
            raise BadCall(f"unknown api [{name}]")
        api, best = self.apis[name], None
        known_parts = {p for x in api["url"]["paths"] for p in x.get("parts", {})}
        parts = {k: v for k, v in args.items() if k in known_parts}
        query = {k: v for k, v in args.items() if k not in known_parts}
        for x in api["url"]["paths"]:
            need = set(re.findall(r"\{(\w+)\}", x["path"]))
            if need <= parts.keys() and (best is None or len(need) > best[0]):
                best = (len(need), x, need)
        if best is None or best[2] != parts.keys():
            raise BadCall(f"no path of [{name}] takes exactly {sorted(parts)}")
        allowed = set(api.get("params", {})) | self.common
        for k in query:
            if k not in allowed:
                raise BadCall(f"[{name}] has no parameter [{k}]")
        if has_body and not api.get("body"):
            raise BadCall(f"[{name}] takes no body")
        if not has_body and (api.get("body") or {}).get("required"):
            raise BadCall(f"[{name}] needs a body")
        methods = best[1]["methods"]
        method = "POST" if has_body and methods[0] == "GET" and "POST" in methods else methods[0]
        path = best[1]["path"]
        for p in best[2]:
            path = path.replace("{" + p + "}", quote(param(parts[p]), safe="!$&'()*+,;=:@~"))
        return method, path, query

    def bulk_body(self, name):
        return (self.apis[name].get("body") or {}).get("serialize") == "bulk"


def param(v):
    if isinstance(v, list):
        return ",".join(param(x) for x in v)
    return "" if v is None else java_str(v)
