//! The best documents of the common queries (words joined by or, by and, and phrases), read from the postings
//! directly: whatever cannot reach the ten best is passed over by the greatest scores that tantivy keeps with
//! each block of 128 documents, before it is decompressed.
//!
//! Scores are BM25's as tantivy computes them for one word; the scores of several words are added in double
//! precision, where the sum of a few single-precision numbers is exact, so that it does not depend on the order
//! in which pruning happens to add them.
//!
//! Deliberately absent: queries of any other shape, and deciding what to count; see `search`.

mod bm25;
mod candidates;
mod champions;
mod dictionary;
mod field;
mod files;
mod filter;
mod layout;
mod list;
mod lists;
mod near;
mod positions;
mod recent;

mod all;
mod any;
mod count;
mod dense;
mod hits;
mod impacts;
mod phrase;
mod query;

#[cfg(test)]
mod tests;

pub(crate) use bm25::{Weight, idf};
pub(crate) use field::{FoundWord, SearchedField};
pub(crate) use files::SegmentFiles;
pub(crate) use filter::Filter;
pub(crate) use hits::{Admission, Beside, Hits};
pub(crate) use lists::Lists;
pub(crate) use near::{Around, NearWord, NearWords};
pub(crate) use query::{Ranked, Shape, WordIn};
