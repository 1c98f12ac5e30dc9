//! Functions of dates and moments: their parts, their names, and moments some time later.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde_json::Value;

use crate::fields::SqlType;
use crate::functions::calendar::{
    MICROS_PER_DAY, MICROS_PER_S, between, day_number, later, micros, moment, now, of_day_number,
    of_digits, of_micros, week, written,
};
use crate::functions::date_format::{day_name, format, month_name, parse};
use crate::functions::times::interval_of;
use crate::functions::{Function, datetime, function, integer, keyword, long};

pub(crate) static DATES: &[Function] = &[
    function("date", 1..=1, date_type, |args| {
        part(args, |moment| moment.date().to_string().into())
    }),
    function("year", 1..=1, integer, |args| {
        part(args, |m| m.year().into())
    }),
    function("quarter", 1..=1, integer, |args| {
        part(args, |m| ((m.month() - 1) / 3 + 1).into())
    }),
    function("month", 1..=1, integer, month),
    function("month_of_year", 1..=1, integer, month),
    function("monthname", 1..=1, keyword, |args| {
        part(args, |m| month_name(m.date()).into())
    }),
    function("week", 1..=2, integer, week_number),
    function("weekofyear", 1..=2, integer, week_number),
    function("week_of_year", 1..=2, integer, week_number),
    function("yearweek", 1..=2, integer, |args| {
        let mode = args.get(1).map_or(Some(0), Value::as_i64);
        // In the modes with this bit no week has the number 0.
        let mode = mode.map(|mode| mode | 2);
        part(args, |m| match mode.and_then(|mode| week(m.date(), mode)) {
            Some((year, week)) => (i64::from(year) * 100 + week).into(),
            None => Value::Null,
        })
    }),
    function("day", 1..=1, integer, day),
    function("dayofmonth", 1..=1, integer, day),
    function("day_of_month", 1..=1, integer, day),
    function("dayname", 1..=1, keyword, |args| {
        part(args, |m| day_name(m.date()).into())
    }),
    function("dayofweek", 1..=1, integer, weekday),
    function("day_of_week", 1..=1, integer, weekday),
    function("weekday", 1..=1, integer, |args| {
        part(args, |m| m.weekday().to_monday_zero_offset().into())
    }),
    function("dayofyear", 1..=1, integer, |args| {
        part(args, |m| m.day_of_year().into())
    }),
    function("day_of_year", 1..=1, integer, |args| {
        part(args, |m| m.day_of_year().into())
    }),
    function("last_day", 1..=1, date_type, |args| {
        part(args, |m| m.date().last_of_month().to_string().into())
    }),
    function("to_days", 1..=1, long, |args| {
        part(args, |m| day_number(m.date()).into())
    }),
    function("to_seconds", 1..=1, long, |args| match args.first() {
        Some(Value::Number(digits)) => of_digits(digits).map_or(Value::Null, to_seconds),
        _ => part(args, to_seconds),
    }),
    function("from_days", 1..=1, date_type, |args| {
        let days = args.first().and_then(Value::as_i64);
        let date = days.and_then(of_day_number);
        date.map(|date| date.to_string()).into()
    }),
    function("makedate", 2..=2, date_type, make_date),
    function("datediff", 2..=2, long, |args| {
        two(args, |left, right| {
            let days = day_number(left.date()).zip(day_number(right.date()));
            days.map(|(left, right)| left - right).into()
        })
    }),
    function("date_add", 2..=2, added_type, |args| added(args, 1)),
    function("adddate", 2..=2, added_type, |args| added(args, 1)),
    function("date_sub", 2..=2, added_type, |args| added(args, -1)),
    function("subdate", 2..=2, added_type, |args| added(args, -1)),
    function("timestampadd", 3..=3, datetime, |args| match args {
        [Value::String(unit), count, from] => {
            let moment = moment(from).zip(count.as_i64());
            let moment = moment.and_then(|(from, count)| later(from, count, &lower(unit)));
            moment.map_or(Value::Null, written)
        }
        _ => Value::Null,
    }),
    function("timestampdiff", 3..=3, long, |args| match args {
        [Value::String(unit), from, to] => {
            let both = moment(from).zip(moment(to));
            both.and_then(|(from, to)| between(from, to, &lower(unit)))
                .into()
        }
        _ => Value::Null,
    }),
    function("extract", 2..=2, long, |args| match args {
        [Value::String(unit), of] => match moment(of) {
            Some(moment) => extracted(moment, &lower(unit)),
            None => Value::Null,
        },
        _ => Value::Null,
    }),
    function("date_format", 2..=2, keyword, formatted),
    function("str_to_date", 2..=2, datetime, |args| match args {
        [Value::String(text), Value::String(pattern)] => {
            parse(text, pattern).map_or(Value::Null, written)
        }
        _ => Value::Null,
    }),
    function("get_format", 2..=2, keyword, |args| match args {
        [Value::String(kind), Value::String(place)] => named_format(kind, place),
        _ => Value::Null,
    }),
    function("from_unixtime", 1..=2, from_unixtime_type, from_unixtime),
    function("unix_timestamp", 0..=1, |_| SqlType::Double, unix_timestamp),
    function("convert_tz", 3..=3, datetime, converted),
    function("period_add", 2..=2, integer, |args| {
        periods(args, Some, |period, months| {
            let month = period + months;
            month.div_euclid(12) * 100 + month.rem_euclid(12) + 1
        })
    }),
    function("period_diff", 2..=2, integer, |args| {
        periods(args, months_of, |left, right| left - right)
    }),
    function("now", 0..=0, datetime, |_| whole_seconds(now())),
    function("current_timestamp", 0..=0, datetime, |_| {
        whole_seconds(now())
    }),
    function("localtime", 0..=0, datetime, |_| whole_seconds(now())),
    function("localtimestamp", 0..=0, datetime, |_| whole_seconds(now())),
    function("sysdate", 0..=1, datetime, |_| whole_seconds(now())),
    function("utc_timestamp", 0..=0, datetime, |_| whole_seconds(now())),
    function("curdate", 0..=0, date_type, |_| {
        now().date().to_string().into()
    }),
    function("current_date", 0..=0, date_type, |_| {
        now().date().to_string().into()
    }),
    function("utc_date", 0..=0, date_type, |_| {
        now().date().to_string().into()
    }),
];

fn date_type(_: &[SqlType]) -> SqlType {
    SqlType::Date
}

/// Days added to a date make a date, everything else a moment.
fn added_type(kinds: &[SqlType]) -> SqlType {
    match kinds {
        [SqlType::Date, days] if days.is_whole() => SqlType::Date,
        _ => SqlType::Datetime,
    }
}

fn from_unixtime_type(kinds: &[SqlType]) -> SqlType {
    match kinds {
        [_] => SqlType::Datetime,
        _ => SqlType::Keyword,
    }
}

fn lower(unit: &str) -> String {
    unit.to_ascii_lowercase()
}

/// Something of the moment that the first argument is.
fn part(args: &[Value], of: impl Fn(DateTime) -> Value) -> Value {
    args.first().and_then(moment).map_or(Value::Null, of)
}

fn two(args: &[Value], of: impl Fn(DateTime, DateTime) -> Value) -> Value {
    match args {
        [left, right] => match (moment(left), moment(right)) {
            (Some(left), Some(right)) => of(left, right),
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

fn month(args: &[Value]) -> Value {
    part(args, |moment| moment.month().into())
}

fn day(args: &[Value]) -> Value {
    part(args, |moment| moment.day().into())
}

/// Sunday is the first day.
fn weekday(args: &[Value]) -> Value {
    part(args, |moment| {
        moment.weekday().to_sunday_one_offset().into()
    })
}

fn week_number(args: &[Value]) -> Value {
    let mode = args.get(1).map_or(Some(0), Value::as_i64);
    part(args, |moment| {
        let week = mode.and_then(|mode| week(moment.date(), mode));
        week.map(|(_, week)| week).into()
    })
}

fn whole_seconds(moment: DateTime) -> Value {
    let whole = micros(moment).map(|micros| micros - micros.rem_euclid(MICROS_PER_S));
    whole.and_then(of_micros).map_or(Value::Null, written)
}

fn to_seconds(moment: DateTime) -> Value {
    let seconds = || {
        let of_day = micros(moment)?.rem_euclid(MICROS_PER_DAY) / MICROS_PER_S;
        Some(day_number(moment.date())? * (MICROS_PER_DAY / MICROS_PER_S) + of_day)
    };
    seconds().into()
}

/// The day of a year with a number, which may lie in a later one.
fn make_date(args: &[Value]) -> Value {
    let made = || {
        let [year, day] = args else { return None };
        let (year, day) = (year.as_f64()?.round(), day.as_f64()?.round());
        if !(0.0..10_000.0).contains(&year) || !(1.0..4_000_000.0).contains(&day) {
            return None;
        }
        let first: DateTime = format!("{year:04.0}-01-01T00:00:00").parse().ok()?;
        let days: i64 = format!("{day:.0}").parse().ok()?;
        Some(later(first, days - 1, "day")?.date().to_string())
    };
    made().into()
}

/// A moment and an interval, or a number of days.
fn added(args: &[Value], sign: i64) -> Value {
    let [from, by] = args else {
        return Value::Null;
    };
    let Some(start) = moment(from) else {
        return Value::Null;
    };
    if let Some((count, unit)) = interval_of(by) {
        let count = count.checked_mul(sign);
        let moment = count.and_then(|count| later(start, count, unit));
        return moment.map_or(Value::Null, written);
    }
    let days = by.as_i64().and_then(|days| days.checked_mul(sign));
    let Some(moment) = days.and_then(|days| later(start, days, "day")) else {
        return Value::Null;
    };
    // What was a date stays one.
    if from
        .as_str()
        .is_some_and(|text| text.trim().len() <= "2020-01-01".len())
    {
        return moment.date().to_string().into();
    }
    written(moment)
}

/// One part of a moment, or several as one number.
fn extracted(moment: DateTime, unit: &str) -> Value {
    let (date, time) = (moment.date(), moment.time());
    let [month, day] = [date.month(), date.day()].map(i64::from);
    let [hour, minute, second] = [time.hour(), time.minute(), time.second()].map(i64::from);
    let micros = i64::from(time.subsec_nanosecond()) / 1000;
    let clock = hour * 10_000 + minute * 100 + second;
    let number = match unit {
        "microsecond" => micros,
        "second" => second,
        "minute" => minute,
        "hour" => hour,
        "day" => day,
        "week" => return week(date, 0).map(|(_, week)| week).into(),
        "month" => month,
        "quarter" => (month - 1) / 3 + 1,
        "year" => i64::from(date.year()),
        "second_microsecond" => second * 1_000_000 + micros,
        "minute_microsecond" => (minute * 100 + second) * 1_000_000 + micros,
        "minute_second" => minute * 100 + second,
        "hour_microsecond" => clock * 1_000_000 + micros,
        "hour_second" => clock,
        "hour_minute" => hour * 100 + minute,
        "day_microsecond" => (day * 1_000_000 + clock) * 1_000_000 + micros,
        "day_second" => day * 1_000_000 + clock,
        "day_minute" => (day * 100 + hour) * 100 + minute,
        "day_hour" => day * 100 + hour,
        "year_month" => i64::from(date.year()) * 100 + month,
        _ => return Value::Null,
    };
    number.into()
}

fn formatted(args: &[Value]) -> Value {
    match args {
        [of, Value::String(pattern)] => moment(of).map(|moment| format(moment, pattern)).into(),
        _ => Value::Null,
    }
}

/// The pattern by which a place writes a kind of value.
fn named_format(kind: &str, place: &str) -> Value {
    let place = place.to_ascii_uppercase();
    let pattern = match (kind.to_ascii_lowercase().as_str(), place.as_str()) {
        ("date", "USA") => "%m.%d.%Y",
        ("date", "JIS" | "ISO") => "%Y-%m-%d",
        ("date", "EUR") => "%d.%m.%Y",
        ("date", "INTERNAL") => "%Y%m%d",
        ("time", "USA") => "%h:%i:%s %p",
        ("time", "JIS" | "ISO") => "%H:%i:%s",
        ("time", "EUR") => "%H.%i.%s",
        ("time", "INTERNAL") => "%H%i%s",
        ("datetime" | "timestamp", "USA" | "EUR") => "%Y-%m-%d %H.%i.%s",
        ("datetime" | "timestamp", "JIS" | "ISO") => "%Y-%m-%d %H:%i:%s",
        ("datetime" | "timestamp", "INTERNAL") => "%Y%m%d%H%i%s",
        _ => return Value::Null,
    };
    pattern.into()
}

fn from_unixtime(args: &[Value]) -> Value {
    let seconds = args.first().and_then(Value::as_f64);
    let micros = seconds.filter(|seconds| (0.0..1.0e11).contains(seconds));
    let micros = micros.and_then(|seconds| format!("{:.0}", seconds * 1.0e6).parse::<i64>().ok());
    let Some(moment) = micros.and_then(of_micros) else {
        return Value::Null;
    };
    match args.get(1) {
        None => written(moment),
        Some(Value::String(pattern)) => format(moment, pattern).into(),
        Some(_) => Value::Null,
    }
}

fn unix_timestamp(args: &[Value]) -> Value {
    let moment = match args.first() {
        None => Some(now()),
        Some(Value::Number(number)) => of_digits(number),
        Some(value) => moment(value),
    };
    let micros = moment.and_then(micros).filter(|micros| *micros >= 0);
    let seconds = micros.and_then(|micros| format!("{micros}e-6").parse::<f64>().ok());
    seconds.map_or(Value::Null, crate::functions::cast::float)
}

/// A moment of one zone in another; both as offsets.
pub(crate) fn converted(args: &[Value]) -> Value {
    let converted = || {
        let [of, from, to] = args else { return None };
        let there = moment(of)?
            .to_zoned(zone(from.as_str()?)?)
            .ok()?
            .with_time_zone(zone(to.as_str()?)?);
        Some(there.datetime())
    };
    converted().map_or(Value::Null, written)
}

/// A zone by its name, or by how far it is from UTC: `+04:00`.
pub(crate) fn zone(text: &str) -> Option<TimeZone> {
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return TimeZone::get(text).ok();
    }
    let (hours, minutes) = text.strip_prefix(['+', '-'])?.split_once(':')?;
    let hours = i32::from(hours.parse::<u8>().ok()?);
    let seconds = hours * 3600 + i32::from(minutes.parse::<u8>().ok()?) * 60;
    let seconds = if text.starts_with('-') {
        -seconds
    } else {
        seconds
    };
    let is_known = (-13 * 3600 - 59 * 60..=14 * 3600).contains(&seconds);
    let offset = Offset::from_seconds(seconds).ok()?;
    is_known.then(|| TimeZone::fixed(offset))
}

/// The months from the year 0 to a period, which is a year and a month, as in `200801`.
fn months_of(period: i64) -> Option<i64> {
    let (year, month) = (period / 100, period % 100);
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        year => year,
    };
    let is_period = (0..=9999).contains(&year) && (1..=12).contains(&month);
    is_period.then_some(year * 12 + month - 1)
}

/// Something of a period and of what `second` makes of another number.
fn periods(
    args: &[Value],
    second: impl Fn(i64) -> Option<i64>,
    of: impl Fn(i64, i64) -> i64,
) -> Value {
    let [left, right] = args else {
        return Value::Null;
    };
    let left = left.as_i64().and_then(months_of);
    let right = right
        .as_i64()
        .filter(|right| (-10_000_000..10_000_000).contains(right));
    let both = left.zip(right.and_then(second));
    both.map(|(left, right)| of(left, right)).into()
}

#[cfg(test)]
mod tests;
