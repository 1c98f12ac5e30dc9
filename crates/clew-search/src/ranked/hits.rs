//! Where ranking leaves what it finds, and which score a document must exceed to be worth finding.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tantivy::DocId;
use tantivy::fastfield::AliveBitSet;

use crate::segments::{SegmentBits, TopScores};

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

    /// Whether a document that matches is one that counts.
    #[inline]
    pub(super) fn admits(&self, doc: DocId) -> bool {
        self.alive.is_none_or(|alive| alive.is_alive(doc))
            && self.within.iter().all(|bits| bits.contains(doc))
            && !self.without.iter().any(|bits| bits.contains(doc))
    }

    /// Which of 64 documents count, the first of which has a number that is a multiple of 64.
    pub(super) fn admitted(&self, first: DocId, docs: u64) -> u64 {
        let word = |bits: &SegmentBits| bits.words().get(first as usize / 64).copied();
        let within = self.within.iter().map(|bits| word(bits).unwrap_or(0));
        let without = self.without.iter().map(|bits| !word(bits).unwrap_or(0));
        let docs = within.chain(without).fold(docs, |docs, word| docs & word);
        let Some(alive) = self.alive else {
            return docs;
        };
        let (mut left, mut dead) = (docs, 0);
        while left != 0 {
            let place = left.trailing_zeros();
            left &= left - 1;
            dead |= u64::from(alive.is_deleted(first + place)) << place;
        }
        docs & !dead
    }
}

/// Matches that a thread takes before it tells the others how many there are.
const TOLD_AT_ONCE: u64 = 64;

/// What threads know of each other that read segments of one shard at the same time.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    seen: AtomicU64,
    /// A number that grows with the score that documents of any segment must exceed.
    floor: AtomicU32,
}

const SIGN: u32 = 1 << 31;

impl Beside {
    fn floor(&self) -> f32 {
        let place = self.floor.load(Ordering::Relaxed);
        match place {
            0 => f32::MIN,
            _ if place & SIGN == 0 => f32::from_bits(!place),
            _ => f32::from_bits(place & !SIGN),
        }
    }

    /// A thread has as many hits as wanted, with this score or better ones.
    fn raise(&self, score: f32) {
        // One that is as good may be in an earlier segment.
        let bits = score.next_down().to_bits();
        let place = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        // Nothing else hangs on it: who reads an older floor does work that was not needed, and finds the same.
        self.floor.fetch_max(place, Ordering::Relaxed);
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
    /// What other threads know, and how much of this they were told.
    beside: Option<&'a Beside>,
    told_seen: u64,
    told_floor: f32,
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
            beside: None,
            told_seen: 0,
            told_floor: f32::MIN,
        }
    }

    /// The same on one of several threads.
    pub(crate) fn beside(self, others: &'a Beside) -> Self {
        Hits {
            beside: Some(others),
            ..self
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
        if self.counts() {
            return f32::MIN;
        }
        let least = match self.beside {
            Some(beside) => beside.floor().max(self.least),
            None => self.least,
        };
        let threshold = self.top.threshold_in(self.segment);
        threshold.map_or(least, |threshold| threshold.max(least))
    }

    /// Whether every match counts.
    pub(super) fn counts(&self) -> bool {
        self.count_to
            .is_some_and(|limit| !self.has_seen_more(limit))
    }

    fn has_seen_more(&self, limit: u64) -> bool {
        let others = |beside: &Beside| beside.seen.load(Ordering::Relaxed) - self.told_seen;
        self.seen > limit || (limit < u64::MAX && self.seen + self.beside.map_or(0, others) > limit)
    }

    /// How many hits are wanted, if it is no matter where they are.
    pub(super) fn wanted(&self) -> Option<usize> {
        self.top.unbounded_limit()
    }

    /// There are as many hits as wanted with this score or a better one.
    pub(super) fn expect(&mut self, score: f32) {
        // Those hits are still to be taken, and the floor must be exceeded.
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
        self.here.admits(doc)
    }

    /// Takes a match that is admitted; those of a segment come in their order.
    pub(super) fn take(&mut self, doc: DocId, score: f32) {
        self.seen += 1;
        self.top.offer(self.segment, doc, score);
        if let Some(beside) = self.beside {
            self.tell(beside);
        }
    }

    /// Takes a match of any segment, which is admitted there.
    pub(super) fn take_at(&mut self, (segment, doc): (usize, DocId), score: f32) {
        self.top.offer(segment, doc, score);
    }

    fn tell(&mut self, beside: &Beside) {
        let more = self.seen - self.told_seen;
        if more >= TOLD_AT_ONCE && self.count_to.is_some_and(|limit| limit < u64::MAX) {
            beside.seen.fetch_add(more, Ordering::Relaxed);
            self.told_seen = self.seen;
        }
        if let Some(worst) = self.top.threshold()
            && worst > self.told_floor
        {
            beside.raise(worst);
            self.told_floor = worst;
        }
    }

    /// The best, and how many matches were taken.
    pub(crate) fn finish(self) -> (TopScores, u64) {
        (self.top, self.seen)
    }
}
