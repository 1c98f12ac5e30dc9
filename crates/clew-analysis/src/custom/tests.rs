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
fn analyzers_that_may_make_terms_as_long_as_texts_are_known() {
    let tokenizer = |kind: &str| json!({"tokenizer": {"type": kind}});
    for (parts, expected) in [
        (tokenizer("keyword"), true),
        (tokenizer("pattern"), true),
        (tokenizer("path_hierarchy"), true),
        (tokenizer("whitespace"), false),
        (tokenizer("standard"), false),
        (tokenizer("letter"), false),
        (filtered(json!({"type": "fingerprint"})), true),
        (filtered(json!({"type": "lowercase"})), false),
    ] {
        let chain = Chain::compile(&parts).unwrap();
        assert_eq!(chain.makes_long_terms(), expected, "{parts}");
    }
    for (name, expected) in [
        ("keyword", true),
        ("pattern", true),
        ("standard", false),
        ("english", false),
    ] {
        assert_eq!(crate::makes_long_terms(name), expected, "{name}");
    }
}

#[test]
fn letters_and_spaces_are_those_of_java() {
    let upper = json!({"type": "uppercase"});
    check(filtered(upper), "ᾄß straße", &[("ᾌß", 0), ("STRAßE", 1)]);
    let trimmed = json!({
        "tokenizer": {"type": "pattern", "pattern": ","}, "filter": [{"type": "trim"}],
    });
    check(
        trimmed,
        " a ,\u{a0}b\u{3000},\u{1f}c\t",
        &[("a", 0), ("\u{a0}b", 1), ("c", 2)],
    );
}

#[test]
fn what_names_no_list_of_stop_words_is_a_word() {
    let stop = json!({"type": "stop", "stopwords": ["_klingon_", "_english_"]});
    check(filtered(stop), "the _klingon_ x", &[("x", 2)]);
}

#[test]
fn a_fingerprint_begins_where_its_text_does_and_is_counted_as_java_counts() {
    let parts = json!({
        "tokenizer": {"type": "standard"}, "filter": [{"type": "fingerprint", "max_output_size": 5}],
    });
    let chain = Chain::compile(&parts).unwrap();
    let terms = chain.run("#あ い う");
    let found: Vec<_> = terms
        .iter()
        .map(|term| (term.token.text.as_str(), term.token.offset_from))
        .collect();
    assert_eq!(found, [("あ い う", 0)]);
}

#[test]
fn the_analyzer_chinese_is_the_standard_one_with_stop_words() {
    let chain = chain("chinese").unwrap();
    let words: Vec<String> = chain
        .run("The quick 東京")
        .into_iter()
        .map(|term| term.token.text)
        .collect();
    assert_eq!(words, ["quick", "東", "京"]);
}

#[test]
fn a_text_becomes_no_more_than_it_may_and_what_is_left_out_is_told() {
    let shingles = json!({"type": "shingle", "max_shingle_size": 4});
    let longer =
        json!({"type": "pattern_replace", "pattern": "a", "replacement": "a".repeat(2_000)});
    let longer: Vec<Value> = std::iter::repeat_n(longer, 6).collect();
    let filters: Vec<Value> = std::iter::repeat_n(shingles, 4).collect();
    for (parts, text) in [
        (
            json!({"tokenizer": {"type": "path_hierarchy"}}),
            "/a".repeat(20_000),
        ),
        (
            json!({"tokenizer": {"type": "path_hierarchy", "reverse": true}}),
            "/a".repeat(20_000),
        ),
        (
            json!({"tokenizer": {"type": "standard"}, "filter": filters}),
            "a ".repeat(3_000),
        ),
        (
            json!({"tokenizer": {"type": "whitespace"}, "char_filter": longer}),
            "a b c ".repeat(4),
        ),
    ] {
        take_left_out();
        let found = words(parts.clone(), &text);
        let bytes: usize = found.iter().map(|(word, _)| word.len()).sum();
        assert!(bytes < 32 << 20, "{bytes} bytes of {parts}");
        assert!(take_left_out(), "{parts}");
        if parts.get("char_filter").is_none() {
            let short = words(parts.clone(), &text[..20]);
            assert!(!short.is_empty() && !take_left_out(), "{parts}");
        }
    }
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
            json!({"type": "path_hierarchy", "skip": 1}),
            "/a/b/c",
            vec!["/b", "/b/c"],
        ),
        (
            json!({"type": "path_hierarchy", "skip": 2, "reverse": true}),
            "/one/two/three",
            vec!["/one/", "one/"],
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
    let gaps = json!({"tokenizer": {"type": "whitespace"}, "filter": [
        {"type": "stop", "stopwords": ["the", "and", "a"]}, {"type": "shingle"},
    ]});
    check(
        gaps,
        "the quick fox and a dog",
        &[
            ("_ quick", 0),
            ("quick", 1),
            ("quick fox", 1),
            ("fox", 2),
            ("fox _", 2),
            ("_ dog", 3),
            ("dog", 4),
        ],
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
        "a b a c",
        &[("a", 0), ("b", 1), ("c", 2)],
    );
    check(
        filtered(json!({"type": "word_delimiter", "generate_word_parts": false})),
        "'x' SL500's fox's-tail",
        &[("x", 0), ("500", 1)],
    );
    check(
        filtered(json!({"type": "word_delimiter", "preserve_original": true})),
        "fox's SL5's",
        &[
            ("fox's", 0),
            ("fox", 0),
            ("SL5's", 1),
            ("SL", 1),
            ("5", 2),
            ("s", 3),
        ],
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
        (json!({"type": "uppercase"}), "abß", "ABß"),
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

/// The words that a filter leaves of a text cut at spaces, each with its place.
#[track_caller]
fn check_filter(filter: Value, text: &str, expected: &[(&str, usize)]) {
    check(filtered(filter), text, expected);
}

#[test]
fn words_of_a_list_are_kept_alone() {
    let keep = |more: Value| json!({"type": "keep", "keep_words": ["foo", "runs"], "keep_words_case": more});
    check_filter(
        keep(json!(false)),
        "foo Foo runs x",
        &[("foo", 0), ("runs", 2)],
    );
    check_filter(keep(json!("true")), "foo Foo x", &[("foo", 0), ("Foo", 1)]);
    let kinds = |mode: &str| {
        let filter = json!({"type": "keep_types", "types": ["<NUM>"], "mode": mode});
        json!({"tokenizer": {"type": "standard"}, "filter": [filter]})
    };
    check(kinds("include"), "a 1 b", &[("1", 1)]);
    check(kinds("exclude"), "a 1 b", &[("a", 0), ("b", 2)]);
    assert!(Chain::compile(&kinds("no")).is_err());
    assert!(Chain::compile(&filtered(json!({"type": "keep"}))).is_err());
}

#[test]
fn stems_that_are_given_stand_against_stemmers() {
    let stems =
        json!({"type": "stemmer_override", "rules": ["running, runs => ran", "foo => bars"]});
    let chain =
        json!({"tokenizer": {"type": "whitespace"}, "filter": [stems, {"type": "porter_stem"}]});
    let expected = [("ran", 0), ("ran", 1), ("bars", 2), ("walk", 3)];
    check(chain, "running runs foo walking", &expected);
    for rule in ["running runs", "a => b => c", "=> b", "a =>", "a, => b"] {
        let stems = json!({"type": "stemmer_override", "rules": [rule]});
        let refused = Chain::compile(&filtered(stems)).unwrap_err();
        assert!(
            refused.contains("Invalid keyword override rule"),
            "{refused}"
        );
    }
}

#[test]
fn terms_are_repeated_for_those_who_look_for_both() {
    let chain = json!({"tokenizer": {"type": "whitespace"}, "filter": [
        {"type": "keyword_repeat"}, {"type": "porter_stem"}, {"type": "remove_duplicates"},
    ]});
    let expected = [
        ("running", 0),
        ("run", 0),
        ("foxes", 1),
        ("fox", 1),
        ("cat", 2),
    ];
    check(chain, "running foxes cat", &expected);
}

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
fn common_words_are_paired_with_their_neighbours() {
    let pairs = |query: bool| json!({"type": "common_grams", "common_words": ["the", "is"], "query_mode": query});
    let expected = [
        ("the", 0),
        ("the_quick", 0),
        ("quick", 1),
        ("quick_is", 1),
        ("is", 2),
        ("is_brown", 2),
        ("brown", 3),
        ("dog", 4),
    ];
    check_filter(pairs(false), "the quick is brown dog", &expected);
    let expected = [
        ("the_quick", 0),
        ("quick_is", 1),
        ("is_brown", 2),
        ("brown", 3),
        ("dog", 4),
    ];
    check_filter(pairs(true), "the quick is brown dog", &expected);
    check_filter(pairs(true), "brown the", &[("brown_the", 0)]);
    check_filter(pairs(true), "the", &[("the", 0)]);
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
fn several_chains_stand_beside_each_other() {
    let source = json!({
        "filter": {
            "both": {"type": "multiplexer", "filters": ["lowercase", "lowercase, short"]},
            "one": {"type": "multiplexer", "filters": ["uppercase"], "preserve_original": false},
            "short": {"type": "truncate", "length": 3},
        },
        "analyzer": {
            "both": {"tokenizer": "whitespace", "filter": ["both"]},
            "one": {"tokenizer": "whitespace", "filter": ["one"]},
        },
    });
    let analysis = Analysis::read(&source).unwrap();
    let words = |name: &str| -> Vec<String> {
        let found = crate::tokens(&analysis.analyzer(name).unwrap(), "Runs foo");
        found.into_iter().map(|token| token.text).collect()
    };
    assert_eq!(words("both"), ["Runs", "runs", "run", "foo"]);
    assert_eq!(words("one"), ["RUNS", "FOO"]);
    let unknown = json!({
        "filter": {"both": {"type": "multiplexer", "filters": ["nope"]}},
        "analyzer": {"both": {"tokenizer": "whitespace", "filter": ["both"]}},
    });
    assert!(Analysis::read(&unknown).unwrap_err().contains("[nope]"));
}

#[test]
fn scripts_choose_terms() {
    let source = json!({
        "filter": {
            "short": {"type": "condition", "filter": ["lowercase", "first"],
                "script": {"source": "token.getTerm().length() < 5"}},
            "first": {"type": "truncate", "length": 2},
            "long": {"type": "predicate_token_filter", "script": {"source": "token.term.length() > 4"}},
        },
        "analyzer": {
            "short": {"tokenizer": "whitespace", "filter": ["short"]},
            "long": {"tokenizer": "whitespace", "filter": ["long"]},
        },
    });
    let analysis = Analysis::read(&source).unwrap();
    let words = |name: &str| -> Vec<(String, usize)> {
        let found = crate::tokens(&analysis.analyzer(name).unwrap(), "What Flapdoodle IS this");
        let found = found.into_iter();
        found.map(|token| (token.text, token.position)).collect()
    };
    let placed = |words: &[(&str, usize)]| -> Vec<(String, usize)> {
        let words = words.iter();
        words
            .map(|(word, place)| ((*word).to_string(), *place))
            .collect()
    };
    let short = [("wh", 0), ("Flapdoodle", 1), ("is", 2), ("th", 3)];
    assert_eq!(words("short"), placed(&short));
    // Where words are left out their places stay.
    assert_eq!(words("long"), placed(&[("Flapdoodle", 1)]));
    for filter in [
        json!({"type": "predicate_token_filter"}),
        json!({"type": "predicate_token_filter", "script": {"source": "int x = 1; true"}}),
        json!({"type": "condition", "filter": ["nope"], "script": {"source": "true"}}),
    ] {
        let source = json!({
            "filter": {"own": filter},
            "analyzer": {"own": {"tokenizer": "whitespace", "filter": ["own"]}},
        });
        assert!(Analysis::read(&source).is_err(), "{source}");
    }
}

#[test]
fn classic_words_lose_their_owners_and_points() {
    let parts = json!({"tokenizer": {"type": "classic"}, "filter": [{"type": "classic"}]});
    check(
        parts,
        "Meier's P.S. x@y.org",
        &[("Meier", 0), ("PS", 1), ("x@y.org", 2)],
    );
}

#[test]
fn tokens_are_as_long_as_settings_say() {
    let short = |kind: &str| json!({"tokenizer": {"type": kind, "max_token_length": 4}});
    check(
        short("standard"),
        "jumped_over a",
        &[("jump", 0), ("ed_o", 1), ("ver", 2), ("a", 3)],
    );
    check(
        short("whitespace"),
        "k-Brown é😀😀",
        &[("k-Br", 0), ("own", 1), ("é😀", 2), ("😀", 3)],
    );
    let source = json!({"analyzer": {"five": {"type": "standard", "max_token_length": 5}}});
    let five = Analysis::read(&source).unwrap().analyzer("five").unwrap();
    let found: Vec<String> = crate::tokens(&five, "Jumped")
        .into_iter()
        .map(|t| t.text)
        .collect();
    assert_eq!(found, ["jumpe", "d"]);
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
fn shingles_reach_over_words_that_are_left_out_at_the_end() {
    let stopped = |mut shingle: Value| {
        shingle["type"] = "shingle".into();
        json!({"tokenizer": {"type": "standard"}, "filter": [{"type": "stop"}, shingle]})
    };
    let three = json!({"min_shingle_size": 3, "max_shingle_size": 4});
    let lone = json!({
        "min_shingle_size": 3, "max_shingle_size": 3, "output_unigrams": false,
        "output_unigrams_if_no_shingles": true,
    });
    for (shingle, text, expected) in [
        (&json!({}), "fox the the", "fox:0 fox _:0"),
        (&json!({}), "the", ""),
        (&three, "fox the", "fox:0"),
        (&three, "the fox", ""),
        (&three, "fox the red", "fox:0 fox _ red:0"),
        (
            &three,
            "fox red the a",
            "fox:0 fox red _:0 fox red _ _:0 red:1 red _ _:1",
        ),
        (&lone, "fox red", "fox:0 red:1"),
        (&lone, "fox the", "fox:0"),
        (&lone, "the fox", ""),
        (&lone, "fox the the", "fox _ _:0"),
    ] {
        let found = words(stopped(shingle.clone()), text).into_iter();
        let found: Vec<String> = found.map(|(word, at)| format!("{word}:{at}")).collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }
    let chain = Chain::compile(&stopped(json!({}))).unwrap();
    let last = chain.run("fox the the ").pop().unwrap();
    assert_eq!((last.token.offset_from, last.token.offset_to), (0, 12));
}

#[test]
fn classic_leaves_out_what_is_too_long_and_keeps_its_place() {
    let classic = json!({"tokenizer": {"type": "classic", "max_token_length": 5}});
    check(classic, "abcdefgh ij I.B.M. x", &[("ij", 1), ("x", 3)]);
    let chain = Chain::compile(&json!({"tokenizer": {"type": "classic"}})).unwrap();
    let host = chain.run("example.com.").pop().unwrap();
    assert_eq!(
        (host.token.text.as_str(), host.token.offset_to),
        ("example.com", 12)
    );
}

#[test]
fn parts_of_a_request_that_there_are_not_are_told_by_their_types() {
    let analysis = Analysis::default();
    for (wanted, reason) in [
        (
            json!({"tokenizer": {"type": "foo"}}),
            "failed to find global tokenizer under [foo]",
        ),
        (
            json!({"filter": [{"type": "foo"}]}),
            "failed to find global filter under [foo]",
        ),
        (
            json!({"char_filter": [{"x": 1}]}),
            "Missing [type] setting for anonymous char_filter: {\"x\":\"1\"}",
        ),
    ] {
        let refused = analysis.assembled(&wanted, PartLimits::default());
        assert_eq!(refused.unwrap_err(), reason);
    }
}

#[test]
fn tags_may_be_kept() {
    let strip = json!({"type": "html_strip", "escaped_tags": ["b"]});
    let chain = json!({"tokenizer": {"type": "keyword"}, "char_filter": [strip]});
    check(
        chain,
        "a <b>bold</B> <i>x</i> <br> &amp; &eacute;&copy;&foo;",
        &[("a <b>bold</B> x \n & é©&foo;", 0)],
    );
}

#[test]
fn tags_end_a_line_unless_they_stand_within_one() {
    for (text, expected) in [
        (
            "<dl><dt>salt</dt><dd>white</dd></dl>",
            "\n\nsalt\n\nwhite\n\n",
        ),
        ("<title>a</title><x-tile>b</x-tile>", "\na\n\nb\n"),
        ("<em>a</em><SPAN class=x>b</SPAN><code>c</code>", "abc"),
        ("<!DOCTYPE html><?xml version='1.0'?>a", "a"),
        ("a<p title=\"b>c\">d<p title='e>'>f", "a\nd\nf"),
        ("it<b it's>a</b> isn't > b", "ita isn't > b"),
        ("<a href=\"open>rest", "rest"),
    ] {
        assert_eq!(super::strip_html(text), expected, "{text}");
    }
}

#[test]
fn entities_have_names() {
    for (text, expected) in [
        ("caf&eacute; &Eacute;T&Eacute;", "café ÉTÉ"),
        ("&euro;5 &ndash; &laquo;x&raquo;", "€5 – «x»"),
        ("&thetasym;&AMP;&#233;&#xe9;&nbsp;x", "\u{3d1}&éé x"),
        ("&nosuch; &eacute &;", "&nosuch; &eacute &;"),
    ] {
        assert_eq!(super::strip_html(text), expected, "{text}");
    }
}

#[test]
fn synonyms_may_be_wordnets() {
    let lines = [
        "s(1,1,'woods',n,1,0).",
        "s(2,1,'cat',n,1,0).",
        "s(1,2,'forest',n,1,0).",
    ];
    let synonyms =
        |lines: Value| json!({"type": "synonym", "format": "wordnet", "synonyms": lines});
    check_filter(
        synonyms(json!(lines)),
        "forest cat",
        &[("forest", 0), ("woods", 0), ("cat", 1)],
    );
    assert!(Chain::compile(&filtered(synonyms(json!(["forest, woods"])))).is_err());
}

#[test]
fn what_was_kept_is_read_without_what_is_not_taken_any_more() {
    let source = json!({
        "filter": {"f": {"type": "keyword_marker", "keywords_pattern": "("}},
        "tokenizer": {"t": {"type": "pattern", "pattern": "("}},
        "analyzer": {
            "a": {"tokenizer": "whitespace", "filter": ["f", "lowercase"]},
            "b": {"tokenizer": "t", "filter": ["uppercase"]},
            "c": {"tokenizer": "keyword"},
        },
        "normalizer": {"n": {"filter": ["f", "lowercase"]}},
    });
    assert!(Analysis::read(&source).is_err());
    let kept = Analysis::kept(&source);
    for (name, expected) in [
        ("a", vec!["a-b", "c"]),
        ("b", vec!["A", "B", "C"]),
        ("c", vec!["A-b C"]),
    ] {
        let terms = crate::tokens(&kept.analyzer(name).unwrap(), "A-b C");
        let terms: Vec<&str> = terms.iter().map(|term| term.text.as_str()).collect();
        assert_eq!(terms, expected, "{name}");
    }
    let normalizer = kept.normalizer("n").unwrap();
    assert_eq!(crate::normalize(&normalizer, "A B"), "a b");
    assert_eq!(kept.source(), &source);
}

#[test]
fn places_are_never_inside_of_letters() {
    let places = |parts: Value, text: &str| -> Vec<(String, usize, usize)> {
        let terms = Chain::compile(&parts).unwrap().run(text).into_iter();
        terms
            .map(|term| {
                (
                    term.token.text,
                    term.token.offset_from,
                    term.token.offset_to,
                )
            })
            .collect()
    };
    let mapping = |rule: &str, tokenizer: Value| json!({"char_filter": [{"type": "mapping", "mappings": [rule]}], "tokenizer": tokenizer});
    let begun = mapping("ü => ue", json!({"type": "edge_ngram", "max_gram": 4}));
    let expected = [("f", 0, 1), ("fu", 0, 1), ("fue", 0, 3), ("fuer", 0, 4)];
    let expected = expected.map(|(text, from, to)| (text.to_string(), from, to));
    assert_eq!(places(begun, "für"), expected);
    let longer = mapping("é => abc def", json!({"type": "whitespace"}));
    let expected =
        [("abc", 0, 0), ("def日", 0, 5)].map(|(text, from, to)| (text.to_string(), from, to));
    assert_eq!(places(longer, "é日"), expected);
    let cut = json!({"tokenizer": {"type": "whitespace"}, "filter": [{"type": "asciifolding"}, {"type": "word_delimiter_graph"}]});
    for (_, from, to) in places(cut, "⑽² x") {
        assert!("⑽² x".get(from..to).is_some(), "{from} {to}");
    }
}

#[test]
fn what_settings_make_of_a_text_is_bounded() {
    let long = "z".repeat(10_000);
    let bytes = |parts: Value, text: &str| -> usize {
        words(parts, text).iter().map(|(word, _)| word.len()).sum()
    };
    let grow = json!({"type": "pattern_replace", "pattern": "x", "replacement": long});
    let text = "x".repeat(10_000);
    // The rest stays as it is.
    for parts in [
        json!({"char_filter": [grow], "tokenizer": {"type": "keyword"}}),
        json!({"tokenizer": {"type": "keyword"}, "filter": [grow]}),
    ] {
        let made = bytes(parts, &text);
        assert!((15 << 20..=(16 << 20) + 20_000).contains(&made), "{made}");
    }
    let mapping = json!({"type": "mapping", "mappings": [format!("x => {long}")]});
    let parts = json!({"char_filter": [mapping], "tokenizer": {"type": "keyword"}});
    let made = bytes(parts, &text);
    assert!((15 << 20..=(16 << 20) + 20_000).contains(&made), "{made}");
    let grams = json!({"type": "ngram", "min_gram": 1, "max_gram": 255});
    let made = bytes(json!({"tokenizer": grams}), &text);
    assert!(made <= (16 << 20) + 64 * text.len(), "{made}");
    let separated = json!({"type": "shingle", "token_separator": long});
    let made = bytes(filtered(separated), &"a ".repeat(5_000));
    assert!(made <= (16 << 20) + 65 * 5_000, "{made}");
    // What is usual is not.
    check(
        filtered(json!({"type": "pattern_replace", "pattern": "x", "replacement": "yy"})),
        "axb c",
        &[("ayyb", 0), ("c", 1)],
    );
}

#[test]
fn tags_and_entities_without_an_end_are_looked_for_once() {
    // A second for each letter of these if the rest of the text is looked through from each on.
    for part in [
        "<a ",
        "<a b=\"",
        "<!-- ",
        "<![CDATA[",
        "<script>",
        "<STYLE>",
        "&",
        "&amp",
    ] {
        let text = part.repeat(300_000);
        for end in ["", ">", "]]>"] {
            let text = format!("{text}{end}");
            let stripped = strip_html(&text);
            assert!(stripped.len() <= text.len(), "{part}");
        }
    }
    assert_eq!(strip_html("a<script>x</b></ScRiPt >b"), "a\nb");
    assert_eq!(strip_html("<style>x<style>y</STYLE>b"), "\nb");
    assert_eq!(strip_html("a <b>&lt;&#x41; < & <!-- c"), "a <A < & ");
}
