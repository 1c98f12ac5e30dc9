"""Data folders of earlier builds open, and answer as they did."""

import json
import pathlib
import tarfile
import tempfile
import unittest

from opensearch.clew_server import ClewServer

from .contents import asked

HERE = pathlib.Path(__file__).parent


class FormatsTest(unittest.TestCase):
    maxDiff = None

    def test_a_folder_of_an_earlier_build_answers_as_it_did(self):
        archives = sorted(HERE.glob("*.tar.xz"))
        self.assertTrue(archives)
        for archive in archives:
            name = archive.name.removesuffix(".tar.xz")
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                data = pathlib.Path(folder) / "data"
                with tarfile.open(archive) as tar:
                    tar.extractall(data, filter="data")
                expected = json.loads((HERE / f"{name}.json").read_text())
                # Read from the log, from what recovery has made of it, and after a merge of all that is there.
                for turn in ("recovered", "again", "merged"):
                    with ClewServer(data=data) as server:
                        client = server.client()
                        if turn == "merged":
                            client.indices.forcemerge(index="kept", params={"max_num_segments": 1})
                        found = asked(client)
                        client.close()
                    if turn == "merged":
                        # Deleted documents count in statistics until they are merged away, and equals change places.
                        expected, found = without_ranks(expected), without_ranks(found)
                    for question, answer in expected.items():
                        self.assertEqual(found[question], answer, (turn, question))


def without_ranks(value):
    if isinstance(value, dict):
        kept = {name: without_ranks(inner) for name, inner in value.items() if not name.endswith("score")}
        if isinstance(kept.get("hits"), list):
            kept["hits"].sort(key=lambda hit: hit["_id"])
        return kept
    if isinstance(value, list):
        return [without_ranks(inner) for inner in value]
    return value
