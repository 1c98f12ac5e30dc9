//! OpenSearch's REST API over the engine: decodes requests into engine operations, and engine
//! answers and errors into the JSON that OpenSearch's clients read.
//!
//! A request goes: [`dispatch`](router) finds its route in one table, reads the body once, calls
//! the endpoint and finishes the answer (`filter_path`, `pretty`, gzip). Endpoints are files by
//! subject; each only translates.
//!
//! Deliberately absent: what an index is (the engine's), TLS and users (the binary's), scripts.

mod analyze;
mod api;
mod call;
mod client;
mod dispatch;
mod reply;
mod routes;

mod body;
mod error;
mod error_table;
mod json_writer;
mod memory_stats;
mod metrics;
mod params;
mod raw_json;
mod reply_filter;
mod request_memory;

mod aliases;
mod allocation;
mod bulk;
mod bulk_lines;
mod by_query;
mod cat;
mod changes;
mod cluster;
mod cluster_health;
mod cluster_settings;
mod cluster_settings_endpoints;
mod cluster_state;
mod copies;
mod data_streams;
mod disk_settings;
mod document;
mod document_write;
#[cfg(test)]
mod fault_tests;
mod field_caps;
mod filling;
mod hot_threads;
mod index_admin;
mod index_mapping;
mod index_recovery;
mod index_settings;
mod index_state;
mod ingest;
mod ism;
mod knn_plugin;
mod machine;
mod maintenance;
mod mapping_defaults;
mod mget;
mod mustache;
mod nodes;
mod openapi;
mod parts;
mod recall;
mod resize;
mod resolve_index;
mod rollover;
mod root;
mod scripts;
mod search;
mod search_pipeline;
mod search_shards;
mod segments;
mod setting_values;
mod settings;
mod shard_outcomes;
mod shard_stores;
mod snapshots;
mod sql;
mod start;
mod stats;
mod suggestion;
mod task_endpoints;
mod tasks;
mod templates;
mod term_vectors;
mod update_body;
mod validate;
mod verify;
mod voting;
mod write_reply;

pub mod aggs;
pub mod dsl;

pub use api::{HttpFigures, RestOptions};
pub use disk_settings::{
    DISK_LOOK_INTERVAL, DISK_THRESHOLD_ENABLED, DISK_WATERMARKS, read_disk_limits,
};
pub use start::router;
