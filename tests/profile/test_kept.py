"""The profile that is always on: what it takes of the disk, and times that `clew profile --from --to` cannot show."""

import datetime
import gzip
import os
import pathlib
import resource
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from opensearch.base import ClewTest
from .test_profile import WAIT_SECONDS_MAX, Load

# At each thread that runs: of a processor that never rests, so many in a minute.
LOOKS_A_MINUTE = 60 * 19
HOUR_BYTES_MAX = 10_000_000


def varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at


def fields(message):
    """Numbers and values of a message of Protobuf that has numbers and what has a length."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        value, at = varint(message, at)
        if key & 7 == 2:
            value, at = message[at:at + value], at + value
        yield key >> 3, value


def looks(profile):
    """How often a thread was looked at: the first value of each sample."""
    samples = [dict(fields(value)) for number, value in fields(profile) if number == 2]
    return sum(varint(sample[2], 0)[0] for sample in samples)


class KeptTest(ClewTest):
    env = {"CLEW_PROFILE__CONTINUOUS": "true"}

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="clew-kept-")))

    def test_an_hour_takes_less_than_ten_megabytes(self):
        # As many looks as a minute has, in less time: it is kept as such a capture is written.
        with Load(self.server.url):
            for seconds in (2, 4, 16, 64, 256):
                address = f"{self.server.url}/debug/pprof/profile?seconds={seconds}&rate=997"
                with urllib.request.urlopen(address, timeout=WAIT_SECONDS_MAX) as answer:
                    written = answer.read()
                seen = looks(gzip.decompress(written))
                if seen >= LOOKS_A_MINUTE:
                    break
        self.assertGreaterEqual(seen, LOOKS_A_MINUTE)
        self.assertLess(60 * len(written), HOUR_BYTES_MAX)

    def ask(self, *arguments, url=None):
        """What the command says of why it fails; it leaves no file then."""
        path = self.folder / "kept.folded"
        command = [os.environ["CLEW_BIN"], "profile", "--url", url or self.server.url, "-o", path, *arguments]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=WAIT_SECONDS_MAX)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("panicked", done.stderr)
        self.assertFalse(path.exists())
        return done.stderr

    def test_times_that_cannot_be_shown_are_told(self):
        now = datetime.datetime.now(datetime.UTC)
        moment = lambda hours: (now + datetime.timedelta(hours=hours)).isoformat().replace("+00:00", "Z")
        for arguments, told in [
            (["--from", "noon"], "noon is neither a time"),
            (["--from", "25:00"], "25:00 is neither a time"),
            (["--from", "2026-02-30 14:00"], "2026-02-30 14:00 is neither a time"),
            (["--from", "14:00", "--to", "soon"], "soon is neither a time"),
            (["--to", "14:00"], "--from"),
            (["--from", "14:00", "--seconds", "3"], "--seconds"),
            (["--from", moment(-1), "--to", moment(-2)], "[from] is not before [to]"),
            (["--from", moment(1)], "[from] is not before [to]"),
            (["--from", moment(1), "--to", moment(2)], "no profile of that time is kept"),
            (["--from", "2020-01-01", "--to", "2020-01-02"], "no profile of that time is kept"),
            (["--from", moment(-1), "--mode", "off"], "only time on the processors is kept"),
            (["--from", moment(-1), "--mode", "heap"], "only time on the processors is kept"),
        ]:
            with self.subTest(arguments=arguments):
                self.assertIn(told, self.ask(*arguments))

    def test_a_server_that_has_stopped_shows_nothing_until_it_is_back(self):
        began = datetime.datetime.now(datetime.UTC).isoformat().replace("+00:00", "Z")
        url = self.server.url
        self.server.stop()
        self.addCleanup(self.restart)
        self.assertIn("cannot ask", self.ask("--from", began, url=url))

    def kept(self, began):
        """Whether something is kept of the time from then on."""
        try:
            address = f"{self.server.url}/debug/pprof/profile?format=collapsed&from={began}"
            with urllib.request.urlopen(address, timeout=WAIT_SECONDS_MAX) as answer:
                return bool(answer.read())
        except urllib.error.HTTPError as error:
            self.assertIn(error.code, (404, 429))
            return False

    def test_it_goes_on_when_there_are_files_to_be_had_again(self):
        now = lambda: datetime.datetime.now(datetime.UTC).isoformat().replace("+00:00", "Z")
        until = time.monotonic() + WAIT_SECONDS_MAX
        with Load(self.server.url):
            began = now()
            while not self.kept(began):
                self.assertLess(time.monotonic(), until)
        # Nothing else than the profile is to miss them.
        self.client.indices.delete(index="load")
        pid = self.server.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        try:
            while "the profile that is always on" not in self.server.log_tail():
                self.assertLess(time.monotonic(), until)
                time.sleep(0.05)
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        self.assertIn("the profile that is always on pauses", self.server.log_tail())
        with Load(self.server.url):
            began = now()
            while not self.kept(began):
                self.assertLess(time.monotonic(), until, "nothing is kept any more")


class NotKeptTest(ClewTest):
    def test_a_server_that_keeps_nothing_says_which_key_would(self):
        command = [os.environ["CLEW_BIN"], "profile", "--url", self.server.url, "--from", "00:00"]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS_MAX, cwd=folder)
            self.assertEqual(os.listdir(folder), [])
        self.assertEqual(done.returncode, 1)
        self.assertIn("[profile.continuous] is off", done.stderr)
