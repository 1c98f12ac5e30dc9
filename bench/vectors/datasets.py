"""The data that contenders are measured on: made from seeds, or found in $CLEW_DATA.

A set is a folder with base.npy, queries.npy and truth.npy (exact neighbours, nearest first).
"""

import os
import pathlib

import numpy as np

QUERIES = 1000
TRUTH = 100

# name: rows, dimension, latent dimension, clusters, seed, metric
SYNTHETIC = {
    "synth768": (200_000, 768, 32, 1000, 768, "cosine"),
    "synth1024": (100_000, 1024, 40, 500, 1024, "l2"),
}


def clustered(rows, dimension, latent, clusters, seed):
    """Vectors as an embedding model spreads them: clusters of uneven size and shape on a curved
    surface of few dimensions, seen through a random projection, with a little noise on top."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(clusters, latent)).astype(np.float32)
    widths = np.exp(random.normal(-0.4, 0.3, size=(clusters, 1))).astype(np.float32)
    axes = random.uniform(0.3, 1.0, size=(clusters, latent)).astype(np.float32)
    weights = random.gamma(0.8, size=clusters)
    labels = random.choice(clusters, size=rows, p=weights / weights.sum())
    lift, _ = np.linalg.qr(random.normal(size=(dimension, latent)))
    out = np.empty((rows, dimension), np.float32)
    for start in range(0, rows, 20_000):
        part = labels[start : start + 20_000]
        point = random.normal(size=(len(part), latent)).astype(np.float32)
        point = centres[part] + point * widths[part] * axes[part]
        bent = point + 0.25 * np.sin(2.0 * np.roll(point, 1, axis=1))
        noise = random.normal(size=(len(part), dimension)).astype(np.float32)
        out[start : start + len(part)] = bent @ lift.T.astype(np.float32) + 0.02 * noise
    return out


def exact(base, queries, metric):
    """Row numbers of the nearest vectors, nearest first."""
    import faiss

    if metric == "cosine":
        base = base / np.linalg.norm(base, axis=1, keepdims=True)
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    index = faiss.IndexFlatL2(base.shape[1])
    index.add(base)
    return index.search(queries, TRUTH)[1].astype(np.int32)


def _save(folder, base, queries, metric):
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "queries.npy", queries)
    np.save(folder / "truth.npy", exact(base, queries, metric))
    # Last, so that a set that was not finished is made again.
    np.save(folder / "base.npy", base)


def prepare(name, cache, rows_max=None):
    """Makes a set unless it is there; answers its folder and metric."""
    folder = pathlib.Path(cache) / "vectors" / (name if rows_max is None else f"{name}-{rows_max}")
    metric = SYNTHETIC[name][5] if name in SYNTHETIC else "cosine"
    if (folder / "base.npy").exists():
        return folder, metric
    if name in SYNTHETIC:
        rows, dimension, latent, clusters, seed, _ = SYNTHETIC[name]
        rows = min(rows, rows_max or rows)
        made = clustered(rows + QUERIES, dimension, latent, clusters, seed)
        if metric == "cosine":
            made /= np.linalg.norm(made, axis=1, keepdims=True)
        base, queries = made[QUERIES:], made[:QUERIES]
    else:
        found = pathlib.Path(os.environ["CLEW_DATA"])
        base = np.load(found / f"{name}_base.npy")[:rows_max]
        queries = np.load(found / f"{name}_queries.npy")
    _save(folder, np.ascontiguousarray(base), np.ascontiguousarray(queries), metric)
    return folder, metric


def available():
    """The synthetic sets, and MiniLM when it is there."""
    names = list(SYNTHETIC)
    data = os.environ.get("CLEW_DATA")
    if data and (pathlib.Path(data) / "minilm_base.npy").exists():
        names.insert(0, "minilm")
    return names
