//! What metrics ask for that say more than whose values.

use serde::{Deserialize, Serialize};

use crate::query::Script;
use crate::{SortKey, SortMode};

use super::parts::{QueryVisitor, SpecParts};
use super::source::Source;

/// Stats with squares, variance and deviation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtendedStatsSpec {
    /// Where the values come from.
    pub source: Source,
    /// How many deviations the reported bounds are away from the mean.
    pub sigma: f64,
}

impl SpecParts for ExtendedStatsSpec {}

/// How many distinct values there are: exact up to the threshold, then estimated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CardinalitySpec {
    /// Where the values come from.
    pub source: Source,
    /// Up to this many values are counted exactly.
    pub precision_threshold: u32,
}

impl SpecParts for CardinalitySpec {}

/// Percentiles of values, or ranks of values among them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PercentilesSpec {
    /// Where the values come from.
    pub source: Source,
    /// Percentages, or values where `ranks` are asked for.
    pub points: Vec<f64>,
    /// Whether the points are values whose ranks are wanted.
    pub ranks: bool,
    /// Whether results are shown by name.
    pub keyed: bool,
    /// How the distribution is kept.
    pub method: Method,
}

impl SpecParts for PercentilesSpec {}

/// How a distribution is kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Method {
    /// Centroids; exact while there are few values.
    TDigest {
        /// More is exacter and takes more memory.
        compression: f64,
    },
    /// Counters with so many significant digits.
    Hdr {
        /// From 0 to 5.
        digits: u8,
    },
}

impl Default for Method {
    fn default() -> Self {
        Method::TDigest { compression: 100.0 }
    }
}

/// The median of the distances from the median.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MedianDeviationSpec {
    /// Where the values come from.
    pub source: Source,
    /// How exact.
    pub compression: f64,
}

impl SpecParts for MedianDeviationSpec {}

/// The mean of values, each counted by its weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightedAvgSpec {
    /// Where the values come from.
    pub value: Source,
    /// Where the weights come from.
    pub weight: Source,
    /// How the mean is printed; the field's own format is none of it.
    #[serde(default)]
    pub format: Option<String>,
}

impl SpecParts for WeightedAvgSpec {}

/// The box around points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeoBoundsSpec {
    /// Where the points come from.
    pub source: Source,
    /// Whether the box may lie across the line where east meets west.
    pub wrap: bool,
}

impl SpecParts for GeoBoundsSpec {}

/// How several fields are distributed, and how they vary together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixSpec {
    /// Where the values come from.
    pub fields: Vec<Source>,
    /// Which of several values of a document counts.
    pub mode: SortMode,
}

impl SpecParts for MatrixSpec {}

/// What scripts gather of documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptedMetricSpec {
    /// Begins what is gathered in a shard.
    pub init: Option<Box<Script>>,
    /// Adds to it what a document has.
    pub map: Box<Script>,
    /// Makes of it what the shard answers.
    pub combine: Box<Script>,
    /// Makes one of what all shards answered.
    pub reduce: Box<Script>,
}

impl SpecParts for ScriptedMetricSpec {}

/// The first documents themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopHitsSpec {
    /// Documents to skip.
    pub from: usize,
    /// Documents wanted.
    pub size: usize,
    /// Their order; empty means by score.
    pub sort: Vec<SortKey>,
    /// Scores also when the order is not by score.
    pub track_scores: bool,
}

impl SpecParts for TopHitsSpec {
    fn for_each_query_mut<E>(&mut self, visit: &mut QueryVisitor<'_, E>) -> Result<(), E> {
        self.sort
            .iter_mut()
            .try_for_each(|key| key.for_each_query_mut(visit))
    }
}
