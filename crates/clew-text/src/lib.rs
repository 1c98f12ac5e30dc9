//! Mappings, analyzers, queries and aggregations on tantivy.
//!
//! A [`Mapping`] says what a document's fields are and owns the tantivy schema, which only grows.
//! `document` turns JSON into what a segment writer takes; `query` is the typed query tree that
//! every protocol builds; `search` runs it over a [`Snapshot`] of segments; `aggregation` computes
//! buckets and metrics over the matching documents.
//!
//! Deliberately absent: shards, the log, files, any protocol's JSON except the mapping itself.

mod mapping;

pub mod analysis;
mod document;

mod query;
mod search;

mod highlight;

mod aggregation;

pub use aggregation::{
    AggCollector, AggContext, AggError, AggErrorKind, AggLimits, AggResult, AggSpec, Bounds,
    Bucket, CalendarUnit, DateHistogramSpec, DateInterval, Direction, ExtendedStats,
    HistogramResult, HistogramSpec, IncludeExclude, Intermediate, Key, Metric, NamedAgg,
    NamedResult, OrderBy, OrderKey, RangeBucket, RangeItem, RangeSpec, Scalar, Source, Stats,
    TermFilter, TermsKind, TermsResult, TermsSpec, ValueFormat,
};
pub use analysis::analyzers;
pub use document::{
    DATE_FORMAT_DEFAULT, DateError, DateFormat, DocumentError, Parsed, ParsedDocument, Rounding,
    StoredVector, restore_vectors,
};
pub use highlight::{HighlightField, HighlightOptions, Highlighter};
pub use mapping::{
    Dynamic, FieldId, FieldKind, FieldSettings, FloatKind, IntegerKind, MappedField, Mapping,
    MappingError, MappingLimits, NewField, VectorMapping,
};
pub use query::{
    Bool, Boosting, CompileContext, FieldBoost, Fuzziness, FuzzyDistance, KnnQuery, KnnResolver,
    Match, MatchPhrase, MinimumShouldMatch, MultiMatch, MultiMatchKind, NoKnn, Operator, Pattern,
    Plan, Query, QueryError, QueryString, Range, SegmentHits, Term, compile, plan,
};
pub use search::{
    Combine, DocVisitor, Explained, FieldFigures, FieldStatistics, MergedHit, MergedHits, Missing,
    Mode, Order, Relation, Rescore, SegmentBits, ShardHit, ShardRequest, ShardResult, SimilarTerm,
    Snapshot, SortKey, SortValue, Spelling, TermFigures, Total, TrackTotal, count, describe,
    explain, field_figures, matching, merge_hits, rescore, search, similar_terms, term_docs,
    term_figures,
};
