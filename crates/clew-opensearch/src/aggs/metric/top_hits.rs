//! The `top_hits` aggregation: which documents, in which order. How they are shown is read by the
//! search around it, since it is said as for its own hits.

use clew_query::aggregation::{AggSpec, TopHitsSpec};
use serde_json::Map;

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::table::{NO_VALUES, Row};
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

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[Row::new("top_hits", NO_VALUES, read)];

/// Which documents are wanted; what is said of showing them is left to whoever does.
fn read(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (mut shown, mut sort) = (Map::new(), Vec::new());
    for key in SHOWN {
        if let Some(value) = body.take(key) {
            if key == "sort" {
                sort = dsl::parse_sort(value)?;
            }
            shown.insert(key.to_string(), value.clone());
        }
    }
    let spec = TopHitsSpec {
        from: count(body.count("from")?.unwrap_or(0)),
        size: count(body.count("size")?.unwrap_or(SIZE_DEFAULT)),
        sort,
        track_scores: body.flag("track_scores")?,
    };
    body.documents = Some(shown);
    Ok(AggSpec::TopHits(spec))
}
