//! The node: the verbs of the engine on indexes, and what it does by itself.
//!
//! Lock order: `relieving`, the map of indexes (read upgradably, then for writing), those of a shard
//! ([`Shard`](crate::shard::Shard)), an index's `changing` (of several by their unique ids), the turn to change the catalog, the log's own, the catalog, which
//! nobody keeps for longer than a look at it. `saving_catalog` is taken by who has none of these, and under it the log's own alone. Who
//! has a shard's only tries the map, and a document that makes the mapping grow comes from a shard's to `changing`. What is
//! waited for under the map is the log alone, which answers with an error when its disk fails: the healer, which brings
//! it back, may then have all of them.

pub(crate) mod alias_change;
pub(crate) mod buffers;
pub(crate) mod catalog_change;
pub(crate) mod catalog_turn;
pub(crate) mod data_folder;
pub(crate) mod define;
pub(crate) mod destination;
pub(crate) mod documents;
pub(crate) mod engine;
pub(crate) mod finish;
pub(crate) mod healing;
pub(crate) mod health;
pub(crate) mod index_catalog;
pub(crate) mod index_handle;
pub(crate) mod index_table;
pub(crate) mod maintenance;
pub(crate) mod open_close;
pub(crate) mod options;
pub(crate) mod plan_index;
pub(crate) mod recovery;
pub(crate) mod rename;
pub(crate) mod repair;
pub(crate) mod resolve;
pub(crate) mod resolver;
pub(crate) mod shard_limit;
pub(crate) mod snapshot;
pub(crate) mod trim;
pub(crate) mod verify;
