use clew_schema::DateFormat;
use serde_json::json;

use super::mapping;

#[test]
fn values_come_back_as_their_fields_read_them() {
    let mapping = mapping(&json!({
        "date": { "type": "date", "format": "yyyy-MM-dd" },
        "whole": { "type": "integer", "null_value": 7, "ignore_malformed": true },
        "float": { "type": "float" },
        "flag": { "type": "boolean" },
        "ip": { "type": "ip" },
        "word": { "type": "keyword", "ignore_above": 3 },
        "same": { "type": "constant_keyword", "value": "x" },
        "o": { "properties": { "n": { "type": "unsigned_long", "copy_to": "whole" } } },
    }));
    let source = json!({
        "date": "2020-02-03", "whole": ["1", null, "no", 2.7], "float": 0.1, "flag": "true",
        "ip": "::ffff:10.0.0.1", "word": ["abc", "abcd"], "o": [{"n": 1}, {"n": "2"}],
    });
    for (path, expected) in [
        ("date", json!(["2020-02-03"])),
        ("whole", json!([1, 7, 2, 1, 2])),
        ("float", json!([0.1])),
        ("flag", json!([true])),
        ("ip", json!(["10.0.0.1"])),
        ("word", json!(["abc"])),
        ("same", json!(["x"])),
        ("o.n", json!([1, 2])),
    ] {
        let field = mapping.field(path).unwrap();
        assert_eq!(
            json!(mapping.fetch(field, &source, None)),
            expected,
            "{path}"
        );
    }
    let format = DateFormat::parse("yyyy/MM").unwrap();
    let date = mapping.field("date").unwrap();
    assert_eq!(
        mapping.fetch(date, &source, Some(&format)),
        [json!("2020/02")]
    );
}

#[test]
fn nanoseconds_are_shown_where_a_format_asks_for_them() {
    let mapping = mapping(&json!({
        "usual": { "type": "date_nanos" },
        "fine": { "type": "date_nanos", "format": "strict_date_optional_time_nanos" },
    }));
    let text = "2024-01-01T00:00:00.123456789Z";
    let source = json!({ "usual": text, "fine": text });
    let shown = |path: &str, format: Option<&str>| {
        let format = format.map(|format| DateFormat::parse(format).unwrap());
        mapping.fetch(mapping.field(path).unwrap(), &source, format.as_ref())
    };
    assert_eq!(shown("usual", None), [json!("2024-01-01T00:00:00.123Z")]);
    assert_eq!(shown("fine", None), [json!(text)]);
    assert_eq!(
        shown("usual", Some("strict_date_optional_time_nanos")),
        [json!(text)]
    );
}

#[test]
fn leaves_of_flat_objects_come_back_as_texts() {
    let mapping = mapping(&json!({ "labels": { "type": "flat_object" } }));
    let source = json!({ "labels": [
        { "app": { "tier": 2, "names": ["b", null, "a"] }, "app.on": true }, { "app": { "tier": "x" } },
    ]});
    for (path, expected) in [
        ("labels.app.tier", json!(["2", "x"])),
        ("labels.app.names", json!(["b", "a"])),
        ("labels.app.on", json!(["true"])),
        ("labels.app", json!([])),
        ("labels.none", json!([])),
    ] {
        assert_eq!(json!(mapping.fetch_leaf(path, &source)), expected, "{path}");
    }
}
