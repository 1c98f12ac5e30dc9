//! Aggregations that make buckets. A file has one of them, or those that are much alike: their rows of the table, their
//! readers, and what writes their results.

pub(super) mod composite;
pub(super) mod date_histogram;
pub(super) mod filters;
pub(super) mod geo_grid;
pub(super) mod histogram;
pub(super) mod multi_terms;
pub(super) mod only;
pub(super) mod range;
pub(super) mod significant_terms;
pub(super) mod terms;

use super::table::Row;

/// The rows of all files; another file is another line here.
pub(super) const ROWS: &[&[Row]] = &[
    composite::ROWS,
    date_histogram::ROWS,
    filters::ROWS,
    geo_grid::ROWS,
    histogram::ROWS,
    multi_terms::ROWS,
    only::ROWS,
    range::ROWS,
    significant_terms::ROWS,
    terms::ROWS,
];
