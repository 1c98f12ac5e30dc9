//! The HNSW graph as slices of numbers: borrowed from a mapped image, or from a builder at work.
//!
//! Level 0 holds every row and lies flat, one list of fixed length per row. The few rows that also
//! live on upper levels have a second number there (their *upper index*), by which upper lists name
//! each other: no hop needs a search for the next list.
//!
//! The graph knows no vectors. A walk measures through [`crate::rows::Probe`].

mod build;
mod front;
mod gate;
mod grow;
mod insert;
mod memory;
mod metric;
mod reuse;
mod savepoint;
mod select;
mod twins;
mod walk;

pub(crate) use build::{BuildOptions, CutShort, OwnedGraph, Watched, build, growing_base_slots};
pub(crate) use front::Front;
pub(crate) use gate::Open;
pub(crate) use memory::WalkMemory;
pub(crate) use metric::{Coded, Exact, UNCODED_DIMENSION_MAX};
pub(crate) use reuse::Reuse;
pub(crate) use savepoint::Fingerprint;
pub(crate) use twins::Twins;
pub(crate) use walk::{BeamLimits, DISTANCES_PER_EF, Start, Walked, beam, descend, way};

use std::sync::atomic::{AtomicU32, Ordering};

use clew_kernels::prefetch_span;

/// Ends a list that is shorter than its slots, and stands for "no such row".
pub(crate) const NONE: u32 = u32::MAX;

/// More levels than any graph of 2^30 rows has; a bound on what a damaged image can ask for.
pub(crate) const LEVELS_MAX: u32 = 40;

/// Slots of a list on level 0 for the setting `m`: half as many again as the usual 2 m, since a link
/// costs 4 bytes and small codes make measuring cheap; filled up to whole cache lines.
pub(crate) fn base_slots(m: u16) -> usize {
    (3 * usize::from(m)).next_multiple_of(16)
}

/// Slots of a list on an upper level for the setting `m`.
pub(crate) fn upper_slots(m: u16) -> usize {
    base_slots(m) / 2
}

/// A number in the graph points outside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DamagedGraph;

/// One link: a plain number in an image, an atomic one while several threads build.
pub(crate) trait Slot: Sync {
    fn node(&self) -> u32;
}

impl Slot for u32 {
    #[inline]
    fn node(&self) -> u32 {
        *self
    }
}

impl Slot for AtomicU32 {
    /// A list may be seen half old and half new. Every number in it is a row either way, and the
    /// codes of all rows were written before the threads started.
    #[inline]
    fn node(&self) -> u32 {
        AtomicU32::load(self, Ordering::Relaxed)
    }
}

/// A graph; every number in it may be wrong, and is checked when it is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Graph<'a, S = u32> {
    pub(crate) row_count: usize,
    /// Level 0: `base_slots` row numbers per row.
    pub(crate) links: &'a [S],
    pub(crate) base_slots: usize,
    /// Row of each upper index, ascending.
    pub(crate) upper_rows: &'a [u32],
    /// First list of each upper index, and one past the last; one list per upper level.
    pub(crate) upper_starts: &'a [u32],
    /// Upper lists: `upper_slots` upper indexes each.
    pub(crate) upper_links: &'a [S],
    pub(crate) upper_slots: usize,
    pub(crate) entry: EntryPoint,
}

/// Where every walk starts: a row of the highest level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryPoint {
    pub(crate) row: u32,
    /// Its upper index, or [`NONE`] when there are no upper levels.
    pub(crate) upper: u32,
}

impl<'a, S: Slot> Graph<'a, S> {
    pub(crate) fn base(&self) -> BaseLayer<'a, S> {
        BaseLayer {
            links: self.links,
            slots: self.base_slots,
            row_count: self.row_count,
        }
    }

    pub(crate) fn layer(&self, level: u32) -> UpperLayer<'a, S> {
        UpperLayer {
            starts: self.upper_starts,
            links: self.upper_links,
            slots: self.upper_slots,
            count: self.upper_rows.len(),
            level,
        }
    }

    /// Number of upper levels that the entry lives on.
    pub(crate) fn top(&self) -> u32 {
        let at = self.entry.upper as usize;
        let ends = (
            self.upper_starts.get(at),
            self.upper_starts.get(at.saturating_add(1)),
        );
        match ends {
            (Some(first), Some(end)) => end.saturating_sub(*first).min(LEVELS_MAX),
            _ => 0,
        }
    }

    pub(crate) fn row_of_upper(&self, upper: u32) -> Result<u32, DamagedGraph> {
        let row = self.upper_rows.get(upper as usize).copied();
        row.filter(|&row| (row as usize) < self.row_count)
            .ok_or(DamagedGraph)
    }
}

/// One level of the graph, by node number.
pub(crate) trait Layer {
    type Slot: Slot;
    /// Nodes are numbered below this.
    fn node_count(&self) -> usize;
    /// Neighbours of a node; a shorter list ends with [`NONE`]. Empty when there is no such node.
    fn neighbours(&self, node: u32) -> &[Self::Slot];
    /// Asks for the memory of a node's list.
    fn prefetch(&self, node: u32);
}

/// Level 0; nodes are rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaseLayer<'a, S> {
    links: &'a [S],
    slots: usize,
    row_count: usize,
}

impl<S: Slot> Layer for BaseLayer<'_, S> {
    type Slot = S;

    fn node_count(&self) -> usize {
        self.row_count
    }

    #[inline]
    fn neighbours(&self, node: u32) -> &[S] {
        let start = node as usize * self.slots;
        self.links
            .get(start..start + self.slots)
            .unwrap_or_default()
    }

    #[inline]
    fn prefetch(&self, node: u32) {
        prefetch_span(self.links, node as usize * self.slots, self.slots);
    }
}

/// A level above 0; nodes are upper indexes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UpperLayer<'a, S> {
    starts: &'a [u32],
    links: &'a [S],
    slots: usize,
    count: usize,
    level: u32,
}

impl<S: Slot> Layer for UpperLayer<'_, S> {
    type Slot = S;

    fn node_count(&self) -> usize {
        self.count
    }

    fn neighbours(&self, node: u32) -> &[S] {
        let Some(&first) = self.starts.get(node as usize) else {
            return &[];
        };
        let start = (first as usize + self.level as usize - 1) * self.slots;
        self.links
            .get(start..start + self.slots)
            .unwrap_or_default()
    }

    fn prefetch(&self, _node: u32) {}
}
