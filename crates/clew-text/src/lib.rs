//! Mappings, analyzers, queries and aggregations on tantivy.
//!
//! A [`Mapping`] says what a document's fields are and owns the tantivy schema, which only grows.
//! `document` turns JSON into what `indexing` writes into a segment; `query` is the typed query tree that
//! every protocol builds; `search` runs it over a [`Snapshot`] of segments; `aggregation` computes
//! buckets and metrics over the matching documents; `sources` keeps what documents were.
//!
//! Deliberately absent: shards, the log, files, any protocol's JSON except the mapping itself.

mod indexing;

mod query;
mod ranked;
mod search;

mod highlight;
mod percolate;
mod suggest;

mod aggregation;
mod cache_room;

pub use aggregation::{
    AggCollector, AggContext, AggLimits, AggProfile, AggResult, AggSearcher, AggSpec, Attached,
    AutoDateSpec, Bounds, Bucket, BucketExtra, CalendarUnit, Comparison, CompositeKind,
    CompositeResult, CompositeSource, CompositeSpec, DateHistogramSpec, DateInterval,
    DecimalFormat, Direction, EndKind, Expression, ExtendedStats, FilterShape, FiltersSpec,
    GEOHASH_MAX, GapPolicy, Generation, Grid, GridSpec, Heuristic, HistogramResult, HistogramSpec,
    IncludeExclude, Intermediate, Key, MatrixField, MatrixResult, Method, Metric, MissingOrder,
    MovingFunction, MultiTermsSpec, NamedAgg, NamedResult, OrderBy, OrderKey, PercentilesKind,
    PercentilesResult, PercentilesSpec, PipelineKind, PipelineSpec, RangeBucket, RangeEnd,
    RangeItem, RangeSpec, RareTermsSpec, SampleSpec, Scalar, SignificantSpec, SingleKind, Source,
    Stats, Stopwatch, Summary, TermFilter, TermsKind, TermsResult, TermsSpec, TopHit,
    TopHitsResult, TopHitsSpec, ValueFormat, WordsSpec, ZOOM_MAX, parse_zone,
};

pub use cache_room::size_caches;

pub use highlight::{HighlightError, HighlightField, HighlightOptions, Highlighter};
pub use indexing::SegmentBuilder;

pub use percolate::{DocumentMatcher, Matched, Needs, Percolated, Percolations, stored_query};
pub use query::{
    CompileContext, KnnResolver, NoKnn, Plan, SegmentHits, compile, plan, postings_max,
};
pub use search::{
    Blocks, Combine, DocVisitor, Explained, FieldFigures, FilterCache, FilterCacheFigures,
    GeoDistanceKey, InnerFound, InnerRequest, Kin, MergedHit, MergedHits, Missing, Mode,
    NestedSort, Order, Relation, Rescore, Scope, SegmentBits, ShardHit, ShardRequest, ShardResult,
    SimilarTerm, Snapshot, SortKey, SortValue, Spelling, TermFigures, Threads, Total, TrackTotal,
    count, describe, explain, field_figures, inner_hits, kin_of, matching, merge_hits, rescore,
    search, share, similar_terms, term_docs, term_figures,
};
pub use suggest::{Completed, CompletionWish, complete};
