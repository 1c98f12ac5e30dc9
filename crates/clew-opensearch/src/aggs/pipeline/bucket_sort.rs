//! `bucket_sort`: sorts and cuts the buckets around it.

use clew_query::aggregation::{AggSpec, Direction, PipelineKind};
use serde_json::Value;

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::pipeline::made;
use crate::aggs::table::{NOT_LISTED, Row};
use crate::http::place::Spot;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[Row::new("bucket_sort", NOT_LISTED, read)];

fn read(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    // It is written as the order of buckets and as a search's sort.
    let mut by = Vec::new();
    let list = match body.take("sort") {
        None => Vec::new(),
        Some(Value::Array(list)) => list.iter().collect(),
        Some(one @ Value::Object(_)) => vec![one],
        Some(other) => return Err(body.wrong("sort", other)),
    };
    for one in list {
        match one {
            Value::String(path) => {
                // As in searches, nothing said about it means ascending.
                by.push((path.clone(), Direction::Ascending));
            }
            Value::Object(object) => {
                for (path, settings) in object {
                    let direction = direction(settings);
                    let direction = direction.map_err(|error| body.in_field("sort", error))?;
                    by.push((path.clone(), direction));
                }
            }
            other => return Err(body.wrong("sort", other)),
        }
    }
    let from = whole(body, "from", (0, "non-negative"))?.unwrap_or(0);
    let size = whole(body, "size", (1, "positive"))?;
    made(body, PipelineKind::Sort { by, from, size }, Vec::new())
}

/// A whole number, which OpenSearch holds against its least value once it has read all settings.
fn whole(
    body: &mut Body<'_>,
    key: &'static str,
    (least, words): (i64, &str),
) -> Result<Option<usize>, AggDslError> {
    let Some(whole) = body.whole(key)? else {
        return Ok(None);
    };
    if whole >= least {
        return Ok(Some(usize::try_from(whole).unwrap_or(usize::MAX)));
    }
    let reason = format!("[{key}] must be a {words} integer: [{whole}]");
    let error = body.in_field(key, AggDslError::illegal(reason));
    let reason = "failed to build [bucket_sort] after last required field arrived";
    Err(AggDslError {
        spot: error.spot,
        within: Some(Box::new(error)),
        ..AggDslError::content(reason)
    })
}

/// What the order of a field may say; only its direction means something to buckets.
const SETTINGS: [&str; 8] = [
    "order",
    "missing",
    "mode",
    "nested",
    "nested_path",
    "nested_filter",
    "unmapped_type",
    "numeric_type",
];

fn direction(settings: &Value) -> Result<Direction, AggDslError> {
    let mut names = settings.as_object().into_iter().flatten();
    if let Some((name, value)) = names.find(|(name, _)| !SETTINGS.contains(&name.as_str())) {
        let reason = format!("[field_sort] unknown field [{name}]");
        return Err(AggDslError::content(reason).at(Spot::name_of(value)));
    }
    let text = settings
        .as_str()
        .or_else(|| settings.get("order")?.as_str());
    match text.map(str::to_ascii_lowercase).as_deref() {
        None | Some("asc") => Ok(Direction::Ascending),
        Some("desc") => Ok(Direction::Descending),
        Some(other) => {
            let constant = other.to_ascii_uppercase();
            let reason =
                format!("No enum constant org.opensearch.search.sort.SortOrder.{constant}");
            let value = settings.get("order").unwrap_or(settings);
            let error = AggDslError::illegal(reason).at(Spot::start_of(value));
            Err(error.in_field("field_sort", "order"))
        }
    }
}
