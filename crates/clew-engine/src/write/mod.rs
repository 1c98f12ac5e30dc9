//! The write path.

pub(crate) mod operations;
mod watched;
pub(crate) mod write_memory;
