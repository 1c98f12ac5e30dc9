//! Stored queries that documents match.

use clew_query::{PercolateQuery, QueryError, unless_stopped};

use super::{Compiler, Node};
use crate::query::leaf::ScoredDocs;
use crate::query::percolate::{Waiting, candidates};
use crate::query::resolver::SegmentHits;

impl Compiler<'_> {
    /// The documents whose queries match, with the best score that a query gives.
    pub(super) fn percolate(
        &self,
        percolate: &PercolateQuery,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        let waiting = Waiting::new(percolate, &snapshot.mapping)?;
        if self.scope.is_some() {
            return Ok(Node::nothing());
        }
        let now_ms = self.context.now_ms;
        let mut found = Vec::with_capacity(snapshot.readers.len());
        let mut at_least = 0;
        let bits = candidates(&waiting, snapshot, now_ms)?;
        for (reader, bits) in snapshot.readers.iter().zip(bits) {
            let mut hits = SegmentHits::new();
            if let Some(column) = waiting.column(reader)? {
                for doc in bits.iter() {
                    unless_stopped()?;
                    let Some(query) = waiting.query(&column, doc)? else {
                        continue;
                    };
                    let matched = waiting.matches(&query, now_ms)?;
                    let scores = matched.iter().map(|matched| matched.score);
                    hits.extend(scores.max_by(f32::total_cmp).map(|best| (doc, best)));
                }
            }
            at_least += hits.len() as u64;
            found.push((reader.segment_id(), hits));
        }
        let docs = ScoredDocs::found(found)?;
        Ok(Node {
            at_least,
            exact: true,
            ..Node::scored(Box::new(docs), factor)
        })
    }
}
