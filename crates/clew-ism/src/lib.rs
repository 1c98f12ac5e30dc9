//! Index state management: policies that lead indexes through states (`policy`), which index follows
//! which (`managed`, `new_indexes`, `attach`), and the work that moves them on, one step at a time (`job`).
//!
//! Policies and how far each index has come are definitions of the catalog, so that they are as
//! durable as indexes are. Each step is recorded after it is done and may be done again: whoever
//! stopped in between finds what is there already.
//!
//! ```
//! use clew_opensearch::fixture::Node;
//! use clew_platform::SimDisk;
//! use serde_json::json;
//!
//! let node = Node::open(&SimDisk::new(), &[clew_ism::WING])?;
//! let policy = json!({"policy": {
//!     "description": "logs go after a month",
//!     "default_state": "kept",
//!     "states": [
//!         {"name": "kept", "actions": [],
//!          "transitions": [{"state_name": "gone", "conditions": {"min_index_age": "30d"}}]},
//!         {"name": "gone", "actions": [{"delete": {}}], "transitions": []},
//!     ],
//! }});
//! let (status, _) = node.ask("PUT /_plugins/_ism/policies/month", policy);
//! assert_eq!(status, 201);
//! # Ok::<(), clew_engine::EngineError>(())
//! ```
//!
//! Deliberately absent: notifications, and actions that need other nodes.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod members;

mod conditions;

mod actions;

mod retry;

mod policy;

mod managed;

mod routes;

mod running;

mod settings;

mod new_indexes;

mod store;

mod attach;

mod machine;

mod explain;

mod job;

#[cfg(test)]
mod tests;

use attach::{add, change_policy, remove, retry};
use explain::explain;
use job::run_job;
pub use routes::WING;
use settings::check as check_settings;
use store::{delete, get, list, put};
