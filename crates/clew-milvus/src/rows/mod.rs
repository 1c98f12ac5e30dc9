//! Rows on their way in, from columns to documents, and on their way out, from documents to columns.

mod answer;
mod column;
mod document;
mod sparse;
mod structs;
mod value;
mod wanted;

pub(crate) use answer::{filled, group_column, group_texts, keys, told_column};
pub(crate) use column::numbers;
pub(crate) use document::{Ids, documents, not_given};
pub(crate) use sparse::sparse_row;
pub(crate) use wanted::Wanted;
