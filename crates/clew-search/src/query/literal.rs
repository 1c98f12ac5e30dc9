//! JSON scalars as values of a field's kind, with OpenSearch's rules on what fits.

use std::net::Ipv6Addr;

use clew_query::{QueryError, number_refusal};
pub(crate) use clew_schema::text_of;
use clew_schema::{FloatKind, IntegerKind, Whole, parse_address, parse_network};
use serde_json::Value;

/// A number that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// Whole, and within 64 bits.
    Whole(i64),
    /// Anything else.
    Fraction(f64),
}

impl Number {
    fn as_f64(self) -> f64 {
        match self {
            #[allow(
                clippy::cast_precision_loss,
                reason = "the column holds floats: the nearest one is what was stored"
            )]
            Number::Whole(number) => number as f64,
            Number::Fraction(number) => number,
        }
    }
}

/// Reads a number.
pub(crate) fn number(value: &Value) -> Result<Number, QueryError> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_string(),
        other => {
            return Err(QueryError::create(format!(
                "For input string: \"{}\"",
                text_of(other)
            )));
        }
    };
    if let Ok(whole) = text.parse::<i64>() {
        return Ok(Number::Whole(whole));
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(whole_if_possible(number)),
        _ => Err(QueryError::create(number_refusal(&text))),
    }
}

/// The largest float below which every whole number has a float.
const EXACT_FLOAT_MAX: f64 = 9_007_199_254_740_992.0;

fn whole_if_possible(number: f64) -> Number {
    if number.fract() == 0.0 && number.abs() <= EXACT_FLOAT_MAX {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "whole and within 2^53, as just checked"
        )]
        return Number::Whole(number as i64);
    }
    Number::Fraction(number)
}

/// An integer to look for; `None` when no document can have it because it has a fraction.
pub(crate) fn integer(value: &Value, kind: IntegerKind) -> Result<Option<i64>, QueryError> {
    let (low, high, name) = kind.limits();
    let out_of_range = || {
        QueryError::create(format!(
            "Value [{}] is out of range for {name}",
            text_of(value)
        ))
    };
    match number(value)? {
        Number::Whole(number) if (low..=high).contains(&number) => Ok(Some(number)),
        Number::Whole(_) => Err(out_of_range()),
        Number::Fraction(number) if number.fract() == 0.0 => Err(out_of_range()),
        Number::Fraction(_) => Ok(None),
    }
}

/// One end of a range of integers: the nearest whole number inside; beyond `i64` it saturates.
/// `None` when nothing can be inside.
pub(crate) fn lowest(value: &Value, inclusive: bool) -> Result<Option<i64>, QueryError> {
    Ok(match number(value)? {
        Number::Whole(number) if inclusive => Some(number),
        Number::Whole(number) => number.checked_add(1),
        Number::Fraction(number) if number > TOP => None,
        Number::Fraction(number) => Some(saturating(number.ceil())),
    })
}

/// The upper end, like [`lowest`].
pub(crate) fn highest(value: &Value, inclusive: bool) -> Result<Option<i64>, QueryError> {
    Ok(match number(value)? {
        Number::Whole(number) if inclusive => Some(number),
        Number::Whole(number) => number.checked_sub(1),
        Number::Fraction(number) if number < -TOP => None,
        Number::Fraction(number) => Some(saturating(number.floor())),
    })
}

/// 2^63.
const TOP: f64 = 9_223_372_036_854_775_808.0;

#[allow(
    clippy::cast_possible_truncation,
    reason = "the conversion saturates, which is what is wanted"
)]
fn saturating(number: f64) -> i64 {
    number as i64
}

/// A float as the column holds it: `float` fields have less precision. Infinite ones, which no
/// document has, are written as in Java.
pub(crate) fn float(value: &Value, kind: FloatKind) -> Result<f64, QueryError> {
    if let Value::String(text) = value {
        match text.trim() {
            "Infinity" | "+Infinity" => return Ok(f64::INFINITY),
            "-Infinity" => return Ok(f64::NEG_INFINITY),
            _ => {}
        }
    }
    Ok(kind.nearest(number(value)?.as_f64()))
}

fn whole(value: &Value) -> Result<Whole, QueryError> {
    let text = text_of(value);
    Whole::parse(text.trim()).ok_or_else(|| QueryError::create(number_refusal(&text)))
}

/// A whole number without a sign to look for; `None` when no document can have it because it has a
/// fraction.
pub(crate) fn unsigned(value: &Value) -> Result<Option<u64>, QueryError> {
    let whole = whole(value)?;
    if whole.has_fraction {
        return Ok(None);
    }
    whole
        .toward_zero()
        .map(Some)
        .ok_or_else(|| not_unsigned(value))
}

fn not_unsigned(value: &Value) -> QueryError {
    QueryError::create(format!(
        "Value [{}] is out of range for an unsigned long",
        text_of(value)
    ))
}

/// An end of a range without signs: its whole number, and whether a fraction follows.
fn unsigned_end(value: &Value) -> Result<(u64, bool), QueryError> {
    let whole = whole(value)?;
    let number = whole.toward_zero().filter(|_| !whole.is_negative());
    let number = number.ok_or_else(|| not_unsigned(value))?;
    Ok((number, whole.has_fraction))
}

/// The lower end of a range without signs; `None` when nothing can be above it.
///
/// # Errors
/// When it is below zero or beyond 64 bits.
pub(crate) fn lowest_unsigned(value: &Value, inclusive: bool) -> Result<Option<u64>, QueryError> {
    let (number, has_fraction) = unsigned_end(value)?;
    Ok(number.checked_add(u64::from(has_fraction || !inclusive)))
}

/// The upper end, like [`lowest_unsigned`].
pub(crate) fn highest_unsigned(value: &Value, inclusive: bool) -> Result<Option<u64>, QueryError> {
    let (number, has_fraction) = unsigned_end(value)?;
    Ok(number.checked_sub(u64::from(!has_fraction && !inclusive)))
}

/// A truth value.
pub(crate) fn boolean(value: &Value) -> Result<bool, QueryError> {
    match value {
        Value::Bool(truth) => Ok(*truth),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        other => Err(QueryError::create(format!(
            "Can't parse boolean value [{}], expected [true] or [false]",
            text_of(other)
        ))),
    }
}

/// One address.
pub(crate) fn address(value: &Value) -> Result<Ipv6Addr, QueryError> {
    let text = text_of(value);
    parse_address(&text).ok_or_else(|| not_an_address(&text))
}

fn not_an_address(text: &str) -> QueryError {
    QueryError::create(format!("'{text}' is not an IP string literal."))
}

/// An address, or a network: its first and last address.
pub(crate) fn network(value: &Value) -> Result<(Ipv6Addr, Ipv6Addr), QueryError> {
    let text = text_of(value);
    if !text.contains('/') {
        return address(value).map(|one| (one, one));
    }
    parse_network(&text).ok_or_else(|| not_an_address(&text))
}
