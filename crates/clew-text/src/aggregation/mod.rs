//! Buckets and metrics over the documents that a query matches.
//!
//! One tree of collectors runs over each segment's columns; what it counted is kept in flat arrays
//! indexed by bucket number (a [`Partial`](partial::Partial) per aggregation), so that any depth of
//! nesting costs no allocation per bucket. Segments of a shard are merged exactly; then the shard
//! keeps only its best terms, as its clients' error bounds expect; then shards are merged and
//! turned into results.
//!
//! Deliberately absent: queries (documents arrive as blocks of ids) and any protocol's JSON.

mod collect;
mod collector;
mod column;
mod error;
mod fill;
mod format;
mod key;
mod limits;
mod moments;
mod order;
mod partial;
mod plan;
mod plan_fields;
mod plan_join;
mod plan_order;
mod reduce;
mod result;
mod rounding;
mod shard;
mod sketch;
mod spec;
mod zone;

#[cfg(test)]
pub(crate) mod tests;

pub use collector::{AggCollector, AggContext, Intermediate};
pub use error::{AggError, AggErrorKind};
pub use format::ValueFormat;
pub use key::Key;
pub use limits::AggLimits;
pub use result::{
    AggResult, Bucket, ExtendedStats, HistogramResult, Metric, NamedResult, RangeBucket, Stats,
    TermsKind, TermsResult, TopHit, TopHitsResult,
};
pub use spec::{
    AggSpec, Attached, Bounds, CalendarUnit, DateHistogramSpec, DateInterval, Direction,
    HistogramSpec, IncludeExclude, NamedAgg, OrderBy, OrderKey, RangeItem, RangeSpec, Scalar,
    Source, TermFilter, TermsSpec, TopHitsSpec,
};
