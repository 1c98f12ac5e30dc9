//! What values of files mean where JSON says less, or more, than rows of an insert do.

use clew_platform::Reservation;
use clew_schema::parsed_json_bytes;
use serde_json::{Map, Value};

use super::wrong;
use crate::collection::{Collection, DYNAMIC, DataType};
use crate::error::Result;
use crate::incoming::Refused;

/// A text between separators as the value of a field.
///
/// # Errors
/// When the field takes no such value.
pub(super) fn cell(
    collection: &Collection,
    (name, text): (&str, String),
    null: &str,
) -> Result<Value> {
    let Ok(field) = collection.field(name) else {
        let is_structs = collection.struct_field(name).is_some();
        return match serde_json::from_str(&text) {
            Ok(value) => Ok(value),
            // What rows have beyond the fields may be any text.
            Err(_) if !is_structs && name != DYNAMIC => Ok(Value::String(text)),
            Err(error) => Err(wrong(format!("the value of {name} is no JSON: {error}"))),
        };
    };
    if text == null && (field.nullable || field.default.is_some()) {
        return Ok(Value::Null);
    }
    let refused = |kind: &str| {
        wrong(format!(
            "failed to parse the value '{text}' of field '{name}' as {kind}"
        ))
    };
    let value = match field.data_type {
        DataType::VarChar | DataType::Timestamptz | DataType::Geometry => {
            Some(Value::String(text.clone()))
        }
        DataType::Bool => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "1" => Some(Value::Bool(true)),
            "false" | "f" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            text.trim().parse::<i64>().ok().map(Value::from)
        }
        DataType::Float | DataType::Double => {
            let number = text.trim().parse::<f64>().ok();
            let number = number.and_then(serde_json::Number::from_f64);
            number.map(Value::Number)
        }
        _ => serde_json::from_str(&text).ok(),
    };
    value.ok_or_else(|| refused(field.data_type.name()))
}

/// Reads the JSON that a file has as text in a row: the values of JSON fields.
///
/// # Errors
/// When such a text is no JSON, or finds no room.
pub(super) fn with_json(
    mut row: Map<String, Value>,
    collection: &Collection,
    room: &mut Reservation,
) -> Result<Map<String, Value>> {
    let are_json = |field: &&crate::collection::Field| field.data_type == DataType::Json;
    for field in collection.fields.iter().filter(are_json) {
        if let Some(Value::String(text)) = row.get(&field.name) {
            let value = parsed(&field.name, text, room)?;
            row.insert(field.name.clone(), value);
        }
    }
    Ok(row)
}

/// Makes of an object of a file what a row of an insert would be: what is beyond the fields may lie in `$meta`, and is passed
/// over where rows have nothing beyond them, as Milvus does it.
///
/// # Errors
/// When that is no object, and no text of one that finds room.
pub(super) fn settled(
    mut row: Map<String, Value>,
    collection: &Collection,
    room: &mut Reservation,
) -> Result<Map<String, Value>> {
    if !collection.dynamic {
        row.retain(|name, _| {
            collection.field(name).is_ok() || collection.struct_field(name).is_some()
        });
        return Ok(row);
    }
    let beyond = match row.remove(DYNAMIC) {
        Some(Value::String(text)) => parsed(DYNAMIC, &text, room)?,
        Some(Value::Null) | None => return Ok(row),
        Some(value) => value,
    };
    let Value::Object(members) = beyond else {
        return Err(wrong(
            "invalid value for dynamic field, only accept JSON object",
        ));
    };
    for (name, value) in members {
        // Fields come first.
        row.entry(name).or_insert(value);
    }
    Ok(row)
}

/// The JSON of a text. Its brackets may have been escaped in the file, so that the room of the row does not have it.
fn parsed(name: &str, text: &str, room: &mut Reservation) -> Result<Value> {
    let grown = room.grow(parsed_json_bytes(text.as_bytes()));
    grown.map_err(Refused::from)?;
    serde_json::from_str(text)
        .map_err(|error| wrong(format!("the value of {name} is no JSON: {error}")))
}
