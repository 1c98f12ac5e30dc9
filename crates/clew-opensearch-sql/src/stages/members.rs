//! What documents and nested objects have at a path, as a row has it.

use serde_json::Value;

use crate::fields::SqlType;
use crate::functions::cast::{cast, of_number};
use crate::functions::time;

/// The value at a path inside of a nested object, which is all of it without one.
pub(crate) fn part_of(kind: SqlType, path: &str, object: &Value) -> Value {
    if path.is_empty() {
        return object.clone();
    }
    at_path(object, path).map_or(Value::Null, |value| typed(kind, value))
}

/// What is at a path; names may have dots in them, and lists may be on the way.
pub(crate) fn at_path(value: &Value, path: &str) -> Option<Value> {
    match value {
        Value::Object(members) => {
            if let Some(found) = members.get(path) {
                return Some(found.clone());
            }
            let dots = path.match_indices('.').map(|(at, _)| at);
            let mut found =
                dots.filter_map(|at| at_path(members.get(&path[..at])?, &path[at + 1..]));
            found.next()
        }
        Value::Array(items) => {
            let found: Vec<Value> = items
                .iter()
                .filter_map(|item| at_path(item, path))
                .collect();
            (!found.is_empty()).then_some(Value::Array(found))
        }
        _ => None,
    }
}

/// A document's value as the mapping reads it: numbers may be written as texts, and texts as numbers.
pub(crate) fn typed(kind: SqlType, value: Value) -> Value {
    match (kind, value) {
        (kind, Value::Array(items))
            if !matches!(kind, SqlType::GeoPoint | SqlType::Object | SqlType::Nested) =>
        {
            Value::Array(items.into_iter().map(|item| typed(kind, item)).collect())
        }
        (SqlType::Timestamp, Value::String(text)) => {
            time::shown(&text).map_or(Value::String(text), Value::from)
        }
        (SqlType::Date | SqlType::Time, value @ Value::String(_)) => match cast(kind, &value) {
            Value::Null => value,
            part => part,
        },
        (
            SqlType::Keyword | SqlType::Text | SqlType::Ip,
            value @ (Value::Number(_) | Value::Bool(_)),
        ) => cast(SqlType::Keyword, &value),
        (kind, Value::Number(number)) if kind.is_whole() && number.is_u64() => {
            Value::Number(number)
        }
        (kind, Value::Number(number)) if kind.is_number() => number
            .as_f64()
            .map_or(Value::Null, |number| of_number(kind, number)),
        (kind, value @ Value::String(_)) if kind.is_number() || kind == SqlType::Boolean => {
            cast(kind, &value)
        }
        (_, value) => value,
    }
}
