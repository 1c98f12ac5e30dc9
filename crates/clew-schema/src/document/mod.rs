//! From a document's JSON to what a segment takes: typed values for tantivy, vectors, and
//! the source without its vectors, since those are kept in their columns.
//!
//! Deliberately absent: `_id`, routing and versions, which belong to the engine.

mod at_path;
mod collect;
mod composed;
mod convert;
mod copies;
mod decimal;
mod doc_count;
mod dynamic;
mod error;
mod failure;
pub(crate) mod features;
mod fetch;
pub(crate) mod flat;
mod ignored;
mod join;
mod json;
mod misplaced;
mod names;
mod nested;
mod object_vectors;
pub(crate) mod ranges;
mod restore;
mod sparse;
mod unmapped;
mod vector;
mod walk;
mod whole;

use std::borrow::Cow;

use tantivy::schema::{Field, OwnedValue};

pub use at_path::values_at;
pub use copies::CopyRoom;
pub use error::{DocumentError, UnfitKind, ValueProblem};
pub use features::{feature_code, feature_weight};
pub use nested::NestedObject;
pub use object_vectors::{StoredObjectVectors, lacks_object_vectors, restored};
pub use ranges::{EndReader, GivenEnds, RangeRelation, Span, wanted_span};
pub use restore::{StoredNumbers, StoredVector, restore_vectors};
pub use vector::{VectorValue, check_vector_element};

use crate::mapping::{FieldId, FieldKind, Mapping, NewFields};
use collect::{Cuts, Values};
use copies::Copies;
use failure::Failure;
use json::JsonReader;
use object_vectors::ObjectVectors;
use walk::Walk;
pub use whole::Whole;

/// What some systems write before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What became of a document.
#[derive(Debug)]
pub enum Parsed<'a> {
    /// All of it fits the mapping.
    Document(ParsedDocument<'a>),
    /// It needs fields that the mapping lacks and may get. Add them (to a copy of the mapping, if
    /// the document's values are to be known to fit before others see the fields), then parse again.
    NeedsMapping(NewFields),
}

/// A document taken apart.
#[derive(Debug)]
pub struct ParsedDocument<'a> {
    /// Values for tantivy, without `_id` and `_source`.
    pub fields: Vec<(Field, OwnedValue)>,
    /// Vectors, at most one of a field.
    pub vectors: Vec<(FieldId, VectorValue)>,
    /// The document's text without its vectors; those of nested objects stay in it.
    pub source: Cow<'a, [u8]>,
    /// Its nested objects, each behind those that are inside it.
    pub nested: Vec<NestedObject>,
    /// Vectors of nested objects that are not in the text: those of a field one after the other, one for each object.
    pub object_vectors: Vec<(FieldId, VectorValue)>,
    /// Fields that take the document's id.
    pub id_fields: Vec<Field>,
    /// The field because of which it cannot do without a routing key.
    pub needs_routing: Option<String>,
    /// The texts of queries that it stores, by field; they are not among its values yet.
    pub queries: Vec<(FieldId, String)>,
}

impl Mapping {
    /// Takes a document apart.
    ///
    /// # Errors
    /// [`DocumentError`]; no input makes it panic.
    pub fn parse_document<'a>(&self, source: &'a [u8]) -> Result<Parsed<'a>, DocumentError> {
        self.parse_within(source, Vec::new(), &mut |_| true)
    }

    /// Takes a document apart that was accepted once: where the mapping has become stricter since, or fields are not made any
    /// more for what it brings, as it was then. `room` as for [`Mapping::parse_within`].
    ///
    /// # Errors
    /// [`DocumentError`] where it never was one of this mapping, or there is no room.
    pub fn parse_accepted<'a>(
        &self,
        source: &'a [u8],
        vectors: Vec<(FieldId, VectorValue)>,
        room: &mut CopyRoom<'_>,
    ) -> Result<Parsed<'a>, DocumentError> {
        match self.parse_within(source, vectors.clone(), room) {
            Ok(Parsed::Document(document)) => Ok(Parsed::Document(document)),
            // Freezing clones the mapping: only for the few documents that do not fit as it is.
            _ => self.frozen().parse_within(source, vectors, room),
        }
    }

    /// Takes a document apart whose vectors come beside its text; those of a field in nested objects one after the
    /// other, one for each object. Whether there is `room` for what values become in the fields that follow theirs is asked before
    /// they are made.
    ///
    /// # Errors
    /// [`DocumentError`], also when a vector does not fit its field or comes twice, or there is no room.
    pub fn parse_within<'a>(
        &self,
        source: &'a [u8],
        mut vectors: Vec<(FieldId, VectorValue)>,
        room: &mut CopyRoom<'_>,
    ) -> Result<Parsed<'a>, DocumentError> {
        // The mark that some systems write before any text is none of the document's.
        let source = source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(source);
        let of_objects = ObjectVectors::take(self, &mut vectors)?;
        for (at, (id, vector)) in vectors.iter().enumerate() {
            let is_again = vectors[..at].iter().any(|(other, _)| other == id);
            self.check_vector(*id, vector, is_again)?;
        }
        let reader =
            JsonReader::new(source).map_err(|error| DocumentError::malformed(error, source))?;
        let copies = Copies::of(source.len(), room);
        let mut walk = Walk::new(self, reader, Values::new(self, vectors), copies);
        walk.nested.beside = of_objects;
        walk.document().map_err(|failure| match failure {
            Failure::Json(error) => DocumentError::malformed(error, source),
            Failure::Document(error) => *error,
        })?;
        if !walk.new_fields.is_empty() {
            return Ok(Parsed::NeedsMapping(walk.new_fields.into_fields()));
        }
        let object_vectors = std::mem::take(&mut walk.nested.beside).finish()?;
        Ok(Parsed::Document(ParsedDocument {
            object_vectors,
            fields: walk.values.take_fields(),
            vectors: walk.values.vectors,
            nested: walk.nested.into_objects(),
            id_fields: walk.id_fields,
            needs_routing: walk.needs_routing,
            queries: walk.queries,
            source: stored_source(source, &walk.cuts, &walk.reader.half_characters),
        }))
    }

    fn check_vector(
        &self,
        id: FieldId,
        vector: &VectorValue,
        is_again: bool,
    ) -> Result<(), DocumentError> {
        let unfit = || DocumentError::Refused {
            reason: format!("field number [{}] takes no such vector", id.get()),
        };
        let field = self.by_id(id).ok_or_else(unfit)?;
        let fits = match (&field.kind, vector) {
            (FieldKind::Vector(mapped), VectorValue::Dense(numbers)) => {
                vector::check(numbers, &mapped.column)
            }
            (FieldKind::SparseVector, VectorValue::Sparse(entries)) => sparse::check(entries),
            _ => return Err(unfit()),
        };
        let checked = if is_again {
            Err("appears more than once in this document".into())
        } else {
            fits.map_err(ValueProblem::from)
        };
        checked.map_err(|cause| DocumentError::Field {
            field: field.path.clone(),
            type_name: field.kind.type_name(),
            preview: String::new(),
            cause: Box::new(cause),
        })
    }
}

/// The source as it is stored: without its vectors, and JSON to every reader.
fn stored_source<'a>(source: &'a [u8], cuts: &Cuts, half_characters: &[usize]) -> Cow<'a, [u8]> {
    let mut whole = Cow::Borrowed(source);
    for at in half_characters {
        // The replacement sign, in as many digits.
        if let Some(digits) = whole.to_mut().get_mut(*at..at + 4) {
            digits.copy_from_slice(b"fffd");
        }
    }
    match cuts.apply(&whole) {
        Some(stripped) => Cow::Owned(stripped),
        None => whole,
    }
}
