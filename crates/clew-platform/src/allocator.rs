//! What the allocator keeps of what was freed.

#![allow(unsafe_code, reason = "the one call that gives it back is foreign")]

/// Gives back to the system what was freed and the allocator keeps to hand it out again. mimalloc does so by itself, but a second
/// later and only when somebody wants more: a server that has little is over its bound by then. Milliseconds where much is
/// kept; nothing where another allocator is the process's.
pub fn give_back_freed() {
    // SAFETY: may be called at any time by any thread, and takes nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout};

    use super::*;
    use crate::account::own_bytes;

    #[test]
    fn what_was_freed_is_given_back_at_once() {
        const BYTES: usize = 128 << 20;
        let layout = Layout::from_size_align(BYTES, 8).unwrap();
        let allocator = mimalloc::MiMalloc;
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
