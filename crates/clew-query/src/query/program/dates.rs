//! Moments in scripts: their parts, and others some time before or after. All are in UTC.

use clew_schema::{DateFormat, civil_date};

use super::days;
use super::moments::Clock;
use super::value::ScriptValue;
use crate::error::ScriptError;

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// What can be asked of a moment, with how many arguments.
pub(super) const METHODS: &[(&str, usize)] = &[
    ("toInstant", 0),
    ("toEpochMilli", 0),
    ("getMillis", 0),
    ("getTime", 0),
    ("toEpochSecond", 0),
    ("getEpochSecond", 0),
    ("getYear", 0),
    ("getMonthValue", 0),
    ("getMonthOfYear", 0),
    ("getDayOfMonth", 0),
    ("getDayOfYear", 0),
    ("getDayOfWeek", 0),
    ("getDayOfWeekEnum", 0),
    ("getHour", 0),
    ("getHourOfDay", 0),
    ("getMinute", 0),
    ("getMinuteOfHour", 0),
    ("getSecond", 0),
    ("getSecondOfMinute", 0),
    ("getMillisOfSecond", 0),
    ("isBefore", 1),
    ("isAfter", 1),
    ("isEqual", 1),
    ("plusDays", 1),
    ("plusHours", 1),
    ("plusMinutes", 1),
    ("plusSeconds", 1),
    ("plusWeeks", 1),
    ("minusDays", 1),
    ("minusHours", 1),
    ("minusMinutes", 1),
    ("minusSeconds", 1),
    ("minusWeeks", 1),
];

/// A moment as a text.
pub(super) fn shown(millis: i64) -> String {
    DateFormat::default().format_millis(millis)
}

/// A moment that a text names.
pub(super) fn read(text: &str) -> Result<i64, ScriptError> {
    let read = DateFormat::default().parse_value(text);
    read.map_err(|error| ScriptError::argument(error.to_string()))
}

/// What a moment answers; `None` where it has no such method.
pub(super) fn method<'a>(
    millis: i64,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let [argument] = arguments else {
        return Ok(part(millis, name));
    };
    if let ScriptValue::Date(other) = argument {
        return Ok(match name {
            "isBefore" => Some(ScriptValue::Bool(millis < *other)),
            "isAfter" => Some(ScriptValue::Bool(millis > *other)),
            "isEqual" | "equals" => Some(ScriptValue::Bool(millis == *other)),
            _ => None,
        });
    }
    let (unit, sign) = match (name.strip_prefix("plus"), name.strip_prefix("minus")) {
        (Some(unit), _) => (unit, 1),
        (None, Some(unit)) => (unit, -1),
        (None, None) => return Ok(None),
    };
    let length = match unit {
        "Weeks" => 7 * DAY_MS,
        "Days" => DAY_MS,
        "Hours" => HOUR_MS,
        "Minutes" => MINUTE_MS,
        "Seconds" => SECOND_MS,
        _ => return Ok(None),
    };
    let count = argument.want_whole()?;
    let moved = count
        .checked_mul(sign * length)
        .and_then(|by| millis.checked_add(by));
    let moved = moved.ok_or_else(|| ScriptError::argument("the moment is out of range"))?;
    Ok(Some(ScriptValue::Date(moved)))
}

fn part<'a>(millis: i64, name: &str) -> Option<ScriptValue<'a>> {
    let of_day = millis.rem_euclid(DAY_MS);
    let day = millis.div_euclid(DAY_MS);
    let date = || civil_date(millis);
    Some(ScriptValue::Whole(match name {
        "getDayOfWeekEnum" => return days::of_day(millis, name, &[]).ok().flatten(),
        "toInstant" => return Some(ScriptValue::Moment(millis, Clock::Instant)),
        "toEpochMilli" | "getMillis" | "getTime" => millis,
        "toEpochSecond" | "getEpochSecond" => millis.div_euclid(SECOND_MS),
        "getYear" => date().year,
        "getMonthValue" | "getMonthOfYear" => date().month,
        "getDayOfMonth" => date().day,
        "getDayOfYear" => date().day_of_year,
        // The first day of the epoch was a Thursday.
        "getDayOfWeek" => (day + 3).rem_euclid(7) + 1,
        "getHour" | "getHourOfDay" => of_day / HOUR_MS,
        "getMinute" | "getMinuteOfHour" => of_day % HOUR_MS / MINUTE_MS,
        "getSecond" | "getSecondOfMinute" => of_day % MINUTE_MS / SECOND_MS,
        "getMillisOfSecond" => of_day % SECOND_MS,
        _ => return None,
    }))
}
