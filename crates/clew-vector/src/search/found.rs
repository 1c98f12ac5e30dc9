//! Candidates that wait for their turn, nearest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::rank::Ranked;

/// The nearest few in order, all others in a heap: a walk asks after every hop how far the last of
/// the nearest lies, and most of what it finds is farther.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Ascending; at least `window` of them unless `far` is empty.
    near: VecDeque<Ranked>,
    /// None before any of `near`.
    far: BinaryHeap<Reverse<Ranked>>,
    window: usize,
}

impl Candidates {
    /// Keeps so many in order.
    pub(crate) fn set_window(&mut self, window: usize) {
        self.window = window;
        self.refill();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.near.is_empty()
    }

    pub(crate) fn nearest(&self) -> Option<Ranked> {
        self.near.front().copied()
    }

    /// The last of the nearest `count`, which is at most the window; beyond all when there are fewer.
    pub(crate) fn limit(&self, count: usize) -> Ranked {
        let last = self.near.get(count.saturating_sub(1)).copied();
        last.unwrap_or(Ranked::WORST)
    }

    pub(crate) fn offer(&mut self, one: Ranked) {
        if self.near.len() >= self.window && self.near.back().is_some_and(|last| one > *last) {
            self.far.push(Reverse(one));
            return;
        }
        let at = self.near.partition_point(|other| *other < one);
        self.near.insert(at, one);
        if self.near.len() > self.window
            && let Some(last) = self.near.pop_back()
        {
            self.far.push(Reverse(last));
        }
    }

    pub(crate) fn take(&mut self) -> Option<Ranked> {
        let one = self.near.pop_front();
        self.refill();
        one
    }

    /// Waits for others instead.
    pub(crate) fn replace(&mut self, rows: Vec<Ranked>) {
        self.near.clear();
        self.far = rows.into_iter().map(Reverse).collect();
        self.refill();
    }

    pub(crate) fn size_bytes(&self) -> usize {
        (self.near.capacity() + self.far.capacity()) * size_of::<Ranked>()
    }

    fn refill(&mut self) {
        while self.near.len() < self.window {
            let Some(Reverse(one)) = self.far.pop() else {
                break;
            };
            self.near.push_back(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix;

    #[test]
    fn candidates_come_nearest_first_whatever_the_window() {
        let mut random = SplitMix::new(11);
        let mut found = Candidates::default();
        let mut model: Vec<Ranked> = Vec::new();
        for row in 0..5_000_u32 {
            match random.draw() % 8 {
                0 => found.set_window(usize::try_from(1 + random.draw() % 9).unwrap()),
                1 | 2 => {
                    model.sort_unstable();
                    let first = (!model.is_empty()).then(|| model.remove(0));
                    assert_eq!(found.nearest(), first);
                    assert_eq!(found.take(), first);
                }
                _ => {
                    let one = Ranked::new((random.draw() % 100) as f32, row);
                    found.offer(one);
                    model.push(one);
                }
            }
            model.sort_unstable();
            let window = found.window.min(3);
            let third = model.get(window.saturating_sub(1)).copied();
            if window > 0 {
                assert_eq!(found.limit(window), third.unwrap_or(Ranked::WORST));
            }
        }
        assert!(found.size_bytes() >= model.len() * 8);
    }
}
