//! One column that a client sent, checked against its field; rows are read from it one after the other.

use bytes::Bytes;
use clew_query::PlanarShape;
use clew_schema::VectorValue;
use half::{bf16, f16};
use jiff::tz::TimeZone;

use super::sparse::sparse_row;
use super::value::{check_finite, check_integer, check_length, write, write_array, write_raw};
use crate::collection::{DataType, Field, id_of};
use crate::error::{MilvusError, Result};
use crate::instant::{kept, parse_instant};
use crate::proto::{self, FieldData, field_data, scalar_field, vector_field};

/// The values of a column, without those of rows that have none.
enum Values<'a> {
    Bool(&'a [bool]),
    Int(&'a [i32]),
    Long(&'a [i64]),
    Float(&'a [f32]),
    Double(&'a [f64]),
    Text(&'a [String]),
    Json(&'a [Bytes]),
    Array(&'a [proto::ScalarField]),
    /// Vectors of so many bytes.
    Packed(&'a [u8], usize),
    Sparse(&'a [Bytes]),
}

/// A column on its way in.
pub(crate) struct InColumn<'a> {
    pub(crate) field: &'a Field,
    values: Values<'a>,
    /// Which rows have a value, where not all do.
    valid: Option<&'a [bool]>,
    /// Values that were read, of a column without those of rows that have none.
    read: usize,
    /// Whether rows without a value have a place all the same.
    is_full: bool,
    /// Whether the text that was written last may be too long for a term.
    pub(crate) is_long: bool,
    /// The zone of instants that say none.
    zone: TimeZone,
}

impl<'a> InColumn<'a> {
    /// Checks that a column is of its field, and of so many rows.
    ///
    /// # Errors
    /// When it is of another type, length or dimension, or has nulls where there may be none.
    pub(crate) fn new(field: &'a Field, data: &'a FieldData, rows: usize) -> Result<Self> {
        let values = values_of(field, data)?;
        let count = values.count(field)?;
        let valid = Some(&data.valid_data[..]).filter(|valid| !valid.is_empty());
        let (expected, is_full) = match valid {
            None => (rows, true),
            Some(valid) if valid.len() != rows => {
                return Err(MilvusError::invalid(format!(
                    "the length of valid_data ({}) of field ({}) is not equal to passed num_rows ({rows})",
                    valid.len(),
                    field.name
                )));
            }
            Some(valid) => {
                let given = valid.iter().filter(|valid| **valid).count();
                if given < rows && !field.nullable && field.default.is_none() {
                    return Err(MilvusError::invalid(format!(
                        "field ({}) is not nullable, but row {} has no value",
                        field.name,
                        valid.iter().position(|valid| !valid).unwrap_or_default()
                    )));
                }
                if count == rows {
                    (rows, true)
                } else {
                    (given, false)
                }
            }
        };
        if count != expected {
            return Err(match count {
                0 if field.data_type.is_vector() => without_vectors(field),
                _ => of_other_length(&field.name, count, rows),
            });
        }
        Ok(InColumn {
            field,
            values,
            valid,
            read: 0,
            is_full,
            is_long: false,
            zone: TimeZone::UTC,
        })
    }

    /// The same with a zone for instants that say none.
    pub(super) fn in_zone(self, zone: TimeZone) -> Self {
        InColumn { zone, ..self }
    }

    /// The values of one list as rows, and how many there are.
    ///
    /// # Errors
    /// When they are not of the field's type.
    pub(super) fn of_values(
        field: &'a Field,
        list: &'a proto::ScalarField,
    ) -> Result<(Self, usize)> {
        let values = match list.data {
            None => Values::Bool(&[]),
            Some(_) => scalars_of(field, list).ok_or_else(|| of_another_type(field))?,
        };
        InColumn::whole(field, values)
    }

    /// The same of vectors.
    ///
    /// # Errors
    /// When they are not of the field's type or dimension.
    pub(super) fn of_vectors(
        field: &'a Field,
        list: &'a proto::VectorField,
    ) -> Result<(Self, usize)> {
        let values = vectors_of(field, list)?.ok_or_else(|| of_another_type(field))?;
        InColumn::whole(field, values)
    }

    fn whole(field: &'a Field, values: Values<'a>) -> Result<(Self, usize)> {
        let count = values.count(field)?;
        let column = InColumn {
            field,
            values,
            valid: None,
            read: 0,
            is_full: true,
            is_long: false,
            zone: TimeZone::UTC,
        };
        Ok((column, count))
    }

    /// The place of a row's value; rows are asked for in their order, each once.
    fn place(&mut self, row: usize) -> Option<usize> {
        let has_value = self.valid.is_none_or(|valid| valid.get(row) == Some(&true));
        if self.is_full {
            return has_value.then_some(row);
        }
        let place = self.read;
        self.read += usize::from(has_value);
        has_value.then_some(place)
    }

    /// The next row's value as JSON, appended to `out`; nothing where it has none.
    ///
    /// # Errors
    /// When it breaks a rule of the field.
    pub(crate) fn write_json(&mut self, row: usize, out: &mut Vec<u8>) -> Result<bool> {
        self.is_long = false;
        let Some(at) = self.place(row) else {
            return Ok(false);
        };
        let field = self.field;
        match self.values {
            Values::Bool(values) => write(out, &values[at])?,
            Values::Int(values) => {
                check_integer(field, values[at].into(), row)?;
                write(out, &values[at])?;
            }
            Values::Long(values) => {
                let is_kept =
                    field.data_type != DataType::Timestamptz || kept(values[at]).is_some();
                if !is_kept {
                    return Err(MilvusError::invalid(format!(
                        "the instant {} of field ({}) in row {row} is outside the years 0 to 9999",
                        values[at], field.name
                    )));
                }
                write(out, &values[at])?;
            }
            Values::Float(values) => {
                check_finite(values[at].into())?;
                write(out, &values[at])?;
            }
            Values::Double(values) => {
                check_finite(values[at])?;
                write(out, &values[at])?;
            }
            Values::Text(values) if field.data_type == DataType::Timestamptz => {
                let instant = parse_instant(&values[at], &self.zone);
                write(out, &instant.map_err(|_| no_instant(&values[at]))?)?;
            }
            Values::Text(values) if field.data_type == DataType::Geometry => {
                let shape = PlanarShape::read(&values[at]);
                write(out, &shape.map_err(no_shape)?.text())?;
            }
            Values::Text(values) => {
                check_length(field, &values[at], row)?;
                self.is_long = field.is_long(&values[at]);
                write(out, &values[at])?;
            }
            Values::Json(values) => write_raw(field, &values[at], row, out)?,
            Values::Array(values) => write_array(field, &values[at], row, out)?,
            Values::Packed(..) | Values::Sparse(_) => {
                return Err(MilvusError::Internal("a vector is no JSON".into()));
            }
        }
        Ok(true)
    }

    /// The next row's vector, where it has one.
    ///
    /// # Errors
    /// When it is a sparse one that is none.
    pub(crate) fn vector(&mut self, row: usize) -> Result<Option<VectorValue>> {
        let Some(at) = self.place(row) else {
            return Ok(None);
        };
        Ok(Some(match self.values {
            Values::Packed(values, len) => {
                numbers(self.field.data_type, &values[at * len..][..len]).into()
            }
            Values::Sparse(values) => sparse_row(&values[at])
                .map_err(|reason| {
                    let name = &self.field.name;
                    MilvusError::invalid(format!("{reason}, field ({name}), row {row}"))
                })?
                .into(),
            _ => return Err(MilvusError::Internal("a scalar is no vector".into())),
        }))
    }

    /// The next row's text, where it has one.
    pub(super) fn text(&mut self, row: usize) -> Option<&'a str> {
        let at = self.place(row)?;
        match self.values {
            Values::Text(values) => values.get(at).map(String::as_str),
            _ => None,
        }
    }

    /// A text or whole number as the key of a row.
    pub(crate) fn key(&self, row: usize) -> Result<String> {
        match self.values {
            Values::Long(values) => Ok(values[row].to_string()),
            Values::Text(values) => {
                check_length(self.field, &values[row], row)?;
                Ok(id_of(values[row].clone()))
            }
            _ => Err(MilvusError::Internal("no such key".into())),
        }
    }
}

impl Values<'_> {
    /// How many values there are.
    fn count(&self, field: &Field) -> Result<usize> {
        let whole = |len: usize, one: usize| {
            if one > 0 && len.is_multiple_of(one) {
                return Ok(len / one);
            }
            let dim = field.dimension().unwrap_or_default();
            Err(MilvusError::invalid(match field.data_type {
                DataType::FloatVector => of_part_of_floats(len, dim),
                DataType::BinaryVector => format!(
                    "the num({}) of all bits should divide the dim({dim})",
                    8 * len
                ),
                DataType::Float16Vector => {
                    format!("the length({len}) of float16 data should divide the row width({one})")
                }
                DataType::BFloat16Vector => {
                    format!("the length({len}) of bfloat data should divide the row width({one})")
                }
                _ => format!("the length({len}) of int8 data should divide the dim({dim})"),
            }))
        };
        Ok(match self {
            Values::Bool(values) => values.len(),
            Values::Int(values) => values.len(),
            Values::Long(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Double(values) => values.len(),
            Values::Text(values) => values.len(),
            Values::Json(values) | Values::Sparse(values) => values.len(),
            Values::Array(values) => values.len(),
            Values::Packed(values, len) => whole(values.len(), *len)?,
        })
    }
}

/// What Milvus says of every text that is no instant, whatever is wrong with it.
fn no_instant(text: &str) -> MilvusError {
    MilvusError::invalid(format!(
        "got invalid timestamptz string '{text}': invalid timezone name; must be a valid IANA Time Zone ID (e.g., 'Asia/Shanghai' or 'UTC')"
    ))
}

/// What is said of a text that is no shape.
fn no_shape(why: String) -> MilvusError {
    MilvusError::invalid(format!(
        "invalid Geometry data, transform to wkb failed: syntax error: {why}"
    ))
}

/// What is said of float vectors that are not whole ones, by their bytes.
fn of_part_of_floats(bytes: usize, dim: usize) -> String {
    format!(
        "the length({}) of float data should divide the dim({dim})",
        bytes / size_of::<f32>()
    )
}

/// What is said of a column of vectors in which there are none.
fn without_vectors(field: &Field) -> MilvusError {
    let kind = match field.data_type {
        DataType::BinaryVector => "binary",
        DataType::Float16Vector => "float16",
        DataType::BFloat16Vector => "bfloat16",
        DataType::Int8Vector => "int8",
        DataType::SparseFloatVector => "sparse float",
        _ => "float",
    };
    MilvusError::mismatch(
        format!(
            "{kind} vector field '{}' is illegal, array type mismatch",
            field.name
        ),
        format!("need {kind} vector"),
        "got nil",
    )
}

/// What is said of a column that has not as many values as there are rows.
pub(super) fn of_other_length(name: &str, count: usize, rows: usize) -> MilvusError {
    MilvusError::mismatch(
        format!(
            "the num_rows ({count}) of field ({name}) is not equal to passed num_rows ({rows})"
        ),
        rows,
        count,
    )
}

fn of_another_type(field: &Field) -> MilvusError {
    MilvusError::invalid(format!(
        "the type of the data of field ({}) does not match its data type {}",
        field.name,
        field.data_type.name()
    ))
}

fn values_of<'a>(field: &'a Field, data: &'a FieldData) -> Result<Values<'a>> {
    let wrong = || of_another_type(field);
    match data.field.as_ref() {
        // A column of nulls alone may come without any values.
        Some(field_data::Field::Scalars(scalars))
            if scalars.data.is_none() && !data.valid_data.is_empty() =>
        {
            Ok(Values::Bool(&[]))
        }
        Some(field_data::Field::Scalars(scalars)) => scalars_of(field, scalars).ok_or_else(wrong),
        Some(field_data::Field::Vectors(vectors)) => vectors_of(field, vectors)?.ok_or_else(wrong),
        None if !data.valid_data.is_empty() => Ok(Values::Bool(&[])),
        Some(field_data::Field::StructArrays(_)) | None => Err(wrong()),
    }
}

fn scalars_of<'a>(field: &Field, scalars: &'a proto::ScalarField) -> Option<Values<'a>> {
    use scalar_field::Data as Scalar;
    Some(match (field.data_type, &scalars.data) {
        (DataType::Bool, Some(Scalar::BoolData(values))) => Values::Bool(&values.data),
        (DataType::Int8 | DataType::Int16 | DataType::Int32, Some(Scalar::IntData(values))) => {
            Values::Int(&values.data)
        }
        (DataType::Int64, Some(Scalar::LongData(values))) => Values::Long(&values.data),
        (DataType::Timestamptz, Some(Scalar::TimestamptzData(values))) => {
            Values::Long(&values.data)
        }
        (DataType::Timestamptz, Some(Scalar::StringData(values))) => Values::Text(&values.data),
        (DataType::Float, Some(Scalar::FloatData(values))) => Values::Float(&values.data),
        (DataType::Double, Some(Scalar::DoubleData(values))) => Values::Double(&values.data),
        (DataType::VarChar, Some(Scalar::StringData(values))) => Values::Text(&values.data),
        (DataType::Geometry, Some(Scalar::GeometryWktData(values))) => Values::Text(&values.data),
        (DataType::Json, Some(Scalar::JsonData(values))) => Values::Json(&values.data),
        (DataType::Array, Some(Scalar::ArrayData(values))) => Values::Array(&values.data),
        _ => return None,
    })
}

fn vectors_of<'a>(field: &Field, vectors: &'a proto::VectorField) -> Result<Option<Values<'a>>> {
    use vector_field::Data;
    let data_type = field.data_type;
    if data_type.is_dense_vector() && vectors.data.is_some() {
        let (given, dim) = (vectors.dim, field.dimension()?);
        if usize::try_from(given) != Ok(dim) {
            // As in Milvus, the numbers are counted before it is looked at how many a vector is said to have.
            if let Some(Data::FloatVector(values)) = &vectors.data
                && !values.data.len().is_multiple_of(size_of::<f32>() * dim)
            {
                return Err(MilvusError::invalid(of_part_of_floats(
                    values.data.len(),
                    dim,
                )));
            }
            return Err(MilvusError::mismatch(
                format!(
                    "the dim ({given}) of field data({}) is not equal to schema dim ({dim})",
                    field.name
                ),
                dim,
                given,
            ));
        }
    }
    let dim = || field.dimension();
    Ok(Some(match (data_type, vectors.data.as_ref()) {
        (DataType::FloatVector, Some(Data::FloatVector(values))) => {
            Values::Packed(&values.data, 4 * dim()?)
        }
        (DataType::BinaryVector, Some(Data::BinaryVector(bytes))) => {
            Values::Packed(bytes, dim()? / 8)
        }
        (DataType::Float16Vector, Some(Data::Float16Vector(bytes)))
        | (DataType::BFloat16Vector, Some(Data::Bfloat16Vector(bytes))) => {
            Values::Packed(bytes, 2 * dim()?)
        }
        (DataType::Int8Vector, Some(Data::Int8Vector(bytes))) => Values::Packed(bytes, dim()?),
        (DataType::SparseFloatVector, Some(Data::SparseFloatVector(rows))) => {
            Values::Sparse(&rows.contents)
        }
        (_, None) => Values::Sparse(&[]),
        _ => return Ok(None),
    }))
}

/// The numbers of a packed vector, as columns take them.
pub(crate) fn numbers(data_type: DataType, bytes: &[u8]) -> Vec<f32> {
    let pairs = bytes.as_chunks::<2>().0;
    match data_type {
        DataType::FloatVector => bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|four| f32::from_le_bytes(*four))
            .collect(),
        DataType::Float16Vector => pairs
            .iter()
            .map(|pair| f16::from_le_bytes(*pair).to_f32())
            .collect(),
        DataType::BFloat16Vector => pairs
            .iter()
            .map(|pair| bf16::from_le_bytes(*pair).to_f32())
            .collect(),
        // Whole numbers, and eight bits at a time.
        _ => bytes
            .iter()
            .map(|byte| f32::from(byte.cast_signed()))
            .collect(),
    }
}
