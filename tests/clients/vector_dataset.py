"""Writes a small dataset of vectors with its exact neighbours, the same in every run, as the benchmark
that is named reads it.

Runs by itself with the packages of that benchmark.
"""

import pathlib
import sys

import numpy

ROWS, QUERIES, DIMENSION, NEIGHBOURS, CLUSTERS = 3000, 100, 48, 100, 40


def draw():
    """Rows, queries, and the nearest rows of each query."""
    dice = numpy.random.default_rng(11)
    centres = dice.normal(size=(CLUSTERS, DIMENSION))

    def around(count):
        chosen = centres[dice.integers(CLUSTERS, size=count)]
        return (chosen + dice.normal(scale=0.6, size=(count, DIMENSION))).astype(numpy.float32)

    rows, queries = around(ROWS), around(QUERIES)
    distances = ((queries[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
    return rows, queries, numpy.argsort(distances, axis=1, kind="stable")[:, :NEIGHBOURS]


def write_parquet(folder, rows, queries, nearest):
    import pyarrow
    import pyarrow.parquet

    def write(name, columns):
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"{name}.parquet")

    def vectors(values):
        lists = pyarrow.array(list(values), type=pyarrow.list_(pyarrow.float32()))
        return {"id": pyarrow.array(range(len(values))), "emb": lists}

    write("train", vectors(rows))
    write("test", vectors(queries))
    write("neighbors", {"id": list(range(QUERIES)), "neighbors_id": nearest.tolist()})
    labels = [f"label_{number % 10}p" for number in range(ROWS)]
    write("scalar_labels", {"id": list(range(ROWS)), "labels": labels})


def write_hdf5(folder, rows, queries, nearest):
    import h5py

    with h5py.File(folder / "vectors.hdf5", "w") as out:
        out["train"], out["test"], out["neighbors"] = rows, queries, nearest


if __name__ == "__main__":
    {"parquet": write_parquet, "hdf5": write_hdf5}[sys.argv[1]](pathlib.Path(sys.argv[2]), *draw())
