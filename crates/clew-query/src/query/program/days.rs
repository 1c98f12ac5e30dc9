//! Days of the week, months, and periods of years, months and days, as `java.time` has them, and what moments tell of them.

use clew_schema::{DAY_NAMES, MONTH_NAMES, civil_date, days_in_month, is_leap};

use super::tree::Node;
use super::value::ScriptValue;
use super::{calendar, dates};
use crate::error::{ScriptError, ScriptErrorKind};

const DAY_MS: i64 = 86_400_000;
/// So many years, months or days has a period at most.
const PERIOD_MAX: i64 = i32::MAX as i64;

/// A part of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalendarPart {
    /// A day of the week: Monday is 1.
    DayOfWeek(i64),
    /// A month: January is 1.
    Month(i64),
    /// Years, months and days.
    Period(i64, i64, i64),
}

/// What can be asked of parts of the calendar, with how many arguments.
pub(super) const METHODS: &[(&str, usize)] = &[
    ("dividedBy", 1),
    ("getDays", 0),
    ("getDisplayName", 2),
    ("getMonths", 0),
    ("getYears", 0),
    ("length", 1),
    ("maxLength", 0),
    ("minLength", 0),
    ("minus", 1),
    ("multipliedBy", 1),
    ("name", 0),
    ("negated", 0),
    ("normalized", 0),
    ("ordinal", 0),
    ("plus", 1),
    ("toTotalMonths", 0),
];

/// A constant of a class.
pub(super) fn constant(class: &str, name: &str) -> Option<Node> {
    let made = |function: &str, arguments: &[i64]| {
        let arguments = arguments.iter().map(|number| Node::Whole(*number));
        Some(Node::Function(function.to_string(), arguments.collect()))
    };
    match (class, name) {
        ("DayOfWeek", _) => made("DayOfWeek.of", &[number_in(DAY_NAMES, name)?]),
        ("Month", _) => made("Month.of", &[number_in(MONTH_NAMES, name)?]),
        ("Period", "ZERO") => made("Period.ofDays", &[0]),
        ("Duration", "ZERO") => made("lapseOfMillis", &[0]),
        ("Instant", "EPOCH") => made("instantOfMillis", &[0]),
        ("LocalTime", "MIDNIGHT" | "MIN") => made("LocalTime.of", &[0, 0]),
        ("LocalTime", "NOON") => made("LocalTime.of", &[12, 0]),
        ("TextStyle", "FULL" | "SHORT" | "NARROW") => Some(Node::Text(name.to_string())),
        ("ChronoField", _) => Some(Node::Text(
            FIELDS
                .iter()
                .find(|(known, _)| *known == name)?
                .0
                .to_string(),
        )),
        _ => None,
    }
}

/// Fields of moments that are named, with what asks for each.
const FIELDS: &[(&str, &str)] = &[
    ("DAY_OF_MONTH", "getDayOfMonth"),
    ("DAY_OF_WEEK", "getDayOfWeek"),
    ("DAY_OF_YEAR", "getDayOfYear"),
    ("EPOCH_DAY", "toEpochDay"),
    ("HOUR_OF_DAY", "getHour"),
    ("INSTANT_SECONDS", "toEpochSecond"),
    ("MILLI_OF_SECOND", "getMillisOfSecond"),
    ("MINUTE_OF_HOUR", "getMinute"),
    ("MONTH_OF_YEAR", "getMonthValue"),
    ("NANO_OF_SECOND", "getNano"),
    ("SECOND_OF_MINUTE", "getSecond"),
    ("YEAR", "getYear"),
];

/// The method that asks a moment for the field of a name.
pub(super) fn getter(field: &str) -> Option<&'static str> {
    let known = FIELDS.iter().find(|(known, _)| *known == field);
    known.map(|(_, getter)| *getter)
}

/// The place of a name among others, from 1 on, as a constant is written.
pub(super) fn number_in(names: &[&str], name: &str) -> Option<i64> {
    let place = names.iter().position(|known| known.to_uppercase() == name);
    place.and_then(|place| i64::try_from(place + 1).ok())
}

/// The name at a place among others, from 1 on.
fn name_in(names: &'static [&'static str], number: i64) -> &'static str {
    let place = usize::try_from(number - 1).ok();
    place
        .and_then(|place| names.get(place))
        .copied()
        .unwrap_or_default()
}

pub(super) fn overflow() -> ScriptError {
    ScriptError::new(ScriptErrorKind::Arithmetic, "integer overflow")
}

/// A number from a range.
pub(super) fn within(
    value: &ScriptValue<'_>,
    what: &str,
    least: i64,
    most: i64,
) -> Result<i64, ScriptError> {
    let number = value.want_whole()?;
    match (least..=most).contains(&number) {
        true => Ok(number),
        false => Err(ScriptError::argument(format!(
            "Invalid value for {what} (valid values {least} - {most}): {number}"
        ))),
    }
}

/// A period, unless it is longer than one may be.
pub(super) fn period<'a>(
    years: Option<i64>,
    months: Option<i64>,
    days: Option<i64>,
) -> Result<ScriptValue<'a>, ScriptError> {
    let part = |part: Option<i64>| {
        part.filter(|part| part.abs() <= PERIOD_MAX)
            .ok_or_else(overflow)
    };
    let period = CalendarPart::Period(part(years)?, part(months)?, part(days)?);
    Ok(ScriptValue::Calendar(period))
}

impl CalendarPart {
    /// As it stands in a text.
    pub(super) fn shown(self) -> String {
        match self {
            CalendarPart::DayOfWeek(day) => name_in(DAY_NAMES, day).to_uppercase(),
            CalendarPart::Month(month) => name_in(MONTH_NAMES, month).to_uppercase(),
            CalendarPart::Period(0, 0, 0) => "P0D".to_string(),
            CalendarPart::Period(years, months, days) => {
                let parts = [(years, 'Y'), (months, 'M'), (days, 'D')];
                let parts = parts.into_iter().filter(|(count, _)| *count != 0);
                let parts = parts.map(|(count, unit)| format!("{count}{unit}"));
                format!("P{}", parts.collect::<String>())
            }
        }
    }

    /// The name of its class.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            CalendarPart::DayOfWeek(_) => "java.time.DayOfWeek",
            CalendarPart::Month(_) => "java.time.Month",
            CalendarPart::Period(..) => "java.time.Period",
        }
    }

    /// What it answers; `None` where it has no such method.
    pub(super) fn method<'a>(
        self,
        name: &str,
        arguments: &[ScriptValue<'a>],
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        let (number, names) = match self {
            CalendarPart::DayOfWeek(day) => (day, DAY_NAMES),
            CalendarPart::Month(month) => (month, MONTH_NAMES),
            CalendarPart::Period(years, months, days) => {
                return of_period((years, months, days), name, arguments);
            }
        };
        let count = i64::try_from(names.len()).unwrap_or(1);
        Ok(Some(match (name, arguments) {
            ("getValue", []) => ScriptValue::Whole(number),
            ("ordinal", []) => ScriptValue::Whole(number - 1),
            ("name", []) => ScriptValue::made(self.shown())?,
            ("compareTo", [ScriptValue::Calendar(other)]) => match (self, *other) {
                (CalendarPart::DayOfWeek(_), CalendarPart::DayOfWeek(other))
                | (CalendarPart::Month(_), CalendarPart::Month(other)) => {
                    ScriptValue::Whole(number - other)
                }
                _ => return Ok(None),
            },
            ("plus" | "minus", [by]) => {
                let by = by.want_whole()? % count;
                let by = if name == "plus" { by } else { -by };
                let moved = (number - 1 + by).rem_euclid(count) + 1;
                ScriptValue::Calendar(match self {
                    CalendarPart::DayOfWeek(_) => CalendarPart::DayOfWeek(moved),
                    _ => CalendarPart::Month(moved),
                })
            }
            ("getDisplayName", [style, locale]) => {
                let name = name_in(names, number);
                let letters = match (style.want_text()?, locale.want_text()?) {
                    ("NARROW", _) => 1,
                    // The root of all languages has no longer names.
                    ("SHORT", _) | (_, "") => 3,
                    _ => name.len(),
                };
                ScriptValue::made(name.chars().take(letters).collect())?
            }
            ("length" | "maxLength" | "minLength", _) => match (self, arguments) {
                (CalendarPart::Month(month), []) => {
                    ScriptValue::Whole(days_in_month(month, name == "maxLength"))
                }
                (CalendarPart::Month(month), [leap]) => {
                    ScriptValue::Whole(days_in_month(month, leap.want_truth()?))
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }
}

fn of_period<'a>(
    (years, months, days): (i64, i64, i64),
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let total = years.saturating_mul(12).saturating_add(months);
    Ok(Some(match (name, arguments) {
        ("getYears", []) => ScriptValue::Whole(years),
        ("getMonths", []) => ScriptValue::Whole(months),
        ("getDays", []) => ScriptValue::Whole(days),
        ("toTotalMonths", []) => ScriptValue::Whole(total),
        ("isZero", []) => ScriptValue::Bool((years, months, days) == (0, 0, 0)),
        ("isNegative", []) => ScriptValue::Bool(years < 0 || months < 0 || days < 0),
        ("normalized", []) => period(Some(total / 12), Some(total % 12), Some(days))?,
        ("negated", []) => period(Some(-years), Some(-months), Some(-days))?,
        ("multipliedBy", [by]) => {
            let by = by.want_whole()?;
            let times = |part: i64| part.checked_mul(by);
            period(times(years), times(months), times(days))?
        }
        ("plus" | "minus", [ScriptValue::Calendar(CalendarPart::Period(y, m, d))]) => {
            let sign = if name == "plus" { 1 } else { -1 };
            let sum = |part: i64, other: i64| Some(part + sign * other);
            period(sum(years, *y), sum(months, *m), sum(days, *d))?
        }
        (name, [by]) => {
            let (unit, sign) = match (name.strip_prefix("plus"), name.strip_prefix("minus")) {
                (Some(unit), _) => (unit, 1),
                (None, Some(unit)) => (unit, -1),
                (None, None) => return Ok(None),
            };
            let moved = |part: i64| part.checked_add(by.want_whole().ok()?.checked_mul(sign)?);
            match unit {
                "Years" => period(moved(years), Some(months), Some(days))?,
                "Months" => period(Some(years), moved(months), Some(days))?,
                "Days" => period(Some(years), Some(months), moved(days))?,
                _ => return Ok(None),
            }
        }
        _ => return Ok(None),
    }))
}

/// What lies between two days: whole months first.
pub(super) fn between<'a>(from: i64, to: i64) -> Result<ScriptValue<'a>, ScriptError> {
    let months = calendar::method(
        from,
        "until",
        &[ScriptValue::Date(to), ScriptValue::Text("Months".into())],
    )?;
    let Some(ScriptValue::Whole(months)) = months else {
        return Err(overflow());
    };
    let moved = calendar::method(from, "plusMonths", &[ScriptValue::Whole(months)])?;
    let Some(ScriptValue::Date(begun)) = moved else {
        return Err(overflow());
    };
    let days = to.div_euclid(DAY_MS) - begun.div_euclid(DAY_MS);
    period(Some(months / 12), Some(months % 12), Some(days))
}

/// A moment of the calendar that is a period later, or earlier.
pub(super) fn moved<'a>(
    local: i64,
    (years, months, days): (i64, i64, i64),
    sign: i64,
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let months = ScriptValue::Whole(sign * (years * 12 + months));
    match calendar::method(local, "plusMonths", &[months])? {
        Some(ScriptValue::Date(moved)) => {
            dates::method(moved, "plusDays", &[ScriptValue::Whole(sign * days)])
        }
        _ => Ok(None),
    }
}

/// What moments tell of the day that they are on; `None` where it is something else.
pub(super) fn of_day<'a>(
    local: i64,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let date = civil_date(local);
    let days = local.div_euclid(DAY_MS);
    Ok(Some(match (name, arguments) {
        // The first day of the epoch was a Thursday.
        ("getDayOfWeek" | "getDayOfWeekEnum", []) => {
            ScriptValue::Calendar(CalendarPart::DayOfWeek((days + 3).rem_euclid(7) + 1))
        }
        ("getMonth", []) => ScriptValue::Calendar(CalendarPart::Month(date.month)),
        ("isLeapYear", []) => ScriptValue::Bool(is_leap(date.year)),
        ("lengthOfMonth", []) => ScriptValue::Whole(days_in_month(date.month, is_leap(date.year))),
        ("lengthOfYear", []) => ScriptValue::Whole(365 + i64::from(is_leap(date.year))),
        ("withDayOfYear", [day]) => {
            let day = within(day, "DayOfYear", 1, 365 + i64::from(is_leap(date.year)))?;
            ScriptValue::Date(local + (day - date.day_of_year) * DAY_MS)
        }
        _ => return Ok(None),
    }))
}
