//! Kernels over small codes: whole numbers of one, four or eight bits instead of `f32`. Their sums
//! are exact in 32-bit integers, so every instruction set answers the same to the bit.
//!
//! Rows are picked by number, as a graph walk needs them: one call scores a whole hop.

#[macro_use]
mod rows;
pub(crate) mod scalar;
#[macro_use]
mod table;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;

pub(crate) use table::{CodeTable, SCALAR};

/// Rows of 4-bit codes.
#[derive(Debug, Clone, Copy)]
pub struct U4Rows<'a> {
    /// Row after row of `pitch` bytes. Byte `j` of a row holds dimension `j` in its low half and
    /// dimension `j + pitch` in its high half.
    pub codes: &'a [u8],
    /// Bytes of a row.
    pub pitch: usize,
    /// `add` and `scale` of each row.
    pub factors: &'a [[f32; 2]],
}

/// A query over rows of 4-bit codes.
#[derive(Debug, Clone, Copy)]
pub struct U4Query<'a> {
    /// One number per dimension, twice as many as a row has bytes.
    pub numbers: &'a [i8],
    /// Size of one step of the numbers.
    pub step: f32,
    /// What is taken away from every product.
    pub offset: f32,
    /// What is added to every score.
    pub base: f32,
}
