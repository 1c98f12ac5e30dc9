//! A value of a column on its way into a document: held against its field, then written as JSON.

use crate::collection::{DataType, Field, TERM_BYTES_MAX};
use crate::error::{MilvusError, Result};
use crate::proto::{self, scalar_field};

pub(super) fn write(out: &mut Vec<u8>, value: &impl serde::Serialize) -> Result<()> {
    serde_json::to_writer(out, value).map_err(|error| MilvusError::Internal(error.to_string()))
}

/// Refuses a whole number that its type has no room for; `at` is its place among those beside it.
pub(super) fn check_integer(field: &Field, value: i64, at: usize) -> Result<()> {
    let data_type = field.element_type.unwrap_or(field.data_type);
    let Some((min, max)) = data_type.integer_limits() else {
        return Ok(());
    };
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(MilvusError::mismatch(
        format!("the {at}th element ({value}) out of range: [{min}, {max}]"),
        "integer doesn't overflow",
        "out of range",
    ))
}

pub(super) fn check_finite(value: f64) -> Result<()> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(not_finite(value)),
    }
}

/// What is said of a number that no field takes, which has the name that Milvus' language gives it.
pub(crate) fn not_finite(value: f64) -> MilvusError {
    let name = match value.is_nan() {
        true => "NaN",
        false if value > 0.0 => "+Inf",
        false => "-Inf",
    };
    MilvusError::invalid(format!("value '{name}' is not a number or infinity"))
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

/// What is said of a list that is longer than its field takes.
pub(super) fn too_many(len: usize, row: usize, max: usize) -> MilvusError {
    MilvusError::mismatch(
        format!("the length ({len}) of {row}th array exceeds max capacity ({max})"),
        "valid length array",
        "array length exceeds max capacity",
    )
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
        Err(too_many(len, row, max))
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
            for (at, value) in values.data.iter().enumerate() {
                check_integer(field, (*value).into(), at)?;
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
                check_finite((*value).into())?;
            }
            write(out, &values.data)
        }
        (Some(DataType::Double), Data::DoubleData(values)) => {
            capacity(values.data.len())?;
            for value in &values.data {
                check_finite(*value)?;
            }
            write(out, &values.data)
        }
        (Some(DataType::VarChar), Data::StringData(values)) => {
            capacity(values.data.len())?;
            let max = field.max_length()?;
            let mut texts = values.data.iter().enumerate();
            if let Some((at, text)) = texts.find(|(_, text)| text.len() > max) {
                return Err(MilvusError::invalid(format!(
                    "length of Array array field \"{}\" exceeds max length, row number: {row}, array index: {at}, length: {}, max length: {max}",
                    field.name,
                    text.len()
                )));
            }
            write(out, &values.data)
        }
        _ => Err(wrong()),
    }
}
