//! What a walk has found so far: rows whose scores are known to lie between two bounds.

use std::collections::BinaryHeap;

use crate::rank::Ranked;
use crate::sparse::ScoreRange;

/// Rows that may be among the best `k`.
#[derive(Debug)]
pub(super) struct BestRows {
    k: usize,
    /// The `k` greatest of the scores that rows surely have, the least on top.
    least: BinaryHeap<Ranked>,
    /// Rows by the greatest score that they may have.
    greatest: Vec<Ranked>,
    /// It is time to forget some when `greatest` has more.
    full: usize,
    /// What every row has to score.
    floor: f32,
    /// What no row may score more than.
    ceiling: f32,
    /// Of a row whose greatest bound is no more than this, no more can be its score.
    surely_below: f32,
}

impl BestRows {
    /// Looks for the best `k` of a range of scores, none of which is more than its row's greatest bound over `slack`.
    pub(super) fn new(k: usize, (range, slack): (Option<ScoreRange>, f32)) -> Self {
        let up_to = range.and_then(|range| range.up_to);
        let ceiling = up_to.unwrap_or(f32::INFINITY);
        BestRows {
            k,
            least: BinaryHeap::new(),
            greatest: Vec::new(),
            full: 0,
            floor: range.map_or(0.0, |range| range.above.max(0.0)),
            ceiling,
            surely_below: ceiling * slack,
        }
    }

    /// A score that `k` rows reach, or that every row has to; 0 until there is one.
    #[inline]
    pub(super) fn threshold(&self) -> f32 {
        match self.least.peek() {
            Some(worst) if self.least.len() == self.k => self.floor.max(-worst.distance()),
            _ => self.floor,
        }
    }

    /// Keeps a row whose score lies between two bounds.
    #[inline]
    pub(super) fn push(&mut self, row: u32, (least, greatest): (f32, f32)) {
        if least > self.ceiling {
            return;
        }
        self.greatest.push(Ranked::new(-greatest, row));
        let one = Ranked::new(-least, row);
        // One that may score too much is no reason to leave out another.
        let is_below = greatest <= self.surely_below;
        if least <= 0.0 || !is_below {
            return;
        }
        if self.least.len() < self.k {
            self.least.push(one);
        } else if let Some(mut worst) = self.least.peek_mut()
            && one < *worst
        {
            *worst = one;
        }
    }

    /// Forgets what has fallen behind the threshold times `slack`, once that may be most of it.
    pub(super) fn tidy(&mut self, slack: f32) {
        if self.greatest.len() > self.full {
            let floor = self.threshold() * slack;
            self.greatest.retain(|one| -one.distance() >= floor);
            self.full = self.greatest.len() * 2 + self.k;
        }
    }

    /// What may be among the best `k`, the most promising first.
    pub(super) fn take(&mut self, slack: f32) -> Vec<Ranked> {
        let floor = self.threshold() * slack;
        let mut found = std::mem::take(&mut self.greatest);
        found.retain(|one| -one.distance() >= floor);
        found.sort_unstable();
        found
    }
}
