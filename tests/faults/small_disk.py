"""A small ext4 of its own, in a file. Needs root and loop devices."""

import os
import pathlib
import shutil
import subprocess
import tempfile


class Missing(Exception):
    """No such file system can be made here; the reason is the message."""


class SmallDisk:
    """A mounted file system of so many bytes; a context manager."""

    def __init__(self, size_bytes):
        self.size_bytes = size_bytes
        self.place = None
        self.mounted = False

    def __enter__(self):
        if os.geteuid() != 0:
            raise Missing("only root can mount a file system of its own")
        if not shutil.which("mkfs.ext4"):
            raise Missing("mkfs.ext4 is not installed")
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="clew-small-disk-"))
        # The server's messages go beside its data folder: not on this disk.
        self.data = self.place / "data"
        self.data.mkdir()
        image = self.place / "image"
        with open(image, "wb") as file:
            file.truncate(self.size_bytes)
        try:
            self._run("mkfs.ext4", "-q", "-F", "-m", "0", image)
            self._run("mount", "-o", "loop", image, self.data)
        except Missing:
            self.__exit__()
            raise
        self.mounted = True
        return self

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", self.data], check=True)
            self.mounted = False
        shutil.rmtree(self.place, ignore_errors=True)

    def free_bytes(self):
        return shutil.disk_usage(self.data).free

    @staticmethod
    def _run(*command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"{command[0]} fails here: {done.stderr.strip()}")
