//! The specification: what every other table must answer, within rounding.

pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Vectors of different length have no product; the shorter one must not win silently.
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(crate) fn l2(a: &[f32], b: &[f32]) -> f32 {
    // As in `dot`.
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

row_loops!(dot, dot_rows, dot_picked);
row_loops!(l2, l2_rows, l2_picked);
