"""Real rsyslog and real syslog-ng, which read a file and send it to the input `syslog`: over TCP, over TLS, with certificates of
their own and without."""

import pathlib
import tempfile
import unittest

from .bulk_server import BulkServer
from .certificates import Authority
from .listening import Listening
from .shippers import program, rsyslog, syslog_ng

LINES = 2000
CONFIG = """\
registry: {folder}/registry.json
inputs:
  - {{type: syslog, listen: "tcp://127.0.0.1:0"{tls}}}
outputs:
  - {{type: opensearch, url: "{url}"}}
"""
RSYSLOG = """
module(load="imfile")
input(type="imfile" file="{log}" tag="shop:" severity="error" facility="local3"{multiline})
action(type="omfwd" target="127.0.0.1" port="{port}" protocol="tcp" TCP_Framing="octet-counted"
       template="RSYSLOG_SyslogProtocol23Format"{stream})
"""
RSYSLOG_TLS = """ StreamDriver="{driver}" StreamDriverMode="1" StreamDriverAuthMode="x509/name" StreamDriverPermittedPeers="localhost\""""
SYSLOG_NG = """
source s {{ file("{log}" flags(no-parse) program-override("shop") follow-freq(0.1) multi-line-mode(indented)); }};
destination d {{ syslog("localhost" port({port}) transport("{transport}"){tls}); }};
log {{ source(s); destination(d); }};
"""


class Sending(unittest.TestCase):
    """A file of lines, one of which goes on in the next line, and where they arrive."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.server = self.enterContext(BulkServer())
        self.log = self.folder / "app.log"
        self.write("first line\n  that goes on", *(f"number {n} ÄÖ {'x' * (n * 7 % 1500)}" for n in range(1, LINES)), "last line")

    def write(self, *lines):
        with self.log.open("a") as out:
            out.writelines(line + "\n" for line in lines)

    def secured(self, more=""):
        """An authority, and the input's keys with a certificate of its."""
        authority = Authority(self.folder)
        certificate, key = authority.issue("localhost")
        return authority, f", tls: {{certificate: {certificate}, key: {key}{more}}}"

    def collector(self, tls=""):
        config = self.folder / "collect.yaml"
        config.write_text(CONFIG.format(folder=self.folder, url=self.server.url, tls=tls))
        return self.enterContext(Listening(config))

    def check(self, shipper):
        """Waits for the lines, and checks what came: every line once, in order, with its fields. The last one is held back, as
        another line might belong to it."""
        came = self.server.wait_for(LINES)
        messages = [document["message"] for document in self.server.documents.values()]
        self.assertTrue(came, f"{len(messages)} lines came: {messages[:3]} {shipper.words()[-3000:]}")
        self.assertIn("first line\n  that goes on", messages[0])
        numbers = [int(message.split("number ")[1].split()[0]) for message in messages if "number " in message]
        self.assertEqual(numbers, list(range(1, LINES)))
        for document in self.server.documents.values():
            self.assertEqual(document["process"]["name"], "shop")
            self.assertEqual(document["log"]["source"], {"address": "127.0.0.1"})
            self.assertNotIn("parse_error", document["event"])
        return list(self.server.documents.values())


class Rsyslog(Sending):
    @classmethod
    def setUpClass(cls):
        program("rsyslogd")

    def config(self, port, stream="", head=""):
        return head + RSYSLOG.format(log=self.log, port=port, stream=stream, multiline=' startmsg.regex="^[^ ]" escapeLF="off"')

    def test_octets_are_counted_over_tcp(self):
        collector = self.collector()
        with rsyslog(self.folder, self.config(collector.ports[0])) as shipper:
            documents = self.check(shipper)
            self.assertEqual(documents[0]["log"]["syslog"]["facility"]["code"], 19)
            self.assertEqual(documents[0]["log"]["level"], "error")
            self.write("one more", "and another")
            self.assertTrue(self.server.wait_for(LINES + 2))
        self.assertNotIn("cut", collector.stop())

    def test_it_comes_over_tls_by_both_of_its_libraries(self):
        for driver in ("gtls", "ossl"):
            with self.subTest(driver):
                self.server.documents.clear()
                authority, tls = self.secured()
                collector = self.collector(tls)
                head = f'global(DefaultNetstreamDriverCAFile="{authority.certificate}")\n'
                folder = self.folder / driver
                folder.mkdir()
                config = self.config(collector.ports[0], RSYSLOG_TLS.format(driver=driver), head)
                with rsyslog(folder, config) as shipper:
                    self.check(shipper)
                self.assertNotIn("handshake", collector.stop())

    def test_one_that_shows_no_certificate_stays_out_and_one_that_does_comes_in(self):
        authority, tls = self.secured(f", client_ca: {self.folder}/ca.pem")
        collector = self.collector(tls)
        head = f'global(DefaultNetstreamDriverCAFile="{authority.certificate}"'
        stream = RSYSLOG_TLS.format(driver="ossl")
        alone = self.folder / "alone"
        alone.mkdir()
        with rsyslog(alone, self.config(collector.ports[0], stream, head + ")\n")):
            collector.wait_for("handshake")
        self.assertEqual(self.server.documents, {})
        certificate, key = authority.issue("client")
        head += f' DefaultNetstreamDriverCertFile="{certificate}" DefaultNetstreamDriverKeyFile="{key}")\n'
        known = self.folder / "known"
        known.mkdir()
        with rsyslog(known, self.config(collector.ports[0], stream, head)) as shipper:
            self.check(shipper)


class SyslogNg(Sending):
    @classmethod
    def setUpClass(cls):
        program("syslog-ng")

    def config(self, port, transport="tcp", tls=""):
        return SYSLOG_NG.format(log=self.log, port=port, transport=transport, tls=tls)

    def test_octets_are_counted_over_tcp(self):
        collector = self.collector()
        with syslog_ng(self.folder, self.config(collector.ports[0])) as shipper:
            self.check(shipper)
            self.write("one more", "and another")
            self.assertTrue(self.server.wait_for(LINES + 2))
        self.assertNotIn("cut", collector.stop())

    def test_it_comes_over_tls(self):
        authority, tls = self.secured(f", client_ca: {self.folder}/ca.pem")
        certificate, key = authority.issue("client")
        collector = self.collector(tls)
        own = f' tls(ca-file("{authority.certificate}") cert-file("{certificate}") key-file("{key}") peer-verify(required-trusted))'
        with syslog_ng(self.folder, self.config(collector.ports[0], "tls", own)) as shipper:
            self.check(shipper)
        self.assertNotIn("handshake", collector.stop())


if __name__ == "__main__":
    unittest.main()
