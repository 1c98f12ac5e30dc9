//! The specification: what every other table must answer, floats within rounding.

use half::{bf16, f16};

use crate::distances::{BitDistances, DistanceTable, Distances, jaccard_distance};

fn float_dot<T: Copy>(query: &[f32], row: &[T]) -> f32
where
    f32: From<T>,
{
    // Vectors of different length have no distance; the shorter one must not win silently.
    assert_eq!(query.len(), row.len());
    query.iter().zip(row).map(|(&x, &y)| x * f32::from(y)).sum()
}

fn float_l2<T: Copy>(query: &[f32], row: &[T]) -> f32
where
    f32: From<T>,
{
    // As in `float_dot`.
    assert_eq!(query.len(), row.len());
    let gaps = query.iter().zip(row).map(|(&x, &y)| x - f32::from(y));
    gaps.map(|gap| gap * gap).sum()
}

#[allow(
    clippy::cast_precision_loss,
    reason = "the exact sum is rounded once, to `f32`"
)]
fn integer_sum(query: &[i8], row: &[i8], term: fn(i32, i32) -> i32) -> f32 {
    // As in `float_dot`.
    assert_eq!(query.len(), row.len());
    let pairs = query.iter().zip(row);
    pairs
        .map(|(&x, &y)| term(i32::from(x), i32::from(y)))
        .sum::<i32>() as f32
}

fn integer_dot(query: &[i8], row: &[i8]) -> f32 {
    integer_sum(query, row, |x, y| x * y)
}

fn integer_l2(query: &[i8], row: &[i8]) -> f32 {
    integer_sum(query, row, |x, y| (x - y) * (x - y))
}

fn count(query: &[u8], row: &[u8], both: fn(u8, u8) -> u8) -> u64 {
    // As in `float_dot`.
    assert_eq!(query.len(), row.len());
    let pairs = query.iter().zip(row);
    pairs
        .map(|(&x, &y)| u64::from(both(x, y).count_ones()))
        .sum()
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a vector has fewer than 2^24 bits"
)]
fn hamming(query: &[u8], row: &[u8]) -> f32 {
    count(query, row, |x, y| x ^ y) as f32
}

fn jaccard(query: &[u8], row: &[u8]) -> f32 {
    let both = count(query, row, |x, y| x & y);
    jaccard_distance([both, count(query, row, |x, y| x | y)])
}

/// A table of the functions of one type.
macro_rules! distances {
    ($query:ty, $item:ty, $dot:ident, $l2:ident) => {{
        row_loops!(($query, $item), $dot, dot_rows, dot_picked);
        row_loops!(($query, $item), $l2, l2_rows, l2_picked);
        Distances {
            dot: $dot,
            l2: $l2,
            dot_rows,
            l2_rows,
            dot_picked,
            l2_picked,
        }
    }};
}

pub(crate) const TABLE: DistanceTable = DistanceTable {
    f32: distances!(f32, f32, float_dot, float_l2),
    f16: distances!(f32, f16, float_dot, float_l2),
    bf16: distances!(f32, bf16, float_dot, float_l2),
    i8: distances!(i8, i8, integer_dot, integer_l2),
    bits: BITS,
};

row_loops!((u8, u8), hamming, hamming_rows, hamming_picked);
row_loops!((u8, u8), jaccard, jaccard_rows, jaccard_picked);

const BITS: BitDistances = BitDistances {
    hamming,
    jaccard,
    hamming_rows,
    jaccard_rows,
    hamming_picked,
    jaccard_picked,
};
