//! Buckets and metrics over the documents that a query matches.
//!
//! One tree of collectors runs over each segment's columns; what it counted is kept in flat arrays
//! indexed by bucket number (a `Partial` per aggregation), so that any depth of
//! nesting costs no allocation per bucket. Segments of a shard are merged exactly; then the shard
//! keeps only its best terms, as its clients' error bounds expect; then shards are merged and
//! turned into results.
//!
//! ```no_run
//! # fn run(
//! #     specs: &[clew_query::aggregation::NamedAgg],
//! #     context: clew_aggregation::AggContext<'_>,
//! #     searcher: &tantivy::Searcher,
//! # ) -> Result<Vec<clew_aggregation::NamedResult>, clew_query::AggError> {
//! let mut collector = clew_aggregation::AggCollector::new(specs, context)?;
//! for (ord, reader) in searcher.segment_readers().iter().enumerate() {
//!     collector.segment(ord, reader)?;
//!     collector.collect(&[0, 1, 2])?;
//! }
//! collector.finish()?.into_result()
//! # }
//! ```
//!
//! Rooms, lowest first: `value` (keys, formats, roundings, cells), `limits` (and the booking of memory), `numbers` (moments,
//! distributions, distinct values), `result`, `field` (values of a mapping's fields, columns of segments), `counted` (what merges),
//! `order`, `collect`, `reduce`, `metric` and `bucket` (a file for each aggregation, or for those that are counted alike: its plan,
//! collector and result, with the list of all in front), `pipeline`, `tree` (what walks over them, and knows none by name), `run`.
//!
//! Deliberately absent: queries (documents arrive as blocks of ids) and any protocol's JSON.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod value;

mod limits;

mod numbers;

mod result;

mod field;

mod counted;

mod order;

mod collect;

mod reduce;

mod metric;

mod bucket;

mod pipeline;

mod tree;

mod run;

#[cfg(test)]
pub(crate) mod tests;

pub use field::context::{AggContext, AggSearcher};
pub use limits::AggLimits;
pub use result::access::ResultParts;
pub use result::{
    AggResult, AggResults, Bucket, BucketExtra, CompositeResult, ExtendedStats, HistogramResult,
    MatrixField, MatrixResult, Metric, NamedResult, PercentilesKind, PercentilesResult,
    RangeBucket, RangeEnd, SingleKind, Stats, TermsKind, TermsResult, TopHitsResult,
};
pub use run::collector::{AggCollector, Intermediate};
pub use tree::profile::AggProfile;
pub use value::decimal::DecimalFormat;
pub use value::format::ValueFormat;
pub use value::key::Key;
