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
