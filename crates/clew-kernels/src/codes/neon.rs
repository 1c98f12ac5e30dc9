//! NEON: sixteen bytes per step. Products are taken in 16 bits, so that the baseline of aarch64 is
//! enough.

use std::arch::aarch64::*;

const LANES: usize = 16;

#[inline]
#[target_feature(enable = "neon")]
fn load_u8(block: &[u8; LANES]) -> uint8x16_t {
    // SAFETY: the reference covers exactly the sixteen bytes that are read; no alignment needed.
    unsafe { vld1q_u8(block.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_i8(block: &[i8; LANES]) -> int8x16_t {
    // SAFETY: the reference covers exactly the sixteen bytes that are read; no alignment needed.
    unsafe { vld1q_s8(block.as_ptr()) }
}

/// A tail filled up with zeros.
#[inline]
fn padded<T: Copy + Default>(tail: &[T]) -> [T; LANES] {
    let mut block = [T::default(); LANES];
    block[..tail.len()].copy_from_slice(tail);
    block
}

/// Adds the products of two rows of signed bytes.
#[inline]
#[target_feature(enable = "neon")]
fn add_products(sum: int32x4_t, x: int8x16_t, y: int8x16_t) -> int32x4_t {
    let low = vmull_s8(vget_low_s8(x), vget_low_s8(y));
    vpadalq_s16(vpadalq_s16(sum, low), vmull_high_s8(x, y))
}

#[inline]
#[target_feature(enable = "neon")]
fn add_halves(
    sum: int32x4_t,
    codes: &[u8; LANES],
    low: &[i8; LANES],
    high: &[i8; LANES],
) -> int32x4_t {
    let codes = load_u8(codes);
    let bottom = vreinterpretq_s8_u8(vandq_u8(codes, vdupq_n_u8(15)));
    let top = vreinterpretq_s8_u8(vshrq_n_u8::<4>(codes));
    add_products(add_products(sum, bottom, load_i8(low)), top, load_i8(high))
}

#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn dot_u4(query: &[i8], row: &[u8]) -> i32 {
    // Half of the dimensions would otherwise be multiplied with another's number.
    assert_eq!(query.len(), 2 * row.len());
    let (low, high) = query.split_at(row.len());
    let ((low, low_tail), (high, high_tail)) = (low.as_chunks(), high.as_chunks());
    let (blocks, tail) = row.as_chunks();
    let mut sum = vdupq_n_s32(0);
    for ((block, x), y) in blocks.iter().zip(low).zip(high) {
        sum = add_halves(sum, block, x, y);
    }
    if !tail.is_empty() {
        sum = add_halves(sum, &padded(tail), &padded(low_tail), &padded(high_tail));
    }
    vaddvq_s32(sum)
}

/// Adds the numbers whose bit is set.
#[inline]
#[target_feature(enable = "neon")]
fn add_set(sum: int32x4_t, bits: [u8; 2], query: &[i8; LANES]) -> int32x4_t {
    let spread = vcombine_u8(vdup_n_u8(bits[0]), vdup_n_u8(bits[1]));
    let each = vcreate_u8(0x8040_2010_0804_0201);
    let mask = vtstq_u8(spread, vcombine_u8(each, each));
    let kept = vandq_s8(load_i8(query), vreinterpretq_s8_u8(mask));
    vpadalq_s16(sum, vpaddlq_s8(kept))
}

#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn dot_u1(query: &[i8], row: &[u8]) -> i32 {
    // A bit without a number, or a number without a bit, has no meaning.
    assert!(query.len().is_multiple_of(8) && query.len() / 8 <= row.len());
    let row = &row[..query.len() / 8];
    let (words, bits_tail) = row.as_chunks::<2>();
    let (blocks, tail) = query.as_chunks();
    let mut sum = vdupq_n_s32(0);
    for (word, block) in words.iter().zip(blocks) {
        sum = add_set(sum, *word, block);
    }
    if !tail.is_empty() {
        sum = add_set(sum, [bits_tail[0], 0], &padded(tail));
    }
    vaddvq_s32(sum)
}

score_rows!(#[target_feature(enable = "neon")]);
code_rows!(dot_u1, dot_u1_picked, u8, #[target_feature(enable = "neon")]);
