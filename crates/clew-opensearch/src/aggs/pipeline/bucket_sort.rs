//! `bucket_sort`: sorts and cuts the buckets around it.

use clew_query::aggregation::{AggSpec, Direction, PipelineKind};
use serde_json::Value;

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::pipeline::{made, positive};
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
                    let direction = direction(path, settings);
                    let direction = direction.map_err(|error| body.in_field("sort", error))?;
                    by.push((path.clone(), direction));
                }
            }
            other => return Err(body.wrong("sort", other)),
        }
    }
    let from = body.count("from")?.unwrap_or(0);
    let size = positive(body, "size")?;
    let kind = PipelineKind::Sort {
        by,
        from: usize::try_from(from).unwrap_or(usize::MAX),
        size,
    };
    made(body, kind, Vec::new())
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

fn direction(path: &str, settings: &Value) -> Result<Direction, AggDslError> {
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
        Some(other) => Err(AggDslError::parsing(format!(
            "Unknown order [{other}] of [{path}]"
        ))),
    }
}
