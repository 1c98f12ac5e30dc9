//! Values that need no document.

use clew_query::{Arithmetic, Comparison};
use serde_json::{Number, Value};

use super::Lowered;
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

pub(super) fn comparison_of(operator: Operator) -> Option<Comparison> {
    Some(match operator {
        Operator::Equal => Comparison::Equal,
        Operator::NotEqual => Comparison::NotEqual,
        Operator::Less => Comparison::Less,
        Operator::LessEqual => Comparison::LessEqual,
        Operator::Greater => Comparison::Greater,
        Operator::GreaterEqual => Comparison::GreaterEqual,
        _ => return None,
    })
}
