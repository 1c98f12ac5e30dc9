//! Graphs whose build was cut short, so that whoever builds next over the same vectors, be it among others, goes on from them.
//! They live in memory only: what outlives the program is a savepoint.

use std::sync::{Mutex, PoisonError};

use crate::ColumnOptions;
use crate::graph::OwnedGraph;

/// What a build had linked when it was cut short: links, and the documents of its rows, but no vectors.
#[derive(Debug)]
pub struct UnfinishedGraph {
    pub(super) graph: OwnedGraph,
    /// Document of each row, ascending.
    pub(super) docs: Vec<u32>,
    pub(super) options: ColumnOptions,
}

impl UnfinishedGraph {
    /// Vectors that are linked, and need not be inserted again. Reads a number of each list.
    pub fn linked_rows(&self) -> usize {
        self.graph.linked_rows()
    }

    /// Memory held.
    pub fn mem_bytes(&self) -> usize {
        self.graph.mem_bytes() + self.docs.capacity() * size_of::<u32>()
    }
}

/// Where a build that is cut short leaves its graph.
#[derive(Debug, Default)]
pub struct LeftOff(Mutex<Option<UnfinishedGraph>>);

impl LeftOff {
    /// The graph that was left here, once.
    pub fn take(&self) -> Option<UnfinishedGraph> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.take()
    }

    pub(super) fn leave(&self, graph: UnfinishedGraph) {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *left = Some(graph);
    }
}
