//! Queries of queries.

use super::*;

#[test]
fn compounds_match_like_a_loop() {
    let body = |word: &str| Query::matches("body", word);
    let clauses = |must: &[&str], should: &[&str], not: &[&str], filter: &[&str]| Bool {
        must: must.iter().map(|w| body(w)).collect(),
        should: should.iter().map(|w| body(w)).collect(),
        must_not: not.iter().map(|w| body(w)).collect(),
        filter: filter.iter().map(|w| body(w)).collect(),
        ..Bool::default()
    };
    let minimum = |minimum: i64, bool: Bool| {
        Query::Bool(Bool {
            minimum_should_match: Some(MinimumShouldMatch::Count(minimum)),
            ..bool
        })
    };
    let w = |d: &Doc, word: &str| has(&d.body, word);
    check(vec![
        (Query::Bool(Bool::default()), is(|_| true)),
        (
            Query::Bool(clauses(&["w1"], &["w2"], &[], &[])),
            is(move |d| w(d, "w1")),
        ),
        (
            Query::Bool(clauses(&[], &["w1", "w2"], &[], &[])),
            is(move |d| w(d, "w1") || w(d, "w2")),
        ),
        (
            Query::Bool(clauses(&[], &[], &["w1"], &[])),
            is(move |d| !w(d, "w1")),
        ),
        (
            Query::Bool(clauses(&[], &[], &["absent"], &[])),
            is(|_| true),
        ),
        (
            Query::Bool(clauses(&[], &["w9"], &["w1", "w2"], &[])),
            is(move |d| w(d, "w9") && !w(d, "w1") && !w(d, "w2")),
        ),
        (
            Query::Bool(clauses(&[], &["w9"], &[], &["w1"])),
            is(move |d| w(d, "w1")),
        ),
        (
            Query::Bool(clauses(&["w3"], &["w9"], &["w4"], &["w1"])),
            is(move |d| w(d, "w1") && w(d, "w3") && !w(d, "w4")),
        ),
        (
            minimum(1, clauses(&[], &["w9", "w8"], &[], &["w1"])),
            is(move |d| w(d, "w1") && (w(d, "w8") || w(d, "w9"))),
        ),
        (
            minimum(2, clauses(&[], &["w1", "w2", "w3"], &["w4"], &[])),
            is(move |d| ["w1", "w2", "w3"].iter().filter(|x| w(d, x)).count() >= 2 && !w(d, "w4")),
        ),
        (
            minimum(2, clauses(&["w0"], &["w1", "absent", "w3"], &[], &[])),
            is(move |d| w(d, "w0") && w(d, "w1") && w(d, "w3")),
        ),
        (
            minimum(3, clauses(&["w0"], &["w1", "w3"], &[], &[])),
            is(|_| false),
        ),
        (
            // Where nothing else must match, one of the optional clauses must all the same.
            minimum(0, clauses(&[], &["w1"], &["w2"], &[])),
            is(move |d| w(d, "w1") && !w(d, "w2")),
        ),
        (
            Query::ConstantScore {
                filter: Box::new(body("w1")),
                boost: 2.0,
            },
            is(move |d| w(d, "w1")),
        ),
        (
            Query::DisMax {
                queries: vec![body("w8"), body("w9")],
                tie_breaker: 0.5,
                boost: 1.0,
            },
            is(move |d| w(d, "w8") || w(d, "w9")),
        ),
        (
            Query::Boosting(Boosting {
                positive: Box::new(body("w1")),
                negative: Box::new(body("w2")),
                negative_boost: 0.5,
                boost: 1.0,
            }),
            is(move |d| w(d, "w1")),
        ),
    ]);
}
