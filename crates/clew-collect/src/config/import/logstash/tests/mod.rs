//! A whole pipeline of a Logstash, and what is told of one; its parts lie beside.

mod filters;
mod grok;
mod inputs;
mod outputs;
mod pairs_and_tables;

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
    - d/MMM/yyyy:H:mm:ss Z
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
    lenient: ruby
    on_failure:
    - append:
        field: tags
        value:
        - _mutate_error
    - add:
        field: '@metadata.failed'
        value: 3
    if: &else
- append:
    field: from
    value: '{{#host.name}}{{host.name}}{{/host.name}}{{^host.name}}{{host}}{{/host.name}} via {{a.b}}'
    keep_references: true
    if: &there
- set:
    field: from
    value: '{{#host.name}}{{host.name}}{{/host.name}}{{^host.name}}{{host}}{{/host.name}} via {{a.b}}'
    keep_references: true
    override: false
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

/// The same, and something else.
fn also(other: &str) -> String {
    let inner = ELSE.replacen("\n      and:", "\n      - and:", 1);
    let inner = inner.replace("\n      - not:", "\n        - not:");
    let inner = inner.replace("\n          ", "\n            ");
    format!("\n      and:{inner}{other}")
}

/// Where the filter did not fail.
const DONE: &str = "
      - not:
          equals:
            '@metadata.failed': 3";

/// Where it did not, and there is what a field is added to.
const THERE: &str = "
      - and:
        - not:
            equals:
              '@metadata.failed': 3
        - has_fields:
          - from";

#[test]
fn a_logstash_becomes_a_collector_and_branches_become_conditions() {
    let imported = import_pipeline("p.conf", LOGSTASH).unwrap();
    let expected = FROM_LOGSTASH
        .replace(" &else", ELSE)
        .replace(" &done", &also(DONE))
        .replace(" &there", &also(THERE));
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
    let imported = import_pipeline("p.conf", &text).unwrap();
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
fn what_is_no_pipeline_is_told_with_its_line() {
    let check = |text: &str, expected: &str| {
        let error = import_pipeline("p.conf", text).unwrap_err().to_string();
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
