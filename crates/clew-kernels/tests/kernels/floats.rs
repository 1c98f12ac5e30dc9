//! Distances to stored floats: every table this CPU can run, against sums in `f64`.

use clew_kernels::{Distances, Kernels, available, kernels, prefetch, prefetch_span};
use half::{bf16, f16};
use proptest::prelude::*;

const LENGTH_MAX: usize = 300;

/// A type that is stored, and its table.
trait Stored: Copy + Into<f64> + std::fmt::Debug + 'static {
    const NAME: &'static str;
    fn round(number: f32) -> Self;
    fn table(kernels: &Kernels) -> &Distances<f32, Self>;
}

impl Stored for f32 {
    const NAME: &'static str = "f32";
    fn round(number: f32) -> Self {
        number
    }
    fn table(kernels: &Kernels) -> &Distances<f32, Self> {
        kernels.f32()
    }
}

impl Stored for f16 {
    const NAME: &'static str = "f16";
    fn round(number: f32) -> Self {
        f16::from_f32(number.clamp(-65_504.0, 65_504.0))
    }
    fn table(kernels: &Kernels) -> &Distances<f32, Self> {
        kernels.f16()
    }
}

impl Stored for bf16 {
    const NAME: &'static str = "bf16";
    fn round(number: f32) -> Self {
        bf16::from_f32(number)
    }
    fn table(kernels: &Kernels) -> &Distances<f32, Self> {
        kernels.bf16()
    }
}

fn rounded<T: Stored>(numbers: &[f32]) -> Vec<T> {
    numbers.iter().map(|&number| T::round(number)).collect()
}

fn exact_dot<T: Stored>(a: &[f32], b: &[T]) -> (f64, f64) {
    let terms = a.iter().zip(b).map(|(&x, &y)| f64::from(x) * y.into());
    terms.fold((0.0, 0.0), |(sum, size), term| {
        (sum + term, size + term.abs())
    })
}

fn exact_l2<T: Stored>(a: &[f32], b: &[T]) -> (f64, f64) {
    let gaps = a.iter().zip(b).map(|(&x, &y)| f64::from(x) - y.into());
    let sum = gaps.map(|gap| gap * gap).sum();
    (sum, sum)
}

/// Each of `len` additions rounds once, relative to the sum of magnitudes; a product may also lose
/// a denormal. Sums beyond the range of `f32` are left out: their order of addition decides them.
fn check(what: &str, actual: f32, (expected, size): (f64, f64), len: usize) {
    if size > f64::from(f32::MAX) / 4.0 {
        return;
    }
    let rounding = f64::from(f32::EPSILON) * size * (len as f64 + 2.0);
    let denormal = f64::from(f32::MIN_POSITIVE) * (len as f64 + 1.0);
    let gap = (f64::from(actual) - expected).abs();
    assert!(
        gap <= rounding + denormal,
        "{what} at length {len}: {actual} instead of {expected}"
    );
}

fn check_pair<T: Stored>(a: &[f32], b: &[T]) {
    for kernels in available() {
        let table = T::table(&kernels);
        let what = |which: &str| format!("{which} of {} of {}", T::NAME, kernels.isa());
        check(&what("dot"), table.dot(a, b), exact_dot(a, b), a.len());
        check(&what("l2"), table.l2(a, b), exact_l2(a, b), a.len());
    }
}

fn check_types(a: &[f32], b: &[f32]) {
    check_pair::<f32>(a, b);
    check_pair::<f16>(a, &rounded(b));
    check_pair::<bf16>(a, &rounded(b));
}

/// Blocks and picks must answer what the pair function answers, to the bit.
fn check_rows<T: Stored>(query: &[f32], rows: &[T], count: usize, picks: &[u32]) {
    for kernels in available() {
        let table = T::table(&kernels);
        let row = |index: usize| &rows[index * query.len()..(index + 1) * query.len()];
        let (mut dots, mut gaps) = (vec![0.0; count], vec![0.0; count]);
        table.dot_rows(query, rows, &mut dots);
        table.l2_rows(query, rows, &mut gaps);
        for index in 0..count {
            assert_eq!(dots[index], table.dot(query, row(index)));
            assert_eq!(gaps[index], table.l2(query, row(index)));
        }
        let (mut some_dots, mut some_gaps) = (vec![0.0; picks.len()], vec![0.0; picks.len()]);
        table.dot_picked(query, rows, picks, &mut some_dots);
        table.l2_picked(query, rows, picks, &mut some_gaps);
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
    for len in 0..=LENGTH_MAX {
        for start in [0, 1, 3, 7, 15] {
            check_types(&a[start..start + len], &b[(start * 5) % 16..][..len]);
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
    for len in 0..=LENGTH_MAX {
        for shift in 1..specials.len() {
            let pick = |index: usize| specials[index % specials.len()];
            let a: Vec<f32> = (0..len).map(pick).collect();
            let b: Vec<f32> = (0..len).map(|index| pick(index * shift + 3)).collect();
            check_types(&a, &b);
        }
    }
}

#[test]
fn equal_vectors_have_no_distance() {
    for len in 0..=LENGTH_MAX {
        let a = numbers(len, 9);
        for kernels in available() {
            assert_eq!(kernels.f32().l2(&a, &a), 0.0, "{}", kernels.isa());
            let halves: Vec<f16> = rounded(&a);
            let wide: Vec<f32> = halves.iter().map(|&x| f32::from(x)).collect();
            assert_eq!(kernels.f16().l2(&wide, &halves), 0.0, "{}", kernels.isa());
        }
    }
}

#[test]
fn blocks_and_picks_agree_with_single_pairs_for_every_length() {
    for len in 0..=LENGTH_MAX {
        let (query, rows) = (numbers(len, 3), numbers(len * 7, 4));
        let picks = [6, 0, 3, 3, 5, 1];
        check_rows::<f32>(&query, &rows, 7, &picks);
        check_rows::<f16>(&query, &rounded(&rows), 7, &picks);
        check_rows::<bf16>(&query, &rounded(&rows), 7, &picks);
    }
}

fn check_refused<T: Stored + std::panic::RefUnwindSafe>(kernels: &Kernels, a: &[f32], b: &[f32]) {
    let (table, b) = (T::table(kernels), rounded::<T>(b));
    assert!(std::panic::catch_unwind(|| table.dot(a, &b)).is_err());
    assert!(std::panic::catch_unwind(|| table.l2(a, &b)).is_err());
}

/// Every number that 16 bits can store is widened to the same `f32`: no type or subnormal is lost.
#[test]
fn every_16_bit_number_is_widened_exactly() {
    for start in (0..=u16::MAX).step_by(256) {
        let bits: Vec<u16> = (start..=start + 255).collect();
        for kernels in available() {
            for &bits in &bits {
                // Eighteen of them: in full registers, and in the tail behind.
                let (x, y) = (f16::from_bits(bits), bf16::from_bits(bits));
                let mut ones = [0.0; 18];
                for at in [0, 15, 17] {
                    ones[at] = 1.0;
                    check_widened(kernels.f16().dot(&ones, &in_place(x, at)), f32::from(x));
                    check_widened(kernels.bf16().dot(&ones, &in_place(y, at)), f32::from(y));
                    ones[at] = 0.0;
                }
            }
        }
    }
}

fn in_place<T: Copy + Default>(number: T, at: usize) -> [T; 18] {
    let mut row = [T::default(); 18];
    row[at] = number;
    row
}

fn check_widened(found: f32, wanted: f32) {
    assert!(
        found == wanted || found.is_nan() && wanted.is_nan(),
        "{found} instead of {wanted}"
    );
}

#[test]
fn vectors_of_different_length_are_refused_by_every_table() {
    for kernels in available() {
        for (a, b) in [(16, 17), (0, 1), (64, 63)] {
            let (a, b) = (vec![0.0; a], vec![0.0; b]);
            check_refused::<f32>(&kernels, &a, &b);
            check_refused::<f16>(&kernels, &a, &b);
            check_refused::<bf16>(&kernels, &a, &b);
        }
        let outside = || {
            let table = kernels.f32();
            table.dot_picked(&[1.0; 4], &[0.0; 8], &[2], &mut [0.0]);
        };
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
    (any::<i16>(), -20_i32..18)
        .prop_map(|(unit, exponent)| f32::from(unit) / 32_768.0 * 10_f32.powi(exponent))
}

proptest! {
    #[test]
    fn any_mixture_of_magnitudes_agrees_with_the_exact_sum(
        pairs in prop::collection::vec((magnitude(), magnitude()), 0..LENGTH_MAX)
    ) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
        check_types(&a, &b);
    }
}
