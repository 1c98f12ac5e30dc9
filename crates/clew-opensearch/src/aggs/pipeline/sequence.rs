//! What a bucket's place among the others makes of it: differences, running sums, moving windows.

use clew_aggregation::Metric;
use clew_query::ScriptPurpose;
use clew_query::aggregation::{
    AggSpec, CalendarUnit, DateInterval, OfNone, PipelineKind, Sequence,
};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::interval::{calendar, fixed_interval};
use crate::aggs::pipeline::{pipeline, positive, script};
use crate::aggs::render::TypeName;
use crate::aggs::shown::metric_body;
use crate::aggs::table::{NOT_LISTED, Row};
use crate::dsl::WrittenScript;

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
    let lag = positive(body, "lag")?.unwrap_or(1);
    read(body, Sequence::SerialDiff { lag })
}

fn moving_fn(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    body.require(&["buckets_path", "script", "window"]);
    let window = positive(body, "window")?.unwrap_or(1);
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a shift beyond all buckets leaves nothing, and the cast saturates"
    )]
    let shift = body.number("shift")?.unwrap_or(0.0) as i64;
    let script = script(body, "moving_fn")?.read(ScriptPurpose::Window)?;
    let sequence = Sequence::MovingFn {
        window,
        shift,
        script: Box::new(script),
        of_none: OfNone::Number,
    };
    read(body, sequence)
}

/// The older moving average: the same windows, under the names of its models.
fn moving_avg(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let window = positive(body, "window")?.unwrap_or(5);
    let model = body.only_text("model")?;
    if body.flag("minimize")? {
        return Err(AggDslError::illegal(
            "[minimize] is not supported: the [settings] of a model are used as they are given",
        ));
    }
    let settings = ModelSettings::read(body)?;
    let mut of_none = OfNone::Nothing;
    let source = match model.as_deref() {
        None | Some("simple") => "MovingFunctions.unweightedAvg(values)",
        Some("linear") => "MovingFunctions.linearWeightedAvg(values)",
        Some("ewma") => "MovingFunctions.ewma(values, params.alpha)",
        Some("holt") => "MovingFunctions.holt(values, params.alpha, params.beta)",
        Some("holt_winters") => {
            of_none = OfNone::Fewer(settings.two_seasons(window)?);
            "MovingFunctions.holtWinters(values, params.alpha, params.beta, params.gamma, \
             params.period, params.multiplies)"
        }
        Some(other) => {
            return Err(AggDslError::parsing(format!(
                "no [moving_avg_model] registered for [{other}]"
            )));
        }
    };
    let written = json!({"source": source, "params": settings.params()});
    let script = WrittenScript::of("moving_avg", &written)?.read(ScriptPurpose::Window)?;
    let sequence = Sequence::MovingFn {
        window,
        shift: 0,
        script: Box::new(script),
        of_none,
    };
    read(body, sequence)
}

/// The settings of the models of `moving_avg`.
struct ModelSettings {
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// The buckets of a season.
    period: usize,
    /// Whether seasons multiply what lies below them, or are added to it.
    multiplies: bool,
}

impl ModelSettings {
    fn read(body: &mut Body<'_>) -> Result<Self, AggDslError> {
        let mut read = ModelSettings {
            alpha: 0.3,
            beta: 0.1,
            gamma: 0.3,
            period: 1,
            multiplies: false,
        };
        let Some(value) = body.take("settings") else {
            return Ok(read);
        };
        body.part(("settings", "settings"), value, |part| {
            read.alpha = part.number("alpha")?.unwrap_or(read.alpha);
            read.beta = part.number("beta")?.unwrap_or(read.beta);
            read.gamma = part.number("gamma")?.unwrap_or(read.gamma);
            read.period = positive(part, "period")?.unwrap_or(read.period);
            read.multiplies = match part.text("type")?.as_deref() {
                None | Some("add") => false,
                Some("mult") => true,
                Some(other) => {
                    return Err(AggDslError::parsing(format!(
                        "failed to parse seasonality type [{other}]. accepted values are [[add, mult]]"
                    )));
                }
            };
            // Numbers are kept off zero wherever seasons multiply.
            part.flag("pad")?;
            Ok(())
        })?;
        Ok(read)
    }

    /// How many buckets two seasons are, which a window must have.
    fn two_seasons(&self, window: usize) -> Result<usize, AggDslError> {
        let needed = self.period.saturating_mul(2);
        if window < needed {
            return Err(AggDslError::illegal(format!(
                "Field [window] must be at least twice as large as the period when using \
                 Holt-Winters.  Value provided was [{window}], which is less than (2*period) == \
                 {needed}"
            )));
        }
        Ok(needed)
    }

    fn params(&self) -> Value {
        json!({
            "alpha": self.alpha, "beta": self.beta, "gamma": self.gamma,
            "period": self.period, "multiplies": self.multiplies,
        })
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
