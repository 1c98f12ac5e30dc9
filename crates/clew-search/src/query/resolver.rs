//! What answers nearest-neighbour clauses. The vectors are not tantivy's, so the caller brings it.

use clew_query::{KnnQuery, QueryError};
use clew_schema::FieldId;
use clew_vector::SparseEntry;
use tantivy::DocId;

use crate::segments::SegmentBits;

/// Documents of one segment, ascending, with their scores.
pub type SegmentHits = Vec<(DocId, f32)>;

/// Memory that hits take, in bytes.
pub(crate) fn hits_bytes<'a>(segments: impl IntoIterator<Item = &'a SegmentHits>) -> usize {
    let hits = segments.into_iter().map(SegmentHits::capacity);
    hits.sum::<usize>() * size_of::<(DocId, f32)>()
}

/// Answers what needs the vector columns.
pub trait KnnResolver {
    /// The neighbours, one list per segment of the snapshot; scores without the boost.
    ///
    /// # Errors
    /// When the vector does not fit the field, or reading fails.
    fn resolve(
        &self,
        query: &KnnQuery,
        filter: Option<&[SegmentBits]>,
    ) -> Result<Vec<SegmentHits>, QueryError>;

    /// The documents whose sparse vectors share a dimension with the query, one list per segment of the snapshot, each
    /// with the product of the two.
    ///
    /// # Errors
    /// When the query is no sparse vector, or reading fails.
    fn products(
        &self,
        field: FieldId,
        query: &[SparseEntry],
    ) -> Result<Vec<SegmentHits>, QueryError>;

    /// Hands out the vectors that documents, one set per segment, have in this field: segment,
    /// document, vector.
    ///
    /// # Errors
    /// When reading fails.
    fn each_vector(
        &self,
        field: FieldId,
        docs: &[SegmentBits],
        each: &mut dyn FnMut(usize, DocId, &[f32]),
    ) -> Result<(), QueryError>;

    /// The documents that have a vector in this field, one set per segment of the snapshot.
    ///
    /// # Errors
    /// When reading fails.
    fn vector_docs(&self, field: FieldId) -> Result<Vec<SegmentBits>, QueryError>;
}
