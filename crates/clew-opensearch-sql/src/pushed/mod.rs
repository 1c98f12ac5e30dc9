//! What of a plan a search does: its conditions, groups and order as the body of one, and its answer as rows.

pub(crate) mod filter;
pub(crate) mod groups;
pub(crate) mod hit;
pub(crate) mod push;
pub(crate) mod scan;
