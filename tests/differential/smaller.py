"""Makes a request that shows a difference smaller, as long as the difference stays."""

import copy


def smaller(body, differs, tries=150):
    """The smallest body found that `differs` still holds for."""
    progress = True
    while progress and tries > 0:
        progress = False
        for candidate in candidates(body):
            tries -= 1
            if tries <= 0:
                break
            if differs(candidate):
                body, progress = candidate, True
                break
    return body


def candidates(body):
    """The body with one thing left out, or an inner query in place of the one around it; the biggest changes first."""
    for path in sorted(paths(body), key=len):
        made = copy.deepcopy(body)
        holder = follow(made, path[:-1])
        if path[-1] in ("query", "aggs", "size") and len(path) == 1:
            pass
        else:
            del holder[path[-1]]
            yield made
        for inner in inner_queries(follow(body, path)):
            made = copy.deepcopy(body)
            follow(made, path[:-1])[path[-1]] = copy.deepcopy(inner)
            yield made


def inner_queries(value):
    """Objects of one key, as queries and aggregations are, that lie one or two steps inside such an object."""
    if not (isinstance(value, dict) and len(value) == 1):
        return
    (outer,) = value.values()
    for inner in outer.values() if isinstance(outer, dict) else ():
        for one in inner if isinstance(inner, list) else [inner]:
            if isinstance(one, dict) and len(one) == 1 and isinstance(next(iter(one.values())), dict):
                yield one


def paths(body, at=()):
    for key in list(body) if isinstance(body, dict) else range(len(body)):
        yield (*at, key)
        if isinstance(body[key], (dict, list)):
            yield from paths(body[key], (*at, key))


def follow(body, path):
    for key in path:
        body = body[key]
    return body
