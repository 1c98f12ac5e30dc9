use serde_json::json;

use super::*;
use crate::completion::{CompletionContext, ContextKind};

fn mapping(contexts: &[&str]) -> CompletionMapping {
    let contexts = contexts.iter().map(|name| CompletionContext {
        name: (*name).to_string(),
        kind: ContextKind::Category,
        path: None,
    });
    CompletionMapping {
        analyzer: "simple".to_string(),
        keep_separators: true,
        length_max: 50,
        contexts: contexts.collect(),
    }
}

#[test]
fn inputs_become_terms_and_are_read_back() {
    let plain = mapping(&[]);
    let value = json!(["Foo Bar", {"input": ["x", "y"], "weight": "7"}]);
    let found = terms("s", &plain, &value).unwrap();
    assert_eq!(found.len(), 3);
    let first = CompletionEntry::read(&found[0]).unwrap();
    assert_eq!(
        (first.normal, first.weight, first.input),
        ("foo bar", 1, "Foo Bar")
    );
    assert_eq!(CompletionEntry::read(&found[2]).unwrap().weight, 7);
}

#[test]
fn without_inputs_there_are_no_terms() {
    for mapping in [mapping(&[]), mapping(&["c"])] {
        for value in [json!({}), json!({"weight": 1}), json!({"input": []})] {
            assert_eq!(terms("s", &mapping, &value), Ok(Vec::new()), "{value}");
        }
    }
}

#[test]
fn what_cannot_be_an_input_is_refused() {
    let plain = mapping(&[]);
    let bound = mapping(&["c"]);
    for (mapping, value, reason) in [
        (
            &plain,
            json!({"input": 1}),
            "input must be a string or array, but was [VALUE_NUMBER]",
        ),
        (
            &plain,
            json!({"input": ["a", 1]}),
            "input array must have string values, but was [VALUE_NUMBER]",
        ),
        (
            &plain,
            json!({"input": "a", "weight": "x"}),
            "weight must be an integer, but was [x]",
        ),
        (
            &plain,
            json!({"input": "a", "contexts": {"c": "x"}}),
            "contexts field is not supported for field: [s]",
        ),
        (
            &plain,
            json!({"input": "a", "weight": -1}),
            "in the interval",
        ),
        (
            &plain,
            json!({"input": "a", "x": 1}),
            "unknown field name [x]",
        ),
        (
            &plain,
            json!("a\u{1f}b"),
            "[0x1f] at position 1 is a reserved character",
        ),
        (
            &plain,
            json!(1),
            "expected text or object, but got VALUE_NUMBER",
        ),
        (&bound, json!("a"), "Contexts are mandatory"),
        (
            &bound,
            json!({"input": "a", "contexts": {"d": "x"}}),
            "Unknown context name [d]",
        ),
    ] {
        let error = terms("s", mapping, &value).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}
