//! Primary keys as bodies have them: numbers may come as texts, and texts as numbers.

use serde_json::Value;

use super::body::{Body, Refusal, Result, wrong};
use crate::collection::{DataType, Field};
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
/// For what is no key of such a field.
pub(super) fn read(primary: &Field, ids: &[&Value]) -> Result<IDs> {
    let refused = || wrong("ids", "a list of primary keys");
    let id_field = match primary.data_type {
        DataType::Int64 => {
            let data: Option<Vec<i64>> = ids.iter().map(|id| number(id)).collect();
            let data = data.ok_or_else(refused)?;
            i_ds::IdField::IntId(LongArray { data })
        }
        _ => {
            let data: Option<Vec<String>> = ids.iter().map(|id| text(id)).collect();
            let data = data.ok_or_else(refused)?;
            i_ds::IdField::StrId(StringArray { data })
        }
    };
    let id_field = Some(id_field);
    Ok(IDs { id_field })
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
    const SHOWN: usize = 64;
    let got: String = got.to_string().chars().take(SHOWN).collect();
    Refusal::Key(format!(
        "id must be {needed} primary key, got: {got}: invalid parameter"
    ))
}
