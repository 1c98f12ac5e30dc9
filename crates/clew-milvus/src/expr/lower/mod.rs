//! What an expression means: clauses that an index answers, and tests for the rest.

mod comparisons;
mod lists;
mod literals;
mod queries;
mod words;

use clew_query::{Arithmetic, FieldStep, Operand, Query, Test, TextPattern};
use serde_json::Value;

use super::ExprError;
use super::templates::Templates;
use super::tree::{Expr, Kind, Operator, Path, Step};
use crate::collection::{Collection, DYNAMIC, DataType, Field};
use literals::{arithmetic_of, literal_of};
use queries::{all_of, any_of, constant, exists, not, tested};

type Lowered<T> = Result<T, ExprError>;

/// The query that an expression means.
pub(super) fn lower(expr: &Expr, collection: &Collection, templates: &Templates) -> Lowered<Query> {
    let lowering = Lowering {
        collection,
        templates,
    };
    lowering.truth(expr, false)
}

/// The keys that an expression names, when that is all it does.
pub(super) fn keys_of(
    expr: &Expr,
    primary: &Field,
    templates: &Templates,
) -> Lowered<Option<Vec<String>>> {
    let is_key = |expr: &Expr| matches!(&expr.kind, Kind::Path(path) if path.name == primary.name && path.steps.is_empty());
    let literal = |expr: &Expr| literal_of(expr, templates);
    let values = match &expr.kind {
        Kind::In {
            value,
            list,
            negated: false,
        } if is_key(value) => match literal(list)? {
            Some(Value::Array(items)) => items,
            _ => return Ok(None),
        },
        Kind::Binary(Operator::Equal, left, right) if is_key(left) => match literal(right)? {
            Some(value) => vec![value],
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let key = |value: &Value| match (primary.data_type, value) {
        (DataType::Int64, Value::Number(number)) => {
            number.as_i64().map(|number| number.to_string())
        }
        (DataType::VarChar, Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    Ok(values.iter().map(key).collect())
}

/// What a path means.
enum Place<'c> {
    /// A whole field that its index answers for.
    Indexed(&'c Field),
    /// Any other value of a document: a field's own, or one inside.
    Inside(Operand, Option<&'c Field>),
}

struct Lowering<'a> {
    collection: &'a Collection,
    templates: &'a Templates,
}

impl<'a> Lowering<'a> {
    /// A part that is true or not, or that it is not.
    fn truth(&self, expr: &Expr, negated: bool) -> Lowered<Query> {
        match &expr.kind {
            Kind::Not(inner) => self.truth(inner, !negated),
            Kind::Binary(operator @ (Operator::And | Operator::Or), ..) => {
                let mut parts = Vec::new();
                self.gather(expr, (*operator, negated), &mut parts)?;
                Ok(match (*operator == Operator::And) != negated {
                    true => all_of(parts),
                    false => any_of(parts),
                })
            }
            Kind::Bool(value) => Ok(constant(*value != negated)),
            Kind::Binary(operator, left, right) if operator.is_comparison() => {
                let operator = if negated {
                    operator.negated()
                } else {
                    *operator
                };
                self.comparison(expr.at, operator, left, right)
            }
            Kind::Binary(Operator::Like, value, pattern) => self.like(value, pattern, negated),
            Kind::Binary(operator @ (Operator::Matches | Operator::MatchesNot), value, pattern) => {
                let negated = negated != (*operator == Operator::MatchesNot);
                let pattern = self.text(pattern)?;
                let operand = self.operand(value)?;
                Ok(tested(
                    Test::Text(operand, TextPattern::Regex(pattern)),
                    negated,
                ))
            }
            Kind::In {
                value,
                list,
                negated: own,
            } => self.membership(value, list, *own != negated),
            Kind::IsNull {
                value,
                negated: own,
            } => self.null(value, *own != negated),
            Kind::Exists(value) => {
                let operand = self.operand(value)?;
                Ok(tested(Test::Exists(operand), negated))
            }
            Kind::Call { .. } => self.call(expr, negated),
            Kind::Path(path) => self.flag(expr, path, negated),
            _ => match self.literal(expr)? {
                Some(Value::Bool(value)) => Ok(constant(value != negated)),
                _ => Err(ExprError::at(
                    expr.at,
                    "predicate is not a boolean expression",
                )),
            },
        }
    }

    /// The parts of a chain of one operator.
    fn gather(
        &self,
        expr: &Expr,
        (operator, negated): (Operator, bool),
        parts: &mut Vec<Query>,
    ) -> Lowered<()> {
        match &expr.kind {
            Kind::Binary(own, left, right) if *own == operator => {
                self.gather(left, (operator, negated), parts)?;
                self.gather(right, (operator, negated), parts)
            }
            _ => {
                parts.push(self.truth(expr, negated)?);
                Ok(())
            }
        }
    }

    fn literal(&self, expr: &Expr) -> Lowered<Option<Value>> {
        literal_of(expr, self.templates)
    }

    fn text(&self, expr: &Expr) -> Lowered<String> {
        match self.literal(expr)? {
            Some(Value::String(text)) => Ok(text),
            _ => Err(ExprError::at(
                expr.at,
                "the right operand of a pattern match must be a string",
            )),
        }
    }

    fn place(&self, at: usize, path: &Path) -> Lowered<Place<'a>> {
        let steps = |steps: &[Step]| steps.iter().map(step).collect::<Vec<_>>();
        let field = self
            .collection
            .fields
            .iter()
            .find(|field| field.name == path.name);
        let Some(field) = field else {
            if !self.collection.dynamic {
                return Err(ExprError::at(at, format!("field {} not exist", path.name)));
            }
            let mut inside = match path.name.as_str() {
                DYNAMIC => Vec::new(),
                name => vec![FieldStep::Member(name.to_string())],
            };
            inside.extend(steps(&path.steps));
            let operand = Operand::Field {
                name: DYNAMIC.to_string(),
                steps: inside,
            };
            return Ok(Place::Inside(operand, None));
        };
        if field.data_type.is_vector() {
            return Err(ExprError::at(
                at,
                format!("field {} is a vector and cannot be filtered by", field.name),
            ));
        }
        let deep = matches!(field.data_type, DataType::Json | DataType::Array);
        if !path.steps.is_empty() && !deep {
            return Err(ExprError::at(
                at,
                format!(
                    "{} data type not supported accessed with []",
                    field.data_type.name()
                ),
            ));
        }
        if !deep && !field.is_text_alone() {
            return Ok(Place::Indexed(field));
        }
        let operand = Operand::Field {
            name: field.name.clone(),
            steps: steps(&path.steps),
        };
        Ok(Place::Inside(operand, Some(field)))
    }

    /// A value as tests take it.
    fn operand(&self, expr: &Expr) -> Lowered<Operand> {
        if let Some(value) = self.literal(expr)? {
            return Ok(Operand::Literal(value));
        }
        match &expr.kind {
            Kind::Path(path) => Ok(match self.place(expr.at, path)? {
                Place::Inside(operand, _) => operand,
                Place::Indexed(field) => Operand::Field {
                    name: field.name.clone(),
                    steps: Vec::new(),
                },
            }),
            Kind::Negative(inner) => {
                let zero = Box::new(Operand::Literal(Value::from(0)));
                Ok(Operand::Arithmetic(
                    Arithmetic::Subtract,
                    zero,
                    Box::new(self.number(inner)?),
                ))
            }
            Kind::Inverted(inner) => {
                let ones = Box::new(Operand::Literal(Value::from(-1)));
                Ok(Operand::Arithmetic(
                    Arithmetic::BitXor,
                    ones,
                    Box::new(self.number(inner)?),
                ))
            }
            Kind::Binary(operator, left, right) => match arithmetic_of(*operator) {
                Some(how) => {
                    let (left, right) = (self.number(left)?, self.number(right)?);
                    Ok(Operand::Arithmetic(how, Box::new(left), Box::new(right)))
                }
                None => Err(ExprError::at(expr.at, "a comparison cannot be compared")),
            },
            Kind::Call {
                name,
                arguments,
                named,
            } if name == "array_length" && named.is_empty() => {
                let [list] = &arguments[..] else {
                    return Err(ExprError::at(expr.at, "array_length takes one field"));
                };
                Ok(Operand::Length(Box::new(self.operand(list)?)))
            }
            _ => Err(ExprError::at(expr.at, "expected a value")),
        }
    }

    /// A value to count with.
    fn number(&self, expr: &Expr) -> Lowered<Operand> {
        let operand = self.operand(expr)?;
        let refuse = |what: String| {
            Err(ExprError::at(
                expr.at,
                format!("cannot calculate with {what}"),
            ))
        };
        if let Kind::Path(path) = &expr.kind
            && let Place::Indexed(field) = self.place(expr.at, path)?
            && matches!(field.data_type, DataType::VarChar | DataType::Bool)
        {
            return refuse(format!(
                "field {} of type {}",
                field.name,
                field.data_type.name()
            ));
        }
        match &operand {
            Operand::Literal(value) if !value.is_number() => refuse(value.to_string()),
            _ => Ok(operand),
        }
    }

    fn null(&self, value: &Expr, has_value: bool) -> Lowered<Query> {
        let Kind::Path(path) = &value.kind else {
            return Err(ExprError::at(value.at, "'is null' takes a field"));
        };
        let query = match self.place(value.at, path)? {
            Place::Indexed(field) if !field.nullable => constant(true),
            Place::Indexed(field) => exists(field),
            Place::Inside(operand, _) => return Ok(tested(Test::Exists(operand), !has_value)),
        };
        Ok(if has_value { query } else { not(query) })
    }

    fn flag(&self, expr: &Expr, path: &Path, negated: bool) -> Lowered<Query> {
        match self.place(expr.at, path)? {
            Place::Indexed(field) if field.data_type == DataType::Bool => {
                Ok(Query::term(&field.name, !negated))
            }
            Place::Indexed(field) => Err(ExprError::at(
                expr.at,
                format!(
                    "predicate is not a boolean expression: {}, data type: {}",
                    field.name,
                    field.data_type.name()
                ),
            )),
            Place::Inside(operand, _) => Ok(tested(Test::IsTrue(operand), negated)),
        }
    }
}

fn step(step: &Step) -> FieldStep {
    match step {
        Step::Member(name) => FieldStep::Member(name.clone()),
        Step::Element(number) => FieldStep::Element(*number),
    }
}
