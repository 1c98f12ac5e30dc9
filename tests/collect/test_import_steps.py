"""`clew collect import`: what steps of a Logstash and a Fluent Bit make of events, by what those are told to do."""

import unittest

from collect.importing import Importing


class ImportedSteps(Importing):
    def of_logstash(self, filters, *lines):
        documents, told = self.documents("pipeline.conf", """
input { file { path => "%s/app.log" start_position => "beginning" codec => json } }
filter { %s }
output { stdout { codec => json_lines } }
""" % (self.folder, filters), "".join(line + "\n" for line in lines))
        self.assertEqual(told, "")
        return documents

    def test_pairs_of_a_logstash_are_inside_of_values(self):
        (document,) = self.of_logstash(r"""
  kv { source => "m" target => "f" recursive => true transform_key => "lowercase" remove_char_key => "<>" trim_value => "\s,"
       allow_duplicate_values => false default_keys => { "from" => "nobody" "age" => "0" } }
""", '{"m":"Name=bob, <Age>=17 x=1 x=1 x=2 in=(a=1 b=[c=2]) end=yes"}')
        self.assertEqual(document["f"], {"name": "bob", "age": "17", "x": ["1", "2"], "in": {"a": "1", "b": {"c": "2"}},
                                         "end": "yes", "from": "nobody"})

    def test_tables_of_a_logstash_have_expressions_and_parts(self):
        documents = self.of_logstash(r"""
  translate { source => "[http][code]" target => "class" regex => true fallback => "other"
              dictionary => { "^2\d\d$" => "ok" "^[45]" => "bad" "^404$" => "never" } }
  translate { source => "said" target => "said" exact => false dictionary => { "one" => "two" "two" => "three" "it's" => "(is)" } }
""", '{"http":{"code":200},"said":"one two it\'s"}', '{"http":{"code":"404"},"said":"none of it"}', '{"http":{"code":"100"}}', '{"a":1}')
        self.assertEqual([one.get("class") for one in documents], ["ok", "bad", "other", None])
        self.assertEqual([one.get("said") for one in documents], ["two three (is)", "ntwo of it", None, None])

    def test_lists_of_a_logstash_are_merged_and_changed_item_by_item(self):
        (document,) = self.of_logstash("""
  mutate {
    convert => { "n" => "integer" "eu" => "float_eu" "whole" => "integer_eu" } uppercase => ["u"] capitalize => ["c"] lowercase => ["l"] strip => ["s"]
    merge => { "a" => "b" "o" => "p" "one" => "n" "new" => "u" } remove_field => ["gone"]
  }
  if [nul] { mutate { add_tag => ["there"] } }
""", '{"n":["1","2.5"],"eu":"1.234,5","whole":"1.234","u":["a"],"c":"hELLO","l":["B","C"],"s":[" x "],"a":[1],"b":[2,3],'
            '"o":{"x":1},"p":{"y":2},"one":1,"gone":1,"nul":null}')
        for name, expected in [("n", [1, 2]), ("eu", 1234.5), ("whole", 1234), ("u", ["A"]), ("c", "Hello"), ("l", ["b", "c"]),
                               ("s", ["x"]), ("a", [1, 2, 3]), ("one", [1, 1, 2]), ("new", ["A"])]:
            self.assertEqual(document.get(name), expected, name)
        self.assertNotIn("gone", document)
        self.assertNotIn("tags", document)

    def test_a_grok_of_a_logstash_looks_at_its_fields_in_turn(self):
        documents = self.of_logstash('grok { match => { "m" => "^%{INT:n}$" "o" => "^%{WORD:w}$" } add_tag => ["read"] }',
                                     '{"m":"1","o":"b"}', '{"m":"a","o":"b"}', '{"o":"b"}', '{"m":"-","o":"-"}')
        shown = [(one.get("n"), one.get("w"), one["tags"]) for one in documents]
        self.assertEqual(shown, [("1", None, ["read"]), (None, "b", ["read"]), (None, "b", ["read"]), (None, None, ["_grokparsefailure"])])

    def test_what_a_logstash_cannot_change_it_passes_over(self):
        (document,) = self.of_logstash('''
  mutate { gsub => ["n", "7", "8"] join => { "t" => "-" } add_field => { "last" => "%{[l][-1]} of %{[l][-4]}" } }
''', '{"n":7,"t":"a","l":["x","y","z"]}')
        self.assertEqual({name: document.get(name) for name in ("n", "t", "last", "tags")},
                         {"n": 7, "t": "a", "last": "z of %{[l][-4]}", "tags": None})

    def test_texts_without_pairs_stay_in_a_logstash(self):
        documents = self.of_logstash('kv { source => "m" add_tag => ["read"] remove_field => ["m"] }', '{"m":"a=1"}', '{"m":"none"}', '{}')
        shown = [{name: one[name] for name in ("m", "a", "tags") if name in one} for one in documents]
        self.assertEqual(shown, [{"a": "1", "tags": ["read"]}, {"m": "none"}, {}])

    def test_a_field_that_a_logstash_adds_leaves_what_is_there(self):
        documents = self.of_logstash('''
  mutate { add_field => { "a" => "2" "[b][c]" => "x%{a}" } }
''', '{"a":1}', '{"a":["1"],"b":{"c":"z"}}', '{}')
        self.assertEqual([one["a"] for one in documents], [[1, "2"], ["1", "2"], "2"])
        self.assertEqual([one["b"]["c"] for one in documents][2], "x2")
        self.assertEqual(documents[1]["b"]["c"][0], "z")

    def test_the_host_of_a_logstash_is_a_name(self):
        documents = self.of_logstash('''
  mutate { add_field => { "from" => "<%{host}>" } }
  if [host] == "web1" or [host] !~ "." { mutate { add_tag => ["web1"] } }
''', '{"a":1}', '{"host":"web1"}')
        self.assertEqual([one["from"] for one in documents], [f"<{documents[0]['host']['name']}>", "<web1>"])
        self.assertEqual([one.get("tags") for one in documents], [None, ["web1"]])

    def test_what_is_no_size_for_a_logstash_has_its_tag_and_goes_on(self):
        documents = self.of_logstash('''
  bytes { source => "s" add_tag => ["sized"] }
  mutate { add_field => { "on" => "yes" } }
''', '{"s":"2kb"}', '{"s":"abc"}', '{"a":1}')
        self.assertEqual([one.get("tags") for one in documents], [["sized"], ["_bytesparsefailure"], ["_bytesparsefailure"]])
        self.assertEqual([one["on"] for one in documents], ["yes"] * 3)
        self.assertEqual(documents[0]["s"], 2048)

    def test_dates_of_a_logstash_may_have_parts_of_one_digit(self):
        documents = self.of_logstash('''
  date { match => ["t", "MM/dd/yyyy hh:mm:ss a", "yyyy-MM-dd HH:mm", "yyyyMMddHHmm"] timezone => "UTC" }
''', '{"t":"3/5/2024 1:02:03 PM"}', '{"t":"2024-3-5 1:02"}', '{"t":"2024-03-05 01:02"}', '{"t":"202403050102"}')
        self.assertEqual([one["@timestamp"] for one in documents],
                         ["2024-03-05T13:02:03.000Z"] + ["2024-03-05T01:02:00.000Z"] * 3)

    def test_texts_of_a_filebeat_are_read_as_it_reads_them(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs:
- type: log
  paths: ["{self.folder}/app.log"]
  multiline: {{pattern: '^ ', match: after}}
processors:
- dissect: {{tokenizer: '%{{a}};%{{b}};%{{c}}', target_prefix: ''}}
- timestamp: {{field: a, layouts: ['02.01.2006 15:04:05', '2006-01-02T15:04:05Z07:00'], target_field: at}}
- dissect: {{field: b, tokenizer: '%{{source.ip}} %{{source.port}} %{{destination.ip}} %{{destination.port}} %{{network.transport}}', target_prefix: ''}}
- dissect: {{field: nowhere, tokenizer: '%{{x}} %{{y}}'}}
- community_id: ~
- decode_json_fields: {{fields: [c], max_depth: 3}}
- decode_csv_fields: {{fields: {{b: b}}, separator: " "}}
output.console: {{}}
""", '2026-01-02T03:04:05.123456Z;10.0.0.1 1234 8.8.8.8 53 tcp;{"x":"{\\"y\\":[1]}","z":"[1]"}\n'
            '02.01.2026 3:04:05;10.0.0.1 1234 8.8.8.8 53 tcp;{"x":\n  1}\n')
        self.assertEqual(told, "")
        self.assertEqual([one["at"] for one in documents], ["2026-01-02T03:04:05.123Z", "2026-01-02T03:04:05.000Z"])
        self.assertEqual([one["c"] for one in documents], [{"x": {"y": [1]}, "z": "[1]"}, {"x": 1}])
        self.assertEqual([one["network"]["community_id"] for one in documents], ["1:TcDL8C8XmWHlTQEfwzzIrDEL5hk="] * 2)
        self.assertEqual([one["source"]["port"] for one in documents], ["1234"] * 2)
        self.assertEqual(documents[0]["b"], ["10.0.0.1", "1234", "8.8.8.8", "53", "tcp"])
        self.assertEqual([one["log"].get("flags") for one in documents], [None, ["multiline"]])

    def test_a_filebeat_goes_on_behind_what_is_missing(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs: [{{type: filestream, paths: ["{self.folder}/app.log"]}}]
processors:
- lowercase: {{fields: [none]}}
- urldecode: {{fields: [{{from: none, to: x}}]}}
- decode_csv_fields: {{fields: {{message: cells}}, separator: ";", trim_leading_space: true}}
- add_tags: {{tags: [seen]}}
output.console: {{}}
""", "a;  b\n")
        self.assertEqual((documents[0]["tags"], documents[0]["cells"], told), (["seen"], ["a", "b"], ""))
        self.assertEqual(documents[0]["error"], {"message": "failed to decode fields in urldecode processor"})

    def test_a_filebeat_takes_items_out_of_lists_that_are_not_empty(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs: [{{type: filestream, paths: ["{self.folder}/app.log"]}}]
processors:
- decode_json_fields: {{fields: [message], target: ""}}
- extract_array: {{field: l, omit_empty: true, mappings: {{a: 0, b: 1, c: 2, d: 3, e: 4}}}}
output.console: {{}}
""", '{"l":["x","",null,{},7]}\n')
        self.assertEqual(told, "")
        self.assertEqual({name: documents[0].get(name) for name in "abcde"}, {"a": "x", "b": None, "c": None, "d": None, "e": 7})

    def test_a_filebeat_says_what_it_could_not_do(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs: [{{type: filestream, paths: ["{self.folder}/app.log"]}}]
processors:
- decode_json_fields: {{fields: [message], target: said, add_error_key: true}}
- convert: {{fields: [{{from: said.yes, type: boolean}}, {{from: said.took, type: integer}}], ignore_missing: true}}
- rename: {{fields: [{{from: said.yes, to: yes}}, {{from: said.none, to: none}}], when.has_fields: [said.yes]}}
- add_tags: {{tags: [zero], when.equals.said.code: 0}}
output.console: {{}}
""", '{"yes":"T","took":3.7,"code":"0"}\nno json\n{"code":0}\n')
        self.assertEqual(told, "")
        self.assertEqual(documents[0]["said"], {"yes": True, "took": 3, "code": "0"})
        self.assertEqual([one.get("error") for one in documents], [
            {"message": "Failed to rename fields in processor"},
            {"message": "parsing input as JSON", "data": "no json", "field": "message"}, None])
        self.assertEqual([one.get("tags") for one in documents], [None, None, ["zero"]])

    def test_a_text_in_the_way_of_what_a_filebeat_adds_keeps_nothing_else_from_being_done(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs: [{{type: filestream, paths: ["{self.folder}/app.log"]}}]
processors:
- decode_json_fields: {{fields: [message], target: ""}}
- add_fields: {{target: p, fields: {{a: 1}}}}
- add_labels: {{labels: {{b: x}}}}
- drop_event.when.equals.q: gone
output.console: {{}}
""", '{"p":5}\n{"p":5,"q":"gone"}\n{"p":{"c":2}}\n')
        self.assertEqual((told, len(documents)), ("", 2))
        self.assertEqual((documents[0]["labels"], documents[1]["p"]), ({"b": "x"}, {"a": 1, "c": 2}))

    def test_a_filebeat_changes_several_fields_or_none(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs: [{{type: filestream, paths: ["{self.folder}/app.log"]}}]
processors:
- decode_json_fields: {{fields: [message], target: ""}}
- rename: {{fields: [{{from: a, to: x}}, {{from: b, to: z}}], ignore_missing: true, when.has_fields: [a]}}
- replace: {{fields: [{{field: c, pattern: '(o)(k)', replacement: '$2-$1\\$$'}}, {{field: d, pattern: k, replacement: ''}}], when.has_fields: [c]}}
- urldecode: {{fields: [{{from: u}}, {{from: v}}], when.has_fields: [u]}}
output.console: {{}}
""", '{"a":1,"b":2}\n{"a":1,"b":2,"z":9}\n{"a":1}\n{"c":"ok","d":"ok"}\n{"c":"ok"}\n{"u":"%41","v":"%42"}\n{"u":"%41"}\n')
        self.assertEqual(told, "")
        shown = [{name: one[name] for name in "abxzcduv" if name in one} for one in documents]
        self.assertEqual(shown, [{"x": 1, "z": 2}, {"a": 1, "b": 2, "z": 9}, {"x": 1}, {"c": "k-o\\$", "d": "o"}, {"c": "ok"},
                                 {"u": "A", "v": "B"}, {"u": "%41"}])
        self.assertEqual([bool(one.get("error")) for one in documents], [False, True, False, False, True, False, True])

    def test_texts_that_spell_numbers_are_in_no_range_of_a_filebeat(self):
        documents, told = self.documents("filebeat.yml", f"""
filebeat.inputs: [{{type: filestream, paths: ["{self.folder}/app.log"]}}]
processors:
- decode_json_fields: {{fields: [message], target: ""}}
- add_tags: {{tags: [bad], when.range.code.gte: 400}}
- dissect: {{field: at, tokenizer: '%{{day}}-%{{+day}}-%{{+day}}', target_prefix: ''}}
- add_network_direction: {{source: s, destination: d, target: side, internal_networks: [private]}}
output.console: {{}}
""", '{"code":404}\n{"code":"404","at":"1-2-3"}\n{"s":"10.0.0.1","d":"8.8.8.8"}\n{"s":"here","d":"10.0.0.1"}\n')
        self.assertEqual(told, "")
        self.assertEqual([one.get("tags") for one in documents], [["bad"], None, None, None])
        self.assertEqual((documents[1]["day"], documents[2]["side"]), ("1-2-3", "outbound"))
        self.assertNotIn("side", documents[3])

    def of_fluent_bit(self, sections, *lines):
        return self.documents("fluent-bit.conf", f"""
[INPUT]
    Name tail
    Tag  app.*
    Path {self.folder}/app.log
    Read_from_Head On
{sections}
[OUTPUT]
    Name stdout
    Match *
""", "".join(line + "\n" for line in lines))

    def test_parsers_of_a_fluent_bit_are_asked_one_after_the_other(self):
        documents, told = self.of_fluent_bit("""
[FILTER]
    Name parser
    Match app.*
    Key_Name log
    Parser json
    Parser nginx
    Parser logfmt
""", '{"log":"inside","code":1}', '10.0.0.1 - bob [10/Oct/2026:13:55:36 -0700] "GET /a HTTP/1.1" 200 23 "-" "curl/8"', "a=1 b=\"x y\"", '= "')
        self.assertEqual(told, "")
        self.assertEqual([one.get("code") for one in documents], [1, "200", None, None])
        self.assertEqual((documents[1]["agent"], documents[1]["@timestamp"]), ("curl/8", "2026-10-10T20:55:36.000Z"))
        self.assertEqual(documents[2]["b"], "x y")
        self.assertEqual([one.get("message") for one in documents], [None, None, None, '= "'])
        # A field is not an object in some documents and a text in others.
        self.assertEqual([one.get("host") for one in documents], [None, "-", None, None])

    def test_filters_of_a_fluent_bit_are_for_files_by_their_tags(self):
        dotted = str(self.folder).strip("/").replace("/", ".")
        for pattern, kept in [(f"app.{dotted}.app*", ["b"]), (f"app.{dotted}.other*", ["a ping", "b"])]:
            documents, _ = self.of_fluent_bit(f"""
[FILTER]
    Name grep
    Match {pattern}
    Exclude log ping
""", "a ping", "b")
            self.assertEqual([one["message"] for one in documents], kept, pattern)


if __name__ == "__main__":
    unittest.main()
