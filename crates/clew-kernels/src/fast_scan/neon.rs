//! NEON: one table and the codes that belong to it per step. The few steps behind the sums are left
//! to the compiler.

use std::arch::aarch64::*;

use super::{FAST_ROWS, FAST_TABLE_BYTES, FastQuery, FastScores, shape};

#[inline]
#[target_feature(enable = "neon")]
fn load(block: &[u8; FAST_TABLE_BYTES]) -> uint8x16_t {
    // SAFETY: the reference covers exactly the sixteen bytes that are read; no alignment needed.
    unsafe { vld1q_u8(block.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn sums(tables: &[u8], codes: &[u8]) -> [u16; FAST_ROWS] {
    let mut sums = [vdupq_n_u16(0); 4];
    let mask = vdupq_n_u8(15);
    let (tables, _) = tables.as_chunks();
    let (codes, _) = codes.as_chunks();
    for (table, codes) in tables.iter().zip(codes) {
        let (table, codes) = (load(table), load(codes));
        let low = vqtbl1q_u8(table, vandq_u8(codes, mask));
        let high = vqtbl1q_u8(table, vshrq_n_u8::<4>(codes));
        sums = [
            vaddw_u8(sums[0], vget_low_u8(low)),
            vaddw_high_u8(sums[1], low),
            vaddw_u8(sums[2], vget_low_u8(high)),
            vaddw_high_u8(sums[3], high),
        ];
    }
    let mut out = [0; FAST_ROWS];
    for (eight, sum) in out.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
        // SAFETY: the reference covers exactly the eight numbers that are written.
        unsafe { vst1q_u16(eight.as_mut_ptr(), sum) };
    }
    out
}

#[target_feature(enable = "neon")]
pub(crate) fn scan(query: &FastQuery<'_>, blocks: &[u8], out: FastScores<'_>) {
    let (code_bytes, block_bytes) = shape(query, blocks, &out);
    let (distances, _) = out.distances.as_chunks_mut::<FAST_ROWS>();
    let blocks = blocks.chunks_exact(block_bytes);
    for ((block, distances), near) in blocks.zip(distances).zip(out.near) {
        let (codes, factors) = block.split_at(code_bytes);
        let sums = sums(query.tables, codes);
        let (adds, scales) = factors.split_at(super::FACTOR_BYTES);
        let factors = adds.as_chunks().0.iter().zip(scales.as_chunks().0);
        *near = 0;
        let rows = distances.iter_mut().zip(sums).zip(factors);
        for (row, ((distance, sum), (add, scale))) in rows.enumerate() {
            let product = query.step * f32::from(sum) - query.offset;
            let (add, scale) = (f32::from_le_bytes(*add), f32::from_le_bytes(*scale));
            *distance = query.base + add + scale * product;
            *near |= u32::from(*distance <= query.limit) << row;
        }
    }
}

/// One query after the other.
#[target_feature(enable = "neon")]
pub(crate) fn scan_pair(queries: [&FastQuery<'_>; 2], blocks: &[u8], outs: [FastScores<'_>; 2]) {
    for (query, out) in queries.into_iter().zip(outs) {
        scan(query, blocks, out);
    }
}
