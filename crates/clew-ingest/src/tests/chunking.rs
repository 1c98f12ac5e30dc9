//! Texts in pieces.

use super::*;

/// What a document becomes, or what is said of it.
fn cut(config: Value, source: Value) -> Value {
    let steps = json!({"processors": [{"text_chunking": config}]});
    let pipeline = Pipeline::parse(&steps).unwrap();
    let mut document = Document::new("i", source, 0);
    match pipeline.steps[0].what.change(&mut document) {
        Ok(()) => document.source,
        Err(failure) => told(failure).into(),
    }
}

fn pieces(algorithm: Value, text: &str) -> Value {
    let config = json!({"field_map": {"t": "p"}, "algorithm": algorithm});
    cut(config, json!({ "t": text }))["p"].take()
}

#[test]
fn texts_are_cut_before_every_so_manyth_word() {
    let text = "This is an example document to be chunked. The document contains a single paragraph, \
                two sentences and 24 tokens by standard tokenizer in OpenSearch.";
    let way = json!({"fixed_token_length": {"token_limit": 10, "overlap_rate": 0.2, "tokenizer": "standard"}});
    let expected = json!([
        "This is an example document to be chunked. The document ",
        "The document contains a single paragraph, two sentences and 24 ",
        "and 24 tokens by standard tokenizer in OpenSearch.",
    ]);
    assert_eq!(pieces(way, text), expected);
    let cases = [
        (json!({}), "a b", json!(["a b"])),
        (
            json!({"fixed_token_length": {"token_limit": "1"}}),
            " ä. b",
            json!([" ä. ", "b"]),
        ),
        (
            json!({"fixed_token_length": {"token_limit": 1, "tokenizer": "whitespace"}}),
            "a,b c",
            json!(["a,b ", "c"]),
        ),
        (
            json!({"fixed_token_length": {"token_limit": 2, "overlap_rate": 0.5}}),
            "a b c",
            json!(["a b ", "b c"]),
        ),
        (
            json!({"fixed_token_length": {"token_limit": 1, "max_chunk_limit": 2}}),
            "a b c d",
            json!(["a ", "b c d"]),
        ),
        (
            json!({"fixed_token_length": {"token_limit": 1, "max_chunk_limit": -1}}),
            "a b c",
            json!(["a ", "b ", "c"]),
        ),
        (json!({"fixed_token_length": {}}), "...", json!([])),
        (json!({"fixed_token_length": {}}), "  ", json!([])),
    ];
    for (way, text, expected) in cases {
        assert_eq!(pieces(way.clone(), text), expected, "{way}");
    }
    let long = "a ".repeat(10_001);
    let said = cut(
        json!({"field_map": {"t": "p"}, "algorithm": {}}),
        json!({ "t": long }),
    );
    assert!(
        said.as_str()
            .unwrap()
            .contains("allowed maximum of [10000]"),
        "{said}"
    );
}

#[test]
fn texts_are_cut_behind_marks() {
    let mark = |mark: &str| json!({"delimiter": {"delimiter": mark}});
    assert_eq!(
        pieces(mark("\n"), "a\nb\n\nc"),
        json!(["a\n", "b\n", "\n", "c"])
    );
    assert_eq!(pieces(mark("aa"), "aaaab"), json!(["aa", "aa", "b"]));
    assert_eq!(pieces(mark("x"), "ax"), json!(["ax"]));
    assert_eq!(
        pieces(json!({"delimiter": {}}), "a\n\nb"),
        json!(["a\n\n", "b"])
    );
    let two = json!({"delimiter": {"delimiter": "x", "max_chunk_limit": 2}});
    assert_eq!(pieces(two, "axbxc"), json!(["ax", "bxc"]));
}

#[test]
fn texts_lie_in_lists_and_objects() {
    let config = json!({
        "field_map": {"o": {"t": "p"}, "l": "q", "gone": "none"},
        "algorithm": {"delimiter": {"delimiter": ".", "max_chunk_limit": 4}},
    });
    let source = json!({"o": [{"t": "a.b.c"}, {"u": 1}], "l": ["d.e", "", "f.g"]});
    // Three texts share four pieces, and each has one at least.
    let expected = json!({
        "o": [{"t": "a.b.c", "p": ["a.", "b.c"]}, {"u": 1, "p": []}],
        "l": ["d.e", "", "f.g"], "q": ["d.e", "f.g"], "none": [],
    });
    assert_eq!(cut(config.clone(), source.clone()), expected);
    let mut lenient = config.clone();
    lenient["ignore_missing"] = true.into();
    let found = cut(lenient, source);
    assert_eq!(
        (&found["none"], &found["o"][1]),
        (&Value::Null, &json!({"u": 1}))
    );
    for (source, reason) in [
        (
            json!({"l": 1}),
            "map type field [l] is neither string nor nested type, cannot process it",
        ),
        (
            json!({"l": ["a", 1]}),
            "list type field [l] has non string value, cannot process it",
        ),
        (
            json!({"l": [null]}),
            "list type field [l] has null, cannot process it",
        ),
        (
            json!({"l": [["a"]]}),
            "list type field [l] is nested list type, cannot process it",
        ),
        (
            json!({"o": [{"t": true}]}),
            "map type field [t] is neither string nor nested type, cannot process it",
        ),
        (
            json!({"l": {"a": "b"}}),
            "[l] configuration doesn't match actual value type, configuration type is: \
             java.lang.String, actual value type is: java.util.HashMap",
        ),
    ] {
        assert_eq!(cut(config.clone(), source), format!("Unfit: {reason}"));
    }
}

#[test]
fn ways_to_cut_are_checked() {
    let words = |parameters: Value| json!({"fixed_token_length": parameters});
    for (algorithm, expected) in [
        (
            words(json!({"token_limit": 0})),
            "Parameter [token_limit] must be positive.",
        ),
        (
            words(json!({"token_limit": "x"})),
            "Parameter [token_limit] must be of java.lang.Integer type",
        ),
        (
            words(json!({"overlap_rate": 0.6})),
            "Parameter [overlap_rate] must be between 0.0 and 0.5",
        ),
        (
            words(json!({"tokenizer": 1})),
            "Parameter [tokenizer] must be of java.lang.String type",
        ),
        (
            words(json!({"max_chunk_limit": -2})),
            "Parameter [max_chunk_limit] must be positive or -1 to disable this parameter",
        ),
        (
            words(json!({"tokenizer": "keyword"})),
            "Tokenizer [keyword] is not supported for [fixed_token_length] algorithm. Supported tokenizers are \
             [standard, letter, lowercase, whitespace, uax_url_email, classic, thai]",
        ),
        (
            json!({"delimiter": {"delimiter": ""}}),
            "Parameter [delimiter] should not be empty.",
        ),
        (
            json!({"delimiter": 1}),
            "Unable to create text_chunking processor as parameters for [delimiter] algorithm must be an object",
        ),
        (
            json!({"delimiter": {}, "fixed_token_length": {}}),
            "Unable to create text_chunking processor as [algorithm] contains multiple algorithms",
        ),
        (
            json!({"x": {}}),
            "Chunking algorithm [x] is not supported. Supported chunking algorithms are [fixed_token_length, delimiter]",
        ),
    ] {
        let step = json!({"text_chunking": {"field_map": {"t": "p"}, "algorithm": algorithm}});
        refuse(step, &format!("{expected}; text_chunking"));
    }
    refuse(
        json!({"text_chunking": {"algorithm": {}}}),
        "[field_map] required property is missing; text_chunking; field_map",
    );
}
