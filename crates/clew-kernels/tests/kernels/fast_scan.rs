//! The scan through look-up tables: every table of kernels this CPU can run, against entries summed
//! one by one.

use clew_kernels::{
    FAST_ROWS, FAST_TABLE_BYTES, FastQuery, FastScores, Kernels, available, fast_block_bytes,
};
use proptest::prelude::*;

/// A plain multiplicative generator: the same bytes in every run.
fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Blocks of random codes; the factors are whole numbers, so that scores are exact.
fn blocks(codes: usize, count: usize, seed: u64) -> Vec<u8> {
    let mut blocks = bytes(fast_block_bytes(codes) * count, seed);
    for block in blocks.chunks_mut(fast_block_bytes(codes)) {
        let (_, factors) = block.split_at_mut(codes * FAST_TABLE_BYTES);
        for (at, word) in factors.chunks_mut(4).enumerate() {
            let value = (at * 7 % 13) as f32 - 6.0;
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
    blocks
}

/// The score of each row by the definition.
fn expected(query: &FastQuery<'_>, blocks: &[u8], codes: usize) -> Vec<f32> {
    let block_bytes = fast_block_bytes(codes);
    let mut scores = Vec::new();
    for block in blocks.chunks(block_bytes) {
        for row in 0..FAST_ROWS {
            let code = |at: usize| {
                let byte = block[at * FAST_TABLE_BYTES + row % 16];
                usize::from(if row < 16 { byte & 15 } else { byte >> 4 })
            };
            let entry = |at: usize| u32::from(query.tables[at * FAST_TABLE_BYTES + code(at)]);
            let sum = (0..codes).map(entry).sum::<u32>() % (1 << 16);
            let factor = |which: usize| {
                let start = codes * FAST_TABLE_BYTES + 4 * (which * FAST_ROWS + row);
                let (words, _) = block.as_chunks::<4>();
                f32::from_le_bytes(words[start / 4])
            };
            let product = query.step * sum as f32 - query.offset;
            scores.push(query.base + factor(0) + factor(1) * product);
        }
    }
    scores
}

fn scores<'a>(distances: &'a mut [f32], near: &'a mut [u32]) -> FastScores<'a> {
    FastScores { distances, near }
}

/// Two queries at once, whichever comes first, have the answers of each alone.
fn check_pair(kernels: &Kernels, query: &FastQuery<'_>, blocks: &[u8]) {
    let tables: Vec<u8> = query.tables.iter().rev().copied().collect();
    let other = FastQuery {
        tables: &tables,
        base: query.base - 2.0,
        step: 0.25,
        offset: query.offset + 1.0,
        limit: query.limit + 8.0,
    };
    let count = blocks.len() / fast_block_bytes(tables.len() / FAST_TABLE_BYTES);
    let empty = || (vec![f32::NAN; count * FAST_ROWS], vec![7; count]);
    let alone = |query: &FastQuery<'_>| {
        let (mut distances, mut near) = empty();
        kernels.fast_scan(query, blocks, scores(&mut distances, &mut near));
        (distances, near)
    };
    for pair in [[query, &other], [&other, query], [query, query]] {
        let [mut first, mut second] = [empty(), empty()];
        let outs = [
            scores(&mut first.0, &mut first.1),
            scores(&mut second.0, &mut second.1),
        ];
        kernels.fast_scan_pair(pair, blocks, outs);
        assert_eq!([first, second], pair.map(alone), "{}", kernels.isa());
    }
}

fn check(query: &FastQuery<'_>, blocks: &[u8], codes: usize) {
    let expected = expected(query, blocks, codes);
    for kernels in available() {
        let mut distances = vec![f32::NAN; expected.len()];
        let mut near = vec![0; expected.len() / FAST_ROWS];
        kernels.fast_scan(query, blocks, scores(&mut distances, &mut near));
        assert_eq!(distances, expected, "{} of {codes} codes", kernels.isa());
        check_pair(&kernels, query, blocks);
        for (row, &distance) in distances.iter().enumerate() {
            let is_near = near[row / FAST_ROWS] >> (row % FAST_ROWS) & 1 == 1;
            assert_eq!(is_near, distance <= query.limit, "{}", kernels.isa());
        }
    }
}

#[test]
fn rows_of_every_number_of_codes_are_scored() {
    for codes in (0..=300).step_by(4) {
        let tables = bytes(codes * FAST_TABLE_BYTES, 3);
        let query = FastQuery {
            tables: &tables,
            base: 5.0,
            step: 1.0,
            offset: 3.0,
            limit: 100.0,
        };
        for count in [0, 1, 3] {
            check(&query, &blocks(codes, count, 1 + codes as u64), codes);
        }
    }
}

#[test]
fn the_greatest_entries_wrap_alike() {
    for codes in [256, 260, 512] {
        let tables = vec![255; codes * FAST_TABLE_BYTES];
        let query = FastQuery {
            tables: &tables,
            base: 0.0,
            step: 1.0,
            offset: 0.0,
            limit: f32::INFINITY,
        };
        check(&query, &blocks(codes, 2, 9), codes);
    }
}

fn plain_query(tables: &[u8]) -> FastQuery<'_> {
    FastQuery {
        tables,
        base: 0.0,
        step: 1.0,
        offset: 0.0,
        limit: 0.0,
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused_by_every_table() {
    for kernels in available() {
        let refused = |tables: &[u8], blocks: usize, rows: usize, near: usize| {
            let run = std::panic::AssertUnwindSafe(|| {
                let blocks = vec![0; blocks];
                let (mut distances, mut near) = (vec![0.0; rows], vec![0; near]);
                let out = scores(&mut distances, &mut near);
                kernels.fast_scan(&plain_query(tables), &blocks, out);
            });
            assert!(std::panic::catch_unwind(run).is_err(), "{}", kernels.isa());
        };
        refused(&[0; 63], fast_block_bytes(4) - 1, 32, 1);
        refused(&[0; 48], fast_block_bytes(3), 32, 1);
        refused(&[0; 64], fast_block_bytes(4) - 1, 32, 1);
        refused(&[0; 64], fast_block_bytes(4), 31, 1);
        refused(&[0; 64], fast_block_bytes(4), 32, 2);
    }
}

#[test]
fn a_pair_of_different_shapes_is_refused_by_every_table() {
    for kernels in available() {
        let run = std::panic::AssertUnwindSafe(|| {
            let blocks = vec![0; fast_block_bytes(4)];
            let [mut first, mut second] = [(); 2].map(|()| (vec![0.0; FAST_ROWS], vec![0; 1]));
            let outs = [
                scores(&mut first.0, &mut first.1),
                scores(&mut second.0, &mut second.1),
            ];
            let pair = [&plain_query(&[0; 64]), &plain_query(&[0; 128])];
            kernels.fast_scan_pair(pair, &blocks, outs);
        });
        assert!(std::panic::catch_unwind(run).is_err(), "{}", kernels.isa());
    }
}

proptest! {
    #[test]
    fn any_blocks_are_scored_as_specified(
        groups in 1_usize..70,
        count in 1_usize..5,
        seed in any::<u64>(),
        limit in -20_000_i16..20_000,
    ) {
        let codes = 4 * groups;
        let tables = bytes(codes * FAST_TABLE_BYTES, seed);
        let query = FastQuery {
            tables: &tables,
            base: 1.0,
            step: 0.5,
            offset: 64.0,
            limit: limit.into(),
        };
        check(&query, &blocks(codes, count, seed ^ 7), codes);
    }
}
