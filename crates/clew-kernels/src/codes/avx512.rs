//! AVX-512 with VNNI: 64 products of an unsigned and a signed byte per instruction.

use std::arch::x86_64::*;

use crate::codes::rows::quarters;

const LANES: usize = 64;

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load<T: Byte>(block: &[T; LANES]) -> __m512i {
    // SAFETY: the reference covers exactly the 64 bytes that are read; no alignment needed.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// The up to 63 bytes of a tail, filled up with zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_tail<T: Byte>(tail: &[T]) -> __m512i {
    let mask = (1_u64 << (tail.len() % LANES)) - 1;
    // SAFETY: the mask has one bit for each byte of the slice, and masked lanes are not read.
    unsafe { _mm512_maskz_loadu_epi8(mask, tail.as_ptr().cast()) }
}

/// One byte of a code or of a query.
trait Byte {}
impl Byte for u8 {}
impl Byte for i8 {}

/// Sums of products of the four bits at the bottom of each byte and at its top.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn halves(sums: [__m512i; 2], codes: __m512i, low: __m512i, high: __m512i) -> [__m512i; 2] {
    let mask = _mm512_set1_epi8(15);
    let bottom = _mm512_and_si512(codes, mask);
    let top = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), mask);
    [
        _mm512_dpbusd_epi32(sums[0], bottom, low),
        _mm512_dpbusd_epi32(sums[1], top, high),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(crate) fn dot_u4(query: &[i8], row: &[u8]) -> i32 {
    // Half of the dimensions would otherwise be multiplied with another's number.
    assert_eq!(query.len(), 2 * row.len());
    let (low, high) = query.split_at(row.len());
    let ((low, low_tail), (high, high_tail)) = (low.as_chunks(), high.as_chunks());
    let (blocks, tail) = row.as_chunks();
    let mut sums = [_mm512_setzero_si512(); 2];
    for ((block, x), y) in blocks.iter().zip(low).zip(high) {
        sums = halves(sums, load(block), load(x), load(y));
    }
    if !tail.is_empty() {
        sums = halves(
            sums,
            load_tail(tail),
            load_tail(low_tail),
            load_tail(high_tail),
        );
    }
    _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1]))
}

/// Adds the numbers whose bit is set.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_set(sum: __m512i, bits: [u8; 8], query: __m512i) -> __m512i {
    let kept = _mm512_maskz_mov_epi8(u64::from_le_bytes(bits), query);
    _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), kept)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(crate) fn dot_u1(query: &[i8], row: &[u8]) -> i32 {
    // A bit without a number, or a number without a bit, has no meaning.
    assert!(query.len().is_multiple_of(8) && query.len() / 8 <= row.len());
    let row = &row[..query.len() / 8];
    let ((words, bits_tail), (blocks, tail)) = (row.as_chunks::<8>(), query.as_chunks());
    let ((pairs, word), (block_pairs, block)) = (words.as_chunks::<2>(), blocks.as_chunks::<2>());
    let [mut even, mut odd] = [_mm512_setzero_si512(); 2];
    for (words, blocks) in pairs.iter().zip(block_pairs) {
        even = add_set(even, words[0], load(&blocks[0]));
        odd = add_set(odd, words[1], load(&blocks[1]));
    }
    if let ([word], [block]) = (word, block) {
        even = add_set(even, *word, load(block));
    }
    if !tail.is_empty() {
        let mut word = [0; 8];
        word[..bits_tail.len()].copy_from_slice(bits_tail);
        odd = add_set(odd, word, load_tail(tail));
    }
    _mm512_reduce_add_epi32(_mm512_add_epi32(even, odd))
}

/// The four smallest steps of a Walsh-Hadamard transform, in one register: each adds a copy in which
/// neighbours have changed places to the numbers, half of them negated.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn mix_lanes(block: &mut [f32; 16]) {
    // SAFETY: the reference covers exactly the sixteen numbers that are read; no alignment needed.
    let mut x = unsafe { _mm512_loadu_ps(block.as_ptr()) };
    let one = _mm512_set1_ps(1.0);
    let signs = |negated: u16| _mm512_mask_sub_ps(one, negated, _mm512_setzero_ps(), one);
    x = _mm512_fmadd_ps(x, signs(0xAAAA), _mm512_permute_ps::<0b10_11_00_01>(x));
    x = _mm512_fmadd_ps(x, signs(0xCCCC), _mm512_permute_ps::<0b01_00_11_10>(x));
    x = _mm512_fmadd_ps(
        x,
        signs(0xF0F0),
        _mm512_shuffle_f32x4::<0b10_11_00_01>(x, x),
    );
    x = _mm512_fmadd_ps(
        x,
        signs(0xFF00),
        _mm512_shuffle_f32x4::<0b01_00_11_10>(x, x),
    );
    // SAFETY: the reference covers exactly the sixteen numbers that are written.
    unsafe { _mm512_storeu_ps(block.as_mut_ptr(), x) };
}

/// Sums of products of each quarter of the bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_quarters(
    [even, odd]: [__m512i; 2],
    codes: __m512i,
    [a, b, c, d]: [__m512i; 4],
) -> [__m512i; 2] {
    let mask = _mm512_set1_epi8(3);
    let first = _mm512_and_si512(codes, mask);
    let second = _mm512_and_si512(_mm512_srli_epi16::<2>(codes), mask);
    let third = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), mask);
    let fourth = _mm512_and_si512(_mm512_srli_epi16::<6>(codes), mask);
    [
        _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(even, first, a), third, c),
        _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(odd, second, b), fourth, d),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(crate) fn dot_u2(query: &[i8], row: &[u8]) -> i32 {
    let [a, b, c, d] = quarters(query, row.len());
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks(), b.as_chunks());
    let ((c, c_tail), (d, d_tail)) = (c.as_chunks(), d.as_chunks());
    let (blocks, tail) = row.as_chunks();
    let mut sums = [_mm512_setzero_si512(); 2];
    let parts = a.iter().zip(b).zip(c.iter().zip(d));
    for (block, ((a, b), (c, d))) in blocks.iter().zip(parts) {
        sums = add_quarters(sums, load(block), [load(a), load(b), load(c), load(d)]);
    }
    if !tail.is_empty() {
        let parts = [
            load_tail(a_tail),
            load_tail(b_tail),
            load_tail(c_tail),
            load_tail(d_tail),
        ];
        sums = add_quarters(sums, load_tail(tail), parts);
    }
    _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1]))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(crate) fn dot_u8(query: &[i8], row: &[u8]) -> i32 {
    // As in `dot_u4`.
    assert_eq!(query.len(), row.len());
    let ((blocks, tail), (numbers, number_tail)) = (row.as_chunks(), query.as_chunks());
    let mut sum = _mm512_setzero_si512();
    for (block, x) in blocks.iter().zip(numbers) {
        sum = _mm512_dpbusd_epi32(sum, load(block), load(x));
    }
    if !tail.is_empty() {
        sum = _mm512_dpbusd_epi32(sum, load_tail(tail), load_tail(number_tail));
    }
    _mm512_reduce_add_epi32(sum)
}

score_rows!(dot_u1, score_u1_picked, #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]);
score_rows!(dot_u2, score_u2_picked, #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]);
score_rows!(dot_u4, score_u4_picked, #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]);
score_rows!(dot_u8, score_u8_picked, #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]);
code_rows!(dot_u1, dot_u1_picked, u8, #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]);
