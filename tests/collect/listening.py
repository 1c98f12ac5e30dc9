"""`clew collect` that listens at ports of the system's choice."""

import os
import re
import signal
import subprocess
import threading

BINARY = os.environ.get("CLEW_BIN", "clew")
TIMEOUT_SECONDS = 60


class Listening:
    """A running collector, and the ports that it tells of in a line with `until`, in their order; a context manager."""

    def __init__(self, config, until="inputs are open"):
        self.until = until
        self.command = [BINARY, "collect", "--config", str(config)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        self.told = []
        for line in self.process.stderr:
            self.told.append(line)
            if self.until in line:
                break
        else:
            raise AssertionError("".join(self.told))
        self.ports = [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", self.told[-1])]
        self.reader = threading.Thread(target=lambda: self.told.extend(self.process.stderr), daemon=True)
        self.reader.start()
        return self

    def stop(self):
        """SIGTERM; returns what was told on standard error."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(TIMEOUT_SECONDS)
        self.reader.join(TIMEOUT_SECONDS)
        if status:
            raise AssertionError(f"the collector ended with {status}: {''.join(self.told)}")
        return "".join(self.told)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join(TIMEOUT_SECONDS)
        self.process.stderr.close()
