"""How long a killed server takes to answer again: vectors are inserted by pymilvus, the process is killed at once, and
started anew over its folder.

    python restart.py --bin CLEW [--rows 200000] [--dims 128,768] [--rounds 3] [--flush]
"""

import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import results  # noqa: E402
from server import Server  # noqa: E402

results.need("numpy", "pymilvus")
import numpy as np  # noqa: E402
from pymilvus import DataType, MilvusClient  # noqa: E402

RESULTS = pathlib.Path(__file__).parent.parent / "RESULTS.md"
NAME = "bench"
INSERT_ROWS = 5_000


def fill(address, vectors):
    client = MilvusClient(uri=f"http://{address}")
    schema = client.create_schema()
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=vectors.shape[1])
    params = client.prepare_index_params()
    params.add_index("vector", index_type="HNSW", metric_type="L2", params={"M": 16, "efConstruction": 100})
    client.create_collection(NAME, schema=schema, index_params=params)
    started = time.perf_counter()
    for first in range(0, len(vectors), INSERT_ROWS):
        part = vectors[first:first + INSERT_ROWS]
        client.insert(NAME, [{"id": first + n, "vector": vector} for n, vector in enumerate(part)])
    return client, time.perf_counter() - started


def again(server, vectors):
    """Seconds until the server listens, until the first search is answered, and until all rows are counted."""
    started = time.perf_counter()
    server.start()
    listens = time.perf_counter() - started
    client = MilvusClient(uri=f"http://{server.grpc}")
    (hits,) = client.search(NAME, data=[vectors[7]], limit=10, consistency_level="Strong")
    searched = time.perf_counter() - started
    if len(hits) != 10:
        raise SystemExit(f"only {len(hits)} hits")
    # Random vectors of many dimensions are not always found by themselves: what is there is asked for by its key.
    (row,) = client.get(NAME, ids=[7], output_fields=["vector"])
    if not np.array_equal(np.float32(row["vector"]), vectors[7]):
        raise SystemExit("row 7 is another one")
    count = client.query(NAME, filter="", output_fields=["count(*)"])[0]["count(*)"]
    if count != len(vectors):
        raise SystemExit(f"{count} rows are there of {len(vectors)}")
    client.close()
    return listens, searched


def measure(given, dims, found):
    """Rows of one number of dimensions: the insert, and each start after a kill."""
    vectors = np.random.default_rng(4).normal(size=(given.rows, dims)).astype(np.float32)
    params = {"rows": given.rows, "dims": dims, "flushed": given.flush}
    with Server(given.bin) as server:
        client, seconds = fill(server.grpc, vectors)
        if given.flush:
            client.flush(NAME)
        server.kill()
        print(f"{given.rows} vectors of {dims} dimensions inserted in {seconds:.1f} s, then killed", flush=True)
        found.add("load", params, {"seconds": seconds, "docs_per_s": given.rows / seconds})
        for number in range(given.rounds):
            listens, searched = again(server, vectors)
            print(f"start {number + 1}: listens after {listens:.2f} s, the first search is answered after {searched:.2f} s", flush=True)
            found.add("restart", params, {"listens_s": listens, "searched_s": searched})
            server.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dims", default="128,768", help="a server for each of these numbers of dimensions")
    parser.add_argument("--rounds", type=int, default=3, help="kills, one after the other")
    parser.add_argument("--flush", action="store_true", help="flush before the kill")
    parser.add_argument("--results", default=str(RESULTS), help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin")
    found = results.Rows()
    for dims in map(int, given.dims.split(",")):
        measure(given, dims, found)
    machine = results.machine()
    found.save(given.json, given.bin, machine)
    lines = [f"Vectors are inserted by pymilvus, {'flushed, ' if given.flush else ''}the process is killed, and started anew {given.rounds} "
             "times with a kill after each; median with least and greatest.", "",
             *results.table(found.named("restart"), {"rows": "vectors", "dims": "dimensions"},
                            {"listens_s": "listens after, s", "searched_s": "the first search is answered after, s"})]
    results.publish(given.results, "A restart after a kill", "make bench-restart", machine, lines)


if __name__ == "__main__":
    main()
