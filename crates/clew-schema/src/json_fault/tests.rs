//! What is wrong with texts, held against what a real OpenSearch 2.19 told of them.

use super::*;

const VALUES: &str = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')";

/// What is wrong with a text: whether it ends too early, in words, and the column.
fn fault(text: &str) -> (bool, String, usize) {
    let fault = JsonFault::of(text.as_bytes()).expect(text);
    let words = fault.words(|line, column| match column {
        Some(column) => format!("<{line}:{column}>"),
        None => format!("<{line}>"),
    });
    (fault.is_end, words, fault.place.column)
}

fn token(word: &str) -> String {
    format!("Unrecognized token '{word}': was expecting {VALUES}")
}

fn odd(word: &str) -> String {
    format!(
        "Non-standard token '{word}': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow"
    )
}

fn character(told: &str) -> String {
    format!("Unexpected character {told}")
}

#[test]
#[rustfmt::skip]
fn faults_are_told_as_opensearch_tells_them() {
    let name = |found: &str| {
        character(&format!("({found}): was expecting double-quote to start field name"))
    };
    let close = |told: &str| format!("Unexpected close marker {told}");
    for (text, reason, column) in [
        ("x", token("x"), 2),
        (r#"{"query":{"match_all":{}}} x"#, token("x"), 29),
        (r#"{"query": nul}"#, token("nul"), 15),
        (r#"{"b":truex}"#, token("truex"), 12),
        (r#"{"n": NaN}"#, odd("NaN"), 10),
        (r#"{"size":-Infinity}"#, odd("-Infinity"), 18),
        (r#"{"x":+Infinity}"#, odd("+Infinity"), 15),
        (r#"{"query":{"match_all":{}},}"#, name("'}' (code 125)"), 27),
        ("{'query':1}", name("''' (code 39)"), 2),
        ("{{}}", name("'{' (code 123)"), 2),
        (r#"{"query" {"match_all":{}}}"#, character("('{' (code 123)): was expecting a colon to separate field name and value"), 10),
        (r#"{"k": ["a",]}"#, character("(']' (code 93)): expected a value"), 12),
        (r#"{"k":/x/}"#, character("('x' (code 120)): was expecting either '*' or '/' for a comment"), 7),
        (r#"{"x":-.5}"#, character(&format!("('.' (code 46)): expected a valid value {VALUES}")), 7),
        (r#"{"a":1."#, character("('.' (code 46)) in numeric value: Decimal point not followed by a digit"), 7),
        (r#"{"a":01}"#, "Invalid numeric value: Leading zeroes not allowed".to_string(), 7),
        (r#"{"query":{"match":{"t":"\x"}}}"#, "Unrecognized character escape 'x' (code 120)".to_string(), 26),
        ("{\"k\": \"a\nb\"}", "Illegal unquoted character ((CTRL-CHAR, code 10)): has to be escaped using backslash to be included in string value".to_string(), 9),
        ("{\"n\":1}\0", "Illegal character ((CTRL-CHAR, code 0)): only regular white space (\\r, \\n, \\t) is allowed between tokens".to_string(), 9),
        (r#"{"k": ["a"}"#, close("'}': expected ']' (for Array starting at <1:7>)"), 11),
        (r#"{"k":[[}"#, close("'}': expected ']' (for Array starting at <1:7>)"), 8),
        ("{]", close("']': expected '}' (for Object starting at <1:1>)"), 2),
        (r#"{"k": "a"}}"#, close("'}': expected ']' (for root starting at <1>)"), 11),
    ] {
        assert_eq!(fault(text), (false, reason, column), "{text}");
    }
}

#[test]
fn texts_that_end_too_early_say_within_what() {
    let open = "Unexpected end-of-input: expected close marker for Object (start marker at <1:1>)";
    let within = "Unexpected end-of-input within/between Object entries";
    for (text, reason, column) in [
        ("{", open, 2),
        (r#"{"query":{"match_all":{}}"#, open, 26),
        (r#"{"index":"#, within, 10),
        (r#"{"query"#, "Unexpected end-of-input in field name", 8),
        (r#"{"k": "a"#, "Unexpected end-of-input in VALUE_STRING", 9),
        (
            r#"{"a":"\"#,
            "Unexpected end-of-input in character escape sequence",
            8,
        ),
        (r#"{"a":-"#, "Unexpected end-of-input in FIELD_NAME", 7),
        (r#"{"x":/* a"#, "Unexpected end-of-input in a comment", 10),
    ] {
        assert_eq!(fault(text), (true, reason.to_string(), column), "{text}");
    }
}

#[test]
fn what_is_json_and_what_nests_too_deeply_have_no_fault_here() {
    let deep = "[".repeat(100_000);
    for text in [
        "{}",
        r#" {"a": [1, -2.5e+3, "é\n\u00e9", true, false, null, {}], "b": []} "#,
        "{} {}",
        "/* a comment */ {} // another",
        deep.as_str(),
    ] {
        assert_eq!(JsonFault::of(text.as_bytes()), None, "{text:.40}");
    }
}

#[test]
fn every_beginning_of_a_text_has_a_fault_or_none_and_never_a_panic() {
    let text = r#"{"a": [1, -2.5e+3, "é\u00e9", true], /* x */ "b": {"c": null}}"#.as_bytes();
    for end in 1..text.len() {
        JsonFault::of(&text[..end]);
        let mut broken = text.to_vec();
        broken[end] = b'\xff';
        JsonFault::of(&broken);
    }
}
