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

#[test]
fn letters_without_spaces_are_paired() {
    let pairs = |options: Value| {
        let mut pairs = json!({"type": "cjk_bigram"});
        let members = options.as_object().unwrap().clone();
        pairs.as_object_mut().unwrap().extend(members);
        json!({"tokenizer": {"type": "standard"}, "filter": [{"type": "cjk_width"}, pairs]})
    };
    let text = "日本語 x 東 ｶﾞｷ";
    let (usual, both) = (json!({}), json!({"output_unigrams": true}));
    check(
        pairs(usual),
        text,
        &[("日本", 0), ("本語", 1), ("x", 2), ("東", 3), ("ガキ", 4)],
    );
    check(
        pairs(both),
        "日本語 x",
        &[
            ("日", 0),
            ("日本", 0),
            ("本", 1),
            ("本語", 1),
            ("語", 2),
            ("x", 3),
        ],
    );
    check(
        pairs(json!({"ignored_scripts": ["han"]})),
        "日本 한국어",
        &[("日", 0), ("本", 1), ("한국", 2), ("국어", 3)],
    );
}

#[test]
fn mappings_say_with_a_backslash_what_cannot_be_written() {
    let mapping = |rule: &str| {
        let filter = json!({"type": "mapping", "mappings": [rule]});
        json!({"tokenizer": {"type": "whitespace"}, "char_filter": [filter]})
    };
    check(
        mapping(r"\u200C=>\u0020"),
        "a\u{200c}b",
        &[("a", 0), ("b", 1)],
    );
    check(mapping(r"\\=>x"), r"a\b", &[("axb", 0)]);
    assert!(Chain::compile(&mapping(r"\u00=>x")).is_err());
}

#[test]
fn tokenizers_cut_where_their_names_say() {
    for (tokenizer, text, expected) in [
        (json!({"type": "letter"}), "it's 2 B", vec!["it", "s", "B"]),
        (json!({"type": "lowercase"}), "It's", vec!["it", "s"]),
        (
            json!({"type": "pattern", "pattern": ","}),
            "a b,c",
            vec!["a b", "c"],
        ),
        (
            json!({"type": "pattern", "pattern": "x(.)", "group": "1"}),
            "xaxb",
            vec!["a", "b"],
        ),
        (
            json!({"type": "ngram"}),
            "abc",
            vec!["a", "ab", "b", "bc", "c"],
        ),
        (
            json!({"type": "edge_ngram", "max_gram": "3"}),
            "abcd",
            vec!["a", "ab", "abc"],
        ),
        (
            json!({"type": "ngram", "min_gram": 2, "token_chars": ["letter"]}),
            "ab1cd",
            vec!["ab", "cd"],
        ),
        (
            json!({"type": "path_hierarchy"}),
            "/a/b",
            vec!["/a", "/a/b"],
        ),
        (
            json!({"type": "path_hierarchy", "reverse": true, "delimiter": "."}),
            "a.b.c",
            vec!["a.b.c", "b.c", "c"],
        ),
        (
            json!({"type": "char_group", "tokenize_on_chars": ["whitespace", "-"]}),
            "a-b c",
            vec!["a", "b", "c"],
        ),
        (
            json!({"type": "uax_url_email"}),
            "mail me@x.org or http://x.org/a?b now",
            vec!["mail", "me@x.org", "or", "http://x.org/a?b", "now"],
        ),
    ] {
        let found = words(json!({"tokenizer": tokenizer}), text);
        let found: Vec<&str> = found.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn filters_leave_gaps_and_share_places() {
    check(
        filtered(json!({"type": "stop"})),
        "the quick fox",
        &[("quick", 1), ("fox", 2)],
    );
    check(
        filtered(json!({"type": "shingle"})),
        "a b c",
        &[("a", 0), ("a b", 0), ("b", 1), ("b c", 1), ("c", 2)],
    );
    check(
        filtered(json!({"type": "synonym", "synonyms": ["fast, quick", "big apple => nyc"]})),
        "quick big apple pie",
        &[("quick", 0), ("fast", 0), ("nyc", 1), ("pie", 2)],
    );
    check(
        filtered(json!({"type": "word_delimiter", "catenate_words": "true"})),
        "Wi-Fi x2",
        &[("Wi", 0), ("WiFi", 0), ("Fi", 1), ("x", 2), ("2", 3)],
    );
    check(
        filtered(json!({"type": "unique"})),
        "a b a",
        &[("a", 0), ("b", 1)],
    );
    check(
        filtered(json!({"type": "limit", "max_token_count": 1})),
        "a b",
        &[("a", 0)],
    );
}

#[test]
fn filters_change_words() {
    for (filter, text, expected) in [
        (json!({"type": "uppercase"}), "ab", "AB"),
        (json!({"type": "asciifolding"}), "Crème", "Creme"),
        (
            json!({"type": "stemmer", "language": "english"}),
            "foxes",
            "fox",
        ),
        (
            json!({"type": "snowball", "language": "German"}),
            "häuser",
            "haus",
        ),
        (json!({"type": "truncate", "length": 2}), "abc", "ab"),
        (json!({"type": "reverse"}), "abc", "cba"),
        (
            json!({"type": "pattern_replace", "pattern": "(b+)", "replacement": "<$1>"}),
            "abbc",
            "a<bb>c",
        ),
        (json!({"type": "elision"}), "l'avion", "avion"),
        (json!({"type": "decimal_digit"}), "٣", "3"),
    ] {
        check(filtered(filter), text, &[(expected, 0)]);
    }
    let marked = json!({"tokenizer": {"type": "whitespace"}, "filter": [
        {"type": "keyword_marker", "keywords": ["foxes"]}, {"type": "porter_stem"},
    ]});
    check(marked, "foxes boxes", &[("foxes", 0), ("box", 1)]);
}

#[test]
fn places_are_those_of_the_text_before_its_characters_were_filtered() {
    let chain = Chain::compile(&json!({
        "char_filter": [{"type": "html_strip"}, {"type": "mapping", "mappings": ["& => and"]}],
        "tokenizer": {"type": "whitespace"},
    }))
    .unwrap();
    let text = "<b>one</b> &amp; two";
    let terms = chain.run(text);
    let found: Vec<(&str, &str)> = terms
        .iter()
        .map(|term| {
            let range = term.token.offset_from..term.token.offset_to;
            (term.token.text.as_str(), &text[range])
        })
        .collect();
    assert_eq!(found[0], ("one", "one</b>"));
    assert_eq!(found[2], ("two", "two"));
    assert_eq!(found[1].0, "and");
}

#[test]
fn analyzers_of_settings_are_resolved_or_refused() {
    let analysis = Analysis::read(&json!({
        "analyzer": {
            "mine": {"tokenizer": "standard", "filter": ["lowercase", "short"]},
            "en": {"type": "english"},
            "de": {"type": "snowball", "language": "German"},
            "bare": {"type": "snowball", "stopwords": ["dogs"]},
        },
        "filter": {"short": {"type": "truncate", "length": "3"}},
        "normalizer": {"fold": {"type": "custom", "filter": ["lowercase", "asciifolding"]}},
    }))
    .unwrap();
    let mine = analysis.analyzer("mine").unwrap();
    assert_eq!(shown_name(&mine), "mine");
    let found = crate::tokens(&mine, "Longer Words");
    assert_eq!(found[0].text, "lon");
    assert_eq!(
        crate::tokens(&analysis.analyzer("en").unwrap(), "The Foxes")[0].text,
        "fox"
    );
    for (name, text, first) in [("de", "Die Hunde", "hund"), ("bare", "Dogs The", "the")] {
        let found = crate::tokens(&analysis.analyzer(name).unwrap(), text);
        assert_eq!(found[0].text, first, "{name}");
    }
    let fold = analysis.normalizer("fold").unwrap();
    assert_eq!(crate::normalize(&fold, "CRÈME"), "creme");
    for (body, reason) in [
        (
            json!({"analyzer": {"a": {"tokenizer": "nothing"}}}),
            "Unknown tokenizer type [nothing]",
        ),
        (
            json!({"analyzer": {"a": {"tokenizer": "standard", "filter": ["no"]}}}),
            "Unknown filter type [no]",
        ),
        (
            json!({"analyzer": {"a": {"filter": ["lowercase"]}}}),
            "must specify either an analyzer type",
        ),
        (
            json!({"analyzer": {"a": {"type": "no"}}}),
            "Unknown analyzer type [no]",
        ),
    ] {
        let refused = Analysis::read(&body).unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
}
