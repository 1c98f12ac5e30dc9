//! Exact scores by the distance of a vector: what a protocol asks for. There are no scripts here;
//! these are the few that everybody writes, understood.

use super::knn::KnnQuery;
use super::tree::Query;

/// A query's documents, scored by how near a vector of theirs is.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorScore {
    /// What must match.
    pub query: Box<Query>,
    /// The vector and its field.
    pub vector: KnnQuery,
    /// The measure, which must be the field's.
    pub measure: VectorMeasure,
    /// What is made of it.
    pub formula: ScoreFormula,
    /// Documents that score less do not match.
    pub min_score: Option<f32>,
    /// Factor on the score.
    pub boost: f32,
}

/// How near two vectors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorMeasure {
    /// The cosine of their angle.
    Cosine,
    /// Their inner product.
    InnerProduct,
    /// The square of their distance.
    L2Squared,
    /// The number of bits that differ.
    Hamming,
}

/// What is made of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoreFormula {
    /// The measure and a number.
    Plus(f32),
    /// One divided by the measure and a number.
    Inverse(f32),
    /// As OpenSearch scores an inner product: never negative.
    InnerProduct,
}

impl ScoreFormula {
    pub(crate) fn apply(self, measure: f32) -> f32 {
        match self {
            ScoreFormula::Plus(number) => measure + number,
            ScoreFormula::Inverse(number) => 1.0 / (measure + number),
            ScoreFormula::InnerProduct if measure >= 0.0 => measure + 1.0,
            ScoreFormula::InnerProduct => 1.0 / (1.0 - measure),
        }
    }
}
