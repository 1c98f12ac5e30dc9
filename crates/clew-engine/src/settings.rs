//! Settings of an index: what the engine acts on, and what the user wrote.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::blocks::Block;
use serde::{Deserialize, Serialize};

use crate::routing::routing_slots;

/// When a write to an index is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranslogDurability {
    /// After `fdatasync` of the log.
    Request,
    /// After the write to the log file; the log is synced at the index's `sync_interval`.
    Async,
}

/// Settings of an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSettings {
    /// Number of shards, fixed at creation; 1 to 1024.
    pub shards: u32,
    /// How often new writes become visible to searches; `None` means only when asked.
    pub refresh_interval: Option<Duration>,
    /// When a write is acknowledged.
    pub durability: TranslogDurability,
    /// How often the log is synced for an index with [`TranslogDurability::Async`].
    pub sync_interval: Duration,
    /// Log bytes since a shard's last flush after which it is flushed.
    pub flush_threshold_bytes: u64,
    /// `ef_search` of k-NN queries that do not say their own.
    pub ef_search: usize,
    /// Largest `from + size` of a search.
    pub max_result_window: usize,
    /// What is forbidden to be done with the index.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// Every setting as the user gave it, flat (`index.number_of_shards`), to be shown again.
    pub given: BTreeMap<String, String>,
}

/// The setting that says how many slots routing keys are spread over.
const ROUTING_SLOTS: &str = "index.number_of_routing_shards";

impl IndexSettings {
    /// How many slots routing keys are spread over: as given, when shards can share them equally.
    pub(crate) fn routing_slots(&self) -> u32 {
        let given = self
            .given
            .get(ROUTING_SLOTS)
            .and_then(|text| text.parse().ok());
        given
            .filter(|slots: &u32| *slots >= self.shards && slots.is_multiple_of(self.shards))
            .unwrap_or_else(|| routing_slots(self.shards))
    }
}

impl Default for IndexSettings {
    fn default() -> Self {
        IndexSettings {
            shards: 1,
            refresh_interval: Some(Duration::from_secs(1)),
            durability: TranslogDurability::Request,
            sync_interval: Duration::from_secs(5),
            flush_threshold_bytes: 512 << 20,
            ef_search: 100,
            max_result_window: 10_000,
            blocks: Vec::new(),
            given: BTreeMap::new(),
        }
    }
}
