//! What a search asks of a shard, and what it answers.

use clew_query::{Query, QueryError, SortKey, SortValue};
use serde::{Deserialize, Serialize};
use tantivy::{DocId, SegmentReader};

use super::hit::ShardHit;
use super::threads::Threads;
use super::total::{Total, TrackTotal};
use crate::query::QueryRecorder;
use crate::segments::SegmentBits;

/// Sees every matching document, in blocks, in one pass with the search.
pub trait DocVisitor {
    /// A segment begins; `ord` is its place in the snapshot.
    ///
    /// # Errors
    /// Ends the search.
    fn segment(&mut self, ord: usize, reader: &SegmentReader) -> Result<(), QueryError>;

    /// Whether [`DocVisitor::scores`] is wanted.
    fn wants_scores(&self) -> bool {
        false
    }

    /// The scores of the documents that [`DocVisitor::collect`] gets next.
    fn scores(&mut self, _docs: &[DocId], _scores: &[f32]) {}

    /// Documents of the segment that match and are not deleted, ascending.
    ///
    /// # Errors
    /// Ends the search.
    fn collect(&mut self, docs: &[DocId]) -> Result<(), QueryError>;

    /// A visitor for some of the segments, on another thread; `None` where one must see them all in their order.
    fn fork(&mut self) -> Option<Box<dyn DocVisitor + Send>> {
        None
    }

    /// No segment comes any more. Asked of forks only.
    ///
    /// # Errors
    /// Ends the search.
    fn end(&mut self) -> Result<(), QueryError> {
        Ok(())
    }

    /// Takes over what the forks have seen, as if these segments had come one after the other; what was seen of
    /// others is forgotten.
    ///
    /// # Errors
    /// Ends the search.
    fn join(&mut self, _segments: &[usize]) -> Result<(), QueryError> {
        Ok(())
    }
}

/// What is wanted of one shard.
pub struct ShardRequest<'a> {
    /// What must match.
    pub query: &'a Query,
    /// What must match too, without a score.
    pub filter: Option<&'a Query>,
    /// What hits must match too; the visitor sees documents that do not.
    pub post_filter: Option<&'a Query>,
    /// The order of hits; empty means by score.
    pub sort: &'a [SortKey],
    /// The field of whose values each is in one hit only.
    pub collapse: Option<&'a str>,
    /// Scores are wanted even when the order does not need them.
    pub track_scores: bool,
    /// Most hits wanted.
    pub limit: usize,
    /// How exactly to count.
    pub track_total: TrackTotal,
    /// Only hits after this place in the order.
    pub search_after: Option<&'a [SortValue]>,
    /// Only hits with at least this score.
    pub min_score: Option<f32>,
    /// Only these documents count at all, segment by segment: for hits, totals and the visitor.
    pub only: Option<&'a [SegmentBits]>,
    /// The search ends after so many matches.
    pub terminate_after: Option<u64>,
    /// Where the shard's documents begin among those of all shards, for the order of documents.
    pub doc_base: u64,
    /// What else reads the matching documents.
    pub visitor: Option<&'a mut dyn DocVisitor>,
    /// Milliseconds since the epoch that `now` means.
    pub now_ms: i64,
    /// Threads that may help with the segments.
    pub threads: Option<&'a dyn Threads>,
    /// Notes what the query costs, if somebody asks. Its clauses are asked one document at a time then, which prunes nothing.
    pub recorder: Option<&'a QueryRecorder>,
}

impl<'a> ShardRequest<'a> {
    /// The ten best by score, counted up to 10,000.
    pub fn new(query: &'a Query) -> Self {
        ShardRequest {
            query,
            filter: None,
            post_filter: None,
            sort: &[],
            collapse: None,
            track_scores: false,
            limit: 10,
            track_total: TrackTotal::UpTo(10_000),
            search_after: None,
            min_score: None,
            only: None,
            terminate_after: None,
            doc_base: 0,
            visitor: None,
            now_ms: 0,
            threads: None,
            recorder: None,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardResult {
    /// How many documents match.
    pub total: Total,
    /// The best score, when scores were computed.
    pub max_score: Option<f32>,
    /// The hits in order.
    pub hits: Vec<ShardHit>,
    /// Whether the search ended early because its time was up.
    pub timed_out: bool,
    /// Whether it ended early because it had found as many documents as it should look at.
    pub terminated_early: bool,
}

impl ShardResult {
    /// Nothing was found before the time was up.
    pub fn too_late(track: TrackTotal) -> Self {
        ShardResult {
            total: Total::of(0, false, track),
            max_score: None,
            hits: Vec::new(),
            timed_out: true,
            terminated_early: false,
        }
    }
}
