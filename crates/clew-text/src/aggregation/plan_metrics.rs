//! Percentiles, ranks and the deviation from the median.

use super::collector::AggContext;
use super::error::AggError;
use super::plan::{Op, Property, ValuePlan};
use super::plan_fields::plan_values;
use super::quantile::Method;
use super::spec::{PercentilesSpec, Source};

/// What is read of a distribution.
#[derive(Clone, Debug)]
pub(crate) struct QuantilePlan {
    pub(crate) method: Method,
    pub(crate) wanted: Wanted,
}

/// Which numbers of a distribution.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// Values at percentages.
    Percentiles { percents: Vec<f64>, keyed: bool },
    /// Percentages of values.
    Ranks { values: Vec<f64>, keyed: bool },
    /// The median distance from the median.
    MedianDeviation,
}

impl QuantilePlan {
    /// The number that an order's path names.
    pub(crate) fn property(&self, name: Option<&str>) -> Option<Property> {
        let number = || name.and_then(|name| name.parse::<f64>().ok());
        match &self.wanted {
            Wanted::MedianDeviation => {
                matches!(name, None | Some("value")).then_some(Property::Value)
            }
            Wanted::Percentiles { .. } => number().map(Property::Point),
            Wanted::Ranks { .. } => number().map(Property::Rank),
        }
    }
}

/// The plan of `percentiles` and `percentile_ranks`.
///
/// # Errors
/// [`AggError`] when the field cannot serve.
pub(crate) fn plan_percentiles(
    spec: &PercentilesSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, Op), AggError> {
    let name = if spec.ranks {
        "percentile_ranks"
    } else {
        "percentiles"
    };
    let values = plan_values(&spec.source, name, context)?;
    let mut points = spec.points.clone();
    points.sort_by(f64::total_cmp);
    let keyed = spec.keyed;
    let wanted = if spec.ranks {
        Wanted::Ranks {
            values: points,
            keyed,
        }
    } else {
        Wanted::Percentiles {
            percents: points,
            keyed,
        }
    };
    let plan = QuantilePlan {
        method: spec.method,
        wanted,
    };
    Ok((values, Op::Quantiles(plan)))
}

/// The plan of `median_absolute_deviation`.
///
/// # Errors
/// [`AggError`] when the field cannot serve.
pub(crate) fn plan_median_deviation(
    source: &Source,
    compression: f64,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, Op), AggError> {
    let values = plan_values(source, "median_absolute_deviation", context)?;
    let plan = QuantilePlan {
        method: Method::TDigest { compression },
        wanted: Wanted::MedianDeviation,
    };
    Ok((values, Op::Quantiles(plan)))
}
