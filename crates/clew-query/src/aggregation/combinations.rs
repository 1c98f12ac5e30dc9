//! What aggregations over combinations of several sources' values ask for.

use serde::{Deserialize, Serialize};

use super::buckets::{DateInterval, Direction, OrderBy};
use super::grid::{Grid, GridBounds};
use super::parts::SpecParts;
use super::source::{Scalar, Source};

/// Buckets per combination of values, page by page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompositeSpec {
    /// What is combined, most significant first.
    pub sources: Vec<CompositeSource>,
    /// Buckets per page.
    pub size: u32,
    /// The last combination of the page before, by name of source.
    pub after: Option<Vec<(String, Option<Scalar>)>>,
}

impl SpecParts for CompositeSpec {}

/// One source of a combination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompositeSource {
    /// Its name in keys.
    pub name: String,
    /// What of a document is combined.
    pub kind: CompositeKind,
    /// Whether documents without a value have a bucket.
    pub missing_bucket: bool,
    /// Where that bucket comes.
    pub missing_order: MissingOrder,
    /// Which end comes first.
    pub direction: Direction,
}

/// What of a document is combined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CompositeKind {
    /// Its values.
    Terms(Source),
    /// Intervals of numbers.
    Histogram {
        /// Where the values come from.
        source: Source,
        /// How long.
        interval: f64,
    },
    /// Intervals of time.
    DateHistogram {
        /// Where the values come from.
        source: Source,
        /// How long.
        interval: DateInterval,
        /// An IANA name or a fixed offset; UTC without it.
        time_zone: Option<String>,
        /// Moves each interval's start.
        offset_ms: i64,
    },
    /// Cells of a grid.
    Cells {
        /// Where the points come from.
        source: Source,
        /// Which cells.
        grid: Grid,
        /// The box that points must lie in.
        #[serde(default)]
        bounds: Option<GridBounds>,
    },
}

/// Where the bucket of documents without a value comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MissingOrder {
    /// First when ascending.
    #[default]
    Default,
    /// First.
    First,
    /// Last.
    Last,
}

/// The most frequent combinations of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultiTermsSpec {
    /// What is combined.
    pub sources: Vec<Source>,
    /// How many buckets are returned.
    pub size: u32,
    /// How many buckets each shard keeps.
    pub shard_size: Option<u32>,
    /// Buckets with fewer documents are left out.
    pub min_doc_count: u64,
    /// How many documents of a shard a bucket must have for the shard to report it, at most as many as to be shown.
    pub shard_min_doc_count: u64,
    /// First criterion first; empty means most documents first.
    pub order: Vec<OrderBy>,
    /// Whether each bucket says how wrong its count may be.
    pub show_error: bool,
}

impl SpecParts for MultiTermsSpec {}
