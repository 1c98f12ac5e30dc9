//! Comparisons of two values.

use clew_query::{Operand, Query, Range, Test};
use serde_json::Value;

use super::literals::comparison_of;
use super::queries::{but_not, constant, exists, narrowing, predicate};
use super::{Lowered, Lowering, Place};
use crate::collection::{DataType, Field};
use crate::expr::ExprError;
use crate::expr::tree::{Expr, Kind, Operator};

impl Lowering<'_> {
    pub(super) fn comparison(
        &self,
        at: usize,
        operator: Operator,
        left: &Expr,
        right: &Expr,
    ) -> Lowered<Query> {
        let (left_value, right_value) = (self.literal(left)?, self.literal(right)?);
        let (field, operator, value) = match (left_value, right_value) {
            (Some(left), Some(right)) => {
                let how = comparison_of(operator);
                let holds = how.and_then(|how| how.holds(&left, &right));
                return match holds {
                    Some(holds) => Ok(constant(holds)),
                    None => Err(ExprError::at(
                        at,
                        format!("cannot compare {left} with {right}"),
                    )),
                };
            }
            (None, Some(value)) => (left, operator, value),
            (Some(value), None) => (right, operator.mirrored(), value),
            (None, None) => return self.comparison_test(at, operator, left, right),
        };
        if let Kind::Path(path) = &field.kind
            && let Place::Indexed(own) = self.place(field.at, path)?
        {
            return indexed_comparison(field.at, own, operator, &value);
        }
        let how =
            comparison_of(operator).ok_or_else(|| ExprError::at(at, "expected a comparison"))?;
        let operand = self.operand(field)?;
        self.check_element(field, &value)?;
        let narrowed = narrowing(&operand, how, &value);
        let test = Test::Compare(how, operand, Operand::Literal(value));
        Ok(predicate(test, narrowed))
    }

    /// Elements of typed arrays are compared with values of their type alone.
    pub(super) fn check_element(&self, expr: &Expr, value: &Value) -> Lowered<()> {
        if let Kind::Path(path) = &expr.kind
            && let Place::Inside(_, Some(field)) = self.place(expr.at, path)?
            && field.data_type == DataType::Array
            && let Some(element) = field.element_type
        {
            if path.steps.is_empty() {
                return Err(ExprError::at(
                    expr.at,
                    format!("cannot compare array field {} with a value", field.name),
                ));
            }
            check_kind(expr.at, element, &field.name, value)?;
        }
        Ok(())
    }

    pub(super) fn comparison_test(
        &self,
        at: usize,
        operator: Operator,
        left: &Expr,
        right: &Expr,
    ) -> Lowered<Query> {
        let how =
            comparison_of(operator).ok_or_else(|| ExprError::at(at, "expected a comparison"))?;
        let (left, right) = (self.operand(left)?, self.operand(right)?);
        Ok(predicate(Test::Compare(how, left, right), None))
    }
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
    Err(ExprError::at(
        at,
        format!(
            "cannot compare field {name} of type {} with {value}",
            data_type.name()
        ),
    ))
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
pub(super) fn whole(value: &Value) -> Option<i64> {
    const LIMIT: f64 = 9.2e18;
    let float = || {
        let float = value.as_f64()?;
        (float.fract() == 0.0 && float.abs() < LIMIT).then_some(float as i64)
    };
    value.as_i64().or_else(float)
}

/// A comparison that a field's index answers.
pub(super) fn indexed_comparison(
    at: usize,
    field: &Field,
    operator: Operator,
    value: &Value,
) -> Lowered<Query> {
    check_kind(at, field.data_type, &field.name, value)?;
    let name = field.name.as_str();
    match operator {
        Operator::Equal | Operator::NotEqual => {
            let is = exact(field, value).map_or(Query::MatchNone, |value| Query::term(name, value));
            Ok(match operator {
                Operator::Equal => is,
                _ => but_not(field, is),
            })
        }
        _ if field.data_type == DataType::Bool => Err(ExprError::at(
            at,
            format!("comparisons of order are not supported on field {name} of type Bool"),
        )),
        _ => {
            if let Some(limits) = field.data_type.integer_limits()
                && let Some(outcome) = beyond(limits, operator, value)
            {
                return Ok(if outcome {
                    exists(field)
                } else {
                    Query::MatchNone
                });
            }
            let mut range = Range::new(name);
            let bound = Some(value.clone());
            match operator {
                Operator::Less => range.lt = bound,
                Operator::LessEqual => range.lte = bound,
                Operator::Greater => range.gt = bound,
                _ => range.gte = bound,
            }
            Ok(Query::Range(range))
        }
    }
}

/// What a comparison comes to that all values of a type decide alike.
#[allow(
    clippy::cast_precision_loss,
    reason = "limits need no more digits than a float has"
)]
pub(super) fn beyond((min, max): (i64, i64), operator: Operator, value: &Value) -> Option<bool> {
    let number = value.as_f64()?;
    let below = matches!(operator, Operator::Less | Operator::LessEqual);
    if value.is_i64() && (min..=max).contains(&value.as_i64()?) {
        return None;
    }
    if number > max as f64 {
        return Some(below);
    }
    if number < min as f64 {
        return Some(!below);
    }
    None
}
