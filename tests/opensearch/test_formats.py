"""Bodies and answers in YAML, CBOR and Smile."""

import json
import urllib.error
import urllib.request

import yaml

from .base import ClewTest

YAML, CBOR, SMILE = "application/yaml", "application/cbor", "application/smile"
# {"a": 1} in each.
DOCUMENT = {YAML: b"a: 1\n", CBOR: b"\xa1\x61a\x01", SMILE: b":)\n\x00\xfa\x80a\xc2\xfb"}
# {"count": 3, begun: what an answer begins with.
COUNT = {
    "yaml": b"---\ncount: 3\n", "cbor": b"\xa2\x65count\x03", "smile": b":)\n\x00\xfa\x84count\xc6",
}


class Formats(ClewTest):
    def asked(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.server.url + path, method=method, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request) as reply:
                return reply.status, reply.headers["Content-Type"], reply.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers["Content-Type"], error.read()

    def test_documents_are_taken_in_every_format(self):
        for number, (media, body) in enumerate(DOCUMENT.items()):
            status, answered, _ = self.asked("PUT", f"/i/_doc/{number}", body, Content_Type=media)
            self.assertEqual((status, answered), (201, media))
            self.assertEqual(self.client.get(index="i", id=str(number))["_source"], {"a": 1})

    def test_answers_are_in_the_format_that_is_asked_for(self):
        for number, (media, body) in enumerate(DOCUMENT.items()):
            self.asked("PUT", f"/i/_doc/{number}?refresh=true", body, Content_Type=media)
        path = "/i/_count?filter_path=count,_shards.total"
        for name, begin in COUNT.items():
            media = f"application/{name}"
            for asked in (
                (f"{path}&format={name}&pretty", {}),
                (path, {"Accept": media}),
                (path, {"Content_Type": media}),
                (f"{path}&format={name}", {"Accept": "application/json"}),
            ):
                with self.subTest(name=name, asked=asked):
                    status, answered, told = self.asked("GET", asked[0], **asked[1])
                    self.assertEqual((status, answered), (200, media))
                    self.assertEqual(told[: len(begin)], begin)
            # What alone is accepted goes before what the request itself is written in.
            _, answered, told = self.asked("GET", path, Accept="application/json", Content_Type=media)
            self.assertEqual(answered.split(";")[0], "application/json")
            self.assertEqual(json.loads(told)["count"], 3)
        # Tables are for people unless another format is asked for by name.
        self.assertEqual(self.asked("GET", "/_cat/indices?h=index", Content_Type=CBOR)[2], b"i\n")
        self.assertEqual(self.asked("GET", "/_cat/indices?h=index&format=cbor")[2], b"\x81\xa1\x65index\x61i")
        self.assertEqual(self.asked("GET", "/_cat/indices?h=index", Accept=SMILE)[2], b":)\n\x00\xf8\xfa\x84index\x40i\xfb\xf9")

    def test_searches_and_their_errors_are_read_and_told_in_yaml(self):
        self.asked("PUT", "/i/_doc/1?refresh=true", b"a: 1\nb: {c: [x, y]}\n", Content_Type=YAML)
        search = b"query:\n  term: {a: 1}\nsize: 1\n"
        status, _, told = self.asked("POST", "/i/_search", search, Content_Type=YAML)
        self.assertEqual(status, 200)
        self.assertEqual(yaml.safe_load(told)["hits"]["hits"][0]["_source"], {"a": 1, "b": {"c": ["x", "y"]}})
        status, media, told = self.asked("POST", "/i/_search", b"query: {nothing: {}}\n", Content_Type=YAML)
        self.assertEqual((status, media), (400, YAML))
        self.assertEqual(yaml.safe_load(told)["status"], 400)
        for body in (b"query: [", b"size: 1\nsize: 2\n"):
            status, _, told = self.asked("POST", "/i/_search", body, Content_Type=YAML)
            self.assertEqual(status, 400)
            self.assertEqual(yaml.safe_load(told)["error"]["type"], "json_parse_exception")
        # In the address.
        path = "/i/_search?source_content_type=application/yaml&filter_path=hits.total.value&source=size:%200"
        self.assertEqual(json.loads(self.asked("GET", path)[2]), {"hits": {"total": {"value": 1}}})

    def test_lines_are_of_json_or_smile(self):
        action = b':)\n\x00\xfa\x84index\xfa\x82_id\x40\x31\xfb\xfb'
        bulk = action + b"\xff" + DOCUMENT[SMILE] + b"\xff"
        status, media, _ = self.asked("POST", "/i/_bulk?refresh=true", bulk, Content_Type=SMILE)
        self.assertEqual((status, media), (200, SMILE))
        self.assertEqual(self.client.get(index="i", id="1")["_source"], {"a": 1})
        search = b":)\n\x00\xfa\xfb\xff:)\n\x00\xfa\x83size\xc0\xfb\xff"
        status, _, told = self.asked("POST", "/i/_msearch", search, Content_Type=SMILE, Accept="application/json")
        self.assertEqual(json.loads(told)["responses"][0]["hits"]["total"]["value"], 1)
        for path in ("/i/_bulk", "/i/_msearch", "/i/_msearch/template"):
            for media in (YAML, CBOR):
                status, _, told = self.asked("POST", path, b"x", Content_Type=media, Accept="application/json")
                name = media.removeprefix("application/").upper()
                why = f"Content-Type [{name}] does not support stream parsing. Use JSON or SMILE instead"
                self.assertEqual((status, json.loads(told)), (406, {"error": why, "status": 406}))

    def test_what_cannot_be_read_is_told(self):
        for media, body in ((CBOR, b"\xa1\x61a"), (SMILE, b"{}"), (SMILE, b":)\n\x00\xfa")):
            status, _, told = self.asked("PUT", "/i/_doc/1", body, Content_Type=media, Accept="application/json")
            self.assertEqual((status, json.loads(told)["error"]["type"]), (400, "json_parse_exception"))
        for media in ("text/yaml", "application/xml", "text/plain"):
            self.assertEqual(self.asked("PUT", "/i/_doc/1", b"a: 1", Content_Type=media)[0], 406)
        deep = b"\x81" * 5000 + b"\x01"
        self.assertEqual(self.asked("PUT", "/i/_doc/1", b"\xa1\x61a" + deep, Content_Type=CBOR)[0], 400)
