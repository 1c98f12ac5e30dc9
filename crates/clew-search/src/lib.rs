//! How one shard answers: queries compiled under a mapping, and run over segments.
//!
//! [`compile()`] gives a query tree a meaning under one shard's mapping and statistics, so that scores equal OpenSearch's;
//! [`search()`] runs it over a [`Snapshot`] of segments; `ranked` answers words and phrases from the postings directly.
//! [`SegmentBuilder`] makes segments; highlights, suggestions and percolation look at what was found or stored.
//!
//! Deliberately absent: shards, the log, files, and any protocol's JSON.

mod cache_room;
mod highlight;
mod indexing;
mod percolate;
mod query;
mod ranked;
mod search;
mod suggest;

pub use cache_room::size_caches;
pub use highlight::{HighlightError, HighlightField, HighlightOptions, Highlighter};
pub use indexing::SegmentBuilder;
pub use percolate::{DocumentMatcher, Matched, Needs, Percolated, Percolations, stored_query};
pub use query::{
    CompileContext, JoinRelation, KnnResolver, NoKnn, Plan, Regexp, SegmentHits, compile, plan,
    postings_max, texts_at,
};
pub use search::{
    Blocks, Combine, DocVisitor, Explained, FieldFigures, FilterCache, FilterCacheFigures,
    GeoDistanceKey, InnerFound, InnerRequest, KeyCursor, Kin, MergedHit, MergedHits, Missing, Mode,
    NestedSort, Order, Relation, Rescore, Scope, SegmentBits, ShardHit, ShardRequest, ShardResult,
    SimilarTerm, Slot, Snapshot, SortKey, SortObjects, SortValue, Spelling, TermFigures, Threads,
    Total, TrackTotal, compare_rows, count, describe, explain, field_figures, inner_hits, kin_of,
    matching, matching_within, merge_hits, rescore, search, share, similar_terms, term_docs,
    term_figures,
};
pub use suggest::{Completed, CompletionWish, complete};

#[cfg(any(test, feature = "fixture"))]
pub use search::fixture;
