//! Aggregations over what other aggregations found, as they are asked for.

use super::buckets::Direction;
use super::parts::SpecParts;
use crate::query::{MovingModel, Script};
use serde::{Deserialize, Serialize};

/// A pipeline aggregation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PipelineSpec {
    /// What is computed.
    pub kind: PipelineKind,
    /// Where its numbers come from; named, where a script uses several.
    pub paths: Vec<(String, String)>,
    /// What a bucket without a number counts as.
    pub gaps: GapPolicy,
    /// How the result is printed.
    pub format: Option<String>,
}

impl SpecParts for PipelineSpec {}

/// What a bucket without a number counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GapPolicy {
    /// It is passed over.
    #[default]
    Skip,
    /// As zero.
    InsertZeros,
}

/// What a pipeline computes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PipelineKind {
    /// A number or two about all buckets of an aggregation beside it.
    Summary(Summary),
    /// A number for each bucket, by its place among the others.
    Sequence(Sequence),
    /// A number for each bucket, by a script of its numbers.
    Script(Box<Script>),
    /// Keeps the buckets for which a script of their numbers holds.
    Selector(Box<Script>),
    /// Sorts and cuts the buckets.
    Sort {
        /// By what.
        by: Vec<(String, Direction)>,
        /// Buckets left out at the start.
        from: usize,
        /// How many remain.
        size: Option<usize>,
    },
}

/// What a bucket's place among the others makes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sequence {
    /// The difference from the bucket before.
    Derivative {
        /// Also the difference per so many milliseconds.
        unit_ms: Option<f64>,
    },
    /// The sum of all buckets so far.
    CumulativeSum,
    /// The difference from some buckets before.
    SerialDiff {
        /// How many.
        lag: usize,
    },
    /// What a script makes of the buckets around.
    MovingFn {
        /// How many buckets.
        window: usize,
        /// How far the window is moved to the right.
        shift: i64,
        /// The script, which sees them as `values`.
        script: Box<Script>,
    },
    /// What a model makes of the buckets before.
    MovingAvg(MovingAverage),
}

/// What a model makes of the buckets before each one, and behind the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovingAverage {
    /// Of how many buckets.
    pub window: usize,
    /// The model.
    pub model: MovingModel,
    /// Whether its factors are those that tell the last buckets best, where there are enough to try.
    pub is_fitted: bool,
    /// For how many buckets behind the last number it says what comes.
    pub predicted: usize,
}

/// What is said about all buckets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Summary {
    /// The mean.
    Avg,
    /// The greatest, and where.
    Max,
    /// The least, and where.
    Min,
    /// The sum.
    Sum,
    /// Count, min, max, mean and sum.
    Stats,
    /// The same with squares.
    ExtendedStats {
        /// How many deviations the bounds are away.
        sigma: f64,
    },
    /// Values at percentages.
    Percentiles {
        /// Which.
        percents: Vec<f64>,
        /// Whether they are shown by name.
        keyed: bool,
    },
}

impl PipelineKind {
    /// The type's name in a request.
    pub fn type_name(&self) -> &'static str {
        match self {
            PipelineKind::Summary(Summary::Avg) => "avg_bucket",
            PipelineKind::Summary(Summary::Max) => "max_bucket",
            PipelineKind::Summary(Summary::Min) => "min_bucket",
            PipelineKind::Summary(Summary::Sum) => "sum_bucket",
            PipelineKind::Summary(Summary::Stats) => "stats_bucket",
            PipelineKind::Summary(Summary::ExtendedStats { .. }) => "extended_stats_bucket",
            PipelineKind::Summary(Summary::Percentiles { .. }) => "percentiles_bucket",
            PipelineKind::Sequence(Sequence::Derivative { .. }) => "derivative",
            PipelineKind::Sequence(Sequence::CumulativeSum) => "cumulative_sum",
            PipelineKind::Sequence(Sequence::SerialDiff { .. }) => "serial_diff",
            PipelineKind::Sequence(Sequence::MovingFn { .. }) => "moving_fn",
            PipelineKind::Sequence(Sequence::MovingAvg(_)) => "moving_avg",
            PipelineKind::Script(_) => "bucket_script",
            PipelineKind::Selector(_) => "bucket_selector",
            PipelineKind::Sort { .. } => "bucket_sort",
        }
    }
}
