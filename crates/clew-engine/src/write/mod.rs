//! The write path.

pub(crate) mod operations;
pub(crate) mod write_memory;
