//! Functions of one row: the list of all, and those that have no file of their own.

pub(crate) mod calendar;
pub(crate) mod cast;
pub(crate) mod date_format;
pub(crate) mod dates;
pub(crate) mod grok;
pub(crate) mod like;
pub(crate) mod numbers;
pub(crate) mod regexes;
pub(crate) mod texts;
pub(crate) mod time;
pub(crate) mod times;

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::fields::SqlType;
use calendar::written;
use cast::{float, of_number, shown};
use dates::{DATES, converted, zone};
use like::like;
use numbers::NUMBERS;
use texts::TEXTS;
use times::{TIMES, moved};

/// A function by its name, how many arguments it takes, and the type it has for theirs.
pub(super) struct Function {
    name: &'static str,
    pub(super) args: RangeInclusive<usize>,
    pub(super) kind: fn(&[SqlType]) -> SqlType,
    pub(super) run: fn(&[Value]) -> Value,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

const MANY: usize = 100;
/// A longer text is null, as in MySQL: a short statement could ask for one that no memory holds.
const TEXT_BYTES_MAX: usize = 16 << 20;

pub(super) const fn function(
    name: &'static str,
    args: RangeInclusive<usize>,
    kind: fn(&[SqlType]) -> SqlType,
    run: fn(&[Value]) -> Value,
) -> Function {
    Function {
        name,
        args,
        kind,
        run,
    }
}

static FUNCTIONS: &[Function] = &[
    function("upper", 1..=1, keyword, |args| {
        text(args, |text| text.to_uppercase().into())
    }),
    function("lower", 1..=1, keyword, |args| {
        text(args, |text| text.to_lowercase().into())
    }),
    function("trim", 1..=1, keyword, |args| {
        text(args, |text| text.trim().into())
    }),
    function("ltrim", 1..=1, keyword, |args| {
        text(args, |text| text.trim_start().into())
    }),
    function("rtrim", 1..=1, keyword, |args| {
        text(args, |text| text.trim_end().into())
    }),
    function("reverse", 1..=1, keyword, |args| {
        text(args, |text| text.chars().rev().collect::<String>().into())
    }),
    function("length", 1..=1, integer, |args| {
        text(args, |text| text.len().into())
    }),
    function("char_length", 1..=1, integer, |args| {
        text(args, |text| text.chars().count().into())
    }),
    function("concat", 1..=MANY, keyword, |args| concat("", args)),
    function("concat_ws", 2..=MANY, keyword, |args| {
        args.split_first()
            .and_then(|(by, rest)| Some(concat(by.as_str()?, rest)))
            .unwrap_or_default()
    }),
    function("substring", 2..=3, keyword, substring),
    function("substr", 2..=3, keyword, substring),
    function("replace", 3..=3, keyword, |args| match args {
        [Value::String(text), Value::String(from), Value::String(to)] => replace(text, (from, to)),
        _ => Value::Null,
    }),
    function("abs", 1..=1, first, |args| match whole(args) {
        Some(whole) => whole.checked_abs().map_or(Value::Null, Value::from),
        None => number(args, f64::abs),
    }),
    function("sqrt", 1..=1, double, |args| number(args, f64::sqrt)),
    function("exp", 1..=1, double, |args| number(args, f64::exp)),
    function("ln", 1..=1, double, |args| number(args, f64::ln)),
    function("log10", 1..=1, double, |args| number(args, f64::log10)),
    function("pow", 2..=2, double, power),
    function("power", 2..=2, double, power),
    function("mod", 2..=2, wider, |args| match args {
        [left, right] => match (left.as_i64(), right.as_i64(), left.as_f64(), right.as_f64()) {
            (Some(left), Some(right), ..) => {
                left.checked_rem(right).map_or(Value::Null, Value::from)
            }
            (.., Some(left), Some(right)) => float(left % right),
            _ => Value::Null,
        },
        _ => Value::Null,
    }),
    function("floor", 1..=1, long, |args| to_whole(args, f64::floor)),
    function("ceil", 1..=1, long, |args| to_whole(args, f64::ceil)),
    function("ceiling", 1..=1, long, |args| to_whole(args, f64::ceil)),
    function("round", 1..=2, rounded, round),
    function("coalesce", 1..=MANY, first_known, coalesce),
    function("ifnull", 2..=2, first_known, coalesce),
    function(
        "nullif",
        2..=2,
        |kinds| made_text(first(kinds)),
        |args| match args {
            [left, right] if left != right => left.clone(),
            _ => Value::Null,
        },
    ),
    function("isnull", 1..=1, boolean, |args| {
        args.iter().all(Value::is_null).into()
    }),
    function("isnotnull", 1..=1, boolean, |args| {
        (!args.iter().all(Value::is_null)).into()
    }),
    function("like", 2..=2, boolean, |args| match args {
        [Value::String(text), Value::String(pattern)] => like(text, pattern).into(),
        _ => Value::Null,
    }),
    function(
        "if",
        3..=3,
        |kinds| first_known(kinds.get(1..).unwrap_or_default()),
        case,
    ),
    function("case", 1..=MANY, results, case),
    function("timestamp", 1..=2, timestamp, |args| match args {
        [_, _] => moved(args, 1),
        _ => text(args, |text| time::shown(text).into()),
    }),
    function("datetime", 1..=2, datetime, |args| match args {
        [Value::String(moment), to] => {
            let offset = moment.len().checked_sub(6).and_then(|at| moment.get(at..));
            let offset = offset
                .filter(|offset| offset.starts_with(['+', '-']) && offset.get(3..4) == Some(":"));
            // No zone is as far from UTC as some texts say.
            if offset.is_some_and(|offset| zone(offset).is_none()) {
                return Value::Null;
            }
            let moment: Value = time::shown(moment).into();
            converted(&[moment, "+00:00".into(), to.clone()])
        }
        // Without a zone to go to, that of the text does not matter.
        _ => text(args, |text| match text.trim().parse() {
            Ok(local) => written(local),
            Err(_) => time::shown(text).into(),
        }),
    }),
    function("span", 2..=2, first, span),
];

/// A function by its name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    let all = [FUNCTIONS, NUMBERS, TEXTS, TIMES, DATES];
    all.into_iter()
        .flatten()
        .find(|function| function.name == name)
}

pub(super) fn keyword(_: &[SqlType]) -> SqlType {
    SqlType::Keyword
}

pub(super) fn integer(_: &[SqlType]) -> SqlType {
    SqlType::Integer
}

pub(super) fn long(_: &[SqlType]) -> SqlType {
    SqlType::Long
}

pub(super) fn double(_: &[SqlType]) -> SqlType {
    SqlType::Double
}

pub(super) fn boolean(_: &[SqlType]) -> SqlType {
    SqlType::Boolean
}

fn timestamp(_: &[SqlType]) -> SqlType {
    SqlType::Timestamp
}

pub(super) fn datetime(_: &[SqlType]) -> SqlType {
    SqlType::Datetime
}

pub(super) fn first(kinds: &[SqlType]) -> SqlType {
    kinds.first().copied().unwrap_or(SqlType::Undefined)
}

fn wider(kinds: &[SqlType]) -> SqlType {
    kinds.iter().copied().max().unwrap_or(SqlType::Undefined)
}

fn first_known(kinds: &[SqlType]) -> SqlType {
    let known = kinds
        .iter()
        .copied()
        .find(|kind| *kind != SqlType::Undefined);
    made_text(known.unwrap_or(SqlType::Undefined))
}

/// What functions make of a text is none of a field any more.
fn made_text(kind: SqlType) -> SqlType {
    match kind {
        SqlType::Text => SqlType::Keyword,
        other => other,
    }
}

pub(super) fn rounded(kinds: &[SqlType]) -> SqlType {
    if first(kinds).is_whole() {
        SqlType::Long
    } else {
        SqlType::Double
    }
}

/// Of the results between the conditions, and the one at the end.
fn results(kinds: &[SqlType]) -> SqlType {
    let last = kinds.len().saturating_sub(1);
    let results = kinds
        .iter()
        .enumerate()
        .filter(|(at, _)| at % 2 == 1 || *at == last);
    first_known(&results.map(|(_, kind)| *kind).collect::<Vec<_>>())
}

/// A text of the first argument, if it is one.
pub(super) fn text(args: &[Value], change: impl Fn(&str) -> Value) -> Value {
    match args.first() {
        Some(Value::String(text)) => change(text),
        _ => Value::Null,
    }
}

pub(super) fn number(args: &[Value], change: impl Fn(f64) -> f64) -> Value {
    match args.first().and_then(Value::as_f64) {
        Some(number) => float(change(number)),
        None => Value::Null,
    }
}

/// A number without a fraction, as whole numbers are written.
fn to_whole(args: &[Value], change: impl Fn(f64) -> f64) -> Value {
    match (whole(args), args.first().and_then(Value::as_f64)) {
        (Some(whole), _) => whole.into(),
        (None, Some(number)) => match of_number(SqlType::Long, change(number)) {
            // What is too large stops where whole numbers end, as Java's conversion does.
            Value::Null if number > 0.0 => i64::MAX.into(),
            Value::Null => i64::MIN.into(),
            whole => whole,
        },
        (None, None) => Value::Null,
    }
}

fn whole(args: &[Value]) -> Option<i64> {
    args.first().and_then(Value::as_i64)
}

fn concat(between: &str, args: &[Value]) -> Value {
    if args.iter().any(Value::is_null) {
        return Value::Null;
    }
    let texts: Vec<String> = args.iter().map(shown).collect();
    let length = texts
        .iter()
        .map(|text| text.len() + between.len())
        .sum::<usize>();
    if length > TEXT_BYTES_MAX {
        return Value::Null;
    }
    texts.join(between).into()
}

fn replace(text: &str, (from, to): (&str, &str)) -> Value {
    if from.is_empty() {
        return text.into();
    }
    let more = to.len().saturating_sub(from.len());
    let length = more
        .saturating_mul(text.matches(from).count())
        .saturating_add(text.len());
    if length > TEXT_BYTES_MAX {
        return Value::Null;
    }
    text.replace(from, to).into()
}

/// Places count from one, or from the end where they are negative.
fn substring(args: &[Value]) -> Value {
    let [Value::String(text), start, ..] = args else {
        return Value::Null;
    };
    let length = text.chars().count();
    let from_end = |back: i64| {
        usize::try_from(back.unsigned_abs()).map_or(0, |back| length.saturating_sub(back))
    };
    let skipped = match start.as_i64() {
        Some(start) if start > 0 => usize::try_from(start - 1).unwrap_or(usize::MAX),
        Some(0) => return "".into(),
        Some(start) => from_end(start),
        None => return Value::Null,
    };
    let taken = args.get(2).map_or(Some(usize::MAX), |count| {
        count
            .as_i64()
            .map(|count| usize::try_from(count).unwrap_or(0))
    });
    taken.map_or(Value::Null, |taken| {
        text.chars()
            .skip(skipped)
            .take(taken)
            .collect::<String>()
            .into()
    })
}

fn power(args: &[Value]) -> Value {
    match args {
        [base, exponent] => match (base.as_f64(), exponent.as_f64()) {
            (Some(base), Some(exponent)) => float(base.powf(exponent)),
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

fn round(args: &[Value]) -> Value {
    let digits = args.get(1).map_or(Some(0), Value::as_i64);
    let Some(digits) = digits.and_then(|digits| i32::try_from(digits.clamp(-300, 300)).ok()) else {
        return Value::Null;
    };
    let scale = 10_f64.powi(digits);
    match whole(args) {
        Some(whole) if digits >= 0 => whole.into(),
        _ => number(args, |number| {
            let scaled = (number * scale).round() / scale;
            if scaled.is_finite() { scaled } else { number }
        }),
    }
}

fn coalesce(args: &[Value]) -> Value {
    args.iter()
        .find(|arg| !arg.is_null())
        .cloned()
        .unwrap_or_default()
}

/// Conditions with their results, then the result if none holds.
fn case(args: &[Value]) -> Value {
    let mut rest = args;
    while let [condition, result, others @ ..] = rest {
        if *condition == Value::Bool(true) {
            return result.clone();
        }
        rest = others;
    }
    rest.first().cloned().unwrap_or_default()
}

/// Where a number's span of a length begins, unless that is below all numbers.
fn begin(number: i64, width: i64) -> Option<i64> {
    number.div_euclid(width).checked_mul(width)
}

/// The span of fixed length that a number or a time is in.
fn span(args: &[Value]) -> Value {
    match args {
        [value, Value::Number(width)] => match (value.as_i64(), width.as_i64()) {
            (Some(value), Some(width)) if width > 0 => {
                begin(value, width).map_or(Value::Null, Value::from)
            }
            _ => match (value.as_f64(), width.as_f64()) {
                (Some(value), Some(width)) if width > 0.0 => float((value / width).floor() * width),
                _ => Value::Null,
            },
        },
        [Value::String(moment), Value::String(width)] => {
            let (Some(moment), Some(width)) = (time::millis(moment), time::fixed_millis(width))
            else {
                return Value::Null;
            };
            begin(moment, width).and_then(time::of_millis).into()
        }
        _ => Value::Null,
    }
}

/// Checks what functions answer, each by its name with a list of arguments.
#[cfg(test)]
pub(super) fn answer<const CASES: usize>(cases: [(&str, Value, Value); CASES]) {
    for (name, args, expected) in cases {
        let function = find(name).expect("a function");
        let args = args.as_array().cloned().unwrap_or_default();
        assert_eq!((function.run)(&args), expected, "{name} {args:?}");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_have_no_fraction_and_times_have_zones() {
        answer([
            ("floor", json!([-1.5]), json!(-2)),
            ("ceil", json!([1.2]), json!(2)),
            ("ceiling", json!([7]), json!(7)),
            ("floor", json!([null]), json!(null)),
            ("floor", json!([1e30]), json!(i64::MAX)),
            ("ceil", json!([-1e30]), json!(i64::MIN)),
            ("ceil", json!([-0.5]), json!(0)),
            (
                "timestamp",
                json!(["2020-08-26 13:49:00", "12:15:16"]),
                json!("2020-08-27 02:04:16"),
            ),
            (
                "datetime",
                json!(["2008-02-10 02:00:00", "+04:00"]),
                json!("2008-02-10 06:00:00"),
            ),
        ]);
    }

    #[test]
    fn spans_begin_at_multiples_of_their_length() {
        assert_eq!(run("span", &[7.into(), 5.into()]), 5);
        assert_eq!(run("span", &[(-1).into(), 5.into()]), -5);
        assert_eq!(run("span", &[i64::MIN.into(), 3.into()]), Value::Null);
    }

    fn run(name: &str, args: &[Value]) -> Value {
        let function = find(name).expect("a function");
        (function.run)(args)
    }

    #[test]
    fn texts_that_no_memory_holds_are_null() {
        let text = |length: usize| Value::from("a".repeat(length));
        assert_eq!(
            run("replace", &[text(3), "a".into(), "bc".into()]),
            "bcbcbc"
        );
        assert_eq!(run("replace", &[text(3), "".into(), "bc".into()]), "aaa");
        assert_eq!(run("replace", &[text(3), "aa".into(), "".into()]), "a");
        let long = run("replace", &[text(4096), "a".into(), text(4096)]);
        assert_eq!(long, text(TEXT_BYTES_MAX));
        assert_eq!(
            run("replace", &[text(4097), "a".into(), text(4096)]),
            Value::Null
        );
        assert_eq!(
            run("replace", &[long.clone(), "a".into(), text(60_000)]),
            Value::Null
        );
        assert_eq!(run("concat", &[long.clone(), "".into()]), long);
        assert_eq!(run("concat", &[long, "a".into()]), Value::Null);
    }
}
