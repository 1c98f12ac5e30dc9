//! Functions of times of day, and intervals.

use jiff::civil::Time;
use serde_json::Value;

use crate::fields::SqlType;
use crate::functions::calendar::{
    MICROS_PER_S, clock, micros, micros_of_day, moment, now, of_micros, of_micros_of_day,
    time_of_day, written,
};
use crate::functions::date_format::format;
use crate::functions::{Function, function, integer, keyword, long};

/// The units of intervals.
const UNITS: [&str; 9] = [
    "microsecond",
    "second",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "year",
];

/// Functions of the moment that need no parentheses behind them.
pub(crate) const MOMENTS: [&str; 8] = [
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
    "utc_date",
    "utc_time",
    "utc_timestamp",
];

pub(crate) static TIMES: &[Function] = &[
    function(
        "interval",
        2..=2,
        |_| SqlType::Interval,
        |args| match args {
            [count, Value::String(unit)] => match count.as_i64() {
                Some(count) => format!("{count} {unit}").into(),
                None => Value::Null,
            },
            _ => Value::Null,
        },
    ),
    function("hour", 1..=1, integer, hour),
    function("hour_of_day", 1..=1, integer, hour),
    function("minute", 1..=1, integer, minute),
    function("minute_of_hour", 1..=1, integer, minute),
    function("minute_of_day", 1..=1, integer, |args| {
        part(args, |time| {
            (i64::from(time.hour()) * 60 + i64::from(time.minute())).into()
        })
    }),
    function("second", 1..=1, integer, second),
    function("second_of_minute", 1..=1, integer, second),
    function("microsecond", 1..=1, integer, |args| {
        part(args, |time| (time.subsec_nanosecond() / 1000).into())
    }),
    function("time", 1..=1, time_type, |args| part(args, shown)),
    function("time_to_sec", 1..=1, long, |args| {
        part(args, |time| (micros_of_day(time) / MICROS_PER_S).into())
    }),
    function("sec_to_time", 1..=1, time_type, |args| {
        let seconds = args.first().and_then(Value::as_f64);
        let micros = seconds.filter(|seconds| seconds.abs() < 1.0e11);
        let micros =
            micros.and_then(|seconds| format!("{:.0}", seconds * 1.0e6).parse::<i64>().ok());
        micros.and_then(of_micros_of_day).map_or(Value::Null, shown)
    }),
    function("maketime", 3..=3, time_type, make_time),
    function("time_format", 2..=2, keyword, |args| match args {
        [of, Value::String(pattern)] => {
            let moment = clock(of).map(|time| now().date().to_datetime(time));
            moment.map(|moment| format(moment, pattern)).into()
        }
        _ => Value::Null,
    }),
    function("timediff", 2..=2, time_type, |args| match args {
        [left, right] => match (clock(left), clock(right)) {
            (Some(left), Some(right)) => {
                let micros = micros_of_day(left) - micros_of_day(right);
                let sign = if micros < 0 { "-" } else { "" };
                let time = of_micros_of_day(micros.abs());
                time.map(|time| format!("{sign}{time}")).into()
            }
            _ => Value::Null,
        },
        _ => Value::Null,
    }),
    function("addtime", 2..=2, moved_type, |args| moved(args, 1)),
    function("subtime", 2..=2, moved_type, |args| moved(args, -1)),
    function("curtime", 0..=0, time_type, |_| this_second()),
    function("current_time", 0..=0, time_type, |_| this_second()),
    function("utc_time", 0..=0, time_type, |_| this_second()),
];

fn time_type(_: &[SqlType]) -> SqlType {
    SqlType::Time
}

fn moved_type(kinds: &[SqlType]) -> SqlType {
    match kinds {
        [SqlType::Time, _] => SqlType::Time,
        _ => SqlType::Datetime,
    }
}

fn shown(time: Time) -> Value {
    time.to_string().into()
}

fn this_second() -> Value {
    let micros = micros_of_day(now().time());
    let whole = of_micros_of_day(micros - micros % MICROS_PER_S);
    whole.map_or(Value::Null, shown)
}

/// Something of the time of day that the first argument is or has.
fn part(args: &[Value], of: impl Fn(Time) -> Value) -> Value {
    args.first().and_then(clock).map_or(Value::Null, of)
}

fn hour(args: &[Value]) -> Value {
    part(args, |time| time.hour().into())
}

fn minute(args: &[Value]) -> Value {
    part(args, |time| time.minute().into())
}

fn second(args: &[Value]) -> Value {
    part(args, |time| time.second().into())
}

fn make_time(args: &[Value]) -> Value {
    let made = || {
        let [hour, minute, second] = args else {
            return None;
        };
        let (hour, minute) = (hour.as_f64()?.round(), minute.as_f64()?.round());
        let second = second.as_f64()?;
        let text = format!("{hour:02.0}:{minute:02.0}:{second:09.6}");
        text.parse::<Time>().ok().map(|time| time.to_string())
    };
    made().into()
}

/// A time of day, or a moment, moved by another's time of day.
pub(crate) fn moved(args: &[Value], sign: i64) -> Value {
    let [of, by] = args else {
        return Value::Null;
    };
    let Some(by) = clock(by).map(|by| micros_of_day(by) * sign) else {
        return Value::Null;
    };
    if let Some(time) = time_of_day(of) {
        let moved = of_micros_of_day(micros_of_day(time) + by);
        return moved.map_or(Value::Null, shown);
    }
    let moved = moment(of)
        .and_then(micros)
        .and_then(|from| of_micros(from + by));
    moved.map_or(Value::Null, written)
}

/// An interval as the function of that name writes it.
pub(crate) fn interval_of(value: &Value) -> Option<(i64, &'static str)> {
    let (count, unit) = value.as_str()?.split_once(' ')?;
    let unit = UNITS.into_iter().find(|known| *known == unit)?;
    Some((count.parse().ok()?, unit))
}

/// Whether intervals have this unit.
pub(crate) fn is_unit(name: &str) -> bool {
    UNITS.contains(&name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::functions::answer;

    #[test]
    fn times_are_what_opensearchs_documentation_says() {
        answer([
            ("hour", json!(["01:02:03"]), json!(1)),
            ("hour", json!(["2020-01-01 04:05:06"]), json!(4)),
            ("minute_of_day", json!(["01:02:03"]), json!(62)),
            ("microsecond", json!(["01:02:03.123456"]), json!(123_456)),
            ("time", json!(["2020-08-26 13:49:00"]), json!("13:49:00")),
            ("time_to_sec", json!(["22:23:00"]), json!(80_580)),
            ("sec_to_time", json!([3601]), json!("01:00:01")),
            ("maketime", json!([1, 2, 3]), json!("01:02:03")),
            ("maketime", json!([20, 30, 40.5]), json!("20:30:40.5")),
            ("maketime", json!([25, 0, 0]), json!(null)),
            (
                "time_format",
                json!(["13:14:15.012345", "%T.%f"]),
                json!("13:14:15.012345"),
            ),
            (
                "timediff",
                json!(["23:59:59", "13:00:00"]),
                json!("10:59:59"),
            ),
            (
                "timediff",
                json!(["13:00:00", "23:59:59"]),
                json!("-10:59:59"),
            ),
            (
                "addtime",
                json!(["23:00:00", "02:00:00"]),
                json!("01:00:00"),
            ),
            (
                "addtime",
                json!(["2007-02-28 10:20:30", "20:40:50"]),
                json!("2007-03-01 07:01:20"),
            ),
            (
                "subtime",
                json!(["10:20:30", "00:05:42"]),
                json!("10:14:48"),
            ),
            ("interval", json!([2, "week"]), json!("2 week")),
        ]);
    }
}
