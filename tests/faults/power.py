"""Power cuts: the file system forgets, in the middle of a mixed load or of a recovery, whatever was not
synced. Then everything that was acknowledged must be there.

The server is stopped (SIGSTOP) before the cut: the kernel itself answers some syncs with success after it.

    python -m tests.faults power --rounds 100 --seed 1
"""

import shutil
import time

from .kill import ENV, RECOVERY_KILL_CHANCE, RECOVERY_KILL_SECONDS_MAX, KillRounds
from .loop_disk import LoopDisk, log_beside
from .missing import Missing
from .server import Server


class PowerRounds(KillRounds):
    """Rounds whose server lies on a file system that loses its power."""

    def __init__(self, seed, disk, **settings):
        data = disk.mount_point / "data"
        data.mkdir()
        server = Server(data, env=ENV)
        server.log_path = log_beside("server.log")
        super().__init__(seed, server, **settings)
        self.disk = disk

    def __exit__(self, *_):
        super().__exit__()
        shutil.rmtree(self.server.log_path.parent, ignore_errors=True)

    def end(self):
        self.server.pause()
        self.disk.cut_power()
        self.server.kill()
        self.disk.unmount()
        self.disk.mount()

    def restart(self):
        """Sometimes the power fails again while the server recovers."""
        while self.random.random() < RECOVERY_KILL_CHANCE:
            self.server.launch()
            time.sleep(self.random.uniform(0, RECOVERY_KILL_SECONDS_MAX))  # The fault, not a wait.
            self.end()
            self.recovery_kills += 1
        self.server.start()


def run(arguments):
    """The long form: half of the cuts on each file system."""
    for kind in ("ext4", "xfs"):
        try:
            with LoopDisk(kind) as disk, PowerRounds(arguments.seed, disk) as rounds:
                for number in range(arguments.rounds // 2):
                    rounds.round()
                    if number % 10 == 9:
                        print(f"{kind}: {rounds.figures()}", flush=True)
                print(f"nothing acknowledged was lost on {kind}: {rounds.figures()}")
        except Missing as missing:
            print(f"{kind} is skipped: {missing}")
