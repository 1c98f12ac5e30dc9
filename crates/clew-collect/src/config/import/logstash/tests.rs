use super::super::*;

const LOGSTASH: &str = r#"
input {
  file { path => "/var/log/app/*.log" start_position => "beginning" sincedb_path => "/dev/null" type => "app"
         codec => multiline { pattern => "^\s" what => "previous" } }
  # Filebeat comes here.
  beats { port => 5044 }
  redis { key => "a" }
}
filter {
  if [type] == "app" {
    grok { match => { "message" => "%{IP:[source][ip]} %{WORD:verb}" } }
    date { match => ["when", "dd/MMM/yyyy:HH:mm:ss Z", "ISO8601"] }
  } else if "debug" in [tags] or [level] in ["DEBUG", "TRACE"] {
    drop { }
  } else {
    mutate { add_field => { "from" => "%{host} via %{[a][b]}" } remove_field => ["x", "[a][c]"] convert => { "took" => "integer" } }
  }
  if [status] >= 500 and !([message] =~ /^ok/) { ruby { code => "event.cancel" } }
}
output {
  if [level] == "ERROR" { file { path => "/tmp/errors.json" } }
  elasticsearch { hosts => ["es:9200"] index => "app-%{+YYYY.MM.dd}" user => "u" }
}
"#;

const FROM_LOGSTASH: &str = r#"inputs:
- type: file
  parse: plain
  paths:
  - /var/log/app/*.log
  multiline:
    continue: ^\s
  processors:
  - add:
      field: type
      value: app
      override: false
- type: http
  listen: 0.0.0.0:5044
processors:
- grok:
    field: message
    patterns:
    - '%{IP:source.ip} %{WORD:verb}'
    on_failure:
    - append:
        field: tags
        value:
        - _grokparsefailure
    if:
      equals:
        type: app
- date:
    field: when
    formats:
    - d/MMM/yyyy:HH:mm:ss Z
    - ISO8601
    target_field: '@timestamp'
    timezone: Local
    on_failure:
    - append:
        field: tags
        value:
        - _dateparsefailure
    if:
      and:
      - equals:
          type: app
      - has_fields:
        - when
- drop:
    if:
      and:
      - not:
          equals:
            type: app
      - or:
        - includes:
            tags: debug
        - or:
          - equals:
              level: DEBUG
          - equals:
              level: TRACE
- convert:
    field: took
    type: long
    ignore_missing: true
    lenient: true
    on_failure:
    - append:
        field: tags
        value:
        - _mutate_error
    - add:
        field: '@metadata.failed'
        value: 3
    if: &else
- set:
    field: from
    value: '{{host}} via {{a.b}}'
    if: &done
- remove:
    field:
    - x
    - a.c
    ignore_missing: true
    if: &done
outputs:
- type: file
  path: /tmp/errors.json
  when:
    equals:
      level: ERROR
- type: opensearch
  url: http://es:9200
  index: app-%{+YYYY.MM.dd}
"#;

const ELSE: &str = r#"
      and:
      - not:
          equals:
            type: app
      - not:
          or:
          - includes:
              tags: debug
          - or:
            - equals:
                level: DEBUG
            - equals:
                level: TRACE"#;

/// The same, where the filter did not fail.
fn done() -> String {
    let inner = ELSE.replacen("\n      and:", "\n      - and:", 1);
    let inner = inner.replace("\n      - not:", "\n        - not:");
    let inner = inner.replace("\n          ", "\n            ");
    format!(
        "\n      and:{inner}\n      - not:\n          equals:\n            '@metadata.failed': 3"
    )
}

#[test]
fn a_logstash_becomes_a_collector_and_branches_become_conditions() {
    let imported = import_logstash("p.conf", LOGSTASH).unwrap();
    let expected = FROM_LOGSTASH
        .replace(" &else", ELSE)
        .replace(" &done", &done());
    assert_eq!(imported.config, expected);
    let told = imported.told();
    assert_eq!(
        told,
        [
            "line 6: [input.beats] speaks another protocol: Beats reach this input by their output.elasticsearch",
            "line 7: [input.redis] has no counterpart",
            "line 18: [filter.ruby] has no counterpart",
            "line 22: [output.elasticsearch] a login is taken from the variable CLEW_LOGIN (`user:password`)",
        ]
    );
}

/// The steps of a filter of Logstash, as JSON.
#[track_caller]
fn check_filter(filter: &str, expected: &Value) {
    let text = format!(
        "input {{ stdin {{}} }} filter {{ if [a] == 1 {{ {filter} }} }} output {{ stdout {{}} }}"
    );
    let imported = import_logstash("p.conf", &text).unwrap();
    let incomplete: Vec<&LeftOut> = imported
        .left_out
        .iter()
        .filter(|one| one.line.is_none())
        .collect();
    assert!(incomplete.is_empty(), "{filter}: {incomplete:?}");
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(&config["processors"], expected, "{filter}");
}

#[test]
fn filters_of_a_logstash_leave_alone_what_they_would_leave_alone_there() {
    use serde_json::json;
    let branch = json!({"equals": {"a": 1}});
    let there = |field: &str| json!({"and": [branch, {"has_fields": [field]}]});
    let tagged = |tag: &str| json!([{"append": {"field": "tags", "value": [tag]}}]);
    check_filter(
        r#"date { match => ["t", "YYYY-MM-dd'T'HH:mm:ss ZZZ", "UNIX"] timezone => "UTC" }"#,
        &json!([{"date": {
            "field": "t", "formats": ["yyyy-MM-d'T'HH:mm:ss VV", "UNIX"], "target_field": "@timestamp",
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
            {"join": {"field": "l", "separator": "-", "on_failure": tagged("_mutate_error"), "if": there("l")}},
        ]),
    );
    check_filter(
        r#"json { source => "j" tag_on_failure => [] add_tag => ["of_%{[k][l]}"] }"#,
        &json!([
            {"json": {
                "field": "j", "add_to_root": true,
                "on_failure": [{"add": {"field": "@metadata.failed", "value": 0}}], "if": there("j"),
            }},
            {"append": {
                "field": "tags", "value": ["of_{{k.l}}"],
                "if": {"and": [branch, {"and": [
                    {"has_fields": ["j"]}, {"not": {"equals": {"@metadata.failed": 0}}},
                ]}]},
            }},
        ]),
    );
    check_filter(
        r#"mutate { convert => ["n", "integer", "f", "float"] gsub => ["m", "(\d+)", "<\1> $"] }"#,
        &json!([
            {"convert": {
                "field": "n", "type": "long", "ignore_missing": true, "lenient": true,
                "on_failure": tagged("_mutate_error"), "if": branch,
            }},
            {"convert": {
                "field": "f", "type": "double", "ignore_missing": true, "lenient": true,
                "on_failure": tagged("_mutate_error"), "if": branch,
            }},
            {"gsub": {
                "field": "m", "pattern": "(\\d+)", "replacement": "<$1> \\$", "ignore_missing": true,
                "on_failure": tagged("_mutate_error"), "if": branch,
            }},
        ]),
    );
    // Less than everything is not everything.
    check_filter("drop { percentage => 40 }", &Value::Null);
}

#[test]
fn json_of_a_logstash_is_passed_over_in_silence_where_it_says_so() {
    use serde_json::json;
    let branch = json!({"equals": {"a": 1}});
    // What is no JSON gets no field either.
    check_filter(
        r#"json { source => "j" skip_on_invalid_json => true add_field => { "k" => "v" } }"#,
        &json!([
            {"json": {
                "field": "j", "add_to_root": true,
                "on_failure": [{"add": {"field": "@metadata.failed", "value": 0}}], "if": {"and": [branch, {"has_fields": ["j"]}]},
            }},
            {"add": {
                "field": "k", "value": "v",
                "if": {"and": [branch, {"and": [
                    {"has_fields": ["j"]}, {"not": {"equals": {"@metadata.failed": 0}}},
                ]}]},
            }},
        ]),
    );
}

#[test]
fn filters_of_a_logstash_take_texts_apart_as_they_do_there() {
    use serde_json::json;
    let branch = json!({"equals": {"a": 1}});
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
    check_filter(
        r#"csv { columns => ["a", "[b][c]"] separator => ";" quote_char => "'" convert => { "a" => "integer" } }"#,
        &json!([
            {"csv": {
                "field": "message", "target_fields": ["a", "b.c"], "separator": ";", "ignore_missing": true, "quote": "'",
                "on_failure": tagged("_csvparsefailure"), "if": branch,
            }},
            {"convert": {
                "field": "a", "type": "long", "lenient": true, "ignore_missing": true,
                "on_failure": tagged("_csvparsefailure"), "if": branch,
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
fn an_output_of_a_logstash_names_documents_and_is_secured() {
    use serde_json::json;
    let text = r#"
input { stdin {} }
filter { fingerprint { source => ["message"] target => "[@metadata][fp]" } }
output {
  elasticsearch {
    hosts => ["es"] ssl => true cacert => "/ca.pem" index => "%{[app]:none}" document_id => "%{[@metadata][fp]}"
    ssl_verification_mode => "full" http_compression => true
  }
}
"#;
    let imported = import_logstash("p.conf", text).unwrap();
    let told = imported.told();
    assert!(
        told.iter().all(|told| !told.contains("counterpart")),
        "{told:?}"
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let named = json!({"has_fields": ["@metadata.fp"]});
    assert_eq!(
        config["processors"],
        json!([
            {"fingerprint": {"target_field": "@metadata.fp", "ignore_missing": true, "fields": ["message"]}},
            {"set": {"field": "@metadata._id", "value": "{{@metadata.fp}}", "if": named}},
            {"add": {"field": "@metadata.op_type", "value": "index", "if": named}},
        ])
    );
    assert_eq!(
        config["outputs"],
        json!([{
            "type": "opensearch", "url": "https://es:9200", "index": "{{app}}{{^app}}none{{/app}}",
            "tls": {"ca": ["/ca.pem"]}, "compression": "gzip",
        }])
    );
}

#[test]
fn conditions_of_a_logstash_hold_when_they_hold_there() {
    use serde_json::json;
    let check = |condition: &str, expected: Value| {
        let text = format!(
            "input {{ stdin {{}} }} filter {{ if {condition} {{ drop {{}} }} }} output {{ stdout {{}} }}"
        );
        let imported = import_logstash("p.conf", &text).unwrap();
        assert!(imported.left_out.is_empty(), "{:?}", imported.left_out);
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        assert_eq!(
            config["processors"][0]["drop"]["if"], expected,
            "{condition}"
        );
    };
    let equal = |field: &str| json!({"equals": {field: 1}});
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
    let many = ["[a] == 1"; 10].join(" xor ");
    let text = format!("filter {{ if {many} {{ drop {{}} }} }}");
    let error = import_logstash("p.conf", &text).unwrap_err().to_string();
    assert_eq!(error, "p.conf, line 1: there are too many [xor] and [nand]");
}

#[test]
fn codecs_of_a_logstash_and_what_cannot_be_compared() {
    let text = r#"
input {
  file { path => "/a" codec => multiline { pattern => "^%{YEAR}-%{MONTHNUM} " negate => true what => "previous" } }
  file { path => "/b" codec => plain { charset => "ISO-8859-1" } }
  file { path => "/c" codec => plain { charset => "Windows-31J" } }
  udp { port => 514 codec => plain { charset => "CP1252" } }
}
filter {
  if [a] =~ [b] {
    drop { }
  }
  if [a][b] != [c] and [d] in [e] { drop { } }
}
output { stdout { } }
"#;
    let imported = import_logstash("p.conf", text).unwrap();
    let told = imported.told();
    assert_eq!(
        told,
        [
            "line 6: [input.udp] [charset => CP1252] is read as UTF-8",
            "line 10: [if] compares what is not compared here, which never holds",
        ]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let start = config["inputs"][0]["multiline"]["start"].as_str().unwrap();
    let start = regex::Regex::new(start).unwrap();
    assert!(start.is_match("2026-01 a") && !start.is_match(" 2026-01 a"));
    assert_eq!(config["inputs"][1]["encoding"], "latin-1");
    assert_eq!(config["inputs"][2]["encoding"], "shift_jis");
    let condition = serde_json::json!({"and": [
        {"not": {"compare": {"a.b": {"eq": "c"}}}}, {"compare": {"d": {"in": "e"}}},
    ]});
    assert_eq!(config["processors"][1]["drop"]["if"], condition);
}

#[test]
fn anything_is_several_lines_where_events_of_a_logstash_have_some() {
    let text = r#"
input { file { path => "/a" codec => multiline { pattern => "^\s" what => "previous" } } }
filter {
  grok { match => { "message" => ["%{WORD:a.b} %{GREEDYDATA:rest}", "^%{IP:a.b}$", "(?m)x(?<y>.*)", "%{WORD:w}: .+"] } }
}
output { stdout { } }
"#;
    let patterns = |text: &str| {
        let imported = import_logstash("p.conf", text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        config["processors"][0]["grok"]["patterns"].clone()
    };
    let rest = "%{WORD:a.b} %{GREEDYDATA:rest}";
    let expected = |before: &str| {
        serde_json::json!([
            format!("{before}{rest}"),
            "^%{IP:a.b}$",
            "(?m)x(?<y>.*)",
            format!("{before}%{{WORD:w}}: .+"),
        ])
    };
    assert_eq!(patterns(text), expected("(?m)"));
    let of_one_line = "codec => plain { }";
    let start = text.find("codec").unwrap();
    let end = text.find(" } }\nfilter").unwrap();
    let text = format!("{}{of_one_line}{}", &text[..start], &text[end..]);
    assert_eq!(patterns(&text), expected(""));
}

#[test]
fn captures_of_a_logstash_that_are_empty_are_no_fields_unless_it_keeps_them() {
    for (settings, expected) in [
        (
            r#"match => { "message" => "%{DATA:a},%{INT:n}" }"#,
            Some(false),
        ),
        (r#"match => { "message" => "%{SYSLOGLINE}" }"#, Some(false)),
        (r#"match => { "message" => "(?<a>x*)" }"#, Some(false)),
        (r#"match => { "message" => "%{WORD:a} %{INT:n}" }"#, None),
        (
            r#"keep_empty_captures => true match => { "message" => "%{DATA:a}," }"#,
            None,
        ),
    ] {
        let text = format!(
            "input {{ stdin {{ }} }}\nfilter {{ grok {{ {settings} }} }}\noutput {{ stdout {{ }} }}"
        );
        let imported = import_logstash("p.conf", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let keeps = config["processors"][0]["grok"]["keep_empty_captures"].as_bool();
        assert_eq!(keeps, expected, "{settings}");
    }
}

#[test]
fn named_patterns_of_a_logstash_have_the_names_that_are_asked_for() {
    let check = |settings: &str, told: &[&str], has_definitions: bool| {
        let text = format!(
            "input {{ stdin {{ }} }}\nfilter {{ grok {{ {settings} }} }}\noutput {{ stdout {{ }} }}"
        );
        let imported = import_logstash("p.conf", &text).unwrap();
        let found = imported.told();
        assert_eq!(found, told, "{settings}");
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let definitions = &config["processors"][0]["grok"]["pattern_definitions"];
        assert_eq!(definitions.is_object(), has_definitions, "{settings}");
    };
    let access = r#"match => { "message" => "%{COMBINEDAPACHELOG}" }"#;
    let without = "line 2: [filter.grok] [COMBINEDAPACHELOG] gives the names that it has without [ecs_compatibility], which is [v8] for a Logstash of the eighth generation";
    check(access, &[without], false);
    check(
        &format!("{access} ecs_compatibility => disabled"),
        &[],
        false,
    );
    check(&format!("{access} ecs_compatibility => v8"), &[], true);
    let renamed = r#"match => { "message" => "%{HAPROXYHTTP}" } ecs_compatibility => "v8""#;
    check(renamed, &[], true);
    let other = r#"match => { "message" => "%{CISCOFW106001}" } ecs_compatibility => "v8""#;
    check(
        other,
        &[
            "line 2: [filter.grok] [ecs_compatibility => v8]: [CISCOFW106001] gives the names that it had before",
        ],
        false,
    );
    check(
        r#"match => { "message" => "%{WORD:a} %{GREEDYDATA:b}" }"#,
        &[],
        false,
    );
}

#[test]
fn what_is_no_pipeline_is_told_with_its_line() {
    let check = |text: &str, expected: &str| {
        let error = import_logstash("p.conf", text).unwrap_err().to_string();
        assert_eq!(error, format!("p.conf, {expected}"), "{text}");
    };
    check("inputs {}", "line 1: [inputs] is no section");
    check(
        "input {\n file { path => \"a }",
        "line 2: a text has no end",
    );
    check("filter { if [a] == 1 {", "line 1: a name is missing");
    check("filter { if \"a\" { } }", "line 1: a comparison is missing");
    let deep = format!("filter {{ if {}", "!".repeat(100));
    check(&deep, "line 1: too much is inside each other");
}

#[test]
fn inputs_of_a_logstash_say_how_they_are_secured_and_what_they_read() {
    use serde_json::json;
    let text = r#"
input {
  beats { port => 5044 ssl_enabled => true ssl_certificate => "c" ssl_key => "k" ssl_certificate_authorities => ["a"] ssl_client_authentication => "optional" }
  tcp { port => 5000 ssl_enable => true ssl_cert => "c" ssl_key => "k" ssl_verify_mode => "force_peer" }
  http { port => 8080 ssl => false ssl_certificate => "c" ssl_key => "k" user => "u" password => "p" }
  kafka { bootstrap_servers => "k1:9092,k2:9092" topics_pattern => "app-.*" auto_offset_reset => "earliest" consumer_threads => 3 }
}
output { stdout {} }
"#;
    let imported = import_logstash("p.conf", text).unwrap();
    let told: Vec<String> = imported.left_out.iter().map(ToString::to_string).collect();
    let lines: Vec<&LeftOut> = imported
        .left_out
        .iter()
        .filter(|one| one.line.is_some())
        .collect();
    assert_eq!(lines.len(), 1, "{told:?}");
    assert!(told[0].contains("speaks another protocol"), "{told:?}");
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = &config["inputs"];
    assert_eq!(
        inputs[0]["tls"],
        json!({"certificate": "c", "key": "k", "client_ca": ["a"], "client_authentication": "optional"})
    );
    assert_eq!(
        inputs[1]["tls"],
        json!({"certificate": "c", "key": "k", "client_authentication": "required"})
    );
    assert_eq!(inputs[2]["tls"], Value::Null);
    assert_eq!(
        inputs[2]["authentication"],
        json!([{"user": "u", "password": "p"}])
    );
    assert_eq!(
        inputs[3],
        json!({
            "type": "kafka", "parse": "plain", "topics": ["^app-.*"], "brokers": "k1:9092,k2:9092",
            "group_id": "logstash", "offset_reset": "earliest",
        })
    );
}

#[test]
fn filters_of_a_logstash_that_have_no_step_of_their_name_have_others() {
    use serde_json::json;
    let branch = json!({"equals": {"a": 1}});
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
    let imported = import_logstash("x.conf", text).unwrap();
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
    let sizes = steps.iter().find(|step| step["bytes"].is_object()).unwrap();
    assert_eq!(sizes["bytes"]["target_field"], "count");
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
        let imported = import_logstash("x.conf", &text).unwrap();
        let told = imported.told();
        assert!(told.iter().any(|one| one.contains(reason)), "{told:?}");
    }
}

#[test]
fn what_codecs_say_is_not_lost() {
    let text = r#"
input {
  file { path => "/a" mode => "read" codec => json { target => "[doc][said]" } }
  file { path => "/b" codec => multiline { pattern => "^ " what => "previous" auto_flush_interval => 2 odd => 1 } }
  stdin { codec => multiline { pattern => "^ " what => "previous" } }
  unix { path => "/tmp/x.sock" mode => "server" }
  unix { path => "/tmp/y.sock" mode => "client" }
}
output { stdout {} }
"#;
    let imported = import_logstash("x.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = config["inputs"].as_array().unwrap();
    assert_eq!(inputs.len(), 4, "{}", imported.config);
    assert_eq!(inputs[0]["start_at"], Value::Null);
    assert_eq!(
        inputs[0]["processors"][0]["json"]["target_field"],
        "doc.said"
    );
    let failed = &inputs[0]["processors"][0]["json"]["on_failure"][0];
    assert_eq!(failed["append"]["value"][0], "_jsonparsefailure");
    assert_eq!(inputs[1]["multiline"]["timeout_ms"], 2_000);
    assert_eq!(inputs[2]["multiline"], Value::Null);
    assert_eq!(inputs[3]["listen"], "unix:///tmp/x.sock");
    assert_eq!(
        imported.told(),
        [
            "line 4: [input.file.codec] [odd] has no counterpart",
            "line 5: [input.stdin] lines that are sent are not joined: only files have [multiline]",
            "line 7: [input.unix] has no counterpart",
        ]
    );
}

#[test]
fn clients_of_kafka_log_in_as_java_has_it() {
    let text = r#"
input { kafka { bootstrap_servers => "k:9092" topics => ["a"] security_protocol => "SASL_SSL" sasl_mechanism => "PLAIN"
  sasl_jaas_config => 'org.apache.kafka.common.security.plain.PlainLoginModule required username="jo" password="x";' } }
output { kafka { bootstrap_servers => "k:9092" topic_id => "b" security_protocol => "SSL" } }
"#;
    let imported = import_logstash("x.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(config["inputs"][0]["properties"]["sasl.username"], "jo");
    let protocol = |one: &Value| one["properties"]["security.protocol"].clone();
    assert_eq!(protocol(&config["inputs"][0]), "sasl_ssl");
    assert_eq!(protocol(&config["outputs"][0]), "ssl");
    assert_eq!(config["inputs"][0]["properties"]["sasl.mechanism"], "PLAIN");
}
