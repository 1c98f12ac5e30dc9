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

mod aggregation;

pub use aggregation::{
    AggCollector, AggContext, AggError, AggErrorKind, AggLimits, AggResult, AggSpec, Attached,
    Bounds, Bucket, CalendarUnit, DateHistogramSpec, DateInterval, Direction, ExtendedStats,
    HistogramResult, HistogramSpec, IncludeExclude, Intermediate, Key, Metric, NamedAgg,
    NamedResult, OrderBy, OrderKey, RangeBucket, RangeItem, RangeSpec, Scalar, Source, Stats,
    TermFilter, TermsKind, TermsResult, TermsSpec, TopHit, TopHitsResult, TopHitsSpec, ValueFormat,
};
pub use analysis::analyzers;
pub use document::{
    DATE_FORMAT_DEFAULT, DateError, DateFormat, DocumentError, NestedObject, Parsed,
    ParsedDocument, Rounding, StoredVector, restore_vectors,
};
pub use mapping::{
    Dynamic, FieldId, FieldKind, FieldSettings, FloatKind, IntegerKind, MappedField, Mapping,
    MappingError, MappingLimits, NewField, VectorMapping,
};
pub use query::{
    Bool, Boosting, CompileContext, FieldBoost, Fuzziness, FuzzyDistance, JoinScore, KnnQuery,
    KnnResolver, Match, MatchPhrase, MinimumShouldMatch, MultiMatch, MultiMatchKind, NestedQuery,
    NoKnn, Operator, Pattern, Plan, Query, QueryError, QueryString, Range, SegmentHits, Term,
    compile, plan,
};
pub use search::{
    Blocks, DocVisitor, FieldStatistics, InnerFound, InnerRequest, MergedHit, MergedHits, Missing,
    Mode, Order, Relation, Scope, SegmentBits, ShardHit, ShardRequest, ShardResult, Snapshot,
    SortKey, SortValue, Total, TrackTotal, count, inner_hits, matching, merge_hits, search,
};
