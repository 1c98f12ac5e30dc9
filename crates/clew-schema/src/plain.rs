//! JSON values and numbers as texts.

use serde_json::Value;

/// A value as the text that a person would write: a text without its quotes, anything else as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
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
