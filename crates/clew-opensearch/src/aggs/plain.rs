//! Plain values as settings have them.

use clew_query::aggregation::Scalar;
use serde_json::Value;

/// A number without its fraction, also where it is written as a text.
pub(super) fn whole_number(value: &Value) -> Option<i64> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "OpenSearch cuts fractions off, and the cast saturates"
    )]
    let cut = |number: f64| number.is_finite().then_some(number as i64);
    match value {
        Value::Number(number) => number.as_i64().or_else(|| cut(number.as_f64()?)),
        Value::String(text) => text.parse().ok().or_else(|| cut(text.parse().ok()?)),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A plain value.
pub(super) fn scalar(value: &Value) -> Option<Scalar> {
    Some(match value {
        Value::Bool(value) => Scalar::Boolean(*value),
        Value::String(text) => Scalar::Text(text.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Scalar::Integer(whole),
            None => match number.as_u64() {
                Some(whole) => Scalar::Unsigned(whole),
                None => Scalar::Float(number.as_f64()?),
            },
        },
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    })
}
