//! Aggregations as OpenSearch writes them: a request's JSON to the typed tree, typed results to the
//! reply's JSON. Nothing is computed here.

mod body;
mod buckets;
mod error;
mod geo;
mod interval;
mod metrics;
mod parse;
mod path;
mod pipelines;
mod render;
mod render_buckets;
mod render_metrics;
mod shown_bytes;
mod significant;
mod supported;
mod top_hits;

#[cfg(test)]
mod tests;

pub use error::{AggDslError, AggDslErrorKind};
pub(crate) use parse::ShownAggs;
pub use parse::{ParsedAggs, parse_aggs};
pub(crate) use path::AggPath;
pub(crate) use render::{Rendering, render_aggs};
pub(crate) use shown_bytes::shown_bytes;
pub(crate) use supported::supported;
