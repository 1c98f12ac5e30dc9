"""Clew beside milvus-lite, both asked by pymilvus over the network: loading, recall, and searches of one and of many clients.

Clustered vectors of a fixed seed; every program is a server of its own on a free port, and they take turns. Beside
them stand what the same searches and rows cost in process (`clew bench vectors`, `clew-bench-milvus rows`), and what
the client takes with a server that only replays an answer (`clew-bench-milvus replay`).

    python run.py --bin CLEW --beside CLEW-BENCH-MILVUS [--rows 50000] [--dim 768] [--k 100] [--rounds 2]
                  [--clients 1,8,50,200]
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
RESULTS = HERE.parent / "RESULTS.md"
sys.path.insert(0, str(HERE.parent))
import results  # noqa: E402

results.need("numpy", "pymilvus")
import numpy as np  # noqa: E402

NAME = "bench"
# Of the environment that this runs in.
MILVUS_LITE = pathlib.Path(sys.executable).with_name("milvus-lite")
EFFORTS = [100, 128, 200]
SECONDS = 5
INSERT_ROWS = 500
# Searches of each effort that are not counted.
WARM = 50
# Threads that build indexes.
INDEXING = ["clew-merge"]


def draw(rows, dim, queries, k):
    """Vectors, queries and the nearest of each by cosine."""
    dice = np.random.default_rng(5)
    centres = dice.normal(size=(max(rows // 250, 1), dim)).astype(np.float32)

    def around(count):
        chosen = centres[dice.integers(len(centres), size=count)]
        return chosen + 0.7 * dice.normal(size=(count, dim)).astype(np.float32)

    base, asked = around(rows), around(queries)
    unit = lambda some: some / np.linalg.norm(some, axis=1, keepdims=True)
    nearest = np.argsort(-(unit(asked) @ unit(base).T), axis=1)[:, :k]
    return base, asked, [set(row) for row in nearest.tolist()]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def processor_seconds(pid, without=()):
    """Of all threads that live by now, but for those of some names."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name, fields = task.joinpath("stat").read_text().split("(", 1)[1].rsplit(")", 1)
        if not name.startswith(tuple(without)):
            total += sum(int(ticks) for ticks in fields.split()[11:13])
    return total / os.sysconf("SC_CLK_TCK")


class Server:
    """A program that answers Milvus' calls, over an empty folder."""

    def __init__(self, name, command):
        self.folder = tempfile.mkdtemp(prefix="clew-bench-")
        self.name = name
        if name != "milvus-lite":
            command = [one.format(folder=self.folder) for one in command]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.uri = "http://" + json.loads(self.process.stdout.readline())["listening"]["grpc"]
        else:
            port = free_port()
            command = [MILVUS_LITE, "server", "--data-dir", self.folder, "--host", "127.0.0.1", "--port", str(port)]
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.uri = f"http://127.0.0.1:{port}"

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def connect(uri):
    from pymilvus import MilvusClient

    for left in range(50, -1, -1):
        try:
            return MilvusClient(uri=uri)
        except Exception:
            if not left:
                raise
            time.sleep(0.2)


def load(client, pid, base):
    """Seconds until all rows are inserted, until they are indexed and loaded, and of the server's processor until they
    are inserted, without what indexes them in the background."""
    from pymilvus import DataType

    schema = client.create_schema()
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("v", DataType.FLOAT_VECTOR, dim=base.shape[1])
    params = client.prepare_index_params()
    params.add_index("v", index_type="HNSW", metric_type="COSINE", params={"M": 16, "efConstruction": 128})
    client.create_collection(NAME, schema=schema, index_params=params)
    began, before = time.perf_counter(), processor_seconds(pid, INDEXING)
    for start in range(0, len(base), INSERT_ROWS):
        part = base[start : start + INSERT_ROWS]
        client.insert(NAME, [{"id": start + at, "v": vector} for at, vector in enumerate(part)])
    inserted, processor = time.perf_counter() - began, processor_seconds(pid, INDEXING) - before
    client.flush(NAME)
    client.compact(NAME)
    client.load_collection(NAME)
    return inserted, time.perf_counter() - began, processor


def search(client, vector, k, ef):
    asked = {"metric_type": "COSINE", "params": {"ef": ef}}
    return client.search(NAME, [vector], anns_field="v", limit=k, search_params=asked)[0]


def serial(client, asked, nearest, k, ef):
    """Recall, and the seconds of each search."""
    found, took = 0, []
    for vector, want in zip(asked, nearest):
        began = time.perf_counter()
        hits = search(client, vector, k, ef)
        took.append(time.perf_counter() - began)
        found += len(want & {hit["id"] for hit in hits})
    return found / (k * len(asked)), took


def one_client(uri, asked, k, ef, start, end, out):
    client = connect(uri)
    search(client, asked[0], k, ef)
    start.wait()
    took, failed, at = [], 0, 0
    while not end.is_set():
        began = time.perf_counter()
        try:
            search(client, asked[at % len(asked)], k, ef)
        except Exception:
            failed += 1
        took.append(time.perf_counter() - began)
        at += 1
    out.put((took, failed))


def concurrent(uri, asked, k, ef, clients):
    """Searches a second, the times of all of them, and failures."""
    context = multiprocessing.get_context("forkserver")
    # Importing these takes a second of a processor, which two hundred clients would take minutes of.
    context.set_forkserver_preload(["numpy", "pymilvus"])
    start, end, out = context.Barrier(clients + 1), context.Event(), context.Queue()
    arguments = (uri, asked, k, ef, start, end, out)
    processes = [context.Process(target=one_client, args=arguments, daemon=True) for _ in range(clients)]
    for process in processes:
        process.start()
    start.wait()
    time.sleep(SECONDS)
    end.set()
    answers = [out.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(30)
    took = sorted(one for times, _ in answers for one in times)
    return len(took) / SECONDS, took, sum(failed for _, failed in answers)


def replayed(uri, beside, asked, k):
    """Seconds of each search with a server that sends an answer of ours whatever is asked."""
    import grpc

    with tempfile.TemporaryDirectory() as folder:
        with grpc.insecure_channel(uri.removeprefix("http://")) as channel:
            for call, request in requests(asked[0], k).items():
                send = channel.unary_unary(f"/milvus.proto.milvus.MilvusService/{call}", bytes, bytes)
                pathlib.Path(folder, call).write_bytes(send(request))
        server = Server("replay", [beside, "replay", folder])
        try:
            client = connect(server.uri)
            for vector in asked[:WARM]:
                search(client, vector, k, EFFORTS[1])
            took = []
            for vector in asked:
                began = time.perf_counter()
                search(client, vector, k, EFFORTS[1])
                took.append(time.perf_counter() - began)
            return took
        finally:
            server.close()


def requests(vector, k):
    """The bytes of the calls that a search makes."""
    from pymilvus.client.prepare import Prepare
    from pymilvus.grpc_gen import milvus_pb2

    search = Prepare.search_requests_with_expr(
        NAME, anns_field="v", param={"metric_type": "COSINE", "params": {"ef": EFFORTS[1]}}, limit=k, data=[vector])
    return {
        "Connect": milvus_pb2.ConnectRequest().SerializeToString(),
        "GetVersion": milvus_pb2.GetVersionRequest().SerializeToString(),
        "DescribeCollection": milvus_pb2.DescribeCollectionRequest(collection_name=NAME).SerializeToString(),
        "Search": search.SerializeToString(),
    }


def in_process(binary, base, asked, nearest, k):
    """Microseconds of a search through a graph of the same vectors, without any server, for each effort."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        truth = np.array([sorted(row) for row in nearest], dtype=np.int64)
        files = {"--base": base, "--queries": asked, "--truth": truth}
        command = [binary, "bench", "vectors", "--metric", "cosine", "--m", "16", "--ef-construction", "128", "--k", str(k),
                   "--ef-search", ",".join(map(str, EFFORTS)), "--json", str(folder / "out.json")]
        for at, (flag, values) in enumerate(files.items()):
            np.save(folder / f"{at}.npy", values)
            command += [flag, str(folder / f"{at}.npy")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows = json.loads((folder / "out.json").read_text())["rows"]
    return {row["params"]["ef_search"]: row["metrics"]["qps"] for row in rows if row["name"] == "search"}


def milliseconds(took, share):
    return 1000 * sorted(took)[min(len(took) - 1, int(share * len(took)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the release binary of clew")
    parser.add_argument("--beside", required=True, help="the binary clew-bench-milvus")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--clients", default="1,8,50,200")
    parser.add_argument("--results", "--out", dest="out", type=pathlib.Path, default=RESULTS, help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin", "beside")
    if not MILVUS_LITE.exists():
        parser.error(f"no such program: {MILVUS_LITE}, which is a part of the package milvus-lite")
    base, asked, nearest = draw(given.rows, given.dim, given.queries, given.k)
    clients = [int(one) for one in given.clients.split(",")]
    loads, serials, many, beside = {}, {}, {}, {}
    serve = [given.bin, "serve", "--data", "{folder}", "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
    for turn in range(given.rounds):
        order = ["clew", "milvus-lite"]
        for name in order if turn % 2 == 0 else order[::-1]:
            server = Server(name, serve)
            try:
                client = connect(server.uri)
                loads.setdefault(name, []).append(load(client, server.process.pid, base))
                for ef in EFFORTS:
                    serial(client, asked[:WARM], nearest, given.k, ef)
                    serials.setdefault((name, ef), []).append(serial(client, asked, nearest, given.k, ef))
                if name == "clew":
                    beside.setdefault("replayed", []).append(replayed(server.uri, given.beside, asked, given.k))
                for count in clients:
                    many.setdefault((name, count), []).append(concurrent(server.uri, asked, given.k, EFFORTS[1], count))
                print(name, "turn", turn, "loaded in", [round(x, 1) for x in loads[name][-1]], flush=True)
            finally:
                server.close()
        beside.setdefault("searches", []).append(in_process(given.bin, base, asked, nearest, given.k))
        rows = [given.beside, "rows", str(given.rows), str(given.dim), str(INSERT_ROWS)]
        beside.setdefault("rows", []).append(json.loads(subprocess.check_output(rows)))
    lines = table(given, loads, serials, many) + [""] + overhead(given, loads, serials, beside)
    kept(given, loads, serials, many).save(given.json, given.bin, results.machine())
    results.publish(str(given.out), "Milvus' API", "make bench-milvus", results.machine(), lines)


def kept(given, loads, serials, many):
    """All of it as rows, a sample a turn."""
    found = results.Rows()
    params = lambda name, **more: {"program": name, "rows": given.rows, "dims": given.dim, "k": given.k, **more}
    for name, turns in loads.items():
        for inserted, whole, cpu in turns:
            found.add("load", params(name), {"insert_s": inserted, "load_s": whole, "cpu_s": cpu})
    for (name, ef), turns in serials.items():
        for recall, took in turns:
            found.add("search", params(name, ef_search=ef, concurrency=1, loop="serial"),
                      {"recall": recall, "qps": len(took) / sum(took), "p99_ms": milliseconds(took, 0.99)})
    for (name, clients), turns in many.items():
        for qps, took, failures in turns:
            found.add("search", params(name, ef_search=EFFORTS[1], concurrency=clients, loop="processes"), {
                "qps": qps, "avg_ms": 1000 * statistics.fmean(took), "p50_ms": milliseconds(took, 0.5),
                "p99_ms": milliseconds(took, 0.99), "failures": failures})
    return found


def table(given, loads, serials, many):
    names = sorted(loads)
    spread = lambda values, digits: f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"
    lines = [f"{given.rows:,} clustered vectors × {given.dim}, cosine, k = {given.k}, HNSW (M 16, efConstruction 128), asked by pymilvus "
             f"2.6.17; milvus-lite 3.2.2; {given.rounds} turns each, median (least–greatest).", "",
             "| what | " + " | ".join(names) + " | ratio |", "| --- |" + " --- |" * (len(names) + 1)]

    def row(what, values, digits, more_is_better):
        cells = [spread(values[name], digits) for name in names]
        ours, theirs = (statistics.median(values[name]) for name in ("clew", "milvus-lite"))
        ratio = ours / theirs if more_is_better else theirs / ours
        lost = " **lost**" if ratio < 1 else ""
        lines.append(f"| {what} | " + " | ".join(cells) + f" | {ratio:.1f} ×{lost} |")

    row("insert, s", {name: [one[0] for one in loads[name]] for name in names}, 1, False)
    row("insert, flush, merge and load, s", {name: [one[1] for one in loads[name]] for name in names}, 1, False)
    for ef in EFFORTS:
        row(f"recall at ef {ef}", {name: [one[0] for one in serials[name, ef]] for name in names}, 4, True)
        row(f"one client, one search after the other, at ef {ef}: searches/s",
            {name: [len(one[1]) / sum(one[1]) for one in serials[name, ef]] for name in names}, 0, True)
        row(f"… p99, ms", {name: [milliseconds(one[1], 0.99) for one in serials[name, ef]] for name in names}, 2, False)
    for count in sorted({count for _, count in many}):
        row(f"{count} clients at ef {EFFORTS[1]}: searches/s", {name: [one[0] for one in many[name, count]] for name in names}, 0, True)
        row("… average, ms", {name: [1000 * statistics.fmean(one[1]) for one in many[name, count]] for name in names}, 2, False)
        for what, share in [("p50", 0.5), ("p99", 0.99)]:
            row(f"… {what}, ms", {name: [milliseconds(one[1], share) for one in many[name, count]] for name in names}, 2, False)
        lines.append(f"| … failures | " + " | ".join(str(sum(one[2] for one in many[name, count])) for name in names) + " | |")
    return lines


def overhead(given, loads, serials, beside):
    """What the protocol costs: beside the same work without one."""
    ef = EFFORTS[1]
    middle = lambda values: f"{statistics.median(values):,.3f} ({min(values):,.3f}–{max(values):,.3f})"
    whole = [1000 * statistics.fmean(one[1]) for one in serials["clew", ef]]
    client = [1000 * statistics.fmean(one) for one in beside["replayed"]]
    alone = [1000 / one[ef] for one in beside["searches"]]
    server = [a - b for a, b in zip(whole, client)]
    share = statistics.median(alone) / statistics.median(server)
    megabytes = given.rows * given.dim * 4 / 1e6
    ours = [one[2] for one in loads["clew"]]
    engine = [one["cpu_s"] for one in beside["rows"]]
    of_engine = statistics.median(engine) / statistics.median(ours)
    return [
        f"What the protocol costs, one client, ef {ef}. The client's own time is what the same searches take it with a server that "
        "only replays an answer. Processor seconds of inserts are without the threads that build graphs meanwhile.", "",
        "| what | median (least–greatest) |", "| --- | --- |",
        f"| a search through pymilvus, ms | {middle(whole)} |",
        f"| … the client's own time, ms | {middle(client)} |",
        f"| … what is left for the server, ms | {middle(server)} |",
        f"| the search in process, ms | {middle(alone)} |",
        f"| searches/s of the server as a part of those in process | {share:.0%} |",
        f"| insert of {given.rows:,} rows, {megabytes:.0f} MB: the server's processor, s | {middle(ours)} |",
        f"| … MB for each second of it | {megabytes / statistics.median(ours):,.0f} |",
        f"| the same rows written to the engine: processor, s | {middle(engine)} |",
        f"| rows/s of the server's processor as a part of the engine's | {of_engine:.0%} |",
    ]


if __name__ == "__main__":
    main()
