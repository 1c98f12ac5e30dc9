//! An index: its shards, its state, and what came of writes to it.

pub(crate) mod growth;
pub(crate) mod handle;
pub(crate) mod index_state;
pub(crate) mod write_outcome;
