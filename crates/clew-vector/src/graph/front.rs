//! A walk that can stop and go on: best first, remembering everything it measured.
//!
//! [`beam`](crate::graph::beam) forgets what does not get into its pool, which is why it is fast, and
//! why it cannot go on behind its last hit. A front keeps all of it: the nearest candidate that was
//! not expanded is always at hand, as in the incremental search of Hjaltason and Samet ("Distance
//! browsing in spatial databases", 1999), here over a graph.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{DamagedGraph, Layer, Slot, Start};
use crate::rank::Ranked;
use crate::row_set::RowSet;
use crate::rows::Probe;

/// Candidates expanded per hop, as in a beam.
const WIDE: usize = 2;

/// The state of such a walk: a bit per row, and 8 bytes per row measured.
#[derive(Debug)]
pub(crate) struct Front {
    seen: RowSet,
    /// Measured, and not yet expanded.
    open: BinaryHeap<Reverse<Ranked>>,
    measured: u64,
    /// Nodes of the current hop, and their distances.
    fresh: Vec<u32>,
    distances: Vec<f32>,
}

/// What a hop came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hop {
    /// Candidates expanded, each of which read one list.
    pub(crate) expanded: u64,
    /// Distances taken.
    pub(crate) measured: u64,
}

impl Front {
    /// A walk of a graph of `row_count` nodes, standing at its start.
    pub(crate) fn new(row_count: usize, start: Start) -> Result<Self, DamagedGraph> {
        let mut seen = RowSet::new(row_count);
        seen.insert(start.node).ok_or(DamagedGraph)?;
        let at = Ranked::new(start.distance, start.node);
        Ok(Front {
            seen,
            open: BinaryHeap::from([Reverse(at)]),
            measured: 1,
            fresh: Vec::new(),
            distances: Vec::new(),
        })
    }

    /// The nearest candidate that was not expanded; `None` when there is no way on.
    pub(crate) fn nearest(&self) -> Option<Ranked> {
        self.open.peek().map(|&Reverse(one)| one)
    }

    /// Distances taken since the start.
    pub(crate) fn measured(&self) -> u64 {
        self.measured
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.seen.size_bytes() + self.open.capacity() * size_of::<Ranked>()
    }

    /// Expands the nearest candidates, none behind `limit`, and tells `found` of every node that
    /// is met for the first time.
    pub(crate) fn hop<L: Layer, P: Probe>(
        &mut self,
        (layer, probe): (&L, &P),
        limit: Ranked,
        mut found: impl FnMut(Ranked),
    ) -> Result<Hop, DamagedGraph> {
        self.fresh.clear();
        let mut hop = Hop::default();
        for _ in 0..WIDE {
            let Some(one) = self.nearest().filter(|&one| one <= limit) else {
                break;
            };
            self.open.pop();
            hop.expanded += 1;
            let list = layer.neighbours(one.row()).iter().map(Slot::node);
            for node in list.take_while(|&node| node != crate::graph::NONE) {
                if self.seen.insert(node).ok_or(DamagedGraph)? {
                    probe.prefetch(node);
                    self.fresh.push(node);
                }
            }
        }
        for next in self.open.iter().take(WIDE) {
            layer.prefetch(next.0.row());
        }
        self.distances.clear();
        self.distances.resize(self.fresh.len(), 0.0);
        probe.measure(&self.fresh, &mut self.distances);
        for (&node, &distance) in self.fresh.iter().zip(&self.distances) {
            let one = Ranked::new(distance, node);
            self.open.push(Reverse(one));
            found(one);
        }
        hop.measured = self.fresh.len() as u64;
        self.measured += hop.measured;
        Ok(hop)
    }
}
