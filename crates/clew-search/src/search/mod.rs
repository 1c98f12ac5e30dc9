//! Running a query over one shard's segments: totals, the best documents by score or by sort
//! keys, and the stream of matching documents that aggregations read.
//!
//! Deliberately absent: shards (the caller runs one search per shard and merges), starting threads (the caller
//! lends them), and fetching what a document holds.

mod count_only;
mod cursor;
mod explain;
mod figures;
mod first_matches;
mod grouped;
mod helpers;
mod hit;
mod inner;
mod key_source;
mod likeness;
mod merge;
mod missing_value;
mod nested_sort;
mod ranking;
mod relatives;
mod request;
mod rescore;
mod run;
mod scan;
mod script_texts;
mod similar;
mod sort_number;
mod sort_place;
mod sorted;
mod span;
mod threads;
mod top;
mod total;

pub use cursor::{KeyCursor, Slot};
pub use explain::{Explained, explain, explain_inside, explain_miss, explain_search};
pub use figures::{FieldFigures, TermFigures, Vocabulary, field_figures, term_figures, vocabulary};
pub use hit::{MergedHit, ShardHit};
pub use inner::{InnerFound, InnerRequest, inner_hits};
pub use likeness::Likeness;
pub use merge::{MergedHits, merge_hits};
pub use nested_sort::SortObjects;
pub use relatives::{Kin, kin_of};
pub use request::{DocVisitor, ShardRequest, ShardResult};
pub use rescore::{Combine, Rescore, rescore};
pub use run::{in_time, search};
pub use similar::{SimilarTerm, Spelling, similar_terms, term_docs};
pub use threads::{Threads, share};
pub use total::{Relation, Total, TrackTotal};

#[cfg(any(test, feature = "fixture"))]
#[allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "for tests alone: names say what fields are, and what cannot be made ends the test"
)]
pub mod fixture;
#[cfg(test)]
mod tests;
