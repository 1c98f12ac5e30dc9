//! What an expression means: clauses that an index answers, and tests for the rest.

use clew_query::{
    Arithmetic, Bool, Comparison, FieldStep, Match, MatchPhrase, MinimumShouldMatch, Operand,
    Operator as Joined, Pattern, PredicateQuery, Query, Range, Test, TextPattern,
};
use serde_json::{Number, Value};

use super::ExprError;
use super::templates::Templates;
use super::tree::{Expr, Kind, Operator, Path, Step};
use crate::collection::{Collection, DYNAMIC, DataType, Field, TEXT};

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

/// A value that needs no document.
fn literal_of(expr: &Expr, templates: &Templates) -> Lowered<Option<Value>> {
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

fn arithmetic_of(operator: Operator) -> Option<Arithmetic> {
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

fn comparison_of(operator: Operator) -> Option<Comparison> {
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

/// What a path means.
enum Place<'c> {
    /// A whole field that its index answers for.
    Indexed(&'c Field),
    /// Any other value of a document: a field's own, or one inside.
    Inside(Operand, Option<&'c Field>),
}

/// Which values a list must have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    One,
    All,
    Any,
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

    fn comparison(
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
    fn check_element(&self, expr: &Expr, value: &Value) -> Lowered<()> {
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

    fn comparison_test(
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

    fn membership(&self, value: &Expr, list: &Expr, negated: bool) -> Lowered<Query> {
        let values = match self.literal(list)? {
            Some(Value::Array(values)) => values,
            _ => {
                return Err(ExprError::at(
                    list.at,
                    "the right-hand side of 'in' must be a list",
                ));
            }
        };
        if let Kind::Path(path) = &value.kind
            && let Place::Indexed(field) = self.place(value.at, path)?
        {
            let mut wanted = Vec::with_capacity(values.len());
            for one in &values {
                check_kind(value.at, field.data_type, &field.name, one)?;
                wanted.extend(exact(field, one));
            }
            let terms = match wanted.is_empty() {
                true => Query::MatchNone,
                false => Query::Terms {
                    field: field.name.clone(),
                    values: wanted,
                    boost: 1.0,
                },
            };
            return Ok(if negated {
                but_not(field, terms)
            } else {
                terms
            });
        }
        let operand = self.operand(value)?;
        if let Operand::Literal(own) = &operand {
            return Ok(constant(values.contains(own) != negated));
        }
        Ok(tested(Test::OneOf(operand, values), negated))
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

    fn like(&self, value: &Expr, pattern: &Expr, negated: bool) -> Lowered<Query> {
        let pattern = self.text(pattern)?;
        if let Kind::Path(path) = &value.kind
            && let Place::Indexed(field) = self.place(value.at, path)?
        {
            if field.data_type != DataType::VarChar {
                return Err(ExprError::at(
                    value.at,
                    format!(
                        "like operation on field {} of type {}: only VarChar can be matched",
                        field.name,
                        field.data_type.name()
                    ),
                ));
            }
            let query = match plain_prefix(&pattern) {
                Some(prefix) => Query::Prefix(Pattern::new(&field.name, prefix)),
                None => Query::Wildcard(Pattern::new(&field.name, wildcard_of(&pattern))),
            };
            return Ok(if negated {
                but_not(field, query)
            } else {
                query
            });
        }
        let operand = self.operand(value)?;
        Ok(tested(
            Test::Text(operand, TextPattern::Like(pattern)),
            negated,
        ))
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
            "text_match" => {
                let query = self.text_match(expr.at, arguments, named)?;
                Ok(if negated { not(query) } else { query })
            }
            "phrase_match" => {
                let query = self.phrase_match(expr.at, arguments)?;
                Ok(if negated { not(query) } else { query })
            }
            other => Err(ExprError::at(
                expr.at,
                format!("function {other} is not supported"),
            )),
        }
    }

    fn contains(
        &self,
        at: usize,
        arguments: &[Expr],
        (which, negated): (Which, bool),
    ) -> Lowered<Query> {
        let [list, wanted] = arguments else {
            return Err(ExprError::at(at, "the function takes a field and a value"));
        };
        let value = self.literal(wanted)?;
        let value = value.ok_or_else(|| ExprError::at(wanted.at, "expected a value"))?;
        let all = which != Which::Any;
        let values = match (which, value) {
            (Which::One, value) => vec![value],
            (_, Value::Array(values)) => values,
            _ => return Err(ExprError::at(wanted.at, "expected a list of values")),
        };
        let Kind::Path(path) = &list.kind else {
            return Err(ExprError::at(list.at, "contains operation takes a field"));
        };
        let field = match self.place(list.at, path)? {
            Place::Indexed(field) => {
                return Err(ExprError::at(
                    list.at,
                    format!(
                        "contains operation are only supported on json or array fields now, got: {}",
                        field.data_type.name()
                    ),
                ));
            }
            Place::Inside(operand, field) => {
                let typed = field
                    .filter(|field| field.data_type == DataType::Array && path.steps.is_empty());
                match typed {
                    // The terms do not tell an empty list from none.
                    Some(field) if !(negated && field.nullable) => field,
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
        let element = field.element_type.unwrap_or(DataType::Int64);
        let mut terms = Vec::with_capacity(values.len());
        for value in &values {
            check_kind(wanted.at, element, &field.name, value)?;
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

    /// The path of the words of a text, and the text that is looked for.
    fn words(&self, at: usize, arguments: &[Expr]) -> Lowered<(String, String)> {
        let [field, text, ..] = arguments else {
            return Err(ExprError::at(at, "the function takes a field and a text"));
        };
        let Kind::Path(path) = &field.kind else {
            return Err(ExprError::at(field.at, "text match takes a field"));
        };
        let own = self
            .collection
            .fields
            .iter()
            .find(|own| own.name == path.name);
        let own =
            own.ok_or_else(|| ExprError::at(field.at, format!("field {} not exist", path.name)))?;
        let text = self.text(text)?;
        if own.is_text_alone() {
            return Ok((own.name.clone(), text));
        }
        if !own.flag("enable_match") {
            return Err(ExprError::at(
                field.at,
                format!("field \"{}\" does not enable match", own.name),
            ));
        }
        Ok((format!("{}.{TEXT}", own.name), text))
    }

    fn text_match(
        &self,
        at: usize,
        arguments: &[Expr],
        named: &[(String, Expr)],
    ) -> Lowered<Query> {
        let (path, text) = self.words(at, arguments)?;
        let mut wanted = Match::new(path, text);
        for (name, value) in named {
            match (
                name.as_str(),
                self.literal(value)?.and_then(|value| value.as_i64()),
            ) {
                ("minimum_should_match", Some(count @ 1..=1_000)) => {
                    wanted.minimum_should_match = Some(MinimumShouldMatch::Count(count));
                }
                ("minimum_should_match", _) => {
                    return Err(ExprError::at(
                        value.at,
                        "minimum_should_match should be in range [1, 1000]",
                    ));
                }
                (other, _) => {
                    return Err(ExprError::at(
                        value.at,
                        format!("text_match has no option {other}"),
                    ));
                }
            }
        }
        wanted.operator = Joined::Or;
        Ok(Query::Match(wanted))
    }

    fn phrase_match(&self, at: usize, arguments: &[Expr]) -> Lowered<Query> {
        let (path, text) = self.words(at, arguments)?;
        let mut phrase = MatchPhrase::new(path, text);
        if let Some(slop) = arguments.get(2) {
            let given = self.literal(slop)?.and_then(|slop| slop.as_u64());
            let given = given.and_then(|slop| u32::try_from(slop).ok());
            phrase.slop = given
                .ok_or_else(|| ExprError::at(slop.at, "slop must be a whole number from 0"))?;
        }
        Ok(Query::MatchPhrase(phrase))
    }
}

fn step(step: &Step) -> FieldStep {
    match step {
        Step::Member(name) => FieldStep::Member(name.clone()),
        Step::Element(number) => FieldStep::Element(*number),
    }
}

/// Refuses values of another kind than a field's.
fn check_kind(at: usize, data_type: DataType, name: &str, value: &Value) -> Lowered<()> {
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
fn exact(field: &Field, value: &Value) -> Option<Value> {
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

fn constant(holds: bool) -> Query {
    if holds {
        Query::match_all()
    } else {
        Query::MatchNone
    }
}

fn not(query: Query) -> Query {
    Query::Bool(Bool {
        must_not: vec![query],
        ..Bool::default()
    })
}

fn exists(field: &Field) -> Query {
    if !field.nullable {
        return constant(true);
    }
    Query::Exists {
        field: field.name.clone(),
        boost: 1.0,
    }
}

/// Rows with a value that is not one of these.
fn but_not(field: &Field, query: Query) -> Query {
    let mut clauses = Bool {
        must_not: vec![query],
        ..Bool::default()
    };
    if field.nullable {
        clauses.filter.push(Query::Exists {
            field: field.name.clone(),
            boost: 1.0,
        });
    }
    Query::Bool(clauses)
}

fn tested(test: Test, negated: bool) -> Query {
    match negated {
        true => predicate(Test::Not(Box::new(test)), None),
        false => predicate(test, None),
    }
}

fn predicate(test: Test, within: Option<Query>) -> Query {
    Query::Predicate(Box::new(PredicateQuery {
        within: within.map(Box::new),
        test,
        boost: 1.0,
    }))
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

/// All of some: what an index answers narrows what is tested.
fn all_of(parts: Vec<Query>) -> Query {
    let (mut indexed, mut tests) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Query::Predicate(own) => {
                let own = *own;
                indexed.extend(own.within.map(|within| *within));
                tests.push(own.test);
            }
            Query::MatchAll { .. } => {}
            other => indexed.push(other),
        }
    }
    let narrowed = match indexed.len() {
        0 => None,
        1 => indexed.pop(),
        _ => Some(Query::Bool(Bool {
            filter: indexed,
            ..Bool::default()
        })),
    };
    match tests.len() {
        0 => narrowed.unwrap_or_else(Query::match_all),
        1 => predicate(tests.remove(0), narrowed),
        _ => predicate(Test::And(tests), narrowed),
    }
}

fn any_of(parts: Vec<Query>) -> Query {
    // Tests without anything to narrow them read each document once for all.
    let (mut others, mut tests) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Query::Predicate(own) if own.within.is_none() => tests.push(own.test),
            Query::MatchNone => {}
            other => others.push(other),
        }
    }
    match tests.len() {
        0 => {}
        1 => others.push(predicate(tests.remove(0), None)),
        _ => others.push(predicate(Test::Or(tests), None)),
    }
    match others.len() {
        0 => Query::MatchNone,
        1 => others.remove(0),
        _ => Query::Bool(Bool {
            should: others,
            ..Bool::default()
        }),
    }
}

/// The text in front of a pattern that is nothing but that.
fn plain_prefix(pattern: &str) -> Option<String> {
    let prefix = pattern.strip_suffix('%')?;
    (!prefix.contains(['%', '_', '\\'])).then(|| prefix.to_string())
}

/// A pattern of `%` and `_` as one of `*` and `?`.
fn wildcard_of(pattern: &str) -> String {
    let mut wildcard = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    let plain = |letter: char, wildcard: &mut String| {
        if matches!(letter, '*' | '?' | '\\') {
            wildcard.push('\\');
        }
        wildcard.push(letter);
    };
    while let Some(letter) = letters.next() {
        match letter {
            '%' => wildcard.push('*'),
            '_' => wildcard.push('?'),
            '\\' => plain(letters.next().unwrap_or('\\'), &mut wildcard),
            other => plain(other, &mut wildcard),
        }
    }
    wildcard
}
