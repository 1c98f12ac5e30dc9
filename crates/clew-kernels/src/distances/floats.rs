//! Kernels of an `f32` query and rows of floats, written once for every instruction set and type: the
//! module where they are expanded says how a register is loaded, multiplied and summed up.
//!
//! Each row has four sums, so that the latency of one fused multiply-add is hidden.

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

/// Defines `$name`: the sums of `$step` over a query and each row of a group. `$load` widens a full
/// block of a row, `$tail` what is left, filled up with zeros.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! float_kernel {
    ($name:ident, $item:ty, ($load:path, $tail:path, $step:path), #[$attribute:meta]) => {
        #[inline]
        #[$attribute]
        fn $name<const ROWS: usize>(query: &[f32], rows: [&[$item]; ROWS]) -> [f32; ROWS] {
            // Vectors of different length have no distance; the shorter one must not win silently.
            assert!(rows.iter().all(|row| row.len() == query.len()));
            let (quads, singles, tail) = split::<_, LANES>(query);
            let rows = rows.map(|row| split::<_, LANES>(row));
            let row_quads = rows.map(|row| &row.0[..quads.len()]);
            let row_singles = rows.map(|row| &row.1[..singles.len()]);
            let mut sums = [[zero(); 4]; ROWS];
            for (at, block) in quads.iter().enumerate() {
                for lane in 0..4 {
                    let x = load_f32(&block[lane]);
                    for row in 0..ROWS {
                        sums[row][lane] =
                            $step(x, $load(&row_quads[row][at][lane]), sums[row][lane]);
                    }
                }
            }
            for (at, block) in singles.iter().enumerate() {
                let x = load_f32(block);
                for row in 0..ROWS {
                    sums[row][0] = $step(x, $load(&row_singles[row][at]), sums[row][0]);
                }
            }
            if !tail.is_empty() {
                let x = tail_f32(tail);
                for row in 0..ROWS {
                    sums[row][3] = $step(x, $tail(rows[row].2), sums[row][3]);
                }
            }
            sums.map(|sums| total(sums))
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

            float_kernel!(dots, $item, ($load, $tail, dot_step), #[$attribute]);
            float_kernel!(gaps, $item, ($load, $tail, l2_step), #[$attribute]);
            row_loops!(dots, GROUP, (f32, $item), dot, dot_rows, dot_picked, #[$attribute]);
            row_loops!(gaps, GROUP, (f32, $item), l2, l2_rows, l2_picked, #[$attribute]);
        }
    };
}
