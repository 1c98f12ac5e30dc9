//! Arithmetic over many values: moments, distributions, distinct values, significance. Knows nothing of documents.

pub(crate) mod digest;
pub(crate) mod hdr;
pub(crate) mod heuristic;
pub(crate) mod matrix;
pub(crate) mod moments;
pub(crate) mod quantile;
pub(crate) mod sketch;
