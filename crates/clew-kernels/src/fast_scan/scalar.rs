//! The specification of the scan.

use super::{FACTOR_BYTES, FAST_ROWS, FAST_TABLE_BYTES, FastQuery, FastScores, shape};

/// One query after the other.
pub(crate) fn scan_pair(queries: [&FastQuery<'_>; 2], blocks: &[u8], outs: [FastScores<'_>; 2]) {
    for (query, out) in queries.into_iter().zip(outs) {
        scan(query, blocks, out);
    }
}

pub(crate) fn scan(query: &FastQuery<'_>, blocks: &[u8], out: FastScores<'_>) {
    let (code_bytes, block_bytes) = shape(query, blocks, &out);
    let (distances, _) = out.distances.as_chunks_mut::<FAST_ROWS>();
    let blocks = blocks.chunks_exact(block_bytes);
    for ((block, distances), near) in blocks.zip(distances).zip(out.near) {
        let (codes, factors) = block.split_at(code_bytes);
        let sums = sums(query.tables, codes);
        let (adds, scales) = factors.split_at(FACTOR_BYTES);
        let factor = |bytes: &[u8], row: usize| {
            let (words, _) = bytes.as_chunks::<4>();
            f32::from_le_bytes(words[row])
        };
        *near = 0;
        for (row, distance) in distances.iter_mut().enumerate() {
            let product = query.step * f32::from(sums[row]) - query.offset;
            *distance = query.base + factor(adds, row) + factor(scales, row) * product;
            *near |= u32::from(*distance <= query.limit) << row;
        }
    }
}

fn sums(tables: &[u8], codes: &[u8]) -> [u16; FAST_ROWS] {
    let mut sums = [0_u16; FAST_ROWS];
    let (tables, _) = tables.as_chunks::<FAST_TABLE_BYTES>();
    let (codes, _) = codes.as_chunks::<FAST_TABLE_BYTES>();
    let (low, high) = sums.split_at_mut(FAST_TABLE_BYTES);
    for (table, codes) in tables.iter().zip(codes) {
        for ((byte, low), high) in codes.iter().zip(low.iter_mut()).zip(high.iter_mut()) {
            *low = low.wrapping_add(table[usize::from(byte & 15)].into());
            *high = high.wrapping_add(table[usize::from(byte >> 4)].into());
        }
    }
    sums
}
