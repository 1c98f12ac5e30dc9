//! The plans and results of metrics, told apart.

use clew_query::AggError;
use clew_query::aggregation::{AggSpec, Source};

use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::field::values::plan_values;
use crate::metric::extended_stats::extended_result;
use crate::metric::matrix_stats::{MatrixPlan, matrix_result, plan_matrix};
use crate::metric::percentiles::{plan_median_deviation, plan_percentiles, quantiles_result};
use crate::metric::simple::{MomentKind, moments_result};
use crate::numbers::quantile::QuantileState;
use crate::result::{AggResult, Metric};
use crate::tree::{Op, Plan};

/// The plan of a metric; `None` of anything else.
///
/// # Errors
/// [`AggError`] naming what is wrong.
pub(crate) fn plan_metric(
    spec: &AggSpec,
    context: &AggContext<'_>,
) -> Result<Option<(ValuePlan, Op)>, AggError> {
    let values_of = |source: &Source, aggregation| plan_values(source, aggregation, context);
    let moments = |source: &Source, name, kind| Ok((values_of(source, name)?, Op::Moments(kind)));
    Ok(Some(match spec {
        AggSpec::Min(source) => moments(source, "min", MomentKind::Min)?,
        AggSpec::Max(source) => moments(source, "max", MomentKind::Max)?,
        AggSpec::Avg(source) => moments(source, "avg", MomentKind::Avg)?,
        AggSpec::Sum(source) => moments(source, "sum", MomentKind::Sum)?,
        AggSpec::Stats(source) => moments(source, "stats", MomentKind::Stats)?,
        AggSpec::ValueCount(source) => (values_of(source, "value_count")?, Op::ValueCount),
        AggSpec::ExtendedStats { source, sigma } => {
            if *sigma < 0.0 {
                return Err(AggError::invalid(
                    "[sigma] must be greater than or equal to 0",
                ));
            }
            let values = values_of(source, "extended_stats")?;
            (values, Op::Extended { sigma: *sigma })
        }
        AggSpec::Cardinality {
            source,
            precision_threshold,
        } => {
            let threshold = *precision_threshold as usize;
            (
                values_of(source, "cardinality")?,
                Op::Cardinality { threshold },
            )
        }
        AggSpec::GeoBounds { source, wrap } => (
            values_of(source, "geo_bounds")?,
            Op::GeoBounds { wrap: *wrap },
        ),
        AggSpec::GeoCentroid(source) => (values_of(source, "geo_centroid")?, Op::GeoCentroid),
        AggSpec::Percentiles(spec) => Op::of(plan_percentiles(spec, context)?, Op::Quantiles),
        AggSpec::MedianDeviation {
            source,
            compression,
        } => Op::of(
            plan_median_deviation(source, *compression, context)?,
            Op::Quantiles,
        ),
        AggSpec::WeightedAvg { value, weight } => {
            let weight = values_of(weight, "weighted_avg")?;
            let values = values_of(value, "weighted_avg")?;
            (values, Op::WeightedAvg { weight })
        }
        AggSpec::Matrix { fields, mode } => {
            Op::of(plan_matrix(fields, *mode, context)?, Op::Matrix)
        }
        AggSpec::Terms(_)
        | AggSpec::DateHistogram(_)
        | AggSpec::Histogram(_)
        | AggSpec::Range(_)
        | AggSpec::Missing(_)
        | AggSpec::Nested { .. }
        | AggSpec::ReverseNested { .. }
        | AggSpec::Relatives { .. }
        | AggSpec::TopHits(_)
        | AggSpec::Filters(_)
        | AggSpec::Global
        | AggSpec::Composite(_)
        | AggSpec::MultiTerms(_)
        | AggSpec::RareTerms(_)
        | AggSpec::GeoGrid(_)
        | AggSpec::SignificantTerms(_)
        | AggSpec::VariableWidth { .. }
        | AggSpec::AutoDateHistogram(_)
        | AggSpec::Sample(_)
        | AggSpec::Pipeline(_) => return Ok(None),
    }))
}

/// The result of a metric in one bucket; a bucket made to fill a gap has no number.
pub(crate) fn metric_result(plan: &Plan, partial: &Partial, parent: Option<u32>) -> AggResult {
    let format = &plan.values.format;
    let at = parent.map(|parent| parent as usize);
    match (&plan.op, partial) {
        (Op::GeoBounds { wrap }, Partial::Points(points)) => {
            let points = at.and_then(|at| points.get(at)).copied();
            AggResult::GeoBounds(points.unwrap_or_default().corners(*wrap))
        }
        (Op::GeoCentroid, Partial::Points(points)) => {
            let points = at
                .and_then(|at| points.get(at))
                .copied()
                .unwrap_or_default();
            AggResult::GeoCentroid {
                middle: points.middle(),
                count: points.count,
            }
        }
        (Op::Quantiles(plan), Partial::Quantiles(states)) => {
            let empty = QuantileState::default();
            let state = at.and_then(|at| states.states.get(at)).unwrap_or(&empty);
            quantiles_result(plan, state, format)
        }
        (Op::Matrix(MatrixPlan { fields, .. }), Partial::Matrix(moments)) => {
            let moments = at.and_then(|at| moments.get(at)).cloned();
            let names = fields.iter().map(|field| field.field.clone());
            AggResult::Matrix(matrix_result(names.collect(), &moments.unwrap_or_default()))
        }
        (Op::WeightedAvg { .. }, Partial::Weighted(sums)) => {
            let sums = at.and_then(|at| sums.get(at)).copied();
            let mean = sums.unwrap_or_default().mean();
            AggResult::WeightedAvg(Metric {
                value: mean.is_finite().then_some(mean),
                format: format.clone(),
            })
        }
        (Op::Moments(kind), Partial::Moments(moments)) => {
            let moments = at.and_then(|at| moments.get(at)).copied();
            moments_result(*kind, &moments.unwrap_or_default(), format)
        }
        (Op::Extended { sigma }, Partial::Extended(moments)) => {
            let moments = at.and_then(|at| moments.get(at)).copied();
            let stats = extended_result(&moments.unwrap_or_default(), *sigma, format);
            AggResult::ExtendedStats(stats)
        }
        (Op::ValueCount, Partial::Counts(counts)) => {
            let count = at.and_then(|at| counts.get(at)).copied();
            AggResult::ValueCount(count.unwrap_or(0))
        }
        (Op::Cardinality { .. }, Partial::Distinct(sketches)) => {
            let sketch = at.and_then(|at| sketches.sketches.get(at));
            AggResult::Cardinality(sketch.map_or(0, |s| s.count()))
        }
        _ => unreachable!("a partial result has the shape of its plan"),
    }
}
