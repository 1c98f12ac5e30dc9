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
    /// What is inside it, where it has one bucket in each of its parent's; `None` for all others.
    fn inside(&self) -> Option<Vec<&dyn Ordered>>;
    /// Whether it is computed of values, and makes no buckets.
    fn is_metric(&self) -> bool;
}

/// What each criterion compares.
///
/// # Errors
/// [`AggError::Execution`] when a path leads nowhere.
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

const WHERE_PATHS_LEAD: &str = "Buckets can only be sorted on a sub-aggregator path that is built \
                                out of zero or more single-bucket aggregations within the path and a \
                                final single-bucket or a metrics aggregation at the path end.";

/// Why an aggregation has no number that is called so.
fn no_number(of: &dyn Ordered, property: Option<&str>) -> String {
    let name = of.name();
    if of.inside().is_some() {
        return format!(
            "Ordering on a single-bucket aggregation can only be done on its doc_count. Either drop \
             the key (a la \"{name}\") or change it to \"doc_count\" (a la \"{name}.doc_count\") or \
             \"key\"."
        );
    }
    if of.property(None).is_some() {
        return format!(
            "Ordering on a single-value metrics aggregation can only be done on its value. Either \
             drop the key (a la \"{name}\") or change it to \"value\" (a la \"{name}.value\")"
        );
    }
    match property {
        _ if !of.is_metric() => WHERE_PATHS_LEAD.to_string(),
        None => {
            "When ordering on a multi-value metrics aggregation a metric name must be specified."
                .to_string()
        }
        Some(other) => {
            format!("Unknown metric name [{other}] on multi-value metrics aggregation [{name}]")
        }
    }
}

fn metric_path(path: &str, subs: &[&dyn Ordered]) -> Result<By, AggError> {
    let refused = |why: &str| {
        AggError::aggregation(format!("Invalid aggregation order path [{path}]. {why}"))
    };
    let unknown = |name: &str| {
        refused(&format!(
            "The provided aggregation [{name}] either does not exist, or is a pipeline aggregation \
             and cannot be used to sort the buckets."
        ))
    };
    // Nothing between two signs is no step.
    let steps: Vec<&str> = path.split('>').filter(|step| !step.is_empty()).collect();
    let (last, outer) = steps.split_last().ok_or_else(|| unknown(path))?;
    let last = *last;
    let mut way = Vec::new();
    let mut subs = subs.to_vec();
    for step in outer.iter().copied() {
        let at = subs.iter().position(|sub| sub.name() == step);
        let at = at.ok_or_else(|| unknown(step))?;
        let sub: &dyn Ordered = subs[at];
        subs = sub.inside().ok_or_else(|| {
            refused(&format!(
                "{WHERE_PATHS_LEAD} [{step}] is not single-bucket."
            ))
        })?;
        way.push(at);
    }
    // A name may itself contain dots, so the whole is tried first, then one with its property in
    // brackets, which may contain dots too.
    let whole = subs.iter().position(|sub| sub.name() == last);
    let bracketed = last.strip_suffix(']').and_then(|last| last.split_once('['));
    let (sub, property) = match (whole, bracketed.or(last.rsplit_once('.'))) {
        (Some(sub), _) => (sub, None),
        (None, Some((name, property))) => {
            let sub = subs.iter().position(|sub| sub.name() == name);
            (sub.ok_or_else(|| unknown(name))?, Some(property))
        }
        (None, None) => return Err(unknown(last)),
    };
    let property = subs[sub]
        .property(property)
        .ok_or_else(|| refused(&no_number(subs[sub], property)))?;
    way.push(sub);
    Ok(By::Metric { way, property })
}
