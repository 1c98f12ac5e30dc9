//! How one shard answers: queries compiled under a mapping, and run over segments.
//!
//! [`compile()`] gives a query tree a meaning under one shard's mapping and statistics, so that scores equal OpenSearch's;
//! [`search()`] runs it over a [`Snapshot`] of segments; `ranked` answers words and phrases from the postings directly.
//! [`SegmentBuilder`] makes segments; highlights, suggestions and percolation look at what was found or stored.
//!
//! ```
//! use clew_query::Query;
//! use clew_schema::{FieldKind, Mapping, NewField};
//! use clew_search::DocumentMatcher;
//!
//! let mut mapping = Mapping::new();
//! let title = FieldKind::text("standard");
//! mapping.add([NewField { path: "title".into(), kind: title, indexed: true, multi_field: false }])?;
//! let documents = [br#"{"title": "A tale of two cities"}"#.to_vec()];
//! let matcher = DocumentMatcher::build(&mapping, &documents)?;
//! assert_eq!(matcher.matches(&Query::term("title", "tale"), 0)?.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rooms, lowest first: `cache_room`, `indexing`, `segments` (sets of documents, and what is known of segments), `ranked`, `snapshot`,
//! `query` (the tree's meaning; stored queries too), `search`, `highlight`, `suggest`.
//!
//! Deliberately absent: shards, the log, files, and any protocol's JSON.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod cache_room;

mod indexing;

mod segments;

mod ranked;

mod snapshot;

mod query;

mod search;

mod highlight;

mod suggest;

pub use cache_room::size_caches;
pub use highlight::{
    Boundary, FastOptions, HighlightError, HighlightField, HighlightOptions, Highlighter,
    plain_texts,
};
pub use indexing::SegmentBuilder;
pub use query::{
    Collecting, CompileContext, DerivedPath, DerivedValues, DocumentMatcher, GivenValue,
    JoinRelation, KnnResolver, Matched, Needs, OpenDerived, OpenValueScript, Percolated,
    Percolations, Plan, QueriesProfile, QueryProfile, QueryRecorder, Regexp, RescoreProfile,
    SegmentHits, Stopwatch, Timing, ValueScript, VectorAnswers, VectorStage, compile, describe,
    describe_in, longest_expression, matching, matching_within, may_match, plan, postings_max,
    stored_query, texts_at,
};
pub use search::{
    Combine, DocVisitor, Explained, FieldFigures, InnerFound, InnerRequest, KeyCursor, Kin,
    Likeness, MergedHit, MergedHits, Relation, Rescore, ShardHit, ShardRequest, ShardResult,
    SimilarTerm, Slot, SortObjects, Spelling, TermFigures, Threads, Total, TrackTotal, Vocabulary,
    explain, explain_inside, explain_miss, explain_search, field_figures, in_time, inner_hits,
    kin_of, merge_hits, rescore, search, share, similar_terms, term_docs, term_figures, vocabulary,
};
pub use segments::{
    Blocks, DocumentRow, DocumentRows, FilterCache, FilterCacheFigures, Ids, Scope, SegmentBits,
    TakeRow,
};
pub use snapshot::{NamedIndex, Snapshot};
pub use suggest::{Completed, CompletionWish, complete};

#[cfg(any(test, feature = "fixture"))]
pub use search::fixture;
