"""Writes a small dataset of vectors with its exact neighbours, the same in every run.

Runs by itself with the packages of the benchmark that reads it.
"""

import pathlib
import sys

import numpy
import pyarrow
import pyarrow.parquet

ROWS, QUERIES, DIMENSION, NEIGHBOURS, CLUSTERS = 3000, 100, 48, 100, 40


def table(vectors):
    lists = pyarrow.array(list(vectors), type=pyarrow.list_(pyarrow.float32()))
    return pyarrow.table({"id": pyarrow.array(range(len(vectors))), "emb": lists})


def main(folder):
    dice = numpy.random.default_rng(11)
    centres = dice.normal(size=(CLUSTERS, DIMENSION))

    def draw(count):
        around = centres[dice.integers(CLUSTERS, size=count)]
        return (around + dice.normal(scale=0.6, size=(count, DIMENSION))).astype(numpy.float32)

    rows, queries = draw(ROWS), draw(QUERIES)
    distances = ((queries[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
    nearest = numpy.argsort(distances, axis=1, kind="stable")[:, :NEIGHBOURS]
    pyarrow.parquet.write_table(table(rows), folder / "train.parquet")
    pyarrow.parquet.write_table(table(queries), folder / "test.parquet")
    neighbours = pyarrow.table({
        "id": pyarrow.array(range(QUERIES)), "neighbors_id": pyarrow.array(nearest.tolist()),
    })
    pyarrow.parquet.write_table(neighbours, folder / "neighbors.parquet")
    labels = pyarrow.table({
        "id": pyarrow.array(range(ROWS)),
        "labels": pyarrow.array([f"label_{number % 10}p" for number in range(ROWS)]),
    })
    pyarrow.parquet.write_table(labels, folder / "scalar_labels.parquet")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
