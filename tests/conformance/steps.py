"""One test: its calls, what it remembers of the answers, and what it asserts."""

import base64
import json
import re
import time
from urllib.parse import urlencode

import requests
import yaml

from .api import BadCall, param
from .java import Loader, java_regex, java_str, same, short

CATCH = {"bad_request": 400, "unauthorized": 401, "forbidden": 403, "missing": 404, "request_timeout": 408,
         "conflict": 409, "unavailable": 503}


class Fail(Exception):
    """An assertion of a test did not hold."""


class TimeUp(Exception):
    """The test has taken too long."""


def dumps(v):
    return json.dumps(v, ensure_ascii=False)


class Run:
    def __init__(self, spec, url, deadline, version):
        self.spec, self.url, self.deadline, self.version = spec, url.rstrip("/"), deadline, version
        self.http = requests.Session()
        self.stash, self.body, self.touched = {}, None, set()

    def send(self, method, path, query=None, body=None, headers=None, limit=None):
        left = self.deadline - time.time() if limit is None else limit
        if left <= 0:
            raise TimeUp()
        url = self.url + path + ("?" + urlencode({k: param(v) for k, v in query.items()}) if query else "")
        try:
            return self.http.request(method, url, data=body, headers=headers, timeout=left)
        except requests.exceptions.Timeout:
            raise TimeUp()
        except requests.exceptions.ConnectionError as e:
            self.http.close()
            raise Fail(f"connection: {e}")

    # stash
    def fill(self, v):
        if isinstance(v, dict):
            return {self.fill_text(k) if "$" in k else k: self.fill(x) for k, x in v.items()}
        if isinstance(v, list):
            return [self.fill(x) for x in v]
        return self.fill_text(v, keep=True) if isinstance(v, str) and "$" in v else v

    def named(self, n):
        node = self.stash.get(n, KeyError)
        if node is KeyError:
            raise Fail(f"stash has no [{n}]")
        return node

    def fill_text(self, s, keep=False):
        m = re.fullmatch(r"\$\{([^}]+)\}|\$([\w\-.]+)", s)
        if m:
            name = m.group(1) or m.group(2)
            if name == "body" or name in self.stash:
                v = self.body if name == "body" else self.named(name)
            elif name.startswith("body."):
                v = self.at(name[5:])
            else:
                raise Fail(f"stash has no [{name}]")
            return v if keep else java_str(v)
        return re.sub(r"\$\{([^}]+)\}", lambda m: java_str(self.named(m.group(1))), s)

    # response paths
    def at(self, path):
        if path == "$body":
            return self.body
        node = self.body
        parts = [p.replace("\0", ".") for p in path.replace("\\.", "\0").split(".") if p]
        for p in parts:
            if "$" in p:
                p = self.fill_text(p)
            if isinstance(node, dict):
                if p == "_arbitrary_key_":
                    if not node:
                        raise Fail("_arbitrary_key_ of an empty object")
                    node = next(iter(node))
                else:
                    node = node.get(p)
            elif isinstance(node, list):
                if not re.fullmatch(r"\d+", p):
                    raise Fail(f"[{path}]: [{p}] is not an array index")
                node = node[int(p)] if int(p) < len(node) else None
            else:
                return None
        return node

    # steps
    def step(self, kind, arg):
        f = getattr(self, "do_" + kind, None)
        if f is None:
            raise Fail(f"unknown step [{kind}]")
        f(arg)

    def do_skip(self, arg):
        pass

    def do_do(self, arg):
        arg = dict(arg)
        catch, headers = arg.pop("catch", None), {k: self.fill(v) for k, v in (arg.pop("headers", None) or {}).items()}
        for k in ("warnings", "warnings_regex", "allowed_warnings", "allowed_warnings_regex", "node_selector"):
            arg.pop(k, None)
        for name, args in arg.items():
            self.call(name, dict(args or {}), catch, dict(headers))

    def call(self, name, args, catch, headers):
        body = args.pop("body", None)
        ignore = args.pop("ignore", None)
        ignore = {int(x) for x in (ignore if isinstance(ignore, list) else str(ignore).split(","))} if ignore else set()
        self.touched.add(name)
        try:
            args = {k: self.fill(v) for k, v in args.items()}
            method, path, query = self.spec.plan(name, args, body is not None)
        except BadCall as e:
            if catch == "param":
                return
            raise Fail(str(e))
        low = {k.lower(): v for k, v in headers.items()}
        data = None
        if body is not None:
            bulk = self.spec.bulk_body(name)
            data = self.encode(body, bulk, low.get("content-type", "")).encode()
            if "content-type" not in low:
                headers["Content-Type"] = "application/x-ndjson" if bulk else "application/json"
        r = self.send(method, path, query, data, headers)
        self.parse(r, method)
        call = f"{method} {path} -> {r.status_code} {short(r.text)}"
        bad = r.status_code >= 400 and r.status_code not in ignore and not (method == "HEAD" and r.status_code == 404)
        if catch is None:
            if bad:
                raise Fail(call)
        elif catch in CATCH:
            if r.status_code != CATCH[catch]:
                raise Fail(f"expected {catch}: {call}")
        elif catch in ("request", "param"):  # a parameter error may be the client's or the server's
            if r.status_code < 400:
                raise Fail(f"expected an error: {call}")
        elif catch.startswith("/") and catch.endswith("/"):
            if r.status_code < 400:
                raise Fail(f"expected an error: {call}")
            pat = java_regex(catch[1:-1], comments=False)
            err = self.body.get("error") if isinstance(self.body, dict) else self.body
            if not (pat.search(java_str(err)) or pat.search(r.text)):
                raise Fail(f"error does not match {catch}: {short(java_str(err))}")
        else:
            raise Fail(f"unknown catch [{catch}]")

    def encode(self, body, bulk, ctype):
        if isinstance(body, str):
            body = self.fill_text(body, keep=True) if re.fullmatch(r"\$[\w.\-]+", body) else body
            if isinstance(body, str):
                return body if not bulk or body.endswith("\n") else body + "\n"
        if isinstance(body, list) and (bulk or all(isinstance(x, (dict, str)) for x in body)):
            return "".join((x.strip() if isinstance(x, str) else dumps(self.fill(x))) + "\n" for x in body)
        if "yaml" in ctype:
            return yaml.safe_dump(self.fill(body), sort_keys=False)
        return dumps(self.fill(body)) + ("\n" if bulk else "")

    def parse(self, r, method):
        ctype = r.headers.get("Content-Type", "")
        if method == "HEAD":
            self.body = r.status_code < 400
        elif "json" in ctype and r.content:
            try:
                self.body = json.loads(r.content)
            except ValueError as e:
                raise Fail(f"response is not JSON: {e}: {short(r.text)}")
        elif "yaml" in ctype:
            self.body = yaml.load(r.content, Loader)
        else:
            self.body = r.content.decode("utf-8", "replace")

    def do_set(self, arg):
        for path, name in arg.items():
            self.stash[name] = self.at(path)

    def do_transform_and_set(self, arg):
        for name, call in arg.items():
            m = re.fullmatch(r"#base64EncodeCredentials\((.*)\)", call)
            if not m:
                raise Fail(f"unknown transformation [{call}]")
            vals = [java_str(self.at(p.strip())) for p in m.group(1).split(",")]
            self.stash[name] = base64.b64encode(":".join(vals).encode()).decode()

    def pairs(self, arg):
        for path, want in arg.items():
            yield path, self.at(path), self.fill(want)

    def do_match(self, arg):
        for path, got, want in self.pairs(arg):
            if isinstance(want, str) and len(want.strip()) > 1 and want.strip().startswith("/") and want.strip().endswith("/"):
                if got is None or not java_regex(want.strip()[1:-1]).search(java_str(got)):
                    raise Fail(f"[{path}] is {short(java_str(got))!r}, does not match {short(want)}")
            elif not same(got, want, top=True):
                raise Fail(f"[{path}] is {short(got)}, expected {short(want)}")

    @staticmethod
    def truth(v):
        return v is not None and java_str(v).lower() not in ("", "false", "0")

    def do_is_true(self, path):
        if not self.truth(self.at(path)):
            raise Fail(f"[{path}] is {short(self.at(path))}, expected true")

    def do_is_false(self, path):
        if self.truth(self.at(path)):
            raise Fail(f"[{path}] is {short(self.at(path))}, expected false")

    def do_length(self, arg):
        for path, got, want in self.pairs(arg):
            if not isinstance(got, (str, list, dict)) or len(got) != int(want):
                raise Fail(f"length of [{path}] is {len(got) if isinstance(got, (str, list, dict)) else got}, expected {want}")

    def order(self, arg, name, ok):
        for path, got, want in self.pairs(arg):
            try:
                good = ok(got, want)
            except TypeError:
                good = False
            if not good:
                raise Fail(f"[{path}] is {short(got)}, expected {name} {want}")

    def do_gt(self, a): self.order(a, ">", lambda x, y: x > y)
    def do_gte(self, a): self.order(a, ">=", lambda x, y: x >= y)
    def do_lt(self, a): self.order(a, "<", lambda x, y: x < y)
    def do_lte(self, a): self.order(a, "<=", lambda x, y: x <= y)

    def do_contains(self, arg):
        for path, got, want in self.pairs(arg):
            if isinstance(got, str):
                ok = isinstance(want, str) and want in got
            elif isinstance(got, list) and isinstance(want, dict):
                ok = any(isinstance(x, dict) and all(k in x and same(x[k], v) for k, v in want.items()) for x in got)
            else:
                ok = isinstance(got, list) and any(same(x, want, top=True) for x in got)
            if not ok:
                raise Fail(f"[{path}] is {short(got)}, does not contain {short(want)}")

    def do_close_to(self, arg):
        for path, got, want in self.pairs(arg):
            if not isinstance(got, (int, float)) or abs(got - want["value"]) > want["error"]:
                raise Fail(f"[{path}] is {got}, expected {want}")
