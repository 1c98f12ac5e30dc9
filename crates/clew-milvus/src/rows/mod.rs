//! Rows on their way in, from columns to documents, and on their way out, from documents to columns.

mod answer;
mod column;
mod document;

pub(crate) use answer::{Wanted, group_column, group_texts, keys, sparse_entries};
pub(crate) use column::{numbers, sparse_row};
pub(crate) use document::{Ids, documents};
