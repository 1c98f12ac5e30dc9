"""VectorDBBench's own client class through the kinds of index that its command line cannot ask for.

Runs by itself with the packages of the benchmark; prints the recall of each kind.
"""

import json
import sys

import numpy
from vectordb_bench.backend.clients.oss_opensearch.config import (
    OSSOpenSearchConfig,
    OSSOpenSearchFtsConfig,
    OSSOpenSearchIndexConfig,
)
from vectordb_bench.backend.clients.oss_opensearch.oss_opensearch import OSSOpenSearch
from vectordb_bench.backend.filter import IntFilter, LabelFilter

import vector_dataset

K = 10
KINDS = {
    "lucene": {"engine_name": "lucene"},
    "lucene sq": {"engine_name": "lucene", "quantization_type": "LuceneSQ", "confidence_interval": 0.9},
    "fp16 clipped": {"quantization_type": "FaissSQfp16", "clip": True, "oversample_factor": 2.0},
    "replicated by segments": {"replication_type": "SEGMENT", "metric_type_name": "cosine"},
    "three shards": {"number_of_shards": 3},
    **{f"disk {level}": {"on_disk": True, "compression_level": level, "oversample_factor": 5.0}
       for level in ("2x", "4x", "8x", "16x", "32x")},
}


def nearest(rows, query, metric, allowed):
    if metric == "cosine":
        scores = -(rows @ query) / numpy.linalg.norm(rows, axis=1)
    else:
        scores = ((rows - query) ** 2).sum(axis=1)
    order = numpy.argsort(numpy.where(allowed, scores, numpy.inf), kind="stable")
    return set(order[:K].tolist())


def recall(connect, kind, rows, queries):
    """How many of the nearest the client finds, among all rows and among those with a label."""
    metric = kind.get("metric_type_name", "l2")
    case = OSSOpenSearchIndexConfig(**{
        "metric_type_name": metric, "efConstruction": 100, "force_merge_enabled": False, **kind,
    })
    bench = OSSOpenSearch(
        dim=rows.shape[1], db_config=connect, db_case_config=case, drop_old=True, with_scalar_labels=True
    )
    labels = [f"label_{number % 10}p" for number in range(len(rows))]
    found = {}
    with bench.init():
        for start in range(0, len(rows), 500):
            part = slice(start, start + 500)
            ids = list(range(start, min(start + 500, len(rows))))
            count, error = bench.insert_embeddings(rows[part].tolist(), ids, labels_data=labels[part])
            assert (count, error) == (len(ids), None), error
        bench.optimize(len(rows))
        for name, allowed in (("all", [True] * len(rows)), ("label", [l == "label_5p" for l in labels])):
            if name == "label":
                bench.prepare_filter(LabelFilter(label_percentage=0.05))
            hits = sum(
                len(nearest(rows, query, metric, allowed) & set(bench.search_embedding(query.tolist(), K)))
                for query in queries
            )
            found[name] = hits / (K * len(queries))
    return found


def words(connect):
    """The full-text cases of the same client."""
    case = OSSOpenSearchFtsConfig(force_merge_enabled=False, bm25_k1=1.2, bm25_b=0.75)
    bench = OSSOpenSearch(dim=0, db_config=connect, db_case_config=case, drop_old=True)
    texts = [f"passage {number} about {'rivers' if number % 3 else 'mountains'}" for number in range(300)]
    with bench.init():
        count, error = bench.insert_documents(
            texts, [str(number) for number in range(300)], filter_ids=list(range(300))
        )
        assert error is None, error
        bench.optimize(300)
        everything = bench.search_documents("mountains", k=200)
        bench.prepare_filter(IntFilter(int_field="filter_id", int_value=150))
        return {"sent": count, "all": len(everything), "filtered": len(bench.search_documents("mountains", k=200))}


def main(host, port):
    rows, queries, _ = vector_dataset.draw()
    connect = OSSOpenSearchConfig(host=host, port=int(port)).to_dict()
    seen = {name: recall(connect, kind, rows, queries[:40]) for name, kind in KINDS.items()}
    print(json.dumps({"recall": seen, "words": words(connect)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
