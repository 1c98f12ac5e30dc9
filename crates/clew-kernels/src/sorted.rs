//! Ascending numbers that two lists have in common.

use crate::Kernels;

/// Takes two ascending lists and where to write the places in each; returns how many there are.
type Intersect = fn(&[u32], &[u32], [&mut [u32]; 2]) -> usize;

/// The functions of one instruction set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SortedTable {
    intersect: Intersect,
}

impl Kernels {
    /// Finds the numbers that two strictly ascending lists have in common: writes their places in `a` and in `b` and
    /// returns how many they are. Each number of both is read, so it is for lists of similar lengths.
    ///
    /// All instruction sets answer the same.
    ///
    /// # Panics
    /// When there is not room for so many places as the shorter list has numbers.
    #[inline]
    pub fn intersect(&self, a: &[u32], b: &[u32], places: [&mut [u32]; 2]) -> usize {
        let most = a.len().min(b.len());
        (self.sorted.intersect)(a, b, places.map(|places| &mut places[..most]))
    }
}

pub(crate) const SCALAR: SortedTable = SortedTable { intersect };

/// Only in tables for which AVX2 was detected.
#[cfg(target_arch = "x86_64")]
pub(crate) const AVX2: SortedTable = SortedTable {
    // SAFETY: the feature was detected.
    intersect: |a, b, places| unsafe { intersect_avx2(a, b, places) },
};

/// The specification: which list goes on cannot be foreseen, so only finds are branched on.
#[allow(
    clippy::cast_possible_truncation,
    reason = "places of more numbers than there are do not occur"
)]
fn intersect(a: &[u32], b: &[u32], [places, others]: [&mut [u32]; 2]) -> usize {
    let (mut at, mut other, mut count) = (0, 0, 0);
    while let (Some(one), Some(two)) = (a.get(at), b.get(other)) {
        if one == two {
            (places[count], others[count]) = (at as u32, other as u32);
            count += 1;
        }
        at += usize::from(one <= two);
        other += usize::from(two <= one);
    }
    count
}

/// Numbers that are compared with each other at once.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 8;

/// Eight numbers of one list are compared with eight of the other in all pairs, and those with the lesser end are left
/// behind (Lemire, Boytsov, Kurz: "SIMD compression and the intersection of sorted integers", 2016).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[allow(
    clippy::cast_possible_truncation,
    reason = "places of more numbers than there are do not occur"
)]
fn intersect_avx2(a: &[u32], b: &[u32], [places, others]: [&mut [u32]; 2]) -> usize {
    use std::arch::x86_64::{
        __m256i, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_movemask_ps,
        _mm256_or_si256, _mm256_permute2x128_si256, _mm256_shuffle_epi32,
    };
    // The eight from a place on and the last of them. Where there are fewer, the last one stands in for the others.
    let load = |list: &[u32], at: usize| -> (__m256i, u32) {
        let mut filled = [0; LANES];
        let rest = &list[at..];
        let eight = rest.first_chunk().unwrap_or_else(|| {
            filled.fill(rest[rest.len() - 1]);
            filled[..rest.len()].copy_from_slice(rest);
            &filled
        });
        // SAFETY: there are 32 bytes; the load needs no alignment.
        let loaded = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
        (loaded, eight[LANES - 1])
    };
    let either = |a, b| _mm256_or_si256(a, b);
    // Each number with the four of the same half, turned round.
    let pairs = |a, b| {
        let same = _mm256_cmpeq_epi32(a, b);
        let one = _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<0b00_11_10_01>(b));
        let two = _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<0b01_00_11_10>(b));
        let three = _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<0b10_01_00_11>(b));
        either(either(same, one), either(two, three))
    };
    // A bit for each number that is among the others, and counts: the last of a list may stand in for many.
    let shared = |numbers, others, left: usize| {
        let swapped = _mm256_permute2x128_si256::<1>(others, others);
        let equal = either(pairs(numbers, others), pairs(numbers, swapped));
        let bits = _mm256_movemask_ps(_mm256_castsi256_ps(equal));
        bits & ((1 << left.min(LANES)) - 1)
    };
    let (mut at, mut other, mut count) = (0, 0, 0);
    while at < a.len() && other < b.len() {
        let ((some, last), (more, last_other)) = (load(a, at), load(b, other));
        let mut in_a = shared(some, more, a.len() - at);
        if in_a != 0 {
            // Both ascend: the first of the one are the first of the other.
            let mut in_b = shared(more, some, b.len() - other);
            while in_a != 0 {
                places[count] = at as u32 + in_a.trailing_zeros();
                others[count] = other as u32 + in_b.trailing_zeros();
                (in_a, in_b) = (in_a & (in_a - 1), in_b & (in_b - 1));
                count += 1;
            }
        }
        at += LANES * usize::from(last <= last_other);
        other += LANES * usize::from(last_other <= last);
    }
    count
}
