//! Aggregations that tell a few numbers, or documents. A file has one of them, or those that are much alike: their rows of the
//! table, their readers, and what writes their results.

pub(super) mod geo;
pub(super) mod matrix_stats;
pub(super) mod numbers;
pub(super) mod percentiles;
pub(super) mod scripted_metric;
pub(super) mod stats;
pub(super) mod top_hits;

use super::table::Row;

/// The rows of all files; another file is another line here.
pub(super) const ROWS: &[&[Row]] = &[
    geo::ROWS,
    matrix_stats::ROWS,
    numbers::ROWS,
    percentiles::ROWS,
    scripted_metric::ROWS,
    stats::ROWS,
    top_hits::ROWS,
];
