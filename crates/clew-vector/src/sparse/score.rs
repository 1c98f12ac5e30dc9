//! Scores, which are sums of products: bounds in single precision from what postings say, exact ones from the vectors.
#![deny(clippy::indexing_slicing)]

use crate::sparse::SparseEntry;
use crate::sparse::postings::Block;

/// No posting of a block adds more, but for rounding.
#[inline]
pub(super) fn bound(query: f32, block: &Block) -> f32 {
    (query * block.weight_max()).max(f32::MIN_POSITIVE)
}

/// No posting of a block adds this much more than it is worth: a code is less than a step too great. One that is worth next to
/// nothing is added as the least number there is, as often as its code says.
#[inline]
pub(super) fn error(query: f32, block: &Block) -> f32 {
    (query * block.step).max(f32::MIN_POSITIVE * 256.0)
}

/// Adds what postings are worth, or a little more, to `sums`, which starts at row `base`. What
/// is added is never 0, so that a sum of 0 means a row without any posting.
#[inline]
pub(super) fn add(
    query: f32,
    (step, rows, codes): (f32, &[u32], &[u8]),
    (base, sums): (u32, &mut [f32]),
) {
    let scale = (query * step).max(f32::MIN_POSITIVE);
    for (row, &code) in rows.iter().zip(codes) {
        if let Some(sum) = sums.get_mut(row.wrapping_sub(base) as usize) {
            *sum += scale * f32::from(code);
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

/// The score of a vector: summed in double precision by ascending dimension, rounded once.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "rounds once, at the end")]
pub(super) fn exact(query: &[SparseEntry], vector: &[SparseEntry]) -> f32 {
    let mut sum = 0.0;
    let mut rest = vector;
    for entry in query {
        let skip = place_of(entry.dimension, rest);
        rest = rest.get(skip..).unwrap_or_default();
        if let Some(first) = rest.first()
            && first.dimension == entry.dimension
        {
            sum += f64::from(entry.weight) * f64::from(first.weight);
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
