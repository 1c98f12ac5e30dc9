//! JSON values and numbers as texts, and what values are called.

use serde_json::Value;

/// A value as the text that a person would write: a text without its quotes, anything else as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value as Java writes it: as the text that it is, lists as `[a, b]` and objects as `{name=value}`.
pub fn java_text(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(java_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| format!("{name}={}", java_text(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => text_of(other),
    }
}

/// What Java calls a value's type, as reasons name it.
pub fn java_class(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Number(number) => match number.as_i64() {
            Some(whole) if i32::try_from(whole).is_ok() => "java.lang.Integer",
            Some(_) => "java.lang.Long",
            None if number.is_u64() => "java.math.BigInteger",
            None => "java.lang.Double",
        },
        Value::String(_) => "java.lang.String",
        Value::Array(_) => "java.util.ArrayList",
        Value::Object(_) => "java.util.HashMap",
    }
}

/// What readers of JSON call the beginning of a value.
pub fn json_token(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "START_OBJECT",
        Value::Array(_) => "START_ARRAY",
        Value::String(_) => "VALUE_STRING",
        Value::Number(_) => "VALUE_NUMBER",
        Value::Bool(_) => "VALUE_BOOLEAN",
        Value::Null => "VALUE_NULL",
    }
}

/// A number with a fraction as Java writes it: with a power of ten where it is far from 1.
pub fn fraction_text(number: f64) -> String {
    if number.is_infinite() {
        let sign = if number > 0.0 { "" } else { "-" };
        return format!("{sign}Infinity");
    }
    let size = number.abs();
    if number.is_nan() || size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{number:?}");
    }
    let written = format!("{number:E}");
    match written.split_once('E') {
        Some((digits, power)) if !digits.contains('.') => format!("{digits}.0E{power}"),
        _ => written,
    }
}

/// A number of 32 bits as the one of 64 that has its shortest text: 0.1, not 0.10000000149011612.
pub fn short_double(number: f32) -> f64 {
    let text = number.to_string();
    text.parse().unwrap_or(f64::from(number))
}

/// A whole number in digits of a radix from 2 to 36, letters small.
pub fn in_radix(number: i64, radix: u32) -> String {
    let mut left = number.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(left % u64::from(radix)).unwrap_or(0);
        digits.push(char::from_digit(digit, radix).unwrap_or('0'));
        left /= u64::from(radix);
        if left == 0 {
            break;
        }
    }
    if number < 0 {
        digits.push('-');
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_java_writes_them() {
        for (number, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.5, "1.5"),
            (0.001, "0.001"),
            (0.000_1, "1.0E-4"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (-12_345_678.0, "-1.2345678E7"),
            (1e20, "1.0E20"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(fraction_text(number), text);
        }
    }
}
