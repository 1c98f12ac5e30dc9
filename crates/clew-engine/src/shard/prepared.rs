//! A document that waits to be written.

use std::sync::Arc;

use clew_platform::Reservation;
use clew_query::{NoQuery, QueryReader};
use clew_schema::{
    DocumentError, FieldId, FieldKind, Mapping, NestedObject, ParsedDocument, UnfitKind,
    VectorValue,
};
use clew_search::stored_query;
use clew_vector::Element;
use tantivy::schema::{Field, OwnedValue};

use crate::base::operation::{LoggedNumbers, LoggedVector};

/// A document that has been parsed under a mapping.
pub(crate) struct Prepared {
    pub(crate) mapping: Arc<Mapping>,
    pub(crate) fields: Vec<(Field, OwnedValue)>,
    pub(crate) vectors: Vec<(FieldId, VectorValue)>,
    /// JSON without the vectors.
    pub(crate) source: Vec<u8>,
    /// Its nested objects, each behind those that are inside it.
    pub(crate) nested: Vec<NestedObject>,
    /// Vectors of nested objects that are not in the JSON: those of a field one after the other.
    pub(crate) object_vectors: Vec<(FieldId, VectorValue)>,
    /// Fields that take the document's id.
    pub(crate) id_fields: Vec<Field>,
    /// The field because of which it cannot do without a routing key.
    pub(crate) needs_routing: Option<String>,
    /// The texts of queries that it stores, by field; not among its values before
    /// [`Prepared::store_queries`].
    pub(crate) queries: Vec<(FieldId, String)>,
    /// Memory of what its values became in further fields, until they are in a buffer; none where that is little.
    pub(crate) copies: Option<Reservation>,
    /// Its values were given up.
    is_text: bool,
}

/// What a value takes beside what it is a copy of.
const VALUE_BYTES: usize = 128;

impl Prepared {
    pub(crate) fn of(
        mapping: Arc<Mapping>,
        document: ParsedDocument<'_>,
        copies: Option<Reservation>,
    ) -> Self {
        Prepared {
            mapping,
            fields: document.fields,
            vectors: document.vectors,
            source: document.source.into_owned(),
            nested: document.nested,
            object_vectors: document.object_vectors,
            id_fields: document.id_fields,
            needs_routing: document.needs_routing,
            queries: document.queries,
            copies,
            is_text: false,
        }
    }

    /// About how many bytes its text and its vectors are.
    pub(crate) fn text_bytes(&self) -> usize {
        let vectors = self.vectors.iter().chain(&self.object_vectors);
        let vectors = vectors.map(|(_, vector)| vector.bytes());
        self.source.len() + vectors.sum::<usize>()
    }

    /// About what [`Self::keep_text`] gives up: values are copies of parts of the text, and vectors of objects are there twice.
    pub(crate) fn values_bytes(&self) -> usize {
        let objects = self.nested.iter();
        let values = objects.map(|object| object.fields.len() + 1);
        let values = values.sum::<usize>() + self.fields.len();
        let vectors = self.object_vectors.iter();
        let vectors = vectors.map(|(_, vector)| vector.bytes());
        self.source.len() + values * VALUE_BYTES + vectors.sum::<usize>()
    }

    /// Gives up its values: what is left is what the log takes, and has to be parsed again.
    pub(crate) fn keep_text(&mut self) {
        self.fields = Vec::new();
        self.nested = Vec::new();
        self.copies = None;
        self.is_text = true;
    }

    /// Whether [`Self::keep_text`] was called.
    pub(crate) fn is_text(&self) -> bool {
        self.is_text
    }

    /// What it was parsed from: its text, and the vectors that are not in there.
    pub(crate) fn into_text(self) -> (Vec<u8>, Vec<(FieldId, VectorValue)>) {
        let mut vectors = self.vectors;
        vectors.extend(self.object_vectors);
        (self.source, vectors)
    }

    /// Its vectors as the log takes them: each with the type that its column keeps.
    pub(crate) fn logged_vectors(&self) -> Vec<LoggedVector<'_>> {
        let element_of = |field| match self.mapping.by_id(field).map(|field| &field.kind) {
            Some(FieldKind::Vector(vector)) => vector.column.element,
            _ => Element::F32,
        };
        let vectors = self.vectors.iter().chain(&self.object_vectors);
        vectors
            .map(|(field, vector)| LoggedVector {
                field: *field,
                numbers: match vector {
                    VectorValue::Dense(numbers) => {
                        LoggedNumbers::Dense(element_of(*field), numbers)
                    }
                    VectorValue::Sparse(entries) => LoggedNumbers::Sparse(entries),
                },
            })
            .collect()
    }

    /// Refuses a document that lacks the field of its time, or has several.
    pub(crate) fn check_time(&self, path: &str) -> Result<(), DocumentError> {
        let field = self.mapping.field(path).and_then(|field| field.field);
        let has = |field: Field| self.fields.iter().filter(|(of, _)| *of == field).count();
        if field.is_some_and(|field| has(field) == 1) {
            return Ok(());
        }
        Err(DocumentError::Unfit {
            kind: UnfitKind::Illegal,
            reason: format!(
                "documents must contain a single-valued timestamp field '{path}' of date type"
            ),
        })
    }

    /// Adds the queries that it stores to its values, once they are known to be queries.
    pub(crate) fn store_queries(
        &mut self,
        reader: Option<QueryReader>,
    ) -> Result<(), DocumentError> {
        for (field, text) in std::mem::take(&mut self.queries) {
            let Some(reader) = reader else {
                let kind = UnfitKind::Illegal;
                let reason = "stored queries cannot be read here".to_string();
                return Err(DocumentError::Unfit { kind, reason });
            };
            let values = reader
                .read(text.as_bytes())
                .and_then(|query| stored_query(&self.mapping, field, &text, Some(&query)))
                .map_err(|NoQuery { kind, reason }| DocumentError::Unfit { kind, reason })?;
            self.fields.extend(values);
        }
        Ok(())
    }

    /// The same for a document of the log, which was accepted once: a query that is none any more
    /// is kept, and tried against every document.
    pub(crate) fn restore_queries(&mut self, reader: Option<QueryReader>) {
        for (field, text) in std::mem::take(&mut self.queries) {
            let query = reader.and_then(|reader| reader.read(text.as_bytes()).ok());
            let values = stored_query(&self.mapping, field, &text, query.as_ref())
                .or_else(|_| stored_query(&self.mapping, field, &text, None));
            self.fields.extend(values.into_iter().flatten());
        }
    }
}
