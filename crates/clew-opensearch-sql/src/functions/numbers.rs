//! Functions of numbers beside those that `functions` has.

use std::collections::hash_map::RandomState;
use std::f64::consts::{E, PI};
use std::hash::{BuildHasher, Hasher};

use clew_platform::{crc32, mixed_bits};
use clew_schema::in_radix;
use serde_json::Value;

use crate::fields::SqlType;
use crate::functions::cast::{float, of_number};
use crate::functions::{Function, double, function, integer, keyword, long, number, rounded};

pub(crate) static NUMBERS: &[Function] = &[
    function("e", 0..=0, double, |_| float(E)),
    function("pi", 0..=0, double, |_| float(PI)),
    function("acos", 1..=1, double, |args| number(args, f64::acos)),
    function("asin", 1..=1, double, |args| number(args, f64::asin)),
    function("atan", 1..=2, double, arc_tangent),
    function("atan2", 2..=2, double, arc_tangent),
    function("cos", 1..=1, double, |args| number(args, f64::cos)),
    function("cosh", 1..=1, double, |args| number(args, f64::cosh)),
    function("cot", 1..=1, double, |args| {
        number(args, |angle| angle.tan().recip())
    }),
    function("sin", 1..=1, double, |args| number(args, f64::sin)),
    function("sinh", 1..=1, double, |args| number(args, f64::sinh)),
    function("tan", 1..=1, double, |args| number(args, f64::tan)),
    function("degrees", 1..=1, double, |args| {
        number(args, f64::to_degrees)
    }),
    function("radians", 1..=1, double, |args| {
        number(args, f64::to_radians)
    }),
    function("cbrt", 1..=1, double, |args| number(args, f64::cbrt)),
    function("expm1", 1..=1, double, |args| number(args, f64::exp_m1)),
    function("log", 1..=2, double, logarithm),
    function("log2", 1..=1, double, |args| number(args, f64::log2)),
    function("rint", 1..=1, double, |args| {
        number(args, f64::round_ties_even)
    }),
    function("sign", 1..=1, integer, sign),
    function("signum", 1..=1, integer, sign),
    function("truncate", 2..=2, rounded, truncate),
    function("rand", 0..=1, float_type, random),
    function("conv", 3..=3, keyword, converted),
    function("crc32", 1..=1, long, |args| match args {
        [Value::String(text)] => crc32(text.as_bytes()).into(),
        _ => Value::Null,
    }),
];

fn float_type(_: &[SqlType]) -> SqlType {
    SqlType::Float
}

/// A number from 0 on and below 1; the same for the same seed.
fn random(args: &[Value]) -> Value {
    let bits = match args.first() {
        None => RandomState::new().build_hasher().finish(),
        Some(seed) => match seed.as_i64() {
            Some(seed) => mixed_bits(seed.cast_unsigned()),
            None => return Value::Null,
        },
    };
    let high = u32::try_from(bits >> 32).unwrap_or_default();
    float(f64::from(high) / 4_294_967_296.0)
}

fn arc_tangent(args: &[Value]) -> Value {
    match args {
        [y, x] => match (y.as_f64(), x.as_f64()) {
            (Some(y), Some(x)) => float(y.atan2(x)),
            _ => Value::Null,
        },
        _ => number(args, f64::atan),
    }
}

/// The natural one, or one to a base that comes first.
fn logarithm(args: &[Value]) -> Value {
    match args {
        [base, of] => match (base.as_f64(), of.as_f64()) {
            (Some(base), Some(of)) => float(of.ln() / base.ln()),
            _ => Value::Null,
        },
        _ => number(args, f64::ln),
    }
}

fn sign(args: &[Value]) -> Value {
    let Some(number) = args.first().and_then(Value::as_f64) else {
        return Value::Null;
    };
    let sign = i8::from(number > 0.0) - i8::from(number < 0.0);
    sign.into()
}

/// Cut after so many digits, without rounding.
fn truncate(args: &[Value]) -> Value {
    let [of, Value::Number(digits)] = args else {
        return Value::Null;
    };
    let digits = digits.as_i64().map(|digits| digits.clamp(-300, 300));
    let (Some(number), Some(digits)) = (
        of.as_f64(),
        digits.and_then(|digits| i32::try_from(digits).ok()),
    ) else {
        return Value::Null;
    };
    let scale = 10_f64.powi(digits);
    let scaled = (number * scale).trunc() / scale;
    match of.as_i64() {
        Some(whole) if digits >= 0 => whole.into(),
        Some(_) => of_number(SqlType::Long, scaled),
        None if scaled.is_finite() => float(scaled),
        None => of.clone(),
    }
}

/// A whole number from one base to another, both from 2 to 36.
fn converted(args: &[Value]) -> Value {
    let [of, from, to] = args else {
        return Value::Null;
    };
    let base = |base: &Value| {
        let base = base.as_i64().and_then(|base| u32::try_from(base).ok());
        base.filter(|base| (2..=36).contains(base))
    };
    let text = match of {
        Value::String(text) => text.trim().to_string(),
        Value::Number(number) => number.to_string(),
        _ => return Value::Null,
    };
    let (Some(from), Some(to)) = (base(from), base(to)) else {
        return Value::Null;
    };
    let Ok(number) = i64::from_str_radix(&text, from) else {
        return Value::Null;
    };
    in_radix(number, to).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::functions::find;

    fn run(name: &str, args: &Value) -> Value {
        let function = find(name).expect("a function");
        let args = args.as_array().cloned().unwrap_or_default();
        (function.run)(&args)
    }

    #[test]
    fn numbers_are_what_opensearchs_documentation_says() {
        for (name, args, expected) in [
            ("acos", json!([0]), json!(std::f64::consts::FRAC_PI_2)),
            ("atan2", json!([0, 1]), json!(0.0)),
            ("cbrt", json!([27]), json!(3.0)),
            ("conv", json!(["12", 10, 16]), json!("c")),
            ("conv", json!(["2C", 16, 10]), json!("44")),
            ("conv", json!([12, 10, 2]), json!("1100")),
            ("crc32", json!(["MySQL"]), json!(3_259_397_556_u32)),
            ("log", json!([2, 8]), json!(3.0)),
            ("rint", json!([1.7]), json!(2.0)),
            ("sign", json!([-1.1]), json!(-1)),
            ("truncate", json!([56.78, 1]), json!(56.7)),
            ("truncate", json!([1234, -2]), json!(1200)),
            ("sqrt", json!([-1]), json!(null)),
            ("conv", json!(["z", 10, 16]), json!(null)),
        ] {
            assert_eq!(run(name, &args), expected, "{name} {args}");
        }
    }
}
