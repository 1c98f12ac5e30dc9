//! Hints that memory will be needed soon: a graph walk knows its next reads long before it needs
//! them, and waiting for memory is most of its time.

/// A hint covers one cache line.
const LINE_BYTES: usize = 64;

/// Asks for the cache line that holds `slice[index]`. A hint only: it never fails and never faults,
/// and an index outside the slice is ignored.
#[inline]
pub fn prefetch<T>(slice: &[T], index: usize) {
    if let Some(item) = slice.get(index) {
        hint(std::ptr::from_ref(item).cast());
    }
}

/// Asks for every cache line of `slice[start..start + len]`, cut to the slice.
#[inline]
pub fn prefetch_span<T>(slice: &[T], start: usize, len: usize) {
    let end = start.saturating_add(len).min(slice.len());
    let Some(span) = slice.get(start..end) else {
        return;
    };
    let first: *const u8 = span.as_ptr().cast();
    for offset in (0..size_of_val(span)).step_by(LINE_BYTES) {
        hint(first.wrapping_add(offset));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn hint(address: *const u8) {
    // Into the second cache: the first has few places for lines on their way, and on Zen 4 a walk that
    // asked for it (T0) took 1.7 times as long.
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: prefetching is part of the x86-64 baseline and does not fault on any address.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) }
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn hint(address: *const u8) {
    // SAFETY: `prfm` only hints; it does not fault, write memory or change flags.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
fn hint(_address: *const u8) {}
