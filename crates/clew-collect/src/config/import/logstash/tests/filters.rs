//! Filters of a Logstash as steps, and conditions.

use super::*;

#[test]
fn filters_of_a_logstash_leave_alone_what_they_would_leave_alone_there() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    let there = |field: &str| json!({"and": [branch, {"has_fields": [field]}]});
    let tagged = |tag: &str| json!([{"append": {"field": "tags", "value": [tag]}}]);
    check_filter(
        r#"date { match => ["t", "YYYY-MM-dd'T'HH:mm:ss ZZZ", "UNIX"] timezone => "UTC" }"#,
        &json!([{"date": {
            "field": "t", "formats": ["yyyy-M-d'T'H:mm:ss VV", "UNIX"], "target_field": "@timestamp",
            "timezone": "UTC", "on_failure": tagged("_dateparsefailure"), "if": there("t"),
        }}]),
    );
    check_filter(
        r#"kv { field_split => "&?" trim_value => "\"" }"#,
        &json!([{"kv": {
            "field": "message", "field_split": "[&?]", "value_split": "=", "quotes": true, "ignore_missing": true, "trim_value": "\"",
            "on_failure": tagged("_kv_filter_error"), "if": branch,
        }}]),
    );
    check_filter(
        r#"mutate { update => { "u" => "v" } join => { "l" => "-" } rename => { "x" => "y" } }"#,
        &json!([
            {"rename": {
                "field": "x", "target_field": "y", "override_target": true, "ignore_missing": true,
                "on_failure": tagged("_mutate_error"), "if": branch,
            }},
            {"add": {"field": "u", "value": "v", "on_failure": tagged("_mutate_error"), "if": there("u")}},
            {"join": {"field": "l", "separator": "-", "ignore_failure": true, "if": there("l")}},
        ]),
    );
    // What is in the object may be what the branch looks at: a mark keeps what was decided.
    let marked = json!({"equals": {"@metadata.branch2": 0}});
    check_filter(
        r#"json { source => "j" tag_on_failure => [] add_tag => ["of_%{[k][l]}"] }"#,
        &json!([
            {"remove": {"field": "@metadata.branch2", "ignore_missing": true}},
            {"add": {"field": "@metadata.branch2", "value": 0, "if": branch}},
            {"json": {
                "field": "j", "add_to_root": true,
                "on_failure": [{"add": {"field": "@metadata.failed", "value": 0}}],
                "if": {"and": [marked, {"has_fields": ["j"]}]},
            }},
            {"append": {
                "field": "tags", "value": ["of_{{k.l}}"], "keep_references": true,
                "if": {"and": [marked, {"and": [
                    {"has_fields": ["j"]}, {"not": {"equals": {"@metadata.failed": 0}}},
                ]}]},
            }},
        ]),
    );
    check_filter(
        r#"mutate { convert => ["n", "integer", "f", "float"] gsub => ["m", "(\d+)", "<\1> $"] }"#,
        &json!([
            {"convert": {
                "field": "n", "type": "long", "ignore_missing": true, "lenient": "ruby",
                "on_failure": tagged("_mutate_error"), "if": branch,
            }},
            {"convert": {
                "field": "f", "type": "double", "ignore_missing": true, "lenient": "ruby",
                "on_failure": tagged("_mutate_error"), "if": branch,
            }},
            {"gsub": {
                "field": "m", "pattern": "(\\d+)", "replacement": "<$1> \\$", "ignore_missing": true,
                "ignore_failure": true, "if": branch,
            }},
        ]),
    );
}

#[test]
fn branches_of_a_logstash_are_decided_where_they_begin() {
    use serde_json::json;
    let text = r#"
input { stdin {} }
filter {
  if [type] == "a" {
    mutate { replace => { "type" => "b" } }
    truncate { length_bytes => 9 }
  } else if [type] == "b" {
    drop {}
  }
  if [kind] == "a" { truncate { length_bytes => 8 } } else { drop {} }
}
output { stdout {} }
"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let is = |field: &str, value: &str| json!({"equals": {field: value}});
    let other = json!({"and": [{"not": is("type", "a")}, is("type", "b")]});
    let decided = |number: usize| json!({"equals": {"@metadata.branch3": number}});
    let failed = json!([{"append": {"field": "tags", "value": ["_mutate_error"]}}]);
    assert_eq!(
        config["processors"],
        json!([
            {"remove": {"field": "@metadata.branch3", "ignore_missing": true}},
            {"add": {"field": "@metadata.branch3", "value": 0, "if": is("type", "a")}},
            {"add": {"field": "@metadata.branch3", "value": 1, "if": other}},
            {"add": {"field": "type", "value": "b", "on_failure": failed, "if": decided(0)}},
            {"truncate": {"field": ["message"], "max_bytes": 9, "if": decided(0)}},
            {"drop": {"if": decided(1)}},
            {"truncate": {"field": ["message"], "max_bytes": 8, "if": is("kind", "a")}},
            {"drop": {"if": {"not": is("kind", "a")}}},
        ])
    );
}

#[test]
fn dates_in_texts_of_a_logstash_are_written() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    let date = |number: usize, format: &str| {
        json!({"date": {
            "field": "@timestamp", "formats": ["ISO8601"], "timezone": "UTC",
            "target_field": format!("@metadata.date{number}"), "output_format": format, "if": branch,
        }})
    };
    let day = "{{app}}-{{@metadata.date0}}/{{@metadata.date1}}";
    check_filter(
        r#"truncate { length_bytes => 9 add_field => { "day" => "%{app}-%{+YYYY.MM.dd}/%{{uuuu HH}}" } add_tag => ["s%{+HH}"] }"#,
        &json!([
            {"truncate": {"field": ["message"], "max_bytes": 9, "if": branch}},
            date(0, "yyyy.MM.dd"),
            date(1, "uuuu HH"),
            {"append": {
                "field": "day", "value": day, "keep_references": true, "if": {"and": [branch, {"has_fields": ["day"]}]},
            }},
            {"set": {
                "field": "day", "value": day, "keep_references": true, "override": false, "if": branch,
            }},
            date(4, "HH"),
            {"append": {"field": "tags", "value": ["s{{@metadata.date4}}"], "keep_references": true, "if": branch}},
        ]),
    );
    // A year of weeks has no counterpart.
    let text = r#"input { stdin { add_field => { "w" => "%{+xxxx.ww}" } } } output { stdout {} }"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    assert_eq!(
        imported.told(),
        ["line 1: [input.stdin] [%{+xxxx.ww}] has a date in it, which stays as it is written"]
    );
}

#[test]
fn json_of_a_logstash_is_passed_over_in_silence_where_it_says_so() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    let marked = json!({"equals": {"@metadata.branch3": 0}});
    let done = json!({"not": {"equals": {"@metadata.failed": 0}}});
    // What is no JSON gets no field either.
    check_filter(
        r#"json { source => "j" skip_on_invalid_json => true add_field => { "k" => "v" } }"#,
        &json!([
            {"remove": {"field": "@metadata.branch3", "ignore_missing": true}},
            {"add": {"field": "@metadata.branch3", "value": 0, "if": branch}},
            {"json": {
                "field": "j", "add_to_root": true,
                "on_failure": [{"add": {"field": "@metadata.failed", "value": 0}}], "if": {"and": [marked, {"has_fields": ["j"]}]},
            }},
            // What is there stays, and both are a list.
            {"append": {"field": "k", "value": "v", "if": {"and": [marked, {"and": [
                {"has_fields": ["j"]}, {"and": [done, {"has_fields": ["k"]}]},
            ]}]}}},
            {"add": {
                "field": "k", "value": "v", "override": false,
                "if": {"and": [marked, {"and": [{"has_fields": ["j"]}, done]}]},
            }},
        ]),
    );
}

#[test]
fn filters_of_a_logstash_take_texts_apart_as_they_do_there() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    let tagged = |tag: &str| json!([{"append": {"field": "tags", "value": [tag]}}]);
    check_filter(
        r#"dissect { mapping => { "message" => "%{t} %{+t} %{?k}=%{&k}" } remove_tag => ["x"] }"#,
        &json!([
            {"dissect": {
                "field": "message", "pattern": "%{t} %{+t} %{*k}=%{&k}", "ignore_missing": true, "append_separator": " ",
                "on_failure": [
                    {"append": {"field": "tags", "value": ["_dissectfailure"]}},
                    {"add": {"field": "@metadata.failed", "value": 0}},
                ],
                "if": branch,
            }},
            {"remove_item": {
                "field": "tags", "value": ["x"],
                "if": {"and": [branch, {"not": {"equals": {"@metadata.failed": 0}}}]},
            }},
        ]),
    );
    check_filter(
        r#"grok { break_on_match => false match => { "message" => ["%{INT:n}", "%{WORD:w}"] } }"#,
        &json!([
            {"grok": {"field": "message", "patterns": ["%{INT:n}"], "ignore_failure": true, "if": branch}},
            {"grok": {"field": "message", "patterns": ["%{WORD:w}"], "ignore_failure": true, "if": branch}},
        ]),
    );
    let marked = json!({"equals": {"@metadata.branch2": 0}});
    check_filter(
        r#"csv { columns => ["a", "[b][c]"] separator => ";" quote_char => "'" convert => { "a" => "integer" } }"#,
        &json!([
            {"remove": {"field": "@metadata.branch2", "ignore_missing": true}},
            {"add": {"field": "@metadata.branch2", "value": 0, "if": branch}},
            {"csv": {
                "field": "message", "target_fields": ["a", "b.c"], "separator": ";", "ignore_missing": true, "quote": "'",
                "unnamed_prefix": "column", "on_failure": tagged("_csvparsefailure"), "if": marked,
            }},
            {"convert": {
                "field": "a", "type": "long", "lenient": true, "ignore_missing": true,
                "ignore_failure": true, "if": marked,
            }},
        ]),
    );
    let found = json!({"and": [branch, {"not": {"has_fields": ["t"]}}]});
    check_filter(
        r#"translate { field => "s" destination => "t" dictionary => ["200", "OK", "404", "say \"no\""] fallback => "?" }"#,
        &json!([
            {"lookup": {
                "field": "s", "ignore_missing": true,
                "csv": "key,\"t\"\n\"200\",\"OK\"\n\"404\",\"say \"\"no\"\"\"\n", "if": found,
            }},
            {"add": {
                "field": "t", "value": "?",
                "if": {"and": [branch, {"and": [{"has_fields": ["s"]}, {"not": {"has_fields": ["t"]}}]}]},
            }},
        ]),
    );
}

#[test]
fn conditions_of_a_logstash_hold_when_they_hold_there() {
    use serde_json::json;
    let check = |condition: &str, expected: Value| {
        let text = format!(
            "input {{ stdin {{}} }} filter {{ if {condition} {{ drop {{}} }} }} output {{ stdout {{}} }}"
        );
        let imported = import_pipeline("p.conf", &text).unwrap();
        assert!(imported.left_out.is_empty(), "{:?}", imported.left_out);
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        assert_eq!(
            config["processors"][0]["drop"]["if"], expected,
            "{condition}"
        );
    };
    let equal = |field: &str| json!({"is": {field: 1}});
    let both = json!({"not": {"and": [equal("a"), equal("b")]}});
    check("[a] == 1 nand [b] == 1", both.clone());
    check(
        "[a] == 1 xor [b] == 1",
        json!({"and": [{"or": [equal("a"), equal("b")]}, both]}),
    );
    check(
        "[a] == 1 and [b] == 1 or [c] == 1",
        json!({"or": [{"and": [equal("a"), equal("b")]}, equal("c")]}),
    );
    check(
        "[a][b]",
        json!({"and": [{"regexp": {"a.b": "(?s)."}}, {"not": {"equals": {"a.b": false}}}]}),
    );
    check(
        r#""x" not in [tags]"#,
        json!({"not": {"includes": {"tags": "x"}}}),
    );
    check(r#"[a] in "abc""#, json!({"within": {"a": "abc"}}));
    check("[a] =~ /^{/", json!({"regexp": {"a": "^\\{"}}));
    check(
        r#"[status] >= "400""#,
        json!({"range": {"status": {"gte": 400}}}),
    );
    let many = ["[a] == 1"; 10].join(" xor ");
    let text = format!("filter {{ if {many} {{ drop {{}} }} }}");
    let error = import_pipeline("p.conf", &text).unwrap_err().to_string();
    assert_eq!(error, "p.conf, line 1: there are too many [xor] and [nand]");
}

#[test]
fn a_drop_of_some_of_a_hundred_lets_the_others_through() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    check_filter(
        "drop { percentage => 40 }",
        &json!([{"sample": {"percentage": 60.0, "if": branch}}]),
    );
    check_filter(
        "drop { percentage => 100 }",
        &json!([{"drop": {"if": branch}}]),
    );
}

#[test]
fn cells_without_names_are_numbered_and_heads_are_dropped() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    let tagged = |tag: &str| json!([{"append": {"field": "tags", "value": [tag]}}]);
    check_filter(
        r#"csv { separator => ";" target => "[t][u]" }"#,
        &json!([{"vrl": {
            "source": "for_each(parse_csv!(string!(.\"message\"), delimiter: \";\")) -> |index, cell| { . = set!(., path: [\"t\", \"u\", \"column\" + to_string(index + 1)], data: cell) }",
            "on_failure": tagged("_csvparsefailure"),
            "if": {"and": [branch, {"has_fields": ["message"]}]},
        }}]),
    );
    let head = json!({"and": [{"equals": {"c": "c"}}, {"equals": {"d": "d"}}]});
    check_filter(
        r#"csv { columns => ["c", "d"] skip_header => true autogenerate_column_names => false }"#,
        &json!([
            {"csv": {
                "field": "message", "target_fields": ["c", "d"], "separator": ",", "ignore_missing": true,
                "on_failure": tagged("_csvparsefailure"), "if": branch,
            }},
            {"drop": {"on_failure": tagged("_csvparsefailure"), "if": {"and": [branch, head]}}},
        ]),
    );
}

#[test]
fn xml_of_a_logstash_is_read_as_there() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    let there = json!({"and": [branch, {"has_fields": ["message"]}]});
    let failed = json!([{"append": {"field": "tags", "value": ["_xmlparsefailure"]}}]);
    check_filter(
        r#"xml { source => "message" target => "[doc][all]" }"#,
        &json!([{"xml": {
            "field": "message", "target_field": "doc.all", "keep_root": false,
            "text_field": "content", "lists": true, "empty": "drop",
            "on_failure": failed, "if": there,
        }}]),
    );
    check_filter(
        r#"xml {
            source => "message" store_xml => false force_array => "false" remove_namespaces => true
            xpath => ["/e/System/EventID/text()", "[event][code]", "//Data[@Name='u']/text()", "user"]
            namespaces => { "q" => "urn:q" }
            force_content => true suppress_empty => false parse_options => "strict"
        }"#,
        &json!([{"xml": {
            "field": "message", "keep_root": false, "text_field": "content", "lists": false,
            "empty": "object", "text_objects": true,
            "paths": {
                "/e/System/EventID/text()": "event.code", "//Data[@Name='u']/text()": "user",
            },
            "namespaces": {"q": "urn:q"},
            "on_failure": failed, "if": there,
        }}]),
    );
    // What a path asks for that has no counterpart is told, and nothing is left to do.
    let text = r#"input { stdin {} }
filter { xml { source => "message" store_xml => false xpath => { "id('x')" => "y" } } }
output { stdout {} }"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    let told: Vec<&str> = imported
        .left_out
        .iter()
        .map(|one| one.reason.as_str())
        .collect();
    assert_eq!(
        told,
        ["[xpath] of [y]: [paths] [id('x')] calls [id], which is no function here"]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(config["processors"], Value::Null);
}

#[test]
fn filters_of_a_logstash_that_have_no_step_of_their_name_have_others() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    check_filter(
        r#"cidr { address => ["%{[source][ip]}"] network => ["10.0.0.0/8"] add_tag => ["own"] }"#,
        &json!([{"append": {
            "field": "tags", "value": ["own"],
            "if": {"and": [branch, {"or": [{"network": {"source.ip": ["10.0.0.0/8"]}}]}]},
        }}]),
    );
    check_filter(
        r#"uuid { target => "[event][id]" }"#,
        &json!([{"vrl": {
            "source": r#"."event"."id" = uuid_v4()"#, "ignore_failure": true,
            "if": {"and": [branch, {"not": {"has_fields": ["event.id"]}}]},
        }}]),
    );
    let program = "priority = 13\nif .\"syslog_pri\" != null { priority = to_int(.\"syslog_pri\") ?? 13 }\nseverity = mod(priority, 8)\nfacility = to_int(floor(priority / 8))\n.syslog_severity_code = severity\n.syslog_facility_code = facility\n";
    check_filter(
        "syslog_pri { use_labels => false }",
        &json!([{"vrl": {"source": program, "ignore_failure": true, "if": branch}}]),
    );
}

#[test]
fn filters_of_names_and_of_values_become_steps() {
    let text = r#"
input { stdin {} }
filter {
  mutate { coerce => { "a" => "none" "b" => 3 } capitalize => ["c"] }
  prune { whitelist_names => ["^msg", "tags"] blacklist_values => { "url" => ["^/health", "^/live"] } }
  prune { blacklist_names => ["^tmp_"] whitelist_values => { "kind" => "ok" } }
  bytes { source => "size" target => "count" }
  de_dot { }
  de_dot { fields => ["a.b"] separator => "-" }
  de_dot { nested => true fields => ["c.d"] }
}
output { opensearch { hosts => ["http://os:9200"] auth_type => { type => "basic" user => "jo" password => "x" } } }
"#;
    let imported = import_pipeline("x.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let steps = config["processors"].as_array().unwrap();
    let programs: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["vrl"]["source"].as_str())
        .collect();
    assert_eq!(
        programs,
        [
            r#"if exists(."a") && ."a" == null { ."a" = "none" }"#,
            r#"if exists(."b") && ."b" == null { ."b" = 3 }"#,
            "letters = parse_regex!(string!(.\"c\"), r'(?s)^(?P<first>.)(?P<rest>.*)$')\n.\"c\" = upcase(string!(letters.first)) + downcase(string!(letters.rest))",
            r#". = filter(.) -> |key, _value| { key == "@timestamp" || match(key, r'^msg') || match(key, r'tags') }"#,
            r#". = filter(.) -> |key, _value| { key == "@timestamp" || !(match(key, r'^tmp_')) }"#,
            r#"."count" = to_int(parse_bytes!(string!(."size"), unit: "B", base: "2"))"#,
            r#". = map_keys(.) -> |key| { replace(key, ".", "_") }"#,
            r#". = map_keys(.) -> |key| { if includes(["a.b"], key) { replace(key, ".", "-") } else { key } }"#,
        ]
    );
    let removed: Vec<&Value> = steps
        .iter()
        .filter(|step| step["remove"].is_object())
        .map(|step| &step["remove"])
        .collect();
    assert_eq!(removed.len(), 2, "{}", imported.config);
    assert_eq!(removed[0]["field"], "url");
    assert_eq!(removed[0]["if"]["or"][1]["regexp"]["url"], "^/live");
    assert_eq!(removed[1]["if"]["not"]["or"][0]["regexp"]["kind"], "ok");
    assert!(
        steps
            .iter()
            .any(|step| step["dot_expander"]["field"] == "c.d")
    );
    assert!(imported.config.contains("jo"), "{}", imported.config);
    assert_eq!(imported.told(), Vec::<String>::new());
}

#[test]
fn filters_that_have_no_counterpart_say_why() {
    for (filter, reason) in [
        (
            "aggregate { task_id => \"%{a}\" }",
            "several events together",
        ),
        ("elapsed { start_tag => \"a\" }", "several events together"),
        (
            "geoip { source => \"ip\" }",
            "a pipeline of the server has [geoip]",
        ),
        ("dns { reverse => [\"ip\"] }", "makes no requests"),
        ("split { field => \"a\" }", "a line is one event"),
        ("cipher { mode => \"encrypt\" }", "has no counterpart"),
    ] {
        let text =
            format!("input {{ stdin {{}} }}\nfilter {{ {filter} }}\noutput {{ stdout {{}} }}\n");
        let imported = import_pipeline("x.conf", &text).unwrap();
        let told = imported.told();
        assert!(told.iter().any(|one| one.contains(reason)), "{told:?}");
    }
}

#[test]
fn fingerprints_of_a_logstash_are_made_as_it_makes_them() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    let made = |filter: &str, source: &str| {
        check_filter(
            filter,
            &json!([{"vrl": {"source": source, "ignore_failure": true, "if": branch}}]),
        );
    };
    made(
        "fingerprint { }",
        r#"if exists(."message") { ."fingerprint" = sha1(to_string!(."message")) }"#,
    );
    made(
        r#"fingerprint { source => "[b][c]" target => "[@metadata][id]" method => "SHA256" key => "k" base64encode => true }"#,
        r#"if exists(."b"."c") { ."@metadata"."id" = encode_base64(hmac(to_string!(."b"."c"), "k", algorithm: "SHA-256")) }"#,
    );
    made(
        r#"fingerprint { source => ["z", "[b][c]"] concatenate_sources => true method => "MD5" target => "id" }"#,
        concat!(
            "joined = \"\"\n",
            "joined = joined + \"|[b][c]|\" + to_string!(.\"b\".\"c\")\n",
            "joined = joined + \"|z|\" + to_string!(.\"z\")\n",
            ".\"id\" = md5(joined + \"|\")",
        ),
    );
    made(
        r#"fingerprint { method => "PUNCTUATION" }"#,
        r#"if exists(."message") { ."fingerprint" = replace(to_string!(."message"), r'[A-Za-z0-9 \t]', "") }"#,
    );
}
