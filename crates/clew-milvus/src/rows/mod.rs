//! Rows on their way in, from JSON to columns and from columns to documents, and on their way out, from documents to
//! columns and from columns to JSON.

mod answer;
mod column;
mod document;
mod json;
mod json_structs;
mod sparse;
mod structs;
mod value;
mod wanted;

pub(crate) use answer::{filled, group_column, group_texts, keys, told_column};
pub(crate) use column::numbers;
pub(crate) use document::{Ids, NewRow, defaults_beside, documents, not_given};
pub(crate) use json::{WrongRows, columns, objects, single, vector_bytes};
pub(crate) use sparse::sparse_row;
pub(crate) use value::not_finite;
pub(crate) use wanted::Wanted;
