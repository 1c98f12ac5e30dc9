//! A value of a column on its way into a document: held against its field, then written as JSON.

use crate::collection::{DataType, Field, TERM_BYTES_MAX};
use crate::error::{MilvusError, Result};
use crate::proto::{self, scalar_field};

pub(super) fn write(out: &mut Vec<u8>, value: &impl serde::Serialize) -> Result<()> {
    serde_json::to_writer(out, value).map_err(|error| MilvusError::Internal(error.to_string()))
}

pub(super) fn check_integer(field: &Field, value: i64, row: usize) -> Result<()> {
    let data_type = field.element_type.unwrap_or(field.data_type);
    let Some((min, max)) = data_type.integer_limits() else {
        return Ok(());
    };
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(MilvusError::invalid(format!(
        "the value {value} of field ({}) in row {row} is out of range [{min}, {max}]",
        field.name
    )))
}

pub(super) fn check_finite(field: &Field, value: f64, row: usize) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(MilvusError::invalid(format!(
        "value '{value}' of field ({}) in row {row} is not a number or infinity",
        field.name
    )))
}

pub(super) fn check_length(field: &Field, text: &str, row: usize) -> Result<()> {
    let max = field.max_length()?;
    if text.len() > TERM_BYTES_MAX && field.is_part() {
        return Err(MilvusError::Unsupported(format!(
            "a text of {} bytes in structs (field {}, row number: {row}), at most {TERM_BYTES_MAX}",
            text.len(),
            field.name
        )));
    }
    if text.len() <= max {
        return Ok(());
    }
    Err(MilvusError::invalid(format!(
        "length of varchar field {} exceeds max length, row number: {row}, length: {}, max length: {max}",
        field.name,
        text.len()
    )))
}

/// JSON as it came, if it is any.
pub(super) fn write_raw(field: &Field, json: &[u8], row: usize, out: &mut Vec<u8>) -> Result<()> {
    let read: serde_json::Result<&serde_json::value::RawValue> = serde_json::from_slice(json);
    let read = read.map_err(|error| {
        MilvusError::invalid(format!(
            "the value of field ({}) in row {row} is no JSON: {error}",
            field.name
        ))
    })?;
    out.extend_from_slice(read.get().as_bytes());
    Ok(())
}

pub(super) fn write_array(
    field: &Field,
    array: &proto::ScalarField,
    row: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    use scalar_field::Data;
    let wrong = || {
        MilvusError::invalid(format!(
            "the elements of field ({}) in row {row} are not {}",
            field.name,
            field.element_type.map_or("", DataType::name)
        ))
    };
    let capacity = |len: usize| {
        let max = field.max_capacity()?;
        if len <= max {
            return Ok(());
        }
        Err(MilvusError::invalid(format!(
            "the length ({len}) of {row}th array exceeds max capacity ({max})"
        )))
    };
    let Some(data) = &array.data else {
        return write(out, &[(); 0]);
    };
    match (field.element_type, data) {
        (Some(DataType::Bool), Data::BoolData(values)) => {
            capacity(values.data.len())?;
            write(out, &values.data)
        }
        (Some(DataType::Int8 | DataType::Int16 | DataType::Int32), Data::IntData(values)) => {
            capacity(values.data.len())?;
            for value in &values.data {
                check_integer(field, (*value).into(), row)?;
            }
            write(out, &values.data)
        }
        (Some(DataType::Int64), Data::LongData(values)) => {
            capacity(values.data.len())?;
            write(out, &values.data)
        }
        (Some(DataType::Float), Data::FloatData(values)) => {
            capacity(values.data.len())?;
            for value in &values.data {
                check_finite(field, (*value).into(), row)?;
            }
            write(out, &values.data)
        }
        (Some(DataType::Double), Data::DoubleData(values)) => {
            capacity(values.data.len())?;
            for value in &values.data {
                check_finite(field, *value, row)?;
            }
            write(out, &values.data)
        }
        (Some(DataType::VarChar), Data::StringData(values)) => {
            capacity(values.data.len())?;
            for value in &values.data {
                check_length(field, value, row)?;
            }
            write(out, &values.data)
        }
        _ => Err(wrong()),
    }
}
