//! What an expression means: clauses that an index answers, and tests for the rest.
//!
//! Truths are taken apart here; each kind of them has a file.

mod added;
mod clauses;
mod comparison;
mod limits;
mod lists;
mod literal;
mod membership;
mod operand;
mod patterns;
mod sample;
mod shapes;
mod structs;
mod text;

use clew_query::{FieldStep, Operand, Query, Test};
use serde_json::Value;

use super::templates::Templates;
use super::tree::{Expr, Kind, Operator, Path};
use super::{ExprError, NOT_BOOLEAN};
use crate::collection::{Collection, DataType, Field, StructField, by_length, id_of};
use clauses::{all_of, any_of, constant, exists, not, tested};
use literal::literal_of;
use membership::Which;
use operand::Place;
use sample::{SAMPLE, check_negated, check_sides};
use structs::is_there;

type Lowered<T> = Result<T, ExprError>;

const AND_OF_NO_TRUTH: &str = "'and' can only be used between boolean expressions";
const OR_OF_NO_TRUTH: &str = "'or' can only be used between boolean expressions";
const NOT_OF_NO_TRUTH: &str = "not op can only be applied on boolean expression";
const NULL_LITERAL: &str = "NULL literal is not supported in expressions; use '<field> is null' or '<field> is not null' instead";

/// The query that an expression means.
///
/// Where it has more clauses than the engine compiles, all of it becomes one test of the documents, which is slower.
pub(super) fn lower(expr: &Expr, collection: &Collection, templates: &Templates) -> Lowered<Query> {
    check_no_null(expr, collection)?;
    let lowering = Lowering::new(collection, templates);
    // The name of a dynamic field and nothing else is more likely a mistake.
    if let Kind::Path(path) = &expr.kind
        && path.steps.is_empty()
        && collection.field(&path.name).is_err()
        && collection.dynamic
    {
        return Err(ExprError::at(expr.at, NOT_BOOLEAN));
    }
    let mut query = lowering.truth(expr, false)?;
    if collection.may_have_long() {
        // The index does not know the long texts of rows.
        let tested = Lowering::of_documents(collection, templates).truth(expr, false)?;
        query = by_length(query, tested);
    }
    if limits::check(&query, expr.at).is_ok() {
        return Ok(query);
    }
    by_document(expr, collection, templates)
}

/// Refuses `null` where a value or a field is meant: as the name of a dynamic field it would match nothing, and not tell.
fn check_no_null(expr: &Expr, collection: &Collection) -> Lowered<()> {
    let is_null = |part: &Expr| {
        let Kind::Path(path) = &part.kind else {
            return false;
        };
        path.name.eq_ignore_ascii_case("null") && collection.field(&path.name).is_err()
    };
    match expr.find(&is_null) {
        Some(null) => Err(ExprError::at(null.at, NULL_LITERAL)),
        None => Ok(()),
    }
}

/// The same as a test of documents, with clauses only for what no test can answer.
pub(super) fn by_document(
    expr: &Expr,
    collection: &Collection,
    templates: &Templates,
) -> Lowered<Query> {
    let query = Lowering::of_documents(collection, templates).truth(expr, false)?;
    limits::check(&query, expr.at)?;
    Ok(query)
}

/// The condition that an expression has for the structs of a field by themselves.
pub(super) fn element_filter(
    expr: &Expr,
    (collection, field): (&Collection, &StructField),
    templates: &Templates,
) -> Lowered<Option<Query>> {
    let lowering = Lowering::new(collection, templates);
    structs::element_filter(expr, field, &lowering)
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
        (DataType::VarChar, Value::String(text)) => Some(id_of(text.clone())),
        _ => None,
    };
    Ok(values.iter().map(key).collect())
}

/// The member of documents that a path leads into, and the way there.
pub(super) fn inside(
    expr: &Expr,
    collection: &Collection,
) -> Lowered<Option<(String, Vec<FieldStep>)>> {
    let Kind::Path(path) = &expr.kind else {
        return Ok(None);
    };
    let lowering = Lowering {
        collection,
        templates: &Templates::default(),
        by_document: true,
        around: None,
        settled: Vec::new(),
    };
    Ok(match lowering.place(expr.at, path)? {
        Place::Inside(Operand::Field { name, steps }, _) => Some((name, steps)),
        _ => None,
    })
}

struct Lowering<'a> {
    collection: &'a Collection,
    templates: &'a Templates,
    /// Whether documents are tested even where an index has the answer.
    by_document: bool,
    /// The field of structs whose parts are meant.
    around: Option<&'a str>,
    /// Fields that were added of which the rows that have a value are meant.
    settled: Vec<&'a str>,
}

impl<'a> Lowering<'a> {
    fn new(collection: &'a Collection, templates: &'a Templates) -> Self {
        Lowering {
            collection,
            templates,
            by_document: false,
            around: None,
            settled: Vec::new(),
        }
    }

    fn of_documents(collection: &'a Collection, templates: &'a Templates) -> Self {
        Lowering {
            by_document: true,
            ..Lowering::new(collection, templates)
        }
    }

    /// A part that is true or not, or that it is not.
    fn truth(&self, expr: &Expr, negated: bool) -> Lowered<Query> {
        if let Some(query) = self.added(expr, negated)? {
            return Ok(query);
        }
        match &expr.kind {
            Kind::Not(inner) => {
                check_negated(expr.at, inner)?;
                let of = |error: ExprError| error.of_part(NOT_OF_NO_TRUTH);
                self.truth(inner, !negated).map_err(of)
            }
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
                self.regex(value, pattern, negated)
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
            Kind::Exists(value) => self.has_key(value, negated),
            Kind::Call { .. } => self.call(expr, negated),
            Kind::Path(path) => self.flag(expr, path, negated),
            _ => match self.literal(expr)? {
                Some(Value::Bool(value)) => Ok(constant(value != negated)),
                Some(_) => Err(ExprError::at(expr.at, NOT_BOOLEAN)),
                None => {
                    // What is wrong inside a value is told before that it is no truth.
                    self.single(expr)?;
                    Err(ExprError::at(expr.at, NOT_BOOLEAN))
                }
            },
        }
    }

    /// The parts of a chain of one operator, whose left sides may be nested as deep as it is long.
    fn gather(
        &self,
        expr: &Expr,
        (operator, negated): (Operator, bool),
        parts: &mut Vec<Query>,
    ) -> Lowered<()> {
        let mut left = vec![expr];
        while let Some(next) = left.pop() {
            match &next.kind {
                Kind::Binary(own, first, second) if *own == operator => {
                    check_sides(next.at, operator, first, second)?;
                    left.push(second);
                    left.push(first);
                }
                _ => {
                    let of = |error: ExprError| match operator {
                        Operator::And => error.of_part(AND_OF_NO_TRUTH),
                        _ => error.of_part(OR_OF_NO_TRUTH),
                    };
                    parts.push(self.truth(next, negated).map_err(of)?);
                }
            }
        }
        Ok(())
    }

    fn literal(&self, expr: &Expr) -> Lowered<Option<Value>> {
        literal_of(expr, self.templates)
    }

    fn null(&self, value: &Expr, has_value: bool) -> Lowered<Query> {
        let Kind::Path(path) = &value.kind else {
            return Err(ExprError::at(value.at, "'is null' takes a field"));
        };
        if let Some((field, _)) = self.list_of(value) {
            return Ok(is_there(field, has_value));
        }
        let own = self.collection.field(&path.name).ok();
        let refused = match own.map(|field| field.data_type) {
            Some(own) if own.is_vector() => Some("vector fields"),
            Some(DataType::Array) if !path.steps.is_empty() => Some("array element access"),
            _ => None,
        };
        if let Some(what) = refused {
            let why = format!("IsNull/IsNotNull operations are not supported on {what}");
            return Err(ExprError::at(value.at, why));
        }
        let query = match self.place(value.at, path)? {
            Place::Indexed(field) if !field.nullable => constant(true),
            Place::Indexed(field) => exists(field),
            Place::Inside(operand, _) => return Ok(tested(Test::Exists(operand), !has_value)),
        };
        Ok(if has_value { query } else { not(query) })
    }

    /// Whether a JSON field has a key.
    fn has_key(&self, value: &Expr, negated: bool) -> Lowered<Query> {
        let refused = |said: String| Err(ExprError::at(value.at, said));
        let Kind::Path(path) = &value.kind else {
            return refused("exists operations are only supported on single fields now".into());
        };
        let (operand, field) = match self.place(value.at, path)? {
            Place::Indexed(field) => (None, Some(field)),
            Place::Inside(operand, field) => (Some(operand), field),
        };
        if let Some(field) = field.filter(|field| field.data_type != DataType::Json) {
            return refused(format!(
                "exists operations are only supportted on json field, got:{}",
                field.data_type.name()
            ));
        }
        match operand {
            Some(Operand::Field { name, steps }) if !steps.is_empty() => Ok(tested(
                Test::Exists(Operand::Field { name, steps }),
                negated,
            )),
            _ => refused("exists operations are only supportted on json key".into()),
        }
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
            Place::Inside(..) => Ok(tested(Test::IsTrue(self.single(expr)?), negated)),
        }
    }

    fn call(&self, expr: &Expr, negated: bool) -> Lowered<Query> {
        let Kind::Call {
            name,
            arguments,
            named,
        } = &expr.kind
        else {
            return Err(ExprError::at(expr.at, "expected a function"));
        };
        match name.as_str() {
            "json_contains" | "array_contains" => {
                self.contains(expr.at, arguments, (Which::One, negated))
            }
            "json_contains_all" | "array_contains_all" => {
                self.contains(expr.at, arguments, (Which::All, negated))
            }
            "json_contains_any" | "array_contains_any" => {
                self.contains(expr.at, arguments, (Which::Any, negated))
            }
            of_structs if Self::is_of_structs(of_structs) => {
                self.structs((expr.at, of_structs), (arguments, named), negated)
            }
            "text_match" => self.text_match(expr.at, (arguments, named), negated),
            "text_match_fuzzy" => self.text_match_fuzzy(expr.at, (arguments, named), negated),
            "phrase_match" => self.phrase_match(expr.at, arguments, negated),
            "starts_with" => self.starts_with(expr.at, arguments, negated),
            "empty" => self.empty(expr.at, arguments, negated),
            "roaring_match" => self.roaring(expr.at, arguments, negated),
            "bloom_match" => Err(ExprError::unsupported(
                expr.at,
                format!("{name} in an expression"),
            )),
            SAMPLE => self.sample(expr.at, (arguments, named)),
            of_shapes if Self::is_of_shapes(of_shapes) => {
                self.shapes((expr.at, of_shapes), arguments, negated)
            }
            other => Err(self.no_function(expr.at, other, arguments)),
        }
    }
}
