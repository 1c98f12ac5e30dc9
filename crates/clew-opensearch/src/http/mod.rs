//! A request and its answer as HTTP has them: parameters, bodies, errors, and how values are written.

pub(crate) mod body;
pub(crate) mod client;
pub(crate) mod error;
pub(crate) mod error_table;
pub(crate) mod formats;
pub(crate) mod human;
pub(crate) mod json_fault;
pub(crate) mod json_writer;
pub(crate) mod memory_stats;
pub(crate) mod metrics;
pub(crate) mod params;
pub(crate) mod place;
pub(crate) mod raw_json;
pub(crate) mod reply;
pub(crate) mod reply_filter;
pub(crate) mod request_memory;
pub(crate) mod script_errors;
pub(crate) mod setting_kinds;
pub(crate) mod setting_values;
pub(crate) mod shard_outcomes;
pub(crate) mod source_filter;
pub(crate) mod suggestion;
pub(crate) mod unique_json;
pub(crate) mod while_waited;
