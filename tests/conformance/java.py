"""YAML, patterns, text and equality as the Java runner of these tests has them."""

import json
import re

import yaml


class Loader(yaml.SafeLoader):
    pass


Loader.yaml_implicit_resolvers = {}
for _tag, _re, _first in (
        ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
        ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
        ("int", r"^[-+]?(?:0|[1-9][0-9_]*)$", "-+0123456789"),
        ("float", r"^[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|\.[0-9_]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
                  r"|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$", "-+0123456789.")):
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + _tag, re.compile(_re), list(_first))


def _float(loader, node):
    v = node.value.replace("_", "").lower()
    return float(v.replace(".inf", "inf").replace(".nan", "nan"))


def _int(loader, node):
    return int(node.value.replace("_", ""))


def _key(k):
    return k if isinstance(k, str) else "null" if k is None else str(k).lower() if isinstance(k, bool) else str(k)


def _map(loader, node):
    return {_key(loader.construct_object(k, deep=True)): loader.construct_object(v, deep=True) for k, v in node.value}


Loader.add_constructor("tag:yaml.org,2002:float", _float)
Loader.add_constructor("tag:yaml.org,2002:int", _int)
Loader.add_constructor("tag:yaml.org,2002:map", _map)


def java_regex(src, comments=True):
    """A Java pattern -> a Python one. In COMMENTS mode Java also drops blanks inside [...].
    The idiom (\\S+\\s?){1,N} takes exponential time in Python, so it is written in its unambiguous form."""
    src = re.sub(r"\((\\S\+)\\s\?\)\{1,(\d+)\}", lambda m: r"(\S+(?:\s\S+){0,%d}\s?)" % (int(m.group(2)) - 1), src)
    out, i, cls = [], 0, 0
    while i < len(src):
        c = src[i]
        if c == "\\" and i + 1 < len(src):
            nxt = src[i + 1]
            out.append({"Z": r"(?=\n?\Z)", "z": r"\Z", "h": r"[ \t]"}.get(nxt, c + nxt))
            i += 2
            continue
        if c == "[":
            cls += 1
            if cls > 1:
                c = "\\["
        elif c == "]" and cls:
            cls -= 1
        elif cls and comments and c in " \t\r\n":
            i += 1
            continue
        if src.startswith("(?<", i) and src[i + 3:i + 4] not in ("=", "!"):
            out.append("(?P<")
            i += 3
            continue
        out.append(c)
        i += 1
    return re.compile("".join(out), re.ASCII | (re.VERBOSE if comments else re.DOTALL))


def java_str(v):
    """What Java's toString() gives for a parsed response (error patterns are written against it)."""
    if isinstance(v, dict):
        return "{" + ", ".join(f"{k}={java_str(x)}" for k, x in v.items()) + "}"
    if isinstance(v, list):
        return "[" + ", ".join(java_str(x) for x in v) + "]"
    if v is None:
        return "null"
    if isinstance(v, bool):
        return "true" if v else "false"
    return str(v)


def same(a, b, top=False):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if a != a and b != b:
            return True
        return float(a) == float(b) if top and type(a) is not type(b) else a == b and type(a) is type(b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and a == b


def short(v, n=300):
    s = v if isinstance(v, str) else json.dumps(v, ensure_ascii=False, default=str)
    return s if len(s) <= n else s[:n] + "..."
