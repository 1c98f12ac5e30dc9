//! Documents become columns again: one for each field that was asked for.

use bytes::Bytes;
use clew_engine::{FieldValues, GroupKey, WantedField};
use half::{bf16, f16};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::sparse::sparse_column;
use crate::collection::{Collection, DYNAMIC, DataType, Field};
use crate::error::{MilvusError, Result};
use crate::expr::inside;
use crate::proto::{self, FieldData, field_data, i_ds, scalar_field, vector_field};

/// What of each row is wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) scalars: Vec<Field>,
    pub(crate) vectors: Vec<Field>,
    /// Keys of what rows have beyond the fields; all of them where `whole_dynamic` is set.
    pub(crate) dynamic: Vec<String>,
    pub(crate) whole_dynamic: bool,
    /// The names as they were asked for.
    pub(crate) names: Vec<String>,
}

impl Wanted {
    /// Reads the names of fields that a client wants to see.
    ///
    /// # Errors
    /// For a name that is no field, in a collection without dynamic fields.
    pub(crate) fn read(collection: &Collection, names: &[String]) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        for name in names {
            match name.as_str() {
                "*" => {
                    for field in &collection.fields {
                        wanted.add(field);
                    }
                    wanted.whole_dynamic |= collection.dynamic;
                }
                DYNAMIC if collection.dynamic => wanted.whole_dynamic = true,
                name => match collection.field(name) {
                    Ok(field) if field.is_function_output => {
                        return Err(MilvusError::invalid(format!(
                            "not allowed to retrieve raw data of field {name}"
                        )));
                    }
                    Ok(field) => wanted.add(field),
                    Err(_) if collection.dynamic => {
                        if !matches!(inside(name, collection), Ok(Some(_))) {
                            return Err(MilvusError::invalid(format!(
                                "parse output field name failed: {name} is no name, and no path of one"
                            )));
                        }
                        wanted.add_dynamic(name);
                    }
                    Err(_) => {
                        return Err(MilvusError::invalid(format!("field {name} not exist")));
                    }
                },
            }
        }
        Ok(wanted)
    }

    fn add(&mut self, field: &Field) {
        if field.is_function_output || self.names.contains(&field.name) {
            return;
        }
        self.names.push(field.name.clone());
        if field.data_type.is_vector() {
            self.vectors.push(field.clone());
        } else {
            self.scalars.push(field.clone());
        }
    }

    fn add_dynamic(&mut self, path: &str) {
        // Of a path into the dynamic field its first key is handed out.
        let key = path
            .strip_prefix("$meta[\"")
            .and_then(|rest| rest.split_once("\"]"))
            .map_or(path, |(key, _)| key);
        let key = key.split_once('[').map_or(key, |(key, _)| key);
        if !self.names.iter().any(|name| name == key) {
            self.names.push(key.to_string());
        }
        self.dynamic.push(key.to_string());
    }

    /// The key is always handed out.
    pub(crate) fn with_primary(mut self, collection: &Collection) -> Self {
        self.add(collection.primary());
        self
    }

    /// What has to be read of each row, in the order in which [`Wanted::columns`] takes it.
    pub(crate) fn fields(&self) -> Vec<WantedField> {
        let scalar = |field: &Field| match field.data_type {
            DataType::Json | DataType::Array => WantedField::Json(field.name.clone()),
            _ => WantedField::Typed(field.name.clone()),
        };
        let scalars = self
            .scalars
            .iter()
            .filter(|field| !field.is_primary)
            .map(scalar);
        let vectors = self.vectors.iter().map(scalar);
        let dynamic = self
            .has_dynamic()
            .then(|| WantedField::Json(DYNAMIC.to_string()));
        scalars.chain(vectors).chain(dynamic).collect()
    }

    fn has_dynamic(&self) -> bool {
        self.whole_dynamic || !self.dynamic.is_empty()
    }

    /// The columns of rows with these ids, of what was read of them.
    ///
    /// # Errors
    /// When a document does not hold what its field says.
    pub(crate) fn columns(&self, ids: &[&str], read: Vec<FieldValues>) -> Result<Vec<FieldData>> {
        let missing = || MilvusError::Internal("a column was not read".into());
        let mut read = read.into_iter();
        let mut columns = Vec::new();
        for field in &self.scalars {
            columns.push(match field.is_primary {
                true => key_column(field, ids)?,
                false => scalar_column(field, read.next().ok_or_else(missing)?)?,
            });
        }
        for field in &self.vectors {
            columns.push(vector_column(field, read.next().ok_or_else(missing)?)?);
        }
        if self.has_dynamic() {
            columns.push(self.dynamic_column(read.next().ok_or_else(missing)?)?);
        }
        Ok(columns)
    }

    fn dynamic_column(&self, read: FieldValues) -> Result<FieldData> {
        let FieldValues::Json(values) = read else {
            return Err(MilvusError::Internal("the dynamic field is no JSON".into()));
        };
        let shown = |json: Option<Box<RawValue>>| -> Result<Bytes> {
            let Some(json) = json else {
                return Ok(Bytes::from_static(b"{}"));
            };
            if self.whole_dynamic {
                return Ok(Bytes::from(json.get().to_string()));
            }
            let mut own: Map<String, Value> =
                serde_json::from_str(json.get()).map_err(|error| {
                    MilvusError::Internal(format!("the dynamic field of a row: {error}"))
                })?;
            own.retain(|key, _| self.dynamic.contains(key));
            Ok(Bytes::from(Value::Object(own).to_string()))
        };
        let data = values.into_iter().map(shown).collect::<Result<_>>()?;
        Ok(FieldData {
            r#type: DataType::Json.number(),
            field_name: DYNAMIC.to_string(),
            is_dynamic: true,
            field: scalars(scalar_field::Data::JsonData(proto::JsonArray { data })),
            ..FieldData::default()
        })
    }
}

/// The keys of rows, as their type has them.
///
/// # Errors
/// When an id is no number and should be one.
pub(crate) fn keys<'r>(
    collection: &Collection,
    ids: impl Iterator<Item = &'r str>,
) -> Result<proto::IDs> {
    let id_field = if collection.primary().data_type == DataType::Int64 {
        let numbers = ids.map(|id| {
            id.parse()
                .map_err(|_| MilvusError::Internal(format!("the id {id} is no number")))
        });
        i_ds::IdField::IntId(proto::LongArray {
            data: numbers.collect::<Result<_>>()?,
        })
    } else {
        i_ds::IdField::StrId(proto::StringArray {
            data: ids.map(String::from).collect(),
        })
    };
    Ok(proto::IDs {
        id_field: Some(id_field),
    })
}

fn scalars(data: scalar_field::Data) -> Option<field_data::Field> {
    Some(field_data::Field::Scalars(proto::ScalarField {
        data: Some(data),
    }))
}

fn key_column(field: &Field, ids: &[&str]) -> Result<FieldData> {
    let data = match field.data_type {
        DataType::Int64 => {
            let numbers = ids.iter().map(|id| number_of(id));
            scalar_field::Data::LongData(proto::LongArray {
                data: numbers.collect::<Result<_>>()?,
            })
        }
        _ => scalar_field::Data::StringData(proto::StringArray {
            data: ids.iter().map(ToString::to_string).collect(),
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

/// The values that hits were grouped by.
pub(crate) fn group_column<'k>(
    field: &Field,
    keys: impl Iterator<Item = Option<&'k GroupKey>>,
) -> Result<FieldData> {
    let values = keys.map(|key| match key {
        None | Some(GroupKey::Missing) => None,
        Some(GroupKey::Integer(number)) if field.data_type == DataType::Bool => {
            Some(Value::from(*number != 0))
        }
        Some(GroupKey::Integer(number)) => Some(Value::from(*number)),
        Some(GroupKey::Text(text)) => Some(Value::from(text.as_str())),
    });
    let values: Vec<Option<Value>> = values.collect();
    let borrowed: Vec<Option<&Value>> = values.iter().map(Option::as_ref).collect();
    let valid = validity(field, borrowed.iter().map(Option::is_some));
    Ok(column_of(
        field,
        valid,
        data_of(field, field.data_type, &borrowed)?,
    ))
}

/// The values inside JSON that hits were grouped by.
pub(crate) fn group_texts<'k>(
    name: &str,
    keys: impl Iterator<Item = Option<&'k GroupKey>>,
) -> FieldData {
    let (mut data, mut valid_data) = (Vec::new(), Vec::new());
    for key in keys {
        let text = match key {
            None | Some(GroupKey::Missing) => None,
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
                DataType::Timestamptz => Data::TimestamptzData(proto::TimestamptzArray {
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
        DataType::Json => Data::JsonData(proto::JsonArray {
            data: values
                .map(|value| value.map_or_else(Bytes::new, |value| value.to_string().into()))
                .collect(),
        }),
        DataType::Array => {
            let element = field.element_type.unwrap_or(DataType::Int64);
            let arrays = values.map(|value| array_of(field, element, *value));
            Data::ArrayData(proto::ArrayArray {
                data: arrays.collect::<Result<_>>()?,
                element_type: element.number(),
            })
        }
        _ => return Err(MilvusError::Internal(format!("{} is a vector", field.name))),
    })
}

fn array_of(field: &Field, element: DataType, value: Option<&Value>) -> Result<proto::ScalarField> {
    let items: Vec<Option<&Value>> = match value {
        None => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(Some).collect(),
        Some(one) => vec![Some(one)],
    };
    Ok(proto::ScalarField {
        data: Some(data_of(field, element, &items)?),
    })
}

/// A whole number, written as one or as text by another protocol.
fn integer_of(value: &Value) -> Option<i64> {
    let text = || value.as_str().and_then(|text| text.parse().ok());
    value.as_i64().or_else(text)
}

/// A text; what is none, from another protocol, as it was written.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the numbers of such vectors are whole and fit"
)]
fn vector_column(field: &Field, read: FieldValues) -> Result<FieldData> {
    use vector_field::Data;
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
    let dense = || vectors.iter().flatten();
    let count: usize = dense().map(Vec::len).sum();
    let packed = |pack: fn(f32, &mut Vec<u8>), width: usize| {
        let mut bytes = Vec::with_capacity(count * width);
        dense()
            .flatten()
            .for_each(|number| pack(*number, &mut bytes));
        Bytes::from(bytes)
    };
    let whole = |number: f32, out: &mut Vec<u8>| out.push((number as i8).cast_unsigned());
    let data = match field.data_type {
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
    };
    Ok(FieldData {
        r#type: field.data_type.number(),
        field_name: field.name.clone(),
        field_id: field.id,
        valid_data: validity(field, vectors.iter().map(Option::is_some)),
        field: Some(field_data::Field::Vectors(proto::VectorField {
            dim: i64::try_from(field.dimension()?).unwrap_or_default(),
            data: Some(data),
        })),
        ..FieldData::default()
    })
}
