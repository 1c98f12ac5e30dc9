//! The specification: what every other table must answer, floats within rounding.

use half::{bf16, f16};

use crate::distances::{BitDistances, DistanceTable, Distances, jaccard_distance};

fn float_dots<T: Copy, const ROWS: usize>(query: &[f32], rows: [&[T]; ROWS]) -> [f32; ROWS]
where
    f32: From<T>,
{
    rows.map(|row| {
        // Vectors of different length have no distance; the shorter one must not win silently.
        assert_eq!(query.len(), row.len());
        query.iter().zip(row).map(|(&x, &y)| x * f32::from(y)).sum()
    })
}

fn float_gaps<T: Copy, const ROWS: usize>(query: &[f32], rows: [&[T]; ROWS]) -> [f32; ROWS]
where
    f32: From<T>,
{
    rows.map(|row| {
        // As in `float_dots`.
        assert_eq!(query.len(), row.len());
        let gaps = query.iter().zip(row).map(|(&x, &y)| x - f32::from(y));
        gaps.map(|gap| gap * gap).sum()
    })
}

#[allow(
    clippy::cast_precision_loss,
    reason = "the exact sum is rounded once, to `f32`"
)]
fn integer_sums<const ROWS: usize>(
    query: &[i8],
    rows: [&[i8]; ROWS],
    term: fn(i32, i32) -> i32,
) -> [f32; ROWS] {
    rows.map(|row| {
        // As in `float_dots`.
        assert_eq!(query.len(), row.len());
        let pairs = query.iter().zip(row);
        pairs
            .map(|(&x, &y)| term(i32::from(x), i32::from(y)))
            .sum::<i32>() as f32
    })
}

fn integer_dots<const ROWS: usize>(query: &[i8], rows: [&[i8]; ROWS]) -> [f32; ROWS] {
    integer_sums(query, rows, |x, y| x * y)
}

fn integer_gaps<const ROWS: usize>(query: &[i8], rows: [&[i8]; ROWS]) -> [f32; ROWS] {
    integer_sums(query, rows, |x, y| (x - y) * (x - y))
}

fn count(query: &[u8], row: &[u8], both: fn(u8, u8) -> u8) -> u64 {
    // As in `float_dots`.
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
fn hammings<const ROWS: usize>(query: &[u8], rows: [&[u8]; ROWS]) -> [f32; ROWS] {
    rows.map(|row| count(query, row, |x, y| x ^ y) as f32)
}

fn jaccards<const ROWS: usize>(query: &[u8], rows: [&[u8]; ROWS]) -> [f32; ROWS] {
    rows.map(|row| {
        let both = count(query, row, |x, y| x & y);
        jaccard_distance([both, count(query, row, |x, y| x | y)])
    })
}

/// A table of the functions of one type.
macro_rules! distances {
    ($query:ty, $item:ty, $dots:ident, $gaps:ident) => {{
        row_loops!($dots, 1, ($query, $item), dot, dot_rows, dot_picked);
        row_loops!($gaps, 1, ($query, $item), l2, l2_rows, l2_picked);
        Distances {
            dot,
            l2,
            dot_rows,
            l2_rows,
            dot_picked,
            l2_picked,
        }
    }};
}

pub(crate) const TABLE: DistanceTable = DistanceTable {
    f32: distances!(f32, f32, float_dots, float_gaps),
    f16: distances!(f32, f16, float_dots, float_gaps),
    bf16: distances!(f32, bf16, float_dots, float_gaps),
    i8: distances!(i8, i8, integer_dots, integer_gaps),
    bits: BITS,
};

row_loops!(hammings, 1, (u8, u8), hamming, hamming_rows, hamming_picked);
row_loops!(jaccards, 1, (u8, u8), jaccard, jaccard_rows, jaccard_picked);

const BITS: BitDistances = BitDistances {
    hamming,
    jaccard,
    hamming_rows,
    jaccard_rows,
    hamming_picked,
    jaccard_picked,
};
