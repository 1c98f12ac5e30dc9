//! Values that processors of a Filebeat take from texts or give.

use super::processors::check_processors;

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
    let label =
        |name: &str, text: &str| json!({"add": {"field": format!("labels.{name}"), "value": text}});
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
