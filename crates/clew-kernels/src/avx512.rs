//! AVX-512F: sixteen lanes, four sums so that the latency of one fused multiply-add is hidden, and
//! a masked load instead of a scalar tail.

use std::arch::x86_64::*;

const LANES: usize = 16;
type Quad = [[f32; LANES]; 4];

#[inline]
#[target_feature(enable = "avx512f")]
fn load(block: &[f32; LANES]) -> __m512 {
    // SAFETY: the reference covers exactly the sixteen numbers that are read; no alignment needed.
    unsafe { _mm512_loadu_ps(block.as_ptr()) }
}

/// The up to fifteen numbers of a tail, filled up with zeros.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_tail(tail: &[f32]) -> __m512 {
    let mask = (1_u16 << (tail.len() % LANES)) - 1;
    // SAFETY: the mask has one bit for each number of the slice, and masked lanes are not read.
    unsafe { _mm512_maskz_loadu_ps(mask, tail.as_ptr()) }
}

#[inline]
fn split(vector: &[f32]) -> (&[Quad], &[[f32; LANES]], &[f32]) {
    let (lanes, tail) = vector.as_chunks::<LANES>();
    let (quads, singles) = lanes.as_chunks::<4>();
    (quads, singles, tail)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn total(sums: [__m512; 4]) -> f32 {
    let (low, high) = (
        _mm512_add_ps(sums[0], sums[1]),
        _mm512_add_ps(sums[2], sums[3]),
    );
    _mm512_reduce_add_ps(_mm512_add_ps(low, high))
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Vectors of different length have no product; the shorter one must not win silently.
    assert_eq!(a.len(), b.len());
    let (quads_a, singles_a, tail_a) = split(a);
    let (quads_b, singles_b, tail_b) = split(b);
    let mut sums = [_mm512_setzero_ps(); 4];
    for (x, y) in quads_a.iter().zip(quads_b) {
        for lane in 0..4 {
            sums[lane] = _mm512_fmadd_ps(load(&x[lane]), load(&y[lane]), sums[lane]);
        }
    }
    for (lane, (x, y)) in singles_a.iter().zip(singles_b).enumerate() {
        sums[lane % 4] = _mm512_fmadd_ps(load(x), load(y), sums[lane % 4]);
    }
    if !tail_a.is_empty() {
        sums[3] = _mm512_fmadd_ps(load_tail(tail_a), load_tail(tail_b), sums[3]);
    }
    total(sums)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn l2(a: &[f32], b: &[f32]) -> f32 {
    // As in `dot`.
    assert_eq!(a.len(), b.len());
    let (quads_a, singles_a, tail_a) = split(a);
    let (quads_b, singles_b, tail_b) = split(b);
    let mut sums = [_mm512_setzero_ps(); 4];
    for (x, y) in quads_a.iter().zip(quads_b) {
        for lane in 0..4 {
            let gap = _mm512_sub_ps(load(&x[lane]), load(&y[lane]));
            sums[lane] = _mm512_fmadd_ps(gap, gap, sums[lane]);
        }
    }
    for (lane, (x, y)) in singles_a.iter().zip(singles_b).enumerate() {
        let gap = _mm512_sub_ps(load(x), load(y));
        sums[lane % 4] = _mm512_fmadd_ps(gap, gap, sums[lane % 4]);
    }
    if !tail_a.is_empty() {
        let gap = _mm512_sub_ps(load_tail(tail_a), load_tail(tail_b));
        sums[3] = _mm512_fmadd_ps(gap, gap, sums[3]);
    }
    total(sums)
}

row_loops!(dot, dot_rows, dot_picked, #[target_feature(enable = "avx512f")]);
row_loops!(l2, l2_rows, l2_picked, #[target_feature(enable = "avx512f")]);
