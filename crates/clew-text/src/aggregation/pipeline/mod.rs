//! Aggregations over what other aggregations found. They run once, on the finished results: no
//! document is seen here.

mod expression;
mod moving;
mod path;
mod run;
mod sequence;
mod summary;

pub use expression::Expression;
pub use moving::MovingFunction;
pub(crate) use run::apply;

use super::error::AggError;
use super::format::ValueFormat;
use super::spec::{AggSpec, Direction, NamedAgg};

/// A pipeline aggregation.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineSpec {
    /// What is computed.
    pub kind: PipelineKind,
    /// Where its numbers come from; named, where an expression uses several.
    pub paths: Vec<(String, String)>,
    /// What a bucket without a number counts as.
    pub gaps: GapPolicy,
    /// How the result is printed.
    pub format: Option<String>,
}

/// What a bucket without a number counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GapPolicy {
    /// It is passed over.
    #[default]
    Skip,
    /// As zero.
    InsertZeros,
    /// Empty buckets count if they have a number all the same.
    KeepValues,
}

/// What a pipeline computes.
#[derive(Clone, Debug, PartialEq)]
pub enum PipelineKind {
    /// A number or two about all buckets of an aggregation beside it.
    Summary(Summary),
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
    /// A function of the buckets around.
    MovingFn {
        /// How many buckets.
        window: usize,
        /// How far the window is moved to the right.
        shift: i64,
        /// Which function.
        function: MovingFunction,
    },
    /// An expression per bucket.
    Script(Expression),
    /// Keeps the buckets for which an expression holds.
    Selector(Expression),
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

/// What is said about all buckets.
#[derive(Clone, Debug, PartialEq)]
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
    fn type_name(&self) -> &'static str {
        match self {
            PipelineKind::Summary(Summary::Avg) => "avg_bucket",
            PipelineKind::Summary(Summary::Max) => "max_bucket",
            PipelineKind::Summary(Summary::Min) => "min_bucket",
            PipelineKind::Summary(Summary::Sum) => "sum_bucket",
            PipelineKind::Summary(Summary::Stats) => "stats_bucket",
            PipelineKind::Summary(Summary::ExtendedStats { .. }) => "extended_stats_bucket",
            PipelineKind::Summary(Summary::Percentiles { .. }) => "percentiles_bucket",
            PipelineKind::Derivative { .. } => "derivative",
            PipelineKind::CumulativeSum => "cumulative_sum",
            PipelineKind::SerialDiff { .. } => "serial_diff",
            PipelineKind::MovingFn { .. } => "moving_fn",
            PipelineKind::Script(_) => "bucket_script",
            PipelineKind::Selector(_) => "bucket_selector",
            PipelineKind::Sort { .. } => "bucket_sort",
        }
    }

    /// Whether the buckets' order has a meaning to it.
    fn is_sequential(&self) -> bool {
        matches!(
            self,
            PipelineKind::Derivative { .. }
                | PipelineKind::CumulativeSum
                | PipelineKind::SerialDiff { .. }
                | PipelineKind::MovingFn { .. }
        )
    }
}

/// A pipeline aggregation, checked.
#[derive(Clone, Debug)]
pub(crate) struct PipelinePlan {
    pub(crate) name: String,
    pub(crate) meta: Option<serde_json::Value>,
    pub(crate) spec: PipelineSpec,
    pub(crate) format: ValueFormat,
}

impl PipelinePlan {
    /// The pipelines among aggregations, in the order in which they can be computed.
    ///
    /// # Errors
    /// [`AggError::Validation`] when one is in the wrong place, or they wait for each other.
    pub(crate) fn all(
        aggs: &[NamedAgg],
        parent: Option<&NamedAgg>,
    ) -> Result<Vec<PipelinePlan>, AggError> {
        let mut plans = Vec::new();
        for agg in aggs {
            let AggSpec::Pipeline(spec) = &agg.spec else {
                continue;
            };
            check_place(agg, spec, aggs, parent)?;
            plans.push(PipelinePlan {
                name: agg.name.clone(),
                meta: agg.meta.clone(),
                spec: spec.clone(),
                format: ValueFormat::of_numbers(spec.format.as_deref())?,
            });
        }
        in_order(plans)
    }

    pub(crate) fn is_summary(&self) -> bool {
        matches!(self.spec.kind, PipelineKind::Summary(_))
    }

    /// Whether it reads what another one writes.
    fn needs(&self, other: &PipelinePlan) -> bool {
        let sorted = match &self.spec.kind {
            PipelineKind::Sort { by, .. } => by.iter().map(|(path, _)| path).collect(),
            _ => Vec::new(),
        };
        let paths = self.spec.paths.iter().map(|(_, path)| path).chain(sorted);
        paths
            .filter_map(|path| path.strip_prefix(other.name.as_str()))
            .any(|rest| rest.is_empty() || rest.starts_with(['.', '>', '[']))
    }
}

fn in_order(mut plans: Vec<PipelinePlan>) -> Result<Vec<PipelinePlan>, AggError> {
    let mut ordered = Vec::with_capacity(plans.len());
    while !plans.is_empty() {
        let ready = plans.iter().position(|plan| {
            let mut others = plans.iter().filter(|other| other.name != plan.name);
            !others.any(|other| plan.needs(other))
        });
        let Some(ready) = ready else {
            return Err(AggError::invalid(format!(
                "Cyclical dependency found with pipeline aggregator [{}]",
                plans[0].name
            )));
        };
        ordered.push(plans.remove(ready));
    }
    Ok(ordered)
}

fn check_place(
    agg: &NamedAgg,
    spec: &PipelineSpec,
    siblings: &[NamedAgg],
    parent: Option<&NamedAgg>,
) -> Result<(), AggError> {
    let (kind, name) = (spec.kind.type_name(), &agg.name);
    if let PipelineKind::Summary(_) = spec.kind {
        let path = spec.paths.first().map_or("", |(_, path)| path.as_str());
        let first = path.split('>').next().unwrap_or_default();
        let is_first = |other: &NamedAgg| {
            let rest = first.strip_prefix(other.name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        if siblings.iter().any(is_first) {
            return Ok(());
        }
        return Err(AggError::validation(format!(
            "No aggregation found for path [{path}]"
        )));
    }
    let Some(parent) = parent else {
        return Err(AggError::validation(format!(
            "{kind} aggregation [{name}] must be declared inside of another aggregation"
        )));
    };
    if !spec.kind.is_sequential() {
        return Ok(());
    }
    let min_doc_count = match &parent.spec {
        AggSpec::DateHistogram(histogram) => histogram.min_doc_count,
        AggSpec::Histogram(histogram) => histogram.min_doc_count,
        AggSpec::AutoDateHistogram(_) => 0,
        _ => {
            return Err(AggError::validation(format!(
                "{kind} aggregation [{name}] must have a histogram, date_histogram or \
                 auto_date_histogram as parent"
            )));
        }
    };
    if min_doc_count > 0 {
        return Err(AggError::validation(format!(
            "parent histogram of {kind} aggregation [{name}] must have min_doc_count of 0"
        )));
    }
    Ok(())
}
