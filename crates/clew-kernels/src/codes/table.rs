//! The code kernels of one instruction set as plain function pointers.

use crate::codes::{U4Query, U4Rows};
use crate::{Kernels, plain};

pub(crate) type Scored = fn(&U4Query<'_>, &U4Rows<'_>, &[u32], &mut [f32]);
pub(crate) type Picked<T> = fn(&[i8], &[T], usize, &[u32], &mut [f32]);

/// See the methods of [`Kernels`], which are the documentation of each entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodeTable {
    pub(crate) score_u4_picked: Scored,
    pub(crate) dot_u1_picked: Picked<u8>,
    pub(crate) insert_sorted: fn(&mut [u64], usize, u64) -> usize,
    pub(crate) hadamard: fn(&mut [f32], f32),
    pub(crate) fit_u4: fn(&[f32], f32) -> [f32; 2],
    pub(crate) pack_u4: fn(&[f32], f32, &mut [u8]),
    pub(crate) quantize_i8: fn(&[f32], &mut [i8]) -> (f32, i32),
}

pub(crate) const SCALAR: CodeTable = CodeTable {
    score_u4_picked: super::scalar::score_u4_picked,
    dot_u1_picked: super::scalar::dot_u1_picked,
    insert_sorted: super::scalar::insert_sorted,
    hadamard: plain::scalar::hadamard,
    fit_u4: plain::scalar::fit_u4,
    pack_u4: plain::scalar::pack_u4,
    quantize_i8: plain::scalar::quantize_i8,
};

/// Wraps functions that need CPU features into a table; `$insert` names the module of the insertion.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected_codes {
    ($module:ident, $insert:expr) => {
        $crate::codes::CodeTable {
            score_u4_picked: |query, rows, picks, out| {
                // SAFETY: the caller of this macro has just detected the features of this table.
                unsafe { $crate::codes::$module::score_u4_picked(query, rows, picks, out) }
            },
            dot_u1_picked: |query, rows, pitch, picks, out| {
                // SAFETY: as above.
                unsafe { $crate::codes::$module::dot_u1_picked(query, rows, pitch, picks, out) }
            },
            insert_sorted: $insert,
            // SAFETY: as above.
            hadamard: |block, scale| unsafe { $crate::plain::$module::hadamard(block, scale) },
            // SAFETY: as above.
            fit_u4: |values, inverse| unsafe { $crate::plain::$module::fit_u4(values, inverse) },
            pack_u4: |values, inverse, out| {
                // SAFETY: as above.
                unsafe { $crate::plain::$module::pack_u4(values, inverse, out) }
            },
            // SAFETY: as above.
            quantize_i8: |values, out| unsafe { $crate::plain::$module::quantize_i8(values, out) },
        }
    };
}

impl Kernels {
    /// Scores the picked rows of 4-bit codes: `base + add + scale * (step * sum - offset)`, where
    /// the sum is that of query numbers times codes. Panics when a pick lies outside the rows.
    #[inline]
    pub fn score_u4_picked(
        &self,
        query: &U4Query<'_>,
        rows: &U4Rows<'_>,
        picks: &[u32],
        out: &mut [f32],
    ) {
        (self.codes.score_u4_picked)(query, rows, picks, out);
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

    /// Puts `key` where it belongs among the ascending `keys[..len]`, moves the greater ones up by
    /// one, and answers its place. Panics when there is no room.
    #[inline]
    pub fn insert_sorted(&self, keys: &mut [u64], len: usize, key: u64) -> usize {
        (self.codes.insert_sorted)(keys, len, key)
    }

    /// Walsh-Hadamard transform in place, then times `scale`. The length is a power of two.
    #[inline]
    pub fn hadamard(&self, block: &mut [f32], scale: f32) {
        (self.codes.hadamard)(block, scale);
    }

    /// Tries a step size for 4-bit codes: the sums of `level * value` and `level * level`, where the
    /// levels -7.5 to 7.5 are those that [`Kernels::pack_u4`] would store.
    #[inline]
    pub fn fit_u4(&self, values: &[f32], inverse_step: f32) -> [f32; 2] {
        (self.codes.fit_u4)(values, inverse_step)
    }

    /// Rounds values to 4-bit codes, laid out as [`U4Rows`] says. Dimensions
    /// behind the last value get code 0.
    #[inline]
    pub fn pack_u4(&self, values: &[f32], inverse_step: f32, out: &mut [u8]) {
        (self.codes.pack_u4)(values, inverse_step, out);
    }

    /// Rounds values to signed bytes so that the largest becomes 127 in size, and answers the size
    /// of one step, which is never zero, and the sum of the bytes.
    #[inline]
    pub fn quantize_i8(&self, values: &[f32], out: &mut [i8]) -> (f32, i32) {
        (self.codes.quantize_i8)(values, out)
    }
}
