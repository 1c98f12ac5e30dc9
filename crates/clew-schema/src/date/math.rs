//! Date arithmetic of queries: `now-1d/d`, `2020-01-01||+1M/d`.

use jiff::tz::TimeZone;

use super::civil::{
    DAY_MS, civil_from_days, days_from_civil, days_in_month, from_local, is_leap, to_local,
};
use super::{DateError, DateFormat};

/// Which end of the time that a date names is meant: a day is its first millisecond or its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// The first: for `gte` and `lt`.
    Down,
    /// The last: for `lte` and `gt`.
    Up,
}

#[derive(Clone, Copy)]
enum Unit {
    Year,
    Month,
    Week,
    Day,
    Fixed { millis: i64 },
}

impl Unit {
    fn parse(letter: u8) -> Option<Unit> {
        Some(match letter {
            b'y' => Unit::Year,
            b'M' => Unit::Month,
            b'w' => Unit::Week,
            b'd' => Unit::Day,
            b'h' | b'H' => Unit::Fixed { millis: 3_600_000 },
            b'm' => Unit::Fixed { millis: 60_000 },
            b's' => Unit::Fixed { millis: 1000 },
            _ => return None,
        })
    }

    /// The local time that many units later; the last day of a month stands for missing ones.
    fn add(self, local: i64, count: i64) -> Option<i64> {
        match self {
            Unit::Fixed { millis } => local.checked_add(millis.checked_mul(count)?),
            Unit::Day => local.checked_add(DAY_MS.checked_mul(count)?),
            Unit::Week => local.checked_add((7 * DAY_MS).checked_mul(count)?),
            Unit::Year => Unit::Month.add(local, count.checked_mul(12)?),
            Unit::Month => {
                let (year, month, day) = civil_from_days(local.div_euclid(DAY_MS));
                let months = (year * 12 + month - 1).checked_add(count)?;
                let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
                if year.abs() > 100_000_000 {
                    return None;
                }
                let day = day.min(days_in_month(month, is_leap(year)));
                Some(days_from_civil(year, month, day) * DAY_MS + local.rem_euclid(DAY_MS))
            }
        }
    }

    /// The start of the unit that the local time lies in; weeks start on Monday.
    fn floor(self, local: i64) -> i64 {
        let days = local.div_euclid(DAY_MS);
        match self {
            Unit::Fixed { millis } => local - local.rem_euclid(millis),
            Unit::Day => days * DAY_MS,
            // The epoch was a Thursday.
            Unit::Week => (days - (days + 3).rem_euclid(7)) * DAY_MS,
            Unit::Month => {
                let (year, month, _) = civil_from_days(days);
                days_from_civil(year, month, 1) * DAY_MS
            }
            Unit::Year => days_from_civil(civil_from_days(days).0, 1, 1) * DAY_MS,
        }
    }
}

impl DateFormat {
    /// Reads a date or an expression on `now` or on a date; days and dates without a zone are those of `zone`.
    ///
    /// # Errors
    /// [`DateError::Value`] or [`DateError::Math`].
    pub fn parse_with_math_in(
        &self,
        text: &str,
        now_ms: i64,
        rounding: Rounding,
        zone: &TimeZone,
    ) -> Result<i64, DateError> {
        let (anchor, expression) = if let Some(expression) = text.strip_prefix("now") {
            (now_ms, expression)
        } else if let Some((date, expression)) = text.split_once("||") {
            (self.read(date, Rounding::Down, zone)?, expression)
        } else {
            return self.read(text, rounding, zone);
        };
        evaluate(anchor, expression, rounding, zone).ok_or_else(|| DateError::Math {
            expression: text.to_string(),
        })
    }
}

fn evaluate(anchor: i64, expression: &str, rounding: Rounding, zone: &TimeZone) -> Option<i64> {
    let mut millis = anchor;
    let mut rest = expression.as_bytes();
    while let [operator, tail @ ..] = rest {
        let digits = tail.iter().take_while(|b| b.is_ascii_digit()).count();
        let count: i64 = match (digits, operator) {
            (0, _) => 1,
            (_, b'/') => return None,
            _ => std::str::from_utf8(&tail[..digits]).ok()?.parse().ok()?,
        };
        let unit = Unit::parse(*tail.get(digits)?)?;
        rest = &tail[digits + 1..];
        millis = match operator {
            b'+' => shift(millis, unit, count, zone)?,
            b'-' => shift(millis, unit, -count, zone)?,
            b'/' => {
                let start = unit.floor(to_local(millis, zone));
                match rounding {
                    Rounding::Down => from_local(start, zone),
                    Rounding::Up => from_local(unit.add(start, 1)?, zone).checked_sub(1)?,
                }
            }
            _ => return None,
        };
    }
    Some(millis)
}

/// Calendar units move the local clock, so that a day is a day across a change of the clocks.
fn shift(millis: i64, unit: Unit, count: i64, zone: &TimeZone) -> Option<i64> {
    match unit {
        Unit::Fixed { .. } => unit.add(millis, count),
        _ => Some(from_local(unit.add(to_local(millis, zone), count)?, zone)),
    }
}
