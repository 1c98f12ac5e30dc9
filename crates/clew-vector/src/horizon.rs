//! What columns that are searched for one vector know of each other, so that together they are searched as one would be:
//! how far the best of all of them lie. A search beyond that is a waste, however little its own column has found.

use std::collections::BinaryHeap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::ivf::ListQuery;
use crate::rank::Ranked;

/// The best that searches of several columns have found for one vector so far, all in one space.
///
/// Searches may share it from several threads: each reads two numbers when it begins, and tells what it has found when it
/// ends, in O(log n) for each candidate.
#[derive(Debug)]
pub struct Horizon {
    best: Mutex<Best>,
    /// Bits of the limits, for those who only ask.
    candidates: AtomicU32,
    hits: AtomicU32,
    /// How many there are to be of both.
    most: Most,
    /// The vector as lists around some centres are scanned for it.
    prepared: Mutex<Option<(NonZeroU64, ListQuery)>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    pub(crate) candidates: usize,
    pub(crate) hits: usize,
}

#[derive(Debug)]
struct Best {
    candidates: Few,
    hits: Few,
}

impl Horizon {
    /// For a search for so many hits that keeps so many candidates, were there one column only.
    pub fn new(hits: usize, candidates: usize) -> Self {
        let infinite = || AtomicU32::new(f32::INFINITY.to_bits());
        Horizon {
            best: Mutex::new(Best {
                candidates: Few::new(candidates),
                hits: Few::new(hits),
            }),
            candidates: infinite(),
            hits: infinite(),
            most: Most { candidates, hits },
            prepared: Mutex::new(None),
        }
    }

    /// Whether as many candidates were found as one column would keep: from then on a walk ends where they do.
    pub fn is_known(&self) -> bool {
        self.candidate_limit() < f32::INFINITY
    }

    /// Candidates and hits of the whole, once it is known where they end.
    pub(crate) fn known(&self) -> Option<Most> {
        self.is_known().then_some(self.most)
    }

    /// Hits wanted of the whole.
    pub(crate) fn hits_wanted(&self) -> usize {
        self.most.hits
    }

    /// Whether there are as many hits as are wanted.
    pub(crate) fn has_hits(&self) -> bool {
        self.hit_limit() < f32::INFINITY
    }

    /// What lies farther is not among the best candidates; infinite until there are enough.
    pub(crate) fn candidate_limit(&self) -> f32 {
        f32::from_bits(self.candidates.load(Ordering::Relaxed))
    }

    /// What lies farther is no hit; infinite until there are enough.
    pub(crate) fn hit_limit(&self) -> f32 {
        f32::from_bits(self.hits.load(Ordering::Relaxed))
    }

    /// The hits so far, in no order, where so many are wanted of the whole; their rows are those of other columns.
    pub(crate) fn hits_of(&self, wanted: usize) -> Vec<Ranked> {
        if self.most.hits != wanted {
            return Vec::new();
        }
        let best = self.best.lock();
        best.hits.farthest_first.iter().copied().collect()
    }

    /// The vector prepared for lists around these centres, if a search has left it and none has taken it since.
    pub(crate) fn take_prepared(&self, centres: NonZeroU64) -> Option<ListQuery> {
        let mut prepared = self.prepared.lock();
        let taken = prepared.take_if(|(of, _)| *of == centres);
        taken.map(|(_, query)| query)
    }

    /// Leaves it to the searches that come.
    pub(crate) fn keep_prepared(&self, centres: NonZeroU64, query: ListQuery) {
        *self.prepared.lock() = Some((centres, query));
    }

    /// Takes in what a column has found: its candidates by their estimates, and its hits, each of which may also be among
    /// the former.
    pub(crate) fn add(&self, candidates: impl Iterator<Item = Ranked>, hits: &[Ranked]) {
        let mut best = self.best.lock();
        candidates.for_each(|one| best.candidates.offer(one));
        hits.iter().for_each(|&one| best.hits.offer(one));
        let (candidates, hits) = (best.candidates.limit(), best.hits.limit());
        self.candidates
            .store(candidates.to_bits(), Ordering::Relaxed);
        self.hits.store(hits.to_bits(), Ordering::Relaxed);
    }
}

/// The nearest few of a stream; rows of several columns may have one number.
#[derive(Debug)]
struct Few {
    most: usize,
    farthest_first: BinaryHeap<Ranked>,
}

impl Few {
    fn new(most: usize) -> Self {
        Few {
            most: most.max(1),
            farthest_first: BinaryHeap::new(),
        }
    }

    fn offer(&mut self, one: Ranked) {
        if self.farthest_first.len() < self.most {
            self.farthest_first.push(one);
        } else if let Some(mut farthest) = self.farthest_first.peek_mut()
            && one < *farthest
        {
            *farthest = one;
        }
    }

    fn limit(&self) -> f32 {
        match self.farthest_first.peek() {
            Some(farthest) if self.farthest_first.len() == self.most => farthest.distance(),
            _ => f32::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(distances: &[f32]) -> Vec<Ranked> {
        let of_row = |(row, &distance)| Ranked::new(distance, row);
        (0..).zip(distances).map(of_row).collect()
    }

    #[test]
    fn the_limits_are_those_of_the_best_of_all_columns() {
        let horizon = Horizon::new(2, 4);
        let add = |distances: &[f32], hits: &[f32]| {
            horizon.add(ranked(distances).into_iter(), &ranked(hits));
            (horizon.candidate_limit(), horizon.hit_limit())
        };
        let none = f32::INFINITY;
        assert_eq!(add(&[5.0, 1.0], &[1.0]), (none, none));
        assert!(!horizon.is_known());
        assert_eq!(add(&[3.0], &[3.0]), (none, 3.0));
        assert_eq!(add(&[9.0, 2.0], &[2.0]), (5.0, 2.0));
        assert!(horizon.is_known());
        // What lies farther changes nothing, nor does what is no number.
        assert_eq!(add(&[7.0, f32::NAN], &[8.0]), (5.0, 2.0));
        assert_eq!(add(&[-1.0, -2.0], &[-1.0]), (2.0, 1.0));
    }
}
