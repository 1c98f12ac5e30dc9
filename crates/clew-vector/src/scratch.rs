//! Memory that a search needs and the next one can use again.

use crate::codes::RotatedQuery;
use crate::graph::WalkMemory;
use crate::ivf::ListQuery;
use crate::rank::Ranked;

/// Reusable memory of a search: one per search thread. Any column may use it, one at a time.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) walk: WalkMemory,
    /// The query as codes are multiplied with.
    pub(crate) query: RotatedQuery,
    /// The query as lists are scanned with.
    pub(crate) list_query: ListQuery,
    /// Candidates of a scan by codes.
    pub(crate) coarse: Vec<Ranked>,
    /// Candidates measured exactly.
    pub(crate) exact: Vec<Ranked>,
    /// What the current search has done so far.
    pub(crate) tally: Tally,
}

/// What a search has done so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) codes: u64,
    pub(crate) vectors: u64,
    pub(crate) reranked: u64,
    /// Lists of links read on level 0.
    pub(crate) lists: u64,
}

impl Tally {
    pub(crate) fn distances(&self) -> u64 {
        self.codes + self.vectors + self.reranked
    }
}
