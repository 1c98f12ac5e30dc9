//! Scans of 4-bit codes through look-up tables: one shuffle instruction looks up a code of sixteen
//! rows at once (André, Kermarrec and Le Scouarnec, "Cache locality is not enough", VLDB 2015). What
//! a code means lies in the tables alone.
//!
//! Rows come in blocks of 32, their codes interleaved: for each code in turn sixteen bytes, of which
//! byte `j` holds the code of row `j` in its low half and that of row `j + 16` in its high half. Behind
//! the codes lie two `f32` for each row, first 32 times `add`, then 32 times `scale`.

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod scans;
pub(crate) mod scalar;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;

/// Rows of a block.
pub const FAST_ROWS: usize = 32;
/// Bytes of a table, and of one code of all rows of a block.
pub const FAST_TABLE_BYTES: usize = 16;
/// Codes of a row come in groups of so many; a code that is not needed has a table of zeros.
pub const FAST_CODES_MULTIPLE: usize = 4;

const FACTOR_BYTES: usize = 4 * FAST_ROWS;

/// A query over blocks of 4-bit codes.
#[derive(Debug, Clone, Copy)]
pub struct FastQuery<'a> {
    /// [`FAST_TABLE_BYTES`] entries for each code of a row. A row's sum of entries is kept modulo
    /// 2^16.
    pub tables: &'a [u8],
    /// What is added to every score.
    pub base: f32,
    /// Size of one step of the entries.
    pub step: f32,
    /// What is taken away from every product.
    pub offset: f32,
    /// Rows with a score up to this are near.
    pub limit: f32,
}

/// Where a scan of blocks puts what it finds.
#[derive(Debug)]
pub struct FastScores<'a> {
    /// The score of each row.
    pub distances: &'a mut [f32],
    /// One number for each block, in which bit `j` tells whether row `j` lies within the limit.
    pub near: &'a mut [u32],
}

/// Bytes of a block of rows of so many codes each.
pub const fn fast_block_bytes(codes: usize) -> usize {
    codes * FAST_TABLE_BYTES + 2 * FACTOR_BYTES
}

/// The shape of a call, checked: bytes of the codes and of a whole block.
#[inline]
fn shape(query: &FastQuery<'_>, blocks: &[u8], out: &FastScores<'_>) -> (usize, usize) {
    let code_bytes = query.tables.len();
    let block_bytes = code_bytes + 2 * FACTOR_BYTES;
    // Tables and codes would be paired wrongly, or rows be left without an answer.
    assert!(code_bytes.is_multiple_of(FAST_CODES_MULTIPLE * FAST_TABLE_BYTES));
    assert_eq!(blocks.len(), out.near.len() * block_bytes);
    assert_eq!(out.distances.len(), out.near.len() * FAST_ROWS);
    (code_bytes, block_bytes)
}
