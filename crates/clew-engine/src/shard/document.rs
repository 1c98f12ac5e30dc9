//! What a segment takes: tantivy's fields, and the parts that only our plugins see.

use clew_platform::Reservation;
use clew_schema::{FieldId, VectorValue};
use tantivy::Document;
use tantivy::schema::{Field, OwnedValue};

use super::apply::Target;

/// A document on its way into a segment.
pub(super) struct SegmentDocument {
    /// Id and mapped fields.
    pub(super) fields: Vec<(Field, OwnedValue)>,
    /// What it was, as JSON without its vectors; empty when it is a nested object.
    pub(super) source: Vec<u8>,
    /// Vectors, by field.
    pub(super) vectors: Vec<(FieldId, VectorValue)>,
    /// The document's row.
    pub(super) row: Row,
    /// Memory of what its values became in further fields, those of its nested objects too.
    pub(super) copies: Option<Reservation>,
}

/// What is kept for each document beside its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) routing: Option<String>,
    pub(super) seq_no: u64,
    pub(super) version: u64,
    /// The path of the nested object that the row is; `None` when it is a whole document.
    pub(super) nested: Option<String>,
}

impl Row {
    /// The row of a whole document.
    pub(super) fn of(Target { id, routing }: Target, (seq_no, version): (u64, u64)) -> Self {
        Row {
            id,
            routing,
            seq_no,
            version,
            nested: None,
        }
    }
}

pub(super) struct Fields<'a>(std::slice::Iter<'a, (Field, OwnedValue)>);

impl<'a> Iterator for Fields<'a> {
    type Item = (Field, &'a OwnedValue);
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(field, value)| (*field, value))
    }
}

impl Document for SegmentDocument {
    type Value<'a> = &'a OwnedValue;
    type FieldsValuesIter<'a> = Fields<'a>;
    fn iter_fields_and_values(&self) -> Fields<'_> {
        Fields(self.fields.iter())
    }
}
