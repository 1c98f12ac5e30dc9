//! The `top_hits` aggregation: which documents, in which order. How they are shown is read by the
//! search around it, since it is said as for its own hits.

use clew_query::aggregation::TopHitsSpec;
use serde_json::{Map, Value};

use super::body::Body;
use super::error::AggDslError;
use crate::dsl;

const SIZE_DEFAULT: u64 = 3;

/// What says how documents are shown.
const SHOWN: [&str; 10] = [
    "_source",
    "fields",
    "docvalue_fields",
    "stored_fields",
    "version",
    "seq_no_primary_term",
    "highlight",
    "explain",
    "script_fields",
    "sort",
];

/// Which documents are wanted, and what is said of showing them.
pub(super) fn top_hits(
    body: &mut Body<'_>,
) -> Result<(TopHitsSpec, Map<String, Value>), AggDslError> {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let mut shown = Map::new();
    for key in SHOWN {
        if let Some(value) = body.take(key) {
            shown.insert(key.to_string(), value.clone());
        }
    }
    let sort = match shown.get("sort") {
        Some(sort) => dsl::parse_sort(sort).map_err(|error| AggDslError::illegal(error.reason))?,
        None => Vec::new(),
    };
    let spec = TopHitsSpec {
        from: count(body.count("from")?.unwrap_or(0)),
        size: count(body.count("size")?.unwrap_or(SIZE_DEFAULT)),
        sort,
        track_scores: body.flag("track_scores")?,
    };
    Ok((spec, shown))
}
