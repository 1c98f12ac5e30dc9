//! Impacts: for each document of a window what a word adds to its score, as one byte; zero where it is not.

/// Documents whose greatest sum is told.
pub const IMPACTS_CHUNK: usize = 64;

/// What a word adds to each document: its impacts, and what a full one of 256 stands for.
pub type WordImpacts<'a> = (&'a [u8], u16);

/// The functions of one instruction set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImpactTable {
    pub(crate) sum: fn(&[WordImpacts<'_>], bool, &mut [u16], &mut [u16]),
    pub(crate) mark: fn(&[u8], &mut [u64]),
}

pub(crate) const SCALAR: ImpactTable = ImpactTable {
    sum: |words, needs_all, sums, greatest| sum(words, needs_all, 0, (sums, greatest)),
    mark,
};

/// Only in tables for which AVX2 was detected.
#[cfg(target_arch = "x86_64")]
pub(crate) const AVX2: ImpactTable = ImpactTable {
    sum: |words, needs_all, sums, greatest| match needs_all {
        // SAFETY: the feature was detected.
        true => unsafe { sum_avx2::<true>(words, sums, greatest) },
        // SAFETY: the feature was detected.
        false => unsafe { sum_avx2::<false>(words, sums, greatest) },
    },
    // SAFETY: the feature was detected.
    mark: |impacts, marks| unsafe { mark_avx2(impacts, marks) },
};

/// The sums begin at a document.
fn sum(
    words: &[WordImpacts<'_>],
    needs_all: bool,
    from: usize,
    (sums, greatest): (&mut [u16], &mut [u16]),
) {
    let chunks = sums.chunks_mut(IMPACTS_CHUNK).zip(greatest);
    for (first, (sums, greatest)) in (from..).step_by(IMPACTS_CHUNK).zip(chunks) {
        *greatest = 0;
        for (doc, sum) in (first..).zip(sums) {
            *sum = 0;
            let mut has_all = true;
            for (impacts, factor) in words {
                let impact = impacts.get(doc).copied().unwrap_or(0);
                let [_, low, high, _] = (u32::from(impact) * u32::from(*factor)).to_le_bytes();
                *sum = sum.wrapping_add(u16::from_le_bytes([low, high]));
                has_all &= impact > 0;
            }
            if needs_all && !has_all {
                *sum = 0;
            }
            *greatest = (*greatest).max(*sum);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2<const ALL: bool>(words: &[WordImpacts<'_>], sums: &mut [u16], greatest: &mut [u16]) {
    use std::arch::x86_64::{
        _mm_extract_epi16, _mm_loadu_si128, _mm_max_epu16, _mm_minpos_epu16, _mm_set1_epi16,
        _mm_xor_si128, _mm256_add_epi16, _mm256_andnot_si256, _mm256_castsi256_si128,
        _mm256_cmpeq_epi16, _mm256_cvtepu8_epi16, _mm256_extracti128_si256, _mm256_max_epu16,
        _mm256_mulhi_epu16, _mm256_or_si256, _mm256_set1_epi16, _mm256_setzero_si256,
        _mm256_slli_epi16, _mm256_storeu_si256,
    };
    // As far as all words go.
    let docs = words.iter().map(|(impacts, _)| impacts.len());
    let docs = docs.fold(sums.len(), usize::min);
    let whole = (docs / IMPACTS_CHUNK).min(greatest.len());
    let (sums, last_sums) = sums.split_at_mut(whole * IMPACTS_CHUNK);
    let (greatest, last_greatest) = greatest.split_at_mut(whole);
    let (chunks, _) = sums.as_chunks_mut::<IMPACTS_CHUNK>();
    for (at, (sums, greatest)) in chunks.iter_mut().zip(greatest).enumerate() {
        let mut parts = [_mm256_setzero_si256(); 4];
        let mut absent = parts;
        for (impacts, factor) in words {
            let factors = _mm256_set1_epi16(factor.cast_signed());
            let (impacts, _) = impacts[at * IMPACTS_CHUNK..][..IMPACTS_CHUNK].as_chunks::<16>();
            for ((part, absent), impacts) in parts.iter_mut().zip(&mut absent).zip(impacts) {
                // SAFETY: a chunk has 16 bytes; the load needs no alignment.
                let impacts = unsafe { _mm_loadu_si128(impacts.as_ptr().cast()) };
                let wide = _mm256_cvtepu8_epi16(impacts);
                // The upper half of a product of 16 bits each.
                let product = _mm256_mulhi_epu16(_mm256_slli_epi16::<8>(wide), factors);
                *part = _mm256_add_epi16(*part, product);
                if ALL {
                    let none = _mm256_cmpeq_epi16(wide, _mm256_setzero_si256());
                    *absent = _mm256_or_si256(*absent, none);
                }
            }
        }
        if ALL {
            for (part, absent) in parts.iter_mut().zip(absent) {
                *part = _mm256_andnot_si256(absent, *part);
            }
        }
        let (sums, _) = sums.as_chunks_mut::<16>();
        for (sums, part) in sums.iter_mut().zip(parts) {
            // SAFETY: a chunk has 32 bytes; the store needs no alignment.
            unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), part) };
        }
        let [a, b, c, d] = parts;
        let most = _mm256_max_epu16(_mm256_max_epu16(a, b), _mm256_max_epu16(c, d));
        let halves = (
            _mm256_castsi256_si128(most),
            _mm256_extracti128_si256::<1>(most),
        );
        let most = _mm_max_epu16(halves.0, halves.1);
        // The least of the complements.
        let least = _mm_minpos_epu16(_mm_xor_si128(most, _mm_set1_epi16(-1)));
        let [low, high, ..] = _mm_extract_epi16::<0>(least).to_le_bytes();
        *greatest = !u16::from_le_bytes([low, high]);
    }
    let from = whole * IMPACTS_CHUNK;
    sum(words, ALL, from, (last_sums, last_greatest));
}

/// There is a mark for each 64 impacts, and for what is left of them.
fn mark(impacts: &[u8], marks: &mut [u64]) {
    for (mark, impacts) in marks.iter_mut().zip(impacts.chunks(64)) {
        for (place, impact) in impacts.iter().enumerate() {
            *mark |= u64::from(*impact > 0) << place;
        }
    }
}

/// There is a mark for each 64 impacts, and for what is left of them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn mark_avx2(impacts: &[u8], marks: &mut [u64]) {
    use std::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_setzero_si256,
    };
    let (halves, _) = impacts.as_chunks::<32>();
    let (whole, _) = halves.as_chunks::<2>();
    let (marks, last_marks) = marks.split_at_mut(whole.len());
    for (mark, halves) in marks.iter_mut().zip(whole) {
        let present = halves.map(|half| {
            // SAFETY: a chunk has 32 bytes; the load needs no alignment.
            let half = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            let absent = _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, _mm256_setzero_si256()));
            u64::from(!absent.cast_unsigned())
        });
        *mark |= present[0] | present[1] << 32;
    }
    mark(&impacts[whole.len() * 64..], last_marks);
}
