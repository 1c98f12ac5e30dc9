//! What an expression means, said as plainly as can be: a tree and a document, and whether it holds.

use std::cmp::Ordering;

use serde_json::Value;

use crate::collection::Collection;
use crate::expr::tree::{Expr, Kind, Operator, Path, Step};

/// Whether an expression holds; none where that is unknown.
pub(super) fn holds(expr: &Expr, collection: &Collection, document: &Value) -> Option<bool> {
    let truth = |expr: &Expr| holds(expr, collection, document);
    let of = |expr: &Expr| value(expr, collection, document);
    match &expr.kind {
        Kind::Bool(value) => Some(*value),
        Kind::Not(inner) => truth(inner).map(|holds| !holds),
        Kind::Binary(Operator::And, left, right) => match (truth(left), truth(right)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Kind::Binary(Operator::Or, left, right) => match (truth(left), truth(right)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        Kind::Binary(Operator::Like, text, pattern) => {
            let (text, pattern) = (of(text)?, of(pattern)?);
            let pattern: Vec<char> = pattern.as_str()?.chars().collect();
            let text: Vec<char> = text.as_str()?.chars().collect();
            Some(is_like(&text, &pattern))
        }
        Kind::Binary(operator, left, right) => {
            let order = order(&of(left)?, &of(right)?)?;
            Some(match operator {
                Operator::Equal => order == Ordering::Equal,
                Operator::NotEqual => order != Ordering::Equal,
                Operator::Less => order == Ordering::Less,
                Operator::LessEqual => order != Ordering::Greater,
                Operator::Greater => order == Ordering::Greater,
                Operator::GreaterEqual => order != Ordering::Less,
                other => panic!("{other:?} is no truth"),
            })
        }
        Kind::In {
            value,
            list,
            negated,
        } => {
            let (value, list) = (of(value)?, of(list)?);
            let list = list.as_array()?;
            if !list.is_empty() && list.iter().all(|one| order(one, &value).is_none()) {
                return None;
            }
            Some(has(list, &value) != *negated)
        }
        Kind::IsNull { value, negated } => Some(of(value).is_none() != *negated),
        Kind::Exists(value) => Some(of(value).is_some()),
        Kind::Path(_) => of(expr)?.as_bool(),
        Kind::Call {
            name, arguments, ..
        } => {
            let (list, wanted) = (of(&arguments[0])?, of(&arguments[1])?);
            let list = list.as_array()?;
            let all = || wanted.as_array().into_iter().flatten();
            Some(match name.split_once("_contains")?.1 {
                "" => has(list, &wanted),
                "_all" => all().all(|one| has(list, one)),
                _ => all().any(|one| has(list, one)),
            })
        }
        other => panic!("{other:?} is no truth"),
    }
}

fn has(list: &[Value], wanted: &Value) -> bool {
    list.iter()
        .any(|one| order(one, wanted) == Some(Ordering::Equal))
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Number(_), Value::Number(_)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        _ => None,
    }
}

/// `%` is any text, `_` any character.
fn is_like(text: &[char], pattern: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['%', pattern @ ..] => (0..=text.len()).any(|skipped| is_like(&text[skipped..], pattern)),
        ['_', pattern @ ..] => !text.is_empty() && is_like(&text[1..], pattern),
        [letter, pattern @ ..] => text.first() == Some(letter) && is_like(&text[1..], pattern),
    }
}

fn value(expr: &Expr, collection: &Collection, document: &Value) -> Option<Value> {
    let of = |expr: &Expr| value(expr, collection, document);
    Some(match &expr.kind {
        Kind::Bool(value) => Value::from(*value),
        Kind::Integer(value) => Value::from(*value),
        Kind::Float(value) => Value::from(*value),
        Kind::Text(value) => Value::from(value.as_str()),
        Kind::List(items) => items.iter().map(of).collect::<Option<Vec<_>>>()?.into(),
        Kind::Path(path) => member(path, collection, document)?,
        Kind::Call { arguments, .. } => of(&arguments[0])?.as_array()?.len().into(),
        Kind::Binary(operator, left, right) => {
            let (left, right) = (of(left)?, of(right)?);
            match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => whole(*operator, left, right)?.into(),
                _ => {
                    let (left, right) = (left.as_f64()?, right.as_f64()?);
                    match operator {
                        Operator::Add => left + right,
                        Operator::Subtract => left - right,
                        Operator::Multiply => left * right,
                        Operator::Divide if right != 0.0 => left / right,
                        Operator::Modulo if right != 0.0 => left % right,
                        _ => return None,
                    }
                    .into()
                }
            }
        }
        other => panic!("{other:?} is no value"),
    })
}

fn whole(operator: Operator, left: i64, right: i64) -> Option<i64> {
    match operator {
        Operator::Add => Some(left + right),
        Operator::Subtract => Some(left - right),
        Operator::Multiply => Some(left * right),
        Operator::Divide => left.checked_div(right),
        Operator::Modulo => left.checked_rem(right),
        other => panic!("{other:?} is no arithmetic of whole numbers"),
    }
}

fn member(path: &Path, collection: &Collection, document: &Value) -> Option<Value> {
    let mut found = match collection.field(&path.name) {
        Ok(_) => document.get(&path.name)?,
        Err(_) if path.name == "$meta" => document.get("$meta")?,
        Err(_) => document.get("$meta")?.get(&path.name)?,
    };
    for step in &path.steps {
        found = match step {
            Step::Member(name) | Step::Part(name) => found.get(name)?,
            Step::Element(number) => found.get(number)?,
        };
    }
    (!found.is_null()).then(|| found.clone())
}
