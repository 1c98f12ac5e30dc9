//! The code kernels of one instruction set as plain function pointers.

use crate::codes::{CodeBits, CodeQuery, CodeRows, scalar};
use crate::fast_scan::{FastQuery, FastScores};
use crate::{Kernels, fast_scan, plain};

/// The kernels of codes of one width, in one instruction set.
#[derive(Debug, Clone, Copy)]
pub struct CodeKernels {
    pub(crate) score_picked: fn(&CodeQuery<'_>, &CodeRows<'_>, &[u32], &mut [f32]),
    pub(crate) fit: fn(&[f32], f32) -> [f32; 2],
    pub(crate) pack: fn(&[f32], f32, &mut [u8]),
}

type Picked = fn(&[i8], &[u8], usize, &[u32], &mut [f32]);

/// See the methods of [`Kernels`], which are the documentation of each entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodeTable {
    /// In the order of [`CodeBits::ALL`].
    pub(crate) widths: [CodeKernels; 4],
    pub(crate) dot_u1_picked: Picked,
    pub(crate) hadamard: fn(&mut [f32], f32),
    pub(crate) quantize_i8: fn(&[f32], &mut [i8]) -> (f32, i32),
    pub(crate) dot_bytes: fn(&[f32], &[i8]) -> f32,
    pub(crate) fast_scan: fn(&FastQuery<'_>, &[u8], FastScores<'_>),
    pub(crate) fast_scan_pair: fn([&FastQuery<'_>; 2], &[u8], [FastScores<'_>; 2]),
}

macro_rules! scalar_width {
    ($score:ident, $bits:literal) => {
        CodeKernels {
            score_picked: scalar::$score,
            fit: plain::scalar::fit::<$bits>,
            pack: plain::scalar::pack::<$bits>,
        }
    };
}

pub(crate) const SCALAR: CodeTable = CodeTable {
    widths: [
        scalar_width!(score_u1_picked, 1),
        scalar_width!(score_u2_picked, 2),
        scalar_width!(score_u4_picked, 4),
        scalar_width!(score_u8_picked, 8),
    ],
    dot_u1_picked: scalar::dot_u1_picked,
    hadamard: plain::scalar::hadamard,
    quantize_i8: plain::scalar::quantize_i8,
    dot_bytes: plain::scalar::dot_bytes,
    fast_scan: fast_scan::scalar::scan,
    fast_scan_pair: fast_scan::scalar::scan_pair,
};

/// Wraps the functions of one width that need CPU features.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected_width {
    ($module:ident, $score:ident, $bits:literal) => {
        $crate::CodeKernels {
            score_picked: |query, rows, picks, out| {
                // SAFETY: the caller of this macro has just detected the features of this table.
                unsafe { $crate::codes::$module::$score(query, rows, picks, out) }
            },
            // SAFETY: as above.
            fit: |values, inverse| unsafe { $crate::plain::$module::fit::<$bits>(values, inverse) },
            pack: |values, inverse, out| {
                // SAFETY: as above.
                unsafe { $crate::plain::$module::pack::<$bits>(values, inverse, out) }
            },
        }
    };
}

/// Wraps functions that need CPU features into a table; `$insert` is its insertion.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected_codes {
    ($module:ident) => {
        $crate::table::CodeTable {
            widths: [
                detected_width!($module, score_u1_picked, 1),
                detected_width!($module, score_u2_picked, 2),
                detected_width!($module, score_u4_picked, 4),
                detected_width!($module, score_u8_picked, 8),
            ],
            dot_u1_picked: |query, rows, pitch, picks, out| {
                // SAFETY: the caller of this macro has just detected the features of this table.
                unsafe { $crate::codes::$module::dot_u1_picked(query, rows, pitch, picks, out) }
            },
            // SAFETY: as above.
            hadamard: |block, scale| unsafe { $crate::plain::$module::hadamard(block, scale) },
            // SAFETY: as above.
            quantize_i8: |values, out| unsafe { $crate::plain::$module::quantize_i8(values, out) },
            // SAFETY: as above.
            dot_bytes: |values, bytes| unsafe { $crate::plain::$module::dot_bytes(values, bytes) },
            // SAFETY: as above.
            fast_scan: |query, blocks, out| unsafe {
                $crate::fast_scan::$module::scan(query, blocks, out);
            },
            // SAFETY: as above.
            fast_scan_pair: |queries, blocks, outs| unsafe {
                $crate::fast_scan::$module::scan_pair(queries, blocks, outs);
            },
        }
    };
}

impl CodeKernels {
    /// Scores the picked rows: `base + add + scale * (step * sum - offset)`, where the sum is that of
    /// query numbers times codes, exact in 32 bits. Panics when a pick lies outside the rows, or when
    /// the query has not a number for every code.
    #[inline]
    pub fn score_picked(
        &self,
        query: &CodeQuery<'_>,
        rows: &CodeRows<'_>,
        picks: &[u32],
        out: &mut [f32],
    ) {
        (self.score_picked)(query, rows, picks, out);
    }

    /// Tries a step size: the sums of `level * value` and `level * level`, where the levels are those
    /// that [`CodeKernels::pack`] would store.
    #[inline]
    pub fn fit(&self, values: &[f32], inverse_step: f32) -> [f32; 2] {
        (self.fit)(values, inverse_step)
    }

    /// Rounds values to codes, laid out as [`CodeRows`] says. Dimensions behind the last value get
    /// code 0. Panics when `out` has no room for every value.
    #[inline]
    pub fn pack(&self, values: &[f32], inverse_step: f32, out: &mut [u8]) {
        (self.pack)(values, inverse_step, out);
    }
}

impl Kernels {
    /// The kernels of codes of one width.
    #[inline]
    pub fn codes(&self, bits: CodeBits) -> &CodeKernels {
        &self.codes.widths[bits as usize]
    }

    /// Scores 1-bit codes: for each picked row, the sum of the query numbers whose bit is set.
    ///
    /// A row takes `pitch` bytes, of which the first `query.len() / 8` are read; bit `j % 8` of byte
    /// `j / 8` belongs to dimension `j`. Panics when a pick lies outside `rows`.
    #[inline]
    pub fn dot_u1_picked(
        &self,
        query: &[i8],
        rows: &[u8],
        (pitch, picks): (usize, &[u32]),
        out: &mut [f32],
    ) {
        (self.codes.dot_u1_picked)(query, rows, pitch, picks, out);
    }

    /// Walsh-Hadamard transform in place, then times `scale`. The length is a power of two.
    #[inline]
    pub fn hadamard(&self, block: &mut [f32], scale: f32) {
        (self.codes.hadamard)(block, scale);
    }

    /// Rounds values to signed bytes so that the largest becomes 127 in size, and answers the size
    /// of one step, which is never zero, and the sum of the bytes.
    #[inline]
    pub fn quantize_i8(&self, values: &[f32], out: &mut [i8]) -> (f32, i32) {
        (self.codes.quantize_i8)(values, out)
    }

    /// The product of a vector with one of bytes, in `f32`: the same to the bit in every instruction set. Panics when the
    /// lengths differ.
    #[inline]
    pub fn dot_bytes(&self, values: &[f32], bytes: &[i8]) -> f32 {
        (self.codes.dot_bytes)(values, bytes)
    }
}
