//! Scores: bounds in single precision from what postings say, exact ones from the vectors.
#![deny(clippy::indexing_slicing)]

use crate::sparse::postings::Block;
use crate::sparse::{SparseEntry, SparseMetric};

/// A metric, made ready.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scorer<'a> {
    Product,
    Bm25 {
        /// `k1 + 1`.
        gain: f64,
        /// `k1 · (1 − b)`.
        flat: f64,
        /// `k1 · b / average_length`.
        per_length: f64,
        lengths: &'a [f32],
    },
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "rounding is what scores and bounds allow for"
)]
impl<'a> Scorer<'a> {
    pub(super) fn new(metric: SparseMetric, lengths: &'a [f32]) -> Self {
        match metric {
            SparseMetric::InnerProduct => Scorer::Product,
            SparseMetric::Bm25 {
                k1,
                b,
                average_length,
            } => {
                let (k1, b) = (f64::from(k1), f64::from(b));
                Scorer::Bm25 {
                    gain: k1 + 1.0,
                    flat: k1 * (1.0 - b),
                    per_length: k1 * b / f64::from(average_length),
                    lengths,
                }
            }
        }
    }

    /// No posting of a block adds more, but for rounding.
    #[inline]
    pub(super) fn bound(&self, query: f32, block: &Block) -> f32 {
        self.worth(query, block.weight_max(), block.length_min)
            .max(f32::MIN_POSITIVE)
    }

    /// No posting of a block adds this much more than it is worth: a code is less than a step too
    /// great, and a step is worth most where there is nothing else. One that is worth next to nothing is added as the
    /// least number there is, as often as its code says.
    #[inline]
    pub(super) fn error(&self, query: f32, block: &Block) -> f32 {
        self.worth(query, block.step, block.length_min)
            .max(f32::MIN_POSITIVE * 256.0)
    }

    #[inline]
    fn worth(&self, query: f32, weight: f32, length: f32) -> f32 {
        match *self {
            Scorer::Product => query * weight,
            Scorer::Bm25 {
                gain,
                flat,
                per_length,
                ..
            } => {
                let tf = f64::from(weight);
                let norm = flat + per_length * f64::from(length);
                (f64::from(query) * gain * tf / (tf + norm)) as f32
            }
        }
    }

    /// Adds what postings are worth, or a little more, to `sums`, which starts at row `base`. What
    /// is added is never 0, so that a sum of 0 means a row without any posting.
    #[inline]
    pub(super) fn add(
        &self,
        query: f32,
        (step, rows, codes): (f32, &[u32], &[u8]),
        (base, sums): (u32, &mut [f32]),
    ) {
        let postings = rows.iter().zip(codes);
        match *self {
            Scorer::Product => {
                let scale = (query * step).max(f32::MIN_POSITIVE);
                for (row, &code) in postings {
                    if let Some(sum) = sums.get_mut(row.wrapping_sub(base) as usize) {
                        *sum += scale * f32::from(code);
                    }
                }
            }
            Scorer::Bm25 {
                gain,
                flat,
                per_length,
                lengths,
            } => {
                let scale = (f64::from(query) * gain) as f32;
                let (flat, per_length) = (flat as f32, per_length as f32);
                for (&row, &code) in postings {
                    let slot = sums.get_mut(row.wrapping_sub(base) as usize);
                    if let (Some(sum), Some(&length)) = (slot, lengths.get(row as usize)) {
                        let tf = step * f32::from(code);
                        let worth = scale * (tf / (tf + (flat + per_length * length)));
                        *sum += worth.max(f32::MIN_POSITIVE);
                    }
                }
            }
        }
    }

    /// The score of a row: summed in double precision by ascending dimension, rounded once.
    #[inline]
    pub(super) fn exact(&self, query: &[SparseEntry], (row, vector): (u32, &[SparseEntry])) -> f32 {
        match *self {
            Scorer::Product => sum(query, vector, |query, weight| query * weight),
            Scorer::Bm25 {
                gain,
                flat,
                per_length,
                lengths,
            } => {
                let length = lengths.get(row as usize).copied().unwrap_or_default();
                let norm = flat + per_length * f64::from(length);
                sum(query, vector, |idf, tf| {
                    if tf > 0.0 {
                        idf * tf * gain / (tf + norm)
                    } else {
                        0.0
                    }
                })
            }
        }
    }
}

/// Entries looked at one after the other before a search by halves: a query has about a quarter as many
/// weights as a vector, so the next shared dimension is near.
const NEAR_ENTRIES: usize = 16;

/// Where a dimension is or would be among ascending ones.
#[inline]
fn place_of(dimension: u32, entries: &[SparseEntry]) -> usize {
    let before = |entry: &SparseEntry| entry.dimension < dimension;
    let near = entries.iter().take(NEAR_ENTRIES);
    let passed = near.take_while(|entry| before(entry)).count();
    let far = entries.get(NEAR_ENTRIES..).unwrap_or_default();
    if passed == NEAR_ENTRIES {
        passed + far.partition_point(before)
    } else {
        passed
    }
}

/// Sums over the dimensions that two vectors share.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "rounds once, at the end")]
fn sum(query: &[SparseEntry], vector: &[SparseEntry], worth: impl Fn(f64, f64) -> f64) -> f32 {
    let mut sum = 0.0;
    let mut rest = vector;
    for entry in query {
        let skip = place_of(entry.dimension, rest);
        rest = rest.get(skip..).unwrap_or_default();
        if let Some(first) = rest.first()
            && first.dimension == entry.dimension
        {
            sum += worth(f64::from(entry.weight), f64::from(first.weight));
        }
    }
    sum as f32
}

/// How much greater than an exact score its bound, summed in single precision over `terms`, may be
/// taken to be without fear of rounding: every sum and product is off by at most half an epsilon,
/// and nothing is subtracted. Each worth takes no more than eight of them.
pub(super) fn slack_ratio(terms: usize) -> f32 {
    (terms + 16) as f32 * f32::EPSILON
}
