//! Ascending numbers that two lists have in common.

/// Takes two ascending lists and where to write the places in each; returns how many there are.
type Intersect = fn(&[u32], &[u32], [&mut [u32]; 2]) -> usize;

/// The functions of one instruction set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SortedTable {
    pub(crate) intersect: Intersect,
}

pub(crate) const SCALAR: SortedTable = SortedTable { intersect };

/// Only in tables for which AVX2 was detected.
#[cfg(target_arch = "x86_64")]
pub(crate) const AVX2: SortedTable = SortedTable {
    // SAFETY: the feature was detected.
    intersect: |a, b, places| unsafe { intersect_avx2(a, b, places) },
};

/// Only in tables for which AVX-512F and POPCNT were detected, on CPUs that [`has_vp2intersect`].
#[cfg(target_arch = "x86_64")]
pub(crate) const VP2INTERSECT: SortedTable = SortedTable {
    // SAFETY: the features were detected.
    intersect: |a, b, places| unsafe { intersect_vp2intersect(a, b, places) },
};

/// Whether one instruction compares sixteen numbers with sixteen others in all pairs. Where AVX-512 has to make do without
/// it, it takes 1.2 to 1.9 times as long as AVX2.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_vp2intersect() -> bool {
    is_x86_feature_detected!("avx512vp2intersect")
}

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

/// The same with sixteen numbers of each list: the instruction tells which of them are in the other.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "places of more numbers than there are do not occur; instructions take numbers without a sign as with one"
)]
fn intersect_vp2intersect(a: &[u32], b: &[u32], [places, others]: [&mut [u32]; 2]) -> usize {
    use std::arch::x86_64::{
        __m512i, __mmask16, _mm512_add_epi32, _mm512_loadu_epi32, _mm512_mask_loadu_epi32,
        _mm512_mask_storeu_epi32, _mm512_maskz_compress_epi32, _mm512_set1_epi32,
        _mm512_setr_epi32,
    };
    const LANES: usize = 16;
    // A bit for each of the first numbers.
    let first = |count: usize| ((1u32 << count.min(LANES)) - 1) as __mmask16;
    // The sixteen from a place on, the last of them, and which they are. Where there are fewer, the last one stands in for
    // the others.
    let load = |list: &[u32], at: usize| -> (__m512i, u32, __mmask16) {
        let rest = &list[at..];
        if let Some(sixteen) = rest.first_chunk::<LANES>() {
            // SAFETY: there are 64 bytes; the load needs no alignment.
            let loaded = unsafe { _mm512_loadu_epi32(sixteen.as_ptr().cast()) };
            return (loaded, sixteen[LANES - 1], __mmask16::MAX);
        }
        let (last, there) = (rest[rest.len() - 1], first(rest.len()));
        let filled = _mm512_set1_epi32(last as i32);
        // SAFETY: only numbers that are there are read.
        let loaded = unsafe { _mm512_mask_loadu_epi32(filled, there, rest.as_ptr().cast()) };
        (loaded, last, there)
    };
    let counting = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let store = |found: __mmask16, at: usize, places: &mut [u32]| {
        let numbers = _mm512_add_epi32(counting, _mm512_set1_epi32(at as i32));
        let numbers = _mm512_maskz_compress_epi32(found, numbers);
        // SAFETY: no more numbers are written than there is room for.
        unsafe {
            _mm512_mask_storeu_epi32(places.as_mut_ptr().cast(), first(places.len()), numbers);
        }
    };
    let (mut at, mut other, mut count) = (0, 0, 0);
    while at < a.len() && other < b.len() {
        let ((some, last, there), (more, last_other, there_too)) = (load(a, at), load(b, other));
        let (in_a, in_b): (__mmask16, __mmask16);
        // SAFETY: the instruction is there, and changes nothing but its two masks, which are registers that follow each
        // other.
        unsafe {
            std::arch::asm!(
                "vp2intersectd k2, {some}, {more}",
                some = in(zmm_reg) some, more = in(zmm_reg) more, out("k2") in_a, out("k3") in_b,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        let in_a = in_a & there;
        if in_a != 0 {
            // Both ascend: the first of the one are the first of the other.
            let end = count + in_a.count_ones() as usize;
            store(in_a, at, &mut places[count..end]);
            store(in_b & there_too, other, &mut others[count..end]);
            count = end;
        }
        at += LANES * usize::from(last <= last_other);
        other += LANES * usize::from(last_other <= last);
    }
    count
}
