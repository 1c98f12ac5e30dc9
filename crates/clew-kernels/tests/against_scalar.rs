//! Every table this CPU can run, against sums in `f64`.

use clew_kernels::{Kernels, available, kernels, prefetch, prefetch_span};
use proptest::prelude::*;

const LENGTH_MAX: usize = 300;

fn exact_dot(a: &[f32], b: &[f32]) -> (f64, f64) {
    let terms = a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y));
    terms.fold((0.0, 0.0), |(sum, size), term| {
        (sum + term, size + term.abs())
    })
}

fn exact_l2(a: &[f32], b: &[f32]) -> (f64, f64) {
    let gaps = a.iter().zip(b).map(|(x, y)| f64::from(*x) - f64::from(*y));
    let sum = gaps.map(|gap| gap * gap).sum();
    (sum, sum)
}

/// Each of `len` additions rounds once, relative to the sum of magnitudes; a product may also lose
/// a denormal. Sums beyond the range of `f32` are left out: their order of addition decides them.
fn check(what: &str, kernels: &Kernels, actual: f32, (expected, size): (f64, f64), len: usize) {
    if size > f64::from(f32::MAX) / 4.0 {
        return;
    }
    let rounding = f64::from(f32::EPSILON) * size * (len as f64 + 2.0);
    let denormal = f64::from(f32::MIN_POSITIVE) * (len as f64 + 1.0);
    let gap = (f64::from(actual) - expected).abs();
    assert!(
        gap <= rounding + denormal,
        "{what} of {} at length {len}: {actual} instead of {expected}",
        kernels.isa()
    );
}

fn check_pair(a: &[f32], b: &[f32]) {
    for kernels in available() {
        check("dot", &kernels, kernels.dot(a, b), exact_dot(a, b), a.len());
        check("l2", &kernels, kernels.l2(a, b), exact_l2(a, b), a.len());
    }
}

/// Blocks and picks must answer what the pair function answers, to the bit.
fn check_rows(query: &[f32], rows: &[f32], count: usize, picks: &[u32]) {
    for kernels in available() {
        let row = |index: usize| &rows[index * query.len()..(index + 1) * query.len()];
        let (mut dots, mut gaps) = (vec![0.0; count], vec![0.0; count]);
        kernels.dot_rows(query, rows, &mut dots);
        kernels.l2_rows(query, rows, &mut gaps);
        for index in 0..count {
            assert_eq!(dots[index], kernels.dot(query, row(index)));
            assert_eq!(gaps[index], kernels.l2(query, row(index)));
        }
        let (mut some_dots, mut some_gaps) = (vec![0.0; picks.len()], vec![0.0; picks.len()]);
        kernels.dot_picked(query, rows, picks, &mut some_dots);
        kernels.l2_picked(query, rows, picks, &mut some_gaps);
        for (slot, &pick) in picks.iter().enumerate() {
            assert_eq!(some_dots[slot], dots[pick as usize]);
            assert_eq!(some_gaps[slot], gaps[pick as usize]);
        }
    }
}

/// A plain multiplicative generator: the same numbers in every run.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        ((state >> 40) as f32 / (1_u64 << 23) as f32) - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[test]
fn every_length_and_every_start_agrees_with_the_exact_sum() {
    let (a, b) = (numbers(LENGTH_MAX + 16, 1), numbers(LENGTH_MAX + 16, 2));
    for len in 0..LENGTH_MAX {
        for start in [0, 1, 3, 7, 15] {
            check_pair(&a[start..start + len], &b[(start * 5) % 16..][..len]);
        }
    }
}

#[test]
fn zeros_huge_and_tiny_numbers_agree_with_the_exact_sum() {
    let specials = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e18,
        -1e18,
        1e-22,
        -1e-22,
        f32::MIN_POSITIVE,
        1e-40,
    ];
    for len in 0..LENGTH_MAX {
        for shift in 1..specials.len() {
            let pick = |index: usize| specials[index % specials.len()];
            let a: Vec<f32> = (0..len).map(pick).collect();
            let b: Vec<f32> = (0..len).map(|index| pick(index * shift + 3)).collect();
            check_pair(&a, &b);
        }
    }
}

#[test]
fn equal_vectors_have_no_distance() {
    for len in 0..LENGTH_MAX {
        let a = numbers(len, 9);
        for kernels in available() {
            assert_eq!(kernels.l2(&a, &a), 0.0, "{}", kernels.isa());
        }
    }
}

#[test]
fn blocks_and_picks_agree_with_single_pairs_for_every_length() {
    for len in 0..LENGTH_MAX {
        let (query, rows) = (numbers(len, 3), numbers(len * 7, 4));
        check_rows(&query, &rows, 7, &[6, 0, 3, 3]);
    }
}

#[test]
fn vectors_of_different_length_are_refused_by_every_table() {
    for kernels in available() {
        for (a, b) in [(16, 17), (0, 1), (64, 63)] {
            let (a, b) = (vec![0.0; a], vec![0.0; b]);
            assert!(std::panic::catch_unwind(|| kernels.dot(&a, &b)).is_err());
            assert!(std::panic::catch_unwind(|| kernels.l2(&a, &b)).is_err());
        }
        let outside = || kernels.dot_picked(&[1.0; 4], &[0.0; 8], &[2], &mut [0.0]);
        assert!(std::panic::catch_unwind(outside).is_err());
    }
}

#[test]
fn the_chosen_table_is_the_last_available_one() {
    let best = available().pop().unwrap();
    assert_eq!(kernels().isa(), best.isa());
}

#[test]
fn prefetching_outside_a_slice_does_nothing() {
    let slice = [0_u32; 40];
    prefetch(&slice, 39);
    prefetch(&slice, usize::MAX);
    prefetch_span(&slice, 30, usize::MAX);
    prefetch_span(&slice, 41, 1);
    prefetch_span::<u64>(&[], 0, 0);
}

fn magnitude() -> impl Strategy<Value = f32> {
    (-1.0_f32..1.0, -20_i32..18).prop_map(|(unit, exponent)| unit * 10_f32.powi(exponent))
}

proptest! {
    #[test]
    fn any_mixture_of_magnitudes_agrees_with_the_exact_sum(
        pairs in prop::collection::vec((magnitude(), magnitude()), 0..LENGTH_MAX)
    ) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
        check_pair(&a, &b);
    }
}
