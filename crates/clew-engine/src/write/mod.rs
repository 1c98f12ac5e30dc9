//! The write path.

mod batches;
pub(crate) mod operations;
mod watched;
pub(crate) mod write_memory;
