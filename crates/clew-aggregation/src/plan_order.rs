//! Orders by a metric: the path in the request, resolved to a sub-aggregation and a number of it.

use clew_query::AggError;

use super::plan::{By, MomentKind, Op, Plan, PlannedOrder, Property};
use clew_query::aggregation::FilterShape;
use clew_query::aggregation::{Direction, OrderBy, OrderKey};

/// What each criterion compares.
///
/// # Errors
/// [`AggError::Invalid`] when a path leads nowhere.
pub(crate) fn plan_order(order: &[OrderBy], subs: &[Plan]) -> Result<Vec<PlannedOrder>, AggError> {
    order
        .iter()
        .map(|one| {
            let by = match &one.key {
                OrderKey::Count => By::Count,
                OrderKey::Key => By::Key,
                OrderKey::Metric(path) => metric_path(path, subs)?,
            };
            Ok(PlannedOrder {
                by,
                direction: one.direction,
            })
        })
        .collect()
}

/// An order, or most documents first where none is given.
pub(crate) fn order_or_count(mut order: Vec<PlannedOrder>) -> Vec<PlannedOrder> {
    if order.is_empty() {
        order.push(PlannedOrder {
            by: By::Count,
            direction: Direction::Descending,
        });
    }
    order
}

fn metric_path(path: &str, subs: &[Plan]) -> Result<By, AggError> {
    let unknown = |name: &str| {
        AggError::invalid(format!(
            "Invalid aggregation order path [{path}]. The provided aggregation [{name}] either \
             does not exist, or is a pipeline aggregation and cannot be used to sort the buckets."
        ))
    };
    // A name may itself contain dots, so the whole path is tried first, then one with its property
    // in brackets, which may contain dots too.
    let whole = subs.iter().position(|sub| sub.name == path);
    let bracketed = path.strip_suffix(']').and_then(|path| path.split_once('['));
    let (sub, property) = match (whole, bracketed.or(path.rsplit_once('.'))) {
        (Some(sub), _) => (sub, None),
        (None, Some((name, property))) => {
            let sub = subs.iter().position(|sub| sub.name == name);
            (sub.ok_or_else(|| unknown(name))?, Some(property))
        }
        (None, None) => return Err(unknown(path)),
    };
    let property = property_of(&subs[sub].op, property).ok_or_else(|| {
        AggError::invalid(format!(
            "Invalid aggregation order path [{path}]. Missing value key in [{path}] or [{}] has no \
             number by that name",
            subs[sub].name
        ))
    })?;
    Ok(By::Metric { sub, property })
}

fn property_of(op: &Op, property: Option<&str>) -> Option<Property> {
    match op {
        Op::TopHits(_)
        | Op::Terms(_)
        | Op::DateHistogram(_)
        | Op::Histogram(_)
        | Op::Range(_)
        | Op::Composite(_)
        | Op::AutoDate(_)
        | Op::Clusters { .. }
        | Op::Grid { .. }
        | Op::GeoBounds { .. }
        | Op::GeoCentroid
        | Op::Matrix { .. }
        | Op::MultiTerms { .. } => None,
        Op::Filters(filters) if filters.shape != FilterShape::Single => None,
        Op::Quantiles(plan) => plan.property(property),
        Op::WeightedAvg { .. } => {
            matches!(property, None | Some("value")).then_some(Property::Value)
        }
        Op::Missing
        | Op::Join(_)
        | Op::Relatives(_)
        | Op::Global
        | Op::Sample(_)
        | Op::Filters(_) => {
            matches!(property, None | Some("_count" | "doc_count")).then_some(Property::Count)
        }
        Op::Moments(MomentKind::Stats) | Op::Extended { .. } => {
            let extended = matches!(op, Op::Extended { .. });
            Some(match property? {
                "count" => Property::Count,
                "min" => Property::Min,
                "max" => Property::Max,
                "avg" => Property::Avg,
                "sum" => Property::Sum,
                "sum_of_squares" if extended => Property::SumOfSquares,
                "variance" | "variance_population" if extended => Property::Variance,
                "variance_sampling" if extended => Property::VarianceSampling,
                "std_deviation" | "std_deviation_population" if extended => Property::Deviation,
                "std_deviation_sampling" if extended => Property::DeviationSampling,
                _ => return None,
            })
        }
        Op::Moments(kind) => matches!(property, None | Some("value")).then_some(match kind {
            MomentKind::Min => Property::Min,
            MomentKind::Max => Property::Max,
            MomentKind::Avg => Property::Avg,
            MomentKind::Sum | MomentKind::Stats => Property::Sum,
        }),
        Op::ValueCount | Op::Cardinality { .. } => {
            matches!(property, None | Some("value")).then_some(Property::Count)
        }
    }
}
