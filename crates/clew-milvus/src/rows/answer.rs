//! Values of documents become columns again.

use bytes::Bytes;
use clew_engine::{FieldValues, GroupKey};
use clew_schema::text_of;
use half::{bf16, f16};
use jiff::tz::TimeZone;
use serde_json::Value;
use serde_json::value::RawValue;

use super::sparse::sparse_column;
use crate::collection::{Collection, DataType, Field, key_of};
use crate::error::{MilvusError, Result};
use crate::instant::{InstantPart, instant_parts, instant_text};
use crate::proto::{self, FieldData, field_data, i_ds, scalar_field, vector_field};

/// The keys of rows, as their type has them.
///
/// # Errors
/// When an id is no number and should be one.
pub(crate) fn keys<'r>(
    collection: &Collection,
    ids: impl Iterator<Item = &'r str>,
) -> Result<proto::IDs> {
    let id_field = if collection.primary().data_type == DataType::Int64 {
        let mut data = Vec::with_capacity(ids.size_hint().0);
        for id in ids {
            data.push(number_of(id)?);
        }
        i_ds::IdField::IntId(proto::LongArray { data })
    } else {
        i_ds::IdField::StrId(proto::StringArray {
            data: ids.map(|id| key_of(id).to_string()).collect(),
        })
    };
    Ok(proto::IDs {
        id_field: Some(id_field),
    })
}

pub(super) fn scalars(data: scalar_field::Data) -> Option<field_data::Field> {
    Some(field_data::Field::Scalars(proto::ScalarField {
        data: Some(data),
    }))
}

pub(super) fn key_column(field: &Field, ids: &[&str]) -> Result<FieldData> {
    let data = match field.data_type {
        DataType::Int64 => {
            let numbers = ids.iter().map(|id| number_of(id));
            scalar_field::Data::LongData(proto::LongArray {
                data: numbers.collect::<Result<_>>()?,
            })
        }
        _ => scalar_field::Data::StringData(proto::StringArray {
            data: ids.iter().map(|id| key_of(id).to_string()).collect(),
        }),
    };
    Ok(column_of(field, Vec::new(), data))
}

fn column_of(field: &Field, valid_data: Vec<bool>, data: scalar_field::Data) -> FieldData {
    FieldData {
        r#type: field.data_type.number(),
        field_name: field.name.clone(),
        field_id: field.id,
        valid_data,
        field: scalars(data),
        ..FieldData::default()
    }
}

/// A key as a number.
fn number_of(id: &str) -> Result<i64> {
    id.parse()
        .map_err(|_| MilvusError::Internal(format!("the id {id} is no number")))
}

/// The values that hits were grouped by; instants are told in a zone.
pub(crate) fn group_column<'k>(
    (field, zone): (&Field, &TimeZone),
    keys: impl Iterator<Item = Option<&'k GroupKey>>,
) -> Result<FieldData> {
    let values = keys.map(|key| match key {
        None | Some(GroupKey::Missing | GroupKey::All(_)) => None,
        Some(GroupKey::Integer(number)) if field.data_type == DataType::Bool => {
            Some(Value::from(*number != 0))
        }
        Some(GroupKey::Integer(at)) if field.data_type == DataType::Timestamptz => {
            Some(Value::from(instant_text(*at, zone)))
        }
        Some(GroupKey::Integer(number)) => Some(Value::from(*number)),
        Some(GroupKey::Text(text)) => Some(Value::from(text.as_str())),
    });
    let values: Vec<Option<Value>> = values.collect();
    let borrowed: Vec<Option<&Value>> = values.iter().map(Option::as_ref).collect();
    let valid = validity(field, borrowed.iter().map(Option::is_some));
    let told_as = match field.data_type {
        DataType::Timestamptz => DataType::VarChar,
        own => own,
    };
    Ok(column_of(field, valid, data_of(field, told_as, &borrowed)?))
}

/// The values inside JSON that hits were grouped by.
pub(crate) fn group_texts<'k>(
    name: &str,
    keys: impl Iterator<Item = Option<&'k GroupKey>>,
) -> FieldData {
    let (mut data, mut valid_data) = (Vec::new(), Vec::new());
    for key in keys {
        let text = match key {
            None | Some(GroupKey::Missing | GroupKey::All(_)) => None,
            Some(GroupKey::Integer(number)) => Some(number.to_string()),
            Some(GroupKey::Text(text)) => Some(text.clone()),
        };
        valid_data.push(text.is_some());
        data.push(text.unwrap_or_default());
    }
    FieldData {
        r#type: DataType::VarChar.number(),
        field_name: name.to_string(),
        valid_data,
        field: scalars(scalar_field::Data::StringData(proto::StringArray { data })),
        ..FieldData::default()
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "fields of 32 bits hold nothing else"
)]
fn scalar_column(field: &Field, read: FieldValues) -> Result<FieldData> {
    use scalar_field::Data;
    let (present, data): (Vec<bool>, Data) = match (read, field.data_type) {
        (FieldValues::Integers(values), data_type) => {
            let present = values.iter().map(Option::is_some).collect();
            let numbers = values.into_iter().map(Option::unwrap_or_default);
            let data = match data_type {
                DataType::Bool => Data::BoolData(proto::BoolArray {
                    data: numbers.map(|number| number != 0).collect(),
                }),
                DataType::Int64 => Data::LongData(proto::LongArray {
                    data: numbers.collect(),
                }),
                _ => Data::IntData(proto::IntArray {
                    data: numbers.map(|number| number as i32).collect(),
                }),
            };
            (present, data)
        }
        (FieldValues::Floats(values), data_type) => {
            let present = values.iter().map(Option::is_some).collect();
            let numbers = values.into_iter().map(Option::unwrap_or_default);
            let data = match data_type {
                DataType::Float => Data::FloatData(proto::FloatArray {
                    data: numbers.map(|number| number as f32).collect(),
                }),
                _ => Data::DoubleData(proto::DoubleArray {
                    data: numbers.collect(),
                }),
            };
            (present, data)
        }
        (FieldValues::Texts(values), _) => {
            let present = values.iter().map(Option::is_some).collect();
            let data = values.into_iter().map(Option::unwrap_or_default).collect();
            (present, Data::StringData(proto::StringArray { data }))
        }
        (FieldValues::Json(values), DataType::Json) => {
            let present = values.iter().map(Option::is_some).collect();
            let text = |json: Option<Box<RawValue>>| {
                json.map_or_else(Bytes::new, |json| json.get().to_string().into())
            };
            let data = values.into_iter().map(text).collect();
            (present, Data::JsonData(proto::JsonArray { data }))
        }
        (FieldValues::Json(values), data_type) => {
            let read = |json: Option<Box<RawValue>>| -> Option<Value> {
                serde_json::from_str(json?.get())
                    .ok()
                    .filter(|value: &Value| !value.is_null())
            };
            let values: Vec<Option<Value>> = values.into_iter().map(read).collect();
            let borrowed: Vec<Option<&Value>> = values.iter().map(Option::as_ref).collect();
            let present = borrowed.iter().map(Option::is_some).collect();
            (present, data_of(field, data_type, &borrowed)?)
        }
        (FieldValues::Vectors(_) | FieldValues::Sparse(_), _) => {
            return Err(MilvusError::Internal(format!("{} is a vector", field.name)));
        }
    };
    Ok(column_of(field, validity(field, present.into_iter()), data))
}

/// The values of a scalar field as clients are told of them; instants in a zone.
///
/// # Errors
/// When they are not of the field's type.
pub(crate) fn told_column(field: &Field, read: FieldValues, zone: &TimeZone) -> Result<FieldData> {
    match field.data_type {
        DataType::Timestamptz => instant_column(field, read, zone),
        _ => scalar_column(field, read),
    }
}

/// The values of rows with a default where there is none.
pub(crate) fn filled(read: FieldValues, default: &Value) -> FieldValues {
    fn all<T: Clone>(values: Vec<Option<T>>, default: Option<T>) -> Vec<Option<T>> {
        let value = |value: Option<T>| value.or_else(|| default.clone());
        values.into_iter().map(value).collect()
    }
    match read {
        FieldValues::Integers(values) => {
            let truth = default.as_bool().map(i64::from);
            FieldValues::Integers(all(values, truth.or(default.as_i64())))
        }
        FieldValues::Floats(values) => FieldValues::Floats(all(values, default.as_f64())),
        FieldValues::Texts(values) => {
            let text = default.as_str().map(String::from);
            FieldValues::Texts(all(values, text))
        }
        FieldValues::Json(values) => {
            let json = RawValue::from_string(default.to_string()).ok();
            FieldValues::Json(all(values, json))
        }
        vectors => vectors,
    }
}

/// Instants as texts.
fn instant_column(field: &Field, read: FieldValues, zone: &TimeZone) -> Result<FieldData> {
    let values = instants_of(field, read)?;
    let text = |micros: &Option<i64>| micros.map_or_else(String::new, |at| instant_text(at, zone));
    let data = scalar_field::Data::StringData(proto::StringArray {
        data: values.iter().map(text).collect(),
    });
    let valid = validity(field, values.iter().map(Option::is_some));
    Ok(column_of(field, valid, data))
}

/// Instants as arrays of their parts, in a zone.
///
/// # Errors
/// When they are no instants.
pub(super) fn parts_column(
    field: &Field,
    read: FieldValues,
    (parts, zone): (&[InstantPart], &TimeZone),
) -> Result<FieldData> {
    let values = instants_of(field, read)?;
    let array = |micros: &Option<i64>| {
        let data = micros.map_or_else(Vec::new, |at| instant_parts(at, parts, zone));
        proto::ScalarField {
            data: Some(scalar_field::Data::LongData(proto::LongArray { data })),
        }
    };
    let data = scalar_field::Data::ArrayData(proto::ArrayArray {
        data: values.iter().map(array).collect(),
        element_type: DataType::Int64.number(),
    });
    let valid = validity(field, values.iter().map(Option::is_some));
    Ok(FieldData {
        r#type: DataType::Array.number(),
        ..column_of(field, valid, data)
    })
}

/// Instants in microseconds, as they were read of rows.
fn instants_of(field: &Field, read: FieldValues) -> Result<Vec<Option<i64>>> {
    match read {
        FieldValues::Integers(values) => Ok(values),
        // No column has them yet.
        FieldValues::Json(values) => {
            let number = |json: Option<Box<RawValue>>| serde_json::from_str(json?.get()).ok();
            Ok(values.into_iter().map(number).collect())
        }
        _ => Err(MilvusError::Internal(format!(
            "{} has no column of instants",
            field.name
        ))),
    }
}

/// Which rows have a value, for fields of which some may have none.
pub(super) fn validity(field: &Field, present: impl Iterator<Item = bool>) -> Vec<bool> {
    match field.nullable {
        true => present.collect(),
        false => Vec::new(),
    }
}

/// Values in the order of rows; where there is none something stands all the same.
#[allow(
    clippy::cast_possible_truncation,
    reason = "fields of 32 bits hold nothing else"
)]
fn data_of(
    field: &Field,
    data_type: DataType,
    values: &[Option<&Value>],
) -> Result<scalar_field::Data> {
    use scalar_field::Data;
    let integer = |value: &Option<&Value>| value.and_then(integer_of).unwrap_or_default();
    let float = |value: &Option<&Value>| value.and_then(Value::as_f64).unwrap_or_default();
    let values = values.iter();
    Ok(match data_type {
        DataType::Bool => Data::BoolData(proto::BoolArray {
            data: values
                .map(|value| value.and_then(Value::as_bool).unwrap_or_default())
                .collect(),
        }),
        DataType::Int8 | DataType::Int16 | DataType::Int32 => Data::IntData(proto::IntArray {
            data: values.map(|value| integer(value) as i32).collect(),
        }),
        DataType::Int64 => Data::LongData(proto::LongArray {
            data: values.map(integer).collect(),
        }),
        DataType::Timestamptz => Data::TimestamptzData(proto::TimestamptzArray {
            data: values.map(integer).collect(),
        }),
        DataType::Float => Data::FloatData(proto::FloatArray {
            data: values.map(|value| float(value) as f32).collect(),
        }),
        DataType::Double => Data::DoubleData(proto::DoubleArray {
            data: values.map(float).collect(),
        }),
        DataType::VarChar => Data::StringData(proto::StringArray {
            data: values
                .map(|value| value.map_or_else(String::new, text_of))
                .collect(),
        }),
        DataType::Geometry => Data::GeometryWktData(proto::StringArray {
            data: values
                .map(|value| value.map_or_else(String::new, text_of))
                .collect(),
        }),
        DataType::Json => Data::JsonData(proto::JsonArray {
            data: values
                .map(|value| value.map_or_else(Bytes::new, |value| value.to_string().into()))
                .collect(),
        }),
        DataType::Array => {
            let element = field.element_type.unwrap_or(DataType::Int64);
            let arrays = values.map(|value| array_of(field, element, &items_of(*value)));
            Data::ArrayData(proto::ArrayArray {
                data: arrays.collect::<Result<_>>()?,
                element_type: element.number(),
            })
        }
        _ => return Err(MilvusError::Internal(format!("{} is a vector", field.name))),
    })
}

/// The elements of an array, which may be a value alone.
fn items_of(value: Option<&Value>) -> Vec<Option<&Value>> {
    match value {
        None => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(Some).collect(),
        Some(one) => vec![Some(one)],
    }
}

/// Elements of a type as one array.
pub(super) fn array_of(
    field: &Field,
    element: DataType,
    items: &[Option<&Value>],
) -> Result<proto::ScalarField> {
    Ok(proto::ScalarField {
        data: Some(data_of(field, element, items)?),
    })
}

/// A whole number, written as one or as text by another protocol.
fn integer_of(value: &Value) -> Option<i64> {
    let text = || value.as_str().and_then(|text| text.parse().ok());
    value.as_i64().or_else(text)
}

pub(super) fn vector_column(field: &Field, read: FieldValues) -> Result<FieldData> {
    let vectors = match read {
        FieldValues::Vectors(vectors) => vectors,
        FieldValues::Sparse(rows) => return Ok(sparse_column(field, &rows)),
        _ => {
            return Err(MilvusError::Internal(format!(
                "{} is no vector",
                field.name
            )));
        }
    };
    let dense: Vec<&[f32]> = vectors.iter().flatten().map(Vec::as_slice).collect();
    Ok(FieldData {
        r#type: field.data_type.number(),
        field_name: field.name.clone(),
        field_id: field.id,
        valid_data: validity(field, vectors.iter().map(Option::is_some)),
        field: Some(field_data::Field::Vectors(proto::VectorField {
            dim: i64::try_from(field.dimension()?).unwrap_or_default(),
            data: Some(packed_vectors(field.data_type, &dense)),
        })),
        ..FieldData::default()
    })
}

/// Vectors one after the other, as messages have them.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the numbers of such vectors are whole and fit"
)]
pub(super) fn packed_vectors(
    data_type: DataType,
    vectors: &[impl AsRef<[f32]>],
) -> vector_field::Data {
    use vector_field::Data;
    let numbers = || vectors.iter().flat_map(|one| one.as_ref());
    let count: usize = vectors.iter().map(|one| one.as_ref().len()).sum();
    let packed = |pack: fn(f32, &mut Vec<u8>), width: usize| {
        let mut bytes = Vec::with_capacity(count * width);
        numbers().for_each(|number| pack(*number, &mut bytes));
        Bytes::from(bytes)
    };
    let whole = |number: f32, out: &mut Vec<u8>| out.push((number as i8).cast_unsigned());
    match data_type {
        DataType::Float16Vector => Data::Float16Vector(packed(
            |number, out| out.extend_from_slice(&f16::from_f32(number).to_le_bytes()),
            2,
        )),
        DataType::BFloat16Vector => Data::Bfloat16Vector(packed(
            |number, out| out.extend_from_slice(&bf16::from_f32(number).to_le_bytes()),
            2,
        )),
        DataType::Int8Vector => Data::Int8Vector(packed(whole, 1)),
        DataType::BinaryVector => Data::BinaryVector(packed(whole, 1)),
        _ => Data::FloatVector(proto::PackedFloats {
            data: packed(
                |number, out| out.extend_from_slice(&number.to_le_bytes()),
                4,
            ),
        }),
    }
}
