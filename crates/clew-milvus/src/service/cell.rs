//! Values of rows as they are compared: read from columns, one by one.

use clew_engine::FieldValues;
use serde_json::Value;

use crate::collection::{DataType, Field, key_of};
use crate::error::{MilvusError, Result};
use crate::rows::filled;

/// A value of a row. Those of one field are of one kind.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(super) enum Cell {
    Integer(i64),
    Float(f64),
    Text(String),
    /// One that is there, of which no more is asked.
    Other,
}

impl Cell {
    /// The value of a row, where it has one.
    pub(super) fn of(column: &FieldValues, row: usize) -> Option<Cell> {
        match column {
            FieldValues::Integers(values) => values[row].map(Cell::Integer),
            FieldValues::Floats(values) => values[row].map(Cell::Float),
            FieldValues::Texts(values) => values[row].clone().map(Cell::Text),
            FieldValues::Vectors(values) => values[row].as_ref().map(|_| Cell::Other),
            FieldValues::Sparse(values) => values[row].as_ref().map(|_| Cell::Other),
            FieldValues::Json(values) => {
                let value: Value = serde_json::from_str(values[row].as_ref()?.get()).ok()?;
                match value.as_i64() {
                    Some(whole) => Some(Cell::Integer(whole)),
                    None => Cell::of_json(&value),
                }
            }
        }
    }

    /// The number that it is.
    #[allow(
        clippy::cast_precision_loss,
        reason = "it is asked for as such a number"
    )]
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Cell::Integer(number) => Some(*number as f64),
            Cell::Float(number) => Some(*number),
            Cell::Text(_) | Cell::Other => None,
        }
    }

    /// A value inside JSON, where a number may be whole in one row and not in the next.
    pub(super) fn of_json(value: &Value) -> Option<Cell> {
        match value {
            Value::Null => None,
            Value::Bool(truth) => Some(Cell::Integer(i64::from(*truth))),
            Value::Number(number) => number.as_f64().map(Cell::Float),
            Value::String(text) => Some(Cell::Text(text.clone())),
            Value::Array(_) | Value::Object(_) => Some(Cell::Other),
        }
    }
}

/// The column of a field, of rows with these ids: the next that was read, or of the key the ids themselves.
///
/// # Errors
/// When none was read, or an id is no number and should be one.
pub(super) fn column<'r>(
    field: &Field,
    ids: impl Iterator<Item = &'r str>,
    read: &mut impl Iterator<Item = FieldValues>,
) -> Result<FieldValues> {
    if !field.is_primary {
        let missing = || MilvusError::Internal("a column was not read".into());
        let values = read.next().ok_or_else(missing)?;
        return Ok(match field.added_default() {
            Some(default) => filled(values, default),
            None => values,
        });
    }
    if field.data_type != DataType::Int64 {
        let texts = ids.map(|id| Some(key_of(id).to_string()));
        return Ok(FieldValues::Texts(texts.collect()));
    }
    let numbers = ids.map(|id| {
        let number = id.parse().map(Some);
        number.map_err(|_| MilvusError::Internal(format!("the id {id} is no number")))
    });
    Ok(FieldValues::Integers(numbers.collect::<Result<_>>()?))
}
