use clew_query::{Match, MatchPhrase, Pattern, QueryString};
use serde_json::json;

use super::*;

fn mapping() -> Mapping {
    clew_opensearch_mapping::mapping(json!({"properties": {
        "text": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "other": {"type": "text"},
    }}))
}

fn shown(query: &Query, options: HighlightOptions, source: &Value) -> Vec<String> {
    let fields = [HighlightField {
        pattern: "text".to_string(),
        options,
    }];
    let highlighter = Highlighter::new(Arc::new(mapping()), query, &fields, 1_000_000);
    let mut found = highlighter.highlight(source).unwrap();
    found.pop().map(|(_, pieces)| pieces).unwrap_or_default()
}

fn check(query: &Query, expected: &[&str]) {
    let source = json!({"text": "The quick brown fox is brown."});
    assert_eq!(shown(query, HighlightOptions::default(), &source), expected);
}

#[test]
fn words_of_every_kind_of_query_are_marked() {
    check(
        &Query::Match(Match::new("text", "Quick FOX")),
        &["The <em>quick</em> brown <em>fox</em> is brown."],
    );
    check(
        &Query::MatchPhrase(MatchPhrase::new("text", "quick brown")),
        &["The <em>quick</em> <em>brown</em> fox is brown."],
    );
    check(
        &Query::Prefix(Pattern::new("text", "bro")),
        &["The quick <em>brown</em> fox is <em>brown</em>."],
    );
    check(
        &Query::Wildcard(Pattern::new("text", "f?x")),
        &["The quick brown <em>fox</em> is brown."],
    );
    let mut query = QueryString::new("text:qu* AND NOT text:fox");
    query.lenient = true;
    check(
        &Query::QueryString(query),
        &["The <em>quick</em> brown fox is brown."],
    );
    check(&Query::Match(Match::new("other", "quick")), &[]);
    // In any order, as far apart as the slop allows.
    let near = |slop| {
        Query::MatchPhrase(MatchPhrase {
            slop,
            ..MatchPhrase::new("text", "fox quick")
        })
    };
    check(
        &near(1),
        &["The <em>quick</em> brown <em>fox</em> is brown."],
    );
    check(&near(0), &[]);
    check(
        &Query::Regexp(Pattern::new("text", "f@x")),
        &["The quick brown <em>fox</em> is brown."],
    );
}

#[test]
fn what_a_pattern_finds_counts_as_one_word() {
    let source = json!({"text": "Ab cd. Ae ef ag. Ax ax ax."});
    let one = HighlightOptions {
        fragments_max: 1,
        fragment_size: 5,
        best_first: true,
        ..HighlightOptions::default()
    };
    let pieces = shown(&Query::Prefix(Pattern::new("text", "a")), one, &source);
    assert_eq!(pieces, ["<em>Ax</em> <em>ax</em>"]);
}

#[test]
fn long_texts_are_shown_in_pieces() {
    let source = json!({"text": ["One fox sat. Two dogs ran. A fox and a fox met.", "No fox"]});
    let query = Query::Match(Match::new("text", "fox"));
    let pieces = shown(&query, HighlightOptions::default(), &source);
    assert_eq!(
        pieces,
        [
            "One <em>fox</em> sat. Two dogs ran. A <em>fox</em> and a <em>fox</em> met.",
            "No <em>fox</em>"
        ]
    );
    let short = HighlightOptions {
        fragment_size: 20,
        ..HighlightOptions::default()
    };
    let pieces = shown(&query, short.clone(), &source);
    assert_eq!(
        pieces[..2],
        [
            "One <em>fox</em> sat.",
            "A <em>fox</em> and a <em>fox</em> met."
        ]
    );
    let best = HighlightOptions {
        fragments_max: 1,
        best_first: true,
        ..short
    };
    let pieces = shown(&query, best, &source);
    assert_eq!(pieces, ["A <em>fox</em> and a <em>fox</em> met."]);
    let whole = HighlightOptions {
        fragments_max: 0,
        ..HighlightOptions::default()
    };
    assert_eq!(shown(&query, whole, &source).len(), 2);
}

#[test]
fn without_a_match_the_beginning_can_be_shown() {
    let options = HighlightOptions {
        no_match_size: 8,
        ..HighlightOptions::default()
    };
    let query = Query::Match(Match::new("text", "cat"));
    let pieces = shown(&query, options, &json!({"text": "Two dogs ran away"}));
    // The space behind them is a word of its own to those who cut, and is not shown.
    assert_eq!(pieces, ["Two dogs"]);
}

#[test]
fn a_field_is_analyzed_up_to_a_limit() {
    let query = Query::Match(Match::new("text", "fox"));
    let source = json!({"text": ["𝒳 one fox sat", "a fox"]});
    let of = |analyzed_max: Option<usize>, limit: usize| {
        let fields = [HighlightField {
            pattern: "text".to_string(),
            options: HighlightOptions {
                analyzed_max,
                ..HighlightOptions::default()
            },
        }];
        let highlighter = Highlighter::new(Arc::new(mapping()), &query, &fields, limit);
        highlighter.highlight(&source)
    };
    let pieces = |analyzed_max, limit| of(analyzed_max, limit).unwrap().remove(0).1.len();
    // Fourteen characters, one between the values, five more.
    assert_eq!(pieces(None, 20), 2);
    let field = "text".to_string();
    assert_eq!(
        of(None, 19).unwrap_err(),
        HighlightError::TooLong { field, max: 19 }
    );
    assert_eq!(pieces(Some(19), 20), 1);
    assert!(of(Some(8), 20).unwrap().is_empty());
    assert_eq!(
        of(Some(21), 20).unwrap_err(),
        HighlightError::TooMuch { max: 20 }
    );
}

#[test]
fn highlighting_leaves_off_when_nobody_waits() {
    let query = Query::Match(Match::new("text", "fox"));
    let fields = [HighlightField {
        pattern: "text".to_string(),
        options: HighlightOptions::default(),
    }];
    let highlighter = Highlighter::new(Arc::new(mapping()), &query, &fields, 100);
    let token = clew_platform::CancellationToken::new();
    token.cancel("by user request");
    let _entered = token.enter();
    let refused = highlighter.highlight(&json!({"text": "a fox"}));
    assert_eq!(refused.unwrap_err(), HighlightError::Stopped);
}

#[test]
fn every_sentence_of_a_long_text_can_be_a_piece() {
    let source = json!({"text": "A fox sat. ".repeat(20_000)});
    let all = HighlightOptions {
        fragments_max: usize::MAX,
        fragment_size: 20,
        ..HighlightOptions::default()
    };
    let query = Query::Match(Match::new("text", "fox"));
    let pieces = shown(&query, all, &source);
    assert_eq!(pieces.len(), 20_000);
    assert!(pieces.iter().all(|piece| piece == "A <em>fox</em> sat."));
}

#[test]
fn a_phrase_that_begins_everywhere_is_looked_for_nearby_only() {
    let source = json!({"text": "fox ".repeat(20_000) + "den"});
    let phrase = |slop| {
        Query::MatchPhrasePrefix(MatchPhrase {
            slop,
            ..MatchPhrase::new("text", "fox de")
        })
    };
    for slop in [0, 3] {
        let pieces = shown(&phrase(slop), HighlightOptions::default(), &source);
        assert!(pieces.concat().ends_with("<em>den</em>"), "{slop}");
    }
}
