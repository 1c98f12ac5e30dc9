//! Analyzers over texts, each word with its place.

mod bounds;
mod char_filters;
mod filters;
mod settings;
mod tokenizers;
mod word_parts;

use serde_json::{Value, json};

use super::*;

fn words(parts: Value, text: &str) -> Vec<(String, usize)> {
    let chain = Chain::compile(&parts).unwrap();
    let terms = chain.run(text).into_iter();
    terms
        .map(|term| (term.token.text, term.token.position))
        .collect()
}

#[track_caller]
fn check(parts: Value, text: &str, expected: &[(&str, usize)]) {
    let found = words(parts, text);
    let found: Vec<(&str, usize)> = found.iter().map(|(w, p)| (w.as_str(), *p)).collect();
    assert_eq!(found, expected);
}

fn filtered(filter: Value) -> Value {
    json!({"tokenizer": {"type": "whitespace"}, "filter": [filter]})
}

/// The words that a filter leaves of a text cut at spaces, each with its place.
#[track_caller]
fn check_filter(filter: Value, text: &str, expected: &[(&str, usize)]) {
    check(filtered(filter), text, expected);
}
