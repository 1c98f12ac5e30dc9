//! Values that need no document: literals, template values, and what arithmetic makes of them.

use clew_platform::stopped;
use clew_query::Arithmetic;
use serde_json::{Number, Value};

use super::Lowered;
use crate::collection::{DataType, Field};
use crate::expr::ExprError;
use crate::expr::templates::Templates;
use crate::expr::tree::{Expr, Kind, Operator};

/// A value that needs no document.
pub(super) fn literal_of(expr: &Expr, templates: &Templates) -> Lowered<Option<Value>> {
    Ok(Some(match &expr.kind {
        Kind::Bool(value) => Value::Bool(*value),
        Kind::Integer(value) => Value::from(*value),
        Kind::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        Kind::Text(text) => Value::String(text.clone()),
        // A value may be a list of millions, and be named by each of a thousand conditions.
        Kind::Template(_) if stopped() => return Ok(None),
        Kind::Template(name) => match templates.get(name) {
            Some(value) => value.clone(),
            None => {
                return Err(ExprError::at(
                    expr.at,
                    format!(
                        "the value of expression template variable name {{{name}}} is not found"
                    ),
                ));
            }
        },
        Kind::List(items) => {
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                match literal_of(item, templates)? {
                    Some(value) => values.push(value),
                    None => return Ok(None),
                }
            }
            Value::Array(values)
        }
        Kind::Negative(inner) => match literal_of(inner, templates)? {
            Some(value) => match Arithmetic::Subtract.of(&Value::from(0), &value) {
                Some(value) => value,
                None => return Ok(None),
            },
            None => return Ok(None),
        },
        Kind::Binary(operator, left, right) => {
            let Some(how) = arithmetic_of(*operator) else {
                return Ok(None);
            };
            match (literal_of(left, templates)?, literal_of(right, templates)?) {
                (Some(left), Some(right)) => match how.of(&left, &right) {
                    Some(value) => value,
                    None => {
                        return Err(ExprError::at(
                            expr.at,
                            format!("{left} and {right} make no number"),
                        ));
                    }
                },
                _ => return Ok(None),
            }
        }
        _ => return Ok(None),
    }))
}

pub(super) fn arithmetic_of(operator: Operator) -> Option<Arithmetic> {
    Some(match operator {
        Operator::Add => Arithmetic::Add,
        Operator::Subtract => Arithmetic::Subtract,
        Operator::Multiply => Arithmetic::Multiply,
        Operator::Divide => Arithmetic::Divide,
        Operator::Modulo => Arithmetic::Modulo,
        Operator::Power => Arithmetic::Power,
        Operator::BitAnd => Arithmetic::BitAnd,
        Operator::BitOr => Arithmetic::BitOr,
        Operator::BitXor => Arithmetic::BitXor,
        Operator::ShiftLeft => Arithmetic::ShiftLeft,
        Operator::ShiftRight => Arithmetic::ShiftRight,
        _ => return None,
    })
}

/// Refuses values of another kind than a field's.
pub(super) fn check_kind(at: usize, data_type: DataType, name: &str, value: &Value) -> Lowered<()> {
    let fits = match data_type {
        DataType::VarChar => value.is_string(),
        DataType::Bool => value.is_boolean(),
        _ => value.is_number(),
    };
    if fits {
        return Ok(());
    }
    let of = match value {
        Value::Bool(_) => DataType::Bool,
        Value::String(_) => DataType::VarChar,
        Value::Number(number) if number.is_f64() => DataType::Double,
        Value::Number(_) => DataType::Int64,
        Value::Null | Value::Array(_) | Value::Object(_) => {
            return Err(ExprError::at(
                at,
                format!(
                    "cannot compare field {name} of type {} with {value}",
                    data_type.name()
                ),
            ));
        }
    };
    Err(incomparable(at, data_type, of))
}

/// What is said of values of two types that have no order. In Milvus' words: the expression, which is told before them,
/// has the fields and the values.
pub(super) fn incomparable(at: usize, left: DataType, right: DataType) -> ExprError {
    ExprError::at(
        at,
        format!(
            "comparisons between {} and {} are not supported",
            left.name(),
            right.name()
        ),
    )
}

/// Refuses values of a list that are not of a field's type: whole numbers are not floats there.
pub(super) fn check_element(at: usize, data_type: DataType, value: &Value) -> Lowered<()> {
    let fits = match data_type {
        DataType::VarChar => value.is_string(),
        DataType::Bool => value.is_boolean(),
        _ if data_type.is_integer() => value.is_i64() || value.is_u64(),
        _ => value.is_number(),
    };
    if fits {
        return Ok(());
    }
    let shown = match value {
        Value::String(text) => format!("string_val:\"{text}\""),
        Value::Bool(truth) => format!("bool_val:{truth}"),
        Value::Number(number) if number.is_f64() => {
            format!("float_val:{}", number.as_f64().unwrap_or_default())
        }
        other => format!("int64_val:{other}"),
    };
    Err(ExprError::at(
        at,
        format!(
            "value '{shown}' in list cannot be casted to {}",
            data_type.name()
        ),
    ))
}

/// Refuses values that the elements of a list cannot be.
pub(super) fn check_cast(at: usize, element: DataType, values: &[Value]) -> Lowered<()> {
    let fits = |value: &Value| check_kind(at, element, "", value).is_ok();
    match values.iter().all(fits) {
        true => Ok(()),
        false => Err(ExprError::at(
            at,
            format!(
                "cannot cast value to {}: incompatible source type",
                element.name()
            ),
        )),
    }
}

/// A value as the terms of a field have it; none when no document can have it.
pub(super) fn exact(field: &Field, value: &Value) -> Option<Value> {
    let data_type = field.element_type.unwrap_or(field.data_type);
    let Some((min, max)) = data_type.integer_limits() else {
        return Some(value.clone());
    };
    let number = whole(value)?;
    (min..=max).contains(&number).then(|| Value::from(number))
}

/// A whole number, written as one or as a float without a fraction.
#[allow(
    clippy::cast_possible_truncation,
    reason = "checked to be whole and within bounds"
)]
fn whole(value: &Value) -> Option<i64> {
    const LIMIT: f64 = 9.2e18;
    let float = || {
        let float = value.as_f64()?;
        (float.fract() == 0.0 && float.abs() < LIMIT).then_some(float as i64)
    };
    value.as_i64().or_else(float)
}
