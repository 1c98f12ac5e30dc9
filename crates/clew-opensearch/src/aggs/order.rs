//! One step of the order of buckets: what they are ordered by, and which way.

use clew_query::aggregation::{Direction, OrderBy, OrderKey};
use serde_json::Value;

use super::AggDslError;
use crate::http::place::Spot;

/// Reads an object of one member, which is the direction by what it orders by.
pub(super) fn one_order(value: &Value) -> Result<OrderBy, AggDslError> {
    let only = value
        .as_object()
        .filter(|object| object.len() == 1)
        .and_then(|object| object.iter().next());
    let Some((key, direction)) = only else {
        return Err(AggDslError::parsing(
            "Must specify at least one field for [order]",
        ));
    };
    let direction = match direction.as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("asc") => Direction::Ascending,
        Some("desc") => Direction::Descending,
        _ => {
            let reason = format!(
                "Unknown order direction [{}]",
                direction.as_str().unwrap_or("?")
            );
            return Err(AggDslError::parsing(reason).at(Spot::start_of(direction)));
        }
    };
    let key = match key.as_str() {
        "_count" => OrderKey::Count,
        "_key" | "_term" | "_time" => OrderKey::Key,
        path => OrderKey::Metric(path.to_string()),
    };
    Ok(OrderBy { key, direction })
}
