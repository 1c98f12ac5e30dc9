//! Primary keys as bodies have them: numbers may come as texts, and texts as numbers.

use serde_json::Value;

use super::body::{Body, Refusal, Result};
use crate::collection::{DataType, Field};
use crate::error::MilvusError;
use crate::proto::{IDs, LongArray, StringArray, i_ds};

/// The expression that finds the rows whose keys are the member `id`, one or a list.
///
/// # Errors
/// For what is no key of such a field.
pub(super) fn filter(primary: &Field, body: &Body) -> Result<String> {
    let list = list(primary, &body.list("id"))?;
    Ok(format!("{} in {list}", primary.name))
}

/// The list of an expression that has these keys, which may be none.
fn list(primary: &Field, ids: &[&Value]) -> Result<String> {
    let literal = |id: &&Value| {
        let (literal, needed) = match primary.data_type {
            DataType::Int64 => {
                let literal = number(id).map(|number| number.to_string());
                (literal, "an integer for an Int64")
            }
            _ => {
                let literal = text(id).map(|text| Value::from(text).to_string());
                (literal, "a string or a number for a VarChar")
            }
        };
        literal.ok_or_else(|| no_key(needed, id))
    };
    let literals = ids.iter().map(literal).collect::<Result<Vec<_>>>()?;
    Ok(format!("[{}]", literals.join(",")))
}

/// The keys of rows that are searched by.
///
/// # Errors
/// For what is no key of such a field, with its place.
pub(super) fn read(primary: &Field, ids: &[&Value]) -> Result<IDs> {
    let places = ids.iter().enumerate();
    let id_field = match primary.data_type {
        DataType::Int64 => {
            let data = places.map(|(at, id)| number(id).ok_or_else(|| no_number(at, id)));
            let data = data.collect::<Result<Vec<_>>>()?;
            i_ds::IdField::IntId(LongArray { data })
        }
        _ => {
            let data = places.map(|(at, id)| match text(id) {
                Some(text) if text.is_empty() => {
                    Err(refused(&format!("empty string id at index {at}")))
                }
                Some(text) => Ok(text),
                None => Err(refused(&format!(
                    "invalid id type at index {at}: expected string"
                ))),
            });
            let data = data.collect::<Result<Vec<_>>>()?;
            i_ds::IdField::StrId(StringArray { data })
        }
    };
    let id_field = Some(id_field);
    Ok(IDs { id_field })
}

fn no_number(at: usize, id: &Value) -> Refusal {
    refused(&match id {
        Value::String(text) => format!("invalid int64 id at index {at}: {}", shown(text)),
        Value::Number(_) => format!("invalid int64 id at index {at}: {id} has fractional part"),
        _ => format!("invalid id type at index {at}: expected int64"),
    })
}

fn refused(why: &str) -> Refusal {
    MilvusError::Invalid(format!("invalid parameter, error: {why}")).into()
}

fn number(id: &Value) -> Option<i64> {
    match id {
        Value::String(text) => text.parse().ok(),
        other => other.as_i64(),
    }
}

fn text(id: &Value) -> Option<String> {
    match id {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn no_key(needed: &str, got: &Value) -> Refusal {
    let got = shown(&got.to_string());
    Refusal::Key(format!(
        "id must be {needed} primary key, got: {got}: invalid parameter"
    ))
}

/// The beginning of what is no key.
fn shown(id: &str) -> String {
    const SHOWN: usize = 64;
    id.chars().take(SHOWN).collect()
}
