//! AVX2 with FMA, F16C and POPCNT: eight floats or 32 bytes per step.

use std::arch::x86_64::*;

use half::{bf16, f16};

const LANES: usize = 8;
const BYTES: usize = 32;

#[inline]
#[target_feature(enable = "avx2")]
fn zero() -> __m256 {
    _mm256_setzero_ps()
}

#[inline]
#[target_feature(enable = "avx2")]
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
fn dot_step(x: __m256, y: __m256, sum: __m256) -> __m256 {
    _mm256_fmadd_ps(x, y, sum)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn l2_step(x: __m256, y: __m256, sum: __m256) -> __m256 {
    let gap = _mm256_sub_ps(x, y);
    _mm256_fmadd_ps(gap, gap, sum)
}

/// What is left of a vector, filled up with zeros.
#[inline]
fn padded<T: Copy + Default, const N: usize>(tail: &[T]) -> [T; N] {
    let mut block = [T::default(); N];
    block[..tail.len()].copy_from_slice(tail);
    block
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_f32(block: &[f32; LANES]) -> __m256 {
    // SAFETY: the reference covers exactly the eight numbers that are read; no alignment needed.
    unsafe { _mm256_loadu_ps(block.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn tail_f32(tail: &[f32]) -> __m256 {
    load_f32(&padded(tail))
}

/// A number of 16 bits.
trait Half {}
impl Half for f16 {}
impl Half for bf16 {}

#[inline]
#[target_feature(enable = "avx2")]
fn load_half<T: Half>(block: &[T; LANES]) -> __m128i {
    // SAFETY: the reference covers exactly the eight numbers that are read; no alignment needed.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn load_f16(block: &[f16; LANES]) -> __m256 {
    _mm256_cvtph_ps(load_half(block))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn tail_f16(tail: &[f16]) -> __m256 {
    load_f16(&padded(tail))
}

/// A `bf16` is the upper half of the `f32` that it stands for.
#[inline]
#[target_feature(enable = "avx2")]
fn load_bf16(block: &[bf16; LANES]) -> __m256 {
    let wide = _mm256_cvtepu16_epi32(load_half(block));
    _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide))
}

#[inline]
#[target_feature(enable = "avx2")]
fn tail_bf16(tail: &[bf16]) -> __m256 {
    load_bf16(&padded(tail))
}

float_kernels!(float32, f32, (load_f32, tail_f32), #[target_feature(enable = "avx2,fma")]);
float_kernels!(float16, f16, (load_f16, tail_f16), #[target_feature(enable = "avx2,fma,f16c")]);
float_kernels!(bfloat16, bf16, (load_bf16, tail_bf16), #[target_feature(enable = "avx2,fma")]);

/// Signed bytes. Sums are those of 32-bit integers, rounded once at the end.
#[allow(
    clippy::cast_precision_loss,
    reason = "the exact sum is rounded once, to `f32`"
)]
pub(crate) mod int8 {
    use super::*;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(block: &[i8; BYTES]) -> __m256i {
        // SAFETY: the reference covers exactly the 32 bytes that are read; no alignment needed.
        unsafe { _mm256_loadu_si256(block.as_ptr().cast()) }
    }

    /// The sum of eight.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn total(sum: __m256i) -> i32 {
        let half = _mm_add_epi32(
            _mm256_castsi256_si128(sum),
            _mm256_extracti128_si256::<1>(sum),
        );
        let pair = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
        _mm_cvtsi128_si32(_mm_add_epi32(pair, _mm_shuffle_epi32::<1>(pair)))
    }

    /// Products are taken in 16 bits: those of bytes would saturate.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn dot_step(x: __m256i, y: __m256i, sum: __m256i) -> __m256i {
        let wide = |v: __m256i| {
            let (low, high) = (_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
            (_mm256_cvtepi8_epi16(low), _mm256_cvtepi8_epi16(high))
        };
        let ((x0, x1), (y0, y1)) = (wide(x), wide(y));
        let products = _mm256_add_epi32(_mm256_madd_epi16(x0, y0), _mm256_madd_epi16(x1, y1));
        _mm256_add_epi32(sum, products)
    }

    /// The gap of two bytes fits into eight bits without a sign.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn l2_step(x: __m256i, y: __m256i, sum: __m256i) -> __m256i {
        let gap = _mm256_sub_epi8(_mm256_max_epi8(x, y), _mm256_min_epi8(x, y));
        let low = _mm256_unpacklo_epi8(gap, _mm256_setzero_si256());
        let high = _mm256_unpackhi_epi8(gap, _mm256_setzero_si256());
        let squares = _mm256_add_epi32(_mm256_madd_epi16(low, low), _mm256_madd_epi16(high, high));
        _mm256_add_epi32(sum, squares)
    }

    macro_rules! integer_kernel {
        ($name:ident, $step:ident) => {
            #[inline]
            #[target_feature(enable = "avx2")]
            pub(crate) fn $name(query: &[i8], row: &[i8]) -> f32 {
                // Vectors of different length have no distance; the shorter one must not win.
                assert_eq!(query.len(), row.len());
                let ((blocks_a, tail_a), (blocks_b, tail_b)) = (query.as_chunks(), row.as_chunks());
                let mut sum = _mm256_setzero_si256();
                for (x, y) in blocks_a.iter().zip(blocks_b) {
                    sum = $step(load(x), load(y), sum);
                }
                if !tail_a.is_empty() {
                    sum = $step(load(&padded(tail_a)), load(&padded(tail_b)), sum);
                }
                total(sum) as f32
            }
        };
    }

    integer_kernel!(dot, dot_step);
    integer_kernel!(l2, l2_step);
    row_loops!((i8, i8), dot, dot_rows, dot_picked, #[target_feature(enable = "avx2")]);
    row_loops!((i8, i8), l2, l2_rows, l2_picked, #[target_feature(enable = "avx2")]);
}

/// Bits, counted word by word: AVX2 has no instruction for it, POPCNT does eight bytes at once.
#[allow(
    clippy::cast_precision_loss,
    reason = "a vector has fewer than 2^24 bits"
)]
pub(crate) mod bits {
    use super::padded;
    use crate::distances::jaccard_distance;

    /// Bits set in each of the words that `mix` makes of two words.
    #[inline]
    #[target_feature(enable = "popcnt")]
    fn count<const N: usize>(
        query: &[u8],
        row: &[u8],
        mix: impl Fn(u64, u64) -> [u64; N],
    ) -> [u64; N] {
        // Vectors of different length have no distance; the shorter one must not win silently.
        assert_eq!(query.len(), row.len());
        let ((words_a, tail_a), (words_b, tail_b)) = (query.as_chunks(), row.as_chunks());
        let mut sums = [0; N];
        let mut add = |x: [u8; 8], y: [u8; 8]| {
            let words = mix(u64::from_le_bytes(x), u64::from_le_bytes(y));
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum += u64::from(word.count_ones());
            }
        };
        for (&x, &y) in words_a.iter().zip(words_b) {
            add(x, y);
        }
        if !tail_a.is_empty() {
            add(padded(tail_a), padded(tail_b));
        }
        sums
    }

    #[inline]
    #[target_feature(enable = "popcnt")]
    pub(crate) fn hamming(query: &[u8], row: &[u8]) -> f32 {
        count(query, row, |x, y| [x ^ y])[0] as f32
    }

    #[inline]
    #[target_feature(enable = "popcnt")]
    pub(crate) fn jaccard(query: &[u8], row: &[u8]) -> f32 {
        jaccard_distance(count(query, row, |x, y| [x & y, x | y]))
    }

    row_loops!((u8, u8), hamming, hamming_rows, hamming_picked, #[target_feature(enable = "popcnt")]);
    row_loops!((u8, u8), jaccard, jaccard_rows, jaccard_picked, #[target_feature(enable = "popcnt")]);
}
