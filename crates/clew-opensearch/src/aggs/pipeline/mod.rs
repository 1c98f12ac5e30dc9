//! Aggregations over the results of others. A file has those that are much alike: their rows of the table and their readers.
//! What they have in common is read here; their results are written as those of metrics.

pub(super) mod bucket_script;
pub(super) mod bucket_sort;
mod model_settings;
pub(super) mod sequence;
pub(super) mod summary;

use clew_query::aggregation::{AggSpec, GapPolicy, PipelineKind, PipelineSpec, Sequence};
use serde_json::Value;

use super::AggDslError;
use super::body::Body;
use super::table::Row;
use crate::dsl::WrittenScript;

/// The rows of all files; another file is another line here.
pub(super) const ROWS: &[&[Row]] = &[
    bucket_script::ROWS,
    bucket_sort::ROWS,
    sequence::ROWS,
    summary::ROWS,
];

/// A pipeline of a kind, whose own settings were read; it has one path.
fn pipeline(body: &mut Body<'_>, kind: PipelineKind) -> Result<AggSpec, AggDslError> {
    let paths = match body.take("buckets_path") {
        None => {
            missing(body, "buckets_path");
            Vec::new()
        }
        Some(list @ Value::Array(_)) if body.kind == "moving_fn" => {
            return Err(body.wrong("buckets_path", list));
        }
        // Of several the first one counts, but for sums.
        Some(Value::Array(list)) => match &list[..] {
            [first, rest @ ..] if rest.is_empty() || body.kind != "cumulative_sum" => {
                vec![("_value".to_string(), path(body, first)?)]
            }
            // They are refused once it is known whether there is what they lead to.
            [_, ..] => list
                .iter()
                .map(|value| Ok(("_value".to_string(), path(body, value)?)))
                .collect::<Result<_, AggDslError>>()?,
            [] => {
                return Err(AggDslError::illegal(format!(
                    "buckets_path must contain a single entry for aggregation [{}]",
                    body.name
                )));
            }
        },
        Some(one) => vec![("_value".to_string(), path(body, one)?)],
    };
    made(body, kind, paths)
}

/// A pipeline whose paths were read, too.
fn made(
    body: &mut Body<'_>,
    kind: PipelineKind,
    paths: Vec<(String, String)>,
) -> Result<AggSpec, AggDslError> {
    let gaps = match kind {
        // There are none in a sum of all so far.
        PipelineKind::Sequence(Sequence::CumulativeSum) => GapPolicy::Skip,
        _ => gap_policy(body)?,
    };
    let format = match kind {
        // They show no number.
        PipelineKind::Selector(_) | PipelineKind::Sort { .. } => None,
        PipelineKind::Summary(_) | PipelineKind::Sequence(_) | PipelineKind::Script(_) => {
            body.only_text("format")?
        }
    };
    Ok(AggSpec::Pipeline(PipelineSpec {
        kind,
        paths,
        gaps,
        format,
    }))
}

/// Paths by the names that a script has for what they lead to.
fn named_paths(body: &mut Body<'_>) -> Result<Vec<(String, String)>, AggDslError> {
    match body.take("buckets_path") {
        None => {
            missing(body, "buckets_path");
            Ok(Vec::new())
        }
        Some(Value::Object(object)) => object
            .iter()
            .map(|(name, value)| {
                let path = match value {
                    // Numbers and truths are names, too.
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    other => path(body, other)?,
                };
                Ok((name.clone(), path))
            })
            .collect(),
        Some(Value::Array(list)) => (0..)
            .zip(list)
            .map(|(at, value): (usize, _)| Ok((format!("_value{at}"), path(body, value)?)))
            .collect(),
        Some(one) => Ok(vec![("_value".to_string(), path(body, one)?)]),
    }
}

fn path(body: &Body<'_>, value: &Value) -> Result<String, AggDslError> {
    let text = value.as_str().map(str::to_string);
    text.ok_or_else(|| body.wrong("buckets_path", value))
}

/// Tells the older readers' requests of what they lack; what must be there of the others was asked for before.
fn missing(body: &mut Body<'_>, setting: &str) {
    let of_kind = match body.kind {
        // The older readers have names of their own for what they read.
        "derivative" | "serial_diff" => "derivative ",
        "moving_avg" => "movingAvg ",
        "bucket_selector" => "bucket_selector ",
        _ => "",
    };
    let reason = format!(
        "Missing required field [{setting}] for {of_kind}aggregation [{}]",
        body.name
    );
    body.late(AggDslError::parsing(reason));
}

fn gap_policy(body: &mut Body<'_>) -> Result<GapPolicy, AggDslError> {
    Ok(match body.only_text("gap_policy")?.as_deref() {
        None | Some("skip") => GapPolicy::Skip,
        Some("insert_zeros") => GapPolicy::InsertZeros,
        Some(other) => {
            let reason =
                format!("Invalid gap policy: [{other}], accepted values: [insert_zeros, skip]");
            let error = body.in_field("gap_policy", AggDslError::parsing(reason));
            return Err(error);
        }
    })
}

fn positive(body: &mut Body<'_>, key: &'static str) -> Result<Option<usize>, AggDslError> {
    positive_or(body, key, |_| {
        AggDslError::illegal(format!("[{key}] must be a positive, non-zero integer."))
    })
}

/// The same where an older reader tells the number that is none of those in words of its own.
fn positive_told(
    body: &mut Body<'_>,
    key: &'static str,
    words: impl FnOnce(i64) -> String,
) -> Result<Option<usize>, AggDslError> {
    positive_or(body, key, |number| AggDslError::parsing(words(number)))
}

fn positive_or(
    body: &mut Body<'_>,
    key: &'static str,
    refusal: impl FnOnce(i64) -> AggDslError,
) -> Result<Option<usize>, AggDslError> {
    match body.whole(key)? {
        None => Ok(None),
        // More buckets than there are is none.
        Some(number @ 1..) => Ok(Some(usize::try_from(number).unwrap_or(usize::MAX))),
        Some(number) => Err(body.in_field(key, refusal(number))),
    }
}

/// The script of a pipeline of a kind, as it is written.
fn script(body: &mut Body<'_>, kind: &'static str) -> Result<WrittenScript, AggDslError> {
    match body.take("script") {
        Some(script @ (Value::Object(_) | Value::String(_))) => WrittenScript::of(kind, script),
        Some(other) => Err(body.wrong("script", other)),
        None => {
            missing(body, "script");
            // It stands in until that is told.
            WrittenScript::of(kind, &Value::from("0"))
        }
    }
}
