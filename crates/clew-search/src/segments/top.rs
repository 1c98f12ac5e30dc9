//! The best documents by score, ties in the order of the index.

use std::collections::BinaryHeap;

use tantivy::DocId;

/// A candidate as one number, so that two are compared at once: the better the score the smaller; then comes its
/// segment, then its document. The greatest is the worst, so that a heap gives it up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate(u128);

const SEGMENT_BITS: u32 = 64;
const DOC_BITS: u32 = 32;
const SIGN: u32 = 1 << 31;

impl Candidate {
    fn new(score: f32, segment: usize, doc: DocId) -> Self {
        let bits = score.to_bits();
        // The bits of negative numbers ascend as these fall.
        let falling = if bits & SIGN == 0 {
            !(bits | SIGN)
        } else {
            bits
        };
        let place = (segment as u128) << DOC_BITS | u128::from(doc);
        Candidate(u128::from(falling) << (SEGMENT_BITS + DOC_BITS) | place)
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the upper 32 bits are left"
    )]
    fn score(self) -> f32 {
        let falling = (self.0 >> (SEGMENT_BITS + DOC_BITS)) as u32;
        f32::from_bits(if falling & SIGN == 0 {
            !falling & !SIGN
        } else {
            falling
        })
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "it was made of a segment's number"
    )]
    fn segment(self) -> usize {
        (self.0 >> DOC_BITS) as u64 as usize
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the lower 32 bits are left"
    )]
    fn doc(self) -> DocId {
        self.0 as u32
    }
}

/// The best candidates so far.
#[derive(Debug)]
pub(crate) struct TopScores {
    heap: BinaryHeap<Candidate>,
    limit: usize,
    below: Option<f32>,
}

impl TopScores {
    /// Keeps `limit` candidates; only those that score less than `below`, if given.
    pub(crate) fn new(limit: usize, below: Option<f32>) -> Self {
        TopScores {
            heap: BinaryHeap::with_capacity(limit.min(10_000) + 1),
            limit,
            below,
        }
    }

    pub(crate) fn offer(&mut self, segment: usize, doc: DocId, score: f32) {
        if self.below.is_some_and(|below| score >= below) {
            return;
        }
        let candidate = Candidate::new(score, segment, doc);
        if self.heap.len() < self.limit {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    /// Takes the candidates of another, which are of other segments.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.heap.extend(other.heap);
        while self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.heap.len() >= self.limit
    }

    /// The score a candidate must exceed to matter; candidates come in the order of ties.
    pub(crate) fn threshold(&self) -> Option<f32> {
        if self.is_full() {
            self.heap.peek().map(|worst| worst.score())
        } else {
            None
        }
    }

    /// The same for candidates of one segment, when segments come in any order: where the worst is in a later
    /// one, as much as it has is enough.
    pub(crate) fn threshold_in(&self, segment: usize) -> Option<f32> {
        if !self.is_full() {
            return None;
        }
        self.heap.peek().map(|worst| {
            if segment < worst.segment() {
                worst.score().next_down()
            } else {
                worst.score()
            }
        })
    }

    /// The number of candidates that are kept, where every score is welcome.
    pub(crate) fn unbounded_limit(&self) -> Option<usize> {
        self.below.is_none().then_some(self.limit)
    }

    /// The candidates in order: segment, document, score.
    pub(crate) fn into_candidates(self) -> impl Iterator<Item = (usize, DocId, f32)> {
        let mut candidates = self.heap.into_vec();
        candidates.sort_unstable();
        let parts = |one: Candidate| (one.segment(), one.doc(), one.score());
        candidates.into_iter().map(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_come_by_falling_score_and_then_in_the_order_of_the_index() {
        let scores = [f32::MAX, 2.5, 2.0, 1e-40, 0.0, -0.0, -1e-40, -2.0, f32::MIN];
        let mut all = Vec::new();
        for score in scores {
            for place in [(0, 0), (0, u32::MAX), (1, 0), (70_000, 5)] {
                all.push((score, place));
            }
        }
        let mut have: Vec<_> = all.iter().rev().collect();
        have.sort_by_key(|(score, (segment, doc))| Candidate::new(*score, *segment, *doc));
        assert!(have.into_iter().eq(&all));
        for (score, (segment, doc)) in all {
            let one = Candidate::new(score, segment, doc);
            assert_eq!(one.score().to_bits(), score.to_bits());
            assert_eq!((one.segment(), one.doc()), (segment, doc));
        }
    }
}
