//! AVX2: two tables and the codes that belong to them per step, one in each 128-bit lane.

use std::arch::x86_64::*;

use super::{FAST_ROWS, FastQuery, FastScores, shape};

const STEP_BYTES: usize = 32;
const LANES: usize = 8;

#[inline]
#[target_feature(enable = "avx2")]
fn load(block: &[u8; STEP_BYTES]) -> __m256i {
    // SAFETY: the reference covers exactly the 32 bytes that are read; no alignment needed.
    unsafe { _mm256_loadu_si256(block.as_ptr().cast()) }
}

/// Entries of neighbouring rows, summed in 16 bits: those of even rows with what odd rows carry over
/// above them, and those of odd rows alone.
#[derive(Clone, Copy)]
struct Sums {
    both: __m256i,
    odd: __m256i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(sums: Sums, entries: __m256i) -> Sums {
    Sums {
        both: _mm256_add_epi16(sums.both, entries),
        odd: _mm256_add_epi16(sums.odd, _mm256_srli_epi16::<8>(entries)),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn fold(wide: __m256i) -> __m128i {
    _mm_add_epi16(
        _mm256_castsi256_si128(wide),
        _mm256_extracti128_si256::<1>(wide),
    )
}

/// The sums of sixteen rows, in order, eight to a register.
#[inline]
#[target_feature(enable = "avx2")]
fn finish(sums: Sums) -> [__m256; 2] {
    let even = fold(_mm256_sub_epi16(
        sums.both,
        _mm256_slli_epi16::<8>(sums.odd),
    ));
    let odd = fold(sums.odd);
    [_mm_unpacklo_epi16(even, odd), _mm_unpackhi_epi16(even, odd)]
        .map(|rows| _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(rows)))
}

/// The sums of all rows of a block by the tables of each query; the codes are read once for all.
#[inline]
#[target_feature(enable = "avx2")]
fn sums<const N: usize>(tables: [&[[u8; STEP_BYTES]]; N], codes: &[u8]) -> [[__m256; 4]; N] {
    let zero = Sums {
        both: _mm256_setzero_si256(),
        odd: _mm256_setzero_si256(),
    };
    let mut sums = [[zero; 2]; N];
    let mask = _mm256_set1_epi8(15);
    for (at, codes) in codes.as_chunks().0.iter().enumerate() {
        let codes = load(codes);
        let bottom = _mm256_and_si256(codes, mask);
        let top = _mm256_and_si256(_mm256_srli_epi16::<4>(codes), mask);
        for ([low, high], tables) in sums.iter_mut().zip(tables) {
            let table = load(&tables[at]);
            *low = add(*low, _mm256_shuffle_epi8(table, bottom));
            *high = add(*high, _mm256_shuffle_epi8(table, top));
        }
    }
    sums.map(|[low, high]| {
        let ([a, b], [c, d]) = (finish(low), finish(high));
        [a, b, c, d]
    })
}

/// The scores of the rows of a block, and which of them are near.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn score(
    query: &FastQuery<'_>,
    sums: [__m256; 4],
    factors: &[u8],
    out: &mut [f32; FAST_ROWS],
) -> u32 {
    let (adds, scales) = factors.split_at(super::FACTOR_BYTES);
    let (
        ([add_0, add_1, add_2, add_3], []),
        ([scale_0, scale_1, scale_2, scale_3], []),
        ([out_0, out_1, out_2, out_3], []),
    ) = (
        adds.as_chunks(),
        scales.as_chunks(),
        out.as_chunks_mut::<LANES>(),
    )
    else {
        unreachable!("a block ends with two times 128 bytes of factors");
    };
    let [base, step, offset, limit] =
        [query.base, query.step, query.offset, query.limit].map(|x| _mm256_set1_ps(x));
    let eight = |sum: __m256, add: &[u8; 32], scale: &[u8; 32], out: &mut [f32; LANES]| {
        let add = _mm256_castsi256_ps(load(add));
        let scale = _mm256_castsi256_ps(load(scale));
        let product = _mm256_fmsub_ps(sum, step, offset);
        let score = _mm256_fmadd_ps(scale, product, _mm256_add_ps(base, add));
        // SAFETY: the reference covers exactly the eight numbers that are written.
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), score) };
        _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(score, limit)).cast_unsigned()
    };
    eight(sums[0], add_0, scale_0, out_0)
        | eight(sums[1], add_1, scale_1, out_1) << LANES
        | eight(sums[2], add_2, scale_2, out_2) << (2 * LANES)
        | eight(sums[3], add_3, scale_3, out_3) << (3 * LANES)
}

scans!("avx2,fma");
