//! Memory that a walk needs and the next one can use again.

use crate::graph::{DISTANCES_PER_EF, NONE, Slot};
use crate::rank::Ranked;

/// Reusable memory of walks, one at a time, over any graph.
#[derive(Debug, Default)]
pub(crate) struct WalkMemory {
    pub(crate) visited: Visited,
    /// The same of a descent, by upper index: so few that forgetting them costs next to nothing.
    pub(crate) visited_above: Visited,
    pub(crate) pool: Pool,
    /// Nodes of the current hop that are still to be measured.
    pub(crate) fresh: Batch,
    /// Their numbers on an upper level.
    pub(crate) nodes: Batch,
    /// Distances of `fresh`; never shorter.
    pub(crate) distances: Vec<f32>,
    /// Those of `fresh` that are near enough.
    pub(crate) found: Vec<Ranked>,
}

/// Nodes of a hop: a vector that keeps its length beside it, so that a hop need not clear memory.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    nodes: Vec<u32>,
    len: usize,
}

impl Batch {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    #[inline]
    pub(crate) fn push(&mut self, node: u32) {
        match self.nodes.get_mut(self.len) {
            Some(slot) => *slot = node,
            None => self.nodes.push(node),
        }
        self.len += 1;
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.nodes[..self.len]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u32] {
        &mut self.nodes[..self.len]
    }
}

/// Which nodes the current walk has seen. A mark counts only if it equals the walk's epoch, so that
/// starting a walk costs nothing.
#[derive(Debug, Default)]
pub(crate) struct Visited {
    marks: Vec<u8>,
    /// Nodes of the current walk's layer; an earlier one may have needed more marks.
    count: usize,
    epoch: u8,
    stray: bool,
}

impl Visited {
    /// Forgets everything; nodes `0..count` can be visited next.
    pub(crate) fn start(&mut self, count: usize) {
        if self.epoch == u8::MAX {
            self.marks.fill(0);
            self.epoch = 0;
        }
        self.epoch += 1;
        self.stray = false;
        self.count = count;
        if self.marks.len() < count {
            self.marks.resize(count, 0);
        }
    }

    /// Marks a node; false when it had been marked, or does not exist.
    #[inline]
    pub(crate) fn visit(&mut self, node: u32) -> bool {
        let Some(mark) = self.marks[..self.count].get_mut(node as usize) else {
            self.stray = true;
            return false;
        };
        let fresh = *mark != self.epoch;
        *mark = self.epoch;
        fresh
    }

    /// Adds the nodes of `list` that were not marked yet to `fresh`, and marks them. Branches only on
    /// the end of the list: whether a node was seen is a coin toss that no CPU predicts.
    #[inline]
    pub(crate) fn add_fresh<S: Slot>(&mut self, list: &[S], fresh: &mut Batch) {
        let start = fresh.len;
        if fresh.nodes.len() < start + list.len() {
            fresh.nodes.resize(start + list.len(), 0);
        }
        let marks = &mut self.marks[..self.count];
        let slots = &mut fresh.nodes[start..start + list.len()];
        let mut len = 0;
        for slot in list {
            let node = slot.node();
            let Some(mark) = marks.get_mut(node as usize) else {
                self.stray |= node != NONE;
                break;
            };
            slots[len] = node;
            len += usize::from(*mark != self.epoch);
            *mark = self.epoch;
        }
        fresh.len += len;
    }

    /// True when a node was met that cannot exist: the graph is damaged.
    pub(crate) fn met_stray(&self) -> bool {
        self.stray
    }
}

/// The best candidates of a walk, in order, up to and including the last of `ef` that pass the
/// filter. Without a filter all pass, and the pool is the usual beam of `ef`.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// Candidates, then room for one more.
    slots: Vec<Ranked>,
    len: usize,
    passing: usize,
    ef: usize,
    len_max: usize,
}

impl Pool {
    /// Empties the pool for a walk that keeps `ef` passing and at most `len_max` candidates in all.
    pub(crate) fn start(&mut self, ef: usize, len_max: usize) {
        // The pool must be able to fill up, or the walk could not see that it has enough.
        assert!(0 < ef && ef <= len_max);
        self.len = 0;
        self.passing = 0;
        self.ef = ef;
        self.len_max = len_max;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn all(&self) -> &[Ranked] {
        &self.slots[..self.len]
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> &mut Ranked {
        &mut self.slots[..self.len][index]
    }

    pub(crate) fn passing(&self) -> impl Iterator<Item = Ranked> {
        self.all().iter().copied().filter(|one| one.is_passing())
    }

    /// Distances that the walk will take in all, if as large a share of the nodes to come passes as
    /// of those it kept.
    pub(crate) fn forecast(&self) -> u64 {
        let (passing, len) = (self.passing as u64, self.len as u64);
        DISTANCES_PER_EF * self.ef as u64 * (2 * len + 2) / (2 * passing + 1)
    }

    /// A candidate has to be nearer than this to get in.
    #[inline]
    pub(crate) fn limit(&self) -> f32 {
        match self.all().last() {
            Some(last) if self.passing == self.ef => last.distance(),
            _ => f32::INFINITY,
        }
    }

    /// Takes those in that are good enough, all in one pass from the end, puts them in order, and says where the nearest
    /// of them stands.
    #[inline]
    pub(crate) fn offer(&mut self, some: &mut [Ranked]) -> Option<usize> {
        some.sort_unstable();
        let full = self.passing == self.ef || self.len == self.len_max;
        let last = self.all().last().filter(|_| full);
        let count = last.map_or(some.len(), |last| some.partition_point(|one| one < last));
        let some = &some[..count];
        if self.slots.len() < self.len + count {
            self.slots.resize(2 * self.len + count + 16, Ranked::WORST);
        }
        let mut end = self.len;
        for (before, one) in some.iter().enumerate().rev() {
            let at = self.slots[..end].partition_point(|other| other < one);
            self.slots.copy_within(at..end, at + before + 1);
            self.slots[at + before] = *one;
            end = at;
        }
        self.len += count;
        self.passing += some.iter().filter(|one| one.is_passing()).count();
        self.trim();
        (count > 0).then_some(end)
    }

    /// Drops what lies behind the last passing candidate that counts.
    #[inline]
    fn trim(&mut self) {
        while self.passing > self.ef || self.len > self.len_max {
            self.drop_last();
        }
        if self.passing == self.ef {
            while self.all().last().is_some_and(|last| !last.is_passing()) {
                self.len -= 1;
            }
        }
    }

    fn drop_last(&mut self) {
        let last = self.all().last().is_some_and(|last| last.is_passing());
        self.passing -= usize::from(last);
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(pool: &mut Pool, row: u32, passing: bool) -> Option<usize> {
        pool.offer(&mut [Ranked::new(row as f32, row).mark_passing(passing)])
    }

    fn rows(pool: &Pool) -> Vec<u32> {
        pool.all().iter().map(|one| one.row()).collect()
    }

    #[test]
    fn a_pool_ends_at_the_last_passing_candidate_that_counts() {
        let mut pool = Pool::default();
        pool.start(2, 100);
        for (row, passing) in [(5, true), (9, false), (7, false), (3, false)] {
            assert!(offer(&mut pool, row, passing).is_some());
        }
        assert_eq!(rows(&pool), [3, 5, 7, 9]);
        assert_eq!(pool.limit(), f32::INFINITY);
        assert_eq!(offer(&mut pool, 8, true), Some(3));
        assert_eq!(rows(&pool), [3, 5, 7, 8]);
        assert_eq!(pool.limit(), 8.0);
        assert_eq!(offer(&mut pool, 9, true), None);
        assert_eq!(offer(&mut pool, 4, true), Some(1));
        assert_eq!(rows(&pool), [3, 4, 5]);
    }

    #[test]
    fn a_pool_never_outgrows_its_bound() {
        let mut pool = Pool::default();
        pool.start(2, 3);
        for row in [6, 5, 4, 3, 7] {
            offer(&mut pool, row, false);
        }
        assert_eq!(rows(&pool), [3, 4, 5]);
        assert_eq!(offer(&mut pool, 1, true), Some(0));
        assert_eq!(rows(&pool), [1, 3, 4]);
    }

    #[test]
    fn many_at_once_stand_where_one_after_the_other_does() {
        for seed in 0..200_u32 {
            let (ef, len_max) = (1 + seed as usize % 9, 9 + seed as usize % 20);
            let mut row = seed;
            let mut draw = || {
                row = row.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let passing = seed % 3 == 0 || row >> 12 & 3 == 0;
                Ranked::new((row >> 20) as f32, row >> 8 & 0xFFFF).mark_passing(passing)
            };
            let (mut one, mut all) = (Pool::default(), Pool::default());
            one.start(ef, len_max);
            all.start(ef, len_max);
            for hop in 0..12 {
                let mut some: Vec<Ranked> = (0..hop * 5 % 17).map(|_| draw()).collect();
                let before = all.all().to_vec();
                // In order: one that is farther may be pushed out by those before it, or not come in.
                some.sort_unstable();
                for candidate in some.clone() {
                    one.offer(&mut [candidate]);
                }
                some.reverse();
                let at = all.offer(&mut some);
                assert_eq!(all.all(), one.all(), "seed {seed}");
                let first = all.all().iter().position(|one| !before.contains(one));
                assert!(first.is_none() || first == at, "seed {seed}: {at:?}");
            }
        }
    }

    #[test]
    fn marks_of_earlier_walks_do_not_count() {
        let (mut visited, mut fresh) = (Visited::default(), Batch::default());
        for _ in 0..600 {
            visited.start(4);
            fresh.clear();
            visited.add_fresh(&[0, 2], &mut fresh);
            visited.add_fresh(&[2, 3, NONE, 1], &mut fresh);
            assert_eq!(fresh.as_slice(), [0, 2, 3]);
            assert!(visited.visit(1) && !visited.visit(2) && !visited.met_stray());
            visited.add_fresh(&[9], &mut fresh);
            assert!(visited.met_stray() && fresh.len() == 3);
        }
    }
}
