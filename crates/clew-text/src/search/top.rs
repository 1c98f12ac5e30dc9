//! The best documents by score, ties in the order of the index.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use tantivy::DocId;

use super::request::ShardHit;
use super::sort::SortValue;

/// A candidate; the greatest is the worst, so that a heap gives it up first.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    score: f32,
    segment: usize,
    doc: DocId,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.segment.cmp(&other.segment))
            .then(self.doc.cmp(&other.doc))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// The best candidates so far.
#[derive(Debug)]
pub(super) struct TopScores {
    heap: BinaryHeap<Candidate>,
    limit: usize,
    below: Option<f32>,
}

impl TopScores {
    /// Keeps `limit` candidates; only those that score less than `below`, if given.
    pub(super) fn new(limit: usize, below: Option<f32>) -> Self {
        TopScores {
            heap: BinaryHeap::with_capacity(limit.min(10_000) + 1),
            limit,
            below,
        }
    }

    pub(super) fn offer(&mut self, segment: usize, doc: DocId, score: f32) {
        if self.below.is_some_and(|below| score >= below) {
            return;
        }
        let candidate = Candidate {
            score,
            segment,
            doc,
        };
        if self.heap.len() < self.limit {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.heap.len() >= self.limit
    }

    /// The score a candidate must exceed to matter; candidates come in the order of ties.
    pub(super) fn threshold(&self) -> Option<f32> {
        if self.is_full() {
            self.heap.peek().map(|worst| worst.score)
        } else {
            None
        }
    }

    /// The hits in order. `with_values`: they carry their score as a sort value too.
    pub(super) fn into_hits(self, with_values: bool) -> Vec<ShardHit> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|candidate| ShardHit {
                segment: candidate.segment,
                doc: candidate.doc,
                score: Some(candidate.score),
                sort: if with_values {
                    vec![SortValue::Score(candidate.score)]
                } else {
                    Vec::new()
                },
                group: None,
            })
            .collect()
    }
}
