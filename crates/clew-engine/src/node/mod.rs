//! The node: the verbs of the engine on indexes, and what it does by itself.

pub(crate) mod alias_change;
pub(crate) mod buffers;
pub(crate) mod catalog_change;
pub(crate) mod data_folder;
pub(crate) mod define;
pub(crate) mod destination;
pub(crate) mod documents;
pub(crate) mod engine;
pub(crate) mod healing;
pub(crate) mod health;
pub(crate) mod index_catalog;
pub(crate) mod index_handle;
pub(crate) mod maintenance;
pub(crate) mod open_close;
pub(crate) mod options;
pub(crate) mod plan_index;
pub(crate) mod recovery;
pub(crate) mod rename;
pub(crate) mod repair;
pub(crate) mod resolve;
pub(crate) mod snapshot;
pub(crate) mod trim;
pub(crate) mod verify;
