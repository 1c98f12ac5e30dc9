//! Every kind of query against a loop over the documents.

#![allow(clippy::too_many_lines, reason = "tables of cases")]

mod compounds;
mod query_strings;
mod refused;
mod values;
mod words;

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
