//! The `date` step, and how steps read dates.

use clew_schema::{DateFormat, Rounding, parse_zone};
use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{DefinitionError, Failure};
use crate::java::java_text;
use crate::members::{names, optional, template, text};
use crate::template::Template;
use crate::text::{Civil, Moment, Months, Times};

/// Where dates go, and how they are written there, unless a step says otherwise.
const TARGET_DEFAULT: &str = "@timestamp";
const OUTPUT_DEFAULT: &str = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX";
/// The second of TAI64's labels that is the epoch's, ten seconds ahead of UTC.
const TAI_EPOCH: i64 = (1 << 62) + 10;
/// The year of dates that say none, where it is not known when they came.
pub(crate) const EPOCH_YEAR: i16 = 1970;

/// A way to read a date.
#[derive(Debug)]
enum Reading {
    Format(DateFormat),
    /// A pattern that says no year, with one in front of it.
    Yearless(DateFormat),
    /// ISO 8601, also by weeks and by days of the year, and with a space for its `T` and a comma for its point, as logs write it.
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

    /// Reads a date; one that says no year is of this one.
    pub(crate) fn read(&self, text: &str, year: i16) -> Result<i64, Failure> {
        self.read_in(text, &self.zone, year)
    }

    fn read_in(&self, text: &str, zone: &TimeZone, year: i16) -> Result<i64, Failure> {
        self.readings
            .iter()
            .find_map(|reading| reading.read(text, zone, year))
            .ok_or_else(|| no_date(text))
    }
}

fn no_date(text: &str) -> Failure {
    Failure::unfit(format!("unable to parse date [{text}]"))
}

/// The year in which a document came.
pub(crate) fn year_of(document: &Document) -> i16 {
    let came = document.came().and_then(Value::as_str);
    let year = came.and_then(|came| came.get(..4)?.parse().ok());
    year.unwrap_or(EPOCH_YEAR)
}

/// Reads a date and writes it in one format.
#[derive(Debug)]
pub(crate) struct DateStep {
    pub(crate) field: String,
    pub(crate) target: String,
    readings: Readings,
    /// What names the zone of a document's dates, where it is not the same for all.
    zone_of: Option<Template>,
    output: DateFormat,
    /// The names of months, if they are not English.
    pub(crate) months: Option<&'static Months>,
    /// The formats as they are written, and whether dates are written as no other format says.
    pub(crate) formats: Vec<String>,
    is_written_plainly: bool,
}

impl DateStep {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let field = text(config, "field")?;
        let target = optional(config, "target_field")?;
        let formats =
            names(config, "formats")?.ok_or_else(|| DefinitionError::missing("formats"))?;
        let months = optional(config, "locale")?.and_then(|locale| Months::of(&locale));
        let zone = optional(config, "timezone")?;
        let zone_of = zone.as_deref().map(template).transpose()?;
        let zone_of = zone_of.filter(|zone| !zone.is_text());
        let zone = zone.filter(|_| zone_of.is_none());
        let output = optional(config, "output_format")?;
        Ok(DateStep {
            field,
            target: target.unwrap_or_else(|| TARGET_DEFAULT.to_string()),
            readings: Readings::parse(&formats, zone.as_deref(), months)?,
            months,
            formats,
            is_written_plainly: output.is_none(),
            zone_of,
            output: DateFormat::parse(output.as_deref().unwrap_or(OUTPUT_DEFAULT)).map_err(
                |_| {
                    let output = output.as_deref().unwrap_or_default();
                    DefinitionError::unsupported(format!("invalid output format [{output}]"))
                },
            )?,
        })
    }

    /// Whether what it does is the same for all lines, whose times are written in one way.
    pub(crate) fn is_for_lines(&self) -> bool {
        self.is_written_plainly && self.zone_of.is_none()
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

    /// A text as one of the formats reads it; the year of dates that say none is that of a time.
    pub(crate) fn read_by(&self, format: usize, text: &str, now_ms: i64) -> Option<i64> {
        let reading = self.readings.readings.get(format)?;
        let year = Civil::from_utc_ms(now_ms).year;
        reading.read(text, &self.readings.zone, year)
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let written = java_text(&document.require(&self.field)?);
        let zone = match &self.zone_of {
            None => self.readings.zone.clone(),
            Some(template) => {
                let name = document.fill(template)?;
                parse_zone(Some(&name)).map_err(|_| no_date(&written))?
            }
        };
        let millis = self.readings.read_in(&written, &zone, year_of(document))?;
        let date = self.output.format_millis_in(millis, &zone);
        document.set(&self.target, date.into())
    }
}

impl Reading {
    fn read(&self, text: &str, zone: &TimeZone, year: i16) -> Option<i64> {
        match self {
            // Here nothing is reckoned.
            Reading::Format(_) | Reading::Iso(_) | Reading::Yearless(_)
                if text.starts_with("now") || text.contains("||") =>
            {
                None
            }
            Reading::Iso(format) => {
                let written = text.replacen(' ', "T", 1).replace(',', ".");
                let read = |text: &str| format.parse_with_math_in(text, 0, Rounding::Down, zone);
                let in_other_words =
                    || without_leap_second(&written).or_else(|| with_month(&written));
                let read = read(&written).or_else(|error| match in_other_words() {
                    Some(other) => read(&other),
                    None => Err(error),
                });
                read.ok()
            }
            Reading::Format(format) => format
                .parse_with_math_in(text, 0, Rounding::Down, zone)
                .ok(),
            Reading::Yearless(format) => {
                let written = format!("{year:04} {text}");
                let read = format.parse_with_math_in(&written, 0, Rounding::Down, zone);
                read.ok()
            }
            Reading::Moment(moment) => {
                let mut times = Times::new(zone.clone());
                times.newest_ms = last_day_ms(year);
                moment.read(text, &mut times)
            }
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

/// A time in a leap second as one in the second before it, which is where every other format has it.
fn without_leap_second(text: &str) -> Option<String> {
    let (minute, rest) = text.split_at_checked("2016-12-31T23:59".len())?;
    let rest = rest.strip_prefix(":60")?;
    Some(format!("{minute}:59{rest}"))
}

/// A time that names its day by the week, `2026-W48-6`, or by its number in the year, `2026-332`, as one that names the month. A week alone
/// is its Monday.
fn with_month(text: &str) -> Option<String> {
    let number = |digits: &str| {
        let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        are_digits.then_some(())?;
        digits.parse::<i16>().ok()
    };
    let (year, rest) = text.split_at_checked(4)?;
    let (year, rest) = (number(year)?, rest.strip_prefix('-')?);
    let (date, rest) = match rest.strip_prefix('W') {
        Some(rest) => {
            let (week, rest) = rest.split_at_checked(2)?;
            let (day, rest) = match rest.strip_prefix('-') {
                Some(rest) => rest.split_at_checked(1)?,
                None => ("1", rest),
            };
            let day = i8::try_from(number(day)?).ok()?;
            let day = Weekday::from_monday_one_offset(day).ok()?;
            let week = i8::try_from(number(week)?).ok()?;
            (ISOWeekDate::new(year, week, day).ok()?.date(), rest)
        }
        None => {
            let (day, rest) = rest.split_at_checked(3)?;
            let first = Date::new(year, 1, 1).ok()?;
            let date = first.with().day_of_year(number(day)?).build().ok()?;
            (date, rest)
        }
    };
    let is_all = rest.is_empty() || rest.starts_with('T');
    is_all.then(|| format!("{date}{rest}"))
}

/// The latest time of which a day later is still of this year.
fn last_day_ms(year: i16) -> i64 {
    Civil::day(year, 12, 31).as_utc_ms() - 1
}

/// A pattern of letters that says no year, behind one. Names of formats are none: with a year in front they have no meaning.
fn yearless(pattern: &str) -> Option<DateFormat> {
    let mut is_quoted = false;
    for letter in pattern.chars() {
        is_quoted ^= letter == '\'';
        if !is_quoted && matches!(letter, 'y' | 'u' | 'Y') {
            return None;
        }
    }
    let alternatives: Vec<String> = pattern
        .split("||")
        .map(|one| format!("yyyy {}", one.trim()))
        .collect();
    DateFormat::parse(&alternatives.join("||")).ok()
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
            (Ok(format), _) => yearless(other).map_or(Reading::Format(format), Reading::Yearless),
            (Err(_), Some(moment)) => Reading::Moment(moment),
            (Err(error), None) => return Err(error),
        },
    })
}

/// A format by its name or its pattern.
pub(crate) fn format(written: &str) -> Result<DateFormat, DefinitionError> {
    DateFormat::parse(written).map_err(|error| DefinitionError::refused("formats", error))
}
