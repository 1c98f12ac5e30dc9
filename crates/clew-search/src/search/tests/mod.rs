//! Scores against the formula, pruned searches against full ones, sorting against a loop.

mod collected;
mod neighbours;
mod pruned;
mod scores;
mod sorted;

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use clew_platform::{CancellationToken, RealClock};
use clew_query::{
    Bm25, Bool, FieldBoost, KnnQuery, Match, MatchPhrase, Missing, MultiMatch, MultiMatchKind,
    Operator, Order, Query, QueryError, SortKey, SortValue, Term, compare_rows,
};
use serde_json::json;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{DocId, SegmentReader};

use super::fixture::{Doc, Random, random_docs, run, shard, snapshot};
use super::*;
use crate::query::matching;
use crate::query::{KnnResolver, SegmentHits, VectorAnswers, VectorStage};
use crate::segments::SegmentBits;
use crate::snapshot::Snapshot;

fn body(doc: &Doc) -> Option<&Vec<String>> {
    Some(&doc.body).filter(|words| !words.is_empty())
}
fn title(doc: &Doc) -> Option<&Vec<String>> {
    doc.title.as_ref()
}
type Words = fn(&Doc) -> Option<&Vec<String>>;

/// Every hit, by a full scan that cannot prune.
fn exhaustive(snapshot: &Snapshot, query: &Query) -> Vec<ShardHit> {
    let request = ShardRequest {
        limit: 100_000,
        track_total: TrackTotal::Exact,
        min_score: Some(f32::MIN),
        ..ShardRequest::new(query)
    };
    run(snapshot, request).hits
}

fn same_hits(have: &[ShardHit], want: &[ShardHit], what: &str) {
    assert_eq!(have.len(), want.len(), "{what}");
    for (have, want) in have.iter().zip(want) {
        let (a, b) = (have.score.unwrap(), want.score.unwrap());
        assert!((a - b).abs() <= 1e-5 * b.abs(), "{what}: {have:?} {want:?}");
    }
}

/// BM25 from its definition, over all documents that have the field, dead ones included.
fn bm25(docs: &[Vec<Doc>], words: Words, term: &str, doc: &Doc) -> f64 {
    bm25_with((1.2, 0.75), docs, words, (term, doc))
}

/// The same with other parameters.
fn bm25_with(
    (k1, b): (f64, f64),
    docs: &[Vec<Doc>],
    words: Words,
    (term, doc): (&str, &Doc),
) -> f64 {
    let all: Vec<&Vec<String>> = docs.iter().flatten().filter_map(words).collect();
    let count = all.len() as f64;
    let tokens: usize = all.iter().map(|words| words.len()).sum();
    let with = all
        .iter()
        .filter(|words| words.iter().any(|w| w == term))
        .count() as f64;
    let Some(own) = words(doc) else { return 0.0 };
    let frequency = own.iter().filter(|w| *w == term).count() as f64;
    let length = u32::try_from(own.len()).unwrap();
    let stored = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length));
    let idf = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
    if frequency == 0.0 {
        return 0.0;
    }
    let norm = k1 * (1.0 - b + b * f64::from(stored) / (tokens as f64 / count));
    idf * (k1 + 1.0) * frequency / (frequency + norm)
}
