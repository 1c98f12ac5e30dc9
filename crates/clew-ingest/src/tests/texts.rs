//! Texts that are taken apart.

use super::*;

#[test]
fn patterns_may_look_around() {
    for (step, path, expected) in [
        (
            json!({"gsub": {"field": "tag", "pattern": "(?<=R)(?=e)|(?<x>d)$", "replacement": "-${x}"}}),
            "tag",
            json!("R-e-d"),
        ),
        (
            json!({"split": {"field": "tag", "separator": "(?<=e)"}}),
            "tag",
            json!(["Re", "d"]),
        ),
    ] {
        check(step, path, expected);
    }
}

#[test]
fn texts_are_taken_apart_as_java_does() {
    for (step, path, expected) in [
        (json!({"json": {"field": "raw"}}), "raw", json!({"j": 1})),
        (json!({"json": {"field": "empty"}}), "empty", json!(null)),
        (
            json!({"html_strip": {"field": "html"}}),
            "html",
            json!("x y & <z \nw"),
        ),
        (
            json!({"split": {"field": "tag", "separator": "x*"}}),
            "tag",
            json!(["R", "e", "d"]),
        ),
        (
            json!({"gsub": {"field": "tag", "pattern": "(?<x>e)", "replacement": "${x}-$0-\\$"}}),
            "tag",
            json!("Re-e-$d"),
        ),
        (
            json!({"gsub": {"field": "tag", "pattern": "(e)", "replacement": "$12"}}),
            "tag",
            json!("Re2d"),
        ),
        (
            json!({"gsub": {"field": "tag", "pattern": "e", "replacement": "$"}}),
            "tag",
            json!("Unfit: Illegal group reference: group index is missing"),
        ),
        (
            json!({"dissect": {"field": "pairs", "pattern": "%{*a}=%{&a} %{c}"}}),
            "k",
            json!("v"),
        ),
        (
            json!({"dissect": {"field": "pairs", "pattern": "%{+a/2}=%{+a/1} %{?c}"}}),
            "a",
            json!("vk"),
        ),
        (
            json!({"convert": {"field": "obj", "type": "string"}}),
            "obj",
            json!("{x=1, y={z=q}}"),
        ),
        (
            json!({"urldecode": {"field": "url"}}),
            "url",
            json!(
                "Unfit: URLDecoder: Illegal hex characters in escape (%) pattern - not a hexadecimal digit: \"z\" = 122"
            ),
        ),
        (
            json!({"bytes": {"field": "tag"}}),
            "tag",
            json!(
                "Unreadable: failed to parse setting [Ingest Field] with value [Red] as a size in bytes: unit is missing or unrecognized"
            ),
        ),
        (
            json!({"date_index_name": {"field": "date", "date_rounding": "M", "index_name_prefix": "p-{{tag}}-"}}),
            "_index",
            json!("<p-Red-{2016-04-25||/M{yyyy-MM-dd|UTC}}>"),
        ),
    ] {
        check(step, path, expected);
    }
}

#[test]
fn cells_elements_and_pairs_are_what_opensearch_takes_for_them() {
    let check = |source: Value, step: Value, expected: Value| {
        let pipeline = Pipeline::parse(&json!({"processors": [step.clone()]})).unwrap();
        let mut document = Document::new("i", source, 0);
        let found = match pipeline.steps[0].what.change(&mut document) {
            Ok(()) => document.source,
            Err(failure) => told(failure).into(),
        };
        assert_eq!(found, expected, "{step}");
    };
    let kv = json!({"kv": {"field": "m", "field_split": " ", "value_split": "="}});
    let nameless = json!("Unfit: path cannot be null nor empty");
    check(json!({"m": "=1"}), kv, nameless);
    for (said, expected) in [
        ("a &lt;b&gt;", "a &lt;b&gt;"),
        ("<i>a</i> &lt;b&gt;", "a <b>"),
    ] {
        let strip = json!({"html_strip": {"field": "m"}});
        check(json!({ "m": said }), strip, json!({ "m": expected }));
    }
    let csv = json!({"csv": {"field": "m", "target_fields": ["x", "y"], "empty_value": "-"}});
    for (said, expected) in [
        ("\"1\", \"2\"", json!({"x": "1", "y": "2"})),
        ("1,", json!({"x": "1"})),
        (",1", json!({"x": "-", "y": "1"})),
        ("1,\"\"", json!({"x": "1", "y": "-"})),
        ("1,2,\"3", json!({"x": "1", "y": "2"})),
    ] {
        let mut expected = expected;
        expected["m"] = said.into();
        check(json!({ "m": said }), csv.clone(), expected);
    }
    check(
        json!({"m": "1,2\"2\""}),
        csv,
        json!("Unfit: Illegal character inside unquoted field at 3"),
    );
}
