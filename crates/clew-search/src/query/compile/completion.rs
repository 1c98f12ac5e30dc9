//! Completion fields that are asked for as fields of words are: each input is one word, as its analyzer sees the whole of it.
//!
//! Inputs that differ in weight alone are different terms here, so that a word is all terms that begin with it and a separator.

use clew_query::QueryError;
use clew_schema::{
    CompletionMapping, ENTRY_SEPARATOR, FieldKind, MappedField,
    similarity::{TermStatistics, Weigher},
};
use tantivy::schema::Field;

use super::{Compiler, Node};
use crate::query::constant::{AnyWithPrefix, DocumentSet, FoundDocs};

impl Compiler<'_> {
    /// The documents that have an input, each with the score of a word that is there once.
    pub(super) fn scored_input(
        &self,
        (mapped, field): (&MappedField, Field),
        input: &str,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let Some(set) = self.with_input(mapped, field, input)? else {
            return Ok(Node::nothing());
        };
        let snapshot = self.context.snapshot;
        let mut docs = 0;
        for reader in &snapshot.readers {
            docs += match set.find(reader)? {
                FoundDocs::Nothing => 0,
                FoundDocs::Everything => u64::from(reader.max_doc()),
                FoundDocs::Bits(bits) => bits.len() as u64,
            };
        }
        if docs == 0 {
            return Ok(Node::nothing());
        }
        let one = TermStatistics {
            docs,
            occurrences: docs,
        };
        let weigher = Weigher::new(
            self.similarity(mapped),
            snapshot.statistics(mapped)?,
            &[one],
        );
        Ok(Node::set(set, boost * weigher.score(1.0, 1.0)))
    }

    /// The documents that have an input; `None` where none can be asked for so, as inputs with contexts are kept behind these.
    pub(super) fn with_input(
        &self,
        mapped: &MappedField,
        field: Field,
        input: &str,
    ) -> Result<Option<AnyWithPrefix>, QueryError> {
        let FieldKind::Completion(mapping) = &mapped.kind else {
            return Ok(None);
        };
        if input.is_empty() || !mapping.contexts.is_empty() {
            return Ok(None);
        }
        Ok(Some(AnyWithPrefix {
            field,
            prefix: format!("{input}{ENTRY_SEPARATOR}").into_bytes(),
            searched: self.context.snapshot.searched(field)?,
        }))
    }
}

/// A text as inputs are kept, where it is one for such a field.
pub(super) fn as_input(mapping: &CompletionMapping, text: &str) -> String {
    let kept: String = text.chars().take(mapping.length_max).collect();
    mapping.normal(&kept)
}
