//! Which metric a request asks for.

use clew_query::AggError;
use clew_query::aggregation::{AggSpec, Source};

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

/// The plan of a metric; `None` of anything else.
///
/// # Errors
/// [`AggError`] naming what is wrong.
#[allow(
    clippy::too_many_lines,
    reason = "one arm for each kind of aggregation"
)]
pub(crate) fn plan_metric(
    spec: &AggSpec,
    context: &AggContext<'_>,
) -> Result<Option<(ValuePlan, MetricPlan)>, AggError> {
    fn of((values, plan): (ValuePlan, impl Into<MetricPlan>)) -> (ValuePlan, MetricPlan) {
        (values, plan.into())
    }
    let values_of = |source: &Source, aggregation| plan_values(source, aggregation, context);
    let moments =
        |source: &Source, name, kind| Ok((values_of(source, name)?, MetricPlan::from(kind)));
    Ok(Some(match spec {
        AggSpec::Min(source) => moments(source, "min", MomentKind::Min)?,
        AggSpec::Max(source) => moments(source, "max", MomentKind::Max)?,
        AggSpec::Avg(source) => moments(source, "avg", MomentKind::Avg)?,
        AggSpec::Sum(source) => moments(source, "sum", MomentKind::Sum)?,
        AggSpec::Stats(source) => moments(source, "stats", MomentKind::Stats)?,
        AggSpec::ValueCount(source) => (values_of(source, "value_count")?, ValueCountPlan.into()),
        AggSpec::ExtendedStats { source, sigma } => {
            if *sigma < 0.0 {
                return Err(AggError::invalid(
                    "[sigma] must be greater than or equal to 0",
                ));
            }
            let values = values_of(source, "extended_stats")?;
            (values, ExtendedPlan { sigma: *sigma }.into())
        }
        AggSpec::Cardinality {
            source,
            precision_threshold,
        } => {
            let threshold = *precision_threshold as usize;
            (
                values_of(source, "cardinality")?,
                CardinalityPlan { threshold }.into(),
            )
        }
        AggSpec::GeoBounds { source, wrap } => (
            values_of(source, "geo_bounds")?,
            GeoBoundsPlan { wrap: *wrap }.into(),
        ),
        AggSpec::GeoCentroid(source) => {
            (values_of(source, "geo_centroid")?, GeoCentroidPlan.into())
        }
        AggSpec::Percentiles(spec) => of(plan_percentiles(spec, context)?),
        AggSpec::MedianDeviation {
            source,
            compression,
        } => of(plan_median_deviation(source, *compression, context)?),
        AggSpec::WeightedAvg { value, weight } => {
            let weight = values_of(weight, "weighted_avg")?;
            let values = values_of(value, "weighted_avg")?;
            (values, WeightedAvgPlan { weight }.into())
        }
        AggSpec::Matrix { fields, mode } => of(plan_matrix(fields, *mode, context)?),
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
