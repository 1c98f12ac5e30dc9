//! Lists of structs: on their way in from columns of their parts, on their way out to them.

use clew_engine::FieldValues;
use clew_schema::{FieldId, Mapping, VectorValue};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::answer::{array_of, packed_vectors, validity};
use super::column::{InColumn, of_other_length};
use super::document::{field_id, member};
use super::value::too_many;
use crate::collection::{ARRAY_OF_STRUCT, Field, StructField, list_type};
use crate::error::{MilvusError, Result};
use crate::proto::{self, FieldData, field_data, scalar_field, vector_field};

/// A column of structs on its way in.
pub(super) struct StructColumn<'a> {
    field: &'a StructField,
    parts: Vec<Part<'a>>,
    /// Which rows have a list, where not all do.
    valid: Option<&'a [bool]>,
    /// Lists that were read, of a column without those of rows that have none.
    read: usize,
    is_full: bool,
}

struct Part<'a> {
    field: &'a Field,
    /// Its name as it is written.
    name: Vec<u8>,
    cells: Cells<'a>,
}

enum Cells<'a> {
    Scalars(&'a [proto::ScalarField]),
    Vectors(FieldId, &'a [proto::VectorField]),
}

impl Cells<'_> {
    fn len(&self) -> usize {
        match self {
            Cells::Scalars(cells) => cells.len(),
            Cells::Vectors(_, cells) => cells.len(),
        }
    }
}

impl<'a> StructColumn<'a> {
    /// Checks that a column is of its field, and of so many rows.
    ///
    /// # Errors
    /// When a part is missing, of another type or length, or has nulls where there may be none.
    pub(super) fn new(
        field: &'a StructField,
        data: &'a FieldData,
        (rows, mapping): (usize, &Mapping),
    ) -> Result<Self> {
        let Some(field_data::Field::StructArrays(given)) = &data.field else {
            return Err(MilvusError::invalid(format!(
                "the type of the data of field ({}) does not match its data type ArrayOfStruct",
                field.name
            )));
        };
        let mut parts = Vec::with_capacity(field.parts.len());
        for part in &field.parts {
            let name = field.part_name(part);
            let own = |data: &&FieldData| data.field_name == name || data.field_name == part.name;
            let data = given.fields.iter().find(own).ok_or_else(|| {
                MilvusError::invalid(format!(
                    "the field ({name}) of the structs of field ({}) is missing",
                    field.name
                ))
            })?;
            parts.push((part, data));
        }
        if let Some(other) = given.fields.get(parts.len()) {
            return Err(MilvusError::invalid(format!(
                "the structs of field ({}) have a field too many ({})",
                field.name, other.field_name
            )));
        }
        let first = parts
            .first()
            .map_or(&[][..], |(_, data)| &data.valid_data[..]);
        let valid = Some(first).filter(|valid| !valid.is_empty());
        let given = valid.map_or(rows, |valid| valid.iter().filter(|valid| **valid).count());
        if valid.is_some_and(|valid| valid.len() != rows) || (given < rows && !field.nullable) {
            return Err(MilvusError::invalid(format!(
                "field ({}) has values in {given} of {rows} rows, and valid_data of {}",
                field.name,
                first.len()
            )));
        }
        let parts: Vec<Part<'a>> = parts
            .into_iter()
            .map(|(part, data)| {
                if data.valid_data != first {
                    return Err(unequal(field, part));
                }
                Ok(Part {
                    field: part,
                    name: member(field.part_name(part)),
                    cells: cells(part, data, mapping)?,
                })
            })
            .collect::<Result<_>>()?;
        let count = parts.first().map_or(0, |part| part.cells.len());
        if let Some(other) = parts.iter().find(|part| part.cells.len() != count) {
            return Err(unequal(field, other.field));
        }
        if count != rows && count != given {
            return Err(of_other_length(&field.name, count, rows));
        }
        Ok(StructColumn {
            field,
            parts,
            valid,
            read: 0,
            is_full: count == rows,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.field.name
    }

    /// Appends the next row's list to its document, and its vectors to the others; rows are asked for in their order.
    /// Says whether the row has a list.
    ///
    /// # Errors
    /// When the list is too long, its parts are not as many, or a value breaks a rule.
    pub(super) fn write(
        &mut self,
        row: usize,
        source: &mut Vec<u8>,
        vectors: &mut Vec<(FieldId, VectorValue)>,
    ) -> Result<bool> {
        if self
            .valid
            .is_some_and(|valid| valid.get(row) != Some(&true))
        {
            return Ok(false);
        }
        let at = if self.is_full { row } else { self.read };
        self.read += 1;
        let mut columns = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            columns.push(match &part.cells {
                Cells::Scalars(cells) => InColumn::of_values(part.field, &cells[at])?,
                Cells::Vectors(_, cells) => InColumn::of_vectors(part.field, &cells[at])?,
            });
        }
        let count = columns.first().map_or(0, |(_, count)| *count);
        if let Some(other) = columns.iter().find(|(_, other)| *other != count) {
            return Err(unequal(self.field, other.0.field));
        }
        let max = self.field.capacity()?;
        if count > max {
            return Err(too_many(count, row, max));
        }
        source.extend_from_slice(&member(&self.field.name));
        source.push(b'[');
        for number in 0..count {
            source.extend_from_slice(if number == 0 { b"{" } else { b",{" });
            for (part, (column, _)) in self.parts.iter().zip(&mut columns) {
                if matches!(part.cells, Cells::Scalars(_)) {
                    source.extend_from_slice(&part.name);
                    column.write_json(number, source)?;
                    source.push(b',');
                }
            }
            if source.last() == Some(&b',') {
                source.pop();
            }
            source.push(b'}');
        }
        source.extend_from_slice(b"],");
        for (part, (column, _)) in self.parts.iter().zip(&mut columns) {
            if let (Cells::Vectors(id, _), true) = (&part.cells, count > 0) {
                let mut all = Vec::new();
                for number in 0..count {
                    if let Some(VectorValue::Dense(numbers)) = column.vector(number)? {
                        all.extend(numbers);
                    }
                }
                vectors.push((*id, all.into()));
            }
        }
        Ok(true)
    }
}

fn unequal(field: &StructField, part: &Field) -> MilvusError {
    MilvusError::invalid(format!(
        "the fields of the structs of field ({}) are not of one length: ({}) has another",
        field.name,
        field.part_name(part)
    ))
}

fn cells<'a>(part: &Field, data: &'a FieldData, mapping: &Mapping) -> Result<Cells<'a>> {
    use field_data::Field as Given;
    let is_vector = part.data_type.is_vector();
    Ok(match &data.field {
        Some(Given::Scalars(scalars)) if !is_vector => match &scalars.data {
            Some(scalar_field::Data::ArrayData(cells)) => Cells::Scalars(&cells.data),
            None => Cells::Scalars(&[]),
            _ => return Err(of_another_type(part)),
        },
        Some(Given::Vectors(vectors)) if is_vector => match &vectors.data {
            Some(vector_field::Data::VectorArray(cells)) => {
                Cells::Vectors(field_id(mapping, part)?, &cells.data)
            }
            None => Cells::Vectors(field_id(mapping, part)?, &[]),
            _ => return Err(of_another_type(part)),
        },
        None if is_vector => Cells::Vectors(field_id(mapping, part)?, &[]),
        None => Cells::Scalars(&[]),
        _ => return Err(of_another_type(part)),
    })
}

fn of_another_type(part: &Field) -> MilvusError {
    MilvusError::invalid(format!(
        "the type of the data of field ({}) does not match its data type",
        part.name
    ))
}

/// Which parts of a field of structs are wanted.
#[derive(Clone, Debug)]
pub(crate) struct WantedStruct {
    pub(crate) field: StructField,
    /// Those of its parts, in their order.
    pub(crate) parts: Vec<Field>,
}

impl WantedStruct {
    /// The column of rows, of the lists as their documents have them and the vectors of those parts that are some.
    ///
    /// # Errors
    /// When a document does not hold what its field says.
    pub(super) fn column(
        &self,
        lists: FieldValues,
        mut vectors: Vec<FieldValues>,
    ) -> Result<FieldData> {
        let FieldValues::Json(lists) = lists else {
            return Err(MilvusError::Internal("a list of structs is no JSON".into()));
        };
        let rows: Vec<Option<Vec<Map<String, Value>>>> = lists.into_iter().map(structs).collect();
        let mut fields = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let name = self.field.part_name(part);
            let data = if part.data_type.is_vector() {
                if vectors.is_empty() {
                    return Err(MilvusError::Internal("a column was not read".into()));
                }
                vector_cells(part, vectors.remove(0))?
            } else {
                scalar_cells(part, name, &rows)?
            };
            fields.push(FieldData {
                r#type: list_type(part.data_type),
                field_name: name.to_string(),
                field_id: part.id,
                valid_data: validity(part, rows.iter().map(Option::is_some)),
                field: Some(data),
                ..FieldData::default()
            });
        }
        Ok(FieldData {
            r#type: ARRAY_OF_STRUCT,
            field_name: self.field.name.clone(),
            field_id: self.field.id,
            field: Some(field_data::Field::StructArrays(proto::StructArrayField {
                fields,
            })),
            ..FieldData::default()
        })
    }
}

/// The structs of a row; none where it has no list.
fn structs(json: Option<Box<RawValue>>) -> Option<Vec<Map<String, Value>>> {
    let value: Value = serde_json::from_str(json?.get()).ok()?;
    let items = match value {
        Value::Null => return None,
        Value::Array(items) => items,
        one => vec![one],
    };
    let object = |item: Value| match item {
        Value::Object(members) => Some(members),
        _ => None,
    };
    Some(items.into_iter().filter_map(object).collect())
}

fn scalar_cells(
    part: &Field,
    name: &str,
    rows: &[Option<Vec<Map<String, Value>>>],
) -> Result<field_data::Field> {
    let cell = |row: &Option<Vec<Map<String, Value>>>| {
        let structs = row.as_deref().unwrap_or_default();
        let items: Vec<Option<&Value>> = structs.iter().map(|one| one.get(name)).collect();
        array_of(part, part.data_type, &items)
    };
    let data = scalar_field::Data::ArrayData(proto::ArrayArray {
        data: rows.iter().map(cell).collect::<Result<_>>()?,
        element_type: part.data_type.number(),
    });
    Ok(field_data::Field::Scalars(proto::ScalarField {
        data: Some(data),
    }))
}

fn vector_cells(part: &Field, read: FieldValues) -> Result<field_data::Field> {
    let rows = match read {
        FieldValues::Vectors(rows) => rows,
        // No column has them yet.
        FieldValues::Json(rows) => vec![None; rows.len()],
        _ => return Err(MilvusError::Internal(format!("{} is no vector", part.name))),
    };
    let dim = i64::try_from(part.dimension()?).unwrap_or_default();
    let cell = |row: &Option<Vec<f32>>| proto::VectorField {
        dim,
        data: Some(packed_vectors(part.data_type, row.as_slice())),
    };
    let array = proto::VectorArray {
        dim,
        data: rows.iter().map(cell).collect(),
        element_type: part.data_type.number(),
    };
    Ok(field_data::Field::Vectors(proto::VectorField {
        dim,
        data: Some(vector_field::Data::VectorArray(array)),
    }))
}
