//! NEON: four lanes, four sums so that the latency of one fused multiply-add is hidden.

use std::arch::aarch64::*;

const LANES: usize = 4;
type Quad = [[f32; LANES]; 4];

#[inline]
#[target_feature(enable = "neon")]
fn load(block: &[f32; LANES]) -> float32x4_t {
    // SAFETY: the reference covers exactly the four numbers that are read; no alignment needed.
    unsafe { vld1q_f32(block.as_ptr()) }
}

/// The up to three numbers of a tail, filled up with zeros.
#[inline]
#[target_feature(enable = "neon")]
fn load_tail(tail: &[f32]) -> float32x4_t {
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
#[target_feature(enable = "neon")]
fn total(sums: [float32x4_t; 4]) -> f32 {
    vaddvq_f32(vaddq_f32(
        vaddq_f32(sums[0], sums[1]),
        vaddq_f32(sums[2], sums[3]),
    ))
}

#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Vectors of different length have no product; the shorter one must not win silently.
    assert_eq!(a.len(), b.len());
    let (quads_a, singles_a, tail_a) = split(a);
    let (quads_b, singles_b, tail_b) = split(b);
    let mut sums = [vdupq_n_f32(0.0); 4];
    for (x, y) in quads_a.iter().zip(quads_b) {
        for lane in 0..4 {
            sums[lane] = vfmaq_f32(sums[lane], load(&x[lane]), load(&y[lane]));
        }
    }
    for (lane, (x, y)) in singles_a.iter().zip(singles_b).enumerate() {
        sums[lane % 4] = vfmaq_f32(sums[lane % 4], load(x), load(y));
    }
    if !tail_a.is_empty() {
        sums[3] = vfmaq_f32(sums[3], load_tail(tail_a), load_tail(tail_b));
    }
    total(sums)
}

#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn l2(a: &[f32], b: &[f32]) -> f32 {
    // As in `dot`.
    assert_eq!(a.len(), b.len());
    let (quads_a, singles_a, tail_a) = split(a);
    let (quads_b, singles_b, tail_b) = split(b);
    let mut sums = [vdupq_n_f32(0.0); 4];
    for (x, y) in quads_a.iter().zip(quads_b) {
        for lane in 0..4 {
            let gap = vsubq_f32(load(&x[lane]), load(&y[lane]));
            sums[lane] = vfmaq_f32(sums[lane], gap, gap);
        }
    }
    for (lane, (x, y)) in singles_a.iter().zip(singles_b).enumerate() {
        let gap = vsubq_f32(load(x), load(y));
        sums[lane % 4] = vfmaq_f32(sums[lane % 4], gap, gap);
    }
    if !tail_a.is_empty() {
        let gap = vsubq_f32(load_tail(tail_a), load_tail(tail_b));
        sums[3] = vfmaq_f32(sums[3], gap, gap);
    }
    total(sums)
}

row_loops!(dot, dot_rows, dot_picked, #[target_feature(enable = "neon")]);
row_loops!(l2, l2_rows, l2_picked, #[target_feature(enable = "neon")]);
