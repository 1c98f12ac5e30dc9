"""Short forms of the rotation table and of the torture: nothing lost, nothing twice, nothing out of order."""

import os
import pathlib
import shutil
import tempfile
import unittest

from .bulk_server import BulkServer
from .collector import Collector
from .rotated_log import RotatedLog
from .rotation import CELLS, cell
from .torture import Torture
from .verdict import Verdict

LINES_BETWEEN_ROTATIONS = 500
ROTATIONS = 4
SEEDS = range(1, 4)
STEPS = 60


class MeddlingServer(BulkServer):
    """Does something once, before it answers, when so many documents are there."""

    def __init__(self, count, meddle):
        super().__init__()
        self.count, self.meddle = count, meddle

    def reply(self, events, failure):
        answer = super().reply(events, failure)
        if len(self.documents) >= self.count:
            meddle, self.meddle = self.meddle, lambda: None
            meddle()
        return answer


class Rotation(unittest.TestCase):
    def test_no_rotation_loses_or_repeats_a_line(self):
        for path, way, kill in CELLS:
            with self.subTest(path=path, way=way, kill=kill):
                verdict, _ = cell(path, way, kill, lambda log: log.write(LINES_BETWEEN_ROTATIONS), ROTATIONS)
                self.assertTrue(verdict.is_clean(), str(verdict))

    def test_a_copy_of_a_content_that_was_not_read_yet(self):
        with tempfile.TemporaryDirectory(prefix="clew-rotation-") as folder:
            logs = pathlib.Path(folder, "logs")
            logs.mkdir()
            log = RotatedLog(logs / "app.log")

            def rotate_and_begin_again():
                log.copytruncate()
                log.write(LINES_BETWEEN_ROTATIONS)
                log.shift()
                shutil.copyfile(log.path, log.sibling(1))

            server = MeddlingServer(1 + LINES_BETWEEN_ROTATIONS, rotate_and_begin_again)
            with server, Collector([logs / "app.log*"], server.url, pathlib.Path(folder, "registry")) as collector:
                log.write(1)
                self.assertTrue(server.wait_for(1))
                log.write(LINES_BETWEEN_ROTATIONS)
                self.assertTrue(server.wait_for(1 + 2 * LINES_BETWEEN_ROTATIONS))
                os.truncate(log.path, 0)
                log.write(100)
                self.assertTrue(server.wait_for(log.written))
                collector.stop()
                collector.once()
            log.close()
            verdict = Verdict(server, [log])
            self.assertTrue(verdict.is_clean(), str(verdict))

    def test_random_rotations_deletions_kills_and_failures_of_the_output(self):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                verdict = Torture(seed).run(STEPS)
                self.assertTrue(verdict.is_clean(), str(verdict))


if __name__ == "__main__":
    unittest.main()
