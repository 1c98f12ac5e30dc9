"""`clew collect` that listens at ports of the system's choice."""

import os
import re
import signal
import subprocess
import threading

BINARY = os.environ.get("CLEW_BIN", "clew")
TIMEOUT_SECONDS = 120


class Listening:
    """A running collector, and the ports that it tells of in a line with `until`, in their order; a context manager."""

    def __init__(self, config, until="inputs are open"):
        self.until = until
        self.command = [BINARY, "collect", "--config", str(config)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        self.told = []
        self.changed = threading.Condition()
        for line in self.process.stderr:
            self.told.append(line)
            if self.until in line:
                break
        else:
            raise AssertionError("".join(self.told))
        self.reader = threading.Thread(target=self.listen, daemon=True)
        self.reader.start()
        return self

    @property
    def ports(self):
        """Those that were told of last."""
        last = [line for line in self.told if self.until in line][-1]
        return [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", last)]

    def listen(self):
        for line in self.process.stderr:
            with self.changed:
                self.told.append(line)
                self.changed.notify_all()

    def wait_for(self, text, times=1):
        """Waits until so many lines with this text were told."""
        with self.changed:
            came = self.changed.wait_for(lambda: sum(text in line for line in self.told) >= times, TIMEOUT_SECONDS)
        if not came:
            raise AssertionError(f"{text} was not told: {''.join(self.told)}")

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
