"""A small file system of its own, in a file, that can lose its power or be too small. Needs root and loop devices."""

import fcntl
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time

from .missing import Missing
from .server import folder

# `_IOR('X', 125, u32)` of ext4 and xfs: shut down now; 2 is "without writing the journal".
SHUT_DOWN, WITHOUT_JOURNAL = 0x8004587D, 2
KINDS = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}
# A copy of the image has the number of the first, which xfs would not mount beside it.
MOUNT_OPTIONS = {"ext4": "loop", "xfs": "loop,nouuid"}


class LoopDisk:
    """A mounted file system; a context manager."""

    def __init__(self, kind="ext4", size_bytes=320 << 20):
        self.kind, self.size_bytes = kind, size_bytes
        self.place = self.mounted = None

    def __enter__(self):
        if os.geteuid() != 0:
            raise Missing("only root can mount a file system of its own")
        if not shutil.which(KINDS[self.kind][0]):
            raise Missing(f"{KINDS[self.kind][0]} is not installed")
        self.place = folder()
        self.mount_point = self.place / "disk"
        self.mount_point.mkdir()
        self.image = self.place / "image"
        with open(self.image, "wb") as file:
            file.truncate(self.size_bytes)
        try:
            self._run(*KINDS[self.kind], self.image)
            self.mount()
        except OSError as error:
            self.__exit__()
            raise Missing(f"no file system of its own can be had here: {error}") from error
        return self

    def __exit__(self, *_):
        if self.mounted:
            self.unmount()
        if self.place:
            shutil.rmtree(self.place, ignore_errors=True)

    def _run(self, *command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"{command[0]} fails: {done.stderr.strip()}")
        return done.stdout

    def mount(self):
        self._run("mount", "-o", MOUNT_OPTIONS[self.kind], self.image, self.mount_point)
        self.mounted = True

    def unmount(self):
        self._run("umount", self.mount_point)
        self.mounted = False
        # Another process's mount namespace may have a copy of the mount, and with it keep the file system as it
        # is, shut down. What has reached the disk is in the image all the same.
        if self._run("losetup", "--noheadings", "--associated", self.image):
            copy = self.image.with_name(f"image-{time.monotonic_ns()}")
            self._run("cp", "--sparse=always", self.image, copy)
            self.image.unlink()
            self.image = copy

    def cut_power(self):
        """From now on nothing reaches the disk; what was not synced is lost. `unmount` and `mount` bring it back."""
        place = os.open(self.mount_point, os.O_RDONLY)
        try:
            fcntl.ioctl(place, SHUT_DOWN, struct.pack("I", WITHOUT_JOURNAL))
        except OSError as error:
            raise Missing(f"{self.kind} cannot be shut down here: {error}") from error
        finally:
            os.close(place)

    def free_bytes(self):
        return shutil.disk_usage(self.mount_point).free


def log_beside(name):
    """A place for a server's messages that does not lose its power."""
    return pathlib.Path(tempfile.mkdtemp(prefix="clew-faults-log-")) / name
