//! Queries on where words stand: intervals of positions, joined, filtered and scored.
//!
//! A rule gives, for every document, its minimal intervals: those that contain no other one
//! (Clarke, Cormack and Burkowski's region algebra, 1995). The rules of `intervals` and the span
//! queries are the same algebra; they differ in how a document scores.
//!
//! [`IntervalRule`](clew_query::IntervalRule) is what a protocol asks for, [`source::IntervalSource`] the same rule over terms, and
//! [`algebra`] what the rules do with lists of intervals.

pub(crate) mod algebra;
pub(crate) mod joined;
pub(crate) mod query;
mod scripted;
pub(crate) mod source;
#[cfg(test)]
mod tests;
