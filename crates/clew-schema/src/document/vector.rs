//! Vectors in a document: read straight from their digits, and checked against their field.

use clew_vector::{ColumnOptions, Element, Space, SparseEntry, VectorError};

use super::decimal::{DecimalError, read_f32, whole_f32};
use super::error::ValueProblem;
use super::json::{JsonError, JsonKind, JsonReader};
use crate::mapping::VectorMapping;

/// The vector of a document in one field.
#[derive(Clone, Debug, PartialEq)]
pub enum VectorValue {
    /// As numbers of the field's element.
    Dense(Vec<f32>),
    /// By strictly ascending dimension.
    Sparse(Vec<SparseEntry>),
}

impl VectorValue {
    /// Its numbers in memory.
    pub fn bytes(&self) -> usize {
        match self {
            VectorValue::Dense(numbers) => size_of_val(&numbers[..]),
            VectorValue::Sparse(entries) => size_of_val(&entries[..]),
        }
    }
}

impl From<Vec<f32>> for VectorValue {
    fn from(numbers: Vec<f32>) -> Self {
        VectorValue::Dense(numbers)
    }
}

impl From<Vec<SparseEntry>> for VectorValue {
    fn from(entries: Vec<SparseEntry>) -> Self {
        VectorValue::Sparse(entries)
    }
}

/// Reads the vector that the reader stands before. The inner error is a reason for refusing the
/// value, the outer one says that the text is no JSON.
pub(super) fn read(
    reader: &mut JsonReader<'_>,
    dimension: usize,
) -> Result<Result<Vec<f32>, ValueProblem>, JsonError> {
    if reader.kind()? != JsonKind::Array {
        // A vector of one value may be that value.
        return Ok(value(reader)?.map(|value| vec![value]));
    }
    reader.open();
    let bytes = reader.bytes();
    let mut vector = Vec::with_capacity(dimension);
    let mut at = skip_space(bytes, reader.at);
    if bytes.get(at) == Some(&b']') {
        reader.at = at + 1;
        return Ok(Ok(vector));
    }
    loop {
        at = skip_space(bytes, at);
        match read_f32(bytes, at) {
            Ok((value, end)) => {
                vector.push(value);
                at = end;
            }
            Err(_) => {
                reader.at = at;
                match value(reader)? {
                    Ok(value) => vector.push(value),
                    Err(cause) => return Ok(Err(cause)),
                }
                at = reader.at;
            }
        }
        at = skip_space(bytes, at);
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(b']') => {
                reader.at = at + 1;
                return Ok(Ok(vector));
            }
            _ => {
                reader.at = at;
                return reader.broken(
                    "Unexpected end of a number: expected comma to separate Array entries",
                );
            }
        }
    }
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// One value, which may be text that is a number.
fn value(reader: &mut JsonReader<'_>) -> Result<Result<f32, ValueProblem>, JsonError> {
    let text;
    let digits = match reader.kind()? {
        JsonKind::Number => reader.number()?,
        JsonKind::Text => {
            text = reader.string()?;
            text.trim()
        }
        other => {
            let token = token_name(reader, other);
            let place = Some(reader.place_behind(other));
            return Ok(Err(ValueProblem::not_numeric(token, place)));
        }
    };
    Ok(match whole_f32(digits) {
        Ok(value) => Ok(value),
        Err(DecimalError::Overflow) => Err("KNN vector values cannot be infinity".into()),
        Err(DecimalError::Form) => Err(ValueProblem::not_a_number(digits)),
    })
}

/// What the reader itself calls the value that it stands before.
fn token_name(reader: &JsonReader<'_>, kind: JsonKind) -> &'static str {
    match kind {
        JsonKind::Number => "VALUE_NUMBER_FLOAT",
        JsonKind::Bool if reader.byte() == Some(b'f') => "VALUE_FALSE",
        JsonKind::Bool => "VALUE_TRUE",
        other => other.token(),
    }
}

/// Largest number of half precision.
const F16_MAX: f32 = 65_504.0;

/// Brings numbers that half precision cannot hold to its ends, where the field asks for it.
pub(super) fn clip(vector: &mut [f32], field: &VectorMapping) {
    if field.clips {
        for value in vector {
            *value = value.clamp(-F16_MAX, F16_MAX);
        }
    }
}

/// Refuses vectors that the field's column cannot hold. What passes is held by the column whatever space it gets later:
/// it is logged before it is applied.
pub(super) fn check(vector: &[f32], column: &ColumnOptions) -> Result<(), String> {
    let Err(error) = clew_vector::validate(vector, column) else {
        return match column.element {
            Element::F16 => check_vector_element(vector, column.element),
            _ => Ok(()),
        };
    };
    Err(match error {
        VectorError::DimensionMismatch { expected, actual } => {
            format!("Vector dimension mismatch. Expected: {expected}, Given: {actual}")
        }
        VectorError::NotFinite { .. } if vector.iter().any(|value| value.is_nan()) => {
            "KNN vector values cannot be NaN".to_string()
        }
        VectorError::NotFinite { .. } => "KNN vector values cannot be infinity".to_string(),
        other => match check_vector_element(vector, column.element) {
            Err(reason) => reason,
            Ok(()) => other.to_string(),
        },
    })
}

/// Refuses vectors without a direction where directions are compared, unless the field takes them.
pub(super) fn check_direction(vector: &[f32], field: &VectorMapping) -> Result<(), String> {
    let space = field.column.space;
    let asks = space == Space::Cosine && !field.directionless;
    match asks && vector.iter().all(|value| *value == 0.0) {
        false => Ok(()),
        true => Err(format!(
            "zero vector is not supported when space type is [{}]",
            space.name()
        )),
    }
}

/// Refuses numbers that vectors of a type of element do not have, wherever they come from.
///
/// # Errors
/// In OpenSearch's words: fractions or numbers out of range where whole ones are kept, numbers that half precision
/// cannot hold.
pub fn check_vector_element(vector: &[f32], element: Element) -> Result<(), String> {
    let name = element.name();
    match element {
        Element::F32 | Element::Bf16 => Ok(()),
        Element::F16 => match vector.iter().find(|value| value.abs() > F16_MAX) {
            None => Ok(()),
            Some(_) => Err(format!(
                "encoder name is set as [sq] and type is set as [fp16] in index mapping. But, KNN vector values are not within in the FP16 range [-{F16_MAX:?}, {F16_MAX:?}]"
            )),
        },
        Element::I8 | Element::Bit if vector.iter().any(|value| value.fract() != 0.0) => {
            Err(format!(
                "[data_type] field was set as [{name}] in index mapping. But, KNN vector values are floats instead of byte integers"
            ))
        }
        Element::I8 | Element::Bit if vector.iter().any(|v| !(-128.0..=127.0).contains(v)) => {
            Err(format!(
                "[data_type] field was set as [{name}] in index mapping. But, KNN vector values are not within in the byte range [-128, 127]"
            ))
        }
        Element::I8 | Element::Bit => Ok(()),
    }
}
