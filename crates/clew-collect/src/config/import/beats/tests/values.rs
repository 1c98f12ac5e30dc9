//! Values that processors of a Filebeat take from texts or give.

use super::processors::check_processors;
use super::*;

#[test]
fn values_of_a_tokenizer_lose_what_they_are_told_to() {
    use serde_json::json;
    let flagged = json!([{"append": {"field": "log.flags", "value": ["dissect_parsing_error"]}}]);
    for (sides, pattern) in [
        ("left", r"^[ \-]+"),
        ("right", r"[ \-]+$"),
        ("all", r"^[ \-]+|[ \-]+$"),
    ] {
        check_processors(
            &format!(
                "{{dissect: {{tokenizer: '%{{a}};', overwrite_keys: true, trim_values: {sides}, trim_chars: ' -'}}}}"
            ),
            &json!([
                {"dissect": {"field": "message", "pattern": "%{dissect.a};", "on_failure": flagged}},
                {"gsub": {
                    "field": "dissect.a", "pattern": pattern, "replacement": "", "ignore_missing": true,
                    "ignore_failure": true,
                }},
            ]),
            0,
        );
    }
    // A text that says how long a value is cannot be carried over.
    check_processors(
        "{dissect: {tokenizer: '%{a#3}%{b}', overwrite_keys: true}}",
        &json!([{"dissect": {
            "field": "message", "pattern": "%{dissect.a#3}%{dissect.b}", "on_failure": flagged,
        }}]),
        1,
    );
}

#[test]
fn labels_are_texts() {
    use serde_json::json;
    let label = |name: &str, text: &str| json!({"add": {"field": format!("labels.{name}"), "value": text, "ignore_failure": true}});
    check_processors(
        "{add_labels: {labels: {n: 1, t: true, with: {list: [x, {b: 2}]}}}}",
        &json!([
            label("n", "1"),
            label("t", "true"),
            label("with.list.0", "x"),
            label("with.list.1.b", "2"),
        ]),
        0,
    );
}

#[test]
fn texts_inside_of_texts_are_taken_apart_where_they_are() {
    use serde_json::json;
    let there = json!({"has_fields": ["a"]});
    let deeper = concat!(
        r#"."@metadata"."deeper" = ."a""#,
        "\nwhole = parse_json(string(.\"a\") ?? \"\") ?? null\n",
        r#"if is_object(whole) { ."@metadata"."deeper" = encode_json(map_values(object!(whole)) -> |text1| "#,
        "{ read1 = parse_json(string(text1) ?? \"\") ?? null\n",
        "if is_object(read1) { read1 } else if is_array(read1) { read1 } else { text1 } }) }",
    );
    check_processors(
        "{decode_json_fields: {fields: [a], max_depth: 2, process_array: true}}",
        &json!([
            {"vrl": {"source": deeper, "ignore_failure": true, "if": there}},
            {"json": {
                "field": "@metadata.deeper", "target_field": "a", "if": there,
                "ignore_failure": true,
            }},
            {"remove": {"field": "@metadata.deeper", "ignore_missing": true}},
        ]),
        0,
    );
    let offset = r#"."event"."timezone" = format_timestamp!(now(), "%:z", timezone: "local")"#;
    check_processors(
        "{add_locale: {format: offset}}, {add_locale: {format: abbreviation}}",
        &json!([{"vrl": {"source": offset, "ignore_failure": true}}]),
        1,
    );
    check_processors(
        "{dissect: {tokenizer: '%{b}', field: a}}",
        &json!([{"dissect": {
            "field": "a", "pattern": "%{dissect.b}", "if": there,
            "on_failure": [{"append": {"field": "log.flags", "value": ["dissect_parsing_error"]}}],
        }}]),
        0,
    );
}

#[test]
fn what_a_filebeat_does_to_several_fields_it_does_to_all_or_to_none() {
    use serde_json::json;
    let check = |given: &str, condition: Value| {
        let text = format!(
            "filebeat.inputs: [{{type: stdin}}]\nprocessors: [{given}]\noutput.console: {{}}\n"
        );
        let imported = import_filebeat("f.yml", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let steps = config["processors"].as_array().unwrap();
        // What is told of a failure, the mark of what was decided, and the steps.
        assert_eq!(steps[0]["add"]["if"], json!({"not": condition}), "{given}");
        assert_eq!(steps[2]["add"]["if"], condition, "{given}");
        for step in &steps[3..] {
            let parameters = step.as_object().unwrap().values().next().unwrap();
            let asked = parameters["if"].to_string();
            assert!(asked.contains("@metadata.branch"), "{given}: {asked}");
        }
    };
    let there = |fields: &[&str]| json!({"has_fields": fields});
    let none_of = |fields: &[&str]| {
        let each = fields.iter().map(|field| json!({"has_fields": [field]}));
        json!({"not": {"or": each.collect::<Vec<Value>>()}})
    };
    check(
        "{rename: {fields: [{from: a, to: x}, {from: b, to: a}]}}",
        json!({"and": [there(&["a", "b"]), none_of(&["x"])]}),
    );
    check(
        "{rename: {fields: [{from: a, to: x}, {from: b, to: log.level}], ignore_missing: true}}",
        none_of(&["x"]),
    );
    check(
        "{copy_fields: {fields: [{from: a, to: x}, {from: b, to: a}]}}",
        json!({"and": [there(&["a", "b"]), none_of(&["x", "a"])]}),
    );
    check(
        "{replace: {fields: [{field: a, pattern: x, replacement: y}, {field: b, pattern: x, replacement: y}]}}",
        there(&["a", "b"]),
    );
    check(
        "{urldecode: {fields: [{from: a, to: x}, {from: b}]}}",
        there(&["a", "b"]),
    );
    let text = "filebeat.inputs: [{type: stdin}]\nprocessors: [{extract_array: {field: l, mappings: {a: 0, b: 9}, fail_on_error: no}}]\noutput.console: {}\n";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let program = config["processors"][0]["vrl"]["source"].as_str().unwrap();
    assert!(!program.contains("length(list) > 9 {\n"), "{program}");
}

#[test]
fn truths_of_a_filebeat_are_those_of_its_yaml() {
    let text = "\
filebeat.inputs:
- {type: stdin, enabled: Off}
- {type: log, paths: [/x], fields: {a: 1}, fields_under_root: yes}
output.console: {}
output.file.enabled: no
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(config["inputs"].as_array().unwrap().len(), 1);
    assert_eq!(config["inputs"][0]["processors"][0]["add"]["field"], "a");
    assert_eq!(config["outputs"].as_array().unwrap().len(), 1);
}
