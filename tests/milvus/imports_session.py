"""Bulk imports by pymilvus' calls of the older kind: what a job comes to, lists of jobs, what is refused."""

import json
import pathlib
import sys
import time

from pymilvus import DataType, connections, utility

from session import Session


def main(uri, folder):
    session = Session(uri)
    client = session.client
    name = "brought"
    schema = client.create_schema()
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("v", DataType.FLOAT_VECTOR, dim=4)
    index = client.prepare_index_params()
    index.add_index("v", index_type="FLAT", metric_type="L2")
    client.create_collection(name, schema=schema, index_params=index)
    rows = [{"id": number, "v": session.vector(4)} for number in range(500)]
    pathlib.Path(folder, "brought.json").write_text(json.dumps({"rows": rows}))
    connections.connect(uri=uri)
    task = utility.do_bulk_insert(name, ["brought.json"])
    state, end = utility.get_bulk_insert_state(task), time.monotonic() + 300
    while state.state not in (state.ImportCompleted, state.ImportFailed) and time.monotonic() < end:
        time.sleep(0.05)
        state = utility.get_bulk_insert_state(task)
    session.same((state.state_name, state.row_count, state.progress, state.failed_reason), ("Completed", 500, 100, ""), "the job")
    session.same((state.collection_name, state.files), (name, "brought.json"), "what it was about")
    session.same(session.count(name, consistency_level="Strong"), 500, "its rows")
    (hit,) = client.search(name, [rows[7]["v"]], limit=1, consistency_level="Strong")[0]
    session.same(hit["id"], 7, "they are searched")
    listed = utility.list_bulk_insert_tasks(collection_name=name)
    session.same([one.task_id for one in listed], [task], "the list of jobs")
    session.refused(2100, "import job does not exist, jobID=1", lambda: utility.get_bulk_insert_state(1))
    session.refused(2100, "unexpected file type", lambda: utility.do_bulk_insert(name, ["brought.txt"]))
    session.refused(100, "nobody", lambda: utility.do_bulk_insert("nobody", ["brought.json"]))
    client.drop_collection(name)
    session.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
