//! The nearest-neighbour clause.

use super::tree::Query;
use serde::{Deserialize, Serialize};

/// The documents nearest to a vector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnnQuery {
    /// Field path.
    pub field: String,
    /// The vector.
    pub vector: Vec<f32>,
    /// How many neighbours, over the whole shard; absent when a radius is given.
    pub k: Option<usize>,
    /// Breadth of the graph search.
    pub ef_search: Option<usize>,
    /// Inverted lists to read, where the field has them.
    pub probes: Option<usize>,
    /// Share of the nearest to find, above 0 and up to 1, in place of `ef_search`; 1 is an exact search.
    pub target_recall: Option<f32>,
    /// At least so many times `k` candidates are kept by a walk and ranked exactly.
    pub oversample: Option<f32>,
    /// Of nested objects all those of the documents found count, not only the nearest of each.
    pub expand_nested: bool,
    /// Whether a shard that has no such field has no neighbours, instead of refusing the search.
    #[serde(default)]
    pub ignore_unmapped: bool,
    /// Only these documents are candidates.
    pub filter: Option<Box<Query>>,
    /// Only neighbours that score at least this.
    pub min_score: Option<f32>,
    /// Only neighbours at most this far away.
    pub max_distance: Option<f32>,
    /// Factor on the score.
    pub boost: f32,
}
