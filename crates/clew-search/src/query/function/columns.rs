//! Where scripts find the values of fields, and the columns of one segment that have them.

use std::fmt;
use std::net::Ipv6Addr;
use std::sync::Arc;

use clew_query::{ScriptMeasure, refusal_of_text};
use clew_schema::{FieldKind, MappedField};
use tantivy::columnar::{Column, StrColumn};
use tantivy::index::SegmentId;
use tantivy::{DocId, SegmentReader};

use crate::segments::{DocumentRows, Ids};
use crate::snapshot::{INDEX_FIELD, SEQ_NO_FIELD, Snapshot};

/// Where the values of a field are.
#[derive(Clone, Debug)]
pub(crate) enum ScriptColumn {
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
    Ids(DocumentIds),
    Changes(DocumentChanges),
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
    /// Of a field, whose vectors may be measured.
    pub(crate) fn of(field: &MappedField, measures: &[ScriptMeasure]) -> Self {
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
                let mut measures = measures.iter();
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

    /// Of what the documents of a shard have beside their fields; `None` where they have nothing of that name.
    ///
    /// # Errors
    /// When the ids cannot be read.
    pub(crate) fn beside(snapshot: &Snapshot, path: &str) -> tantivy::Result<Option<Self>> {
        Ok(match path {
            INDEX_FIELD => {
                let name = snapshot.index_name();
                name.map(|name| ScriptColumn::Same(Some(name.to_string())))
            }
            "_id" => Some(ScriptColumn::Ids(DocumentIds::of(snapshot)?)),
            SEQ_NO_FIELD => {
                let rows = snapshot.rows().cloned();
                rows.map(|rows| ScriptColumn::Changes(DocumentChanges(rows)))
            }
            _ => None,
        })
    }

    /// Whether there is such a field.
    pub(crate) fn is_mapped(&self) -> bool {
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
            ScriptColumn::Ids(ids) => OpenColumn::Ids(ids.in_segment(reader.segment_id())),
            ScriptColumn::Changes(changes) => {
                OpenColumn::Changes(changes.clone(), reader.segment_id())
            }
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
    Ids(Option<Arc<Ids>>),
    Changes(DocumentChanges, SegmentId),
    Vector(usize),
    Given,
    None,
}

/// The ids of a shard's documents.
#[derive(Clone)]
pub(crate) struct DocumentIds(Arc<[(SegmentId, Arc<Ids>)]>);

impl DocumentIds {
    fn of(snapshot: &Snapshot) -> tantivy::Result<Self> {
        let segments = snapshot.readers.iter();
        let ids = segments.map(|reader| -> tantivy::Result<_> {
            Ok((reader.segment_id(), snapshot.ids(reader)?))
        });
        ids.collect::<tantivy::Result<_>>().map(DocumentIds)
    }

    fn in_segment(&self, segment: SegmentId) -> Option<Arc<Ids>> {
        let mut segments = self.0.iter();
        let found = segments.find(|(own, _)| *own == segment);
        found.map(|(_, ids)| ids.clone())
    }
}

impl fmt::Debug for DocumentIds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DocumentIds")
    }
}

/// The id of a document; nested objects have none.
pub(super) fn id_of(ids: &Ids, doc: DocId) -> tantivy::Result<Option<String>> {
    let rank = ids.rank(doc);
    rank.map(|rank| ids.id(u64::from(rank))).transpose()
}

/// The numbers of the last changes of a shard's documents.
#[derive(Clone)]
pub(crate) struct DocumentChanges(Arc<dyn DocumentRows>);

impl DocumentChanges {
    pub(super) fn of(&self, segment: SegmentId, doc: DocId) -> tantivy::Result<Option<u64>> {
        self.0.seq_no(segment, doc)
    }
}

impl fmt::Debug for DocumentChanges {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DocumentChanges")
    }
}
