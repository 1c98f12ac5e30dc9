//! The relatives of one document, as a filter.

use clew_query::{Bool, Query, QueryError};
use clew_schema::MappedField;
use tantivy::{DocId, SegmentReader};

use crate::query::relatives::JoinRelation;
use crate::snapshot::Snapshot;

/// Relatives by a `join` field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kin {
    /// The children of this kind.
    Children(String),
    /// The parent, which is of this kind.
    Parent(String),
}

/// What the relatives of a document match, and nothing else does; `None` when it has none.
///
/// # Errors
/// When a column cannot be read.
pub fn kin_of(
    snapshot: &Snapshot,
    kin: &Kin,
    (segment, doc): (usize, DocId),
) -> Result<Option<Query>, QueryError> {
    let mapping = &snapshot.mapping;
    let Some((join, relations)) = mapping.join() else {
        return Ok(None);
    };
    let (parent, kind) = match kin {
        Kin::Children(kind) => (relations.parent_of(kind), kind),
        Kin::Parent(kind) => (Some(kind.as_str()), kind),
    };
    let Some(relation) = parent.and_then(|parent| JoinRelation::of(mapping, parent)) else {
        return Ok(None);
    };
    let Some(reader) = snapshot.readers.get(segment) else {
        return Ok(None);
    };
    // Siblings share the parent's id, but are not its parents or children.
    let own = value_of(reader, join, doc)?;
    let fits = own.is_some_and(|own| match kin {
        Kin::Children(_) => parent == Some(own.as_str()),
        Kin::Parent(_) => relations.parent_of(&own) == parent,
    });
    let id = value_of(reader, relation.ids, doc)?.filter(|_| fits);
    let Some(id) = id else {
        return Ok(None);
    };
    Ok(Some(Query::Bool(Bool {
        filter: vec![
            Query::term(relation.ids.path.as_str(), id),
            Query::term(join.path.as_str(), kind.as_str()),
        ],
        ..Bool::default()
    })))
}

fn value_of(
    reader: &SegmentReader,
    field: &MappedField,
    doc: DocId,
) -> Result<Option<String>, QueryError> {
    let Some(column) = reader.fast_fields().str(&field.column())? else {
        return Ok(None);
    };
    let Some(ord) = column.ords().first(doc) else {
        return Ok(None);
    };
    let mut text = String::new();
    Ok(column.ord_to_str(ord, &mut text)?.then_some(text))
}
