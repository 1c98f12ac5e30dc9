//! What a search is asked, and what it answers.

use crate::plan::Strategy;
use crate::{Filter, Horizon, SearchProfile};

/// What to search for.
#[derive(Debug, Clone, Copy)]
pub struct SearchRequest<'a> {
    /// The query, of the column's dimension.
    pub vector: &'a [f32],
    /// Hits wanted.
    pub k: usize,
    /// Candidates that a walk of the graph keeps; never fewer than `k`. More is slower and better.
    pub ef_search: usize,
    /// Share of the nearest to find, above 0 and up to 1, in place of `ef_search`: the column knows from
    /// its own vectors how much effort that takes. 1 is an exact search. A column with
    /// neither a graph nor lists is always searched exactly.
    pub target_recall: Option<f32>,
    /// Inverted lists gone through, in a column that has them; `None` leaves it to `ef_search`:
    /// in lists that stand in for a graph as many as find what a walk would, else that many times the
    /// square root of all lists, by 24. A filter makes it more, in either case.
    /// More is slower and better.
    pub probes: Option<usize>,
    /// Documents that may be hits; `None` for all.
    pub filter: Option<Filter<'a>>,
    /// Forbids the graph and its codes.
    pub exact: bool,
    /// Farther vectors are no hits; `None` for no such limit.
    pub max_distance: Option<f32>,
    /// What other columns have found for this vector, which this one is searched together with: what lies beyond need not
    /// be found here, so there may be fewer hits. `None` where a column is searched alone. Pages do not regard it.
    pub horizon: Option<&'a Horizon>,
    /// Only hits behind this place, which is that of the last hit before; `None` for the first ones.
    /// Costs about as much as a search for all hits up to there, as nothing is remembered;
    /// [`Pages`](crate::Pages) remember.
    pub after: Option<HitPlace>,
}

/// Where a hit stands among all: by distance, then by document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HitPlace {
    /// Distance of the hit.
    pub distance: f32,
    /// The document.
    pub doc: u32,
}

impl<'a> SearchRequest<'a> {
    /// The `k` nearest of all documents, by a walk that keeps 100 candidates.
    pub fn new(vector: &'a [f32], k: usize) -> Self {
        SearchRequest {
            vector,
            k,
            ef_search: 100,
            target_recall: None,
            probes: None,
            filter: None,
            exact: false,
            max_distance: None,
            horizon: None,
            after: None,
        }
    }
}

/// One document found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The document.
    pub doc: u32,
    /// Distance in the column's [`Space`], smaller is better.
    pub distance: f32,
    /// OpenSearch's score, larger is better.
    pub score: f32,
}

impl Hit {
    /// Where it stands: what [`SearchRequest::after`] takes to go on behind it.
    pub fn place(&self) -> HitPlace {
        HitPlace {
            distance: self.distance,
            doc: self.doc,
        }
    }
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOutcome {
    /// The hits, best first; equal distances by document id. `k` of them when `k` documents with a
    /// vector pass the filter and lie within the distance asked for.
    pub hits: Vec<Hit>,
    /// How they were found.
    pub strategy: Strategy,
    /// Distances computed: the cost of the search.
    pub distances: u64,
    /// What the choice was made by, and what was read.
    pub profile: SearchProfile,
}
