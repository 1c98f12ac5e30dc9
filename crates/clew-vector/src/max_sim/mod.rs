//! Late interaction: query and document have several vectors each, one for every word or patch, and
//! the score is the sum over the query's vectors of the best similarity among the document's (Khattab
//! and Zaharia, "ColBERT: efficient and effective passage search via contextualized late interaction
//! over BERT", 2020).
//!
//! What stands here scores the documents it is given; [`search`] finds and reads those of a column.

mod search;

pub use search::{MaxSimOutcome, MaxSimRequest};

use std::cmp::Ordering;

use clew_kernels::{Kernels, kernels};

use crate::options::{inverse_norm, norm_squared};
use crate::{ColumnOptions, SearchOutcome, Space, VectorError};

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
    /// The same as they were given: columns of whole numbers are searched by nothing else.
    given: Vec<f32>,
}

/// One document found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaxSimHit {
    /// The document.
    pub doc: u32,
    /// Sum over the query's vectors of the best similarity, larger is better: the inner product, the
    /// cosine, or the squared Euclidean distance negated.
    pub score: f32,
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
            given: vectors.to_vec(),
        })
    }

    /// The vectors as they were given.
    fn given(&self) -> impl Iterator<Item = &[f32]> {
        self.given.chunks_exact(self.dimension)
    }

    /// The score of a document by its vectors, one after the other; `None` when it has none. Fails
    /// when they are of another dimension. Costs a similarity for every pair of vectors.
    pub fn score(&self, vectors: &[f32]) -> Result<Option<f32>, VectorError> {
        let mut inverse_norms = Vec::new();
        self.score_with(kernels(), vectors, &mut inverse_norms)
    }

    fn score_with(
        &self,
        kernels: &Kernels,
        vectors: &[f32],
        inverse_norms: &mut Vec<f32>,
    ) -> Result<Option<f32>, VectorError> {
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
        inverse_norms.clear();
        if self.space == Space::Cosine {
            let rows = vectors.chunks_exact(self.dimension);
            let inverse = |row| inverse_norm(f64::from(kernels.f32().dot(row, row)));
            inverse_norms.extend(rows.map(inverse));
        }
        let mut sum = 0.0;
        for query in self.vectors.chunks_exact(self.dimension) {
            sum += f64::from(self.best(kernels, query, (vectors, inverse_norms)));
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
                Space::Hamming | Space::Jaccard => unreachable!("`new` refuses spaces of bits"),
            }
        }
        best
    }
}

/// The `k` best of some documents, each given with its vectors one after the other; best first, equal
/// scores by document id. A document without vectors is no hit.
///
/// With all documents of a column the answer is exact; with those that searches for the query's vectors
/// found ([`max_sim_candidates`]) it is as good as they are. Fails with the first error of `documents`.
pub fn max_sim<'v>(
    query: &MaxSimQuery,
    documents: impl IntoIterator<Item = Result<(u32, &'v [f32]), VectorError>>,
    k: usize,
) -> Result<Vec<MaxSimHit>, VectorError> {
    let mut best = Best::new(query, k);
    for document in documents {
        let (doc, vectors) = document?;
        best.offer(doc, vectors)?;
    }
    Ok(best.finish())
}

/// The best `k` of the documents offered.
struct Best<'q> {
    query: &'q MaxSimQuery,
    k: usize,
    hits: Vec<MaxSimHit>,
    inverse_norms: Vec<f32>,
    kernels: &'static Kernels,
    /// Documents with a vector offered so far, and the similarities that took.
    offered: usize,
    similarities: u64,
}

impl<'q> Best<'q> {
    fn new(query: &'q MaxSimQuery, k: usize) -> Self {
        Best {
            query,
            k,
            hits: Vec::new(),
            inverse_norms: Vec::new(),
            kernels: kernels(),
            offered: 0,
            similarities: 0,
        }
    }

    fn offer(&mut self, doc: u32, vectors: &[f32]) -> Result<(), VectorError> {
        let query = self.query;
        let score = query.score_with(self.kernels, vectors, &mut self.inverse_norms)?;
        let Some(score) = score else { return Ok(()) };
        let pairs = query.vectors.len() / query.dimension * (vectors.len() / query.dimension);
        self.offered += 1;
        self.similarities += pairs as u64;
        self.hits.push(MaxSimHit { doc, score });
        // Collecting a few times `k` before the worse ones go costs less than keeping them in order.
        if self.hits.len() >= self.k.saturating_mul(2).saturating_add(16) {
            self.hits.select_nth_unstable_by(self.k, order);
            self.hits.truncate(self.k);
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<MaxSimHit> {
        self.hits.sort_unstable_by(order);
        self.hits.truncate(self.k);
        self.hits
    }
}

fn order(a: &MaxSimHit, b: &MaxSimHit) -> Ordering {
    b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc))
}

/// The documents that any of some searches found, ascending and each once: one search for each vector
/// of a query gives the candidates of [`max_sim`].
pub fn max_sim_candidates<'o>(outcomes: impl IntoIterator<Item = &'o SearchOutcome>) -> Vec<u32> {
    let hits = outcomes.into_iter().flat_map(|outcome| &outcome.hits);
    let mut docs: Vec<u32> = hits.map(|hit| hit.doc).collect();
    docs.sort_unstable();
    docs.dedup();
    docs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::SplitMix;
    use crate::{Hit, Strategy as Found};

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
                Space::Hamming | Space::Jaccard => unreachable!("not drawn"),
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
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn documents_come_by_the_sum_of_their_best_similarities(
            space in prop_oneof![Just(Space::L2), Just(Space::Cosine), Just(Space::InnerProduct)],
            (dimension, query_vectors) in (1..40_usize, 1..6_usize),
            counts in prop::collection::vec(prop_oneof![4 => 0..9_usize, 1 => 250..600_usize], 0..60),
            (k, seed) in (0..12_usize, any::<u64>()),
        ) {
            let mut noise = SplitMix::new(seed);
            let query = numbers(&mut noise, query_vectors * dimension);
            let vectors: Vec<_> = counts.iter().map(|count| numbers(&mut noise, count * dimension)).collect();
            let asked = MaxSimQuery::new(space, dimension, &query).unwrap();
            let documents = (0_u32..).step_by(3).zip(&vectors);
            let hits = max_sim(&asked, documents.clone().map(|(doc, rows)| Ok((doc, rows.as_slice()))), k).unwrap();
            let mut expected: Vec<(f64, u32)> = documents
                .filter(|(_, rows)| !rows.is_empty())
                .map(|(doc, rows)| (naive(space, (&query, rows), dimension), doc))
                .collect();
            expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            expected.truncate(k);
            prop_assert_eq!(hits.len(), expected.len());
            for (hit, &(score, _)) in hits.iter().zip(&expected) {
                prop_assert!((f64::from(hit.score) - score).abs() <= 1e-4);
                let rows = &vectors[hit.doc as usize / 3];
                let own = naive(space, (&query, rows), dimension);
                prop_assert!((f64::from(hit.score) - own).abs() <= 1e-4);
            }
        }
    }

    #[test]
    fn equal_scores_come_by_document() {
        let query = MaxSimQuery::new(Space::InnerProduct, 2, &[1.0, 0.0, 0.0, 1.0]).unwrap();
        let same: &[f32] = &[0.5, 0.0, 0.0, 0.5];
        let better: &[f32] = &[0.5, 0.75];
        let documents = (0..100).rev().map(|doc| match doc {
            70 => Ok((doc, better)),
            _ => Ok((doc, same)),
        });
        let hits = max_sim(&query, documents, 3).unwrap();
        let found: Vec<_> = hits.iter().map(|hit| (hit.doc, hit.score)).collect();
        assert_eq!(found, [(70, 1.25), (0, 1.0), (1, 1.0)]);
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
        let damage = || VectorError::Corrupt {
            what: "test",
            offset_bytes: 7,
        };
        let documents = [Ok((0, [1.0, 2.0].as_slice())), Err(damage())];
        let error = max_sim(&query, documents, 1).unwrap_err();
        assert_eq!(error.to_string(), damage().to_string());
    }

    #[test]
    fn candidates_are_what_any_search_found() {
        let outcome = |docs: &[u32]| SearchOutcome {
            hits: docs
                .iter()
                .map(|&doc| Hit {
                    doc,
                    distance: 0.0,
                    score: 0.0,
                })
                .collect(),
            strategy: Found::Exact,
            distances: 0,
            profile: crate::SearchProfile::default(),
        };
        let outcomes = [outcome(&[5, 1, 5]), outcome(&[]), outcome(&[2, 1])];
        assert_eq!(max_sim_candidates(&outcomes), [1, 2, 5]);
    }
}
