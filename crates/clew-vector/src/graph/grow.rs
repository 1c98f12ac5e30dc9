//! The lists of a graph that grows: several threads read them without locks, and each list is
//! written under a lock of its own.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::graph::{EntryPoint, Graph, LEVELS_MAX, NONE, OwnedGraph, Slot};
use crate::random::SplitMix;

/// Locks are shared by lists whose numbers are equal modulo this.
const LOCKS: usize = 1_024;

/// Lists of fixed length, one after the other; free slots at the end of a list are [`NONE`].
pub(super) struct Lists {
    links: Vec<AtomicU32>,
    slots: usize,
    /// How many nodes at the front of each list were chosen together, so that none is in the shadow of another.
    settled: Vec<AtomicU16>,
    locks: Vec<Mutex<()>>,
}

impl Lists {
    fn new(count: usize, slots: usize) -> Self {
        let free = || AtomicU32::new(NONE);
        Lists {
            links: std::iter::repeat_with(free).take(count * slots).collect(),
            slots,
            settled: std::iter::repeat_with(AtomicU16::default)
                .take(count)
                .collect(),
            locks: std::iter::repeat_with(Mutex::default).take(LOCKS).collect(),
        }
    }

    /// Whoever writes a list holds its lock; only the order of two writers matters, so a writer that
    /// panicked leaves nothing behind.
    pub(super) fn lock(&self, list: usize) -> MutexGuard<'_, ()> {
        self.locks[list % LOCKS]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of lists.
    pub(super) fn count(&self) -> usize {
        self.links.len() / self.slots
    }

    /// Most nodes that a list holds.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    fn list(&self, list: usize) -> &[AtomicU32] {
        &self.links[list * self.slots..][..self.slots]
    }

    /// The nodes of a list.
    pub(super) fn nodes(&self, list: usize) -> impl Iterator<Item = u32> {
        let slots = self.list(list).iter().map(Slot::node);
        slots.take_while(|&node| node != NONE)
    }

    /// Takes the first free slot; false when there is none. The caller holds the lock.
    pub(super) fn push(&self, list: usize, node: u32) -> bool {
        let free = self.list(list).iter().find(|slot| slot.node() == NONE);
        if let Some(slot) = free {
            slot.store(node, Ordering::Relaxed);
        }
        free.is_some()
    }

    /// Writes a whole list. The caller holds the lock.
    pub(super) fn set(&self, list: usize, nodes: impl Iterator<Item = u32>) {
        self.set_chosen(list, (nodes, 0));
    }

    /// The same, where so many nodes at the front were chosen together.
    pub(super) fn set_chosen(
        &self,
        list: usize,
        (nodes, settled): (impl Iterator<Item = u32>, usize),
    ) {
        let padded = nodes.chain(std::iter::repeat(NONE));
        for (slot, node) in self.list(list).iter().zip(padded) {
            slot.store(node, Ordering::Relaxed);
        }
        let settled = u16::try_from(settled.min(self.slots)).unwrap_or(0);
        self.settled[list].store(settled, Ordering::Relaxed);
    }

    /// How many nodes at the front of a list were chosen together. The caller holds the lock.
    pub(super) fn settled(&self, list: usize) -> usize {
        usize::from(self.settled[list].load(Ordering::Relaxed))
    }
}

/// A graph in the making. Levels are drawn first, so that every list has its place from the start.
pub(super) struct Growing {
    pub(super) row_count: usize,
    pub(super) base: Lists,
    pub(super) upper: Lists,
    pub(super) upper_rows: Vec<u32>,
    pub(super) upper_starts: Vec<u32>,
    /// Upper index of each row, or [`NONE`].
    uppers: Vec<u32>,
    entry: Mutex<EntryPoint>,
}

impl Growing {
    /// A graph whose only linked row is row 0. `levels` may overrule the level that is drawn for a
    /// row.
    pub(super) fn new(
        row_count: usize,
        (base_slots, upper_slots): (usize, usize),
        seed: u64,
        levels: impl Fn(u32, u32) -> u32,
    ) -> Self {
        let mut random = SplitMix::new(seed);
        let mut uppers = vec![NONE; row_count];
        let (mut upper_rows, mut upper_starts) = (Vec::new(), vec![0]);
        let mut lists = 0;
        for (row, upper) in (0_u32..).zip(&mut uppers) {
            let level = levels(row, draw_level(&mut random, upper_slots));
            if level > 0 {
                *upper = u32::try_from(upper_rows.len()).expect("fewer than rows");
                lists += level;
                upper_rows.push(row);
                upper_starts.push(lists);
            }
        }
        let entry = EntryPoint {
            row: 0,
            upper: uppers[0],
        };
        Growing {
            row_count,
            base: Lists::new(row_count, base_slots),
            upper: Lists::new(lists as usize, upper_slots),
            upper_rows,
            upper_starts,
            uppers,
            entry: Mutex::new(entry),
        }
    }

    /// The graph as it is now.
    pub(super) fn view(&self) -> Graph<'_, AtomicU32> {
        Graph {
            row_count: self.row_count,
            links: &self.base.links,
            base_slots: self.base.slots,
            upper_rows: &self.upper_rows,
            upper_starts: &self.upper_starts,
            upper_links: &self.upper.links,
            upper_slots: self.upper.slots,
            entry: *self.entry(),
        }
    }

    fn entry(&self) -> MutexGuard<'_, EntryPoint> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where walks start.
    pub(super) fn entry_row(&self) -> u32 {
        self.entry().row
    }

    /// Lets walks start at `row` if it lives higher than where they start now.
    pub(super) fn raise_entry(&self, row: u32) {
        let upper = self.upper_index(row);
        let mut entry = self.entry();
        if self.level(upper) > self.level(entry.upper) {
            *entry = EntryPoint { row, upper };
        }
    }

    /// Lets walks start at `row`.
    pub(super) fn restart_at(&self, row: u32) {
        let upper = self.upper_index(row);
        *self.entry() = EntryPoint { row, upper };
    }

    /// Upper index of a row that may not exist.
    pub(super) fn upper_of(&self, row: u32) -> u32 {
        self.uppers.get(row as usize).copied().unwrap_or(NONE)
    }

    pub(super) fn upper_index(&self, row: u32) -> u32 {
        self.uppers[row as usize]
    }

    /// Number of upper levels of an upper index.
    pub(super) fn level(&self, upper: u32) -> u32 {
        if upper == NONE {
            return 0;
        }
        let at = upper as usize;
        self.upper_starts[at + 1] - self.upper_starts[at]
    }

    /// The list of an upper index on a level.
    pub(super) fn upper_list(&self, upper: u32, level: u32) -> usize {
        (self.upper_starts[upper as usize] + level - 1) as usize
    }

    /// The graph as it is, with the slots that it grows by.
    pub(super) fn into_owned(mut self) -> OwnedGraph {
        let base_slots = self.base.slots;
        let links = std::mem::take(&mut self.base.links).into_iter();
        let (upper_rows, upper_starts, upper_links, entry) = self.into_upper();
        OwnedGraph {
            links: links.map(AtomicU32::into_inner).collect(),
            base_slots,
            upper_rows,
            upper_starts,
            upper_links,
            entry,
        }
    }

    /// The upper lists and the entry, when nothing grows any more.
    pub(super) fn into_upper(self) -> (Vec<u32>, Vec<u32>, Vec<u32>, EntryPoint) {
        let entry = *self.entry();
        let links = self.upper.links.into_iter().map(AtomicU32::into_inner);
        (self.upper_rows, self.upper_starts, links.collect(), entry)
    }
}

/// Level of a new row: each one holds a `slots`-th of the rows of the level below.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a logarithm of 53 random bits is between 0 and 37"
)]
fn draw_level(random: &mut SplitMix, slots: usize) -> u32 {
    let level = -random.unit().ln() / (slots as f64).ln();
    (level as u32).min(LEVELS_MAX)
}
