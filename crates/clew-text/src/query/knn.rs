//! The nearest-neighbour clause. The vectors are not tantivy's, so the caller resolves it.

use tantivy::DocId;

use super::error::QueryError;
use super::tree::Query;
use crate::mapping::FieldId;
use crate::search::SegmentBits;

/// The documents nearest to a vector.
#[derive(Clone, Debug, PartialEq)]
pub struct KnnQuery {
    /// Field path.
    pub field: String,
    /// The vector.
    pub vector: Vec<f32>,
    /// How many neighbours, over the whole shard; absent when a radius is given.
    pub k: Option<usize>,
    /// Breadth of the graph search.
    pub ef_search: Option<usize>,
    /// Inverted lists to read, where the field has them.
    pub probes: Option<usize>,
    /// Share of the nearest to find, above 0 and up to 1, in place of `ef_search`; 1 is an exact search.
    pub target_recall: Option<f32>,
    /// At least so many times `k` candidates are kept by a walk and ranked exactly.
    pub oversample: Option<f32>,
    /// Of nested objects all those of the documents found count, not only the nearest of each.
    pub expand_nested: bool,
    /// Only these documents are candidates.
    pub filter: Option<Box<Query>>,
    /// Only neighbours that score at least this.
    pub min_score: Option<f32>,
    /// Only neighbours at most this far away.
    pub max_distance: Option<f32>,
    /// Factor on the score.
    pub boost: f32,
}

/// Documents of one segment, ascending, with their scores.
pub type SegmentHits = Vec<(DocId, f32)>;

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

    /// Hands out the vectors that documents, one set per segment, have in this field: segment,
    /// document, vector. A resolver without vectors has none.
    ///
    /// # Errors
    /// When reading fails.
    fn each_vector(
        &self,
        _field: FieldId,
        _docs: &[SegmentBits],
        _each: &mut dyn FnMut(usize, DocId, &[f32]),
    ) -> Result<(), QueryError> {
        Ok(())
    }

    /// The documents that have a vector in this field, one set per segment of the snapshot.
    ///
    /// # Errors
    /// When reading fails.
    fn vector_docs(&self, field: FieldId) -> Result<Vec<SegmentBits>, QueryError>;
}

/// A resolver for shards without vectors.
#[derive(Clone, Copy, Debug)]
pub struct NoKnn;

impl KnnResolver for NoKnn {
    fn resolve(
        &self,
        query: &KnnQuery,
        _filter: Option<&[SegmentBits]>,
    ) -> Result<Vec<SegmentHits>, QueryError> {
        Err(QueryError::illegal(format!(
            "Field '{}' is not knn_vector type.",
            query.field
        )))
    }

    fn vector_docs(&self, _field: FieldId) -> Result<Vec<SegmentBits>, QueryError> {
        Ok(Vec::new())
    }
}
