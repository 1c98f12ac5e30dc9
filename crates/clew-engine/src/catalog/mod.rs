//! What is kept of indexes and definitions beside documents: data, and the log's entries that change it.

pub(crate) mod alias;
pub(crate) mod definitions;
pub(crate) mod mapping_change;
pub(crate) mod planner;
pub(crate) mod record;
