"""`clew collect import`: what is printed runs, and does what the other shipper did."""

import subprocess
import tempfile
import unittest

from collect.importing import BINARY, Importing


class Import(Importing):
    def test_what_is_not_carried_over_is_told_by_its_name(self):
        for name, text in [
            ("an OpenTelemetry Collector", "receivers:\n  filelog: {include: [/l]}\nexporters:\n  debug:\n"),
            ("rsyslog", 'module(load="imfile")\ninput(type="imfile" File="/l" Tag="t")\n'),
            ("syslog-ng", '@version: 3.38\nsource s { file("/l"); };\n'),
            ("Fluentd", "<source>\n  @type tail\n</source>\n"),
        ]:
            with self.subTest(name), tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
                file.write(text)
                file.flush()
                done = subprocess.run([BINARY, "collect", "import", file.name], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(f" is of {name}, which is not carried over", done.stderr)

    def test_a_filebeat(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs:
- type: log
  paths: ["{self.folder}/app.log"]
  multiline: {{pattern: '^\\d', negate: true, match: after}}
  processors:
    - dissect: {{tokenizer: '%{{n}} %{{level}} %{{text}}', target_prefix: ''}}
    - drop_event: {{when: {{equals: {{level: DEBUG}}}}}}
    - add_docker_metadata: ~
output.elasticsearch.hosts: ["127.0.0.1:9200"]
""", "1 INFO one\n  more of it\n2 DEBUG two\n3 WARN three\n")
        self.assertEqual([(one["n"], one["level"]) for one in documents], [("1", "INFO"), ("3", "WARN")])
        self.assertIn("more of it", documents[0]["message"])
        self.assertIn("line 9: [filebeat.inputs[0].processors[2].add_docker_metadata] has no counterpart", told)

    def test_the_member_that_stands_for_the_line_may_be_called_log(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs:
- type: filestream
  paths: ["{self.folder}/app.log"]
  parsers: [{{ndjson: {{target: "", message_key: log}}}}]
processors:
- rename: {{fields: [{{from: level, to: log.level}}], ignore_missing: true}}
- include_fields: {{fields: ["/^stre/", message, log]}}
output.console: {{}}
""", '{"log":"hello","stream":"stdout","level":"Odd","x":1}\n{"stream":"stderr","x":2}\nno json\n')
        self.assertEqual(told, "")
        self.assertEqual([one.get("message") for one in documents], ["hello", None, "no json"])
        self.assertEqual([one.get("stream") for one in documents], ["stdout", "stderr", None])
        self.assertEqual(documents[0]["log"]["level"], "Odd")
        self.assertTrue(all("x" not in one and one["@timestamp"] for one in documents))

    def test_patterns_of_a_folder_are_put_into_the_steps_that_name_them(self):
        (self.folder / "patterns").mkdir()
        (self.folder / "patterns" / "shop").write_text("# ids\nORDER o-%{INT:order}\n")
        documents, told = self.documents("pipeline.conf", """
input { file { path => "%s/app.log" start_position => "beginning" } }
filter { grok { patterns_dir => ["./patterns"] match => { "message" => "%%{ORDER} %%{WORD:verb}" } } }
output { stdout { codec => line { format => "%%{message}" } } }
""" % self.folder, "o-17 paid\n")
        self.assertEqual((documents[0]["order"], documents[0]["verb"]), ("17", "paid"))
        self.assertIn("line 4: [output.stdout] the codec [line] has no counterpart", told)

    def test_lines_of_a_codec_of_json_give_way_to_what_is_in_them(self):
        documents, told = self.documents("pipeline.conf", """
input { file { path => "%s/app.log" start_position => "beginning" codec => json } }
output { stdout { codec => json_lines } }
""" % self.folder, '{"a":1}\nno json\n')
        self.assertEqual(told, "")
        self.assertEqual([one.get("message") for one in documents], [None, "no json"])
        self.assertEqual((documents[0]["a"], documents[1]["tags"]), (1, ["_jsonparsefailure"]))

    def test_a_logstash(self):
        documents, told = self.documents("pipeline.conf", """
input { file { path => "%s/app.log" start_position => "beginning" } }
filter {
  grok { match => { "message" => "%%{INT:n} %%{WORD:level} %%{GREEDYDATA:text}" } }
  if [level] == "DEBUG" { drop { } } else if [level] == "WARN" { mutate { add_field => { "said" => "%%{text}!" } } }
  ruby { code => "" }
}
output { stdout { } }
""" % self.folder, "1 INFO one\n2 DEBUG two\n3 WARN three\nbroken\n")
        self.assertEqual([one.get("n") for one in documents], ["1", "3", None])
        self.assertEqual(documents[1]["said"], "three!")
        self.assertEqual(documents[2]["tags"], ["_grokparsefailure"])
        self.assertIn("line 6: [filter.ruby] has no counterpart", told)

    def test_a_logstash_changes_letters_and_passes_over_what_is_no_json(self):
        documents, told = self.documents("pipeline.conf", """
input { file { path => "%s/app.log" start_position => "beginning" } }
filter {
  json { source => "message" skip_on_invalid_json => true add_tag => ["read"] }
  mutate { capitalize => ["name"] }
}
output { stdout { } }
""" % self.folder, '{"name":"\u00e9COLE \u00c9t\u00e9"}\n{"name":""}\nbroken\n')
        self.assertEqual([one.get("name") for one in documents], ["\u00c9cole \u00e9t\u00e9", "", None])
        self.assertEqual([one.get("tags") for one in documents], [["read"], ["read"], None])
        self.assertEqual(told, "")

    def test_json_of_a_filebeat_is_put_beside_what_is_there(self):
        rest = "output.console: {}\n"
        lines = ('{"a":1,"message":"said","@timestamp":"2020-01-02T03:04:05Z","log":{"level":"warn"}}\n'
                 '{"a":2,"@timestamp":"garbage"}\nbroken\n')

        def read(json_options):
            return self.documents("filebeat.yml", f"""
filebeat.inputs:
- {{type: log, paths: ["{self.folder}/app.log"], json: {json_options}}}
processors:
- add_fields: {{target: "", fields: {{seen: true}}}}
{rest}""", lines)[0]

        kept = read("{keys_under_root: true, add_error_key: true}")
        self.assertEqual([one.get("message") for one in kept], ["said", None, "broken"])
        self.assertNotEqual(kept[0]["@timestamp"], "2020-01-02T03:04:05Z")
        self.assertEqual(kept[0]["log"]["level"], "warn")
        self.assertTrue(kept[0]["log"]["file"]["path"].endswith("app.log"))
        self.assertEqual(kept[2]["error"]["type"], "json")
        self.assertTrue(all(one["seen"] for one in kept))
        taken = read("{keys_under_root: true, overwrite_keys: true}")
        self.assertEqual(taken[0]["@timestamp"], "2020-01-02T03:04:05Z")
        self.assertEqual(taken[0]["log"]["level"], "warn")
        self.assertTrue(taken[0]["log"]["file"]["path"].endswith("app.log"))
        self.assertRegex(taken[1]["@timestamp"], r"^\d{4}-\d\d-\d\dT")
        within = read("{}")
        self.assertEqual(within[0]["json"]["message"], "said")
        self.assertNotIn("message", within[0])

    def test_a_filebeat_goes_on_after_what_it_cannot_take_apart(self):
        documents, _ = self.documents("filebeat.yml", f"""
filebeat.inputs:
- type: filestream
  paths: ["{self.folder}/app.log"]
  parsers:
  - multiline: {{type: pattern, pattern: '\\\\$', match: before}}
processors:
- dissect: {{tokenizer: '%{{t}} %{{+t}} %{{?k}}=%{{&k}}', target_prefix: ''}}
- add_tags: {{tags: [seen]}}
output.console: {{}}
""", "Mar 16 a=1\nbroken \\\n too\n")
        self.assertEqual((documents[0]["t"], documents[0]["a"]), ("Mar 16", "1"))
        self.assertEqual(documents[1]["message"], "broken \\\n too")
        self.assertEqual(documents[1]["log"]["flags"], ["multiline", "dissect_parsing_error"])
        self.assertEqual([one["tags"] for one in documents], [["seen"], ["seen"]])

    def test_filters_of_a_logstash(self):
        documents, _ = self.documents("pipeline.conf", r"""
input { file { path => "%s/app.log" start_position => "beginning" tags => ["raw", "edge"] } }
filter {
  dissect { mapping => { "message" => "%%{ts} %%{+ts} %%{+ts} %%{rest}" } }
  kv { source => "rest" include_keys => ["status", "took", "who", "ok"] }
  translate { source => "status" target => "meaning" dictionary => { "200" => "fine" "404" => "gone" } fallback => "odd" }
  mutate { convert => { "took" => "integer" "ok" => "boolean" } remove_tag => ["raw"] }
  grok { break_on_match => false match => { "who" => ["(?<[user][first]>\w+) %%{WORD:[user][last]}", "^(?<user.letter>\w)"] } }
  if [meaning] in "fine or gone" { mutate { add_field => { "known" => "yes" } } }
}
output { stdout { } }
""" % self.folder, 'Mar 16 00:01:02 status=404 junk took="1,250.7" who="Ada Byron" ok=yes\nMar 16 00:01:03 status=9\n')
        first, second = documents
        self.assertEqual((first["ts"], first["status"], first["took"], first["ok"]), ("Mar 16 00:01:02", "404", 1250, True))
        self.assertEqual(first["user"], {"first": "Ada", "last": "Byron", "letter": "A"})
        self.assertEqual((first["meaning"], first["known"]), ("gone", "yes"))
        self.assertEqual((second["meaning"], second.get("known")), ("odd", None))
        self.assertEqual(first["tags"], ["edge"])

    def test_dates_of_a_logstash_have_names_in_its_language_and_fields_are_compared(self):
        documents, told = self.documents("pipeline.conf", r"""
input { file { path => "%s/app.log" start_position => "beginning" } }
filter {
  grok { match => { "message" => "^(?<when>\d+ \S+ \d+) %%{WORD:a} %%{WORD:b}" } }
  date { match => ["when", "dd MMM yyyy"] locale => "fr" timezone => "UTC" }
  if [a] == [b] { mutate { add_field => { "same" => "yes" } } } else if [a] > [b] { mutate { add_field => { "same" => "no" } } }
}
output { stdout { } }
""" % self.folder, "12 janv. 2026 x x\n3 août 2026 y x\n")
        self.assertEqual([(one["@timestamp"], one["same"]) for one in documents],
                         [("2026-01-12T00:00:00.000Z", "yes"), ("2026-08-03T00:00:00.000Z", "no")])
        self.assertEqual(told, "")

    def test_files_of_a_filebeat_have_their_encodings(self):
        for name, codec in (("gbk", "gbk"), ("big5", "big5"), ("shift-jis", "shift_jis"), ("euc-kr", "euc_kr"), ("iso8859-2", "iso8859_2"),
                            ("windows1251", "cp1251"), ("koi8r", "koi8_r"), ("macintosh", "mac_roman")):
            known = {"euc_kr": "로그", "iso8859_2": "łódź", "cp1251": "журнал", "koi8_r": "журнал", "mac_roman": "café"}
            text = known.get(codec, "日本")
            (self.folder / "other.log").write_bytes(f"{text}\nend\n".encode(codec))
            documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs:
- {{type: log, paths: ["{self.folder}/other.log"], encoding: {name}}}
output.console: {{}}
""", "")
            self.assertEqual([one["message"] for one in documents], [text, "end"], told)

    def test_a_fluent_bit(self):
        configuration = r"""
[SERVICE]
    Flush 1
[INPUT]
    Name tail
    Tag  app
    Path %s/app.log
    Read_from_Head On
[PARSER]
    Name   app
    Format regex
    Regex  ^(?<time>\S+) (?<level>\w+) (?<took>\d+) (?<a_text>.*)$
    Time_Key    time
    Time_Format %%Y-%%m-%%dT%%H:%%M:%%S.%%L%%z
    Types       took:integer
[FILTER]
    Name     parser
    Match    app
    Key_Name log
    Parser   app
    Reserve_Data On
[FILTER]
    Name    grep
    Match   *
    Exclude level ^DEBUG$
[FILTER]
    Name       nest
    Match      *
    Operation  nest
    Wildcard   a_*
    Nest_under inner
    Remove_prefix a_
[FILTER]
    Name   modify
    Match  *
    Set    env prod
    Rename level severity
[FILTER]
    Name  lua
    Match *
[OUTPUT]
    Name  stdout
    Match *
""" % self.folder
        lines = ("2026-01-02T03:04:05.678+0100 INFO 7 one\n2026-01-02T03:04:05.678+0100 DEBUG 8 two\nbroken\n")
        documents, told = self.documents("fluent-bit.conf", configuration, lines)
        self.assertEqual(len(documents), 2)
        self.assertEqual((documents[0]["@timestamp"], documents[0]["took"], documents[0]["inner"], documents[0]["severity"]),
                         ("2026-01-02T02:04:05.678Z", 7, {"text": "one"}, "INFO"))
        self.assertNotIn("message", documents[0])
        self.assertEqual((documents[1]["message"], documents[1]["env"]), ("broken", "prod"))
        self.assertIn("[filter.lua] has no counterpart", told)

    def test_containers_have_the_names_that_their_files_say(self):
        containers = self.folder / "containers"
        containers.mkdir()
        line = '2026-01-02T03:04:05Z stdout F {"level":"warn","message":"full"}\n2026-01-02T03:04:06Z stdout F plain\n'
        (containers / f"shop-7d9f_web-1_side-car-{'a1' * 32}.log").write_text(line)
        fluent_bit = f"""
[INPUT]
    Name tail
    Path {containers}/*.log
    Tag kube.*
    Read_from_Head on
    multiline.parser docker, cri
[FILTER]
    Name kubernetes
    Match kube.*
    Merge_Log On
    {{keep}}
[OUTPUT]
    Name stdout
    Match *
"""
        filebeat = f"""
filebeat.inputs:
- {{type: container, paths: ["{containers}/*.log"], processors: [{{add_kubernetes_metadata: {{host: "node"}}}}]}}
output.console: {{}}
"""
        for name, text, pod, messages in [
            ("fb.conf", fluent_bit.format(keep=""), "pod_name", ["full", "plain"]),
            ("fb.conf", fluent_bit.format(keep="Keep_Log Off"), "pod_name", ["full", "plain"]),
            ("filebeat.yml", filebeat, "pod", ['{"level":"warn","message":"full"}', "plain"]),
        ]:
            with self.subTest(name):
                documents, told = self.documents(name, text, "")
                self.assertEqual([one["message"] for one in documents], messages)
                found = documents[0]["kubernetes"]
                self.assertEqual(found[pod], "shop-7d9f" if pod == "pod_name" else {"name": "shop-7d9f"})
                self.assertEqual(found.get("container_name") or found["container"]["name"], "side-car")
                self.assertIn("labels and annotations, which only a server knows, have no counterpart", told)
                if pod == "pod_name":
                    self.assertEqual(documents[0]["level"], "warn")

    def test_a_vector(self):
        configuration = r"""
sources:
  app: {type: file, include: ["%s/app.log"]}
transforms:
  parsed:
    type: remap
    inputs: [app]
    source: |
      parts = parse_regex(.message, r'^(?P<at>\S+) (?P<level>\w+) (?P<text>.*)$') ?? {}
      .timestamp = parse_timestamp(parts.at, "%%Y-%%m-%%dT%%H:%%M:%%S%%z") ?? .timestamp
      .level = parts.level
      .text = parts.text
  ways:
    type: route
    inputs: [parsed]
    route: {bad: '.level == "ERROR"', good: {type: vrl, source: '.level == "INFO"'}}
  marked: {type: remap, inputs: [ways.bad], source: '.bad = true'}
sinks:
  all: {type: console, inputs: [marked, ways.good], encoding: {codec: json}}
  lost: {type: loki, inputs: [parsed]}
""" % self.folder
        lines = "2026-01-02T03:04:05+0100 ERROR one\n2026-01-02T03:04:06+0100 INFO two\n2026-01-02T03:04:07+0100 DEBUG three\n"
        documents, told = self.documents("vector.yaml", configuration, lines)
        shown = [(one["@timestamp"], one["level"], one["text"], one.get("bad")) for one in documents]
        self.assertEqual(shown, [("2026-01-02T02:04:05.000Z", "ERROR", "one", True), ("2026-01-02T02:04:06.000Z", "INFO", "two", None)])
        self.assertNotIn("timestamp", documents[0])
        self.assertIn("[sinks.lost] has no counterpart", told)

    def test_a_vector_in_toml(self):
        configuration = r"""
[sources.app]
type = "file"
include = ["%s/app.log"]
[transforms.kept]
type = "filter"
inputs = ["app"]
condition = 'contains(.message, "x")'
[sinks.out]
type = "console"
inputs = ["kept"]
[sinks.out.encoding]
codec = "json"
""" % self.folder
        documents, told = self.documents("vector.toml", configuration, "ax\nb\ncx\n")
        self.assertEqual(([one["message"] for one in documents], told), (["ax", "cx"], ""))

    def test_a_promtail(self):
        configuration = r"""
clients: [{url: "http://loki:3100/loki/api/v1/push"}]
scrape_configs:
- job_name: app
  static_configs:
  - labels: {job: app, __path__: "%s/app.log"}
  pipeline_stages:
  - multiline: {firstline: '^\d{4}-'}
  - regex: {expression: '^(?P<at>\S+) (?P<level>\w+) (?P<rest>.*)'}
  - timestamp: {source: at, format: RFC3339}
  - json: {source: rest, expressions: {user: http.user}}
  - labels: {level: , who: user}
  - match: {selector: '{job="app", level=~"DE.*"}', action: drop}
  - template: {source: level, template: '<{{ .Value }}>'}
  - match:
      selector: '{level="ERROR"}'
      stages:
      - output: {source: level}
""" % self.folder
        lines = ('2026-01-02T03:04:05+01:00 INFO {"http":{"user":"ann"}}\n2026-01-02T03:04:06Z DEBUG x\n'
                 "2026-01-02T03:04:07Z ERROR y\n  at z\n")
        documents, told = self.documents("promtail.yaml", configuration, lines)
        first, second = documents
        self.assertEqual((first["@timestamp"], first["labels"]), ("2026-01-02T02:04:05.000Z", {"job": "app", "level": "INFO", "who": "ann"}))
        self.assertEqual((second["message"], second["labels"]), ("<ERROR>", {"job": "app", "level": "ERROR"}))
        self.assertNotIn("extracted", first)
        self.assertIn("Loki is not written to", told)


if __name__ == "__main__":
    unittest.main()
