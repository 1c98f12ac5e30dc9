//! Values that are among some, and lists that have some.

use clew_query::{Operand, Query, Test};
use serde_json::Value;

use super::clauses::{all_of, any_of, but_not, constant, one_of, tested};
use super::literal::{check_cast, check_element, exact};
use super::operand::Place;
use super::{Lowered, Lowering};
use crate::collection::{DataType, Field};
use crate::expr::tree::{Expr, Kind};
use crate::expr::{ExprError, roaring};

/// Which values a list must have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    One,
    All,
    Any,
}

impl Which {
    /// What Milvus calls an operation of this kind.
    fn name(self) -> &'static str {
        match self {
            Which::One => "Contains",
            Which::All => "ContainsAll",
            Which::Any => "ContainsAny",
        }
    }
}

impl Lowering<'_> {
    pub(super) fn membership(&self, value: &Expr, list: &Expr, negated: bool) -> Lowered<Query> {
        let Some(Value::Array(values)) = self.literal(list)? else {
            return Err(ExprError::at(
                list.at,
                match &list.kind {
                    Kind::Not(_) => "not can only apply on boolean".to_string(),
                    Kind::Template(name) => format!(
                        "the value of term expression template variable {{{name}}} is not array"
                    ),
                    Kind::Path(path) => format!(
                        "value '({})' in list cannot be a non-const expression",
                        path.name
                    ),
                    _ => "the right-hand side of 'in' must be a list".to_string(),
                },
            ));
        };
        self.among(value, values, negated)
    }

    /// A whole number that is among those of a bitmap, which comes beside the expression.
    pub(super) fn roaring(&self, at: usize, arguments: &[Expr], negated: bool) -> Lowered<Query> {
        let [value, bitmap] = arguments else {
            return Err(self.no_function(at, "roaring_match", arguments));
        };
        let Kind::Template(name) = &bitmap.kind else {
            let why = "the second argument of roaring_match must be a {template} placeholder";
            return Err(ExprError::at(bitmap.at, why));
        };
        let invalid = |why: &str| {
            let why = format!("roaring_match bitmap blob is invalid: {why}");
            ExprError::at(bitmap.at, why)
        };
        let blob = self.templates.blob(name);
        let blob = blob.ok_or_else(|| invalid(&format!("{{{name}}} has no bytes")))?;
        let members = roaring::members(blob).map_err(|why| invalid(&why))?;
        if let Kind::Path(path) = &value.kind
            && let Place::Indexed(field) = self.place(value.at, path)?
            && field.data_type.integer_limits().is_none()
        {
            let own = field.data_type.name();
            let why = format!("roaring_match takes a field of whole numbers, got: {own}");
            return Err(ExprError::at(value.at, why));
        }
        let values = members.into_iter().map(Value::from).collect();
        self.among(value, values, negated)
    }

    fn among(&self, value: &Expr, values: Vec<Value>, negated: bool) -> Lowered<Query> {
        if let Kind::Path(path) = &value.kind
            && let Place::Indexed(field) = self.place(value.at, path)?
        {
            let mut wanted = Vec::with_capacity(values.len());
            for one in &values {
                check_element(value.at, field.data_type, one)?;
                wanted.extend(exact(field, one));
            }
            let terms = one_of(&field.name, wanted);
            return Ok(if negated {
                but_not(field, terms)
            } else {
                terms
            });
        }
        if let Some((element, _)) = self.element_of(value)? {
            for one in &values {
                check_element(value.at, element, one)?;
            }
        }
        // Nothing is in an empty list, which Milvus says of whole arrays, too.
        let operand = match values.is_empty() {
            true => self.operand(value)?,
            false => self.single(value)?,
        };
        if let Operand::Literal(own) = &operand {
            return Ok(constant(values.contains(own) != negated));
        }
        Ok(tested(Test::OneOf(operand, values), negated))
    }

    /// The values that a list is asked for.
    fn wanted(&self, wanted: &Expr, which: Which) -> Lowered<Vec<Value>> {
        let value = self.literal(wanted)?;
        let value = value.ok_or_else(|| ExprError::at(wanted.at, "expected a value"))?;
        match (which, value) {
            (Which::One, value) => Ok(vec![value]),
            (_, Value::Array(values)) => Ok(values),
            _ => {
                let why = format!("{} operation element must be an array", which.name());
                Err(ExprError::at(wanted.at, why))
            }
        }
    }

    pub(super) fn contains(
        &self,
        at: usize,
        arguments: &[Expr],
        (which, negated): (Which, bool),
    ) -> Lowered<Query> {
        let [list, wanted] = arguments else {
            return Err(ExprError::at(at, "the function takes a field and a value"));
        };
        let values = self.wanted(wanted, which)?;
        let all = which != Which::Any;
        if let Some(query) = self.part_contains(list, (wanted.at, &values), (which, negated))? {
            return Ok(query);
        }
        let Kind::Path(path) = &list.kind else {
            return Err(ExprError::at(list.at, "contains operation takes a field"));
        };
        let field = match self.place(list.at, path)? {
            Place::Indexed(field) => return Err(no_list(list.at, field)),
            Place::Inside(_, Some(field))
                if !matches!(field.data_type, DataType::Json | DataType::Array) =>
            {
                return Err(no_list(list.at, field));
            }
            Place::Inside(operand, field) => {
                let typed = field
                    .filter(|field| field.data_type == DataType::Array && path.steps.is_empty());
                if let Some(element) = typed.and_then(|field| field.element_type) {
                    check_cast(wanted.at, element, &values)?;
                }
                match typed {
                    // The terms do not tell an empty list from none, which matters where one without elements passes.
                    Some(field)
                        if !(field.nullable && (negated || values.is_empty()))
                            && !self.by_document =>
                    {
                        field
                    }
                    _ => {
                        return Ok(tested(
                            Test::Contains {
                                list: operand,
                                values,
                                all,
                            },
                            negated,
                        ));
                    }
                }
            }
        };
        let mut terms = Vec::with_capacity(values.len());
        for value in &values {
            terms.extend(exact(field, value).map(|value| Query::term(&field.name, value)));
        }
        let lost = terms.len() < values.len();
        let query = match all {
            true if lost => Query::MatchNone,
            true => all_of(terms),
            false => any_of(terms),
        };
        Ok(if negated {
            but_not(field, query)
        } else {
            query
        })
    }
}

fn no_list(at: usize, field: &Field) -> ExprError {
    let own = field.data_type.name();
    let why =
        format!("contains operation are only supported on json or array fields now, got: {own}");
    ExprError::at(at, why)
}
