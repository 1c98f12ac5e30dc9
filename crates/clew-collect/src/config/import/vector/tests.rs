use serde_json::json;

use super::super::{import_vector, is_of_vector};
use super::*;

/// What a text becomes, and what is told of it.
fn imported(text: &str) -> (Value, Vec<String>) {
    let imported = import_vector("v", text).unwrap();
    let told = imported.told();
    (serde_yaml_ng::from_str(&imported.config).unwrap(), told)
}

const YAML: &str = r#"
data_dir: /var/lib/vector
api: {enabled: true}
sources:
  app:
    type: file
    include: ["/var/log/app/*.log"]
    exclude: ["*.gz"]
    read_from: end
    ignore_older_secs: 600
    multiline: {start_pattern: '^\d', mode: halt_before, condition_pattern: '^\d', timeout_ms: 1000}
  figures:
    type: internal_metrics
transforms:
  parsed:
    type: remap
    inputs: [app]
    source: |
      . |= parse_logfmt!(.message)
      .year = format_timestamp!(.timestamp, "%Y")
  loud:
    type: filter
    inputs: [parsed]
    condition: '.level != "debug"'
  some:
    type: sample
    inputs: ["lou*"]
    rate: 10
sinks:
  search:
    type: elasticsearch
    inputs: [some]
    endpoints: ["https://es:9200", "https://other:9200"]
    mode: bulk
    bulk: {index: "logs-{{ service }}-%Y.%m.%d"}
    auth: {strategy: basic, user: u, password: "${PASSWORD:-x}"}
    tls: {ca_file: /etc/ca.pem, verify_hostname: false}
    compression: gzip
    healthcheck: {enabled: false}
    acme: 1
  lost:
    type: loki
    inputs: [some]
"#;

#[test]
fn sources_transforms_and_sinks_become_inputs_processors_and_outputs() {
    assert!(is_of_vector(YAML));
    assert!(is_of_vector(
        "sources: {a: {type: stdin}}\nsinks: # to one place\n"
    ));
    assert!(!is_of_vector("a:\n  sources:\n  sinks:\n"));
    let (config, told) = imported(YAML);
    assert_eq!(
        told,
        [
            "line 12: [sources.figures] has no counterpart",
            "line 30: [sinks.search] events go to the first of [endpoints] only",
            "line 30: [sinks.search] [acme] has no counterpart",
            "line 41: [sinks.lost] has no counterpart",
        ]
    );
    assert_eq!(config["registry"], "/var/lib/vector/clew-registry.json");
    let input = &config["inputs"][0];
    assert_eq!(input["paths"], json!(["/var/log/app/*.log"]));
    assert_eq!(
        (
            &input["start_at"],
            &input["ignore_older_s"],
            &input["exclude"]
        ),
        (&json!("end"), &json!(600), &json!(["*.gz"]))
    );
    assert_eq!(
        input["multiline"],
        json!({"start": r"^\d", "timeout_ms": 1000})
    );
    let steps = input["processors"].as_array().unwrap();
    assert_eq!(steps.len(), 3);
    let program = steps[0]["vrl"]["source"].as_str().unwrap();
    assert!(program.starts_with(
        "time_of_event = .@timestamp\n.timestamp = timestamp(.@timestamp) ?? now()\n"
    ));
    assert!(
        program.contains(".message = string(.message) ?? \"\"\n. |= parse_logfmt!(.message)\n")
    );
    assert!(program.contains("if is_timestamp(.timestamp) { .@timestamp = del(.timestamp) }\n"));
    assert_eq!(
        steps[1],
        json!({"vrl": {
            "source": "is_kept = {\n.level != \"debug\"\n}\nif !is_kept { abort }\n", "drop_on_error": true,
        }})
    );
    assert_eq!(steps[2], json!({"sample": {"one_in": 10}}));
    assert_eq!(
        config["outputs"],
        json!([{
            "type": "opensearch", "url": "https://es:9200",
            "tls": {"ca": "/etc/ca.pem", "verification": "certificate"},
            "index": "logs-{{service}}-%{+yyyy.MM.dd}", "compression": "gzip",
            "authentication": {"user": "u", "password": "${PASSWORD:x}"},
        }])
    );
}

const TOML: &str = r#"
[sources.a]
type = "stdin"
[sources.b]
type = "socket"
mode = "udp"
address = "0.0.0.0:9000"
decoding.codec = "json"

[transforms.ways]
type = "route"
inputs = ["a"]
[transforms.ways.route]
bad = '.status == 500'
odd = { type = "vrl", source = 'exists(.odd)' }

[transforms.told]
type = "remap"
inputs = ["ways.bad"]
source = '''
.bad = true
'''

[transforms.seldom]
type = "filter"
inputs = ["b"]
condition = "true"

[sinks.bad]
type = "file"
inputs = ["told"]
path = "/tmp/bad.json"
[sinks.rest]
type = "console"
inputs = ["ways._unmatched", "b"]
encoding.codec = "json"
[sinks.few]
type = "http"
inputs = ["seldom"]
uri = "http://x/y"
"#;

#[test]
fn branches_have_marks_and_outputs_conditions() {
    assert!(is_of_vector(TOML));
    let (config, told) = imported(TOML);
    assert_eq!(told, Vec::<String>::new());
    let is = |mark: &str| json!({"equals": {(format!("@metadata.{mark}")): true}});
    let of = |source: &str| json!({"equals": {"@metadata.source": source}});
    let (a, b) = (&config["inputs"][0], &config["inputs"][1]);
    assert_eq!(
        a["processors"],
        json!([
            {"vrl": {
                "source": "if {\n.status == 500\n} { .@metadata.passed_ways_bad = true }\n", "ignore_failure": true,
            }},
            {"vrl": {
                "source": "if {\nexists(.odd)\n} { .@metadata.passed_ways_odd = true }\n", "ignore_failure": true,
            }},
            {"vrl": {"source": ".bad = true\n", "if": is("passed_ways_bad")}},
            {"add": {"field": "@metadata.source", "value": "a"}},
        ])
    );
    assert_eq!(b["listen"], "udp://0.0.0.0:9000");
    // Others read beside the filter: it marks what it lets through.
    assert_eq!(
        b["processors"][1],
        json!({"vrl": {
            "source": "if {\ntrue\n} { .@metadata.passed_seldom = true }\n", "ignore_failure": true,
        }})
    );
    let outputs = config["outputs"].as_array().unwrap();
    let conditions: Vec<&Value> = outputs.iter().map(|output| &output["when"]).collect();
    let unmatched = json!({"not": {"or": [is("passed_ways_bad"), is("passed_ways_odd")]}});
    assert_eq!(
        conditions,
        [
            &json!({"and": [of("a"), is("passed_ways_bad")]}),
            &json!({"or": [{"and": [of("a"), unmatched]}, of("b")]}),
            &json!({"and": [of("b"), is("passed_seldom")]}),
        ]
    );
}

#[test]
fn variables_have_what_stands_for_them() {
    for (written, expected) in [
        ("${A:-b c} ${A-b}", "${A:b c} ${A:b}"),
        ("${A} $B ${A:?is not set}x", "${A} $B ${A}x"),
        ("${", "${"),
    ] {
        assert_eq!(with_our_variables(written), expected);
    }
}

#[test]
fn what_is_neither_yaml_nor_toml_is_told_with_its_line() {
    let error = import_vector("v", "[sources.a]\ntype = 'file'\ninclude = [").unwrap_err();
    assert_eq!(
        (error.line, error.reason.as_str()),
        (Some(3), "a value is missing")
    );
    assert!(import_vector("v", "- 1").is_err());
}

#[test]
fn what_sinks_write_otherwise_and_sources_read_otherwise_is_told() {
    let (config, told) = imported(
        r#"
sources:
  lines: {type: stdin, decoding: {codec: gelf}}
  read: {type: docker_logs, multiline: {mode: continue_through, start_pattern: '^\S', condition_pattern: '^\s', timeout_ms: 5}}
sinks:
  http: {type: http, inputs: [lines], uri: 'http://h/{{ x }}', method: put, encoding: {codec: text, only_fields: [a], except_fields: [b]}}
  shown: {type: console, inputs: [read], encoding: {codec: json, timestamp_format: unix}}
"#,
    );
    assert_eq!(
        config["inputs"][1]["multiline"],
        json!({"continue": r"^\s", "timeout_ms": 5})
    );
    for expected in [
        "[decoding.codec gelf] has no counterpart",
        "[uri] depends on the event, [http://h/{{ x }}]: one address is sent to",
        "[method put]: events are posted",
        "[encoding.codec text]: events are written as JSON",
        "[encoding.only_fields]: events are written with all of their fields",
        "[encoding.except_fields]: events are written with all of their fields",
        "[encoding.timestamp_format unix]: times are written as RFC 3339",
    ] {
        assert!(
            told.iter().any(|one| one.ends_with(expected)),
            "{expected}: {told:?}"
        );
    }
}
