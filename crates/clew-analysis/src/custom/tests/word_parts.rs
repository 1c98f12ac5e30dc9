//! Filters that make parts of words: compounds, groups of patterns, what lies between delimiters.

use super::*;

#[test]
fn compounds_have_their_parts_beside_them() {
    let compounds = |longest: bool| {
        let words = ["Donau", "dampf", "schiff", "schiffahrt", "fahrt"];
        json!({"type": "dictionary_decompounder", "word_list": words, "only_longest_match": longest})
    };
    let text = "Donaudampfschiffahrt dam";
    let whole = ("Donaudampfschiffahrt", 0);
    let expected = [
        whole,
        ("Donau", 0),
        ("dampf", 0),
        ("schiff", 0),
        ("schiffahrt", 0),
        ("fahrt", 0),
        ("dam", 1),
    ];
    check_filter(compounds(false), text, &expected);
    let expected = [
        whole,
        ("Donau", 0),
        ("dampf", 0),
        ("schiffahrt", 0),
        ("fahrt", 0),
        ("dam", 1),
    ];
    check_filter(compounds(true), text, &expected);
}

#[test]
fn groups_of_patterns_are_terms() {
    let groups = |patterns: Value, keep: bool| json!({"type": "pattern_capture", "patterns": patterns, "preserve_original": keep});
    let patterns = json!(["([a-z]+)([A-Z])", "(\\d)"]);
    check_filter(
        groups(patterns, false),
        "foo PowerShot",
        &[("foo", 0), ("ower", 1), ("S", 1)],
    );
    check_filter(
        groups(json!(["(\\w+)", "(\\d+)", "@(.+)"]), true),
        "john_12@foo.com",
        &[
            ("john_12@foo.com", 0),
            ("john_12", 0),
            ("12", 0),
            ("foo", 0),
            ("foo.com", 0),
            ("com", 0),
        ],
    );
}

#[test]
fn what_words_are_made_of_can_be_said() {
    let cut = |more: Value| {
        let mut filter = json!({"type": "word_delimiter_graph"});
        filter
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        filtered(filter)
    };
    check(
        cut(json!({"type_table": ["# => ALPHA", "\\u0040 => ALPHANUM", "- => DIGIT"]})),
        "#tag-x @me a_b",
        &[
            ("#tag", 0),
            ("-", 1),
            ("x", 2),
            ("@me", 3),
            ("a", 4),
            ("b", 5),
        ],
    );
    check(
        cut(json!({"protected_words": ["wi-fi"]})),
        "wi-fi Wi-Fi",
        &[("wi-fi", 0), ("Wi", 1), ("Fi", 2)],
    );
    for (rule, reason) in [
        ("ab => ALPHA", "single character"),
        ("a => X", "Illegal type"),
        ("a", "Invalid"),
    ] {
        let refused = Chain::compile(&cut(json!({"type_table": [rule]}))).unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
    let chain = Chain::compile(&cut(json!({"adjust_offsets": false}))).unwrap();
    let places: Vec<(usize, usize)> = chain
        .run("wi-fi")
        .iter()
        .map(|term| (term.token.offset_from, term.token.offset_to))
        .collect();
    assert_eq!(places, [(0, 5), (0, 5)]);
    let marked = json!({"tokenizer": {"type": "whitespace"}, "filter": [
        {"type": "keyword_marker", "keywords": ["wi-fi"]},
        {"type": "word_delimiter_graph", "ignore_keywords": true},
    ]});
    check(marked, "wi-fi a-b", &[("wi-fi", 0), ("a", 1), ("b", 2)]);
}

#[test]
fn what_is_joined_stands_where_lucene_has_it() {
    let all = json!({"catenate_words": true, "catenate_numbers": true, "catenate_all": true});
    let joined = json!({
        "catenate_words": true, "catenate_numbers": true, "generate_word_parts": false,
        "generate_number_parts": false, "split_on_case_change": false,
    });
    for (kind, more, text, expected) in [
        (
            "word_delimiter_graph",
            &all,
            "foo--1,000--bar",
            "foo1000bar:0 foo:0 1000:1 1:1 000:2 bar:3",
        ),
        (
            "word_delimiter",
            &all,
            "foo--1,000--bar",
            "foo:0 foo1000bar:0 1:1 1000:1 000:2 bar:3",
        ),
        (
            "word_delimiter_graph",
            &joined,
            "fooBar-12",
            "fooBar:0 12:1",
        ),
        (
            "word_delimiter",
            &json!({}),
            "- a - b-c - - d",
            "a:1 b:2 c:3 d:4",
        ),
        ("word_delimiter_graph", &json!({}), "a - b", "a:0 b:2"),
        (
            "word_delimiter_graph",
            &json!({}),
            "e\u{301}te\u{301} 日A a😀b ½a",
            "e\u{301}te\u{301}:0 日A:1 a😀b:2 a:3",
        ),
    ] {
        let mut filter = more.clone();
        filter["type"] = kind.into();
        let found = words(filtered(filter), text).into_iter();
        let found: Vec<String> = found.map(|(word, at)| format!("{word}:{at}")).collect();
        assert_eq!(found.join(" "), expected, "{kind}");
    }
}

#[test]
fn places_that_go_back_do_not_go_before_the_first() {
    let put = |rule: &str| json!([{"type": "synonym", "synonyms": [rule]}]);
    let beside = json!({"type": "multiplexer", "chains": [put("x => a -"), put("x => b")]});
    let parts = json!({"tokenizer": {"type": "whitespace"}, "filter": [beside, {"type": "word_delimiter"}]});
    check(parts, "x", &[("x", 0), ("a", 0), ("b", 0)]);
}

#[test]
fn pieces_come_from_the_end_and_of_letters_of_ones_own() {
    let back = json!({"type": "edge_ngram", "min_gram": 1, "max_gram": 2, "side": "back"});
    check_filter(back, "foo Bar", &[("o", 0), ("oo", 0), ("r", 1), ("ar", 1)]);
    let own = json!({"tokenizer": {"type": "ngram", "min_gram": 3, "max_gram": 3,
        "token_chars": ["letter", "custom"], "custom_token_chars": "-_"}});
    check(own, "a-b c_d1", &[("a-b", 0), ("c_d", 1)]);
    check_filter(
        json!({"type": "delimited_payload"}),
        "a|1 b|x|y c",
        &[("a", 0), ("b", 1), ("c", 2)],
    );
    let marked = json!({"tokenizer": {"type": "whitespace"}, "filter": [
        {"type": "keyword_marker", "keywords_pattern": "run.*"}, {"type": "porter_stem"},
    ]});
    check(marked, "running walking", &[("running", 0), ("walk", 1)]);
}
