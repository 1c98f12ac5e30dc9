//! The best documents of the common queries (words joined by or, by and, and phrases), read from the postings
//! directly: whatever cannot reach the ten best is passed over by the greatest scores that tantivy keeps with
//! each block of 128 documents, before it is decompressed.
//!
//! Scores are BM25's as tantivy computes them for one word; the scores of several words are added in double
//! precision, where the sum of a few single-precision numbers is exact, so that it does not depend on the order
//! in which pruning happens to add them.
//!
//! The ways, each in its file: one word by its best documents alone, once it is asked for so often that to find them
//! pays (`champions`); words that must all be there by intersecting blocks (`all`); several of which any will do by their
//! impacts, a byte for each document of a frequent word, added for all documents at once (`dense`), or with the rarer
//! words' lists leading (`any`); phrases (`phrase`). Matches are counted apart, from marks of documents (`count`). Segments
//! go best first under one threshold, and the next one's lists are prefetched meanwhile.
//!
//! What is found out about words is kept for those asked for lately (`field`: at most 32 MiB for each searched field of a
//! shard), impacts for a segment's frequent words (`impacts`: at most 32 MiB for a field of a segment and 256 MiB in all
//! where there is memory).
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
