//! The HNSW graph as slices of numbers: borrowed from a mapped image, or from a builder at work.
//!
//! Level 0 holds every row and lies flat, one list of fixed length per row. The few rows that also
//! live on upper levels have a second number there (their *upper index*), by which upper lists name
//! each other: no hop needs a search for the next list.
//!
//! The graph knows no vectors. A walk measures through [`crate::rows::Probe`].

mod build;
mod gate;
mod select;
mod twins;
mod walk;

pub(crate) use build::{BuildOptions, OwnedGraph, build};
pub(crate) use gate::{Open, Sweep, TwoHop};
pub(crate) use walk::{BeamLimits, Start, beam, descend};

use clew_kernels::prefetch_span;

/// Ends a list that is shorter than its slots, and stands for "no such row".
pub(crate) const NONE: u32 = u32::MAX;

/// More levels than any graph of 2^30 rows has; a bound on what a damaged image can ask for.
pub(crate) const LEVELS_MAX: u32 = 40;

/// A number in the graph points outside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DamagedGraph;

/// A graph; every number in it may be wrong, and is checked when it is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Graph<'a> {
    pub(crate) row_count: usize,
    /// Slots per list on the upper levels.
    pub(crate) m: usize,
    /// Slots per list on level 0.
    pub(crate) stride: usize,
    /// Level 0: `stride` row numbers per row.
    pub(crate) links: &'a [u32],
    /// Row of each upper index, ascending.
    pub(crate) upper_rows: &'a [u32],
    /// First list of each upper index, and one past the last; one list per upper level.
    pub(crate) upper_starts: &'a [u32],
    /// Upper lists: `m` upper indexes each.
    pub(crate) upper_links: &'a [u32],
    pub(crate) entry: Entry,
}

/// Where every walk starts: a row of the highest level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) row: u32,
    /// Its upper index, or [`NONE`] when there are no upper levels.
    pub(crate) upper: u32,
}

impl<'a> Graph<'a> {
    pub(crate) fn base(&self) -> BaseLayer<'a> {
        BaseLayer {
            links: self.links,
            stride: self.stride,
            row_count: self.row_count,
        }
    }

    pub(crate) fn layer(&self, level: u32) -> UpperLayer<'a> {
        let (starts, links) = (self.upper_starts, self.upper_links);
        UpperLayer {
            starts,
            links,
            m: self.m,
            count: self.upper_rows.len(),
            level,
        }
    }

    /// Number of upper levels that the entry lives on.
    pub(crate) fn top(&self) -> u32 {
        let at = self.entry.upper as usize;
        match (
            self.upper_starts.get(at),
            self.upper_starts.get(at.saturating_add(1)),
        ) {
            (Some(first), Some(end)) => end.saturating_sub(*first).min(LEVELS_MAX),
            _ => 0,
        }
    }

    pub(crate) fn row_of_upper(&self, upper: u32) -> Result<u32, DamagedGraph> {
        let row = self
            .upper_rows
            .get(upper as usize)
            .copied()
            .ok_or(DamagedGraph)?;
        if row as usize >= self.row_count {
            Err(DamagedGraph)
        } else {
            Ok(row)
        }
    }
}

/// One level of the graph, by node number.
pub(crate) trait Layer {
    /// Nodes are numbered below this.
    fn node_count(&self) -> usize;
    /// Neighbours of a node; a shorter list ends with [`NONE`]. Empty when there is no such node.
    fn neighbours(&self, node: u32) -> &[u32];
    /// Asks for the memory of a node's list.
    fn prefetch(&self, node: u32);
}

/// Level 0; nodes are rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaseLayer<'a> {
    links: &'a [u32],
    stride: usize,
    row_count: usize,
}

impl Layer for BaseLayer<'_> {
    fn node_count(&self) -> usize {
        self.row_count
    }

    #[inline]
    fn neighbours(&self, node: u32) -> &[u32] {
        let start = node as usize * self.stride;
        self.links
            .get(start..start + self.stride)
            .unwrap_or_default()
    }

    #[inline]
    fn prefetch(&self, node: u32) {
        prefetch_span(self.links, node as usize * self.stride, self.stride);
    }
}

/// A level above 0; nodes are upper indexes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UpperLayer<'a> {
    starts: &'a [u32],
    links: &'a [u32],
    m: usize,
    count: usize,
    level: u32,
}

impl Layer for UpperLayer<'_> {
    fn node_count(&self) -> usize {
        self.count
    }

    fn neighbours(&self, node: u32) -> &[u32] {
        let Some(&first) = self.starts.get(node as usize) else {
            return &[];
        };
        let start = (first as usize + self.level as usize - 1) * self.m;
        self.links.get(start..start + self.m).unwrap_or_default()
    }

    fn prefetch(&self, _node: u32) {}
}
