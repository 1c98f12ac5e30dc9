//! Intervals of time: `calendar_interval`, `fixed_interval` and the older `interval`, which may be
//! either.

use std::num::NonZeroI64;

use clew_query::aggregation::{CalendarUnit, DateInterval};

use serde_json::Value;

use super::AggDslError;
use super::body::Body;

/// A calendar unit, by name or as one of it.
pub(super) fn calendar(text: &str) -> Option<CalendarUnit> {
    Some(match text {
        "1s" | "second" => CalendarUnit::Second,
        "1m" | "minute" => CalendarUnit::Minute,
        "1h" | "hour" => CalendarUnit::Hour,
        "1d" | "day" => CalendarUnit::Day,
        "1w" | "week" => CalendarUnit::Week,
        "1M" | "month" => CalendarUnit::Month,
        "1q" | "quarter" => CalendarUnit::Quarter,
        "1y" | "year" => CalendarUnit::Year,
        _ => return None,
    })
}

/// `calendar_interval`.
pub(super) fn calendar_interval(text: &str) -> Result<DateInterval, AggDslError> {
    calendar(text).map(DateInterval::Calendar).ok_or_else(|| {
        AggDslError::illegal(format!(
            "The supplied interval [{text}] could not be parsed as a calendar interval."
        ))
    })
}

/// `fixed_interval`.
pub(super) fn fixed_interval(text: &str) -> Result<DateInterval, AggDslError> {
    let step_ms = time_value_ms(text, "date_histogram.fixedInterval")?;
    match NonZeroI64::new(step_ms) {
        Some(step_ms) if step_ms.get() > 0 => Ok(DateInterval::Fixed { step_ms }),
        _ => Err(AggDslError::illegal(
            "Zero or negative time interval not supported",
        )),
    }
}

/// The older `interval`: a calendar unit if it is one.
pub(super) fn legacy_interval(text: &str) -> Result<DateInterval, AggDslError> {
    match calendar(text) {
        Some(unit) => Ok(DateInterval::Calendar(unit)),
        None => fixed_interval(text),
    }
}

/// A time with its unit (`30s`, `1.5h`), in milliseconds.
pub(super) fn time_value_ms(text: &str, setting: &str) -> Result<i64, AggDslError> {
    let trimmed = text.trim().to_ascii_lowercase();
    let digits = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    // Months have no fixed length; a capital M is not a minute.
    let unit_ms = match unit {
        "ms" => 1_i64,
        "s" => 1_000,
        "m" if !text.trim().ends_with('M') => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "micros" | "nanos" => 0,
        _ => {
            return Err(AggDslError::illegal(format!(
                "failed to parse setting [{setting}] with value [{text}] as a time value: unit is \
                 missing or unrecognized"
            )));
        }
    };
    let failed = || {
        AggDslError::illegal(format!(
            "failed to parse setting [{setting}] with value [{text}] as a time value"
        ))
    };
    number
        .parse::<i64>()
        .ok()
        .and_then(|number| number.checked_mul(unit_ms))
        .ok_or_else(failed)
}

/// What OpenSearch calls the offset where it is refused.
const OFFSET: &str = "DateHistogramAggregationBuilder.parseOffset";

/// `offset`: a time with an optional sign.
pub(super) fn offset_ms(text: &str) -> Result<i64, AggDslError> {
    match text.strip_prefix('+') {
        Some(rest) => time_value_ms(rest, OFFSET),
        None => time_value_ms(text, OFFSET),
    }
}

/// The interval of a histogram of time, under whichever of its names.
pub(super) fn date_interval(body: &mut Body<'_>) -> Result<DateInterval, AggDslError> {
    let calendar = body.only_text("calendar_interval")?;
    let fixed = body.only_text("fixed_interval")?;
    let legacy = body.text("interval")?;
    match (calendar, fixed, legacy) {
        (Some(text), None, None) => {
            calendar_interval(&text).map_err(|error| body.in_field("calendar_interval", error))
        }
        (None, Some(text), None) => {
            fixed_interval(&text).map_err(|error| body.in_field("fixed_interval", error))
        }
        (None, None, Some(text)) => match text.parse::<i64>() {
            Ok(number) => fixed_interval(&format!("{number}ms")),
            Err(_) => legacy_interval(&text),
        },
        (None, None, None) => {
            let reason = "Invalid interval specified, must be non-null and non-empty";
            body.late(AggDslError::illegal(reason).of_shards());
            Ok(DateInterval::Calendar(CalendarUnit::Second))
        }
        (Some(_), Some(_), None) => {
            let reason =
                "Cannot use [fixed_interval] with [calendar_interval] configuration option.";
            Err(body.in_field("fixed_interval", AggDslError::illegal(reason)))
        }
        (_, _, Some(_)) => Err(AggDslError::illegal(
            "Cannot use [interval] with [fixed_interval] or [calendar_interval] configuration \
             options.",
        )),
    }
}

/// How far the starts of intervals of time are moved.
pub(super) fn date_offset(body: &mut Body<'_>) -> Result<i64, AggDslError> {
    match body.take("offset") {
        None => Ok(0),
        Some(Value::String(text)) => {
            offset_ms(text).map_err(|error| body.in_field("offset", error))
        }
        Some(value) => value.as_i64().ok_or_else(|| body.wrong("offset", value)),
    }
}
