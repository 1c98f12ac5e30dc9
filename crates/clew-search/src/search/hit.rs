//! Documents that were found.

use serde::{Deserialize, Serialize};
use tantivy::DocId;

use clew_query::SortValue;

/// A document that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardHit {
    /// Its segment's place in the snapshot.
    pub segment: usize,
    /// Its number in the segment.
    pub doc: DocId,
    /// Its score, when scores were computed.
    pub score: Option<f32>,
    /// Its sort values, one for each key; empty when sorted by score alone.
    pub sort: Vec<SortValue>,
    /// The value that no other hit has, when hits are collapsed; null for those without one.
    pub group: Option<SortValue>,
}

/// A hit and the shard it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergedHit {
    /// The place of the shard's result among the results.
    pub shard: usize,
    /// The hit.
    pub hit: ShardHit,
}
