//! How a filter acts on a walk: which neighbours of a node are measured, and which may be hits.

use crate::filter::RowFilter;
use crate::graph::{Layer, NONE, Slot};
use crate::scratch::{Batch, Visited};

/// A filter's part in a walk.
pub(crate) trait Gate {
    /// May this node be a hit?
    fn admits(&self, node: u32) -> bool;

    /// Puts the nodes to measure after expanding `node` into `fresh`, each only once per walk.
    fn gather<L: Layer>(&self, layer: &L, node: u32, visited: &mut Visited, hop: &mut Hop<'_>);
}

/// Buffers that a hop fills.
pub(crate) struct Hop<'a> {
    pub(crate) fresh: &'a mut Batch,
    pub(crate) refused: &'a mut Batch,
}

/// No filter: every neighbour is measured, every node may be a hit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open;

impl Gate for Open {
    #[inline]
    fn admits(&self, _node: u32) -> bool {
        true
    }

    #[inline]
    fn gather<L: Layer>(&self, layer: &L, node: u32, visited: &mut Visited, hop: &mut Hop<'_>) {
        visited.keep_fresh(layer.neighbours(node), hop.fresh);
    }
}

/// Walks through all nodes and tests the few that come near: best when most nodes pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sweep<'a>(pub(crate) RowFilter<'a>);

impl Gate for Sweep<'_> {
    #[inline]
    fn admits(&self, node: u32) -> bool {
        self.0.passes(node)
    }

    #[inline]
    fn gather<L: Layer>(&self, layer: &L, node: u32, visited: &mut Visited, hop: &mut Hop<'_>) {
        Open.gather(layer, node, visited, hop);
    }
}

/// Measures only nodes that pass. Where few of a node's own neighbours do, it reaches over those that
/// do not: a bit is cheaper than a distance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TwoHop<'a>(pub(crate) RowFilter<'a>);

/// A hop that finds this many nodes among its own neighbours needs no second one.
const ENOUGH_NODES: usize = 16;

impl Gate for TwoHop<'_> {
    #[inline]
    fn admits(&self, node: u32) -> bool {
        self.0.passes(node)
    }

    fn gather<L: Layer>(&self, layer: &L, node: u32, visited: &mut Visited, hop: &mut Hop<'_>) {
        hop.fresh.clear();
        hop.refused.clear();
        for near in listed(layer, node) {
            if !visited.visit(near) {
                continue;
            }
            if self.admits(near) {
                hop.fresh.push(near);
            } else {
                layer.prefetch(near);
                hop.refused.push(near);
            }
        }
        if hop.fresh.len() >= ENOUGH_NODES {
            return;
        }
        for &bridge in hop.refused.as_slice() {
            for far in listed(layer, bridge) {
                // The bit first: a refused node stays unmarked, and can be a bridge of its own.
                if self.admits(far) && visited.visit(far) {
                    hop.fresh.push(far);
                }
            }
        }
        if hop.fresh.len() == 0 {
            // Nothing passes near here: go on through those that do not, rather than end.
            std::mem::swap(hop.fresh, hop.refused);
        }
    }
}

fn listed<L: Layer>(layer: &L, node: u32) -> impl Iterator<Item = u32> {
    let slots = layer.neighbours(node).iter().map(Slot::node);
    slots.take_while(|&near| near != NONE)
}
