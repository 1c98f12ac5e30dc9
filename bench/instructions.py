"""How many instructions two builds take for the same requests, and which functions differ the most: what a change costs, told
where the noise of a machine hides it.

Counted by callgrind (`valgrind`), without what any start takes: documents of a bulk with their refresh, the searches of
`bench/opensearch`, and searches of Milvus' RESTful API. Of each function the second least of five rounds counts, so that what a
server does by the clock, as looking how much memory is left, is left out. Two runs of one build differ by some thousandths; on a
crowded machine, or of few requests, those of searches by some hundredths. Functions have names where `clew.debug` lies beside each
binary, as `make build` leaves it.

    python3 bench/instructions.py --old CLEW --new CLEW [--documents 20000] [--bulk 1000] [--requests 200]
                                  [--vectors 5000] [--dims 128]
"""

import argparse
import json
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
sys.path[:0] = [str(HERE), str(HERE / "opensearch")]
import results  # noqa: E402

import callgrind  # noqa: E402
import corpus  # noqa: E402
from server import Client  # noqa: E402

INDEX, COLLECTION, NDJSON = "/bench", "vectors", "application/x-ndjson"
BULK, MILVUS = "bulk, a document", "Milvus' search"
ROUNDS = 5
# Bodies of a bulk that are not counted before those that are, one a round; the index has whatever comes after them, too.
WARM = 2
# Functions that are told of each kind of work.
FUNCTIONS = 10
MILVUS_ROWS = 1000
SEED = 41


def bulk(server, documents, size):
    """What documents cost with making them findable; afterwards all of them lie in one segment."""
    client, bodies = server.client, list(corpus.batches(documents, size=size))
    client.call("PUT", INDEX, corpus.MAPPING)

    def send(some):
        for body in some:
            if b'"errors":true' in (reply := client.call("POST", f"{INDEX}/_bulk", body, NDJSON))[:200]:
                raise SystemExit(f"documents were refused: {reply[:400]!r}")
        client.call("POST", f"{INDEX}/_refresh")

    send(bodies[:WARM])
    rounds = [server.count(lambda: send([body])) for body in bodies[WARM:WARM + ROUNDS]]
    send(bodies[WARM + ROUNDS:])
    client.call("POST", f"{INDEX}/_forcemerge?max_num_segments=1")
    return typical(rounds, size)


def searches(server, documents, requests):
    """What searches cost by kind; as many others of a kind go before."""
    client, questions = server.client, corpus.questions(documents, 2 * requests)
    for kind, make in corpus.SEARCHES.items():
        bodies = [json.dumps(make(text)).encode() for text in questions]
        ask = lambda some: [client.call("POST", f"{INDEX}/_search", body) for body in some]
        ask(bodies[:requests])
        yield kind, in_rounds(server, ask, bodies[requests:])


def milvus(server, given):
    """What searches for vectors cost, through a graph."""
    client, dice = Client(server.grpc), random.Random(SEED)
    draw = lambda count: [[round(dice.gauss(0, 1), 4) for _ in range(given.dims)] for _ in range(count)]

    def call(path, **body):
        answer = client.json("POST", f"/v2/vectordb/{path}", {"collectionName": COLLECTION, **body})
        if answer["code"]:
            raise SystemExit(f"{path}: {answer}")
        return answer

    fields = [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
              {"fieldName": "vector", "dataType": "FloatVector", "elementTypeParams": {"dim": given.dims}}]
    index = {"fieldName": "vector", "indexName": "vector", "metricType": "L2", "indexType": "HNSW", "params": {"M": 16, "efConstruction": 64}}
    call("collections/create", schema={"fields": fields}, indexParams=[index])
    for first in range(0, given.vectors, MILVUS_ROWS):
        rows = draw(min(MILVUS_ROWS, given.vectors - first))
        call("entities/insert", data=[{"id": first + at, "vector": vector} for at, vector in enumerate(rows)])
    call("collections/flush")
    # Answered when the graph is built.
    call("collections/compact")
    asked = draw(2 * given.requests)
    search = lambda some: [call("entities/search", data=[vector], annsField="vector", limit=10) for vector in some]
    search(asked[:given.requests])
    return in_rounds(server, search, asked[given.requests:])


def in_rounds(server, ask, questions):
    """What a question costs, of which there are as many in each round."""
    each = len(questions) // ROUNDS
    return typical([server.count(lambda: ask(questions[at * each:(at + 1) * each])) for at in range(ROUNDS)], each)


def typical(rounds, requests):
    """Instructions a request of each function, the second least of the rounds: what else is done only adds to them, and what is not
    done in two of them is no part of a request."""
    names = set().union(*(counts.functions for counts in rounds))
    return {name: sorted(counts.functions[name] for counts in rounds)[1] / requests for name in names}


def counted(binary, given):
    """What a request takes of a build by kind of work and function."""
    documents = corpus.packages()[0][:given.documents]
    with callgrind.Counted(binary) as server:
        found = {BULK: bulk(server, documents, given.bulk)}
        found.update(searches(server, documents, given.requests))
        found[MILVUS] = milvus(server, given)
    return found


def kept(found):
    """All of it as rows."""
    rows = results.Rows()
    for build, by_kind in found.items():
        for kind, functions in by_kind.items():
            rows.add("instructions", {"build": build, "what": kind}, {"instructions": sum(functions.values())})
    return rows


def differences(old, new):
    """The functions whose part of a request differs the most, with their instructions before and now."""
    both = {name: (old.get(name, 0), new.get(name, 0)) for name in {**old, **new}}
    by_change = sorted(both.items(), key=lambda one: (-abs(one[1][1] - one[1][0]), one[0]))
    return [(name, before, now) for name, (before, now) in by_change[:FUNCTIONS] if before != now]


def is_nameless(functions):
    """Whether most of what was counted is known by its address alone, which is another one in each build."""
    return 2 * sum(count for name, count in functions.items() if name.startswith("0x")) > sum(functions.values())


def report(found):
    """Lines of a table of all kinds of work, and for each one of functions."""
    lines = ["| what, instructions a request | before | now | now / before |", "| --- | --- | --- | --- |"]
    for kind, old in found["old"].items():
        before, now = sum(old.values()), sum(found["new"][kind].values())
        lines.append(f"| {kind} | {before:,.0f} | {now:,.0f} | {now / before:.4f} |")
    if any(is_nameless(functions) for by_kind in found.values() for functions in by_kind.values()):
        lines += ["", "Functions have no names here, so that they are not compared: a binary without symbols wants its `clew.debug` beside it."]
        return lines
    for kind, old in found["old"].items():
        lines += ["", f"### {kind}", "", "| function, itself | before | now | more |", "| --- | --- | --- | --- |"]
        for name, before, now in differences(old, found["new"][kind]):
            lines.append(f"| `{name}` | {before:,.0f} | {now:,.0f} | {now - before:+,.0f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, help="the binary before")
    parser.add_argument("--new", required=True, help="the binary after")
    parser.add_argument("--documents", type=int, default=20_000, help=f"that are searched; the cost of those of {ROUNDS} bulks is told")
    parser.add_argument("--bulk", type=int, default=corpus.BATCH, help="documents of a bulk")
    parser.add_argument("--requests", type=int, default=200, help=f"of each kind that are counted, in {ROUNDS} rounds, after as many that are not")
    parser.add_argument("--vectors", type=int, default=5_000)
    parser.add_argument("--dims", type=int, default=128, help="of the vectors")
    parser.add_argument("--results", nargs="?", const=str(RESULTS), default="-", help="where the section is written: RESULTS.md if nothing is said, nowhere without this")
    results.add_json(parser)
    given = results.given(parser, "old", "new")
    if given.documents < (least := (WARM + ROUNDS) * given.bulk):
        parser.error(f"--documents has to be {least:,} or more: {WARM} bulks go before the {ROUNDS} that are counted")
    if given.requests < ROUNDS:
        parser.error(f"--requests has to be {ROUNDS} or more")
    if min(given.bulk, given.vectors, given.dims) < 1:
        parser.error("--bulk, --vectors and --dims have to be 1 or more")
    if reason := callgrind.missing():
        print(f"skipped: {reason}")
        return
    found = {}
    for build in ("old", "new"):
        print(f"counting {build}", file=sys.stderr, flush=True)
        found[build] = counted(getattr(given, build), given)
    machine = results.machine()
    kept(found).save(given.json, given.new, machine)
    head = [f"{given.documents:,} documents, {given.vectors:,} vectors of {given.dims} dimensions, {given.requests:,} requests of a kind by one client, "
            f"the second least of {ROUNDS} rounds. A function's part is what it takes itself, without what it calls.", ""]
    results.publish(given.results, "Instructions of two builds", "make bench-instructions", machine, head + report(found))


if __name__ == "__main__":
    main()
