//! Rows as JSON objects: from objects to columns, and from columns to objects.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use clew_platform::stopped;
use clew_schema::short_double;
use half::{bf16, f16};
use serde_json::{Map, Value};

use super::column::numbers;
use super::json_structs;
use super::sparse::sparse_bytes;
use crate::collection::{Collection, DYNAMIC, DataType, Field};
use crate::proto::*;

type Object = Map<String, Value>;

/// Why JSON is no rows of a collection.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongRows(pub(crate) String);

pub(super) type Result<T> = std::result::Result<T, WrongRows>;

fn wrong(row: usize, field: &Field, why: &str) -> WrongRows {
    WrongRows(format!(
        "row {row}, field {} of type {}: {why}",
        field.name,
        field.data_type.name()
    ))
}

/// The columns of some rows.
///
/// # Errors
/// When a row is no object, or a value is not what its field takes.
pub(crate) fn columns(
    collection: &Collection,
    rows: &[Value],
    with_keys: bool,
) -> Result<Vec<FieldData>> {
    let mut objects = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        let object = row
            .as_object()
            .ok_or_else(|| WrongRows(format!("row {number} is no object")))?;
        objects.push(object);
    }
    let mut columns = Vec::new();
    for field in &collection.fields {
        let is_made = field.is_primary && field.auto_id && !with_keys;
        let is_given = objects.iter().any(|row| row.contains_key(&field.name));
        if field.is_function_output && is_given {
            return Err(WrongRows(format!(
                "not allowed to provide data for the function output field {}",
                field.name
            )));
        }
        if field.is_function_output || (is_made && !is_given) || (!is_given && !field.is_primary) {
            continue;
        }
        columns.push(column(field, &objects)?);
    }
    for field in &collection.structs {
        if objects.iter().any(|row| row.contains_key(&field.name)) {
            columns.push(json_structs::column(field, &objects)?);
        }
    }
    let is_known =
        |name: &String| collection.field(name).is_ok() || collection.struct_field(name).is_some();
    if collection.dynamic {
        let rest = objects.iter().map(|row| {
            let rest: Object = row
                .iter()
                .filter(|(name, _)| !is_known(name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            Bytes::from(Value::Object(rest).to_string())
        });
        columns.push(FieldData {
            r#type: DataType::Json.number(),
            field_name: DYNAMIC.to_string(),
            is_dynamic: true,
            field: scalars(scalar_field::Data::JsonData(JsonArray {
                data: rest.collect(),
            })),
            ..FieldData::default()
        });
    } else if let Some(name) = objects
        .iter()
        .flat_map(|row| row.keys())
        .find(|name| !is_known(name))
    {
        return Err(WrongRows(format!(
            "has pass more field without dynamic schema, please check it: {name}"
        )));
    }
    Ok(columns)
}

fn scalars(data: scalar_field::Data) -> Option<field_data::Field> {
    Some(field_data::Field::Scalars(ScalarField { data: Some(data) }))
}

fn column(field: &Field, rows: &[&Object]) -> Result<FieldData> {
    let values: Vec<Option<&Value>> = rows
        .iter()
        .map(|row| row.get(&field.name).filter(|value| !value.is_null()))
        .collect();
    let first_null = values.iter().position(Option::is_none);
    if let Some(row) = first_null.filter(|_| !field.nullable && field.default.is_none()) {
        return Err(wrong(row, field, "it must have a value"));
    }
    let valid_data = first_null.map(|_| values.iter().map(Option::is_some).collect());
    let given: Vec<(usize, &Value)> = values
        .iter()
        .enumerate()
        .filter_map(|(row, value)| Some((row, (*value)?)))
        .collect();
    let data = match field.data_type.is_vector() {
        true => field_data::Field::Vectors(vectors(field, &given)?),
        false => field_data::Field::Scalars(ScalarField {
            data: Some(scalar_data(field, field.data_type, &given)?),
        }),
    };
    Ok(FieldData {
        r#type: field.data_type.number(),
        field_name: field.name.clone(),
        valid_data: valid_data.unwrap_or_default(),
        field: Some(data),
        ..FieldData::default()
    })
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "single precision is what the field has"
)]
pub(super) fn scalar_data(
    field: &Field,
    data_type: DataType,
    given: &[(usize, &Value)],
) -> Result<scalar_field::Data> {
    use scalar_field::Data;
    let each = |kind: &str| {
        let kind = kind.to_string();
        move |row: usize| wrong(row, field, &format!("expected {kind}"))
    };
    Ok(match data_type {
        DataType::Bool => Data::BoolData(BoolArray {
            data: all(given, Value::as_bool, each("true or false"))?,
        }),
        DataType::Int8 | DataType::Int16 | DataType::Int32 => Data::IntData(IntArray {
            data: all(
                given,
                |value| i32::try_from(whole(value)?).ok(),
                each("a whole number"),
            )?,
        }),
        DataType::Int64 => Data::LongData(LongArray {
            data: all(given, whole, each("a whole number"))?,
        }),
        DataType::Timestamptz => Data::StringData(StringArray {
            data: all(given, text, each("a time of ISO 8601"))?,
        }),
        DataType::Float => Data::FloatData(FloatArray {
            data: all(
                given,
                |value| value.as_f64().map(|number| number as f32),
                each("a number"),
            )?,
        }),
        DataType::Double => Data::DoubleData(DoubleArray {
            data: all(given, Value::as_f64, each("a number"))?,
        }),
        DataType::VarChar => Data::StringData(StringArray {
            data: all(given, text, each("a string"))?,
        }),
        DataType::Geometry => Data::GeometryWktData(StringArray {
            data: all(given, text, each("a shape as text"))?,
        }),
        DataType::Json => Data::JsonData(JsonArray {
            data: given
                .iter()
                .map(|(_, value)| value.to_string().into())
                .collect(),
        }),
        DataType::Array => {
            let element = field.element_type.unwrap_or(DataType::Int64);
            let array = |(row, value): &(usize, &Value)| {
                let items = value
                    .as_array()
                    .ok_or_else(|| wrong(*row, field, "expected a list"))?;
                let items: Vec<(usize, &Value)> = items.iter().map(|item| (*row, item)).collect();
                Ok(ScalarField {
                    data: Some(scalar_data(field, element, &items)?),
                })
            };
            Data::ArrayData(ArrayArray {
                data: given.iter().map(array).collect::<Result<_>>()?,
                element_type: element.number(),
            })
        }
        _ => return Err(wrong(0, field, "not a scalar")),
    })
}

/// Reads every value, or says which row is wrong.
fn all<T>(
    given: &[(usize, &Value)],
    read: impl Fn(&Value) -> Option<T>,
    wrong: impl Fn(usize) -> WrongRows,
) -> Result<Vec<T>> {
    let read = |(row, value): &(usize, &Value)| read(value).ok_or_else(|| wrong(*row));
    given.iter().map(read).collect()
}

/// A text; a number as it was written.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A whole number, which may be written as text: JSON's numbers are too short for some readers.
fn whole(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let text = || value.as_str()?.parse().ok();
    #[allow(
        clippy::cast_possible_truncation,
        reason = "checked to be whole and small enough"
    )]
    let float = || {
        let float = value.as_f64()?;
        (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
    };
    value.as_i64().or_else(text).or_else(float)
}

pub(super) fn vectors(field: &Field, given: &[(usize, &Value)]) -> Result<VectorField> {
    use vector_field::Data;
    let read = |(row, value): &(usize, &Value)| {
        vector_bytes(field, value).map_err(|WrongRows(why)| wrong(*row, field, &why))
    };
    let rows: Vec<Bytes> = given.iter().map(read).collect::<Result<_>>()?;
    let dimension = field.dimension().unwrap_or_default();
    // The bytes of all rows lie behind each other: a short vector would take some of the next one's.
    let whole = match field.data_type {
        DataType::FloatVector => Some(4 * dimension),
        DataType::Float16Vector | DataType::BFloat16Vector => Some(2 * dimension),
        DataType::Int8Vector => Some(dimension),
        DataType::BinaryVector => Some(dimension / 8),
        _ => None,
    };
    for ((row, _), bytes) in given.iter().zip(&rows) {
        if whole.is_some_and(|whole| whole != bytes.len()) {
            let why = format!(
                "dimension: {dimension}, but length of []byte: {}",
                bytes.len()
            );
            return Err(wrong(*row, field, &why));
        }
    }
    let dim = i64::try_from(dimension).unwrap_or_default();
    let packed = || Bytes::from(rows.concat());
    let data = match field.data_type {
        DataType::FloatVector => Data::FloatVector(PackedFloats { data: packed() }),
        DataType::BinaryVector => Data::BinaryVector(packed()),
        DataType::Float16Vector => Data::Float16Vector(packed()),
        DataType::BFloat16Vector => Data::Bfloat16Vector(packed()),
        DataType::Int8Vector => Data::Int8Vector(packed()),
        _ => Data::SparseFloatVector(SparseFloatArray {
            contents: rows,
            dim: 0,
        }),
    };
    Ok(VectorField {
        dim,
        data: Some(data),
    })
}

/// A vector as messages have it: a list of numbers, an object of a sparse one, or base64 of packed numbers.
///
/// # Errors
/// When it is none of these.
#[allow(
    clippy::cast_possible_truncation,
    reason = "single precision is what vectors have"
)]
pub(crate) fn vector_bytes(field: &Field, value: &Value) -> Result<Bytes> {
    let wrong = |why: &str| WrongRows(why.to_string());
    let dimension = field.dimension().unwrap_or_default();
    if let Value::String(text) = value {
        let bytes = STANDARD
            .decode(text)
            .map_err(|_| wrong("a vector of bytes is no base64"))?;
        return Ok(bytes.into());
    }
    if let Value::Object(members) = value {
        return sparse_bytes(members);
    }
    let items = value
        .as_array()
        .ok_or_else(|| wrong("a vector is a list of numbers"))?;
    let numbers: Option<Vec<f32>> = items
        .iter()
        .map(|item| item.as_f64().map(|number| number as f32))
        .collect();
    let numbers = numbers.ok_or_else(|| wrong("a vector is a list of numbers"))?;
    let expected = if field.data_type == DataType::BinaryVector {
        dimension / 8
    } else {
        dimension
    };
    if numbers.len() != expected {
        return Err(wrong(&format!(
            "dimension: {expected}, but length of []float: {}",
            numbers.len()
        )));
    }
    let mut out = Vec::with_capacity(4 * numbers.len());
    for number in numbers {
        match field.data_type {
            DataType::FloatVector => out.extend_from_slice(&number.to_le_bytes()),
            DataType::Float16Vector => out.extend_from_slice(&f16::from_f32(number).to_le_bytes()),
            DataType::BFloat16Vector => {
                out.extend_from_slice(&bf16::from_f32(number).to_le_bytes())
            }
            DataType::Int8Vector if number.fract() == 0.0 && (-128.0..=127.0).contains(&number) => {
                out.push((number as i8).cast_unsigned());
            }
            #[allow(clippy::cast_sign_loss, reason = "checked to be a byte")]
            DataType::BinaryVector if number.fract() == 0.0 && (0.0..=255.0).contains(&number) => {
                out.push(number as u8)
            }
            _ => return Err(wrong(&format!("{number} is no number of such a vector"))),
        }
    }
    Ok(out.into())
}

/// A number of single precision, without the digits that double precision would add.
pub(crate) fn single(number: f32) -> Value {
    short_double(number).into()
}

/// Columns as rows.
pub(crate) fn objects(columns: &[FieldData]) -> Vec<Object> {
    let mut rows: Vec<Object> = Vec::new();
    for column in columns {
        let values = values_of(column);
        rows.resize_with(rows.len().max(values.len()), Map::new);
        for (row, value) in rows.iter_mut().zip(values) {
            match value {
                // What rows have beyond the fields lies among them.
                Value::Object(members) if column.is_dynamic => row.extend(members),
                value => {
                    row.insert(column.field_name.clone(), value);
                }
            }
        }
    }
    rows
}

fn values_of(column: &FieldData) -> Vec<Value> {
    let is_valid =
        |row: usize| column.valid_data.is_empty() || column.valid_data.get(row) == Some(&true);
    match &column.field {
        None => Vec::new(),
        Some(field_data::Field::StructArrays(column)) => json_structs::lists(column),
        Some(field_data::Field::Scalars(scalars)) => {
            let values = scalar_values(scalars).into_iter().enumerate();
            values
                .map(|(row, value)| if is_valid(row) { value } else { Value::Null })
                .collect()
        }
        Some(field_data::Field::Vectors(vectors)) => {
            let mut compact = vector_values(vectors).into_iter();
            if column.valid_data.is_empty() {
                return compact.collect();
            }
            let of_row = |valid: &bool| {
                if *valid {
                    compact.next().unwrap_or_default()
                } else {
                    Value::Null
                }
            };
            column.valid_data.iter().map(of_row).collect()
        }
    }
}

pub(super) fn scalar_values(scalars: &ScalarField) -> Vec<Value> {
    use scalar_field::Data;
    fn all<T: Clone + Into<Value>>(values: &[T]) -> Vec<Value> {
        values.iter().cloned().map(Into::into).collect()
    }
    match &scalars.data {
        None => Vec::new(),
        Some(Data::BoolData(values)) => all(&values.data),
        Some(Data::IntData(values)) => all(&values.data),
        Some(Data::LongData(values)) => all(&values.data),
        Some(Data::FloatData(values)) => values.data.iter().copied().map(single).collect(),
        Some(Data::DoubleData(values)) => all(&values.data),
        Some(Data::StringData(values) | Data::GeometryWktData(values)) => all(&values.data),
        Some(Data::TimestamptzData(values)) => all(&values.data),
        Some(Data::JsonData(values)) => values
            .data
            .iter()
            .map(|json| serde_json::from_slice(json).unwrap_or_default())
            .collect(),
        Some(Data::BytesData(values)) => values
            .data
            .iter()
            .map(|bytes| STANDARD.encode(bytes).into())
            .collect(),
        Some(Data::ArrayData(values)) => values
            .data
            .iter()
            .map(|array| scalar_values(array).into())
            .collect(),
    }
}

pub(super) fn vector_values(vectors: &VectorField) -> Vec<Value> {
    use vector_field::Data;
    let dim = usize::try_from(vectors.dim).unwrap_or_default().max(1);
    let bytes = |bytes: &Bytes, width: usize| {
        bytes
            .chunks(width.max(1))
            .map(|row| STANDARD.encode(row).into())
            .collect()
    };
    match &vectors.data {
        None => Vec::new(),
        Some(Data::FloatVector(values)) => values
            .data
            .chunks(4 * dim)
            // To write a number takes longer than to find its row. What is left out here nobody sees.
            .take_while(|_| !stopped())
            .map(|row| {
                let row = numbers(DataType::FloatVector, row).into_iter();
                row.map(single).collect()
            })
            .collect(),
        Some(Data::BinaryVector(values)) => bytes(values, dim / 8),
        Some(Data::Float16Vector(values)) | Some(Data::Bfloat16Vector(values)) => {
            bytes(values, 2 * dim)
        }
        Some(Data::Int8Vector(values)) => {
            let row = |row: &[u8]| {
                row.iter()
                    .map(|byte| Value::from(byte.cast_signed()))
                    .collect()
            };
            values.chunks(dim).map(row).collect()
        }
        Some(Data::SparseFloatVector(rows)) => {
            let row = |bytes: &Bytes| {
                let pairs = bytes.as_chunks::<8>().0.iter().map(|pair| {
                    let (index, weight) = pair.split_at(4);
                    let index = u32::from_le_bytes(index.try_into().unwrap_or_default());
                    let weight = f32::from_le_bytes(weight.try_into().unwrap_or_default());
                    (index.to_string(), single(weight))
                });
                Value::Object(pairs.collect())
            };
            rows.contents.iter().map(row).collect()
        }
        Some(Data::VectorArray(cells)) => cells
            .data
            .iter()
            .map(|cell| vector_values(cell).into())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::CancellationToken;

    use super::*;

    #[test]
    fn numbers_of_vectors_are_told_to_somebody_alone() {
        let vectors = VectorField {
            dim: 2,
            data: Some(vector_field::Data::FloatVector(PackedFloats {
                data: vec![0; 3 * 8].into(),
            })),
        };
        assert_eq!(vector_values(&vectors).len(), 3);
        let token = CancellationToken::new();
        token.cancel("the client has gone");
        let _entered = token.enter();
        assert!(vector_values(&vectors).is_empty());
    }
}
