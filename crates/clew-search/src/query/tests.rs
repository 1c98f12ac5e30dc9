//! Every kind of query against a loop over the documents.

#![allow(clippy::too_many_lines, reason = "tables of cases")]

use clew_query::{
    Bool, Boosting, FieldBoost, FrequentWords, Fuzziness, Match, MatchPhrase, MinimumShouldMatch,
    MultiMatch, MultiMatchKind, Operator, Pattern, Query, QueryError, QueryString, Range, Term,
};
use serde_json::{Value, json};

use super::*;
use crate::query::matching;
use crate::search::fixture::{Doc, shard};
use crate::snapshot::Snapshot;

fn found(snapshot: &Snapshot, query: &Query) -> Result<Vec<(usize, u32)>, QueryError> {
    let vectors = VectorAnswers::default();
    let bits = matching(snapshot, query, &vectors, 1_600_000_000_000)?;
    let docs: Vec<(usize, u32)> = bits
        .iter()
        .enumerate()
        .flat_map(|(segment, bits)| bits.iter().map(move |doc| (segment, doc)))
        .collect();
    let context = CompileContext {
        snapshot,
        now_ms: 1_600_000_000_000,
        vectors: &vectors,
    };
    if let Some(exact) = plan(query, &context)?.matches_exactly() {
        assert_eq!(exact, docs.len() as u64, "count of {query:?}");
    }
    let may = may_match(snapshot, query, &vectors, 1_600_000_000_000)?;
    assert!(may || docs.is_empty(), "{query:?}");
    Ok(docs)
}

fn expected(docs: &[Vec<Doc>], wanted: &dyn Fn(&Doc) -> bool) -> Vec<(usize, u32)> {
    docs.iter()
        .enumerate()
        .flat_map(|(segment, docs)| {
            (0u32..)
                .zip(docs)
                .filter(|(_, doc)| !doc.dead && wanted(doc))
                .map(move |(number, _)| (segment, number))
        })
        .collect()
}

type Wanted = Box<dyn Fn(&Doc) -> bool>;

fn check(cases: Vec<(Query, Wanted)>) {
    let (snapshot, docs) = shard(7);
    for (query, wanted) in cases {
        let have = found(&snapshot, &query).unwrap_or_else(|e| panic!("{query:?}: {e}"));
        let want = expected(&docs, &wanted);
        let differs = have.iter().zip(&want).find(|(have, want)| have != want);
        assert_eq!((have.len(), differs), (want.len(), None), "{query:?}");
    }
}

fn is(f: impl Fn(&Doc) -> bool + 'static) -> Wanted {
    Box::new(f)
}

fn has(words: &[String], word: &str) -> bool {
    words.iter().any(|have| have == word)
}

fn range(field: &str, ends: &[(&str, Value)]) -> Query {
    let mut range = Range::new(field);
    for (name, value) in ends {
        let end = match *name {
            "gt" => &mut range.gt,
            "gte" => &mut range.gte,
            "lt" => &mut range.lt,
            _ => &mut range.lte,
        };
        *end = Some(value.clone());
    }
    Query::Range(range)
}

/// The 14th of September 2020 in a zone, written in a format of the query's own.
fn zoned(zone: &str) -> Query {
    Query::Range(Range {
        gte: Some(json!("14/09/2020")),
        lte: Some(json!("14/09/2020")),
        format: Some("dd/MM/yyyy".into()),
        time_zone: Some(zone.into()),
        ..Range::new("at")
    })
}

fn string(text: &str) -> Query {
    Query::QueryString(QueryString {
        fields: vec![FieldBoost::parse("body")],
        ..QueryString::new(text)
    })
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            next.push(
                (row[j] + usize::from(x != *y))
                    .min(row[j + 1] + 1)
                    .min(next[j] + 1),
            );
        }
        row = next;
    }
    row[b.len()]
}

fn phrase_at(words: &[String], phrase: &[&str]) -> bool {
    words.windows(phrase.len()).any(|at| at == phrase)
}

#[test]
fn words_and_phrases_match_like_a_loop() {
    let matches = |text: &str| Match::new("body", text);
    check(vec![
        (Query::match_all(), is(|_| true)),
        (Query::MatchNone, is(|_| false)),
        (
            Query::matches("body", "W3, w20"),
            is(|d| has(&d.body, "w3") || has(&d.body, "w20")),
        ),
        (
            Query::Match(Match {
                operator: Operator::And,
                ..matches("w1 w2 w0")
            }),
            is(|d| ["w0", "w1", "w2"].iter().all(|w| has(&d.body, w))),
        ),
        (
            Query::Match(Match {
                minimum_should_match: Some(MinimumShouldMatch::Count(2)),
                ..matches("w1 w2 w3 absent")
            }),
            is(|d| {
                ["w1", "w2", "w3"]
                    .iter()
                    .filter(|w| has(&d.body, w))
                    .count()
                    >= 2
            }),
        ),
        (
            Query::Match(Match {
                minimum_should_match: Some(MinimumShouldMatch::Count(3)),
                ..matches("w1 w2 absent")
            }),
            is(|_| false),
        ),
        (
            Query::matches("body", "w1 absent"),
            is(|d| has(&d.body, "w1")),
        ),
        (
            Query::Match(Match {
                operator: Operator::And,
                ..matches("w1 absent")
            }),
            is(|_| false),
        ),
        (Query::matches("body", "!!"), is(|_| false)),
        (Query::matches("nothing", "w1"), is(|_| false)),
        (Query::matches("count", "7"), is(|d| d.count == Some(7))),
        (Query::matches("tags", "Tag3"), is(|d| has(&d.tags, "Tag3"))),
        (
            Query::MatchPhrase(MatchPhrase::new("body", "w1 w0")),
            is(|d| phrase_at(&d.body, &["w1", "w0"])),
        ),
        (
            Query::MatchPhrase(MatchPhrase::new("body", "w1")),
            is(|d| has(&d.body, "w1")),
        ),
        (
            Query::MatchPhrasePrefix(MatchPhrase::new("body", "w1 w1")),
            is(|d| {
                d.body
                    .windows(2)
                    .any(|w| w[0] == "w1" && w[1].starts_with("w1"))
            }),
        ),
        (
            Query::MatchBoolPrefix(Match {
                operator: Operator::And,
                ..matches("w1 w2")
            }),
            is(|d| has(&d.body, "w1") && d.body.iter().any(|w| w.starts_with("w2"))),
        ),
        (
            Query::Match(Match {
                fuzziness: Some(Fuzziness::parse("1").unwrap()),
                ..matches("w12")
            }),
            is(|d| d.body.iter().any(|w| distance(w, "w12") <= 1 || w == "w21")),
        ),
        (
            Query::Fuzzy {
                field: "body".into(),
                value: "x12".into(),
                fuzziness: Fuzziness {
                    prefix_length: 1,
                    ..Fuzziness::parse("2").unwrap()
                },
                boost: 1.0,
            },
            is(|_| false),
        ),
        (
            Query::MultiMatch(MultiMatch {
                fields: vec![FieldBoost::parse("title^3"), FieldBoost::parse("bod*")],
                clause: matches("w5"),
                kind: MultiMatchKind::BestFields,
                slop: 0,
                tie_breaker: None,
            }),
            is(|d| has(&d.body, "w5") || d.title.as_ref().is_some_and(|t| has(t, "w5"))),
        ),
        (
            Query::MultiMatch(MultiMatch {
                fields: vec![FieldBoost::parse("title"), FieldBoost::parse("body")],
                clause: Match {
                    operator: Operator::And,
                    ..matches("w5 w6")
                },
                kind: MultiMatchKind::CrossFields,
                slop: 0,
                tie_breaker: None,
            }),
            is(|d| {
                let any = |w: &str| has(&d.body, w) || d.title.as_ref().is_some_and(|t| has(t, w));
                any("w5") && any("w6")
            }),
        ),
    ]);
}

#[test]
fn values_match_like_a_loop() {
    let folded = |value: &str| {
        Query::Term(Term {
            field: "tags".into(),
            value: json!(value),
            case_insensitive: true,
            boost: 1.0,
        })
    };
    check(vec![
        (Query::term("body", "w4"), is(|d| has(&d.body, "w4"))),
        (Query::term("body", "W4"), is(|_| false)),
        (Query::term("tags", "Tag4"), is(|d| has(&d.tags, "Tag4"))),
        (Query::term("tags", "tag4"), is(|_| false)),
        (folded("tAG4"), is(|d| has(&d.tags, "Tag4"))),
        (Query::term("count", -3), is(|d| d.count == Some(-3))),
        (Query::term("count", "-3"), is(|d| d.count == Some(-3))),
        (Query::term("count", 3.5), is(|_| false)),
        (Query::term("count", 3.0), is(|d| d.count == Some(3))),
        (Query::term("price", 12.5), is(|d| d.price == Some(12.5))),
        (Query::term("flag", true), is(|d| d.flag == Some(true))),
        (Query::term("flag", "false"), is(|d| d.flag == Some(false))),
        (
            Query::term("at", 1_600_000_000_000_i64),
            is(|d| d.at == Some(1_600_000_000_000)),
        ),
        (
            Query::term("ip", "10.0.0.64/28"),
            is(|d| d.ip.is_some_and(|ip| (64..80).contains(&ip.octets()[15]))),
        ),
        (Query::term("_id", "0-3"), is(|d| d.id == "0-3")),
        (
            Query::Ids {
                values: vec!["0-1".into(), "2-2".into(), "no".into()],
                boost: 1.0,
            },
            is(|d| d.id == "0-1" || d.id == "2-2"),
        ),
        (
            Query::Terms {
                field: "tags".into(),
                values: vec![json!("Tag1"), json!("Tag2"), json!("none")],
                boost: 1.0,
            },
            is(|d| has(&d.tags, "Tag1") || has(&d.tags, "Tag2")),
        ),
        (
            Query::Terms {
                field: "ip".into(),
                values: vec![
                    json!("10.0.0.3"),
                    json!("10.0.0.64/28"),
                    json!("10.0.0.200"),
                ],
                boost: 1.0,
            },
            is(|d| {
                let last = d.ip.map(|ip| ip.octets()[15]);
                last.is_some_and(|last| last == 3 || last == 200 || (64..80).contains(&last))
            }),
        ),
        (
            Query::Terms {
                field: "price".into(),
                values: vec![json!(12.5), json!(0.125)],
                boost: 1.0,
            },
            is(|d| d.price == Some(12.5) || d.price == Some(0.125)),
        ),
        (
            Query::Terms {
                field: "count".into(),
                values: vec![json!(1), json!("2")],
                boost: 1.0,
            },
            is(|d| matches!(d.count, Some(1 | 2))),
        ),
    ]);
}

#[test]
fn ranges_match_like_a_loop() {
    let inside =
        |low: f64, high: f64| move |v: Option<f64>| v.is_some_and(|v| v >= low && v <= high);
    check(vec![
        (
            range("count", &[("gte", json!(-2)), ("lt", json!(5))]),
            is(|d| d.count.is_some_and(|c| (-2..5).contains(&c))),
        ),
        (
            range("count", &[("gt", json!(1.5))]),
            is(|d| d.count.is_some_and(|c| c >= 2)),
        ),
        (
            range("count", &[("lte", json!(-1.5))]),
            is(|d| d.count.is_some_and(|c| c <= -2)),
        ),
        (
            range("count", &[("gt", json!(3)), ("lt", json!(4))]),
            is(|_| false),
        ),
        (
            range("count", &[("gte", json!(10_000_000_000_i64))]),
            is(|_| false),
        ),
        (
            range("count", &[("lte", json!(1e30))]),
            is(|d| d.count.is_some()),
        ),
        (range("count", &[]), is(|d| d.count.is_some())),
        (
            range("price", &[("gte", json!(10)), ("lte", json!(20.5))]),
            is(move |d| inside(10.0, 20.5)(d.price)),
        ),
        (
            range("price", &[("gte", json!(9)), ("lte", json!(1))]),
            is(|_| false),
        ),
        (
            range(
                "at",
                &[("gte", json!("2020-09-14")), ("lte", json!("2020-09-15"))],
            ),
            is(|d| {
                d.at.is_some_and(|t| (1_600_041_600_000..1_600_214_400_000).contains(&t))
            }),
        ),
        (
            range(
                "at",
                &[("gt", json!("2020-09-14")), ("lt", json!("2020-09-16"))],
            ),
            is(|d| {
                d.at.is_some_and(|t| (1_600_128_000_000..1_600_214_400_000).contains(&t))
            }),
        ),
        (
            zoned("+02:00"),
            is(|d| {
                d.at.is_some_and(|t| (1_600_034_400_000..1_600_120_800_000).contains(&t))
            }),
        ),
        (
            zoned("Europe/Berlin"),
            is(|d| {
                d.at.is_some_and(|t| (1_600_034_400_000..1_600_120_800_000).contains(&t))
            }),
        ),
        (
            range(
                "at",
                &[("gte", json!("now+1d/d")), ("lt", json!("2020-09-14||+2d"))],
            ),
            is(|d| {
                d.at.is_some_and(|t| (1_600_041_600_000..1_600_214_400_000).contains(&t))
            }),
        ),
        (
            range("at", &[("gt", json!("now"))]),
            is(|d| d.at.is_some_and(|t| t > 1_600_000_000_000)),
        ),
        (
            range(
                "ip",
                &[("gt", json!("10.0.0.9")), ("lte", json!("10.0.0.20"))],
            ),
            is(|d| d.ip.is_some_and(|ip| (10..=20).contains(&ip.octets()[15]))),
        ),
        (
            range(
                "ip",
                &[("gt", json!("10.0.0.20")), ("lt", json!("10.0.0.9"))],
            ),
            is(|_| false),
        ),
        // Before the first address, and behind the last, there is none.
        (range("ip", &[("lt", json!("::"))]), is(|_| false)),
        (
            range(
                "ip",
                &[("gt", json!("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"))],
            ),
            is(|_| false),
        ),
        (range("ip", &[("gte", json!("::"))]), is(|d| d.ip.is_some())),
        (range("ip", &[("gt", json!("::"))]), is(|d| d.ip.is_some())),
        (
            range("tags", &[("gte", json!("Tag2")), ("lt", json!("Tag4"))]),
            is(|d| {
                d.tags
                    .iter()
                    .any(|t| t.as_str() >= "Tag2" && t.as_str() < "Tag4")
            }),
        ),
        (
            range("body", &[("gte", json!("w3")), ("lt", json!("w31"))]),
            is(|d| {
                d.body
                    .iter()
                    .any(|t| t.as_str() >= "w3" && t.as_str() < "w31")
            }),
        ),
        (
            range("flag", &[("gte", json!(true))]),
            is(|d| d.flag == Some(true)),
        ),
    ]);
}

#[test]
fn presence_and_patterns_match_like_a_loop() {
    let exists = |field: &str| Query::Exists {
        field: field.into(),
        boost: 1.0,
    };
    check(vec![
        (exists("title"), is(|d| d.title.is_some())),
        (exists("body"), is(|_| true)),
        (exists("tags"), is(|d| !d.tags.is_empty())),
        (exists("count"), is(|d| d.count.is_some())),
        (exists("price"), is(|d| d.price.is_some())),
        (exists("ip"), is(|d| d.ip.is_some())),
        (exists("flag"), is(|d| d.flag.is_some())),
        (exists("nothing"), is(|_| false)),
        (exists("_id"), is(|_| true)),
        (
            Query::Prefix(Pattern::new("tags", "Tag1")),
            is(|d| d.tags.iter().any(|t| t.starts_with("Tag1"))),
        ),
        (Query::Prefix(Pattern::new("tags", "tag1")), is(|_| false)),
        (
            Query::Prefix(Pattern {
                case_insensitive: true,
                ..Pattern::new("tags", "tAg1")
            }),
            is(|d| d.tags.iter().any(|t| t.starts_with("Tag1"))),
        ),
        (
            Query::Prefix(Pattern::new("tags", "")),
            is(|d| !d.tags.is_empty()),
        ),
        (
            Query::Wildcard(Pattern::new("tags", "*g?1")),
            is(|d| d.tags.iter().any(|t| t.len() == 5 && t.ends_with('1'))),
        ),
        (
            Query::Wildcard(Pattern::new("body", "w?")),
            is(|d| d.body.iter().any(|t| t.len() == 2)),
        ),
        (
            Query::Regexp(Pattern::new("body", "w[12][0-3]")),
            is(|d| {
                d.body.iter().any(|t| {
                    let t = t.as_bytes();
                    t.len() == 3 && matches!(t[1], b'1' | b'2') && (b'0'..=b'3').contains(&t[2])
                })
            }),
        ),
    ]);
}

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

#[test]
fn query_strings_match_like_a_loop() {
    let w = |d: &Doc, word: &str| has(&d.body, word);
    let and = |text: &str| {
        Query::QueryString(QueryString {
            default_operator: Operator::And,
            fields: vec![FieldBoost::parse("body")],
            ..QueryString::new(text)
        })
    };
    check(vec![
        (string("w1 w2"), is(move |d| w(d, "w1") || w(d, "w2"))),
        (and("w1 w2"), is(move |d| w(d, "w1") && w(d, "w2"))),
        (string("w1 AND w2"), is(move |d| w(d, "w1") && w(d, "w2"))),
        (string("w1 && w2 w9"), is(move |d| w(d, "w1") && w(d, "w2"))),
        (string("+w1 -w2 w9"), is(move |d| w(d, "w1") && !w(d, "w2"))),
        (
            string("w1 AND NOT w2"),
            is(move |d| w(d, "w1") && !w(d, "w2")),
        ),
        (string("w1 !w2"), is(move |d| w(d, "w1") && !w(d, "w2"))),
        (string("NOT w2"), is(move |d| !w(d, "w2"))),
        (
            string("(w1 OR w9) AND w2"),
            is(move |d| (w(d, "w1") || w(d, "w9")) && w(d, "w2")),
        ),
        (and("w1 OR w9"), is(move |d| w(d, "w1") || w(d, "w9"))),
        (
            string("\"w1 w0\""),
            is(|d| phrase_at(&d.body, &["w1", "w0"])),
        ),
        (
            string("title:w1"),
            is(|d| d.title.as_ref().is_some_and(|t| has(t, "w1"))),
        ),
        (
            string("title:(w1 w2) AND w0"),
            is(move |d| {
                w(d, "w0")
                    && d.title
                        .as_ref()
                        .is_some_and(|t| has(t, "w1") || has(t, "w2"))
            }),
        ),
        (string("tags:Tag3"), is(|d| has(&d.tags, "Tag3"))),
        (
            string("tags:Tag1*"),
            is(|d| d.tags.iter().any(|t| t.starts_with("Tag1"))),
        ),
        (
            string("W1?"),
            is(|d| d.body.iter().any(|t| t.len() == 3 && t.starts_with("w1"))),
        ),
        (
            string("count:[-2 TO 5}"),
            is(|d| d.count.is_some_and(|c| (-2..5).contains(&c))),
        ),
        (
            string("count:{* TO 0]"),
            is(|d| d.count.is_some_and(|c| c <= 0)),
        ),
        (
            string("count:>=18"),
            is(|d| d.count.is_some_and(|c| c >= 18)),
        ),
        (
            string("count:(>3 AND <=6)"),
            is(|d| d.count.is_some_and(|c| c > 3 && c <= 6)),
        ),
        (
            string("at:[2020-09-14 TO 2020-09-15]"),
            is(|d| {
                d.at.is_some_and(|t| (1_600_041_600_000..1_600_214_400_000).contains(&t))
            }),
        ),
        (string("_exists_:title"), is(|d| d.title.is_some())),
        (string("title:*"), is(|d| d.title.is_some())),
        (string("*:*"), is(|_| true)),
        (
            string("w12~1"),
            is(|d| d.body.iter().any(|t| distance(t, "w12") <= 1 || t == "w21")),
        ),
        (string("w1^3 w2"), is(move |d| w(d, "w1") || w(d, "w2"))),
        (
            string("body:/w[12]/"),
            is(move |d| w(d, "w1") || w(d, "w2")),
        ),
        (string("_id:0\\-3"), is(|d| d.id == "0-3")),
        (string(""), is(|_| false)),
        (
            Query::QueryString(QueryString::new("17")),
            is(|d| d.count == Some(17) || d.price == Some(17.0)),
        ),
        (Query::QueryString(QueryString::new("*")), is(|_| true)),
        (
            Query::QueryString(QueryString {
                simple: true,
                fields: vec![FieldBoost::parse("body")],
                ..QueryString::new("w1 + w2 | (w3 + -w4) \"")
            }),
            is(move |d| (w(d, "w1") && w(d, "w2")) || (w(d, "w3") && !w(d, "w4"))),
        ),
        (
            // Words in a row are one text to each of several fields.
            Query::QueryString(QueryString {
                fields: vec![FieldBoost::parse("body"), FieldBoost::parse("title")],
                default_operator: Operator::And,
                ..QueryString::new("w1 w2")
            }),
            is(move |d| {
                let title = |word| d.title.as_ref().is_some_and(|title| has(title, word));
                (w(d, "w1") && w(d, "w2")) || (title("w1") && title("w2"))
            }),
        ),
        (
            Query::Bool(Bool {
                must_not: vec![Query::MatchPhrase(MatchPhrase::new("body", "w1 w2"))],
                must: vec![Query::matches("body", "w1")],
                ..Bool::default()
            }),
            is(move |d| w(d, "w1") && !phrase_at(&d.body, &["w1", "w2"])),
        ),
        (
            // A phrase that no document has, and whose words all have.
            Query::Bool(Bool {
                must_not: vec![Query::ConstantScore {
                    filter: Box::new(Query::MatchPhrase(MatchPhrase::new("body", "w1 w1 w1 w1"))),
                    boost: 1.0,
                }],
                ..Bool::default()
            }),
            is(move |d| !phrase_at(&d.body, &["w1", "w1", "w1", "w1"])),
        ),
    ]);
}

#[test]
fn malformed_query_strings_are_refused() {
    let (snapshot, _) = shard(7);
    for text in [
        "(w1",
        "w1)",
        "w1 AND",
        "OR w1",
        "\"w1",
        "title:",
        "count:[1 TO",
        "count:[1 2]",
        "w1^x",
        "a:b:c",
        "w1 & w2",
    ] {
        match found(&snapshot, &string(text)) {
            Err(error @ QueryError::Syntax { .. }) => {
                assert_eq!(error.to_string(), format!("Failed to parse query [{text}]"));
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn values_that_do_not_fit_are_refused_unless_lenient() {
    let (snapshot, _) = shard(7);
    for (query, reason) in [
        (
            Query::term("count", "x"),
            "failed to create query: For input string: \"x\"",
        ),
        (
            Query::term("count", 3_000_000_000_i64),
            "failed to create query: Value [3000000000] is out of range for an integer",
        ),
        (
            Query::term("flag", "maybe"),
            "failed to create query: Can't parse boolean value [maybe], expected [true] or [false]",
        ),
        (
            Query::term("ip", "localhost"),
            "failed to create query: 'localhost' is not an IP string literal.",
        ),
        (
            range("price", &[("gt", json!("cheap"))]),
            "failed to create query: For input string: \"cheap\"",
        ),
    ] {
        let error = found(&snapshot, &query).unwrap_err().to_string();
        assert_eq!(error, reason);
        let lenient = Query::Lenient(Box::new(query));
        assert_eq!(found(&snapshot, &lenient).unwrap(), []);
    }
}

#[test]
fn size_and_depth_are_limited() {
    let (snapshot, _) = shard(7);
    let wide = Query::Bool(Bool {
        should: vec![Query::term("body", "w1"); 1025],
        ..Bool::default()
    });
    let error = found(&snapshot, &wide).unwrap_err();
    assert_eq!(error.to_string(), "maxClauseCount is set to 1024");
    // Before a tree of all of them is made.
    let long = QueryString::new("w1~ ".repeat(200_000));
    assert!(matches!(
        found(&snapshot, &Query::QueryString(long)),
        Err(QueryError::TooManyClauses { max: 1024 })
    ));
    let words = vec!["w1"; 1025].join(" ");
    assert!(matches!(
        found(&snapshot, &Query::matches("body", words)),
        Err(QueryError::TooManyClauses { max: 1024 })
    ));
    let fuzzy = Query::Fuzzy {
        field: "body".into(),
        value: "w1".into(),
        fuzziness: Fuzziness::parse("2").unwrap(),
        boost: 1.0,
    };
    let many = |count: usize| {
        Query::Bool(Bool {
            should: vec![fuzzy.clone(); count],
            ..Bool::default()
        })
    };
    assert!(found(&snapshot, &many(10)).is_ok());
    // No more clauses than there may be, which stand for too many words.
    assert!(matches!(
        found(&snapshot, &many(1_024)),
        Err(QueryError::TooManyClauses { max: 16_384 })
    ));
    let phrase = MatchPhrase::new("body", "w1 ".repeat(8193));
    let error = found(&snapshot, &Query::MatchPhrase(phrase)).unwrap_err();
    let told = "a phrase may have [8192] words, this one has [8193]";
    assert!(error.to_string().contains(told), "{error}");
    let mut deep = Query::match_all();
    for _ in 0..40 {
        deep = Query::Bool(Bool {
            must: vec![deep],
            ..Bool::default()
        });
    }
    assert!(matches!(
        found(&snapshot, &deep),
        Err(QueryError::TooDeep { .. })
    ));
    let nested = format!("{}w1{}", "(".repeat(100), ")".repeat(100));
    assert!(found(&snapshot, &string(&nested)).is_err());
}

#[test]
fn of_frequent_words_only_the_rare_ones_beside_them_decide() {
    let (snapshot, docs) = shard(7);
    let rows = docs.iter().flatten().count() as f32;
    let frequency = |word: &str| {
        let with = docs.iter().flatten().filter(|doc| has(&doc.body, word));
        with.count() as f32
    };
    let operators = [Operator::Or, Operator::And];
    for (text, cutoff) in [
        ("w0 w1", 0.001),
        ("w0 w30 w1 w35", 0.2),
        ("w0 w1 w2 w30", 40.0),
        ("w0", 0.001),
        ("w0 w38 nowhere", 0.1),
        ("w30 w31", 0.9),
    ] {
        let words = || text.split(' ').map(str::to_string);
        let is_frequent = |word: &String| {
            let with = frequency(word);
            cutoff >= 1.0 && with > cutoff || with > (cutoff * rows).ceil()
        };
        let is_lone = words().count() == 1;
        let (frequent, rare): (Vec<_>, Vec<_>) =
            words().partition(|word| !is_lone && is_frequent(word));
        for (rare_operator, operator) in operators
            .into_iter()
            .flat_map(|one| operators.map(|other| (one, other)))
        {
            for minimum in [None, Some(MinimumShouldMatch::Count(2))] {
                let query = Query::Match(Match {
                    operator: rare_operator,
                    frequent: Some(FrequentWords {
                        cutoff,
                        operator,
                        minimum_should_match: minimum.clone(),
                    }),
                    ..Match::new("body", text)
                });
                let holds = |doc: &Doc| {
                    let count =
                        |words: &[String]| words.iter().filter(|word| has(&doc.body, word)).count();
                    match (rare.is_empty(), rare_operator, &minimum, operator) {
                        (false, Operator::And, ..) => count(&rare) == rare.len(),
                        (false, Operator::Or, ..) => count(&rare) > 0,
                        (true, _, Some(_), Operator::Or) => count(&frequent) >= 2,
                        (true, ..) => count(&frequent) == frequent.len(),
                    }
                };
                let have = found(&snapshot, &query).unwrap();
                assert_eq!(have, expected(&docs, &holds), "{query:?}");
            }
        }
    }
}

#[test]
fn minimum_should_match_reads_every_form() {
    for (text, clauses, required) in [
        ("2", 5, 2),
        ("-1", 5, 4),
        ("75%", 5, 3),
        ("-25%", 5, 4),
        ("3<90%", 3, 3),
        ("3<90%", 10, 9),
        ("2<-25% 9<-3", 2, 2),
        ("2<-25% 9<-3", 8, 6),
        ("2<-25% 9<-3", 12, 9),
        ("-9", 5, 0),
    ] {
        let minimum: MinimumShouldMatch = text.parse().unwrap();
        assert_eq!(minimum.resolve(clauses), required, "{text} of {clauses}");
    }
    assert!("many".parse::<MinimumShouldMatch>().is_err());
}
