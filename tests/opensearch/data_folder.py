"""Folders for servers under test."""

import os
import pathlib
import shutil
import tempfile

MEMORY = pathlib.Path("/dev/shm")
# What tests side by side write, and then some.
ROOM_BYTES = 2 << 30


def data_folder(prefix, memory=True):
    """A new folder. In memory where there is room, unless told otherwise: what a killed process wrote survives there as well,
    and nobody waits for a disk, which is half of the time of most tests."""
    in_memory = memory and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM_BYTES
    return pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=MEMORY if in_memory else None))
