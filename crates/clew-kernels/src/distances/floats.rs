//! Kernels of an `f32` query and rows of floats, written once for every instruction set and type: the
//! module where they are expanded says how a register is loaded, multiplied and summed up.
//!
//! There are four sums, so that the latency of one fused multiply-add is hidden.

/// A vector in blocks of four registers, then of one, then the numbers that fill none.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline]
#[expect(clippy::type_complexity, reason = "three parts of one slice")]
pub(super) fn split<T, const LANES: usize>(
    vector: &[T],
) -> (&[[[T; LANES]; 4]], &[[T; LANES]], &[T]) {
    let (lanes, tail) = vector.as_chunks::<LANES>();
    let (quads, singles) = lanes.as_chunks::<4>();
    (quads, singles, tail)
}

/// Defines `$name`: the sum of `$step` over a query and a row. `$load` widens a full block of the row,
/// `$tail` what is left, filled up with zeros.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! float_kernel {
    ($name:ident, $item:ty, ($load:path, $tail:path, $step:path), #[$attribute:meta]) => {
        #[inline]
        #[$attribute]
        pub(crate) fn $name(query: &[f32], row: &[$item]) -> f32 {
            // Vectors of different length have no distance; the shorter one must not win silently.
            assert_eq!(query.len(), row.len());
            let (quads_a, singles_a, tail_a) = split(query);
            let (quads_b, singles_b, tail_b) = split(row);
            let mut sums = [zero(); 4];
            for (x, y) in quads_a.iter().zip(quads_b) {
                for lane in 0..4 {
                    sums[lane] = $step(load_f32(&x[lane]), $load(&y[lane]), sums[lane]);
                }
            }
            for (lane, (x, y)) in singles_a.iter().zip(singles_b).enumerate() {
                sums[lane % 4] = $step(load_f32(x), $load(y), sums[lane % 4]);
            }
            if !tail_a.is_empty() {
                sums[3] = $step(tail_f32(tail_a), $tail(tail_b), sums[3]);
            }
            total(sums)
        }
    };
}

/// Defines a module of kernels over rows of `$item`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! float_kernels {
    ($module:ident, $item:ty, ($load:ident, $tail:ident), #[$attribute:meta]) => {
        pub(crate) mod $module {
            use super::*;
            use crate::distances::floats::split;

            float_kernel!(dot, $item, ($load, $tail, dot_step), #[$attribute]);
            float_kernel!(l2, $item, ($load, $tail, l2_step), #[$attribute]);
            row_loops!((f32, $item), dot, dot_rows, dot_picked, #[$attribute]);
            row_loops!((f32, $item), l2, l2_rows, l2_picked, #[$attribute]);
        }
    };
}
