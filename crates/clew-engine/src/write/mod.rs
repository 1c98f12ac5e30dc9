//! The write path.

mod as_one;
mod batches;
mod group;
pub(crate) mod operations;
mod room;
mod watched;
pub(crate) mod write_memory;
