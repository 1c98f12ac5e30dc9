//! Terms of texts: how long they may be, where they lie, and whose analyzer makes them.

use std::collections::BTreeMap;

use clew_schema::{AnalyzerChoice, FieldKind, FieldSpec, MappingSpec};

use super::*;

#[test]
fn terms_that_lucene_could_not_hold_are_refused() {
    let mapping = everything();
    let source = |length| format!(r#"{{"k":"{}"}}"#, "x".repeat(length));
    assert!(mapping.parse_document(source(32_766).as_bytes()).is_ok());
    let error = mapping
        .parse_document(source(32_767).as_bytes())
        .unwrap_err();
    assert_eq!(document_error_type(&error), "illegal_argument_exception");
    let reason = document_reason(&error, "7");
    assert!(reason.starts_with("Document contains at least one immense term in field=\"k\""));
    assert!(reason.contains("first immense term is: '[120, 120, "));
    assert!(reason.ends_with("bytes can be at most 32766 in length; got 32767"));
}

#[test]
fn terms_of_analyzers_that_lucene_could_not_hold_are_refused() {
    let mapping = mapping(&json!({
        "whole": {"type": "text", "analyzer": "keyword"},
        "parts": {"type": "text", "analyzer": "pattern"},
        "words": {"type": "text", "analyzer": "english"},
        "plain": {"type": "text"},
        "kept": {"type": "text", "analyzer": "pattern", "index": false},
    }));
    let refused = |field: &str, text: &str| {
        let source = json!({field: text}).to_string();
        mapping.parse_document(source.as_bytes()).is_err()
    };
    let (fits, long) = ("x".repeat(32_766), "é".repeat(16_384));
    let spaced = "some words ".repeat(5_000);
    for (field, refused_long, refused_spaced) in [
        ("whole", true, true),
        ("parts", true, false),
        ("words", false, false),
        ("plain", false, false),
        ("kept", false, false),
    ] {
        assert!(!refused(field, &fits), "{field}");
        assert_eq!(refused(field, &spaced), refused_spaced, "{field}");
        // The pattern analyzer parts at what is no letter of ASCII.
        let one_word = if field == "parts" {
            "x".repeat(32_767)
        } else {
            long.clone()
        };
        assert_eq!(refused(field, &one_word), refused_long, "{field}");
    }
}

#[test]
fn texts_of_one_field_lie_a_gap_apart() {
    let mapping = everything();
    let found = values(&mapping, r#"{"t":["One two","","Three"]}"#);
    let OwnedValue::PreTokStr(joined) = &found[0].1 else {
        panic!("several texts are cut beforehand");
    };
    let tokens: Vec<_> = joined
        .tokens
        .iter()
        .map(|t| (t.text.as_str(), t.position))
        .collect();
    assert_eq!(tokens, [("one", 0), ("two", 1), ("three", 202)]);
}

#[test]
fn texts_go_through_the_analyzer_that_another_field_chooses() {
    let choice = |by: &str, analyzer: &str| AnalyzerChoice {
        by: by.into(),
        analyzers: BTreeMap::from([("en".to_string(), analyzer.to_string())]),
    };
    let spec = |choice: AnalyzerChoice| {
        let words = FieldSpec {
            multi_field: true,
            choice: Some(choice),
            ..FieldSpec::new("t.words", FieldKind::text("standard"))
        };
        MappingSpec::default()
            .with(FieldSpec::new("t", FieldKind::keyword(None)))
            .with(words)
            .with(FieldSpec::new("lang", FieldKind::keyword(None)))
    };
    let mut mapping = Mapping::new();
    mapping.merge(spec(choice("lang", "english"))).unwrap();
    let words = |source: &str| -> Vec<String> {
        let found = values(&mapping, source).into_iter();
        let found = found.filter(|(path, _)| path == "t.words");
        let cut = found.flat_map(|(_, value)| match value {
            OwnedValue::Str(text) => vec![text],
            OwnedValue::PreTokStr(cut) => cut.tokens.into_iter().map(|one| one.text).collect(),
            other => panic!("{other:?}"),
        });
        cut.collect()
    };
    // What the field's own analyzer is for is cut by the index.
    for (source, want) in [
        (r#"{"t": "The dogs", "lang": "en"}"#, vec!["dog"]),
        (
            r#"{"lang": ["en", "fr"], "t": ["The dogs", "Cats"]}"#,
            vec!["dog", "cat"],
        ),
        (r#"{"t": "The dogs", "lang": "fr"}"#, vec!["The dogs"]),
        (r#"{"t": "The dogs"}"#, vec!["The dogs"]),
        (r#"{"lang": "en"}"#, vec![]),
    ] {
        assert_eq!(words(source), want, "{source}");
    }
    let mut other = mapping.clone();
    for refused in [choice("other", "english"), choice("lang", "unheard")] {
        assert!(other.merge(spec(refused)).is_err());
    }
    assert!(other.merge(spec(choice("lang", "english"))).is_ok());
}
