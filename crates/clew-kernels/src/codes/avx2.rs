//! AVX2: 32 bytes per step. Products of bytes are summed in pairs in 16 bits, then widened.

use std::arch::x86_64::*;

use crate::codes::rows::quarters;
use crate::distances::avx2::int8::total;

const LANES: usize = 32;
/// Sums of two products of a 4-bit code and a signed byte are at most 3,840 in size, so eight of
/// them still fit into 16 bits.
const NARROW_SUMS: usize = 8;

#[inline]
#[target_feature(enable = "avx2")]
fn load<T: Byte>(block: &[T; LANES]) -> __m256i {
    // SAFETY: the reference covers exactly the 32 bytes that are read; no alignment needed.
    unsafe { _mm256_loadu_si256(block.as_ptr().cast()) }
}

/// The up to 31 bytes of a tail, filled up with zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn load_tail<T: Byte>(tail: &[T]) -> __m256i {
    let mut block = [T::default(); LANES];
    block[..tail.len()].copy_from_slice(tail);
    load(&block)
}

/// One byte of a code or of a query.
trait Byte: Copy + Default {}
impl Byte for u8 {}
impl Byte for i8 {}

#[inline]
#[target_feature(enable = "avx2")]
fn widen(narrow: __m256i) -> __m256i {
    _mm256_madd_epi16(narrow, _mm256_set1_epi16(1))
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(codes: __m256i, low: __m256i, high: __m256i) -> [__m256i; 2] {
    let mask = _mm256_set1_epi8(15);
    let bottom = _mm256_and_si256(codes, mask);
    let top = _mm256_and_si256(_mm256_srli_epi16::<4>(codes), mask);
    [
        _mm256_maddubs_epi16(bottom, low),
        _mm256_maddubs_epi16(top, high),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn dot_u4(query: &[i8], row: &[u8]) -> i32 {
    // Half of the dimensions would otherwise be multiplied with another's number.
    assert_eq!(query.len(), 2 * row.len());
    let (low, high) = query.split_at(row.len());
    let ((low, low_tail), (high, high_tail)) = (low.as_chunks(), high.as_chunks());
    let (blocks, tail) = row.as_chunks();
    let mut wide = _mm256_setzero_si256();
    let steps = blocks
        .chunks(NARROW_SUMS)
        .zip(low.chunks(NARROW_SUMS).zip(high.chunks(NARROW_SUMS)));
    for (blocks, (low, high)) in steps {
        let mut narrow = [_mm256_setzero_si256(); 2];
        for ((block, x), y) in blocks.iter().zip(low).zip(high) {
            let [bottom, top] = halves(load(block), load(x), load(y));
            narrow[0] = _mm256_add_epi16(narrow[0], bottom);
            narrow[1] = _mm256_add_epi16(narrow[1], top);
        }
        let both = _mm256_add_epi32(widen(narrow[0]), widen(narrow[1]));
        wide = _mm256_add_epi32(wide, both);
    }
    if !tail.is_empty() {
        let [bottom, top] = halves(load_tail(tail), load_tail(low_tail), load_tail(high_tail));
        wide = _mm256_add_epi32(wide, widen(_mm256_add_epi16(bottom, top)));
    }
    total(wide)
}

/// A byte of all ones for each bit that is set.
#[inline]
#[target_feature(enable = "avx2")]
fn spread(bits: u32) -> __m256i {
    let all = _mm256_set1_epi32(bits.cast_signed());
    let which = _mm256_setr_epi8(
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3,
        3, 3,
    );
    let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    let mine = _mm256_and_si256(_mm256_shuffle_epi8(all, which), bit);
    _mm256_cmpeq_epi8(mine, bit)
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum_set(bits: u32, query: __m256i) -> __m256i {
    let kept = _mm256_and_si256(spread(bits), query);
    widen(_mm256_maddubs_epi16(_mm256_set1_epi8(1), kept))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn dot_u1(query: &[i8], row: &[u8]) -> i32 {
    // A bit without a number, or a number without a bit, has no meaning.
    assert!(query.len().is_multiple_of(8) && query.len() / 8 <= row.len());
    let row = &row[..query.len() / 8];
    let (words, bits_tail) = row.as_chunks::<4>();
    let (blocks, tail) = query.as_chunks();
    let mut sum = _mm256_setzero_si256();
    for (word, block) in words.iter().zip(blocks) {
        sum = _mm256_add_epi32(sum, sum_set(u32::from_le_bytes(*word), load(block)));
    }
    if !tail.is_empty() {
        let mut word = [0; 4];
        word[..bits_tail.len()].copy_from_slice(bits_tail);
        sum = _mm256_add_epi32(sum, sum_set(u32::from_le_bytes(word), load_tail(tail)));
    }
    total(sum)
}

/// Adds, in 16 bits, the products of each quarter of the bytes: at most 3,072 in size.
#[inline]
#[target_feature(enable = "avx2")]
fn add_quarters(sum: __m256i, codes: __m256i, [a, b, c, d]: [__m256i; 4]) -> __m256i {
    let mask = _mm256_set1_epi8(3);
    let first = _mm256_and_si256(codes, mask);
    let second = _mm256_and_si256(_mm256_srli_epi16::<2>(codes), mask);
    let third = _mm256_and_si256(_mm256_srli_epi16::<4>(codes), mask);
    let fourth = _mm256_and_si256(_mm256_srli_epi16::<6>(codes), mask);
    let low = _mm256_add_epi16(
        _mm256_maddubs_epi16(first, a),
        _mm256_maddubs_epi16(second, b),
    );
    let high = _mm256_add_epi16(
        _mm256_maddubs_epi16(third, c),
        _mm256_maddubs_epi16(fourth, d),
    );
    _mm256_add_epi16(sum, _mm256_add_epi16(low, high))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn dot_u2(query: &[i8], row: &[u8]) -> i32 {
    let [a, b, c, d] = quarters(query, row.len());
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks(), b.as_chunks());
    let ((c, c_tail), (d, d_tail)) = (c.as_chunks(), d.as_chunks());
    let (blocks, tail) = row.as_chunks();
    let mut wide = _mm256_setzero_si256();
    let mut narrow = _mm256_setzero_si256();
    let parts = a.iter().zip(b).zip(c.iter().zip(d));
    for (at, (block, ((a, b), (c, d)))) in blocks.iter().zip(parts).enumerate() {
        let parts = [load(a), load(b), load(c), load(d)];
        narrow = add_quarters(narrow, load(block), parts);
        if at % NARROW_SUMS == NARROW_SUMS - 1 {
            wide = _mm256_add_epi32(wide, widen(narrow));
            narrow = _mm256_setzero_si256();
        }
    }
    if !tail.is_empty() {
        let parts = [
            load_tail(a_tail),
            load_tail(b_tail),
            load_tail(c_tail),
            load_tail(d_tail),
        ];
        // At most seven sums lie here, so that one more still fits.
        narrow = add_quarters(narrow, load_tail(tail), parts);
    }
    total(_mm256_add_epi32(wide, widen(narrow)))
}

/// Products are taken in 16 bits: those of bytes would saturate.
#[inline]
#[target_feature(enable = "avx2")]
fn products(codes: __m256i, query: __m256i) -> __m256i {
    let (low, high) = (
        _mm256_cvtepu8_epi16(_mm256_castsi256_si128(codes)),
        _mm256_cvtepu8_epi16(_mm256_extracti128_si256::<1>(codes)),
    );
    let (x, y) = (
        _mm256_cvtepi8_epi16(_mm256_castsi256_si128(query)),
        _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(query)),
    );
    _mm256_add_epi32(_mm256_madd_epi16(low, x), _mm256_madd_epi16(high, y))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn dot_u8(query: &[i8], row: &[u8]) -> i32 {
    // As in `dot_u4`.
    assert_eq!(query.len(), row.len());
    let ((blocks, tail), (numbers, number_tail)) = (row.as_chunks(), query.as_chunks());
    let mut sum = _mm256_setzero_si256();
    for (block, x) in blocks.iter().zip(numbers) {
        sum = _mm256_add_epi32(sum, products(load(block), load(x)));
    }
    if !tail.is_empty() {
        sum = _mm256_add_epi32(sum, products(load_tail(tail), load_tail(number_tail)));
    }
    total(sum)
}

score_rows!(dot_u1, score_u1_picked, #[target_feature(enable = "avx2")]);
score_rows!(dot_u2, score_u2_picked, #[target_feature(enable = "avx2")]);
score_rows!(dot_u4, score_u4_picked, #[target_feature(enable = "avx2")]);
score_rows!(dot_u8, score_u8_picked, #[target_feature(enable = "avx2")]);
code_rows!(dot_u1, dot_u1_picked, u8, #[target_feature(enable = "avx2")]);

/// The four smallest steps of a Walsh-Hadamard transform: three inside each register, where a copy in
/// which neighbours have changed places is added to the numbers, half of them negated; one between both.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn mix_lanes(block: &mut [f32; 16]) {
    let signs = [
        _mm256_setr_ps(1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0),
        _mm256_setr_ps(1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0),
        _mm256_setr_ps(1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0),
    ];
    let mix = |mut x: __m256| {
        x = _mm256_fmadd_ps(x, signs[0], _mm256_permute_ps::<0b10_11_00_01>(x));
        x = _mm256_fmadd_ps(x, signs[1], _mm256_permute_ps::<0b01_00_11_10>(x));
        _mm256_fmadd_ps(x, signs[2], _mm256_permute2f128_ps::<1>(x, x))
    };
    let (low, high) = block.split_at_mut(8);
    // SAFETY: each half is exactly the eight numbers that are read; no alignment needed.
    let x = unsafe { _mm256_loadu_ps(low.as_ptr()) };
    // SAFETY: as above.
    let y = unsafe { _mm256_loadu_ps(high.as_ptr()) };
    let (x, y) = (mix(x), mix(y));
    let (sum, difference) = (_mm256_add_ps(x, y), _mm256_sub_ps(x, y));
    // SAFETY: each half is exactly the eight numbers that are written.
    unsafe { _mm256_storeu_ps(low.as_mut_ptr(), sum) };
    // SAFETY: as above.
    unsafe { _mm256_storeu_ps(high.as_mut_ptr(), difference) };
}
