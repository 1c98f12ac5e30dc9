//! AVX-512: four tables and the codes that belong to them per step, one in each 128-bit lane.

use std::arch::x86_64::*;

use super::{FAST_ROWS, FastQuery, FastScores, shape};

const STEP_BYTES: usize = 64;

#[inline]
#[target_feature(enable = "avx512f")]
fn load(block: &[u8; STEP_BYTES]) -> __m512i {
    // SAFETY: the reference covers exactly the 64 bytes that are read; no alignment needed.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// Entries of neighbouring rows, summed in 16 bits: those of even rows with what odd rows carry over
/// above them, and those of odd rows alone.
#[derive(Clone, Copy)]
struct Sums {
    both: __m512i,
    odd: __m512i,
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add(sums: Sums, entries: __m512i) -> Sums {
    Sums {
        both: _mm512_add_epi16(sums.both, entries),
        odd: _mm512_add_epi16(sums.odd, _mm512_srli_epi16::<8>(entries)),
    }
}

/// The sum of four lanes.
#[inline]
#[target_feature(enable = "avx512f,avx2")]
fn fold(wide: __m512i) -> __m128i {
    let half = _mm256_add_epi16(
        _mm512_castsi512_si256(wide),
        _mm512_extracti64x4_epi64::<1>(wide),
    );
    _mm_add_epi16(
        _mm256_castsi256_si128(half),
        _mm256_extracti128_si256::<1>(half),
    )
}

/// The sums of sixteen rows, in order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx2")]
fn finish(sums: Sums) -> __m512 {
    let even = fold(_mm512_sub_epi16(
        sums.both,
        _mm512_slli_epi16::<8>(sums.odd),
    ));
    let odd = fold(sums.odd);
    let rows = _mm256_set_m128i(_mm_unpackhi_epi16(even, odd), _mm_unpacklo_epi16(even, odd));
    _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(rows))
}

/// The sums of all rows of a block by the tables of each query; the codes are read once for all.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx2")]
fn sums<const N: usize>(tables: [&[[u8; STEP_BYTES]]; N], codes: &[u8]) -> [[__m512; 2]; N] {
    let zero = Sums {
        both: _mm512_setzero_si512(),
        odd: _mm512_setzero_si512(),
    };
    let mut sums = [[zero; 2]; N];
    let mask = _mm512_set1_epi8(15);
    for (at, codes) in codes.as_chunks().0.iter().enumerate() {
        let codes = load(codes);
        let bottom = _mm512_and_si512(codes, mask);
        let top = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), mask);
        for ([low, high], tables) in sums.iter_mut().zip(tables) {
            let table = load(&tables[at]);
            *low = add(*low, _mm512_shuffle_epi8(table, bottom));
            *high = add(*high, _mm512_shuffle_epi8(table, top));
        }
    }
    sums.map(|[low, high]| [finish(low), finish(high)])
}

/// The scores of the rows of a block, and which of them are near.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx2")]
fn score(
    query: &FastQuery<'_>,
    [low, high]: [__m512; 2],
    factors: &[u8],
    out: &mut [f32; FAST_ROWS],
) -> u32 {
    let ([add_low, add_high, scale_low, scale_high], []) = factors.as_chunks() else {
        unreachable!("a block ends with four times 64 bytes of factors");
    };
    let [base, step, offset, limit] =
        [query.base, query.step, query.offset, query.limit].map(|x| _mm512_set1_ps(x));
    let score = |sum: __m512, add: &[u8; 64], scale: &[u8; 64]| {
        let add = _mm512_castsi512_ps(load(add));
        let scale = _mm512_castsi512_ps(load(scale));
        let product = _mm512_fmsub_ps(sum, step, offset);
        _mm512_fmadd_ps(scale, product, _mm512_add_ps(base, add))
    };
    let low = score(low, add_low, scale_low);
    let high = score(high, add_high, scale_high);
    let (low_out, high_out) = out.split_at_mut(FAST_ROWS / 2);
    // SAFETY: each half is exactly the sixteen numbers that are written.
    unsafe { _mm512_storeu_ps(low_out.as_mut_ptr(), low) };
    // SAFETY: as above.
    unsafe { _mm512_storeu_ps(high_out.as_mut_ptr(), high) };
    let [low, high] = [low, high].map(|x| _mm512_cmp_ps_mask::<_CMP_LE_OQ>(x, limit));
    u32::from(low) | u32::from(high) << 16
}

scans!("avx512f,avx512bw,avx2");
