//! Nothing from outside may panic, and whatever is taken as a document is one for others too.

use clew_schema::{StoredVector, restore_vectors};
use proptest::prelude::*;

use super::vectors::{floats, stored};
use super::*;

fn mappings() -> [Mapping; 3] {
    let explicit = mapping(&json!({
        "t": { "type": "text", "fields": { "k": { "type": "keyword", "ignore_above": 5 } } },
        "l": { "type": "byte", "ignore_malformed": true },
        "f": { "type": "float" },
        "o": { "type": "boolean", "null_value": true },
        "at": { "type": "date", "format": "yyyy-MM-dd||epoch_second||h:mm a" },
        "ip": { "type": "ip" },
        "v": { "type": "knn_vector", "dimension": 2 },
        "x": { "properties": { "v": { "type": "knn_vector", "dimension": 2, "space_type": "cosinesimil" } } },
        "off": { "enabled": false },
    }));
    let shut = try_mapping(&json!({ "dynamic": false })).unwrap();
    [explicit, Mapping::new(), shut]
}

/// Parses until nothing is missing, and checks what must hold of every document.
fn drive(mut mapping: Mapping, source: &[u8]) {
    let mut document = mapping.parse_document(source);
    if let Ok(Parsed::NeedsMapping(fields)) = document {
        if mapping.grow(fields).is_err() {
            return;
        }
        document = mapping.parse_document(source);
    }
    match document {
        Ok(Parsed::NeedsMapping(fields)) => panic!("fields are missing twice: {fields:?}"),
        Ok(Parsed::Document(document)) => {
            let kept: Value = serde_json::from_slice(&document.source).expect("stored as JSON");
            assert!(kept.is_object());
            let vectors: Vec<StoredVector<'_>> = document
                .vectors
                .iter()
                .map(|(id, vector)| stored(mapping.by_id(*id).unwrap().path.as_str(), vector))
                .collect();
            let restored = restore_vectors(&document.source, &vectors);
            let Ok(Parsed::Document(again)) = mapping.parse_document(&restored) else {
                panic!("{}", String::from_utf8_lossy(&restored));
            };
            assert_eq!(again.fields, document.fields);
            for (id, vector) in &document.vectors {
                assert!(again.vectors.contains(&(*id, vector.clone())));
            }
        }
        Err(error) => {
            let _ = (
                document_reason(&error, "id"),
                document_cause(&error),
                error.to_string(),
            );
        }
    }
}

/// JSON of names and values that the mappings know.
fn json_text() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        prop::sample::select(vec![
            "t", "l", "f", "o", "at", "ip", "v", "x", "off", "x.v", "new", "t.k", "x.y"
        ]),
        Just("\\u0041"),
    ];
    let leaf = prop::sample::select(vec![
        "null",
        "true",
        "1",
        "-1.5e2",
        "300",
        "\"a b\"",
        "\"2024-02-29\"",
        "\"1:05 pm\"",
        "\"::1\"",
        "\"\"",
        "[1,2]",
        "[1.5,-2]",
        "[0,0]",
        "[1,2,3]",
        "\"\\ud83d\\ude00\\n\"",
        "1e400",
        "[]",
        "{}",
        "[null]",
    ])
    .prop_map(str::to_string);
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| format!("[{}]", v.join(","))),
            prop::collection::vec((name.clone(), inner), 0..5).prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(n, v)| format!(" \"{n}\" : {v}"))
                    .collect();
                format!("{{{} }}", members.join(" ,"))
            }),
        ]
    })
}

fn object_text() -> impl Strategy<Value = String> {
    prop::collection::vec(json_text(), 0..6).prop_map(|values| {
        let names = ["v", "t", "x", "f", "new", "at"];
        let members: Vec<_> = names
            .iter()
            .zip(values)
            .map(|(n, v)| format!("\"{n}\":{v}"))
            .collect();
        format!("{{{}}}", members.join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for mapping in mappings() {
            drive(mapping, &bytes);
        }
    }

    #[test]
    fn any_json_is_taken_or_refused(text in prop_oneof![json_text(), object_text()]) {
        for mapping in mappings() {
            drive(mapping, text.as_bytes());
        }
    }

    #[test]
    fn damaged_json_is_taken_or_refused(
        text in object_text(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = text.into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for mapping in mappings() {
            drive(mapping.clone(), &bytes);
            drive(mapping, &bytes[..end.index(bytes.len())]);
        }
    }

    #[test]
    fn any_source_and_path_can_be_restored(text in json_text(), path in "[a-z.\"]{0,6}") {
        let restored = restore_vectors(text.as_bytes(), &[floats(&path, &[1.0, f32::MIN_POSITIVE]), floats("x.v", &[0.5])]);
        let is_json = |text: &[u8]| serde_json::from_slice::<Value>(text).is_ok();
        prop_assert_eq!(is_json(&restored), is_json(text.as_bytes()));
    }
}
