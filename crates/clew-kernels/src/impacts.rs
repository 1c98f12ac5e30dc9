//! Impacts: for each document of a window what a word adds to its score, as one byte; zero where it is not.

use crate::Kernels;

/// The functions of one instruction set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImpactTable {
    add: fn(&[u8], u16, &mut [u16]),
    mark: fn(&[u8], &mut [u64]),
}

impl Kernels {
    /// Adds `impacts[i] * factor / 256`, rounded down, to `sums[i]`, modulo 2^16, for as long as both go on.
    ///
    /// All instruction sets answer the same.
    #[inline]
    pub fn add_impacts(&self, impacts: &[u8], factor: u16, sums: &mut [u16]) {
        let count = impacts.len().min(sums.len());
        (self.impacts.add)(&impacts[..count], factor, &mut sums[..count]);
    }

    /// Sets bit `i % 64` of `marks[i / 64]` where `impacts[i]` is not zero, for as long as both go on.
    ///
    /// All instruction sets answer the same.
    #[inline]
    pub fn mark_impacts(&self, impacts: &[u8], marks: &mut [u64]) {
        let count = impacts.len().div_ceil(64).min(marks.len());
        (self.impacts.mark)(
            &impacts[..impacts.len().min(count * 64)],
            &mut marks[..count],
        );
    }
}

pub(crate) const SCALAR: ImpactTable = ImpactTable { add, mark };

/// Only in tables for which AVX2 was detected.
#[cfg(target_arch = "x86_64")]
pub(crate) const AVX2: ImpactTable = ImpactTable {
    // SAFETY: the feature was detected.
    add: |impacts, factor, sums| unsafe { add_avx2(impacts, factor, sums) },
    // SAFETY: the feature was detected.
    mark: |impacts, marks| unsafe { mark_avx2(impacts, marks) },
};

/// Both are equally long.
fn add(impacts: &[u8], factor: u16, sums: &mut [u16]) {
    for (sum, impact) in sums.iter_mut().zip(impacts) {
        let [_, low, high, _] = (u32::from(*impact) * u32::from(factor)).to_le_bytes();
        *sum = sum.wrapping_add(u16::from_le_bytes([low, high]));
    }
}

/// Both are equally long.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(impacts: &[u8], factor: u16, sums: &mut [u16]) {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_add_epi16, _mm256_cvtepu8_epi16, _mm256_loadu_si256,
        _mm256_mulhi_epu16, _mm256_set1_epi16, _mm256_slli_epi16, _mm256_storeu_si256,
    };
    let (impacts, last_impacts) = impacts.as_chunks::<16>();
    let (sums, last_sums) = sums.as_chunks_mut::<16>();
    let factors = _mm256_set1_epi16(factor.cast_signed());
    for (sums, impacts) in sums.iter_mut().zip(impacts) {
        let place: *mut __m256i = sums.as_mut_ptr().cast();
        // SAFETY: a chunk has 16 bytes; the load needs no alignment.
        let impacts = unsafe { _mm_loadu_si128(impacts.as_ptr().cast()) };
        // SAFETY: a chunk has 32 bytes; the load needs no alignment.
        let before = unsafe { _mm256_loadu_si256(place) };
        // The upper half of a product of 16 bits each.
        let wide = _mm256_slli_epi16::<8>(_mm256_cvtepu8_epi16(impacts));
        let after = _mm256_add_epi16(before, _mm256_mulhi_epu16(wide, factors));
        // SAFETY: a chunk has 32 bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(place, after) };
    }
    add(last_impacts, factor, last_sums);
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
