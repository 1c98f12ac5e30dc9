"""Some damaged files of `make faults ARGS="damage"`, the same ones every time."""

import shutil
import subprocess
import unittest

from .damage import Trials
from .server import Server, binary, folder

TRIALS = 15


class Damage(unittest.TestCase):
    def test_what_is_damaged_is_refused_by_name_and_never_answered_wrongly(self):
        trials = Trials(seed=11).run(TRIALS)
        self.assertEqual([str(trial) for trial in trials.broken], [])

    def test_damaged_profiles_of_the_server_keep_no_data_from_being_served(self):
        data = folder()
        server = Server(data, env={"CLEW_PROFILE__CONTINUOUS": "true"})
        server.own_data = True
        with server:
            with server.client() as client:
                client.done("PUT", "/a/_doc/1?refresh=true", {"n": 1})
            server.stop()
            checked = subprocess.run([binary(), "verify", str(data)], capture_output=True, text=True, check=True)
            self.assertNotIn("nobody here wrote it", checked.stdout)
            (log,) = sorted((data / "profiles").glob("*.log"))
            content = bytearray(log.read_bytes())
            content[0] ^= 1
            log.write_bytes(content)
            server.start()
            with server.client() as client:
                self.assertEqual(client.done("GET", "/a/_count")["count"], 1)
            (aside,) = (data / "aside").glob("*/profiles/*.log")
            self.assertEqual(aside.read_bytes(), bytes(content))

    def test_what_a_repair_cannot_mend_is_its_failure(self):
        data = folder()
        server = Server(data)
        server.own_data = True
        with server:
            with server.client() as client:
                client.done("PUT", "/a/_doc/1?refresh=true", {"n": 1})
                client.done("PUT", "/_snapshot/r", {"type": "fs", "settings": {"location": "r"}})
                client.done("PUT", "/_snapshot/r/s?wait_for_completion=true", {})
            server.stop()
            checked = subprocess.run([binary(), "verify", str(data)], capture_output=True, text=True, check=True)
            self.assertNotIn("nobody here wrote it", checked.stdout)
            repair = [binary(), "repair", str(data), "--yes"]
            self.assertEqual(subprocess.run(repair, capture_output=True, check=False).returncode, 0)
            catalog = data / "catalog.json"
            content = bytearray(catalog.read_bytes())
            content[len(content) // 2] ^= 1
            catalog.write_bytes(content)
            done = subprocess.run(repair, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("there is no repair for the catalog", done.stdout)

    def test_a_shard_whose_folder_is_none_fails_alone_until_it_is_put_back(self):
        data = folder()
        server = Server(data)
        server.own_data = True
        with server:
            with server.client() as client:
                client.done("PUT", "/a/_doc/1?refresh=true", {"n": 1})
                (index,) = (data / "indices").iterdir()
                client.done("PUT", "/b/_doc/1?refresh=true", {"n": 1})
            server.stop()
            shard, kept = index / "0", data.with_name(data.name + ".kept")
            shutil.move(shard, kept)
            shard.write_text("no folder")
            checked = subprocess.run([binary(), "verify", str(data)], capture_output=True, text=True, check=False)
            self.assertEqual(checked.returncode, 1)
            self.assertIn(f"{shard}: cannot list it: Not a directory", checked.stdout)
            server.start()
            with server.client() as client:
                self.assertEqual(client.done("GET", "/b/_count")["count"], 1)
                refused = client.get("/a/_count")
                self.assertEqual(refused.status, 503, refused)
                self.assertIn(f"cannot create {shard}: File exists", refused.text)
            server.kill()
            shard.unlink()
            shutil.move(kept, shard)
            server.start()
            with server.client() as client:
                for name in ("a", "b"):
                    self.assertEqual(client.done("GET", f"/{name}/_count")["count"], 1)
