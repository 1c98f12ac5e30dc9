//! Blocks of interleaved codes, written and read row by row.

use clew_kernels::{FAST_ROWS, FAST_TABLE_BYTES, fast_block_bytes};

use crate::ivf::place::Placed;
use crate::ivf::{ListHead, NO_ROW};

/// Puts rows list by list into blocks, in order of rows.
pub(super) fn arrange(
    (steps, owns): (&[f32], &[f32]),
    codes: &[u8],
    placed: &[Placed],
) -> (Vec<ListHead>, Vec<u32>, Vec<u8>) {
    let mut heads: Vec<ListHead> = steps
        .iter()
        .zip(owns)
        .map(|(&step, &own)| ListHead {
            step,
            own,
            first_block: 0,
            row_count: 0,
        })
        .collect();
    for one in placed {
        heads[one.list as usize].row_count += 1;
    }
    let mut blocks_before = 0;
    for head in &mut heads {
        head.first_block = u32::try_from(blocks_before).expect("fewer blocks than rows and lists");
        blocks_before += head.block_count();
    }
    let width = codes.len() / placed.len();
    let block_bytes = fast_block_bytes(width);
    let mut rows = vec![NO_ROW; blocks_before * FAST_ROWS];
    let mut blocks = vec![0; blocks_before * block_bytes];
    let mut next: Vec<usize> = heads
        .iter()
        .map(|head| head.first_block as usize * FAST_ROWS)
        .collect();
    for (row, (one, codes)) in (0_u32..).zip(placed.iter().zip(codes.chunks(width))) {
        let place = &mut next[one.list as usize];
        rows[*place] = row;
        let block = &mut blocks[*place / FAST_ROWS * block_bytes..][..block_bytes];
        write_row(block, *place % FAST_ROWS, codes, one.factors);
        *place += 1;
    }
    (heads, rows, blocks)
}

/// Writes one row into its block, whose bytes of this row are zero.
fn write_row(block: &mut [u8], place: usize, codes: &[u8], factors: [f32; 2]) {
    let (interleaved, stored) = block.split_at_mut(codes.len() * FAST_TABLE_BYTES);
    let (byte, shift) = (place % FAST_TABLE_BYTES, place / FAST_TABLE_BYTES * 4);
    for (bytes, code) in interleaved.chunks_mut(FAST_TABLE_BYTES).zip(codes) {
        bytes[byte] |= code << shift;
    }
    let (words, _) = stored.as_chunks_mut::<4>();
    for (which, factor) in factors.into_iter().enumerate() {
        words[which * FAST_ROWS + place] = factor.to_le_bytes();
    }
}

/// Reads what [`write_row`] wrote.
pub(super) fn read_row(block: &[u8], place: usize, codes: &mut [u8]) -> [f32; 2] {
    let (interleaved, stored) = block.split_at(codes.len() * FAST_TABLE_BYTES);
    let (byte, shift) = (place % FAST_TABLE_BYTES, place / FAST_TABLE_BYTES * 4);
    for (bytes, code) in interleaved.chunks(FAST_TABLE_BYTES).zip(codes) {
        *code = bytes[byte] >> shift & 15;
    }
    let (words, _) = stored.as_chunks::<4>();
    [0, 1].map(|which| f32::from_le_bytes(words[which * FAST_ROWS + place]))
}
