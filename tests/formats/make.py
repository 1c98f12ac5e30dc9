"""Makes a data folder by the build that CLEW_BIN names, and what it answers: `PYTHONPATH=tests python -m formats.make NAME`.

A folder is made once, when the format changes, and kept for ever.
"""

import io
import json
import pathlib
import sys
import tarfile

from opensearch.clew_server import ClewServer

from .contents import asked, fill

HERE = pathlib.Path(__file__).parent


def pack(data, archive):
    """Files of a fixed time and owner, so that the same folder gives the same archive."""
    with tarfile.open(archive, "w:xz") as tar:
        for path in sorted(data.rglob("*")):
            if path.is_file() and path.name != "lock":
                info = tarfile.TarInfo(str(path.relative_to(data)))
                # A log file ends in room for more.
                content = path.read_bytes()
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))


def main(name):
    with ClewServer() as server:
        client = server.client()
        fill(client)
        # As a crash leaves it: what came last is in the log alone.
        server.kill()
        pack(server.data, HERE / f"{name}.tar.xz")
        server.start()
        client.close()
        client = server.client()
        answers = json.dumps(asked(client), indent=1, sort_keys=True)
        (HERE / f"{name}.json").write_text(answers + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
