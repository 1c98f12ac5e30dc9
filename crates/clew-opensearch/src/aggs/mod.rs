//! Aggregations as OpenSearch writes them: a request's JSON to the typed tree, typed results to the
//! reply's JSON. Nothing is computed here. Each aggregation has a file in `bucket`, `metric` or `pipeline`, alone or with those
//! that are much alike: its reader, what writes its result, and its rows of the one table (`table`).

mod body;
mod bucket;
mod interval;
mod java_order;
mod metric;
mod order;
mod own_words;
mod parse;
mod path;
mod pipeline;
mod plain;
mod render;
mod settings;
mod shown;
mod shown_bytes;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use java_order::java_order;
pub(crate) use parse::ShownAggs;
pub use parse::{ParsedAggs, parse_aggs};
pub(crate) use path::AggPath;
pub(crate) use render::{Rendering, render_aggs};
pub(crate) use shown_bytes::shown_bytes;
pub(crate) use table::supported;

// What is wrong with aggregations is told as what is wrong with queries.
pub use crate::dsl::{DslError as AggDslError, DslErrorKind as AggDslErrorKind};
