//! `extended_stats`: stats with squares, variance and deviation.

use clew_query::AggError;
use clew_query::aggregation::ExtendedStatsSpec;

use crate::collect::{Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::values::plan_values;
use crate::metric::simple::{stats_of, stats_property};
use crate::metric::values::{KeptValues, Values};
use crate::metric::{InBucket, Metric, SHAPE, of_bucket};
use crate::numbers::moments::ExtendedMoments;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::{AggResult, ExtendedStats};
use crate::value::format::ValueFormat;

/// How many deviations the bounds are away from the mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtendedPlan {
    pub(crate) sigma: f64,
}

/// The plan of `extended_stats`.
///
/// # Errors
/// [`AggError`] naming what is wrong.
pub(crate) fn plan_extended_stats(
    spec: &ExtendedStatsSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, ExtendedPlan), AggError> {
    let sigma = spec.sigma;
    if sigma < 0.0 {
        return Err(AggError::invalid(
            "[sigma] must be greater than or equal to 0",
        ));
    }
    let values = plan_values(&spec.source, "extended_stats", context)?;
    Ok((values, ExtendedPlan { sigma }))
}

impl KeptValues for ExtendedMoments {
    fn add_raw(&mut self, column: &ValueColumn, raw: u64) {
        self.add(column.number(raw));
    }

    fn partial(kept: Vec<Self>) -> Partial {
        Partial::Extended(kept)
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

impl Metric for ExtendedPlan {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Values::<ExtendedMoments>::open(segment, plan)
    }

    fn empty(&self) -> Partial {
        Partial::Extended(Vec::new())
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Extended(moments) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let moments = of_bucket(moments, of.bucket).copied();
        let moments = moments.unwrap_or_default();
        AggResult::ExtendedStats(extended_result(&moments, self.sigma, &of.values.format))
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        Some(match name? {
            "sum_of_squares" => Property::SumOfSquares,
            "variance" | "variance_population" => Property::Variance,
            "variance_sampling" => Property::VarianceSampling,
            "std_deviation" | "std_deviation_population" => Property::Deviation,
            "std_deviation_sampling" => Property::DeviationSampling,
            "std_upper" | "std_upper_population" => Property::Bound(self.sigma),
            "std_lower" | "std_lower_population" => Property::Bound(-self.sigma),
            "std_upper_sampling" => Property::BoundSampling(self.sigma),
            "std_lower_sampling" => Property::BoundSampling(-self.sigma),
            name => return stats_property(name),
        })
    }

    fn profiled_as(&self) -> &'static str {
        "ExtendedStatsAggregator"
    }
}
