//! Orders by a metric: the path in the request, resolved to a sub-aggregation and a number of it.

use clew_query::AggError;
use clew_query::aggregation::{Direction, OrderBy, OrderKey};

use crate::order::{By, PlannedOrder, Property};

/// An aggregation that others can be ordered by.
pub(crate) trait Ordered {
    /// What it is called in the request.
    fn name(&self) -> &str;
    /// The number of it that is called so; its only one where no name is given.
    fn property(&self, name: Option<&str>) -> Option<Property>;
}

/// What each criterion compares.
///
/// # Errors
/// [`AggError::Invalid`] when a path leads nowhere.
pub(crate) fn plan_order(
    order: &[OrderBy],
    subs: &[&dyn Ordered],
) -> Result<Vec<PlannedOrder>, AggError> {
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

fn metric_path(path: &str, subs: &[&dyn Ordered]) -> Result<By, AggError> {
    let unknown = |name: &str| {
        AggError::invalid(format!(
            "Invalid aggregation order path [{path}]. The provided aggregation [{name}] either \
             does not exist, or is a pipeline aggregation and cannot be used to sort the buckets."
        ))
    };
    // A name may itself contain dots, so the whole path is tried first, then one with its property
    // in brackets, which may contain dots too.
    let whole = subs.iter().position(|sub| sub.name() == path);
    let bracketed = path.strip_suffix(']').and_then(|path| path.split_once('['));
    let (sub, property) = match (whole, bracketed.or(path.rsplit_once('.'))) {
        (Some(sub), _) => (sub, None),
        (None, Some((name, property))) => {
            let sub = subs.iter().position(|sub| sub.name() == name);
            (sub.ok_or_else(|| unknown(name))?, Some(property))
        }
        (None, None) => return Err(unknown(path)),
    };
    let property = subs[sub].property(property).ok_or_else(|| {
        AggError::invalid(format!(
            "Invalid aggregation order path [{path}]. Missing value key in [{path}] or [{}] has no \
             number by that name",
            subs[sub].name()
        ))
    })?;
    Ok(By::Metric { sub, property })
}
