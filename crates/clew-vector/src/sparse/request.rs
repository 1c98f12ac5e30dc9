//! What a search of sparse vectors is asked, and what it answers.

use crate::sparse::{ROW_NONZEROS_MAX, SparseEntry, WEIGHT_MAX};
use crate::{Filter, VectorError};

/// What to search for.
#[derive(Debug, Clone, Copy)]
pub struct SparseSearchRequest<'a> {
    /// The query, as [`validate_sparse`] wants it.
    pub query: &'a [SparseEntry],
    /// Hits wanted.
    pub k: usize,
    /// Documents that may be hits; `None` for all.
    pub filter: Option<Filter<'a>>,
    /// Share of the query's weights, the smallest ones, that hits are not looked for by; from 0 to
    /// below 1. Above 0 some hits may be missed. Scores count every weight all the same. Beside a
    /// [`ScoreRange`] with an upper end all weights are looked for, as the best of a part of the
    /// query may all be beyond that end.
    pub drop_ratio: f32,
    /// The scores that hits may have; `None` for all.
    pub range: Option<ScoreRange>,
}

/// A part of all scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreRange {
    /// Hits score more than this.
    pub above: f32,
    /// And no more than this; `None` for as much as there is.
    pub up_to: Option<f32>,
}

impl ScoreRange {
    /// Whether a hit may have this score.
    #[inline]
    pub(super) fn holds(&self, score: f32) -> bool {
        score > self.above && self.up_to.is_none_or(|up_to| score <= up_to)
    }
}

impl<'a> SparseSearchRequest<'a> {
    /// The `k` best of all documents by inner product, exactly.
    pub fn new(query: &'a [SparseEntry], k: usize) -> Self {
        SparseSearchRequest {
            query,
            k,
            filter: None,
            drop_ratio: 0.0,
            range: None,
        }
    }

    pub(super) fn validate(&self) -> Result<(), VectorError> {
        validate_sparse(self.query)?;
        let number = |name, value: f32, (min, max): (f32, f32)| {
            if (min..=max).contains(&value) {
                return Ok(());
            }
            Err(VectorError::Number {
                name,
                value,
                min,
                max,
            })
        };
        number("drop_ratio", self.drop_ratio, (0.0, 1.0_f32.next_down()))?;
        if let Some(range) = self.range {
            let all = (f32::NEG_INFINITY, f32::INFINITY);
            number("least score", range.above, all)?;
            number("greatest score", range.up_to.unwrap_or_default(), all)?;
        }
        Ok(())
    }
}

/// One document found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseHit {
    /// The document.
    pub doc: u32,
    /// Its score, the sum of the products of weights, computed in double precision from the vectors
    /// themselves; always above 0.
    pub score: f32,
}

/// The answer to a search of sparse vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseOutcome {
    /// The hits, best first; equal scores by document id. Fewer than `k` only when fewer documents
    /// that pass the filter share a dimension with the query and score within the range asked for.
    pub hits: Vec<SparseHit>,
    /// How they were found.
    pub strategy: SparseStrategy,
    /// Postings that were added up.
    pub postings: u64,
    /// Blocks of the query's postings that were never decoded.
    pub blocks_skipped: u64,
    /// Vectors that were scored exactly.
    pub rows: u64,
}

/// How a search went through the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SparseStrategy {
    /// Through the postings of the query's dimensions.
    Postings,
    /// Through the vectors that pass the filter, as they are few.
    Rows,
}

/// Checks a sparse vector: finite weights from 0 to [`WEIGHT_MAX`], strictly ascending dimensions,
/// at most [`ROW_NONZEROS_MAX`] of them. A vector without any is as good as none, and allowed.
pub fn validate_sparse(vector: &[SparseEntry]) -> Result<(), VectorError> {
    if vector.len() > ROW_NONZEROS_MAX {
        return Err(VectorError::Option {
            name: "number of weights",
            value: vector.len(),
            min: 0,
            max: ROW_NONZEROS_MAX,
        });
    }
    for entry in vector {
        // Not a number is in no range.
        if !(0.0..=WEIGHT_MAX).contains(&entry.weight) {
            return Err(VectorError::Weight {
                dimension: entry.dimension,
                weight: entry.weight,
                max: WEIGHT_MAX,
            });
        }
    }
    match vector
        .windows(2)
        .find(|pair| pair[0].dimension >= pair[1].dimension)
    {
        None => Ok(()),
        Some(pair) => Err(VectorError::DimensionOrder {
            previous: pair[0].dimension,
            dimension: pair[1].dimension,
        }),
    }
}
