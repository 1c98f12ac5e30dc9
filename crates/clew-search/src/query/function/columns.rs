//! Where scripts find the values of fields, and the columns of one segment that have them.

use std::net::Ipv6Addr;

use clew_query::{Script, refusal_of_text};
use clew_schema::{FieldKind, MappedField};
use tantivy::SegmentReader;
use tantivy::columnar::{Column, StrColumn};

/// Where the values of a field are.
#[derive(Clone, Debug)]
pub(super) enum ScriptColumn {
    Whole(String),
    Truth(String),
    Millis(String),
    Nanos(String),
    Unsigned(String),
    Float(String),
    Text(String),
    Address(String),
    Points(String),
    Same(Option<String>),
    /// Vectors, which a measure tells whether they are there.
    Vector(usize),
    /// The value that the script is given.
    Given,
    /// The mapping has no such field.
    Unmapped,
    /// No values can be had of it.
    Refused(String),
}

impl ScriptColumn {
    pub(super) fn of(field: &MappedField, script: &Script) -> Self {
        let name = field.column();
        match &field.kind {
            FieldKind::Integer(_) => ScriptColumn::Whole(name),
            FieldKind::Boolean => ScriptColumn::Truth(name),
            FieldKind::Date { .. } => ScriptColumn::Millis(name),
            FieldKind::DateNanos { .. } => ScriptColumn::Nanos(name),
            FieldKind::Unsigned => ScriptColumn::Unsigned(name),
            FieldKind::Float(_) => ScriptColumn::Float(name),
            FieldKind::Keyword { .. } | FieldKind::Flat => ScriptColumn::Text(name),
            FieldKind::Text { .. } if field.has_fielddata() => ScriptColumn::Text(name),
            FieldKind::Ip => ScriptColumn::Address(name),
            FieldKind::GeoPoint => ScriptColumn::Points(name),
            FieldKind::Constant { value } => ScriptColumn::Same(value.clone()),
            FieldKind::Text { .. } => ScriptColumn::Refused(refusal_of_text(&field.path)),
            FieldKind::Vector(_) => {
                let mut measures = script.measures().iter();
                match measures.position(|measure| measure.field == field.path) {
                    Some(measure) => ScriptColumn::Vector(measure),
                    None => ScriptColumn::refused(field),
                }
            }
            FieldKind::Binary { .. }
            | FieldKind::Range { .. }
            | FieldKind::RankFeatures
            | FieldKind::Completion(_)
            | FieldKind::Percolator
            | FieldKind::GeoShape
            | FieldKind::SparseVector => ScriptColumn::refused(field),
        }
    }

    /// Whether there is such a field.
    pub(super) fn is_mapped(&self) -> bool {
        !matches!(self, ScriptColumn::Unmapped)
    }

    fn refused(field: &MappedField) -> Self {
        ScriptColumn::Refused(format!(
            "Fielddata is not supported on field [{}] of type [{}]",
            field.path,
            field.kind.type_name()
        ))
    }

    pub(super) fn open(&self, reader: &SegmentReader) -> tantivy::Result<OpenColumn> {
        let columns = reader.fast_fields();
        Ok(match self {
            ScriptColumn::Whole(name) => OpenColumn::Whole(columns.column_opt(name)?),
            ScriptColumn::Truth(name) => OpenColumn::Truth(columns.column_opt(name)?),
            ScriptColumn::Millis(name) => OpenColumn::Millis(columns.column_opt(name)?),
            ScriptColumn::Nanos(name) => OpenColumn::Nanos(columns.column_opt(name)?),
            ScriptColumn::Unsigned(name) => OpenColumn::Unsigned(columns.column_opt(name)?),
            ScriptColumn::Float(name) => OpenColumn::Float(columns.column_opt(name)?),
            ScriptColumn::Text(name) => OpenColumn::Text(columns.str(name)?),
            ScriptColumn::Address(name) => OpenColumn::Address(columns.column_opt(name)?),
            ScriptColumn::Points(name) => OpenColumn::Points(columns.column_opt(name)?),
            ScriptColumn::Same(value) => OpenColumn::Same(value.clone()),
            ScriptColumn::Vector(measure) => OpenColumn::Vector(*measure),
            ScriptColumn::Given => OpenColumn::Given,
            ScriptColumn::Unmapped | ScriptColumn::Refused(_) => OpenColumn::None,
        })
    }
}

/// The values of a field in one segment.
pub(super) enum OpenColumn {
    Whole(Option<Column<i64>>),
    Truth(Option<Column<i64>>),
    Millis(Option<Column<i64>>),
    Nanos(Option<Column<i64>>),
    Unsigned(Option<Column<u64>>),
    Float(Option<Column<f64>>),
    Text(Option<StrColumn>),
    Address(Option<Column<Ipv6Addr>>),
    Points(Option<Column<u64>>),
    Same(Option<String>),
    Vector(usize),
    Given,
    None,
}
