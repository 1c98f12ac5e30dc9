//! What OpenSearch 2.19.0 answered, but for what stands for many words, whose numbers it has from the whole index.

use std::sync::Arc;

use clew_query::{Bool, Match, MatchPhrase, Pattern, Query};
use serde_json::{Value, json};

use super::*;
use crate::highlight::{HighlightField, Highlighter};

const TEXT: &str = "The quick brown fox jumps over the lazy dog. A second sentence, which is about foxes and a fox, goes on \
                    for a while until it ends! Does the quick fox like brown dogs? Nobody knows; the dog does not tell, and \
                    the brown fox is quick to leave. At the end there is one more quick brown fox.";

fn of_size(fragment_size: usize) -> HighlightOptions {
    HighlightOptions {
        fragment_size,
        fast: Some(FastOptions::default()),
        ..HighlightOptions::default()
    }
}

fn with(size: usize, change: impl FnOnce(&mut FastOptions)) -> HighlightOptions {
    let mut fast = FastOptions::default();
    change(&mut fast);
    HighlightOptions {
        fast: Some(fast),
        ..of_size(size)
    }
}

fn found(
    query: &Query,
    options: HighlightOptions,
    text: &Value,
) -> Result<Vec<String>, HighlightError> {
    let vectors = "with_positions_offsets";
    let mapping = clew_opensearch_mapping::mapping(
        json!({"properties": {"text": {"type": "text", "term_vector": vectors}}}),
    );
    let fields = [HighlightField {
        pattern: "text".to_string(),
        options,
    }];
    let highlighter = Highlighter::new(Arc::new(mapping), query, &fields, 1_000_000);
    let mut found = highlighter.highlight(&json!({"text": text}))?;
    Ok(found.pop().map(|(_, pieces)| pieces).unwrap_or_default())
}

fn check(query: &Query, options: HighlightOptions, expected: &[&str]) {
    let found = found(query, options, &json!(TEXT)).unwrap();
    assert_eq!(found, expected);
}

fn words(text: &str) -> Query {
    Query::Match(Match::new("text", text))
}

fn phrase(text: &str, slop: u32) -> Query {
    let mut phrase = MatchPhrase::new("text", text);
    phrase.slop = slop;
    Query::MatchPhrase(phrase)
}

fn any(should: Vec<Query>) -> Query {
    Query::Bool(Bool {
        should,
        ..Bool::default()
    })
}

#[test]
fn pieces_lie_around_their_first_word_and_end_at_boundaries() {
    let fox = words("fox");
    check(
        &fox,
        of_size(100),
        &[
            "quick brown <em>fox</em> jumps over the lazy dog. A second sentence, which is about foxes and a <em>fox</em>, goes on for",
            "Does the quick <em>fox</em> like brown dogs? Nobody knows; the dog does not tell, and the brown <em>fox</em> is quick to leave",
            "leave. At the end there is one more quick brown <em>fox</em>.",
        ],
    );
    check(
        &fox,
        of_size(18),
        &[
            "quick brown <em>fox</em> jumps over",
            "foxes and a <em>fox</em>, goes on",
            "the quick <em>fox</em> like brown",
            "the brown <em>fox</em> is quick",
            "quick brown <em>fox</em>.",
        ],
    );
    let refused = found(&fox, of_size(10), &json!(TEXT)).unwrap_err();
    let (size, least) = (10, 18);
    assert_eq!(refused, HighlightError::TooSmall { size, least });
    check(
        &fox,
        with(40, |fast| fast.margin = Some(10)),
        &[
            "The quick brown <em>fox</em> jumps over the lazy dog",
            "about foxes and a <em>fox</em>, goes on for a while",
            "ends! Does the quick <em>fox</em> like brown dogs? Nobody",
            "tell, and the brown <em>fox</em> is quick to leave.",
            "one more quick brown <em>fox</em>.",
        ],
    );
    let close = |fast: &mut FastOptions| {
        fast.boundary = Boundary::Characters {
            characters: vec![u16::from(b'e')],
            scanned: 5,
        };
    };
    check(
        &fox,
        with(40, close),
        &[
            "The quick brown <em>fox</em> jumps over the lazy ",
            "about foxes and a <em>fox</em>, goes on for a whil",
            "nds! Does the quick <em>fox</em> like brown dogs? N",
            "ll, and the brown <em>fox</em> is quick to leave.",
            " more quick brown <em>fox</em>.",
        ],
    );
    check(
        &fox,
        with(40, |fast| fast.phrases_max = 2),
        &[
            "The quick brown <em>fox</em> jumps over the lazy dog",
            "about foxes and a <em>fox</em>, goes on for a while",
        ],
    );
}

#[test]
fn pieces_may_end_with_sentences_and_with_words() {
    check(
        &words("jumps"),
        with(40, |fast| fast.boundary = Boundary::Sentences),
        &["The quick brown fox <em>jumps</em> over the lazy dog. "],
    );
    check(
        &words("foxes"),
        with(40, |fast| fast.boundary = Boundary::Sentences),
        &[
            "A second sentence, which is about <em>foxes</em> and a fox, goes on for a while until it ends! ",
        ],
    );
    let found = found(
        &words("foxes"),
        with(40, |fast| fast.boundary = Boundary::Words),
        &json!(TEXT),
    );
    let found = found.unwrap().concat();
    let plain = found.replace("<em>", "").replace("</em>", "");
    let at = TEXT.find(&plain).unwrap();
    let is_letter = |text: Option<char>| text.is_some_and(char::is_alphanumeric);
    let (first, last) = (plain.chars().next(), plain.chars().last());
    assert!(!(is_letter(first) && is_letter(TEXT[..at].chars().last())));
    assert!(!(is_letter(last) && is_letter(TEXT[at + plain.len()..].chars().next())));
}

#[test]
fn words_of_a_phrase_are_marked_together() {
    check(
        &phrase("quick brown fox", 0),
        of_size(40),
        &[
            "The <em>quick brown fox</em> jumps over the lazy dog",
            "is one more <em>quick brown fox</em>.",
        ],
    );
    check(
        &phrase("quick fox", 2),
        of_size(40),
        &[
            "The <em>quick</em> brown <em>fox</em> jumps over the lazy dog",
            "ends! Does the <em>quick fox</em> like brown dogs",
            "is one more <em>quick</em> brown <em>fox</em>.",
        ],
    );
    check(
        &any(vec![phrase("brown fox", 0), words("quick")]),
        of_size(40),
        &[
            "The <em>quick</em> <em>brown fox</em> jumps over the lazy dog",
            "it ends! Does the <em>quick</em> fox like brown dogs",
            "tell, and the <em>brown fox</em> is <em>quick</em> to leave. At",
            "is one more <em>quick</em> <em>brown fox</em>.",
        ],
    );
    check(
        &any(vec![phrase("quick brown", 0), phrase("brown fox", 0)]),
        of_size(40),
        &[
            "The <em>quick brown fox</em> jumps over the lazy dog",
            "not tell, and the <em>brown fox</em> is quick to leave",
            "is one more <em>quick brown fox</em>.",
        ],
    );
}

#[test]
fn the_best_pieces_are_those_whose_parts_weigh_most() {
    let best = HighlightOptions {
        best_first: true,
        ..of_size(40)
    };
    check(
        &words("quick fox"),
        best.clone(),
        &[
            "The <em>quick</em> brown <em>fox</em> jumps over the lazy dog",
            "ends! Does the <em>quick</em> <em>fox</em> like brown dogs",
            "and the brown <em>fox</em> is <em>quick</em> to leave. At the",
            "is one more <em>quick</em> brown <em>fox</em>.",
            "about foxes and a <em>fox</em>, goes on for a while",
        ],
    );
    let dog = Match {
        boost: 5.0,
        ..Match::new("text", "dog")
    };
    check(
        &any(vec![Query::Match(dog), words("fox")]),
        best,
        &[
            "brown <em>fox</em> jumps over the lazy <em>dog</em>. A second",
            "Nobody knows; the <em>dog</em> does not tell, and the",
            "about foxes and a <em>fox</em>, goes on for a while",
            "ends! Does the quick <em>fox</em> like brown dogs? Nobody",
            "the brown <em>fox</em> is quick to leave. At the end",
        ],
    );
}

#[test]
fn each_part_of_the_query_has_its_own_tags() {
    let tags = |fast: &mut FastOptions| {
        let of = |number: usize| (format!("<{number}>"), format!("</{number}>"));
        fast.tags = (1..=3).map(of).collect();
    };
    check(
        &words("fox dog quick"),
        with(60, tags),
        &[
            "The <3>quick</3> brown <1>fox</1> jumps over the lazy <2>dog</2>. A second sentence",
            "and a <1>fox</1>, goes on for a while until it ends! Does the <3>quick</3> fox",
            "knows; the <2>dog</2> does not tell, and the brown <1>fox</1> is <3>quick</3> to leave",
            "end there is one more <3>quick</3> brown <1>fox</1>.",
        ],
    );
    check(
        &Query::Prefix(Pattern::new("text", "fo")),
        with(60, tags),
        &[
            "The quick brown <2>fox</2> jumps over the lazy dog. A second sentence",
            " which is about <3>foxes</3> and a <2>fox</2>, goes on <1>for</1> a while until it",
            "it ends! Does the quick <2>fox</2> like brown dogs? Nobody knows; the",
            "does not tell, and the brown <2>fox</2> is quick to leave. At the end",
            "there is one more quick brown <2>fox</2>.",
        ],
    );
}

#[test]
fn no_piece_goes_beyond_a_value() {
    let values = json!([
        "alpha one two three.",
        "beta second fox; gamma",
        "the third <fox> value"
    ]);
    let of = |query: &Query, options| found(query, options, &values).unwrap();
    assert_eq!(
        of(&words("fox"), of_size(100)),
        [
            "beta second <em>fox</em>; gamma",
            "the third <<em>fox</em>> value"
        ]
    );
    assert_eq!(
        of(&words("one second alpha beta"), of_size(20)),
        [
            "<em>alpha</em> <em>one</em> two three.",
            "<em>beta</em> <em>second</em> fox; gamma"
        ]
    );
    let whole = HighlightOptions {
        fragments_max: 0,
        escape: true,
        ..of_size(100)
    };
    assert_eq!(
        of(&words("fox"), whole),
        [
            "beta second <em>fox</em>; gamma",
            "the third &lt;<em>fox</em>&gt; value"
        ]
    );
    let beginning = |no_match_size| HighlightOptions {
        no_match_size,
        ..of_size(40)
    };
    assert!(of(&words("nothing"), beginning(22)).is_empty());
    check(
        &words("nothing"),
        beginning(22),
        &["The quick brown fox jumps"],
    );
    let text = json!("Ünïcode 𝄞 fox äöü and another foxy fox.");
    let shown = found(&words("fox"), of_size(18), &text).unwrap();
    assert_eq!(
        shown,
        [
            "Ünïcode 𝄞 <em>fox</em> äöü and",
            "another foxy <em>fox</em>."
        ]
    );
}
