//! Stored queries in segments: their text in a column, their words in a hidden field beside it.

use clew_query::{NoQuery, PercolateQuery, Query, QueryError, QueryReader};
use clew_schema::{
    FieldId, FieldKind, MappedField, Mapping, UnfitKind, is_piece, joined_pieces, text_values,
    words_path,
};
use tantivy::columnar::BytesColumn;
use tantivy::schema::{Field, OwnedValue};
use tantivy::{DocId, SegmentReader};

use super::matcher::{DocumentMatcher, Matched};
use super::needs::Needs;
use crate::query::matching_within;
use crate::query::{CompileContext, VectorAnswers};
use crate::segments::SegmentBits;
use crate::snapshot::Snapshot;

/// Words that are looked up together.
const WORDS_AT_ONCE: usize = 4096;
/// The word of queries that must always be tried. Others begin with a number.
const ALWAYS: &str = "*";

/// What is written of a query that a document has: its text, and the words that it needs.
///
/// # Errors
/// Why the query cannot be stored under the mapping.
pub fn stored_query(
    mapping: &Mapping,
    id: FieldId,
    text: &str,
    query: Option<&Query>,
) -> Result<Vec<(Field, OwnedValue)>, NoQuery> {
    let Some(field) = mapping.by_id(id) else {
        let reason = format!("field number [{}] is not mapped", id.get());
        return Err(unsupported(reason));
    };
    let needs = match query {
        Some(query) => {
            check(query, mapping)?;
            DocumentMatcher::check(mapping, query).map_err(|error| NoQuery {
                kind: UnfitKind::Query,
                reason: error.to_string(),
            })?;
            Needs::of(query, mapping)
        }
        // It was accepted once; what became of it is seen when it is tried.
        None => Needs::Nothing,
    };
    let mut values = Vec::new();
    if let Some(own) = field.field {
        let texts = text_values(text).into_iter();
        values.extend(texts.map(|value| (own, OwnedValue::Bytes(value))));
    }
    let words = mapping.field(&words_path(&field.path));
    if let Some(words) = words.and_then(|words| words.field) {
        let word = |word: String| (words, OwnedValue::Str(word));
        match needs {
            Needs::Nothing => values.push(word(ALWAYS.to_string())),
            Needs::AnyOf(all) => values.extend(all.into_iter().map(word)),
        }
    }
    Ok(values)
}

fn has_sparse_vectors(mapping: &Mapping, path: &str) -> bool {
    let field = mapping.field(path);
    field.is_some_and(|field| field.kind == FieldKind::SparseVector)
}

/// Refuses what makes no sense for a single document, and fields that are not mapped.
fn check(query: &Query, mapping: &Mapping) -> Result<(), NoQuery> {
    for query in query.all() {
        match query {
            Query::Related(related) => {
                return Err(unsupported(format!(
                    "the [{}] query is unsupported inside a percolator query",
                    related.name()
                )));
            }
            Query::Percolate(_) | Query::Knn(_) | Query::VectorScore(_) => {
                return Err(unsupported(
                    "queries on vectors and on stored queries are unsupported inside a percolator query"
                        .to_string(),
                ));
            }
            Query::SparseVector(sparse) if has_sparse_vectors(mapping, &sparse.field) => {
                return Err(unsupported(
                    "queries on sparse vectors are unsupported inside a percolator query"
                        .to_string(),
                ));
            }
            query => {
                if let Some(path) = query.on_field().map(|query| query.field())
                    && !path.starts_with('_')
                    && mapping.field(path).is_none()
                    && !mapping.has_object(path)
                    && mapping.flat_above(path).is_none()
                {
                    return Err(NoQuery {
                        kind: UnfitKind::Query,
                        reason: format!(
                            "No field mapping can be found for the field with name [{path}]"
                        ),
                    });
                }
            }
        }
    }
    Ok(())
}

fn unsupported(reason: String) -> NoQuery {
    NoQuery {
        kind: UnfitKind::Illegal,
        reason,
    }
}

/// Documents, and the stored queries that may match them.
pub(crate) struct Waiting<'a> {
    percolate: &'a PercolateQuery,
    field: &'a MappedField,
    pub(crate) matcher: DocumentMatcher,
}

impl<'a> Waiting<'a> {
    pub(crate) fn new(
        percolate: &'a PercolateQuery,
        mapping: &'a Mapping,
    ) -> Result<Self, QueryError> {
        if let Some(named) = &percolate.named {
            return Err(named.document.not_read());
        }
        let path = &percolate.field;
        let Some(field) = mapping.field(path) else {
            return Err(QueryError::unmapped(format!(
                "field [{path}] does not exist"
            )));
        };
        if field.kind != FieldKind::Percolator {
            return Err(QueryError::unmapped(format!(
                "expected field [{path}] to be of type [percolator], but is of type [{}]",
                field.kind.type_name()
            )));
        }
        Ok(Waiting {
            percolate,
            field,
            matcher: DocumentMatcher::build(mapping, &percolate.documents)?,
        })
    }

    /// The stored queries of a segment.
    pub(crate) fn column(&self, reader: &SegmentReader) -> Result<Option<BytesColumn>, QueryError> {
        Ok(reader.fast_fields().bytes(&self.field.column())?)
    }

    /// The query that a document of a segment has, if it can still be read.
    pub(crate) fn query(
        &self,
        column: &BytesColumn,
        doc: DocId,
    ) -> Result<Option<Query>, QueryError> {
        let mut values = Vec::new();
        for ord in column.term_ords(doc) {
            let mut value = Vec::new();
            column.ord_to_bytes(ord, &mut value)?;
            values.push(value);
        }
        let is_cut = values.first().is_some_and(|value| is_piece(value));
        let text = match is_cut {
            true => Some(joined_pieces(values)),
            false => values.into_iter().next(),
        };
        let Some(text) = text else {
            return Ok(None);
        };
        let QueryReader(read) = self.percolate.reader;
        Ok(read(&text).ok())
    }

    /// The documents that a stored query matches. One that fits the mapping no more matches none.
    pub(crate) fn matches(&self, query: &Query, now_ms: i64) -> Result<Vec<Matched>, QueryError> {
        match self.matcher.matches(query, now_ms) {
            Err(
                error @ (QueryError::Index(_)
                | QueryError::Io(_)
                | QueryError::Memory(_)
                | QueryError::Stopped),
            ) => Err(error),
            Err(_) => Ok(Vec::new()),
            found => found,
        }
    }
}

/// The documents of a shard whose stored queries may match.
pub(crate) fn candidates(
    waiting: &Waiting<'_>,
    snapshot: &Snapshot,
    now_ms: i64,
) -> Result<Vec<SegmentBits>, QueryError> {
    let mut words = waiting.matcher.words()?;
    words.push(ALWAYS.to_string());
    let path = words_path(&waiting.field.path);
    let context = CompileContext {
        snapshot,
        now_ms,
        vectors: &VectorAnswers::default(),
    };
    let mut all: Option<Vec<SegmentBits>> = None;
    for words in words.chunks(WORDS_AT_ONCE) {
        let query = Query::Terms {
            field: path.clone(),
            values: words.iter().map(|word| word.as_str().into()).collect(),
            boost: 1.0,
        };
        let found = matching_within(&context, &query, None)?;
        all = Some(match all {
            None => found,
            Some(mut all) => {
                for (bits, more) in all.iter_mut().zip(found) {
                    more.iter().for_each(|doc| bits.insert(doc));
                }
                all
            }
        });
    }
    Ok(all.unwrap_or_default())
}
