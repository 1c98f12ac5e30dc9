//! An allocator that knows how much memory is held, and how much was held at most, so that what a
//! build is said to need can be compared with what it takes.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts the bytes that all threads hold, on their way to another allocator. For tests: threads
/// write the same two numbers at each allocation.
#[derive(Debug)]
pub struct PeakAllocator<A>(pub A);

/// Bytes held now. Zero for ever unless [`PeakAllocator`] is the program's allocator.
pub fn live_bytes() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// Bytes held at most since [`restart_peak`].
pub fn peak_bytes() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// Starts anew with what is held now.
pub fn restart_peak() {
    PEAK.store(live_bytes(), Ordering::Relaxed);
}

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

fn shrink(bytes: usize) {
    LIVE.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: every method hands its arguments unchanged to the wrapped allocator, which keeps the
// contract; counting touches only two numbers and never allocates.
#[allow(unsafe_code, reason = "allocators are unsafe by contract")]
unsafe impl<A: GlobalAlloc> GlobalAlloc for PeakAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: the caller's promise is passed on; the pointer came from the same allocator.
        unsafe { self.0.dealloc(pointer, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may be held at once; that they are is the worst case.
        grow(size);
        // SAFETY: the caller's promise is passed on; the pointer came from the same allocator.
        let moved = unsafe { self.0.realloc(pointer, layout, size) };
        shrink(layout.size());
        moved
    }
}
