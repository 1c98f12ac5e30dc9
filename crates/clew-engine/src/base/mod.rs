//! What the rooms of the engine have in common: errors, names, settings, operations, threads, the disk's limits.

pub(crate) mod access;
pub(crate) mod activity;
pub(crate) mod auto_creation;
pub(crate) mod blocks;
pub(crate) mod date_names;
pub(crate) mod disk;
pub(crate) mod error;
pub(crate) mod index_name;
pub(crate) mod names;
pub(crate) mod operation;
pub(crate) mod phase;
pub(crate) mod routing;
pub(crate) mod search_pool;
pub(crate) mod settings;
pub(crate) mod signal;
pub(crate) mod slow;
pub(crate) mod slow_line;
pub(crate) mod waiting;
pub(crate) mod write_request;
