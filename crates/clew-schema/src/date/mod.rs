//! Dates as text: the formats a mapping names, from and to milliseconds since the epoch, and the
//! date arithmetic of queries. Names, patterns and leniency follow what OpenSearch documents.

mod civil;
mod iso;
mod math;
mod nanos;
mod pattern;
mod stop;
#[cfg(test)]
mod tests;
mod zone;

use std::borrow::Cow;

use jiff::tz::TimeZone;

pub use civil::{
    CivilDate, DAY_NAMES, MONTH_NAMES, civil_date, civil_from_days, days_from_civil, days_in_month,
    is_leap,
};
pub use math::Rounding;
pub use stop::DateStop;
pub use zone::{UnknownZone, parse_zone};

use civil::{DateReader, Fields};
use nanos::Instant;
use pattern::Pattern;

/// The format of a date field that names none.
pub const DATE_FORMAT_DEFAULT: &str = "strict_date_optional_time||epoch_millis";

/// Why a date or its format was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DateError {
    /// No alternative of the format reads the text.
    #[error("failed to parse date field [{text}] with format [{format}]")]
    Value {
        /// What was read.
        text: String,
        /// The format as the mapping has it.
        format: String,
    },
    /// The format itself is not understood.
    #[error("Invalid format: [{format}]: {reason}")]
    Format {
        /// The alternative that is wrong.
        format: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The time cannot be kept to the nanosecond: those are counted from 1970 on.
    #[error(
        "date[{text}] is before the epoch in 1970 and cannot be stored in nanosecond resolution"
    )]
    BeforeNanos {
        /// The time.
        text: String,
    },
    /// Likewise: 64 bits end in 2262.
    #[error(
        "date[{text}] is after 2262-04-11T23:47:16.854775807 and cannot be stored in nanosecond resolution"
    )]
    AfterNanos {
        /// The time.
        text: String,
    },
    /// The arithmetic behind the date is not understood.
    #[error("operator not supported for date math [{expression}]")]
    Math {
        /// What follows the date.
        expression: String,
    },
}

/// A format, or several joined by `||`, of which the first writes and the first that fits reads.
#[derive(Debug, Clone, PartialEq)]
pub struct DateFormat {
    source: String,
    alternatives: Vec<Alternative>,
}

#[derive(Debug, Clone, PartialEq)]
enum Alternative {
    Iso(iso::Strictness),
    EpochMillis,
    EpochSecond,
    Pattern(Pattern),
    /// A format that reads otherwise than it writes: without a pattern to write by, as ISO 8601 does.
    Named {
        reads: Pattern,
        writes: Option<Pattern>,
    },
}

impl DateFormat {
    /// Understands a format as it stands in a mapping or a query.
    ///
    /// # Errors
    /// [`DateError::Format`] when a name or a pattern letter is unknown.
    pub fn parse(format: &str) -> Result<DateFormat, DateError> {
        // An 8 in front says in old requests that the patterns are those of Java 8, as all are.
        let alternatives = format
            .strip_prefix('8')
            .unwrap_or(format)
            .split("||")
            .map(|one| Alternative::parse(one.trim()))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(DateFormat {
            source: format.to_string(),
            alternatives,
        })
    }

    /// The format as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Milliseconds since the epoch; parts that the text leaves out are the earliest possible, and
    /// a missing zone is UTC.
    ///
    /// # Errors
    /// [`DateError::Value`] when no alternative fits.
    pub fn parse_value(&self, text: &str) -> Result<i64, DateError> {
        self.read(text, Rounding::Down, &TimeZone::UTC)
    }

    /// The same in text.
    pub fn format_millis(&self, millis: i64) -> String {
        self.format_millis_in(millis, &TimeZone::UTC)
    }

    /// The same in text, as clocks of the zone show it.
    pub fn format_millis_in(&self, millis: i64, zone: &TimeZone) -> String {
        match self.alternatives.first() {
            Some(Alternative::EpochMillis) => millis.to_string(),
            Some(Alternative::EpochSecond) if millis % 1000 == 0 => (millis / 1000).to_string(),
            Some(Alternative::EpochSecond) => {
                let sign = if millis < 0 { "-" } else { "" };
                let millis = millis.unsigned_abs();
                let text = format!("{sign}{}.{:03}", millis / 1000, millis % 1000);
                text.trim_end_matches('0').to_string()
            }
            Some(other) => other.format(Instant::at(millis), zone),
            None => iso::format(Instant::at(millis), zone),
        }
    }

    /// Reads a date with the first alternative that fits.
    fn read(&self, text: &str, rounding: Rounding, zone: &TimeZone) -> Result<i64, DateError> {
        self.instant(text, rounding, zone).map(|at| at.millis)
    }

    /// The same down to nanoseconds.
    fn instant(
        &self,
        text: &str,
        rounding: Rounding,
        zone: &TimeZone,
    ) -> Result<Instant, DateError> {
        self.alternatives
            .iter()
            .find_map(|alternative| alternative.read(text, rounding, zone))
            .ok_or_else(|| DateError::Value {
                text: text.to_string(),
                format: self.source.clone(),
            })
    }
}

impl Default for DateFormat {
    fn default() -> Self {
        DateFormat {
            source: DATE_FORMAT_DEFAULT.to_string(),
            alternatives: vec![
                Alternative::Iso(iso::Strictness::Strict),
                Alternative::EpochMillis,
            ],
        }
    }
}

impl Alternative {
    fn parse(name: &str) -> Result<Alternative, DateError> {
        Ok(match &*snake_case(name) {
            "strict_date_optional_time" | "strict_date_optional_time_nanos" | "iso8601" => {
                Alternative::Iso(iso::Strictness::Strict)
            }
            "date_optional_time" | "rfc3339_lenient" => Alternative::Iso(iso::Strictness::Lenient),
            "epoch_millis" => Alternative::EpochMillis,
            "epoch_second" => Alternative::EpochSecond,
            snake_case => {
                Alternative::of_pattern(name, snake_case).map_err(|reason| DateError::Format {
                    format: name.to_string(),
                    reason,
                })?
            }
        })
    }

    /// What has a pattern, its own or that of its name; the error is a reason.
    fn of_pattern(name: &str, snake_case: &str) -> Result<Alternative, String> {
        let Some(reads) = pattern::named(snake_case) else {
            return Pattern::parse(name).map(Alternative::Pattern);
        };
        let writes = match snake_case {
            "date_time" | "strict_date_time" => None,
            other => pattern::named(&pattern::written(other)),
        };
        Ok(Alternative::Named {
            reads: Pattern::parse_named(reads)?,
            writes: writes.map(Pattern::parse_named).transpose()?,
        })
    }

    /// Writes a time that has no form of its own, as numbers have.
    fn format(&self, at: Instant, zone: &TimeZone) -> String {
        match self {
            Alternative::Pattern(pattern)
            | Alternative::Named {
                writes: Some(pattern),
                ..
            } => pattern.format(at, zone),
            Alternative::Iso(_)
            | Alternative::EpochMillis
            | Alternative::EpochSecond
            | Alternative::Named { writes: None, .. } => iso::format(at, zone),
        }
    }

    fn read(&self, text: &str, rounding: Rounding, zone: &TimeZone) -> Option<Instant> {
        let mut fields = Fields::default();
        let mut reader = DateReader::new(text);
        match self {
            Alternative::EpochMillis => return epoch(text, 0),
            Alternative::EpochSecond => return epoch(text, 3),
            Alternative::Iso(strictness) => iso::read(&mut reader, &mut fields, *strictness)?,
            Alternative::Pattern(pattern) | Alternative::Named { reads: pattern, .. } => {
                pattern.read(&mut reader, &mut fields)?;
            }
        }
        if !reader.is_at_end() {
            return None;
        }
        Some(Instant {
            millis: fields.resolve(rounding, zone)?,
            sub_nanos: fields.sub_nanos(rounding),
        })
    }
}

/// The name of a format as it is written today: `basicDate` was that of `basic_date` once, and is still understood. Patterns
/// become nothing that is a name.
fn snake_case(name: &str) -> Cow<'_, str> {
    let is_camel = name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name.bytes().all(|letter| letter.is_ascii_alphabetic());
    if !is_camel {
        return Cow::Borrowed(name);
    }
    let mut snake = String::with_capacity(name.len() + 8);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    Cow::Owned(snake)
}

/// A decimal number times ten to the power of `shift`, whole milliseconds.
fn epoch(text: &str, shift: usize) -> Option<Instant> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) || whole.len() > 18 || fraction.len() > 9 {
        return None;
    }
    let mut millis: i64 = whole.parse().ok()?;
    for place in 0..shift {
        let digit = fraction.as_bytes().get(place).map_or(0, |b| b - b'0');
        millis = millis.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    let sub_nanos = (shift..shift + 6).fold(0, |nanos, place| {
        let digit = fraction.as_bytes().get(place).map_or(0, |b| b - b'0');
        nanos * 10 + i64::from(digit)
    });
    Some(if negative {
        // Before the epoch the part below a millisecond still counts forwards.
        Instant {
            millis: -millis - i64::from(sub_nanos > 0),
            sub_nanos: (1_000_000 - sub_nanos) % 1_000_000,
        }
    } else {
        Instant { millis, sub_nanos }
    })
}
