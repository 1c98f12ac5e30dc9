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
//! Deliberately absent: queries (documents arrive as blocks of ids) and any protocol's JSON.

mod auto_date;
mod clusters;
pub(crate) mod collect;
mod collector;
mod column;
mod decimal;
mod deposit;
mod digest;
mod fill;
mod format;
mod grid;
mod hdr;
mod heuristic;
mod key;
mod limits;
mod matrix;
mod moments;
mod order;
mod partial;
mod partition;
mod pipeline;
mod plan;
mod plan_chain;
mod plan_fields;
mod plan_filters;
mod plan_join;
mod plan_metrics;
mod plan_order;
mod plan_range;
mod plan_relatives;
mod plan_terms;
mod profile;
mod quantile;
mod reduce;
mod reduce_given;
mod reduce_join;
mod reduce_metrics;
mod relatives;
mod result;
mod result_access;
mod rounding;
mod sample;
mod shard;
mod significance;
mod sketch;
mod unify;
mod visit;
mod zone;

#[cfg(test)]
pub(crate) mod tests;

pub use collector::{AggCollector, AggContext, Intermediate};
pub use decimal::DecimalFormat;

pub use format::ValueFormat;
pub use key::Key;
pub use limits::AggLimits;
pub use plan_filters::AggSearcher;
pub use profile::{AggProfile, Stopwatch};
pub use result::{
    AggResult, AggResults, Bucket, BucketExtra, CompositeResult, ExtendedStats, HistogramResult,
    MatrixField, MatrixResult, Metric, NamedResult, PercentilesKind, PercentilesResult,
    RangeBucket, RangeEnd, SingleKind, Stats, TermsKind, TermsResult, TopHitsResult,
};
