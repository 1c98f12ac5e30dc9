"""Certificates made by `openssl`, where it is on the PATH."""

import pathlib
import shutil
import subprocess
import unittest

WHY_NOT = None if shutil.which("openssl") else "openssl, which makes the certificates, is not on the PATH"


class Authority:
    """Signs certificates; all files lie in one folder."""

    def __init__(self, folder, name="ca"):
        if WHY_NOT:
            raise unittest.SkipTest(WHY_NOT)
        self.folder = pathlib.Path(folder)
        self.certificate, self.key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        self._openssl("req", "-x509", *self._new(self.key), "-subj", f"/CN={name}", "-days", "2", "-out", self.certificate)

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)

    @staticmethod
    def _new(key):
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key

    def issue(self, name, days=2):
        """A certificate for this name and this machine, and its key. One of less than no days has expired."""
        certificate, key, wish = (self.folder / f"{name}{end}" for end in (".pem", ".key", ".csr"))
        self._openssl("req", *self._new(key), "-subj", f"/CN={name}", "-out", wish)
        names = self.folder / "names"
        names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        self._openssl("x509", "-req", "-in", wish, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                      "-days", str(days), "-extfile", names, "-out", certificate)
        return certificate, key
