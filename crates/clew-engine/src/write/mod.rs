//! The write path.

mod batches;
mod left;
pub(crate) mod operations;
mod room;
mod watched;
pub(crate) mod write_memory;
