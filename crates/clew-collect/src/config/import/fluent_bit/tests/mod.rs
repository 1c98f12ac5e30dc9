//! Whole configurations of a Fluent Bit; its filters lie beside.

mod filters;

use serde_json::json;

use super::super::{import_fluent_bit, is_of_fluent_bit};
use super::*;

/// What a text becomes, and what is told of it.
fn imported(text: &str) -> (Value, Vec<String>) {
    let imported = import_fluent_bit("f", text).unwrap();
    let told = imported.told();
    (serde_yaml_ng::from_str(&imported.config).unwrap(), told)
}

const CLASSIC: &str = r"
@SET folder=/var/log
[SERVICE]
    Flush        1
    HTTP_Server  On
    HTTP_Listen  127.0.0.1
[INPUT]
    Name         tail
    Tag          kube.*
    Path         ${folder}/containers/*.log, /var/log/b.log
    Exclude_Path *.gz
    multiline.parser docker, cri
    Read_from_Head on
    DB           /var/lib/tail.db
[INPUT]
    Name         tail
    Path         /var/log/app.log
    Tag          app
    Parser       app
[INPUT]
    Name         cpu
    Tag          cpu
[PARSER]
    Name         app
    Format       regex
    Regex        ^(?<time>[^ ]+) (?<level>\w+) (?<took>\d+) {(?<text>.*)$
    Time_Key     time
    Time_Format  %Y-%m-%dT%H:%M:%S.%L%z
    Time_Offset  +0200
    Types        took:integer level:string
[FILTER]
    Name         grep
    Match        kube.*
    Exclude      $kubernetes['namespace'] ^kube-
    Regex        log .
[FILTER]
    Name         modify
    Match        app
    Condition    Key_value_equals level DEBUG
    Rename       text said
    Set          quiet yes
[FILTER]
    Name         lua
    Match        *
[OUTPUT]
    Name         opensearch
    Match        *
    Host         search
    tls          On
    tls.verify   Off
    Logstash_Format On
    Logstash_Prefix shop
    HTTP_User    u
    Suppress_Type_Name On
[OUTPUT]
    Name         stdout
    Match        app
";

#[test]
fn sections_become_inputs_with_the_filters_of_their_tags_and_outputs_with_conditions() {
    assert!(is_of_fluent_bit(CLASSIC));
    let (config, told) = imported(CLASSIC);
    assert_eq!(
        told,
        [
            "line 20: [input.cpu] has no counterpart",
            "line 42: [filter.lua] has no counterpart",
            "line 45: [output.opensearch] a login is taken from the variable CLEW_LOGIN (`user:password`)",
        ]
    );
    assert_eq!(config["metrics"]["listen"], "127.0.0.1:2020");
    let containers = &config["inputs"][0];
    assert_eq!(
        containers["paths"],
        json!(["/var/log/containers/*.log", "/var/log/b.log"])
    );
    assert_eq!(containers["exclude"], json!(["*.gz"]));
    assert_eq!(containers["wrapping"], "container");
    assert_eq!(containers["start_at"], Value::Null);
    assert_eq!(
        containers["processors"],
        json!([
            {"drop": {"if": {"not": {"and": [{"regexp": {"message": "."}}]}}}},
            {"drop": {"if": {"or": [{"regexp": {"kubernetes.namespace": "^kube-"}}]}}},
            {"add": {"field": "@metadata.tag", "value": "kube.*"}},
        ])
    );
    let app = &config["inputs"][1];
    assert_eq!(app["start_at"], "end");
    let is_debug = json!({"equals": {"level": "DEBUG"}});
    assert_eq!(
        app["processors"],
        json!([
            {"rename": {"field": "message", "target_field": "@metadata.raw", "ignore_missing": true}},
            {"regex": {
                "pattern": r"^(?<time>[^ ]+) (?<level>\w+) (?<took>\d+) \{(?<text>.*)$",
                "field": "@metadata.raw", "if": {"has_fields": ["@metadata.raw"]},
                "on_failure": [{"rename": {"field": "@metadata.raw", "target_field": "message"}}],
            }},
            {"date": {
                "field": "time", "formats": ["%Y-%m-%dT%H:%M:%S.%L%z"], "if": {"has_fields": ["time"]},
                "ignore_failure": true, "timezone": "+02:00",
            }},
            {"remove": {"field": "time", "ignore_missing": true}},
            {"convert": {"field": "took", "type": "long", "ignore_missing": true, "ignore_failure": true}},
            {"remove": {"field": "@metadata.raw", "ignore_missing": true}},
            {"rename": {"field": "text", "target_field": "said", "if": {"and": [
                is_debug, {"and": [{"has_fields": ["text"]}, {"not": {"has_fields": ["said"]}}]},
            ]}}},
            {"add": {"field": "quiet", "value": "yes", "if": is_debug}},
            {"add": {"field": "@metadata.tag", "value": "app"}},
        ])
    );
    assert_eq!(
        config["outputs"],
        json!([
            {
                "type": "opensearch", "url": "https://search:9200", "tls": {"verification": "none"},
                "index": "shop-%{+yyyy.MM.dd}",
            },
            {"type": "stdout", "when": {"or": [{"equals": {"@metadata.tag": "app"}}]}},
        ])
    );
}

#[test]
fn yaml_has_the_same_sections() {
    let text = r#"
service: {flush: 1}
parsers:
  - {name: mine, format: json, time_key: ts, time_format: "%s"}
multiline_parsers:
  - name: begins
    flush_timeout: 1000
    rules:
      - {state: start_state, regex: '/^\d/', next_state: cont}
      - {state: cont, regex: '/^ /', next_state: cont}
pipeline:
  inputs:
    - {name: tail, path: /a.log, tag: a, multiline.parser: begins, read_from_head: true}
    - {name: syslog, mode: udp, port: 5140, tag: s}
    - {name: http, port: 9880, tag: h}
  filters:
    - {name: parser, match: a, key_name: log, parser: mine, preserve_key: true}
    - name: record_modifier
      match: '*'
      record: [env prod, team blue]
      remove_key: secret
    - {name: nest, match: h, operation: nest, wildcard: 'a_*', nest_under: a}
    - {name: parser, match: s, key_name: log, parser: theirs}
  outputs:
    - {name: es, match: '*', host: es, index: logs, compress: gzip, id_key: key}
    - {name: http, match: 'none.*', host: x}
    - {name: loki, match: '*'}
"#;
    assert!(is_of_fluent_bit(text));
    let (config, told) = imported(text);
    assert_eq!(
        told,
        [
            "line 23: [filter.parser] [theirs] is a parser that is not defined here",
            "line 26: [output.http] takes no input's tag, and is left out",
            "line 27: [output.loki] has no counterpart",
        ]
    );
    let inputs = &config["inputs"];
    assert_eq!(
        inputs[0]["multiline"],
        json!({"continue": "^ ", "timeout_ms": 1000})
    );
    let steps = inputs[0]["processors"].as_array().unwrap();
    assert_eq!(steps[1]["json"]["add_to_root"], true);
    assert_eq!(steps[4]["rename"]["target_field"], "message");
    assert_eq!(steps[6], json!({"add": {"field": "env", "value": "prod"}}));
    assert_eq!(inputs[1]["listen"], "udp://0.0.0.0:5140");
    assert_eq!(inputs[2]["listen"], "0.0.0.0:9880");
    assert!(inputs[2]["processors"][3]["vrl"]["source"].is_string());
    assert_eq!(
        config["outputs"],
        json!([{"type": "opensearch", "url": "http://es:9200", "index": "logs", "compression": "gzip"}])
    );
    assert_eq!(
        config["processors"][0]["copy"]["target_field"],
        "@metadata._id"
    );
}

#[test]
fn lines_of_a_fluent_bit_are_joined_by_its_rules() {
    let joined = |definitions: &str, input: &str| {
        let (config, told) = imported(&format!(
            "{definitions}[INPUT]\n Name tail\n Path /a\n Read_from_Head On\n{input}[OUTPUT]\n Name stdout\n"
        ));
        let input = &config["inputs"][0];
        let found = (input["multiline"].clone(), input["wrapping"].clone());
        (found, told.len())
    };
    let rules = |rules: &[&str]| {
        let rules: String = rules.iter().map(|rule| format!(" rule {rule}\n")).collect();
        let definition = format!("[MULTILINE_PARSER]\n name m\n type regex\n{rules}");
        joined(&definition, " multiline.parser m\n")
    };
    let start = r#""start_state" "/^\d/" "cont""#;
    let none = Value::Null;
    for (given, expected, told) in [
        (vec![start], json!({"start": r"^\d"}), 0),
        (
            vec![start, r#""cont" "/^\s+at/" "cont""#],
            json!({"continue": r"^\s+at"}),
            0,
        ),
        (
            vec![start, r#""cont" "/^ /" "by""#, r#""by" "/^by/" "cont""#],
            json!({"continue": "(?:^ )|(?:^by)"}),
            1,
        ),
        // What no expression here can say is left to what begins an event.
        (
            vec![start, r#""cont" "/^(?!\d)/" "cont""#],
            json!({"start": r"^\d"}),
            0,
        ),
    ] {
        assert_eq!(rules(&given), ((expected, none.clone()), told), "{given:?}");
    }
    let parser = "[PARSER]\n Name p\n Format regex\n Regex /^(?<t>\\d+)/\n";
    let first = " Multiline On\n Parser_Firstline p\n Multiline_Flush 3\n";
    let start = json!({"start": r"^(?<t>\d+)", "timeout_ms": 3000});
    assert_eq!(joined(parser, first), ((start, none.clone()), 1));
    let docker = " Parser docker\n Docker_Mode On\n Docker_Mode_Flush 4\n";
    assert_eq!(joined("", docker), ((none, json!("docker")), 0));
    let yaml = "pipeline:\n  inputs:\n  - {name: tail, path: [/a, /b], multiline.parser: [docker, cri, java]}\n  outputs:\n  - {name: stdout}\n";
    let (config, _) = imported(yaml);
    let input = &config["inputs"][0];
    assert_eq!(input["paths"], json!(["/a", "/b"]));
    assert_eq!(input["wrapping"], "container");
    assert_eq!(input["multiline"], json!({"preset": "java"}));
}

#[test]
fn listeners_of_a_fluent_bit_are_secured_and_what_outputs_write_otherwise_is_told() {
    let text = "\
[INPUT]
    Name tcp
    Tls On
    Tls.crt_file /c
    Tls.key_file /k
    Tls.ca_file /ca
[FILTER]
    Name type_converter
    Match *
    Str_key a b integer
[OUTPUT]
    Name es
    Match *
    Index app-%Y.%m
    Time_Key ts
[OUTPUT]
    Name http
    Match *
    Format json_lines
    Json_Date_Key when
[OUTPUT]
    Name file
    Match *
    Format csv
";
    let (config, told) = imported(text);
    let input = &config["inputs"][0];
    assert_eq!(input["tls"], json!({"certificate": "/c", "key": "/k"}));
    assert_eq!(input["processors"][1]["convert"]["type"], "long");
    assert_eq!(config["outputs"][0]["index"], "app-%{+yyyy.MM}");
    for expected in [
        "[time_key ts]: the time is in [@timestamp]",
        "[json_date_key when]: the time is in [@timestamp]",
        "[format csv]: events are written as JSON",
    ] {
        assert!(
            told.iter().any(|one| one.contains(expected)),
            "{expected}: {told:?}"
        );
    }
}

#[test]
fn what_is_of_others_is_not_taken_for_it() {
    assert!(!is_of_fluent_bit("filebeat.inputs:\n- type: log\n"));
    assert!(!is_of_fluent_bit(
        "input { stdin { } }\nfilter { if [input] { drop { } } }"
    ));
    assert!(import_fluent_bit("f", "- 1").is_err());
}

#[test]
fn a_filter_that_nests_nothing_becomes_no_program() {
    let (config, told) = imported(
        "[INPUT]\n Name stdin\n[FILTER]\n Name nest\n Match *\n Operation nest\n Nest_under a\n[OUTPUT]\n Name stdout\n",
    );
    assert_eq!(config["inputs"][0].get("processors"), None);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("it has no [wildcard]"));
}

#[test]
fn expressions_of_parsers_may_stand_between_slashes_and_times_end_early() {
    let step = |parser: &str, name: &str| {
        let text = format!(
            "[PARSER]\n    Name p\n{parser}[INPUT]\n    Name tail\n    Path /a\n    Parser p\n[OUTPUT]\n    Name stdout\n"
        );
        let imported = import_fluent_bit("f.conf", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let steps = config["inputs"][0]["processors"].as_array().unwrap();
        let found = steps.iter().find_map(|step| step.get(name));
        (found.cloned(), imported.left_out.len())
    };
    for (regex, expected) in [
        ("/^(?<a>x)$/", "^(?<a>x)$"),
        ("/^(?<a>x.)/mi", "(?si)^(?<a>x.)"),
        ("^/(?<a>x)/", "^/(?<a>x)/"),
        ("/(?<a>x)/y", "/(?<a>x)/y"),
    ] {
        let (found, told) = step(&format!("    Format regex\n    Regex {regex}\n"), "regex");
        assert_eq!(found.unwrap()["pattern"], expected, "{regex}");
        assert_eq!(told, 0, "{regex}");
    }
    for (format, expected) in [
        (
            "%Y-%m-%dT%H:%M:%S.%L",
            json!(["%Y-%m-%dT%H:%M:%S.%L", "%Y-%m-%dT%H:%M:%S.%L%z"]),
        ),
        ("%d/%b/%Y:%H:%M:%S %z", json!(["%d/%b/%Y:%H:%M:%S %z"])),
    ] {
        let (found, _) = step(
            &format!("    Format json\n    Time_Format {format}\n"),
            "date",
        );
        assert_eq!(found.unwrap()["formats"], expected);
    }
    let parser = "    Format json\n    Time_Format %H:%M:%S\n    Types a:hex\n";
    assert_eq!(step(parser, "date"), (None, 1));
    let (program, _) = step(parser, "vrl");
    let program = program.unwrap_or_default();
    assert_eq!(
        program["source"],
        r#"."a" = parse_int!(replace(string!(."a"), r'^0[xX]', ""), base: 16)"#
    );
}
