//! Aggregations that make buckets. A file holds one of them, or those that are counted alike: its plan, its collector, what
//! is done to its counts, and its result.

pub(crate) mod auto_date;
pub(crate) mod chain;
pub(crate) mod composite;
pub(crate) mod date_histogram;
pub(crate) mod filters;
pub(crate) mod grid;
pub(crate) mod histogram;
pub(crate) mod missing;
pub(crate) mod multi_terms;
pub(crate) mod nested;
pub(crate) mod range;
pub(crate) mod relatives;
pub(crate) mod sampler;
pub(crate) mod significant;
pub(crate) mod steps;
pub(crate) mod terms;
pub(crate) mod variable_width;
pub(crate) mod words;
