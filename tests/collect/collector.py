"""`clew collect` as a process that can be killed and started again."""

import os
import signal
import subprocess

STOP_SECONDS_MAX = 120


class Collector:
    """One process after another over one registry; a context manager."""

    def __init__(self, paths, url, registry, *more):
        binary = os.environ.get("CLEW_BIN")
        if not binary:
            raise RuntimeError("CLEW_BIN must name the clew binary")
        self.command = [binary, "collect", *map(str, paths), "--parse", "plain", "--to", url,
                        "--registry", str(registry), "--quiet", *more]
        self.log = open(f"{registry}.log", "ab")
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.kill()
        self.log.close()

    def start(self):
        self.process = subprocess.Popen(self.command, stderr=self.log)

    def kill(self):
        """SIGKILL, as the kernel's own killer does it."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """SIGTERM; the collector must end well."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(STOP_SECONDS_MAX)
        # One that was just started may not listen yet, and has nothing to finish.
        if status not in (0, -signal.SIGTERM):
            raise AssertionError(f"the collector ended with {status}; its log is {self.log.name}")

    def once(self):
        """A run that ends when everything is read."""
        subprocess.run([*self.command, "--once"], stderr=self.log, check=True, timeout=STOP_SECONDS_MAX * 5)
