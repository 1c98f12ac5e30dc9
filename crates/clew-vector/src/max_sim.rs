//! Late interaction: query and document have several vectors each, one for every word or patch, and
//! the score is the sum over the query's vectors of the best similarity among the document's (Khattab
//! and Zaharia, "ColBERT: efficient and effective passage search via contextualized late interaction
//! over BERT", 2020).
//!
//! What stands here scores the documents it is given; which those are is the caller's business.

use clew_kernels::{Kernels, kernels};

use crate::options::{inverse_norm, norm_squared};
use crate::{ColumnOptions, Space, VectorError};

/// Vectors of a query, at most.
pub const QUERY_VECTORS_MAX: usize = 1 << 12;

/// Vectors of a document measured by one kernel call: their similarities fit into the first cache.
const BLOCK_ROWS: usize = 256;

/// A query of several vectors.
#[derive(Debug, Clone)]
pub struct MaxSimQuery {
    space: Space,
    dimension: usize,
    /// One after the other; of length 1 for [`Space::Cosine`].
    vectors: Vec<f32>,
}

impl MaxSimQuery {
    /// A query of `vectors`, each `dimension` numbers, one after the other. Fails when there is none,
    /// or more than [`QUERY_VECTORS_MAX`], or when one could not be searched for in a column of this
    /// space.
    pub fn new(space: Space, dimension: usize, vectors: &[f32]) -> Result<Self, VectorError> {
        let options = ColumnOptions::new(dimension, space);
        options.validate()?;
        let count = vectors.len().div_ceil(dimension);
        if !(1..=QUERY_VECTORS_MAX).contains(&count) {
            return Err(VectorError::Option {
                name: "number of query vectors",
                value: count,
                min: 1,
                max: QUERY_VECTORS_MAX,
            });
        }
        let mut own = Vec::with_capacity(vectors.len());
        for vector in vectors.chunks(dimension) {
            let squared = norm_squared(vector, &options)?;
            let scale = match space {
                Space::Cosine => inverse_norm(squared),
                _ => 1.0,
            };
            own.extend(vector.iter().map(|x| x * scale));
        }
        Ok(MaxSimQuery {
            space,
            dimension,
            vectors: own,
        })
    }

    /// The score of a document by its vectors, one after the other: the sum over the query's vectors of the best similarity,
    /// larger is better, which is the inner product, the cosine, or the squared Euclidean distance negated. `None` when it
    /// has no vector. Fails when they are of another dimension. Costs a similarity for every pair of vectors.
    pub fn score(&self, vectors: &[f32]) -> Result<Option<f32>, VectorError> {
        if vectors.is_empty() {
            return Ok(None);
        }
        let rest = vectors.len() % self.dimension;
        if rest != 0 {
            return Err(VectorError::DimensionMismatch {
                expected: self.dimension,
                actual: rest,
            });
        }
        let kernels = kernels();
        let mut inverse_norms = Vec::new();
        if self.space == Space::Cosine {
            let rows = vectors.chunks_exact(self.dimension);
            let inverse = |row| inverse_norm(f64::from(kernels.f32().dot(row, row)));
            inverse_norms.extend(rows.map(inverse));
        }
        let mut sum = 0.0;
        for query in self.vectors.chunks_exact(self.dimension) {
            sum += f64::from(self.best(kernels, query, (vectors, &inverse_norms)));
        }
        #[allow(clippy::cast_possible_truncation, reason = "rounds once, at the end")]
        Ok(Some(sum as f32))
    }

    /// The best similarity of one vector of the query.
    fn best(&self, kernels: &Kernels, query: &[f32], (rows, norms): (&[f32], &[f32])) -> f32 {
        let mut block = [0.0; BLOCK_ROWS];
        let mut best = f32::NEG_INFINITY;
        for (at, rows) in rows.chunks(BLOCK_ROWS * self.dimension).enumerate() {
            let found = &mut block[..rows.len() / self.dimension];
            match self.space {
                Space::L2 => {
                    kernels.f32().l2_rows(query, rows, found);
                    best = found
                        .iter()
                        .fold(best, |best, distance| best.max(-distance));
                }
                Space::InnerProduct => {
                    kernels.f32().dot_rows(query, rows, found);
                    best = found.iter().copied().fold(best, f32::max);
                }
                Space::Cosine => {
                    kernels.f32().dot_rows(query, rows, found);
                    let scaled = found.iter().zip(&norms[at * BLOCK_ROWS..]);
                    best = scaled.fold(best, |best, (dot, norm)| best.max(dot * norm));
                }
                Space::Hamming
                | Space::Jaccard
                | Space::MinHash8
                | Space::MinHash32
                | Space::MinHash64 => {
                    unreachable!("`new` refuses spaces of bits")
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::SplitMix;

    #[allow(clippy::cast_possible_truncation, reason = "small numbers")]
    fn numbers(noise: &mut SplitMix, count: usize) -> Vec<f32> {
        (0..count).map(|_| noise.unit() as f32 - 0.4).collect()
    }

    fn naive(space: Space, (query, vectors): (&[f32], &[f32]), dimension: usize) -> f64 {
        let norm = |v: &[f32]| v.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        let similarity = |a: &[f32], b: &[f32]| {
            let pairs = a.iter().zip(b).map(|(&a, &b)| (f64::from(a), f64::from(b)));
            match space {
                Space::L2 => -pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>(),
                Space::InnerProduct => pairs.map(|(a, b)| a * b).sum(),
                Space::Cosine => pairs.map(|(a, b)| a * b).sum::<f64>() / norm(a) / norm(b),
                Space::Hamming
                | Space::Jaccard
                | Space::MinHash8
                | Space::MinHash32
                | Space::MinHash64 => {
                    unreachable!("not drawn")
                }
            }
        };
        let best = |query| {
            let rows = vectors.chunks(dimension);
            rows.map(|row| similarity(query, row))
                .fold(f64::NEG_INFINITY, f64::max)
        };
        query.chunks(dimension).map(best).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn a_score_is_the_sum_of_the_best_similarities(
            space in prop_oneof![Just(Space::L2), Just(Space::Cosine), Just(Space::InnerProduct)],
            (dimension, query_vectors) in (1..40_usize, 1..6_usize),
            count in prop_oneof![4 => 0..9_usize, 1 => 250..600_usize],
            seed in any::<u64>(),
        ) {
            let mut noise = SplitMix::new(seed);
            let query = numbers(&mut noise, query_vectors * dimension);
            let vectors = numbers(&mut noise, count * dimension);
            let score = MaxSimQuery::new(space, dimension, &query).unwrap().score(&vectors).unwrap();
            prop_assert_eq!(score.is_some(), count > 0);
            if let Some(score) = score {
                let expected = naive(space, (&query, &vectors), dimension);
                prop_assert!((f64::from(score) - expected).abs() <= 1e-4);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let refused = |space, vectors: &[f32], expected: &str| {
            let error = MaxSimQuery::new(space, 2, vectors).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        let count = "number of query vectors is 0, must be from 1 to 4096";
        refused(Space::L2, &[], count);
        let short = "vector has dimension 1, the column has 2";
        refused(Space::L2, &[1.0, 2.0, 3.0], short);
        let error = MaxSimQuery::new(Space::L2, 0, &[1.0]).unwrap_err();
        let expected = "dimension is 0, must be from 1 to 32768";
        assert_eq!(error.to_string(), expected);

        let query = MaxSimQuery::new(Space::L2, 2, &[1.0, 2.0]).unwrap();
        assert_eq!(query.score(&[]).unwrap(), None);
        assert_eq!(query.score(&[1.0; 3]).unwrap_err().to_string(), short);
    }
}
