//! Filters change, leave out, repeat and pair words.

use super::*;

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
    let named =
        json!({"type": "common_grams", "common_words": ["_english_", "fox"], "query_mode": true});
    check_filter(
        named,
        "quick the lazy brown fox",
        &[
            ("quick_the", 0),
            ("the_lazy", 1),
            ("lazy", 2),
            ("brown_fox", 3),
        ],
    );
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
fn each_step_is_told_as_an_analyzer_that_ends_there_has_it() {
    let filters = [
        json!({"type": "lowercase"}),
        json!({"type": "stop", "stopwords": ["the"]}),
        json!({"type": "keyword_marker", "keywords": ["running"]}),
        json!({"type": "porter_stem"}),
        json!({"type": "synonym_graph", "synonyms": ["run => go on"]}),
    ];
    let upto = |count: usize| {
        let parts = json!({
            "char_filter": [{"type": "html_strip"}],
            "tokenizer": {"type": "standard"},
            "filter": filters[..count],
        });
        full_name("", &parts)
    };
    let text = "<b>The</b> runs, RUN &amp; running";
    let told = explained(&upto(filters.len()), text).unwrap();
    assert_eq!(told.char_filters.len(), 1);
    let steps = std::iter::once(&told.tokenizer).chain(&told.filters);
    let mut told_count = 0;
    for (count, (kind, terms)) in steps.enumerate() {
        assert_eq!(*terms, crate::tokens(&upto(count), text), "{count} {kind}");
        told_count += 1;
    }
    assert_eq!(told_count, filters.len() + 1);
}

#[test]
fn each_way_through_a_text_becomes_a_term() {
    let after = |before: Value, more: Value| {
        let mut ways = json!({"type": "concatenate_graph"});
        for (key, value) in more.as_object().into_iter().flatten() {
            ways[key] = value.clone();
        }
        json!({"tokenizer": {"type": "whitespace"}, "filter": [before, ways]})
    };
    let synonyms = || json!({"type": "synonym_graph", "synonyms": ["ny, new york", "now, today"]});
    let stop = || json!({"type": "stop", "stopwords": ["b"]});
    let all = [
        ("in new york now", 0),
        ("in new york today", 0),
        ("in ny now", 0),
        ("in ny today", 0),
    ];
    check(after(synonyms(), json!({})), "in ny now", &all);
    let few = json!({"max_graph_expansions": 2});
    check(after(synonyms(), few), "in ny now", &all[..2]);
    check(after(stop(), json!({})), "a b c", &[("a c", 0)]);
    let gaps = json!({"preserve_position_increments": true, "token_separator": "_"});
    check(after(stop(), gaps), "a b c", &[("a__c", 0)]);
    let joined = json!({"token_separator": ""});
    check(after(stop(), joined), "a c", &[("ac", 0)]);
    check(after(stop(), json!({})), "b", &[]);
    let chain = Chain::compile(&after(stop(), json!({}))).unwrap();
    let term = &chain.run("a c ")[0];
    assert_eq!(
        (term.token.offset_from, term.token.offset_to, term.kind),
        (0, 4, "word")
    );
    let refused = after(stop(), json!({"token_separator": "ab"}));
    assert!(
        Chain::compile(&refused)
            .unwrap_err()
            .contains("single character")
    );
}
