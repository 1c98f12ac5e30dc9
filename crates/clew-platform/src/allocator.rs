//! The allocator: mimalloc, and what it keeps of what was freed.

#![allow(
    unsafe_code,
    reason = "allocators are unsafe by contract, and this one is foreign"
)]

use std::alloc::{GlobalAlloc, Layout};

/// mimalloc, asked for aligned memory only where it has to be: what it gives anyway fits nearly every type, and the way that
/// promises more takes a byte more for each allocation above a kilobyte, an inner address, and twice as many instructions.
#[derive(Debug)]
pub struct Mimalloc;

/// All that is as large as this begins at a multiple of it: C's `max_align_t`, for which mimalloc rounds its sizes.
const ALIGNED: usize = 16;

fn is_aligned_anyway(size: usize, align: usize) -> bool {
    align <= ALIGNED && align <= size
}

// SAFETY: mimalloc keeps the contract: what it allocates is as large as asked for and nobody else's until it is freed, and a
// null pointer says that there is none. Alignment is as asked for: see `is_aligned_anyway`, and the aligned functions else.
unsafe impl GlobalAlloc for Mimalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        let start = match is_aligned_anyway(size, align) {
            // SAFETY: may be called with any size.
            true => unsafe { libmimalloc_sys::mi_malloc(size) },
            // SAFETY: likewise; the alignment of a layout is a power of two.
            false => unsafe { libmimalloc_sys::mi_malloc_aligned(size, align) },
        };
        start.cast()
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        let start = match is_aligned_anyway(size, align) {
            // SAFETY: may be called with any size.
            true => unsafe { libmimalloc_sys::mi_zalloc(size) },
            // SAFETY: likewise; the alignment of a layout is a power of two.
            false => unsafe { libmimalloc_sys::mi_zalloc_aligned(size, align) },
        };
        start.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, _layout: Layout) {
        // SAFETY: the caller promises that it was allocated here and is given up.
        unsafe { libmimalloc_sys::mi_free(pointer.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (old, align) = (pointer.cast(), layout.align());
        let start = match is_aligned_anyway(size, align) {
            // SAFETY: the caller promises that it was allocated here; by which of the two functions does not matter.
            true => unsafe { libmimalloc_sys::mi_realloc(old, size) },
            // SAFETY: likewise.
            false => unsafe { libmimalloc_sys::mi_realloc_aligned(old, size, align) },
        };
        start.cast()
    }
}

/// Gives back to the system what was freed and the allocator keeps to hand it out again. mimalloc does so by itself, but a second
/// later and only when somebody wants more: a server that has little is over its bound by then. Milliseconds where much is
/// kept; nothing where another allocator is the process's.
pub fn give_back_freed() {
    // SAFETY: may be called at any time by any thread, and takes nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::own_bytes;

    #[test]
    fn every_layout_is_aligned_as_it_asks() {
        let sizes = (1..200).chain([1000, 1025, 3000, 8191, 9216, 70_001, 3 << 20]);
        for size in sizes {
            for align in [1, 2, 8, 16, 32, 64, 4096] {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the layout is not empty.
                let start = unsafe { Mimalloc.alloc_zeroed(layout) };
                assert!(!start.is_null() && start.addr().is_multiple_of(align));
                // SAFETY: all of it lies in what was allocated, and is initialised.
                let held = unsafe { std::slice::from_raw_parts_mut(start, size) };
                assert!(held.iter().all(|byte| *byte == 0), "{layout:?}");
                held.fill(7);
                // SAFETY: it was allocated by this layout, and the size is not zero.
                let larger = unsafe { Mimalloc.realloc(start, layout, size * 2 + 1) };
                assert!(!larger.is_null() && larger.addr().is_multiple_of(align));
                // SAFETY: as many bytes as before are what they were.
                let held = unsafe { std::slice::from_raw_parts(larger, size) };
                assert!(held.iter().all(|byte| *byte == 7), "{layout:?}");
                let layout = Layout::from_size_align(size * 2 + 1, align).unwrap();
                // SAFETY: it has this layout now, and nobody has it any more.
                unsafe { Mimalloc.dealloc(larger, layout) };
            }
        }
    }

    #[test]
    fn what_was_freed_is_given_back_at_once() {
        const BYTES: usize = 128 << 20;
        let layout = Layout::from_size_align(BYTES, 8).unwrap();
        let allocator = Mimalloc;
        let before = own_bytes().unwrap();
        // SAFETY: the layout is not empty.
        let start = unsafe { allocator.alloc(layout) };
        assert!(!start.is_null());
        // SAFETY: all of it lies in what was allocated.
        unsafe { start.write_bytes(1, BYTES) };
        let taken = own_bytes().unwrap();
        // SAFETY: it was allocated by this layout, and nobody has it any more.
        unsafe { allocator.dealloc(start, layout) };
        assert!(taken >= before + BYTES / 2, "{before} {taken}");
        give_back_freed();
        let after = own_bytes().unwrap();
        assert!(after <= taken - BYTES / 2, "{taken} {after}");
    }
}
