//! What `kv`, `mutate` and `translate` of a Logstash become.

use super::*;

#[test]
fn a_kv_of_a_logstash_has_its_options_and_keys_that_are_missing_get_theirs() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    let tagged = json!([{"append": {"field": "tags", "value": ["_kv_filter_error"]}}]);
    check_filter(
        r#"kv { recursive => true include_brackets => false allow_empty_values => true transform_key => "lowercase"
                remove_char_key => "<>\[\]" trim_value => "\s" target => "[f]" default_keys => { "from" => "nobody" } }"#,
        &json!([
            {"kv": {
                "field": "message", "field_split": " ", "value_split": "=", "quotes": true, "ignore_missing": true,
                "remove_char_key": "<>[]", "trim_value": " \t\r\n\u{b}\u{c}", "recursive": true,
                "include_brackets": false, "allow_empty_values": true, "transform_key": "lowercase",
                "target_field": "f", "on_failure": tagged, "if": branch,
            }},
            {"add": {"field": "f.from", "value": "nobody", "on_failure": tagged,
                     "if": {"and": [branch, {"not": {"has_fields": ["f.from"]}}]}}},
        ]),
    );
}

#[test]
fn a_mutate_of_a_logstash_does_its_work_in_its_order() {
    let text = r#"input { stdin {} } filter { mutate {
        copy => { "a" => "b" } strip => ["a"] lowercase => ["a"] capitalize => ["a"] uppercase => ["a"]
        merge => { "a" => "b" } split => { "a" => "," } rename => { "c" => "a" }
    } } output { stdout {} }"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    assert_eq!(imported.told(), Vec::<String>::new());
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let steps = config["processors"].as_array().unwrap().iter();
    let names = steps.filter_map(|step| step.as_object()?.keys().next());
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "rename",
            "uppercase",
            "vrl",
            "lowercase",
            "trim",
            "split",
            "vrl",
            "copy"
        ]
    );
}

#[test]
fn a_translate_of_a_logstash_finds_expressions_and_parts() {
    use serde_json::json;
    let there = |condition: Value| {
        json!({"and": [
            {"is": {"a": 1}},
            {"and": [{"has_fields": ["code"]}, {"and": [{"not": {"has_fields": ["class"]}}, condition]}]},
        ]})
    };
    let free = json!({"and": [
        {"is": {"a": 1}},
        {"and": [{"has_fields": ["code"]}, {"not": {"has_fields": ["class"]}}]},
    ]});
    let found = |number: u64| json!({"equals": {"@metadata.translated": number}});
    let mark = |number: u64, pattern: &str| {
        let fits = json!({"and": [found(0), {"regexp": {"code": pattern}}]});
        json!({"add": {"field": "@metadata.translated", "value": number, "if": there(fits)}})
    };
    let value = |number: u64, value: &str| json!({"add": {"field": "class", "value": value, "if": there(found(number))}});
    check_filter(
        r#"translate { source => "code" target => "class" regex => true fallback => "other"
                       dictionary => { "^2" => "ok" "^5" => "bad" } }"#,
        &json!([
            {"add": {"field": "@metadata.translated", "value": 0, "if": free}},
            mark(1, "^2"), mark(2, "^5"), value(1, "ok"), value(2, "bad"), value(0, "other"),
        ]),
    );
    // What is printed is compiled, the program too.
    let text = r#"input { stdin {} } filter { translate {
        field => "[a][b]" destination => "c" exact => false dictionary => ["a'b", "1", "(c)", 2]
    } } output { stdout {} }"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    assert_eq!(imported.told(), Vec::<String>::new());
    assert!(imported.config.contains(r"a\x27b|\(c\)"));
}

#[test]
fn numbers_that_are_written_in_europe_and_values_of_the_environment_are_read() {
    use serde_json::json;
    let branch = json!({"is": {"a": 1}});
    let tagged = json!([{"append": {"field": "tags", "value": ["_mutate_error"]}}]);
    let turned = |pattern: &str, replacement: &str| {
        json!({"gsub": {
            "field": "n", "pattern": pattern, "replacement": replacement, "ignore_missing": true,
            "ignore_failure": true, "if": branch,
        }})
    };
    check_filter(
        r#"mutate { convert => { "n" => "float_eu" } }"#,
        &json!([
            turned(r"\.", ""),
            turned(",", "."),
            {"convert": {
                "field": "n", "type": "double", "ignore_missing": true, "lenient": "ruby",
                "on_failure": tagged, "if": branch,
            }},
        ]),
    );
    check_filter(
        r#"environment { add_field_from_env => { "[host][role]" => "ROLE" } }"#,
        &json!([{"add": {"field": "host.role", "value": "${ROLE}", "if": branch}}]),
    );
    check_filter(
        r#"json_encode { source => "b" target => "c" }"#,
        &json!([{"vrl": {
            "source": r#"."c" = encode_json(."b")"#, "ignore_failure": true,
            "if": {"and": [branch, {"has_fields": ["b"]}]},
        }}]),
    );
}

#[test]
fn the_host_of_a_logstash_without_the_schema_is_the_name_of_the_machine() {
    use serde_json::json;
    let text = r#"input { stdin {} } filter {
  if [host] == "a" { drop {} }
  if [host] !~ "^b" and "c" in [host] and [host] != [d] { drop {} }
} output { elasticsearch { index => "i-%{host}" } }"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    assert_eq!(imported.told(), Vec::<String>::new());
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let steps = &config["processors"];
    let both = |word: &str, value: &str| {
        [
            json!({word: {"host": value}}),
            json!({word: {"host.name": value}}),
        ]
    };
    assert_eq!(steps[0]["drop"]["if"], json!({"or": both("equals", "a")}));
    let not_b = both("regexp", "^b").map(|one| json!({"not": one}));
    assert_eq!(
        steps[1]["drop"]["if"],
        json!({"and": [
            {"and": not_b}, {"or": both("includes", "c")},
            {"not": {"compare": {"host": {"eq": "d"}}}},
        ]})
    );
    assert_eq!(
        config["outputs"][0]["index"],
        "i-{{host.name}}{{^host.name}}{{host}}{{/host.name}}"
    );
}

#[test]
fn what_is_no_size_for_a_logstash_has_its_tag() {
    use serde_json::json;
    check_filter(
        r#"bytes { source => "s" conversion_method => "metric" }"#,
        &json!([{"vrl": {
            "source": r#"."s" = to_int(parse_bytes!(string!(."s"), unit: "B", base: "10"))"#,
            "if": {"is": {"a": 1}},
            "on_failure": [{"append": {"field": "tags", "value": ["_bytesparsefailure"]}}],
        }}]),
    );
}

#[test]
fn what_a_grok_of_a_logstash_names_twice_is_a_list() {
    use serde_json::json;
    for (pattern, is_list) in [
        ("%{WORD:a} %{WORD:a}", true),
        ("%{WORD:a} (?<a>x)", true),
        ("%{INT:a:int}|%{WORD:[a]}", true),
        (
            "%{WORD:a} %{WORD:b} %{WORD} %{WORD} (?<=x)(?<!y)(?<=x)",
            false,
        ),
    ] {
        let text = format!(
            "input {{ stdin {{}} }} filter {{ grok {{ match => {{ \"message\" => \"{pattern}\" }} }} }} output {{ stdout {{}} }}"
        );
        let imported = import_pipeline("p.conf", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let all = &config["processors"][0]["grok"]["capture_all_matches"];
        assert_eq!(all == &json!(true), is_list, "{pattern}");
    }
}

#[test]
fn what_a_logstash_does_with_pairs_it_does_where_there_are_some() {
    use serde_json::json;
    let kv = |filter: &str| {
        let text = format!("input {{ stdin {{}} }} filter {{ {filter} }} output {{ stdout {{}} }}");
        let imported = import_pipeline("p.conf", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let step = &config["processors"][0]["kv"];
        let failed = step["on_failure"].as_array().map(Vec::len);
        (step["needs_pairs"] == json!(true), failed)
    };
    // The mark alone, and beside the tag of those that fail otherwise.
    assert_eq!(kv(r#"kv { remove_field => ["message"] }"#), (true, Some(1)));
    let filter = r#"kv { remove_field => ["message"] default_keys => { "a" => "b" } }"#;
    assert_eq!(kv(filter), (false, Some(2)));
    assert_eq!(kv("kv { }"), (false, Some(1)));
}

#[test]
fn names_of_fields_that_a_logstash_adds_may_be_told_by_others() {
    use serde_json::json;
    check_filter(
        r#"mutate { add_field => { "is_%{[a][b]}" => "%{c}" "of_%{d}" => "fixed" } }"#,
        &json!([
            {"set": {
                "field": "is_{{a.b}}", "value": "{{c}}", "keep_references": true, "if": {"is": {"a": 1}},
            }},
            {"set": {"field": "of_{{d}}", "value": "fixed", "if": {"is": {"a": 1}}}},
        ]),
    );
    // Tags that are there stay.
    check_filter(
        r#"mutate { add_field => { "tags" => "x" } add_tag => ["y"] }"#,
        &json!([{"append": {"field": "tags", "value": ["x", "y"], "if": {"is": {"a": 1}}}}]),
    );
}

#[test]
fn what_spells_a_number_is_none_for_a_logstash() {
    use serde_json::json;
    let text = r#"input { stdin {} }
filter { if [a] == "200" or [b] != 7 or [c] == "x" or [d] in ["1", "y"] { drop {} } } output { stdout {} }"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(
        config["processors"][0]["drop"]["if"],
        json!({"or": [
            {"is": {"a": "200"}}, {"not": {"is": {"b": 7}}}, {"equals": {"c": "x"}},
            {"or": [{"is": {"d": "1"}}, {"equals": {"d": "y"}}]},
        ]})
    );
}

#[test]
fn the_host_in_a_fingerprint_of_a_logstash_is_the_name_of_the_machine() {
    use serde_json::json;
    let made = r#"if exists(."host"."name") { ."fingerprint" = sha1(to_string!(."host"."name")) }"#;
    check_filter(
        r#"fingerprint { source => "host" }"#,
        &json!([{"vrl": {"source": made, "ignore_failure": true, "if": {"is": {"a": 1}}}}]),
    );
}
