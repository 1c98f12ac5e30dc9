//! Aggregations over what other aggregations found. They run once, on the finished results: no
//! document is seen here.

mod average;
mod axis;
mod path;
mod run;
mod sequence;
mod siblings;
mod summary;

pub(crate) use run::apply;

use clew_query::aggregation::{
    AggSpec, MovingAverage, NamedAgg, PipelineKind, PipelineSpec, Sequence,
};
use clew_query::{AggError, MovingModel};

use crate::pipeline::axis::Axis;
use crate::value::format::ValueFormat;

/// An aggregation as pipelines see it.
pub(crate) trait Piped: Sized {
    /// The aggregations inside it.
    fn subs(&self) -> &[Self];
    /// The pipelines over its buckets, or inside each of them.
    fn pipelines(&self) -> &[PipelinePlan];
}

/// A pipeline aggregation, checked.
#[derive(Clone, Debug)]
pub(crate) struct PipelinePlan {
    pub(crate) name: String,
    pub(crate) spec: PipelineSpec,
    pub(crate) format: ValueFormat,
    /// Where buckets go on for which something is predicted.
    axis: Option<Axis>,
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
        let mut refused = Vec::new();
        for agg in aggs {
            let AggSpec::Pipeline(spec) = &agg.spec else {
                continue;
            };
            check_place(agg, spec, aggs, parent)?;
            if let (PipelineKind::Summary(_), [(_, path), ..]) = (&spec.kind, &spec.paths[..]) {
                refused.extend(siblings::refusal(&agg.name, path, aggs));
            }
            plans.push(PipelinePlan {
                name: agg.name.clone(),
                spec: spec.clone(),
                format: ValueFormat::of_numbers(spec.format.as_deref())?,
                axis: match (&spec.kind, parent) {
                    (PipelineKind::Sequence(Sequence::MovingAvg(average)), Some(parent))
                        if average.predicted > 0 =>
                    {
                        Axis::of(&parent.spec)?
                    }
                    _ => None,
                },
            });
        }
        if !refused.is_empty() {
            return Err(AggError::Validation { reasons: refused });
        }
        in_order(plans)
    }

    pub(crate) fn is_summary(&self) -> bool {
        matches!(self.spec.kind, PipelineKind::Summary(_))
    }

    /// Whether it reads what another one writes.
    fn needs(&self, other: &PipelinePlan) -> bool {
        let mut paths = paths_of(&self.spec).into_iter();
        paths.any(|path| path::first_name(path) == Some(other.name.as_str()))
    }
}

/// All that it reads.
fn paths_of(spec: &PipelineSpec) -> Vec<&String> {
    let sorted = match &spec.kind {
        PipelineKind::Sort { by, .. } => by.iter().map(|(path, _)| path).collect(),
        PipelineKind::Summary(_)
        | PipelineKind::Sequence(_)
        | PipelineKind::Script(_)
        | PipelineKind::Selector(_) => Vec::new(),
    };
    let paths = spec.paths.iter().map(|(_, path)| path);
    paths.chain(sorted).collect()
}

fn in_order(mut plans: Vec<PipelinePlan>) -> Result<Vec<PipelinePlan>, AggError> {
    let mut ordered = Vec::with_capacity(plans.len());
    while !plans.is_empty() {
        let ready = plans.iter().position(|plan| {
            // One that reads what it writes itself waits forever.
            !plans.iter().any(|other| plan.needs(other))
        });
        let Some(ready) = ready else {
            return Err(AggError::validation(format!(
                "Cyclical dependency found with pipeline aggregator [{}]",
                plans[0].name
            )));
        };
        ordered.push(plans.remove(ready));
    }
    Ok(ordered)
}

/// Refuses paths that lead to nothing.
fn check_paths(spec: &PipelineSpec, siblings: &[NamedAgg]) -> Result<(), AggError> {
    let mut paths = paths_of(spec).into_iter();
    paths.try_for_each(|path| path::check(path, siblings))
}

/// Refuses what would leave the buckets as they are.
fn check_sort(spec: &PipelineSpec, name: &str) -> Result<(), AggError> {
    match &spec.kind {
        PipelineKind::Sort {
            by,
            from: 0,
            size: None,
        } if by.is_empty() => Err(AggError::validation(format!(
            "[{name}] is configured to perform nothing. Please set either of [sort, size, from] \
             to use bucket_sort"
        ))),
        _ => Ok(()),
    }
}

/// Refuses to look for factors of a model that has none.
fn check_fitted(average: &MovingAverage, name: &str) -> Result<(), AggError> {
    let class = match average.model {
        MovingModel::Mean => "SimpleModel",
        MovingModel::LinearMean => "LinearModel",
        MovingModel::Exponential { .. } | MovingModel::Trend { .. } | MovingModel::Seasonal(_) => {
            return Ok(());
        }
    };
    match average.is_fitted {
        false => Ok(()),
        true => Err(AggError::validation(format!(
            "The [org.opensearch.search.aggregations.pipeline.{class}@0] model cannot be \
             minimized for aggregation [{name}]"
        ))),
    }
}

fn check_place(
    agg: &NamedAgg,
    spec: &PipelineSpec,
    siblings: &[NamedAgg],
    parent: Option<&NamedAgg>,
) -> Result<(), AggError> {
    let (kind, name) = (spec.kind.type_name(), &agg.name);
    if let PipelineKind::Summary(_) = spec.kind {
        return check_paths(spec, siblings);
    }
    let is_sort = matches!(spec.kind, PipelineKind::Sort { .. });
    // OpenSearch follows the paths to what they need before it looks where a pipeline stands, but for what sorts.
    if !is_sort {
        check_paths(spec, siblings)?;
    }
    if let PipelineKind::Sequence(Sequence::MovingAvg(average)) = &spec.kind {
        check_fitted(average, name)?;
    }
    if let (PipelineKind::Sequence(Sequence::CumulativeSum), [_, _, ..]) =
        (&spec.kind, &spec.paths[..])
    {
        return Err(AggError::validation(format!(
            "buckets_path must contain a single entry for aggregation [{name}]"
        )));
    }
    let Some(parent) = parent else {
        let wanted = match spec.kind {
            PipelineKind::Sequence(_) => {
                "must have a histogram, date_histogram or auto_date_histogram as parent but \
                 doesn't have a parent"
            }
            _ => "must be declared inside of another aggregation",
        };
        return Err(AggError::validation(format!(
            "{kind} aggregation [{name}] {wanted}"
        )));
    };
    if is_sort {
        check_sort(spec, name)?;
        check_paths(spec, siblings)?;
    }
    if !matches!(spec.kind, PipelineKind::Sequence(_)) {
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
