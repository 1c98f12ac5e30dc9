//! What a walk has found so far: rows whose scores are known to lie between two bounds.

use std::collections::BinaryHeap;

use crate::rank::Ranked;

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
}

impl BestRows {
    pub(super) fn new(k: usize) -> Self {
        BestRows {
            k,
            least: BinaryHeap::new(),
            greatest: Vec::new(),
            full: 0,
        }
    }

    /// A score that `k` rows reach; 0 until there are so many.
    #[inline]
    pub(super) fn threshold(&self) -> f32 {
        match self.least.peek() {
            Some(worst) if self.least.len() == self.k => -worst.distance(),
            _ => 0.0,
        }
    }

    /// Keeps a row whose score lies between two bounds.
    #[inline]
    pub(super) fn push(&mut self, row: u32, (least, greatest): (f32, f32)) {
        self.greatest.push(Ranked::new(-greatest, row));
        let one = Ranked::new(-least, row);
        if least <= 0.0 {
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
