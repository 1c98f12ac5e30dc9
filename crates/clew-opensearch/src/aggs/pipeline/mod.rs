//! Aggregations over the results of others. A file has those that are much alike: their rows of the table and their readers.
//! What they have in common is read here; their results are written as those of metrics.

pub(super) mod bucket_script;
pub(super) mod bucket_sort;
pub(super) mod sequence;
pub(super) mod summary;

use std::collections::BTreeMap;

use clew_query::aggregation::{AggSpec, GapPolicy, PipelineKind, PipelineSpec};
use serde_json::Value;

use super::body::Body;
use super::error::AggDslError;
use super::table::Row;

/// The rows of all files; another file is another line here.
pub(super) const ROWS: &[&[Row]] = &[
    bucket_script::ROWS,
    bucket_sort::ROWS,
    sequence::ROWS,
    summary::ROWS,
];

/// A pipeline of a kind, whose own settings were read.
fn pipeline(body: &mut Body<'_>, kind: PipelineKind) -> Result<AggSpec, AggDslError> {
    let paths = paths(body, &kind)?;
    Ok(AggSpec::Pipeline(PipelineSpec {
        kind,
        paths,
        gaps: gap_policy(body)?,
        format: body.text("format")?,
    }))
}

fn paths(body: &mut Body<'_>, kind: &PipelineKind) -> Result<Vec<(String, String)>, AggDslError> {
    let value = body.take("buckets_path");
    let many = matches!(kind, PipelineKind::Script(_) | PipelineKind::Selector(_));
    let wrong = |value: &Value| body.wrong("buckets_path", value);
    let text = |value: &Value| {
        value
            .as_str()
            .map(str::to_string)
            .ok_or_else(|| wrong(value))
    };
    match value {
        None if matches!(kind, PipelineKind::Sort { .. }) => Ok(Vec::new()),
        None => Err(AggDslError::illegal(format!(
            "Missing required field [buckets_path] for aggregation [{}]",
            body.name
        ))),
        Some(Value::Object(object)) if many => object
            .iter()
            .map(|(name, value)| Ok((name.clone(), text(value)?)))
            .collect(),
        Some(Value::Array(list)) if many => (0..)
            .zip(list)
            .map(|(at, value): (usize, _)| Ok((format!("_value{at}"), text(value)?)))
            .collect(),
        Some(Value::Array(list)) => match &list[..] {
            [only] => Ok(vec![("_value".to_string(), text(only)?)]),
            _ => Err(AggDslError::illegal(format!(
                "buckets_path must contain a single entry for aggregation [{}]",
                body.name
            ))),
        },
        Some(one) => Ok(vec![("_value".to_string(), text(one)?)]),
    }
}

fn gap_policy(body: &mut Body<'_>) -> Result<GapPolicy, AggDslError> {
    Ok(match body.text("gap_policy")?.as_deref() {
        None | Some("skip") => GapPolicy::Skip,
        Some("insert_zeros") => GapPolicy::InsertZeros,
        Some("keep_values") => GapPolicy::KeepValues,
        Some(other) => {
            return Err(AggDslError::parsing(format!(
                "Invalid gap policy: [{other}], accepted values: [insert_zeros, skip, keep_values]"
            )));
        }
    })
}

fn positive(body: &mut Body<'_>, key: &str) -> Result<Option<usize>, AggDslError> {
    let Some(number) = body.number(key)? else {
        return Ok(None);
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is at least one, and a longer window than there are buckets is none"
    )]
    let whole = (number >= 1.0).then_some(number as usize);
    whole.map(Some).ok_or_else(|| {
        AggDslError::illegal(format!("[{key}] must be a positive, non-zero integer."))
    })
}

/// A script, and the numbers that it has by name.
struct Script {
    text: String,
    params: BTreeMap<String, f64>,
}

fn script(body: &mut Body<'_>) -> Result<Script, AggDslError> {
    match body.take("script") {
        Some(Value::String(text)) => Ok(Script {
            text: text.clone(),
            params: BTreeMap::new(),
        }),
        Some(Value::Object(object)) => match object.get("source").or(object.get("inline")) {
            Some(Value::String(text)) => Ok(Script {
                text: text.clone(),
                params: numbers(object.get("params")),
            }),
            _ => Err(AggDslError::illegal(
                "must specify either [source] for an inline script or [id] for a stored script",
            )),
        },
        Some(other) => Err(body.wrong("script", other)),
        None => Err(AggDslError::illegal(format!(
            "Missing required field [script] for aggregation [{}]",
            body.name
        ))),
    }
}

/// Those of a script's parameters that are numbers.
fn numbers(params: Option<&Value>) -> BTreeMap<String, f64> {
    let params = params.and_then(Value::as_object).into_iter().flatten();
    let numbers = params.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
    numbers.collect()
}
