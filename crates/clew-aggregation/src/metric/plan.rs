//! Which metric a request asks for.

use clew_query::AggError;
use clew_query::aggregation::{
    CardinalitySpec, ExtendedStatsSpec, GeoBoundsSpec, MatrixSpec, MedianDeviationSpec, MetricSpec,
    Source, WeightedAvgSpec,
};

use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::field::values::plan_values;
use crate::metric::MetricPlan;
use crate::metric::cardinality::CardinalityPlan;
use crate::metric::extended_stats::ExtendedPlan;
use crate::metric::geo::{GeoBoundsPlan, GeoCentroidPlan};
use crate::metric::matrix_stats::plan_matrix;
use crate::metric::percentiles::{plan_median_deviation, plan_percentiles};
use crate::metric::simple::MomentKind;
use crate::metric::value_count::ValueCountPlan;
use crate::metric::weighted_avg::WeightedAvgPlan;

/// The plan of a metric.
///
/// # Errors
/// [`AggError`] naming what is wrong.
#[allow(
    clippy::too_many_lines,
    reason = "one arm for each kind of aggregation"
)]
pub(crate) fn plan_metric(
    spec: MetricSpec<'_>,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, MetricPlan), AggError> {
    fn of((values, plan): (ValuePlan, impl Into<MetricPlan>)) -> (ValuePlan, MetricPlan) {
        (values, plan.into())
    }
    let values_of = |source: &Source, aggregation| plan_values(source, aggregation, context);
    let moments =
        |source: &Source, name, kind| Ok((values_of(source, name)?, MetricPlan::from(kind)));
    Ok(match spec {
        MetricSpec::Min(source) => moments(source, "min", MomentKind::Min)?,
        MetricSpec::Max(source) => moments(source, "max", MomentKind::Max)?,
        MetricSpec::Avg(source) => moments(source, "avg", MomentKind::Avg)?,
        MetricSpec::Sum(source) => moments(source, "sum", MomentKind::Sum)?,
        MetricSpec::Stats(source) => moments(source, "stats", MomentKind::Stats)?,
        MetricSpec::ValueCount(source) => {
            (values_of(source, "value_count")?, ValueCountPlan.into())
        }
        MetricSpec::ExtendedStats(ExtendedStatsSpec { source, sigma }) => {
            if *sigma < 0.0 {
                return Err(AggError::invalid(
                    "[sigma] must be greater than or equal to 0",
                ));
            }
            let values = values_of(source, "extended_stats")?;
            (values, ExtendedPlan { sigma: *sigma }.into())
        }
        MetricSpec::Cardinality(CardinalitySpec {
            source,
            precision_threshold,
        }) => {
            let threshold = *precision_threshold as usize;
            (
                values_of(source, "cardinality")?,
                CardinalityPlan { threshold }.into(),
            )
        }
        MetricSpec::GeoBounds(GeoBoundsSpec { source, wrap }) => (
            values_of(source, "geo_bounds")?,
            GeoBoundsPlan { wrap: *wrap }.into(),
        ),
        MetricSpec::GeoCentroid(source) => {
            (values_of(source, "geo_centroid")?, GeoCentroidPlan.into())
        }
        MetricSpec::Percentiles(spec) => of(plan_percentiles(spec, context)?),
        MetricSpec::MedianDeviation(MedianDeviationSpec {
            source,
            compression,
        }) => of(plan_median_deviation(source, *compression, context)?),
        MetricSpec::WeightedAvg(WeightedAvgSpec { value, weight }) => {
            let weight = values_of(weight, "weighted_avg")?;
            let values = values_of(value, "weighted_avg")?;
            (values, WeightedAvgPlan { weight }.into())
        }
        // They need what only the tree has: the name that they are asked for by.
        MetricSpec::TopHits(_) => return Err(AggError::invalid("[top_hits] is planned apart")),
        MetricSpec::Matrix(MatrixSpec { fields, mode }) => of(plan_matrix(fields, *mode, context)?),
    })
}
