//! What walks of graphs need besides the graph.

use std::cell::RefCell;

use clew_vector::Scratch;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::default());
}

/// Lends a search the marks and pools that its thread keeps, so that they are made once for a thread and not for a search.
/// What is run must not ask for them again.
pub(crate) fn with_scratch<T>(search: impl FnOnce(&mut Scratch) -> T) -> T {
    SCRATCH.with_borrow_mut(search)
}
