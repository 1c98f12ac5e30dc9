//! What vectors answer of queries: found before the queries are compiled, which then only look it up.
//!
//! Nearest neighbours depend on the whole shard and cost more than all the rest of a search, so that they are a stage
//! of their own: [`VectorStage`] walks through the queries of a search, answers each clause that needs vectors once
//! (`walk`; among nested objects `objects`), and keeps what it found in [`VectorAnswers`].

mod objects;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_query::{KnnQuery, NestedSort, Query, QueryError, SortKey, SparseVector, VectorScore};
use clew_schema::FieldId;
use tantivy::index::SegmentId;

use super::CompileContext;
use super::resolver::{KnnResolver, SegmentHits};
use crate::segments::SegmentBits;
use crate::snapshot::Snapshot;
use walk::Walk;

/// The documents that a clause found, with their scores before any boost.
pub(crate) type ClauseHits = Arc<Vec<(SegmentId, SegmentHits)>>;

/// What the clauses of some queries that need vectors have found in a shard.
///
/// A clause is known by what it says and by where it stands: among whole documents, or among the nested objects of a
/// path. Empty, it is that of a shard without vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VectorAnswers {
    nearest: Vec<ClauseAnswer<KnnQuery>>,
    scored: Vec<ClauseAnswer<VectorScore>>,
    products: Vec<ClauseAnswer<SparseVector>>,
    present: BTreeMap<FieldId, Vec<(SegmentId, SegmentBits)>>,
}

/// What one clause has found.
#[derive(Clone, Debug, PartialEq)]
struct ClauseAnswer<C> {
    clause: C,
    /// The path of the nested objects that it was asked about; `None` for whole documents.
    scope: Option<String>,
    hits: ClauseHits,
}

impl<C: PartialEq> ClauseAnswer<C> {
    fn find<'a>(known: &'a [Self], clause: &C, scope: Option<&str>) -> Option<&'a ClauseHits> {
        let same = |one: &&Self| one.scope.as_deref() == scope && one.clause == *clause;
        known.iter().find(same).map(|one| &one.hits)
    }
}

impl VectorAnswers {
    /// The neighbours of a clause; `None` when it was not answered.
    pub(crate) fn nearest(&self, clause: &KnnQuery, scope: Option<&str>) -> Option<&ClauseHits> {
        ClauseAnswer::find(&self.nearest, clause, scope)
    }

    /// The documents of a clause that have a vector, with the scores that it gives them.
    pub(crate) fn scored(&self, clause: &VectorScore, scope: Option<&str>) -> Option<&ClauseHits> {
        ClauseAnswer::find(&self.scored, clause, scope)
    }

    /// The documents that have anything of what a clause wants of a sparse vector.
    pub(crate) fn products(
        &self,
        clause: &SparseVector,
        scope: Option<&str>,
    ) -> Option<&ClauseHits> {
        ClauseAnswer::find(&self.products, clause, scope)
    }

    /// The documents that have a vector in a field.
    pub(crate) fn present(&self, field: FieldId) -> &[(SegmentId, SegmentBits)] {
        self.present.get(&field).map_or(&[], Vec::as_slice)
    }
}

/// What answers the clauses of queries that need vectors.
#[derive(Clone, Copy)]
pub struct VectorStage<'a> {
    /// The shard's segments.
    pub snapshot: &'a Snapshot,
    /// Milliseconds since the epoch that `now` means in filters.
    pub now_ms: i64,
    /// Searches the vectors.
    pub knn: &'a dyn KnnResolver,
}

impl VectorStage<'_> {
    /// The answers to one query over whole documents.
    ///
    /// # Errors
    /// As [`VectorStage::add`].
    pub fn answers(&self, query: &Query) -> Result<VectorAnswers, QueryError> {
        let mut answers = VectorAnswers::default();
        self.add(&mut answers, query, None)?;
        Ok(answers)
    }

    /// Adds the answers to a query over whole documents, or over the nested objects of a path. What is answered
    /// already is not searched for again.
    ///
    /// # Errors
    /// When a clause or its filter does not fit the mapping, the query is too large, or reading fails.
    pub fn add(
        &self,
        answers: &mut VectorAnswers,
        query: &Query,
        scope: Option<&str>,
    ) -> Result<(), QueryError> {
        Walk::new(*self, answers).query(query, scope)
    }

    /// Adds the answers to the queries that say which nested objects an order is about.
    ///
    /// # Errors
    /// As [`VectorStage::add`].
    pub fn add_order(
        &self,
        answers: &mut VectorAnswers,
        keys: &[SortKey],
    ) -> Result<(), QueryError> {
        let mapping = &self.snapshot.mapping;
        for key in keys {
            let SortKey::Field {
                nested: Some(nested),
                ..
            } = key
            else {
                continue;
            };
            let mut next: Option<&NestedSort> = Some(nested);
            // The order itself says what is wrong with other paths.
            while let Some(nested) = next.filter(|one| mapping.is_nested(&one.path)) {
                if let Some(filter) = &nested.filter {
                    self.add(answers, filter, Some(&nested.path))?;
                }
                next = nested.inner.as_deref();
            }
        }
        Ok(())
    }

    fn context<'a>(&'a self, answers: &'a VectorAnswers) -> CompileContext<'a> {
        CompileContext {
            snapshot: self.snapshot,
            now_ms: self.now_ms,
            vectors: answers,
        }
    }

    fn by_segment<T>(&self, found: Vec<T>) -> Vec<(SegmentId, T)> {
        let ids = self.snapshot.readers.iter();
        ids.map(|reader| reader.segment_id()).zip(found).collect()
    }
}

#[cfg(test)]
mod tests;
