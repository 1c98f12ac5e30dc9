use clew_opensearch_mapping::{merge, reader};
use clew_schema::{Mapping, Parsed};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Documents and bodies of mappings that change one another's mapping, or are refused.
fn step() -> impl Strategy<Value = (bool, Value)> {
    let name = "[a-d]{1,2}";
    let leaf = prop_oneof![
        Just(json!(1)),
        Just(json!("text")),
        Just(json!("2020-01-01")),
        Just(json!([true])),
        Just(json!({"lat": 1, "lon": 2})),
    ];
    let document = leaf.prop_recursive(3, 12, 3, move |inner| {
        proptest::collection::btree_map(name, inner, 1..4).prop_map(|map| json!(map))
    });
    let field = prop_oneof![
        Just(json!({"type": "keyword", "ignore_above": 5})),
        Just(json!({"type": "keyword", "ignore_above": 9})),
        Just(json!({"type": "text", "fields": {"raw": {"type": "keyword"}}})),
        Just(json!({"type": "alias", "path": "a"})),
        Just(json!({"type": "nested", "properties": {"x": {"type": "long"}}})),
        Just(json!({"type": "object", "enabled": false})),
        Just(json!({"type": "constant_keyword"})),
        Just(json!({"type": "search_as_you_type"})),
        Just(json!({"properties": {"y": {"type": "date"}}, "dynamic": "strict"})),
    ];
    let properties = proptest::collection::btree_map(name, field, 0..4);
    let root = prop_oneof![
        Just(json!({})),
        Just(json!({"dynamic": "true", "_meta": {"n": 1}})),
        Just(json!({"dynamic_templates": [{"t": {"match": "b*", "mapping": {"type": "long"}}}]})),
        Just(json!({"date_detection": false})),
    ];
    let body = (root, properties).prop_map(|(mut root, properties)| {
        root["properties"] = json!(properties);
        root
    });
    let document = proptest::collection::btree_map(name, document, 0..5);
    prop_oneof![
        document.prop_map(|document| (true, json!(document))),
        body.prop_map(|body| (false, body)),
    ]
}

fn change(mapping: &mut Mapping, (is_document, value): &(bool, Value)) {
    let text = value.to_string();
    let refused = if *is_document {
        match mapping.parse_document(text.as_bytes()) {
            Ok(Parsed::NeedsMapping(fields)) => mapping.grow(fields).err(),
            _ => None,
        }
    } else {
        merge(mapping, value).err()
    };
    drop(refused);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn changes_lead_to_the_very_mapping(steps in proptest::collection::vec(step(), 1..8)) {
        let mut mapping = Mapping::new();
        let mut replayed = mapping.encode();
        for step in &steps {
            change(&mut mapping, step);
            let after = mapping.encode();
            let change = MappingChange::between(&replayed, &after);
            let change = change.expect("nothing of a mapping goes away");
            // As it comes back from the log.
            let logged = serde_json::to_vec(&change).unwrap();
            let read: MappingChange = serde_json::from_slice(&logged).unwrap();
            prop_assert_eq!(&read, &change);
            read.apply(&mut replayed).unwrap();
            prop_assert_eq!(&replayed, &after);
            let decoded = Mapping::decode(&replayed, Some(reader())).unwrap();
            prop_assert_eq!(decoded.encode().to_string(), after.to_string());
        }
    }
}

#[test]
fn a_change_has_what_is_new_and_nothing_else() {
    let mut mapping = Mapping::new();
    let wide: Map<String, Value> = (0..500)
        .map(|n| (format!("field{n}"), json!({"type": "keyword"})))
        .collect();
    merge(&mut mapping, &json!({"properties": wide})).unwrap();
    let before = mapping.encode();
    change(&mut mapping, &(true, json!({"new": {"one": 1}})));
    let change = MappingChange::between(&before, &mapping.encode()).unwrap();
    assert_eq!(change.fields.keys().collect::<Vec<_>>(), [&500]);
    let bytes = serde_json::to_vec(&change).unwrap().len();
    assert!(bytes < 200, "{bytes}");
    let same = MappingChange::between(&before, &before).unwrap();
    assert_eq!(same, MappingChange::default());
}

#[test]
fn what_does_not_fit_is_refused() {
    let fields = |count: usize| json!({"fields": vec![json!({}); count], "objects": {}});
    assert_eq!(MappingChange::between(&fields(2), &fields(1)), None);
    let gone = json!({"fields": []});
    let next = json!({"fields": [], "objects": {}, "format": 2});
    assert_eq!(MappingChange::between(&fields(0), &next), None);
    assert_eq!(MappingChange::between(&fields(0), &gone), None);
    let change = MappingChange::between(&fields(2), &fields(3)).unwrap();
    assert!(change.clone().apply(&mut fields(1)).is_err());
    assert!(change.clone().apply(&mut json!({"objects": {}})).is_err());
    assert!(change.apply(&mut fields(2)).is_ok());
}
