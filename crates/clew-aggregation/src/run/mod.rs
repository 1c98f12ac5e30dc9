//! Runs a request's aggregations over one shard, and puts shards together.

pub(crate) mod collector;
pub(crate) mod deposit;
pub(crate) mod visit;
