//! Aggregations over the results of others.

use clew_query::aggregation::{
    CalendarUnit, DateInterval, Direction, Expression, GapPolicy, MovingFunction, PipelineKind,
    PipelineSpec, Sequence, Summary,
};
use serde_json::Value;

use super::body::Body;
use super::error::AggDslError;
use super::interval::{calendar, fixed_interval};
use super::metrics::PERCENTS;

/// The pipeline of a type, if it is one.
pub(super) fn parse(kind: &str, body: &mut Body<'_>) -> Result<Option<PipelineSpec>, AggDslError> {
    let kind = match kind {
        "avg_bucket" => PipelineKind::Summary(Summary::Avg),
        "max_bucket" => PipelineKind::Summary(Summary::Max),
        "min_bucket" => PipelineKind::Summary(Summary::Min),
        "sum_bucket" => PipelineKind::Summary(Summary::Sum),
        "stats_bucket" => PipelineKind::Summary(Summary::Stats),
        "extended_stats_bucket" => PipelineKind::Summary(Summary::ExtendedStats {
            sigma: body.number("sigma")?.unwrap_or(2.0),
        }),
        "percentiles_bucket" => PipelineKind::Summary(Summary::Percentiles {
            percents: body
                .numbers("percents")?
                .unwrap_or_else(|| PERCENTS.to_vec()),
            keyed: body.flag_or("keyed", true)?,
        }),
        "derivative" => PipelineKind::Sequence(Sequence::Derivative {
            unit_ms: body.text("unit")?.map(|text| unit_ms(&text)).transpose()?,
        }),
        "cumulative_sum" => PipelineKind::Sequence(Sequence::CumulativeSum),
        "serial_diff" => PipelineKind::Sequence(Sequence::SerialDiff {
            lag: positive(body, "lag")?.unwrap_or(1),
        }),
        "moving_fn" => moving_fn(body)?,
        "moving_avg" => moving_avg(body)?,
        "bucket_script" => PipelineKind::Script(expression(body)?),
        "bucket_selector" => PipelineKind::Selector(expression(body)?),
        "bucket_sort" => bucket_sort(body)?,
        _ => return Ok(None),
    };
    let paths = paths(body, &kind)?;
    Ok(Some(PipelineSpec {
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

fn moving_fn(body: &mut Body<'_>) -> Result<PipelineKind, AggDslError> {
    let window =
        positive(body, "window")?.ok_or_else(|| AggDslError::illegal("Required [window]"))?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a shift beyond all buckets leaves nothing, and the cast saturates"
    )]
    let shift = body.number("shift")?.unwrap_or(0.0) as i64;
    let script = script(body)?;
    let function = MovingFunction::parse(&script).ok_or_else(|| {
        AggDslError::illegal(format!(
            "the script [{script}] of [{}] is not a call of one of MovingFunctions",
            body.name
        ))
    })?;
    Ok(PipelineKind::Sequence(Sequence::MovingFn {
        window,
        shift,
        function,
    }))
}

/// The older moving average: the same windows, under the names of its models.
fn moving_avg(body: &mut Body<'_>) -> Result<PipelineKind, AggDslError> {
    let window = positive(body, "window")?.unwrap_or(5);
    let model = body.text("model")?;
    let mut alpha = 0.3;
    let mut beta = 0.1;
    if let Some(value) = body.take("settings") {
        let settings = value
            .as_object()
            .ok_or_else(|| body.wrong("settings", value))?;
        let mut part = Body::new("settings", body.name, settings);
        alpha = part.number("alpha")?.unwrap_or(alpha);
        beta = part.number("beta")?.unwrap_or(beta);
        part.end()?;
    }
    let function = match model.as_deref() {
        None | Some("simple") => MovingFunction::Mean,
        Some("linear") => MovingFunction::LinearMean,
        Some("ewma") => MovingFunction::Ewma { alpha },
        Some("holt") => MovingFunction::Holt { alpha, beta },
        Some(other) => {
            return Err(AggDslError::parsing(format!("Unknown model [{other}]")));
        }
    };
    Ok(PipelineKind::Sequence(Sequence::MovingFn {
        window,
        shift: 0,
        function,
    }))
}

fn script(body: &mut Body<'_>) -> Result<String, AggDslError> {
    match body.take("script") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Object(object)) => match object.get("source").or(object.get("inline")) {
            Some(Value::String(text)) => Ok(text.clone()),
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

fn expression(body: &mut Body<'_>) -> Result<Expression, AggDslError> {
    let text = script(body)?;
    Expression::parse(&text).map_err(|reason| {
        AggDslError::illegal(format!(
            "the script [{text}] of [{}] cannot be used: {reason}",
            body.name
        ))
    })
}

fn bucket_sort(body: &mut Body<'_>) -> Result<PipelineKind, AggDslError> {
    // It is written as the order of buckets and as a search's sort.
    let mut by = Vec::new();
    let list = match body.take("sort") {
        None => Vec::new(),
        Some(Value::Array(list)) => list.iter().collect(),
        Some(one) => vec![one],
    };
    for one in list {
        match one {
            Value::String(path) => {
                // As in searches, nothing said about it means ascending.
                by.push((path.clone(), Direction::Ascending));
            }
            Value::Object(object) => {
                for (path, settings) in object {
                    by.push((path.clone(), direction(path, settings)?));
                }
            }
            other => return Err(body.wrong("sort", other)),
        }
    }
    let from = body.count("from")?.unwrap_or(0);
    let size = positive(body, "size")?;
    if by.is_empty() && size.is_none() && from == 0 {
        return Err(AggDslError::illegal(format!(
            "[{}] is configured to perform nothing. Please set either of [sort, size, from] to \
             use bucket_sort",
            body.name
        )));
    }
    Ok(PipelineKind::Sort {
        by,
        from: usize::try_from(from).unwrap_or(usize::MAX),
        size,
    })
}

fn direction(path: &str, settings: &Value) -> Result<Direction, AggDslError> {
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

#[allow(
    clippy::cast_precision_loss,
    reason = "units of time are far shorter than 2^53 milliseconds"
)]
fn unit_ms(text: &str) -> Result<f64, AggDslError> {
    let day = 86_400_000.0;
    if let Some(unit) = calendar(text) {
        return Ok(match unit {
            CalendarUnit::Second => 1_000.0,
            CalendarUnit::Minute => 60_000.0,
            CalendarUnit::Hour => 3_600_000.0,
            CalendarUnit::Day => day,
            CalendarUnit::Week => 7.0 * day,
            CalendarUnit::Month => 2_629_746_000.0,
            CalendarUnit::Quarter => 7_889_238_000.0,
            CalendarUnit::Year => 31_556_952_000.0,
        });
    }
    match fixed_interval(text)? {
        DateInterval::Fixed { step_ms } => Ok(step_ms.get() as f64),
        DateInterval::Calendar(_) => Ok(day),
    }
}
