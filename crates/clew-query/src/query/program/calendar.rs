//! Moments by the calendar: months and years that are added, parts that are set, what lies between two, and how they are
//! written. All are in UTC.

use clew_schema::{civil_date, days_from_civil};

use super::date_formats::formatted;
use super::moments::Clock;
use super::value::ScriptValue;
use crate::error::ScriptError;

const DAY_MS: i64 = 86_400_000;

/// Units of time with a fixed length, in milliseconds.
const UNITS: &[(&str, i64)] = &[
    ("Millis", 1),
    ("Seconds", 1_000),
    ("Minutes", 60_000),
    ("Hours", 3_600_000),
    ("Days", DAY_MS),
    ("Weeks", 7 * DAY_MS),
];

/// What can be asked of a moment, with how many arguments.
pub(super) const METHODS: &[(&str, usize)] = &[
    ("between", 2),
    ("format", 1),
    ("getNano", 0),
    ("minus", 2),
    ("minusMillis", 1),
    ("minusMonths", 1),
    ("minusNanos", 1),
    ("minusYears", 1),
    ("plus", 2),
    ("plusMillis", 1),
    ("plusMonths", 1),
    ("plusNanos", 1),
    ("plusYears", 1),
    ("truncatedTo", 1),
    ("until", 2),
    ("withDayOfMonth", 1),
    ("withHour", 1),
    ("withMinute", 1),
    ("withMonth", 1),
    ("withNano", 1),
    ("withSecond", 1),
    ("withYear", 1),
];

/// The name of a unit, as a text has it, by that of its constant.
pub(super) fn unit(constant: &str) -> Option<&'static str> {
    let mut all = UNITS.iter().map(|(name, _)| *name);
    let all = all.find(|name| name.eq_ignore_ascii_case(constant));
    all.or(match constant {
        "NANOS" => Some("Nanos"),
        "MICROS" => Some("Micros"),
        "MONTHS" => Some("Months"),
        "YEARS" => Some("Years"),
        _ => None,
    })
}

fn out_of_range() -> ScriptError {
    ScriptError::argument("the moment is out of range")
}

/// What the name of a unit, or a pattern, answers that moments are handed to.
pub(super) fn of_text<'a>(
    text: &str,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    match (name, arguments) {
        ("between", [ScriptValue::Date(from), ScriptValue::Date(to)]) => {
            between(text, *from, *to).map(Some)
        }
        ("format", [ScriptValue::Date(millis)]) => {
            formatted(text, *millis, Clock::Zoned(0)).map(Some)
        }
        ("format", [ScriptValue::Moment(millis, clock)]) => {
            formatted(text, *millis, *clock).map(Some)
        }
        _ => Ok(None),
    }
}

/// What a moment answers; `None` where it has no such method.
pub(super) fn method<'a>(
    millis: i64,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    Ok(Some(match (name, arguments) {
        ("getNano", []) => ScriptValue::Whole(millis.rem_euclid(1000) * 1_000_000),
        ("compareTo", [ScriptValue::Date(other)]) => ScriptValue::Whole(millis.cmp(other) as i64),
        ("format", [pattern]) => formatted(pattern.want_text()?, millis, Clock::Zoned(0))?,
        ("until", [ScriptValue::Date(to), unit]) => between(unit.want_text()?, millis, *to)?,
        ("truncatedTo", [unit]) => {
            let unit = unit.want_text()?;
            let shorter = parts_of(unit).map(|_| 1);
            let length = shorter
                .or_else(|| length_of(unit))
                .filter(|length| *length <= DAY_MS)
                .ok_or_else(|| {
                    ScriptError::argument("Unit is too large to be used for truncation")
                })?;
            ScriptValue::Date(millis.div_euclid(length).saturating_mul(length))
        }
        ("plus" | "minus", [count, unit]) => {
            let count = count.want_whole()?;
            let count = match name {
                "plus" => Some(count),
                _ => count.checked_neg(),
            };
            moved(millis, count, unit.want_text()?)?
        }
        (name, [count]) => {
            let whole = |count: &ScriptValue<'a>| count.want_whole();
            match (name.strip_prefix("plus"), name.strip_prefix("minus")) {
                (Some(unit @ ("Millis" | "Months" | "Nanos" | "Years")), _) => {
                    moved(millis, Some(whole(count)?), unit)?
                }
                (_, Some(unit @ ("Millis" | "Months" | "Nanos" | "Years"))) => {
                    moved(millis, whole(count)?.checked_neg(), unit)?
                }
                _ => match name.strip_prefix("with") {
                    Some(part) => return with(millis, part, whole(count)?).map(Some),
                    None => return Ok(None),
                },
            }
        }
        _ => return Ok(None),
    }))
}

/// How many of a unit that is shorter fill a millisecond.
fn parts_of(unit: &str) -> Option<i64> {
    match unit {
        "Nanos" => Some(1_000_000),
        "Micros" => Some(1_000),
        _ => None,
    }
}

fn length_of(unit: &str) -> Option<i64> {
    let mut all = UNITS.iter();
    all.find(|(name, _)| *name == unit)
        .map(|(_, length)| *length)
}

/// A moment so many units later.
fn moved<'a>(millis: i64, count: Option<i64>, unit: &str) -> Result<ScriptValue<'a>, ScriptError> {
    let count = count.ok_or_else(out_of_range)?;
    if let Some(parts) = parts_of(unit) {
        let moved = millis.checked_add(count / parts);
        return moved.map(ScriptValue::Date).ok_or_else(out_of_range);
    }
    let moved = match (length_of(unit), unit) {
        (Some(length), _) => count
            .checked_mul(length)
            .and_then(|by| millis.checked_add(by)),
        (None, "Months") => months_later(millis, count),
        (None, "Years") => count
            .checked_mul(12)
            .and_then(|months| months_later(millis, months)),
        _ => return Err(ScriptError::argument(format!("Unsupported unit: {unit}"))),
    };
    moved.map(ScriptValue::Date).ok_or_else(out_of_range)
}

/// The same day of another month, or its last one.
fn months_later(millis: i64, months: i64) -> Option<i64> {
    let date = civil_date(millis);
    let month = (date.year * 12 + date.month - 1).checked_add(months)?;
    // Years of more digits are none of Java's.
    let year = Some(month.div_euclid(12)).filter(|year| year.abs() < 1_000_000)?;
    on_day(millis, (year, month.rem_euclid(12) + 1, date.day))
}

/// The same time on a day; the last one of its month where that is shorter.
fn on_day(millis: i64, (year, month, day): (i64, i64, i64)) -> Option<i64> {
    let next = match month {
        12 => days_from_civil(year + 1, 1, 1),
        month => days_from_civil(year, month + 1, 1),
    };
    let first = days_from_civil(year, month, 1);
    let days = first + day.min(next - first) - 1;
    days.checked_mul(DAY_MS)?
        .checked_add(millis.rem_euclid(DAY_MS))
}

/// A moment with another part.
fn with<'a>(millis: i64, part: &str, value: i64) -> Result<ScriptValue<'a>, ScriptError> {
    let within = |least: i64, most: i64| match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(ScriptError::argument(format!(
            "Invalid value for {part} (valid values {least} - {most}): {value}"
        ))),
    };
    let date = civil_date(millis);
    let of_time = |length: i64, most: i64| -> Result<Option<i64>, ScriptError> {
        let value = within(0, most - 1)?;
        let have = millis.rem_euclid(length * most) / length;
        Ok(Some(millis.saturating_add((value - have) * length)))
    };
    let moved = match part {
        "Year" => on_day(millis, (within(-999_999, 999_999)?, date.month, date.day)),
        "Month" => on_day(millis, (date.year, within(1, 12)?, date.day)),
        "DayOfMonth" => on_day(millis, (date.year, date.month, within(1, 31)?)),
        "Hour" => of_time(3_600_000, 24)?,
        "Minute" => of_time(60_000, 60)?,
        "Second" => of_time(1_000, 60)?,
        "Nano" => {
            let nanos = within(0, 999_999_999)?;
            Some(
                millis
                    .saturating_sub(millis.rem_euclid(1000))
                    .saturating_add(nanos / 1_000_000),
            )
        }
        _ => return Err(ScriptError::argument(format!("[with{part}] not found"))),
    };
    moved.map(ScriptValue::Date).ok_or_else(out_of_range)
}

/// How many whole units lie between two moments.
fn between<'a>(unit: &str, from: i64, to: i64) -> Result<ScriptValue<'a>, ScriptError> {
    let apart = to.checked_sub(from).ok_or_else(out_of_range)?;
    if let Some(parts) = parts_of(unit) {
        let apart = apart.checked_mul(parts).ok_or_else(out_of_range)?;
        return Ok(ScriptValue::Whole(apart));
    }
    if let Some(length) = length_of(unit) {
        return Ok(ScriptValue::Whole(apart / length));
    }
    let (first, last) = (civil_date(from), civil_date(to));
    let mut months = (last.year - first.year) * 12 + last.month - first.month;
    let day = |date: clew_schema::CivilDate, millis: i64| (date.day, millis.rem_euclid(DAY_MS));
    // The last one counts once the day and the time of the first are reached.
    let (begun, reached) = (day(first, from), day(last, to));
    if months > 0 && reached < begun {
        months -= 1;
    } else if months < 0 && reached > begun {
        months += 1;
    }
    match unit {
        "Months" => Ok(ScriptValue::Whole(months)),
        "Years" => Ok(ScriptValue::Whole(months / 12)),
        _ => Err(ScriptError::argument(format!("Unsupported unit: {unit}"))),
    }
}
