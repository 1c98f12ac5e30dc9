use super::*;
use bytes::Bytes;
use clew_vector::SparseEntry;
use serde_json::json;

fn check(existing: Option<&str>, spec: &UpdateSpec, want: Option<&str>) {
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
        "s": {"type": "sparse_vector"}, "o": {"properties": {"s": {"type": "sparse_vector"}}},
    }}));
    let merged = merge_source(spec, existing.map(str::as_bytes), &mapping);
    let got = match merged.unwrap() {
        Merged::Missing => "missing".to_string(),
        Merged::Noop => "noop".to_string(),
        Merged::Document(source, vectors) => {
            assert_eq!(vectors, spec.vectors);
            String::from_utf8(source).unwrap()
        }
    };
    assert_eq!(got, want.unwrap_or("missing"));
}

#[test]
fn objects_merge_and_everything_else_is_replaced() {
    let doc = |text: &'static str| UpdateSpec {
        doc: Some(Bytes::from_static(text.as_bytes())),
        detect_noop: true,
        ..UpdateSpec::default()
    };
    let existing = Some(r#"{"a":{"b":1,"c":[1,2]},"d":2}"#);
    check(
        existing,
        &doc(r#"{"a":{"c":[3]}}"#),
        Some(r#"{"a":{"b":1,"c":[3]},"d":2}"#),
    );
    check(existing, &doc(r#"{"d":2}"#), Some("noop"));
    check(None, &doc(r#"{"d":2}"#), None);
    let upsert = UpdateSpec {
        doc_as_upsert: true,
        ..doc(r#"{"d":2}"#)
    };
    check(None, &upsert, Some(r#"{"d":2}"#));
    let either = UpdateSpec {
        upsert: Some(Bytes::from_static(br#"{"d":3}"#)),
        ..upsert.clone()
    };
    check(None, &either, Some(r#"{"d":2}"#));
    let other = UpdateSpec {
        doc_as_upsert: false,
        ..either
    };
    check(None, &other, Some(r#"{"d":3}"#));
    let upsert = UpdateSpec {
        defaults: Some(Bytes::from_static(br#"{"d":1,"e":"x"}"#)),
        ..upsert
    };
    check(None, &upsert, Some(r#"{"d":2,"e":"x"}"#));
    check(existing, &upsert, Some("noop"));
}

#[test]
fn objects_that_are_not_joined_are_replaced() {
    let spec = UpdateSpec {
        doc: Some(Bytes::from_static(
            br#"{"a":{"c":[3]},"m":{"x":{"n":2}},"e":{"f":1}}"#,
        )),
        only_joins: Some(vec!["m".to_string()]),
        ..UpdateSpec::default()
    };
    check(
        Some(r#"{"a":{"b":1},"m":{"x":{"o":1},"y":2},"d":2}"#),
        &spec,
        Some(r#"{"a":{"c":[3]},"m":{"x":{"n":2},"y":2},"d":2,"e":{"f":1}}"#),
    );
}

#[test]
fn lists_grow_at_their_end_and_lose_values() {
    let lists = vec![
        ("more".to_string(), ListChange::Append { length_max: 3 }),
        ("less".to_string(), ListChange::Remove),
    ];
    let spec = |doc: &'static str| UpdateSpec {
        doc: Some(Bytes::from_static(doc.as_bytes())),
        only_joins: Some(Vec::new()),
        doc_as_upsert: true,
        lists: lists.clone(),
        ..UpdateSpec::default()
    };
    let before = r#"{"more":[1],"less":["a","b","a"],"other":[1]}"#;
    let doc = r#"{"more":[2,1],"less":["a","c"],"other":[2]}"#;
    let after = r#"{"more":[1,2,1],"less":["b"],"other":[2]}"#;
    check(Some(before), &spec(doc), Some(after));
    check(
        Some(r#"{"more":null,"less":1.5}"#),
        &spec(r#"{"more":[2],"less":[1.5]}"#),
        Some(r#"{"more":[2],"less":[]}"#),
    );
    check(
        Some(before),
        &spec(r#"{"more":null,"less":null}"#),
        Some(before),
    );
    check(
        None,
        &spec(r#"{"more":[2],"less":[1],"other":3}"#),
        Some(r#"{"more":[2],"less":[],"other":3}"#),
    );
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {}}));
    let long = spec(r#"{"more":[2,3,4]}"#);
    let refused = merge_source(&long, Some(before.as_bytes()), &mapping);
    let refused = refused.err().unwrap().to_string();
    assert_eq!(refused, "array length 4 exceeds max_capacity 3");
}

#[test]
fn vectors_of_an_update_take_the_places_of_those_before() {
    let entries = vec![SparseEntry {
        dimension: 3,
        weight: 0.5,
    }];
    let of = |field| UpdateSpec {
        doc: Some(Bytes::from_static(b"{}")),
        vectors: vec![(FieldId::new(field), entries.clone().into())],
        detect_noop: true,
        doc_as_upsert: true,
        ..UpdateSpec::default()
    };
    let before = r#"{"s":{"1":1},"a":2,"o":{"s":{"2":1},"b":3}}"#;
    check(
        Some(before),
        &of(0),
        Some(r#"{"a":2,"o":{"s":{"2":1},"b":3}}"#),
    );
    check(
        Some(before),
        &of(1),
        Some(r#"{"s":{"1":1},"a":2,"o":{"b":3}}"#),
    );
    check(Some(r#"{"o.s":{"2":1},"a":2}"#), &of(1), Some(r#"{"a":2}"#));
    check(None, &of(1), Some("{}"));
}
