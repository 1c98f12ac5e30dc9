//! Distances between a query and stored vectors, one table for every type that is stored.

#[macro_use]
mod rows;
#[macro_use]
mod floats;
#[macro_use]
mod table;
pub(crate) mod scalar;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;

use half::{bf16, f16};

pub(crate) type Pair<Q, T> = fn(&[Q], &[T]) -> f32;
pub(crate) type Rows<Q, T> = fn(&[Q], &[T], &mut [f32]);
pub(crate) type Picked<Q, T> = fn(&[Q], &[T], &[u32], &mut [f32]);

/// Distances of a query of `Q` to stored vectors of `T`, in one instruction set.
///
/// Every function asserts that its slices fit together. Stored 16-bit floats are widened exactly;
/// sums of floats are kept in `f32`, in an order that differs between instruction sets, so that
/// results agree within rounding. Sums of integers are exact in 32 bits, for up to 2^15 dimensions,
/// and rounded once, to `f32`. A row has the same answer, to the bit, from all functions of a table.
#[derive(Debug)]
pub struct Distances<Q: 'static, T: 'static> {
    pub(crate) dot: Pair<Q, T>,
    pub(crate) l2: Pair<Q, T>,
    pub(crate) dot_rows: Rows<Q, T>,
    pub(crate) l2_rows: Rows<Q, T>,
    pub(crate) dot_picked: Picked<Q, T>,
    pub(crate) l2_picked: Picked<Q, T>,
}

impl<Q, T> Clone for Distances<Q, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q, T> Copy for Distances<Q, T> {}

impl<Q, T> Distances<Q, T> {
    /// Dot product of a query and a vector of the same length.
    #[inline]
    pub fn dot(&self, query: &[Q], row: &[T]) -> f32 {
        (self.dot)(query, row)
    }

    /// Squared Euclidean distance of a query and a vector of the same length.
    #[inline]
    pub fn l2(&self, query: &[Q], row: &[T]) -> f32 {
        (self.l2)(query, row)
    }

    /// Dot product of `query` with each row of a block: `rows` holds `out.len()` vectors of
    /// `query.len()` numbers, one after the other.
    #[inline]
    pub fn dot_rows(&self, query: &[Q], rows: &[T], out: &mut [f32]) {
        (self.dot_rows)(query, rows, out);
    }

    /// Squared Euclidean distance of `query` to each row of a block, as in
    /// [`Distances::dot_rows`].
    #[inline]
    pub fn l2_rows(&self, query: &[Q], rows: &[T], out: &mut [f32]) {
        (self.l2_rows)(query, rows, out);
    }

    /// Dot product of `query` with the rows numbered `picks`; `out` is as long as `picks`.
    ///
    /// Panics when a pick lies outside `rows`.
    #[inline]
    pub fn dot_picked(&self, query: &[Q], rows: &[T], picks: &[u32], out: &mut [f32]) {
        (self.dot_picked)(query, rows, picks, out);
    }

    /// Squared Euclidean distance of `query` to the rows numbered `picks`, as in
    /// [`Distances::dot_picked`].
    #[inline]
    pub fn l2_picked(&self, query: &[Q], rows: &[T], picks: &[u32], out: &mut [f32]) {
        (self.l2_picked)(query, rows, picks, out);
    }
}

/// Distances of vectors of bits, eight to a byte, in one instruction set. Counts are exact for up to
/// 2^24 bits; bits of a last byte that no dimension has must be equal in all vectors, best zero.
#[derive(Debug, Clone, Copy)]
pub struct BitDistances {
    pub(crate) hamming: Pair<u8, u8>,
    pub(crate) jaccard: Pair<u8, u8>,
    pub(crate) hamming_rows: Rows<u8, u8>,
    pub(crate) jaccard_rows: Rows<u8, u8>,
    pub(crate) hamming_picked: Picked<u8, u8>,
    pub(crate) jaccard_picked: Picked<u8, u8>,
}

impl BitDistances {
    /// Number of bits that differ between two vectors of the same length.
    #[inline]
    pub fn hamming(&self, query: &[u8], row: &[u8]) -> f32 {
        (self.hamming)(query, row)
    }

    /// One minus the share of bits set in both among the bits set in either; 0 when none is set.
    #[inline]
    pub fn jaccard(&self, query: &[u8], row: &[u8]) -> f32 {
        (self.jaccard)(query, row)
    }

    /// [`BitDistances::hamming`] of `query` and each row of a block of `out.len()` rows.
    #[inline]
    pub fn hamming_rows(&self, query: &[u8], rows: &[u8], out: &mut [f32]) {
        (self.hamming_rows)(query, rows, out);
    }

    /// [`BitDistances::jaccard`] of `query` and each row of a block of `out.len()` rows.
    #[inline]
    pub fn jaccard_rows(&self, query: &[u8], rows: &[u8], out: &mut [f32]) {
        (self.jaccard_rows)(query, rows, out);
    }

    /// [`BitDistances::hamming`] of `query` and the rows numbered `picks`. Panics when a pick lies
    /// outside `rows`.
    #[inline]
    pub fn hamming_picked(&self, query: &[u8], rows: &[u8], picks: &[u32], out: &mut [f32]) {
        (self.hamming_picked)(query, rows, picks, out);
    }

    /// [`BitDistances::jaccard`] of `query` and the rows numbered `picks`, as in
    /// [`BitDistances::hamming_picked`].
    #[inline]
    pub fn jaccard_picked(&self, query: &[u8], rows: &[u8], picks: &[u32], out: &mut [f32]) {
        (self.jaccard_picked)(query, rows, picks, out);
    }
}

/// Turns the counts of bits set in both and in either into a distance.
#[inline]
#[allow(
    clippy::cast_precision_loss,
    reason = "a vector has fewer than 2^24 bits"
)]
fn jaccard_distance([both, either]: [u64; 2]) -> f32 {
    if either == 0 {
        return 0.0;
    }
    1.0 - both as f32 / either as f32
}

/// One table per stored type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DistanceTable {
    pub(crate) f32: Distances<f32, f32>,
    pub(crate) f16: Distances<f32, f16>,
    pub(crate) bf16: Distances<f32, bf16>,
    pub(crate) i8: Distances<i8, i8>,
    pub(crate) bits: BitDistances,
}
