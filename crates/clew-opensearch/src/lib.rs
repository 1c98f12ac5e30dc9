//! OpenSearch's REST API over the engine: decodes requests into engine operations, and engine
//! answers and errors into the JSON that OpenSearch's clients read.
//!
//! A request goes: [`dispatch`](router) finds its route in one table, reads the body once, calls
//! the endpoint and finishes the answer (`filter_path`, `pretty`, gzip). Endpoints are files by
//! subject; each only translates.
//!
//! ```
//! use clew_opensearch::dsl::parse_query;
//! use clew_query::Query;
//! use serde_json::json;
//!
//! let query = parse_query(&json!({"term": {"tag": "a"}}))?;
//! assert_eq!(query, Query::term("tag", "a"));
//! # Ok::<(), clew_opensearch::dsl::DslError>(())
//! ```
//!
//! Rooms, lowest first: `http` (requests and answers), `state` (what every endpoint shares), `dsl`, `aggs`, `search`, `ingest`,
//! `documents`, `indices`, `cluster`, `live`, `routes` (the tables), `wing` (what the parts that stand by themselves see of all this),
//! `server` (puts them together with those parts, which the binary hands in). What a room keeps while the server runs is found by its
//! type (`state/parts.rs`), so that the shared state names no room.
//!
//! Deliberately absent: what an index is (the engine's), TLS and users (the binary's), what scripts mean (the query's).

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod http;

mod state;

pub mod dsl;

pub mod aggs;

mod search;

mod ingest;

mod documents;

mod indices;

mod cluster;

mod live;

mod routes;

pub mod wing;

mod server;

pub use clew_opensearch_mapping::reader as mapping_reader;
pub use indices::settings::read_untyped as read_untyped_settings;
pub use indices::snapshots::REPOSITORIES_FOLDER;
pub use ingest::{Passed, through_pipelines};
#[cfg(any(test, feature = "fixture"))]
pub use server::fixture;
pub use server::start::router;
pub use state::api::{HttpFigures, RestOptions};
pub use state::disk_settings::{
    DISK_LOOK_INTERVAL, DISK_THRESHOLD_ENABLED, DISK_WATERMARKS, read_disk_limits,
};
pub use state::remote_clusters::{
    RemoteBody, RemoteClient, RemoteClusters, RemoteFailure, RemotePatience,
};
