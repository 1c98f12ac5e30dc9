//! The `date` step, and how steps read dates.

use clew_schema::{DateFormat, Rounding, parse_zone};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{DefinitionError, Failure};
use crate::java::java_text;
use crate::members::{names, optional, text};
use crate::text::{Moment, Months, Times};

/// Where dates go, and how they are written there, unless a step says otherwise.
const TARGET_DEFAULT: &str = "@timestamp";
const OUTPUT_DEFAULT: &str = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX";
/// The second of TAI64's labels that is the epoch's, ten seconds ahead of UTC.
const TAI_EPOCH: i64 = (1 << 62) + 10;

/// A way to read a date.
#[derive(Debug)]
enum Reading {
    Format(DateFormat),
    /// ISO 8601, also with a space for its `T` and a comma for its point, as logs write it.
    Iso(DateFormat),
    /// A format of `strptime`.
    Moment(Moment),
    /// Seconds since the epoch.
    Unix,
    /// A label of TAI64N: `@` and 24 digits to the base 16, eight of them nanoseconds.
    Tai,
}

/// The ways in which a step reads dates, the first that fits.
#[derive(Debug)]
pub(crate) struct Readings {
    readings: Vec<Reading>,
    /// Of dates that name none.
    zone: TimeZone,
}

impl Readings {
    /// Ways to read dates in these formats, in a zone, with names of months of a language or of English.
    pub(crate) fn parse(
        formats: &[String],
        zone: Option<&str>,
        months: Option<&'static Months>,
    ) -> Result<Self, DefinitionError> {
        let readings = formats.iter().map(|format| reading(format, months));
        Ok(Readings {
            readings: readings.collect::<Result<_, _>>()?,
            zone: parse_zone(zone)
                .map_err(|error| DefinitionError::unsupported(format!("[timezone] {error}")))?,
        })
    }

    pub(crate) fn read(&self, text: &str) -> Result<i64, Failure> {
        self.readings
            .iter()
            .find_map(|reading| reading.read(text, &self.zone))
            .ok_or_else(|| Failure::unfit(format!("unable to parse date [{text}]")))
    }
}

/// Reads a date and writes it in one format.
#[derive(Debug)]
pub(crate) struct DateStep {
    pub(crate) field: String,
    pub(crate) target: String,
    readings: Readings,
    output: DateFormat,
    /// The names of months, if they are not English.
    pub(crate) months: Option<&'static Months>,
    /// The formats as they are written, and whether dates are written as no other format says.
    pub(crate) formats: Vec<String>,
    pub(crate) is_written_plainly: bool,
}

impl DateStep {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let field = text(config, "field")?;
        let target = optional(config, "target_field")?;
        let formats =
            names(config, "formats")?.ok_or_else(|| DefinitionError::missing("formats"))?;
        let months = optional(config, "locale")?.and_then(|locale| Months::of(&locale));
        let zone = optional(config, "timezone")?;
        let output = optional(config, "output_format")?;
        Ok(DateStep {
            field,
            target: target.unwrap_or_else(|| TARGET_DEFAULT.to_string()),
            readings: Readings::parse(&formats, zone.as_deref(), months)?,
            months,
            formats,
            is_written_plainly: output.is_none(),
            output: format(output.as_deref().unwrap_or(OUTPUT_DEFAULT))?,
        })
    }

    /// The same for dates of this machine's zone, where they name none.
    pub(crate) fn in_local_zone(mut self) -> Self {
        self.readings.zone = TimeZone::system();
        self
    }

    /// The zone of dates that name none.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.readings.zone
    }

    /// A text as one of the formats reads it.
    pub(crate) fn read_by(&self, format: usize, text: &str) -> Option<i64> {
        let reading = self.readings.readings.get(format)?;
        reading.read(text, &self.readings.zone)
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let written = java_text(&document.require(&self.field)?);
        let millis = self.readings.read(&written)?;
        let date = self.output.format_millis_in(millis, &self.readings.zone);
        document.set(&self.target, date.into())
    }
}

impl Reading {
    fn read(&self, text: &str, zone: &TimeZone) -> Option<i64> {
        match self {
            // Here nothing is reckoned.
            Reading::Format(_) | Reading::Iso(_)
                if text.starts_with("now") || text.contains("||") =>
            {
                None
            }
            Reading::Iso(format) => {
                let written = text.replacen(' ', "T", 1).replace(',', ".");
                let read = format.parse_with_math_in(&written, 0, Rounding::Down, zone);
                read.ok()
            }
            Reading::Format(format) => format
                .parse_with_math_in(text, 0, Rounding::Down, zone)
                .ok(),
            Reading::Moment(moment) => moment.read(text, &mut Times::new(zone.clone())),
            Reading::Unix => DateFormat::parse("epoch_second")
                .ok()?
                .parse_value(text)
                .ok(),
            Reading::Tai => {
                let digits = text.strip_prefix('@').unwrap_or(text);
                let seconds = i64::from_str_radix(digits.get(..16)?, 16).ok()?;
                let nanos = i64::from_str_radix(digits.get(16..24)?, 16).ok()?;
                let seconds = seconds.checked_sub(TAI_EPOCH)?;
                seconds.checked_mul(1000)?.checked_add(nanos / 1_000_000)
            }
        }
    }
}

fn reading(name: &str, months: Option<&'static Months>) -> Result<Reading, DefinitionError> {
    if let Some(moment) = months.and_then(|months| Moment::compile_in(name, Some(months)))
        && moment.has_names()
    {
        return Ok(Reading::Moment(moment));
    }
    Ok(match name {
        "ISO8601" => Reading::Iso(format("strict_date_optional_time||date_optional_time")?),
        "UNIX_MS" => Reading::Format(format("epoch_millis")?),
        "UNIX" => Reading::Unix,
        "TAI64N" => Reading::Tai,
        // Letters behind a percent sign are letters of Java's patterns, too, which would then fit nothing.
        other if other.contains('%') => {
            Reading::Moment(Moment::compile(other).ok_or_else(|| {
                let reason = "says no day, or has what is not known of strptime";
                DefinitionError::refused("formats", format!("Invalid format: [{other}]: {reason}"))
            })?)
        }
        other => match (format(other), Moment::compile(other)) {
            (Ok(format), _) => Reading::Format(format),
            (Err(_), Some(moment)) => Reading::Moment(moment),
            (Err(error), None) => return Err(error),
        },
    })
}

/// A format by its name or its pattern.
pub(crate) fn format(written: &str) -> Result<DateFormat, DefinitionError> {
    DateFormat::parse(written).map_err(|error| DefinitionError::refused("formats", error))
}
