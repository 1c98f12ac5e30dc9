//! One step of the order of buckets: what they are ordered by, and which way.

use clew_query::aggregation::{Direction, OrderBy, OrderKey};
use serde_json::Value;

use super::AggDslError;
use crate::http::place::Spot;

/// Reads an object of a direction by what it orders by; of several members the last one counts.
pub(super) fn one_order(value: &Value) -> Result<OrderBy, AggDslError> {
    let members = value.as_object().map(|object| object.iter());
    let Some((key, direction)) = members.and_then(|mut members| members.next_back()) else {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_of_several_members_counts() {
        let order = one_order(&json!({"_key": "asc", "s": "desc"})).unwrap();
        assert!(matches!(order.direction, Direction::Descending));
        assert!(matches!(order.key, OrderKey::Metric(path) if path == "s"));
        assert!(one_order(&json!({})).is_err());
    }
}
