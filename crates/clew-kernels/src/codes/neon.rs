//! NEON: sixteen bytes per step. Products are taken in 16 bits, so that the baseline of aarch64 is
//! enough.

use std::arch::aarch64::*;

use crate::codes::rows::quarters;

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

#[inline]
#[target_feature(enable = "neon")]
fn add_quarters(sum: int32x4_t, codes: &[u8; LANES], parts: [&[i8; LANES]; 4]) -> int32x4_t {
    let (codes, mask) = (load_u8(codes), vdupq_n_u8(3));
    let [a, b, c, d] = parts;
    let first = vreinterpretq_s8_u8(vandq_u8(codes, mask));
    let second = vreinterpretq_s8_u8(vandq_u8(vshrq_n_u8::<2>(codes), mask));
    let third = vreinterpretq_s8_u8(vandq_u8(vshrq_n_u8::<4>(codes), mask));
    let fourth = vreinterpretq_s8_u8(vshrq_n_u8::<6>(codes));
    let sum = add_products(add_products(sum, first, load_i8(a)), second, load_i8(b));
    add_products(add_products(sum, third, load_i8(c)), fourth, load_i8(d))
}

#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn dot_u2(query: &[i8], row: &[u8]) -> i32 {
    let [a, b, c, d] = quarters(query, row.len());
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks(), b.as_chunks());
    let ((c, c_tail), (d, d_tail)) = (c.as_chunks(), d.as_chunks());
    let (blocks, tail) = row.as_chunks();
    let mut sum = vdupq_n_s32(0);
    let parts = a.iter().zip(b).zip(c.iter().zip(d));
    for (block, ((a, b), (c, d))) in blocks.iter().zip(parts) {
        sum = add_quarters(sum, block, [a, b, c, d]);
    }
    if !tail.is_empty() {
        let (a, b) = (padded(a_tail), padded(b_tail));
        let (c, d) = (padded(c_tail), padded(d_tail));
        sum = add_quarters(sum, &padded(tail), [&a, &b, &c, &d]);
    }
    vaddvq_s32(sum)
}

/// Products are taken in 32 bits: those of an unsigned and a signed byte have no instruction of
/// their own.
#[inline]
#[target_feature(enable = "neon")]
fn add_mixed(sum: int32x4_t, codes: &[u8; LANES], query: &[i8; LANES]) -> int32x4_t {
    let (codes, query) = (load_u8(codes), load_i8(query));
    let (low, high) = (
        vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(codes))),
        vreinterpretq_s16_u16(vmovl_high_u8(codes)),
    );
    let (x, y) = (vmovl_s8(vget_low_s8(query)), vmovl_high_s8(query));
    let sum = vmlal_s16(sum, vget_low_s16(low), vget_low_s16(x));
    let sum = vmlal_high_s16(sum, low, x);
    let sum = vmlal_s16(sum, vget_low_s16(high), vget_low_s16(y));
    vmlal_high_s16(sum, high, y)
}

#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn dot_u8(query: &[i8], row: &[u8]) -> i32 {
    // As in `dot_u4`.
    assert_eq!(query.len(), row.len());
    let ((blocks, tail), (numbers, number_tail)) = (row.as_chunks(), query.as_chunks());
    let mut sum = vdupq_n_s32(0);
    for (block, x) in blocks.iter().zip(numbers) {
        sum = add_mixed(sum, block, x);
    }
    if !tail.is_empty() {
        sum = add_mixed(sum, &padded(tail), &padded(number_tail));
    }
    vaddvq_s32(sum)
}

score_rows!(dot_u1, score_u1_picked, #[target_feature(enable = "neon")]);
score_rows!(dot_u2, score_u2_picked, #[target_feature(enable = "neon")]);
score_rows!(dot_u4, score_u4_picked, #[target_feature(enable = "neon")]);
score_rows!(dot_u8, score_u8_picked, #[target_feature(enable = "neon")]);
code_rows!(dot_u1, dot_u1_picked, u8, #[target_feature(enable = "neon")]);
