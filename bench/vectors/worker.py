"""One rival in a process of its own: builds its index, then answers one line of JSON per command.

    python worker.py NAME FOLDER METRIC      commands on stdin: an effort, as JSON

CPU time is this process's; every rival is called with all queries at once, on one thread.
"""

import json
import os
import sys
import time

import numpy as np

M = 16
EF_CONSTRUCTION = 128
K = 10


class Hnswlib:
    def __init__(self, base, metric):
        import hnswlib

        self.index = hnswlib.Index("l2" if metric == "l2" else "ip", base.shape[1])
        self.index.init_index(len(base), M=M, ef_construction=EF_CONSTRUCTION)
        self.index.add_items(base, num_threads=1)

    def search(self, queries, effort):
        self.index.set_ef(effort)
        return self.index.knn_query(queries, K, num_threads=1)[0]


class Faiss:
    def __init__(self, base, metric, sort):
        import faiss

        faiss.omp_set_num_threads(1)
        self.sort = sort
        dimension = base.shape[1]
        if sort == "flat":
            self.index = faiss.IndexHNSWFlat(dimension, M)
        elif sort == "sq8":
            self.index = faiss.IndexHNSWSQ(dimension, faiss.ScalarQuantizer.QT_8bit, M)
        else:
            self.index = faiss.index_factory(dimension, f"IVF512,PQ{dimension // 4}x4fs,RFlat")
        if sort != "ivf":
            self.index.hnsw.efConstruction = EF_CONSTRUCTION
        self.index.train(base)
        self.index.add(base)

    def search(self, queries, effort):
        if self.sort == "ivf":
            import faiss

            faiss.ParameterSpace().set_index_parameter(self.index, "nprobe", effort[0])
            self.index.k_factor = effort[1]
        else:
            self.index.hnsw.efSearch = effort
        return self.index.search(queries, K)[1]


class Usearch:
    def __init__(self, base, metric, dtype):
        from usearch.index import Index

        sort = "l2sq" if metric == "l2" else "cos"
        self.index = Index(
            ndim=base.shape[1], metric=sort, dtype=dtype, connectivity=M, expansion_add=EF_CONSTRUCTION
        )
        self.index.add(np.arange(len(base)), base, threads=1)

    def search(self, queries, effort):
        self.index.expansion_search = effort
        return self.index.search(queries, K, threads=1).keys


class Scann:
    """A tree of a thousand leaves and codes of four bits for two dimensions each, as its makers advise."""

    def __init__(self, base, metric):
        import scann

        sort = "squared_l2" if metric == "l2" else "dot_product"
        builder = scann.scann_ops_pybind.builder(base, K, sort)
        leaves = min(1000, len(base) // 50)
        builder = builder.tree(num_leaves=leaves, num_leaves_to_search=10, training_sample_size=100_000)
        builder = builder.score_ah(2, anisotropic_quantization_threshold=0.2 if sort == "dot_product" else float("nan"))
        builder.set_n_training_threads(1)
        self.index = builder.reorder(100).build()

    def search(self, queries, effort):
        leaves, reorder = effort
        # One after the other, as the others are measured: a batch would share what it reads.
        one = lambda query: self.index.search(query, leaves_to_search=leaves, pre_reorder_num_neighbors=reorder)[0]
        return np.array([one(query) for query in queries])


class DiskAnn:
    """The graph in memory, twice as wide as the others' lists, as it has one level only."""

    def __init__(self, base, metric):
        import tempfile

        import diskannpy

        folder = tempfile.mkdtemp(prefix="diskann-")
        sort = {"distance_metric": "l2" if metric == "l2" else "cosine"}
        diskannpy.build_memory_index(
            base, index_directory=folder, complexity=EF_CONSTRUCTION, graph_degree=2 * M, num_threads=1, **sort
        )
        # Its distance of cosines is that of the lengths that the vectors have, which is one.
        self.index = diskannpy.StaticMemoryIndex(folder, num_threads=1, initial_search_complexity=320)

    def search(self, queries, effort):
        return self.index.batch_search(queries, K, effort, num_threads=1).identifiers.astype(np.int64)


class Svs:
    """Intel's graph over vectors in four bits and eight more of what is left, or over half of the dimensions in as many."""

    def __init__(self, base, metric, sort):
        import tempfile

        import svs

        # What is read from a file may be coded as it is read.
        name = tempfile.mkdtemp(prefix="svs-") + "/base.fvecs"
        svs.write_vecs(np.ascontiguousarray(base, np.float32), name)
        vectors = svs.VectorDataLoader(name, svs.DataType.float32, dims=base.shape[1])
        if sort == "lvq":
            coded = svs.LVQLoader(vectors, primary=4, residual=8)
        else:
            coded = svs.LeanVecLoader(vectors, base.shape[1] // 2, svs.LeanVecKind.lvq4, svs.LeanVecKind.lvq8)
        shape = svs.VamanaBuildParameters(alpha=1.2, graph_max_degree=2 * M, window_size=EF_CONSTRUCTION)
        self.index = svs.Vamana.build(shape, coded, svs.DistanceType.L2, num_threads=1)

    def search(self, queries, effort):
        self.index.search_window_size = effort
        return self.index.search(queries, K)[0].astype(np.int64)


RIVALS = {
    "hnswlib": Hnswlib,
    "faiss HNSW": lambda base, metric: Faiss(base, metric, "flat"),
    "faiss HNSW SQ8": lambda base, metric: Faiss(base, metric, "sq8"),
    "faiss IVF-PQ fast-scan": lambda base, metric: Faiss(base, metric, "ivf"),
    "usearch f16": lambda base, metric: Usearch(base, metric, "f16"),
    "usearch i8": lambda base, metric: Usearch(base, metric, "i8"),
    "ScaNN": Scann,
    "DiskANN in memory": DiskAnn,
    "SVS LVQ4x8": lambda base, metric: Svs(base, metric, "lvq"),
    "SVS LeanVec": lambda base, metric: Svs(base, metric, "leanvec"),
}


def main():
    name, folder, metric = sys.argv[1:]
    base = np.load(f"{folder}/base.npy")
    queries = np.load(f"{folder}/queries.npy")
    truth = np.load(f"{folder}/truth.npy")[:, :K]
    if metric == "cosine":
        # Unit vectors: inner product and distance then order as the cosine does.
        base = base / np.linalg.norm(base, axis=1, keepdims=True)
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    # Some tell of their build where answers are read.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    start = time.process_time()
    try:
        rival = RIVALS[name](base, metric)
    except Exception as error:
        # One that refuses this processor says so in its row.
        print(json.dumps({"refused": f"{type(error).__name__}: {error}"[:120]}), file=answers)
        return
    built = len(base) / (time.process_time() - start)
    print(json.dumps({"vectors_per_cpu_s": built}), file=answers)
    for line in sys.stdin:
        effort = json.loads(line)
        rounds, start = 0, time.process_time()
        while rounds == 0 or time.process_time() - start < 0.5:
            found = rival.search(queries, effort)
            rounds += 1
        cpu_us = (time.process_time() - start) / rounds / len(queries) * 1e6
        hits = (found[:, :, None] == truth[:, None, :]).any(axis=2).sum()
        print(json.dumps({"recall": hits / truth.size, "cpu_us": cpu_us}), file=answers)


if __name__ == "__main__":
    main()
