//! OpenSearch's REST API over the engine: decodes requests into engine operations, and engine
//! answers and errors into the JSON that OpenSearch's clients read.
//!
//! A request goes: [`dispatch`](router) finds its route in one table, reads the body once, calls
//! the endpoint and finishes the answer (`filter_path`, `pretty`, gzip). Endpoints are files by
//! subject; each only translates.
//!
//! Deliberately absent: what an index is (the engine's), TLS and users (the binary's), scripts.

mod api;
mod dispatch;
mod routes;
mod call;
mod reply;

mod params;
mod body;
mod json_writer;
mod raw_json;
mod reply_filter;
mod error;
mod error_table;
mod metrics;

mod root;
mod cluster;
mod cluster_settings;
mod nodes;
mod tasks;
mod settings;
mod index_admin;
mod index_settings;
mod index_mapping;
mod maintenance;
mod stats;
mod knn_plugin;
mod document;
mod document_write;
mod write_reply;
mod mget;
mod update_body;
mod bulk_lines;
mod bulk;
mod search;
mod cat;

pub mod dsl;
pub mod aggs;

pub use api::{RestOptions, router};
