//! What memory is taken, as OpenSearch shows its circuit breakers and its indexing pressure, and their settings.

use clew_platform::{MemoryAccount, MemoryFigures, MemoryLimits, MemoryPurpose};
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::error_table::breaker_of;
use crate::http::setting_values::{parse_bytes, size_in_words};

/// The section `breakers` of a node's statistics.
pub(crate) fn breakers(account: &MemoryAccount) -> Value {
    let mut all = Map::new();
    for purpose in MemoryPurpose::ALL {
        let name = breaker_of(purpose).to_string();
        all.insert(name, breaker(account.figures(purpose)));
    }
    // Columns are read from mapped files: nothing is loaded that would have to be bounded.
    let none = MemoryFigures {
        limit: account.total().limit,
        ..MemoryFigures::default()
    };
    all.insert("fielddata".to_string(), breaker(none));
    all.insert("parent".to_string(), breaker(account.total()));
    Value::Object(all)
}

fn breaker(figures: MemoryFigures) -> Value {
    let words = |bytes: usize| size_in_words(bytes as u64, None);
    json!({
        "limit_size_in_bytes": figures.limit,
        "limit_size": words(figures.limit),
        "estimated_size_in_bytes": figures.used,
        "estimated_size": words(figures.used),
        "overhead": 1.0,
        "tripped": figures.refused,
    })
}

/// The section `indexing_pressure`. There is one node: what is coordinated is applied here.
pub(crate) fn indexing_pressure(account: &MemoryAccount) -> Value {
    let figures = account.figures(MemoryPurpose::Operations);
    let bytes = |bytes: u64| {
        json!({
            "combined_coordinating_and_primary_in_bytes": bytes, "coordinating_in_bytes": bytes,
            "primary_in_bytes": 0, "replica_in_bytes": 0, "all_in_bytes": bytes,
        })
    };
    let mut total = bytes(figures.granted_bytes);
    total["coordinating_rejections"] = json!(figures.refused);
    total["primary_rejections"] = json!(0);
    total["replica_rejections"] = json!(0);
    json!({"memory": {
        "current": bytes(figures.used as u64), "total": total, "limit_in_bytes": figures.limit,
    }})
}

/// The limits that cluster settings give, over those that the node began with; percentages are of so many bytes.
pub(crate) fn limits(
    defaults: MemoryLimits,
    memory_bytes: u64,
    given: impl Fn(&str) -> Option<String>,
) -> Result<MemoryLimits, ApiError> {
    let mut limits = defaults;
    for (name, limit) in named(&mut limits) {
        if let Some(text) = given(name) {
            *limit = size_of_text(name, &text, memory_bytes)?;
        }
    }
    Ok(limits)
}

/// The settings of limits, with those that the node began with.
pub(crate) fn shown_defaults(mut defaults: MemoryLimits) -> Vec<(&'static str, String)> {
    let named = named(&mut defaults).into_iter();
    named
        .map(|(name, bytes)| (name, format!("{bytes}b")))
        .collect()
}

/// The limits that settings can change, by the names of these.
fn named(limits: &mut MemoryLimits) -> [(&'static str, &mut usize); 4] {
    [
        ("indices.breaker.total.limit", &mut limits.total),
        (
            "network.breaker.inflight_requests.limit",
            &mut limits.bodies,
        ),
        ("indices.breaker.request.limit", &mut limits.searches),
        ("indexing_pressure.memory.limit", &mut limits.operations),
    ]
}

fn size_of_text(name: &str, text: &str, memory_bytes: u64) -> Result<usize, ApiError> {
    let refused = || {
        ApiError::illegal_argument(format!(
            "failed to parse setting [{name}] with value [{text}] as a size in bytes: unit is missing or unrecognized"
        ))
    };
    let bytes = match text.trim().strip_suffix('%') {
        Some(percent) => {
            let percent: u64 = percent.parse().map_err(|_| refused())?;
            memory_bytes / 100 * percent.min(100)
        }
        None => parse_bytes(name, text).map_err(|_| refused())?,
    };
    usize::try_from(bytes).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_shares_and_as_sizes() {
        let read = |name: &'static str, value: &'static str| {
            let given = move |asked: &str| (asked == name).then(|| value.to_string());
            limits(MemoryLimits::shares_of(1000), 1000, given)
        };
        let total = |value| read("indices.breaker.total.limit", value).map(|limits| limits.total);
        assert_eq!(total("50%").unwrap(), 500);
        assert_eq!(total("2kb").unwrap(), 2048);
        assert_eq!(total("7b").unwrap(), 7);
        for wrong in ["", "7", "x%", "-1b", "99999999tb"] {
            let reason = total(wrong).unwrap_err().reason();
            assert!(reason.contains("[indices.breaker.total.limit]"), "{reason}");
        }
        let other = read("indices.breaker.request.limit", "1b").unwrap();
        assert_eq!((other.searches, other.total), (1, 700));
    }
}
