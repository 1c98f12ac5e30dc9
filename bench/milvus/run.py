"""Clew beside milvus-lite, both asked by pymilvus over the network: loading, recall, and searches of one and of many clients.

Clustered vectors of a fixed seed; every program is a server of its own on a free port, and they take turns.

    python run.py --bin CLEW [--rows 50000] [--dim 768] [--k 100] [--rounds 2] [--clients 1,8,50]
"""

import argparse
import json
import multiprocessing
import pathlib
import platform
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).parent
RESULTS = HERE.parent / "RESULTS.md"
sys.path.insert(0, str(HERE.parent))
NAME = "bench"
EFFORTS = [100, 128, 200]
SECONDS = 5
INSERT_ROWS = 500


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


class Server:
    """A program that answers Milvus' calls, over an empty folder."""

    def __init__(self, name, binary):
        self.folder = tempfile.mkdtemp(prefix="clew-bench-")
        self.name = name
        if name == "clew":
            command = [binary, "serve", "--data", self.folder, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.uri = "http://" + json.loads(self.process.stdout.readline())["listening"]["grpc"]
        else:
            port = free_port()
            command = [pathlib.Path(sys.executable).with_name("milvus-lite"), "server", "--data-dir", self.folder,
                       "--host", "127.0.0.1", "--port", str(port)]
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


def load(client, base):
    """Seconds until all rows are inserted, and until they are indexed and loaded."""
    from pymilvus import DataType

    schema = client.create_schema()
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("v", DataType.FLOAT_VECTOR, dim=base.shape[1])
    params = client.prepare_index_params()
    params.add_index("v", index_type="HNSW", metric_type="COSINE", params={"M": 16, "efConstruction": 128})
    client.create_collection(NAME, schema=schema, index_params=params)
    began = time.perf_counter()
    for start in range(0, len(base), INSERT_ROWS):
        part = base[start : start + INSERT_ROWS]
        client.insert(NAME, [{"id": start + at, "v": vector} for at, vector in enumerate(part)])
    inserted = time.perf_counter() - began
    client.flush(NAME)
    client.compact(NAME)
    client.load_collection(NAME)
    return inserted, time.perf_counter() - began


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
    context = multiprocessing.get_context("spawn")
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


def milliseconds(took, share):
    return 1000 * sorted(took)[min(len(took) - 1, int(share * len(took)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the release binary of clew")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--clients", default="1,8,50")
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS, help="where the section is written; - for nowhere")
    given = parser.parse_args()
    base, asked, nearest = draw(given.rows, given.dim, given.queries, given.k)
    clients = [int(one) for one in given.clients.split(",")]
    loads, serials, many = {}, {}, {}
    for turn in range(given.rounds):
        order = ["clew", "milvus-lite"]
        for name in order if turn % 2 == 0 else order[::-1]:
            server = Server(name, given.bin)
            try:
                client = connect(server.uri)
                loads.setdefault(name, []).append(load(client, base))
                for ef in EFFORTS:
                    serial(client, asked[:50], nearest[:50], given.k, ef)
                    serials.setdefault((name, ef), []).append(serial(client, asked, nearest, given.k, ef))
                for count in clients:
                    many.setdefault((name, count), []).append(concurrent(server.uri, asked, given.k, EFFORTS[1], count))
                print(name, "turn", turn, "loaded in", [round(x, 1) for x in loads[name][-1]], flush=True)
            finally:
                server.close()
    lines = table(given, loads, serials, many)
    print("\n".join(lines))
    if str(given.out) != "-":
        import results

        results.write(given.out, "Milvus' API", "make bench-milvus", machine(), lines)


def machine():
    cores = multiprocessing.cpu_count()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return {"cpu": cpu, "cores": cores, "memory": "", "kernel": platform.release()}


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
        for what, share in [("p50", 0.5), ("p99", 0.99)]:
            row(f"… {what}, ms", {name: [milliseconds(one[1], share) for one in many[name, count]] for name in names}, 2, False)
        lines.append(f"| … failures | " + " | ".join(str(sum(one[2] for one in many[name, count])) for name in names) + " | |")
    return lines


if __name__ == "__main__":
    main()
