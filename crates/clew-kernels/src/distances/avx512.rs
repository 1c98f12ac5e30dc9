//! AVX-512: sixteen floats or 64 bytes per step, and masked loads instead of scalar tails.

use std::arch::x86_64::*;

use half::{bf16, f16};

const LANES: usize = 16;
const BYTES: usize = 64;

#[inline]
#[target_feature(enable = "avx512f")]
fn zero() -> __m512 {
    _mm512_setzero_ps()
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
fn dot_step(x: __m512, y: __m512, sum: __m512) -> __m512 {
    _mm512_fmadd_ps(x, y, sum)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn l2_step(x: __m512, y: __m512, sum: __m512) -> __m512 {
    let gap = _mm512_sub_ps(x, y);
    _mm512_fmadd_ps(gap, gap, sum)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_f32(block: &[f32; LANES]) -> __m512 {
    // SAFETY: the reference covers exactly the sixteen numbers that are read; no alignment needed.
    unsafe { _mm512_loadu_ps(block.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn tail_f32(tail: &[f32]) -> __m512 {
    let mask = (1_u16 << (tail.len() % LANES)) - 1;
    // SAFETY: the mask has one bit for each number of the slice, and masked lanes are not read.
    unsafe { _mm512_maskz_loadu_ps(mask, tail.as_ptr()) }
}

/// A number of 16 bits.
trait Half {}
impl Half for f16 {}
impl Half for bf16 {}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_half<T: Half>(block: &[T; LANES]) -> __m256i {
    // SAFETY: the reference covers exactly the sixteen numbers that are read; no alignment needed.
    unsafe { _mm256_loadu_si256(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn tail_half<T: Half>(tail: &[T]) -> __m256i {
    let mask = (1_u16 << (tail.len() % LANES)) - 1;
    // SAFETY: the mask has one bit for each number of the slice, and masked lanes are not read.
    unsafe { _mm256_maskz_loadu_epi16(mask, tail.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_f16(block: &[f16; LANES]) -> __m512 {
    _mm512_cvtph_ps(load_half(block))
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn tail_f16(tail: &[f16]) -> __m512 {
    _mm512_cvtph_ps(tail_half(tail))
}

/// A `bf16` is the upper half of the `f32` that it stands for.
#[inline]
#[target_feature(enable = "avx512f")]
fn widen_bf16(block: __m256i) -> __m512 {
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(block)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_bf16(block: &[bf16; LANES]) -> __m512 {
    widen_bf16(load_half(block))
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn tail_bf16(tail: &[bf16]) -> __m512 {
    widen_bf16(tail_half(tail))
}

float_kernels!(float32, f32, (load_f32, tail_f32), #[target_feature(enable = "avx512f,avx512bw,avx512vl")]);
float_kernels!(float16, f16, (load_f16, tail_f16), #[target_feature(enable = "avx512f,avx512bw,avx512vl")]);
float_kernels!(bfloat16, bf16, (load_bf16, tail_bf16), #[target_feature(enable = "avx512f,avx512bw,avx512vl")]);

/// One byte of a vector.
trait Byte {}
impl Byte for u8 {}
impl Byte for i8 {}

#[inline]
#[target_feature(enable = "avx512f")]
fn load<T: Byte>(block: &[T; BYTES]) -> __m512i {
    // SAFETY: the reference covers exactly the 64 bytes that are read; no alignment needed.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// The up to 63 bytes of a tail, filled up with zeros.
#[inline]
#[target_feature(enable = "avx512bw")]
fn load_tail<T: Byte>(tail: &[T]) -> __m512i {
    let mask = (1_u64 << (tail.len() % BYTES)) - 1;
    // SAFETY: the mask has one bit for each byte of the slice, and masked lanes are not read.
    unsafe { _mm512_maskz_loadu_epi8(mask, tail.as_ptr().cast()) }
}

/// Signed bytes. Sums are those of 32-bit integers, rounded once at the end.
#[allow(
    clippy::cast_precision_loss,
    reason = "the exact sum is rounded once, to `f32`"
)]
pub(crate) mod int8 {
    use super::*;

    /// The instruction multiplies unsigned by signed bytes, so 128 is added to the bytes of the
    /// row, and 128 times the sum of the query is taken away again.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(crate) fn dot(query: &[i8], row: &[i8]) -> f32 {
        // Vectors of different length have no distance; the shorter one must not win silently.
        assert_eq!(query.len(), row.len());
        let ((blocks_a, tail_a), (blocks_b, tail_b)) = (query.as_chunks(), row.as_chunks());
        let (flip, one) = (_mm512_set1_epi8(-128), _mm512_set1_epi8(1));
        let (mut products, mut sum) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (x, y) in blocks_a.iter().zip(blocks_b) {
            let (x, y) = (load(x), _mm512_xor_si512(load(y), flip));
            products = _mm512_dpbusd_epi32(products, y, x);
            sum = _mm512_dpbusd_epi32(sum, one, x);
        }
        if !tail_a.is_empty() {
            // Lanes behind the tail hold 128 times 0.
            let (x, y) = (load_tail(tail_a), _mm512_xor_si512(load_tail(tail_b), flip));
            products = _mm512_dpbusd_epi32(products, y, x);
            sum = _mm512_dpbusd_epi32(sum, one, x);
        }
        _mm512_reduce_add_epi32(_mm512_sub_epi32(products, _mm512_slli_epi32::<7>(sum))) as f32
    }

    /// Adds the squares of the gaps between bytes, which fit into eight bits without a sign.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn add_squares(sums: [__m512i; 2], x: __m512i, y: __m512i) -> [__m512i; 2] {
        let gap = _mm512_sub_epi8(_mm512_max_epi8(x, y), _mm512_min_epi8(x, y));
        let low = _mm512_unpacklo_epi8(gap, _mm512_setzero_si512());
        let high = _mm512_unpackhi_epi8(gap, _mm512_setzero_si512());
        [
            _mm512_dpwssd_epi32(sums[0], low, low),
            _mm512_dpwssd_epi32(sums[1], high, high),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(crate) fn l2(query: &[i8], row: &[i8]) -> f32 {
        // As in `dot`.
        assert_eq!(query.len(), row.len());
        let ((blocks_a, tail_a), (blocks_b, tail_b)) = (query.as_chunks(), row.as_chunks());
        let mut sums = [_mm512_setzero_si512(); 2];
        for (x, y) in blocks_a.iter().zip(blocks_b) {
            sums = add_squares(sums, load(x), load(y));
        }
        if !tail_a.is_empty() {
            sums = add_squares(sums, load_tail(tail_a), load_tail(tail_b));
        }
        _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1])) as f32
    }

    /// 128 times the sum of a query's bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn raised(query: &[i8]) -> i32 {
        let one = _mm512_set1_epi8(1);
        let (blocks, tail) = query.as_chunks();
        let mut sum = _mm512_dpbusd_epi32(_mm512_setzero_si512(), one, load_tail(tail));
        for block in blocks {
            sum = _mm512_dpbusd_epi32(sum, one, load(block));
        }
        _mm512_reduce_add_epi32(sum) << 7
    }

    /// The sum of each of four registers.
    #[inline]
    #[target_feature(enable = "avx512f,avx2")]
    fn totals([a, b, c, d]: [__m512i; 4]) -> [i32; 4] {
        let pair =
            |x, y| _mm512_add_epi32(_mm512_unpacklo_epi32(x, y), _mm512_unpackhi_epi32(x, y));
        let (ab, cd) = (pair(a, b), pair(c, d));
        let all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
        let half = _mm256_add_epi32(
            _mm512_castsi512_si256(all),
            _mm512_extracti64x4_epi64::<1>(all),
        );
        let sums = _mm_add_epi32(
            _mm256_castsi256_si128(half),
            _mm256_extracti128_si256::<1>(half),
        );
        [
            _mm_cvtsi128_si32(sums),
            _mm_extract_epi32::<1>(sums),
            _mm_extract_epi32::<2>(sums),
            _mm_extract_epi32::<3>(sums),
        ]
    }

    /// The products of four rows, raised as in [`dot`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn dot_four(query: &[i8], rows: [&[i8]; 4]) -> [__m512i; 4] {
        let flip = _mm512_set1_epi8(-128);
        let (blocks, tail) = query.as_chunks::<BYTES>();
        let [a, b, c, d] = rows.map(|row| row.as_chunks::<BYTES>());
        let mut sums = [_mm512_setzero_si512(); 4];
        let four = a.0.iter().zip(b.0).zip(c.0.iter().zip(d.0));
        for (x, ((a, b), (c, d))) in blocks.iter().zip(four) {
            let x = load(x);
            for (sum, row) in sums.iter_mut().zip([a, b, c, d]) {
                *sum = _mm512_dpbusd_epi32(*sum, _mm512_xor_si512(load(row), flip), x);
            }
        }
        if !tail.is_empty() {
            let x = load_tail(tail);
            for (sum, row) in sums.iter_mut().zip([a.1, b.1, c.1, d.1]) {
                *sum = _mm512_dpbusd_epi32(*sum, _mm512_xor_si512(load_tail(row), flip), x);
            }
        }
        sums
    }

    /// [`dot`] of a query and each row of a block, four at a time: the query is read once for them, and summed up once
    /// for all. Building lists, whose centres lie in the second cache, takes .86 of the time at 60,000 × 512, and no less that
    /// could be measured at 100,000 × 1,024.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(crate) fn dot_rows(query: &[i8], rows: &[i8], out: &mut [f32]) {
        // A block that is not whole rows would silently score a shifted vector.
        assert_eq!(rows.len(), query.len() * out.len());
        if query.is_empty() {
            return out.fill(0.0);
        }
        let (raised, length) = (raised(query), query.len());
        let (fours, rest) = out.as_chunks_mut::<4>();
        let (in_fours, others) = rows.split_at(4 * length * fours.len());
        for (slots, block) in fours.iter_mut().zip(in_fours.chunks_exact(4 * length)) {
            let row = |at: usize| &block[at * length..][..length];
            let sums = totals(dot_four(query, [row(0), row(1), row(2), row(3)]));
            *slots = sums.map(|sum| sum.wrapping_sub(raised) as f32);
        }
        for (slot, row) in rest.iter_mut().zip(others.chunks_exact(length)) {
            *slot = dot(query, row);
        }
    }

    picked_loop!((i8, i8), dot, dot_picked, #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]);
    row_loops!((i8, i8), l2, l2_rows, l2_picked, #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]);
}

/// Bits; needs VPOPCNTDQ, which the first CPUs with VNNI do not have.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a vector has fewer than 2^24 bits"
)]
pub(crate) mod bits {
    use super::*;
    use crate::distances::jaccard_distance;

    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    fn add_ones(sum: __m512i, words: __m512i) -> __m512i {
        _mm512_add_epi64(sum, _mm512_popcnt_epi64(words))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
    pub(crate) fn hamming(query: &[u8], row: &[u8]) -> f32 {
        // Vectors of different length have no distance; the shorter one must not win silently.
        assert_eq!(query.len(), row.len());
        let ((blocks_a, tail_a), (blocks_b, tail_b)) = (query.as_chunks(), row.as_chunks());
        let mut sum = _mm512_setzero_si512();
        for (x, y) in blocks_a.iter().zip(blocks_b) {
            sum = add_ones(sum, _mm512_xor_si512(load(x), load(y)));
        }
        if !tail_a.is_empty() {
            sum = add_ones(sum, _mm512_xor_si512(load_tail(tail_a), load_tail(tail_b)));
        }
        _mm512_reduce_add_epi64(sum) as f32
    }

    /// Adds the bits set in both and in either.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    fn add_shared([both, either]: [__m512i; 2], x: __m512i, y: __m512i) -> [__m512i; 2] {
        [
            add_ones(both, _mm512_and_si512(x, y)),
            add_ones(either, _mm512_or_si512(x, y)),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
    pub(crate) fn jaccard(query: &[u8], row: &[u8]) -> f32 {
        // As in `hamming`.
        assert_eq!(query.len(), row.len());
        let ((blocks_a, tail_a), (blocks_b, tail_b)) = (query.as_chunks(), row.as_chunks());
        let mut sums = [_mm512_setzero_si512(); 2];
        for (x, y) in blocks_a.iter().zip(blocks_b) {
            sums = add_shared(sums, load(x), load(y));
        }
        if !tail_a.is_empty() {
            sums = add_shared(sums, load_tail(tail_a), load_tail(tail_b));
        }
        let [both, either] = sums;
        jaccard_distance([
            _mm512_reduce_add_epi64(both) as u64,
            _mm512_reduce_add_epi64(either) as u64,
        ])
    }

    row_loops!((u8, u8), hamming, hamming_rows, hamming_picked, #[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]);
    row_loops!((u8, u8), jaccard, jaccard_rows, jaccard_picked, #[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]);
}
