//! Where ranking leaves what it finds, and which score a document must exceed to be worth finding.

use tantivy::DocId;
use tantivy::fastfield::AliveBitSet;

use crate::search::{SegmentBits, TopScores};

/// More than a sum loses when it is rounded to single precision.
const ROUNDING: f64 = 1e-6;

/// Which documents of a segment may be hits.
#[derive(Default)]
pub(crate) struct Admission<'a> {
    pub(crate) alive: Option<&'a AliveBitSet>,
    /// What hits must be in, and must not be in.
    pub(crate) within: Vec<&'a SegmentBits>,
    pub(crate) without: Vec<&'a SegmentBits>,
}

impl Admission<'_> {
    /// Whether a document may match and not count.
    pub(super) fn is_choosy(&self) -> bool {
        self.alive.is_some() || !self.within.is_empty() || !self.without.is_empty()
    }
}

/// The best hits of a shard so far, and the segment that is being read.
pub(crate) struct Hits<'a> {
    top: TopScores,
    /// Matches are counted until there are more than so many; until then none may be passed over.
    count_to: Option<u64>,
    seen: u64,
    segment: usize,
    here: Admission<'a>,
    /// All must exceed this: it is certain that enough do.
    least: f32,
}

impl<'a> Hits<'a> {
    pub(crate) fn new(top: TopScores, count_to: Option<u64>) -> Self {
        Hits {
            top,
            count_to,
            seen: 0,
            segment: 0,
            here: Admission::default(),
            least: f32::MIN,
        }
    }

    /// Goes on with a segment; they come in any order.
    pub(super) fn begin(&mut self, segment: usize, admission: &Admission<'a>) {
        self.segment = segment;
        self.here.alive = admission.alive;
        self.here.within.clone_from(&admission.within);
        self.here.without.clone_from(&admission.without);
    }

    /// The score that a document must exceed; below all scores as long as every match counts.
    pub(super) fn floor(&self) -> f32 {
        if self.count_to.is_some_and(|limit| self.seen <= limit) {
            return f32::MIN;
        }
        let threshold = self.top.threshold_in(self.segment);
        threshold.map_or(self.least, |threshold| threshold.max(self.least))
    }

    /// How many hits are wanted, if it is no matter where they are.
    pub(super) fn wanted(&self) -> Option<usize> {
        self.top.unbounded_limit()
    }

    /// There are as many hits as wanted with this score or a better one.
    pub(super) fn expect(&mut self, score: f32) {
        self.least = self.least.max(score.next_down());
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
        self.here.is_choosy()
    }

    /// Whether a document that matches is one that counts.
    #[inline]
    pub(super) fn admits(&self, doc: DocId) -> bool {
        self.here.alive.is_none_or(|alive| alive.is_alive(doc))
            && self.here.within.iter().all(|bits| bits.contains(doc))
            && !self.here.without.iter().any(|bits| bits.contains(doc))
    }

    /// Takes a match that is admitted; those of a segment come in their order.
    pub(super) fn take(&mut self, doc: DocId, score: f32) {
        self.seen += 1;
        self.top.offer(self.segment, doc, score);
    }

    /// The best, and how many matches were taken.
    pub(crate) fn finish(self) -> (TopScores, u64) {
        (self.top, self.seen)
    }
}
