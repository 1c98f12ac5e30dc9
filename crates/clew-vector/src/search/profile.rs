//! What a search did and why: plain numbers, so that reporting them costs nothing.

use clew_kernels::FAST_ROWS;
use serde::{Deserialize, Serialize};

use crate::Choice;
use crate::codes::FACTORS;
use crate::column::View;
use crate::plan::{Prices, Situation};
use crate::scratch::Tally;

/// Why a search went the way it did, and what it took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchProfile {
    /// Vectors in the column.
    pub rows: usize,
    /// Vectors that pass the filter, by estimate; `None` without a filter.
    pub survivors: Option<usize>,
    /// Candidates that a walk keeps, or would have kept.
    pub ef: usize,
    /// What each way was expected to cost; the cheapest was chosen.
    pub prices: Prices,
    /// Why the column has a graph or lists, where these were compared.
    pub choice: Option<Choice>,
    /// Codes measured.
    pub codes: u64,
    /// Vectors measured that were not chosen by their codes first.
    pub vectors: u64,
    /// Vectors measured to settle what their codes had left open.
    pub reranked: u64,
    /// Bytes of codes, vectors and lists of links that this read, by estimate; what the caches saved
    /// is not taken off.
    pub bytes_read: u64,
}

impl SearchProfile {
    pub(crate) fn new(view: &View<'_>, situation: &Situation, tally: Tally) -> Self {
        let code_bytes = match (&view.codes, &view.lists) {
            (Some(codes), _) => codes.pitch + 4 * FACTORS,
            (None, Some(lists)) => lists.block_bytes() / FAST_ROWS,
            (None, None) => 0,
        };
        let list_bytes = view.graph.map_or(0, |graph| 4 * graph.base_slots);
        SearchProfile {
            rows: situation.row_count,
            survivors: situation.survivors,
            ef: situation.ef,
            prices: situation.prices(),
            choice: view.choice,
            codes: tally.codes,
            vectors: tally.vectors,
            reranked: tally.reranked,
            bytes_read: (tally.vectors + tally.reranked) * situation.row_bytes as u64
                + tally.codes * code_bytes as u64
                + tally.lists * list_bytes as u64,
        }
    }
}
