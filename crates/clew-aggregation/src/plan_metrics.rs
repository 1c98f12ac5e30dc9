//! The plans of metrics.

#![warn(clippy::wildcard_enum_match_arm)]

use clew_query::AggError;
use clew_query::SortMode;

use super::collector::AggContext;
use super::plan::{MomentKind, Op, Property, ValuePlan};
use super::plan_fields::plan_values;
use clew_query::aggregation::{AggSpec, Method, PercentilesSpec, Source};

/// Fields that are compared with each other; each two of them are.
const MATRIX_FIELDS_MAX: usize = 100;

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
    /// How many numbers each bucket's result lists.
    pub(crate) fn points(&self) -> usize {
        match &self.wanted {
            Wanted::Percentiles { percents, .. } => percents.len(),
            Wanted::Ranks { values, .. } => values.len(),
            Wanted::MedianDeviation => 0,
        }
    }

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
        AggSpec::Percentiles(spec) => plan_percentiles(spec, context)?,
        AggSpec::MedianDeviation {
            source,
            compression,
        } => plan_median_deviation(source, *compression, context)?,
        AggSpec::WeightedAvg { value, weight } => {
            let weight = values_of(weight, "weighted_avg")?;
            let values = values_of(value, "weighted_avg")?;
            (values, Op::WeightedAvg { weight })
        }
        AggSpec::Matrix { fields, mode } => plan_matrix(fields, *mode, context)?,
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

/// The plan of `matrix_stats`.
fn plan_matrix(
    fields: &[Source],
    mode: SortMode,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, Op), AggError> {
    if fields.len() > MATRIX_FIELDS_MAX {
        return Err(AggError::invalid(format!(
            "[matrix_stats] takes at most [{MATRIX_FIELDS_MAX}] fields, got [{}]",
            fields.len()
        )));
    }
    let fields = fields
        .iter()
        .map(|source| plan_values(source, "matrix_stats", context));
    let fields = fields.collect::<Result<_, _>>()?;
    Ok((ValuePlan::none(), Op::Matrix { fields, mode }))
}

/// The plan of `percentiles` and `percentile_ranks`.
///
/// # Errors
/// [`AggError`] when the field cannot serve.
fn plan_percentiles(
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
fn plan_median_deviation(
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
