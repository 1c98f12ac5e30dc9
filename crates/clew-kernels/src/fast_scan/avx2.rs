//! AVX2: two tables and the codes that belong to them per step, one in each 128-bit lane.

use std::arch::x86_64::*;

use super::{FAST_ROWS, FastQuery, shape};

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

#[inline]
#[target_feature(enable = "avx2")]
fn sums(tables: &[u8], codes: &[u8]) -> [__m256; 4] {
    let zero = Sums {
        both: _mm256_setzero_si256(),
        odd: _mm256_setzero_si256(),
    };
    let (mut low, mut high) = (zero, zero);
    let mask = _mm256_set1_epi8(15);
    let (tables, _) = tables.as_chunks();
    let (codes, _) = codes.as_chunks();
    for (table, codes) in tables.iter().zip(codes) {
        let (table, codes) = (load(table), load(codes));
        let bottom = _mm256_and_si256(codes, mask);
        let top = _mm256_and_si256(_mm256_srli_epi16::<4>(codes), mask);
        low = add(low, _mm256_shuffle_epi8(table, bottom));
        high = add(high, _mm256_shuffle_epi8(table, top));
    }
    let ([a, b], [c, d]) = (finish(low), finish(high));
    [a, b, c, d]
}

#[target_feature(enable = "avx2,fma")]
pub(crate) fn scan(query: &FastQuery<'_>, blocks: &[u8], distances: &mut [f32], near: &mut [u32]) {
    let (code_bytes, block_bytes) = shape(query, blocks, (distances.len(), near.len()));
    let (distances, _) = distances.as_chunks_mut::<FAST_ROWS>();
    let [base, step, offset, limit] =
        [query.base, query.step, query.offset, query.limit].map(|x| _mm256_set1_ps(x));
    let blocks = blocks.chunks_exact(block_bytes);
    for ((block, distances), near) in blocks.zip(distances).zip(near) {
        let (codes, factors) = block.split_at(code_bytes);
        let (adds, scales) = factors.split_at(super::FACTOR_BYTES);
        let (factors, outs) = (
            adds.as_chunks().0.iter().zip(scales.as_chunks().0),
            distances.as_chunks_mut::<LANES>().0,
        );
        *near = 0;
        let eights = sums(query.tables, codes).into_iter().zip(factors).zip(outs);
        for (at, ((sum, (add, scale)), out)) in eights.enumerate() {
            let add = _mm256_castsi256_ps(load(add));
            let scale = _mm256_castsi256_ps(load(scale));
            let product = _mm256_fmsub_ps(sum, step, offset);
            let score = _mm256_fmadd_ps(scale, product, _mm256_add_ps(base, add));
            // SAFETY: the reference covers exactly the eight numbers that are written.
            unsafe { _mm256_storeu_ps(out.as_mut_ptr(), score) };
            let mask = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(score, limit));
            *near |= mask.cast_unsigned() << (LANES * at);
        }
    }
}
