//! Lists of structs as JSON: from rows to the columns of their parts, and back.

use serde_json::{Map, Value};

use super::json::{Result, WrongRows, scalar_data, scalar_values, vector_values, vectors};
use crate::collection::{ARRAY_OF_STRUCT, Field, StructField, list_type};
use crate::proto::*;

type Object = Map<String, Value>;

/// The column of a field of structs.
///
/// # Errors
/// When a list is none, or one of its structs lacks a part, has another, or one that does not fit.
pub(super) fn column(field: &StructField, rows: &[&Object]) -> Result<FieldData> {
    let values: Vec<Option<&Value>> = rows
        .iter()
        .map(|row| row.get(&field.name).filter(|value| !value.is_null()))
        .collect();
    let mut lists: Vec<(usize, Vec<&Object>)> = Vec::with_capacity(rows.len());
    for (row, value) in values.iter().enumerate() {
        if let Some(value) = value {
            lists.push((row, structs(field, row, value)?));
        }
    }
    let valid_data = match field.nullable {
        true => values.iter().map(Option::is_some).collect(),
        false => Vec::new(),
    };
    let parts = field.parts.iter().map(|part| {
        let data = match part.data_type.is_vector() {
            true => vector_cells(field, part, &lists)?,
            false => scalar_cells(field, part, &lists)?,
        };
        Ok(FieldData {
            r#type: list_type(part.data_type),
            field_name: field.part_name(part).to_string(),
            valid_data: Vec::clone(&valid_data),
            field: Some(data),
            ..FieldData::default()
        })
    });
    let fields = parts.collect::<Result<_>>()?;
    Ok(FieldData {
        r#type: ARRAY_OF_STRUCT,
        field_name: field.name.clone(),
        field: Some(field_data::Field::StructArrays(StructArrayField { fields })),
        ..FieldData::default()
    })
}

fn structs<'v>(field: &StructField, row: usize, value: &'v Value) -> Result<Vec<&'v Object>> {
    let wrong = |why: String| WrongRows(format!("row {row}, field {}: {why}", field.name));
    let items = value
        .as_array()
        .ok_or_else(|| wrong("expected a list of structs".into()))?;
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let object = item
            .as_object()
            .ok_or_else(|| wrong("expected a list of structs".into()))?;
        let known = |name: &String| field.parts.iter().any(|part| field.part_name(part) == name);
        if let Some(name) = object.keys().find(|name| !known(name)) {
            return Err(wrong(format!("a struct has no field {name}")));
        }
        all.push(object);
    }
    Ok(all)
}

/// The values of a part, each with its row.
fn values<'v>(
    field: &StructField,
    part: &Field,
    (row, list): &(usize, Vec<&'v Object>),
) -> Result<Vec<(usize, &'v Value)>> {
    let name = field.part_name(part);
    let value = |object: &&'v Object| {
        let value = object.get(name).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| {
            WrongRows(format!(
                "row {row}, field {}: a struct lacks {name}",
                field.name
            ))
        })?;
        Ok((*row, value))
    };
    list.iter().map(value).collect()
}

fn scalar_cells(
    field: &StructField,
    part: &Field,
    lists: &[(usize, Vec<&Object>)],
) -> Result<field_data::Field> {
    let cell = |list: &(usize, Vec<&Object>)| {
        let data = scalar_data(part, part.data_type, &values(field, part, list)?)?;
        Ok(ScalarField { data: Some(data) })
    };
    let array = ArrayArray {
        data: lists.iter().map(cell).collect::<Result<_>>()?,
        element_type: part.data_type.number(),
    };
    Ok(field_data::Field::Scalars(ScalarField {
        data: Some(scalar_field::Data::ArrayData(array)),
    }))
}

fn vector_cells(
    field: &StructField,
    part: &Field,
    lists: &[(usize, Vec<&Object>)],
) -> Result<field_data::Field> {
    let cell = |list: &(usize, Vec<&Object>)| vectors(part, &values(field, part, list)?);
    let array = VectorArray {
        dim: 0,
        data: lists.iter().map(cell).collect::<Result<_>>()?,
        element_type: part.data_type.number(),
    };
    Ok(field_data::Field::Vectors(VectorField {
        dim: 0,
        data: Some(vector_field::Data::VectorArray(array)),
    }))
}

/// The lists of a column, row by row.
pub(super) fn lists(column: &StructArrayField) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    for part in &column.fields {
        let cells = cells(part);
        rows.resize(rows.len().max(cells.len()), Value::Array(Vec::new()));
        for (at, (row, cell)) in rows.iter_mut().zip(cells).enumerate() {
            if part.valid_data.get(at) == Some(&false) {
                *row = Value::Null;
            }
            let Value::Array(structs) = row else { continue };
            structs.resize(structs.len().max(cell.len()), Value::Object(Map::new()));
            for (one, value) in structs.iter_mut().zip(cell) {
                one[&part.field_name] = value;
            }
        }
    }
    rows
}

fn cells(part: &FieldData) -> Vec<Vec<Value>> {
    match &part.field {
        Some(field_data::Field::Scalars(scalars)) => match &scalars.data {
            Some(scalar_field::Data::ArrayData(cells)) => {
                cells.data.iter().map(scalar_values).collect()
            }
            _ => Vec::new(),
        },
        Some(field_data::Field::Vectors(vectors)) => match &vectors.data {
            Some(vector_field::Data::VectorArray(cells)) => {
                cells.data.iter().map(vector_values).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
