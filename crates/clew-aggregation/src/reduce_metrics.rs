//! Metrics of one bucket, as results.

use super::format::ValueFormat;
use super::matrix::MatrixMoments;
use super::moments::{ExtendedMoments, Moments};
use super::partial::Partial;
use super::plan::{MomentKind, Op, Plan};
use super::plan_metrics::{QuantilePlan, Wanted};
use super::quantile::QuantileState;
use super::result::{
    AggResult, ExtendedStats, MatrixResult, Metric, PercentilesKind, PercentilesResult, Stats,
};
use clew_query::aggregation::Method;

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
        (Op::Matrix { fields, .. }, Partial::Matrix(moments)) => {
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

fn matrix_result(names: Vec<String>, moments: &MatrixMoments) -> MatrixResult {
    let width = moments.width();
    let table = |number: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        let row = |one: usize| (0..width).map(|other| number(one, other)).collect();
        (0..width).map(row).collect()
    };
    MatrixResult {
        doc_count: moments.count,
        names,
        fields: (0..width).map(|at| moments.field(at)).collect(),
        covariance: table(&|one, other| moments.covariance(one, other)),
        correlation: table(&|one, other| moments.correlation(one, other)),
    }
}

fn quantiles_result(plan: &QuantilePlan, state: &QuantileState, format: &ValueFormat) -> AggResult {
    let is_hdr = matches!(plan.method, Method::Hdr { .. });
    let (kind, asked, found, keyed) = match &plan.wanted {
        Wanted::MedianDeviation => {
            return AggResult::MedianDeviation(Metric {
                value: state.median_deviation(plan.method),
                format: format.clone(),
            });
        }
        Wanted::Percentiles { percents, keyed } => {
            let kind = if is_hdr {
                PercentilesKind::Hdr
            } else {
                PercentilesKind::TDigest
            };
            (
                kind,
                percents,
                state.percentiles(percents, plan.method),
                *keyed,
            )
        }
        Wanted::Ranks { values, keyed } => {
            let kind = if is_hdr {
                PercentilesKind::HdrRanks
            } else {
                PercentilesKind::TDigestRanks
            };
            (kind, values, state.ranks(values, plan.method), *keyed)
        }
    };
    AggResult::Percentiles(PercentilesResult {
        kind,
        points: asked.iter().copied().zip(found).collect(),
        keyed,
        format: format.clone(),
    })
}

pub(crate) fn stats_of(moments: &Moments, format: &ValueFormat) -> Stats {
    let any = moments.count > 0;
    Stats {
        count: moments.count,
        min: any.then_some(moments.min),
        max: any.then_some(moments.max),
        avg: any.then(|| moments.mean()),
        sum: moments.sum.value(),
        format: format.clone(),
    }
}

fn moments_result(kind: MomentKind, moments: &Moments, format: &ValueFormat) -> AggResult {
    let stats = stats_of(moments, format);
    let metric = |value| Metric {
        value,
        format: format.clone(),
    };
    match kind {
        MomentKind::Min => AggResult::Min(metric(stats.min)),
        MomentKind::Max => AggResult::Max(metric(stats.max)),
        MomentKind::Avg => AggResult::Avg(metric(stats.avg)),
        MomentKind::Sum => AggResult::Sum(metric(Some(stats.sum))),
        MomentKind::Stats => AggResult::Stats(stats),
    }
}

pub(crate) fn extended_result(
    moments: &ExtendedMoments,
    sigma: f64,
    format: &ValueFormat,
) -> ExtendedStats {
    let any = moments.basic.count > 0;
    ExtendedStats {
        stats: stats_of(&moments.basic, format),
        sum_of_squares: any.then(|| moments.squares.value()),
        variance: any.then(|| moments.variance()),
        variance_sampling: any.then(|| moments.variance_sampling()),
        sigma,
    }
}
