//! Functions of `java.time`'s classes: moments, what lies between two of them, and parts of the calendar that are made of
//! texts and numbers.

use clew_schema::{DAY_NAMES, MONTH_NAMES, civil_from_days, days_from_civil, is_leap};

use super::days::{self, CalendarPart, number_in, overflow, period, within};
use super::moments::{Clock, millis_of, offset_of, out_of_range, read};
use super::value::ScriptValue;
use super::{calendar, date_formats, dates, statics};
use crate::error::{ScriptError, ScriptErrorKind};

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The days of the calendar are not farther from the epoch.
const EPOCH_DAY_MAX: i64 = 365_000_000;

/// Functions by class and name, with how many arguments they take.
const FUNCTIONS: &[(&str, usize)] = &[
    ("DayOfWeek.of", 1),
    ("DayOfWeek.valueOf", 1),
    ("Duration.of", 2),
    ("Duration.parse", 1),
    ("Instant.ofEpochSecond", 2),
    ("LocalDate.ofEpochDay", 1),
    ("LocalDate.ofYearDay", 2),
    ("LocalDateTime.of", 2),
    ("LocalDateTime.ofInstant", 2),
    ("LocalTime.of", 2),
    ("LocalTime.of", 3),
    ("LocalTime.of", 4),
    ("LocalTime.ofSecondOfDay", 1),
    ("LocalTime.parse", 1),
    ("Month.of", 1),
    ("Month.valueOf", 1),
    ("Period.between", 2),
    ("Period.of", 3),
    ("Period.ofDays", 1),
    ("Period.ofMonths", 1),
    ("Period.ofWeeks", 1),
    ("Period.ofYears", 1),
    ("Period.parse", 1),
    ("Year.isLeap", 1),
    ("ZoneOffset.ofHours", 1),
];

/// The function that a class has under a name.
pub(super) fn known(class: &str, name: &str, arguments: usize) -> Option<&'static str> {
    statics::in_table(FUNCTIONS, (class, name), arguments)
}

/// What such a function makes of its arguments; `None` where it is another one.
pub(super) fn call<'a>(
    name: &str,
    values: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    if let Some(found) = of_moments(name, values)? {
        return Ok(Some(found));
    }
    let whole = |value: &ScriptValue<'a>| value.want_whole();
    Ok(Some(match (name, values) {
        ("DayOfWeek.of", [day]) => {
            ScriptValue::Calendar(CalendarPart::DayOfWeek(within(day, "DayOfWeek", 1, 7)?))
        }
        ("Month.of", [month]) => {
            ScriptValue::Calendar(CalendarPart::Month(within(month, "MonthOfYear", 1, 12)?))
        }
        ("DayOfWeek.valueOf" | "Month.valueOf", [text]) => {
            let text = text.want_text()?;
            let names = if name.starts_with("Day") {
                DAY_NAMES
            } else {
                MONTH_NAMES
            };
            let number = number_in(names, text);
            let number =
                number.ok_or_else(|| ScriptError::argument(format!("No enum constant {text}")))?;
            ScriptValue::Calendar(match name.starts_with("Day") {
                true => CalendarPart::DayOfWeek(number),
                false => CalendarPart::Month(number),
            })
        }
        ("Period.of", [years, months, days]) => period(
            Some(whole(years)?),
            Some(whole(months)?),
            Some(whole(days)?),
        )?,
        ("Period.ofYears", [count]) => period(Some(whole(count)?), Some(0), Some(0))?,
        ("Period.ofMonths", [count]) => period(Some(0), Some(whole(count)?), Some(0))?,
        ("Period.ofWeeks", [count]) => period(Some(0), Some(0), whole(count)?.checked_mul(7))?,
        ("Period.ofDays", [count]) => period(Some(0), Some(0), Some(whole(count)?))?,
        ("Period.parse", [text]) => parsed_period(text.want_text()?)?,
        ("Period.between", [from, to]) => {
            let day = |moment: &ScriptValue<'a>| {
                millis_of(moment).ok_or_else(|| moment.no_cast("java.time.LocalDate"))
            };
            days::between(day(from)?, day(to)?)?
        }
        ("Duration.of", [count, unit]) => {
            let count = whole(count)?;
            let from = ScriptValue::Whole(count);
            let moved = calendar::method(0, "plus", &[from, unit.clone()])?;
            match moved {
                Some(ScriptValue::Date(millis)) => ScriptValue::Lapse(millis),
                _ => return Ok(None),
            }
        }
        ("Duration.parse", [text]) => parsed_duration(text.want_text()?)?,
        ("Year.isLeap", [year]) => ScriptValue::Bool(is_leap(whole(year)?)),
        ("ZoneOffset.ofHours", [hours]) => {
            let hours = within(hours, "ZoneOffset", -18, 18)?;
            let sign = if hours < 0 { '-' } else { '+' };
            ScriptValue::made(format!("{sign}{:02}:00", hours.abs()))?
        }
        (name, values) => return of_time(name, values),
    }))
}

/// The functions that make days, times and moments of their parts.
fn of_time<'a>(
    name: &str,
    values: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let moment = |millis: i64, clock: Clock| Ok(Some(ScriptValue::Moment(millis, clock)));
    match (name, values) {
        ("Instant.ofEpochSecond", [seconds, nanos]) => {
            let millis = seconds.want_whole()?.checked_mul(1_000);
            let more = nanos.want_whole()?.div_euclid(1_000_000);
            let millis = millis.and_then(|millis| millis.checked_add(more));
            moment(millis.ok_or_else(overflow)?, Clock::Instant)
        }
        ("LocalDate.ofEpochDay", [day]) => {
            let day = within(day, "EpochDay", -EPOCH_DAY_MAX, EPOCH_DAY_MAX)?;
            moment(day * DAY_MS, Clock::Day)
        }
        ("LocalDate.ofYearDay", [year, day]) => {
            let year = within(year, "Year", -999_999, 999_999)?;
            let most = 365 + i64::from(is_leap(year));
            let day = within(day, "DayOfYear", 1, most)?;
            moment((days_from_civil(year, 1, 1) + day - 1) * DAY_MS, Clock::Day)
        }
        ("LocalTime.of", parts) => {
            let names = [
                ("HourOfDay", 23, 3_600_000),
                ("MinuteOfHour", 59, 60_000),
                ("SecondOfMinute", 59, 1_000),
            ];
            let mut millis = 0;
            for (part, (what, most, length)) in parts.iter().zip(names) {
                millis += within(part, what, 0, most)? * length;
            }
            if let Some(nanos) = parts.get(3) {
                millis += within(nanos, "NanoOfSecond", 0, 999_999_999)? / 1_000_000;
            }
            moment(millis, Clock::Time)
        }
        ("LocalTime.ofSecondOfDay", [second]) => moment(
            within(second, "SecondOfDay", 0, 86_399)? * 1_000,
            Clock::Time,
        ),
        ("LocalTime.parse", [text]) => {
            let text = text.want_text()?;
            let read = dates::read(&format!("1970-01-01T{text}"));
            let unread = || {
                let reason = format!("Text '{text}' could not be parsed");
                ScriptError::new(ScriptErrorKind::DateFormat, reason)
            };
            moment(read.map_err(|_| unread())?, Clock::Time)
        }
        ("LocalDateTime.of", [day, time]) => match (day, time) {
            (ScriptValue::Moment(day, Clock::Day), ScriptValue::Moment(time, Clock::Time)) => {
                moment(day.saturating_add(*time), Clock::Local)
            }
            (day, _) => Err(day.no_cast("java.time.LocalDate")),
        },
        ("LocalDateTime.ofInstant", [at, zone]) => {
            let millis = millis_of(at).ok_or_else(|| at.no_cast("java.time.Instant"))?;
            let local = millis.saturating_add(offset_of(zone, millis)?);
            moment(local, Clock::Local)
        }
        _ => Ok(None),
    }
}

/// What a function of a class of moments makes of its arguments; `None` where it is another one.
fn of_moments<'a>(
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    Ok(Some(match (name, arguments) {
        ("parseZoned" | "parseInstant" | "parseLocal" | "parseDay", [text]) => {
            read(name, text.want_text()?)?
        }
        ("parseZoned" | "parseLocal" | "parseDay", [text, format]) => {
            date_formats::parsed(name, text.want_text()?, format.want_text()?)?
        }
        // Names are English in every language.
        ("formatOf", [pattern, _]) => pattern.clone(),
        ("dayOf" | "localOf" | "zonedOf", parts) => return of_parts(name, parts).map(Some),
        ("instantOfMillis", [millis]) => ScriptValue::Moment(millis.want_whole()?, Clock::Instant),
        ("instantOfSeconds", [seconds]) => {
            let millis = seconds.want_whole()?.checked_mul(SECOND_MS);
            ScriptValue::Moment(millis.ok_or_else(out_of_range)?, Clock::Instant)
        }
        ("instantInZone", [moment, zone]) => {
            let millis = millis_of(moment).ok_or_else(|| moment.no_cast("java.time.Instant"))?;
            ScriptValue::Moment(millis, Clock::Zoned(offset_of(zone, millis)?))
        }
        ("zone", [zone]) => {
            offset_of(zone, 0)?;
            zone.clone()
        }
        ("lapse", [from, to]) => {
            let [from, to] = [from, to].map(|moment| {
                millis_of(moment).ok_or_else(|| moment.no_cast("java.time.temporal.Temporal"))
            });
            let apart = to?.checked_sub(from?);
            ScriptValue::Lapse(apart.ok_or_else(out_of_range)?)
        }
        (
            "lapseOfMillis" | "lapseOfSeconds" | "lapseOfMinutes" | "lapseOfHours" | "lapseOfDays",
            [count],
        ) => {
            let length = match name {
                "lapseOfSeconds" => SECOND_MS,
                "lapseOfMinutes" => MINUTE_MS,
                "lapseOfHours" => HOUR_MS,
                "lapseOfDays" => DAY_MS,
                _ => 1,
            };
            let millis = count.want_whole()?.checked_mul(length);
            ScriptValue::Lapse(millis.ok_or_else(out_of_range)?)
        }
        _ => return Ok(None),
    }))
}

/// A moment of its year, month, day and, where they are said, hour, minute, second, nanosecond and zone.
fn of_parts<'a>(name: &str, parts: &[ScriptValue<'a>]) -> Result<ScriptValue<'a>, ScriptError> {
    let part = |place: usize, least: i64, most: i64| -> Result<i64, ScriptError> {
        let value = parts
            .get(place)
            .map_or(Ok(least), ScriptValue::want_whole)?;
        match (least..=most).contains(&value) {
            true => Ok(value),
            false => Err(ScriptError::argument(format!(
                "Invalid value (valid values {least} - {most}): {value}"
            ))),
        }
    };
    let (year, month, day) = (
        part(0, -999_999, 999_999)?,
        part(1, 1, 12)?,
        part(2, 1, 31)?,
    );
    let days = days_from_civil(year, month, day);
    if civil_from_days(days) != (year, month, day) {
        return Err(ScriptError::argument(format!(
            "Invalid date {year}-{month}-{day}"
        )));
    }
    let of_day = part(3, 0, 23)? * HOUR_MS
        + part(4, 0, 59)? * MINUTE_MS
        + part(5, 0, 59)? * SECOND_MS
        + part(6, 0, 999_999_999)? / 1_000_000;
    let local = days * DAY_MS + of_day;
    Ok(match (name, parts.get(7)) {
        ("dayOf", _) => ScriptValue::Moment(local, Clock::Day),
        ("zonedOf", Some(zone)) => {
            let offset = offset_of(zone, local)?;
            ScriptValue::Moment(local - offset, Clock::Zoned(offset))
        }
        _ => ScriptValue::Moment(local, Clock::Local),
    })
}

/// `P1Y2M3W4D`.
fn parsed_period<'a>(text: &str) -> Result<ScriptValue<'a>, ScriptError> {
    let unread = || {
        let reason = format!("Text cannot be parsed to a Period: {text}");
        ScriptError::new(ScriptErrorKind::DateFormat, reason)
    };
    let parts = counted(text.strip_prefix('P').ok_or_else(unread)?).ok_or_else(unread)?;
    let (mut years, mut months, mut days) = (0_i64, 0_i64, 0_i64);
    for (count, unit) in parts {
        let count: i64 = count.parse().map_err(|_| unread())?;
        match unit {
            'Y' => years = count,
            'M' => months = count,
            'W' => days = days.saturating_add(count.saturating_mul(7)),
            'D' => days = days.saturating_add(count),
            _ => return Err(unread()),
        }
    }
    period(Some(years), Some(months), Some(days))
}

/// `P1DT2H3M4.5S`, to the millisecond.
fn parsed_duration<'a>(text: &str) -> Result<ScriptValue<'a>, ScriptError> {
    let unread = || {
        let reason = format!("Text cannot be parsed to a Duration: {text}");
        ScriptError::new(ScriptErrorKind::DateFormat, reason)
    };
    let parts = text.strip_prefix('P').ok_or_else(unread)?;
    let (days, time) = parts.split_once('T').unwrap_or((parts, ""));
    let days = if days.is_empty() {
        Some(Vec::new())
    } else {
        counted(days)
    };
    let time = if time.is_empty() {
        Some(Vec::new())
    } else {
        counted(time)
    };
    let (days, time) = days.zip(time).ok_or_else(unread)?;
    let each = days.into_iter().map(|part| (part, true));
    let each = each.chain(time.into_iter().map(|part| (part, false)));
    let (mut millis, mut parts) = (0_i64, 0_usize);
    for ((count, unit), is_of_days) in each {
        let length = match (unit, is_of_days) {
            ('D', true) => DAY_MS,
            ('H', false) => 3_600_000,
            ('M', false) => 60_000,
            ('S', false) => 1_000,
            _ => return Err(unread()),
        };
        let (whole, fraction) = count.split_once('.').unwrap_or((count, ""));
        let digits = format!("{fraction:0<3}");
        let digits = digits.get(..3).unwrap_or("000");
        let of_second: i64 = match unit {
            'S' => digits.parse().map_err(|_| unread())?,
            _ if fraction.is_empty() => 0,
            _ => return Err(unread()),
        };
        let sign = if whole.starts_with('-') { -1 } else { 1 };
        let whole: i64 = whole.parse().map_err(|_| unread())?;
        let part = whole.checked_mul(length);
        let part = part.and_then(|part| part.checked_add(sign * of_second));
        millis = part
            .and_then(|part| millis.checked_add(part))
            .ok_or_else(overflow)?;
        parts += 1;
    }
    match parts {
        0 => Err(unread()),
        _ => Ok(ScriptValue::Lapse(millis)),
    }
}

/// Numbers with a letter behind each; `None` where something else stands there, or nothing.
fn counted(text: &str) -> Option<Vec<(&str, char)>> {
    let mut rest = text;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let at = rest.find(|letter: char| letter.is_ascii_alphabetic())?;
        let unit = rest.get(at..)?.chars().next()?;
        parts.push((rest.get(..at)?, unit));
        rest = rest.get(at + unit.len_utf8()..)?;
    }
    Some(parts).filter(|parts| !parts.is_empty())
}
