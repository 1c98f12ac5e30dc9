//! Analyzers by name and of settings, and what is refused of these.

use super::*;

#[test]
fn the_analyzer_classic_reads_acronyms_companies_and_addresses() {
    let chain = chain("classic").unwrap();
    let terms = chain.run("The U.S.A. AT&T O'Neil's wi-fi a@b.com");
    let terms: Vec<&str> = terms.iter().map(|term| term.token.text.as_str()).collect();
    let expected = ["usa", "at&t", "o'neil", "wi", "fi", "a@b.com"];
    assert_eq!(terms, expected);
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
        (
            json!({"filter": ["lowercase", "stop"]}),
            "Custom normalizer may not use filter [stop]",
        ),
        (
            json!({"filter": [{"type": "stemmer"}]}),
            "Custom normalizer may not use filter [__anonymous__stemmer]",
        ),
    ] {
        let refused = analysis.assembled(&wanted, PartLimits::default());
        assert_eq!(refused.unwrap_err(), reason);
    }
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
fn what_an_index_defines_can_be_read_whether_it_is_used_or_not() {
    for (settings, reason) in [
        (
            json!({"filter": {"a": {"type": "nope"}}}),
            "Unknown filter type [nope] for [a]",
        ),
        (
            json!({"tokenizer": {"a": {"type": "nope"}}}),
            "Unknown tokenizer type [nope] for [a]",
        ),
        (
            json!({"char_filter": {"a": {"type": "nope"}}}),
            "Unknown char_filter type [nope] for [a]",
        ),
        (
            json!({"tokenizer": {"a": {"type": "pattern", "pattern": "["}}}),
            "Unclosed character class",
        ),
        (
            json!({"filter": {"a": {"type": "pattern_replace", "pattern": "("}}}),
            "Unclosed group",
        ),
        (
            json!({"analyzer": {"_a": {"type": "keyword"}}}),
            "analyzer name must not start with '_'",
        ),
        // What is not here may be defined, and what is made of others is read with them.
        (json!({"filter": {"a": {"type": "kstem"}}}), ""),
        (
            json!({"filter": {"a": {"type": "multiplexer", "filters": ["nope"]}}}),
            "",
        ),
        (json!({"filter": {"a": {"type": "lowercase"}}}), ""),
    ] {
        let told = Analysis::check(&settings, PartLimits::default()).err();
        let told = told.unwrap_or_default();
        let is_told = told.starts_with(reason) && told.is_empty() == reason.is_empty();
        assert!(is_told, "{settings}: {told}");
    }
}
