//! Processors of a Filebeat as steps.

use super::*;

#[test]
fn what_cef_says_goes_where_it_is_asked_to() {
    let text = "\
filebeat.inputs: [{type: filestream, paths: [/x]}]
processors:
- decode_cef: {target_field: fw.said, ecs: false}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let rename = &config["processors"][1]["rename"];
    assert_eq!(
        (&rename["field"], &rename["target_field"]),
        (&Value::from("cef"), &Value::from("fw.said"))
    );
    let told = imported.told();
    assert!(
        told.iter().any(|one| one.contains("decode_cef.ecs")),
        "{told:?}"
    );
}

#[test]
fn ids_are_added_where_a_field_is_named_and_cef_is_taken_apart() {
    let text = "\
filebeat.inputs: [{type: filestream, paths: [/x]}]
processors:
- add_id: {target_field: event.id}
- add_id: ~
- decode_cef: {field: raw, ignore_missing: true}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let processors = config["processors"].as_array().unwrap();
    assert_eq!(processors.len(), 2, "{}", imported.config);
    assert_eq!(
        processors[0]["vrl"]["source"],
        r#"."event"."id" = uuid_v4()"#
    );
    assert_eq!(
        processors[1]["parse"],
        serde_json::json!({"field": "raw", "format": "cef", "ignore_missing": true, "ignore_failure": true})
    );
    let told: Vec<String> = imported.left_out.iter().map(ToString::to_string).collect();
    assert!(
        told.iter().any(|one| one.contains("events have ids here")),
        "{told:?}"
    );
}

#[test]
fn syslog_of_filebeat_becomes_the_step_parse() {
    let text = "\
filebeat.inputs:
- type: filestream
  paths: [/a]
  parsers:
  - syslog: {format: rfc3164, timezone: Local}
processors:
- syslog: {field: said, timezone: Europe/Berlin, ignore_missing: true}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    for expected in [
        "  - parse:\n      field: message\n      format: syslog\n",
        "- parse:\n    field: said\n    format: syslog\n    timezone: Europe/Berlin\n    ignore_missing: true\n    ignore_failure: true\n",
    ] {
        assert!(imported.config.contains(expected), "{}", imported.config);
    }
    let lines: Vec<Option<usize>> = imported.left_out.iter().map(|one| one.line).collect();
    assert_eq!(lines, [Some(5), Some(7)]);
}

/// The processors of a Filebeat, as ours, and how much is told of them.
#[track_caller]
pub(super) fn check_processors(given: &str, expected: &Value, told: usize) {
    let text = format!(
        "filebeat.inputs: [{{type: stdin}}]\nprocessors: [{given}]\noutput.console: {{}}\n"
    );
    let imported = import_filebeat("f.yml", &text).unwrap();
    assert_eq!(imported.left_out.len(), told, "{:?}", imported.left_out);
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(&config["processors"], expected, "{given}");
}

/// What an event says where a processor failed.
fn told(message: &str) -> Value {
    serde_json::json!([{"add": {"field": "error.message", "value": message}}])
}

#[test]
fn processors_of_a_filebeat_do_what_they_are_told_by_their_options() {
    use serde_json::json;
    let flagged = json!([{"append": {"field": "log.flags", "value": ["dissect_parsing_error"]}}]);
    let check = check_processors;
    check(
        "{if: {equals: {a: 1}}, then: [{drop_event: ~}], else: {add_tags: {tags: [t], when.has_fields: [b]}}}",
        &json!([
            {"drop": {"if": {"is": {"a": 1}}}},
            {"append": {"field": "tags", "value": ["t"], "if": {"and": [
                {"not": {"is": {"a": 1}}}, {"has_fields": ["b"]},
            ]}}},
        ]),
        0,
    );
    check(
        "{dissect: {tokenizer: '%{a|long} %{b}', target_prefix: '', trim_values: all}}",
        &json!([
            {"dissect": {
                "field": "message", "pattern": "%{a} %{b}", "on_failure": flagged,
                "if": {"not": {"or": [{"has_fields": ["a"]}, {"has_fields": ["b"]}]}},
            }},
            {"trim": {"field": "a", "ignore_missing": true}},
            {"trim": {"field": "b", "ignore_missing": true}},
            {"convert": {
                "field": "a", "type": "long", "lenient": "go", "ignore_missing": true,
                "ignore_failure": true,
            }},
        ]),
        0,
    );
    check(
        "{dissect: {tokenizer: '%{t} %{+t} %{?k}=%{&k}', ignore_failure: true}}",
        &json!([{"dissect": {
            "field": "message", "pattern": "%{dissect.t} %{+dissect.t} %{*k}=%{&k}", "append_separator": " ",
            "on_failure": flagged,
        }}]),
        1,
    );
    check(
        "{decode_json_fields: {fields: [a], target: '', document_id: k}}",
        &json!([
            {"json": {
                "field": "a", "add_to_root": true, "overwrite": false, "ignore_failure": true,
                "if": {"has_fields": ["a"]},
            }},
            {"rename": {
                "field": "k", "target_field": "@metadata._id", "ignore_missing": true, "ignore_failure": true,
            }},
        ]),
        0,
    );
    check(
        "{uppercase: {fields: [a], ignore_missing: true, when.regexp.a: '^{'}}",
        &json!([{"uppercase": {
            "field": "a", "ignore_missing": true, "if": {"regexp": {"a": "^\\{"}}, "ignore_failure": true,
        }}]),
        0,
    );
}

#[test]
fn processors_of_a_filebeat_change_fields_and_go_on_after_failures() {
    use serde_json::json;
    let check = check_processors;
    let mark = "@metadata.unconverted";
    check(
        "{convert: {fields: [{from: a, to: b, type: long}, {from: c, to: d}], mode: rename}}",
        &json!([
            {"convert": {
                "field": "a", "target_field": "b", "type": "long", "lenient": "go",
                "on_failure": [{"add": {"field": mark, "value": "a"}}],
            }},
            {"remove": {
                "field": "a", "ignore_missing": true, "if": {"not": {"equals": {mark: "a"}}},
            }},
            {"remove": {"field": mark, "ignore_missing": true}},
            {"rename": {"field": "c", "target_field": "d", "ignore_failure": true}},
        ]),
        0,
    );
    check(
        "{drop_event.when.equals: {a: x, b: '200', c: true}}",
        &json!([{"drop": {"if": {"and": [
            {"equals": {"a": "x"}}, {"is": {"b": "200", "c": true}},
        ]}}}]),
        0,
    );
    check(
        "{timestamp: {field: t, layouts: [UNIX], timezone: Local, ignore_missing: true, when.equals.a: 1}}",
        &json!([{"date": {
            "field": "t", "formats": ["UNIX"], "target_field": "@timestamp", "timezone": "Local",
            "ignore_failure": true,
            "if": {"and": [{"is": {"a": 1}}, {"has_fields": ["t"]}]},
        }}]),
        0,
    );
    check(
        "{drop_event.when.network: {source.ip: [private, 192.0.2.0/24]}}",
        &json!([{"drop": {"if": {"network": {"source.ip": ["private", "192.0.2.0/24"]}}}}]),
        0,
    );
    check(
        "{replace: {fields: [{field: f, pattern: a, replacement: b}]}}",
        &json!([{"gsub": {
            "field": "f", "pattern": "a", "replacement": "b", "ignore_missing": false,
            "on_failure": told("Failed to replace fields in processor"),
        }}]),
        0,
    );
}

#[test]
fn processors_that_decode_become_steps() {
    let text = "\
filebeat.inputs: [{type: filestream, paths: [/x]}]
processors:
- decode_base64_field: {field: {from: a, to: b}}
- decompress_gzip_field: {field: {from: c, to: d}}
- decode_duration: {field: took, format: seconds}
- move_fields: {from: app, fields: [method, error], to: 'rpc.'}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let steps = config["processors"].as_array().unwrap();
    assert_eq!(steps.len(), 5, "{}", imported.config);
    assert_eq!(
        steps[0]["vrl"]["source"],
        r#"."b" = decode_base64!(string!(."a"))"#
    );
    assert_eq!(
        steps[1]["vrl"]["source"],
        r#"."d" = decode_gzip!(string!(."c"))"#
    );
    assert_eq!(
        (
            &steps[2]["duration"]["field"],
            &steps[2]["duration"]["unit"]
        ),
        (&Value::from("took"), &Value::from("s"))
    );
    assert_eq!(steps[2]["duration"]["ignore_failure"], true);
    assert_eq!(steps[3]["rename"]["ignore_failure"], true);
    assert_eq!(steps[3]["rename"]["field"], "app.method");
    assert_eq!(steps[4]["rename"]["target_field"], "rpc.error");
    assert_eq!(imported.told(), Vec::<String>::new());
}

#[test]
fn fields_of_a_filebeat_are_named_by_patterns_and_moved_to_what_was_found_here() {
    use serde_json::json;
    let check = check_processors;
    let others = r#". = unflatten(filter(flatten(.)) -> |key, _value| { key == "@timestamp" || !(match(key, r'^tmp_')) })"#;
    check(
        "{drop_fields: {fields: [a, '/^tmp_/']}}",
        &json!([
            {"remove": {"field": ["a"], "ignore_missing": true}},
            {"vrl": {"source": others, "ignore_failure": true}},
        ]),
        0,
    );
    let fitting = r#". = unflatten(filter(flatten(.)) -> |key, _value| { key == "@timestamp" || key == "a" || starts_with(key, "a.") || match(key, r'^k\{') })"#;
    check(
        "{include_fields: {fields: [a, '/^k{/']}}",
        &json!([{"vrl": {"source": fitting, "ignore_failure": true}}]),
        0,
    );
    check(
        "{include_fields: {fields: [a]}}",
        &json!([{"keep": {"field": ["a", "@timestamp"]}}]),
        0,
    );
    check(
        "{rename: {fields: [{from: level, to: log.level}], ignore_missing: true}}",
        &json!([
            {"remove": {"field": "log.level", "ignore_missing": true, "if": {"has_fields": ["level"]}}},
            {"rename": {
                "field": "level", "target_field": "log.level", "ignore_missing": true,
                "on_failure": told("Failed to rename fields in processor"),
            }},
        ]),
        0,
    );
    check(
        "{decode_json_fields: {fields: [a], max_depth: 1, add_error_key: true}}",
        &json!([{"json": {
            "field": "a", "target_field": "a", "if": {"has_fields": ["a"]}, "on_failure": [
                {"add": {"field": "error.message", "value": "parsing input as JSON"}},
                {"copy": {"source_field": "a", "target_field": "error.data"}},
                {"add": {"field": "error.field", "value": "a"}},
            ],
        }}]),
        0,
    );
}

#[test]
fn fingerprints_of_a_filebeat_are_made_as_it_makes_them() {
    use serde_json::json;
    let check = check_processors;
    let joined = concat!(
        "joined = \"\"\n",
        "if exists(.\"a\".\"b\") { joined = joined + \"|a.b|\" + to_string!(.\"a\".\"b\") }\n",
        "if exists(.\"z\") { joined = joined + \"|z|\" + to_string!(.\"z\") }\n",
    );
    let made = |value: &str| format!("{joined}.\"fingerprint\" = {value}");
    let sha256 = made("sha2(joined + \"|\", variant: \"SHA-256\")");
    check(
        "{fingerprint: {fields: [z, a.b], ignore_missing: true}}",
        &json!([{"vrl": {"source": sha256, "ignore_failure": true}}]),
        0,
    );
    let base64 = made("encode_base64(decode_base16!(sha1(joined + \"|\")))");
    check(
        "{fingerprint: {fields: [z, a.b], method: sha1, encoding: base64}}",
        &json!([{"vrl": {
            "source": base64, "ignore_failure": true, "if": {"has_fields": ["a.b", "z"]},
        }}]),
        0,
    );
    // The method, and how it is written.
    check(
        "{fingerprint: {fields: [z, a.b], method: xxhash, encoding: base32, ignore_missing: true}}",
        &json!([{"vrl": {"source": sha256, "ignore_failure": true}}]),
        2,
    );
}

#[test]
fn conditions_of_a_filebeat_are_asked_once() {
    use serde_json::json;
    let is = |value: &str| json!({"equals": {"a": value}});
    let decided = |number: usize| json!({"equals": {"@metadata.branch2": number}});
    let asked = json!({"equals": {"@metadata.branch5": 0}});
    let both = json!({"and": [asked, {"equals": {"@metadata.branch3": 0}}]});
    let there = json!({"and": [
        {"has_fields": ["a", "c"]},
        {"not": {"or": [{"has_fields": ["b"]}, {"has_fields": ["d"]}]}},
    ]});
    let failed = told("Failed to rename fields in processor");
    check_processors(
        "{if: {equals: {a: x}}, then: [{drop_fields: {fields: [a]}}], else: [{drop_event: ~}]}",
        &json!([
            {"remove": {"field": "@metadata.branch2", "ignore_missing": true}},
            {"add": {"field": "@metadata.branch2", "value": 0, "if": is("x")}},
            {"add": {"field": "@metadata.branch2", "value": 1, "if": {"not": is("x")}}},
            {"remove": {"field": ["a"], "ignore_missing": true, "if": decided(0)}},
            {"drop": {"if": decided(1)}},
        ]),
        0,
    );
    check_processors(
        "{rename: {fields: [{from: a, to: b}, {from: c, to: d}], when.equals.a: x}}",
        &json!([
            {"remove": {"field": "@metadata.branch5", "ignore_missing": true}},
            {"add": {"field": "@metadata.branch5", "value": 0, "if": is("x")}},
            {"add": {
                "field": "error.message", "value": "Failed to rename fields in processor",
                "if": {"and": [asked, {"not": there}]},
            }},
            {"remove": {"field": "@metadata.branch3", "ignore_missing": true, "if": asked}},
            {"add": {"field": "@metadata.branch3", "value": 0, "if": {"and": [asked, there]}}},
            {"rename": {"field": "a", "target_field": "b", "if": both, "on_failure": failed}},
            {"rename": {"field": "c", "target_field": "d", "if": both, "on_failure": failed}},
        ]),
        0,
    );
    // Where nothing is taken back, each is by itself.
    let copy = |from: &str, to: &str| {
        json!({"copy": {
            "source_field": from, "target_field": to, "ignore_missing": false, "ignore_failure": true,
        }})
    };
    check_processors(
        "{copy_fields: {fields: [{from: a, to: b}, {from: c, to: d}], fail_on_error: false}}",
        &json!([copy("a", "b"), copy("c", "d")]),
        0,
    );
}

#[test]
fn a_list_that_is_too_short_has_its_items_where_the_event_goes_on() {
    use serde_json::json;
    let there = json!({"has_fields": ["a"]});
    check_processors(
        "{extract_array: {field: a, mappings: {b: 1}, fail_on_error: false, overwrite_keys: true}}",
        &json!([{"vrl": {
            "source": "list = array!(.\"a\")\nif length(list) > 1 { .\"b\" = list[1] }\n",
            "ignore_failure": true, "if": there,
        }}]),
        0,
    );
}

#[test]
fn objects_that_a_filebeat_adds_are_put_beside_what_is_there() {
    use serde_json::json;
    check_processors(
        "{add_fields: {target: a, fields: {b: {c: 1, d: [2]}, e: {}}}}",
        &json!([
            {"add": {"field": "a.b.c", "value": 1, "ignore_failure": true}},
            {"add": {"field": "a.b.d", "value": [2], "ignore_failure": true}},
            {"add": {"field": "a.e", "value": {}, "ignore_failure": true}},
        ]),
        0,
    );
}

#[test]
fn texts_of_a_filebeat_are_cut_by_bytes_or_characters() {
    use serde_json::json;
    check_processors(
        "{truncate_fields: {fields: [a], max_characters: 3}}",
        &json!([{"truncate": {"field": ["a"], "max_characters": 3}}]),
        0,
    );
    check_processors(
        "{truncate_fields: {fields: [a, b], max_bytes: 2KiB, ignore_missing: true}}",
        &json!([{"truncate": {"field": ["a", "b"], "max_bytes": 2048}}]),
        0,
    );
}

#[test]
fn xml_of_a_filebeat_is_read_with_the_names_that_it_has_there() {
    use serde_json::json;
    let there = json!({"has_fields": ["message"]});
    let failed = told("failed in decode_xml");
    let moved = |from: &str| {
        json!({"rename": {
            "field": from, "target_field": "@metadata._id",
            "ignore_missing": true, "ignore_failure": true,
        }})
    };
    check_processors(
        "{decode_xml: {field: message, target_field: x, ignore_missing: true}}",
        &json!([{"xml": {
            "field": "message", "target_field": "x", "lowercase": true, "on_failure": failed,
            "if": there,
        }}]),
        0,
    );
    check_processors(
        "{decode_xml: {field: message, to_lower: false, document_id: a.id}}",
        &json!([
            {"xml": {
                "field": "message", "target_field": "message", "lowercase": false,
                "on_failure": failed, "if": there,
            }},
            moved("message.a.id"),
        ]),
        0,
    );
    check_processors(
        "{decode_xml: {field: message, target_field: '', document_id: a.id}}",
        &json!([
            {"xml": {
                "field": "message", "add_to_root": true, "lowercase": true,
                "on_failure": failed, "if": there,
            }},
            moved("a.id"),
        ]),
        0,
    );
}

#[test]
fn names_and_sides_of_connections_of_a_filebeat_are_told_as_there() {
    use serde_json::json;
    let source = "name = string!(.\"dns\".\"name\")\nparts = parse_etld!(name, plus_parts: 1)\nwhole = parts.etld_plus\n\
                  if whole != parts.etld {\n.\"dns\".\"registered\" = whole\n.\"etld\" = parts.etld\n\
                  if name != whole { .\"sub\" = replace(name, \".\" + whole, \"\") }\n}\n";
    check_processors(
        "{registered_domain: {field: dns.name, target_field: dns.registered, target_etld_field: etld, target_subdomain_field: sub}}",
        &json!([{"vrl": {
            "source": source, "ignore_failure": true, "if": {"has_fields": ["dns.name"]},
        }}]),
        0,
    );
    let from = json!({"network": {"source.ip": ["private"]}});
    let to = json!({"network": {"b": ["private"]}});
    let any = ["0.0.0.0/0", "::/0"];
    let addresses = json!({"and": [{"network": {"source.ip": any}}, {"network": {"b": any}}]});
    let step = |direction: &str, condition: serde_json::Value| {
        json!({"add": {
            "field": "network.direction", "value": direction, "if": {"and": [addresses, condition]},
        }})
    };
    check_processors(
        "{add_network_direction: {destination: b, internal_networks: [private]}}",
        &json!([
            step("internal", json!({"and": [from, to]})),
            step("outbound", json!({"and": [from, {"not": to}]})),
            step("inbound", json!({"and": [{"not": from}, to]})),
            step("external", json!({"not": {"or": [from, to]}})),
        ]),
        0,
    );
}

#[test]
fn blanks_in_front_of_cells_are_taken_away_and_what_is_missing_is_not_decoded() {
    use serde_json::json;
    let text = r#"
filebeat.inputs: [{type: stdin}]
processors:
- decode_csv_fields: {fields: {a: b}, trim_leading_space: true}
- urldecode: {fields: [{from: u, to: d}, {from: v}], ignore_missing: true}
output.console: {}
"#;
    let imported = import_filebeat("f.yml", text).unwrap();
    assert_eq!(imported.told(), Vec::<String>::new());
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let steps = &config["processors"];
    assert_eq!(
        steps[0]["vrl"]["source"],
        r#"."b" = map_values(parse_csv!(string!(."a"), delimiter: ",")) -> |cell| { replace(string!(cell), r'^\s+', "") }"#
    );
    let failed = told("failed to decode fields in urldecode processor");
    let decoded = |from: &str, to: &str| json!({"urldecode": {"field": from, "target_field": to, "ignore_missing": true, "on_failure": failed}});
    assert_eq!(steps[1], decoded("u", "d"));
    assert_eq!(steps[2], decoded("v", "v"));
}
