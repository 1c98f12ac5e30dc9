//! AVX2 with FMA: eight lanes, four sums so that the latency of one fused multiply-add is hidden.

use std::arch::x86_64::*;

const LANES: usize = 8;
type Quad = [[f32; LANES]; 4];

#[inline]
#[target_feature(enable = "avx2,fma")]
fn load(block: &[f32; LANES]) -> __m256 {
    // SAFETY: the reference covers exactly the eight numbers that are read; no alignment needed.
    unsafe { _mm256_loadu_ps(block.as_ptr()) }
}

/// The up to seven numbers of a tail, filled up with zeros.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn load_tail(tail: &[f32]) -> __m256 {
    let mut block = [0.0; LANES];
    block[..tail.len()].copy_from_slice(tail);
    load(&block)
}

#[inline]
fn split(vector: &[f32]) -> (&[Quad], &[[f32; LANES]], &[f32]) {
    let (lanes, tail) = vector.as_chunks::<LANES>();
    let (quads, singles) = lanes.as_chunks::<4>();
    (quads, singles, tail)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn total(sums: [__m256; 4]) -> f32 {
    let sum = _mm256_add_ps(
        _mm256_add_ps(sums[0], sums[1]),
        _mm256_add_ps(sums[2], sums[3]),
    );
    let half = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps::<1>(sum));
    let pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
    _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps::<1>(pair, pair)))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Vectors of different length have no product; the shorter one must not win silently.
    assert_eq!(a.len(), b.len());
    let (quads_a, singles_a, tail_a) = split(a);
    let (quads_b, singles_b, tail_b) = split(b);
    let mut sums = [_mm256_setzero_ps(); 4];
    for (x, y) in quads_a.iter().zip(quads_b) {
        for lane in 0..4 {
            sums[lane] = _mm256_fmadd_ps(load(&x[lane]), load(&y[lane]), sums[lane]);
        }
    }
    for (lane, (x, y)) in singles_a.iter().zip(singles_b).enumerate() {
        sums[lane % 4] = _mm256_fmadd_ps(load(x), load(y), sums[lane % 4]);
    }
    if !tail_a.is_empty() {
        sums[3] = _mm256_fmadd_ps(load_tail(tail_a), load_tail(tail_b), sums[3]);
    }
    total(sums)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn l2(a: &[f32], b: &[f32]) -> f32 {
    // As in `dot`.
    assert_eq!(a.len(), b.len());
    let (quads_a, singles_a, tail_a) = split(a);
    let (quads_b, singles_b, tail_b) = split(b);
    let mut sums = [_mm256_setzero_ps(); 4];
    for (x, y) in quads_a.iter().zip(quads_b) {
        for lane in 0..4 {
            let gap = _mm256_sub_ps(load(&x[lane]), load(&y[lane]));
            sums[lane] = _mm256_fmadd_ps(gap, gap, sums[lane]);
        }
    }
    for (lane, (x, y)) in singles_a.iter().zip(singles_b).enumerate() {
        let gap = _mm256_sub_ps(load(x), load(y));
        sums[lane % 4] = _mm256_fmadd_ps(gap, gap, sums[lane % 4]);
    }
    if !tail_a.is_empty() {
        let gap = _mm256_sub_ps(load_tail(tail_a), load_tail(tail_b));
        sums[3] = _mm256_fmadd_ps(gap, gap, sums[3]);
    }
    total(sums)
}

row_loops!(dot, dot_rows, dot_picked, #[target_feature(enable = "avx2,fma")]);
row_loops!(l2, l2_rows, l2_picked, #[target_feature(enable = "avx2,fma")]);
