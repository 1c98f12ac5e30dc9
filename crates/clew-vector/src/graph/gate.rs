//! How a filter acts on a walk: the walk goes through all nodes, and tests the few that come near.
//!
//! There is no walk that measures only nodes that pass: a distance by codes costs hardly more than
//! the list of a node that does not pass, and where few pass, a scan of their codes is cheaper than
//! any walk (`docs/decisions/0003-vector-search-by-small-codes.md`).

use crate::filter::RowFilter;

/// A filter's part in a walk.
pub(crate) trait Gate {
    /// May this node be a hit?
    fn admits(&self, node: u32) -> bool;
}

/// No filter: every node may be a hit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open;

impl Gate for Open {
    #[inline]
    fn admits(&self, _node: u32) -> bool {
        true
    }
}

impl Gate for RowFilter<'_> {
    #[inline]
    fn admits(&self, node: u32) -> bool {
        self.passes(node)
    }
}
