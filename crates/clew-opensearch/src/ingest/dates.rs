//! The `date` step.

use clew_text::{DateFormat, Rounding, parse_zone};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::Failure;
use super::document::Document;
use super::pipeline::{malformed, missing, optional, text};
use crate::error::ApiError;

/// Where dates go, and how they are written there, unless a step says otherwise.
const TARGET_DEFAULT: &str = "@timestamp";
const OUTPUT_DEFAULT: &str = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX";

/// A way to read a date.
#[derive(Debug)]
enum Reading {
    Format(DateFormat),
    /// Seconds since the epoch.
    Unix,
}

/// Reads a date and writes it in one format.
#[derive(Debug)]
pub(super) struct DateStep {
    field: String,
    target: String,
    readings: Vec<Reading>,
    output: DateFormat,
    /// Of dates that name none, and of what is written.
    zone: TimeZone,
}

impl DateStep {
    pub(super) fn parse(config: &mut Map<String, Value>) -> Result<Self, ApiError> {
        let field = text(config, "field")?;
        let target = optional(config, "target_field");
        let Some(Value::Array(formats)) = config.remove("formats") else {
            return Err(missing("formats"));
        };
        let mut readings = Vec::new();
        for format in &formats {
            readings.push(reading(format.as_str().unwrap_or_default())?);
        }
        config.remove("locale");
        let zone = optional(config, "timezone");
        let zone = parse_zone(zone.as_deref())
            .map_err(|error| ApiError::illegal_argument(format!("[timezone] {error}")))?;
        let output = optional(config, "output_format");
        Ok(DateStep {
            field,
            target: target.unwrap_or_else(|| TARGET_DEFAULT.to_string()),
            readings,
            output: format(output.as_deref().unwrap_or(OUTPUT_DEFAULT))?,
            zone,
        })
    }

    pub(super) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let value = document.require(&self.field)?;
        let text = crate::mustache::plain(&value);
        let read = |reading: &Reading| reading.read(&text, &self.zone);
        let found = self.readings.iter().find_map(read);
        let Some(millis) = found else {
            return Err(Failure::illegal(format!("unable to parse date [{text}]")));
        };
        let written = self.output.format_millis_in(millis, &self.zone);
        document.set(&self.target, written.into())
    }
}

impl Reading {
    fn read(&self, text: &str, zone: &TimeZone) -> Option<i64> {
        match self {
            // Here nothing is reckoned.
            Reading::Format(_) if text.starts_with("now") || text.contains("||") => None,
            Reading::Format(format) => format
                .parse_with_math_in(text, 0, Rounding::Down, zone)
                .ok(),
            Reading::Unix => DateFormat::parse("epoch_second")
                .ok()?
                .parse_value(text)
                .ok(),
        }
    }
}

fn reading(name: &str) -> Result<Reading, ApiError> {
    Ok(match name {
        "ISO8601" => Reading::Format(format("strict_date_optional_time||date_optional_time")?),
        "UNIX_MS" => Reading::Format(format("epoch_millis")?),
        "UNIX" => Reading::Unix,
        "TAI64N" => {
            return Err(ApiError::illegal_argument(
                "date format [TAI64N] is not supported",
            ));
        }
        other => Reading::Format(format(other)?),
    })
}

fn format(written: &str) -> Result<DateFormat, ApiError> {
    DateFormat::parse(written).map_err(|error| malformed(format!("[formats] {error}")))
}
