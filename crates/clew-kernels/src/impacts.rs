//! Sums of impacts: for each document of a window what a word adds to its score, as one byte.

use crate::Kernels;

pub(crate) type AddImpacts = fn(&[u8], u16, &mut [u16]);

impl Kernels {
    /// Adds `impacts[i] * factor / 256`, rounded down, to `sums[i]`, modulo 2^16, for as long as both go on.
    ///
    /// All instruction sets answer the same.
    #[inline]
    pub fn add_impacts(&self, impacts: &[u8], factor: u16, sums: &mut [u16]) {
        let count = impacts.len().min(sums.len());
        (self.add_impacts)(&impacts[..count], factor, &mut sums[..count]);
    }
}

/// Both are equally long.
pub(crate) fn scalar(impacts: &[u8], factor: u16, sums: &mut [u16]) {
    for (sum, impact) in sums.iter_mut().zip(impacts) {
        let [_, low, high, _] = (u32::from(*impact) * u32::from(factor)).to_le_bytes();
        *sum = sum.wrapping_add(u16::from_le_bytes([low, high]));
    }
}

/// Both are equally long.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(crate) fn avx2(impacts: &[u8], factor: u16, sums: &mut [u16]) {
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
    scalar(last_impacts, factor, last_sums);
}
