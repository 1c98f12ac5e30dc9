"""Files that pymilvus' writer of bulk imports makes, Parquet as it does without being told, become rows as they are."""

import pathlib
import sys
import time

import numpy
from pymilvus import DataType
from pymilvus.bulk_writer import BulkFileType, LocalBulkWriter, bulk_import, get_import_progress

from session import Session

ROWS = 2_500
DIM = 8


def make(session, name):
    """A collection of every type that the writer knows and Clew keeps."""
    client = session.client
    schema = client.create_schema(enable_dynamic_field=True)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("good", DataType.BOOL)
    schema.add_field("tiny", DataType.INT8)
    schema.add_field("short", DataType.INT16)
    schema.add_field("number", DataType.INT32)
    schema.add_field("long", DataType.INT64, nullable=True)
    schema.add_field("single", DataType.FLOAT)
    schema.add_field("double", DataType.DOUBLE)
    schema.add_field("text", DataType.VARCHAR, max_length=500, nullable=True)
    schema.add_field("facts", DataType.JSON)
    schema.add_field("at", DataType.TIMESTAMPTZ)
    schema.add_field("tags", DataType.ARRAY, element_type=DataType.VARCHAR, max_length=20, max_capacity=10)
    schema.add_field("figures", DataType.ARRAY, element_type=DataType.INT64, max_capacity=10, nullable=True)
    schema.add_field("floats", DataType.FLOAT_VECTOR, dim=DIM)
    schema.add_field("halves", DataType.FLOAT16_VECTOR, dim=DIM)
    schema.add_field("bits", DataType.BINARY_VECTOR, dim=8 * DIM)
    schema.add_field("bytes", DataType.INT8_VECTOR, dim=DIM)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    index = client.prepare_index_params()
    index.add_index("floats", index_type="FLAT", metric_type="L2")
    index.add_index("halves", index_type="FLAT", metric_type="L2")
    index.add_index("bits", index_type="BIN_FLAT", metric_type="HAMMING")
    index.add_index("bytes", index_type="HNSW", metric_type="L2")
    index.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
    client.create_collection(name, schema=schema, index_params=index)
    return schema


def row_of(session, number):
    return {
        "id": number, "good": number % 2 == 0, "tiny": number % 256 - 128, "short": -number, "number": number * 1000,
        "long": None if number % 5 == 0 else 2**40 + number, "single": number / 4, "double": number / 3,
        "text": None if number % 7 == 0 else f"text \"{number}\"\né",
        "facts": {"n": number, "deep": [{"a": "b"}]}, "at": "2026-03-04T05:06:07Z",
        "tags": [f"t{tag}" for tag in range(number % 4)],
        "figures": None if number % 3 == 0 else [number, -1], "floats": session.vector(DIM),
        "halves": numpy.array(session.vector(DIM), numpy.float16),
        "bits": numpy.array([(number + at) % 256 for at in range(DIM)], numpy.uint8),
        "bytes": [number % 128 - at for at in range(DIM)], "sparse": {number: 0.5, number + 7: 1.5},
        "beyond": number % 10, "$meta": {"more": [number]},
    }


def ended(uri, name, files):
    """How the import of some files ended."""
    asked = bulk_import(url=uri, collection_name=name, files=files, api_key="root:Milvus").json()
    end = time.monotonic() + 300
    while time.monotonic() < end:
        told = get_import_progress(url=uri, job_id=asked["data"]["jobId"], api_key="root:Milvus").json()["data"]
        if told["state"] in ("Completed", "Failed"):
            break
        time.sleep(0.05)
    return told


def written(schema, rows, folder, kind):
    """The files that the writer makes of rows."""
    with LocalBulkWriter(schema, local_path=str(folder), file_type=kind) as writer:
        for row in rows:
            writer.append_row(dict(row))
        writer.commit()
        return writer.batch_files


def same_rows(session, name, rows):
    client = session.client
    session.same(session.count(name, consistency_level="Strong"), ROWS, "its rows")
    for number in (0, 1, 35, 1_024, ROWS - 1):
        row = rows[number]
        (got,) = client.query(name, filter=f"id == {number}", output_fields=["*"], consistency_level="Strong")
        for field in ("good", "tiny", "short", "number", "long", "single", "double", "text", "facts", "at", "figures", "sparse", "beyond"):
            session.same(got[field], row[field], f"{field} of {number}")
        session.same(list(got["tags"]), row["tags"], "a list")
        session.same(got["more"], [number], "what is beyond")
        session.same(numpy.float32(got["floats"]).tolist(), numpy.float32(row["floats"]).tolist(), "floats")
        session.same(b"".join(got["halves"]), row["halves"].tobytes(), "halves")
        session.same(b"".join(got["bits"]), row["bits"].tobytes(), "bits")
        session.same(numpy.frombuffer(b"".join(got["bytes"]), numpy.int8).tolist(), row["bytes"], "bytes")
    (hit,) = client.search(name, [rows[77]["floats"]], anns_field="floats", limit=1, consistency_level="Strong")[0]
    session.same(hit["id"], 77, "they are searched")


def structs(session, uri, folder, kind):
    """Lists of structs, which have vectors themselves."""
    client = session.client
    schema = client.create_schema()
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
    part = client.create_struct_field_schema()
    part.add_field("n", DataType.INT64)
    part.add_field("word", DataType.VARCHAR, max_length=20)
    schema.add_field("clips", DataType.ARRAY, element_type=DataType.STRUCT, struct_schema=part, max_capacity=10)
    index = client.prepare_index_params()
    index.add_index("v", index_type="FLAT", metric_type="L2")
    client.create_collection("clips", schema=schema, index_params=index)
    rows = [{"id": number, "v": [float(number), 1.0], "clips": [{"n": clip, "word": f"w{number}"} for clip in range(number % 3)]}
            for number in range(100)]
    told = ended(uri, "clips", written(schema, rows, folder, kind))
    session.same((told["state"], told.get("reason"), told["importedRows"]), ("Completed", None, 100), "the job of structs")
    for number in (0, 1, 2):
        (got,) = client.query("clips", filter=f"id == {number}", output_fields=["clips"], consistency_level="Strong")
        session.same(got["clips"], rows[number]["clips"], "structs")
    client.drop_collection("clips")


def main(uri, folder, *kinds):
    session = Session(uri)
    for kind in kinds or ["PARQUET", "JSONL"]:
        kind = BulkFileType[kind]
        place = pathlib.Path(folder, kind.name.lower())
        schema = make(session, "bulk")
        rows = [row_of(session, number) for number in range(ROWS)]
        told = ended(uri, "bulk", written(schema, rows, place, kind))
        session.same((told["state"], told.get("reason"), told["importedRows"]), ("Completed", None, ROWS), "the job")
        same_rows(session, "bulk", rows)
        # One row that does not fit: nothing of the file is left, and it is named.
        session.client.drop_collection("bulk")
        make(session, "bulk")
        files = written(schema, [*rows[:50], {**rows[50], "at": "no time"}], place, kind)
        told = ended(uri, "bulk", files)
        session.same((told["state"], told["importedRows"]), ("Failed", 0), "a job of a wrong row")
        session.same(pathlib.Path(files[0][0]).name in told["reason"], True, told["reason"])
        session.same(session.count("bulk", consistency_level="Strong"), 0, "what it left")
        session.client.drop_collection("bulk")
        structs(session, uri, place, kind)
    session.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
