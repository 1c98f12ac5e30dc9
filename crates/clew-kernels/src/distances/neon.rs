//! NEON: four floats or sixteen bytes per step. The baseline of aarch64 is enough.

use std::arch::aarch64::*;

use half::{bf16, f16};

const LANES: usize = 4;
const BYTES: usize = 16;

#[inline]
#[target_feature(enable = "neon")]
fn zero() -> float32x4_t {
    vdupq_n_f32(0.0)
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
fn dot_step(x: float32x4_t, y: float32x4_t, sum: float32x4_t) -> float32x4_t {
    vfmaq_f32(sum, x, y)
}

#[inline]
#[target_feature(enable = "neon")]
fn l2_step(x: float32x4_t, y: float32x4_t, sum: float32x4_t) -> float32x4_t {
    let gap = vsubq_f32(x, y);
    vfmaq_f32(sum, gap, gap)
}

/// What is left of a vector, filled up with zeros.
#[inline]
fn padded<T: Copy + Default, const N: usize>(tail: &[T]) -> [T; N] {
    let mut block = [T::default(); N];
    block[..tail.len()].copy_from_slice(tail);
    block
}

#[inline]
#[target_feature(enable = "neon")]
fn load_f32(block: &[f32; LANES]) -> float32x4_t {
    // SAFETY: the reference covers exactly the four numbers that are read; no alignment needed.
    unsafe { vld1q_f32(block.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn tail_f32(tail: &[f32]) -> float32x4_t {
    load_f32(&padded(tail))
}

/// A number of 16 bits.
trait Half {}
impl Half for f16 {}
impl Half for bf16 {}

#[inline]
#[target_feature(enable = "neon")]
fn load_half<T: Half>(block: &[T; LANES]) -> uint16x4_t {
    // SAFETY: the reference covers exactly the four numbers that are read; no alignment needed.
    unsafe { vld1_u16(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_f16(block: &[f16; LANES]) -> float32x4_t {
    vcvt_f32_f16(vreinterpret_f16_u16(load_half(block)))
}

#[inline]
#[target_feature(enable = "neon")]
fn tail_f16(tail: &[f16]) -> float32x4_t {
    load_f16(&padded(tail))
}

/// A `bf16` is the upper half of the `f32` that it stands for.
#[inline]
#[target_feature(enable = "neon")]
fn load_bf16(block: &[bf16; LANES]) -> float32x4_t {
    vreinterpretq_f32_u32(vshll_n_u16::<16>(load_half(block)))
}

#[inline]
#[target_feature(enable = "neon")]
fn tail_bf16(tail: &[bf16]) -> float32x4_t {
    load_bf16(&padded(tail))
}

float_kernels!(float32, f32, (load_f32, tail_f32), #[target_feature(enable = "neon")]);
float_kernels!(float16, f16, (load_f16, tail_f16), #[target_feature(enable = "neon")]);
float_kernels!(bfloat16, bf16, (load_bf16, tail_bf16), #[target_feature(enable = "neon")]);

/// Defines `$name`: the sum of `$step` over the bytes of a query and a row.
macro_rules! byte_kernel {
    ($name:ident, $item:ty, ($zero:expr, $step:ident, $finish:expr)) => {
        #[inline]
        #[target_feature(enable = "neon")]
        pub(crate) fn $name(query: &[$item], row: &[$item]) -> f32 {
            // Vectors of different length have no distance; the shorter one must not win silently.
            assert_eq!(query.len(), row.len());
            let ((blocks_a, tail_a), (blocks_b, tail_b)) = (query.as_chunks(), row.as_chunks());
            let mut sum = $zero;
            for (x, y) in blocks_a.iter().zip(blocks_b) {
                sum = $step(load(x), load(y), sum);
            }
            if !tail_a.is_empty() {
                sum = $step(load(&padded(tail_a)), load(&padded(tail_b)), sum);
            }
            $finish(sum)
        }
    };
}

/// Signed bytes. Sums are those of 32-bit integers, rounded once at the end.
#[allow(
    clippy::cast_precision_loss,
    reason = "the exact sum is rounded once, to `f32`"
)]
pub(crate) mod int8 {
    use super::*;

    #[inline]
    #[target_feature(enable = "neon")]
    fn load(block: &[i8; BYTES]) -> int8x16_t {
        // SAFETY: the reference covers exactly the sixteen bytes that are read; no alignment needed.
        unsafe { vld1q_s8(block.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn dot_step(x: int8x16_t, y: int8x16_t, sum: int32x4_t) -> int32x4_t {
        let low = vmull_s8(vget_low_s8(x), vget_low_s8(y));
        vpadalq_s16(vpadalq_s16(sum, low), vmull_high_s8(x, y))
    }

    /// The gap of two bytes fits into eight bits without a sign.
    #[inline]
    #[target_feature(enable = "neon")]
    fn l2_step(x: int8x16_t, y: int8x16_t, sum: uint32x4_t) -> uint32x4_t {
        let gap = vreinterpretq_u8_s8(vabdq_s8(x, y));
        let low = vmull_u8(vget_low_u8(gap), vget_low_u8(gap));
        vpadalq_u16(vpadalq_u16(sum, low), vmull_high_u8(gap, gap))
    }

    byte_kernel!(
        dot,
        i8,
        (vdupq_n_s32(0), dot_step, |sum| vaddvq_s32(sum) as f32)
    );
    byte_kernel!(
        l2,
        i8,
        (vdupq_n_u32(0), l2_step, |sum| vaddvq_u32(sum) as f32)
    );
    row_loops!((i8, i8), dot, dot_rows, dot_picked, #[target_feature(enable = "neon")]);
    row_loops!((i8, i8), l2, l2_rows, l2_picked, #[target_feature(enable = "neon")]);
}

/// Bits.
#[allow(
    clippy::cast_precision_loss,
    reason = "a vector has fewer than 2^24 bits"
)]
pub(crate) mod bits {
    use super::*;
    use crate::distances::jaccard_distance;

    #[inline]
    #[target_feature(enable = "neon")]
    fn load(block: &[u8; BYTES]) -> uint8x16_t {
        // SAFETY: the reference covers exactly the sixteen bytes that are read; no alignment needed.
        unsafe { vld1q_u8(block.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn add_ones(sum: uint32x4_t, bytes: uint8x16_t) -> uint32x4_t {
        vpadalq_u16(sum, vpaddlq_u8(vcntq_u8(bytes)))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn differ(x: uint8x16_t, y: uint8x16_t, sum: uint32x4_t) -> uint32x4_t {
        add_ones(sum, veorq_u8(x, y))
    }

    /// Adds the bits set in both and in either.
    #[inline]
    #[target_feature(enable = "neon")]
    fn share(x: uint8x16_t, y: uint8x16_t, [both, either]: [uint32x4_t; 2]) -> [uint32x4_t; 2] {
        [
            add_ones(both, vandq_u8(x, y)),
            add_ones(either, vorrq_u8(x, y)),
        ]
    }

    byte_kernel!(
        hamming,
        u8,
        (vdupq_n_u32(0), differ, |sum| vaddvq_u32(sum) as f32)
    );
    byte_kernel!(
        jaccard,
        u8,
        ([vdupq_n_u32(0); 2], share, |sums: [uint32x4_t; 2]| {
            jaccard_distance([vaddvq_u32(sums[0]).into(), vaddvq_u32(sums[1]).into()])
        })
    );
    row_loops!((u8, u8), hamming, hamming_rows, hamming_picked, #[target_feature(enable = "neon")]);
    row_loops!((u8, u8), jaccard, jaccard_rows, jaccard_picked, #[target_feature(enable = "neon")]);
}
