//! Fields that documents bring.

use super::*;

/// Parses, adding what is missing, and shows the mapping that came of it.
fn grown(body: &Value, source: &str) -> Value {
    let mut mapping = try_mapping(body).unwrap();
    if let Parsed::NeedsMapping(fields) = mapping.parse_document(source.as_bytes()).unwrap() {
        mapping.grow(fields).unwrap();
        parse(&mapping, source);
    }
    shown(&mapping)
}

#[test]
fn unknown_names_make_fields_as_opensearch_makes_them() {
    let text = json!({ "type": "text", "fields": { "keyword": { "type": "keyword", "ignore_above": 256 } } });
    let slashes = "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis";
    let rows = [
        (r#"{"a":"x"}"#, json!({ "a": text })),
        (r#"{"a":"2024-02-29"}"#, json!({ "a": { "type": "date" } })),
        (
            r#"{"a":"2024-02-29T10:11:12.123Z"}"#,
            json!({ "a": { "type": "date" } }),
        ),
        (
            r#"{"a":"2024/02/29"}"#,
            json!({ "a": { "type": "date", "format": slashes } }),
        ),
        (r#"{"a":"2024","b":"1.5"}"#, json!({ "a": text, "b": text })),
        (
            r#"{"a":1,"b":1.5,"c":true}"#,
            json!({ "a": { "type": "long" }, "b": { "type": "float" }, "c": { "type": "boolean" } }),
        ),
        (
            r#"{"a":{"b":1},"a.c":[[null,true],false]}"#,
            json!({ "a": { "properties": { "b": { "type": "long" }, "c": { "type": "boolean" } } } }),
        ),
        (
            r#"{"a":[{"b":1},{"c":2}]}"#,
            json!({ "a": { "properties": { "b": { "type": "long" }, "c": { "type": "long" } } } }),
        ),
    ];
    for (source, properties) in rows {
        assert_eq!(
            grown(&json!({}), source),
            json!({ "properties": properties }),
            "{source}"
        );
    }
    assert_eq!(
        grown(&json!({}), r#"{"a":null,"b":[],"d":[null]}"#),
        json!({})
    );
    // An object may have nothing in it, or nothing but such objects.
    let source = r#"{"a":{},"b":{"c":[{}],"d":null},"e":[{},{"f":1}],"g.h":{}}"#;
    let empty = json!({ "type": "object" });
    let properties = json!({
        "a": empty, "b": { "properties": { "c": empty } },
        "e": { "properties": { "f": { "type": "long" } } }, "g": { "properties": { "h": empty } },
    });
    assert_eq!(
        grown(&json!({}), source),
        json!({ "properties": properties })
    );
    let body = json!({ "date_detection": false, "numeric_detection": true });
    let mut expected = body.clone();
    expected["properties"] =
        json!({ "a": text, "b": { "type": "long" }, "c": { "type": "float" } });
    assert_eq!(
        grown(&body, r#"{"a":"2024-02-29","b":"7","c":"1.5"}"#),
        expected
    );
}

#[test]
fn a_mapping_that_does_not_grow_says_so_or_looks_away() {
    let body = json!({ "dynamic": "strict", "properties": {
        "a": { "properties": { "b": { "type": "long" } } },
        "free": { "dynamic": "true", "properties": { "in": { "properties": {} } } },
        "shut": { "dynamic": false, "properties": { "b": { "type": "long" } } },
    } });
    let mapping = try_mapping(&body).unwrap();
    let rows = [
        (r#"{"f":1}"#, "f", "_doc"),
        (r#"{"f":null}"#, "f", "_doc"),
        (r#"{"f.g":1}"#, "f", "_doc"),
        (r#"{"a":{"c":1}}"#, "c", "a"),
        (r#"{"a.c":1}"#, "c", "a"),
    ];
    for (source, field, within) in rows {
        let error = mapping.parse_document(source.as_bytes()).unwrap_err();
        let expected = format!(
            "mapping set to strict, dynamic introduction of [{field}] within [{within}] is not allowed"
        );
        assert_eq!(document_reason(&error, "7"), expected, "{source}");
        assert_eq!(
            document_error_type(&error),
            "strict_dynamic_mapping_exception"
        );
    }
    assert_eq!(
        values(&mapping, r#"{"shut":{"x":{"y":[1]},"b":2}}"#),
        [("shut.b".to_string(), OwnedValue::I64(2))]
    );
    let grows = mapping.parse_document(br#"{"free":{"in":{"x":1}}}"#);
    assert!(
        matches!(grows, Ok(Parsed::NeedsMapping(fields)) if fields.fields[0].path == "free.in.x")
    );
}
