//! The specification of the code kernels.

use crate::codes::rows::quarters;

/// Sum of query numbers times 4-bit codes. Byte `j` of a row holds dimension `j` in its low half and
/// dimension `j + row.len()` in its high half; the query has `2 * row.len()` numbers.
pub(crate) fn dot_u4(query: &[i8], row: &[u8]) -> i32 {
    // Half of the dimensions would otherwise be multiplied with another's number.
    assert_eq!(query.len(), 2 * row.len());
    let (low, high) = query.split_at(row.len());
    let pairs = row.iter().zip(low.iter().zip(high));
    pairs
        .map(|(&byte, (&x, &y))| {
            i32::from(byte & 15) * i32::from(x) + i32::from(byte >> 4) * i32::from(y)
        })
        .sum()
}

/// Sum of the query numbers whose bit is set; bit `j % 8` of byte `j / 8` belongs to dimension `j`.
/// Bytes of the row behind the query's dimensions are not read.
pub(crate) fn dot_u1(query: &[i8], row: &[u8]) -> i32 {
    // A bit without a number, or a number without a bit, has no meaning.
    assert!(query.len().is_multiple_of(8) && query.len() / 8 <= row.len());
    let bit = |at: usize| i32::from(row[at / 8] >> (at % 8) & 1);
    query
        .iter()
        .enumerate()
        .map(|(at, &x)| i32::from(x) * bit(at))
        .sum()
}

/// Sum of query numbers times 2-bit codes; byte `j` holds the dimensions `j + i * row.len()`.
pub(crate) fn dot_u2(query: &[i8], row: &[u8]) -> i32 {
    let parts = quarters(query, row.len());
    let sum = |part: usize| -> i32 {
        let pairs = row.iter().zip(parts[part]);
        pairs
            .map(|(&byte, &x)| i32::from(byte >> (2 * part) & 3) * i32::from(x))
            .sum()
    };
    (0..4).map(sum).sum()
}

/// Sum of query numbers times 8-bit codes.
pub(crate) fn dot_u8(query: &[i8], row: &[u8]) -> i32 {
    // As in `dot_u4`.
    assert_eq!(query.len(), row.len());
    let pairs = query.iter().zip(row);
    pairs.map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
}

score_rows!(dot_u1, score_u1_picked);
score_rows!(dot_u2, score_u2_picked);
score_rows!(dot_u4, score_u4_picked);
score_rows!(dot_u8, score_u8_picked);
code_rows!(dot_u1, dot_u1_picked, u8);
