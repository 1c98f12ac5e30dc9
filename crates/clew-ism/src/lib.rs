//! Index state management: policies that lead indexes through states (`policy`), which index follows
//! which (`managed`, `attach`), and the work that moves them on, one step at a time (`job`).
//!
//! Policies and how far each index has come are definitions of the catalog, so that they are as
//! durable as indexes are. Each step is recorded after it is done and may be done again: whoever
//! stopped in between finds what is there already.
//!
//! Deliberately absent: notifications, and actions that need other nodes.

mod policy;

mod actions;
mod conditions;
mod members;
mod retry;

mod managed;

mod attach;
mod explain;
mod job;
mod machine;
mod routes;
mod settings;
mod store;

#[cfg(test)]
mod tests;

use attach::{add, change_policy, remove, retry};
use explain::explain;
use job::run;
pub use routes::WING;
use settings::check as check_settings;
use store::{delete, get, list, put};
