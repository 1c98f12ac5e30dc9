//! An allocator that counts, so that a program can say how often it allocates where that matters.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread on their way to another allocator. Costs about a
/// nanosecond an allocation.
#[derive(Debug)]
pub struct CountingAllocator<A>(pub A);

/// How often the present thread has allocated, or made an allocation larger, so far. Zero for
/// ever unless [`CountingAllocator`] is the program's allocator.
pub fn thread_allocations() -> u64 {
    ALLOCATIONS.try_with(Cell::get).unwrap_or_default()
}

fn count() {
    // A thread that is ending has no counter any more, and nobody who would read it.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every method hands its arguments unchanged to the wrapped allocator, which keeps the
// contract; counting touches only a thread-local number and never allocates.
#[allow(unsafe_code, reason = "allocators are unsafe by contract")]
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on; the pointer came from the same allocator.
        unsafe { self.0.dealloc(pointer, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on; the pointer came from the same allocator.
        unsafe { self.0.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::System;

    use super::*;

    #[global_allocator]
    static ALLOCATOR: CountingAllocator<System> = CountingAllocator(System);

    #[test]
    fn allocations_of_this_thread_are_counted() {
        let before = thread_allocations();
        let mut bytes: Vec<u8> = Vec::with_capacity(10);
        assert_eq!(thread_allocations(), before + 1);
        bytes.reserve_exact(1000);
        assert_eq!(thread_allocations(), before + 2);
        drop(bytes);
        let zeros: Vec<u8> = std::iter::repeat_n(0, 100).collect();
        assert_eq!(thread_allocations(), before + 3);
        drop(zeros);
        std::thread::spawn(|| drop(vec![1u8; 10])).join().unwrap();
    }
}
