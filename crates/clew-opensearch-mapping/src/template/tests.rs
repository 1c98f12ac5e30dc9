use clew_schema::Parsed;
use serde_json::json;

use super::*;

#[test]
fn the_first_template_that_fits_makes_the_field() {
    let mapping = crate::mapping(json!({"dynamic_templates": [
        {"ids": {"match": "*_id", "mapping": {"type": "keyword"}}},
        {"raw": {"match_mapping_type": "string", "path_match": "raw.*", "path_unmatch": "*.not",
            "mapping": {"index": false}}},
        {"numbers": {"match_pattern": "regex", "match": "^n\\d+$",
            "mapping": {"type": "{dynamic_type}", "meta": {"from": "{name}"}}}},
    ]}));
    let usual =
        json!({"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}});
    for (document, path, expected) in [
        (
            json!({"user_id": 1}),
            "/user_id",
            json!({"type": "keyword"}),
        ),
        (
            json!({"raw": {"x": "t"}}),
            "/raw/properties/x",
            json!({"type": "text", "index": false}),
        ),
        (
            json!({"raw": {"x": 1}}),
            "/raw/properties/x",
            json!({"type": "long"}),
        ),
        (json!({"raw": {"not": "t"}}), "/raw/properties/not", usual),
        (
            json!({"n12": 1}),
            "/n12",
            json!({"type": "long", "meta": {"from": "n12"}}),
        ),
        (json!({"other": 1}), "/other", json!({"type": "long"})),
    ] {
        let mut grown = mapping.clone();
        let text = document.to_string();
        let Ok(Parsed::NeedsMapping(fields)) = mapping.parse_document(text.as_bytes()) else {
            panic!("{document} brings a field");
        };
        grown.grow(fields).unwrap();
        let shown = crate::shown(&grown);
        assert_eq!(shown["properties"].pointer(path), Some(&expected), "{path}");
    }
}

#[test]
fn without_a_reader_nothing_is_made() {
    let mut mapping = crate::mapping(json!({"dynamic_templates": [
        {"all": {"match": "*", "mapping": {"type": "keyword"}}},
    ]}));
    mapping.set_reader(None);
    let Ok(Parsed::NeedsMapping(fields)) = mapping.parse_document(br#"{"a": 1}"#) else {
        panic!("a field is new");
    };
    let refused = mapping.grow(fields);
    assert!(matches!(refused, Err(MappingError::NoReader { .. })));
}

#[test]
fn templates_for_types_that_there_are_not_are_refused() {
    for (written, fits) in [("long", true), ("*", true), ("integer", false)] {
        let body = json!([{"a": {"match_mapping_type": written, "mapping": {}}}]);
        assert_eq!(check_types(&body).is_ok(), fits, "{written}");
        let mapping = crate::try_mapping(&json!({"dynamic_templates": body}));
        assert_eq!(mapping.is_ok(), fits, "{written}");
    }
}

#[test]
fn templates_that_do_not_say_what_they_are_for_are_refused() {
    let body = json!({"unmatch": "a*", "mapping": {"type": "keyword", "copy_to": ["b", "c"]}});
    let mappings = json!({"dynamic_templates": [{"x": body}]});
    let refused = crate::try_mapping(&mappings).unwrap_err();
    let shown = "{unmatch=a*, mapping={type=keyword, copy_to=[b, c]}}";
    let wanted = format!("must have match, path_match or match_mapping_type set {shown}");
    assert!(crate::reason(&refused).contains(&wanted), "{refused:?}");
    for name in CONDITIONS {
        let mut body = json!({"mapping": {}});
        body[name] = json!("long");
        let mappings = json!({"dynamic_templates": [{"x": body}]});
        assert!(crate::try_mapping(&mappings).is_ok(), "{name}");
    }
}

#[test]
fn templates_that_say_too_little_are_refused() {
    for (body, told) in [
        (json!({}), "An array of named objects is expected."),
        (json!([{}]), "must be defined with a name"),
        (
            json!([{"a": {}}]),
            "template must have match, path_match or match_mapping_type set {}",
        ),
        (
            json!([{"a": {"match": "x"}}]),
            "template must have mapping set",
        ),
        (
            json!([{"a": {"match_pattern": "regex", "match": "*", "mapping": {}}}]),
            "Pattern [*] of type [regex] is invalid. Cannot create dynamic template [a].",
        ),
        (
            json!([{"a": {"match_mapping_type": ["long"], "mapping": {}}}]),
            "No field type matched on [[long]], possible",
        ),
    ] {
        let refused = crate::try_mapping(&json!({"dynamic_templates": body})).unwrap_err();
        assert!(crate::reason(&refused).contains(told), "{body}: {refused}");
    }
}
