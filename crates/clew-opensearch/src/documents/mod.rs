//! Documents by id: written one by one, in bulks and by query, read, and taken apart.

mod after_update;
pub(crate) mod bulk;
pub(crate) mod bulk_lines;
pub(crate) mod by_query;
pub(crate) mod document;
pub(crate) mod document_write;
pub(crate) mod mget;
pub(crate) mod scripted;
mod slow;
mod term_filter;
pub(crate) mod term_vectors;
pub(crate) mod update_body;
pub(crate) mod write_reply;
