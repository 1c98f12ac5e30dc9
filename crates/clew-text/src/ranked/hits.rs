//! Where ranking leaves what it finds, and which score a document must exceed to be worth finding.

use tantivy::DocId;
use tantivy::fastfield::AliveBitSet;

use crate::search::{SegmentBits, TopScores};

/// More than a sum loses when it is rounded to single precision.
const ROUNDING: f64 = 1e-6;

/// The best hits of a shard so far, and the segment that is being read.
pub(crate) struct Hits<'a> {
    top: TopScores,
    /// Matches are counted until there are more than so many; until then none may be passed over.
    count_to: Option<u64>,
    seen: u64,
    segment: usize,
    alive: Option<&'a AliveBitSet>,
    /// What hits must be in, and must not be in.
    within: Vec<&'a SegmentBits>,
    without: Vec<&'a SegmentBits>,
}

impl<'a> Hits<'a> {
    pub(crate) fn new(top: TopScores, count_to: Option<u64>) -> Self {
        Hits {
            top,
            count_to,
            seen: 0,
            segment: 0,
            alive: None,
            within: Vec::new(),
            without: Vec::new(),
        }
    }

    /// Goes on with a segment.
    pub(crate) fn begin(&mut self, segment: usize, alive: Option<&'a AliveBitSet>) {
        self.segment = segment;
        self.alive = alive;
        self.within.clear();
        self.without.clear();
    }

    /// Hits of this segment must be in the set.
    pub(crate) fn only_within(&mut self, bits: &'a SegmentBits) {
        self.within.push(bits);
    }

    /// Hits of this segment must not be in the set.
    pub(crate) fn only_without(&mut self, bits: &'a SegmentBits) {
        self.without.push(bits);
    }

    /// The score that a document must exceed; below all scores as long as every match counts.
    pub(super) fn floor(&self) -> f32 {
        if self.count_to.is_some_and(|limit| self.seen <= limit) {
            return f32::MIN;
        }
        self.top.threshold().unwrap_or(f32::MIN)
    }

    /// The sum that a document must exceed for which at most `others` will be added; a little lower, so that
    /// rounding never excludes one that is good enough.
    pub(super) fn reach(&self, others: f64) -> f64 {
        let floor = self.floor();
        if floor == f32::MIN {
            return f64::MIN;
        }
        let floor = f64::from(floor);
        floor - others - floor.abs() * ROUNDING
    }

    /// Whether a document may match and not count.
    pub(super) fn is_choosy(&self) -> bool {
        self.alive.is_some() || !self.within.is_empty() || !self.without.is_empty()
    }

    /// Whether a document that matches is one that counts.
    #[inline]
    pub(super) fn admits(&self, doc: DocId) -> bool {
        self.alive.is_none_or(|alive| alive.is_alive(doc))
            && self.within.iter().all(|bits| bits.contains(doc))
            && !self.without.iter().any(|bits| bits.contains(doc))
    }

    /// Takes a match that is admitted; they come in the order of documents.
    pub(super) fn take(&mut self, doc: DocId, score: f32) {
        self.seen += 1;
        self.top.offer(self.segment, doc, score);
    }

    /// The best, and how many matches were taken.
    pub(crate) fn finish(self) -> (TopScores, u64) {
        (self.top, self.seen)
    }
}
