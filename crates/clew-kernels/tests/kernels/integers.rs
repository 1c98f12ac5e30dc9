//! Distances to stored bytes and bits: every table this CPU can run, exactly.

use clew_kernels::available;
use proptest::prelude::*;

const LENGTH_MAX: usize = 300;
const ROWS: usize = 7;
const PICKS: [u32; 6] = [6, 0, 3, 3, 5, 1];

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

fn signed(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

type Block<'a, T> = dyn Fn(&[T], &[T], &mut [f32]) + 'a;
type Picked<'a, T> = dyn Fn(&[T], &[T], &[u32], &mut [f32]) + 'a;

/// What a table answers: a pair, a block of rows, picked rows.
struct Functions<'a, T> {
    pair: &'a dyn Fn(&[T], &[T]) -> f32,
    rows: &'a Block<'a, T>,
    picked: &'a Picked<'a, T>,
}

fn check<T>(
    isa: &str,
    functions: &Functions<'_, T>,
    (query, rows): (&[T], &[T]),
    exact: &dyn Fn(&[T], &[T]) -> f32,
) {
    let row = |index: usize| &rows[index * query.len()..][..query.len()];
    let expected: Vec<f32> = (0..ROWS).map(|index| exact(query, row(index))).collect();
    let mut found = vec![f32::NAN; ROWS];
    (functions.rows)(query, rows, &mut found);
    assert_eq!(found, expected, "{isa} at {}", query.len());
    for (index, &distance) in expected.iter().enumerate() {
        let pair = (functions.pair)(query, row(index));
        assert_eq!(pair, distance, "{isa} at {}", query.len());
    }
    let mut found = [f32::NAN; PICKS.len()];
    (functions.picked)(query, rows, &PICKS, &mut found);
    assert_eq!(found, PICKS.map(|pick| expected[pick as usize]), "{isa}");
}

/// The sum of `term` over all dimensions, rounded once.
fn sum<T: Copy>(a: &[T], b: &[T], term: impl Fn(T, T) -> i64) -> f32 {
    let pairs = a.iter().zip(b);
    pairs.map(|(&x, &y)| term(x, y)).sum::<i64>() as f32
}

fn check_i8(query: &[i8], rows: &[i8]) {
    let wide = |x: i8| i64::from(x);
    for kernels in available() {
        let (isa, table) = (kernels.isa(), kernels.i8());
        let dots = Functions {
            pair: &|a, b| table.dot(a, b),
            rows: &|query, rows, out| table.dot_rows(query, rows, out),
            picked: &|query, rows, picks, out| table.dot_picked(query, rows, picks, out),
        };
        check(isa, &dots, (query, rows), &|a, b| {
            sum(a, b, |x, y| wide(x) * wide(y))
        });
        let gaps = Functions {
            pair: &|a, b| table.l2(a, b),
            rows: &|query, rows, out| table.l2_rows(query, rows, out),
            picked: &|query, rows, picks, out| table.l2_picked(query, rows, picks, out),
        };
        check(isa, &gaps, (query, rows), &|a, b| {
            sum(a, b, |x, y| (wide(x) - wide(y)) * (wide(x) - wide(y)))
        });
    }
}

fn ones(byte: u8) -> i64 {
    (0..8).map(|bit| i64::from(byte >> bit & 1)).sum()
}

fn check_bits(query: &[u8], rows: &[u8]) {
    let jaccard = |a: &[u8], b: &[u8]| {
        let (both, either) = (sum(a, b, |x, y| ones(x & y)), sum(a, b, |x, y| ones(x | y)));
        if either > 0.0 {
            1.0 - both / either
        } else {
            0.0
        }
    };
    for kernels in available() {
        let (isa, table) = (kernels.isa(), kernels.bits());
        let hamming = Functions {
            pair: &|a, b| table.hamming(a, b),
            rows: &|query, rows, out| table.hamming_rows(query, rows, out),
            picked: &|query, rows, picks, out| table.hamming_picked(query, rows, picks, out),
        };
        check(isa, &hamming, (query, rows), &|a, b| {
            sum(a, b, |x, y| ones(x ^ y))
        });
        let shared = Functions {
            pair: &|a, b| table.jaccard(a, b),
            rows: &|query, rows, out| table.jaccard_rows(query, rows, out),
            picked: &|query, rows, picks, out| table.jaccard_picked(query, rows, picks, out),
        };
        check(isa, &shared, (query, rows), &jaccard);
    }
}

#[test]
fn bytes_and_bits_of_every_length_are_summed_exactly() {
    for len in 0..=LENGTH_MAX {
        let (query, rows) = (bytes(len, 2), bytes(ROWS * len, 1));
        check_i8(&signed(&query), &signed(&rows));
        check_bits(&query, &rows);
    }
}

#[test]
fn extreme_bytes_and_bits_are_summed_exactly() {
    // The last is the longest vector that a column stores.
    for len in [1, 31, 32, 63, 64, 65, 255, 256, 300, 16_000, 32_768] {
        for (x, y) in [
            (-128, -128),
            (-128, 127),
            (127, -128),
            (127, 127),
            (0, -128),
        ] {
            check_i8(&vec![x; len], &vec![y; ROWS * len]);
        }
        for (x, y) in [(0, 0), (0, 255), (255, 255), (255, 0), (1, 128)] {
            check_bits(&vec![x; len], &vec![y; ROWS * len]);
        }
    }
}

#[test]
fn vectors_that_do_not_fit_are_refused_by_every_table() {
    for kernels in available() {
        let refused = |run: &dyn Fn() -> f32| {
            let run = std::panic::AssertUnwindSafe(run);
            assert!(std::panic::catch_unwind(run).is_err(), "{}", kernels.isa());
        };
        let (bytes, bits) = (kernels.i8(), kernels.bits());
        for (a, b) in [(4, 3), (0, 1), (64, 65), (128, 127)] {
            refused(&|| bytes.dot(&vec![0; a], &vec![0; b]));
            refused(&|| bytes.l2(&vec![0; a], &vec![0; b]));
            refused(&|| bits.hamming(&vec![0; a], &vec![0; b]));
            refused(&|| bits.jaccard(&vec![0; a], &vec![0; b]));
        }
        let out = |run: &dyn Fn(&mut [f32])| {
            let mut out = [0.0];
            run(&mut out);
            out[0]
        };
        refused(&|| out(&|out| bytes.dot_picked(&[0; 4], &[0; 8], &[2], out)));
        refused(&|| out(&|out| bytes.l2_rows(&[0; 4], &[0; 8], out)));
        refused(&|| out(&|out| bits.hamming_picked(&[0; 4], &[0; 8], &[0, 1], out)));
        refused(&|| out(&|out| bits.jaccard_rows(&[0; 4], &[0; 5], out)));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_summed_exactly(len in 0..LENGTH_MAX, seed in any::<u64>()) {
        let (query, rows) = (bytes(len, seed), bytes(ROWS * len, !seed));
        check_i8(&signed(&query), &signed(&rows));
        check_bits(&query, &rows);
    }
}
