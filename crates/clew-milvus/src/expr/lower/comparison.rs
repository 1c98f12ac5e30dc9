//! Comparisons: of a field with a value by its index, of anything else by a test.

use clew_query::{Comparison, FieldStep, Operand, Query, Range, Test};
use serde_json::Value;

use super::clauses::{but_not, constant, exists, predicate};
use super::literal::{check_kind, exact, incomparable};
use super::operand::Place;
use super::{Lowered, Lowering};
use crate::collection::{DYNAMIC, DataType, Field};
use crate::expr::ExprError;
use crate::expr::tree::{Expr, Kind, Operator};

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
        if let Some(query) = self.count_comparison(field, operator, &value)? {
            return Ok(query);
        }
        if let Kind::Path(path) = &field.kind
            && let Place::Indexed(own) = self.place(field.at, path)?
        {
            return indexed_comparison(field.at, own, operator, &value);
        }
        let how =
            comparison_of(operator).ok_or_else(|| ExprError::at(at, "expected a comparison"))?;
        if let Some(test) = self.whole_list(field, how, &value)? {
            return Ok(predicate(test, None));
        }
        let operand = self.single(field)?;
        self.check_element(field, &value)?;
        let narrowed = match self.by_document {
            true => None,
            false => narrowing(&operand, how, &value),
        };
        let test = Test::Compare(how, operand, Operand::Literal(value));
        Ok(predicate(test, narrowed))
    }

    /// An array field beside a list: it is the same where it is as long, and has the same at each place.
    fn whole_list(&self, expr: &Expr, how: Comparison, value: &Value) -> Lowered<Option<Test>> {
        let (Kind::Path(path), Value::Array(items)) = (&expr.kind, value) else {
            return Ok(None);
        };
        let Place::Inside(list, Some(field)) = self.place(expr.at, path)? else {
            return Ok(None);
        };
        let is_equality = matches!(how, Comparison::Equal | Comparison::NotEqual);
        let element = field.element_type.filter(|_| path.steps.is_empty());
        let Some(element) = element.filter(|_| is_equality) else {
            return Ok(None);
        };
        let same =
            |operand, value| Test::Compare(Comparison::Equal, operand, Operand::Literal(value));
        let mut tests = vec![same(Operand::Length(Box::new(list)), items.len().into())];
        for (at, item) in items.iter().enumerate() {
            check_kind(expr.at, element, &field.name, item)?;
            let operand = Operand::Field {
                name: field.name.clone(),
                steps: vec![FieldStep::Element(at)],
            };
            tests.push(same(operand, item.clone()));
        }
        let all = Test::And(tests);
        Ok(Some(match how {
            Comparison::NotEqual => Test::Not(Box::new(all)),
            _ => all,
        }))
    }

    /// What the values are that lie in documents alone, where their field says it, and its name: elements of typed arrays,
    /// parts of structs, and texts that may be long.
    pub(super) fn element_of(&self, expr: &Expr) -> Lowered<Option<(DataType, &str)>> {
        let Kind::Path(path) = &expr.kind else {
            return Ok(None);
        };
        let Place::Inside(_, Some(field)) = self.place(expr.at, path)? else {
            return Ok(None);
        };
        let element = match field.data_type {
            DataType::Json | DataType::Geometry => None,
            DataType::Array => field.element_type.filter(|_| !path.steps.is_empty()),
            own => Some(own),
        };
        Ok(element.map(|element| (element, field.name.as_str())))
    }

    /// These are compared with values of their type alone.
    fn check_element(&self, expr: &Expr, value: &Value) -> Lowered<()> {
        match self.element_of(expr)? {
            Some((element, name)) => check_kind(expr.at, element, name, value),
            None => Ok(()),
        }
    }

    fn comparison_test(
        &self,
        at: usize,
        operator: Operator,
        left: &Expr,
        right: &Expr,
    ) -> Lowered<Query> {
        let how =
            comparison_of(operator).ok_or_else(|| ExprError::at(at, "expected a comparison"))?;
        if let (Some(of_left), Some(of_right)) = (self.type_of(left)?, self.type_of(right)?)
            && of_left != of_right
            && !(of_left.is_number() && of_right.is_number())
        {
            return Err(incomparable(at, of_left, of_right));
        }
        let (left, right) = (self.single(left)?, self.single(right)?);
        Ok(predicate(Test::Compare(how, left, right), None))
    }

    /// What a field's values are; none where each row says so, as inside JSON.
    fn type_of(&self, expr: &Expr) -> Lowered<Option<DataType>> {
        let Kind::Path(path) = &expr.kind else {
            return Ok(None);
        };
        let field = match self.place(expr.at, path)? {
            Place::Indexed(field) => Some(field),
            Place::Inside(_, field) => field,
        };
        let own = field.map(|field| field.element_type.unwrap_or(field.data_type));
        Ok(own.filter(|own| *own != DataType::Json))
    }
}

/// A comparison that a field's index answers.
fn indexed_comparison(
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
            range.orders_ids = true;
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
fn beyond((min, max): (i64, i64), operator: Operator, value: &Value) -> Option<bool> {
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

/// What the terms of the dynamic field answer of a comparison with a value inside it: whatever passes is among these.
fn narrowing(operand: &Operand, how: Comparison, value: &Value) -> Option<Query> {
    let Operand::Field { name, steps } = operand else {
        return None;
    };
    let Value::String(text) = value else {
        // A number can be written in several ways.
        return None;
    };
    if name != DYNAMIC || how != Comparison::Equal || text.is_empty() {
        return None;
    }
    let mut path = DYNAMIC.to_string();
    for step in steps {
        match step {
            FieldStep::Member(name) if !name.is_empty() && !name.contains('.') => {
                path.push('.');
                path.push_str(name);
            }
            // Lists are opened in the terms.
            FieldStep::Element(_) => {}
            FieldStep::Member(_) => return None,
        }
    }
    Some(Query::term(path, text.as_str()))
}
