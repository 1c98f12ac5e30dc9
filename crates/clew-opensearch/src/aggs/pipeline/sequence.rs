//! What a bucket's place among the others makes of it: differences, running sums, moving windows.

use clew_aggregation::Metric;
use clew_query::aggregation::{
    AggSpec, CalendarUnit, DateInterval, MovingAverage, PipelineKind, Sequence,
};
use clew_query::{MovingModel, ScriptPurpose};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::interval::{calendar, fixed_interval};
use crate::aggs::pipeline::model_settings::{check_seasons, read_model};
use crate::aggs::pipeline::{pipeline, positive, positive_told, script};
use crate::aggs::render::TypeName;
use crate::aggs::shown::metric_body;
use crate::aggs::table::{NOT_LISTED, Row};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("derivative", NOT_LISTED, derivative),
    Row::new("cumulative_sum", NOT_LISTED, |body| {
        body.require(&["buckets_path"]);
        read(body, Sequence::CumulativeSum)
    }),
    Row::new("serial_diff", NOT_LISTED, serial_diff),
    Row::new("moving_fn", NOT_LISTED, moving_fn),
    Row::new("moving_avg", NOT_LISTED, moving_avg),
];

fn read(body: &mut Body<'_>, sequence: Sequence) -> Result<AggSpec, AggDslError> {
    pipeline(body, PipelineKind::Sequence(sequence))
}

fn derivative(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let unit_ms = body.only_text("unit")?;
    let unit_ms = unit_ms.map(|text| self::unit_ms(&text)).transpose()?;
    read(body, Sequence::Derivative { unit_ms })
}

fn serial_diff(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let name = body.name;
    let words = |lag: i64| {
        format!(
            "Lag must be a positive, non-zero integer.  Value supplied was{lag} in [{name}]: [lag]."
        )
    };
    let lag = positive_told(body, "lag", words)?.unwrap_or(1);
    read(body, Sequence::SerialDiff { lag })
}

fn moving_fn(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    body.require(&["buckets_path", "script", "window"]);
    let window = positive(body, "window")?.unwrap_or(1);
    let shift = body.whole("shift")?.unwrap_or(0);
    let script = script(body, "moving_fn")?.read_when_reducing(ScriptPurpose::Window)?;
    let sequence = Sequence::MovingFn {
        window,
        shift,
        script: Box::new(script),
    };
    read(body, sequence)
}

/// The older moving average: a model of the buckets before.
fn moving_avg(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let name = body.name;
    let no_window = |_: i64| {
        // OpenSearch tells another number in its place.
        format!(
            "[window] value must be a positive, non-zero integer.  Value supplied was [null] in \
             [{name}]."
        )
    };
    let window = positive_told(body, "window", no_window)?.unwrap_or(5);
    let model = body.only_text("model")?;
    let minimize = match body.take("minimize") {
        None => None,
        Some(Value::Bool(minimize)) => Some(*minimize),
        Some(other) => return Err(body.wrong("minimize", other)),
    };
    let none_ahead = |predict: i64| {
        format!(
            "[predict] value must be a positive integer.  Value supplied was [{predict}] in \
             [{name}]."
        )
    };
    let predicted = positive_told(body, "predict", none_ahead)?.unwrap_or(0);
    let model = read_model(body, model.as_deref().unwrap_or("simple"))?;
    check_seasons(&model, window)?;
    let average = MovingAverage {
        window,
        // Seasons are looked for unless that is not wanted.
        is_fitted: minimize.unwrap_or(matches!(model, MovingModel::Seasonal(_))),
        model,
        predicted,
    };
    read(body, Sequence::MovingAvg(average))
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

/// Writes a difference, and says its type.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    metric: &Metric,
    normalized: Option<&Metric>,
) -> TypeName {
    metric_body(body, metric);
    if let Some(normalized) = normalized {
        body.insert("normalized_value".to_string(), json!(normalized.value));
        let text = normalized
            .value
            .and_then(|value| normalized.format.text_of_number(value));
        if let Some(text) = text {
            body.insert("normalized_value_as_string".to_string(), json!(text));
        }
    }
    "derivative"
}
