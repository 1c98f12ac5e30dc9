//! A collection as a mapping, so that documents of its index are its rows: a field is a field of the same name and the
//! type that fits (`docs/milvus.md` has the table).

use clew_query::{Bool, Query};
use clew_schema::{
    Dynamic, FieldKind, FieldSpec, FloatKind, IntegerKind, MappingSpec, VectorMapping,
};
use clew_vector::{ColumnOptions, Element, Space};
use serde_json::Value;

use crate::collection::{
    Collection, DEFAULT_PARTITION, DataType, Field, WRITTEN, analyzer, long_part,
};
use crate::error::Result;

/// What rows have beyond the fields of a collection: an object of its own in the document.
pub(crate) const DYNAMIC: &str = "$meta";
/// The partition of a row that is not in the usual one.
pub(crate) const PARTITION: &str = "$partition";
/// The words of a text are a field below it.
pub(crate) const TEXT: &str = "text";

/// The mapping of a collection; what is not in it stays in documents and is not looked for.
///
/// # Errors
/// When a parameter of a field is out of bounds.
pub(crate) fn mapping_spec(collection: &Collection) -> Result<MappingSpec> {
    let spec = MappingSpec {
        dynamic: Some(Dynamic::False),
        date_detection: Some(false),
        shown: collection.shown(None),
        ..MappingSpec::default()
    };
    let mut parts = Vec::new();
    for field in &collection.fields {
        parts.extend(field_parts(field)?);
    }
    if collection.dynamic {
        parts.push(FieldSpec::new(DYNAMIC, FieldKind::Flat));
    }
    parts.push(FieldSpec::new(PARTITION, FieldKind::keyword(None)));
    parts.push(written_part());
    parts.push(long_part());
    let mut spec = parts.into_iter().fold(spec, MappingSpec::with);
    for one in &collection.structs {
        spec.parts.extend(one.mapping_parts()?);
    }
    Ok(spec)
}

/// The field that says when rows were written.
pub(crate) fn written_part() -> FieldSpec {
    FieldSpec {
        coerce: false,
        ..FieldSpec::new(WRITTEN, FieldKind::Integer(IntegerKind::Long))
    }
}

/// The fields of a mapping that a field of a collection is.
///
/// # Errors
/// When a parameter is out of bounds, or no analyzer.
pub(crate) fn field_parts(field: &Field) -> Result<Vec<FieldSpec>> {
    let Some(kind) = kind_of(field)? else {
        return Ok(Vec::new());
    };
    // Of other types there is nothing to be strict about.
    let is_number = matches!(kind, FieldKind::Integer(_) | FieldKind::Float(_));
    let mut parts = vec![FieldSpec {
        coerce: !is_number,
        ..FieldSpec::new(field.path(), kind)
    }];
    if field.flag("enable_analyzer") {
        let words = FieldKind::text(analyzer::name_of(field)?);
        parts.push(FieldSpec {
            multi_field: true,
            choice: analyzer::choice_of(field)?,
            ..FieldSpec::new(format!("{}.{TEXT}", field.name), words)
        });
    }
    Ok(parts)
}

/// The rows of some partitions.
pub(crate) fn partition_query(names: &[String]) -> Query {
    let named: Vec<Value> = names
        .iter()
        .filter(|name| *name != DEFAULT_PARTITION)
        .map(|name| Value::from(name.as_str()))
        .collect();
    let mut any = Vec::new();
    if named.len() < names.len() {
        any.push(Query::Bool(Bool {
            must_not: vec![Query::Exists {
                field: PARTITION.to_string(),
                boost: 1.0,
            }],
            ..Bool::default()
        }));
    }
    if !named.is_empty() {
        any.push(Query::Terms {
            field: PARTITION.to_string(),
            values: named,
            boost: 1.0,
        });
    }
    Query::Bool(Bool {
        should: any,
        ..Bool::default()
    })
}

/// What a field is in a mapping; nothing where its values follow from another field, or stay in the document alone.
fn kind_of(field: &Field) -> Result<Option<FieldKind>> {
    if field.is_of_words() {
        return Ok(None);
    }
    let data_type = field.element_type.unwrap_or(field.data_type);
    Ok(Some(match data_type {
        DataType::Bool => FieldKind::Boolean,
        DataType::Int8 => FieldKind::Integer(IntegerKind::Byte),
        DataType::Int16 => FieldKind::Integer(IntegerKind::Short),
        DataType::Int32 => FieldKind::Integer(IntegerKind::Integer),
        DataType::Int64 | DataType::Timestamptz => FieldKind::Integer(IntegerKind::Long),
        DataType::Float => FieldKind::Float(FloatKind::Float),
        DataType::Double => FieldKind::Float(FloatKind::Double),
        DataType::VarChar => field.term_kind(),
        DataType::Json | DataType::Array | DataType::Geometry => return Ok(None),
        DataType::SparseFloatVector => FieldKind::SparseVector,
        DataType::BinaryVector
        | DataType::FloatVector
        | DataType::Float16Vector
        | DataType::BFloat16Vector
        | DataType::Int8Vector => FieldKind::Vector(VectorMapping {
            directionless: true,
            ..VectorMapping::new(plain_column(field)?)
        }),
    }))
}

/// The column of a vector field that has no index yet.
///
/// # Errors
/// When its dimension is out of bounds.
pub(crate) fn plain_column(field: &Field) -> Result<ColumnOptions> {
    let element = match field.data_type {
        DataType::BinaryVector => Element::Bit,
        DataType::Float16Vector => Element::F16,
        DataType::BFloat16Vector => Element::Bf16,
        DataType::Int8Vector => Element::I8,
        _ => Element::F32,
    };
    let space = match element {
        Element::Bit => Space::Hamming,
        _ => Space::L2,
    };
    Ok(ColumnOptions {
        element,
        ..ColumnOptions::new(field.dimension()?, space)
    })
}
