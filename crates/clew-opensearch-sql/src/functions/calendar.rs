//! Days, weeks and moments as functions count them. Everything is in UTC.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde_json::{Number, Value};

use crate::functions::time;

pub(crate) const MICROS_PER_S: i64 = 1_000_000;
pub(crate) const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_S;
/// Days from the year 0 to 1970, as MySQL counts them.
const DAYS_TO_1970: i64 = 719_528;

/// The moment that a value tells: a time, a date, or a time of today.
pub(crate) fn moment(value: &Value) -> Option<DateTime> {
    let text = value.as_str()?;
    match time::shown(text) {
        Some(shown) => shown.parse().ok(),
        // The last day that there is lies beyond what zones can be told of.
        None => match time_of_day(value) {
            Some(time) => Some(now().date().to_datetime(time)),
            None => text.trim().parse().ok(),
        },
    }
}

/// The moment that the digits of a number tell: a year of two or four digits, the month, the day, and perhaps the time.
pub(crate) fn of_digits(number: &Number) -> Option<DateTime> {
    let text = number.to_string();
    let digits = text.split('.').next()?;
    let century = match digits.len() {
        6 | 12 if digits < "70" => "20",
        6 | 12 => "19",
        8 | 14 => "",
        _ => return None,
    };
    let whole = format!("{century}{digits}");
    let whole = format!("{whole:0<14}");
    let (year, month, day) = (whole.get(..4)?, whole.get(4..6)?, whole.get(6..8)?);
    let (hour, minute, second) = (whole.get(8..10)?, whole.get(10..12)?, whole.get(12..)?);
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{second}");
    text.parse().ok()
}

/// The time of day alone, where a value has no date.
pub(crate) fn time_of_day(value: &Value) -> Option<Time> {
    let text = value.as_str()?.trim();
    if text.contains('-') || !text.contains(':') {
        return None;
    }
    text.parse().ok()
}

/// The same of a value that may have a date.
pub(crate) fn clock(value: &Value) -> Option<Time> {
    time_of_day(value).or_else(|| Some(moment(value)?.time()))
}

/// This moment.
pub(crate) fn now() -> DateTime {
    Timestamp::now().to_zoned(TimeZone::UTC).datetime()
}

/// Microseconds since 1970.
pub(crate) fn micros(moment: DateTime) -> Option<i64> {
    let first = jiff::civil::date(1970, 1, 1);
    let days = first.until(moment.date()).ok()?.get_days();
    Some(i64::from(days) * MICROS_PER_DAY + micros_of_day(moment.time()))
}

/// The moment so many microseconds after 1970.
pub(crate) fn of_micros(micros: i64) -> Option<DateTime> {
    let moment = Timestamp::from_microsecond(micros).ok()?;
    Some(moment.to_zoned(TimeZone::UTC).datetime())
}

/// Microseconds since midnight.
pub(crate) fn micros_of_day(time: Time) -> i64 {
    let seconds =
        i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    seconds * MICROS_PER_S + i64::from(time.subsec_nanosecond()) / 1000
}

/// The time of day so many microseconds after midnight, whatever the day.
pub(crate) fn of_micros_of_day(micros: i64) -> Option<Time> {
    Some(of_micros(micros.rem_euclid(MICROS_PER_DAY))?.time())
}

/// The days since the year 0.
pub(crate) fn day_number(date: Date) -> Option<i64> {
    let midnight = micros(date.to_datetime(Time::midnight()))?;
    Some(midnight.div_euclid(MICROS_PER_DAY) + DAYS_TO_1970)
}

/// The day so many days after the year 0.
pub(crate) fn of_day_number(days: i64) -> Option<Date> {
    let since = days.checked_sub(DAYS_TO_1970)?;
    let micros = since.checked_mul(MICROS_PER_DAY)?;
    Some(of_micros(micros)?.date())
}

/// A moment some units later, or earlier where their number is below zero.
pub(crate) fn later(moment: DateTime, count: i64, unit: &str) -> Option<DateTime> {
    let months = match unit {
        "month" => count,
        "quarter" => count.checked_mul(3)?,
        "year" => count.checked_mul(12)?,
        _ => {
            let micros_each = fixed_micros(unit)?;
            let added = count.checked_mul(micros_each)?;
            return of_micros(micros(moment)?.checked_add(added)?);
        }
    };
    moment
        .checked_add(Span::new().try_months(months).ok()?)
        .ok()
}

/// Units from one moment to another, only whole ones.
pub(crate) fn between(from: DateTime, to: DateTime, unit: &str) -> Option<i64> {
    if let Some(each) = fixed_micros(unit) {
        return Some((micros(to)? - micros(from)?) / each);
    }
    let months = |moment: DateTime| i64::from(moment.year()) * 12 + i64::from(moment.month());
    let rest = |moment: DateTime| (moment.day(), moment.time());
    let mut whole = months(to) - months(from);
    if whole > 0 && rest(to) < rest(from) {
        whole -= 1;
    } else if whole < 0 && rest(to) > rest(from) {
        whole += 1;
    }
    match unit {
        "month" => Some(whole),
        "quarter" => Some(whole / 3),
        "year" => Some(whole / 12),
        _ => None,
    }
}

/// The length of a unit that is always the same.
fn fixed_micros(unit: &str) -> Option<i64> {
    Some(match unit {
        "microsecond" => 1,
        "second" => MICROS_PER_S,
        "minute" => 60 * MICROS_PER_S,
        "hour" => 3600 * MICROS_PER_S,
        "day" => MICROS_PER_DAY,
        "week" => 7 * MICROS_PER_DAY,
        _ => return None,
    })
}

/// How weeks are counted: MySQL's modes 0 to 7.
#[derive(Clone, Copy, Debug)]
struct WeekMode {
    monday_first: bool,
    /// The first week has four days of the year; else it begins on the first day of a week.
    four_days: bool,
    /// Days before the first week are in week 0; else in the last week of the year before.
    from_zero: bool,
}

impl WeekMode {
    fn of(mode: i64) -> Option<Self> {
        let (monday_first, four_days, from_zero) = match mode {
            0 => (false, false, true),
            1 => (true, true, true),
            2 => (false, false, false),
            3 => (true, true, false),
            4 => (false, true, true),
            5 => (true, false, true),
            6 => (false, true, false),
            7 => (true, false, false),
            _ => return None,
        };
        Some(WeekMode {
            monday_first,
            four_days,
            from_zero,
        })
    }

    /// The first day of the first week of a year, in days after the first of January.
    fn begin(self, year: i16) -> Option<i64> {
        let first = Date::new(year, 1, 1).ok()?.weekday();
        let offset = i64::from(if self.monday_first {
            first.to_monday_zero_offset()
        } else {
            first.to_sunday_zero_offset()
        });
        Some(if self.four_days && offset <= 3 {
            -offset
        } else {
            (7 - offset) % 7
        })
    }
}

/// The week of a day by one of MySQL's modes, and the year that it is one of.
pub(crate) fn week(date: Date, mode: i64) -> Option<(i16, i64)> {
    let mode = WeekMode::of(mode)?;
    let day = i64::from(date.day_of_year()) - 1;
    let year = date.year();
    let number = (day - mode.begin(year)?).div_euclid(7) + 1;
    if mode.from_zero {
        return Some((year, number));
    }
    if number < 1 {
        let before = year.checked_sub(1)?;
        let days = i64::from(Date::new(before, 1, 1).ok()?.days_in_year());
        return Some((before, (day + days - mode.begin(before)?).div_euclid(7) + 1));
    }
    let after = year.checked_add(1)?;
    let is_next = day - i64::from(date.days_in_year()) >= mode.begin(after)?;
    Some(if is_next { (after, 1) } else { (year, number) })
}

/// A moment as answers show it.
pub(crate) fn written(moment: DateTime) -> Value {
    moment.to_string().replacen('T', " ", 1).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_are_counted_by_mode() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        for (date, mode, expected) in [
            ("2008-02-20", 0, (2008, 7)),
            ("2008-02-20", 1, (2008, 8)),
            ("2008-12-31", 1, (2008, 53)),
            ("2008-12-31", 3, (2009, 1)),
            ("2000-01-01", 0, (2000, 0)),
            ("2000-01-01", 2, (1999, 52)),
            ("1987-01-01", 0, (1987, 0)),
            ("2019-01-05", 4, (2019, 1)),
            ("2019-01-06", 4, (2019, 2)),
        ] {
            assert_eq!(week(day(date), mode), Some(expected), "{date} {mode}");
        }
    }

    #[test]
    fn days_are_numbered_as_in_mysql() {
        let day: Date = "2008-10-07".parse().unwrap();
        assert_eq!(day_number(day), Some(733_687));
        assert_eq!(of_day_number(733_687), Some(day));
        let moment: DateTime = "2020-01-31 10:00:00".parse().unwrap();
        assert_eq!(
            later(moment, 1, "month"),
            "2020-02-29 10:00:00".parse().ok()
        );
        assert_eq!(
            between(moment, "2020-03-30 09:00:00".parse().unwrap(), "month"),
            Some(1)
        );
        assert_eq!(
            between(moment, "2020-02-01 09:59:59".parse().unwrap(), "day"),
            Some(0)
        );
        assert_eq!(later(moment, i64::MAX, "year"), None);
    }
}
