"""Bulk imports of files that lie in one folder, by the RESTful API and by pymilvus' older calls."""

import csv
import http.client
import json
import os
import pathlib
import struct
import sys
import tempfile
import time
import unittest

from tests.clients.base import ClientsTest, tool

HERE = pathlib.Path(__file__).parent
# How often a test tries to be quicker than an import.
TRIES = 5
VERSIONS = ["2.6.17", "3.0.2"]
FIELDS = [{"fieldName": "id", "dataType": "Int64", "isPrimary": True},
          {"fieldName": "v", "dataType": "FloatVector", "elementTypeParams": {"dim": 2}},
          {"fieldName": "title", "dataType": "VarChar", "elementTypeParams": {"max_length": 20}},
          {"fieldName": "facts", "dataType": "JSON", "nullable": True},
          {"fieldName": "score", "dataType": "Double", "nullable": True},
          {"fieldName": "good", "dataType": "Bool", "defaultValue": True}]


def npy(descr, shape, data):
    """A file as NumPy writes it."""
    head = str({"descr": descr, "fortran_order": False, "shape": shape})
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


class ImportsTest(ClientsTest):
    """A server with a folder of files, and calls of its RESTful API."""

    more_env = {}

    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory(prefix="clew-imports-")
        cls.addClassCleanup(made.cleanup)
        cls.files = pathlib.Path(made.name) / "in"
        cls.files.mkdir()
        cls.env = {"CLEW_IMPORTS__PATH": str(cls.files), **cls.more_env}
        super().setUpClass()

    def rest(self, path, body, code=0):
        """The data, or the message, of one call."""
        connection = http.client.HTTPConnection(self.server.grpc_address, timeout=60)
        try:
            connection.request("POST", f"/v2/vectordb/{path}", json.dumps(body), {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        self.assertEqual(answer["code"], code, answer)
        return answer["data"] if code == 0 else answer["message"]

    def make(self, name, fields=FIELDS, **schema):
        index = [{"fieldName": "v", "metricType": "L2"}]
        self.rest("collections/create", {"collectionName": name, "schema": {"fields": fields, **schema}, "indexParams": index})
        self.addCleanup(self.rest, "collections/drop", {"collectionName": name})

    def write(self, name, data):
        path = self.files / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def bring(self, name, *files, state="Completed", **more):
        """Imports files, and tells of the job when it is over."""
        job = self.rest("jobs/import/create", {"collectionName": name, "files": [[one] for one in files], **more})["jobId"]
        told = self.ended(job)
        self.assertEqual(told["state"], state, told)
        self.assertEqual((told["jobId"], told["collectionName"]), (job, name))
        return told

    def ended(self, job):
        """What is told of a job when it is over."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            told = self.rest("jobs/import/describe", {"jobId": job})
            if told["state"] in ("Completed", "Failed"):
                break
            time.sleep(0.05)
        return told

    def rows(self, name, filter=""):
        asked = {"collectionName": name, "filter": filter or "id >= 0", "outputFields": ["*"], "limit": 1000}
        return sorted(self.rest("entities/query", {**asked, "consistencyLevel": "Strong"}), key=lambda row: row["id"])

    def count(self, name):
        asked = {"collectionName": name, "outputFields": ["count(*)"], "consistencyLevel": "Strong"}
        return self.rest("entities/query", asked)[0]["count(*)"]


class Imports(ImportsTest):
    def test_files_of_each_kind_become_rows(self):
        self.make("kinds", enableDynamicField=True)
        rows = [{"id": 0, "v": [0.5, 1], "title": "a", "facts": {"n": 1}, "score": 1.5, "good": False, "more": [1, 2]},
                {"id": 1, "v": [1.5, 2], "title": "}]\"\\", "facts": "{\"n\": [2]}", "$meta": {"more": "x", "title": "no"}}]
        self.write("rows.json", json.dumps({"rows": rows}, indent=1))
        told = self.bring("kinds", "rows.json")
        self.assertEqual((told["progress"], told["importedRows"], told["totalRows"]), (100, 2, 2))
        (detail,) = told["details"]
        self.assertEqual((detail["fileName"], detail["fileSize"], detail["importedRows"]),
                         ("rows.json", (self.files / "rows.json").stat().st_size, 2))
        first, second = self.rows("kinds")
        self.assertEqual(first, rows[0])
        self.assertEqual(second, {"id": 1, "v": [1.5, 2], "title": "}]\"\\", "facts": {"n": [2]}, "score": None, "good": True, "more": "x"})
        # A list without an object around it, and lines; several files at once.
        self.write("list.json", json.dumps([{**rows[0], "id": 2}]))
        self.write("lines.jsonl", "\n".join(json.dumps({**rows[0], "id": number}) for number in (3, 4)) + "\n\n")
        told = self.bring("kinds", "list.json", "lines.jsonl")
        self.assertEqual([detail["importedRows"] for detail in told["details"]], [1, 2])
        self.assertEqual(self.count("kinds"), 5)
        with open(self.files / "table.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["id", "v", "title", "facts", "score", "good", "$meta"])
            table.writerow([5, "[1,2]", "with, comma\nand line", '{"n": 5}', "", "false", '{"more": 5}'])
            table.writerow([6, "[1,2]", "", "", "2.5", "true", "{}"])
        self.bring("kinds", "table.csv")
        five, six = self.rows("kinds", "id in [5, 6]")
        self.assertEqual((five["title"], five["facts"], five["score"], five["good"], five["more"]),
                         ("with, comma\nand line", {"n": 5}, None, False, 5))
        self.assertEqual((six["title"], six["facts"], six["score"], six["good"]), ("", None, 2.5, True))
        self.write("tabs.csv", "id\tv\ttitle\tscore\n7\t[1,2]\tseven\tNULL\n")
        self.bring("kinds", "tabs.csv", options={"sep": "\t", "nullkey": "NULL"})
        self.assertIsNone(self.rows("kinds", "id == 7")[0]["score"])
        # A file for each field.
        self.write("np/id.npy", npy("<i8", (2,), struct.pack("<2q", 8, 9)))
        self.write("np/v.npy", npy("<f4", (2, 2), struct.pack("<4f", 1, 2, 3, 4)))
        self.write("np/title.npy", npy("<U3", (2,), "né\0abc".encode("utf-32-le")))
        self.write("np/$meta.npy", npy("<U9", (2,), '{"x": 1}\0{"x": 22}'.encode("utf-32-le")))
        told = self.bring("kinds", "np/id.npy", "np/v.npy", "np/title.npy", "np/$meta.npy")
        self.assertEqual((len(told["details"]), told["importedRows"]), (1, 2))
        self.assertEqual([(row["v"], row["title"], row["x"]) for row in self.rows("kinds", "id > 7")],
                         [([1, 2], "né", 1), ([3, 4], "abc", 22)])
        self.assertEqual(self.count("kinds"), 10)
        listed = self.rest("jobs/import/list", {"collectionName": "kinds"})["records"]
        self.assertEqual([(job["state"], job["progress"], job["collectionName"]) for job in listed], [("Completed", 100, "kinds")] * 5)

    def test_what_is_wrong_leaves_nothing_behind(self):
        self.make("wrong")
        good = {"id": 0, "v": [1, 2], "title": "t"}
        lines = [json.dumps({**good, "id": number}) for number in range(2_000)]
        for name, data, said in [
            ("broken.json", "[{\"id\": 1}, ", "rows list should end with ']'"),
            ("no.json", "{\"id\": 1}", "the root key should be 'rows', but get 'id'"),
            ("late.jsonl", "\n".join([*lines, json.dumps({**good, "v": [1]})]), "dimension: 2, but length of []float: 1"),
            ("long.jsonl", "\n".join([*lines, json.dumps({**good, "title": "x" * 21})]), "title"),
            ("typed.json", json.dumps([{**good, "id": "x"}]), "row 0, field id of type Int64: expected a whole number"),
            ("less.json", json.dumps([{"id": 1, "title": "t"}]), "v"),
            ("short.csv", "id,v,title\n1,\"[1,2]\"\n", "the number of fields in the row is not equal to the header"),
            ("cells.csv", "id,v,title\nx,\"[1,2]\",t\n", "the value 'x' of field 'id' as Int64"),
            ("head.csv", "id,v,id\n", "duplicate key found, key=id"),
            ("id.npy", b"no numbers at all", "does not begin as NumPy's do"),
            ("v.npy", npy("<f4", (1, 3), struct.pack("<3f", 1, 2, 3)), "no values of the field v"),
            ("other.npy", npy("<f4", (1,), struct.pack("<f", 1)), "there is no field other"),
            ("title.npy", npy("<U0", (2**63,), b""), "tells of 9223372036854775808 rows of 0 bytes"),
            ("score.npy", npy("<f8", (2,), b"12345678"), "tells of 2 rows of 8 bytes, but it has 8 bytes"),
            ("short.parquet", b"PAR1", "does not end as Parquet does"),
            ("no.parquet", b"PAR1" + bytes(8) + b"PAR1", "describes itself in a way that cannot be read"),
            ("long.parquet", b"PAR1\xff\xff\xff\xffPAR1", "describes itself in 4294967295 bytes"),
            ("blank.jsonl", "\n" * (17 << 20), "white space"),
            ("nested.json", "[{\"id\": 1, \"v\": [1, 2], \"facts\": \"{\"}]", "the value of facts is no JSON"),
        ]:
            with self.subTest(name=name):
                self.write(name, data)
                told = self.bring("wrong", name, state="Failed")
                self.assertIn(said, told["reason"])
                self.assertIn(name, told["reason"])
                self.assertIn("importing data failed", told["reason"])
                self.assertEqual((told["importedRows"], self.count("wrong")), (0, 0))
        # What is beyond the fields is passed over where there is nothing beyond them.
        self.write("more.json", json.dumps([{**good, "id": 77, "more": 1}]))
        self.bring("wrong", "more.json")
        self.rest("entities/delete", {"collectionName": "wrong", "filter": "id == 77"})
        self.assertEqual(self.count("wrong"), 0)
        # A good file beside a wrong one stays out, too.
        self.write("good.json", json.dumps([good]))
        self.bring("wrong", "good.json", "late.jsonl", state="Failed")
        self.assertEqual(self.count("wrong"), 0)

        # What is told of a value is not as long as that.
        self.write("million.csv", f"id,v,title\n{'9' * 1_000_000},\"[1,2]\",t\n")
        reason = self.bring("wrong", "million.csv", state="Failed")["reason"]
        self.assertIn("million.csv: row 0: failed to parse the value '999", reason)
        self.assertTrue(reason.endswith("of field 'id' as Int64: importing data failed"), reason[-100:])
        self.assertLess(len(reason), 2_100)

    def test_tables_have_json_and_ends_of_lines(self):
        self.make("table")
        self.write("json.csv", 'id,v,title,facts\r\n1,"[1,2]","two\r\nlines","""a text"""\r\n2,"[1,2]",last,"[""\\""""]"\r')
        self.bring("table", "json.csv")
        first, second = self.rows("table")
        self.assertEqual((first["title"], first["facts"]), ("two\r\nlines", "a text"))
        self.assertEqual((second["title"], second["facts"]), ("last", ['"']))

    def test_jobs_belong_to_the_collection_that_there_was(self):
        self.make("again")
        self.write("one.json", json.dumps([{"id": 1, "v": [1, 2], "title": "t"}]))
        self.bring("again", "one.json")
        self.rest("collections/rename", {"collectionName": "again", "newCollectionName": "once"})
        listed = lambda name: len(self.rest("jobs/import/list", {"collectionName": name})["records"])
        self.assertEqual(listed("once"), 1)
        self.make("again")
        self.assertEqual((listed("again"), listed("once")), (0, 1))
        self.rest("collections/drop", {"collectionName": "once"})

    def test_what_comes_into_the_place_of_a_file_is_not_followed(self):
        self.make("swapped")
        row = {"id": 1, "v": [1, 2], "title": "t"}
        self.write("before.jsonl", "".join(json.dumps({**row, "id": number}) + "\n" for number in range(20_000)))
        (self.files.parent / "secret.json").write_text(json.dumps([row]))
        create = lambda name: self.rest("jobs/import/create", {"collectionName": "swapped", "files": [[name]]})["jobId"]
        for _ in range(TRIES):
            (self.files / "swapped.json").unlink(missing_ok=True)
            self.write("swapped.json", json.dumps([row]))
            # It waits for the one before it, unless this test was held up until that was done.
            before, waiting = create("before.jsonl"), create("swapped.json")
            (self.files / "swapped.json").unlink()
            (self.files / "swapped.json").symlink_to(self.files.parent / "secret.json")
            self.assertEqual(self.ended(before)["state"], "Completed")
            told = self.ended(waiting)
            if told["state"] == "Failed":
                break
        self.assertEqual((told["state"], told["importedRows"]), ("Failed", 0))
        self.assertIn("no longer what it was", told["reason"])

    def test_what_can_be_no_import_is_refused_at_once(self):
        self.make("refused")
        self.write("good.json", "[]")
        (self.files.parent / "out.json").write_text("[]")
        os.symlink(self.files.parent / "out.json", self.files / "link.json")
        create = lambda code, files=None, name="refused", **more: self.rest(
            "jobs/import/create", {"collectionName": name, "files": files, **more}, code)
        for code, files, said in [
            (2100, [["../out.json"]], "outside the folder of imports"),
            (2100, [["link.json"]], "outside the folder of imports"),
            (2100, [[str(self.files.parent / "out.json")]], "outside the folder of imports"),
            (2100, [["nothing.json"]], "nothing.json cannot be read"),
            (2100, [["good.txt"]], "unexpected file type, files=[good.txt]"),
            (2100, [["good.json"]] * 1025, "should not exceed 1024, but got 1025"),
            (2100, [["good.parquet"]], "good.parquet cannot be read"),
            (1100, [[]], "import request is empty"),
            (1801, [[7]], "files"),
            (1802, None, "files"),
        ]:
            with self.subTest(said=said):
                self.assertIn(said, create(code, files))
        create(100, [["good.json"]], name="nobody")
        create(200, [["good.json"]], partitionName="nobody")
        self.assertIn("unsupported csv separator", create(2100, [["good.json"]], options={"sep": ";;"}))
        create(3000, [["good.json"]], options={"backup": "true"})
        self.assertIn("import job does not exist, jobID=7", self.rest("jobs/import/describe", {"jobId": "7"}, 2100))
        self.rest("jobs/import/describe", {"jobId": "x"}, 2100)
        self.rest("jobs/import/describe", {}, 1802)
        self.rest("jobs/import/list", {"collectionName": "nobody"}, 100)
        self.rest("jobs/import/sing", {}, 3000)
        # What lies in the folder may be named as a whole, and may be empty.
        self.assertEqual(self.bring("refused", str(self.files / "good.json"))["importedRows"], 0)

    def test_partitions_keys_and_restarts(self):
        fields = [{**FIELDS[0]}, FIELDS[1], FIELDS[2]]
        self.make("parts", fields, autoID=True)
        self.rest("partitions/create", {"collectionName": "parts", "partitionName": "p"})
        self.write("many.jsonl", "".join(json.dumps({"v": [number, 1], "title": f"t{number}"}) + "\n" for number in range(3_000)))
        told = self.bring("parts", "many.jsonl", partitionName="p")
        self.assertEqual((told["importedRows"], self.count("parts")), (3_000, 3_000))
        stats = self.rest("partitions/get_stats", {"collectionName": "parts", "partitionName": "p"})
        self.assertEqual(stats["rowCount"], 3_000)
        keyed = [FIELDS[0], FIELDS[1], {**FIELDS[2], "isPartitionKey": True}]
        self.make("keyed", keyed)
        refused = self.rest("jobs/import/create", {"collectionName": "keyed", "partitionName": "p", "files": [["many.jsonl"]]}, 2100)
        self.assertIn("not allow to set partition name", refused)
        self.server.process.kill()
        self.server.process.wait()
        self.server.start()
        again = self.rest("jobs/import/describe", {"jobId": told["jobId"]})
        self.assertEqual((again["state"], again["importedRows"]), ("Completed", 3_000))
        self.assertEqual(self.count("parts"), 3_000)

    def test_pymilvus(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                packages = tool(f"pymilvus-{version}", "test-clients")
                environment = {**os.environ, "PYTHONPATH": str(packages)}
                command = [sys.executable, "-S", "-W", "ignore", HERE / "imports_session.py", f"http://{self.server.grpc_address}", self.files]
                seen = json.loads(self.run_tool(command, 120, env=environment).splitlines()[-1])
                self.assertEqual(seen["version"], version)
                self.assertGreater(seen["checks"], 5)

    def test_files_of_the_bulk_writer(self):
        python = tool("venv-pymilvus-bulk/bin/python", "clients")
        command = [python, "-W", "ignore", HERE / "bulk_session.py", f"http://{self.server.grpc_address}", self.files]
        seen = json.loads(self.run_tool(command, 240).splitlines()[-1])
        self.assertEqual(seen["version"], "2.6.17")
        self.assertGreater(seen["checks"], 150)


class Memory(ImportsTest):
    more_env = {"CLEW_MEMORY__LIMIT_BYTES": str(256 << 20)}

    def test_json_that_is_text_is_booked_as_what_it_becomes(self):
        self.make("texts")
        row = '[{"id": 1, "v": [1, 2], "title": "t", "facts": "%s"}]'
        # Brackets that are escaped are none to who counts brackets.
        many = "\\u005b" + "\\u007b\\u0022a\\u0022:1\\u007d," * 400_000 + "1\\u005d"
        self.write("many.json", row % many)
        self.assertIn("memory of bodies", self.bring("texts", "many.json", state="Failed")["reason"])
        few = "\\u005b" + "\\u007b\\u0022a\\u0022:1\\u007d," * 4 + "1\\u005d"
        self.write("few.json", row % few)
        self.bring("texts", "few.json")
        self.assertEqual(self.rows("texts")[0]["facts"], [{"a": 1}] * 4 + [1])


if __name__ == "__main__":
    unittest.main()
